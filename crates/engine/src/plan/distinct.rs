//! DISTINCT inside an aggregate: rows that were seen are not given to the aggregate again; equality is PostgreSQL's.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::compute::filter;
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

/// Another aggregate over distinct rows.
pub struct DistinctUdaf {
    inner: Arc<AggregateUDF>,
    arg_types: Vec<SqlType>,
    name: String,
    signature: Signature,
}

impl DistinctUdaf {
    #[must_use]
    pub fn wrap(inner: Arc<AggregateUDF>, arg_types: Vec<SqlType>) -> Arc<AggregateUDF> {
        let name = format!("distinct {}", inner.name());
        let signature = Signature::any(arg_types.len(), Volatility::Immutable);
        Arc::new(AggregateUDF::new_from_impl(Self { inner, arg_types, name, signature }))
    }
}

impl fmt::Debug for DistinctUdaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for DistinctUdaf {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner && self.arg_types == other.arg_types
    }
}

impl Eq for DistinctUdaf {}

impl Hash for DistinctUdaf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
        self.arg_types.hash(state);
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
        self.inner.return_type(arg_types)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let fields = self.arg_types.iter().map(|t| SortField::new(key_type(t))).collect();
        Ok(Box::new(DistinctAccumulator {
            inner: self.inner.accumulator(args)?,
            arg_types: self.arg_types.clone(),
            converter: RowConverter::new(fields)?,
            seen: HashSet::new(),
            kept: vec![Vec::new(); self.arg_types.len()],
            bytes: 0,
        }))
    }

    fn state_fields(&self, _: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(self
            .arg_types
            .iter()
            .enumerate()
            .map(|(i, t)| Arc::new(Field::new(format!("distinct {i}"), stoa_pg::types::list_of(t.arrow.clone()), true)))
            .collect())
    }
}

fn key_type(ty: &SqlType) -> DataType {
    if super::expr::has_native_order(ty) { ty.arrow.clone() } else { DataType::BinaryView }
}

struct DistinctAccumulator {
    inner: Box<dyn Accumulator>,
    arg_types: Vec<SqlType>,
    converter: RowConverter,
    seen: HashSet<OwnedRow>,
    /// The distinct rows so far, a column an argument, for other partitions' sake.
    kept: Vec<Vec<ArrayRef>>,
    bytes: usize,
}

impl fmt::Debug for DistinctAccumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "distinct over {:?}", self.inner)
    }
}

impl DistinctAccumulator {
    fn feed(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut keys = Vec::with_capacity(values.len());
        for (array, ty) in values.iter().zip(&self.arg_types) {
            keys.push(if super::expr::has_native_order(ty) { array.clone() } else { stoa_pg::values::sort_key(ty, array)? });
        }
        let rows = self.converter.convert_columns(&keys)?;
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
        self.inner.update_batch(&filtered)?;
        for (kept, array) in self.kept.iter_mut().zip(filtered) {
            self.bytes += array.get_array_memory_size();
            kept.push(array);
        }
        Ok(())
    }
}

impl Accumulator for DistinctAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.feed(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.inner.evaluate()
    }

    fn size(&self) -> usize {
        std::mem::size_of_val(self) + self.inner.size() + self.bytes
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut out = Vec::with_capacity(self.kept.len());
        for (kept, ty) in self.kept.iter().zip(&self.arg_types) {
            let refs: Vec<&dyn Array> = kept.iter().map(AsRef::as_ref).collect();
            let all = if refs.is_empty() { arrow::array::new_empty_array(&ty.arrow) } else { arrow::compute::concat(&refs)? };
            let offsets = OffsetBuffer::from_lengths([all.len()]);
            let field = Arc::new(Field::new("item", ty.arrow.clone(), true));
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
