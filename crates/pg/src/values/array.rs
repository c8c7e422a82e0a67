//! Values: arrays, their text `{…}` and binary forms, and how a column of them is read and put together.
//!
//! An array of n dimensions is a list nested n times; the Arrow type of a column fixes n, and within one value all lists of one
//! level have the same length. Lower bounds are 1 (0 for `int2vector` and `oidvector`); any other bound is refused. The empty array
//! has no dimensions and fits every column.
//!
//! [`ArrayColumn`] reads (elements of a value are one range of the leaf array), [`ArrayAssembler`] writes by copying ranges.

use super::{ValueBuilder, ValueWriter};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType, list_of};
use arrow::array::{Array, ArrayData, ArrayRef, AsArray, ListArray, MutableArrayData, NullBufferBuilder, make_array};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;

/// The most dimensions an array may have.
pub const MAX_DIMENSIONS: usize = 6;

/// How many dimensions the values of an array type have in a plan: the nesting of its lists. 0 if the type is no array.
#[must_use]
pub fn dimensions(ty: &SqlType) -> usize {
    if ty.ty.is_array() { depth(&ty.arrow) } else { 0 }
}

/// The type of an array's elements, whatever its dimensions.
#[must_use]
pub fn element_type(ty: &SqlType) -> SqlType {
    SqlType { ty: ty.ty.element().unwrap_or(PgType::Unknown), typmod: ty.typmod, arrow: leaf_type(&ty.arrow).clone() }
}

/// The type of arrays of `dimensions` dimensions with these elements.
#[must_use]
pub fn array_type(element: &SqlType, dimensions: usize) -> SqlType {
    let mut arrow = element.arrow.clone();
    for _ in 0..dimensions.max(1) {
        arrow = list_of(arrow);
    }
    SqlType { ty: element.ty.clone().array_of(), typmod: element.typmod, arrow }
}

/// The lower bound of every dimension of values of this type.
#[must_use]
pub fn lower_bound(ty: &PgType) -> i32 {
    if matches!(ty, PgType::Int2Vector | PgType::OidVector) { 0 } else { 1 }
}

fn depth(arrow: &DataType) -> usize {
    match arrow {
        DataType::List(field) => 1 + depth(field.data_type()),
        _ => 0,
    }
}

fn leaf_type(arrow: &DataType) -> &DataType {
    match arrow {
        DataType::List(field) => leaf_type(field.data_type()),
        other => other,
    }
}

/// The lengths of an array's dimensions; none for the empty array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    ndim: usize,
    lengths: [usize; MAX_DIMENSIONS],
}

impl Shape {
    /// The shape of the empty array.
    pub const EMPTY: Shape = Shape { ndim: 0, lengths: [0; MAX_DIMENSIONS] };

    /// The shape of a one-dimensional array.
    #[must_use]
    pub fn line(length: usize) -> Shape {
        let mut lengths = [0; MAX_DIMENSIONS];
        lengths[0] = length;
        Shape { ndim: usize::from(length > 0), lengths }
    }

    /// The shape with these lengths; the empty one if any is 0.
    ///
    /// # Errors
    /// 54000 for more than six dimensions or too many elements.
    pub fn of(lengths: &[usize]) -> PgResult<Shape> {
        let mut shape = Shape { ndim: lengths.len(), ..Shape::default() };
        if lengths.len() > MAX_DIMENSIONS {
            return Err(too_many_dimensions(lengths.len()));
        }
        if lengths.contains(&0) {
            return Ok(Shape::default());
        }
        let mut product = 1usize;
        for (slot, &length) in shape.lengths.iter_mut().zip(lengths) {
            *slot = length;
            product = product.checked_mul(length).filter(|p| *p <= MAX_ELEMENTS).ok_or_else(too_large)?;
        }
        Ok(shape)
    }

    /// The length of each dimension.
    #[must_use]
    pub fn lengths(&self) -> &[usize] {
        self.lengths.get(..self.ndim).unwrap_or(&[])
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
}

/// PostgreSQL's limit on elements of one array.
const MAX_ELEMENTS: usize = 134_217_727;

/// `array size exceeds the maximum allowed`, 54000.
#[must_use]
pub fn too_large() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("array size exceeds the maximum allowed ({MAX_ELEMENTS})"))
}

fn too_many_dimensions(n: usize) -> PgError {
    PgError::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!("number of array dimensions ({n}) exceeds the maximum allowed ({MAX_DIMENSIONS})"),
    )
}

/// One array: its shape and where its elements lie in the leaf array, in row-major order.
#[derive(Clone, Copy, Debug)]
pub struct ArrayValue {
    pub shape: Shape,
    pub start: usize,
    pub end: usize,
}

impl ArrayValue {
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

/// A column of arrays of one depth.
#[derive(Clone, Debug)]
pub struct ArrayColumn {
    levels: Vec<OffsetBuffer<i32>>,
    nulls: Option<NullBuffer>,
    leaf: ArrayRef,
}

impl ArrayColumn {
    /// Opens a list array; XX000 for any other.
    pub fn open(array: &dyn Array) -> PgResult<ArrayColumn> {
        let mut list =
            array.as_list_opt::<i32>().ok_or_else(|| PgError::internal(format!("an array was expected, not {}", array.data_type())))?;
        let nulls = list.nulls().cloned();
        let mut levels = vec![list.offsets().clone()];
        while let Some(inner) = list.values().as_list_opt::<i32>() {
            list = inner;
            levels.push(list.offsets().clone());
        }
        Ok(ArrayColumn { levels, nulls, leaf: Arc::clone(list.values()) })
    }

    /// The nesting of the column's lists.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The elements of all rows.
    #[must_use]
    pub fn leaf(&self) -> &ArrayRef {
        &self.leaf
    }

    /// The array in a row; `None` for NULL.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<ArrayValue> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let (mut start, mut end) = (row, row + 1);
        let mut shape = Shape { ndim: self.levels.len().min(MAX_DIMENSIONS), ..Shape::default() };
        for (level, offsets) in self.levels.iter().enumerate() {
            let at = |i: usize| offsets.get(i).map_or(0, |offset| *offset as usize);
            let length = at(start + 1) - at(start);
            (start, end) = (at(start), at(end));
            if start == end {
                return Some(ArrayValue { shape: Shape::default(), start, end });
            }
            if let Some(slot) = shape.lengths.get_mut(level) {
                *slot = length;
            }
        }
        Some(ArrayValue { shape, start, end })
    }
}

/// The same arrays with another nesting of lists.
///
/// # Errors
/// 0A000 for an array that is not empty and has not as many dimensions.
pub fn with_depth(array: &ArrayRef, depth: usize) -> PgResult<ArrayRef> {
    let column = ArrayColumn::open(array.as_ref())?;
    if column.depth() == depth {
        return Ok(Arc::clone(array));
    }
    let sources = [column.leaf().to_data()];
    let mut out = ArrayAssembler::new(&sources, depth, array.len());
    for row in 0..array.len() {
        match column.get(row) {
            Some(value) => {
                out.copy(0, value.start, value.end)?;
                out.end_row(value.shape)?;
            }
            None => out.null_row(),
        }
    }
    out.finish()
}

/// Puts a column of arrays together from ranges of leaf arrays.
#[derive(Debug)]
pub struct ArrayAssembler<'a> {
    data: MutableArrayData<'a>,
    nesting: Nesting,
}

impl<'a> ArrayAssembler<'a> {
    /// An assembler of arrays of `depth` dimensions over leaf arrays of one type; NULL elements can be appended at any time.
    #[must_use]
    pub fn new(sources: &'a [ArrayData], depth: usize, rows: usize) -> Self {
        Self { data: MutableArrayData::new(sources.iter().collect(), true, rows), nesting: Nesting::new(depth, rows) }
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
        self.nesting.push(shape)
    }

    /// Ends a row that is NULL.
    pub fn null_row(&mut self) {
        self.nesting.push_null();
    }

    /// The column.
    pub fn finish(self) -> PgResult<ArrayRef> {
        self.nesting.wrap(make_array(self.data.freeze()))
    }
}

/// The offsets of a nested list that grows by arrays.
#[derive(Debug)]
struct Nesting {
    levels: Vec<Vec<i32>>,
    nulls: NullBufferBuilder,
}

impl Nesting {
    fn new(depth: usize, rows: usize) -> Self {
        let mut levels = vec![vec![0]; depth.max(1)];
        if let Some(outer) = levels.first_mut() {
            outer.reserve(rows);
        }
        Self { levels, nulls: NullBufferBuilder::new(rows) }
    }

    fn rows(&self) -> usize {
        self.nulls.len()
    }

    fn push(&mut self, shape: Shape) -> PgResult<()> {
        if shape.ndim() != 0 && shape.ndim() != self.levels.len() {
            return Err(wrong_dimensions(shape.ndim(), self.levels.len()));
        }
        self.nulls.append_non_null();
        let mut lists = 1;
        for (level, offsets) in self.levels.iter_mut().enumerate() {
            let length = shape.lengths().get(level).copied().unwrap_or(0);
            let mut last = offsets.last().copied().unwrap_or(0);
            for _ in 0..lists {
                last = i32::try_from(length).ok().and_then(|length| last.checked_add(length)).ok_or_else(too_large)?;
                offsets.push(last);
            }
            lists *= length;
        }
        Ok(())
    }

    fn push_null(&mut self) {
        self.nulls.append_null();
        if let Some(outer) = self.levels.first_mut() {
            outer.push(outer.last().copied().unwrap_or(0));
        }
    }

    fn wrap(mut self, mut values: ArrayRef) -> PgResult<ArrayRef> {
        let mut nulls = self.nulls.finish();
        while let Some(offsets) = self.levels.pop() {
            let field = Arc::new(Field::new("item", values.data_type().clone(), true));
            let nulls = if self.levels.is_empty() { nulls.take() } else { None };
            values = Arc::new(ListArray::try_new(field, OffsetBuffer::new(ScalarBuffer::from(offsets)), values, nulls)?);
        }
        Ok(values)
    }
}

fn wrong_dimensions(found: usize, wanted: usize) -> PgError {
    PgError::unsupported(format!("an array of {found} dimensions cannot be stored where arrays have {wanted}"))
        .hint("The number of dimensions of an array column or expression is the same in all rows.")
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Output

/// Writes a column of an array type.
pub fn writer<'a>(ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    let column = ArrayColumn::open(array)?;
    let mut leaf = array.as_list::<i32>().values();
    while let Some(inner) = leaf.as_list_opt::<i32>() {
        leaf = inner.values();
    }
    let element = element_type(ty);
    let oid = element.ty.oid();
    let elements = super::writer(ctx, &element, leaf.as_ref())?;
    Ok(Box::new(ArrayWriter { elements, column, oid, vector: matches!(ty.ty, PgType::Int2Vector | PgType::OidVector) }))
}

struct ArrayWriter<'a> {
    elements: Box<dyn ValueWriter + 'a>,
    column: ArrayColumn,
    oid: u32,
    /// `1 2 3` rather than `{1,2,3}`.
    vector: bool,
}

impl ArrayWriter<'_> {
    fn nested(&self, lengths: &[usize], at: &mut usize, out: &mut Vec<u8>) -> PgResult<()> {
        let Some((&length, inner)) = lengths.split_first() else {
            let element = *at;
            *at += 1;
            if self.column.leaf.is_null(element) {
                out.extend_from_slice(b"NULL");
                return Ok(());
            }
            let from = out.len();
            self.elements.text(element, out)?;
            quote_element(out, from);
            return Ok(());
        };
        out.push(b'{');
        for i in 0..length {
            if i > 0 {
                out.push(b',');
            }
            self.nested(inner, at, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn value(&self, row: usize) -> PgResult<ArrayValue> {
        self.column.get(row).ok_or_else(|| PgError::internal("a NULL was given to a writer"))
    }
}

impl ValueWriter for ArrayWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let value = self.value(row)?;
        if self.vector {
            for at in value.start..value.end {
                if at > value.start {
                    out.push(b' ');
                }
                self.elements.text(at, out)?;
            }
            return Ok(());
        }
        if value.is_empty() {
            out.extend_from_slice(b"{}");
            return Ok(());
        }
        self.nested(value.shape.lengths(), &mut { value.start }, out)
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let value = self.value(row)?;
        let leaf = &self.column.leaf;
        let nulls = (value.start..value.end).any(|at| leaf.is_null(at));
        out.extend_from_slice(&(value.shape.ndim() as i32).to_be_bytes());
        out.extend_from_slice(&i32::from(nulls).to_be_bytes());
        out.extend_from_slice(&self.oid.to_be_bytes());
        for &length in value.shape.lengths() {
            out.extend_from_slice(&(length as i32).to_be_bytes());
            out.extend_from_slice(&i32::from(!self.vector).to_be_bytes());
        }
        for at in value.start..value.end {
            if leaf.is_null(at) {
                out.extend_from_slice(&(-1i32).to_be_bytes());
                continue;
            }
            let header = out.len();
            out.extend_from_slice(&[0; 4]);
            self.elements.binary(at, out)?;
            let length = i32::try_from(out.len() - header - 4).map_err(|_| too_large())?;
            if let Some(slot) = out.get_mut(header..header + 4) {
                slot.copy_from_slice(&length.to_be_bytes());
            }
        }
        Ok(())
    }
}

/// The characters that count as white space around elements.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Puts quotes around the element text that begins at `from`, if it needs them.
pub fn quote_element(out: &mut Vec<u8>, from: usize) {
    let text = out.get(from..).unwrap_or(&[]);
    let special = text.iter().filter(|b| matches!(b, b'"' | b'\\')).count();
    let quote = special > 0
        || text.is_empty()
        || text.eq_ignore_ascii_case(b"null")
        || text.iter().any(|&b| matches!(b, b'{' | b'}' | b',') || is_space(b));
    if !quote {
        return;
    }
    if special == 0 {
        out.insert(from, b'"');
    } else {
        let text = out.split_off(from);
        out.push(b'"');
        for byte in text {
            if matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
    }
    out.push(b'"');
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Input

/// Builds a column of an array type.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    let depth = dimensions(ty);
    if depth == 0 {
        return Err(PgError::internal(format!("type {ty} is no array")));
    }
    let element = element_type(ty);
    Ok(Box::new(ArrayBuilder {
        elements: super::builder(&element)?,
        element_oid: element.ty.oid(),
        nesting: Nesting::new(depth, 0),
        depth,
        vector: matches!(ty.ty, PgType::Int2Vector | PgType::OidVector),
        scratch: String::new(),
    }))
}

struct ArrayBuilder {
    elements: Box<dyn ValueBuilder>,
    element_oid: u32,
    nesting: Nesting,
    depth: usize,
    vector: bool,
    scratch: String,
}

impl ArrayBuilder {
    fn check(&self, shape: Shape) -> PgResult<()> {
        if shape.ndim() == 0 || shape.ndim() == self.depth { Ok(()) } else { Err(wrong_dimensions(shape.ndim(), self.depth)) }
    }
}

impl ValueBuilder for ArrayBuilder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        if self.vector {
            let before = self.elements.len();
            for part in value.split(|c: char| c.is_ascii_whitespace()).filter(|part| !part.is_empty()) {
                self.elements.text(ctx, part)?;
            }
            return self.nesting.push(Shape::line(self.elements.len() - before));
        }
        let (shape, contents) = scan(value)?;
        self.check(shape)?;
        let (elements, scratch) = (&mut self.elements, &mut self.scratch);
        if shape.ndim() > 0 {
            each_element(contents, scratch, |text| match text {
                Some(text) => elements.text(ctx, text),
                None => {
                    elements.null();
                    Ok(())
                }
            })?;
        }
        self.nesting.push(shape)
    }

    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()> {
        let mut input = Wire(value);
        let ndim = input.int()?;
        let flags = input.int()?;
        let oid = input.int()? as u32;
        if ndim < 0 {
            return Err(bad_binary(format!("invalid number of dimensions: {ndim}")));
        }
        if ndim as usize > MAX_DIMENSIONS {
            return Err(too_many_dimensions(ndim as usize));
        }
        if flags != 0 && flags != 1 {
            return Err(bad_binary("invalid array flags"));
        }
        if oid != self.element_oid {
            return Err(PgError::new(SqlState::DATATYPE_MISMATCH, "wrong element type")
                .detail(format!("binary data has array element type {oid} instead of expected {}", self.element_oid)));
        }
        let mut lengths = Vec::with_capacity(ndim as usize);
        for _ in 0..ndim {
            let length = input.int()?;
            let lower = input.int()?;
            lengths.push(usize::try_from(length).map_err(|_| bad_binary("insufficient data left in message"))?);
            if lower != i32::from(!self.vector) && length > 0 {
                return Err(other_lower_bound());
            }
        }
        let shape = Shape::of(&lengths)?;
        self.check(shape)?;
        for _ in 0..shape.elements() {
            match input.int()? {
                -1 => self.elements.null(),
                length => {
                    let length = usize::try_from(length).map_err(|_| bad_binary("insufficient data left in message"))?;
                    self.elements.binary(ctx, input.take(length)?)?;
                }
            }
        }
        if !input.0.is_empty() {
            return Err(bad_binary("incorrect binary data format in array"));
        }
        self.nesting.push(shape)
    }

    fn null(&mut self) {
        self.nesting.push_null();
    }

    fn len(&self) -> usize {
        self.nesting.rows()
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        let nesting = std::mem::replace(&mut self.nesting, Nesting::new(self.depth, 0));
        nesting.wrap(self.elements.finish()?)
    }
}

struct Wire<'a>(&'a [u8]);

impl<'a> Wire<'a> {
    fn take(&mut self, count: usize) -> PgResult<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| PgError::new(SqlState::PROTOCOL_VIOLATION, "insufficient data left in message"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn int(&mut self) -> PgResult<i32> {
        let bytes = self.take(4)?;
        Ok(i32::from_be_bytes(<[u8; 4]>::try_from(bytes).map_err(|_| bad_binary("insufficient data left in message"))?))
    }
}

fn bad_binary(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_BINARY_REPRESENTATION, message)
}

fn other_lower_bound() -> PgError {
    PgError::unsupported("arrays whose lower bound is not 1 are not supported").hint("Write the array without bounds.")
}

fn malformed(text: &str, detail: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("malformed array literal: \"{text}\"")).detail(detail)
}

/// The number of dimensions of an array's text form; 0 for `{}`.
///
/// # Errors
/// 22P02 when the text is no array.
pub fn dimensions_of_text(text: &str) -> PgResult<usize> {
    scan(text).map(|(shape, _)| shape.ndim())
}

/// What the last significant character of an array's text was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    LevelStart,
    Element,
    QuotedElement,
    QuotedElementEnd,
    ElementDelimiter,
    LevelEnd,
    LevelDelimiter,
}

/// Checks the text of an array and measures it. The second result is the part from the first brace on.
fn scan(text: &str) -> PgResult<(Shape, &str)> {
    let (bounds, contents) = explicit_bounds(text)?;
    if !contents.starts_with('{') {
        let detail = if bounds.is_some() {
            "Array contents must start with \"{\"."
        } else {
            "Array value must start with \"{\" or dimension information."
        };
        return Err(malformed(text, detail));
    }
    let shape = measure(text, contents)?;
    if let Some(bounds) = bounds {
        let lengths: Vec<i64> = shape.lengths().iter().map(|n| *n as i64).collect();
        if bounds.len() != lengths.len()
            || bounds.iter().zip(&lengths).any(|((lower, upper), n)| i64::from(*upper) - i64::from(*lower) + 1 != *n)
        {
            return Err(malformed(text, "Specified array dimensions do not match array contents."));
        }
        if bounds.iter().any(|(lower, _)| *lower != 1) {
            return Err(other_lower_bound());
        }
    }
    Ok((shape, contents))
}

/// Lower and upper bound of a dimension.
type Bounds = (i32, i32);

/// The `[1:2][1:3]=` in front of an array, if it is there, and what follows it.
fn explicit_bounds(text: &str) -> PgResult<(Option<Vec<Bounds>>, &str)> {
    let trim = |s: &'_ str| -> usize { s.bytes().take_while(|b| is_space(*b)).count() };
    let mut rest = text.get(trim(text)..).unwrap_or("");
    if !rest.starts_with('[') {
        return Ok((None, rest));
    }
    let mut bounds = Vec::new();
    while let Some(inner) = rest.strip_prefix('[') {
        if bounds.len() >= MAX_DIMENSIONS {
            return Err(too_many_dimensions(bounds.len() + 1));
        }
        let (first, after) = leading_int(inner);
        let Some(first) = first else {
            return Err(malformed(text, "\"[\" must introduce explicitly-specified array dimensions."));
        };
        let (bound, after) = match after.strip_prefix(':') {
            Some(after) => match leading_int(after) {
                (Some(upper), after) => ((first, upper), after),
                _ => return Err(malformed(text, "Missing array dimension value.")),
            },
            None => ((1, first), after),
        };
        let Some(after) = after.strip_prefix(']') else {
            return Err(malformed(text, "Missing \"]\" after array dimensions."));
        };
        if bound.1 < bound.0 {
            return Err(PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound"));
        }
        bounds.push(bound);
        rest = after.get(trim(after)..).unwrap_or("");
    }
    let Some(after) = rest.strip_prefix('=') else {
        return Err(malformed(text, "Missing \"=\" after array dimensions."));
    };
    Ok((Some(bounds), after.get(trim(after)..).unwrap_or("")))
}

/// A signed number at the beginning of a text. Numbers beyond 32 bits saturate: no array fits such a bound.
fn leading_int(text: &str) -> (Option<i32>, &str) {
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return (None, text);
    }
    let (number, rest) = text.split_at(sign + digits);
    let value = number.parse::<i64>().unwrap_or(if number.starts_with('-') { i64::MIN } else { i64::MAX });
    (Some(value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32), rest)
}

/// The shape of `{…}`, with PostgreSQL's checks in its order.
fn measure(text: &str, contents: &str) -> PgResult<Shape> {
    let mut seen = Seen::Nothing;
    let mut nesting = 0usize;
    let mut ndim = 1usize;
    let mut quoted = false;
    let mut empty = true;
    // Lists at each level: elements of the current one, and the length of the first complete one.
    let mut count = [1usize; MAX_DIMENSIONS];
    let mut complete = [0usize; MAX_DIMENSIONS];
    let unexpected = |c: char| malformed(text, format!("Unexpected \"{c}\" character."));
    let mut bytes = contents.bytes();
    loop {
        if matches!(seen, Seen::Element | Seen::QuotedElement) {
            empty = false;
        }
        let Some(byte) = bytes.next() else { return Err(malformed(text, "Unexpected end of input.")) };
        match byte {
            b'\\' => {
                if !matches!(seen, Seen::LevelStart | Seen::Element | Seen::QuotedElement | Seen::ElementDelimiter) {
                    return Err(unexpected('\\'));
                }
                if seen != Seen::QuotedElement {
                    seen = Seen::Element;
                }
                if bytes.next().is_none() {
                    return Err(malformed(text, "Unexpected end of input."));
                }
            }
            b'"' => {
                if !matches!(seen, Seen::LevelStart | Seen::QuotedElement | Seen::ElementDelimiter) {
                    return Err(malformed(text, "Unexpected array element."));
                }
                quoted = !quoted;
                seen = if quoted { Seen::QuotedElement } else { Seen::QuotedElementEnd };
                empty = false;
            }
            _ if quoted => {}
            b'{' => {
                if !matches!(seen, Seen::Nothing | Seen::LevelStart | Seen::LevelDelimiter) {
                    return Err(unexpected('{'));
                }
                seen = Seen::LevelStart;
                if nesting >= MAX_DIMENSIONS {
                    return Err(too_many_dimensions(nesting + 1));
                }
                nesting += 1;
                ndim = ndim.max(nesting);
            }
            b'}' => {
                let ends =
                    matches!(seen, Seen::Element | Seen::QuotedElementEnd | Seen::LevelEnd) || (nesting == 1 && seen == Seen::LevelStart);
                if !ends {
                    return Err(unexpected('}'));
                }
                seen = Seen::LevelEnd;
                nesting = nesting.saturating_sub(1);
                if let (Some(count), Some(complete)) = (count.get_mut(nesting), complete.get_mut(nesting)) {
                    if *complete != 0 && *count != *complete {
                        return Err(malformed(text, "Multidimensional arrays must have sub-arrays with matching dimensions."));
                    }
                    *complete = *count;
                    *count = 1;
                }
                if nesting == 0 {
                    break;
                }
            }
            b',' => {
                seen = match seen {
                    Seen::Element | Seen::QuotedElementEnd => Seen::ElementDelimiter,
                    Seen::LevelEnd => Seen::LevelDelimiter,
                    _ => return Err(unexpected(',')),
                };
                if let Some(count) = count.get_mut(nesting.saturating_sub(1)) {
                    *count += 1;
                }
            }
            byte if is_space(byte) => {}
            _ => {
                if !matches!(seen, Seen::LevelStart | Seen::Element | Seen::ElementDelimiter) {
                    return Err(malformed(text, "Unexpected array element."));
                }
                seen = Seen::Element;
            }
        }
    }
    if bytes.any(|b| !is_space(b)) {
        return Err(malformed(text, "Junk after closing right brace."));
    }
    if empty {
        return Ok(Shape::default());
    }
    Shape::of(complete.get(..ndim).unwrap_or(&[]))
}

/// Calls `f` for each element of a text that [`measure`] accepted; `None` is NULL.
fn each_element(contents: &str, scratch: &mut String, mut f: impl FnMut(Option<&str>) -> PgResult<()>) -> PgResult<()> {
    let mut rest = contents;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii() && (is_space(c as u8) || matches!(c, '{' | '}' | ',')));
        if rest.is_empty() {
            return Ok(());
        }
        if let Some(inner) = rest.strip_prefix('"') {
            let end = inner.find(['"', '\\']).unwrap_or(inner.len());
            if inner.as_bytes().get(end) == Some(&b'"') {
                f(Some(inner.get(..end).unwrap_or("")))?;
                rest = inner.get(end + 1..).unwrap_or("");
            } else {
                rest = unescape(inner, scratch, |c| c == '"');
                rest = rest.strip_prefix('"').unwrap_or(rest);
                f(Some(scratch))?;
            }
            continue;
        }
        let end = rest.find([',', '}', '\\']).unwrap_or(rest.len());
        if rest.as_bytes().get(end) == Some(&b'\\') {
            let before = rest;
            rest = unescape(rest, scratch, |c| matches!(c, ',' | '}'));
            // White space at the end does not belong to the element, unless it was escaped.
            let raw = before.get(..before.len() - rest.len()).unwrap_or("");
            let mut blanks = raw.bytes().rev().take_while(|b| is_space(*b)).count();
            let kept = raw.len() - blanks;
            let slashes = raw.bytes().take(kept).rev().take_while(|b| *b == b'\\').count();
            if slashes % 2 == 1 {
                blanks = blanks.saturating_sub(1);
            }
            scratch.truncate(scratch.len() - blanks);
            f(Some(scratch))?;
        } else {
            let (element, after) = rest.split_at(end);
            let element = element.trim_end_matches(|c: char| c.is_ascii() && is_space(c as u8));
            f(if element.eq_ignore_ascii_case("null") { None } else { Some(element) })?;
            rest = after;
        }
    }
}

/// Copies text into `out` without its backslashes, up to a character that ends it; gives the rest from there.
fn unescape<'t>(text: &'t str, out: &mut String, ends: impl Fn(char) -> bool) -> &'t str {
    out.clear();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            if let Some((_, escaped)) = chars.next() {
                out.push(escaped);
            }
        } else if ends(c) {
            return text.get(at..).unwrap_or("");
        } else {
            out.push(c);
        }
    }
    ""
}
