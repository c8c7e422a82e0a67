//! Foreign keys: who refers to what, what follows from a change, and the actions ON DELETE and ON UPDATE.
//!
//! Checks and actions are collected while rows are written, and run one after the other when all rows of the statement are written, as
//! PostgreSQL's triggers do: a check sees what the actions before it did, and not what those behind it will do. Actions may ask for
//! further ones, which wait behind the rest. Checks that are deferred wait for the commit ([`super::deferred`]).

use super::constraint::may_read;
use super::deferred::{self, CheckKind, DeferredCheck};
use super::lookup;
use super::rows::Rows;
use super::table_writer::TableWriter;
use super::update::{self, Freshness};
use crate::nodes::StatementContext;
use arrow::array::{Array, ArrayRef, BooleanArray, BooleanBufferBuilder, UInt32Array, new_null_array};
use arrow::compute::{partition, take};
use arrow::row::{RowConverter, SortField};
use datafusion::common::ScalarValue;
use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;
use std::sync::Arc;
use stoa_encoding::keyside::{Direction, KeyPart};
use stoa_pg::casts::{apply, cast_kernel};
use stoa_pg::sqlstate::SqlState;
use stoa_pg::types::TRIMMED;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};
use stoa_sql::bind::scope::Clause;
use stoa_sql::bind::{BindContext, bind_constant_expr};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::from_datafusion;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind};
use stoa_table::access::{Comparison, Predicate};
use stoa_table::catalog::{ColumnId, ForeignKeyAction, ForeignKeyDescriptor, IndexKey, IndexState, Oid, TableDescriptor};
use stoa_table::failure::concurrent_update;
use stoa_table::row::types::part_kind;
use stoa_table::row::{IndexCodec, IndexEncoder, KeyColumn, KeyList, RowCodec, RowEncoder};
use stoa_table::services::locks::{LockStrength, LockWait};
use stoa_table::txn::{Isolation, ReadView, TableLockMode, Transaction};

/// A foreign key of another table (or the same) that refers to a table.
#[derive(Clone, Debug)]
struct Reference {
    child: Arc<TableDescriptor>,
    fk: Arc<ForeignKeyDescriptor>,
}

/// What a change of rows asks for.
#[derive(Debug)]
pub enum Step {
    Check(DeferredCheck),
    Act(Action),
}

/// An action on the rows that refer to changed ones.
#[derive(Debug)]
pub struct Action {
    parent: Arc<TableDescriptor>,
    reference: Reference,
    kind: ForeignKeyAction,
    /// The referenced columns before the change, and after it (`None`: the rows are gone).
    old: Vec<ArrayRef>,
    new: Option<Vec<ArrayRef>>,
}

/// What a statement's changes ask for.
#[derive(Default)]
pub struct ForeignKeyWork {
    steps: Vec<Step>,
    /// By OID of the table referred to.
    references: HashMap<Oid, Arc<Vec<Reference>>>,
}

impl ForeignKeyWork {
    fn references(&mut self, ctx: &StatementContext, table: Oid) -> Arc<Vec<Reference>> {
        let found = self.references.entry(table).or_insert_with(|| {
            let mut out = Vec::new();
            for child in ctx.catalog.referencing(table).iter().filter_map(|oid| ctx.catalog.shared_table(*oid)) {
                for fk in child.foreign_keys.iter().filter(|fk| fk.referenced_table == table) {
                    out.push(Reference { child: Arc::clone(&child), fk: Arc::new(fk.clone()) });
                }
            }
            // The order of triggers: by name.
            out.sort_by_key(|a| a.fk.name.oid);
            Arc::new(out)
        });
        Arc::clone(found)
    }

    /// What was asked for, in order.
    #[must_use]
    pub fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// Whether any foreign key refers to a table.
    pub fn is_referenced(&mut self, writer: &TableWriter) -> bool {
        !self.references(&writer.ctx, writer.table.oid).is_empty()
    }

    /// Rows were inserted: their own references must be found.
    ///
    /// # Errors
    /// The rows lack a column.
    pub fn child_rows(&mut self, writer: &TableWriter, rows: &Rows, keys: &KeyList, inserted: &[usize]) -> PgResult<()> {
        if writer.table.foreign_keys.is_empty() || inserted.is_empty() || is_replica(&writer.ctx) {
            return Ok(());
        }
        let part = rows.at(inserted)?;
        let mut own = KeyList::with_capacity(inserted.len(), 24);
        inserted.iter().for_each(|row| own.push(keys.get(*row)));
        for fk in &writer.table.foreign_keys {
            self.push_child(writer, fk, &part, own.clone())?;
        }
        Ok(())
    }

    /// Rows were updated: references that changed must be found. A check that waits for the commit looks for its row by key: a row that
    /// has another key now is checked as one that is new.
    ///
    /// # Errors
    /// The rows lack a column.
    pub fn child_rows_assigned(
        &mut self,
        writer: &TableWriter,
        old: &Rows,
        new: &Rows,
        keys: (&KeyList, &KeyList),
        assigned: &HashSet<ColumnId>,
    ) -> PgResult<()> {
        if writer.table.foreign_keys.is_empty() || is_replica(&writer.ctx) {
            return Ok(());
        }
        let (old_keys, keys) = keys;
        for fk in &writer.table.foreign_keys {
            let mut changed = match fk.columns.iter().any(|c| assigned.contains(c)) {
                true => changed_rows(&writer.table, &fk.columns, old, new)?,
                false => Vec::new(),
            };
            if writer.assigns_key(assigned) && writer.ctx.txn.is_deferred(&fk.name) {
                changed.extend((0..new.len()).filter(|row| old_keys.get(*row) != keys.get(*row)));
                changed.sort_unstable();
                changed.dedup();
            }
            if changed.is_empty() {
                continue;
            }
            let mut own = KeyList::new();
            changed.iter().for_each(|row| own.push(keys.get(*row)));
            self.push_child(writer, fk, &new.at(&changed)?, own)?;
        }
        Ok(())
    }

    fn push_child(&mut self, writer: &TableWriter, fk: &ForeignKeyDescriptor, rows: &Rows, mut keys: KeyList) -> PgResult<()> {
        let mut values = fk.columns.iter().map(|id| rows.column(*id).cloned()).collect::<PgResult<Vec<_>>>()?;
        // Of many entries of one map, one finds their row.
        if writer.table.entries_of.is_some() {
            let firsts: Vec<usize> = partition(&values)?.ranges().into_iter().map(|range| range.start).collect();
            let mut of_firsts = KeyList::with_capacity(firsts.len(), 24);
            firsts.iter().for_each(|row| of_firsts.push(keys.get(*row)));
            let at = super::rows::indices(&firsts);
            values = values.iter().map(|array| Ok(take(array, &at, None)?)).collect::<PgResult<_>>()?;
            keys = of_firsts;
        }
        self.steps.push(Step::Check(DeferredCheck {
            constraint: fk.name.oid,
            settings: Arc::clone(&writer.ctx.eval.settings),
            shows_values: may_read(&writer.ctx, &writer.table, fk.columns.iter().copied()),
            until_commit: writer.ctx.txn.is_deferred(&fk.name),
            kind: CheckKind::Child { child: Arc::clone(&writer.table), fk: Arc::new(fk.clone()), keys, values },
        }));
        Ok(())
    }

    /// Rows were deleted (or, with `new`, changed): those that refer to them are dealt with.
    ///
    /// # Errors
    /// The rows lack a column.
    pub fn parent_rows(&mut self, writer: &TableWriter, old: &Rows, new: Option<&Rows>, assigned: &HashSet<ColumnId>) -> PgResult<()> {
        if old.is_empty() || writer.ctx.catalog.referencing(writer.table.oid).is_empty() {
            return Ok(());
        }
        for reference in self.references(&writer.ctx, writer.table.oid).iter() {
            let fk = &reference.fk;
            // Entries of maps are part of their row, whatever is left alone.
            if is_replica(&writer.ctx) && reference.child.entries_of.is_none() {
                continue;
            }
            let rows = match new {
                None => (0..old.len()).collect(),
                Some(_) if !fk.referenced_columns.iter().any(|c| assigned.contains(c)) => continue,
                Some(new) => rows_of_other_form(&fk.referenced_columns, old, new)?,
            };
            if rows.is_empty() {
                continue;
            }
            let values = |rows_of: &Rows| -> PgResult<Vec<ArrayRef>> {
                let part = rows_of.at(&rows)?;
                fk.referenced_columns.iter().map(|id| part.column(*id).cloned()).collect()
            };
            let old = values(old)?;
            let new = new.map(values).transpose()?;
            let kind = if new.is_some() { fk.on_update } else { fk.on_delete };
            match kind {
                ForeignKeyAction::NoAction | ForeignKeyAction::Restrict => self.steps.push(Step::Check(DeferredCheck {
                    constraint: fk.name.oid,
                    settings: Arc::clone(&writer.ctx.eval.settings),
                    shows_values: may_read(&writer.ctx, &writer.table, fk.referenced_columns.iter().copied()),
                    until_commit: kind == ForeignKeyAction::NoAction && writer.ctx.txn.is_deferred(&fk.name),
                    kind: CheckKind::Parent {
                        parent: Arc::clone(&writer.table),
                        child: Arc::clone(&reference.child),
                        fk: Arc::clone(fk),
                        values: old,
                        may_return: kind == ForeignKeyAction::NoAction,
                    },
                })),
                kind => {
                    self.steps.push(Step::Act(Action { parent: Arc::clone(&writer.table), reference: reference.clone(), kind, old, new }))
                }
            }
        }
        Ok(())
    }
}

/// Whether what is written was checked elsewhere: foreign keys are left alone.
fn is_replica(ctx: &StatementContext) -> bool {
    ctx.session.settings().replica
}

/// Takes the steps, and those that follow from them; checks that wait are handed to the transaction. If more rows of the statement are
/// to come (`whole` is false), so are those of rows that may refer to them.
///
/// # Errors
/// 23503, and what the changes of referring rows raise.
pub async fn run(ctx: &StatementContext, steps: Vec<Step>, whole: bool) -> PgResult<()> {
    let mut work = ForeignKeyWork::default();
    let mut steps = VecDeque::from(steps);
    while let Some(step) = steps.pop_front() {
        match step {
            Step::Check(check) if check.until_commit || !(whole || check.is_of_other_rows()) => ctx.txn.defer(Box::new(check)),
            Step::Check(check) => deferred::run(&ctx.txn, &check).await?,
            Step::Act(action) => act(ctx, &mut work, &action).await?,
        }
        steps.extend(work.steps.drain(..));
    }
    Ok(())
}

async fn act(ctx: &StatementContext, work: &mut ForeignKeyWork, action: &Action) -> PgResult<()> {
    let Reference { child, fk } = &action.reference;
    let count = action.old.first().map_or(0, |a| a.len());
    let all: Vec<usize> = (0..count).filter(|row| action.old.iter().all(|a| a.is_valid(*row))).collect();
    if all.is_empty() {
        return Ok(());
    }
    if !child.temporary {
        ctx.txn.lock_table(child.oid, TableLockMode::RowExclusive, false, &child.name).await?;
    }
    // Its indexes as they are behind the lock.
    let newest = ctx.txn.catalog().table(child.oid).cloned().map_or_else(|| child.clone(), std::sync::Arc::new);
    let child = &newest;
    let mut writer = TableWriter::new(ctx, child)?;
    if child.entries_of.is_some() && action.kind == ForeignKeyAction::Cascade && action.new.is_none() {
        return delete_entries(&mut writer, work, action, &all).await;
    }
    // Rows that others change while their locks are waited for are read again.
    let found = loop {
        let view = ctx.txn.newest_view();
        let found = find_children(&ctx.eval, &view, &action.parent, child, fk, &action.old, &all).await?;
        if found.rows.is_empty() {
            return Ok(());
        }
        let encoder = RowEncoder::new(&writer.codec, |id| found.rows.get(id).cloned())?;
        let mut keys = KeyList::new();
        for row in 0..found.rows.len() {
            keys.push_with(|out| encoder.key(row, out))?;
        }
        drop(encoder);
        ctx.txn.lock_rows(writer.codec.storage, &keys, LockStrength::Key, LockWait::Wait, &child.name).await?;
        if !ctx.txn.rows_changed_since(writer.codec.storage, &keys, view.timestamp()) {
            // What a snapshot does not show as it is must not be changed unseen.
            let snapshot = ctx.txn.read_view().timestamp();
            if ctx.txn.isolation() != Isolation::ReadCommitted && ctx.txn.rows_changed_since(writer.codec.storage, &keys, snapshot) {
                return Err(concurrent_update());
            }
            break found;
        }
    };
    if action.kind == ForeignKeyAction::Cascade && action.new.is_none() {
        update::delete(&writer, work, &found.rows, Freshness::Newest).await?;
        return Ok(());
    }
    let mut after = found.rows.clone();
    let set = |id: &ColumnId| action.new.is_some() || fk.on_delete_columns.is_empty() || fk.on_delete_columns.contains(id);
    for (n, id) in fk.columns.iter().enumerate().filter(|(_, id)| set(id)) {
        let column = child.column(*id).ok_or_else(|| PgError::internal("a foreign key over a column that does not exist"))?;
        let array = match action.kind {
            ForeignKeyAction::SetNull => new_null_array(&column.ty.arrow, after.len()),
            ForeignKeyAction::SetDefault => default_column(ctx, child, *id, after.len())?,
            _ => {
                let parents: UInt32Array = found.parents.iter().map(|p| *p as u32).collect();
                let new = action.new.as_ref().and_then(|new| new.get(n)).ok_or_else(|| PgError::internal("a cascade without values"))?;
                let referenced = fk.referenced_columns.get(n).and_then(|id| action.parent.column(*id));
                let from =
                    referenced.map(|c| c.ty.clone()).ok_or_else(|| PgError::internal("a reference to a column that does not exist"))?;
                assigned(&ctx.eval, &from, &column.ty, take(new, &parents, None)?)?
            }
        };
        after.set(*id, array);
    }
    writer.regenerate(&mut after)?;
    let mut assigned: HashSet<ColumnId> = fk.columns.iter().copied().collect();
    assigned.extend(writer.generated_columns());
    update::update(&mut writer, work, &found.rows, after, &assigned, Freshness::Newest).await?;
    if action.kind == ForeignKeyAction::SetDefault {
        // The default may be the very value that has gone.
        let kind = CheckKind::Parent {
            parent: Arc::clone(&action.parent),
            child: Arc::clone(child),
            fk: Arc::clone(fk),
            values: action.old.clone(),
            may_return: true,
        };
        let shows_values = may_read(ctx, &action.parent, fk.referenced_columns.iter().copied());
        deferred::run(
            &ctx.txn,
            &DeferredCheck { constraint: fk.name.oid, settings: Arc::clone(&ctx.eval.settings), shows_values, until_commit: false, kind },
        )
        .await?;
    }
    Ok(())
}

/// Deletes the entries of maps of rows that are gone, a part after the other: there may be any number of them.
async fn delete_entries(writer: &mut TableWriter, work: &mut ForeignKeyWork, action: &Action, rows: &[usize]) -> PgResult<()> {
    const PART: usize = 8192;
    let (txn, storage) = (Arc::clone(&writer.ctx.txn), writer.codec.storage);
    for row in rows {
        let mut equal = Vec::with_capacity(action.reference.fk.columns.len());
        for (column, values) in action.reference.fk.columns.iter().zip(&action.old) {
            let value = ScalarValue::try_from_array(values, *row).map_err(from_datafusion)?;
            equal.push(Predicate::Compare { column: *column, op: Comparison::Equal, value });
        }
        for mut range in lookup::ranges_of_key(&writer.table, &writer.codec, &[Predicate::and(equal)])? {
            loop {
                // A view shares what was written so far, which would be copied if it was written to meanwhile.
                let (part, read_at) = {
                    let view = txn.newest_view();
                    (lookup::in_range(&view, &writer.table, &writer.codec, &range, PART).await?, view.timestamp())
                };
                let encoder = RowEncoder::new(&writer.codec, |id| part.get(id).cloned())?;
                let mut keys = KeyList::new();
                for row in 0..part.len() {
                    keys.push_with(|out| encoder.key(row, out))?;
                }
                drop(encoder);
                let Some(last) = keys.len().checked_sub(1).map(|last| keys.get(last).to_vec()) else { break };
                txn.lock_rows(storage, &keys, LockStrength::Key, LockWait::Wait, &writer.table.name).await?;
                if txn.rows_changed_since(storage, &keys, read_at) {
                    continue;
                }
                // What a snapshot does not show as it is must not be changed unseen.
                let snapshot = txn.read_view().timestamp();
                if txn.isolation() != Isolation::ReadCommitted && txn.rows_changed_since(storage, &keys, snapshot) {
                    return Err(concurrent_update());
                }
                update::delete(writer, work, &part, Freshness::Newest).await?;
                // The least key behind the last one.
                range.start = last;
                range.start.push(0);
            }
        }
    }
    Ok(())
}

fn default_column(ctx: &StatementContext, table: &TableDescriptor, id: ColumnId, rows: usize) -> PgResult<ArrayRef> {
    let column = table.column(id).ok_or_else(|| PgError::internal("a column that does not exist"))?;
    let Some(sql) = &column.default else { return Ok(new_null_array(&column.ty.arrow, rows)) };
    let syntax = stoa_syntax::parse_expression(sql).map_err(|e| PgError::internal(e.message))?;
    let bind = BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: "" };
    let expr = bind_constant_expr(&bind, Clause::Default, &syntax, &column.ty, &column.name)?;
    let out = TableEvaluator::new(&ctx.eval, &[], &[], &[expr])?.evaluate(Vec::new(), rows)?;
    out.into_iter().next().ok_or_else(|| PgError::internal("a default without a value"))
}

/// Rows that refer to some of a parent's, with the position of each one's parent.
#[derive(Debug)]
pub struct Children {
    pub rows: Rows,
    pub parents: Vec<usize>,
}

/// Finds the rows of `child` that refer to the parents at `wanted` positions of `values`.
///
/// # Errors
/// The store failed.
pub async fn find_children(
    eval: &EvalContext,
    view: &ReadView,
    parent: &TableDescriptor,
    child: &Arc<TableDescriptor>,
    fk: &ForeignKeyDescriptor,
    values: &[ArrayRef],
    wanted: &[usize],
) -> PgResult<Children> {
    /// More parents than this are looked for in a scan.
    const MAX_SOUGHT: usize = 1000;
    let codec = RowCodec::of(child)?;
    let mut predicates = Vec::new();
    if wanted.len() <= MAX_SOUGHT {
        // By column, what those that refer have; none where they may have more than one value.
        let mut columns = Vec::with_capacity(fk.columns.len());
        for ((id, referenced), values) in fk.columns.iter().zip(&fk.referenced_columns).zip(values) {
            let (Some(own), Some(key)) = (child.column(*id), parent.column(*referenced)) else {
                return Err(PgError::internal("a foreign key over a column that does not exist"));
            };
            if !many_to_one(&own.ty, &key.ty) {
                columns.push((*id, column_as(eval, &key.ty, &own.ty, values)?));
            }
        }
        let possible: Vec<usize> = wanted.iter().copied().filter(|row| columns.iter().all(|(_, values)| values.is_valid(*row))).collect();
        if possible.is_empty() {
            return Ok(Children { rows: Rows::new(0), parents: Vec::new() });
        }
        let scalar = |values: &ArrayRef, row: usize| ScalarValue::try_from_array(values, row).map_err(from_datafusion);
        match columns.as_slice() {
            [] => {}
            [(column, sought)] => {
                let values = possible.iter().map(|row| scalar(sought, *row)).collect::<PgResult<Vec<_>>>()?;
                predicates.push(Predicate::In { column: *column, values });
            }
            columns => {
                let mut any = Vec::with_capacity(possible.len());
                for row in possible {
                    let mut all = Vec::with_capacity(columns.len());
                    for (column, sought) in columns {
                        all.push(Predicate::Compare { column: *column, op: Comparison::Equal, value: scalar(sought, row)? });
                    }
                    any.push(Predicate::and(all));
                }
                predicates.push(Predicate::or(any));
            }
        }
    }
    let rows = lookup::matching(view, child, &codec, &predicates).await?;
    let sought = tuples(parent, &fk.referenced_columns, values)?;
    let mut by_key: HashMap<Vec<u8>, usize> = HashMap::with_capacity(wanted.len());
    for row in wanted {
        if let Some(key) = sought.encode(*row)? {
            by_key.insert(key, *row);
        }
    }
    let own = fk.columns.iter().map(|id| rows.column(*id).cloned()).collect::<PgResult<Vec<_>>>()?;
    let types: Vec<SqlType> = fk.columns.iter().filter_map(|id| child.column(*id)).map(|c| c.ty.clone()).collect();
    let own = columns_as(eval, parent, &fk.referenced_columns, &types, &own)?;
    let own = tuples(parent, &fk.referenced_columns, &own)?;
    let mut positions = Vec::new();
    let mut parents = Vec::new();
    for row in 0..rows.len() {
        if let Some(key) = own.encode(row)?
            && let Some(parent) = by_key.get(&key)
        {
            positions.push(row);
            parents.push(*parent);
        }
    }
    Ok(Children { rows: rows.at(&positions)?, parents })
}

/// Tuples of columns as bytes that are equal where the values are.
struct Tuples {
    columns: Vec<KeyColumn>,
    parts: Vec<KeyPart>,
}

impl Tuples {
    /// `None` when a value is NULL.
    fn encode(&self, row: usize) -> PgResult<Option<Vec<u8>>> {
        if self.columns.iter().any(|c| c.is_null(row)) {
            return Ok(None);
        }
        let mut out = Vec::new();
        for (column, part) in self.columns.iter().zip(&self.parts) {
            column.encode(*part, row, &mut out)?;
        }
        Ok(Some(out))
    }
}

fn tuples(table: &TableDescriptor, columns: &[ColumnId], values: &[ArrayRef]) -> PgResult<Tuples> {
    let mut out = Tuples { columns: Vec::with_capacity(columns.len()), parts: Vec::with_capacity(columns.len()) };
    for (id, array) in columns.iter().zip(values) {
        let column = table.column(*id).ok_or_else(|| PgError::internal("a foreign key over a column that does not exist"))?;
        out.columns.push(KeyColumn::new(&column.ty, array)?);
        out.parts.push(KeyPart::new(part_kind(&column.ty)?, Direction::Asc));
    }
    Ok(out)
}

/// Whether two rows agree in columns (NULLs agree with none).
///
/// # Errors
/// An array is not of its type.
pub fn row_values_equal(
    table: &TableDescriptor,
    columns: &[ColumnId],
    a: &[ArrayRef],
    a_row: usize,
    b: &[ArrayRef],
    b_row: usize,
) -> PgResult<bool> {
    for ((id, a), b) in columns.iter().zip(a).zip(b) {
        if a.is_null(a_row) || b.is_null(b_row) {
            if a.is_null(a_row) != b.is_null(b_row) {
                return Ok(false);
            }
            continue;
        }
        let one = std::slice::from_ref(id);
        let (x, y) = (tuples(table, one, std::slice::from_ref(a))?, tuples(table, one, std::slice::from_ref(b))?);
        if x.encode(a_row)? != y.encode(b_row)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The rows that differ in some of the columns.
fn changed_rows(table: &TableDescriptor, columns: &[ColumnId], old: &Rows, new: &Rows) -> PgResult<Vec<usize>> {
    let values = |rows: &Rows| columns.iter().map(|id| rows.column(*id).cloned()).collect::<PgResult<Vec<_>>>();
    let (before, after) = (values(old)?, values(new)?);
    let (x, y) = (tuples(table, columns, &before)?, tuples(table, columns, &after)?);
    let mut out = Vec::new();
    for row in 0..old.len() {
        let same_nulls = before.iter().zip(&after).all(|(a, b)| a.is_null(row) == b.is_null(row));
        let same = match (x.encode(row)?, y.encode(row)?) {
            (Some(a), Some(b)) => a == b,
            (None, None) => same_nulls && row_values_equal(table, columns, &before, row, &after, row)?,
            _ => false,
        };
        if !same {
            out.push(row);
        }
    }
    Ok(out)
}

/// The rows of which some column is another value, or an equal one in another form (`1.0` and `1.00`): what refers to them follows.
fn rows_of_other_form(columns: &[ColumnId], old: &Rows, new: &Rows) -> PgResult<Vec<usize>> {
    let values = |rows: &Rows| columns.iter().map(|id| rows.column(*id).cloned()).collect::<PgResult<Vec<_>>>();
    let (before, after) = (values(old)?, values(new)?);
    let forms = RowConverter::new(before.iter().map(|a| SortField::new(a.data_type().clone())).collect())?;
    let (before, after) = (forms.convert_columns(&before)?, forms.convert_columns(&after)?);
    Ok((0..old.len()).filter(|row| before.row(*row) != after.row(*row)).collect())
}

/// The values of a referenced column as the referring column is assigned them.
///
/// # Errors
/// A value does not fit.
fn assigned(eval: &EvalContext, from: &SqlType, to: &SqlType, array: ArrayRef) -> PgResult<ArrayRef> {
    if from == to {
        return Ok(array);
    }
    let (column, rows) = (ColId(1), array.len());
    let cast = ExprKind::Cast { arg: Box::new(Expr::column(column, from.clone())), explicit: false };
    let evaluator = TableEvaluator::new(eval, &[], &[(column, from.arrow.clone())], &[Expr::new(cast, to.clone())])?;
    evaluator.evaluate(vec![array], rows)?.pop().ok_or_else(|| PgError::internal("an assignment without a value"))
}

/// Columns that refer as values of the types of the columns that they refer to, equal where PostgreSQL's operators say so. What the
/// other type cannot hold is NULL: equal to nothing.
///
/// # Errors
/// 22003: PostgreSQL casts the value before it compares, and it does not fit.
pub fn columns_as(
    eval: &EvalContext,
    table: &TableDescriptor,
    columns: &[ColumnId],
    from: &[SqlType],
    values: &[ArrayRef],
) -> PgResult<Vec<ArrayRef>> {
    columns
        .iter()
        .zip(from)
        .zip(values)
        .map(|((id, from), array)| {
            let to = table.column(*id).ok_or_else(|| PgError::internal("a foreign key to a column that does not exist"))?;
            column_as(eval, from, &to.ty, array)
        })
        .collect()
}

/// How a value of one type finds its equal among those of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Equal {
    /// As it is.
    Same,
    /// Without the blanks at its end.
    Trimmed,
    /// PostgreSQL casts it to the other type, and raises what the cast raises.
    Cast,
    /// PostgreSQL casts it in an operator of both types: what does not fit equals nothing.
    Moved,
    /// PostgreSQL casts the other one, or both: it must come back as it was.
    Exact,
}

impl Equal {
    fn of(from: &SqlType, to: &SqlType) -> Self {
        use PgType::{
            Bpchar, Char, Date, Float4, Float8, Int2, Int4, Int8, Interval, Name, Numeric, Oid, Text, Timestamp, Timestamptz, Timetz,
            Varchar,
        };
        match (&from.ty, &to.ty) {
            (_, Bpchar) => Self::Trimmed,
            (a, b) if a == b && from.arrow == to.arrow => Self::Same,
            (Text | Varchar | Name, Text | Varchar) | (Text, Name) => Self::Same,
            (Bpchar | Char, Text | Varchar) | (_, Name) => Self::Cast,
            (Int2 | Int4 | Int8 | Numeric, Float4 | Float8) | (Float4, Float8) | (_, Oid | Timetz | Interval) => Self::Cast,
            (Date, Timestamp | Timestamptz) | (Timestamp, Timestamptz) => Self::Moved,
            _ => Self::Exact,
        }
    }
}

/// Whether more than one value of a type that refers may equal one of the key's.
fn many_to_one(from: &SqlType, key: &SqlType) -> bool {
    match Equal::of(from, key) {
        Equal::Same | Equal::Exact => false,
        Equal::Trimmed | Equal::Cast => from.ty != PgType::Bpchar,
        Equal::Moved => key.ty == PgType::Timestamptz,
    }
}

fn column_as(eval: &EvalContext, from: &SqlType, to: &SqlType, array: &ArrayRef) -> PgResult<ArrayRef> {
    let equal = Equal::of(from, to);
    // Modifiers would round and cut.
    let bare = |ty: &SqlType| SqlType { typmod: -1, ..ty.clone() };
    let (from, to) = (bare(from), bare(to));
    let cast = match equal {
        Equal::Same => return Ok(Arc::clone(array)),
        Equal::Trimmed => {
            let trimmed = SqlType { typmod: TRIMMED, ..to };
            return match stoa_pg::values::apply_typmod(&trimmed, true) {
                None => Ok(Arc::clone(array)),
                Some(kernel) => apply(eval, &kernel, &from, &trimmed, true, Arc::clone(array)),
            };
        }
        Equal::Cast => return cast_column(eval, &from, &to, array),
        Equal::Moved => return cast_where_it_fits(eval, &from, &to, array),
        Equal::Exact => cast_where_it_fits(eval, &from, &to, array)?,
    };
    // A part of a timestamp, say, that a date does not have.
    let back = cast_where_it_fits(eval, &to, &from, &cast)?;
    let (before, after) = (KeyColumn::new(&from, array)?, KeyColumn::new(&from, &back)?);
    let part = KeyPart::new(part_kind(&from)?, Direction::Asc);
    let mut same = BooleanBufferBuilder::new(array.len());
    for row in 0..array.len() {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        if before.is_null(row) || after.is_null(row) {
            same.append(false);
            continue;
        }
        before.encode(part, row, &mut x)?;
        after.encode(part, row, &mut y)?;
        same.append(x == y);
    }
    let different = arrow::compute::not(&BooleanArray::new(same.finish(), None))?;
    Ok(arrow::compute::nullif(&cast, &different)?)
}

fn cast_column(eval: &EvalContext, from: &SqlType, to: &SqlType, array: &ArrayRef) -> PgResult<ArrayRef> {
    match cast_kernel(from, to, false)? {
        None => Ok(arrow::compute::cast(array, &to.arrow)?),
        Some(kernel) => apply(eval, &kernel, from, to, false, Arc::clone(array)),
    }
}

/// As [`cast_column`]; what the other type cannot hold is NULL.
fn cast_where_it_fits(eval: &EvalContext, from: &SqlType, to: &SqlType, array: &ArrayRef) -> PgResult<ArrayRef> {
    let too_large = |error: &PgError| {
        error.code() == SqlState::NUMERIC_VALUE_OUT_OF_RANGE
            || error.code() == SqlState::DATETIME_FIELD_OVERFLOW
            || error.code() == SqlState::FEATURE_NOT_SUPPORTED
    };
    match cast_column(eval, from, to, array) {
        Err(error) if too_large(&error) && array.len() == 1 => Ok(new_null_array(&to.arrow, 1)),
        Err(error) if too_large(&error) => {
            // Halves, so that one that does not fit costs few casts.
            let half = array.len() / 2;
            let first = cast_where_it_fits(eval, from, to, &array.slice(0, half))?;
            let second = cast_where_it_fits(eval, from, to, &array.slice(half, array.len() - half))?;
            Ok(arrow::compute::concat(&[&first, &second])?)
        }
        cast => cast,
    }
}

/// How rows of a referenced table are found by the referenced columns.
pub struct Parent<'a> {
    table: &'a TableDescriptor,
    codec: Arc<RowCodec>,
    access: ParentAccess,
}

enum ParentAccess {
    /// Positions among the referenced columns, by part of the key.
    Key(Vec<usize>),
    Index(Arc<IndexCodec>, Vec<usize>),
}

impl<'a> Parent<'a> {
    /// # Errors
    /// No unique key covers the columns.
    pub fn new(table: &'a TableDescriptor, columns: &[ColumnId]) -> PgResult<Self> {
        let codec = Arc::new(RowCodec::new(table)?);
        let order = |ids: &mut dyn Iterator<Item = Option<ColumnId>>, len: usize| -> Option<Vec<usize>> {
            if len != columns.len() {
                return None;
            }
            ids.map(|id| columns.iter().position(|c| Some(*c) == id)).collect()
        };
        // Each column once, then each part by its column.
        if order(&mut table.key_columns().map(|p| Some(p.column)), table.key_columns().count()).is_some()
            && let Some(positions) = table.key.iter().map(|p| columns.iter().position(|c| *c == p.column)).collect()
        {
            return Ok(Self { table, codec, access: ParentAccess::Key(positions) });
        }
        for index in &table.indexes {
            if !index.unique || index.predicate.is_some() || index.state != IndexState::Readable {
                continue;
            }
            let mut ids = index.parts.iter().map(|p| match p.key {
                IndexKey::Column(id) => Some(id),
                IndexKey::Expr(_) => None,
            });
            if let Some(positions) = order(&mut ids, index.parts.len()) {
                let index = Arc::new(IndexCodec::new(table, index)?);
                return Ok(Self { table, codec, access: ParentAccess::Index(index, positions) });
            }
        }
        Err(PgError::internal(format!("no unique key of \"{}\" covers a foreign key", table.name)))
    }

    /// Which of the rows at `wanted` positions of `values` (columns in the order of the reference, of the table's types) exist.
    /// Those that do are locked against going away.
    ///
    /// # Errors
    /// The store failed; a lock was not granted.
    pub async fn find(&self, txn: &Transaction, values: &[ArrayRef], wanted: &[usize]) -> PgResult<Vec<bool>> {
        let mut row_keys = self.row_keys(&txn.newest_view(), values, wanted).await?;
        loop {
            let exist = self.lock_existing(txn, &row_keys).await?;
            // What an index said before the locks were there may be so no more.
            if !matches!(self.access, ParentAccess::Key(_)) {
                let again = self.row_keys(&txn.newest_view(), values, wanted).await?;
                if again != row_keys {
                    row_keys = again;
                    continue;
                }
            }
            // Above READ COMMITTED a row that the snapshot does not show is none.
            let view = txn.statement_view();
            if txn.isolation() == Isolation::ReadCommitted || !self.reaches_back_to(&view) {
                return Ok(exist);
            }
            let seen = self.there(&view, values, wanted).await?;
            return Ok(exist.into_iter().zip(seen).map(|(exists, seen)| exists && seen).collect());
        }
    }

    /// Whether the index by which rows are found has all that a view shows.
    fn reaches_back_to(&self, view: &ReadView) -> bool {
        match &self.access {
            ParentAccess::Key(_) => true,
            ParentAccess::Index(codec, _) => {
                let index = self.table.indexes.iter().find(|i| i.storage == codec.storage);
                index.is_some_and(|i| i.readable_from <= view.timestamp().0)
            }
        }
    }

    /// Whether any of the rows at `wanted` positions is there at a view.
    ///
    /// # Errors
    /// The store failed.
    pub async fn existed(&self, view: &ReadView, values: &[ArrayRef], wanted: &[usize]) -> PgResult<bool> {
        Ok(self.there(view, values, wanted).await?.contains(&true))
    }

    /// Which of the rows are there at a view.
    async fn there(&self, view: &ReadView, values: &[ArrayRef], wanted: &[usize]) -> PgResult<Vec<bool>> {
        let keys = self.row_keys(view, values, wanted).await?;
        let mut list: Vec<&[u8]> = keys.iter().flatten().map(Vec::as_slice).collect();
        list.sort_unstable();
        list.dedup();
        let family = self.codec.families.first().map(|f| f.id).ok_or_else(|| PgError::internal("a table without families"))?;
        let exist = view.exists(self.codec.storage, family, &list).await?;
        let exist: HashSet<&[u8]> = list.iter().zip(exist).filter(|(_, e)| *e).map(|(k, _)| *k).collect();
        Ok(keys.iter().map(|key| key.as_deref().is_some_and(|k| exist.contains(k))).collect())
    }

    /// The keys of the rows that have the values at a view.
    async fn row_keys(&self, view: &ReadView, values: &[ArrayRef], wanted: &[usize]) -> PgResult<Vec<Option<Vec<u8>>>> {
        let at = |positions: &[usize]| -> PgResult<Vec<ArrayRef>> {
            positions.iter().map(|p| values.get(*p).cloned().ok_or_else(|| PgError::internal("a reference without values"))).collect()
        };
        Ok(match &self.access {
            ParentAccess::Key(positions) => {
                let arrays = at(positions)?;
                let columns: Vec<KeyColumn> =
                    self.codec.key.parts.iter().zip(&arrays).map(|(p, a)| p.open_sought(a)).collect::<PgResult<Vec<_>>>()?;
                let mut keys = Vec::with_capacity(wanted.len());
                for row in wanted {
                    if columns.iter().any(|c| c.is_null(*row)) {
                        keys.push(None);
                        continue;
                    }
                    let mut key = Vec::new();
                    self.codec.key.encode(&columns, *row, &mut key)?;
                    keys.push(Some(key));
                }
                keys
            }
            ParentAccess::Index(index, positions) => {
                let arrays = at(positions)?;
                // Only keys are made: what the cell holds beside them does not matter.
                let bare = IndexCodec { values: Vec::new(), ..(**index).clone() };
                let encoder = IndexEncoder::new(&bare, |n| arrays.get(n).cloned(), |_| None)?;
                let mut entries = Vec::with_capacity(wanted.len());
                for row in wanted {
                    let mut key = Vec::new();
                    if arrays.iter().all(|a| a.is_valid(*row)) {
                        encoder.key(*row, &[], &mut key)?;
                    }
                    entries.push(key);
                }
                let list: Vec<&[u8]> = entries.iter().filter(|k| !k.is_empty()).map(Vec::as_slice).collect();
                let found = lookup::entries(view, index, &list).await?;
                let found = lookup::without_ended(view, self.table, &self.codec, found, |rows| {
                    let encoder = IndexEncoder::new(&bare, |n| rows.get(bare.parts.get(n)?.column).cloned(), |_| None)?;
                    (0..rows.len()).map(|row| lookup::exclusive_key(&encoder, row)).collect()
                })
                .await?;
                entries.iter().map(|key| found.get(key).cloned()).collect()
            }
        })
    }

    /// Locks rows against going away; whether each is there.
    async fn lock_existing(&self, txn: &Transaction, row_keys: &[Option<Vec<u8>>]) -> PgResult<Vec<bool>> {
        let mut distinct: HashSet<&[u8]> = HashSet::new();
        let mut keys = KeyList::new();
        for key in row_keys.iter().flatten() {
            if distinct.insert(key) {
                keys.push(key);
            }
        }
        let list: Vec<&[u8]> = keys.iter().collect();
        let family = self.codec.families.first().map(|f| f.id).ok_or_else(|| PgError::internal("a table without families"))?;
        let taken = txn.lock_rows(self.codec.storage, &keys, LockStrength::KeyShare, LockWait::SkipLocked, &self.table.name).await?;
        if taken.contains(&false) {
            // Somebody has the row. One that is not committed yet is no parent, and is not waited for.
            let held: Vec<&[u8]> = list.iter().zip(taken).filter(|(_, taken)| !taken).map(|(key, _)| *key).collect();
            let there = txn.newest_view().exists(self.codec.storage, family, &held).await?;
            let mut wanted = KeyList::new();
            held.iter().zip(there).filter(|(_, there)| *there).for_each(|(key, _)| wanted.push(key));
            txn.lock_rows(self.codec.storage, &wanted, LockStrength::KeyShare, LockWait::Wait, &self.table.name).await?;
        }
        let exist = txn.newest_view().exists(self.codec.storage, family, &list).await?;
        let exist: HashSet<&[u8]> = list.iter().zip(exist).filter(|(_, e)| *e).map(|(k, _)| *k).collect();
        Ok(row_keys.iter().map(|key| key.as_deref().is_some_and(|k| exist.contains(k))).collect())
    }
}
