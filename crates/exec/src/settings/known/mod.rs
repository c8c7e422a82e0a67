//! The settings of sessions and statements, in the order of SHOW ALL. Names, units, limits and descriptions are PostgreSQL 15's.
//!
//! Settings whose `effect` is false are accepted because clients and scripts set them, and change nothing: they tune a planner or
//! a storage that Stoa does not have, or have one value only; those of their values that would change an answer are refused.

pub(super) mod client_defaults;
pub(super) mod presets;
pub(super) mod query_tuning;
pub(super) mod resources;

use super::Setting;

/// Those settings, a list for each of the files, by name.
pub(super) const OF_SESSIONS: [&[Setting]; 4] =
    [client_defaults::OF_CLIENTS, presets::OF_VERSIONS, query_tuning::OF_PLANNING, resources::OF_RESOURCES];
