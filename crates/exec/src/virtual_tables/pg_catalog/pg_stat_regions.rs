//! `pg_stat_regions`: the regions of each table and index, with the keys between which they lie as SQL values, these for whom may read the rows.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::access::{KeyShape, explain};
use stoa_table::catalog::policy::hides_rows;
use stoa_table::catalog::{ObjectClass, Privileges, RightsOf};
use stoa_table::row::{IndexCodec, KeyCodec};
use stoa_table::{Region, TableId};

/// Adds the rows.
///
/// # Errors
/// What the store reports.
pub async fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx) {
        if !t.wants_oid("relid", table.oid) {
            continue;
        }
        let mut stored: Vec<(TableId, V, V, KeyShape)> =
            vec![(table.storage, V::Null, V::Null, KeyShape::of_table(&KeyCodec::new(&table)?))];
        for index in table.indexes.iter().filter(|i| !i.is_fulltext()) {
            let shape = KeyShape::of_index(&IndexCodec::new(&table, index)?);
            stored.push((index.storage, V::Oid(index.oid), index.name.as_str().into(), shape));
        }
        // Bounds are keys of rows: for whom may read all of these.
        let may_read = ctx.catalog.authority().may(ctx.role, ObjectClass::Table, RightsOf::Relation(table.oid), Privileges::SELECT)
            && !hides_rows(ctx.catalog.authority(), ctx.role, &table);
        let ids: Vec<TableId> = stored.iter().map(|(id, ..)| *id).collect();
        let extents = ctx.database.tables.extents(&ids, &[]).await?;
        for ((_, oid, name, shape), regions) in stored.into_iter().zip(extents.regions) {
            for (number, region) in (1_i64..).zip(&regions) {
                let Region { range, approximate_bytes, approximate_rows, server } = region;
                let count = |n: &u64| V::Int(i64::try_from(*n).unwrap_or(i64::MAX));
                let bound =
                    |key: Option<&Vec<u8>>| key.filter(|k| may_read && !k.is_empty()).map_or(V::Null, |k| explain::key(&shape, k).into());
                t.row(vec![
                    ("relid", V::Oid(table.oid)),
                    ("indexrelid", oid.clone()),
                    ("schemaname", schema_of(ctx, table.schema).into()),
                    ("relname", table.name.as_str().into()),
                    ("indexrelname", name.clone()),
                    ("region", V::Int(number)),
                    ("start_key", bound(Some(&range.start))),
                    ("end_key", bound(range.end.as_ref())),
                    ("bytes", count(approximate_bytes)),
                    ("rows", count(approximate_rows)),
                    ("server", server.clone().map_or(V::Null, Into::into)),
                ]);
            }
        }
    }
    Ok(())
}
