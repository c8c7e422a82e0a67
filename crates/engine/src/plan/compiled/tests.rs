//! Compiled queries beside the planner: random joins, groups and orders, each prepared once and executed with several values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::plan::compiled::read::tests::{Statement, all, check, make_table, pick, prepare, prepare_planned, run, small_int, value};
use crate::session::{Prepared, Session, SessionOptions};
use crate::{Database, DatabaseOptions};
use datafusion::common::ScalarValue;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use stoa_pg::{PgResult, PgType};

pub(super) const COLUMNS: [(&str, PgType); 5] =
    [("a", PgType::Int4), ("b", PgType::Int8), ("c", PgType::Text), ("d", PgType::Varchar), ("e", PgType::Int2)];

fn is_text(ty: &PgType) -> bool {
    matches!(ty, PgType::Text | PgType::Varchar)
}

/// A condition between a column and a parameter.
pub(super) fn narrow(rng: &mut StdRng, tables: &[&str], types: &mut Vec<PgType>) -> String {
    let (name, ty) = pick(rng, &COLUMNS);
    let op = *pick(rng, &["=", "=", "=", ">=", "<"]);
    let table = *pick(rng, tables);
    types.push(if is_text(ty) { PgType::Text } else { ty.clone() });
    format!("{table}.{name} {op} ${}", types.len())
}

/// A condition between columns of two tables.
pub(super) fn joins(rng: &mut StdRng, lefts: &[&str], right: &str) -> String {
    let left = *pick(rng, lefts);
    loop {
        let ((l, lt), (r, rt)) = (pick(rng, &COLUMNS), pick(rng, &COLUMNS));
        if is_text(lt) == is_text(rt) {
            return format!("{left}.{l} = {right}.{r}");
        }
    }
}

/// The tables that are joined, with their conditions.
fn from(rng: &mut StdRng, types: &mut Vec<PgType>) -> (String, Vec<&'static str>) {
    let names = ["t", "u", "v"];
    let count = rng.random_range(1..=3);
    let mut out = "t".to_owned();
    for (at, name) in names.iter().enumerate().take(count).skip(1) {
        let mut on = joins(rng, &names[..at], name);
        if rng.random_bool(0.4) {
            on += &format!(" AND {}", joins(rng, &names[..at], name));
        }
        if rng.random_bool(0.2) {
            on += &format!(" AND {}", narrow(rng, &names[..=at], types));
        }
        out += &match rng.random_range(0..12) {
            10 => {
                let row =
                    |rng: &mut StdRng| format!("({}::int4, {}::int8, 'a', 'b'::varchar, {}::int2)", small_int(rng), small_int(rng), at);
                format!(" JOIN (VALUES {}, {}) {name} (a, b, c, d, e) ON {on}", row(rng), row(rng))
            }
            11 => {
                types.push(PgType::Int4);
                let series = format!("unnest(ARRAY[1, 3, ${}]) WITH ORDINALITY x (a, n)", types.len());
                format!(" JOIN (SELECT a, n AS b, 'z' || a AS c, 'b'::varchar AS d, a::int2 AS e FROM {series}) {name} ON {on}")
            }
            0..5 => format!(" JOIN {name} ON {on}"),
            5..8 => format!(" LEFT JOIN {name} ON {on}"),
            8 => {
                let outer = pick(rng, &["t.a", "t.b", "t.e"]);
                let kind = *pick(rng, &["JOIN", "LEFT JOIN"]);
                format!(" {kind} LATERAL (SELECT * FROM {name} WHERE a = {outer} ORDER BY a, b, c, d, e LIMIT 2) {name} ON true")
            }
            _ => format!(" JOIN (SELECT a, b + 0 AS b, c, d, e FROM {name} WHERE e IS NOT NULL) {name} ON {on}"),
        };
    }
    (out, names[..count].to_vec())
}

fn statement(rng: &mut StdRng) -> Statement {
    let mut types = Vec::new();
    if rng.random_bool(0.15) {
        // Ends of keys, and parts that are put together.
        let (first, second) = (pick(rng, &COLUMNS).0, pick(rng, &COLUMNS).0);
        let (select, tail) = match rng.random_range(0..3) {
            0 => (format!("SELECT max({first}), min({second})"), " FROM t".to_owned()),
            1 => (format!("SELECT min({first})"), format!(" FROM t WHERE {}", narrow(rng, &["t"], &mut types))),
            _ => {
                let (one, other) = (narrow(rng, &["t"], &mut types), narrow(rng, &["u"], &mut types));
                let all = *pick(rng, &["", " ALL"]);
                let op = *pick(rng, &["UNION", "INTERSECT", "EXCEPT"]);
                ("SELECT a, c".to_owned(), format!(" FROM t WHERE {one} {op}{all} SELECT e, d FROM u WHERE {other}"))
            }
        };
        return Statement { select, tail, types, sorted: Vec::new(), limited: false };
    }
    let (from, names) = from(rng, &mut types);
    let mut conditions = Vec::new();
    for _ in 0..rng.random_range(1..4) {
        conditions.push(narrow(rng, &names, &mut types));
    }
    if rng.random_bool(0.2) {
        conditions.push(format!("{}.e IS NULL", pick(rng, &names)));
    }
    if rng.random_bool(0.1) {
        conditions.push(format!("coalesce({}.a, 1) + {} > 2", pick(rng, &names), small_int(rng)));
    }
    if rng.random_bool(0.25) {
        let (column, ty) = pick(rng, &COLUMNS);
        let outer = *pick(rng, &names);
        let same: Vec<&str> = COLUMNS.iter().filter(|(_, t)| is_text(t) == is_text(ty)).map(|(n, _)| *n).collect();
        let own = *pick(rng, &same);
        let and = if rng.random_bool(0.5) { format!(" AND {}", narrow(rng, &["w"], &mut types)) } else { String::new() };
        conditions.push(match rng.random_range(0..6) {
            4 => format!("{outer}.{column} NOT IN (SELECT w.{own} FROM v w WHERE w.b IS NOT NULL{and})"),
            5 => format!("({outer}.e > 2 OR {outer}.{column} <= ALL (SELECT w.{own} FROM v w WHERE w.a = {outer}.a{and}))"),
            3 => format!("{outer}.e >= (SELECT min(w.e) FROM v w WHERE w.{own} = {outer}.{column}{and})"),
            0 => format!("EXISTS (SELECT 1 FROM v w WHERE w.{own} = {outer}.{column}{and})"),
            1 => format!("NOT EXISTS (SELECT FROM v w WHERE w.{own} = {outer}.{column}{and})"),
            _ => format!("{outer}.{column} IN (SELECT w.{own} FROM v w WHERE w.b IS NOT NULL{and})"),
        });
    }
    let any = |rng: &mut StdRng| format!("{}.{}", pick(rng, &names), pick(rng, &COLUMNS).0);
    let number = |rng: &mut StdRng| format!("{}.{}", pick(rng, &names), pick(rng, &["a", "b", "e"]));
    let mut output: Vec<String> = Vec::new();
    let mut tail = format!(" FROM {from} WHERE {}", conditions.join(" AND "));
    let mut ordered: Vec<String> = Vec::new();
    match rng.random_range(0..6) {
        4 => {
            // Windows whose values do not depend on the order of rows that are equal.
            for _ in 0..rng.random_range(1..4) {
                let (n, o) = (number(rng), any(rng));
                let partition = if rng.random_bool(0.6) { format!("PARTITION BY {}", any(rng)) } else { String::new() };
                let order = format!("ORDER BY {o}{}", pick(rng, &["", " DESC", " NULLS FIRST"]));
                output.push(match rng.random_range(0..9) {
                    0 => format!("rank() OVER ({partition} {order})"),
                    1 => format!("dense_rank() OVER ({partition} {order})"),
                    2 => format!("count(*) OVER ({partition})"),
                    3 => format!("sum({n}) OVER ({partition} {order})"),
                    4 => {
                        // The row before depends on the order of those that are equal.
                        let all: Vec<String> = names.iter().flat_map(|t| COLUMNS.iter().map(move |(c, _)| format!("{t}.{c}"))).collect();
                        format!("lag({o}, 1) OVER ({partition} {order}, {})", all.join(", "))
                    }
                    5 => format!("first_value({o}) OVER ({partition} {order})"),
                    6 => format!("max({n}) FILTER (WHERE {n} > 0) OVER ({partition} {order})"),
                    7 => format!("sum({n}) OVER ({partition} ORDER BY {n} RANGE BETWEEN 2 PRECEDING AND CURRENT ROW)"),
                    _ => format!("min({o}) OVER ({partition} {order} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"),
                });
            }
            output.push(any(rng));
        }
        5 => {
            let (on, next) = (any(rng), any(rng));
            let descending = *pick(rng, &["", " DESC"]);
            output = vec![format!("DISTINCT ON ({on}) {on}"), next.clone()];
            tail += &format!(" ORDER BY {on}, {next}{descending}");
            let select = format!("SELECT {}", output.join(", "));
            return Statement { select, tail, types, sorted: vec![0, 1], limited: false };
        }
        0 => {
            // Groups.
            let groups: Vec<String> = (0..rng.random_range(0..3)).map(|_| any(rng)).collect();
            output.extend(groups.clone());
            for _ in 0..rng.random_range(1..4) {
                let n = number(rng);
                output.push(match rng.random_range(0..14) {
                    9 => format!("string_agg({n}::text, ',' ORDER BY {n} DESC, {n})"),
                    10 => format!("array_agg(DISTINCT {n} ORDER BY {n} DESC NULLS LAST) FILTER (WHERE {n} <> 3)"),
                    11 => format!("jsonb_agg({n} ORDER BY {n})"),
                    12 => format!("percentile_disc(0.5) WITHIN GROUP (ORDER BY {n})"),
                    13 => format!("max(to_char(now(), 'YYYY') || {n} || current_setting('TimeZone'))"),
                    0 => "count(*)".into(),
                    1 => format!("count({})", any(rng)),
                    2 => format!("sum({n})"),
                    3 => format!("min({})", any(rng)),
                    4 => format!("max({n} + 1)"),
                    5 => format!("round(avg({n}), 3)"),
                    6 => format!("count(DISTINCT {})", any(rng)),
                    7 => format!("sum(DISTINCT {n}) FILTER (WHERE {n} > 1)"),
                    _ => format!("bool_and({n} > 0)"),
                });
            }
            if !groups.is_empty() {
                tail += &format!(" GROUP BY {}", groups.join(", "));
                ordered = groups;
            }
            if rng.random_bool(0.2) {
                tail += " HAVING count(*) > 1";
            }
        }
        1 => {
            output.extend((0..rng.random_range(1..4)).map(|_| any(rng)));
            ordered = output.clone();
            output[0].insert_str(0, "DISTINCT ");
        }
        _ => {
            output.extend((0..rng.random_range(1..5)).map(|_| any(rng)));
            output.push(format!("{} * 2", number(rng)));
            if rng.random_bool(0.25) {
                let outer = *pick(rng, &names);
                let inner = match rng.random_range(0..5) {
                    0 => format!("SELECT max(w.b) FROM v w WHERE w.a = {outer}.b"),
                    1 => format!("SELECT count(*) FROM v w WHERE w.c = {outer}.d AND w.b IS NOT NULL"),
                    2 => format!("SELECT w.b FROM v w WHERE w.a = {outer}.a ORDER BY w.b LIMIT 1"),
                    3 => format!("SELECT w.b FROM v w WHERE w.a = {outer}.e AND w.b = {outer}.b"),
                    _ => format!("SELECT sum(w.b + (SELECT count(*) FROM u x WHERE x.a = w.a)) FROM v w WHERE w.a = {outer}.a"),
                };
                output.push(match rng.random_range(0..7) {
                    5 => format!("coalesce(({inner})::numeric, -1)"),
                    6 => format!("CASE WHEN {outer}.e > 1 THEN 0 ELSE ({inner}) END"),
                    0 => format!("EXISTS ({inner})"),
                    1 => format!("array(SELECT w.c FROM v w WHERE w.a = {outer}.a ORDER BY w.c LIMIT 3)"),
                    _ => format!("({inner})"),
                });
            }
            ordered = (0..2).map(|_| any(rng)).collect();
        }
    }
    let mut sorted = Vec::new();
    if !ordered.is_empty() && rng.random_bool(0.5) {
        let plain = !output[0].starts_with("DISTINCT") && !tail.contains("GROUP BY");
        let mut keys = Vec::new();
        for key in ordered {
            let position = match output.iter().position(|o| o.trim_start_matches("DISTINCT ") == key) {
                Some(position) => position,
                None if plain => {
                    output.push(key.clone());
                    output.len() - 1
                }
                None => continue,
            };
            sorted.push(position);
            keys.push(format!("{key}{}", pick(rng, &["", " DESC", " DESC NULLS LAST", " NULLS FIRST"])));
        }
        if !keys.is_empty() {
            tail += &format!(" ORDER BY {}", keys.join(", "));
        }
    }
    let limited = rng.random_bool(0.3);
    if limited {
        tail += &format!(" LIMIT {}", rng.random_range(0..6));
        if rng.random_bool(0.3) {
            tail += " OFFSET 1";
        }
    }
    Statement { select: format!("SELECT {}", output.join(", ")), tail, types, sorted, limited }
}

/// What statements may hold, and how many of those that do are compiled at least.
const SHAPES: [(&str, usize); 9] = [
    ("SELECT", 96),
    ("JOIN", 30),
    ("v w", 6),
    (" OVER ", 8),
    ("DISTINCT ON", 8),
    ("VALUES", 8),
    ("unnest", 5),
    ("EXCEPT", 1),
    ("_agg(", 1),
];

/// Changes of a transaction that reads what it has written; often none.
fn changes(rng: &mut StdRng) -> Vec<String> {
    if rng.random_bool(0.6) {
        return Vec::new();
    }
    let mut out = vec!["BEGIN".to_owned()];
    for _ in 0..rng.random_range(1..5) {
        let table = *pick(rng, &["t", "u", "v"]);
        let (column, n, m) = (*pick(rng, &["a", "b", "e"]), small_int(rng), rng.random_range(-2..8));
        out.push(match rng.random_range(0..3) {
            0 => format!("DELETE FROM {table} WHERE {column} = {n}"),
            1 => format!("UPDATE {table} SET {column} = {column} WHERE {column} < {n}"),
            _ => format!("INSERT INTO {table} VALUES ({m}, {n}, 'a', 'z', {m}), ({m}, {m}, 'b', 'b', {m} + 1) ON CONFLICT DO NOTHING"),
        });
    }
    out
}

/// Runs a statement behind changes that are taken back.
async fn run_behind(
    session: &mut Session,
    changes: &[String],
    prepared: &Prepared,
    params: Vec<ScalarValue>,
) -> PgResult<Vec<Vec<String>>> {
    for change in changes {
        all(session, change).await;
    }
    let given = run(session, prepared, params).await;
    if !changes.is_empty() {
        all(session, "ROLLBACK").await;
    }
    given
}

/// How many statements of each shape were compiled.
pub(super) async fn compare(
    seed: u64,
    rounds: usize,
    statements: usize,
    statement: fn(&mut StdRng) -> Statement,
    shapes: &[(&str, usize)],
) -> Vec<usize> {
    let mut rng = StdRng::seed_from_u64(seed);
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut session = database.connect(SessionOptions::default()).unwrap();
    let mut compiled = vec![0; shapes.len()];
    for _ in 0..rounds {
        for table in ["t", "u", "v"] {
            make_table(&mut session, &mut rng, table, false).await;
        }
        for _ in 0..statements {
            let statement = statement(&mut rng);
            let sql = format!("{}{}", statement.select, statement.tail);
            let copies = ["t", "u", "v"].map(|t| format!("{t} AS MATERIALIZED (SELECT * FROM public.{t})")).join(", ");
            let short = prepare(&mut session, &sql, &statement.types).unwrap_or_else(|e| panic!("{sql}: {e}"));
            let whole = match sql.strip_prefix("WITH RECURSIVE ") {
                Some(rest) => format!("WITH RECURSIVE {copies}, {rest}"),
                None => format!("WITH {copies} {sql}"),
            };
            let planned = prepare_planned(&mut session, &whole, &statement.types).unwrap();
            // The same over rows that are there.
            let over_ctes = prepare(&mut session, &whole, &statement.types).unwrap();
            for _ in 0..3 {
                let params: Vec<ScalarValue> = statement.types.iter().map(|ty| value(&mut rng, ty)).collect();
                let changes = changes(&mut rng);
                let what = format!("seed {seed}: {changes:?} {sql} {params:?}");
                let given = run_behind(&mut session, &changes, &short, params.clone()).await;
                let expected = run_behind(&mut session, &changes, &planned, params.clone()).await;
                if given.is_ok() && expected.as_ref().is_err_and(|e| e.code().class() == "22") {
                    // A value of rows that the compiled query had no row to join with.
                    continue;
                }
                check(&statement, &what, given, expected.clone());
                let over_ctes = run_behind(&mut session, &changes, &over_ctes, params).await;
                check(&statement, &format!("over CTEs, {what}"), over_ctes, expected);
            }
            let bound = session.bound(&short.inner).unwrap();
            let settings = session.shared().settings();
            if bound.plan.compiled(&bound.bound, settings, &session.database().text).unwrap().is_whole() {
                for (count, (shape, _)) in compiled.iter_mut().zip(shapes) {
                    *count += usize::from(sql.contains(*shape));
                }
            }
        }
    }
    session.close().await;
    compiled
}

#[tokio::test]
async fn compiled_queries_give_what_the_planner_gives() {
    let mut counts = vec![0; SHAPES.len()];
    for seed in 0..4 {
        let of_seed = compare(seed, 6, 40, statement, &SHAPES).await;
        counts.iter_mut().zip(of_seed).for_each(|(count, own)| *count += own);
    }
    for (count, (shape, least)) in counts.into_iter().zip(SHAPES) {
        assert!(count >= least, "of 960 statements only {count} with {shape:?} were compiled");
    }
}

#[tokio::test]
async fn a_query_that_turns_out_long_is_left_to_the_planner() {
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut session = database.connect(SessionOptions::default()).unwrap();
    all(
        &mut session,
        "CREATE TABLE t (a int4, b int4, PRIMARY KEY (a, b)); INSERT INTO t SELECT n % 2, n FROM generate_series(1, 3000) n; \
         CREATE TABLE u (b int4 PRIMARY KEY, c int4); INSERT INTO u SELECT n, n % 7 FROM generate_series(1, 3000) n",
    )
    .await;
    let sql = "SELECT u.c, count(*) FROM t JOIN u USING (b) WHERE t.a = $1 AND t.b < $2 GROUP BY u.c ORDER BY u.c";
    let prepared = prepare(&mut session, sql, &[PgType::Int4, PgType::Int4]).unwrap();
    for most in [15, 3001] {
        for _ in 0..6 {
            let params = vec![ScalarValue::Int32(Some(1)), ScalarValue::Int32(Some(most))];
            let rows = run(&mut session, &prepared, params).await.unwrap();
            let counts: Vec<i32> = rows.iter().map(|r| r[1].parse().unwrap()).collect();
            assert_eq!(counts.len(), 7, "{rows:?}");
            assert!(counts.iter().all(|n| if most == 15 { *n == 1 } else { *n == 214 || *n == 215 }), "{rows:?}");
        }
    }
    let bound = session.bound(&prepared.inner).unwrap();
    let settings = session.shared().settings();
    let query = bound.plan.compiled(&bound.bound, settings, &session.database().text).unwrap().query.unwrap();
    assert!(!query.is_short(), "a statement that is always long is still tried");
    session.close().await;
}

#[tokio::test]
async fn changes_by_joins_are_those_of_the_planner() {
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut session = database.connect(SessionOptions::default()).unwrap();
    let statements = [
        "UPDATE $t SET n = $t.n + u.n, s = u.s FROM u WHERE u.id = $t.u AND $t.id = $1",
        "UPDATE $t SET n = 0 FROM u WHERE u.id = $t.u AND $t.id BETWEEN $1 AND $1 + 4 AND u.n > 20 RETURNING $t.id, u.s",
        "DELETE FROM $t USING u WHERE u.id = $t.u AND u.id = $1 AND $t.id < 30 RETURNING $t.id",
        "INSERT INTO $t SELECT $t.id + 1000, u.id, u.n, u.s FROM $t JOIN u ON u.id = $t.u WHERE $t.id IN ($1, $1 + 1) ON CONFLICT DO NOTHING",
        "MERGE INTO $t USING (SELECT id + $1 AS id, n, s FROM u WHERE id = $1) x ON $t.id = x.id WHEN MATCHED THEN UPDATE SET s = x.s \
         WHEN NOT MATCHED THEN INSERT VALUES (x.id, 0, x.n, x.s)",
    ];
    let mut compiled = 0;
    let mut answers = Vec::new();
    for how in ["on", "off"] {
        let table = format!("t_{how}");
        all(
            &mut session,
            &format!(
                "SET stoa.enable_lookupjoin = {how}; DROP TABLE IF EXISTS u; CREATE TABLE u (id int4 PRIMARY KEY, n int4, s text); \
                 INSERT INTO u SELECT n, n * 3, 's' || n FROM generate_series(0, 9) n; \
                 CREATE TABLE {table} (id int4 PRIMARY KEY, u int4, n int4, s text); CREATE INDEX ON {table} (u); \
                 INSERT INTO {table} SELECT n, nullif(n % 10, 3), n, '' FROM generate_series(1, 60) n"
            ),
        )
        .await;
        let mut given = Vec::new();
        for value in 0..12 {
            for statement in statements {
                let prepared = prepare(&mut session, &statement.replace("$t", &table), &[PgType::Int4]).unwrap();
                given.push(run(&mut session, &prepared, vec![ScalarValue::Int32(Some(value))]).await.unwrap());
                let bound = session.bound(&prepared.inner).unwrap();
                let settings = session.shared().settings();
                let query = bound.plan.compiled(&bound.bound, settings, &session.database().text).unwrap().query;
                assert!(how == "on" || query.is_none(), "{statement}");
                compiled += usize::from(query.is_some());
            }
        }
        given.iter_mut().for_each(|rows| rows.sort());
        let count =
            prepare(&mut session, &format!("SELECT count(*), sum(id), sum(n), md5(string_agg(s, ',' ORDER BY id)) FROM {table}"), &[]);
        given.push(run(&mut session, &count.unwrap(), Vec::new()).await.unwrap());
        answers.push(given);
    }
    assert_eq!(answers[0], answers[1]);
    assert!(compiled >= 36, "only {compiled} were compiled");
    session.close().await;
}

#[tokio::test]
async fn a_queue_locks_no_more_rows_than_it_takes() {
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(database.connect(SessionOptions::default()).unwrap());
    }
    let [first, second, third] = sessions.as_mut_slice() else { panic!() };
    all(
        first,
        "CREATE TABLE jobs (id int4 PRIMARY KEY, state text, n int4); CREATE INDEX ON jobs (state, id); \
         INSERT INTO jobs SELECT n, CASE WHEN n < 10 THEN 'done' ELSE 'new' END, 0 FROM generate_series(1, 15) n",
    )
    .await;
    let sql = "SELECT id FROM jobs WHERE state = $1 ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED";
    let state = || vec![ScalarValue::Utf8View(Some("new".into()))];
    let mut taken = Vec::new();
    for session in [&mut *first, &mut *second, &mut *third] {
        let begin = prepare(session, "BEGIN", &[]).unwrap();
        run(session, &begin, Vec::new()).await.unwrap();
        let take = prepare(session, sql, &[PgType::Text]).unwrap();
        taken.push(run(session, &take, state()).await.unwrap().concat());
        let bound = session.bound(&take.inner).unwrap();
        let settings = session.shared().settings();
        assert!(bound.plan.compiled(&bound.bound, settings, &session.database().text).unwrap().query.is_some());
    }
    assert_eq!(taken, [["10", "11"], ["12", "13"], ["14", "15"]]);
    // A row that was changed meanwhile is seen as it is.
    all(first, "UPDATE jobs SET state = 'done' WHERE id = 10; COMMIT").await;
    all(second, "ROLLBACK").await;
    let take = prepare(second, sql, &[PgType::Text]).unwrap();
    assert_eq!(run(second, &take, state()).await.unwrap().concat(), ["11", "12"]);
    for session in sessions {
        session.close().await;
    }
}
