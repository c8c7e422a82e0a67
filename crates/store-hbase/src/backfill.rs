//! Cells of the past: entries of an index that is built are put at the time of the snapshot that they were made from.
//!
//! Newest wins by time: what a commit has put or deleted since stands above, wherever it is by now, in memory or in HBase, where its marker
//! hides what comes later below it for as long as the retention. So nothing is checked, and nothing is in the log: the caller does it
//! again after a crash.

use crate::commit::Core;
use crate::failure::write_error;
use crate::keys::{LIMITS, to_hbase};
use crate::options::HbaseOptions;
use crate::ticks::Tick;
use bytes::Bytes;
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use stoa_hbase_client::{Action, Mutation};
use stoa_store::{FamilyId, MutationRef, StoreResult, TableId, Timestamp};

/// Rows of a call, and calls under way.
const ROWS: usize = 1000;
const AT_ONCE: usize = 4;
/// How long a call is tried: longer than a region needs to be elsewhere when its server dies.
const PATIENCE: Duration = Duration::from_secs(120);

/// Whether cells of a family can simply be put at a time: it has one version, and markers of the table last longer than calls take.
///
/// # Errors
/// [`StoreError`](stoa_store::StoreError).
pub(crate) fn can_put(core: &Core, table: TableId, family: FamilyId, at: Timestamp) -> StoreResult<bool> {
    let table = core.table(table)?;
    let family = table.family(family)?;
    let tick = Tick::at_or_before(at);
    let horizon = HbaseOptions::horizon(Duration::from_millis(table.stored.retention_ms));
    let is_late = Duration::from_millis((core.options.clock.now_us() / 1000).saturating_sub(tick.0)) > horizon.saturating_sub(PATIENCE);
    Ok(family.is_packed() && family.marks_what_is_replaced() && tick.0 > table.stored.since.max(family.since) && !is_late)
}

/// Puts them; nobody watches the table's rows from then on.
///
/// # Errors
/// What HBase says: some may have been put.
pub(crate) async fn put(core: &Arc<Core>, id: TableId, family: FamilyId, cells: &[(&[u8], &[u8])], at: Timestamp) -> StoreResult<()> {
    let _not_quiet = core.quiet.read().await;
    core.check_owner()?;
    let found = core.table(id)?;
    let _gate = Arc::clone(&found.gate).read_owned().await;
    let table = core.table(id)?;
    let of = table.family(family)?;
    let time = Tick::at_or_before(at).0 as i64;
    let mut actions = Vec::with_capacity(cells.len());
    for (key, value) in cells {
        LIMITS.check_mutation(&table.schema, &MutationRef::Put { table: id, key, family, qualifier: &[], value })?;
        let key = Bytes::copy_from_slice(&to_hbase(key));
        actions.push(Action::Mutate(Mutation::put(key).set_at(&of.hbase, of.to_hbase(&[]), time, value)));
    }
    core.window.lock().end_watches(id);
    let handle = table.handle.timeout(PATIENCE);
    let calls = actions.chunks(ROWS).map(|actions| {
        let handle = handle.clone();
        async move { handle.batch(actions).await.into_iter().find_map(Result::err) }
    });
    let mut calls = futures::stream::iter(calls.collect::<Vec<_>>()).buffer_unordered(AT_ONCE);
    while let Some(failed) = calls.next().await {
        failed.map_or(Ok(()), |error| Err(write_error(error)))?;
    }
    table.last_change.fetch_max(core.view().tick.0, std::sync::atomic::Ordering::AcqRel);
    Ok(())
}
