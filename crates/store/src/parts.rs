//! Many ranges in one scan, for stores that go from one to the next by themselves.

use crate::{CellRef, KeyRange, RowSink, Scan, StoreResult};
use async_trait::async_trait;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A scan that gives the rows of some parts of another's range, one part after the other.
pub struct PartScan {
    scan: Box<dyn Scan>,
    parts: Arc<[KeyRange]>,
    next: usize,
    /// Whether the part before `next` may have more rows.
    open: bool,
}

impl PartScan {
    /// `parts` in the order of the scan, apart from each other.
    #[must_use]
    pub fn new(scan: Box<dyn Scan>, parts: Arc<[KeyRange]>) -> Self {
        Self { scan, parts, next: 0, open: false }
    }
}

#[async_trait]
impl Scan for PartScan {
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        let most = max_rows.max(1);
        let mut sink = Counting { sink, rows: 0, broke: false };
        loop {
            if !self.open {
                let Some(part) = self.parts.get(self.next) else { return Ok(false) };
                self.scan.restrict_to(part)?;
                self.next += 1;
            }
            self.open = self.scan.next_block(most.saturating_sub(sink.rows).max(1), &mut sink).await?;
            if sink.broke || sink.rows >= most {
                return Ok(self.open || self.next < self.parts.len());
            }
        }
    }

    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        self.parts = Arc::from([]);
        (self.next, self.open) = (0, true);
        self.scan.restrict_to(part)
    }
}

struct Counting<'a> {
    sink: &'a mut dyn RowSink,
    rows: usize,
    broke: bool,
}

impl RowSink for Counting<'_> {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self.rows += 1;
        let flow = self.sink.row(key, cells);
        self.broke = flow.is_break();
        flow
    }
}
