//! Values of maps: `"a"=>"1", "b"=>NULL`, as hstore writes them, and whole as JSON objects when they are read.
//!
//! A map column is Arrow's map. Entries are in the order of their keys, each key once: [`arrange`] makes them so.

use super::{ValueBuilder, ValueWriter, builder as any_builder, key_writer, writer as any_writer};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use arrow::array::{Array, ArrayRef, MapArray, NullBufferBuilder, StructArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::DataType;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Where the entries of a row are among all of a column's.
#[must_use]
pub fn entries(map: &MapArray, row: usize) -> Range<usize> {
    let at = |i: usize| map.value_offsets().get(i).map_or(0, |o| usize::try_from(*o).unwrap_or(0));
    at(row)..at(row + 1)
}

/// A column of maps of its parts; `arrow` is their type, the rows end in `keys` and `values` at `ends`.
///
/// # Errors
/// 54000 for more entries than a column holds; XX000 for parts of other types.
pub fn column(arrow: &DataType, keys: ArrayRef, values: ArrayRef, ends: &[usize], nulls: Option<NullBuffer>) -> PgResult<ArrayRef> {
    let DataType::Map(field, sorted) = arrow else { return Err(PgError::internal("a map type without entries")) };
    let DataType::Struct(fields) = field.data_type() else { return Err(PgError::internal("a map type without entries")) };
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0);
    for end in ends {
        offsets.push(i32::try_from(*end).map_err(|_| PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "maps have too many entries"))?);
    }
    let pairs = StructArray::try_new(fields.clone(), vec![keys, values], None)?;
    Ok(Arc::new(MapArray::try_new(Arc::clone(field), OffsetBuffer::new(ScalarBuffer::from(offsets)), pairs, nulls, *sorted)?))
}

/// A column of maps whose entries may be in any order, and have keys twice: the last entry of a key stays.
///
/// # Errors
/// As [`column()`].
pub fn arrange(ty: &SqlType, keys: &ArrayRef, values: &ArrayRef, ends: &[usize], nulls: Option<NullBuffer>) -> PgResult<ArrayRef> {
    let PgType::Map(key, _) = &ty.ty else { return Err(PgError::internal("a map that is none")) };
    let order = key_writer(&SqlType::new((**key).clone()), keys.as_ref())?;
    let mut positions: Vec<u32> = Vec::with_capacity(keys.len());
    let mut arranged = Vec::with_capacity(ends.len());
    let mut start = 0;
    for end in ends {
        let mut row: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        for at in start..*end {
            let mut bytes = Vec::new();
            order.write(at, &mut bytes)?;
            // Columns are far below 2³² values.
            row.insert(bytes, at as u32);
        }
        positions.extend(row.into_values());
        arranged.push(positions.len());
        start = *end;
    }
    let positions = UInt32Array::from(positions);
    column(&ty.ty.arrow(), take(keys, &positions, None)?, take(values, &positions, None)?, &arranged, nulls)
}

/// Writes a column of maps.
///
/// # Errors
/// As those of its keys and values.
pub fn writer<'a>(ctx: &'a EvalContext, (key, value): (&PgType, &PgType), column: &'a MapArray) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Ok(Box::new(MapWriter {
        column,
        keys: any_writer(ctx, &SqlType::new(key.clone()), column.keys().as_ref())?,
        values: any_writer(ctx, &SqlType::new(value.clone()), column.values().as_ref())?,
    }))
}

struct MapWriter<'a> {
    column: &'a MapArray,
    keys: Box<dyn ValueWriter + 'a>,
    values: Box<dyn ValueWriter + 'a>,
}

/// Puts what was written from `from` on between quotes.
fn quote(out: &mut Vec<u8>, from: usize) {
    let text = out.split_off(from);
    out.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

impl ValueWriter for MapWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        for (n, at) in entries(self.column, row).enumerate() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            let from = out.len();
            self.keys.text(at, out)?;
            quote(out, from);
            out.extend_from_slice(b"=>");
            if self.column.values().is_null(at) {
                out.extend_from_slice(b"NULL");
                continue;
            }
            let from = out.len();
            self.values.text(at, out)?;
            quote(out, from);
        }
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        self.text(row, out)
    }
}

/// Builds a column of maps of type `ty`.
///
/// # Errors
/// As those of its keys and values.
pub fn builder(ty: &SqlType, (key, value): (&PgType, &PgType)) -> PgResult<Box<dyn ValueBuilder>> {
    Ok(Box::new(MapBuilder {
        ty: ty.clone(),
        keys: any_builder(&SqlType::new(key.clone()))?,
        values: any_builder(&SqlType::new(value.clone()))?,
        ends: Vec::new(),
        nulls: NullBufferBuilder::new(0),
    }))
}

struct MapBuilder {
    ty: SqlType,
    keys: Box<dyn ValueBuilder>,
    values: Box<dyn ValueBuilder>,
    ends: Vec<usize>,
    nulls: NullBufferBuilder,
}

impl ValueBuilder for MapBuilder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        for (key, value) in parse(value).ok_or_else(|| PgError::invalid_text("map", value))? {
            self.keys.text(ctx, &key)?;
            match value {
                Some(text) => self.values.text(ctx, &text)?,
                None => self.values.null(),
            }
        }
        self.ends.push(self.keys.len());
        self.nulls.append_non_null();
        Ok(())
    }

    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()> {
        self.text(ctx, std::str::from_utf8(value).map_err(|_| super::bad_binary())?)
    }

    fn null(&mut self) {
        self.ends.push(self.keys.len());
        self.nulls.append_null();
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        let (keys, values) = (self.keys.finish()?, self.values.finish()?);
        arrange(&self.ty, &keys, &values, &std::mem::take(&mut self.ends), self.nulls.finish())
    }
}

type Entries = Vec<(String, Option<String>)>;

/// The entries of a map's text; `None` is NULL.
fn parse(text: &str) -> Option<Entries> {
    if text.trim_start().starts_with('{') {
        return parse_json(text);
    }
    let mut reader = Reader { chars: text.chars().peekable() };
    let mut out = Entries::new();
    reader.blanks();
    while reader.chars.peek().is_some() {
        let (key, _) = reader.word()?;
        reader.blanks();
        (reader.chars.next()? == '=' && reader.chars.next()? == '>').then_some(())?;
        reader.blanks();
        let (value, quoted) = reader.word()?;
        let null = !quoted && value.eq_ignore_ascii_case("null");
        out.push((key, (!null).then_some(value)));
        reader.blanks();
        match reader.chars.next() {
            None => break,
            Some(',') => reader.blanks(),
            Some(_) => return None,
        }
        // A comma is followed by an entry.
        reader.chars.peek()?;
    }
    Some(out)
}

fn parse_json(text: &str) -> Option<Entries> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    let value = |value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    Some(object.into_iter().map(|(key, of)| (key, value(of))).collect())
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.chars.next_if(char::is_ascii_whitespace).is_some() {}
    }

    /// A key or a value, and whether it stands between quotes.
    fn word(&mut self) -> Option<(String, bool)> {
        let mut out = String::new();
        if self.chars.next_if_eq(&'"').is_some() {
            loop {
                match self.chars.next()? {
                    '"' => return Some((out, true)),
                    '\\' => out.push(self.chars.next()?),
                    c => out.push(c),
                }
            }
        }
        while let Some(c) = self.chars.next_if(|c| !c.is_ascii_whitespace() && !matches!(c, ',' | '=' | '"')) {
            out.push(if c == '\\' { self.chars.next()? } else { c });
        }
        (!out.is_empty()).then_some((out, false))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::types::map_types;
    use crate::values::{input_text, output_text};

    fn round_trip(key: PgType, value: PgType, text: &str) -> PgResult<String> {
        let (ctx, ty) = (EvalContext::default(), SqlType::new(PgType::Map(Box::new(key), Box::new(value))));
        output_text(&ctx, &ty, &input_text(&ctx, &ty, text)?)
    }

    #[test]
    fn texts_are_those_of_hstore_in_the_order_of_keys() {
        let text = |text| round_trip(PgType::Text, PgType::Text, text).unwrap();
        assert_eq!(text(""), "");
        assert_eq!(text(" b => 2 ,a=>NULL"), r#""a"=>NULL, "b"=>"2""#);
        assert_eq!(text(r#""a"=>"null", "q\"\\"=>"x,=>y""#), r#""a"=>"null", "q\"\\"=>"x,=>y""#);
        assert_eq!(text(r#"{"b": 1, "a": "x", "c": null}"#), r#""a"=>"x", "b"=>"1", "c"=>NULL"#);
        // The last of two entries with one key stays.
        assert_eq!(text("a=>1, a=>2"), r#""a"=>"2""#);
        assert_eq!(round_trip(PgType::Int4, PgType::Float8, "10=>1e3, 9=>2").unwrap(), r#""9"=>"2", "10"=>"1000""#);
    }

    #[test]
    fn malformed_texts_are_refused() {
        for text in ["a", "a=>", "=>1", "a=>1,", ",", "a=1", "\"a=>1", "a=>1 b=>2", "{\"a\"", "a=>\"1", "\\"] {
            let error = round_trip(PgType::Text, PgType::Text, text).unwrap_err();
            assert_eq!(error.code(), SqlState::INVALID_TEXT_REPRESENTATION, "{text}");
        }
        assert!(round_trip(PgType::Int4, PgType::Text, "x=>1").is_err());
    }

    #[test]
    fn types_have_oids_of_their_own() {
        let mut seen = std::collections::HashSet::new();
        for ty in map_types() {
            assert!(seen.insert(ty.oid()), "{ty}");
            assert_eq!(PgType::from_oid(ty.oid()), Some(ty));
        }
        assert!(PgType::from_oid(14_000 + 63).is_none() && PgType::from_oid(16_384).is_none());
    }
}
