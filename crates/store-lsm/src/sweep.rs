//! Removing deletions that no longer hide anything, as a part of compacting a table.
//!
//! In versioned families a deletion is an entry of its own, and must stay as long as older entries may lie below it in other
//! files; a compaction filter cannot know. So compacting a table walks over its rows once and removes, with RocksDB's own
//! deletes (which respect snapshots), what was hidden for everyone who may still ask.

use crate::commit::Core;
use crate::database::write_error;
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::{Form, VALUE_DELETED, VersionedKey, storage_bounds};
use crate::view::{Family, Table};
use rocksdb::{BottommostLevelCompaction, CompactOptions, WriteBatch};
use stoa_store::{Durability, StoreError, StoreResult, Timestamp};

const BATCH_ENTRIES: usize = 1000;

impl Core {
    /// Compacts the entries of a family down to the last level.
    pub fn compact(&self, family: &Family) -> StoreResult<()> {
        let (lower, upper) = storage_bounds(family.storage);
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        options.set_exclusive_manual_compaction(false);
        let db = &self.database.db;
        db.flush_cf(&family.column_family.handle).map_err(write_error)?;
        db.compact_range_cf_opt(&family.column_family.handle, Some(&lower), Some(&upper), &options);
        Ok(())
    }

    /// Removes deletions, and what they hide, that are older than every time at which the family can be read.
    pub fn sweep(&self, table: &Table, family: &Family) -> StoreResult<()> {
        if family.form == Form::Plain {
            return Ok(());
        }
        let Some(oldest) = self.shared.retention.tracker.oldest() else { return Ok(()) };
        let limit = match (family.options.versions, family.options.min_versions, family.ttl_us) {
            (1, ..) => oldest.timestamp,
            (_, 1.., Some(ttl)) => oldest.timestamp.min(Timestamp::from_micros(oldest.published_us.saturating_sub(ttl))),
            // Deletions count as versions, which may be read as long as there are no VERSIONS newer ones.
            _ => return Ok(()),
        };
        let view = self.view();
        let options = IteratorOptions {
            snapshot: Some(&view.snapshot),
            bounds: Some(storage_bounds(family.storage)),
            total_order: true,
            keep_cache: true,
            ..IteratorOptions::default()
        };
        let mut iterator = OwnedIterator::new(&family.column_family, options);
        iterator.seek_to_first();
        let mut batch = WriteBatch::default();
        let mut row = Vec::new();
        let mut qualifier: Option<Vec<u8>> = None;
        // Marks at or below the limit go after the cells that they hide.
        let mut marks: Vec<Vec<u8>> = Vec::new();
        let mut hidden_below = Timestamp::default();
        let mut deciding = true;
        let mut removing = false;
        while iterator.check()? {
            let (key, value) = iterator.item().unwrap_or_default();
            let damaged = || StoreError::Corruption(format!("an entry of table {} can't be read", table.schema.id.0));
            let parsed = VersionedKey::parse(key, family.form).ok_or_else(damaged)?;
            let at = view.tables.visible_since(parsed.timestamp);
            if parsed.row != row.as_slice() {
                marks.drain(..).for_each(|mark| batch.delete_cf(&family.column_family.handle, mark));
                if batch.len() >= BATCH_ENTRIES {
                    self.database.write(std::mem::take(&mut batch), Durability::Relaxed)?;
                }
                row.clear();
                row.extend_from_slice(parsed.row);
                qualifier = None;
                hidden_below = Timestamp::default();
            }
            match parsed.qualifier {
                None if at <= limit => {
                    hidden_below = hidden_below.max(at);
                    marks.push(key.to_vec());
                }
                None => {}
                Some(this) => {
                    if qualifier.as_deref() != Some(this) {
                        qualifier = Some(this.to_vec());
                        (deciding, removing) = (true, false);
                    }
                    if deciding && at <= limit {
                        deciding = false;
                        removing = value.first() == Some(&VALUE_DELETED) || at < hidden_below;
                    } else if !deciding && at < hidden_below {
                        removing = true;
                    }
                    if removing {
                        batch.delete_cf(&family.column_family.handle, key);
                    }
                }
            }
            iterator.next();
        }
        marks.drain(..).for_each(|mark| batch.delete_cf(&family.column_family.handle, mark));
        self.database.write(batch, Durability::Relaxed)
    }
}
