//! One row of VALUES, compiled once for a prepared statement: what most INSERTs write.
//!
//! The projections over the row are written into its expressions, so that an execution computes values and nothing else. What has one
//! value in an execution is computed first, then what is volatile (`nextval`), each once, in the order of the columns, as PostgreSQL does
//! for one row.
//!
//! Invariant: the row is that of [`super::simple_scan`], which does what is not recognised here.

use super::scalar::{EvalArgs, ScalarSource};
use super::simple_scan::{Base, Columns, schema_of, simple_scan};
use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_exec::environment::StatementContext;
use stoa_exec::settings::Settings;
use stoa_pg::registry::{FuncKind, Volatility};
use stoa_pg::{EvalContext, PgResult};
use stoa_sql::typed::constant;
use stoa_sql::typed::from_datafusion;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, Rel};
use stoa_sql::typed::walk::is_plain;

/// See the module.
pub(crate) struct ValuesRow {
    values: Vec<Value>,
    schema: SchemaRef,
}

/// Where a column's value comes from.
enum Value {
    Constant(ArrayRef),
    Steady(ScalarSource),
    Volatile(Expr),
}

impl ValuesRow {
    /// Compiles a relation, if it is such a row, with its columns. `used` are the columns that anything in the statement uses.
    ///
    /// # Errors
    /// What the compilation of expressions raises.
    pub(super) fn compile(settings: &Settings, used: &HashSet<ColId>, rel: &Rel) -> PgResult<Option<(Self, Columns)>> {
        let Some(simple) = simple_scan(rel) else { return Ok(None) };
        let Base::Values(columns, [row]) = simple.base else { return Ok(None) };
        if simple.limit.is_some() || columns.len() != row.len() || !row.iter().all(is_computed_alone) {
            return Ok(None);
        }
        let mut given: Vec<(ColId, Expr)> = columns.iter().map(|(id, _)| *id).zip(row.iter().cloned()).collect();
        for exprs in &simple.projections {
            let Some(next) = projected(&given, exprs.iter().filter(|(id, _)| used.contains(id))) else { return Ok(None) };
            given = next;
        }
        // The context of one execution must not be kept: it holds the transaction.
        let eval = EvalContext { settings: Arc::clone(&settings.value), ..EvalContext::default() };
        let mut values = Vec::with_capacity(given.len());
        let mut columns = Vec::with_capacity(given.len());
        for (id, e) in given {
            values.push(match ScalarSource::of(&eval, &e)? {
                Some(ScalarSource::Const(value)) => Value::Constant(value.to_array().map_err(from_datafusion)?),
                Some(source) => Value::Steady(source),
                None => Value::Volatile(e.clone()),
            });
            columns.push((id, e.ty));
        }
        Ok(Some((Self { values, schema: schema_of(&columns) }, columns)))
    }

    /// The row, for these values of parameters; `None` if a value is of another type than its column, which the planner sees to.
    ///
    /// # Errors
    /// What the expressions raise.
    pub(super) fn run(&self, ctx: &StatementContext, params: &[ScalarValue]) -> PgResult<Option<RecordBatch>> {
        let known = EvalArgs { eval: &ctx.eval, params };
        // What has one value is computed first, as PostgreSQL's planner does: what it raises comes before a sequence gives a value.
        let mut arrays: Vec<Option<ArrayRef>> = Vec::with_capacity(self.values.len());
        for (value, field) in self.values.iter().zip(self.schema.fields()) {
            let array = match value {
                Value::Constant(array) => Some(Arc::clone(array)),
                Value::Steady(source) => Some(source.value(known)?.to_array().map_err(from_datafusion)?),
                Value::Volatile(_) => None,
            };
            if array.as_ref().is_some_and(|array| array.data_type() != field.data_type()) {
                return Ok(None);
            }
            arrays.push(array);
        }
        for (array, value) in arrays.iter_mut().zip(&self.values) {
            if let Value::Volatile(e) = value {
                let Some(value) = constant::evaluate_with(&ctx.eval, params, e)? else { return Ok(None) };
                *array = Some(value.to_array().map_err(from_datafusion)?);
            }
        }
        let Some(arrays) = arrays.into_iter().collect::<Option<Vec<ArrayRef>>>() else { return Ok(None) };
        if arrays.iter().zip(self.schema.fields()).any(|(array, field)| array.data_type() != field.data_type()) {
            return Ok(None);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        Ok(Some(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?))
    }
}

/// Whether an expression holds nothing but constants, parameters and calls.
fn is_computed_alone(e: &Expr) -> bool {
    is_plain(e) && !e.any(&mut |x| matches!(x.kind, ExprKind::Column(_)) || !is_call(x))
}

/// Whether a node is one that [`constant::evaluate_with`] knows.
fn is_call(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Column(_) | ExprKind::Cast { .. } => true,
        ExprKind::Func { func, .. } => match func.0.kind {
            FuncKind::Scalar(_) => true,
            // `nextval`, that of an identity among them. What the engine says of a whole statement is the planner's to ask.
            FuncKind::System => func.0.volatility == Volatility::Volatile,
            _ => false,
        },
        ExprKind::Oper { oper, .. } => oper.0.volatility != Volatility::Volatile,
        _ => false,
    }
}

/// The expressions of a projection, over what the row below is computed from. `None` if they hold more than calls, or something is
/// computed twice or not at all.
fn projected<'a>(given: &[(ColId, Expr)], exprs: impl Iterator<Item = &'a (ColId, Expr)>) -> Option<Vec<(ColId, Expr)>> {
    let mut uses = vec![0u32; given.len()];
    let mut out = Vec::new();
    for (id, e) in exprs {
        if !is_plain(e) || e.any(&mut |x| !is_call(x)) {
            return None;
        }
        let mut e = e.clone();
        if !replace_columns(&mut e, given, &mut uses) {
            return None;
        }
        out.push((*id, e));
    }
    let once = |((_, e), uses): (&(ColId, Expr), &u32)| *uses == 1 || matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_));
    given.iter().zip(&uses).all(once).then_some(out)
}

/// Puts what columns are computed from in their place; whether all were found, with their types.
fn replace_columns(e: &mut Expr, given: &[(ColId, Expr)], uses: &mut [u32]) -> bool {
    let ExprKind::Column(column) = e.kind else {
        return e.children_mut().into_iter().all(|child| replace_columns(child, given, uses));
    };
    let Some(at) = given.iter().position(|(id, of)| *id == column && of.ty == e.ty) else { return false };
    let (Some((_, of)), Some(count)) = (given.get(at), uses.get_mut(at)) else { return false };
    *count += 1;
    e.clone_from(of);
    true
}

#[cfg(test)]
mod tests;
