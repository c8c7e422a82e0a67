//! CHECK INDEX … WHERE: whether the entries of some rows are those that the rows ask for. Only these rows are read of the table, and only
//! their entries are reported and repaired; the index is read from end to end, since entries of a row may lie anywhere in it.

use super::ageing;
use super::check::{CheckTarget, FaultKind, Report, entries_of, fault, pointed};
use super::entries::each_entry;
use crate::nodes::StatementContext;
use crate::write::lookup;
use crate::write::table_writer::{IndexWriter, TableWriter};
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::catalog::IndexState;
use stoa_table::row::{ColumnSource, INDEX_FAMILY, KeyList, RowEncoder, ScanDecoder};
use stoa_table::txn::ReadView;
use stoa_table::{CellRef, KeyRange, RowSink, Timestamp};

/// Rows that are looked up together, and entries that are read together.
const AT_ONCE: usize = 4096;
/// Rows that may be checked at once: they are held in memory.
pub const MOST_ROWS: usize = 1 << 20;

/// An entry as a row asks for it, by its key: its cell and the row.
type Expected = BTreeMap<Vec<u8>, (Vec<u8>, Vec<u8>)>;

/// Compares the entries of the rows with these keys with what the rows ask for, at the statement's snapshot.
///
/// # Errors
/// XX001 for rows that cannot be read; 55000 for an index that is not complete; 0A000 for one whose rows end by their age.
pub async fn check_rows(ctx: &StatementContext, target: &CheckTarget, keys: &KeyList) -> PgResult<Report> {
    let writer = TableWriter::new(ctx, &target.table)?;
    let view = ctx.txn.read_view();
    let mut report = Report::default();
    for index in writer.indexes.iter().filter(|index| target.index.is_none_or(|oid| oid == index.descriptor.oid)) {
        let name = &index.descriptor.name;
        if index.descriptor.state != IndexState::Readable {
            let error = PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("index \"{name}\" is not complete"));
            return Err(error.hint("Wait until it is built, or use REINDEX."));
        }
        if ageing::ages(&writer, index) {
            return Err(PgError::unsupported(format!(
                "some rows of index \"{name}\" cannot be checked: rows, or values, end by their age"
            ))
            .hint("CHECK INDEX without WHERE checks all of it."));
        }
        let mut expected = asked_for(ctx, &view, &writer, index, keys, &mut report).await?;
        let chosen: HashSet<&[u8]> = keys.iter().collect();
        let mut found: Vec<(FaultKind, Vec<u8>, Vec<u8>)> = Vec::new();
        let mut entries = 0;
        let mut scan = view.scan(entries_of(index, KeyRange::all())).await?;
        let mut block: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut more = true;
        while more {
            ctx.session.check_interrupt()?;
            let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
                block.push((key.to_vec(), cells.first().map_or_else(Vec::new, |cell| cell.value.to_vec())));
                ControlFlow::Continue(())
            };
            more = scan.next_block(AT_ONCE, &mut sink).await?;
            let rows = rows_of(index, &block)?;
            for ((key, cell), row) in block.drain(..).zip(rows) {
                match expected.remove(&key) {
                    Some((own, _)) if own == cell => entries += 1,
                    Some((_, row)) => found.push((FaultKind::WrongValue, key, row)),
                    None if chosen.contains(row.as_slice()) => found.push((FaultKind::Stale, key, row)),
                    None => {}
                }
            }
        }
        found.extend(expected.into_iter().map(|(key, (_, row))| (FaultKind::Missing, key, row)));
        found.sort_by(|a, b| a.1.cmp(&b.1));
        report.checked.push((name.clone(), entries, 1));
        report.faults.extend(found.into_iter().map(|(kind, entry, row)| fault(&writer, index, kind, entry, Some(row))));
    }
    Ok(report)
}

/// The entries that rows ask for.
async fn asked_for(
    ctx: &StatementContext,
    view: &ReadView,
    writer: &TableWriter,
    index: &IndexWriter,
    keys: &KeyList,
    report: &mut Report,
) -> PgResult<Expected> {
    let mut out = Expected::new();
    let wanted: Vec<&[u8]> = keys.iter().collect();
    for wanted in wanted.chunks(AT_ONCE) {
        ctx.session.check_interrupt()?;
        let (rows, _) = lookup::rows_by_key(view, &writer.table, &writer.codec, wanted).await?;
        let mut stored = KeyList::new();
        {
            let encoder = RowEncoder::new(&writer.codec, |id| rows.get(id).cloned())?;
            for row in 0..rows.len() {
                stored.push_with(|out| encoder.key(row, out))?;
            }
        }
        let mut twice = Vec::new();
        each_entry(index, &rows, &stored, |row, key, cell| {
            let row = stored.get(row).to_vec();
            if out.contains_key(key) {
                twice.push((key.to_vec(), row));
            } else {
                out.insert(key.to_vec(), (cell.to_vec(), row));
            }
            Ok(())
        })?;
        report.faults.extend(twice.into_iter().map(|(key, row)| fault(writer, index, FaultKind::Duplicate, key, Some(row))));
    }
    Ok(out)
}

/// The keys of the rows that entries point to; an empty one for an entry that cannot be read.
fn rows_of(index: &IndexWriter, block: &[(Vec<u8>, Vec<u8>)]) -> PgResult<Vec<Vec<u8>>> {
    let source = ColumnSource::Index(std::sync::Arc::clone(&index.codec));
    let mut decoder = ScanDecoder::new(&source, &[], block.len().max(1))?.collect_row_keys(&source)?;
    for (key, cell) in block {
        let cells = [CellRef { family: INDEX_FAMILY, qualifier: &[], timestamp: Timestamp(0), value: cell }];
        let _ = RowSink::row(&mut decoder, key, &cells);
    }
    let keys = if decoder.take_error().is_none() { decoder.take_keys() } else { KeyList::new() };
    if keys.len() == block.len() {
        return Ok(keys.iter().map(<[u8]>::to_vec).collect());
    }
    Ok(block.iter().map(|(key, cell)| pointed(index, key, cell).unwrap_or_default()).collect())
}
