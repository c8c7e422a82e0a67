//! Queries over few rows, compiled once and run without the planner: joins by key, conditions, groups, windows and orders over compiled
//! reads, values and CTEs.
//!
//! Planning costs DataFusion about a millisecond for a join or a group, and again for each execution, since its plans hold the values
//! that they were made for. An application's statements mostly read some rows by a key, and for each of them some more by another.
//! Here such a statement is a tree of nodes over [`CompiledRead`]s. The inner side of a join is asked with each row of the outer one, whose
//! values stand for parameters there; so is a subquery. A node is run for many such sets of values at once and gives a batch for each,
//! so that what all of them read comes in one call of the store.
//!
//! How many rows there will be is not known before. A statement that reads more than [`MOST_ROWS`] is given up, for the planner to
//! weigh other ways; one that has been given up several times is no longer tried.
//!
//! Invariant: the answer is the planner's; what is not recognised is left to it, and so is a statement in which a value raises an error below
//! a condition, a limit or a join, for some of those are computed here earlier than there, or for nothing. What is computed for all rows of
//! the answer raises as it does there.

use super::both_sides::{BothSides, Unmatched};
use super::group::Group;
use super::kept::Kept;
use super::keys::Keys;
use super::read::{CompiledRead, CompiledRows, MAX_MISSES, count, limited};
use super::scalar::{Computed, EvalArgs, Projection, ScalarSource};
use super::values_row::ValuesRow;
use super::window::Window;
use crate::plan::relation::{CteRows, Materialized};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::{SortColumn, SortOptions, concat, concat_batches, filter_record_batch, lexsort_to_indices, take, take_record_batch};
use arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use stoa_exec::environment::StatementContext;
use stoa_exec::nodes::apply::array_of_rows;
use stoa_exec::nodes::lock_rows::RowLocks;
use stoa_exec::nodes::project_set::Sets;
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_sql::typed::from_datafusion;
use stoa_sql::typed::tree::{CteId, SetOp};

/// Rows that all reads of a statement give together, above which it is no longer short.
const MOST_ROWS: usize = 2048;
/// Reads of inner sides, above which the same holds.
const MOST_READS: usize = 256;

/// See the module.
pub(crate) struct CompiledQuery {
    pub(super) root: Node,
    /// How many parameters it is run with.
    pub(super) params: usize,
    /// Positions of what is given, where they are not all in order.
    pub(super) order: Option<Vec<usize>>,
    pub(super) misses: AtomicU32,
    /// All of its rows are wanted: what their values raise is raised.
    pub(super) raises: bool,
    /// What is read before it is run for many rows.
    pub(super) kept: Vec<Arc<Kept>>,
}

impl std::fmt::Debug for CompiledQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledQuery").finish_non_exhaustive()
    }
}

/// A step, and the columns of its rows.
pub(super) struct Node {
    pub(super) step: Step,
    pub(super) schema: SchemaRef,
}

pub(super) enum Step {
    Read(Box<CompiledRead>),
    Join(Box<Join>),
    Filter(Box<Node>, Vec<Computed>),
    Project(Box<Node>, Projection),
    Sort(Box<Node>, Sort),
    Limit(Box<Node>, Option<ScalarSource>, Option<ScalarSource>),
    Group(Box<Node>, Box<Group>),
    Window(Box<Node>, Box<Window>),
    /// DISTINCT ON: the first row of each key.
    First(Box<Node>, Keys),
    /// FOR UPDATE and its kin, with OFFSET and LIMIT: no more rows are locked than are wanted.
    Lock(Box<Node>, RowLocks, Option<ScalarSource>, Option<ScalarSource>),
    /// The rows for which another read gives some row, or gives none.
    Probe(Box<Node>, Box<Probe>),
    /// Adds the column of a subquery's values.
    Value(Box<Node>, Box<Value>),
    /// The rows of several nodes, one after the other, with the positions of the columns that are given.
    Union(Vec<(Node, Vec<usize>)>),
    /// INTERSECT and EXCEPT.
    Combine(Box<Combine>),
    /// A join of two sides that are read each on its own.
    BothSides(Box<BothSides>),
    /// WITH RECURSIVE.
    Recursion(Box<Recursion>),
    /// The rows of a CTE that was computed, or of the round before of a recursion, with the positions of the columns that are given.
    Cte(CteId, Vec<usize>),
    /// One row without columns.
    One,
    /// The rows of VALUES.
    Values(Vec<Vec<ScalarSource>>),
    /// One row of values, some of them volatile: only by itself, so that each is computed once.
    Row(Box<ValuesRow>),
    /// The rows of set-returning functions, and the functions' arguments.
    Sets(Box<Node>, Option<Computed>, Sets),
    /// Rows that were read before.
    Kept(Arc<Kept>),
}

/// Two sides with the positions of the columns by which their rows are compared.
pub(super) struct Combine {
    pub(super) left: (Node, Vec<usize>),
    pub(super) right: (Node, Vec<usize>),
    pub(super) op: SetOp,
    pub(super) all: bool,
    pub(super) keys: Keys,
}

/// A recursion: its base, and its step over the rows of the round before; of each the positions of the columns that are given.
pub(super) struct Recursion {
    pub(super) cte: CteId,
    pub(super) base: (Node, Vec<usize>),
    pub(super) step: (Node, Vec<usize>),
    /// By what rows are distinguished: UNION gives each once.
    pub(super) keys: Option<Keys>,
}

impl Recursion {
    /// The rows of a round that did not come before.
    fn fresh(&self, before: Option<&RecordBatch>, given: Vec<RecordBatch>, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        let given = given.into_iter().next().ok_or_else(|| PgError::internal("a recursion without rows"))?;
        match (&self.keys, before) {
            (None, _) => Ok(given),
            (Some(keys), None) => keys.first_rows(&given, known),
            (Some(keys), Some(before)) => keys.combine(SetOp::Except, false, &given, before, known),
        }
    }
}

/// A subquery that is asked for a value.
pub(super) struct Value {
    pub(super) inner: Node,
    /// As [`Join::values`]. Without any it is asked once for all rows.
    pub(super) values: Vec<usize>,
    pub(super) asked: Asked,
}

/// What a subquery is asked for.
#[derive(Clone, Copy)]
pub(super) enum Asked {
    /// Whether there is a row.
    Exists,
    /// The value in this column of its only row; NULL of none.
    One(usize),
    /// The values in this column of all its rows, as an array.
    All(usize),
}

/// EXISTS and IN as conditions.
pub(super) struct Probe {
    pub(super) inner: Node,
    /// As [`Join::values`].
    pub(super) values: Vec<usize>,
    /// The rows without a match.
    pub(super) anti: bool,
}

impl Probe {
    /// The rows that have a match, or have none.
    async fn filter(
        &self,
        batches: Vec<RecordBatch>,
        ctx: &StatementContext,
        sets: &[&[ScalarValue]],
        budget: &mut Budget<'_>,
    ) -> GivenEach {
        if !budget.read(rows_of(&batches, usize::MAX)) {
            return Ok(None);
        }
        let inner = inner_sets(&batches, sets, &self.values, usize::MAX)?;
        let inner: Vec<&[ScalarValue]> = inner.iter().map(Vec::as_slice).collect();
        let found = match inner.is_empty() {
            true => Vec::new(),
            false => match self.inner.run(ctx, &inner, budget).await? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let mut found = found.into_iter();
        let mut out = Vec::with_capacity(batches.len());
        for batch in batches {
            let mask: BooleanArray = found.by_ref().take(batch.num_rows()).map(|found| Some((found.num_rows() > 0) != self.anti)).collect();
            out.push(filter_record_batch(&batch, &mask)?);
        }
        Ok(Some(out))
    }
}

/// Asks the inner side for each row of the outer one.
pub(super) struct Join {
    pub(super) outer: Node,
    pub(super) inner: Node,
    /// The outer columns whose values are the inner side's parameters, behind those of the statement.
    pub(super) values: Vec<usize>,
    /// Rows without a match are given with NULLs.
    pub(super) optional: bool,
}

pub(super) struct Sort {
    pub(super) keys: Computed,
    pub(super) options: Vec<SortOptions>,
}

/// What an execution may still read, and what was computed before it.
struct Budget<'a> {
    rows: usize,
    reads: usize,
    ctes: &'a Ctes,
    /// The rounds before of the recursions that are running.
    working: Vec<(CteId, RecordBatch)>,
}

/// The CTEs of a statement that were computed.
pub(crate) type Ctes = HashMap<CteId, Materialized>;

/// The rows of a node; `None` when the budget is spent, or a read is not short.
type Given = PgResult<Option<RecordBatch>>;
/// The same for each set of values.
type GivenEach = PgResult<Option<Vec<RecordBatch>>>;

impl CompiledQuery {
    /// Whether what it reads has been short so far.
    pub(crate) fn is_short(&self) -> bool {
        match &self.root.step {
            Step::Read(read) => read.is_short(),
            // What is computed for a row may wait.
            Step::Row(_) => false,
            _ => self.misses.load(Ordering::Relaxed) < MAX_MISSES,
        }
    }

    /// Whether it is a read that gives one row at most.
    pub(crate) fn is_single(&self) -> bool {
        matches!(&self.root.step, Step::Read(read) if read.is_single())
    }

    /// Whether more is done than one read or the computation of one row.
    pub(crate) fn is_tree(&self) -> bool {
        match &self.root.step {
            Step::Read(_) | Step::Row(_) => false,
            Step::Project(input, _) => !matches!(input.step, Step::One),
            _ => true,
        }
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
    /// The store failed; a lock was not to be had. What is wrong with values that only some of the rows need is left to the planner.
    pub(crate) async fn run(&self, ctx: &StatementContext, params: &[ScalarValue], ctes: &Ctes) -> PgResult<CompiledRows> {
        match &self.root.step {
            Step::Read(read) => read.run(ctx, params).await,
            Step::Row(row) => Ok(row.run(ctx, params)?.map_or(CompiledRows::Unsuitable, |row| CompiledRows::Rows(Some(row)))),
            // Boxed, so that the future of a read by key stays small.
            _ => Box::pin(self.run_tree(ctx, params, ctes)).await,
        }
    }

    async fn run_tree(&self, ctx: &StatementContext, params: &[ScalarValue], ctes: &Ctes) -> PgResult<CompiledRows> {
        if !self.is_short() {
            return Ok(CompiledRows::Unsuitable);
        }
        // Values of outer rows stand behind them.
        if params.len() != self.params {
            return Err(PgError::internal("parameters that the statement does not have"));
        }
        let mut budget = Budget { rows: MOST_ROWS, reads: MOST_READS, ctes, working: Vec::new() };
        // What stands above all reads, conditions and limits is computed for the rows of the answer, as PostgreSQL does.
        let (mut below, mut above) = (&self.root, Vec::new());
        while let Some(input) = below.input_of_rows().filter(|_| self.raises) {
            above.push(below);
            below = input;
        }
        let batches = match below.run(ctx, &[params], &mut budget).await {
            // Other values are computed in another order than the planner's, some of them for nothing: what they raise is for it to say.
            Err(error) if error.code().class() == "22" => return Ok(CompiledRows::Unsuitable),
            batches => batches?,
        };
        let Some(mut batch) = batches.and_then(|mut batches| batches.pop()) else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return Ok(CompiledRows::Unsuitable);
        };
        for node in above.into_iter().rev() {
            batch = node.of_rows(batch, EvalArgs { eval: &ctx.eval, params })?;
        }
        let batch = match &self.order {
            Some(positions) => batch.project(positions)?,
            None => batch,
        };
        Ok(CompiledRows::Rows((batch.num_rows() > 0).then_some(batch)))
    }
}

impl Node {
    /// The rows for each of some sets of parameters' values.
    fn run<'a>(&'a self, ctx: &'a StatementContext, sets: &'a [&'a [ScalarValue]], budget: &'a mut Budget<'_>) -> BoxFuture<'a, GivenEach> {
        Box::pin(async move {
            let eval = &ctx.eval;
            match &self.step {
                Step::Read(read) => self.read_rows(read, ctx, sets, budget).await,
                Step::Join(join) => self.join(join, ctx, sets, budget).await,
                Step::Filter(input, conditions) => {
                    let Some(batches) = input.run(ctx, sets, budget).await? else { return Ok(None) };
                    each(batches, sets, eval, |mut batch, known| {
                        for condition in conditions {
                            if batch.num_rows() == 0 {
                                break;
                            }
                            batch = condition.filter(batch, known)?;
                        }
                        Ok(batch)
                    })
                }
                Step::Project(input, _) | Step::Sort(input, _) | Step::Group(input, _) | Step::Window(input, _) | Step::First(input, _) => {
                    let Some(batches) = input.run(ctx, sets, budget).await? else { return Ok(None) };
                    each(batches, sets, eval, |batch, known| self.of_rows(batch, known))
                }
                Step::Limit(input, offset, limit) => {
                    let Some(counts) = counts(offset.as_ref(), limit.as_ref(), sets, eval) else { return Ok(None) };
                    let Some(batches) = input.run(ctx, sets, budget).await? else { return Ok(None) };
                    Ok(Some(batches.into_iter().zip(counts).map(|(batch, (offset, limit))| limited(batch, offset, limit)).collect()))
                }
                Step::Lock(input, locks, offset, limit) => {
                    locks.check(ctx)?;
                    let Some(counts) = counts(offset.as_ref(), limit.as_ref(), sets, eval) else { return Ok(None) };
                    let Some(batches) = input.run(ctx, sets, budget).await? else { return Ok(None) };
                    let mut out = Vec::with_capacity(batches.len());
                    for (batch, (offset, limit)) in batches.into_iter().zip(counts) {
                        let mut left = limit.map(|limit| limit.saturating_add(offset.unwrap_or(0)));
                        let locked = concat_batches(&self.schema, &locks.lock_wanted(ctx, batch, &mut left).await?)?;
                        out.push(limited(locked, offset, None));
                    }
                    Ok(Some(out))
                }
                Step::Probe(input, probe) => {
                    let Some(batches) = input.run(ctx, sets, budget).await? else { return Ok(None) };
                    probe.filter(batches, ctx, sets, budget).await
                }
                Step::Value(input, value) => {
                    let Some(batches) = input.run(ctx, sets, budget).await? else { return Ok(None) };
                    self.value(value, batches, ctx, sets, budget).await
                }
                Step::Union(inputs) => {
                    let mut parts: Vec<Vec<RecordBatch>> = sets.iter().map(|_| Vec::with_capacity(inputs.len())).collect();
                    for input in inputs {
                        let Some(batches) = self.side(input, ctx, sets, budget).await? else { return Ok(None) };
                        parts.iter_mut().zip(batches).for_each(|(parts, batch)| parts.push(batch));
                    }
                    parts.iter().map(|parts| Ok(concat_batches(&self.schema, parts)?)).collect::<PgResult<Vec<_>>>().map(Some)
                }
                Step::Combine(combine) => {
                    let Combine { left, right, op, all, keys } = &**combine;
                    let Some(left) = self.side(left, ctx, sets, budget).await? else { return Ok(None) };
                    let Some(right) = self.side(right, ctx, sets, budget).await? else { return Ok(None) };
                    let mut right = right.into_iter();
                    each(left, sets, eval, |left, known| {
                        let right = right.next().ok_or_else(|| PgError::internal("a side of a set operation without rows"))?;
                        keys.combine(*op, *all, &left, &right, known)
                    })
                }
                Step::BothSides(join) => self.both_sides(join, ctx, sets, budget).await,
                Step::Recursion(recursion) => {
                    let mut out = Vec::with_capacity(sets.len());
                    for params in sets {
                        let Some(batch) = self.recurse(recursion, ctx, params, budget).await? else { return Ok(None) };
                        out.push(batch);
                    }
                    Ok(Some(out))
                }
                Step::Sets(input, args, functions) => {
                    let Some(batches) = input.run(ctx, sets, budget).await? else { return Ok(None) };
                    self.set_rows(&batches, args.as_ref(), functions, (sets, eval), budget)
                }
                Step::Row(_) => Err(PgError::internal("volatile values below another node")),
                Step::Values(_) | Step::Kept(_) | Step::Cte(..) | Step::One => {
                    let mut out = Vec::with_capacity(sets.len());
                    for params in sets {
                        let Some(batch) = self.present(EvalArgs { eval, params }, budget)? else { return Ok(None) };
                        out.push(batch);
                    }
                    Ok(Some(out))
                }
            }
        })
    }

    /// The rows of a read for each set.
    async fn read_rows(&self, read: &CompiledRead, ctx: &StatementContext, sets: &[&[ScalarValue]], budget: &mut Budget<'_>) -> GivenEach {
        let found = match sets {
            [params] => match read.run(ctx, params).await? {
                CompiledRows::Rows(rows) => vec![rows],
                CompiledRows::Unsuitable => return Ok(None),
            },
            _ => match read.run_many(ctx, sets, budget.rows).await? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let mut out = Vec::with_capacity(found.len());
        for batch in found {
            let batch = batch.unwrap_or_else(|| RecordBatch::new_empty(self.schema.clone()));
            // Rows without columns are a number.
            let rows = if batch.num_columns() == 0 { 1 } else { batch.num_rows() };
            if !budget.take(rows) {
                return Ok(None);
            }
            out.push(batch);
        }
        Ok(Some(out))
    }

    /// The rows of an input, some of whose columns are those of this node.
    async fn side(
        &self,
        (input, positions): &(Node, Vec<usize>),
        ctx: &StatementContext,
        sets: &[&[ScalarValue]],
        budget: &mut Budget<'_>,
    ) -> GivenEach {
        let Some(batches) = input.run(ctx, sets, budget).await? else { return Ok(None) };
        batches.iter().map(|batch| self.named(batch, positions)).collect::<PgResult<Vec<_>>>().map(Some)
    }

    /// The input of a step that makes rows of all of its input's, and reads nothing.
    fn input_of_rows(&self) -> Option<&Node> {
        match &self.step {
            Step::Project(input, _) | Step::Sort(input, _) | Step::Group(input, _) | Step::Window(input, _) | Step::First(input, _) => {
                Some(input)
            }
            _ => None,
        }
    }

    /// The rows that such a step makes of its input's.
    fn of_rows(&self, batch: RecordBatch, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        match &self.step {
            Step::Project(_, projection) if batch.num_rows() > 0 => projection.apply(&batch, known),
            Step::Project(..) => Ok(RecordBatch::new_empty(self.schema.clone())),
            Step::Sort(_, sort) => sort.apply(batch, known),
            Step::Group(_, group) => group.apply(&batch, &self.schema, known),
            Step::Window(_, window) => window.apply(&batch, &self.schema, known),
            Step::First(_, keys) => keys.first_rows(&batch, known),
            _ => Err(PgError::internal("a step that reads more than its input")),
        }
    }

    /// Rows with those that set-returning functions give for each.
    fn set_rows(
        &self,
        batches: &[RecordBatch],
        args: Option<&Computed>,
        functions: &Sets,
        (sets, eval): (&[&[ScalarValue]], &EvalContext),
        budget: &mut Budget<'_>,
    ) -> GivenEach {
        let mut out = Vec::with_capacity(batches.len());
        for (batch, params) in batches.iter().zip(sets) {
            let args = match args {
                Some(args) => args.evaluate(batch.columns(), batch.num_rows(), EvalArgs { eval, params })?,
                None => Vec::new(),
            };
            let Some(batch) = functions.apply(eval, batch, args, &self.schema, budget.rows)? else { return Ok(None) };
            if !budget.take(batch.num_rows()) {
                return Ok(None);
            }
            out.push(batch);
        }
        Ok(Some(out))
    }

    /// Pairs of the rows of two inputs.
    async fn both_sides(&self, join: &BothSides, ctx: &StatementContext, sets: &[&[ScalarValue]], budget: &mut Budget<'_>) -> GivenEach {
        let Some(left) = join.left.run(ctx, sets, budget).await? else { return Ok(None) };
        let right = match join.unmatched != Unmatched::Both && rows_of(&left, 1) == 0 {
            // Nothing to be joined with.
            true => left.iter().map(|_| RecordBatch::new_empty(join.right.schema.clone())).collect(),
            false => match join.right.run(ctx, sets, budget).await? {
                Some(right) => right,
                None => return Ok(None),
            },
        };
        let mut out = Vec::with_capacity(left.len());
        for ((left, right), params) in left.iter().zip(&right).zip(sets) {
            let Some(batch) = join.joined(left, right, &self.schema, EvalArgs { eval: &ctx.eval, params })? else { return Ok(None) };
            if !budget.take(batch.num_rows()) {
                return Ok(None);
            }
            out.push(batch);
        }
        Ok(Some(out))
    }

    /// The rows of a recursion: those of the base, and of the step over the rows of the round before until there are none.
    async fn recurse(&self, recursion: &Recursion, ctx: &StatementContext, params: &[ScalarValue], budget: &mut Budget<'_>) -> Given {
        let known = EvalArgs { eval: &ctx.eval, params };
        let Some(first) = self.side(&recursion.base, ctx, &[params], budget).await? else { return Ok(None) };
        let mut round = recursion.fresh(None, first, known)?;
        let mut all = round.clone();
        while round.num_rows() > 0 {
            // Each round gives a row at least, so that there are no more rounds than rows.
            if !budget.take(round.num_rows()) {
                return Ok(None);
            }
            ctx.session.check_interrupt()?;
            budget.working.push((recursion.cte, round));
            let given = self.side(&recursion.step, ctx, &[params], budget).await;
            budget.working.pop();
            let Some(given) = given? else { return Ok(None) };
            round = recursion.fresh(Some(&all), given, known)?;
            all = concat_batches(&self.schema, [&all, &round])?;
        }
        Ok(Some(all))
    }

    /// Whether some of its reads are narrowed by one of these parameters.
    pub(super) fn is_keyed_by(&self, params: &Range<usize>) -> bool {
        match &self.step {
            Step::Read(read) => read.is_keyed_by(params),
            Step::Join(join) => join.outer.is_keyed_by(params) || join.inner.is_keyed_by(params),
            Step::BothSides(join) => join.left.is_keyed_by(params) || join.right.is_keyed_by(params),
            Step::Union(inputs) => inputs.iter().all(|(input, _)| input.is_keyed_by(params)),
            Step::Combine(combine) => combine.left.0.is_keyed_by(params),
            Step::Recursion(recursion) => recursion.base.0.is_keyed_by(params),
            Step::Filter(input, _)
            | Step::Project(input, _)
            | Step::Sort(input, _)
            | Step::Limit(input, ..)
            | Step::Group(input, _)
            | Step::Window(input, _)
            | Step::First(input, _)
            | Step::Lock(input, ..)
            | Step::Probe(input, _)
            | Step::Value(input, _)
            | Step::Sets(input, ..) => input.is_keyed_by(params),
            Step::Cte(..) | Step::One | Step::Values(_) | Step::Row(_) | Step::Kept(_) => false,
        }
    }

    /// Rows that nothing is read for.
    fn present(&self, known: EvalArgs<'_>, budget: &mut Budget<'_>) -> Given {
        match &self.step {
            Step::Values(rows) => match budget.take(rows.len()) {
                true => values(&self.schema, rows, known),
                false => Ok(None),
            },
            Step::Kept(kept) => Ok(kept.rows()),
            Step::Cte(cte, positions) => {
                if let Some((_, round)) = budget.working.iter().rev().find(|(working, _)| working == cte) {
                    let round = self.named(round, positions)?;
                    return Ok(budget.take(round.num_rows()).then_some(round));
                }
                let Some(Materialized { rows: CteRows::All(batches), .. }) = budget.ctes.get(cte) else { return Ok(None) };
                if !budget.take(batches.iter().map(RecordBatch::num_rows).sum()) {
                    return Ok(None);
                }
                let named = batches.iter().map(|batch| self.named(batch, positions)).collect::<PgResult<Vec<_>>>()?;
                Ok(Some(concat_batches(&self.schema, &named)?))
            }
            _ => {
                let options = RecordBatchOptions::new().with_row_count(Some(1));
                Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), Vec::new(), &options)?))
            }
        }
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
            Step::BothSides(join) => {
                let kind = match join.unmatched {
                    Unmatched::None => "Join",
                    Unmatched::Left => "Left join",
                    Unmatched::Both => "Full join",
                };
                (format!("{kind}: both sides"), Some(&join.left))
            }
            Step::Recursion(_) => ("Recursion".to_owned(), None),
            Step::Window(input, _) => ("Window functions".to_owned(), Some(&**input)),
            Step::First(input, _) => ("First row of each group".to_owned(), Some(&**input)),
            Step::Values(rows) => (format!("Values: {}", rows.len()), None),
            Step::Sets(input, ..) => ("Set-returning functions".to_owned(), Some(&**input)),
            Step::Probe(input, probe) => {
                let asked = if probe.anti { "without a row" } else { "with a row" };
                let inner = match &probe.inner.step {
                    Step::Read(read) => read.describe(),
                    _ => "a subquery".to_owned(),
                };
                (format!("Filter: {asked} of {inner}"), Some(&**input))
            }
            Step::Filter(input, _) => ("Filter".to_owned(), Some(&**input)),
            Step::Project(input, _) => ("Project".to_owned(), Some(&**input)),
            Step::Sort(input, _) => ("Sort".to_owned(), Some(&**input)),
            Step::Limit(input, ..) => ("Limit".to_owned(), Some(&**input)),
            Step::Group(input, _) => ("Group".to_owned(), Some(&**input)),
            Step::Lock(input, ..) => ("Lock rows".to_owned(), Some(&**input)),
            Step::Value(input, _) => ("Value of a subquery".to_owned(), Some(&**input)),
            Step::Row(_) => ("Row of values".to_owned(), None),
            Step::One => ("One row".to_owned(), None),
            Step::Kept(_) => ("Rows kept".to_owned(), None),
            Step::Cte(..) => ("Rows of a CTE".to_owned(), None),
        };
        out.push(format!("{indent}{line}"));
        match &self.step {
            Step::Value(_, value) => value.inner.describe(depth + 2, out),
            Step::Join(join) if !matches!(join.inner.step, Step::Read(_)) => join.inner.describe(depth + 2, out),
            Step::Probe(_, probe) if !matches!(probe.inner.step, Step::Read(_)) => probe.inner.describe(depth + 2, out),
            Step::BothSides(join) => join.right.describe(depth + 2, out),
            Step::Recursion(recursion) => {
                [&recursion.base, &recursion.step].into_iter().for_each(|(input, _)| input.describe(depth + 1, out))
            }
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
        batches: Vec<RecordBatch>,
        ctx: &StatementContext,
        sets: &[&[ScalarValue]],
        budget: &mut Budget<'_>,
    ) -> GivenEach {
        let most = if value.values.is_empty() { 1 } else { usize::MAX };
        if !budget.read(rows_of(&batches, most)) {
            return Ok(None);
        }
        let inner = inner_sets(&batches, sets, &value.values, most)?;
        let inner: Vec<&[ScalarValue]> = inner.iter().map(Vec::as_slice).collect();
        let Some(found) = value.inner.run(ctx, &inner, budget).await? else { return Ok(None) };
        let mut found = found.into_iter();
        let mut out = Vec::with_capacity(batches.len());
        for batch in batches {
            let ty = self.schema.field(batch.num_columns()).data_type();
            let mut values: Vec<ArrayRef> = Vec::with_capacity(batch.num_rows().min(most));
            for rows in found.by_ref().take(batch.num_rows().min(most)) {
                values.push(match value.asked {
                    Asked::Exists => Arc::new(BooleanArray::from(vec![rows.num_rows() > 0])),
                    Asked::All(at) => array_of_rows(&[rows.project(&[at])?], ty)?.to_array().map_err(from_datafusion)?,
                    Asked::One(at) if rows.num_rows() == 1 => Arc::clone(rows.column(at)),
                    Asked::One(_) if rows.num_rows() == 0 => new_null_array(ty, 1),
                    // An error, and the planner's to raise.
                    Asked::One(_) => return Ok(None),
                });
            }
            let column = match values.as_slice() {
                [] => new_null_array(ty, 0),
                [one] if batch.num_rows() == 1 => Arc::clone(one),
                [one] => take(one, &UInt32Array::from(vec![0; batch.num_rows()]), None)?,
                several => concat(&several.iter().map(|a| &**a).collect::<Vec<_>>())?,
            };
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let mut columns = batch.columns().to_vec();
            columns.push(column);
            out.push(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?);
        }
        Ok(Some(out))
    }

    async fn join(&self, join: &Join, ctx: &StatementContext, sets: &[&[ScalarValue]], budget: &mut Budget<'_>) -> GivenEach {
        let Some(outers) = join.outer.run(ctx, sets, budget).await? else { return Ok(None) };
        if !budget.read(rows_of(&outers, usize::MAX)) {
            return Ok(None);
        }
        let inner = inner_sets(&outers, sets, &join.values, usize::MAX)?;
        let inner: Vec<&[ScalarValue]> = inner.iter().map(Vec::as_slice).collect();
        let found = match inner.is_empty() {
            true => Vec::new(),
            false => match join.inner.run(ctx, &inner, budget).await? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let mut found = found.into_iter();
        let mut out = Vec::with_capacity(outers.len());
        for outer in &outers {
            out.push(self.joined_rows(join, outer, found.by_ref().take(outer.num_rows()))?);
        }
        Ok(Some(out))
    }

    /// The rows of the outer side with those that the inner one gives for each of them.
    fn joined_rows(&self, join: &Join, outer: &RecordBatch, inner: impl Iterator<Item = RecordBatch>) -> PgResult<RecordBatch> {
        let mut found: Vec<RecordBatch> = Vec::with_capacity(outer.num_rows());
        let mut rows_of: Vec<u32> = Vec::with_capacity(outer.num_rows());
        for (number, batch) in (0u32..).zip(inner) {
            let batch = match batch.num_rows() {
                0 if join.optional => nulls(&join.inner.schema)?,
                0 => continue,
                _ => batch,
            };
            rows_of.extend(std::iter::repeat_n(number, batch.num_rows()));
            found.push(batch);
        }
        let inner = match found.as_slice() {
            [] => return Ok(RecordBatch::new_empty(self.schema.clone())),
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
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

/// Each set's rows, made into others.
fn each(
    batches: Vec<RecordBatch>,
    sets: &[&[ScalarValue]],
    eval: &EvalContext,
    mut make: impl FnMut(RecordBatch, EvalArgs<'_>) -> PgResult<RecordBatch>,
) -> GivenEach {
    let mut out = Vec::with_capacity(batches.len());
    for (batch, params) in batches.into_iter().zip(sets) {
        out.push(make(batch, EvalArgs { eval, params })?);
    }
    Ok(Some(out))
}

/// OFFSET and LIMIT of each set; `None` if one of them raises something, which is the planner's business.
fn counts(
    offset: Option<&ScalarSource>,
    limit: Option<&ScalarSource>,
    sets: &[&[ScalarValue]],
    eval: &EvalContext,
) -> Option<Vec<(Option<usize>, Option<usize>)>> {
    let of = |params: &&[ScalarValue]| {
        let known = EvalArgs { eval, params };
        Some((count(offset, known).ok()?, count(limit, known).ok()?))
    };
    sets.iter().map(of).collect()
}

/// Rows of all batches, of each up to `most`.
fn rows_of(batches: &[RecordBatch], most: usize) -> usize {
    batches.iter().map(|batch| batch.num_rows().min(most)).sum()
}

/// The sets of values for which an inner side is asked: those of the statement, and behind them values of a row, of up to `most` rows of
/// each batch.
fn inner_sets(batches: &[RecordBatch], sets: &[&[ScalarValue]], columns: &[usize], most: usize) -> PgResult<Vec<Vec<ScalarValue>>> {
    let mut out = Vec::with_capacity(rows_of(batches, most));
    for (batch, params) in batches.iter().zip(sets) {
        for row in 0..batch.num_rows().min(most) {
            let mut values = Vec::with_capacity(params.len() + columns.len());
            values.extend_from_slice(params);
            for column in columns {
                values.push(ScalarValue::try_from_array(batch.column(*column), row).map_err(from_datafusion)?);
            }
            out.push(values);
        }
    }
    Ok(out)
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
    fn apply(&self, batch: RecordBatch, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
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
fn values(schema: &SchemaRef, rows: &[Vec<ScalarSource>], known: EvalArgs<'_>) -> Given {
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
