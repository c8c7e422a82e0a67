//! Promoted columns in the past: before a column was declared, its values were entries of a map of undeclared columns.
//!
//! As of a time before its promotion such a column has the value of its entry, where there is one, and else what a column has that was added
//! since. As of later times it is a column like others, and entries of its name are none of its values.
//!
//! Histories do not tell what entries were: a version from before the promotion is an error for who asks for the column.

use super::Binder;
use super::assign::internal_call;
use super::dml::lookup;
use super::map::read_until;
use super::scope::ScopeColumn;
use super::undeclared::Undeclared;
use crate::typed::tree::{ColId, Expr, ExprKind, HistoryScan, Span, VersionColumn};
use arrow::array::{Array, AsArray};
use arrow::datatypes::TimestampMicrosecondType;
use std::sync::Arc;
use stoa_pg::values::datetime::epoch::from_unix_micros;
use stoa_pg::{PgError, PgResult, SqlState, SqlType};
use stoa_table::catalog::{ColumnDescriptor, ColumnId, Promotion, TableDescriptor};

const NOT_BEFORE: u32 = u32::MAX - 20;

/// What a relation shows of its table's past.
pub(super) enum Past<'e> {
    /// Rows as of a time.
    At(&'e Expr),
    /// Rows as of the second time, or the first, of those that are deleted between them.
    Between { from: &'e Expr, to: &'e Expr, operation: ColId },
    /// Versions, which begin and end; of changes, with the operation.
    Versions { start: ColId, end: ColId, operation: Option<ColId> },
}

impl<'e> Past<'e> {
    /// That of a history.
    pub(super) fn of_versions(history: &'e HistoryScan) -> PgResult<Self> {
        let column = |what| history.version_columns.iter().find(|(column, _)| *column == what).map(|(_, id)| *id);
        let operation = column(VersionColumn::Operation);
        let out = match &history.span {
            Span::Difference { from, to } => operation.map(|operation| Past::Between { from, to, operation }),
            _ => column(VersionColumn::RowStart).zip(column(VersionColumn::RowEnd)).map(|(start, end)| Past::Versions {
                start,
                end,
                operation,
            }),
        };
        out.ok_or_else(|| PgError::internal("a history without its columns"))
    }
}

impl Binder<'_> {
    /// Shows promoted columns of a table, whose columns have these ids, as they were.
    pub(super) fn show_past(
        &mut self,
        table: &TableDescriptor,
        shown: &mut [ScopeColumn],
        ids: &[(ColumnId, ColId)],
        past: &Past<'_>,
    ) -> PgResult<()> {
        for column in table.visible_columns() {
            let Some(was) = self.as_it_was(table, column, ids, past)? else { continue };
            let now = ExprKind::Column(lookup(ids, column.id));
            shown.iter_mut().filter(|c| c.expr.kind == now).for_each(|c| c.expr = was.clone());
        }
        Ok(())
    }

    /// A column as it was, if that is not what lies in its place.
    fn as_it_was(
        &mut self,
        table: &TableDescriptor,
        column: &ColumnDescriptor,
        ids: &[(ColumnId, ColId)],
        past: &Past<'_>,
    ) -> PgResult<Option<Expr>> {
        // Who makes it a part of the key writes all rows anew, and ends their past.
        let Some(promotion) = column.promoted.as_ref().filter(|_| !table.is_key(column.id)) else { return Ok(None) };
        let own = Expr::column(lookup(ids, column.id), column.ty.clone());
        let is_there = table.map_columns().any(|map| map.id == promotion.map);
        Ok(Some(match past {
            Past::At(time) if is_there => self.value_at(table, column, ids, time)?,
            Past::At(time) => not_before(own, vec![(*time).clone()], promotion, entries_are_gone(table, column)),
            Past::Between { from, to, operation } if is_there => {
                let (was, is) = (self.value_at(table, column, ids, from)?, self.value_at(table, column, ids, to)?);
                let ty = was.ty.clone();
                let operation = Expr::column(*operation, VersionColumn::Operation.ty());
                let is_deleted = self.operator("=", Some(operation), super::literal::unknown("delete"))?;
                Expr::new(ExprKind::Case { whens: vec![(is_deleted, was)], otherwise: Some(Box::new(is)) }, ty)
            }
            Past::Between { from, to, .. } => {
                let own = not_before(own, vec![(*from).clone()], promotion, entries_are_gone(table, column));
                not_before(own, vec![(*to).clone()], promotion, entries_are_gone(table, column))
            }
            Past::Versions { start, end, operation } => {
                let mut version = vec![Expr::column(*start, VersionColumn::RowStart.ty()), Expr::column(*end, VersionColumn::RowEnd.ty())];
                version.extend(operation.map(|id| Expr::column(id, VersionColumn::Operation.ty())));
                not_before(own, version, promotion, self.is_an_entry(table, column, promotion))
            }
        }))
    }

    /// The entry that a promoted column was at a time, if there is one; else what lies in its place.
    fn value_at(&mut self, table: &TableDescriptor, column: &ColumnDescriptor, ids: &[(ColumnId, ColId)], time: &Expr) -> PgResult<Expr> {
        let own = Expr::column(lookup(ids, column.id), column.ty.clone());
        let map = column.promoted.as_ref().and_then(|promotion| Some((promotion, table.column(promotion.map)?)));
        let Some((promotion, map)) = map else { return Ok(own) };
        let mut entries = self.column_of_scan(table, map, ids);
        // Who promotes it sees nothing of the past but what was before.
        read_until(&mut entries, time, promotion.at.unwrap_or(u64::MAX));
        let name = super::literal::unknown(&promotion.name);
        let has = self.map_call("map_contains_key", &[entries.clone(), name])?;
        let has = has.ok_or_else(|| PgError::internal("undeclared columns without a map"))?;
        let was = self.read_undeclared(entries, &Undeclared { name: promotion.name.clone(), ty: column.ty.clone() })?;
        Ok(Expr::new(ExprKind::Case { whens: vec![(has, was)], otherwise: Some(Box::new(own)) }, column.ty.clone()))
    }

    /// 0A000: a version is asked for the value of a column that was an entry then.
    fn is_an_entry(&self, table: &TableDescriptor, column: &ColumnDescriptor, promotion: &Promotion) -> PgError {
        let message = format!("column \"{}\" of table \"{}\" is not known of versions before it was declared", column.name, table.name);
        let error = PgError::unsupported(message).detail(format!(
            "It was the undeclared column \"{}\", an entry of a map, which is no part of the past of its table.",
            promotion.name
        ));
        let entries = table.column(promotion.map).and_then(|map| self.ctx.catalog.table(map.entries?));
        match entries {
            Some(entries) => {
                let name = crate::catalog::deparse::quote_name(&entries.name);
                error.hint(format!("AS OF SYSTEM TIME reads it; stoa_history('{name}') tells what the entry was."))
            }
            None => error,
        }
    }
}

/// 72000: the map that had the values of a column is gone.
fn entries_are_gone(table: &TableDescriptor, column: &ColumnDescriptor) -> PgError {
    PgError::new(SqlState(*b"72000"), "snapshot too old").detail(format!(
        "Column \"{}\" of table \"{}\" was an undeclared column then, and the map that had its values is gone.",
        column.name, table.name
    ))
}

/// A column, and an error for what is before its promotion: a time, or versions by their beginning, their end and the operation.
fn not_before(own: Expr, what: Vec<Expr>, promotion: &Promotion, error: PgError) -> Expr {
    let at = promotion.at.and_then(|at| i64::try_from(at).ok()).and_then(from_unix_micros).unwrap_or(i64::MAX);
    let ty: SqlType = own.ty.clone();
    let kernel: stoa_pg::args::Kernel = Arc::new(move |call, args| {
        let [own, given @ ..] = args else { return Err(PgError::internal("a call without its arguments")) };
        let micros = |arg: &stoa_pg::args::Arg, row: usize| {
            let array = arg.array.as_primitive_opt::<TimestampMicrosecondType>().filter(|array| array.is_valid(arg.at(row)))?;
            Some(array.value(arg.at(row)))
        };
        for row in 0..call.rows {
            let is_before = match given {
                [start, end, rest @ ..] => {
                    let deleted = rest.first().is_some_and(|operation| is_deletion(operation, row));
                    micros(end, row).is_some_and(|end| end <= at) || (deleted && micros(start, row).is_some_and(|start| start < at))
                }
                [time] => micros(time, row).is_some_and(|time| time < at),
                [] => false,
            };
            if is_before {
                return Err(error.clone());
            }
        }
        if !own.constant {
            return Ok(Arc::clone(&own.array));
        }
        let repeated = arrow::array::UInt32Array::from(vec![0; call.rows]);
        Ok(arrow::compute::take(&own.array, &repeated, None)?)
    });
    internal_call(NOT_BEFORE, "promoted column", kernel, [own].into_iter().chain(what).collect(), ty)
}

fn is_deletion(operation: &stoa_pg::args::Arg, row: usize) -> bool {
    let at = operation.at(row);
    operation.array.as_string_view_opt().is_some_and(|array| array.is_valid(at) && array.value(at) == "delete")
}
