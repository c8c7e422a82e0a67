//! Histories of rows: all versions and markers that HBase has of them, with the commits that it does not have yet laid over.
//!
//! What was replaced or deleted stays for the retention, so that every row is known since the horizon of reads. A marker at an odd time
//! says when what a put replaces ended; it counts as of the put.

use crate::commit::Core;
use crate::failure::read_error;
use crate::keys::{from_hbase, range_to_hbase};
use crate::options::HbaseOptions;
use crate::pending::{Batch, Changes};
use crate::read::check_age_of;
use crate::tables::Table;
use crate::ticks::Tick;
use crate::views::HbaseSnapshot;
use async_trait::async_trait;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use stoa_hbase_client::{Cell, CellKind, Row, Scan, Scanner};
use stoa_store::history::{Change, check_families, versions};
use stoa_store::{History, HistorySink, HistorySpec, StoreError, StoreResult, Timestamp};

/// A family that is read.
struct OfFamily {
    /// Its place in the table.
    at: usize,
    /// Cells up to this millisecond are none of its own, or have expired.
    since: u64,
}

pub(crate) struct HbaseHistory {
    core: Arc<Core>,
    table: Arc<Table>,
    spec: HistorySpec,
    families: Vec<OfFamily>,
    tick: Tick,
    seen_ms: u64,
    known_since: Timestamp,
    /// Commits to be laid over, by key.
    over: VecDeque<(bytes::Bytes, Changes)>,
    scanner: Option<Scanner>,
    rows: VecDeque<Row>,
}

impl HbaseHistory {
    pub fn open(core: &Arc<Core>, spec: HistorySpec) -> StoreResult<HbaseHistory> {
        let snapshot = HbaseSnapshot::of(&spec.snapshot)?;
        let table = core.table(spec.table)?;
        check_families(&table.schema, &spec.families)?;
        let horizon =
            u64::try_from(HbaseOptions::horizon(Duration::from_millis(table.stored.retention_ms)).as_millis()).unwrap_or(u64::MAX);
        let mut known_ms = (core.options.clock.now_us() / 1000).saturating_sub(horizon).max(table.stored.known_from_ms);
        let mut families = Vec::with_capacity(spec.families.len());
        for id in &spec.families {
            let family = table.family(*id)?;
            let at = table.families.iter().position(|f| f.id == *id).unwrap_or_default();
            let expired_ms = family.expired_us(snapshot.taken_us) / 1000;
            known_ms = known_ms.max(expired_ms);
            families.push(OfFamily { at, since: family.since.max(table.stored.since).max(expired_ms) });
        }
        let mut over = Batch::new();
        let mut scanner = None;
        if !spec.range.is_empty() && !spec.families.is_empty() {
            let (start, end) = range_to_hbase(&spec.range);
            core.pending.read().of_range(spec.table, &start, &end, snapshot.tick, &mut over);
            let scan = Scan::range(start, end).raw().versions(i32::MAX as u32).time_range(0..snapshot.tick.0 + 1).uncached();
            let names = families.iter().filter_map(|own| table.families.get(own.at)).map(|family| family.hbase.clone());
            scanner = Some(table.handle.scan(names.fold(scan, Scan::family)));
        }
        let (tick, seen_ms) = (snapshot.tick, snapshot.seen_ms);
        let known_since = Timestamp::from_micros(known_ms.saturating_mul(1000));
        let (over, rows, core) = (over.into(), VecDeque::new(), Arc::clone(core));
        Ok(HbaseHistory { core, table, spec, families, tick, seen_ms, known_since, over, scanner, rows })
    }

    /// The next row of HBase or of what is laid over it, or of both.
    async fn next_row(&mut self) -> StoreResult<Option<(Option<Row>, Option<(bytes::Bytes, Changes)>)>> {
        while self.rows.is_empty()
            && let Some(scanner) = &mut self.scanner
        {
            self.core.check_owner()?;
            check_age_of(&self.core, &self.table, self.seen_ms)?;
            match scanner.next_batch().await.map_err(read_error)? {
                Some(rows) => self.rows = rows.into(),
                None => self.scanner = None,
            }
        }
        let order = match (self.rows.front(), self.over.front()) {
            (Some(row), Some((key, _))) => row.key().cmp(key),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return Ok(None),
        };
        let row = if order.is_le() { self.rows.pop_front() } else { None };
        let over = if order.is_ge() { self.over.pop_front() } else { None };
        Ok(Some((row, over)))
    }

    fn add_cell(&self, cell: &Cell, out: &mut Vec<Change>) -> StoreResult<()> {
        let named = |own: &&OfFamily| self.table.families.get(own.at).is_some_and(|family| family.hbase == cell.family());
        let Some(number) = self.families.iter().position(|own| named(&own)) else { return Ok(()) };
        let family = self.families.get(number).and_then(|own| Some((own, self.table.families.get(own.at)?)));
        let Some((own, family)) = family else { return Ok(()) };
        let ms = u64::try_from(cell.timestamp()).unwrap_or(0);
        let at = Tick(ms.saturating_add(ms % 2));
        if at.0 <= own.since || at > self.tick {
            return Ok(());
        }
        let name = || Some(if family.is_packed() { Box::default() } else { Box::from(from_hbase(cell.qualifier())) });
        let (qualifier, value) = match cell.kind() {
            CellKind::Put => (name(), Some(Box::from(cell.value()))),
            CellKind::DeleteColumn => (name(), None),
            CellKind::DeleteFamily => (None, None),
            CellKind::Delete | CellKind::DeleteFamilyVersion => {
                return Err(StoreError::Corruption("a marker of a kind that this program does not write".into()));
            }
        };
        out.push(Change { at: at.timestamp(), family: number, qualifier, value });
        Ok(())
    }

    fn add_changes(&self, changes: &Changes, out: &mut Vec<Change>) {
        for (number, own) in self.families.iter().enumerate() {
            let Some(family) = self.table.families.get(own.at) else { continue };
            for (tick, change) in changes.iter().filter(|(tick, _)| tick.0 > own.since) {
                let at = tick.timestamp();
                for of in change.families.iter().filter(|of| of.family == family.id) {
                    if of.cleared {
                        out.push(Change { at, family: number, qualifier: None, value: None });
                    }
                    let cells = of.cells.iter().map(|cell| {
                        let value = cell.value.as_deref().map(Box::from);
                        Change { at, family: number, qualifier: Some(Box::from(&*cell.qualifier)), value }
                    });
                    out.extend(cells);
                }
            }
        }
    }
}

#[async_trait]
impl History for HbaseHistory {
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn HistorySink) -> StoreResult<bool> {
        let mut pushed = 0;
        while pushed < max_rows.max(1) {
            let Some((row, over)) = self.next_row().await? else { return Ok(false) };
            let mut changes = Vec::new();
            for cell in row.as_ref().map(Row::cells).unwrap_or_default() {
                self.add_cell(cell, &mut changes)?;
            }
            if let Some((_, over)) = &over {
                self.add_changes(over, &mut changes);
            }
            let key = row.as_ref().map(Row::key).or_else(|| over.as_ref().map(|(key, _)| &**key)).unwrap_or_default();
            let versions = versions(&mut changes, &self.spec.families, self.known_since);
            if versions.is_empty() {
                continue;
            }
            pushed += 1;
            if sink.row(from_hbase(key), self.known_since, &versions).is_break() {
                break;
            }
        }
        Ok(true)
    }
}
