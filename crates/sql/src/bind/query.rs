//! Queries: WITH, set operations, VALUES, ORDER BY and LIMIT around them.

use super::scope::{Clause, Scope, StarColumn};
use super::select::Tail;
use super::{Binder, MAX_DEPTH, fold};
use crate::typed::tree::{BoundBody, ColId, Expr, ExprKind, Output, Query, Rel, SetOp};
use crate::typed::{deeper, walk};
use datafusion_common::ScalarValue;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E, SetExpr};

/// A branch of a set operation. Literals without a type take that of the other branch, so which outputs they are is kept.
pub(super) struct Branch<'a> {
    pub(super) query: Query,
    pub(super) literals: Vec<Option<Expr>>,
    body: &'a SetExpr,
}

impl Binder<'_> {
    /// The query of a whole statement, which may be a mutation behind WITH.
    pub fn bind_top_query(&mut self, query: &ast::Query) -> PgResult<BoundBody> {
        if let SetExpr::Insert(s) | SetExpr::Update(s) | SetExpr::Delete(s) | SetExpr::Merge(s) = &*query.body {
            if let Some(with) = &query.with {
                if with.recursive && matches!(&*query.body, SetExpr::Merge(_)) {
                    return Err(PgError::new(SqlState::SYNTAX_ERROR, "WITH RECURSIVE is not supported for MERGE statement"));
                }
                self.bind_with(with, true)?;
            }
            return Ok(BoundBody::Mutation(self.bind_mutation(s, true)?));
        }
        Ok(BoundBody::Query(self.bind_query_at(query, true)?))
    }

    /// A query inside another.
    pub fn bind_query(&mut self, query: &ast::Query) -> PgResult<Query> {
        self.bind_query_at(query, false)
    }

    /// A subquery in an expression.
    pub fn bind_subquery(&mut self, query: &ast::Query) -> PgResult<Query> {
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
        let result = deeper(|| self.bind_query_body(query, top));
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
    pub(super) fn bind_branch_columns(&mut self, body: &SetExpr) -> PgResult<Vec<(String, SqlType)>> {
        let depth = self.ctes.len();
        let query = self.bind_body(body, &Tail::default())?;
        self.ctes.truncate(depth);
        Ok(query.outputs.into_iter().map(|o| (o.name, o.ty)).collect())
    }

    pub(super) fn bind_branch<'a>(&mut self, body: &'a SetExpr, tail: &Tail<'_>) -> PgResult<Branch<'a>> {
        let query = self.bind_body(body, tail)?;
        let literals = query.outputs.iter().map(|o| self.untyped_output(&query.rel, o)).collect();
        Ok(Branch { query, literals, body })
    }

    /// Where a column of a branch is written; `None` where several expressions give it.
    pub(super) fn written(&self, body: &SetExpr, column: usize) -> Option<usize> {
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

    /// A select list's literal, or its parameter that stands nowhere else, which whoever reads the column may read as another type.
    fn untyped_output(&self, rel: &Rel, output: &Output) -> Option<Expr> {
        let typmod = *self.untyped.get(&output.col)?;
        let e = listed(rel, output.col).filter(|_| output.ty.ty == PgType::Text)?;
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
        taken.then(|| Expr::new(e.kind.clone(), SqlType { typmod, ..SqlType::new(PgType::Unknown) }))
    }

    /// An output that has no type of its own, to be read as another; what the relation has in its place is no longer asked for.
    pub fn take_untyped(&mut self, rel: &mut Rel, output: &Output) -> Option<Expr> {
        let found = self.untyped_output(rel, output)?;
        if let ExprKind::Param(number) = found.kind {
            // It was taken for a text for want of anything better.
            if let Some(known) = self.params.get_mut(number) {
                *known = None;
            }
            if let Some(e) = listed_mut(rel, output.col) {
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
        if !self.views.is_empty() {
            self.unions_of_views.extend(columns.first().map(|(c, _)| *c));
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

    pub(super) fn other_width(&self, word: &str, right: &SetExpr) -> PgError {
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
                // What is wrong with the expression by itself is reported first; a cast to the type that it has is no expression.
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
    pub fn project_query(&mut self, query: Query, exprs: Vec<Expr>) -> Query {
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
}

/// Whether values of the type cannot be distinguished: json and its paths, void, and what holds them.
pub(super) fn lacks_equality(ty: &PgType) -> bool {
    match ty {
        PgType::Json | PgType::Jsonpath | PgType::Void => true,
        PgType::Record(Some(record)) => record.fields.iter().any(|(_, ty)| lacks_equality(&ty.ty)),
        other => other.element().is_some_and(|e| lacks_equality(&e)),
    }
}

/// 42883 where values of such a type would have to be distinguished.
pub(super) fn no_equality(ty: &PgType) -> PgError {
    PgError::new(SqlState::UNDEFINED_FUNCTION, format!("could not identify an equality operator for type {ty}"))
}

fn is_integer(value: &ast::Value) -> bool {
    matches!(value, ast::Value::Number(n, _) if n.bytes().all(|b| b.is_ascii_digit()))
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
        if tail.with_ties && tail.locks.iter().any(|lock| matches!(lock.nonblock, Some(ast::NonBlock::SkipLocked))) {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "SKIP LOCKED and WITH TIES options cannot be used together"));
        }
    }
    Ok(tail)
}

/// What a select list has for a column, below the order and the limit of its query.
fn listed(rel: &Rel, column: ColId) -> Option<&Expr> {
    match rel {
        Rel::Sort { input, .. } | Rel::Limit { input, .. } | Rel::Lock { input, .. } | Rel::DistinctOn { input, .. } => {
            listed(input, column)
        }
        Rel::Project { input, exprs } => match exprs.iter().find(|(c, _)| *c == column)? {
            (_, e) if e.kind == ExprKind::Column(column) => listed(input, column),
            (_, e) => Some(e),
        },
        _ => None,
    }
}

/// As [`listed`], to be changed.
fn listed_mut(rel: &mut Rel, column: ColId) -> Option<&mut Expr> {
    match rel {
        Rel::Sort { input, .. } | Rel::Limit { input, .. } | Rel::Lock { input, .. } | Rel::DistinctOn { input, .. } => {
            listed_mut(input, column)
        }
        Rel::Project { input, exprs } => {
            let at = exprs.iter().position(|(c, _)| *c == column)?;
            match exprs.get_mut(at)? {
                (_, e) if e.kind == ExprKind::Column(column) => listed_mut(input, column),
                (_, e) => Some(e),
            }
        }
        _ => None,
    }
}
