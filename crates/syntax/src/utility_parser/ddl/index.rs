//! CREATE INDEX, CREATE FULLTEXT INDEX, REINDEX and CHECK.

use crate::ast::{self, Ident};
use crate::ddl::{CreateIndex, Ddl, IndexElement, ReindexTarget, StorageOption};
use crate::error::SyntaxError;
use crate::grammar::call::plain_call;
use crate::grammar::{Parse, Parser};
use crate::utility::Utility;
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    /// Behind an opening parenthesis.
    fn index_elements(&mut self) -> Parse<Vec<IndexElement>> {
        let mut out = Vec::new();
        loop {
            let mut expr = self.index_expression()?;
            if self.keyword("collate") {
                expr = ast::Expr::Collate { expr: Box::new(expr), collation: self.object_name()? };
            }
            // Hyperdrive's entries have the beginning of a text.
            let mut segment = false;
            if self.keywords(&["segment", "length"]) {
                let length = self.signed_integer()?;
                if length < 1 {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
                if !matches!(expr, ast::Expr::Identifier(_)) {
                    return Err(self.unsupported("SEGMENT LENGTH is of a column"));
                }
                segment = true;
                let length = ast::Expr::Value(ast::Value::Number(length.to_string(), false).into());
                expr = plain_call(Ident::new("left"), vec![expr, length]);
            }
            let operator_class =
                if self.is_column_id(0) && !self.peek_any(0, &["asc", "desc", "nulls"]) { Some(self.object_name()?) } else { None };
            if operator_class.is_some() && self.peek(0) == Some(&Token::LParen) {
                return Err(self.unsupported("options of operator classes are not supported"));
            }
            let (descending, nulls_first) = self.index_order()?;
            out.push(IndexElement { expr, descending, nulls_first, operator_class, segment });
            if !self.token(&Token::Comma) {
                self.expect_token(&Token::RParen)?;
                return Ok(out);
            }
        }
    }

    /// A column, a call, or any expression in parentheses.
    fn index_expression(&mut self) -> Parse<ast::Expr> {
        if self.is_column_id(0) && !matches!(self.peek(1), Some(Token::LParen | Token::Period)) {
            return Ok(ast::Expr::Identifier(self.ident()?));
        }
        if self.peek(0) == Some(&Token::LParen) {
            return Ok(ast::Expr::Nested(Box::new(self.parenthesized_expression()?)));
        }
        let first = self.at;
        let out = self.operand()?;
        let others = matches!(
            out,
            ast::Expr::Identifier(_)
                | ast::Expr::CompoundIdentifier(_)
                | ast::Expr::Value(_)
                | ast::Expr::Array(_)
                | ast::Expr::Case { .. }
                | ast::Expr::Exists { .. }
                | ast::Expr::UnaryOp { .. }
        );
        if others {
            self.at = first;
            return Err(self.unexpected());
        }
        Ok(out)
    }

    /// ASC or DESC, and whether NULLs come first, if that is said.
    pub(super) fn index_order(&mut self) -> Parse<(bool, Option<bool>)> {
        let descending = self.keyword("desc");
        if !descending {
            self.keyword("asc");
        }
        let nulls_first = if self.keyword("nulls") {
            if self.keyword("first") {
                Some(true)
            } else {
                self.expect("last")?;
                Some(false)
            }
        } else {
            None
        };
        Ok((descending, nulls_first))
    }

    /// INCLUDE of an index: columns alone.
    fn included_columns(&mut self) -> Parse<Vec<Ident>> {
        if !self.keyword("include") {
            return Ok(Vec::new());
        }
        self.expect_token(&Token::LParen)?;
        let start = self.span().start;
        let mut out = Vec::new();
        for element in self.index_elements()? {
            match element.expr {
                ast::Expr::Identifier(column) => out.push(column),
                _ => return Err(SyntaxError::unsupported(self.sql, "expressions are not supported in included columns", start)),
            }
            if element.operator_class.is_some() || element.descending || element.nulls_first.is_some() {
                let what = match element.operator_class {
                    Some(_) => "an operator class",
                    None if element.nulls_first.is_some() => "NULLS FIRST/LAST options",
                    None => "ASC/DESC options",
                };
                return Err(SyntaxError::new(b"42P17", format!("including column does not support {what}"), None));
            }
        }
        Ok(out)
    }

    pub(super) fn create_index(&mut self, unique: bool) -> Parse<Ddl> {
        let concurrently = self.keyword("concurrently");
        let if_not_exists = self.if_not_exists()?;
        let name = if self.peek_keyword(0, "on") && !if_not_exists { None } else { Some(self.ident()?) };
        self.expect("on")?;
        self.keyword("only");
        let table = self.object_name()?;
        let method = if self.keyword("using") { Some(self.name()?) } else { None };
        self.expect_token(&Token::LParen)?;
        let elements = self.index_elements()?;
        let include = self.included_columns()?;
        let nulls_not_distinct = self.nulls_not_distinct()?;
        let options = self.with_options()?;
        self.tablespace()?;
        let predicate = if self.keyword("where") { Some(self.expression()?) } else { None };
        Ok(Ddl::CreateIndex(CreateIndex {
            name,
            table,
            unique,
            concurrently,
            if_not_exists,
            method,
            elements,
            include,
            nulls_not_distinct,
            options,
            predicate,
        }))
    }

    /// Hyperdrive's `CREATE FULLTEXT INDEX [name] ON t (c [DOCVALUES TRUE], …) [SHARD NUM n] [WITH (…)]`. Values of all columns are at
    /// hand with the rows, whatever DOCVALUES says.
    pub(super) fn create_fulltext_index(&mut self) -> Parse<Ddl> {
        let if_not_exists = self.if_not_exists()?;
        let name = if self.peek_keyword(0, "on") { None } else { Some(self.ident()?) };
        self.expect("on")?;
        let table = self.object_name()?;
        self.expect_token(&Token::LParen)?;
        let mut elements = Vec::new();
        loop {
            let column = self.ident()?;
            if self.keyword("docvalues") && !self.keyword("true") {
                self.expect("false")?;
            }
            elements.push(IndexElement {
                expr: sqlparser::ast::Expr::Identifier(column),
                descending: false,
                nulls_first: None,
                operator_class: None,
                segment: false,
            });
            if !self.token(&Token::Comma) {
                break;
            }
        }
        self.expect_token(&Token::RParen)?;
        let mut options = Vec::new();
        if self.keywords(&["shard", "num"]) {
            let shards = self.signed_integer()?;
            options.push(StorageOption { name: "shards".into(), value: Some(shards.to_string()) });
        }
        options.extend(self.with_options()?);
        Ok(Ddl::CreateIndex(CreateIndex {
            name,
            table,
            unique: false,
            concurrently: false,
            if_not_exists,
            method: Some("fulltext".into()),
            elements,
            include: Vec::new(),
            nulls_not_distinct: false,
            options,
            predicate: None,
        }))
    }

    pub(super) fn reindex(&mut self) -> Parse<Ddl> {
        if self.peek(0) == Some(&Token::LParen) {
            let place = self.tokens.get(self.at + 1).map_or_else(|| self.span().start, |t| t.span.start);
            let options = self.options_in_parens()?;
            if let Some(unknown) = options.iter().find(|o| !matches!(o.name.as_str(), "verbose" | "concurrently" | "tablespace")) {
                return Err(SyntaxError::at(self.sql, &format!("unrecognized REINDEX option \"{}\"", unknown.name), place));
            }
        }
        let word = self.name()?;
        let concurrently = self.keyword("concurrently");
        let target = match word.as_str() {
            "index" => ReindexTarget::Index(self.object_name()?),
            "table" => ReindexTarget::Table(self.object_name()?),
            "schema" => ReindexTarget::Schema(self.ident()?),
            "database" => ReindexTarget::Database(if self.at < self.tokens.len() { Some(self.ident()?) } else { None }),
            "system" => ReindexTarget::System(if self.at < self.tokens.len() { Some(self.ident()?) } else { None }),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        Ok(Ddl::Reindex { target, concurrently })
    }

    /// Behind CHECK INDEX or CHECK TABLE.
    pub(crate) fn check(&mut self, table: bool) -> Parse<Utility> {
        let name = self.object_name()?;
        let condition = if self.keyword("where") {
            let first = self.at;
            self.expr()?;
            Some(self.text_from(first))
        } else {
            None
        };
        Ok(Utility::Check { table, name, condition, repair: self.keyword("repair") })
    }
}
