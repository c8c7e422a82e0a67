//! Arrays' text `{…}`, with bounds before it where they are not from 1, and their binary form.

use super::{ArrayColumn, ArrayValue, MAX_DIMENSIONS, Rows, Shape, element_type, elements_of, too_large, too_many_dimensions};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use crate::values::{ValueBuilder, ValueWriter};
use arrow::array::{Array, ArrayRef};

// ---------------------------------------------------------------------------------------------------------------------------------
// Output

/// Writes a column of an array type.
pub fn writer<'a>(ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    let column = ArrayColumn::open(array)?;
    let element = element_type(ty);
    let oid = element.ty.oid();
    let elements = crate::values::writer(ctx, &element, elements_of(array)?.as_ref())?;
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
            if self.column.leaf().is_null(element) {
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
        if value.shape.lowers().iter().any(|lower| *lower != 1) {
            write_bounds(&value.shape, out);
            out.push(b'=');
        }
        self.nested(value.shape.lengths(), &mut { value.start }, out)
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let value = self.value(row)?;
        let leaf = self.column.leaf();
        let nulls = (value.start..value.end).any(|at| leaf.is_null(at));
        out.extend_from_slice(&(value.shape.ndim() as i32).to_be_bytes());
        out.extend_from_slice(&i32::from(nulls).to_be_bytes());
        out.extend_from_slice(&self.oid.to_be_bytes());
        for (&length, lower) in value.shape.lengths().iter().zip(value.shape.lowers()) {
            out.extend_from_slice(&(length as i32).to_be_bytes());
            out.extend_from_slice(&lower.to_be_bytes());
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

/// `[1:2][0:3]`: the bounds of all dimensions.
pub fn write_bounds(shape: &Shape, out: &mut Vec<u8>) {
    for (lower, upper) in shape.bounds() {
        out.extend_from_slice(format!("[{lower}:{upper}]").as_bytes());
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
    let element = ty.element().ok_or_else(|| PgError::internal(format!("type {ty} is no array")))?;
    Ok(Box::new(ArrayBuilder {
        elements: crate::values::builder(&element)?,
        element_oid: element.ty.oid(),
        rows: Rows::new(0),
        vector: if matches!(ty.ty, PgType::Int2Vector | PgType::OidVector) { Some(ty.ty.name()) } else { None },
        scratch: String::new(),
    }))
}

struct ArrayBuilder {
    elements: Box<dyn ValueBuilder>,
    element_oid: u32,
    rows: Rows,
    /// The name of a vector of the catalogs: `1 2 3`, of one dimension from 0.
    vector: Option<String>,
    scratch: String,
}

impl ValueBuilder for ArrayBuilder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        if self.vector.is_some() {
            let before = self.elements.len();
            for part in value.split(|c: char| c.is_ascii_whitespace()).filter(|part| !part.is_empty()) {
                self.elements.text(ctx, part)?;
            }
            return self.rows.push(&Shape::bounded(&[self.elements.len() - before], &[0])?);
        }
        let (shape, contents) = scan(value)?;
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
        self.rows.push(&shape)
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
        let (mut lengths, mut lowers) = (Vec::with_capacity(ndim as usize), Vec::with_capacity(ndim as usize));
        for _ in 0..ndim {
            lengths.push(usize::try_from(input.int()?).map_err(|_| too_large())?);
            lowers.push(input.int()?);
        }
        let shape = Shape::bounded(&lengths, &lowers)?;
        if let Some(vector) = &self.vector
            && !lengths.is_empty()
            && (flags != 0 || lowers != [0])
        {
            return Err(bad_binary(format!("invalid {vector} data")));
        }
        for _ in 0..shape.elements() {
            match input.int()? {
                -1 => self.elements.null(),
                length => {
                    let length = usize::try_from(length).ok().filter(|length| *length <= input.0.len());
                    let length = length.ok_or_else(|| bad_binary("insufficient data left in message"))?;
                    self.elements.binary(ctx, input.take(length)?)?;
                }
            }
        }
        if !input.0.is_empty() {
            return Err(super::super::bad_binary());
        }
        self.rows.push(&shape)
    }

    fn null(&mut self) {
        self.rows.push_null();
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        std::mem::replace(&mut self.rows, Rows::new(0)).over(self.elements.finish()?)
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

fn malformed(text: &str, detail: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("malformed array literal: \"{text}\"")).detail(detail)
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
        let lowers: Vec<i32> = bounds.iter().map(|(lower, _)| *lower).collect();
        return Ok((Shape::bounded(shape.lengths(), &lowers)?, contents));
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

/// A signed number at the beginning of a text. Of one beyond 32 bits the low ones count, as in PostgreSQL.
fn leading_int(text: &str) -> (Option<i32>, &str) {
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return (None, text);
    }
    let (number, rest) = text.split_at(sign + digits);
    let value = number.parse::<i64>().unwrap_or(if number.starts_with('-') { i64::MIN } else { i64::MAX });
    (Some(value as i32), rest)
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
