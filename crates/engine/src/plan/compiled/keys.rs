//! Rows that are equal: what DISTINCT ON, INTERSECT, EXCEPT and groups ask.

use super::scalar::{Computed, EvalArgs};
use crate::plan::compiled::simple_scan::Columns;
use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::row::{RowConverter, Rows, SortField};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use stoa_pg::{EvalContext, PgResult};
use stoa_sql::typed::tree::{Expr, SetOp};

/// Values by which rows are equal, in their sortable form, and how they become bytes.
pub(super) struct Keys {
    computed: Computed,
    converter: Mutex<RowConverter>,
}

impl Keys {
    /// `None` if a value cannot be computed here, or there is none: rows without columns are equal, which sortable forms do not say.
    pub(super) fn compile(eval: &EvalContext, input: &Columns, exprs: &[Expr]) -> PgResult<Option<Self>> {
        if exprs.is_empty() {
            return Ok(None);
        }
        let Some(computed) = Computed::compile_keys(eval, input, exprs)? else { return Ok(None) };
        let fields = computed.types()?.into_iter().map(SortField::new).collect();
        Ok(Some(Self { computed, converter: Mutex::new(RowConverter::new(fields)?) }))
    }

    /// The key of each row. Two rows have the same bytes if PostgreSQL takes them for equal, NULLs among them.
    ///
    /// # Errors
    /// What the expressions raise.
    pub(super) fn of(&self, batch: &RecordBatch, known: EvalArgs<'_>) -> PgResult<Rows> {
        let keys = self.computed.evaluate(batch.columns(), batch.num_rows(), known)?;
        Ok(self.converter.lock().convert_columns(&keys)?)
    }

    /// The first row of each key, in the order in which they come.
    ///
    /// # Errors
    /// What the expressions raise.
    pub(super) fn first_rows(&self, batch: &RecordBatch, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        if batch.num_rows() < 2 {
            return Ok(batch.clone());
        }
        let keys = self.of(batch, known)?;
        let mut seen: HashSet<&[u8]> = HashSet::with_capacity(batch.num_rows());
        chosen(batch, |row| seen.insert(keys.row(row).data()))
    }

    /// The rows of the left that INTERSECT or EXCEPT with the right leaves.
    ///
    /// # Errors
    /// What the expressions raise.
    pub(super) fn combine(
        &self,
        op: SetOp,
        all: bool,
        left: &RecordBatch,
        right: &RecordBatch,
        known: EvalArgs<'_>,
    ) -> PgResult<RecordBatch> {
        if left.num_rows() == 0 {
            return Ok(left.clone());
        }
        let (own, other) = (self.of(left, known)?, self.of(right, known)?);
        let mut counts: HashMap<&[u8], usize> = HashMap::with_capacity(right.num_rows());
        for row in 0..right.num_rows() {
            *counts.entry(other.row(row).data()).or_default() += 1;
        }
        let mut given: HashSet<&[u8]> = HashSet::new();
        chosen(left, |row| {
            let key = own.row(row).data();
            let matched = match counts.get_mut(key) {
                Some(0) | None => false,
                // With ALL each row of the right meets one of the left.
                Some(count) => {
                    *count -= usize::from(all);
                    true
                }
            };
            matched == (op == SetOp::Intersect) && (all || given.insert(key))
        })
    }
}

/// The rows that are wanted.
fn chosen(batch: &RecordBatch, mut wanted: impl FnMut(usize) -> bool) -> PgResult<RecordBatch> {
    let rows = (0u32..).zip(0..batch.num_rows()).filter(|(_, row)| wanted(*row)).map(|(at, _)| at);
    let rows = UInt32Array::from_iter_values(rows);
    Ok(if rows.len() == batch.num_rows() { batch.clone() } else { take_record_batch(batch, &rows)? })
}
