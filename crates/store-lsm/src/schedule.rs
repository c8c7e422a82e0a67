//! What the commit thread asks of the operating system's scheduler.

/// Asks that the calling thread runs soon after it is woken, for which it is content with short slices of time.
///
/// The commit thread works for microseconds at a time, and everyone who commits waits for it; on a busy machine it would stand behind
/// threads that may use up a slice of milliseconds. Linux heeds such a wish from 6.12 on, and asks for no privilege; older ones take no
/// notice of it. Its priority, and so its share of the CPU, stay as they are. It is no matter if it fails.
pub(crate) fn prefer_short_slices() {
    #[cfg(target_os = "linux")]
    linux::prefer_short_slices();
}

#[cfg(target_os = "linux")]
mod linux {
    /// The shortest that Linux knows.
    pub(super) const SLICE_NS: u64 = 100_000;

    /// The first version of the kernel's `struct sched_attr`.
    #[repr(C)]
    #[derive(Default)]
    pub(super) struct Attributes {
        size: u32,
        pub(super) policy: u32,
        flags: u64,
        pub(super) nice: i32,
        priority: u32,
        /// Nanoseconds of a slice, under the policies that share time.
        pub(super) runtime: u64,
        deadline: u64,
        period: u64,
    }

    const ATTRIBUTES_BYTES: u32 = size_of::<Attributes>() as u32;

    /// Those of the calling thread.
    pub(super) fn attributes() -> Option<Attributes> {
        let mut found = Attributes::default();
        // SAFETY: the kernel writes no more bytes than it is told that there are.
        let outcome = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, ATTRIBUTES_BYTES, 0) };
        (outcome == 0).then_some(found)
    }

    pub(super) fn prefer_short_slices() {
        // Under other policies there are no slices, or nobody waits.
        let Some(mut wanted) = attributes().filter(|found| found.policy == libc::SCHED_OTHER.cast_unsigned()) else { return };
        wanted.size = ATTRIBUTES_BYTES;
        wanted.runtime = SLICE_NS;
        // SAFETY: the kernel reads as many bytes as `size` says.
        let outcome = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const wanted, 0) };
        if outcome != 0 {
            tracing::debug!("the commit thread gets no short slices: {}", std::io::Error::last_os_error());
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::linux::{SLICE_NS, attributes};

    #[test]
    fn slices_become_short_and_nothing_else_changes() {
        std::thread::spawn(|| {
            let Some(before) = attributes() else { return };
            super::prefer_short_slices();
            let after = attributes().unwrap();
            assert_eq!((after.policy, after.nice), (before.policy, before.nice));
            // Before 6.12 the kernel tells of no slices.
            assert!(after.runtime == before.runtime || after.runtime == SLICE_NS, "{}", after.runtime);
        })
        .join()
        .unwrap();
    }
}
