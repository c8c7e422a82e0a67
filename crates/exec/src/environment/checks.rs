//! What is known of the checks of indexes: kept in the store, for `pg_stat_index_check`.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use stoa_pg::PgResult;
use stoa_table::Tables;
use stoa_table::catalog::store::{Kind, decode, encode, index_check_key};
use stoa_table::catalog::{IndexDescriptor, IndexState, Oid, TableDescriptor};

/// How a database is scrubbed.
#[derive(Clone, Copy, Debug)]
pub struct ScrubOptions {
    /// Rows and entries read in a second; 0 for no scrubbing.
    pub rows_per_second: u64,
    /// How long a check of a table counts.
    pub interval: Duration,
}

impl Default for ScrubOptions {
    fn default() -> Self {
        Self { rows_per_second: 10_000, interval: Duration::from_secs(24 * 3600) }
    }
}

/// What is known of the checks of one index.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct IndexCheck {
    pub table: Oid,
    /// When the last one ended, in microseconds since 1970, and how long it took.
    pub ended_us: i64,
    pub duration_us: i64,
    /// No statement asked for it.
    pub background: bool,
    pub entries: u64,
    pub ranges: u64,
    /// Of the last one. Anything but zero means that the index had drifted.
    pub faults: u64,
    /// What the last one failed with, if it did.
    pub failure: Option<String>,
    /// Of all of them.
    pub checks: u64,
    pub faults_ever: u64,
}

/// The checks of all indexes: in memory, and as rows of the catalog's table.
#[derive(Debug, Default)]
pub struct Checks(Mutex<BTreeMap<Oid, IndexCheck>>);

impl Checks {
    /// Reads what is stored; checks of indexes that are gone are removed.
    ///
    /// # Errors
    /// The store failed.
    pub async fn load(tables: &Tables, exists: impl Fn(Oid, Oid) -> bool) -> PgResult<Self> {
        let out = Self::default();
        for (key, value) in tables.notes().await? {
            let Some(index) = Kind::IndexCheck.id_in(&key) else { continue };
            match decode::<IndexCheck>(&value) {
                Ok(check) if exists(check.table, index) => {
                    out.0.lock().insert(index, check);
                }
                // What cannot be read is checked again.
                _ => tables.delete_note(&key).await?,
            }
        }
        Ok(out)
    }

    /// The last check of an index.
    #[must_use]
    pub fn of(&self, index: Oid) -> Option<IndexCheck> {
        self.0.lock().get(&index).cloned()
    }

    /// Keeps what is known of the last check of an index.
    ///
    /// # Errors
    /// The store failed.
    pub async fn put(&self, tables: &Tables, index: Oid, check: IndexCheck) -> PgResult<()> {
        tables.put_note(&index_check_key(index), &encode(&check)?).await?;
        self.0.lock().insert(index, check);
        Ok(())
    }

    /// The table that is due, by the oldest check of its indexes; those never checked count from `since`.
    pub fn due(&self, tables: &[TableDescriptor], since: i64, now: i64, interval: Duration) -> Option<TableDescriptor> {
        let interval = i64::try_from(interval.as_micros()).unwrap_or(i64::MAX);
        let known = self.0.lock();
        let last = |table: &TableDescriptor| checked(table).map(|i| known.get(&i.oid).map_or(since, |c| c.ended_us.max(0))).min();
        let due = tables.iter().filter_map(|table| Some((last(table)?, table)));
        let (last, table) = due.min_by_key(|(last, table)| (*last, table.oid))?;
        (now.saturating_sub(last) >= interval).then(|| table.clone())
    }
}

/// The indexes of a table that can be checked.
pub fn checked(table: &TableDescriptor) -> impl Iterator<Item = &IndexDescriptor> {
    table.indexes.iter().filter(|i| i.state == IndexState::Readable && i.method == "btree")
}
