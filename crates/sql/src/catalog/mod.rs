//! Names of objects in the [catalog](stoa_table::catalog), and expressions as SQL writes them.

pub mod acl_text;
pub mod deparse;
pub mod names;
pub mod opclass;
