//! Encoded bytes, annotated: for tools, error reports, and `docs/encoding.md`.
//!
//! ```text
//! 0000  80 00 00 07   int32 = 7
//! ```
//!
//! Invariant: every byte is printed exactly once and in order. What cannot be read is an error of the decoders that the
//! rest of the crate uses; nothing here reads bytes by rules of its own, apart from cutting headers into lines.

use crate::error::DecodeError;
use crate::keyside::{Direction, KeyLayout, KeyPart, KeyValue, PartKind};
use crate::packed_row::{Cell, RowReader, ValueKind};
use crate::valueside::{ArrayReader, MapReader, SequenceReader, StructReader, TypeTag, Value, decode_cell};
use std::fmt::Write;

const BYTES_PER_LINE: usize = 12;

/// A key, part by part.
///
/// # Errors
/// The key does not follow its layout.
pub fn dump_key(layout: &KeyLayout, key: &[u8]) -> Result<String, DecodeError> {
    let mut dump = Dump::new(key);
    if layout.is_salted() {
        dump.line(1, "salt bucket");
    }
    let mut rest = layout.skip_to(key, 0)?;
    for part in layout.parts() {
        let (value, after) = part.decode(rest)?;
        dump.line(rest.len() - after.len(), &describe_part(*part, &value));
        rest = after;
    }
    dump.finish("key")
}

/// A cell that holds one value.
///
/// # Errors
/// The cell is malformed.
pub fn dump_cell(cell: &[u8]) -> Result<String, DecodeError> {
    let (tag, body) = decode_cell(cell)?;
    let mut dump = Dump::new(cell);
    dump.line(1, "version");
    dump.line(1, &format!("tag {}", tag_name(tag)));
    dump.body(tag, body, "")?;
    dump.finish("cell")
}

/// A packed row, table by table.
///
/// # Errors
/// The row is malformed.
pub fn dump_row(row: &[u8]) -> Result<String, DecodeError> {
    let reader = RowReader::new(row)?;
    let mut dump = Dump::new(row);
    dump.line(1, "version");
    let wide = row.get(1).is_some_and(|flags| *flags != 0);
    dump.line(1, if wide { "flags: ends are u32" } else { "flags" });
    dump.line(2, &format!("{} columns", reader.column_count()));
    let mut least = 0u64;
    for (id, kind, cell) in reader.iter() {
        let kind = match kind {
            ValueKind::Fixed(width) => format!("{width} bytes"),
            ValueKind::Variable => "variable".into(),
        };
        let null = if cell == Cell::Null { ", NULL" } else { "" };
        let len = if row.get(dump.at).is_some_and(|descriptor| descriptor >> 5 == 7) { 5 } else { 1 };
        dump.line(len, &format!("column {id}: {kind}{null}, gap {}", u64::from(id) - least));
        least = u64::from(id) + 1;
    }
    dump.line(reader.column_count().div_ceil(8), "null bitmap");
    let mut ends = Vec::new();
    let mut data_len = 0;
    for (id, kind, cell) in reader.iter() {
        match (kind, cell) {
            (ValueKind::Fixed(width), Cell::Value(_)) => dump.line(usize::from(width), &format!("column {id}")),
            (ValueKind::Variable, Cell::Value(body)) => {
                data_len += body.len();
                ends.push((id, body, data_len));
            }
            _ => {}
        }
    }
    for (id, _, end) in &ends {
        dump.line(if wide { 4 } else { 2 }, &format!("column {id} ends at {end}"));
    }
    for (id, body, _) in &ends {
        dump.line(body.len(), &format!("column {id}{}", text_of(body)));
    }
    dump.finish("packed row")
}

fn describe_part(part: KeyPart, value: &KeyValue<'_>) -> String {
    let (kind, value) = match (part.kind, value) {
        (kind, KeyValue::Null) => (kind, "NULL".into()),
        (kind, KeyValue::Bool(v)) => (kind, v.to_string()),
        (kind, KeyValue::Int16(v)) => (kind, v.to_string()),
        (kind, KeyValue::Int32(v)) => (kind, v.to_string()),
        (kind, KeyValue::Int64(v)) => (kind, v.to_string()),
        (kind, KeyValue::UInt32(v)) => (kind, v.to_string()),
        (kind, KeyValue::Float32(v)) => (kind, v.to_string()),
        (kind, KeyValue::Float64(v)) => (kind, v.to_string()),
        (kind, KeyValue::Uuid(v)) => (kind, hex(v)),
        (kind, KeyValue::Bytes(v)) => (kind, format!("{:?}", String::from_utf8_lossy(v))),
    };
    let kind = match kind {
        PartKind::Raw(width) => format!("raw({width})"),
        PartKind::PrefixFree(family) => return format!("{}{}", family.name, direction_suffix(part)),
        kind => format!("{kind:?}").to_lowercase(),
    };
    format!("{kind} = {value}{}", direction_suffix(part))
}

fn direction_suffix(part: KeyPart) -> &'static str {
    match part.direction {
        Direction::Asc => "",
        Direction::Desc => ", descending",
    }
}

fn tag_name(tag: TypeTag) -> String {
    format!("{tag:?}").to_lowercase()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// ` = "…"` for bytes that are printable text, else nothing.
fn text_of(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) if !text.chars().any(char::is_control) => format!(" = {text:?}"),
        _ => String::new(),
    }
}

/// A dump under construction.
struct Dump<'a> {
    bytes: &'a [u8],
    at: usize,
    out: String,
}

impl<'a> Dump<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, out: String::new() }
    }

    /// The next `len` bytes and what they are; nothing if there are none to print.
    fn line(&mut self, len: usize, what: &str) {
        let bytes = self.bytes.get(self.at..self.at.saturating_add(len).min(self.bytes.len())).unwrap_or_default();
        for (n, chunk) in bytes.chunks(BYTES_PER_LINE).enumerate() {
            let spelled: Vec<String> = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
            let what = if n == 0 { what } else { "" };
            let line =
                format!("{:04x}  {:<width$}  {what}", self.at + n * BYTES_PER_LINE, spelled.join(" "), width = BYTES_PER_LINE * 3 - 1);
            self.out.push_str(line.trim_end());
            self.out.push('\n');
        }
        self.at += bytes.len();
    }

    /// A body, composites with their tables. `indent` stands before what the lines say.
    fn body(&mut self, tag: TypeTag, body: &[u8], indent: &str) -> Result<(), DecodeError> {
        let deeper = format!("{indent}  ");
        match tag {
            TypeTag::Array => {
                let array = ArrayReader::new(body)?;
                self.line(1, &format!("{indent}{} dimensions", array.dimensions().len()));
                for dimension in array.dimensions() {
                    self.line(4, &format!("{indent}length {}", dimension.len));
                    self.line(4, &format!("{indent}lower bound {}", dimension.lower_bound));
                }
                self.sequence(&array.elements(), &deeper)
            }
            TypeTag::Map => {
                let map = MapReader::new(body)?;
                self.line(4, &format!("{indent}bytes of the keys"));
                self.sequence(&map.keys(), &format!("{deeper}key: "))?;
                self.sequence(&map.values(), &format!("{deeper}value: "))
            }
            TypeTag::Struct => {
                let fields = StructReader::new(body)?;
                self.line(2, &format!("{indent}{} fields", fields.len()));
                let mut values = Vec::new();
                for i in 0..fields.len() {
                    if let Some((tag, value)) = fields.get(i)? {
                        self.line(1, &format!("{indent}field {i}: {}", tag_name(tag)));
                        values.push((i, tag, value));
                    }
                }
                self.line(fields.len().div_ceil(8), &format!("{indent}null bitmap"));
                for (i, _, _) in &values {
                    self.line(4, &format!("{indent}end of field {i}"));
                }
                for (_, tag, value) in values {
                    if let Some(value) = value {
                        self.body(tag, value, &deeper)?;
                    }
                }
                Ok(())
            }
            tag => {
                let value = match Value::decode(tag, body)? {
                    Value::Bool(v) => v.to_string(),
                    Value::Int16(v) => v.to_string(),
                    Value::Int32(v) | Value::Date(v) => v.to_string(),
                    Value::Int64(v) | Value::Time(v) | Value::Timestamp(v) | Value::TimestampTz(v) => v.to_string(),
                    Value::UInt32(v) => v.to_string(),
                    Value::Float32(v) => v.to_string(),
                    Value::Float64(v) => v.to_string(),
                    Value::Decimal128(super::valueside::DECIMAL_NAN) => "NaN".into(),
                    Value::Decimal128(v) => v.to_string(),
                    Value::Interval(v) => format!("{} months {} days {} µs", v.months, v.days, v.micros),
                    Value::TimeTz(v) => format!("{} µs, zone {} s", v.micros, v.zone_seconds),
                    Value::Uuid(v) => hex(&v),
                    Value::Text(v) | Value::Json(v) | Value::Jsonb(v) => format!("{v:?}"),
                    _ => "bytes".into(),
                };
                self.line(body.len(), &format!("{indent}{value}"));
                Ok(())
            }
        }
    }

    fn sequence(&mut self, sequence: &SequenceReader<'_>, indent: &str) -> Result<(), DecodeError> {
        self.line(4, &format!("{indent}count {}", sequence.len()));
        self.line(1, &format!("{indent}tag {}", tag_name(sequence.tag())));
        self.line(1, &format!("{indent}flags"));
        if sequence.has_null_bitmap() {
            self.line(sequence.len().div_ceil(8), &format!("{indent}null bitmap"));
        }
        let width = sequence.tag().width();
        if width.is_none() {
            for i in 0..sequence.len() {
                self.line(4, &format!("{indent}end of value {i}"));
            }
        }
        for value in sequence.iter() {
            match value? {
                Some(body) => self.body(sequence.tag(), body, indent)?,
                None => self.line(width.unwrap_or(0), &format!("{indent}NULL")),
            }
        }
        Ok(())
    }

    fn finish(self, what: &'static str) -> Result<String, DecodeError> {
        if self.at == self.bytes.len() { Ok(self.out) } else { Err(DecodeError::Trailing { what }) }
    }
}
