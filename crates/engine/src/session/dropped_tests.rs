//! Tables that were dropped: over a start, after their time, and asked for by two at once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::background::background_purge;
use super::write_tests::{answer, connect, database};
use crate::{Database, DatabaseOptions};
use std::sync::Arc;
use stoa_table::Tables;
use stoa_table::catalog::Oid;

async fn make(database: &Database) -> Oid {
    let mut session = connect(database);
    let definition = "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text UNIQUE)";
    assert_eq!(answer(&mut session, definition).await, "CREATE TABLE");
    assert_eq!(answer(&mut session, "INSERT INTO t (v) VALUES ('a'), ('b')").await, "INSERT 0 2");
    let oid = answer(&mut session, "SELECT 't'::regclass::oid").await.parse().unwrap();
    assert_eq!(answer(&mut session, "DROP TABLE t").await, "DROP TABLE");
    oid
}

#[tokio::test]
async fn a_dropped_table_comes_back_after_a_start() {
    let tables = Tables::in_memory();
    let open = || async { Database::open(tables.clone(), DatabaseOptions::default()).await.unwrap() };
    make(&open().await).await;
    let mut session = connect(&open().await);
    assert_eq!(answer(&mut session, "UNDROP TABLE t").await, "UNDROP TABLE");
    assert_eq!(answer(&mut session, "INSERT INTO t (v) VALUES ('c')").await, "INSERT 0 1");
    assert_eq!(answer(&mut session, "SELECT string_agg(id || v, ',' ORDER BY id) FROM t").await, "1a,2b,3c");
    let twice = answer(&mut session, "INSERT INTO t (v) VALUES ('a')").await;
    assert!(twice.starts_with("23505"), "{twice}");
    // And is no more among those that can.
    let mut session = connect(&open().await);
    assert_eq!(answer(&mut session, "SELECT (SELECT count(*) FROM pg_dropped_tables), (SELECT count(*) FROM t)").await, "0|3");
}

#[tokio::test]
async fn a_table_whose_time_is_over_leaves_nothing() {
    let database = database().await;
    let oid = make(&database).await;
    let inner = Arc::clone(database.inner());
    let catalog = inner.transactions.published_catalog();
    let storages = catalog.dropped()[&oid].storage();
    assert_eq!(storages.len(), 2);
    for storage in &storages {
        assert!(inner.tables.describe(*storage).await.unwrap().is_some());
    }
    background_purge(Arc::clone(&inner), oid).await.unwrap();
    assert!(inner.transactions.published_catalog().dropped().is_empty());
    for storage in &storages {
        assert!(inner.tables.describe(*storage).await.unwrap().is_none());
    }
    let gone = answer(&mut connect(&database), "UNDROP TABLE t").await;
    assert!(gone.starts_with("42P01"), "{gone}");
    // One that has come back meanwhile is left alone.
    let oid = make(&database).await;
    assert_eq!(answer(&mut connect(&database), "UNDROP TABLE t").await, "UNDROP TABLE");
    background_purge(inner, oid).await.unwrap();
    assert_eq!(answer(&mut connect(&database), "SELECT count(*) FROM t").await, "2");
}

#[tokio::test]
async fn of_two_who_bring_a_table_back_one_does() {
    let database = database().await;
    make(&database).await;
    let (mut first, mut second) = (connect(&database), connect(&database));
    assert_eq!(answer(&mut first, "BEGIN").await, "BEGIN");
    assert_eq!(answer(&mut first, "UNDROP TABLE t").await, "UNDROP TABLE");
    let waiting = tokio::spawn(async move { answer(&mut second, "UNDROP TABLE t RENAME TO u").await });
    tokio::task::yield_now().await;
    assert_eq!(answer(&mut first, "COMMIT").await, "COMMIT");
    let answered = waiting.await.unwrap();
    assert!(answered.starts_with("42P01"), "{answered}");
    assert_eq!(answer(&mut first, "SELECT count(*) FROM t").await, "2");
}
