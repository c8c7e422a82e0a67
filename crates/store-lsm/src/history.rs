//! Histories of rows: all entries of a row that are kept, its deletions among them.
//!
//! Invariant: a row is known from as early as [`crate::scan`] reads it at a time in the past: as long as fewer than VERSIONS newer entries
//! of a cell were seen, and no longer than its families' TTL. What compaction has not taken yet counts as gone.

use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::{STORAGE_ID_BYTES, VALUE_DELETED, VersionedKey, push_unescaped, row_range};
use crate::scan::{READAHEAD_BYTES, damaged};
use crate::view::{Family, LsmSnapshot, Table};
use async_trait::async_trait;
use std::sync::Arc;
use stoa_store::history::{Change, check_families, versions};
use stoa_store::{FamilyId, History, HistorySink, HistorySpec, Snapshot, StoreError, StoreResult, Timestamp};

/// The entries of a family, on one of which it stands.
struct Entries {
    iterator: OwnedIterator,
    table: Arc<Table>,
    /// Which of the table's families.
    at: usize,
    /// No row is known before.
    known_since: Timestamp,
    /// What has expired, whatever followed it.
    expired_to: u64,
}

impl Entries {
    fn family(&self) -> StoreResult<&Family> {
        self.table.families.get(self.at).ok_or_else(|| StoreError::Invalid("a family is gone".into()))
    }

    /// The row that it stands on, escaped and closed; `None` at the end.
    fn row(&self) -> StoreResult<Option<&[u8]>> {
        if !self.iterator.check()? {
            return Ok(None);
        }
        let family = self.family()?;
        let key = self.iterator.key().unwrap_or_default();
        let parsed = VersionedKey::parse(key, family.form).ok_or_else(|| damaged(family.storage))?;
        Ok(parsed.row.get(STORAGE_ID_BYTES..))
    }
}

pub(crate) struct LsmHistory {
    entries: Vec<Entries>,
    families: Vec<FamilyId>,
    /// Keeps the view alive.
    snapshot: Arc<dyn Snapshot>,
    row: Vec<u8>,
    changes: Vec<Change>,
}

impl LsmHistory {
    /// `table` is `None` if it did not exist at the snapshot: no rows.
    pub fn open(spec: &HistorySpec, snapshot: &LsmSnapshot, table: Option<&Arc<Table>>) -> StoreResult<Self> {
        let mut entries = Vec::with_capacity(spec.families.len());
        if let Some(table) = table {
            check_families(&table.schema, &spec.families)?;
            for id in spec.families.iter().filter(|_| !spec.range.is_empty()) {
                let family = table.family(*id)?;
                snapshot.check_history(table, family)?;
                let bounds = row_range(family.storage, family.form, &spec.range.start, spec.range.end.as_deref());
                let options = IteratorOptions {
                    snapshot: Some(&snapshot.view.snapshot),
                    bounds: Some(bounds),
                    keep_cache: true,
                    readahead: READAHEAD_BYTES,
                    total_order: true,
                    ..IteratorOptions::default()
                };
                let mut iterator = OwnedIterator::new(&family.column_family, options);
                iterator.seek_to_first();
                let horizon = family.ttl_us.map(|ttl| snapshot.taken_us.saturating_sub(ttl));
                let at = table.families.iter().position(|f| f.id == *id).unwrap_or_default();
                // All commits of the last microsecond of which something may have gone count.
                let of_age = horizon.map_or(Timestamp::default(), |us| Timestamp(Timestamp::from_micros(us.saturating_add(1)).0 - 1));
                entries.push(Entries {
                    iterator,
                    table: Arc::clone(table),
                    at,
                    known_since: family.since.max(of_age),
                    expired_to: horizon.filter(|_| family.options.min_versions == 0).unwrap_or(0).max(family.expired_us),
                });
            }
        }
        let (families, snapshot) = (spec.families.clone(), Arc::clone(&spec.snapshot));
        Ok(Self { entries, families, snapshot, row: Vec::new(), changes: Vec::new() })
    }

    /// Gathers the changes of the next row, whose key is `self.row` then; since when it is known. `None` at the end.
    fn next_row(&mut self) -> StoreResult<Option<Timestamp>> {
        let Self { entries, row, changes, snapshot, .. } = self;
        changes.clear();
        let mut least: Option<&[u8]> = None;
        for own in entries.iter() {
            if let Some(key) = own.row()?
                && least.is_none_or(|least| key < least)
            {
                least = Some(key);
            }
        }
        let Some(least) = least else { return Ok(None) };
        row.clear();
        row.extend_from_slice(least);
        let snapshot = LsmSnapshot::of(snapshot)?;
        let mut known_since = Timestamp::default();
        for (family, own) in entries.iter_mut().enumerate() {
            known_since = known_since.max(gather(own, family, row, snapshot, changes)?);
        }
        // What is there now is known, also where nothing has been committed for longer than the past is kept.
        if known_since > snapshot.timestamp && snapshot.is_past() {
            return Err(StoreError::SnapshotTooOld);
        }
        Ok(Some(known_since))
    }
}

/// Adds the changes of a row's family; since when they are all there are.
fn gather(own: &mut Entries, number: usize, row: &[u8], snapshot: &LsmSnapshot, changes: &mut Vec<Change>) -> StoreResult<Timestamp> {
    let table = Arc::clone(&own.table);
    let family = table.families.get(own.at).ok_or_else(|| StoreError::Invalid("a family is gone".into()))?;
    let (form, storage, limit) = (family.form, family.storage, family.options.versions as usize);
    let mut known_since = own.known_since;
    // The times of the family's deletions, and of the entries of the cell that is read, newest first.
    let (mut marks, mut times): (Vec<Timestamp>, Vec<Timestamp>) = (Vec::new(), Vec::new());
    let mut qualifier: Option<Vec<u8>> = None;
    while own.row()? == Some(row) {
        let Some((key, value)) = own.iterator.item() else { break };
        let parsed = VersionedKey::parse(key, form).ok_or_else(|| damaged(storage))?;
        let (kind, bytes) = value.split_first().ok_or_else(|| damaged(storage))?;
        let at = snapshot.view.tables.visible_since(parsed.timestamp);
        let newer = match parsed.qualifier {
            None => {
                marks.push(at);
                marks.len() - 1
            }
            Some(of) => {
                if qualifier.as_deref() != Some(of) {
                    known_since = known_since.max(all_since(&times, &marks, family));
                    times.clear();
                    qualifier = Some(of.to_vec());
                }
                times.push(at);
                times.len() - 1 + marks.iter().take_while(|mark| **mark > at).count()
            }
        };
        if newer < limit && at <= snapshot.timestamp && at.micros() > own.expired_to {
            let name = parsed.qualifier.map(|escaped| {
                let mut name = Vec::with_capacity(escaped.len());
                push_unescaped(&mut name, escaped);
                name.into_boxed_slice()
            });
            let value = (*kind != VALUE_DELETED).then(|| Box::from(bytes));
            changes.push(Change { at, family: number, qualifier: name, value });
        }
        own.iterator.next();
    }
    Ok(known_since.max(all_since(&times, &marks, family)))
}

/// Of a cell's entries and its family's deletions, the time of the last one that counts: what was before may be gone.
fn all_since(times: &[Timestamp], marks: &[Timestamp], family: &Family) -> Timestamp {
    let least = family.kept.first().map_or(family.options.versions, |kept| kept.versions);
    if times.len() + marks.len() < least as usize {
        return Timestamp::default();
    }
    let mut all: Vec<Timestamp> = times.iter().chain(marks).copied().collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    let last = |versions: u32, until: Timestamp| all.iter().filter(|at| **at <= until).nth((versions as usize).saturating_sub(1));
    let of_kept = family.kept.iter().filter_map(|kept| last(kept.versions, kept.until));
    of_kept.chain(last(family.options.versions, Timestamp(u64::MAX))).max().copied().unwrap_or_default()
}

#[async_trait]
impl History for LsmHistory {
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn HistorySink) -> StoreResult<bool> {
        let mut pushed = 0;
        let mut key = Vec::new();
        while pushed < max_rows.max(1) {
            let Some(known_since) = self.next_row()? else { return Ok(false) };
            let versions = versions(&mut self.changes, &self.families, known_since);
            if versions.is_empty() {
                continue;
            }
            key.clear();
            push_unescaped(&mut key, &self.row);
            pushed += 1;
            if sink.row(&key, known_since, &versions).is_break() {
                break;
            }
        }
        Ok(true)
    }
}
