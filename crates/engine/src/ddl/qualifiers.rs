//! What the cells of columns are called in families with plain values.
//!
//! Invariant: each such column has a qualifier, which it keeps; no two of a family have one. The codec is `stoa_table::row::named_cell`.

use super::builder::TableBuilder;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::ddl::StorageOption;
use stoa_table::catalog::ColumnId;
use stoa_table::row::table::plain_columns;

/// The most bytes of the name that a column's cells are given.
const MAX_QUALIFIER: usize = 255;

impl TableBuilder<'_> {
    /// Columns of plain values get the names of their cells, when the families are what they will be: those that they have now, unless others
    /// are given.
    ///
    /// # Errors
    /// 42701 for two columns whose cells would be called alike; 42P16 for a qualifier of a column that has no cell of its own.
    pub fn name_cells(&mut self) -> PgResult<()> {
        let mut named: Vec<ColumnId> = Vec::new();
        let families: Vec<(String, Vec<ColumnId>)> =
            plain_columns(&self.table)?.into_iter().map(|(family, columns)| (family.name.clone(), columns)).collect();
        for (family, columns) in families {
            let mut taken: Vec<(String, String)> = Vec::with_capacity(columns.len());
            for id in &columns {
                let Some(column) = self.column_mut(*id) else { continue };
                let qualifier = column.qualifier.clone().unwrap_or_else(|| column.name.clone());
                column.qualifier = Some(qualifier.clone());
                if let Some((_, other)) = taken.iter().find(|(name, _)| *name == qualifier) {
                    let message = format!("the cells of column \"{other}\" are called \"{qualifier}\" in family \"{family}\"");
                    return Err(PgError::new(SqlState::DUPLICATE_COLUMN, message)
                        .detail(format!("Those of column \"{}\" would be called so, too.", column.name))
                        .hint("OPTIONS (qualifier '…') behind the type of a new column gives its cells another name."));
                }
                taken.push((qualifier, column.name.clone()));
            }
            named.extend(columns);
        }
        if let Some(id) = self.qualified.iter().find(|id| !named.contains(id)) {
            let message = format!("column \"{}\" cannot have a qualifier", self.column_name(*id));
            return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message)
                .detail("A qualifier is for columns of families WITH (values = plain), outside of the primary key."));
        }
        // What leaves such a family, or the key takes, is written anew.
        self.table.columns.iter_mut().filter(|c| !c.dropped && !named.contains(&c.id)).for_each(|c| c.qualifier = None);
        Ok(())
    }

    /// `OPTIONS (qualifier '…')` behind a column's type.
    ///
    /// # Errors
    /// 22023 for others, and for what cannot be one.
    pub fn column_options(&mut self, id: ColumnId, options: &[StorageOption]) -> PgResult<()> {
        for option in options {
            if option.name != "qualifier" {
                return Err(PgError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    format!("unrecognized option \"{}\" of a column", option.name),
                )
                .hint("Columns of families with plain values have the option qualifier; those of foreign tables column and format."));
            }
            let qualifier = option.value.clone().unwrap_or_default();
            // An empty one is that of the cell that tells that the row is there.
            if qualifier.is_empty() || qualifier.len() > MAX_QUALIFIER {
                return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("\"{qualifier}\" is no qualifier"))
                    .detail(format!("It has 1 to {MAX_QUALIFIER} bytes.")));
            }
            if let Some(column) = self.column_mut(id) {
                column.qualifier = Some(qualifier);
            }
            self.qualified.push(id);
        }
        Ok(())
    }
}
