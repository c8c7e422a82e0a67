//! `pg_shdepend`: which roles objects need.

use super::super::builder::{Builder, V};
use super::super::objects::{
    PG_AUTHID, PG_CLASS, PG_DATABASE, PG_DEFAULT_ACL, PG_LANGUAGE, PG_NAMESPACE, PG_POLICY, PG_PROC, PG_TYPE, tables,
};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::acl::AclItem;
use stoa_table::catalog::{FIRST_USER_OID, RightsOf};

/// Adds the rows: of databases, and of what is in this one. Roles that are always there are in nobody's list, as in PostgreSQL.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    let mut needs = |database: u32, object: (u32, u32, u32), role: u32, kind: &str| {
        if role >= FIRST_USER_OID {
            t.row(vec![
                ("dbid", V::Oid(database)),
                ("classid", V::Oid(object.0)),
                ("objid", V::Oid(object.1)),
                ("objsubid", V::Int(i64::from(object.2))),
                ("refclassid", V::Oid(PG_AUTHID)),
                ("refobjid", V::Oid(role)),
                ("deptype", kind.into()),
            ]);
        }
    };
    let here = authority.this_database();
    for (of, rights) in authority.all_rights() {
        let (database, class, oid) = match of {
            RightsOf::Relation(oid) => (here, PG_CLASS, oid),
            RightsOf::Schema(oid) => (here, PG_NAMESPACE, oid),
            RightsOf::Database(oid) => (0, PG_DATABASE, oid),
            RightsOf::Function(oid) => (here, PG_PROC, oid),
            RightsOf::Language(oid) => (here, PG_LANGUAGE, oid),
            RightsOf::Type(oid) => (here, PG_TYPE, oid),
        };
        needs(database, (class, oid, 0), rights.owner, "o");
        let lists = rights.acl.iter().map(|acl| (0, acl)).chain(rights.columns.iter().map(|(column, acl)| (column.0, acl)));
        for (column, acl) in lists {
            for role in roles_in(acl, rights.owner) {
                needs(database, (class, oid, column), role, "a");
            }
        }
    }
    for defaults in authority.defaults() {
        let object = (PG_DEFAULT_ACL, defaults.oid, 0);
        needs(here, object, defaults.of.role, "o");
        for role in roles_in(&defaults.acl, defaults.of.role) {
            needs(here, object, role, "a");
        }
    }
    for table in tables(ctx) {
        for policy in &table.row_security.policies {
            for role in &policy.roles {
                needs(here, (PG_POLICY, policy.oid, 0), *role, "r");
            }
        }
    }
    Ok(())
}

/// The roles besides the owner that a list names, each once.
fn roles_in(acl: &[AclItem], owner: u32) -> Vec<u32> {
    let mut roles: Vec<u32> = acl.iter().flat_map(|item| [item.grantee, item.grantor]).filter(|role| *role != owner).collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}
