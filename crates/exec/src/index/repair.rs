//! CHECK … REPAIR: entries that differ are written as the newest rows ask for.
//!
//! Invariant: a row is locked before its entries are looked at again, so that what is repaired is what the row is when the
//! repair commits, whatever others did since the check's snapshot.

use super::check::{CheckTarget, Fault, FaultKind};
use super::entries::each_entry;
use crate::nodes::StatementContext;
use crate::write::lookup;
use crate::write::table_writer::TableWriter;
use hashbrown::HashMap;
use stoa_pg::PgResult;
use stoa_table::row::{INDEX_FAMILY, KeyList};
use stoa_table::services::locks::{LockStrength, LockWait};
use stoa_table::txn::ReadView;

/// Rows that are locked and repaired together.
const ROWS_AT_ONCE: usize = 512;

/// Repairs what a check found, within the statement's transaction. Two rows with one key of a unique index stay: which of them is
/// right only their owner knows.
///
/// # Errors
/// The store failed; 55P03 and 40P01 of row locks.
pub async fn repair(ctx: &StatementContext, target: &CheckTarget, faults: &mut [Fault]) -> PgResult<()> {
    let writer = TableWriter::new(ctx, &target.table)?;
    for faults in faults.chunks_mut(ROWS_AT_ONCE) {
        ctx.session.check_interrupt()?;
        let mut keys = KeyList::new();
        let mut rows: Vec<&[u8]> = faults.iter().filter_map(|f| f.row.as_deref()).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.iter().for_each(|row| keys.push(row));
        ctx.txn.lock_rows(writer.codec.storage, &keys, LockStrength::Key, LockWait::Wait, &writer.table.name).await?;
        let (found, _) = lookup::rows_by_key(&ctx.txn.newest_view(), &writer.table, &writer.codec, &rows).await?;
        let mut stored = KeyList::new();
        {
            let encoder = stoa_table::row::RowEncoder::new(&writer.codec, |id| found.get(id).cloned())?;
            for row in 0..found.len() {
                stored.push_with(|out| encoder.key(row, out))?;
            }
        }
        for index in writer.indexes.iter() {
            if !faults.iter().any(|f| f.index == index.descriptor.name) {
                continue;
            }
            // What the newest rows ask for, by entry.
            let mut wanted: HashMap<Vec<u8>, (Vec<u8>, Vec<u8>)> = HashMap::new();
            each_entry(index, &found, &stored, |row, key, cell| {
                wanted.entry(key.to_vec()).or_insert_with(|| (cell.to_vec(), stored.get(row).to_vec()));
                Ok(())
            })?;
            if index.descriptor.unique {
                let mut entries = KeyList::new();
                wanted.keys().for_each(|key| entries.push(key));
                ctx.txn.lock_rows(index.codec.storage, &entries, LockStrength::Key, LockWait::Wait, &writer.table.name).await?;
            }
            // A unique entry that another row has is not taken from it.
            let listed: Vec<&[u8]> = wanted.keys().map(Vec::as_slice).collect();
            let owners = if index.descriptor.unique {
                lookup::entries(&ctx.txn.newest_view(), &index.codec, &listed).await.unwrap_or_default()
            } else {
                HashMap::new()
            };
            let mut taken: Vec<Vec<u8>> = Vec::new();
            for (key, owner) in &owners {
                let Some((_, row)) = wanted.get(key) else { continue };
                if owner != row && owns(&ctx.txn.newest_view(), &writer, index, owner, key).await? {
                    taken.push(key.clone());
                }
            }
            ctx.txn.write(|set| {
                for fault in faults.iter_mut().filter(|f| f.index == index.descriptor.name && f.kind != FaultKind::Duplicate) {
                    if !wanted.contains_key(&fault.entry) {
                        set.delete(index.codec.storage, &fault.entry);
                    }
                    fault.repaired = !taken.contains(&fault.entry);
                }
                for (key, (cell, _)) in wanted.iter().filter(|(key, _)| !taken.contains(key)) {
                    set.put(index.codec.storage, key, INDEX_FAMILY, &[], Some(cell));
                }
            })?;
        }
    }
    Ok(())
}

/// Whether a row, as it is now, has this entry.
pub(super) async fn owns(
    view: &ReadView,
    writer: &TableWriter,
    index: &crate::write::table_writer::IndexWriter,
    row: &[u8],
    entry: &[u8],
) -> PgResult<bool> {
    let (rows, _) = lookup::rows_by_key(view, &writer.table, &writer.codec, &[row]).await?;
    let mut keys = KeyList::new();
    keys.push(row);
    let mut has = false;
    each_entry(index, &rows, &keys, |_, key, _| {
        has |= key == entry;
        Ok(())
    })?;
    Ok(has)
}
