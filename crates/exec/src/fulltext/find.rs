//! The rows that a query finds, at a statement's snapshot and with its transaction's own changes.

use super::{TextIndex, TextIndexes};
use crate::scan_table::ScanTable;
use hashbrown::HashSet;
use std::sync::Arc;
use stoa_fulltext::{Evaluator, FieldText, Generation, Query, Statistics, Want};
use stoa_pg::{PgResult, SqlState};
use stoa_sql::fulltext::matching::text_error;
use stoa_table::catalog::TableDescriptor;
use stoa_table::feed::{Entry, Feed};
use stoa_table::row::KeyList;
use stoa_table::txn::RangeRead;
use stoa_table::{KeyRange, Timestamp};

/// Rows looked at together.
const ROWS: usize = 1024;

/// What is wanted of the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    pub scores: bool,
    /// The best only, in order: at least so many if there are.
    pub top: Option<usize>,
    /// Rows that are as good as each other come in the order of their keys, whichever of them the best are.
    pub ties: bool,
    /// Only how many there are.
    pub count: bool,
}

/// The rows found.
#[derive(Debug, Default)]
pub struct Found {
    pub keys: KeyList,
    /// By key, if scores were wanted.
    pub scores: Vec<f32>,
    pub count: u64,
    /// Whether there may be more than these: only the best were asked for.
    pub more: bool,
    /// Found by the files; looked at beside them.
    pub hits: usize,
    pub changed: usize,
    pub segments: usize,
    /// Why the files were of no use, if they were.
    pub fallback: Option<&'static str>,
}

impl Found {
    /// Forgets the rows whose keys are not wanted.
    pub fn retain(&mut self, wanted: impl Fn(&[u8]) -> bool) {
        let mut keys = KeyList::new();
        let mut scores = Vec::with_capacity(self.scores.len());
        for (n, key) in self.keys.iter().enumerate().filter(|(_, key)| wanted(key)) {
            keys.push(key);
            scores.extend(self.scores.get(n).copied());
        }
        self.count = keys.len() as u64;
        (self.keys, self.scores) = (keys, scores);
    }

    /// Keeps no more than the first `rows`.
    pub fn truncate(&mut self, rows: usize) {
        self.keys.truncate(rows);
        self.scores.truncate(rows);
        self.count = self.count.min(rows as u64);
    }
}

/// What an index says at a statement's snapshot: its files, and which rows changed since they were written. It stays the same
/// however often it is searched.
#[derive(Debug)]
pub struct SearchView {
    /// The files; why they are of no use, if they are not.
    files: Result<Arc<Generation>, &'static str>,
    /// Changes of others since, and the transaction's own.
    entries: Vec<Arc<Entry>>,
    own: KeyList,
}

impl SearchView {
    /// # Errors
    /// The transaction's changes cannot be read.
    pub fn of(feed: &Feed, table: &ScanTable, index: &TextIndex) -> PgResult<Self> {
        let none = |why| Ok(Self { files: Err(why), entries: Vec::new(), own: KeyList::new() });
        let Some(files) = index.files() else { return none("its files are not ready") };
        let generation = files.generation();
        let entries = feed.changed(index.table, Timestamp(generation.timestamp), table.view.timestamp());
        let Some(entries) = entries else { return none("its files do not reach back to the snapshot") };
        let own = if table.view.overlay.touches(index.table) { table.view.overlay.keys_of(index.table)? } else { KeyList::new() };
        Ok(Self { files: Ok(generation), entries, own })
    }

    /// The files, if they are of use.
    #[must_use]
    pub fn files(&self) -> Option<&Generation> {
        self.files.as_deref().ok()
    }

    /// Keys of the rows that are looked at beside the files, some twice.
    #[must_use]
    pub fn changed_keys(&self) -> Vec<&[u8]> {
        self.entries.iter().flat_map(|e| e.keys.iter()).chain(self.own.iter()).collect()
    }

    /// Rows that are looked at beside the files, at most.
    #[must_use]
    pub fn changed(&self) -> usize {
        self.entries.iter().map(|e| e.keys.len()).sum::<usize>() + self.own.len()
    }
}

/// Finds the rows of a table that fit a query over the fields of an index.
///
/// # Errors
/// What the store reports.
pub async fn find(view: &SearchView, table: &ScanTable, index: &TextIndex, query: &Query, wanted: Wanted) -> PgResult<Found> {
    let generation = match &view.files {
        Ok(generation) => generation,
        Err(why) => return by_table(table, index, query, wanted, why).await,
    };
    let mut changed: HashSet<&[u8]> = HashSet::with_capacity(view.changed());
    changed.extend(view.entries.iter().flat_map(|e| e.keys.iter()));
    changed.extend(view.own.iter());
    match with_files(table, index, generation, query, wanted, &changed).await {
        Err(error) if matches!(error.code(), SqlState::INDEX_CORRUPTED | SqlState::IO_ERROR) => {
            index.give_up(error.message());
            by_table(table, index, query, wanted, "its files are damaged").await
        }
        done => done,
    }
}

async fn with_files(
    table: &ScanTable,
    index: &TextIndex,
    generation: &Generation,
    query: &Query,
    wanted: Wanted,
    changed: &HashSet<&[u8]>,
) -> PgResult<Found> {
    let exact = if wanted.scores { query.has_exact_scores() } else { query.is_exact() };
    let mut found = Found { changed: changed.len(), segments: generation.segments(), ..Found::default() };
    if wanted.count && exact && changed.is_empty() {
        found.count = generation.search(query, Want::Count).map_err(text_error)?.count;
        found.hits = usize::try_from(found.count).unwrap_or(usize::MAX);
        return Ok(found);
    }
    let want = match wanted.top {
        // Any of the best may have changed since.
        Some(top) if exact => Want::Top { limit: top.saturating_add(changed.len()), ties: wanted.ties },
        _ => Want::All { scores: wanted.scores && exact },
    };
    let hits = generation.search(query, want).map_err(text_error)?;
    found.hits = hits.len();
    found.more = matches!(want, Want::Top { limit, .. } if hits.len() >= limit);
    let mut looked_at: Vec<&[u8]> = changed.iter().copied().collect();
    let mut scored: Vec<(f32, usize)> = Vec::new();
    if exact {
        found.keys = KeyList::with_capacity(hits.len(), 16);
        for (n, key) in hits.keys().enumerate() {
            if changed.is_empty() || !changed.contains(key) {
                found.keys.push(key);
                if wanted.scores {
                    scored.push((hits.scores.get(n).copied().unwrap_or(0.0), found.keys.len() - 1));
                }
            }
        }
    } else {
        looked_at.extend(hits.keys().filter(|key| !changed.contains(key)));
    }
    if !looked_at.is_empty() {
        looked_at.sort_unstable();
        let statistics = if wanted.scores { Some(generation.statistics(query).map_err(text_error)?) } else { None };
        let mut evaluator = Evaluator::new(query, &index.definition.analyzers().map_err(text_error)?, statistics.as_ref());
        let mut decoder = index.texts.lookup()?;
        for some in looked_at.chunks(ROWS) {
            table.view.get(index.table, decoder.families(), some, &mut decoder).await?;
            let texts = index.texts.take(&mut decoder)?;
            let mut row: Vec<FieldText<'_>> = Vec::new();
            for n in 0..texts.len() {
                if texts.row(n, &mut row)
                    && let Some(score) = evaluator.evaluate(&row)
                {
                    found.keys.push(texts.keys.get(n));
                    if wanted.scores {
                        scored.push((score, found.keys.len() - 1));
                    }
                }
            }
        }
    }
    finish(&mut found, scored, wanted);
    Ok(found)
}

/// Puts the best first if that is wanted.
fn finish(found: &mut Found, mut scored: Vec<(f32, usize)>, wanted: Wanted) {
    found.count = found.keys.len() as u64;
    if !wanted.scores {
        return;
    }
    if wanted.top.is_some() {
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| found.keys.get(a.1).cmp(found.keys.get(b.1))));
        let mut keys = KeyList::with_capacity(scored.len(), 16);
        scored.iter().for_each(|(_, n)| keys.push(found.keys.get(*n)));
        found.keys = keys;
    }
    found.scores = scored.into_iter().map(|(score, _)| score).collect();
}

/// Looks at every row.
async fn by_table(table: &ScanTable, index: &TextIndex, query: &Query, wanted: Wanted, why: &'static str) -> PgResult<Found> {
    let analyzers = index.definition.analyzers().map_err(text_error)?;
    let mut found = Found { fallback: Some(why), ..Found::default() };
    let mut evaluator = Evaluator::new(query, &analyzers, None);
    let mut statistics = Statistics::default();
    let mut decoder = index.texts.decoder(ROWS)?;
    let read = RangeRead {
        table: index.table,
        families: decoder.families(),
        range: KeyRange::all(),
        reverse: false,
        limit: None,
        fill_cache: false,
    };
    let mut scan = table.view.scan(read).await?;
    loop {
        let more = scan.next_block(ROWS, &mut decoder).await?;
        let texts = index.texts.take(&mut decoder)?;
        let mut row: Vec<FieldText<'_>> = Vec::new();
        for n in 0..texts.len() {
            if texts.row(n, &mut row) {
                if evaluator.evaluate(&row).is_some() {
                    found.keys.push(texts.keys.get(n));
                }
                if wanted.scores {
                    evaluator.count_into(&mut statistics);
                }
            }
        }
        if !more {
            break;
        }
    }
    drop(scan);
    found.changed = found.keys.len();
    let mut scored = Vec::new();
    if wanted.scores {
        let mut evaluator = Evaluator::new(query, &analyzers, Some(&statistics));
        let mut decoder = index.texts.lookup()?;
        let keys: Vec<&[u8]> = found.keys.iter().collect();
        for some in keys.chunks(ROWS) {
            table.view.get(index.table, decoder.families(), some, &mut decoder).await?;
            let texts = index.texts.take(&mut decoder)?;
            let mut row: Vec<FieldText<'_>> = Vec::new();
            for n in 0..texts.len() {
                let score = if texts.row(n, &mut row) { evaluator.evaluate(&row) } else { None };
                scored.push((score.unwrap_or(0.0), scored.len()));
            }
        }
    }
    finish(&mut found, scored, wanted);
    Ok(found)
}

/// See [`TextIndexes::check`]: every row of the table must be found by its own words, and nothing else may be in the files.
pub(super) async fn check(indexes: &TextIndexes, table: &TableDescriptor, index: &TextIndex) -> PgResult<(u64, u64)> {
    let _turn = index.turn.lock().await;
    let Some(files) = index.files() else {
        return Err(super::not_ready(&index.storage.0.to_string(), &index.condition()));
    };
    let generation = files.generation();
    let view = indexes.tables().newest();
    let since = Timestamp(generation.timestamp);
    let entries = indexes.feed().changed(index.table, since, view.timestamp());
    let Some(entries) = entries else { return Err(super::not_ready(&index.storage.0.to_string(), &index.condition())) };
    let changed: HashSet<&[u8]> = entries.iter().flat_map(|e| e.keys.iter()).collect();
    let check_files = Arc::clone(&files);
    let verified = tokio::task::spawn_blocking(move || check_files.verify()).await;
    verified.map_err(|e| stoa_pg::PgError::internal(e.to_string()))?.map_err(text_error)?;
    let hits = generation.search(&Query::All, Want::All { scores: false }).map_err(text_error)?;
    let (mut rows, mut differ) = (0u64, 0u64);
    let conditions_end = index.texts.ending(table).is_none();
    let mut there: HashSet<&[u8]> = HashSet::with_capacity(hits.len());
    for key in hits.keys().filter(|key| !changed.contains(key)) {
        // A second document of a row would be found as well.
        differ += u64::from(!there.insert(key));
    }
    let mut decoder = index.texts.decoder(ROWS)?;
    let read = RangeRead {
        table: index.table,
        families: decoder.families(),
        range: KeyRange::all(),
        reverse: false,
        limit: None,
        fill_cache: false,
    };
    let mut scan = view.scan(read).await?;
    // Words of all rows, by word: what the files say of how many documents have it.
    let mut expected = Words::default();
    loop {
        let more = scan.next_block(ROWS, &mut decoder).await?;
        let texts = index.texts.take(&mut decoder)?;
        let mut row: Vec<FieldText<'_>> = Vec::new();
        for n in 0..texts.len() {
            let key = texts.keys.get(n);
            let included = texts.row(n, &mut row);
            if changed.contains(key) {
                continue;
            }
            rows += 1;
            match (there.remove(key), included) {
                // What a condition was about has ended by its age.
                (had, has) if had != has => differ += u64::from(!conditions_end),
                (_, included) if included => expected.count(&files, &row),
                _ => {}
            }
        }
        if !more {
            break;
        }
    }
    // Files keep what they have of rows that end by their age; readers look for the rows.
    differ += if table.rows_end() { 0 } else { there.len() as u64 };
    // What is computed of a value that has ended has words that were written by nobody.
    if changed.is_empty() && differ == 0 && !conditions_end {
        differ += expected.differences(&generation)?;
    }
    Ok((differ, rows))
}

/// A sample of words with the number of documents that have them.
#[derive(Default)]
struct Words {
    /// By field.
    counts: Vec<hashbrown::HashMap<String, Counted>>,
    /// Words in `counts`; documents looked at.
    sampled: usize,
    documents: u64,
    buffer: stoa_fulltext::Words,
}

/// The documents that have a word, and the last of them.
#[derive(Default)]
struct Counted {
    documents: u64,
    last: u64,
}

/// Words that are compared.
const SAMPLE: usize = 20_000;

impl Words {
    fn count(&mut self, files: &stoa_fulltext::FullTextIndex, row: &[FieldText<'_>]) {
        self.documents += 1;
        self.counts.resize_with(row.len(), Default::default);
        for ((text, analyzer), counts) in row.iter().zip(files.analyzers()).zip(&mut self.counts) {
            let words = match text {
                FieldText::Nothing => continue,
                FieldText::Words(words) => *words,
                FieldText::Text(text) => {
                    analyzer.analyze(text, &mut self.buffer);
                    &self.buffer
                }
            };
            for (word, _, _) in words.iter() {
                // Seldom a word that is new: a text of megabytes repeats most.
                let counted = match counts.get_mut(word) {
                    Some(counted) => counted,
                    None if self.sampled < SAMPLE && word.len() % 3 == 1 => {
                        self.sampled += 1;
                        counts.entry(word.to_owned()).or_default()
                    }
                    None => continue,
                };
                if counted.last != self.documents {
                    counted.last = self.documents;
                    counted.documents += 1;
                }
            }
        }
    }

    /// Words that fewer documents have in the files than in the table. Deleted documents may still be counted there: more is no error.
    fn differences(&self, generation: &Generation) -> PgResult<u64> {
        let mut out = 0;
        for (field, counts) in self.counts.iter().enumerate() {
            for (word, counted) in counts {
                let query = Query::Term { field, word: word.clone() };
                if generation.estimate(&query).map_err(text_error)? < counted.documents {
                    out += 1;
                }
            }
        }
        Ok(out)
    }
}
