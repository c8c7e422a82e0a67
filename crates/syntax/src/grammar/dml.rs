//! INSERT, UPSERT, UPDATE, DELETE, MERGE.

use super::from::table_factor;
use super::{Parse, Parser};
use crate::ast::{self, Expr, Ident, ObjectName, SetExpr, Statement, TableWithJoins};
use crate::marks;
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::tokenizer::Token;

/// A change of data as the body of a query, as WITH needs it.
pub(super) fn as_set_expr(statement: Statement) -> SetExpr {
    match &statement {
        Statement::Update(_) => SetExpr::Update(statement),
        Statement::Delete(_) => SetExpr::Delete(statement),
        Statement::Merge(_) => SetExpr::Merge(statement),
        _ => SetExpr::Insert(statement),
    }
}

impl Parser<'_> {
    /// INSERT, UPSERT, UPDATE, DELETE or MERGE.
    pub(super) fn change(&mut self) -> Parse<Statement> {
        let start = self.at;
        if self.keyword("insert") {
            return self.insert(start, false);
        }
        if self.keyword("upsert") {
            return self.insert(start, true);
        }
        if self.keyword("batchinsert") {
            return self.insert(start, false);
        }
        if self.keyword("update") {
            return self.update(start);
        }
        if self.keyword("delete") {
            return self.delete(start);
        }
        self.expect("merge")?;
        self.merge(start)
    }

    fn returning(&mut self) -> Parse<Option<Vec<ast::SelectItem>>> {
        if self.keyword("returning") { self.select_list().map(Some) } else { Ok(None) }
    }

    /// Versions have the times of commits.
    fn refuse_timestamp(&self) -> Parse<()> {
        if !(self.peek_keyword(0, "using") && self.peek_keyword(1, "timestamp")) {
            return Ok(());
        }
        Err(self.unsupported("USING TIMESTAMP is not supported").with_hint(
            "A value has the time of its commit. CREATE TABLE … TIMESTAMP FROM column lets UPSERT replace no row by one whose time is older.",
        ))
    }

    fn overriding(&mut self) -> Parse<Option<ObjectName>> {
        if !self.keyword("overriding") {
            return Ok(None);
        }
        let what = if self.keyword("user") {
            "user"
        } else {
            self.expect("system")?;
            "system"
        };
        self.expect("value")?;
        Ok(Some(ObjectName(vec![marks::part(marks::OVERRIDING, vec![Expr::Identifier(Ident::new(what))])])))
    }

    fn insert(&mut self, start: usize, replace_into: bool) -> Parse<Statement> {
        if self.peek_keyword(0, "overwrite") && (self.peek_keyword(1, "table") || self.peek_keyword(1, "into")) {
            return Err(self.unsupported("INSERT OVERWRITE is not supported").with_hint(
                "BEGIN; DELETE FROM t; INSERT INTO t …; COMMIT does the same at once. INSERT into a table STORED AS HYPERDRIVE writes over rows of \
                 the same key.",
            ));
        }
        self.expect("into")?;
        // Hyperdrive says INSERT INTO TABLE.
        self.keyword("table");
        let table = self.object_name()?;
        let table_alias =
            if self.keyword("as") { Some(ast::TableAliasWithoutColumns { explicit: true, alias: self.ident()? }) } else { None };
        let partition = self.partition()?;
        let mut columns = Vec::new();
        if self.peek(0) == Some(&Token::LParen) && !self.query_in_parens(0) {
            self.at += 1;
            columns = self.list(Self::inserted_column)?;
            self.expect_token(&Token::RParen)?;
        }
        self.refuse_timestamp()?;
        columns.extend(self.overriding()?);
        // DEFAULT VALUES is for all columns: none is named before it.
        let source = if columns.is_empty() && self.keywords(&["default", "values"]) {
            None
        } else if self.keyword("batchvalues") {
            Some(Box::new(self.batch_values()?))
        } else {
            if !(self.peek(0) == Some(&Token::LParen) || self.peek_any(0, &["select", "values", "with", "table"])) {
                return Err(self.unexpected());
            }
            Some(self.query()?)
        };
        self.refuse_timestamp()?;
        let mut source = source;
        let partitioned = self.partitioned(partition, &mut columns, source.as_deref_mut())?;
        let on = if !replace_into && self.keyword("on") { Some(ast::OnInsert::OnConflict(self.on_conflict()?)) } else { None };
        let returning = self.returning()?;
        Ok(Statement::Insert(ast::Insert {
            insert_token: self.attached(start),
            optimizer_hints: self.hints_behind(start),
            or: None,
            ignore: false,
            into: true,
            table: ast::TableObject::TableName(table),
            table_alias,
            columns,
            overwrite: false,
            source,
            assignments: Vec::new(),
            partitioned,
            after_columns: Vec::new(),
            has_table_keyword: false,
            on,
            returning,
            output: None,
            replace_into,
            priority: None,
            insert_alias: None,
            settings: None,
            format_clause: None,
            multi_table_insert_type: None,
            multi_table_into_clauses: Vec::new(),
            multi_table_when_clauses: Vec::new(),
            multi_table_else_clause: None,
        }))
    }

    /// Hyperdrive's `PARTITION (c = 'x', d)` of INSERT: columns with the values that they have in all rows, or none.
    #[allow(clippy::type_complexity)] // columns and their values
    fn partition(&mut self) -> Parse<Vec<(Ident, Option<Expr>)>> {
        if !(self.peek_keyword(0, "partition") && self.peek(1) == Some(&Token::LParen)) {
            return Ok(Vec::new());
        }
        self.at += 2;
        let columns = self.list(|p| {
            let name = p.ident()?;
            Ok((name, if p.token(&Token::Eq) { Some(p.expr()?) } else { None }))
        })?;
        self.expect_token(&Token::RParen)?;
        Ok(columns)
    }

    /// Puts the values of PARTITION behind those that the rows of an INSERT have. Gives the columns that the last values are for, unless they
    /// are named among `columns`.
    fn partitioned(
        &self,
        partition: Vec<(Ident, Option<Expr>)>,
        columns: &mut Vec<ObjectName>,
        source: Option<&mut ast::Query>,
    ) -> Parse<Option<Vec<Expr>>> {
        if partition.is_empty() {
            return Ok(None);
        }
        let (given, own): (Vec<_>, Vec<_>) = partition.into_iter().partition(|(_, value)| value.is_some());
        let names: Vec<Ident> = own.iter().chain(&given).map(|(name, _)| name.clone()).collect();
        let values: Vec<Expr> = given.into_iter().filter_map(|(_, value)| value).collect();
        match source.map(|query| &mut *query.body) {
            Some(SetExpr::Values(rows)) => rows.rows.iter_mut().for_each(|row| row.content.extend(values.iter().cloned())),
            Some(SetExpr::Select(select)) if select.distinct.is_none() => {
                select.projection.extend(values.into_iter().map(ast::SelectItem::UnnamedExpr));
            }
            _ if values.is_empty() => {}
            _ => {
                return Err(self
                    .unsupported("PARTITION with values beside such a query is not supported")
                    .with_hint("Put the query into FROM (…), or name the columns and give the values."));
            }
        }
        if columns.is_empty() {
            return Ok(Some(names.into_iter().map(Expr::Identifier).collect()));
        }
        columns.extend(names.into_iter().map(ObjectName::from));
        Ok(None)
    }

    /// Hyperdrive's `BATCHVALUES (VALUES (…), VALUES (…))`: the rows of one VALUES.
    fn batch_values(&mut self) -> Parse<ast::Query> {
        self.expect_token(&Token::LParen)?;
        let rows = self.list(|parser| {
            parser.expect("values")?;
            parser.values_row()
        })?;
        self.expect_token(&Token::RParen)?;
        Ok(super::select::plain_query(SetExpr::Values(ast::Values { explicit_row: false, value_keyword: false, rows })))
    }

    /// A column with what it is subscripted by: `a`, `a[1]`, `a.b`.
    fn target_column(&mut self) -> Parse<ObjectName> {
        let mut parts = vec![self.ident()?];
        while self.token(&Token::Period) {
            parts.push(self.label()?);
        }
        let mut access_chain = Vec::new();
        while self.peek(0) == Some(&Token::LBracket) {
            access_chain.push(ast::AccessExpr::Subscript(self.subscript()?));
        }
        let column = parts.last().cloned();
        let mut name = ObjectName::from(parts);
        if let Some(column) = column.filter(|_| !access_chain.is_empty()) {
            let root = Box::new(Expr::Identifier(column));
            name.0.push(marks::part(marks::SUBSCRIPTS, vec![Expr::CompoundFieldAccess { root, access_chain }]));
        }
        Ok(name)
    }

    /// A column of INSERT: with a type it is one that the table need not declare.
    fn inserted_column(&mut self) -> Parse<ObjectName> {
        let mut name = self.target_column()?;
        if name.0.len() == 1 && !matches!(self.peek(0), Some(Token::Comma | Token::RParen) | None) {
            let data_type = self.data_type()?;
            let expr = Box::new(Expr::Value(ast::Value::Null.with_empty_span()));
            let null = Expr::Cast { kind: ast::CastKind::DoubleColon, expr, data_type, array: false, format: None };
            name.0.push(marks::part(marks::TYPE, vec![null]));
        }
        Ok(name)
    }

    /// The text of the tokens from `first` up to here.
    pub(crate) fn text_from(&self, first: usize) -> String {
        let (Some(from), Some(to)) = (self.tokens.get(first), self.tokens.get(self.at.saturating_sub(1))) else { return String::new() };
        let (start, end) = (crate::char_offset(self.sql, from.span.start), crate::char_offset(self.sql, to.span.end));
        self.sql.chars().skip(start).take(end.saturating_sub(start)).collect()
    }

    fn on_conflict(&mut self) -> Parse<ast::OnConflict> {
        self.expect("conflict")?;
        let conflict_target = if self.token(&Token::LParen) {
            let columns = self.list(Self::conflict_column)?;
            self.expect_token(&Token::RParen)?;
            let mut parts = vec![marks::part(marks::COLUMNS, columns)];
            if self.keyword("where") {
                parts.push(marks::part(marks::PREDICATE, vec![self.expr()?]));
            }
            Some(ast::ConflictTarget::OnConstraint(ObjectName(parts)))
        } else if self.keyword("on") {
            self.expect("constraint")?;
            Some(ast::ConflictTarget::OnConstraint(ObjectName::from(self.ident()?)))
        } else {
            None
        };
        self.expect("do")?;
        if self.keyword("nothing") {
            return Ok(ast::OnConflict { conflict_target, action: ast::OnConflictAction::DoNothing });
        }
        self.expect("update")?;
        self.expect("set")?;
        let assignments = self.assignments()?;
        let selection = if self.keyword("where") { Some(self.expr()?) } else { None };
        Ok(ast::OnConflict { conflict_target, action: ast::OnConflictAction::DoUpdate(ast::DoUpdate { assignments, selection }) })
    }

    /// A column, a call or an expression in parentheses; what orders it says nothing here.
    fn conflict_column(&mut self) -> Parse<Expr> {
        let first = self.at;
        let plain = self.is_column_id(0) && !matches!(self.peek(1), Some(Token::LParen | Token::Period));
        let out = if plain {
            Expr::Identifier(self.ident()?)
        } else {
            let parens = self.peek(0) == Some(&Token::LParen);
            let expr = self.operand()?;
            if !parens
                && !matches!(
                    expr,
                    Expr::Function(_)
                        | Expr::Substring { .. }
                        | Expr::Trim { .. }
                        | Expr::Extract { .. }
                        | Expr::Position { .. }
                        | Expr::Overlay { .. }
                )
            {
                self.at = first;
                return Err(self.unexpected());
            }
            expr
        };
        if self.keyword("collate") {
            self.object_name()?;
        }
        if self.is_column_id(0) && !self.peek_any(0, &["asc", "desc", "nulls"]) {
            let at = self.span().start;
            let class = self.object_name()?.to_string();
            if !class.ends_with("_ops") {
                let message = format!("operator class \"{class}\" does not exist for access method \"btree\"");
                return Err(crate::SyntaxError::new(b"42704", message, Some(crate::char_offset(self.sql, at) + 1)));
            }
        }
        let at = self.span().start;
        if self.keyword("asc") || self.keyword("desc") {
            return Err(crate::SyntaxError::new(
                b"42P10",
                "ASC/DESC is not allowed in ON CONFLICT clause",
                Some(crate::char_offset(self.sql, at) + 1),
            ));
        }
        if self.nulls_first()?.is_some() {
            return Err(crate::SyntaxError::new(
                b"42P10",
                "NULLS FIRST/LAST is not allowed in ON CONFLICT clause",
                Some(crate::char_offset(self.sql, at) + 1),
            ));
        }
        Ok(out)
    }

    fn assignments(&mut self) -> Parse<Vec<ast::Assignment>> {
        self.list(|p| {
            let target = if p.token(&Token::LParen) {
                let names = p.list(Self::target_column)?;
                p.expect_token(&Token::RParen)?;
                ast::AssignmentTarget::Tuple(names)
            } else {
                ast::AssignmentTarget::ColumnName(p.target_column()?)
            };
            p.expect_token(&Token::Eq)?;
            Ok(ast::Assignment { target, value: p.expr()? })
        })
    }

    /// The table that is changed, with its alias.
    fn changed_table(&mut self) -> Parse<ast::TableFactor> {
        let name = self.relation_name()?;
        let start = self.at;
        let undeclared = match self.peek(0) {
            Some(Token::LParen) => self.undeclared_columns().map_err(|_| {
                self.at = start;
                self.unexpected()
            })?,
            _ => Vec::new(),
        };
        let explicit = self.keyword("as");
        let alias = if explicit || (self.is_column_id(0) && !self.peek_keyword(0, "set")) {
            Some(ast::TableAlias { explicit, name: self.ident()?, columns: Vec::new(), at: None })
        } else {
            None
        };
        let alias = super::alias::with_undeclared(&name, alias, undeclared);
        Ok(table_factor(name, alias))
    }

    /// WHERE condition, WHERE CURRENT OF cursor.
    fn where_or_current(&mut self) -> Parse<Option<Expr>> {
        if !self.keyword("where") {
            return Ok(None);
        }
        if self.peek_keyword(0, "current") && self.peek_keyword(1, "of") {
            self.at += 2;
            let cursor = self.ident()?;
            return Ok(Some(Expr::Function(marks::call(marks::CURRENT_OF, vec![Expr::Identifier(cursor)]))));
        }
        self.expr().map(Some)
    }

    fn update(&mut self, start: usize) -> Parse<Statement> {
        let relation = self.changed_table()?;
        self.refuse_timestamp()?;
        self.expect("set")?;
        let assignments = self.assignments()?;
        let from = if self.keyword("from") { Some(ast::UpdateTableFromKind::AfterSet(self.table_list()?)) } else { None };
        let selection = self.where_or_current()?;
        let returning = self.returning()?;
        Ok(Statement::Update(ast::Update {
            update_token: self.attached(start),
            optimizer_hints: self.hints_behind(start),
            table: TableWithJoins { relation, joins: Vec::new() },
            assignments,
            from,
            selection,
            returning,
            output: None,
            or: None,
            order_by: Vec::new(),
            limit: None,
        }))
    }

    fn delete(&mut self, start: usize) -> Parse<Statement> {
        self.expect("from")?;
        let relation = self.changed_table()?;
        let using = if self.keyword("using") { Some(self.table_list()?) } else { None };
        let selection = self.where_or_current()?;
        let returning = self.returning()?;
        Ok(Statement::Delete(ast::Delete {
            delete_token: self.attached(start),
            optimizer_hints: self.hints_behind(start),
            tables: Vec::new(),
            from: ast::FromTable::WithFromKeyword(vec![TableWithJoins { relation, joins: Vec::new() }]),
            using,
            selection,
            returning,
            output: None,
            order_by: Vec::new(),
            limit: None,
        }))
    }

    fn merge(&mut self, start: usize) -> Parse<Statement> {
        self.expect("into")?;
        let table = self.changed_table()?;
        self.expect("using")?;
        let mut sources = vec![self.table_ref()?];
        self.expect("on")?;
        let on = Box::new(self.expr()?);
        let mut clauses = Vec::new();
        while self.peek_keyword(0, "when") {
            clauses.push(self.merge_clause()?);
        }
        if clauses.is_empty() {
            return Err(self.unexpected());
        }
        let joined = sources.remove(0);
        let source = if joined.joins.is_empty() {
            joined.relation
        } else {
            ast::TableFactor::NestedJoin { table_with_joins: Box::new(joined), alias: None }
        };
        Ok(Statement::Merge(ast::Merge {
            merge_token: self.attached(start),
            optimizer_hints: Vec::new(),
            into: true,
            table,
            source,
            on,
            clauses,
            output: None,
        }))
    }

    /// DO NOTHING is an UPDATE that sets nothing, or an INSERT of a row that is not said.
    fn merge_clause(&mut self) -> Parse<ast::MergeClause> {
        let when_token = self.attached(self.at);
        self.expect("when")?;
        let matched = !self.keyword("not");
        self.expect("matched")?;
        let predicate = if self.keyword("and") { Some(self.expr()?) } else { None };
        self.expect("then")?;
        let token = self.attached(self.at);
        let none = AttachedToken::empty;
        let action = if self.keywords(&["do", "nothing"]) {
            if matched {
                ast::MergeAction::Update(ast::MergeUpdateExpr {
                    update_token: token,
                    assignments: Vec::new(),
                    update_predicate: None,
                    delete_predicate: None,
                })
            } else {
                ast::MergeAction::Insert(ast::MergeInsertExpr {
                    insert_token: token,
                    columns: Vec::new(),
                    kind_token: none(),
                    kind: ast::MergeInsertKind::Row,
                    insert_predicate: None,
                })
            }
        } else if matched && self.keyword("delete") {
            ast::MergeAction::Delete { delete_token: token }
        } else if matched {
            self.expect("update")?;
            self.expect("set")?;
            let assignments = self.assignments()?;
            ast::MergeAction::Update(ast::MergeUpdateExpr {
                update_token: token,
                assignments,
                update_predicate: None,
                delete_predicate: None,
            })
        } else {
            self.expect("insert")?;
            let mut columns = Vec::new();
            if self.token(&Token::LParen) {
                columns = self.list(Self::inserted_column)?;
                self.expect_token(&Token::RParen)?;
            }
            columns.extend(self.overriding()?);
            let rows = if columns.is_empty() && self.keywords(&["default", "values"]) {
                Vec::new()
            } else {
                self.expect("values")?;
                vec![self.values_row()?]
            };
            let kind = ast::MergeInsertKind::Values(ast::Values { explicit_row: false, value_keyword: false, rows });
            ast::MergeAction::Insert(ast::MergeInsertExpr {
                insert_token: token,
                columns,
                kind_token: none(),
                kind,
                insert_predicate: None,
            })
        };
        let clause_kind = if matched { ast::MergeClauseKind::Matched } else { ast::MergeClauseKind::NotMatched };
        Ok(ast::MergeClause { when_token, clause_kind, predicate, action })
    }
}
