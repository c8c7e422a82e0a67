//! Which statements take so little that a thread may execute them between the messages of others.

use super::cache::PlanCache;
use super::simple_scan::{Base, simple_scan};
use datafusion::common::ScalarValue;
use std::sync::Arc;
use stoa_exec::environment::StatementContext;
use stoa_exec::fulltext::TextIndexes;
use stoa_exec::settings::Settings;
use stoa_pg::PgResult;
use stoa_pg::registry::{FuncKind, Volatility};
use stoa_sql::typed::raises::may_take_long;
use stoa_sql::typed::tree::{Bound, BoundBody, Expr, ExprKind, Mutation, MutationKind, OnConflict, Rel};
use stoa_sql::typed::walk;
use stoa_sql::typed::walk::is_plain;
use stoa_table::catalog::{CatalogSnapshot, Oid, Relation};
use stoa_table::txn::TableLockMode;

/// Rows of VALUES that are still few.
const FEW_ROWS: usize = 32;

/// Whether a statement reads rows by short ranges of keys or by a search, changes one row, inserts a few rows of values, or computes values
/// without a table; and calls nothing that may hold up its thread.
pub(crate) fn is_inline(bound: &Bound, cache: &PlanCache, settings: Arc<Settings>, text: &TextIndexes, catalog: &CatalogSnapshot) -> bool {
    if !bound.ctes.is_empty() {
        return false;
    }
    // What cannot be compiled is reported where it is executed.
    let compiled = || cache.compiled(bound, settings, text).unwrap_or_default();
    match &bound.body {
        BoundBody::Query(query) => cache.is_quick(|| gives_few_values(&query.rel)) || compiled().is_inline(),
        BoundBody::Mutation(mutation) => {
            // What refers to a row that changes may be many rows.
            let unreferenced = || catalog.referencing(mutation.table.0.oid).is_empty();
            cache.is_quick(|| changes_little(mutation))
                && match &mutation.kind {
                    MutationKind::Insert { on_conflict: OnConflict::Error | OnConflict::DoNothing { .. }, .. } => true,
                    MutationKind::Insert { .. } => unreferenced(),
                    MutationKind::Update { .. } | MutationKind::Delete { .. } => compiled().is_inline_single() && unreferenced(),
                    MutationKind::Merge { .. } => false,
                }
        }
    }
}

/// Whether what a statement computes for the rows that it changes is quick, and so are the rows that it inserts.
fn changes_little(mutation: &Mutation) -> bool {
    let inserts = matches!(mutation.kind, MutationKind::Insert { .. });
    walk::mutation_exprs(mutation).into_iter().all(is_quick) && (!inserts || gives_few_values(&mutation.source))
}

/// A few rows without any table.
fn gives_few_values(rel: &Rel) -> bool {
    let Some(simple) = simple_scan(rel) else { return false };
    let few = match simple.base {
        Base::Values(_, rows) => rows.len() <= FEW_ROWS && rows.iter().flatten().all(is_quick),
        Base::One => true,
        Base::Scan(_) => false,
    };
    few && simple.filters.iter().all(|e| is_quick(e)) && simple.projections.iter().all(|p| p.iter().all(|(_, e)| is_quick(e)))
}

/// Whether an expression is computed at once: no subquery, and no function that waits, as `pg_sleep` does. `nextval` waits only for who
/// defines its sequence, see [`readies_sequences`].
fn is_quick(e: &Expr) -> bool {
    is_plain(e)
        && !e.any(&mut |x| match &x.kind {
            ExprKind::Func { func, .. } => {
                let waits = matches!(func.0.kind, FuncKind::System) && func.0.volatility == Volatility::Volatile;
                // Comments on large objects are read.
                let reads = matches!(func.0.name, "obj_description" | "pg_describe_object");
                (waits && sequence_of(x).is_none()) || reads || may_take_long(x)
            }
            _ => false,
        })
}

/// The sequence that `nextval` takes its value from, where it is named.
fn sequence_of(e: &Expr) -> Option<Oid> {
    match &e.kind {
        ExprKind::Func { func, args, .. } if matches!(func.0.name, "nextval" | stoa_sql::bind::dml::NEXT_OF_IDENTITY) => {
            match args.first()?.kind {
                ExprKind::Const(ScalarValue::UInt32(oid)) => oid,
                _ => None,
            }
        }
        _ => None,
    }
}

/// The sequences of an inline statement, with how many values of each it may take.
pub(in crate::plan) fn sequences(bound: &Bound) -> Box<[(Oid, i64)]> {
    let mut out: Vec<(Oid, i64)> = Vec::new();
    let mut look = |e: &Expr| {
        e.any(&mut |x| {
            if let Some(oid) = sequence_of(x) {
                match out.iter_mut().find(|(known, _)| *known == oid) {
                    Some((_, count)) => *count += 1,
                    None => out.push((oid, 1)),
                }
            }
            false
        });
    };
    let rel = match &bound.body {
        BoundBody::Query(query) => &query.rel,
        BoundBody::Mutation(mutation) => {
            walk::mutation_exprs(mutation).into_iter().for_each(&mut look);
            &*mutation.source
        }
    };
    walk::visit_all(rel, &mut |rel| walk::exprs_of(rel).into_iter().for_each(&mut look));
    out.into()
}

/// Locks the sequences of an inline statement as `nextval` would, and sees to it that their values can be had at once; `false` if one has to
/// be waited for.
pub(in crate::plan) async fn readies_sequences(ctx: &StatementContext, sequences: &[(Oid, i64)]) -> PgResult<bool> {
    for (oid, count) in sequences {
        let (Some(numbers), Some(Relation::Sequence(sequence))) = (ctx.catalog.numbers(), ctx.catalog.relation(*oid).map(|r| &**r)) else {
            return Ok(false);
        };
        if !ctx.txn.try_lock_table(*oid, TableLockMode::RowExclusive) {
            return Ok(false);
        }
        numbers.fill(sequence, *count).await?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use crate::session::write_tests::{answer, connect};
    use crate::session::{Prepared, Session};
    use crate::{Database, DatabaseOptions};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn prepare(session: &mut Session, sql: &str) -> Prepared {
        let piece = session.parse(sql).unwrap().pop();
        session.prepare(piece, sql.into(), Vec::new()).unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    #[test]
    fn what_takes_long_is_reported_from_what_is_inline() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let database = Database::open(stoa_table::Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
            let mut session = connect(&database);
            let setup =
                "CREATE TABLE t (id int PRIMARY KEY, n int, v text); INSERT INTO t SELECT g, g % 10, 'x' FROM generate_series(1, 100) g";
            answer(&mut session, setup).await;
            let long = Arc::new(AtomicU32::new(0));
            let seen = Arc::clone(&long);
            session.shared().set_before_blocking(move || {
                seen.fetch_add(1, Ordering::Relaxed);
                Box::pin(std::future::ready(()))
            });
            for (sql, is_long) in [
                ("SELECT v FROM t WHERE id = 7", false),
                ("SELECT id, row_number() OVER (ORDER BY n) FROM t WHERE id BETWEEN 3 AND 5", false),
                ("SELECT string_to_array(v, ',') FROM t WHERE id = 7", false),
                ("UPDATE t SET n = n + 1 WHERE id = 7", false),
                ("INSERT INTO t VALUES (1001, 1, 'x')", false),
                ("SELECT count(*) FROM t", true),
                // Little is read, and much made of it.
                ("SELECT count(*) FROM t, generate_series(1, 1000000) g WHERE id = 7", true),
                ("SELECT repeat(v, 10000000) FROM t WHERE id = 7", true),
                ("SELECT unnest(string_to_array(repeat(v, 10000000), ',')) FROM t WHERE id = 7", true),
                ("SELECT x FROM t, unnest(string_to_array(repeat(v, 10000000), ',')) x WHERE id = 7", true),
                ("SELECT id, length(repeat(v, 10000000)), row_number() OVER (ORDER BY n) FROM t WHERE id BETWEEN 3 AND 5", true),
                ("SELECT pg_sleep(0.001) FROM t WHERE id = 7", true),
                ("SELECT id FROM t WHERE id = 7 AND pg_sleep(0.001) IS NOT NULL", true),
                ("UPDATE t SET n = 0 WHERE id = 7 AND repeat(v, 10000000) = ''", true),
                ("UPDATE t SET v = left(repeat(v, 10000000), 1) WHERE id = 7", true),
                ("DELETE FROM t WHERE id = 8 RETURNING repeat(v, 10000000)", true),
                ("INSERT INTO t VALUES (1002, 1, repeat('x', 10000000))", true),
                ("UPDATE t SET n = 0 WHERE n = 1", true),
            ] {
                let prepared = prepare(&mut session, sql);
                // The first execution may be the one that compiles it.
                for _ in 0..2 {
                    if sql.starts_with("INSERT") {
                        answer(&mut session, "DELETE FROM t WHERE id > 1000").await;
                    }
                    long.store(0, Ordering::Relaxed);
                    session.execute(&prepared, Vec::new()).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
                    session.finish().await.unwrap();
                    assert_eq!(long.load(Ordering::Relaxed) > 0, is_long, "{sql}");
                }
            }
        });
    }
}
