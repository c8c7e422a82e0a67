//! What `WITH (…)` says about a full text index.

use super::matching::text_error;
use stoa_fulltext::TokenizerOptions;
use stoa_fulltext::analyzer::VERSION;
use stoa_fulltext::index::MAX_SHARDS;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexState, TableDescriptor};

/// The option under which the version of the analysis is stored.
pub const VERSION_OPTION: &str = "tokenizer_version";

/// The option that says in how many files an index is written side by side.
pub const SHARDS: &str = "shards";

/// What indexes by gin have for PostgreSQL: kept, shown, and without effect.
const OF_GIN: [&str; 2] = ["fastupdate", "gin_pending_list_limit"];

/// The options of one index.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    pub tokenizer: TokenizerOptions,
    pub shards: usize,
}

impl Settings {
    /// Reads stored or written options.
    ///
    /// # Errors
    /// 22023 for names and values without a meaning.
    pub fn read(options: &[(String, String)]) -> PgResult<Self> {
        let mut out = Self { tokenizer: TokenizerOptions::default(), shards: 1 };
        // The kind comes first: others belong to it.
        let (kinds, others): (Vec<_>, Vec<_>) = options.iter().partition(|(name, _)| name == "tokenizer");
        for (name, value) in kinds.into_iter().chain(others) {
            match name.as_str() {
                SHARDS => {
                    let shards = value.trim().parse::<usize>().ok().filter(|n| (1..=MAX_SHARDS).contains(n));
                    out.shards = shards.ok_or_else(|| {
                        PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("shards must be between 1 and {MAX_SHARDS}"))
                    })?;
                }
                VERSION_OPTION => {}
                name if OF_GIN.contains(&name) => {}
                name => {
                    if !out.tokenizer.set(name, value).map_err(text_error)? {
                        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized parameter \"{name}\"")));
                    }
                }
            }
        }
        out.tokenizer.check().map_err(text_error)?;
        Ok(out)
    }

    /// As they are stored: what was written, with the version.
    #[must_use]
    pub fn stored(written: &[(String, String)]) -> Vec<(String, String)> {
        let mut out = written.to_vec();
        out.retain(|(name, _)| name != VERSION_OPTION);
        out.push((VERSION_OPTION.into(), VERSION.to_string()));
        out
    }
}

/// What is said about words, of the options of an index.
fn of_words(options: &[(String, String)]) -> Vec<(String, String)> {
    options.iter().filter(|(name, _)| name != SHARDS && name != VERSION_OPTION).cloned().collect()
}

/// Keeps with the columns of a table how its full text indexes cut them into words: a MATCH finds the same when an index is gone. Of
/// several indexes the first counts.
pub fn note_words(table: &mut TableDescriptor) {
    for index in table.indexes.iter().rev().filter(|i| i.is_fulltext() && i.state == IndexState::Readable) {
        for part in index.parts.iter().filter(|p| p.is_text()) {
            let IndexKey::Column(id) = &part.key else { continue };
            if let Some(column) = table.columns.iter_mut().find(|c| c.id == *id) {
                column.words = of_words(&index.options);
            }
        }
    }
}

/// The full text index that says how a column is cut into words.
pub fn words_by(table: &TableDescriptor, column: ColumnId) -> Option<&IndexDescriptor> {
    let has = |i: &&IndexDescriptor| i.parts.iter().any(|p| p.is_text() && matches!(&p.key, IndexKey::Column(c) if *c == column));
    table.indexes.iter().filter(|i| i.is_fulltext()).find(has)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn read(options: &[(&str, &str)]) -> PgResult<Settings> {
        Settings::read(&options.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_in_any_order() {
        let one = read(&[("max_gram", "4"), ("tokenizer", "ngram"), ("shards", "3")]).unwrap();
        let other = read(&[("tokenizer", "ngram(2,4)"), ("shards", "3"), ("tokenizer_version", "1")]).unwrap();
        assert_eq!(one, other);
        for bad in [&[("shards", "0")][..], &[("shards", "x")], &[("tokenizer", "x")], &[("fillfactor", "1")], &[("lowercase", "perhaps")]]
        {
            assert_eq!(read(bad).unwrap_err().code().as_str(), "22023");
        }
    }
}
