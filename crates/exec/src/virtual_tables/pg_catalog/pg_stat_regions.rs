//! `pg_stat_regions`: the regions of each table and index, with the keys between which they lie as SQL values, these for whom may read the rows,
//! and what is read and written of them.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables};
use crate::environment::StatementContext;
use std::sync::Arc;
use stoa_pg::PgResult;
use stoa_table::access::{KeyShape, explain};
use stoa_table::catalog::policy::hides_rows;
use stoa_table::catalog::{IndexDescriptor, ObjectClass, Privileges, RightsOf, TableDescriptor};
use stoa_table::row::{IndexCodec, KeyCodec};
use stoa_table::{Region, TableId};

/// A table, or an index of one, in the store.
pub(super) struct Stored<'a> {
    pub table: &'a TableDescriptor,
    /// `None` for the table itself.
    pub index: Option<&'a IndexDescriptor>,
    pub shape: KeyShape,
    pub regions: Vec<Region>,
    /// Whether the role may read all rows, and so the bounds of regions, which are keys.
    may_read: bool,
}

impl<'a> Stored<'a> {
    /// A table and its indexes.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn of(ctx: &StatementContext, table: &'a TableDescriptor) -> PgResult<Vec<Self>> {
        let authority = ctx.catalog.authority();
        let may_read = authority.may(ctx.role, ObjectClass::Table, RightsOf::Relation(table.oid), Privileges::SELECT)
            && !hides_rows(&ctx.catalog, ctx.role, table);
        let stored = |index, shape| Stored { table, index, shape, regions: Vec::new(), may_read };
        let mut out = vec![stored(None, KeyShape::of_table(&KeyCodec::new(table)?))];
        for index in table.indexes.iter().filter(|i| !i.is_fulltext()) {
            out.push(stored(Some(index), KeyShape::of_index(&IndexCodec::new(table, index)?)));
        }
        let ids: Vec<TableId> = out.iter().map(|stored| stored.index.map_or(table.storage, |index| index.storage)).collect();
        let extents = ctx.database.tables.extents(&ids, &[]).await?;
        out.iter_mut().zip(extents.regions).for_each(|(stored, regions)| stored.regions = regions);
        Ok(out)
    }

    /// What both relations of regions say of a region, which has a number from 1.
    pub fn shown(&self, ctx: &StatementContext, number: i64, region: &Region) -> Vec<(&'static str, V)> {
        let bound =
            |key: Option<&Vec<u8>>| key.filter(|k| self.may_read && !k.is_empty()).map_or(V::Null, |k| explain::key(&self.shape, k).into());
        let traffic = |of: fn(&stoa_table::Traffic) -> u64| region.traffic.as_ref().map_or(V::Null, |traffic| of(traffic).into());
        vec![
            ("relid", V::Oid(self.table.oid)),
            ("indexrelid", self.index.map_or(V::Null, |index| V::Oid(index.oid))),
            ("schemaname", schema_of(ctx, self.table.schema).into()),
            ("relname", self.table.name.as_str().into()),
            ("indexrelname", self.index.map_or(V::Null, |index| index.name.as_str().into())),
            ("region", V::Int(number)),
            ("start_key", bound(Some(&region.range.start))),
            ("end_key", bound(region.range.end.as_ref())),
            ("reads", traffic(|traffic| traffic.reads)),
            ("writes", traffic(|traffic| traffic.writes)),
        ]
    }
}

/// The tables that the rows wanted may be of.
pub(super) fn wanted(ctx: &StatementContext, t: &Builder<'_>) -> Vec<Arc<TableDescriptor>> {
    tables(ctx).into_iter().filter(|table| t.wants_oid("relid", table.oid)).collect()
}

/// Adds the rows.
///
/// # Errors
/// What the store reports.
pub async fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in wanted(ctx, t) {
        for stored in Stored::of(ctx, &table).await? {
            for (number, region) in (1_i64..).zip(&stored.regions) {
                let since = region.traffic.and_then(|traffic| traffic.since_us);
                let mut row = stored.shown(ctx, number, region);
                row.extend([
                    ("bytes", region.approximate_bytes.into()),
                    ("rows", region.approximate_rows.into()),
                    ("server", region.server.clone().map_or(V::Null, Into::into)),
                    ("stats_reset", since.and_then(|us| i64::try_from(us).ok()).map_or(V::Null, V::Time)),
                ]);
                t.row(row);
            }
        }
    }
    Ok(())
}
