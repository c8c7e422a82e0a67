//! Ways to read through SQL: each gives what reading everything gives, is shown, and has a switch.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::session::write_tests::{answer, connect, database};

#[tokio::test]
async fn ways_to_read_agree_and_can_be_switched_off() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int, d text, pad text)",
        "INSERT INTO t SELECT i, i % 4, i % 500, CASE WHEN i % 10 > 0 THEN i % 777 END, 'd' || i % 90, repeat('x', 100) FROM generate_series(1, 5000) i",
        "CREATE INDEX tab ON t (a, b)",
        "CREATE INDEX tc ON t (c DESC) WITH (salt_buckets = 3)",
        "CREATE INDEX td ON t (d)",
        "ANALYZE t",
        "BEGIN",
        "UPDATE t SET c = 900, b = 3 WHERE id IN (17, 4000)",
        "DELETE FROM t WHERE id IN (1, 5000)",
    ] {
        let answered = answer(&mut s, sql).await;
        assert!(!answered.contains(':'), "{sql}: {answered}");
    }
    for (sql, setting, shown) in [
        ("SELECT id FROM t WHERE b = 77 ORDER BY id", "stoa.enable_skipscan", "skip=[a], then=[77]"),
        (
            "SELECT id, d FROM t WHERE b = 3 ORDER BY id",
            "stoa.enable_skipscan",
            "IndexLookupExec: index=tab, table=t, ranges=full, skip=[a], then=[3]",
        ),
        ("SELECT id, c, d FROM t WHERE c = 5 OR d = 'd7' ORDER BY id", "stoa.enable_index_union", "KeySetExec: any=[tc "),
        ("SELECT id, c FROM t WHERE (c = 900 OR id = 5 OR id = 1) ORDER BY id DESC", "stoa.enable_index_union", "KeySetExec: any=["),
        (
            "SELECT id FROM t WHERE c BETWEEN 0 AND 20 AND d IN ('d7', 'd8', 'd9') ORDER BY id",
            "stoa.enable_index_intersection",
            "KeySetExec: all=[",
        ),
        ("SELECT min(c), max(c) FROM t", "stoa.enable_index_ends", "limit=1"),
        ("SELECT max(d) FROM t WHERE a = 3", "stoa.enable_index_ends", "index=td"),
        ("SELECT min(id), max(id) FROM t", "stoa.enable_index_ends", "limit=1, reverse"),
        ("SELECT max(c) FROM t WHERE c < 700", "stoa.enable_index_ends", "limit=1"),
        ("SELECT id, d, c FROM t ORDER BY c DESC, id LIMIT 7 OFFSET 2", "stoa.enable_index_order", "index=tc"),
        ("SELECT id, d, c FROM t ORDER BY c, id DESC LIMIT 3", "stoa.enable_index_order", "index=tc"),
        ("SELECT id, d, pad FROM t WHERE a < 3 ORDER BY d, id LIMIT 5", "stoa.enable_index_order", "index=td"),
        ("SELECT id, b, pad FROM t WHERE a = 2 ORDER BY b DESC, id DESC LIMIT 4", "stoa.enable_index_order", "index=tab"),
    ] {
        let explained = answer(&mut s, &format!("EXPLAIN {sql}")).await;
        assert!(explained.contains(shown), "{sql}: {explained}");
        let found = answer(&mut s, sql).await;
        answer(&mut s, &format!("SET {setting} = off")).await;
        let explained = answer(&mut s, &format!("EXPLAIN {sql}")).await;
        assert!(!explained.contains(shown) || setting.contains("order") || shown.contains("index=td"), "{sql}: {explained}");
        answer(&mut s, "SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off").await;
        answer(&mut s, "SET stoa.enable_index_ends = off; SET stoa.enable_index_order = off; SET stoa.enable_skipscan = off").await;
        let explained = answer(&mut s, &format!("EXPLAIN {sql}")).await;
        assert!(!explained.contains("index=") && !explained.contains("KeySetExec"), "{sql}: {explained}");
        assert_eq!(answer(&mut s, sql).await, found, "{sql}");
        answer(&mut s, "RESET ALL").await;
    }
    // What was compared is shown.
    let explained = answer(&mut s, "EXPLAIN SELECT id, d FROM t WHERE c < 800 OR d < 'd9'").await;
    assert!(explained.contains("tc or td: costs"), "{explained}");
    let explained = answer(&mut s, "EXPLAIN SELECT * FROM t ORDER BY d, id LIMIT 4900").await;
    assert!(explained.contains("td: reading in its order costs"), "{explained}");
}

/// The first rows of values are read with a seek each, and no others; a limit ends the scan.
#[tokio::test]
async fn what_wants_the_first_row_of_each_value_reads_no_others() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE t (g int, at int, v int, PRIMARY KEY (g, at DESC))",
        "INSERT INTO t SELECT i % 40, i, i % 500 FROM generate_series(1, 20000) i",
        "CREATE INDEX tv ON t (v, at)",
        "CREATE TABLE salted (g int, at int, PRIMARY KEY (g, at)) WITH (salt_buckets = 2, salt_columns = 'at')",
        "INSERT INTO salted SELECT i % 10, i FROM generate_series(1, 5000) i",
        "ANALYZE",
    ] {
        answer(&mut s, sql).await;
    }
    for (sql, read) in [
        ("SELECT DISTINCT ON (g) g, at FROM t ORDER BY g, at DESC", "rows_read=40, seeks=41"),
        ("SELECT DISTINCT ON (g) g, at FROM t ORDER BY g, at", "rows_read=40, seeks=41"),
        ("SELECT DISTINCT ON (g) g, at FROM t ORDER BY g, at DESC LIMIT 5", "rows_read=5, seeks=5"),
        ("SELECT DISTINCT ON (g) g, at FROM t WHERE g IN (3, 9, 77) ORDER BY g, at DESC", "rows_read=2, seeks=3"),
        ("SELECT DISTINCT ON (g) g, at FROM t WHERE at < 10000 ORDER BY g, at DESC LIMIT 5 OFFSET 3", "rows_read=8, seeks=16"),
        ("SELECT g, max(at) FROM t GROUP BY g", "rows_read=40, seeks=41"),
        ("SELECT g, max(at) FROM t GROUP BY g ORDER BY g LIMIT 4", "rows_read=4, seeks=4"),
        ("SELECT DISTINCT g FROM t WHERE g > 4", "rows_read=35, seeks=36"),
        ("SELECT DISTINCT g FROM t ORDER BY g LIMIT 3", "rows_read=3, seeks=3"),
        (
            "SELECT g, at FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY at DESC) n FROM t) q WHERE n = 1",
            "rows_read=40, seeks=41",
        ),
        // Rows of a value are read on until one passes.
        ("SELECT g, max(at) FROM t WHERE v % 2 = g % 2 AND at % 80 = g GROUP BY g", "skip over (g)"),
        ("SELECT DISTINCT ON (v) v, at FROM t WHERE v < 30 ORDER BY v, at", "rows_read=30, seeks=30"),
        ("SELECT DISTINCT ON (v) v, at, g FROM t WHERE v IN (7, 8, 400) ORDER BY v, at", "rows_read=3, seeks=3"),
        // A value may have rows in each bucket.
        ("SELECT g, max(at) FROM salted GROUP BY g", "rows_read=20, seeks=22"),
    ] {
        let answered = answer(&mut s, &format!("EXPLAIN ANALYZE {sql}")).await;
        assert!(answered.contains(read), "{sql}: {answered}");
        let found = answer(&mut s, sql).await;
        answer(&mut s, "SET stoa.enable_skipscan = off").await;
        assert!(!answer(&mut s, &format!("EXPLAIN {sql}")).await.contains("skip over"), "{sql}");
        let rows = |answered: String| answered.split(';').map(|row| row.trim().to_owned()).collect::<Vec<_>>();
        let (mut all, mut first) = (rows(answer(&mut s, sql).await), rows(found));
        if !sql.contains("ORDER BY g") || !sql.contains("LIMIT") {
            all.sort();
            first.sort();
        }
        assert_eq!((first, sql), (all, sql));
        answer(&mut s, "RESET ALL").await;
    }
    for sql in [
        // A row of each costs more than all rows.
        "SELECT DISTINCT ON (g, at) * FROM t",
        "SELECT DISTINCT v, at FROM t",
        // Other rows count.
        "SELECT g, max(at), count(*) FROM t GROUP BY g",
        "SELECT g, max(v) FROM t GROUP BY g",
        "SELECT g, max(at) FILTER (WHERE v > 3) FROM t GROUP BY g",
        "SELECT g, array_agg(at) FROM t GROUP BY g",
        "SELECT g, at, c FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY at DESC) n, count(*) OVER (PARTITION BY g) c FROM t) q WHERE n = 1",
        "SELECT g, at FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY at DESC) n FROM t) q WHERE n = 2",
        "SELECT g, at FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY at DESC) n FROM t) q WHERE n = 1",
        "SELECT DISTINCT ON (g) g, at FROM t ORDER BY g, v, at",
        "SELECT g, max(at) FROM t GROUP BY ROLLUP (g)",
    ] {
        let answered = answer(&mut s, &format!("EXPLAIN {sql}")).await;
        assert!(!answered.contains("skip over") && answered.contains("table=t"), "{sql}: {answered}");
    }
}

/// A limit below a join is taken before the join, whatever the join's other side asks for.
#[tokio::test]
async fn a_limited_side_of_a_join_stays_as_it_is() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE x (id int PRIMARY KEY, v int)",
        "INSERT INTO x SELECT i, i FROM generate_series(1, 100) i",
        "CREATE TABLE y (id int PRIMARY KEY)",
        "INSERT INTO y SELECT i * 9 FROM generate_series(1, 5) i",
        "ANALYZE",
    ] {
        answer(&mut s, sql).await;
    }
    for setting in ["on", "off"] {
        answer(&mut s, &format!("SET stoa.enable_lookupjoin = {setting}")).await;
        let answered = answer(&mut s, "SELECT v FROM (SELECT * FROM x ORDER BY id LIMIT 10) x JOIN y USING (id)").await;
        assert_eq!(answered, "9", "{setting}");
    }
}
