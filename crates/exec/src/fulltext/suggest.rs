//! What somebody may have meant: words of a table in place of those that none of its rows has.
//!
//! Invariant: each word that is suggested finds a row at the statement's snapshot, its transaction's own rows among them.

use super::find::SearchView;
use super::read::{Requested, RowOrder, SearchRequest, SearchRows};
use super::{TextIndex, matching::text_error, not_ready};
use crate::scan_table::ScanTable;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;
use stoa_fulltext::suggest::Slip;
use stoa_fulltext::{Analyzer, FieldText, SearchField, parse_words};
use stoa_pg::PgResult;
use stoa_sql::fulltext::matching::renumbered;
use stoa_table::catalog::ColumnId;
use stoa_table::feed::Feed;

/// Words that are tried for one.
const TRIED: usize = 8;
/// Rows read together.
const ROWS: usize = 1024;

/// Where words come from: a field of an index, and the table behind it.
pub struct Words<'a> {
    pub table: &'a ScanTable,
    pub feed: &'a Arc<Feed>,
    pub index: &'a Arc<TextIndex>,
    pub field: usize,
}

impl Words<'_> {
    /// The text with other words in place of those that no row has. `None` if all are found, or nothing is like them.
    ///
    /// # Errors
    /// 55000 while the index is being built; what the store reports.
    pub async fn suggest(&self, text: &str) -> PgResult<Option<String>> {
        let view = SearchView::of(self.feed, self.table, self.index)?;
        let Some(files) = view.files() else { return Err(not_ready(&self.index.storage.0.to_string(), &self.index.condition())) };
        let analyzers = self.index.definition.analyzers().map_err(text_error)?;
        let Some(analyzer) = analyzers.get(self.field) else { return Ok(None) };
        let mut changed: Option<HashMap<String, u64>> = None;
        let mut out = String::new();
        let mut at = 0;
        for slip in analyzer.slips(text) {
            if self.has(analyzer, &slip.word).await? {
                continue;
            }
            let mut found = files.like(self.field, &slip).map_err(text_error)?;
            let changed = match &changed {
                Some(changed) => changed,
                None => changed.insert(self.changed(&view, analyzer).await?),
            };
            for (word, count) in changed.iter().filter(|(word, _)| slip.distance(word).is_some()) {
                *found.entry(word.clone()).or_default() += count;
            }
            if let Some(better) = self.best(analyzer, &slip, &found).await? {
                out.push_str(text.get(at..slip.place.start).unwrap_or_default());
                out.push_str(better);
                at = slip.place.end;
            }
        }
        if at == 0 {
            return Ok(None);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Ok(Some(out))
    }

    async fn best<'f>(&self, analyzer: &Arc<Analyzer>, slip: &Slip, found: &'f HashMap<String, u64>) -> PgResult<Option<&'f str>> {
        let mut all: Vec<(&str, u64)> = found.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        all.sort_by(|a, b| slip.order(*a, *b));
        for (word, _) in all.into_iter().take(TRIED) {
            if self.has(analyzer, word).await? {
                return Ok(Some(word));
            }
        }
        Ok(None)
    }

    /// Whether a row has a word.
    async fn has(&self, analyzer: &Arc<Analyzer>, word: &str) -> PgResult<bool> {
        let fields = [SearchField { name: String::new(), analyzer: Arc::clone(analyzer) }];
        let query = parse_words(word, &fields, false).map_err(text_error)?;
        let Some(ending) = self.index.texts.ending(&self.table.table) else { return Ok(false) };
        let query = renumbered(&query, &|_| self.field).over_ending(&|field| ending.get(field).copied().unwrap_or(false));
        let request =
            SearchRequest { feed: Arc::clone(self.feed), what: Requested::Index { index: Arc::clone(self.index), query: Arc::new(query) } };
        let key: Arc<[ColumnId]> = self.table.table.key.iter().take(1).map(|k| k.column).collect();
        let mut rows = SearchRows::new(self.table.clone(), request, key, RowOrder::Score, 1)?;
        let pass = |(columns, rows): super::read::SomeRows| {
            let fields: Vec<Field> = columns.iter().map(|c| Field::new("key", c.data_type().clone(), true)).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
        };
        let (found, _) = rows.best(1, 1.0, pass).await?;
        Ok(!found.is_empty())
    }

    /// The words of rows that the files do not have yet.
    async fn changed(&self, view: &SearchView, analyzer: &Analyzer) -> PgResult<HashMap<String, u64>> {
        let mut out: HashMap<String, u64> = HashMap::new();
        let mut keys = view.changed_keys();
        keys.sort_unstable();
        keys.dedup();
        let mut decoder = self.index.texts.lookup()?;
        for some in keys.chunks(ROWS) {
            self.table.view.get(self.index.table, decoder.families(), some, &mut decoder).await?;
            let texts = self.index.texts.take(&mut decoder)?;
            let mut row: Vec<FieldText<'_>> = Vec::new();
            for n in 0..texts.len() {
                if texts.row(n, &mut row)
                    && let Some(FieldText::Text(text)) = row.get(self.field)
                {
                    analyzer.plain_words(text, |word| *out.entry(word.to_owned()).or_default() += 1);
                }
            }
        }
        Ok(out)
    }
}
