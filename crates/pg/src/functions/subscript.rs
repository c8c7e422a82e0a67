//! What SQL writes on arrays without a function's name: `ARRAY[…]`, `a[i]`, `a[l:u]`, and assignment to either.
//!
//! The binder picks a kernel by the shape of the expression; it casts subscripts to int4 and makes a slice of every subscript
//! once one of them is a slice, as PostgreSQL does (`a[2:3][2]` is `a[2:3][1:2]`).

use super::array::{ArrayArg, arg_type};
use crate::args::{Arg, Call, Int4, Kernel, Reader, arg};
use crate::error::{PgError, PgResult};
use crate::memory::process;
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::array::{ArrayAssembler, ArrayValue, MAX_DIMENSIONS, Shape, element_type, too_large, too_many_dimensions};
use arrow::array::UInt64Array;
use arrow::compute::take;
use std::sync::Arc;

/// `ARRAY[…]`: the arguments are elements, or arrays, which become one array of a dimension more.
pub fn constructor_kernel() -> Kernel {
    Arc::new(|call, args| {
        // The arrays of a vector's type are elements; of one array type there is no array but the type itself.
        let nested = call.arg_types.first().is_some_and(|ty| matches!(ty.ty, PgType::Array(_)));
        if !nested {
            let none = arrow::array::new_empty_array(&element_type(call.ret).arrow);
            let mut sources: Vec<_> = args.iter().map(|arg| arg.array.to_data()).collect();
            if sources.is_empty() {
                sources.push(none.to_data());
            }
            let shape = Shape::of(&[args.len()])?;
            let mut out = ArrayAssembler::new(&sources, call.rows * args.len());
            for row in 0..call.rows {
                for (source, arg) in args.iter().enumerate() {
                    out.copy(source, arg.at(row), arg.at(row) + 1)?;
                }
                out.end_row(shape)?;
            }
            return out.finish();
        }
        let arrays = (0..args.len()).map(|i| ArrayArg::open(call, args, i)).collect::<PgResult<Vec<_>>>()?;
        let sources: Vec<_> = arrays.iter().map(|array| array.column.leaf().to_data()).collect();
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let mut inner: Option<Shape> = None;
            for (source, array) in arrays.iter().enumerate() {
                let value = array.get(row).unwrap_or(ArrayValue::EMPTY);
                if *inner.get_or_insert(value.shape) != value.shape {
                    return Err(subscript_error("multidimensional arrays must have array expressions with matching dimensions"));
                }
                out.copy(source, value.start, value.end)?;
            }
            out.end_row(one_deeper(arrays.len(), &inner.unwrap_or_default())?)?;
        }
        out.finish()
    })
}

/// The shape of so many arrays of one shape in an array of a dimension more; empty ones leave nothing.
///
/// # Errors
/// 54000 for more than six dimensions.
pub fn one_deeper(count: usize, inner: &Shape) -> PgResult<Shape> {
    if inner.ndim() == 0 {
        return Ok(Shape::EMPTY);
    }
    let mut lengths = vec![count];
    lengths.extend_from_slice(inner.lengths());
    let mut lowers = vec![1];
    lowers.extend_from_slice(inner.lowers());
    Shape::bounded(&lengths, &lowers)
}

/// `a[i][j]…`: arguments are the array and one int4 a dimension. NULL when a subscript is out of bounds or NULL, or when their
/// number is not that of the dimensions.
pub fn subscript_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let subscripts = readers(args, 1)?;
        let mut at = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            at.push(match arrays.get(row) {
                Some(value) => match indexes(&subscripts, row)? {
                    Some(indexes) => offset(value, indexes.get(..subscripts.len()).unwrap_or(&[])).map(|at| at as u64),
                    None => None,
                },
                None => None,
            });
        }
        Ok(take(arrays.column.leaf().as_ref(), &UInt64Array::from(at), None)?)
    })
}

/// A function of varying arguments, called with an array of them as its last argument. A NULL array gives NULL, or is an empty one.
pub fn spread_kernel(inner: Kernel, null_is_empty: bool) -> Kernel {
    Arc::new(move |call, args| {
        let last = args.len().saturating_sub(1);
        let arrays = ArrayArg::open(call, args, last)?;
        let element = element_type(arg_type(call, last)?);
        let mut rows = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let value = match arrays.get(row) {
                Some(value) => value,
                None if null_is_empty => ArrayValue::EMPTY,
                None => {
                    rows.push(arrow::array::new_null_array(&call.ret.arrow, 1));
                    continue;
                }
            };
            let leading = args.iter().take(last).map(|a| Arg { array: a.array.slice(a.at(row), 1), constant: true });
            let varying = (value.start..value.end).map(|at| Arg { array: arrays.column.leaf().slice(at, 1), constant: true });
            let all: Vec<Arg> = leading.chain(varying).collect();
            let arg_types: Vec<_> =
                call.arg_types.iter().take(last).cloned().chain((value.start..value.end).map(|_| element.clone())).collect();
            let one = Call { ctx: call.ctx, rows: 1, arg_types: &arg_types, ret: call.ret, explicit: call.explicit };
            rows.push(inner(&one, &all)?);
        }
        if rows.is_empty() {
            return Ok(arrow::array::new_empty_array(&call.ret.arrow));
        }
        let rows: Vec<&dyn arrow::array::Array> = rows.iter().map(AsRef::as_ref).collect();
        Ok(arrow::compute::concat(&rows)?)
    })
}

fn readers(args: &[Arg], from: usize) -> PgResult<Vec<Reader<'_, Int4>>> {
    let subscripts = args.get(from..).unwrap_or(&[]);
    if subscripts.len() > MAX_DIMENSIONS {
        return Err(too_many_dimensions(subscripts.len()));
    }
    subscripts.iter().map(Reader::new).collect()
}

/// The subscripts of a row; `None` if one is NULL.
fn indexes(subscripts: &[Reader<Int4>], row: usize) -> PgResult<Option<[i32; MAX_DIMENSIONS]>> {
    let mut indexes = [0; MAX_DIMENSIONS];
    for (slot, subscript) in indexes.iter_mut().zip(subscripts) {
        match subscript.get(row)? {
            Some(index) => *slot = index,
            None => return Ok(None),
        }
    }
    Ok(Some(indexes))
}

/// Where in the column of elements the element with these subscripts is.
fn offset(value: ArrayValue, indexes: &[i32]) -> Option<usize> {
    if indexes.len() != value.shape.ndim() {
        return None;
    }
    let mut at = 0;
    for ((&index, &length), &lower) in indexes.iter().zip(value.shape.lengths()).zip(value.shape.lowers()) {
        let index = usize::try_from(i64::from(index) - i64::from(lower)).ok().filter(|index| *index < length)?;
        at = at * length + index;
    }
    Some(value.start + at)
}

/// `a[l:u][l:u]…`: for each dimension, whether the lower and the upper bound are written. Arguments are the array and the bounds that
/// are. NULL bounds give NULL, bounds outside are moved in, nothing inside gives the empty array. What is cut out begins at 1.
pub fn slice_kernel(written: Vec<(bool, bool)>) -> Kernel {
    Arc::new(move |call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let bounds = Slices::open(&written, args, 1)?;
        let sources = [arrays.column.leaf().to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let (Some(value), Some(bounds)) = (arrays.get(row), bounds.get(row)?) else {
                out.null_row();
                continue;
            };
            let lengths = value.shape.lengths();
            if written.len() > lengths.len() {
                out.end_row(Shape::EMPTY)?;
                continue;
            }
            // The part of each dimension that stays, as positions from 0.
            let mut ranges = [(0usize, 0usize); MAX_DIMENSIONS];
            let mut kept = [0usize; MAX_DIMENSIONS];
            for (dimension, (&length, &first)) in lengths.iter().zip(value.shape.lowers()).enumerate() {
                let (lower, upper) = bounds.get(dimension).copied().unwrap_or((None, None));
                let clamp = |bound: i64| usize::try_from(bound - i64::from(first)).unwrap_or(0).min(length);
                let from = lower.map_or(0, |lower| clamp(i64::from(lower)));
                let to = upper.map_or(length, |upper| clamp(i64::from(upper) + 1));
                if let (Some(range), Some(slot)) = (ranges.get_mut(dimension), kept.get_mut(dimension)) {
                    *range = (from, to.max(from));
                    *slot = to.max(from) - from;
                }
            }
            let shape = Shape::of(kept.get(..lengths.len()).unwrap_or(&[]))?;
            if shape.ndim() > 0 {
                copy_part(&mut out, lengths, &ranges, value.start)?;
            }
            out.end_row(shape)?;
        }
        out.finish()
    })
}

/// Copies the elements within ranges of positions, row-major, from a part of an array that begins at `start`.
fn copy_part(out: &mut ArrayAssembler, lengths: &[usize], ranges: &[(usize, usize)], start: usize) -> PgResult<()> {
    let Some((&(from, to), inner_ranges)) = ranges.split_first() else { return Ok(()) };
    let inner = lengths.get(1..).unwrap_or(&[]);
    if inner.is_empty() {
        return out.copy(0, start + from, start + to);
    }
    let stride: usize = inner.iter().product();
    for position in from..to {
        copy_part(out, inner, inner_ranges, start + position * stride)?;
    }
    Ok(())
}

/// Lower and upper bound of a dimension, where they are written.
type Bounds<T> = (Option<T>, Option<T>);

/// The bounds of slices, which may be left out.
struct Slices<'a> {
    readers: Vec<Bounds<Reader<'a, Int4>>>,
}

impl<'a> Slices<'a> {
    fn open(written: &[(bool, bool)], args: &'a [Arg], first: usize) -> PgResult<Self> {
        let mut next = first;
        let mut bound = |is_written: bool| {
            if !is_written {
                return Ok(None);
            }
            next += 1;
            Reader::<Int4>::new(arg(args, next - 1)?).map(Some)
        };
        let mut readers = Vec::with_capacity(written.len());
        for &(lower, upper) in written {
            readers.push((bound(lower)?, bound(upper)?));
        }
        Ok(Self { readers })
    }

    /// The bounds in a row, `None` inside for those left out; `None` for all if a written one is NULL.
    fn get(&self, row: usize) -> PgResult<Option<Vec<Bounds<i32>>>> {
        let mut bounds = Vec::with_capacity(self.readers.len());
        for (lower, upper) in &self.readers {
            let mut pair = (None, None);
            for (reader, slot) in [(lower, &mut pair.0), (upper, &mut pair.1)] {
                if let Some(reader) = reader {
                    match reader.get(row)? {
                        Some(bound) => *slot = Some(bound),
                        None => return Ok(None),
                    }
                }
            }
            bounds.push(pair);
        }
        Ok(Some(bounds))
    }
}

fn subscript_error(message: &str) -> PgError {
    PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn null_subscript() -> PgError {
    PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "array subscript in assignment must not be null")
}

/// The length of a dimension from one bound to another.
fn span(lower: i32, upper: i32) -> PgResult<usize> {
    let length = i64::from(upper) - i64::from(lower) + 1;
    i32::try_from(length).ok().and_then(|length| usize::try_from(length).ok()).ok_or_else(too_large)
}

/// `SET a[i]… = x`: arguments are the array, the element, and one int4 a dimension. A NULL array is an empty one, and an empty one gets the
/// subscripts as its bounds; a one-dimensional array grows to a subscript outside, with NULLs between.
pub fn assign_subscript_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let element = arg(args, 1)?;
        let subscripts = readers(args, 2)?;
        let sources = [arrays.column.leaf().to_data(), element.array.to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let indexes = indexes(&subscripts, row)?.ok_or_else(null_subscript)?;
            let indexes = indexes.get(..subscripts.len()).unwrap_or(&[]);
            let value = arrays.get(row).unwrap_or(ArrayValue::EMPTY);
            let new = element.at(row);
            if value.shape.ndim() == 0 {
                let shape = Shape::bounded(&vec![1; indexes.len()], indexes)?;
                out.copy(1, new, new + 1)?;
                out.end_row(shape)?;
                continue;
            }
            if indexes.len() != value.shape.ndim() {
                return Err(subscript_error("wrong number of array subscripts"));
            }
            if let Some(at) = offset(value, indexes) {
                out.copy(0, value.start, at)?;
                out.copy(1, new, new + 1)?;
                out.copy(0, at + 1, value.end)?;
                out.end_row(value.shape)?;
                continue;
            }
            let (&[index], Some((lower, upper))) = (indexes, value.shape.bounds().next()) else {
                return Err(subscript_error("array subscript out of range"));
            };
            grow(&mut out, value, (lower, upper), (index, index), (new, new + 1))?;
        }
        out.finish()
    })
}

/// A one-dimensional array with given bounds, in which another range of subscripts has values of the second source, and those between are
/// NULL. `new` is where they lie there.
fn grow(
    out: &mut ArrayAssembler,
    old: ArrayValue,
    (first, last): (i32, i32),
    (lower, upper): (i32, i32),
    new: (usize, usize),
) -> PgResult<()> {
    let shape = Shape::bounded(&[span(first.min(lower), last.max(upper))?], &[first.min(lower)])?;
    // A gap of NULLs may be long: it is asked for before it is made.
    process().claim((shape.elements() - old.len()).saturating_mul(16))?;
    // How many of the old elements stand before a subscript.
    let before = |subscript: i64| usize::try_from(subscript - i64::from(first)).unwrap_or(0).min(old.len());
    let (head, tail) = (before(i64::from(lower)), before(i64::from(upper) + 1));
    out.copy(0, old.start, old.start + head)?;
    if lower > last {
        out.copy_nulls(span(last, lower)?.saturating_sub(2))?;
    }
    out.copy(1, new.0, new.1)?;
    if upper < first {
        out.copy_nulls(span(upper, first)?.saturating_sub(2))?;
    }
    out.copy(0, old.start + tail, old.end)?;
    out.end_row(shape)
}

/// `SET a[l:u]… = source`: arguments are the array, the source, and the bounds that are written. The elements of the source are taken in
/// their order, whatever its shape. A NULL source changes nothing, a NULL array is an empty one, and an empty one gets the slice's bounds;
/// a one-dimensional array grows to a slice outside, with NULLs between.
pub fn assign_slice_kernel(written: Vec<(bool, bool)>) -> Kernel {
    Arc::new(move |call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let source = ArrayArg::open(call, args, 1)?;
        let bounds = Slices::open(&written, args, 2)?;
        if written.len() > MAX_DIMENSIONS {
            return Err(too_many_dimensions(written.len()));
        }
        let sources = [arrays.column.leaf().to_data(), source.column.leaf().to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let bounds = bounds.get(row)?.ok_or_else(null_subscript)?;
            let value = arrays.get(row).unwrap_or(ArrayValue::EMPTY);
            let Some(new) = source.get(row) else {
                out.copy(0, value.start, value.end)?;
                out.end_row(value.shape)?;
                continue;
            };
            let enough = |wanted: usize| if wanted > new.len() { Err(subscript_error("source array too small")) } else { Ok(()) };
            if value.shape.ndim() == 0 {
                if bounds.iter().any(|(lower, upper)| lower.is_none() || upper.is_none()) {
                    return Err(subscript_error("array slice subscript must provide both boundaries")
                        .detail("When assigning to a slice of an empty array value, slice boundaries must be fully specified."));
                }
                let bounds: Vec<(i32, i32)> = bounds.iter().filter_map(|(lower, upper)| lower.zip(*upper)).collect();
                let lengths = bounds.iter().map(|(lower, upper)| span(*lower, *upper)).collect::<PgResult<Vec<_>>>()?;
                let lowers: Vec<i32> = bounds.iter().map(|(lower, _)| *lower).collect();
                let shape = Shape::bounded(&lengths, &lowers)?;
                enough(shape.elements())?;
                out.copy(1, new.start, new.start + shape.elements())?;
                out.end_row(shape)?;
                continue;
            }
            if bounds.len() > value.shape.ndim() {
                return Err(subscript_error("wrong number of array subscripts"));
            }
            // First and last subscript of the slice in each dimension.
            let mut slice = Vec::with_capacity(MAX_DIMENSIONS);
            for (dimension, (first, last)) in value.shape.bounds().enumerate() {
                let (lower, upper) = bounds.get(dimension).copied().unwrap_or((None, None));
                let (lower, upper) = (lower.unwrap_or(first), upper.unwrap_or(last));
                if lower > upper {
                    return Err(subscript_error("upper bound cannot be less than lower bound"));
                }
                if value.shape.ndim() > 1 && (lower < first || upper > last) {
                    return Err(subscript_error("array subscript out of range"));
                }
                slice.push((lower, upper));
            }
            if let (&[(lower, upper)], Some(old)) = (slice.as_slice(), value.shape.bounds().next()) {
                let count = span(lower, upper)?;
                Shape::bounded(&[span(old.0.min(lower), old.1.max(upper))?], &[old.0.min(lower)])?;
                enough(count)?;
                grow(&mut out, value, old, (lower, upper), (new.start, new.start + count))?;
                continue;
            }
            let ranges: Vec<(usize, usize)> = slice
                .iter()
                .zip(value.shape.lowers())
                .map(|((lower, upper), first)| ((lower - first) as usize, (upper - first) as usize + 1))
                .collect();
            enough(ranges.iter().map(|(from, to)| to - from).product())?;
            overwrite(&mut out, value.shape.lengths(), &ranges, value.start, &mut { new.start })?;
            out.end_row(value.shape)?;
        }
        out.finish()
    })
}

/// Copies a part of the first source that begins at `start`, but for the elements within ranges of positions: these are the next ones of the
/// second source.
fn overwrite(out: &mut ArrayAssembler, lengths: &[usize], ranges: &[(usize, usize)], start: usize, next: &mut usize) -> PgResult<()> {
    let (Some((&length, inner)), Some((&(from, to), inner_ranges))) = (lengths.split_first(), ranges.split_first()) else { return Ok(()) };
    let stride: usize = inner.iter().product();
    out.copy(0, start, start + from * stride)?;
    if inner.is_empty() {
        out.copy(1, *next, *next + (to - from))?;
        *next += to - from;
    } else {
        for position in from..to {
            overwrite(out, inner, inner_ranges, start + position * stride, next)?;
        }
    }
    out.copy(0, start + to * stride, start + length * stride)
}
