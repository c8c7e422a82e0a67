//! Faults planted below the write path are found and repaired.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::session::write_tests::{answer, connect, database};
use crate::{Database, DatabaseOptions};
use std::ops::ControlFlow;
use std::time::Duration;
use stoa_exec::environment::checks::ScrubOptions;
use stoa_table::Tables;
use stoa_table::catalog::TableDescriptor;
use stoa_table::row::INDEX_FAMILY;
use stoa_table::txn::RangeRead;
use stoa_table::{CellRef, KeyRange, Mutations, TableId};

pub(crate) fn table(database: &Database, name: &str) -> TableDescriptor {
    let catalog = database.inner().transactions.published_catalog();
    catalog
        .relations()
        .find_map(|r| match &**r {
            stoa_table::catalog::Relation::Table(t) if t.name == name => Some(t.clone()),
            _ => None,
        })
        .unwrap()
}

/// The rows of an index table.
pub(crate) async fn entries(database: &Database, index: TableId) -> Vec<(Vec<u8>, Vec<u8>)> {
    let read =
        RangeRead { table: index, families: vec![INDEX_FAMILY], range: KeyRange::all(), reverse: false, limit: None, fill_cache: false };
    let mut scan = database.inner().tables.newest().scan(read).await.unwrap();
    let mut out = Vec::new();
    let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
        out.push((key.to_vec(), cells[0].value.to_vec()));
        ControlFlow::Continue(())
    };
    while scan.next_block(100, &mut sink).await.unwrap() {}
    out
}

pub(crate) async fn change(database: &Database, change: impl FnOnce(&mut Mutations)) {
    let mut mutations = Mutations::new();
    change(&mut mutations);
    database.inner().tables.write(&mutations).await.unwrap();
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
    let answered = answer(&mut s, "CHECK TABLE t").await;
    let kinds: Vec<(&str, &str)> = answered
        .split("; ")
        .map(|line| {
            let mut parts = line.split('|');
            (parts.next().unwrap(), parts.next().unwrap())
        })
        .collect();
    let mut sorted = kinds.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [("i", "missing"), ("i", "wrong value"), ("p", "extra"), ("u", "stale"), ("u", "unreadable")], "{answered}");
    assert!(answered.contains("p|extra") && answered.contains("|77|f"), "{answered}");
    let repaired = answer(&mut s, "CHECK TABLE t REPAIR").await;
    assert!(repaired.split("; ").all(|line| line.ends_with("|t")) && repaired.split("; ").count() == 5, "{repaired}");
    assert_eq!(answer(&mut s, "CHECK TABLE t").await, "");
    assert_eq!((entries(&database, storage("i")).await, entries(&database, storage("u")).await), (i, u));
    assert_eq!(entries(&database, storage("p")).await, p);
}

#[tokio::test]
async fn faults_are_found_where_entries_may_be_left_of_what_has_ended() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE k (id int PRIMARY KEY, a int, b text) WITH (ttl = '1 day')",
        "CREATE INDEX ki ON k (a) INCLUDE (b)",
        "CREATE UNIQUE INDEX ku ON k (b)",
        "CREATE TABLE h (a int) WITH (ttl = '1 day')",
        "CREATE INDEX hi ON h (a)",
        "CREATE TABLE g (id int PRIMARY KEY, a int, b text, FAMILY f (a), FAMILY g (b) WITH (ttl = '1 day'))",
        "CREATE INDEX gi ON g (b)",
        "INSERT INTO k SELECT n, n, 'b' || n FROM generate_series(1, 9) n",
        "INSERT INTO h SELECT n FROM generate_series(1, 9) n",
        "INSERT INTO g SELECT n, n, nullif('b' || n, 'b3') FROM generate_series(1, 9) n",
    ] {
        answer(&mut s, sql).await;
    }
    let storage = |table: &TableDescriptor, name: &str| table.indexes.iter().find(|i| i.name == name).unwrap().storage;
    let (k, h, g) = (table(&database, "k"), table(&database, "h"), table(&database, "g"));
    let (ki, ku, hi, gi) = (storage(&k, "ki"), storage(&k, "ku"), storage(&h, "hi"), storage(&g, "gi"));
    let (of_ki, of_ku, of_hi) = (entries(&database, ki).await, entries(&database, ku).await, entries(&database, hi).await);
    let of_gi = entries(&database, gi).await;
    for name in ["k", "h", "g"] {
        assert_eq!(answer(&mut s, &format!("CHECK TABLE {name}")).await, "");
    }
    let changed = |key: &[u8]| {
        let mut key = key.to_vec();
        key[3] ^= 1;
        key
    };
    change(&database, |m| {
        m.delete_row(ki, &of_ki[0].0);
        m.put(ki, &of_ki[1].0, INDEX_FAMILY, &[], &of_ki[2].1);
        // What a row that ended could have left, if its key was taken since.
        m.put(ki, &changed(&of_ki[3].0), INDEX_FAMILY, &[], &of_ki[3].1);
        m.put(ku, &of_ku[4].0, INDEX_FAMILY, &[], &of_ku[5].1);
        // Numbers of rows are not taken again: no row can have left this.
        m.delete_row(hi, &of_hi[0].0);
        m.put(hi, &changed(&of_hi[0].0), INDEX_FAMILY, &[], &of_hi[0].1);
        // A value that ended is in an entry still, and the row has none without it.
        let null = of_gi.last().unwrap();
        m.delete_row(gi, &null.0);
        m.delete_row(gi, &of_gi[0].0);
    })
    .await;
    for (name, wanted) in [("k", "ki|missing ki|wrong value ku|wrong value"), ("h", "hi|missing hi|stale"), ("g", "gi|missing")] {
        let answered = answer(&mut s, &format!("CHECK TABLE {name}")).await;
        let mut kinds: Vec<String> = answered.split("; ").map(|line| line.split('|').take(2).collect::<Vec<_>>().join("|")).collect();
        kinds.sort_unstable();
        assert_eq!(kinds.join(" "), wanted, "{answered}");
        let repaired = answer(&mut s, &format!("CHECK TABLE {name} REPAIR")).await;
        assert!(repaired.split("; ").all(|line| line.ends_with("|t")), "{repaired}");
        assert_eq!(answer(&mut s, &format!("CHECK TABLE {name}")).await, "");
    }
    assert_eq!((entries(&database, ku).await, entries(&database, hi).await), (of_ku, of_hi));
}

/// The two ways of reading: what runs without a planner, and what must be planned.
const WAYS: [&str; 2] = ["SELECT {} b FROM t WHERE {}", "SELECT {} sum(b) FROM t WHERE {} GROUP BY a"];

/// The answers of both ways, which must be one.
async fn both(s: &mut crate::session::Session, hint: &str, filter: &str) -> String {
    let mut answers = Vec::new();
    for way in WAYS {
        let sql = way.replacen("{}", hint, 1).replacen("{}", filter, 1);
        answers.push(answer(s, &sql).await);
    }
    assert_eq!(answers[0], answers[1], "{hint} {filter}");
    answers.remove(0)
}

/// An index that lost its entries tells whether it was read.
#[tokio::test]
async fn both_ways_of_reading_obey_hints_and_settings() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int)",
        "INSERT INTO t SELECT n, n, n FROM generate_series(1, 50) n",
        "CREATE INDEX i ON t (a)",
        "CREATE INDEX j ON t (a) INCLUDE (b)",
    ] {
        answer(&mut s, sql).await;
    }
    let t = table(&database, "t");
    for index in &t.indexes {
        let list = entries(&database, index.storage).await;
        assert_eq!(list.len(), 50);
        change(&database, |m| list.iter().for_each(|(key, _)| m.delete_row(index.storage, key))).await;
    }
    let (read, lost) = ("7", "");
    for (settings, hint, filter, wanted) in [
        ("", "", "a = 7", lost),
        ("", "/*+ FULL(t) */", "a = 7", read),
        ("", "/*+ NO_INDEX(t) */", "a = 7", read),
        ("", "/*+ NO_INDEX(t i j) */", "a = 7", read),
        ("", "/*+ NO_INDEX(t i) */", "a = 7", lost),
        ("", "/*+ INDEX(t i) */", "a = 7", lost),
        ("", "/*+ USE_INDEX(t USING i) */", "b = 7", lost),
        ("", "", "b = 7", read),
        ("", "", "id = 7", read),
        ("", "/*+ INDEX(t j) */", "id = 7", lost),
        ("stoa.force_index = on", "", "b = 7", lost),
        ("stoa.force_index = on", "/*+ FULL(t) */", "b = 7", read),
        ("stoa.force_index = on", "", "id = 7", read),
        ("stoa.enable_covered_scan = off", "", "a = 7", lost),
        ("stoa.enable_covered_scan = off; SET stoa.enable_index_lookup = off", "", "a = 7", read),
        ("stoa.enable_covered_scan = off; SET stoa.enable_index_lookup = off", "/*+ INDEX(t i) */", "a = 7", lost),
        ("stoa.enable_full_scan = off", "", "b = 7", lost),
    ] {
        for setting in settings.split("; ").filter(|s| !s.is_empty()) {
            answer(&mut s, &format!("SET {}", setting.trim_start_matches("SET "))).await;
        }
        assert_eq!(both(&mut s, hint, filter).await, wanted, "{settings}: {hint} {filter}");
        answer(&mut s, "RESET ALL").await;
    }
}

#[tokio::test]
async fn a_snapshot_older_than_an_online_build_does_not_read_the_index() {
    let database = database().await;
    let (mut s, mut builder) = (connect(&database), connect(&database));
    for sql in [
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int)",
        "INSERT INTO t SELECT n, n, n FROM generate_series(1, 50) n",
        "BEGIN ISOLATION LEVEL REPEATABLE READ",
        "SELECT 1 FROM t",
    ] {
        answer(&mut s, sql).await;
    }
    assert_eq!(answer(&mut builder, "CREATE INDEX CONCURRENTLY i ON t (a)").await, "CREATE INDEX");
    // At the snapshot the index has no entries at all.
    for hint in ["", "/*+ INDEX(t i) */", "/*+ USE_INDEX(t USING i) */"] {
        assert_eq!(both(&mut s, hint, "a = 7").await, "7", "{hint}");
    }
    answer(&mut s, "SET stoa.force_index = on").await;
    assert_eq!(both(&mut s, "", "a = 7").await, "7");
    assert_eq!(both(&mut s, "", "b = 7").await, "7");
    assert_eq!(answer(&mut s, "COMMIT").await, "COMMIT");
    let explained = answer(&mut s, "EXPLAIN SELECT b FROM t WHERE a = 7").await;
    assert!(explained.contains("index=i"), "{explained}");
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

#[tokio::test]
async fn drift_is_found_without_being_asked_for_and_kept() {
    let tables = Tables::in_memory();
    let scrub = ScrubOptions { rows_per_second: 1_000_000, interval: Duration::from_millis(50) };
    let options = DatabaseOptions { scrub, ..DatabaseOptions::default() };
    let database = Database::open(tables.clone(), options.clone()).await.unwrap();
    let mut s = connect(&database);
    for sql in
        ["CREATE TABLE t (id int PRIMARY KEY, a int)", "INSERT INTO t SELECT n, n FROM generate_series(1, 20) n", "CREATE INDEX i ON t (a)"]
    {
        answer(&mut s, sql).await;
    }
    let answered = "SELECT indexrelname, entries, faults, background, failure FROM pg_stat_index_check WHERE relname = 't'";
    let mut wait = async |wanted: &str| {
        for _ in 0..400 {
            if answer(&mut s, answered).await == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{}", answer(&mut s, answered).await);
    };
    wait("i|20|0|t|NULL").await;
    let index = table(&database, "t").indexes[0].clone();
    let first = entries(&database, index.storage).await.remove(0);
    change(&database, |m| m.delete_row(index.storage, &first.0)).await;
    wait("i|19|1|t|NULL").await;
    let mut s = connect(&database);
    assert!(answer(&mut s, "CHECK INDEX i REPAIR").await.contains("missing"));
    drop((s, database));
    // It survives, without the background when that is off.
    let off = DatabaseOptions { scrub: ScrubOptions { rows_per_second: 0, ..scrub }, ..options };
    let database = Database::open(tables, off).await.unwrap();
    let mut s = connect(&database);
    let kept = answer(&mut s, "SELECT checks > 1, faults_ever > 0, last_check <= now() FROM pg_stat_index_check").await;
    assert_eq!(kept, "t|t|t");
    answer(&mut s, "CHECK TABLE t").await;
    assert_eq!(answer(&mut s, answered).await, "i|20|0|f|NULL");
}

#[tokio::test]
async fn some_rows_are_checked_and_repaired() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE t (id int PRIMARY KEY, a int)",
        "CREATE INDEX i ON t (a)",
        "INSERT INTO t SELECT n, n FROM generate_series(1, 9) n",
        "CREATE TABLE keyless (a int)",
        "CREATE INDEX k ON keyless (a)",
    ] {
        answer(&mut s, sql).await;
    }
    let i = table(&database, "t").indexes[0].storage;
    let sound = entries(&database, i).await;
    // The entry of row 1 is missing, and row 2 has one of another value besides.
    change(&database, |m| {
        m.delete_row(i, &sound[0].0);
        let mut stale = sound[1].0.clone();
        stale[4] ^= 0x40;
        m.put(i, &stale, INDEX_FAMILY, &[], &sound[1].1);
    })
    .await;
    assert_eq!(answer(&mut s, "CHECK INDEX i WHERE id > 2").await, "");
    // The index is not asked for the rows.
    for condition in ["id = 1", "a = 1", "a BETWEEN 1 AND 1 OR id = 1"] {
        let answered = answer(&mut s, &format!("CHECK INDEX i WHERE {condition}")).await;
        assert!(answered.starts_with("i|missing") && !answered.contains("; "), "{condition}: {answered}");
    }
    let answered = answer(&mut s, "CHECK TABLE t WHERE id = 2").await;
    assert!(answered.starts_with("i|stale") && !answered.contains("; "), "{answered}");
    assert!(answer(&mut s, "CHECK INDEX i WHERE id = 1 REPAIR").await.ends_with("|t"));
    assert_eq!(entries(&database, i).await.len(), sound.len() + 1);
    assert!(answer(&mut s, "CHECK INDEX i WHERE id < 5 REPAIR").await.ends_with("|t"));
    assert_eq!(entries(&database, i).await, sound);
    assert!(answer(&mut s, "CHECK INDEX k WHERE a = 1").await.starts_with("0A000"));
}
