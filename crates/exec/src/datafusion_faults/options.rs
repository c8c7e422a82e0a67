//! Options of DataFusion's, set so that what goes wrong by them does not happen.
//!
//! Aggregates tell scans which rows can still matter (`enable_aggregate_dynamic_filter_pushdown`): partitions share the bounds that they have
//! found so far, and rows were lost (apache/datafusion#25147 is open, #20267 and #24816 were others).
//! May go: when these are closed in the release that is used, and `sql-tests/neutral/counts_of_rows_that_are_null.slt` passes with it.
//!
//! The check that an aggregate's logical and physical inputs have one schema (`skip_physical_aggregate_schema_check`): a CASE may be nullable
//! in one of them (apache/datafusion#13190 and #24968 are open; #23844 and #24096 were cases of it).
//! May go: when these are closed and the statements of `sql-tests` are planned with the check.
//!
//! Filters that become known while a plan runs, in plans that are executed in rounds: they keep what the round before has taught them.
//! DataFusion's own recursion has no such rounds, and no issue. May go: when `reset_plan_states` lets filters forget.

use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::prelude::SessionConfig;

/// DataFusion's options for the statements of a database, which have so much memory together.
pub fn config(parallelism: usize, batch_rows: usize, memory: MemoryLimit) -> SessionConfig {
    let mut config = SessionConfig::new().with_target_partitions(parallelism).with_batch_size(batch_rows);
    let options = config.options_mut();
    options.optimizer.enable_round_robin_repartition = false;
    options.optimizer.prefer_existing_sort = true;
    options.optimizer.max_passes = 2;
    // A CASE may be nullable in one of the two schemas that it compares.
    options.execution.skip_physical_aggregate_schema_check = true;
    // Partitions of an aggregate would share the bounds they have found so far; with many of them, some without values, rows were lost.
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    // A list of values says which keys to read, a hash table does not.
    options.optimizer.hash_join_inlist_pushdown_max_distinct_values = 2048;
    options.explain.show_statistics = false;
    if let MemoryLimit::Finite(bytes) = memory {
        // What a sort keeps for the merge of what it has spilled: in a small pool its default is more than a fair share.
        options.execution.sort_spill_reservation_bytes = (bytes / 64).clamp(512 << 10, 10 << 20);
        // Below it, batches are joined before they are sorted, which takes them twice.
        options.execution.sort_in_place_threshold_bytes = (bytes / 256).clamp(128 << 10, 1 << 20);
    }
    config
}

/// The same for plans that are executed again and again: no part of them learns from the rows that another part has met.
pub fn for_rounds(config: &SessionConfig) -> SessionConfig {
    let mut config = config.clone();
    let options = &mut config.options_mut().optimizer;
    options.enable_dynamic_filter_pushdown = false;
    options.enable_join_dynamic_filter_pushdown = false;
    options.enable_topk_dynamic_filter_pushdown = false;
    config
}
