//! The statements that give a database's objects their owners and privileges again, as `pg_dump` writes them.
//!
//! Roles themselves are the server's and not in a dump: whoever restores it has made them.

use crate::catalog::deparse::{quote_name, quote_text};
use crate::catalog::names::{qualified, role_name};
use stoa_pg::registry::Registry;
use stoa_table::catalog::authority::DefaultPrivileges;
use stoa_table::catalog::role::FIRST_SUPERUSER;
use stoa_table::catalog::{
    Acl, AclItem, Authority, CatalogSnapshot, ColumnId, LargeObject, ObjectClass, Oid, PUBLIC_OID, Privileges, Relation, RightsOf, acl,
};

/// Owners first, then privileges, of schemas before what is in them, then those of what is yet to be made.
pub(super) fn statements(catalog: &CatalogSnapshot) -> Vec<String> {
    let authority = catalog.authority();
    let (mut owners, mut of_schemas, mut grants) = (Vec::new(), Vec::new(), Vec::new());
    for (of, rights) in authority.own_rights() {
        let Some(object) = object(catalog, of) else { continue };
        if rights.owner != FIRST_SUPERUSER
            && !object.alter.is_empty()
            && !(of == RightsOf::Schema(PUBLIC_OID) && rights.owner == built_in_owner(of))
        {
            owners.push(format!("ALTER {} {} OWNER TO {};", object.alter, object.name, quote_name(&role_name(catalog, rights.owner))));
        }
        if let Some(list) = &rights.acl {
            let on = format!("{} {}", object.grant, object.name);
            let out = if object.class == ObjectClass::Schema { &mut of_schemas } else { &mut grants };
            lists(catalog, &on, object.class, "", rights.owner, &base(of, object.class, rights.owner), list, out);
        }
        for (id, list) in &rights.columns {
            let Some(column) = column_name(catalog, of, *id) else { continue };
            let (on, column) = (format!("TABLE {}", object.name), format!("({})", quote_name(&column)));
            lists(catalog, &on, ObjectClass::Column, &column, rights.owner, &Acl::new(), list, &mut grants);
        }
    }
    for defaults in authority.defaults() {
        default_privileges(catalog, defaults, &mut grants);
    }
    owners.into_iter().chain(of_schemas).chain(grants).collect()
}

/// The statements that make a large object again, without its bytes.
#[must_use]
pub fn large_object(catalog: &CatalogSnapshot, oid: Oid, object: &LargeObject) -> Vec<String> {
    let mut out = vec![format!("SELECT pg_catalog.lo_create('{oid}');")];
    let owner = object.rights.owner;
    if owner != FIRST_SUPERUSER {
        out.push(format!("ALTER LARGE OBJECT {oid} OWNER TO {};", quote_name(&role_name(catalog, owner))));
    }
    if let Some(text) = &object.comment {
        out.push(format!("COMMENT ON LARGE OBJECT {oid} IS {};", quote_text(text)));
    }
    if let Some(list) = &object.rights.acl {
        let class = ObjectClass::LargeObject;
        lists(catalog, &format!("LARGE OBJECT {oid}"), class, "", owner, &acl::default_acl(class, owner), list, &mut out);
    }
    out
}

/// What an object is called in ALTER and in GRANT.
struct Object {
    /// Empty where the owner follows from something else.
    alter: &'static str,
    grant: &'static str,
    class: ObjectClass,
    name: String,
}

fn object(catalog: &CatalogSnapshot, of: RightsOf) -> Option<Object> {
    Some(match of {
        RightsOf::Relation(oid) => {
            let name = qualified(catalog, oid)?;
            match catalog.relation(oid).map(|r| &**r) {
                Some(Relation::Table(table)) if table.temporary => return None,
                Some(Relation::Table(_)) => Object { alter: "TABLE", grant: "TABLE", class: ObjectClass::Table, name },
                Some(Relation::View(view)) => {
                    let alter = if view.materialized.is_some() { "MATERIALIZED VIEW" } else { "VIEW" };
                    Object { alter, grant: "TABLE", class: ObjectClass::Table, name }
                }
                Some(Relation::Sequence(sequence)) if sequence.temporary => return None,
                Some(Relation::Sequence(sequence)) => {
                    let alter = if sequence.owned_by.is_some() { "" } else { "SEQUENCE" };
                    Object { alter, grant: "SEQUENCE", class: ObjectClass::Sequence, name }
                }
                None => Object { alter: "", grant: "TABLE", class: ObjectClass::Table, name },
            }
        }
        RightsOf::Schema(oid) => {
            let schema = catalog.schema(oid).filter(|s| s.temporary.is_none())?;
            Object { alter: "SCHEMA", grant: "SCHEMA", class: ObjectClass::Schema, name: quote_name(&schema.name) }
        }
        RightsOf::Function(key) => {
            let func = Registry::get().all_functions().find(|f| crate::privileges::function_key(f) == key)?;
            let types: Vec<String> = func.declared_args().map(|ty| ty.to_string()).collect();
            let name = format!("pg_catalog.{}({})", func.name, types.join(", "));
            Object { alter: "", grant: "FUNCTION", class: ObjectClass::Function, name }
        }
        // What is said of the database is not in the dump of one.
        RightsOf::Database(_) | RightsOf::Language(_) | RightsOf::Type(_) => return None,
    })
}

fn built_in_owner(of: RightsOf) -> Oid {
    Authority::default().rights(of).owner
}

/// The list that an object has when a dump has made it.
fn base(of: RightsOf, class: ObjectClass, owner: Oid) -> Acl {
    match of {
        RightsOf::Schema(PUBLIC_OID) => Authority::default().rights(of).effective(class),
        _ => acl::default_acl(class, owner),
    }
}

fn column_name(catalog: &CatalogSnapshot, of: RightsOf, id: ColumnId) -> Option<String> {
    let RightsOf::Relation(oid) = of else { return None };
    match &**catalog.relation(oid)? {
        Relation::Table(table) => table.column(id).filter(|c| !c.dropped).map(|c| c.name.clone()),
        Relation::View(view) => view.columns.get(usize::try_from(id.0).ok()?.checked_sub(1)?).map(|c| c.name.clone()),
        Relation::Sequence(_) => None,
    }
}

fn grantee(catalog: &CatalogSnapshot, oid: Oid) -> String {
    if oid == acl::PUBLIC_GRANTEE { "PUBLIC".to_owned() } else { quote_name(&role_name(catalog, oid)) }
}

/// The names of privileges, each with the columns that it is about.
fn named(privileges: Privileges, class: ObjectClass, columns: &str) -> String {
    if privileges == class.all() {
        return format!("ALL{columns}");
    }
    privileges.each().map(|(_, _, name)| format!("{name}{columns}")).collect::<Vec<_>>().join(", ")
}

/// What makes one list of another.
#[allow(clippy::too_many_arguments)] // What GRANT has, it has.
fn lists(
    catalog: &CatalogSnapshot,
    on: &str,
    class: ObjectClass,
    columns: &str,
    owner: Oid,
    from: &[AclItem],
    to: &[AclItem],
    out: &mut Vec<String>,
) {
    let kept = |item: &&AclItem| {
        to.iter().any(|new| new.grantee == item.grantee && new.grantor == item.grantor && new.privileges.has(item.privileges))
    };
    for item in from.iter().filter(|item| !kept(item)) {
        out.push(format!("REVOKE ALL{columns} ON {on} FROM {};", grantee(catalog, item.grantee)));
    }
    for item in to.iter().filter(|item| !from.contains(item)) {
        let plain = item.privileges.without(item.options);
        let mut statements = Vec::new();
        if !plain.is_empty() {
            statements.push(format!("GRANT {} ON {on} TO {};", named(plain, class, columns), grantee(catalog, item.grantee)));
        }
        if !item.options.is_empty() && item.grantee != owner {
            let names = named(item.options, class, columns);
            statements.push(format!("GRANT {names} ON {on} TO {} WITH GRANT OPTION;", grantee(catalog, item.grantee)));
        }
        if item.grantor == owner || statements.is_empty() {
            out.append(&mut statements);
        } else {
            // In the name of who has granted it.
            let name = quote_name(&role_name(catalog, item.grantor));
            out.push(format!("SET SESSION AUTHORIZATION {name};\n{}\nRESET SESSION AUTHORIZATION;", statements.join("\n")));
        }
    }
}

fn default_privileges(catalog: &CatalogSnapshot, defaults: &DefaultPrivileges, out: &mut Vec<String>) {
    let of = defaults.of;
    let many = match of.class {
        ObjectClass::Sequence => "SEQUENCES",
        ObjectClass::Function => "FUNCTIONS",
        ObjectClass::Type => "TYPES",
        ObjectClass::Schema => "SCHEMAS",
        ObjectClass::Table | ObjectClass::Column | ObjectClass::Database | ObjectClass::Language | ObjectClass::LargeObject => "TABLES",
    };
    let place = catalog.schema(of.schema).map_or_else(String::new, |s| format!(" IN SCHEMA {}", quote_name(&s.name)));
    let from = if of.schema == 0 { acl::default_acl(of.class, of.role) } else { Acl::new() };
    let mut changes = Vec::new();
    lists(catalog, many, of.class, "", of.role, &from, &defaults.acl, &mut changes);
    let head = format!("ALTER DEFAULT PRIVILEGES FOR ROLE {}{place}", quote_name(&role_name(catalog, of.role)));
    out.extend(changes.into_iter().map(|change| format!("{head} {change}")));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use stoa_table::catalog::{Rights, RoleDescriptor};

    #[test]
    fn what_differs_from_a_new_schema_is_said() {
        let mut catalog = CatalogSnapshot::default();
        for schema in stoa_table::catalog::store::built_in_schemas() {
            catalog.put_schema(schema);
        }
        let authority = catalog.authority_mut();
        authority.put_role(RoleDescriptor::new(100, "a b"));
        authority.put_role(RoleDescriptor::new(101, "c"));
        let item = |grantee, grantor, privileges, options| AclItem { grantee, grantor, privileges, options };
        let mut acl = authority.rights(RightsOf::Schema(PUBLIC_OID)).effective(ObjectClass::Schema);
        acl.retain(|i| i.grantee != 0);
        acl.push(item(100, acl[0].grantor, Privileges::USAGE.or(Privileges::CREATE), Privileges::USAGE));
        acl.push(item(101, 100, Privileges::USAGE, Privileges::NONE));
        authority.put_rights(RightsOf::Schema(PUBLIC_OID), Rights { owner: acl[0].grantor, acl: Some(acl), columns: Vec::new() });
        assert_eq!(
            statements(&catalog),
            [
                "REVOKE ALL ON SCHEMA public FROM PUBLIC;",
                "GRANT CREATE ON SCHEMA public TO \"a b\";",
                "GRANT USAGE ON SCHEMA public TO \"a b\" WITH GRANT OPTION;",
                "SET SESSION AUTHORIZATION \"a b\";\nGRANT USAGE ON SCHEMA public TO c;\nRESET SESSION AUTHORIZATION;",
            ]
        );
    }
}
