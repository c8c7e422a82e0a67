//! Values that an expression uses several times and that are computed once.
//!
//! `CASE x WHEN …`, COALESCE, NULLIF, IS DISTINCT FROM and comparisons of rows name a value more often than it is written. Where it is volatile
//! (`CASE floor(random() * 3) WHEN …`) another one would come each time; so it is computed first, and the rest over it, in one call.

use super::evaluator::TableEvaluator;
use super::expr::ExprPlanner;
use super::raises::{may_raise, own_cost};
use super::tree::{ColId, Expr, ExprKind};
use super::udf::{KernelUdf, each_row};
use arrow::compute::take;
use arrow::datatypes::DataType;
use datafusion_expr::Expr as DfExpr;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_pg::args::Kernel;
use stoa_pg::{PgError, PgResult, SqlType};

impl ExprPlanner<'_> {
    /// [`ExprKind::Once`]: a call whose arguments are the value and the columns that `body` reads.
    pub(super) fn once(&self, id: ColId, value: &Expr, body: &Expr) -> PgResult<DfExpr> {
        let mut columns: Vec<(ColId, SqlType)> = Vec::new();
        // Values that are given within are no columns of the rows, but those that are given around this.
        let mut within = HashSet::from([id]);
        body.any(&mut |e| {
            if let ExprKind::Once { id, .. } = e.kind {
                within.insert(id);
            }
            false
        });
        body.any(&mut |e| {
            if let ExprKind::Column(column) | ExprKind::Given(column) = e.kind
                && !within.contains(&column)
                && columns.iter().all(|(known, _)| *known != column)
            {
                columns.push((column, e.ty.clone()));
            }
            false
        });
        let inner: Vec<(ColId, DataType)> =
            [(id, &value.ty)].into_iter().chain(columns.iter().map(|(id, ty)| (*id, ty))).map(|(id, ty)| (id, ty.arrow.clone())).collect();
        let evaluator = TableEvaluator::of(&inner, &[self.expr(body)?])?;
        let kernel: Kernel = Arc::new(move |call, args| {
            let columns = args.iter().map(|arg| match arg.constant {
                true => take(&arg.array, &arrow::array::UInt32Array::from(vec![0; call.rows]), None).map_err(PgError::from),
                false => Ok(Arc::clone(&arg.array)),
            });
            let mut values = evaluator.evaluate(columns.take(inner.len()).collect::<PgResult<_>>()?, call.rows)?;
            values.pop().ok_or_else(|| PgError::internal("an expression without a value"))
        });
        let types = [&value.ty].into_iter().chain(columns.iter().map(|(_, ty)| ty)).cloned().collect();
        let mut args = vec![self.expr(value)?];
        args.extend(columns.iter().map(|(column, _)| super::expr::column(*column)));
        args.push(each_row());
        let mut udf = KernelUdf::new(format!("once {}", id.0), kernel, self.eval.clone(), types, body.ty.clone(), false, true);
        udf.tell(may_raise(self.eval, body), own_cost(body));
        Ok(udf.shared().call(args))
    }
}

/// Values that come into an expression by [`Shared::value`] and leave with it.
#[derive(Default)]
pub struct Shared(Vec<(ColId, Expr)>);

impl Shared {
    /// What stands for a value where it is used: the value itself, unless it may be another when it is computed again.
    pub fn value(&mut self, value: Expr, fresh: &mut dyn FnMut() -> ColId) -> Expr {
        if !super::walk::varies(&value) {
            return value;
        }
        let (id, ty) = (fresh(), value.ty.clone());
        self.0.push((id, value));
        Expr::new(ExprKind::Given(id), ty)
    }

    /// The expression that uses the values, with their computation.
    #[must_use]
    pub fn around(self, body: Expr) -> Expr {
        self.0.into_iter().rev().fold(body, |body, (id, value)| {
            let ty = body.ty.clone();
            Expr::new(ExprKind::Once { id, value: Box::new(value), body: Box::new(body) }, ty)
        })
    }
}

/// An expression with a value in the place of what stands for it: how it was written.
#[must_use]
pub fn written(id: ColId, value: &Expr, body: &Expr) -> Expr {
    fn put(e: &mut Expr, id: ColId, value: &Expr) {
        if e.kind == ExprKind::Given(id) {
            *e = value.clone();
        } else {
            e.children_mut().into_iter().for_each(|child| put(child, id, value));
        }
    }
    let mut out = body.clone();
    put(&mut out, id, value);
    out
}
