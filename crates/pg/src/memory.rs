//! The memory that the process has, and its limit: what makes large values asks here first.
//!
//! A limit is one of the process, as memory is; the last database that was opened with one sets it. What is promised to one caller
//! counts against the next for a moment, until it shows in what the system tells. Pages of files, as the program's own, count for an
//! eighth of the limit at most: the system takes them back when it needs them.

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder, GenericByteViewBuilder, ListArray, StringViewBuilder, StructArray};
use arrow::buffer::{Buffer, OffsetBuffer};
use arrow::datatypes::{ByteViewType, DataType};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is smaller need not ask.
pub const SMALL_BYTES: usize = 1 << 20;

/// What an array takes beside its values.
pub const PIECE_BYTES: usize = 128;

/// What all together may be promised whatever the process has.
const MODEST_BYTES: usize = 8 << 20;
/// By how much the process may have passed its limit, a quarter of it at most, while what is modest is still promised.
const MOST_OVER: usize = 32 << 20;
/// How old an answer of the system may be.
const FRESH: Duration = Duration::from_millis(2);
/// The time in which half of what was promised shows in the memory of the process, or never will.
const SHOWS: Duration = Duration::from_millis(40);
/// What one thread writes of new memory in this time: many small promises are kept soon.
const WRITTEN_BYTES_PER_NS: usize = 1;
/// From here on a promise is remembered by itself, for as long as its bytes may take to be written on a busy machine: two callers that
/// ask for much at the same moment must not both have it.
const LARGE_BYTES: usize = 16 << 20;
const LARGE_NS_PER_BYTE: u64 = 8;
const PAGE_BYTES: usize = 4096;

/// The memory of this process.
#[derive(Debug)]
pub struct ProcessMemory {
    /// 0: none.
    limit: AtomicUsize,
    statm: Option<File>,
    known: AtomicUsize,
    /// Promised and perhaps not yet taken.
    promised: AtomicUsize,
    /// Large promises, and until when each counts.
    large: Mutex<Vec<(usize, Instant)>>,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    at: Option<Instant>,
    halved: Option<Instant>,
    on_use: Option<Box<OnUse>>,
}

/// Called from time to time with how many bytes the process has, and what its limit is.
pub type OnUse = dyn Fn(usize, usize) + Send + Sync;

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked").field("at", &self.at).finish_non_exhaustive()
    }
}

/// The memory of this process.
pub fn process() -> &'static ProcessMemory {
    static PROCESS: LazyLock<ProcessMemory> = LazyLock::new(ProcessMemory::new);
    &PROCESS
}

impl Default for ProcessMemory {
    fn default() -> Self {
        Self::new()
    }
}

impl ProcessMemory {
    /// Without a limit; most want [`process`].
    #[must_use]
    pub fn new() -> Self {
        Self {
            limit: AtomicUsize::new(0),
            statm: File::open("/proc/self/statm").ok(),
            known: AtomicUsize::new(0),
            promised: AtomicUsize::new(0),
            large: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// Sets the limit in bytes, and who is notified of what is used of it.
    pub fn set_limit(&self, bytes: usize, on_use: Option<Box<OnUse>>) {
        self.limit.store(bytes, Ordering::Relaxed);
        if let Ok(mut asked) = self.asked.lock() {
            asked.on_use = on_use;
        }
    }

    /// Whether so many bytes more would pass the limit.
    pub fn exceeded_by(&self, additional: usize) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        if limit == 0 {
            return false;
        }
        let wanted = self.expected(limit).saturating_add(additional);
        if wanted > limit
            && let Ok(mut asked) = self.asked.try_lock()
            && let Some(on_use) = &asked.on_use
        {
            // Who can, makes room for it; whether that was enough, the system tells.
            on_use(wanted, limit);
            asked.at = None;
            drop(asked);
            return self.expected(limit).saturating_add(additional) > limit;
        }
        wanted > limit
    }

    /// Asks for memory for a value.
    ///
    /// # Errors
    /// 53200 if the process would pass its limit.
    pub fn claim(&self, bytes: usize) -> PgResult<()> {
        if bytes < SMALL_BYTES {
            return Ok(());
        }
        let limit = self.limit.load(Ordering::Relaxed);
        if limit == 0 {
            return Ok(());
        }
        // Promises that were kept since are forgotten first.
        let has = self.bytes(limit);
        // Not without an end: one modest promise after the other would fill a process that may have no more.
        let modest =
            self.promised.load(Ordering::Relaxed).saturating_add(bytes) <= self.modest() && has <= limit + (limit / 4).min(MOST_OVER);
        // It is promised before it is asked for: of several at once, each sees the others.
        let promise = self.promise(bytes);
        if !modest && self.exceeded_by(0) {
            self.take_back(bytes, promise);
            return Err(refused(format!("A value of {bytes} bytes is more than the process may still take.")));
        }
        Ok(())
    }

    fn promise(&self, bytes: usize) -> Option<Instant> {
        if bytes < LARGE_BYTES {
            self.promised.fetch_add(bytes, Ordering::Relaxed);
            return None;
        }
        let until = Instant::now() + Duration::from_nanos(LARGE_NS_PER_BYTE.saturating_mul(bytes as u64));
        self.large.lock().unwrap_or_else(PoisonError::into_inner).push((bytes, until));
        Some(until)
    }

    fn take_back(&self, bytes: usize, large: Option<Instant>) {
        match large {
            Some(until) => {
                let mut large = self.large.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(at) = large.iter().position(|promise| *promise == (bytes, until)) {
                    large.swap_remove(at);
                }
            }
            None => {
                let less = |promised: usize| Some(promised.saturating_sub(bytes));
                let _ = self.promised.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            }
        }
    }

    /// What the process has, and what it was promised.
    fn expected(&self, limit: usize) -> usize {
        let mut large = self.large.lock().unwrap_or_else(PoisonError::into_inner);
        if !large.is_empty() {
            let now = Instant::now();
            large.retain(|(_, until)| *until > now);
        }
        let large = large.iter().fold(0, |all: usize, (bytes, _)| all.saturating_add(*bytes));
        self.bytes(limit).saturating_add(self.promised.load(Ordering::Relaxed)).saturating_add(large)
    }

    /// For work that has taken memory which it could not ask for.
    ///
    /// # Errors
    /// 53200 if the process has passed its limit.
    pub fn check(&self) -> PgResult<()> {
        let (limit, modest) = (self.limit.load(Ordering::Relaxed), self.modest());
        if self.exceeded_by(0) && self.bytes(limit) > limit + modest {
            Err(refused("The process has reached its limit.".into()))
        } else {
            Ok(())
        }
    }

    /// What is promised in any case: a process that is large for other reasons does not stop statements altogether.
    fn modest(&self) -> usize {
        (self.limit.load(Ordering::Relaxed) / 8).min(MODEST_BYTES)
    }

    fn bytes(&self, limit: usize) -> usize {
        if let Ok(mut asked) = self.asked.try_lock()
            && asked.at.is_none_or(|at| at.elapsed() > FRESH)
            && let Some(statm) = &self.statm
        {
            let mut text = [0; 96];
            let read = statm.read_at(&mut text, 0).unwrap_or(0);
            let text = std::str::from_utf8(text.get(..read).unwrap_or_default()).unwrap_or_default();
            let mut pages = text.split(' ').skip(1).map_while(|n| n.parse::<usize>().ok().map(|n| n.saturating_mul(PAGE_BYTES)));
            if let (Some(resident), Some(of_files)) = (pages.next(), pages.next()) {
                let bytes = resident.saturating_sub(of_files) + of_files.min(limit / 8);
                self.known.store(bytes, Ordering::Relaxed);
                if let Some(on_use) = &asked.on_use {
                    on_use(bytes, limit);
                }
            }
            let now = Instant::now();
            let halve = asked.halved.is_none_or(|at| now - at > SHOWS);
            if halve {
                asked.halved = Some(now);
            }
            let written = asked.at.map_or(0, |at| usize::try_from((now - at).as_nanos()).unwrap_or(usize::MAX) * WRITTEN_BYTES_PER_NS);
            let _ = self.promised.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |promised| {
                Some(promised.saturating_sub(written) >> usize::from(halve))
            });
            asked.at = Some(now);
        }
        self.known.load(Ordering::Relaxed)
    }
}

/// 53200, with its reason.
#[must_use]
pub fn refused(detail: String) -> PgError {
    PgError::new(SqlState::OUT_OF_MEMORY, "out of memory").detail(detail).hint("Raise --memory-limit, or make the query keep less at once.")
}

/// What the values of an array take, whatever else is in its buffers.
#[must_use]
pub fn value_bytes(array: &dyn Array) -> usize {
    let views = |views: &[u128]| views.iter().map(|view| size_of::<u128>() + (*view as u32 as usize)).sum();
    match array.data_type() {
        DataType::Utf8View => views(array.as_string_view().views()),
        DataType::BinaryView => views(array.as_binary_view().views()),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let (first, last) = (list.value_offsets().first().copied().unwrap_or(0), list.value_offsets().last().copied().unwrap_or(0));
            let (from, count) = (usize::try_from(first).unwrap_or(0), usize::try_from(last - first).unwrap_or(0));
            size_of::<i32>() * list.len() + value_bytes(list.values().slice(from, count).as_ref())
        }
        DataType::Struct(_) => array.as_struct().columns().iter().map(|column| value_bytes(column.as_ref())).sum(),
        _ => array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size()),
    }
}

/// The same values with texts that are shared with no others: who keeps a slice of a column should not keep the texts of all of it.
#[must_use]
pub fn own_values(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8View => Arc::new(array.as_string_view().gc()),
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        DataType::List(item) => {
            let list = array.as_list::<i32>();
            let first = list.value_offsets().first().copied().unwrap_or(0);
            let offsets: Vec<i32> = list.value_offsets().iter().map(|offset| offset - first).collect();
            let (from, count) =
                (usize::try_from(first).unwrap_or(0), offsets.last().and_then(|last| usize::try_from(*last).ok()).unwrap_or(0));
            let values = own_values(&list.values().slice(from, count));
            match ListArray::try_new(Arc::clone(item), OffsetBuffer::new(offsets.into()), values, list.nulls().cloned()) {
                Ok(own) => Arc::new(own),
                Err(_) => Arc::clone(array),
            }
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().map(own_values).collect();
            match StructArray::try_new(fields.clone(), columns, array.nulls().cloned()) {
                Ok(own) => Arc::new(own),
                Err(_) => Arc::clone(array),
            }
        }
        _ => Arc::clone(array),
    }
}

/// Makes room for so many bytes more in a buffer that grows.
///
/// # Errors
/// 53200 if the process would pass its limit.
pub fn reserve(buffer: &mut Vec<u8>, additional: usize) -> PgResult<()> {
    if buffer.capacity() - buffer.len() < additional {
        let grown = (buffer.len() + additional).max(2 * buffer.capacity());
        process().claim(grown - buffer.capacity())?;
        buffer.reserve_exact(grown - buffer.len());
    }
    Ok(())
}

/// Appends a text to a column; one that is large is taken out of the buffer, not copied.
///
/// # Errors
/// XX000 for more than four gigabytes.
pub fn append_text(out: &mut StringViewBuilder, text: &mut String) -> PgResult<()> {
    if text.len() < SMALL_BYTES {
        out.append_value(text);
        return Ok(());
    }
    append_large(out, std::mem::take(text).into_bytes())
}

/// As [`append_text`], for bytes.
///
/// # Errors
/// XX000 for more than four gigabytes.
pub fn append_bytes(out: &mut BinaryViewBuilder, bytes: Vec<u8>) -> PgResult<()> {
    if bytes.len() < SMALL_BYTES {
        out.append_value(bytes);
        return Ok(());
    }
    append_large(out, bytes)
}

fn append_large<T: ByteViewType>(out: &mut GenericByteViewBuilder<T>, mut value: Vec<u8>) -> PgResult<()> {
    if value.capacity() / 9 * 8 > value.len() {
        value.shrink_to_fit();
    }
    let length = u32::try_from(value.len()).map_err(|_| PgError::internal("a value of more than 4 GB"))?;
    let block = out.append_block(Buffer::from(value));
    out.try_append_view(block, 0, length).map_err(|error| PgError::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Of tests that measure the process, one at a time.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn what_is_promised_counts_until_it_shows() {
        let _alone = ALONE.lock();
        let memory = ProcessMemory::new();
        assert!(!memory.exceeded_by(1 << 50) && memory.claim(1 << 50).is_ok(), "there is no limit");
        memory.promised.store(0, Ordering::Relaxed);
        let used = memory.bytes(usize::MAX);
        assert!(used > 100 << 10);
        memory.set_limit(used + (256 << 20), None);
        memory.claim(200 << 20).unwrap();
        assert_eq!(memory.claim(200 << 20).unwrap_err().fields().code, SqlState::OUT_OF_MEMORY);
        memory.claim(1000).unwrap();
        for _ in 0..6 {
            memory.claim(7 << 20).unwrap();
        }
        memory.claim(30 << 20).unwrap_err();
        std::thread::sleep(Duration::from_nanos(LARGE_NS_PER_BYTE * (200 << 20)));
        memory.claim(150 << 20).unwrap();
    }

    #[test]
    fn a_large_process_still_serves_the_modest() {
        let _alone = ALONE.lock();
        let memory = ProcessMemory::new();
        memory.set_limit(64 << 10, None);
        assert_eq!(memory.check().unwrap_err().fields().code, SqlState::OUT_OF_MEMORY);
        memory.claim(SMALL_BYTES).unwrap_err();
        let reserve: Vec<u8> = (0..200 << 20).map(|i| i as u8).collect();
        let has = memory.bytes(1 << 40);
        // It has passed its limit by a little.
        memory.set_limit(has - (12 << 20), None);
        for _ in 0..20 {
            std::thread::sleep(SHOWS / 2);
            memory.claim(SMALL_BYTES).unwrap();
        }
        memory.claim(9 << 20).unwrap_err();
        // By much.
        memory.set_limit(64 << 20, None);
        memory.claim(SMALL_BYTES).unwrap_err();
        drop(reserve);
    }

    #[test]
    fn large_values_are_not_copied() {
        let mut out = StringViewBuilder::new();
        let mut text = "é".repeat(SMALL_BYTES);
        let at = text.as_ptr();
        append_text(&mut out, &mut text).unwrap();
        assert!(text.is_empty());
        text.push_str("short");
        append_text(&mut out, &mut text).unwrap();
        let column = out.finish();
        assert_eq!((column.value(0).as_ptr(), column.value(0).len(), column.value(1)), (at, 2 * SMALL_BYTES, "short"));
    }

    #[test]
    fn it_tells_what_is_used() {
        static TOLD: AtomicUsize = AtomicUsize::new(0);
        let memory = ProcessMemory::new();
        memory.set_limit(1 << 40, Some(Box::new(|used, limit| TOLD.store(usize::from(limit == 1 << 40) * used, Ordering::Relaxed))));
        memory.exceeded_by(0);
        assert!(TOLD.load(Ordering::Relaxed) > 100 << 10);
    }
}
