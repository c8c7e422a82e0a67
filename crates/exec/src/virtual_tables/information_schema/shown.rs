//! Who sees what: the conditions on roles that PostgreSQL's definitions of these views have.
//!
//! An owner is whoever has the rights of the owning role. A privilege on a relation counts for all of its columns, and one on any of its
//! columns shows the relation.

use crate::environment::StatementContext;
use stoa_sql::privileges::{is_column, relation_class};
use stoa_table::catalog::{ColumnId, ObjectClass, Oid, Privileges, RightsOf};

/// Whether the current role has the rights of a relation's owner.
pub fn is_own(ctx: &StatementContext, relation: Oid) -> bool {
    ctx.catalog.authority().owns(ctx.role, RightsOf::Relation(relation))
}

/// Whether a schema is the temporary one of another session.
pub fn is_of_another_session(ctx: &StatementContext, schema: Oid) -> bool {
    ctx.catalog.schema(schema).is_some_and(|s| s.temporary.is_some() && Some(s.oid) != ctx.session.temporary_schema())
}

/// Whether the current role owns a relation or has some of these privileges on it.
fn has_some(ctx: &StatementContext, relation: Oid, wanted: Privileges) -> bool {
    let (authority, class) = (ctx.catalog.authority(), relation_class(&ctx.catalog, relation));
    is_own(ctx, relation) || !authority.privileges(ctx.role, class, RightsOf::Relation(relation), wanted, Privileges::NONE).0.is_empty()
}

/// Whether the current role has some of these privileges on a column by the column's own list.
fn on_column(ctx: &StatementContext, relation: Oid, column: ColumnId, wanted: Privileges) -> bool {
    !ctx.catalog.authority().column_privileges(ctx.role, relation, column, wanted, Privileges::NONE).0.is_empty()
}

fn has_some_or_on_columns(ctx: &StatementContext, relation: Oid, wanted: Privileges) -> bool {
    let on = |column: ColumnId| is_column(&ctx.catalog, relation, column) && on_column(ctx, relation, column, wanted);
    has_some(ctx, relation, wanted)
        || ctx.catalog.authority().rights(RightsOf::Relation(relation)).columns.iter().any(|(column, _)| on(*column))
}

/// Whether the current role may see that a table or view is there: it has some right on it.
pub fn is_shown(ctx: &StatementContext, relation: Oid) -> bool {
    has_some_or_on_columns(ctx, relation, ObjectClass::Table.all())
}

/// Whether the current role may see a table's constraints: it has some right on it other than to read it.
pub fn are_constraints_shown(ctx: &StatementContext, table: Oid) -> bool {
    has_some_or_on_columns(ctx, table, ObjectClass::Table.all().without(Privileges::SELECT))
}

/// Whether the current role may see that a sequence is there.
pub fn is_sequence_shown(ctx: &StatementContext, sequence: Oid) -> bool {
    has_some(ctx, sequence, ObjectClass::Sequence.all())
}

/// Which columns of a relation the current role may see: it has some right on them, or on all of the relation.
pub fn shown_columns(ctx: &StatementContext, relation: Oid) -> impl Fn(ColumnId) -> bool + '_ {
    let all = ObjectClass::Column.all();
    let whole = has_some(ctx, relation, all);
    move |column| whole || on_column(ctx, relation, column, all)
}

/// Whether the current role may see that a schema is there. Its own temporary one it may use.
pub fn is_schema_shown(ctx: &StatementContext, schema: Oid) -> bool {
    let (authority, of) = (ctx.catalog.authority(), RightsOf::Schema(schema));
    authority.owns(ctx.role, of)
        || ctx.session.temporary_schema() == Some(schema)
        || !authority.privileges(ctx.role, ObjectClass::Schema, of, ObjectClass::Schema.all(), Privileges::NONE).0.is_empty()
}
