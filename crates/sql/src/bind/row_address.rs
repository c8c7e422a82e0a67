//! `ctid`: what tells a row from all others of its table. It is made of the row's key, and stays while that stays.

use super::scope::FromItem;
use crate::typed::tree::{ColId, Expr, ExprKind, FuncRef, Output, Query, Rel};
use datafusion_common::ScalarValue;
use std::sync::{Arc, LazyLock};
use stoa_pg::registry::Func;
use stoa_pg::{PgType, SqlType};
use stoa_table::catalog::{ColumnId, TableDescriptor};

/// The name by which the binder asks for the address of a row: of the table's OID and the parts of the key.
pub const ADDRESS_OF_ROW: &str = "address of a row";

/// It has no name in SQL.
static ADDRESS: LazyLock<Arc<Func>> = LazyLock::new(|| {
    let kernel = stoa_pg::functions::row_address();
    let mut func =
        Func::scalar(ADDRESS_OF_ROW, &[PgType::Oid, PgType::Any], PgType::Text, kernel, "What tells a row from others.").variadic();
    func.oid = u32::MAX - 1;
    Arc::new(func)
});

/// The columns of a table's key, under the ids that they have in a query.
pub fn key_of(table: &TableDescriptor, id_of: impl Fn(ColumnId) -> Option<ColId>) -> Vec<Expr> {
    table.key_columns().filter_map(|part| Some(Expr::column(id_of(part.column)?, table.column(part.column)?.ty.clone()))).collect()
}

/// `ctid` of the rows of an item of FROM; `None` if it is no table.
pub(super) fn address(item: &FromItem) -> Option<Expr> {
    let table = item.table_oid.filter(|_| !item.address.is_empty())?;
    let oid = Expr::new(ExprKind::Const(ScalarValue::UInt32(Some(table))), SqlType::new(PgType::Oid));
    let args = std::iter::once(oid).chain(item.address.iter().cloned()).collect();
    Some(Expr::new(ExprKind::Func { func: FuncRef(Arc::clone(&ADDRESS)), args }, SqlType::new(PgType::Text)))
}

/// The table and the parts of the key, if an expression is an address.
pub(super) fn parts(expr: &Expr) -> Option<(&Expr, &[Expr])> {
    match &expr.kind {
        ExprKind::Func { func, args } if func.0.name == ADDRESS_OF_ROW => args.split_first(),
        _ => None,
    }
}

/// Gives the parts of a column that is an address of rows of the same table as `left`, so that keys are compared with keys: the output of
/// a query is put in terms of them. `None`: it is something else.
pub(super) fn as_keys(left: &Expr, query: &mut Query, new_col: &mut dyn FnMut() -> ColId) -> Option<Vec<Expr>> {
    let (table, key) = parts(left)?;
    let [output] = query.outputs.as_slice() else { return None };
    let spread: Vec<(ColId, SqlType)> = key.iter().map(|part| (new_col(), part.ty.clone())).collect();
    if !spread_out(&mut query.rel, output.col, table, &spread) {
        return None;
    }
    let named = |(col, ty): (ColId, SqlType)| Output { name: output.name.clone(), col, ty, origin: None };
    query.outputs = spread.into_iter().map(named).collect();
    Some(key.to_vec())
}

/// Adds the parts of an address under new ids, if a column is one.
fn spread_out(rel: &mut Rel, col: ColId, table: &Expr, spread: &[(ColId, SqlType)]) -> bool {
    match rel {
        Rel::Filter { input, .. } | Rel::Barrier { input } | Rel::Sort { input, .. } | Rel::Limit { input, .. } => {
            spread_out(input, col, table, spread)
        }
        Rel::Project { input, exprs } => {
            let Some((_, value)) = exprs.iter().find(|(id, _)| *id == col) else { return false };
            let added: Vec<(ColId, Expr)> = match (&value.kind, parts(value)) {
                (ExprKind::Column(below), _) if spread_out(input, *below, table, spread) => {
                    spread.iter().map(|(id, ty)| (*id, Expr::column(*id, ty.clone()))).collect()
                }
                (_, Some((of, key))) if of == table && key.len() == spread.len() => {
                    spread.iter().map(|(id, _)| *id).zip(key.iter().cloned()).collect()
                }
                _ => return false,
            };
            exprs.extend(added);
            true
        }
        _ => false,
    }
}
