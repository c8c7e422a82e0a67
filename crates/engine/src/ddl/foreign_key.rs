//! Foreign keys of a table under construction: what they refer to, and whether they may.

use super::builder::TableBuilder;
use super::work::{Work, folded, undefined_relation};
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast::Ident;
use stoa_syntax::ddl::{Constraint, ReferenceAction, References};
use stoa_table::catalog::{
    ColumnId, ForeignKeyAction, ForeignKeyDescriptor, IndexDescriptor, IndexKey, IndexState, Oid, Relation, TableDescriptor,
};

impl TableBuilder<'_> {
    /// Adds a reference of the one column `on`, or of the columns by name.
    ///
    /// # Errors
    /// 42P01, 42703, 42830 and the like: the key that is referred to is not there, or its columns do not fit.
    pub(super) async fn add_foreign_key(
        &mut self,
        constraint: &Constraint,
        (on, columns): (Option<ColumnId>, &[Ident]),
        references: &References,
    ) -> PgResult<()> {
        let own_name = self.work.split(&references.table)?;
        let mut found = self.work.find(&references.table)?;
        if let Some(target) = found.as_deref().filter(|target| target.oid() != self.table.oid) {
            // Nobody may drop it, or its keys, before the reference is there.
            self.work.lock(target, stoa_table::txn::TableLockMode::ShareRowExclusive).await?;
            self.work.refresh().await?;
            found = self.work.find(&references.table)?;
        }
        // A table under construction may refer to itself.
        let target: TableDescriptor = match found.as_deref() {
            Some(Relation::Table(table)) if table.oid == self.table.oid => self.table.clone(),
            None if own_name.1 == self.table.name => self.table.clone(),
            Some(Relation::Table(table)) => table.clone(),
            Some(other) => {
                return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("referenced relation \"{}\" is not a table", other.name())));
            }
            None => return Err(undefined_relation(&Work::shown(&references.table)).at(self.work.position(&references.table))),
        };
        super::expiry::refuse_reference(&target)?;
        if target.temporary != self.table.temporary {
            return Err(PgError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                if self.table.temporary {
                    "constraints on temporary tables may reference only temporary tables"
                } else {
                    "constraints on permanent tables may reference only permanent tables"
                },
            ));
        }
        let columns = match on {
            Some(id) => vec![id],
            None => self.columns_named(&folded(columns), "referenced in foreign key constraint")?,
        };
        let referenced = referenced_columns(&target, references)?;
        if referenced.len() != columns.len() {
            return Err(PgError::new(
                SqlState::INVALID_FOREIGN_KEY,
                "number of referencing and referenced columns for foreign key disagree",
            ));
        }
        let mut on_delete_columns: Vec<ColumnId> = Vec::new();
        for name in folded(&references.on_delete_columns) {
            let Some(column) = self.table.column_by_name(&name) else {
                let message = format!("column \"{name}\" referenced in foreign key constraint does not exist");
                return Err(PgError::new(SqlState::UNDEFINED_COLUMN, message));
            };
            if !columns.contains(&column.id) {
                let message = format!("column \"{name}\" referenced in ON DELETE SET action must be part of foreign key");
                return Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
            }
            if !on_delete_columns.contains(&column.id) {
                on_delete_columns.push(column.id);
            }
        }
        if unique_over(&target, &referenced).is_none() {
            if target.indexes.iter().any(|i| i.is_deferrable() && is_over(i, &referenced)) {
                return Err(not_deferred(&target, "unique constraint"));
            }
            return Err(PgError::new(
                SqlState::INVALID_FOREIGN_KEY,
                format!("there is no unique constraint matching given keys for referenced table \"{}\"", target.name),
            ));
        }
        let names: Vec<String> = columns.iter().map(|id| self.column_name(*id)).collect();
        let name = self.constraint_name(constraint.name.as_ref(), Some(&names.join("_")), "fkey")?;
        check_comparable(&name, &self.table, &columns, &target, &referenced)?;
        let (on_update, on_delete) = (action(references.on_update), action(references.on_delete));
        let keeps = |action: &ForeignKeyAction| matches!(action, ForeignKeyAction::NoAction | ForeignKeyAction::Restrict);
        if columns.iter().any(|id| self.table.column(*id).is_some_and(|c| c.generated.is_some())) {
            let wrong = match (keeps(&on_update), &on_delete) {
                (false, _) => Some("UPDATE"),
                (true, ForeignKeyAction::SetNull | ForeignKeyAction::SetDefault) => Some("DELETE"),
                _ => None,
            };
            if let Some(when) = wrong {
                let message = format!("invalid ON {when} action for foreign key constraint containing generated column");
                return Err(PgError::new(SqlState::SYNTAX_ERROR, message));
            }
        }
        let name = self.name_of(constraint, name).await?;
        self.new_foreign_keys.push(name.oid);
        self.table.foreign_keys.push(ForeignKeyDescriptor {
            name,
            columns,
            referenced_table: target.oid,
            referenced_columns: referenced,
            on_update,
            on_delete,
            on_delete_columns,
            match_full: references.match_full,
            validated: !constraint.not_valid,
        });
        Ok(())
    }
}

/// The columns that a reference names; without names the primary key.
fn referenced_columns(target: &TableDescriptor, references: &References) -> PgResult<Vec<ColumnId>> {
    if references.columns.is_empty() {
        if target.primary_index().is_some() {
            return Err(not_deferred(target, "primary key"));
        }
        if target.primary_key.is_none() {
            return Err(PgError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("there is no primary key for referenced table \"{}\"", target.name),
            ));
        }
        Ok(target.key_columns().map(|p| p.column).collect())
    } else {
        folded(&references.columns)
            .iter()
            .map(|name| {
                target.column_by_name(name).map(|c| c.id).ok_or_else(|| {
                    PgError::new(
                        SqlState::UNDEFINED_COLUMN,
                        format!("column \"{name}\" referenced in foreign key constraint does not exist"),
                    )
                })
            })
            .collect()
    }
}

fn not_deferred(target: &TableDescriptor, what: &str) -> PgError {
    let message = format!("cannot use a deferrable {what} for referenced table \"{}\"", target.name);
    PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

/// 42804 unless the columns of a foreign key compare with those that they refer to.
pub(super) fn check_comparable(
    name: &str,
    table: &TableDescriptor,
    columns: &[ColumnId],
    target: &TableDescriptor,
    referenced: &[ColumnId],
) -> PgResult<()> {
    for (own, other) in columns.iter().zip(referenced) {
        let (Some(own), Some(other)) = (table.column(*own), target.column(*other)) else { continue };
        if !comparable(&own.ty.ty, &other.ty.ty) {
            return Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("foreign key constraint \"{name}\" cannot be implemented"))
                .detail(format!(
                    "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
                    own.name, other.name, own.ty.ty, other.ty.ty
                )));
        }
    }
    Ok(())
}

/// Whether a column of type `own` may refer to one of type `key`: they compare in one family, or the one becomes the other of itself.
fn comparable(own: &PgType, key: &PgType) -> bool {
    use PgType::{
        Bpchar, Char, Date, Float4, Float8, Int2, Int4, Int8, Interval, Name, Numeric, Oid, Text, Time, Timestamp, Timestamptz, Timetz,
        Varchar,
    };
    own == key
        || matches!(
            (own, key),
            (Int2 | Int4 | Int8, Int2 | Int4 | Int8 | Numeric | Float4 | Float8 | Oid)
                | (Float4 | Float8 | Numeric, Float4 | Float8)
                | (Text | Varchar | Bpchar | Name | Char, Text | Varchar)
                | (Text | Varchar | Bpchar, Bpchar | Name)
                | (Date | Timestamp | Timestamptz, Date | Timestamp | Timestamptz)
                | (Time, Timetz | Interval)
        )
}

/// What a column of type `own` is cast to before it is compared with a key, where `=` itself would compare in another type.
pub(super) fn cast_before(own: &PgType, key: &PgType) -> Option<&'static str> {
    use PgType::{Bpchar, Float4, Float8, Int2, Int4, Int8, Name, Numeric, Text, Varchar};
    match (own, key) {
        (Int2 | Int4 | Int8 | Numeric, Float4) => Some("float4"),
        (Int2 | Int4 | Int8 | Numeric, Float8) => Some("float8"),
        (Text | Varchar, Bpchar) => Some("bpchar"),
        (Varchar | Bpchar, Name) => Some("name"),
        _ => None,
    }
}

fn action(action: ReferenceAction) -> ForeignKeyAction {
    match action {
        ReferenceAction::NoAction => ForeignKeyAction::NoAction,
        ReferenceAction::Restrict => ForeignKeyAction::Restrict,
        ReferenceAction::Cascade => ForeignKeyAction::Cascade,
        ReferenceAction::SetNull => ForeignKeyAction::SetNull,
        ReferenceAction::SetDefault => ForeignKeyAction::SetDefault,
    }
}

/// The unique constraint or index over exactly these columns: the OID that `pg_constraint.conindid` tells.
pub(crate) fn unique_over(table: &TableDescriptor, columns: &[ColumnId]) -> Option<Oid> {
    let same = |key: &[ColumnId]| key.len() == columns.len() && key.iter().all(|c| columns.contains(c));
    if let Some(primary) = &table.primary_key
        && same(&table.key_columns().map(|p| p.column).collect::<Vec<_>>())
    {
        return Some(primary.oid);
    }
    table
        .indexes
        .iter()
        .filter(|i| i.unique && i.predicate.is_none() && i.state == IndexState::Readable)
        .filter(|i| !i.is_deferrable())
        .find(|i| is_over(i, columns))
        .map(|i| i.oid)
}

/// Whether an index's parts are exactly these columns.
fn is_over(index: &IndexDescriptor, columns: &[ColumnId]) -> bool {
    let listed = |key: &IndexKey| matches!(key, IndexKey::Column(id) if columns.contains(id));
    index.parts.len() == columns.len() && index.parts.iter().all(|p| listed(&p.key))
}
