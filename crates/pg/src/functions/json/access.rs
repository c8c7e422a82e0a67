//! JSON taken apart and changed: keys, elements, entries, lengths, kinds, paths; `jsonb_set` and its relatives.

use super::edit::{self, Edit};
use super::rows::{Rows, nullable_rows, utf8};
use crate::args::{Arg, Bool, Bytes, Call, Int4, Kernel, Kind, Reader, Text, arg, strict1, strict2};
use crate::error::{PgError, PgResult};
use crate::operators::json::{self as operators, Output, TextArrays, json_path, jsonb_path};
use crate::registry::{Func, Registry, SetKernel};
use crate::sqlstate::SqlState;
use crate::types::{PgType, RecordType, SqlType};
use crate::values::json::binary::{Builder, Node};
use crate::values::json::text::{JsonKind, Written, decode, write_string};
use arrow::array::ArrayRef;
use std::cmp::Ordering;
use std::sync::Arc;

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// What PostgreSQL says of a value that is no object (for `wanted` object) or no array.
fn wrong_kind(name: &str, jsonb: bool, kind: JsonKind) -> PgError {
    let scalar = !matches!(kind, JsonKind::Array | JsonKind::Object);
    match name {
        "json_object_keys" | "jsonb_object_keys" if scalar => invalid(format!("cannot call {name} on a scalar")),
        "json_object_keys" | "jsonb_object_keys" => invalid(format!("cannot call {name} on an array")),
        "json_each" | "json_each_text" if scalar => invalid("cannot deconstruct a scalar"),
        "json_each" | "json_each_text" => invalid("cannot deconstruct an array as an object"),
        "jsonb_each" | "jsonb_each_text" => invalid(format!("cannot call {name} on a non-object")),
        _ if jsonb && scalar => invalid("cannot extract elements from a scalar"),
        _ if jsonb => invalid("cannot extract elements from an object"),
        _ if scalar => invalid(format!("cannot call {name} on a scalar")),
        _ => invalid(format!("cannot call {name} on a non-array")),
    }
}

/// `json_object_keys`.
fn object_keys(name: &'static str, jsonb: bool) -> SetKernel {
    Arc::new(move |_, args, row| {
        let mut out = Text::builder(0);
        if jsonb {
            match Reader::<Bytes>::new(arg(args, 0)?)?.get(row)?.map(Node::root) {
                None => {}
                Some(Node::Object(object)) => object.iter().for_each(|(key, _)| out.append_value(key)),
                Some(other) => return Err(wrong_kind(name, true, other.kind())),
            }
        } else if let Some(text) = Reader::<Text>::new(arg(args, 0)?)?.get(row)? {
            let value = Written::decodable(text)?;
            if value.kind() != JsonKind::Object {
                return Err(wrong_kind(name, false, value.kind()));
            }
            for (key, _) in value.entries() {
                out.append_value(decode(key)?);
            }
        }
        Rows::of(vec![Arc::new(out.finish()) as ArrayRef])
    })
}

/// `json_each`, `json_each_text`.
fn each(name: &'static str, jsonb: bool, as_text: bool) -> SetKernel {
    Arc::new(move |_, args, row| {
        let mut keys = Text::builder(0);
        let mut values = Output::new(jsonb && !as_text, 0);
        if jsonb {
            match Reader::<Bytes>::new(arg(args, 0)?)?.get(row)?.map(Node::root) {
                None => {}
                Some(Node::Object(object)) => object.iter().for_each(|(key, value)| {
                    keys.append_value(key);
                    values.node(Some(value));
                }),
                Some(other) => return Err(wrong_kind(name, true, other.kind())),
            }
        } else if let Some(text) = Reader::<Text>::new(arg(args, 0)?)?.get(row)? {
            let value = Written::decodable(text)?;
            if value.kind() != JsonKind::Object {
                return Err(wrong_kind(name, false, value.kind()));
            }
            for (key, value) in value.entries() {
                keys.append_value(decode(key)?);
                values.written(Some(value), as_text)?;
            }
        }
        Rows::of(vec![Arc::new(keys.finish()), values.finish()])
    })
}

/// `json_array_elements`, `json_array_elements_text`.
fn elements(name: &'static str, jsonb: bool, as_text: bool) -> SetKernel {
    Arc::new(move |_, args, row| {
        let mut values = Output::new(jsonb && !as_text, 0);
        if jsonb {
            match Reader::<Bytes>::new(arg(args, 0)?)?.get(row)?.map(Node::root) {
                None => {}
                Some(Node::Array(array)) => array.iter().for_each(|element| values.node(Some(element))),
                Some(other) => return Err(wrong_kind(name, true, other.kind())),
            }
        } else if let Some(text) = Reader::<Text>::new(arg(args, 0)?)?.get(row)? {
            let value = if as_text { Written::decodable(text)? } else { Written::new(text) };
            if value.kind() != JsonKind::Array {
                return Err(wrong_kind(name, false, value.kind()));
            }
            for element in value.elements() {
                values.written(Some(element), as_text)?;
            }
        }
        Rows::of(vec![values.finish()])
    })
}

fn not_an_array(kind: JsonKind) -> PgError {
    invalid(if kind == JsonKind::Object { "cannot get array length of a non-array" } else { "cannot get array length of a scalar" })
}

fn length(len: usize) -> PgResult<i32> {
    i32::try_from(len).map_err(|_| PgError::out_of_range("integer"))
}

fn json_array_length(_: &Call, text: &str) -> PgResult<i32> {
    let value = Written::new(text);
    if value.kind() == JsonKind::Array { length(value.elements().count()) } else { Err(not_an_array(value.kind())) }
}

fn jsonb_array_length(_: &Call, bytes: &[u8]) -> PgResult<i32> {
    match Node::root(bytes) {
        Node::Array(array) => length(array.len()),
        other => Err(not_an_array(other.kind())),
    }
}

/// Drops null fields of a json text, printing without blanks.
fn write_stripped(value: Written, out: &mut Vec<u8>) -> PgResult<()> {
    match value.kind() {
        JsonKind::Object => {
            out.push(b'{');
            let mut first = true;
            for (key, value) in value.entries().filter(|(_, value)| value.kind() != JsonKind::Null) {
                if !first {
                    out.push(b',');
                }
                first = false;
                write_string(&decode(key)?, out);
                out.push(b':');
                write_stripped(value, out)?;
            }
            out.push(b'}');
        }
        JsonKind::Array => {
            out.push(b'[');
            for (i, element) in value.elements().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_stripped(element, out)?;
            }
            out.push(b']');
        }
        JsonKind::String => write_string(&decode(value.text())?, out),
        _ => out.extend_from_slice(value.text().as_bytes()),
    }
    Ok(())
}

/// `json_extract_path` and its three relatives: the path is the arguments behind the first, or one array of texts.
fn extract_path(jsonb: bool, as_text: bool) -> Kernel {
    Arc::new(move |call, args| {
        let (value, steps) = args.split_first().ok_or_else(|| PgError::internal("extract_path without arguments"))?;
        if let [one] = steps
            && TextArrays::new(one).is_ok()
        {
            return operators::access_path(jsonb, as_text)(call, args);
        }
        let steps = steps.iter().map(Reader::<Text>::new).collect::<PgResult<Vec<_>>>()?;
        let mut out = Output::new(jsonb && !as_text, call.rows);
        let mut path: Vec<Option<&str>> = Vec::with_capacity(steps.len());
        for row in 0..call.rows {
            path.clear();
            for step in &steps {
                path.push(step.get(row)?);
            }
            if value.is_null(row) || path.contains(&None) {
                out.null();
            } else if jsonb {
                let root = Reader::<Bytes>::new(value)?.get(row)?.map_or(Node::Null, Node::root);
                out.node(jsonb_path(root, &path));
            } else {
                let root = Written::decodable(Reader::<Text>::new(value)?.get(row)?.unwrap_or(""))?;
                out.written(json_path(root, &path)?, as_text)?;
            }
        }
        Ok(out.finish())
    })
}

/// `jsonb_set` (flag: create) and `jsonb_insert` (flag: after).
fn set(insert: bool) -> Kernel {
    Arc::new(move |call, args| {
        let (target, value) = (Reader::<Bytes>::new(arg(args, 0)?)?, Reader::<Bytes>::new(arg(args, 2)?)?);
        let paths = TextArrays::new(arg(args, 1)?)?;
        let flag = args.get(3).map(Reader::<Bool>::new).transpose()?;
        let mut path = Vec::new();
        nullable_rows(call, true, |row, _, builder| {
            let flag = match &flag {
                Some(reader) => reader.get(row)?,
                None => Some(!insert),
            };
            let (Some(target), Some(value), Some(flag), Some(builder)) = (target.get(row)?, value.get(row)?, flag, builder) else {
                return Ok(false);
            };
            if !paths.read_list(row, &mut path)? {
                return Ok(false);
            }
            let value = Node::root(value);
            let how = if insert { Edit::Insert { value, after: flag } } else { Edit::Set { value, create: flag } };
            edit::set_path(Node::root(target), &path, how, builder)?;
            Ok(true)
        })
    })
}

/// Assignment to a subscripted jsonb: the value, the path and what is assigned. A NULL value is made, NULL is assigned as null.
#[must_use]
pub fn assign_kernel() -> Kernel {
    Arc::new(move |call, args| {
        let (target, value) = (Reader::<Bytes>::new(arg(args, 0)?)?, Reader::<Bytes>::new(arg(args, 2)?)?);
        let paths = TextArrays::new(arg(args, 1)?)?;
        let mut path = Vec::new();
        nullable_rows(call, true, |row, _, builder| {
            let Some(builder) = builder else { return Ok(false) };
            if !paths.read_list(row, &mut path)? {
                return Ok(false);
            }
            if path.iter().any(Option::is_none) {
                return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "jsonb subscript in assignment must not be null"));
            }
            let target = target.get(row)?.map_or(Node::Null, Node::root);
            let value = value.get(row)?.map_or(Node::Null, Node::root);
            edit::set_path(target, &path, Edit::Assign { value }, builder)?;
            Ok(true)
        })
    })
}

/// `jsonb_set_lax`.
fn set_lax() -> Kernel {
    Arc::new(move |call, args| {
        let (target, value) = (Reader::<Bytes>::new(arg(args, 0)?)?, Reader::<Bytes>::new(arg(args, 2)?)?);
        let paths = TextArrays::new(arg(args, 1)?)?;
        let create = args.get(3).map(Reader::<Bool>::new).transpose()?;
        let treatment = args.get(4).map(Reader::<Text>::new).transpose()?;
        let mut path = Vec::new();
        nullable_rows(call, true, |row, _, builder| {
            let create = match &create {
                Some(reader) => reader.get(row)?,
                None => Some(true),
            };
            let (Some(target), Some(create), Some(builder)) = (target.get(row)?, create, builder) else { return Ok(false) };
            if paths.read(row, &mut path).is_none() {
                return Ok(false);
            }
            let target = Node::root(target);
            let treatment = match &treatment {
                Some(reader) => reader.get(row)?,
                None => Some("use_json_null"),
            };
            if value.get(row)?.is_none() && treatment == Some("return_target") {
                builder.node(&target);
                return Ok(true);
            }
            if treatment.is_some() {
                paths.read_list(row, &mut path)?;
            }
            if let (Some(value), Some(_)) = (value.get(row)?, treatment) {
                edit::set_path(target, &path, Edit::Set { value: Node::root(value), create }, builder)?;
                return Ok(true);
            }
            match treatment {
                Some("use_json_null") => edit::set_path(target, &path, Edit::Set { value: Node::Null, create }, builder)?,
                Some("delete_key") => edit::delete_path(target, &path, builder)?,
                Some("raise_exception") => {
                    return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "JSON value must not be null")
                        .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
                        .hint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed."));
                }
                _ => {
                    return Err(invalid(
                        "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"",
                    ));
                }
            }
            Ok(true)
        })
    })
}

/// A document that one jsonb becomes.
fn rewritten(f: fn(Node, &mut Builder) -> PgResult<()>) -> Kernel {
    strict1::<Bytes, Bytes>(move |_, bytes| {
        let mut out = Builder::new();
        f(Node::root(bytes), &mut out)?;
        out.finish()
    })
}

/// Deletion of the keys that follow the first argument: texts, or one array of them.
fn delete_keys(several: bool) -> Kernel {
    Arc::new(move |call, args| {
        let (value, keys) = args.split_first().ok_or_else(|| PgError::internal("jsonb_delete without arguments"))?;
        let keys_of = |row: usize| -> PgResult<Vec<Option<&str>>> { keys.iter().map(|k| text_of(k, row)).collect() };
        let value = Reader::<Bytes>::new(value)?;
        nullable_rows(call, true, |row, _, builder| {
            let (Some(bytes), Some(builder)) = (value.get(row)?, builder) else { return Ok(false) };
            let keys = keys_of(row)?;
            // Among several keys, one that is NULL names none.
            if !several && keys.contains(&None) {
                return Ok(false);
            }
            edit::delete_keys(Node::root(bytes), |key| keys.contains(&Some(key)), builder)?;
            Ok(true)
        })
    })
}

fn text_of(arg: &Arg, row: usize) -> PgResult<Option<&str>> {
    Reader::<Text>::new(arg)?.get(row)
}

/// A record of two columns.
fn entry(value: PgType) -> PgType {
    let fields = vec![("key".to_owned(), SqlType::new(PgType::Text)), ("value".to_owned(), SqlType::new(value))];
    PgType::Record(Some(Arc::new(RecordType { fields })))
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Bool as B, Int4 as I4, Json, Jsonb, Text as T};
    let texts = || T.array_of();
    for (jsonb, ty) in [(false, Json), (true, Jsonb)] {
        let pick = |json: &'static str, b: &'static str| if jsonb { b } else { json };
        let mut strict_set = |func: Func| {
            let unnamed = func.name.ends_with("object_keys");
            let mut func = func.named(if unnamed { &[] } else { &["from_json"] });
            func.strict = true;
            r.add(func);
        };
        let name = pick("json_object_keys", "jsonb_object_keys");
        strict_set(Func::set(
            name,
            std::slice::from_ref(&ty),
            vec![("", T)],
            T,
            object_keys(name, jsonb),
            "Returns the set of keys in the top-level JSON object.",
        ));
        for as_text in [false, true] {
            let value = if as_text { T } else { ty.clone() };
            let name = if as_text { pick("json_each_text", "jsonb_each_text") } else { pick("json_each", "jsonb_each") };
            strict_set(Func::set(
                name,
                std::slice::from_ref(&ty),
                vec![("key", T), ("value", value.clone())],
                entry(value.clone()),
                each(name, jsonb, as_text),
                "Expands the top-level JSON object into a set of key/value pairs.",
            ));
            let name = if as_text {
                pick("json_array_elements_text", "jsonb_array_elements_text")
            } else {
                pick("json_array_elements", "jsonb_array_elements")
            };
            strict_set(Func::set(
                name,
                std::slice::from_ref(&ty),
                vec![("value", value.clone())],
                value,
                elements(name, jsonb, as_text),
                "Expands the top-level JSON array into a set of values.",
            ));
        }
        for as_text in [false, true] {
            let value = if as_text { T } else { ty.clone() };
            let doc = "Extracts the JSON sub-object at the specified path.";
            let name = if as_text {
                pick("json_extract_path_text", "jsonb_extract_path_text")
            } else {
                pick("json_extract_path", "jsonb_extract_path")
            };
            r.add(
                Func::scalar(name, &[ty.clone(), T], value.clone(), extract_path(jsonb, as_text), doc)
                    .variadic()
                    .named(&["from_json", "path_elems"]),
            );
            let name = if as_text {
                pick("json_object_field_text", "jsonb_object_field_text")
            } else {
                pick("json_object_field", "jsonb_object_field")
            };
            r.scalar(name, &[ty.clone(), T], value.clone(), operators::access(false, jsonb, as_text), "Implementation of an operator.");
            let name = if as_text {
                pick("json_array_element_text", "jsonb_array_element_text")
            } else {
                pick("json_array_element", "jsonb_array_element")
            };
            r.scalar(name, &[ty.clone(), I4], value, operators::access(true, jsonb, as_text), "Implementation of an operator.");
        }
    }
    let doc = "Returns the number of elements in the top-level JSON array.";
    r.scalar("json_array_length", &[Json], I4, strict1::<Text, Int4>(json_array_length), doc);
    r.scalar("jsonb_array_length", &[Jsonb], I4, strict1::<Bytes, Int4>(jsonb_array_length), doc);
    let doc = "Returns the type of the top-level JSON value as a text string.";
    r.scalar("json_typeof", &[Json], T, strict1::<Text, Text>(|_, v| Ok(Written::new(v).kind().name().to_owned())), doc);
    r.scalar("jsonb_typeof", &[Jsonb], T, strict1::<Bytes, Text>(|_, v| Ok(Node::root(v).kind().name().to_owned())), doc);
    let doc = "Deletes all object fields that have null values from the given JSON value, recursively.";
    let strip = strict1::<Text, Text>(|_, value| {
        let mut out = Vec::new();
        write_stripped(Written::new(value), &mut out)?;
        Ok(utf8(&out)?.to_owned())
    });
    r.scalar("json_strip_nulls", &[Json], Json, strip, doc);
    r.scalar("jsonb_strip_nulls", &[Jsonb], Jsonb, rewritten(edit::strip_nulls), doc);
    let pretty = strict1::<Bytes, Text>(|_, value| {
        let mut out = Vec::new();
        Node::root(value).write_pretty(0, &mut out);
        Ok(utf8(&out)?.to_owned())
    });
    r.scalar("jsonb_pretty", &[Jsonb], T, pretty, "Converts the given JSON value to pretty-printed, indented text.");
    r.add(
        Func::scalar("jsonb_set", &[Jsonb, texts(), Jsonb, B], Jsonb, set(false), "Replaces the item designated by a path.")
            .named(&["jsonb_in", "path", "replacement", "create_if_missing"])
            .defaults(&["true"]),
    );
    r.add(
        Func::scalar("jsonb_insert", &[Jsonb, texts(), Jsonb, B], Jsonb, set(true), "Inserts a value at a path.")
            .named(&["jsonb_in", "path", "replacement", "insert_after"])
            .defaults(&["false"]),
    );
    r.add(
        Func::scalar(
            "jsonb_set_lax",
            &[Jsonb, texts(), Jsonb, B, T],
            Jsonb,
            set_lax(),
            "Like jsonb_set, with a choice of what NULL means.",
        )
        .named(&["jsonb_in", "path", "replacement", "create_if_missing", "null_value_treatment"])
        .defaults(&["true", "'use_json_null'::text"])
        .lax(),
    );
    let doc = "Implementation of an operator.";
    r.scalar(
        "jsonb_contains",
        &[Jsonb, Jsonb],
        B,
        strict2::<Bytes, Bytes, Bool>(|_, a, b| Ok(Node::root(a).contains(&Node::root(b)))),
        doc,
    );
    r.scalar(
        "jsonb_contained",
        &[Jsonb, Jsonb],
        B,
        strict2::<Bytes, Bytes, Bool>(|_, a, b| Ok(Node::root(b).contains(&Node::root(a)))),
        doc,
    );
    r.scalar("jsonb_exists", &[Jsonb, T], B, strict2::<Bytes, Text, Bool>(|_, a, key| Ok(Node::root(a).exists(key))), doc);
    r.scalar("jsonb_exists_any", &[Jsonb, texts()], B, operators::exists_of(false), doc);
    r.scalar("jsonb_exists_all", &[Jsonb, texts()], B, operators::exists_of(true), doc);
    r.scalar("jsonb_concat", &[Jsonb, Jsonb], Jsonb, strict2::<Bytes, Bytes, Bytes>(operators::concat), doc);
    let delete_index = strict2::<Bytes, Int4, Bytes>(|_, a, index| {
        let mut out = Builder::new();
        edit::delete_index(Node::root(a), i64::from(index), &mut out)?;
        out.finish()
    });
    r.scalar("jsonb_delete", &[Jsonb, I4], Jsonb, delete_index, doc);
    r.scalar("jsonb_delete", &[Jsonb, T], Jsonb, delete_keys(false), doc);
    r.add(Func::scalar("jsonb_delete", &[Jsonb, T], Jsonb, delete_keys(true), doc).variadic().lax());
    r.scalar("jsonb_delete_path", &[Jsonb, texts()], Jsonb, operators::edit_by_texts(edit::delete_path), doc);
    let order = strict2::<Bytes, Bytes, Int4>(|_, a, b| {
        Ok(match crate::values::json::compare(a, b) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        })
    });
    r.scalar("jsonb_cmp", &[Jsonb, Jsonb], I4, order, doc);
}
