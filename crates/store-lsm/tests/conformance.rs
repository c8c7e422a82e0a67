//! The contract's tests on this store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;
use stoa_store::Store;
use stoa_store::conformance::{Fixture, random_operations, run};
use stoa_store_lsm::{LsmOptions, LsmStore};

fn fixture(clock: Arc<dyn stoa_store::clock::Clock>) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_path_buf();
    let open = move || -> Arc<dyn Store> {
        // Small buffers, so that flushes and compactions happen.
        let options =
            LsmOptions { clock: Arc::clone(&clock), write_buffer_bytes: 2 << 20, block_cache_bytes: 8 << 20, ..Default::default() };
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
