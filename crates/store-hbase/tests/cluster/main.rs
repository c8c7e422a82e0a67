//! Tests of the store on a real HBase cluster, which is started as that of the client's tests, with two region servers.
//!
//! Left out with a line where there is no java or no mvn. `cargo test -p stoa-store-hbase --test cluster -- NAME…` runs those whose names
//! hold a NAME. `HBASE_TEST_SECONDS` is how long each test with random changes lasts (40), `HBASE_TEST_ROUNDS` how many rounds of failures there are (6),
//! and `HBASE_TEST_SEED` where their order begins.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod backups;
mod contract;
mod failures;
#[allow(dead_code)]
#[path = "../../../hbase-client/tests/cluster/harness.rs"]
mod harness;
mod loads;
mod model;
mod owners;
mod rounds;
mod support;

use harness::{Test, run};

const TESTS: &[Test] = &[
    ("contract_fixed", contract::fixed),
    ("contract_random", contract::random),
    ("contract_random_over_memory", contract::random_over_memory),
    ("contract_bounds", contract::bounds),
    ("contract_staged_loads", contract::staged_loads),
    ("backups_are_of_one_moment", backups::are_of_one_moment),
    ("loads_beyond_memory", loads::beyond_memory),
    ("loads_killed_in_the_middle", loads::killed_in_the_middle),
    ("loads_backfill_stays_below_what_is_newer", loads::backfill_stays_below_what_is_newer),
    ("owners_a_second_store_takes_over", owners::a_second_store_takes_over),
    ("owners_killed_and_opened_again", owners::killed_and_opened_again),
    ("owners_the_log_is_trimmed_and_found", owners::the_log_is_trimmed_and_found),
    ("owners_what_hangs_does_not_hold_the_log", owners::what_hangs_does_not_hold_the_log),
    ("failures_a_region_server_dies", failures::a_region_server_dies),
    ("rounds_of_failures", rounds::of_failures),
    ("model_of_history", model::of_history),
    ("model_finds_planted_errors", model::finds_planted_errors),
    ("model_what_ended_goes", model::what_ended_goes),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [child, quorum, namespace] = &args[..] {
        match child.as_str() {
            owners::CHILD => return owners::child(quorum, namespace),
            loads::CHILD => return loads::child(quorum, namespace),
            _ => {}
        }
    }
    run(2, TESTS, &args);
}
