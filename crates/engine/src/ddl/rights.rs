//! May the current role define, change or remove what a statement names? Asked before anything is done.
//!
//! Every kind of statement has its line in [`check`]. What a statement names and is not there, it complains about itself; new owners, roles
//! and grants are checked where they are given.

use super::owner::{check_owns, described};
use super::work::{FoundIndex, Work};
use stoa_pg::{PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_sql::privileges::{check_schema, denied, denied_relation, not_owner, relation_class};
use stoa_syntax::ast::{Ident, ObjectName};
use stoa_syntax::ddl::{AlterAction, Column, CommentTarget, ConstraintKind, Ddl, ObjectKind, References, ReindexTarget, TableElement};
use stoa_syntax::policy::PolicyStatement;
use stoa_table::catalog::{ColumnId, ObjectClass, Oid, Privileges, Relation, RightsOf, TableDescriptor};

/// Whether the current role may run a definition.
///
/// # Errors
/// 42501.
pub(super) fn check(work: &Work<'_>, ddl: &Ddl) -> PgResult<()> {
    if work.is_superuser() {
        return Ok(());
    }
    match ddl {
        Ddl::CreateSchema { owner, .. } => {
            check_database(work, Privileges::CREATE)?;
            let Some(owner) = owner else { return Ok(()) };
            let owner = work.role(owner)?;
            if work.authority().is_member(work.ctx.role, owner.oid) {
                return Ok(());
            }
            Err(super::role::denied(format!("must be member of role \"{}\"", owner.name)))
        }
        Ddl::CreateTable(create) => {
            check_place(work, &create.name, create.temporary)?;
            create.elements.iter().try_for_each(|element| check_element(work, element))
        }
        Ddl::CreateTableAs(create) => check_place(work, &create.name, create.temporary),
        Ddl::CreateView(create) => {
            check_place(work, &create.name, create.temporary)?;
            if create.or_replace { owned_relation(work, &create.name) } else { Ok(()) }
        }
        Ddl::CreateIndex(create) => {
            owned_relation(work, &create.table)?;
            match work.find(&create.table)? {
                Some(table) => check_schema(&work.catalog(), work.ctx.role, table.schema(), Privileges::CREATE),
                None => Ok(()),
            }
        }
        Ddl::CreateSequence(create) => check_place(work, &create.name, create.temporary),
        Ddl::Alter { kind, name, actions, .. } => check_alter(work, *kind, name, actions),
        Ddl::AlterSequence { name, .. } => owned_relation(work, name),
        Ddl::Drop { kind, names, .. } => names.iter().try_for_each(|name| check_drop(work, *kind, name)),
        Ddl::DropFullText { table, .. } => owned_relation(work, table),
        Ddl::Truncate { names, .. } => names.iter().try_for_each(|name| on_relation(work, name, Privileges::TRUNCATE)),
        Ddl::Comment { target, .. } => match target {
            CommentTarget::Object(ObjectKind::Schema, name) => owned_schema(work, &work.split(name)?.1),
            CommentTarget::Object(ObjectKind::Index, name) => owned_index(work, name),
            CommentTarget::Object(_, name) => owned_relation(work, name),
            CommentTarget::Column(name) => {
                let mut parts = name.0.clone();
                parts.pop();
                if parts.is_empty() { Ok(()) } else { owned_relation(work, &ObjectName(parts)) }
            }
            CommentTarget::Constraint { table, .. } | CommentTarget::Policy { table, .. } => owned_relation(work, table),
            // Checked where the object is known.
            CommentTarget::LargeObject(_) | CommentTarget::Other(_) => Ok(()),
        },
        Ddl::Reindex { target, .. } => match target {
            ReindexTarget::Index(name) => owned_index(work, name),
            ReindexTarget::Table(name) => owned_relation(work, name),
            ReindexTarget::Schema(name) => owned_schema(work, &fold(name)),
            ReindexTarget::Database(_) | ReindexTarget::System(_) => check_owns(work, work.this_database()),
        },
        Ddl::Refresh { name, .. } => owned_relation(work, name),
        Ddl::Policy(PolicyStatement::Drop { table, .. }) => owned_relation(work, table).map_err(|error| match work.split(table) {
            // In PostgreSQL's words: it is the policy that is found first.
            Ok((_, name)) if error.message().starts_with("must be owner") => not_owner("relation", &name),
            _ => error,
        }),
        Ddl::Policy(statement) => owned_relation(work, statement.table()),
        // Checked where the role, the database, the grantee, the table or the new owner is known.
        Ddl::Undrop { .. } | Ddl::AlterLargeObject { .. } | Ddl::Role(_) | Ddl::Database(_) | Ddl::Grant(_) | Ddl::DefaultPrivileges(_) => {
            Ok(())
        }
        // There are none, or nobody may.
        Ddl::DropUnknown { .. } | Ddl::Unsupported(_) => Ok(()),
    }
}

fn check_database(work: &Work<'_>, wanted: Privileges) -> PgResult<()> {
    if work.authority().may(work.ctx.role, ObjectClass::Database, work.this_database(), wanted) {
        return Ok(());
    }
    let name = &work.ctx.session.database;
    if wanted == Privileges::TEMPORARY {
        return Err(super::role::denied(format!("permission denied to create temporary tables in database \"{name}\"")));
    }
    Err(denied("database", name))
}

/// Whether the role may make something where a name says.
pub(super) fn check_place(work: &Work<'_>, name: &ObjectName, temporary: bool) -> PgResult<()> {
    let (schema, _) = work.split(name)?;
    let catalog = work.catalog();
    let oid = match schema {
        Some(schema) if schema == "pg_temp" => None,
        Some(schema) => match catalog.schema_by_name(&schema) {
            Some(found) if found.temporary.is_some() => None,
            Some(found) => Some(found.oid),
            None => return Ok(()),
        },
        None if temporary => None,
        None => match work.creation_schema() {
            Ok(oid) => Some(oid),
            Err(_) => return Ok(()),
        },
    };
    match oid {
        // The system's schemas are refused in words of their own.
        Some(stoa_table::catalog::PG_CATALOG_OID | stoa_table::catalog::INFORMATION_SCHEMA_OID) => Ok(()),
        Some(oid) => check_schema(&catalog, work.ctx.role, oid, Privileges::CREATE),
        None => check_database(work, Privileges::TEMPORARY),
    }
}

fn owned_relation(work: &Work<'_>, name: &ObjectName) -> PgResult<()> {
    match work.find(name)? {
        Some(relation) => check_owns(work, RightsOf::Relation(relation.oid())),
        None => Ok(()),
    }
}

fn owned_schema(work: &Work<'_>, name: &str) -> PgResult<()> {
    match work.catalog().schema_by_name(name) {
        Some(schema) => check_owns(work, RightsOf::Schema(schema.oid)),
        None => Ok(()),
    }
}

/// An index is its table's owner's.
fn owned_index(work: &Work<'_>, name: &ObjectName) -> PgResult<()> {
    let Some((table, found)) = work.find_index(name)? else { return Ok(()) };
    let catalog = work.catalog();
    let owner = catalog.view_of_rows(table).map_or(table, |view| view.oid);
    if work.authority().owns(work.ctx.role, RightsOf::Relation(owner)) {
        return Ok(());
    }
    let index = match found {
        FoundIndex::Index(oid) => catalog.index(oid).map(|(_, index)| index.name.clone()),
        FoundIndex::PrimaryKey => catalog.table(table).and_then(|t| t.primary_key.as_ref()).map(|key| key.name.clone()),
    };
    Err(not_owner("index", &index.unwrap_or_default()))
}

fn on_relation(work: &Work<'_>, name: &ObjectName, wanted: Privileges) -> PgResult<()> {
    match work.find(name)? {
        Some(relation) => on_oid(work, relation.oid(), wanted),
        None => Ok(()),
    }
}

/// Whether the role has a privilege on a whole relation.
pub(super) fn on_oid(work: &Work<'_>, oid: Oid, wanted: Privileges) -> PgResult<()> {
    let catalog = work.catalog();
    if work.authority().may(work.ctx.role, relation_class(&catalog, oid), RightsOf::Relation(oid), wanted) {
        return Ok(());
    }
    Err(denied_relation(&catalog, oid))
}

fn check_drop(work: &Work<'_>, kind: ObjectKind, name: &ObjectName) -> PgResult<()> {
    let of_kind = |relation: &Relation| match relation {
        Relation::Table(_) => matches!(kind, ObjectKind::Table | ObjectKind::ForeignTable),
        Relation::View(view) => kind == if view.materialized.is_some() { ObjectKind::MaterializedView } else { ObjectKind::View },
        Relation::Sequence(_) => kind == ObjectKind::Sequence,
    };
    match kind {
        ObjectKind::Schema => owned_schema(work, &work.split(name)?.1),
        ObjectKind::Index => {
            let schema = work.find_index(name)?.and_then(|(table, _)| work.catalog().table(table).map(|t| t.schema));
            let owns_schema = schema.is_some_and(|schema| work.authority().owns(work.ctx.role, RightsOf::Schema(schema)));
            if owns_schema { Ok(()) } else { owned_index(work, name) }
        }
        ObjectKind::Table | ObjectKind::ForeignTable | ObjectKind::View | ObjectKind::MaterializedView | ObjectKind::Sequence => {
            match work.find(name)? {
                // Whoever owns the schema may clear it.
                Some(found) if of_kind(&found) && !work.authority().owns(work.ctx.role, RightsOf::Schema(found.schema())) => {
                    check_owns(work, RightsOf::Relation(found.oid()))
                }
                _ => Ok(()),
            }
        }
    }
}

fn check_alter(work: &Work<'_>, kind: ObjectKind, name: &ObjectName, actions: &[AlterAction]) -> PgResult<()> {
    if kind == ObjectKind::Schema {
        let name = work.split(name)?.1;
        owned_schema(work, &name)?;
        let renames = actions.iter().any(|action| matches!(action, AlterAction::Rename(_)));
        return if renames { check_database(work, Privileges::CREATE) } else { Ok(()) };
    }
    let Some(relation) = work.find(name)? else { return owned_index(work, name) };
    check_owns(work, RightsOf::Relation(relation.oid()))?;
    let table = match &*relation {
        Relation::Table(table) => Some(table),
        _ => None,
    };
    for action in actions {
        match action {
            AlterAction::Rename(_) => check_schema(&work.catalog(), work.ctx.role, relation.schema(), Privileges::CREATE)?,
            AlterAction::SetSchema(schema) => {
                if let Some(schema) = work.catalog().schema_by_name(&fold(schema)) {
                    check_schema(&work.catalog(), work.ctx.role, schema.oid, Privileges::CREATE)?;
                }
            }
            AlterAction::AddColumn { column, .. } | AlterAction::PromoteColumn(column) => check_column(work, column)?,
            AlterAction::AddConstraint(constraint) => {
                if let ConstraintKind::ForeignKey { references, .. } = &constraint.kind {
                    check_references(work, references, table)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

// What refers to other tables.

fn check_element(work: &Work<'_>, element: &TableElement) -> PgResult<()> {
    match element {
        TableElement::Column(column) => check_column(work, column),
        TableElement::Constraint(constraint) => match &constraint.kind {
            ConstraintKind::ForeignKey { references, .. } => check_references(work, references, None),
            _ => Ok(()),
        },
        TableElement::Like { name, .. } => on_relation(work, name, Privileges::SELECT),
        TableElement::Family(_) => Ok(()),
    }
}

fn check_column(work: &Work<'_>, column: &Column) -> PgResult<()> {
    for constraint in &column.constraints {
        if let ConstraintKind::ForeignKey { references, .. } = &constraint.kind {
            check_references(work, references, None)?;
        }
    }
    Ok(())
}

/// REFERENCES on a table, or on each of the columns that are referred to.
fn check_references(work: &Work<'_>, references: &References, own: Option<&TableDescriptor>) -> PgResult<()> {
    let found = match work.find(&references.table)? {
        Some(found) if own.is_none_or(|own| own.oid != found.oid()) => found,
        _ => return Ok(()),
    };
    let Relation::Table(table) = &*found else { return Ok(()) };
    if on_oid(work, table.oid, Privileges::REFERENCES).is_ok() {
        return Ok(());
    }
    let named = |name: &Ident| table.column_by_name(&fold(name)).map(|c| c.id);
    let columns: Vec<ColumnId> = if references.columns.is_empty() {
        table.key.iter().map(|part| part.column).collect()
    } else {
        references.columns.iter().filter_map(named).collect()
    };
    let authority = work.authority();
    let may = |column: &ColumnId| {
        authority
            .column_privileges(work.ctx.role, table.oid, *column, Privileges::REFERENCES, Privileges::NONE)
            .0
            .has(Privileges::REFERENCES)
    };
    if !columns.is_empty() && columns.iter().all(may) { Ok(()) } else { Err(denied_relation(&work.catalog(), table.oid)) }
}

/// LOCK TABLE: the strongest modes need a right to change rows.
///
/// # Errors
/// 42501.
pub(super) fn check_lock(work: &Work<'_>, oid: Oid, mode: stoa_table::txn::TableLockMode, role: Oid) -> PgResult<()> {
    use stoa_table::txn::TableLockMode as M;
    let change = Privileges::UPDATE.or(Privileges::DELETE).or(Privileges::TRUNCATE);
    let any = match mode {
        M::AccessShare => Privileges::SELECT,
        M::RowExclusive => change.or(Privileges::INSERT),
        _ => change,
    };
    let (some, _) = work.authority().privileges(role, ObjectClass::Table, RightsOf::Relation(oid), any, Privileges::NONE);
    if some.is_empty() { Err(denied_relation(&work.catalog(), oid)) } else { Ok(()) }
}

/// Whether the role may VACUUM or ANALYZE a table: its owner, and the owner of the database. Others' are skipped with a warning.
pub(super) fn may_maintain(work: &Work<'_>, table: Oid, doing: &str) -> bool {
    let catalog = work.catalog();
    let relation = catalog.view_of_rows(table).map_or(table, |view| view.oid);
    let authority = work.authority();
    if authority.owns(work.ctx.role, RightsOf::Relation(relation)) || authority.owns(work.ctx.role, work.this_database()) {
        return true;
    }
    let (_, name) = described(&catalog, RightsOf::Relation(relation));
    work.ctx.session.warning(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied to {doing} \"{name}\", skipping it"));
    false
}
