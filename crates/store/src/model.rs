//! The contract in its plainest form: ordered maps that keep every version of every cell for ever.
//!
//! [`ModelStore`] is the oracle of the conformance suite and of [`crate::mirror::Mirror`], and a store for tests of what lies
//! above. It favours being evidently right over speed and memory. What is visible is decided in one place, [`visible`].

use crate::clock::{Clock, SystemClock};
use crate::history::{self, History, HistorySink, HistorySpec, Version};
use crate::limits::check_mutation;
use crate::{
    BulkLoad, CellRef, Commit, FamilyId, FamilyOptions, KeyRange, Layout, MutationRef, Mutations, ReadSpec, Region, RowSink, Scan,
    ScanSpec, Snapshot, Store, StoreError, StoreResult, TableId, TableSchema, Timestamp, Watch, Watches,
};
use async_trait::async_trait;
use parking_lot::RwLock;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// The versions of one cell, oldest first; `None` is a deletion.
type Versions = Vec<(Timestamp, Option<Vec<u8>>)>;

#[derive(Debug, Default)]
struct Row {
    /// The newest commit that wrote the row, even if it left nothing.
    changed: Timestamp,
    cells: BTreeMap<(FamilyId, Vec<u8>), Versions>,
}

#[derive(Debug)]
struct Table {
    schema: TableSchema,
    rows: BTreeMap<Vec<u8>, Row>,
}

#[derive(Debug, Default)]
struct State {
    tables: BTreeMap<TableId, Table>,
    last: Timestamp,
    watches: Watches,
}

impl State {
    fn table(&self, id: TableId) -> StoreResult<&Table> {
        self.tables.get(&id).ok_or(StoreError::NoSuchTable(id.0))
    }

    fn table_mut(&mut self, id: TableId) -> StoreResult<&mut Table> {
        self.tables.get_mut(&id).ok_or(StoreError::NoSuchTable(id.0))
    }
}

/// A store in memory that forgets nothing.
#[derive(Clone, Debug)]
pub struct ModelStore {
    state: Arc<RwLock<State>>,
    clock: Arc<dyn Clock>,
}

impl Default for ModelStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelStore {
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    #[must_use]
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self { state: Arc::default(), clock }
    }

    /// Whether a commit would fail for a conflict now.
    #[must_use]
    pub fn would_conflict(&self, commit: &Commit<'_>) -> bool {
        conflicts(&self.state.read(), commit)
    }

    /// The error of a commit for its tables, families, keys and cells.
    ///
    /// # Errors
    /// As [`Store::commit`], except conflicts.
    pub fn check_tables(&self, mutations: &Mutations, validate: &[(TableId, KeyRange)]) -> StoreResult<()> {
        let state = self.state.read();
        validate.iter().try_for_each(|(table, _)| state.table(*table).map(|_| ()))?;
        mutations.iter().try_for_each(|m| check_mutation(&state.table(m.row().0)?.schema, &m))
    }

    /// Applies mutations at a timestamp of the caller's choice, which must be above all that were used before: for running the
    /// model in step with another store.
    ///
    /// # Errors
    /// As [`Store::commit`], except conflicts.
    pub fn apply_at(&self, mutations: &Mutations, at: Timestamp) -> StoreResult<()> {
        let mut state = self.state.write();
        if at <= state.last {
            return Err(StoreError::Invalid(format!("timestamp {} is not above {}", at.0, state.last.0)));
        }
        apply(&mut state, mutations, at)
    }
}

#[derive(Debug)]
struct ModelSnapshot {
    timestamp: Timestamp,
    /// The time of day that decides what has expired.
    taken_us: u64,
}

impl Snapshot for ModelSnapshot {
    fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The indexes into `versions` of what a read sees, newest first. The rules, in this order:
/// 1. Only what was committed at or below the snapshot.
/// 2. A deletion hides what is older.
/// 3. Of the rest, the newest `VERSIONS` exist; of these, those older than the TTL are gone unless among the newest `MIN_VERSIONS`.
/// 4. The read's own time range, then its own limit of versions.
fn visible(versions: &Versions, options: &FamilyOptions, snapshot: &ModelSnapshot, spec: &ReadSpec) -> Vec<usize> {
    let mut out = Vec::new();
    let below = versions.partition_point(|(timestamp, _)| *timestamp <= snapshot.timestamp);
    let live = (0..below).rev().take_while(|i| versions[*i].1.is_some());
    for (rank, i) in live.take(options.versions as usize).enumerate() {
        let timestamp = versions[i].0;
        if rank >= options.min_versions as usize && expired(timestamp, options, snapshot.taken_us) {
            break;
        }
        if spec.time_range.is_none_or(|(from, to)| from <= timestamp && timestamp < to) && out.len() < spec.versions as usize {
            out.push(i);
        }
    }
    out
}

/// Whether a cell of this age is past its family's TTL.
#[must_use]
pub fn expired(timestamp: Timestamp, options: &FamilyOptions, now_us: u64) -> bool {
    options.ttl.is_some_and(|ttl| {
        let ttl_us = u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX);
        timestamp.micros().saturating_add(ttl_us) <= now_us
    })
}

/// What stays gone when the options of a family change: cells up to this microsecond have expired, and the new options alone would bring
/// them back.
#[must_use]
pub fn stays_expired(before: &FamilyOptions, after: &FamilyOptions, now_us: u64) -> u64 {
    let ends_at = |options: &FamilyOptions| options.ttl.filter(|_| options.min_versions == 0);
    match (ends_at(before), ends_at(after)) {
        (Some(ttl), new) if new.is_none_or(|new| new > ttl) => now_us.saturating_sub(u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX)),
        _ => 0,
    }
}

/// Hands one row to the sink if it has a visible cell; `None` if it has not.
fn emit(table: &Table, key: &[u8], row: &Row, spec: &ReadSpec, sink: &mut dyn RowSink) -> StoreResult<Option<bool>> {
    let cells = cells(table, row, spec)?;
    Ok((!cells.is_empty()).then(|| sink.row(key, &cells).is_break()))
}

/// What a read sees of a row.
fn cells<'a>(table: &Table, row: &'a Row, spec: &ReadSpec) -> StoreResult<Vec<CellRef<'a>>> {
    let snapshot = own(&spec.snapshot)?;
    let mut cells = Vec::new();
    for family in &spec.families {
        let options = &table.schema.family(*family)?.options;
        let from = (*family, Vec::new());
        for ((_, qualifier), versions) in row.cells.range(from..).take_while(|((f, _), _)| f == family) {
            if options.layout == Layout::Cells && spec.qualifiers.as_ref().is_some_and(|q| !q.contains(qualifier)) {
                continue;
            }
            for i in visible(versions, options, snapshot, spec) {
                let (timestamp, Some(value)) = &versions[i] else { continue };
                cells.push(CellRef { family: *family, qualifier, timestamp: *timestamp, value });
            }
        }
    }
    Ok(cells)
}

fn own(snapshot: &Arc<dyn Snapshot>) -> StoreResult<&ModelSnapshot> {
    snapshot.as_any().downcast_ref().ok_or_else(|| StoreError::Invalid("the snapshot is another store's".into()))
}

fn conflicts(state: &State, commit: &Commit<'_>) -> bool {
    let Some(snapshot) = commit.snapshot else { return false };
    let changed = |table: &TableId, range: &KeyRange| {
        let rows = state.tables.get(table).map(|t| &t.rows).into_iter().flatten();
        rows.filter(|(key, _)| range.contains(key)).any(|(_, row)| row.changed > snapshot)
    };
    commit.mutations.iter().any(|m| {
        let (table, key) = m.row();
        state.tables.get(&table).and_then(|t| t.rows.get(key)).is_some_and(|row| row.changed > snapshot)
    }) || commit.validate.iter().any(|(table, range)| changed(table, range))
}

fn apply(state: &mut State, mutations: &Mutations, at: Timestamp) -> StoreResult<()> {
    for mutation in mutations.iter() {
        check_mutation(&state.table(mutation.row().0)?.schema, &mutation)?;
    }
    for mutation in mutations.iter() {
        let (table, key) = mutation.row();
        state.watches.row_changed(table, key, at);
        let row = state.table_mut(table)?.rows.entry(key.to_vec()).or_default();
        row.changed = at;
        match mutation {
            MutationRef::Put { family, qualifier, value, .. } => {
                record(row.cells.entry((family, qualifier.to_vec())).or_default(), at, Some(value.to_vec()));
            }
            MutationRef::DeleteCell { family, qualifier, .. } => {
                record(row.cells.entry((family, qualifier.to_vec())).or_default(), at, None);
            }
            MutationRef::DeleteFamily { family, .. } => {
                row.cells.iter_mut().filter(|((f, _), _)| *f == family).for_each(|(_, v)| record(v, at, None));
            }
            MutationRef::DeleteRow { .. } => row.cells.values_mut().for_each(|v| record(v, at, None)),
        }
    }
    state.last = at;
    Ok(())
}

/// Appends a version. One commit leaves the last one; a deletion before it still hides what earlier commits left.
fn record(versions: &mut Versions, at: Timestamp, value: Option<Vec<u8>>) {
    versions.retain(|(timestamp, old)| *timestamp != at || (old.is_none() && value.is_some()));
    versions.push((at, value));
}

struct ModelScan {
    state: Arc<RwLock<State>>,
    spec: ScanSpec,
    rest: KeyRange,
    left: u64,
}

#[async_trait]
impl Scan for ModelScan {
    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        self.rest = self.spec.range.intersect(part);
        Ok(())
    }

    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        let state = self.state.read();
        let table = state.table(self.spec.read.table)?;
        if self.rest.is_empty() {
            return Ok(false);
        }
        let end = self.rest.end.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rows = table.rows.range::<Vec<u8>, _>((Bound::Included(&self.rest.start), end));
        let mut pushed = 0;
        let mut stopped_at = None;
        while self.left > 0 && pushed < max_rows.max(1) {
            let Some((key, row)) = (if self.spec.reverse { rows.next_back() } else { rows.next() }) else {
                self.rest = KeyRange::empty();
                return Ok(false);
            };
            stopped_at = Some(key);
            if let Some(broke) = emit(table, key, row, &self.spec.read, sink)? {
                pushed += 1;
                self.left -= 1;
                if broke {
                    break;
                }
            }
        }
        if let Some(key) = stopped_at {
            if self.spec.reverse {
                self.rest.end = Some(key.clone());
            } else {
                self.rest.start = KeyRange::point(key).end.unwrap_or_default();
            }
        }
        Ok(self.left > 0)
    }
}

/// Tells at every change what a read of that time sees.
struct ModelHistory {
    state: Arc<RwLock<State>>,
    spec: HistorySpec,
    rest: KeyRange,
}

impl ModelHistory {
    fn versions<'a>(&self, table: &'a Table, row: &'a Row) -> StoreResult<Vec<Version<'a>>> {
        let snapshot = own(&self.spec.snapshot)?;
        let of_families = row.cells.iter().filter(|((family, _), _)| self.spec.families.contains(family));
        let times: BTreeSet<Timestamp> = of_families.flat_map(|(_, versions)| versions.iter().map(|(at, _)| *at)).collect();
        let mut out = Vec::new();
        for at in times.into_iter().take_while(|at| *at <= snapshot.timestamp) {
            let then: Arc<dyn Snapshot> = Arc::new(ModelSnapshot { timestamp: at, taken_us: snapshot.taken_us });
            let (table_id, families) = (self.spec.table, self.spec.families.clone());
            let read = ReadSpec { table: table_id, families, qualifiers: None, versions: 1, time_range: None, snapshot: then };
            history::push(&mut out, Timestamp::default(), Version { since: at, cells: cells(table, row, &read)? });
        }
        Ok(out)
    }
}

#[async_trait]
impl History for ModelHistory {
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn HistorySink) -> StoreResult<bool> {
        let state = Arc::clone(&self.state);
        let state = state.read();
        let table = state.table(self.spec.table)?;
        let rows = table.rows.iter().filter(|(key, _)| self.rest.contains(key));
        let mut pushed = 0;
        for (key, row) in rows {
            let versions = self.versions(table, row)?;
            if versions.is_empty() {
                continue;
            }
            pushed += 1;
            if sink.row(key, Timestamp::default(), &versions).is_break() || pushed >= max_rows.max(1) {
                self.rest.start = KeyRange::point(key).end.unwrap_or_default();
                return Ok(true);
            }
        }
        self.rest = KeyRange::empty();
        Ok(false)
    }
}

struct ModelBulkLoad {
    store: ModelStore,
    order: LoadOrder,
    mutations: Mutations,
}

/// What has come of a bulk load: checks the order in which the rest comes.
#[derive(Debug, Default)]
pub struct LoadOrder {
    tables: Vec<TableId>,
    done: Vec<TableId>,
    last_key: Vec<u8>,
}

impl LoadOrder {
    /// For a load into these tables.
    #[must_use]
    pub fn new(tables: &[TableId]) -> Self {
        Self { tables: tables.to_vec(), ..Self::default() }
    }

    /// # Errors
    /// [`StoreError::Invalid`] for a row that must not come now.
    pub fn next(&mut self, table: TableId, key: &[u8]) -> StoreResult<()> {
        if self.done.last() != Some(&table) {
            if !self.tables.contains(&table) || self.done.contains(&table) {
                return Err(StoreError::Invalid(format!("a bulk load does not take rows of table {} now", table.0)));
            }
            self.done.push(table);
        } else if key < self.last_key.as_slice() {
            return Err(StoreError::Invalid("the keys of a bulk load must not go down".into()));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        Ok(())
    }
}

#[async_trait]
impl BulkLoad for ModelBulkLoad {
    fn apply(&mut self, mutation: MutationRef<'_>) -> StoreResult<()> {
        let (table, key) = mutation.row();
        check_mutation(&self.store.state.read().table(table)?.schema, &mutation)?;
        self.order.next(table, key)?;
        self.mutations.push(mutation);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> StoreResult<Timestamp> {
        let mut state = self.store.state.write();
        let at = Timestamp::after(state.last, self.store.clock.now_us());
        apply(&mut state, &self.mutations, at)?;
        Ok(at)
    }
}

#[async_trait]
impl Store for ModelStore {
    async fn create_table(&self, schema: &TableSchema) -> StoreResult<()> {
        schema.check()?;
        let mut state = self.state.write();
        if state.tables.contains_key(&schema.id) {
            return Err(StoreError::TableExists(schema.id.0));
        }
        let mut schema = schema.clone();
        schema.split_points.sort();
        schema.split_points.dedup();
        state.tables.insert(schema.id, Table { schema, rows: BTreeMap::new() });
        Ok(())
    }

    async fn alter_table(&self, schema: &TableSchema) -> StoreResult<()> {
        schema.check()?;
        let mut state = self.state.write();
        let table = state.table_mut(schema.id)?;
        check_alteration(&table.schema, schema)?;
        let now_us = self.clock.now_us();
        for family in &schema.families {
            let Ok(before) = table.schema.family(family.id) else { continue };
            let gone = stays_expired(&before.options, &family.options, now_us);
            let cells = table.rows.values_mut().flat_map(|row| &mut row.cells).filter(|((of, _), _)| *of == family.id);
            cells.for_each(|(_, versions)| versions.retain(|(at, _)| at.micros() > gone));
        }
        for row in table.rows.values_mut() {
            row.cells.retain(|(family, _), _| schema.families.iter().any(|f| f.id == *family));
        }
        table.schema = schema.clone();
        table.schema.split_points.sort();
        table.schema.split_points.dedup();
        state.watches.range_changed(schema.id, &KeyRange::all(), Timestamp::default());
        Ok(())
    }

    async fn drop_table(&self, table: TableId) -> StoreResult<()> {
        let mut state = self.state.write();
        state.tables.remove(&table);
        state.watches.range_changed(table, &KeyRange::all(), Timestamp::default());
        Ok(())
    }

    async fn list_tables(&self) -> StoreResult<Vec<TableSchema>> {
        Ok(self.state.read().tables.values().map(|t| t.schema.clone()).collect())
    }

    async fn describe_table(&self, table: TableId) -> StoreResult<Option<TableSchema>> {
        Ok(self.state.read().tables.get(&table).map(|t| t.schema.clone()))
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<Region>> {
        let ranges = split_ranges(&self.state.read().table(table)?.schema.split_points);
        let mut regions = Vec::with_capacity(ranges.len());
        for range in ranges {
            let (approximate_bytes, approximate_rows) = self.approximate_size(table, &range).await?;
            regions.push(Region { range, approximate_bytes, approximate_rows, server: None, traffic: None });
        }
        Ok(regions)
    }

    async fn approximate_size(&self, table: TableId, range: &KeyRange) -> StoreResult<(u64, u64)> {
        let state = self.state.read();
        let (mut bytes, mut rows) = (0, 0);
        for (key, row) in state.table(table)?.rows.iter().filter(|(key, _)| range.contains(key)) {
            let cells = row.cells.values().filter_map(|v| v.last()?.1.as_ref());
            let size: usize = cells.map(|value| key.len() + value.len()).sum();
            bytes += size as u64;
            rows += u64::from(size > 0);
        }
        Ok((bytes, rows))
    }

    async fn split(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        let mut state = self.state.write();
        let points = &mut state.table_mut(table)?.schema.split_points;
        if let Err(place) = points.binary_search_by(|p| p.as_slice().cmp(at)) {
            points.insert(place, at.to_vec());
        }
        Ok(())
    }

    async fn unsplit(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        self.state.write().table_mut(table)?.schema.split_points.retain(|point| point != at);
        Ok(())
    }

    async fn flush(&self, table: TableId) -> StoreResult<()> {
        self.state.read().table(table).map(|_| ())
    }

    async fn compact(&self, table: TableId) -> StoreResult<()> {
        self.state.read().table(table).map(|_| ())
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        Arc::new(ModelSnapshot { timestamp: self.state.read().last, taken_us: self.clock.now_us() })
    }

    fn snapshot_at(&self, timestamp: Timestamp) -> StoreResult<Arc<dyn Snapshot>> {
        let timestamp = timestamp.min(self.state.read().last);
        Ok(Arc::new(ModelSnapshot { timestamp, taken_us: self.clock.now_us() }))
    }

    async fn get(&self, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
        let state = self.state.read();
        let table = state.table(spec.table)?;
        for key in keys {
            let Some(row) = table.rows.get(*key) else { continue };
            if emit(table, key, row, spec, sink)? == Some(true) {
                break;
            }
        }
        Ok(())
    }

    async fn scan(&self, spec: ScanSpec) -> StoreResult<Box<dyn Scan>> {
        let state = self.state.read();
        let table = state.table(spec.read.table)?;
        for family in &spec.read.families {
            table.schema.family(*family)?;
        }
        let (rest, left) = (spec.range.clone(), spec.limit.unwrap_or(u64::MAX));
        Ok(Box::new(ModelScan { state: Arc::clone(&self.state), spec, rest, left }))
    }

    async fn history(&self, spec: HistorySpec) -> StoreResult<Box<dyn History>> {
        history::check_families(&self.state.read().table(spec.table)?.schema, &spec.families)?;
        let rest = spec.range.clone();
        Ok(Box::new(ModelHistory { state: Arc::clone(&self.state), spec, rest }))
    }

    fn watch(&self, table: TableId, range: &KeyRange, snapshot: &Arc<dyn Snapshot>) -> Option<Arc<Watch>> {
        let from = own(snapshot).ok()?.timestamp;
        let mut state = self.state.write();
        let of = state.tables.get(&table)?;
        let lasts = |options: &FamilyOptions| options.versions == 1 && options.ttl.is_none();
        let unchanged = of.rows.iter().filter(|(key, _)| range.contains(key)).all(|(_, row)| row.changed <= from);
        let lasts = of.schema.families.iter().all(|f| lasts(&f.options));
        (unchanged && lasts).then(|| state.watches.add(table, range, from))
    }

    async fn commit(&self, commit: Commit<'_>) -> StoreResult<Timestamp> {
        self.check_tables(commit.mutations, commit.validate)?;
        let mut state = self.state.write();
        if conflicts(&state, &commit) {
            return Err(StoreError::Conflict);
        }
        let at = Timestamp::after(state.last, self.clock.now_us());
        apply(&mut state, commit.mutations, at)?;
        Ok(at)
    }

    fn rows_changed_since(&self, rows: &mut dyn Iterator<Item = (TableId, &[u8])>, since: Timestamp) -> bool {
        let state = self.state.read();
        for (table, key) in rows {
            if state.tables.get(&table).and_then(|t| t.rows.get(key)).is_some_and(|row| row.changed > since) {
                return true;
            }
        }
        false
    }

    async fn bulk_load(&self, tables: &[TableId]) -> StoreResult<Box<dyn BulkLoad>> {
        let state = self.state.read();
        tables.iter().try_for_each(|table| state.table(*table).map(|_| ()))?;
        Ok(Box::new(ModelBulkLoad { store: self.clone(), order: LoadOrder::new(tables), mutations: Mutations::new() }))
    }

    async fn backup(&self, _directory: &std::path::Path) -> StoreResult<Timestamp> {
        Err(StoreError::Invalid("the model store keeps nothing on disk".into()))
    }

    fn metrics(&self) -> Vec<(String, u64)> {
        let state = self.state.read();
        vec![("tables".into(), state.tables.len() as u64), ("rows".into(), state.tables.values().map(|t| t.rows.len() as u64).sum())]
    }
}

/// The layout of a family's rows can't be changed while it has rows: refused by every store.
///
/// # Errors
/// [`StoreError::Invalid`].
pub fn check_alteration(old: &TableSchema, new: &TableSchema) -> StoreResult<()> {
    for family in &new.families {
        if old.families.iter().any(|f| f.id == family.id && f.options.layout != family.options.layout) {
            return Err(StoreError::Invalid(format!("the layout of family {} cannot be changed", family.id.0)));
        }
    }
    Ok(())
}

/// The ranges between sorted split points; together they cover all keys.
#[must_use]
pub fn split_ranges(points: &[Vec<u8>]) -> Vec<KeyRange> {
    let starts = std::iter::once(Vec::new()).chain(points.iter().filter(|p| !p.is_empty()).cloned());
    let ends = points.iter().filter(|p| !p.is_empty()).cloned().map(Some).chain(std::iter::once(None));
    starts.zip(ends).map(|(start, end)| KeyRange::new(start, end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{Fixture, run};

    #[test]
    fn the_model_conforms() {
        run(&|clock| Fixture::new(Arc::new(ModelStore::with_clock(clock))));
    }

    #[test]
    fn split_points_make_ranges_that_cover_all_keys() {
        assert_eq!(split_ranges(&[]), [KeyRange::all()]);
        let ranges = split_ranges(&[b"".to_vec(), b"m".to_vec()]);
        assert_eq!(ranges, [KeyRange::new(vec![], Some(b"m".to_vec())), KeyRange::new(b"m".to_vec(), None)]);
    }
}
