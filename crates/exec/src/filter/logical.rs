//! DataFusion's filter expressions as [`Predicate`]s.
//!
//! Comparisons reach a scan as native expressions where Arrow compares as PostgreSQL does, and as calls of our kernels (named by
//! operator and OID: `<#1203`) where not. What is not recognised is [`Predicate::Unknown`]: it stays a filter.
//!
//! Invariant: casts are looked through only where they keep order and lose nothing, so that the constant can be brought to the
//! column's type instead.

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Case, Expr, Like, Operator};
use stoa_pg::SqlType;
use stoa_pg::types::PgType;
use stoa_pg::values::array::elements_of_value;
use stoa_pg::values::datetime::epoch;
use stoa_sql::typed::expr::IN_ROWS;
use stoa_sql::typed::udf::KernelUdf;
use stoa_table::access::{Comparison, Predicate};
use stoa_table::catalog::ColumnId;

/// The columns of a scan by the names that its plan gives them.
pub trait ScanColumns {
    fn column(&self, name: &str) -> Option<(ColumnId, &SqlType)>;

    /// What stands for an expression that an index has as a part.
    fn expression(&self, _: &Expr) -> Option<(ColumnId, &SqlType)> {
        None
    }
}

/// What a filter says.
#[must_use]
pub fn predicate(expr: &Expr, columns: &dyn ScanColumns) -> Predicate {
    convert(expr, columns, false)
}

/// With `negated`, what `NOT expr` says.
fn convert(expr: &Expr, columns: &dyn ScanColumns, negated: bool) -> Predicate {
    match expr {
        Expr::Alias(alias) => convert(&alias.expr, columns, negated),
        Expr::Not(inner) => convert(inner, columns, !negated),
        Expr::Literal(ScalarValue::Boolean(value), _) => match value {
            Some(value) if *value != negated => Predicate::Always,
            _ => Predicate::Never,
        },
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => both(left, right, columns, negated, !negated),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => both(left, right, columns, negated, negated),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => binary(left, *op, right, columns, negated),
        Expr::IsNull(inner) | Expr::IsUnknown(inner) => is_null(inner, columns, !negated),
        Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => is_null(inner, columns, negated),
        // IS TRUE and the rest are never NULL: negation turns one into the other.
        Expr::IsTrue(inner) => truth(inner, columns, true, negated),
        Expr::IsFalse(inner) => truth(inner, columns, false, negated),
        Expr::IsNotTrue(inner) => truth(inner, columns, true, !negated),
        Expr::IsNotFalse(inner) => truth(inner, columns, false, !negated),
        Expr::InList(InList { expr, list, negated: not }) => in_list(expr, list, columns, *not != negated),
        Expr::Between(Between { expr, negated: not, low, high }) => {
            let (Some(target), Some(low), Some(high)) = (Target::of(expr, columns), literal(low), literal(high)) else {
                return Predicate::Unknown;
            };
            if *not == negated {
                Predicate::and(vec![target.compare(Comparison::GreaterEqual, low), target.compare(Comparison::LessEqual, high)])
            } else {
                Predicate::or(vec![target.compare(Comparison::Less, low), target.compare(Comparison::Greater, high)])
            }
        }
        Expr::Like(Like { negated: false, expr, pattern, escape_char, case_insensitive: false }) if !negated => {
            match (Target::of(expr, columns), literal(pattern)) {
                (Some(target), Some(pattern)) => like(&target, pattern, escape_char.unwrap_or('\\')),
                _ => Predicate::Unknown,
            }
        }
        Expr::ScalarFunction(call) => function(call, columns, negated),
        Expr::Case(case) if !negated => guarded(case, columns),
        Expr::Column(_) => match Target::of(expr, columns) {
            Some(target) if target.ty.ty == PgType::Bool && target.cast == CastForm::None => {
                target.compare(Comparison::Equal, &ScalarValue::Boolean(Some(!negated)))
            }
            _ => Predicate::Unknown,
        },
        _ => Predicate::Unknown,
    }
}

fn both(left: &Expr, right: &Expr, columns: &dyn ScanColumns, negated: bool, conjunction: bool) -> Predicate {
    let parts = vec![convert(left, columns, negated), convert(right, columns, negated)];
    if conjunction { Predicate::and(parts) } else { Predicate::or(parts) }
}

/// AND and OR whose operands are computed in turn, as `plan::guard` writes them.
fn guarded(case: &Case, columns: &dyn ScanColumns) -> Predicate {
    let truth = |e: &Expr| match literal(e) {
        Some(ScalarValue::Boolean(value)) => *value,
        _ => None,
    };
    let (Some(true), Some(last)) = (case.expr.as_deref().and_then(truth), &case.else_expr) else { return Predicate::Unknown };
    let mut parts = Vec::with_capacity(case.when_then_expr.len() + 1);
    let all = case.when_then_expr.iter().all(|(_, then)| truth(then) == Some(false));
    for (when, then) in &case.when_then_expr {
        parts.push(match (&**when, truth(then)) {
            (Expr::IsNotTrue(test), Some(false)) if all => convert(test, columns, false),
            (test, Some(true)) => convert(test, columns, false),
            _ => return Predicate::Unknown,
        });
    }
    parts.push(convert(last, columns, false));
    if all { Predicate::and(parts) } else { Predicate::or(parts) }
}

fn is_null(inner: &Expr, columns: &dyn ScanColumns, null: bool) -> Predicate {
    match Target::of(inner, columns) {
        Some(target) if null => Predicate::IsNull(target.column),
        Some(target) => Predicate::IsNotNull(target.column),
        None => Predicate::Unknown,
    }
}

fn truth(inner: &Expr, columns: &dyn ScanColumns, value: bool, negated: bool) -> Predicate {
    if !negated {
        // True exactly where the expression (or its negation) is.
        return convert(inner, columns, !value);
    }
    match inner {
        Expr::Column(_) => match Target::of(inner, columns) {
            Some(target) if target.ty.ty == PgType::Bool => Predicate::or(vec![
                target.compare(Comparison::Equal, &ScalarValue::Boolean(Some(!value))),
                Predicate::IsNull(target.column),
            ]),
            _ => Predicate::Unknown,
        },
        _ => Predicate::Unknown,
    }
}

pub(super) fn comparison(op: Operator) -> Option<Comparison> {
    Some(match op {
        Operator::Eq => Comparison::Equal,
        Operator::Lt => Comparison::Less,
        Operator::LtEq => Comparison::LessEqual,
        Operator::Gt => Comparison::Greater,
        Operator::GtEq => Comparison::GreaterEqual,
        _ => return None,
    })
}

fn operator_by_name(name: &str) -> Option<Operator> {
    Some(match Comparison::named(name) {
        Some(Comparison::Equal) => Operator::Eq,
        Some(Comparison::Less) => Operator::Lt,
        Some(Comparison::LessEqual) => Operator::LtEq,
        Some(Comparison::Greater) => Operator::Gt,
        Some(Comparison::GreaterEqual) => Operator::GtEq,
        None if name == "<>" => Operator::NotEq,
        None => return None,
    })
}

fn binary(left: &Expr, op: Operator, right: &Expr, columns: &dyn ScanColumns, negated: bool) -> Predicate {
    let op = match (negated, op.negate()) {
        (false, _) => op,
        (true, Some(op)) => op,
        (true, None) => return Predicate::Unknown,
    };
    let (target, op, value) = match (Target::of(left, columns), literal(right)) {
        (Some(target), Some(value)) => (target, op, value),
        _ => match (Target::of(right, columns), literal(left)) {
            (Some(target), Some(value)) => (target, op.swap().unwrap_or(op), value),
            _ => return Predicate::Unknown,
        },
    };
    match op {
        Operator::IsNotDistinctFrom if value.is_null() => Predicate::IsNull(target.column),
        Operator::IsDistinctFrom if value.is_null() => Predicate::IsNotNull(target.column),
        Operator::IsNotDistinctFrom => target.compare(Comparison::Equal, value),
        Operator::IsDistinctFrom => Predicate::or(vec![
            target.compare(Comparison::Less, value),
            target.compare(Comparison::Greater, value),
            Predicate::IsNull(target.column),
        ]),
        Operator::NotEq => Predicate::or(vec![target.compare(Comparison::Less, value), target.compare(Comparison::Greater, value)]),
        other => match comparison(other) {
            Some(op) => target.compare(op, value),
            None => Predicate::Unknown,
        },
    }
}

fn in_list(expr: &Expr, list: &[Expr], columns: &dyn ScanColumns, negated: bool) -> Predicate {
    let Some(target) = Target::of(expr, columns) else { return Predicate::Unknown };
    let Some(values) = list.iter().map(literal).collect::<Option<Vec<_>>>() else { return Predicate::Unknown };
    members(&target, values.into_iter().cloned().collect(), negated)
}

fn members(target: &Target<'_>, values: Vec<ScalarValue>, negated: bool) -> Predicate {
    /// NOT IN of more values than this is not worth its spans.
    const MAX_EXCLUDED: usize = 32;
    if negated {
        if values.iter().any(ScalarValue::is_null) {
            return Predicate::Never;
        }
        if values.len() > MAX_EXCLUDED {
            return Predicate::Unknown;
        }
        let parts = values
            .iter()
            .map(|v| Predicate::or(vec![target.compare(Comparison::Less, v), target.compare(Comparison::Greater, v)]))
            .collect();
        return Predicate::and(parts);
    }
    if target.cast == CastForm::DateOfTimestamp {
        return Predicate::or(values.iter().map(|v| target.compare(Comparison::Equal, v)).collect());
    }
    Predicate::In { column: target.column, values }
}

/// Calls of our kernels: operators, LIKE, `= ANY`, casts to boolean contexts.
fn function(call: &ScalarFunction, columns: &dyn ScanColumns, negated: bool) -> Predicate {
    let name = call.func.name();
    let name = name.split_once('#').map_or(name, |(name, _)| name);
    if name == IN_ROWS && !negated {
        return in_rows(&call.args, columns);
    }
    let [left, right] = call.args.as_slice() else { return Predicate::Unknown };
    if let Some(op) = operator_by_name(name) {
        return binary(left, op, right, columns, negated);
    }
    let target = Target::of(left, columns);
    match (name, target, literal(right)) {
        ("~~", Some(target), Some(pattern)) if !negated => like(&target, pattern, '\\'),
        ("!~~", Some(target), Some(pattern)) if negated => like(&target, pattern, '\\'),
        ("starts_with" | "^@", Some(target), Some(prefix)) if !negated && is_text(&target) => match text(prefix) {
            Some(prefix) if target.ty.ty != PgType::Bpchar => {
                Predicate::Prefix { column: target.column, prefix: prefix.to_owned(), exact: true }
            }
            _ => Predicate::Unknown,
        },
        ("= any", Some(target), _) => match elements(right) {
            Some(values) => members(&target, values, negated),
            None => Predicate::Unknown,
        },
        ("<> all", Some(target), _) => match elements(right) {
            Some(values) => members(&target, values, !negated),
            None => Predicate::Unknown,
        },
        _ => Predicate::Unknown,
    }
}

/// Any of several rows: each value equal to that of its column.
fn in_rows(args: &[Expr], columns: &dyn ScanColumns) -> Predicate {
    let (lefts, lists) = args.split_at(args.len() / 2);
    let Some(lists) = lists.iter().map(elements).collect::<Option<Vec<_>>>() else { return Predicate::Unknown };
    let targets: Vec<Option<Target<'_>>> = lefts.iter().map(|left| Target::of(left, columns)).collect();
    let rows = lists.first().map_or(0, Vec::len);
    let mut any = Vec::with_capacity(rows);
    for row in 0..rows {
        let values: Option<Vec<&ScalarValue>> = lists.iter().map(|list| list.get(row).filter(|value| !value.is_null())).collect();
        // A row with a NULL equals none.
        let Some(values) = values else { continue };
        let equal = |(target, value): (&Option<Target<'_>>, &ScalarValue)| match target {
            Some(target) => target.compare(Comparison::Equal, value),
            None => Predicate::Unknown,
        };
        any.push(Predicate::and(targets.iter().zip(values).map(equal).collect()));
    }
    if any.is_empty() { Predicate::Never } else { Predicate::or(any) }
}

/// The elements of an array that is constant.
fn elements(expr: &Expr) -> Option<Vec<ScalarValue>> {
    match expr {
        Expr::Literal(array @ ScalarValue::Struct(_), _) => {
            let values: ArrayRef = elements_of_value(array).ok()??;
            (0..values.len()).map(|i| ScalarValue::try_from_array(&values, i).ok()).collect()
        }
        Expr::ScalarFunction(call) if call.func.name() == "array" => call.args.iter().map(|a| literal(a).cloned()).collect(),
        Expr::Alias(alias) => elements(&alias.expr),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<&ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value),
        Expr::Alias(alias) => literal(&alias.expr),
        _ => None,
    }
}

fn text(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8View(Some(s)) | ScalarValue::Utf8(Some(s)) | ScalarValue::LargeUtf8(Some(s)) => Some(s),
        _ => None,
    }
}

/// A column, perhaps behind a cast that keeps its order.
struct Target<'a> {
    column: ColumnId,
    ty: &'a SqlType,
    cast: CastForm,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CastForm {
    /// None, or one that changes no value.
    None,
    /// timestamp to date: a day is an interval.
    DateOfTimestamp,
}

fn is_text(target: &Target<'_>) -> bool {
    target.ty.ty.is_string() && target.cast == CastForm::None
}

impl<'a> Target<'a> {
    fn of(expr: &Expr, columns: &'a dyn ScanColumns) -> Option<Self> {
        if let Some((column, ty)) = columns.expression(expr) {
            return Some(Self { column, ty, cast: CastForm::None });
        }
        match expr {
            Expr::Column(column) => {
                let (column, ty) = columns.column(&column.name)?;
                Some(Self { column, ty, cast: CastForm::None })
            }
            Expr::Alias(alias) => Self::of(&alias.expr, columns),
            // DataFusion's are those that make keys of joins wider.
            Expr::Cast(cast) => {
                let target = Self::of(&cast.expr, columns)?;
                let wider = match (&target.ty.arrow, cast.field.data_type()) {
                    (DataType::Int16, DataType::Int32 | DataType::Int64)
                    | (DataType::Int32, DataType::Int64)
                    | (DataType::Int16 | DataType::Int32, DataType::Float64)
                    | (DataType::Float32, DataType::Float64) => true,
                    (from, to) => from == to,
                };
                (wider && target.cast == CastForm::None).then_some(target)
            }
            Expr::ScalarFunction(call) if call.func.name().starts_with("cast as ") => {
                let [arg] = call.args.as_slice() else { return None };
                let kernel = call.func.inner().downcast_ref::<KernelUdf>()?;
                Self::of(arg, columns)?.through(kernel.return_sql_type())
            }
            _ => None,
        }
    }

    /// Behind a cast to this type, where comparisons of its values are comparisons of the column's: it keeps values apart, and their order.
    fn through(mut self, to: &SqlType) -> Option<Self> {
        use PgType::{Bpchar, Date, Float4, Float8, Int2, Int4, Int8, Numeric, Text, Timestamp, Varchar};
        if self.cast != CastForm::None {
            return None;
        }
        // A modifier may cut or round.
        let modified = to.typmod >= 0 && to.typmod != self.ty.typmod;
        let keeps = match (&self.ty.ty, &to.ty) {
            (Numeric, Numeric) => match (&self.ty.arrow, &to.arrow) {
                (DataType::Decimal128(_, a), DataType::Decimal128(_, b)) => b >= a,
                _ => !modified,
            },
            (Int2 | Int4 | Int8, Numeric) => true,
            _ if modified => false,
            (Int2, Int4 | Int8 | Float4 | Float8) | (Int4, Int8 | Float8) | (Float4, Float8) | (Date, Timestamp) => true,
            (Timestamp, Date) => {
                self.cast = CastForm::DateOfTimestamp;
                true
            }
            (Text | Varchar, Text | Varchar) => true,
            // Text has no blanks of those that a type without a length keeps.
            (Bpchar, Text | Varchar) => !self.ty.keeps_blanks(),
            (Bpchar, Bpchar) => self.ty.keeps_blanks() || self.ty.typmod == to.typmod,
            (from, to) => from == to,
        };
        keeps.then_some(self)
    }

    fn compare(&self, op: Comparison, value: &ScalarValue) -> Predicate {
        let column = self.column;
        if self.cast == CastForm::None || value.is_null() {
            return Predicate::compare(column, op, value.clone());
        }
        let ScalarValue::Date32(Some(day)) = value else { return Predicate::Unknown };
        if matches!(*day, i32::MAX | i32::MIN) {
            return Predicate::Unknown;
        }
        let midnight = |day: i64| i64::try_from(epoch::midnight(day)).ok().map(|t| ScalarValue::TimestampMicrosecond(Some(t), None));
        let (Some(from), Some(to)) = (midnight(i64::from(*day)), midnight(i64::from(*day) + 1)) else { return Predicate::Unknown };
        let one = |op, value| Predicate::Compare { column, op, value };
        match op {
            Comparison::Equal => Predicate::and(vec![one(Comparison::GreaterEqual, from), one(Comparison::Less, to)]),
            Comparison::Less => one(Comparison::Less, from),
            Comparison::LessEqual => one(Comparison::Less, to),
            Comparison::Greater => one(Comparison::GreaterEqual, to),
            Comparison::GreaterEqual => one(Comparison::GreaterEqual, from),
        }
    }
}

/// LIKE: what stands before the first wildcard.
fn like(target: &Target<'_>, pattern: &ScalarValue, escape: char) -> Predicate {
    if pattern.is_null() {
        return Predicate::Never;
    }
    let Some(pattern) = text(pattern).filter(|_| is_text(target)) else { return Predicate::Unknown };
    let mut prefix = String::new();
    let mut chars = pattern.chars();
    let mut wildcard: Option<char> = None;
    while let Some(c) = chars.next() {
        if c == escape {
            match chars.next() {
                Some(c) => prefix.push(c),
                // PostgreSQL raises an error; let it.
                None => return Predicate::Unknown,
            }
        } else if matches!(c, '%' | '_') {
            wildcard = Some(c);
            break;
        } else {
            prefix.push(c);
        }
    }
    let column = target.column;
    if target.ty.ty == PgType::Bpchar {
        // Stored without the padding that LIKE sees.
        let prefix = prefix.trim_end_matches(' ').to_owned();
        return if prefix.is_empty() { Predicate::Unknown } else { Predicate::Prefix { column, prefix, exact: false } };
    }
    match wildcard {
        None => Predicate::Compare { column, op: Comparison::Equal, value: ScalarValue::Utf8View(Some(prefix)) },
        Some(c) => {
            let exact = c == '%' && chars.as_str().chars().all(|c| c == '%');
            if prefix.is_empty() && !exact {
                return Predicate::Unknown;
            }
            Predicate::Prefix { column, prefix, exact }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::logical_expr::{col, lit};

    struct Columns(Vec<(String, SqlType)>);

    impl ScanColumns for Columns {
        fn column(&self, name: &str) -> Option<(ColumnId, &SqlType)> {
            let at = self.0.iter().position(|(n, _)| n == name)?;
            Some((ColumnId(at as u32 + 1), &self.0[at].1))
        }
    }

    fn columns() -> Columns {
        Columns(vec![
            ("i".into(), SqlType::new(PgType::Int4)),
            ("t".into(), SqlType::new(PgType::Text)),
            ("b".into(), SqlType::new(PgType::Bool)),
            ("ts".into(), SqlType::new(PgType::Timestamp)),
        ])
    }

    fn show(expr: &Expr) -> String {
        fn go(p: &Predicate, out: &mut String) {
            match p {
                Predicate::Compare { column, op, value } => out.push_str(&format!("c{}{}{value}", column.0, op.symbol())),
                Predicate::In { column, values } => out.push_str(&format!("c{} in {}", column.0, values.len())),
                Predicate::IsNull(c) => out.push_str(&format!("c{} null", c.0)),
                Predicate::IsNotNull(c) => out.push_str(&format!("c{} not null", c.0)),
                Predicate::Prefix { column, prefix, exact } => {
                    out.push_str(&format!("c{}^{prefix}{}", column.0, if *exact { "!" } else { "" }))
                }
                Predicate::And(list) | Predicate::Or(list) => {
                    let sep = if matches!(p, Predicate::And(_)) { " & " } else { " | " };
                    out.push('(');
                    for (i, p) in list.iter().enumerate() {
                        if i > 0 {
                            out.push_str(sep);
                        }
                        go(p, out);
                    }
                    out.push(')');
                }
                Predicate::Always => out.push_str("always"),
                Predicate::Never => out.push_str("never"),
                Predicate::Unknown => out.push('?'),
            }
        }
        let mut out = String::new();
        go(&predicate(expr, &columns()), &mut out);
        out
    }

    #[test]
    fn filters_are_read() {
        let view = |s: &str| lit(ScalarValue::Utf8View(Some(s.into())));
        let like = |p: &str| Expr::Like(Like::new(false, Box::new(col("t")), Box::new(view(p)), None, false));
        let cases = [
            (lit(3).lt(col("i")), "c1>3"),
            (!(col("i").lt(lit(3))), "c1>=3"),
            (!(col("i").eq(lit(1)).and(col("b"))), "(c1<1 | c1>1 | c3=false)"),
            (col("i").in_list(vec![lit(1), lit(2)], false), "c1 in 2"),
            (col("i").in_list(vec![lit(1), lit(ScalarValue::Int32(None))], true), "never"),
            (col("i").not_between(lit(1), lit(5)), "(c1<1 | c1>5)"),
            (col("b").is_not_true(), "(c3=false | c3 null)"),
            (col("b").is_false(), "c3=false"),
            (like("ab%"), "c2^ab!"),
            (like("ab%c"), "c2^ab"),
            (like("a\\%b"), "c2=a%b"),
            (like("%b"), "?"),
            (col("i").eq(lit(ScalarValue::Int32(None))), "never"),
            (col("i").add(lit(1)).eq(lit(2)), "?"),
            (lit(true), "always"),
            (
                Expr::Cast(datafusion::logical_expr::Cast::new(Box::new(col("ts")), DataType::Date32))
                    .eq(lit(ScalarValue::Date32(Some(1)))),
                // Only a cast of PostgreSQL's types says what it keeps.
                "?",
            ),
        ];
        for (expr, wanted) in cases {
            assert_eq!(show(&expr), wanted, "{expr}");
        }
    }
    use std::ops::Add;
}
