//! The names that aliases give to items of FROM and to their columns.

use super::scope::{FromItem, Lockable, ScopeColumn};
use super::{Binder, fold};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::ast;

/// What begins the names of columns that a view's relations got after it: no text of a client has a NUL.
pub(super) const LATER: &str = "+\0";

impl Binder<'_> {
    /// The text of a view lists the columns that its relations had: those that they got later have no name there, so that none becomes
    /// part of a NATURAL join, or makes a name ambiguous.
    pub(super) fn hide_later(&self, columns: &mut [ScopeColumn], alias: Option<&ast::TableAlias>) {
        let listed = alias.map_or(0, |alias| alias.columns.len());
        if self.in_definition() && listed > 0 {
            columns.iter_mut().skip(listed).for_each(|column| column.name.insert_str(0, LATER));
        }
    }

    /// Names columns as an alias says.
    pub(super) fn aliased(
        &self,
        mut columns: Vec<ScopeColumn>,
        alias: Option<&ast::TableAlias>,
        default_name: String,
    ) -> PgResult<FromItem> {
        let mut name = default_name;
        if let Some(alias) = alias {
            name = fold(&alias.name);
            if alias.columns.len() > columns.len() {
                return Err(PgError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    format!("table \"{name}\" has {} columns available but {} columns specified", columns.len(), alias.columns.len()),
                ));
            }
            for (column, new) in columns.iter_mut().zip(&alias.columns) {
                column.name = fold(&new.name);
            }
        }
        Ok(FromItem {
            alias: name,
            schema: None,
            place: None,
            columns,
            fields: Vec::new(),
            key: None,
            lateral_only: false,
            refused: None,
            joined: false,
            nullable: false,
            found: None,
            table_oid: None,
            address: Vec::new(),
            scalar: false,
            lockable: Lockable::default(),
        })
    }
}
