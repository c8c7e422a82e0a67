//! Here is SQL text: what was written? No catalog; names that do not exist are accepted.
//!
//! [`parse`] gives each statement with its own piece of the text. The grammar is PostgreSQL's as sqlparser knows it, through
//! [`dialect::StoaDialect`], which adds what Stoa's tables need.

pub mod ddl;
pub mod dialect;
pub mod error;
mod escape;
pub mod expression;
pub mod locking;
pub mod operators;
pub mod script;
pub mod utility;
mod utility_parser;

pub use error::SyntaxError;
pub use script::{Body, Piece, parse_script};
pub use sqlparser::ast;
use sqlparser::parser::Parser;
pub use sqlparser::tokenizer::Span;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

/// One statement of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub statement: ast::Statement,
    /// The statement's own text, without the semicolon.
    pub text: String,
    /// Where it starts in the whole text, in characters from 0; positions inside are relative to the whole text.
    pub offset: usize,
}

/// How deep expressions and queries may nest.
const RECURSION_LIMIT: usize = 200;

/// Parses a text of any number of statements, parted by semicolons. An empty text gives none.
///
/// # Errors
/// The first syntax error with its position, in characters from 1.
pub fn parse(sql: &str) -> Result<Vec<Parsed>, SyntaxError> {
    let (sql, tokens) = escape::tokenize(sql)?;
    let sql = sql.as_ref();
    let mut out = Vec::new();
    for piece in tokens.split(|t| t.token == Token::SemiColon) {
        let Some(first) = piece.iter().find(|t| !matches!(t.token, Token::Whitespace(_))) else { continue };
        let last = piece.iter().rfind(|t| !matches!(t.token, Token::Whitespace(_))).unwrap_or(first);
        let start = char_offset(sql, first.span.start);
        let end = char_offset(sql, last.span.end);
        let statement = parse_tokens(sql, piece)?;
        out.push(Parsed { statement, text: sql.chars().skip(start).take(end - start).collect(), offset: start });
    }
    Ok(out)
}

/// Parses the tokens of one statement.
pub(crate) fn parse_tokens(sql: &str, piece: &[TokenWithSpan]) -> Result<ast::Statement, SyntaxError> {
    let dialect = dialect::StoaDialect::default();
    let rewritten = locking::rewrite(sql, piece)?;
    let piece = rewritten.as_deref().unwrap_or(piece);
    let mut parser = Parser::new(&dialect).with_recursion_limit(RECURSION_LIMIT).with_tokens_with_locations(piece.to_vec());
    let statement = parser.parse_statement().map_err(|e| SyntaxError::from_parser(sql, &e, piece, &parser))?;
    let next: TokenWithSpan = parser.peek_token();
    if next.token != Token::EOF {
        return Err(SyntaxError::near(sql, &next));
    }
    Ok(statement)
}

/// Parses one expression, as the catalog stores them.
///
/// # Errors
/// As [`parse`].
pub fn parse_expression(sql: &str) -> Result<ast::Expr, SyntaxError> {
    let dialect = dialect::StoaDialect::default();
    let (sql, tokens) = escape::tokenize(sql)?;
    let sql = sql.as_ref();
    let mut parser = Parser::new(&dialect).with_recursion_limit(RECURSION_LIMIT).with_tokens_with_locations(tokens.clone());
    let expr = parser.parse_expr().map_err(|e| SyntaxError::from_parser(sql, &e, &tokens, &parser))?;
    let next = parser.peek_token();
    if next.token != Token::EOF {
        return Err(SyntaxError::near(sql, &next));
    }
    Ok(expr)
}

/// The offset, in characters from 0, of a line and column of the text.
#[must_use]
pub fn char_offset(sql: &str, at: Location) -> usize {
    if at.line == 0 {
        return 0;
    }
    let mut offset = 0;
    for (number, line) in sql.split('\n').enumerate() {
        if number as u64 + 1 == at.line {
            return offset + (at.column.saturating_sub(1)) as usize;
        }
        offset += line.chars().count() + 1;
    }
    offset
}
