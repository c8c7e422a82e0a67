//! Syntax errors in PostgreSQL's words: `syntax error at or near "x"`, with the position of x.

use crate::char_offset;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use thiserror::Error;

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct SyntaxError {
    pub message: String,
    /// In characters from 1.
    pub position: Option<usize>,
    /// What the parser would have taken, where it says more than the position.
    pub detail: Option<String>,
    /// Nested too deeply: 54001 rather than 42601.
    pub too_deep: bool,
    /// The SQLSTATE where it is not 42601.
    pub state: Option<&'static str>,
    pub hint: Option<&'static str>,
}

impl SyntaxError {
    pub(crate) fn at(sql: &str, message: &str, location: Option<Location>) -> Self {
        let position = location.map(|l| char_offset(sql, l) + 1);
        Self { message: lower_first(message), position, detail: None, too_deep: false, state: None, hint: None }
    }

    /// An error at a token, as PostgreSQL words it.
    pub(crate) fn near(sql: &str, token: &TokenWithSpan) -> Self {
        if token.token == Token::EOF {
            return Self {
                message: "syntax error at end of input".into(),
                position: Some(sql.chars().count() + 1),
                detail: None,
                too_deep: false,
                state: None,
                hint: None,
            };
        }
        Self {
            message: format!("syntax error at or near \"{}\"", token.token),
            position: Some(char_offset(sql, token.span.start) + 1),
            detail: None,
            too_deep: false,
                state: None,
                hint: None,
        }
    }

    pub(crate) fn from_parser(sql: &str, error: &ParserError, tokens: &[TokenWithSpan], parser: &Parser<'_>) -> Self {
        let message = match error {
            ParserError::RecursionLimitExceeded => {
                return Self { message: "statement is nested too deeply".into(), position: None, detail: None, too_deep: true, state: None, hint: None };
            }
            ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
        };
        // sqlparser ends its messages with "at Line: 1, Column: 8" when it knows the place.
        let location = message.rfind(" at Line: ").and_then(|at| {
            let rest = &message[at + " at Line: ".len()..];
            let (line, column) = rest.split_once(", Column: ")?;
            Some(Location { line: line.trim().parse().ok()?, column: column.trim().parse().ok()? })
        });
        let found = location.and_then(|l| tokens.iter().find(|t| t.span.start == l)).cloned();
        let mut out = match found {
            Some(token) => Self::near(sql, &token),
            None => Self::near(sql, &parser.peek_token()),
        };
        out.detail = Some(message.rfind(" at Line: ").map_or(message.clone(), |at| message[..at].to_owned()));
        out
    }
}

fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}
