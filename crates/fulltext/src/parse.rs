//! Search strings: what people write into a search box.
//!
//! ```text
//! quick fox            one of the words; more of them is better
//! +quick -lazy fox     with quick, without lazy, fox is better        quick AND NOT lazy, (a OR b) AND c
//! "brown fox"~2        a phrase, up to two places apart               title:fox   in one column
//! qui*  qu?ck          prefix, pattern     quick~1   one letter apart     /qu.ck/   the whole word fits an expression
//! [a TO m}  >=2024     between             fox^2.5   counts more          \+        a sign as it is
//! ```
//!
//! Invariant: whatever is written, the answer is a query or an error with its position; never a panic, and bounded work.

use crate::analyzer::{Analyzer, Words};
use crate::error::{Error, Result};
use crate::pattern::{Letter, fuzzy, in_lower_case, no_word_fits, pattern, range};
use crate::query::{FieldId, Query};
use std::ops::Bound;
use std::sync::Arc;

/// Words and patterns in one search string.
pub(crate) const MAX_CLAUSES: usize = 1024;
/// Parentheses in each other.
const MAX_DEPTH: usize = 64;
/// Bytes of a search string.
const MAX_BYTES: usize = 64 << 10;

/// A column that a search string may name.
#[derive(Clone, Debug)]
pub struct SearchField {
    pub name: String,
    pub analyzer: Arc<Analyzer>,
}

/// Reads a search string over some columns; `others` are names of columns that it does not search, which it may not name.
///
/// # Errors
/// [`Error::Syntax`] with the position; [`Error::TooMuch`].
pub fn parse(text: &str, fields: &[SearchField], others: &[String]) -> Result<Query> {
    if text.len() > MAX_BYTES {
        return Err(Error::TooMuch(format!("the search string is longer than {MAX_BYTES} bytes")));
    }
    let chars: Vec<char> = text.chars().collect();
    let mut parser = Parser { chars, at: 0, fields, others, depth: 0, clauses: 0, words: Words::default() };
    let query = parser.list(None)?;
    parser.blanks();
    if parser.peek().is_some() {
        return Err(parser.error("unexpected \")\" in search string", parser.at));
    }
    Ok(query.unwrap_or(Query::Nothing))
}

struct Parser<'a> {
    chars: Vec<char>,
    at: usize,
    fields: &'a [SearchField],
    others: &'a [String],
    depth: usize,
    clauses: usize,
    words: Words,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Must,
    MustNot,
}

impl Parser<'_> {
    fn error(&self, message: &str, at: usize) -> Error {
        Error::Syntax { message: message.to_owned(), position: at + 1 }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Takes a word of the language of search strings if it stands here alone.
    fn keyword(&mut self, word: &str) -> bool {
        let n = word.len();
        let here = self.chars.get(self.at..self.at + n).is_some_and(|c| c.iter().copied().eq(word.chars()));
        let ends = self.chars.get(self.at + n).is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '"'));
        if here && ends {
            self.at += n;
        }
        here && ends
    }

    /// Clauses up to a closing parenthesis or the end. `None` if nothing that counts is written.
    fn list(&mut self, field: Option<FieldId>) -> Result<Option<Query>> {
        let (mut must, mut should, mut must_not) = (Vec::new(), Vec::new(), Vec::new());
        let mut operator: Option<usize> = None;
        let mut first = true;
        loop {
            self.blanks();
            match self.peek() {
                None | Some(')') => break,
                _ => {}
            }
            let start = self.at;
            if self.keyword("OR") || (self.keyword("||")) {
                if first || operator.is_some() {
                    return Err(self.error("an operator without a word before it in search string", start));
                }
                operator = Some(start);
                continue;
            }
            operator = None;
            first = false;
            let (sign, query) = self.chain(field)?;
            let Some(query) = query else { continue };
            match sign {
                Sign::None => should.push(query),
                Sign::Must => must.push(query),
                Sign::MustNot => must_not.push(query),
            }
        }
        if let Some(at) = operator {
            return Err(self.error("an operator without a word behind it in search string", at));
        }
        Ok(combine(must, should, must_not))
    }

    /// Clauses joined by AND.
    fn chain(&mut self, field: Option<FieldId>) -> Result<(Sign, Option<Query>)> {
        let (sign, query) = self.clause(field)?;
        let mut parts = vec![(sign, query)];
        loop {
            self.blanks();
            let start = self.at;
            if !(self.keyword("AND") || self.keyword("&&")) {
                break;
            }
            self.blanks();
            if matches!(self.peek(), None | Some(')')) {
                return Err(self.error("an operator without a word behind it in search string", start));
            }
            parts.push(self.clause(field)?);
        }
        if parts.len() == 1
            && let Some(one) = parts.pop()
        {
            return Ok(one);
        }
        let (mut must, mut must_not) = (Vec::new(), Vec::new());
        for (sign, query) in parts {
            let Some(query) = query else { continue };
            if sign == Sign::MustNot { must_not.push(query) } else { must.push(query) }
        }
        Ok((Sign::None, combine(must, Vec::new(), must_not)))
    }

    fn clause(&mut self, field: Option<FieldId>) -> Result<(Sign, Option<Query>)> {
        self.blanks();
        let start = self.at;
        if self.keyword("AND") || self.keyword("OR") || self.keyword("&&") || self.keyword("||") {
            return Err(self.error("an operator without a word before it in search string", start));
        }
        let sign = match self.peek() {
            Some('+') => Sign::Must,
            Some('-' | '!') => Sign::MustNot,
            _ if self.keyword("NOT") => Sign::MustNot,
            _ => Sign::None,
        };
        if matches!(self.peek(), Some('+' | '-' | '!')) && sign != Sign::None && self.at == start {
            self.at += 1;
        }
        self.blanks();
        if matches!(self.peek(), None | Some(')')) {
            return Err(self.error("an operator without a word behind it in search string", start));
        }
        Ok((sign, self.primary(field)?))
    }

    fn primary(&mut self, field: Option<FieldId>) -> Result<Option<Query>> {
        self.clauses += 1;
        if self.clauses > MAX_CLAUSES {
            return Err(Error::TooMuch(format!("the search string has more than {MAX_CLAUSES} words")));
        }
        let start = self.at;
        let query = match self.peek() {
            Some('(') => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(Error::TooMuch(format!("the search string has more than {MAX_DEPTH} parentheses in each other")));
                }
                let inner = self.list(field)?;
                if self.peek() != Some(')') {
                    return Err(self.error("unclosed parenthesis in search string", start));
                }
                self.at += 1;
                self.depth -= 1;
                inner
            }
            Some('"') => {
                let phrase = self.until('"', "unterminated phrase in search string")?;
                let slop = match self.peek() {
                    Some('~') => {
                        self.at += 1;
                        self.number(1000)?.ok_or_else(|| self.error("a number is expected behind \"~\" in search string", self.at))?
                    }
                    _ => 0,
                };
                self.each(field, |p, f| Ok(p.words_of(f, &phrase, slop, true)), start)?
            }
            Some('/') => {
                let pattern = self.until('/', "unterminated regular expression in search string")?;
                let pattern = pattern.trim().to_owned();
                if let Err(error) = tantivy_fst::Regex::new(&pattern) {
                    let why = error.to_string();
                    let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                    return Err(self.error(&format!("invalid regular expression in search string: {why}"), start));
                }
                self.each(
                    field,
                    |p, f| {
                        let Some(field) = p.fields.get(f) else { return Ok(None) };
                        let pattern = if field.analyzer.folds_case() { in_lower_case(&pattern) } else { pattern.clone() };
                        match no_word_fits(&pattern, &field.analyzer) {
                            Some(why) => Err(why),
                            None => Ok(Some(Query::Regex { field: f, pattern })),
                        }
                    },
                    start,
                )?
            }
            Some('[' | '{') => self.range(field)?,
            Some(sign @ ('>' | '<')) => {
                self.at += 1;
                let equal = self.peek() == Some('=');
                self.at += usize::from(equal);
                let bound = self.bare_word()?;
                if bound.is_empty() {
                    return Err(self.error("a word is expected behind a comparison in search string", self.at));
                }
                let bound = if equal { Bound::Included(bound) } else { Bound::Excluded(bound) };
                let (lower, upper) = if sign == '>' { (bound, Bound::Unbounded) } else { (Bound::Unbounded, bound) };
                self.each(field, |p, f| p.between(f, &lower, &upper), start)?
            }
            _ => self.word(field)?,
        };
        self.boosted(query)
    }

    fn boosted(&mut self, query: Option<Query>) -> Result<Option<Query>> {
        if self.peek() != Some('^') {
            return Ok(query);
        }
        let at = self.at;
        self.at += 1;
        let digits: String = self.chars.iter().skip(self.at).take_while(|c| c.is_ascii_digit() || **c == '.').collect();
        self.at += digits.len();
        let by = digits.parse::<f32>().ok().filter(|b| b.is_finite() && *b <= 1.0e6);
        let by = by.ok_or_else(|| self.error("a number is expected behind \"^\" in search string", at + 1))?;
        Ok(query.map(|q| Query::Boost(Box::new(q), by)))
    }

    /// What stands between two signs of a kind; a backslash keeps the sign behind it.
    fn until(&mut self, sign: char, unterminated: &str) -> Result<String> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                c if c == sign => return Ok(out),
                '\\' if self.peek() == Some(sign) => {
                    out.push(sign);
                    self.at += 1;
                }
                c => out.push(c),
            }
        }
        Err(self.error(unterminated, start))
    }

    fn number(&mut self, most: u32) -> Result<Option<u32>> {
        let digits: String = self.chars.iter().skip(self.at).take_while(|c| c.is_ascii_digit()).collect();
        if digits.is_empty() {
            return Ok(None);
        }
        let n = digits.parse::<u32>().ok().filter(|n| *n <= most);
        let n = n.ok_or_else(|| self.error(&format!("a number in search string is greater than {most}"), self.at))?;
        self.at += digits.len();
        Ok(Some(n))
    }

    /// A word up to a blank or a sign that ends it.
    fn bare_word(&mut self) -> Result<String> {
        let mut out = String::new();
        while let Some(c) = self.peek() {
            match c {
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(escaped) => out.push(escaped),
                        None => return Err(self.error("nothing behind \"\\\" in search string", self.at - 1)),
                    }
                }
                c if c.is_whitespace() || matches!(c, '(' | ')' | '"' | '^' | ']' | '}') => break,
                c => out.push(c),
            }
            self.at += 1;
        }
        Ok(out)
    }

    fn range(&mut self, field: Option<FieldId>) -> Result<Option<Query>> {
        let start = self.at;
        let open = self.peek();
        self.at += 1;
        self.blanks();
        let lower = self.bare_word()?;
        self.blanks();
        if lower.is_empty() || !self.keyword("TO") {
            return Err(self.error("a range in search string is written [a TO b]", start));
        }
        self.blanks();
        let upper = self.bare_word()?;
        self.blanks();
        let close = self.peek();
        if upper.is_empty() || !matches!(close, Some(']' | '}')) {
            return Err(self.error("a range in search string is written [a TO b]", start));
        }
        self.at += 1;
        let bound = |word: String, open: bool| match word.as_str() {
            "*" => Bound::Unbounded,
            _ if open => Bound::Excluded(word),
            _ => Bound::Included(word),
        };
        let (lower, upper) = (bound(lower, open == Some('{')), bound(upper, close == Some('}')));
        self.each(field, |p, f| p.between(f, &lower, &upper), start)
    }

    fn between(&self, field: FieldId, lower: &Bound<String>, upper: &Bound<String>) -> std::result::Result<Option<Query>, String> {
        self.fields.get(field).map(|f| range(&f.analyzer, field, lower, upper)).transpose()
    }

    /// A word: plain, prefix, pattern, fuzzy, or a column's name with what follows it.
    fn word(&mut self, field: Option<FieldId>) -> Result<Option<Query>> {
        let start = self.at;
        let mut out = String::new();
        // Where `*` and `?` stand that were not escaped.
        let mut wild: Vec<usize> = Vec::new();
        let mut length = 0;
        while let Some(c) = self.peek() {
            match c {
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(escaped) => out.push(escaped),
                        None => return Err(self.error("nothing behind \"\\\" in search string", self.at - 1)),
                    }
                }
                ':' if field.is_none() && length > 0 => {
                    let is = |name: &str| name == out || name == out.to_lowercase();
                    let next = self.chars.get(self.at + 1).copied();
                    let names = next.is_some_and(|c| !c.is_whitespace() && c != ')');
                    if let Some(named) = self.fields.iter().position(|f| is(&f.name)).filter(|_| names) {
                        self.at += 1;
                        return self.primary(Some(named));
                    }
                    let other = names && self.others.iter().any(|name| is(name));
                    let word = out.chars().all(|c| c.is_alphanumeric() || c == '_');
                    if other || (word && matches!(next, Some('[' | '{' | '(' | '<' | '>'))) {
                        return Err(self.error(&format!("\"{out}\" in search string is not a column of the MATCH"), start));
                    }
                    out.push(c);
                }
                c if c.is_whitespace() || matches!(c, '(' | ')' | '"' | '^') => break,
                '~' if length > 0 && wild.is_empty() => break,
                '*' | '?' => {
                    wild.push(length);
                    out.push(c);
                }
                c => out.push(c),
            }
            length += 1;
            self.at += 1;
        }
        if self.peek() == Some('~') {
            let at = self.at;
            self.at += 1;
            let distance = self.number(1000)?.unwrap_or(2);
            let distance = u8::try_from(distance).ok().filter(|d| (1..=2).contains(d));
            let distance = distance.ok_or_else(|| self.error("words in search string may be 1 or 2 letters apart", at + 1))?;
            return self.each(
                field,
                |p, f| {
                    let Some(field) = p.fields.get(f) else { return Ok(None) };
                    fuzzy(&Arc::clone(&field.analyzer), f, &out, distance, &mut p.words)
                },
                start,
            );
        }
        if out == "*" && wild == [0] {
            return Ok(Some(Query::All));
        }
        if wild.is_empty() {
            return self.each(field, |p, f| Ok(p.words_of(f, &out, 0, false)), start);
        }
        if wild.len() > 16 {
            return Err(self.error("a pattern in search string has more than 16 wildcards", start));
        }
        let letters: Vec<Letter> = out
            .chars()
            .enumerate()
            .map(|(n, c)| match c {
                '*' if wild.contains(&n) => Letter::Any,
                '?' if wild.contains(&n) => Letter::One,
                c => Letter::Of(c),
            })
            .collect();
        self.each(
            field,
            |p, f| match p.fields.get(f) {
                Some(field) => Ok(pattern(&Arc::clone(&field.analyzer), f, &letters, &mut p.words)),
                None => Ok(None),
            },
            start,
        )
    }

    /// The same in one column, or in each; an error, at a position, if none of them can tell.
    fn each(
        &mut self,
        field: Option<FieldId>,
        mut make: impl FnMut(&mut Self, FieldId) -> std::result::Result<Option<Query>, String>,
        at: usize,
    ) -> Result<Option<Query>> {
        let fields = field.map_or(0..self.fields.len(), |field| field..field + 1);
        let (mut made, mut any, mut why) = (Vec::new(), false, None);
        for field in fields {
            match make(self, field) {
                Ok(query) => {
                    any = true;
                    made.extend(query);
                }
                Err(error) => why = why.or(Some(error)),
            }
        }
        match why {
            Some(why) if !any => Err(self.error(&why, at)),
            _ => Ok((!made.is_empty()).then(|| Query::any(made))),
        }
    }

    fn words_of(&mut self, field: FieldId, text: &str, slop: u32, quoted: bool) -> Option<Query> {
        let analyzer = Arc::clone(&self.fields.get(field)?.analyzer);
        words_of(&analyzer, field, text, slop, quoted, &mut self.words)
    }
}

/// What is analyzed to one word is a word, what becomes several is a phrase; `None` for what has none (stop words). What is quoted is a
/// phrase in any case where phrases are of letters; what is not is found by words that mean the same, too. `words` is used.
pub(crate) fn words_of(analyzer: &Analyzer, field: FieldId, text: &str, slop: u32, quoted: bool, words: &mut Words) -> Option<Query> {
    analyzer.analyze(text, words);
    if words.is_empty() {
        return analyzer.shorter_than_pieces(field, text);
    }
    let same = if quoted { Vec::new() } else { analyzer.synonyms().of(words, field) };
    let query = phrase_of(analyzer, field, text, slop, quoted, words)?;
    Some(Query::any(std::iter::once(query).chain(same).collect()))
}

/// The same, of a text whose words are there already.
pub(crate) fn phrase_of(analyzer: &Analyzer, field: FieldId, text: &str, slop: u32, quoted: bool, words: &mut Words) -> Option<Query> {
    let (first, _, _) = words.get(0)?;
    if words.len() == 1 && !(quoted && analyzer.has_letters()) && !analyzer.depends_on_place(first) {
        return Some(Query::Term { field, word: first.to_owned() });
    }
    let phrase = |letters: bool, of: Vec<(u32, String)>, slop: u32| {
        let start = of.first().map_or(0, |(at, _)| *at);
        let words = of.into_iter().map(|(at, word)| (at - start, word)).collect();
        Query::Phrase { field, letters, words, slop }
    };
    let owned = |words: &Words| words.iter().map(|(word, at, _)| (at, word.to_owned())).collect();
    if !analyzer.has_letters() {
        return Some(phrase(false, owned(words), slop));
    }
    let mut whole: Vec<(u32, String)> = owned(words);
    // Places count words; the longest at each comes first.
    whole.dedup_by_key(|(at, _)| *at);
    analyzer.written(text, words);
    let written = phrase(true, owned(words), 0);
    Some(if slop > 0 && whole.len() > 1 { Query::any(vec![written, phrase(false, whole, slop)]) } else { written })
}

fn combine(must: Vec<Query>, mut should: Vec<Query>, must_not: Vec<Query>) -> Option<Query> {
    match (must.len(), should.len(), must_not.len()) {
        (0, 0, 0) => None,
        (0, 1, 0) => should.pop(),
        // Without anything asked for, all but what is excluded.
        (0, 0, _) => Some(Query::Bool { must: vec![Query::All], should, must_not }),
        _ => Some(Query::Bool { must, should, must_not }),
    }
}

/// Appends a character of a regular expression that stands for itself.
pub(crate) fn escape(c: char, out: &mut String) {
    if matches!(c, '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '#' | '&' | '-' | '~') {
        out.push('\\');
    }
    out.push(c);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::analyzer::TokenizerOptions;

    fn fields(names: &[&str]) -> Vec<SearchField> {
        let analyzer = Analyzer::new(&TokenizerOptions::default()).unwrap();
        names.iter().map(|n| SearchField { name: (*n).into(), analyzer: Arc::clone(&analyzer) }).collect()
    }

    #[test]
    fn search_strings_mean_what_people_expect() {
        for (text, wanted) in [
            ("", "nothing"),
            ("Quick", "0:quick"),
            ("quick fox", "(0:quick 0:fox)"),
            ("quick OR fox", "(0:quick 0:fox)"),
            ("+quick -lazy fox", "(+0:quick 0:fox -0:lazy)"),
            ("quick AND NOT lazy", "(+0:quick -0:lazy)"),
            ("a AND b OR c", "((+0:a +0:b) 0:c)"),
            ("(a OR b) AND c", "(+(0:a 0:b) +0:c)"),
            ("-lazy", "(+* -0:lazy)"),
            ("\"brown fox\"~2", "0:\"brown fox\"~2"),
            ("wi-fi", "0:\"wi fi\""),
            ("qui* qu?ck *ick", "(0:qui* 0:/qu.ck/ 0:/.*ick/)"),
            ("quick~ fox~1", "(0:quick~2 0:fox~1)"),
            ("/qu.[ck]+/", "0:/qu.[ck]+/"),
            ("[a TO m} >=k <b", "(0:[a TO m} 0:[k TO *} 0:{* TO b})"),
            ("[* TO m]", "0:{* TO m]"),
            ("fox^2.5 (a b)^2", "(0:fox^2.5 (0:a 0:b)^2)"),
            ("*", "*"),
            ("a\\*b \\+c", "(0:\"a b\" 0:c)"),
            ("http://x 12:30", "(0:\"http x\" 0:\"12 30\")"),
            ("... fox", "0:fox"),
            ("wi-fi* foo-*", "(0:wi-fi* 0:foo)"),
        ] {
            assert_eq!(parse(text, &fields(&["body"]), &[]).unwrap().to_string(), wanted, "{text}");
        }
    }

    #[test]
    fn pieces_and_chinese_are_found_inside_texts() {
        for (tokenizer, text, wanted) in [
            ("ngram(2,3)", "a", "0:/(.|\\n)*a(.|\\n)*/"),
            ("ngram(2,3)", "\"*\"", "0:/(.|\\n)*\\*(.|\\n)*/"),
            ("ngram(2,3)", "ab*", "0:ab*"),
            ("ngram(2,2)", "abc*", "0:\"ab bc\""),
            ("jieba", "人民*", "0:人民*"),
            ("jieba", "图片/2009年8月*", "0:\"图 片 2009 年 8 月\""),
            ("jieba", "图片ab*", "0:图片ab*"),
            ("jieba", "\"大学\" 大学", "(0:\"大 学\" 0:大学)"),
        ] {
            let mut options = TokenizerOptions::default();
            options.set("tokenizer", tokenizer).unwrap();
            let fields = [SearchField { name: "b".into(), analyzer: Analyzer::new(&options).unwrap() }];
            assert_eq!(parse(text, &fields, &[]).unwrap().to_string(), wanted, "{text}");
        }
    }

    #[test]
    fn columns_can_be_named() {
        for (text, wanted) in [
            ("fox", "(0:fox 1:fox)"),
            ("title:fox", "0:fox"),
            ("body:(fox \"a b\")", "(1:fox 1:\"a b\")"),
            ("+title:fox other:x", "(+0:fox (0:\"other x\" 1:\"other x\"))"),
        ] {
            assert_eq!(parse(text, &fields(&["title", "body"]), &[]).unwrap().to_string(), wanted, "{text}");
        }
    }

    #[test]
    fn malformed_strings_are_reported_with_their_position() {
        for (text, at) in [
            ("fox (a b", 5),
            ("a b)", 4),
            ("fox \"brown", 5),
            ("fox AND", 5),
            ("OR fox", 1),
            ("fox OR", 5),
            ("fox -", 5),
            ("a /b", 3),
            ("a /(/", 3),
            ("fox~3", 5),
            ("fox^x", 5),
            ("[a TO", 1),
            ("[a b]", 1),
            ("fox \\", 5),
            ("a price:[1 TO 5]", 3),
            ("price:>=5", 1),
            ("name:(a b)", 1),
            ("fox other:5", 5),
            ("OTHER:\"5 6\"", 1),
        ] {
            match parse(text, &fields(&["body"]), &["other".to_owned()]) {
                Err(Error::Syntax { position, .. }) => assert_eq!(position, at, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(matches!(parse(&"(".repeat(100), &fields(&["b"]), &[]), Err(Error::TooMuch(_))));
        assert!(matches!(parse(&"a ".repeat(2000), &fields(&["b"]), &[]), Err(Error::TooMuch(_))));
    }

    #[test]
    fn nothing_that_is_written_panics() {
        let signs: Vec<char> = "ab\"()+-!~^:*?/[]{}<>=\\ \u{e9}TOANDR1.|&".chars().collect();
        let mut seed = 7u64;
        for _ in 0..20_000 {
            let text: String = (0..12)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    signs[(seed >> 33) as usize % signs.len()]
                })
                .collect();
            let _ = parse(&text, &fields(&["a", "b"]), &[]);
        }
    }
}
