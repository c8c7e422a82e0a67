//! `sequences`: the sequences that stand behind no identity column.

use super::super::builder::{Builder, V, yes};
use super::super::objects::schema_of;
use super::shown::{is_of_another_session, is_sequence_shown};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::types::PgType;
use stoa_table::catalog::Relation;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if let Relation::Sequence(s) = &**relation {
            // The standard leaves out those behind identity columns.
            let identity = s
                .owned_by
                .as_ref()
                .and_then(|(table, column)| ctx.catalog.table(*table)?.column(*column))
                .is_some_and(|c| c.identity.is_some());
            if identity || is_of_another_session(ctx, s.schema) || !is_sequence_shown(ctx, s.oid) {
                continue;
            }
            let bits = match s.ty.ty {
                PgType::Int2 => 16,
                PgType::Int4 => 32,
                _ => 64,
            };
            t.row(vec![
                ("sequence_catalog", ctx.catalog.database_name().into()),
                ("sequence_schema", schema_of(ctx, s.schema).into()),
                ("sequence_name", s.name.as_str().into()),
                ("data_type", s.ty.to_string().into()),
                ("numeric_precision", V::Int(bits)),
                ("numeric_precision_radix", V::Int(2)),
                ("numeric_scale", V::Int(0)),
                ("start_value", s.start.to_string().into()),
                ("minimum_value", s.min.to_string().into()),
                ("maximum_value", s.max.to_string().into()),
                ("increment", s.increment.to_string().into()),
                ("cycle_option", yes(s.cycle)),
            ]);
        }
    }
    Ok(())
}
