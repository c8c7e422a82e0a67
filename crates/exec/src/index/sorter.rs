//! Entries in any order go in, entries in the order of their keys come out: in memory as far as that is granted, by way of sorted
//! files beyond.
//!
//! A build sorts its entries and hands them to the store in order, which takes them in as files: past its log and its memory, and
//! without sorting them again in compactions.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::thread::JoinHandle;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::txn::spill_space::{SpillMemory, SpillSpace};

/// Bytes of entries that are sorted at a time, at most.
const RUN_BYTES: usize = 64 << 20;
/// Bytes read from a file at a time.
const READ_BYTES: usize = 256 << 10;
/// Bytes before an entry: the lengths of its key and its cell.
const LENGTHS: usize = 8;

/// Where an entry is in memory. Most comparisons are decided by the bytes of the key behind those that all keys have in common.
#[derive(Clone, Copy)]
struct Place {
    head: u64,
    at: u32,
}

/// Entries in memory: each its lengths, its key and its cell, as they are written to files.
#[derive(Default)]
struct Run {
    memory: SpillMemory,
    bytes: Vec<u8>,
    places: Vec<Place>,
    /// How many bytes all keys begin with, and the first key.
    common: usize,
    first: Vec<u8>,
}

impl Run {
    fn held(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    fn push(&mut self, key: &[u8], cell: &[u8]) -> PgResult<()> {
        if self.places.is_empty() {
            self.common = key.len();
            self.first.clear();
            self.first.extend_from_slice(key);
        } else if !key.starts_with(self.first.get(..self.common).unwrap_or_default()) {
            self.common = key.iter().zip(&self.first).take_while(|(a, b)| a == b).count();
        }
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map(u32::to_le_bytes).map_err(|_| too_large());
        let (of_key, of_cell) = (length(key)?, length(cell)?);
        self.places.push(Place { head: 0, at: u32::try_from(self.bytes.len()).map_err(|_| too_large())? });
        self.bytes.extend_from_slice(&of_key);
        self.bytes.extend_from_slice(&of_cell);
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(cell);
        Ok(())
    }

    fn sort(&mut self) {
        let (bytes, common) = (&self.bytes, self.common);
        let key = |place: &Place| entry(bytes, place.at).map_or(&[][..], |(key, _)| key);
        for place in &mut self.places {
            place.head = head(key(place).get(common..).unwrap_or_default());
        }
        self.places.sort_unstable_by_key(|place| place.head);
        for equal in self.places.chunk_by_mut(|a, b| a.head == b.head).filter(|equal| equal.len() > 1) {
            equal.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        }
    }

    /// The entry that is the n-th by its place.
    fn get(&self, n: usize) -> Option<(&[u8], &[u8])> {
        entry(&self.bytes, self.places.get(n)?.at)
    }

    /// Writes the entries in order.
    fn write(&mut self, file: File) -> PgResult<File> {
        self.sort();
        let mut out = BufWriter::with_capacity(READ_BYTES, file);
        for place in &self.places {
            let at = place.at as usize;
            let length = entry(&self.bytes, place.at).map_or(0, |(key, cell)| LENGTHS + key.len() + cell.len());
            out.write_all(self.bytes.get(at..at + length).unwrap_or_default()).map_err(|e| failed(&e))?;
        }
        let mut file = out.into_inner().map_err(|e| failed(e.error()))?;
        file.seek(SeekFrom::Start(0)).map_err(|e| failed(&e))?;
        Ok(file)
    }
}

/// The key and the cell of an entry.
#[inline]
fn entry(bytes: &[u8], at: u32) -> Option<(&[u8], &[u8])> {
    let (lengths, rest) = bytes.get(at as usize..)?.split_first_chunk::<LENGTHS>()?;
    let [a, b, c, d, e, f, g, h] = *lengths;
    let (key, rest) = rest.split_at_checked(u32::from_le_bytes([a, b, c, d]) as usize)?;
    Some((key, rest.get(..u32::from_le_bytes([e, f, g, h]) as usize)?))
}

fn head(key: &[u8]) -> u64 {
    if let Some(whole) = key.first_chunk::<8>() {
        return u64::from_be_bytes(*whole);
    }
    let mut out = [0; 8];
    for (to, from) in out.iter_mut().zip(key) {
        *to = *from;
    }
    u64::from_be_bytes(out)
}

fn failed(error: &std::io::Error) -> PgError {
    let full = matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded);
    let message = format!("could not sort entries on disk: {error}");
    if full {
        PgError::new(SqlState::DISK_FULL, message).hint(stoa_table::txn::DISK_FULL_HINT)
    } else {
        PgError::new(SqlState::IO_ERROR, message)
    }
}

fn too_large() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "an index entry is too large")
}

/// A run that is sorted and written while the next one is gathered.
type Spilling = JoinHandle<PgResult<(File, Run)>>;

/// See the module.
pub struct EntrySorter {
    space: Arc<SpillSpace>,
    run: Run,
    spilling: Option<Spilling>,
    /// The memory of a run that was written.
    spare: Run,
    files: Vec<File>,
    run_bytes: usize,
    total: usize,
}

impl EntrySorter {
    #[must_use]
    pub fn new(space: &Arc<SpillSpace>) -> Self {
        Self::with_run_bytes(space, RUN_BYTES.min(space.most()))
    }

    fn with_run_bytes(space: &Arc<SpillSpace>, run_bytes: usize) -> Self {
        Self {
            space: Arc::clone(space),
            run: Run::default(),
            spilling: None,
            spare: Run::default(),
            files: Vec::new(),
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
        let held = self.run.held() + LENGTHS + key.len() + cell.len();
        if !self.run.places.is_empty() && (held >= self.run_bytes || !self.granted(held)?) {
            self.spill()?;
        }
        self.run.push(key, cell)?;
        self.total += key.len() + cell.len();
        Ok(())
    }

    /// Whether the run may have so many bytes, if need be once the run before it has given up its own.
    fn granted(&mut self, bytes: usize) -> PgResult<bool> {
        if self.run.memory.grant(&self.space, bytes) {
            return Ok(true);
        }
        let waited = self.spilling.is_some();
        self.spilled()?;
        self.spare = Run::default();
        Ok(waited && self.run.memory.grant(&self.space, bytes))
    }

    /// Lets the run be written to a file of its own.
    fn spill(&mut self) -> PgResult<()> {
        self.spilled()?;
        let mut run = std::mem::replace(&mut self.run, std::mem::take(&mut self.spare));
        let file = self.space.file()?;
        let write = move || {
            let file = run.write(file)?;
            run.clear();
            run.memory.free();
            Ok((file, run))
        };
        self.spilling = Some(std::thread::Builder::new().name("sort".into()).spawn(write).map_err(|e| failed(&e))?);
        Ok(())
    }

    /// Waits for the run that is being written.
    fn spilled(&mut self) -> PgResult<()> {
        if let Some(spilling) = self.spilling.take() {
            let (file, run) = spilling.join().map_err(|_| PgError::internal("a sort of entries ended"))??;
            self.files.push(file);
            self.spare = run;
        }
        Ok(())
    }

    /// The entries in the order of their keys.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn finish(mut self) -> PgResult<SortedEntries> {
        self.run.sort();
        self.spilled()?;
        let mut heads: BinaryHeap<Reverse<Head>> = BinaryHeap::with_capacity(self.files.len());
        for (number, file) in std::mem::take(&mut self.files).into_iter().enumerate() {
            let file = BufReader::with_capacity(READ_BYTES, file);
            let mut head = Head { number, key_length: 0, entry: Vec::new(), file };
            if head.step()? {
                heads.push(Reverse(head));
            }
        }
        Ok(SortedEntries { run: std::mem::take(&mut self.run), heads, at: 0, from_file: false })
    }
}

impl Drop for EntrySorter {
    fn drop(&mut self) {
        // Its memory is given back before the statement has ended.
        let _ = self.spilled();
    }
}

/// Entries in order, one after the other.
pub struct SortedEntries {
    run: Run,
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
        let held = self.run.get(self.at);
        match (held, self.heads.peek()) {
            (held, Some(Reverse(top))) if held.is_none_or(|(key, _)| top.key() <= key) => {
                self.from_file = true;
                Ok(Some(top.entry.split_at_checked(top.key_length).unwrap_or_default()))
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
    key_length: usize,
    /// Its key and its cell.
    entry: Vec<u8>,
    file: BufReader<File>,
}

impl Head {
    fn key(&self) -> &[u8] {
        self.entry.get(..self.key_length).unwrap_or_default()
    }

    /// Reads the next entry; false at the end.
    fn step(&mut self) -> PgResult<bool> {
        let mut lengths = [0u8; LENGTHS];
        match self.file.read_exact(&mut lengths) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(e) => return Err(failed(&e)),
        }
        let [a, b, c, d, e, f, g, h] = lengths;
        self.key_length = u32::from_le_bytes([a, b, c, d]) as usize;
        self.entry.resize(self.key_length + u32::from_le_bytes([e, f, g, h]) as usize, 0);
        self.file.read_exact(&mut self.entry).map_err(|e| failed(&e))?;
        Ok(true)
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(other.key()).then(self.number.cmp(&other.number))
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
            let space = Arc::new(SpillSpace::default());
            let mut sorter = EntrySorter::with_run_bytes(&space, run_bytes);
            let mut rng = StdRng::seed_from_u64(run_bytes as u64);
            let mut wanted: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            for n in 0..2000u32 {
                // Those of one run have the same beginning.
                let start = if run_bytes > 4000 { 5 } else { 0 };
                let key: Vec<u8> = std::iter::repeat_n(7, start)
                    .chain((0..rng.random_range(0..14)).map(|_| [0, 1, 0xff][rng.random_range(0..3)]))
                    .collect();
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
