//! Changes to jsonb values: concatenation, deletion, `jsonb_set` and its relatives.
//!
//! Each function writes one value to the builder that it is given.

use crate::error::{PgError, PgResult};
use crate::operators::json::path_index;
use crate::sqlstate::SqlState;
use crate::values::json::binary::{Builder, Node};
use crate::values::json::text::Sink;

fn invalid(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// `a || b`: objects are merged; anything else is joined as arrays, a value that is none counting as an array of one.
pub fn concat(a: Node, b: Node, out: &mut Builder) -> PgResult<()> {
    if let (Node::Object(a), Node::Object(b)) = (a, b) {
        out.begin_object()?;
        for (key, value) in a.iter().chain(b.iter()) {
            out.key(key)?;
            out.node(&value);
        }
        return out.end_object();
    }
    out.begin_array()?;
    for side in [a, b] {
        match side {
            Node::Array(array) => array.iter().for_each(|element| out.node(&element)),
            other => out.node(&other),
        }
    }
    out.end_array()
}

/// `- text` and `- text[]`: drops keys of an object, string elements of an array.
pub fn delete_keys(node: Node, drop: impl Fn(&str) -> bool, out: &mut Builder) -> PgResult<()> {
    match node {
        Node::Object(object) => {
            out.begin_object()?;
            for (key, value) in object.iter().filter(|(key, _)| !drop(key)) {
                out.key(key)?;
                out.node(&value);
            }
            out.end_object()
        }
        Node::Array(array) => {
            out.begin_array()?;
            for element in array.iter().filter(|element| !matches!(element, Node::String(value) if drop(value))) {
                out.node(&element);
            }
            out.end_array()
        }
        _ => Err(invalid("cannot delete from scalar")),
    }
}

/// `- int`: drops an element of an array.
pub fn delete_index(node: Node, index: i64, out: &mut Builder) -> PgResult<()> {
    match node {
        Node::Object(_) => Err(invalid("cannot delete from object using integer index")),
        Node::Array(array) => {
            let at = if index < 0 { array.len() as i64 + index } else { index };
            out.begin_array()?;
            for (i, element) in array.iter().enumerate() {
                if i as i64 != at {
                    out.node(&element);
                }
            }
            out.end_array()
        }
        _ => Err(invalid("cannot delete from scalar")),
    }
}

/// What to do at the end of a path.
#[derive(Clone, Copy, Debug)]
pub enum Edit<'a> {
    /// Replaces; adds where there is nothing if `create`.
    Set {
        value: Node<'a>,
        create: bool,
    },
    /// Adds before or after an element; a key must be new.
    Insert {
        value: Node<'a>,
        after: bool,
    },
    /// Assignment to a subscript: creates arrays and objects on the way and fills gaps with null.
    Assign {
        value: Node<'a>,
    },
    Delete,
}

/// `#-`.
pub fn delete_path(node: Node, path: &[Option<&str>], out: &mut Builder) -> PgResult<()> {
    if node.is_scalar() {
        return Err(invalid("cannot delete path in scalar"));
    }
    // Nothing is looked up in what is empty.
    let empty = match &node {
        Node::Array(items) => items.is_empty(),
        Node::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if empty {
        out.node(&node);
        return Ok(());
    }
    edit(node, path, Edit::Delete, out)
}

/// `jsonb_set`, `jsonb_insert`, subscript assignment.
pub fn set_path(node: Node, path: &[Option<&str>], how: Edit, out: &mut Builder) -> PgResult<()> {
    if node.is_scalar() && !matches!(how, Edit::Assign { .. }) {
        return Err(invalid("cannot set path in scalar"));
    }
    // Nothing is made in an empty document unless that is asked for.
    let empty = match (how, node) {
        (Edit::Set { create: false, .. }, Node::Array(array)) => array.is_empty(),
        (Edit::Set { create: false, .. }, Node::Object(object)) => object.is_empty(),
        _ => false,
    };
    edit(node, if empty { &[] } else { path }, how, out)
}

fn edit(node: Node, path: &[Option<&str>], how: Edit, out: &mut Builder) -> PgResult<()> {
    if path.is_empty() {
        out.node(&node);
        return Ok(());
    }
    step(node, path, 0, how, out)
}

fn step(node: Node, path: &[Option<&str>], level: usize, how: Edit, out: &mut Builder) -> PgResult<()> {
    let Some(part) = path.get(level) else {
        out.node(&node);
        return Ok(());
    };
    let part =
        part.ok_or_else(|| PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, format!("path element at position {} is null", level + 1)))?;
    if let (Edit::Assign { .. }, true) = (how, node.is_scalar()) {
        return Err(invalid("cannot replace existing key").detail("The path assumes key is a composite object, but it is a scalar value."));
    }
    if node.is_scalar() {
        out.node(&node);
        return Ok(());
    }
    let last = level + 1 == path.len();
    match node {
        Node::Object(object) => {
            out.begin_object()?;
            let mut found = false;
            for (key, value) in object.iter() {
                if key != part {
                    out.key(key)?;
                    out.node(&value);
                    continue;
                }
                found = true;
                match how {
                    _ if !last => {
                        out.key(key)?;
                        step(value, path, level + 1, how, out)?;
                    }
                    Edit::Delete => {}
                    Edit::Set { value, .. } | Edit::Assign { value } => {
                        out.key(key)?;
                        out.node(&value);
                    }
                    Edit::Insert { .. } => {
                        return Err(invalid("cannot replace existing key").hint("Try using the function jsonb_set to replace key value."));
                    }
                }
            }
            if !found {
                match how {
                    Edit::Set { value, create: true } | Edit::Insert { value, .. } if last => {
                        out.key(part)?;
                        out.node(&value);
                    }
                    Edit::Assign { value } => {
                        out.key(part)?;
                        push_path(path, level + 1, &value, out)?;
                    }
                    _ => {}
                }
            }
            out.end_object()
        }
        Node::Array(array) => {
            let index = path_index(part).ok_or_else(|| {
                PgError::new(
                    SqlState::INVALID_TEXT_REPRESENTATION,
                    format!("path element at position {} is not an integer: \"{part}\"", level + 1),
                )
            })?;
            let len = array.len() as i64;
            // −1 stands for "before the first".
            let at = match index {
                i if i < 0 && -i > len => {
                    if let Edit::Assign { .. } = how {
                        return Err(invalid(&format!("path element at position {} is out of range: {index}", level + 1)));
                    }
                    -1
                }
                i if i < 0 => len + i,
                i => i,
            };
            out.begin_array()?;
            let mut done = false;
            if let Edit::Set { value, create: true } | Edit::Insert { value, .. } = how
                && last
                && (at == -1 || len == 0)
            {
                out.node(&value);
                done = true;
            }
            for (i, element) in array.iter().enumerate() {
                if done || i as i64 != at {
                    out.node(&element);
                    continue;
                }
                done = true;
                match how {
                    _ if !last => step(element, path, level + 1, how, out)?,
                    Edit::Delete => {}
                    Edit::Set { value, .. } | Edit::Assign { value } => out.node(&value),
                    Edit::Insert { value, after: false } => {
                        out.node(&value);
                        out.node(&element);
                    }
                    Edit::Insert { value, after: true } => {
                        out.node(&element);
                        out.node(&value);
                    }
                }
            }
            if !done {
                match how {
                    Edit::Set { value, create: true } | Edit::Insert { value, .. } if last => out.node(&value),
                    Edit::Assign { value } => {
                        fill(len, at, out)?;
                        push_path(path, level + 1, &value, out)?;
                    }
                    _ => {}
                }
            }
            out.end_array()
        }
        scalar => {
            out.node(&scalar);
            Ok(())
        }
    }
}

/// Writes the containers that the rest of a path asks for around a value: an array for a number, an object for a key.
fn push_path(path: &[Option<&str>], level: usize, value: &Node, out: &mut Builder) -> PgResult<()> {
    let Some(part) = path.get(level) else {
        out.node(value);
        return Ok(());
    };
    let part =
        part.ok_or_else(|| PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, format!("path element at position {} is null", level + 1)))?;
    match path_index(part) {
        Some(index) => {
            out.begin_array()?;
            fill(0, index, out)?;
            push_path(path, level + 1, value, out)?;
            out.end_array()
        }
        None => {
            out.begin_object()?;
            out.key(part)?;
            push_path(path, level + 1, value, out)?;
            out.end_object()
        }
    }
}

/// The most elements that an assignment makes an array of: PostgreSQL runs out of memory for one document at as many.
const MOST_FILLED: i64 = (1 << 24) - 1;

/// Nulls for the elements before one that is assigned.
fn fill(from: i64, to: i64, out: &mut Builder) -> PgResult<()> {
    if to > MOST_FILLED {
        let message = format!("number of jsonb array elements exceeds the maximum allowed ({MOST_FILLED})");
        return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    for _ in from..to {
        out.node(&Node::Null);
    }
    Ok(())
}

/// Drops fields that are null, at all depths.
pub fn strip_nulls(node: Node, out: &mut Builder) -> PgResult<()> {
    match node {
        Node::Object(object) => {
            out.begin_object()?;
            for (key, value) in object.iter().filter(|(_, value)| !matches!(value, Node::Null)) {
                out.key(key)?;
                strip_nulls(value, out)?;
            }
            out.end_object()
        }
        Node::Array(array) => {
            out.begin_array()?;
            for element in array.iter() {
                strip_nulls(element, out)?;
            }
            out.end_array()
        }
        scalar => {
            out.node(&scalar);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::values::json::from_text;

    fn run(doc: &str, f: impl Fn(Node, &mut Builder) -> PgResult<()>) -> String {
        let bytes = from_text(doc).unwrap();
        let mut out = Builder::new();
        match f(Node::root(&bytes), &mut out) {
            Ok(()) => Node::root(&out.finish().unwrap()).to_text(),
            Err(error) => format!("{}: {}", error.code(), error.message()),
        }
    }

    /// Results are PostgreSQL 15's.
    #[test]
    fn concatenation() {
        for (a, b, wanted) in [
            ("{\"a\":1,\"b\":2}", "{\"b\":3}", "{\"a\": 1, \"b\": 3}"),
            ("[1]", "[2,[3]]", "[1, 2, [3]]"),
            ("1", "2", "[1, 2]"),
            ("[1]", "{\"a\":1}", "[1, {\"a\": 1}]"),
            ("{\"a\":1}", "3", "[{\"a\": 1}, 3]"),
            ("{}", "[]", "[{}]"),
        ] {
            let b = from_text(b).unwrap();
            assert_eq!(run(a, |a, out| concat(a, Node::root(&b), out)), wanted);
        }
    }

    #[test]
    fn paths() {
        let new = from_text("9").unwrap();
        let value = Node::root(&new);
        for (doc, path, how, wanted) in [
            ("{\"a\":[1,2]}", "a 1", Edit::Set { value, create: true }, "{\"a\": [1, 9]}"),
            ("{\"a\":[1,2]}", "a 7", Edit::Set { value, create: true }, "{\"a\": [1, 2, 9]}"),
            ("{\"a\":[1,2]}", "a -7", Edit::Set { value, create: true }, "{\"a\": [9, 1, 2]}"),
            ("{\"a\":[1,2]}", "a 7", Edit::Set { value, create: false }, "{\"a\": [1, 2]}"),
            ("{\"a\":[1,2]}", "b", Edit::Set { value, create: true }, "{\"a\": [1, 2], \"b\": 9}"),
            ("{\"a\":[1,2]}", "b c", Edit::Set { value, create: true }, "{\"a\": [1, 2]}"),
            ("{\"a\":[1,2]}", "a x", Edit::Set { value, create: true }, "22P02: path element at position 2 is not an integer: \"x\""),
            ("{\"a\":[1,2]}", "a 0", Edit::Insert { value, after: false }, "{\"a\": [9, 1, 2]}"),
            ("{\"a\":[1,2]}", "a -1", Edit::Insert { value, after: true }, "{\"a\": [1, 2, 9]}"),
            ("{\"a\":[1,2]}", "a", Edit::Insert { value, after: true }, "22023: cannot replace existing key"),
            ("{\"a\":[1,2]}", "a -1", Edit::Delete, "{\"a\": [1]}"),
            ("{\"a\":[1,2]}", "b 1", Edit::Delete, "{\"a\": [1, 2]}"),
            ("[]", "3", Edit::Set { value, create: true }, "[9]"),
            ("5", "0", Edit::Set { value, create: true }, "22023: cannot set path in scalar"),
            ("{\"a\":[1]}", "a 3", Edit::Assign { value }, "{\"a\": [1, null, null, 9]}"),
            ("{}", "a 1 b", Edit::Assign { value }, "{\"a\": [null, {\"b\": 9}]}"),
            ("[]", "2147483647", Edit::Assign { value }, "54000: number of jsonb array elements exceeds the maximum allowed (16777215)"),
            ("{}", "a 16777216", Edit::Assign { value }, "54000: number of jsonb array elements exceeds the maximum allowed (16777215)"),
        ] {
            let path: Vec<Option<&str>> = path.split(' ').map(Some).collect();
            assert_eq!(run(doc, |node, out| set_path(node, &path, how, out)), wanted, "{doc} {path:?}");
        }
        assert_eq!(run("{\"a\":null,\"b\":[null,{\"c\":null}]}", strip_nulls), "{\"b\": [null, {}]}");
        assert_eq!(run("[1,2,3]", |n, out| delete_index(n, -1, out)), "[1, 2]");
        assert_eq!(run("{}", |n, out| delete_index(n, 1, out)), "22023: cannot delete from object using integer index");
    }
}
