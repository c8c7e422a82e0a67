//! Full text on tantivy: here are words, which documents?
//!
//! A document is known by a key of bytes; what the key means, where the text is and which transaction sees it is not known here.
//!
//! - [`analyzer`]: text to words
//! - [`mod@parse`], [`query`]: what is looked for; [`pattern`], words that are written in part; [`free_text`], texts without signs
//! - [`synonyms`]: words that mean the same
//! - [`index`]: files that find keys by words
//! - [`evaluate`]: the same answer for one text, without files
//! - [`containing`]: words that a text must have to be equal to another one, or like a pattern
//! - [`suggest`]: words that are like one that no text has
//! - [`mod@snippet`]: the piece of a text that shows why it was found
//!
//! Invariant: [`index`] and [`evaluate`] agree on every query and every document.

pub mod analyzer;
pub mod containing;
pub mod error;
pub mod evaluate;
pub mod free_text;
pub mod index;
pub mod parse;
mod pattern;
pub mod query;
mod search;
pub mod snippet;
mod stop_words;
pub mod suggest;
pub mod synonyms;

pub use analyzer::{Analyzer, TokenizerKind, TokenizerOptions, Words};
pub use containing::Piece;
pub use error::{Error, Result};
pub use evaluate::explain::Share;
pub use evaluate::{Evaluator, FieldText, Statistics};
pub use free_text::{parse_box, parse_like, parse_words};
pub use index::{Definition, FieldDefinition, FullTextIndex, KeyForm};
pub use parse::{SearchField, parse};
pub use query::{FieldId, Query};
pub use search::{Generation, Hits, Want};
pub use snippet::{SnippetOptions, snippet};
