//! The contract's tests on this store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;
use stoa_store::Store;
use stoa_store::conformance::{Fixture, random_operations, run};
use stoa_store_lsm::{LsmOptions, LsmStore};

fn fixture(clock: Arc<dyn stoa_store::clock::Clock>) -> Fixture {
    with_file_scans_from(LsmOptions::default().file_scan_bytes, clock)
}

fn with_file_scans_from(file_scan_bytes: u64, clock: Arc<dyn stoa_store::clock::Clock>) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_path_buf();
    let open = move || -> Arc<dyn Store> {
        // Small buffers, so that flushes and compactions happen.
        let (write_buffer_bytes, block_cache_bytes) = (2 << 20, 8 << 20);
        let options =
            LsmOptions { clock: Arc::clone(&clock), write_buffer_bytes, block_cache_bytes, file_scan_bytes, ..Default::default() };
        Arc::new(LsmStore::open(&path, options).unwrap())
    };
    Fixture { store: open(), reopen: Some(Box::new(open)), keep: Some(Box::new(directory)) }
}

#[test]
fn the_store_conforms() {
    run(&fixture);
}

#[test]
fn random_operations_for_longer() {
    random_operations(&fixture, 100..=106, 1000);
}

#[test]
fn with_every_scan_of_files_it_conforms() {
    let fixture = |clock: Arc<dyn stoa_store::clock::Clock>| with_file_scans_from(0, clock);
    run(&fixture);
    random_operations(&fixture, 200..=206, 1000);
}
