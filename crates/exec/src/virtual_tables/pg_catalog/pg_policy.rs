//! `pg_policy` and `pg_policies`: who sees and writes which rows of a table.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables_among};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::role_name;
use stoa_table::catalog::acl::PUBLIC_GRANTEE;
use stoa_table::catalog::{PolicyCondition, TableDescriptor};

/// A condition as it is shown.
fn shown(ctx: &StatementContext, table: &TableDescriptor, condition: Option<&PolicyCondition>) -> PgResult<V> {
    let definitions = ctx.definitions();
    condition.map_or(Ok(V::Null), |condition| Ok(definitions.policy_condition(table, condition)?.into()))
}

/// Adds the rows of `pg_policy`.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables_among(ctx, t.oids("polrelid")) {
        for policy in &table.row_security.policies {
            t.row(vec![
                ("oid", V::Oid(policy.oid)),
                ("polname", policy.name.as_str().into()),
                ("polrelid", V::Oid(table.oid)),
                ("polcmd", policy.command.code().into()),
                ("polpermissive", (!policy.restrictive).into()),
                ("polroles", V::Oids(policy.roles.clone())),
                ("polqual", shown(ctx, &table, policy.using.as_ref())?),
                ("polwithcheck", shown(ctx, &table, policy.check.as_ref())?),
            ]);
        }
    }
    Ok(())
}

/// Adds the rows of `pg_policies`.
pub fn policies(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables_among(ctx, None) {
        for policy in &table.row_security.policies {
            let name = |role: &u32| if *role == PUBLIC_GRANTEE { "public".to_owned() } else { role_name(&ctx.catalog, *role) };
            let mut roles: Vec<String> = policy.roles.iter().map(name).collect();
            roles.sort();
            t.row(vec![
                ("schemaname", schema_of(ctx, table.schema).into()),
                ("tablename", table.name.as_str().into()),
                ("policyname", policy.name.as_str().into()),
                ("permissive", if policy.restrictive { "RESTRICTIVE" } else { "PERMISSIVE" }.into()),
                ("roles", V::Texts(roles)),
                ("cmd", policy.command.word().into()),
                ("qual", shown(ctx, &table, policy.using.as_ref())?),
                ("with_check", shown(ctx, &table, policy.check.as_ref())?),
            ]);
        }
    }
    Ok(())
}
