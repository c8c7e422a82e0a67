//! `pg_sequence` and `pg_sequences`: the sequences, with their last values.

use super::super::builder::{Builder, V};
use super::super::objects::{owner_name, schema_of};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::{ObjectClass, Privileges, Relation, RightsOf};

/// Adds the rows.
pub async fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if let Relation::Sequence(s) = &**relation {
            // Where it stands is a value of it.
            let (any, none) = (Privileges::SELECT.or(Privileges::USAGE), Privileges::NONE);
            let of = RightsOf::Relation(s.oid);
            let may = !ctx.catalog.authority().privileges(ctx.role, ObjectClass::Sequence, of, any, none).0.is_empty();
            let state = match ctx.catalog.numbers().filter(|_| may) {
                Some(numbers) => numbers.state(s).await.ok(),
                None => None,
            };
            t.row(vec![
                ("last_value", state.filter(|state| state.is_called).map_or(V::Null, |state| V::Int(state.last_value))),
                ("seqrelid", V::Oid(s.oid)),
                ("seqtypid", V::Oid(s.ty.ty.oid())),
                ("seqstart", V::Int(s.start)),
                ("seqincrement", V::Int(s.increment)),
                ("seqmax", V::Int(s.max)),
                ("seqmin", V::Int(s.min)),
                ("seqcache", V::Int(s.cache)),
                ("seqcycle", s.cycle.into()),
                ("schemaname", schema_of(ctx, s.schema).into()),
                ("sequencename", s.name.as_str().into()),
                ("sequenceowner", owner_name(ctx, RightsOf::Relation(s.oid)).into()),
                ("data_type", V::Oid(s.ty.ty.oid())),
                ("start_value", V::Int(s.start)),
                ("min_value", V::Int(s.min)),
                ("max_value", V::Int(s.max)),
                ("increment_by", V::Int(s.increment)),
                ("cycle", s.cycle.into()),
                ("cache_size", V::Int(s.cache)),
            ]);
        }
    }
    Ok(())
}
