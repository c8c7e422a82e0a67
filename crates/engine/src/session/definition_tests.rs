//! What `stoa_get_tabledef` gives makes the same relations again in another database.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::write_tests::{answer, database};
use crate::session::SessionOptions;

#[tokio::test]
async fn definitions_can_be_run_elsewhere() {
    let (first, second) = (database().await, database().await);
    let connect =
        |database: &crate::Database| database.connect(SessionOptions { user: "stoa".into(), ..SessionOptions::default() }).unwrap();
    let (mut here, mut there) = (connect(&first), connect(&second));
    for sql in [
        "CREATE SCHEMA lib",
        "SET search_path = lib",
        "CREATE TABLE d (a int, s serial, at timestamptz, PRIMARY KEY (REVERSE(s), a)) TIMESTAMP FROM at",
        "CREATE TABLE ref (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, s int, a int, n bigserial, m map(text, int), b text UNIQUE,
            CHECK (a > 0), CONSTRAINT to_d FOREIGN KEY (s, a) REFERENCES d)",
        "CREATE INDEX ON ref_m_entries (value) WHERE key = 'x'",
        "CREATE INDEX ON ref USING fulltext (b)",
        "CREATE INDEX ON ref ((a + 1)) WHERE b IS NOT NULL",
        "COMMENT ON TABLE ref IS 'refers'",
        "COMMENT ON COLUMN ref.s IS 'to ''d'''",
        "COMMENT ON SEQUENCE ref_n_seq IS 'counts'",
        "CREATE POLICY own ON ref USING (id > 0)",
        "ALTER TABLE ref ENABLE ROW LEVEL SECURITY",
        "CREATE VIEW v AS SELECT s, a FROM d WHERE a > 1 WITH CHECK OPTION",
        "CREATE MATERIALIZED VIEW mv AS SELECT a FROM d",
        "CREATE INDEX ON mv (a)",
        "COMMENT ON MATERIALIZED VIEW mv IS 'kept'",
    ] {
        assert!(!answer(&mut here, sql).await.contains(':'), "{sql}");
    }
    for sql in ["CREATE SCHEMA lib", "SET search_path = ''"] {
        answer(&mut there, sql).await;
    }
    for name in ["d", "ref", "v", "mv"] {
        let of = format!("SELECT stoa_get_tabledef('lib.{name}'::regclass)");
        let definition = answer(&mut here, &of).await;
        for sql in definition.split(";\n") {
            let told = answer(&mut there, sql).await;
            assert!(!told.contains(':'), "{sql}: {told}");
        }
        assert_eq!(answer(&mut there, &of).await, definition);
    }
}
