//! The grammar of statements about databases.

use crate::database::{DatabaseOption, DatabaseStatement, OptionValue};
use crate::ddl::Ddl;
use crate::grammar::{Parse, Parser};
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    /// Behind CREATE DATABASE.
    pub(super) fn create_database(&mut self) -> Parse<Ddl> {
        let name = self.database_name()?;
        self.keyword("with");
        Ok(Ddl::Database(DatabaseStatement::Create { name, options: self.database_options()? }))
    }

    /// Behind ALTER DATABASE.
    pub(super) fn alter_database(&mut self) -> Parse<Ddl> {
        let name = self.database_name()?;
        Ok(Ddl::Database(if self.keywords(&["owner", "to"]) {
            DatabaseStatement::Owner { name, owner: self.role_ref()? }
        } else if self.keywords(&["rename", "to"]) {
            DatabaseStatement::Rename { name, new: self.database_name()? }
        } else if self.keywords(&["set", "tablespace"]) {
            DatabaseStatement::Tablespace { name, tablespace: self.name()? }
        } else if self.keywords(&["refresh", "collation", "version"]) {
            DatabaseStatement::RefreshCollationVersion { name }
        } else if self.peek_keyword(0, "set") || self.peek_keyword(0, "reset") {
            DatabaseStatement::Settings { name, change: self.setting_change()? }
        } else {
            self.keyword("with");
            DatabaseStatement::Alter { name, options: self.database_options()? }
        }))
    }

    /// Behind DROP DATABASE.
    pub(super) fn drop_database(&mut self) -> Parse<Ddl> {
        let if_exists = self.if_exists()?;
        let name = self.database_name()?;
        let with = self.keyword("with");
        let mut force = false;
        if with || self.peek(0) == Some(&Token::LParen) {
            self.expect_token(&Token::LParen)?;
            loop {
                self.expect("force")?;
                force = true;
                if !self.token(&Token::Comma) {
                    break;
                }
            }
            self.expect_token(&Token::RParen)?;
        }
        Ok(Ddl::Database(DatabaseStatement::Drop { name, if_exists, force }))
    }

    /// Behind COMMENT ON DATABASE.
    pub(super) fn comment_on_database(&mut self) -> Parse<Ddl> {
        let name = self.database_name()?;
        self.expect("is")?;
        let text = if self.keyword("null") { None } else { Some(self.string()?) };
        Ok(Ddl::Database(DatabaseStatement::Comment { name, text }))
    }

    /// One word: databases are in nothing else.
    fn database_name(&mut self) -> Parse<String> {
        if self.is_column_id(0) { self.name() } else { Err(self.unexpected()) }
    }

    fn database_options(&mut self) -> Parse<Vec<DatabaseOption>> {
        let mut out = Vec::new();
        while self.at < self.tokens.len() {
            let name = if self.keywords(&["connection", "limit"]) { "connection_limit".to_owned() } else { self.database_name()? };
            self.token(&Token::Eq);
            let value = match self.peek(0) {
                _ if self.keyword("default") => OptionValue::Default,
                Some(Token::Number(..) | Token::Minus | Token::Plus) => OptionValue::Integer(self.signed_integer()?),
                Some(Token::Word(_)) => OptionValue::Text(self.name()?),
                _ => OptionValue::Text(self.string()?),
            };
            out.push(DatabaseOption { name, value });
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::script::{Body, parse_script};
    use crate::utility::Utility;

    fn statement(sql: &str) -> DatabaseStatement {
        match parse_script(sql).map_err(|e| format!("{sql}: {e}")).unwrap().remove(0).body {
            Body::Utility(utility) => match *utility {
                Utility::Ddl(ddl) => match *ddl {
                    Ddl::Database(statement) => statement,
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            },
            Body::Sql(other) => panic!("{other}"),
        }
    }

    #[test]
    fn forms_are_read() {
        let create =
            statement("CREATE DATABASE \"A\" WITH OWNER = b TEMPLATE template0 ENCODING 'UTF8' CONNECTION LIMIT -1 is_template=DEFAULT");
        let DatabaseStatement::Create { name, options } = create else { panic!("{create:?}") };
        let option = |name: &str, value: OptionValue| DatabaseOption { name: name.into(), value };
        assert_eq!(name, "A");
        assert_eq!(
            options,
            [
                option("owner", OptionValue::Text("b".into())),
                option("template", OptionValue::Text("template0".into())),
                option("encoding", OptionValue::Text("UTF8".into())),
                option("connection_limit", OptionValue::Integer(-1)),
                option("is_template", OptionValue::Default),
            ]
        );
        for (sql, force) in
            [("DROP DATABASE a", false), ("DROP DATABASE IF EXISTS a WITH (FORCE)", true), ("DROP DATABASE a (force, force)", true)]
        {
            assert!(matches!(statement(sql), DatabaseStatement::Drop { force: f, .. } if f == force), "{sql}");
        }
        for sql in [
            "ALTER DATABASE a RENAME TO b",
            "ALTER DATABASE a OWNER TO current_user",
            "ALTER DATABASE a SET work_mem = 1",
            "ALTER DATABASE a SET TABLESPACE pg_default",
            "ALTER DATABASE a RESET ALL",
            "ALTER DATABASE a WITH ALLOW_CONNECTIONS false",
            "ALTER DATABASE a",
            "ALTER DATABASE a REFRESH COLLATION VERSION",
            "COMMENT ON DATABASE a IS NULL",
        ] {
            statement(sql);
        }
        for sql in
            ["CREATE DATABASE a.b", "DROP DATABASE a, b", "DROP DATABASE a CASCADE", "DROP DATABASE a WITH", "CREATE DATABASE a OWNER ="]
        {
            assert!(parse_script(sql).is_err(), "{sql}");
        }
    }
}
