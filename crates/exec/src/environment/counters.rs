//! What has happened in a database since the process began, as `pg_stat_database` and `pg_stat_user_tables` tell it.

use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use stoa_table::catalog::Oid;

/// Rows that statements wrote, whether their transactions were committed or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RowCounts {
    pub inserted: u64,
    pub updated: u64,
    pub deleted: u64,
}

/// What happened to rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowChange {
    Inserted,
    Updated,
    Deleted,
}

impl RowCounts {
    fn add(&mut self, change: RowChange, rows: u64) {
        *match change {
            RowChange::Inserted => &mut self.inserted,
            RowChange::Updated => &mut self.updated,
            RowChange::Deleted => &mut self.deleted,
        } += rows;
    }
}

#[derive(Debug, Default)]
struct Rows {
    all: RowCounts,
    tables: HashMap<Oid, RowCounts>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Counters {
    sessions: AtomicU64,
    committed: AtomicU64,
    rolled_back: AtomicU64,
    deadlocks: AtomicU64,
    rows: Mutex<Rows>,
}

impl Counters {
    /// A client's session began.
    pub fn note_session(&self) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
    }

    /// A transaction ended.
    pub fn note_end(&self, committed: bool) {
        (if committed { &self.committed } else { &self.rolled_back }).fetch_add(1, Ordering::Relaxed);
    }

    /// A statement failed by a deadlock.
    pub fn note_deadlock(&self) {
        self.deadlocks.fetch_add(1, Ordering::Relaxed);
    }

    /// A statement wrote rows of a table.
    pub fn note_rows(&self, table: Oid, change: RowChange, rows: usize) {
        if rows == 0 {
            return;
        }
        let mut counts = self.rows.lock();
        counts.all.add(change, rows as u64);
        counts.tables.entry(table).or_default().add(change, rows as u64);
    }

    /// Sessions of clients that have begun.
    #[must_use]
    pub fn sessions(&self) -> u64 {
        self.sessions.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn committed(&self) -> u64 {
        self.committed.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn rolled_back(&self) -> u64 {
        self.rolled_back.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn deadlocks(&self) -> u64 {
        self.deadlocks.load(Ordering::Relaxed)
    }

    /// Rows of all tables, those that are gone too.
    #[must_use]
    pub fn rows(&self) -> RowCounts {
        self.rows.lock().all
    }

    #[must_use]
    pub fn rows_of(&self, table: Oid) -> RowCounts {
        self.rows.lock().tables.get(&table).copied().unwrap_or_default()
    }

    /// The tables of which something is known.
    #[must_use]
    pub fn tables(&self) -> Vec<Oid> {
        self.rows.lock().tables.keys().copied().collect()
    }

    /// Tables are gone for good.
    pub fn forget(&self, gone: &[Oid]) {
        let mut rows = self.rows.lock();
        gone.iter().for_each(|oid| {
            rows.tables.remove(oid);
        });
    }
}
