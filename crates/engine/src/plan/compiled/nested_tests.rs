//! Subqueries with groups, outer joins, grouping sets and recursions beside the planner.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::read::tests::{Statement, all, pick, prepare, run, small_int};
use super::tests::{COLUMNS, compare, joins, narrow};
use crate::session::{Session, SessionOptions};
use crate::{Database, DatabaseOptions};
use datafusion::common::ScalarValue;
use rand::Rng;
use rand::rngs::StdRng;
use stoa_pg::PgType;

/// A condition between a column of one table and one of another's, the same kind of both.
fn equal(rng: &mut StdRng, left: &str, right: &str) -> String {
    joins(rng, &[left], right)
}

/// A subquery with columns `k` (a number), `n` and `m`, over one table; often not narrowed by itself.
fn grouped(rng: &mut StdRng, table: &str, types: &mut Vec<PgType>) -> String {
    let k = *pick(rng, &["a", "b", "e"]);
    let filter = match rng.random_range(0..3) {
        0 => format!(" WHERE {}", narrow(rng, &["w"], types)),
        1 => " WHERE w.e IS NOT NULL".to_owned(),
        _ => String::new(),
    };
    let having = *pick(rng, &["", "", " HAVING count(*) > 1", " HAVING max(w.b) > 2"]);
    match rng.random_range(0..8) {
        0..4 => {
            let more = *pick(rng, &["", ", w.c"]);
            format!("SELECT w.{k} AS k, count(*) AS n, max(w.b) AS m FROM {table} w{filter} GROUP BY w.{k}{more}{having}")
        }
        4 => format!("SELECT DISTINCT w.{k} AS k, w.e::int8 AS n, w.b AS m FROM {table} w{filter}"),
        5 => format!(
            "SELECT w.{k}::int8 AS k, w.e::int8 AS n, w.b AS m FROM {table} w{filter} UNION ALL SELECT x.a, 7, x.b FROM v x WHERE x.b IS NOT NULL"
        ),
        6 => format!("SELECT w.{k} AS k, count(*) OVER (PARTITION BY w.{k}) AS n, w.b AS m FROM {table} w{filter}"),
        _ => format!(
            "SELECT w.{k} AS k, n, m FROM {table} w CROSS JOIN LATERAL (SELECT count(*) AS n, min(x.b) AS m FROM v x WHERE x.a = w.{k}) l{filter}"
        ),
    }
}

/// What is joined, and the names of tables with the columns of [`COLUMNS`], and those of subqueries.
fn from(rng: &mut StdRng, types: &mut Vec<PgType>) -> (String, Vec<&'static str>, Vec<&'static str>) {
    let kind = *pick(rng, &["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT JOIN"]);
    match rng.random_range(0..8) {
        0..3 => {
            let (query, on) = (grouped(rng, "u", types), *pick(rng, &["a", "b", "e"]));
            let more = match kind {
                "FULL JOIN" => "",
                _ => *pick(rng, &["", "", " AND x.n > 1", " AND t.e >= x.n"]),
            };
            (format!("t {kind} ({query}) x ON x.k = t.{on}{more}"), vec!["t"], vec!["x"])
        }
        3 => {
            let (one, other) = (grouped(rng, "t", types), grouped(rng, "u", types));
            (format!("({one}) x {kind} ({other}) y ON x.k = y.k"), Vec::new(), vec!["x", "y"])
        }
        4 => {
            let (one, other, on) = (narrow(rng, &["t"], types), narrow(rng, &["u"], types), equal(rng, "t", "u"));
            let more = *pick(rng, &["", " AND t.b <= u.b"]);
            (format!("(SELECT * FROM t WHERE {one}) t {kind} (SELECT * FROM u WHERE {other}) u ON {on}{more}"), vec!["t", "u"], Vec::new())
        }
        5 => {
            let (inner, on) = (equal(rng, "u", "v"), equal(rng, "t", "u"));
            (format!("t {kind} (u JOIN v ON {inner}) ON {on}"), vec!["t", "u", "v"], Vec::new())
        }
        6 => {
            let (first, second) = (equal(rng, "t", "u"), equal(rng, "u", "v"));
            let other = *pick(rng, &["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
            (format!("t {kind} u ON {first} {other} v ON {second}"), vec!["t", "u", "v"], Vec::new())
        }
        _ => {
            let outer = *pick(rng, &["a", "b", "e"]);
            let (join, on) = *pick(rng, &[("LEFT JOIN", "true"), ("JOIN", "true"), ("LEFT JOIN", "x.n > 1"), ("JOIN", "x.m >= t.e")]);
            let query =
                format!("SELECT w.e AS k, count(*) AS n, sum(w.a) AS m FROM u w WHERE w.a = t.{outer} GROUP BY w.e HAVING count(*) < 5");
            (format!("t {join} LATERAL ({query}) x ON {on}"), vec!["t"], vec!["x"])
        }
    }
}

/// A condition with a subquery that groups.
fn asked(rng: &mut StdRng, outer: &str, types: &mut Vec<PgType>) -> String {
    let (column, own) = (*pick(rng, &["a", "b", "e"]), *pick(rng, &["a", "b", "e"]));
    let and = if rng.random_bool(0.5) { format!(" WHERE {}", narrow(rng, &["w"], types)) } else { String::new() };
    match rng.random_range(0..5) {
        0 => format!("{outer}.{column} IN (SELECT w.{own} FROM v w{and} GROUP BY w.{own} HAVING count(*) > 1)"),
        1 => format!("({outer}.{column}, 2) IN (SELECT w.{own}, count(*) FROM v w{and} GROUP BY w.{own})"),
        2 => format!("EXISTS (SELECT w.e FROM v w WHERE w.{own} = {outer}.{column} GROUP BY w.e HAVING min(w.b) < 4)"),
        3 => format!("{outer}.e >= (SELECT max(n) FROM (SELECT count(*) AS n FROM v w WHERE w.{own} = {outer}.{column} GROUP BY w.c) g)"),
        _ => format!("{outer}.{column} NOT IN (SELECT w.{own} FROM v w WHERE w.b = {outer}.e GROUP BY w.{own})"),
    }
}

fn plain(select: String, tail: String, types: Vec<PgType>) -> Statement {
    Statement { select, tail, types, sorted: Vec::new(), limited: false }
}

fn grouping_sets(rng: &mut StdRng) -> Statement {
    let mut types = Vec::new();
    let mut columns: Vec<&str> = COLUMNS.iter().map(|c| c.0).collect();
    columns.swap(0, rng.random_range(0..5));
    columns.swap(1, rng.random_range(1..5));
    let (g, h) = (format!("t.{}", columns[0]), format!("t.{}", columns[1]));
    let sets = match rng.random_range(0..8) {
        0 => format!("ROLLUP ({g}, {h})"),
        1 => format!("CUBE ({g}, {h})"),
        2 => format!("GROUPING SETS (({g}), ({h}), ())"),
        3 => format!("GROUPING SETS (({g}, {h}), ({g}), ({g}))"),
        4 => format!("{g}, ROLLUP ({h})"),
        5 => format!("ROLLUP ({g}), CUBE ({h})"),
        6 => format!("GROUPING SETS ((), {h}, {g})"),
        _ => format!("{h}, CUBE ({g})"),
    };
    let n = *pick(rng, &["t.a", "t.b", "t.e"]);
    let mut output = vec![g.clone(), h.clone()];
    for _ in 0..rng.random_range(1..4) {
        output.push(match rng.random_range(0..7) {
            0 => format!("grouping({g}, {h})"),
            1 => format!("grouping({h})"),
            2 => format!("string_agg({n}::text, ',' ORDER BY {n})"),
            3 => format!("count(DISTINCT {n}) FILTER (WHERE {g} IS NOT NULL)"),
            4 => format!("sum({n})"),
            5 => format!("coalesce({h}::text, 'none')"),
            _ => "count(*)".to_owned(),
        });
    }
    let join = if rng.random_bool(0.3) { format!(" JOIN u ON {}", equal(rng, "t", "u")) } else { String::new() };
    let having = *pick(rng, &["", "", " HAVING count(*) > 1"]);
    let tail = format!(" FROM t{join} WHERE {} GROUP BY {sets}{having}", narrow(rng, &["t"], &mut types));
    plain(format!("SELECT {}", output.join(", ")), tail, types)
}

fn recursion(rng: &mut StdRng) -> Statement {
    let mut types = Vec::new();
    let union = *pick(rng, &["UNION", "UNION ALL"]);
    let (from, to) = (*pick(rng, &["a", "b", "e"]), *pick(rng, &["a", "b", "e"]));
    let base = match rng.random_range(0..3) {
        0 => {
            types.push(PgType::Int4);
            format!("SELECT ${}::int8 AS x, 'z'::text AS y, 0 AS depth", types.len())
        }
        1 => format!("SELECT t.{from}::int8 AS x, t.c AS y, 0 AS depth FROM t WHERE {}", narrow(rng, &["t"], &mut types)),
        _ => "VALUES (1::int8, 'q', 0), (1, 'q', 0), (3, NULL, 1)".to_owned(),
    };
    let most = rng.random_range(1..4);
    let step = match rng.random_range(0..6) {
        0..3 => format!("SELECT u.{to}, u.c, r.depth + 1 FROM r JOIN u ON u.{from} = r.x WHERE r.depth < {most}"),
        3 => format!("SELECT x + 1, y || '+', depth + 1 FROM r WHERE depth < {most}"),
        4 => format!("SELECT (r.x + 1) % 3, 'm', r.depth FROM r WHERE r.x < {}", small_int(rng).min(20)),
        _ => format!(
            "SELECT l.n, r.y, r.depth + 1 FROM r, LATERAL (SELECT count(*) AS n FROM u WHERE u.{from} = r.x) l WHERE r.depth < {most}"
        ),
    };
    // What would not end without duplicates.
    let union = if step.contains('%') { "UNION" } else { union };
    let (select, tail) = match rng.random_range(0..4) {
        0 => ("SELECT count(*), max(x), min(depth)", String::new()),
        1 => ("SELECT r.x, r.y, t.c", format!(" JOIN t ON t.{from} = r.x")),
        2 => ("SELECT depth, count(*)", " GROUP BY depth".to_owned()),
        _ => ("SELECT x, y, depth", String::new()),
    };
    plain(format!("WITH RECURSIVE r (x, y, depth) AS ({base} {union} {step}) {select}"), format!(" FROM r{tail}"), types)
}

fn statement(rng: &mut StdRng) -> Statement {
    match rng.random_range(0..10) {
        0..2 => return grouping_sets(rng),
        2..4 => return recursion(rng),
        _ => {}
    }
    let mut types = Vec::new();
    let (from, tables, queries) = from(rng, &mut types);
    let mut columns: Vec<String> = tables.iter().flat_map(|t| COLUMNS.map(|(c, _)| format!("{t}.{c}"))).collect();
    columns.extend(queries.iter().flat_map(|q| ["k", "n", "m"].map(|c| format!("{q}.{c}"))));
    let mut conditions: Vec<String> = Vec::new();
    for _ in 0..rng.random_range(0..3) {
        if !tables.is_empty() && rng.random_bool(0.8) {
            conditions.push(narrow(rng, &tables, &mut types));
        } else if let Some(query) = queries.first() {
            types.push(PgType::Int8);
            conditions.push(format!("{query}.{} {} ${}", pick(rng, &["k", "n"]), pick(rng, &["=", ">="]), types.len()));
        }
    }
    if rng.random_bool(0.2) {
        conditions.push(format!("{} IS NULL", pick(rng, &columns)));
    }
    if let Some(outer) = tables.first()
        && rng.random_bool(0.3)
    {
        conditions.push(asked(rng, outer, &mut types));
    }
    let condition = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    let output: Vec<String> = (0..rng.random_range(1..5)).map(|_| pick(rng, &columns).clone()).collect();
    let mut tail = format!(" FROM {from}{condition}");
    let mut select = format!("SELECT {}", output.join(", "));
    if rng.random_bool(0.15) {
        select = format!("SELECT count(*), count({})", output[0]);
        return plain(select, tail, types);
    }
    let mut sorted = Vec::new();
    if rng.random_bool(0.4) {
        sorted.push(0);
        tail += &format!(" ORDER BY {}{}", output[0], pick(rng, &["", " DESC", " NULLS FIRST"]));
    }
    let limited = !sorted.is_empty() && rng.random_bool(0.3);
    if limited {
        tail += " LIMIT 4";
    }
    Statement { select, tail, types, sorted, limited }
}

/// What statements may hold, and how many of those that do are compiled at least.
const SHAPES: [(&str, usize); 7] =
    [("SELECT", 70), ("GROUP BY", 30), ("RIGHT JOIN", 2), ("FULL JOIN", 1), ("grouping(", 4), ("RECURSIVE", 20), ("HAVING", 4)];

#[tokio::test]
async fn nested_queries_give_what_the_planner_gives() {
    let mut counts = vec![0; SHAPES.len()];
    for seed in 50..54 {
        let of_seed = compare(seed, 4, 40, statement, &SHAPES).await;
        counts.iter_mut().zip(of_seed).for_each(|(count, own)| *count += own);
    }
    let enough = counts.iter().zip(SHAPES).all(|(count, (_, least))| *count >= least);
    assert!(enough, "of 640 statements only {counts:?} of {SHAPES:?} were compiled");
}

/// Whether all of a statement is compiled.
fn is_compiled(session: &mut Session, sql: &str, types: &[PgType]) -> bool {
    let prepared = prepare(session, sql, types).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let bound = session.bound(&prepared.inner).unwrap();
    let settings = session.shared().settings();
    bound.plan.compiled(&bound.bound, settings, &session.database().text).unwrap().is_whole()
}

#[tokio::test]
async fn what_an_application_nests_is_compiled() {
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut session = database.connect(SessionOptions::default()).unwrap();
    let setup = "CREATE TABLE c (id int PRIMARY KEY, name text); CREATE TABLE o (id int PRIMARY KEY, c int, s text, at int); \
                 CREATE INDEX ON o (c, at); CREATE TABLE l (o int, n int, q int, PRIMARY KEY (o, n)); \
                 CREATE TABLE p (id int PRIMARY KEY, up int); CREATE INDEX ON p (up)";
    all(&mut session, setup).await;
    for sql in [
        "SELECT x.s, c.name FROM c LEFT JOIN (SELECT c, sum(at) s FROM o GROUP BY c) x ON x.c = c.id WHERE c.id = $1",
        "SELECT x.s, c.name FROM (SELECT c, sum(at) s FROM o GROUP BY c) x RIGHT JOIN c ON x.c = c.id WHERE c.id = $1",
        "SELECT * FROM o RIGHT JOIN c ON o.c = c.id WHERE c.id = $1",
        "SELECT * FROM o FULL JOIN c ON o.c = c.id WHERE c.id = $1",
        "SELECT * FROM (SELECT * FROM o WHERE c = $1) o FULL JOIN (SELECT * FROM l WHERE o = $1) l ON l.o = o.id",
        "SELECT * FROM c LEFT JOIN (o JOIN l ON l.o = o.id) ON o.c = c.id WHERE c.id = $1",
        "SELECT s, count(*) FROM o WHERE c = $1 GROUP BY ROLLUP (s)",
        "SELECT s, at, grouping(s, at), count(*) FROM o WHERE c = $1 GROUP BY CUBE (s, at)",
        "SELECT * FROM o WHERE c = $1 AND id IN (SELECT o FROM l GROUP BY o HAVING sum(q) > 3)",
        "SELECT * FROM o WHERE id IN (SELECT o FROM l WHERE o < $1 GROUP BY o HAVING sum(q) > 3)",
        "SELECT * FROM c, LATERAL (SELECT s, count(*) FROM o WHERE o.c = c.id GROUP BY s) x WHERE c.id = $1",
        "SELECT * FROM o JOIN (SELECT o, count(*) n FROM l GROUP BY o) x ON x.o = o.id JOIN c ON c.id = o.c WHERE o.c = $1 AND x.n > 1",
        "WITH RECURSIVE r AS (SELECT $1::int AS n UNION ALL SELECT n + 1 FROM r WHERE n % 5 <> 0) SELECT max(n) FROM r",
        "WITH RECURSIVE r AS (SELECT id, up FROM p WHERE id = $1 UNION SELECT p.id, p.up FROM p JOIN r ON p.up = r.id) SELECT * FROM r",
        "WITH RECURSIVE r AS (SELECT id, up FROM p WHERE id = $1 UNION ALL SELECT p.id, p.up FROM p, r WHERE p.id = r.up) SELECT count(*) FROM r",
    ] {
        assert!(is_compiled(&mut session, sql, &[PgType::Int4]), "{sql}");
    }
    // A recursion that does not end is left to the planner, which makes its rows as they are read.
    let endless = "WITH RECURSIVE r AS (SELECT $1::int AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r LIMIT 3";
    let prepared = prepare(&mut session, endless, &[PgType::Int4]).unwrap();
    for _ in 0..6 {
        let rows = run(&mut session, &prepared, vec![ScalarValue::Int32(Some(5))]).await.unwrap();
        assert_eq!(rows.concat(), ["5", "6", "7"]);
    }
    session.close().await;
}
