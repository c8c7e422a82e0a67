//! What a system relation gives does not depend on what was asked of it: a filtered read is the whole relation, filtered.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::session::write_tests::{answer, connect, database};
use stoa_exec::environment::upkeep;
use stoa_pg::PgType;
use stoa_sql::system_relations as definitions;

const OBJECTS: &[&str] = &[
    "CREATE SCHEMA s",
    "CREATE TABLE t (id int PRIMARY KEY, a text DEFAULT 'x', b int GENERATED ALWAYS AS IDENTITY, c int GENERATED ALWAYS AS (id + 1) STORED)",
    "CREATE INDEX i ON t (a) INCLUDE (c)",
    "CREATE UNIQUE INDEX u ON t (lower(a), b DESC)",
    "CREATE TABLE s.t (k text PRIMARY KEY, t int REFERENCES t, CHECK (k <> ''), UNIQUE (t))",
    "ALTER TABLE t ADD COLUMN d int",
    "ALTER TABLE t DROP COLUMN d",
    "CREATE VIEW v AS SELECT id, a FROM t WHERE id > 3",
    "CREATE VIEW s.w AS SELECT a, count(*) FROM v GROUP BY a",
    "CREATE MATERIALIZED VIEW m AS SELECT k FROM s.t",
    "CREATE INDEX mi ON m (k)",
    "CREATE SEQUENCE q",
    "COMMENT ON TABLE t IS 'a table'",
    "COMMENT ON COLUMN s.t.k IS 'a key'",
    "INSERT INTO t (id) SELECT * FROM generate_series(1, 50)",
    "ANALYZE t",
];

/// Values of a column that are asked for.
const VALUES: usize = 4;

#[tokio::test]
async fn a_filtered_read_is_the_whole_relation_filtered() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in OBJECTS {
        answer(&mut s, sql).await;
    }
    let mut compared = 0;
    // What other sessions do changes from one statement to the next.
    for definition in definitions::all().filter(|d| !stoa_exec::virtual_tables::is_live(&d.name)) {
        let relation = format!("{}.{}", definition.schema, definition.name);
        for (column, ty) in &definition.columns {
            if !matches!(
                ty.ty,
                PgType::Oid | PgType::Name | PgType::Text | PgType::Varchar | PgType::Int2 | PgType::Int4 | PgType::Int8 | PgType::Char
            ) {
                continue;
            }
            // Counted by group, there is no filter to be handed down but one that restricts nothing.
            let counted = format!(
                "SELECT count(*), \"{column}\" FROM {relation} GROUP BY 2 HAVING strpos(\"{column}\"::text, ';') = 0 ORDER BY 1, 2 LIMIT {VALUES}"
            );
            let groups = answer(&mut s, &counted).await;
            for group in groups.split("; ") {
                let (count, value) = group.split_once('|').unwrap_or((group, ""));
                if value.is_empty() || value == "NULL" {
                    continue;
                }
                let value = value.replace('\'', "''");
                for condition in [
                    format!("\"{column}\" = '{value}'"),
                    format!("\"{column}\" IN ('{value}', NULL)"),
                    format!("'{value}' >= \"{column}\" AND \"{column}\" >= '{value}'"),
                ] {
                    let found = answer(&mut s, &format!("SELECT count(*) FROM {relation} WHERE {condition}")).await;
                    assert_eq!(found.trim(), count.trim(), "{relation}: {condition}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[tokio::test]
async fn joins_hand_down_what_they_look_for() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in OBJECTS {
        answer(&mut s, sql).await;
    }
    let query = "SELECT a.attname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid \
                 WHERE n.nspname = 's' AND c.relname = 't' AND a.attnum > 0 ORDER BY a.attnum";
    assert_eq!(answer(&mut s, query).await, "k; t");
    let plan = answer(&mut s, &format!("EXPLAIN ANALYZE {query}")).await;
    let scan = plan.split("; ").find(|line| line.contains("relation=pg_attribute")).expect("a scan of pg_attribute");
    assert!(scan.contains("dynamic=["), "{plan}");
    let rows: usize = scan.split("actual rows=").nth(1).and_then(|rest| rest.split([',', ']', ' ']).next()).unwrap().parse().unwrap();
    assert!(rows <= 4, "{plan}");
}

/// A dump reads the catalogs by many queries of one transaction: what others define meanwhile must not come between them.
#[tokio::test]
async fn system_relations_show_what_the_transactions_snapshot_saw() {
    let database = database().await;
    let (mut s, mut other) = (connect(&database), connect(&database));
    for sql in ["CREATE TABLE t (id int PRIMARY KEY)", "CREATE VIEW v AS SELECT id FROM t"] {
        answer(&mut other, sql).await;
    }
    let query = "SELECT string_agg(relname, ',' ORDER BY relname), \
                 (SELECT count(*) FROM pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relname = 't')), \
                 (SELECT count(*) FROM pg_rewrite), (SELECT count(*) FROM information_schema.tables WHERE table_name IN ('t', 'v', 'own')) \
                 FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace";
    let before = answer(&mut s, query).await;
    for (begin, keeps) in [("BEGIN ISOLATION LEVEL REPEATABLE READ", true), ("BEGIN ISOLATION LEVEL SERIALIZABLE", true), ("BEGIN", false)]
    {
        answer(&mut s, begin).await;
        assert_eq!(answer(&mut s, query).await, before, "{begin}");
        for sql in ["DROP VIEW v", "ALTER TABLE t ADD COLUMN a int", "CREATE TABLE u (id int PRIMARY KEY)"] {
            answer(&mut other, sql).await;
        }
        let newest = answer(&mut other, query).await;
        assert_ne!(newest, before);
        assert_eq!(answer(&mut s, query).await, if keeps { before.clone() } else { newest.clone() }, "{begin}");
        // What the transaction itself defines is seen beside it.
        answer(&mut s, "CREATE TABLE own (id int PRIMARY KEY)").await;
        let seen = answer(&mut s, query).await;
        assert!(seen.starts_with(if keeps { "own,t,v|" } else { "own,t,u|" }), "{begin}: {seen}");
        answer(&mut s, "ROLLBACK").await;
        assert_eq!(answer(&mut s, query).await, newest);
        for sql in [
            "DROP TABLE u",
            "ALTER TABLE t DROP COLUMN a",
            "DROP TABLE t",
            "CREATE TABLE t (id int PRIMARY KEY)",
            "CREATE VIEW v AS SELECT id FROM t",
        ] {
            answer(&mut other, sql).await;
        }
    }
}

#[tokio::test]
async fn what_happened_in_a_database_is_counted() {
    let database = database().await;
    let mut s = connect(&database);
    let counted = "SELECT tup_inserted, tup_updated, tup_deleted FROM pg_stat_database WHERE datname = current_database()";
    let of_table = "SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables WHERE relname = 't'";
    for sql in [
        "CREATE TABLE t (id int PRIMARY KEY, n int)",
        "INSERT INTO t SELECT i, i FROM generate_series(1, 10) i",
        "UPDATE t SET n = 0 WHERE id <= 4",
        "DELETE FROM t WHERE id = 10",
        "INSERT INTO t VALUES (1, 7), (11, 7) ON CONFLICT (id) DO UPDATE SET n = excluded.n",
        "MERGE INTO t USING (VALUES (2), (12)) v(id) ON t.id = v.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.id, 0)",
    ] {
        answer(&mut s, sql).await;
    }
    assert_eq!(answer(&mut s, counted).await, "12|5|2");
    assert_eq!(answer(&mut s, of_table).await, "12|5|2");

    let ends = "SELECT xact_commit, xact_rollback, sessions FROM pg_stat_database WHERE datname = current_database()";
    let before = answer(&mut s, ends).await;
    let commits = "SELECT value > 0 FROM pg_stat_store WHERE name = 'rows' UNION ALL SELECT value >= 0 FROM pg_stat_store WHERE name = 'column_cache_bytes'";
    assert_eq!(answer(&mut s, commits).await, "t; t");
    // What is rolled back was written, too.
    for sql in ["BEGIN", "INSERT INTO t VALUES (20, 0)", "ROLLBACK", "SELECT 1 / 0", "SELECT 1"] {
        answer(&mut s, sql).await;
    }
    drop(connect(&database));
    let numbers = |text: &str| text.split('|').map(|n| n.parse().unwrap()).collect::<Vec<u64>>();
    let (before, after) = (numbers(&before), numbers(&answer(&mut s, ends).await));
    let grown: Vec<u64> = before.iter().zip(&after).map(|(before, after)| after - before).collect();
    // Two questions and the last SELECT were committed.
    assert_eq!(grown, [3, 2, 1]);
    assert_eq!(answer(&mut s, counted).await, "13|5|2");
}

#[tokio::test]
async fn what_is_known_of_tables_that_are_gone_is_forgotten() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "SET stoa.undrop_retention = 0",
        "CREATE TABLE kept (id int PRIMARY KEY)",
        "CREATE TABLE gone (id int PRIMARY KEY)",
        "CREATE TEMP TABLE passing (id int)",
        "INSERT INTO kept SELECT generate_series(1, 10)",
        "INSERT INTO gone SELECT generate_series(1, 10)",
        "INSERT INTO passing SELECT generate_series(1, 10)",
        "ANALYZE",
        "INSERT INTO gone VALUES (11)",
    ] {
        answer(&mut s, sql).await;
    }
    let inner = database.inner();
    let (counted, known) = (inner.counters.tables().len(), inner.statistics.tables().len());
    let mut absent = upkeep::Absent::new();
    upkeep::forget_gone(inner, &mut absent).await.unwrap();
    assert_eq!((inner.counters.tables().len(), inner.statistics.tables().len()), (counted, known));
    assert_eq!(counted, 3);
    // One that a transaction has made and filled is about to come.
    let mut other = connect(&database);
    for sql in ["BEGIN", "CREATE TABLE coming (id int PRIMARY KEY)", "INSERT INTO coming VALUES (1)"] {
        answer(&mut other, sql).await;
    }
    answer(&mut s, "DROP TABLE gone, passing").await;
    for _ in 0..3 {
        upkeep::forget_gone(inner, &mut absent).await.unwrap();
        assert_eq!(inner.counters.tables().len(), 4);
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    answer(&mut other, "COMMIT").await;
    upkeep::forget_gone(inner, &mut absent).await.unwrap();
    assert_eq!(inner.counters.tables().len(), 2);
    assert_eq!(answer(&mut other, "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'coming'").await, "1");
    answer(&mut s, "DROP TABLE coming").await;
    assert_eq!(answer(&mut s, "SELECT relname, n_tup_ins, n_live_tup FROM pg_stat_user_tables").await, "kept|10|10");
}
