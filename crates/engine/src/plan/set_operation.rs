//! UNION, INTERSECT and EXCEPT of two plans.

use super::relation::Planner;
use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, LogicalPlanBuilder};
use stoa_pg::{PgResult, SqlType};
use stoa_sql::typed::expr::column;
use stoa_sql::typed::tree::{ColId, SetOp};
use stoa_sql::typed::{column_name, from_datafusion};

impl Planner {
    #[allow(clippy::too_many_arguments)] // the parts of the node
    pub(super) fn set_operation(
        &self,
        op: SetOp,
        all: bool,
        left: LogicalPlan,
        left_columns: &[ColId],
        right: LogicalPlan,
        right_columns: &[ColId],
        columns: &[(ColId, SqlType)],
    ) -> PgResult<LogicalPlan> {
        let rename = |plan: LogicalPlan, from: &[ColId], to: &[ColId]| {
            let exprs: Vec<DfExpr> = from.iter().zip(to).map(|(f, t)| column(*f).alias(column_name(*t))).collect();
            LogicalPlanBuilder::from(plan).project(exprs).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
        };
        let ids: Vec<ColId> = columns.iter().map(|(c, _)| *c).collect();
        let left = rename(left, left_columns, &ids)?;
        if op == SetOp::Union {
            let right = rename(right, right_columns, &ids)?;
            let union = LogicalPlanBuilder::from(left).union(right).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)?;
            return if all { Ok(union) } else { self.distinct(union, columns) };
        }
        // Semi- and anti-joins in which NULLs are equal; for ALL, equal rows are numbered first.
        let other: Vec<ColId> = columns.iter().map(|_| self.fresh()).collect();
        let right = rename(right, right_columns, &other)?;
        let exprs = self.exprs();
        let mut left_builder = LogicalPlanBuilder::from(if all { left } else { self.distinct(left, columns)? });
        let mut right_builder = LogicalPlanBuilder::from(right);
        let mut keys: (Vec<Column>, Vec<Column>) = (Vec::new(), Vec::new());
        let mut left_keys: Vec<DfExpr> = Vec::new();
        let mut right_keys: Vec<DfExpr> = Vec::new();
        let (mut left_all, mut right_all): (Vec<DfExpr>, Vec<DfExpr>) = (ids.iter().map(|c| column(*c)).collect(), Vec::new());
        for ((id, ty), o) in columns.iter().zip(&other) {
            let (lk, rk) = (self.fresh(), self.fresh());
            left_all.push(exprs.key_of(column(*id), ty).alias(column_name(lk)));
            right_all.push(exprs.key_of(column(*o), ty).alias(column_name(rk)));
            keys.0.push(Column::new_unqualified(column_name(lk)));
            keys.1.push(Column::new_unqualified(column_name(rk)));
            left_keys.push(column(lk));
            right_keys.push(column(rk));
        }
        left_builder = left_builder.project(left_all).map_err(from_datafusion)?;
        right_builder = right_builder.project(right_all).map_err(from_datafusion)?;
        if all {
            let (ln, rn) = (self.fresh(), self.fresh());
            let numbered = |b: LogicalPlanBuilder, keys: Vec<DfExpr>, id: ColId| {
                let window = super::window::ranking("row_number", keys, Vec::new());
                b.build()
                    .and_then(|p| super::window::windowed(p, vec![(id, window)]))
                    .map(LogicalPlanBuilder::from)
                    .map_err(from_datafusion)
            };
            left_builder = numbered(left_builder, left_keys, ln)?;
            right_builder = numbered(right_builder, right_keys, rn)?;
            keys.0.push(Column::new_unqualified(column_name(ln)));
            keys.1.push(Column::new_unqualified(column_name(rn)));
        }
        let kind = if op == SetOp::Intersect { JoinType::LeftSemi } else { JoinType::LeftAnti };
        let right = right_builder.build().map_err(from_datafusion)?;
        left_builder
            .join_detailed(right, kind, keys, None, NullEquality::NullEqualsNull)
            .and_then(|b| b.project(ids.iter().map(|c| column(*c))))
            .and_then(LogicalPlanBuilder::build)
            .map_err(from_datafusion)
    }
}
