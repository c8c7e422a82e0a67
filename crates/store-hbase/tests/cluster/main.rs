//! Tests of the store on a real HBase cluster, which is started as that of the client's tests, with two region servers.
//!
//! Left out with a line where there is no java or no mvn. `cargo test -p stoa-store-hbase --test cluster -- NAME…` runs those whose names
//! hold a NAME. `HBASE_TEST_SECONDS` is how long each test with random changes lasts (40).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod contract;
mod failures;
#[allow(dead_code)]
#[path = "../../../hbase-client/tests/cluster/harness.rs"]
mod harness;
mod model;
mod owners;
mod support;

use harness::Cluster;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

type Test = (&'static str, fn(&Cluster));

const TESTS: &[Test] = &[
    ("contract_fixed", contract::fixed),
    ("contract_random", contract::random),
    ("contract_random_over_memory", contract::random_over_memory),
    ("contract_bounds", contract::bounds),
    ("owners_a_second_store_takes_over", owners::a_second_store_takes_over),
    ("owners_killed_and_opened_again", owners::killed_and_opened_again),
    ("owners_the_log_is_trimmed_and_found", owners::the_log_is_trimmed_and_found),
    ("owners_what_hangs_does_not_hold_the_log", owners::what_hangs_does_not_hold_the_log),
    ("failures_a_region_server_dies", failures::a_region_server_dies),
    ("model_of_history", model::of_history),
    ("model_finds_planted_errors", model::finds_planted_errors),
    ("model_what_ended_goes", model::what_ended_goes),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [child, quorum, namespace] = &args[..]
        && child == owners::CHILD
    {
        return owners::child(quorum, namespace);
    }
    let names: Vec<String> = args.into_iter().filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |test: &&Test| names.is_empty() || names.iter().any(|name| test.0.contains(name.as_str()));
    let Some(cluster) = Cluster::start(2) else {
        println!("tests on a cluster are left out: java 17, javac and mvn are needed, and the jars that mvn fetches");
        return;
    };
    let mut failed = Vec::new();
    for (name, test) in TESTS.iter().filter(wanted) {
        let began = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| test(&cluster)));
        println!("{name}: {} in {:.1} s", if ended.is_ok() { "ok" } else { "FAILED" }, began.elapsed().as_secs_f64());
        if ended.is_err() {
            failed.push(*name);
        }
        cluster.heal();
    }
    drop(cluster);
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
        std::process::exit(1);
    }
}
