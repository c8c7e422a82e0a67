//! The text of a tree of the [`grammar`](crate::grammar), which reads it as the same tree again.
//!
//! sqlparser prints its trees; what it prints otherwise than SQL says it is put beforehand into names that are printed as they are
//! ([`spell`]), between NULs where something around it must go ([`finish`]).
//!
//! Invariant: no text that a client sends has a NUL ([`parse_script`](crate::parse_script)), so that only ours are taken away.

use crate::{locking, marks};
use sqlparser::ast::{
    self, DataType, Expr, Ident, JoinConstraint, JoinOperator, ObjectName, Query, Select, SetExpr, TableFactor, TableVersion,
    TableWithJoins, Value, VisitMut, VisitorMut, WindowFrameBound, WindowSpec, WindowType,
};
use std::fmt::Display;
use std::ops::ControlFlow;

/// The text of a tree.
#[must_use]
pub fn sql<T: VisitMut + Display + Clone>(tree: &T) -> String {
    let mut tree = tree.clone();
    spell(&mut tree);
    finish(&tree.to_string())
}

/// Makes a tree one of which sqlparser prints a text that [`finish`] makes SQL; for who prints its pieces apart.
pub fn spell(tree: &mut impl VisitMut) {
    let _ = VisitMut::visit(tree, &mut Spelling);
}

/// The text of a tree that [`spell`] changed, as sqlparser prints it or in pieces.
#[must_use]
pub fn finish(text: &str) -> String {
    let mut text = text.to_owned();
    for (around, instead) in
        [(" FROM \0", " "), ("FOR UPDATE OF \0", ""), ("FOR SHARE OF \0", ""), ("\0 PRECEDING", ""), (", \0)", ")"), ("\0)", "")]
    {
        if text.contains(around) {
            text = text.replace(around, instead);
        }
    }
    text
}

/// A name that is printed as it is.
fn raw(text: String) -> Ident {
    Ident::new(text)
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = ();

    fn post_visit_expr(&mut self, e: &mut Expr) -> ControlFlow<()> {
        match e {
            // Printed without a blank between them, two operators would be one, or a comment.
            Expr::UnaryOp { expr, .. } if matches!(**expr, Expr::UnaryOp { .. }) => {
                let inner = std::mem::replace(&mut **expr, Expr::Value(Value::Null.with_empty_span()));
                **expr = Expr::Nested(Box::new(inner));
            }
            Expr::Prefixed { prefix, .. } => {
                if let Some(operator) = prefix.value.strip_prefix(marks::PREFIX_OPERATOR) {
                    prefix.value = operator.trim().to_owned();
                }
            }
            Expr::Function(function) => {
                if let Some(WindowType::WindowSpec(window)) = &mut function.over {
                    spell_window(window);
                }
                let columns = marks::defines(function);
                if let Some(text) = match_against(e) {
                    *e = Expr::Identifier(raw(text));
                } else if !columns.is_empty()
                    && let Expr::Function(call) = e
                {
                    let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
                    call.parameters = ast::FunctionArguments::None;
                    let call = Box::new(std::mem::replace(e, Expr::Value(Value::Null.with_empty_span())));
                    *e = Expr::Named { expr: call, name: raw(format!("({})", columns.join(", "))) };
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, literal: &mut ast::ValueWithSpan) -> ControlFlow<()> {
        // sqlparser takes a quote behind a backslash or a quote for one that is escaped already.
        if let Value::SingleQuotedString(text) = &mut literal.value
            && (text.contains("''") || text.contains("\\'"))
        {
            literal.value = Value::EscapedStringLiteral(std::mem::take(text));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if let ast::GroupByExpr::Expressions(keys, _) = &mut select.group_by
            && keys.first().is_some_and(|e| marks::called(e, marks::GROUP_BY_DISTINCT).is_some())
        {
            keys.remove(0);
            if let Some(first) = keys.first_mut() {
                let value = std::mem::replace(first, Expr::Value(Value::Null.with_empty_span()));
                *first = Expr::Prefixed { prefix: raw("DISTINCT".into()), value: Box::new(value) };
            }
        }
        for ast::NamedWindowDefinition(_, window) in &mut select.named_window {
            if let ast::NamedWindowExpr::WindowSpec(window) = window {
                spell_window(window);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { version: Some(TableVersion::Function(period)), .. } = factor
            && let Some(text) = period_of(period)
        {
            *period = Expr::Identifier(raw(text));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            let mut clauses = Vec::new();
            cte.alias.columns.retain(|column| match clause_of_cte(column) {
                Some(clause) => {
                    clauses.push(clause);
                    false
                }
                None => true,
            });
            if !clauses.is_empty() {
                cte.from = Some(raw(format!("\0{}", clauses.join(" "))));
            }
        }
        for lock in &mut query.locks {
            let (strength, tables) = locking::strength_and_tables(lock);
            let of = tables.map_or_else(String::new, |tables| format!(" OF {}", listed(&tables)));
            lock.of = Some(ObjectName::from(vec![raw(format!("\0{}{of}", strength.clause()))]));
        }
        each_join(query, &mut |_, constraint| spell_join(constraint));
        ControlFlow::Continue(())
    }
}

/// What joins ask of their sides, with the right side, in the FROM clauses of a query but not of the queries in it.
pub fn each_join(query: &mut Query, visit: &mut impl FnMut(&TableFactor, &mut JoinConstraint)) {
    fn of_body(body: &mut SetExpr, visit: &mut impl FnMut(&TableFactor, &mut JoinConstraint)) {
        match body {
            SetExpr::Select(select) => select.from.iter_mut().for_each(|from| of_item(from, visit)),
            SetExpr::SetOperation { left, right, .. } => {
                of_body(left, visit);
                of_body(right, visit);
            }
            _ => {}
        }
    }
    fn of_item(item: &mut TableWithJoins, visit: &mut impl FnMut(&TableFactor, &mut JoinConstraint)) {
        use JoinOperator as J;
        of_factor(&mut item.relation, visit);
        for join in &mut item.joins {
            of_factor(&mut join.relation, visit);
            if let J::Inner(constraint) | J::LeftOuter(constraint) | J::RightOuter(constraint) | J::FullOuter(constraint) =
                &mut join.join_operator
            {
                visit(&join.relation, constraint);
            }
        }
    }
    fn of_factor(factor: &mut TableFactor, visit: &mut impl FnMut(&TableFactor, &mut JoinConstraint)) {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            of_item(table_with_joins, visit);
        }
    }
    of_body(&mut query.body, visit);
}

/// `USING (…) AS name`.
fn spell_join(constraint: &mut JoinConstraint) {
    let JoinConstraint::Using(columns) = constraint else { return };
    let Some(alias) = columns.last_mut() else { return };
    let [part] = alias.0.as_slice() else { return };
    let name = marks::in_part(part, marks::USING_ALIAS).and_then(|args| Some(format!("\0) AS {}\0", args.first()?)));
    if let Some(name) = name {
        *alias = ObjectName::from(vec![raw(name)]);
    }
}

/// EXCLUDE stands behind the last bound of the frame.
fn spell_window(window: &mut WindowSpec) {
    let exclude = window.partition_by.last().and_then(|e| marks::EXCLUDE.into_iter().find(|mark| marks::called(e, mark).is_some()));
    let (Some(exclude), Some(frame)) = (exclude, &mut window.window_frame) else { return };
    window.partition_by.pop();
    let bound = frame.end_bound.as_mut().unwrap_or(&mut frame.start_bound);
    let text = format!("{bound} {exclude}\0");
    *bound = WindowFrameBound::Preceding(Some(Box::new(Expr::Identifier(raw(text)))));
}

fn match_against(e: &Expr) -> Option<String> {
    let args = marks::called(e, marks::MATCH)?;
    let [Expr::Value(mode), search, columns @ ..] = args.as_slice() else { return None };
    let Value::SingleQuotedString(mode) = &mode.value else { return None };
    let mode = if mode.is_empty() { String::new() } else { format!(" {mode}") };
    Some(format!("MATCH ({}) AGAINST ({search}{mode})", listed(columns)))
}

fn period_of(e: &Expr) -> Option<String> {
    let (mark, between) = [(marks::PERIOD_FROM, "TO"), (marks::PERIOD_BETWEEN, "AND"), (marks::PERIOD_ALL, "")]
        .into_iter()
        .find(|(mark, _)| marks::called(e, mark).is_some())?;
    Some(match marks::called(e, mark)?.as_slice() {
        [from, to] => format!("{mark} {from} {between} {to}"),
        _ => mark.to_owned(),
    })
}

/// SEARCH or CYCLE, if a column of a CTE's alias stands for that.
fn clause_of_cte(column: &ast::TableAliasColumnDef) -> Option<String> {
    let Some(DataType::Custom(name, _)) = &column.data_type else { return None };
    if let Some(search) = marks::SEARCH.into_iter().find(|mark| marks::is(&column.name, mark)) {
        let (sequence, by) = name.0.split_last()?;
        return Some(format!("{search} {} SET {sequence}", listed(by)));
    }
    if !marks::is(&column.name, marks::CYCLE) {
        return None;
    }
    let [by @ .., mark, path, values] = name.0.as_slice() else { return None };
    let values = match marks::in_part(values, marks::VALUES)?.as_slice() {
        [value, default] if !(is_boolean(value, true) && is_boolean(default, false)) => format!(" TO {value} DEFAULT {default}"),
        _ => String::new(),
    };
    Some(format!("CYCLE {} SET {mark}{values} USING {path}", listed(by)))
}

fn is_boolean(e: &Expr, boolean: bool) -> bool {
    matches!(e, Expr::Value(ast::ValueWithSpan { value: Value::Boolean(value), .. }) if *value == boolean)
}

fn listed<T: Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn printed(text: &str) -> String {
        let mut parsed = crate::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        sql(&parsed.pop().unwrap().statement)
    }

    #[test]
    fn what_is_printed_is_read_as_the_same() {
        for text in [
            "SELECT * FROM ROWS FROM(f(1), g(2)) AS t (x, y)",
            "SELECT * FROM ROWS FROM(f(1) AS (a INTEGER, \"B\" TEXT[]), g(2)) WITH ORDINALITY AS t (x, y)",
            "SELECT a FROM t GROUP BY DISTINCT ROLLUP (a), b",
            "SELECT sum(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t",
            "SELECT sum(a) OVER (ROWS 1 PRECEDING EXCLUDE GROUP), sum(b) OVER w FROM t WINDOW w AS (ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW)",
            "SELECT * FROM t INNER JOIN (u LEFT OUTER JOIN v USING(a) AS \"X y\") USING(a, b) AS w",
            "SELECT * FROM t FOR SYSTEM_TIME FROM '2020' TO '2021'",
            "SELECT * FROM t x FOR SYSTEM_TIME BETWEEN (a) AND f(b)",
            "SELECT * FROM t FOR SYSTEM_TIME ALL",
            "SELECT MATCH (a, b.c) AGAINST (lower('x') IN BOOLEAN MODE), MATCH (a || b) AGAINST ('x'), MATCH (a) AGAINST ('x' IN SEARCH BOX MODE)",
            "WITH RECURSIVE r (a) AS (SELECT 1 UNION SELECT a FROM r) SEARCH DEPTH FIRST BY a, \"B\" SET o CYCLE a SET c TO 'y' DEFAULT 'n' USING p SELECT * FROM r",
            "WITH RECURSIVE r AS (SELECT 1 UNION SELECT a FROM r) CYCLE a, b SET c USING p SELECT * FROM r",
            "SELECT * FROM t LIMIT 1 FOR NO KEY UPDATE OF t, u SKIP LOCKED FOR KEY SHARE",
            "SELECT !! a, -(-b) FROM t",
            "SELECT f(variadic a), a BETWEEN symmetric 2 AND 1 FROM t",
            "SELECT ' FROM \u{1} PRECEDING', 'it''s' FROM t",
        ] {
            assert_eq!(printed(text), text);
            assert_eq!(printed(&printed(text)), text);
        }
    }

    #[test]
    fn names_in_quotes_are_no_marks() {
        for text in [
            "SELECT * FROM \"ROWS FROM\"(f(1))",
            "SELECT a FROM t GROUP BY \"GROUP BY DISTINCT\"(), b",
            "SELECT sum(a) OVER (PARTITION BY \"EXCLUDE TIES\"() ROWS 1 PRECEDING) FROM t",
            "SELECT \"match against\"('', 'x', a)",
            "SELECT * FROM t WHERE \"CURRENT OF\"(a)",
            "WITH r (\"SEARCH DEPTH FIRST BY\", \"CYCLE COLUMNS\") AS (SELECT 1, 2) SELECT * FROM r",
            "SELECT * FROM t INNER JOIN u USING(a, \"as\")",
        ] {
            assert_eq!(printed(text), text);
        }
        let crate::Parsed { statement: ast::Statement::Query(query), .. } =
            crate::parse("SELECT * FROM t WHERE \"CURRENT OF\"(a)").unwrap().remove(0)
        else {
            panic!()
        };
        let SetExpr::Select(select) = *query.body else { panic!() };
        assert_eq!(marks::cursor(select.selection.as_ref().unwrap()), None);
        for text in ["SELECT 1 AS \"\0a\"", "SELECT '\0'", "\0"] {
            assert_eq!(crate::parse_script(text).unwrap_err().code, *b"22021", "{text:?}");
        }
    }
}
