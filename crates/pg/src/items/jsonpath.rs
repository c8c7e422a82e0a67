//! What a jsonpath seeks: the keys and values without which it is not true, or finds nothing.
//!
//! Only `==` with a constant, filters, `exists` and accessors say something; beside `!`, which turns "some item" into "no item",
//! nothing is known.

use super::jsonb::{KEY, Scalar, key};
use super::{Class, Item, Sought};
use crate::functions::jsonpath::parse::parse;
use crate::functions::jsonpath::syntax::{Comparison, Expr, Step};

/// Where a path stands.
#[derive(Clone, Default)]
struct Place {
    /// The keys that lead there, by `jsonb_path_ops`; `None` behind what has no items there.
    path: Option<Item>,
    /// The keys on the way.
    keys: Vec<String>,
}

impl Place {
    fn root() -> Self {
        Self { path: Some(Item::default()), keys: Vec::new() }
    }
}

/// What a document must have for a path to find something in it; with `predicate`, for what it says to be true.
pub(super) fn sought(class: &Class, predicate: bool, text: &str) -> Option<Sought> {
    let path = parse(text).ok()?;
    // A predicate gives an item, whether it is true or not.
    match predicate && path.expr.is_predicate() {
        true => condition(class, &Place::root(), &path.expr, false),
        false => finds(class, &Place::root(), &path.expr, None),
    }
}

/// What is needed for a condition to be true, or with `not` for it to be false.
fn condition(class: &Class, place: &Place, expr: &Expr, not: bool) -> Option<Sought> {
    match expr {
        Expr::And(a, b) | Expr::Or(a, b) => {
            let both = [condition(class, place, a, not), condition(class, place, b, not)];
            if matches!(expr, Expr::And(..)) == not { Sought::any(both) } else { Sought::all(both) }
        }
        Expr::Not(inner) => condition(class, place, inner, !not),
        Expr::Compare(Comparison::Equal, a, b) if !not => match (scalar(a), scalar(b)) {
            (Some(value), None) => finds(class, place, b, Some(value)),
            (None, Some(value)) => finds(class, place, a, Some(value)),
            _ => None,
        },
        Expr::Exists(inner) if !not => finds(class, place, inner, None),
        _ => None,
    }
}

/// A constant. Signs of numbers are part of them.
fn scalar(expr: &Expr) -> Option<Scalar<'_>> {
    match expr {
        Expr::Null => Some(Scalar::Null),
        Expr::Bool(value) => Some(Scalar::Bool(*value)),
        Expr::Number(digits) => Some(Scalar::Number(digits)),
        Expr::String(value) => Some(Scalar::String(value)),
        _ => None,
    }
}

/// What is needed for an expression to find an item; with a value, an item that is equal to it.
fn finds(class: &Class, place: &Place, expr: &Expr, value: Option<Scalar<'_>>) -> Option<Sought> {
    let (base, steps) = match expr {
        Expr::Access { base, steps } => (&**base, steps.as_slice()),
        other => (other, &[] as &[Step]),
    };
    let mut at = match base {
        Expr::Root => Place::root(),
        Expr::Current => place.clone(),
        _ => return None,
    };
    let mut needed: Vec<Option<Sought>> = Vec::new();
    // Whether what is found is the items of the place themselves.
    let mut whole = true;
    for step in steps {
        match step {
            Step::Key(name) => {
                at.path = at.path.map(|path| path.then(KEY, name));
                at.keys.push(key(name));
            }
            Step::AnyElement | Step::Index(_) => {}
            Step::AnyKey | Step::AnyDepth { .. } => at.path = None,
            Step::Filter(filter) => needed.push(condition(class, &at, filter, false)),
            Step::Method(_) | Step::Datetime(_) => {
                whole = false;
                break;
            }
        }
    }
    if matches!(class, Class::Keys) {
        needed.extend(at.keys.iter().map(|key| Some(Sought::Item(key.clone()))));
    }
    if let Some(value) = value.filter(|_| whole) {
        needed.push(match (class, value) {
            // It may be an element of an array, which is unwrapped.
            (Class::Keys, Scalar::String(text)) => {
                Sought::any([Some(Sought::Item(key(text))), Some(Sought::Item(value.item(&Item::default())))])
            }
            (Class::Keys, value) => Some(Sought::Item(value.item(&Item::default()))),
            (_, value) => at.path.as_ref().map(|path| Sought::Item(value.item(path))),
        });
    }
    Sought::all(needed)
}
