//! `pg_description`: comments on objects.

use super::super::builder::{Builder, V};
use super::super::objects::{PG_CLASS, PG_CONSTRAINT, PG_NAMESPACE, PG_POLICY, PG_PROC, foreign_keys, primary_index_oid};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::registry::Registry;
use stoa_table::catalog::Relation;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let mut row = |class: u32, object: u32, sub: i64, text: &str| {
        t.row(vec![("objoid", V::Oid(object)), ("classoid", V::Oid(class)), ("objsubid", V::Int(sub)), ("description", text.into())]);
    };
    for s in ctx.catalog.schemas() {
        if let Some(text) = &s.comment {
            row(PG_NAMESPACE, s.oid, 0, text);
        }
    }
    for relation in ctx.catalog.relations() {
        match &**relation {
            Relation::Table(table) => {
                if let Some(text) = &table.comment {
                    row(PG_CLASS, table.oid, 0, text);
                }
                for c in table.visible_columns() {
                    if let Some(text) = &c.comment {
                        row(PG_CLASS, table.oid, i64::from(c.id.0), text);
                    }
                }
                for index in &table.indexes {
                    if let Some(text) = &index.comment {
                        row(PG_CLASS, index.oid, 0, text);
                    }
                    if let Some((name, text)) = index.constraint.as_ref().and_then(|c| c.comment.as_ref().map(|t| (c, t))) {
                        row(PG_CONSTRAINT, name.oid, 0, text);
                    }
                }
                if let (Some(text), Some(index)) =
                    (table.primary_key.as_ref().and_then(|key| key.index_comment.as_ref()), primary_index_oid(table))
                {
                    row(PG_CLASS, index, 0, text);
                }
                for policy in &table.row_security.policies {
                    if let Some(text) = &policy.comment {
                        row(PG_POLICY, policy.oid, 0, text);
                    }
                }
                let names =
                    table.primary_key.iter().chain(table.checks.iter().map(|c| &c.name)).chain(foreign_keys(table).iter().map(|k| &k.name));
                for name in names {
                    if let Some(text) = &name.comment {
                        row(PG_CONSTRAINT, name.oid, 0, text);
                    }
                }
            }
            Relation::View(v) => {
                if let Some(text) = &v.comment {
                    row(PG_CLASS, v.oid, 0, text);
                }
                for (i, c) in v.columns.iter().enumerate() {
                    if let Some(text) = &c.comment {
                        row(PG_CLASS, v.oid, i as i64 + 1, text);
                    }
                }
            }
            Relation::Sequence(s) => {
                if let Some(text) = &s.comment {
                    row(PG_CLASS, s.oid, 0, text);
                }
            }
        }
    }
    for f in Registry::get().all_functions() {
        if !f.doc.is_empty() {
            row(PG_PROC, f.oid, 0, f.doc);
        }
    }
    Ok(())
}
