//! Conditions on jsonb documents and arrays, as items that a row must have to meet them.
//!
//! Invariant: a row that meets the condition is found. More may be: the condition stays with the scan.

use super::scan::parts_of_condition;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use stoa_fulltext::{FieldId, Query};
use stoa_pg::items::{Class, Sought};

/// The search that finds at least the rows that pass a filter. `part` says which part of the index holds the items of a value, and which
/// items those are.
pub(super) fn answer(filter: &Expr, part: &dyn Fn(&Expr) -> Option<(FieldId, Class)>) -> Option<Query> {
    if let Some((all, parts)) = parts_of_condition(filter) {
        let mut each = parts.into_iter().map(|condition| answer(condition, part));
        if !all {
            return each.collect::<Option<Vec<_>>>().map(Query::any);
        }
        let known: Vec<Query> = each.by_ref().flatten().collect();
        return if known.is_empty() { None } else { Some(Query::all(known)) };
    }
    let (operator, left, right) = match filter {
        Expr::BinaryExpr(both) if both.op == Operator::Eq => ("=", &*both.left, &*both.right),
        Expr::ScalarFunction(call) => match call.args.as_slice() {
            [left, right] => (call.func.name().split('#').next()?, left, right),
            _ => return None,
        },
        _ => return None,
    };
    match (constant(left), constant(right)) {
        (None, Some(value)) => {
            let (field, class) = part(left)?;
            query(class.sought(operator, value)?, field)
        }
        (Some(value), None) => {
            let (field, class) = part(right)?;
            let sought = if operator == "= any" { class.sought_element(value) } else { class.sought(turned(operator)?, value) };
            query(sought?, field)
        }
        _ => None,
    }
}

/// The operator that says the same with its sides exchanged.
#[must_use]
pub fn turned(operator: &str) -> Option<&str> {
    match operator {
        "@>" => Some("<@"),
        "<@" => Some("@>"),
        "=" | "&&" => Some(operator),
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<&ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value),
        Expr::Alias(alias) => constant(&alias.expr),
        _ => None,
    }
}

/// The query in one field that finds what has these items.
#[must_use]
pub fn query(sought: Sought, field: FieldId) -> Option<Query> {
    let each = |of: Vec<Sought>| of.into_iter().map(|one| query(one, field)).collect::<Option<Vec<_>>>();
    Some(match sought {
        Sought::Nothing => Query::Nothing,
        Sought::Item(word) => Query::Term { field, word },
        Sought::All(of) => Query::all(each(of)?),
        Sought::Any(of) => Query::any(each(of)?),
    })
}
