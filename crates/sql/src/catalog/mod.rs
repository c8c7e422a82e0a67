//! Names of objects in the [catalog](stoa_table::catalog), and expressions as SQL writes them.

pub mod deparse;
pub mod names;
