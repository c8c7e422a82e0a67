//! Rows of new tables and entries of new indexes: CREATE TABLE AS, rewrites by ALTER TABLE, index builds.
//!
//! Invariant: everything goes to tables of the store that the same transaction made and nobody else sees. Under READ COMMITTED rows
//! are therefore committed in pieces as they come, without the transaction's buffer; under the other levels, whose snapshot is
//! older, they go through it. Entries of indexes are sorted first; many of them the store takes in as files.

use super::work::Work;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::DataType;
use futures::StreamExt;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_exec::index::build::Watched;
use stoa_exec::index::sorter::EntrySorter;
use stoa_exec::write::constraint::index_parts;
use stoa_pg::{PgError, PgResult, SqlState, SqlType};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::guard::{as_test, only_where};
use stoa_sql::typed::tree::{ColId, Expr};
use stoa_sql::typed::walk;
use stoa_table::catalog::policy::hides_rows;
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, Oid, TableDescriptor};
use stoa_table::row::{INDEX_FAMILY, IndexCodec, IndexEncoder, RowCodec, RowEncoder};
use stoa_table::txn::Isolation;
use stoa_table::{MutationRef, Mutations, TableId};
use xxhash_rust::xxh3::xxh3_128;

/// Bytes that are committed at a time, at most: on their way they are copied a few times.
const PIECE: usize = 4 << 20;

/// An index that is being filled.
struct IndexTarget {
    index: IndexDescriptor,
    codec: IndexCodec,
    /// Expressions of its parts, then its predicate.
    evaluator: Option<TableEvaluator>,
    has_predicate: bool,
    /// Hashes of keys that must not come twice.
    seen: HashSet<u128>,
    /// Where entries wait until all are there, if they are not the transaction's to keep.
    sorter: Option<EntrySorter>,
}

/// Writes rows of one table.
pub(crate) struct RowWriter<'a> {
    work: Work<'a>,
    table: TableDescriptor,
    codec: RowCodec,
    /// Otherwise only the indexes are filled.
    rows: bool,
    unique_rows: bool,
    seen: HashSet<u128>,
    indexes: Vec<IndexTarget>,
    columns: Vec<(ColumnId, SqlType)>,
    pending: Mutations,
    pub count: u64,
}

impl<'a> RowWriter<'a> {
    /// Fills the table itself (if `rows`) and the indexes named.
    pub fn new(work: Work<'a>, table: &TableDescriptor, rows: bool, indexes: &[Oid]) -> PgResult<Self> {
        let sorted = work.ctx.txn.isolation() == Isolation::ReadCommitted;
        let mut computed: Vec<(&IndexDescriptor, IndexCodec, Vec<Expr>)> = Vec::new();
        for index in table.indexes.iter().filter(|i| indexes.contains(&i.oid) && !i.is_fulltext()) {
            let mut exprs: Vec<Expr> = Vec::new();
            for part in &index.parts {
                if let IndexKey::Expr(text) = &part.key {
                    exprs.push(work.read_stored(table, text)?.in_form_of(&part.ty));
                }
            }
            if let Some(predicate) = &index.predicate {
                let mut predicate = work.read_stored(table, predicate)?;
                as_test(&work.ctx.eval, &mut predicate);
                only_where(&work.ctx.eval, Some(&predicate), &mut exprs);
                exprs.push(predicate);
            }
            computed.push((index, IndexCodec::new(table, index)?, exprs));
        }
        let mut used: HashSet<ColumnId> = table.key.iter().map(|p| p.column).chain(table.row_id).collect();
        for (_, codec, exprs) in &computed {
            used.extend(codec.parts.iter().map(|p| p.column).chain(codec.values.iter().map(|(id, _)| *id)));
            let mut columns = Vec::new();
            exprs.iter().for_each(|e| walk::columns_of(e, &mut columns));
            used.extend(columns.into_iter().map(|c| ColumnId(c.0)));
        }
        let columns: Vec<(ColumnId, SqlType)> =
            table.live_columns().filter(|c| rows || used.contains(&c.id)).map(|c| (c.id, c.ty.clone())).collect();
        let schema: Vec<(ColId, DataType)> = columns.iter().map(|(id, ty)| (ColId(id.0), ty.arrow.clone())).collect();
        let mut targets = Vec::new();
        for (index, codec, exprs) in computed {
            let evaluator = if exprs.is_empty() { None } else { Some(TableEvaluator::new(&work.ctx.eval, &[], &schema, &exprs)?) };
            targets.push(IndexTarget {
                codec,
                has_predicate: index.predicate.is_some(),
                index: index.clone(),
                evaluator,
                seen: HashSet::new(),
                sorter: sorted.then(|| EntrySorter::new(&work.ctx.database.transactions.spill_space())),
            });
        }
        Ok(Self {
            work,
            table: table.clone(),
            codec: RowCodec::new(table)?,
            rows,
            unique_rows: rows && table.primary_key.is_some(),
            seen: HashSet::new(),
            indexes: targets,
            columns,
            pending: Mutations::new(),
            count: 0,
        })
    }

    /// The columns that its batches have: all that are live, or those that the indexes are made of.
    pub fn columns(&self) -> &[(ColumnId, SqlType)] {
        &self.columns
    }

    /// Writes the rows of a batch: one array a column; a hidden row id may be left out.
    pub async fn write(&mut self, arrays: &[(ColumnId, ArrayRef)], rows: usize) -> PgResult<()> {
        self.work.ctx.session.check_interrupt()?;
        let mut arrays = arrays.to_vec();
        if let Some(id) = self.table.row_id
            && !arrays.iter().any(|(c, _)| *c == id)
        {
            arrays.push((id, Arc::new(Int64Array::from(stoa_table::row::row_id::next_row_ids(rows)))));
        }
        let column = |id: ColumnId| arrays.iter().find(|(c, _)| *c == id).map(|(_, a)| Arc::clone(a));
        let mut encoder = RowEncoder::new(&self.codec, column)?;
        let mut keys: Vec<u8> = Vec::new();
        let mut ends: Vec<usize> = Vec::with_capacity(rows);
        for row in 0..rows {
            encoder.key(row, &mut keys)?;
            ends.push(keys.len());
        }
        let key_of = |row: usize| {
            let start = row.checked_sub(1).and_then(|r| ends.get(r)).copied().unwrap_or(0);
            keys.get(start..ends.get(row).copied().unwrap_or(start)).unwrap_or_default()
        };
        if self.rows {
            for row in 0..rows {
                let key = key_of(row);
                if self.unique_rows && !self.seen.insert(xxh3_128(key)) {
                    let parts: Vec<(ColumnId, SqlType)> =
                        self.table.key_columns().filter_map(|p| self.table.column(p.column).map(|c| (c.id, c.ty.clone()))).collect();
                    let names = parts.iter().map(|(id, _)| self.table.column(*id).map_or("", |c| c.name.as_str()).to_owned()).collect();
                    let values = parts.iter().filter_map(|(id, ty)| Some((ty.clone(), column(*id)?))).collect();
                    let name = self.table.primary_key.as_ref().map_or_else(String::new, |k| k.name.clone());
                    return Err(duplicate(&self.work, &self.table, &name, names, values, row));
                }
                let (storage, pending) = (self.codec.storage, &mut self.pending);
                encoder.cells(
                    row,
                    |_| true,
                    |family, qualifier, value| {
                        if let Some(value) = value {
                            pending.put(storage, key, family, qualifier, value);
                        }
                        Ok(())
                    },
                )?;
            }
        }
        for target in &mut self.indexes {
            let computed = match &target.evaluator {
                Some(evaluator) => {
                    let inputs = self
                        .columns
                        .iter()
                        .map(|(id, _)| column(*id).ok_or_else(|| PgError::internal("a column of an index is missing")))
                        .collect::<PgResult<Vec<_>>>()?;
                    evaluator.evaluate(inputs, rows)?
                }
                None => Vec::new(),
            };
            let mut next = 0;
            let mut parts: Vec<Option<ArrayRef>> = Vec::with_capacity(target.index.parts.len());
            for part in &target.index.parts {
                parts.push(match &part.key {
                    IndexKey::Column(id) => column(*id),
                    IndexKey::Expr(_) => {
                        next += 1;
                        computed.get(next - 1).cloned()
                    }
                });
            }
            let predicate = if target.has_predicate { computed.last().cloned() } else { None };
            let mut encoder = IndexEncoder::new(&target.codec, |n| parts.get(n).cloned().flatten(), column)?;
            let (mut entry, mut parts_key) = (Vec::new(), Vec::new());
            for row in 0..rows {
                if let Some(predicate) = predicate.as_ref().and_then(|p| p.as_boolean_opt())
                    && (predicate.is_null(row) || !predicate.value(row))
                {
                    continue;
                }
                let key = key_of(row);
                entry.clear();
                encoder.key(row, key, &mut entry)?;
                let taken = if target.index.is_deferrable() && encoder.excludes(row) {
                    parts_key.clear();
                    encoder.parts(row, &mut parts_key)?;
                    !target.seen.insert(xxh3_128(&parts_key))
                } else {
                    encoder.is_exclusive(row) && !target.seen.insert(xxh3_128(&entry))
                };
                if taken {
                    let names =
                        index_parts(&self.work.ctx.definitions(), &self.table, &target.index).into_iter().map(|(name, _)| name).collect();
                    let values = target.index.parts.iter().zip(&parts).filter_map(|(p, a)| Some((p.ty.clone(), a.clone()?))).collect();
                    return Err(duplicate(&self.work, &self.table, &target.index.name, names, values, row));
                }
                let cell = encoder.cell(row, key)?;
                match &mut target.sorter {
                    Some(sorter) => sorter.push(&entry, cell)?,
                    None => self.pending.put(target.codec.storage, &entry, INDEX_FAMILY, &[], cell),
                }
            }
        }
        self.count += rows as u64;
        if self.pending.bytes() >= self.piece() {
            self.flush().await?;
        }
        Ok(())
    }

    fn piece(&self) -> usize {
        PIECE.min(self.work.ctx.database.transactions.spill_space().most() / 16)
    }

    async fn flush(&mut self) -> PgResult<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        if self.work.ctx.txn.isolation() == Isolation::ReadCommitted {
            // The commit of the catalog, behind these in the log, is the one that must be on stable storage.
            self.work.ctx.database.tables.write(&self.pending).await?;
        } else {
            let pending = &self.pending;
            self.work.ctx.txn.write(|set| {
                for mutation in pending.iter() {
                    if let MutationRef::Put { table, key, family, qualifier, value } = mutation {
                        set.put(table, key, family, qualifier, Some(value));
                    }
                }
            })?;
        }
        self.pending.clear();
        Ok(())
    }

    /// Writes what is left.
    pub async fn finish(mut self) -> PgResult<u64> {
        let mut sorters: Vec<(TableId, EntrySorter)> =
            self.indexes.iter_mut().filter_map(|t| Some((t.codec.storage, t.sorter.take()?))).collect();
        if sorters.iter().map(|(_, sorter)| sorter.bytes()).sum::<usize>() < self.piece() {
            for (storage, sorter) in sorters {
                let mut entries = sorter.finish()?;
                while let Some((key, cell)) = entries.next_entry()? {
                    self.pending.put(storage, key, INDEX_FAMILY, &[], cell);
                }
            }
        } else {
            self.flush().await?;
            sorters.sort_by_key(|(storage, _)| *storage);
            self.load(sorters).await?;
        }
        self.flush().await?;
        Ok(self.count)
    }

    /// Hands entries to the store in order, as files.
    async fn load(&self, sorters: Vec<(TableId, EntrySorter)>) -> PgResult<()> {
        let tables: Vec<TableId> = sorters.iter().map(|(storage, _)| *storage).collect();
        let mut load = self.work.ctx.database.tables.load(&tables).await?;
        for (storage, sorter) in sorters {
            let mut entries = sorter.finish()?;
            let mut count = 0u32;
            while let Some((key, cell)) = entries.next_entry()? {
                load.entry(storage, key, cell)?;
                load.make_room().await?;
                count = count.wrapping_add(1);
                if count.is_multiple_of(8192) {
                    self.work.ctx.session.check_interrupt()?;
                    tokio::task::yield_now().await;
                }
            }
        }
        load.finish().await
    }
}

/// 23505 of a build.
fn duplicate(
    work: &Work<'_>,
    table: &TableDescriptor,
    index: &str,
    names: Vec<String>,
    values: Vec<(SqlType, ArrayRef)>,
    row: usize,
) -> PgError {
    let texts: Vec<String> = values
        .iter()
        .map(|(ty, array)| {
            if array.is_null(row) {
                return "null".to_owned();
            }
            let mut out = Vec::new();
            match stoa_pg::values::writer(&work.ctx.eval, ty, array.as_ref()).and_then(|w| w.text(row, &mut out)) {
                Ok(()) => String::from_utf8_lossy(&out).into_owned(),
                Err(_) => "?".into(),
            }
        })
        .collect();
    let catalog = work.catalog();
    let schema = catalog.schema(table.schema).map_or_else(String::new, |s| s.name.clone());
    let shown = catalog.view_of_rows(table.oid).map_or(&table.name, |view| &view.name);
    let error = PgError::new(SqlState::UNIQUE_VIOLATION, format!("could not create unique index \"{index}\""));
    let may_see = !hides_rows(&catalog, work.ctx.role, table);
    let detail = || format!("Key ({})=({}) is duplicated.", names.join(", "), texts.join(", "));
    if may_see { error.detail(detail()) } else { error }.schema(schema).table(shown).constraint(index)
}

/// Fills indexes of a table with the rows that it has, for a command whose progress is shown.
pub(crate) async fn build_indexes(work: Work<'_>, table: &TableDescriptor, indexes: &[Oid], command: &'static str) -> PgResult<()> {
    let total = work.ctx.database.tables.approximate_rows(table.storage).await?;
    let watched = Watched::start(work.ctx, table.oid, indexes, command, total);
    for index in table.indexes.iter().filter(|i| indexes.contains(&i.oid) && i.is_fulltext()) {
        work.build_text(table, index, &|rows| watched.rows(rows)).await?;
    }
    if !table.indexes.iter().any(|i| indexes.contains(&i.oid) && !i.is_fulltext()) {
        return Ok(());
    }
    if table.indexes.iter().any(|i| i.unique && indexes.contains(&i.oid)) {
        // Rows that have ended may have the keys of others. They have no entries in what is built.
        let mut before = table.clone();
        before.indexes.retain(|index| !indexes.contains(&index.oid));
        super::expiry::remove_all(work, &before).await?;
    }
    let mut writer = RowWriter::new(work, table, false, indexes)?;
    let ids: Vec<ColumnId> = writer.columns().iter().map(|(id, _)| *id).collect();
    let exprs = writer.columns().iter().map(|(id, ty)| Expr::column(ColId(id.0), ty.clone())).collect();
    let mut stream = work.scan(table, exprs, None).await?;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let arrays: Vec<(ColumnId, ArrayRef)> = ids.iter().copied().zip(batch.columns().iter().cloned()).collect();
        writer.write(&arrays, batch.num_rows()).await?;
        watched.rows(writer.count);
    }
    watched.phase("loading entries");
    writer.finish().await.map(|_| ())
}

/// Writes the rows of `old`, changed by one expression a column, as the rows of `new`, with all its indexes. Columns of the new
/// table that must not be NULL are checked.
pub(crate) async fn rewrite(work: Work<'_>, old: &TableDescriptor, new: &TableDescriptor, columns: Vec<(ColumnId, Expr)>) -> PgResult<u64> {
    let (ids, exprs): (Vec<ColumnId>, Vec<Expr>) = columns.into_iter().unzip();
    let indexes: Vec<Oid> = new.indexes.iter().map(|i| i.oid).collect();
    let mut writer = RowWriter::new(work, new, true, &indexes)?;
    let mut stream = work.scan(old, exprs, work.not_ended(old)?).await?;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let arrays: Vec<(ColumnId, ArrayRef)> = ids.iter().copied().zip(batch.columns().iter().cloned()).collect();
        for (id, array) in &arrays {
            let Some(column) = new.column(*id).filter(|c| c.not_null && !c.hidden) else { continue };
            if array.null_count() > 0 {
                return Err(contains_nulls(new, &column.name));
            }
        }
        writer.write(&arrays, batch.num_rows()).await?;
    }
    let rows = writer.finish().await?;
    for index in new.indexes.iter().filter(|i| i.is_fulltext()) {
        work.build_text(new, index, &|_| ()).await?;
    }
    Ok(rows)
}

/// 23502 of ALTER TABLE.
pub(crate) fn contains_nulls(table: &TableDescriptor, column: &str) -> PgError {
    PgError::new(SqlState::NOT_NULL_VIOLATION, format!("column \"{column}\" of relation \"{}\" contains null values", table.name))
        .table(table.name.clone())
        .column(column)
}
