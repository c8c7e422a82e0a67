//! Values of json, jsonb and jsonpath.
//!
//! json is text as written; jsonb the bytes of [`binary`]; jsonpath its canonical text. Next: [`text`] (parser, slices of valid
//! text), [`binary`] (documents in place, order), [`encode`] (any SQL value as JSON).

pub mod binary;
pub mod encode;
pub mod number;
pub mod text;

pub use binary::{Builder, Node, compare, from_text, sort_key_bytes};

use super::{ValueBuilder, ValueWriter};
use crate::args::{Bytes, Kind, Text};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, StringViewArray};

/// The first byte of the binary wire form of jsonb and of jsonpath.
const WIRE_VERSION: u8 = 1;

struct TextWriter<'a> {
    array: &'a StringViewArray,
    versioned: bool,
}

impl ValueWriter for TextWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.extend_from_slice(self.array.value(row).as_bytes());
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        if self.versioned {
            out.push(WIRE_VERSION);
        }
        self.text(row, out)
    }
}

struct JsonbWriter<'a>(&'a BinaryViewArray);

impl ValueWriter for JsonbWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        Node::root(self.0.value(row)).write(out);
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.push(WIRE_VERSION);
        self.text(row, out)
    }
}

fn wrong(ty: &SqlType, array: &dyn Array) -> PgError {
    PgError::internal(format!("a column of {} has the form {}", ty, array.data_type()))
}

/// A writer for json, jsonb or jsonpath.
pub fn writer<'a>(_ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    if ty.ty == PgType::Jsonb {
        Ok(Box::new(JsonbWriter(array.as_binary_view_opt().ok_or_else(|| wrong(ty, array))?)))
    } else {
        let array = array.as_string_view_opt().ok_or_else(|| wrong(ty, array))?;
        Ok(Box::new(TextWriter { array, versioned: ty.ty == PgType::Jsonpath }))
    }
}

struct JsonBuilder {
    out: <Text as Kind>::Builder,
    len: usize,
    path: bool,
}

impl ValueBuilder for JsonBuilder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        if self.path {
            self.out.append_value(crate::functions::jsonpath::canonical(value)?);
        } else {
            text::validate(value)?;
            self.out.append_value(value);
        }
        self.len += 1;
        Ok(())
    }

    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()> {
        let value = if self.path { unversioned("jsonpath", value)? } else { value };
        self.text(ctx, utf8(value)?)
    }

    fn null(&mut self) {
        self.out.append_null();
        self.len += 1;
    }

    fn len(&self) -> usize {
        self.len
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        self.len = 0;
        Ok(std::sync::Arc::new(self.out.finish()))
    }
}

struct JsonbBuilder {
    out: <Bytes as Kind>::Builder,
    len: usize,
    builder: Builder,
}

impl ValueBuilder for JsonbBuilder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        if let Err(error) = text::parse(value, &mut self.builder) {
            self.builder = Builder::new();
            return Err(error);
        }
        self.out.append_value(self.builder.finish()?);
        self.len += 1;
        Ok(())
    }

    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()> {
        self.text(ctx, utf8(unversioned("jsonb", value)?)?)
    }

    fn null(&mut self) {
        self.out.append_null();
        self.len += 1;
    }

    fn len(&self) -> usize {
        self.len
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        self.len = 0;
        Ok(std::sync::Arc::new(self.out.finish()))
    }
}

/// The text behind the version byte of the wire's binary form.
fn unversioned<'a>(name: &str, value: &'a [u8]) -> PgResult<&'a [u8]> {
    match value.split_first() {
        Some((&WIRE_VERSION, rest)) => Ok(rest),
        Some((version, _)) => Err(PgError::new(SqlState::INTERNAL_ERROR, format!("unsupported {name} version number {version}"))),
        None => Err(PgError::new(SqlState::PROTOCOL_VIOLATION, "no data left in message")),
    }
}

fn utf8(value: &[u8]) -> PgResult<&str> {
    std::str::from_utf8(value)
        .map_err(|_| PgError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\""))
}

/// A builder for json, jsonb or jsonpath.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Ok(match ty.ty {
        PgType::Jsonb => Box::new(JsonbBuilder { out: Bytes::builder(0), len: 0, builder: Builder::new() }),
        _ => Box::new(JsonBuilder { out: Text::builder(0), len: 0, path: ty.ty == PgType::Jsonpath }),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn text_and_wire_forms() {
        let ctx = EvalContext::default();
        for (ty, given, wanted, binary) in [
            (PgType::Json, " {\"b\" :1 ,\"b\":2}", " {\"b\" :1 ,\"b\":2}", " {\"b\" :1 ,\"b\":2}"),
            (PgType::Jsonb, " {\"b\" :1 ,\"b\":2}", "{\"b\": 2}", "\u{1}{\"b\": 2}"),
            (PgType::Jsonpath, " $ . a [*]", "$.\"a\"[*]", "\u{1}$.\"a\"[*]"),
        ] {
            let ty = SqlType::new(ty);
            let mut values = builder(&ty).unwrap();
            values.text(&ctx, given).unwrap();
            values.binary(&ctx, binary.as_bytes()).unwrap();
            values.null();
            assert!(values.text(&ctx, "{").is_err());
            assert_eq!(values.len(), 3);
            let array = values.finish().unwrap();
            assert!(array.is_null(2) && array.len() == 3);
            for row in 0..2 {
                let (mut text, mut wire) = (Vec::new(), Vec::new());
                let writer = writer(&ctx, &ty, &array).unwrap();
                writer.text(row, &mut text).unwrap();
                writer.binary(row, &mut wire).unwrap();
                assert_eq!((String::from_utf8(text).unwrap().as_str(), String::from_utf8(wire).unwrap().as_str()), (wanted, binary));
            }
        }
    }
}
