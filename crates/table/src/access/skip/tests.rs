//! When a later column's filter makes a skip scan, over which ranges, and which filters it answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::access::{Comparison, PathKind, explain};
use crate::catalog::Epoch;
use crate::row::key::KeyPartCodec;
use crate::row::types::part_kind;
use datafusion_common::ScalarValue;
use stoa_encoding::keyside::{Direction, KeyPart};
use stoa_pg::{PgType, SqlType};

/// A key of four integers.
fn path(filters: &[Predicate]) -> AccessPath {
    let ty = SqlType::new(PgType::Int4);
    let part = |c: u32| {
        let part = KeyPart::new(part_kind(&ty).unwrap(), Direction::Asc);
        KeyPartCodec::of_value(ColumnId(c), ty.clone(), part, Epoch::Postgres)
    };
    let key = KeyShape { parts: (1..=4).map(part).collect(), salt: None, whole: true, unique: true };
    let scope = scope(&key, filters);
    AccessPath::new(PathKind::Table, key, scope)
}

fn is(column: u32, op: Comparison, n: i32) -> Predicate {
    Predicate::Compare { column: ColumnId(column), op, value: ScalarValue::Int32(Some(n)) }
}

#[test]
fn later_columns_are_skipped_to() {
    use Comparison::{Equal, Greater};
    let known = |column: ColumnId| (column.0 != 3).then_some(f64::from(column.0) * 10.0);
    for (filters, wanted) in [
        (vec![], None),
        (vec![is(1, Equal, 1)], None),
        // Narrowed behind an interval: values in between would have to be looked at one by one.
        (vec![is(1, Greater, 1), is(2, Equal, 1)], None),
        (vec![is(2, Equal, 5)], Some((0, 1, "[5]", 10.0, vec![]))),
        (vec![is(2, Greater, 5), is(4, Equal, 1)], Some((0, 1, "[6 … ∞", 10.0, vec![1]))),
        (vec![is(1, Equal, 7), is(3, Equal, 5)], Some((1, 2, "[5]", 20.0, vec![]))),
        (vec![is(3, Equal, 5)], Some((0, 2, "[5]", 200.0, vec![]))),
        // How many values the third column has is not known.
        (vec![is(1, Equal, 7), is(4, Equal, 5)], None),
        (vec![is(2, Equal, 5), Predicate::Unknown], Some((0, 1, "[5]", 10.0, vec![1]))),
        (
            vec![Predicate::In { column: ColumnId(2), values: vec![ScalarValue::Int32(Some(1)), ScalarValue::Int32(Some(9))] }],
            Some((0, 1, "[1], [9]", 10.0, vec![])),
        ),
    ] {
        let path = path(&filters);
        let found = skipping(&path, &filters, &known);
        let Some((fixed, parts, tail, values, residual)) = wanted else {
            assert!(found.is_none(), "{filters:?}: {found:?}");
            continue;
        };
        let found = found.unwrap();
        let skip = found.skip.clone().unwrap();
        assert_eq!((skip.fixed, skip.parts, skip.values), (fixed, parts, values), "{filters:?}");
        let key = KeyShape { parts: found.key.parts[skip.parts..].to_vec(), ..found.key.clone() };
        let shown = explain::ranges(&key, &skip.tail);
        assert!(shown.starts_with(tail), "{filters:?}: {shown}");
        assert_eq!(found.scope.residual, residual, "{filters:?}");
        assert!(found.cost(100.0) > path.cost(100.0) && found.is_narrowed() && !found.is_full());
    }
}

#[test]
fn a_value_found_gives_the_ranges_behind_it() {
    let filters = [is(2, Comparison::Equal, 5)];
    let found = skipping(&path(&filters), &filters, &|_| Some(3.0)).unwrap();
    let skip = found.skip.unwrap();
    let int = |n: i32| (n as u32 ^ 0x8000_0000).to_be_bytes();
    let key = [int(4), int(5), int(6), int(7)].concat();
    let prefix = skip.prefix(&found.key, &key).unwrap();
    assert_eq!(prefix, int(4));
    let behind: Vec<KeyRange> = skip.behind(prefix).collect();
    assert_eq!(behind, [KeyRange::prefix(&[int(4), int(5)].concat())]);
    assert!(skip.prefix(&found.key, &key[..3]).is_none());
}

#[test]
fn first_rows_are_of_leading_columns() {
    use Comparison::{Equal, Greater, Less};
    let known = |column: ColumnId| (column.0 != 3).then_some(f64::from(column.0) * 10.0);
    let within = Predicate::In { column: ColumnId(1), values: vec![ScalarValue::Int32(Some(1)), ScalarValue::Int32(Some(9))] };
    for (columns, filters, wanted) in [
        (&[1][..], vec![], Some((0, 1, "", 10.0, vec![]))),
        (&[2, 1], vec![], Some((0, 2, "", 200.0, vec![]))),
        (&[2], vec![], None),
        (&[1, 5], vec![], None),
        // How many values the third column has is not known; a whole key has one row of each.
        (&[1, 2, 3], vec![], None),
        (&[1, 2, 3, 4], vec![is(3, Equal, 5)], None),
        // A column that has one value is passed by, and may be left out.
        (&[2], vec![is(1, Equal, 7)], Some((1, 2, "", 20.0, vec![]))),
        (&[1], vec![is(1, Equal, 7)], Some((1, 1, "", 1.0, vec![]))),
        // What narrows the column behind is looked for in each value, or is in the ranges already.
        (&[1], vec![is(2, Less, 5)], Some((0, 1, "[-∞ … 5)", 10.0, vec![]))),
        (&[1], vec![is(1, Greater, 2), is(2, Less, 5)], Some((0, 1, "[-∞ … 5)", 10.0, vec![]))),
        (&[1], vec![within.clone(), is(2, Less, 5)], Some((0, 1, "", 5.0, vec![]))),
        (&[1], vec![is(3, Equal, 5), Predicate::Unknown], Some((0, 1, "", 10.0, vec![0, 1]))),
    ] {
        let path = path(&filters);
        let ids: Vec<ColumnId> = columns.iter().map(|c| ColumnId(*c)).collect();
        let found = first_of_each(&path, &filters, &ids, &known, 10_000.0, 20.0);
        let Some((fixed, parts, tail, values, residual)) = wanted else {
            assert!(found.is_none(), "{columns:?} {filters:?}: {found:?}");
            continue;
        };
        let found = found.unwrap();
        let skip = found.skip.clone().unwrap();
        assert_eq!((skip.fixed, skip.parts, skip.values), (fixed, parts, values), "{columns:?} {filters:?}");
        let key = KeyShape { parts: found.key.parts[skip.parts..].to_vec(), ..found.key.clone() };
        let shown = if skip.reads_all() { String::new() } else { explain::ranges(&key, &skip.tail) };
        assert_eq!(shown, tail, "{columns:?} {filters:?}");
        assert_eq!(found.scope.residual, residual, "{columns:?} {filters:?}");
        let places = values * found.scope.ranges.len() as f64 * if tail.is_empty() { 1.0 } else { 2.0 };
        assert_eq!(found.cost(7.0), places * 20.0 + 7.0, "{columns:?} {filters:?}");
    }
    // Where to go on costs a call over a network, only values of very many rows are skipped over.
    let far = first_of_each(&path(&[]), &[], &[ColumnId(1)], &known, 10_000.0, 700.0).unwrap();
    assert!(far.cost(10.0) < 10_000.0 && far.cost(10.0) > 7_000.0);
}
