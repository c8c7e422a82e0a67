//! What the tests share: owned rows, short forms of calls, a small random generator.

use super::block_on;
use crate::{
    CellRef, Commit, Durability, FamilyId, FamilyOptions, FamilySchema, HistorySink, HistorySpec, KeyRange, Mutations, ReadSpec, RowSink,
    ScanSpec, Snapshot, Store, StoreResult, TableId, TableSchema, Timestamp, Version, history,
};
use std::ops::ControlFlow;
use std::sync::Arc;

pub const T: TableId = TableId(1);
pub const U: TableId = TableId(2);
pub const F: FamilyId = FamilyId(0);
pub const G: FamilyId = FamilyId(1);

/// A cell that owns its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    pub family: FamilyId,
    pub qualifier: Vec<u8>,
    pub timestamp: Timestamp,
    pub value: Vec<u8>,
}

/// A sink that keeps what it gets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rows {
    pub rows: Vec<(Vec<u8>, Vec<Cell>)>,
    /// Break after each row whose number is divisible by this.
    pub break_every: Option<usize>,
}

fn owned(c: &CellRef<'_>) -> Cell {
    Cell { family: c.family, qualifier: c.qualifier.to_vec(), timestamp: c.timestamp, value: c.value.to_vec() }
}

fn borrowed(c: &Cell) -> CellRef<'_> {
    CellRef { family: c.family, qualifier: &c.qualifier, timestamp: c.timestamp, value: &c.value }
}

/// A row's history that owns its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowHistory {
    pub key: Vec<u8>,
    pub known_since: Timestamp,
    pub versions: Vec<(Timestamp, Vec<Cell>)>,
}

impl RowHistory {
    /// The same, known since a later time; what the row was then is as of that time.
    #[must_use]
    pub fn since(&self, known_since: Timestamp) -> RowHistory {
        let mut versions = Vec::new();
        for (since, cells) in &self.versions {
            let cells = cells.iter().map(borrowed).collect();
            history::push(&mut versions, known_since, Version { since: (*since).max(known_since), cells });
        }
        let versions = versions.iter().map(|v| (v.since, v.cells.iter().map(owned).collect())).collect();
        RowHistory { key: self.key.clone(), known_since, versions }
    }
}

/// A sink that keeps what it gets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histories {
    pub rows: Vec<RowHistory>,
}

impl HistorySink for Histories {
    fn row(&mut self, key: &[u8], known_since: Timestamp, versions: &[Version<'_>]) -> ControlFlow<()> {
        let versions = versions.iter().map(|v| (v.since, v.cells.iter().map(owned).collect())).collect();
        self.rows.push(RowHistory { key: key.to_vec(), known_since, versions });
        ControlFlow::Continue(())
    }
}

impl Histories {
    /// Hands all rows to another sink, until it breaks.
    pub fn replay(&self, sink: &mut dyn HistorySink) {
        for row in &self.rows {
            let versions: Vec<_> =
                row.versions.iter().map(|(since, cells)| Version { since: *since, cells: cells.iter().map(borrowed).collect() }).collect();
            if sink.row(&row.key, row.known_since, &versions).is_break() {
                break;
            }
        }
    }
}

/// The histories of a table's families, of the whole table.
pub fn histories(store: &dyn Store, snapshot: &Arc<dyn Snapshot>, table: TableId, families: &[FamilyId]) -> StoreResult<Histories> {
    let spec = HistorySpec { table, families: families.to_vec(), range: KeyRange::all(), snapshot: Arc::clone(snapshot) };
    let mut out = Histories::default();
    let mut history = block_on(store.history(spec))?;
    while block_on(history.next_block(3, &mut out))? {}
    Ok(out)
}

impl RowSink for Rows {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self.rows.push((key.to_vec(), cells.iter().map(owned).collect()));
        match self.break_every {
            Some(n) if self.rows.len().is_multiple_of(n) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Rows {
    pub fn keys(&self) -> Vec<&[u8]> {
        self.rows.iter().map(|(key, _)| key.as_slice()).collect()
    }

    /// Key and values of each row, as text.
    pub fn texts(&self) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let cell = |c: &Cell| if c.qualifier.is_empty() { text(&c.value) } else { format!("{}={}", text(&c.qualifier), text(&c.value)) };
        self.rows.iter().map(|(key, cells)| format!("{}:{}", text(key), cells.iter().map(cell).collect::<Vec<_>>().join(","))).collect()
    }
}

pub fn family(id: FamilyId, options: FamilyOptions) -> FamilySchema {
    FamilySchema { id, name: format!("f{}", id.0), options }
}

pub fn table(id: TableId, families: Vec<FamilyOptions>) -> TableSchema {
    let families = families.into_iter().enumerate().map(|(i, o)| family(FamilyId(i as u16), o)).collect();
    TableSchema { id, name: format!("t{}", id.0), families, split_points: vec![] }
}

pub fn create(store: &dyn Store, schema: &TableSchema) {
    block_on(store.create_table(schema)).unwrap();
}

pub fn commit_with(
    store: &dyn Store,
    snapshot: Option<Timestamp>,
    validate: &[(TableId, KeyRange)],
    fill: impl FnOnce(&mut Mutations),
) -> StoreResult<Timestamp> {
    let mut mutations = Mutations::new();
    fill(&mut mutations);
    block_on(store.commit(Commit { mutations: &mutations, snapshot, validate, durability: Durability::Sync }))
}

pub fn commit(store: &dyn Store, fill: impl FnOnce(&mut Mutations)) -> Timestamp {
    commit_with(store, None, &[], fill).unwrap()
}

/// Sets the packed cell of a row in the first family.
pub fn put(store: &dyn Store, key: &str, value: &str) -> Timestamp {
    commit(store, |m| m.put(T, key.as_bytes(), F, b"", value.as_bytes()))
}

pub fn read_spec(snapshot: &Arc<dyn Snapshot>, table: TableId, families: &[FamilyId]) -> ReadSpec {
    let snapshot = Arc::clone(snapshot);
    ReadSpec { table, families: families.to_vec(), qualifiers: None, versions: 1, time_range: None, snapshot }
}

pub fn scan_spec(read: ReadSpec, range: KeyRange) -> ScanSpec {
    ScanSpec { read, range, reverse: false, limit: None, fill_cache: true }
}

/// All rows of a scan, in blocks of some size.
pub fn run_scan(store: &dyn Store, spec: ScanSpec, max_rows: usize) -> StoreResult<Rows> {
    let mut rows = Rows::default();
    let mut scan = block_on(store.scan(spec))?;
    while block_on(scan.next_block(max_rows, &mut rows))? {}
    assert!(!block_on(scan.next_block(max_rows, &mut rows))?, "a scan that ended stays at its end");
    Ok(rows)
}

/// All rows of a table's families at a snapshot.
pub fn all_at(store: &dyn Store, snapshot: &Arc<dyn Snapshot>, table: TableId, families: &[FamilyId]) -> Rows {
    run_scan(store, scan_spec(read_spec(snapshot, table, families), KeyRange::all()), 100).unwrap()
}

/// All rows of the first family now, as text.
pub fn texts(store: &dyn Store) -> Vec<String> {
    all_at(store, &store.snapshot(), T, &[F]).texts()
}

pub fn get(store: &dyn Store, spec: &ReadSpec, keys: &[&[u8]]) -> StoreResult<Rows> {
    let mut rows = Rows::default();
    block_on(store.get(spec, keys, &mut rows))?;
    Ok(rows)
}

/// A small random generator: the same numbers for the same seed, on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.number() % n.max(1)
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, X>(&mut self, from: &'a [X]) -> &'a X {
        &from[self.below(from.len() as u64) as usize]
    }
}
