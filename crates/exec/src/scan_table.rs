//! A table as a statement reads it: at a view, with what remembers that it was read.

use std::fmt;
use std::sync::Arc;
use stoa_table::KeyRange;
use stoa_table::catalog::TableDescriptor;
use stoa_table::column_cache::ColumnCache;
use stoa_table::row::RowCodec;
use stoa_table::txn::{ReadView, Transaction};

/// The table behind a scan, at the statement's view.
#[derive(Clone)]
pub struct ScanTable {
    pub table: Arc<TableDescriptor>,
    pub codec: Arc<RowCodec>,
    pub view: ReadView,
    /// For recording what is read; `None` outside transactions.
    pub txn: Option<Arc<Transaction>>,
    /// Where long scans leave columns for later ones.
    pub columns: Option<Arc<ColumnCache>>,
}

impl fmt::Debug for ScanTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table.name)
    }
}

impl ScanTable {
    /// SERIALIZABLE: remembers that ranges were read.
    pub fn record(&self, storage: stoa_table::TableId, ranges: &[KeyRange]) {
        if let Some(txn) = self.txn.as_ref().filter(|t| t.records_reads()) {
            ranges.iter().for_each(|range| txn.record_read(storage, range));
        }
    }
}
