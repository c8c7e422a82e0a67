//! `pg_cast`: the casts.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::registry::{CastContext, CastKind, Registry};
use stoa_pg::types::PgType;

/// Types that a modifier fits values to: PostgreSQL has a cast of each to itself for it.
const FITTED: [PgType; 10] = [
    PgType::Bpchar,
    PgType::Varchar,
    PgType::Time,
    PgType::Timestamp,
    PgType::Timestamptz,
    PgType::Interval,
    PgType::Timetz,
    PgType::Bit,
    PgType::Varbit,
    PgType::Numeric,
];

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let listed = Registry::get().all_casts().map(|c| {
        let context = match c.context {
            CastContext::Implicit => "i",
            CastContext::Assignment => "a",
            CastContext::Explicit => "e",
        };
        (c.from.oid(), c.to.oid(), context, if matches!(c.kind, CastKind::Relabel) { "b" } else { "f" })
    });
    let mut casts: Vec<_> = listed.chain(FITTED.iter().map(|ty| (ty.oid(), ty.oid(), "i", "f"))).collect();
    casts.sort_unstable();
    casts.dedup_by_key(|(from, to, ..)| (*from, *to));
    for (oid, (from, to, context, method)) in (9_000..).zip(casts) {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("castsource", V::Oid(from)),
            ("casttarget", V::Oid(to)),
            ("castfunc", V::Oid(0)),
            ("castcontext", context.into()),
            ("castmethod", method.into()),
        ]);
    }
    Ok(())
}
