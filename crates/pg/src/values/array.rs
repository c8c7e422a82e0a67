//! Values: arrays. Each has dimensions of its own, none to six, each with a length and a lower bound.
//!
//! A column of arrays is a struct ([`crate::types::array_arrow`]): a list of the elements, row by row as PostgreSQL stores them, and the
//! bounds where they are not those of one dimension from 1. An array without elements has no dimensions. Invariant: a value has one form,
//! so that equal columns are equal in Arrow, too: bounds that need not be written are not.
//!
//! [`ArrayColumn`] reads (elements of a value are one range of a column), [`ArrayAssembler`] writes by copying ranges. Text and binary
//! forms are in [`text`].

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType, array_arrow, list_of};
use arrow::array::{
    Array, ArrayData, ArrayRef, AsArray, Int32Array, ListArray, MutableArrayData, NullBufferBuilder, PrimitiveArray, StructArray,
    make_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Int32Type};
use datafusion_common::ScalarValue;
use std::sync::Arc;

pub mod stack;
pub mod text;

pub use text::{builder, quote_element, writer};

/// The most dimensions an array may have.
pub const MAX_DIMENSIONS: usize = 6;

/// PostgreSQL's limit on elements of one array.
const MAX_ELEMENTS: usize = 134_217_727;

/// The type of an array's elements.
#[must_use]
pub fn element_type(ty: &SqlType) -> SqlType {
    ty.element().unwrap_or_else(|| SqlType { ty: ty.ty.element().unwrap_or(PgType::Unknown), typmod: ty.typmod, arrow: DataType::Null })
}

/// The lengths and lower bounds of an array's dimensions; none for the empty array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    ndim: usize,
    lengths: [usize; MAX_DIMENSIONS],
    lowers: [i32; MAX_DIMENSIONS],
}

impl Default for Shape {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Shape {
    /// The shape of the empty array.
    pub const EMPTY: Shape = Shape { ndim: 0, lengths: [0; MAX_DIMENSIONS], lowers: [1; MAX_DIMENSIONS] };

    /// The shape of an array of one dimension that begins at 1.
    #[must_use]
    pub fn line(length: usize) -> Shape {
        let mut shape = Shape::EMPTY;
        shape.ndim = usize::from(length > 0);
        shape.lengths[0] = length;
        shape
    }

    /// The shape with these lengths, whose dimensions begin at 1; the empty one if any is 0.
    ///
    /// # Errors
    /// As [`Shape::bounded`].
    pub fn of(lengths: &[usize]) -> PgResult<Shape> {
        Self::bounded(lengths, &[1; MAX_DIMENSIONS])
    }

    /// The shape with these lengths and lower bounds; the empty one if any length is 0.
    ///
    /// # Errors
    /// 54000 for more than six dimensions, too many elements, or an upper bound that no subscript reaches.
    pub fn bounded(lengths: &[usize], lowers: &[i32]) -> PgResult<Shape> {
        if lengths.len() > MAX_DIMENSIONS {
            return Err(too_many_dimensions(lengths.len()));
        }
        let mut shape = Shape { ndim: lengths.len(), ..Shape::EMPTY };
        let mut product = 1usize;
        for (slot, &length) in shape.lengths.iter_mut().zip(lengths) {
            *slot = length;
            product = product.checked_mul(length).filter(|p| *p <= i32::MAX as usize).ok_or_else(too_large)?;
        }
        if product > MAX_ELEMENTS {
            return Err(too_large());
        }
        for ((slot, &lower), &length) in shape.lowers.iter_mut().zip(lowers).zip(lengths) {
            *slot = lower;
            if i32::try_from(length).ok().and_then(|length| lower.checked_add(length)).is_none() {
                return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("array lower bound is too large: {lower}")));
            }
        }
        Ok(if product == 0 { Shape::EMPTY } else { shape })
    }

    /// The length of each dimension.
    #[must_use]
    pub fn lengths(&self) -> &[usize] {
        self.lengths.get(..self.ndim).unwrap_or(&[])
    }

    /// The lower bound of each dimension.
    #[must_use]
    pub fn lowers(&self) -> &[i32] {
        self.lowers.get(..self.ndim).unwrap_or(&[])
    }

    /// The lower bound of the first dimension; 1 of the empty array.
    #[must_use]
    pub fn first_lower(&self) -> i32 {
        self.lowers[0]
    }

    /// Lower and upper bound of each dimension.
    pub fn bounds(&self) -> impl Iterator<Item = (i32, i32)> + '_ {
        self.lengths().iter().zip(self.lowers()).map(|(&length, &lower)| (lower, upper_bound(lower, length)))
    }

    #[must_use]
    pub fn ndim(&self) -> usize {
        self.ndim
    }

    /// How many elements an array of this shape has.
    #[must_use]
    pub fn elements(&self) -> usize {
        if self.ndim == 0 { 0 } else { self.lengths().iter().product() }
    }

    /// Whether bounds are left out where the value is written.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.ndim == 0 || (self.ndim == 1 && self.lowers[0] == 1)
    }
}

/// The last subscript of a dimension. [`Shape::bounded`] saw that there is one.
fn upper_bound(lower: i32, length: usize) -> i32 {
    i32::try_from(i64::from(lower) + length as i64 - 1).unwrap_or(i32::MAX)
}

/// `array size exceeds the maximum allowed`, 54000.
#[must_use]
pub fn too_large() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("array size exceeds the maximum allowed ({MAX_ELEMENTS})"))
}

/// 54000 for more than [`MAX_DIMENSIONS`].
#[must_use]
pub fn too_many_dimensions(n: usize) -> PgError {
    PgError::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!("number of array dimensions ({n}) exceeds the maximum allowed ({MAX_DIMENSIONS})"),
    )
}

/// One array: its shape and where its elements lie in the column of elements, the last dimension running fastest.
#[derive(Clone, Copy, Debug)]
pub struct ArrayValue {
    pub shape: Shape,
    pub start: usize,
    pub end: usize,
}

impl ArrayValue {
    /// The empty array.
    pub const EMPTY: ArrayValue = ArrayValue { shape: Shape::EMPTY, start: 0, end: 0 };

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }
}

/// A column of arrays.
#[derive(Clone, Debug)]
pub struct ArrayColumn {
    offsets: OffsetBuffer<i32>,
    nulls: Option<NullBuffer>,
    elements: ArrayRef,
    /// Where no value has bounds that are written, none.
    bounds: Option<(OffsetBuffer<i32>, Int32Array)>,
}

/// The lists of elements and of bounds of a column of arrays.
fn parts(array: &dyn Array) -> PgResult<(&ListArray, &ListArray)> {
    let lists = array.as_struct_opt().and_then(|column| match column.columns() {
        [elements, bounds] => elements.as_list_opt::<i32>().zip(bounds.as_list_opt::<i32>()),
        _ => None,
    });
    lists.ok_or_else(|| PgError::internal(format!("an array was expected, not {}", array.data_type())))
}

/// The elements of all rows of a column of arrays.
///
/// # Errors
/// XX000 for a column of anything else.
pub fn elements_of(array: &dyn Array) -> PgResult<&ArrayRef> {
    Ok(parts(array)?.0.values())
}

impl ArrayColumn {
    /// Opens a column of arrays; XX000 for any other.
    pub fn open(array: &dyn Array) -> PgResult<ArrayColumn> {
        let (elements, bounds) = parts(array)?;
        let numbers = bounds.values().as_primitive_opt::<Int32Type>().ok_or_else(|| PgError::internal("bounds that are no integers"))?;
        let written = bounds.offsets().first() != bounds.offsets().last();
        Ok(ArrayColumn {
            offsets: elements.offsets().clone(),
            nulls: array.nulls().cloned(),
            elements: Arc::clone(elements.values()),
            bounds: written.then(|| (bounds.offsets().clone(), numbers.clone())),
        })
    }

    /// The elements of all rows.
    #[must_use]
    pub fn leaf(&self) -> &ArrayRef {
        &self.elements
    }

    /// The array in a row; `None` for NULL.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<ArrayValue> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let at = |offsets: &OffsetBuffer<i32>, i: usize| offsets.get(i).map_or(0, |offset| *offset as usize);
        let (start, end) = (at(&self.offsets, row), at(&self.offsets, row + 1));
        let mut shape = Shape::line(end - start);
        if let Some((offsets, numbers)) = &self.bounds {
            let bounds = numbers.values().get(at(offsets, row)..at(offsets, row + 1)).unwrap_or(&[]);
            for (dimension, pair) in bounds.chunks_exact(2).enumerate() {
                if let ([length, lower], Some(to), Some(from)) = (pair, shape.lengths.get_mut(dimension), shape.lowers.get_mut(dimension)) {
                    (*to, *from) = (*length as usize, *lower);
                    shape.ndim = dimension + 1;
                }
            }
        }
        Some(ArrayValue { shape, start, end })
    }
}

/// The same arrays with elements of another type, which a function over the column of all elements gives.
///
/// # Errors
/// Those of the function; XX000 for a column of anything else.
pub fn with_elements(array: &ArrayRef, change: impl FnOnce(&ArrayRef) -> PgResult<ArrayRef>) -> PgResult<ArrayRef> {
    let (elements, bounds) = parts(array.as_ref())?;
    // What lies before and behind the rows of a slice is not looked at.
    let first = elements.offsets().first().copied().unwrap_or(0);
    let last = elements.offsets().last().copied().unwrap_or(0);
    let used = elements.values().slice(first as usize, (last - first) as usize);
    let offsets = if first == 0 {
        elements.offsets().clone()
    } else {
        offset_buffer(elements.offsets().iter().map(|offset| offset - first).collect())
    };
    struct_of(change(&used)?, offsets, Arc::new(bounds.clone()), array.nulls().cloned())
}

fn offset_buffer(offsets: Vec<i32>) -> OffsetBuffer<i32> {
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

fn struct_of(elements: ArrayRef, offsets: OffsetBuffer<i32>, bounds: ArrayRef, nulls: Option<NullBuffer>) -> PgResult<ArrayRef> {
    let DataType::Struct(fields) = array_arrow(elements.data_type().clone()) else {
        return Err(PgError::internal("arrays are structs"));
    };
    let item = Arc::new(Field::new("item", elements.data_type().clone(), true));
    let elements = ListArray::try_new(item, offsets, elements, None)?;
    Ok(Arc::new(StructArray::try_new(fields, vec![Arc::new(elements), bounds], nulls)?))
}

/// Arrays of one dimension from lists. The lists of rows that are NULL are empty.
///
/// # Errors
/// XX000 for a column of anything else.
pub fn of_lists(lists: &dyn Array) -> PgResult<ArrayRef> {
    let lists = lists.as_list_opt::<i32>().ok_or_else(|| PgError::internal(format!("a list was expected, not {}", lists.data_type())))?;
    struct_of(Arc::clone(lists.values()), lists.offsets().clone(), no_bounds(lists.len())?, lists.nulls().cloned())
}

fn no_bounds(rows: usize) -> PgResult<ArrayRef> {
    bounds_column(vec![0; rows + 1], Vec::new())
}

fn bounds_column(offsets: Vec<i32>, numbers: Vec<i32>) -> PgResult<ArrayRef> {
    let DataType::List(item) = list_of(DataType::Int32) else { return Err(PgError::internal("a list without elements")) };
    let numbers = Arc::new(PrimitiveArray::<Int32Type>::from(numbers));
    Ok(Arc::new(ListArray::try_new(item, offset_buffer(offsets), numbers, None)?))
}

/// The array of one dimension that has these elements.
///
/// # Errors
/// XX000 for more elements than a column holds.
pub fn array_of_elements(elements: ArrayRef) -> PgResult<ScalarValue> {
    let length = i32::try_from(elements.len()).map_err(|_| too_large())?;
    scalar_of(&struct_of(elements, offset_buffer(vec![0, length]), no_bounds(1)?, None)?)
}

/// The array of one dimension of values of an Arrow type.
///
/// # Errors
/// XX000 if a value has another type.
pub fn array_of_values(values: Vec<ScalarValue>, item: &DataType) -> PgResult<ScalarValue> {
    let internal = |error: datafusion_common::DataFusionError| PgError::internal(error.to_string());
    let elements =
        if values.is_empty() { arrow::array::new_empty_array(item) } else { ScalarValue::iter_to_array(values).map_err(internal)? };
    array_of_elements(elements)
}

fn scalar_of(column: &ArrayRef) -> PgResult<ScalarValue> {
    Ok(ScalarValue::Struct(Arc::new(column.as_struct_opt().ok_or_else(|| PgError::internal("arrays are structs"))?.clone())))
}

/// The elements of an array, of all its dimensions; `None` of NULL.
///
/// # Errors
/// XX000 for any other value.
pub fn elements_of_value(value: &ScalarValue) -> PgResult<Option<ArrayRef>> {
    match value {
        ScalarValue::Struct(column) => {
            let column = ArrayColumn::open(column.as_ref())?;
            Ok(column.get(0).map(|value| column.leaf().slice(value.start, value.len())))
        }
        value if value.is_null() => Ok(None),
        other => Err(PgError::internal(format!("an array was expected, not {}", other.data_type()))),
    }
}

/// Puts a column of arrays together from ranges of columns of elements.
#[derive(Debug)]
pub struct ArrayAssembler<'a> {
    data: MutableArrayData<'a>,
    rows: Rows,
}

impl<'a> ArrayAssembler<'a> {
    /// An assembler over columns of elements of one type; NULL elements can be appended at any time.
    #[must_use]
    pub fn new(sources: &'a [ArrayData], rows: usize) -> Self {
        Self { data: MutableArrayData::new(sources.iter().collect(), true, rows), rows: Rows::new(rows) }
    }

    /// Appends elements `start..end` of a source to the current row.
    pub fn copy(&mut self, source: usize, start: usize, end: usize) -> PgResult<()> {
        if end > start {
            self.data.try_extend(source, start, end)?;
        }
        Ok(())
    }

    /// Appends NULL elements to the current row.
    pub fn copy_nulls(&mut self, count: usize) -> PgResult<()> {
        Ok(self.data.try_extend_nulls(count)?)
    }

    /// Ends a row, to which as many elements were appended as the shape has.
    pub fn end_row(&mut self, shape: Shape) -> PgResult<()> {
        self.rows.push(&shape)
    }

    /// Ends a row that is NULL.
    pub fn null_row(&mut self) {
        self.rows.push_null();
    }

    /// The column.
    pub fn finish(self) -> PgResult<ArrayRef> {
        self.rows.over(make_array(self.data.freeze()))
    }
}

/// The rows of a column of arrays that grows, without the elements.
#[derive(Debug)]
pub struct Rows {
    offsets: Vec<i32>,
    bounds: Vec<i32>,
    /// Where the bounds of each row end; none before the first that has some.
    bound_offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Rows {
    #[must_use]
    pub fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, bounds: Vec::new(), bound_offsets: Vec::new(), nulls: NullBufferBuilder::new(rows) }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.nulls.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a row whose elements have this shape.
    ///
    /// # Errors
    /// 54000 for more elements than a column holds.
    pub fn push(&mut self, shape: &Shape) -> PgResult<()> {
        let last = self.offsets.last().copied().unwrap_or(0);
        let next = i32::try_from(shape.elements()).ok().and_then(|count| last.checked_add(count)).ok_or_else(too_large)?;
        self.offsets.push(next);
        self.nulls.append_non_null();
        if !shape.is_plain() {
            // The rows before had none.
            self.bound_offsets.resize(self.nulls.len(), self.bounds.len() as i32);
            for (&length, &lower) in shape.lengths().iter().zip(shape.lowers()) {
                self.bounds.extend([length as i32, lower]);
            }
        }
        if !self.bounds.is_empty() {
            self.bound_offsets.push(self.bounds.len() as i32);
        }
        Ok(())
    }

    pub fn push_null(&mut self) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0));
        self.nulls.append_null();
        if !self.bounds.is_empty() {
            self.bound_offsets.push(self.bounds.len() as i32);
        }
    }

    /// The column of the rows so far over their elements.
    ///
    /// # Errors
    /// XX000 if these are not the rows' elements.
    pub fn over(mut self, elements: ArrayRef) -> PgResult<ArrayRef> {
        let rows = self.nulls.len();
        let bounds = if self.bounds.is_empty() { no_bounds(rows)? } else { bounds_column(self.bound_offsets, self.bounds)? };
        struct_of(elements, offset_buffer(self.offsets), bounds, self.nulls.finish())
    }
}
