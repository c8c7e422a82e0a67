//! Rows of computed relations as they are put together: values by column name, then Arrow columns of the declared types.

use arrow::array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, IntervalMonthDayNanoArray, RecordBatch,
    RecordBatchOptions, StringViewArray, TimestampMicrosecondArray, UInt32Array, new_null_array,
};
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::types::PgType;
use stoa_pg::values::array::{Rows, Shape};
use stoa_pg::values::datetime::epoch::from_clock;
use stoa_pg::values::interval::Interval;
use stoa_pg::{PgError, PgResult, SqlType};

/// One value.
#[derive(Clone, Debug)]
pub enum V {
    Null,
    Bool(bool),
    Int(i64),
    Oid(u32),
    Float(f64),
    Text(String),
    Texts(Vec<String>),
    Ints(Vec<i16>),
    Oids(Vec<u32>),
    Floats(Vec<f32>),
    /// Microseconds since 1970.
    Time(i64),
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

/// The rows so far.
pub struct Table<'a> {
    columns: &'a [(String, SqlType)],
    places: HashMap<&'a str, usize>,
    values: Vec<Vec<V>>,
    rows: usize,
}

impl<'a> Table<'a> {
    pub fn new(columns: &'a [(String, SqlType)]) -> Self {
        let places = columns.iter().enumerate().map(|(i, (n, _))| (n.as_str(), i)).collect();
        Self { columns, places, values: vec![Vec::new(); columns.len()], rows: 0 }
    }

    /// Adds a row; columns that are not named are NULL.
    pub fn row(&mut self, cells: Vec<(&str, V)>) {
        self.rows += 1;
        for (name, value) in cells {
            if let Some(place) = self.places.get(name)
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

    pub fn finish(self) -> PgResult<RecordBatch> {
        let fields: Vec<Field> = self.columns.iter().map(|(n, t)| Field::new(n, t.arrow.clone(), true)).collect();
        let mut arrays = Vec::with_capacity(fields.len());
        for ((name, ty), values) in self.columns.iter().zip(self.values) {
            let array = column(&ty.arrow, matches!(ty.ty, PgType::Int2Vector | PgType::OidVector), values)?;
            if array.data_type() != &ty.arrow {
                return Err(PgError::internal(format!("column {name} of a system relation has no builder for {}", ty.arrow)));
            }
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?)
    }
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
        DataType::Timestamp(_, zone) => Arc::new(
            values
                .iter()
                .map(|v| if let V::Time(t) = v { Some(from_clock(*t)) } else { None })
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
