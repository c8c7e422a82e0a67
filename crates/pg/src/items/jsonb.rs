//! The items of jsonb documents.
//!
//! ```text
//! jsonb_ops        .key          a key of an object, and a string in an array or at the top: `?` finds both
//!                  "string       a string that is the value of a key
//!                  =1.5 =true =null
//! jsonb_path_ops   .a.b"string   the keys that lead to a value, and the value; elements of arrays are where the array is
//! ```
//! Numbers are without zeros at their end: those that are equal are one item.

use super::{Class, Item, Sought, jsonpath};
use crate::values::array::elements_of_value;
use crate::values::json::binary::Node;
use arrow::array::AsArray;
use datafusion_common::ScalarValue;

/// The mark of a key.
pub(super) const KEY: char = '.';
const STRING: char = '"';
const OTHER: char = '=';

/// A value without parts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    /// Canonical decimal text.
    Number(&'a str),
    String(&'a str),
}

impl Scalar<'_> {
    /// The item of the value behind what leads to it.
    pub(super) fn item(self, before: &Item) -> String {
        let item = match self {
            Scalar::Null => before.then(OTHER, "null"),
            Scalar::Bool(true) => before.then(OTHER, "true"),
            Scalar::Bool(false) => before.then(OTHER, "false"),
            Scalar::Number(digits) => before.then(OTHER, by_value(digits)),
            Scalar::String(value) => before.then(STRING, value),
        };
        item.finish()
    }
}

/// The digits that all equal numbers have.
fn by_value(digits: &str) -> &str {
    let short = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    if short == "-0" { "0" } else { short }
}

/// The item of a key in `jsonb_ops`.
pub(super) fn key(name: &str) -> String {
    Item::default().then(KEY, name).finish()
}

/// The items of a document.
pub(super) fn items(class: &Class, document: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    match class {
        Class::Keys => keys(&Node::root(document), true, &mut out),
        Class::Paths | Class::Elements(_) => paths(&Node::root(document), &Item::default(), &mut out),
    }
    out
}

fn scalar<'a>(node: &Node<'a>) -> Option<Scalar<'a>> {
    match node {
        Node::Null => Some(Scalar::Null),
        Node::Bool(value) => Some(Scalar::Bool(*value)),
        Node::Number(digits) => Some(Scalar::Number(digits)),
        Node::String(value) => Some(Scalar::String(value)),
        Node::Array(_) | Node::Object(_) => None,
    }
}

/// `element`: whether it stands in an array, as what is alone at the top does.
fn keys(node: &Node, element: bool, out: &mut Vec<String>) {
    match node {
        Node::Array(array) => array.iter().for_each(|part| keys(&part, true, out)),
        Node::Object(object) => {
            for (name, value) in object.iter() {
                out.push(key(name));
                keys(&value, false, out);
            }
        }
        Node::String(value) if element => out.push(key(value)),
        other => out.extend(scalar(other).map(|value| value.item(&Item::default()))),
    }
}

fn paths(node: &Node, before: &Item, out: &mut Vec<String>) {
    match node {
        Node::Array(array) => array.iter().for_each(|part| paths(&part, before, out)),
        Node::Object(object) => object.iter().for_each(|(name, value)| paths(&value, &before.then(KEY, name), out)),
        other => out.extend(scalar(other).map(|value| value.item(before))),
    }
}

pub(super) fn sought(class: &Class, operator: &str, constant: &ScalarValue) -> Option<Sought> {
    let text = || match constant {
        ScalarValue::Utf8View(Some(text)) | ScalarValue::Utf8(Some(text)) => Some(text.as_str()),
        _ => None,
    };
    let one = |name: &str| Some(Sought::Item(key(name)));
    match (operator, class) {
        ("@>", _) => {
            let (ScalarValue::BinaryView(Some(document)) | ScalarValue::Binary(Some(document))) = constant else { return None };
            let mut all = items(class, document);
            all.sort_unstable();
            all.dedup();
            // Long ones are the rarest: paths to values rather than keys.
            all.sort_by_key(|item| std::cmp::Reverse(item.len()));
            Sought::all(all.into_iter().map(|item| Some(Sought::Item(item))))
        }
        ("?", Class::Keys) => one(text()?),
        ("?|" | "?&", Class::Keys) => {
            let names = elements_of_value(constant).ok()??;
            // Of names that are NULL nothing is asked.
            let each = names.as_string_view_opt()?.iter().flatten().map(one);
            if operator == "?|" { Sought::any(each) } else { Sought::all(each) }
        }
        ("@?" | "@@", _) => jsonpath::sought(class, operator == "@@", text()?),
        _ => None,
    }
}
