//! Which rows of tables a cursor's rows are: what `WHERE CURRENT OF` asks.
//!
//! A cursor's query gives, behind its own columns, the row keys of the tables of which each of its rows has one row: of those that FOR
//! UPDATE and its kin lock, or of the only table of a query without joins, groups and the like. A statement that names the cursor is
//! bound anew each time it runs, with the key of the row that the cursor stands on as constants.

use super::cursor::CursorRows;
use datafusion::common::ScalarValue;
use std::sync::{Arc, Weak};
use stoa_exec::environment::SessionEnvironment;
use stoa_exec::environment::session;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::select::{hand_on, key_columns};
use stoa_sql::typed::tree::{Bound, BoundBody, Output, Rel, TableScan};
use stoa_sql::typed::walk;
use stoa_table::catalog::{Oid, TableDescriptor};
use tokio::sync::Mutex;

/// The rows of tables behind a cursor's rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct BaseRows {
    /// They are locked.
    locked: bool,
    /// For each table where its key stands in the cursor's batches.
    tables: Vec<(Oid, Vec<usize>)>,
}

impl BaseRows {
    /// The tables whose rows the cursor locks, with the columns of their keys in its batches.
    pub(super) fn locked_tables(&self, keyed: &Bound) -> Vec<(Arc<TableDescriptor>, Vec<usize>)> {
        let (BoundBody::Query(query), true) = (&keyed.body, self.locked) else { return Vec::new() };
        let mut scans = Vec::new();
        walk::visit_rel(&query.rel, &mut |rel| {
            if let Rel::Scan(scan) = rel {
                scans.push(&scan.table);
            }
        });
        let table = |oid: Oid| scans.iter().find(|table| table.oid == oid).map(|table| Arc::clone(table));
        self.tables.iter().filter_map(|(oid, columns)| Some((table(*oid)?, columns.clone()))).collect()
    }
}

/// A cursor's rows, for statements that name the cursor.
#[derive(Clone)]
pub struct CursorPosition {
    pub(super) base: BaseRows,
    /// The session has the rows: what still reads them knows the session.
    pub(super) rows: Weak<Mutex<CursorRows>>,
}

impl std::fmt::Debug for CursorPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CursorPosition").field("base", &self.base).finish_non_exhaustive()
    }
}

/// The same query with the keys of the rows of tables behind its columns; `None` if there are none.
pub(super) fn with_keys(bound: &Bound) -> Option<(Bound, BaseRows)> {
    let BoundBody::Query(query) = &bound.body else { return None };
    let mut locks = Vec::new();
    walk::visit_rel(&query.rel, &mut |rel| {
        if let Rel::Lock { scans, .. } = rel {
            locks.extend(scans.iter().copied());
        }
    });
    let locked = !locks.is_empty();
    let mut scans: Vec<&TableScan> = Vec::new();
    reached(&query.rel, locked, &mut scans);
    scans.retain(|scan| !locked || locks.contains(&scan.scan_id));
    if scans.is_empty() {
        return None;
    }
    let mut outputs = query.outputs.clone();
    let mut base = BaseRows { locked, tables: Vec::new() };
    let mut through = Vec::new();
    for scan in scans {
        let key = key_columns(scan);
        base.tables.push((scan.table.oid, (outputs.len()..outputs.len() + key.len()).collect()));
        outputs.extend(key.iter().map(|(col, e)| Output { name: String::new(), col: *col, ty: e.ty.clone(), origin: None }));
        through.extend(key);
    }
    let mut bound = bound.clone();
    let BoundBody::Query(query) = &mut bound.body else { return None };
    for (id, expr) in &through {
        hand_on(&mut query.rel, *id, expr);
    }
    query.outputs = outputs;
    Some((bound, base))
}

/// The scans of which each row of a relation has a row.
fn reached<'r>(rel: &'r Rel, joined: bool, out: &mut Vec<&'r TableScan>) {
    match rel {
        Rel::Scan(scan) => out.push(scan),
        Rel::Filter { input, .. }
        | Rel::Barrier { input }
        | Rel::Project { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Sample { input, .. }
        | Rel::Lock { input, .. } => reached(input, joined, out),
        Rel::ProjectSet { input, .. } if joined => reached(input, joined, out),
        Rel::Join { left, right, .. } if joined => {
            reached(left, joined, out);
            reached(right, joined, out);
        }
        _ => {}
    }
}

/// A part of the key of a table's row that a cursor stands on. The arguments are those of [`stoa_sql::bind::dml::KEY_OF_CURRENT_ROW`].
///
/// # Errors
/// 34000 without the cursor; 24000 if it is held, stands on no row, or its rows are not those of the table.
pub(super) fn key_part(system: &SessionEnvironment, args: &[ScalarValue]) -> PgResult<ScalarValue> {
    let [ScalarValue::Utf8(Some(cursor)), ScalarValue::UInt32(Some(table)), ScalarValue::Utf8(Some(name)), ScalarValue::UInt64(Some(part))] =
        args
    else {
        return Err(PgError::internal("a cursor's row is asked for wrongly"));
    };
    let cursors = system.session.cursors.lock();
    let Some(info) = cursors.iter().find(|c| c.name == *cursor) else {
        return Err(PgError::new(SqlState::INVALID_CURSOR_NAME, format!("cursor \"{cursor}\" does not exist")));
    };
    if info.held {
        return Err(refused(cursor, "is held from a previous transaction"));
    }
    info.position.key_part(cursor, *table, name, *part)
}

fn refused(cursor: &str, what: &str) -> PgError {
    PgError::new(SqlState::INVALID_CURSOR_STATE, format!("cursor \"{cursor}\" {what}"))
}

impl session::CursorPosition for CursorPosition {
    fn key_part(&self, cursor: &str, table: Oid, name: &str, part: u64) -> PgResult<ScalarValue> {
        let refused = |what: &str| Err(refused(cursor, what));
        let mut of_table = self.base.tables.iter().filter(|(oid, _)| *oid == table);
        let columns = match (of_table.next(), of_table.next(), self.base.locked) {
            (Some((_, columns)), None, _) => columns,
            (None, _, true) => return refused(&format!("does not have a FOR UPDATE/SHARE reference to table \"{name}\"")),
            (Some(_), Some(_), true) => return refused(&format!("has multiple FOR UPDATE/SHARE references to table \"{name}\"")),
            (_, _, false) => return refused(&format!("is not a simply updatable scan of table \"{name}\"")),
        };
        let rows = self.rows.upgrade();
        let Some(Ok(rows)) = rows.as_ref().map(|rows| rows.try_lock()) else { return refused("is being read") };
        let Some(row) = rows.current() else { return refused("is not positioned on a row") };
        let column = usize::try_from(part).ok().and_then(|part| columns.get(part)).and_then(|at| row.columns().get(*at));
        let Some(column) = column else { return Err(PgError::internal("a cursor's row without its key")) };
        ScalarValue::try_from_array(column, 0).map_err(|e| PgError::internal(e.to_string()))
    }
}
