//! Settings: what exists ([`known`] of sessions, [`server`] of the server), how values are read and shown ([`value`]), and which value holds now ([`Levels`]).
//!
//! A set of values is immutable and shared; `SET` makes a new one. What a transaction must undo is a pointer to an older one.

pub mod known;
pub mod levels;
pub mod own;
pub mod planner_rules;
pub mod server;
pub mod value;

pub use levels::Levels;

use hashbrown::HashMap;
use std::sync::{Arc, LazyLock};
use stoa_pg::settings::{ByteaOutput, DateFormat, DateOrder, IntervalStyle, ValueSettings};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::utility::Isolation;

/// The setting by which a transaction is named for [`stoa_table::txn::commit_token`].
pub const COMMIT_TOKEN: &str = "stoa.commit_token";

/// All settings, in the order of SHOW ALL.
pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let mut all = [&known::OF_SESSIONS[..], &[own::OF_STOA, server::OF_THE_SERVER]].concat().concat();
    all.sort_by_key(|setting| setting.name.to_lowercase());
    all
});

/// Who may change a setting, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    User,
    /// Superusers, at any time.
    Superuser,
    /// At the start of the connection.
    Backend,
    /// Superusers, at the start of the connection.
    SuperuserBackend,
    /// In the configuration, without a restart.
    Sighup,
    /// At the start of the server.
    Postmaster,
    /// Never.
    Internal,
}

impl Context {
    /// As `pg_settings.context` says it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Context::User => "user",
            Context::Superuser => "superuser",
            Context::Backend => "backend",
            Context::SuperuserBackend => "superuser-backend",
            Context::Sighup => "sighup",
            Context::Postmaster => "postmaster",
            Context::Internal => "internal",
        }
    }
}

/// The unit in which a number is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    None,
    Milliseconds,
    Seconds,
    Minutes,
    Bytes,
    Kilobytes,
    /// Of 8 kB.
    Blocks,
    Megabytes,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Bool,
    Integer { min: i64, max: i64, unit: Unit },
    Real { min: f64, max: f64, unit: Unit },
    Text,
    Enum(&'static [&'static str]),
}

/// A setting that exists.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setting {
    pub name: &'static str,
    pub kind: Kind,
    /// In the form in which values are kept: numbers in the setting's unit.
    pub default: &'static str,
    pub context: Context,
    pub category: &'static str,
    pub description: &'static str,
    /// Its changes are reported to clients by ParameterStatus.
    pub report: bool,
    /// Not part of SHOW ALL and `pg_settings`.
    pub hidden: bool,
    /// Whether it changes anything in Stoa.
    pub effect: bool,
}

/// The setting with this name, in any case.
#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    /// By name in lower case: statements ask for several, each time.
    static BY_NAME: LazyLock<HashMap<String, &'static Setting>> =
        LazyLock::new(|| SETTINGS.iter().map(|s| (s.name.to_ascii_lowercase(), s)).collect());
    if name.bytes().any(|b| b.is_ascii_uppercase()) {
        return BY_NAME.get(&name.to_ascii_lowercase()).copied();
    }
    BY_NAME.get(name).copied()
}

/// `unrecognized configuration parameter`, 42704.
#[must_use]
pub fn unrecognized(name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))
}

/// A role that SET ROLE or SET SESSION AUTHORIZATION has chosen, as it was then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChosenRole {
    pub oid: u32,
    pub name: String,
    pub superuser: bool,
}

/// The values of all settings at one moment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Values other than the defaults: by the setting's name, or by that of a custom setting in lower case.
    values: HashMap<String, String>,
    /// What values' text forms depend on.
    pub value: Arc<ValueSettings>,
    /// The names of `search_path`, `$user` as written.
    pub search_path: Arc<[String]>,
    pub statement_timeout_ms: u64,
    pub lock_timeout_ms: u64,
    pub deadlock_timeout_ms: u64,
    pub idle_in_transaction_session_timeout_ms: u64,
    pub idle_session_timeout_ms: u64,
    /// The lowest level that is sent to the client: see [`severity_level`].
    pub client_min_messages: u8,
    pub default_isolation: Isolation,
    pub default_read_only: bool,
    pub default_deferrable: bool,
    /// `synchronous_commit` is not `off`.
    pub synchronous_commit: bool,
    /// `session_replication_role` is `replica`: foreign keys are neither checked nor acted upon.
    pub replica: bool,
    /// `row_security`: rows that policies hide are left out; otherwise a statement that they would be hidden from fails.
    pub row_security: bool,
    /// `sql_dialect` is `hyperdrive`: statements are read by its lexical rules.
    pub hyperdrive: bool,
    /// `log_statement`.
    pub log_statement: LogStatement,
    /// SET SESSION AUTHORIZATION; `None`: who has logged in.
    pub authorization: Option<Arc<ChosenRole>>,
    /// SET ROLE; `None`: the session's user.
    pub role: Option<Arc<ChosenRole>>,
}

/// Which statements the server's log tells of; each value includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum LogStatement {
    #[default]
    None,
    /// Definitions.
    Ddl,
    /// Changes of data.
    Mod,
    All,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            value: Arc::default(),
            search_path: Arc::from(["$user".to_owned(), "public".to_owned()]),
            statement_timeout_ms: 0,
            lock_timeout_ms: 0,
            deadlock_timeout_ms: 1000,
            idle_in_transaction_session_timeout_ms: 0,
            idle_session_timeout_ms: 0,
            client_min_messages: severity_level("notice"),
            default_isolation: Isolation::ReadCommitted,
            default_read_only: false,
            default_deferrable: false,
            synchronous_commit: true,
            replica: false,
            row_security: true,
            hyperdrive: false,
            log_statement: LogStatement::None,
            authorization: None,
            role: None,
        }
    }
}

/// The order of message levels; higher is more serious. INFO is always sent.
#[must_use]
pub fn severity_level(name: &str) -> u8 {
    match name.to_ascii_lowercase().as_str() {
        "debug5" => 1,
        "debug4" => 2,
        "debug3" => 3,
        "debug2" => 4,
        "debug1" | "debug" => 5,
        "log" => 6,
        "info" | "notice" => 7,
        "warning" => 8,
        "error" => 9,
        _ => 10,
    }
}

impl Settings {
    /// The value in the form in which it is kept: numbers in the setting's unit. `None` for names that do not exist.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<&str> {
        match find(name) {
            Some(setting) => Some(self.values.get(setting.name).map_or(setting.default, String::as_str)),
            None => self.values.get(&name.to_lowercase()).map(String::as_str),
        }
    }

    /// The value of a custom setting whose name is written in lower case, as [`Settings::raw`] gives it.
    #[must_use]
    pub fn custom_value(&self, name: &str) -> Option<&str> {
        if self.values.is_empty() { None } else { self.values.get(name).map(String::as_str) }
    }

    /// The value as SHOW prints it: numbers with the largest unit that fits.
    #[must_use]
    pub fn show(&self, name: &str) -> Option<String> {
        let raw = self.raw(name)?;
        Some(find(name).map_or_else(|| raw.to_owned(), |setting| value::display(&setting.kind, raw)))
    }

    /// Whether the value is other than the default.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(find(name).map_or(name, |s| s.name))
    }

    /// Custom settings that have a value.
    pub fn custom(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().filter(|(name, _)| name.contains('.')).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// These settings with one changed; `None` gives the default.
    ///
    /// # Errors
    /// 42704 for names that do not exist, 42602 for malformed ones, 22023 for values that are not valid. Whether the setting may be
    /// changed is not asked here.
    pub fn with(&self, name: &str, text: Option<&str>) -> PgResult<Settings> {
        let mut out = self.clone();
        let Some(setting) = find(name) else {
            if !name.contains('.') {
                return Err(unrecognized(name));
            }
            if !value::is_custom_name(name) {
                return Err(PgError::new(SqlState::INVALID_NAME, format!("invalid configuration parameter name \"{name}\""))
                    .detail("Custom parameter names must be two or more simple identifiers separated by dots."));
            }
            let prefix = name.split('.').next().unwrap_or_default();
            if prefix.eq_ignore_ascii_case("stoa") && !name.eq_ignore_ascii_case(COMMIT_TOKEN) {
                return Err(PgError::new(SqlState::INVALID_NAME, format!("invalid configuration parameter name \"{name}\""))
                    .detail("\"stoa\" is a reserved prefix."));
            }
            match text {
                Some(text) => out.values.insert(name.to_lowercase(), text.to_owned()),
                None => out.values.remove(&name.to_lowercase()),
            };
            return Ok(out);
        };
        let text = text.unwrap_or(setting.default);
        let raw = out.apply(setting, name, text)?;
        if raw == setting.default {
            out.values.remove(setting.name);
        } else {
            out.values.insert(setting.name.to_owned(), raw);
        }
        Ok(out)
    }

    /// These settings with another role.
    #[must_use]
    pub fn with_role(&self, role: Option<Arc<ChosenRole>>) -> Settings {
        let mut out = self.clone();
        match &role {
            Some(role) => out.values.insert("role".to_owned(), role.name.clone()),
            None => out.values.remove("role"),
        };
        out.role = role;
        out
    }

    /// These settings with another user of the session, and no other role.
    #[must_use]
    pub fn with_authorization(&self, user: Option<Arc<ChosenRole>>) -> Settings {
        Settings { authorization: user, ..self.with_role(None) }
    }

    /// Checks a value and takes its effect; gives the form in which it is kept.
    fn apply(&mut self, setting: &Setting, name: &str, text: &str) -> PgResult<String> {
        let raw = match setting.name {
            "DateStyle" => {
                let (format, order) = stoa_pg::values::datetime::parse_date_style(text, (self.value.date_format, self.value.date_order))?;
                self.change_values(|v| (v.date_format, v.date_order) = (format, order));
                stoa_pg::values::datetime::date_style_name(format, order)
            }
            "TimeZone" => {
                let (zone_name, zone) = stoa_pg::values::timezone::lookup(text)?;
                self.change_values(|v| {
                    v.time_zone_name.clone_from(&zone_name);
                    v.time_zone = zone;
                });
                zone_name
            }
            "client_encoding" => value::client_encoding(text)?,
            // PostgreSQL keeps to ASCII here.
            "application_name" => text.bytes().map(|b| if (32..127).contains(&b) { char::from(b) } else { '?' }).collect(),
            "search_path" => {
                let names =
                    value::split_identifiers(text).ok_or_else(|| value::invalid("search_path", text).detail("List syntax is invalid."))?;
                self.search_path = names.into();
                text.to_owned()
            }
            // It begins the generator anew and cannot be read: what is kept is always the default, a word.
            "seed" if text == setting.default => text.to_owned(),
            "seed" => {
                let seed = value::canonical(setting, name, text)?.parse().unwrap_or_default();
                stoa_pg::functions::math::set_seed(seed)?;
                setting.default.to_owned()
            }
            planner_rules::DISABLED => {
                planner_rules::check_disabled(text)?;
                text.to_owned()
            }
            _ => value::canonical(setting, name, text)?,
        };
        refuse(setting.name, &raw)?;
        self.take_effect(setting.name, &raw);
        Ok(raw)
    }

    fn take_effect(&mut self, name: &str, raw: &str) {
        let number = || raw.parse::<u64>().unwrap_or(0);
        match name {
            "IntervalStyle" => {
                let style = match raw {
                    "postgres_verbose" => IntervalStyle::PostgresVerbose,
                    "sql_standard" => IntervalStyle::SqlStandard,
                    "iso_8601" => IntervalStyle::Iso8601,
                    _ => IntervalStyle::Postgres,
                };
                self.change_values(|v| v.interval_style = style);
            }
            "extra_float_digits" => {
                let digits = raw.parse().unwrap_or(1);
                self.change_values(|v| v.extra_float_digits = digits);
            }
            // A name that is no configuration was refused when it was set.
            "default_text_search_config" => {
                if let Ok(config) = stoa_pg::settings::Config::named(raw) {
                    self.change_values(|v| v.text_search = config);
                }
            }
            "bytea_output" => {
                let form = if raw == "escape" { ByteaOutput::Escape } else { ByteaOutput::Hex };
                self.change_values(|v| v.bytea_output = form);
            }
            "statement_timeout" => self.statement_timeout_ms = number(),
            "lock_timeout" => self.lock_timeout_ms = number(),
            "deadlock_timeout" => self.deadlock_timeout_ms = number(),
            "idle_in_transaction_session_timeout" => self.idle_in_transaction_session_timeout_ms = number(),
            "idle_session_timeout" => self.idle_session_timeout_ms = number(),
            "client_min_messages" => self.client_min_messages = severity_level(raw),
            "default_transaction_isolation" => self.default_isolation = isolation_of(raw),
            "default_transaction_read_only" => self.default_read_only = raw == "on",
            "default_transaction_deferrable" => self.default_deferrable = raw == "on",
            "synchronous_commit" => self.synchronous_commit = raw != "off",
            "transform_null_equals" => self.change_values(|v| v.null_equals = raw == "on"),
            "row_security" => self.row_security = raw == "on",
            "sql_dialect" => self.hyperdrive = raw == "hyperdrive",
            "session_replication_role" => self.replica = raw == "replica",
            "log_statement" => {
                self.log_statement = match raw {
                    "ddl" => LogStatement::Ddl,
                    "mod" => LogStatement::Mod,
                    "all" => LogStatement::All,
                    _ => LogStatement::None,
                }
            }
            _ => {}
        }
    }

    fn change_values(&mut self, change: impl FnOnce(&mut ValueSettings)) {
        let mut value = (*self.value).clone();
        change(&mut value);
        self.value = Arc::new(value);
    }
}

/// What would change answers, and is not done, is refused.
///
/// # Errors
/// 0A000, or what PostgreSQL says where it does not have the thing.
fn refuse(name: &str, raw: &str) -> PgResult<()> {
    let missing = |what: &str| value::invalid(name, raw).detail(format!("{what} \"{raw}\" does not exist."));
    match (name, raw) {
        ("standard_conforming_strings", "off") => Err(PgError::unsupported("standard_conforming_strings cannot be turned off")
            .hint("Write E'...' where a backslash is to mean something.")),
        ("password_encryption", "md5") => {
            Err(PgError::unsupported("md5 passwords are not supported").hint("Passwords are kept as SCRAM-SHA-256 verifiers."))
        }
        ("array_nulls", "off") => Err(PgError::unsupported("array_nulls cannot be turned off")
            .hint("Write \"NULL\" in double quotes for an element that is this text.")),
        ("backslash_quote", "off") => Err(PgError::unsupported("backslash_quote cannot be turned off")),
        ("quote_all_identifiers", "on") => Err(PgError::unsupported("quote_all_identifiers cannot be turned on")),
        ("default_with_oids", "on") => Err(PgError::unsupported("tables declared WITH OIDS are not supported")),
        ("gin_fuzzy_search_limit", limit) if limit != "0" => {
            Err(PgError::unsupported("gin_fuzzy_search_limit is not supported").hint("A full text search gives all rows."))
        }
        ("lc_monetary" | "lc_numeric" | "lc_time", "C" | "POSIX" | "C.UTF-8" | "C.utf8" | "") => Ok(()),
        ("lc_monetary" | "lc_numeric" | "lc_time", _) => {
            Err(value::invalid(name, raw).hint("Numbers, dates and amounts are written as in the locale \"C\"."))
        }
        ("timezone_abbreviations", set) if !set.is_empty() && !set.eq_ignore_ascii_case("default") => {
            Err(value::invalid(name, raw).hint("The only set of abbreviations is \"Default\"."))
        }
        ("default_table_access_method", method) if method != "heap" => Err(missing("Table access method")),
        ("default_tablespace", space) if !matches!(space, "" | "pg_default") => Err(missing("Tablespace")),
        ("temp_tablespaces", spaces) if !matches!(spaces, "" | "pg_default") => {
            Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("tablespace \"{spaces}\" does not exist")))
        }
        _ => Ok(()),
    }
}

/// The isolation level with this name.
#[must_use]
pub fn isolation_of(name: &str) -> Isolation {
    match name {
        "serializable" => Isolation::Serializable,
        "repeatable read" => Isolation::RepeatableRead,
        "read uncommitted" => Isolation::ReadUncommitted,
        _ => Isolation::ReadCommitted,
    }
}

#[must_use]
pub fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Serializable => "serializable",
        Isolation::RepeatableRead => "repeatable read",
        Isolation::ReadCommitted => "read committed",
        Isolation::ReadUncommitted => "read uncommitted",
    }
}

/// The default date style, for tests of the default values.
#[must_use]
pub fn default_date_style() -> (DateFormat, DateOrder) {
    (DateFormat::Iso, DateOrder::Mdy)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn defaults_are_valid_and_sorted() {
        let start = Settings::default();
        for setting in SETTINGS.iter() {
            let out = start.with(setting.name, None).unwrap_or_else(|e| panic!("{}: {e}", setting.name));
            assert_eq!(out.raw(setting.name), Some(setting.default), "{}", setting.name);
        }
        for part in known::OF_SESSIONS.into_iter().chain([own::OF_STOA, server::OF_THE_SERVER]) {
            assert!(part.is_sorted_by_key(|s| s.name.to_lowercase()));
        }
    }

    /// Values and what PostgreSQL 15 shows.
    #[test]
    fn values_as_shown() {
        for (name, text, shown) in [
            ("statement_timeout", "1.5s", "1500ms"),
            ("statement_timeout", "90s", "90s"),
            ("statement_timeout", "120s", "2min"),
            ("statement_timeout", "0x10", "16ms"),
            ("work_mem", "1GB", "1GB"),
            ("work_mem", "1.5MB", "1536kB"),
            ("geqo_threshold", "2.7", "3"),
            ("search_path", "a, \"C d\"", "a, \"C d\""),
            ("client_encoding", "utf-8", "UTF8"),
            ("DATESTYLE", "german", "German, DMY"),
            ("jit", "YES", "on"),
            ("my.own", "x", "x"),
            ("client_min_messages", "WARNING", "warning"),
            ("application_name", "ä", "??"),
        ] {
            assert_eq!(Settings::default().with(name, Some(text)).unwrap().show(name).as_deref(), Some(shown), "{name} {text}");
        }
    }

    #[test]
    fn errors() {
        for (name, text, code, message) in [
            ("statement_timeout", "soon", "22023", "invalid value for parameter \"statement_timeout\": \"soon\""),
            ("statement_timeout", "-1", "22023", "-1 ms is outside the valid range for parameter \"statement_timeout\" (0 .. 2147483647)"),
            ("statement_timeout", "5 parsecs", "22023", "invalid value for parameter \"statement_timeout\": \"5 parsecs\""),
            ("work_mem", "1", "22023", "1 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)"),
            ("work_mem", "99TB", "22023", "invalid value for parameter \"work_mem\": \"99TB\""),
            ("enable_sort", "maybe", "22023", "parameter \"enable_sort\" requires a Boolean value"),
            ("random_page_cost", "-1", "22023", "-1 is outside the valid range for parameter \"random_page_cost\" (0 .. 1.79769e+308)"),
            ("nosuch", "1", "42704", "unrecognized configuration parameter \"nosuch\""),
            ("1a.b", "1", "42602", "invalid configuration parameter name \"1a.b\""),
            ("stoa.nosuch", "1", "42602", "invalid configuration parameter name \"stoa.nosuch\""),
            ("client_encoding", "nosuch", "22023", "invalid value for parameter \"client_encoding\": \"nosuch\""),
            ("standard_conforming_strings", "off", "0A000", "standard_conforming_strings cannot be turned off"),
        ] {
            let error = Settings::default().with(name, Some(text)).unwrap_err();
            assert_eq!((error.code().as_str(), error.message()), (code, message));
        }
    }
}
