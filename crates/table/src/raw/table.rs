//! A raw table's rows and cells for who speaks HBase: all versions, times of one's own, changes of one row at a time. Tables of SQL are
//! read so as well, as the store has them.

use crate::catalog::{CELLS, TableDescriptor};
use crate::failure::store_error;
use crate::row::raw::visible::{garbage, visible};
use crate::row::raw::{CellKind, Limits, Visible, Wanted, cell, clock};
use crate::row::{ColumnSource, KeyList, RowCodec, ScanDecoder};
use crate::txn::{GroupId, LockStrength, LockWait, Transaction, Transactions, TxnOptions};
use arrow::array::ArrayRef;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stoa_pg::{PgError, PgResult};
use stoa_store::{CellRef, FamilyId, KeyRange, Mutations, ReadSpec, Region, Scan, ScanSpec, TableId, Timestamp};

/// One cell of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowCell {
    pub family: String,
    pub qualifier: Vec<u8>,
    /// Milliseconds since 1970.
    pub time: i64,
    pub kind: CellKind,
    pub value: Vec<u8>,
}

/// One row: its cells by family, qualifier, and from the newest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub key: Vec<u8>,
    pub cells: Vec<RowCell>,
}

/// One change of a row. A time of `None` is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    Put {
        family: String,
        qualifier: Vec<u8>,
        time: Option<i64>,
        value: Vec<u8>,
    },
    /// Hides cells; `kind` is none of [`CellKind::Put`]. The qualifier is empty where the kind is about a family.
    Delete {
        family: String,
        qualifier: Vec<u8>,
        time: Option<i64>,
        kind: CellKind,
    },
}

/// Cells of a column from which on a change of it removes those that no read gives any more.
const CELLS_OF_A_COLUMN: usize = 64;
/// Rows of one step of a scan.
const BLOCK_ROWS: usize = 256;
/// Bytes that a copy commits at a time, but for the last row's.
const COPIED_BYTES: usize = 4 << 20;

/// A table as HBase's programs see one.
#[derive(Debug)]
pub struct RawTable {
    transactions: Arc<Transactions>,
    table: Arc<TableDescriptor>,
}

impl RawTable {
    #[must_use]
    pub fn new(transactions: Arc<Transactions>, table: Arc<TableDescriptor>) -> Self {
        Self { transactions, table }
    }

    #[must_use]
    pub fn descriptor(&self) -> &Arc<TableDescriptor> {
        &self.table
    }

    fn family_id(&self, name: &str) -> Option<FamilyId> {
        self.table.families.iter().find(|f| f.id != CELLS && f.name == name).map(|f| f.id)
    }

    fn limits(&self) -> Limits {
        // What other programs' families keep, their cluster says with what it gives.
        if self.table.location().is_some() {
            return Limits::none(&RowCodec::table_schema(&self.table));
        }
        Limits::of(&RowCodec::table_schema(&self.table))
    }

    fn read_spec(&self) -> ReadSpec {
        let families = if self.table.is_raw() { vec![CELLS] } else { self.table.families.iter().map(|f| f.id).collect() };
        ReadSpec {
            table: self.table.storage,
            families,
            qualifiers: None,
            versions: if self.table.is_raw() && self.table.location().is_none() { 1 } else { u32::MAX },
            time_range: None,
            snapshot: self.transactions.store().snapshot(),
        }
    }

    /// Its regions, in the order of keys.
    ///
    /// # Errors
    /// The store failed.
    pub async fn regions(&self) -> PgResult<Vec<Region>> {
        self.transactions.store().regions(self.table.storage).await.map_err(store_error)
    }

    /// Opens a scan of the rows of a range.
    ///
    /// # Errors
    /// The store failed.
    pub async fn scan(&self, range: KeyRange, reverse: bool, wanted: &Wanted) -> PgResult<RawScan<'_>> {
        let spec = ScanSpec { read: self.read_spec(), range, reverse, limit: None, fill_cache: true };
        let scan = self.transactions.store().scan(spec).await.map_err(store_error)?;
        let reader = Reader { table: &self.table, limits: self.limits(), wanted: wanted.clone(), now: clock::now() };
        Ok(RawScan { scan, reader, more: true })
    }

    /// One row, if it has a cell that counts.
    ///
    /// # Errors
    /// As [`RawTable::scan`].
    pub async fn get(&self, key: &[u8], wanted: &Wanted) -> PgResult<Option<Row>> {
        let mut found = None;
        let reader = Reader { table: &self.table, limits: self.limits(), wanted: wanted.clone(), now: clock::now() };
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            found = Some(reader.row(key, cells));
            ControlFlow::Break(())
        };
        self.transactions.store().get(&self.read_spec(), &[key], &mut sink).await.map_err(store_error)?;
        found.map_or(Ok(None), |row| row)
    }

    /// The columns of a row of a table of SQL: one array each, of one value, in the order of [`TableDescriptor::visible_columns`], without maps.
    ///
    /// # Errors
    /// XX001 for a row that cannot be read.
    pub async fn typed(&self, key: &[u8]) -> PgResult<Option<Vec<ArrayRef>>> {
        let codec = RowCodec::of(&self.table)?;
        let columns: Vec<_> = self.table.live_columns().filter(|c| !c.hidden).map(|c| c.id).collect();
        let mut decoder = ScanDecoder::new(&ColumnSource::Table(codec), &columns, 1)?;
        let view = self.transactions.tables().newest();
        view.get(self.table.storage, decoder.families(), &[key], &mut decoder).await?;
        let rows = decoder.rows();
        let arrays = decoder.finish()?;
        Ok((rows == 1).then_some(arrays))
    }

    /// Changes one row, all at once. `decide` sees the newest values of the row and says what is to be changed; nobody else changes the
    /// row meanwhile.
    ///
    /// # Errors
    /// 42703 for a family that the table does not have; what `decide` says; locks and commits fail as they do.
    pub async fn change<T>(&self, key: &[u8], decide: impl FnOnce(Option<Row>) -> PgResult<(Vec<Change>, T)>) -> PgResult<T> {
        let txn = self.transactions.begin(TxnOptions::new(group()));
        let done = self.change_in(&txn, key, decide).await;
        match done {
            Ok(out) => {
                txn.commit().await?;
                Ok(out)
            }
            Err(error) => {
                txn.rollback().await;
                Err(error)
            }
        }
    }

    async fn change_in<T>(
        &self,
        txn: &Arc<Transaction>,
        key: &[u8],
        decide: impl FnOnce(Option<Row>) -> PgResult<(Vec<Change>, T)>,
    ) -> PgResult<T> {
        let mut keys = KeyList::new();
        keys.push(key);
        txn.start_statement().await?;
        txn.lock_rows(self.table.storage, &keys, LockStrength::Key, LockWait::Wait, &self.table.name).await?;
        let (stored, row) = self.stored(key).await?;
        let (changes, out) = decide(row)?;
        let mut cells: Vec<(Vec<u8>, Vec<u8>)> = Vec::with_capacity(changes.len());
        for change in changes {
            let family = |name: &str| self.family_id(name).ok_or_else(|| unknown_family(&self.table, name));
            cells.push(match change {
                Change::Put { family: name, qualifier, time, value } => {
                    let column = cell::column(family(&name)?, &qualifier);
                    (cell::qualifier(&column, time.unwrap_or_else(clock::time_of_put), CellKind::Put), value)
                }
                Change::Delete { family: name, qualifier, time, kind } => {
                    let column = cell::column(family(&name)?, &qualifier);
                    (cell::qualifier(&column, time.unwrap_or_else(clock::time_of_delete), kind), Vec::new())
                }
            });
        }
        let removed = self.outlived(&stored, &cells)?;
        txn.write(|set| {
            for qualifier in &removed {
                set.put(self.table.storage, key, CELLS, qualifier, None);
            }
            for (qualifier, value) in &cells {
                set.put(self.table.storage, key, CELLS, qualifier, Some(value));
            }
        })?;
        txn.end_statement();
        Ok(out)
    }

    /// The cells of a row as the store has them, and the newest values of it.
    async fn stored(&self, key: &[u8]) -> PgResult<(Vec<(Vec<u8>, Vec<u8>)>, Option<Row>)> {
        let reader = Reader { table: &self.table, limits: self.limits(), wanted: Wanted::newest(), now: clock::now() };
        let (mut stored, mut row) = (Vec::new(), Ok(None));
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            stored = cells.iter().map(|c| (c.qualifier.to_vec(), c.value.to_vec())).collect();
            row = reader.row(key, cells);
            ControlFlow::Break(())
        };
        self.transactions.store().get(&self.read_spec(), &[key], &mut sink).await.map_err(store_error)?;
        Ok((stored, row?))
    }

    /// What is to be removed of columns that have many cells.
    fn outlived(&self, stored: &[(Vec<u8>, Vec<u8>)], changed: &[(Vec<u8>, Vec<u8>)]) -> PgResult<Vec<Vec<u8>>> {
        let mut out = Vec::new();
        for (qualifier, _) in changed {
            let column = cell::parse(qualifier)?.column;
            let of_column = |(q, _): &&(Vec<u8>, Vec<u8>)| cell::parse(q).is_ok_and(|p| p.column == column);
            if stored.iter().filter(of_column).count() >= CELLS_OF_A_COLUMN {
                let cells = as_cells(stored);
                // Deletions stay: only a compaction takes them.
                let gone = garbage(&cells, &self.limits(), clock::now(), 0)?;
                out.extend(gone.into_iter().filter_map(|at| stored.get(at)).filter(of_column).map(|(q, _)| q.clone()));
            }
        }
        Ok(out)
    }

    /// Removes what no read gives any more, deletions included, from the rows of the table; gives the number of cells removed. A
    /// deletion of the last moment stays.
    ///
    /// # Errors
    /// The store failed; XX001 for cells that cannot be read.
    pub async fn compact(&self) -> PgResult<u64> {
        let mut removed = 0;
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let spec = ScanSpec { read: self.read_spec(), range: KeyRange::all(), reverse: false, limit: None, fill_cache: false };
        let mut scan = self.transactions.store().scan(spec).await.map_err(store_error)?;
        let (limits, now) = (self.limits(), clock::now());
        loop {
            let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
                if garbage(cells, &limits, now, now).is_ok_and(|gone| !gone.is_empty()) {
                    keys.push(key.to_vec());
                }
                ControlFlow::Continue(())
            };
            let more = scan.next_block(BLOCK_ROWS, &mut sink).await.map_err(store_error)?;
            for key in keys.drain(..) {
                removed += self.compact_row(&key, now).await?;
            }
            if !more {
                return Ok(removed);
            }
        }
    }

    /// Writes all cells of a raw table, as the store has them now, to a table of the store that nobody else sees yet. `check` is asked before
    /// each piece is written.
    ///
    /// # Errors
    /// The store failed; what `check` says.
    pub async fn copy_to(&self, to: TableId, check: impl Fn() -> PgResult<()>) -> PgResult<()> {
        let spec = ScanSpec { read: self.read_spec(), range: KeyRange::all(), reverse: false, limit: None, fill_cache: false };
        let mut scan = self.transactions.store().scan(spec).await.map_err(store_error)?;
        let mut piece = Mutations::new();
        loop {
            let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
                cells.iter().for_each(|cell| piece.put(to, key, CELLS, cell.qualifier, cell.value));
                if piece.bytes() < COPIED_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let more = scan.next_block(BLOCK_ROWS, &mut sink).await.map_err(store_error)?;
            if !piece.is_empty() && (!more || piece.bytes() >= COPIED_BYTES) {
                check()?;
                self.transactions.tables().write(&piece).await?;
                piece.clear();
            }
            if !more {
                return Ok(());
            }
        }
    }

    async fn compact_row(&self, key: &[u8], keep_from: i64) -> PgResult<u64> {
        let txn = self.transactions.begin(TxnOptions::new(group()));
        let mut keys = KeyList::new();
        keys.push(key);
        let work = async {
            txn.start_statement().await?;
            txn.lock_rows(self.table.storage, &keys, LockStrength::Key, LockWait::Wait, &self.table.name).await?;
            let (stored, _) = self.stored(key).await?;
            let gone = garbage(&as_cells(&stored), &self.limits(), clock::now(), keep_from)?;
            txn.write(|set| {
                if gone.len() == stored.len() {
                    set.delete(self.table.storage, key);
                } else {
                    for (qualifier, _) in gone.iter().filter_map(|at| stored.get(*at)) {
                        set.put(self.table.storage, key, CELLS, qualifier, None);
                    }
                }
            })?;
            txn.end_statement();
            Ok(gone.len() as u64)
        };
        let done: PgResult<u64> = work.await;
        match done {
            Ok(removed) => {
                txn.commit().await?;
                Ok(removed)
            }
            Err(error) => {
                txn.rollback().await;
                Err(error)
            }
        }
    }
}

/// An open scan.
pub struct RawScan<'a> {
    scan: Box<dyn Scan>,
    reader: Reader<'a>,
    more: bool,
}

impl RawScan<'_> {
    /// The next rows, some of them; `None` at the end. Rows without a cell that counts are passed over.
    ///
    /// # Errors
    /// The store failed; XX001 for cells that cannot be read.
    pub async fn next_block(&mut self) -> PgResult<Option<Vec<Row>>> {
        while self.more {
            let (mut rows, mut failed) = (Vec::new(), None);
            let reader = &self.reader;
            let mut sink = |key: &[u8], cells: &[CellRef<'_>]| match reader.row(key, cells) {
                Ok(row) => {
                    rows.extend(row);
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            };
            self.more = self.scan.next_block(BLOCK_ROWS, &mut sink).await.map_err(store_error)?;
            if let Some(error) = failed {
                return Err(error);
            }
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }
}

/// The transactions of raw changes are no session's, and wait for each other.
fn group() -> GroupId {
    static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);
    GroupId(NEXT.fetch_sub(1, Ordering::Relaxed))
}

fn as_cells(stored: &[(Vec<u8>, Vec<u8>)]) -> Vec<CellRef<'_>> {
    stored.iter().map(|(qualifier, value)| CellRef { family: CELLS, qualifier, timestamp: Timestamp(0), value }).collect()
}

fn unknown_family(table: &TableDescriptor, name: &str) -> PgError {
    let message = format!("family \"{name}\" of relation \"{}\" does not exist", table.name);
    PgError::new(stoa_pg::SqlState::UNDEFINED_OBJECT, message)
}

/// Makes rows of what the store gives.
struct Reader<'a> {
    table: &'a TableDescriptor,
    limits: Limits,
    wanted: Wanted,
    now: i64,
}

impl Reader<'_> {
    fn family(&self, id: FamilyId) -> String {
        self.table.families.iter().find(|f| f.id == id).map(|f| f.name.clone()).unwrap_or_default()
    }

    fn row(&self, key: &[u8], cells: &[CellRef<'_>]) -> PgResult<Option<Row>> {
        let mut out: Vec<RowCell> = Vec::new();
        if self.table.is_raw() {
            visible(cells, &self.limits, &self.wanted, self.now, |found: Visible<'_>| {
                let qualifier = cell::qualifier_of(found.column)?.into_owned();
                let family = self.family(found.family);
                out.push(RowCell { family, qualifier, time: found.time, kind: found.kind, value: found.value.to_vec() });
                Ok(())
            })?;
            // Families are in the order of their names.
            out.sort_by(|a, b| a.family.cmp(&b.family));
        } else {
            let mut count = 0;
            let mut last: Option<(FamilyId, &[u8])> = None;
            for cell in cells {
                count = if last == Some((cell.family, cell.qualifier)) { count + 1 } else { 1 };
                last = Some((cell.family, cell.qualifier));
                let time = i64::try_from(cell.timestamp.micros() / 1000).unwrap_or(i64::MAX);
                if count <= self.wanted.versions && time >= self.wanted.times.0 && time < self.wanted.times.1 {
                    let (family, qualifier, value) = (self.family(cell.family), cell.qualifier.to_vec(), cell.value.to_vec());
                    out.push(RowCell { family, qualifier, time, kind: CellKind::Put, value });
                }
            }
        }
        Ok((!out.is_empty()).then(|| Row { key: key.to_vec(), cells: out }))
    }
}
