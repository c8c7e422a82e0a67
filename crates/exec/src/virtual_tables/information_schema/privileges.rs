//! Privileges and roles: `table_privileges`, `column_privileges`, `udt_privileges`, `usage_privileges`, the relations of what roles were
//! granted, and those of the roles that the current one may use.

use super::super::builder::{Builder, yes};
use super::super::objects::schema_of;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::collation::COLLATIONS;
use stoa_sql::catalog::names::{OWNER, class_name, role_name};
use stoa_sql::system_relations;
use stoa_table::catalog::acl::PUBLIC_GRANTEE;
use stoa_table::catalog::role::DATABASE_OWNER;
use stoa_table::catalog::{AclItem, ColumnId, ObjectClass, Oid, Privileges, Relation, RightsOf, acl};

/// Tables and views, the system's among them.
fn tables(ctx: &StatementContext) -> Vec<Oid> {
    let of_users = ctx.catalog.relations().filter(|relation| match &***relation {
        Relation::Table(table) => ctx.catalog.view_of_rows(table.oid).is_none(),
        Relation::View(view) => view.materialized.is_none(),
        Relation::Sequence(_) => false,
    });
    let mut out: Vec<Oid> = of_users.map(|relation| relation.oid()).chain(system_relations::all().map(|d| d.oid)).collect();
    out.sort_unstable();
    out
}

/// Who sees an item: those who have the rights of one of its roles, and with `public` everybody what everybody was granted.
fn sees(ctx: &StatementContext, item: &AclItem, public: bool) -> bool {
    let authority = ctx.catalog.authority();
    let own = |role: Oid| role != PUBLIC_GRANTEE && authority.has_rights_of(ctx.role, role);
    own(item.grantor) || own(item.grantee) || (public && item.grantee == PUBLIC_GRANTEE)
}

fn grantee(ctx: &StatementContext, item: &AclItem) -> String {
    if item.grantee == PUBLIC_GRANTEE { "PUBLIC".to_owned() } else { role_name(&ctx.catalog, item.grantee) }
}

/// The owner may grant what he has.
fn may_grant(ctx: &StatementContext, item: &AclItem, one: Privileges, owner: Oid) -> bool {
    item.options.has(one) || (item.grantee != PUBLIC_GRANTEE && ctx.catalog.authority().has_rights_of(item.grantee, owner))
}

fn fill_tables(ctx: &StatementContext, t: &mut Builder<'_>, public: bool) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    for oid in tables(ctx) {
        let Some(class) = class_name(&ctx.catalog, oid).filter(|class| t.wants("table_name", class.name.as_str())) else { continue };
        let rights = authority.rights(RightsOf::Relation(oid));
        for item in rights.effective(ObjectClass::Table).iter().filter(|item| sees(ctx, item, public)) {
            for (one, _, name) in item.privileges.each() {
                t.row(vec![
                    ("grantor", role_name(&ctx.catalog, item.grantor).into()),
                    ("grantee", grantee(ctx, item).into()),
                    ("table_catalog", ctx.catalog.database_name().into()),
                    ("table_schema", schema_of(ctx, class.schema).into()),
                    ("table_name", class.name.as_str().into()),
                    ("privilege_type", name.into()),
                    ("is_grantable", yes(may_grant(ctx, item, one, rights.owner))),
                    ("with_hierarchy", yes(one == Privileges::SELECT)),
                ]);
            }
        }
    }
    Ok(())
}

pub fn table_privileges(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_tables(ctx, t, true)
}

pub fn role_table_grants(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_tables(ctx, t, false)
}

/// The columns of a relation by their numbers.
fn columns(ctx: &StatementContext, oid: Oid) -> Vec<(ColumnId, String)> {
    let numbered = |names: Vec<String>| (1_u32..).map(ColumnId).zip(names).collect();
    match ctx.catalog.relation(oid).map(|r| &**r) {
        Some(Relation::Table(table)) => table.visible_columns().map(|c| (c.id, c.name.clone())).collect(),
        Some(Relation::View(view)) => numbered(view.columns.iter().map(|c| c.name.clone()).collect()),
        Some(Relation::Sequence(_)) => Vec::new(),
        None => {
            let found = system_relations::by_oid(oid).and_then(|(schema, name)| system_relations::columns(schema, name));
            numbered(found.into_iter().flatten().map(|(name, _)| name).collect())
        }
    }
}

fn fill_columns(ctx: &StatementContext, t: &mut Builder<'_>, public: bool) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    for oid in tables(ctx) {
        let Some(class) = class_name(&ctx.catalog, oid).filter(|class| t.wants("table_name", class.name.as_str())) else { continue };
        let rights = authority.rights(RightsOf::Relation(oid));
        let whole = rights.effective(ObjectClass::Table);
        for (id, column) in columns(ctx, oid) {
            // What both lists say, is said once.
            let mut items = Vec::new();
            for item in whole.iter().chain(rights.column(id)) {
                let all = ObjectClass::Column.all();
                acl::add(&mut items, item.grantee, item.grantor, item.privileges.and(all), item.options.and(all));
            }
            for item in items.iter().filter(|item| sees(ctx, item, public)) {
                for (one, _, name) in item.privileges.each() {
                    t.row(vec![
                        ("grantor", role_name(&ctx.catalog, item.grantor).into()),
                        ("grantee", grantee(ctx, item).into()),
                        ("table_catalog", ctx.catalog.database_name().into()),
                        ("table_schema", schema_of(ctx, class.schema).into()),
                        ("table_name", class.name.as_str().into()),
                        ("column_name", column.as_str().into()),
                        ("privilege_type", name.into()),
                        ("is_grantable", yes(may_grant(ctx, item, one, rights.owner))),
                    ]);
                }
            }
        }
    }
    Ok(())
}

pub fn column_privileges(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_columns(ctx, t, true)
}

pub fn role_column_grants(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_columns(ctx, t, false)
}

/// The types that there are to grant: those of rows, which have no lists of their own.
fn fill_types(ctx: &StatementContext, t: &mut Builder<'_>, public: bool) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if matches!(&**relation, Relation::Sequence(_)) || ctx.catalog.view_of_rows(relation.oid()).is_some() {
            continue;
        }
        let owner = ctx.catalog.authority().rights(RightsOf::Relation(relation.oid())).owner;
        for item in acl::default_acl(ObjectClass::Type, owner).iter().filter(|item| sees(ctx, item, public)) {
            t.row(vec![
                ("grantor", role_name(&ctx.catalog, item.grantor).into()),
                ("grantee", grantee(ctx, item).into()),
                ("udt_catalog", ctx.catalog.database_name().into()),
                ("udt_schema", schema_of(ctx, relation.schema()).into()),
                ("udt_name", relation.name().into()),
                ("privilege_type", "TYPE USAGE".into()),
                ("is_grantable", yes(may_grant(ctx, item, Privileges::USAGE, owner))),
            ]);
        }
    }
    Ok(())
}

pub fn udt_privileges(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_types(ctx, t, true)
}

pub fn role_udt_grants(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_types(ctx, t, false)
}

fn fill_usage(ctx: &StatementContext, t: &mut Builder<'_>, public: bool) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    let of_collation = AclItem { grantee: PUBLIC_GRANTEE, grantor: OWNER, privileges: Privileges::USAGE, options: Privileges::NONE };
    for collation in COLLATIONS.iter().filter(|_| sees(ctx, &of_collation, public)) {
        t.row(vec![
            ("grantor", role_name(&ctx.catalog, of_collation.grantor).into()),
            ("grantee", grantee(ctx, &of_collation).into()),
            ("object_catalog", ctx.catalog.database_name().into()),
            ("object_schema", "pg_catalog".into()),
            ("object_name", collation.name.into()),
            ("object_type", "COLLATION".into()),
            ("privilege_type", "USAGE".into()),
            ("is_grantable", yes(false)),
        ]);
    }
    for relation in ctx.catalog.relations() {
        let Relation::Sequence(sequence) = &**relation else { continue };
        let rights = authority.rights(RightsOf::Relation(sequence.oid));
        // As in PostgreSQL, a sequence without a list of its own counts as a table, on which there is no USAGE.
        let list = rights.acl.as_deref().unwrap_or_default();
        for item in list.iter().filter(|item| item.privileges.has(Privileges::USAGE) && sees(ctx, item, public)) {
            t.row(vec![
                ("grantor", role_name(&ctx.catalog, item.grantor).into()),
                ("grantee", grantee(ctx, item).into()),
                ("object_catalog", ctx.catalog.database_name().into()),
                ("object_schema", schema_of(ctx, sequence.schema).into()),
                ("object_name", sequence.name.as_str().into()),
                ("object_type", "SEQUENCE".into()),
                ("privilege_type", "USAGE".into()),
                ("is_grantable", yes(may_grant(ctx, item, Privileges::USAGE, rights.owner))),
            ]);
        }
    }
    Ok(())
}

pub fn usage_privileges(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_usage(ctx, t, true)
}

pub fn role_usage_grants(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_usage(ctx, t, false)
}

fn fill_memberships(ctx: &StatementContext, t: &mut Builder<'_>, admins_only: bool) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    let owner = authority.rights(RightsOf::Database(authority.this_database())).owner;
    for member in authority.roles().filter(|member| authority.has_rights_of(ctx.role, member.oid)) {
        for membership in member.member_of.iter().filter(|m| m.admin || !admins_only) {
            t.row(vec![
                ("grantee", member.name.as_str().into()),
                ("role_name", role_name(&ctx.catalog, membership.role).into()),
                ("is_grantable", yes(membership.admin)),
            ]);
        }
        if member.oid == owner && !admins_only {
            t.row(vec![
                ("grantee", member.name.as_str().into()),
                ("role_name", role_name(&ctx.catalog, DATABASE_OWNER).into()),
                ("is_grantable", yes(false)),
            ]);
        }
    }
    Ok(())
}

pub fn applicable_roles(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_memberships(ctx, t, false)
}

pub fn administrable_roles(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    fill_memberships(ctx, t, true)
}

pub fn enabled_roles(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    for role in authority.roles().filter(|role| authority.has_rights_of(ctx.role, role.oid)) {
        t.row(vec![("role_name", role.name.as_str().into())]);
    }
    Ok(())
}
