//! Reads at a snapshot: what is asked of HBase, what is laid over it, and what of that is visible.
//!
//! HBase is asked for the cells up to the snapshot's time; commits that it does not have yet are laid over, from memory; then the rules of
//! the families count: VERSIONS, MIN_VERSIONS and TTL are applied here, since HBase removes nothing by them. The order matters: memory is
//! looked at first, because what leaves it is in HBase by then.

use crate::commit::Core;
use crate::options::HbaseOptions;
use crate::pending::Changes;
use crate::tables::Table;
use crate::ticks::{Tick, first_millisecond};
use crate::views::HbaseSnapshot;
use crate::{failure::read_error, keys};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use stoa_hbase_client::{Action, Cell, Filter, Get, Row, Scan};
use stoa_store::{CellRef, FamilyId, KeyRange, ReadSpec, RowSink, StoreError, StoreResult, Timestamp};

/// Rows that are asked for at once.
const GETS: usize = 1000;

/// A family of a read.
#[derive(Debug)]
struct FamilyPlan {
    id: FamilyId,
    hbase: Bytes,
    is_packed: bool,
    /// See [`crate::tables::Family::since`].
    since: u64,
    versions: usize,
    min_versions: usize,
    ttl_us: Option<u64>,
    expired_us: u64,
    /// Cells before this millisecond are not visible, whatever the others are.
    from: u64,
}

impl FamilyPlan {
    /// The qualifier of ours that HBase has as this.
    fn ours<'a>(&self, qualifier: &'a [u8]) -> &'a [u8] {
        if self.is_packed { &[] } else { keys::from_hbase(qualifier) }
    }
}

/// What is read of rows, for gets and scans.
#[derive(Debug)]
pub(crate) struct ReadPlan {
    pub table: Arc<Table>,
    families: Vec<FamilyPlan>,
    pub tick: Tick,
    taken_us: u64,
    /// See [`HbaseSnapshot::seen_ms`].
    seen_ms: u64,
    versions: usize,
    time_range: Option<(Timestamp, Timestamp)>,
    qualifiers: Option<KeyRange>,
    /// Loads into the table: what stands at the time of the first counts as of the second, or not at all.
    loads: Vec<(Tick, Option<Tick>)>,
    /// Versions that HBase gives of each cell.
    fetched: u32,
    /// Whether HBase gives the cells of these qualifiers only.
    filters_qualifiers: bool,
}

impl ReadPlan {
    /// # Errors
    /// [`StoreError::NoSuchTable`], [`StoreError::Invalid`] for a family that is none, [`StoreError::SnapshotTooOld`].
    pub fn new(core: &Core, spec: &ReadSpec) -> StoreResult<ReadPlan> {
        let snapshot = HbaseSnapshot::of(&spec.snapshot)?;
        let table = core.table(spec.table)?;
        let mut families = Vec::with_capacity(spec.families.len());
        let asked = spec.versions.max(1);
        // The rank of a version counts those that are newer than the range as well.
        let all_ranks = spec.time_range.is_some_and(|(_, to)| to <= snapshot.tick.timestamp());
        let mut fetched = 1;
        // Those that have ended behind the snapshot, or not yet, are in the way of what is below them.
        let mut loads = core.loads.of(spec.table);
        loads.retain(|(begin, _)| *begin <= snapshot.tick);
        for (_, end) in &mut loads {
            *end = end.filter(|end| *end <= snapshot.tick);
        }
        let hidden = loads.iter().filter(|(_, end)| end.is_none()).count() as u32;
        for id in &spec.families {
            let family = table.family(*id)?;
            let options = &family.options;
            // Behind the last millisecond of which all has expired.
            let expired = family.expired_us(snapshot.taken_us);
            let asked_from = spec.time_range.map_or(0, |(from, _)| first_millisecond(from));
            let since = family.since.max(table.stored.since);
            // What a store that was taken over has sent late is not of this table, if it was made anew.
            let from = if expired > 0 { expired / 1000 + 1 } else { 0 }.max(asked_from);
            let loaded = loads.iter().filter(|(_, end)| end.is_some_and(|end| end.0 >= from)).map(|(begin, _)| begin.0);
            let from = loaded.fold(from, u64::min).max(since + 1);
            let versions = if all_ranks { options.versions } else { options.versions.min(asked) };
            fetched = fetched.max(versions.saturating_add(hidden));
            families.push(FamilyPlan {
                id: *id,
                hbase: family.hbase.clone(),
                is_packed: family.is_packed(),
                since,
                versions: options.versions as usize,
                min_versions: options.min_versions as usize,
                ttl_us: family.ttl_us,
                expired_us: family.expired_us,
                from,
            });
        }
        let filters_qualifiers = spec.qualifiers.is_some() && families.iter().all(|family| !family.is_packed);
        let plan = ReadPlan {
            families,
            tick: snapshot.tick,
            taken_us: snapshot.taken_us,
            seen_ms: snapshot.seen_ms,
            versions: asked as usize,
            time_range: spec.time_range,
            qualifiers: spec.qualifiers.clone(),
            loads,
            fetched: fetched.min(i32::MAX as u32),
            filters_qualifiers,
            table,
        };
        plan.check(core)?;
        Ok(plan)
    }

    /// To be asked before each call of HBase.
    ///
    /// # Errors
    /// [`StoreError::SnapshotTooOld`] if HBase may have removed what the snapshot sees; [`StoreError::Unavailable`] if this store has been
    /// taken over, so that there may be newer commits than it knows.
    pub fn check(&self, core: &Core) -> StoreResult<()> {
        core.check_owner()?;
        check_age_of(core, &self.table, self.seen_ms)
    }

    /// The families that HBase has something of, with the times that are asked for.
    fn asked(&self) -> impl Iterator<Item = (&Bytes, std::ops::Range<u64>)> {
        let end = self.tick.0 + 1;
        self.families.iter().filter(move |family| family.from < end).map(move |family| (&family.hbase, family.from..end))
    }

    /// Whether nothing can be found.
    pub fn is_empty(&self) -> bool {
        self.asked().next().is_none() || self.qualifiers.as_ref().is_some_and(|range| range.is_empty() && self.filters_qualifiers)
    }

    /// Whether each row that HBase gives is one that the reader gets, unless a later commit says otherwise.
    pub fn every_row_counts(&self) -> bool {
        let hidden = self.loads.iter().any(|(_, end)| end.is_none());
        !hidden && self.time_range.is_none() && (self.qualifiers.is_none() || self.filters_qualifiers)
    }

    /// Chooses cells by their qualifiers.
    pub fn filter(&self) -> Option<Filter> {
        let range = self.qualifiers.as_ref().filter(|_| self.filters_qualifiers)?;
        let (start, end) = keys::range_to_hbase(range);
        Some(Filter::column_range(Some(start), (!end.is_empty()).then_some(end)))
    }

    fn get(&self, key: &[u8]) -> Get {
        let get = Get::new(Bytes::copy_from_slice(&keys::to_hbase(key))).versions(self.fetched);
        let get = self.asked().fold(get, |get, (family, times)| get.family(family.clone()).family_time_range(family.clone(), times));
        match self.filter() {
            Some(filter) => get.filter(filter),
            None => get,
        }
    }

    /// A scan of these cells in all rows from a key to before another.
    pub fn scan(&self, start: Bytes, stop: Bytes) -> Scan {
        let scan = Scan::range(start, stop).versions(self.fetched);
        self.asked().fold(scan, |scan, (family, times)| scan.family(family.clone()).family_time_range(family.clone(), times))
    }

    /// When a cell of HBase was committed; `None` if it is not, as far as the snapshot sees.
    fn time_of(&self, cell: &Cell) -> Option<Tick> {
        let tick = tick_of(cell);
        self.loads.iter().find(|(begin, _)| *begin == tick).map_or(Some(tick), |(_, end)| *end)
    }

    fn chooses(&self, family: &FamilyPlan, qualifier: &[u8]) -> bool {
        family.is_packed || self.qualifiers.as_ref().is_none_or(|range| range.contains(qualifier))
    }

    /// Gives out the visible versions of one cell, which come newest first.
    fn visible<'a>(
        &self,
        family: &FamilyPlan,
        qualifier: &'a [u8],
        versions: impl Iterator<Item = (Tick, &'a [u8])>,
        out: &mut Vec<CellRef<'a>>,
    ) {
        let mut given = 0;
        for (rank, (tick, value)) in versions.take(family.versions).enumerate() {
            let expired = family.ttl_us.is_some_and(|ttl| tick.micros().saturating_add(ttl) <= self.taken_us);
            if given == self.versions || (expired && rank >= family.min_versions) || tick.micros() <= family.expired_us {
                break;
            }
            let timestamp = tick.timestamp();
            if self.time_range.is_none_or(|(from, to)| from <= timestamp && timestamp < to) {
                out.push(CellRef { family: family.id, qualifier, timestamp, value });
                given += 1;
            }
        }
    }

    /// What a reader sees of a row of HBase.
    pub fn cells_of<'a>(&self, row: &'a [Cell], out: &mut Vec<CellRef<'a>>) -> StoreResult<()> {
        out.clear();
        for family in &self.families {
            let start = row.iter().position(|cell| cell.family() == family.hbase).unwrap_or(row.len());
            let of_family = row.get(start..).unwrap_or_default();
            let end = of_family.iter().position(|cell| cell.family() != family.hbase).unwrap_or(of_family.len());
            let mut rest = of_family.get(..end).unwrap_or_default();
            while let Some(first) = rest.first() {
                let qualifier = first.qualifier();
                let count = rest.iter().position(|cell| cell.qualifier() != qualifier).unwrap_or(rest.len());
                let (versions, others) = rest.split_at(count);
                rest = others;
                let qualifier = family.ours(qualifier);
                if !self.chooses(family, qualifier) {
                    continue;
                }
                if versions.first().is_some_and(|cell| tick_of(cell) > self.tick) {
                    return Err(StoreError::Corruption("HBase gives cells that are newer than was asked for".into()));
                }
                let committed = versions.iter().filter_map(|cell| Some((self.time_of(cell)?, cell.value())));
                self.visible(family, qualifier, committed, out);
            }
        }
        Ok(())
    }

    /// What a reader sees of a row of HBase over which commits are laid.
    pub fn merged<'a>(&self, row: &'a [Cell], changes: &'a Changes, out: &mut Vec<CellRef<'a>>) {
        out.clear();
        for family in &self.families {
            let mut versions: BTreeMap<&[u8], BTreeMap<Tick, &[u8]>> = BTreeMap::new();
            for cell in row.iter().filter(|cell| cell.family() == family.hbase) {
                let Some(tick) = self.time_of(cell) else { continue };
                versions.entry(family.ours(cell.qualifier())).or_default().insert(tick, cell.value());
            }
            for (tick, change) in changes.iter().filter(|(tick, _)| tick.0 > family.since) {
                for of in change.families.iter().filter(|of| of.family == family.id) {
                    if of.cleared {
                        versions.values_mut().for_each(|of| *of = of.split_off(tick));
                    }
                    for cell in &of.cells {
                        let of = versions.entry(&cell.qualifier).or_default();
                        match &cell.value {
                            Some(value) => {
                                if cell.replaced {
                                    *of = of.split_off(tick);
                                }
                                of.insert(*tick, value);
                            }
                            None => *of = of.split_off(tick),
                        }
                    }
                }
            }
            for (qualifier, of) in versions {
                if self.chooses(family, qualifier) {
                    let from = Tick(family.from);
                    let newest_first = of.range(from..).rev().map(|(tick, value)| (*tick, *value));
                    // The order of borrows: what is pushed lives in the row or in the changes.
                    let newest_first: Vec<_> = newest_first.collect();
                    self.visible(family, qualifier, newest_first.into_iter(), out);
                }
            }
        }
    }
}

fn tick_of(cell: &Cell) -> Tick {
    Tick(u64::try_from(cell.timestamp()).unwrap_or(0))
}

/// # Errors
/// [`StoreError::SnapshotTooOld`] for a time of which HBase may have removed something.
pub(crate) fn check_age(core: &Core, seen_ms: u64, retention: Duration) -> StoreResult<()> {
    let horizon = u64::try_from(HbaseOptions::horizon(retention).as_millis()).unwrap_or(u64::MAX);
    let now_ms = core.options.clock.now_us() / 1000;
    if seen_ms.saturating_add(horizon) < now_ms { Err(StoreError::SnapshotTooOld) } else { Ok(()) }
}

/// As [`check_age`], of a table.
///
/// # Errors
/// As [`check_age`].
pub(crate) fn check_age_of(core: &Core, table: &Table, seen_ms: u64) -> StoreResult<()> {
    if seen_ms < table.stored.known_from_ms {
        return Err(StoreError::SnapshotTooOld);
    }
    check_age(core, seen_ms, Duration::from_millis(table.stored.retention_ms))
}

/// See [`stoa_store::Store::get`].
pub(crate) async fn get(core: &Core, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
    let plan = ReadPlan::new(core, spec)?;
    if plan.is_empty() {
        return Ok(());
    }
    for keys in keys.chunks(GETS) {
        plan.check(core)?;
        let changes: Vec<Changes> = {
            let pending = core.pending.read();
            keys.iter().map(|key| pending.of_row(spec.table, &keys::to_hbase(key), plan.tick)).collect()
        };
        let rows = rows_of(&plan, keys).await?;
        let mut cells = Vec::new();
        for ((key, row), changes) in keys.iter().zip(&rows).zip(&changes) {
            let found = row.as_ref().map(Row::cells).unwrap_or_default();
            if changes.is_empty() {
                plan.cells_of(found, &mut cells)?;
            } else {
                plan.merged(found, changes, &mut cells);
            }
            if !cells.is_empty() && sink.row(key, &cells) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn rows_of(plan: &ReadPlan, keys: &[&[u8]]) -> StoreResult<Vec<Option<Row>>> {
    if let [key] = keys {
        return Ok(vec![plan.table.handle.get(&plan.get(key)).await.map_err(read_error)?]);
    }
    let actions: Vec<Action> = keys.iter().map(|key| Action::Get(plan.get(key))).collect();
    let answers = plan.table.handle.batch(&actions).await;
    let rows: StoreResult<Vec<_>> = answers.into_iter().map(|answer| answer.map_err(read_error)).collect();
    let rows = rows?;
    for (key, row) in keys.iter().zip(&rows) {
        if row.as_ref().is_some_and(|row| row.key() != &*keys::to_hbase(key)) {
            return Err(StoreError::Corruption("a get is answered with another row".into()));
        }
    }
    Ok(rows)
}
