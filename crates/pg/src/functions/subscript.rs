//! What SQL writes on arrays without a function's name: `ARRAY[…]`, `a[i]`, `a[l:u]`, and assignment to either.
//!
//! The binder picks a kernel by the shape of the expression; it casts subscripts to int4 and makes a slice of every subscript
//! once one of them is a slice, as PostgreSQL does (`a[2:3][2]` is `a[2:3][1:2]`).

use super::array::{ArrayArg, arg_type};
use crate::args::{Arg, Call, Int4, Kernel, Reader, arg};
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::values::array::{ArrayAssembler, ArrayValue, MAX_DIMENSIONS, Shape, dimensions};
use arrow::array::UInt64Array;
use arrow::compute::take;
use std::sync::Arc;

/// `ARRAY[…]`: the arguments are elements, or arrays of one dimension less than `call.ret`.
pub fn constructor_kernel() -> Kernel {
    Arc::new(|call, args| {
        let nested = call.arg_types.first().is_some_and(|ty| ty.ty.is_array());
        let depth = dimensions(call.ret);
        if !nested {
            let sources: Vec<_> = args.iter().map(|arg| arg.array.to_data()).collect();
            if sources.is_empty() {
                let none = arrow::array::new_empty_array(&crate::values::array::element_type(call.ret).arrow);
                let sources = [none.to_data()];
                let mut out = ArrayAssembler::new(&sources, depth, call.rows);
                for _ in 0..call.rows {
                    out.end_row(Shape::EMPTY)?;
                }
                return out.finish();
            }
            let shape = Shape::of(&[args.len()])?;
            let mut out = ArrayAssembler::new(&sources, depth, call.rows * args.len());
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
        let mut out = ArrayAssembler::new(&sources, depth, call.rows);
        for row in 0..call.rows {
            let mut inner: Option<Shape> = None;
            for (source, array) in arrays.iter().enumerate() {
                let value = array.get(row);
                let shape = value.map_or(Shape::EMPTY, |value| value.shape);
                if *inner.get_or_insert(shape) != shape {
                    return Err(PgError::new(
                        SqlState::ARRAY_SUBSCRIPT_ERROR,
                        "multidimensional arrays must have array expressions with matching dimensions",
                    ));
                }
                if let Some(value) = value {
                    out.copy(source, value.start, value.end)?;
                }
            }
            let inner = inner.unwrap_or_default();
            let mut lengths = Vec::with_capacity(MAX_DIMENSIONS);
            if inner.ndim() > 0 {
                lengths.push(arrays.len());
                lengths.extend_from_slice(inner.lengths());
            }
            out.end_row(Shape::of(&lengths)?)?;
        }
        out.finish()
    })
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
                    Some(indexes) => offset(&arrays, value, indexes.get(..subscripts.len()).unwrap_or(&[])).map(|at| at as u64),
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
        let element = crate::values::array::element_type(arg_type(call, last)?);
        let mut rows = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let value = match arrays.get(row) {
                Some(value) => value,
                None if null_is_empty => ArrayValue { shape: Shape::EMPTY, start: 0, end: 0 },
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
        return Err(PgError::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            format!("number of array dimensions ({}) exceeds the maximum allowed ({MAX_DIMENSIONS})", subscripts.len()),
        ));
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

/// Where in the leaf array the element with these subscripts is.
fn offset(arrays: &ArrayArg, value: ArrayValue, indexes: &[i32]) -> Option<usize> {
    if indexes.len() != value.shape.ndim() {
        return None;
    }
    let mut at = 0;
    for (&index, &length) in indexes.iter().zip(value.shape.lengths()) {
        let index = usize::try_from(i64::from(index) - i64::from(arrays.lower)).ok().filter(|index| *index < length)?;
        at = at * length + index;
    }
    Some(value.start + at)
}

/// `a[l:u][l:u]…`: for each dimension, whether the lower and the upper bound are written. Arguments are the array and the bounds that
/// are. NULL bounds give NULL, bounds outside are moved in, nothing inside gives the empty array.
pub fn slice_kernel(written: Vec<(bool, bool)>) -> Kernel {
    Arc::new(move |call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let bounds = Slices::open(&written, args, 1)?;
        let sources = [arrays.column.leaf().to_data()];
        let mut out = ArrayAssembler::new(&sources, arrays.column.depth(), call.rows);
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
            for (dimension, &length) in lengths.iter().enumerate() {
                let (lower, upper) = bounds.get(dimension).copied().unwrap_or((None, None));
                let clamp = |bound: i64| usize::try_from(bound - i64::from(arrays.lower)).unwrap_or(0).min(length);
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

fn below_lower_bound() -> PgError {
    PgError::unsupported("arrays whose lower bound is not 1 are not supported")
}

/// `SET a[i]… = x`: arguments are the array, the element, and one int4 a dimension. A NULL array is an empty one; a one-dimensional
/// array grows, with NULLs between, when the subscript is beyond its end.
pub fn assign_subscript_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let element = arg(args, 1)?;
        let subscripts = readers(args, 2)?;
        let sources = [arrays.column.leaf().to_data(), element.array.to_data()];
        let mut out = ArrayAssembler::new(&sources, arrays.column.depth(), call.rows);
        for row in 0..call.rows {
            let indexes = indexes(&subscripts, row)?.ok_or_else(null_subscript)?;
            let indexes = indexes.get(..subscripts.len()).unwrap_or(&[]);
            let value = arrays.get(row).unwrap_or(ArrayValue { shape: Shape::EMPTY, start: 0, end: 0 });
            let new = element.at(row);
            if value.shape.ndim() == 0 {
                // The first element decides the bounds: all of them must be the lowest.
                if indexes.iter().any(|index| *index != arrays.lower) {
                    return Err(below_lower_bound());
                }
                out.copy(1, new, new + 1)?;
                out.end_row(Shape::of(&vec![1; indexes.len()])?)?;
                continue;
            }
            if indexes.len() != value.shape.ndim() {
                return Err(subscript_error("wrong number of array subscripts"));
            }
            if let Some(at) = offset(&arrays, value, indexes) {
                out.copy(0, value.start, at)?;
                out.copy(1, new, new + 1)?;
                out.copy(0, at + 1, value.end)?;
                out.end_row(value.shape)?;
                continue;
            }
            let [index] = indexes else { return Err(subscript_error("array subscript out of range")) };
            let position = usize::try_from(i64::from(*index) - i64::from(arrays.lower)).map_err(|_| below_lower_bound())?;
            let shape = Shape::of(&[position + 1])?;
            out.copy(0, value.start, value.end)?;
            out.copy_nulls(position - value.len())?;
            out.copy(1, new, new + 1)?;
            out.end_row(shape)?;
        }
        out.finish()
    })
}

/// `SET a[l:u] = source` for one-dimensional arrays: arguments are the array, the source, and the bounds that are written. A NULL
/// source changes nothing.
pub fn assign_slice_kernel(written: Vec<(bool, bool)>) -> Kernel {
    Arc::new(move |call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let source = ArrayArg::open(call, args, 1)?;
        let bounds = Slices::open(&written, args, 2)?;
        if arrays.column.depth() != 1 || written.len() != 1 {
            return Err(PgError::unsupported(format!(
                "assignment to a slice of {} is supported for one dimension only",
                arg_type(call, 0)?
            )));
        }
        let sources = [arrays.column.leaf().to_data(), source.column.leaf().to_data()];
        let mut out = ArrayAssembler::new(&sources, 1, call.rows);
        for row in 0..call.rows {
            let bounds = bounds.get(row)?.ok_or_else(null_subscript)?;
            let old = arrays.get(row);
            let value = old.unwrap_or(ArrayValue { shape: Shape::EMPTY, start: 0, end: 0 });
            let Some(new) = source.get(row) else {
                if old.is_none() {
                    out.null_row();
                } else {
                    out.copy(0, value.start, value.end)?;
                    out.end_row(value.shape)?;
                }
                continue;
            };
            let bound = bounds.first().copied().unwrap_or((None, None));
            if value.is_empty() && (bound.0.is_none() || bound.1.is_none()) {
                return Err(subscript_error("array slice subscript must provide both boundaries")
                    .detail("When assigning to a slice of an empty array value, slice boundaries must be fully specified."));
            }
            let last = i64::from(arrays.lower) + value.len() as i64 - 1;
            let (lower, upper) = (bound.0.map_or(i64::from(arrays.lower), i64::from), bound.1.map_or(last, i64::from));
            if lower > upper {
                return Err(subscript_error("upper bound cannot be less than lower bound"));
            }
            let from = usize::try_from(lower - i64::from(arrays.lower)).map_err(|_| below_lower_bound())?;
            if value.is_empty() && from > 0 {
                return Err(below_lower_bound());
            }
            let count = usize::try_from(upper - lower + 1).map_err(|_| crate::values::array::too_large())?;
            if new.len() < count {
                return Err(subscript_error("source array too small"));
            }
            let shape = Shape::of(&[value.len().max(from + count)])?;
            out.copy(0, value.start, value.start + from.min(value.len()))?;
            out.copy_nulls(from.saturating_sub(value.len()))?;
            out.copy(1, new.start, new.start + count)?;
            out.copy(0, (value.start + from + count).min(value.end), value.end)?;
            out.end_row(shape)?;
        }
        out.finish()
    })
}
