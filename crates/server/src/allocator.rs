//! The allocator of the program, and what it does with memory that was freed.
//!
//! In plenty of memory it keeps some for a while, and asks for large pages: both save time. Where the limit is near, or small, what was
//! freed goes back to the system at once.

use libmimalloc_sys::{mi_malloc, mi_realloc, mi_zalloc};
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// mimalloc. What asks for no more than the alignment that every block has is not asked for by alignment, which takes twice as many instructions.
#[derive(Debug)]
pub struct Allocator;

/// Every block that mimalloc gives begins at a multiple of this.
const WORD: usize = size_of::<usize>();

// SAFETY: blocks come from mimalloc and go back to it. They have the alignment that is asked for: either it is asked to give it, or every block
// has it, after `mi_realloc` as well.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= WORD {
            // SAFETY: any size may be asked for.
            unsafe { mi_malloc(layout.size()).cast() }
        } else {
            // SAFETY: the caller's promise is the same.
            unsafe { MiMalloc.alloc(layout) }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= WORD {
            // SAFETY: any size may be asked for.
            unsafe { mi_zalloc(layout.size()).cast() }
        } else {
            // SAFETY: the caller's promise is the same.
            unsafe { MiMalloc.alloc_zeroed(layout) }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from mimalloc.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= WORD {
            // SAFETY: the block came from mimalloc; any size may be asked for.
            unsafe { mi_realloc(block.cast(), size).cast() }
        } else {
            // SAFETY: the caller's promise is the same.
            unsafe { MiMalloc.realloc(block, layout, size) }
        }
    }
}

/// Limits below this are small: large pages that are half empty would be a good part of them.
const SMALL_LIMIT: u64 = 2 << 30;

/// `mi_option_purge_delay`, which the bindings have no name for.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
const PURGE_AT_ONCE: std::ffi::c_long = 0;
const PURGE_DELAY_MS: std::ffi::c_long = 1000;

/// How long the code of what is executed stays at least. To map it again takes a few milliseconds.
const CODE_STAYS: Duration = Duration::from_millis(200);

static SMALL: AtomicBool = AtomicBool::new(false);

/// To be called before the database is opened.
pub fn prepare(limit: u64) {
    if limit >= SMALL_LIMIT {
        return;
    }
    SMALL.store(true, Ordering::Relaxed);
    set_purge_delay(PURGE_AT_ONCE);
    #[cfg(target_os = "linux")]
    {
        const NONE: libc::c_ulong = 0;
        // SAFETY: it changes an attribute of this process, and touches no memory. It is no matter if it fails.
        unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1 as libc::c_ulong, NONE, NONE, NONE) };
    }
}

/// Tells whether the process is near its limit.
pub fn under_pressure(near: bool) {
    let small = SMALL.load(Ordering::Relaxed);
    set_purge_delay(if near || small { PURGE_AT_ONCE } else { PURGE_DELAY_MS });
    if near && small {
        forget_code_now_and_then();
    }
}

/// In a small limit the code of what has been executed once, tens of megabytes, is a good part.
fn forget_code_now_and_then() {
    static LAST: Mutex<Option<Instant>> = Mutex::new(None);
    let Ok(mut last) = LAST.try_lock() else { return };
    if last.is_none_or(|at| at.elapsed() > CODE_STAYS) {
        forget_code();
        *last = Some(Instant::now());
    }
}

/// Gives the pages of the program's code back. They are the file's: what is needed comes back from the system's cache when it is executed.
pub fn forget_code() {
    #[cfg(target_os = "linux")]
    {
        let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
        let Some(program) = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned)) else { return };
        for line in maps.lines().filter(|line| line.ends_with(&program)) {
            let Some((from, to)) = code_pages(line) else { continue };
            // SAFETY: the pages are code that nobody has written to, so that dropping them loses nothing: they are mapped from the file
            // again, with the same content, by the next access.
            unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_DONTNEED) };
        }
    }
}

/// The addresses of a mapping that can be executed and not written, from a line of `/proc/self/maps`.
#[cfg(target_os = "linux")]
fn code_pages(line: &str) -> Option<(usize, usize)> {
    let (range, rest) = line.split_once(' ')?;
    if !rest.starts_with("r-xp ") {
        return None;
    }
    let (from, to) = range.split_once('-')?;
    Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
}

fn set_purge_delay(milliseconds: std::ffi::c_long) {
    // SAFETY: options are numbers that the allocator reads when it needs them; this one is known to the version that is linked.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, milliseconds) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn code_is_reported_from_data() {
        assert_eq!(code_pages("1000-3000 r-xp 00000000 fe:00 1 /stoa"), Some((0x1000, 0x3000)));
        for line in ["1000-3000 r--p 00000000 fe:00 1 /stoa", "1000-3000 rw-p 00000000 fe:00 1 /stoa", "x-3000 r-xp 0", ""] {
            assert_eq!(code_pages(line), None, "{line}");
        }
        // What runs goes on.
        forget_code();
    }

    #[test]
    fn blocks_are_aligned_and_keep_what_is_in_them() -> Result<(), std::alloc::LayoutError> {
        for align in [1, 2, 4, 8, 16, 64, 4096] {
            for size in [1, 3, 8, 24, 40, 100, 1000, 5000, 70_000] {
                let layout = Layout::from_size_align(size, align)?;
                let tripled = Layout::from_size_align(size * 3, align)?;
                // SAFETY: each block is written within its size, and freed once with the layout that it has then.
                unsafe {
                    let zeroed = Allocator.alloc_zeroed(layout);
                    assert!(std::slice::from_raw_parts(zeroed, size).iter().all(|byte| *byte == 0));
                    let block = Allocator.alloc(layout);
                    block.write_bytes(7, size);
                    let grown = Allocator.realloc(block, layout, tripled.size());
                    assert!(std::slice::from_raw_parts(grown, size).iter().all(|byte| *byte == 7));
                    for block in [zeroed, grown] {
                        assert_eq!(block.addr() % align, 0, "{size} bytes at {align}");
                    }
                    Allocator.dealloc(zeroed, layout);
                    Allocator.dealloc(grown, tripled);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn the_number_is_that_of_the_purge_delay() {
        // SAFETY: as above.
        let delay = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        assert_eq!(delay(), PURGE_DELAY_MS, "the allocator's default tells which option it is");
        under_pressure(true);
        assert_eq!(delay(), PURGE_AT_ONCE);
        under_pressure(false);
        assert_eq!(delay(), PURGE_DELAY_MS);
    }
}
