//! The index builds that run.

use parking_lot::Mutex;
use stoa_table::catalog::Oid;

/// How far a build is, for `pg_stat_progress_create_index`.
#[derive(Clone, Debug)]
pub struct Progress {
    pub pid: u32,
    pub table: Oid,
    pub index: Oid,
    pub command: &'static str,
    pub phase: &'static str,
    pub rows_total: u64,
    pub rows_done: u64,
}

/// The builds that run.
#[derive(Debug, Default)]
pub struct Builds(Mutex<Vec<Progress>>);

impl Builds {
    #[must_use]
    pub fn list(&self) -> Vec<Progress> {
        self.0.lock().clone()
    }

    pub fn start(&self, progress: Progress) {
        self.0.lock().push(progress);
    }

    pub fn change(&self, index: Oid, change: impl Fn(&mut Progress)) {
        self.0.lock().iter_mut().filter(|p| p.index == index).for_each(change);
    }

    pub fn end(&self, index: Oid) {
        self.0.lock().retain(|p| p.index != index);
    }
}
