//! Set-returning functions over the rows of a plan.

use super::relation::Planner;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use std::sync::Arc;
use stoa_exec::node::{MakeExec, extend};
use stoa_exec::nodes::project_set::ProjectSetExec;
use stoa_pg::{PgResult, PgType, SqlType};
use stoa_sql::typed::tree::{ColId, Expr, SetExpr};

/// The plan's rows, repeated for those that the functions give: `args` are their arguments one after the other, without subqueries.
pub(super) fn plan(
    planner: &Planner,
    input: LogicalPlan,
    sets: &[(Vec<ColId>, SetExpr)],
    args: Vec<Expr>,
    outer: bool,
    ordinality: Option<ColId>,
) -> PgResult<LogicalPlan> {
    let mut added: Vec<(ColId, SqlType)> = Vec::new();
    for (ids, set) in sets {
        added.extend(ids.iter().zip(&set.columns).map(|(c, (_, ty))| (*c, ty.clone())));
    }
    if let Some(id) = ordinality {
        added.push((id, SqlType::new(PgType::Int8)));
    }
    let names: Vec<String> = sets.iter().map(|(_, s)| s.func.0.name.to_owned()).collect();
    let (sets, planner) = (sets.to_vec(), planner.clone());
    let make: MakeExec = Arc::new(move |mut inputs| {
        let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("ProjectSet has one input".into())) };
        // Columns may have moved since the logical plan was made.
        let schema = DFSchema::try_from(input.schema().as_ref().clone())?;
        let (exprs, props, planning) = (planner.exprs(), ExecutionProps::new(), PhysicalPlanningContext::default());
        let args = args.iter().map(|e| create_physical_expr(&exprs.expr(e)?, &schema, &props, &planning));
        let args = args.collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(ProjectSetExec::of(input, &sets, args, planner.ctx.eval.clone(), outer, ordinality)?))
    });
    extend(format!("ProjectSet: {}", names.join(", ")), input, &added, make)
}
