//! Bytes of a client to columns: text, CSV and binary.
//!
//! Bytes come in pieces of any size; what is not a whole record yet waits. Values go straight from the bytes into the builders of
//! their columns.

use super::options::{CopyOptions, Header};
use crate::session::api::CopyFormat;
use memchr::{memchr, memchr2, memchr3};
use std::ops::Range;
use stoa_pg::types::SqlType;
use stoa_pg::values::{ValueBuilder, builder};
use stoa_pg::{EvalContext, PgError, PgResult, SqlState};

/// A column that is copied into.
#[derive(Clone, Debug)]
pub struct TargetColumn {
    pub name: String,
    pub ty: SqlType,
    /// The table does not declare it.
    pub undeclared: bool,
}

/// How lines end; the first line decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LineEnd {
    Unknown,
    Newline,
    Return,
    ReturnNewline,
}

/// Turns bytes into columns.
pub struct Decoder {
    table: String,
    options: CopyOptions,
    columns: Vec<TargetColumn>,
    force_not_null: Vec<bool>,
    force_null: Vec<bool>,
    builders: Vec<Box<dyn ValueBuilder>>,
    context: EvalContext,
    buffer: Vec<u8>,
    /// What of the buffer has been used.
    used: usize,
    /// Where the search for the end of the record goes on.
    scanned: usize,
    in_quote: bool,
    after_escape: bool,
    line_end: LineEnd,
    /// Lines read, for messages.
    line: u64,
    header_pending: bool,
    ended: bool,
    /// A mark of the end stands before the end of a line.
    marked_within: bool,
    /// Rows in the builders, and the bytes that they were read from.
    pub rows: usize,
    bytes: usize,
    places: Places,
    scratch: Vec<u8>,
    binary_header: bool,
}

/// Rows as columns, with the lines that they were.
#[derive(Debug)]
pub struct Piece {
    pub rows: usize,
    pub columns: Vec<arrow::array::ArrayRef>,
    pub places: Places,
}

/// Where rows come from: for each, the number of its line, and where its text ends among the texts of all. Binary rows have no text.
#[derive(Clone, Default, Debug)]
pub struct Places {
    lines: Vec<(u64, usize)>,
    texts: Vec<u8>,
}

impl Places {
    fn add(&mut self, line: u64, text: &[u8]) {
        self.texts.extend_from_slice(text);
        self.lines.push((line, self.texts.len()));
    }

    /// `line 3` of a row, with its text if that is asked for and known.
    #[must_use]
    pub fn of_row(&self, row: usize, with_text: bool) -> Option<String> {
        let (line, end) = self.lines.get(row)?;
        let start = row.checked_sub(1).and_then(|before| self.lines.get(before)).map_or(0, |(_, end)| *end);
        Some(match self.texts.get(start..*end) {
            Some(text) if with_text && !self.texts.is_empty() => format!("line {line}: \"{}\"", shortened(text)),
            _ => format!("line {line}"),
        })
    }
}

/// Bytes from which on rows are written, however few they are.
const BATCH_BYTES: usize = 1 << 20;

/// Why a value cannot be read.
const BAD: SqlState = SqlState::BAD_COPY_FILE_FORMAT;

impl Decoder {
    /// # Errors
    /// 42P10 for options that name other columns; 0A000 for types without input.
    pub fn new(table: String, options: CopyOptions, columns: Vec<TargetColumn>, context: EvalContext) -> PgResult<Self> {
        let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
        let force_not_null = options.force_not_null.flags("FORCE_NOT_NULL", &names)?;
        let force_null = options.force_null.flags("FORCE_NULL", &names)?;
        let builders = columns.iter().map(|c| builder(&c.ty)).collect::<PgResult<_>>()?;
        let header_pending = options.header != Header::No;
        Ok(Self {
            table,
            options,
            columns,
            force_not_null,
            force_null,
            builders,
            context,
            buffer: Vec::new(),
            used: 0,
            scanned: 0,
            in_quote: false,
            after_escape: false,
            line_end: LineEnd::Unknown,
            line: 0,
            header_pending,
            ended: false,
            marked_within: false,
            rows: 0,
            bytes: 0,
            places: Places::default(),
            scratch: Vec::new(),
            binary_header: false,
        })
    }

    /// Takes bytes; [`Decoder::decode`] reads them.
    pub fn push(&mut self, data: &[u8]) {
        if self.ended {
            return;
        }
        if self.used > 0 {
            self.buffer.drain(..self.used);
            self.scanned -= self.used.min(self.scanned);
            self.used = 0;
        }
        self.buffer.extend_from_slice(data);
    }

    /// Reads whole records until there are `limit` rows, or rows of many bytes (true), or no whole record is left (false).
    ///
    /// # Errors
    /// 22P04 and what values raise, with the line and the column as context.
    pub fn decode(&mut self, limit: usize, last: bool) -> PgResult<bool> {
        while self.rows < limit && (self.bytes < BATCH_BYTES || self.rows == 0) {
            let before = self.used;
            if self.ended {
                return Ok(false);
            }
            let more = match self.options.format {
                CopyFormat::Binary => self.binary_record()?,
                CopyFormat::Text | CopyFormat::Csv => self.line_record(last)?,
            };
            if !more {
                // The end between two rows is an end without the mark of one.
                let between_rows = self.binary_header && self.used == self.buffer.len();
                if last && !self.ended && self.options.format == CopyFormat::Binary && !between_rows {
                    return Err(self.at_line(PgError::new(BAD, "unexpected EOF in COPY data")));
                }
                return Ok(false);
            }
            self.bytes += self.used.saturating_sub(before);
        }
        Ok(true)
    }

    /// The rows so far; of one that could not be read to its end, nothing.
    ///
    /// # Errors
    /// What builders raise.
    pub fn take(&mut self) -> PgResult<Piece> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let columns = self.builders.iter_mut().map(|b| Ok(b.finish()?.slice(0, rows))).collect::<PgResult<_>>()?;
        Ok(Piece { rows, columns, places: std::mem::take(&mut self.places) })
    }

    /// The context of errors that concern rows as a whole.
    #[must_use]
    pub fn place(&self) -> String {
        format!("COPY {}, line {}", self.table, self.line)
    }

    // Lines.

    /// One line, or false if there is no whole one.
    fn line_record(&mut self, last: bool) -> PgResult<bool> {
        let Some((line, next)) = self.next_line(last)? else { return Ok(false) };
        self.line += 1;
        let csv = self.options.format == CopyFormat::Csv;
        if self.buffer.get(line.clone()).is_some_and(|l| l == b"\\.") {
            self.ended = true;
            self.used = next;
            self.scanned = next;
            return Ok(false);
        }
        if std::str::from_utf8(self.buffer.get(line.clone()).unwrap_or_default()).is_err()
            || memchr(0, self.buffer.get(line.clone()).unwrap_or_default()).is_some()
        {
            let error = invalid_encoding(self.buffer.get(line.clone()).unwrap_or_default());
            return Err(self.at_line(error));
        }
        // The line stays in the buffer while its fields are read; the buffer is taken so that both can be borrowed.
        let buffer = std::mem::take(&mut self.buffer);
        let bytes = buffer.get(line).unwrap_or_default();
        let read = if std::mem::take(&mut self.header_pending) {
            self.header(bytes)
        } else if csv {
            self.csv_fields(bytes)
        } else {
            self.text_fields(bytes)
        };
        let read = read.map_err(|error| if error.fields().context.is_none() { self.at_text(error, bytes) } else { error });
        if self.rows > self.places.lines.len() {
            self.places.add(self.line, bytes);
        }
        self.buffer = buffer;
        self.used = next;
        self.scanned = next;
        read.map(|()| true)
    }

    /// The range of the next line without its end, and where the next one starts.
    fn next_line(&mut self, last: bool) -> PgResult<Option<(Range<usize>, usize)>> {
        let csv = self.options.format == CopyFormat::Csv;
        loop {
            let rest = self.buffer.get(self.scanned..).unwrap_or_default();
            let found = if csv {
                self.csv_line_end()
            } else if self.line_end == LineEnd::Return || self.line_end == LineEnd::Unknown {
                memchr2(b'\n', b'\r', rest)
            } else {
                memchr(b'\n', rest)
            };
            let Some(offset) = found else {
                self.scanned = self.buffer.len();
                if last && self.used < self.buffer.len() {
                    if csv && self.in_quote {
                        self.line += 1;
                        let bytes = self.buffer.get(self.used..).unwrap_or_default().to_vec();
                        return Err(self.at_text(PgError::new(BAD, "unterminated CSV quoted field"), &bytes));
                    }
                    let end = self.buffer.len();
                    let cut = usize::from(self.line_end == LineEnd::ReturnNewline && self.buffer.last() == Some(&b'\r'));
                    return Ok(Some((self.used..end - cut, end)));
                }
                return Ok(None);
            };
            let at = self.scanned + offset;
            if !csv && self.is_escaped(at) {
                self.scanned = at + 1;
                continue;
            }
            let is_return = self.buffer.get(at) == Some(&b'\r');
            if self.line_end == LineEnd::Unknown {
                self.line_end = if !is_return {
                    LineEnd::Newline
                } else {
                    match self.buffer.get(at + 1) {
                        Some(b'\n') => LineEnd::ReturnNewline,
                        Some(_) => LineEnd::Return,
                        None if last => LineEnd::Return,
                        None => {
                            self.scanned = at;
                            return Ok(None);
                        }
                    }
                };
            }
            return match (self.line_end, is_return) {
                (LineEnd::Newline | LineEnd::Unknown, false) => {
                    if !csv && memchr(b'\r', self.buffer.get(self.used..at).unwrap_or_default()).is_some() {
                        self.check_returns(self.used..at)?;
                    }
                    Ok(Some((self.used..at, at + 1)))
                }
                (LineEnd::ReturnNewline, false) => {
                    if at > self.used && self.buffer.get(at - 1) == Some(&b'\r') {
                        Ok(Some((self.used..at - 1, at + 1)))
                    } else {
                        self.line += 1;
                        Err(self.wrong_line_end("newline", "\\n"))
                    }
                }
                (LineEnd::ReturnNewline, true) => match self.buffer.get(at + 1) {
                    Some(b'\n') => Ok(Some((self.used..at, at + 2))),
                    None if !last => {
                        self.scanned = at;
                        Ok(None)
                    }
                    _ => {
                        self.line += 1;
                        Err(self.wrong_line_end("carriage return", "\\r"))
                    }
                },
                (LineEnd::Return, true) => Ok(Some((self.used..at, at + 1))),
                (LineEnd::Return, false) => {
                    self.line += 1;
                    Err(self.wrong_line_end("newline", "\\n"))
                }
                (LineEnd::Newline | LineEnd::Unknown, true) => {
                    self.line += 1;
                    Err(self.wrong_line_end("carriage return", "\\r"))
                }
            };
        }
    }

    fn wrong_line_end(&self, name: &str, written: &str) -> PgError {
        let error = if self.options.format == CopyFormat::Csv {
            PgError::new(BAD, format!("unquoted {name} found in data")).hint(format!("Use quoted CSV field to represent {name}."))
        } else {
            PgError::new(BAD, format!("literal {name} found in data")).hint(format!("Use \"{written}\" to represent {name}."))
        };
        self.at_line(error)
    }

    /// Carriage returns within a line must be behind a backslash.
    fn check_returns(&mut self, line: Range<usize>) -> PgResult<()> {
        for at in line {
            if self.buffer.get(at) == Some(&b'\r') && !self.is_escaped(at) {
                self.line += 1;
                return Err(self.wrong_line_end("carriage return", "\\r"));
            }
        }
        Ok(())
    }

    /// Whether an odd number of backslashes stands before this byte.
    fn is_escaped(&self, at: usize) -> bool {
        let before = self.buffer.get(self.used..at).unwrap_or_default();
        before.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
    }

    /// The next line end outside of quotes, counted from what was scanned; what was scanned grows, and so does the state.
    fn csv_line_end(&mut self) -> Option<usize> {
        let (quote, escape) = (self.options.quote, self.options.escape);
        // What counts as a line within quotes, as PostgreSQL has it.
        let newline = if self.line_end == LineEnd::Newline { b'\n' } else { b'\r' };
        let mut at = self.scanned;
        loop {
            let rest = self.buffer.get(at..).unwrap_or_default();
            let step = match (self.in_quote, escape == quote) {
                (false, _) => memchr3(quote, b'\n', b'\r', rest),
                (true, true) => memchr2(quote, newline, rest),
                (true, false) => memchr3(quote, escape, newline, rest),
            };
            let Some(step) = step else {
                if !rest.is_empty() {
                    self.after_escape = false;
                }
                return None;
            };
            self.after_escape &= step == 0;
            at += step;
            let byte = self.buffer.get(at).copied().unwrap_or(0);
            if !self.in_quote {
                if byte != quote {
                    return Some(at - self.scanned);
                }
                self.in_quote = true;
            } else if byte == newline {
                self.line += 1;
                self.after_escape = false;
            } else if byte == escape && escape != quote {
                self.after_escape = !self.after_escape;
            } else {
                self.in_quote = self.after_escape;
                self.after_escape = false;
            }
            at += 1;
            self.scanned = at;
        }
    }

    fn header(&mut self, line: &[u8]) -> PgResult<()> {
        if self.options.header == Header::Yes {
            return Ok(());
        }
        let mut names = Vec::new();
        let csv = self.options.format == CopyFormat::Csv;
        let mut at = 0;
        loop {
            let (raw_null, end) = if csv { self.csv_field(line, at)? } else { self.text_field(line, at) };
            names.push(if raw_null { None } else { Some(String::from_utf8_lossy(&self.scratch).into_owned()) });
            match end {
                Some(next) => at = next,
                None => break,
            }
        }
        if names.len() != self.columns.len() {
            return Err(PgError::new(
                BAD,
                format!("wrong number of fields in header line: got {}, expected {}", names.len(), self.columns.len()),
            ));
        }
        for (number, (name, column)) in names.iter().zip(&self.columns).enumerate() {
            if name.as_deref() != Some(column.name.as_str()) {
                let got = name.as_ref().map_or_else(|| format!("null value (\"{}\")", self.options.null), |n| format!("\"{n}\""));
                return Err(PgError::new(
                    BAD,
                    format!("column name mismatch in header line field {}: got {got}, expected \"{}\"", number + 1, column.name),
                ));
            }
        }
        Ok(())
    }

    // Text.

    fn text_fields(&mut self, line: &[u8]) -> PgResult<()> {
        let delimiter = self.options.delimiter;
        let mut at = self.first_field(line);
        for column in 0..self.columns.len() {
            let Some(start) = at else { return Err(self.missing(column)) };
            let rest = line.get(start..).unwrap_or_default();
            match memchr2(delimiter, b'\\', rest) {
                // Without escapes, the field is a piece of the line.
                Some(end) if rest.get(end) == Some(&delimiter) => {
                    self.value(column, rest.get(..end).unwrap_or_default(), false)?;
                    at = Some(start + end + 1);
                }
                None => {
                    self.value(column, rest, false)?;
                    at = None;
                }
                Some(_) => {
                    let (null, next) = self.text_field(line, start);
                    if self.marked_within {
                        return Err(self.at_line(PgError::new(BAD, "end-of-copy marker corrupt")));
                    }
                    self.scratch_value(column, null)?;
                    at = next;
                }
            }
        }
        self.end_of_row(at)
    }

    /// Reads a field with escapes into the scratch buffer; whether it is the NULL string, and where the next field starts. The mark of
    /// the end may stand behind the last row.
    fn text_field(&mut self, line: &[u8], start: usize) -> (bool, Option<usize>) {
        self.scratch.clear();
        let mut at = start;
        let mut next = None;
        let mut end = line.len();
        while let Some(byte) = line.get(at).copied() {
            at += 1;
            if byte == self.options.delimiter {
                next = Some(at);
                end = at - 1;
                break;
            }
            if byte != b'\\' {
                self.scratch.push(byte);
                continue;
            }
            let Some(escaped) = line.get(at).copied() else { break };
            at += 1;
            let byte = match escaped {
                b'.' if at == line.len() => {
                    self.ended = true;
                    end = at - 2;
                    break;
                }
                b'.' => {
                    self.marked_within = true;
                    break;
                }
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'v' => 11,
                b'0'..=b'7' => {
                    let mut value = u32::from(escaped - b'0');
                    for _ in 0..2 {
                        match line.get(at) {
                            Some(digit @ b'0'..=b'7') => {
                                value = value * 8 + u32::from(digit - b'0');
                                at += 1;
                            }
                            _ => break,
                        }
                    }
                    (value & 0xff) as u8
                }
                b'x' => {
                    let digit = |at: usize| line.get(at).and_then(|b| char::from(*b).to_digit(16));
                    match (digit(at), digit(at + 1)) {
                        (Some(high), Some(low)) => {
                            at += 2;
                            (high * 16 + low) as u8
                        }
                        (Some(low), None) => {
                            at += 1;
                            low as u8
                        }
                        (None, _) => b'x',
                    }
                }
                other => other,
            };
            self.scratch.push(byte);
        }
        (line.get(start..end) == Some(self.options.null.as_bytes()), next)
    }

    // CSV.

    fn csv_fields(&mut self, line: &[u8]) -> PgResult<()> {
        let (delimiter, quote) = (self.options.delimiter, self.options.quote);
        let mut at = self.first_field(line);
        for column in 0..self.columns.len() {
            let Some(start) = at else { return Err(self.missing(column)) };
            let rest = line.get(start..).unwrap_or_default();
            match memchr2(delimiter, quote, rest) {
                Some(end) if rest.get(end) == Some(&delimiter) => {
                    self.value(column, rest.get(..end).unwrap_or_default(), false)?;
                    at = Some(start + end + 1);
                }
                None => {
                    self.value(column, rest, false)?;
                    at = None;
                }
                Some(_) => {
                    let (_, next) = self.csv_field(line, start)?;
                    let scratch = std::mem::take(&mut self.scratch);
                    let read = self.value(column, &scratch, true);
                    self.scratch = scratch;
                    read?;
                    at = next;
                }
            }
        }
        self.end_of_row(at)
    }

    /// Reads a field with quotes into the scratch buffer; whether it is the NULL string, and where the next field starts.
    fn csv_field(&mut self, line: &[u8], start: usize) -> PgResult<(bool, Option<usize>)> {
        let (delimiter, quote, escape) = (self.options.delimiter, self.options.quote, self.options.escape);
        self.scratch.clear();
        let (mut at, mut quoted, mut in_quote) = (start, false, false);
        while let Some(byte) = line.get(at).copied() {
            at += 1;
            if in_quote {
                // An escape counts before a quote or an escape only.
                if byte == escape
                    && let Some(next) = line.get(at).copied().filter(|n| *n == quote || *n == escape)
                {
                    self.scratch.push(next);
                    at += 1;
                } else if byte == quote {
                    in_quote = false;
                } else {
                    self.scratch.push(byte);
                }
            } else if byte == delimiter {
                return Ok((!quoted && self.scratch == self.options.null.as_bytes(), Some(at)));
            } else if byte == quote {
                quoted = true;
                in_quote = true;
            } else {
                self.scratch.push(byte);
            }
        }
        if in_quote {
            return Err(PgError::new(BAD, "unterminated CSV quoted field"));
        }
        Ok((!quoted && self.scratch == self.options.null.as_bytes(), None))
    }

    // Values.

    /// A field as it stands; the NULL string makes NULL unless the field was quoted.
    fn value(&mut self, column: usize, bytes: &[u8], quoted: bool) -> PgResult<()> {
        let is_null_text = bytes == self.options.null.as_bytes();
        let flag = |flags: &[bool]| flags.get(column).copied().unwrap_or(false);
        let null = is_null_text && if quoted { flag(&self.force_null) } else { !flag(&self.force_not_null) };
        let Some(builder) = self.builders.get_mut(column) else { return Ok(()) };
        if null {
            builder.null();
            return Ok(());
        }
        let text = std::str::from_utf8(bytes).map_err(|_| invalid_encoding(bytes));
        match text.and_then(|text| builder.text(&self.context, text)) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.at_value(error, column, bytes)),
        }
    }

    fn scratch_value(&mut self, column: usize, null: bool) -> PgResult<()> {
        if null {
            if let Some(builder) = self.builders.get_mut(column) {
                builder.null();
            }
            return Ok(());
        }
        let scratch = std::mem::take(&mut self.scratch);
        let read = match self.builders.get_mut(column) {
            Some(builder) => std::str::from_utf8(&scratch)
                .map_err(|_| invalid_encoding(&scratch))
                .and_then(|text| if text.contains('\0') { Err(invalid_encoding(&[0])) } else { builder.text(&self.context, text) }),
            None => Ok(()),
        };
        let read = read.map_err(|error| self.at_value(error, column, &scratch));
        self.scratch = scratch;
        read
    }

    /// Where the first field of a line begins. An empty line has one, which is empty, but for a table that has no columns.
    fn first_field(&self, line: &[u8]) -> Option<usize> {
        (!self.columns.is_empty() || !line.is_empty()).then_some(0)
    }

    fn missing(&self, column: usize) -> PgError {
        let name = self.columns.get(column).map_or("", |c| c.name.as_str());
        PgError::new(BAD, format!("missing data for column \"{name}\""))
    }

    fn end_of_row(&mut self, at: Option<usize>) -> PgResult<()> {
        if at.is_some() {
            return Err(PgError::new(BAD, "extra data after last expected column"));
        }
        self.rows += 1;
        Ok(())
    }

    // Binary.

    /// One tuple, or false if there is no whole one.
    fn binary_record(&mut self) -> PgResult<bool> {
        const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
        if !self.binary_header {
            let head = self.buffer.get(self.used..).unwrap_or_default();
            let known = head.len().min(SIGNATURE.len());
            if head.get(..known) != SIGNATURE.get(..known) {
                return Err(PgError::new(BAD, "COPY file signature not recognized"));
            }
            let (Some(flags), Some(length)) = (int32(head, 11), int32(head, 15)) else { return Ok(false) };
            if flags & 0x1_0000 != 0 {
                return Err(PgError::new(BAD, "invalid COPY file header (WITH OIDS)"));
            }
            if flags & !0xffff != 0 {
                return Err(PgError::new(BAD, "unrecognized critical flags in COPY file header"));
            }
            let Ok(length) = usize::try_from(length) else {
                return Err(PgError::new(BAD, "invalid COPY file header (missing length)"));
            };
            if head.len() < 19 + length {
                return Ok(false);
            }
            self.used += 19 + length;
            self.binary_header = true;
        }
        let buffer = std::mem::take(&mut self.buffer);
        let out = self.binary_tuple(&buffer);
        self.buffer = buffer;
        out
    }

    fn binary_tuple(&mut self, buffer: &[u8]) -> PgResult<bool> {
        let Some(count) = int16(buffer, self.used) else { return Ok(false) };
        if count == -1 {
            self.ended = true;
            if buffer.len() > self.used + 2 {
                return Err(self.at_line(PgError::new(BAD, "received copy data after EOF marker")));
            }
            return Ok(false);
        }
        // The whole tuple must be there before any value is taken.
        let mut at = self.used + 2;
        for _ in 0..count.max(0) {
            let Some(length) = int32(buffer, at) else { return Ok(false) };
            if length < -1 {
                self.line += 1;
                return Err(self.at_line(PgError::new(BAD, "invalid field size")));
            }
            at += 4 + usize::try_from(length).unwrap_or(0);
        }
        if at > buffer.len() {
            return Ok(false);
        }
        self.line += 1;
        if usize::try_from(count) != Ok(self.columns.len()) {
            return Err(self.at_line(PgError::new(BAD, format!("row field count is {count}, expected {}", self.columns.len()))));
        }
        let mut at = self.used + 2;
        for column in 0..self.columns.len() {
            let length = int32(buffer, at).unwrap_or(-1);
            at += 4;
            let Some(builder) = self.builders.get_mut(column) else { continue };
            match usize::try_from(length) {
                Err(_) => builder.null(),
                Ok(length) => {
                    let bytes = buffer.get(at..at + length).unwrap_or_default();
                    if let Err(error) = builder.binary(&self.context, bytes) {
                        let name = self.columns.get(column).map_or("", |c| c.name.as_str());
                        return Err(error.context(format!("COPY {}, line {}, column {name}", self.table, self.line)));
                    }
                    at += length;
                }
            }
        }
        self.used = at;
        self.rows += 1;
        self.places.add(self.line, &[]);
        Ok(true)
    }

    // Context of errors.

    fn at_line(&self, error: PgError) -> PgError {
        error.context(self.place())
    }

    fn at_text(&self, error: PgError, line: &[u8]) -> PgError {
        error.context(format!("{}: \"{}\"", self.place(), shortened(line)))
    }

    fn at_value(&self, error: PgError, column: usize, value: &[u8]) -> PgError {
        let name = self.columns.get(column).map_or("", |c| c.name.as_str());
        error.context(format!("{}, column {name}: \"{}\"", self.place(), shortened(value)))
    }
}

/// At most 100 characters of a value.
fn shortened(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.chars().count() <= 100 { text.into_owned() } else { text.chars().take(100).chain("...".chars()).collect() }
}

/// 22021 with the bytes at fault.
pub(crate) fn invalid_encoding(bytes: &[u8]) -> PgError {
    let start = match std::str::from_utf8(bytes) {
        Err(error) => error.valid_up_to(),
        Ok(_) => memchr(0, bytes).unwrap_or(0),
    };
    let first = bytes.get(start).copied().unwrap_or(0);
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let shown: Vec<String> = bytes.iter().skip(start).take(length).map(|b| format!("0x{b:02x}")).collect();
    PgError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")))
}

fn int16(bytes: &[u8], at: usize) -> Option<i16> {
    Some(i16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn int32(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
