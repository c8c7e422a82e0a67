//! Writing: what a commit changes of a row is one call, which HBase does whole or not at all; rows come one after the other.

use super::WithElsewhere;
use super::table::Elsewhere;
use crate::failure::write_error;
use bytes::Bytes;
use futures::StreamExt;
use hashbrown::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_encoding::raw_cell;
use stoa_hbase_client::Mutation;
use stoa_store::{Certainty, Commit, MutationRef, StoreError, StoreResult, TableId, Timestamp};

/// Rows that are written at once.
const AT_ONCE: usize = 32;

/// HBase's codes of deletions.
const DELETE: u8 = 8;
const DELETE_FAMILY_VERSION: u8 = 10;
const DELETE_COLUMN: u8 = 12;
const DELETE_FAMILY: u8 = 14;

/// What changes of a row.
#[derive(Default)]
struct Change {
    removed: bool,
    cells: Vec<(Vec<u8>, Vec<u8>)>,
}

impl WithElsewhere {
    /// Whether a commit writes tables that are elsewhere.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] if it writes others as well: no single moment would be that of both.
    pub(super) fn writes_elsewhere(&self, commit: &Commit<'_>) -> StoreResult<bool> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(false);
        }
        let tables = self.tables.read();
        let (mut elsewhere, mut own) = (false, false);
        for mutation in commit.mutations.iter() {
            if tables.contains_key(&mutation.row().0) { elsewhere = true } else { own = true }
        }
        if elsewhere && own {
            let message = "rows of a table that other programs own are not written together with rows of other tables";
            return Err(StoreError::Unsupported(message.into()));
        }
        Ok(elsewhere)
    }

    /// Writes the rows of a commit. If one of them cannot be written, it is not known which of the others were.
    pub(super) async fn write(&self, commit: &Commit<'_>) -> StoreResult<Timestamp> {
        let mut rows: HashMap<(TableId, Bytes), Change> = HashMap::new();
        for mutation in commit.mutations.iter() {
            let (table, key) = mutation.row();
            let change = rows.entry((table, Bytes::copy_from_slice(key))).or_default();
            match mutation {
                MutationRef::Put { qualifier, value, .. } => change.cells.push((qualifier.to_vec(), value.to_vec())),
                // HBase itself removes what is hidden.
                MutationRef::DeleteCell { .. } => {}
                MutationRef::DeleteFamily { .. } | MutationRef::DeleteRow { .. } => {
                    change.removed = true;
                    change.cells.clear();
                }
            }
        }
        let mut writes = Vec::with_capacity(rows.len());
        for ((id, key), change) in rows {
            let table = self.at(id).ok_or(StoreError::NoSuchTable(id.0))?;
            writes.push((mutations(&table, &key, change)?, table));
        }
        let (count, mut done) = (writes.len(), 0usize);
        let mut first: Option<StoreError> = None;
        let mut unsure = false;
        let mut running = futures::stream::iter(writes.into_iter().map(|(mutations, table): (Vec<Mutation>, Arc<Elsewhere>)| async move {
            match &mutations[..] {
                [] => Ok(()),
                [one] => table.table.mutate(one).await,
                several => table.table.mutate_row(several).await,
            }
        }))
        .buffer_unordered(AT_ONCE);
        while let Some(result) = running.next().await {
            match result {
                Ok(()) => done += 1,
                Err(error) => {
                    let error = write_error(error);
                    unsure |= error.certainty() != Certainty::NotDone;
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            None => Ok(self.own.snapshot().timestamp()),
            Some(error) if count == 1 => Err(error),
            Some(error) => {
                let message = format!("{error} ({done} of {count} rows were written)");
                Err(StoreError::Io { message, certainty: if done > 0 || unsure { Certainty::Unknown } else { Certainty::NotDone } })
            }
        }
    }
}

/// What HBase is told of a row.
fn mutations(of: &Elsewhere, key: &Bytes, change: Change) -> StoreResult<Vec<Mutation>> {
    if key.is_empty() {
        return Err(StoreError::Unsupported("HBase has no row with an empty key".into()));
    }
    let malformed = || StoreError::Corruption("a cell with the qualifier of none".into());
    let (mut put, mut delete) = (None, None);
    let mut earliest = i64::MAX;
    for (stored, value) in &change.cells {
        let cell = raw_cell::parse(stored).map_err(|_| malformed())?;
        let (_, family) = of.families.iter().find(|(id, _)| id.0 == cell.family).ok_or_else(malformed)?;
        let qualifier = raw_cell::qualifier_of(cell.column).map_err(|_| malformed())?;
        let (mutation, is_put) = if cell.kind == raw_cell::PUT { (&mut put, true) } else { (&mut delete, false) };
        let before: Mutation =
            mutation.take().unwrap_or_else(|| if is_put { Mutation::put(key.clone()) } else { Mutation::delete(key.clone()) });
        *mutation = Some(match cell.kind {
            raw_cell::PUT => {
                earliest = earliest.min(cell.time);
                before.set_at(family, &qualifier, cell.time, value)
            }
            DELETE => before.version_at(family, &qualifier, cell.time),
            DELETE_COLUMN => before.column_at(family, &qualifier, cell.time),
            DELETE_FAMILY => before.family_at(family, cell.time),
            DELETE_FAMILY_VERSION => before.family_version_at(family, cell.time),
            _ => return Err(malformed()),
        });
    }
    let removal = change.removed.then(|| match earliest {
        // What is put again is not hidden.
        i64::MAX => Mutation::delete(key.clone()),
        earliest => Mutation::delete_at(key.clone(), earliest - 1),
    });
    Ok([removal, delete, put].into_iter().flatten().collect())
}
