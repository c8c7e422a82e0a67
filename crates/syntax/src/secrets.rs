//! Statements as others may see them: without the passwords in them.

use std::borrow::Cow;

/// What stands in the place of a password.
const HIDDEN: &str = "'********'";

/// The text with each literal behind the word PASSWORD hidden: for logs, `pg_stat_activity`, and all that shows statements to others
/// than their author.
#[must_use]
pub fn without_passwords(sql: &str) -> Cow<'_, str> {
    let found = crate::lexer::passwords(sql);
    if found.is_empty() {
        return Cow::Borrowed(sql);
    }
    let (mut out, mut end) = (String::with_capacity(sql.len()), 0);
    for range in found {
        out.push_str(sql.get(end..range.start).unwrap_or_default());
        out.push_str(HIDDEN);
        end = range.end;
    }
    out.push_str(sql.get(end..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::without_passwords;

    #[test]
    fn literals_behind_the_word_are_hidden() {
        for (sql, shown) in [
            ("SELECT 'password'", "SELECT 'password'"),
            ("CREATE ROLE a LOGIN PASSWORD 'b''c' VALID UNTIL 'x'", "CREATE ROLE a LOGIN PASSWORD '********' VALID UNTIL 'x'"),
            ("ALTER USER a ENCRYPTED password /* p */ E'\\'b'", "ALTER USER a ENCRYPTED password /* p */ '********'"),
            ("ALTER ROLE a PASSWORD $x$it's$x$; SELECT 1", "ALTER ROLE a PASSWORD '********'; SELECT 1"),
            ("ALTER ROLE a PASSWORD U&'\\0041'", "ALTER ROLE a PASSWORD '********'"),
            ("ALTER ROLE a PASSWORD NULL", "ALTER ROLE a PASSWORD NULL"),
            ("ALTER ROLE \"password\" RENAME TO 'x'", "ALTER ROLE \"password\" RENAME TO 'x'"),
            ("ALTER ROLE a PASSWORD 'abc", "ALTER ROLE a PASSWORD '********'"),
            ("ALTER ROLE a PASSWORD $x$abc", "ALTER ROLE a PASSWORD '********'"),
            ("ALTER ROLE 'x PASSWORD abc", "ALTER ROLE 'x PASSWORD'********'"),
            ("ALTER ROLE x /* PASSWORD 'abc'", "ALTER ROLE x /* PASSWORD'********'"),
        ] {
            assert_eq!(without_passwords(sql), shown, "{sql}");
        }
        assert!(!without_passwords("CREATE ROLE a PASSWORD 'b'\n 'c'").contains("'c'"));
    }
}
