//! Rows of system relations as they are put together: values by column name, then Arrow columns of the declared types. Rows and columns
//! that the query does not want are left out as they come.

use super::wanted::Wanted;
use arrow::array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, RecordBatch, RecordBatchOptions, StringViewArray, TimestampMicrosecondArray, UInt32Array, new_null_array,
};
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use std::sync::Arc;
use stoa_pg::types::{PgType, SqlType};
use stoa_pg::values::array::{Rows, Shape};
use stoa_pg::values::datetime::epoch::from_clock;
use stoa_pg::values::input_text;
use stoa_pg::values::interval::Interval;
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_sql::system_relations::Definition;
use stoa_table::catalog::ColumnId;

/// One value.
#[derive(Clone, Debug)]
pub enum V {
    Null,
    Bool(bool),
    Int(i64),
    Oid(u32),
    Float(f64),
    Text(String),
    /// In decimal.
    Numeric(String),
    Texts(Vec<String>),
    Ints(Vec<i16>),
    Oids(Vec<u32>),
    Floats(Vec<f32>),
    /// Microseconds since 1970.
    Time(i64),
    /// A timestamptz as values have it.
    Moment(i64),
    /// Microseconds.
    Span(i64),
}

impl From<&str> for V {
    fn from(s: &str) -> Self {
        V::Text(s.to_owned())
    }
}

impl From<String> for V {
    fn from(s: String) -> Self {
        V::Text(s)
    }
}

/// What is counted; more than a bigint holds is its greatest.
impl From<u64> for V {
    fn from(n: u64) -> Self {
        V::Int(i64::try_from(n).unwrap_or(i64::MAX))
    }
}

impl From<bool> for V {
    fn from(b: bool) -> Self {
        V::Bool(b)
    }
}

impl From<Option<String>> for V {
    fn from(s: Option<String>) -> Self {
        s.map_or(V::Null, V::Text)
    }
}

/// "YES" or "NO", as information_schema says it.
pub fn yes(b: bool) -> V {
    V::from(if b { "YES" } else { "NO" })
}

/// The rows so far, of the columns that are read.
pub struct Builder<'a> {
    definition: &'a Definition,
    wanted: &'a Wanted,
    /// Positions in the definition of the columns that are built.
    read: &'a [usize],
    /// By position in the definition: the place among those that are built.
    places: Vec<Option<usize>>,
    values: Vec<Vec<V>>,
    rows: usize,
}

impl<'a> Builder<'a> {
    pub fn new(definition: &'a Definition, read: &'a [usize], wanted: &'a Wanted) -> Self {
        let mut places = vec![None; definition.columns.len()];
        for (place, position) in read.iter().enumerate() {
            if let Some(slot) = places.get_mut(*position) {
                *slot = Some(place);
            }
        }
        Self { definition, wanted, read, places, values: vec![Vec::new(); read.len()], rows: 0 }
    }

    fn id(&self, column: &str) -> Option<ColumnId> {
        self.definition.position(column).map(column_id)
    }

    /// Whether the query reads a column: what is costly to find out need not be otherwise.
    pub fn reads(&self, column: &str) -> bool {
        self.definition.position(column).and_then(|at| self.places.get(at)).is_some_and(Option::is_some)
    }

    /// Whether rows with this value in a column are wanted: a loop may go on to the next object otherwise.
    pub fn wants(&self, column: &str, value: impl Into<V>) -> bool {
        self.wanted.is_everything() || self.id(column).is_none_or(|id| self.wanted.admits(id, &value.into()))
    }

    /// As [`Builder::wants`], of OIDs.
    pub fn wants_oid(&self, column: &str, oid: u32) -> bool {
        self.wants(column, V::Oid(oid))
    }

    /// The only OIDs that a column of wanted rows can have, ascending; `None` if any will do.
    pub fn oids(&self, column: &str) -> Option<Vec<u32>> {
        self.wanted.numbers(self.id(column)?)
    }

    /// Adds a row, if it is wanted; columns that are not named are NULL.
    pub fn row(&mut self, cells: Vec<(&str, V)>) {
        if !self.wanted.is_everything() && !cells.iter().all(|(name, value)| self.id(name).is_none_or(|id| self.wanted.admits(id, value))) {
            return;
        }
        self.rows += 1;
        for (name, value) in cells {
            if let Some(Some(place)) = self.definition.position(name).and_then(|at| self.places.get(at))
                && let Some(column) = self.values.get_mut(*place)
            {
                column.push(value);
            }
        }
        for column in &mut self.values {
            if column.len() < self.rows {
                column.push(V::Null);
            }
        }
    }

    /// The rows, with the columns that are read in their order.
    pub fn finish(self) -> PgResult<RecordBatch> {
        let columns = self.read.iter().filter_map(|at| self.definition.columns.get(*at));
        let mut fields = Vec::with_capacity(self.read.len());
        let mut arrays = Vec::with_capacity(self.read.len());
        for ((name, ty), values) in columns.zip(self.values) {
            let array = column(&ty.arrow, matches!(ty.ty, PgType::Int2Vector | PgType::OidVector), values)?;
            if array.data_type() != &ty.arrow {
                return Err(PgError::internal(format!("column {name} of a system relation has no builder for {}", ty.arrow)));
            }
            fields.push(Field::new(name, ty.arrow.clone(), true));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?)
    }
}

/// The number by which filters know the column at a position of a definition.
pub fn column_id(position: usize) -> ColumnId {
    ColumnId(u32::try_from(position).unwrap_or(u32::MAX).saturating_add(1))
}

fn int(v: &V) -> Option<i64> {
    match v {
        V::Int(n) | V::Time(n) => Some(*n),
        V::Oid(n) => Some(i64::from(*n)),
        V::Bool(b) => Some(i64::from(*b)),
        _ => None,
    }
}

fn float(v: &V) -> Option<f64> {
    match v {
        V::Float(f) => Some(*f),
        V::Int(n) => Some(*n as f64),
        _ => None,
    }
}

fn column(ty: &DataType, vector: bool, values: Vec<V>) -> PgResult<ArrayRef> {
    let count = values.len();
    Ok(match ty {
        DataType::Boolean => Arc::new(values.iter().map(|v| if let V::Bool(b) = v { Some(*b) } else { None }).collect::<BooleanArray>()),
        DataType::Int16 => Arc::new(values.iter().map(|v| int(v).and_then(|n| i16::try_from(n).ok())).collect::<Int16Array>()),
        DataType::Int32 => Arc::new(values.iter().map(|v| int(v).and_then(|n| i32::try_from(n).ok())).collect::<Int32Array>()),
        DataType::Int64 => Arc::new(values.iter().map(int).collect::<Int64Array>()),
        DataType::UInt32 => Arc::new(values.iter().map(|v| int(v).and_then(|n| u32::try_from(n).ok())).collect::<UInt32Array>()),
        DataType::Float32 => Arc::new(values.iter().map(|v| float(v).map(|f| f as f32)).collect::<Float32Array>()),
        DataType::Float64 => Arc::new(values.iter().map(float).collect::<Float64Array>()),
        DataType::Utf8View => {
            Arc::new(values.into_iter().map(|v| if let V::Text(s) = v { Some(s) } else { None }).collect::<StringViewArray>())
        }
        DataType::BinaryView => {
            let numeric = SqlType::new(PgType::Numeric);
            let read = |value: V| match value {
                V::Numeric(text) => match input_text(&EvalContext::default(), &numeric, &text)? {
                    ScalarValue::BinaryView(bytes) => Ok(bytes),
                    _ => Ok(None),
                },
                _ => Ok(None),
            };
            Arc::new(values.into_iter().map(read).collect::<PgResult<BinaryViewArray>>()?)
        }
        DataType::Timestamp(_, zone) => Arc::new(
            values
                .iter()
                .map(|v| match v {
                    V::Time(t) => Some(from_clock(*t)),
                    V::Moment(t) => Some(*t),
                    _ => None,
                })
                .collect::<TimestampMicrosecondArray>()
                .with_timezone_opt(zone.clone()),
        ),
        DataType::Interval(_) => {
            let span = |micros: i64| Interval { micros, ..Interval::default() }.to_arrow();
            let spans = values.iter().map(|v| if let V::Span(micros) = v { Some(span(*micros)) } else { None });
            Arc::new(spans.collect::<IntervalMonthDayNanoArray>())
        }
        DataType::Struct(_) => {
            // Vectors begin at 0.
            let lower = if vector { 0 } else { 1 };
            let lists: Vec<Option<ArrayRef>> = values
                .into_iter()
                .map(|value| {
                    Some(match value {
                        V::Texts(list) => Arc::new(StringViewArray::from_iter_values(list)) as ArrayRef,
                        V::Ints(list) => Arc::new(Int16Array::from(list)),
                        V::Oids(list) => Arc::new(UInt32Array::from(list)),
                        V::Floats(list) => Arc::new(Float32Array::from(list)),
                        _ => return None,
                    })
                })
                .collect();
            let mut rows = Rows::new(count);
            for list in &lists {
                match list {
                    Some(list) => rows.push(&Shape::bounded(&[list.len()], &[lower])?)?,
                    None => rows.push_null(),
                }
            }
            let parts: Vec<&dyn Array> = lists.iter().flatten().map(AsRef::as_ref).collect();
            if parts.is_empty() { new_null_array(ty, count) } else { rows.over(concat(&parts)?)? }
        }
        _ => new_null_array(ty, count),
    })
}
