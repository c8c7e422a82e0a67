//! Who may do what, as of one version of the catalog: roles, owners, lists of privileges.
//!
//! Rights are kept apart from the descriptors of objects: a GRANT and an ALTER TABLE at the same time do not undo each other, and an
//! object of which nothing is said belongs to the first superuser under the built-in privileges.

use super::acl::{self, Acl, AclItem, ObjectClass, PUBLIC_GRANTEE, Privileges};
use super::database::{DatabaseDescriptor, FIRST_DATABASE, MAINTENANCE_NAME, Shared};
use super::descriptor::{ColumnId, FIRST_USER_OID, INFORMATION_SCHEMA_OID, Oid, PG_CATALOG_OID, PUBLIC_OID};
use super::role::{
    DATABASE_OWNER, FIRST_SUPERUSER, POSTGRES_ROLE, READ_ALL_DATA, READ_ALL_STATS, RoleDescriptor, StartSettings, WRITE_ALL_DATA,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whose an object is, and who may do what with it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rights {
    pub owner: Oid,
    /// `None`: what [`acl::default_acl`] says.
    pub acl: Option<Acl>,
    /// Of single columns of tables and views (by position, from 1).
    #[serde(default)]
    pub columns: Vec<(ColumnId, Acl)>,
}

impl Rights {
    /// An object of a role of which nothing else is said.
    #[must_use]
    pub fn of(owner: Oid) -> Self {
        Self { owner, acl: None, columns: Vec::new() }
    }

    /// The same without what roles have that are gone; what they owned is `owner`'s.
    #[must_use]
    pub fn of_roles_that_exist(&self, authority: &Authority, owner: Oid) -> Self {
        let is_there = |role: Oid| role == PUBLIC_GRANTEE || authority.role(role).is_some();
        let holds = |item: &AclItem| is_there(item.grantee) && is_there(item.grantor);
        let mut out = self.clone();
        if !is_there(out.owner) {
            out.owner = owner;
        }
        out.acl.iter_mut().for_each(|acl| acl.retain(holds));
        out.columns.iter_mut().for_each(|(_, acl)| acl.retain(holds));
        out.columns.retain(|(_, acl)| !acl.is_empty());
        out
    }

    /// The list that holds.
    #[must_use]
    pub fn effective(&self, class: ObjectClass) -> Acl {
        self.acl.clone().unwrap_or_else(|| acl::default_acl(class, self.owner))
    }

    #[must_use]
    pub fn column(&self, id: ColumnId) -> &[AclItem] {
        self.columns.iter().find(|(column, _)| *column == id).map_or(&[], |(_, acl)| acl.as_slice())
    }
}

/// What the rights are about: OIDs of functions are numbers of their own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RightsOf {
    Relation(Oid),
    Schema(Oid),
    Database(Oid),
    Function(Oid),
    Language(Oid),
    Type(Oid),
}

/// Privileges that new objects of a role get.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct DefaultsFor {
    /// Who makes the object.
    pub role: Oid,
    /// 0: in every schema.
    pub schema: Oid,
    pub class: ObjectClass,
}

/// A row of `pg_default_acl`. In one schema it is what is added to the others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DefaultPrivileges {
    pub oid: Oid,
    pub of: DefaultsFor,
    pub acl: Acl,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Authority {
    /// The database whose objects it is about.
    database: Oid,
    shared: Arc<Shared>,
    rights: BTreeMap<RightsOf, Arc<Rights>>,
    defaults: BTreeMap<DefaultsFor, Arc<DefaultPrivileges>>,
}

impl Default for Authority {
    /// That of the first database when nobody has said anything.
    fn default() -> Self {
        Self::of_database(FIRST_DATABASE, Arc::default())
    }
}

impl Authority {
    /// That of a database in which nobody has said anything.
    #[must_use]
    pub fn of_database(database: Oid, shared: Arc<Shared>) -> Self {
        Self { database, shared, rights: BTreeMap::new(), defaults: BTreeMap::new() }
    }

    // Databases, and what they share.

    /// What all databases share.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn set_shared(&mut self, shared: Arc<Shared>) {
        self.shared = shared;
    }

    fn shared_mut(&mut self) -> &mut Shared {
        Arc::make_mut(&mut self.shared)
    }

    /// The database whose objects it is about.
    #[must_use]
    pub fn this_database(&self) -> Oid {
        self.database
    }

    #[must_use]
    pub fn database(&self, oid: Oid) -> Option<&Arc<DatabaseDescriptor>> {
        self.shared.databases.get(&oid)
    }

    /// The database with a name.
    #[must_use]
    pub fn database_named(&self, name: &str) -> Option<&Arc<DatabaseDescriptor>> {
        self.shared.databases.values().find(|database| database.name == name)
    }

    /// The database that a connection means by a name: clients that are about databases connect to one that may not be there.
    #[must_use]
    pub fn database_to_connect_to(&self, name: &str) -> Option<&Arc<DatabaseDescriptor>> {
        let maintenance = || self.database(FIRST_DATABASE).filter(|_| name == MAINTENANCE_NAME);
        self.database_named(name).or_else(maintenance)
    }

    /// In the order of OIDs.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<DatabaseDescriptor>> {
        self.shared.databases.values()
    }

    pub fn put_database(&mut self, database: DatabaseDescriptor) {
        self.shared_mut().put_database(database);
    }

    /// A database goes, with its rights and settings.
    pub fn remove_database(&mut self, oid: Oid) {
        self.shared_mut().remove_database(oid);
    }

    // Roles.

    #[must_use]
    pub fn role(&self, oid: Oid) -> Option<&Arc<RoleDescriptor>> {
        self.shared.roles.get(&oid)
    }

    #[must_use]
    pub fn role_named(&self, name: &str) -> Option<&Arc<RoleDescriptor>> {
        self.shared.roles.get(self.shared.roles_by_name.get(name)?)
    }

    /// In the order of OIDs.
    pub fn roles(&self) -> impl Iterator<Item = &Arc<RoleDescriptor>> {
        self.shared.roles.values()
    }

    /// Whether nobody has made a role: whoever is let in without a proof is the first superuser then, whatever name is given.
    #[must_use]
    pub fn has_built_in_roles_only(&self) -> bool {
        self.shared.roles.values().all(|role| matches!(role.oid, FIRST_SUPERUSER | POSTGRES_ROLE) || role.is_predefined())
    }

    #[must_use]
    pub fn is_superuser(&self, role: Oid) -> bool {
        self.role(role).is_some_and(|r| r.superuser)
    }

    pub fn put_role(&mut self, role: RoleDescriptor) {
        self.shared_mut().put_role(role);
    }

    pub fn remove_role(&mut self, oid: Oid) {
        self.shared_mut().remove_role(oid);
    }

    /// The roles that a role is a member of, directly or by others, itself first. With `inheriting`, by roles that inherit only.
    #[must_use]
    pub fn memberships(&self, role: Oid, inheriting: bool) -> Vec<Oid> {
        let mut out = vec![role];
        let mut at = 0;
        while let Some(next) = out.get(at).copied() {
            at += 1;
            let Some(found) = self.role(next) else { continue };
            if inheriting && !found.inherit {
                continue;
            }
            let of_database = (self.rights(RightsOf::Database(self.database)).owner == next).then_some(DATABASE_OWNER);
            for other in found.member_of.iter().map(|m| m.role).chain(of_database) {
                if !out.contains(&other) {
                    out.push(other);
                }
            }
        }
        out
    }

    /// Whether a role is a member of another, superusers of all.
    #[must_use]
    pub fn is_member(&self, role: Oid, of: Oid) -> bool {
        role == of || self.is_superuser(role) || self.memberships(role, false).contains(&of)
    }

    /// The same without what superusers have for being such.
    #[must_use]
    pub fn is_plain_member(&self, role: Oid, of: Oid) -> bool {
        role == of || self.memberships(role, false).contains(&of)
    }

    /// Whether a role has the rights of another without SET ROLE.
    #[must_use]
    pub fn has_rights_of(&self, role: Oid, of: Oid) -> bool {
        role == of || self.is_superuser(role) || self.memberships(role, true).contains(&of)
    }

    /// Whether a role may make others members of another.
    #[must_use]
    pub fn is_admin(&self, role: Oid, of: Oid) -> bool {
        self.is_superuser(role)
            || self
                .memberships(role, false)
                .into_iter()
                .filter_map(|r| self.role(r))
                .any(|r| r.member_of.iter().any(|m| m.role == of && m.admin))
    }

    // Settings.

    pub fn settings(&self) -> impl Iterator<Item = &Arc<StartSettings>> {
        self.shared.settings.values()
    }

    #[must_use]
    pub fn settings_of(&self, database: Oid, role: Oid) -> Option<&Arc<StartSettings>> {
        self.shared.settings.get(&(database, role))
    }

    /// Sets those of a role in a database; none are removed.
    pub fn put_settings(&mut self, settings: StartSettings) {
        self.shared_mut().put_settings(settings);
    }

    // Rights.

    /// What was said of an object.
    fn said_of(&self, of: RightsOf) -> Option<&Arc<Rights>> {
        match of {
            RightsOf::Database(oid) => self.shared.rights.get(&oid),
            _ => self.rights.get(&of),
        }
    }

    /// Whose an object is and who may what with it.
    #[must_use]
    pub fn rights(&self, of: RightsOf) -> Arc<Rights> {
        self.said_of(of).cloned().unwrap_or_else(|| Arc::new(built_in_rights(of)))
    }

    /// Whether anything was said of an object.
    #[must_use]
    pub fn says_of(&self, of: RightsOf) -> bool {
        self.said_of(of).is_some()
    }

    /// Those that were said, of databases and of what is in this one.
    pub fn all_rights(&self) -> impl Iterator<Item = (RightsOf, &Arc<Rights>)> {
        let databases = self.shared.rights.iter().map(|(oid, rights)| (RightsOf::Database(*oid), rights));
        databases.chain(self.own_rights())
    }

    /// Those that were said of what is in this database.
    pub fn own_rights(&self) -> impl Iterator<Item = (RightsOf, &Arc<Rights>)> {
        self.rights.iter().map(|(of, rights)| (*of, rights))
    }

    pub fn put_rights(&mut self, of: RightsOf, rights: Rights) {
        match of {
            RightsOf::Database(oid) => drop(self.shared_mut().rights.insert(oid, Arc::new(rights))),
            _ => drop(self.rights.insert(of, Arc::new(rights))),
        }
    }

    pub fn remove_rights(&mut self, of: RightsOf) {
        match of {
            RightsOf::Database(oid) => drop(self.shared_mut().rights.remove(&oid)),
            _ => drop(self.rights.remove(&of)),
        }
    }

    /// Whether a role has the rights of an object's owner.
    #[must_use]
    pub fn owns(&self, role: Oid, of: RightsOf) -> bool {
        self.is_superuser(role) || self.has_rights_of(role, self.rights(of).owner)
    }

    /// Which of the wanted privileges, and of the options to grant them, a role has on an object.
    #[must_use]
    pub fn privileges(
        &self,
        role: Oid,
        class: ObjectClass,
        of: RightsOf,
        wanted: Privileges,
        options: Privileges,
    ) -> (Privileges, Privileges) {
        if self.is_superuser(role) {
            return (wanted, options);
        }
        let rights = self.rights(of);
        let default;
        let list = match &rights.acl {
            Some(list) => list,
            None => {
                default = acl::default_acl(class, rights.owner);
                &default
            }
        };
        let (mut privileges, options) = acl::granted(list, rights.owner, role, wanted, options, &|other| self.has_rights_of(role, other));
        privileges = privileges.or(self.by_predefined_roles(role, class, of, wanted.without(privileges)));
        (privileges, options)
    }

    /// What `pg_read_all_data` and `pg_write_all_data` give.
    fn by_predefined_roles(&self, role: Oid, class: ObjectClass, of: RightsOf, missing: Privileges) -> Privileges {
        let (read, write) = match class {
            ObjectClass::Table => (Privileges::SELECT, Privileges::INSERT.or(Privileges::UPDATE).or(Privileges::DELETE)),
            // As PostgreSQL: sequences are relations, whose SELECT and UPDATE these are.
            ObjectClass::Sequence => (Privileges::SELECT, Privileges::UPDATE),
            ObjectClass::Schema => (Privileges::USAGE, Privileges::USAGE),
            _ => return Privileges::NONE,
        };
        let mut out = Privileges::NONE;
        if !missing.and(read).is_empty() && self.has_rights_of(role, READ_ALL_DATA) {
            out = out.or(missing.and(read));
        }
        // Nobody writes into the system's relations by it.
        let own = !matches!(of, RightsOf::Relation(oid) if oid < FIRST_USER_OID);
        if own && !missing.and(write).is_empty() && self.has_rights_of(role, WRITE_ALL_DATA) {
            out = out.or(missing.and(write));
        }
        out
    }

    /// Whether a role has all of the wanted privileges on an object.
    #[must_use]
    pub fn may(&self, role: Oid, class: ObjectClass, of: RightsOf, wanted: Privileges) -> bool {
        self.privileges(role, class, of, wanted, Privileges::NONE).0.has(wanted)
    }

    /// Which of the wanted privileges a role has on a column for the column's own list: what it has on the whole is not asked.
    #[must_use]
    pub fn column_privileges(
        &self,
        role: Oid,
        relation: Oid,
        column: ColumnId,
        wanted: Privileges,
        options: Privileges,
    ) -> (Privileges, Privileges) {
        if self.is_superuser(role) {
            return (wanted, options);
        }
        let rights = self.rights(RightsOf::Relation(relation));
        let list = rights.column(column);
        if list.is_empty() {
            return (Privileges::NONE, Privileges::NONE);
        }
        acl::granted(list, rights.owner, role, wanted, options, &|other| self.has_rights_of(role, other))
    }

    // What new objects get.

    pub fn defaults(&self) -> impl Iterator<Item = &Arc<DefaultPrivileges>> {
        self.defaults.values()
    }

    #[must_use]
    pub fn defaults_of(&self, of: DefaultsFor) -> Option<&Arc<DefaultPrivileges>> {
        self.defaults.get(&of)
    }

    pub fn put_defaults(&mut self, defaults: DefaultPrivileges) {
        self.defaults.insert(defaults.of, Arc::new(defaults));
    }

    pub fn remove_defaults(&mut self, of: DefaultsFor) {
        self.defaults.remove(&of);
    }

    /// The rights of an object that a role makes in a schema (0: in none).
    #[must_use]
    pub fn rights_of_new(&self, owner: Oid, schema: Oid, class: ObjectClass) -> Rights {
        let everywhere = self.defaults_of(DefaultsFor { role: owner, schema: 0, class });
        let here = if schema == 0 { None } else { self.defaults_of(DefaultsFor { role: owner, schema, class }) };
        if everywhere.is_none() && here.is_none() {
            return Rights::of(owner);
        }
        let built_in = acl::default_acl(class, owner);
        let mut list = everywhere.map_or_else(|| built_in.clone(), |d| d.acl.clone());
        for item in here.iter().flat_map(|d| &d.acl) {
            acl::add(&mut list, item.grantee, item.grantor, item.privileges, item.options);
        }
        let same = list.len() == built_in.len() && list.iter().all(|i| built_in.contains(i));
        Rights { owner, acl: (!same).then_some(list), columns: Vec::new() }
    }
}

/// Relations of the system that not everybody may read: passwords, samples of values, files of the server.
const SECRET_RELATIONS: [Oid; 12] = [1260, 1418, 2613, 2619, 3429, 6100, 12005, 12110, 12114, 12118, 12130, 12332];
/// Those on which PostgreSQL's script of `information_schema` grants nothing, so that they have no list: what foreign tables are made of,
/// `sql_parts`, `transforms`.
const UNGRANTED_RELATIONS: [Oid; 7] = [13401, 13430, 13498, 13507, 13519, 13532, 13545];
/// Those that who may see statistics may read.
const STATISTICS_RELATIONS: [Oid; 2] = [12134, 12138];
/// `pg_settings`, which PostgreSQL lets everybody update: it is SET by another name.
const SETTINGS_RELATION: Oid = 12104;

/// The rights of a relation of the system.
fn system_relation_rights(oid: Oid) -> Rights {
    if UNGRANTED_RELATIONS.contains(&oid) {
        return Rights::of(FIRST_SUPERUSER);
    }
    let item = |grantee, privileges| AclItem { grantee, grantor: FIRST_SUPERUSER, privileges, options: Privileges::NONE };
    let mut acl = vec![item(FIRST_SUPERUSER, ObjectClass::Table.all())];
    if STATISTICS_RELATIONS.contains(&oid) {
        acl.push(item(READ_ALL_STATS, Privileges::SELECT));
    } else if oid == SETTINGS_RELATION {
        acl.push(item(PUBLIC_GRANTEE, Privileges::SELECT.or(Privileges::UPDATE)));
    } else if !SECRET_RELATIONS.contains(&oid) {
        acl.push(item(PUBLIC_GRANTEE, Privileges::SELECT));
    }
    Rights { acl: Some(acl), ..Rights::of(FIRST_SUPERUSER) }
}

/// The rights of what nothing was said of.
fn built_in_rights(of: RightsOf) -> Rights {
    let everybody_may_use = |owner: Oid| {
        let item = |grantee, privileges| AclItem { grantee, grantor: owner, privileges, options: Privileges::NONE };
        Some(vec![item(owner, ObjectClass::Schema.all()), item(PUBLIC_GRANTEE, Privileges::USAGE)])
    };
    match of {
        RightsOf::Schema(PUBLIC_OID) => Rights { acl: everybody_may_use(DATABASE_OWNER), ..Rights::of(DATABASE_OWNER) },
        RightsOf::Schema(PG_CATALOG_OID | INFORMATION_SCHEMA_OID) => {
            Rights { acl: everybody_may_use(FIRST_SUPERUSER), ..Rights::of(FIRST_SUPERUSER) }
        }
        RightsOf::Relation(oid) if oid < FIRST_USER_OID => system_relation_rights(oid),
        _ => Rights::of(FIRST_SUPERUSER),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::super::role::{MONITOR, Membership, READ_ALL_STATS};
    use super::*;

    fn with(roles: &[(Oid, bool, &[Oid])]) -> Authority {
        let mut out = Authority::default();
        for (oid, inherit, of) in roles {
            let member_of = of.iter().map(|role| Membership { role: *role, grantor: FIRST_SUPERUSER, admin: false }).collect();
            out.put_role(RoleDescriptor { inherit: *inherit, member_of, ..RoleDescriptor::new(*oid, &format!("r{oid}")) });
        }
        out
    }

    #[test]
    fn rights_are_inherited_only_through_roles_that_inherit() {
        let authority = with(&[(100, true, &[101]), (101, false, &[102]), (102, true, &[]), (103, true, &[MONITOR])]);
        assert!(authority.has_rights_of(100, 101) && !authority.has_rights_of(100, 102));
        assert!(authority.is_member(100, 102) && authority.is_plain_member(100, 102));
        assert!(authority.has_rights_of(103, READ_ALL_STATS));
        assert!(authority.is_member(FIRST_SUPERUSER, 102) && !authority.is_plain_member(FIRST_SUPERUSER, 102));
        assert!(!authority.has_built_in_roles_only() && Authority::default().has_built_in_roles_only());
    }

    #[test]
    fn the_owner_of_the_database_owns_public() {
        let mut authority = with(&[(100, true, &[])]);
        assert!(!authority.may(100, ObjectClass::Schema, RightsOf::Schema(PUBLIC_OID), Privileges::CREATE));
        assert!(authority.may(100, ObjectClass::Schema, RightsOf::Schema(PUBLIC_OID), Privileges::USAGE));
        authority.put_rights(RightsOf::Database(FIRST_DATABASE), Rights::of(100));
        assert!(authority.may(100, ObjectClass::Schema, RightsOf::Schema(PUBLIC_OID), Privileges::CREATE));
        assert!(authority.owns(100, RightsOf::Schema(PUBLIC_OID)));
    }

    #[test]
    fn new_objects_get_what_was_said_before() {
        let mut authority = with(&[(100, true, &[]), (101, true, &[])]);
        assert_eq!(authority.rights_of_new(100, 5, ObjectClass::Table), Rights::of(100));
        let of = DefaultsFor { role: 100, schema: 5, class: ObjectClass::Table };
        let item = AclItem { grantee: 101, grantor: 100, privileges: Privileges::SELECT, options: Privileges::NONE };
        authority.put_defaults(DefaultPrivileges { oid: 1, of, acl: vec![item] });
        let rights = authority.rights_of_new(100, 5, ObjectClass::Table);
        assert_eq!(rights.acl.unwrap().len(), 2);
        assert!(authority.rights_of_new(100, 6, ObjectClass::Table).acl.is_none());
    }
}
