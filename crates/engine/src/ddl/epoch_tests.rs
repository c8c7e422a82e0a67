//! Tables of versions that counted timestamps from 1970: they are read and written as they are, until they are written anew.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::session::write_tests::{answer, connect};
use crate::{Database, DatabaseOptions, Tables};
use stoa_table::catalog::Epoch;

/// A store with empty tables as a version wrote them that counted from 1970 alone.
async fn older(script: &[&str]) -> Database {
    let tables = Tables::in_memory();
    let open = || Database::open(tables.clone(), DatabaseOptions::default());
    let mut session = connect(&open().await.unwrap());
    for statement in script {
        answer(&mut session, statement).await;
    }
    session.close().await;
    for (key, cell) in tables.notes().await.unwrap().into_iter().filter(|(key, _)| key[0] == b'r') {
        let mut relation: serde_json::Value = serde_json::from_slice(&cell[1..]).unwrap();
        assert_eq!(relation["Table"].as_object_mut().unwrap().remove("epoch").unwrap(), "Postgres");
        let mut cell = vec![1];
        serde_json::to_writer(&mut cell, &relation).unwrap();
        tables.put_note(&key, &cell).await.unwrap();
    }
    open().await.unwrap()
}

#[tokio::test]
async fn tables_of_older_versions_go_on() {
    let database = older(&[
        "CREATE TABLE t (k timestamp PRIMARY KEY, z timestamptz, a timestamp[], n int)",
        "CREATE INDEX ON t (z DESC) INCLUDE (a)",
        "CREATE TABLE b (a timestamp[] PRIMARY KEY)",
        "CREATE TABLE s (d text, t timestamp, PRIMARY KEY (d, t DESC)) SPLIT AT (('m', '2010-01-01'))",
    ])
    .await;
    let mut s = connect(&database);
    let beyond =
        "22008: timestamp out of range / The table is of a version that counted microseconds from 1970, which end in the year 294247.";
    for (statement, wanted) in [
        (
            "INSERT INTO t SELECT t, t, ARRAY[t, NULL], n FROM (SELECT timestamp '1960-01-01' + n * interval '1 year' t, n FROM generate_series(0, 80) n) x",
            "INSERT 0 81",
        ),
        ("INSERT INTO t VALUES ('infinity', '-infinity', '{-infinity}', -1)", "INSERT 0 1"),
        ("SELECT n, z, a FROM t WHERE k = '2000-01-01'", "40|2000-01-01 00:00:00+00|{\"2000-01-01 00:00:00\",NULL}"),
        ("SELECT n FROM t WHERE z BETWEEN '1968-06-01' AND '1970-06-01' ORDER BY z", "9; 10"),
        ("SELECT n FROM t WHERE z < '1962-01-01' ORDER BY z", "-1; 0; 1"),
        ("SELECT n FROM t WHERE k > '294260-01-01'", "-1"),
        ("SELECT count(*) FROM t WHERE k < '294260-01-01'", "81"),
        ("SELECT n FROM t WHERE k = '294260-01-01' OR z = '294260-01-01' OR a = '{294260-01-01}'", ""),
        ("SELECT n FROM t WHERE k IN ('294260-01-01', '1999-01-01')", "39"),
        ("SELECT n FROM t JOIN (VALUES (timestamp '294260-01-01'), ('1999-01-01')) v (k) USING (k)", "39"),
        ("INSERT INTO t VALUES ('294260-01-01')", beyond),
        ("UPDATE t SET z = '294260-01-01' WHERE n = 4", beyond),
        ("UPDATE t SET a = '{294260-01-01}' WHERE n = 4", beyond),
        ("INSERT INTO b VALUES ('{1999-01-01}'), ('{2001-01-01}'), ('{1969-01-01}')", "INSERT 0 3"),
        ("SELECT a[1]::date FROM b WHERE a > '{1969-06-01}' ORDER BY a", "1999-01-01; 2001-01-01"),
        ("ALTER TABLE b ADD COLUMN c timestamp DEFAULT '2020-01-01'", "ALTER TABLE"),
        ("SELECT c, count(*) FROM b GROUP BY c", "2020-01-01 00:00:00|3"),
        ("ANALYZE t", "ANALYZE"),
        // What they lack makes newer tables of them.
        ("ALTER TABLE b ADD COLUMN d timestamp DEFAULT '294260-01-01'", "ALTER TABLE"),
        ("SELECT d, c, a FROM b WHERE a = '{2001-01-01}'", "294260-01-01 00:00:00|2020-01-01 00:00:00|{\"2001-01-01 00:00:00\"}"),
        ("INSERT INTO b VALUES ('{294260-01-01}')", "INSERT 0 1"),
        ("ALTER TABLE t ALTER n TYPE text USING n || '!'", "ALTER TABLE"),
        ("INSERT INTO t VALUES ('294260-01-01', '294260-01-01', '{294260-01-01}', 'x')", "INSERT 0 1"),
        ("SELECT n FROM t WHERE z > '2038-06-01' ORDER BY z", "79!; 80!; x"),
        ("SELECT n FROM t WHERE k = '1970-01-01'", "10!"),
        ("INSERT INTO s VALUES ('m', '2024-01-01')", "INSERT 0 1"),
        ("TRUNCATE s", "TRUNCATE TABLE"),
        ("INSERT INTO s VALUES ('m', '294260-01-01'), ('m', '1999-01-01')", "INSERT 0 2"),
        ("SELECT t FROM s WHERE d = 'm' AND t > '2000-01-01'", "294260-01-01 00:00:00"),
    ] {
        assert_eq!(answer(&mut s, statement).await, wanted, "{statement}");
    }
    s.close().await;
    let epoch = |name: &str| crate::ddl::index_tests::table(&database, name).epoch;
    assert_eq!([epoch("t"), epoch("b"), epoch("s")], [Epoch::Postgres; 3]);
}
