//! Subqueries that are run for each row: how the planner does that.
//!
//! A subquery that reads some rows by keys is compiled once, with the row's values as parameters. Where no key helps, or a row asks for
//! many, what does not depend on the row is read once and kept, and the rest compiled over it. Any other is planned anew with the values
//! as constants, so that they become key ranges. [`stoa_exec::nodes::apply`] is the node that runs them.

use super::compiled::{CompiledQuery, CompiledRows};
use super::decorrelate::{Apply, ApplyKind};
use super::relation::Planner;
use arrow::array::{Array, AsArray, RecordBatch};
use async_trait::async_trait;
use datafusion::common::ScalarValue;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_exec::node::extend;
use stoa_exec::nodes::apply::{ApplyExec, Correlated, Gives, Subquery};
use stoa_pg::{EvalContext, PgResult, SqlType};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, Rel};
use stoa_sql::typed::walk::{self, is_steady};
use stoa_table::access::Preferences;

/// Rows for which a subquery is planned anew before its relations are kept.
const FIRST_ROWS: usize = 2;
/// How long rows are dealt with before others have their turn.
const TURN: Duration = Duration::from_millis(20);

/// Adds the subquery's value as a column.
pub(super) fn plan_value(planner: &Planner, input: LogicalPlan, apply: Apply) -> PgResult<LogicalPlan> {
    let Apply { kind, query, output, ty } = apply;
    // What is asked for a row, and which of its columns.
    let columns = match kind {
        ApplyKind::Exists => Vec::new(),
        _ => query.outputs.iter().map(|o| o.col).take(1).collect(),
    };
    let rel = match kind {
        ApplyKind::Exists => {
            let one = Expr::new(ExprKind::Const(ScalarValue::Int64(Some(1))), SqlType::new(stoa_pg::PgType::Int8));
            Rel::Limit { input: Box::new(query.rel), offset: None, fetch: Some(one), ties: None }
        }
        _ => query.rel,
    };
    let gives = Gives::Value { kind, column: output, ty };
    plan(planner, format!("Apply: {kind:?}"), input, gives, rel, columns)
}

/// Joins each row with the rows of a LATERAL item: its relation (the join's condition included) and the columns that it gives. With `outer`
/// rows without a match stay, with NULLs.
pub(super) fn plan_lateral(
    planner: &Planner,
    input: LogicalPlan,
    rel: Rel,
    columns: Vec<(ColId, SqlType)>,
    outer: bool,
) -> PgResult<LogicalPlan> {
    let asked = columns.iter().map(|(c, _)| *c).collect();
    plan(planner, "Apply: lateral".into(), input, Gives::Rows { columns, outer }, rel, asked)
}

fn plan(planner: &Planner, label: String, input: LogicalPlan, gives: Gives, rel: Rel, columns: Vec<ColId>) -> PgResult<LogicalPlan> {
    let added = gives.columns();
    let subquery = Planned { planner: planner.clone(), rel: Arc::new(rel), columns: columns.into() };
    extend(label, input, &added, ApplyExec::maker(gives, Arc::new(subquery)))
}

/// A subquery and the columns that are asked of it.
#[derive(Clone)]
struct Planned {
    planner: Planner,
    rel: Arc<Rel>,
    columns: Arc<[ColId]>,
}

impl Correlated for Planned {
    fn free_columns(&self) -> Vec<ColId> {
        walk::free_columns(&self.rel)
    }

    fn is_steady(&self) -> bool {
        is_steady(&self.rel)
    }

    fn shown(&self, bound: &[ColId]) -> Option<String> {
        let short = self.compile(bound).ok()??;
        Some(short.describe().iter().map(|l| l.trim()).collect::<Vec<_>>().join(" < "))
    }

    fn open(&self, bound: &[ColId]) -> PgResult<Box<dyn Subquery>> {
        Ok(Box::new(Running {
            short: self.compile(bound)?,
            bound: bound.to_vec(),
            kept: None,
            asked: 0,
            turn: Instant::now(),
            memory: MemoryConsumer::new("ApplyExec").register(&self.planner.ctx.database.runtime.memory_pool),
            params: self.planner.ctx.params.to_vec(),
            subquery: self.clone(),
        }))
    }
}

impl Planned {
    /// The subquery with the values of a row as parameters behind those of the statement.
    fn with_params(&self, bound: &[ColId]) -> Option<Rel> {
        let given = self.planner.ctx.params.len();
        let mut rel = (*self.rel).clone();
        walk::rewrite_rel(&mut rel, &mut |e| match e.kind {
            ExprKind::Column(id) => {
                let at = bound.iter().position(|c| *c == id)?;
                Some(Expr { kind: ExprKind::Param(given + at), ..e.clone() })
            }
            _ => None,
        });
        walk::free_columns(&rel).is_empty().then_some(rel)
    }

    /// The subquery compiled, if it reads by keys.
    fn compile(&self, bound: &[ColId]) -> PgResult<Option<CompiledQuery>> {
        let settings = self.planner.ctx.session.settings();
        let given = self.planner.ctx.params.len();
        let Some(rel) = self.with_params(bound) else { return Ok(None) };
        if !Preferences::new(|name| settings.raw(name), &[]).lookup_join {
            return Ok(None);
        }
        // Columns of the planner's own are none that the statement knew of.
        let mut used = (*self.planner.used).clone();
        used.extend(self.columns.iter().copied());
        CompiledQuery::compile(&settings, None, &used, &rel, (given + bound.len(), &[]), Some(&self.columns))
    }
}

struct Running {
    subquery: Planned,
    bound: Vec<ColId>,
    short: Option<CompiledQuery>,
    /// The subquery over relations that were read once, when that has been tried.
    kept: Option<Option<CompiledQuery>>,
    /// Rows that were not short.
    asked: usize,
    turn: Instant,
    memory: MemoryReservation,
    /// Those of the statement, with those of a row behind them while that is asked for.
    params: Vec<ScalarValue>,
}

#[async_trait]
impl Subquery for Running {
    async fn rows(&mut self, values: Vec<ScalarValue>) -> PgResult<Vec<RecordBatch>> {
        let given = self.subquery.planner.ctx.params.len();
        self.params.truncate(given);
        self.params.extend(values);
        let planner = &self.subquery.planner;
        if let Some(short) = &self.short
            && let CompiledRows::Rows(rows) = short.run(&planner.ctx, &self.params, &planner.ctes).await?
        {
            return Ok(rows.into_iter().collect());
        }
        if self.turn.elapsed() > TURN {
            tokio::task::yield_now().await;
            self.turn = Instant::now();
        }
        self.asked += 1;
        if self.asked > FIRST_ROWS && !self.bound.is_empty() {
            if self.kept.is_none() {
                self.kept = Some(self.over_kept().await?);
            }
            // What fails may not be asked for by the plan.
            if let Some(Some(kept)) = &self.kept
                && let Ok(CompiledRows::Rows(rows)) = kept.run(&planner.ctx, &self.params, &planner.ctes).await
            {
                return Ok(rows.into_iter().collect());
            }
        }
        let values = self.params.get(given..).unwrap_or_default();
        let mut rel = (*self.subquery.rel).clone();
        walk::rewrite_rel(&mut rel, &mut |e| match &e.kind {
            ExprKind::Column(id) => {
                let found = self.bound.iter().zip(values).find(|(c, _)| *c == id);
                found.map(|(_, value)| Expr::new(ExprKind::Const(value.clone()), e.ty.clone()))
            }
            _ => None,
        });
        if gives_nothing(&planner.ctx.eval, &planner.ctx.params, &rel) {
            return Ok(Vec::new());
        }
        planner.run(&rel, &self.subquery.columns).await
    }
}

/// Whether conditions of constants leave no rows of a relation: those on the row that it is asked for, such as the branch of a CASE.
fn gives_nothing(eval: &EvalContext, params: &[ScalarValue], rel: &Rel) -> bool {
    let nothing = |rel: &Rel| gives_nothing(eval, params, rel);
    let fails = |e: &Expr| {
        let mut columns = Vec::new();
        walk::columns_of(e, &mut columns);
        if !columns.is_empty() || !walk::is_plain(e) || walk::walk_volatile(e) {
            return false;
        }
        let values = TableEvaluator::new(eval, params, &[], std::slice::from_ref(e)).and_then(|computed| computed.evaluate(Vec::new(), 1));
        values.is_ok_and(|values| {
            values.first().and_then(|v| v.as_boolean_opt()).is_some_and(|v| v.len() == 1 && (v.is_null(0) || !v.value(0)))
        })
    };
    match rel {
        Rel::Filter { input, predicate } => {
            let failed = match &predicate.kind {
                ExprKind::And(parts) => parts.iter().any(fails),
                _ => fails(predicate),
            };
            failed || nothing(input)
        }
        Rel::Aggregate { input, groups, sets: None, .. } if !groups.is_empty() => nothing(input),
        Rel::Limit { input, offset: None, fetch: Some(Expr { kind: ExprKind::Const(_), .. }), .. }
        | Rel::Project { input, .. }
        | Rel::Barrier { input }
        | Rel::Sort { input, .. }
        | Rel::Window { input, .. }
        | Rel::ProjectSet { input, .. }
        | Rel::Distinct { input, .. }
        | Rel::DistinctOn { input, .. } => nothing(input),
        _ => false,
    }
}

impl Running {
    /// The subquery over what does not depend on the row; `None` if there is no such way, or too much to keep.
    async fn over_kept(&self) -> PgResult<Option<CompiledQuery>> {
        let planner = &self.subquery.planner;
        let given = planner.ctx.params.len();
        let Some(rel) = self.subquery.with_params(&self.bound) else { return Ok(None) };
        let Some(query) = CompiledQuery::over_kept(planner, &rel, given + self.bound.len(), &self.subquery.columns)? else {
            return Ok(None);
        };
        // The plan may leave rows out that are read here, and not fail.
        Ok(matches!(query.read_kept(planner, &self.memory).await, Ok(true)).then_some(query))
    }
}
