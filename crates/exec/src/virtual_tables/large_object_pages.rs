//! The rows of `pg_largeobject`: pages of large objects, read as they are wanted and never all at once.

use super::builder::column_id;
use super::wanted::Wanted;
use crate::environment::StatementContext;
use arrow::array::{ArrayRef, BinaryViewBuilder, Int32Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::datatypes::SchemaRef;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::PgResult;
use stoa_table::catalog::Oid;
use stoa_table::catalog::large_object::{of_page_key, pages};
use stoa_table::txn::large_object::large_object_read;
use stoa_table::txn::{ReadView, ViewScan};
use stoa_table::{CellRef, KeyRange};

/// Rows of a batch: a mebibyte of pages.
const BATCH_ROWS: usize = 512;

/// See the module.
pub struct LargeObjectPages {
    view: ReadView,
    ranges: VecDeque<KeyRange>,
    scan: Option<ViewScan>,
    /// Positions in the definition of what is read.
    read: Arc<[usize]>,
    schema: SchemaRef,
}

impl LargeObjectPages {
    /// Those that may be wanted, under the names of a schema.
    pub fn new(ctx: &StatementContext, wanted: &Wanted, read: &Arc<[usize]>, schema: &SchemaRef) -> Self {
        let database = ctx.txn.transactions().database();
        let ranges = match wanted.numbers(column_id(0)) {
            Some(objects) => objects.into_iter().map(|object| pages(database, Some(object), 0)).collect(),
            None => VecDeque::from([pages(database, None, 0)]),
        };
        Self { view: ctx.txn.read_view(), ranges, scan: None, read: Arc::clone(read), schema: Arc::clone(schema) }
    }

    /// Some more of them; `None` at the end.
    ///
    /// # Errors
    /// The store failed.
    pub async fn next(&mut self) -> PgResult<Option<RecordBatch>> {
        loop {
            let scan = match &mut self.scan {
                Some(scan) => scan,
                None => match self.ranges.pop_front() {
                    Some(range) => self.scan.insert(self.view.scan(large_object_read(range, false)).await?),
                    None => return Ok(None),
                },
            };
            let (mut objects, mut numbers, mut data): (Vec<Oid>, Vec<i32>, _) = (Vec::new(), Vec::new(), BinaryViewBuilder::new());
            let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
                if let (Some((_, object, page)), Some(cell)) = (of_page_key(key), cells.first()) {
                    objects.push(object);
                    numbers.push(i32::try_from(page).unwrap_or(i32::MAX));
                    data.append_value(cell.value);
                }
                if objects.len() < BATCH_ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            if !scan.next_block(BATCH_ROWS, &mut sink).await? {
                self.scan = None;
            }
            let rows = objects.len();
            if rows == 0 {
                continue;
            }
            let all: [ArrayRef; 3] = [Arc::new(UInt32Array::from(objects)), Arc::new(Int32Array::from(numbers)), Arc::new(data.finish())];
            let columns = self.read.iter().filter_map(|at| all.get(*at).cloned()).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            return Ok(Some(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?));
        }
    }
}
