//! Here is a statement: what does it mean on this catalog?
//!
//! [`bind`] makes a typed tree ([`typed::tree`]) of a syntax tree; [`typed`] says what its expressions mean; [`definition`] says what
//! the catalog's objects are in SQL's words. Nothing here plans or runs anything, reads rows or knows a session.

pub mod bind;
pub mod catalog;
pub mod definition;
pub mod fulltext;
pub mod privileges;
pub mod system_relations;
pub mod typed;
