//! The conditions of Hyperdrive's `contains`, as search strings.
//!
//! ```text
//! condition  item { ('and' | 'or') item }        item  ['not'] kind 'text' | '(' condition ')'
//! kind       term · match · phrase · prefix · wildcard · fuzzy · regexp
//! ```

use stoa_pg::{PgError, PgResult, SqlState};

/// A search string that finds what a condition asks for.
///
/// # Errors
/// 42601 with the position in the condition.
pub fn search_string(condition: &str) -> PgResult<String> {
    let mut reader = Reader { chars: condition.chars().collect(), at: 0 };
    let out = reader.either(0)?;
    reader.blanks();
    if reader.at < reader.chars.len() {
        return Err(reader.error("an operator is expected in the condition of contains"));
    }
    Ok(out)
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn error(&self, what: &str) -> PgError {
        PgError::new(SqlState::SYNTAX_ERROR, what).detail(format!("At character {} of the search string.", self.at + 1))
    }

    fn blanks(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn word(&mut self) -> String {
        self.blanks();
        self.chars.iter().skip(self.at).take_while(|c| c.is_ascii_alphabetic()).collect::<String>().to_ascii_lowercase()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn either(&mut self, depth: usize) -> PgResult<String> {
        let mut out = self.both(depth)?;
        while self.take("or") {
            out = format!("({out}) OR ({})", self.both(depth)?);
        }
        Ok(out)
    }

    fn both(&mut self, depth: usize) -> PgResult<String> {
        let mut out = self.item(depth)?;
        while self.take("and") {
            out = format!("({out}) AND {}", self.item(depth)?);
        }
        Ok(out)
    }

    fn item(&mut self, depth: usize) -> PgResult<String> {
        const DEEPEST: usize = 20;
        self.blanks();
        if self.take("not") {
            return Ok(format!("NOT ({})", self.item(depth)?));
        }
        if self.chars.get(self.at) == Some(&'(') {
            if depth >= DEEPEST {
                return Err(self.error("too many parentheses in the condition of contains"));
            }
            self.at += 1;
            let inner = self.either(depth + 1)?;
            self.blanks();
            if self.chars.get(self.at) != Some(&')') {
                return Err(self.error("unclosed parenthesis in the condition of contains"));
            }
            self.at += 1;
            return Ok(format!("({inner})"));
        }
        let kind = self.word();
        let known = matches!(kind.as_str(), "term" | "match" | "phrase" | "prefix" | "wildcard" | "fuzzy" | "regexp");
        if !known {
            return Err(self.error("term, phrase, match, prefix, wildcard, fuzzy or regexp is expected in the condition of contains"));
        }
        self.at += kind.len();
        let text = self.quoted()?;
        Ok(match kind.as_str() {
            "term" | "phrase" => format!("\"{}\"", text.replace('\\', " ").replace('"', "\\\"")),
            "match" => {
                let words: Vec<String> = text.split_whitespace().map(escaped).collect();
                format!("({})", words.join(" "))
            }
            "prefix" => format!("{}*", escaped(&text)),
            "wildcard" => text.split(['*', '?']).map(escaped).collect::<Vec<_>>().join("\0").chars().fold(String::new(), {
                let mut signs: Vec<char> = text.chars().filter(|c| matches!(c, '*' | '?')).rev().collect();
                move |mut out, c| {
                    out.push(if c == '\0' { signs.pop().unwrap_or('*') } else { c });
                    out
                }
            }),
            "fuzzy" => format!("{}~", escaped(&text)),
            _ => format!("/{}/", text.replace('/', "\\/")),
        })
    }

    fn quoted(&mut self) -> PgResult<String> {
        self.blanks();
        if self.chars.get(self.at) != Some(&'\'') {
            return Err(self.error("a text in single quotes is expected in the condition of contains"));
        }
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        while let Some(c) = self.chars.get(self.at).copied() {
            self.at += 1;
            if c != '\'' {
                out.push(c);
            } else if self.chars.get(self.at) == Some(&'\'') {
                out.push('\'');
                self.at += 1;
            } else {
                return Ok(out);
            }
        }
        self.at = start;
        Err(self.error("unterminated text in the condition of contains"))
    }
}

/// A word without signs.
fn escaped(word: &str) -> String {
    word.chars().flat_map(|c| if c.is_alphanumeric() { vec![c] } else { vec!['\\', c] }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn conditions_become_search_strings() {
        for (condition, wanted) in [
            ("term 'x'", "\"x\""),
            ("TERM 'it''s'", "\"it's\""),
            ("term 'a' and term 'b' or prefix 'c'", "((\"a\") AND \"b\") OR (c*)"),
            ("not (match 'a b')", "NOT (((a b)))"),
            ("wildcard 'a*b?'", "a*b?"),
            ("fuzzy 'abc'", "abc~"),
            ("regexp 'a/b'", "/a\\/b/"),
        ] {
            assert_eq!(search_string(condition).unwrap(), wanted, "{condition}");
        }
        for bad in ["", "x 'a'", "term a", "term 'a", "(term 'a'", "term 'a' term 'b'", "term 'a' and"] {
            assert_eq!(search_string(bad).unwrap_err().code().as_str(), "42601", "{bad}");
        }
    }
}
