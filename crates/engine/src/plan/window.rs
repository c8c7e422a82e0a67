//! Window functions.

use super::aggregate::Lowering;
use super::relation::Planner;
use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{Cast, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr as DfExpr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, SortExpr, WindowFrame, WindowFunctionDefinition, WindowUDF,
};
use std::sync::Arc;
use stoa_exec::groups::frame::{End, Framed, FramedCall, FramedUdwf, RangeKey};
use stoa_pg::registry::{FuncKind, NativeWindow, Registry};
use stoa_pg::{PgError, PgResult, PgType, SqlType};
use stoa_sql::typed::guard::only_where;
use stoa_sql::typed::sorted::sorted_input;
use stoa_sql::typed::tree::{
    AggregateExpr, ColId, Expr, ExprKind, FrameBound, FrameExclusion, FrameUnits, OperRef, Rel, SortKey, WindowExpr,
};
use stoa_sql::typed::{column_name, from_datafusion};

/// `row_number()` or `rank()` over partitions in an order.
#[must_use]
pub fn ranking(name: &str, partition_by: Vec<DfExpr>, order_by: Vec<SortExpr>) -> DfExpr {
    let udf = match name {
        "rank" => datafusion::functions_window::rank::rank_udwf(),
        _ => datafusion::functions_window::row_number::row_number_udwf(),
    };
    // Ranks see no frame; DataFusion's RANGE takes few types.
    let window_frame = WindowFrame::new(None);
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
/// DataFusion names a window's column by its expression; a projection above gives it ours. Computed keys become columns below: of rows that
/// are sorted by a comparison of computed values DataFusion cannot tell that they are.
pub(super) fn windowed(plan: LogicalPlan, windows: Vec<(ColId, DfExpr)>) -> datafusion::common::Result<LogicalPlan> {
    let mut all: Vec<DfExpr> = plan.schema().columns().into_iter().map(DfExpr::Column).collect();
    let mut keys = ComputedKeys { columns: all.clone(), computed: Vec::new() };
    let mut distinct: Vec<DfExpr> = Vec::new();
    for (id, mut window) in windows {
        if let DfExpr::WindowFunction(call) = &mut window {
            call.params.partition_by.iter_mut().for_each(|key| keys.take(key));
            call.params.order_by.iter_mut().for_each(|key| keys.take(&mut key.expr));
        }
        let name = window.schema_name().to_string();
        all.push(DfExpr::Column(datafusion::common::Column::new_unqualified(name)).alias(column_name(id)));
        if !distinct.contains(&window) {
            distinct.push(window);
        }
    }
    let plan = if keys.computed.is_empty() { plan } else { LogicalPlanBuilder::from(plan).project(keys.columns)?.build()? };
    let plan = LogicalPlanBuilder::window_plan(plan, distinct)?;
    LogicalPlanBuilder::from(plan).project(all)?.build()
}

/// The keys of windows that are no columns, as columns of a projection.
struct ComputedKeys {
    columns: Vec<DfExpr>,
    computed: Vec<(DfExpr, String)>,
}

impl ComputedKeys {
    /// Puts a column in the place of a key that is computed. Equal keys are one.
    fn take(&mut self, key: &mut DfExpr) {
        if matches!(key, DfExpr::Column(_) | DfExpr::Literal(..)) {
            return;
        }
        let name = match self.computed.iter().find(|(known, _)| known == key) {
            Some((_, name)) => name.clone(),
            None => {
                let name = format!("key {}", self.computed.len());
                self.columns.push(key.clone().alias(&name));
                self.computed.push((key.clone(), name.clone()));
                name
            }
        };
        *key = DfExpr::Column(datafusion::common::Column::new_unqualified(name));
    }
}

/// The functions that see no frame and whose arguments are none.
fn ranked(native: NativeWindow) -> Option<Arc<WindowUDF>> {
    use datafusion::functions_window as fw;
    Some(match native {
        NativeWindow::RowNumber => fw::row_number::row_number_udwf(),
        NativeWindow::Rank => fw::rank::rank_udwf(),
        NativeWindow::DenseRank => fw::rank::dense_rank_udwf(),
        NativeWindow::PercentRank => fw::rank::percent_rank_udwf(),
        NativeWindow::CumeDist => fw::cume_dist::cume_dist_udwf(),
        _ => return None,
    })
}

fn framed(native: NativeWindow) -> Option<Framed> {
    Some(match native {
        NativeWindow::Ntile => Framed::Ntile,
        NativeWindow::Lag => Framed::Lag,
        NativeWindow::Lead => Framed::Lead,
        NativeWindow::FirstValue => Framed::First,
        NativeWindow::LastValue => Framed::Last,
        NativeWindow::NthValue => Framed::Nth,
        _ => return None,
    })
}

/// The distances of a frame's bounds, and whether they are PRECEDING.
fn offsets_of(w: &WindowExpr) -> impl Iterator<Item = (&Expr, bool)> {
    w.frame.iter().flat_map(|frame| [&frame.start, &frame.end]).filter_map(|bound| match bound {
        FrameBound::Preceding(e) => Some((&**e, true)),
        FrameBound::Following(e) => Some((&**e, false)),
        _ => None,
    })
}

fn end_of(bound: &FrameBound) -> End {
    match bound {
        FrameBound::UnboundedPreceding => End::UnboundedPreceding,
        FrameBound::Preceding(_) => End::Preceding,
        FrameBound::CurrentRow => End::CurrentRow,
        FrameBound::Following(_) => End::Following,
        FrameBound::UnboundedFollowing => End::UnboundedFollowing,
    }
}

impl Planner {
    pub(super) async fn plan_window(&self, input: &Rel, windows: &[(ColId, WindowExpr)]) -> PgResult<LogicalPlan> {
        let mut windows = windows.to_vec();
        // Rows are numbered in the order of a sorted subquery.
        let mut sorted = None;
        if windows.iter().any(|(_, w)| numbers(w)) {
            sorted = sorted_input(input, &mut || self.fresh());
            for (_, w) in windows.iter_mut().filter(|(_, w)| numbers(w)) {
                w.order_by = sorted.as_ref().map_or_else(Vec::new, |(_, keys)| keys.clone());
            }
        }
        let input = sorted.as_ref().map_or(input, |(rel, _)| rel);
        leave_out_keys(&mut windows);
        // Their subqueries become columns of the input.
        let mut list = expressions_of(&windows);
        let plan = self.plan_with(input, &mut list).await?;
        let through: Vec<DfExpr> = plan.schema().columns().into_iter().map(DfExpr::Column).collect();
        let lowering = Lowering { exprs: self.exprs(), fresh: &|| self.fresh() };
        let Windows { calls, values } = lowering.windows(&mut windows, list, plan.schema())?;
        let all = through.into_iter().chain(values.into_iter().map(|(id, value)| value.alias(column_name(id))));
        let plan = windowed(plan, calls).map_err(from_datafusion)?;
        LogicalPlanBuilder::from(plan).project(all).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
    }
}

/// Leaves out keys that are the same in the whole partition: they order nothing, and DataFusion asks for a sort by them that it then leaves
/// out.
pub(super) fn leave_out_keys(windows: &mut [(ColId, WindowExpr)]) {
    for (_, w) in windows {
        let mut kept: Vec<SortKey> = Vec::with_capacity(w.order_by.len());
        let last = w.order_by.len().saturating_sub(1);
        for (i, key) in w.order_by.iter().enumerate() {
            let known = w.partition_by.contains(&key.expr) || kept.iter().any(|k| k.expr == key.expr);
            if !known || (i == last && kept.is_empty()) {
                kept.push(key.clone());
            }
        }
        w.order_by = kept;
    }
}

/// All expressions of calls: of each the arguments, the condition, the partition's and the order's; at the end the distances of frames.
pub(super) fn expressions_of(windows: &[(ColId, WindowExpr)]) -> Vec<Expr> {
    let mut list: Vec<Expr> = Vec::new();
    for (_, w) in windows {
        list.extend(w.args.iter().cloned());
        list.extend(w.filter.iter().cloned());
        list.extend(w.partition_by.iter().cloned());
        list.extend(w.order_by.iter().map(|k| k.expr.clone()));
    }
    list.extend(windows.iter().flat_map(|(_, w)| offsets_of(w)).map(|(e, _)| e.clone()));
    list
}

/// Window calls as DataFusion makes them, and the values over what they give.
pub(super) struct Windows {
    pub calls: Vec<(ColId, DfExpr)>,
    pub values: Vec<(ColId, DfExpr)>,
}

impl Lowering<'_> {
    /// Chooses DataFusion's functions for window calls. `list` are their expressions as [`expressions_of`] lists them, without subqueries,
    /// `schema` that of the rows.
    pub(super) fn windows(&self, windows: &mut [(ColId, WindowExpr)], mut list: Vec<Expr>, schema: &DFSchema) -> PgResult<Windows> {
        let distances = windows.iter().map(|(_, w)| offsets_of(w).count()).sum::<usize>();
        let mut offsets = list.split_off(list.len().saturating_sub(distances)).into_iter();
        for bound in windows.iter_mut().filter_map(|(_, w)| w.frame.as_mut()).flat_map(|f| [&mut f.start, &mut f.end]) {
            if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound
                && let Some(offset) = offsets.next()
            {
                **e = offset;
            }
        }
        let mut it = list.into_iter();
        let exprs = &self.exprs;
        let mut calls: Vec<(ColId, DfExpr)> = Vec::new();
        let mut values: Vec<(ColId, DfExpr)> = Vec::new();
        for (id, w) in &*windows {
            let mut args: Vec<Expr> = it.by_ref().take(w.args.len()).collect();
            let filter: Option<Expr> = it.by_ref().take(usize::from(w.filter.is_some())).next();
            only_where(exprs.eval, filter.as_ref(), &mut args);
            let partition: Vec<Expr> = it.by_ref().take(w.partition_by.len()).collect();
            let order: Vec<Expr> = it.by_ref().take(w.order_by.len()).collect();
            let partition_by = partition.iter().map(|e| exprs.sort_key(e)).collect::<PgResult<Vec<_>>>()?;
            let sort_key = |(k, e): (&SortKey, &Expr)| Ok(SortExpr::new(exprs.sort_key(e)?, !k.descending, k.nulls_first));
            let order_by = w.order_by.iter().zip(&order).map(sort_key).collect::<PgResult<Vec<_>>>()?;
            let filter = filter.map(|f| exprs.test(&f)).transpose()?;
            let params = |args: Vec<DfExpr>| WindowFunctionParams {
                args,
                partition_by: partition_by.clone(),
                order_by: order_by.clone(),
                window_frame: WindowFrame::new(None),
                filter: None,
                null_treatment: None,
                distinct: false,
            };
            let value = if let FuncKind::Window(native) = &w.func.0.kind {
                let part = (self.fresh)();
                let (udf, df_args) = match ranked(*native) {
                    Some(udf) => (udf, Vec::new()),
                    None => {
                        let framed = framed(*native).ok_or_else(|| PgError::internal("a window function without a kernel"))?;
                        let converted = args.iter().map(|e| exprs.expr(e)).collect::<PgResult<Vec<_>>>()?;
                        let types = args.iter().map(|e| e.ty.arrow.clone()).collect();
                        self.framed_call(framed, converted, types, w, &order, None, part)?
                    }
                };
                let call = WindowFunction { fun: WindowFunctionDefinition::WindowUDF(udf), params: params(df_args) };
                calls.push((part, DfExpr::WindowFunction(Box::new(call))));
                DfExpr::Cast(Cast::new(Box::new(stoa_sql::typed::expr::column(part)), w.ty.arrow.clone()))
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
                let whole = w.order_by.is_empty() && w.frame.is_none();
                for part in lowered.parts {
                    let call = if whole {
                        let mut params = params(part.args);
                        params.filter = filter.clone().map(Box::new);
                        let udf = stoa_exec::datafusion_faults::sliding::SlidingUdaf::wrap(part.udf);
                        WindowFunction { fun: WindowFunctionDefinition::AggregateUDF(udf), params }
                    } else {
                        let types = part
                            .args
                            .iter()
                            .map(|e| e.get_type(schema))
                            .collect::<datafusion::common::Result<Vec<_>>>()
                            .map_err(from_datafusion)?;
                        let (udf, df_args) =
                            self.framed_call(Framed::Aggregate(part.udf), part.args, types, w, &order, filter.clone(), part.id)?;
                        WindowFunction { fun: WindowFunctionDefinition::WindowUDF(udf), params: params(df_args) }
                    };
                    calls.push((part.id, DfExpr::WindowFunction(Box::new(call))));
                }
                lowered.value
            };
            values.push((*id, value));
        }
        Ok(Windows { calls, values })
    }

    /// A function over a frame, with the arguments that [`stoa_exec::groups::frame`] lists.
    #[allow(clippy::too_many_arguments)] // one place that puts the arguments in their order
    fn framed_call(
        &self,
        framed: Framed,
        mut args: Vec<DfExpr>,
        arg_types: Vec<DataType>,
        w: &WindowExpr,
        order: &[Expr],
        filter: Option<DfExpr>,
        id: ColId,
    ) -> PgResult<(Arc<WindowUDF>, Vec<DfExpr>)> {
        let exprs = &self.exprs;
        let has_filter = filter.is_some();
        args.extend(filter);
        for key in order {
            args.push(exprs.sort_key(key)?);
        }
        let (units, start, end, exclusion) = match &w.frame {
            Some(frame) => (frame.units, end_of(&frame.start), end_of(&frame.end), frame.exclusion),
            None => (FrameUnits::Range, End::UnboundedPreceding, End::CurrentRow, FrameExclusion::None),
        };
        let offsets: Vec<(&Expr, bool)> = offsets_of(w).collect();
        let mut range = None;
        if units == FrameUnits::Range && !offsets.is_empty() {
            let (Some(key), Some(sort)) = (order.first(), w.order_by.first()) else { return Err(PgError::internal("RANGE without a key")) };
            let cast = |e: &Expr, ty: &PgType| {
                let target = SqlType::new(ty.clone());
                if e.ty == target { e.clone() } else { Expr::new(ExprKind::Cast { arg: Box::new(e.clone()), explicit: false }, target) }
            };
            let distance = stoa_exec::groups::frame::distance_type(&key.ty.ty).ok_or_else(|| {
                PgError::unsupported(format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}", key.ty.ty))
            })?;
            let measured = match &key.ty.ty {
                PgType::Date => PgType::Timestamp,
                other if distance == PgType::Interval => other.clone(),
                _ => distance.clone(),
            };
            let key = cast(key, &measured);
            args.push(exprs.expr(&key)?);
            let mut raw = Vec::with_capacity(2);
            for (offset, preceding) in offsets {
                let offset = cast(offset, &distance);
                // Floats and times of day are measured beside PostgreSQL's operators, which overflow and wrap.
                let bound = if matches!(measured, PgType::Float8 | PgType::Time) {
                    key.clone()
                } else {
                    let name = if preceding != sort.descending { "-" } else { "+" };
                    let oper = Registry::get()
                        .operators(name)
                        .iter()
                        .find(|o| o.left.as_ref() == Some(&measured) && o.right == distance)
                        .cloned()
                        .ok_or_else(|| PgError::internal("a distance without its operator"))?;
                    let ty = SqlType::new(oper.ret.clone());
                    Expr::new(ExprKind::Oper { oper: OperRef(oper), args: vec![key.clone(), offset.clone()] }, ty)
                };
                args.push(exprs.expr(&bound)?);
                raw.push(exprs.expr(&offset)?);
            }
            args.extend(raw);
            range = Some(RangeKey { ty: key.ty, descending: sort.descending, nulls_first: sort.nulls_first });
        } else if units != FrameUnits::Range {
            for (offset, _) in offsets {
                args.push(exprs.expr(offset)?);
            }
        }
        let ret = match &framed {
            Framed::Aggregate(udf) => udf.return_type(&arg_types).map_err(from_datafusion)?,
            _ => w.ty.arrow.clone(),
        };
        let call = FramedCall { framed, arg_types, ret, has_filter, order: order.len(), units, start, end, exclusion, range };
        Ok((FramedUdwf::make(call, format!("{} over frame {}", w.func.0.name, column_name(id))), args))
    }
}

impl Planner {
    /// Whether an expression depends on a parameter without a value, as in a plan for any.
    pub(crate) fn is_unknown(&self, e: &Expr) -> bool {
        e.any(&mut |x| matches!(x.kind, ExprKind::Param(i) if i >= self.ctx.params.len()))
    }

    /// The value of an expression without columns; NULL if it is not known.
    pub(crate) async fn constant(&self, e: &Expr) -> PgResult<ScalarValue> {
        match &e.kind {
            ExprKind::Const(v) => Ok(v.clone()),
            ExprKind::Param(i) => Ok(self.ctx.params.get(*i).cloned().unwrap_or(ScalarValue::Null)),
            _ if self.is_unknown(e) => Ok(ScalarValue::Null),
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

/// Whether the call depends on the order of rows alone, and says none.
fn numbers(w: &WindowExpr) -> bool {
    w.order_by.is_empty() && w.frame.is_none() && matches!(w.func.0.name, "row_number" | "ntile" | "lag" | "lead")
}
