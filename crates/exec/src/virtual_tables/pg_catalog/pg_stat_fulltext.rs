//! `pg_stat_fulltext`: the state of each full text index, and how far behind its table it is.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let lags = ctx.database.text.feed().lag();
    for table in tables(ctx) {
        for index in table.indexes.iter().filter(|i| i.is_fulltext()) {
            let Some(text) = ctx.database.text.get(index.storage) else { continue };
            let lag = lags.iter().find(|l| l.table == table.storage && l.reader == index.storage.0);
            let (state, reason) = match text.condition() {
                crate::fulltext::Condition::Building => ("building", V::Null),
                crate::fulltext::Condition::Ready(_) => ("ready", V::Null),
                crate::fulltext::Condition::Broken(why) => ("broken", why.into()),
            };
            let generation = text.files().map(|f| f.generation());
            let of = |f: &dyn Fn(&stoa_fulltext::Generation) -> u64| generation.as_ref().map_or(V::Null, |g| f(g).into());
            t.row(vec![
                ("relid", V::Oid(table.oid)),
                ("indexrelid", V::Oid(index.oid)),
                ("schemaname", schema_of(ctx, table.schema).into()),
                ("relname", table.name.as_str().into()),
                ("indexrelname", index.name.as_str().into()),
                ("state", state.into()),
                ("reason", reason),
                ("rows_built", text.progress().into()),
                ("documents", of(&|g| g.documents())),
                ("segments", of(&|g| g.segments() as u64)),
                ("bytes", of(&|g| g.bytes())),
                ("lag_commits", lag.map_or(V::Null, |l| l.commits.into())),
                ("lag_rows", lag.map_or(V::Null, |l| l.keys.into())),
                ("lag_ms", lag.map_or(V::Null, |l| u64::try_from(l.age.as_millis()).unwrap_or(u64::MAX).into())),
                ("feed_bytes", lag.map_or(V::Null, |l| l.bytes.into())),
            ]);
        }
    }
    Ok(())
}
