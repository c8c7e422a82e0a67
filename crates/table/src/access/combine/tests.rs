//! Which disjunctions and conjunctions several paths answer, and what that costs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::access::ranges::{KeyShape, scope};
use crate::access::{Comparison, PathOptions, Preferences};
use crate::catalog::{IndexDescriptor, IndexKey, IndexPart, IndexState, TableDescriptor};
use crate::row::RowCodec;
use crate::row::samples::table;
use datafusion_common::ScalarValue;
use stoa_pg::{PgType, SqlType};
use stoa_store::{Layout, TableId};

/// a is the key; b, c and (d, e) have indexes; f has none.
fn descriptor() -> TableDescriptor {
    let int = SqlType::new(PgType::Int4);
    let columns: Vec<(&str, SqlType)> = ["a", "b", "c", "d", "e", "f"].iter().map(|n| (*n, int.clone())).collect();
    let mut t = table(&columns, &[(0, false)], &[(Layout::Packed, &[1, 2, 3, 4, 5])]);
    let index = |name: &str, parts: &[u32]| IndexDescriptor {
        oid: 30_000,
        name: name.into(),
        primary: false,
        storage: TableId(101),
        unique: false,
        nulls_not_distinct: false,
        parts: parts
            .iter()
            .map(|c| IndexPart {
                key: IndexKey::Column(ColumnId(*c)),
                ty: int.clone(),
                class: None,
                collation: None,
                descending: false,
                nulls_first: false,
            })
            .collect(),
        include: Vec::new(),
        predicate: None,
        state: IndexState::Readable,
        readable_from: 0,
        replaces: None,
        constraint: None,
        method: "btree".into(),
        options: Vec::new(),
        salt_buckets: None,
        comment: None,
    };
    t.indexes = vec![index("b", &[2]), index("c", &[3]), index("de", &[4, 5])];
    t
}

fn is(column: u32) -> Predicate {
    Predicate::Compare { column: ColumnId(column), op: Comparison::Equal, value: ScalarValue::Int32(Some(1)) }
}

fn found(filters: &[Predicate], any: bool) -> Vec<String> {
    let t = descriptor();
    let codec = RowCodec::new(&t).unwrap();
    let options = PathOptions { columns: &[ColumnId(6)], index_predicates: &|_| None, distinct: None };
    let sources = Sources {
        paths: &|filters| Ok(crate::access::ways(&t, &codec, filters, &options, &Preferences::default())?.paths),
        rows: &|path, _| if path.scope.points { 1.0 } else { 10.0 * path.key.parts[0].column.0 as f64 },
        table_rows: 1000.0,
    };
    let list = if any { unions(filters, &sources) } else { intersections(filters, &sources) }.unwrap();
    list.iter()
        .map(|set| {
            assert_eq!(set.any, any);
            let names: Vec<&str> = set
                .branches
                .iter()
                .map(|p| match &p.kind {
                    PathKind::Table => "key",
                    PathKind::Index { at, .. } => t.indexes[*at].name.as_str(),
                })
                .collect();
            format!("{} {:.1}", names.join(" "), set.rows)
        })
        .collect()
}

#[test]
fn each_part_of_a_disjunction_needs_a_path() {
    let or = |parts: &[Predicate]| Predicate::Or(parts.to_vec());
    for (filters, wanted) in [
        (vec![or(&[is(2), is(3)])], vec!["b c 50.0"]),
        (vec![or(&[is(1), is(3)])], vec!["key c 31.0"]),
        (vec![or(&[is(2), is(6)])], vec![]),
        (vec![or(&[is(2), is(5)])], vec![]),
        (vec![or(&[is(2), Predicate::And(vec![is(5), is(4)])])], vec!["b de 60.0"]),
        (vec![is(4), or(&[is(2), is(5)])], vec!["b de 60.0"]),
        // One index for all of them is a path by itself.
        (vec![or(&[is(2), is(2)])], vec![]),
        (vec![or(&[is(2), Predicate::Unknown])], vec![]),
        (vec![is(2), is(3)], vec![]),
    ] {
        assert_eq!(found(&filters, true), wanted, "{filters:?}");
    }
}

#[test]
fn conjunctions_intersect_indexes_on_different_columns() {
    for (filters, wanted) in [
        (vec![is(2), is(3)], vec!["b c 0.6"]),
        (vec![is(2), is(3), is(4)], vec!["b c 0.6", "b c de 0.5"]),
        (vec![is(2), is(6)], vec![]),
        (vec![is(4), is(5)], vec![]),
    ] {
        assert_eq!(found(&filters, false), wanted, "{filters:?}");
    }
    let key = KeyShape::of_table(&RowCodec::new(&descriptor()).unwrap().key);
    assert!(scope(&key, &[is(2)]).is_full());
}
