//! Statements that change rows, over the model store, with the answers of a PostgreSQL 15: `tests/writes.txt`.
//!
//! A line `-> …` is the answer to the statement above it: rows with `|` between columns, a command tag, or SQLSTATE, message and
//! detail. Each paragraph has a database of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::session::{Execution, Session, SessionOptions};
use crate::{Database, DatabaseOptions};
use futures::StreamExt;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};

pub(crate) async fn database() -> Database {
    Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap()
}

pub(crate) fn connect(database: &Database) -> Session {
    let options = SessionOptions { user: "stoa".into(), database: "stoa".into(), ..SessionOptions::default() };
    database.connect(options).unwrap()
}

/// The answer to one statement, as the data file writes it.
pub(crate) async fn answer(session: &mut Session, sql: &str) -> String {
    match run(session, sql).await {
        Ok(text) => text,
        Err(error) => {
            session.fail().await;
            let detail = error.fields().detail.as_ref().map(|d| format!(" / {d}")).unwrap_or_default();
            format!("{}: {}{detail}", error.code(), error.message())
        }
    }
}

async fn run(session: &mut Session, sql: &str) -> PgResult<String> {
    let text: Arc<str> = sql.into();
    let mut out = String::new();
    for piece in session.parse(sql)? {
        let prepared = session.prepare(Some(piece), text.clone(), Vec::new())?;
        out = match session.execute(&prepared, Vec::new()).await? {
            Execution::Rows(mut rows) => {
                let mut lines = Vec::new();
                while let Some(batch) = rows.stream.next().await {
                    let batch = batch?;
                    for row in 0..batch.num_rows() {
                        let mut values = Vec::new();
                        for (column, array) in rows.columns.iter().zip(batch.columns()) {
                            let mut value = Vec::new();
                            if array.is_null(row) {
                                value.extend_from_slice(b"NULL");
                            } else {
                                stoa_pg::values::writer(&rows.context, &column.ty, array.as_ref())?.text(row, &mut value)?;
                            }
                            values.push(String::from_utf8(value).unwrap());
                        }
                        lines.push(values.join("|"));
                    }
                }
                lines.join("; ")
            }
            Execution::Done(tag) => tag,
            _ => return Err(PgError::internal("no rows and no tag")),
        };
    }
    session.finish().await?;
    Ok(out)
}

#[tokio::test]
async fn statements_answer_as_postgresql_does() {
    let mut wrong = Vec::new();
    for paragraph in include_str!("tests/writes.txt").split("\n\n") {
        let database = database().await;
        let mut session = connect(&database);
        let mut statement = "";
        for line in paragraph.lines() {
            if line.starts_with("# ") {
                continue;
            }
            let Some(wanted) = line.strip_prefix("->") else {
                statement = line;
                continue;
            };
            let found = answer(&mut session, statement).await;
            if found != wanted.trim_start() {
                wrong.push(format!("{statement}\n  wanted {}\n  found  {found}", wanted.trim_start()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Sessions that write the same rows at once lose no update, and an index agrees with its table.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_updates_are_all_there() {
    const SESSIONS: i64 = 6;
    const ROUNDS: i64 = 30;
    let database = database().await;
    let mut session = connect(&database);
    answer(&mut session, "create table n(id int primary key, v int, w int)").await;
    answer(&mut session, "create index on n(v)").await;
    answer(&mut session, "insert into n values (1, 0, 0), (2, 0, 0)").await;
    let mut tasks = Vec::new();
    for who in 0..SESSIONS {
        let database = database.clone();
        tasks.push(tokio::spawn(async move {
            let mut session = connect(&database);
            for round in 0..ROUNDS {
                let sql = match (who + round) % 3 {
                    0 => "update n set v = v + 1 where id = 1",
                    1 => "insert into n values (1, 0, 0) on conflict (id) do update set v = n.v + 1",
                    _ => "update n set v = n.v + 1 from n m where n.id = 1 and m.id = 2",
                };
                let found = answer(&mut session, sql).await;
                assert!(found.ends_with(" 1"), "{sql}: {found}");
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let total = SESSIONS * ROUNDS;
    assert_eq!(answer(&mut session, "select v from n where id = 1").await, total.to_string());
    assert_eq!(answer(&mut session, &format!("select id from n where v = {total}")).await, "1");
    assert_eq!(answer(&mut session, "select count(*) from n where v >= 0").await, "2");
}

/// Whoever inserts a key second waits for the first, and fails or not as that one ends.
#[tokio::test]
async fn a_key_in_doubt_is_waited_for() {
    for (end, wanted) in [
        ("commit", "23505: duplicate key value violates unique constraint \"k_u_key\" / Key (u)=(7) already exists."),
        ("rollback", "INSERT 0 1"),
    ] {
        let database = database().await;
        let (mut a, mut b) = (connect(&database), connect(&database));
        answer(&mut a, "create table k(id int primary key, u int unique)").await;
        answer(&mut a, "begin").await;
        assert_eq!(answer(&mut a, "insert into k values (1, 7)").await, "INSERT 0 1");
        let waiting = tokio::spawn(async move { answer(&mut b, "insert into k values (2, 7)").await });
        tokio::task::yield_now().await;
        answer(&mut a, end).await;
        assert_eq!(waiting.await.unwrap(), wanted);
    }
}

/// A parent cannot go while a child is on its way, and the other way round.
#[tokio::test]
async fn a_reference_in_doubt_is_waited_for() {
    let child_waits =
        "23503: insert or update on table \"c\" violates foreign key constraint \"c_p_fkey\" / Key (p)=(1) is not present in table \"p\".";
    let parent_waits = "23503: update or delete on table \"p\" violates foreign key constraint \"c_p_fkey\" on table \"c\" / Key (id)=(1) is still referenced from table \"c\".";
    for (first, second, wanted) in [
        ("delete from p where id = 1", "insert into c values (1, 1)", child_waits),
        ("insert into c values (1, 1)", "delete from p where id = 1", parent_waits),
    ] {
        let database = database().await;
        let (mut a, mut b) = (connect(&database), connect(&database));
        answer(&mut a, "create table p(id int primary key)").await;
        answer(&mut a, "create table c(id int primary key, p int references p)").await;
        answer(&mut a, "insert into p values (1)").await;
        answer(&mut a, "begin").await;
        answer(&mut a, first).await;
        let waiting = tokio::spawn(async move { answer(&mut b, second).await });
        tokio::task::yield_now().await;
        assert_eq!(answer(&mut a, "commit").await, "COMMIT");
        assert_eq!(waiting.await.unwrap(), wanted);
    }
}

#[test]
fn who_waits_for_a_lock_has_no_place_meanwhile() {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let options =
            crate::DatabaseOptions { memory: stoa_exec::memory::Shares::of_statements(64 << 20), ..crate::DatabaseOptions::default() };
        let store = stoa_table::Tables::in_memory();
        let database = crate::Database::open(store, options).await.unwrap();
        let free = || database.inner().memory.admission.free().unwrap();
        let (mut first, mut second) = (connect(&database), connect(&database));
        answer(&mut first, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 100) g").await;
        assert_eq!(answer(&mut first, "BEGIN; UPDATE t SET n = 1 WHERE id = 7").await, "UPDATE 1");
        first.shared().release_slot();
        assert_eq!(free(), 1);
        let group = stoa_table::services::locks::GroupId(second.shared().pid.into());
        let waiting = tokio::spawn(async move {
            let out = answer(&mut second, "UPDATE t SET n = n + 1 WHERE n >= 0 AND id % 2 = 1").await;
            (out, second)
        });
        let begun = std::time::Instant::now();
        while database.inner().transactions.locks().waits_for(group).is_none() {
            assert!(begun.elapsed() < std::time::Duration::from_secs(60) && !waiting.is_finished());
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        assert_eq!(free(), 1);
        assert_eq!(answer(&mut first, "SELECT sum(n) FROM t; COMMIT").await, "COMMIT");
        assert_eq!(waiting.await.unwrap().0, "UPDATE 50");
        first.shared().release_slot();
        assert_eq!(free(), 1);
    });
}
