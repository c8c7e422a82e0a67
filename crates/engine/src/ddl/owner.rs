//! Owners: who an object belongs to, what a role owns, and what becomes of it.

use super::dependency::{Dropping, Object};
use super::role::denied;
use super::work::Work;
use std::collections::BTreeMap;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::catalog::names::{class_on_path, role_name};
use stoa_sql::privileges::{check_schema, denied as denied_on, not_owner, relation_class, relation_kind};
use stoa_syntax::rights::RoleRef;
use stoa_table::catalog::authority::{DefaultPrivileges, DefaultsFor};
use stoa_table::catalog::role::FIRST_SUPERUSER;
use stoa_table::catalog::store::{defaults_key, encode};
use stoa_table::catalog::{Acl, CatalogSnapshot, ObjectClass, Oid, Privileges, Relation, Rights, RightsOf, SequenceDescriptor, acl};

impl Work<'_> {
    /// Stores whose an object is, and who may what with it.
    pub(super) fn put_rights(&self, of: RightsOf, rights: Rights) -> PgResult<()> {
        self.ctx.put_rights(of, rights)
    }

    /// Stores what new objects get; `None`: what is built in.
    pub(super) fn put_defaults(&self, of: DefaultsFor, defaults: Option<DefaultPrivileges>) -> PgResult<()> {
        let row = defaults.as_ref().map(encode).transpose()?;
        self.ctx.txn.add_catalog_mutation(&defaults_key(of), row.as_deref())?;
        self.ctx.txn.change_catalog(move |catalog| {
            match &defaults {
                Some(defaults) => catalog.authority_mut().put_defaults(defaults.clone()),
                None => catalog.authority_mut().remove_defaults(of),
            }
            Ok(())
        })
    }
}

/// The kind of an object and its name, as errors about rights tell them.
pub(super) fn described(catalog: &CatalogSnapshot, of: RightsOf) -> (&'static str, String) {
    match of {
        RightsOf::Relation(oid) => {
            (relation_kind(catalog, oid), stoa_sql::catalog::names::class_name(catalog, oid).map(|c| c.name).unwrap_or_default())
        }
        RightsOf::Schema(oid) => ("schema", catalog.schema(oid).map_or_else(String::new, |s| s.name.clone())),
        RightsOf::Database(oid) => {
            let database = catalog.authority().database(oid);
            ("database", database.map_or_else(String::new, |database| database.name.clone()))
        }
        RightsOf::Function(key) => ("function", super::grant::function_named(key).map_or_else(String::new, |f| f.name.to_owned())),
        RightsOf::Language(_) => ("language", String::new()),
        RightsOf::Type(_) => ("type", String::new()),
    }
}

/// 42501 unless the role whose rights count owns an object.
pub(super) fn check_owns(work: &Work<'_>, of: RightsOf) -> PgResult<()> {
    if work.authority().owns(work.ctx.role, of) {
        return Ok(());
    }
    let (kind, name) = described(&work.catalog(), of);
    Err(not_owner(kind, &name))
}

/// Gives an object, and the sequences of a table's columns, to another owner.
pub(super) fn change(work: Work<'_>, of: RightsOf, to: &RoleRef) -> PgResult<()> {
    let new = work.role(to)?;
    let catalog = work.catalog();
    let rights = work.authority().rights(of);
    if rights.owner == new.oid {
        return Ok(());
    }
    if !work.is_superuser() {
        check_owns(&work, of)?;
        if !work.authority().is_member(work.ctx.role, new.oid) {
            return Err(denied(format!("must be member of role \"{}\"", new.name)));
        }
        match of {
            RightsOf::Relation(oid) => {
                if let Some(relation) = catalog.relation(oid) {
                    check_schema(&catalog, new.oid, relation.schema(), Privileges::CREATE)?;
                }
            }
            RightsOf::Schema(_) => {
                if !work.authority().may(work.ctx.role, ObjectClass::Database, work.this_database(), Privileges::CREATE) {
                    return Err(denied_on("database", &work.ctx.session.database));
                }
            }
            RightsOf::Database(_) | RightsOf::Function(_) | RightsOf::Language(_) | RightsOf::Type(_) => {}
        }
    }
    give(&work, &catalog, of, new.oid)
}

/// Stores a new sequence of a column: it is whose the table is.
pub(super) fn put_sequence(work: Work<'_>, sequence: SequenceDescriptor) -> PgResult<()> {
    let (own, table) = (RightsOf::Relation(sequence.oid), sequence.owned_by.map(|(table, _)| RightsOf::Relation(table)));
    work.put(Relation::Sequence(sequence))?;
    same_owner(work, own, table)
}

/// What is part of a table is whose the table is.
pub(super) fn same_owner(work: Work<'_>, own: RightsOf, table: Option<RightsOf>) -> PgResult<()> {
    match table.map(|table| work.authority().rights(table).owner) {
        Some(owner) if owner != work.authority().rights(own).owner => give(&work, &work.catalog(), own, owner),
        _ => Ok(()),
    }
}

fn give(work: &Work<'_>, catalog: &CatalogSnapshot, of: RightsOf, new: Oid) -> PgResult<()> {
    let rights = work.authority().rights(of);
    let swapped = |list: &Acl| acl::with_owner(list, rights.owner, new);
    work.put_rights(
        of,
        Rights {
            owner: new,
            acl: rights.acl.as_ref().map(swapped),
            columns: rights.columns.iter().map(|(id, list)| (*id, swapped(list))).collect(),
        },
    )?;
    if let RightsOf::Relation(oid) = of {
        for sequence in super::dependency::owned(catalog, oid, None).into_iter().chain(super::map::entries_of(catalog, oid, None)) {
            give(work, catalog, RightsOf::Relation(sequence), new)?;
        }
    }
    Ok(())
}

/// The roles of REASSIGN OWNED and DROP OWNED, whose rights whoever asks must have.
fn owners(work: &Work<'_>, named: &[RoleRef], doing: &str) -> PgResult<Vec<Oid>> {
    let mut out = Vec::with_capacity(named.len());
    for role in named {
        let role = work.role(role)?;
        if !work.authority().has_rights_of(work.ctx.role, role.oid) {
            return Err(denied(format!("permission denied to {doing} objects")));
        }
        if role.oid == FIRST_SUPERUSER {
            let (verb, name) = (if doing == "drop" { "drop" } else { "reassign ownership of" }, quote_name(&role.name));
            return Err(PgError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot {verb} objects owned by role {name} because they are required by the database system"),
            ));
        }
        out.push(role.oid);
    }
    Ok(out)
}

/// What roles own.
fn owned(work: &Work<'_>, roles: &[Oid]) -> Vec<RightsOf> {
    let authority = work.authority();
    authority.all_rights().filter(|(_, rights)| roles.contains(&rights.owner)).map(|(of, _)| of).collect()
}

/// REASSIGN OWNED.
pub(super) async fn reassign(work: Work<'_>, from: &[RoleRef], to: &RoleRef) -> PgResult<()> {
    let from = owners(&work, from, "reassign")?;
    let to = owners_of(&work, to)?;
    let catalog = work.catalog();
    for of in owned(&work, &from) {
        if let RightsOf::Relation(oid) = of
            && let Some(relation) = catalog.relation(oid)
        {
            work.lock(relation, stoa_table::txn::TableLockMode::AccessExclusive).await?;
        }
        give(&work, &catalog, of, to)?;
    }
    super::large_object::reassign(&work, &from, to).await
}

fn owners_of(work: &Work<'_>, to: &RoleRef) -> PgResult<Oid> {
    let role = work.role(to)?;
    if !work.authority().has_rights_of(work.ctx.role, role.oid) {
        return Err(denied("permission denied to reassign objects"));
    }
    Ok(role.oid)
}

/// DROP OWNED.
pub(super) async fn drop_owned(work: Work<'_>, by: &[RoleRef], cascade: bool) -> PgResult<()> {
    let roles = owners(&work, by, "drop")?;
    let mut dropping = Dropping::new(work);
    let catalog = work.catalog();
    for of in owned(&work, &roles) {
        match of {
            RightsOf::Relation(oid) => match catalog.relation(oid).map(|r| &**r) {
                // It goes with its column.
                Some(Relation::Sequence(sequence)) if sequence.owned_by.is_some() => {}
                Some(_) => dropping.name(Object::Relation(oid)),
                None => {}
            },
            RightsOf::Schema(oid) => dropping.name(Object::Schema(oid)),
            // The database stays, and so does what is built in.
            RightsOf::Database(_) | RightsOf::Function(_) | RightsOf::Language(_) | RightsOf::Type(_) => {}
        }
    }
    dropping.settle().await?;
    dropping.check(cascade, None)?;
    dropping.execute().await?;
    super::large_object::drop_owned(&work, &roles).await?;
    for role in roles {
        forget_grants(&work, role)?;
        super::policy::forget_role(work, role)?;
    }
    Ok(())
}

/// A list without what a role was granted, and what was granted in its name.
pub(super) fn without_role(list: &Acl, owner: Oid, role: Oid) -> Acl {
    let mut list = list.clone();
    let items: Vec<_> = list.iter().filter(|i| i.grantee == role && owner != role).copied().collect();
    for item in items {
        // With CASCADE nothing is in the way.
        let _ = acl::remove(&mut list, owner, (item.grantee, item.grantor), item.privileges, item.options, true);
    }
    list.retain(|i| i.grantor != role || owner == role);
    list
}

/// Takes from a role what it was granted, and what was granted in its name.
fn forget_grants(work: &Work<'_>, role: Oid) -> PgResult<()> {
    let authority = work.authority();
    let without = |list: &Acl, owner: Oid| without_role(list, owner, role);
    for (of, rights) in authority.all_rights() {
        let columns = rights.columns.iter().map(|(id, list)| (*id, without(list, rights.owner))).filter(|(_, list)| !list.is_empty());
        let new =
            Rights { owner: rights.owner, acl: rights.acl.as_ref().map(|list| without(list, rights.owner)), columns: columns.collect() };
        if new != **rights {
            work.put_rights(of, new)?;
        }
    }
    for defaults in authority.defaults() {
        if defaults.of.role == role {
            work.put_defaults(defaults.of, None)?;
            continue;
        }
        let acl = without(&defaults.acl, defaults.of.role);
        if acl != defaults.acl {
            let new = DefaultPrivileges { acl, ..(**defaults).clone() };
            work.put_defaults(defaults.of, Some(new).filter(|d| !d.acl.is_empty()))?;
        }
    }
    Ok(())
}

/// What keeps a role from being dropped, as PostgreSQL tells it: databases, and objects of this one, that it owns or has privileges on.
pub(super) fn uses_of(catalog: &CatalogSnapshot, path: &[Oid], role: Oid) -> Vec<String> {
    let databases = catalog.authority().all_rights().filter(|(of, _)| matches!(of, RightsOf::Database(_)));
    let mut out = uses_among(catalog, path, role, databases);
    out.extend(uses_within(catalog, path, role));
    out
}

/// Those in databases other than one: how many in each, with so many large objects.
pub(super) fn uses_elsewhere(
    catalogs: &[Arc<CatalogSnapshot>],
    database: Oid,
    role: Oid,
    large_objects: &BTreeMap<Oid, usize>,
) -> Vec<String> {
    let others = catalogs.iter().filter(|catalog| catalog.database() != database);
    let counted = others.map(|catalog| {
        let large_objects = large_objects.get(&catalog.database()).copied().unwrap_or(0);
        (uses_within(catalog, &[], role).len() + large_objects, catalog.database_name())
    });
    counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} object{} in database {}", if count == 1 { "" } else { "s" }, quote_name(name)))
        .collect()
}

/// Those of some rights.
fn uses_among<'a>(
    catalog: &CatalogSnapshot,
    path: &[Oid],
    role: Oid,
    rights: impl Iterator<Item = (RightsOf, &'a Arc<Rights>)>,
) -> Vec<String> {
    let mut out = Vec::new();
    for (of, rights) in rights {
        let shown = || shown(catalog, path, of);
        if rights.owner == role {
            out.push(format!("owner of {}", shown()));
            continue;
        }
        let concerns = |list: &Acl| list.iter().any(|i| i.grantee == role || i.grantor == role);
        if rights.acl.as_ref().is_some_and(concerns) {
            out.push(format!("privileges for {}", shown()));
        }
        for (id, list) in &rights.columns {
            if concerns(list) {
                out.push(format!("privileges for column {} of {}", column_name(catalog, of, *id), shown()));
            }
        }
    }
    out
}

/// Those in the catalog's own database.
fn uses_within(catalog: &CatalogSnapshot, path: &[Oid], role: Oid) -> Vec<String> {
    let authority = catalog.authority();
    let mut out = uses_among(catalog, path, role, authority.own_rights());
    for defaults in authority.defaults() {
        let what = match defaults.of.class {
            ObjectClass::Sequence => "sequences",
            ObjectClass::Function => "functions",
            ObjectClass::Type => "types",
            ObjectClass::Schema => "schemas",
            _ => "relations",
        };
        let place = catalog.schema(defaults.of.schema).map_or_else(String::new, |s| format!(" in schema {}", quote_name(&s.name)));
        let described = format!("default privileges on new {what} belonging to role {}{place}", role_name(catalog, defaults.of.role));
        if defaults.of.role == role {
            out.push(format!("owner of {described}"));
        } else if defaults.acl.iter().any(|i| i.grantee == role || i.grantor == role) {
            out.push(format!("privileges for {described}"));
        }
    }
    out.extend(super::policy::uses_of(catalog, role, &|oid| shown(catalog, path, RightsOf::Relation(oid))));
    out
}

fn shown(catalog: &CatalogSnapshot, path: &[Oid], of: RightsOf) -> String {
    let (kind, name) = described(catalog, of);
    match of {
        RightsOf::Relation(oid) if class_on_path(catalog, path, &name) != Some(oid) => {
            format!("{kind} {}", stoa_sql::catalog::names::qualified(catalog, oid).unwrap_or(name))
        }
        RightsOf::Function(key) => format!("{kind} {}", super::grant::function_shown(key).unwrap_or(name)),
        _ => format!("{kind} {}", quote_name(&name)),
    }
}

fn column_name(catalog: &CatalogSnapshot, of: RightsOf, id: stoa_table::catalog::ColumnId) -> String {
    let RightsOf::Relation(oid) = of else { return String::new() };
    super::grant::columns_of(catalog, oid).into_iter().find(|(known, _)| *known == id).map(|(_, name)| name).unwrap_or_default()
}

/// The class of what rights are about.
pub(super) fn class_of(catalog: &CatalogSnapshot, of: RightsOf) -> ObjectClass {
    match of {
        RightsOf::Relation(oid) => relation_class(catalog, oid),
        RightsOf::Schema(_) => ObjectClass::Schema,
        RightsOf::Database(_) => ObjectClass::Database,
        RightsOf::Function(_) => ObjectClass::Function,
        RightsOf::Language(_) => ObjectClass::Language,
        RightsOf::Type(_) => ObjectClass::Type,
    }
}
