//! Execution of bound statements: CTEs first, then the body, as a stream of batches.

use super::advise::Advice;
use super::compiled::{Compiled, CompiledRows, Ctes, PlanCache, simple_scan};
use super::readable::{Names, related, render, tree};
use super::relation::{CteRows, Materialized, Planner, select_columns};
use super::rules;
use crate::plan::explain::{ExplainFormat, ExplainOptions};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionState;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, execute_stream};
use futures::stream::{BoxStream, StreamExt};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stoa_exec::datafusion_faults::{in_order, options};
use stoa_exec::node::StoaQueryPlanner;
use stoa_exec::nodes::StatementContext;
use stoa_exec::nodes::source::task;
use stoa_exec::nodes::working_table::RowsOnDemand;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::aggregate::walk_effects;
use stoa_sql::typed::from_datafusion;
use stoa_sql::typed::tree::{Bound, BoundBody, ColId, CteBody, CteId, Expr, Mutation, MutationKind, OnConflict, Query, Rel};
use stoa_sql::typed::walk;

/// What a statement gave: rows (possibly none) and, for statements that change rows, how many.
pub struct Executed {
    pub stream: BoxStream<'static, PgResult<RecordBatch>>,
    pub count: u64,
}

/// DataFusion's state for the statements of a database: rules, functions, memory and spill files. Nothing in it changes from one
/// statement to the next.
pub(crate) fn database_state(parallelism: usize, batch_rows: usize, runtime: Arc<RuntimeEnv>) -> Arc<SessionState> {
    let config = options::config(parallelism, batch_rows, runtime.memory_pool.memory_limit());
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_query_planner(Arc::new(StoaQueryPlanner))
        .with_analyzer_rules(rules::analyzer())
        .with_optimizer_rules(rules::logical())
        .with_physical_optimizer_rules(rules::physical())
        .with_config(config)
        .with_runtime_env(runtime)
        .build();
    Arc::new(state)
}

/// The same state for plans that are executed again and again: no part of them learns from the rows that another part has met.
pub(crate) fn rounds_state(state: &SessionState) -> Arc<SessionState> {
    let config = options::for_rounds(state.config());
    Arc::new(SessionStateBuilder::new_from_existing(state.clone()).with_config(config).build())
}

/// Optimizes a logical plan and plans it physically.
pub(crate) async fn physical(ctx: &StatementContext, plan: LogicalPlan) -> PgResult<Arc<dyn ExecutionPlan>> {
    physical_in(ctx, &ctx.database.state, plan).await
}

/// As [`physical`], by the rules of a state.
pub(crate) async fn physical_in(ctx: &StatementContext, state: &Arc<SessionState>, plan: LogicalPlan) -> PgResult<Arc<dyn ExecutionPlan>> {
    let settings = ctx.session.settings();
    let state = &match settings.raw(rules::DISABLED) {
        None | Some("") => Arc::clone(state),
        Some(list) => rules::without(state, list),
    };
    let optimized = state.optimize(&plan).map_err(from_datafusion)?;
    let physical = state.query_planner().create_physical_plan(&optimized, state.as_ref()).await.map_err(from_datafusion)?;
    Ok(physical)
}

/// Runs a plan to its end.
pub(crate) async fn collect(ctx: &StatementContext, plan: LogicalPlan) -> PgResult<Vec<RecordBatch>> {
    let physical = physical(ctx, plan).await?;
    datafusion::physical_plan::collect(physical, task(ctx)).await.map_err(from_datafusion)
}

/// Starts a plan.
pub(crate) async fn start(ctx: &StatementContext, plan: LogicalPlan) -> PgResult<SendableRecordBatchStream> {
    let physical = physical(ctx, plan).await?;
    in_order::stream(physical, &task(ctx)).map_err(from_datafusion)
}

/// Executes a bound statement.
///
/// # Errors
/// What planning raises, and what statements that change rows raise; errors of reading come in the stream.
pub async fn execute(ctx: &StatementContext, bound: &Bound) -> PgResult<Executed> {
    execute_cached(ctx, bound, &PlanCache::default()).await
}

/// As [`execute`], for some of the rows of a statement: what depends on rows that are still to come waits for [`stoa_exec::write::finish`].
///
/// # Errors
/// As [`execute`].
pub(crate) async fn execute_part(ctx: &StatementContext, bound: &Bound) -> PgResult<Executed> {
    let cache = PlanCache::default();
    ctx.session.before_blocking().await;
    ctx.session.admit().await;
    stoa_exec::write::with_retry(ctx, false, || once(ctx, bound, &cache)).await
}

/// As [`execute`], for a statement that is executed more than once.
///
/// # Errors
/// As [`execute`].
pub(crate) async fn execute_cached(ctx: &StatementContext, bound: &Bound, cache: &PlanCache) -> PgResult<Executed> {
    if let Some(view) = &bound.unpopulated {
        return Err(unpopulated(view));
    }
    let inline = super::compiled::is_inline(bound, cache, ctx.session.settings(), &ctx.database.text, &ctx.catalog)
        && super::compiled::readies_sequences(ctx, cache.sequences(|| super::compiled::sequences(bound))).await?;
    if !inline {
        ctx.session.before_blocking().await;
        ctx.session.admit().await;
    }
    if !cache.changes_rows(|| changes_rows(bound)) {
        return once(ctx, bound, cache).await;
    }
    // A row that was changed behind the snapshot makes the statement run again on a newer one.
    stoa_exec::write::with_retry(ctx, true, || once(ctx, bound, cache)).await
}

fn unpopulated(view: &str) -> PgError {
    PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("materialized view \"{view}\" has not been populated"))
        .hint("Use the REFRESH MATERIALIZED VIEW command.")
}

async fn once(ctx: &StatementContext, bound: &Bound, cache: &PlanCache) -> PgResult<Executed> {
    if matches!(bound.body, BoundBody::Query(_)) && bound.ctes.is_empty() {
        let compiled = cache.compiled(bound, ctx.session.settings(), &ctx.database.text)?;
        match compiled.run(ctx, &Ctes::default()).await? {
            Some(CompiledRows::Rows(rows)) => return Ok(Executed { stream: futures::stream::iter(rows.map(Ok)).boxed(), count: 0 }),
            Some(CompiledRows::Unsuitable) => {
                ctx.session.before_blocking().await;
                ctx.session.admit().await;
            }
            None => {}
        }
    }
    // Boxed, so that the future of a read by key stays small.
    Box::pin(async {
        let planner = match bound.ctes.is_empty() {
            true => Planner::new(ctx.clone(), Arc::default(), cache.used(bound), true),
            false => {
                let compiled = cache.compiled(bound, ctx.session.settings(), &ctx.database.text)?;
                let planner = Box::pin(prepare(ctx, bound, cache.used(bound), Some(&compiled))).await?;
                if matches!(bound.body, BoundBody::Query(_))
                    && let Some(CompiledRows::Rows(rows)) = compiled.run(ctx, &planner.ctes).await?
                {
                    return Ok(Executed { stream: futures::stream::iter(rows.map(Ok)).boxed(), count: 0 });
                }
                planner
            }
        };
        match &bound.body {
            BoundBody::Query(query) => Box::pin(run_query(&planner, query)).await,
            BoundBody::Mutation(m) => {
                let compiled = cache.compiled(bound, ctx.session.settings(), &ctx.database.text)?;
                mutate(&planner, m, compiled).await
            }
        }
    })
    .await
}

/// Whether the statement writes, or locks rows.
fn changes_rows(bound: &Bound) -> bool {
    if matches!(bound.body, BoundBody::Mutation(_)) || bound.ctes.iter().any(|c| matches!(c.body, CteBody::Mutation(_))) {
        return true;
    }
    let mut locks = false;
    if let BoundBody::Query(q) = &bound.body {
        walk::visit_all(&q.rel, &mut |r| locks |= matches!(r, Rel::Lock { .. }));
    }
    locks
}

/// Computes the CTEs, unless they are not to be run, and gives the planner that knows them.
async fn prepare(ctx: &StatementContext, bound: &Bound, used: Arc<HashSet<ColId>>, run: Option<&Compiled>) -> PgResult<Planner> {
    let mut ctes: HashMap<CteId, Materialized> = HashMap::new();
    for (at, cte) in bound.ctes.iter().enumerate() {
        let planner = Planner::new(ctx.clone(), Arc::new(ctes.clone()), Arc::clone(&used), run.is_some());
        let columns: Vec<ColId> = cte.columns.iter().map(|(c, _)| *c).collect();
        let batches = match (&cte.body, run) {
            (_, None) => Vec::new(),
            (CteBody::Query(rel), Some(compiled)) => match compute(&planner, rel, &columns, compiled.ctes.get(at)).await {
                Ok(Some(batches)) => batches,
                Err(error) if !is_of_a_value(&error) => return Err(error),
                // An error of a value counts when a reader comes to it, which may be never.
                Ok(None) | Err(_) => {
                    let plan = physical(ctx, select_columns(planner.plan(rel).await?, &columns)?).await?;
                    let schema = plan.schema();
                    let rows = CteRows::OnDemand(Arc::new(RowsOnDemand::new(plan, task(ctx))));
                    ctes.insert(cte.id, Materialized { columns, schema, rows });
                    continue;
                }
            },
            (CteBody::Mutation(m), Some(compiled)) => {
                let executed = mutate(&planner, m, compiled.ctes.get(at).cloned().unwrap_or_default()).await?;
                executed.stream.collect::<Vec<_>>().await.into_iter().collect::<PgResult<Vec<_>>>()?
            }
        };
        let schema = match batches.first() {
            Some(batch) => batch.schema(),
            None => empty_schema(&cte.columns),
        };
        ctes.insert(cte.id, Materialized { columns, schema, rows: CteRows::All(Arc::new(batches)) });
    }
    Ok(Planner::new(ctx.clone(), Arc::new(ctes), used, run.is_some()))
}

/// All rows of a query of WITH; none if they are better made as readers ask for them.
async fn compute(planner: &Planner, rel: &Rel, columns: &[ColId], compiled: Option<&Compiled>) -> PgResult<Option<Vec<RecordBatch>>> {
    let few = match compiled {
        Some(compiled) => compiled.run(&planner.ctx, &planner.ctes).await?,
        None => None,
    };
    match few {
        Some(CompiledRows::Rows(rows)) => Ok(Some(rows.into_iter().collect())),
        _ if makes_rows(rel) => Ok(None),
        _ => planner.run(rel, columns).await.map(Some),
    }
}

/// Whether an error comes of the values of rows.
fn is_of_a_value(error: &PgError) -> bool {
    let code = error.code();
    code.as_str().starts_with("22") || code == SqlState::CARDINALITY_VIOLATION
}

/// Whether a query of WITH makes rows that no table has, of which there may be more than anybody wants.
fn makes_rows(rel: &Rel) -> bool {
    let mut makes = false;
    walk::visit_all(rel, &mut |node| makes |= matches!(node, Rel::Recursive { .. } | Rel::ProjectSet { .. }));
    makes
}

fn empty_schema(columns: &[(ColId, stoa_pg::SqlType)]) -> SchemaRef {
    let fields: Vec<arrow::datatypes::Field> =
        columns.iter().map(|(c, ty)| arrow::datatypes::Field::new(stoa_sql::typed::column_name(*c), ty.arrow.clone(), true)).collect();
    Arc::new(arrow::datatypes::Schema::new(fields))
}

async fn run_query(planner: &Planner, query: &Query) -> PgResult<Executed> {
    let columns: Vec<ColId> = query.outputs.iter().map(|o| o.col).collect();
    if let Some(stream) = simple_scan::start(planner, &query.rel, Some(&columns)).await? {
        return Ok(Executed { stream, count: 0 });
    }
    let plan = planner.plan(&query.rel).await?;
    let plan = if columns.is_empty() { plan } else { select_repeated(plan, &columns)? };
    let stream = start(&planner.ctx, plan).await?.map(|b| b.map_err(from_datafusion)).boxed();
    // Rows are locked before the first is shown.
    let mut locks = false;
    walk::visit_all(&query.rel, &mut |r| locks |= matches!(r, Rel::Lock { .. }));
    let stream = if locks {
        let rows = stream.collect::<Vec<_>>().await.into_iter().collect::<PgResult<Vec<_>>>()?;
        futures::stream::iter(rows.into_iter().map(Ok)).boxed()
    } else {
        stream
    };
    Ok(Executed { stream, count: 0 })
}

/// The columns in order, where one may come more than once.
fn select_repeated(plan: LogicalPlan, columns: &[ColId]) -> PgResult<LogicalPlan> {
    let mut seen = HashSet::new();
    if columns.iter().all(|c| seen.insert(*c)) {
        return select_columns(plan, columns);
    }
    let exprs: Vec<_> = columns
        .iter()
        .enumerate()
        .map(|(i, c)| stoa_sql::typed::expr::column(*c).alias(format!("{}_{i}", stoa_sql::typed::column_name(*c))))
        .collect();
    datafusion::logical_expr::LogicalPlanBuilder::from(plan)
        .project(exprs)
        .and_then(datafusion::logical_expr::LogicalPlanBuilder::build)
        .map_err(from_datafusion)
}

/// Runs a mutation: its source's rows go through the write path. `compiled` gives those rows, where the source is compiled.
async fn mutate(planner: &Planner, mutation: &Mutation, compiled: Compiled) -> PgResult<Executed> {
    let ctx = &planner.ctx;
    let rows = match &compiled.query {
        Some(query) => query.run(ctx, &ctx.params, &planner.ctes).await?,
        None => CompiledRows::Unsuitable,
    };
    if matches!(rows, CompiledRows::Unsuitable) {
        ctx.session.before_blocking().await;
        ctx.session.admit().await;
    }
    let stream = if let CompiledRows::Rows(rows) = rows {
        futures::stream::iter(rows.map(Ok)).boxed()
    } else if let Some(stream) = simple_scan::start(planner, &mutation.source, None).await? {
        stream
    } else {
        let plan = planner.plan(&mutation.source).await?;
        // Boxed, as all that is rare, so that the futures of what changes one row are not moved by the page.
        Box::pin(start(ctx, plan)).await?.map(|b| b.map_err(from_datafusion)).boxed()
    };
    let applied = stoa_exec::write::apply(ctx, planner, mutation, stream).await?;
    let memory = applied.memory;
    let rows = futures::stream::iter(applied.returning).map(move |batch| {
        let _held = &memory;
        Ok(batch)
    });
    Ok(Executed { stream: rows.boxed(), count: applied.count })
}

/// Columns that anything in a statement uses.
pub(super) fn used_columns(bound: &Bound) -> HashSet<ColId> {
    let mut out = HashSet::new();
    for cte in &bound.ctes {
        out.extend(cte.columns.iter().map(|(c, _)| *c));
        match &cte.body {
            CteBody::Query(rel) => rel_columns(rel, &mut out),
            CteBody::Mutation(m) => mutation_columns(m, &mut out),
        }
    }
    match &bound.body {
        BoundBody::Query(q) => {
            out.extend(q.outputs.iter().map(|o| o.col));
            rel_columns(&q.rel, &mut out);
        }
        BoundBody::Mutation(m) => mutation_columns(m, &mut out),
    }
    out
}

fn expr_columns(e: &Expr, out: &mut HashSet<ColId>) {
    let mut used = Vec::new();
    walk::columns_of(e, &mut used);
    out.extend(used);
    walk::visit_subqueries(e, &mut |q| {
        out.extend(q.outputs.iter().map(|o| o.col));
        rel_columns(&q.rel, out);
    });
}

/// Every column that a relation's nodes use. A projection's column counts only if something above uses it, which is known
/// because the walk goes from the top down, or if its computation has effects.
fn rel_columns(rel: &Rel, out: &mut HashSet<ColId>) {
    match rel {
        Rel::Project { exprs, .. } => {
            let wanted: Vec<&(ColId, Expr)> = exprs.iter().filter(|(c, e)| out.contains(c) || walk_effects(e)).collect();
            for (c, e) in wanted {
                out.insert(*c);
                expr_columns(e, out);
            }
        }
        Rel::Aggregate { groups, aggregates, .. } => {
            for (_, e) in groups {
                expr_columns(e, out);
            }
            for (c, a) in aggregates {
                if out.contains(c) {
                    for e in a.args.iter().chain(a.order_by.iter().map(|k| &k.expr)).chain(a.filter.as_ref()) {
                        expr_columns(e, out);
                    }
                }
            }
        }
        Rel::SetOp { left_columns, right_columns, columns, .. } => {
            out.extend(left_columns.iter().chain(right_columns));
            out.extend(columns.iter().map(|(c, _)| *c));
        }
        Rel::Distinct { columns, .. } => out.extend(columns.iter().map(|(c, _)| *c)),
        Rel::Recursive { columns, base_columns, step_columns, .. } => {
            out.extend(columns.iter().map(|(c, _)| *c));
            out.extend(base_columns.iter().chain(step_columns));
        }
        Rel::CteScan { columns, .. } => out.extend(columns.iter().flat_map(|(a, b, _)| [*a, *b])),
        Rel::Values { columns, .. } => {
            out.extend(columns.iter().map(|(c, _)| *c));
            for e in walk::exprs_of(rel) {
                expr_columns(e, out);
            }
        }
        Rel::Lock { scans, .. } => {
            // Row keys are read to be locked.
            walk::visit_rel(rel, &mut |node| {
                if let Rel::Scan(scan) = node
                    && scans.contains(&scan.scan_id)
                {
                    out.extend(
                        scan.table.key_columns().filter_map(|p| scan.columns.iter().find(|(c, _)| *c == p.column).map(|(_, id)| *id)),
                    );
                }
            });
        }
        _ => {
            for e in walk::exprs_of(rel) {
                expr_columns(e, out);
            }
        }
    }
    // The right side of a join first: LATERAL uses columns of the left.
    for child in walk::children(rel).into_iter().rev() {
        rel_columns(child, out);
    }
}

fn mutation_columns(m: &Mutation, out: &mut HashSet<ColId>) {
    match &m.kind {
        MutationKind::Insert { columns, on_conflict } => {
            out.extend(columns.iter().map(|(_, c)| *c));
            if let OnConflict::DoUpdate { existing, excluded, .. } = on_conflict {
                out.extend(existing.iter().chain(excluded).map(|(_, c)| *c));
            }
        }
        MutationKind::Update { old, new } => out.extend(old.iter().chain(new).map(|(_, c)| *c)),
        MutationKind::Delete { old } | MutationKind::Merge { old, .. } => out.extend(old.iter().map(|(_, c)| *c)),
    }
    for e in walk::mutation_exprs(m) {
        expr_columns(e, out);
    }
    rel_columns(&m.source, out);
}

/// The plan of a statement as lines; with ANALYZE after it ran. Without values of its parameters it is the plan for any.
///
/// # Errors
/// As [`execute`].
pub async fn explain(ctx: &StatementContext, bound: &Bound, options: &ExplainOptions) -> PgResult<Vec<String>> {
    let names = Names::of(bound);
    let none = Compiled::default();
    let planner = prepare(ctx, bound, Arc::new(used_columns(bound)), options.analyze.then_some(&none)).await?;
    // The plans of WITH; of changes there none is shown.
    let mut with = Vec::with_capacity(bound.ctes.len());
    for cte in &bound.ctes {
        with.push(match &cte.body {
            CteBody::Query(rel) => Ok(physical(ctx, planner.plan(rel).await?).await?),
            CteBody::Mutation(m) => Err(m),
        });
    }
    let (rel, columns, mutation) = match &bound.body {
        BoundBody::Query(q) => (&q.rel, q.outputs.iter().map(|o| o.col).collect::<Vec<_>>(), None),
        BoundBody::Mutation(m) => (&*m.source, Vec::new(), Some(m)),
    };
    let plan = planner.plan(rel).await?;
    let plan = if columns.is_empty() { plan } else { select_repeated(plan, &columns)? };
    let physical_plan = physical(ctx, plan).await?;
    let mut done = None;
    if options.analyze {
        let started = std::time::Instant::now();
        let mut rows = 0;
        match &bound.body {
            BoundBody::Query(_) => {
                let mut stream = execute_stream(physical_plan.clone(), task(ctx)).map_err(from_datafusion)?;
                while let Some(batch) = stream.next().await {
                    rows += batch.map_err(from_datafusion)?.num_rows();
                }
            }
            BoundBody::Mutation(m) => {
                if bound.loads {
                    ctx.txn.load_at_commit();
                }
                let stream = execute_stream(physical_plan.clone(), task(ctx)).map_err(from_datafusion)?;
                let applied = stoa_exec::write::apply(ctx, &planner, m, stream.map(|b| b.map_err(from_datafusion)).boxed()).await?;
                stoa_exec::write::finish(ctx, true).await?;
                rows = applied.count as usize;
            }
        }
        done = Some((rows, started.elapsed().as_secs_f64() * 1000.0));
    }
    // What is done instead of the plan while there are few rows.
    let compiled = match PlanCache::default().compiled(bound, ctx.session.settings(), &ctx.database.text)?.query {
        Some(query) if !options.analyze && query.is_tree() => query.describe(),
        _ => Vec::new(),
    };
    let advice = if options.advise { super::advise::advise(&physical_plan)? } else { Vec::new() };
    let of_with = bound.ctes.iter().map(|cte| cte.name.as_str()).zip(&with);
    if options.format != ExplainFormat::Text {
        let mut top = tree(&physical_plan, &names, options);
        if let Some(m) = mutation {
            let input = related(std::mem::take(&mut top), "Outer");
            top = modifies(m);
            top.insert("Plans".into(), serde_json::json!([input]));
        }
        let subplans = of_with.map(|(name, plan)| {
            let keys = match plan {
                Ok(plan) => tree(plan, &names, options),
                Err(m) => modifies(m),
            };
            let mut keys = related(keys, "InitPlan");
            keys.insert("Subplan Name".into(), format!("CTE {name}").into());
            serde_json::Value::Object(keys)
        });
        let subplans: Vec<_> = subplans.collect();
        if !subplans.is_empty()
            && let serde_json::Value::Array(plans) = top.entry("Plans").or_insert_with(|| serde_json::Value::Array(Vec::new()))
        {
            plans.splice(..0, subplans);
        }
        let mut out = serde_json::Map::new();
        out.insert("Plan".into(), top.into());
        if !compiled.is_empty() {
            out.insert("While Rows Are Few".into(), compiled.into());
        }
        if let Some((rows, time)) = done {
            out.insert("Rows".into(), rows.into());
            if options.summary {
                out.insert("Execution Time".into(), super::readable::milliseconds(time));
            }
        }
        if options.advise {
            out.insert("Advice".into(), advice.iter().map(Advice::json).collect());
        }
        return Ok(vec![options.format.write(out)]);
    }
    let indented = |lines: Vec<String>| lines.into_iter().map(|line| format!("  {line}"));
    let mut lines = Vec::new();
    for (name, plan) in of_with {
        lines.push(format!("CTE {name}"));
        if let Ok(plan) = plan {
            lines.extend(indented(render(plan, &names, options)));
        }
    }
    match mutation {
        None => lines.extend(render(&physical_plan, &names, options)),
        Some(m) => {
            let loads = if bound.loads { ", bulk load" } else { "" };
            let counted = done.map(|(rows, _)| format!(" (rows={rows})")).unwrap_or_default();
            lines.push(format!("Mutate: {} on {}{loads}{counted}", verb_of(m), m.table.0.name));
            lines.extend(indented(render(&physical_plan, &names, options)));
        }
    }
    if let Some((rows, time)) = done {
        lines.push(format!("Rows: {rows}"));
        if options.summary {
            lines.push(format!("Execution Time: {time:.3} ms"));
        }
    }
    if !compiled.is_empty() {
        lines.push("While rows are few:".into());
        lines.extend(indented(compiled));
    }
    if options.advise && advice.is_empty() {
        lines.push("Advice: none; no index would make it much cheaper".into());
    }
    lines.extend(advice.iter().map(|a| format!("Advice: {a}")));
    Ok(lines)
}

/// What a statement does to a table.
fn verb_of(m: &Mutation) -> &'static str {
    match &m.kind {
        MutationKind::Insert { on_conflict: OnConflict::Replace { .. }, .. } => "Upsert",
        MutationKind::Insert { .. } => "Insert",
        MutationKind::Update { .. } => "Update",
        MutationKind::Delete { .. } => "Delete",
        MutationKind::Merge { .. } => "Merge",
    }
}

/// The node that changes rows, for programs.
fn modifies(m: &Mutation) -> serde_json::Map<String, serde_json::Value> {
    let keys = [("Node Type", "ModifyTable"), ("Operation", verb_of(m)), ("Relation Name", &m.table.0.name)];
    keys.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}
