//! The relations of `pg_catalog` and `information_schema`: names, OIDs, kinds, columns, types and unique keys as PostgreSQL 15 has them, from
//! `definitions.tsv`: a relation a line.
//!
//! A line's fields: schema, name, OID, `relkind`, the columns (`name:type`, behind it a length or precision in parentheses, and `!` where
//! NULL is refused), and for tables the keys of their unique indexes, parted by `;`.

use std::collections::HashMap;
use std::sync::LazyLock;
use stoa_pg::types::type_by_name;
use stoa_pg::{PgType, SqlType};

/// One relation.
#[derive(Debug)]
pub struct Definition {
    pub schema: String,
    pub name: String,
    pub oid: u32,
    /// `r` or `v`, as `pg_class` has it.
    pub kind: String,
    pub columns: Vec<(String, SqlType)>,
    positions: HashMap<String, usize>,
    /// Of each column.
    pub not_null: Vec<bool>,
    /// Sets of columns of which no two rows have the same values.
    pub keys: Vec<Vec<String>>,
}

static DEFINITIONS: LazyLock<Vec<Definition>> = LazyLock::new(|| include_str!("definitions.tsv").lines().filter_map(parse).collect());

static BY_NAME: LazyLock<HashMap<(&'static str, &'static str), &'static Definition>> =
    LazyLock::new(|| DEFINITIONS.iter().map(|s| ((s.schema.as_str(), s.name.as_str()), s)).collect());

fn parse(line: &str) -> Option<Definition> {
    let mut fields = line.split('\t');
    let (schema, name, oid, kind, columns) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let keys = fields.next().map_or_else(Vec::new, |keys| keys.split(';').map(|key| key.split(',').map(str::to_owned).collect()).collect());
    let not_null = columns.split(',').map(|c| c.ends_with('!')).collect();
    let columns: Vec<(String, SqlType)> = columns
        .split(',')
        .filter_map(|c| {
            let (name, ty) = c.trim_end_matches('!').split_once(':')?;
            let (ty, length) = match ty.strip_suffix(')').and_then(|ty| ty.split_once('(')) {
                Some((ty, length)) => (ty, Some(length.parse::<i32>().ok()?)),
                None => (ty, None),
            };
            let ty = match ty.strip_suffix("[]") {
                Some(element) => type_by_name(element.trim_matches('"'))?.array_of(),
                None => type_by_name(ty.trim_matches('"'))?,
            };
            Some((
                name.to_owned(),
                match length {
                    Some(length) if ty == PgType::Varchar => SqlType::with_typmod(ty, length + 4),
                    Some(length) => SqlType::with_typmod(ty, length),
                    None => SqlType::new(ty),
                },
            ))
        })
        .collect();
    let positions = columns.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
    Some(Definition {
        schema: schema.to_owned(),
        name: name.to_owned(),
        oid: oid.parse().ok()?,
        kind: kind.to_owned(),
        columns,
        positions,
        not_null,
        keys,
    })
}

impl Definition {
    /// Where a column stands, from 0.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.positions.get(column).copied()
    }
}

/// The relation of this name.
pub fn find(schema: &str, name: &str) -> Option<&'static Definition> {
    BY_NAME.get(&(schema, name)).copied()
}

/// All relations.
pub fn all() -> impl Iterator<Item = &'static Definition> {
    DEFINITIONS.iter()
}

/// The schema by which a query names the row of a sequence; the relation's name is the sequence's OID.
pub const SEQUENCES: &str = "stoa_sequence";

/// Whether a schema has such a system relation.
#[must_use]
pub fn exists(schema: &str, name: &str) -> bool {
    find(schema, name).is_some()
}

/// The columns of a system relation.
#[must_use]
pub fn columns(schema: &str, name: &str) -> Option<Vec<(String, SqlType)>> {
    find(schema, name).map(|s| s.columns.clone())
}

/// The OID of a system relation; 0 if there is none.
#[must_use]
pub fn oid(schema: &str, name: &str) -> u32 {
    find(schema, name).map_or(0, |s| s.oid)
}

/// The system relation with an OID: its schema and name.
#[must_use]
pub fn by_oid(oid: u32) -> Option<(&'static str, &'static str)> {
    all().find(|s| s.oid == oid).map(|s| (s.schema.as_str(), s.name.as_str()))
}

/// Whether an OID is that of a system relation that PostgreSQL has as a table, not as a view.
#[must_use]
pub fn is_table(oid: u32) -> bool {
    all().any(|s| s.oid == oid && s.kind == "r")
}

/// The type under a domain of `information_schema`; its check is not made.
#[must_use]
pub fn domain(name: &str) -> Option<SqlType> {
    Some(match name {
        "cardinal_number" => SqlType::new(PgType::Int4),
        "character_data" => SqlType::new(PgType::Varchar),
        "sql_identifier" => SqlType::new(PgType::Name),
        "time_stamp" => SqlType::with_typmod(PgType::Timestamptz, 2),
        "yes_or_no" => SqlType::with_typmod(PgType::Varchar, 3 + 4),
        _ => return None,
    })
}

/// Sets of columns of which no two rows of a system relation have the same values.
#[must_use]
pub fn keys(schema: &str, name: &str) -> &'static [Vec<String>] {
    find(schema, name).map_or(&[], |s| s.keys.as_slice())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_is_read_with_all_its_columns() {
        let lines: Vec<&str> = include_str!("definitions.tsv").lines().collect();
        assert_eq!(super::DEFINITIONS.len(), lines.len());
        for (definition, line) in super::DEFINITIONS.iter().zip(lines) {
            let wanted = line.split('\t').nth(4).map_or(0, |c| c.split(',').count());
            assert_eq!(definition.columns.len(), wanted, "{}", definition.name);
            assert!(matches!(definition.kind.as_str(), "r" | "v"), "{}", definition.name);
            for column in definition.keys.iter().flatten() {
                assert!(definition.columns.iter().any(|(name, _)| name == column), "{}.{column}", definition.name);
            }
        }
    }
}
