//! Functions of arrays: shape, growth, search, conversion from and to text.
//!
//! All are polymorphic: the element type is found in `Call::arg_types`, the elements move as ranges of leaf arrays. Subscripts,
//! slices and constructors, which SQL writes without a function's name, are in [`super::subscript`].

use crate::args::{Arg, Bool, Call, Int4, Kernel, Kind, Reader, Text, arg};
use crate::error::{PgError, PgResult};
use crate::memory::{SMALL_BYTES, process};
use crate::registry::{Func, Registry, RowSource, SetKernel};
use crate::sqlstate::SqlState;
use crate::types::{PgType, RecordType, SqlType};
use crate::values::array::text::write_bounds;
use crate::values::array::{ArrayAssembler, ArrayColumn, ArrayValue, MAX_DIMENSIONS, Shape, element_type, too_large, too_many_dimensions};
use crate::values::element_order::ElementOrder;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, StringViewBuilder};
use arrow::datatypes::Int32Type;
use std::cmp::Ordering;
use std::sync::Arc;

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{AnyArray, AnyCompatible, AnyCompatibleArray, AnyElement, Bool as Boolean, Int4 as Int};
    let text = || PgType::Text;
    let ints = || Int.array_of();

    r.scalar(
        "array_length",
        &[AnyArray, Int],
        Int,
        of_dimension(|shape, n| shape.lengths().get(n).map(|l| *l as i32)),
        "length of a dimension",
    );
    r.scalar(
        "array_lower",
        &[AnyArray, Int],
        Int,
        of_dimension(|shape, n| shape.bounds().nth(n).map(|(lower, _)| lower)),
        "lower bound of a dimension",
    );
    r.scalar(
        "array_upper",
        &[AnyArray, Int],
        Int,
        of_dimension(|shape, n| shape.bounds().nth(n).map(|(_, upper)| upper)),
        "upper bound of a dimension",
    );
    let ndims = of_shape::<Int4>(|shape| Some(shape.ndim() as i32).filter(|n| *n > 0));
    r.scalar("array_ndims", &[AnyArray], Int, ndims, "number of dimensions");
    r.scalar("cardinality", &[AnyArray], Int, of_shape::<Int4>(|shape| Some(shape.elements() as i32)), "number of elements");
    r.scalar("array_dims", &[AnyArray], text(), of_shape::<Text>(dimensions_text), "the bounds of all dimensions as text");

    r.add(
        Func::scalar(
            "array_append",
            &[AnyCompatibleArray, AnyCompatible],
            AnyCompatibleArray,
            append_kernel(),
            "add an element at the end",
        )
        .lax(),
    );
    r.add(
        Func::scalar(
            "array_prepend",
            &[AnyCompatible, AnyCompatibleArray],
            AnyCompatibleArray,
            prepend_kernel(),
            "add an element in front",
        )
        .lax(),
    );
    r.add(
        Func::scalar("array_cat", &[AnyCompatibleArray, AnyCompatibleArray], AnyCompatibleArray, cat_kernel(), "concatenate two arrays")
            .lax(),
    );
    let position = "index of the first element equal to a value";
    r.add(Func::scalar("array_position", &[AnyCompatibleArray, AnyCompatible], Int, position_kernel(), position).lax());
    r.add(Func::scalar("array_position", &[AnyCompatibleArray, AnyCompatible, Int], Int, position_kernel(), position).lax());
    r.add(
        Func::scalar(
            "array_positions",
            &[AnyCompatibleArray, AnyCompatible],
            ints(),
            positions_kernel(),
            "indexes of all elements equal to a value",
        )
        .lax(),
    );
    r.add(
        Func::scalar(
            "array_remove",
            &[AnyCompatibleArray, AnyCompatible],
            AnyCompatibleArray,
            remove_kernel(),
            "remove all elements equal to a value",
        )
        .lax(),
    );
    r.add(
        Func::scalar(
            "array_replace",
            &[AnyCompatibleArray, AnyCompatible, AnyCompatible],
            AnyCompatibleArray,
            replace_kernel(),
            "replace all elements equal to a value",
        )
        .lax(),
    );
    r.add(Func::scalar("array_fill", &[AnyElement, ints()], AnyArray, fill_kernel(), "an array filled with a value").lax());
    r.add(Func::scalar("array_fill", &[AnyElement, ints(), ints()], AnyArray, fill_kernel(), "an array filled with a value").lax());
    r.scalar("trim_array", &[AnyArray, Int], AnyArray, trim_kernel(), "remove the last n elements");

    r.add(Func::scalar("array_to_string", &[AnyArray, text()], text(), to_string_kernel(), "elements as text, with a delimiter").stable());
    r.add(
        Func::scalar("array_to_string", &[AnyArray, text(), text()], text(), to_string_kernel(), "elements as text, with a delimiter")
            .stable()
            .lax(),
    );
    r.add(
        Func::scalar("string_to_array", &[text(), text()], text().array_of(), from_string_kernel(), "split a string at a delimiter").lax(),
    );
    r.add(
        Func::scalar(
            "string_to_array",
            &[text(), text(), text()],
            text().array_of(),
            from_string_kernel(),
            "split a string at a delimiter",
        )
        .lax(),
    );

    // What drivers ask the columns of keys by: vectors of catalogs, and parts of them.
    let arrays = [PgType::Int2, PgType::Int4, PgType::Oid, PgType::Text].map(|element| (element.clone().array_of(), element));
    for (vector, element) in [(PgType::Int2Vector, PgType::Int2), (PgType::OidVector, PgType::Oid)].into_iter().chain(arrays) {
        let fields = [("x", element.clone()), ("n", PgType::Int4)];
        let record = RecordType { fields: fields.iter().map(|(name, ty)| ((*name).to_owned(), SqlType::new(ty.clone()))).collect() };
        let ret = PgType::Record(Some(Arc::new(record)));
        r.add(Func::set("_pg_expandarray", &[vector], fields.to_vec(), ret, expand(), "the elements of a vector with their numbers"));
    }
    r.add(Func::set("unnest", &[AnyArray], vec![("", AnyElement)], AnyElement, unnest(), "the elements of an array as rows"));
    let subscripts = "the valid subscripts of a dimension as rows";
    r.add(Func::set("generate_subscripts", &[AnyArray, Int], vec![("", Int)], Int, generate_subscripts(), subscripts));
    r.add(Func::set("generate_subscripts", &[AnyArray, Int, Boolean], vec![("", Int)], Int, generate_subscripts(), subscripts));
}

/// An argument that is an array.
pub(crate) struct ArrayArg<'a> {
    pub(crate) column: ArrayColumn,
    pub(crate) element: SqlType,
    arg: &'a Arg,
}

impl<'a> ArrayArg<'a> {
    /// The argument at `index`.
    pub(crate) fn open(call: &Call, args: &'a [Arg], index: usize) -> PgResult<Self> {
        let arg = arg(args, index)?;
        let ty = arg_type(call, index)?;
        Ok(Self { column: ArrayColumn::open(&arg.array)?, element: element_type(ty), arg })
    }

    /// The value in a row of the batch.
    pub(crate) fn get(&self, row: usize) -> Option<ArrayValue> {
        self.column.get(self.arg.at(row))
    }
}

pub(crate) fn arg_type<'a>(call: &'a Call, index: usize) -> PgResult<&'a SqlType> {
    call.arg_types.get(index).ok_or_else(|| PgError::internal("a kernel was given too few argument types"))
}

fn subscript_error(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn null_not_allowed(message: &str) -> PgError {
    PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message)
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Shape

fn of_shape<R: Kind>(f: impl Fn(&Shape) -> Option<R::Out> + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let mut out = R::builder(call.rows);
        for row in 0..call.rows {
            R::push(&mut out, arrays.get(row).and_then(|value| f(&value.shape)))?;
        }
        R::finish(out, call.ret)
    })
}

/// `f` gets the shape and a dimension counted from 0.
fn of_dimension(f: impl Fn(&Shape, usize) -> Option<i32> + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let number = Reader::<Int4>::new(arg(args, 1)?)?;
        let mut out = Int4::builder(call.rows);
        for row in 0..call.rows {
            let value = match (arrays.get(row), number.get(row)?) {
                (Some(value), Some(n)) => usize::try_from(n).ok().and_then(|n| n.checked_sub(1)).and_then(|n| f(&value.shape, n)),
                _ => None,
            };
            Int4::push(&mut out, value)?;
        }
        Int4::finish(out, call.ret)
    })
}

fn dimensions_text(shape: &Shape) -> Option<String> {
    let mut text = Vec::new();
    write_bounds(shape, &mut text);
    String::from_utf8(text).ok().filter(|text| !text.is_empty())
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Growth

/// `array || element`; NULL arrays are empty ones. The lower bound stays.
pub fn append_kernel() -> Kernel {
    add_element(0, 1, |assembler, value, element| {
        // The subscript of the new element.
        value.shape.first_lower().checked_add(value.len() as i32).ok_or_else(out_of_range)?;
        assembler.copy(0, value.start, value.end)?;
        assembler.copy(1, element, element + 1)
    })
}

/// `element || array`; NULL arrays are empty ones. The lower bound stays.
pub fn prepend_kernel() -> Kernel {
    add_element(1, 0, |assembler, value, element| {
        if !value.is_empty() {
            value.shape.first_lower().checked_sub(1).ok_or_else(out_of_range)?;
        }
        assembler.copy(1, element, element + 1)?;
        assembler.copy(0, value.start, value.end)
    })
}

fn out_of_range() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range")
}

fn add_element(
    array: usize,
    element: usize,
    place: impl Fn(&mut ArrayAssembler, ArrayValue, usize) -> PgResult<()> + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call, args| {
        let arrays = ArrayArg::open(call, args, array)?;
        let elements = arg(args, element)?;
        let sources = [arrays.column.leaf().to_data(), elements.array.to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let value = arrays.get(row).unwrap_or(ArrayValue::EMPTY);
            if value.shape.ndim() > 1 {
                return Err(PgError::new(SqlState::DATA_EXCEPTION, "argument must be empty or one-dimensional array"));
            }
            place(&mut out, value, elements.at(row))?;
            out.end_row(Shape::bounded(&[value.len() + 1], &[value.shape.first_lower()])?)?;
        }
        out.finish()
    })
}

/// `array || array`: of equal dimensions, or one of them an element of arrays like the other.
pub fn cat_kernel() -> Kernel {
    Arc::new(|call, args| {
        let left = ArrayArg::open(call, args, 0)?;
        let right = ArrayArg::open(call, args, 1)?;
        let sources = [left.column.leaf().to_data(), right.column.leaf().to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let (a, b) = match (left.get(row), right.get(row)) {
                (None, None) => {
                    out.null_row();
                    continue;
                }
                (a, b) => (a, b),
            };
            for (source, value) in [(0, a), (1, b)] {
                if let Some(value) = value {
                    out.copy(source, value.start, value.end)?;
                }
            }
            let shape = |value: Option<ArrayValue>| value.map_or(Shape::EMPTY, |value| value.shape);
            out.end_row(cat_shape(shape(a), shape(b))?)?;
        }
        out.finish()
    })
}

fn cat_shape(a: Shape, b: Shape) -> PgResult<Shape> {
    let incompatible = |detail: String| Err(subscript_error("cannot concatenate incompatible arrays").detail(detail));
    if a.ndim() == 0 {
        return Ok(b);
    }
    if b.ndim() == 0 {
        return Ok(a);
    }
    // The outer dimensions are those of the array that the other is added to; what is inside must be alike, bounds included.
    let inside = |shape: &Shape, skipped: usize| {
        let lengths = shape.lengths().get(skipped..).unwrap_or(&[]);
        lengths.iter().copied().zip(shape.lowers().get(skipped..).unwrap_or(&[]).iter().copied()).collect::<Vec<_>>()
    };
    let (outer, alike, added) = match a.ndim().cmp(&b.ndim()) {
        Ordering::Equal => (&a, inside(&a, 1) == inside(&b, 1), b.lengths().first().copied().unwrap_or(0)),
        Ordering::Greater if a.ndim() == b.ndim() + 1 => (&a, inside(&a, 1) == inside(&b, 0), 1),
        Ordering::Less if b.ndim() == a.ndim() + 1 => (&b, inside(&a, 0) == inside(&b, 1), 1),
        _ => {
            return incompatible(format!("Arrays of {} and {} dimensions are not compatible for concatenation.", a.ndim(), b.ndim()));
        }
    };
    if !alike {
        let what = if a.ndim() == b.ndim() { "differing element dimensions" } else { "differing dimensions" };
        return incompatible(format!("Arrays with {what} are not compatible for concatenation."));
    }
    let mut lengths = outer.lengths().to_vec();
    if let Some(first) = lengths.first_mut() {
        *first += added;
    }
    Shape::bounded(&lengths, outer.lowers())
}

fn fill_kernel() -> Kernel {
    Arc::new(|call, args| {
        let value = arg(args, 0)?;
        let lengths = ArrayArg::open(call, args, 1)?;
        let bounds = if args.len() > 2 { Some(ArrayArg::open(call, args, 2)?) } else { None };
        let sources = [value.array.to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let missing = || null_not_allowed("dimension array or low bound array cannot be null");
            if let Some(bounds) = &bounds {
                bounds.get(row).ok_or_else(missing)?;
            }
            let lengths = dimension_values(&lengths, lengths.get(row).ok_or_else(missing)?)?;
            if lengths.len() > MAX_DIMENSIONS {
                return Err(too_many_dimensions(lengths.len()));
            }
            let lowers = match &bounds {
                Some(bounds) => dimension_values(bounds, bounds.get(row).ok_or_else(missing)?)?,
                None => vec![1; lengths.len()],
            };
            if lowers.len() != lengths.len() {
                return Err(
                    subscript_error("wrong number of array subscripts").detail("Low bound array has different size than dimensions array.")
                );
            }
            let mut sizes = Vec::with_capacity(lengths.len());
            for length in lengths {
                sizes.push(usize::try_from(length).map_err(|_| too_large())?);
            }
            let shape = Shape::bounded(&sizes, &lowers)?;
            // An element of a number, with what its place in the array takes while it grows.
            process().claim(shape.elements().saturating_mul(16))?;
            let at = value.at(row);
            if value.array.is_null(at) {
                out.copy_nulls(shape.elements())?;
            } else {
                for _ in 0..shape.elements() {
                    out.copy(0, at, at + 1)?;
                }
            }
            out.end_row(shape)?;
        }
        out.finish()
    })
}

/// The integers of a one-dimensional array without NULLs.
fn dimension_values(arrays: &ArrayArg, value: ArrayValue) -> PgResult<Vec<i32>> {
    if value.shape.ndim() > 1 {
        return Err(subscript_error("wrong number of array subscripts").detail("Dimension array must be one dimensional."));
    }
    let leaf = arrays.column.leaf().as_primitive_opt::<Int32Type>().ok_or_else(|| PgError::internal("dimensions must be integers"))?;
    if (value.start..value.end).any(|at| leaf.is_null(at)) {
        return Err(null_not_allowed("dimension values cannot be null"));
    }
    Ok(leaf.values().get(value.start..value.end).unwrap_or(&[]).to_vec())
}

fn trim_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let count = Reader::<Int4>::new(arg(args, 1)?)?;
        let sources = [arrays.column.leaf().to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let (Some(value), Some(count)) = (arrays.get(row), count.get(row)?) else {
                out.null_row();
                continue;
            };
            let length = value.shape.lengths().first().copied().unwrap_or(0);
            let kept = usize::try_from(count)
                .ok()
                .and_then(|count| length.checked_sub(count))
                .ok_or_else(|| subscript_error(format!("number of elements to trim must be between 0 and {length}")))?;
            let mut lengths = value.shape.lengths().to_vec();
            if let Some(first) = lengths.first_mut() {
                *first = kept;
            }
            let shape = Shape::of(&lengths)?;
            out.copy(0, value.start, value.start + shape.elements())?;
            out.end_row(shape)?;
        }
        out.finish()
    })
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Search

fn searching_is_one_dimensional(value: ArrayValue) -> PgResult<()> {
    if value.shape.ndim() > 1 {
        return Err(PgError::unsupported("searching for elements in multidimensional arrays is not supported"));
    }
    Ok(())
}

fn position_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let wanted = arg(args, 1)?;
        let start = if args.len() > 2 { Some(Reader::<Int4>::new(arg(args, 2)?)?) } else { None };
        let order = ElementOrder::new(&arrays.element, arrays.column.leaf(), &wanted.array)?;
        let mut out = Int4::builder(call.rows);
        for row in 0..call.rows {
            let Some(value) = arrays.get(row) else {
                Int4::push(&mut out, None)?;
                continue;
            };
            searching_is_one_dimensional(value)?;
            if value.is_empty() {
                Int4::push(&mut out, None)?;
                continue;
            }
            let lower = value.shape.first_lower();
            let first = match &start {
                None => lower,
                Some(start) => start.get(row)?.ok_or_else(|| null_not_allowed("initial position must not be null"))?,
            };
            let skipped = usize::try_from(i64::from(first) - i64::from(lower)).unwrap_or(0);
            let found = (value.start + skipped.min(value.len())..value.end).find(|at| order.equal(*at, wanted.at(row)));
            Int4::push(&mut out, found.map(|at| (at - value.start) as i32 + lower))?;
        }
        Int4::finish(out, call.ret)
    })
}

fn positions_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let wanted = arg(args, 1)?;
        let order = ElementOrder::new(&arrays.element, arrays.column.leaf(), &wanted.array)?;
        let mut found = Vec::new();
        let mut ends = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            ends.push(match arrays.get(row) {
                None => None,
                Some(value) => {
                    searching_is_one_dimensional(value)?;
                    let hits = (value.start..value.end).filter(|at| order.equal(*at, wanted.at(row)));
                    found.extend(hits.map(|at| (at - value.start) as i32 + value.shape.first_lower()));
                    Some(found.len())
                }
            });
        }
        lines(&Int32Array::from(found), &ends)
    })
}

/// One-dimensional arrays from a column of elements and where each row ends in it; `None` is a NULL row.
pub(crate) fn lines(elements: &dyn Array, ends: &[Option<usize>]) -> PgResult<ArrayRef> {
    let sources = [elements.to_data()];
    let mut out = ArrayAssembler::new(&sources, ends.len());
    out.copy(0, 0, elements.len())?;
    let mut from = 0;
    for end in ends {
        match end {
            Some(end) => {
                out.end_row(Shape::of(&[end - from])?)?;
                from = *end;
            }
            None => out.null_row(),
        }
    }
    out.finish()
}

fn remove_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let unwanted = arg(args, 1)?;
        let order = ElementOrder::new(&arrays.element, arrays.column.leaf(), &unwanted.array)?;
        let sources = [arrays.column.leaf().to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let Some(value) = arrays.get(row) else {
                out.null_row();
                continue;
            };
            if value.shape.ndim() > 1 {
                return Err(PgError::unsupported("removing elements from multidimensional arrays is not supported"));
            }
            let mut kept = 0;
            let mut from = value.start;
            for at in value.start..value.end {
                if order.equal(at, unwanted.at(row)) {
                    out.copy(0, from, at)?;
                    kept += at - from;
                    from = at + 1;
                }
            }
            out.copy(0, from, value.end)?;
            kept += value.end - from;
            out.end_row(Shape::bounded(&[kept], &[value.shape.first_lower()])?)?;
        }
        out.finish()
    })
}

fn replace_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let old = arg(args, 1)?;
        let new = arg(args, 2)?;
        let order = ElementOrder::new(&arrays.element, arrays.column.leaf(), &old.array)?;
        let sources = [arrays.column.leaf().to_data(), new.array.to_data()];
        let mut out = ArrayAssembler::new(&sources, call.rows);
        for row in 0..call.rows {
            let Some(value) = arrays.get(row) else {
                out.null_row();
                continue;
            };
            let mut from = value.start;
            for at in value.start..value.end {
                if order.equal(at, old.at(row)) {
                    out.copy(0, from, at)?;
                    out.copy(1, new.at(row), new.at(row) + 1)?;
                    from = at + 1;
                }
            }
            out.copy(0, from, value.end)?;
            out.end_row(value.shape)?;
        }
        out.finish()
    })
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Text

fn to_string_kernel() -> Kernel {
    Arc::new(|call, args| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let delimiter = Reader::<Text>::new(arg(args, 1)?)?;
        let null_text = if args.len() > 2 { Some(Reader::<Text>::new(arg(args, 2)?)?) } else { None };
        let leaf = arrays.column.leaf();
        let writer = crate::values::writer(call.ctx, &arrays.element, leaf.as_ref())?;
        let mut out = StringViewBuilder::with_capacity(call.rows);
        let mut scratch = Vec::new();
        for row in 0..call.rows {
            let (Some(value), Some(delimiter)) = (arrays.get(row), delimiter.get(row)?) else {
                out.append_null();
                continue;
            };
            let null_text = match &null_text {
                Some(reader) => reader.get(row)?,
                None => None,
            };
            scratch.clear();
            let mut first = true;
            for at in value.start..value.end {
                let is_null = leaf.is_null(at);
                if is_null && null_text.is_none() {
                    continue;
                }
                if !first {
                    scratch.extend_from_slice(delimiter.as_bytes());
                }
                first = false;
                match null_text {
                    Some(text) if is_null => scratch.extend_from_slice(text.as_bytes()),
                    _ => writer.text(at, &mut scratch)?,
                }
            }
            out.append_value(std::str::from_utf8(&scratch).map_err(|_| PgError::internal("a text form is not UTF-8"))?);
        }
        Ok(Arc::new(out.finish()))
    })
}

/// Calls `f` for each field of `string_to_array` and `string_to_table`: no delimiter splits into characters, an empty one not at all.
pub(crate) fn split_fields<'t>(text: &'t str, delimiter: Option<&str>, null_text: Option<&str>, mut f: impl FnMut(Option<&'t str>)) {
    let mut field = |field: &'t str| f(if null_text == Some(field) { None } else { Some(field) });
    if text.is_empty() {
        return;
    }
    match delimiter {
        None => {
            for (at, c) in text.char_indices() {
                field(text.get(at..at + c.len_utf8()).unwrap_or(""));
            }
        }
        Some("") => field(text),
        Some(delimiter) => text.split(delimiter).for_each(field),
    }
}

fn from_string_kernel() -> Kernel {
    Arc::new(|call, args| {
        let text = Reader::<Text>::new(arg(args, 0)?)?;
        let delimiter = Reader::<Text>::new(arg(args, 1)?)?;
        let null_text = if args.len() > 2 { Some(Reader::<Text>::new(arg(args, 2)?)?) } else { None };
        let mut fields = StringViewBuilder::new();
        let mut count = 0usize;
        let mut ends = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let null_text = match &null_text {
                Some(reader) => reader.get(row)?,
                None => None,
            };
            ends.push(match text.get(row)? {
                None => None,
                Some(text) => {
                    if text.len() >= SMALL_BYTES {
                        let fields = delimiter.get(row)?.map_or(text.len(), |delimiter| text.matches(delimiter).count());
                        // Of each a view, and a list that grows is there twice.
                        process().claim(fields.saturating_mul(48))?;
                    }
                    split_fields(text, delimiter.get(row)?, null_text, |field| {
                        fields.append_option(field);
                        count += 1;
                    });
                    Some(count)
                }
            });
        }
        lines(&fields.finish(), &ends)
    })
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Rows

/// Rows that are a range of a column.
pub(crate) struct ColumnRows {
    column: ArrayRef,
    at: usize,
    end: usize,
}

impl ColumnRows {
    pub(crate) fn boxed(column: ArrayRef, at: usize, end: usize) -> Box<dyn RowSource> {
        Box::new(ColumnRows { column, at, end })
    }
}

impl RowSource for ColumnRows {
    fn next_chunk(&mut self, limit: usize) -> PgResult<Option<Vec<ArrayRef>>> {
        if self.at >= self.end {
            return Ok(None);
        }
        let count = limit.max(1).min(self.end - self.at);
        let chunk = self.column.slice(self.at, count);
        self.at += count;
        Ok(Some(vec![chunk]))
    }
}

/// Rows of no function call at all: a NULL argument.
pub(crate) struct NoRows;

impl RowSource for NoRows {
    fn next_chunk(&mut self, _: usize) -> PgResult<Option<Vec<ArrayRef>>> {
        Ok(None)
    }
}

fn unnest() -> SetKernel {
    Arc::new(|call, args, row| {
        let arrays = ArrayArg::open(call, args, 0)?;
        Ok(match arrays.get(row) {
            Some(value) => ColumnRows::boxed(Arc::clone(arrays.column.leaf()), value.start, value.end),
            None => Box::new(NoRows),
        })
    })
}

/// Elements and their numbers from 1.
struct NumberedRows {
    column: ArrayRef,
    at: usize,
    end: usize,
    number: i32,
}

impl RowSource for NumberedRows {
    fn next_chunk(&mut self, limit: usize) -> PgResult<Option<Vec<ArrayRef>>> {
        if self.at >= self.end {
            return Ok(None);
        }
        let count = limit.max(1).min(self.end - self.at);
        let chunk = self.column.slice(self.at, count);
        let first = self.number;
        self.at += count;
        self.number = self.number.saturating_add(i32::try_from(count).unwrap_or(i32::MAX));
        let numbers: ArrayRef = Arc::new(arrow::array::Int32Array::from_iter_values(first..self.number));
        Ok(Some(vec![chunk, numbers]))
    }
}

fn expand() -> SetKernel {
    Arc::new(|call, args, row| {
        let arrays = ArrayArg::open(call, args, 0)?;
        Ok(match arrays.get(row) {
            Some(value) => Box::new(NumberedRows { column: Arc::clone(arrays.column.leaf()), at: value.start, end: value.end, number: 1 }),
            None => Box::new(NoRows),
        })
    })
}

fn generate_subscripts() -> SetKernel {
    Arc::new(|call, args, row| {
        let arrays = ArrayArg::open(call, args, 0)?;
        let number = Reader::<Int4>::new(arg(args, 1)?)?.get(row)?;
        let reverse = match args.get(2) {
            Some(reverse) => Reader::<Bool>::new(reverse)?.get(row)?,
            None => Some(false),
        };
        let (Some(value), Some(number), Some(reverse)) = (arrays.get(row), number, reverse) else { return Ok(Box::new(NoRows)) };
        let dimension = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        let Some((first, last)) = dimension.and_then(|n| value.shape.bounds().nth(n)) else { return Ok(Box::new(NoRows)) };
        let (first, last) = (i64::from(first), i64::from(last));
        Ok(if reverse { super::series::integers::<Int4>(last, first, -1) } else { super::series::integers::<Int4>(first, last, 1) })
    })
}
