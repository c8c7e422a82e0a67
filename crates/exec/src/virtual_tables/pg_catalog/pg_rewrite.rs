//! `pg_rewrite`: the rules that make relations views.

use super::super::builder::{Builder, V};
use super::super::objects::rule_oid;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::Relation;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if let Relation::View(v) = &**relation {
            t.row(vec![
                ("oid", V::Oid(rule_oid(v))),
                ("rulename", "_RETURN".into()),
                ("ev_class", V::Oid(v.oid)),
                ("ev_type", "1".into()),
                ("ev_enabled", "O".into()),
                ("is_instead", true.into()),
            ]);
        }
    }
    Ok(())
}
