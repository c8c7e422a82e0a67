//! JSON objects as rows: `json_populate_record`, `json_to_record` and their set-returning forms.
//!
//! A field becomes a value through the text input of its column's type; JSON arrays and objects become array and row literals on
//! the way. The columns come from `call.ret`, which the binder sets from the row type or the column definition list.

use super::rows::Rows;
use crate::args::{Arg, Bytes, Call, Reader, Text, arg};
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Registry, SetKernel};
use crate::sqlstate::SqlState;
use crate::types::{PgType, RecordType};
use crate::values::json::binary::Node;
use crate::values::json::text::{JsonKind, Written};
use crate::values::{ValueBuilder, builder, writer};
use arrow::array::{Array, AsArray};
use std::borrow::Cow;
use std::sync::Arc;

/// A value of json or of jsonb.
#[derive(Clone, Copy)]
enum Value<'a> {
    Json(Written<'a>),
    Jsonb(Node<'a>),
}

impl<'a> Value<'a> {
    fn kind(self) -> JsonKind {
        match self {
            Value::Json(value) => value.kind(),
            Value::Jsonb(node) => node.kind(),
        }
    }

    fn get(self, key: &str) -> PgResult<Option<Value<'a>>> {
        Ok(match self {
            Value::Json(value) => value.get(key)?.map(Value::Json),
            Value::Jsonb(Node::Object(object)) => object.get(key).map(Value::Jsonb),
            Value::Jsonb(_) => None,
        })
    }

    fn elements(self) -> Vec<Value<'a>> {
        match self {
            Value::Json(value) => value.elements().map(Value::Json).collect(),
            Value::Jsonb(Node::Array(array)) => array.iter().map(Value::Jsonb).collect(),
            Value::Jsonb(_) => Vec::new(),
        }
    }

    /// As JSON text.
    fn json(self) -> Cow<'a, str> {
        match self {
            Value::Json(value) => Cow::Borrowed(value.text()),
            Value::Jsonb(node) => Cow::Owned(node.to_text()),
        }
    }

    /// As `->>` gives it.
    fn text(self) -> PgResult<Option<Cow<'a, str>>> {
        match self {
            Value::Json(value) => value.as_text(),
            Value::Jsonb(node) => Ok(node.as_text().map(Cow::Owned)),
        }
    }
}

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// Where a value stands, for hints.
struct Place<'a> {
    key: &'a str,
    subscripts: Vec<usize>,
}

impl Place<'_> {
    fn hint(&self) -> String {
        let subscripts: String = self.subscripts.iter().map(|i| format!("[{i}]")).collect();
        if subscripts.is_empty() {
            format!("See the value of key \"{}\".", self.key)
        } else {
            format!("See the array element {subscripts} of key \"{}\".", self.key)
        }
    }

    fn expected_array(&self) -> PgError {
        PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected JSON array").hint(self.hint())
    }
}

/// The text from which the type's input makes the value; `None` for NULL.
fn input_text<'a>(ty: &PgType, value: Value<'a>, place: &mut Place) -> PgResult<Option<Cow<'a, str>>> {
    if value.kind() == JsonKind::Null {
        return Ok(None);
    }
    match ty {
        PgType::Json | PgType::Jsonb => Ok(Some(value.json())),
        PgType::Array(element) => match value.kind() {
            JsonKind::String => value.text(),
            JsonKind::Array => {
                let mut depth = 1;
                let mut first = value.elements().first().copied();
                while let Some(inner) = first.filter(|inner| inner.kind() == JsonKind::Array) {
                    depth += 1;
                    first = inner.elements().first().copied();
                }
                let mut out = String::new();
                let mut lengths = vec![None; depth];
                array_literal(element, value, 0, &mut lengths, place, &mut out)?;
                Ok(Some(Cow::Owned(out)))
            }
            _ => Err(place.expected_array()),
        },
        PgType::Record(Some(record)) => match value.kind() {
            JsonKind::String => value.text(),
            JsonKind::Object => {
                let mut out = String::from("(");
                for (i, (name, ty)) in record.fields.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    if let Some(field) = value.get(name)?
                        && let Some(text) = input_text(&ty.ty, field, &mut Place { key: name, subscripts: Vec::new() })?
                    {
                        quote(&text, &mut out);
                    }
                }
                out.push(')');
                Ok(Some(Cow::Owned(out)))
            }
            other => Err(not_an_object(other)),
        },
        _ => value.text(),
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// Writes `{…}`; `lengths` are those of the dimensions seen so far.
fn array_literal(
    element: &PgType,
    value: Value,
    level: usize,
    lengths: &mut [Option<usize>],
    place: &mut Place,
    out: &mut String,
) -> PgResult<()> {
    let elements = value.elements();
    if let Some(length) = lengths.get_mut(level) {
        if length.is_some_and(|length| length != elements.len()) {
            return Err(PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "malformed JSON array")
                .detail("Multidimensional arrays must have sub-arrays with matching dimensions."));
        }
        *length = Some(elements.len());
    }
    let last = level + 1 == lengths.len();
    out.push('{');
    for (i, inner) in elements.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        place.subscripts.push(i);
        if last {
            match input_text(element, inner, place)? {
                Some(text) => quote(&text, out),
                None => out.push_str("NULL"),
            }
        } else if inner.kind() == JsonKind::Array {
            array_literal(element, inner, level + 1, lengths, place, out)?;
        } else {
            return Err(place.expected_array());
        }
        place.subscripts.pop();
    }
    out.push('}');
    Ok(())
}

fn not_an_object(kind: JsonKind) -> PgError {
    invalid(if kind == JsonKind::Array {
        "cannot call populate_composite on an array"
    } else {
        "cannot call populate_composite on a scalar"
    })
}

/// The columns that are wanted.
fn fields<'a>(call: &'a Call) -> PgResult<&'a RecordType> {
    match &call.ret.ty {
        PgType::Record(Some(record)) => Ok(record),
        _ => Err(PgError::unsupported("could not determine row type for result")
            .hint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list.")),
    }
}

/// Appends one row: fields of the object, and for keys that it has not, those of the base row (text forms).
fn append(
    call: &Call,
    record: &RecordType,
    columns: &mut [Box<dyn ValueBuilder>],
    object: Option<Value>,
    base: &[Option<String>],
) -> PgResult<()> {
    for (i, ((name, ty), column)) in record.fields.iter().zip(columns.iter_mut()).enumerate() {
        let found = match object {
            Some(object) => object.get(name)?,
            None => None,
        };
        match found {
            Some(value) => match input_text(&ty.ty, value, &mut Place { key: name, subscripts: Vec::new() })? {
                Some(text) => column.text(call.ctx, &text)?,
                None => column.null(),
            },
            None => match base.get(i).and_then(Option::as_deref) {
                Some(text) => column.text(call.ctx, text)?,
                None => column.null(),
            },
        }
    }
    Ok(())
}

/// Text forms of the fields of the base row.
fn base_fields(call: &Call, record: &RecordType, base: &Arg, row: usize) -> PgResult<Vec<Option<String>>> {
    let at = base.at(row);
    let Some(values) = base.array.as_struct_opt().filter(|array| !array.is_null(at)) else { return Ok(Vec::new()) };
    // Its own types: those of a column definition list may be others.
    let own = match call.arg_types.first().map(|ty| &ty.ty) {
        Some(PgType::Record(Some(own))) => own,
        _ => record,
    };
    let mut out = Vec::with_capacity(own.fields.len());
    for ((_, ty), column) in own.fields.iter().zip(values.columns()) {
        out.push(if column.is_null(at) {
            None
        } else {
            let mut text = Vec::new();
            writer(call.ctx, ty, column.as_ref())?.text(at, &mut text)?;
            Some(String::from_utf8(text).map_err(|_| PgError::internal("a text form that is not UTF-8"))?)
        });
    }
    Ok(out)
}

/// One of the eight functions: `(base, json)` or `(json)`, one row or a set.
fn populate(name: &'static str, jsonb: bool, has_base: bool, set: bool) -> SetKernel {
    Arc::new(move |call, args, row| {
        let record = fields(call)?;
        let given = arg(args, usize::from(has_base))?;
        let value = if jsonb {
            Reader::<Bytes>::new(given)?.get(row)?.map(|bytes| Value::Jsonb(Node::root(bytes)))
        } else {
            Reader::<Text>::new(given)?.get(row)?.map(|text| Written::decodable(text).map(Value::Json)).transpose()?
        };
        let mut columns = record.fields.iter().map(|(_, ty)| builder(ty)).collect::<PgResult<Vec<_>>>()?;
        let base = if has_base { base_fields(call, record, arg(args, 0)?, row)? } else { Vec::new() };
        match (value, set) {
            (None, true) => {}
            (None, false) => append(call, record, &mut columns, None, &base)?,
            (Some(value), false) => {
                if value.kind() != JsonKind::Object {
                    return Err(not_an_object(value.kind()));
                }
                append(call, record, &mut columns, Some(value), &base)?;
            }
            (Some(value), true) => {
                match value.kind() {
                    JsonKind::Array => {}
                    _ if jsonb => return Err(invalid(format!("cannot call {name} on a non-array"))),
                    JsonKind::Object => return Err(invalid(format!("cannot call {name} on an object"))),
                    _ => return Err(invalid(format!("cannot call {name} on a scalar"))),
                }
                for element in value.elements() {
                    if element.kind() != JsonKind::Object {
                        return Err(invalid(format!("argument of {name} must be an array of objects")));
                    }
                    append(call, record, &mut columns, Some(element), &base)?;
                }
            }
        }
        Rows::of(columns.iter_mut().map(|column| column.finish()).collect::<PgResult<Vec<_>>>()?)
    })
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{AnyElement, Bool, Json, Jsonb, Record};
    for (jsonb, ty) in [(false, Json), (true, Jsonb)] {
        let pick = |json: &'static str, b: &'static str| if jsonb { b } else { json };
        for set in [false, true] {
            let name = if set {
                pick("json_populate_recordset", "jsonb_populate_recordset")
            } else {
                pick("json_populate_record", "jsonb_populate_record")
            };
            let doc = "Expands JSON objects to rows having the composite type of the base argument.";
            let args = if jsonb { vec![AnyElement, ty.clone()] } else { vec![AnyElement, ty.clone(), Bool] };
            let mut func = Func::set(name, &args, vec![], AnyElement, populate(name, jsonb, true, set), doc).stable();
            if !jsonb {
                func = func.named(&["base", "from_json", "use_json_as_text"]).defaults(&["false"]);
            }
            func.returns_set = set;
            r.add(func);
            let name = if set { pick("json_to_recordset", "jsonb_to_recordset") } else { pick("json_to_record", "jsonb_to_record") };
            let doc = "Expands JSON objects to rows having the composite type defined by an AS clause.";
            let mut func =
                Func::set(name, std::slice::from_ref(&ty), vec![], Record(None), populate(name, jsonb, false, set), doc).stable();
            func.returns_set = set;
            func.strict = !set;
            r.add(func);
        }
    }
}
