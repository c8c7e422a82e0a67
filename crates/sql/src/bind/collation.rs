//! The collations that columns are given, and those that expressions have.

use super::name_parts;
use crate::typed::tree::{Expr, ExprKind};
use stoa_pg::collation;
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast::{self, ObjectName};
use stoa_table::catalog::{CatalogSnapshot, ColumnDescriptor, ColumnId, IndexKey, Oid, Relation, TableDescriptor};

/// The collation that a column of a type is given: its name, if it is not the one that the type has anyway.
///
/// # Errors
/// 42704 for one that there is not, 42804 for a type that has none.
pub fn of_column(said: Option<&ObjectName>, ty: &PgType) -> PgResult<Option<String>> {
    let Some(said) = said else { return Ok(None) };
    let name = check(said)?;
    check_takes(ty)?;
    Ok(Some(name).filter(|name| !is_own(name, ty)))
}

/// The collation that a type has by itself; 0 of what has none.
#[must_use]
pub fn of_type(ty: &PgType) -> u32 {
    let collated = |ty: &PgType| ty.is_string() && *ty != PgType::Char;
    if *ty == PgType::Name || ty.element() == Some(PgType::Name) {
        collation::C
    } else if collated(ty) || *ty == PgType::PgNodeTree || ty.element().is_some_and(|e| collated(&e)) {
        collation::DEFAULT
    } else {
        0
    }
}

/// Whether a collation is the one that a type has by itself.
#[must_use]
pub fn is_own(name: &str, ty: &PgType) -> bool {
    collation::named(name).is_some_and(|named| named.oid == of_type(ty))
}

/// The collation of a table's column: what was said, else its type's; 0 if it has none.
#[must_use]
pub fn of_descriptor(column: &ColumnDescriptor) -> Oid {
    let said = column.collation.as_ref().and_then(|name| collation::named(name));
    said.map_or_else(|| of_type(&column.ty.ty), |said| said.oid)
}

/// The collation of an expression over a table's columns: that of a part which has another than `default`, else its type's. What COLLATE
/// says inside of it is not known.
#[must_use]
pub fn of_expr(table: &TableDescriptor, expr: &Expr) -> Oid {
    let own = of_type(&expr.ty.ty);
    match &expr.kind {
        ExprKind::Column(id) => table.column(ColumnId(id.0)).map_or(own, of_descriptor),
        _ if own == 0 => 0,
        _ => expr
            .children()
            .into_iter()
            .map(|part| of_expr(table, part))
            .find(|part| !matches!(*part, 0 | collation::DEFAULT))
            .unwrap_or(own),
    }
}

/// An expression without the COLLATE and the parentheses around it, and what the outermost COLLATE says.
#[must_use]
pub fn stripped(expr: &ast::Expr) -> (&ast::Expr, Option<&ObjectName>) {
    match expr {
        ast::Expr::Nested(inner) => stripped(inner),
        ast::Expr::Collate { expr, collation } => (stripped(expr).0, Some(collation)),
        other => (other, None),
    }
}

/// What an index keeps of the collation of a key: its name, if it is not the column's, or not that of the expression's type. `own`: the
/// collation that the key has by itself.
///
/// # Errors
/// 42704 for one that there is not, 42804 for a type that has none.
pub fn of_key(said: Option<&ObjectName>, own: Oid, key: &IndexKey, ty: &PgType) -> PgResult<Option<String>> {
    let oid = match said {
        Some(said) => {
            let name = check(said)?;
            check_takes(ty)?;
            collation::named(&name).map_or(own, |named| named.oid)
        }
        None => own,
    };
    let usual = if matches!(key, IndexKey::Column(_)) { own } else { of_type(ty) };
    Ok(collation::by_oid(oid).filter(|_| oid != usual || oid != own).map(|named| named.name.to_owned()))
}

/// The collations of a query's columns, where they are others than those of their types: what COLLATE says of one in the list of its
/// SELECT, or the collation of the column of a relation that it is. `columns`: their types, and where they come from.
///
/// # Errors
/// 42704 for a collation that there is not.
pub fn of_outputs(
    catalog: &CatalogSnapshot,
    query: Option<&ast::Query>,
    columns: &[(&PgType, Option<(u32, u32)>)],
) -> PgResult<Vec<Option<String>>> {
    let items = match query.map(|query| &*query.body) {
        Some(ast::SetExpr::Select(select)) => select.projection.as_slice(),
        _ => &[],
    };
    let expr = |item: &ast::SelectItem| matches!(item, ast::SelectItem::UnnamedExpr(_) | ast::SelectItem::ExprWithAlias { .. });
    // What `*` stands for is counted from both sides.
    let before = items.iter().take_while(|item| expr(item)).count();
    let behind = items.iter().rev().take_while(|item| expr(item)).count();
    let item_of = |at: usize| {
        let from_end = columns.len().checked_sub(at)?;
        if at < before { items.get(at) } else { items.get(items.len().checked_sub(from_end)?).filter(|_| from_end <= behind) }
    };
    let mut out = Vec::with_capacity(columns.len());
    for (at, (ty, origin)) in columns.iter().enumerate() {
        let said = match item_of(at) {
            Some(ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. }) => stripped(expr).1,
            _ => None,
        };
        let name = match said {
            Some(said) => Some(check(said)?),
            None => origin.and_then(|(relation, column)| of_origin(catalog, relation, column)),
        };
        out.push(name.filter(|name| !is_own(name, ty)));
    }
    Ok(out)
}

/// The collation that was said of a relation's column.
fn of_origin(catalog: &CatalogSnapshot, relation: Oid, column: u32) -> Option<String> {
    match &**catalog.relation(relation)? {
        Relation::Table(table) => table.column(ColumnId(column))?.collation.clone(),
        Relation::View(view) => view.columns.get(usize::try_from(column.checked_sub(1)?).ok()?)?.collation.clone(),
        Relation::Sequence(_) => None,
    }
}

/// Collations that order by code points, which is the one order there is; the name without its schema.
///
/// # Errors
/// 42704.
pub fn check(name: &ObjectName) -> PgResult<String> {
    let name = name_parts(name)?.join(".");
    let name = name.trim_start_matches("pg_catalog.");
    if collation::named(name).is_some() {
        return Ok(name.to_owned());
    }
    Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("collation \"{name}\" for encoding \"UTF8\" does not exist")))
}

/// # Errors
/// 42804 for types whose values are no texts.
pub fn check_takes(ty: &PgType) -> PgResult<()> {
    let element = match ty {
        PgType::Array(element) => element,
        other => other,
    };
    if element.is_string() {
        return Ok(());
    }
    Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("collations are not supported by type {ty}")))
}
