//! GROUP BY, ORDER BY and DISTINCT ON: expressions that may stand for those of the select list.

use super::aggregate::has_aggregate;
use super::function::same_expr;
use super::query::{lacks_equality, no_equality};
use super::select::Target;
use super::{Binder, fold};
use crate::typed::tree::{Expr, ExprKind, SortKey};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::ast::{self, Expr as E};
use stoa_syntax::marks;

/// What is grouped by: each expression once.
#[derive(Default)]
struct Groups {
    exprs: Vec<Expr>,
    /// Which item of the select list each of them is.
    targets: Vec<Option<usize>>,
    /// Whether one of them is two items, which PostgreSQL tells apart.
    twice: bool,
}

impl Binder<'_> {
    /// GROUP BY: expressions, and grouping sets as positions among them.
    pub(super) fn bind_group_by(
        &mut self,
        group_by: &ast::GroupByExpr,
        targets: &[Target],
    ) -> PgResult<(Vec<Expr>, Option<Vec<Vec<usize>>>)> {
        let ast::GroupByExpr::Expressions(items, modifiers) = group_by else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"ALL\""));
        };
        if !modifiers.is_empty() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"WITH\""));
        }
        let mut groups = Groups::default();
        // The product of what each item stands for.
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        let mut has_sets = false;
        let distinct = items.first().is_some_and(|e| marks::called(e, marks::GROUP_BY_DISTINCT).is_some());
        for item in items.iter().skip(usize::from(distinct)) {
            let alternatives = self.grouping_item(item, targets, &mut groups, &mut has_sets)?;
            let mut product = Vec::with_capacity(sets.len() * alternatives.len());
            for set in &sets {
                for alternative in &alternatives {
                    let mut joined = set.clone();
                    for i in alternative {
                        if !joined.contains(i) {
                            joined.push(*i);
                        }
                    }
                    product.push(joined);
                }
            }
            if product.len() > 4096 {
                return Err(PgError::new(SqlState::STATEMENT_TOO_COMPLEX, "too many grouping sets present (maximum 4096)"));
            }
            sets = product;
        }
        if distinct {
            let mut seen: Vec<Vec<usize>> = Vec::with_capacity(sets.len());
            sets.retain(|set| {
                let mut sorted = set.clone();
                sorted.sort_unstable();
                let new = !seen.contains(&sorted);
                seen.push(sorted);
                new
            });
        }
        if has_sets && groups.twice {
            return Err(PgError::unsupported(
                "grouping sets over two columns of the select list that are the same expression are not supported",
            )
            .hint("Compute one of them in a subquery in FROM."));
        }
        Ok((groups.exprs, has_sets.then_some(sets)))
    }

    fn grouping_item(&mut self, item: &E, targets: &[Target], groups: &mut Groups, has_sets: &mut bool) -> PgResult<Vec<Vec<usize>>> {
        let list = |b: &mut Self, exprs: &[E], groups: &mut Groups| -> PgResult<Vec<usize>> {
            let mut out = Vec::new();
            for e in exprs {
                out.push(b.group_expr(e, targets, groups)?);
            }
            Ok(out)
        };
        match item {
            E::Rollup(parts) => {
                *has_sets = true;
                let parts = parts.iter().map(|p| list(self, p, groups)).collect::<PgResult<Vec<_>>>()?;
                Ok((0..=parts.len()).rev().map(|n| parts[..n].concat()).collect())
            }
            E::Cube(parts) => {
                *has_sets = true;
                let parts = parts.iter().map(|p| list(self, p, groups)).collect::<PgResult<Vec<_>>>()?;
                if parts.len() > 12 {
                    return Err(PgError::new(SqlState::TOO_MANY_COLUMNS, "CUBE is limited to 12 elements"));
                }
                let n = parts.len();
                Ok((0..1usize << n)
                    .map(|mask| (0..n).filter(|i| mask & (1 << (n - 1 - i)) == 0).flat_map(|i| parts[i].clone()).collect())
                    .collect())
            }
            E::GroupingSets(parts) => {
                *has_sets = true;
                let mut out = Vec::new();
                for part in parts {
                    // A ROLLUP or CUBE inside GROUPING SETS stands for its sets.
                    if let [inner @ (E::Rollup(_) | E::Cube(_) | E::GroupingSets(_))] = part.as_slice() {
                        out.extend(self.grouping_item(inner, targets, groups, has_sets)?);
                    } else if let [E::Tuple(items)] = part.as_slice() {
                        out.push(list(self, items, groups)?);
                    } else {
                        out.push(list(self, part, groups)?);
                    }
                }
                Ok(out)
            }
            E::Tuple(items) if items.is_empty() => {
                *has_sets = true;
                Ok(vec![Vec::new()])
            }
            E::Tuple(items) => Ok(vec![list(self, items, groups)?]),
            other => Ok(vec![vec![self.group_expr(other, targets, groups)?]]),
        }
    }

    /// One grouped expression: a position, a name, or an expression. Gives its place in `groups`.
    fn group_expr(&mut self, e: &E, targets: &[Target], groups: &mut Groups) -> PgResult<usize> {
        let mut inner = e;
        while let E::Nested(next) = inner {
            inner = next;
        }
        let mut target = None;
        let expr = match inner {
            E::Value(v) => match &v.value {
                ast::Value::Number(n, _) if n.bytes().all(|b| b.is_ascii_digit()) => {
                    target = n.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                    self.target_at(n, targets, "GROUP BY").map_err(|err| err.at(self.pos(e)))?
                }
                ast::Value::Placeholder(_) => self.bind_expr(e)?,
                _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, "non-integer constant in GROUP BY").at(self.pos(e))),
            },
            E::UnaryOp { op: ast::UnaryOperator::Minus, expr: digits } if integer_digits(digits).is_some() => {
                let number = format!("-{}", integer_digits(digits).unwrap_or_default());
                return Err(self
                    .target_at(&number, targets, "GROUP BY")
                    .err()
                    .unwrap_or_else(|| PgError::internal("a negative position"))
                    .at(self.pos(e)));
            }
            E::Identifier(ident) => {
                // An input column comes before a name of the select list, and that before the row of a relation.
                let name = fold(ident);
                let listed = targets.iter().position(|t| t.name == name);
                let bound = if listed.is_some() && self.names_row(&name) { None } else { Some(self.bind_expr(e)) };
                match (bound, listed.and_then(|at| targets.get(at))) {
                    (Some(Err(error)), Some(known)) if error.code() == SqlState::UNDEFINED_COLUMN => {
                        target = listed;
                        known.expr.clone()
                    }
                    (None, Some(known)) => {
                        target = listed;
                        known.expr.clone()
                    }
                    (Some(bound), _) => bound?,
                    (None, None) => self.bind_expr(e)?,
                }
            }
            _ => self.bind_expr(e)?,
        };
        if has_aggregate(&expr) {
            return Err(PgError::new(SqlState::GROUPING_ERROR, "aggregate functions are not allowed in GROUP BY").at(self.pos(e)));
        }
        if expr.any(&mut |x| matches!(x.kind, ExprKind::Window(_))) {
            return Err(PgError::new(SqlState::WINDOWING_ERROR, "window functions are not allowed in GROUP BY").at(self.pos(e)));
        }
        let expr = self.resolve_unknown(expr)?;
        if lacks_equality(&expr.ty.ty) {
            return Err(no_equality(&expr.ty.ty).at(self.pos(e)));
        }
        let target = target.or_else(|| targets.iter().position(|t| same_expr(&t.expr, &expr)));
        if let Some(at) = groups.exprs.iter().position(|g| same_expr(g, &expr)) {
            groups.twice |= groups.targets.get(at).is_some_and(|known| *known != target);
            return Ok(at);
        }
        groups.exprs.push(expr);
        groups.targets.push(target);
        Ok(groups.exprs.len() - 1)
    }

    fn target_at(&mut self, number: &str, targets: &[Target], clause: &str) -> PgResult<Expr> {
        number
            .parse::<usize>()
            .ok()
            .and_then(|n| n.checked_sub(1))
            .and_then(|i| targets.get(i))
            .map(|t| t.expr.clone())
            .ok_or_else(|| PgError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("{clause} position {number} is not in select list")))
    }

    pub(super) fn bind_order_by(&mut self, keys: &[&ast::OrderByExpr], targets: &[Target]) -> PgResult<Vec<SortKey>> {
        let mut out: Vec<SortKey> = Vec::with_capacity(keys.len());
        for key in keys {
            let expr = self.order_expr(&key.expr, targets, "ORDER BY")?;
            let expr = self.resolve_unknown(expr)?;
            let sort = self.sort_key(expr, &key.options).map_err(|e| e.at(self.pos(&key.expr)))?;
            if !out.iter().any(|k| same_expr(&k.expr, &sort.expr)) {
                out.push(sort);
            }
        }
        Ok(out)
    }

    /// An ORDER BY or DISTINCT ON item: a position, a name of the select list, or an expression over the input.
    fn order_expr(&mut self, e: &E, targets: &[Target], clause: &'static str) -> PgResult<Expr> {
        let mut inner = e;
        while let E::Nested(next) = inner {
            inner = next;
        }
        match inner {
            E::Value(v) => match &v.value {
                ast::Value::Number(n, _) if n.bytes().all(|b| b.is_ascii_digit()) => {
                    self.target_at(n, targets, clause).map_err(|err| err.at(self.pos(e)))
                }
                ast::Value::Placeholder(_) => self.bind_expr(e),
                _ => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("non-integer constant in {clause}")).at(self.pos(e))),
            },
            E::UnaryOp { op: ast::UnaryOperator::Minus, expr: digits } if integer_digits(digits).is_some() => {
                let number = format!("-{}", integer_digits(digits).unwrap_or_default());
                self.target_at(&number, targets, clause).map_err(|err| err.at(self.pos(e)))
            }
            E::UnaryOp { op: ast::UnaryOperator::Minus, expr: digits } if is_number(digits) => {
                Err(PgError::new(SqlState::SYNTAX_ERROR, format!("non-integer constant in {clause}")).at(self.pos(e)))
            }
            E::Identifier(ident) => {
                let name = fold(ident);
                let mut found: Option<&Expr> = None;
                for target in targets.iter().filter(|t| t.name == name) {
                    if found.is_some_and(|f| !same_expr(f, &target.expr)) {
                        return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("{clause} \"{name}\" is ambiguous")).at(self.pos(e)));
                    }
                    found = Some(&target.expr);
                }
                match found {
                    Some(expr) => Ok(expr.clone()),
                    None => self.bind_expr(e),
                }
            }
            _ => self.bind_expr(e),
        }
    }

    pub(super) fn bind_distinct_on(&mut self, exprs: &[E], targets: &[Target]) -> PgResult<Vec<Expr>> {
        let mut out = Vec::with_capacity(exprs.len());
        for e in exprs {
            let expr = self.order_expr(e, targets, "SELECT DISTINCT ON")?;
            out.push(self.resolve_unknown(expr)?);
        }
        Ok(out)
    }

    /// 42P10 unless ORDER BY begins with the expressions of DISTINCT ON, in any order.
    pub(super) fn check_distinct_on(&mut self, on: &[Expr], written: &[E], order: &[SortKey]) -> PgResult<()> {
        let mut seen = vec![false; on.len()];
        let mut others = false;
        let mut misplaced = None;
        for key in order {
            let key = self.resolve_unknown(key.expr.clone())?;
            let mut found = None;
            for (i, _) in on.iter().enumerate().filter(|(_, e)| same_expr(e, &key)) {
                seen[i] = true;
                found = found.or(Some(i));
            }
            match found {
                Some(i) if others => {
                    misplaced = Some(i);
                    break;
                }
                Some(_) => {}
                None => others = true,
            }
        }
        let missing = || seen.iter().position(|seen| !seen).filter(|_| others);
        match misplaced.or_else(missing) {
            None => Ok(()),
            Some(i) => {
                let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
                let position = written.get(i).and_then(|e| self.pos(e));
                Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(position))
            }
        }
    }
}

fn is_number(e: &E) -> bool {
    matches!(e, E::Value(v) if matches!(v.value, ast::Value::Number(..)))
}

/// The digits of an integer constant.
fn integer_digits(e: &E) -> Option<&str> {
    match e {
        E::Value(ast::ValueWithSpan { value: ast::Value::Number(n, _), .. }) if n.bytes().all(|b| b.is_ascii_digit()) => Some(n),
        _ => None,
    }
}
