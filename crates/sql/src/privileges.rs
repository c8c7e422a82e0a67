//! May a role run a statement? The one place that checks queries and changes of data, on the typed tree.
//!
//! What is asked for was noted where names were resolved ([`Access`]); what the tree reads and writes is looked at once more, so that no
//! relation is in it that nobody noted. Definitions are checked by those who make them.

use crate::catalog::names::{class_name, parse_name};
use crate::system_relations;
use crate::typed::tree::{Access, Bound, BoundBody, CteBody, MergeAction, Mutation, MutationKind, OnConflict, Rel, TableScan};
use crate::typed::walk;
use stoa_pg::registry::Func;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::catalog::role::{MONITOR, SIGNAL_BACKEND};
use stoa_table::catalog::{AclItem, Authority, CatalogSnapshot, ColumnId, ObjectClass, Oid, Privileges, Relation, Rights, RightsOf, acl};

/// `permission denied for …`, 42501.
#[must_use]
pub fn denied(kind: &str, name: &str) -> PgError {
    PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied for {kind} {name}"))
}

/// `must be owner of …`, 42501.
#[must_use]
pub fn not_owner(kind: &str, name: &str) -> PgError {
    PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("must be owner of {kind} {name}"))
}

/// Whether a role may end a session of another, or cancel what it does: those of roles whose rights it has, and with `pg_signal_backend`
/// others but superusers'.
///
/// # Errors
/// 42501.
pub fn check_disturb(authority: &Authority, me: Oid, other: Oid, ends: bool) -> PgResult<()> {
    let (what, doing) = if ends {
        ("terminate superuser process", "process is being terminated")
    } else {
        ("cancel superuser query", "query is being canceled")
    };
    let denied = |message: String| Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
    if authority.is_superuser(other) && !authority.is_superuser(me) {
        return denied(format!("must be a superuser to {what}"));
    }
    if !authority.has_rights_of(me, other) && !authority.has_rights_of(me, SIGNAL_BACKEND) {
        return denied(format!("must be a member of the role whose {doing} or member of pg_signal_backend"));
    }
    Ok(())
}

/// 3D000.
#[must_use]
pub fn undefined_database(name: &str) -> PgError {
    PgError::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"))
}

/// What a relation is called in errors about rights.
#[must_use]
pub fn relation_kind(catalog: &CatalogSnapshot, oid: Oid) -> &'static str {
    match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::Table(_)) => "table",
        Some(Relation::View(view)) if view.materialized.is_some() => "materialized view",
        Some(Relation::View(_)) => "view",
        Some(Relation::Sequence(_)) => "sequence",
        None if catalog.index(oid).is_some() => "index",
        None if system_relations::is_table(oid) => "table",
        None => "view",
    }
}

/// The class of a relation's privileges.
#[must_use]
pub fn relation_class(catalog: &CatalogSnapshot, oid: Oid) -> ObjectClass {
    match catalog.relation(oid).map(|r| &**r) {
        Some(Relation::Sequence(_)) => ObjectClass::Sequence,
        _ => ObjectClass::Table,
    }
}

/// `permission denied` for a relation.
#[must_use]
pub fn denied_relation(catalog: &CatalogSnapshot, oid: Oid) -> PgError {
    denied(relation_kind(catalog, oid), &class_name(catalog, oid).map(|c| c.name).unwrap_or_default())
}

/// Whether a role may run a statement.
///
/// # Errors
/// 42501.
pub fn check(catalog: &CatalogSnapshot, role: Oid, bound: &Bound) -> PgResult<()> {
    let authority = &**catalog.authority();
    let (needed, undecided) = needed(catalog, bound);
    if let Some(table) = undecided {
        return Err(PgError::internal(format!("nobody has asked which rows of table {table} may be used")));
    }
    if let Some((relation, _)) = needed.iter().find(|(relation, what)| !is_noted(bound, *relation, *what)) {
        return Err(PgError::internal(format!("nobody has asked whether relation {relation} may be used")));
    }
    if authority.is_superuser(role) && bound.accesses.iter().all(|access| access.within.is_none()) {
        return Ok(());
    }
    for schema in &bound.schemas {
        check_schema(catalog, role, *schema, Privileges::USAGE)?;
    }
    for access in &bound.accesses {
        let asking = access.within.map_or(role, |view| authority.rights(RightsOf::Relation(view)).owner);
        check_access(catalog, asking, access)?;
    }
    match bound.functions.iter().find(|func| !may_execute(authority, role, &func.0)) {
        Some(func) => Err(denied("function", func.0.name)),
        None => Ok(()),
    }
}

/// Whether a role has privileges on a schema. Sessions use their own temporary ones.
///
/// # Errors
/// 42501.
pub fn check_schema(catalog: &CatalogSnapshot, role: Oid, schema: Oid, wanted: Privileges) -> PgResult<()> {
    if may_schema(catalog, role, schema, wanted) {
        return Ok(());
    }
    Err(denied("schema", &catalog.schema(schema).map_or_else(String::new, |s| s.name.clone())))
}

/// 42501 if a relation's name in a text says a schema that the role may not look into.
///
/// # Errors
/// That, and 42602 for what is no name.
pub fn check_name(catalog: &CatalogSnapshot, role: Oid, text: &str) -> PgResult<()> {
    let parts = parse_name(text)?;
    let [.., schema, _] = parts.as_slice() else { return Ok(()) };
    catalog.schema_by_name(schema).map_or(Ok(()), |found| check_schema(catalog, role, found.oid, Privileges::USAGE))
}

/// See [`check_schema`].
#[must_use]
pub fn may_schema(catalog: &CatalogSnapshot, role: Oid, schema: Oid, wanted: Privileges) -> bool {
    // Only the session itself finds its temporary schema by name.
    let temporary = catalog.schema(schema).is_some_and(|s| s.temporary.is_some());
    temporary || catalog.authority().may(role, ObjectClass::Schema, RightsOf::Schema(schema), wanted)
}

fn check_access(catalog: &CatalogSnapshot, role: Oid, access: &Access) -> PgResult<()> {
    let authority = &**catalog.authority();
    let class = relation_class(catalog, access.relation);
    let of = RightsOf::Relation(access.relation);
    let missing = access.privileges.without(authority.privileges(role, class, of, access.privileges, Privileges::NONE).0);
    if missing.is_empty() {
        return Ok(());
    }
    let of_columns = Privileges::SELECT.or(Privileges::INSERT).or(Privileges::UPDATE);
    let allowed = missing.without(of_columns).is_empty()
        && [(Privileges::SELECT, &access.selected), (Privileges::INSERT, &access.inserted), (Privileges::UPDATE, &access.updated)]
            .into_iter()
            .filter(|(one, _)| missing.has(*one))
            .all(|(one, columns)| may_columns(catalog, role, access.relation, one, columns));
    if allowed { Ok(()) } else { Err(denied_relation(catalog, access.relation)) }
}

/// Whether a role has a privilege on columns by their own lists; on any of a relation, where none is named.
fn may_columns(catalog: &CatalogSnapshot, role: Oid, relation: Oid, one: Privileges, columns: &[ColumnId]) -> bool {
    let authority = catalog.authority();
    let has = |column: ColumnId| authority.column_privileges(role, relation, column, one, Privileges::NONE).0.has(one);
    if columns.is_empty() {
        let there = |column: ColumnId| is_column(catalog, relation, column);
        return authority.rights(RightsOf::Relation(relation)).columns.iter().any(|(column, _)| there(*column) && has(*column));
    }
    columns.iter().all(|column| has(*column))
}

/// Whether a column is there: what was granted on one that was dropped means nothing.
#[must_use]
pub fn is_column(catalog: &CatalogSnapshot, relation: Oid, column: ColumnId) -> bool {
    match catalog.relation(relation).map(|r| &**r) {
        Some(Relation::Table(table)) => table.column(column).is_some_and(|c| !c.dropped),
        _ => true,
    }
}

// What the tree needs.

/// What a tree does with relations, whatever was noted; and a table with row-level security of whose rows nobody has decided.
fn needed(catalog: &CatalogSnapshot, bound: &Bound) -> (Vec<(Oid, Privileges)>, Option<Oid>) {
    let mut needed = Needed::default();
    let out = &mut needed;
    for cte in &bound.ctes {
        match &cte.body {
            CteBody::Query(rel) => reads(catalog, rel, out),
            CteBody::Mutation(mutation) => writes(catalog, mutation, out),
        }
    }
    match &bound.body {
        BoundBody::Query(query) => reads(catalog, &query.rel, out),
        BoundBody::Mutation(mutation) => writes(catalog, mutation, out),
    }
    (needed.relations, needed.undecided)
}

#[derive(Default)]
struct Needed {
    relations: Vec<(Oid, Privileges)>,
    undecided: Option<Oid>,
}

impl Needed {
    /// The relation whose rows a scan reads.
    fn read(&mut self, catalog: &CatalogSnapshot, scan: &TableScan) -> Oid {
        if scan.table.row_security.enabled && !scan.rows_decided {
            self.undecided = Some(scan.table.oid);
        }
        catalog.view_of_rows(scan.table.oid).map_or(scan.table.oid, |view| view.oid)
    }
}

fn reads(catalog: &CatalogSnapshot, rel: &Rel, out: &mut Needed) {
    walk::visit_all(rel, &mut |node| {
        let relation = match node {
            Rel::Scan(scan) => out.read(catalog, scan),
            Rel::History(history) => out.read(catalog, &history.scan),
            Rel::Virtual { schema, name, .. } if schema == system_relations::SEQUENCES => name.parse().unwrap_or(0),
            Rel::Virtual { schema, name, .. } => system_relations::oid(schema, name),
            Rel::One
            | Rel::Values { .. }
            | Rel::Batches { .. }
            | Rel::Filter { .. }
            | Rel::Barrier { .. }
            | Rel::Project { .. }
            | Rel::Join { .. }
            | Rel::Aggregate { .. }
            | Rel::Window { .. }
            | Rel::ProjectSet { .. }
            | Rel::Sort { .. }
            | Rel::Limit { .. }
            | Rel::Distinct { .. }
            | Rel::DistinctOn { .. }
            | Rel::SetOp { .. }
            | Rel::CteScan { .. }
            | Rel::Recursive { .. }
            | Rel::Sample { .. }
            | Rel::Lock { .. } => return,
        };
        out.relations.push((relation, Privileges::NONE));
    });
}

fn writes(catalog: &CatalogSnapshot, mutation: &Mutation, out: &mut Needed) {
    reads(catalog, &mutation.source, out);
    for expr in walk::mutation_exprs(mutation) {
        walk::visit_subqueries(expr, &mut |q| reads(catalog, &q.rel, out));
    }
    let what = match &mutation.kind {
        MutationKind::Insert { on_conflict, .. } => match on_conflict {
            OnConflict::Error | OnConflict::DoNothing { .. } => Privileges::INSERT,
            OnConflict::DoUpdate { .. } | OnConflict::Replace { .. } => Privileges::INSERT.or(Privileges::UPDATE),
        },
        MutationKind::Update { .. } => Privileges::UPDATE,
        MutationKind::Delete { .. } => Privileges::DELETE,
        MutationKind::Merge { arms, .. } => arms.iter().fold(Privileges::NONE, |all, arm| {
            all.or(match &arm.action {
                MergeAction::DoNothing => Privileges::NONE,
                MergeAction::Delete => Privileges::DELETE,
                MergeAction::Update(_) => Privileges::UPDATE,
                MergeAction::Insert(_) => Privileges::INSERT,
            })
        }),
    };
    if mutation.table.0.row_security.enabled && !mutation.usage.rows_decided {
        out.undecided = Some(mutation.table.0.oid);
    }
    out.relations.push((mutation.table.0.oid, what));
}

fn is_noted(bound: &Bound, relation: Oid, what: Privileges) -> bool {
    bound.accesses.iter().any(|access| access.relation == relation && access.privileges.has(what))
}

// Functions.

/// Functions that only superusers call unless it was said otherwise, each with the role that calls it too.
const RESERVED_FUNCTIONS: [(&str, Oid); 30] = [
    ("lo_export", 0),
    ("lo_import", 0),
    ("pg_backup_start", 0),
    ("pg_backup_stop", 0),
    ("pg_create_restore_point", 0),
    ("pg_current_logfile", 0),
    ("pg_log_backend_memory_contexts", 0),
    ("pg_ls_archive_statusdir", MONITOR),
    ("pg_ls_dir", 0),
    ("pg_ls_logdir", MONITOR),
    ("pg_ls_tmpdir", MONITOR),
    ("pg_ls_waldir", MONITOR),
    ("pg_promote", 0),
    ("pg_read_binary_file", 0),
    ("pg_read_file", 0),
    ("pg_reload_conf", 0),
    ("pg_rotate_logfile", 0),
    ("pg_stat_file", 0),
    ("pg_stat_have_stats", 0),
    ("pg_stat_reset", 0),
    ("pg_stat_reset_replication_slot", 0),
    ("pg_stat_reset_shared", 0),
    ("pg_stat_reset_single_function_counters", 0),
    ("pg_stat_reset_single_table_counters", 0),
    ("pg_stat_reset_slru", 0),
    ("pg_stat_reset_subscription_stats", 0),
    ("pg_switch_wal", 0),
    ("pg_wal_replay_pause", 0),
    ("pg_wal_replay_resume", 0),
    ("pg_config", 0),
];

/// The number by which rights know a function: of its name and the types of its arguments, the same in every version.
#[must_use]
pub fn function_key(func: &Func) -> Oid {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let name = func.name.bytes().fold(0x811c_9dc5, step);
    func.declared_args().flat_map(|ty| ty.oid().to_be_bytes()).fold(name, step)
}

/// Who may call a function.
#[must_use]
pub fn function_rights(authority: &Authority, func: &Func) -> Rights {
    let of = RightsOf::Function(function_key(func));
    let rights = authority.rights(of);
    let Some((_, also)) = RESERVED_FUNCTIONS.iter().find(|(name, _)| *name == func.name).filter(|_| rights.acl.is_none()) else {
        return (*rights).clone();
    };
    let item = |grantee| AclItem { grantee, grantor: rights.owner, privileges: Privileges::EXECUTE, options: Privileges::NONE };
    let mut acl = vec![item(rights.owner)];
    acl.extend((*also != 0).then(|| item(*also)));
    Rights { acl: Some(acl), ..(*rights).clone() }
}

/// Whether not everybody may call a function: few are so.
#[must_use]
pub fn is_restricted(authority: &Authority, func: &Func) -> bool {
    RESERVED_FUNCTIONS.iter().any(|(name, _)| *name == func.name) || authority.says_of(RightsOf::Function(function_key(func)))
}

/// Whether a role may call a function.
#[must_use]
pub fn may_execute(authority: &Authority, role: Oid, func: &Func) -> bool {
    if authority.is_superuser(role) || !is_restricted(authority, func) {
        return true;
    }
    let rights = function_rights(authority, func);
    let list = rights.effective(ObjectClass::Function);
    let has = |other: Oid| authority.has_rights_of(role, other);
    acl::granted(&list, rights.owner, role, Privileges::EXECUTE, Privileges::NONE, &has).0.has(Privileges::EXECUTE)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::collections::HashMap;
    use stoa_pg::registry::Registry;

    #[test]
    fn functions_have_numbers_of_their_own() {
        let mut seen: HashMap<Oid, String> = HashMap::new();
        for func in Registry::get().all_functions() {
            let signature = format!("{}({:?})", func.name, func.declared_args().collect::<Vec<_>>());
            if let Some(other) = seen.insert(function_key(func), signature.clone()) {
                assert_eq!(other, signature);
            }
        }
    }
}
