//! Histories of rows: what a row was from when to when, its deletions included.
//!
//! A store gathers the [`Change`]s of a row that it has kept, and says since when these are all; [`versions`] makes of them what the row
//! was, one [`Version`] from change to change. Invariant: a version says what a read at any time from its own to the next one's sees.

use crate::{CellRef, FamilyId, KeyRange, Snapshot, StoreError, StoreResult, TableId, TableSchema, Timestamp};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A scan of the histories of rows, over one key range.
#[derive(Clone, Debug)]
pub struct HistorySpec {
    pub table: TableId,
    /// In this order; each keeps more than one version.
    pub families: Vec<FamilyId>,
    pub range: KeyRange,
    /// What was committed later is not given.
    pub snapshot: Arc<dyn Snapshot>,
}

/// What a row was, from a commit on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version<'a> {
    /// The commit that made it so. The first version of a row may be older than what is known of the row.
    pub since: Timestamp,
    /// As a read gives them; none: the row was not there.
    pub cells: Vec<CellRef<'a>>,
}

/// Takes the histories of rows.
pub trait HistorySink: Send {
    /// One row, its versions oldest first; no two that follow each other have the same cells. At times before `known_since` the row may
    /// have been anything; from then on it was what the versions say, and absent before the first of them. `Break` ends the block early,
    /// as in a scan.
    fn row(&mut self, key: &[u8], known_since: Timestamp, versions: &[Version<'_>]) -> ControlFlow<()>;
}

/// An open scan of histories.
#[async_trait]
pub trait History: Send {
    /// Pushes rows into the sink in the order of their keys until the sink breaks, about `max_rows` rows were pushed, or the range ends.
    /// False at the end.
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn HistorySink) -> StoreResult<bool>;
}

/// The families of a history must keep more than one version.
///
/// # Errors
/// [`StoreError::Invalid`].
pub fn check_families(schema: &TableSchema, families: &[FamilyId]) -> StoreResult<()> {
    for id in families {
        if schema.family(*id)?.options.versions == 1 {
            return Err(StoreError::Invalid(format!("family {} of table {} keeps one version", id.0, schema.id.0)));
        }
    }
    Ok(())
}

/// A change of a row, as a store has kept it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub at: Timestamp,
    /// Its position among the families that are read.
    pub family: usize,
    /// `None`: all cells of the family that are older.
    pub qualifier: Option<Box<[u8]>>,
    /// `None`: removed.
    pub value: Option<Box<[u8]>>,
}

/// What a row was, of its changes in any order, from a time on. At equal times what is set counts as later than what is removed.
#[must_use]
pub fn versions<'a>(changes: &'a mut [Change], families: &[FamilyId], known_since: Timestamp) -> Vec<Version<'a>> {
    changes.sort_by_key(|c| (c.at, c.value.is_some()));
    let changes: &'a [Change] = changes;
    let mut cells: BTreeMap<(usize, &'a [u8]), (Timestamp, &'a [u8])> = BTreeMap::new();
    let mut out: Vec<Version<'a>> = Vec::new();
    for commit in changes.chunk_by(|a, b| a.at == b.at) {
        let Some(at) = commit.first().map(|c| c.at) else { continue };
        for change in commit {
            match (change.qualifier.as_deref(), change.value.as_deref()) {
                (Some(qualifier), Some(value)) => {
                    cells.insert((change.family, qualifier), (at, value));
                }
                (Some(qualifier), None) => {
                    cells.remove(&(change.family, qualifier));
                }
                (None, _) => cells.retain(|(family, _), _| *family != change.family),
            }
        }
        let cells = cells.iter().filter_map(|((family, qualifier), (timestamp, value))| {
            Some(CellRef { family: *families.get(*family)?, qualifier, timestamp: *timestamp, value })
        });
        push(&mut out, known_since, Version { since: at, cells: cells.collect() });
    }
    out
}

/// Appends a version: of those that are not later than what is known the last one counts, and one that is as the one before is none.
pub fn push<'a>(out: &mut Vec<Version<'a>>, known_since: Timestamp, version: Version<'a>) {
    let same = match out.last() {
        Some(last) => last.cells == version.cells,
        None => version.cells.is_empty(),
    };
    if same {
        return;
    }
    if version.since <= known_since {
        out.clear();
        if version.cells.is_empty() {
            return;
        }
    }
    out.push(version);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn change(at: u64, family: usize, qualifier: Option<&str>, value: Option<&str>) -> Change {
        let bytes = |text: &str| Box::from(text.as_bytes());
        Change { at: Timestamp(at), family, qualifier: qualifier.map(bytes), value: value.map(bytes) }
    }

    /// `time:value,value` of each version.
    fn given(mut changes: Vec<Change>, known_since: u64) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let versions = versions(&mut changes, &[FamilyId(7), FamilyId(3)], Timestamp(known_since));
        let cells = |v: &Version<'_>| v.cells.iter().map(|c| text(c.qualifier) + &text(c.value)).collect::<Vec<_>>().join(",");
        versions.iter().map(|v| format!("{}:{}", v.since.0, cells(v))).collect()
    }

    #[test]
    fn a_row_is_what_its_changes_leave() {
        let changes = vec![
            change(9, 0, Some("a"), Some("3")),
            change(2, 0, Some("a"), Some("1")),
            change(2, 1, Some(""), Some("g")),
            change(4, 0, Some("b"), Some("2")),
            change(5, 0, Some("c"), None),
            change(6, 0, None, None),
            change(7, 1, None, None),
            change(8, 0, None, None),
            change(9, 0, None, None),
        ];
        assert_eq!(given(changes.clone(), 0), ["2:a1,g", "4:a1,b2,g", "6:g", "7:", "9:a3"]);
        assert_eq!(given(changes.clone(), 4), ["4:a1,b2,g", "6:g", "7:", "9:a3"]);
        assert_eq!(given(changes.clone(), 5), ["4:a1,b2,g", "6:g", "7:", "9:a3"]);
        assert_eq!(given(changes.clone(), 8), ["9:a3"]);
        assert_eq!(given(changes, 20), ["9:a3"]);
    }

    #[test]
    fn what_was_known_to_be_gone_begins_anew() {
        let changes = vec![change(2, 0, Some("a"), Some("1")), change(4, 0, None, None), change(6, 0, Some("a"), Some("1"))];
        assert_eq!(given(changes.clone(), 5), ["6:a1"]);
        assert_eq!(given(changes, 3), ["2:a1", "4:", "6:a1"]);
    }
}
