//! What of a statement is compiled, kept with the statement as it is bound.

use super::query::{CompiledQuery, Ctes};
use super::read::CompiledRows;
use crate::plan::execute::used_columns;
use crate::plan::rules;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use stoa_exec::environment::StatementContext;
use stoa_exec::fulltext::TextIndexes;
use stoa_exec::settings::Settings;
use stoa_pg::{EvalContext, PgResult};
use stoa_sql::typed::constant;
use stoa_sql::typed::raises::may_take_long;
use stoa_sql::typed::tree::{Bound, BoundBody, ColId, CteBody, Mutation, Rel};
use stoa_sql::typed::walk::{exprs_of, visit_all};
use stoa_table::catalog::Oid;

/// What executions of one statement share.
///
/// It belongs to a statement as it is bound: another catalog, or other settings of values, make another one.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    used: OnceLock<Arc<HashSet<ColId>>>,
    changes_rows: OnceLock<bool>,
    is_quick: OnceLock<bool>,
    sequences: OnceLock<Box<[(Oid, i64)]>>,
    compiled: Mutex<Option<(Arc<Settings>, Compiled)>>,
}

/// What of a statement is compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled {
    /// What gives the rows: of a query, or those that a statement changes.
    pub query: Option<Arc<CompiledQuery>>,
    /// It is what the statement itself gives or changes, and no CTE.
    is_body: bool,
    /// Much may be made of what is read, however little that is.
    makes_much: bool,
    /// What of each CTE is compiled.
    pub ctes: Vec<Compiled>,
}

impl Compiled {
    /// Compiles what gives rows.
    fn rows(
        &mut self,
        settings: &Settings,
        text: &TextIndexes,
        bound: &Bound,
        used: &HashSet<ColId>,
        rel: &Rel,
        columns: Option<&[ColId]>,
    ) -> PgResult<()> {
        let of_statement = (bound.params.len(), bound.ctes.as_slice());
        let mut query = CompiledQuery::compile(settings, Some(text), used, rel, of_statement, columns)?;
        if let Some(query) = &mut query {
            // Of a CTE only rows that are read are wanted.
            query.raises = self.is_body;
        }
        self.query = query.map(Arc::new);
        visit_all(rel, &mut |rel| self.makes_much |= exprs_of(rel).into_iter().any(|e| e.any(&mut |x| may_take_long(x))));
        Ok(())
    }

    /// Compiles what gives the rows that are changed.
    fn source(
        &mut self,
        settings: &Settings,
        text: &TextIndexes,
        bound: &Bound,
        used: &HashSet<ColId>,
        mutation: &Mutation,
    ) -> PgResult<()> {
        self.query = CompiledQuery::of_row(settings, used, &mutation.source, bound.params.len())?.map(Arc::new);
        if self.query.is_none() {
            self.rows(settings, text, bound, used, &mutation.source, None)?;
        }
        Ok(())
    }

    /// Whether the statement and its CTEs are compiled, and it is more than a read.
    #[cfg(test)]
    pub(crate) fn is_whole(&self) -> bool {
        self.query.as_ref().is_some_and(|query| query.is_tree()) && self.ctes.iter().all(|cte| cte.query.is_some())
    }

    /// Whether a thread may read the rows between the messages of others.
    pub(crate) fn is_inline(&self) -> bool {
        self.query.as_ref().is_some_and(|query| query.is_short()) && !self.makes_much
    }

    /// Whether a thread may read the row, for it is one at most, between the messages of others.
    pub(crate) fn is_inline_single(&self) -> bool {
        self.query.as_ref().is_some_and(|query| query.is_single()) && !self.makes_much
    }

    /// The rows, where they are compiled and few.
    ///
    /// # Errors
    /// The store failed; what the expressions raise.
    pub(crate) async fn run(&self, ctx: &StatementContext, ctes: &Ctes) -> PgResult<Option<CompiledRows>> {
        match &self.query {
            Some(query) => query.run(ctx, &ctx.params, ctes).await.map(Some),
            None => Ok(None),
        }
    }
}

impl PlanCache {
    /// The columns that anything in the statement uses.
    pub(crate) fn used(&self, bound: &Bound) -> Arc<HashSet<ColId>> {
        Arc::clone(self.used.get_or_init(|| Arc::new(used_columns(bound))))
    }

    /// Whether the statement writes, or locks rows.
    pub(crate) fn changes_rows(&self, compute: impl FnOnce() -> bool) -> bool {
        *self.changes_rows.get_or_init(compute)
    }

    /// Whether what the statement makes of its rows is quick.
    pub(crate) fn is_quick(&self, compute: impl FnOnce() -> bool) -> bool {
        *self.is_quick.get_or_init(compute)
    }

    /// The sequences that an inline statement takes values from, and how many of each.
    pub(crate) fn sequences(&self, compute: impl FnOnce() -> Box<[(Oid, i64)]>) -> &[(Oid, i64)] {
        self.sequences.get_or_init(compute)
    }

    /// Nothing of the statement is compiled.
    #[cfg(test)]
    pub(crate) fn leave_to_planner(&self, settings: Arc<Settings>) {
        *self.compiled.lock() = Some((settings, Compiled::default()));
    }

    /// What of the statement can be compiled, once its constants are known to be good.
    ///
    /// # Errors
    /// What constants raise, and the compilation of expressions.
    pub(crate) fn compiled(&self, bound: &Bound, settings: Arc<Settings>, text: &TextIndexes) -> PgResult<Compiled> {
        let mut known = self.compiled.lock();
        if let Some((of, compiled)) = &*known
            && Arc::ptr_eq(of, &settings)
        {
            return Ok(compiled.clone());
        }
        let used = self.used(bound);
        let eval = EvalContext { settings: Arc::clone(&settings.value), ..EvalContext::default() };
        constant::check(&eval, &used, bound)?;
        let mut compiled = Compiled { is_body: true, ..Compiled::default() };
        if settings.raw(rules::DISABLED).is_some_and(|list| rules::is_disabled(list, rules::COMPILED)) {
            *known = Some((settings, compiled.clone()));
            return Ok(compiled);
        }
        match &bound.body {
            BoundBody::Query(query) => {
                let columns: Vec<ColId> = query.outputs.iter().map(|o| o.col).collect();
                compiled.rows(&settings, text, bound, &used, &query.rel, Some(&columns))?;
            }
            BoundBody::Mutation(mutation) => compiled.source(&settings, text, bound, &used, mutation)?,
        }
        for cte in &bound.ctes {
            let mut of_cte = Compiled::default();
            match &cte.body {
                CteBody::Query(rel) => {
                    let columns: Vec<ColId> = cte.columns.iter().map(|(id, _)| *id).collect();
                    of_cte.rows(&settings, text, bound, &used, rel, Some(&columns))?;
                }
                CteBody::Mutation(mutation) => of_cte.source(&settings, text, bound, &used, mutation)?,
            }
            compiled.ctes.push(of_cte);
        }
        *known = Some((settings, compiled.clone()));
        Ok(compiled)
    }
}
