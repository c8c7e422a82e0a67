//! `pg_prepared_statements`: what this session has prepared.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for p in ctx.session.prepared.lock().iter() {
        t.row(vec![
            ("name", p.name.as_str().into()),
            ("statement", p.statement.to_string().into()),
            ("prepare_time", V::Time(p.prepare_time_us)),
            ("parameter_types", V::Oids(p.parameter_types.iter().map(|ty| ty.ty.oid()).collect())),
            ("from_sql", p.from_sql.into()),
            ("generic_plans", V::Int(0)),
            ("custom_plans", V::Int(0)),
        ]);
    }
    Ok(())
}
