//! Lists of privileges as PostgreSQL writes and reads them: `grantee=arw*/grantor`.

use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::catalog::{AclItem, Authority, Oid, Privileges};

/// The letters of privileges, each with a star behind it that may be granted on.
#[must_use]
pub fn letters(item: &AclItem) -> String {
    let mut out = String::new();
    for (one, letter, _) in item.privileges.or(item.options).each() {
        out.push(letter);
        if item.options.has(one) {
            out.push('*');
        }
    }
    out
}

/// A role in the text of an item: in quotes unless it is letters, digits and underscores; its number if there is none.
fn role_text(authority: &Authority, oid: Oid) -> String {
    let Some(role) = authority.role(oid) else { return oid.to_string() };
    if role.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return role.name.clone();
    }
    format!("\"{}\"", role.name.replace('"', "\"\""))
}

/// One item.
#[must_use]
pub fn item_text(authority: &Authority, item: &AclItem) -> String {
    let grantee = if item.grantee == 0 { String::new() } else { role_text(authority, item.grantee) };
    format!("{grantee}={}/{}", letters(item), role_text(authority, item.grantor))
}

/// A list.
#[must_use]
pub fn acl_texts(authority: &Authority, acl: &[AclItem]) -> Vec<String> {
    acl.iter().map(|item| item_text(authority, item)).collect()
}

/// Reads an item.
///
/// # Errors
/// 22P02 for what is none, 42704 for roles that do not exist.
pub fn read_item(authority: &Authority, text: &str) -> PgResult<AclItem> {
    let invalid = |what: String| PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, what);
    let (mut grantee, mut rest) = read_role(text.trim())?;
    if !rest.trim_start().starts_with('=') {
        // What was read is a key word before the name.
        if !matches!(grantee.as_str(), "group" | "user") {
            return Err(invalid(format!("unrecognized key word: \"{grantee}\"")).hint("ACL key word must be \"group\" or \"user\"."));
        }
        (grantee, rest) = read_role(rest.trim_start())?;
        if grantee.is_empty() {
            return Err(invalid("missing name".into()).hint("A name must follow the \"group\" or \"user\" key word."));
        }
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').ok_or_else(|| invalid("missing \"=\" sign".into()))?;
    let (mut privileges, mut options, mut last) = (Privileges::NONE, Privileges::NONE, Privileges::NONE);
    let end = rest.find('/').unwrap_or(rest.len());
    let (given, grantor) = rest.split_at(end);
    for letter in given.chars() {
        if letter == '*' {
            options = options.or(last);
            continue;
        }
        let known = Privileges::ALL.into_iter().find(|(_, known, _)| *known == letter);
        last = known.map(|(one, ..)| one).ok_or_else(|| invalid("invalid mode character: must be one of \"arwdDxtXUCTcsA\"".into()))?;
        privileges = privileges.or(last);
    }
    let role = |name: &str| {
        let found = authority.role_named(name).map(|role| role.oid);
        found.ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")))
    };
    let grantor = match grantor.strip_prefix('/') {
        Some(name) => role(&read_role(name)?.0)?,
        None => stoa_table::catalog::role::FIRST_SUPERUSER,
    };
    let grantee = if grantee.is_empty() { 0 } else { role(&grantee)? };
    Ok(AclItem { grantee, grantor, privileges, options })
}

/// A role's name at the start of a text, and what is behind it.
fn read_role(text: &str) -> PgResult<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut name = String::new();
        let mut chars = quoted.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' if quoted.get(at + 1..).is_some_and(|rest| rest.starts_with('"')) => {
                    name.push('"');
                    chars.next();
                }
                '"' => return Ok((name, quoted.get(at + 1..).unwrap_or(""))),
                c => name.push(c),
            }
        }
        return Err(PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "unterminated quoted role name"));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    Ok((name.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use stoa_table::catalog::RoleDescriptor;

    #[test]
    fn items_are_read_as_they_are_written() {
        let mut authority = Authority::default();
        authority.put_role(RoleDescriptor::new(100, "a b\"c"));
        for text in ["stoa=arwdDxt/stoa", "=r/stoa", "\"a b\"\"c\"=a*r/stoa", "stoa=U*C/\"a b\"\"c\""] {
            assert_eq!(item_text(&authority, &read_item(&authority, text).unwrap()), text);
        }
        assert_eq!(read_item(&authority, "nosuch=r/stoa").unwrap_err().code().as_str(), "42704");
        assert_eq!(read_item(&authority, "stoa").unwrap_err().code().as_str(), "22P02");
        assert_eq!(read_item(&authority, "stoa=q/stoa").unwrap_err().code().as_str(), "22P02");
    }
}
