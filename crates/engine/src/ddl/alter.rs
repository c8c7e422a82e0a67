//! ALTER TABLE, and ALTER of views, indexes, sequences and schemas.
//!
//! Invariant: each action leaves a table that is whole: rows that do not satisfy it make the action fail, rows whose bytes change
//! are written anew in another place.

use super::builder::{TableBuilder, columns_of, default_text, is_volatile};
use super::dependency::{Dropping, Object, constraint_oid, is_hidden};
use super::index::finish;
use super::passes::{Pass, in_passes, pass};
use super::rows::{contains_nulls, rewrite};
use super::work::{FoundIndex, Work, has_constraint, undefined_relation, undefined_schema};
use crate::bind::scope::Clause;
use crate::bind::tree::{ColId, Expr, ExprKind};
use crate::bind::{bind_constant_expr, bind_stored_expr, bind_table_expr, fold, type_name};
use crate::catalog::deparse::{Deparser, quote_name};
use crate::catalog::{ColumnDescriptor, ColumnId, IndexKey, Oid, Relation, SchemaDescriptor, TableDescriptor, ViewDescriptor};
use datafusion::common::ScalarValue;
use futures::StreamExt;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlState, SqlType};
use stoa_store::FamilyId;
use stoa_syntax::ast::{self, Ident, ObjectName};
use stoa_syntax::ddl::{AlterAction, Column, ConstraintKind, KeyColumns, ObjectKind};

/// ALTER of an object with actions.
pub(crate) async fn alter(
    work: Work<'_>,
    kind: ObjectKind,
    name: &ObjectName,
    if_exists: bool,
    actions: &[AlterAction],
) -> PgResult<String> {
    let tag = match kind {
        ObjectKind::Table => "ALTER TABLE",
        ObjectKind::View => "ALTER VIEW",
        ObjectKind::MaterializedView => "ALTER MATERIALIZED VIEW",
        ObjectKind::Index => "ALTER INDEX",
        ObjectKind::Sequence => "ALTER SEQUENCE",
        ObjectKind::Schema => "ALTER SCHEMA",
    };
    if kind == ObjectKind::Schema {
        alter_schema(work, name, actions)?;
        return Ok(tag.into());
    }
    let found = work.find(name)?;
    if found.is_none()
        && let Some((table, index)) = work.find_index(name)?
    {
        if !matches!(kind, ObjectKind::Index | ObjectKind::Table) {
            let what = if kind == ObjectKind::Sequence { "a sequence" } else { "a view" };
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not {what}", work.split(name)?.1)));
        }
        alter_index(work, table, index, actions).await?;
        return Ok(tag.into());
    }
    let Some(relation) = found else {
        if if_exists {
            let (_, last) = work.split(name)?;
            work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("relation \"{last}\" does not exist, skipping"));
            return Ok(tag.into());
        }
        return Err(work.missing(name));
    };
    // ALTER INDEX … RENAME takes whatever has the name, as PostgreSQL does.
    if kind != ObjectKind::Index || !matches!(actions, [AlterAction::Rename(_)]) {
        check_kind(kind, &relation)?;
    }
    match &*relation {
        Relation::Table(table) => {
            work.lock_table(table).await?;
            work.check_unused(table, "ALTER TABLE")?;
            let steps = in_passes(actions);
            // Keys that refer are looked at when all types are changed: both sides may change in one statement.
            let typed: Vec<ColumnId> = actions
                .iter()
                .filter_map(|action| match action {
                    AlterAction::SetType { column, .. } => table.column_by_name(&fold(column)).map(|c| c.id),
                    _ => None,
                })
                .collect();
            for (i, id) in typed.iter().enumerate() {
                if typed[..i].contains(id) {
                    let name = table.column(*id).map_or("", |c| c.name.as_str());
                    return Err(PgError::unsupported(format!("cannot alter type of column \"{name}\" twice")));
                }
            }
            let mut unchecked = !typed.is_empty();
            for action in &steps {
                work.refresh()?;
                if unchecked && pass(action) > Pass::Type {
                    unchecked = false;
                    check_references(work, table.oid, &typed).await?;
                }
                let current = work.catalog().table(table.oid).cloned().ok_or_else(|| undefined_relation(&table.name))?;
                alter_table(work, current, action).await?;
            }
            if unchecked {
                work.refresh()?;
                check_references(work, table.oid, &typed).await?;
            }
        }
        Relation::View(view) => {
            work.lock(&relation, crate::txn::TableLockMode::AccessExclusive).await?;
            for action in actions {
                let current = match work.catalog().relation(view.oid).map(|r| (**r).clone()) {
                    Some(Relation::View(view)) => view,
                    _ => return Err(undefined_relation(&view.name)),
                };
                alter_view(work, current, action)?;
            }
        }
        Relation::Sequence(sequence) => {
            work.lock(&relation, crate::txn::TableLockMode::AccessExclusive).await?;
            for action in actions {
                match action {
                    AlterAction::Rename(new) => rename(work, sequence.oid, &fold(new))?,
                    AlterAction::SetSchema(schema) => {
                        if sequence.owned_by.is_some() {
                            let owner = sequence.owned_by.and_then(|(table, _)| work.catalog().table(table).map(|t| t.name.clone()));
                            return Err(PgError::unsupported("cannot move an owned sequence into another schema").detail(format!(
                                "Sequence \"{}\" is linked to table \"{}\".",
                                sequence.name,
                                owner.unwrap_or_default()
                            )));
                        }
                        set_schema(work, sequence.oid, &fold(schema))?;
                    }
                    AlterAction::OwnerTo(role) => check_owner(work, role)?,
                    _ => return Err(refused(action, &sequence.name, "sequences")),
                }
            }
        }
    }
    Ok(tag.into())
}

fn check_kind(kind: ObjectKind, relation: &Relation) -> PgResult<()> {
    let wrong = |what: &str| Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not {what}", relation.name())));
    match (kind, relation) {
        (ObjectKind::Table, _) => Ok(()),
        (ObjectKind::View, Relation::View(v)) if v.materialized.is_none() => Ok(()),
        (ObjectKind::View, _) => wrong("a view"),
        (ObjectKind::MaterializedView, Relation::View(v)) if v.materialized.is_some() => Ok(()),
        (ObjectKind::MaterializedView, _) => wrong("a materialized view"),
        (ObjectKind::Sequence, Relation::Sequence(_)) => Ok(()),
        (ObjectKind::Sequence, _) => wrong("a sequence"),
        (ObjectKind::Index, _) => wrong("an index"),
        (ObjectKind::Schema, _) => Ok(()),
    }
}

/// An action that is not for relations of a kind: 42809.
fn refused(action: &AlterAction, relation: &str, kind: &str) -> PgError {
    let words = match action {
        AlterAction::Unsupported(words) => return PgError::unsupported(format!("ALTER TABLE {words} is not supported")),
        AlterAction::AddColumn { .. } => "ADD COLUMN",
        AlterAction::DropColumn { .. } => "DROP COLUMN",
        AlterAction::SetDefault { .. } | AlterAction::DropDefault { .. } => "ALTER COLUMN ... SET DEFAULT",
        AlterAction::SetNotNull { .. } => "ALTER COLUMN ... SET NOT NULL",
        AlterAction::DropNotNull { .. } => "ALTER COLUMN ... DROP NOT NULL",
        AlterAction::SetType { .. } => "ALTER COLUMN ... SET DATA TYPE",
        AlterAction::AddIdentity { .. } => "ALTER COLUMN ... ADD IDENTITY",
        AlterAction::AlterIdentity { .. } => "ALTER COLUMN ... SET",
        AlterAction::DropIdentity { .. } => "ALTER COLUMN ... DROP IDENTITY",
        AlterAction::DropExpression { .. } => "ALTER COLUMN ... DROP EXPRESSION",
        AlterAction::ColumnStorage { what, .. } => return refused_words(&format!("ALTER COLUMN ... SET {what}"), relation, kind),
        AlterAction::AddConstraint(_) => "ADD CONSTRAINT",
        AlterAction::DropConstraint { .. } => "DROP CONSTRAINT",
        AlterAction::ValidateConstraint { .. } => "VALIDATE CONSTRAINT",
        AlterAction::AlterConstraint { .. } => "ALTER CONSTRAINT",
        AlterAction::RenameColumn { .. } => "RENAME COLUMN",
        AlterAction::RenameConstraint { .. } => "RENAME CONSTRAINT",
        AlterAction::SetOptions(_) => "SET",
        AlterAction::ResetOptions(_) => "RESET",
        AlterAction::AddFamily { .. } => "ADD FAMILY",
        AlterAction::AlterFamily { .. } => "ALTER FAMILY",
        AlterAction::DropFamily { .. } => "DROP FAMILY",
        AlterAction::Rename(_) => "RENAME",
        AlterAction::SetSchema(_) => "SET SCHEMA",
        AlterAction::OwnerTo(_) => "OWNER TO",
    };
    refused_words(words, relation, kind)
}

fn refused_words(words: &str, relation: &str, kind: &str) -> PgError {
    PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("ALTER action {words} cannot be performed on relation \"{relation}\""))
        .detail(format!("This operation is not supported for {kind}."))
}

/// There is one owner: its roles may be named.
pub(super) fn check_owner(work: Work<'_>, role: &Ident) -> PgResult<()> {
    let role = fold(role);
    let known = role == work.ctx.session.session_user
        || matches!(role.as_str(), "stoa" | "postgres" | "current_user" | "session_user" | "current_role");
    if known { Ok(()) } else { Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{role}\" does not exist"))) }
}

pub(super) fn is_collation(name: &str) -> bool {
    super::builder::check_collation(name).is_ok()
}

// Names.

fn schema_name(work: Work<'_>, oid: Oid) -> String {
    work.catalog().schema(oid).map_or_else(String::new, |s| s.name.clone())
}

fn renamed(relation: &Relation, name: &str, schema: Oid) -> Relation {
    let mut out = relation.clone();
    match &mut out {
        Relation::Table(t) => (t.name, t.schema) = (name.to_owned(), schema),
        Relation::View(v) => (v.name, v.schema) = (name.to_owned(), schema),
        Relation::Sequence(s) => (s.name, s.schema) = (name.to_owned(), schema),
    }
    out
}

fn rename(work: Work<'_>, oid: Oid, name: &str) -> PgResult<()> {
    let Some(relation) = work.catalog().relation(oid).cloned() else { return Ok(()) };
    work.check_free(relation.schema(), name)?;
    work.put(renamed(&relation, name, relation.schema()))?;
    let schema = schema_name(work, relation.schema());
    super::view::relation_renamed(work, oid, (&schema, relation.name()), (&schema, name))
}

fn set_schema(work: Work<'_>, oid: Oid, schema: &str) -> PgResult<()> {
    let catalog = work.catalog();
    let Some(relation) = catalog.relation(oid).cloned() else { return Ok(()) };
    let temporary = || PgError::unsupported("cannot move objects into or out of temporary schemas");
    if schema == "pg_temp" {
        return Err(temporary());
    }
    let target = catalog.schema_by_name(schema).ok_or_else(|| undefined_schema(schema))?.clone();
    if target.oid == relation.schema() {
        return Ok(());
    }
    if target.temporary.is_some() || catalog.schema(relation.schema()).is_some_and(|s| s.temporary.is_some()) {
        return Err(temporary());
    }
    if catalog.is_name_taken(target.oid, relation.name()) {
        return Err(PgError::new(
            SqlState::DUPLICATE_TABLE,
            format!("relation \"{}\" already exists in schema \"{schema}\"", relation.name()),
        ));
    }
    let old = schema_name(work, relation.schema());
    work.put(renamed(&relation, relation.name(), target.oid))?;
    for sequence in super::dependency::owned(&catalog, oid, None) {
        if let Some(sequence) = catalog.relation(sequence) {
            work.put(renamed(sequence, sequence.name(), target.oid))?;
        }
    }
    super::view::relation_renamed(work, oid, (&old, relation.name()), (schema, relation.name()))
}

fn alter_schema(work: Work<'_>, name: &ObjectName, actions: &[AlterAction]) -> PgResult<()> {
    let name = work.split(name)?.1;
    let schema = work.catalog().schema_by_name(&name).cloned().ok_or_else(|| undefined_schema(&name))?;
    for action in actions {
        match action {
            AlterAction::Rename(new) => {
                let new = fold(new);
                super::check_schema_name(&new)?;
                if work.catalog().schema_by_name(&new).is_some() {
                    return Err(PgError::new(SqlState::DUPLICATE_SCHEMA, format!("schema \"{new}\" already exists")));
                }
                super::check_not_system(&schema)?;
                work.put_schema(SchemaDescriptor { name: new.clone(), ..(*schema).clone() })?;
                super::view::schema_renamed(work, &name, &new)?;
            }
            AlterAction::OwnerTo(role) => check_owner(work, role)?,
            other => return Err(refused(other, &name, "schemas")),
        }
    }
    Ok(())
}

async fn alter_index(work: Work<'_>, table: Oid, index: FoundIndex, actions: &[AlterAction]) -> PgResult<()> {
    for action in actions {
        let Some(found) = work.catalog().table(table).cloned() else { return Ok(()) };
        work.lock(&Relation::Table(found), crate::txn::TableLockMode::ShareUpdateExclusive).await?;
        // What was committed while waiting counts.
        work.refresh()?;
        let Some(mut table) = work.catalog().table(table).cloned() else { return Ok(()) };
        match action {
            AlterAction::Rename(new) => {
                let new = fold(new);
                work.check_free(table.schema, &new)?;
                match index {
                    FoundIndex::PrimaryKey => {
                        if let Some(key) = &mut table.primary_key {
                            key.name = new;
                        }
                    }
                    FoundIndex::Index(oid) => {
                        if let Some(index) = table.indexes.iter_mut().find(|i| i.oid == oid) {
                            index.name.clone_from(&new);
                            if let Some(constraint) = &mut index.constraint {
                                constraint.name = new;
                            }
                        }
                    }
                }
                work.put(Relation::Table(table))?;
            }
            AlterAction::SetOptions(options) | AlterAction::ResetOptions(options) => {
                let set = matches!(action, AlterAction::SetOptions(_));
                if let FoundIndex::Index(oid) = index
                    && table.indexes.iter().any(|i| i.oid == oid && crate::text::is_text(i))
                {
                    super::index::change_text_options(work, table, oid, |kept| set_options(kept, options, set)).await?;
                    continue;
                }
                if let Some(unknown) = options.iter().find(|o| !super::table::is_postgres_option(&o.name)) {
                    return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized parameter \"{}\"", unknown.name)));
                }
                if set {
                    options.iter().try_for_each(super::table::check_postgres_option)?;
                }
                if let FoundIndex::Index(oid) = index
                    && let Some(index) = table.indexes.iter_mut().find(|i| i.oid == oid)
                {
                    set_options(&mut index.options, options, set);
                }
                work.put(Relation::Table(table))?;
            }
            AlterAction::Unsupported(words) => unsupported(&table, words)?,
            other => return Err(refused(other, &index_name(&table, index), "indexes")),
        }
    }
    Ok(())
}

fn index_name(table: &TableDescriptor, index: FoundIndex) -> String {
    match index {
        FoundIndex::PrimaryKey => table.primary_key.as_ref().map_or_else(String::new, |k| k.name.clone()),
        FoundIndex::Index(oid) => table.indexes.iter().find(|i| i.oid == oid).map_or_else(String::new, |i| i.name.clone()),
    }
}

fn set_options(kept: &mut Vec<(String, String)>, options: &[stoa_syntax::ddl::StorageOption], set: bool) {
    for option in options {
        kept.retain(|(name, _)| *name != option.name);
        if set {
            kept.push((option.name.clone(), option.value.clone().unwrap_or_else(|| "true".into())));
        }
    }
}

fn alter_view(work: Work<'_>, mut view: ViewDescriptor, action: &AlterAction) -> PgResult<()> {
    match action {
        AlterAction::Rename(new) => rename(work, view.oid, &fold(new)),
        AlterAction::SetSchema(schema) => set_schema(work, view.oid, &fold(schema)),
        AlterAction::OwnerTo(role) => check_owner(work, role),
        AlterAction::RenameColumn { old, new } => {
            let (old, new) = (fold(old), fold(new));
            let taken = view.columns.iter().any(|c| c.name == new);
            let Some(column) = view.columns.iter_mut().find(|c| c.name == old) else {
                return Err(PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{old}\" does not exist")));
            };
            if taken {
                return Err(duplicate_column(&new, &view.name));
            }
            column.name = new;
            work.put(Relation::View(view))
        }
        AlterAction::SetDefault { column, value } if view.materialized.is_none() => {
            let name = fold(column);
            let ty = view_column(&mut view, &name)?.ty.clone();
            view_column(&mut view, &name)?.default = default_text(work, value, &ty, &name)?;
            work.put(Relation::View(view))
        }
        AlterAction::DropDefault { column } if view.materialized.is_none() => {
            view_column(&mut view, &fold(column))?.default = None;
            work.put(Relation::View(view))
        }
        AlterAction::SetOptions(options) if view.materialized.is_none() => {
            super::view::set_options(&mut view.options, options)?;
            view.check_option = super::view::check_option(&view.options);
            let (catalog, path) = (work.catalog(), work.path());
            super::view::check_checkable(&work.bind_context(&catalog, &path), &view)?;
            work.put(Relation::View(view))
        }
        AlterAction::ResetOptions(options) if view.materialized.is_none() => {
            view.options.retain(|(name, _)| options.iter().all(|o| o.name != *name));
            view.check_option = super::view::check_option(&view.options);
            work.put(Relation::View(view))
        }
        AlterAction::Unsupported(words) => Err(PgError::unsupported(format!("ALTER VIEW {words} is not supported"))),
        other => Err(refused(other, &view.name, if view.materialized.is_some() { "materialized views" } else { "views" })),
    }
}

fn view_column<'v>(view: &'v mut ViewDescriptor, name: &str) -> PgResult<&'v mut crate::catalog::ViewColumn> {
    let missing = || PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" of relation \"{}\" does not exist", view.name));
    let error = missing();
    view.columns.iter_mut().find(|c| c.name == name).ok_or(error)
}

fn duplicate_column(column: &str, relation: &str) -> PgError {
    PgError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{column}\" of relation \"{relation}\" already exists"))
}

// Tables.

fn column<'t>(table: &'t TableDescriptor, name: &str) -> PgResult<&'t ColumnDescriptor> {
    table
        .column_by_name(name)
        .ok_or_else(|| PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" of relation \"{}\" does not exist", table.name)))
}

fn missing_constraint(table: &TableDescriptor, name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name))
}

async fn alter_table(work: Work<'_>, mut table: TableDescriptor, action: &AlterAction) -> PgResult<()> {
    match action {
        AlterAction::AddColumn { column, if_not_exists } => add_column(work, table, column, *if_not_exists).await,
        AlterAction::DropColumn { name, if_exists, cascade } => drop_column(work, table, &fold(name), *if_exists, *cascade).await,
        AlterAction::SetDefault { column: name, value } => {
            let found = column(&table, &fold(name))?.clone();
            if found.identity.is_some() {
                return Err(PgError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("column \"{}\" of relation \"{}\" is an identity column", found.name, table.name),
                ));
            }
            if found.generated.is_some() {
                return Err(PgError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("column \"{}\" of relation \"{}\" is a generated column", found.name, table.name),
                ));
            }
            let text = default_text(work, value, &found.ty, &found.name)?;
            change_column(&mut table, found.id, |c| c.default = text);
            work.put(Relation::Table(table))
        }
        AlterAction::DropDefault { column: name } => {
            let found = column(&table, &fold(name))?.clone();
            if found.identity.is_some() {
                return Err(PgError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("column \"{}\" of relation \"{}\" is an identity column", found.name, table.name),
                )
                .hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead."));
            }
            if found.generated.is_some() {
                return Err(PgError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("column \"{}\" of relation \"{}\" is a generated column", found.name, table.name),
                )
                .hint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead."));
            }
            change_column(&mut table, found.id, |c| c.default = None);
            work.put(Relation::Table(table))
        }
        AlterAction::SetNotNull { column: name } => {
            let found = column(&table, &fold(name))?.clone();
            let value = Expr::column(ColId(found.id.0), found.ty.clone());
            let is_null = Expr::new(ExprKind::IsNull(Box::new(value)), SqlType::new(PgType::Bool));
            if !found.not_null && work.any_row(&table, Some(is_null)).await? {
                let schema = work.ctx.catalog.schema(table.schema).map(|s| s.name.clone()).unwrap_or_default();
                return Err(contains_nulls(&table, &found.name).schema(schema));
            }
            change_column(&mut table, found.id, |c| c.not_null = true);
            work.put(Relation::Table(table))
        }
        AlterAction::DropNotNull { column: name } => {
            let found = column(&table, &fold(name))?.clone();
            if table.is_primary(found.id) {
                return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, format!("column \"{}\" is in a primary key", found.name)));
            }
            if found.identity.is_some() {
                return Err(PgError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("column \"{}\" of relation \"{}\" is an identity column", found.name, table.name),
                ));
            }
            change_column(&mut table, found.id, |c| c.not_null = false);
            work.put(Relation::Table(table))
        }
        AlterAction::SetType { column: name, data_type, using } => {
            let ty = type_name::sql_type(data_type)?;
            set_type(work, table, &fold(name), ty, using.as_ref()).await
        }
        AlterAction::AddIdentity { column: name, always, options } => {
            let found = column(&table, &fold(name))?.clone();
            super::builder::check_identity_type(&found.ty.ty)?;
            if found.identity.is_some() {
                return Err(PgError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("column \"{}\" of relation \"{}\" is already an identity column", found.name, table.name),
                ));
            }
            if found.default.is_some() {
                return Err(PgError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("column \"{}\" of relation \"{}\" already has a default value", found.name, table.name),
                ));
            }
            if !found.not_null {
                return Err(PgError::new(
                    SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!(
                        "column \"{}\" of relation \"{}\" must be declared NOT NULL before identity can be added",
                        found.name, table.name
                    ),
                ));
            }
            let mut builder = TableBuilder::of(work, table);
            builder.add_identity(found.id, *always, options).await?;
            put_with_sequences(work, builder)
        }
        AlterAction::AlterIdentity { column: name, always, options } => {
            let found = column(&table, &fold(name))?.clone();
            let Some(identity) = found.identity.clone() else { return Err(no_identity(&table, &found.name)) };
            if !options.is_empty()
                && let Some(Relation::Sequence(sequence)) = work.catalog().relation(identity.sequence).map(|r| (**r).clone())
            {
                super::sequence::alter_options(work, sequence, options).await?;
            }
            if let Some(always) = always {
                change_column(&mut table, found.id, |c| {
                    if let Some(identity) = &mut c.identity {
                        identity.always = *always;
                    }
                });
            }
            work.put(Relation::Table(table))
        }
        AlterAction::DropIdentity { column: name, if_exists } => {
            let found = column(&table, &fold(name))?.clone();
            let Some(identity) = found.identity.clone() else {
                if *if_exists {
                    work.notice(
                        SqlState::SUCCESSFUL_COMPLETION,
                        format!("column \"{}\" of relation \"{}\" is not an identity column, skipping", found.name, table.name),
                    );
                    return Ok(());
                }
                return Err(no_identity(&table, &found.name));
            };
            if let Some(sequence) = work.catalog().relation(identity.sequence).cloned() {
                work.drop_storage_of(&sequence)?;
                work.remove(identity.sequence)?;
            }
            change_column(&mut table, found.id, |c| c.identity = None);
            work.put(Relation::Table(table))
        }
        AlterAction::DropExpression { column: name, if_exists } => {
            let found = column(&table, &fold(name))?.clone();
            if found.generated.is_none() {
                let message = format!("column \"{}\" of relation \"{}\" is not a stored generated column", found.name, table.name);
                if *if_exists {
                    work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                    return Ok(());
                }
                return Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
            }
            change_column(&mut table, found.id, |c| c.generated = None);
            work.put(Relation::Table(table))
        }
        AlterAction::ColumnStorage { column: name, what } => {
            column(&table, &fold(name))?;
            Err(PgError::unsupported(format!("ALTER COLUMN … SET {what} is not supported"))
                .hint("Column families have the options of storage."))
        }
        AlterAction::AddConstraint(constraint) => {
            let mut builder = TableBuilder::of(work, table.clone());
            match &constraint.kind {
                ConstraintKind::PrimaryKey(KeyColumns { using_index: Some(index), .. }) => {
                    builder.constraint_over_index(constraint, index, true).await?;
                }
                ConstraintKind::Unique(KeyColumns { using_index: Some(index), .. }) => {
                    builder.constraint_over_index(constraint, index, false).await?;
                }
                _ => builder.add_constraint(constraint, None).await?,
            }
            apply(work, &table, builder).await
        }
        AlterAction::DropConstraint { name, if_exists, cascade } => {
            let name = fold(name);
            let Some(oid) = constraint_oid(&table, &name) else {
                if *if_exists {
                    work.notice(
                        SqlState::SUCCESSFUL_COMPLETION,
                        format!("constraint \"{name}\" of relation \"{}\" does not exist, skipping", table.name),
                    );
                    return Ok(());
                }
                return Err(missing_constraint(&table, &name));
            };
            let mut dropping = Dropping::new(work);
            let object = Object::Constraint(table.oid, oid);
            let words = dropping.describe(&object);
            dropping.name(object);
            dropping.settle().await?;
            dropping.check(*cascade, Some(words))?;
            dropping.execute().await
        }
        AlterAction::ValidateConstraint { name } => validate_constraint(work, table, &fold(name)).await,
        AlterAction::AlterConstraint { name, deferrable, initially_deferred } => {
            let name = fold(name);
            let Some(key) = table.foreign_keys.iter_mut().find(|f| f.name.name == name) else {
                return Err(if has_constraint(&table, &name) {
                    PgError::new(
                        SqlState::WRONG_OBJECT_TYPE,
                        format!("constraint \"{name}\" of relation \"{}\" is not a foreign key constraint", table.name),
                    )
                } else {
                    missing_constraint(&table, &name)
                });
            };
            key.name.initially_deferred = initially_deferred.unwrap_or(false);
            key.name.deferrable = deferrable.unwrap_or(key.name.initially_deferred);
            work.put(Relation::Table(table))
        }
        AlterAction::RenameColumn { old, new } => rename_column(work, table, &fold(old), &fold(new)),
        AlterAction::RenameConstraint { old, new } => rename_constraint(work, table, &fold(old), &fold(new)),
        AlterAction::Rename(new) => rename(work, table.oid, &fold(new)),
        AlterAction::SetSchema(schema) => set_schema(work, table.oid, &fold(schema)),
        AlterAction::OwnerTo(role) => check_owner(work, role),
        AlterAction::SetOptions(options) | AlterAction::ResetOptions(options) => {
            if let Some(unknown) = options.iter().find(|o| !super::table::is_postgres_option(&o.name)) {
                return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized parameter \"{}\"", unknown.name)));
            }
            if matches!(action, AlterAction::SetOptions(_)) {
                options.iter().try_for_each(super::table::check_postgres_option)?;
            }
            set_options(&mut table.options, options, matches!(action, AlterAction::SetOptions(_)));
            work.put(Relation::Table(table))
        }
        AlterAction::AlterFamily { name, options } => {
            let name = fold(name);
            let missing = missing_family(&table, &name);
            let family = table.families.iter_mut().find(|f| f.name == name).ok_or(missing)?;
            let layout = family.options.layout;
            super::table::family_options(&mut family.options, options)?;
            if family.options.layout != layout {
                return Err(PgError::unsupported("the layout of a family cannot be changed").hint("Copy the table with CREATE TABLE AS."));
            }
            families_follow(work, &table);
            work.put(Relation::Table(table))
        }
        AlterAction::AddFamily { family, if_not_exists } => add_family(work, table, family, *if_not_exists).await,
        AlterAction::DropFamily { name, if_exists } => drop_family(work, table, &fold(name), *if_exists),
        AlterAction::Unsupported(words) => unsupported(&table, words),
    }
}

/// What tables do not have: an error, unless it is asked for what is so anyway.
fn unsupported(table: &TableDescriptor, words: &str) -> PgResult<()> {
    let upper = words.to_uppercase();
    let so = [
        "SET LOGGED",
        "SET WITHOUT CLUSTER",
        "SET WITHOUT OIDS",
        "SET TABLESPACE PG_DEFAULT",
        "SET ACCESS METHOD HEAP",
        "DISABLE ROW LEVEL SECURITY",
        "NO FORCE ROW LEVEL SECURITY",
        "REPLICA IDENTITY DEFAULT",
        "ENABLE TRIGGER ALL",
        "ENABLE TRIGGER USER",
        "DISABLE TRIGGER USER",
    ];
    if so.contains(&upper.as_str()) {
        return Ok(());
    }
    let last = words.rsplit(' ').next().unwrap_or_default();
    for (prefix, kind) in [("TRIGGER ", "trigger"), ("REPLICA TRIGGER ", "trigger"), ("ALWAYS TRIGGER ", "trigger")] {
        let named = |verb: &str| upper.starts_with(&format!("{verb} {prefix}"));
        if (named("ENABLE") || named("DISABLE")) && !upper.ends_with(" ALL") {
            return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("{kind} \"{last}\" for table \"{}\" does not exist", table.name)));
        }
    }
    if upper == "NOT OF" {
        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a typed table", table.name)));
    }
    if let Some(space) = words.strip_prefix("SET TABLESPACE ") {
        return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("tablespace \"{space}\" does not exist")));
    }
    let error = PgError::unsupported(format!("ALTER TABLE {words} is not supported"));
    Err(match upper.split(' ').next().unwrap_or_default() {
        "CLUSTER" => error.hint("Rows lie in the order of the primary key."),
        "INHERIT" | "NO" | "ATTACH" | "DETACH" => error.hint("There is no inheritance; tables are split into regions by their row keys."),
        "SET" if upper == "SET UNLOGGED" => error.hint("All tables are logged; SET synchronous_commit = off makes commits faster."),
        "ENABLE" | "DISABLE" | "FORCE" => error.hint("There are no triggers of users, rules and policies; those of foreign keys stay."),
        _ => error,
    })
}

fn missing_family(table: &TableDescriptor, name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("family \"{name}\" of relation \"{}\" does not exist", table.name))
}

/// The store's families and their options are not part of the transaction: they follow its commit.
fn families_follow(work: Work<'_>, table: &TableDescriptor) {
    let schema = crate::row::RowCodec::table_schema(table);
    let store = std::sync::Arc::clone(&work.ctx.database.store);
    work.ctx.txn.on_commit(move || {
        Box::pin(async move {
            if let Err(error) = store.alter_table(&schema).await {
                tracing::warn!(%error, table = schema.name, "the families of a table could not be changed");
            }
        })
    });
}

/// ADD FAMILY: without columns, which ADD COLUMN puts into it.
async fn add_family(work: Work<'_>, mut table: TableDescriptor, family: &stoa_syntax::ddl::Family, if_not_exists: bool) -> PgResult<()> {
    let name = fold(&family.name);
    if table.families.iter().any(|f| f.name == name) {
        let message = format!("family \"{name}\" of relation \"{}\" already exists", table.name);
        if if_not_exists {
            work.notice(SqlState::DUPLICATE_OBJECT, format!("{message}, skipping"));
            return Ok(());
        }
        return Err(PgError::new(SqlState::DUPLICATE_OBJECT, message));
    }
    if let Some(first) = family.columns.first() {
        column(&table, &fold(first))?;
        return Err(PgError::unsupported("a column cannot be moved into another family")
            .hint(format!("Add the family without columns, and new columns with ADD COLUMN … FAMILY {}.", quote_name(&name))));
    }
    let mut new = super::table::new_family(&table, name, &family.options)?;
    // Rows of this transaction may have columns in it, so that the store has it at once; one that is rolled back leaves it empty there,
    // and the next change of families takes it away.
    let store = &work.ctx.database.store;
    let mut schema = store
        .describe_table(table.storage)
        .await
        .map_err(crate::txn::store_error)?
        .ok_or_else(|| PgError::internal(format!("table \"{}\" has no rows' place", table.name)))?;
    // Nor is it one that this transaction has dropped, or another one left there.
    while schema.families.iter().any(|f| f.id == new.id) {
        let next = new.id.0.checked_add(1);
        new.id = FamilyId(next.ok_or_else(|| PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a table has too many families"))?);
    }
    schema.families.push(stoa_store::FamilySchema { id: new.id, name: new.name.clone(), options: new.options.clone() });
    store.alter_table(&schema).await.map_err(crate::txn::store_error)?;
    table.families.push(new);
    work.put(Relation::Table(table))
}

/// DROP FAMILY of one without columns. The first one stays: it tells which rows there are.
fn drop_family(work: Work<'_>, mut table: TableDescriptor, name: &str, if_exists: bool) -> PgResult<()> {
    let Some(at) = table.families.iter().position(|f| f.name == name) else {
        let missing = missing_family(&table, name);
        if if_exists {
            work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{}, skipping", missing.message()));
            return Ok(());
        }
        return Err(missing);
    };
    let cannot = || {
        PgError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!("cannot drop family {} of table {}", quote_name(name), quote_name(&table.name)),
        )
    };
    if at == 0 {
        return Err(cannot().detail("It is the first family, which tells which rows there are."));
    }
    let family = table.families.remove(at);
    let columns: Vec<String> =
        family.columns.iter().filter_map(|id| table.column(*id)).filter(|c| !c.dropped).map(|c| quote_name(&c.name)).collect();
    if !columns.is_empty() {
        let what = if columns.len() == 1 { "Column" } else { "Columns" };
        let verb = if columns.len() == 1 { "is" } else { "are" };
        return Err(cannot().detail(format!("{what} {} {verb} in it.", columns.join(", "))).hint("Drop the columns first."));
    }
    families_follow(work, &table);
    work.put(Relation::Table(table))
}

fn no_identity(table: &TableDescriptor, column: &str) -> PgError {
    PgError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("column \"{column}\" of relation \"{}\" is not an identity column", table.name),
    )
}

fn change_column(table: &mut TableDescriptor, id: ColumnId, change: impl FnOnce(&mut ColumnDescriptor)) {
    if let Some(column) = table.columns.iter_mut().find(|c| c.id == id) {
        change(column);
    }
}

fn put_with_sequences(work: Work<'_>, builder: TableBuilder<'_>) -> PgResult<()> {
    for sequence in builder.sequences {
        work.put(Relation::Sequence(sequence))?;
    }
    work.put(Relation::Table(builder.table))
}

/// Stores what a builder has made of a table: rows are written anew where the key changed or new columns need values of their own,
/// indexes are built, new constraints are checked.
async fn apply(work: Work<'_>, old: &TableDescriptor, builder: TableBuilder<'_>) -> PgResult<()> {
    let mut builder = builder;
    let (checks, foreign_keys, new_indexes) =
        (std::mem::take(&mut builder.new_checks), std::mem::take(&mut builder.new_foreign_keys), std::mem::take(&mut builder.new_indexes));
    builder.complete();
    for sequence in std::mem::take(&mut builder.sequences) {
        work.put(Relation::Sequence(sequence))?;
    }
    let new: Vec<ColumnDescriptor> = builder.table.live_columns().filter(|c| old.column(c.id).is_none()).cloned().collect();
    let mut values: Vec<(ColumnId, Expr)> = Vec::new();
    let mut rewritten = builder.table.key != old.key;
    let mut needs_rows = false;
    for column in &new {
        match new_value(work, &builder.table, column)? {
            NewValue::Null => needs_rows |= column.not_null,
            NewValue::Constant(text) => {
                let ends = builder.table.families.iter().skip(1).any(|f| f.options.ttl.is_some() && f.columns.contains(&column.id));
                if ends {
                    // What ends is NULL then, and not what rows before the column have.
                    let value = stoa_pg::values::input_text(&EvalContext::default(), &column.ty, &text)?;
                    rewritten = true;
                    values.push((column.id, Expr::new(ExprKind::Const(value), column.ty.clone())));
                } else {
                    change_column(&mut builder.table, column.id, |c| c.missing = Some(text));
                }
            }
            NewValue::PerRow(expr) => {
                rewritten = true;
                values.push((column.id, expr));
            }
        }
    }
    if needs_rows
        && !rewritten
        && let Some(column) = new.iter().find(|c| c.not_null && !c.hidden)
        && work.any_row(old, None).await?
    {
        return Err(contains_nulls(&builder.table, &column.name));
    }
    if !rewritten {
        for column in builder.table.live_columns() {
            let before = old.column(column.id).filter(|c| !c.dropped && !c.not_null);
            if column.not_null
                && let Some(before) = before
            {
                let value = Expr::column(ColId(before.id.0), before.ty.clone());
                let is_null = Expr::new(ExprKind::IsNull(Box::new(value)), SqlType::new(PgType::Bool));
                if work.any_row(old, Some(is_null)).await? {
                    return Err(contains_nulls(&builder.table, &column.name));
                }
            }
        }
    }
    if rewritten {
        if builder.table.row_id.is_some() && builder.table.primary_key.is_some() {
            let hidden = builder.table.row_id.take();
            builder.table.columns.retain(|c| Some(c.id) != hidden);
        }
        builder.move_storage().await?;
        let table = builder.table;
        write_anew(work, old, &table, &values).await?;
        work.put(Relation::Table(table.clone()))?;
    } else {
        let table = builder.table;
        finish(work, table, &new_indexes, "CREATE INDEX").await?;
    }
    work.refresh()?;
    let table = work.catalog().table(old.oid).cloned().ok_or_else(|| undefined_relation(&old.name))?;
    for check in table.checks.iter().filter(|c| checks.contains(&c.name.oid) && c.validated) {
        validate_check(work, &table, &check.name.name, &check.expr).await?;
    }
    for key in table.foreign_keys.iter().filter(|f| foreign_keys.contains(&f.name.oid) && f.validated) {
        validate_foreign_key(work, &table, key).await?;
    }
    Ok(())
}

/// Copies the rows of a table into its new place. `values`: columns that are not taken over as they are.
async fn write_anew(work: Work<'_>, old: &TableDescriptor, new: &TableDescriptor, values: &[(ColumnId, Expr)]) -> PgResult<()> {
    crate::row::RowCodec::new(new)?;
    work.create_storage_of(new).await?;
    let mut columns: Vec<(ColumnId, Expr)> = Vec::new();
    for column in new.live_columns() {
        let expr = match values.iter().find(|(id, _)| *id == column.id) {
            Some((_, expr)) => expr.clone(),
            None => match old.column(column.id).filter(|c| !c.dropped) {
                Some(source) => Expr::column(ColId(column.id.0), source.ty.clone()),
                // A new row id is given when the row is written.
                None if column.hidden => continue,
                None => {
                    let null = match &column.missing {
                        Some(text) => stoa_pg::values::input_text(&EvalContext::default(), &column.ty, text)?,
                        None => ScalarValue::try_from(&column.ty.arrow).map_err(crate::plan::from_datafusion)?,
                    };
                    Expr::new(ExprKind::Const(null), column.ty.clone())
                }
            },
        };
        columns.push((column.id, expr));
    }
    rewrite(work, old, new, columns).await?;
    for storage in crate::catalog::store::storage_of(&Relation::Table(old.clone())) {
        work.drop_storage(storage);
    }
    Ok(())
}

/// The table without its primary key: rows get ids. `old` is the table as its rows are stored.
pub(crate) async fn without_key(work: Work<'_>, old: &TableDescriptor, table: TableDescriptor) -> PgResult<TableDescriptor> {
    let mut builder = TableBuilder::of(work, table);
    builder.table.primary_key = None;
    builder.table.salt = None;
    builder.table.split_points = Vec::new();
    builder.add_row_id();
    builder.complete();
    builder.move_storage().await?;
    let table = builder.table;
    write_anew(work, old, &table, &[]).await?;
    Ok(table)
}

/// What rows that exist have in a new column.
enum NewValue {
    Null,
    /// The same in all rows: its text.
    Constant(String),
    PerRow(Expr),
}

fn new_value(work: Work<'_>, table: &TableDescriptor, column: &ColumnDescriptor) -> PgResult<NewValue> {
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
    let syntax = stoa_syntax::parse_expression(&text).map_err(crate::bind::syntax_error)?;
    let expr = bind_constant_expr(&context, Clause::Default, &syntax, &column.ty, &column.name)?;
    if is_volatile(&expr) {
        return Ok(NewValue::PerRow(expr));
    }
    match crate::plan::constant::evaluate(&work.ctx.eval, &expr)? {
        Some(value) if value.is_null() => Ok(NewValue::Null),
        Some(value) => Ok(NewValue::Constant(stoa_pg::values::output_text(&EvalContext::default(), &column.ty, &value)?)),
        None => Ok(NewValue::PerRow(expr)),
    }
}

fn assigned(expr: Expr, ty: &SqlType) -> Expr {
    if expr.ty == *ty { expr } else { Expr::new(ExprKind::Cast { arg: Box::new(expr), explicit: false }, ty.clone()) }
}

async fn add_column(work: Work<'_>, table: TableDescriptor, column: &Column, if_not_exists: bool) -> PgResult<()> {
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
    apply(work, &table, builder).await
}

async fn drop_column(work: Work<'_>, table: TableDescriptor, name: &str, if_exists: bool, cascade: bool) -> PgResult<()> {
    let Some(found) = table.column_by_name(name).cloned() else {
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

fn rename_column(work: Work<'_>, table: TableDescriptor, old: &str, new: &str) -> PgResult<()> {
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
    work.put(Relation::Table(renamed))
}

/// Prints the expressions of a table again, with the names and types that it has now.
fn retext(work: Work<'_>, old: &TableDescriptor, new: &mut TableDescriptor) -> PgResult<()> {
    let names = new.clone();
    let again = |text: &str| -> PgResult<String> {
        let catalog = work.catalog();
        let path = work.path();
        let syntax = stoa_syntax::parse_expression(text).map_err(crate::bind::syntax_error)?;
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

fn rename_constraint(work: Work<'_>, mut table: TableDescriptor, old: &str, new: &str) -> PgResult<()> {
    if constraint_oid(&table, old).is_none() {
        return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("constraint \"{old}\" for table \"{}\" does not exist", table.name)));
    }
    if has_constraint(&table, new) {
        return Err(PgError::new(
            SqlState::DUPLICATE_OBJECT,
            format!("constraint \"{new}\" for relation \"{}\" already exists", table.name),
        ));
    }
    let is_index =
        table.primary_key.as_ref().is_some_and(|k| k.name == old) || table.indexes.iter().any(|i| i.constraint.is_some() && i.name == old);
    if is_index {
        work.check_free(table.schema, new)?;
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

// Types.

async fn set_type(work: Work<'_>, table: TableDescriptor, name: &str, ty: SqlType, using: Option<&ast::Expr>) -> PgResult<()> {
    let found = column(&table, name)?.clone();
    let catalog = work.catalog();
    for relation in catalog.relations() {
        if let Relation::View(view) = &**relation
            && !is_hidden(&view.name)
            && view.depends_on.iter().any(|d| d.relation == table.oid && d.columns.contains(&found.id))
        {
            return Err(PgError::unsupported("cannot alter type of a column used by a view or rule").detail(format!(
                "rule _RETURN on view {} depends on column \"{}\"",
                quote_name(&view.name),
                found.name
            )));
        }
    }
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
    let value = bind_stored_expr(&context, Some(&table), Clause::Transform, using.unwrap_or(&own), Some((&ty, name))).map_err(cannot)?;
    let mut new = table.clone();
    let default = match &found.default {
        Some(text) => {
            let syntax = stoa_syntax::parse_expression(text).map_err(crate::bind::syntax_error)?;
            default_text(work, &syntax, &ty, name).map_err(|e| {
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
    change_column(&mut new, found.id, |c| {
        c.ty = ty.clone();
        c.default = default;
        c.missing = None;
    });
    for index in &mut new.indexes {
        for part in &mut index.parts {
            if part.key == IndexKey::Column(found.id) {
                super::builder::check_order(&ty)?;
                super::opclass::check_kept(part.class.as_deref(), &ty.ty)?;
                part.ty = ty.clone();
            }
        }
    }
    // Expressions bind again over the new type, or the change is refused.
    let fits = new.clone();
    retext(work, &fits, &mut new)?;
    for index in &mut new.indexes {
        for part in &mut index.parts {
            if let IndexKey::Expr(text) = &part.key {
                let expr = bind_table_expr(&context, &fits, text)?;
                part.ty = if expr.ty.ty.is_array() { expr.ty } else { SqlType::new(expr.ty.ty) };
            }
        }
    }
    if using.is_none() && same_bytes(&found.ty, &ty) {
        change_column(&mut new, found.id, |c| c.missing.clone_from(&found.missing));
        work.put(Relation::Table(new.clone()))?;
    } else {
        let mut builder = TableBuilder::of(work, new);
        builder.move_storage().await?;
        new = builder.table;
        write_anew(work, &table, &new, &[(found.id, assigned(value, &ty))]).await?;
        work.put(Relation::Table(new.clone()))?;
    }
    // A sequence that serves the column takes its type along.
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
        sequence.ty = ty;
        work.put(Relation::Sequence(sequence))?;
    }
    work.refresh()?;
    for check in new.checks.iter().filter(|c| c.validated && c.columns.contains(&found.id)) {
        validate_check(work, &new, &check.name.name, &check.expr).await?;
    }
    Ok(())
}

/// Foreign keys at both ends of columns whose types have changed: 42804 if they cannot be compared any more, 23503 if rows do not fit.
async fn check_references(work: Work<'_>, oid: Oid, columns: &[ColumnId]) -> PgResult<()> {
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
            super::builder::check_comparable(&key.name.name, table, &key.columns, target, &key.referenced_columns)?;
            if key.validated {
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

// Validation.

async fn validate_constraint(work: Work<'_>, mut table: TableDescriptor, name: &str) -> PgResult<()> {
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

async fn validate_check(work: Work<'_>, table: &TableDescriptor, name: &str, text: &str) -> PgResult<()> {
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

async fn validate_foreign_key(work: Work<'_>, table: &TableDescriptor, key: &crate::catalog::ForeignKeyDescriptor) -> PgResult<()> {
    let catalog = work.catalog();
    let Some(target) = catalog.table(key.referenced_table) else { return Ok(()) };
    let qualified = |t: &TableDescriptor| format!("{}.{}", quote_name(&schema_name(work, t.schema)), quote_name(&t.name));
    let name_of = |t: &TableDescriptor, id: &ColumnId| t.column(*id).map_or_else(String::new, |c| c.name.clone());
    let own: Vec<String> = key.columns.iter().map(|id| name_of(table, id)).collect();
    let other: Vec<String> = key.referenced_columns.iter().map(|id| name_of(target, id)).collect();
    let pairs: Vec<String> = own.iter().zip(&other).map(|(a, b)| format!("stoa_p.{} = stoa_f.{}", quote_name(b), quote_name(a))).collect();
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
    let parsed = stoa_syntax::parse(&sql).map_err(crate::bind::syntax_error)?;
    let Some(statement) = parsed.into_iter().next().map(|p| p.statement) else { return Ok(()) };
    let path = work.path();
    let mut context = work.bind_context(&catalog, &path);
    context.text = &sql;
    let bound = crate::bind::bind_statement(&context, &statement)?;
    let mut stream = crate::plan::execute(&work.current(), &bound).await?.stream;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        let mut values = Vec::with_capacity(own.len());
        for (id, array) in key.columns.iter().zip(batch.columns()) {
            let ty = table.column(*id).map_or_else(|| SqlType::new(PgType::Text), |c| c.ty.clone());
            let value = ScalarValue::try_from_array(array, 0).map_err(crate::plan::from_datafusion)?;
            values.push(if value.is_null() { "null".to_owned() } else { stoa_pg::values::output_text(&work.ctx.eval, &ty, &value)? });
        }
        return Err(PgError::new(
            SqlState::FOREIGN_KEY_VIOLATION,
            format!("insert or update on table \"{}\" violates foreign key constraint \"{}\"", table.name, key.name.name),
        )
        .detail(format!("Key ({})=({}) is not present in table \"{}\".", own.join(", "), values.join(", "), target.name))
        .schema(schema_name(work, table.schema))
        .table(table.name.clone())
        .constraint(key.name.name.clone()));
    }
    Ok(())
}
