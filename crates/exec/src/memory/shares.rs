//! Who may have how much: the one place where a limit on memory is shared out.
//!
//! All sizes are bytes. What a share is for stands beside it; `docs/operating.md` has the table.

use std::num::NonZeroUsize;

/// What the changes of one transaction take of memory at most, however much there is.
const MAX_WRITE_SET: usize = 128 << 20;
/// Memory of statements for which a statement has one more parallel piece.
const PIECE: usize = 64 << 20;
/// Memory of statements for which batches have one more row.
const BATCH_ROW: usize = 48 << 10;
/// The least that a process may be limited to.
pub const LEAST_LIMIT: u64 = 64 << 20;

/// The shares of a limit on the memory of the process, or of what statements have where nothing limits the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shares {
    /// The limit; `None` for a part of a process that others limit.
    pub limit: Option<u64>,
    /// For sorts, joins, aggregations and changes of all statements together; what needs more spills, or fails with 53200. Columns
    /// that are kept for later scans have up to half of it while statements don't need it.
    pub statements: usize,
}

impl Shares {
    /// Those of a process that may have `limit`, which is [`LEAST_LIMIT`] at least.
    #[must_use]
    pub fn of_limit(limit: u64) -> Self {
        Self { limit: Some(limit), statements: bytes((limit - of_the_program(limit)) / 2) }
    }

    /// Those of statements that may have so much, in a process without a limit.
    #[must_use]
    pub fn of_statements(statements: usize) -> Self {
        Self { limit: None, statements }
    }

    /// What the process should not exceed: from there on what is large is refused. The rest of the limit is for what is taken between two
    /// questions whether there is room.
    #[must_use]
    pub fn process(&self) -> Option<usize> {
        self.limit.map(|limit| bytes(limit - unasked(limit)))
    }

    /// For what the store keeps of its files and its ranges.
    #[must_use]
    pub fn store_cache(&self) -> usize {
        self.statements / 2
    }

    /// For what the store has not written to files yet.
    #[must_use]
    pub fn store_writes(&self) -> usize {
        self.store_cache() / 2
    }

    /// For the changes of one transaction, and for the entries of one index that is built: of the memory of statements.
    #[must_use]
    pub fn write_set(&self) -> usize {
        (self.statements / 4).min(MAX_WRITE_SET)
    }

    /// For the writer of one full text index.
    #[must_use]
    pub fn text_writer(&self) -> usize {
        (self.statements / 8).min(stoa_fulltext::index::MEMORY)
    }

    /// Parallel pieces of one statement: in little memory fewer, since each has buffers of its own.
    #[must_use]
    pub fn pieces(&self) -> usize {
        std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min((self.statements / PIECE).max(1))
    }

    /// Rows of a batch.
    #[must_use]
    pub fn batch_rows(&self) -> usize {
        (self.statements / BATCH_ROW).next_power_of_two().clamp(1024, 8192)
    }
}

impl Default for Shares {
    fn default() -> Self {
        Self::of_statements(1 << 30)
    }
}

fn bytes(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// What the program itself takes: code, threads, connections, buffers of files. Of small limits more is left, for what statements take
/// beside their share is as much as in large ones.
fn of_the_program(limit: u64) -> u64 {
    (limit / 2).min((160_u64 << 20).saturating_sub(limit / 8).max(96 << 20))
}

/// What statements take between two questions whether there is room.
fn unasked(limit: u64) -> u64 {
    (limit * 9 / 20).min(128 << 20).max(limit / 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_limit_leaves_more_to_share() {
        let mb = |bytes: u64| bytes >> 20;
        let parts = |limit: u64| (mb(of_the_program(limit << 20)), mb(unasked(limit << 20)));
        assert_eq!([64, 128, 256, 512, 1024, 65536].map(parts), [(32, 28), (64, 57), (128, 115), (96, 128), (96, 128), (96, 4096)]);
        let mut last = (0, Some(0));
        for limit in (64..2048).map(|limit| limit << 20) {
            let shares = Shares::of_limit(limit);
            let now = (shares.statements, shares.process());
            assert!(now.0 > last.0 && now.1 > last.1, "{limit}");
            last = now;
        }
    }

    #[test]
    fn shares_are_less_than_the_limit_together() {
        for limit in [64_u64, 128, 256, 512, 1024, 16 << 10].map(|mb| mb << 20) {
            let shares = Shares::of_limit(limit);
            let all = shares.statements + shares.store_cache() + shares.store_writes() + bytes(of_the_program(limit));
            assert!(all <= bytes(limit), "{limit}: {all}");
            assert!(shares.write_set() <= shares.statements && shares.text_writer() <= shares.statements);
        }
    }

    #[test]
    fn little_memory_has_small_batches_and_few_pieces() {
        assert_eq!([16, 64, 1024].map(|mb| Shares::of_statements(mb << 20).batch_rows()), [1024, 2048, 8192]);
        assert_eq!(Shares::of_statements(16 << 20).pieces(), 1);
    }
}
