//! Rows of raw tables as SQL reads them: those that have a value, with the newest one of each column, its qualifier without time and kind.
//! And what of them concerns who writes: cells and deletions at times to come.

use crate::catalog::CELLS;
use crate::row::raw::{Limits, RowOfCells, Wanted, clock, visible};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_store::{CellRef, CellTest, Enough, FamilyId, RowSink, Store, TableId};

/// Whether the families of a read are those of a raw table.
#[must_use]
pub fn is_raw(families: &[FamilyId]) -> bool {
    families.first() == Some(&CELLS)
}

/// A read of a raw table: what counts, how many rows are still wanted, and why it cannot go on.
#[derive(Debug)]
pub struct VisibleRows {
    limits: Limits,
    now: i64,
    left: Option<u64>,
    failed: Option<PgError>,
}

impl VisibleRows {
    /// # Errors
    /// The store failed, or has no such table.
    pub async fn of(store: &Arc<dyn Store>, table: TableId, limit: Option<u64>) -> PgResult<Self> {
        let schema = store.describe_table(table).await.map_err(crate::failure::store_error)?;
        let schema = schema.ok_or_else(|| PgError::internal("a raw table that the store does not have"))?;
        Ok(Self { limits: Limits::of(&schema), now: clock::now(), left: limit, failed: None })
    }

    /// A sink that collects what concerns who writes, by key.
    pub fn for_writing<'a>(&'a mut self, found: &'a mut HashMap<Vec<u8>, RowOfCells>) -> impl RowSink + 'a {
        move |key: &[u8], cells: &[CellRef<'_>]| match RowOfCells::of(cells, &self.limits, self.now) {
            Ok(row) => {
                found.insert(key.to_vec(), row);
                ControlFlow::Continue(())
            }
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Whether no more rows are wanted.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.left == Some(0)
    }

    /// # Errors
    /// Why a row could not be read.
    pub fn check(&mut self) -> PgResult<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Before a sink of rows, while the store gives cells.
    pub fn before<'a>(&'a mut self, sink: &'a mut dyn RowSink) -> VisibleSink<'a> {
        let tests = sink.enough().tests;
        VisibleSink { rows: self, tests, sink }
    }
}

/// See [`VisibleRows::before`].
pub struct VisibleSink<'a> {
    rows: &'a mut VisibleRows,
    tests: Arc<[CellTest]>,
    sink: &'a mut dyn RowSink,
}

impl RowSink for VisibleSink<'_> {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        if self.rows.is_done() || self.rows.failed.is_some() {
            return ControlFlow::Break(());
        }
        let mut out: Vec<CellRef<'_>> = Vec::new();
        let found = visible(cells, &self.rows.limits, &Wanted::newest(), self.rows.now, |cell| {
            out.push(CellRef { family: CELLS, qualifier: cell.column, timestamp: cell.committed, value: cell.value });
            Ok(())
        });
        if let Err(error) = found {
            self.rows.failed = Some(error);
            return ControlFlow::Break(());
        }
        if out.is_empty() || !self.tests.iter().all(|test| test.passes(&out)) {
            return ControlFlow::Continue(());
        }
        if let Some(left) = &mut self.rows.left {
            *left = left.saturating_sub(1);
        }
        let flow = self.sink.row(key, &out);
        if self.rows.is_done() { ControlFlow::Break(()) } else { flow }
    }

    fn enough(&self) -> Enough {
        let of_sink = self.sink.enough();
        let rows = [self.rows.left, of_sink.rows].into_iter().flatten().min();
        Enough { rows, ..of_sink }
    }
}
