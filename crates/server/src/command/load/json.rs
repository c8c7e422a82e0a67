//! Files of JSON: objects one behind the other (a line each, or not), or one array of objects. A row is an object, a column a key.

use super::types::Candidates;
use super::value::{DELIMITER, write_json};
use super::{Column, FileError, Records};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Larger objects are refused: more likely a bracket is missing.
const MAX_OBJECT_BYTES: usize = 256 << 20;

/// Reads a file's objects as records of COPY's text format.
pub(super) struct JsonFile {
    file: BufReader<File>,
    /// Whether the objects are elements of an array; known behind the first byte.
    array: Option<bool>,
    ended: bool,
    object: Vec<u8>,
    columns: Vec<Column>,
    rows: u64,
    total: u64,
    bytes: u64,
}

impl JsonFile {
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let file = File::open(path)?;
        let total = file.metadata()?.len();
        Ok(Self {
            file: BufReader::with_capacity(1 << 20, file),
            array: None,
            ended: false,
            object: Vec::new(),
            columns: Vec::new(),
            rows: 0,
            total,
            bytes: 0,
        })
    }

    /// The keys that are read, in the order of the records.
    pub(super) fn set_columns(&mut self, columns: Vec<Column>) {
        self.columns = columns;
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

    /// Reads the next object; false at the end of the file.
    fn next(&mut self) -> Result<bool, FileError> {
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

impl Records for JsonFile {
    fn record(&mut self, out: &mut Vec<u8>) -> Result<bool, FileError> {
        if !self.next()? {
            return Ok(false);
        }
        let object = self.object()?;
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                out.push(DELIMITER);
            }
            write_json(object.get(&column.name).unwrap_or(&Value::Null), &column.ty, out);
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

/// All keys of a file's objects in the order in which they come, with the types that take their values.
pub(super) fn infer(path: &Path) -> Result<Vec<(String, String)>, FileError> {
    let mut file = JsonFile::open(path)?;
    let mut names: Vec<String> = Vec::new();
    let mut types: Vec<Candidates> = Vec::new();
    let mut places = std::collections::HashMap::new();
    while file.next()? {
        for (name, value) in &file.object()? {
            let at = match places.get(name) {
                Some(at) => *at,
                None => {
                    places.insert(name.clone(), names.len());
                    names.push(name.clone());
                    types.push(Candidates::default());
                    names.len() - 1
                }
            };
            if let Some(types) = types.get_mut(at) {
                types.json(value);
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
    use stoa_pg::types::PgType;

    fn with_file<T>(text: &str, work: impl FnOnce(&Path) -> T) -> T {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        work(file.path())
    }

    fn records(text: &str) -> Result<String, String> {
        with_file(text, |path| {
            let mut file = JsonFile::open(path).map_err(|e| e.to_string())?;
            let column = |name: &str, ty| Column { name: name.into(), ty };
            file.set_columns(vec![column("a", PgType::Int4), column("b", PgType::Text)]);
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
        let found = with_file("{\"a\":1}{\"b\":\"2024-01-01\",\"a\":null}{\"c\":[1]}", |path| infer(path).unwrap());
        let wanted = [("a", "integer"), ("b", "date"), ("c", "jsonb")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(found, wanted);
    }
}
