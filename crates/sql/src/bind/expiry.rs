//! Rows that end at a time of their own (`TTL EXPIRES AT`): when they have ended, they are no rows to any statement.
//!
//! A scan of such a table gets a condition, as policies give one, once all names are resolved: whatever reads the table by whichever path then
//! reads rows that are there. The condition asks for the beginning of the statement, or for the time of a scan of the past.

use super::scope::Clause;
use super::{BindContext, Binder, bind_stored_expr, bind_table_expr, syntax_error};
use crate::typed::tree::{ColId, Expr, ExprKind, TableScan};
use crate::typed::volatility::is_immutable;
use crate::typed::walk;
use std::collections::HashMap;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, BinaryOperator, VisitMut, VisitorMut};
use stoa_table::catalog::{ColumnId, TableDescriptor};

/// What rows of a table that have not ended satisfy, over its columns as `ColId(column id)`; `None` for a table whose rows do not end
/// by themselves.
///
/// # Errors
/// XX000 for an expression that cannot be read.
pub fn not_ended(ctx: &BindContext<'_>, table: &TableDescriptor) -> PgResult<Option<Expr>> {
    condition(&mut Binder::new(ctx.clone()), table, None, false)
}

/// The opposite: rows that have ended.
///
/// # Errors
/// As [`not_ended`].
pub fn ended(ctx: &BindContext<'_>, table: &TableDescriptor) -> PgResult<Option<Expr>> {
    condition(&mut Binder::new(ctx.clone()), table, None, true)
}

fn condition(binder: &mut Binder<'_>, table: &TableDescriptor, at: Option<Expr>, ended: bool) -> PgResult<Option<Expr>> {
    let Some(text) = &table.expires else { return Ok(None) };
    let context = BindContext { text, param_types: &[], ..binder.ctx.clone() };
    let end = bind_table_expr(&context, table, text)?;
    let at = match at {
        Some(at) => at,
        None => {
            let clock = stoa_syntax::parse_expression("pg_catalog.statement_timestamp()").map_err(syntax_error)?;
            binder.bind_expr(&clock)?
        }
    };
    // A column that is never NULL is compared alone, as a filter that key ranges and indexes can answer.
    let never_null = |id: ColId| table.column(ColumnId(id.0)).is_some_and(|column| !table.stores_null(column));
    let never_null = matches!(end.kind, ExprKind::Column(id) if never_null(id));
    if never_null && !ended {
        return binder.operator(">", Some(end), at).map(Some);
    }
    let over = binder.operator("<=", Some(end), at)?;
    if ended {
        return Ok(Some(over));
    }
    let kind = ExprKind::IsBool { arg: Box::new(over), value: Some(true), negated: true };
    Ok(Some(Expr::new(kind, SqlType::new(PgType::Bool))))
}

/// Binds the expression of `TTL EXPIRES AT` over a table's columns, as `ColId(column id)`.
///
/// # Errors
/// 42804 for one that is no timestamptz; 42P17 for one that has no column, or may give something else for the same row another time.
pub fn bind(context: &BindContext<'_>, table: &TableDescriptor, expr: &ast::Expr) -> PgResult<Expr> {
    let mut syntax = expr.clone();
    let _ = VisitMut::visit(&mut syntax, &mut InUtc { context, table });
    let ty = SqlType::new(PgType::Timestamptz);
    let bound = bind_stored_expr(context, Some(table), Clause::Expiry, &syntax, Some((&ty, "ttl expires at")))?;
    let mut columns = Vec::new();
    walk::columns_of(&bound, &mut columns);
    let invalid = |message| Err(PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    if columns.is_empty() {
        return invalid("TTL EXPIRES AT needs a column of the row");
    }
    if is_immutable(&bound) {
        return Ok(bound);
    }
    invalid("the expression of TTL EXPIRES AT is not immutable").map_err(|error: PgError| {
        error
            .detail("What it gives may depend on the time or on settings, such as TimeZone.")
            .hint("A timestamp without time zone is made one with it by AT TIME ZONE 'UTC'.")
    })
}

/// Writes sums of a timestamptz and an interval as those of UTC: with the session's TimeZone a row could end at another moment for each
/// session.
struct InUtc<'a> {
    context: &'a BindContext<'a>,
    table: &'a TableDescriptor,
}

impl VisitorMut for InUtc<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> std::ops::ControlFlow<()> {
        let ast::Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } = expr else {
            return std::ops::ControlFlow::Continue(());
        };
        let ty = |side: &ast::Expr| bind_stored_expr(self.context, Some(self.table), Clause::Expiry, side, None).ok().map(|e| e.ty.ty);
        let is = |side: &ast::Expr, wanted: &PgType| ty(side).as_ref() == Some(wanted);
        // A string beside a timestamptz is an interval.
        let text = |side: &ast::Expr| matches!(side, ast::Expr::Value(v) if matches!(v.value, ast::Value::SingleQuotedString(_)));
        let span = |side: &ast::Expr| text(side) || is(side, &PgType::Interval);
        let time = match (is(left, &PgType::Timestamptz), is(right, &PgType::Timestamptz)) {
            (true, false) if span(right) => left,
            (false, true) if span(left) => right,
            _ => return std::ops::ControlFlow::Continue(()),
        };
        **time = in_utc((**time).clone());
        *expr = in_utc(ast::Expr::Nested(Box::new(expr.clone())));
        std::ops::ControlFlow::Continue(())
    }
}

fn in_utc(expr: ast::Expr) -> ast::Expr {
    let zone = ast::Expr::Value(ast::Value::SingleQuotedString("UTC".into()).into());
    ast::Expr::AtTimeZone { timestamp: Box::new(expr), time_zone: Box::new(zone) }
}

impl Binder<'_> {
    /// What rows of a scan that have not ended satisfy.
    pub(super) fn not_ended(&mut self, scan: &TableScan) -> PgResult<Option<Expr>> {
        let table = std::sync::Arc::clone(&scan.table);
        let at = scan.as_of.as_deref().cloned();
        let Some(mut found) = condition(self, &table, at, false)? else { return Ok(None) };
        let ids: HashMap<ColId, ColId> = scan.columns.iter().map(|(column, id)| (ColId(column.0), *id)).collect();
        walk::rename_expr(&mut found, &ids);
        Ok(Some(found))
    }
}
