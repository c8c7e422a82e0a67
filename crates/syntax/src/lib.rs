//! Here is SQL text: what was written? No catalog; names that do not exist are accepted.
//!
//! [`parse_script`] gives each statement with its own piece of the text. The grammar is PostgreSQL's, with what Stoa's tables need;
//! the tree of queries is sqlparser's. Reading order: [`lexer`] → [`script`] → [`grammar`] (queries) and [`utility_parser`] (the rest).

pub mod block;
pub mod database;
pub mod ddl;
pub mod error;
pub mod fingerprint;
mod grammar;
pub mod hyperdrive;
mod keywords;
mod lexer;
pub mod locking;
pub mod marks;
pub mod policy;
pub mod print;
pub mod rights;
pub mod script;
pub mod secrets;
pub mod utility;
mod utility_parser;

pub use error::SyntaxError;
pub use fingerprint::{Fingerprint, LiteralKind};
use grammar::Parser;
pub use script::{Body, Piece, parse_script};
pub use sqlparser::ast;
pub use sqlparser::tokenizer::Location;
pub use sqlparser::tokenizer::Span;

/// One statement of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub statement: ast::Statement,
    /// The statement's own text, without the semicolon.
    pub text: String,
    /// Where it starts in the whole text, in characters from 0; positions inside are relative to the whole text.
    pub offset: usize,
}

/// Parses a text of any number of queries and changes of data, parted by semicolons. An empty text gives none.
///
/// # Errors
/// The first syntax error with its position, in characters from 1.
pub fn parse(sql: &str) -> Result<Vec<Parsed>, SyntaxError> {
    let tokens = lexer::tokens(sql)?;
    let mut out = Vec::new();
    for (piece, end) in script::pieces(&tokens) {
        let (Some(first), Some(last)) = (piece.first(), piece.last()) else { continue };
        let start = char_offset(sql, first.span.start);
        let length = char_offset(sql, last.span.end) - start;
        let statement = Parser::new(sql, piece, end).whole_statement()?;
        out.push(Parsed { statement, text: sql.chars().skip(start).take(length).collect(), offset: start });
    }
    Ok(out)
}

/// Parses one expression, as the catalog stores them.
///
/// # Errors
/// As [`parse`].
pub fn parse_expression(sql: &str) -> Result<ast::Expr, SyntaxError> {
    let tokens = lexer::tokens(sql)?;
    Parser::new(sql, &tokens, None).whole_expression()
}

/// The offset, in characters from 0, of a line and column of the text. [`Lines`] is for many of them.
#[must_use]
pub fn char_offset(sql: &str, at: Location) -> usize {
    Lines::new(sql).char_offset(at)
}

/// Where the lines of a text begin, in characters from 0, and where the text ends.
#[derive(Debug)]
pub struct Lines(Vec<usize>);

impl Lines {
    #[must_use]
    pub fn new(sql: &str) -> Self {
        let mut starts = vec![0];
        let mut offset = 0;
        for line in sql.split('\n') {
            offset += line.chars().count() + 1;
            starts.push(offset);
        }
        Self(starts)
    }

    /// The offset of a line and column; that of the end for a line behind it.
    #[must_use]
    pub fn char_offset(&self, at: Location) -> usize {
        let Some(line) = usize::try_from(at.line).ok().and_then(|line| line.checked_sub(1)) else { return 0 };
        match self.0.get(line).filter(|_| line + 1 < self.0.len()) {
            Some(start) => start + at.column.saturating_sub(1) as usize,
            None => self.0.last().copied().unwrap_or(0),
        }
    }
}
