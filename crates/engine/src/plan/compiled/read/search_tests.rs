//! Compiled searches beside planned ones: random documents and search strings, with files that are up to date, files that are behind,
//! and changes that are not committed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::tests::{all, pick, prepare, prepare_planned, run};
use crate::session::{Session, SessionOptions};
use crate::{Database, DatabaseOptions};
use datafusion::common::ScalarValue;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::HashMap;
use stoa_pg::PgType;

const WORDS: [&str; 9] = ["alpha", "beta", "gamma", "delta", "alphabet", "betas", "running", "run", "the"];

fn words(rng: &mut StdRng, most: usize) -> String {
    (0..rng.random_range(0..=most)).map(|_| *pick(rng, &WORDS)).collect::<Vec<_>>().join(" ")
}

fn literal(rng: &mut StdRng, most: usize) -> String {
    if rng.random_bool(0.1) { "NULL".into() } else { format!("'{}'", words(rng, most)) }
}

/// Some changes of rows.
fn changes(rng: &mut StdRng, next: &mut usize) -> String {
    let mut out = String::new();
    for _ in 0..rng.random_range(1..30) {
        *next += 1;
        let (title, body) = (literal(rng, 3), literal(rng, 12));
        out += &format!("INSERT INTO docs VALUES ({next}, {title}, {body}, {}, '{}');", *next % 7, pick(rng, &["x", "y", "z"]));
        let at = rng.random_range(1..=*next);
        out += &match rng.random_range(0..6) {
            0 => format!("UPDATE docs SET body = {} WHERE id = {at};", literal(rng, 12)),
            1 => format!("UPDATE docs SET n = {} WHERE id = {at};", at % 5),
            2 => format!("DELETE FROM docs WHERE id = {at};"),
            _ => String::new(),
        };
    }
    out
}

fn search(rng: &mut StdRng) -> String {
    let one = |rng: &mut StdRng| {
        let (word, other) = (*pick(rng, &WORDS), *pick(rng, &WORDS));
        match rng.random_range(0..12) {
            0..6 => word.to_owned(),
            6 => format!("\"{word} {other}\""),
            7 => format!("\"{word} {other} run\"~2"),
            8 => format!("{}*", &word[..2]),
            9 => format!("{word}~1"),
            10 => format!("/{}.*/", &word[..1]),
            _ => format!("title:{word}"),
        }
    };
    let mut out = Vec::new();
    for _ in 0..rng.random_range(1..4) {
        out.push(format!("{}{}", pick(rng, &["", "", "", "+", "-"]), one(rng)));
    }
    // Not all can be read.
    if rng.random_bool(0.03) {
        out.push("(".into());
    }
    out.join(" ")
}

struct Statement {
    condition: String,
    grouped: Option<&'static str>,
    /// By score; by score and id; by id.
    order: &'static str,
    limit: Option<(usize, usize)>,
}

fn statement(rng: &mut StdRng) -> Statement {
    let columns = *pick(rng, &["title, body", "title, body", "body, title"]);
    let mut condition = match rng.random_range(0..5) {
        0 => "tsv @@ plainto_tsquery('english', $1)".to_owned(),
        1 => "to_tsvector('english', title) @@ websearch_to_tsquery('english', $1)".to_owned(),
        _ => format!("MATCH({columns}) AGAINST ($1)"),
    };
    let of_match = condition.starts_with("MATCH");
    let other = rng.random_bool(0.4);
    if other {
        condition +=
            *pick(rng, &[" AND n = 3", " AND n < 4", " AND n % 3 = 1 AND topic <> 'x'", " AND topic = 'y'", " AND length(body) > 20"]);
    }
    let grouped = match rng.random_range(0..5) {
        0 => Some("count(*)"),
        1 => Some("topic, count(*), sum(n)"),
        _ => None,
    };
    let order = if grouped.is_none() {
        *pick(rng, if of_match { &["", "score", "score", "score, id", "score, id", "id"] } else { &["", "id"] })
    } else {
        ""
    };
    let limit = (grouped.is_none() && rng.random_bool(0.6)).then(|| (rng.random_range(0..12), if rng.random_bool(0.3) { 2 } else { 0 }));
    Statement { condition, grouped, order, limit }
}

impl Statement {
    fn scored(&self) -> bool {
        self.condition.starts_with("MATCH")
    }

    fn sql(&self) -> String {
        let given = match self.grouped {
            Some(grouped) => grouped,
            None if self.scored() => "d.id, score(d), snippet(body, 30)",
            None => "d.id, 0, body",
        };
        let mut sql = format!("SELECT {given} FROM docs d WHERE {}", self.condition);
        if self.grouped.is_some_and(|g| g.starts_with("topic")) {
            sql += " GROUP BY topic";
        }
        sql += match self.order {
            "score" => " ORDER BY score(d) DESC",
            "score, id" => " ORDER BY score(d) DESC, d.id",
            "id" => " ORDER BY d.id",
            _ => "",
        };
        if let Some((limit, offset)) = self.limit {
            sql += &format!(" LIMIT {limit} OFFSET {offset}");
        }
        sql
    }

    /// Without an order and a limit.
    fn whole(&self) -> String {
        Statement { condition: self.condition.clone(), grouped: self.grouped, order: "", limit: None }.sql()
    }

    /// The rows must be some of all, as many as are wanted, and the right ones where an order says which.
    fn check(&self, what: &str, given: &[Vec<String>], mut all: Vec<Vec<String>>) {
        let known: HashMap<&str, &Vec<String>> = all.iter().map(|row| (row[0].as_str(), row)).collect();
        for row in given {
            assert_eq!(Some(&row), known.get(row[0].as_str()), "{what}");
        }
        let (limit, offset) = self.limit.unwrap_or((usize::MAX, 0));
        assert_eq!(given.len(), all.len().saturating_sub(offset).min(limit), "{what}: {given:?} of {all:?}");
        let ids = |rows: &[Vec<String>]| rows.iter().map(|r| r[0].clone()).collect::<std::collections::HashSet<_>>().len();
        assert_eq!(ids(given), given.len(), "{what}: a row twice");
        let id = |row: &Vec<String>| row[0].parse::<i64>().unwrap();
        let score = |row: &Vec<String>| row[1].parse::<f32>().unwrap();
        match self.order {
            "score" => all.sort_by(|a, b| score(b).total_cmp(&score(a))),
            "score, id" => all.sort_by(|a, b| score(b).total_cmp(&score(a)).then(id(a).cmp(&id(b)))),
            "id" => all.sort_by_key(id),
            _ => return,
        }
        let expected = all.iter().skip(offset).take(limit);
        for (given, expected) in given.iter().zip(expected) {
            match self.order {
                "score" => assert_eq!(given[1], expected[1], "{what}"),
                _ => assert_eq!(given, expected, "{what}"),
            }
        }
    }
}

/// Runs a search compiled and planned. Gives whether it was compiled.
async fn compare(session: &mut Session, rng: &mut StdRng, what: &str) -> bool {
    let statement = statement(rng);
    let sql = statement.sql();
    let compiled = prepare(session, &sql, &[PgType::Text]).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let planned = prepare(session, &statement.whole(), &[PgType::Text]).unwrap();
    for _ in 0..2 {
        let search = if rng.random_bool(0.03) { None } else { Some(search(rng)) };
        let what = format!("{what}: {sql} [{search:?}]");
        let params = vec![ScalarValue::Utf8View(search)];
        all(session, "SAVEPOINT here").await;
        let given = run(session, &compiled, params.clone()).await;
        all(session, "ROLLBACK TO here; SET LOCAL stoa.enable_skipscan = off").await;
        let expected = run(session, &planned, params.clone()).await;
        let ordered = if statement.order == "score, id" { Some(run(session, &compiled, params).await) } else { None };
        all(session, "ROLLBACK TO here").await;
        if let (Some(Ok(ordered)), Ok(expected)) = (ordered, &expected) {
            statement.check(&format!("planned, {what}"), &ordered, expected.clone());
        }
        match (given, expected) {
            (Ok(given), Ok(expected)) => statement.check(&what, &given, expected),
            (Err(given), Err(expected)) => assert_eq!(given.to_string(), expected.to_string(), "{what}"),
            (given, expected) => panic!("{what}\n{given:?}\n{expected:?}"),
        }
    }
    let bound = session.bound(&compiled.inner).unwrap();
    let settings = session.shared().settings();
    let compiled = bound.plan.compiled(&bound.bound, settings, &session.database().text).unwrap();
    compiled.query.is_some()
}

async fn rounds(seed: u64) -> usize {
    let mut rng = StdRng::seed_from_u64(seed);
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut session = database.connect(SessionOptions::default()).unwrap();
    all(
        &mut session,
        "CREATE TABLE docs (id int4 PRIMARY KEY, title text, body text, n int4, topic text, \
         tsv tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)",
    )
    .await;
    let mut next = 0;
    all(&mut session, &changes(&mut rng, &mut next)).await;
    let tokenizer = *pick(&mut rng, &["unicode", "english"]);
    all(
        &mut session,
        &format!(
            "CREATE INDEX docs_text ON docs USING fulltext (title, body) WITH (tokenizer = '{tokenizer}'); \
             CREATE INDEX docs_tsv ON docs USING gin (tsv); CREATE INDEX docs_title ON docs USING gin (to_tsvector('english', title))"
        ),
    )
    .await;
    let indexes = session.database().text.all();
    let mut compiled = 0;
    for round in 0..4 {
        // Files stay as they are meanwhile: scores depend on them.
        let mut held = Vec::new();
        for index in &indexes {
            held.push(index.turn.lock().await);
        }
        all(&mut session, &changes(&mut rng, &mut next)).await;
        let own = changes(&mut rng, &mut next);
        let own = if round % 2 == 0 { &own } else { "" };
        all(&mut session, &format!("BEGIN ISOLATION LEVEL REPEATABLE READ; {own}")).await;
        for _ in 0..12 {
            compiled += usize::from(compare(&mut session, &mut rng, &format!("seed {seed}, round {round}")).await);
        }
        all(&mut session, if rng.random_bool(0.5) { "COMMIT" } else { "ROLLBACK" }).await;
        drop(held);
        tokio::time::sleep(std::time::Duration::from_millis(if round == 1 { 700 } else { 1 })).await;
    }
    session.close().await;
    compiled
}

#[tokio::test]
async fn compiled_searches_give_what_the_planner_gives() {
    let mut compiled = 0;
    for seed in 0..6 {
        compiled += rounds(seed).await;
    }
    assert!(compiled > 200, "of 288 only {compiled} were compiled");
}

#[tokio::test]
async fn a_filter_is_looked_for_further_down() {
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut session = database.connect(SessionOptions::default()).unwrap();
    // The better a row, the less it passes: the first that do are behind some hundreds.
    all(
        &mut session,
        "CREATE TABLE docs (id int4 PRIMARY KEY, body text, n int4); \
         INSERT INTO docs SELECT n, repeat('word ', 1 + (2000 - n) / 100) || repeat('x ', n / 100), n / 1500 FROM generate_series(1, 2000) n; \
         CREATE INDEX ON docs USING fulltext (body)",
    )
    .await;
    let sql = "SELECT id, n FROM docs d WHERE MATCH(body) AGAINST ($1) AND n = $2 ORDER BY score(d) DESC LIMIT 5";
    let prepared = prepare(&mut session, sql, &[PgType::Text, PgType::Int4]).unwrap();
    for n in [0, 1, 0, 1, 2] {
        let params = vec![ScalarValue::Utf8View(Some("word".into())), ScalarValue::Int32(Some(n))];
        let rows = run(&mut session, &prepared, params).await.unwrap();
        assert_eq!(rows.len(), if n == 2 { 0 } else { 5 }, "{rows:?}");
        for row in rows {
            let id: i32 = row[0].parse().unwrap();
            let first = if n == 0 { 1..100 } else { 1500..1600 };
            assert!(first.contains(&id), "{id} for {n}");
        }
    }
    let bound = session.bound(&prepared.inner).unwrap();
    let settings = session.shared().settings();
    let compiled = bound.plan.compiled(&bound.bound, settings, &session.database().text).unwrap();
    assert!(compiled.query.is_some_and(|query| !query.is_tree()), "it was not compiled");
    session.close().await;
}

#[tokio::test]
async fn searches_for_items_are_compiled() {
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut session = database.connect(SessionOptions::default()).unwrap();
    all(
        &mut session,
        "CREATE TABLE docs (id int4 PRIMARY KEY, d jsonb, t text[]); \
         INSERT INTO docs SELECT n, jsonb_build_object('a', n % 50, 'b', jsonb_build_array('x' || n % 7)), ARRAY['t' || n % 30, NULL] FROM generate_series(1, 300) n; \
         CREATE INDEX ON docs USING gin (d); CREATE INDEX ON docs USING gin (t); CREATE INDEX ON docs USING gin ((d -> 'b') jsonb_path_ops); \
         BEGIN; UPDATE docs SET d = '{\"a\": 5, \"b\": [\"x1\"]}', t = '{t5}' WHERE id = 7; DELETE FROM docs WHERE id = 55",
    )
    .await;
    let json = |text: &str| ScalarValue::BinaryView(Some(stoa_pg::values::json::binary::from_text(text).unwrap()));
    let text = |text: &str| ScalarValue::Utf8View(Some(text.into()));
    for (condition, ty, given, rows, ways) in [
        ("d @> $1", PgType::Jsonb, json(r#"{"a": 5.0}"#), 6, true),
        ("$1 <@ d", PgType::Jsonb, json(r#"{"a": 5.0}"#), 6, true),
        ("d @> $1 AND d ? 'b'", PgType::Jsonb, json(r#"{"a": 5.0, "b": []}"#), 6, true),
        ("d @> $1", PgType::Jsonb, json("{}"), 299, true),
        ("d @> $1", PgType::Jsonb, ScalarValue::BinaryView(None), 0, true),
        ("d ? $1", PgType::Text, text("nosuch"), 0, true),
        ("d ?| ARRAY[$1, 'nosuch']", PgType::Text, text("a"), 299, true),
        ("t @> ARRAY[$1]", PgType::Text, text("t5"), 11, true),
        ("$1 = ANY (t)", PgType::Text, text("t5"), 11, true),
        ("t && ARRAY[$1, NULL]", PgType::Text, text("t5"), 11, true),
        ("d -> 'b' @> $1", PgType::Jsonb, json(r#""x1""#), 44, true),
        // By the key.
        ("d @> $1 AND id < 100", PgType::Jsonb, json(r#"{"a": 5}"#), 2, true),
        ("NOT d @> $1", PgType::Jsonb, json(r#"{"a": 5}"#), 293, false),
    ] {
        let sql = format!("SELECT id FROM docs WHERE {condition}");
        let prepared = prepare(&mut session, &sql, std::slice::from_ref(&ty)).unwrap();
        let planned = prepare_planned(&mut session, &sql, &[ty]).unwrap();
        let mut found = run(&mut session, &prepared, vec![given.clone()]).await.unwrap();
        let mut expected = run(&mut session, &planned, vec![given]).await.unwrap();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{condition}");
        assert_eq!(found.len(), rows, "{condition}");
        let bound = session.bound(&prepared.inner).unwrap();
        let compiled = bound.plan.compiled(&bound.bound, session.shared().settings(), &session.database().text).unwrap();
        assert_eq!(compiled.query.as_ref().is_some_and(|query| !query.is_tree()), ways, "{condition}");
    }
    session.close().await;
}
