//! Roles over several sessions and starts: who is let in, what stays, and what two do at the same time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::write_tests::{answer, database};
use crate::session::{Session, SessionOptions};
use crate::{Database, DatabaseOptions};
use stoa_pg::{PgError, PgResult};
use stoa_table::Tables;

fn try_connect(database: &Database, user: &str) -> PgResult<Session> {
    database.connect(SessionOptions { user: user.into(), ..SessionOptions::default() })
}

fn connect(database: &Database, user: &str) -> Session {
    try_connect(database, user).unwrap()
}

fn refused(database: &Database, user: &str) -> String {
    let error: PgError = try_connect(database, user).expect_err("it was let in");
    format!("{}: {}", error.code(), error.message())
}

async fn all(session: &mut Session, statements: &[(&str, &str)]) {
    for (sql, answered) in statements {
        assert_eq!(answer(session, sql).await, *answered, "{sql}");
    }
}

#[tokio::test]
async fn any_name_is_the_first_superuser_until_there_is_a_role() {
    let database = database().await;
    let mut somebody = connect(&database, "somebody");
    let answered = "stoa|stoa|on";
    all(&mut somebody, &[("SELECT current_user, session_user, current_setting('is_superuser')", answered)]).await;
    assert_eq!(database.trusted_role("postgres").unwrap().name, "stoa");
    assert!(database.login_role("somebody").is_none());
    all(&mut somebody, &[("CREATE ROLE anna LOGIN", "CREATE ROLE"), ("CREATE ROLE group_", "CREATE ROLE")]).await;
    assert_eq!(refused(&database, "somebody"), "28000: role \"somebody\" does not exist");
    assert_eq!(refused(&database, "postgres"), "28000: role \"postgres\" is not permitted to log in");
    assert!(database.trusted_role("somebody").is_none());
    // Who is in already stays in.
    all(&mut somebody, &[("SELECT current_user", "stoa")]).await;
    all(&mut connect(&database, "anna"), &[("SELECT current_user, session_user, current_setting('is_superuser')", "anna|anna|off")]).await;
    all(&mut somebody, &[("GRANT group_ TO anna", "GRANT ROLE")]).await;
    assert!(database.is_member("anna", "group_") && !database.is_member("group_", "anna") && !database.is_member("stoa", "group_"));
}

#[tokio::test]
async fn roles_begin_sessions_with_what_was_said() {
    let database = database().await;
    let mut stoa = connect(&database, "stoa");
    let until = "CREATE ROLE anna LOGIN PASSWORD 'very secret' CONNECTION LIMIT 1 VALID UNTIL '2001-01-01'";
    all(
        &mut stoa,
        &[
            (until, "CREATE ROLE"),
            ("ALTER ROLE anna SET work_mem = '7MB'", "ALTER ROLE"),
            ("ALTER ROLE ALL SET work_mem = '6MB'", "ALTER ROLE"),
            ("ALTER DATABASE stoa SET statement_timeout = '9s'", "ALTER DATABASE"),
            ("ALTER ROLE anna IN DATABASE stoa SET statement_timeout = '8s'", "ALTER ROLE"),
        ],
    )
    .await;
    let mut anna = connect(&database, "anna");
    all(&mut anna, &[("SELECT current_setting('work_mem'), current_setting('statement_timeout')", "7MB|8s")]).await;
    all(&mut anna, &[("SET work_mem = '1MB'", "SET"), ("RESET work_mem", "RESET"), ("SHOW work_mem", "7MB")]).await;
    assert_eq!(refused(&database, "anna"), "53300: too many connections for role \"anna\"");
    drop(anna);
    drop(connect(&database, "anna"));
    all(&mut connect(&database, "stoa"), &[("SELECT current_setting('work_mem'), current_setting('statement_timeout')", "6MB|9s")]).await;
    let role = database.login_role("anna").unwrap();
    let verifier: stoa_auth::scram::Verifier = role.verifier.as_ref().unwrap().expose().parse().unwrap();
    assert!(verifier.is_of(&stoa_auth::Secret::from("very secret")) && !format!("{role:?}").contains("SCRAM"));
    // 2000-12-31, and 2001-01-02.
    assert!(!role.is_expired(978_220_800_000_000) && role.is_expired(978_393_600_000_000));
    all(&mut stoa, &[("REVOKE CONNECT ON DATABASE stoa FROM PUBLIC", "REVOKE"), ("GRANT CONNECT ON DATABASE stoa TO anna", "GRANT")]).await;
    drop(connect(&database, "anna"));
    all(&mut stoa, &[("REVOKE CONNECT ON DATABASE stoa FROM anna", "REVOKE")]).await;
    assert_eq!(refused(&database, "anna"), "42501: permission denied for database \"stoa\"");
}

#[tokio::test]
async fn passwords_are_not_shown_to_others() {
    let database = database().await;
    let (mut stoa, mut other) = (connect(&database, "stoa"), connect(&database, "stoa"));
    all(&mut stoa, &[("BEGIN", "BEGIN"), ("CREATE ROLE anna PASSWORD 'very secret'", "CREATE ROLE")]).await;
    let answered =
        answer(&mut other, "SELECT query FROM pg_stat_activity WHERE state = 'idle in transaction' OR query LIKE '%password%'").await;
    assert!(answered.contains("PASSWORD '********'") && !answered.contains("secret"), "{answered}");
    all(&mut stoa, &[("ROLLBACK", "ROLLBACK")]).await;
}

#[tokio::test]
async fn rights_stay_over_a_start() {
    let tables = Tables::in_memory();
    let open = || async { Database::open(tables.clone(), DatabaseOptions::default()).await.unwrap() };
    {
        let database = open().await;
        let mut stoa = connect(&database, "stoa");
        for sql in [
            "CREATE ROLE anna LOGIN",
            "CREATE ROLE bert LOGIN IN ROLE anna",
            "DROP ROLE postgres",
            "CREATE TABLE t (id int PRIMARY KEY, a int)",
            "CREATE TABLE gone (id int)",
            "GRANT SELECT (a) ON t TO anna",
            "GRANT SELECT ON gone TO anna",
            "DROP TABLE gone",
            "ALTER DEFAULT PRIVILEGES GRANT INSERT ON TABLES TO anna",
            "CREATE TABLE u (id int)",
            "ALTER ROLE anna SET work_mem = '3MB'",
            "REVOKE EXECUTE ON FUNCTION pg_sleep(float8) FROM PUBLIC",
        ] {
            let answered = answer(&mut stoa, sql).await;
            assert!(!answered.contains(": "), "{sql}: {answered}");
        }
        stoa.close().await;
    }
    let database = open().await;
    let mut bert = connect(&database, "bert");
    all(
        &mut bert,
        &[
            ("SELECT count(a) FROM t", "0"),
            ("SELECT id FROM t", "42501: permission denied for table t"),
            ("INSERT INTO u VALUES (1)", "INSERT 0 1"),
            ("SELECT pg_sleep(0)", "42501: permission denied for function pg_sleep"),
            ("SELECT count(*) FROM pg_roles WHERE rolname = 'postgres'", "0"),
            ("SELECT rolconfig FROM pg_roles WHERE rolname = 'anna'", "{work_mem=3MB}"),
            ("SELECT relacl FROM pg_class WHERE relname = 'u'", "{stoa=arwdDxt/stoa,anna=a/stoa}"),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_was_prepared_is_checked_each_time() {
    let database = database().await;
    let (mut stoa, mut anna) = (connect(&database, "stoa"), connect(&database, "stoa"));
    for sql in ["CREATE ROLE anna LOGIN", "CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)"] {
        answer(&mut stoa, sql).await;
    }
    all(&mut anna, &[("PREPARE p (int) AS SELECT id FROM t WHERE id = $1", "PREPARE"), ("EXECUTE p (1)", "1")]).await;
    let denied = "42501: permission denied for table t";
    all(&mut anna, &[("SET ROLE anna", "SET"), ("EXECUTE p (1)", denied)]).await;
    all(&mut stoa, &[("GRANT SELECT ON t TO anna", "GRANT")]).await;
    all(&mut anna, &[("EXECUTE p (1)", "1"), ("SELECT id FROM t WHERE id = 1", "1")]).await;
    all(&mut stoa, &[("REVOKE SELECT ON t FROM anna", "REVOKE")]).await;
    all(&mut anna, &[("EXECUTE p (1)", denied), ("SELECT id FROM t WHERE id = 1", denied)]).await;
    all(&mut anna, &[("RESET ROLE", "RESET"), ("EXECUTE p (1)", "1"), ("SELECT id FROM t WHERE id = 1", "1")]).await;
    // A text that was allowed to another role a moment ago.
    all(&mut anna, &[("SET ROLE anna", "SET"), ("SELECT id FROM t WHERE id = 1", denied), ("RESET ROLE", "RESET")]).await;
}

#[tokio::test]
async fn two_at_the_same_time_make_no_circle_and_keep_no_ghost() {
    let database = database().await;
    let (mut one, mut two) = (connect(&database, "stoa"), connect(&database, "stoa"));
    for sql in ["CREATE ROLE a", "CREATE ROLE b", "CREATE ROLE c", "CREATE TABLE t (id int)"] {
        answer(&mut one, sql).await;
    }
    all(&mut one, &[("BEGIN", "BEGIN"), ("GRANT a TO b", "GRANT ROLE")]).await;
    all(&mut two, &[("BEGIN", "BEGIN"), ("GRANT b TO a", "GRANT ROLE")]).await;
    all(&mut one, &[("COMMIT", "COMMIT")]).await;
    let answered = answer(&mut two, "COMMIT").await;
    assert!(answered.starts_with("0LP01: "), "{answered}");
    answer(&mut two, "ROLLBACK").await;
    all(&mut one, &[("BEGIN", "BEGIN"), ("DROP ROLE c", "DROP ROLE")]).await;
    all(&mut two, &[("BEGIN", "BEGIN"), ("GRANT SELECT ON t TO c", "GRANT")]).await;
    all(&mut two, &[("COMMIT", "COMMIT")]).await;
    let answered = answer(&mut one, "COMMIT").await;
    assert!(answered.starts_with("2BP01: "), "{answered}");
    answer(&mut one, "ROLLBACK").await;
    // A grant beside another change of the table undoes nothing.
    all(&mut one, &[("BEGIN", "BEGIN"), ("GRANT INSERT ON t TO c", "GRANT")]).await;
    all(&mut two, &[("ALTER TABLE t ADD COLUMN x int", "ALTER TABLE")]).await;
    all(&mut one, &[("COMMIT", "COMMIT"), ("SELECT relacl FROM pg_class WHERE relname = 't'", "{stoa=arwdDxt/stoa,c=ar/stoa}")]).await;
    all(&mut one, &[("SELECT x FROM t", "")]).await;
}

#[tokio::test]
async fn others_sessions_are_disturbed_and_seen_by_who_may() {
    let database = database().await;
    let mut stoa = connect(&database, "stoa");
    for sql in ["CREATE ROLE a LOGIN", "CREATE ROLE b LOGIN", "CREATE ROLE c LOGIN IN ROLE pg_signal_backend, pg_read_all_stats"] {
        answer(&mut stoa, sql).await;
    }
    let (mut a, mut b, mut c) = (connect(&database, "a"), connect(&database, "b"), connect(&database, "c"));
    let pid = |session: &Session| session.shared().pid;
    answer(&mut b, "SELECT 'of b'").await;
    let answered = "42501: must be a member of the role whose query is being canceled or member of pg_signal_backend";
    all(&mut a, &[(&format!("SELECT pg_cancel_backend({})", pid(&b)), answered)]).await;
    let answered = "42501: must be a superuser to terminate superuser process";
    all(&mut c, &[(&format!("SELECT pg_terminate_backend({})", pid(&stoa)), answered)]).await;
    all(&mut c, &[(&format!("SELECT pg_cancel_backend({})", pid(&b)), "t")]).await;
    let seen = format!("SELECT query FROM pg_stat_activity WHERE pid = {}", pid(&b));
    all(&mut a, &[(&seen, "<insufficient privilege>")]).await;
    all(&mut c, &[(&seen, "SELECT 'of b'")]).await;
}
