//! Joins by lookup give what hash joins give, in the order of the outer side.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::session::write_tests::{answer, connect, database};

#[tokio::test]
async fn lookup_joins_answer_as_hash_joins_do() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE b (id int PRIMARY KEY, k int, v text, n numeric, w int8) WITH (salt_buckets = 3)",
        "INSERT INTO b SELECT i, i % 40, 'v' || i % 7, (i % 30)::numeric / 10, i % 9 FROM generate_series(1, 200) i",
        "UPDATE b SET k = NULL, w = NULL WHERE id % 11 = 0",
        "CREATE INDEX bk ON b (k) INCLUDE (v) WITH (salt_buckets = 2)",
        "CREATE INDEX bn ON b (n DESC)",
        "CREATE UNIQUE INDEX bu ON b (w, id)",
        "CREATE TABLE a (s int PRIMARY KEY, r int, x numeric, y int8)",
        "INSERT INTO a SELECT i, i * 7 % 50, (i % 9)::numeric / 10.0, i FROM generate_series(1, 30) i",
        "UPDATE a SET r = NULL WHERE s % 5 = 0",
        "BEGIN",
        "DELETE FROM b WHERE id = 14",
        "INSERT INTO b VALUES (1000, 7, 'own', 0.50, 5)",
    ] {
        let answered = answer(&mut s, sql).await;
        assert!(!answered.contains(':'), "{sql}: {answered}");
    }
    for (sql, by) in [
        ("SELECT s, id, v FROM a JOIN b ON id = r", "Inner, table=b, by=primary key"),
        ("SELECT s, v, k FROM a JOIN b ON k = r", "Inner, table=b, by=bk (covered)"),
        ("SELECT s, id, n FROM a JOIN b ON k = r AND v > 'v3'", "Inner, table=b, by=bk, "),
        ("SELECT s, id, v FROM a LEFT JOIN b ON k = r AND v < 'v4' AND id > s", "Outer, table=b, by=bk"),
        ("SELECT s, id, v FROM b RIGHT JOIN a ON k = r", "Outer, table=b, by=bk"),
        ("SELECT s FROM a WHERE EXISTS (SELECT 1 FROM b WHERE k = r AND id > s)", "Semi, table=b, by=bk"),
        ("SELECT s FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE k = r AND v = 'v1')", "Anti, table=b, by=bk"),
        ("SELECT s, r FROM a WHERE r IN (SELECT k FROM b)", "Semi, table=b, by=bk"),
        ("SELECT s, x, n, id FROM a JOIN b ON n = x", "Inner, table=b, by=bn"),
        ("SELECT s, id FROM a JOIN b ON w = r AND id = s", "Inner, table=b, by="),
        ("SELECT s, id FROM a JOIN b ON id = y", "Inner, table=b, by=primary key"),
        ("SELECT s, id FROM a LEFT JOIN b ON id = y + 4000000000", "Outer, table=b, by=primary key"),
        ("SELECT a.s, b.id, c.id FROM a JOIN b ON b.k = a.r JOIN b c ON c.id = b.k", "Inner, table=b, by=primary key"),
    ] {
        answer(&mut s, "SET stoa.enable_lookupjoin = off").await;
        let mut wanted: Vec<String> = answer(&mut s, sql).await.split("; ").map(str::to_owned).collect();
        assert!(!answer(&mut s, &format!("EXPLAIN {sql}")).await.contains("LookupJoinExec"), "{sql}");
        answer(&mut s, "RESET ALL; SET stoa.force_index = on").await;
        let explained = answer(&mut s, &format!("EXPLAIN {sql}")).await;
        assert!(explained.contains(&format!("LookupJoinExec: {by}")), "{sql}: {explained}");
        let mut found: Vec<String> = answer(&mut s, sql).await.split("; ").map(str::to_owned).collect();
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted, "{sql}");
        // The order of the outer side is kept: no sort above the join.
        let ordered = format!("{sql} ORDER BY a.s");
        let rows = answer(&mut s, &ordered).await;
        let keys: Vec<i32> = rows.split("; ").filter(|r| !r.is_empty()).map(|r| r.split('|').next().unwrap().parse().unwrap()).collect();
        assert!(keys.is_sorted(), "{ordered}: {rows}");
        answer(&mut s, "RESET ALL").await;
    }
    answer(&mut s, "SET stoa.force_index = on").await;
    let explained = answer(&mut s, "EXPLAIN SELECT s, id FROM a JOIN b ON id = r ORDER BY s LIMIT 3").await;
    assert!(explained.contains("LookupJoinExec") && !explained.contains("SortExec"), "{explained}");
    answer(&mut s, "RESET ALL; COMMIT; ANALYZE").await;
    // By cost: few outer rows, or nearly all of the inner side.
    for (sql, lookup) in
        [("SELECT s, v FROM a JOIN b ON id = r WHERE s = 3", true), ("SELECT x.id, y.v FROM b x JOIN b y ON y.id = x.k", false)]
    {
        let explained = answer(&mut s, &format!("EXPLAIN {sql}")).await;
        assert_eq!(explained.contains("LookupJoinExec"), lookup, "{explained}");
        assert!(lookup || explained.contains("a lookup join costs"), "{explained}");
    }
}
