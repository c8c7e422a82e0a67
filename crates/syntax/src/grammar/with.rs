//! WITH: queries that have names, with SEARCH and CYCLE.

use super::select::plain_query;
use super::{Parse, Parser};
use crate::ast::{self, Expr, Ident, ObjectName};
use crate::marks;
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    pub(super) fn with_clause(&mut self) -> Parse<Option<ast::With>> {
        let start = self.at;
        if !self.keyword("with") {
            return Ok(None);
        }
        // WITH recursive [(a)] AS …: a query of that name.
        let named = self.peek(1) == Some(&Token::LParen) || self.peek_keyword(1, "as");
        let recursive = !named && self.keyword("recursive");
        let cte_tables = self.list(|p| p.nested(Self::cte))?;
        Ok(Some(ast::With { with_token: self.attached(start), recursive, cte_tables }))
    }

    fn cte(&mut self) -> Parse<ast::Cte> {
        let name = self.ident()?;
        let mut columns = if self.peek(0) == Some(&Token::LParen) { self.alias_columns(false)? } else { Vec::new() };
        self.expect("as")?;
        let materialized = if self.keywords(&["not", "materialized"]) {
            Some(ast::CteAsMaterialized::NotMaterialized)
        } else if self.keyword("materialized") {
            Some(ast::CteAsMaterialized::Materialized)
        } else {
            None
        };
        self.expect_token(&Token::LParen)?;
        if !self.at_statement() {
            return Err(self.unexpected());
        }
        let query = match self.preparable()? {
            ast::Statement::Query(query) => query,
            other => Box::new(plain_query(super::dml::as_set_expr(other))),
        };
        let closing_paren_token = self.attached(self.at);
        self.expect_token(&Token::RParen)?;
        let mut mark = |name: &str, parts: ObjectName| {
            let data_type = Some(ast::DataType::Custom(parts, Vec::new()));
            columns.push(ast::TableAliasColumnDef { name: Ident::new(name), data_type });
        };
        if self.peek_keyword(0, "search") {
            self.at += 1;
            let [depth, breadth] = marks::SEARCH;
            let order = if self.keyword("depth") {
                depth
            } else {
                self.expect("breadth")?;
                breadth
            };
            self.expect("first")?;
            self.expect("by")?;
            let mut parts = self.idents()?;
            self.expect("set")?;
            parts.push(self.ident()?);
            mark(order, ObjectName::from(parts));
        }
        if self.peek_keyword(0, "cycle") {
            self.at += 1;
            let mut parts = self.idents()?;
            self.expect("set")?;
            parts.push(self.ident()?);
            let boolean = |value| Expr::Value(ast::Value::Boolean(value).with_empty_span());
            let (mut value, mut default) = (boolean(true), boolean(false));
            if self.keyword("to") {
                value = self.constant()?;
                self.expect("default")?;
                default = self.constant()?;
            }
            self.expect("using")?;
            parts.push(self.ident()?);
            let mut parts = ObjectName::from(parts);
            parts.0.push(marks::part(marks::VALUES, vec![value, default]));
            mark(marks::CYCLE, parts);
        }
        Ok(ast::Cte {
            // AS stands behind it; sqlparser would print one before it, too.
            alias: ast::TableAlias { explicit: false, name, columns, at: None },
            query,
            from: None,
            materialized,
            closing_paren_token,
        })
    }

    /// A literal, of a type or of none.
    fn constant(&mut self) -> Parse<Expr> {
        let start = self.at;
        let out = self.operand()?;
        if matches!(out, Expr::Value(_) | Expr::TypedString(_) | Expr::Interval(_)) {
            return Ok(out);
        }
        // A name may begin one; what is behind it does not go on.
        self.at = start + usize::from(matches!(self.peek(0), Some(Token::Word(_))));
        Err(self.unexpected())
    }
}
