//! Parts of indexes that are the beginning of a text, `left(column, n)`: what a filter on the text says of them.
//!
//! Invariant: what is said follows from the filter, and is less: the filter itself remains.

use super::predicate::{Comparison, Predicate};
use crate::catalog::{ColumnId, IndexDescriptor, IndexKey, TableDescriptor};
use crate::row::expression_column;
use datafusion_common::ScalarValue;
use stoa_pg::PgType;

/// A part of an index that is the beginning of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Beginning {
    of: ColumnId,
    characters: usize,
    /// What stands for the part.
    part: ColumnId,
}

/// The filters of a table, with what each says of the parts of an index that are beginnings of columns; `None` if there are none.
#[must_use]
pub fn with_beginnings(table: &TableDescriptor, index: &IndexDescriptor, filters: &[Predicate]) -> Option<Vec<Predicate>> {
    let parts = index.parts.iter().enumerate();
    let beginnings: Vec<Beginning> = parts
        .filter_map(|(at, part)| match &part.key {
            IndexKey::Expr(sql) => {
                beginning(table, sql).map(|(of, characters)| Beginning { of, characters, part: expression_column(index, at) })
            }
            IndexKey::Column(_) => None,
        })
        .collect();
    if beginnings.is_empty() {
        return None;
    }
    let of = |filter: &Predicate| {
        let of_parts = beginnings.iter().map(|beginning| follows(filter, *beginning));
        Predicate::and(std::iter::once(filter.clone()).chain(of_parts).collect())
    };
    Some(filters.iter().map(of).collect())
}

/// The column and the number of characters of an expression, as the catalog has it: `"left"(c, 10)`, `"left"((c)::text, 10)`.
fn beginning(table: &TableDescriptor, sql: &str) -> Option<(ColumnId, usize)> {
    let (column, characters) = sql.strip_prefix("\"left\"(")?.strip_suffix(')')?.rsplit_once(", ")?;
    let column = column.strip_prefix('(').and_then(|column| column.strip_suffix(")::text")).unwrap_or(column);
    let name = match column.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => column.to_owned(),
    };
    let found = table.column_by_name(&name).filter(|c| matches!(c.ty.ty, PgType::Text | PgType::Varchar))?;
    Some((found.id, characters.parse().ok().filter(|n| *n > 0)?))
}

/// What a filter says of a beginning; [`Predicate::Always`] if it says nothing.
fn follows(filter: &Predicate, beginning: Beginning) -> Predicate {
    let Beginning { of, characters, part } = beginning;
    match filter {
        Predicate::Compare { column, op, value } if *column == of => {
            // Texts in order have beginnings in order, or alike.
            let op = match op {
                Comparison::Equal => Comparison::Equal,
                Comparison::Less | Comparison::LessEqual => Comparison::LessEqual,
                Comparison::Greater | Comparison::GreaterEqual => Comparison::GreaterEqual,
            };
            cut(value, characters).map_or(Predicate::Always, |value| Predicate::Compare { column: part, op, value })
        }
        Predicate::In { column, values } if *column == of => {
            let cut: Option<Vec<ScalarValue>> = values.iter().map(|value| cut(value, characters)).collect();
            cut.map_or(Predicate::Always, |values| Predicate::In { column: part, values })
        }
        Predicate::IsNull(column) if *column == of => Predicate::IsNull(part),
        Predicate::IsNotNull(column) if *column == of => Predicate::IsNotNull(part),
        Predicate::Prefix { column, prefix, .. } if *column == of => match prefix.char_indices().nth(characters) {
            Some((end, _)) => {
                let value = ScalarValue::Utf8View(Some(prefix.get(..end).unwrap_or_default().to_owned()));
                Predicate::Compare { column: part, op: Comparison::Equal, value }
            }
            None => Predicate::Prefix { column: part, prefix: prefix.clone(), exact: false },
        },
        Predicate::And(parts) => Predicate::and(parts.iter().map(|p| follows(p, beginning)).collect()),
        Predicate::Or(parts) => Predicate::or(parts.iter().map(|p| follows(p, beginning)).collect()),
        Predicate::Never => Predicate::Never,
        _ => Predicate::Always,
    }
}

/// The beginning of a text; NULL stays.
fn cut(value: &ScalarValue, characters: usize) -> Option<ScalarValue> {
    let beginning = |text: &String| text.chars().take(characters).collect::<String>();
    match value {
        ScalarValue::Utf8View(text) => Some(ScalarValue::Utf8View(text.as_ref().map(beginning))),
        ScalarValue::Utf8(text) => Some(ScalarValue::Utf8(text.as_ref().map(beginning))),
        ScalarValue::LargeUtf8(text) => Some(ScalarValue::LargeUtf8(text.as_ref().map(beginning))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: ColumnId = ColumnId(1);
    const PART: ColumnId = ColumnId(9);

    fn compare(column: ColumnId, op: Comparison, text: &str) -> Predicate {
        Predicate::Compare { column, op, value: ScalarValue::Utf8View(Some(text.into())) }
    }

    #[test]
    fn filters_say_less_of_beginnings() {
        let of = |filter: &Predicate| follows(filter, Beginning { of: OF, characters: 2, part: PART });
        assert_eq!(of(&compare(OF, Comparison::Equal, "größe")), compare(PART, Comparison::Equal, "gr"));
        assert_eq!(of(&compare(OF, Comparison::Less, "a")), compare(PART, Comparison::LessEqual, "a"));
        assert_eq!(of(&compare(OF, Comparison::Greater, "abc")), compare(PART, Comparison::GreaterEqual, "ab"));
        let prefix = |column, prefix: &str, exact| Predicate::Prefix { column, prefix: prefix.into(), exact };
        assert_eq!(of(&prefix(OF, "a", true)), prefix(PART, "a", false));
        assert_eq!(of(&prefix(OF, "ab", true)), prefix(PART, "ab", false));
        assert_eq!(of(&prefix(OF, "abc", true)), compare(PART, Comparison::Equal, "ab"));
        // One side of an OR that says nothing takes all with it; one of an AND does not.
        let other = compare(ColumnId(2), Comparison::Equal, "x");
        let own = compare(OF, Comparison::Equal, "abc");
        assert_eq!(of(&Predicate::Or(vec![own.clone(), other.clone()])), Predicate::Always);
        assert_eq!(of(&Predicate::And(vec![own, other.clone()])), compare(PART, Comparison::Equal, "ab"));
        assert_eq!(of(&other), Predicate::Always);
    }
}
