//! Aggregates that see all rows of a group at once: DISTINCT, ORDER BY inside an aggregate, and ordered-set aggregates.
//!
//! [`Rows`] keeps argument columns (and the columns of ORDER BY, which DataFusion appends to them) in pieces; as a partial state
//! each column is a list. [`Buffered`] feeds them, sorted and without duplicates, to another accumulator; [`distinct`] wraps any
//! aggregate function that way.

use crate::error::{PgError, PgResult};
use crate::memory::{PIECE_BYTES, own_values, value_bytes};
use crate::types::SqlType;
use crate::values::key_writer;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{SortColumn, SortOptions, concat, filter, lexsort_to_indices, take};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{DataFusionError, Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The columns of a group's rows, in pieces.
///
/// A piece is a slice of a batch, or of the states of many groups: each has texts of its own, and counts as what its values take.
#[derive(Debug)]
pub struct Rows {
    types: Vec<DataType>,
    pieces: Vec<Vec<ArrayRef>>,
    bytes: usize,
}

impl Rows {
    #[must_use]
    pub fn new(types: Vec<DataType>) -> Self {
        Self { pieces: vec![Vec::new(); types.len()], types, bytes: 0 }
    }

    /// Adds a batch: an array a column.
    pub fn push(&mut self, columns: &[ArrayRef]) {
        if columns.first().is_some_and(|column| !column.is_empty()) {
            for (pieces, column) in self.pieces.iter_mut().zip(columns) {
                let piece = own_values(column);
                self.bytes += PIECE_BYTES + value_bytes(piece.as_ref());
                pieces.push(piece);
            }
        }
    }

    /// The columns, each in one piece.
    pub fn columns(&self) -> Result<Vec<ArrayRef>> {
        self.types
            .iter()
            .zip(&self.pieces)
            .map(|(ty, pieces)| {
                let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
                Ok(match pieces.as_slice() {
                    [] => arrow::array::new_empty_array(ty),
                    pieces => concat(pieces)?,
                })
            })
            .collect()
    }

    /// A list a column.
    pub fn state(&self) -> Result<Vec<ScalarValue>> {
        let lists = self.columns()?.into_iter().map(|column| {
            let item = Arc::new(Field::new("item", column.data_type().clone(), true));
            let offsets = OffsetBuffer::from_lengths([column.len()]);
            Ok(ScalarValue::List(Arc::new(arrow::array::ListArray::try_new(item, offsets, column, None)?)))
        });
        lists.collect()
    }

    /// Rows of partial states, one call of `f` for each state.
    pub fn each_state(states: &[ArrayRef], mut f: impl FnMut(&[ArrayRef]) -> Result<()>) -> Result<()> {
        let lists = states
            .iter()
            .map(|state| {
                state.as_list_opt::<i32>().ok_or_else(|| DataFusionError::from(PgError::internal("a partial aggregate that is no list")))
            })
            .collect::<Result<Vec<_>>>()?;
        for row in 0..lists.first().map_or(0, |list| list.len()) {
            if lists.iter().any(|list| list.is_null(row)) {
                continue;
            }
            let columns: Vec<ArrayRef> = lists.iter().map(|list| list.value(row)).collect();
            f(&columns)?;
        }
        Ok(())
    }

    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self) + self.bytes
    }
}

/// The fields of a partial state: a list for each argument and each column of ORDER BY.
#[must_use]
pub fn state_fields(args: &StateFieldsArgs) -> Vec<FieldRef> {
    let columns = args.input_fields.iter().chain(args.ordering_fields);
    columns
        .enumerate()
        .map(|(i, field)| {
            let item = Arc::new(Field::new("item", field.data_type().clone(), true));
            Arc::new(Field::new(format_state_name(args.name, &format!("column{i}")), DataType::List(item), true))
        })
        .collect()
}

/// Collects rows, then feeds them to another accumulator.
#[derive(Debug)]
pub struct Buffered {
    inner: Box<dyn Accumulator>,
    rows: Rows,
    args: usize,
    order: Vec<SortOptions>,
    /// Types of the arguments when duplicates are to go.
    distinct: Option<Vec<SqlType>>,
    seen: HashSet<Vec<u8>>,
    /// Partial states came in: the order of rows is theirs, one after another.
    merged: bool,
}

impl Buffered {
    /// `distinct`: the types of the arguments, by whose equality duplicates are dropped.
    #[must_use]
    pub fn new(inner: Box<dyn Accumulator>, args: &AccumulatorArgs, distinct: Option<Vec<SqlType>>) -> Self {
        let mut types: Vec<DataType> = args.expr_fields.iter().map(|field| field.data_type().clone()).collect();
        let count = types.len();
        types.extend(args.order_bys.iter().map(|order| order.expr.data_type(args.schema).unwrap_or(DataType::Null)));
        let order = args.order_bys.iter().map(|order| order.options).collect();
        Self { inner, rows: Rows::new(types), args: count, order, distinct, seen: HashSet::new(), merged: false }
    }

    fn push(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let Some(types) = &self.distinct else {
            self.rows.push(columns);
            return Ok(());
        };
        let rows = columns.first().map_or(0, |column| column.len());
        let keys = row_keys(types, columns.get(..self.args).unwrap_or(columns), rows)?;
        let fresh: BooleanArray = keys.into_iter().map(|key| Some(self.seen.insert(key))).collect();
        let kept = columns.iter().map(|column| Ok(filter(column, &fresh)?)).collect::<Result<Vec<_>>>()?;
        self.rows.push(&kept);
        Ok(())
    }
}

/// One key a row over all columns: equal rows have equal keys, and keys sort as rows do, NULL last.
fn row_keys(types: &[SqlType], columns: &[ArrayRef], rows: usize) -> PgResult<Vec<Vec<u8>>> {
    let mut keys = vec![Vec::new(); rows];
    for (ty, column) in types.iter().zip(columns) {
        let writer = key_writer(ty, column.as_ref())?;
        for (row, key) in keys.iter_mut().enumerate() {
            if column.is_null(row) {
                key.push(2);
            } else {
                key.push(1);
                writer.write(row, key)?;
            }
        }
    }
    Ok(keys)
}

fn taken(columns: &[ArrayRef], indices: &UInt32Array) -> Result<Vec<ArrayRef>> {
    columns.iter().map(|column| Ok(take(column, indices, None)?)).collect()
}

impl Accumulator for Buffered {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.push(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.merged = true;
        Rows::each_state(states, |columns| self.push(columns))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.rows.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut columns = self.rows.columns()?;
        let keys = columns.split_off(self.args.min(columns.len()));
        if !self.order.is_empty() {
            if self.merged {
                let sort: Vec<SortColumn> = keys
                    .iter()
                    .zip(&self.order)
                    .map(|(values, options)| SortColumn { values: Arc::clone(values), options: Some(*options) })
                    .collect();
                columns = taken(&columns, &lexsort_to_indices(&sort, None)?)?;
            }
        } else if let Some(types) = &self.distinct {
            // Without an order of its own, DISTINCT leaves the rows sorted, as PostgreSQL does.
            let rows = columns.first().map_or(0, |column| column.len());
            let keys = row_keys(types, &columns, rows)?;
            let mut indices: Vec<u32> = (0..rows as u32).collect();
            indices.sort_by(|a, b| keys.get(*a as usize).cmp(&keys.get(*b as usize)));
            columns = taken(&columns, &UInt32Array::from(indices))?;
        }
        if columns.first().is_some_and(|column| !column.is_empty()) {
            self.inner.update_batch(&columns)?;
        }
        self.inner.evaluate()
    }

    fn size(&self) -> usize {
        self.rows.bytes() + self.inner.size() + self.seen.iter().map(|key| key.capacity() + 48).sum::<usize>()
    }
}

/// Any aggregate function over distinct rows.
#[derive(Debug)]
struct Distinct {
    inner: Arc<AggregateUDF>,
    types: Vec<SqlType>,
    signature: Signature,
}

impl PartialEq for Distinct {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner && self.types == other.types
    }
}

impl Eq for Distinct {}

impl Hash for Distinct {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.inner.hash(hasher);
        self.types.hash(hasher);
    }
}

impl AggregateUDFImpl for Distinct {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[DataType]) -> Result<DataType> {
        self.inner.return_type(args)
    }

    fn return_field(&self, args: &[FieldRef]) -> Result<FieldRef> {
        self.inner.return_field(args)
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let inner = self.inner.accumulator(AccumulatorArgs { is_distinct: false, order_bys: &[], ..args.clone() })?;
        Ok(Box::new(Buffered::new(inner, &args, Some(self.types.clone()))))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(state_fields(&args))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::HardRequirement
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner.default_value(data_type)
    }
}

/// An aggregate that sees each distinct row of arguments once, by PostgreSQL's equality of their types, sorted ascending unless the
/// call has an ORDER BY. Call it without DataFusion's own DISTINCT flag.
#[must_use]
pub fn distinct(inner: Arc<AggregateUDF>, arg_types: Vec<SqlType>) -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(Distinct { inner, types: arg_types, signature: Signature::variadic_any(Volatility::Immutable) }))
}
