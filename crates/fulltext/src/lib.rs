//! Full text on tantivy: here are words, which documents?
//!
//! A document is known by a key of bytes; what the key means, where the text is and which transaction sees it is not known here.
//!
//! - [`analyzer`]: text to words
//! - [`mod@parse`], [`query`]: what is looked for
//! - [`index`]: files that find keys by words
//! - [`evaluate`]: the same answer for one text, without files
//! - [`containing`]: words that a text must have to be equal to another one, or like a pattern
//! - [`mod@snippet`]: the piece of a text that shows why it was found
//!
//! Invariant: [`index`] and [`evaluate`] agree on every query and every document.

pub mod analyzer;
pub mod containing;
pub mod error;
pub mod evaluate;
pub mod index;
pub mod parse;
pub mod query;
mod search;
pub mod snippet;
mod stop_words;

pub use analyzer::{Analyzer, TokenizerKind, TokenizerOptions, Words};
pub use containing::Piece;
pub use error::{Error, Result};
pub use evaluate::{Evaluator, FieldText, Statistics};
pub use index::{Definition, FieldDefinition, FullTextIndex, KeyForm};
pub use parse::{SearchField, parse, parse_words};
pub use query::{FieldId, Query};
pub use search::{Generation, Hits, Want};
pub use snippet::{SnippetOptions, snippet};
