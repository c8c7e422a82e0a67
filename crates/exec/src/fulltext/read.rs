//! Reads the rows that a search finds: all of them, or the best until there are enough.

use super::TextIndex;
use super::find::{Found, SearchView, Wanted, find};
use super::scan::SCORE;
use crate::scan_table::ScanTable;
use arrow::array::{ArrayRef, Float32Array, RecordBatch};
use futures::future::BoxFuture;
use hashbrown::HashSet;
use std::sync::Arc;
use stoa_fulltext::Query;
use stoa_pg::{PgError, PgResult};
use stoa_table::KeyRange;
use stoa_table::catalog::ColumnId;
use stoa_table::feed::Feed;
use stoa_table::row::{ColumnSource, KeyList, ScanDecoder};

/// Rows read together, at most.
const ROWS: usize = 1024;
/// Documents that have one of the words, above which a search takes its time; and rows that are looked at beside the files.
const MANY_DOCUMENTS: u64 = 20_000;
const MANY_CHANGED: usize = 64;

/// In which order rows are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowOrder {
    Any,
    /// By score, the best first.
    Score,
    /// The same, and rows that are as good as each other by their keys.
    ScoreAndKey,
}

/// A search in the rows of a table.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub feed: Arc<Feed>,
    pub what: Requested,
}

/// What an index is asked, or what several are together: a row's score is the sum of what they give.
#[derive(Clone, Debug)]
pub enum Requested {
    Index { index: Arc<TextIndex>, query: Arc<Query> },
    All(Vec<Requested>),
    Any(Vec<Requested>),
}

/// The same, at a statement's snapshot.
enum Asked {
    Index { index: Arc<TextIndex>, query: Arc<Query>, view: SearchView },
    All(Vec<Asked>),
    Any(Vec<Asked>),
}

impl Asked {
    fn new(requested: &Requested, feed: &Feed, table: &ScanTable) -> PgResult<Self> {
        let all = |of: &[Requested]| of.iter().map(|part| Self::new(part, feed, table)).collect::<PgResult<Vec<_>>>();
        Ok(match requested {
            Requested::Index { index, query } => {
                let view = SearchView::of(feed, table, index)?;
                Asked::Index { index: Arc::clone(index), query: Arc::clone(query), view }
            }
            Requested::All(of) => Asked::All(all(of)?),
            Requested::Any(of) => Asked::Any(all(of)?),
        })
    }

    fn leaves(&self, each: &mut dyn FnMut(&Query, &SearchView)) {
        match self {
            Asked::Index { query, view, .. } => each(query, view),
            Asked::All(of) | Asked::Any(of) => of.iter().for_each(|part| part.leaves(each)),
        }
    }

    /// Finds the rows. Of several indexes all rows are found, whether or not the best are enough, and come in the order of their keys
    /// unless the best are to come first.
    fn find<'a>(&'a self, table: &'a ScanTable, wanted: Wanted) -> BoxFuture<'a, PgResult<Found>> {
        Box::pin(async move {
            let (of, all) = match self {
                Asked::Index { index, query, view } => return find(view, table, index, query, wanted).await,
                Asked::All(of) => (of, true),
                Asked::Any(of) => (of, false),
            };
            let each = Wanted { scores: wanted.scores, top: None, ties: false, count: false };
            let mut parts = Vec::with_capacity(of.len());
            for part in of {
                parts.push(part.find(table, each).await?);
            }
            // What was found, by part and place, in the order of the keys.
            let key = |(part, at): &(usize, u32)| parts.get(*part).map_or(&[] as &[u8], |found| found.keys.get(*at as usize));
            let places = |(part, found): (usize, &Found)| (0..found.keys.len() as u32).map(move |at| (part, at));
            let mut places: Vec<(usize, u32)> = parts.iter().enumerate().flat_map(places).collect();
            places.sort_unstable_by(|a, b| key(a).cmp(key(b)).then(a.cmp(b)));
            let score =
                |(part, at): &(usize, u32)| parts.get(*part).and_then(|found| found.scores.get(*at as usize)).copied().unwrap_or(0.0);
            let least = if all { parts.len() } else { 1 };
            let mut rows: Vec<((usize, u32), f32)> = Vec::new();
            for same in places.chunk_by(|a, b| key(a) == key(b)) {
                let mut of_parts = same.to_vec();
                of_parts.dedup_by_key(|(part, _)| *part);
                if let (Some(first), true) = (same.first(), of_parts.len() >= least) {
                    rows.push((*first, of_parts.iter().map(score).sum()));
                }
            }
            let mut found = Found { count: rows.len() as u64, ..Found::default() };
            if let Some(top) = wanted.top {
                rows.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| key(&a.0).cmp(key(&b.0))));
                found.more = rows.len() > top;
                rows.truncate(top);
            }
            for (place, score) in rows {
                found.keys.push(key(&place));
                found.scores.extend(wanted.scores.then_some(score));
            }
            for part in &parts {
                found.hits += part.hits;
                found.changed += part.changed;
                found.segments += part.segments;
                found.fallback = found.fallback.or(part.fallback);
            }
            Ok(found)
        })
    }
}

/// See the module.
pub struct SearchRows {
    table: ScanTable,
    asked: Asked,
    columns: Arc<[ColumnId]>,
    decoder: ScanDecoder,
    with_scores: bool,
    order: RowOrder,
    reads: Reads,
    found: Found,
    /// Keys dealt with.
    at: usize,
}

/// What is read for the rows found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reads {
    /// Nothing is stored in what is asked for: rows are as many as keys.
    Nothing,
    /// Their keys have all columns.
    Keys,
    Rows,
}

/// Columns, and how many rows they have.
pub type SomeRows = (Vec<ArrayRef>, usize);

impl SearchRows {
    /// Of a statement's snapshot; nothing is searched yet. `columns` may have [`SCORE`] among them.
    ///
    /// # Errors
    /// A column is not stored; the transaction's changes cannot be read.
    pub fn new(table: ScanTable, request: SearchRequest, columns: Arc<[ColumnId]>, order: RowOrder, expected: usize) -> PgResult<Self> {
        table.record(table.codec.storage, &[KeyRange::all()]);
        let source = ColumnSource::Table(Arc::clone(&table.codec));
        let stored: Vec<ColumnId> = columns.iter().copied().filter(|id| *id != SCORE).collect();
        let decoder = ScanDecoder::new(&source, &stored, expected.clamp(1, ROWS))?.collect_row_keys(&source)?;
        // Whether rows that end by their age are there shows only when they are read.
        let reads = match (table.table.rows_end(), stored.is_empty(), decoder.is_of_keys()) {
            (false, true, _) => Reads::Nothing,
            (false, false, true) => Reads::Keys,
            _ => Reads::Rows,
        };
        Ok(Self {
            asked: Asked::new(&request.what, &request.feed, &table)?,
            decoder,
            with_scores: columns.contains(&SCORE),
            order,
            reads,
            table,
            columns,
            found: Found::default(),
            at: 0,
        })
    }

    /// Searches: for the best only, if so many are enough. With `count` only the number of rows is wanted, if none of them is read.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn search(&mut self, top: Option<usize>, count: bool) -> PgResult<()> {
        let ordered = self.order != RowOrder::Any;
        let wanted = Wanted {
            scores: self.with_scores || ordered,
            // All of them in order, without a limit.
            ties: self.order == RowOrder::ScoreAndKey,
            top: if ordered { Some(top.unwrap_or(usize::MAX >> 1)) } else { None },
            count: count && self.reads == Reads::Nothing && !self.with_scores,
        };
        self.found = self.asked.find(&self.table, wanted).await?;
        // Rows looked at come behind the best of the files where there may be better ones in those.
        if let Some(top) = top.filter(|_| self.found.more) {
            self.found.truncate(top);
        }
        self.at = 0;
        Ok(())
    }

    /// Whether the files are of use: without them every row is looked at.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let mut ready = true;
        self.asked.leaves(&mut |_, view| ready &= view.files().is_some());
        ready
    }

    /// Whether rows that are found may not be there any more.
    #[must_use]
    pub fn may_be_gone(&self) -> bool {
        self.table.table.rows_end()
    }

    /// What was found.
    #[must_use]
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Forgets rows by their keys.
    pub fn retain(&mut self, wanted: impl Fn(&[u8]) -> bool) {
        self.found.retain(wanted);
    }

    /// Takes away what was found.
    pub fn take(&mut self) -> Found {
        self.at = 0;
        std::mem::take(&mut self.found)
    }

    /// Takes these rows for those that were found, in their order.
    pub fn put(&mut self, keys: KeyList, scores: Vec<f32>) {
        (self.found.count, self.found.keys, self.found.scores) = (keys.len() as u64, keys, scores);
        self.at = 0;
    }

    /// Whether a search holds up its thread: many documents have its words, words are to be found first, or many rows changed since
    /// the files were written.
    #[must_use]
    pub fn is_long(&self) -> bool {
        let mut long = false;
        self.asked.leaves(&mut |query, view| {
            let mut words = view.changed() <= MANY_CHANGED;
            query.leaves(&mut |leaf| words &= matches!(leaf, Query::Term { .. } | Query::Phrase { .. } | Query::Nothing));
            let documents = || view.files()?.estimate(query).ok();
            long |= !words || documents().is_none_or(|documents| documents > MANY_DOCUMENTS);
        });
        long
    }

    /// The next rows, of so many keys at most.
    ///
    /// # Errors
    /// What the store reports; XX001 for a row that cannot be read.
    pub async fn next(&mut self, most: usize) -> PgResult<Option<SomeRows>> {
        if self.reads == Reads::Nothing {
            let all = usize::try_from(self.found.count).unwrap_or(usize::MAX);
            let rows = all.saturating_sub(self.at).min(most);
            if rows == 0 {
                return Ok(None);
            }
            let scores = self.found.scores.get(self.at..).unwrap_or_default().iter().take(rows).copied();
            let columns: Vec<ArrayRef> = if self.with_scores {
                vec![Arc::new(Float32Array::from_iter_values(scores)) as ArrayRef; self.columns.len()]
            } else {
                Vec::new()
            };
            self.at += rows;
            return Ok(Some((columns, rows)));
        }
        let most = most.clamp(1, ROWS);
        while self.at < self.found.keys.len() {
            let found = &self.found;
            let (from, to) = (self.at, (self.at + most).min(found.keys.len()));
            self.at = to;
            self.decoder.set_max_rows(usize::MAX);
            let keys: Vec<&[u8]> = (from..to).map(|n| found.keys.get(n)).collect();
            if self.reads == Reads::Keys {
                let _ = keys.iter().try_for_each(|key| self.decoder.known(key));
            } else {
                self.table.view.get(self.table.codec.storage, self.decoder.families(), &keys, &mut self.decoder).await?;
            }
            if let Some(error) = self.decoder.take_error() {
                return Err(error);
            }
            let rows = self.decoder.rows();
            let there = self.decoder.take_keys();
            let mut stored = self.decoder.finish()?.into_iter();
            if rows == 0 {
                continue;
            }
            let mut scores: Option<ArrayRef> = None;
            if self.with_scores {
                // Rows come in the order of the keys; some may be gone.
                let mut values = Vec::with_capacity(rows);
                let mut n = from;
                for key in there.iter() {
                    while n < to && found.keys.get(n) != key {
                        n += 1;
                    }
                    values.push(found.scores.get(n).copied().unwrap_or(0.0));
                    n += 1;
                }
                scores = Some(Arc::new(Float32Array::from(values)));
            }
            let mut columns = Vec::with_capacity(self.columns.len());
            for id in self.columns.iter() {
                let column = if *id == SCORE { scores.clone() } else { stored.next() };
                columns.push(column.ok_or_else(|| PgError::internal("a column of a search is missing"))?);
            }
            return Ok(Some((columns, rows)));
        }
        Ok(None)
    }

    /// The best rows that are there and pass, `fetch` of them if there are: the index is asked for more while too few pass, and no more rows are read
    /// than are likely to be needed. `share` is that of the rows which are expected to pass.
    ///
    /// # Errors
    /// What the store reports, and what `pass` raises.
    pub async fn best(
        &mut self,
        fetch: usize,
        share: f64,
        mut pass: impl FnMut(SomeRows) -> PgResult<RecordBatch>,
    ) -> PgResult<(Vec<RecordBatch>, Passed)> {
        let mut passed = Passed::default();
        let (mut given, mut batches) = (0, Vec::new());
        let mut share = share.clamp(1e-3, 1.0);
        // A search for twice as many costs little more, another search as much again.
        let mut top = 2 * likely(fetch, share);
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        loop {
            self.search(Some(top), false).await?;
            if self.found.fallback.is_some() && !seen.is_empty() {
                // The files were given up meanwhile, and scores are others.
                seen.clear();
                batches.clear();
                (given, passed) = (0, Passed::default());
            }
            if !seen.is_empty() {
                self.found.retain(|key| !seen.contains(key));
            }
            while given < fetch {
                let Some(some) = self.next(likely(fetch - given, share)).await? else { break };
                passed.of += some.1;
                let batch = pass(some)?;
                passed.rows += batch.num_rows();
                let batch = batch.slice(0, batch.num_rows().min(fetch - given));
                given += batch.num_rows();
                if batch.num_rows() > 0 {
                    batches.push(batch);
                }
                share = passed.share();
            }
            if given >= fetch || !self.found.more {
                return Ok((batches, passed));
            }
            seen.extend(self.found.keys.iter().map(<[u8]>::to_vec));
            top = likely(fetch, share).clamp(top.saturating_mul(4), top.saturating_mul(64));
        }
    }
}

/// How many rows must be looked at for so many to pass, a share of all: seldom too few.
fn likely(rows: usize, share: f64) -> usize {
    ((rows as f64 + (rows as f64).sqrt()) / share) as usize + 4
}

/// How many rows passed, of how many.
#[derive(Clone, Copy, Default, Debug)]
pub struct Passed {
    pub rows: usize,
    pub of: usize,
}

impl Passed {
    /// The share that is to be expected of more.
    #[must_use]
    pub fn share(self) -> f64 {
        ((self.rows as f64 + 0.5) / (self.of as f64 + 1.0)).clamp(1e-3, 1.0)
    }
}
