//! Roles: `pg_roles`, `pg_authid`, `pg_user`, `pg_shadow`, `pg_group`, `pg_auth_members`, `pg_db_role_setting`.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::{Oid, RoleDescriptor};

fn until(role: &RoleDescriptor) -> V {
    role.valid_until.map_or(V::Null, V::Moment)
}

fn settings(ctx: &StatementContext, role: Oid) -> V {
    let found = ctx.catalog.authority().settings_of(0, role);
    found.map_or(V::Null, |s| V::Texts(s.values.iter().map(|(name, value)| format!("{name}={value}")).collect()))
}

/// Adds the rows of `pg_roles`, and those of `pg_authid`, which hold what passwords are proven against.
fn fill(ctx: &StatementContext, t: &mut Builder<'_>, password: impl Fn(&RoleDescriptor) -> V) -> PgResult<()> {
    for role in ctx.catalog.authority().roles() {
        t.row(vec![
            ("oid", V::Oid(role.oid)),
            ("rolname", role.name.as_str().into()),
            ("rolsuper", role.superuser.into()),
            ("rolinherit", role.inherit.into()),
            ("rolcreaterole", role.create_role.into()),
            ("rolcreatedb", role.create_db.into()),
            ("rolcanlogin", role.can_login.into()),
            ("rolreplication", role.replication.into()),
            ("rolbypassrls", role.bypass_rls.into()),
            ("rolconnlimit", V::Int(i64::from(role.connection_limit))),
            ("rolpassword", password(role)),
            ("rolvaliduntil", until(role)),
            ("rolconfig", settings(ctx, role.oid)),
        ]);
    }
    Ok(())
}

pub fn roles(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill(ctx, t, |_| "********".into())
}

pub fn authid(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill(ctx, t, verifier)
}

fn verifier(role: &RoleDescriptor) -> V {
    role.verifier.as_ref().map(|v| v.expose().to_owned()).into()
}

/// The roles that log in.
fn users_of(ctx: &StatementContext, t: &mut Builder<'_>, password: impl Fn(&RoleDescriptor) -> V) -> PgResult<()> {
    for role in ctx.catalog.authority().roles().filter(|role| role.can_login) {
        t.row(vec![
            ("usename", role.name.as_str().into()),
            ("usesysid", V::Oid(role.oid)),
            ("usecreatedb", role.create_db.into()),
            ("usesuper", role.superuser.into()),
            ("userepl", role.replication.into()),
            ("usebypassrls", role.bypass_rls.into()),
            ("passwd", password(role)),
            ("valuntil", until(role)),
            ("useconfig", settings(ctx, role.oid)),
        ]);
    }
    Ok(())
}

pub fn users(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    users_of(ctx, t, |_| "********".into())
}

pub fn shadow(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    users_of(ctx, t, verifier)
}

/// The roles that do not log in, with their members.
pub fn groups(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    for role in authority.roles().filter(|role| !role.can_login) {
        let members = authority.roles().filter(|other| other.member_of.iter().any(|m| m.role == role.oid)).map(|other| other.oid);
        t.row(vec![("groname", role.name.as_str().into()), ("grosysid", V::Oid(role.oid)), ("grolist", V::Oids(members.collect()))]);
    }
    Ok(())
}

pub fn members(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for member in ctx.catalog.authority().roles() {
        for membership in &member.member_of {
            t.row(vec![
                ("roleid", V::Oid(membership.role)),
                ("member", V::Oid(member.oid)),
                ("grantor", V::Oid(membership.grantor)),
                ("admin_option", membership.admin.into()),
            ]);
        }
    }
    Ok(())
}

pub fn start_settings(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for settings in ctx.catalog.authority().settings() {
        t.row(vec![
            ("setdatabase", V::Oid(settings.database)),
            ("setrole", V::Oid(settings.role)),
            ("setconfig", V::Texts(settings.values.iter().map(|(name, value)| format!("{name}={value}")).collect())),
        ]);
    }
    Ok(())
}
