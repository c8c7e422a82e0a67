//! Conditions of which only truth counts: WHERE, HAVING, ON.
//!
//! What constants decide there is no longer computed, as in PostgreSQL's `canonicalize_qual`: `a AND NULL` passes no row, whatever it is to
//! a caller that asks for its value, and in which order the rest is evaluated goes by what is left. NOT stands below AND and OR.

use super::tree::{Expr, ExprKind};
use super::walk::is_plain;
use datafusion_common::ScalarValue;
use stoa_pg::{PgType, SqlType};

/// A condition without the constants under its ANDs and ORs; NULL is as good as false. Nothing is left out beside an expression of constants
/// alone: it may raise an error, which is the statement's. AND stands in no AND, and OR in no OR.
#[must_use]
pub fn settled(e: Expr) -> Expr {
    shaped(e, false, true).0
}

/// The condition with AND, OR and NOT where [`settled`] has them, but with all its parts.
#[must_use]
pub fn flat(e: Expr) -> Expr {
    shaped(e, false, false).0
}

/// A condition, or its negation, without or with the constants that decide it; and whether it is computed from constants alone.
fn shaped(e: Expr, negated: bool, settles: bool) -> (Expr, bool) {
    super::deeper(|| {
        let (mut e, mut negated) = (e, negated);
        while let ExprKind::Not(arg) = e.kind {
            (e, negated) = (*arg, !negated);
        }
        let all = match e.kind {
            ExprKind::And(_) => !negated,
            ExprKind::Or(_) => negated,
            _ => return leaf(e, negated, settles),
        };
        let ty = e.ty.clone();
        let (mut parts, mut constant_alone, mut computed) = (Vec::new(), true, false);
        let mut open = vec![(e, negated)];
        while let Some((e, negated)) = open.pop() {
            match e.kind {
                ExprKind::And(list) if all != negated => open.extend(list.into_iter().rev().map(|part| (part, negated))),
                ExprKind::Or(list) if all == negated => open.extend(list.into_iter().rev().map(|part| (part, negated))),
                ExprKind::Not(arg) => open.push((*arg, !negated)),
                _ => {
                    let (part, alone) = shaped(e, negated, settles);
                    constant_alone &= alone;
                    computed |= alone && !matches!(part.kind, ExprKind::Const(_));
                    match part.kind {
                        ExprKind::And(list) if all => parts.extend(list),
                        ExprKind::Or(list) if !all => parts.extend(list),
                        kind => parts.push(Expr::new(kind, part.ty)),
                    }
                }
            }
        }
        if settles && !computed {
            if parts.iter().any(|part| value(part) == Some(!all)) {
                return (constant(!all), true);
            }
            parts.retain(|part| value(part).is_none());
        }
        let out = match parts.len() {
            0 => constant(all),
            1 => parts.swap_remove(0),
            _ => Expr::new(if all { ExprKind::And(parts) } else { ExprKind::Or(parts) }, ty),
        };
        (out, constant_alone)
    })
}

/// What is neither AND, OR nor NOT.
fn leaf(e: Expr, negated: bool, settles: bool) -> (Expr, bool) {
    let e = match value(&e) {
        _ if settles && is_null(&e) => constant(false),
        Some(value) => constant(value != negated),
        None if negated && !is_null(&e) => Expr::new(ExprKind::Not(Box::new(e)), SqlType::new(PgType::Bool)),
        None => e,
    };
    let alone = is_constant_alone(&e);
    (e, alone)
}

fn value(e: &Expr) -> Option<bool> {
    match e.kind {
        ExprKind::Const(ScalarValue::Boolean(value)) => value,
        _ => None,
    }
}

/// Whether an expression reads nothing.
fn is_constant_alone(e: &Expr) -> bool {
    is_plain(e) && !e.any(&mut |x| matches!(x.kind, ExprKind::Column(_) | ExprKind::Param(_)))
}

fn constant(value: bool) -> Expr {
    Expr::new(ExprKind::Const(ScalarValue::Boolean(Some(value))), SqlType::new(PgType::Bool))
}

fn is_null(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(value) => value.is_null(),
        ExprKind::Cast { arg, .. } => is_null(arg),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::super::tree::ColId;
    use super::*;

    fn boolean(value: Option<bool>) -> Expr {
        Expr::new(ExprKind::Const(ScalarValue::Boolean(value)), SqlType::new(PgType::Bool))
    }

    fn column(id: u32) -> Expr {
        Expr::new(ExprKind::Column(ColId(id)), SqlType::new(PgType::Bool))
    }

    fn joined(make: fn(Vec<Expr>) -> ExprKind, parts: Vec<Expr>) -> Expr {
        Expr::new(make(parts), SqlType::new(PgType::Bool))
    }

    #[test]
    fn null_decides_an_and_and_leaves_an_or() {
        let inner = joined(ExprKind::And, vec![column(1), boolean(None)]);
        assert_eq!(settled(joined(ExprKind::Or, vec![column(2), inner])), column(2));
        let kept = joined(ExprKind::Or, vec![column(1), column(2)]);
        assert_eq!(settled(joined(ExprKind::And, vec![boolean(Some(true)), kept.clone()])), kept);
        assert_eq!(settled(joined(ExprKind::Or, vec![boolean(None), boolean(Some(false))])), boolean(Some(false)));
    }

    fn not(e: Expr) -> Expr {
        Expr::new(ExprKind::Not(Box::new(e)), SqlType::new(PgType::Bool))
    }

    #[test]
    fn not_goes_below_and_and_or() {
        let both = joined(ExprKind::And, vec![column(1), boolean(None)]);
        assert_eq!(settled(not(both)), not(column(1)));
        let either = joined(ExprKind::Or, vec![not(column(1)), joined(ExprKind::And, vec![column(2), boolean(Some(true))])]);
        assert_eq!(settled(not(either.clone())), joined(ExprKind::And, vec![column(1), not(column(2))]));
        assert_eq!(settled(not(not(either))), joined(ExprKind::Or, vec![not(column(1)), column(2)]));
        assert_eq!(settled(not(boolean(None))), boolean(Some(false)));
        assert_eq!(settled(not(boolean(Some(true)))), boolean(Some(false)));
    }

    #[test]
    fn and_stands_in_no_and() {
        let inner = joined(ExprKind::Or, vec![column(2), column(3)]);
        let nested = joined(ExprKind::And, vec![column(1), not(inner), joined(ExprKind::And, vec![column(4), boolean(None)])]);
        let parts = vec![column(1), not(column(2)), not(column(3)), column(4), boolean(None)];
        assert_eq!(flat(nested), joined(ExprKind::And, parts));
    }

    #[test]
    fn deep_conditions_are_settled() {
        let deep = (2..5_000).fold(column(1), |e, n| {
            let make = if n % 3 == 0 { ExprKind::Or } else { ExprKind::And };
            not(joined(make, vec![e, column(n)]))
        });
        assert!(matches!(settled(deep).kind, ExprKind::And(_) | ExprKind::Or(_)));
    }

    #[test]
    fn within_a_test_a_value_counts() {
        let arg = Box::new(joined(ExprKind::And, vec![column(1), boolean(None)]));
        let test = Expr::new(ExprKind::IsBool { arg, value: Some(false), negated: false }, SqlType::new(PgType::Bool));
        assert_eq!(settled(test.clone()), test);
    }
}
