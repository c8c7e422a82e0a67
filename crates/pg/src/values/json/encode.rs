//! Any SQL value as JSON: what `to_json`, `row_to_json`, `json_agg` and their families share.
//!
//! A [`Shape`] is made once for a type, an [`Encoder`] once for a column; the work for a value is one call. Booleans and numbers
//! become their JSON form, json stands as it is, arrays and rows become containers, dates take ISO 8601, all else is a string
//! of its text form.

use super::binary::{Builder, Node};
use super::text::{self, Sink, write_string};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::settings::DateFormat;
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use crate::values::array::{ArrayColumn, ArrayValue, element_type, elements_of};
use crate::values::{ValueWriter, writer};
use arrow::array::{Array, AsArray, BinaryViewArray, BooleanArray, MapArray, StringViewArray};
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Category {
    Bool,
    Number,
    Text,
    /// Dates and timestamps: ISO 8601 whatever DateStyle says.
    Time,
    Json,
    Jsonb,
    List,
    Record,
    Map,
}

/// How values of a type become JSON.
#[derive(Debug)]
pub struct Shape {
    ty: SqlType,
    category: Category,
    children: Vec<Shape>,
    /// The context in which dates print as ISO; only where a date occurs.
    iso: Option<EvalContext>,
}

impl Shape {
    #[must_use]
    pub fn new(ctx: &EvalContext, ty: &SqlType) -> Shape {
        let mut children = Vec::new();
        let category = match &ty.ty {
            PgType::Bool => Category::Bool,
            PgType::Int2 | PgType::Int4 | PgType::Int8 | PgType::Float4 | PgType::Float8 | PgType::Numeric => Category::Number,
            PgType::Date | PgType::Timestamp | PgType::Timestamptz => Category::Time,
            PgType::Json => Category::Json,
            PgType::Jsonb => Category::Jsonb,
            array if array.is_array() => {
                children.push(Shape::new(ctx, &element_type(ty)));
                Category::List
            }
            PgType::Record(Some(record)) => {
                children.extend(record.fields.iter().map(|(_, ty)| Shape::new(ctx, ty)));
                Category::Record
            }
            PgType::Map(key, value) => {
                children.push(Shape::new(ctx, &SqlType::new((**key).clone())));
                children.push(Shape::new(ctx, &SqlType::new((**value).clone())));
                Category::Map
            }
            _ => Category::Text,
        };
        let iso = (category == Category::Time).then(|| {
            let mut settings = (*ctx.settings).clone();
            settings.date_format = DateFormat::Iso;
            EvalContext { settings: Arc::new(settings), ..ctx.clone() }
        });
        Shape { ty: ty.clone(), category, children, iso }
    }

    /// Whether values become JSON arrays or objects.
    #[must_use]
    pub fn is_container(&self) -> bool {
        matches!(self.category, Category::List | Category::Record | Category::Map)
    }

    /// An encoder over one column.
    pub fn open<'a>(&'a self, ctx: &'a EvalContext, array: &'a dyn Array) -> PgResult<Encoder<'a>> {
        let wrong = || PgError::internal(format!("a column of {} has the form {}", self.ty, array.data_type()));
        let child = |i: usize| self.children.get(i).ok_or_else(wrong);
        let form = match self.category {
            Category::Bool => Form::Bool(array.as_boolean_opt().ok_or_else(wrong)?),
            Category::Number => Form::Number(writer(ctx, &self.ty, array)?),
            Category::Text => Form::Text(writer(ctx, &self.ty, array)?),
            Category::Time => Form::Time(writer(self.iso.as_ref().unwrap_or(ctx), &self.ty, array)?),
            Category::Json => Form::Json(array.as_string_view_opt().ok_or_else(wrong)?),
            Category::Jsonb => Form::Jsonb(array.as_binary_view_opt().ok_or_else(wrong)?),
            Category::List => Form::List(ArrayColumn::open(array)?, Box::new(child(0)?.open(ctx, elements_of(array)?.as_ref())?)),
            Category::Record => {
                let row = array.as_struct_opt().ok_or_else(wrong)?;
                let PgType::Record(Some(record)) = &self.ty.ty else { return Err(wrong()) };
                let mut fields = Vec::with_capacity(record.fields.len());
                for (((name, _), shape), column) in record.fields.iter().zip(&self.children).zip(row.columns()) {
                    fields.push((name.as_str(), shape.open(ctx, column.as_ref())?));
                }
                Form::Record(fields)
            }
            Category::Map => {
                let map = array.as_map_opt().ok_or_else(wrong)?;
                Form::Map(map, Box::new((child(0)?.open(ctx, map.keys().as_ref())?, child(1)?.open(ctx, map.values().as_ref())?)))
            }
        };
        Ok(Encoder { array, form, container: self.is_container(), json: matches!(self.category, Category::Json | Category::Jsonb) })
    }
}

enum Form<'a> {
    Bool(&'a BooleanArray),
    Number(Box<dyn ValueWriter + 'a>),
    Text(Box<dyn ValueWriter + 'a>),
    Time(Box<dyn ValueWriter + 'a>),
    Json(&'a StringViewArray),
    Jsonb(&'a BinaryViewArray),
    List(ArrayColumn, Box<Encoder<'a>>),
    Record(Vec<(&'a str, Encoder<'a>)>),
    Map(&'a MapArray, Box<(Encoder<'a>, Encoder<'a>)>),
}

/// Writes the values of one column as JSON, by row.
pub struct Encoder<'a> {
    array: &'a dyn Array,
    form: Form<'a>,
    container: bool,
    json: bool,
}

/// The offsets of a list's row.
fn range(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    let at = |i: usize| offsets.get(i).map_or(0, |o| usize::try_from(*o).unwrap_or(0));
    at(row)..at(row + 1)
}

fn text_of(writer: &dyn ValueWriter, row: usize) -> PgResult<String> {
    let mut out = Vec::new();
    writer.text(row, &mut out)?;
    String::from_utf8(out).map_err(|_| PgError::internal("a text form that is not UTF-8"))
}

/// `2020-01-02 03:04:05+00 BC` as `2020-01-02T03:04:05+00:00 BC`.
fn iso8601(text: &str) -> String {
    let Some((date, rest)) = text.split_once(' ') else { return text.to_owned() };
    if !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return text.to_owned();
    }
    let (time, era) = rest.split_once(' ').map_or((rest, ""), |(time, era)| (time, era));
    let minutes = match time.rfind(['+', '-']) {
        Some(sign) if time.len() - sign == 3 => ":00",
        _ => "",
    };
    let blank = if era.is_empty() { "" } else { " " };
    format!("{date}T{time}{minutes}{blank}{era}")
}

/// Whether a number's text is one in JSON too (not NaN or an infinity).
fn is_json_number(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit())
}

impl Encoder<'_> {
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    #[must_use]
    pub fn is_container(&self) -> bool {
        self.container
    }

    /// Appends JSON text; NULL becomes null. `line_feeds` sets the outermost container's parts on lines of their own.
    pub fn text(&self, row: usize, line_feeds: bool, out: &mut Vec<u8>) -> PgResult<()> {
        if self.array.is_null(row) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        let separator: &[u8] = if line_feeds { b",\n " } else { b"," };
        match &self.form {
            Form::Bool(array) => out.extend_from_slice(if array.value(row) { b"true" } else { b"false" }),
            Form::Number(writer) => {
                let from = out.len();
                writer.text(row, out)?;
                let is_number = out.get(from..).and_then(|t| std::str::from_utf8(t).ok()).is_some_and(is_json_number);
                if !is_number {
                    out.insert(from, b'"');
                    out.push(b'"');
                }
            }
            Form::Text(writer) => write_string(&text_of(&**writer, row)?, out),
            Form::Time(writer) => write_string(&iso8601(&text_of(&**writer, row)?), out),
            Form::Json(array) => out.extend_from_slice(array.value(row).as_bytes()),
            Form::Jsonb(array) => Node::root(array.value(row)).write(out),
            Form::List(arrays, inner) => {
                let value = arrays.get(row).unwrap_or(ArrayValue::EMPTY);
                inner.list_text(value.shape.lengths(), &mut { value.start }, separator, out)?;
            }
            Form::Record(fields) => {
                out.push(b'{');
                for (i, (name, field)) in fields.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(separator);
                    }
                    write_string(name, out);
                    out.push(b':');
                    field.text(row, false, out)?;
                }
                out.push(b'}');
            }
            Form::Map(map, entry) => {
                let (keys, values) = &**entry;
                out.push(b'{');
                for (i, at) in range(map.value_offsets(), row).enumerate() {
                    if i > 0 {
                        out.extend_from_slice(separator);
                    }
                    write_string(&keys.key(at)?, out);
                    out.push(b':');
                    values.text(at, false, out)?;
                }
                out.push(b'}');
            }
        }
        Ok(())
    }

    /// Reports the value to a jsonb builder.
    pub fn jsonb(&self, row: usize, out: &mut Builder) -> PgResult<()> {
        if self.array.is_null(row) {
            return out.null();
        }
        match &self.form {
            Form::Bool(array) => out.bool(array.value(row)),
            Form::Number(writer) => {
                let text = text_of(&**writer, row)?;
                if is_json_number(&text) { out.number(&text) } else { out.string(&text) }
            }
            Form::Text(writer) => out.string(&text_of(&**writer, row)?),
            Form::Time(writer) => out.string(&iso8601(&text_of(&**writer, row)?)),
            Form::Json(array) => text::parse(array.value(row), out),
            Form::Jsonb(array) => {
                out.node(&Node::root(array.value(row)));
                Ok(())
            }
            Form::List(arrays, inner) => {
                let value = arrays.get(row).unwrap_or(ArrayValue::EMPTY);
                inner.list_jsonb(value.shape.lengths(), &mut { value.start }, out)
            }
            Form::Record(fields) => {
                out.begin_object()?;
                for (name, field) in fields {
                    out.key(name)?;
                    field.jsonb(row, out)?;
                }
                out.end_object()
            }
            Form::Map(map, entry) => {
                let (keys, values) = &**entry;
                out.begin_object()?;
                for at in range(map.value_offsets(), row) {
                    out.key(&keys.key(at)?)?;
                    values.jsonb(at, out)?;
                }
                out.end_object()
            }
        }
    }

    /// Appends an array of such lengths, whose elements lie from `at` on, as arrays in arrays.
    fn list_text(&self, lengths: &[usize], at: &mut usize, separator: &[u8], out: &mut Vec<u8>) -> PgResult<()> {
        let (length, inner) = lengths.split_first().map_or((0, &[][..]), |(length, inner)| (*length, inner));
        out.push(b'[');
        for i in 0..length {
            if i > 0 {
                out.extend_from_slice(separator);
            }
            if inner.is_empty() {
                self.text(*at, false, out)?;
                *at += 1;
            } else {
                self.list_text(inner, at, b",", out)?;
            }
        }
        out.push(b']');
        Ok(())
    }

    /// As [`Encoder::list_text`], for a jsonb builder.
    fn list_jsonb(&self, lengths: &[usize], at: &mut usize, out: &mut Builder) -> PgResult<()> {
        let (length, inner) = lengths.split_first().map_or((0, &[][..]), |(length, inner)| (*length, inner));
        out.begin_array()?;
        for _ in 0..length {
            if inner.is_empty() {
                self.jsonb(*at, out)?;
                *at += 1;
            } else {
                self.list_jsonb(inner, at, out)?;
            }
        }
        out.end_array()
    }

    /// The value as the key of an object. The row must not be NULL.
    pub fn key(&self, row: usize) -> PgResult<String> {
        if self.container || self.json {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "key value must be scalar, not array, composite, or json"));
        }
        match &self.form {
            Form::Bool(array) => Ok(if array.value(row) { "true" } else { "false" }.to_owned()),
            Form::Number(writer) | Form::Text(writer) => text_of(&**writer, row),
            Form::Time(writer) => Ok(iso8601(&text_of(&**writer, row)?)),
            _ => Err(PgError::internal("a key of JSON that is a container")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn iso_form() {
        for (given, wanted) in [
            ("2020-01-02", "2020-01-02"),
            ("2020-01-02 03:04:05.5", "2020-01-02T03:04:05.5"),
            ("2020-01-02 03:04:05+00", "2020-01-02T03:04:05+00:00"),
            ("2020-01-02 03:04:05+05:30", "2020-01-02T03:04:05+05:30"),
            ("0044-03-15 BC", "0044-03-15 BC"),
            ("0044-03-15 00:00:00 BC", "0044-03-15T00:00:00 BC"),
            ("infinity", "infinity"),
        ] {
            assert_eq!(iso8601(given), wanted);
        }
    }
}
