//! Messages as they go, written into one growing buffer.

use stoa_engine::session::{CopyFormat, Notice, Notification, OutputColumn, TransactionStatus};
use stoa_pg::{PgError, SqlType};

/// What is to be sent.
#[derive(Debug, Default)]
pub struct Output {
    pub bytes: Vec<u8>,
}

/// The buffer's usual size; a larger one is given back after use.
const KEPT_CAPACITY: usize = 64 << 10;

impl Output {
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Forgets what was sent.
    pub fn clear(&mut self) {
        let all = self.bytes.len();
        take_away(&mut self.bytes, all);
    }

    /// Starts a message; [`Output::end`] takes what this returns.
    pub fn begin(&mut self, kind: u8) -> usize {
        self.bytes.push(kind);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        start
    }

    /// Sets the length of the message that was started.
    pub fn end(&mut self, start: usize) {
        let length = u32::try_from(self.bytes.len() - start).unwrap_or(u32::MAX);
        if let Some(place) = self.bytes.get_mut(start..start + 4) {
            place.copy_from_slice(&length.to_be_bytes());
        }
    }

    /// A message without body.
    pub fn empty(&mut self, kind: u8) {
        self.bytes.extend_from_slice(&[kind, 0, 0, 0, 4]);
    }

    pub fn int16(&mut self, value: i16) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub fn int32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub fn uint32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// A string with its zero byte; a zero byte inside ends it.
    pub fn string(&mut self, text: &str) {
        let end = text.bytes().position(|b| b == 0).unwrap_or(text.len());
        self.bytes.extend_from_slice(text.as_bytes().get(..end).unwrap_or_default());
        self.bytes.push(0);
    }

    pub fn parse_complete(&mut self) {
        self.empty(b'1');
    }

    pub fn bind_complete(&mut self) {
        self.empty(b'2');
    }

    pub fn close_complete(&mut self) {
        self.empty(b'3');
    }

    pub fn no_data(&mut self) {
        self.empty(b'n');
    }

    pub fn portal_suspended(&mut self) {
        self.empty(b's');
    }

    pub fn empty_query(&mut self) {
        self.empty(b'I');
    }

    pub fn ready_for_query(&mut self, status: TransactionStatus) {
        let status = match status {
            TransactionStatus::Idle => b'I',
            TransactionStatus::InTransaction => b'T',
            TransactionStatus::Failed => b'E',
        };
        self.bytes.extend_from_slice(&[b'Z', 0, 0, 0, 5, status]);
    }

    pub fn command_complete(&mut self, tag: &str) {
        let start = self.begin(b'C');
        self.string(tag);
        self.end(start);
    }

    /// A command tag with a count behind the word.
    pub fn command_complete_counted(&mut self, word: &str, count: u64) {
        let start = self.begin(b'C');
        self.bytes.extend_from_slice(word.as_bytes());
        self.bytes.push(b' ');
        stoa_pg::values::number::write_integer(i64::try_from(count).unwrap_or(i64::MAX), &mut self.bytes);
        self.bytes.push(0);
        self.end(start);
    }

    pub fn parameter_status(&mut self, name: &str, value: &str) {
        let start = self.begin(b'S');
        self.string(name);
        self.string(value);
        self.end(start);
    }

    pub fn parameter_description(&mut self, types: &[SqlType]) {
        let start = self.begin(b't');
        self.int16(count(types.len()));
        for ty in types {
            self.uint32(ty.ty.oid());
        }
        self.end(start);
    }

    /// `formats`: as [`super::rows::format_of`] reads them.
    pub fn row_description(&mut self, columns: &[OutputColumn], formats: &[i16]) {
        let start = self.begin(b'T');
        self.int16(count(columns.len()));
        for (number, column) in columns.iter().enumerate() {
            self.string(&column.name);
            self.uint32(column.table_oid);
            self.int16(column.attnum);
            self.uint32(column.ty.ty.oid());
            self.int16(column.ty.ty.len());
            self.int32(column.ty.typmod);
            self.int16(super::rows::format_of(formats, number));
        }
        self.end(start);
    }

    /// CopyInResponse (`G`) or CopyOutResponse (`H`).
    pub fn copy_response(&mut self, kind: u8, format: CopyFormat, columns: usize) {
        let code = i16::from(format == CopyFormat::Binary);
        let start = self.begin(kind);
        self.bytes.push(u8::from(format == CopyFormat::Binary));
        self.int16(count(columns));
        for _ in 0..columns {
            self.int16(code);
        }
        self.end(start);
    }

    pub fn error(&mut self, severity: &str, error: &PgError) {
        self.fields(b'E', severity, error);
    }

    pub fn notice(&mut self, notice: &Notice) {
        self.fields(b'N', notice.severity, &notice.error);
    }

    fn fields(&mut self, kind: u8, severity: &str, error: &PgError) {
        let fields = error.fields();
        let position = fields.position.map(|p| p.to_string());
        let start = self.begin(kind);
        let mut field = |code: u8, text: Option<&str>| {
            if let Some(text) = text {
                self.bytes.push(code);
                self.string(text);
            }
        };
        field(b'S', Some(severity));
        field(b'V', Some(severity));
        field(b'C', Some(fields.code.as_str()));
        field(b'M', Some(&fields.message));
        field(b'D', fields.detail.as_deref());
        field(b'H', fields.hint.as_deref());
        field(b'P', position.as_deref());
        field(b'W', fields.context.as_deref());
        field(b's', fields.schema.as_deref());
        field(b't', fields.table.as_deref());
        field(b'c', fields.column.as_deref());
        field(b'd', fields.data_type.as_deref());
        field(b'n', fields.constraint.as_deref());
        self.bytes.push(0);
        self.end(start);
    }

    pub fn notification(&mut self, notification: &Notification) {
        let start = self.begin(b'A');
        self.uint32(notification.pid);
        self.string(&notification.channel);
        self.string(&notification.payload);
        self.end(start);
    }
}

/// The first `count` bytes of a buffer are gone; one that has grown large is given back when it is empty.
pub fn take_away(bytes: &mut Vec<u8>, count: usize) {
    if count < bytes.len() {
        bytes.drain(..count);
        return;
    }
    bytes.clear();
    if bytes.capacity() > KEPT_CAPACITY {
        *bytes = Vec::with_capacity(KEPT_CAPACITY);
    }
}

fn count(n: usize) -> i16 {
    // The wire's counts are unsigned 16 bits.
    u16::try_from(n).unwrap_or(u16::MAX).cast_signed()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use stoa_pg::SqlState;

    #[test]
    fn bytes_of_messages() {
        let mut out = Output::default();
        out.command_complete_counted("SELECT", 12);
        out.ready_for_query(TransactionStatus::Failed);
        assert_eq!(out.bytes, b"C\0\0\0\x0eSELECT 12\0Z\0\0\0\x05E");
        out.clear();
        out.error("ERROR", &PgError::new(SqlState::SYNTAX_ERROR, "m\0hidden").at(Some(3)).hint("h"));
        assert_eq!(out.bytes, b"E\0\0\0\x23SERROR\0VERROR\0C42601\0Mm\0Hh\0P3\0\0");
    }
}
