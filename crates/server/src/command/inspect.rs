//! `stoa inspect`: a look at some rows of a raw table, and the foreign table that would map them.
//!
//! What bytes mean is a guess: values that are text are taken for text, and numbers are recognized by their width and first byte. Who
//! knows better changes the statement before it is executed.

use super::CommandError;
use super::open::{DataOptions, open_existing};
use std::collections::BTreeMap;
use std::process::ExitCode;
use stoa_engine::raw::{DEFAULT_NAMESPACE, KeyRange, Wanted};

#[derive(clap::Args, Debug)]
pub struct Inspect {
    #[command(flatten)]
    data: DataOptions,
    /// The raw table, as namespace:name or name.
    table: String,
    /// How many rows are looked at.
    #[arg(long, value_name = "ROWS", default_value_t = 1000)]
    rows: usize,
    /// The name of the foreign table.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// The values of each column that was met, by family and qualifier.
type Columns = BTreeMap<(String, Vec<u8>), Vec<Vec<u8>>>;

impl Inspect {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let database = open_existing(&self.data).await?;
        let (namespace, name) = self.table.split_once(':').unwrap_or((DEFAULT_NAMESPACE, &self.table));
        let table = database.open_table(namespace, name).filter(stoa_engine::raw::OpenTable::is_raw);
        let Some(table) = table else { return Err(CommandError::Usage(format!("there is no raw table {}", self.table))) };
        let (mut keys, mut columns) = (Vec::new(), Columns::new());
        let mut scan = table.cells.scan(KeyRange::all(), false, &Wanted::newest()).await?;
        'blocks: while let Some(rows) = scan.next_block().await? {
            for row in rows {
                if keys.len() >= self.rows {
                    break 'blocks;
                }
                keys.push(row.key);
                for cell in row.cells {
                    columns.entry((cell.family, cell.qualifier)).or_default().push(cell.value);
                }
            }
        }
        if keys.is_empty() {
            return Err(CommandError::Usage(format!("table {} has no rows to look at", self.table)));
        }
        let foreign = self.name.clone().unwrap_or_else(|| format!("{name}_rows"));
        println!("-- {} rows of {} and their {} columns were looked at.", keys.len(), self.table, columns.len());
        println!("{}", definition(&foreign, &self.table, &keys, &columns));
        Ok(ExitCode::SUCCESS)
    }
}

fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain && !RESERVED.contains(&name) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Words that people name columns by, and SQL does not.
const RESERVED: &[&str] =
    &["user", "order", "group", "table", "column", "from", "to", "end", "desc", "default", "check", "limit", "offset"];

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The statement that maps what was seen.
fn definition(name: &str, table: &str, keys: &[Vec<u8>], columns: &Columns) -> String {
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut names: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    let mut parts = Vec::new();
    for (column, ty, part) in guess_key(&keys) {
        lines.push(format!("    {column} {ty}"));
        parts.push(part);
        names.push(column);
    }
    for ((family, qualifier), values) in columns {
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let (ty, format) = guess_value(&values);
        let shown = super::shell::binary(qualifier);
        let mut column = if shown.is_empty() { family.clone() } else { shown.to_lowercase() };
        if names.contains(&column) {
            column = format!("{family}_{column}");
        }
        while names.contains(&column) {
            column.push('_');
        }
        let place = literal(&format!("{family}:{shown}"));
        lines.push(format!("    {} {ty} OPTIONS (\"column\" {place}, format '{format}')", quoted(&column)));
        names.push(column);
    }
    let (table, key) = (literal(table), literal(&parts.join(", ")));
    format!("CREATE FOREIGN TABLE {} (\n{}\n) OPTIONS (\"table\" {table}, key_format {key});", quoted(name), lines.join(",\n"))
}

fn is_text(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_ok_and(|text| !text.chars().any(char::is_control))
}

/// Whether a text has these characters: `x` is a hexadecimal digit, `0` a decimal one, others are themselves.
fn is_shaped(text: &str, shape: &str) -> bool {
    let fits = |(c, of): (u8, u8)| match of {
        b'x' => c.is_ascii_hexdigit(),
        b'0' => c.is_ascii_digit(),
        of => c == of,
    };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

fn is_uuid(text: &str) -> bool {
    is_shaped(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

/// `2024-05-01`, a day that there is.
fn is_date(text: &str) -> bool {
    let part = |range: std::ops::Range<usize>| text.get(range).and_then(|digits| digits.parse().ok()).unwrap_or(0_u32);
    let (year, month, day) = (part(0..4), part(5..7), part(8..10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 31,
    };
    is_shaped(text, "0000-00-00") && year > 0 && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// `2024-05-01T12:00:00.5+02:00`, or with a space between, without a fraction or a zone.
fn is_time(text: &str) -> bool {
    let Some((day, time)) = text.split_once(['T', ' ']) else { return false };
    let time = time.get(..zone_at(time)).unwrap_or_default();
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let within = |range: std::ops::Range<usize>, most: u32| time.get(range).and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| n <= most);
    is_date(day)
        && (is_shaped(time, "00:00:00") && within(0..2, 23) && within(3..5, 59) && within(6..8, 59))
        && (1..=9).contains(&fraction.len())
        && fraction.bytes().all(|c| c.is_ascii_digit())
}

/// Where the zone of a time begins, if what ends it is one.
fn zone_at(time: &str) -> usize {
    let zone = |c: char| matches!(c, 'Z' | '+' | '-');
    let at = time.find(zone).unwrap_or(time.len());
    let shapes = ["Z", "+00", "-00", "+00:00", "-00:00", "+0000", "-0000"];
    if time.get(at..).is_some_and(|rest| shapes.iter().any(|shape| is_shaped(rest, shape))) { at } else { time.len() }
}

fn has_zone(text: &str) -> bool {
    text.split_once(['T', ' ']).is_some_and(|(_, time)| zone_at(time) < time.len())
}

/// Whether all values are so many bytes, and begin with one of some.
fn all(values: &[&[u8]], width: usize, first: impl Fn(u8) -> bool) -> bool {
    values.iter().all(|v| v.len() == width && v.first().is_some_and(|b| first(*b)))
}

/// The type and the format of a column's values.
fn guess_value(values: &[&[u8]]) -> (&'static str, &'static str) {
    let texts = || values.iter().filter_map(|v| std::str::from_utf8(v).ok());
    if values.iter().all(|v| is_text(v)) {
        if texts().all(|t| t.parse::<i64>().is_ok_and(|n| n.to_string() == t)) {
            return ("bigint", "text");
        }
        if texts().all(|t| t.contains(|c: char| c.is_ascii_digit()) && t.parse::<f64>().is_ok_and(f64::is_finite)) {
            return ("numeric", "text");
        }
        if texts().all(|t| t == "true" || t == "false") {
            return ("boolean", "text");
        }
        if texts().all(is_uuid) {
            return ("uuid", "text");
        }
        if texts().all(is_date) {
            return ("date", "text");
        }
        if texts().all(is_time) {
            return (if texts().all(has_zone) { "timestamptz" } else { "timestamp" }, "text");
        }
        if texts().all(|t| t.starts_with(['{', '[']) && serde_json::from_str::<serde_json::Value>(t).is_ok()) {
            return ("jsonb", "text");
        }
        return ("text", "bytes");
    }
    let plain = |b: u8| b == 0 || b == 0xff;
    let turned = |b: u8| b == 0x80 || b == 0x7f;
    for (width, ty) in [(8, "bigint"), (4, "integer"), (2, "smallint")] {
        if all(values, width, plain) {
            return (ty, "bytes");
        }
        if all(values, width, turned) {
            return (ty, "phoenix");
        }
    }
    let modest = |n: f64| n == 0.0 || (n.is_finite() && (1e-9..1e15).contains(&n.abs()));
    let double = |v: &&[u8]| <[u8; 8]>::try_from(*v).is_ok_and(|b| modest(f64::from_be_bytes(b)));
    let float = |v: &&[u8]| <[u8; 4]>::try_from(*v).is_ok_and(|b| modest(f64::from(f32::from_be_bytes(b))));
    if values.iter().all(double) {
        return ("double precision", "bytes");
    }
    if values.iter().all(float) {
        return ("real", "bytes");
    }
    if values.iter().all(|v| matches!(v, [0 | 0xff])) {
        return ("boolean", "bytes");
    }
    if values.iter().all(|v| matches!(v, [0 | 1])) {
        return ("boolean", "phoenix");
    }
    if all(values, 8, |_| true) {
        return ("bigint", "bytes");
    }
    ("bytea", "bytes")
}

/// The columns of the key: name, type, and part of the key format.
fn guess_key(keys: &[&[u8]]) -> Vec<(String, &'static str, String)> {
    let one = |ty: &'static str, part: &str| vec![("key".to_owned(), ty, part.replace('?', "key"))];
    let texts = || keys.iter().filter_map(|key| std::str::from_utf8(key).ok());
    if keys.iter().all(|key| is_text(key)) {
        // No part of its own between the groups of digits.
        if texts().all(is_uuid) || texts().all(is_date) || texts().all(is_time) {
            return one("text", "REST(?)");
        }
        if let Some((delimiter, parts)) = delimiter_of(keys) {
            return delimited(parts, char::from(delimiter).to_string().as_str());
        }
        return one("text", "REST(?)");
    }
    // Texts that are closed by a byte 00, as Phoenix closes them.
    let zeros = |key: &[u8]| key.iter().filter(|b| **b == 0).count();
    if let Some(count) = keys.first().map(|key| zeros(key)).filter(|count| (1..=5).contains(count))
        && keys.iter().all(|key| zeros(key) == count && key.split(|b| *b == 0).all(|part| !part.is_empty() && is_text(part)))
    {
        return delimited(count + 1, "\\x00");
    }
    for (width, ty) in [(8, "bigint"), (4, "integer"), (2, "smallint")] {
        if all(keys, width, |b| b < 0x7f) {
            return one(ty, &format!("UNSIGNED(?, {width})"));
        }
        if all(keys, width, |b| b == 0x80 || b == 0x7f) {
            return one(ty, &format!("SIGNED(?, {width})"));
        }
    }
    one("bytea", "REST(?)")
}

/// The columns of keys that are as many texts with a delimiter between them.
fn delimited(parts: usize, delimiter: &str) -> Vec<(String, &'static str, String)> {
    let name = |n: usize| format!("key{n}");
    let mut out: Vec<_> = (1..parts).map(|n| (name(n), "text", format!("DELIMITED({}, '{delimiter}')", name(n)))).collect();
    out.push((name(parts), "text", format!("REST({})", name(parts))));
    out
}

/// A character that parts all keys into as many pieces, which are texts that may stand before it.
fn delimiter_of(keys: &[&[u8]]) -> Option<(u8, usize)> {
    for delimiter in *b"#|,:/_-" {
        let count = |key: &[u8]| key.iter().filter(|b| **b == delimiter).count();
        let first = count(keys.first()?);
        let fits = |key: &&[u8]| {
            let mut before: Vec<&[u8]> = key.split(|b| *b == delimiter).collect();
            before.pop();
            count(key) == first && before.iter().all(|part| stoa_engine::raw::fits_delimited(part, delimiter))
        };
        if (1..=5).contains(&first) && keys.iter().all(fits) {
            return Some((delimiter, first + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn values_are_taken_for_what_they_look_like() {
        let cases: &[(&[&[u8]], (&str, &str))] = &[
            (&[b"1", b"-20"], ("bigint", "text")),
            (&[b"007", b"1"], ("numeric", "text")),
            (&[b"1.5", b"2"], ("numeric", "text")),
            (&[b"true", b"false"], ("boolean", "text")),
            (&[b"550e8400-e29b-41d4-a716-446655440000"], ("uuid", "text")),
            (&[b"2024-05-01", b"2024-02-29"], ("date", "text")),
            (&[b"2024-05-01", b"2023-02-29"], ("text", "bytes")),
            (&[b"2024-05-01T12:00:00", b"2024-05-01 23:59:59.25"], ("timestamp", "text")),
            (&[b"2024-05-01T12:00:00Z", b"2024-05-01 12:00:00.25+02:00"], ("timestamptz", "text")),
            (&[b"2024-05-01T25:00:00", b"2024-05-01T12:00:00Z"], ("text", "bytes")),
            (&[b"{\"a\": 1}", b"[1]"], ("jsonb", "text")),
            (&[b"{a}", b"[1]"], ("text", "bytes")),
            (&[b"gr\xc3\xbcn", b"8 letter"], ("text", "bytes")),
            (&[b"\0\0\0\x01", b"\xff\xff\xff\xfe"], ("integer", "bytes")),
            (&[b"\x80\0\0\x01", b"\x7f\xff\xff\xfe"], ("integer", "phoenix")),
            (&[b"\0\0\0\0\0\0\0\x05"], ("bigint", "bytes")),
            (&[b"\x3f\xf8\0\0\0\0\0\0"], ("double precision", "bytes")),
            (&[b"\xff", b"\0"], ("boolean", "bytes")),
            (&[b"\x01", b"\0"], ("boolean", "phoenix")),
            (&[b"\0\x01", b"\0\0\x03"], ("bytea", "bytes")),
        ];
        for (values, expected) in cases {
            assert_eq!(guess_value(values), *expected, "{values:?}");
        }
    }

    #[test]
    fn keys_are_numbers_texts_or_parts() {
        let format =
            |keys: &[&[u8]]| guess_key(keys).into_iter().map(|(_, ty, part)| format!("{ty} {part}")).collect::<Vec<_>>().join(", ");
        assert_eq!(format(&[b"\0\0\0\x01", b"\0\0\x01\0"]), "integer UNSIGNED(key, 4)");
        assert_eq!(format(&[b"\x80\0\0\0\0\0\0\x01"]), "bigint SIGNED(key, 8)");
        assert_eq!(format(&[b"ann", b"bob"]), "text REST(key)");
        assert_eq!(format(&[b"ann#1", b"bob#22"]), "text DELIMITED(key1, '#'), text REST(key2)");
        assert_eq!(format(&[b"a1|x", b"b|y"]), "text DELIMITED(key1, '|'), text REST(key2)");
        assert_eq!(format(&[b"a b#x", b"b#y"]), "text REST(key)");
        assert_eq!(format(&[b"a\0x", b"bc\0y"]), "text DELIMITED(key1, '\\x00'), text REST(key2)");
        assert_eq!(format(&[b"550e8400-e29b-41d4-a716-446655440000"]), "text REST(key)");
        assert_eq!(format(&[b"2024-05-01"]), "text REST(key)");
        assert_eq!(format(&[b"\xff\0", b"a"]), "bytea REST(key)");
    }
}
