//! Rows of a table as the entries that its indexes should have, at one view.

use crate::nodes::StatementContext;
use crate::write::rows::Rows;
use crate::write::table_writer::{IndexWriter, TableWriter};
use stoa_pg::PgResult;
use stoa_table::KeyRange;
use stoa_table::catalog::ColumnId;
use stoa_table::row::{ColumnSource, KeyList, ScanDecoder};
use stoa_table::txn::{RangeRead, ReadView, ViewScan};

/// Rows of a batch.
const BATCH_ROWS: usize = 4096;

/// Reads all rows of a key range of a table, with the keys that they are stored under.
pub struct TableRows {
    scan: ViewScan,
    decoder: ScanDecoder,
    columns: Vec<ColumnId>,
    ended: bool,
}

impl TableRows {
    /// # Errors
    /// The store failed.
    pub async fn open(view: &ReadView, writer: &TableWriter, range: KeyRange) -> PgResult<Self> {
        let columns: Vec<ColumnId> = writer.table.live_columns().map(|c| c.id).collect();
        let source = ColumnSource::Table(writer.codec.clone());
        let decoder = ScanDecoder::new(&source, &columns, BATCH_ROWS)?.collect_row_keys(&source)?;
        let read =
            RangeRead { table: writer.codec.storage, families: decoder.families(), range, reverse: false, limit: None, fill_cache: false };
        Ok(Self { scan: view.scan(read).await?, decoder, columns, ended: false })
    }

    /// The next rows and their keys; `None` at the end.
    ///
    /// # Errors
    /// The store failed, a row cannot be read, or the statement was cancelled.
    pub async fn next(&mut self, ctx: &StatementContext) -> PgResult<Option<(Rows, KeyList)>> {
        while !self.ended {
            ctx.session.check_interrupt()?;
            self.ended = !self.scan.next_block(BATCH_ROWS, &mut self.decoder).await?;
            if let Some(error) = self.decoder.take_error() {
                return Err(error);
            }
            if self.decoder.rows() == 0 {
                continue;
            }
            let mut rows = Rows::new(self.decoder.rows());
            for (id, array) in self.columns.iter().zip(self.decoder.finish()?) {
                rows.set(*id, array);
            }
            return Ok(Some((rows, self.decoder.take_keys())));
        }
        Ok(None)
    }
}

/// Calls `f` with the position of each row that has an entry, the entry's key and its cell.
///
/// # Errors
/// What expressions of the index raise, and those of `f`.
pub fn each_entry(
    index: &IndexWriter,
    rows: &Rows,
    keys: &KeyList,
    mut f: impl FnMut(usize, &[u8], &[u8]) -> PgResult<()>,
) -> PgResult<()> {
    let mut entries = index.entries(rows)?;
    let mut key = Vec::new();
    for row in 0..rows.len() {
        if !entries.includes(row) {
            continue;
        }
        let row_key = keys.get(row);
        key.clear();
        entries.encoder.key(row, row_key, &mut key)?;
        let cell = entries.encoder.cell(row, row_key)?;
        f(row, &key, cell)?;
    }
    Ok(())
}
