//! Tests on a real HBase cluster: ZooKeeper, HDFS, a master and three region servers, started by the script beside this file.
//!
//! Left out with a line where there is no java or no mvn. `cargo test -p stoa-hbase-client --test cluster -- NAME…` runs those whose names
//! hold a NAME. `HBASE_TEST_SECONDS` is how long each test with failures lasts (40). The cluster is stopped in the end, unless it was up
//! before. Nothing here has a runtime of its own: the client is waited for with `block_on`, as a program without tokio would.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod administration;
mod failures;
mod harness;
mod java;
mod points;
mod scans;

use harness::{Test, run};

const TESTS: &[Test] = &[
    ("points_every_kind_of_mutation", points::every_kind_of_mutation),
    ("points_conditions", points::conditions),
    ("points_batches_fail_in_parts", points::batches_fail_in_parts),
    ("points_limits_and_errors", points::limits_and_errors),
    ("points_the_rpc_registry", points::the_rpc_registry),
    ("admin_tables", administration::tables),
    ("admin_regions", administration::regions),
    ("admin_snapshots", administration::snapshots),
    ("scans_ranges_and_limits", scans::ranges_and_limits),
    ("scans_filters", scans::filters),
    ("scans_versions_and_times", scans::versions_and_times),
    ("scans_rows_of_many_mebibytes", scans::rows_of_many_mebibytes),
    ("scans_leases_outlived", scans::leases_outlived),
    ("java_reads_and_writes_the_same", java::reads_and_writes_the_same),
    ("failures_acknowledged_puts_are_there", failures::acknowledged_puts_are_there),
    ("failures_scans_equal_a_model", failures::scans_equal_a_model),
    ("failures_a_stopped_server", failures::a_stopped_server),
];

fn main() {
    run(3, TESTS, &std::env::args().skip(1).collect::<Vec<_>>());
}
