//! Tables as HBase's programs see them: namespaces, families, cells. What they define goes by statements of a [`Session`](crate::Session),
//! as everything does; here is what statements have no words for.

use crate::Database;
use std::sync::Arc;
use stoa_pg::values::writer;
use stoa_pg::{EvalContext, PgResult};
use stoa_table::catalog::{CELLS, FIRST_USER_OID, PUBLIC_OID, Relation, STORAGE_PREFIX, TableDescriptor};
pub use stoa_table::raw::fits_delimited;
pub use stoa_table::raw::{Change, DEFAULT_NAMESPACE, RawScan, RawTable, Row, RowCell, SNAPSHOTS, from_binary, schema_of};
pub use stoa_table::row::raw::{CellKind, Wanted};
pub use stoa_table::{BloomFilter, Compression, FamilyOptions, KeyRange, Region};

/// A table that is there.
#[derive(Debug)]
pub struct OpenTable {
    /// Its cells.
    pub cells: RawTable,
    table: Arc<TableDescriptor>,
}

impl Database {
    /// Namespaces, by name: schemas of users.
    #[must_use]
    pub fn namespaces(&self) -> Vec<String> {
        let catalog = self.inner().transactions.published_catalog();
        let users = catalog.schemas().filter(|s| s.temporary.is_none() && (s.oid >= FIRST_USER_OID || s.oid == PUBLIC_OID));
        let mut out: Vec<String> = users.map(|s| if s.oid == PUBLIC_OID { DEFAULT_NAMESPACE.to_owned() } else { s.name.clone() }).collect();
        out.retain(|name| name != SNAPSHOTS);
        out.sort();
        out
    }

    /// The tables of a namespace, by name.
    #[must_use]
    pub fn tables_of(&self, namespace: &str) -> Vec<String> {
        let catalog = self.inner().transactions.published_catalog();
        let Some(schema) = catalog.schema_by_name(schema_of(namespace)) else { return Vec::new() };
        let own = |table: &&Arc<TableDescriptor>| {
            table.schema == schema.oid && !table.temporary && table.mapping.is_none() && !table.name.starts_with(STORAGE_PREFIX)
        };
        let mut out: Vec<String> = catalog.shared_tables().filter(own).map(|t| t.name.clone()).collect();
        out.sort();
        out
    }

    /// A table, by namespace and name.
    #[must_use]
    pub fn open_table(&self, namespace: &str, name: &str) -> Option<OpenTable> {
        let catalog = self.inner().transactions.published_catalog();
        let schema = catalog.schema_by_name(schema_of(namespace))?;
        let Relation::Table(table) = &**catalog.relation_by_name(schema.oid, name)? else { return None };
        if table.mapping.is_some() {
            return None;
        }
        let table = catalog.shared_table(table.oid)?;
        Some(OpenTable { cells: RawTable::new(Arc::clone(&self.inner().transactions), Arc::clone(&table)), table })
    }
}

impl OpenTable {
    /// Whether its cells may be written as such, which those of tables of SQL may not.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.table.is_raw()
    }

    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.table.is_enabled()
    }

    /// Of a snapshot: the table that it is of, and when it was taken.
    #[must_use]
    pub fn snapshot_of(&self) -> Option<(&str, &str)> {
        stoa_table::raw::snapshot_of(&self.table)
    }

    /// Families and their options, by name.
    #[must_use]
    pub fn families(&self) -> Vec<(String, FamilyOptions)> {
        let mut out: Vec<_> = self.table.families.iter().filter(|f| f.id != CELLS).map(|f| (f.name.clone(), f.options.clone())).collect();
        out.sort_by(|a, b| a.0.cmp(&b.0));
        out
    }

    #[must_use]
    pub fn split_points(&self) -> &[Vec<u8>] {
        &self.table.split_points
    }

    /// The values of a row of a table of SQL, by column; NULLs are left out, and maps, whose entries are rows of another table.
    ///
    /// # Errors
    /// XX001 for a row that cannot be read.
    pub async fn values(&self, key: &[u8]) -> PgResult<Vec<(String, String)>> {
        let Some(arrays) = self.cells.typed(key).await? else { return Ok(Vec::new()) };
        let context = EvalContext::default();
        let mut out = Vec::new();
        for (column, array) in self.table.live_columns().filter(|c| !c.hidden).zip(&arrays) {
            if !arrow::array::Array::is_null(array.as_ref(), 0) {
                let mut text = Vec::new();
                writer(&context, &column.ty, array.as_ref())?.text(0, &mut text)?;
                out.push((column.name.clone(), String::from_utf8_lossy(&text).into_owned()));
            }
        }
        Ok(out)
    }
}
