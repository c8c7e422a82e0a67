//! CHECK of indexes whose entries outlive what they are of: rows, or values of families, that have ended by their age.
//!
//! Entries do not age. One that is left of a row or of a value that has ended is no fault: nobody is led astray by it, since such
//! indexes lead nowhere without a look at the row. What readers and writers do rely on is that each row has its entry, so rows are taken
//! one after the other and their entries looked up.

use super::check::{Fault, FaultKind, RANGE_ENTRIES, entries_of, fault, pointed};
use super::entries::{TableRows, each_entry};
use super::repair::owns;
use super::scrub::Pace;
use crate::nodes::StatementContext;
use crate::write::lookup;
use crate::write::rows::Rows;
use crate::write::table_writer::{IndexWriter, TableWriter};
use arrow::array::Array;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use stoa_pg::PgResult;
use stoa_table::row::{INDEX_FAMILY, KeyList};
use stoa_table::txn::ReadView;
use stoa_table::{CellRef, KeyRange};

/// Whether entries may be left of what has ended.
#[must_use]
pub fn ages(writer: &TableWriter, index: &IndexWriter) -> bool {
    writer.table.rows_end() || index.columns().any(|c| writer.table.ends_apart(c))
}

/// An entry as a row should have it.
struct Expected {
    cell: Vec<u8>,
    row: Vec<u8>,
    /// A value that the entry is of may have ended.
    excused: bool,
}

/// Compares such an index with its table; gives its entries and the ranges they were read in.
///
/// # Errors
/// XX001 for rows that cannot be read.
pub async fn check(
    ctx: &StatementContext,
    view: &ReadView,
    writer: &TableWriter,
    index: &IndexWriter,
    pace: &mut Pace,
    faults: &mut Vec<Fault>,
) -> PgResult<(u64, usize)> {
    let mut rows = TableRows::open(view, writer, KeyRange::all()).await?;
    while let Some((batch, keys)) = rows.next(ctx).await? {
        pace.took(batch.len() as u64).await;
        let mut expected: BTreeMap<Vec<u8>, Expected> = BTreeMap::new();
        each_entry(index, &batch, &keys, |row, key, cell| {
            let own = Expected { cell: cell.to_vec(), row: keys.get(row).to_vec(), excused: may_have_ended(writer, index, &batch, row) };
            if let Some(other) = expected.insert(key.to_vec(), own) {
                faults.push(fault(writer, index, FaultKind::Duplicate, key.to_vec(), Some(other.row)));
            }
            Ok(())
        })?;
        let stored = cells(view, index, expected.keys().map(Vec::as_slice).collect()).await?;
        for (key, own) in expected {
            let kind = match stored.get(&key) {
                Some(cell) if *cell == own.cell => continue,
                _ if own.excused => continue,
                None => FaultKind::Missing,
                Some(cell) => match pointed(index, &key, cell) {
                    None => FaultKind::Unreadable,
                    Some(other) if other != own.row && owns(view, writer, index, &other, &key).await? => FaultKind::Duplicate,
                    Some(_) => FaultKind::WrongValue,
                },
            };
            faults.push(fault(writer, index, kind, key, Some(own.row)));
        }
    }
    drop(rows);
    left_over(ctx, view, writer, index, pace, faults).await
}

/// Looks at all entries. Those of rows that are there must be theirs, if nothing of a row ends before it and no row gets the key of one
/// that has ended.
async fn left_over(
    ctx: &StatementContext,
    view: &ReadView,
    writer: &TableWriter,
    index: &IndexWriter,
    pace: &mut Pace,
    faults: &mut Vec<Fault>,
) -> PgResult<(u64, usize)> {
    let compared = writer.table.row_id.is_some() && !index.columns().any(|c| writer.table.ends_apart(c));
    let mut scan = view.scan(entries_of(index, KeyRange::all())).await?;
    let (mut entries, mut ranges) = (0, 0);
    loop {
        ctx.session.check_interrupt()?;
        // By the row that an entry points to.
        let mut block: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            entries += 1;
            match pointed(index, key, cells.first().map_or(&[][..], |c| c.value)) {
                Some(row) if compared => block.push((row, key.to_vec())),
                Some(_) => {}
                None => faults.push(fault(writer, index, FaultKind::Unreadable, key.to_vec(), None)),
            }
            ControlFlow::Continue(())
        };
        let more = scan.next_block(RANGE_ENTRIES as usize, &mut sink).await?;
        ranges += 1;
        pace.took(RANGE_ENTRIES).await;
        if !block.is_empty() {
            block.sort_unstable();
            let mut wanted: Vec<&[u8]> = block.iter().map(|(row, _)| row.as_slice()).collect();
            wanted.dedup();
            let (rows, positions) = lookup::rows_by_key(view, &writer.table, &writer.codec, &wanted).await?;
            let mut keys = KeyList::new();
            positions.iter().filter_map(|at| wanted.get(*at)).for_each(|key| keys.push(key));
            let mut theirs: HashSet<(Vec<u8>, Vec<u8>)> = HashSet::new();
            each_entry(index, &rows, &keys, |row, key, _| {
                theirs.insert((keys.get(row).to_vec(), key.to_vec()));
                Ok(())
            })?;
            let there: HashSet<&[u8]> = keys.iter().collect();
            for (row, key) in block.iter().filter(|own| there.contains(own.0.as_slice()) && !theirs.contains(own)) {
                faults.push(fault(writer, index, FaultKind::Stale, key.clone(), Some(row.clone())));
            }
        }
        if !more {
            return Ok((entries, ranges));
        }
    }
}

/// Whether a value of a row, on which its entry depends, reads as one that has ended does.
fn may_have_ended(writer: &TableWriter, index: &IndexWriter, rows: &Rows, row: usize) -> bool {
    index.columns().filter(|c| writer.table.ends_apart(*c)).any(|c| {
        writer.table.column(c).is_some_and(|column| column.missing.is_some()) || rows.get(c).is_none_or(|array| array.is_null(row))
    })
}

/// The cells of entries, by key.
async fn cells(view: &ReadView, index: &IndexWriter, keys: Vec<&[u8]>) -> PgResult<HashMap<Vec<u8>, Vec<u8>>> {
    let mut out = HashMap::with_capacity(keys.len());
    let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
        out.insert(key.to_vec(), cells.first().map_or_else(Vec::new, |c| c.value.to_vec()));
        ControlFlow::Continue(())
    };
    view.get(index.codec.storage, vec![INDEX_FAMILY], &keys, &mut sink).await?;
    Ok(out)
}
