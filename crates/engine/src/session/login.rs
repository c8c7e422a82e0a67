//! Who may begin a session, and what a session of a role begins with.

use std::sync::Arc;
use stoa_exec::environment::DatabaseInner;
use stoa_exec::settings::{ChosenRole, Settings, levels};
use stoa_pg::values::datetime::epoch::from_clock;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::catalog::authority::DATABASE;
use stoa_table::catalog::role::{FIRST_SUPERUSER, StoredVerifier};
use stoa_table::catalog::{Authority, ObjectClass, Oid, Privileges, RightsOf, RoleDescriptor};

/// A role as whoever lets connections in must know it.
#[derive(Clone, Debug)]
pub struct LoginRole {
    pub oid: Oid,
    pub name: String,
    pub superuser: bool,
    pub can_login: bool,
    pub replication: bool,
    /// Sessions at a time; -1 for any number. [`crate::Database::connect`] sees to it.
    pub connection_limit: i32,
    /// What a password is proven against: a text that `stoa_auth::scram::Verifier` reads. `None`: no password is right.
    pub verifier: Option<StoredVerifier>,
    valid_until: Option<i64>,
}

impl LoginRole {
    fn of(role: &RoleDescriptor) -> Self {
        Self {
            oid: role.oid,
            name: role.name.clone(),
            superuser: role.superuser,
            can_login: role.can_login,
            replication: role.replication,
            connection_limit: role.connection_limit,
            verifier: role.verifier.clone(),
            valid_until: role.valid_until,
        }
    }

    /// Whether its password may not be used any more at a time, in microseconds since 1970 (VALID UNTIL).
    #[must_use]
    pub fn is_expired(&self, now_us: i64) -> bool {
        self.valid_until.is_some_and(|until| until < from_clock(now_us))
    }
}

/// The role with a name.
pub(crate) fn named(authority: &Authority, name: &str) -> Option<LoginRole> {
    authority.role_named(name).map(|role| LoginRole::of(role))
}

/// The role that a name means to whoever is let in without a proof. While nobody has made a role, a name that cannot log in means the
/// first superuser: whoever comes to a new database is its owner, by whatever name.
pub(crate) fn trusted(authority: &Authority, name: &str) -> Option<LoginRole> {
    let found = named(authority, name);
    if found.as_ref().is_some_and(|role| role.can_login) || !authority.has_built_in_roles_only() {
        return found;
    }
    authority.role(FIRST_SUPERUSER).map(|role| LoginRole::of(role))
}

/// The role of a session that begins.
///
/// # Errors
/// 28000 if there is no such role, or it may not log in.
pub(super) fn role_of_session(authority: &Authority, name: &str) -> PgResult<LoginRole> {
    let refused = |message: String| PgError::new(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message);
    let found = if name.is_empty() { authority.role(FIRST_SUPERUSER).map(|role| LoginRole::of(role)) } else { trusted(authority, name) };
    let role = found.ok_or_else(|| refused(format!("role \"{name}\" does not exist")))?;
    if !role.can_login {
        return Err(refused(format!("role \"{name}\" is not permitted to log in")));
    }
    Ok(role)
}

/// Whether a role may connect to the database, which the connection calls by a name.
///
/// # Errors
/// 42501.
pub(super) fn check_connect(authority: &Authority, role: &LoginRole, database: &str) -> PgResult<()> {
    if authority.may(role.oid, ObjectClass::Database, RightsOf::Database, Privileges::CONNECT) {
        return Ok(());
    }
    Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied for database \"{database}\""))
        .detail("User does not have CONNECT privilege."))
}

/// 53300 if the role has as many sessions as it may, the one that begins among them.
pub(super) fn check_connection_limit(database: &DatabaseInner, role: &LoginRole) -> PgResult<()> {
    let Ok(most) = usize::try_from(role.connection_limit) else { return Ok(()) };
    let sessions = database.sessions().iter().filter(|session| session.login.oid == role.oid).count();
    if sessions > most && !role.superuser {
        return Err(PgError::new(SqlState::TOO_MANY_CONNECTIONS, format!("too many connections for role \"{}\"", role.name)));
    }
    Ok(())
}

/// The settings that ALTER ROLE and ALTER DATABASE say for sessions of a role, on top of others; with what is no longer right among
/// them.
pub(super) fn start_settings(authority: &Authority, role: &LoginRole, mut settings: Settings) -> (Settings, Vec<PgError>) {
    let mut complaints = Vec::new();
    // What is more particular counts.
    for (database, of) in [(0, 0), (DATABASE, 0), (0, role.oid), (DATABASE, role.oid)] {
        let Some(found) = authority.settings_of(database, of) else { continue };
        for (name, value) in &found.values {
            match with_setting(authority, role, &settings, name, value) {
                Ok(new) => settings = new,
                Err(error) => complaints.push(error),
            }
        }
    }
    (settings, complaints)
}

/// The settings with one that a client or ALTER ROLE sets for the beginning of a session.
pub(super) fn with_setting(authority: &Authority, role: &LoginRole, settings: &Settings, name: &str, value: &str) -> PgResult<Settings> {
    if name.eq_ignore_ascii_case("role") {
        return Ok(settings.with_role(chosen_role(authority, role.oid, value)?));
    }
    levels::check_changeable(name)?;
    settings.with(name, Some(value))
}

/// The role that SET ROLE chooses for a session's user; `None` for NONE.
///
/// # Errors
/// 22023 if there is no such role, 42501 if the user is no member of it.
pub(super) fn chosen_role(authority: &Authority, user: Oid, name: &str) -> PgResult<Option<Arc<ChosenRole>>> {
    if name == "none" {
        return Ok(None);
    }
    let Some(role) = authority.role_named(name) else {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("role \"{name}\" does not exist")));
    };
    if !authority.is_member(user, role.oid) {
        return Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied to set role \"{name}\"")));
    }
    Ok(Some(Arc::new(ChosenRole { oid: role.oid, name: role.name.clone(), superuser: role.superuser })))
}
