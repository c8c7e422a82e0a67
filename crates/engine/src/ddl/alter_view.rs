//! ALTER VIEW, and the views that follow what else is altered.

use super::alter::{duplicate_column, refused, rename, set_schema};
use super::alter_column::rename_column;
use super::builder::default_text;
use super::work::Work;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_syntax::ddl::AlterAction;
use stoa_table::catalog::{Dependency, PolicyDescriptor, Relation, RightsOf, ViewDescriptor};
use stoa_table::txn::TableLockMode;

pub(super) fn alter_view(work: Work<'_>, mut view: ViewDescriptor, action: &AlterAction) -> PgResult<()> {
    match action {
        AlterAction::Rename(new) => rename(work, view.oid, &fold(new)),
        AlterAction::SetSchema(schema) => set_schema(work, view.oid, &fold(schema)),
        AlterAction::OwnerTo(role) => super::owner::change(work, RightsOf::Relation(view.oid), role),
        AlterAction::RenameColumn { old, new } => {
            let (old, new) = (fold(old), fold(new));
            let taken = view.columns.iter().any(|c| c.name == new);
            let Some(column) = view.columns.iter_mut().find(|c| c.name == old) else {
                return Err(PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{old}\" does not exist")));
            };
            if taken {
                return Err(duplicate_column(&new, &view.name));
            }
            column.name.clone_from(&new);
            let rows = view.materialized.and_then(|rows| work.catalog().table(rows).cloned());
            work.put(Relation::View(view))?;
            // The rows of a materialized view are found by the same names.
            rows.map_or(Ok(()), |rows| rename_column(work, rows, &old, &new))
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
        AlterAction::ReplicaIdentity(said) if let Some(rows) = view.materialized.and_then(|rows| work.catalog().table(rows).cloned()) => {
            super::replica_identity::change(work, rows, Some(&view.name), said)
        }
        AlterAction::Unsupported(words) => Err(PgError::unsupported(format!("ALTER VIEW {words} is not supported"))),
        other => Err(refused(other, &view.name, if view.materialized.is_some() { "materialized views" } else { "views" })),
    }
}

fn view_column<'v>(view: &'v mut ViewDescriptor, name: &str) -> PgResult<&'v mut stoa_table::catalog::ViewColumn> {
    let missing = || PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" of relation \"{}\" does not exist", view.name));
    let error = missing();
    view.columns.iter_mut().find(|c| c.name == name).ok_or(error)
}

/// Where actions change names of a relation: locks the views, and the tables with policies, that read it and are kept with its names.
///
/// # Errors
/// As [`Work::lock`].
pub(super) async fn lock_readers(work: Work<'_>, relation: &Relation, actions: &[AlterAction]) -> PgResult<()> {
    let named =
        |action: &AlterAction| matches!(action, AlterAction::Rename(_) | AlterAction::SetSchema(_) | AlterAction::DropColumn { .. });
    if !actions.iter().any(named) {
        return Ok(());
    }
    let catalog = work.catalog();
    let of_it = |used: &[Dependency]| used.iter().any(|used| used.relation == relation.oid());
    let reads = |other: &Relation| match other {
        Relation::View(view) => of_it(&view.depends_on),
        Relation::Table(table) => {
            let mut conditions = table.row_security.policies.iter().flat_map(PolicyDescriptor::conditions);
            table.oid != relation.oid() && conditions.any(|condition| of_it(&condition.depends_on))
        }
        Relation::Sequence(_) => false,
    };
    let mut readers: Vec<&Arc<Relation>> = catalog.relations().filter(|other| reads(other)).collect();
    readers.sort_by_key(|reader| reader.oid());
    for reader in readers {
        work.lock(reader, TableLockMode::ShareUpdateExclusive).await?;
    }
    Ok(())
}
