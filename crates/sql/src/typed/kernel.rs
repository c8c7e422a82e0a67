//! The kernel of each operator, cast and construct: one way to compute them, for constants, plans and constraints.

use crate::typed::tree::{Expr, ExprKind};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Datum, Scalar, StructArray, new_null_array};
use arrow::compute::kernels::{cmp, zip::zip};
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;
use stoa_pg::args::{Arg, Call, Kernel};
use stoa_pg::registry::{FuncKind, NativeOp, OperKind};
use stoa_pg::types::array_item;
use stoa_pg::{PgError, PgResult, PgType};

/// An argument as Arrow's kernels take it: a constant is a scalar unless all are.
fn datums(args: &[Arg]) -> Vec<Box<dyn Datum>> {
    let all = args.iter().all(|a| a.constant);
    args.iter()
        .map(|a| -> Box<dyn Datum> {
            if a.constant && !all { Box::new(Scalar::new(a.array.clone())) } else { Box::new(a.array.clone()) }
        })
        .collect()
}

/// The kernel of an operator that Arrow computes.
pub fn native(op: NativeOp) -> Kernel {
    Arc::new(move |call: &Call, args: &[Arg]| {
        let data = datums(args);
        let (Some(a), b) = (data.first(), data.get(1)) else { return Err(PgError::internal("an operator without arguments")) };
        let a: &dyn Datum = &**a;
        let Some(b) = b else { return Err(PgError::internal("an operator with one argument")) };
        let b: &dyn Datum = &**b;
        let bools = |r: Result<BooleanArray, arrow::error::ArrowError>| -> PgResult<ArrayRef> { Ok(Arc::new(r?)) };
        match op {
            NativeOp::Eq => bools(cmp::eq(a, b)),
            NativeOp::NotEq => bools(cmp::neq(a, b)),
            NativeOp::Lt => bools(cmp::lt(a, b)),
            NativeOp::LtEq => bools(cmp::lt_eq(a, b)),
            NativeOp::Gt => bools(cmp::gt(a, b)),
            NativeOp::GtEq => bools(cmp::gt_eq(a, b)),
            NativeOp::BitAnd | NativeOp::BitOr | NativeOp::BitXor => bitwise(op, call, args),
        }
    })
}

fn bitwise(op: NativeOp, call: &Call, args: &[Arg]) -> PgResult<ArrayRef> {
    use arrow::compute::kernels::bitwise::{bitwise_and, bitwise_or, bitwise_xor};
    use arrow::datatypes::{Int16Type, Int32Type, Int64Type};
    let full = |a: &Arg| -> PgResult<ArrayRef> {
        if a.constant && call.rows != 1 {
            let value = datafusion_common::ScalarValue::try_from_array(&a.array, 0).map_err(crate::typed::from_datafusion)?;
            value.to_array_of_size(call.rows).map_err(crate::typed::from_datafusion)
        } else {
            Ok(a.array.clone())
        }
    };
    let (a, b) = (full(stoa_pg::args::arg(args, 0)?)?, full(stoa_pg::args::arg(args, 1)?)?);
    macro_rules! apply {
        ($t:ty) => {{
            let (x, y) = (a.as_primitive::<$t>(), b.as_primitive::<$t>());
            Ok(Arc::new(match op {
                NativeOp::BitAnd => bitwise_and(x, y)?,
                NativeOp::BitOr => bitwise_or(x, y)?,
                _ => bitwise_xor(x, y)?,
            }))
        }};
    }
    match a.data_type() {
        DataType::Int16 => apply!(Int16Type),
        DataType::Int32 => apply!(Int32Type),
        DataType::Int64 => apply!(Int64Type),
        other => Err(PgError::internal(format!("bit operator over {other}"))),
    }
}

/// How an expression is computed from its children's values (in the order of [`Expr::children`]); `None` for nodes that are no
/// plain computation.
pub fn of(expr: &Expr) -> PgResult<Option<Kernel>> {
    Ok(match &expr.kind {
        ExprKind::Oper { oper, args } => match &oper.0.kind {
            // Decimals are compared by Arrow: NaN is the greatest of them.
            OperKind::Kernel(kernel) => match decimal_comparison(oper.0.name, args) {
                Some(op) => Some(native(op)),
                None => Some(kernel.clone()),
            },
            OperKind::Native(op) => Some(native(*op)),
        },
        ExprKind::Func { func, .. } => match &func.0.kind {
            FuncKind::Scalar(kernel) => Some(kernel.clone()),
            FuncKind::System => {
                let name = func.0.name;
                let strict = func.0.strict;
                Some(system(name, strict))
            }
            _ => None,
        },
        ExprKind::Cast { arg, explicit } => match stoa_pg::casts::cast_kernel(&arg.ty, &expr.ty, *explicit)? {
            Some(kernel) => Some(kernel),
            None => Some(Arc::new(|call: &Call, args: &[Arg]| {
                let _ = call;
                Ok(stoa_pg::args::arg(args, 0)?.array.clone())
            })),
        },
        ExprKind::Extreme { greatest, .. } => Some(extreme(*greatest)),
        ExprKind::Array(_) => Some(stoa_pg::functions::subscript::constructor_kernel()),
        ExprKind::Row(_) => Some(row()),
        ExprKind::Field { index, .. } => Some(field(*index)),
        ExprKind::RowIsNull { negated, .. } => Some(row_is_null(*negated)),
        ExprKind::Subscript { .. } => Some(stoa_pg::functions::subscript::subscript_kernel()),
        ExprKind::Slice { bounds, .. } => {
            let shape: Vec<(bool, bool)> = bounds.iter().map(|(l, u)| (l.is_some(), u.is_some())).collect();
            Some(stoa_pg::functions::subscript::slice_kernel(shape))
        }
        ExprKind::AnyArray { left, oper, array, all } => {
            let kind = match &oper.0.kind {
                OperKind::Kernel(_) if left.ty.decimal_parts().is_some() && array_is_decimal(array) => match comparison_of(oper.0.name) {
                    Some(op) => OperKind::Native(op),
                    None => oper.0.kind.clone(),
                },
                kind => kind.clone(),
            };
            Some(stoa_pg::operators::quantified::any_all_kernel(kind, oper.0.comparison, !*all))
        }
        _ => None,
    })
}

fn array_is_decimal(array: &Expr) -> bool {
    matches!(array_item(&array.ty.arrow), Some(DataType::Decimal128(..)))
}

/// Which native operator compares two decimals.
fn decimal_comparison(name: &str, args: &[Expr]) -> Option<NativeOp> {
    let decimals = args.len() == 2 && args.iter().all(|a| a.ty.decimal_parts().is_some());
    if decimals { comparison_of(name) } else { None }
}

/// The comparison that an operator's name stands for.
#[must_use]
pub fn comparison_of(name: &str) -> Option<NativeOp> {
    Some(match name {
        "=" => NativeOp::Eq,
        "<>" => NativeOp::NotEq,
        "<" => NativeOp::Lt,
        "<=" => NativeOp::LtEq,
        ">" => NativeOp::Gt,
        ">=" => NativeOp::GtEq,
        _ => return None,
    })
}

/// A function that the engine answers row by row.
fn system(name: &'static str, strict: bool) -> Kernel {
    Arc::new(move |call: &Call, args: &[Arg]| {
        let mut out = Vec::with_capacity(call.rows);
        let mut values = Vec::with_capacity(args.len());
        for row in 0..call.rows {
            values.clear();
            for a in args {
                values.push(datafusion_common::ScalarValue::try_from_array(&a.array, a.at(row)).map_err(crate::typed::from_datafusion)?);
            }
            if strict && values.iter().any(datafusion_common::ScalarValue::is_null) {
                out.push(datafusion_common::ScalarValue::try_from(&call.ret.arrow).map_err(crate::typed::from_datafusion)?);
            } else {
                let value = call.ctx.system.call(name, &values, call.ret)?;
                out.push(if call.ret.ty == PgType::Void { datafusion_common::ScalarValue::Utf8View(Some(String::new())) } else { value });
            }
        }
        if out.is_empty() {
            return Ok(new_null_array(&call.ret.arrow, 0));
        }
        datafusion_common::ScalarValue::iter_to_array(out).map_err(crate::typed::from_datafusion)
    })
}

fn expand(arg: &Arg, rows: usize) -> PgResult<ArrayRef> {
    if arg.constant && rows != arg.array.len() {
        let value = datafusion_common::ScalarValue::try_from_array(&arg.array, 0).map_err(crate::typed::from_datafusion)?;
        return value.to_array_of_size(rows).map_err(crate::typed::from_datafusion);
    }
    Ok(arg.array.clone())
}

/// GREATEST and LEAST: NULLs are left out.
fn extreme(greatest: bool) -> Kernel {
    Arc::new(move |call: &Call, args: &[Arg]| {
        let mut best = expand(stoa_pg::args::arg(args, 0)?, call.rows)?;
        for next in &args[1..] {
            let next = expand(next, call.rows)?;
            let (best_key, next_key) = (stoa_pg::values::sort_key(call.ret, &best)?, stoa_pg::values::sort_key(call.ret, &next)?);
            let better = if greatest { cmp::gt(&next_key, &best_key)? } else { cmp::lt(&next_key, &best_key)? };
            let take: BooleanArray =
                (0..call.rows).map(|i| Some(!next.is_null(i) && (best.is_null(i) || (better.is_valid(i) && better.value(i))))).collect();
            best = zip(&take, &next, &best)?;
        }
        Ok(best)
    })
}

/// ROW(…) as a struct.
fn row() -> Kernel {
    Arc::new(|call: &Call, args: &[Arg]| {
        let DataType::Struct(fields) = &call.ret.arrow else { return Err(PgError::internal("a row that is no struct")) };
        let columns = args.iter().map(|a| expand(a, call.rows)).collect::<PgResult<Vec<_>>>()?;
        if columns.is_empty() {
            return Ok(Arc::new(StructArray::new_empty_fields(call.rows, None)));
        }
        let fields: Vec<Field> = fields.iter().zip(&columns).map(|(f, c)| Field::new(f.name(), c.data_type().clone(), true)).collect();
        Ok(Arc::new(StructArray::try_new(fields.into(), columns, None)?))
    })
}

/// Whether all fields of records are NULL, or none; of a NULL record all are. A record in a field is a value, whatever is in it.
fn row_is_null(negated: bool) -> Kernel {
    Arc::new(move |_: &Call, args: &[Arg]| {
        let arg = stoa_pg::args::arg(args, 0)?;
        let record = arg.array.as_struct_opt().ok_or_else(|| PgError::internal("fields of what is no record"))?;
        let none = |row: usize| record.columns().iter().all(|column| column.is_null(row) != negated);
        let values = (0..record.len()).map(|row| Some(if record.is_null(row) { !negated } else { none(row) }));
        Ok(Arc::new(values.collect::<BooleanArray>()))
    })
}

fn field(index: usize) -> Kernel {
    Arc::new(move |_: &Call, args: &[Arg]| {
        let arg = stoa_pg::args::arg(args, 0)?;
        let record = arg.array.as_struct_opt().ok_or_else(|| PgError::internal("a field of what is no record"))?;
        let column = record.columns().get(index).ok_or_else(|| PgError::internal("a record without the field"))?;
        // A NULL record has NULL fields.
        Ok(match record.nulls() {
            Some(nulls) => {
                let mask = BooleanArray::new(nulls.inner().clone(), None);
                zip(&mask, column, &Scalar::new(new_null_array(column.data_type(), 1)))?
            }
            None => column.clone(),
        })
    })
}
