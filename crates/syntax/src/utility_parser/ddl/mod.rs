//! The grammar of [`Ddl`] statements.

mod alter;
mod database;
mod drop;
mod hyperdrive;
mod index;
mod policy;
mod rights;
mod table;

use crate::ast::{self, Ident, Statement};
use crate::ddl::{CommentTarget, CreateSequence, CreateTableAs, CreateView, Ddl, ObjectKind, RowSource, SequenceOption, StorageOption};
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

impl Parser<'_> {
    /// The statement, or `None` if its first word is another's.
    pub(super) fn ddl(&mut self) -> Parse<Option<Ddl>> {
        Ok(Some(if self.keyword("create") {
            self.create()?
        } else if self.keyword("alter") {
            self.alter()?
        } else if self.keyword("drop") {
            self.drop_objects()?
        } else if self.keywords(&["undrop", "table"]) {
            self.undrop()?
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
        } else if self.keyword("grant") {
            self.grant()?
        } else if self.keyword("revoke") {
            self.revoke()?
        } else if self.keyword("reassign") {
            self.reassign_owned()?
        } else if let Some(word) = ["security", "cluster", "import", "load"].into_iter().find(|w| self.peek_keyword(0, w)) {
            self.at = self.tokens.len();
            Ddl::Unsupported(word.to_uppercase())
        } else {
            return Ok(None);
        }))
    }

    /// The kind of an object that ALTER and DROP know.
    fn kind_of_object(&mut self) -> Option<ObjectKind> {
        let kinds: [(&[&str], ObjectKind); 7] = [
            (&["foreign", "table"], ObjectKind::ForeignTable),
            (&["table"], ObjectKind::Table),
            (&["view"], ObjectKind::View),
            (&["materialized", "view"], ObjectKind::MaterializedView),
            (&["index"], ObjectKind::Index),
            (&["sequence"], ObjectKind::Sequence),
            (&["schema"], ObjectKind::Schema),
        ];
        kinds.into_iter().find(|(words, _)| self.keywords(words)).map(|(_, kind)| kind)
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
        if self.peek_keyword(0, "external") && self.peek_keyword(1, "table") {
            self.at += 2;
            return self.create_table(temporary, true);
        }
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
            return self.create_table(temporary, false);
        }
        if !temporary && !unlogged && self.keyword("database") {
            return self.create_database();
        }
        if !temporary && !unlogged && self.keywords(&["foreign", "table"]) {
            return self.create_foreign_table();
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
            self.tablespace()?;
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
        if let Some(word) = self.role_word() {
            return self.create_role(word);
        }
        if self.keyword("policy") {
            return self.create_policy();
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
        let owner = if self.keyword("authorization") { Some(self.role_ref()?) } else { None };
        let mut elements = Vec::new();
        while self.peek_keyword(0, "create") {
            self.at += 1;
            elements.push(self.create()?);
        }
        Ok(Ddl::CreateSchema { name, owner, if_not_exists, elements })
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
        if self.keyword("role") {
            return self.comment_on_role();
        }
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
        } else if self.keyword("policy") {
            let name = self.name()?;
            self.expect("on")?;
            CommentTarget::Policy { name, table: self.object_name()? }
        } else if self.keyword("database") {
            return self.comment_on_database();
        } else if self.keywords(&["large", "object"]) {
            CommentTarget::LargeObject(self.large_object()?)
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

    // Pieces.

    /// The number of a large object.
    fn large_object(&mut self) -> Parse<String> {
        let sign = if self.token(&Token::Minus) { "-" } else { "" };
        if sign.is_empty() {
            self.token(&Token::Plus);
        }
        let Some(Token::Number(number, _)) = self.peek(0) else { return Err(self.unexpected()) };
        let number = format!("{sign}{number}");
        self.at += 1;
        Ok(number)
    }

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
