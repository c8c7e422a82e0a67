//! ALTER TABLE of columns: added, dropped, renamed, of another type.

use super::alter::{apply, change_column, column, duplicate_column, schema_name, write_anew};
use super::alter_constraint::{validate_check, validate_foreign_key};
use super::builder::{TableBuilder, columns_of, default_text, is_system_column};
use super::dependency::{Dropping, Object, is_hidden};
use super::work::Work;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::collation::of_column;
use stoa_sql::bind::scope::Clause;
use stoa_sql::bind::{bind_constant_expr, bind_stored_expr, bind_table_expr, fold, type_name};
use stoa_sql::catalog::deparse::{Deparser, quote_name};
use stoa_sql::typed::tree::{ColId, Expr, ExprKind};
use stoa_syntax::ast::{self, Ident};
use stoa_syntax::ddl::{AlterAction, Column, ConstraintKind};
use stoa_table::catalog::{CatalogSnapshot, ColumnDescriptor, ColumnId, IndexKey, Oid, Relation, TableDescriptor};

/// What rows that exist have in a new column.
pub(super) enum NewValue {
    Null,
    /// The same in all rows: its text.
    Constant(String),
    PerRow(Expr),
}

pub(super) fn new_value(work: Work<'_>, table: &TableDescriptor, column: &ColumnDescriptor) -> PgResult<NewValue> {
    let catalog = work.catalog();
    let path = work.path();
    let context = work.bind_context(&catalog, &path);
    if column.hidden {
        return Ok(NewValue::Null);
    }
    if let Some(text) = &column.generated {
        let expr = bind_table_expr(&context, table, text)?;
        return Ok(NewValue::PerRow(assigned(expr, &column.ty)));
    }
    let text = match (&column.default, &column.identity) {
        (Some(text), _) => text.clone(),
        (None, Some(identity)) => format!("nextval('{}'::regclass)", identity.sequence),
        (None, None) => return Ok(NewValue::Null),
    };
    let syntax = stoa_syntax::parse_expression(&text).map_err(stoa_sql::bind::syntax_error)?;
    let expr = bind_constant_expr(&context, Clause::Default, &syntax, &column.ty, &column.name)?;
    if stoa_sql::typed::volatility::is_volatile(&expr) {
        return Ok(NewValue::PerRow(expr));
    }
    match stoa_sql::typed::constant::evaluate(&work.ctx.eval, &expr)? {
        Some(value) if value.is_null() => Ok(NewValue::Null),
        Some(value) => Ok(NewValue::Constant(stoa_pg::values::output_text(&EvalContext::default(), &column.ty, &value)?)),
        None => Ok(NewValue::PerRow(expr)),
    }
}

fn assigned(expr: Expr, ty: &SqlType) -> Expr {
    if expr.ty == *ty { expr } else { Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit: false }, ty.clone()) }
}

pub(super) async fn add_column(work: Work<'_>, table: TableDescriptor, column: &Column, if_not_exists: bool) -> PgResult<()> {
    let name = fold(&column.name);
    if if_not_exists && table.column_by_name(&name).is_some() {
        work.notice(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" of relation \"{}\" already exists, skipping", table.name));
        return Ok(());
    }
    let mut builder = TableBuilder::of(work, table.clone());
    let id = builder.add_column(column).await.map_err(|e| {
        if column.name.quote_style.is_none() && name == "family" && e.code() == SqlState::UNDEFINED_OBJECT {
            return e.hint("Write ADD FAMILY name () for a family, or ADD COLUMN family for a column of this name.");
        }
        e
    })?;
    super::table::comment_column(&mut builder.table, id, column);
    builder.column_options(id, &column.options)?;
    let later = builder.column_constraints(id, &column.constraints).await?;
    if let Some(family) = &column.family {
        super::table::place_in_family(&mut builder, id, family)?;
    }
    // Expressions first: keys and checks may need them.
    for constraint in later.iter().filter(|c| matches!(c.kind, ConstraintKind::Generated(_))) {
        builder.add_constraint(constraint, Some(id)).await?;
    }
    for constraint in later.iter().filter(|c| !matches!(c.kind, ConstraintKind::Generated(_))) {
        builder.add_constraint(constraint, Some(id)).await?;
    }
    let (oid, has_undeclared) = (table.oid, table.dynamic.is_some());
    apply(work, &table, builder).await?;
    if has_undeclared { super::view::column_added(work, oid) } else { Ok(()) }
}

pub(super) async fn drop_column(work: Work<'_>, table: TableDescriptor, name: &str, if_exists: bool, cascade: bool) -> PgResult<()> {
    let Some(found) = table.column_by_name(name).cloned() else {
        if is_system_column(name) {
            return Err(PgError::unsupported(format!("cannot drop system column \"{name}\"")));
        }
        if if_exists {
            work.notice(
                SqlState::SUCCESSFUL_COMPLETION,
                format!("column \"{name}\" of relation \"{}\" does not exist, skipping", table.name),
            );
            return Ok(());
        }
        return Err(PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" of relation \"{}\" does not exist", table.name)));
    };
    let position = table.visible_columns().position(|c| c.id == found.id).unwrap_or(0);
    let mut dropping = Dropping::new(work);
    let object = Object::Column(table.oid, found.id);
    let words = dropping.describe(&object);
    dropping.name(object);
    dropping.settle().await?;
    dropping.check(cascade, Some(words))?;
    dropping.execute().await?;
    let schema = schema_name(work, table.schema);
    super::view::column_dropped(work, table.oid, (&schema, &table.name), position)
}

pub(super) fn rename_column(work: Work<'_>, table: TableDescriptor, old: &str, new: &str) -> PgResult<()> {
    let id = table
        .column_by_name(old)
        .map(|c| c.id)
        .ok_or_else(|| PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{old}\" does not exist")))?;
    if table.column_by_name(new).is_some() {
        return Err(duplicate_column(new, &table.name));
    }
    let mut renamed = table.clone();
    change_column(&mut renamed, id, |c| c.name = new.to_owned());
    retext(work, &table, &mut renamed)?;
    work.put(Relation::Table(renamed))?;
    if table.dynamic.is_some() {
        super::view::column_renamed(work, &table, id)?;
    }
    super::map::renamed(work, table.oid, Some(id))
}

/// Prints the expressions of a table again, with the names and types that it has now.
fn retext(work: Work<'_>, old: &TableDescriptor, new: &mut TableDescriptor) -> PgResult<()> {
    let names = new.clone();
    let again = |text: &str| -> PgResult<String> {
        let catalog = work.catalog();
        let path = work.path();
        let syntax = stoa_syntax::parse_expression(text).map_err(stoa_sql::bind::syntax_error)?;
        let expr = bind_stored_expr(&work.bind_context(&catalog, &path), Some(old), Clause::Check, &syntax, None)?;
        let column = |id: ColId| names.column(ColumnId(id.0)).map_or_else(String::new, |c| quote_name(&c.name));
        Deparser { eval: &work.ctx.eval, column: &column, pretty: false, oids: true }.print(&expr)
    };
    for column in new.columns.iter_mut().filter(|c| !c.dropped) {
        if let Some(text) = &column.generated {
            column.generated = Some(again(text)?);
        }
    }
    for check in &mut new.checks {
        check.expr = again(&check.expr)?;
    }
    if let Some(text) = &new.expires {
        new.expires = Some(again(text)?);
    }
    for index in &mut new.indexes {
        for part in &mut index.parts {
            if let IndexKey::Expr(text) = &part.key {
                part.key = IndexKey::Expr(again(text)?);
            }
        }
        if let Some(text) = &index.predicate {
            index.predicate = Some(again(text)?);
        }
    }
    Ok(())
}

// Types.

/// ALTER COLUMN … TYPE.
pub(super) struct TypeChange<'a> {
    pub name: String,
    pub ty: SqlType,
    pub collation: Option<String>,
    pub dims: Option<u16>,
    pub using: Option<&'a ast::Expr>,
}

impl<'a> TypeChange<'a> {
    /// What an action says of a column's type, if it is about one.
    pub fn of(action: &'a AlterAction) -> PgResult<Option<Self>> {
        let AlterAction::SetType { column, data_type, collation, using } = action else { return Ok(None) };
        let ty = type_name::sql_type(data_type)?;
        let collation = of_column(collation.as_ref(), &ty.ty)?;
        let dims = type_name::declared_dimensions(data_type);
        Ok(Some(Self { name: fold(column), ty, collation, dims, using: using.as_ref() }))
    }
}

/// All changes of types of one statement: rows are written once, and USING speaks of the row as it was `before` the statement.
pub(super) async fn set_types(
    work: Work<'_>,
    before: &TableDescriptor,
    table: TableDescriptor,
    changes: &[TypeChange<'_>],
) -> PgResult<()> {
    changes.iter().try_for_each(|change| super::map::check_type(work, &table, &change.name))?;
    let mut new = table.clone();
    let mut changed: Vec<ColumnDescriptor> = Vec::with_capacity(changes.len());
    let mut values = Vec::with_capacity(changes.len());
    let mut rewrites = false;
    for change in changes {
        let found = column(&new, &change.name)?.clone();
        let value = retype(work, before, &mut new, &found, change)?;
        if changed.iter().any(|other| other.id == found.id) {
            return Err(PgError::unsupported(format!("cannot alter type of column \"{}\" twice", found.name)));
        }
        change_column(&mut new, found.id, |c| {
            c.collation.clone_from(&change.collation);
            c.dims = change.dims;
        });
        values.push((found.id, assigned(value, &change.ty)));
        rewrites |= change.using.is_some() || !same_bytes(&found.ty, &change.ty);
        changed.push(found);
    }
    if rewrites {
        let mut builder = TableBuilder::of(work, new);
        builder.move_storage().await?;
        new = builder.table;
        write_anew(work, &with_dropped(before, table), &new, &values).await?;
    } else {
        for found in &changed {
            change_column(&mut new, found.id, |c| c.missing.clone_from(&found.missing));
        }
    }
    work.put(Relation::Table(new.clone()))?;
    for (found, change) in changed.iter().zip(changes) {
        retype_sequence(work, found, &change.ty)?;
    }
    work.refresh().await?;
    for check in new.checks.iter().filter(|c| c.validated && changed.iter().any(|found| c.columns.contains(&found.id))) {
        validate_check(work, &new, &check.name.name, &check.expr).await?;
    }
    Ok(())
}

/// The table with the columns that the statement has dropped, whose values are still there unless its rows were written anew.
fn with_dropped(before: &TableDescriptor, mut table: TableDescriptor) -> TableDescriptor {
    if before.storage == table.storage {
        table.families.clone_from(&before.families);
        for column in table.columns.iter_mut().filter(|c| c.dropped) {
            if let Some(old) = before.column(column.id) {
                *column = old.clone();
            }
        }
    }
    table
}

/// 0A000 for a column that a policy names: its condition was bound over the type that the column has.
fn check_policies(catalog: &CatalogSnapshot, table: Oid, found: &ColumnDescriptor) -> PgResult<()> {
    for relation in catalog.relations() {
        let Relation::Table(other) = &**relation else { continue };
        for policy in &other.row_security.policies {
            let mut depends_on = policy.conditions().flat_map(|condition| &condition.depends_on);
            if depends_on.any(|d| d.relation == table && d.columns.contains(&found.id)) {
                let detail = format!(
                    "policy {} on table {} depends on column \"{}\"",
                    quote_name(&policy.name),
                    quote_name(&other.name),
                    found.name
                );
                return Err(PgError::unsupported("cannot alter type of a column used in a policy definition").detail(detail));
            }
        }
    }
    Ok(())
}

/// Changes the type of a column and of what depends on it; gives the expression of its values over the row as it was `before`.
fn retype(
    work: Work<'_>,
    before: &TableDescriptor,
    new: &mut TableDescriptor,
    found: &ColumnDescriptor,
    change: &TypeChange<'_>,
) -> PgResult<Expr> {
    let TypeChange { name, ty, using, collation: _, dims: _ } = change;
    let table = new.clone();
    let catalog = work.catalog();
    for relation in catalog.relations() {
        if let Relation::View(view) = &**relation
            && !is_hidden(&view.name)
            && view.depends_on.iter().any(|d| d.relation == table.oid && d.columns.contains(&found.id))
        {
            return Err(PgError::unsupported("cannot alter type of a column used by a view or rule").detail(format!(
                "rule _RETURN on {} {} depends on column \"{}\"",
                if view.materialized.is_some() { "materialized view" } else { "view" },
                quote_name(&view.name),
                found.name
            )));
        }
    }
    check_policies(&catalog, table.oid, found)?;
    super::expiry::refuse_change(work, &table, found.id, "alter type of")?;
    if found.generated.is_some() && using.is_some() {
        return Err(PgError::new(SqlState::INVALID_COLUMN_DEFINITION, "cannot specify USING when altering type of generated column")
            .detail(format!("Column \"{}\" is a generated column.", found.name)));
    }
    if found.identity.is_some() {
        super::builder::check_identity_type(&ty.ty)?;
    }
    for other in table.live_columns() {
        if let Some(text) = &other.generated
            && other.id != found.id
            && work.read_stored(&table, text).is_ok_and(|e| columns_of(&e).contains(&found.id))
        {
            return Err(PgError::unsupported("cannot alter type of a column used by a generated column")
                .detail(format!("Column \"{}\" is used by generated column \"{}\".", found.name, other.name)));
        }
    }
    let path = work.path();
    let context = work.bind_context(&catalog, &path);
    let own = ast::Expr::Identifier(Ident::with_quote('"', found.name.clone()));
    let cannot = |e: PgError| {
        if e.code() != SqlState::DATATYPE_MISMATCH {
            return e;
        }
        let (message, hint) = match using {
            Some(_) => (
                format!("result of USING clause for column \"{name}\" cannot be cast automatically to type {}", ty.ty),
                "You might need to add an explicit cast.".to_owned(),
            ),
            None => (
                format!("column \"{name}\" cannot be cast automatically to type {}", ty.ty),
                format!("You might need to specify \"USING {}::{}\".", quote_name(name), stoa_pg::types::format_type(&ty.ty, ty.typmod)),
            ),
        };
        PgError::new(SqlState::DATATYPE_MISMATCH, message).hint(hint)
    };
    let value = bind_stored_expr(&context, Some(before), Clause::Transform, using.unwrap_or(&own), Some((ty, name))).map_err(cannot)?;
    let default = match &found.default {
        Some(text) => {
            let syntax = stoa_syntax::parse_expression(text).map_err(stoa_sql::bind::syntax_error)?;
            default_text(work, &syntax, ty, name).map_err(|e| {
                if e.code() == SqlState::DATATYPE_MISMATCH {
                    PgError::new(
                        SqlState::DATATYPE_MISMATCH,
                        format!("default for column \"{name}\" cannot be cast automatically to type {}", ty.ty),
                    )
                } else {
                    e
                }
            })?
        }
        None => None,
    };
    change_column(new, found.id, |c| {
        c.ty = ty.clone();
        c.default = default;
        c.missing = None;
    });
    for index in &mut new.indexes {
        let method = index.method.clone();
        for part in index.parts.iter_mut().filter(|part| part.key == IndexKey::Column(found.id)) {
            super::index::check_type(&method, ty, &quote_name(name))?;
            stoa_sql::bind::operator_class::check_kept(&method, part.class.as_deref(), &ty.ty)?;
            part.ty = ty.clone();
        }
    }
    // Expressions bind again over the new type, or the change is refused.
    let fits = new.clone();
    retext(work, &fits, new)?;
    for index in &mut new.indexes {
        let method = index.method.clone();
        let is_changed = |expr: &Expr| columns_of(expr).contains(&found.id);
        for part in &mut index.parts {
            let IndexKey::Expr(text) = &part.key else { continue };
            let expr = work.read_stored(&fits, text)?;
            if is_changed(&expr) {
                part.ty = super::index::type_of_key(&expr)?;
                super::index::check_type(&method, &part.ty, text)?;
                stoa_sql::bind::operator_class::check_kept(&method, part.class.as_deref(), &part.ty.ty)?;
            }
        }
        if let Some(text) = &index.predicate {
            let expr = work.read_stored(&fits, text)?;
            if is_changed(&expr) {
                super::index::check_predicate(&expr)?;
            }
        }
    }
    Ok(value)
}

/// A sequence that serves the column takes its type along.
fn retype_sequence(work: Work<'_>, found: &ColumnDescriptor, ty: &SqlType) -> PgResult<()> {
    if let Some(identity) = &found.identity
        && let Some(Relation::Sequence(mut sequence)) = work.catalog().relation(identity.sequence).map(|r| (**r).clone())
    {
        let mut plan_max = sequence.max;
        let bound = |ty: &PgType| match ty {
            PgType::Int2 => i64::from(i16::MAX),
            PgType::Int4 => i64::from(i32::MAX),
            _ => i64::MAX,
        };
        if plan_max == bound(&sequence.ty.ty) {
            plan_max = bound(&ty.ty);
        }
        sequence.max = plan_max;
        sequence.ty = ty.clone();
        work.put(Relation::Sequence(sequence))?;
    }
    Ok(())
}

/// Foreign keys at both ends of columns whose types have changed: 42804 if they cannot be compared any more, 23503 if rows do not fit.
pub(super) async fn check_references(work: Work<'_>, oid: Oid, columns: &[ColumnId]) -> PgResult<()> {
    let catalog = work.catalog();
    for relation in catalog.relations() {
        let Relation::Table(table) = &**relation else { continue };
        for key in &table.foreign_keys {
            let refers = table.oid == oid && key.columns.iter().any(|id| columns.contains(id));
            let referred = key.referenced_table == oid && key.referenced_columns.iter().any(|id| columns.contains(id));
            if !refers && !referred {
                continue;
            }
            let Some(target) = catalog.table(key.referenced_table) else { continue };
            super::foreign_key::check_comparable(&key.name.name, table, &key.columns, target, &key.referenced_columns)?;
            if key.is_valid(target) {
                validate_foreign_key(work, table, key).await?;
            }
        }
    }
    Ok(())
}

/// Whether the values of one type are stored as those of the other.
fn same_bytes(from: &SqlType, to: &SqlType) -> bool {
    let longer = |a: i32, b: i32| b < 0 || (a >= 0 && b >= a);
    match (&from.ty, &to.ty) {
        (PgType::Varchar, PgType::Varchar) => longer(from.typmod, to.typmod),
        (PgType::Varchar | PgType::Text, PgType::Text) => true,
        (PgType::Text, PgType::Varchar) => to.typmod < 0,
        (a, b) => a == b && from.typmod == to.typmod && from.arrow == to.arrow,
    }
}
