//! The text search configurations that there are, and their names.

use crate::error::{PgError, PgResult};
use crate::names::parse_name;
use crate::sqlstate::SqlState;

/// A text search configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Config {
    /// All words, in lower case.
    Simple,
    /// Stems of English words, without stop words.
    English,
}

impl Config {
    /// Its row in `pg_ts_config`.
    #[must_use]
    pub fn oid(self) -> u32 {
        match self {
            Config::Simple => 3748,
            Config::English => 13_164,
        }
    }

    #[must_use]
    pub fn by_oid(oid: u32) -> Option<Self> {
        [Config::Simple, Config::English].into_iter().find(|config| config.oid() == oid)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Config::Simple => "simple",
            Config::English => "english",
        }
    }

    /// The configuration that a regconfig is.
    ///
    /// # Errors
    /// XX000 for numbers that are none, as PostgreSQL does.
    pub fn known(oid: u32) -> PgResult<Self> {
        Self::by_oid(oid).ok_or_else(|| PgError::internal(format!("cache lookup failed for text search configuration {oid}")))
    }

    /// # Errors
    /// 42704 for names that are no configuration, 0A000 for those of PostgreSQL that are not done.
    pub fn named(name: &str) -> PgResult<Self> {
        let parts = parse_name(name)?;
        let known = match parts.as_slice() {
            [name] => name,
            [schema, name] if schema == "pg_catalog" => name,
            [_, _] => "",
            _ => return Err(PgError::unsupported(format!("cross-database references are not implemented: {}", parts.join(".")))),
        };
        match known {
            "simple" => Ok(Config::Simple),
            "english" => Ok(Config::English),
            "arabic" | "armenian" | "basque" | "catalan" | "danish" | "dutch" | "finnish" | "french" | "german" | "greek" | "hindi"
            | "hungarian" | "indonesian" | "irish" | "italian" | "lithuanian" | "nepali" | "norwegian" | "portuguese" | "romanian"
            | "russian" | "serbian" | "spanish" | "swedish" | "tamil" | "turkish" | "yiddish" => {
                Err(PgError::unsupported(format!("text search configuration \"{name}\" is not supported"))
                    .hint("There are simple and english; full text indexes have stemmers for more languages."))
            }
            _ => Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("text search configuration \"{}\" does not exist", parts.join(".")))),
        }
    }
}
