//! Words that are written in part: prefixes, patterns, words with a letter or two wrong, bounds.
//!
//! Where a pattern goes over what parts words, or over more letters than words have in the index, it is an expression over the text
//! ([`Query::Text`]), which the index narrows down by what is written out. What no word can ever fit is reported as an error.

use crate::analyzer::{Analyzer, TokenizerKind, Words, stands_alone};
use crate::parse::{escape, words_of};
use crate::query::{FieldId, Query};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::Bound;

/// A letter of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Letter {
    Of(char),
    /// `?`
    One,
    /// `*`
    Any,
}

/// Letters, digits, and marks that combine with them, as expressions have them.
const IN_WORDS: &str = r"[\p{Alphabetic}\p{N}\p{M}]";
const BETWEEN_WORDS: &str = r"[^\p{Alphabetic}\p{N}\p{M}]";

fn parts_words(letter: &Letter) -> bool {
    matches!(letter, Letter::Of(c) if !c.is_alphanumeric() && !crate::analyzer::is_combining(*c))
}

/// Whether what stands there is of a writing without blanks.
fn is_chinese(letter: Option<&Letter>) -> bool {
    matches!(letter, Some(Letter::Of(c)) if stands_alone(*c))
}

/// The search for a pattern; `None` if nothing is written that a word could have. `words` is used.
pub(crate) fn pattern(analyzer: &Analyzer, field: FieldId, letters: &[Letter], words: &mut Words) -> Option<Query> {
    match analyzer.options().kind {
        TokenizerKind::Whitespace | TokenizerKind::Raw | TokenizerKind::Lexemes | TokenizerKind::Items { .. } => {
            Some(of_word(analyzer, field, letters))
        }
        TokenizerKind::Ngram { max, .. } => of_pieces(analyzer, field, letters, max as usize, words),
        TokenizerKind::Unicode | TokenizerKind::Stemmer { .. } => of_words(analyzer, field, letters, words),
        TokenizerKind::Jieba if letters.iter().any(|l| is_chinese(Some(l))) => of_chinese(analyzer, field, letters, words),
        TokenizerKind::Jieba => of_words(analyzer, field, letters, words),
    }
}

/// A pattern of one word.
fn of_word(analyzer: &Analyzer, field: FieldId, letters: &[Letter]) -> Query {
    if let Some((Letter::Any, start)) = letters.split_last()
        && let Some(start) = text_of(start)
    {
        return Query::Prefix { field, start: analyzer.normalize(&start) };
    }
    Query::Regex { field, pattern: expression(analyzer, letters, ".*", ".") }
}

/// A pattern of words that are parted by signs.
fn of_words(analyzer: &Analyzer, field: FieldId, letters: &[Letter], words: &mut Words) -> Option<Query> {
    let mut parts: Vec<&[Letter]> = letters.split(parts_words).filter(|part| !part.is_empty()).collect();
    // Nothing needs to stand there.
    while parts.len() > 1 && parts.last() == Some(&&[Letter::Any][..]) {
        parts.pop();
    }
    match parts.as_slice() {
        [] => return None,
        [one] => match text_of(one) {
            Some(text) => return words_of(analyzer, field, &text, 0, true, words),
            None => return Some(of_word(analyzer, field, one)),
        },
        _ => {}
    }
    let mut within = Vec::new();
    let mut of = Vec::new();
    for part in &parts {
        of.push(expression(analyzer, part, &format!("{IN_WORDS}*"), IN_WORDS));
        match text_of(part) {
            Some(text) => within.extend(words_of(analyzer, field, &text, 0, true, words)),
            // Chinese is cut otherwise: signs within words of other letters stay.
            None if analyzer.has_letters() => {}
            None => within.push(of_word(analyzer, field, part)),
        }
    }
    if parts.iter().all(|part| text_of(part).is_some()) {
        let all: Vec<String> = parts.iter().filter_map(|part| text_of(part)).collect();
        return words_of(analyzer, field, &all.join(" "), 0, true, words);
    }
    let inside = of.join(&format!("{BETWEEN_WORDS}+"));
    let expression = format!("(?:^|{BETWEEN_WORDS})({inside})(?:$|{BETWEEN_WORDS})");
    Some(Query::Text { field, expression, shown: shown(letters), within: Box::new(Query::all(within)) })
}

/// A pattern with Chinese in it: it is found wherever it is written, as phrases are.
fn of_chinese(analyzer: &Analyzer, field: FieldId, letters: &[Letter], words: &mut Words) -> Option<Query> {
    let begins = letters.iter().position(|l| *l != Letter::Any)?;
    let ends = letters.iter().rposition(|l| *l != Letter::Any)?;
    let inner = letters.get(begins..=ends)?;
    if let Some(text) = text_of(inner)
        && (is_chinese(inner.last()) || ends + 1 == letters.len())
        && (is_chinese(inner.first()) || begins == 0)
    {
        analyzer.analyze(&text, words);
        if words.len() == 1 && begins == 0 && !analyzer.depends_on_place(&text) {
            return Some(Query::Prefix { field, start: analyzer.normalize(&text) });
        }
        return words_of(analyzer, field, &text, 0, true, words);
    }
    // Words of other letters end where they end, unless the pattern goes on.
    let bound = |edge: Option<&Letter>, goes_on: bool, at: &str| match (is_chinese(edge), goes_on) {
        (true, _) => String::new(),
        (false, true) => format!("{IN_WORDS}*"),
        (false, false) => format!("(?:{at}|{BETWEEN_WORDS}|{CHINESE})"),
    };
    let inside = inner.split(parts_words).filter(|part| !part.is_empty());
    let inside: Vec<String> = inside.map(|part| expression(analyzer, part, &format!("{IN_WORDS}*"), IN_WORDS)).collect();
    let inside = inside.join(&format!("{BETWEEN_WORDS}+"));
    let (before, after) = (bound(inner.first(), begins > 0, "^"), bound(inner.last(), ends + 1 < letters.len(), "$"));
    let mut within = Vec::new();
    for run in inner.split(|l| !is_chinese(Some(l))) {
        within.extend(text_of(run).filter(|t| !t.is_empty()).and_then(|text| words_of(analyzer, field, &text, 0, true, words)));
    }
    let within = Box::new(Query::all(within));
    Some(Query::Text { field, expression: format!("{before}({inside}){after}"), shown: shown(letters), within })
}

/// As [`stands_alone`], roughly: where a word of other letters may begin or end.
const CHINESE: &str = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}]";

/// A pattern over pieces of texts: it is found inside of them.
fn of_pieces(analyzer: &Analyzer, field: FieldId, letters: &[Letter], max: usize, words: &mut Words) -> Option<Query> {
    let begins = letters.iter().position(|l| *l != Letter::Any)?;
    let ends = letters.iter().rposition(|l| *l != Letter::Any)?;
    let inner = letters.get(begins..=ends)?;
    if let Some(text) = text_of(inner) {
        let prefix = begins == 0 && ends + 1 < letters.len() && inner.len() <= max;
        return if prefix {
            Some(Query::Prefix { field, start: analyzer.normalize(&text) })
        } else {
            words_of(analyzer, field, &text, 0, true, words)
        };
    }
    let mut within = Vec::new();
    for run in inner.split(|l| matches!(l, Letter::Any | Letter::One)) {
        within.extend(text_of(run).filter(|t| !t.is_empty()).and_then(|text| words_of(analyzer, field, &text, 0, true, words)));
    }
    let expression = expression(analyzer, inner, r"\S*", r"\S");
    Some(Query::Text { field, expression, shown: shown(letters), within: Box::new(Query::all(within)) })
}

/// What is written, without wildcards.
fn text_of(letters: &[Letter]) -> Option<String> {
    letters.iter().map(|l| if let Letter::Of(c) = l { Some(*c) } else { None }).collect()
}

fn shown(letters: &[Letter]) -> String {
    letters
        .iter()
        .map(|l| match l {
            Letter::Of(c) => *c,
            Letter::One => '?',
            Letter::Any => '*',
        })
        .collect()
}

fn expression(analyzer: &Analyzer, letters: &[Letter], any: &str, one: &str) -> String {
    let mut out = String::new();
    for letter in letters {
        match letter {
            Letter::Any => out.push_str(any),
            Letter::One => out.push_str(one),
            Letter::Of(c) => analyzer.normalize(c.encode_utf8(&mut [0; 4])).chars().for_each(|c| escape(c, &mut out)),
        }
    }
    out
}

/// Words that are a letter or two apart from one. `words` is used.
///
/// # Errors
/// What is written is several words, or longer than any word of the index.
pub(crate) fn fuzzy(analyzer: &Analyzer, field: FieldId, text: &str, distance: u8, words: &mut Words) -> Result<Option<Query>, String> {
    let of = |word: &str| Ok(Some(Query::Fuzzy { field, word: analyzer.normalize(word), distance }));
    match analyzer.options().kind {
        TokenizerKind::Whitespace | TokenizerKind::Raw | TokenizerKind::Lexemes | TokenizerKind::Items { .. } => of(text),
        TokenizerKind::Ngram { max, .. } if text.chars().count() > max as usize + usize::from(distance) => Err(format!(
            "\"{text}\" in search string is longer than the pieces that texts are cut into: words that are like it cannot be found"
        )),
        TokenizerKind::Ngram { .. } => of(text),
        _ => {
            analyzer.analyze(text, words);
            let places: Vec<u32> = words.iter().map(|(_, at, _)| at).collect();
            let place = words.get(0).map(|(_, _, place)| place);
            match (places.iter().any(|at| Some(at) != places.first()), place) {
                (true, _) => Err(format!("\"{text}\" in search string is several words: write \"~\" behind each")),
                (false, Some(place)) => of(text.get(place).unwrap_or_default()),
                // A stop word may be written where another is meant.
                (false, None) if text.chars().all(char::is_alphanumeric) && !text.is_empty() => of(text),
                (false, None) => Ok(None),
            }
        }
    }
}

/// Words between bounds.
///
/// # Errors
/// A bound is no word.
pub(crate) fn range(analyzer: &Analyzer, field: FieldId, lower: &Bound<String>, upper: &Bound<String>) -> Result<Query, String> {
    for bound in [lower, upper] {
        let (Bound::Included(word) | Bound::Excluded(word)) = bound else { continue };
        let fits = match analyzer.options().kind {
            TokenizerKind::Ngram { max, .. } => word.chars().count() <= max as usize,
            TokenizerKind::Unicode | TokenizerKind::Stemmer { .. } => !word.chars().any(|c| parts_words(&Letter::Of(c))),
            TokenizerKind::Whitespace => !word.chars().any(char::is_whitespace),
            _ => true,
        };
        if !fits {
            return Err(format!("\"{word}\" in search string is no single word, and cannot be the bound of a range"));
        }
    }
    let folded = |bound: &Bound<String>| bound.as_ref().map(|word| analyzer.normalize(word));
    Ok(Query::Range { field, lower: folded(lower), upper: folded(upper) })
}

/// An expression for words in lower case: what stands behind a backslash keeps its meaning.
pub(crate) fn in_lower_case(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.extend(c.to_lowercase());
            continue;
        }
        out.push(c);
        let Some(escaped) = chars.next() else { break };
        out.push(escaped);
        if matches!(escaped, 'p' | 'P' | 'x' | 'u') && chars.peek() == Some(&'{') {
            for c in chars.by_ref() {
                out.push(c);
                if c == '}' {
                    break;
                }
            }
        }
    }
    out
}

/// Why no word of a field can fit an expression, if that is sure.
pub(crate) fn no_word_fits(pattern: &str, analyzer: &Analyzer) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let most = if let TokenizerKind::Ngram { max, .. } = analyzer.options().kind { max as usize } else { usize::MAX };
    let in_words = |c: char| match analyzer.options().kind {
        TokenizerKind::Unicode | TokenizerKind::Stemmer { .. } => !parts_words(&Letter::Of(c)),
        TokenizerKind::Whitespace | TokenizerKind::Jieba => !c.is_whitespace(),
        _ => true,
    };
    match shortest(&hir, &in_words) {
        None => Some("the regular expression in search string has signs that words do not have".into()),
        Some(length) if length > most => Some(format!(
            "the regular expression in search string is of {length} letters or more, and texts are cut into pieces of {most} at most"
        )),
        Some(_) => None,
    }
}

/// Letters of the shortest word that fits, of letters that words may have; `None` if none does.
fn shortest(hir: &Hir, in_words: &dyn Fn(char) -> bool) -> Option<usize> {
    /// Of a range of letters, those that are looked at.
    const SOME: u32 = 512;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).unwrap_or_default();
            text.chars().all(in_words).then(|| text.chars().count())
        }
        HirKind::Class(Class::Unicode(class)) => {
            let mut ranges = class.ranges().iter();
            ranges
                .any(|r| (u32::from(r.start())..=u32::from(r.end())).take(SOME as usize).filter_map(char::from_u32).any(in_words))
                .then_some(1)
        }
        HirKind::Class(Class::Bytes(_)) => Some(1),
        HirKind::Repetition(of) if of.min == 0 => Some(0),
        HirKind::Repetition(of) => Some(shortest(&of.sub, in_words)?.saturating_mul(of.min as usize)),
        HirKind::Capture(of) => shortest(&of.sub, in_words),
        HirKind::Concat(of) => of.iter().try_fold(0usize, |sum, hir| Some(sum.saturating_add(shortest(hir, in_words)?))),
        HirKind::Alternation(of) => of.iter().filter_map(|hir| shortest(hir, in_words)).min(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::analyzer::TokenizerOptions;
    use crate::evaluate::{Evaluator, FieldText};
    use crate::parse::{SearchField, parse};
    use std::sync::Arc;

    fn field(tokenizer: &str) -> SearchField {
        let mut options = TokenizerOptions::default();
        options.set("tokenizer", tokenizer).unwrap();
        SearchField { name: "b".into(), analyzer: Analyzer::new(&options).unwrap() }
    }

    #[test]
    fn patterns_are_found_over_what_parts_words() {
        for (tokenizer, query, text, wanted) in [
            ("unicode", "wi-f?", "a Wi-Fi router", true),
            ("unicode", "*i-fi", "a wi-fi router", true),
            ("unicode", "wi-f?", "fi of wi", false),
            ("unicode", "wi-fi*", "a wi fiction", true),
            ("unicode", "wi-fi*", "fiction about wi", false),
            ("unicode", "wi-f?", "wi-fix", false),
            ("english", "database*", "a database", true),
            ("english", "runnin*", "She was running", true),
            ("english", "d?tabase", "the database", true),
            ("english", "/running/", "running", true),
            ("english", "runing~1", "running", true),
            ("english", "running-sho?s", "Running shoes", true),
            ("english", "the-sho?s", "the shoes", true),
            ("ngram(2,3)", "r?uter", "a router", true),
            ("ngram(2,3)", "*oute", "a router", true),
            ("ngram(2,3)", "rout*r", "a router", true),
            ("ngram(2,3)", "r*ter", "run after", false),
            ("ngram(2,3)", "R?UTER", "a router", true),
            ("jieba", "清华*系", "他在清华大学计算机系学习", true),
            ("jieba", "清华*系", "清华，计算机系", false),
            ("jieba", "清华?学", "北京清华大学", true),
            ("jieba", "大学计*", "清华大学计算机", true),
            ("jieba", "图片ab*", "图片abc", true),
            ("jieba", "图片ab*", "图片xabc", false),
            ("jieba", "a?c图片", "abc图片", true),
            ("jieba", "a?c图片", "xabc图片", false),
            ("jieba", "des?gn", "一个Design", true),
        ] {
            let field = field(tokenizer);
            let parsed = parse(query, std::slice::from_ref(&field), &[]).unwrap();
            let found = Evaluator::new(&parsed, &[Arc::clone(&field.analyzer)], None).evaluate(&[FieldText::Text(text)]).is_some();
            assert_eq!(found, wanted, "{tokenizer} {query} in {text}: {parsed}");
        }
    }

    #[test]
    fn what_no_word_can_fit_is_reported() {
        for (tokenizer, query) in [
            ("unicode", "/wi-fi/"),
            ("english", "/a b|c d/"),
            ("ngram(2,3)", "/router/"),
            ("ngram(2,3)", "/.*oute.*/"),
            ("ngram(2,3)", "rooter~1"),
            ("ngram(2,3)", "[router TO routes]"),
            ("unicode", "wi-fj~1"),
            ("unicode", "[2024-01-01 TO 2024-02-01]"),
            ("unicode", ">=wi-fi"),
        ] {
            assert!(matches!(parse(query, &[field(tokenizer)], &[]), Err(crate::Error::Syntax { .. })), "{tokenizer} {query}");
        }
        for (tokenizer, query, wanted) in [
            ("unicode", r"/wi[^x]fi|ab/", r"0:/wi[^x]fi|ab/"),
            ("unicode", r"/A\W?\p{Lu}*B/", r"0:/a\W?\p{Lu}*b/"),
            ("ngram(2,3)", "/r.u/", "0:/r.u/"),
            ("whitespace", "/wi-fi/", "0:/wi-fi/"),
        ] {
            assert_eq!(parse(query, &[field(tokenizer)], &[]).unwrap().to_string(), wanted, "{query}");
        }
        // One column that can tell is enough.
        let both = [field("ngram(2,3)"), field("unicode")];
        assert_eq!(parse("/router/", &both, &[]).unwrap().to_string(), "1:/router/");
    }

    #[test]
    fn places_of_patterns_are_marked() {
        for (tokenizer, query, text, wanted) in [
            ("unicode", "wi-f?", "Wi-Fi wi-fi, wifi", "Wi-Fi|wi-fi"),
            ("jieba", "清华*系", "在清华大学计算机系", "清华大学计算机系"),
            ("ngram(2,3)", "r?uter", "ROUTER", "ROUTER"),
            ("english", "runn*", "running runs", "running"),
        ] {
            let field = field(tokenizer);
            let parsed = parse(query, std::slice::from_ref(&field), &[]).unwrap();
            let mut places = Evaluator::new(&parsed, &[Arc::clone(&field.analyzer)], None).highlight(0, FieldText::Text(text));
            places.sort_by_key(|p| p.start);
            let marked: Vec<&str> = places.into_iter().map(|p| &text[p]).collect();
            assert_eq!(marked.join("|"), wanted, "{query}");
        }
    }
}
