//! CREATE TABLE: columns, families, constraints.

use crate::ast::{self, Ident, Statement};
use crate::ddl::{
    Column, Constraint, ConstraintKind, CreateTable, CreateTableAs, Ddl, Family, IndexElement, KeyColumns, OnCommitAction, ReferenceAction,
    References, RowSource, Split, StorageOption, TableElement,
};
use crate::error::SyntaxError;
use crate::grammar::{Parse, Parser};
use sqlparser::tokenizer::Token;

/// What INCLUDING and EXCLUDING may name.
const LIKE_OPTIONS: &[&str] =
    &["all", "comments", "compression", "constraints", "defaults", "generated", "identity", "indexes", "statistics", "storage"];

/// A table of which nothing but its elements is said.
pub(super) fn new_table(name: ast::ObjectName, temporary: bool, if_not_exists: bool, elements: Vec<TableElement>) -> CreateTable {
    CreateTable {
        name,
        temporary,
        if_not_exists,
        elements,
        options: Vec::new(),
        on_commit: None,
        split: None,
        expires: None,
        timestamp: None,
        inherits: Vec::new(),
        partitioned: false,
        foreign: None,
        comment: None,
    }
}

impl Parser<'_> {
    /// `external`: CREATE EXTERNAL TABLE, as Hyperdrive has it.
    pub(super) fn create_table(&mut self, temporary: bool, external: bool) -> Parse<Ddl> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        // CREATE TABLE t (a, b) AS: names alone.
        let only_names = self.peek(0) == Some(&Token::LParen) && {
            let mut at = 1;
            loop {
                if !matches!(self.peek(at), Some(Token::Word(_))) {
                    break false;
                }
                match self.peek(at + 1) {
                    Some(Token::Comma) => at += 2,
                    Some(Token::RParen) => break true,
                    _ => break false,
                }
            }
        };
        if self.keyword("like") {
            return self.hyperdrive_like(name, if_not_exists, temporary, external);
        }
        if only_names || self.peek(0) != Some(&Token::LParen) {
            if self.peek_keyword(0, "partition") || self.peek_keyword(0, "of") {
                let typed = self.peek_keyword(0, "of");
                self.at = self.tokens.len();
                return Ok(Ddl::Unsupported(if typed { "CREATE TABLE … OF" } else { "CREATE TABLE … PARTITION OF" }.into()));
            }
            let columns = self.optional_columns()?;
            self.table_method()?;
            let options = self.with_options()?;
            let on_commit = self.on_commit()?;
            self.tablespace()?;
            self.expect("as")?;
            let rows = if self.keyword("execute") {
                let (name, args) = self.execute()?;
                RowSource::Execute { name, args }
            } else {
                RowSource::Query(Box::new(Statement::Query(self.query()?)))
            };
            let with_data = self.with_data()?;
            return Ok(Ddl::CreateTableAs(CreateTableAs {
                name,
                temporary,
                if_not_exists,
                columns,
                options,
                on_commit,
                rows,
                with_data,
                materialized_view: false,
            }));
        }
        let elements = self.table_elements()?;
        let inherits = if self.keyword("inherits") {
            self.expect_token(&Token::LParen)?;
            let names = self.object_names()?;
            self.expect_token(&Token::RParen)?;
            names
        } else {
            Vec::new()
        };
        let mut table = CreateTable { inherits, ..new_table(name, temporary, if_not_exists, elements) };
        self.hyperdrive_storage(&mut table, external)?;
        if self.keyword("partition") {
            table.partitioned = true;
            self.at = self.tokens.len();
            return Ok(Ddl::CreateTable(table));
        }
        self.table_method()?;
        table.options.extend(self.with_options()?);
        table.on_commit = self.on_commit()?;
        self.tablespace()?;
        loop {
            if table.expires.is_none() && self.keywords(&["ttl", "expires", "at"]) {
                table.expires = Some(self.expr()?);
            } else if table.timestamp.is_none() && self.keywords(&["timestamp", "from"]) {
                table.timestamp = Some(self.ident()?);
            } else if table.split.is_none() && self.keyword("split") {
                table.split = Some(self.split()?);
            } else {
                break;
            }
        }
        Ok(Ddl::CreateTable(table))
    }

    /// `(element, …)`, of which there may be none.
    fn table_elements(&mut self) -> Parse<Vec<TableElement>> {
        self.expect_token(&Token::LParen)?;
        let mut elements = Vec::new();
        if !self.token(&Token::RParen) {
            loop {
                elements.push(self.table_element()?);
                if !self.token(&Token::Comma) {
                    break;
                }
            }
            self.expect_token(&Token::RParen)?;
        }
        Ok(elements)
    }

    /// CREATE FOREIGN TABLE.
    pub(super) fn create_foreign_table(&mut self) -> Parse<Ddl> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let elements = self.table_elements()?;
        if self.peek_keyword(0, "server") {
            let place = self.span().start;
            return Err(SyntaxError::unsupported(self.sql, "foreign servers are not supported", place)
                .with_hint("A foreign table maps a raw table of this database: leave SERVER out."));
        }
        let foreign = Some(if self.peek_keyword(0, "options") { self.foreign_options()? } else { Vec::new() });
        Ok(Ddl::CreateTable(CreateTable { foreign, ..new_table(name, false, if_not_exists, elements) }))
    }

    /// `OPTIONS (name 'value', …)`.
    fn foreign_options(&mut self) -> Parse<Vec<StorageOption>> {
        self.expect("options")?;
        self.expect_token(&Token::LParen)?;
        let mut out = Vec::new();
        loop {
            out.push(StorageOption { name: self.name()?, value: Some(self.string()?) });
            if !self.token(&Token::Comma) {
                break;
            }
        }
        self.expect_token(&Token::RParen)?;
        Ok(out)
    }

    /// What follows SPLIT.
    pub(super) fn split(&mut self) -> Parse<Split> {
        if self.keyword("into") {
            let pieces = u32::try_from(self.signed_integer()?).map_err(|_| self.unexpected())?;
            let alphabet = if self.keyword("using") { Some(self.name()?) } else { None };
            return Ok(Split::Into { pieces, alphabet });
        }
        self.expect("at")?;
        Ok(Split::At(self.split_rows()?))
    }

    /// Values of the first key parts in parentheses, several of a point in parentheses of their own.
    pub(super) fn split_rows(&mut self) -> Parse<Vec<Vec<ast::Expr>>> {
        self.expect_token(&Token::LParen)?;
        let mut points = Vec::new();
        loop {
            points.push(match self.expression()? {
                ast::Expr::Tuple(values) => values,
                value => vec![value],
            });
            if !self.token(&Token::Comma) {
                break;
            }
        }
        self.expect_token(&Token::RParen)?;
        Ok(points)
    }

    fn table_element(&mut self) -> Parse<TableElement> {
        if self.keyword("like") {
            let name = self.object_name()?;
            let mut options = Vec::new();
            loop {
                let including = if self.keyword("including") {
                    true
                } else if self.keyword("excluding") {
                    false
                } else {
                    break;
                };
                if !self.peek_any(0, LIKE_OPTIONS) {
                    return Err(self.unexpected());
                }
                options.push((including, self.name()?));
            }
            return Ok(TableElement::Like { name, options });
        }
        if self.peek_keyword(0, "family")
            && matches!(self.peek(1), Some(Token::Word(_)))
            && self.peek(2) == Some(&Token::LParen)
            && !matches!(self.peek(3), Some(Token::Number(..)))
        {
            self.at += 1;
            let name = self.ident()?;
            let columns = self.family_columns()?;
            return Ok(TableElement::Family(Family { name, columns, options: self.with_options()? }));
        }
        let is_constraint = match self.peek(0) {
            Some(Token::Word(w)) if w.quote_style.is_none() => {
                let next_is_paren = self.peek(1) == Some(&Token::LParen);
                match w.value.to_ascii_lowercase().as_str() {
                    "constraint" | "primary" | "foreign" => true,
                    "check" => next_is_paren,
                    "unique" => next_is_paren || self.peek_keyword(1, "nulls") || self.peek_keyword(1, "using"),
                    "exclude" => next_is_paren || self.peek_keyword(1, "using"),
                    _ => false,
                }
            }
            _ => false,
        };
        if is_constraint {
            return Ok(TableElement::Constraint(self.table_constraint()?));
        }
        Ok(TableElement::Column(self.column()?))
    }

    /// `FAMILY name (columns)`, or without columns; not a column of this name, behind which stands its type alone or with more words.
    pub(super) fn family_follows(&self) -> bool {
        self.peek_keyword(0, "family")
            && (self.peek_keyword(1, "if")
                || (matches!(self.peek(1), Some(Token::Word(_)))
                    && (self.peek_keyword(2, "with") && self.peek(3) == Some(&Token::LParen)
                        || (self.peek(2) == Some(&Token::LParen) && !matches!(self.peek(3), Some(Token::Number(..)))))))
    }

    /// The columns of a family, in parentheses that may be left out. Columns of the key are in no family: one that held nothing else is
    /// left empty.
    pub(super) fn family_columns(&mut self) -> Parse<Vec<Ident>> {
        if self.peek(0) == Some(&Token::LParen) && self.peek(1) == Some(&Token::RParen) {
            self.at += 2;
            return Ok(Vec::new());
        }
        self.optional_columns()
    }

    pub(super) fn column(&mut self) -> Parse<Column> {
        let name = self.ident()?;
        let data_type = self.data_type()?;
        let mut column =
            Column { name, data_type, collation: None, family: None, options: Vec::new(), comment: None, constraints: Vec::new() };
        loop {
            if self.keyword("collate") {
                column.collation = Some(self.object_name()?);
                continue;
            }
            if column.family.is_none() && self.keyword("family") {
                column.family = Some(self.ident()?);
                continue;
            }
            if column.comment.is_none() && self.keyword("comment") {
                column.comment = Some(self.quoted()?);
                continue;
            }
            if self.peek_keyword(0, "options") && self.peek(1) == Some(&Token::LParen) {
                column.options.extend(self.foreign_options()?);
                continue;
            }
            if self.peek_keyword(0, "compression") {
                let place = self.span().start;
                return Err(SyntaxError::unsupported(self.sql, "COMPRESSION of a column is not supported", place)
                    .with_hint("Column families have the options of storage."));
            }
            // What is said of a column holds for all rows.
            if self.peek_keyword(0, "not") && self.peek_keyword(1, "valid") {
                self.at += 1;
                return Err(self.unexpected());
            }
            // Attributes of the constraint before.
            if let Some(last) = column.constraints.last_mut() {
                let place = self.span().start;
                let words = match (self.peek_keyword(0, "not"), self.peek_keyword(0, "initially"), self.peek_keyword(1, "deferred")) {
                    (true, ..) => "NOT DEFERRABLE",
                    (_, true, true) => "INITIALLY DEFERRED",
                    (_, true, false) => "INITIALLY IMMEDIATE",
                    _ => "DEFERRABLE",
                };
                if self.constraint_attribute(last)? {
                    let timed = last.deferrable.is_some() || last.initially_deferred.is_some();
                    let takes =
                        matches!(last.kind, ConstraintKind::PrimaryKey(_) | ConstraintKind::Unique(_) | ConstraintKind::ForeignKey { .. });
                    if timed && !takes {
                        return Err(SyntaxError::at(self.sql, &format!("misplaced {words} clause"), place));
                    }
                    continue;
                }
            }
            let position = self.position();
            let name = if self.keyword("constraint") { Some(self.ident()?) } else { None };
            let Some(kind) = self.column_constraint()? else {
                if name.is_some() {
                    return Err(self.unexpected());
                }
                return Ok(column);
            };
            column.constraints.push(Constraint {
                name,
                kind,
                deferrable: None,
                initially_deferred: None,
                not_valid: false,
                no_inherit: false,
                position,
            });
        }
    }

    pub(super) fn constraint_attribute(&mut self, constraint: &mut Constraint) -> Parse<bool> {
        if self.peek_keyword(0, "not") && self.peek_keyword(1, "deferrable") {
            self.at += 2;
            constraint.deferrable = Some(false);
        } else if self.keyword("deferrable") {
            constraint.deferrable = Some(true);
        } else if self.keywords(&["initially", "deferred"]) {
            constraint.initially_deferred = Some(true);
        } else if self.keywords(&["initially", "immediate"]) {
            constraint.initially_deferred = Some(false);
        } else if self.peek_keyword(0, "not") && self.peek_keyword(1, "valid") {
            self.at += 2;
            constraint.not_valid = true;
        } else if self.keywords(&["no", "inherit"]) {
            constraint.no_inherit = true;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    pub(super) fn column_constraint(&mut self) -> Parse<Option<ConstraintKind>> {
        Ok(Some(if self.peek_keyword(0, "not") && self.peek_keyword(1, "null") {
            self.at += 2;
            ConstraintKind::NotNull
        } else if self.keyword("null") {
            ConstraintKind::Null
        } else if self.keyword("default") {
            ConstraintKind::Default(self.default_expression()?)
        } else if self.keyword("check") {
            ConstraintKind::Check(self.parenthesized_expression()?)
        } else if self.keywords(&["primary", "key"]) {
            let mut key = KeyColumns::default();
            self.key_tail(&mut key)?;
            ConstraintKind::PrimaryKey(key)
        } else if self.keyword("unique") {
            let mut key = KeyColumns { nulls_not_distinct: self.nulls_not_distinct()?, ..KeyColumns::default() };
            self.key_tail(&mut key)?;
            ConstraintKind::Unique(key)
        } else if self.keyword("references") {
            ConstraintKind::ForeignKey { columns: Vec::new(), references: self.references()? }
        } else if self.keyword("generated") {
            let when = self.span().start;
            let always = if self.keyword("always") {
                true
            } else {
                self.expect("by")?;
                self.expect("default")?;
                false
            };
            self.expect("as")?;
            if self.keyword("identity") {
                let options = if self.token(&Token::LParen) {
                    let options = self.sequence_options()?;
                    self.expect_token(&Token::RParen)?;
                    options
                } else {
                    Vec::new()
                };
                ConstraintKind::Identity { always, options }
            } else {
                let expr = self.parenthesized_expression()?;
                self.expect("stored")?;
                if !always {
                    return Err(SyntaxError::at(self.sql, "for a generated column, GENERATED ALWAYS must be specified", when));
                }
                ConstraintKind::Generated(expr)
            }
        } else {
            return Ok(None);
        }))
    }

    pub(super) fn table_constraint(&mut self) -> Parse<Constraint> {
        let position = self.position();
        let name = if self.keyword("constraint") { Some(self.ident()?) } else { None };
        let kind = if self.keyword("check") {
            ConstraintKind::Check(self.parenthesized_expression()?)
        } else if self.keywords(&["primary", "key"]) {
            ConstraintKind::PrimaryKey(self.key_columns(true, false)?)
        } else if self.keyword("unique") {
            let nulls_not_distinct = self.nulls_not_distinct()?;
            ConstraintKind::Unique(self.key_columns(false, nulls_not_distinct)?)
        } else if self.keywords(&["foreign", "key"]) {
            self.expect_token(&Token::LParen)?;
            let columns = self.idents()?;
            self.expect_token(&Token::RParen)?;
            self.expect("references")?;
            ConstraintKind::ForeignKey { columns, references: self.references()? }
        } else if self.keyword("exclude") {
            self.at = self.skip_to_element_end();
            ConstraintKind::Exclude
        } else {
            return Err(self.unexpected());
        };
        let mut out = Constraint { name, kind, deferrable: None, initially_deferred: None, not_valid: false, no_inherit: false, position };
        while self.constraint_attribute(&mut out)? {}
        Ok(out)
    }

    pub(super) fn skip_to_element_end(&self) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen | Token::Comma if depth == 0 => return at,
                Token::RParen => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    pub(super) fn nulls_not_distinct(&mut self) -> Parse<bool> {
        if self.keyword("nulls") {
            let not = self.keyword("not");
            self.expect("distinct")?;
            return Ok(not);
        }
        Ok(false)
    }

    fn key_columns(&mut self, primary: bool, nulls_not_distinct: bool) -> Parse<KeyColumns> {
        let mut key = KeyColumns { nulls_not_distinct, ..KeyColumns::default() };
        if self.keywords(&["using", "index"]) {
            key.using_index = Some(self.ident()?);
            return Ok(key);
        }
        self.expect_token(&Token::LParen)?;
        loop {
            // Of PRIMARY KEY: what is made of a column.
            let made =
                primary && (self.peek(1) == Some(&Token::LParen) || (self.peek_keyword(0, "max") && self.peek(1) == Some(&Token::Minus)));
            let expr = if made { self.expression()? } else { ast::Expr::Identifier(self.ident()?) };
            let (descending, nulls_first) = self.index_order()?;
            key.columns.push(IndexElement { expr, descending, nulls_first, operator_class: None, segment: false });
            if !self.token(&Token::Comma) {
                self.expect_token(&Token::RParen)?;
                break;
            }
        }
        self.key_tail(&mut key)?;
        Ok(key)
    }

    /// INCLUDE, WITH and USING INDEX TABLESPACE.
    fn key_tail(&mut self, key: &mut KeyColumns) -> Parse<()> {
        if self.keyword("include") {
            key.include = self.optional_columns()?;
        }
        self.with_options()?;
        if self.keywords(&["using", "index"]) {
            if !self.peek_keyword(0, "tablespace") {
                return Err(self.unexpected());
            }
            self.tablespace()?;
        }
        Ok(())
    }

    fn references(&mut self) -> Parse<References> {
        let table = self.object_name()?;
        let columns = self.optional_columns()?;
        let mut out = References {
            table,
            columns,
            match_full: false,
            on_delete: ReferenceAction::NoAction,
            on_delete_columns: Vec::new(),
            on_update: ReferenceAction::NoAction,
        };
        if self.peek_keyword(0, "match") && self.peek_keyword(1, "partial") {
            return Err(SyntaxError::unsupported(self.sql, "MATCH PARTIAL not yet implemented", self.span().start));
        }
        if self.keywords(&["match", "full"]) {
            out.match_full = true;
        } else {
            self.keywords(&["match", "simple"]);
        }
        // Each action once, in either order.
        let (mut deleted, mut updated) = (false, false);
        while self.peek_keyword(0, "on") && !(deleted && updated) {
            self.at += 1;
            if !deleted && self.keyword("delete") {
                deleted = true;
                out.on_delete = self.reference_action()?;
                if matches!(out.on_delete, ReferenceAction::SetNull | ReferenceAction::SetDefault) {
                    out.on_delete_columns = self.optional_columns()?;
                }
            } else if !updated && self.keyword("update") {
                updated = true;
                let start = self.at - 1;
                out.on_update = self.reference_action()?;
                let what = match out.on_update {
                    ReferenceAction::SetNull => "SET NULL",
                    ReferenceAction::SetDefault => "SET DEFAULT",
                    _ => continue,
                };
                if !self.optional_columns()?.is_empty() {
                    self.at = start;
                    return Err(self.unsupported(&format!("a column list with {what} is only supported for ON DELETE actions")));
                }
            } else {
                return Err(self.unexpected());
            }
        }
        Ok(out)
    }

    fn reference_action(&mut self) -> Parse<ReferenceAction> {
        Ok(if self.keywords(&["no", "action"]) {
            ReferenceAction::NoAction
        } else if self.keyword("restrict") {
            ReferenceAction::Restrict
        } else if self.keyword("cascade") {
            ReferenceAction::Cascade
        } else if self.keywords(&["set", "null"]) {
            ReferenceAction::SetNull
        } else if self.keywords(&["set", "default"]) {
            ReferenceAction::SetDefault
        } else {
            return Err(self.unexpected());
        })
    }

    /// `USING method` of a table: there is one way in which tables are stored.
    pub(super) fn table_method(&mut self) -> Parse<()> {
        if self.keyword("using") {
            let name = self.name()?;
            if name != "heap" {
                return Err(SyntaxError::new(b"42704", format!("access method \"{name}\" does not exist"), None));
            }
        }
        Ok(())
    }

    /// `TABLESPACE name`: there is one.
    pub(super) fn tablespace(&mut self) -> Parse<()> {
        if self.keyword("tablespace") {
            let name = self.name()?;
            if name != "pg_default" {
                return Err(SyntaxError::new(b"42704", format!("tablespace \"{name}\" does not exist"), None));
            }
        }
        Ok(())
    }

    fn on_commit(&mut self) -> Parse<Option<OnCommitAction>> {
        if !self.keyword("on") {
            return Ok(None);
        }
        self.expect("commit")?;
        Ok(Some(if self.keywords(&["preserve", "rows"]) {
            OnCommitAction::PreserveRows
        } else if self.keywords(&["delete", "rows"]) {
            OnCommitAction::DeleteRows
        } else if self.keyword("drop") {
            OnCommitAction::Drop
        } else {
            return Err(self.unexpected());
        }))
    }
}
