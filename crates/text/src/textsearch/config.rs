//! Configurations: their names, which words of a text count, and in what form.

use super::parser::{Kind, parse};
use super::query::Node;
use super::stop_words::ENGLISH;
use super::vector::{MAX_LEXEME, MAX_POSITION, Position, Vector};
use crate::names::parse_name;
use std::sync::LazyLock;
use stoa_error::{PgError, PgResult, SqlState};

static STEMMER: LazyLock<frostem::Stemmer> = LazyLock::new(|| frostem::Stemmer::new(frostem::Algorithm::English));

/// A text search configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Config {
    /// All words, in lower case.
    Simple,
    /// Stems of English words, without stop words.
    English,
}

impl Config {
    /// Its row in `pg_ts_config`.
    #[must_use]
    pub fn oid(self) -> u32 {
        match self {
            Config::Simple => 3748,
            Config::English => 13_164,
        }
    }

    #[must_use]
    pub fn by_oid(oid: u32) -> Option<Self> {
        [Config::Simple, Config::English].into_iter().find(|config| config.oid() == oid)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Config::Simple => "simple",
            Config::English => "english",
        }
    }

    /// The configuration that a regconfig is.
    ///
    /// # Errors
    /// 42704 for numbers that are none, where PostgreSQL has XX000.
    pub fn known(oid: u32) -> PgResult<Self> {
        let missing = || PgError::new(SqlState::UNDEFINED_OBJECT, format!("text search configuration with OID {oid} does not exist"));
        Self::by_oid(oid).ok_or_else(missing)
    }

    /// # Errors
    /// 42704 for names that are no configuration, 0A000 for those of PostgreSQL that are not done.
    pub fn named(name: &str) -> PgResult<Self> {
        let parts = parse_name(name)?;
        let known = match parts.as_slice() {
            [name] => name,
            [schema, name] if schema == "pg_catalog" => name,
            [_, _] => "",
            _ => return Err(PgError::unsupported(format!("cross-database references are not implemented: {}", parts.join(".")))),
        };
        match known {
            "simple" => Ok(Config::Simple),
            "english" => Ok(Config::English),
            "arabic" | "armenian" | "basque" | "catalan" | "danish" | "dutch" | "finnish" | "french" | "german" | "greek" | "hindi"
            | "hungarian" | "indonesian" | "irish" | "italian" | "lithuanian" | "nepali" | "norwegian" | "portuguese" | "romanian"
            | "russian" | "serbian" | "spanish" | "swedish" | "tamil" | "turkish" | "yiddish" => {
                Err(PgError::unsupported(format!("text search configuration \"{name}\" is not supported"))
                    .hint("There are simple and english; full text indexes have stemmers for more languages."))
            }
            _ => Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("text search configuration \"{}\" does not exist", parts.join(".")))),
        }
    }

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
        self.vector_of([text])
    }

    /// The lexemes of several texts, one behind the other. Behind a text that has any, one place stays empty: no phrase goes from one into
    /// the next.
    #[must_use]
    pub fn vector_of<'t>(self, texts: impl IntoIterator<Item = &'t str>) -> Vector {
        let mut out = Vector::default();
        let mut before = 0_u32;
        for text in texts {
            let (mut last, mut any) = (0, false);
            self.each(text, |_, lexeme, position, _| {
                last = position;
                if let Some(lexeme) = lexeme {
                    any = true;
                    let at = u16::try_from(before.saturating_add(position)).unwrap_or(MAX_POSITION).min(MAX_POSITION);
                    out.add(&lexeme, Some(Position { at, weight: 0 }));
                }
            });
            before = before.saturating_add(last + u32::from(any));
        }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::matching::matches;
    use super::super::query::Query;
    use super::*;

    #[test]
    fn configurations_are_found_by_their_names() {
        assert_eq!(Config::named(" PG_catalog . \"english\" ").unwrap(), Config::English);
        assert_eq!(Config::named("English").unwrap(), Config::English);
        for (wrong, code) in [
            ("\"English\"", SqlState::UNDEFINED_OBJECT),
            ("public.english", SqlState::UNDEFINED_OBJECT),
            ("pg_catalog.german", SqlState::FEATURE_NOT_SUPPORTED),
            ("a.b.c", SqlState::FEATURE_NOT_SUPPORTED),
        ] {
            assert_eq!(Config::named(wrong).unwrap_err().code(), code, "{wrong}");
        }
    }

    #[test]
    fn words_of_documents_become_lexemes() {
        assert!(ENGLISH.is_sorted(), "stop words are looked for in their order");
        let vector = Config::English.vector("The cats of A-1");
        assert_eq!(vector.to_string(), "'-1':5 'cat':2");
        assert_eq!(Config::Simple.vector("The cats").to_string(), "'cats':2 'the':1");
        assert!(matches(&vector, &Query::parse("'cat' & !'dog'").unwrap()));
        assert!(!matches(&vector, &Query::parse("'cat' & 'dog'").unwrap()));
    }
}
