//! Who may begin a session, and what a session of a role begins with.

use super::SessionOptions;
use std::sync::Arc;
use stoa_exec::environment::{DatabaseInner, SessionShared};
use stoa_exec::settings::{ChosenRole, Settings, levels};
use stoa_pg::values::datetime::epoch::from_clock;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::privileges::undefined_database;
use stoa_table::catalog::role::{FIRST_SUPERUSER, StoredVerifier};
use stoa_table::catalog::{Authority, DatabaseDescriptor, ObjectClass, Oid, Privileges, RightsOf, RoleDescriptor};

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
pub(crate) fn role_of_session(authority: &Authority, options: &SessionOptions) -> PgResult<LoginRole> {
    let name = options.user.as_str();
    let refused = |message: String| PgError::new(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message);
    let found = if name.is_empty() { authority.role(FIRST_SUPERUSER).map(|role| LoginRole::of(role)) } else { trusted(authority, name) };
    let role = found.ok_or_else(|| refused(format!("role \"{name}\" does not exist")))?;
    if !role.can_login && !options.in_background {
        return Err(refused(format!("role \"{name}\" is not permitted to log in")));
    }
    Ok(role)
}

/// Whether a role may connect to a database.
///
/// # Errors
/// 55000 if nobody may, 42501.
pub(super) fn check_connect(authority: &Authority, role: &LoginRole, database: &DatabaseDescriptor) -> PgResult<()> {
    if !database.allow_connections {
        let message = format!("database \"{}\" is not currently accepting connections", database.name);
        return Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
    }
    if authority.may(role.oid, ObjectClass::Database, RightsOf::Database(database.oid), Privileges::CONNECT) {
        return Ok(());
    }
    Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied for database \"{}\"", database.name))
        .detail("User does not have CONNECT privilege."))
}

/// Whether a database is there to stay, now that others see that the session is connected to it.
///
/// # Errors
/// 3D000 for one that was dropped meanwhile, 55006 for one that is being dropped or renamed.
pub(super) fn check_not_closing(database: &DatabaseInner, known: &DatabaseDescriptor) -> PgResult<()> {
    if database.closing.lock().contains(&known.oid) {
        let message = format!("database \"{}\" is being dropped or renamed", known.name);
        return Err(PgError::new(SqlState::OBJECT_IN_USE, message));
    }
    let now = database.tables.services().publication().first().newest();
    if now.authority().database(known.oid).is_some_and(|now| now.name == known.name) {
        return Ok(());
    }
    Err(undefined_database(&known.name).detail("It seems to have just been dropped or renamed."))
}

/// 53300 if the database or the role has as many sessions as it may, the one that begins among them.
pub(super) fn check_connection_limit(database: &DatabaseInner, role: &LoginRole, of: &DatabaseDescriptor) -> PgResult<()> {
    if role.superuser {
        return Ok(());
    }
    let sessions = database.sessions();
    let over = |limit: i32, counted: &dyn Fn(&SessionShared) -> bool| {
        usize::try_from(limit).is_ok_and(|most| sessions.iter().filter(|session| counted(session)).count() > most)
    };
    let too_many = |what: String| Err(PgError::new(SqlState::TOO_MANY_CONNECTIONS, format!("too many connections for {what}")));
    if over(of.connection_limit, &|session| session.database_oid == of.oid && !session.in_background) {
        return too_many(format!("database \"{}\"", of.name));
    }
    if over(role.connection_limit, &|session| session.login.oid == role.oid) {
        return too_many(format!("role \"{}\"", role.name));
    }
    Ok(())
}

/// The settings that ALTER ROLE and ALTER DATABASE say for sessions of a role, on top of others; with what is no longer right among
/// them.
pub(super) fn start_settings(authority: &Authority, role: &LoginRole, database: Oid, mut settings: Settings) -> (Settings, Vec<PgError>) {
    let mut complaints = Vec::new();
    // What is more particular counts.
    for (database, of) in [(0, 0), (database, 0), (0, role.oid), (database, role.oid)] {
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
