//! Entries in any order go in, entries in the order of their keys come out: in memory as far as that is granted, by way of sorted
//! files beyond.
//!
//! A build sorts its entries and hands them to the store in order, which takes them in as files: past its log and its memory, and
//! without sorting them again in compactions.

use crate::txn::write_space::{WriteMemory, WriteSpace};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};

/// Bytes of entries that are sorted at a time.
const RUN_BYTES: usize = 48 << 20;
/// Bytes read from a file at a time.
const READ_BYTES: usize = 256 << 10;

/// Where an entry is in memory. Most comparisons are decided by the first bytes of the key.
#[derive(Clone, Copy)]
struct Place {
    head: u64,
    at: usize,
    key: u32,
    cell: u32,
}

/// See the module.
pub struct EntrySorter {
    space: Arc<WriteSpace>,
    memory: WriteMemory,
    bytes: Vec<u8>,
    places: Vec<Place>,
    runs: Vec<File>,
    run_bytes: usize,
    total: usize,
}

fn head(key: &[u8]) -> u64 {
    let mut out = [0; 8];
    for (to, from) in out.iter_mut().zip(key) {
        *to = *from;
    }
    u64::from_be_bytes(out)
}

fn failed(error: &std::io::Error) -> PgError {
    let full = matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded);
    let code = if full { SqlState::DISK_FULL } else { SqlState::IO_ERROR };
    PgError::new(code, format!("could not sort entries on disk: {error}"))
}

fn too_large() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "an index entry is too large")
}

impl EntrySorter {
    #[must_use]
    pub fn new(space: &Arc<WriteSpace>) -> Self {
        Self::with_run_bytes(space, RUN_BYTES)
    }

    fn with_run_bytes(space: &Arc<WriteSpace>, run_bytes: usize) -> Self {
        Self {
            space: Arc::clone(space),
            memory: WriteMemory::default(),
            bytes: Vec::new(),
            places: Vec::new(),
            runs: Vec::new(),
            run_bytes,
            total: 0,
        }
    }

    /// Bytes of all entries.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.total
    }

    /// Takes an entry.
    ///
    /// # Errors
    /// 53100 and the like when files are full.
    pub fn push(&mut self, key: &[u8], cell: &[u8]) -> PgResult<()> {
        let held = self.bytes.len() + self.places.len() * size_of::<Place>();
        if !self.places.is_empty() && (held >= self.run_bytes || !self.memory.grant(&self.space, held)) {
            self.spill()?;
        }
        self.places.push(Place {
            head: head(key),
            at: self.bytes.len(),
            key: u32::try_from(key.len()).map_err(|_| too_large())?,
            cell: u32::try_from(cell.len()).map_err(|_| too_large())?,
        });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(cell);
        self.total += key.len() + cell.len();
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |p: &Place| bytes.get(p.at..p.at + p.key as usize).unwrap_or_default();
        self.places.sort_unstable_by(|a, b| a.head.cmp(&b.head).then_with(|| key(a).cmp(key(b))));
    }

    fn entry(&self, n: usize) -> Option<(&[u8], &[u8])> {
        let place = self.places.get(n)?;
        let entry = self.bytes.get(place.at..place.at + place.key as usize + place.cell as usize)?;
        entry.split_at_checked(place.key as usize)
    }

    /// Writes what is in memory to a file of its own.
    fn spill(&mut self) -> PgResult<()> {
        self.sort();
        let mut out = BufWriter::with_capacity(READ_BYTES, self.space.file()?);
        for (key, cell) in (0..self.places.len()).filter_map(|n| self.entry(n)) {
            let write = |out: &mut BufWriter<File>| {
                out.write_all(&(key.len() as u32).to_le_bytes())?;
                out.write_all(&(cell.len() as u32).to_le_bytes())?;
                out.write_all(key)?;
                out.write_all(cell)
            };
            write(&mut out).map_err(|e| failed(&e))?;
        }
        let mut file = out.into_inner().map_err(|e| failed(e.error()))?;
        file.seek(SeekFrom::Start(0)).map_err(|e| failed(&e))?;
        self.runs.push(file);
        self.bytes.clear();
        self.places.clear();
        self.memory.free();
        Ok(())
    }

    /// The entries in the order of their keys.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn finish(mut self) -> PgResult<SortedEntries> {
        self.sort();
        let mut heads: BinaryHeap<Reverse<Head>> = BinaryHeap::with_capacity(self.runs.len());
        for (number, file) in std::mem::take(&mut self.runs).into_iter().enumerate() {
            let mut head = Head { number, key: Vec::new(), cell: Vec::new(), file: BufReader::with_capacity(READ_BYTES, file) };
            if head.step()? {
                heads.push(Reverse(head));
            }
        }
        Ok(SortedEntries { sorter: self, heads, at: 0, from_file: false })
    }
}

/// Entries in order, one after the other.
pub struct SortedEntries {
    sorter: EntrySorter,
    heads: BinaryHeap<Reverse<Head>>,
    at: usize,
    /// The entry given last is that of the first head.
    from_file: bool,
}

impl SortedEntries {
    /// The next key and its cell; `None` at the end.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn next_entry(&mut self) -> PgResult<Option<(&[u8], &[u8])>> {
        if std::mem::take(&mut self.from_file)
            && let Some(mut top) = self.heads.peek_mut()
            && !top.0.step()?
        {
            PeekMut::pop(top);
        }
        let held = self.sorter.entry(self.at);
        match (held, self.heads.peek()) {
            (held, Some(Reverse(top))) if held.is_none_or(|(key, _)| top.key.as_slice() <= key) => {
                self.from_file = true;
                Ok(Some((&top.key, &top.cell)))
            }
            (held, _) => {
                self.at += 1;
                Ok(held)
            }
        }
    }
}

/// The next entry of a file.
struct Head {
    number: usize,
    key: Vec<u8>,
    cell: Vec<u8>,
    file: BufReader<File>,
}

impl Head {
    /// Reads the next entry; false at the end.
    fn step(&mut self) -> PgResult<bool> {
        let mut sizes = [0u8; 8];
        match self.file.read_exact(&mut sizes) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(e) => return Err(failed(&e)),
        }
        let [a, b, c, d, e, f, g, h] = sizes;
        self.key.resize(u32::from_le_bytes([a, b, c, d]) as usize, 0);
        self.cell.resize(u32::from_le_bytes([e, f, g, h]) as usize, 0);
        self.file.read_exact(&mut self.key).and_then(|()| self.file.read_exact(&mut self.cell)).map_err(|e| failed(&e))?;
        Ok(true)
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    #[test]
    fn entries_come_in_order_from_memory_and_from_files() {
        for run_bytes in [1 << 20, 4000, 300] {
            let space = Arc::new(WriteSpace::default());
            let mut sorter = EntrySorter::with_run_bytes(&space, run_bytes);
            let mut rng = StdRng::seed_from_u64(run_bytes as u64);
            let mut wanted: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            for n in 0..2000u32 {
                let key: Vec<u8> = (0..rng.random_range(0..14)).map(|_| [0, 1, 0xff][rng.random_range(0..3)]).collect();
                let cell = n.to_be_bytes()[..rng.random_range(0..5)].to_vec();
                sorter.push(&key, &cell).unwrap();
                wanted.push((key, cell));
            }
            assert_eq!(sorter.bytes(), wanted.iter().map(|(k, c)| k.len() + c.len()).sum::<usize>());
            assert_eq!(space.files() > 0, run_bytes < 1 << 20);
            let mut found = Vec::new();
            let mut sorted = sorter.finish().unwrap();
            while let Some((key, cell)) = sorted.next_entry().unwrap() {
                found.push((key.to_vec(), cell.to_vec()));
            }
            assert!(found.is_sorted_by_key(|(key, _)| key.clone()));
            found.sort();
            wanted.sort();
            assert_eq!(found, wanted);
        }
    }
}
