//! Conditions of which only truth counts: WHERE, HAVING, ON.
//!
//! What constants decide there is no longer computed, as in PostgreSQL's `canonicalize_qual`: `a AND NULL` passes no row, whatever it is to
//! a caller that asks for its value, and in which order the rest is evaluated goes by what is left. NOT stands below AND and OR.

use super::tree::{Expr, ExprKind};
use super::walk::is_plain;
use datafusion_common::ScalarValue;
use stoa_pg::{PgType, SqlType};

/// A condition without the constants under its ANDs and ORs; NULL is as good as false. Nothing is left out beside an expression of constants
/// alone: it may raise an error, which is the statement's.
#[must_use]
pub fn settled(e: Expr) -> Expr {
    super::deeper(|| {
        let (parts, make, decides): (_, fn(Vec<Expr>) -> ExprKind, _) = match e.kind {
            ExprKind::And(parts) => (parts, ExprKind::And, false),
            ExprKind::Or(parts) => (parts, ExprKind::Or, true),
            ExprKind::Not(arg)
                if matches!(arg.kind, ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) | ExprKind::Const(_)) || is_null(&arg) =>
            {
                return settled(negated(*arg));
            }
            _ if is_null(&e) => return constant(false),
            _ => return e,
        };
        let mut parts: Vec<Expr> = parts.into_iter().map(settled).collect();
        if !parts.iter().any(is_computed_constant) {
            if parts.iter().any(|part| value(part) == Some(decides)) {
                return constant(decides);
            }
            parts.retain(|part| value(part).is_none());
        }
        match parts.len() {
            0 => constant(!decides),
            1 => parts.swap_remove(0),
            _ => Expr::new(make(parts), e.ty),
        }
    })
}

/// The negation, with NOT below AND and OR.
fn negated(e: Expr) -> Expr {
    let all = |parts: Vec<Expr>| parts.into_iter().map(negated).collect();
    let ty = e.ty.clone();
    let kind = match e.kind {
        ExprKind::Not(arg) => return *arg,
        ExprKind::And(parts) => ExprKind::Or(all(parts)),
        ExprKind::Or(parts) => ExprKind::And(all(parts)),
        _ if is_null(&e) => return e,
        ExprKind::Const(ScalarValue::Boolean(Some(value))) => return constant(!value),
        _ => ExprKind::Not(Box::new(e)),
    };
    Expr::new(kind, ty)
}

fn value(e: &Expr) -> Option<bool> {
    match e.kind {
        ExprKind::Const(ScalarValue::Boolean(value)) => value,
        _ => None,
    }
}

/// Whether an expression is computed from constants alone.
fn is_computed_constant(e: &Expr) -> bool {
    !matches!(e.kind, ExprKind::Const(_)) && is_plain(e) && !e.any(&mut |x| matches!(x.kind, ExprKind::Column(_) | ExprKind::Param(_)))
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
    }

    #[test]
    fn within_a_test_a_value_counts() {
        let arg = Box::new(joined(ExprKind::And, vec![column(1), boolean(None)]));
        let test = Expr::new(ExprKind::IsBool { arg, value: Some(false), negated: false }, SqlType::new(PgType::Bool));
        assert_eq!(settled(test.clone()), test);
    }
}
