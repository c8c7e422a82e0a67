//! What a system relation gives does not depend on what was asked of it: a filtered read is the whole relation, filtered.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::session::write_tests::{answer, connect, database};
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
