//! Roles: who there is, and who is a member of whom. Plain data, stored as rows of the catalog's own table.

use super::descriptor::Oid;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The superuser that every database begins with. Objects of which nothing else is said are its.
pub const FIRST_SUPERUSER: Oid = 10;
/// Its name at first.
pub const FIRST_SUPERUSER_NAME: &str = "stoa";
/// A superuser that nobody logs in as: what dumps of PostgreSQL say is owned by `postgres` has an owner by it.
pub const POSTGRES_ROLE: Oid = 9;
pub const POSTGRES_ROLE_NAME: &str = "postgres";

/// The predefined role that stands for the owner of the database: the schema `public` is its.
pub const DATABASE_OWNER: Oid = 6171;
pub const READ_ALL_DATA: Oid = 6181;
pub const WRITE_ALL_DATA: Oid = 6182;
pub const MONITOR: Oid = 3373;
pub const READ_ALL_SETTINGS: Oid = 3374;
pub const READ_ALL_STATS: Oid = 3375;
pub const STAT_SCAN_TABLES: Oid = 3377;
pub const SIGNAL_BACKEND: Oid = 4200;
pub const CHECKPOINT: Oid = 4544;
pub const READ_SERVER_FILES: Oid = 4569;
pub const WRITE_SERVER_FILES: Oid = 4570;
pub const EXECUTE_SERVER_PROGRAM: Oid = 4571;

/// The predefined roles: each with the roles that it is a member of from the start.
pub const PREDEFINED: [(Oid, &str, &[Oid]); 12] = [
    (DATABASE_OWNER, "pg_database_owner", &[]),
    (READ_ALL_DATA, "pg_read_all_data", &[]),
    (WRITE_ALL_DATA, "pg_write_all_data", &[]),
    (MONITOR, "pg_monitor", &[READ_ALL_SETTINGS, READ_ALL_STATS, STAT_SCAN_TABLES]),
    (READ_ALL_SETTINGS, "pg_read_all_settings", &[]),
    (READ_ALL_STATS, "pg_read_all_stats", &[]),
    (STAT_SCAN_TABLES, "pg_stat_scan_tables", &[]),
    (SIGNAL_BACKEND, "pg_signal_backend", &[]),
    (CHECKPOINT, "pg_checkpoint", &[]),
    (READ_SERVER_FILES, "pg_read_server_files", &[]),
    (WRITE_SERVER_FILES, "pg_write_server_files", &[]),
    (EXECUTE_SERVER_PROGRAM, "pg_execute_server_program", &[]),
];

/// What a password is proven against, as `pg_authid.rolpassword` shows it. Silent in `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredVerifier(String);

impl StoredVerifier {
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for who checks a proof and for superusers who look at `pg_authid`.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoredVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredVerifier(..)")
    }
}

/// That a role is a member of another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Membership {
    pub role: Oid,
    pub grantor: Oid,
    /// It may make others members.
    pub admin: bool,
}

/// A role.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // They are PostgreSQL's attributes.
pub struct RoleDescriptor {
    pub oid: Oid,
    pub name: String,
    pub superuser: bool,
    /// It has the rights of the roles that it is a member of without SET ROLE.
    pub inherit: bool,
    pub create_role: bool,
    pub create_db: bool,
    pub can_login: bool,
    pub replication: bool,
    pub bypass_rls: bool,
    /// Sessions at a time; -1 for any number.
    pub connection_limit: i32,
    pub verifier: Option<StoredVerifier>,
    /// Until when its password may be used: a timestamptz as values have it, i64::MAX for ever.
    pub valid_until: Option<i64>,
    /// The roles that it is a member of, by which it was made so.
    pub member_of: Vec<Membership>,
    pub comment: Option<String>,
}

impl RoleDescriptor {
    /// A role that may do nothing, as CREATE ROLE makes it when nothing else is said.
    #[must_use]
    pub fn new(oid: Oid, name: &str) -> Self {
        Self {
            oid,
            name: name.to_owned(),
            superuser: false,
            inherit: true,
            create_role: false,
            create_db: false,
            can_login: false,
            replication: false,
            bypass_rls: false,
            connection_limit: -1,
            verifier: None,
            valid_until: None,
            member_of: Vec::new(),
            comment: None,
        }
    }

    /// A role that may do everything.
    #[must_use]
    pub fn superuser(oid: Oid, name: &str, can_login: bool) -> Self {
        Self { superuser: true, create_role: true, create_db: true, can_login, replication: true, bypass_rls: true, ..Self::new(oid, name) }
    }

    /// Whether every database has it, so that it cannot be dropped or renamed.
    #[must_use]
    pub fn is_predefined(&self) -> bool {
        PREDEFINED.iter().any(|(oid, ..)| *oid == self.oid)
    }
}

/// The roles that a database has before anybody makes one.
#[must_use]
pub fn built_in_roles() -> Vec<RoleDescriptor> {
    let mut out = vec![
        RoleDescriptor::superuser(FIRST_SUPERUSER, FIRST_SUPERUSER_NAME, true),
        RoleDescriptor::superuser(POSTGRES_ROLE, POSTGRES_ROLE_NAME, false),
    ];
    for (oid, name, member_of) in PREDEFINED {
        let member_of = member_of.iter().map(|role| Membership { role: *role, grantor: FIRST_SUPERUSER, admin: false }).collect();
        out.push(RoleDescriptor { member_of, ..RoleDescriptor::new(oid, name) });
    }
    out
}

/// Values of settings that sessions begin with: of a role, in a database, or of all.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StartSettings {
    /// 0: of every database.
    pub database: Oid,
    /// 0: of every role.
    pub role: Oid,
    /// By name as the setting is called, in the order in which they were set.
    pub values: Vec<(String, String)>,
}
