//! Which statements take so little that a thread may execute them between the messages of others.

use super::direct::{Base, is_plain, shape};
use super::key_read::PlanCache;
use crate::bind::tree::{Bound, BoundBody, Expr, ExprKind, Mutation, MutationKind, Rel};
use crate::bind::walk;
use crate::catalog::CatalogSnapshot;
use crate::session::settings::Settings;
use crate::text::TextIndexes;
use std::sync::Arc;
use stoa_pg::registry::{FuncKind, Volatility};

/// Rows of VALUES that are still few.
const FEW_ROWS: usize = 32;

/// Whether a statement reads rows by short ranges of keys or by a search, changes one row, inserts a few rows of values, or computes values
/// without a table; and calls nothing that may hold up its thread.
pub(crate) fn is_brief(bound: &Bound, cache: &PlanCache, settings: Arc<Settings>, text: &TextIndexes, catalog: &CatalogSnapshot) -> bool {
    if !bound.ctes.is_empty() {
        return false;
    }
    // What cannot be compiled is reported where it is executed.
    let compiled = || cache.compiled(bound, settings, text).unwrap_or_default();
    match &bound.body {
        BoundBody::Query(query) => {
            gives_few_values(&query.rel) || {
                let compiled = compiled();
                compiled.read.is_some_and(|read| read.is_short()) || compiled.query.is_some_and(|query| query.is_short())
            }
        }
        BoundBody::Mutation(mutation) => {
            changes_little(mutation)
                && match &mutation.kind {
                    MutationKind::Insert { .. } => gives_few_values(&mutation.source),
                    // What refers to the row may be many rows.
                    MutationKind::Update { .. } | MutationKind::Delete { .. } => {
                        compiled().read.is_some_and(|read| read.is_single()) && catalog.referencing(mutation.table.0.oid).is_empty()
                    }
                    MutationKind::Merge { .. } => false,
                }
        }
    }
}

fn changes_little(mutation: &Mutation) -> bool {
    mutation.checks.is_none()
        && walk::mutation_exprs(&mutation.kind).into_iter().chain(mutation.returning.iter().flatten().map(|(_, e)| e)).all(is_quick)
}

/// A few rows without any table.
fn gives_few_values(rel: &Rel) -> bool {
    let Some(shape) = shape(rel) else { return false };
    let few = match shape.base {
        Base::Values(_, rows) => rows.len() <= FEW_ROWS && rows.iter().flatten().all(is_quick),
        Base::One => true,
        Base::Scan(_) => false,
    };
    few && shape.filters.iter().all(|e| is_quick(e)) && shape.projections.iter().all(|p| p.iter().all(|(_, e)| is_quick(e)))
}

/// Whether an expression is computed at once: no subquery, and no function that waits, as `pg_sleep` does. `nextval` seldom does.
fn is_quick(e: &Expr) -> bool {
    is_plain(e)
        && !e.any(&mut |x| match &x.kind {
            ExprKind::Func { func, .. } => {
                matches!(func.0.kind, FuncKind::System) && func.0.volatility == Volatility::Volatile && func.0.name != "nextval"
            }
            _ => false,
        })
}
