//! Whether an expression may be stored: what it gives must depend on its row alone.

use crate::typed::tree::{Expr, ExprKind};
use stoa_pg::PgType;
use stoa_pg::registry::Volatility;

/// Whether an expression gives the same for the same row for ever.
#[must_use]
pub fn is_immutable(expr: &Expr) -> bool {
    !expr.any(&mut |e| match &e.kind {
        ExprKind::Func { func, .. } => func.0.volatility != Volatility::Immutable,
        // Concatenation with a value of any type casts it to text, and is as immutable as that.
        ExprKind::Oper { oper, args } if oper.0.name == "||" && e.ty.ty.is_string() => {
            args.iter().any(|a| cast_reads_settings(&a.ty.ty, &PgType::Text))
        }
        ExprKind::Oper { oper, .. } => oper.0.volatility != Volatility::Immutable,
        ExprKind::Cast { arg, .. } => cast_reads_settings(&arg.ty.ty, &e.ty.ty),
        _ => false,
    })
}

/// Whether an expression may give something else for each row.
#[must_use]
pub fn is_volatile(expr: &Expr) -> bool {
    expr.any(&mut |e| match &e.kind {
        ExprKind::Func { func, .. } => func.0.volatility == Volatility::Volatile,
        _ => false,
    })
}

/// Casts whose result depends on settings or on the catalog: those between times, and to and from the texts of what PostgreSQL's
/// input and output functions count as stable.
fn cast_reads_settings(from: &PgType, to: &PgType) -> bool {
    let time = |ty: &PgType| {
        matches!(ty, PgType::Date | PgType::Time | PgType::Timetz | PgType::Timestamp | PgType::Timestamptz | PgType::Interval)
    };
    let stable = |ty: &PgType| {
        use PgType::{Array, Record, Regclass, Regcollation, Regnamespace, Regoper, Regoperator, Regproc, Regprocedure, Regrole, Regtype};
        matches!(
            ty,
            Array(_)
                | Record(_)
                | Regclass
                | Regtype
                | Regproc
                | Regprocedure
                | Regnamespace
                | Regrole
                | Regoper
                | Regoperator
                | Regcollation
        )
    };
    match (from, to) {
        (from, to) if (stable(from) && to.is_string()) || (from.is_string() && stable(to)) => true,
        (PgType::Time | PgType::Timetz, to) if to.is_string() => false,
        (PgType::Timestamptz, PgType::Timestamptz) => false,
        (PgType::Timestamptz, to) => time(to) || to.is_string(),
        (from, PgType::Timestamptz) => time(from) || from.is_string(),
        (from, to) => (time(from) && to.is_string()) || (from.is_string() && time(to)),
    }
}
