//! Maps: what is called on them, and columns of maps, which are stored by their entries.
//!
//! A column of maps has no values in its table's rows: its entries are rows of a table of their own, behind the key of the row. Until a
//! statement's names are resolved such a column is a call that stands for it ([`stored`]); then each use becomes a read of just the
//! entries that it needs ([`super::map_reads`]). What is assigned to the column in terms of itself becomes a change of single entries.

use super::scope::{Clause, Scope, ScopeColumn};
use super::{Binder, assign::internal_call};
use crate::typed::tree::{ColId, Expr, ExprKind, FuncRef, Output, SetExpr};
use crate::typed::walk;
use arrow::array::new_empty_array;
use datafusion_common::ScalarValue;
use std::sync::Arc;
use stoa_pg::functions::map::{self, Change};
use stoa_pg::registry::{CastContext, Func, FuncKind};
use stoa_pg::types::{MAP_KEYS, MAP_VALUES, RecordType, map_change_arrow};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_table::catalog::{ColumnDescriptor, ColumnId, TableDescriptor};

/// Functions that only the binder calls, by their OIDs.
const STORED: u32 = u32::MAX - 2;
const PAIRS: u32 = u32::MAX - 3;
const ARRAYS: u32 = u32::MAX - 4;
const ENTRIES: u32 = u32::MAX - 5;
const GET: u32 = u32::MAX - 6;
const CONTAINS: u32 = u32::MAX - 7;
const SIZE: u32 = u32::MAX - 8;
const KEYS: u32 = u32::MAX - 9;
const VALUES: u32 = u32::MAX - 10;
const PUT: u32 = u32::MAX - 11;
const MERGE: u32 = u32::MAX - 12;
const REMOVE: u32 = u32::MAX - 13;
const REMOVE_ALL: u32 = u32::MAX - 14;
const EACH: u32 = u32::MAX - 15;
const EQUAL: u32 = u32::MAX - 16;
const UNEQUAL: u32 = u32::MAX - 17;
const SET: u32 = u32::MAX - 18;
const UNTIL: u32 = u32::MAX - 19;
const CONTAINS_ANY: u32 = u32::MAX - 21;

/// What an expression does with a column of maps that is stored.
pub(super) enum Use<'e> {
    /// All of it.
    Whole(&'e [Expr]),
    Get(&'e [Expr], &'e Expr),
    Contains(&'e [Expr], &'e Expr),
    ContainsAny(&'e [Expr], &'e [Expr]),
    Size(&'e [Expr]),
}

fn call_of(e: &Expr) -> Option<(u32, &[Expr])> {
    match &e.kind {
        ExprKind::Func { func, args } => Some((func.0.oid, args)),
        _ => None,
    }
}

/// The arguments of a call that stands for a stored column: the OID of the table of entries, the time to read at (`true`: as the statement
/// leaves them; a text: a time that no read has), the row's key.
pub(super) fn stored_args(e: &Expr) -> Option<&[Expr]> {
    call_of(e).filter(|(oid, _)| *oid == STORED).map(|(_, args)| args)
}

pub(super) fn use_of(e: &Expr) -> Option<Use<'_>> {
    if let Some(args) = stored_args(e) {
        return Some(Use::Whole(args));
    }
    let (oid, args) = call_of(e)?;
    let of = stored_args(args.first()?)?;
    match (oid, args.get(1)) {
        (GET, Some(key)) => Some(Use::Get(of, key)),
        (CONTAINS, Some(key)) => Some(Use::Contains(of, key)),
        (CONTAINS_ANY, Some(_)) => Some(Use::ContainsAny(of, args.get(1..)?)),
        (SIZE, None) => Some(Use::Size(of)),
        _ => None,
    }
}

/// Whether an expression reads a part of the map that is its first argument.
pub(super) fn reads_part(e: &Expr) -> bool {
    call_of(e).is_some_and(|(oid, _)| matches!(oid, GET | CONTAINS | CONTAINS_ANY | SIZE))
}

pub(super) fn is_each(set: &SetExpr) -> bool {
    set.func.0.oid == EACH
}

/// The stored column whose entries `each` gives.
pub(super) fn entries_of(set: &SetExpr) -> Option<&[Expr]> {
    if is_each(set) { stored_args(set.args.first()?) } else { None }
}

/// A column of maps, of the row whose key columns `id_of` gives.
pub(super) fn stored(table: &TableDescriptor, column: &ColumnDescriptor, id_of: &dyn Fn(ColumnId) -> ColId) -> Expr {
    let oid = Expr::new(ExprKind::Const(ScalarValue::UInt32(column.entries)), SqlType::new(PgType::Oid));
    let now = Expr::new(ExprKind::Const(ScalarValue::Null), SqlType::new(PgType::Unknown));
    let key = table.key_columns().filter_map(|part| table.column(part.column)).map(|c| Expr::column(id_of(c.id), c.ty.clone()));
    let args: Vec<Expr> = [oid, now].into_iter().chain(key).collect();
    let kernel: stoa_pg::args::Kernel = Arc::new(|_, _| Err(PgError::internal("a map was asked for as a whole")));
    internal_call(STORED, "stored map", kernel, args, column.ty.clone())
}

/// The columns of maps among an item's are read as of a time.
pub(super) fn read_as_of(columns: &mut [ScopeColumn], time: &Expr) {
    columns.iter_mut().for_each(|column| read_expr_as_of(&mut column.expr, time));
}

/// A stored column as of a time, without entries from another one on, in microseconds since 1970.
pub(super) fn read_until(stored: &mut Expr, time: &Expr, until: u64) {
    let until = Expr::new(ExprKind::Const(ScalarValue::UInt64(Some(until))), SqlType::new(PgType::Unknown));
    let kernel: stoa_pg::args::Kernel = Arc::new(|_, _| Err(PgError::internal("a time of entries was asked for as a value")));
    let ty = time.ty.clone();
    read_expr_as_of(stored, &internal_call(UNTIL, "until", kernel, vec![time.clone(), until], ty));
}

/// A time of [`read_until`], and until when there are entries.
pub(super) fn until_of(time: &Expr) -> Option<(&Expr, u64)> {
    match call_of(time)? {
        (UNTIL, [time, Expr { kind: ExprKind::Const(ScalarValue::UInt64(Some(until))), .. }]) => Some((time, *until)),
        _ => None,
    }
}

/// The columns of maps among an item's are read as the statement leaves them.
pub(super) fn read_as_left(columns: &mut [ScopeColumn]) {
    columns.iter_mut().for_each(|column| read_expr_as_of(&mut column.expr, &as_left()));
}

/// The columns of maps of the last item of a scope likewise.
pub(super) fn read_last_as_left(scope: &mut Scope) {
    if let Some(item) = scope.items.last_mut() {
        read_as_left(&mut item.columns);
    }
    let at = scope.items.len().checked_sub(1);
    scope.star.iter_mut().filter(|column| column.item == at).for_each(|column| read_expr_as_of(&mut column.expr, &as_left()));
}

fn as_left() -> Expr {
    Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(true))), SqlType::new(PgType::Bool))
}

/// Columns of maps in an expression are those of a version of a row, which cannot be read.
pub(super) fn of_the_past(e: &mut Expr) {
    let no_time = Expr::new(ExprKind::Const(ScalarValue::Utf8View(None)), SqlType::new(PgType::Text));
    read_expr_as_of(e, &no_time);
}

fn read_expr_as_of(e: &mut Expr, time: &Expr) {
    if let ExprKind::Func { func, args } = &mut e.kind
        && func.0.oid == STORED
        && let Some(now) = args.get_mut(1)
    {
        *now = time.clone();
        return;
    }
    e.children_mut().into_iter().for_each(|child| read_expr_as_of(child, time));
}

/// Whether stored columns of maps stand in an expression, its subqueries included, of which `which` is true.
pub(super) fn any_stored(e: &Expr, which: &mut dyn FnMut(&[Expr]) -> bool) -> bool {
    let mut found = e.any(&mut |x| stored_args(x).is_some_and(&mut *which));
    walk::visit_subqueries(e, &mut |query| {
        walk::visit_all(&query.rel, &mut |rel| {
            for inner in walk::exprs_of(rel) {
                found |= inner.any(&mut |x| stored_args(x).is_some_and(&mut *which));
            }
        });
    });
    found
}

/// Whether an expression reads columns of maps.
#[must_use]
pub fn names_maps(e: &Expr) -> bool {
    any_stored(e, &mut |_| true)
}

/// The type of maps of these keys and values.
///
/// # Errors
/// 0A000 for keys and values that no map has.
pub(super) fn map_type(key: &SqlType, value: &SqlType) -> PgResult<SqlType> {
    let listed = |types: &[PgType]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if !MAP_KEYS.contains(&key.ty) || key.typmod >= 0 {
        return Err(PgError::unsupported(format!("maps with keys of type {key} are not supported"))
            .hint(format!("Keys are of the types {}.", listed(&MAP_KEYS))));
    }
    if !MAP_VALUES.contains(&value.ty) || value.typmod >= 0 {
        return Err(PgError::unsupported(format!("maps with values of type {value} are not supported"))
            .hint(format!("Values are of the types {}, without modifiers.", listed(&MAP_VALUES))));
    }
    Ok(SqlType::new(PgType::Map(Box::new(key.ty.clone()), Box::new(value.ty.clone()))))
}

/// Whether a stored map has an entry with any of some keys.
pub(super) fn any_key(map: Expr, keys: Vec<Expr>) -> Expr {
    let kernel: stoa_pg::args::Kernel = Arc::new(|_, _| Err(PgError::internal("keys were looked for in a map as a whole")));
    let args = [map].into_iter().chain(keys).collect();
    scalar(CONTAINS_ANY, "map_contains_any_key", kernel, args, SqlType::new(PgType::Bool))
}

/// The types of a map's keys and values.
pub(super) fn parts(ty: &PgType) -> Option<(SqlType, SqlType)> {
    match ty {
        PgType::Map(key, value) => Some((SqlType::new((**key).clone()), SqlType::new((**value).clone()))),
        _ => None,
    }
}

/// 0A000: what is computed from one row alone cannot read maps.
pub(super) fn refuse_stored(clause: Clause, e: &Expr) -> PgResult<()> {
    if !any_stored(e, &mut |_| true) {
        return Ok(());
    }
    Err(PgError::unsupported(format!("columns of maps cannot be used in {}", clause.name()))
        .detail("Their entries are not part of the row.")
        .hint("Entries are rows of a table of their own, which may have indexes."))
}

/// Whether the arguments of a call that stands for a stored column are those of this one.
fn is_entries(args: &[Expr], column: &ColumnDescriptor) -> bool {
    matches!(args.first().map(|e| &e.kind), Some(ExprKind::Const(ScalarValue::UInt32(oid))) if *oid == column.entries)
}

/// 0A000 for RETURNING of maps of rows whose key the statement changes: entries follow their rows when it has ended.
pub(super) fn refuse_moved(
    returning: &[(Output, Expr)],
    columns: &[(ColumnId, ColId)],
    table: &TableDescriptor,
    assigned: &[ColumnId],
) -> PgResult<()> {
    let moved = table.key.iter().any(|part| assigned.contains(&part.column));
    for column in table.map_columns().filter(|_| moved) {
        let of_target = |args: &[Expr]| {
            is_entries(args, column)
                && matches!(args.get(2).map(|e| &e.kind), Some(ExprKind::Column(id)) if columns.iter().any(|(_, own)| own == id))
        };
        if returning.iter().any(|(_, e)| any_stored(e, &mut |args| of_target(args))) {
            let message = format!("RETURNING of column \"{}\" of rows whose key the statement changes is not supported", column.name);
            return Err(PgError::unsupported(message).hint("SELECT it behind the statement."));
        }
    }
    Ok(())
}

fn scalar(oid: u32, name: &'static str, kernel: stoa_pg::args::Kernel, args: Vec<Expr>, ty: SqlType) -> Expr {
    internal_call(oid, name, kernel, args, ty)
}

impl Binder<'_> {
    /// A call of a function of maps, by its name and arguments; `None` if there is none.
    pub(super) fn map_call(&mut self, name: &str, args: &[Expr]) -> PgResult<Option<Expr>> {
        let arity = |count: usize| {
            if args.len() == count {
                return Ok(());
            }
            let list: Vec<String> = args.iter().map(|a| a.ty.ty.to_string()).collect();
            Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function {name}({}) does not exist", list.join(", "))))
        };
        match name {
            "map" => return self.map_of_pairs(args.to_vec()).map(Some),
            "map_from_arrays" => {
                arity(2)?;
                return self.map_of_arrays(args.to_vec()).map(Some);
            }
            _ => {}
        }
        let Some((map, (key, value))) = args.first().and_then(|map| Some((map.clone(), parts(&map.ty.ty)?))) else { return Ok(None) };
        Ok(Some(match name {
            "map_get" | "map_contains_key" => {
                arity(2)?;
                let sought = self.map_key(args.get(1).cloned(), &key)?;
                if name == "map_get" {
                    scalar(GET, "map_get", map::get_kernel(), vec![map, sought], value)
                } else {
                    scalar(CONTAINS, "map_contains_key", map::contains_kernel(), vec![map, sought], SqlType::new(PgType::Bool))
                }
            }
            "cardinality" => {
                arity(1)?;
                scalar(SIZE, "cardinality", map::size_kernel(), vec![map], SqlType::new(PgType::Int8))
            }
            "map_keys" => {
                arity(1)?;
                scalar(KEYS, "map_keys", map::parts_kernel(false), vec![map], key.array_of())
            }
            "map_values" => {
                arity(1)?;
                scalar(VALUES, "map_values", map::parts_kernel(true), vec![map], value.array_of())
            }
            "map_put" => {
                arity(3)?;
                let key = self.map_key(args.get(1).cloned(), &key)?;
                let given = args.get(2).cloned().ok_or_else(|| PgError::internal("a call without its arguments"))?;
                let value = self.coerce(given, &value, CastContext::Assignment)?;
                self.map_changed(map, Change::Put, vec![key, value])
            }
            "map_merge" => {
                arity(2)?;
                let other = args.get(1).cloned().ok_or_else(|| PgError::internal("a call without its arguments"))?;
                let other = self.coerce(other, &map.ty.clone(), CastContext::Assignment)?;
                self.map_changed(map, Change::Merge, vec![other])
            }
            "map_remove" => {
                arity(2)?;
                let removed = args.get(1).cloned().ok_or_else(|| PgError::internal("a call without its arguments"))?;
                if removed.ty.ty.is_array() {
                    let removed = self.coerce(removed, &key.array_of(), CastContext::Assignment)?;
                    let removed = self.widen(removed)?;
                    self.map_changed(map, Change::RemoveAll, vec![removed])
                } else {
                    let removed = self.map_key(Some(removed), &key)?;
                    self.map_changed(map, Change::Remove, vec![removed])
                }
            }
            "each" => {
                arity(1)?;
                self.each(map, key, value)?
            }
            _ => return Ok(None),
        }))
    }

    /// `left operator right` where a side is a map; `None` if maps have no such operator.
    pub(super) fn map_operator(&mut self, name: &str, left: &Expr, right: &Expr) -> PgResult<Option<Expr>> {
        let is_literal = left.ty.ty == PgType::Unknown && matches!(name, "=" | "<>" | "||");
        if is_literal && parts(&right.ty.ty).is_some() {
            let left = self.coerce(left.clone(), &right.ty.clone(), CastContext::Implicit)?;
            return self.map_operator(name, &left, right);
        }
        if matches!(name, "@>" | "<@" | "?|" | "?&") {
            return self.map_compared(name, left, right);
        }
        if parts(&left.ty.ty).is_none() {
            return Ok(None);
        }
        if matches!(name, "=" | "<>") {
            let right = self.coerce(right.clone(), &left.ty.clone(), CastContext::Implicit)?;
            let (oid, kernel) = if name == "=" { (EQUAL, map::equal_kernel(true)) } else { (UNEQUAL, map::equal_kernel(false)) };
            let called = if name == "=" { "map_eq" } else { "map_ne" };
            return Ok(Some(scalar(oid, called, kernel, vec![left.clone(), right], SqlType::new(PgType::Bool))));
        }
        let called = match name {
            "->" => "map_get",
            "?" => "map_contains_key",
            "||" => "map_merge",
            "-" => "map_remove",
            _ => return Ok(None),
        };
        self.map_call(called, &[left.clone(), right.clone()])
    }

    fn map_key(&mut self, key: Option<Expr>, ty: &SqlType) -> PgResult<Expr> {
        let key = key.ok_or_else(|| PgError::internal("a call without its arguments"))?;
        let given = key.ty.ty.clone();
        let key = self.coerce(key, ty, CastContext::Assignment).map_err(|error| match error.code() {
            SqlState::CANNOT_COERCE => {
                PgError::new(SqlState::DATATYPE_MISMATCH, format!("keys of the map are of type {ty}, not of type {given}"))
            }
            _ => error,
        })?;
        self.widen(key)
    }

    /// The map with a change.
    pub(super) fn map_changed(&mut self, map: Expr, change: Change, rest: Vec<Expr>) -> Expr {
        let (oid, name) = match change {
            Change::Put => (PUT, "map_put"),
            Change::Set => (SET, "map_set"),
            Change::Merge => (MERGE, "map_merge"),
            Change::Remove => (REMOVE, "map_remove"),
            Change::RemoveAll => (REMOVE_ALL, "map_remove"),
        };
        let ty = map.ty.clone();
        let args = [map].into_iter().chain(rest).collect();
        scalar(oid, name, map::change_kernel(change), args, ty)
    }

    fn map_of_pairs(&mut self, args: Vec<Expr>) -> PgResult<Expr> {
        if args.is_empty() || args.len() % 2 == 1 {
            return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, "map() takes keys and values by turns")
                .hint("Write map['a' => 1, 'b' => 2], or ''::map(text, integer) for the empty map."));
        }
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (at, arg) in args.into_iter().enumerate() {
            if at % 2 == 0 { keys.push(arg) } else { values.push(arg) }
        }
        let (keys, key) = self.unify(keys, "keys of a map")?;
        let (values, value) = self.unify(values, "values of a map")?;
        let plain = |ty: SqlType| SqlType::new(ty.ty);
        self.pairs(keys, values, &map_type(&plain(key), &plain(value))?, CastContext::Assignment)
    }

    fn pairs(&mut self, keys: Vec<Expr>, values: Vec<Expr>, ty: &SqlType, context: CastContext) -> PgResult<Expr> {
        let (key, value) = parts(&ty.ty).ok_or_else(|| PgError::internal("a map that is none"))?;
        let mut args = Vec::with_capacity(keys.len() * 2);
        for (k, v) in keys.into_iter().zip(values) {
            for (given, ty) in [(k, &key), (v, &value)] {
                let cast = self.coerce(given, ty, context)?;
                args.push(self.widen(cast)?);
            }
        }
        Ok(scalar(PAIRS, "map", map::of_pairs_kernel(), args, ty.clone()))
    }

    /// `map[…]` whose keys and values are to be of other types, which they then are from the beginning.
    pub(super) fn pairs_as(&mut self, e: &Expr, target: &SqlType, context: CastContext) -> PgResult<Option<Expr>> {
        let Some((PAIRS, args)) = call_of(e) else { return Ok(None) };
        let of = |rest: usize| args.iter().skip(rest).step_by(2).cloned().collect();
        self.pairs(of(0), of(1), target, context.max(CastContext::Assignment)).map(Some)
    }

    fn map_of_arrays(&mut self, args: Vec<Expr>) -> PgResult<Expr> {
        let mut arrays = Vec::with_capacity(2);
        let mut elements = Vec::with_capacity(2);
        for arg in args {
            let arg = if arg.ty.ty == PgType::Unknown {
                self.coerce(arg, &SqlType::new(PgType::Text.array_of()), CastContext::Implicit)?
            } else {
                arg
            };
            let Some(element) = arg.ty.ty.element() else {
                return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "map_from_arrays() takes an array of keys and one of values"));
            };
            arrays.push(self.widen(arg)?);
            elements.push(SqlType::new(element));
        }
        let [key, value] = elements.as_slice() else { return Err(PgError::internal("two arrays that are not two")) };
        let ty = map_type(key, value)?;
        Ok(scalar(ARRAYS, "map_from_arrays", map::of_arrays_kernel(), arrays, ty))
    }

    /// The map of an array of rows of a key and a value.
    pub(super) fn map_of_entries(&mut self, rows: Expr, ty: SqlType) -> Expr {
        scalar(ENTRIES, "map_from_entries", map::of_entries_kernel(), vec![rows], ty)
    }

    fn each(&mut self, map: Expr, key: SqlType, value: SqlType) -> PgResult<Expr> {
        if let Some(what) = self.no_sets {
            return Err(PgError::unsupported(format!("set-returning functions are not allowed in {what}"))
                .hint("You might be able to move the set-returning function into a LATERAL FROM item."));
        }
        let clause = self.clause();
        if !matches!(clause, Clause::SelectList | Clause::OrderBy | Clause::FunctionInFrom | Clause::GroupBy | Clause::Values) {
            return Err(PgError::unsupported(format!("set-returning functions are not allowed in {}", clause.name())));
        }
        let columns = vec![("key".to_owned(), key.clone()), ("value".to_owned(), value.clone())];
        let ty = SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields: columns.clone() }))));
        let kind = FuncKind::Set { columns: vec![("key", key.ty), ("value", value.ty)], open: map::each_kernel() };
        let mut func = Func::of_kind("each", std::slice::from_ref(&map.ty.ty), PgType::Record(None), kind, "");
        func.oid = EACH;
        func.returns_set = true;
        let set = SetExpr { func: FuncRef(Arc::new(func)), args: vec![map], columns, ty: ty.clone() };
        Ok(Expr::new(ExprKind::Set(Box::new(set)), ty))
    }

    /// A column that a scan shows, whose columns these are.
    pub(super) fn column_of_scan(&mut self, table: &TableDescriptor, column: &ColumnDescriptor, columns: &[(ColumnId, ColId)]) -> Expr {
        let id_of = |id| super::dml::lookup(columns, id);
        if !column.is_map() {
            return Expr::column(id_of(column.id), column.ty.clone());
        }
        self.has_maps = true;
        stored(table, column, &id_of)
    }

    /// What columns of maps are assigned, as changes of single entries where that is what they are.
    pub(super) fn as_map_changes(&self, table: &TableDescriptor, assigned: Vec<(ColumnId, Expr)>) -> PgResult<Vec<(ColumnId, Expr)>> {
        let changed = |(id, value): (ColumnId, Expr)| {
            let Some(column) = table.column(id).filter(|column| column.is_map()) else { return Ok((id, value)) };
            // The column as the statement finds it.
            let own = self.scope().items.first().and_then(|item| item.columns.iter().find(|c| c.name == column.name));
            let change = own.map(|own| change_of(&value, &own.expr)).transpose()?.flatten();
            Ok((id, change.unwrap_or(value)))
        };
        assigned.into_iter().map(changed).collect()
    }

    /// What a column of maps gets: it is never NULL.
    pub(super) fn map_or_empty(&mut self, column: &ColumnDescriptor, value: Expr) -> PgResult<Expr> {
        // Nor is a change of one.
        if value.ty.arrow != column.ty.arrow {
            return Ok(value);
        }
        let empty = self.coerce(super::literal::unknown(""), &column.ty, CastContext::Explicit)?;
        if value.is_null_const() {
            return Ok(empty);
        }
        let ty = value.ty.clone();
        Ok(Expr::new(ExprKind::Coalesce(vec![value, empty]), ty))
    }
}

/// The expression over no entries instead of those of `own`, if it does nothing but change these.
fn change_of(e: &Expr, own: &Expr) -> PgResult<Option<Expr>> {
    let Some(arrow) = map_change_arrow(&e.ty.ty) else { return Ok(None) };
    let ty = SqlType { arrow, ..e.ty.clone() };
    if e == own {
        return no_change(&e.ty).map(Some);
    }
    let ExprKind::Func { func, args } = &e.kind else { return Ok(None) };
    if !matches!(func.0.oid, PUT | SET | MERGE | REMOVE | REMOVE_ALL) {
        return Ok(None);
    }
    let Some((base, rest)) = args.split_first() else { return Ok(None) };
    let Some(base) = change_of(base, own)? else { return Ok(None) };
    let args = [base].into_iter().chain(rest.iter().cloned()).collect();
    Ok(Some(Expr::new(ExprKind::Func { func: func.clone(), args }, ty)))
}

/// A change of a map that changes nothing.
pub(super) fn no_change(ty: &SqlType) -> PgResult<Expr> {
    let arrow = map_change_arrow(&ty.ty).ok_or_else(|| PgError::internal("a change of what is no map"))?;
    let ty = SqlType { arrow, ..ty.clone() };
    let nothing = stoa_pg::values::map::column(&ty.arrow, empty(&ty, 0)?, empty(&ty, 1)?, &[0], None)?;
    let value = ScalarValue::try_from_array(&nothing, 0).map_err(crate::typed::from_datafusion)?;
    Ok(Expr::new(ExprKind::Const(value), ty))
}

/// No keys of a map, or no values.
fn empty(ty: &SqlType, part: usize) -> PgResult<arrow::array::ArrayRef> {
    let arrow::datatypes::DataType::Map(field, _) = &ty.arrow else { return Err(PgError::internal("a map that is none")) };
    let arrow::datatypes::DataType::Struct(fields) = field.data_type() else { return Err(PgError::internal("a map without entries")) };
    fields.get(part).map(|f| new_empty_array(f.data_type())).ok_or_else(|| PgError::internal("a map without entries"))
}
