//! `pg_stat_user_tables` and its kin: what is counted of tables, and what statistics say of them.

use super::super::builder::{Builder, V};
use super::super::objects::{Indexed, indexed, schema_of};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::definition::functions::own_storage;
use stoa_table::KeyRange;

/// Adds the rows.
pub async fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let owners = indexed(ctx);
    let live = if t.reads("n_live_tup") { live(ctx, &owners).await } else { Vec::new() };
    for (at, owner) in owners.iter().enumerate() {
        let table = &owner.table;
        let known = ctx.database.statistics.last(table.oid);
        let written = ctx.database.counters.rows_of(table.oid);
        let explicit = known.as_ref().is_some_and(|s| s.explicit);
        t.row(vec![
            ("relid", V::Oid(owner.oid)),
            ("schemaname", schema_of(ctx, table.schema).into()),
            ("relname", owner.name.as_str().into()),
            ("n_tup_ins", written.inserted.into()),
            ("n_tup_upd", written.updated.into()),
            ("n_tup_del", written.deleted.into()),
            ("n_live_tup", live.get(at).copied().unwrap_or(0).into()),
            ("n_mod_since_analyze", ctx.database.statistics.changed(table.oid).into()),
            (if explicit { "last_analyze" } else { "last_autoanalyze" }, known.as_ref().map_or(V::Null, |s| V::Time(s.collected_us))),
        ]);
    }
    Ok(())
}

/// The rows that the store has of each, approximately, as `pg_stat_get_live_tuples` tells them; the store is asked once.
async fn live(ctx: &StatementContext, owners: &[Indexed]) -> Vec<u64> {
    let all = [KeyRange::all()];
    let (store, mut out) = (&ctx.database.tables, vec![0; owners.len()]);
    let places: Vec<_> =
        owners.iter().enumerate().filter_map(|(at, owner)| Some((at, *own_storage(&ctx.catalog, owner.oid).first()?))).collect();
    let asked: Vec<_> = places.iter().map(|(_, place)| (*place, all.as_slice())).collect();
    let sizes = store.extents(&[], &asked).await.map(|extents| extents.sizes);
    for (n, (at, place)) in places.iter().enumerate() {
        let size = match &sizes {
            Ok(sizes) => sizes.get(n).copied(),
            // One of them may be gone by now.
            Err(_) => store.size(*place).await.ok(),
        };
        if let (Some(slot), Some((_, rows))) = (out.get_mut(*at), size) {
            *slot = rows;
        }
    }
    out
}
