//! Aggregates that build text or documents: `string_agg`, `json_agg`, `json_object_agg` and their jsonb forms.

use super::fold::{Fold, StateReader, push_blob};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::functions::json::rows::utf8;
use crate::memory::{append_bytes, append_text, process, reserve};
use crate::registry::AggregateCall;
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use crate::values::json::binary::{Builder, Node};
use crate::values::json::encode::{Encoder, Shape};
use crate::values::json::text::{Sink, write_string};
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, StringViewArray, StringViewBuilder};
use std::sync::Arc;

/// Room that documents have before one is added; most are shorter.
const GROWTH_BYTES: usize = 256;

fn missing() -> PgError {
    PgError::internal("an aggregate without its argument")
}

/// `string_agg` of text or bytea.
#[derive(Debug)]
pub struct StringFold {
    pub bytea: bool,
}

/// The joined values, with the delimiter of the first in front, which results leave out.
#[derive(Debug, Default)]
pub struct Joined {
    any: bool,
    skip: usize,
    bytes: Vec<u8>,
}

/// Values and delimiters.
pub enum Strings<'a> {
    Text(&'a StringViewArray, &'a StringViewArray),
    Bytes(&'a BinaryViewArray, &'a BinaryViewArray),
}

impl Fold for StringFold {
    type State = Joined;
    type Columns<'a> = Strings<'a>;
    const ORDERED: bool = true;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Strings<'a>> {
        let [value, delimiter, ..] = args else { return Err(missing()) };
        let columns = if self.bytea {
            value.as_binary_view_opt().zip(delimiter.as_binary_view_opt()).map(|(v, d)| Strings::Bytes(v, d))
        } else {
            value.as_string_view_opt().zip(delimiter.as_string_view_opt()).map(|(v, d)| Strings::Text(v, d))
        };
        columns.ok_or_else(|| PgError::internal("string_agg was given another type"))
    }

    fn add(&self, state: &mut Joined, columns: &Strings<'_>, row: usize) -> PgResult<()> {
        let (value, delimiter) = match columns {
            Strings::Text(value, delimiter) => {
                (value.is_valid(row).then(|| value.value(row).as_bytes()), delimiter.is_valid(row).then(|| delimiter.value(row).as_bytes()))
            }
            Strings::Bytes(value, delimiter) => {
                (value.is_valid(row).then(|| value.value(row)), delimiter.is_valid(row).then(|| delimiter.value(row)))
            }
        };
        let Some(value) = value else { return Ok(()) };
        let delimiter = delimiter.unwrap_or(&[]);
        if !state.any {
            state.any = true;
            state.skip = delimiter.len();
        }
        reserve(&mut state.bytes, delimiter.len() + value.len())?;
        state.bytes.extend_from_slice(delimiter);
        state.bytes.extend_from_slice(value);
        Ok(())
    }

    fn merge(&self, state: &mut Joined, other: Joined) -> PgResult<()> {
        if !state.any {
            *state = other;
        } else if other.any {
            reserve(&mut state.bytes, other.bytes.len())?;
            state.bytes.extend_from_slice(&other.bytes);
        }
        Ok(())
    }

    fn encode(&self, state: &Joined, out: &mut Vec<u8>) {
        if state.any {
            out.extend_from_slice(&(state.skip as i64).to_le_bytes());
            out.extend_from_slice(&state.bytes);
        }
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<Joined> {
        if bytes.is_empty() {
            return Ok(Joined::default());
        }
        let mut reader = StateReader(bytes);
        let skip = usize::try_from(reader.i64()?).unwrap_or(0);
        Ok(Joined { any: true, skip, bytes: reader.0.to_vec() })
    }

    fn finish(&self, states: Vec<Joined>) -> PgResult<ArrayRef> {
        let mut out = BinaryViewBuilder::with_capacity(states.len());
        for mut state in states {
            if state.any {
                state.bytes.drain(..state.skip.min(state.bytes.len()));
                append_bytes(&mut out, state.bytes)?;
            } else {
                out.append_null();
            }
        }
        let out = out.finish();
        if self.bytea {
            return Ok(Arc::new(out));
        }
        Ok(Arc::new(out.to_string_view().map_err(|_| PgError::internal("a text is not UTF-8"))?))
    }

    fn heap_size(&self, state: &Joined) -> usize {
        state.bytes.capacity()
    }
}

/// How JSON is collected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collects {
    /// `json_agg`, `jsonb_agg`: one argument.
    Array,
    /// `json_object_agg`, `jsonb_object_agg`: key and value.
    Object,
}

/// The four aggregates that collect JSON.
#[derive(Debug)]
pub struct JsonFold {
    collects: Collects,
    jsonb: bool,
    ctx: EvalContext,
    shapes: Vec<Shape>,
}

impl JsonFold {
    #[must_use]
    pub fn new(collects: Collects, jsonb: bool, call: &AggregateCall) -> Self {
        let shape = |ty: &SqlType| Shape::new(&call.ctx, ty);
        Self { collects, jsonb, ctx: call.ctx.clone(), shapes: call.arg_types.iter().map(shape).collect() }
    }
}

/// json: the text behind the opening bracket. jsonb: keys and values as blobs.
#[derive(Debug, Default)]
pub struct Collected {
    any: bool,
    bytes: Vec<u8>,
}

impl Fold for JsonFold {
    type State = Collected;
    type Columns<'a> = Vec<(Encoder<'a>, &'a ArrayRef)>;
    const ORDERED: bool = true;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Self::Columns<'a>> {
        self.shapes.iter().zip(args).map(|(shape, array)| Ok((shape.open(&self.ctx, array.as_ref())?, array))).collect()
    }

    fn add(&self, state: &mut Collected, columns: &Self::Columns<'_>, row: usize) -> PgResult<()> {
        let (key, value) = match (self.collects, columns.as_slice()) {
            (Collects::Array, [(value, _)]) => (None, value),
            (Collects::Object, [(key, keys), (value, _)]) => {
                if keys.is_null(row) {
                    return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "field name must not be null"));
                }
                (Some(key.key(row)?), value)
            }
            _ => return Err(missing()),
        };
        reserve(&mut state.bytes, GROWTH_BYTES)?;
        if self.jsonb {
            if let Some(key) = key {
                push_blob(key.as_bytes(), &mut state.bytes);
            }
            let mut builder = Builder::new();
            value.jsonb(row, &mut builder)?;
            push_blob(&builder.finish()?, &mut state.bytes);
        } else {
            if state.any {
                state.bytes.extend_from_slice(b", ");
                // Structured elements stand on lines of their own.
                if key.is_none() && value.is_container() && !value.is_null(row) {
                    state.bytes.extend_from_slice(b"\n ");
                }
            }
            if let Some(key) = key {
                write_string(&key, &mut state.bytes);
                state.bytes.extend_from_slice(b" : ");
            }
            value.text(row, false, &mut state.bytes)?;
        }
        state.any = true;
        Ok(())
    }

    fn merge(&self, state: &mut Collected, other: Collected) -> PgResult<()> {
        if !state.any {
            *state = other;
        } else if other.any {
            reserve(&mut state.bytes, other.bytes.len() + GROWTH_BYTES)?;
            if !self.jsonb {
                state.bytes.extend_from_slice(b", ");
                if self.collects == Collects::Array && self.shapes.first().is_some_and(Shape::is_container) {
                    state.bytes.extend_from_slice(b"\n ");
                }
            }
            state.bytes.extend_from_slice(&other.bytes);
        }
        Ok(())
    }

    fn encode(&self, state: &Collected, out: &mut Vec<u8>) {
        if state.any {
            out.push(1);
            out.extend_from_slice(&state.bytes);
        }
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<Collected> {
        Ok(match bytes.split_first() {
            Some((_, rest)) => Collected { any: true, bytes: rest.to_vec() },
            None => Collected::default(),
        })
    }

    fn finish(&self, states: Vec<Collected>) -> PgResult<ArrayRef> {
        if !self.jsonb {
            let (open, close) = if self.collects == Collects::Array { ("[", "]") } else { ("{ ", " }") };
            let mut out = StringViewBuilder::with_capacity(states.len());
            for state in &states {
                if state.any {
                    process().claim(state.bytes.len())?;
                    append_text(&mut out, &mut format!("{open}{}{close}", utf8(&state.bytes)?))?;
                } else {
                    out.append_null();
                }
            }
            return Ok(Arc::new(out.finish()));
        }
        let mut out = BinaryViewBuilder::with_capacity(states.len());
        for state in &states {
            if !state.any {
                out.append_null();
                continue;
            }
            // The document as it is built, and as it will be.
            process().claim(2 * state.bytes.len())?;
            let mut builder = Builder::new();
            let mut reader = StateReader(&state.bytes);
            match self.collects {
                Collects::Array => builder.begin_array()?,
                Collects::Object => builder.begin_object()?,
            }
            while !reader.0.is_empty() {
                if self.collects == Collects::Object {
                    builder.key(utf8(reader.blob()?)?)?;
                }
                builder.node(&Node::root(reader.blob()?));
            }
            match self.collects {
                Collects::Array => builder.end_array()?,
                Collects::Object => builder.end_object()?,
            }
            append_bytes(&mut out, builder.finish()?)?;
        }
        Ok(Arc::new(out.finish()))
    }

    fn heap_size(&self, state: &Collected) -> usize {
        state.bytes.capacity()
    }
}
