//! Relations of the typed tree to DataFusion's logical plans.

use super::apply;
use super::decorrelate::{self, Apply, ApplyKind, conjunction};
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::common::{DFSchema, DataFusionError, JoinType, ScalarValue};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, LogicalPlanBuilder, Operator, SortExpr};
use datafusion::physical_expr::create_physical_expr;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::future::BoxFuture;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use stoa_exec::datafusion_faults::{effects, filter_barrier, skip_rows};
use stoa_exec::node::{MakeExec, StoaNode, extend};
use stoa_exec::nodes::apply::too_many_rows;
use stoa_exec::nodes::lock_rows::RowLocks;
use stoa_exec::nodes::working_table::{Round, Rows, RowsOnDemand, WorkingTableExec};
use stoa_exec::nodes::{StatementContext, barrier};
use stoa_exec::write::Subqueries;
use stoa_pg::registry::Registry;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::typed::expr::{ExprPlanner, binary, column};
use stoa_sql::typed::tree::{ColId, CteId, Expr, ExprKind, JoinKind, OperRef, Query, Rel, SetOp, SortKey};
use stoa_sql::typed::udf::projected_constant;
use stoa_sql::typed::walk::walk_volatile;
use stoa_sql::typed::{column_name, deeper, from_datafusion, sorted::type_of_column, walk};

/// The rows of a CTE that was computed, or that a recursion is computing.
#[derive(Clone, Debug)]
pub struct Materialized {
    pub columns: Vec<ColId>,
    pub schema: SchemaRef,
    pub rows: CteRows,
}

/// Where the rows of a CTE are.
#[derive(Clone, Debug)]
pub enum CteRows {
    All(Arc<Vec<RecordBatch>>),
    /// Those of the round before.
    Working(Round),
    /// Made as far as they are read.
    OnDemand(Arc<RowsOnDemand>),
}

/// Turns relations into plans. Clones share the CTEs.
#[derive(Clone)]
pub struct Planner {
    pub ctx: StatementContext,
    pub ctes: Arc<HashMap<CteId, Materialized>>,
    /// Columns that anything in the statement uses: scans read no others.
    pub used: Arc<HashSet<ColId>>,
    /// Whether subqueries without outer columns are computed while planning; EXPLAIN leaves them in the plan.
    pub run_subqueries: bool,
    pub(crate) next_col: Arc<std::sync::atomic::AtomicU32>,
}

/// A step of a recursion, which is polled on more stack if there is little left.
struct Deeper<'a, T>(BoxFuture<'a, T>);

impl<T> Future for Deeper<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        deeper(|| self.0.as_mut().poll(context))
    }
}

impl Planner {
    #[must_use]
    pub fn new(ctx: StatementContext, ctes: Arc<HashMap<CteId, Materialized>>, used: Arc<HashSet<ColId>>, run_subqueries: bool) -> Self {
        // Far above what the binder gives.
        let next_col = Arc::new(std::sync::atomic::AtomicU32::new(0x4000_0000));
        Self { ctx, ctes, used, run_subqueries, next_col }
    }

    pub(crate) fn fresh(&self) -> ColId {
        ColId(self.next_col.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }

    pub(crate) fn exprs(&self) -> ExprPlanner<'_> {
        ExprPlanner { eval: &self.ctx.eval, params: &self.ctx.params }
    }

    /// The plan of a relation; its schema holds at least the columns that the relation gives and anything uses.
    pub fn plan<'a>(&'a self, rel: &'a Rel) -> BoxFuture<'a, PgResult<LogicalPlan>> {
        Box::pin(Deeper(Box::pin(self.plan_rel(rel))))
    }

    async fn plan_rel(&self, rel: &Rel) -> PgResult<LogicalPlan> {
        match rel {
            Rel::One => Ok(LogicalPlanBuilder::empty(true).build().map_err(from_datafusion)?),
            Rel::Values { columns, rows } => self.plan_values(columns, rows).await,
            Rel::Batches { columns, batches } => {
                let fields: Vec<Field> = columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect();
                let schema = Arc::new(Schema::new(fields));
                let mut typed = Vec::with_capacity(batches.len());
                for batch in batches {
                    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                    typed.push(RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)?);
                }
                memory_scan(schema, typed)
            }
            Rel::Scan(scan) => super::scan::plan_scan(self, scan),
            Rel::History(history) => super::history::plan(self, history),
            Rel::Virtual { schema, name, columns } => stoa_exec::virtual_tables::scan::plan(&self.ctx, schema, name, columns),
            Rel::Filter { input, predicate } => self.plan_filter(input, predicate).await,
            Rel::Barrier { input } => barrier::plan(self.plan(input).await?),
            Rel::Project { input, exprs } => {
                let mut list: Vec<Expr> = exprs.iter().filter(|(c, _)| self.is_used(*c)).map(|(_, e)| e.clone()).collect();
                let ids: Vec<ColId> = exprs.iter().map(|(c, _)| *c).filter(|c| self.is_used(*c)).collect();
                let plan = self.plan_with(input, &mut list).await?;
                let exprs = self.exprs();
                let projected = ids.iter().zip(&list).map(|(c, e)| {
                    let value = projected_constant(exprs.expr(e)?, &e.ty, column_name(*c), exprs.eval);
                    Ok(value.alias(column_name(*c)))
                });
                let projected = projected.collect::<PgResult<Vec<_>>>()?;
                let projection =
                    LogicalPlanBuilder::from(plan).project(projected).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
                Ok(effects::keep(projection, &ids.into_iter().zip(&list).collect::<Vec<_>>()))
            }
            Rel::Join { left, right, kind, on, lateral } => self.plan_join(left, right, *kind, on.as_ref(), *lateral).await,
            Rel::Aggregate { input, groups, sets, aggregates, grouping } => {
                self.plan_aggregate(input, groups, sets.as_deref(), aggregates, grouping).await
            }
            Rel::Window { input, windows } => self.plan_window(input, windows).await,
            Rel::ProjectSet { input, sets, outer, ordinality } => {
                let mut args: Vec<Expr> = sets.iter().flat_map(|(_, s)| s.args.clone()).collect();
                let plan = self.plan_with(input, &mut args).await?;
                super::sets::plan(self, plan, sets, args, *outer, *ordinality)
            }
            Rel::Sort { input, keys } => {
                let mut list: Vec<Expr> = keys.iter().map(|k| k.expr.clone()).collect();
                let plan = self.plan_with(input, &mut list).await?;
                let sort = self.sort_exprs(keys, &list)?;
                LogicalPlanBuilder::from(plan).sort(sort).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
            }
            Rel::Limit { input, offset, fetch, ties } => self.plan_limit(input, offset.as_ref(), fetch.as_ref(), ties.as_deref()).await,
            Rel::Distinct { input, columns } => {
                let plan = self.plan(input).await?;
                self.distinct(plan, columns)
            }
            Rel::DistinctOn { input, on, order } => self.plan_distinct_on(input, on, order).await,
            Rel::SetOp { op, all, left, left_columns, right, right_columns, columns } => {
                let left = self.plan(left).await?;
                let right = self.plan(right).await?;
                self.set_operation(*op, *all, left, left_columns, right, right_columns, columns)
            }
            Rel::CteScan { cte, columns } => self.plan_cte_scan(*cte, columns),
            Rel::Recursive { cte, columns, base, base_columns, step, step_columns, all } => {
                super::recursive::plan(self, *cte, columns, base, base_columns, step, step_columns, *all)
            }
            Rel::Sample { input, percent, seed, .. } => {
                let plan = self.plan(input).await?;
                super::sample::plan(self, plan, percent, seed.as_ref()).await
            }
            Rel::Lock { input, scans, strength, wait } => {
                let plan = self.plan(input).await?;
                stoa_exec::nodes::lock_rows::plan(&self.ctx, plan, RowLocks::new(input, scans, *strength, *wait), None)
            }
        }
    }

    pub(crate) fn is_used(&self, c: ColId) -> bool {
        c.0 >= 0x4000_0000 || self.used.contains(&c)
    }

    pub(crate) fn sort_exprs(&self, keys: &[SortKey], exprs: &[Expr]) -> PgResult<Vec<SortExpr>> {
        keys.iter().zip(exprs).map(|(k, e)| Ok(Sort::new(self.exprs().sort_key(e)?, !k.descending, k.nulls_first))).collect()
    }

    /// Plans an input on which expressions stand: their subqueries become columns of it.
    pub(crate) async fn plan_with(&self, input: &Rel, exprs: &mut [Expr]) -> PgResult<LogicalPlan> {
        let mut applies = Vec::new();
        let mut input = input.clone();
        for e in exprs.iter_mut().filter(|e| !walk::is_plain(e)) {
            input = self.lift(input, e, &mut applies, false).await?;
        }
        let mut plan = self.plan(&input).await?;
        for apply in applies {
            plan = apply::plan_value(self, plan, apply)?;
        }
        Ok(plan)
    }

    /// Takes subqueries out of an expression: values computed now, joins with the input, or nodes on top of it. Where a row may do without
    /// (`branch`), what a value computed now raises is raised by the rows that need it.
    fn lift<'a>(&'a self, mut input: Rel, e: &'a mut Expr, applies: &'a mut Vec<Apply>, branch: bool) -> BoxFuture<'a, PgResult<Rel>> {
        Box::pin(Deeper(Box::pin(async move {
            super::scan::without_what_is_over(self, e)?;
            let computed = |value: PgResult<ScalarValue>, ty: &SqlType| match value {
                Err(error) if branch && error.code().as_str().starts_with('2') => Ok(stoa_sql::typed::branches::raising(error, ty)),
                value => value.map(ExprKind::Const),
            };
            match &e.kind {
                ExprKind::ScalarSubquery(q) => {
                    if self.run_subqueries && walk::free_columns(&q.rel).is_empty() {
                        let value = self.run(&q.rel, &[q.outputs[0].col]).await.and_then(|rows| only_value(&rows, &e.ty));
                        e.kind = computed(value, &e.ty)?;
                        return Ok(input);
                    }
                    let mut fresh = || self.fresh();
                    if let Some((joined, value)) = decorrelate::scalar_as_join(&input, q, &mut fresh) {
                        let ty = e.ty.clone();
                        *e = value;
                        e.ty = ty;
                        return Ok(joined);
                    }
                    if let Some((joined, value)) = decorrelate::scalar_by_key(&input, q, &mut fresh) {
                        *e = value;
                        return Ok(joined);
                    }
                    let (q, ty) = ((**q).clone(), e.ty.clone());
                    self.apply(e, ApplyKind::Scalar, q, ty, applies);
                }
                ExprKind::Exists(q) => {
                    if self.run_subqueries && walk::free_columns(&q.rel).is_empty() {
                        let one = Rel::Limit { input: Box::new(q.rel.clone()), offset: None, fetch: Some(int8(1)), ties: None };
                        let found = |rows: Vec<RecordBatch>| ScalarValue::Boolean(Some(rows.iter().any(|b| b.num_rows() > 0)));
                        e.kind = computed(self.run(&one, &[]).await.map(found), &e.ty)?;
                        return Ok(input);
                    }
                    let q = (**q).clone();
                    self.apply(e, ApplyKind::Exists, q, SqlType::new(PgType::Bool), applies);
                }
                ExprKind::ArraySubquery(q) => {
                    if self.run_subqueries && walk::free_columns(&q.rel).is_empty() {
                        let rows = self.run(&q.rel, &[q.outputs[0].col]).await;
                        e.kind = computed(rows.and_then(|rows| stoa_exec::nodes::apply::array_of_rows(&rows, &e.ty.arrow)), &e.ty)?;
                        return Ok(input);
                    }
                    let (q, ty) = ((**q).clone(), e.ty.clone());
                    self.apply(e, ApplyKind::Array, q, ty, applies);
                }
                ExprKind::AnyQuery { .. } => {
                    let ExprKind::AnyQuery { left, opers, query, all } = e.kind.clone() else { return Ok(input) };
                    let mut left = left;
                    for l in &mut left {
                        input = self.lift(input, l, applies, branch).await?;
                    }
                    if self.run_subqueries && walk::free_columns(&query.rel).is_empty() {
                        match self.membership(&left, &opers, &query, all).await {
                            Ok(Some(test)) => {
                                *e = test;
                                return Ok(input);
                            }
                            Ok(None) => {}
                            Err(error) => {
                                e.kind = computed(Err(error), &e.ty)?;
                                return Ok(input);
                            }
                        }
                    }
                    // The comparison for each row of the subquery, reduced.
                    let tests: Vec<Expr> = left
                        .iter()
                        .zip(&opers)
                        .zip(&query.outputs)
                        .map(|((l, oper), o)| {
                            let args = vec![l.clone(), Expr::column(o.col, o.ty.clone())];
                            Expr::new(ExprKind::Oper { oper: oper.clone(), args }, SqlType::new(PgType::Bool))
                        })
                        .collect();
                    let id = self.fresh();
                    let ty = SqlType::new(PgType::Bool);
                    let rel = Rel::Project { input: Box::new(query.rel), exprs: vec![(id, conjunction(tests))] };
                    let outputs = vec![stoa_sql::typed::tree::Output { name: String::new(), col: id, ty: ty.clone(), origin: None }];
                    let kind = if all { ApplyKind::All } else { ApplyKind::Any };
                    self.apply(e, kind, Query { rel, outputs }, ty, applies);
                }
                kind => {
                    let branches = matches!(kind, ExprKind::Case { .. } | ExprKind::Coalesce(_) | ExprKind::And(_) | ExprKind::Or(_));
                    for child in e.children_mut() {
                        input = self.lift(input, child, applies, branch || branches).await?;
                    }
                }
            }
            Ok(input)
        })))
    }

    fn apply(&self, e: &mut Expr, kind: ApplyKind, query: Query, ty: SqlType, applies: &mut Vec<Apply>) {
        let output = self.fresh();
        applies.push(Apply { kind, query, output, ty: ty.clone() });
        *e = Expr::column(output, ty);
    }

    /// Plans a relation, of which the named columns are wanted, to be executed in rounds: nothing in the plan depends on the rows that
    /// one execution meets.
    pub(crate) async fn plan_rounds(&self, rel: &Rel, columns: &[ColId]) -> PgResult<Arc<dyn ExecutionPlan>> {
        let plan = select_columns(self.plan(rel).await?, columns)?;
        super::execute::physical_in(&self.ctx, &self.ctx.database.rounds, plan).await
    }

    /// Begins to run a relation, and gives the named columns as they come.
    pub(crate) async fn start(&self, rel: &Rel, columns: &[ColId]) -> PgResult<SendableRecordBatchStream> {
        let plan = select_columns(self.plan(rel).await?, columns)?;
        super::execute::start(&self.ctx, plan).await
    }

    /// Runs a relation now and gives the named columns.
    pub(crate) async fn run(&self, rel: &Rel, columns: &[ColId]) -> PgResult<Vec<RecordBatch>> {
        let plan = self.plan(rel).await?;
        let plan = select_columns(plan, columns)?;
        super::execute::collect(&self.ctx, plan).await
    }

    async fn plan_values(&self, columns: &[(ColId, SqlType)], rows: &[Vec<Expr>]) -> PgResult<LogicalPlan> {
        let fields: Vec<Field> = columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        // Rows with subqueries: each row is a projection of its own.
        let mut values: Vec<Vec<ScalarValue>> = vec![Vec::with_capacity(rows.len()); columns.len()];
        let mut constant = true;
        'rows: for row in rows {
            for (e, out) in row.iter().zip(&mut values) {
                match &e.kind {
                    ExprKind::Const(v) => out.push(v.clone()),
                    ExprKind::Param(i) if let Some(value) = self.ctx.params.get(*i) => out.push(value.clone()),
                    _ => {
                        constant = false;
                        break 'rows;
                    }
                }
            }
        }
        if constant {
            let mut arrays = Vec::with_capacity(columns.len());
            for (column, (_, ty)) in values.into_iter().zip(columns) {
                arrays.push(if column.is_empty() {
                    arrow::array::new_empty_array(&ty.arrow)
                } else {
                    ScalarValue::iter_to_array(column).map_err(from_datafusion)?
                });
            }
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?;
            return memory_scan(schema, vec![batch]);
        }
        let has_subquery = rows.iter().flatten().any(|e| {
            let mut found = false;
            walk::visit_subqueries(e, &mut |_| found = true);
            found
        });
        let has_unknown = rows.iter().flatten().any(|e| {
            let mut used = Vec::new();
            walk::columns_of(e, &mut used);
            !used.is_empty() || self.is_unknown(e)
        });
        let has_sets = rows.iter().flatten().any(|e| e.any(&mut |x| matches!(x.kind, ExprKind::Set(_))));
        if has_sets {
            return Err(PgError::unsupported("set-returning functions are not allowed in VALUES"));
        }
        if has_subquery || has_unknown {
            let row_by_row = self.numbered_values(columns, rows)?;
            return self.plan(&row_by_row).await;
        }
        let exprs = self.exprs();
        let converted =
            rows.iter().map(|row| row.iter().map(|e| exprs.expr(e)).collect::<PgResult<Vec<_>>>()).collect::<PgResult<Vec<_>>>()?;
        let df_schema = Arc::new(DFSchema::try_from(schema.as_ref().clone()).map_err(from_datafusion)?);
        let built = LogicalPlanBuilder::values_with_schema(converted, &df_schema).map_err(from_datafusion)?;
        // DataFusion has names of its own for the columns.
        let names: Vec<DfExpr> =
            built.schema().columns().into_iter().zip(columns).map(|(own, (c, _))| DfExpr::Column(own).alias(column_name(*c))).collect();
        built.project(names).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
    }

    /// Rows that read columns, subqueries or parameters without values, as expressions over the rows' numbers: the rows stay in their order.
    fn numbered_values(&self, columns: &[(ColId, SqlType)], rows: &[Vec<Expr>]) -> PgResult<Rel> {
        if let [row] = rows {
            let exprs = columns.iter().zip(row).map(|((c, _), e)| (*c, e.clone())).collect();
            return Ok(Rel::Project { input: Box::new(Rel::One), exprs });
        }
        let int = SqlType::new(PgType::Int4);
        let equal = Registry::get()
            .operators("=")
            .iter()
            .find(|o| o.left.as_ref() == Some(&PgType::Int4) && o.right == PgType::Int4)
            .cloned()
            .ok_or_else(|| PgError::internal("equality of integers is missing"))?;
        let number = self.fresh();
        let nth = |n: usize| Expr::new(ExprKind::Const(ScalarValue::Int32(i32::try_from(n).ok())), int.clone());
        let exprs = columns
            .iter()
            .enumerate()
            .map(|(i, (column, ty))| {
                let whens = rows.iter().enumerate().filter_map(|(n, row)| {
                    let args = vec![Expr::column(number, int.clone()), nth(n)];
                    let is_nth = Expr::new(ExprKind::Oper { oper: OperRef(equal.clone()), args }, SqlType::new(PgType::Bool));
                    Some((is_nth, row.get(i)?.clone()))
                });
                (*column, Expr::new(ExprKind::Case { whens: whens.collect(), otherwise: None }, ty.clone()))
            })
            .collect();
        let numbers = Rel::Values { columns: vec![(number, int.clone())], rows: (0..rows.len()).map(|n| vec![nth(n)]).collect() };
        Ok(Rel::Project { input: Box::new(numbers), exprs })
    }

    async fn plan_filter(&self, input: &Rel, predicate: &Expr) -> PgResult<LogicalPlan> {
        let conjuncts = match &predicate.kind {
            ExprKind::And(parts) => parts.clone(),
            _ => vec![predicate.clone()],
        };
        let mut rel = input.clone();
        let mut rest = Vec::new();
        let mut subqueries = Vec::new();
        for conjunct in conjuncts {
            let mut has_subquery = false;
            walk::visit_subqueries(&conjunct, &mut |_| has_subquery = true);
            if has_subquery { subqueries.push(conjunct) } else { rest.push(conjunct) }
        }
        // Plain conditions go below the joins that subqueries become.
        if !rest.is_empty() && !subqueries.is_empty() {
            rel = Rel::Filter { input: Box::new(rel), predicate: conjunction(std::mem::take(&mut rest)) };
        }
        for conjunct in subqueries {
            match decorrelate::as_join(rel, &conjunct) {
                Ok(joined) => rel = joined,
                Err(back) => {
                    rel = back;
                    rest.push(conjunct);
                }
            }
        }
        // A volatile condition is asked for the rows that are there, and not for those from which they are made.
        let (volatile, mut rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(walk_volatile);
        if !volatile.is_empty() {
            if !rest.is_empty() {
                rel = filtered(rel, conjunction(rest));
            }
            return self.plan_volatile_filter(&rel, volatile).await;
        }
        if filter_barrier::contradict(&rest) {
            rest = vec![stoa_sql::bind::function::bool_const(false)];
        }
        if rest.is_empty() {
            return self.plan(&rel).await;
        }
        let plan = self.plan_with(&rel, &mut rest).await?;
        let condition = self.exprs().all(&rest)?;
        LogicalPlanBuilder::from(plan).filter(condition).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
    }

    async fn plan_volatile_filter(&self, input: &Rel, mut conditions: Vec<Expr>) -> PgResult<LogicalPlan> {
        let plan = self.plan_with(input, &mut conditions).await?;
        let planner = self.clone();
        let make: MakeExec = Arc::new(move |mut inputs| {
            let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("a filter has one input".into())) };
            let condition = planner.exprs().all(&conditions)?;
            let schema = DFSchema::try_from(input.schema().as_ref().clone())?;
            let condition = create_physical_expr(&condition, &schema, &ExecutionProps::new(), &PhysicalPlanningContext::default())?;
            Ok(Arc::new(FilterExec::try_new(condition, input)?))
        });
        extend("Filter".into(), plan, &[], make)
    }

    /// A LATERAL side without the columns that nobody reads: what only they use of the left side does not make it depend on it. One that
    /// may have other rows each time stays as it is, and is run for each row.
    fn read_part<'r>(&self, rel: &'r Rel, lateral: bool) -> Cow<'r, Rel> {
        let read = if lateral && walk::is_steady(rel) { self.without_unread(rel) } else { None };
        read.map_or(Cow::Borrowed(rel), Cow::Owned)
    }

    /// The relation without columns that nobody reads; none if it has none.
    fn without_unread(&self, rel: &Rel) -> Option<Rel> {
        let mut read = match rel {
            Rel::Limit { input, .. } | Rel::Sort { input, .. } | Rel::Filter { input, .. } => {
                let below = self.without_unread(input)?;
                let mut read = rel.clone();
                if let Rel::Limit { input, .. } | Rel::Sort { input, .. } | Rel::Filter { input, .. } = &mut read {
                    **input = below;
                }
                return Some(read);
            }
            Rel::Project { exprs, .. } if exprs.iter().any(|(c, _)| !self.is_used(*c)) => rel.clone(),
            _ => return None,
        };
        if let Rel::Project { exprs, .. } = &mut read {
            exprs.retain(|(c, _)| self.is_used(*c));
        }
        Some(read)
    }

    async fn plan_join(&self, left: &Rel, right: &Rel, kind: JoinKind, on: Option<&Expr>, lateral: bool) -> PgResult<LogicalPlan> {
        let right = &*self.read_part(right, lateral);
        if lateral {
            let given = decorrelate::given_columns(left);
            let free: Vec<ColId> = walk::free_columns(right).into_iter().filter(|c| given.contains(c)).collect();
            if !free.is_empty() {
                return self.plan_lateral(left, right, kind, on).await;
            }
        }
        let mut conditions: Vec<Expr> = match on.map(|e| &e.kind) {
            Some(ExprKind::And(parts)) => parts.clone(),
            Some(_) => on.cloned().into_iter().collect(),
            None => Vec::new(),
        };
        let mut left_rel = left.clone();
        let mut right_rel = right.clone();
        // Subqueries in ON: of an inner join they may stand in a filter above; else they become columns of the side they are about.
        let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
        let mut has_subquery = false;
        for c in &conditions {
            walk::visit_subqueries(c, &mut |_| has_subquery = true);
        }
        if has_subquery {
            if kind == JoinKind::Inner {
                let rel = Rel::Join { left: Box::new(left_rel), right: Box::new(right_rel), kind, on: None, lateral: false };
                return self.plan_filter(&rel, &conjunction(conditions)).await;
            }
            let (in_left, in_right) = (decorrelate::given_columns(left), decorrelate::given_columns(right));
            let about = |c: &Expr| {
                let used = decorrelate::columns_of_subqueries(c);
                (used.iter().any(|u| in_left.contains(u)), used.iter().any(|u| in_right.contains(u)))
            };
            if conditions.iter().any(|c| about(c) == (true, true)) {
                return self.plan_outer_join_by_row(left, right, kind, conditions).await;
            }
            for c in &mut conditions {
                if about(c).1 {
                    right_rel = self.lift(right_rel, c, &mut of_right, false).await?;
                } else {
                    left_rel = self.lift(left_rel, c, &mut of_left, false).await?;
                }
            }
        }
        let mut left_plan = self.plan(&left_rel).await?;
        for apply in of_left {
            left_plan = apply::plan_value(self, left_plan, apply)?;
        }
        let mut right_plan = self.plan(&right_rel).await?;
        for apply in of_right {
            right_plan = apply::plan_value(self, right_plan, apply)?;
        }
        let exprs = self.exprs();
        let conditions = conditions.iter().map(|c| exprs.test(c)).collect::<PgResult<Vec<_>>>()?;
        let join_type = match kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
            JoinKind::Semi => JoinType::LeftSemi,
            JoinKind::Anti => JoinType::LeftAnti,
        };
        if conditions.is_empty() && kind == JoinKind::Inner {
            return LogicalPlanBuilder::from(left_plan).cross_join(right_plan).and_then(LogicalPlanBuilder::build).map_err(from_datafusion);
        }
        let conditions = if conditions.is_empty() { vec![DfExpr::Literal(ScalarValue::Boolean(Some(true)), None)] } else { conditions };
        LogicalPlanBuilder::from(left_plan)
            .join_on(right_plan, join_type, conditions)
            .and_then(LogicalPlanBuilder::build)
            .map_err(from_datafusion)
    }

    /// An outer join whose condition has a subquery over both sides: the other side is filtered for each row of the one that is kept.
    async fn plan_outer_join_by_row(&self, left: &Rel, right: &Rel, kind: JoinKind, conditions: Vec<Expr>) -> PgResult<LogicalPlan> {
        let on = conjunction(conditions);
        let (kept, other) = match kind {
            JoinKind::Left | JoinKind::Full => (left, right),
            JoinKind::Right => (right, left),
            _ => return Err(PgError::internal("a subquery in the condition of this join")),
        };
        if kind != JoinKind::Full {
            let rel = filtered(other.clone(), on);
            return apply::plan_lateral(self, self.plan(kept).await?, rel, self.columns_given(other), true);
        }
        // Left rows with their matches, and right rows that have none.
        let (of_left, of_right) = (self.columns_given(left), self.columns_given(right));
        let first = Rel::Join {
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
            kind: JoinKind::Left,
            on: Some(on.clone()),
            lateral: false,
        };
        let exists = Query { rel: filtered(left.clone(), on), outputs: Vec::new() };
        let bool_type = SqlType::new(PgType::Bool);
        let none = Expr::new(ExprKind::Not(Box::new(Expr::new(ExprKind::Exists(Box::new(exists)), bool_type.clone()))), bool_type);
        let mut list = Vec::with_capacity(of_left.len() + of_right.len());
        for (_, ty) in &of_left {
            let null = ScalarValue::try_from(&ty.arrow).map_err(from_datafusion)?;
            list.push((self.fresh(), Expr::new(ExprKind::Const(null), ty.clone())));
        }
        list.extend(of_right.iter().map(|(c, ty)| (*c, Expr::column(*c, ty.clone()))));
        let columns: Vec<(ColId, SqlType)> = of_left.into_iter().chain(of_right).collect();
        let right_columns = list.iter().map(|(c, _)| *c).collect();
        let second = Rel::Project { input: Box::new(filtered(right.clone(), none)), exprs: list };
        let union = Rel::SetOp {
            op: SetOp::Union,
            all: true,
            left: Box::new(first),
            left_columns: columns.iter().map(|(c, _)| *c).collect(),
            right: Box::new(second),
            right_columns,
            columns,
        };
        self.plan(&union).await
    }

    /// The columns of a relation that anything uses, with their types.
    pub(crate) fn columns_given(&self, rel: &Rel) -> Vec<(ColId, SqlType)> {
        let mut given: Vec<ColId> = decorrelate::given_columns(rel).into_iter().filter(|c| self.is_used(*c)).collect();
        given.sort();
        given.into_iter().filter_map(|c| type_of_column(rel, c).map(|ty| (c, ty))).collect()
    }

    /// The right side is run for each distinct row of what it uses of the left, unless it is a function or a join says the same.
    async fn plan_lateral(&self, left: &Rel, right: &Rel, kind: JoinKind, on: Option<&Expr>) -> PgResult<LogicalPlan> {
        // A function of left columns only adds rows.
        if let Rel::ProjectSet { input, sets, outer: false, ordinality } = right
            && matches!(**input, Rel::One)
        {
            let trivial = on.is_none_or(|e| matches!(e.kind, ExprKind::Const(ScalarValue::Boolean(Some(true)))));
            let outer = kind == JoinKind::Left;
            if kind == JoinKind::Inner || (outer && trivial) {
                let rel = Rel::ProjectSet { input: Box::new(left.clone()), sets: sets.clone(), outer, ordinality: *ordinality };
                return match on {
                    Some(on) if !trivial => self.plan_filter(&rel, on).await,
                    _ => self.plan(&rel).await,
                };
            }
        }
        // Expressions of the left's row.
        if let Rel::Project { input, exprs } = right
            && matches!(**input, Rel::One)
            && kind == JoinKind::Inner
        {
            let mut all: Vec<(ColId, Expr)> = Vec::new();
            for c in decorrelate::given_columns(left) {
                if let Some(ty) = type_of_column(left, c).filter(|_| self.is_used(c)) {
                    all.push((c, Expr::column(c, ty)));
                }
            }
            all.sort_by_key(|(c, _)| *c);
            all.extend(exprs.iter().cloned());
            let rel = Rel::Project { input: Box::new(left.clone()), exprs: all };
            return match on {
                Some(on) => self.plan_filter(&rel, on).await,
                None => self.plan(&rel).await,
            };
        }
        let mut needed: HashSet<ColId> = decorrelate::given_columns(right);
        if let Some((inner, conditions)) = decorrelate::pull_correlation(right, &mut needed, false)
            && !matches!(right, Rel::Sort { .. })
        {
            let mut all = conditions;
            all.extend(on.cloned());
            let on = if all.is_empty() { None } else { Some(conjunction(all)) };
            let joined = Rel::Join { left: Box::new(left.clone()), right: Box::new(inner), kind, on, lateral: false };
            return self.plan(&joined).await;
        }
        let left_plan = self.plan(left).await?;
        let columns = self.columns_given(right);
        // The condition is part of what is run for each row.
        let inner = match on {
            Some(on) => filtered(right.clone(), on.clone()),
            None => right.clone(),
        };
        apply::plan_lateral(self, left_plan, inner, columns, kind == JoinKind::Left)
    }

    async fn plan_limit(
        &self,
        input: &Rel,
        offset: Option<&Expr>,
        fetch: Option<&Expr>,
        ties: Option<&[SortKey]>,
    ) -> PgResult<LogicalPlan> {
        let (skip, fetch) = self.offset_and_limit(offset, fetch).await?;
        let plan = match input {
            // No more rows are locked than are wanted.
            Rel::Lock { input, scans, strength, wait } if ties.is_none() => {
                let plan = self.plan(input).await?;
                let wanted = fetch.map(|rows| rows.saturating_add(skip));
                stoa_exec::nodes::lock_rows::plan(&self.ctx, plan, RowLocks::new(input, scans, *strength, *wait), wanted)?
            }
            _ => self.plan(input).await?,
        };
        let (Some(keys), Some(fetch_rows)) = (ties, fetch) else {
            let skip = if fetch == Some(0) { 0 } else { skip };
            // DataFusion's limits are signed; no rows reach one that is larger.
            let given = match fetch.map(|rows| rows.saturating_add(skip)) {
                Some(rows) if i64::try_from(rows).is_ok() => {
                    LogicalPlanBuilder::from(plan).limit(0, Some(rows)).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?
                }
                _ => plan,
            };
            return if skip > 0 { skip_rows::plan(given, skip) } else { Ok(given) };
        };
        // Rows whose rank is within the limit, and then the offset.
        let rank = self.fresh();
        let exprs: Vec<Expr> = keys.iter().map(|k| k.expr.clone()).collect();
        let sort = self.sort_exprs(keys, &exprs)?;
        let columns: Vec<DfExpr> = plan.schema().columns().into_iter().map(DfExpr::Column).collect();
        let window = super::window::ranking("rank", Vec::new(), sort.clone());
        let limit = DfExpr::Literal(ScalarValue::UInt64(Some((skip + fetch_rows) as u64)), None);
        let ranked = super::window::windowed(plan, vec![(rank, window)]).map_err(from_datafusion)?;
        let within = LogicalPlanBuilder::from(ranked)
            .filter(binary(column(rank), Operator::LtEq, limit))
            .and_then(|b| b.sort(sort))
            .and_then(LogicalPlanBuilder::build)
            .map_err(from_datafusion)?;
        let given = if skip > 0 { skip_rows::plan(within, skip)? } else { within };
        LogicalPlanBuilder::from(given).project(columns).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
    }

    /// Rows to leave out, and how many to give then.
    pub(super) async fn offset_and_limit(&self, offset: Option<&Expr>, fetch: Option<&Expr>) -> PgResult<(usize, Option<usize>)> {
        let skip = self.count(offset, SqlState::INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE, "OFFSET").await?.unwrap_or(0);
        Ok((skip, self.count(fetch, SqlState::INVALID_ROW_COUNT_IN_LIMIT_CLAUSE, "LIMIT").await?))
    }

    /// The number that LIMIT or OFFSET says; NULL is none.
    async fn count(&self, e: Option<&Expr>, code: SqlState, word: &str) -> PgResult<Option<usize>> {
        let Some(e) = e else { return Ok(None) };
        let value = self.constant(e).await?;
        match value {
            ScalarValue::Int64(Some(n)) => {
                usize::try_from(n).map(Some).map_err(|_| PgError::new(code, format!("{word} must not be negative")))
            }
            _ => Ok(None),
        }
    }

    /// Removes duplicates by PostgreSQL's equality; the plan keeps only these columns.
    pub(crate) fn distinct(&self, plan: LogicalPlan, columns: &[(ColId, SqlType)]) -> PgResult<LogicalPlan> {
        let plain: Vec<DfExpr> = columns.iter().map(|(c, _)| column(*c)).collect();
        if columns.is_empty() {
            return LogicalPlanBuilder::from(plan).limit(0, Some(1)).and_then(LogicalPlanBuilder::build).map_err(from_datafusion);
        }
        if columns.iter().all(|(_, ty)| ty.has_native_order()) {
            return LogicalPlanBuilder::from(plan)
                .project(plain.clone())
                .and_then(|b| b.aggregate(plain, Vec::<DfExpr>::new()))
                .and_then(LogicalPlanBuilder::build)
                .map_err(from_datafusion);
        }
        let exprs = self.exprs();
        let keys: Vec<DfExpr> = columns.iter().map(|(c, ty)| exprs.key_of(column(*c), ty)).collect();
        let number = self.fresh();
        let window = super::window::ranking("row_number", keys, Vec::new());
        let one = DfExpr::Literal(ScalarValue::UInt64(Some(1)), None);
        let numbered = super::window::windowed(plan, vec![(number, window)]).map_err(from_datafusion)?;
        LogicalPlanBuilder::from(numbered)
            .filter(binary(column(number), Operator::Eq, one))
            .and_then(|b| b.project(plain))
            .and_then(LogicalPlanBuilder::build)
            .map_err(from_datafusion)
    }

    async fn plan_distinct_on(&self, input: &Rel, on: &[Expr], order: &[SortKey]) -> PgResult<LogicalPlan> {
        let plan = self.plan(input).await?;
        let exprs = self.exprs();
        let columns: Vec<DfExpr> = plan.schema().columns().into_iter().map(DfExpr::Column).collect();
        let partition = on.iter().map(|e| exprs.sort_key(e)).collect::<PgResult<Vec<_>>>()?;
        let keys: Vec<Expr> = order.iter().map(|k| k.expr.clone()).collect();
        let sort = self.sort_exprs(order, &keys)?;
        let number = self.fresh();
        let window = super::window::ranking("row_number", partition, sort.clone());
        let one = DfExpr::Literal(ScalarValue::UInt64(Some(1)), None);
        let numbered = super::window::windowed(plan, vec![(number, window)]).map_err(from_datafusion)?;
        LogicalPlanBuilder::from(numbered)
            .filter(binary(column(number), Operator::Eq, one))
            .and_then(|b| b.sort(sort))
            .and_then(|b| b.project(columns))
            .and_then(LogicalPlanBuilder::build)
            .map_err(from_datafusion)
    }

    fn plan_cte_scan(&self, cte: CteId, columns: &[(ColId, ColId, SqlType)]) -> PgResult<LogicalPlan> {
        let rows = self.ctes.get(&cte).ok_or_else(|| PgError::internal("a CTE that was not computed"))?;
        let fields: Vec<Field> = columns.iter().map(|(c, _, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut positions = Vec::with_capacity(columns.len());
        for (_, source, _) in columns {
            let at = rows.columns.iter().position(|c| c == source).ok_or_else(|| PgError::internal("a CTE without the column"))?;
            positions.push(at);
        }
        let scanned = |rows: Rows, positions: Vec<usize>, schema: SchemaRef| -> PgResult<LogicalPlan> {
            let df_schema = Arc::new(DFSchema::try_from(schema.as_ref().clone()).map_err(from_datafusion)?);
            let above = df_schema.fields().iter().map(|f| f.name().clone()).collect();
            let make: MakeExec =
                Arc::new(move |_| Ok(Arc::new(WorkingTableExec::new(rows.clone(), positions.clone(), Arc::clone(&schema)))));
            Ok(StoaNode::plan("Working table".into(), Vec::new(), df_schema, above, make))
        };
        let all = match &rows.rows {
            CteRows::All(all) => all,
            CteRows::Working(round) => return scanned(Rows::Round(Arc::clone(round)), positions, schema),
            CteRows::OnDemand(rows) => return scanned(Rows::OnDemand(Arc::clone(rows)), positions, schema),
        };
        let mut batches = Vec::with_capacity(all.len());
        for batch in all.iter() {
            let arrays = positions.iter().map(|p| batch.column(*p).clone()).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            batches.push(RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?);
        }
        memory_scan(schema, batches)
    }
}

#[async_trait]
impl Subqueries for Planner {
    fn fresh(&self) -> ColId {
        Planner::fresh(self)
    }

    async fn run(&self, rel: &Rel, columns: &[ColId]) -> PgResult<Vec<RecordBatch>> {
        Planner::run(self, rel, columns).await
    }

    fn share(&self) -> Arc<dyn Subqueries> {
        Arc::new(self.clone())
    }
}

fn filtered(input: Rel, predicate: Expr) -> Rel {
    Rel::Filter { input: Box::new(input), predicate }
}

/// Rows in memory as a plan.
pub fn memory_scan(schema: SchemaRef, batches: Vec<RecordBatch>) -> PgResult<LogicalPlan> {
    let table = MemTable::try_new(schema, vec![batches]).map_err(from_datafusion)?;
    LogicalPlanBuilder::scan("memory", provider_as_source(Arc::new(table)), None)
        .and_then(|b| {
            // Columns stand without a qualifier everywhere.
            let exprs: Vec<DfExpr> = b
                .schema()
                .columns()
                .into_iter()
                .map(|c| {
                    let name = c.name.clone();
                    DfExpr::Column(c).alias(name)
                })
                .collect();
            b.project(exprs)
        })
        .and_then(LogicalPlanBuilder::build)
        .map_err(from_datafusion)
}

/// Only these columns, in this order.
pub fn select_columns(plan: LogicalPlan, columns: &[ColId]) -> PgResult<LogicalPlan> {
    if columns.is_empty() {
        return Ok(plan);
    }
    let exprs: Vec<DfExpr> = columns.iter().map(|c| column(*c)).collect();
    LogicalPlanBuilder::from(plan).project(exprs).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
}

/// The value of a subquery's only row; NULL for none.
fn only_value(rows: &[RecordBatch], ty: &SqlType) -> PgResult<ScalarValue> {
    if rows.iter().map(RecordBatch::num_rows).sum::<usize>() > 1 {
        return Err(too_many_rows());
    }
    match rows.iter().find(|b| b.num_rows() > 0) {
        Some(batch) => ScalarValue::try_from_array(batch.column(0), 0).map_err(from_datafusion),
        None => ScalarValue::try_from(&ty.arrow).map_err(from_datafusion),
    }
}

fn int8(n: i64) -> Expr {
    Expr::new(ExprKind::Const(ScalarValue::Int64(Some(n))), SqlType::new(PgType::Int8))
}
