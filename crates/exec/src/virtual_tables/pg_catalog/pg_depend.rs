//! `pg_depend`: which object needs which.

use super::super::builder::{Builder, V};
use super::super::objects::{
    PG_ATTRDEF, PG_CLASS, PG_CONSTRAINT, PG_DEFAULT_ACL, PG_NAMESPACE, PG_POLICY, PG_REWRITE, PG_TYPE, attrdef_oid, foreign_keys, indexed,
    primary_index_oid, referenced_index, rule_oid,
};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::bind::{BindContext, bind_table_expr};
use stoa_sql::catalog::names::{row_array_oid, row_type_oid};
use stoa_sql::typed::walk::columns_of;
use stoa_table::catalog::{ColumnId, IndexKey, Relation, TableDescriptor};

/// Edges between objects, where PostgreSQL has them: what goes with what, and what stands in whose way.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let mut edge = |from: (u32, u32), to: (u32, u32, u32), kind: &str| {
        t.row(vec![
            ("classid", V::Oid(from.0)),
            ("objid", V::Oid(from.1)),
            ("objsubid", V::Int(0)),
            ("refclassid", V::Oid(to.0)),
            ("refobjid", V::Oid(to.1)),
            ("refobjsubid", V::Int(i64::from(to.2))),
            ("deptype", kind.into()),
        ]);
    };
    for owner in indexed(ctx) {
        let table = &owner.table;
        if !owner.is_view {
            edge((PG_CLASS, table.oid), (PG_NAMESPACE, table.schema, 0), "n");
            edge((PG_TYPE, row_type_oid(table.oid)), (PG_CLASS, table.oid, 0), "i");
            edge((PG_TYPE, row_array_oid(table.oid)), (PG_TYPE, row_type_oid(table.oid), 0), "i");
        }
        let columns = |ids: &[ColumnId]| -> Vec<u32> {
            let mut numbers: Vec<u32> = ids.iter().filter_map(|id| u32::try_from(owner.number(*id)).ok()).collect();
            if numbers.is_empty() {
                numbers.push(0);
            }
            numbers
        };
        if let Some(key) = &table.primary_key {
            let ids: Vec<ColumnId> = table.key_columns().map(|p| p.column).collect();
            for number in columns(&ids) {
                edge((PG_CONSTRAINT, key.oid), (PG_CLASS, owner.oid, number), "a");
            }
            if let Some(index) = primary_index_oid(table) {
                edge((PG_CLASS, index), (PG_CONSTRAINT, key.oid, 0), "i");
            }
        }
        for index in &table.indexes {
            let mut ids: Vec<ColumnId> =
                index.parts.iter().filter_map(|p| if let IndexKey::Column(id) = &p.key { Some(*id) } else { None }).collect();
            ids.extend(&index.include);
            let object = match &index.constraint {
                Some(constraint) => {
                    edge((PG_CLASS, index.oid), (PG_CONSTRAINT, constraint.oid, 0), "i");
                    (PG_CONSTRAINT, constraint.oid)
                }
                None => (PG_CLASS, index.oid),
            };
            let mut numbers = columns(&ids);
            let texts = index.parts.iter().filter_map(|p| if let IndexKey::Expr(text) = &p.key { Some(text) } else { None });
            for text in texts.chain(&index.predicate) {
                let ids = columns_read(ctx, table, text)?;
                numbers.extend(ids.iter().filter_map(|id| u32::try_from(owner.number(*id)).ok()));
            }
            numbers.sort_unstable();
            numbers.dedup();
            for number in numbers {
                edge(object, (PG_CLASS, owner.oid, number), "a");
            }
        }
        for check in &table.checks {
            for number in columns(&check.columns) {
                edge((PG_CONSTRAINT, check.name.oid), (PG_CLASS, owner.oid, number), "a");
                edge((PG_CONSTRAINT, check.name.oid), (PG_CLASS, owner.oid, number), "n");
            }
        }
        for key in foreign_keys(table) {
            for number in columns(&key.columns) {
                edge((PG_CONSTRAINT, key.name.oid), (PG_CLASS, owner.oid, number), "a");
            }
            for id in &key.referenced_columns {
                edge((PG_CONSTRAINT, key.name.oid), (PG_CLASS, key.referenced_table, id.0), "n");
            }
            let index = ctx.catalog.table(key.referenced_table).map_or(0, |r| referenced_index(r, &key.referenced_columns));
            if index != 0 {
                edge((PG_CONSTRAINT, key.name.oid), (PG_CLASS, index, 0), "n");
            }
        }
        for policy in &table.row_security.policies {
            edge((PG_POLICY, policy.oid), (PG_CLASS, owner.oid, 0), "a");
            for d in policy.conditions().flat_map(|condition| &condition.depends_on) {
                let numbers: Vec<u32> = if d.columns.is_empty() { vec![0] } else { d.columns.iter().map(|c| c.0).collect() };
                for number in numbers.into_iter().filter(|number| *number != 0 || d.relation != owner.oid) {
                    edge((PG_POLICY, policy.oid), (PG_CLASS, d.relation, number), "n");
                }
            }
        }
        for column in table.visible_columns() {
            let Some(text) = column.default.as_ref().or(column.generated.as_ref()) else { continue };
            let object = (PG_ATTRDEF, attrdef_oid(table, column));
            edge(object, (PG_CLASS, owner.oid, column.id.0), if column.generated.is_some() { "i" } else { "a" });
            if column.generated.is_some() {
                for read in columns_read(ctx, table, text)? {
                    edge(object, (PG_CLASS, owner.oid, read.0), "n");
                }
            }
            for sequence in named_relations(text) {
                edge(object, (PG_CLASS, sequence, 0), "n");
            }
        }
    }
    others(ctx, &mut edge);
    Ok(())
}

/// Those of sequences, views and default privileges.
fn others(ctx: &StatementContext, edge: &mut impl FnMut((u32, u32), (u32, u32, u32), &str)) {
    for relation in ctx.catalog.relations() {
        match &**relation {
            Relation::Sequence(s) => {
                edge((PG_CLASS, s.oid), (PG_NAMESPACE, s.schema, 0), "n");
                if let Some((table, column)) = &s.owned_by {
                    let identity = ctx.catalog.table(*table).and_then(|d| d.column(*column)).is_some_and(|c| c.identity.is_some());
                    edge((PG_CLASS, s.oid), (PG_CLASS, *table, column.0), if identity { "i" } else { "a" });
                }
            }
            Relation::View(v) => {
                edge((PG_CLASS, v.oid), (PG_NAMESPACE, v.schema, 0), "n");
                edge((PG_TYPE, row_type_oid(v.oid)), (PG_CLASS, v.oid, 0), "i");
                edge((PG_TYPE, row_array_oid(v.oid)), (PG_TYPE, row_type_oid(v.oid), 0), "i");
                // The view's rule is what uses other relations, and the view itself, whose old row its query could name.
                let rule = (PG_REWRITE, rule_oid(v));
                edge(rule, (PG_CLASS, v.oid, 0), "i");
                edge(rule, (PG_CLASS, v.oid, 0), "n");
                for d in &v.depends_on {
                    if d.columns.is_empty() {
                        edge(rule, (PG_CLASS, d.relation, 0), "n");
                    }
                    for column in &d.columns {
                        edge(rule, (PG_CLASS, d.relation, column.0), "n");
                    }
                }
            }
            Relation::Table(_) => {}
        }
    }
    for defaults in ctx.catalog.authority().defaults().filter(|defaults| defaults.of.schema != 0) {
        edge((PG_DEFAULT_ACL, defaults.oid), (PG_NAMESPACE, defaults.of.schema, 0), "a");
    }
}

/// The columns of its table that a stored expression reads, each once.
fn columns_read(ctx: &StatementContext, table: &TableDescriptor, text: &str) -> PgResult<Vec<ColumnId>> {
    let bind = BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: "" };
    let mut read = Vec::new();
    columns_of(&bind_table_expr(&bind, table, text)?, &mut read);
    read.sort_unstable();
    read.dedup();
    Ok(read.into_iter().map(|id| ColumnId(id.0)).collect())
}

/// The relations that a stored expression names: `'OID'::regclass`.
fn named_relations(text: &str) -> Vec<u32> {
    let mut parts: Vec<&str> = text.split("'::regclass").collect();
    parts.pop();
    parts.iter().filter_map(|part| part.rsplit('\'').next()?.parse().ok()).collect()
}
