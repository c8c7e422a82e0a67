//! `pg_cast`: the casts.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::registry::{CastContext, CastKind, Registry};

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (i, c) in Registry::get().all_casts().enumerate() {
        t.row(vec![
            ("oid", V::Oid(9_000 + i as u32)),
            ("castsource", V::Oid(c.from.oid())),
            ("casttarget", V::Oid(c.to.oid())),
            ("castfunc", V::Oid(0)),
            (
                "castcontext",
                match c.context {
                    CastContext::Implicit => "i",
                    CastContext::Assignment => "a",
                    CastContext::Explicit => "e",
                }
                .into(),
            ),
            ("castmethod", if matches!(c.kind, CastKind::Relabel) { "b" } else { "f" }.into()),
        ]);
    }
    Ok(())
}
