//! Words that a text must have for a condition on the text itself: the way from `=`, LIKE and ranges to an index of words.
//!
//! Invariant: a text that fits the condition is found by the query. The other way round need not be: what is found is looked at
//! again. Words that were left out for their length may hide a piece; a text that has such words is found by what stands in their place.

use crate::analyzer::{Analyzer, LEFT_OUT, MAX_WORD_BYTES, TokenizerKind, Words, is_combining, lowered, words};
use crate::parse::escape;
use crate::query::{FieldId, Query};
use std::ops::Bound;

/// Words of a text that are asked for; more make the search no better.
const MAX_WORDS: usize = 24;
/// Pieces of words shorter than this are in too many.
const MIN_INSIDE: usize = 3;
/// Characters of a piece of a word that are looked for.
const MAX_INSIDE: usize = 48;

/// A part of a pattern that the text has as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece<'a> {
    pub text: &'a str,
    /// Whether something may stand before it, or behind it.
    pub open_start: bool,
    pub open_end: bool,
}

impl Analyzer {
    /// Finds at least the texts that are equal to this one. `None`: words cannot tell.
    #[must_use]
    pub fn equal_to(&self, field: FieldId, text: &str) -> Option<Query> {
        if self.options().kind == TokenizerKind::Lexemes {
            return None;
        }
        let mut found = Words::default();
        self.analyze(text, &mut found);
        all_of(found.iter().map(|(word, ..)| term(field, word)).collect())
    }

    /// Finds at least the texts that have all the pieces. `None`: words cannot tell.
    #[must_use]
    pub fn having(&self, field: FieldId, pieces: &[Piece<'_>], any_case: bool) -> Option<Query> {
        if any_case && (!self.folds_case() || !pieces.iter().all(|p| p.text.is_ascii())) {
            return None;
        }
        let mut out = Vec::new();
        for piece in pieces {
            self.words_of(field, piece, &mut out);
        }
        let hidden = out.iter().any(|query| !matches!(query, Query::Term { .. }));
        let all = all_of(out)?;
        Some(if hidden { Query::any(vec![all, term(field, LEFT_OUT)]) } else { all })
    }

    /// Finds the texts that have a piece which is shorter than the pieces that texts are cut into. `None` for other tokenizers.
    #[must_use]
    pub fn shorter_than_pieces(&self, field: FieldId, text: &str) -> Option<Query> {
        if !matches!(self.options().kind, TokenizerKind::Ngram { .. }) || text.is_empty() {
            return None;
        }
        let mut pattern = String::from(r"(.|\n)*");
        self.folded(text).chars().for_each(|c| escape(c, &mut pattern));
        pattern.push_str(r"(.|\n)*");
        Some(Query::Regex { field, pattern })
    }

    /// Finds at least the texts between bounds, in the order of their bytes. `None`: words cannot tell.
    #[must_use]
    pub fn between(&self, field: FieldId, lower: Bound<&str>, upper: Bound<&str>) -> Option<Query> {
        if !self.is_raw() || self.folds_case() {
            return None;
        }
        let owned = |bound: Bound<&str>| bound.map(str::to_owned);
        Some(Query::any(vec![Query::Range { field, lower: owned(lower), upper: owned(upper) }, term(field, LEFT_OUT)]))
    }

    /// What a text has in the index if it has a piece.
    fn words_of(&self, field: FieldId, piece: &Piece<'_>, out: &mut Vec<Query>) {
        let (text, whole) = (piece.text, piece.text.len());
        match &self.options().kind {
            TokenizerKind::Unicode | TokenizerKind::Stemmer { .. } => words(text, |start, word| {
                // A mark that combines may go on with a word that began before the piece.
                let joined = text.get(..start).is_some_and(|before| before.chars().all(is_combining));
                let (from, to) = (joined && piece.open_start, start + word.len() == whole && piece.open_end);
                if self.options().kind == TokenizerKind::Unicode {
                    out.extend(self.word(field, word, from, to));
                } else if !from && !to {
                    let mut stems = Words::default();
                    self.analyze(word, &mut stems);
                    out.extend(stems.iter().map(|(stem, ..)| term(field, stem)));
                }
            }),
            TokenizerKind::Whitespace => {
                for word in text.split_whitespace() {
                    let start = word.as_ptr() as usize - text.as_ptr() as usize;
                    out.extend(self.word(field, word, start == 0 && piece.open_start, start + word.len() == whole && piece.open_end));
                }
            }
            TokenizerKind::Raw => out.extend(self.word(field, text, piece.open_start, piece.open_end)),
            TokenizerKind::Ngram { min, max } => {
                let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([whole]).collect();
                let characters = places.len() - 1;
                let length = (*max as usize).min(characters);
                if length < *min as usize {
                    return;
                }
                for (from, to) in places.iter().zip(places.iter().skip(length)) {
                    out.push(term(field, &self.folded(text.get(*from..*to).unwrap_or_default())));
                }
            }
            TokenizerKind::Jieba | TokenizerKind::Lexemes | TokenizerKind::Items { .. } => {}
        }
    }

    /// A word, of which more may stand before and behind.
    fn word(&self, field: FieldId, word: &str, open_start: bool, open_end: bool) -> Option<Query> {
        if word.is_empty() {
            return None;
        }
        match (open_start, open_end) {
            (false, false) if word.len() > MAX_WORD_BYTES => Some(term(field, LEFT_OUT)),
            (false, false) => Some(term(field, &self.folded(word))),
            (false, true) => {
                let start: String = word.chars().take(MAX_INSIDE).collect();
                Some(Query::Prefix { field, start: self.folded(&start) })
            }
            (true, _) => {
                // Signs have a meaning in patterns: the longest run without any.
                let runs = word.split(|c: char| !c.is_alphanumeric());
                let longest = runs.max_by_key(|run| run.len())?;
                let inside: String = longest.chars().take(MAX_INSIDE).collect();
                if inside.chars().count() < MIN_INSIDE {
                    return None;
                }
                let any = if self.is_raw() { r"(.|\n)*" } else { ".*" };
                Some(Query::Regex { field, pattern: format!("{any}{}{any}", self.folded(&inside)) })
            }
        }
    }

    fn folded(&self, word: &str) -> String {
        if self.folds_case() { lowered(word).collect() } else { word.to_owned() }
    }
}

fn term(field: FieldId, word: &str) -> Query {
    Query::Term { field, word: word.to_owned() }
}

fn all_of(queries: Vec<Query>) -> Option<Query> {
    let mut out: Vec<Query> = Vec::new();
    for query in queries {
        if out.len() < MAX_WORDS && !out.contains(&query) {
            out.push(query);
        }
    }
    if out.is_empty() { None } else { Some(Query::all(out)) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::analyzer::TokenizerOptions;
    use crate::evaluate::{Evaluator, FieldText};
    use std::sync::Arc;

    fn analyzers() -> Vec<Arc<Analyzer>> {
        let of = |settings: &[(&str, &str)]| {
            let mut options = TokenizerOptions::default();
            settings.iter().for_each(|(name, value)| assert!(options.set(name, value).unwrap()));
            Analyzer::new(&options).unwrap()
        };
        vec![
            of(&[]),
            of(&[("lowercase", "false")]),
            of(&[("tokenizer", "whitespace")]),
            of(&[("tokenizer", "raw")]),
            of(&[("tokenizer", "raw"), ("lowercase", "true")]),
            of(&[("tokenizer", "ngram(2,3)")]),
            of(&[("tokenizer", "english")]),
            of(&[("tokenizer", "jieba")]),
        ]
    }

    fn finds(analyzer: &Arc<Analyzer>, query: &Query, text: &str) -> bool {
        Evaluator::new(query, std::slice::from_ref(analyzer), None).evaluate(&[FieldText::Text(text)]).is_some()
    }

    /// Texts of a few characters that are hard on words.
    fn texts() -> Vec<String> {
        let alphabet = ["a", "B", "cde", "Running", "the", " ", "-", "\u{301}", "é", "İ", "ς", "中文", "1", ".", "\n", "(", "\\"];
        let mut seed = 7u64;
        let mut below = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        let mut out: Vec<String> = (0..300).map(|_| (0..below(9)).map(|_| alphabet[below(alphabet.len())]).collect()).collect();
        out.push("x".repeat(MAX_WORD_BYTES + 10) + " short");
        out
    }

    #[test]
    fn every_text_that_fits_is_found() {
        let texts = texts();
        let mut answered = 0;
        for analyzer in analyzers() {
            for text in &texts {
                if let Some(query) = analyzer.equal_to(0, text) {
                    answered += 1;
                    assert!(finds(&analyzer, &query, text), "{analyzer:?} {text:?} {query}");
                }
                let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                for from in places.iter().step_by(places.len().div_ceil(6)) {
                    for to in places.iter().rev().step_by(places.len().div_ceil(6)).filter(|to| *to > from) {
                        let piece = Piece { text: &text[*from..*to], open_start: *from > 0, open_end: *to < text.len() };
                        for any_case in [false, true] {
                            let upper = piece.text.to_ascii_uppercase();
                            let piece = if any_case { Piece { text: &upper, ..piece } } else { piece };
                            if let Some(query) = analyzer.having(0, &[piece], any_case) {
                                answered += 1;
                                assert!(finds(&analyzer, &query, text), "{analyzer:?} {text:?} {piece:?} {query}");
                            }
                        }
                    }
                }
            }
        }
        assert!(answered > 5000, "{answered}");
    }

    #[test]
    fn what_has_other_words_is_not_found() {
        let unicode = &analyzers()[0];
        let inside = Piece { text: "nning fo", open_start: true, open_end: true };
        let query = unicode.having(0, &[inside], false).unwrap();
        assert!(finds(unicode, &query, "running fox"));
        assert!(!finds(unicode, &query, "running dog") && !finds(unicode, &query, "walking fox"));
        let equal = unicode.equal_to(0, "A fox.").unwrap();
        assert!(finds(unicode, &equal, "a fox") && !finds(unicode, &equal, "a dog"));
        assert_eq!(unicode.equal_to(0, "..."), None);
        assert_eq!(unicode.having(0, &[Piece { text: "ab", open_start: true, open_end: true }], false), None);
    }

    #[test]
    fn ranges_are_of_whole_texts() {
        let analyzers = analyzers();
        assert_eq!(analyzers[0].between(0, Bound::Included("a"), Bound::Unbounded), None);
        let raw = &analyzers[3];
        let query = raw.between(0, Bound::Included("b"), Bound::Excluded("c")).unwrap();
        assert!(finds(raw, &query, "bee") && !finds(raw, &query, "c") && !finds(raw, &query, "a"));
        assert!(finds(raw, &query, &"b".repeat(MAX_WORD_BYTES + 1)));
    }
}
