//! Which expressions may raise an error for some row, and in which order conditions are evaluated.
//!
//! Most computations run over all rows of a batch at once. One that may raise must not run for rows that a condition before it has
//! decided: users write `n = 0 OR 10 / n > 1`. What cannot raise may run for any rows, and is what vectors, key ranges and join keys
//! are made of. So everything that chooses between the two asks here.
//!
//! Invariant: an expression that is reported not to raise does not; to report too many as raising only costs time.
//! Read `plan::guard` next.

use crate::typed::constant;
use crate::typed::tree::{Expr, ExprKind};
use arrow::array::Array as _;
use datafusion_common::ScalarValue;
use stoa_pg::registry::{FuncKind, Oper, OperKind, Volatility};
use stoa_pg::values::array::elements_of_value;
use stoa_pg::{EvalContext, PgType, SqlType};

/// Whether an expression may raise an error for some row.
#[must_use]
pub fn may_raise(eval: &EvalContext, e: &Expr) -> bool {
    crate::typed::deeper(|| match &e.kind {
        ExprKind::Column(_) | ExprKind::Const(_) | ExprKind::Param(_) => false,
        _ if raises_itself(eval, e) => !is_steady_constant(eval, e),
        _ => e.children().into_iter().any(|child| may_raise(eval, child)),
    })
}

/// Whether an expression reads nothing and has a value: it is computed once.
fn is_steady_constant(eval: &EvalContext, e: &Expr) -> bool {
    let varies = |x: &Expr| match &x.kind {
        ExprKind::Column(_) | ExprKind::Param(_) => true,
        ExprKind::Func { func, .. } => func.0.volatility == Volatility::Volatile || crate::typed::raises::may_take_long(x),
        ExprKind::Oper { oper, .. } => oper.0.volatility == Volatility::Volatile,
        _ => false,
    };
    !e.any(&mut |x| varies(x)) && matches!(constant::evaluate(eval, e), Ok(Some(_)))
}

/// Whether what a node does with the values of its children may raise.
pub fn raises_itself(eval: &EvalContext, e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Column(_)
        | ExprKind::Const(_)
        | ExprKind::Param(_)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Not(_)
        | ExprKind::IsNull(_)
        | ExprKind::IsNotNull(_)
        | ExprKind::IsBool { .. }
        | ExprKind::IsDistinct { .. }
        | ExprKind::Case { .. }
        | ExprKind::Coalesce(_)
        | ExprKind::Once { .. }
        | ExprKind::Given(_)
        | ExprKind::Extreme { .. }
        | ExprKind::Row(_)
        | ExprKind::Field { .. }
        | ExprKind::RowIsNull { .. }
        | ExprKind::Exists(_) => false,
        // Arrays of one array must have its dimensions.
        ExprKind::Array(items) => items.iter().any(|item| item.ty.ty.is_array()),
        ExprKind::Subscript { array, .. } | ExprKind::Slice { array, .. } => !array.ty.ty.is_array(),
        ExprKind::AnyArray { oper, array, .. } => operator_raises(eval, &oper.0, array),
        ExprKind::Oper { oper, args } => args.last().is_none_or(|last| operator_raises(eval, &oper.0, last)),
        ExprKind::Cast { arg, explicit } => cast_raises(&arg.ty, &e.ty, *explicit),
        ExprKind::Func { func, args } => match &func.0.kind {
            FuncKind::Scalar(_) => function_raises(func.0.name, args),
            FuncKind::System => !args.is_empty(),
            _ => true,
        },
        ExprKind::ScalarSubquery(_)
        | ExprKind::ArraySubquery(_)
        | ExprKind::AnyQuery { .. }
        | ExprKind::Aggregate(_)
        | ExprKind::Window(_)
        | ExprKind::Set(_)
        | ExprKind::Grouping(_) => true,
    }
}

/// `right` is the operand on the right side, or the array of them.
fn operator_raises(eval: &EvalContext, oper: &Oper, right: &Expr) -> bool {
    let integer = |ty: &PgType| matches!(ty, PgType::Int2 | PgType::Int4 | PgType::Int8);
    if oper.comparison.is_some() {
        return false;
    }
    match &oper.kind {
        OperKind::Native(_) => false,
        OperKind::Kernel(_) => match oper.name {
            "=" | "<>" | "<" | "<=" | ">" | ">=" | "->" | "->>" | "#>" | "#>>" | "@>" | "<@" | "?" | "?|" | "?&" | "^@" | "@@" | "@?" => {
                false
            }
            // Arrays of several dimensions fit together or do not.
            "||" => oper.ret.is_array() || matches!(oper.ret, PgType::AnyCompatibleArray),
            "&&" => oper.ret != PgType::Bool,
            "+" if oper.left.is_none() => false,
            "-" if oper.left.is_none() => !matches!(oper.right, PgType::Float4 | PgType::Float8 | PgType::Numeric),
            "~" if oper.left.is_none() => !integer(&oper.right),
            // The pattern is wrong, or it is not.
            "~~" | "!~~" | "~~*" | "!~~*" | "~" | "!~" | "~*" | "!~*" => !takes_pattern(eval, oper, right),
            _ => true,
        },
    }
}

/// Whether a pattern is a constant that can be matched.
fn takes_pattern(eval: &EvalContext, oper: &Oper, pattern: &Expr) -> bool {
    let ExprKind::Const(value @ ScalarValue::Utf8View(_)) = &pattern.kind else { return false };
    let OperKind::Kernel(kernel) = &oper.kind else { return false };
    let text = SqlType::new(PgType::Text);
    let types = [text.clone(), text];
    let (ret, empty) = (SqlType::new(PgType::Bool), ScalarValue::Utf8View(Some(String::new())));
    let call = stoa_pg::args::Call { ctx: eval, rows: 1, arg_types: &types, ret: &ret, explicit: false };
    let args: datafusion_common::Result<Vec<_>> =
        [&empty, value].into_iter().map(|v| Ok(stoa_pg::args::Arg { array: v.to_array()?, constant: true })).collect();
    args.is_ok_and(|args| kernel(&call, &args).is_ok())
}

fn cast_raises(from: &SqlType, to: &SqlType, explicit: bool) -> bool {
    use PgType as T;
    if from.ty == to.ty && from.typmod == to.typmod && from.arrow == to.arrow {
        return false;
    }
    let integer_digits = |ty: &SqlType| match ty.ty {
        T::Int2 => Some(5),
        T::Int4 => Some(10),
        T::Int8 => Some(19),
        T::Numeric => ty.decimal_parts().map(|(p, s)| i16::from(p) - i16::from(s)),
        _ => None,
    };
    let scale = |ty: &SqlType| ty.decimal_parts().map_or(0, |(_, s)| s);
    match (&from.ty, &to.ty) {
        // A text form has every value; a length cuts where it is asked for, and refuses where it is not.
        (_, T::Text) => false,
        (from, T::Varchar | T::Bpchar) => to.typmod >= 0 && !(explicit && from.is_string()),
        (T::Int2, T::Int4 | T::Int8) | (T::Int4, T::Int8) => false,
        (T::Int2 | T::Int4 | T::Int8, T::Float4 | T::Float8) | (T::Float4, T::Float8) => false,
        (T::Bool, T::Int4) => false,
        (T::Int2 | T::Int4 | T::Int8 | T::Numeric, T::Numeric) => match to.decimal_parts() {
            Some((p, s)) => {
                let wide = |digits| digits <= i16::from(p) - i16::from(s);
                !integer_digits(from).is_some_and(wide) || scale(from) > s
            }
            None => to.typmod >= 0,
        },
        (T::Timestamp | T::Timestamptz, T::Date | T::Time) | (T::Timestamptz, T::Timetz) => false,
        (T::Json, T::Jsonb) => true,
        (T::Jsonb, T::Json) => false,
        _ => true,
    }
}

/// Whether a function may raise: those that are not named do. What reads a keyword or a count does only where that is no good constant.
fn function_raises(name: &str, args: &[Expr]) -> bool {
    let text = |at: usize| match args.get(at).map(|arg| &arg.kind) {
        Some(ExprKind::Const(ScalarValue::Utf8View(Some(text)))) => Some(text.as_str()),
        _ => None,
    };
    let count = |at: usize| match args.get(at).map(|arg| &arg.kind) {
        Some(ExprKind::Const(ScalarValue::Int32(Some(n)))) => Some(*n),
        _ => None,
    };
    match name {
        "length"
        | "char_length"
        | "character_length"
        | "octet_length"
        | "bit_length"
        | "lower"
        | "upper"
        | "initcap"
        | "btrim"
        | "ltrim"
        | "rtrim"
        | "concat"
        | "concat_ws"
        | "left"
        | "right"
        | "reverse"
        | "md5"
        | "ascii"
        | "starts_with"
        | "strpos"
        | "position"
        | "quote_literal"
        | "quote_ident"
        | "quote_nullable"
        | "array_length"
        | "array_ndims"
        | "array_lower"
        | "array_upper"
        | "cardinality"
        | "num_nulls"
        | "num_nonnulls"
        | "ceil"
        | "ceiling"
        | "floor"
        | "sign"
        | "trunc"
        | "json_typeof"
        | "jsonb_typeof"
        | "isfinite"
        | "now"
        | "random"
        | "clock_timestamp"
        | "statement_timestamp"
        | "transaction_timestamp"
        | "plainto_tsquery"
        | "phraseto_tsquery"
        | "websearch_to_tsquery"
        | "ts_rank"
        | "score"
        | "contains"
        | "snippet" => false,
        // What the strings of a json mean is only known when they are read.
        "to_tsvector" => args.iter().any(|arg| arg.ty.ty == PgType::Json),
        "abs" => !args.iter().all(|arg| matches!(arg.ty.ty, PgType::Numeric | PgType::Float4 | PgType::Float8)),
        "round" => args.len() > 1 || !args.iter().all(|arg| matches!(arg.ty.ty, PgType::Numeric | PgType::Float8)),
        "substring" | "substr" => match args {
            [_, from] => from.ty.ty != PgType::Int4,
            [_, _, _] => count(2).is_none_or(|n| n < 0),
            _ => true,
        },
        "split_part" => count(2).is_none_or(|n| n == 0),
        "lpad" | "rpad" => count(1).is_none_or(|n| n >= 1 << 20),
        "extract" | "date_part" => !matches!(
            (text(0), args.get(1).map(|arg| &arg.ty.ty)),
            (
                Some("year" | "month" | "day" | "quarter" | "week" | "dow" | "isodow" | "doy" | "isoyear" | "decade" | "century" | "epoch"),
                Some(PgType::Date | PgType::Timestamp | PgType::Timestamptz)
            ) | (Some("hour" | "minute" | "second"), Some(PgType::Timestamp | PgType::Timestamptz))
        ),
        "date_trunc" => {
            args.len() > 2 || !matches!(text(0), Some("year" | "quarter" | "month" | "week" | "day" | "hour" | "minute" | "second"))
        }
        _ => true,
    }
}

/// What a node costs in half calls, as PostgreSQL counts where it orders conditions.
pub fn own_cost(e: &Expr) -> usize {
    match &e.kind {
        ExprKind::Func { .. } | ExprKind::Oper { .. } | ExprKind::IsDistinct { .. } => 2,
        ExprKind::AnyArray { array, .. } => element_count(array).unwrap_or(10),
        // By way of the text form there are two calls, and none between texts.
        ExprKind::Cast { arg, .. } => match (arg.ty.ty.is_string(), e.ty.ty.is_string()) {
            (true, true) => 0,
            (false, false) => 2,
            _ => 4,
        },
        _ => 0,
    }
}

/// The number of elements of an array, of which half are looked at.
fn element_count(array: &Expr) -> Option<usize> {
    match &array.kind {
        ExprKind::Array(items) => Some(items.len()),
        ExprKind::Const(value) => elements_of_value(value).ok().flatten().map(|elements| elements.len()),
        ExprKind::Cast { arg, .. } => element_count(arg),
        _ => None,
    }
}

fn cost(e: &Expr) -> usize {
    cost_unless_constant(e).unwrap_or(0)
}

/// What an expression costs for each row; `None` if it is computed before there is one.
fn cost_unless_constant(e: &Expr) -> Option<usize> {
    crate::typed::deeper(|| {
        let children: Vec<Option<usize>> = e.children().into_iter().map(cost_unless_constant).collect();
        let read = match &e.kind {
            ExprKind::Const(_) => false,
            // Literals are given their type before anything else, whatever the settings.
            ExprKind::Cast { .. } => false,
            ExprKind::Func { .. } | ExprKind::Oper { .. } | ExprKind::AnyArray { .. } => !constant::is_immutable_call(e),
            _ => children.is_empty(),
        };
        (read || children.iter().any(Option::is_some)).then(|| own_cost(e) + children.into_iter().flatten().sum::<usize>())
    })
}

/// Puts conditions that must all hold in the order in which they are evaluated: those that cannot raise come first, of the others, as in
/// PostgreSQL, those that cost less, and of equal ones equalities last; otherwise they stay as they are written.
pub fn in_turn<T: AsRef<Expr>>(eval: &EvalContext, conditions: &mut [T]) {
    if conditions.len() > 1 {
        conditions.sort_by_cached_key(|condition| {
            let condition = condition.as_ref();
            let is_equality = matches!(&condition.kind, ExprKind::Oper { oper, .. } if oper.0.name == "=");
            if may_raise(eval, condition) { 1 + 2 * cost(condition) + usize::from(is_equality) } else { 0 }
        });
    }
}

impl AsRef<Expr> for Expr {
    fn as_ref(&self) -> &Expr {
        self
    }
}

/// Whether a call may take very long: because it gives much more than it is given, as a number among its arguments says, or because it
/// searches for a regular expression with references.
pub fn may_take_long(expr: &Expr) -> bool {
    const MUCH: i64 = 10_000;
    let (func, args) = match &expr.kind {
        ExprKind::Func { func, args } => (func, args),
        ExprKind::Oper { oper, args } => return matches!(oper.0.name, "~" | "~*" | "!~" | "!~*") && may_refer(args),
        _ => return false,
    };
    if func.0.name.starts_with("regexp_") || func.0.name == "substring" {
        return may_refer(args);
    }
    matches!(func.0.name, "repeat" | "lpad" | "rpad" | "array_fill")
        && args.iter().any(|arg| match &arg.kind {
            ExprKind::Const(ScalarValue::Int32(Some(n))) => i64::from(*n) > MUCH,
            ExprKind::Const(ScalarValue::Struct(_)) => true,
            ExprKind::Const(_) => false,
            _ => matches!(arg.ty.ty, PgType::Int4 | PgType::Array(_)),
        })
}

/// Whether the second argument is no regular expression without references.
fn may_refer(args: &[Expr]) -> bool {
    match args.get(1).map(|pattern| (&pattern.kind, &pattern.ty.ty)) {
        Some((ExprKind::Const(ScalarValue::Utf8View(Some(pattern))), _)) => {
            pattern.as_bytes().windows(2).any(|two| matches!(two, [b'\\', b'1'..=b'9']))
        }
        Some((ExprKind::Const(_), _)) | None => false,
        Some((_, ty)) => ty.is_string(),
    }
}
