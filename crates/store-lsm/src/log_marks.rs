//! What each record of RocksDB's log says of those before it: so that what a power loss tore is distinguished from what was damaged
//! ([`crate::log_recovery`]).
//!
//! ```text
//! mark    "stoa-log" │ u64 epoch │ u64 number │ u64 synced       little-endian; the last entry of a batch, as data for the log alone
//! ```
//!
//! `number` counts the records of an epoch, from 1; all up to `synced` were on stable storage before this one was written. An epoch is
//! drawn when the store is opened, and again after a write that failed, which may have left a part of a record: nothing can be said of that one.
//!
//! Invariant: every write to the log goes through [`LogWriter::write`].

use rocksdb::{DB, WriteBatch, WriteOptions};
use std::hash::{BuildHasher, RandomState};
use stoa_store::Durability;

const NAME: &[u8; 8] = b"stoa-log";
/// The bytes of a mark.
const BYTES: usize = 32;
/// Those of its entry: RocksDB's type of data for the log, a length, and the mark.
const ENTRY_BYTES: usize = BYTES + 2;
const LOG_DATA: u8 = 3;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    pub epoch: u64,
    pub number: u64,
    pub synced: u64,
}

impl Mark {
    pub fn encode(self) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        let fields = [*NAME, self.epoch.to_le_bytes(), self.number.to_le_bytes(), self.synced.to_le_bytes()];
        out.iter_mut().zip(fields.into_iter().flatten()).for_each(|(to, from)| *to = from);
        out
    }

    /// The mark of a record, from the end of its bytes.
    pub fn at_end_of(record: &[u8]) -> Option<Self> {
        let entry = record.get(record.len().checked_sub(ENTRY_BYTES)?..)?;
        let mark = entry.strip_prefix(&[LOG_DATA, BYTES as u8])?.strip_prefix(NAME)?;
        let number = |n: usize| mark.get(8 * n..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        Some(Self { epoch: number(0)?, number: number(1)?, synced: number(2)? })
    }
}

/// What writes to the log, one batch at a time.
#[derive(Debug)]
pub(crate) struct LogWriter {
    /// The last record that was written.
    last: Mark,
}

fn new_epoch() -> Mark {
    Mark { epoch: RandomState::new().hash_one(std::process::id()), number: 0, synced: 0 }
}

impl Default for LogWriter {
    fn default() -> Self {
        Self { last: new_epoch() }
    }
}

impl LogWriter {
    pub fn write(&mut self, db: &DB, mut batch: WriteBatch, durability: Durability) -> Result<(), rocksdb::Error> {
        let sync = durability == Durability::Sync;
        let mark = Mark { number: self.last.number + 1, ..self.last };
        batch.put_log_data(mark.encode());
        let mut options = WriteOptions::default();
        options.set_sync(sync);
        let outcome = db.write_opt(batch, &options);
        self.last = match outcome {
            Ok(()) if sync => Mark { synced: mark.number, ..mark },
            Ok(()) => mark,
            Err(_) => new_epoch(),
        };
        outcome
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn marks_are_read_from_the_end_of_rocksdbs_batches() {
        let mark = Mark { epoch: u64::MAX - 1, number: 7, synced: 5 };
        let mut batch = WriteBatch::default();
        batch.put(b"key", [0; 300]);
        assert_eq!(Mark::at_end_of(batch.data()), None);
        batch.put_log_data(mark.encode());
        assert_eq!((Mark::at_end_of(batch.data()), batch.len()), (Some(mark), 1));
        assert_eq!(Mark::at_end_of(&batch.data()[batch.size_in_bytes() - ENTRY_BYTES + 1..]), None);
    }
}
