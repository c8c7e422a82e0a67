//! What Hyperdrive's scripts say beside PostgreSQL's grammar, where it means nothing else there: how a table is stored and partitioned,
//! external tables, copies of definitions, comments, partitions that are dropped, DESCRIBE and what SHOW lists.
//!
//! Invariant: all of it becomes statements that others could write; nothing behind the parser knows of Hyperdrive.

use super::table::new_table;
use crate::ast::{self, DataType, Expr, Ident, ObjectName};
use crate::ddl::{
    Column, Constraint, ConstraintKind, CreateTable, Ddl, Family, IndexElement, KeyColumns, Split, StorageOption, TableElement,
};
use crate::error::SyntaxError;
use crate::grammar::{Parse, Parser};
use sqlparser::tokenizer::Token;

/// Where rows take the place of those with their key.
const OVERWRITE: &str = "overwrite";

impl Parser<'_> {
    /// CREATE TABLE t LIKE other: all that the other one has.
    pub(super) fn hyperdrive_like(&mut self, name: ObjectName, if_not_exists: bool, temporary: bool, external: bool) -> Parse<Ddl> {
        let place = self.span().start;
        let other = TableElement::Like { name: self.object_name()?, options: vec![(true, "all".into())] };
        if external {
            return Err(SyntaxError::unsupported(self.sql, "external tables are not made LIKE others", place)
                .with_hint("SHOW CREATE TABLE gives the statement that makes one."));
        }
        Ok(Ddl::CreateTable(new_table(name, temporary, if_not_exists, vec![other])))
    }

    /// COMMENT '…', PARTITIONED BY (…), STORED AS HYPERDRIVE, STORED BY '…' WITH SERDEPROPERTIES (…), TBLPROPERTIES (…), behind the columns of a table. The
    /// first column is the key, behind the columns that partition the table, unless there is a key; INSERT writes over rows. An external
    /// table is a foreign one, over a raw table.
    pub(super) fn hyperdrive_storage(&mut self, table: &mut CreateTable, external: bool) -> Parse<()> {
        let place = self.span().start;
        let comment = if self.keyword("comment") { Some(self.quoted()?) } else { None };
        let partitions = if self.keywords(&["partitioned", "by"]) {
            self.expect_token(&Token::LParen)?;
            let columns = self.list(Self::column)?;
            self.expect_token(&Token::RParen)?;
            columns
        } else {
            Vec::new()
        };
        if !self.peek_keyword(0, "stored") && !external && partitions.is_empty() && comment.is_none() {
            return Ok(());
        }
        self.expect("stored")?;
        if external && !partitions.is_empty() {
            return Err(SyntaxError::unsupported(self.sql, "external tables are not partitioned", place)
                .with_hint("Their keys are those of the raw table."));
        }
        table.comment = comment;
        table.elements.iter_mut().for_each(|element| {
            if let TableElement::Column(column) = element {
                column.data_type = of_four_bytes(std::mem::replace(&mut column.data_type, DataType::Real));
            }
        });
        if self.keyword("by") {
            self.string()?;
        } else {
            self.expect("as")?;
            self.expect("hyperdrive")?;
        }
        let mut raw = external.then(|| vec![StorageOption { name: "format".into(), value: Some("text".into()) }]);
        if self.peek_keyword(0, "with") && self.peek_keyword(1, "serdeproperties") {
            self.at += 2;
            for (name, value) in self.properties()? {
                match (name.as_str(), &mut raw) {
                    ("hbase.columns.mapping", None) => self.map_columns(table, &value)?,
                    ("hbase.columns.mapping", Some(_)) => self.map_cells(table, &value)?,
                    _ => return Err(self.unknown_property(&name)),
                }
            }
        }
        if self.keyword("tblproperties") {
            for (name, value) in self.properties()? {
                match name.as_str() {
                    "hbase.table.name" if external => {
                        raw.get_or_insert_default().push(StorageOption { name: "table".into(), value: Some(value) });
                    }
                    "hbase.table.name" if table.name.0.last().is_some_and(|part| part.to_string() == value) => {}
                    "hbase.table.splitkey" if !external => {
                        let text = |key: &str| vec![Expr::Value(ast::Value::SingleQuotedString(unquoted(key).to_owned()).into())];
                        table.split = Some(Split::At(value.split(',').map(text).collect()));
                    }
                    _ => return Err(self.unknown_property(&name)),
                }
            }
        }
        if external {
            table.foreign = raw;
            return Ok(());
        }
        if partitions.is_empty() {
            self.key_of_first_column(table)?
        } else {
            self.key_of_partitions(table, partitions)?
        }
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

    pub(super) fn quoted(&mut self) -> Parse<String> {
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

    /// `:key,f:a,g:b#b`: the cell of each column, as text or, behind `#b`, as HBase's bytes.
    fn map_cells(&mut self, table: &mut CreateTable, mapping: &str) -> Parse<()> {
        let place = self.span().start;
        let wrong = || {
            SyntaxError::at(self.sql, "hbase.columns.mapping names :key for the first column, and family:qualifier for each other", place)
        };
        let mut places = mapping.split(',').map(str::trim);
        for (at, element) in table.elements.iter_mut().enumerate() {
            let TableElement::Column(column) = element else { continue };
            let (cell, form) = places.next().map(|place| place.split_once('#').unwrap_or((place, "s"))).ok_or_else(wrong)?;
            let format = match form {
                "b" | "binary" => "bytes",
                "s" | "string" | "-" => "text",
                _ => return Err(wrong()),
            };
            if (at == 0) != (cell == ":key") || (at > 0 && !cell.contains(':')) {
                return Err(wrong());
            }
            if at > 0 {
                column.options.push(StorageOption { name: "column".into(), value: Some(cell.to_owned()) });
            }
            column.options.push(StorageOption { name: "format".into(), value: Some(format.into()) });
        }
        if places.next().is_some() { Err(wrong()) } else { Ok(()) }
    }

    /// The columns of PARTITIONED BY, which are the table's last, and lead its key: a partition is a range of keys.
    fn key_of_partitions(&mut self, table: &mut CreateTable, partitions: Vec<Column>) -> Parse<()> {
        let position = self.position();
        let first = table.elements.iter().find_map(|e| if let TableElement::Column(column) = e { Some(column.name.clone()) } else { None });
        let keyed = table.elements.iter().any(|element| match element {
            TableElement::Column(column) => column.constraints.iter().any(|c| matches!(c.kind, ConstraintKind::PrimaryKey(_))),
            TableElement::Constraint(constraint) => matches!(constraint.kind, ConstraintKind::PrimaryKey(_)),
            _ => false,
        });
        if keyed {
            let place = self.span().start;
            return Err(SyntaxError::unsupported(self.sql, "PRIMARY KEY beside PARTITIONED BY is not supported", place)
                .with_hint("The key is the columns of PARTITIONED BY, and the first column behind them. Or leave PARTITIONED BY out."));
        }
        let part = |name: Ident| IndexElement {
            expr: Expr::Identifier(name),
            descending: false,
            nulls_first: None,
            operator_class: None,
            segment: false,
        };
        let columns = partitions.iter().map(|c| c.name.clone()).chain(first).map(part).collect();
        table.elements.extend(partitions.into_iter().map(TableElement::Column));
        table.elements.push(TableElement::Constraint(primary_key(KeyColumns { columns, ..KeyColumns::default() }, position)));
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
            column.constraints.push(primary_key(KeyColumns::default(), position));
        }
        Ok(())
    }

    /// DESCRIBE, SHOW CREATE TABLE, SHOW TABLES and SHOW DATABASES, and ALTER TABLE … DROP PARTITION, as the statement that does it.
    pub(crate) fn describing(&mut self) -> Parse<Option<String>> {
        let start = self.at;
        let said = if self.keywords(&["show", "create", "table"]) {
            let name = self.quoted_name()?;
            Some(format!("SELECT pg_catalog.stoa_get_tabledef({name}) AS createtab_stmt"))
        } else if self.keywords(&["show", "tables"]) {
            Some(self.shown_tables()?)
        } else if self.keywords(&["show", "databases"]) {
            Some("SELECT datname AS database_name FROM pg_catalog.pg_database WHERE NOT datistemplate ORDER BY datname".to_owned())
        } else if self.keywords(&["show", "columns"]) {
            if !self.keyword("in") {
                self.expect("from")?;
            }
            let name = self.quoted_name()?;
            Some(columns_of(&name))
        } else if self.keywords(&["show", "indexes"]) || self.keywords(&["show", "index"]) {
            if !(self.keyword("from") || self.keyword("in")) {
                self.expect("on")?;
            }
            let name = self.quoted_name()?;
            Some(indexes_of(&name))
        } else if self.peek_keyword(0, "use") && matches!(self.peek(1), Some(Token::Word(_))) && self.tokens.len() == self.at + 2 {
            return Err(self.unsupported("USE is not supported").with_hint(
                "A connection is to one database, which \\c of psql changes. SET search_path names the schema of names without one.",
            ));
        } else if self.keywords(&["show", "partitions"]) {
            self.at = start;
            return Err(self
                .unsupported("SHOW PARTITIONS is not supported")
                .with_hint("SELECT DISTINCT the partition's column FROM the table."));
        } else if self.peek_keyword(0, "describe") || (self.peek_keyword(0, "desc") && matches!(self.peek(1), Some(Token::Word(_)))) {
            self.at += 1;
            let whole = self.keyword("formatted") || self.keyword("extended");
            let name = self.quoted_name()?;
            Some(if whole { described(&name) } else { columns_of(&name) })
        } else if self.keywords(&["alter", "table"]) {
            self.dropped_partition()?
        } else {
            None
        };
        if said.is_none() {
            self.at = start;
        } else if self.at < self.tokens.len() {
            return Err(self.unexpected());
        }
        Ok(said)
    }

    /// The name of a relation, as a literal that is its OID.
    fn quoted_name(&mut self) -> Parse<String> {
        let first = self.at;
        self.object_name()?;
        Ok(format!("'{}'::pg_catalog.regclass", self.text_from(first).replace('\'', "''")))
    }

    /// `[IN schema] [[LIKE] 'pattern']`: of the pattern `*` stands for any characters, and `|` parts several.
    fn shown_tables(&mut self) -> Parse<String> {
        let schema = if self.keyword("in") || self.keyword("from") {
            let schema = self.name()?;
            format!("n.nspname = '{}'", schema.replace('\'', "''"))
        } else {
            "pg_catalog.pg_table_is_visible(c.oid) AND n.nspname NOT IN ('pg_catalog', 'information_schema')".to_owned()
        };
        let like = self.keyword("like");
        let pattern = if like || self.at < self.tokens.len() {
            let mut pattern = String::new();
            for c in self.string()?.chars() {
                match c {
                    '*' => pattern.push_str(".*"),
                    '|' => pattern.push('|'),
                    c if c.is_alphanumeric() || c == '_' => pattern.push(c),
                    c => pattern.extend(['\\', c]),
                }
            }
            format!(" AND c.relname ~ '^({})$'", pattern.replace('\'', "''"))
        } else {
            String::new()
        };
        Ok(format!(
            "SELECT c.relname AS tab_name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND {schema}{pattern} ORDER BY c.relname"
        ))
    }

    /// Behind ALTER TABLE: `t DROP [IF EXISTS] PARTITION (c = 'x')`, whose rows go.
    fn dropped_partition(&mut self) -> Parse<Option<String>> {
        let first = self.at;
        if self.object_name().is_err() {
            return Ok(None);
        }
        let name = self.text_from(first);
        if !self.keyword("drop") {
            return Ok(None);
        }
        self.keywords(&["if", "exists"]);
        if !self.keyword("partition") || !self.token(&Token::LParen) {
            return Ok(None);
        }
        let conditions = self.list(|p| {
            let first = p.at;
            p.expr()?;
            Ok(format!("({})", p.text_from(first)))
        })?;
        self.expect_token(&Token::RParen)?;
        Ok(Some(format!("DELETE FROM {name} WHERE {}", conditions.join(" AND "))))
    }
}

/// A type of Hyperdrive's: a FLOAT has 4 bytes.
pub(super) fn of_four_bytes(data_type: DataType) -> DataType {
    let boxed = |inner: Box<DataType>| Box::new(of_four_bytes(*inner));
    match data_type {
        DataType::Float(ast::ExactNumberInfo::None) => DataType::Real,
        DataType::Array(ast::ArrayElemTypeDef::SquareBracket(of, size)) => {
            DataType::Array(ast::ArrayElemTypeDef::SquareBracket(boxed(of), size))
        }
        DataType::Map(key, value) => DataType::Map(boxed(key), boxed(value)),
        DataType::Struct(fields, brackets) => {
            let field = |field: ast::StructField| ast::StructField { field_type: of_four_bytes(field.field_type), ..field };
            DataType::Struct(fields.into_iter().map(field).collect(), brackets)
        }
        other => other,
    }
}

/// A split point without the quotes that it may stand in.
fn unquoted(key: &str) -> &str {
    let key = key.trim();
    let within = |quote: char| key.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(key)
}

/// The indexes of a relation, and their definitions.
fn indexes_of(name: &str) -> String {
    format!(
        "SELECT c.relname AS idx_name, t.relname AS tab_name, a.amname AS idx_type, i.indisunique AS is_unique, \
         pg_catalog.pg_get_indexdef(i.indexrelid) AS definition, pg_catalog.obj_description(c.oid, 'pg_class') AS comment \
         FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_class t ON t.oid = i.indrelid \
         JOIN pg_catalog.pg_am a ON a.oid = c.relam WHERE i.indrelid = {name} ORDER BY c.relname"
    )
}

/// The columns of a relation.
fn columns_of(name: &str) -> String {
    format!(
        "SELECT a.attname AS col_name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS data_type, \
         pg_catalog.col_description(a.attrelid, a.attnum::integer) AS comment FROM pg_catalog.pg_attribute a \
         WHERE a.attrelid = {name} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    )
}

/// The columns, then what else is known: whose it is, and the lines of its definition with families, salt, splits and indexes.
fn described(name: &str) -> String {
    let columns = columns_of(name);
    format!(
        "WITH told AS (SELECT c.oid, n.nspname, pg_catalog.pg_get_userbyid(c.relowner) AS owner, c.relkind, \
         CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(c.oid) ELSE pg_catalog.stoa_get_tabledef(c.oid) END AS definition \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = {name}) \
         SELECT d.col_name, d.data_type, d.comment FROM ( \
         SELECT 0 AS part, pg_catalog.row_number() OVER () AS line, a.col_name::text, a.data_type, a.comment FROM ({columns}) a \
         UNION ALL SELECT 1, v.line, v.col_name, v.data_type, NULL FROM told, LATERAL (VALUES (1, '', NULL), \
         (2, '# Detailed Table Information', NULL), (3, 'Database:', nspname::text), (4, 'Owner:', owner::text), \
         (5, 'Table Type:', CASE relkind WHEN 'r' THEN 'MANAGED_TABLE' WHEN 'f' THEN 'EXTERNAL_TABLE' WHEN 'v' THEN 'VIRTUAL_VIEW' \
         ELSE relkind::text END)) v (line, col_name, data_type) \
         UNION ALL SELECT 2, w.line, CASE w.line WHEN 1 THEN 'Definition:' ELSE '' END, w.data_type, NULL \
         FROM told, pg_catalog.unnest(pg_catalog.string_to_array(definition, E'\\n')) WITH ORDINALITY w (data_type, line)) d \
         ORDER BY d.part, d.line"
    )
}

/// A primary key that a clause of Hyperdrive's implies.
fn primary_key(columns: KeyColumns, position: usize) -> Constraint {
    Constraint {
        name: None,
        kind: ConstraintKind::PrimaryKey(columns),
        deferrable: None,
        initially_deferred: None,
        not_valid: false,
        no_inherit: false,
        position,
    }
}
