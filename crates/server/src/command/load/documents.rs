//! Files of documents: of JSON, objects one behind the other (a line each, or not) or one array of objects; of BSON, documents one behind
//! the other, as mongodump writes them. A row is a document, a column a key.

use super::extended;
use super::text::check_compression;
use super::types::Candidates;
use super::value::{DELIMITER, write_json, write_text};
use super::{Column, FileError, Records};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use stoa_pg::functions::json::bson;
use stoa_pg::types::PgType;

/// Larger objects are refused: more likely a bracket is missing.
const MAX_OBJECT_BYTES: usize = 256 << 20;
/// The length that a document of BSON begins with.
const LENGTH_BYTES: usize = 4;

/// How documents stand in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Json,
    Bson,
}

/// Reads a file's objects as records of COPY's text format.
pub(super) struct DocumentFile {
    file: BufReader<File>,
    form: Form,
    /// Whether the one column has the objects as they are.
    whole: bool,
    /// Whether the objects are elements of an array; known behind the first byte.
    array: Option<bool>,
    ended: bool,
    object: Vec<u8>,
    columns: Vec<Column>,
    rows: u64,
    total: u64,
    bytes: u64,
}

impl DocumentFile {
    pub(super) fn open(path: &Path, form: Form) -> Result<Self, FileError> {
        let file = File::open(path)?;
        let total = file.metadata()?.len();
        let mut file = BufReader::with_capacity(1 << 20, file);
        if form == Form::Json {
            check_compression(file.fill_buf()?)?;
        }
        Ok(Self { file, form, whole: false, array: None, ended: false, object: Vec::new(), columns: Vec::new(), rows: 0, total, bytes: 0 })
    }

    /// The keys that are read, in the order of the records; if `whole`, one column, for the objects themselves.
    pub(super) fn set_columns(&mut self, columns: Vec<Column>, whole: bool) {
        self.columns = columns;
        self.whole = whole;
    }

    /// The next byte that is no blank; it stays to be read.
    fn peek(&mut self) -> Result<Option<u8>, FileError> {
        loop {
            let buffered = self.file.fill_buf()?;
            let Some(at) = buffered.iter().position(|b| !b.is_ascii_whitespace()) else {
                let blanks = buffered.len();
                if blanks == 0 {
                    return Ok(None);
                }
                self.consume(blanks);
                continue;
            };
            let found = buffered.get(at).copied();
            self.consume(at);
            return Ok(found);
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.file.consume(bytes);
        self.bytes += bytes as u64;
    }

    /// Reads the next object as JSON; false at the end of the file.
    fn next(&mut self) -> Result<bool, FileError> {
        match self.form {
            Form::Json => self.next_json(),
            Form::Bson => self.next_bson(),
        }
    }

    fn next_bson(&mut self) -> Result<bool, FileError> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut length = [0; LENGTH_BYTES];
        if self.file.read_exact(&mut length).is_err() {
            return Err(self.wrong("the file ends within a document"));
        }
        let bytes = usize::try_from(i32::from_le_bytes(length)).unwrap_or(0);
        let fits = (LENGTH_BYTES + 1..=MAX_OBJECT_BYTES).contains(&bytes);
        let mut document = length.to_vec();
        if fits {
            self.file.by_ref().take((bytes - LENGTH_BYTES) as u64).read_to_end(&mut document)?;
        }
        if !fits || document.len() < bytes {
            // The length of a document may be the sign of a compressed file; one of such a length is there whole.
            if self.rows == 0 {
                check_compression(&length)?;
            }
            let no_document = format!("it is not a document of BSON of up to {} MB", MAX_OBJECT_BYTES >> 20);
            return Err(self.wrong(if fits { "the file ends within a document" } else { &no_document }));
        }
        self.bytes += bytes as u64;
        let text = bson::to_text(&document).map_err(|error| {
            let fields = error.fields();
            self.wrong(fields.detail.as_deref().unwrap_or(&fields.message))
        })?;
        self.object = text.into_bytes();
        self.rows += 1;
        Ok(true)
    }

    fn next_json(&mut self) -> Result<bool, FileError> {
        if self.array.is_none() {
            // A mark of UTF-8.
            if self.file.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
                self.consume(3);
            }
            let array = self.peek()? == Some(b'[');
            if array {
                self.consume(1);
            }
            self.array = Some(array);
        }
        let array = self.array == Some(true);
        if array && !self.ended {
            match self.peek()? {
                Some(b',') if self.rows > 0 => {
                    self.consume(1);
                    if self.peek()? == Some(b']') {
                        return Err(self.wrong("a comma is followed by no object"));
                    }
                }
                Some(b']') => {
                    self.consume(1);
                    self.ended = true;
                }
                Some(_) if self.rows == 0 => {}
                Some(_) => return Err(self.wrong("neither a comma nor the end of the array follows an object")),
                None => return Err(self.wrong("the file ends within the array")),
            }
        }
        match self.peek()? {
            None if array && !self.ended => return Err(self.wrong("the file ends within the array")),
            None => return Ok(false),
            Some(_) if self.ended => return Err(self.wrong("something follows the array")),
            Some(b'{') => {}
            Some(_) => return Err(self.wrong("it is not an object")),
        }
        self.object.clear();
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        loop {
            let buffered = self.file.fill_buf()?;
            if buffered.is_empty() {
                return Err(self.wrong("the file ends within an object"));
            }
            let mut end = None;
            for (at, byte) in buffered.iter().enumerate() {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if in_string => escaped = true,
                    b'"' => in_string = !in_string,
                    _ if in_string => {}
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            end = Some(at + 1);
                            break;
                        }
                    }
                    _ => {}
                }
            }
            let taken = end.unwrap_or(buffered.len());
            self.object.extend_from_slice(buffered.get(..taken).unwrap_or_default());
            self.consume(taken);
            if self.object.len() > MAX_OBJECT_BYTES {
                return Err(self.wrong(&format!("the object is larger than {} MB", MAX_OBJECT_BYTES >> 20)));
            }
            if end.is_some() {
                self.rows += 1;
                return Ok(true);
            }
        }
    }

    fn object(&self) -> Result<Map<String, Value>, FileError> {
        serde_json::from_slice(&self.object).map_err(|error| FileError::Content(format!("row {}: {error}", self.rows)))
    }

    /// Of the object that comes next.
    fn wrong(&self, what: &str) -> FileError {
        FileError::Content(format!("row {}: {what}", self.rows + 1))
    }
}

impl Records for DocumentFile {
    fn record(&mut self, out: &mut Vec<u8>) -> Result<bool, FileError> {
        if !self.next()? {
            return Ok(false);
        }
        if self.whole {
            write_text(&self.object, out);
            out.push(b'\n');
            return Ok(true);
        }
        let mut object = self.object()?;
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                out.push(DELIMITER);
            }
            let mut value = object.get_mut(&column.name).map(Value::take).unwrap_or_default();
            if self.form == Form::Bson && !matches!(column.ty, PgType::Json | PgType::Jsonb) {
                value = extended::plain(value, &column.ty);
            }
            write_json(&value, &column.ty, out);
        }
        out.push(b'\n');
        Ok(true)
    }

    fn skip(&mut self) -> Result<bool, FileError> {
        self.next()
    }

    fn place(&self) -> u64 {
        self.rows
    }

    fn unit(&self) -> &'static str {
        "row"
    }

    fn done(&self) -> u64 {
        self.bytes
    }

    fn total(&self) -> u64 {
        self.total
    }
}

/// All keys of a file's objects in the order in which they come (those of a document of BSON in jsonb's order), with the types that take
/// their values.
pub(super) fn infer(path: &Path, form: Form) -> Result<Vec<(String, String)>, FileError> {
    let mut file = DocumentFile::open(path, form)?;
    let mut names: Vec<String> = Vec::new();
    let mut types: Vec<Candidates> = Vec::new();
    let mut places = std::collections::HashMap::new();
    while file.next()? {
        for (name, value) in file.object()? {
            let at = match places.get(&name) {
                Some(at) => *at,
                None => {
                    places.insert(name.clone(), names.len());
                    names.push(name);
                    types.push(Candidates::default());
                    names.len() - 1
                }
            };
            if let Some(types) = types.get_mut(at) {
                match (form, extended::binary_type(&value)) {
                    (Form::Bson, Some(ty)) => types.bytes(ty),
                    (Form::Bson, None) => types.json(&extended::plain(value, &PgType::Text)),
                    (Form::Json, _) => types.json(&value),
                }
            }
        }
    }
    Ok(names.into_iter().zip(types.iter().map(|types| types.first().to_owned())).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::io::Write;

    fn with_file<T>(text: impl AsRef<[u8]>, work: impl FnOnce(&Path) -> T) -> T {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_ref()).unwrap();
        work(file.path())
    }

    fn records(text: &str) -> Result<String, String> {
        records_of(text.as_bytes(), Form::Json, &[("a", PgType::Int4), ("b", PgType::Text)], false)
    }

    fn records_of(text: &[u8], form: Form, columns: &[(&str, PgType)], whole: bool) -> Result<String, String> {
        with_file(text, |path| {
            let mut file = DocumentFile::open(path, form).map_err(|e| e.to_string())?;
            file.set_columns(columns.iter().map(|(name, ty)| Column { name: (*name).into(), ty: ty.clone() }).collect(), whole);
            let mut out = Vec::new();
            while file.record(&mut out).map_err(|e| e.to_string())? {}
            assert_eq!((file.done(), file.total()), (text.len() as u64, text.len() as u64));
            Ok(String::from_utf8(out).unwrap())
        })
    }

    #[test]
    fn objects_are_rows() {
        let rows = "1\tx}y\\\\\n2\t\\N\n";
        for text in [
            "{\"a\":1,\"b\":\"x}y\\\\\"}\n{\"a\":2,\"c\":{\"b\":[1]}}\n",
            "\u{feff}{\"a\":1,\n \"b\":\"x}y\\\\\"}{\"a\":2}",
            " [ {\"b\":\"x}y\\\\\",\"a\":1} , {\"a\":2,\"b\":null} ] \n",
        ] {
            assert_eq!(records(text).unwrap(), rows, "{text}");
        }
        assert_eq!(records("").unwrap(), "");
        assert_eq!(records("[]").unwrap(), "");
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_row() {
        for (text, wanted) in [
            ("{\"a\":1}\n[2]", "row 2: it is not an object"),
            ("{\"a\":1}\n{\"a\":", "row 2: the file ends within an object"),
            ("{\"a\":01}", "row 1: invalid number at line 1 column 7"),
            ("[{\"a\":1}", "row 2: the file ends within the array"),
            ("[{\"a\":1} {\"a\":2}]", "row 2: neither a comma nor the end of the array follows an object"),
            ("[{\"a\":1},]", "row 2: a comma is followed by no object"),
            ("[{\"a\":1}] {}", "row 2: something follows the array"),
            ("7", "row 1: it is not an object"),
        ] {
            assert_eq!(records(text).unwrap_err(), wanted, "{text}");
        }
    }

    #[test]
    fn keys_of_all_objects_are_columns() {
        let found = with_file("{\"a\":1}{\"b\":\"2024-01-01\",\"a\":null}{\"c\":[1]}", |path| infer(path, Form::Json).unwrap());
        let wanted = [("a", "integer"), ("b", "date"), ("c", "jsonb")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(found, wanted);
    }

    #[test]
    fn documents_go_whole_into_a_column() {
        let text = "{\"a\": 1}\n{\"b\":\n \"x\\ty\"}";
        assert_eq!(
            records_of(text.as_bytes(), Form::Json, &[("doc", PgType::Json)], true).unwrap(),
            "{\"a\": 1}\n{\"b\":\\n \"x\\\\ty\"}\n"
        );
    }

    /// `{"_id": ObjectId, "n": 5, "at": a date}`, and `{"n": 2.5}`.
    const BSON: &[u8] =
        b"\x29\0\0\0\x07_id\0\x56\xe1\xfc\x72\xe0\xc9\x17\xe9\xc4\x71\x41\x61\x10n\0\x05\0\0\0\x09at\0\xc5\xd8\xd6\xcc\x3b\x01\0\0\0\
        \x10\0\0\0\x01n\0\0\0\0\0\0\0\x04\x40\0";

    #[test]
    fn documents_of_bson_are_rows() {
        let columns = [("_id", PgType::Text), ("at", PgType::Timestamptz), ("n", PgType::Numeric)];
        assert_eq!(
            records_of(BSON, Form::Bson, &columns, false).unwrap(),
            "56e1fc72e0c917e9c4714161\t2012-12-24T12:15:30.501Z\t5\n\\N\t\\N\t2.5\n"
        );
        assert_eq!(
            records_of(BSON, Form::Bson, &[("_id", PgType::Jsonb)], false).unwrap(),
            "{\"$oid\":\"56e1fc72e0c917e9c4714161\"}\n\\N\n"
        );
        assert_eq!(records_of(&BSON[41..], Form::Bson, &[("doc", PgType::Jsonb)], true).unwrap(), "{\"n\": 2.5}\n");
        let found = with_file(BSON, |path| infer(path, Form::Bson).unwrap());
        let wanted = [("n", "double precision"), ("at", "timestamptz"), ("_id", "text")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_no_bson_is_reported_with_its_row() {
        for (bytes, wanted) in [
            (&BSON[..50], "row 2: the file ends within a document"),
            (&BSON[..43], "row 2: the file ends within a document"),
            (b"{\"a\": 1}\n", "row 1: it is not a document of BSON of up to 256 MB"),
            (b"\x1f\x8b\x08\0\x01", "it is compressed with gzip: make a file of its contents with gunzip first"),
            (b"\x04\0\0\0", "row 1: it is not a document of BSON of up to 256 MB"),
            (b"\x05\0\0\0\x01", "row 1: It does not end with a zero byte."),
        ] {
            assert_eq!(records_of(bytes, Form::Bson, &[("n", PgType::Int4)], false).unwrap_err(), wanted);
        }
    }
}
