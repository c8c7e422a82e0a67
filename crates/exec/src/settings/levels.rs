//! Which settings hold now: those of the session, those of the transaction (`SET LOCAL`), and what an abort goes back to.
//!
//! `SET` changes the session's values and is undone by an abort; `SET LOCAL` ends with the transaction. Both are undone by
//! `ROLLBACK TO` a savepoint that is older than they are.

use super::{Context, Settings, find};
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};

#[derive(Clone, Debug)]
struct Pair {
    session: Arc<Settings>,
    effective: Arc<Settings>,
}

/// The levels of one session.
#[derive(Debug)]
pub struct Levels {
    /// What RESET goes back to: the defaults with the startup message's values.
    reset: Arc<Settings>,
    now: Pair,
    /// Values at the start of the transaction and of each savepoint.
    saved: Vec<Pair>,
}

impl Default for Levels {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Levels {
    #[must_use]
    pub fn new(reset: Arc<Settings>) -> Self {
        Self { now: Pair { session: reset.clone(), effective: reset.clone() }, reset, saved: Vec::new() }
    }

    #[must_use]
    pub fn effective(&self) -> &Arc<Settings> {
        &self.now.effective
    }

    #[must_use]
    pub fn reset_values(&self) -> &Arc<Settings> {
        &self.reset
    }

    /// `SET`, `SET LOCAL`; `None` is DEFAULT: the value that RESET gives.
    ///
    /// # Errors
    /// As [`Settings::with`]; 55P02 for settings that a session cannot change.
    pub fn set(&mut self, name: &str, text: Option<&str>, local: bool) -> PgResult<()> {
        check_changeable(name)?;
        if find(name).is_none() && self.reset.raw(name).is_none() {
            self.introduce(name)?;
        }
        let reset = self.reset.raw(name).map(str::to_owned);
        let text = match text {
            Some(text) => Some(text),
            None => reset.as_deref(),
        };
        let effective = Arc::new(self.now.effective.with(name, text)?);
        if !local {
            self.now.session = if Arc::ptr_eq(&self.now.session, &self.now.effective) {
                effective.clone()
            } else {
                Arc::new(self.now.session.with(name, text)?)
            };
        }
        self.now.effective = effective;
        Ok(())
    }

    /// A custom setting that is named for the first time: from now on it is there with an empty value, whatever ends or is undone.
    fn introduce(&mut self, name: &str) -> PgResult<()> {
        let pairs = self.saved.iter_mut().chain([&mut self.now]).flat_map(|pair| [&mut pair.session, &mut pair.effective]);
        for settings in pairs.chain([&mut self.reset]) {
            *settings = Arc::new(settings.with(name, Some(""))?);
        }
        Ok(())
    }

    /// SET ROLE and SET SESSION AUTHORIZATION: `change` gives the values with another role.
    pub fn set_role(&mut self, local: bool, change: impl Fn(&Settings) -> Settings) {
        if !local {
            self.now.session = Arc::new(change(&self.now.session));
        }
        self.now.effective = Arc::new(change(&self.now.effective));
    }

    /// `RESET ALL`; who the session is stays.
    pub fn reset_all(&mut self) {
        let kept = |of: &Settings| {
            if of.role.is_none() && of.authorization.is_none() {
                return self.reset.clone();
            }
            Arc::new(self.reset.with_authorization(of.authorization.clone()).with_role(of.role.clone()))
        };
        self.now = Pair { session: kept(&self.now.session), effective: kept(&self.now.effective) };
    }

    /// A transaction or a savepoint begins.
    pub fn save(&mut self) {
        self.saved.push(self.now.clone());
    }

    /// Values as of the start of savepoint `depth` (the transaction is 0), which stays.
    pub fn restore(&mut self, depth: usize) {
        self.saved.truncate(depth + 1);
        if let Some(pair) = self.saved.last() {
            self.now = pair.clone();
        }
    }

    /// Forgets savepoints from `depth` on, values stay.
    pub fn release(&mut self, depth: usize) {
        self.saved.truncate(depth);
    }

    /// The transaction ends: an abort undoes what was set, a commit ends what was local.
    pub fn end(&mut self, commit: bool) {
        if !commit {
            self.restore(0);
        }
        self.saved.clear();
        self.now.effective = self.now.session.clone();
    }
}

/// Whether a role may change a setting, for itself or for sessions to come.
///
/// # Errors
/// 42501 for what only superusers change; 55P02 as [`check_changeable`].
pub fn check_allowed(name: &str, superuser: bool) -> PgResult<()> {
    if !superuser && find(name).is_some_and(|setting| setting.context == Context::Superuser) {
        return Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied to set parameter \"{name}\"")));
    }
    check_changeable(name)
}

/// Whether a session may change a setting.
///
/// # Errors
/// 55P02.
pub fn check_changeable(name: &str) -> PgResult<()> {
    let Some(setting) = find(name) else { return Ok(()) };
    let why = match setting.context {
        Context::User | Context::Superuser => return Ok(()),
        Context::Backend | Context::SuperuserBackend => "cannot be set after connection start",
        Context::Sighup => "cannot be changed now",
        Context::Postmaster => "cannot be changed without restarting the server",
        Context::Internal => "cannot be changed",
    };
    Err(PgError::new(SqlState::CANT_CHANGE_RUNTIME_PARAM, format!("parameter \"{name}\" {why}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn show(levels: &Levels) -> String {
        levels.effective().show("work_mem").unwrap()
    }

    #[test]
    fn local_ends_with_the_transaction_and_abort_undoes() {
        let mut levels = Levels::default();
        levels.save();
        levels.set("work_mem", Some("1MB"), false).unwrap();
        levels.set("work_mem", Some("2MB"), true).unwrap();
        assert_eq!(show(&levels), "2MB");
        levels.end(true);
        assert_eq!(show(&levels), "1MB");
        levels.save();
        levels.set("work_mem", Some("3MB"), false).unwrap();
        levels.end(false);
        assert_eq!(show(&levels), "1MB");
        levels.set("work_mem", None, false).unwrap();
        assert_eq!(show(&levels), "4MB");
    }

    #[test]
    fn savepoints() {
        let mut levels = Levels::default();
        levels.save();
        levels.set("work_mem", Some("1MB"), true).unwrap();
        levels.save();
        levels.set("work_mem", Some("2MB"), true).unwrap();
        levels.restore(1);
        assert_eq!(show(&levels), "1MB");
        levels.set("work_mem", Some("3MB"), true).unwrap();
        levels.release(1);
        assert_eq!(show(&levels), "3MB");
        levels.restore(0);
        assert_eq!(show(&levels), "4MB");
    }

    #[test]
    fn custom_settings_stay_once_they_are_named() {
        let mut levels = Levels::default();
        levels.save();
        levels.set("my.name", Some("x"), true).unwrap();
        assert_eq!(levels.effective().show("my.name").unwrap(), "x");
        levels.end(false);
        assert_eq!(levels.effective().show("my.name").unwrap(), "");
        levels.set("my.other", None, false).unwrap();
        assert_eq!(levels.effective().show("my.other").unwrap(), "");
        assert!(levels.set("no good.name", Some("x"), false).is_err());
        assert!(levels.effective().show("no good.name").is_none());
    }

    #[test]
    fn some_cannot_be_changed() {
        for name in ["port", "server_version", "listen_addresses"] {
            assert_eq!(Levels::default().set(name, Some("1"), false).unwrap_err().code().as_str(), "55P02");
        }
    }
}
