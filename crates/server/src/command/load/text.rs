//! Files of records for `stoa load`: where a record ends, what the first line names, and what types would hold all values.
//!
//! Values are not read here but by COPY; a record is only told from the next one, quotes and backslashes heeded.

use super::CommandError;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Format {
    /// Values between commas, quoted where need be; empty is NULL.
    Csv,
    /// PostgreSQL's text format.
    Tsv,
}

impl Format {
    pub(super) fn of(path: &Path) -> Self {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("tsv" | "tab" | "txt" | "tbl") => Format::Tsv,
            _ => Format::Csv,
        }
    }

    pub(super) fn delimiter(self) -> char {
        match self {
            Format::Csv => ',',
            Format::Tsv => '\t',
        }
    }
}

/// Reads whole records, with the bytes that end them.
pub(super) struct RecordReader {
    file: BufReader<File>,
    format: Format,
    total: u64,
    bytes: u64,
    lines: u64,
    path: String,
}

impl RecordReader {
    pub(super) fn open(path: &Path, format: Format) -> Result<Self, CommandError> {
        let io = |error| CommandError::Io { what: format!("cannot read {}", path.display()), error };
        let file = File::open(path).map_err(io)?;
        let total = file.metadata().map_err(io)?.len();
        Ok(Self { file: BufReader::with_capacity(1 << 20, file), format, total, bytes: 0, lines: 0, path: path.display().to_string() })
    }

    pub(super) fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Bytes that were read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Lines that were read.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Appends the next record; false at the end of the file.
    pub(super) fn record(&mut self, out: &mut Vec<u8>) -> std::io::Result<bool> {
        let mut quoted = false;
        let start = out.len();
        loop {
            let from = out.len();
            let read = self.file.read_until(b'\n', out)?;
            if read == 0 {
                return Ok(out.len() > start);
            }
            self.bytes += read as u64;
            self.lines += 1;
            let line = out.get(from..).unwrap_or_default();
            let ended = match self.format {
                Format::Csv => {
                    quoted ^= line.iter().filter(|b| **b == b'"').count() % 2 == 1;
                    !quoted
                }
                // A backslash before the end of the line makes it part of the value.
                Format::Tsv => line.iter().rev().skip(1).take_while(|b| **b == b'\\').count() % 2 == 0,
            };
            if ended {
                if out.last() != Some(&b'\n') {
                    out.push(b'\n');
                }
                return Ok(true);
            }
        }
    }

    /// Reads the first line: the names of columns.
    pub(super) fn header(&mut self, delimiter: char) -> Result<Vec<String>, CommandError> {
        let mut line = Vec::new();
        let read = self.record(&mut line).map_err(|error| CommandError::Io { what: format!("cannot read {}", self.path), error })?;
        if !read {
            return Err(CommandError::Usage(format!("{} is empty: its first line must name its columns", self.path)));
        }
        // A mark of UTF-8 is not part of the first name.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        let names = split(line, self.format, delimiter)
            .ok_or_else(|| CommandError::Usage(format!("the first line of {} does not name columns", self.path)))?;
        if names.iter().any(String::is_empty) {
            return Err(CommandError::Usage(format!("the first line of {} has a column without a name", self.path)));
        }
        Ok(names)
    }
}

/// The values of a record.
fn split(record: &[u8], format: Format, delimiter: char) -> Option<Vec<String>> {
    match format {
        Format::Csv => {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(u8::try_from(delimiter).ok()?).from_reader(record);
            let record = reader.records().next()?.ok()?;
            Some(record.iter().map(str::to_owned).collect())
        }
        Format::Tsv => {
            let line = std::str::from_utf8(record).ok()?.trim_end_matches(['\n', '\r']);
            Some(line.split(delimiter).map(str::to_owned).collect())
        }
    }
}

/// Types from the narrowest; a column has the first that takes all its values.
const TYPES: &[(&str, fn(&str) -> bool)] = &[
    ("boolean", |v| matches!(v.to_ascii_lowercase().as_str(), "t" | "f" | "true" | "false")),
    ("integer", |v| plain_number(v) && v.parse::<i32>().is_ok()),
    ("bigint", |v| plain_number(v) && v.parse::<i64>().is_ok()),
    ("double precision", |v| v.contains(['.', 'e', 'E']) && v.parse::<f64>().is_ok() || plain_number(v) && v.len() < 16),
    ("date", |v| shaped(v, "dddd-dd-dd")),
    ("timestamp", |v| ["dddd-dd-dd dd:dd", "dddd-dd-dd dd:dd:dd"].iter().any(|s| shaped(cut_fraction(v), s))),
    ("timestamptz", |v| {
        let v = v.strip_suffix('Z').or_else(|| v.rsplit_once(['+', '-']).filter(|(_, zone)| zone.len() <= 5).map(|(t, _)| t));
        v.is_some_and(|v| shaped(cut_fraction(&v.replace('T', " ")), "dddd-dd-dd dd:dd:dd"))
    }),
    ("text", |_| true),
];

/// A number that is not rather a name: no sign but minus, no zero in front.
fn plain_number(v: &str) -> bool {
    let digits = v.strip_prefix('-').unwrap_or(v);
    digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0')) && !digits.is_empty()
}

fn cut_fraction(v: &str) -> &str {
    match v.rsplit_once('.') {
        Some((whole, fraction)) if (1..=6).contains(&fraction.len()) && fraction.bytes().all(|b| b.is_ascii_digit()) => whole,
        _ => v,
    }
}

fn shaped(v: &str, shape: &str) -> bool {
    v.len() == shape.len() && v.bytes().zip(shape.bytes()).all(|(b, s)| if s == b'd' { b.is_ascii_digit() } else { b == s })
}

/// The type of each column: the first of [`TYPES`] that takes all values of the file.
pub(super) fn infer(
    path: &Path,
    format: Format,
    delimiter: char,
    null: &str,
    columns: usize,
    has_header: bool,
) -> Result<Vec<&'static str>, CommandError> {
    let mut reader = RecordReader::open(path, format)?;
    let mut types = vec![0_usize; columns];
    let mut seen = vec![false; columns];
    let mut record = Vec::new();
    let mut first = has_header;
    while reader.record(&mut record).map_err(|error| CommandError::Io { what: format!("cannot read {}", path.display()), error })? {
        if !std::mem::take(&mut first) {
            let values = split(&record, format, delimiter).unwrap_or_default();
            for ((value, at), seen) in values.iter().zip(&mut types).zip(&mut seen).filter(|((v, _), _)| v.as_str() != null) {
                *seen = true;
                while TYPES.get(*at).is_some_and(|(_, takes)| !takes(value)) {
                    *at += 1;
                }
            }
        }
        record.clear();
    }
    // What was passed over on the way does not take the earlier values by itself: numbers become dates in no file but a mixed one.
    let mut mixed = vec![false; columns];
    let mut reader = RecordReader::open(path, format)?;
    let mut first = has_header;
    record.clear();
    while reader.record(&mut record).map_err(|error| CommandError::Io { what: format!("cannot read {}", path.display()), error })? {
        if !std::mem::take(&mut first) {
            let values = split(&record, format, delimiter).unwrap_or_default();
            for ((value, at), mixed) in values.iter().zip(&types).zip(&mut mixed).filter(|((v, _), _)| v.as_str() != null) {
                *mixed |= TYPES.get(*at).is_none_or(|(_, takes)| !takes(value));
            }
        }
        record.clear();
    }
    let of = |at: &usize| TYPES.get(*at).map_or("text", |(name, _)| *name);
    Ok(types.iter().zip(seen).zip(mixed).map(|((at, seen), mixed)| if seen && !mixed { of(at) } else { "text" }).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::io::Write;

    fn file(name: &str, text: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("stoa-load-{}-{name}", std::process::id()));
        File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        path
    }

    #[test]
    fn records_end_outside_of_quotes_and_backslashes() {
        for (name, format, text, records) in [
            ("a.csv", Format::Csv, "a,b\n1,\"x\ny\"\n2,\"\"\"\"\n3,z", &["a,b\n", "1,\"x\ny\"\n", "2,\"\"\"\"\n", "3,z\n"][..]),
            ("b.tsv", Format::Tsv, "a\tb\n1\tx\\\ny\n2\tx\\\\\n", &["a\tb\n", "1\tx\\\ny\n", "2\tx\\\\\n"][..]),
        ] {
            let path = file(name, text);
            let mut reader = RecordReader::open(&path, Format::of(&path)).unwrap();
            assert_eq!(Format::of(&path), format);
            let mut found = Vec::new();
            let mut record = Vec::new();
            while reader.record(&mut record).unwrap() {
                found.push(String::from_utf8(std::mem::take(&mut record)).unwrap());
            }
            assert_eq!(found, records);
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn types_take_all_values() {
        let text = "a,b,c,d,e,f,g,h,i,j\n\
            1,1,1.5,2024-01-02,2024-01-02 03:04:05.6,2024-01-02T03:04:05Z,t,x,,007\n\
            -2,99999999999,2,2024-01-03,2024-01-02 03:04,2024-01-02 03:04:05+02,f,1,,8\n\
            ,,,,,,,2024-01-01,,\n";
        let path = file("types.csv", text);
        let wanted = ["integer", "bigint", "double precision", "date", "timestamp", "timestamptz", "boolean", "text", "text", "text"];
        assert_eq!(infer(&path, Format::Csv, ',', "", 10, true).unwrap(), wanted);
        std::fs::remove_file(path).unwrap();
    }
}
