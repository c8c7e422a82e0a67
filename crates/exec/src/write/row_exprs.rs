//! Expressions over rows that a statement has in its hands: RETURNING, DO UPDATE, the arms of MERGE. Those with subqueries are planned as
//! a projection of the rows; the others are computed as they are.

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::compute::{concat_batches, sort_to_indices, take};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use async_trait::async_trait;
use hashbrown::HashMap;
use std::sync::{Arc, OnceLock};
use stoa_pg::{PgError, PgResult, PgType, SqlType};
use stoa_sql::typed::column_name;
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, Rel};
use stoa_sql::typed::walk;

/// Who runs the subqueries of such expressions.
#[async_trait]
pub trait Subqueries: Send + Sync {
    /// A column that the statement does not have yet.
    fn fresh(&self) -> ColId;

    /// The rows of a relation, with these of its columns.
    ///
    /// # Errors
    /// What planning and the relation raise.
    async fn run(&self, rel: &Rel, columns: &[ColId]) -> PgResult<Vec<RecordBatch>>;

    /// The same, for as long as it is needed.
    fn share(&self) -> Arc<dyn Subqueries>;
}

/// See the module.
pub struct RowExprs {
    exprs: Vec<Expr>,
    /// The columns that the expressions use from outside, in order.
    used: Vec<(ColId, SqlType)>,
    /// Compiled for the Arrow types that the first rows had.
    compiled: OnceLock<TableEvaluator>,
    /// Where the expressions hold subqueries.
    queries: Option<Arc<dyn Subqueries>>,
}

impl RowExprs {
    #[must_use]
    pub fn new(queries: &dyn Subqueries, exprs: Vec<Expr>) -> Self {
        let mut types = HashMap::new();
        let mut columns = Vec::new();
        let mut subqueries = false;
        for e in &exprs {
            types_of(e, &mut types);
            walk::columns_of(e, &mut columns);
            walk::visit_subqueries(e, &mut |_| subqueries = true);
        }
        columns.sort_unstable();
        columns.dedup();
        let used = columns.into_iter().filter_map(|c| types.get(&c).map(|ty| (c, ty.clone()))).collect();
        Self { exprs, used, compiled: OnceLock::new(), queries: subqueries.then(|| queries.share()) }
    }

    /// The columns that [`RowExprs::evaluate`] wants.
    pub fn columns(&self) -> impl Iterator<Item = ColId> + '_ {
        self.used.iter().map(|(c, _)| *c)
    }

    /// Whether evaluating means running queries.
    #[must_use]
    pub fn has_subqueries(&self) -> bool {
        self.queries.is_some()
    }

    /// The value of each expression for each row; `columns` in the order of [`RowExprs::columns`].
    ///
    /// # Errors
    /// What the expressions raise.
    pub async fn evaluate(
        &self,
        eval: &stoa_pg::EvalContext,
        params: &[datafusion::common::ScalarValue],
        columns: Vec<ArrayRef>,
        rows: usize,
    ) -> PgResult<Vec<ArrayRef>> {
        if let Some(queries) = self.queries.clone() {
            return self.evaluate_planned(&*queries, columns, rows).await;
        }
        let compiled = match self.compiled.get() {
            Some(compiled) => compiled,
            None => {
                let types: Vec<(ColId, DataType)> = self.used.iter().zip(&columns).map(|((c, _), a)| (*c, a.data_type().clone())).collect();
                let compiled = TableEvaluator::new(eval, params, &types, &self.exprs)?;
                self.compiled.get_or_init(|| compiled)
            }
        };
        compiled.evaluate(columns, rows)
    }

    async fn evaluate_planned(&self, queries: &dyn Subqueries, columns: Vec<ArrayRef>, rows: usize) -> PgResult<Vec<ArrayRef>> {
        // A number keeps the rows in order whatever the plan does with them.
        let number = queries.fresh();
        let mut fields = vec![Field::new(column_name(number), DataType::Int64, true)];
        let mut arrays: Vec<ArrayRef> = vec![Arc::new((0..rows as i64).collect::<Int64Array>())];
        let mut given = vec![(number, SqlType::new(PgType::Int8))];
        for ((id, ty), array) in self.used.iter().zip(columns) {
            fields.push(Field::new(column_name(*id), array.data_type().clone(), true));
            given.push((*id, SqlType { arrow: array.data_type().clone(), ..ty.clone() }));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?;
        let mut exprs = vec![(number, Expr::column(number, SqlType::new(PgType::Int8)))];
        exprs.extend(self.exprs.iter().map(|e| (queries.fresh(), e.clone())));
        let ids: Vec<ColId> = exprs.iter().map(|(c, _)| *c).collect();
        let rel = Rel::Project { input: Box::new(Rel::Batches { columns: given, batches: vec![batch] }), exprs };
        let out = queries.run(&rel, &ids).await?;
        let Some(first) = out.first() else {
            return if rows == 0 {
                Ok(self.exprs.iter().map(|e| arrow::array::new_empty_array(&e.ty.arrow)).collect())
            } else {
                Err(PgError::internal("rows were lost"))
            };
        };
        let all = concat_batches(&first.schema(), &out)?;
        let numbers = all.column(0);
        if all.num_rows() != rows || numbers.as_primitive_opt::<Int64Type>().is_none() {
            return Err(PgError::internal("rows were lost"));
        }
        let order = sort_to_indices(numbers, None, None)?;
        all.columns().iter().skip(1).map(|a| Ok(take(a, &order, None)?)).collect()
    }
}

/// The types of the columns that an expression and its subqueries name.
fn types_of(e: &Expr, out: &mut HashMap<ColId, SqlType>) {
    e.any(&mut |x| {
        if let ExprKind::Column(id) = x.kind {
            out.insert(id, x.ty.clone());
        }
        false
    });
    walk::visit_subqueries(e, &mut |q| {
        walk::visit_rel(&q.rel, &mut |r| {
            for inner in walk::exprs_of(r) {
                types_of(inner, out);
            }
        });
    });
}
