//! Queries over few rows, compiled once and run without the planner: joins by key, conditions, groups, windows and orders over compiled
//! reads, values and CTEs.
//!
//! Planning costs DataFusion about a millisecond for a join or a group, and again for each execution, since its plans hold the values
//! that they were made for. An application's statements mostly read some rows by a key, and for each of them some more by another.
//! Here such a statement is a tree of nodes over [`KeyRead`]s; a join reads its inner side once for each row of the outer one, whose
//! values stand for parameters of that read; so does a subquery. Each node gives one batch.
//!
//! How many rows there will be is not known before. A statement that reads more than [`MOST_ROWS`] is given up, for the planner to
//! weigh other ways; one that has been given up several times is no longer tried.
//!
//! Invariant: the answer is the planner's; what is not recognised is left to it, and so is a statement in which a value raises an error, for
//! some values are computed here earlier than there, or for nothing.

mod compile;
mod group;
mod joins;
pub(crate) mod kept;
mod keys;
#[cfg(test)]
mod tests;
mod window;

use super::key_read::{Computed, KeyRead, KeyRows, Known, MAX_MISSES, Projection, Source, count};
use crate::exec::StatementContext;
use crate::exec::apply::array_of_rows;
use crate::exec::lock_rows::RowLocks;
use crate::exec::project_set::Sets;
use crate::plan::relation::{CteRows, Materialized};
use crate::typed::from_datafusion;
use crate::typed::tree::{CteId, SetOp};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::{SortColumn, SortOptions, concat, concat_batches, filter_record_batch, lexsort_to_indices, take, take_record_batch};
use arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use futures::future::BoxFuture;
use group::Group;
use keys::Keys;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use stoa_pg::{PgError, PgResult};
use window::Window;

/// Rows that all reads of a statement give together, above which it is no longer short.
const MOST_ROWS: usize = 2048;
/// Reads of inner sides, above which the same holds.
const MOST_READS: usize = 256;

/// See the module.
pub(crate) struct ShortQuery {
    root: Node,
    /// How many parameters it is run with.
    params: usize,
    /// Positions of what is given, where they are not all in order.
    order: Option<Vec<usize>>,
    misses: AtomicU32,
    /// What is read before it is run for many rows.
    kept: Vec<Arc<kept::Kept>>,
}

impl std::fmt::Debug for ShortQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShortQuery").finish_non_exhaustive()
    }
}

/// A step, and the columns of its rows.
struct Node {
    step: Step,
    schema: SchemaRef,
}

enum Step {
    Read(Box<KeyRead>),
    Join(Box<Join>),
    Filter(Box<Node>, Vec<Computed>),
    Project(Box<Node>, Projection),
    Sort(Box<Node>, Sort),
    Limit(Box<Node>, Option<Source>, Option<Source>),
    Group(Box<Node>, Box<Group>),
    Window(Box<Node>, Box<Window>),
    /// DISTINCT ON: the first row of each key.
    First(Box<Node>, Keys),
    /// FOR UPDATE and its kin, with OFFSET and LIMIT: no more rows are locked than are wanted.
    Lock(Box<Node>, RowLocks, Option<Source>, Option<Source>),
    /// The rows for which another read gives some row, or gives none.
    Probe(Box<Node>, Box<Probe>),
    /// Adds the column of a subquery's values.
    Value(Box<Node>, Box<Value>),
    /// The rows of several nodes, one after the other, with the positions of the columns that are given.
    Union(Vec<(Node, Vec<usize>)>),
    /// INTERSECT and EXCEPT.
    Combine(Box<Combine>),
    /// The rows of a CTE that was computed, with the positions of the columns that are given.
    Cte(CteId, Vec<usize>),
    /// One row without columns.
    One,
    /// The rows of VALUES.
    Values(Vec<Vec<Source>>),
    /// The rows of set-returning functions, and the functions' arguments.
    Sets(Box<Node>, Option<Computed>, Sets),
    /// Rows that were read before.
    Kept(Arc<kept::Kept>),
}

/// Two sides with the positions of the columns by which their rows are compared.
struct Combine {
    left: (Node, Vec<usize>),
    right: (Node, Vec<usize>),
    op: SetOp,
    all: bool,
    keys: Keys,
}

/// A subquery that is asked for a value.
struct Value {
    inner: Node,
    /// As [`Join::values`]. Without any it is asked once for all rows.
    values: Vec<usize>,
    asked: Asked,
}

/// What a subquery is asked for.
#[derive(Clone, Copy)]
enum Asked {
    /// Whether there is a row.
    Exists,
    /// The value in this column of its only row; NULL of none.
    One(usize),
    /// The values in this column of all its rows, as an array.
    All(usize),
}

/// EXISTS and IN as conditions.
struct Probe {
    inner: KeyRead,
    /// As [`Join::values`].
    values: Vec<usize>,
    /// The rows without a match.
    anti: bool,
}

/// Asks the inner side for each row of the outer one.
struct Join {
    outer: Node,
    inner: Node,
    /// The outer columns whose values are the inner side's parameters, behind those of the statement.
    values: Vec<usize>,
    /// Rows without a match are given with NULLs.
    optional: bool,
}

struct Sort {
    keys: Computed,
    options: Vec<SortOptions>,
}

/// What an execution may still read, and what was computed before it.
struct Budget<'a> {
    rows: usize,
    reads: usize,
    ctes: &'a Ctes,
}

/// The CTEs of a statement that were computed.
pub(crate) type Ctes = HashMap<CteId, Materialized>;

/// The rows of a node; `None` when the budget is spent, or a read is not short.
type Given = PgResult<Option<RecordBatch>>;

impl ShortQuery {
    /// Whether what it reads has been short so far.
    pub(crate) fn is_short(&self) -> bool {
        self.misses.load(Ordering::Relaxed) < MAX_MISSES
    }

    /// What EXPLAIN says of it: a line for each step, from the last to the first.
    pub(crate) fn describe(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.root.describe(0, &mut out);
        out
    }

    /// The rows, for these values of parameters.
    ///
    /// # Errors
    /// The store failed; a lock was not to be had. What is wrong with values is left to the planner.
    pub(crate) async fn run(&self, ctx: &StatementContext, params: &[ScalarValue], ctes: &Ctes) -> PgResult<KeyRows> {
        if !self.is_short() {
            return Ok(KeyRows::Unsuitable);
        }
        // Values of outer rows stand behind them.
        if params.len() != self.params {
            return Err(PgError::internal("parameters that the statement does not have"));
        }
        let mut budget = Budget { rows: MOST_ROWS, reads: MOST_READS, ctes };
        let batch = match self.root.run(ctx, params, &mut budget).await {
            // Values are computed here in another order than the planner's, some of them for nothing: what they raise is for it to say.
            Err(error) if error.code().class() == "22" => return Ok(KeyRows::Unsuitable),
            batch => batch?,
        };
        let Some(batch) = batch else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return Ok(KeyRows::Unsuitable);
        };
        let batch = match &self.order {
            Some(positions) => batch.project(positions)?,
            None => batch,
        };
        Ok(KeyRows::Rows((batch.num_rows() > 0).then_some(batch)))
    }
}

impl Node {
    fn run<'a>(&'a self, ctx: &'a StatementContext, params: &'a [ScalarValue], budget: &'a mut Budget<'_>) -> BoxFuture<'a, Given> {
        Box::pin(async move {
            let known = Known { eval: &ctx.eval, params };
            match &self.step {
                Step::Read(read) => {
                    let KeyRows::Rows(batch) = read.run(ctx, params).await? else { return Ok(None) };
                    let batch = batch.unwrap_or_else(|| RecordBatch::new_empty(self.schema.clone()));
                    // Rows without columns are a number.
                    let rows = if batch.num_columns() == 0 { 1 } else { batch.num_rows() };
                    Ok(budget.take(rows).then_some(batch))
                }
                Step::Join(join) => self.join(join, ctx, params, budget).await,
                Step::Filter(input, conditions) => {
                    let Some(mut batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    for condition in conditions {
                        if batch.num_rows() == 0 {
                            break;
                        }
                        batch = condition.filter(batch, known)?;
                    }
                    Ok(Some(batch))
                }
                Step::Project(input, projection) => {
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    if batch.num_rows() == 0 {
                        return Ok(Some(RecordBatch::new_empty(self.schema.clone())));
                    }
                    projection.apply(&batch, known).map(Some)
                }
                Step::Sort(input, sort) => {
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    sort.apply(batch, known).map(Some)
                }
                Step::Limit(input, offset, limit) => {
                    // What a count raises is the planner's business.
                    let (Ok(offset), Ok(limit)) = (count(offset.as_ref(), known), count(limit.as_ref(), known)) else {
                        return Ok(None);
                    };
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    let from = offset.unwrap_or(0).min(batch.num_rows());
                    let rows = limit.unwrap_or(usize::MAX).min(batch.num_rows() - from);
                    Ok(Some(batch.slice(from, rows)))
                }
                Step::Lock(input, locks, offset, limit) => {
                    locks.check(ctx)?;
                    let (Ok(offset), Ok(limit)) = (count(offset.as_ref(), known), count(limit.as_ref(), known)) else {
                        return Ok(None);
                    };
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    let offset = offset.unwrap_or(0);
                    let mut left = limit.map(|limit| limit.saturating_add(offset));
                    let locked = concat_batches(&self.schema, &locks.lock_wanted(ctx, batch, &mut left).await?)?;
                    let from = offset.min(locked.num_rows());
                    Ok(Some(locked.slice(from, locked.num_rows() - from)))
                }
                Step::Probe(input, probe) => {
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    if !budget.read(batch.num_rows()) {
                        return Ok(None);
                    }
                    let mut mask = Vec::with_capacity(batch.num_rows());
                    let mut values = params.to_vec();
                    for row in 0..batch.num_rows() {
                        values.truncate(params.len());
                        push_values(&mut values, &batch, &probe.values, row)?;
                        let KeyRows::Rows(found) = probe.inner.run(ctx, &values).await? else { return Ok(None) };
                        let found = found.map_or(0, |found| found.num_rows());
                        if !budget.take(found) {
                            return Ok(None);
                        }
                        mask.push((found > 0) != probe.anti);
                    }
                    Ok(Some(filter_record_batch(&batch, &BooleanArray::from(mask))?))
                }
                Step::Value(input, value) => {
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    self.value(value, batch, ctx, params, budget).await
                }
                Step::Union(inputs) => {
                    let mut batches = Vec::with_capacity(inputs.len());
                    for (input, positions) in inputs {
                        let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                        batches.push(self.named(&batch, positions)?);
                    }
                    Ok(Some(concat_batches(&self.schema, &batches)?))
                }
                Step::Combine(combine) => {
                    let Combine { left: (left, of_left), right: (right, of_right), op, all, keys } = &**combine;
                    let Some(left) = left.run(ctx, params, budget).await? else { return Ok(None) };
                    let Some(right) = right.run(ctx, params, budget).await? else { return Ok(None) };
                    let (left, right) = (self.named(&left, of_left)?, self.named(&right, of_right)?);
                    keys.combine(*op, *all, &left, &right, known).map(Some)
                }
                Step::First(input, keys) => {
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    keys.first_rows(&batch, known).map(Some)
                }
                Step::Window(input, window) => {
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    window.apply(&batch, &self.schema, known).map(Some)
                }
                Step::Values(rows) => match budget.take(rows.len()) {
                    true => values(&self.schema, rows, known),
                    false => Ok(None),
                },
                Step::Sets(input, args, sets) => {
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    let args = match args {
                        Some(args) => args.evaluate(batch.columns(), batch.num_rows(), known)?,
                        None => Vec::new(),
                    };
                    let Some(batch) = sets.apply(&ctx.eval, &batch, args, &self.schema, budget.rows)? else { return Ok(None) };
                    Ok(budget.take(batch.num_rows()).then_some(batch))
                }
                Step::Kept(kept) => Ok(kept.rows()),
                Step::Cte(cte, positions) => {
                    let Some(Materialized { rows: CteRows::All(batches), .. }) = budget.ctes.get(cte) else { return Ok(None) };
                    if !budget.take(batches.iter().map(RecordBatch::num_rows).sum()) {
                        return Ok(None);
                    }
                    let named = batches.iter().map(|batch| self.named(batch, positions)).collect::<PgResult<Vec<_>>>()?;
                    Ok(Some(concat_batches(&self.schema, &named)?))
                }
                Step::One => {
                    let options = RecordBatchOptions::new().with_row_count(Some(1));
                    Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), Vec::new(), &options)?))
                }
                Step::Group(input, group) => {
                    let Some(batch) = input.run(ctx, params, budget).await? else { return Ok(None) };
                    group.apply(&batch, &self.schema, known).map(Some)
                }
            }
        })
    }

    fn describe(&self, depth: usize, out: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        let (line, input) = match &self.step {
            Step::Read(read) => (format!("Read: {}", read.describe()), None),
            Step::Join(join) => {
                let kind = if join.optional { "Left join" } else { "Join" };
                let inner = match &join.inner.step {
                    Step::Read(read) => read.describe(),
                    _ => "a subquery".to_owned(),
                };
                (format!("{kind}: for each row {inner}"), Some(&join.outer))
            }
            Step::Union(_) => ("Append".to_owned(), None),
            Step::Combine(combine) => {
                let op = if combine.op == SetOp::Intersect { "Intersect" } else { "Except" };
                (format!("{op}{}", if combine.all { " all" } else { "" }), None)
            }
            Step::Window(input, _) => ("Window functions".to_owned(), Some(&**input)),
            Step::First(input, _) => ("First row of each group".to_owned(), Some(&**input)),
            Step::Values(rows) => (format!("Values: {}", rows.len()), None),
            Step::Sets(input, ..) => ("Set-returning functions".to_owned(), Some(&**input)),
            Step::Probe(input, probe) => {
                let asked = if probe.anti { "without a row" } else { "with a row" };
                (format!("Filter: {asked} of {}", probe.inner.describe()), Some(&**input))
            }
            Step::Filter(input, _) => ("Filter".to_owned(), Some(&**input)),
            Step::Project(input, _) => ("Project".to_owned(), Some(&**input)),
            Step::Sort(input, _) => ("Sort".to_owned(), Some(&**input)),
            Step::Limit(input, ..) => ("Limit".to_owned(), Some(&**input)),
            Step::Group(input, _) => ("Group".to_owned(), Some(&**input)),
            Step::Lock(input, ..) => ("Lock rows".to_owned(), Some(&**input)),
            Step::Value(input, _) => ("Value of a subquery".to_owned(), Some(&**input)),
            Step::One => ("One row".to_owned(), None),
            Step::Kept(_) => ("Rows kept".to_owned(), None),
            Step::Cte(..) => ("Rows of a CTE".to_owned(), None),
        };
        out.push(format!("{indent}{line}"));
        match &self.step {
            Step::Value(_, value) => value.inner.describe(depth + 2, out),
            Step::Join(join) if !matches!(join.inner.step, Step::Read(_)) => join.inner.describe(depth + 2, out),
            Step::Union(inputs) => inputs.iter().for_each(|(input, _)| input.describe(depth + 1, out)),
            Step::Combine(combine) => [&combine.left, &combine.right].into_iter().for_each(|(input, _)| input.describe(depth + 1, out)),
            _ => {}
        }
        if let Some(input) = input {
            input.describe(depth + 1, out);
        }
    }

    /// Some columns of a batch as those of this node.
    fn named(&self, batch: &RecordBatch, positions: &[usize]) -> PgResult<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = batch.project(positions)?.columns().to_vec();
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    /// Rows with one more column.
    async fn value(
        &self,
        value: &Value,
        batch: RecordBatch,
        ctx: &StatementContext,
        params: &[ScalarValue],
        budget: &mut Budget<'_>,
    ) -> Given {
        let ty = self.schema.field(batch.num_columns()).data_type();
        let asked = if value.values.is_empty() { batch.num_rows().min(1) } else { batch.num_rows() };
        if !budget.read(asked) {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(params.len() + value.values.len());
        values.extend_from_slice(params);
        let mut found: Vec<ArrayRef> = Vec::with_capacity(asked);
        for row in 0..asked {
            values.truncate(params.len());
            push_values(&mut values, &batch, &value.values, row)?;
            let Some(rows) = value.inner.run(ctx, &values, budget).await? else { return Ok(None) };
            found.push(match value.asked {
                Asked::Exists => Arc::new(BooleanArray::from(vec![rows.num_rows() > 0])),
                Asked::All(at) => array_of_rows(&[rows.project(&[at])?], ty)?.to_array().map_err(from_datafusion)?,
                Asked::One(at) if rows.num_rows() == 1 => Arc::clone(rows.column(at)),
                Asked::One(_) if rows.num_rows() == 0 => new_null_array(ty, 1),
                // An error, and the planner's to raise.
                Asked::One(_) => return Ok(None),
            });
        }
        let column = match found.as_slice() {
            [] => new_null_array(ty, 0),
            [one] if batch.num_rows() == 1 => Arc::clone(one),
            [one] => take(one, &UInt32Array::from(vec![0; batch.num_rows()]), None)?,
            several => concat(&several.iter().map(|a| &**a).collect::<Vec<_>>())?,
        };
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let mut columns = batch.columns().to_vec();
        columns.push(column);
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?))
    }

    async fn join(&self, join: &Join, ctx: &StatementContext, params: &[ScalarValue], budget: &mut Budget<'_>) -> Given {
        let Some(outer) = join.outer.run(ctx, params, budget).await? else { return Ok(None) };
        if !budget.read(outer.num_rows()) {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(params.len() + join.values.len());
        values.extend_from_slice(params);
        let mut found: Vec<RecordBatch> = Vec::with_capacity(outer.num_rows());
        let mut rows_of: Vec<u32> = Vec::with_capacity(outer.num_rows());
        for (number, row) in (0u32..).zip(0..outer.num_rows()) {
            values.truncate(params.len());
            push_values(&mut values, &outer, &join.values, row)?;
            let Some(batch) = join.inner.run(ctx, &values, budget).await? else { return Ok(None) };
            let batch = match batch.num_rows() {
                0 if join.optional => nulls(&join.inner.schema)?,
                0 => continue,
                _ => batch,
            };
            rows_of.extend(std::iter::repeat_n(number, batch.num_rows()));
            found.push(batch);
        }
        let inner = match found.as_slice() {
            [] => return Ok(Some(RecordBatch::new_empty(self.schema.clone()))),
            [one] => one.clone(),
            several => concat_batches(&join.inner.schema, several)?,
        };
        let rows = rows_of.len();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        if rows == outer.num_rows() && rows_of.iter().zip(0u32..).all(|(of, at)| *of == at) {
            columns.extend_from_slice(outer.columns());
        } else {
            let rows_of = UInt32Array::from(rows_of);
            for column in outer.columns() {
                columns.push(take(column, &rows_of, None)?);
            }
        }
        columns.extend_from_slice(inner.columns());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?))
    }
}

/// Adds the values of some columns of a row.
fn push_values(values: &mut Vec<ScalarValue>, batch: &RecordBatch, columns: &[usize], row: usize) -> PgResult<()> {
    for column in columns {
        values.push(ScalarValue::try_from_array(batch.column(*column), row).map_err(from_datafusion)?);
    }
    Ok(())
}

impl Budget<'_> {
    /// Whether so many reads of an inner side may still be made.
    fn read(&mut self, reads: usize) -> bool {
        match self.reads.checked_sub(reads) {
            Some(left) => {
                self.reads = left;
                true
            }
            None => false,
        }
    }

    /// Whether so many rows may still be read.
    fn take(&mut self, rows: usize) -> bool {
        match self.rows.checked_sub(rows) {
            Some(left) => {
                self.rows = left;
                true
            }
            None => false,
        }
    }
}

impl Sort {
    fn apply(&self, batch: RecordBatch, known: Known<'_>) -> PgResult<RecordBatch> {
        if batch.num_rows() < 2 {
            return Ok(batch);
        }
        let keys = self.keys.evaluate(batch.columns(), batch.num_rows(), known)?;
        let columns: Vec<SortColumn> =
            keys.into_iter().zip(&self.options).map(|(values, options)| SortColumn { values, options: Some(*options) }).collect();
        Ok(take_record_batch(&batch, &lexsort_to_indices(&columns, None)?)?)
    }
}

/// The rows of VALUES; `None` if a value has another type than its column, which the planner sees to.
fn values(schema: &SchemaRef, rows: &[Vec<Source>], known: Known<'_>) -> Given {
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for (at, field) in schema.fields().iter().enumerate() {
        let of_column = rows.iter().filter_map(|row| row.get(at)).map(|source| Ok(source.value(known)?.into_owned()));
        let column = of_column.collect::<PgResult<Vec<_>>>()?;
        if column.iter().any(|value| value.data_type() != *field.data_type()) {
            return Ok(None);
        }
        columns.push(ScalarValue::iter_to_array(column).map_err(from_datafusion)?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok(Some(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?))
}

/// One row of NULLs.
fn nulls(schema: &SchemaRef) -> PgResult<RecordBatch> {
    let columns = schema.fields().iter().map(|f| new_null_array(f.data_type(), 1)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(PgError::from)
}
