//! The items of arrays: their elements.
//!
//! ```text
//! "string   x0102   12      an element: as it is, or as the bytes by which it is compared; whole numbers as digits
//! null                      elements that are NULL
//! empty                     of an array that has no element
//! ```

use super::{Item, Sought};
use crate::error::PgResult;
use crate::types::{PgType, SqlType};
use crate::values::array::ArrayColumn;
use crate::values::sort::key_writer;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Int16Type, Int32Type, Int64Type};
use datafusion_common::ScalarValue;
use std::fmt::Write;

const NULL: &str = "null";
const EMPTY: &str = "empty";

/// Writes the items of elements by their places.
type Writer<'a> = Box<dyn Fn(usize) -> PgResult<String> + 'a>;

fn writer<'a>(ty: &SqlType, elements: &'a ArrayRef) -> PgResult<Writer<'a>> {
    let marked = |mark: char, text: &str| Item::default().then(mark, text).finish();
    let texts = elements.as_string_view_opt();
    let comes_as = || crate::PgError::internal(format!("elements came as {}", elements.data_type()));
    Ok(match &ty.ty {
        PgType::Text | PgType::Varchar => {
            let texts = texts.ok_or_else(comes_as)?;
            Box::new(move |at| Ok(marked('"', texts.value(at))))
        }
        PgType::Int2 => {
            let numbers = elements.as_primitive_opt::<Int16Type>().ok_or_else(comes_as)?;
            Box::new(move |at| Ok(numbers.value(at).to_string()))
        }
        PgType::Int4 => {
            let numbers = elements.as_primitive_opt::<Int32Type>().ok_or_else(comes_as)?;
            Box::new(move |at| Ok(numbers.value(at).to_string()))
        }
        PgType::Int8 => {
            let numbers = elements.as_primitive_opt::<Int64Type>().ok_or_else(comes_as)?;
            Box::new(move |at| Ok(numbers.value(at).to_string()))
        }
        _ => {
            let keys = key_writer(ty, elements.as_ref())?;
            Box::new(move |at| {
                let mut bytes = Vec::new();
                keys.write(at, &mut bytes)?;
                let mut hex = String::with_capacity(2 * bytes.len());
                bytes.iter().for_each(|byte| {
                    let _ = write!(hex, "{byte:02x}");
                });
                Ok(marked('x', &hex))
            })
        }
    })
}

pub(super) fn items(ty: &SqlType, arrays: &dyn Array) -> PgResult<Vec<Option<Vec<String>>>> {
    let column = ArrayColumn::open(arrays)?;
    let elements = column.leaf();
    let write = writer(ty, elements)?;
    let item = |at: usize| if elements.is_null(at) { Ok(NULL.to_owned()) } else { write(at) };
    let of_row = |row: usize| match column.get(row) {
        None => Ok(None),
        Some(value) if value.is_empty() => Ok(Some(vec![EMPTY.to_owned()])),
        Some(value) => (value.start..value.end).map(item).collect::<PgResult<Vec<_>>>().map(Some),
    };
    (0..arrays.len()).map(of_row).collect()
}

/// The items of a constant array, NULL elements apart.
fn of_constant(ty: &SqlType, constant: &ScalarValue) -> Option<(Vec<String>, bool)> {
    let ScalarValue::Struct(column) = constant else { return None };
    let mut items = items(ty, column.as_ref()).ok()?.pop()??;
    items.sort_unstable();
    items.dedup();
    let of_nulls = items.len();
    items.retain(|item| item != NULL);
    let nulls = items.len() < of_nulls;
    Some((items, nulls))
}

pub(super) fn sought(ty: &SqlType, operator: &str, constant: &ScalarValue) -> Option<Sought> {
    let (items, nulls) = of_constant(ty, constant)?;
    let empty = items.iter().any(|item| item == EMPTY);
    let each = |items: Vec<String>| items.into_iter().map(|item| Some(Sought::Item(item)));
    match operator {
        // NULL is no element of anything.
        "@>" if nulls => Some(Sought::Nothing),
        "@>" if empty => None,
        "@>" => Sought::all(each(items)),
        "&&" if empty => Some(Sought::Nothing),
        "&&" => Sought::any(each(items)),
        "<@" if empty => Some(Sought::Item(EMPTY.to_owned())),
        "<@" => Sought::any(each(items).chain([Some(Sought::Item(EMPTY.to_owned()))])),
        "=" => Sought::all(each(items).chain(nulls.then(|| Some(Sought::Item(NULL.to_owned()))))),
        _ => None,
    }
}

pub(super) fn sought_element(ty: &SqlType, constant: &ScalarValue) -> Option<Sought> {
    if constant.is_null() {
        return Some(Sought::Nothing);
    }
    let elements = constant.to_array().ok()?;
    writer(ty, &elements).ok()?(0).ok().map(Sought::Item)
}
