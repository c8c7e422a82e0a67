//! One of RocksDB's table files (`.sst`), format version 6, read from its start to its end.
//!
//! ```text
//! file     = data blocks, filter, properties, index, metaindex, footer
//! footer   = checksum type u8 │ 3E 00 7A 00 │ checksum u32 │ base of checksums u32 │ metaindex bytes u32 │ 24 zero bytes │ 06 u32 │ magic u64
//! block    = bytes, compressed as the type says │ type u8 (0: as they are, 4: varint length │ LZ4) │ checksum u32
//! bytes    = entries │ restart points u32 … │ [hash index] │ number of restart points and flags u32
//! entry    = varint shared │ varint own │ varint value length │ own bytes of the key │ value
//! ```
//!
//! All numbers are little-endian. A checksum is XXH3 over the block, changed by the type, by the file's base and by the place in the
//! file, so that a block of elsewhere is noticed. What a file has that is not of this kind (another format, index or compression)
//! leaves it to RocksDB: [`TableFile::open`] gives `None`. Source: RocksDB 11.8, `table/format.cc` and `table/block_based/`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use stoa_store::{Certainty, StoreError, StoreResult};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: u64 = 0x88e2_41b7_85f4_cff7;
const EXTENDED_MAGIC: [u8; 4] = [0x3e, 0, 0x7a, 0];
const FOOTER_BYTES: usize = 53;
const FORMAT_VERSION: u32 = 6;
const XXH3: u8 = 4;
const TRAILER_BYTES: usize = 5;
const UNCOMPRESSED: u8 = 0;
const LZ4: u8 = 4;
/// More than any block that is written here has: what claims more is damaged.
const MAX_BLOCK_BYTES: usize = 1 << 30;
/// Bits beside the number of restart points: bit 31 a hash index, which a reading in order passes over; 29 a hint for searches. Any
/// other is of a block that is laid out otherwise.
const KNOWN_FLAGS: u32 = 1 << 31 | 1 << 29;
const MOST_RESTARTS: u32 = (1 << 28) - 1;

/// Where a block lies, without its trailer.
#[derive(Clone, Copy, Debug, Default)]
struct Handle {
    offset: u64,
    bytes: usize,
}

/// A table file with its index.
pub(super) struct TableFile {
    file: File,
    path: PathBuf,
    checksum_base: u32,
    blocks: Vec<Handle>,
    /// For each block a key at or behind its last and before the first of the next one; one after the other.
    separators: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<u32>,
    /// Made outside of RocksDB and ingested: its entries have the sequence number with which it was.
    pub taken_in: bool,
}

/// Bytes of consecutive blocks, as they lie in the file.
#[derive(Default)]
pub(super) struct Stretch {
    bytes: Vec<u8>,
    /// The blocks that are in it.
    first: usize,
    behind: usize,
    /// How often bytes were read.
    pub reads: u64,
}

impl Stretch {
    /// For another file.
    pub fn forget(&mut self) {
        (self.first, self.behind) = (0, 0);
    }
}

impl TableFile {
    /// Opens a file of which RocksDB says that it has `size` bytes. `None` if it is to be read by RocksDB.
    pub fn open(path: PathBuf, size: u64) -> StoreResult<Option<Self>> {
        let file = File::open(&path).map_err(|error| of_io(&path, &error))?;
        let mut footer = [0; FOOTER_BYTES];
        let at = size.checked_sub(FOOTER_BYTES as u64).ok_or_else(|| damaged(&path, "it is too short"))?;
        file.read_exact_at(&mut footer, at).map_err(|error| of_io(&path, &error))?;
        if footer.get(45..) != Some(&MAGIC.to_le_bytes()) {
            return Err(damaged(&path, "its magic number is another one"));
        }
        if u32_at(&footer, 41) != Some(FORMAT_VERSION) || footer.first() != Some(&XXH3) || footer.get(1..5) != Some(&EXTENDED_MAGIC) {
            return Ok(None);
        }
        let stored = u32_at(&footer, 5).unwrap_or_default();
        let checksum_base = u32_at(&footer, 9).unwrap_or_default();
        let metaindex_bytes = u32_at(&footer, 13).unwrap_or_default() as usize;
        let mut unsigned = footer;
        unsigned[5..9].fill(0);
        if checksum(&unsigned[..FOOTER_BYTES - 1], unsigned[FOOTER_BYTES - 1], checksum_base, at) != stored {
            return Err(damaged(&path, "the checksum of its footer is another one"));
        }
        let offset = at.checked_sub((metaindex_bytes + TRAILER_BYTES) as u64).ok_or_else(|| damaged(&path, "its footer is wrong"))?;
        let mut out = Self { file, path, checksum_base, blocks: Vec::new(), separators: Vec::new(), ends: Vec::new(), taken_in: false };
        let readable = out.read_index(Handle { offset, bytes: metaindex_bytes })?;
        Ok(readable.then_some(out))
    }

    /// Reads what a scan needs to know of the file; whether it can be read here.
    fn read_index(&mut self, metaindex: Handle) -> StoreResult<bool> {
        let (mut index, mut properties) = (None, None);
        self.small_block(metaindex, |entry| {
            let handle = handle(entry.value).map(|(handle, _)| handle);
            match entry.key {
                b"rocksdb.index" => index = handle,
                b"rocksdb.properties" => properties = handle,
                _ => {}
            }
            Some(())
        })?;
        let (Some(index), Some(properties)) = (index, properties) else { return Ok(false) };
        let (mut user_keys, mut deltas, mut binary, mut known) = (false, false, true, true);
        let mut taken_in = false;
        self.small_block(properties, |entry| {
            let number = || varint(entry.value, 0).map(|(number, _)| number);
            match entry.key {
                b"rocksdb.index.key.is.user.key" => user_keys = number()? != 0,
                b"rocksdb.index.value.is.delta.encoded" => deltas = number()? != 0,
                b"rocksdb.block.based.table.index.type" => binary = entry.value == [0; 4],
                b"rocksdb.separate.key.value.in.data.block" => known &= number()? == 0,
                b"rocksdb.external_sst_file.version" => {
                    taken_in = true;
                    known &= entry.value == [2, 0, 0, 0];
                }
                _ => {}
            }
            Some(())
        })?;
        self.taken_in = taken_in;
        if !user_keys || !deltas || !binary || !known {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        self.read_block(index, &mut bytes)?;
        let (mut at, end) = (0, entries_end(&bytes).ok_or_else(|| self.damaged("its index can't be read"))?);
        let mut key = Vec::new();
        let mut last = Handle::default();
        while at < end {
            let next = index_entry(&bytes, at, &mut key, last).ok_or_else(|| self.damaged("its index can't be read"))?;
            (last, at) = next;
            self.blocks.push(last);
            self.separators.extend_from_slice(&key);
            self.ends.push(u32::try_from(self.separators.len()).map_err(|_| self.damaged("its index is too large"))?);
        }
        Ok(true)
    }

    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// A key at or behind the last one of a block.
    pub fn separator(&self, block: usize) -> &[u8] {
        let end = |block: usize| self.ends.get(block).map_or(0, |end| *end as usize);
        self.separators.get(block.checked_sub(1).map_or(0, end)..end(block)).unwrap_or_default()
    }

    /// The first block that may hold this key or one behind it.
    pub fn block_of(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.blocks.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.separator(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The entries of a block into `out`, read together with those behind it: about `ahead` bytes.
    pub fn block(&self, number: usize, ahead: usize, stretch: &mut Stretch, out: &mut Vec<u8>) -> StoreResult<usize> {
        if number < stretch.first || number >= stretch.behind {
            let first = self.blocks.get(number).copied().unwrap_or_default();
            let (mut behind, mut end) = (number, first.offset);
            while let Some(next) = self.blocks.get(behind)
                && (behind == number || next.offset == end && end - first.offset < ahead as u64)
            {
                end = next.offset + (next.bytes + TRAILER_BYTES) as u64;
                behind += 1;
            }
            (stretch.first, stretch.behind) = (0, 0);
            stretch.bytes.resize(usize::try_from(end - first.offset).unwrap_or_default(), 0);
            self.file.read_exact_at(&mut stretch.bytes, first.offset).map_err(|error| of_io(&self.path, &error))?;
            (stretch.first, stretch.behind) = (number, behind);
            stretch.reads += 1;
        }
        let start = self.blocks.get(stretch.first).map_or(0, |first| first.offset);
        let handle = self.blocks.get(number).copied().unwrap_or_default();
        let from = usize::try_from(handle.offset - start).unwrap_or(usize::MAX);
        let block = stretch.bytes.get(from..from.saturating_add(handle.bytes + TRAILER_BYTES)).unwrap_or_default();
        self.unpack(block, handle, out)?;
        entries_end(out).ok_or_else(|| self.damaged("a block can't be read"))
    }

    fn read_block(&self, handle: Handle, out: &mut Vec<u8>) -> StoreResult<()> {
        if handle.bytes > MAX_BLOCK_BYTES {
            return Err(self.damaged("a block is too large"));
        }
        let mut block = vec![0; handle.bytes + TRAILER_BYTES];
        self.file.read_exact_at(&mut block, handle.offset).map_err(|error| of_io(&self.path, &error))?;
        self.unpack(&block, handle, out)
    }

    /// Checks a block with its trailer, and decompresses it.
    fn unpack(&self, block: &[u8], handle: Handle, out: &mut Vec<u8>) -> StoreResult<()> {
        let (bytes, trailer) = block.split_last_chunk::<TRAILER_BYTES>().ok_or_else(|| self.damaged("a block is too short"))?;
        let (kind, stored) = (trailer[0], u32::from_le_bytes([trailer[1], trailer[2], trailer[3], trailer[4]]));
        if checksum(bytes, kind, self.checksum_base, handle.offset) != stored {
            return Err(self.damaged("the checksum of a block is another one"));
        }
        match kind {
            UNCOMPRESSED => {
                out.clear();
                out.extend_from_slice(bytes);
            }
            LZ4 => {
                let (length, at) = varint(bytes, 0).ok_or_else(|| self.damaged("a block can't be read"))?;
                let length = usize::try_from(length).ok().filter(|length| *length <= MAX_BLOCK_BYTES);
                let length = length.ok_or_else(|| self.damaged("a block is too large"))?;
                let packed = bytes.get(at..).unwrap_or_default();
                // What is in it is overwritten; only what it grows by has to be set.
                out.resize(length, 0);
                let (from, to) = (libc::c_int::try_from(packed.len()).unwrap_or(-1), libc::c_int::try_from(length).unwrap_or(-1));
                // SAFETY: it reads `from` bytes and writes at most `to`, which both slices have; a negative number is refused.
                let written = unsafe { lz4_sys::LZ4_decompress_safe(packed.as_ptr().cast(), out.as_mut_ptr().cast(), from, to) };
                if written != to {
                    return Err(self.damaged("a block can't be decompressed"));
                }
            }
            _ => return Err(self.damaged("a block has a compression that is not of its family")),
        }
        Ok(())
    }

    /// The entries of a block with complete keys.
    fn small_block(&self, handle: Handle, mut each: impl FnMut(Entry<'_>) -> Option<()>) -> StoreResult<()> {
        let mut bytes = Vec::new();
        self.read_block(handle, &mut bytes)?;
        let mut read = || {
            let (mut at, end) = (0, entries_end(&bytes)?);
            let mut key = Vec::new();
            while at < end {
                let head = entry_head(&bytes, at)?;
                key.truncate(head.shared);
                key.extend_from_slice(bytes.get(head.key..head.key + head.own)?);
                at = head.key + head.own + head.value_bytes;
                each(Entry { key: &key, value: bytes.get(at - head.value_bytes..at)? })?;
            }
            Some(())
        };
        read().ok_or_else(|| self.damaged("a block can't be read"))
    }

    pub fn damaged(&self, what: &str) -> StoreError {
        damaged(&self.path, what)
    }
}

fn damaged(path: &Path, what: &str) -> StoreError {
    StoreError::Corruption(format!("{} is damaged: {what}", path.display()))
}

fn of_io(path: &Path, error: &std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::NotFound => StoreError::Corruption(format!("{} is missing", path.display())),
        std::io::ErrorKind::UnexpectedEof => damaged(path, "it is too short"),
        _ => StoreError::Io { message: format!("{}: {error}", path.display()), certainty: Certainty::NotDone },
    }
}

struct Entry<'a> {
    key: &'a [u8],
    value: &'a [u8],
}

/// What an entry begins with.
#[derive(Clone, Copy)]
pub(super) struct EntryHead {
    /// Bytes of the key before, with which this one begins.
    pub shared: usize,
    /// Bytes of its own, and where they are.
    pub own: usize,
    pub key: usize,
    /// The value's, behind the key's.
    pub value_bytes: usize,
}

/// The head of the entry at `at`. The sum of its parts may lie behind the block, but does not overflow.
#[inline]
pub(super) fn entry_head(block: &[u8], at: usize) -> Option<EntryHead> {
    if let Some(&[shared, own, value]) = block.get(at..)?.first_chunk::<3>()
        && (shared | own | value) < 0x80
    {
        return Some(EntryHead { shared: shared.into(), own: own.into(), key: at + 3, value_bytes: value.into() });
    }
    let (shared, at) = varint32(block, at)?;
    let (own, at) = varint32(block, at)?;
    let (value_bytes, key) = varint32(block, at)?;
    Some(EntryHead { shared, own, key, value_bytes })
}

/// An entry of an index: its key into `key`, its block and where it ends. After a restart point, a block is known by what it is longer
/// than the one before.
fn index_entry(block: &[u8], at: usize, key: &mut Vec<u8>, last: Handle) -> Option<(Handle, usize)> {
    let (shared, at) = varint32(block, at)?;
    let (own, at) = varint32(block, at)?;
    key.truncate(shared);
    key.extend_from_slice(block.get(at..at + own)?);
    let value = block.get(at + own..)?;
    let (out, bytes) = if shared == 0 {
        handle(value)?
    } else {
        let (zigzag, bytes) = varint(value, 0)?;
        let longer = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let offset = last.offset + (last.bytes + TRAILER_BYTES) as u64;
        (Handle { offset, bytes: usize::try_from(i64::try_from(last.bytes).ok()?.checked_add(longer)?).ok()? }, bytes)
    };
    let in_file = out.bytes <= MAX_BLOCK_BYTES && out.offset < i64::MAX as u64;
    in_file.then_some((out, at + own + bytes))
}

fn handle(bytes: &[u8]) -> Option<(Handle, usize)> {
    let (offset, at) = varint(bytes, 0)?;
    let (length, at) = varint(bytes, at)?;
    Some((Handle { offset, bytes: usize::try_from(length).ok()? }, at))
}

/// Where the entries of a block end.
fn entries_end(block: &[u8]) -> Option<usize> {
    let at = block.len().checked_sub(4)?;
    let packed = u32_at(block, at)?;
    let (flags, restarts) = (packed & !MOST_RESTARTS, (packed & MOST_RESTARTS) as usize);
    if flags & !KNOWN_FLAGS != 0 {
        return None;
    }
    let mut end = at;
    if flags & 1 << 31 != 0 {
        end = end.checked_sub(2)?;
        let buckets = block.get(end..end + 2).map(|bytes| bytes.iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte)))?;
        end = end.checked_sub(buckets)?;
    }
    end.checked_sub(restarts.checked_mul(4)?)
}

#[inline]
fn varint32(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let (number, at) = varint(bytes, at)?;
    Some((u32::try_from(number).ok()? as usize, at))
}

/// A number of seven bits a byte, the lowest first, and where it ends.
#[inline]
fn varint(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((number, at));
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The checksum of bytes and the one behind them, at a place of a file.
fn checksum(bytes: &[u8], last: u8, base: u32, offset: u64) -> u32 {
    let place = base ^ (offset as u32).wrapping_add((offset >> 32) as u32);
    (xxh3_64(bytes) as u32 ^ u32::from(last).wrapping_mul(0x6b90_83d9)).wrapping_add(if base == 0 { 0 } else { place })
}
