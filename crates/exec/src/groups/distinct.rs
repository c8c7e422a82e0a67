//! DISTINCT and ORDER BY inside an aggregate: another aggregate is fed each distinct row once, sorted.
//!
//! Equality and order are PostgreSQL's. Columns of ORDER BY, as sort keys, follow the aggregate's own arguments. DataFusion's own
//! sorting for aggregates serves one order a node and loses it between partitions, so that it is not used.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, UInt32Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{SortOptions, filter, take};
use arrow::datatypes::{DataType, Field, FieldRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use stoa_pg::SqlType;
use stoa_pg::memory::{PIECE_BYTES, own_values, value_bytes};

/// Another aggregate over distinct or sorted rows.
pub struct DistinctUdaf {
    inner: Arc<AggregateUDF>,
    arg_types: Vec<SqlType>,
    distinct: bool,
    /// Of the columns after the arguments.
    order: Vec<SortOptions>,
    order_types: Vec<DataType>,
    name: String,
    signature: Signature,
}

impl DistinctUdaf {
    /// The aggregate over rows sorted by the columns that follow its arguments, of the given Arrow types.
    #[must_use]
    pub fn ordered(
        inner: Arc<AggregateUDF>,
        arg_types: Vec<SqlType>,
        distinct: bool,
        order: Vec<SortOptions>,
        order_types: Vec<DataType>,
    ) -> Arc<AggregateUDF> {
        // Whoever looks for equal parts of plans goes by names.
        let mut name = format!("{} {}", if distinct { "distinct" } else { "ordered" }, inner.name());
        for key in &order {
            name += if key.descending { " desc" } else { " asc" };
            name += if key.nulls_first { " nulls first" } else { " nulls last" };
        }
        let signature = Signature::any(arg_types.len() + order.len(), Volatility::Immutable);
        Arc::new(AggregateUDF::new_from_impl(Self { inner, arg_types, distinct, order, order_types, name, signature }))
    }

    /// Whether rows may be handed on as they come.
    fn streams(&self) -> bool {
        self.distinct && self.order.is_empty() && matches!(self.inner.name(), "count" | "bit_xor")
    }
}

impl fmt::Debug for DistinctUdaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for DistinctUdaf {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner && self.arg_types == other.arg_types && self.distinct == other.distinct && self.order == other.order
    }
}

impl Eq for DistinctUdaf {}

impl Hash for DistinctUdaf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
        self.arg_types.hash(state);
        self.distinct.hash(state);
        self.order.hash(state);
    }
}

impl AggregateUDFImpl for DistinctUdaf {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types.get(..self.arg_types.len()).unwrap_or(arg_types))
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let count = self.arg_types.len();
        let own = AccumulatorArgs {
            exprs: args.exprs.get(..count).unwrap_or(args.exprs),
            expr_fields: args.expr_fields.get(..count).unwrap_or(args.expr_fields),
            ..args
        };
        // Duplicates are found by all arguments; rows are sorted by ORDER BY, then by arguments if duplicates were to go.
        let arg_fields: Vec<SortField> = self.arg_types.iter().map(|t| SortField::new(key_type(t))).collect();
        let mut sort_fields: Vec<SortField> =
            self.order_types.iter().zip(&self.order).map(|(t, o)| SortField::new_with_options(t.clone(), *o)).collect();
        if self.distinct {
            sort_fields.extend(
                self.arg_types
                    .iter()
                    .map(|t| SortField::new_with_options(key_type(t), SortOptions { descending: false, nulls_first: false })),
            );
        }
        Ok(Box::new(DistinctAccumulator {
            inner: self.inner.accumulator(own)?,
            arg_types: self.arg_types.clone(),
            column_types: self.arg_types.iter().map(|t| t.arrow.clone()).chain(self.order_types.iter().cloned()).collect(),
            distinct: self.distinct.then(|| RowConverter::new(arg_fields)).transpose()?,
            sort: RowConverter::new(sort_fields)?,
            streams: self.streams(),
            seen: HashSet::new(),
            kept: vec![Vec::new(); self.arg_types.len() + self.order.len()],
            bytes: 0,
        }))
    }

    fn state_fields(&self, _: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let columns = self.arg_types.iter().map(|t| &t.arrow).chain(&self.order_types);
        Ok(columns
            .enumerate()
            .map(|(i, t)| Arc::new(Field::new(format!("distinct {i}"), stoa_pg::types::list_of(t.clone()), true)))
            .collect())
    }
}

fn key_type(ty: &SqlType) -> DataType {
    if ty.has_native_order() { ty.arrow.clone() } else { DataType::BinaryView }
}

struct DistinctAccumulator {
    inner: Box<dyn Accumulator>,
    arg_types: Vec<SqlType>,
    column_types: Vec<DataType>,
    distinct: Option<RowConverter>,
    sort: RowConverter,
    streams: bool,
    seen: HashSet<OwnedRow>,
    /// The rows so far, a column an argument and a column a sort key. They are slices of batches, or of the states of many groups: each
    /// has texts of its own, and counts as what its values take.
    kept: Vec<Vec<ArrayRef>>,
    bytes: usize,
}

impl fmt::Debug for DistinctAccumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "distinct over {:?}", self.inner)
    }
}

impl DistinctAccumulator {
    /// The arguments by whose order rows compare.
    fn keys(&self, values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let mut keys = Vec::with_capacity(self.arg_types.len());
        for (array, ty) in values.iter().zip(&self.arg_types) {
            keys.push(if ty.has_native_order() { array.clone() } else { stoa_pg::values::sort_key(ty, array)? });
        }
        Ok(keys)
    }

    fn feed(&mut self, values: &[ArrayRef]) -> Result<()> {
        let keys = if self.distinct.is_some() { self.keys(values)? } else { Vec::new() };
        let Some(converter) = &self.distinct else {
            self.keep(values.to_vec());
            return Ok(());
        };
        let rows = converter.convert_columns(&keys)?;
        let mut fresh = Vec::with_capacity(rows.num_rows());
        for row in rows.iter() {
            let row = row.owned();
            let size = row.as_ref().len() + std::mem::size_of::<OwnedRow>();
            let new = self.seen.insert(row);
            if new {
                self.bytes += size;
            }
            fresh.push(new);
        }
        let mask = BooleanArray::from(fresh);
        if mask.true_count() == 0 {
            return Ok(());
        }
        let filtered = values.iter().map(|a| filter(a, &mask)).collect::<std::result::Result<Vec<_>, _>>()?;
        if self.streams {
            self.inner.update_batch(&filtered)?;
        }
        self.keep(filtered);
        Ok(())
    }

    fn keep(&mut self, values: Vec<ArrayRef>) {
        for (kept, array) in self.kept.iter_mut().zip(values) {
            let own = own_values(&array);
            self.bytes += PIECE_BYTES + value_bytes(own.as_ref());
            kept.push(own);
        }
    }

    /// Each column in one piece.
    fn columns(&self) -> Result<Vec<ArrayRef>> {
        let one = |(kept, ty): (&Vec<ArrayRef>, &DataType)| {
            let refs: Vec<&dyn Array> = kept.iter().map(AsRef::as_ref).collect();
            Ok(if refs.is_empty() { arrow::array::new_empty_array(ty) } else { arrow::compute::concat(&refs)? })
        };
        self.kept.iter().zip(&self.column_types).map(one).collect()
    }
}

impl Accumulator for DistinctAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.feed(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if !self.streams {
            let mut columns = self.columns()?;
            if columns.first().is_some_and(|c| !c.is_empty()) {
                let mut sort = columns.split_off(self.arg_types.len());
                if self.distinct.is_some() {
                    sort.extend(self.keys(&columns)?);
                }
                let rows = self.sort.convert_columns(&sort)?;
                let mut order: Vec<u32> = (0..rows.num_rows() as u32).collect();
                // Stable: rows that are equal stay as they came.
                order.sort_by(|a, b| rows.row(*a as usize).cmp(&rows.row(*b as usize)));
                let order = UInt32Array::from(order);
                let sorted = columns.iter().map(|c| take(c, &order, None)).collect::<std::result::Result<Vec<_>, _>>()?;
                self.inner.update_batch(&sorted)?;
            }
        }
        self.inner.evaluate()
    }

    fn size(&self) -> usize {
        std::mem::size_of_val(self) + self.inner.size() + self.bytes
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut out = Vec::with_capacity(self.kept.len());
        for (all, ty) in self.columns()?.into_iter().zip(&self.column_types) {
            let offsets = OffsetBuffer::from_lengths([all.len()]);
            let field = Arc::new(Field::new("item", ty.clone(), true));
            out.push(ScalarValue::List(Arc::new(ListArray::try_new(field, offsets, all, None)?)));
        }
        Ok(out)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(first) = states.first() else { return Ok(()) };
        for row in 0..first.len() {
            let mut values = Vec::with_capacity(states.len());
            for state in states {
                values.push(state.as_list::<i32>().value(row));
            }
            self.feed(&values)?;
        }
        Ok(())
    }
}
