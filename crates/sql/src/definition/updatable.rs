//! What of views can be written: the events that a view takes, and its columns that are columns of the table behind it.
//!
//! Whether a view can be written through at all is [`crate::bind::updatable`]'s to say.

use crate::bind::{BindContext, fold, updatable};
use stoa_pg::EvalContext;
use stoa_syntax::ast::{self, Expr, SelectItem, SetExpr, TableFactor};
use stoa_table::catalog::{CatalogSnapshot, Oid, Relation, ViewDescriptor};

/// Bits of PostgreSQL's command types.
const UPDATE: i32 = 4;
const INSERT: i32 = 8;
const DELETE: i32 = 16;
/// As deep as the binder follows views.
const MAX_DEPTH: usize = 64;

/// What names are looked up in.
pub struct Names<'a> {
    pub catalog: &'a CatalogSnapshot,
    pub path: &'a [Oid],
    pub temporary: Option<Oid>,
    pub eval: &'a EvalContext,
}

impl Names<'_> {
    /// The events that a relation supports, as `pg_relation_is_updatable` tells them.
    pub fn events(&self, oid: Oid) -> i32 {
        match self.catalog.relation(oid).map(|r| &**r) {
            Some(Relation::Table(_)) => INSERT | UPDATE | DELETE,
            Some(Relation::View(view)) if self.is_updatable(view) => {
                // A view of expressions alone has nothing that could be given.
                if self.columns(view).contains(&true) { INSERT | UPDATE | DELETE } else { DELETE }
            }
            _ => 0,
        }
    }

    /// Whether a column of a relation can be written, by its number from 1.
    pub fn column(&self, oid: Oid, number: i64) -> bool {
        match self.catalog.relation(oid).map(|r| &**r) {
            Some(Relation::Table(_)) => number > 0,
            Some(Relation::View(view)) => {
                let at = number.checked_sub(1).and_then(|n| usize::try_from(n).ok());
                at.is_some_and(|at| self.is_updatable(view) && self.columns(view).get(at).copied().unwrap_or(false))
            }
            _ => false,
        }
    }

    /// Whether rows can be changed through a view.
    pub fn is_updatable(&self, view: &ViewDescriptor) -> bool {
        let context = BindContext { catalog: self.catalog, search_path: self.path, eval: self.eval, param_types: &[], text: &view.sql };
        updatable::is_updatable(&context, view)
    }

    /// For each column of a view that can be written through: whether it is a column of the table.
    pub fn columns(&self, view: &ViewDescriptor) -> Vec<bool> {
        let columns = self.columns_at(view, 0).unwrap_or_default();
        (0..view.columns.len()).map(|at| columns.get(at).copied().unwrap_or(false)).collect()
    }

    fn columns_at(&self, view: &ViewDescriptor, depth: usize) -> Option<Vec<bool>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let parsed = stoa_syntax::parse(&view.sql).ok()?;
        let Some(ast::Statement::Query(query)) = parsed.first().map(|p| &p.statement) else { return None };
        let SetExpr::Select(select) = &*query.body else { return None };
        let Some(TableFactor::Table { name, alias, version: None, .. }) = select.from.first().map(|f| &f.relation) else { return None };
        let oid = crate::catalog::names::class_named(self.catalog, self.path, self.temporary, &name.to_string()).ok()??;
        let mut below: Vec<(String, bool)> = match &**self.catalog.relation(oid)? {
            Relation::Table(table) => table.visible_columns().map(|c| (c.name.clone(), true)).collect(),
            Relation::View(inner) => {
                let can = self.columns_at(inner, depth + 1)?;
                inner.columns.iter().map(|c| c.name.clone()).zip(can).collect()
            }
            Relation::Sequence(_) => return None,
        };
        for (column, renamed) in below.iter_mut().zip(alias.iter().flat_map(|a| &a.columns)) {
            column.0 = fold(&renamed.name);
        }
        let mut out = Vec::with_capacity(view.columns.len());
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => {
                    let name = column_name(e);
                    out.push(name.is_some_and(|name| below.iter().any(|(column, can)| *column == name && *can)));
                }
                _ => out.extend(below.iter().map(|(_, can)| *can)),
            }
        }
        Some(out)
    }
}

/// The column that an expression is, if it is nothing more.
fn column_name(e: &Expr) -> Option<String> {
    match e {
        Expr::Identifier(ident) => Some(fold(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(fold),
        Expr::Nested(inner) => column_name(inner),
        _ => None,
    }
}
