//! Several databases of one store: who is let into which, what stays over a start, what is apart and what is shared.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::write_tests::{answer, database};
use crate::session::{Session, SessionOptions};
use crate::{Database, DatabaseOptions};
use std::time::Duration;
use stoa_pg::PgResult;
use stoa_table::Tables;

fn try_connect(database: &Database, name: &str, user: &str) -> PgResult<Session> {
    database.connect(SessionOptions { user: user.into(), database: name.into(), ..SessionOptions::default() })
}

fn connect(database: &Database, name: &str) -> Session {
    try_connect(database, name, "stoa").unwrap()
}

fn refused(database: &Database, name: &str, user: &str) -> String {
    let error = try_connect(database, name, user).expect_err("it was let in");
    let detail = error.fields().detail.as_ref().map(|d| format!(" / {d}")).unwrap_or_default();
    format!("{}: {}{detail}", error.code(), error.message())
}

async fn all(session: &mut Session, statements: &[(&str, &str)]) {
    for (sql, answered) in statements {
        assert_eq!(answer(session, sql).await, *answered, "{sql}");
    }
}

async fn done(session: &mut Session, statements: &[&str]) {
    for sql in statements {
        let answered = answer(session, sql).await;
        assert!(!answered.contains(": "), "{sql}: {answered}");
    }
}

#[tokio::test]
async fn who_is_let_into_which() {
    let database = database().await;
    let mut stoa = connect(&database, "stoa");
    assert_eq!(refused(&database, "nosuch", "stoa"), "3D000: database \"nosuch\" does not exist");
    // What clients of PostgreSQL connect to when they are about databases.
    all(&mut connect(&database, "postgres"), &[("SELECT current_database()", "stoa")]).await;
    done(
        &mut stoa,
        &["CREATE ROLE anna LOGIN", "CREATE ROLE bert LOGIN", "CREATE DATABASE one CONNECTION LIMIT 1", "CREATE DATABASE postgres"],
    )
    .await;
    all(&mut connect(&database, "postgres"), &[("SELECT current_database()", "postgres")]).await;
    let anna = try_connect(&database, "one", "anna").unwrap();
    assert_eq!(refused(&database, "one", "bert"), "53300: too many connections for database \"one\"");
    // Superusers are not counted out.
    drop((connect(&database, "one"), anna));
    done(&mut stoa, &["REVOKE CONNECT ON DATABASE one FROM PUBLIC", "GRANT CONNECT ON DATABASE one TO bert"]).await;
    let answered = "42501: permission denied for database \"one\" / User does not have CONNECT privilege.";
    assert_eq!(refused(&database, "one", "anna"), answered);
    drop((try_connect(&database, "one", "bert").unwrap(), try_connect(&database, "stoa", "anna").unwrap()));
    done(&mut stoa, &["ALTER DATABASE one ALLOW_CONNECTIONS false"]).await;
    assert_eq!(refused(&database, "one", "stoa"), "55000: database \"one\" is not currently accepting connections");
    done(&mut stoa, &["ALTER DATABASE one ALLOW_CONNECTIONS true"]).await;
    done(&mut stoa, &["ALTER DATABASE one SET work_mem = '7MB'", "ALTER ROLE bert IN DATABASE one SET work_mem = '8MB'"]).await;
    all(&mut connect(&database, "one"), &[("SHOW work_mem", "7MB")]).await;
    all(&mut try_connect(&database, "one", "bert").unwrap(), &[("SHOW work_mem", "8MB")]).await;
    all(&mut try_connect(&database, "stoa", "bert").unwrap(), &[("SHOW work_mem", "4MB")]).await;
}

#[tokio::test]
async fn each_has_its_own_over_a_start() {
    let tables = Tables::in_memory();
    let open = || async { Database::open(tables.clone(), DatabaseOptions::default()).await.unwrap() };
    let made = [
        "CREATE TABLE t (id serial PRIMARY KEY, a text)",
        "CREATE INDEX by_a ON t (a)",
        "CREATE TABLE words (id int PRIMARY KEY, w text)",
        "CREATE FULLTEXT INDEX ON words (w)",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE TEMP TABLE tmp (id int)",
        "GRANT SELECT ON v TO anna",
    ];
    {
        let database = open().await;
        let mut stoa = connect(&database, "stoa");
        done(&mut stoa, &["CREATE ROLE anna LOGIN", "CREATE DATABASE one OWNER anna", "CREATE DATABASE two"]).await;
        for name in ["stoa", "one", "two"] {
            let mut session = connect(&database, name);
            done(&mut session, &made).await;
            let rows = format!("INSERT INTO t (a) SELECT '{name}' FROM generate_series(1, 3)");
            let words = format!("INSERT INTO words VALUES (1, 'the fox of {name}'), (2, 'dogs')");
            done(&mut session, &[&rows, &words]).await;
            done(&mut session, &[&format!("CREATE SCHEMA only_{name}"), "ANALYZE t"]).await;
        }
        done(&mut connect(&database, "two"), &["DROP SCHEMA public CASCADE"]).await;
    }
    let database = open().await;
    for name in ["stoa", "one"] {
        let mut session = connect(&database, name);
        let rows = format!("3|{name}|4");
        all(
            &mut session,
            &[
                ("SELECT current_database()", name),
                ("SELECT count(*), min(a), nextval('t_id_seq') FROM v, (SELECT 1) x", &rows),
                ("SELECT id FROM words WHERE MATCH(w) AGAINST ('fox')", "1"),
                (&format!("SELECT count(*) FROM words WHERE MATCH(w) AGAINST ('{name}')"), "1"),
                ("SELECT count(*) FROM pg_class WHERE relname = 'tmp'", "0"),
                ("SELECT string_agg(nspname, ' ' ORDER BY 1) FROM pg_namespace WHERE nspname LIKE 'only%'", &format!("only_{name}")),
                ("SELECT count(*) FROM pg_stats WHERE tablename = 't'", "2"),
                ("SELECT has_table_privilege('anna', 'v', 'SELECT')", "t"),
            ],
        )
        .await;
    }
    all(&mut connect(&database, "two"), &[("SELECT count(*) FROM pg_namespace WHERE nspname = 'public'", "0")]).await;
    // The owner of the database has its schema public, and of no other.
    let has = "SELECT has_schema_privilege('anna', 'public', 'CREATE')";
    all(&mut connect(&database, "one"), &[(has, "t")]).await;
    all(&mut connect(&database, "stoa"), &[(has, "f")]).await;
}

#[tokio::test]
async fn nothing_is_left_of_one_that_is_dropped() {
    let tables = Tables::in_memory();
    let database = Database::open(tables.clone(), DatabaseOptions::default()).await.unwrap();
    let mut stoa = connect(&database, "stoa");
    // What the store has from the first of its kind on.
    done(&mut stoa, &["CREATE TABLE x (id int PRIMARY KEY, a text)", "CREATE FULLTEXT INDEX ON x (a)", "DROP TABLE x"]).await;
    let rows = || async { tables.notes().await.unwrap().into_iter().map(|(key, _)| key).collect::<Vec<_>>() };
    let stored = || async { tables.store().list_tables().await.unwrap().len() };
    let (before, tables_before) = (rows().await, stored().await);
    done(&mut stoa, &["CREATE DATABASE one", "ALTER DATABASE one SET work_mem = '1MB'"]).await;
    {
        let mut one = connect(&database, "one");
        let made = [
            "CREATE TABLE t (id serial PRIMARY KEY, a text)",
            "CREATE INDEX by_a ON t (a)",
            "CREATE FULLTEXT INDEX ON t (a)",
            "INSERT INTO t (a) VALUES ('x')",
            "CREATE MATERIALIZED VIEW m AS SELECT * FROM t",
        ];
        done(&mut one, &made).await;
    }
    assert!(stored().await > tables_before && rows().await.len() > before.len());
    all(&mut stoa, &[("DROP DATABASE one", "DROP DATABASE")]).await;
    assert_eq!((rows().await, stored().await), (before, tables_before));
    assert_eq!(database.inner().text.all().len(), 0);
    assert_eq!(refused(&database, "one", "stoa"), "3D000: database \"one\" does not exist");
    // One of the same name is another.
    done(&mut stoa, &["CREATE DATABASE one"]).await;
    all(&mut connect(&database, "one"), &[("SELECT count(*) FROM pg_class WHERE relname = 't'", "0"), ("SHOW work_mem", "4MB")]).await;
    let answered = "2BP01: cannot drop database stoa because it is the first one";
    all(&mut connect(&database, "one"), &[("DROP DATABASE stoa", answered)]).await;
}

#[tokio::test]
async fn one_in_use_stays() {
    let database = database().await;
    let mut stoa = connect(&database, "stoa");
    done(&mut stoa, &["CREATE ROLE anna LOGIN", "CREATE ROLE bert LOGIN CREATEDB", "CREATE DATABASE one OWNER bert"]).await;
    let (first, second) = (connect(&database, "one"), try_connect(&database, "one", "anna").unwrap());
    let in_use = "55006: database \"one\" is being accessed by other users";
    let two = format!("{in_use} / There are 2 other sessions using the database.");
    all(&mut stoa, &[("DROP DATABASE one", &two), ("ALTER DATABASE one RENAME TO two", &two)]).await;
    // A role ends sessions of those whose rights it has.
    let mut bert = try_connect(&database, "stoa", "bert").unwrap();
    all(&mut bert, &[("DROP DATABASE one WITH (FORCE)", "42501: must be a superuser to terminate superuser process")]).await;
    drop(first);
    let answered = "42501: must be a member of the role whose process is being terminated or member of pg_signal_backend";
    all(&mut bert, &[("DROP DATABASE one WITH (FORCE)", answered)]).await;
    let one = format!("{in_use} / There is 1 other session using the database.");
    all(&mut bert, &[("DROP DATABASE one", &one)]).await;
    // What failed lets others in again.
    drop(try_connect(&database, "one", "bert").unwrap());
    // One that ends while it is waited for is no obstacle, and nobody comes in meanwhile.
    let ends = async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!(refused(&database, "one", "stoa"), "55006: database \"one\" is being dropped or renamed");
        drop(second);
    };
    let (answered, ()) = tokio::join!(answer(&mut bert, "ALTER DATABASE one RENAME TO two"), ends);
    assert_eq!(answered, "ALTER DATABASE");
    drop(connect(&database, "two"));
    let third = try_connect(&database, "two", "bert").unwrap();
    let ends = async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert!(third.shared().is_terminated());
        drop(third);
    };
    let (answered, ()) = tokio::join!(answer(&mut bert, "DROP DATABASE two (FORCE)"), ends);
    assert_eq!(answered, "DROP DATABASE");
}

#[tokio::test]
async fn channels_and_keys_are_of_a_database() {
    let database = database().await;
    let mut stoa = connect(&database, "stoa");
    done(&mut stoa, &["CREATE DATABASE one", "LISTEN c"]).await;
    let mut heard = stoa.take_notifications().unwrap();
    let mut one = connect(&database, "one");
    done(&mut one, &["NOTIFY c, 'of one'"]).await;
    all(&mut one, &[("SELECT pg_advisory_lock(7)", "")]).await;
    all(&mut stoa, &[("SELECT pg_try_advisory_lock(7)", "t"), ("NOTIFY c, 'of stoa'", "NOTIFY")]).await;
    assert_eq!(heard.recv().await.unwrap().payload, "of stoa");
    let keys = "SELECT d.datname FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE locktype = 'advisory' ORDER BY 1";
    all(&mut stoa, &[(keys, "one; stoa")]).await;
    // Whoever makes a table in public does not wait for those who make one of its name in another database.
    done(&mut one, &["BEGIN", "CREATE TABLE t (id int)", "LOCK TABLE t"]).await;
    let made = tokio::time::timeout(Duration::from_secs(20), answer(&mut stoa, "CREATE TABLE t (id int)")).await;
    assert_eq!(made.unwrap(), "CREATE TABLE");
    let locked = "SELECT d.datname FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE locktype = 'relation' AND pid <> pg_backend_pid() LIMIT 1";
    all(&mut stoa, &[(locked, "one")]).await;
    // A number of another database's object is nobody's.
    let oid = answer(&mut one, "SELECT 't'::regclass::oid").await;
    done(&mut one, &["COMMIT", "CREATE SEQUENCE s"]).await;
    let sequence = answer(&mut one, "SELECT 's'::regclass::oid").await;
    all(&mut stoa, &[(&format!("SELECT pg_get_constraintdef({oid}), {oid}::regclass::text"), &format!("NULL|{oid}"))]).await;
    let answered = answer(&mut stoa, &format!("SELECT nextval({sequence}::oid::regclass)")).await;
    assert!(answered.starts_with("42P01: "), "{answered}");
}

#[tokio::test]
async fn a_role_is_not_dropped_while_another_database_names_it() {
    let database = database().await;
    let mut stoa = connect(&database, "stoa");
    done(&mut stoa, &["CREATE ROLE anna", "CREATE DATABASE one"]).await;
    let mut one = connect(&database, "one");
    done(&mut one, &["CREATE TABLE t (id int)", "BEGIN", "GRANT SELECT ON t TO anna"]).await;
    done(&mut stoa, &["BEGIN", "DROP ROLE anna"]).await;
    done(&mut one, &["COMMIT"]).await;
    let answered = "2BP01: role \"anna\" cannot be dropped because some objects depend on it / 1 object in database one";
    all(&mut stoa, &[("COMMIT", answered), ("DROP ROLE anna", answered)]).await;
    done(&mut one, &["REVOKE SELECT ON t FROM anna", "BEGIN", "GRANT SELECT ON t TO anna"]).await;
    done(&mut stoa, &["DROP ROLE anna"]).await;
    all(&mut one, &[("COMMIT", "42704: the role was dropped by another transaction")]).await;
    // What one session says of roles and databases, those of other databases know at once.
    done(&mut one, &["CREATE ROLE bert", "CREATE DATABASE two OWNER bert"]).await;
    let seen = "SELECT count(*) FROM pg_roles, pg_database d WHERE rolname = 'bert' AND datname = 'two' AND datdba = pg_roles.oid";
    all(&mut stoa, &[(seen, "1")]).await;
    all(&mut connect(&database, "two"), &[(seen, "1"), ("SELECT pg_has_role('bert', 'pg_database_owner', 'USAGE')", "t")]).await;
    all(&mut stoa, &[("SELECT pg_has_role('bert', 'pg_database_owner', 'USAGE')", "f")]).await;
}
