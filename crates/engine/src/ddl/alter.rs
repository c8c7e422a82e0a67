//! ALTER TABLE, and ALTER of sequences and schemas.
//!
//! Invariant: each action leaves a table that is whole: rows that do not satisfy it make the action fail, rows whose bytes change
//! are written anew in another place.

use super::alter_column::{NewValue, TypeChange, add_column, check_references, drop_column, new_value, rename_column, set_types};
use super::alter_constraint::{missing_constraint, rename_constraint, validate_check, validate_constraint, validate_foreign_key};
use super::alter_family::{add_family, drop_family, families_follow, missing_family};
use super::alter_index::alter_index;
use super::alter_view::{alter_view, lock_readers};
use super::builder::{TableBuilder, default_text};
use super::dependency::{Dropping, Object, constraint_oid};
use super::index::finish;
use super::passes::{Pass, in_passes, pass};
use super::rows::{contains_nulls, rewrite};
use super::split::alter_splits;
use super::storage_parameters::{self, Of};
use super::work::{Work, undefined_relation, undefined_schema};
use datafusion::common::ScalarValue;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::fold;
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::catalog::names::has_constraint;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind};
use stoa_syntax::ast::ObjectName;
use stoa_syntax::ddl::{AlterAction, ConstraintKind, KeyColumns, ObjectKind, StorageOption};
use stoa_table::catalog::{ColumnDescriptor, ColumnId, Oid, Relation, RightsOf, SchemaDescriptor, SequenceDescriptor, TableDescriptor};
use stoa_table::txn::TableLockMode;

/// How strongly an action locks its table: those that change nothing for who reads it leave readers alone.
fn lock_of(action: &AlterAction) -> TableLockMode {
    match action {
        AlterAction::ValidateConstraint { .. } => TableLockMode::ShareUpdateExclusive,
        AlterAction::AddConstraint(constraint) if matches!(constraint.kind, ConstraintKind::ForeignKey { .. }) => {
            TableLockMode::ShareRowExclusive
        }
        _ => TableLockMode::AccessExclusive,
    }
}

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
        ObjectKind::ForeignTable => "ALTER FOREIGN TABLE",
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
        if !matches!(kind, ObjectKind::Index | ObjectKind::Table | ObjectKind::ForeignTable) {
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
            let mode = actions.iter().map(lock_of).max().unwrap_or(TableLockMode::AccessExclusive);
            work.lock(&relation, mode).await?;
            lock_readers(work, &relation, actions).await?;
            work.check_unused(table, "ALTER TABLE")?;
            let steps = in_passes(table, actions);
            // Keys that refer are looked at when all types are changed: both sides may change in one statement.
            let typed: Vec<ColumnId> = actions
                .iter()
                .filter_map(|action| match action {
                    AlterAction::SetType { column, .. } => table.column_by_name(&fold(column)).map(|c| c.id),
                    _ => None,
                })
                .collect();
            let mut changes = Vec::with_capacity(typed.len());
            for action in &steps {
                changes.extend(TypeChange::of(action)?);
            }
            let mut unchecked = !typed.is_empty();
            for action in &steps {
                if matches!(action, AlterAction::SetType { .. }) && changes.is_empty() {
                    continue;
                }
                work.refresh().await?;
                if unchecked && pass(action) > Pass::Type {
                    unchecked = false;
                    check_references(work, table.oid, &typed).await?;
                }
                let current = work.catalog().table(table.oid).cloned().ok_or_else(|| undefined_relation(&table.name))?;
                match action {
                    // All of them at once.
                    AlterAction::SetType { .. } if current.is_raw() => super::raw::check_action(&current, action)?,
                    AlterAction::SetType { .. } => set_types(work, table, current, &std::mem::take(&mut changes)).await?,
                    action => alter_table(work, current, action).await?,
                }
            }
            if unchecked {
                work.refresh().await?;
                check_references(work, table.oid, &typed).await?;
            }
        }
        Relation::View(view) => {
            work.lock(&relation, stoa_table::txn::TableLockMode::AccessExclusive).await?;
            lock_readers(work, &relation, actions).await?;
            for action in actions {
                let current = match work.catalog().relation(view.oid).map(|r| (**r).clone()) {
                    Some(Relation::View(view)) => view,
                    _ => return Err(undefined_relation(&view.name)),
                };
                alter_view(work, current, action)?;
            }
        }
        Relation::Sequence(sequence) => {
            work.lock(&relation, stoa_table::txn::TableLockMode::AccessExclusive).await?;
            lock_readers(work, &relation, actions).await?;
            actions.iter().try_for_each(|action| alter_sequence(work, sequence, action))?;
        }
    }
    Ok(tag.into())
}

fn alter_sequence(work: Work<'_>, sequence: &SequenceDescriptor, action: &AlterAction) -> PgResult<()> {
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
        AlterAction::OwnerTo(role) => super::owner::change(work, RightsOf::Relation(sequence.oid), role)?,
        _ => return Err(refused(action, &sequence.name, "sequences")),
    }
    Ok(())
}

fn check_kind(kind: ObjectKind, relation: &Relation) -> PgResult<()> {
    let wrong = |what: &str| Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not {what}", relation.name())));
    match (kind, relation) {
        (ObjectKind::Table, _) => Ok(()),
        (ObjectKind::ForeignTable, Relation::Table(t)) if t.mapping.is_some() => Ok(()),
        (ObjectKind::ForeignTable, _) => wrong("a foreign table"),
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
pub(super) fn refused(action: &AlterAction, relation: &str, kind: &str) -> PgError {
    let words = match action {
        AlterAction::Unsupported(words) => return PgError::unsupported(format!("ALTER TABLE {words} is not supported")),
        AlterAction::AddColumn { .. } | AlterAction::PromoteColumn(_) => "ADD COLUMN",
        AlterAction::DropColumn { .. } => "DROP COLUMN",
        AlterAction::SetDefault { .. } | AlterAction::DropDefault { .. } => "ALTER COLUMN ... SET DEFAULT",
        AlterAction::SetNotNull { .. } => "ALTER COLUMN ... SET NOT NULL",
        AlterAction::DropNotNull { .. } => "ALTER COLUMN ... DROP NOT NULL",
        AlterAction::SetType { .. } => "ALTER COLUMN ... SET DATA TYPE",
        AlterAction::AddIdentity { .. } => "ALTER COLUMN ... ADD IDENTITY",
        AlterAction::AlterIdentity { .. } => "ALTER COLUMN ... SET",
        AlterAction::DropIdentity { .. } => "ALTER COLUMN ... DROP IDENTITY",
        AlterAction::DropExpression { .. } => "ALTER COLUMN ... DROP EXPRESSION",
        AlterAction::ColumnOptions { set, .. } => {
            if *set {
                "ALTER COLUMN ... SET"
            } else {
                "ALTER COLUMN ... RESET"
            }
        }
        AlterAction::ColumnStorage { what, .. } => return refused_words(&format!("ALTER COLUMN ... SET {what}"), relation, kind),
        AlterAction::RowSecurity(change) => change.words(),
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
        AlterAction::Split(_) => "SPLIT",
        AlterAction::Unsplit(_) => "UNSPLIT",
        AlterAction::Salt(_) => "SALT",
        AlterAction::RestoreTo(_) => "RESTORE TO",
        AlterAction::RestoreFrom(_) => "RESTORE FROM",
        AlterAction::Expires(_) => "TTL",
        AlterAction::TimestampFrom(_) => "TIMESTAMP",
        AlterAction::ReplicaIdentity(_) => "REPLICA IDENTITY",
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

// Names.

pub(super) fn schema_name(work: Work<'_>, oid: Oid) -> String {
    work.catalog().schema(oid).map_or_else(String::new, |s| s.name.clone())
}

pub(super) fn renamed(relation: &Relation, name: &str, schema: Oid) -> Relation {
    let mut out = relation.clone();
    match &mut out {
        Relation::Table(t) => (t.name, t.schema) = (name.to_owned(), schema),
        Relation::View(v) => (v.name, v.schema) = (name.to_owned(), schema),
        Relation::Sequence(s) => (s.name, s.schema) = (name.to_owned(), schema),
    }
    out
}

pub(super) fn rename(work: Work<'_>, oid: Oid, name: &str) -> PgResult<()> {
    let Some(relation) = work.catalog().relation(oid).cloned() else { return Ok(()) };
    work.check_free(relation.schema(), name)?;
    work.put(renamed(&relation, name, relation.schema()))?;
    let schema = schema_name(work, relation.schema());
    super::view::relation_renamed(work, oid, (&schema, relation.name()), (&schema, name))?;
    super::map::renamed(work, oid, None)
}

pub(super) fn set_schema(work: Work<'_>, oid: Oid, schema: &str) -> PgResult<()> {
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
    for entries in super::map::entries_of(&catalog, oid, None) {
        set_schema(work, entries, schema)?;
    }
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
            AlterAction::OwnerTo(role) => super::owner::change(work, RightsOf::Schema(schema.oid), role)?,
            other => return Err(refused(other, &name, "schemas")),
        }
    }
    Ok(())
}

pub(super) fn set_options(kept: &mut Vec<(String, String)>, options: &[stoa_syntax::ddl::StorageOption], set: bool) {
    for option in options {
        kept.retain(|(name, _)| *name != option.name);
        if set {
            kept.push((option.name.clone(), option.value.clone().unwrap_or_else(|| "true".into())));
        }
    }
}

pub(super) fn duplicate_column(column: &str, relation: &str) -> PgError {
    PgError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{column}\" of relation \"{relation}\" already exists"))
}

// Tables.

pub(super) fn column<'t>(table: &'t TableDescriptor, name: &str) -> PgResult<&'t ColumnDescriptor> {
    table
        .column_by_name(name)
        .ok_or_else(|| PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" of relation \"{}\" does not exist", table.name)))
}

pub(super) async fn alter_table(work: Work<'_>, table: TableDescriptor, action: &AlterAction) -> PgResult<()> {
    if table.is_raw() {
        super::raw::check_action(&table, action)?;
        if let AlterAction::SetOptions(options) = action {
            return super::raw::set_enabled(work, table, options);
        }
    }
    super::map::check_action(work, &table, action)?;
    match action {
        AlterAction::AddColumn { column, if_not_exists } => {
            let notice = super::dynamic::notice_of_new(&table, column);
            add_column(work, table, column, *if_not_exists).await?;
            if let Some(notice) = notice {
                work.ctx.session.notice("NOTICE", notice);
            }
            Ok(())
        }
        AlterAction::PromoteColumn(column) => super::dynamic::promote(work, table, column).await,
        AlterAction::DropColumn { name, if_exists, cascade } => drop_column(work, table, &fold(name), *if_exists, *cascade).await,
        AlterAction::SetDefault { .. }
        | AlterAction::DropDefault { .. }
        | AlterAction::SetNotNull { .. }
        | AlterAction::DropNotNull { .. } => alter_value(work, table, action).await,
        AlterAction::SetType { .. } => Err(PgError::internal("types are changed together")),
        AlterAction::AddIdentity { .. }
        | AlterAction::AlterIdentity { .. }
        | AlterAction::DropIdentity { .. }
        | AlterAction::DropExpression { .. } => alter_identity(work, table, action).await,
        AlterAction::ColumnOptions { column: name, options, set } => column_options(work, table, &fold(name), options, *set),
        AlterAction::ColumnStorage { column: name, what } => {
            column(&table, &fold(name))?;
            Err(PgError::unsupported(format!("ALTER COLUMN … SET {what} is not supported"))
                .hint("Column families have the options of storage."))
        }
        AlterAction::AddConstraint(_) | AlterAction::DropConstraint { .. } | AlterAction::AlterConstraint { .. } => {
            alter_constraint(work, table, action).await
        }
        AlterAction::ValidateConstraint { name } => validate_constraint(work, table, &fold(name)).await,
        AlterAction::RenameColumn { old, new } => rename_column(work, table, &fold(old), &fold(new)),
        AlterAction::RenameConstraint { old, new } => rename_constraint(work, table, &fold(old), &fold(new)),
        AlterAction::Rename(new) => rename(work, table.oid, &fold(new)),
        AlterAction::SetSchema(schema) => set_schema(work, table.oid, &fold(schema)),
        AlterAction::OwnerTo(role) => super::owner::change(work, RightsOf::Relation(table.oid), role),
        AlterAction::SetOptions(options) => alter_options(work, table, options, true).await,
        AlterAction::ResetOptions(options) => alter_options(work, table, options, false).await,
        AlterAction::AlterFamily { name, options } => alter_family(work, table, &fold(name), options).await,
        AlterAction::AddFamily { family, if_not_exists } => add_family(work, table, family, *if_not_exists).await,
        AlterAction::DropFamily { name, if_exists } => drop_family(work, table, &fold(name), *if_exists),
        AlterAction::Split(_) | AlterAction::Unsplit(_) | AlterAction::Salt(_) => alter_splits(work, table, action).await,
        AlterAction::RowSecurity(change) => super::policy::change(work, table, *change),
        AlterAction::RestoreTo(time) => super::restore::restore(work, &table, time).await,
        AlterAction::RestoreFrom(from) => super::raw::restore_from(work, table, from).await,
        AlterAction::Expires(expr) => super::expiry::alter(work, table, expr.as_ref()).await,
        AlterAction::TimestampFrom(column) => super::data_time::alter(work, table, column.as_ref()),
        AlterAction::ReplicaIdentity(said) => super::replica_identity::change(work, table, None, said),
        AlterAction::Unsupported(words) => unsupported(&table, words),
    }
}

/// The value that a column has by default, and whether it may be NULL.
async fn alter_value(work: Work<'_>, mut table: TableDescriptor, action: &AlterAction) -> PgResult<()> {
    match action {
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
            if !found.not_null && !found.is_map() && work.any_row(&table, Some(is_null)).await? {
                let schema = work.ctx.catalog.schema(table.schema).map(|s| s.name.clone()).unwrap_or_default();
                return Err(contains_nulls(&table, &found.name).schema(schema));
            }
            change_column(&mut table, found.id, |c| c.not_null = true);
            work.put(Relation::Table(table))
        }
        AlterAction::DropNotNull { column: name } => {
            let found = column(&table, &fold(name))?.clone();
            if found.identity.is_some() {
                return Err(PgError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("column \"{}\" of relation \"{}\" is an identity column", found.name, table.name),
                ));
            }
            if table.is_primary(found.id) {
                return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, format!("column \"{}\" is in a primary key", found.name)));
            }
            super::replica_identity::check_nullable(&table, &found)?;
            change_column(&mut table, found.id, |c| c.not_null = false);
            work.put(Relation::Table(table))
        }
        _ => Err(PgError::internal("another action of ALTER TABLE")),
    }
}

/// Where a column's values come from: a sequence of its own, or an expression.
async fn alter_identity(work: Work<'_>, mut table: TableDescriptor, action: &AlterAction) -> PgResult<()> {
    match action {
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
        _ => Err(PgError::internal("another action of ALTER TABLE")),
    }
}

/// Constraints.
async fn alter_constraint(work: Work<'_>, mut table: TableDescriptor, action: &AlterAction) -> PgResult<()> {
    match action {
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
            // Checks that wait may be those of the table that a foreign key refers to.
            if let Some(key) = table.foreign_keys.iter().find(|key| key.name.name == fold(name))
                && let Some(referenced) = work.catalog().table(key.referenced_table)
            {
                work.check_unused(referenced, "ALTER TABLE")?;
            }
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
        _ => Err(PgError::internal("another action of ALTER TABLE")),
    }
}

/// The rows of a table in cells of another kind, as its families have them now.
async fn lay_out(work: Work<'_>, old: &TableDescriptor, table: TableDescriptor) -> PgResult<()> {
    if table.is_raw() {
        return Err(PgError::unsupported("the layout of a raw table's family cannot be changed"));
    }
    super::map::families_follow(work, &table)?;
    let mut builder = TableBuilder::of(work, table);
    for column in &mut builder.table.columns {
        column.missing = None;
    }
    builder.name_cells()?;
    builder.move_storage().await?;
    let table = builder.table;
    write_anew(work, old, &table, &[]).await?;
    super::table::warn_outliving(work, &table);
    work.put(Relation::Table(table))
}

async fn alter_options(work: Work<'_>, table: TableDescriptor, options: &[StorageOption], set: bool) -> PgResult<()> {
    storage_parameters::check_once(options)?;
    let oid = table.oid;
    let others = super::dynamic::alter(work, table, options, set).await?;
    let options = others.as_slice();
    let Some(mut table) = work.catalog().table(oid).cloned() else { return Ok(()) };
    if let Some(unknown) = options.iter().find(|o| !storage_parameters::is_known(&o.name, Of::Table)) {
        let error = storage_parameters::unrecognized(&unknown.name);
        return Err(match unknown.name.as_str() {
            name if super::table::is_family_option(name) => {
                let family = table.families.first().map_or("f", |f| f.name.as_str());
                error.hint(format!(
                    "It is an option of column families: ALTER TABLE {} ALTER FAMILY {} WITH ({name} = …).",
                    quote_name(&table.name),
                    quote_name(family)
                ))
            }
            name if name.starts_with("salt_") => error.hint("Salt cannot be changed: copy the rows into a table that has it."),
            _ => error,
        });
    }
    if set {
        options.iter().try_for_each(|option| storage_parameters::check(option, Of::Table))?;
    } else {
        storage_parameters::check_reset(options)?;
    }
    set_options(&mut table.options, options, set);
    work.put(Relation::Table(table))
}

async fn alter_family(work: Work<'_>, mut table: TableDescriptor, name: &str, options: &[StorageOption]) -> PgResult<()> {
    let missing = missing_family(&table, name);
    let old = table.clone();
    let family = table.families.iter_mut().find(|f| f.name == name).ok_or(missing)?;
    let mut changed = family.clone();
    super::table::family_options(&mut changed, options)?;
    let other_cells = (changed.options.layout, changed.plain) != (family.options.layout, family.plain);
    *family = changed;
    if other_cells {
        return lay_out(work, &old, table).await;
    }
    if table.is_raw() {
        super::raw::follow(&mut table);
    }
    super::map::families_follow(work, &table)?;
    work.put(Relation::Table(table.clone()))?;
    super::table::warn_outliving(work, &table);
    families_follow(work, &table);
    Ok(())
}

/// How texts of a column are cut into words where no full text index says so.
fn column_options(work: Work<'_>, mut table: TableDescriptor, name: &str, options: &[StorageOption], set: bool) -> PgResult<()> {
    let id = column(&table, name)?.id;
    let known = stoa_fulltext::analyzer::OPTIONS;
    if let Some(other) = options.iter().find(|o| !known.contains(&o.name.as_str())) {
        return Err(PgError::unsupported(format!("option \"{}\" of columns is not supported", other.name))
            .hint(format!("Columns have options of words for MATCH: {}.", known.join(", "))));
    }
    if let Some(index) = stoa_sql::fulltext::settings::words_by(&table, id) {
        let message = format!("index \"{}\" says how column \"{name}\" is cut into words", index.name);
        let change = format!("ALTER INDEX {} SET (…) changes it.", quote_name(&index.name));
        return Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message).hint(change));
    }
    let mut words = column(&table, name)?.words.clone();
    set_options(&mut words, options, set);
    stoa_sql::fulltext::settings::Settings::read(&words)?;
    change_column(&mut table, id, |c| c.words = words);
    work.put(Relation::Table(table))
}

/// What tables do not have: an error, unless it is asked for what is so anyway.
pub(super) fn unsupported(table: &TableDescriptor, words: &str) -> PgResult<()> {
    let upper = words.to_uppercase();
    let so = [
        "SET LOGGED",
        "SET WITHOUT CLUSTER",
        "SET WITHOUT OIDS",
        "SET TABLESPACE PG_DEFAULT",
        "SET ACCESS METHOD HEAP",
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
        "ENABLE" | "DISABLE" | "FORCE" => error.hint("There are no triggers of users and no rules; triggers of foreign keys stay."),
        _ => error,
    })
}

fn no_identity(table: &TableDescriptor, column: &str) -> PgError {
    PgError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("column \"{column}\" of relation \"{}\" is not an identity column", table.name),
    )
}

pub(super) fn change_column(table: &mut TableDescriptor, id: ColumnId, change: impl FnOnce(&mut ColumnDescriptor)) {
    if let Some(column) = table.columns.iter_mut().find(|c| c.id == id) {
        change(column);
    }
}

fn put_with_sequences(work: Work<'_>, builder: TableBuilder<'_>) -> PgResult<()> {
    for sequence in builder.sequences {
        super::owner::put_sequence(work, sequence)?;
    }
    work.put(Relation::Table(builder.table))
}

/// Stores what a builder has made of a table: rows are written anew where the key changed or new columns need values of their own,
/// indexes are built, new constraints are checked.
pub(super) async fn apply(work: Work<'_>, old: &TableDescriptor, builder: TableBuilder<'_>) -> PgResult<()> {
    let mut builder = builder;
    let (checks, foreign_keys, new_indexes) =
        (std::mem::take(&mut builder.new_checks), std::mem::take(&mut builder.new_foreign_keys), std::mem::take(&mut builder.new_indexes));
    builder.complete();
    builder.name_cells()?;
    for sequence in std::mem::take(&mut builder.sequences) {
        super::owner::put_sequence(work, sequence)?;
    }
    if builder.table.key != old.key {
        super::map::follow_key(work, old, &builder.table).await?;
    }
    let entries = super::map::tables(work, &mut builder.table).await?;
    let defaulted = builder.table.map_columns().find(|c| old.column(c.id).is_none() && c.default.is_some());
    if let Some(column) = defaulted {
        return Err(PgError::unsupported(format!("column \"{}\" of maps cannot be added with a default", column.name))
            .hint("Add the column, then set its default, and UPDATE the rows that are there."));
    }
    let new: Vec<ColumnDescriptor> = builder.table.live_columns().filter(|c| old.column(c.id).is_none()).cloned().collect();
    let mut values: Vec<(ColumnId, Expr)> = Vec::new();
    let mut rewritten = builder.table.key != old.key || builder.table.salt != old.salt;
    // Cells of a column that was dropped are not those of one that is called so now.
    let gone: Vec<&str> = old.columns.iter().filter(|c| c.dropped).filter_map(|c| c.qualifier.as_deref()).collect();
    rewritten |= new.iter().any(|c| c.qualifier.as_deref().is_some_and(|qualifier| gone.contains(&qualifier)));
    let mut needs_rows = false;
    for column in &new {
        match new_value(work, &builder.table, column)? {
            NewValue::Null => needs_rows |= column.not_null,
            NewValue::Constant(text) => {
                let ends = builder.table.families.iter().skip(1).any(|f| f.may_have_ended() && f.columns.contains(&column.id));
                let value = stoa_pg::values::input_text(&EvalContext::default(), &column.ty, &text)?;
                // What an older table has no number for makes a newer one of it.
                let lacks = builder.table.epoch.to_stored(&value.to_array().map_err(stoa_sql::typed::from_datafusion)?).is_err();
                if ends || lacks || builder.table.is_plain(column.id) {
                    // What ends is NULL then, and not what rows before the column have; so is what is no cell for who reads plain values.
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
    super::map::store(work, entries).await?;
    work.refresh().await?;
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
pub(super) async fn write_anew(work: Work<'_>, old: &TableDescriptor, new: &TableDescriptor, values: &[(ColumnId, Expr)]) -> PgResult<()> {
    stoa_table::row::RowCodec::new(new)?;
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
                        None => ScalarValue::try_from(&column.ty.arrow).map_err(stoa_sql::typed::from_datafusion)?,
                    };
                    Expr::new(ExprKind::Const(null), column.ty.clone())
                }
            },
        };
        columns.push((column.id, expr));
    }
    rewrite(work, old, new, columns).await?;
    for storage in stoa_table::catalog::store::storage_of(&Relation::Table(old.clone())) {
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
    builder.name_cells()?;
    builder.move_storage().await?;
    let table = builder.table;
    write_anew(work, old, &table, &[]).await?;
    Ok(table)
}
