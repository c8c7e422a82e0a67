//! Which joins are made by ranges, and that they answer as joins of all pairs do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::session::write_tests::{answer, connect, database};

#[tokio::test]
async fn range_joins_answer_as_joins_of_all_pairs_do() {
    let database = database().await;
    let mut s = connect(&database);
    for sql in [
        "CREATE TABLE a (id int PRIMARY KEY, x int, y int8, t text, n numeric(6,2), f float8, at timestamp)",
        "CREATE TABLE b (id int8 PRIMARY KEY, x int, z int2, t text, n numeric, f float8, at timestamp, until timestamp)",
        "INSERT INTO a SELECT i, i * 7 % 50, i % 9, 't' || i % 30, i % 8 / 4.0, i % 5, timestamp '2024-01-01' + i * interval '1 hour' \
         FROM generate_series(1, 150) i",
        "INSERT INTO b SELECT i, i * 3 % 40, i % 5, 't' || i % 40, i % 9 / 4.0, i % 7, timestamp '2024-01-01' + i * interval '40 min', \
         timestamp '2024-01-01' + i * interval '40 min' + i % 5 * interval '30 min' FROM generate_series(1, 200) i",
        "UPDATE a SET x = NULL, at = NULL WHERE id % 11 = 0",
        "UPDATE b SET x = NULL, until = NULL WHERE id % 13 = 0",
        "ANALYZE",
    ] {
        let answered = answer(&mut s, sql).await;
        assert!(!answered.contains(':'), "{sql}: {answered}");
    }
    for (sql, by) in [
        ("SELECT a.id, b.id FROM a JOIN b ON a.x = b.x OR a.y = b.id", "Inner, by=[a.x = b.x OR y = b.id]"),
        ("SELECT a.id, b.id FROM a JOIN b ON b.x IN (a.x, a.id)", "Inner, by=[a."),
        ("SELECT a.id, b.id FROM a LEFT JOIN b ON b.x = ANY (ARRAY[a.x, a.id, 5])", ""),
        ("SELECT a.id, b.id FROM a LEFT JOIN b ON b.x = ANY (ARRAY[a.x, a.id]) AND a.t < b.t", "Right, by=["),
        ("SELECT a.id, b.id FROM a RIGHT JOIN b ON a.x = b.x AND a.t = b.t OR a.id = b.z", "Right, by=["),
        ("SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.x = b.x OR a.t = b.t)", "RightSemi, by=["),
        ("SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.x = b.x OR a.t = b.t AND a.at < b.at)", "RightAnti, by=["),
        ("SELECT a.id, b.id FROM a JOIN b ON a.at BETWEEN b.at AND b.until", "Inner, by=[a.at >= b.at AND a.at <= until]"),
        (
            "SELECT a.id, b.id FROM a LEFT JOIN b ON b.at >= a.at AND b.at < a.at + interval '1 hour'",
            "Right, by=[b.at >= a.at AND b.at < +(",
        ),
        ("SELECT a.id, c.id FROM a JOIN a c ON c.id > a.id AND c.id <= a.id + 2 AND c.t <> a.t", "Inner, by=["),
        ("SELECT a.id, c.id FROM a JOIN a c ON c.id / 2 BETWEEN a.id - 1 AND a.id", "Inner, by=["),
        ("SELECT a.id, b.id FROM a JOIN b ON a.y = b.z AND b.at > a.at AND b.at < a.at + interval '2 hours'", "Inner, by=["),
        // Equality of these types is one of sort keys.
        ("SELECT a.id, b.id FROM a JOIN b ON a.f = b.f OR a.n = b.n", "Inner, by=["),
        // One bound, none, a kernel, all rows of both sides, what may differ from row to row.
        ("SELECT a.id, b.id FROM a JOIN b ON a.id < b.x", ""),
        ("SELECT a.id, b.id FROM a JOIN b ON a.x = b.x OR b.t IS NULL", ""),
        ("SELECT a.id, b.id FROM a JOIN b ON a.f BETWEEN b.f AND b.f + 1", ""),
        ("SELECT a.id, b.id FROM a JOIN b ON a.x = b.x OR a.id = b.z OR random() < 0", ""),
    ] {
        let explained = answer(&mut s, &format!("EXPLAIN {sql}")).await;
        match by {
            "" => assert!(!explained.contains("RangeJoinExec"), "{sql}: {explained}"),
            by => assert!(explained.contains(&format!("RangeJoinExec: join_type={by}")), "{sql}: {explained}"),
        }
        let rows = async |s: &mut crate::session::Session, rules: &str| {
            answer(s, &format!("SET stoa.disabled_rules = '{rules}'")).await;
            let mut rows: Vec<String> = answer(s, sql).await.split("; ").map(str::to_owned).collect();
            rows.sort();
            rows
        };
        let (found, wanted) = (rows(&mut s, "compiled").await, rows(&mut s, "compiled, RangeJoins").await);
        answer(&mut s, "RESET ALL").await;
        assert_eq!(found, wanted, "{sql}");
        assert!(wanted.len() > 3, "{sql}: {wanted:?}");
    }
}
