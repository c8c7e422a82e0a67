//! Syntax errors in PostgreSQL's words: `syntax error at or near "x"`, with the position of x.

use crate::char_offset;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use thiserror::Error;

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// The SQLSTATE: 42601 for almost all.
    pub code: [u8; 5],
    pub message: String,
    /// In characters from 1.
    pub position: Option<usize>,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(code: &[u8; 5], message: impl Into<String>, position: Option<usize>) -> Self {
        Self { code: *code, message: message.into(), position, detail: None, hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// 42601 at a place of the text.
    pub(crate) fn at(sql: &str, message: &str, location: Location) -> Self {
        Self::new(b"42601", message, Some(char_offset(sql, location) + 1))
    }

    /// 0A000 at a place of the text: PostgreSQL has it and Stoa does not.
    pub(crate) fn unsupported(sql: &str, message: impl Into<String>, location: Location) -> Self {
        Self::new(b"0A000", message, Some(char_offset(sql, location) + 1))
    }

    /// Nested deeper than the parser goes.
    pub(crate) fn too_deep() -> Self {
        Self::new(b"54001", "stack depth limit exceeded", None).with_hint("The statement nests expressions or queries too deeply.")
    }

    /// Whether the grammar is satisfied: PostgreSQL finds out only when it looks at what the statement means.
    #[must_use]
    pub fn is_of_meaning(&self) -> bool {
        self.code == *b"0A000" || (self.code.starts_with(b"42") && self.code != *b"42601")
    }

    pub(crate) fn is_too_deep(&self) -> bool {
        self.code == *b"54001"
    }

    /// An error at a token, as PostgreSQL words it: with the token's text.
    pub(crate) fn near(sql: &str, token: &TokenWithSpan) -> Self {
        if token.token == Token::EOF {
            return Self::new(b"42601", "syntax error at end of input", Some(sql.chars().count() + 1));
        }
        let (start, end) = (char_offset(sql, token.span.start), char_offset(sql, token.span.end));
        let text: String = sql.chars().skip(start).take(end.saturating_sub(start)).collect();
        Self::new(b"42601", format!("syntax error at or near \"{text}\""), Some(start + 1))
    }
}
