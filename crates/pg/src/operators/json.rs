//! Operators of json and jsonb: access, containment, existence, concatenation, deletion, jsonpath matches, order.

use crate::args::{Arg, Bytes, Call, Int4, Kernel, Kind, Reader, Text, arg, strict2};
use crate::error::{PgError, PgResult};
use crate::functions::json::edit;
use crate::registry::{NativeOp, OperKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::array::{ArrayColumn, Shape, elements_of};
use crate::values::json::binary::{Node, VERSION};
use crate::values::json::text::{JsonKind, Written};
use crate::values::json::{self, Builder};
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder, StringViewArray, StringViewBuilder};
use std::cmp::Ordering;
use std::sync::Arc;

/// A column of `text[]`.
pub struct TextArrays<'a> {
    arrays: ArrayColumn,
    values: &'a StringViewArray,
    arg: &'a Arg,
}

impl<'a> TextArrays<'a> {
    pub fn new(arg: &'a Arg) -> PgResult<Self> {
        let wrong = || PgError::internal(format!("a kernel was given {} where it takes text[]", arg.array.data_type()));
        let values = elements_of(arg.array.as_ref())?.as_string_view_opt().ok_or_else(wrong)?;
        Ok(Self { arrays: ArrayColumn::open(arg.array.as_ref())?, values, arg })
    }

    /// Puts the elements of a row's array, of all its dimensions, into `out`, and gives its shape; nothing for NULL.
    pub fn read(&self, row: usize, out: &mut Vec<Option<&'a str>>) -> Option<Shape> {
        out.clear();
        let value = self.arrays.get(self.arg.at(row))?;
        out.extend((value.start..value.end).map(|i| (!self.values.is_null(i)).then(|| self.values.value(i))));
        Some(value.shape)
    }

    /// As [`TextArrays::read`], where an array of several dimensions is an error; false for NULL.
    pub fn read_list(&self, row: usize, out: &mut Vec<Option<&'a str>>) -> PgResult<bool> {
        match self.read(row, out) {
            Some(shape) if shape.ndim() > 1 => Err(PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts")),
            found => Ok(found.is_some()),
        }
    }
}

/// Results of access: json, jsonb or text columns that are written from borrowed values.
pub enum Output {
    Text(StringViewBuilder),
    Jsonb(BinaryViewBuilder, Vec<u8>),
}

impl Output {
    /// A builder for what an accessor returns: jsonb only from jsonb.
    #[must_use]
    pub fn new(jsonb: bool, rows: usize) -> Self {
        if jsonb {
            Output::Jsonb(BinaryViewBuilder::with_capacity(rows), Vec::new())
        } else {
            Output::Text(StringViewBuilder::with_capacity(rows))
        }
    }

    pub fn null(&mut self) {
        match self {
            Output::Text(out) => out.append_null(),
            Output::Jsonb(out, _) => out.append_null(),
        }
    }

    /// A part of a json text: as json, or as text (`->>`).
    pub fn written(&mut self, value: Option<Written>, as_text: bool) -> PgResult<()> {
        if let Output::Text(out) = self {
            match value {
                Some(value) if as_text => out.append_option(value.as_text()?),
                other => out.append_option(other.map(Written::text)),
            }
        }
        Ok(())
    }

    /// A part of a jsonb document: as jsonb, or as text if this is a text column.
    pub fn node(&mut self, value: Option<Node>) {
        match self {
            Output::Text(out) => match value {
                Some(Node::String(value)) => out.append_value(value),
                other => out.append_option(other.and_then(|node| node.as_text())),
            },
            Output::Jsonb(out, scratch) => match value {
                Some(node) => {
                    scratch.clear();
                    scratch.push(VERSION);
                    node.append(scratch);
                    out.append_value(&scratch);
                }
                None => out.append_null(),
            },
        }
    }

    #[must_use]
    pub fn finish(self) -> ArrayRef {
        match self {
            Output::Text(mut out) => Arc::new(out.finish()),
            Output::Jsonb(mut out, _) => Arc::new(out.finish()),
        }
    }
}

/// `json -> key`: the field of an object.
pub fn json_field<'a>(value: Written<'a>, key: &str) -> PgResult<Option<Written<'a>>> {
    value.get(key)
}

/// `jsonb -> key`: the field of an object.
#[must_use]
pub fn jsonb_field<'a>(value: &Node<'a>, key: &str) -> Option<Node<'a>> {
    match value {
        Node::Object(object) => object.get(key),
        _ => None,
    }
}

/// `jsonb -> index`: the element of an array; a scalar at the top counts as an array of one.
#[must_use]
pub fn jsonb_element<'a>(value: &Node<'a>, index: i64) -> Option<Node<'a>> {
    match value {
        Node::Array(array) => array.at(index),
        Node::Object(_) => None,
        scalar => (index == 0 || index == -1).then_some(*scalar),
    }
}

/// A step of a path into an array: a whole integer.
#[must_use]
pub fn path_index(step: &str) -> Option<i64> {
    let trimmed = step.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    trimmed.parse::<i32>().ok().map(i64::from)
}

/// `json #> path`.
pub fn json_path<'a>(value: Written<'a>, path: &[Option<&str>]) -> PgResult<Option<Written<'a>>> {
    let mut current = value;
    for step in path {
        let Some(step) = step else { return Ok(None) };
        let next = match current.kind() {
            JsonKind::Object => current.get(step)?,
            JsonKind::Array => path_index(step).and_then(|i| current.at(i)),
            _ => None,
        };
        match next {
            Some(next) => current = next,
            None => return Ok(None),
        }
    }
    Ok(Some(current))
}

/// `jsonb #> path`.
#[must_use]
pub fn jsonb_path<'a>(value: Node<'a>, path: &[Option<&str>]) -> Option<Node<'a>> {
    let mut current = value;
    for step in path {
        let step = (*step)?;
        current = match current {
            Node::Object(object) => object.get(step)?,
            Node::Array(array) => array.at(path_index(step)?)?,
            _ => return None,
        };
    }
    Some(current)
}

/// `->` and `->>` by key or by index.
pub fn access(by_index: bool, jsonb: bool, as_text: bool) -> Kernel {
    Arc::new(move |call, args| {
        let value = arg(args, 0)?;
        let step = arg(args, 1)?;
        let mut out = Output::new(jsonb && !as_text, call.rows);
        match (jsonb, by_index) {
            (true, false) => {
                let (value, step) = (Reader::<Bytes>::new(value)?, Reader::<Text>::new(step)?);
                for row in 0..call.rows {
                    match (value.get(row)?, step.get(row)?) {
                        (Some(value), Some(step)) => out.node(jsonb_field(&Node::root(value), step)),
                        _ => out.null(),
                    }
                }
            }
            (true, true) => {
                let (value, step) = (Reader::<Bytes>::new(value)?, Reader::<Int4>::new(step)?);
                for row in 0..call.rows {
                    match (value.get(row)?, step.get(row)?) {
                        (Some(value), Some(step)) => out.node(jsonb_element(&Node::root(value), i64::from(step))),
                        _ => out.null(),
                    }
                }
            }
            (false, false) => {
                let (value, step) = (Reader::<Text>::new(value)?, Reader::<Text>::new(step)?);
                for row in 0..call.rows {
                    match (value.get(row)?, step.get(row)?) {
                        (Some(value), Some(step)) => out.written(json_field(Written::decodable(value)?, step)?, as_text)?,
                        _ => out.null(),
                    }
                }
            }
            (false, true) => {
                let (value, step) = (Reader::<Text>::new(value)?, Reader::<Int4>::new(step)?);
                for row in 0..call.rows {
                    match (value.get(row)?, step.get(row)?) {
                        (Some(value), Some(step)) => out.written(Written::decodable(value)?.at(i64::from(step)), as_text)?,
                        _ => out.null(),
                    }
                }
            }
        }
        Ok(out.finish())
    })
}

/// `#>` and `#>>`.
pub fn access_path(jsonb: bool, as_text: bool) -> Kernel {
    Arc::new(move |call, args| {
        let paths = TextArrays::new(arg(args, 1)?)?;
        let mut path = Vec::new();
        let mut out = Output::new(jsonb && !as_text, call.rows);
        if jsonb {
            let value = Reader::<Bytes>::new(arg(args, 0)?)?;
            for row in 0..call.rows {
                match value.get(row)? {
                    Some(value) if paths.read(row, &mut path).is_some() => out.node(jsonb_path(Node::root(value), &path)),
                    _ => out.null(),
                }
            }
        } else {
            let value = Reader::<Text>::new(arg(args, 0)?)?;
            for row in 0..call.rows {
                match value.get(row)? {
                    Some(value) if paths.read(row, &mut path).is_some() => {
                        out.written(json_path(Written::decodable(value)?, &path)?, as_text)?
                    }
                    _ => out.null(),
                }
            }
        }
        Ok(out.finish())
    })
}

/// `?|` and `?&`.
pub fn exists_of(all: bool) -> Kernel {
    Arc::new(move |call, args| {
        let value = Reader::<Bytes>::new(arg(args, 0)?)?;
        let keys = TextArrays::new(arg(args, 1)?)?;
        let mut wanted = Vec::new();
        let mut out = crate::args::Bool::builder(call.rows);
        for row in 0..call.rows {
            out.push(match value.get(row)? {
                Some(value) if keys.read(row, &mut wanted).is_some() => {
                    let node = Node::root(value);
                    let mut present = wanted.iter().flatten().map(|key| node.exists(key));
                    Some(if all { present.all(|p| p) } else { present.any(|p| p) })
                }
                _ => None,
            });
        }
        crate::args::Bool::finish(out, call.ret)
    })
}

/// A jsonb result that edits a jsonb value by an array of texts.
pub fn edit_by_texts(f: fn(Node, &[Option<&str>], &mut Builder) -> PgResult<()>) -> Kernel {
    Arc::new(move |call, args| {
        let value = Reader::<Bytes>::new(arg(args, 0)?)?;
        let texts = TextArrays::new(arg(args, 1)?)?;
        let mut list = Vec::new();
        let mut out = Bytes::builder(call.rows);
        let mut builder = Builder::new();
        for row in 0..call.rows {
            match value.get(row)? {
                Some(value) if texts.read_list(row, &mut list)? => {
                    f(Node::root(value), &list, &mut builder)?;
                    out.append_value(builder.finish()?);
                }
                _ => out.append_null(),
            }
        }
        Bytes::finish(out, call.ret)
    })
}

fn delete_keys(node: Node, keys: &[Option<&str>], out: &mut Builder) -> PgResult<()> {
    edit::delete_keys(node, |key| keys.iter().flatten().any(|k| *k == key), out)
}

fn delete_path(node: Node, path: &[Option<&str>], out: &mut Builder) -> PgResult<()> {
    edit::delete_path(node, path, out)
}

/// A comparison of jsonb.
fn comparison(test: fn(Ordering) -> bool) -> OperKind {
    OperKind::Kernel(strict2::<Bytes, Bytes, crate::args::Bool>(move |_, a, b| Ok(test(json::compare(a, b)))))
}

/// `||`.
pub fn concat(_: &Call, a: &[u8], b: &[u8]) -> PgResult<Vec<u8>> {
    let mut out = Builder::new();
    edit::concat(Node::root(a), Node::root(b), &mut out)?;
    out.finish()
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Bool, Int4 as I4, Json, Jsonb, Jsonpath, Text as T};
    let texts = || T.array_of();
    for (ty, jsonb) in [(Json, false), (Jsonb, true)] {
        for (name, as_text) in [("->", false), ("->>", true)] {
            let ret = if as_text { T } else { ty.clone() };
            r.operator(name, ty.clone(), T, ret.clone(), OperKind::Kernel(access(false, jsonb, as_text)));
            r.operator(name, ty.clone(), I4, ret, OperKind::Kernel(access(true, jsonb, as_text)));
        }
        r.operator("#>", ty.clone(), texts(), ty.clone(), OperKind::Kernel(access_path(jsonb, false)));
        r.operator("#>>", ty.clone(), texts(), T, OperKind::Kernel(access_path(jsonb, true)));
    }
    let contains = strict2::<Bytes, Bytes, crate::args::Bool>(|_, a, b| Ok(Node::root(a).contains(&Node::root(b))));
    let contained = strict2::<Bytes, Bytes, crate::args::Bool>(|_, a, b| Ok(Node::root(b).contains(&Node::root(a))));
    r.operator("@>", Jsonb, Jsonb, Bool, OperKind::Kernel(contains));
    r.operator("<@", Jsonb, Jsonb, Bool, OperKind::Kernel(contained));
    r.operator("?", Jsonb, T, Bool, OperKind::Kernel(strict2::<Bytes, Text, crate::args::Bool>(|_, a, k| Ok(Node::root(a).exists(k)))));
    r.operator("?|", Jsonb, texts(), Bool, OperKind::Kernel(exists_of(false)));
    r.operator("?&", Jsonb, texts(), Bool, OperKind::Kernel(exists_of(true)));
    r.operator("||", Jsonb, Jsonb, Jsonb, OperKind::Kernel(strict2::<Bytes, Bytes, Bytes>(concat)));
    let delete_key = strict2::<Bytes, Text, Bytes>(|_, a, key| {
        let mut out = Builder::new();
        edit::delete_keys(Node::root(a), |k| k == key, &mut out)?;
        out.finish()
    });
    r.operator("-", Jsonb, T, Jsonb, OperKind::Kernel(delete_key));
    let delete_index = strict2::<Bytes, Int4, Bytes>(|_, a, index| {
        let mut out = Builder::new();
        edit::delete_index(Node::root(a), i64::from(index), &mut out)?;
        out.finish()
    });
    r.operator("-", Jsonb, I4, Jsonb, OperKind::Kernel(delete_index));
    r.operator("-", Jsonb, texts(), Jsonb, OperKind::Kernel(edit_by_texts(delete_keys)));
    r.operator("#-", Jsonb, texts(), Jsonb, OperKind::Kernel(edit_by_texts(delete_path)));
    r.operator("@?", Jsonb, Jsonpath, Bool, OperKind::Kernel(crate::functions::jsonpath::exists_operator()));
    r.operator("@@", Jsonb, Jsonpath, Bool, OperKind::Kernel(crate::functions::jsonpath::match_operator()));
    for (name, test, meaning) in [
        ("=", (|o| o == Ordering::Equal) as fn(Ordering) -> bool, NativeOp::Eq),
        ("<>", |o| o != Ordering::Equal, NativeOp::NotEq),
        ("<", |o| o == Ordering::Less, NativeOp::Lt),
        ("<=", |o| o != Ordering::Greater, NativeOp::LtEq),
        (">", |o| o == Ordering::Greater, NativeOp::Gt),
        (">=", |o| o != Ordering::Less, NativeOp::GtEq),
    ] {
        r.comparison(name, Jsonb, Jsonb, comparison(test), meaning);
    }
}
