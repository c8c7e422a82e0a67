//! Names in strings, as the types of objects read them.

use stoa_error::{PgError, PgResult, SqlState};

/// The parts of a name in a string, as `regclass` reads them.
///
/// # Errors
/// 42602 for what is no name.
pub fn parse_name(text: &str) -> PgResult<Vec<String>> {
    let invalid = || PgError::new(SqlState::INVALID_NAME, "invalid name syntax");
    let mut parts = Vec::new();
    let mut chars = text.trim().chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let mut part = String::new();
        if chars.next_if_eq(&'"').is_some() {
            loop {
                match chars.next() {
                    Some('"') if chars.next_if_eq(&'"').is_some() => part.push('"'),
                    Some('"') => break,
                    Some(c) => part.push(c),
                    None => return Err(invalid()),
                }
            }
        } else {
            // As PostgreSQL: anything up to a dot or white space.
            while let Some(c) = chars.next_if(|c| *c != '.' && !c.is_whitespace()) {
                part.extend(c.to_lowercase());
            }
        }
        if part.is_empty() {
            return Err(invalid());
        }
        parts.push(part);
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        match chars.next() {
            None => return Ok(parts),
            Some('.') => {}
            Some(_) => return Err(invalid()),
        }
    }
}

/// PostgreSQL's keywords that cannot be a column's name without quotes, or a function's or type's.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization", "between", "bigint", "binary",
    "bit", "boolean", "both", "case", "cast", "char", "character", "check", "coalesce", "collate", "collation", "column",
    "concurrently", "constraint", "create", "cross", "current_catalog", "current_date", "current_role", "current_schema",
    "current_time", "current_timestamp", "current_user", "dec", "decimal", "default", "deferrable", "desc", "distinct", "do", "else",
    "end", "except", "exists", "extract", "false", "fetch", "float", "for", "foreign", "freeze", "from", "full", "grant", "greatest",
    "group", "grouping", "having", "ilike", "in", "initially", "inner", "inout", "int", "integer", "intersect", "interval", "into",
    "is", "isnull", "join", "lateral", "leading", "least", "left", "like", "limit", "localtime", "localtimestamp", "national",
    "natural", "nchar", "none", "normalize", "not", "notnull", "null", "nullif", "numeric", "offset", "on", "only", "or", "order",
    "out", "outer", "overlaps", "overlay", "placing", "position", "precision", "primary", "real", "references", "returning", "right",
    "row", "select", "session_user", "setof", "similar", "smallint", "some", "substring", "symmetric", "table", "tablesample", "then",
    "time", "timestamp", "to", "trailing", "treat", "trim", "true", "union", "unique", "user", "using", "values", "varchar", "variadic",
    "verbose", "when", "where", "window", "with", "xmlattributes", "xmlconcat", "xmlelement", "xmlexists", "xmlforest", "xmlnamespaces",
    "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable",
];

/// Whether an identifier means itself without quotes.
#[must_use]
pub fn is_plain_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && RESERVED.binary_search(&name).is_err()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reserved_words_stand_in_the_order_in_which_they_are_looked_for() {
        assert!(RESERVED.is_sorted());
        for (name, plain) in
            [("zone", true), ("_1", true), ("all", false), ("xmltable", false), ("Zone", false), ("1a", false), ("", false)]
        {
            assert_eq!(is_plain_identifier(name), plain, "{name:?}");
        }
    }

    #[test]
    fn names_in_strings_are_read_as_regclass_reads_them() {
        assert_eq!(parse_name("\"A \"\"b\" . c ").unwrap(), ["A \"b", "c"]);
        assert_eq!(parse_name("A . B").unwrap(), ["a", "b"]);
        for wrong in ["a..b", "\"a", "a b", ""] {
            assert_eq!(parse_name(wrong).unwrap_err().code(), SqlState::INVALID_NAME, "{wrong:?}");
        }
    }
}
