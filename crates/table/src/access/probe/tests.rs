//! Which keys and indexes a join can look up by, and the ranges that it reads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::access::{Comparison, Hint, explain};
use crate::catalog::{IndexDescriptor, IndexKey, IndexPart, IndexState, Salt};
use crate::row::samples::{column, table};
use datafusion_common::ScalarValue;
use stoa_pg::SqlType;
use stoa_pg::types::PgType;
use stoa_store::{Layout, TableId};

/// (a, b) is the key; i is on c and d, u unique on d, p on d where c is not NULL.
fn descriptor(salt: Option<u16>) -> TableDescriptor {
    let int = SqlType::new(PgType::Int4);
    let columns: Vec<(&str, SqlType)> = ["a", "b", "c", "d", "e"].iter().map(|n| (*n, int.clone())).collect();
    let mut t = table(&columns, &[(0, false), (1, false)], &[(Layout::Packed, &[2, 3, 4])]);
    t.salt = salt.map(|buckets| Salt { buckets, columns: vec![ColumnId(1)] });
    let index = |name: &str, parts: &[u32], unique: bool, predicate: Option<&str>| IndexDescriptor {
        oid: 30_000,
        name: name.into(),
        storage: TableId(101),
        unique,
        nulls_not_distinct: false,
        primary: false,
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
        predicate: predicate.map(Into::into),
        state: IndexState::Readable,
        readable_from: 0,
        replaces: None,
        constraint: None,
        method: "btree".into(),
        options: Vec::new(),
        salt_buckets: None,
        comment: None,
    };
    t.indexes = vec![index("i", &[3, 4], false, None), index("u", &[4], true, None), index("p", &[4], false, Some("c IS NOT NULL"))];
    t
}

/// The probes for joined columns, as their index and their parts: a letter's position, or `=` for a constant.
fn found(filters: &[Predicate], preferences: &Preferences, joined: &[u32]) -> String {
    let t = descriptor(None);
    let codec = RowCodec::new(&t).unwrap();
    let predicate = |at: usize| (at == 2).then_some(Predicate::IsNotNull(ColumnId(3)));
    let options = PathOptions { columns: &[ColumnId(5)], index_predicates: &predicate, distinct: None };
    let joined: Vec<ColumnId> = joined.iter().map(|c| ColumnId(*c)).collect();
    let list = probes(&t, &codec, filters, &options, preferences, &joined).unwrap();
    let shown: Vec<String> = list
        .iter()
        .map(|p| {
            let name = match &p.kind {
                PathKind::Table => "key",
                PathKind::Index { at, .. } => &t.indexes[*at].name,
            };
            let parts: String = p
                .parts
                .iter()
                .map(|p| match p {
                    ProbePart::Joined(n) => n.to_string(),
                    ProbePart::Constant(_) => "=".into(),
                })
                .collect();
            format!("{name}:{parts}{}", if p.is_point() { "!" } else { "" })
        })
        .collect();
    shown.join(" ")
}

#[test]
fn probes_are_keys_and_indexes_that_begin_with_joined_columns() {
    let is =
        |column: u32, n: i32| Predicate::Compare { column: ColumnId(column), op: Comparison::Equal, value: ScalarValue::Int32(Some(n)) };
    let none = Preferences::default();
    let hint = |hint: Hint| Preferences { hints: vec![hint], ..Preferences::default() };
    for (filters, preferences, joined, wanted) in [
        (vec![], &none, vec![1], "key:0"),
        (vec![], &none, vec![2], ""),
        (vec![], &none, vec![2, 1], "key:10!"),
        (vec![is(1, 7)], &none, vec![2], "key:=0!"),
        (vec![], &none, vec![3], "i:0"),
        (vec![is(4, 1)], &none, vec![3], "i:0="),
        (vec![is(3, 1)], &none, vec![4], "i:=0 u:0! p:0"),
        (vec![], &none, vec![4], "u:0!"),
        (vec![Predicate::IsNotNull(ColumnId(3))], &none, vec![4, 1], "key:1 u:0! p:0"),
        (vec![is(4, 1)], &none, vec![5], ""),
        (vec![], &hint(Hint::Full), vec![1, 4], ""),
        (vec![], &hint(Hint::NoIndex(vec![])), vec![1, 4], "key:0"),
        (vec![], &hint(Hint::Index(vec!["u".into()])), vec![1, 4], "u:1!"),
        (vec![], &Preferences { index_lookup: false, ..none.clone() }, vec![1, 4], "key:0"),
    ] {
        assert_eq!(found(&filters, preferences, &joined), wanted, "{filters:?} {joined:?}");
    }
}

#[test]
fn ranges_of_a_probe_know_the_salt_where_they_can() {
    let int = SqlType::new(PgType::Int4);
    for (joined, wanted) in [(vec![1u32, 2], 1), (vec![1], 1)] {
        let t = descriptor(Some(3));
        let codec = RowCodec::new(&t).unwrap();
        let options = PathOptions { columns: &[], index_predicates: &|_| None, distinct: None };
        let joined: Vec<ColumnId> = joined.into_iter().map(ColumnId).collect();
        let probe = probes(&t, &codec, &[], &options, &Preferences::default(), &joined).unwrap().remove(0);
        let values: Vec<ArrayRef> = joined.iter().map(|_| column(&int, &[Some("5"), Some("6")])).collect();
        let columns = probe.columns(&values).unwrap();
        let mut ranges = Vec::new();
        probe.ranges(&columns, 1, &mut ranges).unwrap();
        assert_eq!(ranges.len(), wanted);
        let shown = explain::ranges(&probe.key, &ranges);
        assert!(shown.contains(", 6"), "{shown}");
    }
}
