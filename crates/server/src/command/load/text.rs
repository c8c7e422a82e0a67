//! Files of text, csv and tsv: where a record ends, what the first line names, and what types would hold all values.
//!
//! Values are not read here but by COPY; a record is only distinguished from the next one, quotes and backslashes heeded.

use super::types::Candidates;
use super::{FileError, Format, Records};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Reads whole records of csv or tsv, with the bytes that end them.
pub(super) struct TextFile {
    file: BufReader<File>,
    format: Format,
    total: u64,
    bytes: u64,
    lines: u64,
}

impl Records for TextFile {
    fn record(&mut self, out: &mut Vec<u8>) -> Result<bool, FileError> {
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
            let ended = if self.format == Format::Csv {
                quoted ^= line.iter().filter(|b| **b == b'"').count() % 2 == 1;
                !quoted
            } else {
                // A backslash before the end of the line makes it part of the value.
                line.iter().rev().skip(1).take_while(|b| **b == b'\\').count() % 2 == 0
            };
            if ended {
                if out.last() != Some(&b'\n') {
                    out.push(b'\n');
                }
                if out.get(start..).unwrap_or_default().trim_ascii_end() == b"\\." {
                    return self.end_mark(start, out);
                }
                return Ok(true);
            }
        }
    }

    fn place(&self) -> u64 {
        self.lines
    }

    fn unit(&self) -> &'static str {
        "line"
    }

    fn done(&self) -> u64 {
        self.bytes
    }

    fn total(&self) -> u64 {
        self.total
    }
}

impl TextFile {
    /// COPY would take what follows this record for nothing. In csv it is a value; in PostgreSQL's text format it is the end.
    fn end_mark(&mut self, start: usize, out: &mut Vec<u8>) -> Result<bool, FileError> {
        out.truncate(start);
        if self.format == Format::Csv {
            out.extend_from_slice(b"\"\\.\"\n");
            return Ok(true);
        }
        let line = self.lines;
        let mut rest = Vec::new();
        while self.file.read_until(b'\n', &mut rest)? > 0 {
            if !rest.trim_ascii().is_empty() {
                return Err(FileError::Content(format!("line {line} is an end of data, \\., but more follows")));
            }
            rest.clear();
        }
        self.bytes = self.total;
        Ok(false)
    }

    pub(super) fn open(path: &Path, format: Format) -> Result<Self, FileError> {
        let file = File::open(path)?;
        let total = file.metadata()?.len();
        let mut file = BufReader::with_capacity(1 << 20, file);
        check_compression(file.fill_buf()?)?;
        if is_utf16(file.fill_buf()?) {
            return Err(FileError::Content("it is UTF-16: iconv -f UTF-16 -t UTF-8 makes a file that can be loaded".into()));
        }
        Ok(Self { file, format, total, bytes: 0, lines: 0 })
    }

    /// Reads the first line: the names of columns.
    pub(super) fn header(&mut self, delimiter: char) -> Result<Vec<String>, FileError> {
        let mut line = Vec::new();
        if !self.record(&mut line)? {
            return Err(FileError::Content("it is empty: its first line must name its columns".into()));
        }
        // A mark of UTF-8 is not part of the first name.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        check_utf8(line, 1)?;
        let names = split(line, self.format, delimiter).ok_or_else(|| FileError::Content("its first line does not name columns".into()))?;
        if let [name] = names.as_slice()
            && let Some(other) = [';', '\t', ',', '|'].into_iter().find(|c| *c != delimiter && name.contains(*c))
        {
            let (shown, option) =
                if other == '\t' { ("a tab", "--format tsv".to_owned()) } else { ("that", format!("--delimiter '{other}'")) };
            return Err(FileError::Content(format!(
                "its first line has no {}, but {}: if {shown} stands between values, load it with {option}",
                quoted(delimiter),
                quoted(other)
            )));
        }
        if names.iter().any(String::is_empty) {
            return Err(FileError::Content("its first line has a column without a name".into()));
        }
        Ok(names)
    }
}

/// A character as messages show it.
fn quoted(c: char) -> String {
    if c == '\t' { "tab".into() } else { format!("\"{c}\"") }
}

/// An error if a file is compressed, by its first bytes: with what, and what undoes it.
pub(super) fn check_compression(start: &[u8]) -> Result<(), FileError> {
    const KINDS: [(&[u8], &str, &str); 5] = [
        (b"\x1f\x8b", "gzip", "gunzip"),
        (b"\x28\xb5\x2f\xfd", "zstd", "unzstd"),
        (b"PK\x03\x04", "zip", "unzip"),
        (b"\xfd7zXZ\0", "xz", "unxz"),
        (b"BZh", "bzip2", "bunzip2"),
    ];
    match KINDS.iter().find(|(sign, ..)| start.starts_with(sign)) {
        None => Ok(()),
        Some((_, kind, command)) => {
            Err(FileError::Content(format!("it is compressed with {kind}: make a file of its contents with {command} first")))
        }
    }
}

fn check_utf8(record: &[u8], line: u64) -> Result<(), FileError> {
    match std::str::from_utf8(record) {
        Ok(_) => Ok(()),
        Err(_) => Err(FileError::Content(format!("line {line} is not UTF-8: {LATIN1}"))),
    }
}

/// What to do with a file of one byte a character, the most frequent other encoding.
pub(super) const LATIN1: &str = "iconv -f LATIN1 -t UTF-8 makes a file that is, of one in Latin-1";

/// Whether a file begins with the mark of UTF-16.
fn is_utf16(start: &[u8]) -> bool {
    start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff")
}

/// The values of a record.
fn split(record: &[u8], format: Format, delimiter: char) -> Option<Vec<String>> {
    if format == Format::Csv {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(u8::try_from(delimiter).ok()?).from_reader(record);
        let record = reader.records().next()?.ok()?;
        Some(record.iter().map(str::to_owned).collect())
    } else {
        let line = std::str::from_utf8(record).ok()?.trim_end_matches(['\n', '\r']);
        Some(line.split(delimiter).map(str::to_owned).collect())
    }
}

/// The type of each column: the first that takes all values of the file.
pub(super) fn infer(
    path: &Path,
    format: Format,
    delimiter: char,
    null: &str,
    columns: usize,
    has_header: bool,
) -> Result<Vec<String>, FileError> {
    let mut file = TextFile::open(path, format)?;
    let mut types = vec![Candidates::default(); columns];
    let mut record = Vec::new();
    let mut first = has_header;
    while file.record(&mut record)? {
        check_utf8(&record, file.place())?;
        if !std::mem::take(&mut first) {
            let values = split(&record, format, delimiter).unwrap_or_default();
            for (value, types) in values.iter().zip(&mut types).filter(|(value, _)| value.as_str() != null) {
                types.text(value);
            }
        }
        record.clear();
    }
    Ok(types.iter().map(|types| types.first().to_owned()).collect())
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
            let mut reader = TextFile::open(&path, Format::of(&path)).unwrap();
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
    fn what_is_no_csv_is_reported() {
        for (name, bytes, wanted) in [
            ("x.csv.gz", &b"\x1f\x8b\x08"[..], "it is compressed with gzip: make a file of its contents with gunzip first"),
            (
                "semi.csv",
                b"a;b\n1;2\n",
                "its first line has no \",\", but \";\": if that stands between values, load it with --delimiter ';'",
            ),
            ("tab.csv", b"a\tb\n", "its first line has no \",\", but tab: if a tab stands between values, load it with --format tsv"),
            ("latin.csv", b"caf\xe9,b\n", "line 1 is not UTF-8: iconv -f LATIN1 -t UTF-8 makes a file that is, of one in Latin-1"),
            ("wide.csv", b"\xff\xfea\0,\0b\0\n\0", "it is UTF-16: iconv -f UTF-16 -t UTF-8 makes a file that can be loaded"),
        ] {
            let path = std::env::temp_dir().join(format!("stoa-load-{}-{name}", std::process::id()));
            std::fs::write(&path, bytes).unwrap();
            let names = TextFile::open(&path, Format::Csv).and_then(|mut file| file.header(','));
            assert_eq!(names.unwrap_err().to_string(), wanted, "{name}");
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn ends_of_data_hide_nothing() {
        for (name, text, wanted) in [
            ("end.csv", "a\n\\.\nb\n", Ok("a\n\"\\.\"\nb\n")),
            ("end.tsv", "a\n\\.\n\n", Ok("a\n")),
            ("more.tsv", "a\n\\.\nb\n", Err("line 2 is an end of data, \\., but more follows")),
        ] {
            let path = file(name, text);
            let mut reader = TextFile::open(&path, Format::of(&path)).unwrap();
            let mut out = Vec::new();
            let result = loop {
                match reader.record(&mut out) {
                    Ok(true) => {}
                    Ok(false) => break Ok(String::from_utf8(out).unwrap()),
                    Err(error) => break Err(error.to_string()),
                }
            };
            assert_eq!(result, wanted.map(str::to_owned).map_err(str::to_owned), "{name}");
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
