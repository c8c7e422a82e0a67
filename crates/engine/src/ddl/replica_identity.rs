//! `ALTER TABLE … REPLICA IDENTITY`: checked and kept as PostgreSQL does.

use super::work::Work;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_syntax::ddl::ReplicaIdentity as Said;
use stoa_table::catalog::{ColumnDescriptor, IndexDescriptor, IndexKey, Oid, Relation, ReplicaIdentity, TableDescriptor};

/// Keeps what was said; `view`: the materialized view whose rows the table holds.
///
/// # Errors
/// 42704, 42809 and 0A000 for an index that cannot be it.
pub(super) fn change(work: Work<'_>, mut table: TableDescriptor, view: Option<&str>, said: &Said) -> PgResult<()> {
    table.replica_identity = match said {
        Said::Default => ReplicaIdentity::Default,
        Said::Nothing => ReplicaIdentity::Nothing,
        Said::Full => ReplicaIdentity::Full,
        Said::Index(name) => ReplicaIdentity::Index(index_of(work, &table, view.unwrap_or(&table.name), &fold(name))?),
    };
    work.put(Relation::Table(table))
}

/// The index of a name, or the primary key's constraint.
fn index_of(work: Work<'_>, table: &TableDescriptor, shown: &str, name: &str) -> PgResult<Oid> {
    let catalog = work.catalog();
    let wrong = |message: String| PgError::new(SqlState::WRONG_OBJECT_TYPE, message);
    let key = table.primary_key.as_ref().filter(|key| key.name == name);
    if let Some(key) = key {
        return match key.deferrable {
            true => Err(PgError::unsupported(format!("cannot use non-immediate index \"{name}\" as replica identity"))),
            false => Ok(key.oid),
        };
    }
    let Some(index) = table.indexes.iter().find(|index| index.name == name) else {
        let other = catalog.index_by_name(table.schema, name).is_some() || catalog.primary_key_named(table.schema, name).is_some();
        return Err(match catalog.relation_by_name(table.schema, name) {
            _ if other => wrong(format!("\"{name}\" is not an index for table \"{shown}\"")),
            Some(_) => wrong(format!("\"{name}\" is not an index")),
            None => PgError::new(SqlState::UNDEFINED_OBJECT, format!("index \"{name}\" for table \"{shown}\" does not exist")),
        });
    };
    if !index.unique {
        return Err(wrong(format!("cannot use non-unique index \"{name}\" as replica identity")));
    }
    let kind = if index.constraint.as_ref().is_some_and(|constraint| constraint.deferrable) {
        Some("non-immediate")
    } else if index.parts.iter().any(|part| matches!(part.key, IndexKey::Expr(_))) {
        Some("expression")
    } else {
        index.predicate.is_some().then_some("partial")
    };
    if let Some(kind) = kind {
        return Err(PgError::unsupported(format!("cannot use {kind} index \"{name}\" as replica identity")));
    }
    match key_columns(table, index).find(|column| !column.not_null && !table.is_primary(column.id)) {
        Some(column) => {
            Err(wrong(format!("index \"{name}\" cannot be used as replica identity because column \"{}\" is nullable", column.name)))
        }
        None => Ok(index.oid),
    }
}

fn key_columns<'t>(table: &'t TableDescriptor, index: &'t IndexDescriptor) -> impl Iterator<Item = &'t ColumnDescriptor> {
    index.parts.iter().filter_map(|part| match &part.key {
        IndexKey::Column(id) => table.column(*id),
        IndexKey::Expr(_) => None,
    })
}

/// Before a column may be NULL.
///
/// # Errors
/// 42P16 for one of the replica identity.
pub(super) fn check_nullable(table: &TableDescriptor, column: &ColumnDescriptor) -> PgResult<()> {
    let identity = table.indexes.iter().find(|index| table.is_replica_identity(index.oid));
    if identity.is_some_and(|index| key_columns(table, index).any(|of_key| of_key.id == column.id)) {
        let message = format!("column \"{}\" is in index used as replica identity", column.name);
        return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message));
    }
    Ok(())
}
