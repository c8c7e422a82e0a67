//! Casts: the rules between two types, and the kernel that carries a column from one to the other.
//!
//! A cast is, in this order: a rule of the registry (a file a kind of value), element by element between arrays, field by field
//! between records, or through text to and from the string types. [`cast_kernel`] composes it with changes of the Arrow form
//! (decimals, sortable bytes) and with the modifier of the target.

use crate::args::{Arg, Call, Kernel, arg};
use crate::error::{PgError, PgResult};
use crate::registry::{CastContext, CastKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType, TRIMMED};
use crate::values::{self, numeric};
use arrow::array::{Array, ArrayRef, AsArray, StringViewArray, StringViewBuilder, StructArray};
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;

pub mod bit;
pub mod datetime;
pub mod json;
pub mod number;
pub mod string;

/// Registers every cast.
pub fn register(r: &mut Registry) {
    number::register(r);
    string::register(r);
    datetime::register(r);
    json::register(r);
    bit::register(r);
}

/// When a value of one type becomes the other by itself; `None` if there is no cast between them.
#[must_use]
pub fn cast_context(from: &PgType, to: &PgType) -> Option<CastContext> {
    if from == to || *from == PgType::Unknown || matches!(to, PgType::Any) {
        return Some(CastContext::Implicit);
    }
    if let Some(cast) = Registry::get().cast(from, to) {
        return Some(cast.context);
    }
    match (from, to) {
        (PgType::Array(a), PgType::Array(b)) => {
            if let Some(context) = cast_context(a, b) {
                return Some(context);
            }
        }
        (PgType::Int2Vector | PgType::OidVector, PgType::Array(to)) => {
            if let Some(context) = from.element().and_then(|element| cast_context(&element, to)) {
                return Some(context);
            }
        }
        (PgType::Map(key, value), PgType::Map(to_key, to_value)) => {
            return Some(cast_context(key, to_key)?.max(cast_context(value, to_value)?));
        }
        (PgType::Json | PgType::Jsonb, PgType::Map(..)) => return Some(CastContext::Explicit),
        // Named records and anonymous ones of the same shape.
        (PgType::Record(_), PgType::Record(None)) => return Some(CastContext::Implicit),
        (PgType::Record(None), PgType::Record(Some(_))) => return Some(CastContext::Explicit),
        (PgType::Record(Some(a)), PgType::Record(Some(b))) => {
            let worst = a.fields.iter().zip(&b.fields).map(|((_, a), (_, b))| cast_context(&a.ty, &b.ty)).collect::<Option<Vec<_>>>();
            return if a.fields.len() == b.fields.len() {
                worst.and_then(|all| all.into_iter().max().or(Some(CastContext::Implicit)))
            } else {
                None
            };
        }
        _ => {}
    }
    if to.is_pseudo() || from.is_pseudo() {
        None
    } else if to.category() == 'S' {
        Some(CastContext::Assignment)
    } else if from.category() == 'S' {
        Some(CastContext::Explicit)
    } else {
        None
    }
}

/// What turns a column of type `from` into one of type `to`, modifier and Arrow form included; `None` when values need no change.
/// The kernel reads its types from the call's context only for text conversions; it may be called with any `call.ret`.
///
/// # Errors
/// 42846 when there is no such cast.
pub fn cast_kernel(from: &SqlType, to: &SqlType, explicit: bool) -> PgResult<Option<Kernel>> {
    Ok(steps(from, to, explicit)?.into_iter().reduce(|first, second| then(first, second)))
}

/// One column through a cast kernel made by [`cast_kernel`].
pub fn apply(
    ctx: &crate::EvalContext,
    kernel: &Kernel,
    from: &SqlType,
    to: &SqlType,
    explicit: bool,
    array: ArrayRef,
) -> PgResult<ArrayRef> {
    let types = [from.clone()];
    let rows = array.len();
    kernel(&Call { ctx, rows, arg_types: &types, ret: to, explicit }, &[Arg { array, constant: false }])
}

/// The second kernel on what the first gives.
fn then(first: Kernel, second: Kernel) -> Kernel {
    Arc::new(move |call, args| {
        let array = first(call, args)?;
        // Constants stay constants: the first gave one row for them if it was asked for one.
        let constant = call.rows != array.len();
        second(call, &[Arg { array, constant }])
    })
}

/// A kernel over whole columns that treats each row alone: constants are computed once and repeated.
pub(crate) fn column_kernel(f: impl Fn(&Call, &ArrayRef) -> PgResult<ArrayRef> + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call, args| {
        let input = arg(args, 0)?;
        let out = f(call, &input.array)?;
        if input.constant && call.rows != 1 { repeat(&out, call.rows) } else { Ok(out) }
    })
}

/// `rows` copies of the first row.
pub(crate) fn repeat(array: &ArrayRef, rows: usize) -> PgResult<ArrayRef> {
    let indices = arrow::array::UInt32Array::from(vec![0u32; rows]);
    Ok(arrow::compute::take(array.as_ref(), &indices, None)?)
}

/// The same cast, told that its target is `to`: what registered kernels read from the call.
fn towards(kernel: Kernel, from: &SqlType, to: &SqlType, explicit: bool) -> Kernel {
    let (types, to) = ([from.clone()], to.clone());
    Arc::new(move |call, args| kernel(&Call { ctx: call.ctx, rows: call.rows, arg_types: &types, ret: &to, explicit }, args))
}

fn steps(from: &SqlType, to: &SqlType, explicit: bool) -> PgResult<Vec<Kernel>> {
    let mut out = Vec::new();
    let null = from.arrow == DataType::Null;
    if null && to.arrow != DataType::Null {
        let arrow = to.arrow.clone();
        out.push(column_kernel(move |_, array| Ok(arrow::array::new_null_array(&arrow, array.len()))));
        return Ok(out);
    }
    if from.ty == PgType::Numeric && to.ty == PgType::Numeric {
        out.extend(between_numerics(from, to));
        return Ok(out);
    }
    if from.ty.is_array() && to.ty.is_array() && Registry::get().cast(&from.ty, &to.ty).is_none() {
        out.extend(between_arrays(from, to, explicit)?);
        return Ok(out);
    }
    if from.keeps_blanks() && matches!(to.ty, PgType::Text | PgType::Varchar | PgType::Name | PgType::Char) {
        out.extend(values::apply_typmod(&SqlType { typmod: TRIMMED, ..from.clone() }, true));
    }
    if to.keeps_blanks() && from.ty == to.ty {
        // The blanks are in the value now.
        if !from.keeps_blanks() {
            out.push(text_output(from, to));
        }
        return Ok(out);
    }
    if from.ty == to.ty && !matches!(to.ty, PgType::Record(_)) {
        if from.typmod != to.typmod {
            out.extend(values::apply_typmod(to, explicit));
        }
        return Ok(out);
    }
    if let (PgType::Record(_), PgType::Record(_)) = (&from.ty, &to.ty) {
        out.extend(between_records(from, to, explicit)?);
        return Ok(out);
    }
    if let (PgType::Map(..), PgType::Map(..)) = (&from.ty, &to.ty) {
        out.push(between_maps(from, to, explicit)?);
        return Ok(out);
    }
    if let (PgType::Json | PgType::Jsonb, PgType::Map(..)) = (&from.ty, &to.ty) {
        out.push(text_output(from, &SqlType::new(PgType::Text)));
        out.push(text_input(to));
        return Ok(out);
    }
    if let Some((precision, scale)) = to.decimal_parts()
        && let Some(kernel) = number::to_decimal(&from.ty, precision, scale)
    {
        out.push(kernel);
        return Ok(out);
    }
    if let Some((_, scale)) = from.decimal_parts()
        && let Some(kernel) = number::from_decimal(&to.ty, scale)
    {
        out.push(kernel);
        return Ok(out);
    }
    // The cast itself, between the widest forms of the types, then the modifier, then the target's form.
    let (wide_from, wide_to) = (from.widened(), SqlType::new(to.ty.clone()));
    let mut modified = false;
    match Registry::get().cast(&from.ty, &to.ty).map(|cast| &cast.kind) {
        Some(CastKind::Relabel) => {}
        Some(CastKind::Kernel(kernel)) => {
            widen(from, &mut out);
            let target = SqlType { ty: to.ty.clone(), typmod: to.typmod, arrow: wide_to.arrow.clone() };
            out.push(towards(Arc::clone(kernel), &wide_from, &target, explicit));
        }
        None if from.ty == PgType::Unknown || (from.ty.category() == 'S' && !to.ty.is_pseudo()) => {
            // Input applies the modifier, but as an assignment does: an explicit cast cuts strings silently.
            if to.ty.is_string() {
                out.push(text_output(from, &SqlType::new(to.ty.clone())));
            } else {
                // What is read is what character(n) shows, its blanks included.
                if from.ty == PgType::Bpchar {
                    out.push(text_output(from, &SqlType::new(PgType::Text)));
                }
                // Bit strings are read as they are: an explicit cast then cuts or fills them.
                let bits = matches!(to.ty, PgType::Bit | PgType::Varbit);
                out.push(text_input(if bits { &wide_to } else { to }));
                modified = !bits;
            }
        }
        None if to.ty.category() == 'S' && (!from.ty.is_pseudo() || from.ty == PgType::Void) => {
            out.push(text_output(from, &SqlType::new(to.ty.clone())))
        }
        None => {
            return Err(PgError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {} to {}", from.ty, to.ty)));
        }
    }
    if !modified {
        out.extend(values::apply_typmod(to, explicit));
        if let Some((precision, scale)) = to.decimal_parts() {
            out.push(column_kernel(move |_, array| numeric::numeric_to_decimal(array, precision, scale)));
        }
    }
    Ok(out)
}

/// Decimals as sortable bytes, which registered kernels take.
fn widen(from: &SqlType, out: &mut Vec<Kernel>) {
    if let Some((_, scale)) = from.decimal_parts() {
        out.push(column_kernel(move |_, array| numeric::decimal_to_numeric(array, scale)));
    }
}

fn between_numerics(from: &SqlType, to: &SqlType) -> Option<Kernel> {
    match (from.decimal_parts(), to.decimal_parts()) {
        (Some(a), Some(b)) if a == b => None,
        (Some((_, from_scale)), Some((precision, scale))) => {
            Some(column_kernel(move |_, array| numeric::column::rescale_decimal(array, from_scale, precision, scale)))
        }
        (Some((_, scale)), None) => {
            let widen = column_kernel(move |_, array| numeric::decimal_to_numeric(array, scale));
            Some(match values::apply_typmod(to, true) {
                Some(fit) if from.typmod != to.typmod => then(widen, fit),
                _ => widen,
            })
        }
        (None, Some((precision, scale))) => Some(column_kernel(move |_, array| numeric::numeric_to_decimal(array, precision, scale))),
        (None, None) if from.typmod == to.typmod => None,
        (None, None) => values::apply_typmod(to, true),
    }
}

/// Casts keys and values.
fn between_maps(from: &SqlType, to: &SqlType, explicit: bool) -> PgResult<Kernel> {
    let parts = |ty: &SqlType| match &ty.ty {
        PgType::Map(key, value) => Ok((SqlType::new((**key).clone()), SqlType::new((**value).clone()))),
        _ => Err(PgError::internal("a map that is none")),
    };
    let ((key, value), (to_key, to_value)) = (parts(from)?, parts(to)?);
    let none = |_| PgError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {} to {}", from.ty, to.ty));
    let of_keys = cast_kernel(&key, &to_key, explicit).map_err(none)?;
    let of_values = cast_kernel(&value, &to_value, explicit).map_err(none)?;
    let to = to.clone();
    Ok(column_kernel(move |call, array| {
        let map = array.as_map_opt().ok_or_else(|| PgError::internal("a map that is none"))?;
        let cast = |kernel: &Option<Kernel>, from: &SqlType, to: &SqlType, array: &ArrayRef| match kernel {
            Some(kernel) => apply(call.ctx, kernel, from, to, explicit, Arc::clone(array)),
            None => Ok(Arc::clone(array)),
        };
        let (keys, values) = (cast(&of_keys, &key, &to_key, map.keys())?, cast(&of_values, &value, &to_value, map.values())?);
        let (mut at, mut ends) = (Vec::new(), Vec::with_capacity(map.len()));
        for row in 0..map.len() {
            at.extend(values::map::entries(map, row).map(|at| at as u32));
            ends.push(at.len());
        }
        let at = arrow::array::UInt32Array::from(at);
        let (keys, values) = (arrow::compute::take(&keys, &at, None)?, arrow::compute::take(&values, &at, None)?);
        values::map::arrange(&to, &keys, &values, &ends, map.nulls().cloned())
    }))
}

/// Casts the elements and keeps the bounds.
fn between_arrays(from: &SqlType, to: &SqlType, explicit: bool) -> PgResult<Option<Kernel>> {
    let (from_element, to_element) = (values::array::element_type(from), values::array::element_type(to));
    let kernel = cast_kernel(&from_element, &to_element, explicit).map_err(|error| match error.code() {
        SqlState::CANNOT_COERCE => PgError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {} to {}", from.ty, to.ty)),
        _ => error,
    })?;
    Ok(kernel.map(|kernel| {
        column_kernel(move |call, array| {
            values::array::with_elements(array, |elements| {
                apply(call.ctx, &kernel, &from_element, &to_element, explicit, Arc::clone(elements))
            })
        })
    }))
}

fn between_records(from: &SqlType, to: &SqlType, explicit: bool) -> PgResult<Option<Kernel>> {
    let (PgType::Record(Some(a)), PgType::Record(Some(b))) = (&from.ty, &to.ty) else { return Ok(None) };
    let mismatch =
        |detail: String| PgError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {} to {}", from.ty, to.ty)).detail(detail);
    match a.fields.len().cmp(&b.fields.len()) {
        std::cmp::Ordering::Less => return Err(mismatch("Input has too few columns.".into())),
        std::cmp::Ordering::Greater => return Err(mismatch("Input has too many columns.".into())),
        std::cmp::Ordering::Equal => {}
    }
    let casts = a
        .fields
        .iter()
        .zip(&b.fields)
        .map(|((_, a), (name, b))| Ok((cast_kernel(a, b, explicit)?, a.clone(), name.clone(), b.clone())))
        .collect::<PgResult<Vec<_>>>()?;
    let renamed = a.fields.iter().zip(&b.fields).any(|((a, _), (b, _))| a != b);
    if !renamed && casts.iter().all(|(kernel, ..)| kernel.is_none()) {
        return Ok(None);
    }
    Ok(Some(column_kernel(move |call, array| {
        let record: &StructArray = values::open(array.as_ref(), call.ret)?;
        let mut fields = Vec::with_capacity(casts.len());
        let mut columns = Vec::with_capacity(casts.len());
        for ((kernel, from, name, to), column) in casts.iter().zip(record.columns()) {
            let column = match kernel {
                Some(kernel) => apply(call.ctx, kernel, from, to, explicit, Arc::clone(column))?,
                None => Arc::clone(column),
            };
            fields.push(Field::new(name, column.data_type().clone(), true));
            columns.push(column);
        }
        if columns.is_empty() {
            return Ok(Arc::clone(array));
        }
        Ok(Arc::new(StructArray::try_new(fields.into(), columns, record.nulls().cloned())?))
    })))
}

/// Values by the text that they print.
fn text_output(from: &SqlType, to: &SqlType) -> Kernel {
    let (from, shape) = (from.clone(), values::string::Shape::of(to));
    // A "char" or a string of a form that fits is the same string; bool prints as SQL's words in casts to text.
    column_kernel(move |call, array| {
        let mut out = StringViewBuilder::with_capacity(array.len());
        let writer = values::writer(call.ctx, &from, array.as_ref())?;
        let mut scratch = Vec::new();
        for row in 0..array.len() {
            if array.is_null(row) {
                out.append_null();
                continue;
            }
            scratch.clear();
            writer.text(row, &mut scratch)?;
            let text = std::str::from_utf8(&scratch).map_err(|_| PgError::internal("a text form that is not UTF-8"))?;
            out.append_value(shape.fit(text, true)?);
        }
        Ok(Arc::new(out.finish()))
    })
}

/// Values from their text.
fn text_input(to: &SqlType) -> Kernel {
    let to = to.clone();
    column_kernel(move |call, array| {
        let input: &StringViewArray = values::open(array.as_ref(), &to)?;
        let mut out = values::builder(&to)?;
        for value in input {
            match value {
                Some(value) => out.text(call.ctx, value)?,
                None => out.null(),
            }
        }
        out.finish()
    })
}

#[cfg(test)]
mod tests;
