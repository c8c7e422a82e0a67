//! Random predicates against plain evaluation: rows that match lie in the ranges, and nothing else does where no filter is left.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::catalog::{Epoch, KeyForm};
use crate::row::KeyColumn;
use crate::row::key::{NO_COLUMN, null_order};
use crate::row::key_form;
use crate::row::types::part_kind;
use datafusion_common::ScalarValue;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use stoa_encoding::keyside::{Direction, KeyPart, SaltBuckets};
use stoa_pg::SqlType;
use stoa_pg::types::PgType;

const A: ColumnId = ColumnId(1);
const B: ColumnId = ColumnId(2);
const C: ColumnId = ColumnId(3);
/// Not in the key.
const D: ColumnId = ColumnId(4);

type Row = Vec<ScalarValue>;

fn part(column: ColumnId, ty: PgType, descending: bool, nullable: Option<bool>) -> KeyPartCodec {
    let ty = SqlType::new(ty);
    let direction = if descending { Direction::Desc } else { Direction::Asc };
    let kind = part_kind(&ty).unwrap();
    let part = match nullable {
        None => KeyPart::new(kind, direction),
        Some(first) => KeyPart::nullable(kind, direction, null_order(first)),
    };
    KeyPartCodec::of_value(column, ty, part, Epoch::Postgres)
}

/// A text before a delimiter: one that all texts of the test sort before, or behind.
fn delimited(column: ColumnId, delimiter: u8, descending: bool) -> KeyPartCodec {
    let (form, ty) = (KeyForm::Delimited(delimiter), SqlType::new(PgType::Text));
    let direction = if descending { Direction::Desc } else { Direction::Asc };
    let part = KeyPart::new(key_form::kind(form, &ty).unwrap(), direction);
    let holds = if form.holds_value() { column } else { NO_COLUMN };
    KeyPartCodec { column: holds, source: column, form, ty, part, epoch: Epoch::Postgres }
}

fn shape(rng: &mut StdRng) -> KeyShape {
    let index = rng.random_bool(0.5);
    let nullable = |rng: &mut StdRng| index.then(|| rng.random_bool(0.5));
    let text = match rng.random_range(0..4) {
        0 if !index => delimited(B, b'|', rng.random_bool(0.5)),
        1 if !index => delimited(B, b'+', rng.random_bool(0.5)),
        _ => part(B, PgType::Text, rng.random_bool(0.5), nullable(rng)),
    };
    let parts =
        vec![part(A, PgType::Int4, rng.random_bool(0.5), nullable(rng)), text, part(C, PgType::Int8, rng.random_bool(0.5), nullable(rng))];
    let salt = rng
        .random_bool(0.3)
        .then(|| SaltCodec { buckets: SaltBuckets::new(4).unwrap(), parts: if rng.random_bool(0.5) { vec![0] } else { vec![0, 1, 2] } });
    KeyShape { parts, salt, whole: !index, unique: !index }
}

fn value(rng: &mut StdRng, column: ColumnId, null: bool) -> ScalarValue {
    let null = null && rng.random_bool(0.2);
    let n = rng.random_range(0..5);
    match column {
        A | D => ScalarValue::Int32((!null).then_some(n)),
        B => ScalarValue::Utf8View((!null).then(|| ["", "a", "a.", "ab", "b"][n as usize].to_owned())),
        _ => ScalarValue::Int64((!null).then_some(i64::from(n))),
    }
}

fn predicate(rng: &mut StdRng, depth: u32) -> Predicate {
    let column = [A, A, B, B, C, D][rng.random_range(0..6)];
    match rng.random_range(0..if depth == 0 { 8 } else { 12 }) {
        // A constant that is no value before a delimiter.
        0 if column == B && rng.random_bool(0.3) => {
            Predicate::Compare { column, op: Comparison::Equal, value: ScalarValue::Utf8View(Some("a|+".into())) }
        }
        0..=4 => Predicate::Compare {
            column,
            op: [Comparison::Equal, Comparison::Less, Comparison::LessEqual, Comparison::Greater, Comparison::GreaterEqual]
                [rng.random_range(0..5)],
            value: value(rng, column, false),
        },
        5 => Predicate::In { column, values: (0..rng.random_range(1..4)).map(|_| value(rng, column, true)).collect() },
        6 => {
            if rng.random_bool(0.5) {
                Predicate::IsNull(column)
            } else {
                Predicate::IsNotNull(column)
            }
        }
        7 => Predicate::Prefix { column: B, prefix: ["", "a", "b", "a|+"][rng.random_range(0..4)].into(), exact: true },
        8 | 9 => Predicate::and((0..2).map(|_| predicate(rng, depth - 1)).collect()),
        _ => Predicate::or((0..2).map(|_| predicate(rng, depth - 1)).collect()),
    }
}

fn get(row: &Row, column: ColumnId) -> &ScalarValue {
    &row[column.0 as usize - 1]
}

fn eval(p: &Predicate, row: &Row) -> bool {
    match p {
        Predicate::Compare { column, op, value } => {
            let have = get(row, *column);
            if have.is_null() || value.is_null() {
                return false;
            }
            let ordering = have.partial_cmp(value).unwrap();
            match op {
                Comparison::Equal => ordering.is_eq(),
                Comparison::Less => ordering.is_lt(),
                Comparison::LessEqual => ordering.is_le(),
                Comparison::Greater => ordering.is_gt(),
                Comparison::GreaterEqual => ordering.is_ge(),
            }
        }
        Predicate::In { column, values } => !get(row, *column).is_null() && values.contains(get(row, *column)),
        Predicate::IsNull(column) => get(row, *column).is_null(),
        Predicate::IsNotNull(column) => !get(row, *column).is_null(),
        Predicate::Prefix { column, prefix, .. } => match get(row, *column) {
            ScalarValue::Utf8View(Some(text)) => text.starts_with(prefix),
            _ => false,
        },
        Predicate::And(parts) => parts.iter().all(|p| eval(p, row)),
        Predicate::Or(parts) => parts.iter().any(|p| eval(p, row)),
        Predicate::Always => true,
        Predicate::Never => false,
        Predicate::Unknown => unreachable!(),
    }
}

fn key_of(shape: &KeyShape, row: &Row) -> Vec<u8> {
    let columns: Vec<KeyColumn> =
        shape.parts.iter().map(|p| KeyColumn::new(&p.ty, &get(row, p.source).to_array_of_size(1).unwrap()).unwrap()).collect();
    let mut body = Vec::new();
    let mut ends = Vec::new();
    for (part, column) in shape.parts.iter().zip(&columns) {
        part.encode(column, 0, &mut body).unwrap();
        ends.push(body.len());
    }
    let mut key = Vec::new();
    key.extend(bucket(shape, &Prefix { bytes: body.clone(), ends }));
    key.extend(body);
    if !shape.whole {
        key.extend(b"row");
    }
    key
}

#[test]
fn rows_that_match_lie_in_the_ranges() {
    let mut answered = 0;
    for seed in 0..4000 {
        let mut rng = StdRng::seed_from_u64(seed);
        let shape = shape(&mut rng);
        let filters: Vec<Predicate> = (0..rng.random_range(1..4)).map(|_| predicate(&mut rng, 2)).collect();
        let scope = scope(&shape, &filters);
        assert!(scope.ranges.windows(2).all(|w| w[0].end.as_ref().unwrap() <= &w[1].start));
        for _ in 0..30 {
            let nullable = shape.parts[0].part.nulls.is_some();
            let row: Row = [A, B, C, D].map(|c| value(&mut rng, c, nullable || c == D)).to_vec();
            let inside = scope.ranges.iter().any(|r| r.contains(&key_of(&shape, &row)));
            let left = |f: &usize| scope.residual.contains(f);
            let matches = filters.iter().all(|f| eval(f, &row));
            if matches {
                assert!(inside, "seed {seed}: {row:?} {filters:?} {scope:?}");
            }
            let residual_passes = (0..filters.len()).filter(left).all(|f| eval(&filters[f], &row));
            if inside && residual_passes {
                assert!(matches, "seed {seed}: {row:?} {filters:?} {scope:?}");
            }
        }
        answered += usize::from(scope.residual.is_empty());
    }
    assert!(answered > 400, "{answered}");
}

#[test]
fn a_row_comparison_is_one_range() {
    let shape = KeyShape {
        parts: vec![part(A, PgType::Int4, false, None), part(C, PgType::Int8, false, None)],
        salt: None,
        whole: true,
        unique: true,
    };
    let int = |v| ScalarValue::Int32(Some(v));
    let big = |v| ScalarValue::Int64(Some(v));
    let greater = Predicate::or(vec![
        Predicate::Compare { column: A, op: Comparison::Greater, value: int(1) },
        Predicate::and(vec![equal(A, int(1)), Predicate::Compare { column: C, op: Comparison::Greater, value: big(2) }]),
    ]);
    let found = scope(&shape, &[greater]);
    assert_eq!(found.ranges.len(), 1);
    assert!(found.residual.is_empty());
    assert_eq!(found.ranges[0].end, None);
}

#[test]
fn keys_and_lists_are_points() {
    let shape = KeyShape {
        parts: vec![part(A, PgType::Int4, false, None), part(B, PgType::Text, true, None)],
        salt: None,
        whole: true,
        unique: true,
    };
    let filters = [
        Predicate::In { column: A, values: vec![ScalarValue::Int32(Some(3)), ScalarValue::Int32(Some(1)), ScalarValue::Int32(Some(3))] },
        equal(B, ScalarValue::Utf8View(Some("x".into()))),
    ];
    let found = scope(&shape, &filters);
    assert!(found.points && found.residual.is_empty());
    assert_eq!(found.ranges.len(), 2);
    assert!(found.ranges.iter().all(|r| r.as_point().is_some()));
    assert_eq!(scope(&shape, &[]).ranges, vec![KeyRange::all()]);
    assert!(scope(&shape, &[Predicate::Never]).ranges.is_empty());
}

#[test]
fn partial_indexes_are_implied_by_narrower_filters() {
    let of = |c: ColumnId| (c == A).then(|| part(A, PgType::Int4, false, Some(false)));
    let less = |v| Predicate::Compare { column: A, op: Comparison::Less, value: ScalarValue::Int32(Some(v)) };
    assert!(implies(&[less(5)], &less(7), &of));
    assert!(implies(&[equal(A, ScalarValue::Int32(Some(5)))], &less(7), &of));
    assert!(implies(&[less(5)], &Predicate::IsNotNull(A), &of));
    assert!(!implies(&[less(8)], &less(7), &of));
    assert!(!implies(&[Predicate::Unknown], &less(7), &of));
    assert!(!implies(&[], &Predicate::IsNotNull(A), &of));
}
