//! Words of an index that are like one that no text has: what somebody may have meant.

use crate::analyzer::{Analyzer, TokenizerKind, stands_alone, words};
use crate::error::Result;
use crate::query::FieldId;
use crate::search::{Generation, guarded};
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;
use tantivy_fst::Automaton;

/// Words of a text that are looked at.
const MOST_WORDS: usize = 32;

static LIKE: LazyLock<[LevenshteinAutomatonBuilder; 2]> =
    LazyLock::new(|| [LevenshteinAutomatonBuilder::new(1, true), LevenshteinAutomatonBuilder::new(2, true)]);

/// A word that others may be like.
pub struct Slip {
    /// Where it is in the text, in bytes.
    pub place: Range<usize>,
    pub word: String,
    like: DFA,
}

impl std::fmt::Debug for Slip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slip").field("word", &self.word).finish_non_exhaustive()
    }
}

struct Like<'a>(&'a DFA);

impl Automaton for Like<'_> {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}

impl Slip {
    /// How far a word is from this one; `None` if it is too far.
    #[must_use]
    pub fn distance(&self, word: &str) -> Option<u8> {
        match self.like.eval(word) {
            Distance::Exact(distance) => Some(distance),
            Distance::AtLeast(_) => None,
        }
    }

    /// The likelier of two words comes first: nearer ones, those that begin as it does, those that more documents have.
    #[must_use]
    pub fn order(&self, a: (&str, u64), b: (&str, u64)) -> std::cmp::Ordering {
        let rank = |(word, _): (&str, u64)| {
            let other = self.word.chars().next() != word.chars().next();
            (self.distance(word).unwrap_or(u8::MAX), other)
        };
        rank(a).cmp(&rank(b)).then(b.1.cmp(&a.1)).then(a.0.cmp(b.0))
    }
}

impl Analyzer {
    /// Whether words of its texts are what people write, so that one may be written for another.
    #[must_use]
    pub fn has_plain_words(&self) -> bool {
        !matches!(self.options().kind, TokenizerKind::Ngram { .. } | TokenizerKind::Raw | TokenizerKind::Lexemes)
    }

    /// The words of a text that may be misspelt: three letters or more, no numbers, of writings that have letters.
    #[must_use]
    pub fn slips(&self, text: &str) -> Vec<Slip> {
        let mut out = Vec::new();
        words(text, |start, written| {
            let length = written.chars().count();
            if out.len() >= MOST_WORDS || length < 3 || written.chars().any(|c| c.is_numeric() || stands_alone(c)) {
                return;
            }
            let word = self.normalize(written);
            // Longer words have no automaton of a reasonable size.
            const LONGEST: usize = 64;
            let builder = if length > LONGEST { None } else { LIKE.get(usize::from(length > 4)) };
            if let Some(builder) = builder {
                out.push(Slip { place: start..start + written.len(), like: builder.build_dfa(&word), word });
            }
        });
        out
    }

    /// The words of a text as they are written.
    pub fn plain_words(&self, text: &str, mut found: impl FnMut(&str)) {
        words(text, |_, word| found(&self.normalize(word)));
    }
}

impl Generation {
    /// Words of a field that a slip may stand for, with how many documents have each, replaced ones among them.
    ///
    /// # Errors
    /// The files cannot be read.
    pub fn like(&self, field: FieldId, slip: &Slip) -> Result<HashMap<String, u64>> {
        let mut out: HashMap<String, u64> = HashMap::new();
        let Some(field) = self.patterns.get(field) else { return Ok(out) };
        guarded(|| {
            for segment in self.shards.iter().flat_map(|s| s.searcher.segment_readers()) {
                let index = segment.inverted_index(*field)?;
                let mut found = index.terms().search(Like(&slip.like)).into_stream()?;
                while found.advance() {
                    if let Ok(word) = std::str::from_utf8(found.key()) {
                        *out.entry(word.to_owned()).or_default() += u64::from(found.value().doc_freq);
                    }
                }
            }
            Ok(())
        })?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::TokenizerOptions;

    #[test]
    fn slips_are_words_that_people_write_wrong() {
        let analyzer = Analyzer::new(&TokenizerOptions::default()).unwrap();
        let slips = analyzer.slips("Quikc fo 2024 国家 databse");
        assert_eq!(slips.iter().map(|s| (s.word.as_str(), s.place.start)).collect::<Vec<_>>(), [("quikc", 0), ("databse", 21)]);
        let mut near = [("quack", 9), ("quick", 1), ("quirk", 2), ("kuikc", 50)];
        assert!(slips[0].distance("quick") == Some(1) && slips[0].distance("fox").is_none());
        near.sort_by(|a, b| slips[0].order(*a, *b));
        assert_eq!(near.map(|(word, _)| word), ["quick", "kuikc", "quack", "quirk"]);
        assert!(analyzer.slips(&"x".repeat(100)).is_empty());
    }
}
