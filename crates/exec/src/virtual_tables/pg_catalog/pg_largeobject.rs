//! `pg_largeobject_metadata`, and the comments on large objects in `pg_description`.

use super::super::builder::{Builder, V};
use super::super::objects::PG_LARGEOBJECT;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::acl_text::acl_texts;
use stoa_table::catalog::{LargeObject, Oid};

/// Adds the rows of a relation that are about large objects.
pub async fn fill(ctx: &StatementContext, name: &str, t: &mut Builder<'_>) -> PgResult<()> {
    if name == "pg_description" {
        if !t.wants_oid("classoid", PG_LARGEOBJECT) {
            return Ok(());
        }
        return each(ctx, t, "objoid", &mut |t, oid, object| {
            if let Some(text) = &object.comment {
                let class = V::Oid(PG_LARGEOBJECT);
                t.row(vec![("objoid", V::Oid(oid)), ("classoid", class), ("objsubid", V::Int(0)), ("description", text.as_str().into())]);
            }
        })
        .await;
    }
    let authority = ctx.catalog.authority();
    each(ctx, t, "oid", &mut |t, oid, object| {
        let list = object.rights.acl.as_ref().map_or(V::Null, |list| V::Texts(acl_texts(authority, list)));
        t.row(vec![("oid", V::Oid(oid)), ("lomowner", V::Oid(object.rights.owner)), ("lomacl", list)]);
    })
    .await
}

/// Takes those objects one by one whose numbers are wanted in a column.
async fn each(
    ctx: &StatementContext,
    t: &mut Builder<'_>,
    column: &str,
    take: &mut (dyn FnMut(&mut Builder<'_>, Oid, &LargeObject) + Send),
) -> PgResult<()> {
    let (view, database) = (ctx.txn.read_view(), ctx.txn.transactions().database());
    if let Some(wanted) = t.oids(column) {
        for oid in wanted {
            if let Some(object) = view.large_object(database, oid).await? {
                take(t, oid, &object);
            }
        }
        return Ok(());
    }
    let mut add = |_, oid, object: LargeObject| {
        take(t, oid, &object);
        Ok(())
    };
    view.large_objects(Some(database), &mut add).await
}
