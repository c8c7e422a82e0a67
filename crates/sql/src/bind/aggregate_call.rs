//! Calls of aggregates, and to which query they belong.

use super::Binder;
use super::expr::unnested;
use super::function::{CallArgs, same_expr};
use super::scope::{Clause, Scope};
use crate::typed::tree::{AggregateExpr, Expr, ExprKind, FuncRef};
use std::sync::Arc;
use stoa_pg::registry::{Func, FuncKind, NativeAggregate};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E};

impl Binder<'_> {
    pub(super) fn bind_aggregate_call(&mut self, name: &str, call: &CallArgs<'_>, function: &ast::Function) -> PgResult<Expr> {
        let within_group = !function.within_group.is_empty();
        if let (true, Some(first)) = (within_group, call.order_by.first()) {
            let message = "cannot use multiple ORDER BY clauses with WITHIN GROUP";
            return Err(PgError::new(SqlState::SYNTAX_ERROR, message).at(self.pos(&first.expr)));
        }
        let before = self.misplaced.take();
        let order = if within_group { &function.within_group } else { &call.order_by };
        let mut args = self.in_clause(Clause::Aggregate, |b| {
            let positional = call.positional.iter().copied();
            b.check_no_sets("aggregate function calls", |b| positional.map(|e| b.bind_expr(e)).collect::<PgResult<Vec<_>>>())
        })?;
        let filter = match &function.filter {
            Some(filter) => {
                let bound = self.in_clause(Clause::Filter, |b| b.bind_expr(filter))?;
                Some(self.coerce_bool(bound, "FILTER").map_err(|e| e.at(self.pos(filter.as_ref())))?)
            }
            None => None,
        };
        if within_group {
            let keys = self.in_clause(Clause::Aggregate, |b| {
                let bind = |b: &mut Self, key: &ast::OrderByExpr| {
                    let bound = b.bind_expr(&key.expr)?;
                    // A literal takes the type that the function or the argument beside it wants.
                    let literal = matches!(unnested(&key.expr), E::Value(_)) && !matches!(name, "mode" | "percentile_disc");
                    if literal { Ok(bound) } else { b.resolve_unknown(bound) }
                };
                b.check_no_sets("aggregate function calls", |b| order.iter().map(|key| bind(b, key)).collect::<PgResult<Vec<_>>>())
            })?;
            args.extend(keys);
        }
        if call.star && !args.is_empty() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"*\""));
        }
        if within_group
            && matches!(name, "mode" | "percentile_disc")
            && let Some(key) = function.within_group.last()
            && matches!(unnested(&key.expr), E::Value(_))
            && self.bind_expr(&key.expr)?.ty.ty == PgType::Unknown
        {
            let message = "could not determine polymorphic type because input has type unknown";
            return Err(PgError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        let hypothetical = matches!(name, "rank" | "dense_rank" | "percent_rank" | "cume_dist");
        if hypothetical && !within_group && !args.is_empty() {
            let message = format!("WITHIN GROUP is required for ordered-set aggregate {name}");
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        if within_group && hypothetical {
            args = self.hypothetical_row(name, args, order.len())?;
        }
        if call.positional.is_empty() && !call.star && !within_group && name == "count" {
            return Err(count_of_nothing());
        }
        let (func, mut args) = self.find_function(name, args, Vec::new())?;
        if call.distinct && func.args.contains(&PgType::Any) {
            // What is compared has a type.
            args = args.into_iter().map(|arg| self.resolve_unknown(arg)).collect::<PgResult<Vec<_>>>()?;
        }
        if matches!(func.kind, FuncKind::Window(_)) {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("window function {name} requires an OVER clause")));
        }
        if within_group && !hypothetical && !matches!(name, "mode" | "percentile_cont" | "percentile_disc") {
            let message = format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP");
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        // PostgreSQL reads the order behind the function.
        let mut order_by = Vec::with_capacity(order.len());
        if !within_group {
            self.in_clause(Clause::Aggregate, |b| {
                b.check_no_sets("aggregate function calls", |b| {
                    order.iter().try_for_each(|key| b.bind_sort_key(key).map(|key| order_by.push(key)))
                })
            })?;
        }
        let given = args.clone();
        let mut aggregate = self.aggregate_expr(func, args, call.distinct, filter)?;
        if call.distinct && !within_group {
            // ORDER BY of a DISTINCT aggregate must name its arguments, as they are written.
            for (key, written) in order_by.iter_mut().zip(order) {
                match given.iter().position(|a| same_expr(a, &key.expr)).and_then(|at| aggregate.args.get(at)) {
                    Some(arg) => key.expr = arg.clone(),
                    None => {
                        return Err(PgError::new(
                            SqlState::INVALID_COLUMN_REFERENCE,
                            "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
                        )
                        .at(self.pos(&written.expr)));
                    }
                }
            }
        }
        if let Some(misplaced) = self.misplaced.take() {
            return Err(misplaced);
        }
        self.misplaced = before;
        if within_group {
            // The keys are in the form that the arguments were cast to.
            let direct = aggregate.args.len() - order.len();
            for (written, arg) in order.iter().zip(&aggregate.args[direct..]) {
                order_by.push(self.sort_key(arg.clone(), &written.options).map_err(|e| e.at(self.pos(&written.expr)))?);
            }
        }
        aggregate.order_by = order_by;
        aggregate.within_group = within_group;
        self.place_aggregate(aggregate, self.pos(&function.name))
    }

    /// The arguments of a hypothetical-set aggregate, those of its row and then its so many keys: the row's have the types of the keys.
    fn hypothetical_row(&mut self, name: &str, mut args: Vec<Expr>, sorted: usize) -> PgResult<Vec<Expr>> {
        let direct = args.len() - sorted;
        if direct != sorted {
            let types: Vec<String> = args.iter().map(|a| a.ty.ty.to_string()).collect();
            return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function {name}({}) does not exist", types.join(", "))).hint(
                format!(
                    "To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments (here {direct}) must match \
                     the number of ordering columns (here {sorted})."
                ),
            ));
        }
        let keys = args.split_off(sorted);
        let (mut row, mut forms) = (Vec::with_capacity(2 * sorted), Vec::with_capacity(sorted));
        for (given, key) in args.into_iter().zip(keys) {
            let (mut both, _) = self.unify(vec![key, given], "WITHIN GROUP")?;
            row.extend(both.pop());
            forms.extend(both.pop());
        }
        row.append(&mut forms);
        Ok(row)
    }

    /// Types an aggregate once its function is chosen.
    pub(super) fn aggregate_expr(
        &mut self,
        func: Arc<Func>,
        args: Vec<Expr>,
        distinct: bool,
        filter: Option<Expr>,
    ) -> PgResult<AggregateExpr> {
        let (mut args, mut ret) = self.apply_signature(&func.args, func.variadic, &func.ret, args)?;
        let native = match func.kind {
            FuncKind::NativeAggregate(native) => Some(native),
            _ => None,
        };
        match native {
            Some(NativeAggregate::Min | NativeAggregate::Max) => {
                if let Some(arg) = args.first() {
                    ret = SqlType { ty: ret.ty, typmod: -1, arrow: arg.ty.arrow.clone() };
                }
            }
            Some(NativeAggregate::Sum) => match args.first().and_then(|a| a.ty.decimal_parts()) {
                Some((p, s)) if p <= 28 => ret = SqlType::decimal(38, s),
                _ => args = args.into_iter().map(|a| self.widen(a)).collect::<PgResult<_>>()?,
            },
            Some(NativeAggregate::ArrayAgg) => {
                if let Some(arg) = args.first() {
                    ret = SqlType { typmod: -1, ..arg.ty.array_of() };
                }
            }
            Some(_) => {}
            None => {
                // A sum or an extreme of decimals stays native although the signature says numeric.
                let decimal = args.first().and_then(|a| a.ty.decimal_parts());
                match (func.name, decimal) {
                    ("sum", Some((p, s))) if p <= 28 && args.len() == 1 => ret = SqlType::decimal(38, s),
                    ("min" | "max", Some((p, s))) if args.len() == 1 => ret = SqlType::decimal(p, s),
                    _ => args = args.into_iter().map(|a| self.widen(a)).collect::<PgResult<_>>()?,
                }
            }
        }
        // The padding of character(n) is not in the value: the type keeps it.
        if let Some(arg) = args.first().filter(|a| a.ty.ty == PgType::Bpchar && matches!(func.name, "min" | "max" | "array_agg")) {
            ret.typmod = arg.ty.typmod;
        }
        Ok(AggregateExpr { func: FuncRef(func), args, distinct, order_by: Vec::new(), filter, within_group: false, ty: ret })
    }

    /// The depth of the innermost query that gives one of the columns: aggregates of them, and GROUPING, are its own.
    pub(super) fn owner_of(&self, columns: &[crate::typed::tree::ColId]) -> usize {
        let gives = |s: &Scope| columns.iter().any(|c| s.local.contains(c));
        self.scopes.iter().rposition(gives).unwrap_or(self.scopes.len().saturating_sub(1))
    }

    /// Decides to which query an aggregate belongs, and whether it may stand here.
    fn place_aggregate(&mut self, aggregate: AggregateExpr, position: Option<usize>) -> PgResult<Expr> {
        let ty = aggregate.ty.clone();
        let columns_of = |exprs: &mut dyn Iterator<Item = &Expr>| {
            let mut columns = Vec::new();
            exprs.for_each(|e| crate::typed::walk::columns_of(e, &mut columns));
            columns
        };
        let rest = || aggregate.filter.as_ref().into_iter().chain(aggregate.order_by.iter().map(|k| &k.expr));
        let columns = columns_of(&mut aggregate.args.iter().chain(rest()));
        let innermost = self.scopes.len().saturating_sub(1);
        // Direct arguments are values for the whole of a group: they do not say whose aggregate it is.
        let owner = if aggregate.within_group { self.owner_of(&columns_of(&mut rest())) } else { self.owner_of(&columns) };
        if aggregate.within_group && self.owner_of(&columns) > owner {
            let message = "outer-level aggregate cannot contain a lower-level variable in its direct arguments";
            return Err(PgError::new(SqlState::GROUPING_ERROR, message).at(position));
        }
        let nested = |s: &Scope| s.outer_aggregates.iter().any(|(id, _)| columns.contains(id));
        if owner != innermost && self.scopes.get(owner).is_some_and(nested) {
            return Err(PgError::new(SqlState::GROUPING_ERROR, "aggregate function calls cannot be nested").at(position));
        }
        let clause = self.scopes.get(owner).map_or(Clause::Default, |s| s.clause);
        match clause {
            Clause::SelectList | Clause::Having | Clause::OrderBy | Clause::Window | Clause::WindowArgument => {}
            // Said by the aggregate around it, if that is one: an unknown function comes first.
            Clause::Aggregate => {
                let nested = PgError::new(SqlState::GROUPING_ERROR, "aggregate function calls cannot be nested").at(position);
                self.misplaced.get_or_insert(nested);
            }
            Clause::From => {
                return Err(PgError::new(
                    SqlState::GROUPING_ERROR,
                    "aggregate functions are not allowed in FROM clause of their own query level",
                ));
            }
            other => {
                return Err(PgError::new(SqlState::GROUPING_ERROR, format!("aggregate functions are not allowed in {}", other.name())));
            }
        }
        if owner == innermost {
            return Ok(Expr::new(ExprKind::Aggregate(Box::new(aggregate)), ty));
        }
        let id = self.new_col();
        self.scopes[owner].outer_aggregates.push((id, aggregate));
        self.scopes[owner].local.insert(id);
        Ok(Expr::column(id, ty))
    }
}

pub(super) fn count_of_nothing() -> PgError {
    PgError::new(SqlState::WRONG_OBJECT_TYPE, "count(*) must be used to call a parameterless aggregate function")
}
