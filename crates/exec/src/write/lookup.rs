//! Reads that writing needs: rows by key, entries of unique indexes, rows that match a condition.

use super::rows::Rows;
use super::table_writer::{IndexWriter, TableWriter};
use hashbrown::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_table::access::{PathKind, PathOptions, Predicate, candidates, choose};
use stoa_table::catalog::{ColumnId, TableDescriptor};
use stoa_table::row::{ColumnSource, INDEX_FAMILY, IndexCodec, IndexEncoder, KeyList, RowCodec, ScanDecoder};
use stoa_table::txn::{RangeRead, ReadView};
use stoa_table::{CellRef, KeyRange, RowSink};

/// The row keys that exclusive entries of a unique index point to, by entry key; absent entries are left out.
///
/// # Errors
/// The store failed, or an entry is corrupt.
pub async fn entries(view: &ReadView, index: &Arc<IndexCodec>, keys: &[&[u8]]) -> PgResult<HashMap<Vec<u8>, Vec<u8>>> {
    struct Sink {
        decoder: ScanDecoder,
        found: Vec<Vec<u8>>,
    }
    impl RowSink for Sink {
        fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
            self.found.push(key.to_vec());
            self.decoder.row(key, cells)
        }
    }
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let source = ColumnSource::Index(Arc::clone(index));
    let decoder = ScanDecoder::new(&source, &[], usize::MAX >> 8)?.collect_row_keys(&source)?;
    let mut sink = Sink { decoder, found: Vec::new() };
    view.get(index.storage, vec![INDEX_FAMILY], keys, &mut sink).await?;
    if let Some(error) = sink.decoder.take_error() {
        return Err(error);
    }
    let rows = sink.decoder.take_keys();
    Ok(sink.found.into_iter().enumerate().map(|(n, key)| (key, rows.get(n).to_vec())).collect())
}

/// As [`entries`], but only those whose row still has them. Entries do not age: one may be left of a row or a value that ended by its
/// age, and the row's key may be another row's by now.
///
/// # Errors
/// As [`entries`]; what expressions of the index raise.
pub async fn live_entries(
    view: &ReadView,
    writer: &TableWriter,
    index: &IndexWriter,
    keys: &[&[u8]],
) -> PgResult<HashMap<Vec<u8>, Vec<u8>>> {
    let found = entries(view, &index.codec, keys).await?;
    without_ended(view, &writer.table, &writer.codec, found, |rows| {
        let entries = index.entries(rows)?;
        (0..rows.len()).map(|row| if entries.is_exclusive(row) { exclusive_key(&entries.encoder, row) } else { Ok(None) }).collect()
    })
    .await
}

/// The key of an entry that tells no row.
///
/// # Errors
/// A value is not of its type.
pub fn exclusive_key(encoder: &IndexEncoder<'_>, row: usize) -> PgResult<Option<Vec<u8>>> {
    let mut key = Vec::new();
    encoder.key(row, &[], &mut key)?;
    Ok(Some(key))
}

/// Keeps the entries that rows have; `keys_of` gives those of rows.
///
/// # Errors
/// The store failed, or a row is corrupt.
pub async fn without_ended(
    view: &ReadView,
    table: &TableDescriptor,
    codec: &Arc<RowCodec>,
    mut found: HashMap<Vec<u8>, Vec<u8>>,
    keys_of: impl FnOnce(&Rows) -> PgResult<Vec<Option<Vec<u8>>>>,
) -> PgResult<HashMap<Vec<u8>, Vec<u8>>> {
    if found.is_empty() || !table.anything_ends() {
        return Ok(found);
    }
    let mut row_keys: Vec<Vec<u8>> = found.values().cloned().collect();
    row_keys.sort_unstable();
    row_keys.dedup();
    let list: Vec<&[u8]> = row_keys.iter().map(Vec::as_slice).collect();
    let (rows, positions) = rows_by_key(view, table, codec, &list).await?;
    let mut there: HashMap<Vec<u8>, &[u8]> = HashMap::with_capacity(rows.len());
    for (entry, at) in keys_of(&rows)?.into_iter().zip(positions) {
        if let (Some(entry), Some(row)) = (entry, list.get(at)) {
            there.insert(entry, row);
        }
    }
    found.retain(|entry, row| there.get(entry).is_some_and(|owner| *owner == row.as_slice()));
    Ok(found)
}

/// Rows by key, in the order of the keys; absent ones are left out. With them the position of each row's key.
///
/// # Errors
/// The store failed, or a row is corrupt.
pub async fn rows_by_key(view: &ReadView, table: &TableDescriptor, codec: &Arc<RowCodec>, keys: &[&[u8]]) -> PgResult<(Rows, Vec<usize>)> {
    struct Sink<'a> {
        decoder: ScanDecoder,
        keys: &'a [&'a [u8]],
        at: usize,
        positions: Vec<usize>,
    }
    impl RowSink for Sink<'_> {
        fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
            while self.keys.get(self.at).is_some_and(|k| *k != key) {
                self.at += 1;
            }
            let before = self.decoder.rows();
            let flow = self.decoder.row(key, cells);
            // Cells alone do not make a row.
            if self.decoder.rows() > before {
                self.positions.push(self.at);
            }
            self.at += 1;
            flow
        }
    }
    let columns: Vec<ColumnId> = table.live_columns().map(|c| c.id).collect();
    let source = ColumnSource::Table(Arc::clone(codec));
    let decoder = ScanDecoder::new(&source, &columns, keys.len().clamp(1, 8192))?;
    let mut sink = Sink { decoder, keys, at: 0, positions: Vec::new() };
    sink.decoder.set_max_rows(usize::MAX);
    let families = sink.decoder.families();
    view.get(codec.storage, families, keys, &mut sink).await?;
    let rows = finish(&mut sink.decoder, &columns)?;
    Ok((rows, sink.positions))
}

fn finish(decoder: &mut ScanDecoder, columns: &[ColumnId]) -> PgResult<Rows> {
    if let Some(error) = decoder.take_error() {
        return Err(error);
    }
    let mut rows = Rows::new(decoder.rows());
    for (id, array) in columns.iter().zip(decoder.finish()?) {
        rows.set(*id, array);
    }
    Ok(rows)
}

/// A superset of the rows that satisfy predicates, all columns.
///
/// # Errors
/// The store failed, or a row is corrupt.
pub async fn matching(view: &ReadView, table: &TableDescriptor, codec: &Arc<RowCodec>, predicates: &[Predicate]) -> PgResult<Rows> {
    let columns: Vec<ColumnId> = table.live_columns().map(|c| c.id).collect();
    let options = PathOptions { columns: &columns, index_predicates: &|_| None, distinct: None };
    let mut paths = candidates(table, codec, predicates, &options)?;
    let at = choose(&paths, &vec![None; paths.len()], 100_000.0);
    let path = paths.swap_remove(at);
    let source = ColumnSource::Table(Arc::clone(codec));
    let mut decoder = ScanDecoder::new(&source, &columns, 1024)?;
    decoder.set_max_rows(usize::MAX);
    match &path.kind {
        PathKind::Index { codec: index, covered: false, .. } => {
            let entries = ColumnSource::Index(Arc::clone(index));
            let mut keys = ScanDecoder::new(&entries, &[], 1024)?.collect_row_keys(&entries)?;
            keys.set_max_rows(usize::MAX);
            scan(view, index.storage, &path.scope.ranges, &mut keys).await?;
            let keys: KeyList = keys.take_keys();
            let list: Vec<&[u8]> = keys.iter().collect();
            view.get(codec.storage, decoder.families(), &list, &mut decoder).await?;
        }
        PathKind::Index { codec: index, covered: true, .. } => {
            let entries = ColumnSource::Index(Arc::clone(index));
            let mut covered = ScanDecoder::new(&entries, &columns, 1024)?;
            covered.set_max_rows(usize::MAX);
            scan(view, index.storage, &path.scope.ranges, &mut covered).await?;
            return finish(&mut covered, &columns);
        }
        PathKind::Table => scan(view, codec.storage, &path.scope.ranges, &mut decoder).await?,
    }
    finish(&mut decoder, &columns)
}

/// The key ranges of a table that have all rows which satisfy predicates.
///
/// # Errors
/// A value has no form in keys.
pub fn ranges_of_key(table: &TableDescriptor, codec: &Arc<RowCodec>, predicates: &[Predicate]) -> PgResult<Vec<KeyRange>> {
    let options = PathOptions { columns: &[], index_predicates: &|_| None, distinct: None };
    let paths = candidates(table, codec, predicates, &options)?;
    let path = paths.into_iter().find(|path| matches!(path.kind, PathKind::Table));
    path.map(|path| path.scope.ranges).ok_or_else(|| PgError::internal("a table without a way to its rows"))
}

/// The first rows of a key range, all columns: at most so many, fewer if they are large, and none only if there is none.
///
/// # Errors
/// The store failed, or a row is corrupt.
pub async fn in_range(view: &ReadView, table: &TableDescriptor, codec: &Arc<RowCodec>, range: &KeyRange, most: usize) -> PgResult<Rows> {
    let columns: Vec<ColumnId> = table.live_columns().map(|c| c.id).collect();
    let mut decoder = ScanDecoder::new(&ColumnSource::Table(Arc::clone(codec)), &columns, 1024)?;
    decoder.set_max_rows(most);
    let (families, ranges) = (decoder.families(), [range.clone()]);
    let read = RangeRead { table: codec.storage, families, range: KeyRange::empty(), reverse: false, limit: None, fill_cache: false };
    view.scan_ranges(read, &ranges, 4096, &mut decoder).await?;
    finish(&mut decoder, &columns)
}

async fn scan(view: &ReadView, table: stoa_table::TableId, ranges: &[KeyRange], decoder: &mut ScanDecoder) -> PgResult<()> {
    let range = KeyRange::empty();
    let read = RangeRead { table, families: decoder.families(), range, reverse: false, limit: None, fill_cache: true };
    view.scan_ranges(read, ranges, 4096, decoder).await?;
    decoder.take_error().map_or(Ok(()), Err)
}
