//! Full text on tantivy: here are words, which rows?
