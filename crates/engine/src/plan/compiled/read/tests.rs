//! Compiled reads beside the planner: random tables and statements, each prepared once and executed with several values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::session::{Execution, Prepared, Session, SessionOptions};
use crate::{Database, DatabaseOptions};
use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::ScalarValue;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use stoa_pg::{PgResult, PgType};

const COLUMNS: [(&str, &str); 5] = [("a", "int4"), ("b", "int8"), ("c", "text"), ("d", "varchar(10)"), ("e", "int2")];

/// Rows as text.
fn rows(batch: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<ArrayFormatter<'_>> = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
    (0..batch.num_rows()).map(|row| columns.iter().map(|c| c.value(row).to_string()).collect()).collect()
}

pub(in crate::plan) async fn run(session: &mut Session, prepared: &Prepared, params: Vec<ScalarValue>) -> PgResult<Vec<Vec<String>>> {
    let out = match session.execute(prepared, params).await? {
        Execution::Rows(given) => match given.collect().await {
            Ok(batch) => Ok(rows(&batch)),
            Err(error) => {
                session.fail().await;
                Err(error)
            }
        },
        _ => Ok(Vec::new()),
    };
    session.finish().await?;
    out
}

pub(in crate::plan) async fn all(session: &mut Session, script: &str) {
    for piece in session.parse(script).unwrap() {
        let prepared = session.prepare(Some(piece), script.into(), Vec::new()).unwrap();
        run(session, &prepared, Vec::new()).await.unwrap_or_else(|e| panic!("{script}: {e}"));
    }
}

pub(in crate::plan) fn prepare(session: &mut Session, sql: &str, types: &[PgType]) -> PgResult<Prepared> {
    let piece = session.parse(sql)?.pop();
    session.prepare(piece, sql.into(), types.iter().cloned().map(Some).collect())
}

/// As [`prepare`], and nothing of it is compiled.
pub(in crate::plan) fn prepare_planned(session: &mut Session, sql: &str, types: &[PgType]) -> PgResult<Prepared> {
    let prepared = prepare(session, sql, types)?;
    let settings = session.shared().settings();
    session.bound(&prepared.inner)?.plan.leave_to_planner(settings);
    Ok(prepared)
}

pub(in crate::plan) fn pick<'a, T>(rng: &mut StdRng, list: &'a [T]) -> &'a T {
    &list[rng.random_range(0..list.len())]
}

pub(in crate::plan) fn small_int(rng: &mut StdRng) -> i64 {
    if rng.random_bool(0.03) { 70_000 } else { rng.random_range(-2..8) }
}

pub(in crate::plan) fn small_text(rng: &mut StdRng) -> String {
    (0..rng.random_range(0..3)).map(|_| *pick(rng, &['a', 'b', 'z'])).collect()
}

/// A table with a random key and indexes, with some rows; some tables are longer than what is read at once.
pub(in crate::plan) async fn make_table(session: &mut Session, rng: &mut StdRng, name: &str, long: bool) {
    let mut columns: Vec<&str> = COLUMNS.iter().map(|c| c.0).collect();
    let mut parts = |rng: &mut StdRng, most: usize| {
        let count = rng.random_range(1..=most);
        for at in 0..count {
            let other = rng.random_range(at..columns.len());
            columns.swap(at, other);
        }
        columns[..count].iter().map(|c| format!("{c}{}", pick(rng, &["", "", " DESC"]))).collect::<Vec<_>>().join(", ")
    };
    let key = parts(rng, 3);
    let salt = pick(rng, &["", "", "WITH (salt_buckets = 3)"]).to_string();
    let list: Vec<String> = COLUMNS.iter().map(|(n, t)| format!("{n} {t}")).collect();
    all(session, &format!("DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({}, PRIMARY KEY ({key})) {salt}", list.join(", "))).await;
    for n in 0..rng.random_range(0..3) {
        let unique = if rng.random_bool(0.3) { "UNIQUE" } else { "" };
        let include = if rng.random_bool(0.3) { "INCLUDE (b, d)" } else { "" };
        let nulls = *pick(rng, &["", " NULLS FIRST", " NULLS LAST"]);
        let own = parts(rng, 2);
        all(session, &format!("CREATE {unique} INDEX {name}{n} ON {name} ({own}{nulls}) {include}")).await;
    }
    let count = if long { 1500 } else { rng.random_range(0..60) };
    for n in 0..count {
        let wide = if long { n } else { small_int(rng) };
        let int = |rng: &mut StdRng, other: i64| if rng.random_bool(0.1) { "NULL".to_owned() } else { other.to_string() };
        let (a, b, e) = (int(rng, wide), small_int(rng), small_int(rng) % 30_000);
        let (b, e) = (int(rng, b), int(rng, e));
        let text = |rng: &mut StdRng| if rng.random_bool(0.1) { "NULL".to_owned() } else { format!("'{}'", small_text(rng)) };
        let (c, d) = (text(rng), text(rng));
        let sql = format!("INSERT INTO {name} VALUES ({a}, {b}, {c}, {d}, {e}) ON CONFLICT DO NOTHING");
        // A NULL in the key is no row.
        if let Ok(prepared) = prepare(session, &sql, &[]) {
            let _ = run(session, &prepared, Vec::new()).await;
        }
    }
}

pub(in crate::plan) struct Statement {
    /// Without its FROM.
    pub select: String,
    pub tail: String,
    pub types: Vec<PgType>,
    /// Positions of the ORDER BY columns in the output.
    pub sorted: Vec<usize>,
    pub limited: bool,
}

fn statement(rng: &mut StdRng) -> Statement {
    let mut types = Vec::new();
    let mut conditions = Vec::new();
    for _ in 0..rng.random_range(1..4) {
        let (name, ty) = *pick(rng, &COLUMNS);
        let op = *pick(rng, &["=", "=", "=", "<", "<=", ">", ">="]);
        let text = ty == "text" || ty.starts_with("varchar");
        let value = match (rng.random_range(0..4), text) {
            (0, true) => format!("'{}'", small_text(rng)),
            (0, false) => small_int(rng).to_string(),
            (1, false) => {
                types.push(PgType::Int4);
                format!("${} + {}", types.len(), rng.random_range(0..3))
            }
            (_, true) => {
                types.push(PgType::Text);
                format!("${}", types.len())
            }
            (_, false) => {
                types.push(pick(rng, &[PgType::Int2, PgType::Int4, PgType::Int8]).clone());
                format!("${}", types.len())
            }
        };
        conditions.push(if rng.random_bool(0.2) {
            let flipped = ["=", "<", "<=", ">", ">="].iter().zip(["=", ">", ">=", "<", "<="]).find(|(o, _)| **o == op).unwrap().1;
            format!("{value} {flipped} {name}")
        } else {
            format!("{name} {op} {value}")
        });
    }
    if rng.random_bool(0.2) {
        conditions.push("e % 2 = 0".to_owned());
    }
    if rng.random_bool(0.2) {
        let (name, ty) = *pick(rng, &COLUMNS);
        let text = ty == "text" || ty.starts_with("varchar");
        let mut list: Vec<String> =
            (0..rng.random_range(1..4)).map(|_| if text { format!("'{}'", small_text(rng)) } else { small_int(rng).to_string() }).collect();
        types.push(if text { PgType::Text } else { PgType::Int8 });
        list.push(format!("${}", types.len()));
        conditions.push(format!("{name} IN ({})", list.join(", ")));
    }
    if rng.random_bool(0.25) {
        // A row beside a row, or alternatives.
        let (first, second) = (pick(rng, &["a", "b", "e"]), pick(rng, &["a", "b", "c", "e"]));
        let mut value = |rng: &mut StdRng, column: &str| {
            types.push(if column == "c" { PgType::Text } else { pick(rng, &[PgType::Int4, PgType::Int8]).clone() });
            format!("${}", types.len())
        };
        let (one, other, third, fourth) = (value(rng, first), value(rng, second), value(rng, first), value(rng, second));
        conditions.push(match rng.random_range(0..4) {
            0 | 1 => format!("({first}, {second}) {} ({one}, {other})", pick(rng, &["<", "<=", ">", ">="])),
            2 => format!("({first} = {one} AND {second} = {other} OR {first} = {third} AND {second} > {fourth})"),
            _ => format!("({first} < {one} OR {other} <= {second} AND {first} = {third})"),
        });
    }
    if rng.random_bool(0.2) {
        // The whole table, in some order.
        conditions.clear();
        types.clear();
        if rng.random_bool(0.5) {
            conditions.push(format!("{} IS NOT NULL", pick(rng, &COLUMNS).0));
        }
    }
    let mut output: Vec<String> = vec!["a".into(), "c".into()];
    let mut order = Vec::new();
    let mut sorted = Vec::new();
    if rng.random_bool(0.5) {
        let direction = *pick(rng, &["", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST"]);
        for _ in 0..rng.random_range(1..3) {
            let name = pick(rng, &COLUMNS).0;
            sorted.push(output.len());
            output.push(name.to_owned());
            order.push(format!("{name}{}", if rng.random_bool(0.8) { direction } else { "" }));
        }
    }
    if rng.random_bool(0.3) {
        output.push("b + 1".into());
    }
    let mut tail = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    if !order.is_empty() {
        tail += &format!(" ORDER BY {}", order.join(", "));
    }
    let limited = rng.random_bool(0.4);
    if limited {
        let limit = match rng.random_range(0..4) {
            0 => "0".to_owned(),
            1 => {
                types.push(PgType::Int8);
                format!("${}", types.len())
            }
            _ => rng.random_range(1..20).to_string(),
        };
        tail += &format!(" LIMIT {limit}");
        if rng.random_bool(0.3) {
            tail += " OFFSET 2";
        }
    }
    Statement { select: format!("SELECT {}", output.join(", ")), tail, types, sorted, limited }
}

pub(in crate::plan) fn value(rng: &mut StdRng, ty: &PgType) -> ScalarValue {
    let n = small_int(rng);
    let null = rng.random_bool(0.05);
    match ty {
        PgType::Int2 => ScalarValue::Int16((!null).then_some(i16::try_from(n).unwrap_or(7))),
        PgType::Int4 => ScalarValue::Int32((!null).then_some(i32::try_from(n).unwrap())),
        PgType::Int8 => ScalarValue::Int64((!null).then_some(n)),
        _ => ScalarValue::Utf8View((!null).then(|| small_text(rng))),
    }
}

/// Expects what the planner gives for a copy of all rows, of which it knows no key.
pub(in crate::plan) fn check(statement: &Statement, what: &str, given: PgResult<Vec<Vec<String>>>, expected: PgResult<Vec<Vec<String>>>) {
    let (mut given, mut expected) = match (given, expected) {
        (Ok(given), Ok(expected)) => (given, expected),
        (Err(given), Err(expected)) => {
            assert_eq!(given.code(), expected.code(), "{what}");
            return;
        }
        (given, expected) => panic!("{what}\n{given:?}\n{expected:?}"),
    };
    let keys = |rows: &[Vec<String>]| -> Vec<Vec<String>> {
        rows.iter().map(|r| statement.sorted.iter().map(|at| r[*at].clone()).collect()).collect()
    };
    assert_eq!(keys(&given), keys(&expected), "{what}");
    if !statement.limited {
        given.sort();
        expected.sort();
        assert_eq!(given, expected, "{what}");
    }
}

async fn compare(seed: u64, tables: usize, statements: usize, long: bool) {
    let mut rng = StdRng::seed_from_u64(seed);
    let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let mut session = database.connect(SessionOptions::default()).unwrap();
    let mut compiled = 0;
    for _ in 0..tables {
        make_table(&mut session, &mut rng, "t", long).await;
        for _ in 0..statements {
            let statement = statement(&mut rng);
            let sql = format!("{} FROM t{}", statement.select, statement.tail);
            let reference = format!("WITH x AS MATERIALIZED (SELECT * FROM t) {} FROM x{}", statement.select, statement.tail);
            let fast = prepare(&mut session, &sql, &statement.types).unwrap();
            let planned = prepare_planned(&mut session, &reference, &statement.types).unwrap();
            for _ in 0..3 {
                let params: Vec<ScalarValue> = statement.types.iter().map(|ty| value(&mut rng, ty)).collect();
                let what = format!("seed {seed}: {sql} {params:?}");
                let given = run(&mut session, &fast, params.clone()).await;
                let expected = run(&mut session, &planned, params).await;
                check(&statement, &what, given, expected);
            }
            let bound = session.bound(&fast.inner).unwrap();
            let settings = session.shared().settings();
            compiled += usize::from(
                bound.plan.compiled(&bound.bound, settings, &session.database().text).unwrap().query.is_some_and(|query| !query.is_tree()),
            );
        }
    }
    assert!(compiled * 10 > tables * statements, "only {compiled} statements were compiled");
    session.close().await;
}

#[tokio::test]
async fn compiled_reads_give_what_the_planner_gives() {
    for seed in 0..4 {
        compare(seed, 6, 25, false).await;
    }
}

#[tokio::test]
async fn long_ranges_are_left_to_the_planner() {
    compare(100, 2, 20, true).await;
}
