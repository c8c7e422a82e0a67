//! How results are put together: rows of set-returning functions that are computed at once, and columns of json or jsonb.

use crate::args::{Bytes, Call, Kind, Text};
use crate::error::{PgError, PgResult};
use crate::registry::RowSource;
use crate::values::json::binary::Builder;
use arrow::array::ArrayRef;

/// Columns that are handed out in chunks.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<ArrayRef>,
    at: usize,
}

impl Rows {
    /// A source over columns of one length.
    pub fn of(columns: Vec<ArrayRef>) -> PgResult<Box<dyn RowSource>> {
        Ok(Box::new(Rows { columns, at: 0 }))
    }
}

impl RowSource for Rows {
    fn next_chunk(&mut self, limit: usize) -> PgResult<Option<Vec<ArrayRef>>> {
        let total = self.columns.first().map_or(0, |column| column.len());
        let len = limit.min(total - self.at);
        if len == 0 {
            return Ok(None);
        }
        let chunk = self.columns.iter().map(|column| column.slice(self.at, len)).collect();
        self.at += len;
        Ok(Some(chunk))
    }
}

/// Text that was written as bytes by writers that only write UTF-8.
pub fn utf8(bytes: &[u8]) -> PgResult<&str> {
    std::str::from_utf8(bytes).map_err(|_| PgError::internal("JSON text that is not UTF-8"))
}

/// A json or jsonb column; the writer says whether it wrote a value.
pub fn nullable_rows(
    call: &Call,
    jsonb: bool,
    mut write: impl FnMut(usize, &mut Vec<u8>, Option<&mut Builder>) -> PgResult<bool>,
) -> PgResult<ArrayRef> {
    let mut text = Vec::new();
    if jsonb {
        let mut out = Bytes::builder(call.rows);
        let mut builder = Builder::new();
        for row in 0..call.rows {
            if write(row, &mut text, Some(&mut builder))? {
                out.append_value(builder.finish()?);
            } else {
                out.append_null();
            }
        }
        return Bytes::finish(out, call.ret);
    }
    let mut out = Text::builder(call.rows);
    for row in 0..call.rows {
        text.clear();
        if write(row, &mut text, None)? {
            out.append_value(utf8(&text)?);
        } else {
            out.append_null();
        }
    }
    Text::finish(out, call.ret)
}
