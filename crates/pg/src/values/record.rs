//! Values: records `(1,"a b",)` and maps `{"key": value}`: text and binary forms.
//!
//! A record column is a struct, a map column a map. A map's text is a JSON object: numbers and booleans bare, everything else quoted.

use super::{ValueBuilder, ValueWriter, builder as any_builder, open, writer as any_writer};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, RecordType, SqlType, array_item};
use arrow::array::{Array, ArrayRef, MapArray, NullBufferBuilder, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Fields, TimeUnit};
use std::sync::Arc;

/// The SQL type of an Arrow column of which nothing else is known: a field of an anonymous record.
#[must_use]
pub fn type_of_arrow(arrow: &DataType) -> SqlType {
    if let Some(item) = array_item(arrow) {
        return type_of_arrow(item).array_of();
    }
    let ty = match arrow {
        DataType::Boolean => PgType::Bool,
        DataType::Int16 => PgType::Int2,
        DataType::Int32 => PgType::Int4,
        DataType::Int64 => PgType::Int8,
        DataType::Float32 => PgType::Float4,
        DataType::Float64 => PgType::Float8,
        DataType::UInt32 => PgType::Oid,
        DataType::Decimal128(..) => PgType::Numeric,
        DataType::BinaryView => PgType::Bytea,
        DataType::Date32 => PgType::Date,
        DataType::Time64(TimeUnit::Microsecond) => PgType::Time,
        DataType::FixedSizeBinary(12) => PgType::Timetz,
        DataType::FixedSizeBinary(16) => PgType::Uuid,
        DataType::Timestamp(_, None) => PgType::Timestamp,
        DataType::Timestamp(_, Some(_)) => PgType::Timestamptz,
        DataType::Interval(_) => PgType::Interval,
        DataType::Struct(fields) => PgType::Record(Some(Arc::new(RecordType {
            fields: fields.iter().map(|field| (field.name().clone(), type_of_arrow(field.data_type()))).collect(),
        }))),
        _ => PgType::Text,
    };
    SqlType { ty, typmod: -1, arrow: arrow.clone() }
}

/// The types of a record's fields.
pub(crate) fn field_types(ty: &SqlType, array: &StructArray) -> Vec<SqlType> {
    match &ty.ty {
        PgType::Record(Some(record)) if record.fields.len() == array.num_columns() => {
            record.fields.iter().map(|(_, ty)| ty.clone()).collect()
        }
        _ => array.columns().iter().map(|column| type_of_arrow(column.data_type())).collect(),
    }
}

/// Writes a column of records or maps.
pub fn writer<'a>(ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    if let PgType::Map(key, value) = &ty.ty {
        let column: &MapArray = open(array, ty)?;
        return Ok(Box::new(MapWriter {
            column,
            keys: Column::new(ctx, SqlType { arrow: column.keys().data_type().clone(), ..SqlType::new((**key).clone()) }, column.keys())?,
            values: Column::new(
                ctx,
                SqlType { arrow: column.values().data_type().clone(), ..SqlType::new((**value).clone()) },
                column.values(),
            )?,
        }));
    }
    let column: &StructArray = open(array, ty)?;
    let types = field_types(ty, column);
    let columns = types.into_iter().zip(column.columns()).map(|(ty, column)| Column::new(ctx, ty, column)).collect::<PgResult<_>>()?;
    Ok(Box::new(RecordWriter { columns }))
}

/// A child column with its type and what writes it.
struct Column<'a> {
    ty: SqlType,
    array: &'a ArrayRef,
    writer: Box<dyn ValueWriter + 'a>,
}

impl<'a> Column<'a> {
    fn new(ctx: &'a EvalContext, ty: SqlType, array: &'a ArrayRef) -> PgResult<Self> {
        let writer = any_writer(ctx, &ty, array.as_ref())?;
        Ok(Self { ty, array, writer })
    }
}

struct RecordWriter<'a> {
    columns: Vec<Column<'a>>,
}

impl ValueWriter for RecordWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.push(b'(');
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            if !column.array.is_null(row) {
                let from = out.len();
                column.writer.text(row, out)?;
                quote_field(out, from);
            }
        }
        out.push(b')');
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.extend((self.columns.len() as i32).to_be_bytes());
        for column in &self.columns {
            out.extend(column.ty.ty.oid().to_be_bytes());
            if column.array.is_null(row) {
                out.extend((-1i32).to_be_bytes());
                continue;
            }
            let header = out.len();
            out.extend([0; 4]);
            column.writer.binary(row, out)?;
            let length = (out.len() - header - 4) as i32;
            if let Some(slot) = out.get_mut(header..header + 4) {
                slot.copy_from_slice(&length.to_be_bytes());
            }
        }
        Ok(())
    }
}

/// Puts quotes around the field text that begins at `from`, if it needs them.
fn quote_field(out: &mut Vec<u8>, from: usize) {
    let text = out.get(from..).unwrap_or(&[]);
    let special = |b: &u8| matches!(b, b'"' | b'\\');
    let needed =
        text.is_empty() || text.iter().any(|b| special(b) || matches!(b, b'(' | b')' | b',') || b.is_ascii_whitespace() || *b == 0x0b);
    if !needed {
        return;
    }
    let text = out.split_off(from);
    out.push(b'"');
    for byte in text {
        if special(&byte) {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Builds a column of records or maps.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Ok(match &ty.ty {
        PgType::Map(key, value) => {
            let (key, value) = (SqlType::new((**key).clone()), SqlType::new((**value).clone()));
            Box::new(MapBuilder {
                keys: any_builder(&key)?,
                values: any_builder(&value)?,
                arrow: ty.ty.arrow(),
                offsets: vec![0],
                nulls: NullBufferBuilder::new(0),
            })
        }
        PgType::Record(Some(record)) => Box::new(RecordBuilder {
            fields: record.fields.iter().map(|(name, ty)| Field::new(name, ty.arrow.clone(), true)).collect::<Vec<_>>().into(),
            types: record.fields.iter().map(|(_, ty)| ty.clone()).collect(),
            columns: record.fields.iter().map(|(_, ty)| any_builder(ty)).collect::<PgResult<_>>()?,
            nulls: NullBufferBuilder::new(0),
        }),
        _ => return Err(PgError::unsupported("input of anonymous composite types is not implemented")),
    })
}

struct RecordBuilder {
    fields: Fields,
    types: Vec<SqlType>,
    columns: Vec<Box<dyn ValueBuilder>>,
    nulls: NullBufferBuilder,
}

fn malformed(text: &str, detail: &str) -> PgError {
    PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("malformed record literal: \"{text}\"")).detail(detail)
}

/// The fields of a record's text; `None` is NULL.
pub fn parse_record(text: &str) -> PgResult<Vec<Option<String>>> {
    let mut chars = text.trim_start().chars().peekable();
    if chars.next() != Some('(') {
        return Err(malformed(text, "Missing left parenthesis."));
    }
    let mut fields = Vec::new();
    loop {
        let mut value: Option<String> = None;
        let mut quoted = false;
        loop {
            match chars.peek().copied() {
                None => return Err(malformed(text, "Unexpected end of input.")),
                Some(',' | ')') if !quoted => break,
                Some(c) => {
                    chars.next();
                    let value = value.get_or_insert_with(String::new);
                    match c {
                        '\\' => match chars.next() {
                            Some(c) => value.push(c),
                            None => return Err(malformed(text, "Unexpected end of input.")),
                        },
                        '"' if quoted && chars.peek() == Some(&'"') => {
                            chars.next();
                            value.push('"');
                        }
                        '"' => quoted = !quoted,
                        c => value.push(c),
                    }
                }
            }
        }
        fields.push(value);
        if chars.next() == Some(')') {
            break;
        }
    }
    if chars.any(|c| !c.is_whitespace()) {
        return Err(malformed(text, "Junk after right parenthesis."));
    }
    Ok(fields)
}

impl RecordBuilder {
    /// Makes all columns as long as the record column, after an error within a value.
    fn abandon(&mut self, rows: usize) {
        for column in &mut self.columns {
            if column.len() < rows {
                column.null();
            }
        }
    }
}

impl ValueBuilder for RecordBuilder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        let mut fields = parse_record(value)?;
        if self.columns.is_empty() && fields == [None] {
            fields.clear();
        }
        match fields.len().cmp(&self.columns.len()) {
            std::cmp::Ordering::Less => return Err(malformed(value, "Too few columns.")),
            std::cmp::Ordering::Greater => return Err(malformed(value, "Too many columns.")),
            std::cmp::Ordering::Equal => {}
        }
        for (column, field) in self.columns.iter_mut().zip(&fields) {
            match field {
                Some(field) => column.text(ctx, field)?,
                None => column.null(),
            }
        }
        self.nulls.append_non_null();
        Ok(())
    }

    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()> {
        let short = || PgError::new(SqlState::PROTOCOL_VIOLATION, "insufficient data left in message");
        let word = |at: usize| value.get(at..at + 4).and_then(|b| b.try_into().ok()).map(i32::from_be_bytes).ok_or_else(short);
        let count = word(0)?;
        if count != self.columns.len() as i32 {
            return Err(PgError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("wrong number of columns: {count}, expected {}", self.columns.len()),
            ));
        }
        let mut at = 4;
        for (index, (column, ty)) in self.columns.iter_mut().zip(&self.types).enumerate() {
            let (oid, length) = (word(at)? as u32, word(at + 4)?);
            at += 8;
            if oid != ty.ty.oid() {
                return Err(PgError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!("binary data has type {oid} instead of expected {} in record column {}", ty.ty.oid(), index + 1),
                ));
            }
            match usize::try_from(length) {
                Ok(length) => {
                    column.binary(ctx, value.get(at..at + length).ok_or_else(short)?)?;
                    at += length;
                }
                Err(_) => column.null(),
            }
        }
        self.nulls.append_non_null();
        Ok(())
    }

    fn null(&mut self) {
        self.nulls.append_null();
        self.abandon(self.nulls.len());
    }

    fn len(&self) -> usize {
        self.nulls.len()
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        let nulls: Option<NullBuffer> = self.nulls.finish();
        let rows = nulls.as_ref().map(NullBuffer::len);
        let columns = self.columns.iter_mut().map(|column| column.finish()).collect::<PgResult<Vec<_>>>()?;
        if columns.is_empty() {
            return Ok(Arc::new(StructArray::new_empty_fields(rows.unwrap_or(0), nulls)));
        }
        Ok(Arc::new(StructArray::try_new(self.fields.clone(), columns, nulls)?))
    }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Maps

struct MapWriter<'a> {
    column: &'a MapArray,
    keys: Column<'a>,
    values: Column<'a>,
}

fn write_json_string(text: &[u8], out: &mut Vec<u8>) -> PgResult<()> {
    let text = std::str::from_utf8(text).map_err(|_| PgError::internal("a text form that is not UTF-8"))?;
    serde_json::to_writer(out, text).map_err(|error| PgError::internal(error.to_string()))
}

impl ValueWriter for MapWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let bare = matches!(
            self.values.ty.ty,
            PgType::Bool
                | PgType::Int2
                | PgType::Int4
                | PgType::Int8
                | PgType::Float4
                | PgType::Float8
                | PgType::Numeric
                | PgType::Json
                | PgType::Jsonb
        );
        let offsets = self.column.value_offsets();
        let (start, end) = (offsets.get(row).map_or(0, |o| *o as usize), offsets.get(row + 1).map_or(0, |o| *o as usize));
        let mut scratch = Vec::new();
        out.push(b'{');
        for at in start..end {
            if at > start {
                out.extend_from_slice(b", ");
            }
            scratch.clear();
            self.keys.writer.text(at, &mut scratch)?;
            write_json_string(&scratch, out)?;
            out.extend_from_slice(b": ");
            if self.values.array.is_null(at) {
                out.extend_from_slice(b"null");
                continue;
            }
            scratch.clear();
            self.values.writer.text(at, &mut scratch)?;
            match scratch.as_slice() {
                b"t" if self.values.ty.ty == PgType::Bool => out.extend_from_slice(b"true"),
                b"f" if self.values.ty.ty == PgType::Bool => out.extend_from_slice(b"false"),
                // NaN and Infinity are no JSON.
                text if bare && !text.ends_with(b"N") && !text.ends_with(b"y") => out.extend_from_slice(text),
                text => write_json_string(text, out)?,
            }
        }
        out.push(b'}');
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        // Clients see jsonb: a version byte, then its text.
        out.push(1);
        self.text(row, out)
    }
}

struct MapBuilder {
    keys: Box<dyn ValueBuilder>,
    values: Box<dyn ValueBuilder>,
    arrow: DataType,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl ValueBuilder for MapBuilder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        let invalid = || PgError::invalid_text("map", value);
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(value).map_err(|_| invalid())?;
        for (key, value) in &object {
            self.keys.text(ctx, key)?;
            match value {
                serde_json::Value::Null => self.values.null(),
                serde_json::Value::String(text) => self.values.text(ctx, text)?,
                other => self.values.text(ctx, &other.to_string())?,
            }
        }
        self.offsets.push(i32::try_from(self.keys.len()).map_err(|_| invalid())?);
        self.nulls.append_non_null();
        Ok(())
    }

    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()> {
        let text = value.strip_prefix(&[1]).and_then(|text| std::str::from_utf8(text).ok());
        self.text(ctx, text.ok_or_else(super::bad_binary)?)
    }

    fn null(&mut self) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0));
        self.nulls.append_null();
    }

    fn len(&self) -> usize {
        self.nulls.len()
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        let DataType::Map(entries, _) = &self.arrow else { return Err(PgError::internal("a map type without entries")) };
        let DataType::Struct(fields) = entries.data_type() else { return Err(PgError::internal("a map type without entries")) };
        let (keys, values) = (self.keys.finish()?, self.values.finish()?);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, vec![0])));
        let pairs = StructArray::try_new(fields.clone(), vec![keys, values], None)?;
        Ok(Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, self.nulls.finish(), true)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::values::{input_text, output_text};

    fn round_trip(ty: &SqlType, text: &str) -> PgResult<String> {
        let ctx = EvalContext::default();
        output_text(&ctx, ty, &input_text(&ctx, ty, text)?)
    }

    #[test]
    fn records() {
        let fields = [("a", PgType::Int4), ("b", PgType::Text), ("c", PgType::Text)];
        let record = RecordType { fields: fields.into_iter().map(|(name, ty)| (name.to_owned(), ty.into())).collect() };
        let ty = SqlType::new(PgType::Record(Some(Arc::new(record))));
        assert_eq!(round_trip(&ty, "(1,\"a b\",)").unwrap(), "(1,\"a b\",)");
        assert_eq!(round_trip(&ty, "(,\"\",\"a\"\"b\\\\c\")").unwrap(), "(,\"\",\"a\"\"b\\\\c\")");
        for (text, detail) in [
            ("1", "Missing left parenthesis."),
            ("(1,2)", "Too few columns."),
            ("(1,2,3,4)", "Too many columns."),
            ("(1", "Unexpected end of input."),
            ("(1,2,3)x", "Junk after right parenthesis."),
        ] {
            assert_eq!(round_trip(&ty, text).unwrap_err().fields().detail.as_deref(), Some(detail), "{text}");
        }
    }

    #[test]
    fn maps() {
        let ty = SqlType::new(PgType::Map(Box::new(PgType::Text), Box::new(PgType::Int4)));
        assert_eq!(round_trip(&ty, "{\"a\": 1, \"b\": null}").unwrap(), "{\"a\": 1, \"b\": null}");
        assert_eq!(round_trip(&ty, "{}").unwrap(), "{}");
    }
}
