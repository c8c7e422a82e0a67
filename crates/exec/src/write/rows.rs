//! Rows of one table as columns, by column id.

use crate::write::missing_column;
use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat, take};
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::tree::ColId;
use stoa_sql::typed::write_column_name;
use stoa_table::catalog::{ColumnId, TableDescriptor};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    columns: Vec<(ColumnId, ArrayRef)>,
    len: usize,
}

impl Rows {
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { columns: Vec::new(), len }
    }

    /// The columns of a batch that hold a table's.
    ///
    /// # Errors
    /// The batch lacks one.
    pub fn of_batch(batch: &RecordBatch, columns: &[(ColumnId, ColId)]) -> PgResult<Self> {
        let mut out = Self { columns: Vec::with_capacity(columns.len()), len: batch.num_rows() };
        let mut name = String::with_capacity(16);
        let fields = batch.schema_ref().fields();
        let mut next = 0;
        for (id, col) in columns {
            name.clear();
            write_column_name(*col, &mut name);
            // Mostly they come in the order in which they are wanted.
            let found = match fields.get(next) {
                Some(field) if *field.name() == name => Some(next),
                _ => fields.find(&name).map(|(at, _)| at),
            };
            let at = found.ok_or_else(|| missing_column(&name))?;
            out.set(*id, Arc::clone(batch.column(at)));
            next = at + 1;
        }
        Ok(out)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[must_use]
    pub fn get(&self, id: ColumnId) -> Option<&ArrayRef> {
        self.columns.iter().find(|(c, _)| *c == id).map(|(_, a)| a)
    }

    /// # Errors
    /// There is no such column.
    pub fn column(&self, id: ColumnId) -> PgResult<&ArrayRef> {
        self.get(id).ok_or_else(|| PgError::internal(format!("rows to write have no column {}", id.0)))
    }

    pub fn set(&mut self, id: ColumnId, array: ArrayRef) {
        match self.columns.iter_mut().find(|(c, _)| *c == id) {
            Some((_, slot)) => *slot = array,
            None => self.columns.push((id, array)),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &(ColumnId, ArrayRef)> {
        self.columns.iter()
    }

    /// These rows with the columns of others in place of theirs.
    #[must_use]
    pub fn with(&self, others: &Rows) -> Rows {
        let mut out = self.clone();
        for (id, array) in &others.columns {
            out.set(*id, array.clone());
        }
        out
    }

    /// The rows at these positions.
    ///
    /// # Errors
    /// A position lies beyond the end.
    pub fn at(&self, positions: &[usize]) -> PgResult<Rows> {
        if positions.len() == self.len && positions.iter().enumerate().all(|(i, p)| i == *p) {
            return Ok(self.clone());
        }
        let indices = indices(positions);
        let columns = self.columns.iter().map(|(id, a)| Ok((*id, take(a, &indices, None)?))).collect::<PgResult<Vec<_>>>()?;
        Ok(Rows { columns, len: positions.len() })
    }

    /// These rows without the columns of maps, which are not part of them.
    #[must_use]
    pub fn without_maps(mut self, table: &TableDescriptor) -> Rows {
        self.columns.retain(|(id, _)| !table.map_columns().any(|c| c.id == *id));
        self
    }

    /// These rows, then others with the same columns.
    ///
    /// # Errors
    /// A column is missing or of another type.
    pub fn append(&self, others: &Rows) -> PgResult<Rows> {
        if self.is_empty() {
            return Ok(others.clone());
        }
        if others.is_empty() {
            return Ok(self.clone());
        }
        let columns = self
            .columns
            .iter()
            .map(|(id, a)| Ok((*id, concat(&[a.as_ref(), others.column(*id)?.as_ref()])?)))
            .collect::<PgResult<Vec<_>>>()?;
        Ok(Rows { columns, len: self.len + others.len })
    }
}

/// Positions as Arrow takes them.
#[must_use]
pub fn indices(positions: &[usize]) -> UInt32Array {
    // Batches are far below 2³² rows.
    positions.iter().map(|p| *p as u32).collect()
}
