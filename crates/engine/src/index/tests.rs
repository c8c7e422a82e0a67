//! Faults planted below the write path are found and repaired.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::Database;
use crate::catalog::TableDescriptor;
use crate::row::INDEX_FAMILY;
use crate::write::tests::{answer, connect, database};
use std::ops::ControlFlow;
use stoa_store::{CellRef, Commit, Durability, KeyRange, Mutations, ReadSpec, ScanSpec, TableId};

fn table(database: &Database, name: &str) -> TableDescriptor {
    let catalog = database.inner().transactions.published_catalog();
    catalog
        .relations()
        .find_map(|r| match &**r {
            crate::catalog::Relation::Table(t) if t.name == name => Some(t.clone()),
            _ => None,
        })
        .unwrap()
}

/// The rows of an index table.
async fn entries(database: &Database, index: TableId) -> Vec<(Vec<u8>, Vec<u8>)> {
    let store = &database.inner().store;
    let read = ReadSpec {
        table: index,
        families: vec![INDEX_FAMILY],
        qualifiers: None,
        versions: 1,
        time_range: None,
        snapshot: store.snapshot(),
    };
    let spec = ScanSpec { read, range: KeyRange::all(), reverse: false, limit: None, fill_cache: false };
    let mut scan = store.scan(spec).await.unwrap();
    let mut out = Vec::new();
    let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
        out.push((key.to_vec(), cells[0].value.to_vec()));
        ControlFlow::Continue(())
    };
    while scan.next_block(100, &mut sink).await.unwrap() {}
    out
}

async fn change(database: &Database, change: impl FnOnce(&mut Mutations)) {
    let mut mutations = Mutations::new();
    change(&mut mutations);
    let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed };
    database.inner().store.commit(commit).await.unwrap();
}

#[tokio::test]
async fn planted_faults_are_found_and_repaired() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE t (id int PRIMARY KEY, a int, b text, c text)",
        "CREATE INDEX i ON t (a) INCLUDE (c) WITH (salt_buckets = 3)",
        "CREATE UNIQUE INDEX u ON t (b DESC)",
        "CREATE INDEX p ON t (lower(c)) WHERE a > 5",
        "INSERT INTO t SELECT n, n, 'b' || n, 'C' || n FROM generate_series(1, 9) n",
    ] {
        answer(&mut s, sql).await;
    }
    for check in ["CHECK INDEX i", "CHECK INDEX u", "CHECK INDEX p", "CHECK TABLE t", "CHECK INDEX t_pkey"] {
        assert_eq!(answer(&mut s, check).await, "", "{check}");
    }
    let t = table(&database, "t");
    let storage = |name: &str| t.indexes.iter().find(|i| i.name == name).unwrap().storage;
    // Missing, extra (by removing the row alone), wrong value in one index; stale in another.
    let i = entries(&database, storage("i")).await;
    let u = entries(&database, storage("u")).await;
    let p = entries(&database, storage("p")).await;
    let of = |list: &[(Vec<u8>, Vec<u8>)], at: usize| list[at].clone();
    let (missing, wrong, other) = (of(&i, 0), of(&i, 1), of(&i, 2));
    change(&database, |m| {
        m.delete_row(storage("i"), &missing.0);
        m.put(storage("i"), &wrong.0, INDEX_FAMILY, &[], &other.1);
        let mut stale = u[0].0.clone();
        stale[3] ^= 1;
        m.put(storage("u"), &stale, INDEX_FAMILY, &[], &u[0].1);
        m.put(storage("u"), &u[1].0[..u[1].0.len() - 1], INDEX_FAMILY, &[], b"");
        let mut extra = p[0].0.clone();
        *extra.last_mut().unwrap() = 77;
        m.put(storage("p"), &extra, INDEX_FAMILY, &[], &p[0].1);
    })
    .await;
    let told = answer(&mut s, "CHECK TABLE t").await;
    let kinds: Vec<(&str, &str)> = told
        .split("; ")
        .map(|line| {
            let mut parts = line.split('|');
            (parts.next().unwrap(), parts.next().unwrap())
        })
        .collect();
    let mut sorted = kinds.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [("i", "missing"), ("i", "wrong value"), ("p", "extra"), ("u", "stale"), ("u", "unreadable")], "{told}");
    assert!(told.contains("p|extra") && told.contains("|77|f"), "{told}");
    let repaired = answer(&mut s, "CHECK TABLE t REPAIR").await;
    assert!(repaired.split("; ").all(|line| line.ends_with("|t")) && repaired.split("; ").count() == 5, "{repaired}");
    assert_eq!(answer(&mut s, "CHECK TABLE t").await, "");
    assert_eq!((entries(&database, storage("i")).await, entries(&database, storage("u")).await), (i, u));
    assert_eq!(entries(&database, storage("p")).await, p);
}

#[tokio::test]
async fn a_check_names_what_it_cannot_check() {
    let database = database().await;
    let mut s = connect(&database);
    answer(&mut s, "CREATE TABLE t (id int PRIMARY KEY)").await;
    assert!(answer(&mut s, "CHECK INDEX t").await.starts_with("42809"));
    assert!(answer(&mut s, "CHECK INDEX nothing REPAIR").await.starts_with("42P01"));
    assert!(answer(&mut s, "CHECK TABLE nothing").await.starts_with("42P01"));
}
