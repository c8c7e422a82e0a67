//! The past of a table in a query as DataFusion's planner takes it: its times are known before it is planned.

use super::relation::Planner;
use super::scan::{as_micros, projected_under_its_names, refuse_future};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use std::sync::Arc;
use stoa_exec::nodes::history::{Given, HistoryTable, Times};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::typed::tree::{Expr, HistoryScan, Span};
use stoa_sql::typed::{column_name, from_datafusion};

/// The plan of a table's past: only the columns that the statement uses.
///
/// # Errors
/// A time that is none or has not come, or a column whose past is not kept.
pub(super) fn plan(planner: &Planner, history: &HistoryScan) -> PgResult<LogicalPlan> {
    let time = |e: &Expr| micros(planner, e);
    let times = match &history.span {
        Span::Between { from, to, includes_end } => Times::Between { from: time(from)?, to: time(to)?, includes_end: *includes_end },
        Span::Difference { from, to } => {
            let (from, to) = (time(from)?, time(to)?);
            // The end of time is the present.
            for us in [from, to].into_iter().filter(|us| *us != i64::MAX) {
                refuse_future(planner, us)?;
            }
            Times::Difference { from, to }
        }
        Span::All => Times::All,
        Span::Changes => Times::Changes,
    };
    let stored = history.scan.columns.iter().map(|(id, col)| (Given::Stored(*id), *col));
    let own = history.version_columns.iter().map(|(own, col)| (Given::Version(*own), *col));
    let used = stored.chain(own).filter(|(_, col)| planner.is_used(*col)).map(|(given, col)| (given, column_name(col)));
    let used: Vec<_> = used.collect();
    let source = provider_as_source(Arc::new(HistoryTable::new(&history.scan.table, &used, times)?));
    let builder = LogicalPlanBuilder::scan(history.scan.table.name.clone(), source, None).map_err(from_datafusion)?;
    if used.is_empty() { builder.build().map_err(from_datafusion) } else { projected_under_its_names(builder) }
}

/// Microseconds since 1970 of a constant or a parameter.
fn micros(planner: &Planner, time: &Expr) -> PgResult<i64> {
    let ctx = &planner.ctx;
    let value = stoa_sql::typed::constant::evaluate_now(&ctx.eval, &ctx.params, time)?;
    let value = value.ok_or_else(|| PgError::unsupported("a time of the past is a constant or a parameter"))?;
    let invalid = || PgError::new(SqlState::INVALID_PARAMETER_VALUE, "a time of the past is a timestamp that is not NULL");
    as_micros(&ctx.eval, &value)?.ok_or_else(invalid)
}
