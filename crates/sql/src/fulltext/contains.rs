//! The conditions of Hyperdrive's `contains`: searches for words, and comparisons of whole values.
//!
//! ```text
//! condition  item { ('and' | 'or') item }        item  ['not'] test | '(' condition ')'
//! test       kind 'text'                         kind  term · match · phrase · prefix · wildcard · fuzzy · regexp
//!            'in' '(' 'text' { ',' 'text' } ')'  also without parentheses
//!            ('<' | '<=' | '>' | '>=' | '=' | '<>' | '!=') 'text'
//!            'between' 'text' 'and' 'text'
//!            ('[' | '(') 'text' ',' 'text' (']' | ')')      a range, with its ends or without
//! ```

use stoa_pg::{PgError, PgResult, SqlState};

/// What a condition asks for.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// A search string.
    Search(String),
    /// The whole value compared with a text, by an operator.
    Compare(&'static str, String),
    /// The whole value is one of these.
    In(Vec<String>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}

/// Reads a condition.
///
/// # Errors
/// 42601 with the position in the condition.
pub fn condition(text: &str) -> PgResult<Condition> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0 };
    let out = reader.either(0)?;
    reader.blanks();
    if reader.at < reader.chars.len() {
        return Err(reader.error("an operator is expected in the condition of contains"));
    }
    Ok(out)
}

/// Searches that stand together are one.
fn both(left: Condition, right: Condition) -> Condition {
    match (left, right) {
        (Condition::Search(left), Condition::Search(right)) => Condition::Search(format!("({left}) AND {right}")),
        (Condition::And(mut list), right) => {
            list.push(right);
            Condition::And(list)
        }
        (left, right) => Condition::And(vec![left, right]),
    }
}

fn either(left: Condition, right: Condition) -> Condition {
    match (left, right) {
        (Condition::Search(left), Condition::Search(right)) => Condition::Search(format!("({left}) OR ({right})")),
        (Condition::Or(mut list), right) => {
            list.push(right);
            Condition::Or(list)
        }
        (left, right) => Condition::Or(vec![left, right]),
    }
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

    /// Whether a sign comes next, which is taken then.
    fn sign(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = sign.chars().enumerate().all(|(n, c)| self.chars.get(self.at + n) == Some(&c));
        if found {
            self.at += sign.len();
        }
        found
    }

    fn either(&mut self, depth: usize) -> PgResult<Condition> {
        let mut out = self.both(depth)?;
        while self.take("or") {
            out = either(out, self.both(depth)?);
        }
        Ok(out)
    }

    fn both(&mut self, depth: usize) -> PgResult<Condition> {
        let mut out = self.item(depth)?;
        while self.take("and") {
            out = both(out, self.item(depth)?);
        }
        Ok(out)
    }

    fn item(&mut self, depth: usize) -> PgResult<Condition> {
        const DEEPEST: usize = 20;
        self.blanks();
        if self.take("not") {
            return Ok(match self.item(depth)? {
                Condition::Search(search) => Condition::Search(format!("NOT ({search})")),
                other => Condition::Not(Box::new(other)),
            });
        }
        if let Some(range) = self.range()? {
            return Ok(range);
        }
        if self.chars.get(self.at) == Some(&'(') {
            if depth >= DEEPEST {
                return Err(self.error("too many parentheses in the condition of contains"));
            }
            self.at += 1;
            let inner = self.either(depth + 1)?;
            if !self.sign(")") {
                return Err(self.error("unclosed parenthesis in the condition of contains"));
            }
            return Ok(match inner {
                Condition::Search(search) => Condition::Search(format!("({search})")),
                other => other,
            });
        }
        if let Some(test) = self.comparison()? {
            return Ok(test);
        }
        self.search().map(Condition::Search)
    }

    /// `['a', 'b')`: a bracket belongs to the range with its end, a parenthesis without it.
    fn range(&mut self) -> PgResult<Option<Condition>> {
        let start = self.at;
        let with_start = self.sign("[");
        if !with_start {
            // A parenthesis begins a condition as well.
            let opens = self.sign("(");
            self.blanks();
            if !opens || self.chars.get(self.at) != Some(&'\'') {
                self.at = start;
                return Ok(None);
            }
        }
        let from = self.quoted()?;
        if !self.sign(",") {
            return Err(self.error("a comma is expected in a range of contains"));
        }
        let to = self.quoted()?;
        let with_end = self.sign("]");
        if !with_end && !self.sign(")") {
            return Err(self.error("unclosed range in the condition of contains"));
        }
        let (low, high) = (if with_start { ">=" } else { ">" }, if with_end { "<=" } else { "<" });
        Ok(Some(Condition::And(vec![Condition::Compare(low, from), Condition::Compare(high, to)])))
    }

    /// What is said of the whole value.
    fn comparison(&mut self) -> PgResult<Option<Condition>> {
        for (sign, operator) in [("<=", "<="), (">=", ">="), ("<>", "<>"), ("!=", "<>"), ("<", "<"), (">", ">"), ("=", "=")] {
            if self.sign(sign) {
                return Ok(Some(Condition::Compare(operator, self.quoted()?)));
            }
        }
        if self.take("between") {
            let from = self.quoted()?;
            if !self.take("and") {
                return Err(self.error("\"and\" is expected behind between in the condition of contains"));
            }
            return Ok(Some(Condition::And(vec![Condition::Compare(">=", from), Condition::Compare("<=", self.quoted()?)])));
        }
        if self.take("in") {
            let parenthesis = self.sign("(");
            let mut list = vec![self.quoted()?];
            while self.sign(",") {
                list.push(self.quoted()?);
            }
            if parenthesis && !self.sign(")") {
                return Err(self.error("unclosed parenthesis in the condition of contains"));
            }
            return Ok(Some(Condition::In(list)));
        }
        Ok(None)
    }

    fn search(&mut self) -> PgResult<String> {
        let kind = self.word();
        let known = matches!(kind.as_str(), "term" | "match" | "phrase" | "prefix" | "wildcard" | "fuzzy" | "regexp");
        if !known {
            return Err(self.error(
                "term, phrase, match, prefix, wildcard, fuzzy, regexp, in, between, a comparison or a range is expected in the condition of contains",
            ));
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
        for (text, wanted) in [
            ("term 'x'", "\"x\""),
            ("TERM 'it''s'", "\"it's\""),
            ("term 'a' and term 'b' or prefix 'c'", "((\"a\") AND \"b\") OR (c*)"),
            ("not (match 'a b')", "NOT (((a b)))"),
            ("wildcard 'a*b?'", "a*b?"),
            ("fuzzy 'abc'", "abc~"),
            ("regexp 'a/b'", "/a\\/b/"),
        ] {
            assert_eq!(condition(text).unwrap(), Condition::Search(wanted.into()), "{text}");
        }
        for bad in [
            "",
            "x 'a'",
            "term a",
            "term 'a",
            "(term 'a'",
            "term 'a' term 'b'",
            "term 'a' and",
            "in",
            "in ('a'",
            "['a'",
            "['a', 'b'",
            "between 'a'",
            ">",
        ] {
            assert_eq!(condition(bad).unwrap_err().code().as_str(), "42601", "{bad}");
        }
    }

    #[test]
    fn comparisons_are_of_whole_values() {
        use Condition::{And, Compare, In, Not, Or, Search};
        let compare = |operator, text: &str| Compare(operator, text.into());
        for (text, wanted) in [
            ("in ('a', 'b')", In(vec!["a".into(), "b".into()])),
            ("IN 'a', 'b'", In(vec!["a".into(), "b".into()])),
            (">= 'a'", compare(">=", "a")),
            ("!='a'", compare("<>", "a")),
            ("['a', 'b')", And(vec![compare(">=", "a"), compare("<", "b")])),
            ("('a', 'b']", And(vec![compare(">", "a"), compare("<=", "b")])),
            ("between 'a' and 'b'", And(vec![compare(">=", "a"), compare("<=", "b")])),
            ("(term 'x' or = 'y')", Or(vec![Search("\"x\"".into()), compare("=", "y")])),
            ("not in ('a')", Not(Box::new(In(vec!["a".into()])))),
            ("term 'x' and term 'y' and > 'a'", And(vec![Search("(\"x\") AND \"y\"".into()), compare(">", "a")])),
        ] {
            assert_eq!(condition(text).unwrap(), wanted, "{text}");
        }
    }
}
