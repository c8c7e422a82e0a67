//! Setting cells as of a time that has passed, by commits that fail where something is newer.

use crate::{Commit, Durability, FamilyId, Mutations, Store, StoreError, StoreResult, TableId, Timestamp};

/// Sets cells where nothing was committed since a time; gives back the positions of the others.
///
/// # Errors
/// The store failed.
pub async fn by_commits<S: Store + ?Sized>(
    store: &S,
    table: TableId,
    family: FamilyId,
    cells: &[(&[u8], &[u8])],
    at: Timestamp,
) -> StoreResult<Vec<usize>> {
    let mut pending: Vec<usize> = (0..cells.len()).collect();
    let mut newer = Vec::new();
    loop {
        let mut mutations = Mutations::new();
        for (key, cell) in pending.iter().filter_map(|n| cells.get(*n)) {
            mutations.put(table, key, family, &[], cell);
        }
        if mutations.is_empty() {
            return Ok(newer);
        }
        let commit = Commit { mutations: &mutations, snapshot: Some(at), validate: &[], durability: Durability::Relaxed };
        match store.commit(commit).await {
            Ok(_) => return Ok(newer),
            Err(StoreError::Conflict) => {
                let before = pending.len();
                let changed = |n: &usize| {
                    let key = cells.get(*n).map(|(key, _)| (table, *key));
                    store.rows_changed_since(&mut key.into_iter(), at)
                };
                let (gone, left): (Vec<_>, Vec<_>) = pending.into_iter().partition(changed);
                newer.extend(gone);
                pending = left;
                if pending.len() == before {
                    // A conflict with what is not to be found any more: all of them are looked at one by one.
                    newer.append(&mut pending);
                }
            }
            Err(other) => return Err(other),
        }
    }
}
