//! Unique constraints that may be violated for a while: DEFERRABLE ones, of UNIQUE and of PRIMARY KEY.
//!
//! Their entries are those of an index that is not unique, so that two rows of one key have places. A row that is written takes the
//! lock of its key, as everywhere: nobody else adds a row of that key before the transaction ends. If there is another row of the
//! key, a check is left behind, for the end of the statement or for the commit.

use super::constraint::{columns_of_parts, index_parts, key_text, may_read};
use super::deferred::{CheckKind, DeferredCheck};
use super::expiry::Expiry;
use super::lookup;
use super::table_writer::{Entries, IndexWriter, TableWriter};
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use hashbrown::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::values::datetime::epoch::from_clock;
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_sql::definition::Definitions;
use stoa_table::catalog::{IndexDescriptor, Oid, TableDescriptor};
use stoa_table::clock::{Clock, SystemClock};
use stoa_table::row::{ColumnSource, INDEX_FAMILY, IndexCodec, IndexEncoder, KeyList, RowCodec, ScanDecoder};
use stoa_table::services::locks::{LockStrength, LockWait};
use stoa_table::txn::{RangeRead, ReadView, Transaction};
use stoa_table::{CellRef, KeyRange, RowSink};

/// Takes the keys of rows that are about to be written to a deferrable index, and leaves checks for those that others have.
///
/// # Errors
/// Lock failures; the store failed.
pub async fn claim(writer: &TableWriter, index: &IndexWriter, entries: &Entries<'_>, rows: impl Iterator<Item = usize>) -> PgResult<()> {
    let txn = &writer.ctx.txn;
    let Some(constraint) = &index.descriptor.constraint else { return Ok(()) };
    let mut keys = KeyList::new();
    let mut claimed: Vec<usize> = Vec::new();
    for row in rows.filter(|row| entries.includes(*row) && entries.encoder.excludes(*row)) {
        keys.push_with(|out| entries.encoder.parts(row, out))?;
        claimed.push(row);
    }
    if claimed.is_empty() {
        return Ok(());
    }
    txn.lock_rows(index.codec.storage, &keys, LockStrength::Key, LockWait::Wait, &writer.table.name).await?;
    let mut times: HashMap<&[u8], usize> = HashMap::with_capacity(claimed.len());
    keys.iter().for_each(|key| *times.entry(key).or_default() += 1);
    let view = txn.newest_view();
    let mut doubtful = KeyList::new();
    let mut positions: Vec<u32> = Vec::new();
    for (key, row) in keys.iter().zip(&claimed) {
        let mut taken = times.get(key).is_some_and(|n| *n > 1);
        if !taken {
            let expiry = writer.expiry.as_deref();
            let owners = owners(&view, &writer.table, &index.codec, key, expiry).await?;
            if !owners.is_empty() {
                // They may be on their way out: wait for whoever has them, and look again.
                txn.lock_rows(writer.codec.storage, &owners, LockStrength::KeyShare, LockWait::Wait, &writer.table.name).await?;
                taken = !self::owners(&txn.newest_view(), &writer.table, &index.codec, key, expiry).await?.is_empty();
            }
        }
        if taken {
            doubtful.push(key);
            positions.push(u32::try_from(*row).unwrap_or(u32::MAX));
        }
    }
    if positions.is_empty() {
        return Ok(());
    }
    let positions = UInt32Array::from(positions);
    let values = entries.parts.iter().map(|array| Ok(take(array, &positions, None)?)).collect::<PgResult<Vec<_>>>()?;
    txn.defer(Box::new(DeferredCheck {
        constraint: constraint.oid,
        settings: Arc::clone(&writer.ctx.eval.settings),
        shows_values: may_read(&writer.ctx, &writer.table, columns_of_parts(&index.descriptor)),
        until_commit: txn.is_deferred(constraint),
        kind: CheckKind::Unique { table: Arc::clone(&writer.table), index: index.descriptor.oid, keys: doubtful, values },
    }));
    Ok(())
}

/// The keys of two of the rows that have a key, if there are so many.
async fn owners(
    view: &ReadView,
    table: &TableDescriptor,
    codec: &Arc<IndexCodec>,
    key: &[u8],
    expiry: Option<&Expiry>,
) -> PgResult<KeyList> {
    struct Sink {
        decoder: ScanDecoder,
        rows: usize,
        most: usize,
    }
    impl RowSink for Sink {
        fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
            self.rows += 1;
            self.decoder.row(key, cells)?;
            if self.rows < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }
    let source = ColumnSource::Index(Arc::clone(codec));
    // Entries of rows and values that have ended by their age may be among them.
    let ages = expiry.is_some() || table.anything_ends();
    let most = if ages { usize::MAX } else { 2 };
    let mut decoder = ScanDecoder::new(&source, &[], 4)?.collect_row_keys(&source)?;
    decoder.set_max_rows(usize::MAX);
    let mut sink = Sink { decoder, rows: 0, most };
    let range = KeyRange::prefix(key);
    let limit = (!ages).then_some(2);
    let read = RangeRead { table: codec.storage, families: vec![INDEX_FAMILY], range, reverse: false, limit, fill_cache: true };
    let mut scan = view.scan(read).await?;
    while sink.rows < most && scan.next_block(most.min(1024), &mut sink).await? {}
    if let Some(error) = sink.decoder.take_error() {
        return Err(error);
    }
    let found = sink.decoder.take_keys();
    if !ages || found.is_empty() {
        return Ok(found);
    }
    let mut listed: Vec<&[u8]> = found.iter().collect();
    listed.sort_unstable();
    let (rows, positions) = lookup::rows_by_key(view, table, &Arc::new(RowCodec::new(table)?), &listed).await?;
    // Constraints are over columns alone; what a cell holds beside them does not matter.
    let bare = IndexCodec { values: Vec::new(), ..(**codec).clone() };
    let encoder = IndexEncoder::new(&bare, |n| rows.get(bare.parts.get(n)?.column).cloned(), |_| None)?;
    let (mut live, mut parts) = (KeyList::new(), Vec::new());
    let ended = expiry.map(|expiry| expiry.ended(&rows, from_clock(SystemClock.now_us()))).transpose()?.unwrap_or_default();
    for (row, at) in positions.into_iter().enumerate().filter(|(row, _)| !ended.contains(row)) {
        parts.clear();
        encoder.parts(row, &mut parts)?;
        if parts == key && live.len() < 2 {
            live.push(listed.get(at).copied().unwrap_or_default());
        }
    }
    Ok(live)
}

/// Looks again at keys that more than one row had.
///
/// # Errors
/// 23505.
pub async fn check(
    txn: &Transaction,
    table: &TableDescriptor,
    index: Oid,
    keys: &KeyList,
    values: &[ArrayRef],
    shows_values: bool,
) -> PgResult<()> {
    let catalog = txn.catalog();
    // As it is now: the table may have been written anew, or the constraint dropped.
    let Some(table) = catalog.table(table.oid) else { return Ok(()) };
    let Some(index) = table.indexes.iter().find(|i| i.oid == index) else { return Ok(()) };
    let codec = Arc::new(IndexCodec::new(table, index)?);
    let view = txn.newest_view();
    let expiry = Expiry::of(&catalog, table)?;
    for (row, key) in keys.iter().enumerate() {
        if owners(&view, table, &codec, key, expiry.as_ref()).await?.len() > 1 {
            let eval = EvalContext::default();
            let parts = index_parts(&Definitions { catalog: &catalog, path: &[], eval: &eval }, table, index);
            let key = if shows_values { Some(key_text(&eval, &parts, values, row)?) } else { None };
            return Err(violation(txn, table, index, key));
        }
    }
    Ok(())
}

fn violation(txn: &Transaction, table: &TableDescriptor, index: &IndexDescriptor, key: Option<String>) -> PgError {
    let name = index.constraint.as_ref().map_or(index.name.as_str(), |c| &c.name);
    let schema = txn.catalog().schema(table.schema).map(|s| s.name.clone()).unwrap_or_default();
    let error = PgError::new(SqlState::UNIQUE_VIOLATION, format!("duplicate key value violates unique constraint \"{name}\""));
    match key {
        Some(key) => error.detail(format!("Key {key} already exists.")),
        None => error,
    }
    .schema(schema)
    .table(&table.name)
    .constraint(name)
}

/// 55000: a constraint that may be violated for a while cannot decide a conflict.
#[must_use]
pub fn no_arbiter(writer: &TableWriter, index: &IndexWriter) -> PgError {
    PgError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters",
    )
    .schema(writer.schema_name())
    .table(&writer.table.name)
    .constraint(index.constraint_name())
}
