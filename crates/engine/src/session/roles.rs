//! SET ROLE and SET SESSION AUTHORIZATION.

use super::login::chosen_role;
use super::session_impl::Session;
use std::sync::Arc;
use stoa_exec::environment::SessionShared;
use stoa_exec::settings::ChosenRole;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::utility::Utility;
use stoa_table::catalog::Authority;
use stoa_table::catalog::role::CHECKPOINT;

impl Session {
    /// SET ROLE; `None` for NONE and RESET.
    pub(super) fn set_role(&mut self, role: Option<&str>, local: bool) -> PgResult<()> {
        let authority = Arc::clone(self.seen_catalog().authority());
        set_role(&self.shared, &authority, role, local)
    }

    /// Whether the role whose rights count is a superuser.
    pub(super) fn is_superuser(&self) -> bool {
        self.seen_catalog().authority().is_superuser(self.shared.current_role())
    }

    /// Whether the current role may run a statement that is neither a query nor a definition. Every kind has its line: what is about
    /// objects is checked where they are found.
    ///
    /// # Errors
    /// 42501.
    pub(super) fn check_utility(&self, utility: &Utility) -> PgResult<()> {
        match utility {
            Utility::Checkpoint => {
                let catalog = self.seen_catalog();
                if catalog.authority().has_rights_of(self.shared.current_role(), CHECKPOINT) {
                    return Ok(());
                }
                let message = "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT";
                Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
            }
            // By their queries, when these are bound: `Session::bound_and_allowed`.
            Utility::Declare(_) | Utility::Execute { .. } | Utility::Explain(_) | Utility::Copy(_) => Ok(()),
            // By relation.
            Utility::Lock { .. } | Utility::Vacuum { .. } | Utility::Analyze { .. } | Utility::Check { .. } => Ok(()),
            // By name of the setting, or of the role.
            Utility::Set { .. } | Utility::Reset(_) | Utility::SetRole { .. } | Utility::SetSessionAuthorization { .. } => Ok(()),
            // By the statements of the block; there are no procedures.
            Utility::Do { .. } | Utility::Call(_) => Ok(()),
            // By `ddl::rights`.
            Utility::Ddl(_) => Ok(()),
            // The session's own.
            Utility::Begin(_)
            | Utility::Commit { .. }
            | Utility::Rollback { .. }
            | Utility::Savepoint(_)
            | Utility::Release(_)
            | Utility::RollbackTo(_)
            | Utility::PrepareTransaction(_)
            | Utility::FinishPrepared { .. }
            | Utility::SetTransaction { .. }
            | Utility::SetConstraints { .. }
            | Utility::Show(_)
            | Utility::Discard(_)
            | Utility::Fetch { .. }
            | Utility::Close(_)
            | Utility::Prepare { .. }
            | Utility::Deallocate(_)
            | Utility::Listen(_)
            | Utility::Notify { .. }
            | Utility::Unlisten(_) => Ok(()),
        }
    }

    /// SET SESSION AUTHORIZATION; `None` for DEFAULT.
    pub(super) fn set_session_authorization(&mut self, user: Option<&str>, local: bool) -> PgResult<()> {
        let authority = Arc::clone(self.seen_catalog().authority());
        set_session_authorization(&self.shared, &authority, user, local)
    }
}

/// Chooses the role whose rights count.
///
/// # Errors
/// 22023, 42501.
pub(super) fn set_role(session: &SessionShared, authority: &Authority, role: Option<&str>, local: bool) -> PgResult<()> {
    let chosen = role.map_or(Ok(None), |name| chosen_role(authority, session.session_role(), name))?;
    session.change_settings(|levels| levels.set_role(local, |settings| settings.with_role(chosen.clone())));
    Ok(())
}

/// Chooses the session's user: superusers may be anybody.
///
/// # Errors
/// 22023, 42501.
pub(super) fn set_session_authorization(session: &SessionShared, authority: &Authority, user: Option<&str>, local: bool) -> PgResult<()> {
    let chosen = match user {
        None => None,
        Some(name) => {
            let Some(role) = authority.role_named(name) else {
                return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("role \"{name}\" does not exist")));
            };
            if role.oid != session.login.oid && !authority.is_superuser(session.login.oid) {
                return Err(PgError::new(
                    SqlState::INSUFFICIENT_PRIVILEGE,
                    format!("permission denied to set session authorization \"{name}\""),
                ));
            }
            Some(Arc::new(ChosenRole { oid: role.oid, name: role.name.clone(), superuser: role.superuser }))
        }
    };
    session.change_settings(|levels| levels.set_role(local, |settings| settings.with_authorization(chosen.clone())));
    Ok(())
}
