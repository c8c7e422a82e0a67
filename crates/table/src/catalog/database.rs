//! Databases: which there are, and what they share: roles, settings that sessions begin with, rights of databases. Plain data.

use super::authority::Rights;
use super::descriptor::Oid;
use super::role::{RoleDescriptor, StartSettings, built_in_roles};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The database that every store has, whose rows of the catalog stand under their own keys.
pub const FIRST_DATABASE: Oid = 1;
/// Its name at first.
pub const FIRST_DATABASE_NAME: &str = "stoa";
/// A name that means the first database as long as no database is called so: that which clients of PostgreSQL connect to when they are
/// about databases (`createdb`).
pub const MAINTENANCE_NAME: &str = "postgres";

/// A database. Whose it is and who may connect stands beside it ([`Rights`]).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DatabaseDescriptor {
    pub oid: Oid,
    pub name: String,
    /// Sessions at a time, superusers' aside; -1 for any number.
    pub connection_limit: i32,
    pub allow_connections: bool,
    /// What is a template is not dropped.
    pub is_template: bool,
    pub comment: Option<String>,
}

impl DatabaseDescriptor {
    /// A database of which nothing else is said.
    #[must_use]
    pub fn new(oid: Oid, name: &str) -> Self {
        Self { oid, name: name.to_owned(), connection_limit: -1, allow_connections: true, is_template: false, comment: None }
    }
}

/// What all databases of a store share.
#[derive(Clone, Debug)]
pub struct Shared {
    pub(super) roles: BTreeMap<Oid, Arc<RoleDescriptor>>,
    pub(super) roles_by_name: HashMap<String, Oid>,
    /// By database (0: any) and role (0: any).
    pub(super) settings: BTreeMap<(Oid, Oid), Arc<StartSettings>>,
    pub(crate) databases: BTreeMap<Oid, Arc<DatabaseDescriptor>>,
    /// Rights of databases of which something was said.
    pub(super) rights: BTreeMap<Oid, Arc<Rights>>,
}

impl Default for Shared {
    /// That of a store in which nobody has said anything.
    fn default() -> Self {
        let mut out = Self {
            roles: BTreeMap::new(),
            roles_by_name: HashMap::new(),
            settings: BTreeMap::new(),
            databases: BTreeMap::new(),
            rights: BTreeMap::new(),
        };
        built_in_roles().into_iter().for_each(|role| out.put_role(role));
        out.put_database(DatabaseDescriptor::new(FIRST_DATABASE, FIRST_DATABASE_NAME));
        out
    }
}

impl Shared {
    pub(super) fn put_role(&mut self, role: RoleDescriptor) {
        if let Some(old) = self.roles.get(&role.oid) {
            self.roles_by_name.remove(&old.name);
        }
        self.roles_by_name.insert(role.name.clone(), role.oid);
        self.roles.insert(role.oid, Arc::new(role));
    }

    pub(super) fn remove_role(&mut self, oid: Oid) {
        if let Some(old) = self.roles.remove(&oid) {
            self.roles_by_name.remove(&old.name);
        }
    }

    pub(super) fn put_settings(&mut self, settings: StartSettings) {
        let key = (settings.database, settings.role);
        if settings.values.is_empty() {
            self.settings.remove(&key);
        } else {
            self.settings.insert(key, Arc::new(settings));
        }
    }

    pub(super) fn put_database(&mut self, database: DatabaseDescriptor) {
        self.databases.insert(database.oid, Arc::new(database));
    }

    /// A database goes, with what was said of it.
    pub(super) fn remove_database(&mut self, oid: Oid) {
        self.databases.remove(&oid);
        self.rights.remove(&oid);
        self.settings.retain(|(database, _), _| *database != oid);
    }
}
