//! Ways to read through SQL: each gives what reading everything gives, is shown, and has a switch.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::write::tests::{answer, connect, database};

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
        let told = answer(&mut s, sql).await;
        assert!(!told.contains(':'), "{sql}: {told}");
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
    // What was compared is told.
    let explained = answer(&mut s, "EXPLAIN SELECT id, d FROM t WHERE c < 800 OR d < 'd9'").await;
    assert!(explained.contains("tc or td: costs"), "{explained}");
    let explained = answer(&mut s, "EXPLAIN SELECT * FROM t ORDER BY d, id LIMIT 4900").await;
    assert!(explained.contains("td: reading in its order costs"), "{explained}");
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
        let told = answer(&mut s, "SELECT v FROM (SELECT * FROM x ORDER BY id LIMIT 10) x JOIN y USING (id)").await;
        assert_eq!(told, "9", "{setting}");
    }
}
