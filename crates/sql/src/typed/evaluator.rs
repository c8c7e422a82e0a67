//! Expressions over the rows of one table, evaluated on batches: CHECK, generated columns, index expressions and predicates,
//! ON CONFLICT's assignments, RETURNING.

use crate::typed::expr::ExprPlanner;
use crate::typed::tree::{ColId, Expr};
use crate::typed::{column_name, from_datafusion};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion_common::{DFSchema, ScalarValue};
use datafusion_expr::Expr as DfExpr;
use datafusion_expr::execution_props::ExecutionProps;
use datafusion_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion_physical_expr::{PhysicalExpr, create_physical_expr};
use std::sync::Arc;
use stoa_pg::{EvalContext, PgResult};

/// Compiled expressions over columns named by id.
pub struct TableEvaluator {
    schema: SchemaRef,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
}

impl TableEvaluator {
    /// Compiles expressions over `columns`. They hold no subqueries.
    ///
    /// # Errors
    /// XX000 for expressions that need a plan.
    pub fn new(eval: &EvalContext, params: &[ScalarValue], columns: &[(ColId, DataType)], exprs: &[Expr]) -> PgResult<Self> {
        let planner = ExprPlanner { eval, params };
        Self::of(columns, &exprs.iter().map(|e| planner.expr(e)).collect::<PgResult<Vec<_>>>()?)
    }

    /// Compiles the sort keys of expressions: values that sort and compare in Arrow as the expressions' do in PostgreSQL.
    ///
    /// # Errors
    /// As [`TableEvaluator::new`].
    pub fn of_keys(eval: &EvalContext, columns: &[(ColId, DataType)], exprs: &[Expr]) -> PgResult<Self> {
        let planner = ExprPlanner { eval, params: &[] };
        Self::of(columns, &exprs.iter().map(|e| planner.sort_key(e)).collect::<PgResult<Vec<_>>>()?)
    }

    /// Compiles converted expressions.
    pub fn of(columns: &[(ColId, DataType)], exprs: &[DfExpr]) -> PgResult<Self> {
        let fields: Vec<Field> = columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let df_schema = DFSchema::try_from(schema.as_ref().clone()).map_err(from_datafusion)?;
        let props = ExecutionProps::new();
        let context = PhysicalPlanningContext::default();
        let exprs = exprs
            .iter()
            .map(|e| create_physical_expr(e, &df_schema, &props, &context).map_err(from_datafusion))
            .collect::<PgResult<Vec<_>>>()?;
        Ok(Self { schema, exprs })
    }

    /// The compiled expressions.
    pub fn exprs(&self) -> &[Arc<dyn PhysicalExpr>] {
        &self.exprs
    }

    /// The columns that a batch must have, in order.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The value of each expression for each row; `columns` in the order given to [`TableEvaluator::new`].
    ///
    /// # Errors
    /// What the expressions raise.
    pub fn evaluate(&self, columns: Vec<ArrayRef>, rows: usize) -> PgResult<Vec<ArrayRef>> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        self.exprs.iter().map(|e| e.evaluate(&batch).and_then(|v| v.into_array(rows)).map_err(from_datafusion)).collect()
    }
}
