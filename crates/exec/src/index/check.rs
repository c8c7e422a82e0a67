//! CHECK INDEX and CHECK TABLE: whether indexes equal their table, both ways, at one snapshot, while others write.
//!
//! The entries that an index has are read in order and cut into ranges; each has a sum of hashes, in which order does not count.
//! The table is read once: the hash of every entry that a row should have is taken from the sum of the range it falls into.
//! Ranges whose sum is not zero then are compared entry by entry; the others are equal.

use super::ageing;
use super::entries::{TableRows, each_entry};
use super::scrub::Pace;
use crate::nodes::StatementContext;
use crate::write::table_writer::{IndexWriter, TableWriter};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::access::{KeyShape, explain};
use stoa_table::catalog::{IndexState, TableDescriptor};
use stoa_table::row::{ColumnSource, INDEX_FAMILY, ScanDecoder};
use stoa_table::txn::{RangeRead, ReadView};
use stoa_table::{CellRef, KeyRange};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128_with_seed};

/// Entries of a range.
pub(super) const RANGE_ENTRIES: u64 = 4096;
/// Entries that a comparison holds in memory; with more differences than that an index is better made anew.
const COMPARED_ENTRIES: usize = 1 << 20;

/// What is checked: a table with all its indexes, or one of them.
#[derive(Clone, Debug)]
pub struct CheckTarget {
    pub table: Arc<TableDescriptor>,
    /// By OID; `None` for all.
    pub index: Option<u32>,
}

/// How an index differs from its table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// A row has no entry.
    Missing,
    /// An entry points to no row.
    Extra,
    /// An entry points to a row whose values are others.
    Stale,
    /// An entry holds other values than its row.
    WrongValue,
    /// Two rows have one key in a unique index.
    Duplicate,
    /// An entry that no version of the program writes.
    Unreadable,
}

impl FaultKind {
    /// As the answer names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Missing => "missing",
            FaultKind::Extra => "extra",
            FaultKind::Stale => "stale",
            FaultKind::WrongValue => "wrong value",
            FaultKind::Duplicate => "duplicate",
            FaultKind::Unreadable => "unreadable",
        }
    }
}

/// One difference.
#[derive(Clone, Debug)]
pub struct Fault {
    pub index: String,
    pub kind: FaultKind,
    /// The key in the index table.
    pub entry: Vec<u8>,
    /// The key of the row, where there is one.
    pub row: Option<Vec<u8>>,
    /// Both as SQL values.
    pub entry_text: String,
    pub row_text: String,
    pub repaired: bool,
}

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    pub faults: Vec<Fault>,
    /// By index: its name, its entries, the ranges they were compared in.
    pub checked: Vec<(String, u64, usize)>,
}

/// A stretch of an index: its first key, and what is left of its entries.
struct RangeSum {
    start: Vec<u8>,
    sum: u128,
    entries: u64,
    expected: u64,
}

/// One index while it is compared.
struct Compared<'a> {
    writer: &'a IndexWriter,
    ranges: Vec<RangeSum>,
}

fn hash(key: &[u8], cell: &[u8]) -> u128 {
    xxh3_128_with_seed(cell, xxh3_64(key))
}

/// Compares indexes with their table, at a pace.
///
/// # Errors
/// XX001 for rows that cannot be read; 54000 when an index differs in too many places to be compared.
pub async fn check(ctx: &StatementContext, target: &CheckTarget, pace: &mut Pace) -> PgResult<Report> {
    let writer = TableWriter::new(ctx, &target.table)?;
    let view = ctx.txn.read_view();
    let mut report = Report::default();
    let mut indexes: Vec<Compared<'_>> = Vec::new();
    let mut ageing: Vec<&IndexWriter> = Vec::new();
    for index in writer.indexes.iter() {
        if target.index.is_some_and(|oid| oid != index.descriptor.oid) {
            continue;
        }
        if index.descriptor.state != IndexState::Readable {
            if target.index.is_some() {
                return Err(PgError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("index \"{}\" is not complete", index.descriptor.name),
                )
                .hint("Wait until it is built, or use REINDEX."));
            }
            continue;
        }
        if ageing::ages(&writer, index) {
            ageing.push(index);
            continue;
        }
        let ranges = sums(ctx, &view, index, pace).await?;
        indexes.push(Compared { writer: index, ranges });
    }
    for index in ageing {
        let (entries, ranges) = ageing::check(ctx, &view, &writer, index, pace, &mut report.faults).await?;
        report.checked.push((index.descriptor.name.clone(), entries, ranges));
    }
    if indexes.is_empty() {
        return Ok(report);
    }
    let mut rows = TableRows::open(&view, &writer, KeyRange::all()).await?;
    while let Some((batch, keys)) = rows.next(ctx).await? {
        pace.took(batch.len() as u64).await;
        for index in &mut indexes {
            let ranges = &mut index.ranges;
            each_entry(index.writer, &batch, &keys, |_, key, cell| {
                let at = ranges.partition_point(|r| r.start.as_slice() <= key).saturating_sub(1);
                if let Some(range) = ranges.get_mut(at) {
                    range.sum = range.sum.wrapping_sub(hash(key, cell));
                    range.expected += 1;
                }
                Ok(())
            })?;
        }
    }
    for index in &indexes {
        let entries = index.ranges.iter().map(|r| r.entries).sum();
        report.checked.push((index.writer.descriptor.name.clone(), entries, index.ranges.len()));
        compare(ctx, &view, &writer, index, &mut report.faults).await?;
    }
    Ok(report)
}

/// The ranges of an index with the sums of their entries; the first begins before all keys.
async fn sums(ctx: &StatementContext, view: &ReadView, index: &IndexWriter, pace: &mut Pace) -> PgResult<Vec<RangeSum>> {
    let mut ranges = vec![RangeSum { start: Vec::new(), sum: 0, entries: 0, expected: 0 }];
    let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
        let cell = cells.first().map_or(&[][..], |c| c.value);
        match ranges.last_mut() {
            Some(range) if range.entries < RANGE_ENTRIES => {
                range.sum = range.sum.wrapping_add(hash(key, cell));
                range.entries += 1;
            }
            _ => ranges.push(RangeSum { start: key.to_vec(), sum: hash(key, cell), entries: 1, expected: 0 }),
        }
        ControlFlow::Continue(())
    };
    let mut scan = view.scan(entries_of(index, KeyRange::all())).await?;
    while scan.next_block(RANGE_ENTRIES as usize, &mut sink).await? {
        ctx.session.check_interrupt()?;
        pace.took(RANGE_ENTRIES).await;
    }
    Ok(ranges)
}

pub(super) fn entries_of(index: &IndexWriter, range: KeyRange) -> RangeRead {
    RangeRead { table: index.codec.storage, families: vec![INDEX_FAMILY], range, reverse: false, limit: None, fill_cache: false }
}

/// An entry as a row should have it.
struct Expected {
    cell: Vec<u8>,
    row: Vec<u8>,
}

/// Finds what differs in the ranges whose sums do.
async fn compare(
    ctx: &StatementContext,
    view: &ReadView,
    writer: &TableWriter,
    index: &Compared<'_>,
    faults: &mut Vec<Fault>,
) -> PgResult<()> {
    let differs = |r: &RangeSum| r.sum != 0 || r.entries != r.expected;
    let wanted: u64 = index.ranges.iter().filter(|r| differs(r)).map(|r| r.expected.max(r.entries)).sum();
    if wanted == 0 {
        return Ok(());
    }
    let name = &index.writer.descriptor.name;
    if wanted as usize > COMPARED_ENTRIES {
        return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("index \"{name}\" differs from its table in too many places"))
            .detail(format!("Ranges with {wanted} entries differ."))
            .hint(format!("Make it anew with REINDEX INDEX {name}.")));
    }
    let mut expected: BTreeMap<Vec<u8>, Expected> = BTreeMap::new();
    let mut found: Vec<(FaultKind, Vec<u8>, Option<Vec<u8>>)> = Vec::new();
    let mut rows = TableRows::open(view, writer, KeyRange::all()).await?;
    while let Some((batch, keys)) = rows.next(ctx).await? {
        each_entry(index.writer, &batch, &keys, |row, key, cell| {
            let at = index.ranges.partition_point(|r| r.start.as_slice() <= key).saturating_sub(1);
            if index.ranges.get(at).is_some_and(differs) {
                let row = keys.get(row).to_vec();
                if expected.contains_key(key) {
                    found.push((FaultKind::Duplicate, key.to_vec(), Some(row)));
                } else {
                    expected.insert(key.to_vec(), Expected { cell: cell.to_vec(), row });
                }
            }
            Ok(())
        })?;
    }
    for (at, range) in index.ranges.iter().enumerate().filter(|(_, r)| differs(r)) {
        ctx.session.check_interrupt()?;
        let range = KeyRange::new(range.start.clone(), index.ranges.get(at + 1).map(|next| next.start.clone()));
        let mut strange: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            let cell = cells.first().map_or(&[][..], |c| c.value);
            match expected.remove(key) {
                Some(own) if own.cell == cell => {}
                Some(own) => found.push((FaultKind::WrongValue, key.to_vec(), Some(own.row))),
                None => strange.push((key.to_vec(), cell.to_vec())),
            }
            ControlFlow::Continue(())
        };
        let mut scan = view.scan(entries_of(index.writer, range)).await?;
        while scan.next_block(RANGE_ENTRIES as usize, &mut sink).await? {}
        // Entries that no row asks for: is there the row that they point to?
        for (key, cell) in strange {
            let Some(row) = pointed(index.writer, &key, &cell) else {
                found.push((FaultKind::Unreadable, key, None));
                continue;
            };
            let family = writer.codec.families.first().map(|f| f.id).ok_or_else(|| PgError::internal("a table without families"))?;
            let exists = view.exists(writer.codec.storage, family, &[&row]).await?.first().copied().unwrap_or(false);
            found.push((if exists { FaultKind::Stale } else { FaultKind::Extra }, key, Some(row)));
        }
    }
    found.extend(expected.into_iter().map(|(key, own)| (FaultKind::Missing, key, Some(own.row))));
    found.sort_by(|a, b| a.1.cmp(&b.1));
    faults.extend(found.into_iter().map(|(kind, entry, row)| fault(writer, index.writer, kind, entry, row)));
    Ok(())
}

/// A difference, with its keys as values.
pub(super) fn fault(writer: &TableWriter, index: &IndexWriter, kind: FaultKind, entry: Vec<u8>, row: Option<Vec<u8>>) -> Fault {
    let (entry_shape, row_shape) = (KeyShape::of_index(&index.codec), KeyShape::of_table(&writer.codec.key));
    Fault {
        index: index.descriptor.name.clone(),
        kind,
        entry_text: explain::key(&entry_shape, &entry),
        row_text: row.as_ref().map_or_else(String::new, |row| explain::key(&row_shape, row)),
        entry,
        row,
        repaired: false,
    }
}

/// The key of the row that an entry points to.
#[must_use]
pub fn pointed(index: &IndexWriter, key: &[u8], cell: &[u8]) -> Option<Vec<u8>> {
    let source = ColumnSource::Index(Arc::clone(&index.codec));
    let mut decoder = ScanDecoder::new(&source, &[], 1).ok()?.collect_row_keys(&source).ok()?;
    let cells = [CellRef { family: INDEX_FAMILY, qualifier: &[], timestamp: stoa_table::Timestamp(0), value: cell }];
    let _ = stoa_table::RowSink::row(&mut decoder, key, &cells);
    if decoder.take_error().is_some() {
        return None;
    }
    let keys = decoder.take_keys();
    (keys.len() == 1 && !keys.get(0).is_empty()).then(|| keys.get(0).to_vec())
}
