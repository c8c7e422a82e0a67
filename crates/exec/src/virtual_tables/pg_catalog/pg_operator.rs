//! `pg_operator`: the operators.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::registry::Registry;
use stoa_pg::types::PgType;
use stoa_sql::catalog::names::OWNER;
use stoa_table::catalog::PG_CATALOG_OID;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for o in Registry::get().all_operators() {
        t.row(vec![
            ("oid", V::Oid(o.oid)),
            ("oprname", o.name.into()),
            ("oprnamespace", V::Oid(PG_CATALOG_OID)),
            ("oprowner", V::Oid(OWNER)),
            ("oprkind", if o.left.is_some() { "b" } else { "l" }.into()),
            ("oprcanmerge", false.into()),
            ("oprcanhash", false.into()),
            ("oprleft", V::Oid(o.left.as_ref().map_or(0, PgType::oid))),
            ("oprright", V::Oid(o.right.oid())),
            ("oprresult", V::Oid(o.ret.oid())),
        ]);
    }
    Ok(())
}
