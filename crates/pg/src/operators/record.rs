//! Comparison of values of row types: field by field from the left, NULL fields equal to each other and greatest.
//!
//! Rows that are written out, `(a, b) = (c, d)`, are compared by the binder as SQL defines it, with NULLs unknown.

use crate::args::{Arg, Bool, Call, Kernel, Kind};
use crate::error::{PgError, PgResult};
use crate::registry::{NativeOp, OperKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::{PgType, RecordType, SqlType};
use crate::values::record::field_types;
use crate::values::sort_key;
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, StructArray};
use std::cmp::Ordering;
use std::sync::Arc;

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    let comparisons: [(&str, NativeOp, fn(Ordering) -> bool); 6] = [
        ("=", NativeOp::Eq, Ordering::is_eq),
        ("<>", NativeOp::NotEq, Ordering::is_ne),
        ("<", NativeOp::Lt, Ordering::is_lt),
        ("<=", NativeOp::LtEq, Ordering::is_le),
        (">", NativeOp::Gt, Ordering::is_gt),
        (">=", NativeOp::GtEq, Ordering::is_ge),
    ];
    for (name, meaning, holds) in comparisons {
        r.comparison(name, PgType::Record(None), PgType::Record(None), OperKind::Kernel(compared(holds)), meaning);
    }
}

fn compared(holds: fn(Ordering) -> bool) -> Kernel {
    Arc::new(move |call, args| {
        let [left, right] = args else { return Err(PgError::internal("a comparison of two")) };
        if left.array.as_struct_opt().is_none() || right.array.as_struct_opt().is_none() {
            // NULLs of no row type in particular.
            let mut nulls = Bool::builder(call.rows);
            nulls.extend(std::iter::repeat_n(None, call.rows));
            return Bool::finish(nulls, call.ret);
        }
        let (left_type, right_type) = (argument_type(call, 0)?, argument_type(call, 1)?);
        let (left_fields, right_fields) = (fields(left_type, left), fields(right_type, right));
        let alike = comparable(&left_fields, &right_fields);
        let keys = |ty: &SqlType, arg: &Arg, fields: &[SqlType]| match &alike {
            Ok(()) => sort_key(ty, &arg.array),
            Err((count, _)) => sort_key_of_first(arg, fields, *count),
        };
        let (left_keys, right_keys) = (keys(left_type, left, &left_fields)?, keys(right_type, right, &right_fields)?);
        let mut out = Bool::builder(call.rows);
        for row in 0..call.rows {
            let pair = key(left, left_keys.as_binary_view_opt(), row).zip(key(right, right_keys.as_binary_view_opt(), row));
            // Fields before those that differ in type may decide.
            if let (Err((_, error)), Some((a, b))) = (&alike, pair)
                && a == b
            {
                return Err(error.clone());
            }
            out.push(pair.map(|(a, b)| holds(a.cmp(b))));
        }
        Bool::finish(out, call.ret)
    })
}

fn argument_type<'a>(call: &'a Call, at: usize) -> PgResult<&'a SqlType> {
    call.arg_types.get(at).ok_or_else(|| PgError::internal("an argument without a type"))
}

fn fields(ty: &SqlType, arg: &Arg) -> Vec<SqlType> {
    arg.array.as_struct_opt().map_or_else(Vec::new, |rows| field_types(ty, rows))
}

fn key<'a>(arg: &Arg, keys: Option<&'a BinaryViewArray>, row: usize) -> Option<&'a [u8]> {
    let at = arg.at(row);
    keys.filter(|keys| !keys.is_null(at)).map(|keys| keys.value(at))
}

/// The sort keys of rows by their first fields.
fn sort_key_of_first(arg: &Arg, types: &[SqlType], count: usize) -> PgResult<ArrayRef> {
    let Some(rows) = arg.array.as_struct_opt() else { return Err(PgError::internal("rows are structs")) };
    let names = rows.fields().iter().take(count);
    let fields = names.clone().zip(types).map(|(field, ty)| (field.name().clone(), ty.clone())).collect();
    let columns = rows.columns().iter().take(count).cloned().collect();
    let first = StructArray::try_new_with_length(names.cloned().collect(), columns, rows.nulls().cloned(), rows.len())
        .map_err(|e| PgError::internal(e.to_string()))?;
    sort_key(&SqlType::new(PgType::Record(Some(Arc::new(RecordType { fields })))), &(Arc::new(first) as ArrayRef))
}

/// For rows that have other columns than each other, how many are alike from the left, and 42804.
fn comparable(left: &[SqlType], right: &[SqlType]) -> Result<(), (usize, PgError)> {
    let error = |message: String| PgError::new(SqlState::DATATYPE_MISMATCH, message);
    for (i, (l, r)) in left.iter().zip(right).enumerate() {
        if l.ty != r.ty {
            return Err((i, error(format!("cannot compare dissimilar column types {} and {} at record column {}", l.ty, r.ty, i + 1))));
        }
    }
    if left.len() != right.len() {
        return Err((left.len().min(right.len()), error("cannot compare record types with different numbers of columns".into())));
    }
    Ok(())
}
