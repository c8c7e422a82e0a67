//! The grammar of [`Ddl`] statements.

use crate::ast::{self, Ident, Statement};
use crate::ddl::{
    AlterAction, Column, CommentTarget, Constraint, ConstraintKind, CreateIndex, CreateSequence, CreateTable, CreateTableAs, CreateView,
    Ddl, Family, IndexElement, KeyColumns, ObjectKind, OnCommitAction, ReferenceAction, References, ReindexTarget, RowSource,
    SequenceOption, Split, StorageOption, TableElement,
};
use crate::error::SyntaxError;
use crate::grammar::{Parse, Parser};
use sqlparser::tokenizer::Token;

/// First words of the kinds of objects that PostgreSQL makes, changes and drops; any other word is an error of syntax.
const KINDS_OF_OBJECTS: &[&str] = &[
    "access",
    "aggregate",
    "cast",
    "collation",
    "constraint",
    "conversion",
    "database",
    "default",
    "domain",
    "event",
    "extension",
    "foreign",
    "function",
    "global",
    "group",
    "index",
    "language",
    "large",
    "local",
    "materialized",
    "operator",
    "owned",
    "policy",
    "procedural",
    "procedure",
    "publication",
    "role",
    "routine",
    "rule",
    "schema",
    "sequence",
    "server",
    "statistics",
    "subscription",
    "system",
    "table",
    "tablespace",
    "temp",
    "temporary",
    "text",
    "transform",
    "trigger",
    "trusted",
    "type",
    "unlogged",
    "user",
    "view",
];

/// What INCLUDING and EXCLUDING may name.
const LIKE_OPTIONS: &[&str] =
    &["all", "comments", "compression", "constraints", "defaults", "generated", "identity", "indexes", "statistics", "storage"];

impl Parser<'_> {
    /// The statement, or `None` if its first word is another's.
    pub(super) fn ddl(&mut self) -> Parse<Option<Ddl>> {
        Ok(Some(if self.keyword("create") {
            self.create()?
        } else if self.keyword("alter") {
            self.alter()?
        } else if self.keyword("drop") {
            self.drop_objects()?
        } else if self.keyword("truncate") {
            self.truncate()?
        } else if self.keyword("comment") {
            self.comment()?
        } else if self.keyword("reindex") {
            self.reindex()?
        } else if self.keyword("refresh") {
            self.expect("materialized")?;
            self.expect("view")?;
            let concurrently = self.keyword("concurrently");
            let name = self.object_name()?;
            Ddl::Refresh { name, concurrently, with_data: self.with_data()? }
        } else if let Some(word) =
            ["grant", "revoke", "security", "reassign", "cluster", "import", "load"].into_iter().find(|w| self.peek_keyword(0, w))
        {
            self.at = self.tokens.len();
            Ddl::Unsupported(word.to_uppercase())
        } else {
            return Ok(None);
        }))
    }

    fn unsupported_object(&mut self, verb: &str) -> Parse<Ddl> {
        if !KINDS_OF_OBJECTS.iter().any(|w| self.peek_keyword(0, w)) {
            return Err(self.unexpected());
        }
        let word = self.name()?;
        self.at = self.tokens.len();
        Ok(Ddl::Unsupported(format!("{verb} {}", word.to_uppercase())))
    }

    fn create(&mut self) -> Parse<Ddl> {
        let or_replace = self.keywords(&["or", "replace"]);
        let _ = self.keyword("local") || self.keyword("global");
        let temporary = self.keyword("temp") || self.keyword("temporary");
        let unlogged = self.keyword("unlogged");
        if self.keyword("recursive") {
            self.expect("view")?;
            return self.create_view(or_replace, temporary, true);
        }
        if self.keyword("view") {
            return self.create_view(or_replace, temporary, false);
        }
        if or_replace {
            return if ["function", "procedure", "aggregate", "trigger", "rule", "language", "transform"]
                .iter()
                .any(|w| self.peek_keyword(0, w))
            {
                self.unsupported_object("CREATE")
            } else {
                Err(self.unexpected())
            };
        }
        if self.keyword("table") {
            return self.create_table(temporary);
        }
        if self.keywords(&["fulltext", "index"]) {
            return self.create_fulltext_index();
        }
        if self.keyword("sequence") {
            let if_not_exists = self.if_not_exists()?;
            let name = self.object_name()?;
            let options = self.sequence_options()?;
            return Ok(Ddl::CreateSequence(CreateSequence { name, temporary, if_not_exists, options }));
        }
        if temporary || unlogged {
            return Err(self.unexpected());
        }
        if self.keywords(&["materialized", "view"]) {
            let if_not_exists = self.if_not_exists()?;
            let name = self.object_name()?;
            let columns = self.optional_columns()?;
            self.table_method()?;
            let options = self.with_options()?;
            self.expect("as")?;
            let rows = RowSource::Query(Box::new(Statement::Query(self.query()?)));
            let with_data = self.with_data()?;
            return Ok(Ddl::CreateTableAs(CreateTableAs {
                name,
                temporary: false,
                if_not_exists,
                columns,
                options,
                on_commit: None,
                rows,
                with_data,
                materialized_view: true,
            }));
        }
        if self.keyword("schema") {
            return self.create_schema();
        }
        if self.peek_keyword(0, "index") || (self.peek_keyword(0, "unique") && self.peek_keyword(1, "index")) {
            let unique = self.keyword("unique");
            self.expect("index")?;
            return self.create_index(unique);
        }
        self.unsupported_object("CREATE")
    }

    fn create_schema(&mut self) -> Parse<Ddl> {
        let if_not_exists = self.if_not_exists()?;
        let mut name = None;
        if !self.peek_keyword(0, "authorization") {
            name = Some(self.ident()?);
        }
        let mut elements = Vec::new();
        if self.keyword("authorization") {
            let role = self.role()?;
            let name = name.get_or_insert_with(|| role.clone()).clone();
            // Whose it is, is what ALTER SCHEMA would say of it.
            elements.push(Ddl::Alter {
                kind: ObjectKind::Schema,
                name: ast::ObjectName(vec![ast::ObjectNamePart::Identifier(name)]),
                if_exists: false,
                actions: vec![AlterAction::OwnerTo(role)],
            });
        }
        while self.peek_keyword(0, "create") {
            self.at += 1;
            elements.push(self.create()?);
        }
        Ok(Ddl::CreateSchema { name, if_not_exists, elements })
    }

    /// A role: a name, or one of the reserved words that stand for the session's own.
    fn role(&mut self) -> Parse<Ident> {
        match ["current_user", "session_user", "current_role"].into_iter().find(|word| self.keyword(word)) {
            Some(word) => Ok(Ident::new(word)),
            None => self.ident(),
        }
    }

    fn create_table(&mut self, temporary: bool) -> Parse<Ddl> {
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
        let inherits = if self.keyword("inherits") {
            self.expect_token(&Token::LParen)?;
            let names = self.object_names()?;
            self.expect_token(&Token::RParen)?;
            names
        } else {
            Vec::new()
        };
        let mut table = CreateTable {
            name,
            temporary,
            if_not_exists,
            elements,
            options: Vec::new(),
            on_commit: None,
            split: None,
            inherits,
            partitioned: false,
        };
        if self.keyword("partition") {
            table.partitioned = true;
            self.at = self.tokens.len();
            return Ok(Ddl::CreateTable(table));
        }
        self.table_method()?;
        table.options = self.with_options()?;
        table.on_commit = self.on_commit()?;
        self.tablespace()?;
        if self.keyword("split") {
            table.split = Some(if self.keyword("into") {
                Split::Into(u32::try_from(self.signed_integer()?).map_err(|_| self.unexpected())?)
            } else {
                self.expect("at")?;
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
                Split::At(points)
            });
        }
        Ok(Ddl::CreateTable(table))
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
        if self.peek_keyword(0, "family") && matches!(self.peek(1), Some(Token::Word(_))) && self.peek(2) == Some(&Token::LParen) {
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
    fn family_follows(&self) -> bool {
        self.peek_keyword(0, "family")
            && (self.peek_keyword(1, "if")
                || (matches!(self.peek(1), Some(Token::Word(_)))
                    && (self.peek_keyword(2, "with") && self.peek(3) == Some(&Token::LParen)
                        || (self.peek(2) == Some(&Token::LParen) && !matches!(self.peek(3), Some(Token::Number(..)))))))
    }

    /// The columns of a family, in parentheses that may be left out. Columns of the key are in no family: one that held nothing else is
    /// left empty.
    fn family_columns(&mut self) -> Parse<Vec<Ident>> {
        if self.peek(0) == Some(&Token::LParen) && self.peek(1) == Some(&Token::RParen) {
            self.at += 2;
            return Ok(Vec::new());
        }
        self.optional_columns()
    }

    fn column(&mut self) -> Parse<Column> {
        let name = self.ident()?;
        let data_type = self.data_type()?;
        let mut column = Column { name, data_type, collation: None, family: None, constraints: Vec::new() };
        loop {
            if self.keyword("collate") {
                column.collation = Some(self.object_name()?);
                continue;
            }
            if column.family.is_none() && self.keyword("family") {
                column.family = Some(self.ident()?);
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
            column.constraints.push(Constraint { name, kind, deferrable: None, initially_deferred: None, not_valid: false, position });
        }
    }

    fn constraint_attribute(&mut self, constraint: &mut Constraint) -> Parse<bool> {
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
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn column_constraint(&mut self) -> Parse<Option<ConstraintKind>> {
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

    fn table_constraint(&mut self) -> Parse<Constraint> {
        let position = self.position();
        let name = if self.keyword("constraint") { Some(self.ident()?) } else { None };
        let kind = if self.keyword("check") {
            ConstraintKind::Check(self.parenthesized_expression()?)
        } else if self.keywords(&["primary", "key"]) {
            ConstraintKind::PrimaryKey(self.key_columns(false)?)
        } else if self.keyword("unique") {
            let nulls_not_distinct = self.nulls_not_distinct()?;
            ConstraintKind::Unique(self.key_columns(nulls_not_distinct)?)
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
        let mut out = Constraint { name, kind, deferrable: None, initially_deferred: None, not_valid: false, position };
        while self.constraint_attribute(&mut out)? {}
        Ok(out)
    }

    fn skip_to_element_end(&self) -> usize {
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

    fn nulls_not_distinct(&mut self) -> Parse<bool> {
        if self.keyword("nulls") {
            let not = self.keyword("not");
            self.expect("distinct")?;
            return Ok(not);
        }
        Ok(false)
    }

    fn key_columns(&mut self, nulls_not_distinct: bool) -> Parse<KeyColumns> {
        let mut key = KeyColumns { nulls_not_distinct, ..KeyColumns::default() };
        if self.keywords(&["using", "index"]) {
            key.using_index = Some(self.ident()?);
            return Ok(key);
        }
        self.expect_token(&Token::LParen)?;
        loop {
            let expr = ast::Expr::Identifier(self.ident()?);
            let (descending, nulls_first) = self.index_order()?;
            key.columns.push(IndexElement { expr, descending, nulls_first, operator_class: None });
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

    /// Behind an opening parenthesis.
    fn index_elements(&mut self) -> Parse<Vec<IndexElement>> {
        let mut out = Vec::new();
        loop {
            let mut expr = self.index_expression()?;
            if self.keyword("collate") {
                expr = ast::Expr::Collate { expr: Box::new(expr), collation: self.object_name()? };
            }
            let operator_class =
                if self.is_column_id(0) && !self.peek_any(0, &["asc", "desc", "nulls"]) { Some(self.object_name()?) } else { None };
            let (descending, nulls_first) = self.index_order()?;
            out.push(IndexElement { expr, descending, nulls_first, operator_class });
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
    fn index_order(&mut self) -> Parse<(bool, Option<bool>)> {
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

    fn sequence_options(&mut self) -> Parse<Vec<SequenceOption>> {
        let mut out = Vec::new();
        loop {
            out.push(if self.keyword("as") {
                SequenceOption::As(self.data_type()?)
            } else if self.keyword("increment") {
                self.keyword("by");
                SequenceOption::Increment(self.signed_number()?)
            } else if self.keywords(&["no", "minvalue"]) {
                SequenceOption::MinValue(None)
            } else if self.keywords(&["no", "maxvalue"]) {
                SequenceOption::MaxValue(None)
            } else if self.keywords(&["no", "cycle"]) {
                SequenceOption::Cycle(false)
            } else if self.keyword("minvalue") {
                SequenceOption::MinValue(Some(self.signed_number()?))
            } else if self.keyword("maxvalue") {
                SequenceOption::MaxValue(Some(self.signed_number()?))
            } else if self.keyword("start") {
                self.keyword("with");
                SequenceOption::Start(self.signed_number()?)
            } else if self.keyword("restart") {
                let with = self.keyword("with");
                let number = with || matches!(self.peek(0), Some(Token::Number(..) | Token::Minus | Token::Plus));
                SequenceOption::Restart(if number { Some(self.signed_number()?) } else { None })
            } else if self.keyword("cache") {
                SequenceOption::Cache(self.signed_number()?)
            } else if self.keyword("cycle") {
                SequenceOption::Cycle(true)
            } else if self.keywords(&["owned", "by"]) {
                SequenceOption::OwnedBy(if self.keyword("none") { None } else { Some(self.object_name()?) })
            } else if self.keywords(&["sequence", "name"]) {
                SequenceOption::Name(self.object_name()?)
            } else {
                return Ok(out);
            });
        }
    }

    fn signed_number(&mut self) -> Parse<String> {
        let sign = if self.token(&Token::Minus) {
            "-"
        } else {
            self.token(&Token::Plus);
            ""
        };
        match self.peek(0) {
            Some(Token::Number(number, _)) => {
                let out = format!("{sign}{number}");
                self.at += 1;
                Ok(out)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn create_view(&mut self, or_replace: bool, temporary: bool, recursive: bool) -> Parse<Ddl> {
        let name = self.object_name()?;
        let columns = self.optional_columns()?;
        let options = self.with_options()?;
        self.expect("as")?;
        let mut query = self.query()?;
        if recursive {
            query = recursion(&name, &columns, &query)?;
        }
        let mut check_option = None;
        if self.keyword("with") {
            let kind = if self.keyword("local") { "local" } else { "cascaded" };
            if kind == "cascaded" {
                self.keyword("cascaded");
            }
            self.expect("check")?;
            self.expect("option")?;
            check_option = Some(kind.to_owned());
        }
        Ok(Ddl::CreateView(CreateView { name, or_replace, temporary, columns, options, query, check_option }))
    }

    fn create_index(&mut self, unique: bool) -> Parse<Ddl> {
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
    fn create_fulltext_index(&mut self) -> Parse<Ddl> {
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

    fn alter(&mut self) -> Parse<Ddl> {
        let kind = if self.keyword("table") {
            ObjectKind::Table
        } else if self.keyword("view") {
            ObjectKind::View
        } else if self.keywords(&["materialized", "view"]) {
            ObjectKind::MaterializedView
        } else if self.keyword("index") {
            ObjectKind::Index
        } else if self.keyword("sequence") {
            ObjectKind::Sequence
        } else if self.keyword("schema") {
            ObjectKind::Schema
        } else {
            return self.unsupported_object("ALTER");
        };
        let if_exists = self.if_exists()?;
        self.keyword("only");
        let name = self.object_name()?;
        self.token(&Token::Mul);
        if kind == ObjectKind::Sequence && !["rename", "set", "owner"].iter().any(|w| self.peek_keyword(0, w)) {
            let options = self.sequence_options()?;
            if options.is_empty() {
                return Err(self.unexpected());
            }
            return Ok(Ddl::AlterSequence { name, if_exists, options });
        }
        let mut actions = vec![self.alter_action(kind)?];
        // RENAME and SET SCHEMA are statements of their own.
        let alone = |action: &AlterAction| {
            matches!(
                action,
                AlterAction::Rename(_)
                    | AlterAction::RenameColumn { .. }
                    | AlterAction::RenameConstraint { .. }
                    | AlterAction::SetSchema(_)
            )
        };
        while !actions.iter().any(alone) && self.token(&Token::Comma) {
            if self.peek_keyword(0, "rename") {
                return Err(self.unexpected());
            }
            if self.peek_keyword(0, "set") && self.peek_keyword(1, "schema") {
                self.at += 1;
                return Err(self.unexpected());
            }
            actions.push(self.alter_action(kind)?);
        }
        Ok(Ddl::Alter { kind, name, if_exists, actions })
    }

    fn alter_action(&mut self, kind: ObjectKind) -> Parse<AlterAction> {
        if self.keyword("rename") {
            if self.keyword("to") {
                return Ok(AlterAction::Rename(self.ident()?));
            }
            if self.keyword("constraint") {
                let old = self.ident()?;
                self.expect("to")?;
                return Ok(AlterAction::RenameConstraint { old, new: self.ident()? });
            }
            self.keyword("column");
            let old = self.ident()?;
            self.expect("to")?;
            return Ok(AlterAction::RenameColumn { old, new: self.ident()? });
        }
        if self.keyword("owner") {
            self.expect("to")?;
            return Ok(AlterAction::OwnerTo(self.role()?));
        }
        if self.keyword("set") {
            if self.keyword("schema") {
                return Ok(AlterAction::SetSchema(self.ident()?));
            }
            if self.peek(0) == Some(&Token::LParen) {
                return Ok(AlterAction::SetOptions(self.options_in_parens()?));
            }
            if !self.peek_any(0, &["logged", "unlogged", "without", "tablespace", "access"]) {
                return Err(self.unexpected());
            }
            return Ok(AlterAction::Unsupported(format!("SET {}", self.rest_of_action())));
        }
        if self.keyword("reset") {
            return Ok(AlterAction::ResetOptions(self.options_in_parens()?));
        }
        if kind == ObjectKind::Index && self.peek_any(0, &["alter", "attach", "depends", "no"]) {
            return Ok(AlterAction::Unsupported(self.rest_of_action()));
        }
        if matches!(kind, ObjectKind::Index | ObjectKind::Sequence | ObjectKind::Schema) {
            return Err(self.unexpected());
        }
        if self.keyword("add") {
            let is_constraint = ["constraint", "primary", "foreign", "check", "exclude"].iter().any(|w| self.peek_keyword(0, w))
                || (self.peek_keyword(0, "unique")
                    && (self.peek(1) == Some(&Token::LParen) || self.peek_keyword(1, "nulls") || self.peek_keyword(1, "using")));
            if is_constraint {
                return Ok(AlterAction::AddConstraint(self.table_constraint()?));
            }
            if self.family_follows() {
                self.at += 1;
                let if_not_exists = self.if_not_exists()?;
                let name = self.ident()?;
                let columns = self.family_columns()?;
                return Ok(AlterAction::AddFamily { family: Family { name, columns, options: self.with_options()? }, if_not_exists });
            }
            self.keyword("column");
            let if_not_exists = self.if_not_exists()?;
            return Ok(AlterAction::AddColumn { column: self.column()?, if_not_exists });
        }
        if self.keyword("drop") {
            if self.keyword("constraint") {
                let if_exists = self.if_exists()?;
                let name = self.ident()?;
                return Ok(AlterAction::DropConstraint { name, if_exists, cascade: self.cascade() });
            }
            // A column `family` is dropped by its name alone, a family by two words.
            if self.peek_keyword(0, "family") && matches!(self.peek(1), Some(Token::Word(_))) && !self.peek_any(1, &["cascade", "restrict"])
            {
                self.at += 1;
                let if_exists = self.if_exists()?;
                let name = self.ident()?;
                self.cascade();
                return Ok(AlterAction::DropFamily { name, if_exists });
            }
            self.keyword("column");
            let if_exists = self.if_exists()?;
            let name = self.ident()?;
            return Ok(AlterAction::DropColumn { name, if_exists, cascade: self.cascade() });
        }
        if self.keywords(&["validate", "constraint"]) {
            return Ok(AlterAction::ValidateConstraint { name: self.ident()? });
        }
        if self.keyword("alter") {
            if self.keyword("constraint") {
                let name = self.ident()?;
                let mut holder = Constraint {
                    name: None,
                    kind: ConstraintKind::Null,
                    deferrable: None,
                    initially_deferred: None,
                    not_valid: false,
                    position: 0,
                };
                while self.constraint_attribute(&mut holder)? {}
                return Ok(AlterAction::AlterConstraint {
                    name,
                    deferrable: holder.deferrable,
                    initially_deferred: holder.initially_deferred,
                });
            }
            if self.peek_keyword(0, "family") && matches!(self.peek(1), Some(Token::Word(_))) && self.peek_keyword(2, "with") {
                self.at += 1;
                let name = self.ident()?;
                return Ok(AlterAction::AlterFamily { name, options: self.with_options()? });
            }
            self.keyword("column");
            let column = self.ident()?;
            return self.alter_column(column);
        }
        // Rules, triggers, partitions, inheritance, row security.
        if self.peek_any(0, &["enable", "disable", "attach", "detach", "inherit", "no", "force", "cluster", "replica", "of", "not"]) {
            return Ok(AlterAction::Unsupported(self.rest_of_action()));
        }
        Err(self.unexpected())
    }

    /// The first words of what is left of an action: in capitals, but for the last, which may be a name.
    fn rest_of_action(&mut self) -> String {
        let mut words: Vec<String> = (0..4)
            .map_while(|i| match self.peek(i) {
                Some(Token::Word(w)) => Some(w.value.clone()),
                _ => None,
            })
            .collect();
        let last = words.len().saturating_sub(1);
        words.iter_mut().take(last).for_each(|w| *w = w.to_uppercase());
        if let [one] = words.as_mut_slice() {
            *one = one.to_uppercase();
        }
        self.at = self.skip_to_element_end();
        words.join(" ")
    }

    /// `USING method` of a table: there is one way in which tables are stored.
    fn table_method(&mut self) -> Parse<()> {
        if self.keyword("using") {
            let name = self.name()?;
            if name != "heap" {
                return Err(SyntaxError::new(b"42704", format!("access method \"{name}\" does not exist"), None));
            }
        }
        Ok(())
    }

    /// `TABLESPACE name`: there is one.
    fn tablespace(&mut self) -> Parse<()> {
        if self.keyword("tablespace") {
            let name = self.name()?;
            if name != "pg_default" {
                return Err(SyntaxError::new(b"42704", format!("tablespace \"{name}\" does not exist"), None));
            }
        }
        Ok(())
    }

    fn alter_column(&mut self, column: Ident) -> Parse<AlterAction> {
        if self.keywords(&["drop", "default"]) {
            return Ok(AlterAction::DropDefault { column });
        }
        if self.keywords(&["drop", "not", "null"]) {
            return Ok(AlterAction::DropNotNull { column });
        }
        if self.keywords(&["drop", "identity"]) {
            return Ok(AlterAction::DropIdentity { column, if_exists: self.if_exists()? });
        }
        if self.keywords(&["drop", "expression"]) {
            return Ok(AlterAction::DropExpression { column, if_exists: self.if_exists()? });
        }
        if self.keywords(&["set", "default"]) {
            return Ok(AlterAction::SetDefault { column, value: self.expression()? });
        }
        if self.keywords(&["set", "not", "null"]) {
            return Ok(AlterAction::SetNotNull { column });
        }
        if self.keywords(&["set", "data", "type"]) || self.keyword("type") {
            let data_type = self.data_type()?;
            if self.keyword("collate") {
                self.object_name()?;
            }
            let using = if self.keyword("using") { Some(self.expression()?) } else { None };
            return Ok(AlterAction::SetType { column, data_type, using });
        }
        if self.keyword("add") {
            return match self.column_constraint()? {
                Some(ConstraintKind::Identity { always, options }) => Ok(AlterAction::AddIdentity { column, always, options }),
                _ => Err(self.unexpected()),
            };
        }
        let mut always = None;
        let mut options = Vec::new();
        loop {
            if self.keywords(&["set", "generated", "always"]) {
                always = Some(true);
            } else if self.keywords(&["set", "generated", "by", "default"]) {
                always = Some(false);
            } else if self.peek_keyword(0, "restart") {
                options.extend(self.sequence_options()?);
            } else if self.peek_keyword(0, "set")
                && ["increment", "start", "minvalue", "maxvalue", "no", "cache", "cycle"].iter().any(|w| self.peek_keyword(1, w))
            {
                self.at += 1;
                options.extend(self.sequence_options()?);
            } else {
                break;
            }
        }
        if always.is_some() || !options.is_empty() {
            return Ok(AlterAction::AlterIdentity { column, always, options });
        }
        if self.peek_keyword(0, "set") || self.peek_keyword(0, "reset") {
            self.at += 1;
            let what = match self.peek(0) {
                Some(Token::Word(w)) => w.value.to_uppercase(),
                _ => "options".into(),
            };
            self.at = self.skip_to_element_end();
            return Ok(AlterAction::ColumnStorage { column, what });
        }
        Err(self.unexpected())
    }

    fn drop_objects(&mut self) -> Parse<Ddl> {
        if self.keywords(&["fulltext", "index"]) {
            let if_exists = self.if_exists()?;
            self.expect("on")?;
            return Ok(Ddl::DropFullText { table: self.object_name()?, if_exists });
        }
        let kind = if self.keyword("table") {
            ObjectKind::Table
        } else if self.keyword("view") {
            ObjectKind::View
        } else if self.keywords(&["materialized", "view"]) {
            ObjectKind::MaterializedView
        } else if self.keyword("index") {
            ObjectKind::Index
        } else if self.keyword("sequence") {
            ObjectKind::Sequence
        } else if self.keyword("schema") {
            ObjectKind::Schema
        } else {
            return self.drop_unknown();
        };
        let concurrently = kind == ObjectKind::Index && self.keyword("concurrently");
        let if_exists = self.if_exists()?;
        let names = self.object_names()?;
        Ok(Ddl::Drop { kind, names, if_exists, cascade: self.cascade(), concurrently })
    }

    /// DROP of kinds of objects that there are none of: they are not found.
    fn drop_unknown(&mut self) -> Parse<Ddl> {
        const KINDS: [&str; 28] = [
            "type",
            "domain",
            "function",
            "procedure",
            "routine",
            "aggregate",
            "trigger",
            "rule",
            "policy",
            "extension",
            "role",
            "user",
            "group",
            "database",
            "publication",
            "subscription",
            "server",
            "statistics",
            "collation",
            "conversion",
            "language",
            "tablespace",
            "event trigger",
            "access method",
            "foreign table",
            "foreign data wrapper",
            "text search configuration",
            "text search dictionary",
        ];
        let found = KINDS.into_iter().find(|kind| {
            let words: Vec<&str> = kind.split(' ').collect();
            self.keywords(&words)
        });
        let Some(kind) = found else { return self.unsupported_object("DROP") };
        let if_exists = self.if_exists()?;
        let mut names = Vec::new();
        loop {
            let first = self.at;
            self.object_name()?;
            let name = self.text_from(first);
            let mut arguments = None;
            if self.peek(0) == Some(&Token::LParen) {
                self.at += 1;
                let mut types = Vec::new();
                while self.peek(0) != Some(&Token::RParen) {
                    let from = self.at;
                    if !self.token(&Token::Mul) {
                        self.data_type()?;
                    }
                    types.push(self.text_from(from));
                    if !self.token(&Token::Comma) {
                        break;
                    }
                }
                self.expect_token(&Token::RParen)?;
                arguments = Some(types.join(","));
            }
            let table = if matches!(kind, "trigger" | "rule" | "policy") {
                self.expect("on")?;
                Some(self.object_name()?.to_string())
            } else {
                None
            };
            names.push((name, arguments, table));
            if table_less(kind) && self.token(&Token::Comma) {
                continue;
            }
            break;
        }
        self.cascade();
        Ok(Ddl::DropUnknown { kind: kind.to_owned(), names, if_exists })
    }

    fn truncate(&mut self) -> Parse<Ddl> {
        self.keyword("table");
        let mut names = Vec::new();
        loop {
            self.keyword("only");
            names.push(self.object_name()?);
            self.token(&Token::Mul);
            if !self.token(&Token::Comma) {
                break;
            }
        }
        let restart_identity = self.keywords(&["restart", "identity"]);
        if !restart_identity {
            self.keywords(&["continue", "identity"]);
        }
        Ok(Ddl::Truncate { names, restart_identity, cascade: self.cascade() })
    }

    fn comment(&mut self) -> Parse<Ddl> {
        self.expect("on")?;
        let target = if self.keyword("table") {
            CommentTarget::Object(ObjectKind::Table, self.object_name()?)
        } else if self.keyword("view") {
            CommentTarget::Object(ObjectKind::View, self.object_name()?)
        } else if self.keywords(&["materialized", "view"]) {
            CommentTarget::Object(ObjectKind::MaterializedView, self.object_name()?)
        } else if self.keyword("index") {
            CommentTarget::Object(ObjectKind::Index, self.object_name()?)
        } else if self.keyword("sequence") {
            CommentTarget::Object(ObjectKind::Sequence, self.object_name()?)
        } else if self.keyword("schema") {
            CommentTarget::Object(ObjectKind::Schema, self.object_name()?)
        } else if self.keyword("column") {
            CommentTarget::Column(self.object_name()?)
        } else if self.keyword("constraint") {
            let name = self.ident()?;
            self.expect("on")?;
            CommentTarget::Constraint { name, table: self.object_name()? }
        } else if self.keyword("database") {
            CommentTarget::Database(self.ident()?)
        } else {
            if !KINDS_OF_OBJECTS.iter().any(|w| self.peek_keyword(0, w))
                || self.peek_any(
                    0,
                    &["default", "global", "group", "local", "owned", "system", "temp", "temporary", "trusted", "unlogged", "user"],
                )
            {
                return Err(self.unexpected());
            }
            let word = self.name()?;
            self.at = self.tokens.len();
            return Ok(Ddl::Comment { target: CommentTarget::Other(word.to_uppercase()), text: None });
        };
        self.expect("is")?;
        let text = if self.keyword("null") { None } else { Some(self.string()?) };
        Ok(Ddl::Comment { target, text })
    }

    fn reindex(&mut self) -> Parse<Ddl> {
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
            "database" | "system" => ReindexTarget::Database(if self.at < self.tokens.len() { Some(self.ident()?) } else { None }),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        Ok(Ddl::Reindex { target, concurrently })
    }

    // Pieces.

    fn if_not_exists(&mut self) -> Parse<bool> {
        if self.peek_keyword(0, "if") && self.peek_keyword(1, "not") {
            self.at += 2;
            self.expect("exists")?;
            return Ok(true);
        }
        Ok(false)
    }

    fn if_exists(&mut self) -> Parse<bool> {
        if self.peek_keyword(0, "if") && self.peek_keyword(1, "exists") {
            self.at += 2;
            return Ok(true);
        }
        Ok(false)
    }

    fn cascade(&mut self) -> bool {
        let cascade = self.keyword("cascade");
        if !cascade {
            self.keyword("restrict");
        }
        cascade
    }

    fn optional_columns(&mut self) -> Parse<Vec<Ident>> {
        if !self.token(&Token::LParen) {
            return Ok(Vec::new());
        }
        let out = self.idents()?;
        self.expect_token(&Token::RParen)?;
        Ok(out)
    }

    fn parenthesized_expression(&mut self) -> Parse<ast::Expr> {
        self.expect_token(&Token::LParen)?;
        let out = self.expression()?;
        self.expect_token(&Token::RParen)?;
        Ok(out)
    }

    fn default_expression(&mut self) -> Parse<ast::Expr> {
        self.b_expr()
    }

    fn with_data(&mut self) -> Parse<bool> {
        if self.keyword("with") {
            let no = self.keyword("no");
            self.expect("data")?;
            return Ok(!no);
        }
        Ok(true)
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

    fn with_options(&mut self) -> Parse<Vec<StorageOption>> {
        if self.peek_keyword(0, "with") && self.peek(1) == Some(&Token::LParen) {
            self.at += 1;
            return self.options_in_parens();
        }
        if self.peek_keyword(0, "without") && self.peek_keyword(1, "oids") {
            self.at += 2;
        }
        Ok(Vec::new())
    }

    fn options_in_parens(&mut self) -> Parse<Vec<StorageOption>> {
        self.expect_token(&Token::LParen)?;
        let mut out = Vec::new();
        loop {
            let mut name = self.name()?;
            while self.token(&Token::Period) {
                name = format!("{name}.{}", self.name()?);
            }
            let value = if self.token(&Token::Eq) {
                Some(match self.peek(0) {
                    Some(Token::Word(_)) => self.name()?,
                    Some(Token::Number(..) | Token::Minus | Token::Plus) => self.signed_number()?,
                    _ => self.string()?,
                })
            } else {
                None
            };
            out.push(StorageOption { name, value });
            if !self.token(&Token::Comma) {
                self.expect_token(&Token::RParen)?;
                return Ok(out);
            }
        }
    }
}

fn table_less(kind: &str) -> bool {
    !matches!(kind, "trigger" | "rule" | "policy")
}

/// `WITH RECURSIVE name (columns) AS (query) SELECT columns FROM name`, which a recursive view is.
fn recursion(name: &ast::ObjectName, columns: &[Ident], query: &ast::Query) -> Parse<Box<ast::Query>> {
    let list = columns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let own = name.0.last().map(ToString::to_string).unwrap_or_default();
    let sql = format!("WITH RECURSIVE {own} ({list}) AS ({query}) SELECT {list} FROM {own}");
    match crate::parse(&sql)?.into_iter().next().map(|p| p.statement) {
        Some(ast::Statement::Query(query)) => Ok(query),
        _ => Err(crate::SyntaxError::new(b"42601", "syntax error in a recursive view", None)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::ddl::{AlterAction, ConstraintKind, Ddl, TableElement};
    use crate::script::{Body, parse_script};
    use crate::utility::Utility;

    fn ddl(sql: &str) -> Ddl {
        match parse_script(sql).map_err(|e| format!("{sql}: {e}")).unwrap().remove(0).body {
            Body::Utility(utility) => match *utility {
                Utility::Ddl(ddl) => *ddl,
                other => panic!("{other:?}"),
            },
            Body::Sql(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_table_with_everything() {
        let Ddl::CreateTable(table) = ddl(
            "CREATE TEMP TABLE IF NOT EXISTS s.t (a int PRIMARY KEY DEFAULT 1 NOT NULL, b numeric(4,2) DEFAULT (2) * 3 CHECK (b > 0) UNIQUE, \
             c text REFERENCES o (x) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED NOT NULL, d bigint GENERATED BY DEFAULT AS IDENTITY (START 5), \
             e int GENERATED ALWAYS AS (a * 2) STORED, LIKE x INCLUDING ALL, CONSTRAINT k UNIQUE (a, b DESC), FAMILY f (c) WITH (ttl = '30 days')) \
             WITH (salt_buckets = 16) ON COMMIT DROP",
        ) else {
            panic!()
        };
        assert!(table.temporary && table.if_not_exists);
        assert_eq!(table.elements.len(), 8);
        let TableElement::Column(a) = &table.elements[0] else { panic!() };
        assert!(matches!(a.constraints[1].kind, ConstraintKind::Default(_)));
        assert!(matches!(a.constraints[2].kind, ConstraintKind::NotNull));
        let TableElement::Column(c) = &table.elements[2] else { panic!() };
        assert_eq!((c.constraints[0].deferrable, c.constraints[0].initially_deferred), (Some(true), Some(true)));
    }

    #[test]
    fn forms_are_read() {
        for sql in [
            "CREATE TABLE t ()",
            "CREATE TABLE t (a, b) AS SELECT 1, 2 WITH NO DATA",
            "CREATE MATERIALIZED VIEW m AS SELECT 1 WITH DATA",
            "CREATE OR REPLACE VIEW v (x) AS SELECT 1 WITH LOCAL CHECK OPTION",
            "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON t USING btree (a DESC NULLS LAST, lower(b), (c + 1)) INCLUDE (d) WHERE e > 0",
            "CREATE INDEX ON t (a text_pattern_ops)",
            "ALTER TABLE t ADD stock integer DEFAULT 7, ADD COLUMN active boolean NOT NULL DEFAULT true",
            "ALTER TABLE ONLY t ALTER c TYPE int USING c::int, ALTER COLUMN d SET DATA TYPE text",
            "ALTER TABLE t ADD CONSTRAINT x FOREIGN KEY (a) REFERENCES o NOT VALID, DROP CONSTRAINT IF EXISTS y CASCADE",
            "ALTER SEQUENCE s RESTART WITH 5 OWNED BY t.a",
            "ALTER TABLE t ALTER COLUMN a ADD GENERATED ALWAYS AS IDENTITY",
            "DROP TABLE IF EXISTS a, b.c CASCADE",
            "TRUNCATE a, ONLY b RESTART IDENTITY CASCADE",
            "COMMENT ON COLUMN a.b IS 'it''s'",
            "REINDEX TABLE CONCURRENTLY t",
            "REFRESH MATERIALIZED VIEW m",
            "GRANT ALL ON t TO u",
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'x'",
            "CREATE SCHEMA s CREATE TABLE t (a int) CREATE VIEW v AS SELECT 1",
        ] {
            ddl(sql);
        }
        let Ddl::Alter { actions, .. } = ddl("ALTER TABLE t RENAME a TO b") else { panic!() };
        assert!(matches!(actions[0], AlterAction::RenameColumn { .. }));
    }

    #[test]
    fn errors_are_placed() {
        for (sql, position) in [
            ("CREATE TABLE t (a int", 22),
            ("CREATE TABLE (a int)", 14),
            ("DROP TABLE", 11),
            ("ALTER TABLE t FROB x", 15),
            ("ALTER TABLE t ADD c int, RENAME TO u", 26),
            ("ALTER TABLE t RENAME TO u, ADD c int", 26),
            ("CREATE TABLE t (a int REFERENCES o ON DELETE CASCADE ON DELETE CASCADE)", 57),
        ] {
            assert_eq!(parse_script(sql).unwrap_err().position, Some(position), "{sql}");
        }
    }
}
