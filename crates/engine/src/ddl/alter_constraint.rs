//! ALTER TABLE of constraints: their names, and whether the rows that are there satisfy them.

use super::alter::schema_name;
use super::dependency::constraint_oid;
use super::work::Work;
use datafusion::common::ScalarValue;
use futures::StreamExt;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::catalog::names::has_constraint;
use stoa_sql::typed::tree::{Expr, ExprKind};
use stoa_syntax::ast::Statement;
use stoa_table::catalog::policy::hides_rows;
use stoa_table::catalog::{ColumnId, Relation, TableDescriptor};

pub(super) fn missing_constraint(table: &TableDescriptor, name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name))
}

pub(super) fn rename_constraint(work: Work<'_>, mut table: TableDescriptor, old: &str, new: &str) -> PgResult<()> {
    if constraint_oid(&table, old).is_none() {
        return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("constraint \"{old}\" for table \"{}\" does not exist", table.name)));
    }
    let is_index =
        table.primary_key.as_ref().is_some_and(|k| k.name == old) || table.indexes.iter().any(|i| i.constraint.is_some() && i.name == old);
    if is_index {
        // Its index is a relation, which comes first.
        work.check_free(table.schema, new)?;
    }
    if has_constraint(&table, new) {
        return Err(PgError::new(
            SqlState::DUPLICATE_OBJECT,
            format!("constraint \"{new}\" for relation \"{}\" already exists", table.name),
        ));
    }
    if let Some(key) = table.primary_key.as_mut().filter(|k| k.name == old) {
        key.name = new.to_owned();
    }
    for check in table.checks.iter_mut().filter(|c| c.name.name == old) {
        check.name.name = new.to_owned();
    }
    for key in table.foreign_keys.iter_mut().filter(|f| f.name.name == old) {
        key.name.name = new.to_owned();
    }
    for index in &mut table.indexes {
        if let Some(constraint) = index.constraint.as_mut().filter(|c| c.name == old) {
            constraint.name = new.to_owned();
            index.name = new.to_owned();
        }
    }
    work.put(Relation::Table(table))
}

// Validation.

pub(super) async fn validate_constraint(work: Work<'_>, mut table: TableDescriptor, name: &str) -> PgResult<()> {
    if let Some(at) = table.checks.iter().position(|c| c.name.name == name) {
        if let Some(check) = table.checks.get(at).filter(|c| !c.validated).cloned() {
            validate_check(work, &table, name, &check.expr).await?;
            if let Some(check) = table.checks.get_mut(at) {
                check.validated = true;
            }
            work.put(Relation::Table(table))?;
        }
        return Ok(());
    }
    if let Some(at) = table.foreign_keys.iter().position(|f| f.name.name == name) {
        if let Some(key) = table.foreign_keys.get(at).filter(|f| !f.validated).cloned() {
            validate_foreign_key(work, &table, &key).await?;
            if let Some(key) = table.foreign_keys.get_mut(at) {
                key.validated = true;
            }
            work.put(Relation::Table(table))?;
        }
        return Ok(());
    }
    Err(if has_constraint(&table, name) {
        PgError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("constraint \"{name}\" of relation \"{}\" is not a foreign key or check constraint", table.name),
        )
    } else {
        missing_constraint(&table, name)
    })
}

pub(super) async fn validate_check(work: Work<'_>, table: &TableDescriptor, name: &str, text: &str) -> PgResult<()> {
    let expr = work.read_stored(table, text)?;
    let bool_type = SqlType::new(PgType::Bool);
    let violated = Expr::new(ExprKind::IsBool { arg: Box::new(expr), value: Some(false), negated: false }, bool_type);
    if work.any_row(table, Some(violated)).await? {
        return Err(PgError::new(
            SqlState::CHECK_VIOLATION,
            format!("check constraint \"{name}\" of relation \"{}\" is violated by some row", table.name),
        )
        .schema(schema_name(work, table.schema))
        .table(table.name.clone())
        .constraint(name));
    }
    Ok(())
}

pub(super) async fn validate_foreign_key(
    work: Work<'_>,
    table: &TableDescriptor,
    key: &stoa_table::catalog::ForeignKeyDescriptor,
) -> PgResult<()> {
    let catalog = work.catalog();
    let Some(target) = catalog.table(key.referenced_table) else { return Ok(()) };
    let qualified = |t: &TableDescriptor| format!("{}.{}", quote_name(&schema_name(work, t.schema)), quote_name(&t.name));
    let name_of = |t: &TableDescriptor, id: &ColumnId| t.column(*id).map_or_else(String::new, |c| c.name.clone());
    let own: Vec<String> = key.columns.iter().map(|id| name_of(table, id)).collect();
    let other: Vec<String> = key.referenced_columns.iter().map(|id| name_of(target, id)).collect();
    let pairs: Vec<String> = key
        .columns
        .iter()
        .zip(&key.referenced_columns)
        .zip(own.iter().zip(&other))
        .map(|((a, b), (own, other))| {
            let cast = table.column(*a).zip(target.column(*b)).and_then(|(a, b)| super::foreign_key::cast_before(&a.ty.ty, &b.ty.ty));
            let cast = cast.map_or_else(String::new, |ty| format!("::{ty}"));
            format!("stoa_p.{} = stoa_f.{}{cast}", quote_name(other), quote_name(own))
        })
        .collect();
    let nulls: Vec<String> = own.iter().map(|a| format!("stoa_f.{} IS NOT NULL", quote_name(a))).collect();
    let list: Vec<String> = own.iter().map(|a| format!("stoa_f.{}", quote_name(a))).collect();
    let some = if key.match_full { nulls.join(" OR ") } else { nulls.join(" AND ") };
    let sql = format!(
        "SELECT {} FROM {} AS stoa_f WHERE ({some}) AND NOT EXISTS (SELECT 1 FROM {} AS stoa_p WHERE {}) LIMIT 1",
        list.join(", "),
        qualified(table),
        qualified(target),
        pairs.join(" AND ")
    );
    let parsed = stoa_syntax::parse(&sql).map_err(stoa_sql::bind::syntax_error)?;
    let Some(Statement::Query(query)) = parsed.into_iter().next().map(|p| p.statement) else { return Ok(()) };
    let path = work.path();
    let mut context = work.bind_context(&catalog, &path);
    context.text = &sql;
    let bound = stoa_sql::bind::bind_over_all_rows(&context, &query)?;
    let mut stream = crate::plan::execute(&work.current(), &bound).await?.stream;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        let mut values = Vec::with_capacity(own.len());
        for (id, array) in key.columns.iter().zip(batch.columns()) {
            let ty = table.column(*id).map_or_else(|| SqlType::new(PgType::Text), |c| c.ty.clone());
            let value = ScalarValue::try_from_array(array, 0).map_err(stoa_sql::typed::from_datafusion)?;
            values.push(if value.is_null() { "null".to_owned() } else { stoa_pg::values::output_text(&work.ctx.eval, &ty, &value)? });
        }
        let may_see = !hides_rows(&catalog, work.ctx.role, table);
        let shown = if may_see { format!(" ({})=({})", own.join(", "), values.join(", ")) } else { String::new() };
        return Err(PgError::new(
            SqlState::FOREIGN_KEY_VIOLATION,
            format!("insert or update on table \"{}\" violates foreign key constraint \"{}\"", table.name, key.name.name),
        )
        .detail(format!("Key{shown} is not present in table \"{}\".", target.name))
        .schema(schema_name(work, table.schema))
        .table(table.name.clone())
        .constraint(key.name.name.clone()));
    }
    Ok(())
}
