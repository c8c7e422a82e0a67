//! A table of a query as DataFusion's planner takes it: the provider, with all that the choice of a path goes by.

use super::relation::Planner;
use datafusion::catalog::TableProvider;
use datafusion::common::ScalarValue;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{EmptyRelation, Expr, LogicalPlan, LogicalPlanBuilder};
use std::sync::Arc;
use stoa_exec::filter::predicate;
use stoa_exec::nodes::history::seen_at;
use stoa_exec::nodes::source::ScanContext;
use stoa_exec::nodes::table_provider::{OwnColumns, StoaTable};
use stoa_pg::values::datetime::epoch::to_unix_micros;
use stoa_pg::{EvalContext, PgError, PgResult, SqlState, SqlType};
use stoa_sql::bind::{BindContext, bind_table_expr};
use stoa_sql::typed::tree::{Expr as Typed, ExprKind, Rel, TableScan};
use stoa_sql::typed::{column_name, from_datafusion};
use stoa_table::Timestamp;
use stoa_table::access::{Predicate, Preferences};
use stoa_table::catalog::{ColumnId, IndexKey, TableDescriptor};
use stoa_table::clock::{Clock, SystemClock};
use stoa_table::row::expression_column;

/// The table of a scan, with everything that the choice of a path goes by: hints and settings, statistics, what partial and full
/// text indexes say. Its columns are those that the statement uses.
///
/// # Errors
/// `AS OF SYSTEM TIME` is no time, or one that the store has forgotten.
pub(crate) fn table_of(planner: &Planner, scan: &TableScan) -> PgResult<StoaTable> {
    let ctx = &planner.ctx;
    let columns: Vec<(ColumnId, String)> =
        scan.columns.iter().filter(|(_, col)| planner.is_used(*col)).map(|(id, col)| (*id, column_name(*col))).collect();
    let as_of = time_of(planner, scan)?.map(|value| system_time(planner, &value)).transpose()?;
    let context = Arc::new(if scan.sees_own { ScanContext::with_own(ctx) } else { ScanContext::of(ctx) });
    if as_of.is_some() && scan.table.location().is_some() {
        return Err(PgError::unsupported(format!("the past of \"{}\" is not known", scan.table.name))
            .detail("Other programs write its cells, with times of their own.")
            .hint("stoa shell reads versions of cells by their times: get 't', 'row', {COLUMN => 'f:q', VERSIONS => 3}."));
    }
    if let Some(at) = as_of {
        // A time that is forgotten is refused where it is written.
        context.view.as_of(at)?;
    }
    let predicates = index_predicates(planner, &scan.table)?;
    let preferences = {
        let settings = ctx.session.settings();
        Preferences::new(|name| settings.raw(name), &scan.hints)
    };
    let table = StoaTable::new(Arc::clone(&scan.table), &columns, context)?;
    let table = if scan.sees_own { table.in_its_context() } else { table };
    Ok(table
        .as_of(as_of)
        .with_index_predicates(predicates)
        .with_index_exprs(index_exprs(planner, &scan.table)?)
        .with_text_parts(text_parts(planner, &scan.table)?)
        .with_session(&ctx.session)
        .with_preferences(preferences)
        .with_statistics(ctx.database.statistics.of(scan.table.oid)))
}

/// The time as of which a table is read.
fn time_of(planner: &Planner, scan: &TableScan) -> PgResult<Option<ScalarValue>> {
    let Some(time) = &scan.as_of else { return Ok(None) };
    let value = stoa_sql::typed::constant::evaluate_now(&planner.ctx.eval, &planner.ctx.params, time)?;
    value.ok_or_else(|| PgError::unsupported("AS OF SYSTEM TIME takes a constant or a parameter")).map(Some)
}

/// Whether a scan gives no rows, since there were none any more at its time.
fn is_over(planner: &Planner, scan: &TableScan) -> PgResult<bool> {
    let Some(until) = scan.until else { return Ok(false) };
    let Some(time) = time_of(planner, scan)? else { return Ok(false) };
    let us = as_micros(&planner.ctx.eval, &time)?;
    Ok(us.is_some_and(|us| i128::from(us) >= i128::from(until)))
}

/// Leaves out the cases of a CASE that ask for rows of which there were none any more at their time.
///
/// # Errors
/// As of [`table_of`].
pub(super) fn without_what_is_over(planner: &Planner, e: &mut Typed) -> PgResult<()> {
    let ExprKind::Case { whens, otherwise } = &mut e.kind else { return Ok(()) };
    let mut left = Vec::with_capacity(whens.len());
    for (when, then) in whens.drain(..) {
        let is_over = match &when.kind {
            ExprKind::Exists(query) => match &query.rel {
                Rel::Filter { input, .. } => matches!(&**input, Rel::Scan(scan) if is_over(planner, scan)?),
                _ => false,
            },
            _ => false,
        };
        if !is_over {
            left.push((when, then));
        }
    }
    *whens = left;
    if whens.is_empty()
        && let Some(otherwise) = otherwise.take()
    {
        *e = *otherwise;
    }
    Ok(())
}

/// The plan of a table in a query: only the columns that the statement uses, without a qualifier.
///
/// # Errors
/// `AS OF SYSTEM TIME` is no time, or one that the store has forgotten.
pub fn plan_scan(planner: &Planner, scan: &TableScan) -> PgResult<LogicalPlan> {
    if is_over(planner, scan)? {
        let now = plan_scan(planner, &TableScan { as_of: None, until: None, ..scan.clone() })?;
        return Ok(LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema: Arc::clone(now.schema()) }));
    }
    let table = table_of(planner, scan)?;
    let unused = TableProvider::schema(&table).fields().is_empty();
    let source = provider_as_source(Arc::new(table));
    let builder = LogicalPlanBuilder::scan(scan.table.name.clone(), source, None).map_err(from_datafusion)?;
    if unused {
        return builder.build().map_err(from_datafusion);
    }
    projected_under_its_names(builder)
}

/// A scan whose columns have no qualifier.
pub(super) fn projected_under_its_names(builder: LogicalPlanBuilder) -> PgResult<LogicalPlan> {
    let exprs: Vec<Expr> = builder
        .schema()
        .columns()
        .into_iter()
        .map(|c| {
            let name = c.name.clone();
            Expr::Column(c).alias(name)
        })
        .collect();
    builder.project(exprs).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
}

/// The commit timestamp up to which a time sees.
fn system_time(planner: &Planner, value: &ScalarValue) -> PgResult<Timestamp> {
    let invalid = || PgError::new(SqlState::INVALID_PARAMETER_VALUE, "AS OF SYSTEM TIME needs a timestamp that is not NULL");
    let us = as_micros(&planner.ctx.eval, value)?.ok_or_else(invalid)?;
    refuse_future(planner, us)?;
    Ok(seen_at(us.max(0)))
}

/// Refuses a time of which nobody can tell yet what will have been committed: asked again, the answer would be another.
///
/// # Errors
/// 22023.
pub(super) fn refuse_future(planner: &Planner, us: i64) -> PgResult<()> {
    // After a crash commits are ahead of the clock.
    let committed = i64::try_from(ScanContext::of(&planner.ctx).view.timestamp().micros()).unwrap_or(i64::MAX);
    if us <= SystemClock.now_us().max(committed) {
        return Ok(());
    }
    Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "a table cannot be read as of a time in the future")
        .hint("The present is read without a time, or as of now()."))
}

/// Microseconds since 1970 of a timestamp or of its text; `None` for what is none.
pub(crate) fn as_micros(eval: &EvalContext, value: &ScalarValue) -> PgResult<Option<i64>> {
    let us = match value {
        ScalarValue::TimestampMicrosecond(us, _) => *us,
        ScalarValue::Utf8View(Some(text)) | ScalarValue::Utf8(Some(text)) => {
            let mut builder = stoa_pg::values::builder(&SqlType::new(stoa_pg::PgType::Timestamptz))?;
            builder.text(eval, text)?;
            match ScalarValue::try_from_array(&builder.finish()?, 0).map_err(from_datafusion)? {
                ScalarValue::TimestampMicrosecond(us, _) => us,
                _ => None,
            }
        }
        _ => None,
    };
    Ok(us.and_then(to_unix_micros))
}

/// The expressions of full text indexes, over columns called by their ids.
fn text_parts(planner: &Planner, table: &TableDescriptor) -> PgResult<Vec<Vec<Option<Expr>>>> {
    let computes = |i: &stoa_table::catalog::IndexDescriptor| i.is_fulltext() && i.parts.iter().any(|p| matches!(p.key, IndexKey::Expr(_)));
    if !table.indexes.iter().any(computes) {
        return Ok(Vec::new());
    }
    let ctx = &planner.ctx;
    let bind = BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: "" };
    let part = |p: &stoa_table::catalog::IndexPart| match &p.key {
        IndexKey::Expr(sql) => planner.exprs().expr(&bind_table_expr(&bind, table, sql)?).map(Some),
        IndexKey::Column(_) => Ok(None),
    };
    table.indexes.iter().map(|i| if computes(i) { i.parts.iter().map(part).collect() } else { Ok(Vec::new()) }).collect()
}

/// The expressions that btree indexes have as parts, over columns called by their ids.
fn index_exprs(planner: &Planner, table: &TableDescriptor) -> PgResult<Vec<(Expr, ColumnId, SqlType)>> {
    let ctx = &planner.ctx;
    let mut out = Vec::new();
    for index in table.indexes.iter().filter(|i| i.method == "btree") {
        for (at, part) in index.parts.iter().enumerate() {
            if let IndexKey::Expr(sql) = &part.key {
                let bind =
                    BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: "" };
                let expr = planner.exprs().expr(&bind_table_expr(&bind, table, sql)?)?;
                out.push((expr, expression_column(index, at), part.ty.clone()));
            }
        }
    }
    Ok(out)
}

/// What the predicates of partial indexes say.
fn index_predicates(planner: &Planner, table: &TableDescriptor) -> PgResult<Vec<Option<Predicate>>> {
    if table.indexes.iter().all(|i| i.predicate.is_none()) {
        return Ok(Vec::new());
    }
    let ctx = &planner.ctx;
    let bind = BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: "" };
    table
        .indexes
        .iter()
        .map(|index| {
            let Some(sql) = &index.predicate else { return Ok(None) };
            let expr = bind_table_expr(&bind, table, sql)?;
            let expr = planner.exprs().expr(&expr)?;
            Ok(Some(predicate(&expr, &OwnColumns(table))))
        })
        .collect()
}
