//! Functions of json and jsonb.
//!
//! [`build`] makes JSON from SQL values, [`access`] takes it apart, [`edit`] changes jsonb, [`record`] turns objects into rows;
//! [`bson`] and [`xml`] are other forms of documents, [`rows`] is the row source they share. The operators that do the same are in
//! [`crate::operators::json`].

pub mod access;
pub mod bson;
pub mod build;
pub mod edit;
pub mod record;
pub mod rows;
pub mod xml;

use crate::registry::Registry;

/// Registers the entries of these files.
pub fn register(r: &mut Registry) {
    build::register(r);
    access::register(r);
    record::register(r);
    bson::register(r);
    xml::register(r);
}

#[cfg(test)]
mod tests;
