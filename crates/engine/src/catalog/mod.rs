//! What SQL says about the [catalog](stoa_table::catalog): names, definitions in words, scripts, and the functions that tell of it.
//!
//! Reading order: [`deparse`] → [`names`] → [`definition`] → [`script`] → [`functions`].

pub mod definition;
pub mod deparse;
pub mod functions;
pub mod names;
pub mod script;
