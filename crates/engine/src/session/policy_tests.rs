//! Row-level security over several sessions: what one says holds for what others keep, and what was not asked is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::write_tests::{answer, database};
use crate::session::{Session, SessionOptions};
use crate::{Database, DatabaseOptions};
use std::sync::Arc;
use stoa_sql::bind::{BindContext, bind_over_all_rows, bind_statement};
use stoa_syntax::ast::Statement;
use stoa_table::Tables;

fn connect(database: &Database, user: &str) -> Session {
    database.connect(SessionOptions { user: user.into(), ..SessionOptions::default() }).unwrap()
}

async fn all(session: &mut Session, statements: &[(&str, &str)]) {
    for (sql, answered) in statements {
        assert_eq!(answer(session, sql).await, *answered, "{sql}");
    }
}

const SECURED: &str = "CREATE ROLE anna LOGIN;
    CREATE TABLE t (id int PRIMARY KEY, who name);
    INSERT INTO t VALUES (1, 'anna'), (2, 'bert');
    GRANT ALL ON t TO anna;
    ALTER TABLE t ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON t USING (who = current_user)";

#[tokio::test]
async fn a_tree_whose_rows_nobody_has_decided_is_refused() {
    let database = database().await;
    let mut stoa = connect(&database, "stoa");
    for sql in SECURED.split(';') {
        assert!(!answer(&mut stoa, sql).await.contains(':'), "{sql}");
    }
    stoa.start_query().await.unwrap();
    let sql = "SELECT * FROM t";
    let ctx = stoa.statement_context(Arc::from(sql), Arc::from([])).unwrap();
    let bind = BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: sql };
    let parsed = stoa_syntax::parse(sql).unwrap();
    let Statement::Query(query) = &parsed[0].statement else { panic!("no query") };
    let decided = bind_statement(&bind, &parsed[0].statement).unwrap();
    stoa_sql::privileges::check(&ctx.catalog, ctx.role, &decided).unwrap();
    let undecided = bind_over_all_rows(&bind, query).unwrap();
    let error = stoa_sql::privileges::check(&ctx.catalog, ctx.role, &undecided).unwrap_err();
    assert_eq!(error.code().as_str(), "XX000", "{error}");
}

#[tokio::test]
async fn what_is_kept_follows_the_policies() {
    let database = database().await;
    let mut stoa = connect(&database, "stoa");
    for sql in SECURED.split(';') {
        answer(&mut stoa, sql).await;
    }
    let mut anna = connect(&database, "anna");
    all(&mut anna, &[("PREPARE q AS SELECT id FROM t ORDER BY id", "PREPARE"), ("EXECUTE q", "1")]).await;
    all(&mut stoa, &[("ALTER POLICY own ON t USING (id = 2)", "ALTER POLICY")]).await;
    all(&mut anna, &[("EXECUTE q", "2")]).await;
    all(&mut stoa, &[("ALTER ROLE anna BYPASSRLS", "ALTER ROLE")]).await;
    all(&mut anna, &[("EXECUTE q", "1; 2")]).await;
    all(&mut stoa, &[("ALTER ROLE anna NOBYPASSRLS", "ALTER ROLE"), ("ALTER TABLE t OWNER TO anna", "ALTER TABLE")]).await;
    all(&mut anna, &[("EXECUTE q", "1; 2"), ("ALTER TABLE t FORCE ROW LEVEL SECURITY", "ALTER TABLE"), ("EXECUTE q", "2")]).await;
    all(&mut anna, &[("BEGIN", "BEGIN"), ("DROP POLICY own ON t", "DROP POLICY"), ("EXECUTE q", ""), ("ROLLBACK", "ROLLBACK")]).await;
    all(&mut anna, &[("EXECUTE q", "2")]).await;
}

#[tokio::test]
async fn policies_survive_a_start_and_a_dump() {
    let store = Arc::clone(Tables::in_memory().store());
    let open = || async { Database::open(Tables::new(Arc::clone(&store)), DatabaseOptions::default()).await.unwrap() };
    let first = open().await;
    let mut stoa = connect(&first, "stoa");
    for sql in SECURED.split(';') {
        answer(&mut stoa, sql).await;
    }
    let more = "CREATE TABLE s (id int, who name);
        CREATE POLICY \"no Z\" ON t AS RESTRICTIVE FOR UPDATE TO anna USING (who <> 'Z') WITH CHECK (id > 0 AND EXISTS (SELECT 1 FROM s WHERE s.id = t.id));
        COMMENT ON POLICY own ON t IS 'its own';
        ALTER TABLE t FORCE ROW LEVEL SECURITY";
    for sql in more.split(';') {
        answer(&mut stoa, sql).await;
    }
    let script = |session: Session| async move {
        let mut session = session;
        session.start_query().await.unwrap();
        let script = session.dump_script().await.unwrap();
        script.after.into_iter().filter(|line| line.contains("POLICY") || line.contains("ROW LEVEL")).collect::<Vec<_>>()
    };
    let written = script(stoa).await;
    assert_eq!(
        written,
        [
            "CREATE POLICY \"no Z\" ON public.t AS RESTRICTIVE FOR UPDATE TO anna USING ((who <> 'Z'::name)) WITH CHECK ((id > 0) AND EXISTS (SELECT 1 FROM public.s WHERE (s.id = t.id)));",
            "CREATE POLICY own ON public.t USING (who = CURRENT_USER);\nCOMMENT ON POLICY own ON public.t IS 'its own';",
            "ALTER TABLE public.t ENABLE ROW LEVEL SECURITY;",
            "ALTER TABLE public.t FORCE ROW LEVEL SECURITY;",
        ]
    );
    drop(first);
    let second = open().await;
    let mut anna = connect(&second, "anna");
    all(&mut anna, &[("SELECT id FROM t", "1")]).await;
    let mut stoa = connect(&second, "stoa");
    all(&mut stoa, &[("DROP POLICY own ON t", "DROP POLICY"), ("DROP POLICY \"no Z\" ON t", "DROP POLICY")]).await;
    for sql in written.iter().flat_map(|line| line.split('\n')) {
        assert!(!answer(&mut stoa, sql).await.contains(':'), "{sql}");
    }
    assert_eq!(script(stoa).await, written);
}
