//! Conditions on the columns of an index that are no MATCH: `=`, IN, LIKE, ranges, as words that a row must have to meet them.
//!
//! Invariant: a row that meets the condition is found. More may be: the condition stays with the scan.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use std::ops::Bound;
use stoa_fulltext::{Analyzer, FieldId, Piece, Query};
use stoa_table::access::{Comparison, Predicate};
use stoa_table::catalog::ColumnId;

/// The fields of an index by column.
pub(super) struct Fields<'a> {
    /// Where a column is in the index, and how it is cut into words.
    pub field: &'a dyn Fn(ColumnId) -> Option<(FieldId, &'a Analyzer)>,
    /// Columns by their names in filters.
    pub column: &'a dyn Fn(&str) -> Option<ColumnId>,
}

/// The search that finds at least the rows that pass a filter, which comes as an expression and as what is understood of it.
pub(super) fn answer(filter: &Expr, predicate: &Predicate, fields: &Fields<'_>) -> Option<Query> {
    like(filter, fields).or_else(|| understood(predicate, fields))
}

fn understood(predicate: &Predicate, fields: &Fields<'_>) -> Option<Query> {
    match predicate {
        Predicate::Compare { column, op, value } => {
            let ((field, analyzer), value) = ((fields.field)(*column)?, text(value)?);
            match op {
                Comparison::Equal => analyzer.equal_to(field, value),
                Comparison::Less => analyzer.between(field, Bound::Unbounded, Bound::Excluded(value)),
                Comparison::LessEqual => analyzer.between(field, Bound::Unbounded, Bound::Included(value)),
                Comparison::Greater => analyzer.between(field, Bound::Excluded(value), Bound::Unbounded),
                Comparison::GreaterEqual => analyzer.between(field, Bound::Included(value), Bound::Unbounded),
            }
        }
        Predicate::In { column, values } => {
            let (field, analyzer) = (fields.field)(*column)?;
            let values = values.iter().filter(|v| !v.is_null());
            values.map(|value| analyzer.equal_to(field, text(value)?)).collect::<Option<Vec<_>>>().map(Query::any)
        }
        Predicate::Prefix { column, prefix, .. } => {
            let (field, analyzer) = (fields.field)(*column)?;
            analyzer.having(field, &[Piece { text: prefix, open_start: false, open_end: true }], false)
        }
        Predicate::And(parts) => {
            let queries: Vec<Query> = parts.iter().filter_map(|part| understood(part, fields)).collect();
            if queries.is_empty() { None } else { Some(Query::all(queries)) }
        }
        Predicate::Or(parts) => parts.iter().map(|part| understood(part, fields)).collect::<Option<Vec<_>>>().map(Query::any),
        _ => None,
    }
}

/// `column LIKE constant`, `column ILIKE constant`.
fn like(filter: &Expr, fields: &Fields<'_>) -> Option<Query> {
    let Expr::ScalarFunction(call) = filter else { return None };
    let any_case = match call.func.name().split('#').next()? {
        "~~" => false,
        "~~*" => true,
        _ => return None,
    };
    let [target, Expr::Literal(pattern, _)] = call.args.as_slice() else { return None };
    let (field, analyzer) = (fields.field)(column_of(target, fields)?)?;
    let pieces = pieces(text(pattern)?)?;
    let pieces: Vec<Piece<'_>> =
        pieces.iter().map(|(text, open_start, open_end)| Piece { text, open_start: *open_start, open_end: *open_end }).collect();
    analyzer.having(field, &pieces, any_case)
}

/// The column, where a cast does not change its text.
fn column_of(expr: &Expr, fields: &Fields<'_>) -> Option<ColumnId> {
    match expr {
        Expr::Column(column) => (fields.column)(&column.name),
        Expr::Alias(alias) => column_of(&alias.expr, fields),
        Expr::ScalarFunction(call) if call.func.name() == "cast as text" => match call.args.as_slice() {
            [arg] => column_of(arg, fields),
            _ => None,
        },
        _ => None,
    }
}

/// What stands between the wildcards of a pattern, and whether there is one before it and behind it. `None`: it ends with its escape.
fn pieces(pattern: &str) -> Option<Vec<(String, bool, bool)>> {
    let mut out: Vec<(String, bool, bool)> = Vec::new();
    let (mut piece, mut open) = (String::new(), false);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => piece.push(chars.next()?),
            '%' | '_' => {
                if !piece.is_empty() {
                    out.push((std::mem::take(&mut piece), open, true));
                }
                open = true;
            }
            c => piece.push(c),
        }
    }
    if !piece.is_empty() {
        out.push((piece, open, false));
    }
    Some(out)
}

fn text(value: &ScalarValue) -> Option<&str> {
    match value {
        ScalarValue::Utf8View(Some(s)) | ScalarValue::Utf8(Some(s)) | ScalarValue::LargeUtf8(Some(s)) => Some(s),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn patterns_come_apart_at_their_wildcards() {
        let of = |pattern: &str| pieces(pattern).map(|p| p.into_iter().map(|(t, a, b)| format!("{t}{a}{b}")).collect::<Vec<_>>());
        assert_eq!(of("abc").unwrap(), ["abcfalsefalse"]);
        assert_eq!(of("%abc%").unwrap(), ["abctruetrue"]);
        assert_eq!(of("ab%c_d").unwrap(), ["abfalsetrue", "ctruetrue", "dtruefalse"]);
        assert_eq!(of(r"a\%b").unwrap(), ["a%bfalsefalse"]);
        assert!(of("%_%").unwrap().is_empty());
        assert_eq!(of(r"a\"), None);
    }
}
