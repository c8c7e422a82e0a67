//! Plans are data: nodes that read tables say what they read, and nothing of the statement that they were made for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::execute::{physical, used_columns};
use super::relation::{Planner, select_columns};
use crate::session::Session;
use crate::session::write_tests::{answer, connect, database};
use datafusion::physical_plan::{ExecutionPlan, displayable};
use std::sync::Arc;
use stoa_exec::nodes::StatementContext;
use stoa_exec::nodes::source::task;
use stoa_sql::bind::{BindContext, bind_statement};
use stoa_sql::typed::tree::{BoundBody, ColId};

/// What a statement of a session has around it, in the transaction that is open.
async fn statement(session: &mut Session, sql: &str) -> StatementContext {
    session.start_query().await.unwrap();
    let ctx = session.statement_context(Arc::from(sql), Arc::from([])).unwrap();
    ctx.txn.start_statement().await.unwrap();
    ctx
}

async fn planned(ctx: &StatementContext, sql: &str) -> Arc<dyn ExecutionPlan> {
    let parsed = stoa_syntax::parse(sql).unwrap();
    let bind = BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: sql };
    let bound = bind_statement(&bind, &parsed[0].statement).unwrap();
    let planner = Planner::new(ctx.clone(), Arc::default(), Arc::new(used_columns(&bound)), true);
    let BoundBody::Query(query) = &bound.body else { panic!("{sql}") };
    let columns: Vec<ColId> = query.outputs.iter().map(|o| o.col).collect();
    let plan = select_columns(planner.plan(&query.rel).await.unwrap(), &columns).unwrap();
    physical(ctx, plan).await.unwrap()
}

/// All that a plan says: its lines, and the nodes that read as they are.
fn printed(plan: &Arc<dyn ExecutionPlan>) -> String {
    fn nodes(plan: &Arc<dyn ExecutionPlan>, out: &mut String) {
        if plan.children().is_empty() {
            out.push_str(&format!("{plan:?}\n"));
        }
        plan.children().into_iter().for_each(|child| nodes(child, out));
    }
    let mut out = displayable(plan.as_ref()).indent(true).to_string();
    nodes(plan, &mut out);
    out
}

async fn rows(ctx: &StatementContext, plan: &Arc<dyn ExecutionPlan>) -> usize {
    let batches = datafusion::physical_plan::collect(Arc::clone(plan), task(ctx)).await.unwrap();
    batches.iter().map(|batch| batch.num_rows()).sum()
}

#[tokio::test]
async fn a_plan_says_nothing_of_its_transaction_and_runs_in_another() {
    let database = database().await;
    let mut writer = connect(&database);
    for sql in [
        "CREATE TABLE t (id int PRIMARY KEY, a int, b text, c int)",
        "INSERT INTO t SELECT i, i % 50, 'word' || i % 7, i % 90 FROM generate_series(1, 3000) i",
        "CREATE INDEX ta ON t (a)",
        "CREATE INDEX tc ON t (c) INCLUDE (a)",
        "CREATE INDEX tb ON t USING fulltext (b)",
        "CREATE TABLE u (k int PRIMARY KEY, v int)",
        "INSERT INTO u SELECT i, i * 3 FROM generate_series(1, 3) i",
        "ANALYZE",
    ] {
        let answered = answer(&mut writer, sql).await;
        assert!(!answered.contains(':'), "{sql}: {answered}");
    }
    let (mut first, mut second) = (connect(&database), connect(&database));
    for session in [&mut first, &mut second] {
        answer(session, "SET stoa.force_index = on; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").await;
    }
    // With how many more rows there are for the last of the transactions.
    let cases = [
        ("SELECT * FROM t WHERE id BETWEEN 10 AND 4000", "KeyRangeScanExec", 1),
        ("SELECT * FROM t WHERE id IN (7, 5000)", "PointGetExec", 1),
        ("SELECT * FROM t WHERE a = 7", "IndexLookupExec", 1),
        ("SELECT a, c FROM t WHERE c = 11", "index=tc (covered)", 1),
        ("SELECT * FROM t WHERE a = 7 OR c = 11", "KeySetExec", 1),
        ("SELECT id FROM t WHERE MATCH (b) AGAINST ('word3')", "TextSearchExec", 1),
        ("SELECT u.k, t.b FROM u JOIN t ON t.a = u.v + 1 - u.k * 3", "LookupJoinExec", 3),
        ("SELECT id, a FROM t ORDER BY a DESC LIMIT 5000", "KeyRangeScanExec: index=ta (covered)", 2),
    ];
    let mut plans = Vec::new();
    for (sql, shown, _) in cases {
        let ctx = statement(&mut first, sql).await;
        let plan = planned(&ctx, sql).await;
        assert!(printed(&plan).contains(shown), "{sql}:\n{}", printed(&plan));
        let before = rows(&ctx, &plan).await;
        plans.push((plan, before));
    }
    // Another transaction, which sees what was committed since, plans the same.
    let answered = answer(&mut writer, "INSERT INTO t VALUES (4000, 1, 'other', 1)").await;
    assert_eq!(answered, "INSERT 0 1");
    let mut third = connect(&database);
    answer(&mut third, "SET stoa.force_index = on; BEGIN; SELECT 1").await;
    for (sql, _, _) in cases {
        let (early, late) = (statement(&mut second, sql).await, statement(&mut third, sql).await);
        assert_ne!(early.txn.read_view().timestamp(), late.txn.read_view().timestamp());
        let (one, other) = (planned(&early, sql).await, planned(&late, sql).await);
        assert_eq!(printed(&one), printed(&other), "{sql}");
    }
    // The plans of the first, run by a transaction that has more rows, see these.
    answer(&mut third, "INSERT INTO t VALUES (5000, 7, 'word3', 11)").await;
    for ((sql, _, more), (plan, before)) in cases.into_iter().zip(plans) {
        let (here, there) = (statement(&mut second, sql).await, statement(&mut third, sql).await);
        assert_eq!(rows(&here, &planned(&here, sql).await).await, before, "{sql}");
        assert_eq!(rows(&there, &plan).await, before + more, "{sql}");
    }
}
