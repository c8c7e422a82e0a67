//! The origin of a result column, as RowDescription has it: a relation and one of its columns.
//!
//! As in PostgreSQL a column keeps its origin through subqueries, WITH and joins that only hand it on; what is computed has none. A
//! view's columns are the view's. See [`Output::origin`](crate::typed::tree::Output::origin) for the numbers.

use super::expr::unnested;
use super::{Binder, fold};
use crate::typed::tree::{BoundBody, Expr, ExprKind};
use stoa_syntax::ast::Expr as E;
use stoa_table::catalog::{CatalogSnapshot, ColumnId};

/// A relation's OID and the number of a column of it.
pub type Origin = (u32, u32);

/// The number of a relation's whole row.
const WHOLE_ROW: u32 = 0;

impl Binder<'_> {
    /// The origin of an item of a list, as it is written and as it was bound.
    pub(super) fn origin_of_item(&self, written: &E, bound: &Expr) -> Option<Origin> {
        match unnested(written) {
            E::Collate { .. } => None,
            E::Identifier(name) => self.origin_of(bound).or_else(|| self.origin_without_column(None, &fold(name))),
            E::CompoundIdentifier(parts) => self.origin_of(bound).or_else(|| match parts.as_slice() {
                [table, name] => self.origin_without_column(Some((None, &fold(table))), &fold(name)),
                [.., schema, table, name] => self.origin_without_column(Some((Some(&fold(schema)), &fold(table))), &fold(name)),
                _ => None,
            }),
            _ => self.origin_of(bound),
        }
    }

    /// Which column a bound expression is; one of an outer query too, as LATERAL may name it.
    pub fn origin_of(&self, expr: &Expr) -> Option<Origin> {
        let ExprKind::Column(id) = expr.kind else { return None };
        let items = self.scopes.iter().rev().flat_map(|scope| &scope.items);
        let mut columns = items.flat_map(|item| &item.columns);
        columns.find(|c| matches!(c.expr.kind, ExprKind::Column(x) if x == id)).and_then(|c| c.origin)
    }

    /// The origin of a name that was found to be that of no column an item of FROM lists: a system column's, or a whole row's.
    fn origin_without_column(&self, table: Option<(Option<&str>, &str)>, name: &str) -> Option<Origin> {
        let system = system_attribute(name);
        for scope in self.scopes.iter().rev() {
            let mut items = scope.items.iter().filter(|item| !item.lateral_only);
            match table {
                Some((schema, alias)) => {
                    let named = |schema: &str| items.clone().any(|item| item.schema.as_deref() == Some(schema));
                    let schema = schema.filter(|schema| named(schema));
                    let Some(item) = items.find(|i| i.alias == alias && schema.is_none_or(|s| i.schema.as_deref() == Some(s))) else {
                        continue;
                    };
                    let listed = item.columns.iter().any(|c| c.name == name);
                    return if listed { None } else { item.table_oid.zip(system) };
                }
                None if scope.star.iter().any(|s| s.name == name) => return None,
                None => {
                    let mut relations = items.filter_map(|item| item.table_oid);
                    if let Some(found) = system.and_then(|number| Some((relations.find(|r| self.has_system_columns(*r))?, number))) {
                        return Some(found);
                    }
                }
            }
        }
        let mut items = self.scopes.iter().rev().flat_map(|scope| &scope.items);
        let item = items.find(|item| table.is_none() && item.alias == name && !item.lateral_only && !item.scalar)?;
        item.table_oid.map(|relation| (relation, WHOLE_ROW))
    }

    /// Notes that a column is read, where it comes from.
    pub fn note_origin(&mut self, origin: Option<Origin>) {
        // Whole rows and system columns were noted where they were named.
        if let Some((table, column)) = origin.filter(|(_, number)| is_stored(*number)) {
            self.note_use(table, Some(ColumnId(column)));
            self.note_read(table, ColumnId(column));
        }
    }
}

/// The number of a column that relations have without having been given it.
fn system_attribute(name: &str) -> Option<u32> {
    let number: i32 = match name {
        "ctid" => -1,
        "xmin" => -2,
        "cmin" => -3,
        "xmax" => -4,
        "cmax" => -5,
        "tableoid" => -6,
        _ => return None,
    };
    Some(number.cast_unsigned())
}

/// Whether a number is that of a column which a relation was given.
fn is_stored(number: u32) -> bool {
    number.cast_signed() > 0
}

/// Columns of the tables that hold the rows of materialized views become those of the views.
pub(super) fn tell_views(catalog: &CatalogSnapshot, body: &mut BoundBody) {
    let tell = |origin: &mut Option<Origin>| {
        if let Some((relation, _)) = origin
            && let Some(view) = catalog.view_of_rows(*relation)
        {
            *relation = view.oid;
        }
    };
    match body {
        BoundBody::Query(query) => query.outputs.iter_mut().for_each(|output| tell(&mut output.origin)),
        BoundBody::Mutation(mutation) => {
            mutation.returning.iter_mut().flatten().for_each(|(output, _)| tell(&mut output.origin));
        }
    }
}
