//! How often statements ask their store: the counts of `round_trips.tsv` are not exceeded.
//!
//! The store counts what would travel to other machines, and keeps nothing between statements. A line of the file is a statement with the
//! calls of its first execution in a session (what planning asks among them) and of its third. A count that went down is written down:
//! `STOA_UPDATE_ROUND_TRIPS=1` writes the file anew; read what it wrote.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod counted;

use counted::{Calls, CountedStore};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_engine::{Database, DatabaseOptions, Execution, Session, SessionOptions, Tables};
use stoa_store::model::ModelStore;

const SETUP: &[&str] = &[
    "CREATE TABLE customers (id int PRIMARY KEY, name text, region int)",
    "INSERT INTO customers SELECT n, 'c' || n, n % 10 FROM generate_series(1, 3000) n",
    "CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers, placed int, amount int, code text)",
    "INSERT INTO orders SELECT n, 1 + n % 2000, n, n % 97, 'o' || n FROM generate_series(1, 5000) n",
    "CREATE INDEX orders_customer ON orders (customer)",
    "CREATE UNIQUE INDEX orders_code ON orders (code)",
    "CREATE TABLE parts (a int, b int, c text, PRIMARY KEY (a, b))",
    "INSERT INTO parts SELECT n / 100, n % 100, 'p' || n FROM generate_series(1, 3000) n",
    "CREATE TABLE plain (id int PRIMARY KEY, v int)",
    "CREATE TABLE counters (id int PRIMARY KEY, n int)",
    "INSERT INTO counters SELECT n, 0 FROM generate_series(1, 100) n",
    "ANALYZE customers",
    "ANALYZE orders",
    "ANALYZE parts",
];

/// Statements; `{n}` is a number that grows with each execution.
const STATEMENTS: &[(&str, &str)] = &[
    ("point select", "SELECT name FROM customers WHERE id = 7{n}"),
    ("select of 20 keys", "SELECT name FROM customers WHERE id IN (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,2{n})"),
    ("range of a key", "SELECT c FROM parts WHERE a = 1{n} AND b BETWEEN 10 AND 20"),
    ("select by index", "SELECT amount FROM orders WHERE code = 'o1{n}'"),
    ("covered select by index", "SELECT code FROM orders WHERE code = 'o1{n}'"),
    ("range of an index", "SELECT sum(amount) FROM orders WHERE customer = 1{n}"),
    ("newest by key", "SELECT c FROM parts WHERE a = 1{n} ORDER BY b DESC LIMIT 1"),
    ("least and greatest", "SELECT min(id), max(id) FROM orders WHERE id > {n}"),
    ("join by key", "SELECT o.amount, c.name FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id = 1{n}"),
    (
        "join by lookup of 1,000 rows",
        "SELECT count(c.name) FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id BETWEEN 1{n} AND 1000 + 1{n}",
    ),
    ("semijoin", "SELECT count(*) FROM customers c WHERE id < 5{n} AND EXISTS (SELECT FROM orders o WHERE o.customer = c.id)"),
    (
        "subquery for each row",
        "SELECT c.id, (SELECT max(o.amount) FROM orders o WHERE o.customer = c.id) FROM customers c WHERE c.id BETWEEN 1{n} AND 5 + 1{n}",
    ),
    (
        "join with groups of a subquery",
        "SELECT c.name, x.s FROM customers c LEFT JOIN (SELECT customer, sum(amount) s FROM orders GROUP BY customer) x ON x.customer = c.id \
         WHERE c.id = 1{n}",
    ),
    (
        "full join of two ranges",
        "SELECT count(*) FROM (SELECT id, amount FROM orders WHERE customer = 1{n}) o FULL JOIN (SELECT a, b FROM parts WHERE a = 1{n}) p ON p.b = o.amount",
    ),
    (
        "three rounds of a recursion",
        "WITH RECURSIVE r AS (SELECT id, customer, 1 AS depth FROM orders WHERE id = 1{n} UNION ALL SELECT o.id, o.customer, depth + 1 \
         FROM orders o JOIN r ON o.id = r.customer WHERE depth < 3) SELECT count(*) FROM r",
    ),
    ("distinct on", "SELECT DISTINCT ON (a) a, b, c FROM parts ORDER BY a, b DESC"),
    ("whole table", "SELECT count(*), sum(amount) FROM orders WHERE amount > {n}"),
    ("insert", "INSERT INTO plain VALUES ({n}, 1)"),
    ("insert of 100 rows", "INSERT INTO plain SELECT 1000 * {n} + i, 1 FROM generate_series(1, 100) i"),
    ("insert with two indexes and a foreign key", "INSERT INTO orders VALUES (10000 + {n}, 17, 1, 1, 'x{n}')"),
    ("upsert", "INSERT INTO counters VALUES ({n}, 1) ON CONFLICT (id) DO UPDATE SET n = counters.n + 1"),
    ("update by key", "UPDATE counters SET n = n + 1 WHERE id = 1{n}"),
    ("update of an indexed column", "UPDATE orders SET customer = 1{n} WHERE id = 2{n}"),
    ("delete by key", "DELETE FROM orders WHERE id = 3{n}"),
    ("delete of a referenced row", "DELETE FROM customers WHERE id = 290{n}"),
];

async fn execute(session: &mut Session, sql: &str) -> stoa_pg::PgResult<Execution> {
    let piece = session.parse(sql).unwrap().pop();
    let prepared = session.prepare(piece, sql.into(), Vec::new()).unwrap();
    session.execute(&prepared, Vec::new()).await
}

async fn run(session: &mut Session, sql: &str) {
    let text: Arc<str> = sql.into();
    for piece in session.parse(sql).unwrap() {
        let prepared = session.prepare(Some(piece), text.clone(), Vec::new()).unwrap();
        match session.execute(&prepared, Vec::new()).await {
            Ok(Execution::Rows(mut rows)) => {
                while let Some(batch) = rows.stream.next().await {
                    batch.unwrap_or_else(|e| panic!("{sql}: {e}"));
                }
            }
            Ok(_) => {}
            Err(error) => panic!("{sql}: {error}"),
        }
        session.finish().await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

fn shown(calls: &BTreeMap<&'static str, u64>) -> String {
    let parts: Vec<String> = calls.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    format!("{} ({})", calls.values().sum::<u64>(), parts.join(", "))
}

fn connect(database: &Database) -> Session {
    database.connect(SessionOptions { user: "stoa".into(), database: "stoa".into(), ..SessionOptions::default() }).unwrap()
}

async fn open(delay: Option<Duration>) -> (Database, Session, Arc<Calls>) {
    let (store, calls) = CountedStore::new(Arc::new(ModelStore::new()), delay);
    // The scrubber asks as well.
    let mut options = DatabaseOptions::default();
    options.scrub.rows_per_second = 0;
    let database = Database::open(Tables::new(store), options).await.unwrap();
    let session = connect(&database);
    (database, session, calls)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_ask_no_more_than_is_written_down() {
    let (_database, mut session, calls) = open(None).await;
    for sql in SETUP {
        run(&mut session, sql).await;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/round_trips.tsv");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let known: BTreeMap<&str, Vec<u64>> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let total = |field: &str| field.split(' ').next().and_then(|n| n.parse().ok());
            Some((*fields.first()?, fields.iter().skip(1).take(2).filter_map(|f| total(f)).collect()))
        })
        .collect();
    let mut written = String::from("# Statement, calls of its first execution in a session, calls of its third.\n");
    let mut wrong = Vec::new();
    for (name, sql) in STATEMENTS {
        let mut counts = Vec::new();
        for n in 1..=3 {
            let _ = calls.take();
            run(&mut session, &sql.replace("{n}", &n.to_string())).await;
            counts.push(calls.take());
        }
        let (first, third) = (&counts[0], &counts[2]);
        writeln!(written, "{name}\t{}\t{}", shown(first), shown(third)).unwrap();
        let now: Vec<u64> = [first, third].iter().map(|c| c.values().sum()).collect();
        if known.get(name) != Some(&now) {
            wrong.push(format!("{name}: {} and {}, known are {:?}", shown(first), shown(third), known.get(name)));
        }
    }
    if std::env::var_os("STOA_UPDATE_ROUND_TRIPS").is_some() {
        std::fs::write(&path, &written).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_raises_for_a_row_of_the_answer_is_not_read_again() {
    let (_database, mut session, calls) = open(None).await;
    for sql in SETUP {
        run(&mut session, sql).await;
    }
    let sql =
        "SELECT c.name, sum(10 / (o.amount - o.amount)) FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id = 7 GROUP BY c.name";
    for _ in 0..2 {
        let _ = calls.take();
        let error = execute(&mut session, sql).await.err().unwrap();
        assert_eq!(error.code().as_str(), "22012", "{error}");
        let calls = calls.take();
        assert_eq!(calls.values().sum::<u64>(), 2, "{}", shown(&calls));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_store_makes_statements_late_by_its_calls() {
    let delay = Duration::from_millis(20);
    let (_database, mut session, calls) = open(Some(delay)).await;
    run(&mut session, "CREATE TABLE t (id int PRIMARY KEY, v int)").await;
    run(&mut session, "INSERT INTO t VALUES (1, 2)").await;
    run(&mut session, "SELECT v FROM t WHERE id = 1").await;
    let _ = calls.take();
    let began = Instant::now();
    run(&mut session, "SELECT v FROM t WHERE id = 1").await;
    let count: u64 = calls.take().values().sum();
    assert!(began.elapsed() >= delay * u32::try_from(count).unwrap());
    assert_eq!(count, 1);
}

/// Sessions of one event loop take values of one sequence: who has to wait for the store must not keep the others, for which it waits in turn,
/// from going on.
#[test]
fn sessions_that_share_a_thread_share_a_sequence() {
    const SESSIONS: usize = 6;
    const ROWS: usize = 50;
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (database, mut session, _) = open(Some(Duration::from_millis(1))).await;
            run(&mut session, "CREATE TABLE events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text)").await;
            let inserts = (0..SESSIONS).map(|_| async {
                let mut session = connect(&database);
                for _ in 0..ROWS {
                    run(&mut session, "INSERT INTO events (word) VALUES ('x'), ('y')").await;
                    // Planned.
                    run(&mut session, "INSERT INTO events (word) SELECT 'z' FROM generate_series(1, 3)").await;
                }
            });
            futures::future::join_all(inserts).await;
            let Ok(Execution::Rows(mut rows)) = execute(&mut session, "SELECT count(DISTINCT id) FROM events").await else { panic!() };
            done.send(rows.stream.next().await.unwrap().unwrap()).unwrap();
        });
    });
    let batch = ended.recv_timeout(Duration::from_secs(120)).expect("the sessions wait for each other");
    let counted = batch.column(0).as_any().downcast_ref::<arrow::array::Int64Array>().unwrap().value(0);
    assert_eq!(counted, i64::try_from(SESSIONS * ROWS * 5).unwrap());
}
