//! UNDROP TABLE, and what DROP keeps for it.
//!
//! Invariant: what is kept is whole: its rows, and its indexes as they were, which nobody can change. What a table had from others (the
//! table that a foreign key refers to, roles, relations that a policy asks) may be gone when it comes back: then the part that needs it does
//! not come back, and a warning says so.

use super::alter_constraint::validate_foreign_key;
use super::dependency::{is_hidden, owned};
use super::foreign_key::unique_over;
use super::work::{Work, object_name, undefined_schema};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use stoa_exec::environment::StatementContext;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::definition::Definitions;
use stoa_sql::privileges::{check_schema, not_owner};
use stoa_syntax::ast::Ident;
use stoa_syntax::ddl::DroppedName;
use stoa_table::catalog::acl::PUBLIC_GRANTEE;
use stoa_table::catalog::store::{dropped_key, encode_dropped};
use stoa_table::catalog::{
    CatalogSnapshot, DroppedTable, IndexState, Oid, Privileges, Relation, Rights, RightsOf, SchemaDescriptor, TableDescriptor,
};
use stoa_table::txn::TableLockMode;

// DROP.

/// How long DROP keeps tables, unless their own past is kept for longer; `None`: it does not.
fn retention(work: Work<'_>) -> Option<Duration> {
    let settings = work.ctx.session.settings();
    let seconds: u64 = settings.raw("stoa.undrop_retention").and_then(|text| text.parse().ok()).unwrap_or(0);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// Keeps tables that the transaction drops, and gives what keeps its place in the store: the tables, the sequences that they own, and the
/// entries of their maps. Temporary tables, rows of materialized views and foreign tables are not kept. Indexes that are not built to their
/// end are not, nor are files of full text indexes: these are made again from the rows.
pub(super) fn keep<'t>(
    work: Work<'_>,
    catalog: &CatalogSnapshot,
    tables: impl Iterator<Item = &'t TableDescriptor>,
) -> PgResult<BTreeSet<Oid>> {
    let mut kept = BTreeSet::new();
    let Some(time) = retention(work) else { return Ok(kept) };
    let dropped_us = work.ctx.database.tables.now_us();
    for table in tables {
        let Some(schema) = catalog.schema(table.schema).filter(|schema| schema.temporary.is_none()) else { continue };
        // Entries are kept with the table that they belong to.
        if table.temporary || table.mapping.is_some() || table.location().is_some() || table.entries_of.is_some() || is_hidden(&table.name)
        {
            continue;
        }
        let entries = table.map_columns().filter_map(|column| catalog.table(column.entries?));
        let entries = entries.map(|table| with_whole_indexes(work, table)).collect::<Vec<_>>();
        let table = with_whole_indexes(work, table);
        let own = table.families.iter().filter_map(|family| family.options.retention()).fold(time, Duration::max);
        let kept_until_us = dropped_us.saturating_add(i64::try_from(own.as_micros()).unwrap_or(i64::MAX));
        let sequences = owned(catalog, table.oid, None);
        kept.extend(sequences.iter().copied().chain(entries.iter().map(|table| table.oid)).chain([table.oid]));
        let dropped = Arc::new(DroppedTable::new(catalog, table, entries, &schema.name, &sequences, (dropped_us, kept_until_us)));
        work.ctx.txn.add_catalog_mutation(&dropped_key(dropped.oid()), Some(&encode_dropped(&dropped)?))?;
        work.ctx.txn.change_catalog(move |catalog| {
            catalog.put_dropped(Arc::clone(&dropped));
            Ok(())
        })?;
    }
    Ok(kept)
}

/// The table with the indexes that are kept with it; what the others have in the store goes.
fn with_whole_indexes(work: Work<'_>, table: &TableDescriptor) -> TableDescriptor {
    let mut table = table.clone();
    let is_whole = |state: IndexState| state == IndexState::Readable;
    for index in table.indexes.iter().filter(|index| !is_whole(index.state) || index.is_fulltext()) {
        work.drop_storage(index.storage);
    }
    table.indexes.retain(|index| is_whole(index.state));
    table
}

// UNDROP.

/// Takes a table from those that are kept.
fn take(work: Work<'_>, oid: Oid) -> PgResult<()> {
    work.ctx.txn.add_catalog_mutation(&dropped_key(oid), None)?;
    work.ctx.txn.change_catalog(move |catalog| match catalog.remove_dropped(oid) {
        Some(_) => Ok(()),
        None => Err(PgError::new(SqlState::UNDEFINED_TABLE, "another transaction has taken the dropped table")),
    })
}

/// UNDROP TABLE. Of several tables of a name it is the one that was dropped last.
pub(super) async fn undrop(work: Work<'_>, named: &DroppedName, rename: Option<&Ident>) -> PgResult<String> {
    let found = find(work, named)?;
    work.ctx.txn.lock_table(found.oid(), TableLockMode::AccessExclusive, false, &found.table.name).await?;
    work.refresh().await?;
    let dropped = work.catalog().dropped().get(&found.oid()).cloned().ok_or_else(|| none_of_the_name(&found.table.name))?;
    if !work.authority().is_member(work.ctx.role, dropped.owner()) {
        return Err(not_owner("table", &dropped.table.name));
    }
    let schema = present_schema(work, &dropped)?;
    check_schema(&work.catalog(), work.ctx.role, schema.oid, Privileges::CREATE)?;
    let old_name = dropped.table.name.clone();
    let new_name = rename.map_or_else(|| old_name.clone(), fold);
    work.ctx.txn.lock_name(schema.oid, &new_name).await?;
    work.check_free(schema.oid, &new_name).map_err(|error| {
        let what = match named {
            DroppedName::Name(name) => name.to_string(),
            DroppedName::Oid(oid) => oid.to_string(),
        };
        error.hint(format!("UNDROP TABLE {what} RENAME TO … brings the table back under another name."))
    })?;
    let (mut table, sequences, entries) = dropped.called(&work.catalog(), schema.oid, new_name, &object_name, &|kind, old, new| {
        work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{kind} \"{old}\" comes back as \"{new}\""));
    });
    take(work, table.oid)?;
    for sequence in sequences {
        let oid = sequence.oid;
        work.put(Relation::Sequence(sequence))?;
        put_back_rights(work, oid, dropped.rights(oid))?;
    }
    without_lost_defaults(work, &mut table);
    let keys = std::mem::take(&mut table.foreign_keys);
    let policies = std::mem::take(&mut table.row_security.policies);
    put_back(work, &mut table, &dropped).await?;
    for mut table in entries {
        put_back(work, &mut table, &dropped).await?;
    }
    if !policies.is_empty() {
        table.row_security.policies = policies;
        table = with_policies(work, table, (&dropped.schema, &old_name), &schema.name)?;
    }
    if !keys.is_empty() {
        table.foreign_keys = keys;
        table = with_foreign_keys(work, table).await?;
    }
    work.put(Relation::Table(table))?;
    Ok("UNDROP TABLE".into())
}

/// Makes a table a relation again, with its rights and its full text indexes.
async fn put_back(work: Work<'_>, table: &mut TableDescriptor, dropped: &DroppedTable) -> PgResult<()> {
    for index in table.indexes.iter_mut().filter(|index| index.is_fulltext()) {
        // The files of the old number go with the transaction that dropped them, which may be this one.
        index.storage = work.next_table_id().await?;
    }
    work.put(Relation::Table(table.clone()))?;
    put_back_rights(work, table.oid, dropped.rights(table.oid))?;
    for index in table.indexes.iter().filter(|index| index.is_fulltext()) {
        work.build_text(table, index, &|_| ()).await?;
    }
    Ok(())
}

fn find(work: Work<'_>, named: &DroppedName) -> PgResult<Arc<DroppedTable>> {
    let catalog = work.catalog();
    let now = work.ctx.database.tables.now_us();
    let mut kept = catalog.dropped().values().filter(|dropped| dropped.kept_until_us > now);
    let name = match named {
        DroppedName::Oid(oid) => {
            let missing = || undefined(format!("no table with OID {oid} was dropped and is kept"));
            return kept.find(|dropped| dropped.oid() == *oid).cloned().ok_or_else(missing);
        }
        DroppedName::Name(name) => name,
    };
    let (schema, last) = work.split(name)?;
    let in_schema = |dropped: &DroppedTable| match &schema {
        Some(name) => catalog.schema(dropped.table.schema).map_or(&dropped.schema, |schema| &schema.name) == name,
        None => work.path().contains(&dropped.table.schema),
    };
    // Schemas of the path in their order, and in each the table that was dropped last.
    let path = work.path();
    let rank = |dropped: &DroppedTable| path.iter().position(|oid| *oid == dropped.table.schema).map_or(0, |at| path.len() - at);
    let found = kept.filter(|dropped| dropped.table.name == last && in_schema(dropped));
    found.max_by_key(|dropped| (rank(dropped), dropped.dropped_us, dropped.oid())).cloned().ok_or_else(|| none_of_the_name(&last))
}

fn undefined(message: String) -> PgError {
    PgError::new(SqlState::UNDEFINED_TABLE, message).hint("SELECT * FROM pg_dropped_tables shows what UNDROP TABLE can bring back.")
}

fn none_of_the_name(name: &str) -> PgError {
    undefined(format!("no table \"{name}\" was dropped and is kept"))
}

/// The schema in which the table was, or the one of that name, if it was dropped with the table and made again.
fn present_schema(work: Work<'_>, dropped: &DroppedTable) -> PgResult<Arc<SchemaDescriptor>> {
    let catalog = work.catalog();
    let found = catalog.schema(dropped.table.schema).or_else(|| catalog.schema_by_name(&dropped.schema));
    found.cloned().ok_or_else(|| undefined_schema(&dropped.schema).hint("CREATE SCHEMA makes it again, and the table can come back to it."))
}

/// Gives a relation that came back the rights that it had; what roles had that are gone, nobody has, and what they owned belongs to who
/// brings it back.
fn put_back_rights(work: Work<'_>, oid: Oid, rights: Option<&Rights>) -> PgResult<()> {
    let of = RightsOf::Relation(oid);
    let Some(rights) = rights else { return work.ctx.remove_rights(of) };
    work.ctx.put_rights(of, rights.of_roles_that_exist(&work.authority(), work.ctx.role))
}

/// Takes away defaults that take their values from sequences that are gone.
fn without_lost_defaults(work: Work<'_>, table: &mut TableDescriptor) {
    let catalog = work.catalog();
    // Stored expressions name relations by number.
    let is_gone = |text: &str| text.rsplit('\'').next().and_then(|oid| oid.parse().ok()).is_some_and(|oid| catalog.relation(oid).is_none());
    let is_lost = |text: &String| text.match_indices("'::regclass").any(|(at, _)| is_gone(text.get(..at).unwrap_or_default()));
    let named = table.clone();
    for column in table.columns.iter_mut().filter(|column| column.default.as_ref().is_some_and(is_lost)) {
        column.default = None;
        stays_away(work, "default of column", &column.name, &named, "The sequence that it takes values from was dropped.");
    }
}

fn stays_away(work: Work<'_>, what: &str, name: &str, table: &TableDescriptor, why: &str) {
    let message = format!("{what} \"{name}\" does not come back with table \"{}\"", table.name);
    work.ctx.session.notice("WARNING", PgError::new(SqlState::WARNING, message).detail(why.to_owned()));
}

/// The table with those of its policies that still have what they ask for. Rows that no policy shows are hidden: nobody sees more than
/// before.
fn with_policies(work: Work<'_>, mut table: TableDescriptor, old: (&str, &str), schema: &str) -> PgResult<TableDescriptor> {
    let authority = work.authority();
    table.row_security.policies.retain_mut(|policy| {
        policy.roles.retain(|role| *role == PUBLIC_GRANTEE || authority.role(*role).is_some());
        !policy.roles.is_empty()
    });
    let new = (schema.to_owned(), table.name.clone());
    let oid = table.oid;
    work.put(Relation::Table(table))?;
    if old != (&new.0, &new.1) {
        super::view::relation_renamed(work, oid, old, (&new.0, &new.1))?;
    }
    let catalog = work.catalog();
    let mut table = catalog.table(oid).cloned().ok_or_else(|| PgError::internal("a table that came back is gone"))?;
    let path = work.path();
    let definitions = Definitions { catalog: &catalog, path: &path, eval: &work.ctx.eval };
    let as_it_is = table.clone();
    table.row_security.policies.retain(|policy| {
        let is_there = |relation: Oid| catalog.relation(relation).is_some();
        let mut conditions = policy.conditions();
        let holds =
            conditions.all(|c| c.depends_on.iter().all(|d| is_there(d.relation)) && definitions.policy_condition(&as_it_is, c).is_ok());
        if !holds {
            stays_away(work, "policy", &policy.name, &as_it_is, "It asks relations that are not as they were.");
        }
        holds
    });
    Ok(table)
}

/// The table with those of its foreign keys that hold. The descriptor in the catalog has none of them yet.
async fn with_foreign_keys(work: Work<'_>, mut table: TableDescriptor) -> PgResult<TableDescriptor> {
    let keys = std::mem::take(&mut table.foreign_keys);
    work.put(Relation::Table(table.clone()))?;
    for key in keys {
        if key.referenced_table != table.oid {
            if let Some(target) = work.catalog().relation(key.referenced_table).cloned() {
                // Nobody may drop it, or its keys, before the reference is there.
                work.lock(&target, TableLockMode::ShareRowExclusive).await?;
                work.refresh().await?;
            }
            let catalog = work.catalog();
            let why = match catalog.table(key.referenced_table) {
                None => Some("The table that it refers to was dropped. It has to come back first.".to_owned()),
                Some(target) if target.expires.is_some() => Some(format!("Rows of table {} end by themselves.", quote_name(&target.name))),
                Some(target) if unique_over(target, &key.referenced_columns).is_none() => {
                    Some(format!("Table {} has no such key any more.", quote_name(&target.name)))
                }
                Some(target) if !key.is_valid(target) => None,
                Some(_) => validate_foreign_key(work, &table, &key).await.err().map(|error| {
                    let detail = error.fields().detail.clone();
                    detail.unwrap_or_else(|| error.message().to_owned())
                }),
            };
            if let Some(why) = why {
                stays_away(work, "foreign key", &key.name.name, &table, &why);
                continue;
            }
        }
        table.foreign_keys.push(key);
    }
    Ok(table)
}

// The end.

/// Frees what a dropped table, its sequences and its entries have in the store, when the transaction commits.
pub(super) fn drop_storage(work: Work<'_>, dropped: &DroppedTable) -> PgResult<()> {
    dropped.tables().try_for_each(|table| work.drop_storage_of(&Relation::Table(table.clone())))?;
    dropped.sequences.iter().try_for_each(|sequence| work.drop_storage_of(&Relation::Sequence(sequence.clone())))
}

/// Removes a dropped table for good, and commits. One that has come back, or is gone, is left alone.
///
/// # Errors
/// What the transaction raises.
pub(crate) async fn purge(ctx: &StatementContext, oid: Oid) -> PgResult<()> {
    let work = Work { ctx };
    ctx.txn.lock_table(oid, TableLockMode::AccessExclusive, false, "that was dropped").await?;
    work.refresh().await?;
    let Some(dropped) = work.catalog().dropped().get(&oid).cloned() else { return Ok(()) };
    take(work, oid)?;
    drop_storage(work, &dropped)?;
    ctx.txn.end_statement();
    ctx.txn.commit().await
}
