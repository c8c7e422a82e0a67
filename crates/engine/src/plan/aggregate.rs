//! Aggregates: GROUP BY with PostgreSQL's equality, grouping sets, DISTINCT, averages as quotients.

use super::relation::Planner;
use arrow::compute::SortOptions;
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate as fa;
use datafusion::logical_expr::expr::{AggregateFunction, Cast};
use datafusion::logical_expr::{AggregateUDF, Case, Expr as DfExpr, GroupingSet, LogicalPlan, LogicalPlanBuilder, Operator};
use std::sync::Arc;
use stoa_exec::datafusion_faults::{filter_barrier, forget_properties};
use stoa_exec::groups::distinct::DistinctUdaf;
use stoa_pg::registry::{AggregateCall, FuncKind, NativeAggregate, Registry};
use stoa_pg::{PgError, PgResult, PgType, SqlType};
use stoa_sql::typed::expr::{ExprPlanner, column};
use stoa_sql::typed::guard::only_where;
use stoa_sql::typed::sorted::sorted_input;
use stoa_sql::typed::tree::{AggregateExpr, ColId, Expr, ExprKind, OperRef, Rel};
use stoa_sql::typed::udf::KernelUdf;
use stoa_sql::typed::{column_name, from_datafusion};

/// One call that DataFusion makes for an aggregate.
pub(super) struct Part {
    pub id: ColId,
    pub udf: Arc<AggregateUDF>,
    pub args: Vec<DfExpr>,
    pub arg_types: Vec<SqlType>,
    /// Duplicates and the order of rows make a difference.
    pub sensitive: bool,
    /// DISTINCT that DataFusion computes: its equality is PostgreSQL's for these arguments.
    pub distinct: bool,
}

/// An aggregate as calls, and its value over them.
pub(super) struct Lowered {
    pub parts: Vec<Part>,
    pub value: DfExpr,
}

/// What the choice of functions for aggregates needs.
pub(super) struct Lowering<'a> {
    pub exprs: ExprPlanner<'a>,
    /// Gives ids that no column has.
    pub fresh: &'a dyn Fn() -> ColId,
}

impl Lowering<'_> {
    /// Chooses DataFusion's functions for an aggregate over arguments that hold no subqueries any more.
    pub(super) fn lower(&self, a: &AggregateExpr, args: &[Expr]) -> PgResult<Lowered> {
        let exprs = &self.exprs;
        let id = (self.fresh)();
        let one = |udf: Arc<AggregateUDF>, converted: Vec<DfExpr>, given: Option<arrow::datatypes::DataType>| {
            let value = match given {
                Some(given) if given == a.ty.arrow => column(id),
                _ => DfExpr::Cast(Cast::new(Box::new(column(id)), a.ty.arrow.clone())),
            };
            Lowered {
                parts: vec![Part {
                    id,
                    udf,
                    args: converted,
                    arg_types: args.iter().map(|e| e.ty.clone()).collect(),
                    sensitive: true,
                    distinct: false,
                }],
                value,
            }
        };
        let insensitive = |mut lowered: Lowered| {
            lowered.parts.iter_mut().for_each(|part| part.sensitive = false);
            lowered
        };
        let converted = || args.iter().map(|e| exprs.expr(e)).collect::<PgResult<Vec<_>>>();
        let natively =
            args.first().is_some_and(|e| e.ty.decimal_parts().is_some() || (e.ty.ty == PgType::Bpchar && e.ty.has_native_order()));
        let native = match &a.func.0.kind {
            FuncKind::NativeAggregate(native) => Some(*native),
            // Decimals are summed and compared natively, and character(n) is compared so, although their signatures have builders.
            FuncKind::Aggregate(_) if natively => match a.func.0.name {
                "sum" => Some(NativeAggregate::Sum),
                "min" => Some(NativeAggregate::Min),
                "max" => Some(NativeAggregate::Max),
                _ => None,
            },
            _ => None,
        };
        let Some(native) = native else {
            let FuncKind::Aggregate(builder) = &a.func.0.kind else { return Err(PgError::internal("not an aggregate")) };
            let within_group = if a.within_group {
                a.order_by.iter().map(|k| (k.expr.ty.clone(), k.descending, k.nulls_first)).collect()
            } else {
                Vec::new()
            };
            let call = AggregateCall {
                ctx: exprs.eval.clone(),
                arg_types: args.iter().map(|e| e.ty.clone()).collect(),
                ret: a.ty.clone(),
                within_group,
            };
            return Ok(one(builder(&call)?, converted()?, Some(a.ty.arrow.clone())));
        };
        use arrow::datatypes::DataType as D;
        Ok(match native {
            NativeAggregate::Count => {
                if args.is_empty() {
                    one(fa::count::count_udaf(), vec![DfExpr::Literal(ScalarValue::Int64(Some(1)), None)], Some(D::Int64))
                } else if let [arg] = args
                    && a.distinct
                    && arg.ty.has_native_order()
                    && !arg.ty.arrow.is_floating()
                {
                    let mut counted = one(fa::count::count_udaf(), converted()?, Some(D::Int64));
                    counted.parts.iter_mut().for_each(|part| part.distinct = true);
                    counted
                } else {
                    one(fa::count::count_udaf(), converted()?, Some(D::Int64))
                }
            }
            NativeAggregate::Sum => {
                let Some(arg) = args.first() else { return Err(PgError::internal("sum of nothing")) };
                let e = exprs.expr(arg)?;
                let (e, given) = match &arg.ty.arrow {
                    D::Int16 | D::Int32 => (DfExpr::Cast(Cast::new(Box::new(e), D::Int64)), D::Int64),
                    D::Float32 => (DfExpr::Cast(Cast::new(Box::new(e), D::Float64)), D::Float64),
                    D::Decimal128(p, s) => (e, D::Decimal128(38.min(*p + 10), *s)),
                    other => (e, other.clone()),
                };
                let mut wide = arg.clone();
                wide.ty.arrow = match &arg.ty.arrow {
                    D::Int16 | D::Int32 => D::Int64,
                    D::Float32 => D::Float64,
                    other => other.clone(),
                };
                if wide.ty.arrow == D::Int64 {
                    wide.ty.ty = PgType::Int8;
                } else if wide.ty.arrow == D::Float64 {
                    wide.ty.ty = PgType::Float8;
                }
                let udf =
                    if arg.ty.decimal_parts().is_some() { stoa_exec::groups::decimal_sum::decimal_sum() } else { fa::sum::sum_udaf() };
                let mut lowered = one(udf, vec![e], Some(given));
                lowered.parts.iter_mut().for_each(|part| part.arg_types = vec![wide.ty.clone()]);
                lowered
            }
            NativeAggregate::Min | NativeAggregate::Max => {
                let udf = if native == NativeAggregate::Min { fa::min_max::min_udaf() } else { fa::min_max::max_udaf() };
                insensitive(one(udf, converted()?, args.first().map(|e| e.ty.arrow.clone())))
            }
            NativeAggregate::BoolAnd => insensitive(one(fa::bool_and_or::bool_and_udaf(), converted()?, Some(D::Boolean))),
            NativeAggregate::BoolOr => insensitive(one(fa::bool_and_or::bool_or_udaf(), converted()?, Some(D::Boolean))),
            NativeAggregate::BitAnd => insensitive(one(fa::bit_and_or_xor::bit_and_udaf(), converted()?, Some(a.ty.arrow.clone()))),
            NativeAggregate::BitOr => insensitive(one(fa::bit_and_or_xor::bit_or_udaf(), converted()?, Some(a.ty.arrow.clone()))),
            NativeAggregate::BitXor => one(fa::bit_and_or_xor::bit_xor_udaf(), converted()?, Some(a.ty.arrow.clone())),
            NativeAggregate::ArrayAgg if args.first().is_some_and(|e| matches!(e.ty.ty, PgType::Array(_))) => {
                one(stoa_exec::groups::array_agg::nested_array_agg(), converted()?, args.first().map(|e| e.ty.arrow.clone()))
            }
            NativeAggregate::ArrayAgg => {
                let mut lists = one(fa::array_agg::array_agg_udaf(), converted()?, None);
                let (name, kernel) = ("array_of_list".to_owned(), stoa_exec::groups::array_agg::array_of_list());
                let udf = KernelUdf::make(name, kernel, exprs.eval.clone(), vec![a.ty.clone()], a.ty.clone(), false, false);
                lists.value = udf.call(vec![column(id)]);
                lists
            }
            NativeAggregate::Avg => self.average(a, args)?,
        })
    }

    /// `avg` as the sum's quotient by the count.
    fn average(&self, a: &AggregateExpr, args: &[Expr]) -> PgResult<Lowered> {
        let Some(arg) = args.first() else { return Err(PgError::internal("avg of nothing")) };
        let registry = Registry::get();
        let find = |name: &str| {
            registry
                .functions(name)
                .iter()
                .find(|f| f.args.len() == 1 && (f.args[0] == arg.ty.ty || f.args[0] == PgType::Any))
                .cloned()
                .ok_or_else(|| PgError::internal(format!("{name} is missing for {}", arg.ty.ty)))
        };
        let sum_func = find("sum")?;
        let mut sum_type = SqlType::new(sum_func.ret.clone());
        if let Some((p, s)) = arg.ty.decimal_parts()
            && p <= 28
        {
            sum_type = SqlType::decimal(38, s);
        }
        let mut sum = a.clone();
        sum.func = stoa_sql::typed::tree::FuncRef(sum_func);
        sum.ty = sum_type.clone();
        let mut count = a.clone();
        count.func = stoa_sql::typed::tree::FuncRef(find("count")?);
        count.ty = SqlType::new(PgType::Int8);
        let mut arg_list = args.to_vec();
        if arg.ty.decimal_parts().is_some_and(|(p, _)| p > 28) {
            arg_list = vec![widen(arg)];
        }
        let lowered_sum = self.lower(&sum, &arg_list)?;
        let lowered_count = self.lower(&count, args)?;
        let float = matches!(a.ty.ty, PgType::Float8);
        let target = if float { SqlType::new(PgType::Float8) } else { SqlType::new(PgType::Numeric) };
        let (sum_id, count_id) = ((self.fresh)(), (self.fresh)());
        let cast = |id: ColId, ty: &SqlType| {
            let e = Expr::column(id, ty.clone());
            if *ty == target { e } else { Expr::new(ExprKind::Cast { arg: Box::new(e), explicit: false }, target.clone()) }
        };
        let divide = registry
            .operators("/")
            .iter()
            .find(|o| o.left.as_ref() == Some(&target.ty) && o.right == target.ty)
            .cloned()
            .ok_or_else(|| PgError::internal("division is missing"))?;
        let quotient = Expr::new(
            ExprKind::Oper { oper: OperRef(divide), args: vec![cast(sum_id, &sum_type), cast(count_id, &count.ty)] },
            target.clone(),
        );
        let quotient_df = self.exprs.expr(&quotient)?;
        // The sum's and count's values stand where the quotient names them.
        let substitute = |e: DfExpr| -> PgResult<DfExpr> {
            use datafusion::common::tree_node::{Transformed, TreeNode};
            e.transform(|x| {
                Ok(match &x {
                    DfExpr::Column(c) if c.name == column_name(sum_id) => Transformed::yes(lowered_sum.value.clone()),
                    DfExpr::Column(c) if c.name == column_name(count_id) => Transformed::yes(lowered_count.value.clone()),
                    _ => Transformed::no(x),
                })
            })
            .map(|t| t.data)
            .map_err(from_datafusion)
        };
        let quotient_df = substitute(quotient_df)?;
        // No rows: no division by the count 0.
        let zero = DfExpr::Literal(ScalarValue::Int64(Some(0)), None);
        let empty = stoa_sql::typed::expr::binary(lowered_count.value.clone(), Operator::Eq, zero);
        let null = DfExpr::Literal(ScalarValue::try_from(&a.ty.arrow).map_err(from_datafusion)?, None);
        let value = DfExpr::Case(Case::new(None, vec![(Box::new(empty), Box::new(null))], Some(Box::new(quotient_df))));
        let mut parts = lowered_sum.parts;
        parts.extend(lowered_count.parts);
        Ok(Lowered { parts, value })
    }
}

impl Planner {
    /// As [`Lowering::lower`].
    pub(super) fn lower(&self, a: &AggregateExpr, args: &[Expr]) -> PgResult<Lowered> {
        Lowering { exprs: self.exprs(), fresh: &|| self.fresh() }.lower(a, args)
    }

    pub(super) async fn plan_aggregate(
        &self,
        input: &Rel,
        groups: &[(ColId, Expr)],
        sets: Option<&[Vec<usize>]>,
        aggregates: &[(ColId, AggregateExpr)],
        grouping: &[(ColId, Vec<usize>)],
    ) -> PgResult<LogicalPlan> {
        let mut aggregates: Vec<(ColId, AggregateExpr)> = aggregates.iter().filter(|(c, _)| self.is_used(*c)).cloned().collect();
        // Values that are gathered come in the order of a sorted subquery.
        let mut sorted = None;
        if aggregates.iter().any(|(_, a)| gathers(a)) {
            sorted = sorted_input(input, &mut || self.fresh());
            for (_, a) in aggregates.iter_mut().filter(|(_, a)| gathers(a)) {
                a.order_by = sorted.as_ref().map_or_else(Vec::new, |(_, keys)| keys.clone());
            }
        }
        let input = sorted.as_ref().map_or(input, |(rel, _)| rel);
        let mut list: Vec<Expr> = groups.iter().map(|(_, e)| e.clone()).collect();
        for (_, a) in &aggregates {
            list.extend(a.args.iter().cloned());
            list.extend(a.order_by.iter().map(|k| k.expr.clone()));
            list.extend(a.filter.iter().cloned());
        }
        let plan = self.plan_with(input, &mut list).await?;
        let exprs = self.exprs();
        let mut it = list.into_iter();
        let group_exprs: Vec<Expr> = it.by_ref().take(groups.len()).collect();

        // First the groups' values and keys as plain columns.
        let mut before: Vec<DfExpr> = plan.schema().columns().into_iter().map(DfExpr::Column).collect();
        struct Group {
            out: ColId,
            key: ColId,
            /// The value beside a key that is not the value.
            carried: Option<(ColId, ColId)>,
        }
        let mut group_columns = Vec::with_capacity(groups.len());
        for ((out, _), e) in groups.iter().zip(&group_exprs) {
            let key = self.fresh();
            before.push(exprs.sort_key(e)?.alias(column_name(key)));
            let carried = if e.ty.has_native_order() {
                None
            } else {
                let (value, agg) = (self.fresh(), self.fresh());
                before.push(exprs.expr(e)?.alias(column_name(value)));
                Some((value, agg))
            };
            group_columns.push(Group { out: *out, key, carried });
        }
        let mut calls: Vec<DfExpr> = Vec::new();
        let mut values: Vec<(ColId, DfExpr)> = Vec::new();
        for (id, a) in &aggregates {
            let mut args: Vec<Expr> = it.by_ref().take(a.args.len()).collect();
            let mut order: Vec<Expr> = it.by_ref().take(a.order_by.len()).collect();
            let filter: Option<Expr> = it.by_ref().take(usize::from(a.filter.is_some())).next();
            only_where(&self.ctx.eval, filter.as_ref(), &mut args);
            only_where(&self.ctx.eval, filter.as_ref(), &mut order);
            let lowered = self.lower(a, &args)?;
            let sort = if a.within_group { Vec::new() } else { self.sort_exprs(&a.order_by, &order)? };
            let filter = filter.map(|f| exprs.test(&f).map(Box::new)).transpose()?;
            for mut part in lowered.parts {
                if part.sensitive && !part.distinct && (!sort.is_empty() || a.distinct) {
                    let options = sort.iter().map(|s| SortOptions { descending: !s.asc, nulls_first: s.nulls_first }).collect();
                    let types =
                        order.iter().map(|e| if e.ty.has_native_order() { e.ty.arrow.clone() } else { DataType::BinaryView }).collect();
                    part.udf = DistinctUdaf::ordered(part.udf, part.arg_types, a.distinct, options, types);
                    part.args.extend(sort.iter().map(|s| s.expr.clone()));
                }
                let call = AggregateFunction::new_udf(part.udf, part.args, part.distinct, filter.clone(), Vec::new(), None);
                calls.push(DfExpr::AggregateFunction(call).alias(column_name(part.id)));
            }
            values.push((*id, lowered.value));
        }
        for g in &group_columns {
            if let Some((value, agg)) = g.carried {
                let udf = fa::first_last::first_value_udaf();
                let call = AggregateFunction::new_udf(udf, vec![column(value)], false, None, Vec::new(), None);
                calls.push(DfExpr::AggregateFunction(call).alias(column_name(agg)));
            }
        }
        let keys: Vec<DfExpr> = group_columns.iter().map(|g| column(g.key)).collect();
        let grouped: Vec<DfExpr> = match sets {
            None => keys.clone(),
            Some(sets) => {
                let list = sets.iter().map(|set| set.iter().map(|i| keys[*i].clone()).collect()).collect();
                vec![DfExpr::GroupingSet(GroupingSet::GroupingSets(list))]
            }
        };
        if let Some(sets) = sets.filter(|_| groups.is_empty()) {
            let rows = LogicalPlanBuilder::from(plan).project(before).map_err(from_datafusion)?;
            return self.of_all_rows(rows, sets.len(), calls, values, grouping);
        }
        if calls.is_empty() && grouped.is_empty() {
            // An aggregate node of which nothing is used still gives one row.
            return LogicalPlanBuilder::empty(true).build().map_err(from_datafusion);
        }
        let mut prepared = LogicalPlanBuilder::from(plan).project(before).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
        if sets.is_some() {
            prepared = forget_properties::plan(prepared)?;
        }
        let aggregated =
            LogicalPlanBuilder::from(prepared).aggregate(grouped, calls).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
        let mut after: Vec<DfExpr> = Vec::new();
        for g in &group_columns {
            let value = match g.carried {
                None => column(g.key),
                Some((_, agg)) if sets.is_none() => column(agg),
                Some((_, agg)) => {
                    // A set without this column has NULL there, whatever the rows had.
                    let ty = DfExpr::IsNotNull(Box::new(column(g.key)));
                    DfExpr::Case(Case::new(None, vec![(Box::new(ty), Box::new(column(agg)))], None))
                }
            };
            after.push(value.alias(column_name(g.out)));
        }
        after.extend(values.into_iter().map(|(c, v)| v.alias(column_name(c))));
        for (c, positions) in grouping {
            after.push(self.grouping_value(sets, groups.len(), positions)?.alias(column_name(*c)));
        }
        let aggregated = if groups.is_empty() || sets.is_some() { filter_barrier::barrier(aggregated)? } else { aggregated };
        LogicalPlanBuilder::from(aggregated).project(after).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
    }

    /// GROUP BY (): one group, also of no rows; each further empty set gives the row once more.
    fn of_all_rows(
        &self,
        rows: LogicalPlanBuilder,
        sets: usize,
        mut calls: Vec<DfExpr>,
        mut values: Vec<(ColId, DfExpr)>,
        grouping: &[(ColId, Vec<usize>)],
    ) -> PgResult<LogicalPlan> {
        if calls.is_empty() {
            let rows = self.fresh();
            calls.push(fa::count::count_all().alias(column_name(rows)));
            values.push((rows, column(rows)));
        }
        let aggregated = rows.aggregate(Vec::<DfExpr>::new(), calls).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
        let nothing = || DfExpr::Literal(ScalarValue::Int32(Some(0)), None);
        let values = values.into_iter().map(|(c, v)| v.alias(column_name(c)));
        let after: Vec<DfExpr> = values.chain(grouping.iter().map(|(c, _)| nothing().alias(column_name(*c)))).collect();
        let aggregated = filter_barrier::barrier(aggregated)?;
        let one = LogicalPlanBuilder::from(aggregated).project(after).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
        let mut out = LogicalPlanBuilder::from(one.clone());
        for _ in 1..sets {
            out = out.union(one.clone()).map_err(from_datafusion)?;
        }
        out.build().map_err(from_datafusion)
    }

    /// GROUPING(…): bits from DataFusion's grouping id, in which the last group is the lowest bit.
    fn grouping_value(&self, sets: Option<&[Vec<usize>]>, groups: usize, positions: &[usize]) -> PgResult<DfExpr> {
        let Some(sets) = sets else { return Ok(DfExpr::Literal(ScalarValue::Int32(Some(0)), None)) };
        // DataFusion orders the columns of grouping sets by first appearance.
        let mut order: Vec<usize> = Vec::new();
        for i in sets.iter().flatten() {
            if !order.contains(i) {
                order.push(*i);
            }
        }
        let _ = groups;
        let id = DfExpr::Column(datafusion::common::Column::new_unqualified(datafusion::logical_expr::Aggregate::INTERNAL_GROUPING_ID));
        let id = DfExpr::Cast(Cast::new(Box::new(id), arrow::datatypes::DataType::Int64));
        let lit = |n: i64| DfExpr::Literal(ScalarValue::Int64(Some(n)), None);
        let mut sum: Option<DfExpr> = None;
        for (i, position) in positions.iter().enumerate() {
            let out_bit = positions.len() - 1 - i;
            let term = match order.iter().position(|o| o == position) {
                Some(at) => {
                    let bit = order.len() - 1 - at;
                    let shifted = stoa_sql::typed::expr::binary(id.clone(), Operator::BitwiseShiftRight, lit(bit as i64));
                    let masked = stoa_sql::typed::expr::binary(shifted, Operator::BitwiseAnd, lit(1));
                    stoa_sql::typed::expr::binary(masked, Operator::BitwiseShiftLeft, lit(out_bit as i64))
                }
                // In no set: always aggregated over.
                None => lit(1 << out_bit),
            };
            sum = Some(match sum {
                None => term,
                Some(before) => stoa_sql::typed::expr::binary(before, Operator::BitwiseOr, term),
            });
        }
        let sum = sum.unwrap_or_else(|| lit(0));
        Ok(DfExpr::Cast(Cast::new(Box::new(sum), arrow::datatypes::DataType::Int32)))
    }
}

/// The expression in the sortable form of numerics.
pub(super) fn widen(e: &Expr) -> Expr {
    let wide = e.ty.widened();
    if wide.arrow == e.ty.arrow { e.clone() } else { Expr::new(ExprKind::Cast { arg: Box::new(e.clone()), explicit: false }, wide) }
}

/// Whether the result is made of the values in the order in which they come, which the call itself does not say.
pub(super) fn gathers(a: &AggregateExpr) -> bool {
    let name = a.func.0.name;
    let ordered = matches!(name, "array_agg" | "string_agg" | "json_agg" | "jsonb_agg" | "json_object_agg" | "jsonb_object_agg");
    ordered && a.order_by.is_empty() && !a.distinct && !a.within_group
}
