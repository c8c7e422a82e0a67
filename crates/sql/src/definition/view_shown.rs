//! The text of a view as `pg_get_viewdef` shows it, laid out over lines as PostgreSQL does.

use super::view_relations;
use super::view_text::{Change, columns_of, quoted};
use crate::bind::{fold, name_parts};
use crate::system_relations;
use std::ops::ControlFlow;
use stoa_pg::PgResult;
use stoa_syntax::ast::{self, Ident, ObjectName, ObjectNamePart, SelectItem, TableFactor, VisitMut, VisitorMut};
use stoa_syntax::{marks, print};
use stoa_table::catalog::{CatalogSnapshot, Oid, PG_CATALOG_OID, ViewColumn, ViewDescriptor};

/// The text that `pg_get_viewdef` shows: schemas and lists of columns only where they say something.
///
/// Operators stand in parentheses, as in all that PostgreSQL prints of what it stores; `pretty` leaves them as they were written.
pub fn definition(catalog: &CatalogSnapshot, path: &[Oid], view: &ViewDescriptor, pretty: bool) -> PgResult<String> {
    let mut parsed = stoa_syntax::parse(&view.sql).map_err(crate::bind::syntax_error)?;
    let Some(ast::Statement::Query(query)) = parsed.first_mut().map(|p| &mut p.statement) else { return Ok(view.sql.clone()) };
    // Parentheses around all of it say nothing.
    while let ast::SetExpr::Query(inner) = query.body.as_ref()
        && query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
    {
        *query = inner.clone();
    }
    let mut known = Vec::new();
    columns_of_each(&query.body, &mut known);
    by_number(query, &view.columns, known.first().map_or(&[], Vec::as_slice));
    shorten(catalog, path, query);
    if !pretty {
        let _ = VisitMut::visit(query, &mut Parentheses);
    }
    let _ = VisitMut::visit(query, &mut Quotes);
    print::spell(query);
    Ok(format!("{};", print::finish(&lay_out(query, &view.columns, &known, pretty))))
}

/// Leaves out schemas that the path finds, and lists of columns that say nothing.
pub(super) fn shorten(catalog: &CatalogSnapshot, path: &[Oid], query: &mut ast::Query) {
    view_relations::by_name(catalog, path, query);
    let mut change = Change(|name: &mut ObjectName, alias: &mut Option<ast::TableAlias>| {
        let Ok([schema, relation]) = <[String; 2]>::try_from(name_parts(name).unwrap_or_default()) else { return };
        let Some(found) = catalog.schema_by_name(&schema) else { return };
        let visible =
            path.iter().find(|oid| catalog.relation_by_name(**oid, &relation).is_some()) == Some(&found.oid) || found.oid == PG_CATALOG_OID;
        if visible {
            *name = ObjectName(vec![ObjectNamePart::Identifier(quoted(&relation))]);
        }
        if let (Some(a), Some(target)) = (alias.as_mut(), catalog.relation_by_name(found.oid, &relation)) {
            let now = columns_of(target);
            let undeclared: Vec<_> = a.columns.iter().filter(|c| c.data_type.is_some()).cloned().collect();
            a.columns.retain(|c| c.data_type.is_none());
            if a.columns.iter().zip(&now).all(|(c, n)| fold(&c.name) == *n) {
                a.columns.clear();
            } else {
                // One that came later may be called as another was when the view was made.
                for later in now.iter().skip(a.columns.len()) {
                    let taken = |name: &str| a.columns.iter().any(|c| fold(&c.name) == name);
                    let free = std::iter::once(later.clone()).chain((1..).map(|n| format!("{later}_{n}"))).find(|name| !taken(name));
                    let name = quoted(&free.unwrap_or_default());
                    a.columns.push(ast::TableAliasColumnDef { name, data_type: None });
                }
            }
            a.columns.extend(undeclared);
        }
        if alias.as_ref().is_some_and(|a| a.columns.is_empty() && fold(&a.name) == relation) {
            *alias = None;
        }
    });
    let _ = VisitMut::visit(query, &mut change);
}

/// Puts every operation with two operands in parentheses, but what is on the left of the same AND or OR.
pub(super) struct Parentheses;

impl VisitorMut for Parentheses {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        match expr {
            ast::Expr::BinaryOp { left, op, .. } => {
                if let ast::Expr::Nested(inner) = left.as_ref()
                    && let ast::Expr::BinaryOp { op: below, .. } = inner.as_ref()
                    && below == op
                    && matches!(op, ast::BinaryOperator::And | ast::BinaryOperator::Or)
                {
                    *left = inner.clone();
                }
                *expr = ast::Expr::Nested(Box::new(expr.clone()));
            }
            ast::Expr::Nested(inner) if matches!(inner.as_ref(), ast::Expr::Nested(_)) => {
                let inner = inner.as_ref().clone();
                *expr = inner;
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The name of a function as PostgreSQL shows it: in lower case, but for those that are key words.
fn called(name: &mut ast::ObjectName) {
    for part in &mut name.0 {
        if let ObjectNamePart::Identifier(name) = part
            && name.value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        {
            plain(name);
            if name.quote_style.is_none() {
                name.value.make_ascii_lowercase();
                if matches!(name.value.as_str(), "coalesce" | "greatest" | "least" | "nullif") {
                    name.value.make_ascii_uppercase();
                }
            }
        }
    }
}

/// Takes the quotes off names that need none.
struct Quotes;

impl VisitorMut for Quotes {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        match expr {
            ast::Expr::Identifier(name) => plain(name),
            ast::Expr::CompoundIdentifier(parts) => parts.iter_mut().for_each(plain),
            ast::Expr::Function(function) => called(&mut function.name),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                for part in &mut name.0 {
                    if let ObjectNamePart::Identifier(name) = part {
                        plain(name);
                    }
                }
                alias.iter_mut().for_each(|alias| plain(&mut alias.name));
            }
            TableFactor::Derived { alias, .. } => alias.iter_mut().for_each(|alias| plain(&mut alias.name)),
            TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => called(name),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        // The names that SEARCH, CYCLE and USING give.
        for column in query.with.iter_mut().flat_map(|with| &mut with.cte_tables).flat_map(|cte| &mut cte.alias.columns) {
            if marks::SEARCH.iter().chain([&marks::CYCLE]).any(|mark| marks::is(&column.name, mark))
                && let Some(ast::DataType::Custom(names, _)) = &mut column.data_type
            {
                names.0.iter_mut().for_each(folded);
            }
        }
        print::each_join(query, &mut |_, constraint| {
            let ast::JoinConstraint::Using(columns) = constraint else { return };
            if let Some(ObjectNamePart::Function(alias)) = columns.last_mut().and_then(|column| column.0.first_mut())
                && let Some(ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Identifier(name)))) = alias.args.first_mut()
            {
                *name = quoted(&fold(name));
            }
        });
        ControlFlow::Continue(())
    }
}

fn folded(part: &mut ObjectNamePart) {
    if let ObjectNamePart::Identifier(name) = part {
        *name = quoted(&fold(name));
    }
}

fn plain(name: &mut Ident) {
    if name.quote_style == Some('"') {
        *name = quoted(&name.value);
    }
}

/// The columns of the only table in FROM, as a stored text calls them; none if there are more.
fn columns_of_single(select: &ast::Select) -> Vec<String> {
    let [ast::TableWithJoins { relation: TableFactor::Table { name, alias, .. }, joins }] = select.from.as_slice() else {
        return Vec::new();
    };
    let listed: Vec<String> = alias.iter().flat_map(|a| a.columns.iter().map(|c| fold(&c.name))).collect();
    if !joins.is_empty() || !listed.is_empty() {
        return listed;
    }
    match name_parts(name).as_deref() {
        Ok([schema, relation]) => system_relations::columns(schema, relation).into_iter().flatten().map(|(column, _)| column).collect(),
        _ => Vec::new(),
    }
}

/// [`columns_of_single`] of the SELECTs that set operations connect, from left to right.
fn columns_of_each(body: &ast::SetExpr, out: &mut Vec<Vec<String>>) {
    match body {
        ast::SetExpr::Select(select) => out.push(columns_of_single(select)),
        ast::SetExpr::SetOperation { left, right, .. } => {
            columns_of_each(left, out);
            columns_of_each(right, out);
        }
        _ => {}
    }
}

/// The names that a query gives its columns by itself; none where that is not simple.
fn names_of(body: &ast::SetExpr) -> Vec<Option<String>> {
    match body {
        ast::SetExpr::Select(select) => select
            .projection
            .iter()
            .map(|item| match item {
                SelectItem::UnnamedExpr(e) => own_name(e),
                SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
                _ => None,
            })
            .collect(),
        ast::SetExpr::SetOperation { left, .. } => names_of(left),
        ast::SetExpr::Query(query) => names_of(&query.body),
        ast::SetExpr::Values(values) => {
            let width = values.rows.first().map_or(0, |row| row.content.len());
            (1..=width).map(|n| Some(format!("column{n}"))).collect()
        }
        _ => Vec::new(),
    }
}

/// Clauses that name columns of the result say their numbers: GROUP BY always, since a column of a table may come to be called so, the
/// others where columns are not called any more as the text calls them.
fn by_number(query: &mut ast::Query, columns: &[ViewColumn], of_table: &[String]) {
    let names = names_of(&query.body);
    let number = |e: &mut ast::Expr, but: &[String]| {
        let ast::Expr::Identifier(ident) = &*e else { return };
        let name = fold(ident);
        if let Some(at) = names.iter().position(|n| n.as_ref() == Some(&name)).filter(|_| !but.contains(&name)) {
            *e = ast::Expr::Value(ast::Value::Number((at + 1).to_string(), false).with_empty_span());
        }
    };
    if let ast::SetExpr::Select(select) = &mut *query.body
        && let ast::GroupByExpr::Expressions(keys, _) = &mut select.group_by
    {
        for key in keys {
            match key {
                ast::Expr::GroupingSets(sets) | ast::Expr::Rollup(sets) | ast::Expr::Cube(sets) => {
                    sets.iter_mut().flatten().for_each(|key| number(key, of_table));
                }
                key => number(key, of_table),
            }
        }
    }
    if names.iter().zip(columns).all(|(name, column)| name.as_ref().is_none_or(|name| *name == column.name)) {
        return;
    }
    if let Some(ast::OrderBy { kind: ast::OrderByKind::Expressions(keys), .. }) = &mut query.order_by
        && !matches!(*query.body, ast::SetExpr::Values(_))
    {
        keys.iter_mut().for_each(|key| number(&mut key.expr, &[]));
    }
    if let ast::SetExpr::Select(select) = &mut *query.body
        && let Some(ast::Distinct::On(keys)) = &mut select.distinct
    {
        keys.iter_mut().for_each(|key| number(key, &[]));
    }
}

/// A query over lines as PostgreSQL prints it, as far as its outermost SELECTs go. `known` are the columns of the only table of each.
fn lay_out(query: &ast::Query, columns: &[ViewColumn], known: &[Vec<String>], pretty: bool) -> String {
    let (of_table, mut known) = (known.first().map_or(&[][..], Vec::as_slice), known.iter());
    let Some(body) = lay_out_body(&query.body, columns, &mut known, pretty) else {
        let list: Vec<String> = columns.iter().map(|c| crate::catalog::deparse::quote_name(&c.name)).collect();
        let same = names_of(&query.body).iter().zip(columns).all(|(name, column)| name.as_deref() == Some(&column.name));
        return if same { format!(" {query}") } else { format!(" SELECT *\n   FROM ({query}) q({})", list.join(", ")) };
    };
    let mut out = query.with.as_ref().map_or_else(String::new, |with| format!(" {with}\n"));
    out.push_str(&body);
    if let Some(mut order) = query.order_by.clone() {
        qualify_order(&mut order, &query.body, of_table);
        out.push_str(&format!("\n  {order}"));
    }
    if let Some(limit) = &query.limit_clause {
        out.push_str(&format!("\n {}", limit.to_string().trim()));
    }
    if let Some(fetch) = &query.fetch {
        out.push_str(&format!("\n {fetch}"));
    }
    for lock in &query.locks {
        out.push_str(&format!("\n {lock}"));
    }
    out
}

/// SELECTs and set operations of them; none for what else there is.
fn lay_out_body(
    body: &ast::SetExpr,
    columns: &[ViewColumn],
    known: &mut std::slice::Iter<'_, Vec<String>>,
    pretty: bool,
) -> Option<String> {
    match body {
        ast::SetExpr::Select(select) => Some(lay_out_select(select, columns, known.next().map_or(&[], Vec::as_slice), pretty)),
        ast::SetExpr::SetOperation { op, set_quantifier, left, right } => {
            let all = match set_quantifier {
                ast::SetQuantifier::All => " ALL",
                ast::SetQuantifier::None | ast::SetQuantifier::Distinct => "",
                _ => return None,
            };
            if !matches!(right.as_ref(), ast::SetExpr::Select(_)) {
                return None;
            }
            let left_text = lay_out_body(left, columns, known, pretty)?;
            let right_text = lay_out_body(right, columns, known, pretty)?;
            Some(format!("{left_text}\n{op}{all}\n{right_text}"))
        }
        ast::SetExpr::Values(_) => {
            let mut list = Vec::with_capacity(columns.len());
            for (own, column) in names_of(body).into_iter().flatten().zip(columns) {
                let renamed =
                    if own == column.name { String::new() } else { format!(" AS {}", crate::catalog::deparse::quote_name(&column.name)) };
                list.push(format!("\"*VALUES*\".{own}{renamed}"));
            }
            let plain = list.iter().all(|item| !item.contains(" AS "));
            Some(if plain { format!(" {body}") } else { format!(" SELECT {}\n   FROM ({body}) \"*VALUES*\"", list.join(",\n    ")) })
        }
        _ => None,
    }
}

/// An item of FROM with its joins, one a line.
fn lay_out_joins(item: &ast::TableWithJoins, pretty: bool) -> String {
    let mut out = match &item.relation {
        // The joins on the left come first anyway.
        TableFactor::NestedJoin { table_with_joins, alias: None } => lay_out_joins(table_with_joins, pretty),
        other => other.to_string(),
    };
    for join in &item.joins {
        let (word, constraint) = match &join.join_operator {
            ast::JoinOperator::Join(c) | ast::JoinOperator::Inner(c) => ("JOIN", Some(c)),
            ast::JoinOperator::Left(c) | ast::JoinOperator::LeftOuter(c) => ("LEFT JOIN", Some(c)),
            ast::JoinOperator::Right(c) | ast::JoinOperator::RightOuter(c) => ("RIGHT JOIN", Some(c)),
            ast::JoinOperator::FullOuter(c) => ("FULL JOIN", Some(c)),
            ast::JoinOperator::CrossJoin(c) => ("CROSS JOIN", Some(c)),
            _ => ("", None),
        };
        let right = match &join.relation {
            TableFactor::NestedJoin { table_with_joins, alias: None } if pretty => {
                format!("({})", lay_out_joins(table_with_joins, pretty))
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => lay_out_joins(table_with_joins, pretty),
            other => other.to_string(),
        };
        let text = match constraint {
            Some(ast::JoinConstraint::None) => format!("{word} {right}"),
            Some(ast::JoinConstraint::On(e)) if pretty => format!("{word} {right} ON {}", unnested(e)),
            Some(ast::JoinConstraint::On(e)) => format!("{word} {right} ON ({e})"),
            Some(ast::JoinConstraint::Using(columns)) => {
                let list: Vec<String> = columns.iter().map(ToString::to_string).collect();
                format!("{word} {right} USING ({})", list.join(", "))
            }
            _ => join.to_string().trim().to_owned(),
        };
        out = if pretty { format!("{out}\n     {text}") } else { format!("({out}\n     {text})") };
    }
    out
}

fn unnested(expr: &ast::Expr) -> &ast::Expr {
    match expr {
        ast::Expr::Nested(inner) => unnested(inner),
        other => other,
    }
}

/// What the only table in FROM is called.
fn only_table(select: &ast::Select) -> Option<Ident> {
    match select.from.as_slice() {
        [ast::TableWithJoins { relation: TableFactor::Table { name, alias, .. }, joins }] if joins.is_empty() => {
            alias.as_ref().map(|a| a.name.clone()).or_else(|| name.0.last().and_then(|p| p.as_ident().cloned()))
        }
        _ => None,
    }
}

/// The keys of a SELECT's ORDER BY with the table's name before its columns. A name that stands alone means a column of the result first.
fn qualify_order(order: &mut ast::OrderBy, body: &ast::SetExpr, known: &[String]) {
    let ast::SetExpr::Select(select) = body else { return };
    let (Some(table), ast::OrderByKind::Expressions(keys)) = (only_table(select), &mut order.kind) else { return };
    for key in keys {
        let of_result = |name: &str| {
            select.projection.iter().any(|item| match item {
                SelectItem::ExprWithAlias { expr, alias } => fold(alias) == name && own_name(expr).as_deref() != Some(name),
                _ => false,
            })
        };
        if !matches!(&key.expr, ast::Expr::Identifier(name) if of_result(&fold(name))) {
            qualify(&mut key.expr, &table, known);
        }
    }
}

fn lay_out_select(select: &ast::Select, columns: &[ViewColumn], known: &[String], pretty: bool) -> String {
    // Columns are shown with the table's name, as PostgreSQL does.
    let single = only_table(select);
    let show = |expr: &ast::Expr| {
        let mut expr = expr.clone();
        if let Some(table) = &single {
            qualify(&mut expr, table, known);
        }
        expr.to_string()
    };
    // Printed without parentheses of its own, a condition that has some would gain more each time it is read again.
    let condition = |expr: &ast::Expr| {
        if pretty {
            return show(unnested(expr));
        }
        let text = show(expr);
        let plain = matches!(expr, ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) | ast::Expr::Nested(_));
        if plain { text } else { format!("({text})") }
    };
    let items: Vec<String> = select
        .projection
        .iter()
        .enumerate()
        .map(|(i, item)| {
            let (text, own) = match item {
                SelectItem::UnnamedExpr(e) => (show(e), own_name(e)),
                SelectItem::ExprWithAlias { expr, alias: _ } => (show(expr), own_name(expr)),
                other => (other.to_string(), None),
            };
            match columns.get(i) {
                Some(column) if own.as_deref() != Some(&column.name) => {
                    format!("{text} AS {}", crate::catalog::deparse::quote_name(&column.name))
                }
                _ => text,
            }
        })
        .collect();
    let hints: String = select.optimizer_hints.iter().map(|h| format!("{h} ")).collect();
    let distinct = match &select.distinct {
        Some(ast::Distinct::Distinct) => "DISTINCT ".to_owned(),
        Some(ast::Distinct::On(exprs)) => format!("DISTINCT ON ({}) ", exprs.iter().map(&show).collect::<Vec<_>>().join(", ")),
        Some(ast::Distinct::All) | None => String::new(),
    };
    let mut out = format!(" SELECT {hints}{distinct}{}", items.join(",\n    "));
    if !select.from.is_empty() {
        let from: Vec<String> = select.from.iter().map(|item| lay_out_joins(item, pretty)).collect();
        out.push_str(&format!("\n   FROM {}", from.join(",\n    ")));
    }
    if let Some(selection) = &select.selection {
        out.push_str(&format!("\n  WHERE {}", condition(selection)));
    }
    match &select.group_by {
        ast::GroupByExpr::Expressions(exprs, _) if !exprs.is_empty() => {
            let list: Vec<String> = exprs.iter().map(show).collect();
            out.push_str(&format!("\n  GROUP BY {}", list.join(", ")));
        }
        _ => {}
    }
    if let Some(having) = &select.having {
        out.push_str(&format!("\n HAVING {}", condition(having)));
    }
    if !select.named_window.is_empty() {
        let mut windows = select.named_window.clone();
        if let Some(table) = &single {
            windows.iter_mut().for_each(|w| qualify(w, table, known));
        }
        let list: Vec<String> = windows.iter().map(ToString::to_string).collect();
        out.push_str(&format!("\n  WINDOW {}", list.join(", ")));
    }
    out
}

fn own_name(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Identifier(ident) => Some(fold(ident)),
        ast::Expr::CompoundIdentifier(parts) => parts.last().map(fold),
        _ => None,
    }
}

/// Puts the table's name before the columns of it.
fn qualify(tree: &mut impl VisitMut, table: &Ident, known: &[String]) {
    struct Columns<'a>(&'a Ident, &'a [String], usize);
    impl VisitorMut for Columns<'_> {
        type Break = ();
        fn pre_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<()> {
            self.2 += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<()> {
            self.2 -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
            match expr {
                ast::Expr::Identifier(ident) if self.2 == 0 && self.1.contains(&fold(ident)) => {
                    *expr = ast::Expr::CompoundIdentifier(vec![self.0.clone(), ident.clone()]);
                }
                // The names of fields are no columns, and look so no more.
                ast::Expr::CompoundFieldAccess { access_chain, .. } => {
                    for access in access_chain {
                        if let ast::AccessExpr::Dot(field) = access
                            && let ast::Expr::Identifier(ident) = field
                        {
                            *field = ast::Expr::CompoundIdentifier(vec![ident.clone()]);
                        }
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let _ = VisitMut::visit(tree, &mut Columns(table, known, 0));
}
