//! Names, OIDs, columns and types of PostgreSQL 15's system relations, from `shapes.tsv`: a relation a line.

use std::collections::HashMap;
use std::sync::LazyLock;
use stoa_pg::SqlType;
use stoa_pg::types::type_by_name;

/// One relation.
#[derive(Debug)]
pub struct Shape {
    pub schema: String,
    pub name: String,
    pub oid: u32,
    pub columns: Vec<(String, SqlType)>,
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| include_str!("shapes.tsv").lines().filter_map(parse).collect());

static BY_NAME: LazyLock<HashMap<(&'static str, &'static str), &'static Shape>> =
    LazyLock::new(|| SHAPES.iter().map(|s| ((s.schema.as_str(), s.name.as_str()), s)).collect());

fn parse(line: &str) -> Option<Shape> {
    let mut fields = line.split('\t');
    let (schema, name, oid, columns) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let columns = columns
        .split(',')
        .filter_map(|c| {
            let (name, ty) = c.split_once(':')?;
            let ty = match ty.strip_suffix("[]") {
                Some(element) => type_by_name(element.trim_matches('"'))?.array_of(),
                None => type_by_name(ty.trim_matches('"'))?,
            };
            Some((name.to_owned(), SqlType::new(ty)))
        })
        .collect();
    Some(Shape { schema: schema.to_owned(), name: name.to_owned(), oid: oid.parse().ok()?, columns })
}

/// The relation of this name.
pub fn find(schema: &str, name: &str) -> Option<&'static Shape> {
    BY_NAME.get(&(schema, name)).copied()
}

/// All relations.
pub fn all() -> impl Iterator<Item = &'static Shape> {
    SHAPES.iter()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_is_read_with_all_its_columns() {
        let lines: Vec<&str> = include_str!("shapes.tsv").lines().collect();
        assert_eq!(super::SHAPES.len(), lines.len());
        for (shape, line) in super::SHAPES.iter().zip(lines) {
            let wanted = line.split('\t').nth(3).map_or(0, |c| c.split(',').count());
            assert_eq!(shape.columns.len(), wanted, "{}", shape.name);
        }
    }
}
