//! Configurations: which words of a text count, and in what form.

use super::parser::{Kind, parse};
use super::query::Node;
use super::stop_words::ENGLISH;
use super::vector::{MAX_LEXEME, MAX_POSITION, Position, Vector};
use crate::settings::Config;
use std::sync::LazyLock;

static STEMMER: LazyLock<frostem::Stemmer> = LazyLock::new(|| frostem::Stemmer::new(frostem::Algorithm::English));

impl Config {
    /// The lexeme of a word; `None` for one that is left out.
    #[must_use]
    pub fn lexeme(self, kind: Kind, word: &str) -> Option<String> {
        let lower = word.to_lowercase();
        if self == Config::Simple || !kind.is_word() {
            return Some(lower);
        }
        if ENGLISH.binary_search(&lower.as_str()).is_ok() {
            return None;
        }
        Some(STEMMER.stem(&lower).into_owned())
    }

    /// The lexemes of a text with their positions; words that are left out count.
    pub fn each(self, text: &str, mut found: impl FnMut(&str, Option<String>, u32, std::ops::Range<usize>)) {
        let mut position = 0;
        parse(text, &mut |kind, word, place| {
            if word.len() > MAX_LEXEME {
                return;
            }
            position += 1;
            found(word, self.lexeme(kind, word), position, place);
        });
    }

    /// `to_tsvector`.
    #[must_use]
    pub fn vector(self, text: &str) -> Vector {
        let mut out = Vector::default();
        self.each(text, |_, lexeme, position, _| {
            if let Some(lexeme) = lexeme {
                let at = u16::try_from(position).unwrap_or(MAX_POSITION).min(MAX_POSITION);
                out.add(&lexeme, Some(Position { at, weight: 0 }));
            }
        });
        out
    }

    /// The lexemes of a text joined by what `join` says of two with their distance; [`Node::Stop`] if none counts.
    pub fn joined(self, text: &str, weights: u8, prefix: bool, join: impl Fn(Node, Node, u16) -> Node) -> Node {
        let mut out: Option<(Node, u32)> = None;
        self.each(text, |_, lexeme, position, _| {
            let Some(text) = lexeme else { return };
            let node = Node::Lexeme { text, weights, prefix };
            out = Some(match out.take() {
                None => (node, position),
                Some((before, last)) => {
                    (join(before, node, u16::try_from(position - last).unwrap_or(u16::MAX).min(super::query::MAX_DISTANCE)), position)
                }
            });
        });
        out.map_or(Node::Stop, |(node, _)| node)
    }
}
