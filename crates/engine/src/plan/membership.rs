//! `left = ANY (query)` and `left <> ALL (query)` of a query that runs once: its rows in memory, as a test in a hash table.
//!
//! Invariant: NULLs count as SQL says, in what is looked for and among the rows, also in parts of rows.

use super::relation::Planner;
use std::sync::Arc;
use stoa_pg::operators::membership::hashes_alike;
use stoa_pg::operators::quantified::{MOST_ROW_PARTS, in_rows_kernel};
use stoa_pg::registry::{Func, FuncKind};
use stoa_pg::{PgResult, PgType, SqlType};
use stoa_sql::typed::expr::IN_ROWS;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, FuncRef, OperRef, Output, Query};

/// What tells calls of the test of rows from those of other functions: no name leads to it.
const IN_ROWS_OID: u32 = u32::MAX - 0x2_0000;

impl Planner {
    /// The test for `left op ANY|ALL (query)`; `None` where equality is not that of a hash table. The query has no outer columns: it runs now.
    pub(super) async fn membership(&self, left: &[Expr], opers: &[OperRef], query: &Query, all: bool) -> PgResult<Option<Expr>> {
        let equality = if all { "<>" } else { "=" };
        let hashed = |((l, oper), o): ((&Expr, &OperRef), &Output)| {
            // An array of arrays is one array of more dimensions: its elements are not they.
            oper.0.name == equality && !o.ty.ty.is_array() && hashes_alike(&l.ty, &o.ty)
        };
        if left.len() > MOST_ROW_PARTS || !left.iter().zip(opers).zip(&query.outputs).all(hashed) {
            return Ok(None);
        }
        let columns: Vec<ColId> = query.outputs.iter().map(|o| o.col).collect();
        let rows = self.run(&query.rel, &columns).await?;
        let mut arrays = Vec::with_capacity(columns.len());
        for (at, output) in query.outputs.iter().enumerate() {
            let column = rows.iter().map(|rows| Ok(rows.project(&[at])?)).collect::<PgResult<Vec<_>>>()?;
            let ty = output.ty.array_of();
            let value = stoa_exec::nodes::apply::array_of_rows(&column, &ty.arrow)?;
            arrays.push(Expr::new(ExprKind::Const(value), ty));
        }
        let bool_type = SqlType::new(PgType::Bool);
        if let ([l], [oper], [_]) = (left, opers, columns.as_slice())
            && let Some(array) = arrays.pop()
        {
            let test = ExprKind::AnyArray { left: Box::new(l.clone()), oper: oper.clone(), array: Box::new(array), all };
            return Ok(Some(Expr::new(test, bool_type)));
        }
        let args: Vec<Expr> = left.iter().cloned().chain(arrays).collect();
        let types: Vec<PgType> = args.iter().map(|arg| arg.ty.ty.clone()).collect();
        let mut func = Func::of_kind(IN_ROWS, &types, PgType::Bool, FuncKind::Scalar(in_rows_kernel()), "");
        func.strict = false;
        func.oid = IN_ROWS_OID;
        let test = Expr::new(ExprKind::Func { func: FuncRef(Arc::new(func)), args }, bool_type.clone());
        Ok(Some(if all { Expr::new(ExprKind::Not(Box::new(test)), bool_type) } else { test }))
    }
}
