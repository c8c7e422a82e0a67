//! TABLESAMPLE: each row is kept with a probability, the same ones for the same seed.

use super::relation::Planner;
use arrow::array::BooleanArray;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use stoa_pg::args::Kernel;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::typed::from_datafusion;
use stoa_sql::typed::tree::Expr;
use stoa_sql::typed::udf::KernelUdf;

/// Keeps about `percent` of the plan's rows.
pub async fn plan(planner: &Planner, input: LogicalPlan, percent: &Expr, seed: Option<&Expr>) -> PgResult<LogicalPlan> {
    let percent = match planner.constant(percent).await? {
        ScalarValue::Float64(Some(p)) if (0.0..=100.0).contains(&p) => p,
        ScalarValue::Float64(Some(_)) => {
            return Err(PgError::new(SqlState::INVALID_TABLESAMPLE_ARGUMENT, "sample percentage must be between 0 and 100"));
        }
        _ => return Err(PgError::new(SqlState::INVALID_TABLESAMPLE_ARGUMENT, "TABLESAMPLE parameter cannot be null")),
    };
    let rng = match seed {
        None => StdRng::from_os_rng(),
        Some(seed) => match planner.constant(seed).await? {
            ScalarValue::Float64(Some(s)) => StdRng::seed_from_u64(s.to_bits()),
            _ => {
                return Err(PgError::new(SqlState::INVALID_TABLESAMPLE_ARGUMENT, "TABLESAMPLE REPEATABLE parameter cannot be null"));
            }
        },
    };
    let rng = Mutex::new(rng);
    let kernel: Kernel = Arc::new(move |call, _| {
        let mut rng = rng.lock();
        Ok(Arc::new((0..call.rows).map(|_| Some(rng.random::<f64>() * 100.0 < percent)).collect::<BooleanArray>()))
    });
    let name = format!("sample {percent}");
    let keep = KernelUdf::make(name, kernel, planner.ctx.eval.clone(), Vec::new(), SqlType::new(PgType::Bool), false, true);
    LogicalPlanBuilder::from(input).filter(keep.call(Vec::new())).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
}
