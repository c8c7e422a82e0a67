//! What a subquery reads whatever the outer row is: read once, kept, and filtered for each row of the outer query.
//!
//! A subquery that no key narrows reads the same rows again for each outer row. Planning it anew with the row's values costs more than
//! all of the comparisons with a few thousand rows.

use super::compile::{Compiled, Compiler, MOST_RELATIONS};
use super::query::{CompiledQuery, Node, Step};
use super::simple_scan::{Columns, order_of, schema_of};
use crate::plan::relation::Planner;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use datafusion::common::ScalarValue;
use datafusion::execution::memory_pool::MemoryReservation;
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use stoa_pg::types::PgType;
use stoa_pg::{EvalContext, PgResult, SqlType};
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, Rel};
use stoa_sql::typed::walk::{exprs_of, free_columns, visit_all, visit_subqueries};
use stoa_sql::typed::walk::{is_plain, is_steady};

/// Rows of one relation, above which they are not kept.
const MOST_KEPT: i64 = 500_000;

/// A relation without values of outer rows, and its rows once they were read.
pub(super) struct Kept {
    rel: Rel,
    columns: Columns,
    rows: OnceLock<RecordBatch>,
}

/// The relations that a compilation keeps.
pub(super) struct Keeper<'a> {
    planner: &'a Planner,
    /// Parameters of the statement; those behind them are values of outer rows.
    given: usize,
    relations: RefCell<Vec<Arc<Kept>>>,
}

impl CompiledQuery {
    /// Compiles a subquery in which values of outer rows are parameters behind those of the statement, over relations that are kept.
    /// [`CompiledQuery::read_kept`] comes before it is run.
    ///
    /// # Errors
    /// What the compilation of expressions raises.
    pub(crate) fn over_kept(planner: &Planner, rel: &Rel, params: usize, columns: &[ColId]) -> PgResult<Option<Self>> {
        if !is_steady(rel) {
            return Ok(None);
        }
        let settings = planner.ctx.session.settings();
        let eval = EvalContext { settings: Arc::clone(&settings.value), ..EvalContext::default() };
        // Columns of the planner's own are none that the statement knew of.
        let mut used = (*planner.used).clone();
        used.extend(columns);
        let keeper = Keeper { planner, given: planner.ctx.params.len(), relations: RefCell::default() };
        let compiler = Compiler {
            settings: &settings,
            text: None,
            eval,
            used: &used,
            params,
            lifted: &Cell::new(0),
            left: &Cell::new(MOST_RELATIONS),
            ctes: &[],
            working: Vec::new(),
            keeper: Some(&keeper),
        };
        let Some((root, given)) = compiler.node(rel)? else { return Ok(None) };
        let Some(order) = order_of(&given, Some(columns)) else { return Ok(None) };
        Ok(Some(Self { root, params, order, misses: AtomicU32::new(0), raises: false, kept: keeper.relations.take() }))
    }

    /// Reads what is kept; whether it could be.
    ///
    /// # Errors
    /// What the relations raise.
    pub(crate) async fn read_kept(&self, planner: &Planner, memory: &MemoryReservation) -> PgResult<bool> {
        for kept in &self.kept {
            let most = Expr::new(ExprKind::Const(ScalarValue::Int64(Some(MOST_KEPT + 1))), SqlType::new(PgType::Int8));
            let rel = Rel::Limit { input: Box::new(kept.rel.clone()), offset: None, fetch: Some(most), ties: None };
            let ids: Vec<ColId> = kept.columns.iter().map(|(id, _)| *id).collect();
            let batches = planner.run(&rel, &ids).await?;
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            if i64::try_from(rows).is_ok_and(|rows| rows > MOST_KEPT) {
                return Ok(false);
            }
            let bytes: usize = batches.iter().map(RecordBatch::get_array_memory_size).sum();
            if memory.try_grow(bytes).is_err() {
                return Ok(false);
            }
            let schema = schema_of(&kept.columns);
            let named = batches.into_iter().map(|batch| {
                let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                RecordBatch::try_new_with_options(Arc::clone(&schema), batch.columns().to_vec(), &options)
            });
            let named = named.collect::<Result<Vec<_>, _>>()?;
            let all = match ids.is_empty() {
                true => {
                    let options = RecordBatchOptions::new().with_row_count(Some(rows));
                    RecordBatch::try_new_with_options(Arc::clone(&schema), Vec::new(), &options)?
                }
                false => concat_batches(&schema, &named)?,
            };
            kept.rows.get_or_init(|| all);
        }
        Ok(true)
    }
}

impl Kept {
    /// The rows; `None` before they were read.
    pub(super) fn rows(&self) -> Option<RecordBatch> {
        self.rows.get().cloned()
    }
}

impl Keeper<'_> {
    fn depends(&self, e: &Expr) -> bool {
        let mut depends = e.any(&mut |x| matches!(x.kind, ExprKind::Param(i) if i >= self.given));
        visit_subqueries(e, &mut |query| depends |= self.varies(&query.rel));
        depends
    }

    /// Whether a relation's rows depend on the outer row.
    fn varies(&self, rel: &Rel) -> bool {
        let mut varies = false;
        visit_all(rel, &mut |rel| {
            varies |= exprs_of(rel).into_iter().any(|e| e.any(&mut |x| matches!(x.kind, ExprKind::Param(i) if i >= self.given)));
        });
        varies
    }
}

impl Compiler<'_> {
    /// A relation that is the same for each outer row.
    pub(super) fn keep(&self, keeper: &Keeper<'_>, rel: &Rel) -> Compiled {
        if keeper.varies(rel) || !free_columns(rel).is_empty() {
            return None;
        }
        let columns = keeper.planner.columns_given(rel);
        let kept = Arc::new(Kept { rel: rel.clone(), columns: columns.clone(), rows: OnceLock::new() });
        keeper.relations.borrow_mut().push(Arc::clone(&kept));
        Some(Node::new(Step::Kept(kept), columns))
    }

    /// Conditions, of which those that do not depend on the outer row are part of what is kept.
    pub(super) fn filter_kept(&self, keeper: &Keeper<'_>, input: &Rel, conditions: &[&Expr]) -> PgResult<Compiled> {
        let (varying, steady): (Vec<&Expr>, Vec<&Expr>) = conditions.iter().partition(|e| keeper.depends(e));
        if !varying.iter().all(|e| is_plain(e)) {
            return Ok(None);
        }
        if keeper.varies(input) {
            let Some((node, columns)) = self.node(input)? else { return Ok(None) };
            return if steady.iter().all(|e| is_plain(e)) { self.filter(node, columns, conditions) } else { Ok(None) };
        }
        let filtered = |rel, e: &Expr| Rel::Filter { input: Box::new(rel), predicate: e.clone() };
        let below = steady.iter().copied().fold(input.clone(), filtered);
        let Some((node, columns)) = self.keep(keeper, &below) else { return Ok(None) };
        self.filter(node, columns, &varying)
    }
}
