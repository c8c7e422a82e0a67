//! Checks of constraints that wait: for the end of the statement, or for the commit.
//!
//! Invariant: a check looks at the newest commits and the transaction's own rows, behind a lock on the parent's row: neither side
//! can change between the check and the commit.

use super::constraint::{key_text, named};
use super::expiry::Expiry;
use super::foreign_key::{Children, Parent, columns_as, find_children, row_values_equal};
use super::lookup;
use arrow::array::{Array, ArrayRef};
use futures::future::BoxFuture;
use std::any::Any;
use std::sync::Arc;
use stoa_pg::settings::ValueSettings;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::values::datetime::epoch::from_clock;
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_table::catalog::{ColumnId, ForeignKeyDescriptor, Oid, TableDescriptor};
use stoa_table::clock::{Clock, SystemClock};
use stoa_table::failure::concurrent_update;
use stoa_table::row::{KeyList, RowCodec, RowEncoder};
use stoa_table::services::locks::{LockStrength, LockWait};
use stoa_table::txn::deferred::DeferredWork;
use stoa_table::txn::{Isolation, Transaction};

/// One check.
#[derive(Clone, Debug)]
pub struct DeferredCheck {
    pub constraint: Oid,
    /// The session's, when the rows were written: how values of different types compare, and are shown.
    pub settings: Arc<ValueSettings>,
    /// The role that wrote the rows may be told of their values.
    pub shows_values: bool,
    /// Until the commit, rather than until the end of the statement.
    pub until_commit: bool,
    pub kind: CheckKind,
}

impl DeferredWork for DeferredCheck {
    fn is_on(&self, table: Oid) -> bool {
        match &self.kind {
            CheckKind::Child { child, .. } => child.oid == table,
            CheckKind::Unique { table: of, .. } => of.oid == table,
            CheckKind::Parent { parent, .. } => parent.oid == table,
        }
    }

    fn run<'a>(&'a self, txn: &'a Transaction) -> BoxFuture<'a, PgResult<()>> {
        Box::pin(run(txn, self))
    }
}

impl DeferredCheck {
    /// Whether it is about rows of another table than those that were written.
    pub(super) fn is_of_other_rows(&self) -> bool {
        matches!(&self.kind, CheckKind::Child { child, fk, .. } if fk.referenced_table != child.oid)
    }
}

/// What is checked.
#[derive(Clone, Debug)]
pub enum CheckKind {
    /// Rows that refer must find what they refer to: their keys, and the values of the referring columns.
    Child { child: Arc<TableDescriptor>, fk: Arc<ForeignKeyDescriptor>, keys: KeyList, values: Vec<ArrayRef> },
    /// Keys of a deferrable index that more than one row had: by the parts of its entries, and the values of those.
    Unique { table: Arc<TableDescriptor>, index: Oid, keys: KeyList, values: Vec<ArrayRef> },
    /// Nobody may refer any more to values that are gone, unless they have come back (and `may_return`).
    Parent {
        parent: Arc<TableDescriptor>,
        child: Arc<TableDescriptor>,
        fk: Arc<ForeignKeyDescriptor>,
        values: Vec<ArrayRef>,
        may_return: bool,
    },
}

fn check_of(work: &dyn DeferredWork) -> Option<&DeferredCheck> {
    (work as &dyn Any).downcast_ref()
}

/// Runs the checks that wait for the end of the statement.
///
/// # Errors
/// 23503, 23505.
pub async fn run_immediate(txn: &Transaction) -> PgResult<()> {
    for check in txn.take_deferred(|work| check_of(work).is_some_and(|c| !c.until_commit)) {
        check.run(txn).await?;
    }
    Ok(())
}

/// SET CONSTRAINTS … IMMEDIATE: runs what waited for these (`None`: for all).
///
/// # Errors
/// 23503, 23505.
pub async fn run_constraints(txn: &Transaction, constraints: Option<&[Oid]>) -> PgResult<()> {
    let due = |c: &DeferredCheck| constraints.is_none_or(|list| list.contains(&c.constraint));
    for check in txn.take_deferred(|work| check_of(work).is_some_and(due)) {
        check.run(txn).await?;
    }
    Ok(())
}

/// Runs a check now.
///
/// # Errors
/// 23503, 23505.
pub(super) async fn run(txn: &Transaction, check: &DeferredCheck) -> PgResult<()> {
    let of =
        Checked { eval: EvalContext { settings: Arc::clone(&check.settings), ..EvalContext::default() }, shows_values: check.shows_values };
    match &check.kind {
        CheckKind::Unique { table, index, keys, values } => {
            super::deferrable_unique::check(txn, table, *index, keys, values, check.shows_values).await
        }
        CheckKind::Child { child, fk, keys, values } => check_children(txn, child, fk, keys, values, &of).await,
        CheckKind::Parent { parent, child, fk, values, may_return } => {
            // Where the rows that refer are now: TRUNCATE may have moved them, or DROP taken them away.
            let Some(child) = txn.catalog().shared_table(child.oid) else { return Ok(()) };
            let Some(fk) = child.foreign_keys.iter().find(|key| key.name.oid == fk.name.oid) else { return Ok(()) };
            check_parents(txn, parent, &child, fk, values, *may_return, &of).await
        }
    }
}

/// How values are compared, and whether messages may show them.
struct Checked {
    eval: EvalContext,
    shows_values: bool,
}

async fn check_children(
    txn: &Transaction,
    child: &Arc<TableDescriptor>,
    fk: &ForeignKeyDescriptor,
    keys: &KeyList,
    values: &[ArrayRef],
    of: &Checked,
) -> PgResult<()> {
    let catalog = txn.catalog();
    let Some(parent) = catalog.table(fk.referenced_table) else { return Ok(()) };
    let rows = keys.len();
    let nulls = |row: usize| values.iter().filter(|a| a.is_null(row)).count();
    let mut wanted = Vec::with_capacity(rows);
    for row in 0..rows {
        match nulls(row) {
            0 => wanted.push(row),
            n if fk.match_full && n < values.len() => {
                let mixed = still_there(txn, child, fk, keys.get(row), values, row).await?;
                if mixed {
                    return Err(child_error(txn, child, fk).detail("MATCH FULL does not allow mixing of null and nonnull key values."));
                }
            }
            _ => {}
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let types: Vec<_> = named(child, fk.columns.iter().copied()).into_iter().map(|(_, ty)| ty).collect();
    let cast = columns_as(&of.eval, parent, &fk.referenced_columns, &types, values)?;
    let parents = Parent::new(parent, &fk.referenced_columns)?;
    let found = parents.find(txn, &cast, &wanted).await?;
    if txn.isolation() != Isolation::ReadCommitted && found.contains(&false) {
        // A parent that the snapshot still shows went away behind it.
        let missing: Vec<usize> = wanted.iter().zip(&found).filter(|(_, found)| !**found).map(|(row, _)| *row).collect();
        if parents.existed(&txn.statement_view(), &cast, &missing).await? {
            return Err(concurrent_update());
        }
    }
    for (row, found) in wanted.iter().zip(found) {
        if found || !still_there(txn, child, fk, keys.get(*row), values, *row).await? {
            continue;
        }
        let key = shown_key(of, child, &fk.columns, values, *row)?;
        return Err(child_error(txn, child, fk).detail(format!("Key{key} is not present in table \"{}\".", parent.name)));
    }
    Ok(())
}

/// ` (a)=(1)` for a detail; nothing where the values are not shown.
fn shown_key(of: &Checked, table: &TableDescriptor, columns: &[ColumnId], values: &[ArrayRef], row: usize) -> PgResult<String> {
    let key = || key_text(&of.eval, &named(table, columns.iter().copied()), values, row);
    if of.shows_values { Ok(format!(" {}", key()?)) } else { Ok(String::new()) }
}

/// Whether a row that refers still does, with the same values.
async fn still_there(
    txn: &Transaction,
    child: &Arc<TableDescriptor>,
    fk: &ForeignKeyDescriptor,
    key: &[u8],
    values: &[ArrayRef],
    row: usize,
) -> PgResult<bool> {
    let codec = RowCodec::of(child)?;
    let (rows, _) = lookup::rows_by_key(&txn.newest_view(), child, &codec, &[key]).await?;
    if rows.is_empty() {
        return Ok(false);
    }
    let now = fk.columns.iter().map(|id| rows.column(*id).cloned()).collect::<PgResult<Vec<_>>>()?;
    row_values_equal(child, &fk.columns, &now, 0, values, row)
}

fn child_error(txn: &Transaction, child: &TableDescriptor, fk: &ForeignKeyDescriptor) -> PgError {
    let name = &fk.name.name;
    let error = PgError::new(
        SqlState::FOREIGN_KEY_VIOLATION,
        format!("insert or update on table \"{}\" violates foreign key constraint \"{name}\"", child.name),
    );
    placed(txn, error, child, name)
}

fn placed(txn: &Transaction, error: PgError, table: &TableDescriptor, constraint: &str) -> PgError {
    let schema = txn.catalog().schema(table.schema).map(|s| s.name.clone()).unwrap_or_default();
    error.schema(schema).table(&table.name).constraint(constraint)
}

/// The rows that refer to parents and have not ended.
async fn live_children(
    txn: &Transaction,
    eval: &EvalContext,
    parent: &TableDescriptor,
    child: &Arc<TableDescriptor>,
    fk: &ForeignKeyDescriptor,
    values: &[ArrayRef],
    gone: &[usize],
) -> PgResult<Children> {
    let found = find_children(eval, &txn.newest_view(), parent, child, fk, values, gone).await?;
    let Some(expiry) = Expiry::of(&txn.catalog(), child)? else { return Ok(found) };
    let ended = expiry.ended(&found.rows, from_clock(SystemClock.now_us()))?;
    let live: Vec<usize> = (0..found.rows.len()).filter(|row| !ended.contains(row)).collect();
    let parents = live.iter().filter_map(|row| found.parents.get(*row).copied()).collect();
    Ok(Children { rows: found.rows.at(&live)?, parents })
}

async fn check_parents(
    txn: &Transaction,
    parent: &Arc<TableDescriptor>,
    child: &Arc<TableDescriptor>,
    fk: &ForeignKeyDescriptor,
    values: &[ArrayRef],
    may_return: bool,
    of: &Checked,
) -> PgResult<()> {
    let rows = values.first().map_or(0, |a| a.len());
    let wanted: Vec<usize> = (0..rows).filter(|row| values.iter().all(|a| a.is_valid(*row))).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let gone: Vec<usize> = if may_return {
        let back = Parent::new(parent, &fk.referenced_columns)?.find(txn, values, &wanted).await?;
        wanted.iter().zip(back).filter(|(_, back)| !back).map(|(row, _)| *row).collect()
    } else {
        wanted
    };
    if gone.is_empty() {
        return Ok(());
    }
    let mut children = live_children(txn, &of.eval, parent, child, fk, values, &gone).await?;
    if !children.rows.is_empty() {
        // They may be on their way out: wait for whoever has them, and look again.
        let codec = RowCodec::of(child)?;
        let mut keys = KeyList::new();
        let encoder = RowEncoder::new(&codec, |id| children.rows.get(id).cloned())?;
        for row in 0..children.rows.len() {
            keys.push_with(|out| encoder.key(row, out))?;
        }
        drop(encoder);
        txn.lock_rows(codec.storage, &keys, LockStrength::KeyShare, LockWait::Wait, &child.name).await?;
        children = live_children(txn, &of.eval, parent, child, fk, values, &gone).await?;
    }
    let Some(row) = children.parents.first() else { return Ok(()) };
    let key = shown_key(of, parent, &fk.referenced_columns, values, *row)?;
    let name = &fk.name.name;
    let error = PgError::new(
        SqlState::FOREIGN_KEY_VIOLATION,
        format!("update or delete on table \"{}\" violates foreign key constraint \"{name}\" on table \"{}\"", parent.name, child.name),
    )
    .detail(format!("Key{key} is still referenced from table \"{}\".", child.name));
    Err(placed(txn, error, child, name))
}
