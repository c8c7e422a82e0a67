//! Rows that have ended at a time of their own, met by those who write.
//!
//! Reads do not see them, but until they are swept away they have their places: their keys, and their entries in indexes. Whoever wants such a
//! place removes the row first, as DELETE would, in the same transaction.

use super::foreign_key::ForeignKeyWork;
use super::lookup;
use super::rows::Rows;
use super::table_writer::{Compiled, TableWriter};
use super::update::{self, Freshness};
use arrow::array::{Array, AsArray};
use arrow::datatypes::TimestampMicrosecondType;
use hashbrown::HashSet;
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_sql::bind::{BindContext, bind_table_expr};
use stoa_table::catalog::{CatalogSnapshot, TableDescriptor};
use stoa_table::row::KeyList;
use stoa_table::services::locks::{LockStrength, LockWait};

/// When rows of a table end.
pub struct Expiry(Compiled);

impl Expiry {
    /// `None` for a table whose rows do not end by themselves.
    ///
    /// # Errors
    /// XX000 for an expression that cannot be read.
    pub fn of(catalog: &CatalogSnapshot, table: &TableDescriptor) -> PgResult<Option<Self>> {
        let Some(text) = &table.expires else { return Ok(None) };
        // It is immutable, and names of columns are all that it has of the table.
        let eval = EvalContext::default();
        let bind = BindContext { catalog, search_path: &[], eval: &eval, param_types: &[], text };
        let end = bind_table_expr(&bind, table, text)?;
        Ok(Some(Self(Compiled::new(&eval, table, &[end])?)))
    }

    /// Refuses rows whose end cannot be computed: no statement could read past them.
    ///
    /// # Errors
    /// What the expression raises.
    pub fn check(&self, rows: &Rows) -> PgResult<()> {
        self.0.evaluate(rows).map(drop)
    }

    /// The positions of the rows that have ended at a time, which is a timestamptz as values have it.
    ///
    /// # Errors
    /// What the expression raises.
    pub fn ended(&self, rows: &Rows, at: i64) -> PgResult<Vec<usize>> {
        let ends = self.0.evaluate(rows)?;
        let ends = ends.first().and_then(|array| array.as_primitive_opt::<TimestampMicrosecondType>());
        let ends = ends.ok_or_else(|| PgError::internal("rows end at what is no time"))?;
        Ok((0..rows.len()).filter(|row| ends.is_valid(*row) && ends.value(*row) <= at).collect())
    }
}

/// Removes those rows among `keys` that have ended, behind locks that are waited for as `wait` says. Gives the keys of the rows that are gone.
///
/// # Errors
/// Lock failures; the store failed.
pub async fn remove_ended(writer: &TableWriter, keys: &KeyList, wait: LockWait) -> PgResult<HashSet<Vec<u8>>> {
    let Some(expiry) = writer.expiry.as_deref() else { return Ok(HashSet::new()) };
    let txn = &writer.ctx.txn;
    let at = writer.ctx.eval.statement_time;
    let mut wanted: Vec<&[u8]> = keys.iter().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let (rows, positions) = lookup::rows_by_key(&txn.newest_view(), &writer.table, &writer.codec, &wanted).await?;
    let mut over = KeyList::new();
    for row in expiry.ended(&rows, at)? {
        if let Some(key) = positions.get(row).and_then(|at| wanted.get(*at)) {
            over.push(key);
        }
    }
    if over.is_empty() {
        return Ok(HashSet::new());
    }
    let taken = txn.lock_rows(writer.codec.storage, &over, LockStrength::Key, wait, &writer.table.name).await?;
    let locked: Vec<&[u8]> = over.iter().zip(taken).filter(|(_, taken)| *taken).map(|(key, _)| key).collect();
    // As they are behind the locks: somebody may have given them a new end.
    let (rows, positions) = lookup::rows_by_key(&txn.newest_view(), &writer.table, &writer.codec, &locked).await?;
    let ended = expiry.ended(&rows, at)?;
    let gone = ended.iter().filter_map(|row| positions.get(*row).and_then(|at| locked.get(*at))).map(|key| key.to_vec()).collect();
    // No foreign key refers to a table whose rows end.
    update::delete(writer, &mut ForeignKeyWork::default(), &rows.at(&ended)?, Freshness::Newest).await?;
    Ok(gone)
}
