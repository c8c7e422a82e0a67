//! The lexical rules of Hyperdrive's SQL, as PostgreSQL's: the same statements with other quotes.
//!
//! ```text
//! "text"      a string                 → 'text'
//! `name`      a name, of any case      → "name"
//! \n \' \\    escapes in strings       → what they stand for, but for \% and \_, which are for LIKE
//! ```
//!
//! Invariant: all else stays as it is, comments and literals with a letter or dollars before them among it, so that what follows knows of no
//! other dialect. What does not end is left for the lexer to tell.

use std::borrow::Cow;

/// A text of statements, as PostgreSQL's lexical rules have it.
#[must_use]
pub fn to_postgresql(text: &str) -> Cow<'_, str> {
    if !text.contains(['"', '`', '\\']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut at = 0;
    while let Some(c) = rest(text, at).chars().next() {
        let end = match c {
            '\'' | '"' => match string(rest(text, at), c) {
                Some((value, length)) => {
                    out.push('\'');
                    out.push_str(&value.replace('\'', "''"));
                    out.push('\'');
                    at += length;
                    continue;
                }
                None => text.len(),
            },
            '`' => match delimited(rest(text, at), '`') {
                Some(length) => {
                    let name = rest(text, at).get(1..length - 1).unwrap_or_default().replace("``", "`").to_lowercase();
                    out.push('"');
                    out.push_str(&name.replace('"', "\"\""));
                    out.push('"');
                    at += length;
                    continue;
                }
                None => text.len(),
            },
            '-' if rest(text, at).starts_with("--") => at + rest(text, at).find('\n').unwrap_or(rest(text, at).len()),
            '/' if rest(text, at).starts_with("/*") => at + comment(rest(text, at)),
            '$' => at + dollars(rest(text, at)),
            c if is_word(c) => {
                let word = rest(text, at).find(|c| !is_word(c)).unwrap_or(rest(text, at).len());
                let literal = rest(text, at + word);
                // The literals of PostgreSQL that begin with a letter.
                let escaped = rest(text, at).get(..word).is_some_and(|word| word.eq_ignore_ascii_case("e"));
                let prefix = escaped || matches!(rest(text, at).get(..word), Some("x" | "X" | "b" | "B" | "n" | "N"));
                let length = if prefix && literal.starts_with('\'') { prefixed(literal, escaped).unwrap_or(literal.len()) } else { 0 };
                at + word + length
            }
            other => at + other.len_utf8(),
        };
        out.push_str(text.get(at..end).unwrap_or_default());
        at = end;
    }
    Cow::Owned(out)
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// What a string says, and its length with its quotes; a quote is doubled in it, or stands behind a backslash.
fn string(text: &str, quote: char) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            if chars.next_if(|(_, next)| *next == quote).is_none() {
                return Some((out, at + 1));
            }
            out.push(quote);
        } else if c == '\\' {
            let (_, escaped) = chars.next()?;
            match escaped {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'b' => out.push('\u{8}'),
                'Z' => out.push('\u{1a}'),
                '%' | '_' => out.extend(['\\', escaped]),
                'u' => {
                    let digits: String = chars.clone().take(4).map(|(_, c)| c).collect();
                    match u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4).and_then(char::from_u32) {
                        Some(c) => {
                            out.push(c);
                            chars.by_ref().take(4).for_each(drop);
                        }
                        None => out.push('u'),
                    }
                }
                other => out.push(other),
            }
        } else {
            out.push(c);
        }
    }
    None
}

/// The length of what is in quotes, with them; a quote is doubled in it.
fn delimited(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return Some(at + 1);
        }
    }
    None
}

/// The length of a literal of PostgreSQL behind its letter.
fn prefixed(text: &str, escapes: bool) -> Option<usize> {
    if !escapes {
        return delimited(text, '\'');
    }
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '\'' if chars.next_if(|(_, next)| *next == '\'').is_none() => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a comment in brackets, which nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        if rest(text, at).starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest(text, at).starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest(text, at).chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a literal in dollars, or of the one dollar of a parameter.
fn dollars(text: &str) -> usize {
    let tag = rest(text, 1).find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len() - 1);
    if rest(text, 1 + tag).starts_with('$') && !rest(text, 1).starts_with(|c: char| c.is_ascii_digit()) {
        let delimiter = text.get(..tag + 2).unwrap_or_default();
        return rest(text, tag + 2).find(delimiter).map_or(text.len(), |at| 2 * (tag + 2) + at);
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_become_those_of_postgresql() {
        for (text, wanted) in [
            ("SELECT 1", "SELECT 1"),
            (r#"SELECT "a", `B c` FROM t"#, r#"SELECT 'a', "b c" FROM t"#),
            (r#"contains(c, "term 'x'")"#, "contains(c, 'term ''x''')"),
            (r#""a""b" 'it''s'"#, r#"'a"b' 'it''s'"#),
            (r"'it\'s' 'a\\b' '10\%' 'a\tb' '\u4e2d'", "'it''s' 'a\\b' '10\\%' 'a\tb' '中'"),
            ("`a``b` `c\"d`", r#""a`b" "c""d""#),
            ("-- \"no\"\n\"yes\" /* \"no\" /* ` */ \" */ `y`", "-- \"no\"\n'yes' /* \"no\" /* ` */ \" */ \"y\""),
            (r#"E'a\'"b' X'00' $t$ "no" $t$ $1 "yes""#, r#"E'a\'"b' X'00' $t$ "no" $t$ $1 'yes'"#),
            ("\"中国\" `列`", "'中国' \"列\""),
            // What does not end.
            (r#"SELECT "a"#, r#"SELECT "a"#),
            ("SELECT `a", "SELECT `a"),
            (r#"/* "a"#, r#"/* "a"#),
        ] {
            assert_eq!(to_postgresql(text), wanted, "{text}");
        }
    }
}
