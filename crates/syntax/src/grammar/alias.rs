//! The names that aliases give in FROM, and columns with types: of functions, and such as a table need not declare.

use super::{Parse, Parser};
use crate::ast::{self, Ident, ObjectName};
use sqlparser::tokenizer::Token;

/// An alias with columns that the table need not declare; without an alias the table is called as it is.
pub(super) fn with_undeclared(
    table: &ObjectName,
    alias: Option<ast::TableAlias>,
    undeclared: Vec<ast::TableAliasColumnDef>,
) -> Option<ast::TableAlias> {
    if undeclared.is_empty() {
        return alias;
    }
    let own = table.0.last().and_then(|part| part.as_ident().cloned());
    let mut alias = alias.or_else(|| own.map(|name| ast::TableAlias { explicit: false, name, columns: Vec::new(), at: None }))?;
    alias.columns.extend(undeclared);
    Some(alias)
}

impl Parser<'_> {
    /// `name (column type, …)`: a table with columns that it need not declare. Nothing is read if it is anything else, such as a call.
    pub(super) fn table_with_undeclared(&mut self) -> Option<(ObjectName, Vec<ast::TableAliasColumnDef>)> {
        let start = self.at;
        let found = self.object_name().and_then(|name| Ok((name, self.undeclared_columns()?)));
        if found.is_err() {
            self.at = start;
        }
        found.ok()
    }

    /// `(column type, …)`.
    pub(crate) fn undeclared_columns(&mut self) -> Parse<Vec<ast::TableAliasColumnDef>> {
        self.expect_token(&Token::LParen)?;
        let columns = self.list(|p| {
            let name = p.ident()?;
            // Operators that are words of their own.
            if p.peek_any(0, &["isnull", "notnull"]) {
                return Err(p.unexpected());
            }
            Ok(ast::TableAliasColumnDef { name, data_type: Some(p.data_type()?) })
        })?;
        self.expect_token(&Token::RParen)?;
        Ok(columns)
    }

    /// The alias of a table: columns with types are such as it need not declare, behind those that have other names here.
    pub(super) fn table_alias(&mut self) -> Parse<Option<ast::TableAlias>> {
        let start = self.at;
        let explicit = self.keyword("as");
        if !explicit && !self.is_column_id(0) {
            return Ok(None);
        }
        let name = self.ident()?;
        if self.peek(0) != Some(&Token::LParen) {
            self.at = start;
            return self.alias(false);
        }
        self.at += 1;
        let mut with_types = false;
        let columns = self.list(|p| {
            let name = p.ident()?;
            let ends = matches!(p.peek(0), Some(Token::Comma | Token::RParen) | None);
            let data_type = if with_types || !ends { Some(p.data_type()?) } else { None };
            with_types |= data_type.is_some();
            Ok(ast::TableAliasColumnDef { name, data_type })
        })?;
        self.expect_token(&Token::RParen)?;
        Ok(Some(ast::TableAlias { explicit, name, columns, at: None }))
    }

    /// `(column [type], …)` behind a table that is copied.
    pub(crate) fn copied_columns(&mut self) -> Parse<Vec<ast::TableAliasColumnDef>> {
        self.expect_token(&Token::LParen)?;
        let columns = self.list(|p| {
            let name = p.ident()?;
            let ends = matches!(p.peek(0), Some(Token::Comma | Token::RParen) | None);
            Ok(ast::TableAliasColumnDef { name, data_type: if ends { None } else { Some(p.data_type()?) } })
        })?;
        self.expect_token(&Token::RParen)?;
        Ok(columns)
    }

    /// `[AS] name [(columns)]`; of a function, columns may have types.
    pub(super) fn alias(&mut self, function: bool) -> Parse<Option<ast::TableAlias>> {
        let explicit = self.keyword("as");
        if explicit && function && self.peek(0) == Some(&Token::LParen) {
            let span = self.span();
            let columns = self.column_definitions()?;
            return Ok(Some(ast::TableAlias {
                explicit,
                name: Ident { value: String::new(), quote_style: Some('"'), span },
                columns,
                at: None,
            }));
        }
        if !explicit && !self.is_column_id(0) {
            return Ok(None);
        }
        let name = self.ident()?;
        let columns = if self.peek(0) == Some(&Token::LParen) { self.alias_columns(function)? } else { Vec::new() };
        Ok(Some(ast::TableAlias { explicit, name, columns, at: None }))
    }

    /// `(column type, …)`.
    pub(super) fn column_definitions(&mut self) -> Parse<Vec<ast::TableAliasColumnDef>> {
        let columns = self.alias_columns(true)?;
        if columns.iter().any(|c| c.data_type.is_none()) {
            self.at -= 1;
            return Err(self.unexpected());
        }
        Ok(columns)
    }

    pub(super) fn alias_columns(&mut self, typed: bool) -> Parse<Vec<ast::TableAliasColumnDef>> {
        self.expect_token(&Token::LParen)?;
        // All have types or none.
        let mut with_types = None;
        let columns = self.list(|p| {
            let name = p.ident()?;
            let ends = matches!(p.peek(0), Some(Token::Comma | Token::RParen) | None);
            let data_type = if typed && with_types.unwrap_or(!ends) { Some(p.data_type()?) } else { None };
            with_types = Some(data_type.is_some());
            Ok(ast::TableAliasColumnDef { name, data_type })
        })?;
        self.expect_token(&Token::RParen)?;
        Ok(columns)
    }
}
