//! Window functions.

use super::expr::has_native_order;
use super::relation::Planner;
use super::{column_name, from_datafusion};
use crate::bind::tree::{AggregateExpr, ColId, Expr, ExprKind, Frame, FrameBound, FrameUnits, Rel, WindowExpr};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Cast, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr as DfExpr, LogicalPlan, LogicalPlanBuilder, SortExpr, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition,
    WindowUDF,
};
use std::sync::Arc;
use stoa_pg::registry::{FuncKind, NativeWindow};
use stoa_pg::{PgError, PgResult, PgType, SqlState};

/// `row_number()` or `rank()` over partitions in an order.
#[must_use]
pub fn ranking(name: &str, partition_by: Vec<DfExpr>, order_by: Vec<SortExpr>) -> DfExpr {
    let udf = match name {
        "rank" => datafusion::functions_window::rank::rank_udwf(),
        _ => datafusion::functions_window::row_number::row_number_udwf(),
    };
    let window_frame = WindowFrame::new(if order_by.is_empty() { None } else { Some(false) });
    DfExpr::WindowFunction(Box::new(WindowFunction {
        fun: WindowFunctionDefinition::WindowUDF(udf),
        params: WindowFunctionParams {
            args: Vec::new(),
            partition_by,
            order_by,
            window_frame,
            filter: None,
            null_treatment: None,
            distinct: false,
        },
    }))
}

/// Adds window functions' results as columns under their ids.
///
/// DataFusion names a window's column by its expression; a projection above gives it ours.
pub(super) fn windowed(plan: LogicalPlan, windows: Vec<(ColId, DfExpr)>) -> datafusion::common::Result<LogicalPlan> {
    let mut all: Vec<DfExpr> = plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    let mut distinct: Vec<DfExpr> = Vec::new();
    for (id, window) in windows {
        let name = window.schema_name().to_string();
        all.push(DfExpr::Column(datafusion::common::Column::new_unqualified(name)).alias(column_name(id)));
        if !distinct.contains(&window) {
            distinct.push(window);
        }
    }
    let plan = LogicalPlanBuilder::window_plan(plan, distinct)?;
    LogicalPlanBuilder::from(plan).project(all)?.build()
}

impl Planner {
    pub(super) async fn plan_window(&self, input: &Rel, windows: &[(ColId, WindowExpr)]) -> PgResult<LogicalPlan> {
        // All expressions of the calls, so that their subqueries become columns of the input.
        let mut list: Vec<Expr> = Vec::new();
        for (_, w) in windows {
            list.extend(w.args.iter().cloned());
            list.extend(w.filter.iter().cloned());
            list.extend(w.partition_by.iter().cloned());
            list.extend(w.order_by.iter().map(|k| k.expr.clone()));
        }
        let plan = self.plan_with(input, &mut list).await?;
        let mut it = list.into_iter();
        let exprs = self.exprs();
        let through: Vec<DfExpr> = plan.schema().columns().into_iter().map(DfExpr::Column).collect();
        let mut calls: Vec<(ColId, DfExpr)> = Vec::new();
        let mut values: Vec<DfExpr> = Vec::new();
        for (id, w) in windows {
            let args: Vec<Expr> = it.by_ref().take(w.args.len()).collect();
            let filter: Option<Expr> = it.by_ref().take(usize::from(w.filter.is_some())).next();
            let partition: Vec<Expr> = it.by_ref().take(w.partition_by.len()).collect();
            let order: Vec<Expr> = it.by_ref().take(w.order_by.len()).collect();
            let partition_by = partition.iter().map(|e| exprs.sort_key(e)).collect::<PgResult<Vec<_>>>()?;
            let mut order_by = self.sort_exprs(&w.order_by, &order)?;
            // RANGE with an offset computes on the values themselves.
            let offset_range = w.frame.as_ref().is_some_and(|f| {
                f.units == FrameUnits::Range
                    && [&f.start, &f.end].iter().any(|b| matches!(b, FrameBound::Preceding(_) | FrameBound::Following(_)))
            });
            if offset_range && let (Some(sort), Some(e)) = (order_by.first_mut(), order.first()) {
                if e.ty.ty == PgType::Numeric && e.ty.decimal_parts().is_none() {
                    return Err(PgError::unsupported("RANGE with offset over numeric without a fixed scale is not supported")
                        .hint("Cast the ORDER BY column to numeric(p,s) or double precision."));
                }
                sort.expr = exprs.expr(e)?;
            }
            let window_frame = self.frame(w.frame.as_ref(), &order, w.order_by.is_empty()).await?;
            let filter = filter.map(|f| exprs.expr(&f).map(Box::new)).transpose()?;
            let params = |args: Vec<DfExpr>| WindowFunctionParams {
                args,
                partition_by: partition_by.clone(),
                order_by: order_by.clone(),
                window_frame: window_frame.clone(),
                filter: filter.clone(),
                null_treatment: None,
                distinct: false,
            };
            let value = if let FuncKind::Window(native) = &w.func.0.kind {
                let (udf, df_args) = self.native_window(*native, &args)?;
                let part = self.fresh();
                let call = WindowFunction { fun: WindowFunctionDefinition::WindowUDF(udf), params: params(df_args) };
                calls.push((part, DfExpr::WindowFunction(Box::new(call))));
                DfExpr::Cast(Cast::new(Box::new(super::expr::column(part)), w.ty.arrow.clone()))
            } else {
                let aggregate = AggregateExpr {
                    func: w.func.clone(),
                    args: w.args.clone(),
                    distinct: false,
                    order_by: Vec::new(),
                    filter: None,
                    within_group: false,
                    ty: w.ty.clone(),
                };
                let lowered = self.lower(&aggregate, &args)?;
                for part in lowered.parts {
                    let udf = super::sliding::SlidingUdaf::wrap(part.udf);
                    let call = WindowFunction { fun: WindowFunctionDefinition::AggregateUDF(udf), params: params(part.args) };
                    calls.push((part.id, DfExpr::WindowFunction(Box::new(call))));
                }
                lowered.value
            };
            values.push(value.alias(column_name(*id)));
        }
        let all = through.into_iter().chain(values);
        let plan = windowed(plan, calls).map_err(from_datafusion)?;
        LogicalPlanBuilder::from(plan).project(all).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
    }

    /// DataFusion's function and its arguments.
    fn native_window(&self, native: NativeWindow, args: &[Expr]) -> PgResult<(Arc<WindowUDF>, Vec<DfExpr>)> {
        use datafusion::functions_window as fw;
        let exprs = self.exprs();
        let mut converted = args.iter().map(|e| exprs.expr(e)).collect::<PgResult<Vec<_>>>()?;
        let literal = |e: Option<&Expr>| match e.map(|e| &e.kind) {
            Some(ExprKind::Const(v)) => Some(v.clone()),
            Some(ExprKind::Param(i)) => self.ctx.params.get(*i).cloned(),
            _ => None,
        };
        let udf = match native {
            NativeWindow::RowNumber => fw::row_number::row_number_udwf(),
            NativeWindow::Rank => fw::rank::rank_udwf(),
            NativeWindow::DenseRank => fw::rank::dense_rank_udwf(),
            NativeWindow::PercentRank => fw::rank::percent_rank_udwf(),
            NativeWindow::CumeDist => fw::cume_dist::cume_dist_udwf(),
            NativeWindow::Ntile => {
                match literal(args.first()) {
                    Some(ScalarValue::Int32(Some(n))) if n <= 0 => {
                        return Err(PgError::new(SqlState::INVALID_ARGUMENT_FOR_NTILE, "argument of ntile must be greater than zero"));
                    }
                    Some(ScalarValue::Int32(Some(n))) => converted = vec![DfExpr::Literal(ScalarValue::Int64(Some(i64::from(n))), None)],
                    _ => return Err(PgError::unsupported("ntile takes a constant")),
                }
                fw::ntile::ntile_udwf()
            }
            NativeWindow::Lag | NativeWindow::Lead => {
                if let Some(offset) = args.get(1) {
                    match literal(Some(offset)) {
                        Some(ScalarValue::Int32(Some(n))) => converted[1] = DfExpr::Literal(ScalarValue::Int64(Some(i64::from(n))), None),
                        _ => return Err(PgError::unsupported("the offset of lag and lead must be a constant")),
                    }
                }
                if let Some(default) = args.get(2)
                    && literal(Some(default)).is_none()
                {
                    return Err(PgError::unsupported("the default of lag and lead must be a constant"));
                }
                if native == NativeWindow::Lag { fw::lead_lag::lag_udwf() } else { fw::lead_lag::lead_udwf() }
            }
            NativeWindow::FirstValue => fw::nth_value::first_value_udwf(),
            NativeWindow::LastValue => fw::nth_value::last_value_udwf(),
            NativeWindow::NthValue => {
                match literal(args.get(1)) {
                    Some(ScalarValue::Int32(Some(n))) if n <= 0 => {
                        return Err(PgError::new(
                            SqlState::INVALID_ARGUMENT_FOR_NTH_VALUE,
                            "argument of nth_value must be greater than zero",
                        ));
                    }
                    Some(ScalarValue::Int32(Some(n))) => converted[1] = DfExpr::Literal(ScalarValue::Int64(Some(i64::from(n))), None),
                    _ => return Err(PgError::unsupported("nth_value takes a constant")),
                }
                fw::nth_value::nth_value_udwf()
            }
        };
        Ok((udf, converted))
    }

    async fn frame(&self, frame: Option<&Frame>, order: &[Expr], unordered: bool) -> PgResult<WindowFrame> {
        // DataFusion computes RANGE on few types. Without an offset, RANGE is GROUPS: both go by peers.
        let by_peers = !order.iter().all(|e| has_native_order(&e.ty));
        let Some(frame) = frame else {
            if by_peers {
                let start = WindowFrameBound::Preceding(ScalarValue::UInt64(None));
                return Ok(WindowFrame::new_bounds(WindowFrameUnits::Groups, start, WindowFrameBound::CurrentRow));
            }
            return Ok(WindowFrame::new(if unordered { None } else { Some(false) }));
        };
        let offset = |b: &FrameBound| matches!(b, FrameBound::Preceding(_) | FrameBound::Following(_));
        let groups = Frame { units: FrameUnits::Groups, ..frame.clone() };
        let without_offset = !offset(&frame.start) && !offset(&frame.end);
        let frame = if by_peers && frame.units == FrameUnits::Range && without_offset { &groups } else { frame };
        let units = match frame.units {
            FrameUnits::Rows => WindowFrameUnits::Rows,
            FrameUnits::Range => WindowFrameUnits::Range,
            FrameUnits::Groups => WindowFrameUnits::Groups,
        };
        let start = self.bound(&frame.start, frame.units, order).await?;
        let end = self.bound(&frame.end, frame.units, order).await?;
        if units == WindowFrameUnits::Range && unordered {
            // Without an order all rows are peers.
            return Ok(WindowFrame::new(None));
        }
        Ok(WindowFrame::new_bounds(units, start, end))
    }

    async fn bound(&self, bound: &FrameBound, units: FrameUnits, order: &[Expr]) -> PgResult<WindowFrameBound> {
        let null = || match units {
            FrameUnits::Rows | FrameUnits::Groups => ScalarValue::UInt64(None),
            FrameUnits::Range => ScalarValue::Null,
        };
        Ok(match bound {
            FrameBound::UnboundedPreceding => WindowFrameBound::Preceding(null()),
            FrameBound::UnboundedFollowing => WindowFrameBound::Following(null()),
            FrameBound::CurrentRow => WindowFrameBound::CurrentRow,
            FrameBound::Preceding(e) => WindowFrameBound::Preceding(self.offset(e, units, order).await?),
            FrameBound::Following(e) => WindowFrameBound::Following(self.offset(e, units, order).await?),
        })
    }

    async fn offset(&self, e: &Expr, units: FrameUnits, order: &[Expr]) -> PgResult<ScalarValue> {
        let value = self.constant(e).await?;
        let negative = || PgError::new(SqlState::INVALID_PRECEDING_OR_FOLLOWING_SIZE, "frame starting offset must not be negative");
        if value.is_null() {
            return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "frame starting offset must not be null"));
        }
        match units {
            FrameUnits::Rows | FrameUnits::Groups => match value {
                ScalarValue::Int64(Some(n)) => Ok(ScalarValue::UInt64(Some(u64::try_from(n).map_err(|_| negative())?))),
                _ => Err(PgError::internal("a frame offset that is no bigint")),
            },
            FrameUnits::Range => {
                let is_negative = match &value {
                    ScalarValue::Int16(Some(n)) => *n < 0,
                    ScalarValue::Int32(Some(n)) => *n < 0,
                    ScalarValue::Int64(Some(n)) => *n < 0,
                    ScalarValue::Float64(Some(n)) => *n < 0.0,
                    ScalarValue::Decimal128(Some(n), ..) => *n < 0,
                    _ => false,
                };
                if is_negative {
                    return Err(PgError::new(
                        SqlState::INVALID_PRECEDING_OR_FOLLOWING_SIZE,
                        "invalid preceding or following size in window function",
                    ));
                }
                if let (ScalarValue::Decimal128(..), Some(key)) = (&value, order.first())
                    && has_native_order(&key.ty)
                {
                    return value.cast_to(&key.ty.arrow).map_err(from_datafusion);
                }
                Ok(value)
            }
        }
    }

    /// The value of an expression without columns.
    pub(crate) async fn constant(&self, e: &Expr) -> PgResult<ScalarValue> {
        match &e.kind {
            ExprKind::Const(v) => Ok(v.clone()),
            ExprKind::Param(i) => Ok(self.ctx.params.get(*i).cloned().unwrap_or(ScalarValue::Null)),
            _ => {
                let id = self.fresh();
                let rel = Rel::Project { input: Box::new(Rel::One), exprs: vec![(id, e.clone())] };
                let rows = self.run(&rel, &[id]).await?;
                match rows.iter().find(|b| b.num_rows() > 0) {
                    Some(batch) => ScalarValue::try_from_array(batch.column(0), 0).map_err(from_datafusion),
                    None => Ok(ScalarValue::Null),
                }
            }
        }
    }
}
