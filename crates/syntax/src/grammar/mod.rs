//! PostgreSQL's grammar of queries and changes of data, by recursive descent; it makes sqlparser's syntax tree.
//!
//! What that tree has no field for is put into it by the conventions of [`marks`](crate::marks); [`print`](crate::print) makes SQL of it that
//! this grammar reads as the same mark again, since views are kept as text. Reading order: [`expr`] → [`call`] → [`from`] → [`select`] → [`with`] → [`dml`]; types are in
//! [`types`].

mod alias;
pub(crate) mod call;
mod dml;
mod expr;
mod from;
mod match_against;
mod select;
mod types;
mod version;
mod with;

use crate::SyntaxError;
use crate::ast::{self, Ident, ObjectName, Statement};
use crate::keywords::{Class, keyword};
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

pub(crate) type Parse<T> = Result<T, SyntaxError>;

/// How deep expressions and queries may nest, a few levels for each pair of parentheses. What reads the tree later takes some hundred bytes
/// of the stack a level where it does not grow it.
const MAX_DEPTH: usize = 6000;
/// What a level of reading takes of the stack at most, and by how much the stack grows.
const LEVEL_BYTES: usize = 256 << 10;
const STACK_BYTES: usize = 4 << 20;

/// Reads the tokens of one statement.
pub(crate) struct Parser<'a> {
    pub(crate) sql: &'a str,
    pub(crate) tokens: &'a [TokenWithSpan],
    pub(crate) at: usize,
    /// The semicolon behind the statement: where its end is reported.
    pub(crate) end: Option<&'a TokenWithSpan>,
    depth: usize,
    /// Behind an operand a word that is an operator elsewhere may be the label of the select item: `SELECT a LIKE FROM t`.
    labels: bool,
    /// Such a word was read as an operator in the select item that is being read.
    label_met: bool,
    /// Of `>>`, which closes two types of Hyperdrive's, so many characters were read.
    closed: usize,
    /// For each opening parenthesis the place of the closing one; made when first asked for.
    closing: Option<Vec<usize>>,
}

impl<'a> Parser<'a> {
    /// The hints that stand in comments behind a token: `/*+ … */`.
    pub(crate) fn hints_behind(&self, token: usize) -> Vec<sqlparser::ast::OptimizerHint> {
        let mut out = Vec::new();
        if !self.sql.contains("/*+") {
            return out;
        }
        let Some(from) = self.tokens.get(token).map(|t| crate::char_offset(self.sql, t.span.end)) else { return out };
        let mut rest = self.sql.char_indices().nth(from).and_then(|(at, _)| self.sql.get(at..)).unwrap_or("").trim_start();
        while let Some((text, behind)) = rest.strip_prefix("/*").and_then(|inner| inner.split_once("*/")) {
            if let Some(text) = text.strip_prefix('+') {
                out.push(sqlparser::ast::OptimizerHint {
                    prefix: String::new(),
                    text: text.to_owned(),
                    style: sqlparser::ast::OptimizerHintStyle::MultiLine,
                });
            }
            rest = behind.trim_start();
        }
        out
    }

    pub(crate) fn new(sql: &'a str, tokens: &'a [TokenWithSpan], end: Option<&'a TokenWithSpan>) -> Self {
        Self { sql, tokens, at: 0, end, depth: 0, labels: false, label_met: false, closed: 0, closing: None }
    }

    pub(crate) fn peek(&self, ahead: usize) -> Option<&'a Token> {
        self.tokens.get(self.at + ahead).map(|t| &t.token)
    }

    pub(crate) fn peek_keyword(&self, ahead: usize, word: &str) -> bool {
        matches!(self.peek(ahead), Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
    }

    pub(crate) fn peek_any(&self, ahead: usize, words: &[&str]) -> bool {
        match self.peek(ahead) {
            Some(Token::Word(w)) if w.quote_style.is_none() => words.iter().any(|word| w.value.eq_ignore_ascii_case(word)),
            _ => false,
        }
    }

    pub(crate) fn keyword(&mut self, word: &str) -> bool {
        let found = self.peek_keyword(0, word);
        self.at += usize::from(found);
        found
    }

    /// All of the words, or none.
    pub(crate) fn keywords(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(i, w)| self.peek_keyword(i, w));
        if found {
            self.at += words.len();
        }
        found
    }

    pub(crate) fn token(&mut self, token: &Token) -> bool {
        let found = self.peek(0) == Some(token);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, word: &str) -> Parse<()> {
        if self.keyword(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(crate) fn expect_token(&mut self, token: &Token) -> Parse<()> {
        if self.token(token) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// `syntax error at or near` the next token.
    pub(crate) fn unexpected(&self) -> SyntaxError {
        match self.tokens.get(self.at).or(self.end) {
            Some(token) => SyntaxError::near(self.sql, token),
            None => SyntaxError::near(self.sql, &TokenWithSpan::wrap(Token::EOF)),
        }
    }

    /// The span of the next token.
    pub(crate) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or_else(Span::empty, |t| t.span)
    }

    fn attached(&self, at: usize) -> AttachedToken {
        self.tokens.get(at).map_or_else(AttachedToken::empty, |t| AttachedToken(TokenWithSpan { token: Token::EOF, span: t.span }))
    }

    pub(crate) fn unsupported(&self, what: &str) -> SyntaxError {
        SyntaxError::unsupported(self.sql, what, self.span().start)
    }

    /// Counts a level of nesting around `read`.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxError::too_deep());
        }
        let out = stacker::maybe_grow(LEVEL_BYTES, STACK_BYTES, || read(self));
        self.depth -= 1;
        out
    }

    /// The class of the next word, if it is an unquoted key word.
    fn class(&self, ahead: usize) -> Option<(Class, bool)> {
        match self.peek(ahead) {
            Some(Token::Word(w)) if w.quote_style.is_none() => keyword(&w.value),
            _ => None,
        }
    }

    fn is_word(&self, ahead: usize) -> bool {
        matches!(self.peek(ahead), Some(Token::Word(_)))
    }

    /// Whether a column's or table's name comes next (`ColId`).
    pub(crate) fn is_column_id(&self, ahead: usize) -> bool {
        self.is_word(ahead) && !matches!(self.class(ahead), Some((Class::Reserved | Class::TypeOrFunction, _)))
    }

    /// Whether a function's or type's name comes next (`type_function_name`).
    fn is_function_id(&self, ahead: usize) -> bool {
        self.is_word(ahead) && !matches!(self.class(ahead), Some((Class::Reserved | Class::ColumnName, _)))
    }

    fn take_ident(&mut self) -> Parse<Ident> {
        match self.tokens.get(self.at) {
            Some(TokenWithSpan { token: Token::Word(w), span }) => {
                self.at += 1;
                Ok(Ident { value: w.value.clone(), quote_style: w.quote_style, span: *span })
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A column's or table's name.
    pub(crate) fn ident(&mut self) -> Parse<Ident> {
        if self.is_column_id(0) { self.take_ident() } else { Err(self.unexpected()) }
    }

    /// Any word: behind AS and behind a point.
    pub(crate) fn label(&mut self) -> Parse<Ident> {
        self.take_ident()
    }

    pub(crate) fn idents(&mut self) -> Parse<Vec<Ident>> {
        self.list(Self::ident)
    }

    /// One or more, parted by commas.
    pub(crate) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut out = vec![read(self)?];
        while self.token(&Token::Comma) {
            out.push(read(self)?);
        }
        Ok(out)
    }

    /// `a`, `s.a`, `d.s.a`.
    pub(crate) fn object_name(&mut self) -> Parse<ObjectName> {
        let mut parts = vec![self.ident()?];
        while self.token(&Token::Period) {
            parts.push(self.label()?);
        }
        Ok(ObjectName::from(parts))
    }

    pub(crate) fn object_names(&mut self) -> Parse<Vec<ObjectName>> {
        self.list(Self::object_name)
    }

    fn closing_of(&mut self, open: usize) -> Option<usize> {
        let tokens = self.tokens;
        let closing = self.closing.get_or_insert_with(|| {
            let mut out = vec![usize::MAX; tokens.len()];
            let mut stack = Vec::new();
            for (i, token) in tokens.iter().enumerate() {
                match token.token {
                    Token::LParen => stack.push(i),
                    Token::RParen => {
                        if let Some(slot) = stack.pop().and_then(|open: usize| out.get_mut(open)) {
                            *slot = i;
                        }
                    }
                    _ => {}
                }
            }
            out
        });
        closing.get(open).copied().filter(|c| *c != usize::MAX)
    }

    /// Whether the parenthesis that comes next holds a query rather than an expression or a join.
    fn query_in_parens(&mut self, ahead: usize) -> bool {
        let open = self.at + ahead;
        let mut inner = open;
        while matches!(self.tokens.get(inner).map(|t| &t.token), Some(Token::LParen)) {
            inner += 1;
        }
        let starts = |p: &Self, at: usize| match p.tokens.get(at).map(|t| &t.token) {
            Some(Token::Word(w)) if w.quote_style.is_none() => {
                ["select", "values", "with", "table"].iter().any(|k| w.value.eq_ignore_ascii_case(k))
            }
            _ => false,
        };
        // (VALUES) and (VALUES, b) are lists of names.
        let names = self.tokens.get(inner..inner + 2).is_some_and(
            |two| matches!(two, [word, next] if word.token.to_string().eq_ignore_ascii_case("values") && next.token != Token::LParen),
        );
        if inner == open || !starts(self, inner) || names {
            return false;
        }
        // From the inside out: what follows the closing parenthesis tells whether the next one holds a query too.
        let mut level = inner - 1;
        while level > open {
            let Some(close) = self.closing_of(level) else { return true };
            let goes_on = match self.tokens.get(close + 1).map(|t| &t.token) {
                Some(Token::RParen) => true,
                Some(Token::Word(w)) if w.quote_style.is_none() => {
                    ["union", "intersect", "except", "order", "limit", "offset", "fetch", "for"]
                        .iter()
                        .any(|k| w.value.eq_ignore_ascii_case(k))
                }
                _ => false,
            };
            if !goes_on {
                return false;
            }
            level -= 1;
        }
        true
    }

    /// Whether a query or a change of data begins here.
    pub(crate) fn at_statement(&self) -> bool {
        matches!(self.peek(0), Some(Token::LParen)) || self.peek_any(0, &["select", "values", "table", "with"]) || self.at_change()
    }

    fn at_change(&self) -> bool {
        self.peek_any(0, &["insert", "upsert", "update", "delete", "merge", "batchinsert"])
    }

    /// SELECT, VALUES, TABLE, WITH, INSERT, UPSERT, UPDATE, DELETE, MERGE; to the end of the tokens.
    pub(crate) fn whole_statement(&mut self) -> Parse<Statement> {
        if !self.at_statement() {
            return Err(self.unexpected());
        }
        let out = self.preparable()?;
        if self.at < self.tokens.len() {
            return Err(self.unexpected());
        }
        Ok(out)
    }

    /// As [`Parser::whole_statement`], up to where it ends.
    pub(crate) fn preparable(&mut self) -> Parse<Statement> {
        let with = self.with_clause()?;
        if self.at_change() {
            let statement = self.change()?;
            return Ok(match with {
                None => statement,
                Some(_) => {
                    let mut query = select::plain_query(dml::as_set_expr(statement));
                    query.with = with;
                    Statement::Query(Box::new(query))
                }
            });
        }
        let mut query = self.query_body()?;
        query.with = with;
        Ok(Statement::Query(Box::new(query)))
    }

    /// A whole expression, as the catalog keeps them.
    pub(crate) fn whole_expression(&mut self) -> Parse<ast::Expr> {
        let out = self.expr()?;
        if self.at < self.tokens.len() {
            return Err(self.unexpected());
        }
        Ok(out)
    }
}
