//! `pg_database`: the databases, and what is said of objects that databases share.

use super::super::builder::{Builder, V};
use super::super::objects::{PG_AUTHID, PG_DATABASE, acl};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::RightsOf;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    for database in authority.databases() {
        t.row(vec![
            ("oid", V::Oid(database.oid)),
            ("datname", database.name.as_str().into()),
            ("datdba", V::Oid(authority.rights(RightsOf::Database(database.oid)).owner)),
            ("encoding", V::Int(6)),
            ("datlocprovider", "c".into()),
            ("datistemplate", database.is_template.into()),
            ("datallowconn", database.allow_connections.into()),
            ("datconnlimit", V::Int(i64::from(database.connection_limit))),
            ("dattablespace", V::Oid(1663)),
            ("datcollate", "C".into()),
            ("datctype", "C.UTF-8".into()),
            ("datacl", acl(ctx, RightsOf::Database(database.oid))),
        ]);
    }
    Ok(())
}

/// `pg_shdescription`: comments on databases and roles.
pub fn comments(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    let databases = authority.databases().map(|database| (PG_DATABASE, database.oid, &database.comment));
    let roles = authority.roles().map(|role| (PG_AUTHID, role.oid, &role.comment));
    for (class, oid, comment) in databases.chain(roles) {
        if let Some(text) = comment {
            t.row(vec![("objoid", V::Oid(oid)), ("classoid", V::Oid(class)), ("description", text.as_str().into())]);
        }
    }
    Ok(())
}
