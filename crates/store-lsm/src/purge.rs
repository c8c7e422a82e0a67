//! The janitor: removes the entries of dropped families once no view can see them, and flushes deletions that scans have met.
//!
//! A drop writes `purge/STORAGE` together with the table's record; the mark goes when the entries are gone, so that a
//! restart goes on where the last run stopped.

use crate::commit::Core;
use crate::database::write_error;
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::storage_bounds;
use crate::metadata::purge_key;
use crate::options::OptionClass;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;
use stoa_store::{Durability, StoreResult};

/// Deletions of ranges cost every reader of their memtable a little: small storages are emptied one entry at a time.
const MAX_DELETED_ONE_BY_ONE: usize = 1000;

#[derive(Debug)]
pub(crate) struct Purge {
    pub storage: u32,
    pub class: OptionClass,
    /// The newest view that may still show it.
    pub seen_by: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Janitor {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    purges: VecDeque<Purge>,
    closed: bool,
}

impl Janitor {
    pub fn add(&self, purges: impl IntoIterator<Item = Purge>) {
        self.state.lock().purges.extend(purges);
        self.wake.notify_all();
    }

    pub fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_all();
    }

    pub fn pending(&self) -> u64 {
        self.state.lock().purges.len() as u64
    }
}

/// Works until the store is closed.
pub(crate) fn run(core: &Weak<Core>) {
    while let Some(core) = core.upgrade() {
        let seen_by = {
            let mut state = core.janitor.state.lock();
            if state.purges.is_empty() && !state.closed {
                core.janitor.wake.wait_for(&mut state, Duration::from_secs(1));
            }
            if state.closed {
                return;
            }
            state.purges.front().map(|purge| purge.seen_by)
        };
        core.database.iterator_pool.retire();
        let column_families: Vec<_> = core.column_families.lock().values().map(Arc::clone).collect();
        for column_family in column_families {
            if let Err(error) = column_family.flush_deletions() {
                // Writers will be told as well; to read, it is not needed.
                tracing::warn!("deletions could not be flushed: {error}");
            }
        }
        let Some(seen_by) = seen_by else { continue };
        if !core.shared.retention.tracker.wait_until_gone(seen_by, Duration::from_millis(200)) {
            // Another one may be ready; this one has its turn again later.
            core.janitor.state.lock().purges.rotate_left(1);
            continue;
        }
        let Some(purge) = core.janitor.state.lock().purges.pop_front() else { continue };
        if let Err(error) = remove(&core, &purge) {
            tracing::warn!("storage {} could not be removed, it is tried again at the next start: {error}", purge.storage);
        }
    }
}

fn remove(core: &Arc<Core>, purge: &Purge) -> StoreResult<()> {
    let column_family = core.column_family(purge.class)?;
    let (lower, upper) = storage_bounds(purge.storage);
    let db = &core.database.db;
    // The end is inclusive, and the next storage may have a row with an empty key: so whole files up to a key that can only be
    // of this one, and a range deletion for the rest.
    let last = [lower.as_slice(), &[0xff; 32]].concat();
    db.delete_file_in_range_cf(&column_family.handle, &lower, &last).map_err(write_error)?;
    let bounds = Some((lower.clone(), upper.clone()));
    let mut iterator = OwnedIterator::new(&column_family, IteratorOptions { bounds, total_order: true, ..IteratorOptions::default() });
    iterator.seek_to_first();
    let mut batch = rocksdb::WriteBatch::default();
    while batch.len() < MAX_DELETED_ONE_BY_ONE && iterator.check()? {
        batch.delete_cf(&column_family.handle, iterator.key().unwrap_or_default());
        iterator.next();
    }
    if iterator.check()? {
        batch.clear();
        batch.delete_range_cf(&column_family.handle, &lower, &upper);
    }
    core.database.write(batch, Durability::Relaxed)?;
    let mut done = rocksdb::WriteBatch::default();
    done.delete(purge_key(purge.storage));
    core.database.write(done, Durability::Relaxed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::{LsmOptions, LsmStore};
    use stoa_store::conformance::{Rows, block_on};
    use stoa_store::{Commit, Durability, FamilyId, FamilyOptions, FamilySchema, Mutations, ReadSpec, Store, TableId, TableSchema};

    #[test]
    fn a_neighbour_with_an_empty_key_survives() {
        let directory = tempfile::tempdir().unwrap();
        let store = LsmStore::open(directory.path(), LsmOptions::default()).unwrap();
        let family = FamilySchema { id: FamilyId(0), name: "f".into(), options: FamilyOptions::default() };
        for id in [1, 2] {
            let schema = TableSchema { id: TableId(id), name: "t".into(), families: vec![family.clone()], split_points: vec![] };
            block_on(store.create_table(&schema)).unwrap();
        }
        let mut mutations = Mutations::new();
        mutations.put(TableId(1), b"k", FamilyId(0), b"", b"goes");
        mutations.put(TableId(2), b"", FamilyId(0), b"", b"stays");
        block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Sync })).unwrap();
        // One file below level 0 that ends in the neighbour's empty key.
        block_on(store.compact(TableId(1))).unwrap();
        block_on(store.drop_table(TableId(1))).unwrap();
        while store.metrics().iter().any(|(name, value)| name == "storages_to_remove" && *value > 0) {
            std::thread::yield_now();
        }
        let families = vec![FamilyId(0)];
        let read = ReadSpec { table: TableId(2), families, qualifiers: None, versions: 1, time_range: None, snapshot: store.snapshot() };
        let mut rows = Rows::default();
        block_on(store.get(&read, &[b""], &mut rows)).unwrap();
        assert_eq!(rows.rows.len(), 1);
    }
}
