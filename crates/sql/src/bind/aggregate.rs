//! GROUP BY: which expressions are grouped, the aggregate node, and what may stand above it.

use super::Binder;
use super::function::same_expr;
use super::scope::Scope;
use crate::typed::tree::{AggregateExpr, ColId, Expr, ExprKind, Rel};
use crate::typed::walk;
use crate::typed::walk::walk_volatile;
use std::collections::HashSet;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};

/// The parts of a grouped query while its expressions are rewritten.
pub struct Grouping {
    pub groups: Vec<(ColId, Expr)>,
    pub sets: Option<Vec<Vec<usize>>>,
    pub aggregates: Vec<(ColId, AggregateExpr)>,
    pub grouping: Vec<(ColId, Vec<usize>)>,
    /// Columns that FROM gives.
    local: HashSet<ColId>,
}

impl Grouping {
    /// Begins with what inner queries have asked of this one.
    ///
    /// # Errors
    /// 42803 for a GROUPING of an inner query whose arguments are not grouped here.
    pub fn new(groups: Vec<(ColId, Expr)>, sets: Option<Vec<Vec<usize>>>, scope: &Scope) -> PgResult<Self> {
        let mut new = Self { groups, sets, aggregates: scope.outer_aggregates.clone(), grouping: Vec::new(), local: scope.local.clone() };
        for (id, args) in &scope.outer_groupings {
            new.grouping.push((*id, new.positions(args)?));
        }
        Ok(new)
    }

    /// Whether an expression has a grouped one that is NULL in the rows of some grouping set.
    fn is_null_in_a_set(&self, expr: &Expr) -> bool {
        let Some(sets) = &self.sets else { return false };
        self.groups
            .iter()
            .enumerate()
            .any(|(at, (_, group))| !sets.iter().all(|set| set.contains(&at)) && expr.any(&mut |e| same_expr(e, group)))
    }

    /// Whether the column is what an aggregate or GROUPING gives.
    fn gives(&self, id: ColId) -> bool {
        self.aggregates.iter().any(|(a, _)| *a == id) || self.grouping.iter().any(|(g, _)| *g == id)
    }

    /// Which of the grouped expressions the arguments of GROUPING are.
    fn positions(&self, args: &[Expr]) -> PgResult<Vec<usize>> {
        let position = |arg| self.groups.iter().position(|(_, group)| same_expr(group, arg));
        args.iter().map(position).collect::<Option<_>>().ok_or_else(|| {
            PgError::new(SqlState::GROUPING_ERROR, "arguments to GROUPING must be grouping expressions of the associated query level")
        })
    }

    pub fn into_rel(self, input: Rel) -> Rel {
        Rel::Aggregate {
            input: Box::new(input),
            groups: self.groups,
            sets: self.sets,
            aggregates: self.aggregates,
            grouping: self.grouping,
        }
    }
}

impl Binder<'_> {
    /// Replaces aggregates and grouped expressions by columns of the aggregate node; 42803 for what is neither.
    pub fn above_groups(&mut self, expr: &mut Expr, grouping: &mut Grouping) -> PgResult<()> {
        if let Some((id, group)) = grouping.groups.iter().find(|(_, g)| same_expr(g, expr)) {
            let column = Expr::column(*id, group.ty.clone());
            // Numerics with a scale beside others: the same value, in the form that is wanted here.
            *expr = if group.ty.arrow == expr.ty.arrow { column } else { self.in_form(column, &expr.ty)? };
            return Ok(());
        }
        match &mut expr.kind {
            ExprKind::Aggregate(aggregate) => {
                if aggregate.within_group {
                    let direct = aggregate.args.len().saturating_sub(aggregate.order_by.len());
                    for arg in aggregate.args.iter().take(direct) {
                        if grouping.is_null_in_a_set(arg) {
                            return Err(PgError::unsupported(
                                "direct arguments of an ordered-set aggregate that not all grouping sets have are not supported",
                            ));
                        }
                        self.above_groups(&mut arg.clone(), grouping)
                            .map_err(|e| e.detail("Direct arguments of an ordered-set aggregate must use only grouped columns."))?;
                    }
                }
                let ty = aggregate.ty.clone();
                let id = match grouping.aggregates.iter().find(|(_, a)| *a == **aggregate && !is_volatile(a)) {
                    Some((id, _)) => *id,
                    None => {
                        let id = self.new_col();
                        grouping.aggregates.push((id, (**aggregate).clone()));
                        id
                    }
                };
                *expr = Expr::column(id, ty);
                return Ok(());
            }
            ExprKind::Grouping(args) => {
                let positions = grouping.positions(args)?;
                let id = match grouping.grouping.iter().find(|(_, p)| *p == positions) {
                    Some((id, _)) => *id,
                    None => {
                        let id = self.new_col();
                        grouping.grouping.push((id, positions));
                        id
                    }
                };
                *expr = Expr::column(id, SqlType::new(PgType::Int4));
                return Ok(());
            }
            ExprKind::Column(id) => {
                let id = *id;
                if grouping.local.contains(&id) && !grouping.gives(id) {
                    return self.dependent_column(id, &expr.ty.clone(), grouping, false);
                }
                return Ok(());
            }
            _ => {}
        }
        for child in expr.children_mut() {
            self.above_groups(child, grouping)?;
        }
        // Subqueries may use grouped columns of this query only.
        let mut outer = Vec::new();
        walk::visit_subqueries(
            &Expr::new(
                match &expr.kind {
                    ExprKind::ScalarSubquery(_) | ExprKind::Exists(_) | ExprKind::ArraySubquery(_) | ExprKind::AnyQuery { .. } => {
                        expr.kind.clone()
                    }
                    _ => return Ok(()),
                },
                expr.ty.clone(),
            ),
            &mut |q| outer.extend(walk::free_columns(&q.rel)),
        );
        for id in outer {
            if grouping.local.contains(&id) && !grouping.gives(id) && !grouping.groups.iter().any(|(g, _)| *g == id) {
                let ty = self.column_type(id);
                self.dependent_column(id, &ty, grouping, true)?;
            }
        }
        Ok(())
    }

    fn column_type(&self, id: ColId) -> SqlType {
        self.scope()
            .items
            .iter()
            .flat_map(|i| &i.columns)
            .find(|c| matches!(c.expr.kind, ExprKind::Column(x) if x == id))
            .map_or_else(|| SqlType::new(PgType::Text), |c| c.expr.ty.clone())
    }

    /// A column that is not grouped is allowed when its table's primary key is.
    fn dependent_column(&mut self, id: ColId, ty: &SqlType, grouping: &mut Grouping, in_subquery: bool) -> PgResult<()> {
        if grouping.groups.iter().any(|(g, e)| *g == id && matches!(e.kind, ExprKind::Column(c) if c == id)) {
            return Ok(());
        }
        let grouped: Vec<ColId> =
            grouping.groups.iter().filter_map(|(_, e)| if let ExprKind::Column(c) = e.kind { Some(c) } else { None }).collect();
        let item = self.scope().items.iter().find(|i| i.columns.iter().any(|c| matches!(c.expr.kind, ExprKind::Column(x) if x == id)));
        if let Some(item) = item {
            // Of grouping sets, each must have the key.
            let in_all_sets = |key: &ColId| {
                let is_key = |(_, e): &(ColId, Expr)| matches!(e.kind, ExprKind::Column(c) if c == *key);
                let at = grouping.groups.iter().position(is_key);
                grouping.sets.iter().flatten().all(|set| at.is_some_and(|at| set.contains(&at)))
            };
            let by_key = item.key.as_ref().is_some_and(|key| !key.is_empty() && key.iter().all(|k| grouped.contains(k) && in_all_sets(k)));
            if by_key {
                let at = grouping.groups.len();
                grouping.groups.push((id, Expr::column(id, ty.clone())));
                grouping.sets.iter_mut().flatten().for_each(|set| set.push(at));
                return Ok(());
            }
            let name = item.columns.iter().find(|c| matches!(c.expr.kind, ExprKind::Column(x) if x == id)).map_or("?", |c| c.name.as_str());
            let full = if item.alias.is_empty() { name.to_owned() } else { format!("{}.{name}", item.alias) };
            let position = self.column_positions.get(&id).copied();
            return Err(if in_subquery {
                PgError::new(SqlState::GROUPING_ERROR, format!("subquery uses ungrouped column \"{full}\" from outer query"))
            } else {
                PgError::new(
                    SqlState::GROUPING_ERROR,
                    format!("column \"{full}\" must appear in the GROUP BY clause or be used in an aggregate function"),
                )
            }
            .at(position));
        }
        Err(PgError::new(SqlState::GROUPING_ERROR, "a column must appear in the GROUP BY clause or be used in an aggregate function"))
    }
}

fn is_volatile(aggregate: &AggregateExpr) -> bool {
    aggregate.args.iter().any(walk_volatile)
}

/// Whether an expression does something beside giving its value.
pub fn walk_effects(expr: &Expr) -> bool {
    let has_effects = |name: &str| {
        let known =
            ["nextval", "setval", "set_config", "setseed", "pg_notify", "pg_cancel_backend", "pg_terminate_backend", "pg_reload_conf"];
        known.contains(&name)
            || ["pg_sleep", "pg_advisory_", "pg_try_advisory_", "pg_stat_reset"].iter().any(|prefix| name.starts_with(prefix))
    };
    expr.any(&mut |e| matches!(&e.kind, ExprKind::Func { func, .. } if has_effects(func.0.name)))
}

/// Whether the expression holds an aggregate of this query.
pub fn has_aggregate(expr: &Expr) -> bool {
    expr.any(&mut |e| matches!(e.kind, ExprKind::Aggregate(_) | ExprKind::Grouping(_)))
}
