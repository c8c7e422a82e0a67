//! DROP.

use crate::ddl::{Ddl, DroppedName, ObjectKind};
use crate::grammar::{Parse, Parser};
use sqlparser::tokenizer::Token;

impl Parser<'_> {
    pub(super) fn drop_objects(&mut self) -> Parse<Ddl> {
        if self.keywords(&["fulltext", "index"]) {
            let if_exists = self.if_exists()?;
            self.expect("on")?;
            return Ok(Ddl::DropFullText { table: self.object_name()?, if_exists });
        }
        if self.role_word().is_some() {
            return self.drop_roles();
        }
        if self.keyword("owned") {
            return self.drop_owned();
        }
        if self.keyword("policy") {
            return self.drop_policy();
        }
        if self.keyword("database") {
            return self.drop_database();
        }
        let Some(kind) = self.kind_of_object() else { return self.drop_unknown() };
        let concurrently = kind == ObjectKind::Index && self.keyword("concurrently");
        let if_exists = self.if_exists()?;
        let names = self.object_names()?;
        let on = if kind == ObjectKind::Index && names.len() == 1 && self.keyword("on") { Some(self.object_name()?) } else { None };
        let cascade = self.cascade();
        let purge = matches!(kind, ObjectKind::Table | ObjectKind::Schema) && self.keyword("purge");
        Ok(Ddl::Drop { kind, names, on, if_exists, cascade, concurrently, purge })
    }

    /// UNDROP TABLE, behind these words.
    pub(super) fn undrop(&mut self) -> Parse<Ddl> {
        let table = match self.peek(0) {
            Some(Token::Number(digits, false)) => {
                let Ok(oid) = digits.parse() else { return Err(self.unexpected()) };
                self.at += 1;
                DroppedName::Oid(oid)
            }
            _ => DroppedName::Name(self.object_name()?),
        };
        let rename = if self.keywords(&["rename", "to"]) { Some(self.ident()?) } else { None };
        Ok(Ddl::Undrop { table, rename })
    }

    /// DROP of kinds of objects that there are none of: they are not found.
    fn drop_unknown(&mut self) -> Parse<Ddl> {
        const KINDS: [&str; 22] = [
            "type",
            "domain",
            "function",
            "procedure",
            "routine",
            "aggregate",
            "trigger",
            "rule",
            "extension",
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
            let table = if matches!(kind, "trigger" | "rule") {
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
}

fn table_less(kind: &str) -> bool {
    !matches!(kind, "trigger" | "rule")
}
