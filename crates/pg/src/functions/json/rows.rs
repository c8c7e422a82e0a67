//! Set-returning functions whose rows are computed at once.

use crate::error::PgResult;
use crate::registry::RowSource;
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
