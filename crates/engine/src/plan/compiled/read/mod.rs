//! Reads of rows by key, by a short range of one, or by a full text search, compiled once for a prepared statement.
//!
//! `SELECT … FROM t WHERE key = $1`, the same by an index, a range with a LIMIT, the best that a search finds, and such reads under
//! UPDATE and DELETE, make up most traffic. What does not depend on the values is worked out once: which columns, in which order, under which expressions, by which
//! key, and where each bound of it comes from. What is left for an execution is to encode the bounds, get the rows and evaluate what
//! is computed.
//!
//! A range may turn out to be long. It is then given up after some rows, for the planner to weigh the ways with sizes and statistics;
//! a statement that has met several such ranges is no longer tried.
//!
//! Invariant: the answer is that of [`super::simple_scan`] and the planner; what is not recognised is left to them.

mod compile;
mod many;
mod search;

use super::scalar::{Computed, EvalArgs, Projection, ScalarSource, of_type};
use super::simple_scan::Columns;
use arrow::array::{Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
use search::TextRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use stoa_exec::environment::StatementContext;
use stoa_exec::nodes::point_get::get_rows;
use stoa_exec::nodes::scan_output::ScanTable;
use stoa_pg::values::array::elements_of_value;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::from_datafusion;
use stoa_table::KeyRange;
use stoa_table::access::{Comparison, KeyShape, Predicate, scope};
use stoa_table::catalog::{ColumnId, TableDescriptor};
use stoa_table::range::prefix_successor;
use stoa_table::row::{ColumnSource, KeyList, RowCodec, ScanDecoder};
use stoa_table::txn::RangeRead;

/// Rows after which a range is no longer short.
const SHORT_ROWS: usize = 1024;
/// The same of entries whose rows must be looked up.
const SHORT_LOOKUPS: usize = 256;
/// More ranges, of salt buckets, are better read in parallel.
const FEW_RANGES: usize = 16;
/// Ranges that were not short, after which a statement is left to the planner.
pub(super) const MAX_MISSES: u32 = 4;

/// See the module.
pub(crate) struct CompiledRead {
    table: Arc<TableDescriptor>,
    codec: Arc<RowCodec>,
    way: AccessMethod,
    /// With the score among them, if that is asked for.
    read: Arc<[ColumnId]>,
    read_schema: SchemaRef,
    /// What the key does not answer: rows pass one after the other.
    conditions: Vec<Computed>,
    projections: Vec<Projection>,
    /// The columns that this comes to.
    given: Columns,
    /// Positions of what is given, where they are not all in order.
    order: Option<Vec<usize>>,
    offset: Option<ScalarSource>,
    limit: Option<ScalarSource>,
    /// Of the rows, empty, between two executions.
    decoder: Mutex<Option<ScanDecoder>>,
    /// The same of a range's entries.
    entries: Mutex<Option<ScanDecoder>>,
}

/// How the rows are reached.
enum AccessMethod {
    /// One row, by its whole key: a value for each part.
    Row(Vec<ScalarSource>),
    Range(Box<Range>),
    /// What a full text index finds.
    Search(Box<TextRead>),
}

/// What a filter asks of a column.
#[derive(Clone)]
enum Test {
    Compare(Comparison, ScalarSource),
    In(Values),
    /// Any of several conjunctions: a row compared with a row, or alternatives that were written as such.
    Any(Vec<Vec<Comparing>>),
    NotNull,
}

/// A column compared with a value.
#[derive(Clone)]
struct Comparing {
    column: ColumnId,
    op: Comparison,
    value: ScalarSource,
}

impl Comparing {
    /// `None` if no row can pass.
    fn predicate(&self, known: EvalArgs<'_>) -> PgResult<Option<Predicate>> {
        let value = self.value.value(known)?.into_owned();
        Ok((!value.is_null()).then_some(Predicate::Compare { column: self.column, op: self.op, value }))
    }
}

/// The values of a list.
#[derive(Clone)]
enum Values {
    Each(Vec<ScalarSource>),
    Array(ScalarSource),
}

impl Test {
    fn uses(&self, params: &std::ops::Range<usize>) -> bool {
        match self {
            Test::Compare(_, source) | Test::In(Values::Array(source)) => source.uses(params),
            Test::In(Values::Each(sources)) => sources.iter().any(|source| source.uses(params)),
            Test::Any(alternatives) => alternatives.iter().all(|all| all.iter().any(|one| one.value.uses(params))),
            Test::NotNull => false,
        }
    }

    /// What it asks with these parameters; `None` if no row can pass.
    ///
    /// # Errors
    /// What a value raises.
    fn predicate(&self, column: ColumnId, known: EvalArgs<'_>) -> PgResult<Option<Predicate>> {
        Ok(match self {
            Test::Compare(op, source) => {
                let value = source.value(known)?.into_owned();
                (!value.is_null()).then_some(Predicate::Compare { column, op: *op, value })
            }
            Test::In(values) => {
                let mut list = match values {
                    Values::Each(sources) => {
                        sources.iter().map(|s| s.value(known).map(std::borrow::Cow::into_owned)).collect::<PgResult<Vec<_>>>()?
                    }
                    Values::Array(source) => elements(&*source.value(known)?)?,
                };
                list.retain(|value| !value.is_null());
                (!list.is_empty()).then_some(Predicate::In { column, values: list })
            }
            Test::Any(alternatives) => {
                let mut any = Vec::with_capacity(alternatives.len());
                for all in alternatives {
                    let all = all.iter().map(|one| one.predicate(known)).collect::<PgResult<Option<Vec<_>>>>()?;
                    any.extend(all.map(Predicate::and));
                }
                (!any.is_empty()).then(|| Predicate::or(any))
            }
            Test::NotNull => Some(Predicate::IsNotNull(column)),
        })
    }
}

/// A part of a key's space that is expected to be small.
struct Range {
    key: KeyShape,
    source: ColumnSource,
    bounds: Vec<(ColumnId, Test)>,
    /// The value of each of the leading parts, where the bounds are nothing else and one range has them.
    equals: Option<Vec<ScalarSource>>,
    /// Entries of an index lead to rows.
    looks_up: bool,
    /// At most one row.
    unique: bool,
    /// The index is complete for snapshots from here on.
    readable_from: u64,
    /// The order of the key is asked for.
    ordered: bool,
    reverse: bool,
    misses: AtomicU32,
}

/// What a compiled read gave.
pub(crate) enum CompiledRows {
    Rows(Option<RecordBatch>),
    /// For these values the planner must choose.
    Unsuitable,
}

impl std::fmt::Debug for CompiledRead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledRead").field("table", &self.table.name).finish_non_exhaustive()
    }
}

impl CompiledRead {
    /// The columns of its rows, if no order of them was asked for.
    pub(super) fn columns(&self) -> &Columns {
        &self.given
    }

    /// What EXPLAIN says of it: the table, and the key or the index by which it is read.
    pub(super) fn describe(&self) -> String {
        let by = match &self.way {
            AccessMethod::Row(_) => "primary key",
            AccessMethod::Range(range) => match &range.source {
                ColumnSource::Index(index) => {
                    self.table.indexes.iter().find(|i| i.storage == index.storage).map_or("an index", |i| i.name.as_str())
                }
                _ => "a range of the primary key",
            },
            AccessMethod::Search(search) => search.name.as_str(),
        };
        let covered = matches!(&self.way, AccessMethod::Range(range) if !range.looks_up && matches!(range.source, ColumnSource::Index(_)));
        let conditions = if self.conditions.is_empty() { "" } else { ", filtered" };
        format!("{} by {by}{}{conditions}", self.table.name, if covered { " (covered)" } else { "" })
    }

    /// Whether the values of some of these parameters say which keys are read.
    pub(super) fn is_keyed_by(&self, params: &std::ops::Range<usize>) -> bool {
        match &self.way {
            AccessMethod::Row(key) => key.iter().any(|source| source.uses(params)),
            AccessMethod::Range(range) => range.bounds.iter().any(|(_, test)| test.uses(params)),
            AccessMethod::Search(_) => false,
        }
    }

    /// Whether it gives one row at most.
    pub(crate) fn is_single(&self) -> bool {
        match &self.way {
            AccessMethod::Row(_) => true,
            AccessMethod::Range(range) => range.unique,
            AccessMethod::Search(_) => false,
        }
    }

    /// Whether what it reads has been short so far.
    pub(crate) fn is_short(&self) -> bool {
        match &self.way {
            AccessMethod::Row(_) => true,
            AccessMethod::Range(range) => range.misses.load(Ordering::Relaxed) < MAX_MISSES,
            AccessMethod::Search(search) => search.misses.load(Ordering::Relaxed) < MAX_MISSES,
        }
    }

    /// The rows, for these values of parameters.
    ///
    /// # Errors
    /// The store failed; what the expressions raise.
    pub(crate) async fn run(&self, ctx: &StatementContext, params: &[ScalarValue]) -> PgResult<CompiledRows> {
        let known = EvalArgs { eval: &ctx.eval, params };
        let table = self.scan_table(ctx);
        match &self.way {
            AccessMethod::Row(key) => {
                let Some(key) = self.encode_key(key, known)? else { return Ok(CompiledRows::Rows(None)) };
                let mut keys = KeyList::new();
                keys.push(&key);
                if ctx.txn.records_reads() {
                    table.record(self.codec.storage, &[KeyRange::point(&key)]);
                }
                self.get(&table, &keys, known).await.map(CompiledRows::Rows)
            }
            // Boxed, so that the future of a read by key stays small.
            AccessMethod::Range(range) => Box::pin(self.read_range(range, &table, known)).await,
            AccessMethod::Search(search) => Box::pin(self.read_search(search, table, ctx, known)).await,
        }
    }

    fn scan_table(&self, ctx: &StatementContext) -> ScanTable {
        ScanTable {
            table: Arc::clone(&self.table),
            codec: Arc::clone(&self.codec),
            view: ctx.txn.read_view(),
            txn: Some(Arc::clone(&ctx.txn)),
            columns: None,
        }
    }

    async fn read_range(&self, range: &Range, table: &ScanTable, known: EvalArgs<'_>) -> PgResult<CompiledRows> {
        if !self.is_short() || table.view.timestamp().0 < range.readable_from {
            return Ok(CompiledRows::Unsuitable);
        }
        // What a count raises is raised without a row too, by the planner.
        let (Ok(offset), Ok(limit)) = (count(self.offset.as_ref(), known), count(self.limit.as_ref(), known)) else {
            return Ok(CompiledRows::Unsuitable);
        };
        let (ranges, one) = match range.key_ranges(known) {
            Narrowed::Ranges(ranges) => (ranges, range.unique && range.equals.is_some()),
            Narrowed::Nothing => return Ok(CompiledRows::Rows(None)),
            Narrowed::Unsuitable => return Ok(CompiledRows::Unsuitable),
        };
        let short = if range.looks_up { SHORT_LOOKUPS } else { SHORT_ROWS };
        let wanted = limit.map(|limit| limit.saturating_add(offset.unwrap_or(0))).filter(|n| self.conditions.is_empty() && *n <= short);
        table.record(range.source.storage(), &ranges);

        let most = wanted.unwrap_or(short + 1);
        let expected = if range.unique { 1 } else { most.min(64) };
        let columns: &[ColumnId] = if range.looks_up { &[] } else { &self.read };
        let kept = self.entries.lock().take();
        let mut entries = match kept {
            Some(entries) => entries,
            None if range.looks_up => ScanDecoder::new(&range.source, columns, expected)?.collect_row_keys(&range.source)?,
            None => ScanDecoder::new(&range.source, columns, expected)?,
        };
        entries.set_max_rows(most);
        let mut ranges = ranges;
        if range.reverse {
            ranges.reverse();
        }
        if !range.looks_up && matches!(range.source, ColumnSource::Table(_)) && ranges.iter().all(|r| r.as_point().is_some()) {
            // Rows by their keys, several of them.
            let mut keys = KeyList::new();
            ranges.iter().filter_map(KeyRange::as_point).for_each(|key| keys.push(key));
            let rows = self.get(table, &keys, known).await?;
            return Ok(CompiledRows::Rows(rows.map(|rows| limited(rows, offset, limit))));
        }
        if one && let Some(key) = ranges.first().map(|r| r.start.as_slice()) {
            // A unique entry has no other part.
            table.view.get(range.source.storage(), entries.families(), &[key], &mut entries).await?;
            if let Some(error) = entries.take_error() {
                return Err(error);
            }
            ranges.clear();
        }
        for key_range in ranges {
            if entries.is_full() {
                break;
            }
            let read = RangeRead {
                table: range.source.storage(),
                families: entries.families(),
                range: key_range,
                reverse: range.reverse,
                // Where the first family has ended, what is left of a row is passed over.
                limit: (!table.table.rows_end()).then_some(most as u64),
                fill_cache: true,
            };
            let mut scan = table.view.scan(read).await?;
            while !entries.is_full() && scan.next_block(most - entries.rows(), &mut entries).await? {}
            if let Some(error) = entries.take_error() {
                return Err(error);
            }
        }
        // Full by bytes is not short either.
        if (wanted.is_none() && entries.rows() > short) || (entries.is_full() && entries.rows() < most) {
            range.misses.fetch_add(1, Ordering::Relaxed);
            return Ok(CompiledRows::Unsuitable);
        }
        let batch = if range.looks_up {
            let keys = entries.take_keys();
            entries.finish()?;
            *self.entries.lock() = Some(entries);
            if let Some(txn) = table.txn.as_ref().filter(|txn| txn.records_reads()) {
                keys.iter().for_each(|key| txn.record_read(self.codec.storage, &KeyRange::point(key)));
            }
            if keys.is_empty() {
                return Ok(CompiledRows::Rows(None));
            }
            self.get(table, &keys, known).await?
        } else {
            let batch = self.give(&mut entries, known)?;
            *self.entries.lock() = Some(entries);
            batch
        };
        Ok(CompiledRows::Rows(batch.map(|batch| limited(batch, offset, limit))))
    }

    /// The rows of some keys, as the statement wants them.
    async fn get(&self, table: &ScanTable, keys: &KeyList, known: EvalArgs<'_>) -> PgResult<Option<RecordBatch>> {
        let kept = self.decoder.lock().take();
        let mut decoder = match kept {
            Some(decoder) => decoder,
            None => ScanDecoder::new(&ColumnSource::Table(Arc::clone(&self.codec)), &self.read, keys.len())?,
        };
        get_rows(table, keys, 0..keys.len(), &mut decoder).await?;
        let rows = self.give(&mut decoder, known)?;
        *self.decoder.lock() = Some(decoder);
        Ok(rows)
    }

    /// The rows that were read, as the statement wants them.
    fn give(&self, decoder: &mut ScanDecoder, known: EvalArgs<'_>) -> PgResult<Option<RecordBatch>> {
        let rows = decoder.rows();
        if rows == 0 {
            return Ok(None);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.read_schema), decoder.finish()?, &options)?;
        let batch = self.passing(batch, known)?;
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        self.projected(batch, known).map(Some)
    }

    /// The rows that pass the conditions.
    fn passing(&self, mut batch: RecordBatch, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        for condition in &self.conditions {
            if batch.num_rows() == 0 {
                break;
            }
            batch = condition.filter(batch, known)?;
        }
        Ok(batch)
    }

    /// The columns that are given, of rows that there are.
    fn projected(&self, mut batch: RecordBatch, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        for projection in &self.projections {
            batch = projection.apply(&batch, known)?;
        }
        match &self.order {
            Some(positions) => Ok(batch.project(positions)?),
            None => Ok(batch),
        }
    }

    /// The key's bytes; `None` if a part is NULL or no value of its type, so that no row has it.
    fn encode_key(&self, key: &[ScalarSource], known: EvalArgs<'_>) -> PgResult<Option<Vec<u8>>> {
        let codec = &self.codec.key;
        let mut out = Vec::with_capacity(32);
        let mut columns = Vec::new();
        for (source, part) in key.iter().zip(&codec.parts) {
            let Some(value) = of_type(&*source.value(known)?, &part.ty.arrow) else { return Ok(None) };
            if codec.salt.is_none() {
                if !part.encode_sought(&value, &mut out)? {
                    return Ok(None);
                }
            } else {
                let column = part.open_sought(&value.to_array().map_err(from_datafusion)?)?;
                // A value that the part's form does not take is in no key either.
                if column.is_null(0) || (!part.form.is_value() && part.encode(&column, 0, &mut Vec::new()).is_err()) {
                    return Ok(None);
                }
                columns.push(column);
            }
        }
        if codec.salt.is_some() {
            codec.encode(&columns, 0, &mut out)?;
        }
        Ok(Some(out))
    }
}

/// The rows that OFFSET and LIMIT leave.
pub(super) fn limited(batch: RecordBatch, offset: Option<usize>, limit: Option<usize>) -> RecordBatch {
    let from = offset.unwrap_or(0).min(batch.num_rows());
    let rows = limit.unwrap_or(usize::MAX).min(batch.num_rows() - from);
    batch.slice(from, rows)
}

/// The elements of an array; none of NULL.
fn elements(value: &ScalarValue) -> PgResult<Vec<ScalarValue>> {
    let Some(values) = elements_of_value(value)? else { return Ok(Vec::new()) };
    (0..values.len()).map(|at| ScalarValue::try_from_array(&values, at).map_err(from_datafusion)).collect()
}

/// What values leave of a key's space.
enum Narrowed {
    /// Ascending and apart.
    Ranges(Vec<KeyRange>),
    /// No row has these values.
    Nothing,
    Unsuitable,
}

impl Range {
    fn key_ranges(&self, known: EvalArgs<'_>) -> Narrowed {
        if let Some(equals) = &self.equals {
            let mut prefix = Vec::with_capacity(32);
            for (source, part) in equals.iter().zip(&self.key.parts) {
                // What a bound raises is raised only if there is a row.
                let Ok(value) = source.value(known) else { return Narrowed::Unsuitable };
                let Some(value) = of_type(&value, &part.ty.arrow) else { return Narrowed::Nothing };
                match part.encode_sought(&value, &mut prefix) {
                    Ok(true) => {}
                    Ok(false) => return Narrowed::Nothing,
                    Err(_) => return Narrowed::Unsuitable,
                }
            }
            let end = prefix_successor(&prefix);
            return Narrowed::Ranges(vec![KeyRange { start: prefix, end }]);
        }
        let mut predicates = Vec::with_capacity(self.bounds.len());
        for (column, test) in &self.bounds {
            match test.predicate(*column, known) {
                Ok(Some(predicate)) => predicates.push(predicate),
                Ok(None) => return Narrowed::Nothing,
                Err(_) => return Narrowed::Unsuitable,
            }
        }
        let scope = scope(&self.key, &predicates);
        let few = if scope.points && matches!(self.source, ColumnSource::Table(_)) { SHORT_LOOKUPS } else { FEW_RANGES };
        if !scope.residual.is_empty() || scope.ranges.len() > few || (self.ordered && !scope.one_bucket) {
            return Narrowed::Unsuitable;
        }
        Narrowed::Ranges(scope.ranges)
    }
}

/// The number that LIMIT or OFFSET says; NULL is none.
pub(super) fn count(source: Option<&ScalarSource>, known: EvalArgs<'_>) -> PgResult<Option<usize>> {
    let Some(source) = source else { return Ok(None) };
    match &*source.value(known)? {
        ScalarValue::Int64(None) => Ok(None),
        ScalarValue::Int64(Some(n)) => usize::try_from(*n).map(Some).map_err(|_| PgError::internal("a negative number of rows")),
        _ => Err(PgError::internal("a number of rows of another type")),
    }
}

#[cfg(test)]
mod search_tests;
#[cfg(test)]
pub(super) mod tests;
