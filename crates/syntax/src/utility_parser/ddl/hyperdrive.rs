//! What Hyperdrive's scripts say beside PostgreSQL's grammar, where it means nothing else there: how a table is stored, columns that are
//! added together, an index dropped by its table, DESCRIBE and SHOW CREATE TABLE.
//!
//! Invariant: all of it becomes statements that others could write; nothing behind the parser knows of Hyperdrive.

use crate::ast::{self, Expr, Ident};
use crate::ddl::{Constraint, ConstraintKind, CreateTable, Family, KeyColumns, Split, StorageOption, TableElement};
use crate::error::SyntaxError;
use crate::grammar::{Parse, Parser};
use sqlparser::tokenizer::Token;

/// Where rows take the place of those with their key.
const OVERWRITE: &str = "overwrite";

impl Parser<'_> {
    /// STORED AS HYPERDRIVE, STORED BY '…' WITH SERDEPROPERTIES (…), TBLPROPERTIES (…), behind the columns of a table. The first column
    /// is the key, unless there is one, and INSERT writes over rows.
    pub(super) fn hyperdrive_storage(&mut self, table: &mut CreateTable) -> Parse<()> {
        let place = self.span().start;
        if self.keywords(&["partitioned", "by"]) {
            return Err(SyntaxError::unsupported(self.sql, "PARTITIONED BY is not supported", place)
                .with_hint("Make a table for each partition, or put the column first in the primary key."));
        }
        if !self.keyword("stored") {
            return Ok(());
        }
        if self.keyword("by") {
            self.string()?;
        } else {
            self.expect("as")?;
            self.expect("hyperdrive")?;
        }
        if self.peek_keyword(0, "with") && self.peek_keyword(1, "serdeproperties") {
            self.at += 2;
            for (name, value) in self.properties()? {
                match name.as_str() {
                    "hbase.columns.mapping" => self.map_columns(table, &value)?,
                    _ => return Err(self.unknown_property(&name)),
                }
            }
        }
        if self.keyword("tblproperties") {
            for (name, value) in self.properties()? {
                match name.as_str() {
                    "hbase.table.name" if table.name.0.last().is_some_and(|part| part.to_string() == value) => {}
                    "hbase.table.splitkey" => {
                        let text = |key: &str| vec![Expr::Value(ast::Value::SingleQuotedString(key.trim().to_owned()).into())];
                        table.split = Some(Split::At(value.split(',').map(text).collect()));
                    }
                    _ => return Err(self.unknown_property(&name)),
                }
            }
        }
        self.key_of_first_column(table)?;
        table.options.push(StorageOption { name: OVERWRITE.into(), value: Some("true".into()) });
        Ok(())
    }

    fn unknown_property(&self, name: &str) -> SyntaxError {
        let place = self.span().start;
        SyntaxError::unsupported(self.sql, format!("property \"{name}\" is not supported"), place).with_hint(
            "hbase.columns.mapping says families, hbase.table.splitkey where a table is split, hbase.table.name the name of the table.",
        )
    }

    /// `('name' = 'value', …)`, in quotes of either kind.
    fn properties(&mut self) -> Parse<Vec<(String, String)>> {
        self.expect_token(&Token::LParen)?;
        let mut out = Vec::new();
        loop {
            let name = self.quoted()?;
            self.expect_token(&Token::Eq)?;
            out.push((name.to_lowercase(), self.quoted()?));
            if !self.token(&Token::Comma) {
                break;
            }
        }
        self.expect_token(&Token::RParen)?;
        Ok(out)
    }

    fn quoted(&mut self) -> Parse<String> {
        match self.peek(0) {
            Some(Token::Word(word)) if word.quote_style == Some('"') => {
                let value = word.value.clone();
                self.at += 1;
                Ok(value)
            }
            _ => self.string(),
        }
    }

    /// `:key,f:a,g:b`: the family of each column. Qualifiers are Stoa's own.
    fn map_columns(&mut self, table: &mut CreateTable, mapping: &str) -> Parse<()> {
        let names: Vec<Ident> = table
            .elements
            .iter()
            .filter_map(|e| if let TableElement::Column(column) = e { Some(column.name.clone()) } else { None })
            .collect();
        let places: Vec<&str> = mapping.split(',').map(str::trim).collect();
        if places.len() != names.len() || places.first() != Some(&":key") {
            let place = self.span().start;
            return Err(SyntaxError::at(
                self.sql,
                "hbase.columns.mapping names :key for the first column, and a family for each other",
                place,
            ));
        }
        let mut families: Vec<Family> = Vec::new();
        for (name, place) in names.into_iter().zip(places).skip(1) {
            let family = place.split_once(':').map_or(place, |(family, _)| family);
            match families.iter_mut().find(|f| f.name.value == family) {
                Some(own) => own.columns.push(name),
                None => families.push(Family { name: Ident::with_quote('"', family), columns: vec![name], options: Vec::new() }),
            }
        }
        table.elements.extend(families.into_iter().map(TableElement::Family));
        Ok(())
    }

    fn key_of_first_column(&mut self, table: &mut CreateTable) -> Parse<()> {
        let is_key = |c: &Constraint| matches!(c.kind, ConstraintKind::PrimaryKey(_));
        let keyed = table.elements.iter().any(|element| match element {
            TableElement::Column(column) => column.constraints.iter().any(is_key),
            TableElement::Constraint(constraint) => is_key(constraint),
            _ => false,
        });
        let position = self.position();
        let first = table.elements.iter_mut().find_map(|e| if let TableElement::Column(column) = e { Some(column) } else { None });
        if let Some(column) = first.filter(|_| !keyed) {
            column.constraints.push(Constraint {
                name: None,
                kind: ConstraintKind::PrimaryKey(KeyColumns::default()),
                deferrable: None,
                initially_deferred: None,
                not_valid: false,
                no_inherit: false,
                position,
            });
        }
        Ok(())
    }

    /// DESCRIBE t and SHOW CREATE TABLE t, as the query that answers them.
    pub(crate) fn describing(&mut self) -> Parse<Option<String>> {
        let definition = if self.peek_keyword(0, "show") && self.peek_keyword(1, "create") && self.peek_keyword(2, "table") {
            self.at += 3;
            true
        } else if self.peek_keyword(0, "describe") || (self.peek_keyword(0, "desc") && matches!(self.peek(1), Some(Token::Word(_)))) {
            self.at += 1;
            let _ = self.keyword("formatted") || self.keyword("extended");
            false
        } else {
            return Ok(None);
        };
        let first = self.at;
        self.object_name()?;
        let name = self.text_from(first).replace('\'', "''");
        if self.at < self.tokens.len() {
            return Err(self.unexpected());
        }
        Ok(Some(if definition {
            format!("SELECT pg_catalog.stoa_get_tabledef('{name}'::pg_catalog.regclass) AS createtab_stmt")
        } else {
            format!(
                "SELECT a.attname AS col_name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS data_type, \
                 pg_catalog.col_description(a.attrelid, a.attnum::integer) AS comment FROM pg_catalog.pg_attribute a \
                 WHERE a.attrelid = '{name}'::pg_catalog.regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
            )
        }))
    }
}
