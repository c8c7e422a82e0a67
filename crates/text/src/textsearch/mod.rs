//! PostgreSQL's text search: documents as `tsvector`, conditions as `tsquery`.
//!
//! Values travel in their text forms: [`vector::Vector`] and [`query::Query`] read and write them. [`parser`] cuts texts as
//! PostgreSQL's default parser does, [`config`] makes lexemes of words, [`matching`] is `@@`.

pub mod config;
pub mod matching;
pub mod parser;
pub mod query;
mod stop_words;
pub mod vector;
