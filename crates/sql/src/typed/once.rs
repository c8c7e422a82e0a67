//! Values that an expression uses several times and that are computed once.
//!
//! `CASE x WHEN …`, COALESCE, NULLIF, IS DISTINCT FROM and comparisons of rows name a value more often than it is written. Where it is volatile
//! (`CASE floor(random() * 3) WHEN …`) another one would come each time; so it is computed first, and the rest over it, in one call. The same
//! is done where a value holds several such forms itself: written out, each level would double what stands below it.

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
    /// What stands for a value where it is used: the value itself, unless it may be another when it is computed again, or is large.
    pub fn value(&mut self, value: Expr, fresh: &mut dyn FnMut() -> ColId) -> Expr {
        if super::walk::varies(&value) { self.given(value, fresh) } else { self.large(value, fresh) }
    }

    /// As [`Shared::value`], where PostgreSQL computes a value that varies as often as it is used.
    pub fn large(&mut self, value: Expr, fresh: &mut dyn FnMut() -> ColId) -> Expr {
        if doubles(&value) { self.given(value, fresh) } else { value }
    }

    fn given(&mut self, value: Expr, fresh: &mut dyn FnMut() -> ColId) -> Expr {
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

/// Whether to write a value twice is too much: it is large, or holds several forms that do so themselves.
fn doubles(value: &Expr) -> bool {
    const LARGE: usize = 100;
    const FEW_FORMS: usize = 2;
    let (mut size, mut forms) = (0, 0);
    value.any(&mut |e| {
        size += 1;
        forms += usize::from(matches!(e.kind, ExprKind::Case { .. } | ExprKind::Coalesce(_) | ExprKind::Once { .. }));
        size > LARGE || forms > FEW_FORMS
    })
}

/// COALESCE with the first argument computed once, if that is not to be written twice; of another argument what stands from there on becomes a
/// COALESCE of its own. `None` if it can be written out.
#[must_use]
pub fn coalesce_once(args: &[Expr], ty: &SqlType) -> Option<Expr> {
    let (_, named_twice) = args.split_last()?;
    let at = named_twice.iter().position(doubles)?;
    let (before, from) = args.split_at(at);
    let coalesce = |args: Vec<Expr>| Expr::new(ExprKind::Coalesce(args), ty.clone());
    if !before.is_empty() {
        return Some(coalesce(before.iter().cloned().chain([coalesce(from.to_vec())]).collect()));
    }
    let (value, rest) = args.split_first()?;
    let mut largest = 0;
    args.iter().for_each(|arg| {
        arg.any(&mut |e| {
            if let ExprKind::Column(id) | ExprKind::Given(id) | ExprKind::Once { id, .. } = e.kind {
                largest = largest.max(id.0);
            }
            false
        });
    });
    let id = ColId(largest.checked_add(1)?);
    let given = Expr::new(ExprKind::Given(id), value.ty.clone());
    let body = coalesce([given].into_iter().chain(rest.iter().cloned()).collect());
    Some(Expr::new(ExprKind::Once { id, value: Box::new(value.clone()), body: Box::new(body) }, ty.clone()))
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
