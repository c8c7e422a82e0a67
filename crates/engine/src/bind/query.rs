//! Queries: WITH, set operations, VALUES, ORDER BY and LIMIT around them.

use super::scope::{Clause, Scope, StarColumn};
use super::select::Tail;
use super::tree::{Bound, BoundBody, ColId, Cte, CteBody, CteId, Expr, ExprKind, Output, Query, Rel, SetOp};
use super::{Binder, CteEntry, MAX_DEPTH, fold, walk};
use datafusion::common::ScalarValue;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::types::RecordType;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E, SetExpr};

/// A branch of a set operation. Literals without a type take that of the other branch, so which outputs they are is kept.
struct Branch<'a> {
    query: Query,
    literals: Vec<Option<Expr>>,
    body: &'a SetExpr,
}

impl Binder<'_> {
    /// The query of a whole statement, which may be a mutation behind WITH.
    pub(crate) fn bind_top_query(&mut self, query: &ast::Query) -> PgResult<BoundBody> {
        if let SetExpr::Insert(s) | SetExpr::Update(s) | SetExpr::Delete(s) | SetExpr::Merge(s) = &*query.body {
            if let Some(with) = &query.with {
                self.bind_with(with, true)?;
            }
            return Ok(BoundBody::Mutation(self.bind_mutation(s, true)?));
        }
        Ok(BoundBody::Query(self.bind_query_at(query, true)?))
    }

    /// A query inside another.
    pub(crate) fn bind_query(&mut self, query: &ast::Query) -> PgResult<Query> {
        self.bind_query_at(query, false)
    }

    /// A subquery in an expression.
    pub(crate) fn bind_subquery(&mut self, query: &ast::Query) -> PgResult<Query> {
        let no_sets = self.no_sets.take();
        let result = self.bind_query(query);
        self.no_sets = no_sets;
        result
    }

    fn bind_query_at(&mut self, query: &ast::Query, top: bool) -> PgResult<Query> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            return Err(PgError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        let ctes = self.cte_scope.len();
        let result = self.bind_query_body(query, top);
        self.cte_scope.truncate(ctes);
        self.depth -= 1;
        result
    }

    fn bind_query_body(&mut self, query: &ast::Query, top: bool) -> PgResult<Query> {
        if let Some(with) = &query.with {
            self.bind_with(with, top)?;
        }
        let tail = tail_of(query)?;
        self.bind_body(&query.body, &tail)
    }

    fn bind_body(&mut self, body: &SetExpr, tail: &Tail<'_>) -> PgResult<Query> {
        match body {
            SetExpr::Select(select) => self.bind_select(select, tail),
            SetExpr::Query(inner) => {
                let query = self.bind_query(inner)?;
                self.ordered(query, tail)
            }
            SetExpr::Values(values) => {
                let query = self.bind_values(values)?;
                self.ordered(query, tail)
            }
            SetExpr::Table(table) => {
                let mut parts = Vec::new();
                if let Some(schema) = &table.schema_name {
                    parts.push(ast::Ident::new(schema));
                }
                parts.push(ast::Ident::new(table.table_name.clone().unwrap_or_default()));
                let sql = format!("SELECT * FROM {}", ast::ObjectName::from(parts));
                let parsed = stoa_syntax::parse(&sql).map_err(super::syntax_error)?;
                match parsed.first().map(|p| &p.statement) {
                    Some(ast::Statement::Query(q)) => {
                        let query = self.bind_query(q).map_err(|mut e| {
                            e.fields_mut().position = None;
                            e
                        })?;
                        self.ordered(query, tail)
                    }
                    _ => Err(PgError::internal("TABLE is a query")),
                }
            }
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                let query = self.bind_set_operation(*op, *set_quantifier, left, right)?;
                self.ordered(query, tail)
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Err(PgError::unsupported("WITH clause containing a data-modifying statement must be at the top level"))
            }
        }
    }

    fn bind_values(&mut self, values: &ast::Values) -> PgResult<Query> {
        let rows: Vec<&[E]> = values.rows.iter().map(|r| r.content.as_slice()).collect();
        self.scopes.push(Scope::new(Clause::Values));
        let mut width = None;
        let bound = rows
            .iter()
            .map(|row| {
                let mut bound = Vec::with_capacity(row.len());
                for e in *row {
                    if matches!(e, E::Identifier(i) if i.quote_style.is_none() && i.value.eq_ignore_ascii_case("default")) {
                        return Err(PgError::new(SqlState::SYNTAX_ERROR, "DEFAULT is not allowed in this context").at(self.pos(e)));
                    }
                    match self.expanded(e)? {
                        Some(fields) => bound.extend(fields.into_iter().map(|(_, field)| field)),
                        None => bound.push(self.bind_expr(e)?),
                    }
                }
                // Behind the errors of the row itself.
                if bound.len() != *width.get_or_insert(bound.len()) {
                    let at = row.first().and_then(|e| self.pos(e));
                    return Err(PgError::new(SqlState::SYNTAX_ERROR, "VALUES lists must all be the same length").at(at));
                }
                Ok(bound)
            })
            .collect::<PgResult<Vec<_>>>();
        self.scopes.pop();
        let mut bound = bound?;
        let width = width.unwrap_or(0);
        let mut columns = Vec::with_capacity(width);
        let mut outputs = Vec::with_capacity(width);
        for i in 0..width {
            let column: Vec<Expr> = bound.iter().map(|row| row[i].clone()).collect();
            let written = |b: &Self, row: usize| rows.get(row).and_then(|row| row.get(i)).and_then(|e| b.pos(e));
            let (column, ty) = self.unify_written(column, "VALUES", &written)?;
            for (row, e) in bound.iter_mut().zip(column) {
                row[i] = e;
            }
            let col = self.new_col();
            columns.push((col, ty.clone()));
            outputs.push(Output { name: format!("column{}", i + 1), col, ty, origin: None });
        }
        // Rows with set-returning functions or subqueries work as a union of projections.
        Ok(Query { rel: Rel::Values { columns, rows: bound }, outputs })
    }

    fn bind_set_operation(
        &mut self,
        op: ast::SetOperator,
        quantifier: ast::SetQuantifier,
        left: &SetExpr,
        right: &SetExpr,
    ) -> PgResult<Query> {
        let (op, word) = match op {
            ast::SetOperator::Union => (SetOp::Union, "UNION"),
            ast::SetOperator::Intersect => (SetOp::Intersect, "INTERSECT"),
            ast::SetOperator::Except | ast::SetOperator::Minus => (SetOp::Except, "EXCEPT"),
        };
        let all = match quantifier {
            ast::SetQuantifier::All => true,
            ast::SetQuantifier::Distinct | ast::SetQuantifier::None => false,
            _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"BY\"")),
        };
        let none = Tail::default();
        let left = self.bind_branch(left, &none)?;
        let right = self.bind_branch(right, &none)?;
        self.combine(op, all, word, left, right)
    }

    /// The names of a query's columns.
    pub(super) fn bind_branch_names(&mut self, body: &SetExpr) -> PgResult<Vec<String>> {
        let depth = self.ctes.len();
        let query = self.bind_body(body, &Tail::default())?;
        self.ctes.truncate(depth);
        Ok(query.outputs.into_iter().map(|o| o.name).collect())
    }

    fn bind_branch<'a>(&mut self, body: &'a SetExpr, tail: &Tail<'_>) -> PgResult<Branch<'a>> {
        let query = self.bind_body(body, tail)?;
        let literals = query.outputs.iter().map(|o| if self.untyped.contains(&o.col) { untyped_output(&query.rel, o) } else { None });
        let literals = literals.collect();
        Ok(Branch { query, literals, body })
    }

    /// Where a column of a branch is written; `None` where several expressions give it.
    fn written(&self, body: &SetExpr, column: usize) -> Option<usize> {
        match body {
            SetExpr::Select(select) => {
                let star = |item: &ast::SelectItem| matches!(item, ast::SelectItem::Wildcard(_) | ast::SelectItem::QualifiedWildcard(..));
                let item = match select.projection.iter().position(star) {
                    // Those before it are as they are written, and those of the last item all of it.
                    Some(first) if column >= first => select.projection.get(first).filter(|_| first + 1 == select.projection.len()),
                    _ => select.projection.get(column),
                };
                item.and_then(|item| self.pos(item))
            }
            SetExpr::Query(query) => self.written(&query.body, column),
            SetExpr::SetOperation { left, .. } => self.written(left, column),
            SetExpr::Values(values) => match values.rows.as_slice() {
                [row] => row.content.get(column).and_then(|e| self.pos(e)),
                _ => None,
            },
            _ => None,
        }
    }

    /// An output that has no type of its own, to be read as another; what the relation has in its place is no longer asked for.
    pub(crate) fn take_untyped(&mut self, rel: &mut Rel, output: &Output) -> Option<Expr> {
        let found = untyped_output(rel, output)?;
        if let ExprKind::Param(number) = found.kind {
            // It was taken for a text for want of anything better.
            if let Some(known) = self.params.get_mut(number) {
                *known = None;
            }
            if let Rel::Project { exprs, .. } = rel
                && let Some((_, e)) = exprs.iter_mut().find(|(c, _)| *c == output.col)
            {
                e.kind = ExprKind::Const(ScalarValue::Utf8View(None));
            }
        }
        Some(found)
    }

    fn combine(&mut self, op: SetOp, all: bool, word: &'static str, left: Branch<'_>, right: Branch<'_>) -> PgResult<Query> {
        let Branch { query: mut left, literals: left_literals, body: left_body } = left;
        let Branch { query: mut right, literals: right_literals, body: right_body } = right;
        if left.outputs.len() != right.outputs.len() {
            return Err(self.other_width(word, right_body));
        }
        let mut left_exprs = Vec::new();
        let mut right_exprs = Vec::new();
        let mut columns = Vec::new();
        let mut outputs = Vec::new();
        let (left_outputs, right_outputs) = (std::mem::take(&mut left.outputs), std::mem::take(&mut right.outputs));
        for (i, (l, r)) in left_outputs.iter().zip(&right_outputs).enumerate() {
            let mut side = |literal: Option<&Option<Expr>>, rel: &mut Rel, own: &Output, other: &SqlType| {
                let untyped = literal.is_some_and(Option::is_some) && other.ty != PgType::Text;
                let taken = if untyped { self.take_untyped(rel, own) } else { None };
                taken.unwrap_or_else(|| Expr::column(own.col, own.ty.clone()))
            };
            let le = side(left_literals.get(i), &mut left.rel, l, &r.ty);
            let re = side(right_literals.get(i), &mut right.rel, r, &l.ty);
            let written = |b: &Self, side: usize| b.written(if side == 0 { left_body } else { right_body }, i);
            let (mut both, ty) = self.unify_written(vec![le, re], word, &written)?;
            let (Some(re), Some(le)) = (both.pop(), both.pop()) else { return Err(PgError::internal("two branches")) };
            if !(op == SetOp::Union && all) && lacks_equality(&ty.ty) {
                return Err(no_equality(&ty.ty));
            }
            let (lc, rc, col) = (self.new_col(), self.new_col(), self.new_col());
            left_exprs.push((lc, le));
            right_exprs.push((rc, re));
            columns.push((col, ty.clone()));
            outputs.push(Output { name: l.name.clone(), col, ty, origin: None });
        }
        if columns.is_empty() {
            // Rows without columns are equal: as those of one column that is the same everywhere.
            let same = Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(true))), SqlType::new(PgType::Bool));
            left_exprs.push((self.new_col(), same.clone()));
            right_exprs.push((self.new_col(), same));
            columns.push((self.new_col(), SqlType::new(PgType::Bool)));
        }
        let left_columns = left_exprs.iter().map(|(c, _)| *c).collect();
        let right_columns = right_exprs.iter().map(|(c, _)| *c).collect();
        let rel = Rel::SetOp {
            op,
            all,
            left: Box::new(Rel::Project { input: Box::new(left.rel), exprs: left_exprs }),
            left_columns,
            right: Box::new(Rel::Project { input: Box::new(right.rel), exprs: right_exprs }),
            right_columns,
            columns,
        };
        Ok(Query { rel, outputs })
    }

    fn other_width(&self, word: &str, right: &SetExpr) -> PgError {
        PgError::new(SqlState::SYNTAX_ERROR, format!("each {word} query must have the same number of columns")).at(self.written(right, 0))
    }

    /// ORDER BY, LIMIT and locks over a query that is not a plain SELECT: by output names and positions.
    fn ordered(&mut self, query: Query, tail: &Tail<'_>) -> PgResult<Query> {
        if let Some(lock) = tail.locks.first() {
            let word = stoa_syntax::locking::strength_and_tables(lock).0.clause();
            let union = matches!(query.rel, Rel::SetOp { .. });
            return Err(PgError::unsupported(if union {
                format!("{word} is not allowed with UNION/INTERSECT/EXCEPT")
            } else {
                format!("{word} cannot be applied to VALUES")
            }));
        }
        let of_values = !matches!(query.rel, Rel::SetOp { .. });
        let mut rel = query.rel;
        let mut keys = Vec::with_capacity(tail.order_by.len());
        // Expressions see the output columns.
        let mut scope = Scope::new(Clause::OrderBy);
        scope.local.extend(query.outputs.iter().map(|o| o.col));
        scope.star.extend(query.outputs.iter().map(|o| StarColumn {
            name: o.name.clone(),
            expr: Expr::column(o.col, o.ty.clone()),
            item: None,
            origin: o.origin,
        }));
        self.scopes.push(scope);
        let mut result = Ok(());
        for key in &tail.order_by {
            match self.output_key(&key.expr, &query.outputs, of_values) {
                Ok(expr) => match self.sort_key(expr, &key.options) {
                    Ok(sort) => keys.push(sort),
                    Err(e) => result = Err(e),
                },
                Err(e) => result = Err(e),
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            *scope = Scope::new(Clause::OrderBy);
        }
        let limited = result.and_then(|()| {
            if !keys.is_empty() {
                rel = Rel::Sort { input: Box::new(std::mem::replace(&mut rel, Rel::One)), keys: keys.clone() };
            }
            self.limit(rel, tail, keys)
        });
        self.scopes.pop();
        Ok(Query { rel: limited?, outputs: query.outputs })
    }

    fn output_key(&mut self, e: &E, outputs: &[Output], of_values: bool) -> PgResult<Expr> {
        let column = |o: &Output| Expr::column(o.col, o.ty.clone());
        match e {
            E::Value(v) => {
                if let ast::Value::Number(n, _) = &v.value {
                    if n.contains(['.', 'e', 'E']) {
                        return Err(PgError::new(SqlState::SYNTAX_ERROR, "non-integer constant in ORDER BY").at(self.pos(e)));
                    }
                    let found = n.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).and_then(|i| outputs.get(i));
                    return found.map(column).ok_or_else(|| {
                        PgError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("ORDER BY position {n} is not in select list"))
                            .at(self.pos(e))
                    });
                }
                Err(PgError::new(SqlState::SYNTAX_ERROR, "non-integer constant in ORDER BY").at(self.pos(e)))
            }
            E::Identifier(ident) => {
                let name = fold(ident);
                let mut found = outputs.iter().filter(|o| o.name == name);
                let first = found.next().map(column);
                if found.next().is_some() {
                    return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("ORDER BY \"{name}\" is ambiguous")).at(self.pos(e)));
                }
                first.ok_or_else(|| PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist")).at(self.pos(e)))
            }
            E::Collate { expr, .. } if of_values => self.output_key(expr, outputs, of_values),
            E::UnaryOp { op: ast::UnaryOperator::Minus, expr } if matches!(&**expr, E::Value(v) if is_integer(&v.value)) => {
                let message = format!("ORDER BY position -{expr} is not in select list");
                Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(self.pos(e)))
            }
            E::CompoundIdentifier(parts) if parts.len() > 1 => {
                let table = parts.iter().rev().nth(1).map(fold).unwrap_or_default();
                Err(PgError::new(SqlState::UNDEFINED_TABLE, format!("missing FROM-clause entry for table \"{table}\"")).at(self.pos(e)))
            }
            E::Nested(inner) if matches!(**inner, E::Identifier(_) | E::Value(_) | E::Nested(_) | E::UnaryOp { .. }) => {
                self.output_key(inner, outputs, of_values)
            }
            _ if of_values => {
                let bound = self.bind_expr(e)?;
                let other =
                    |e: &Expr| matches!(e.kind, ExprKind::Aggregate(_) | ExprKind::Grouping(_) | ExprKind::Window(_) | ExprKind::Set(_));
                if bound.any(&mut |e| other(e)) {
                    return Err(PgError::unsupported("this expression is not supported in ORDER BY of VALUES").at(self.pos(e)));
                }
                self.resolve_unknown(bound)
            }
            _ => {
                // What is wrong with the expression by itself is told first; a cast to the type that it has is no expression.
                let bound = self.bind_expr(e)?;
                let collated = matches!(super::expr::unnested(e), E::Collate { .. });
                if matches!(bound.kind, ExprKind::Column(id) if !collated && outputs.iter().any(|o| o.col == id)) {
                    return Ok(bound);
                }
                if bound.ty.ty != PgType::Unknown {
                    self.find_operator("<", Some(&bound.ty.ty), &bound.ty.ty).map_err(|_| {
                        let message = format!("could not identify an ordering operator for type {}", bound.ty.ty);
                        PgError::new(SqlState::UNDEFINED_FUNCTION, message)
                            .hint("Use an explicit ordering operator or modify the query.")
                            .at(self.pos(e))
                    })?;
                }
                Err(PgError::unsupported("invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
                    .detail("Only result column names can be used, not expressions or functions.")
                    .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
                    .at(self.pos(e)))
            }
        }
    }

    /// Gives a query's columns another form: `exprs` over its outputs.
    pub(crate) fn project_query(&mut self, query: Query, exprs: Vec<Expr>) -> Query {
        let mut list = Vec::with_capacity(exprs.len());
        let mut outputs = Vec::with_capacity(exprs.len());
        for (expr, old) in exprs.into_iter().zip(query.outputs) {
            let col = match expr.kind {
                ExprKind::Column(c) if c == old.col => c,
                _ => self.new_col(),
            };
            outputs.push(Output { name: old.name, col, ty: expr.ty.clone(), origin: old.origin });
            list.push((col, expr));
        }
        Query { rel: Rel::Project { input: Box::new(query.rel), exprs: list }, outputs }
    }

    /// Binds the CTEs of a WITH clause and brings them into scope.
    pub(crate) fn bind_with(&mut self, with: &ast::With, top: bool) -> PgResult<()> {
        let mut names = Vec::new();
        let before = self.later_ctes.len();
        let order = order_of_items(with)?;
        for (at, cte) in order.iter().copied().enumerate() {
            self.later_ctes.truncate(before);
            self.later_ctes.extend(order.iter().skip(at + 1).map(|c| fold(&c.alias.name)));
            let name = fold(&cte.alias.name);
            if names.contains(&name) {
                return Err(PgError::new(SqlState::DUPLICATE_ALIAS, format!("WITH query name \"{name}\" specified more than once"))
                    .at(self.pos_span(cte.alias.name.span)));
            }
            names.push(name.clone());
            let mutation = match &*cte.query.body {
                SetExpr::Insert(s) | SetExpr::Update(s) | SetExpr::Delete(s) | SetExpr::Merge(s) => Some(s),
                _ => None,
            };
            if let Some(statement) = mutation {
                if matches!(statement, ast::Statement::Merge(_)) {
                    return Err(PgError::unsupported("MERGE not supported in WITH query").at(self.pos_span(cte.alias.name.span)));
                }
                if with.recursive && mentions(&cte.query, &name) {
                    let message = format!("recursive query \"{name}\" must not contain data-modifying statements");
                    return Err(PgError::new(SqlState::INVALID_RECURSION, message).at(self.pos_span(cte.alias.name.span)));
                }
                if !top {
                    return Err(PgError::unsupported("WITH clause containing a data-modifying statement must be at the top level"));
                }
                let scopes = std::mem::take(&mut self.scopes);
                let mutation = self.bind_mutation(statement, false);
                self.scopes = scopes;
                let mutation = mutation?;
                let id = self.new_cte();
                let outputs: Vec<Output> = mutation.returning.iter().flatten().map(|(o, _)| o.clone()).collect();
                let readable = mutation.returning.is_some();
                let columns = outputs.iter().map(|o| (o.col, o.ty.clone())).collect();
                let visible = self.cte_names(&cte.alias, &outputs)?;
                self.ctes.push(Cte { id, name: name.clone(), body: CteBody::Mutation(Box::new(mutation)), columns });
                self.cte_scope.push(CteEntry { name, id, columns: visible, readable });
                continue;
            }
            if let Some((rewritten, outside)) = self.without_search(cte, with.recursive)? {
                self.bind_recursive(&rewritten, name).map_err(|mut e| {
                    e.fields_mut().position = None;
                    e
                })?;
                // Outside, the hidden columns have their names; what is behind them is not shown.
                if let Some(entry) = self.cte_scope.last_mut() {
                    let plain = entry.columns.iter().take_while(|(n, _)| !n.starts_with(super::search::HIDDEN)).count();
                    entry.columns.truncate(plain + outside.len());
                    for ((shown, _), outside) in entry.columns.iter_mut().skip(plain).zip(outside) {
                        *shown = outside;
                    }
                }
                continue;
            }
            if with.recursive && mentions(&cte.query, &name) {
                self.bind_recursive(cte, name)?;
                continue;
            }
            let query = self.bind_query(&cte.query)?;
            let visible = self.cte_names(&cte.alias, &query.outputs)?;
            let id = self.new_cte();
            let columns = query.outputs.iter().map(|o| (o.col, o.ty.clone())).collect();
            if matches!(cte.materialized, Some(ast::CteAsMaterialized::Materialized)) {
                self.materialized.push(id);
            }
            if matches!(cte.materialized, Some(ast::CteAsMaterialized::NotMaterialized)) {
                self.not_materialized.push(id);
            }
            self.ctes.push(Cte { id, name: name.clone(), body: CteBody::Query(Box::new(query.rel)), columns });
            self.cte_scope.push(CteEntry { name, id, columns: visible, readable: true });
        }
        self.later_ctes.truncate(before);
        Ok(())
    }

    fn cte_names(&self, alias: &ast::TableAlias, outputs: &[Output]) -> PgResult<Vec<(String, SqlType)>> {
        if alias.columns.len() > outputs.len() {
            return Err(PgError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                format!(
                    "WITH query \"{}\" has {} columns available but {} columns specified",
                    fold(&alias.name),
                    outputs.len(),
                    alias.columns.len()
                ),
            ));
        }
        Ok(outputs
            .iter()
            .enumerate()
            .map(|(i, o)| (alias.columns.get(i).map_or_else(|| o.name.clone(), |c| fold(&c.name)), o.ty.clone()))
            .collect())
    }

    /// The columns that a CTE's body gives.
    pub(crate) fn cte_columns(&self, id: CteId) -> Vec<ColId> {
        self.recursing
            .iter()
            .find(|(r, _)| *r == id)
            .map(|(_, c)| c.clone())
            .or_else(|| self.ctes.iter().find(|c| c.id == id).map(|c| c.columns.iter().map(|(c, _)| *c).collect()))
            .unwrap_or_default()
    }

    /// `WITH RECURSIVE name AS (base UNION [ALL] step)`.
    pub(super) fn bind_recursive(&mut self, cte: &ast::Cte, name: String) -> PgResult<()> {
        let query = &cte.query;
        let invalid = |message: String| PgError::new(SqlState::INVALID_RECURSION, message);
        let SetExpr::SetOperation { op: ast::SetOperator::Union, set_quantifier, left, right } = &*query.body else {
            return Err(no_recursive_form(&name));
        };
        if query.order_by.is_some() {
            return Err(PgError::unsupported("ORDER BY in a recursive query is not implemented"));
        }
        if query.limit_clause.is_some() || query.fetch.is_some() {
            return Err(PgError::unsupported("LIMIT in a recursive query is not implemented"));
        }
        if mentions_of(&**left, &name) > 0 {
            return Err(invalid(format!("recursive reference to query \"{name}\" must not appear within its non-recursive term")));
        }
        if !query.locks.is_empty() {
            return Err(PgError::unsupported("FOR UPDATE/SHARE in a recursive query is not implemented"));
        }
        let all = matches!(set_quantifier, ast::SetQuantifier::All);
        let depth = self.cte_scope.len();
        if let Some(with) = &query.with {
            if with.cte_tables.iter().any(|inner| mentions(&inner.query, &name)) {
                return Err(invalid(format!("recursive reference to query \"{name}\" must not appear within a subquery")));
            }
            self.bind_with(with, false)?;
        }
        let Branch { query: base, literals: base_literals, .. } = self.bind_branch(left, &Tail::default())?;
        let visible = self.cte_names(&cte.alias, &base.outputs)?;
        let id = self.new_cte();
        // The recursion's columns have the widest form, so that both terms fit.
        let columns: Vec<(ColId, SqlType)> = base.outputs.iter().map(|o| (self.new_col(), widest(&o.ty))).collect();
        let columns: Vec<(ColId, SqlType)> = columns
            .into_iter()
            .map(|(c, mut t)| {
                if t.ty == PgType::Unknown {
                    t = SqlType::new(PgType::Text);
                }
                (c, t)
            })
            .collect();
        let visible: Vec<(String, SqlType)> = visible.into_iter().zip(&columns).map(|((n, _), (_, t))| (n, t.clone())).collect();
        self.cte_scope.push(CteEntry { name: name.clone(), id, columns: visible.clone(), readable: true });
        self.recursing.push((id, columns.iter().map(|(c, _)| *c).collect()));
        let first_of_step = self.ctes.len();
        let step = self.bind_branch(right, &Tail::default());
        self.recursing.pop();
        self.cte_scope.truncate(depth);
        let Branch { query: mut step, literals: step_literals, .. } = step.map_err(|e| match mentions_of(&**right, &name) {
            // What is ambiguous, with two working tables in sight, is the second of them.
            0 | 1 => e,
            _ => invalid(format!("recursive reference to query \"{name}\" must not appear more than once")),
        })?;
        if step.outputs.len() != columns.len() {
            return Err(self.other_width("UNION", right));
        }
        check_recursion(&step.rel, id, &name)?;
        self.inline_ctes_of_rounds(&mut step.rel, id, first_of_step);
        let other_type = |b: &Self, i: usize, given: &dyn std::fmt::Display, common: &PgType| {
            let message =
                format!("recursive query \"{name}\" column {} has type {given} in non-recursive term but type {common} overall", i + 1);
            PgError::new(SqlState::DATATYPE_MISMATCH, message)
                .hint("Cast the output of the non-recursive term to the correct type.")
                .at(b.written(left, i))
        };
        // A literal without a type is text within the recursion, and must be readable as what the other term gives before that is told.
        for (i, (literal, o)) in base_literals.into_iter().zip(&step.outputs).enumerate() {
            if let Some(literal) = literal
                && o.ty.ty != PgType::Text
            {
                let literal = Expr::new(literal.kind, SqlType::new(PgType::Unknown));
                self.coerce(literal, &SqlType::new(o.ty.ty.clone()), stoa_pg::registry::CastContext::Implicit)?;
                return Err(other_type(self, i, &PgType::Text, &o.ty.ty));
            }
        }
        for (i, (first, o)) in base.outputs.iter().zip(&step.outputs).enumerate() {
            if first.ty.typmod >= 0 && first.ty.ty == o.ty.ty && first.ty.typmod != o.ty.typmod {
                let given = stoa_pg::types::format_type(&first.ty.ty, first.ty.typmod);
                return Err(other_type(self, i, &given, &first.ty.ty));
            }
        }
        let form = |b: &mut Self, query: Query, literals: Vec<Option<Expr>>| -> PgResult<(Rel, Vec<ColId>)> {
            let mut exprs = Vec::with_capacity(columns.len());
            for (i, (o, (_, ty))) in query.outputs.iter().zip(&columns).enumerate() {
                let literal = literals.get(i).cloned().flatten().filter(|_| ty.ty != PgType::Text);
                let e = match literal {
                    Some(literal) => Expr::new(literal.kind, SqlType::new(PgType::Unknown)),
                    None => Expr::column(o.col, o.ty.clone()),
                };
                // Rows, and arrays of them, are of one type whatever their fields' forms are.
                if e.ty.ty != PgType::Unknown && o.ty.ty != ty.ty && o.ty.ty.to_string() != ty.ty.to_string() {
                    let common = b.common_type([&e, &Expr::column(o.col, ty.clone())], "UNION")?;
                    if common != ty.ty {
                        return Err(other_type(b, i, &ty.ty, &common));
                    }
                }
                let e = b.coerce(e, &SqlType::new(ty.ty.clone()), stoa_pg::registry::CastContext::Implicit)?;
                exprs.push((b.new_col(), b.in_form(e, ty)?));
            }
            let ids = exprs.iter().map(|(c, _)| *c).collect();
            Ok((Rel::Project { input: Box::new(query.rel), exprs }, ids))
        };
        let (base, base_columns) = form(self, base, Vec::new())?;
        let (step, step_columns) = form(self, step, step_literals)?;
        let rel = Rel::Recursive {
            cte: id,
            columns: columns.clone(),
            base: Box::new(base),
            base_columns,
            step: Box::new(step),
            step_columns,
            all,
        };
        // References from outside read the result under another id than the working table.
        let outer = self.new_cte();
        self.ctes.push(Cte { id: outer, name: name.clone(), body: CteBody::Query(Box::new(rel)), columns });
        self.cte_scope.push(CteEntry { name, id: outer, columns: visible, readable: true });
        Ok(())
    }
}

/// The form that holds every value of a type, and of the fields of rows.
fn widest(ty: &SqlType) -> SqlType {
    match &ty.ty {
        PgType::Record(Some(record)) => {
            let fields = record.fields.iter().map(|(name, field)| (name.clone(), widest(field))).collect();
            SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields }))))
        }
        PgType::Array(element) if matches!(**element, PgType::Record(_)) => {
            SqlType::new(widest(&SqlType::new(PgType::clone(element))).ty.array_of())
        }
        _ => ty.widened(),
    }
}

impl Binder<'_> {
    /// Puts CTEs of a recursion's step that read the working table into the place where they are read: each round has its own.
    fn inline_ctes_of_rounds(&mut self, step: &mut Rel, working: CteId, first: usize) {
        let mut of_rounds: Vec<(Cte, Rel)> = Vec::new();
        for mut cte in self.ctes.split_off(first) {
            let CteBody::Query(body) = &mut cte.body else {
                self.ctes.push(cte);
                continue;
            };
            for (other, rel) in &of_rounds {
                replace_cte(body, other, rel, &mut self.next_col);
            }
            let mut read = HashMap::new();
            walk::count_ctes(body, &mut read);
            if read.contains_key(&working) {
                let body = Rel::clone(body);
                of_rounds.push((cte, body));
            } else {
                self.ctes.push(cte);
            }
        }
        for (cte, body) in &of_rounds {
            replace_cte(step, cte, body, &mut self.next_col);
        }
        // The last id that was given.
        self.next_col += 1;
    }
}

/// Whether values of the type cannot be told apart: json, and what holds it.
pub(super) fn lacks_equality(ty: &PgType) -> bool {
    match ty {
        PgType::Json => true,
        PgType::Record(Some(record)) => record.fields.iter().any(|(_, ty)| lacks_equality(&ty.ty)),
        other => other.element().is_some_and(|e| lacks_equality(&e)),
    }
}

/// 42883 where values of such a type would have to be told apart.
pub(super) fn no_equality(ty: &PgType) -> PgError {
    PgError::new(SqlState::UNDEFINED_FUNCTION, format!("could not identify an equality operator for type {ty}"))
}

fn is_integer(value: &ast::Value) -> bool {
    matches!(value, ast::Value::Number(n, _) if n.bytes().all(|b| b.is_ascii_digit()))
}

/// 42P19 for a query that reads itself and is no UNION.
pub(super) fn no_recursive_form(name: &str) -> PgError {
    let message = format!("recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term");
    PgError::new(SqlState::INVALID_RECURSION, message)
}

/// The working table may be read once, and not under an outer join's nullable side, an aggregate or a subquery.
fn check_recursion(step: &Rel, id: CteId, name: &str) -> PgResult<()> {
    let mut counts = HashMap::new();
    walk::count_ctes(step, &mut counts);
    let all = counts.get(&id).copied().unwrap_or(0);
    let mut direct = 0;
    walk::visit_rel(step, &mut |r| {
        if matches!(r, Rel::CteScan { cte, .. } if *cte == id) {
            direct += 1;
        }
    });
    let error = |message: String| Err(PgError::new(SqlState::INVALID_RECURSION, message));
    if all > direct {
        return error(format!("recursive reference to query \"{name}\" must not appear within a subquery"));
    }
    if direct > 1 {
        return error(format!("recursive reference to query \"{name}\" must not appear more than once"));
    }
    fn reads(rel: &Rel, id: CteId) -> bool {
        let mut found = false;
        walk::visit_rel(rel, &mut |r| found |= matches!(r, Rel::CteScan { cte, .. } if *cte == id));
        found
    }
    let mut problem = None;
    walk::visit_rel(step, &mut |r| match r {
        Rel::Aggregate { input, .. } if reads(input, id) => {
            problem = Some("aggregate functions are not allowed in a recursive query's recursive term".to_owned())
        }
        Rel::Join { left, right, kind, .. } => {
            use super::tree::JoinKind;
            let nullable = match kind {
                JoinKind::Left => reads(right, id),
                JoinKind::Right => reads(left, id),
                JoinKind::Full => reads(left, id) || reads(right, id),
                _ => false,
            };
            if nullable {
                problem = Some(format!("recursive reference to query \"{name}\" must not appear within an outer join"));
            }
        }
        Rel::SetOp { op: SetOp::Except, right, .. } if reads(right, id) => {
            problem = Some(format!("recursive reference to query \"{name}\" must not appear within EXCEPT"))
        }
        Rel::SetOp { op: SetOp::Intersect, .. } if reads(r, id) => {
            problem = Some(format!("recursive reference to query \"{name}\" must not appear within INTERSECT"))
        }
        _ => {}
    });
    problem.map_or(Ok(()), error)
}

/// Whether a query names a table without a schema.
pub(super) fn mentions(query: &ast::Query, name: &str) -> bool {
    mentions_of(query, name) > 0
}

/// How often a name is used as a table without a schema, where no inner WITH gives it another meaning.
fn mentions_of(node: &impl ast::Visit, name: &str) -> usize {
    let mut finder = Finder { name, found: 0, hidden: 0 };
    let _ = ast::Visit::visit(node, &mut finder);
    finder.found
}

/// The order in which the items of WITH RECURSIVE are bound: each behind those that it reads. Otherwise the order in which they stand.
///
/// # Errors
/// 0A000 if two of them read each other.
fn order_of_items(with: &ast::With) -> PgResult<Vec<&ast::Cte>> {
    if !with.recursive || with.cte_tables.len() < 2 {
        return Ok(with.cte_tables.iter().collect());
    }
    let mut waiting: Vec<&ast::Cte> = with.cte_tables.iter().collect();
    let mut order = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|cte| {
            let others = waiting.iter().filter(|other| !std::ptr::eq(**other, *cte));
            others.into_iter().all(|other| !mentions(&cte.query, &fold(&other.alias.name)))
        });
        match ready {
            Some(at) => order.push(waiting.remove(at)),
            None => return Err(PgError::unsupported("mutual recursion between WITH items is not implemented")),
        }
    }
    Ok(order)
}

/// Counts the uses of a name as a relation.
struct Finder<'n> {
    name: &'n str,
    found: usize,
    /// Within how many queries that give the name to an item of their own.
    hidden: usize,
}

impl Finder<'_> {
    /// The place of the item with this name in a query's WITH.
    fn own_item(&self, query: &ast::Query) -> Option<usize> {
        query.with.as_ref()?.cte_tables.iter().position(|cte| fold(&cte.alias.name) == self.name)
    }
}

impl ast::Visitor for Finder<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &ast::Query) -> std::ops::ControlFlow<()> {
        if let Some(own) = self.own_item(query) {
            if let Some(with) = query.with.as_ref().filter(|with| !with.recursive && self.hidden == 0) {
                // Up to the item itself the name means what it means outside.
                self.found += with.cte_tables.iter().take(own + 1).map(|cte| mentions_of(&cte.query, self.name)).sum::<usize>();
            }
            self.hidden += 1;
        }
        std::ops::ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &ast::Query) -> std::ops::ControlFlow<()> {
        self.hidden -= usize::from(self.own_item(query).is_some());
        std::ops::ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ast::ObjectName) -> std::ops::ControlFlow<()> {
        if self.hidden == 0 && super::name_parts(relation).is_ok_and(|p| p.len() == 1 && p[0] == self.name) {
            self.found += 1;
        }
        std::ops::ControlFlow::Continue(())
    }
}

fn tail_of(query: &ast::Query) -> PgResult<Tail<'_>> {
    let mut tail = Tail { locks: &query.locks, ..Tail::default() };
    if let Some(order_by) = &query.order_by {
        match &order_by.kind {
            ast::OrderByKind::Expressions(keys) => tail.order_by = keys.iter().collect(),
            ast::OrderByKind::All(_) => return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"ALL\"")),
        }
    }
    match &query.limit_clause {
        Some(ast::LimitClause::LimitOffset { limit, offset, .. }) => {
            tail.fetch = limit.as_ref();
            tail.offset = offset.as_ref().map(|o| &o.value);
        }
        Some(ast::LimitClause::OffsetCommaLimit { .. }) => {
            return Err(
                PgError::new(SqlState::SYNTAX_ERROR, "LIMIT #,# syntax is not supported").hint("Use separate LIMIT and OFFSET clauses.")
            );
        }
        None => {}
    }
    if let Some(fetch) = &query.fetch {
        if fetch.percent {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"PERCENT\""));
        }
        static ONE: std::sync::LazyLock<E> = std::sync::LazyLock::new(|| E::Value(ast::Value::Number("1".into(), false).into()));
        tail.fetch = Some(fetch.quantity.as_ref().unwrap_or(&ONE));
        tail.with_ties = fetch.with_ties;
    }
    Ok(tail)
}

/// Replaces references to CTEs that need not be computed by themselves: read once, or reading columns of a query around them.
pub(crate) fn inline_ctes(bound: &mut Bound, next_col: u32, materialized: &[CteId], not_materialized: &[CteId]) {
    let mut next = next_col + 1_000_000;
    // Those that read columns of a query around them come first, and inner ones before outer ones: a copy of the query around them
    // has columns of its own, which what is put into it later would not know.
    let mut index = 0;
    while index < bound.ctes.len() {
        let cte = bound.ctes[index].clone();
        match &cte.body {
            CteBody::Query(body) if !walk::free_columns(body).is_empty() => {
                each_rel_mut(bound, &mut |rel| replace_cte(rel, &cte, body, &mut next));
                bound.ctes.remove(index);
            }
            _ => index += 1,
        }
    }
    // Later CTEs may read earlier ones: go from the last to the first, so that counts are final.
    for index in (0..bound.ctes.len()).rev() {
        let cte = bound.ctes[index].clone();
        let CteBody::Query(body) = &cte.body else { continue };
        let mut volatile = false;
        walk::visit_all(body, &mut |r| volatile |= walk::exprs_of(r).into_iter().any(super::aggregate::walk_volatile));
        let mut counts = HashMap::new();
        each_rel(bound, &mut |rel| walk::count_ctes(rel, &mut counts));
        let count = counts.get(&cte.id).copied().unwrap_or(0);
        let forced = materialized.contains(&cte.id);
        let free = not_materialized.contains(&cte.id);
        if count == 0 && !volatile {
            // PostgreSQL does not run what nobody reads.
            bound.ctes.remove(index);
            continue;
        }
        let inline = !forced && !volatile && (count == 1 || free);
        if !inline {
            continue;
        }
        each_rel_mut(bound, &mut |rel| replace_cte(rel, &cte, body, &mut next));
        bound.ctes.remove(index);
    }
}

fn each_rel(bound: &Bound, f: &mut dyn FnMut(&Rel)) {
    for cte in &bound.ctes {
        match &cte.body {
            CteBody::Query(rel) => f(rel),
            CteBody::Mutation(m) => mutation_rels(m, f),
        }
    }
    match &bound.body {
        BoundBody::Query(q) => f(&q.rel),
        BoundBody::Mutation(m) => mutation_rels(m, f),
    }
}

fn mutation_rels(m: &super::tree::Mutation, f: &mut dyn FnMut(&Rel)) {
    f(&m.source);
    let checks = m.checks.iter().flat_map(|c| c.checks.iter().map(|(_, e)| e));
    for e in walk::mutation_exprs(&m.kind).into_iter().chain(m.returning.iter().flatten().map(|(_, e)| e)).chain(checks) {
        walk::visit_subqueries(e, &mut |q| f(&q.rel));
    }
}

fn each_rel_mut(bound: &mut Bound, f: &mut dyn FnMut(&mut Rel)) {
    for cte in &mut bound.ctes {
        match &mut cte.body {
            CteBody::Query(rel) => f(rel),
            CteBody::Mutation(m) => mutation_rels_mut(m, f),
        }
    }
    match &mut bound.body {
        BoundBody::Query(q) => f(&mut q.rel),
        BoundBody::Mutation(m) => mutation_rels_mut(m, f),
    }
}

fn mutation_rels_mut(m: &mut super::tree::Mutation, f: &mut dyn FnMut(&mut Rel)) {
    f(&mut m.source);
    let kind =
        walk::mutation_exprs_mut(&mut m.kind).into_iter().chain(m.checks.iter_mut().flat_map(|c| c.checks.iter_mut().map(|(_, e)| e)));
    for e in kind.chain(m.returning.iter_mut().flatten().map(|(_, e)| e)) {
        walk::subqueries_mut(e, &mut |q| f(&mut q.rel));
    }
}

fn replace_cte(rel: &mut Rel, cte: &Cte, body: &Rel, next: &mut u32) {
    if let Rel::CteScan { cte: id, columns } = rel
        && *id == cte.id
    {
        let mut copy = body.clone();
        let mut map = HashMap::new();
        let mut fresh = || {
            *next += 1;
            ColId(*next)
        };
        walk::refresh(&mut copy, &mut fresh, &mut map);
        let exprs =
            columns.iter().map(|(new, source, ty)| (*new, Expr::column(map.get(source).copied().unwrap_or(*source), ty.clone()))).collect();
        *rel = Rel::Project { input: Box::new(copy), exprs };
        return;
    }
    for e in walk::exprs_mut(rel) {
        walk::subqueries_mut(e, &mut |q| replace_cte(&mut q.rel, cte, body, next));
    }
    for child in walk::children_mut(rel) {
        replace_cte(child, cte, body, next);
    }
}

/// A select list's literal, or its parameter that stands nowhere else, which whoever reads the column may read as another type.
fn untyped_output(rel: &Rel, output: &Output) -> Option<Expr> {
    let Rel::Project { exprs, .. } = rel else { return None };
    let (_, e) = exprs.iter().find(|(c, _)| *c == output.col).filter(|_| output.ty.ty == PgType::Text)?;
    let taken = match &e.kind {
        ExprKind::Const(_) => true,
        ExprKind::Param(number) => {
            let mut uses = 0;
            walk::visit_all(rel, &mut |rel| {
                for e in walk::exprs_of(rel) {
                    e.any(&mut |x| {
                        uses += usize::from(x.kind == ExprKind::Param(*number));
                        false
                    });
                }
            });
            uses == 1
        }
        _ => false,
    };
    taken.then(|| Expr::new(e.kind.clone(), SqlType::new(PgType::Unknown)))
}
