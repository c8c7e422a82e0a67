//! The contract as tests: every store passes them, on every commit.
//!
//! ```
//! use stoa_store::conformance::{Fixture, run};
//! use stoa_store::model::ModelStore;
//! # fn main() {
//! run(&|clock| Fixture::new(std::sync::Arc::new(ModelStore::with_clock(clock))));
//! # }
//! ```
//!
//! Each test makes stores of its own, which begin empty. The number in a test's name is that of the guarantee in
//! [`crate::Store`]. A failure is a panic that names the test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod concurrency;
mod history;
mod random;
mod reading;
mod support;
mod writing;

use crate::Store;
use crate::clock::{Clock, ManualClock, SystemClock};
pub use random::random_operations;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
pub use support::{Histories, RowHistory, Rows, SplitMix};

/// A store under test.
pub struct Fixture {
    pub store: Arc<dyn Store>,
    /// Closes the store, as a crash would if it can, and opens it again; tests of durability are skipped without.
    pub reopen: Option<Box<dyn Fn() -> Arc<dyn Store>>>,
    /// Anything that must live as long as the store.
    pub keep: Option<Box<dyn std::any::Any>>,
}

impl Fixture {
    /// A store that can't be opened again.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, reopen: None, keep: None }
    }
}

/// Makes an empty store that takes the time from the clock.
pub type MakeStore<'a> = &'a dyn Fn(Arc<dyn Clock>) -> Fixture;

type Test = fn(MakeStore<'_>);

const TESTS: &[(&str, Test)] = &[
    ("schemas_are_kept_and_changed", writing::schemas_are_kept_and_changed),
    ("1_scans_yield_exactly_the_rows_of_the_range_in_order", reading::scans_yield_exactly_the_rows_of_the_range_in_order),
    ("1_blocks_limits_and_breaks_lose_no_row", reading::blocks_limits_and_breaks_lose_no_row),
    ("1_a_scan_goes_from_part_to_part", reading::a_scan_goes_from_part_to_part),
    ("1_get_answers_in_the_order_of_the_keys", reading::get_answers_in_the_order_of_the_keys),
    ("1_qualifier_ranges_versions_and_times_choose_cells", reading::qualifier_ranges_versions_and_times_choose_cells),
    ("1_any_bytes_are_keys_qualifiers_and_values", reading::any_bytes_are_keys_qualifiers_and_values),
    ("1_regions_cover_all_keys", reading::regions_cover_all_keys),
    ("2_a_row_changes_in_all_families_at_once", concurrency::a_row_changes_in_all_families_at_once),
    ("3_commits_are_atomic_and_timestamps_rise", concurrency::commits_are_atomic_and_timestamps_rise),
    ("3_the_last_of_several_changes_of_a_cell_wins", writing::the_last_of_several_changes_of_a_cell_wins),
    ("3_what_is_deleted_does_not_come_back_beside_what_is_set", writing::what_is_deleted_does_not_come_back_beside_what_is_set),
    ("3_a_refused_commit_leaves_nothing", writing::a_refused_commit_leaves_nothing),
    ("4_snapshots_do_not_change", reading::snapshots_do_not_change),
    ("5_first_committer_wins", writing::first_committer_wins),
    ("5_validated_ranges_must_not_change", writing::validated_ranges_must_not_change),
    ("5_concurrent_increments_are_not_lost", concurrency::concurrent_increments_are_not_lost),
    ("6_acknowledged_writes_survive", writing::acknowledged_writes_survive),
    ("7_versions_and_ttl_hide_cells_at_once", reading::versions_and_ttl_hide_cells_at_once),
    ("7_expired_cells_stay_so_with_another_ttl", reading::expired_cells_stay_so_with_another_ttl),
    ("7_expired_cells_do_not_come_back_after_compaction", reading::expired_cells_do_not_come_back_after_compaction),
    ("8_errors_say_what_happened", writing::errors_say_what_happened),
    ("10_a_watch_ends_before_a_change_is_seen", concurrency::a_watch_ends_before_a_change_is_seen),
    ("11_a_history_tells_what_reads_of_the_past_see", history::a_history_tells_what_reads_of_the_past_see),
    ("11_a_history_has_deletions_and_what_came_after_them", history::a_history_has_deletions_and_what_came_after_them),
    ("11_a_history_says_since_when_it_is_known", history::a_history_says_since_when_it_is_known),
    ("11_histories_come_in_blocks", history::histories_come_in_blocks),
    ("what_follows_a_commit_is_done_once_it_is_visible", writing::what_follows_a_commit_is_done_once_it_is_visible),
    ("bulk_loads_appear_at_once", writing::bulk_loads_appear_at_once),
    ("bulk_loads_are_one_commit_of_many_tables", writing::bulk_loads_are_one_commit_of_many_tables),
];

/// Runs every test.
pub fn run(make: MakeStore<'_>) {
    run_fixed(make);
    let guard = NameOnPanic("random_operations_do_as_the_model_does");
    random_operations(make, 1..=6, 400);
    drop(guard);
}

/// Runs every test but the random one, for stores where that takes long: they run [`random_operations`] as often as they can.
pub fn run_fixed(make: MakeStore<'_>) {
    for (name, test) in TESTS {
        let guard = NameOnPanic(name);
        test(make);
        drop(guard);
    }
}

/// Runs the tests of bulk loads, for stores that do them in several ways.
pub fn bulk_loads(make: MakeStore<'_>) {
    writing::bulk_loads_appear_at_once(make);
    writing::bulk_loads_are_one_commit_of_many_tables(make);
    writing::acknowledged_writes_survive(make);
    concurrency::a_watch_ends_before_a_change_is_seen(make);
}

struct NameOnPanic(&'static str);

impl Drop for NameOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("conformance test failed: {}", self.0);
        }
    }
}

/// A clock that stands at the present: a store's servers may have a clock of their own, by which they tell what is old.
fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_us(SystemClock.now_us() / 1_000_000 * 1_000_000))
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread. Stores that need a runtime must be entered into it before.
pub fn block_on<F: Future>(future: F) -> F::Output {
    thread_local! {
        static WAKER: Waker = Arc::new(Unpark(std::thread::current())).into();
    }
    let mut future = pin!(future);
    WAKER.with(|waker| {
        let mut context = Context::from_waker(waker);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                Poll::Pending => std::thread::park(),
            }
        }
    })
}
