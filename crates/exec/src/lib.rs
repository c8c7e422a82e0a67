//! Here is a part of a plan: run it over tables.
//!
//! [`environment`] is what a statement has around it; [`nodes`] read, [`mod@write`] changes rows. Who plans is above: what must be planned
//! while something runs comes in by a trait ([`nodes::apply::Correlated`], [`write::Subqueries`]).

pub mod datafusion_faults;
pub mod environment;
pub mod filter;
pub mod fulltext;
pub mod groups;
pub mod index;
pub mod memory;
pub mod node;
pub mod nodes;
pub mod scan_table;
pub mod settings;
pub mod virtual_tables;
pub mod write;
