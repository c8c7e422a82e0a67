//! Raw tables: `CREATE TABLE t (FAMILY f (), …) WITH (raw)`, and what may be altered of them.

use super::alter::refused;
use super::builder::TableBuilder;
use super::work::{Work, undefined_relation};
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::ObjectName;
use stoa_syntax::ddl::{AlterAction, CreateTable, StorageOption, TableElement};
use stoa_table::catalog::{
    CELLS, CatalogSnapshot, ConstraintName, FamilyDescriptor, KeyForm, KeyPart, LOCATION, Oid, Privileges, Relation, TableDescriptor,
};
use stoa_table::raw::RawTable;
use stoa_table::txn::{Isolation, TableLockMode};
use stoa_table::{FamilyOptions, Layout};

/// The one column of a raw table.
const ROW: &str = "row";
/// The longest key that HBase takes.
const LONGEST_KEY: u32 = 32_767;

/// Whether the options of a table make it a raw one.
///
/// # Errors
/// 22023 for another value than a boolean.
pub(super) fn is_asked(options: &[StorageOption]) -> PgResult<bool> {
    options.iter().find(|option| option.name == "raw").map_or(Ok(false), super::table::boolean)
}

/// Makes a new table, whose families are there, a raw one.
///
/// # Errors
/// 42P16 for columns and constraints, and without a family.
pub(super) async fn make(builder: &mut TableBuilder<'_>, create: &CreateTable) -> PgResult<()> {
    let invalid = |message: &str| Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message.to_owned()));
    if create.elements.iter().any(|element| !matches!(element, TableElement::Family(_))) {
        return invalid("a raw table has families and nothing else");
    }
    if let Some(location) = create.options.iter().find(|option| option.name == LOCATION) {
        elsewhere(builder, create, location.value.as_deref().unwrap_or_default()).await?;
    }
    if builder.table.families.is_empty() {
        return invalid("a raw table has at least one family");
    }
    if builder.table.temporary {
        return invalid("a raw table is not temporary");
    }
    if let Some(family) = builder.table.families.iter().find(|f| f.options.layout == Layout::Cells) {
        return invalid(&format!("family \"{}\" of a raw table has no layout of its own", family.name));
    }
    let row = builder.push_column(ROW.into(), SqlType::new(PgType::Bytea))?;
    for column in &mut builder.table.columns {
        column.not_null = true;
    }
    builder.table.key = vec![KeyPart { column: row, descending: false, form: KeyForm::Rest(LONGEST_KEY) }];
    let name = builder.work.choose_name(builder.table.schema, &builder.table.name, None, "pkey", &[]);
    builder.table.primary_key = Some(ConstraintName {
        oid: builder.work.next_oid().await?,
        name,
        deferrable: false,
        initially_deferred: false,
        comment: None,
        index_comment: None,
    });
    // Families that come later have numbers that none had.
    let families = u32::try_from(builder.table.families.len()).unwrap_or(u32::MAX);
    builder.table.next_column_id = builder.table.next_column_id.max(families);
    builder.table.families.insert(0, cells(&builder.table.families));
    Ok(())
}

/// `WITH (raw, location = 'hbase://zk1,zk2:2181/ns:table')`: the families of a table that other programs own.
///
/// # Errors
/// 42501 for who is no superuser, since connections of the server's own are made; 42P16 with families of its own, 22023 for a location that is
/// none, 42P01 if there is no such table.
async fn elsewhere(builder: &mut TableBuilder<'_>, create: &CreateTable, location: &str) -> PgResult<()> {
    if !builder.work.is_superuser() {
        return Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, "permission denied to name a table of another cluster")
            .detail("The server connects to it by itself, which superusers alone may ask for.")
            .hint("A superuser can make the raw table, map it with CREATE FOREIGN TABLE, and GRANT rights on that."));
    }
    if !builder.table.families.is_empty() || create.split.is_some() {
        let message = "a table of another cluster has the families and regions that it has there";
        return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message).hint("CREATE TABLE t () WITH (raw, location = '…')"));
    }
    let found = builder.work.ctx.database.tables.describe_elsewhere(location).await.map_err(|error| match error.code() {
        SqlState::FEATURE_NOT_SUPPORTED => PgError::new(SqlState::INVALID_PARAMETER_VALUE, error.message().to_owned()),
        _ => error,
    })?;
    let found = found.ok_or_else(|| {
        PgError::new(SqlState::UNDEFINED_TABLE, format!("there is no table at {location}"))
            .hint("The last part is its name in HBase: hbase://zk1,zk2:2181/namespace:table.")
    })?;
    for family in found.families.into_iter().filter(|family| family.id != CELLS) {
        builder.table.families.push(FamilyDescriptor::new(family.id, family.name, Vec::new(), family.options));
    }
    builder.table.split_points = found.split_points;
    builder.table.options.push((LOCATION.into(), location.into()));
    Ok(())
}

/// The family that has the cells of all others: laid out as the first of them says.
fn cells(families: &[FamilyDescriptor]) -> FamilyDescriptor {
    let first = families.iter().find(|f| f.id != CELLS).map(|f| f.options.clone()).unwrap_or_default();
    let options = FamilyOptions { layout: Layout::Cells, versions: 1, min_versions: 0, ttl: None, ..first };
    FamilyDescriptor::new(CELLS, String::new(), Vec::new(), options)
}

/// After a change of the families of a raw table: its cells follow.
pub(super) fn follow(table: &mut TableDescriptor) {
    let cells = cells(&table.families);
    if let Some(first) = table.families.first_mut() {
        first.options = cells.options;
    }
}

/// What is altered of tables of cells.
///
/// # Errors
/// 42809 for what is not.
pub(super) fn check_action(table: &TableDescriptor, action: &AlterAction) -> PgResult<()> {
    let common = matches!(action, AlterAction::Rename(_) | AlterAction::SetSchema(_) | AlterAction::OwnerTo(_));
    let own = match &table.mapping {
        Some(_) => matches!(action, AlterAction::RenameColumn { .. } | AlterAction::SetDefault { .. } | AlterAction::DropDefault { .. }),
        None if table.location().is_some() => matches!(action, AlterAction::SetOptions(_)),
        None => matches!(
            action,
            AlterAction::AddFamily { .. }
                | AlterAction::AlterFamily { .. }
                | AlterAction::DropFamily { .. }
                | AlterAction::SetOptions(_)
                | AlterAction::Split(_)
                | AlterAction::Unsplit(_)
                | AlterAction::RestoreFrom(_)
        ),
    };
    match common || own {
        true => Ok(()),
        false => Err(refused(action, &table.name, kind(table))),
    }
}

/// What the table is, in the plural.
fn kind(table: &TableDescriptor) -> &'static str {
    match table.location() {
        _ if table.mapping.is_some() => "foreign tables",
        Some(_) => "tables that other programs own",
        None => "raw tables",
    }
}

/// 42809 for what needs a table of rows.
pub(super) fn refuse(table: &TableDescriptor, what: &str) -> PgResult<()> {
    if !table.is_raw() {
        return Ok(());
    }
    Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot {what} \"{}\"", table.name))
        .detail(format!("This operation is not supported for {}.", kind(table))))
}

/// `SET (enabled = …)`: whether HBase's programs may read and write the table.
///
/// # Errors
/// 22023 for other options.
pub(super) fn set_enabled(work: Work<'_>, mut table: TableDescriptor, options: &[StorageOption]) -> PgResult<()> {
    for option in options {
        if option.name != "enabled" {
            return Err(super::storage_parameters::unrecognized(&option.name));
        }
        let enabled = super::table::boolean(option)?;
        table.options.retain(|(name, _)| name != "enabled");
        if !enabled {
            table.options.push(("enabled".into(), "false".into()));
        }
    }
    work.put(Relation::Table(table))
}

/// `RESTORE FROM`: a table gets the families and all cells of another one, deletions among them, in another place. Who reads it sees what it was
/// until the transaction has committed.
///
/// # Errors
/// 42809 for tables of SQL; 42501 without SELECT on the other one; 55000 for foreign tables over families that would be others; 25001 for
/// cells that the transaction itself has written; 0A000 under an older snapshot.
pub(super) async fn restore_from(work: Work<'_>, table: TableDescriptor, from: &ObjectName) -> PgResult<()> {
    if !table.is_raw() {
        return Err(refused(&AlterAction::RestoreFrom(from.clone()), &table.name, "tables of rows")
            .hint("INSERT INTO … SELECT takes rows of another table, RESTORE TO goes back in time."));
    }
    let source = work.table(from)?;
    if !source.is_raw() || source.mapping.is_some() {
        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a raw table", source.name)));
    }
    if source.oid == table.oid {
        return Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, "a table is not restored from itself"));
    }
    super::rights::on_oid(&work, source.oid, Privileges::SELECT)?;
    work.lock(&Relation::Table(source.clone()), TableLockMode::Share).await?;
    lock_mapped(work, &table).await?;
    let current = |of: &TableDescriptor| work.catalog().table(of.oid).cloned().ok_or_else(|| undefined_relation(&of.name));
    let (table, source) = (current(&table)?, current(&source)?);
    if work.ctx.txn.isolation() != Isolation::ReadCommitted {
        return Err(PgError::unsupported("RESTORE FROM takes what is committed, which a transaction with a snapshot does not see")
            .hint("Use a transaction that is READ COMMITTED."));
    }
    let overlay = work.ctx.txn.read_view().overlay;
    if [&table, &source].iter().any(|table| overlay.touches(table.storage)) {
        let message = format!("cannot restore table \"{}\" after it was changed in the same transaction", table.name);
        return Err(PgError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
    }
    check_mapped(work, &table, &source)?;
    let mut builder = TableBuilder::of(work, table.clone());
    builder.move_storage().await?;
    builder.table.families = source.families.clone();
    builder.table.next_column_id = builder.table.next_column_id.max(source.next_column_id);
    let new = builder.table;
    work.create_storage_of(&new).await?;
    let cells = RawTable::new(Arc::clone(&work.ctx.database.transactions), Arc::new(source));
    cells.copy_to(new.storage, || work.ctx.session.check_interrupt()).await?;
    work.drop_storage_of(&Relation::Table(table))?;
    moved(work, &new)?;
    work.put(Relation::Table(new))
}

/// Foreign tables name families by their numbers: each must be the family that it was.
fn check_mapped(work: Work<'_>, table: &TableDescriptor, source: &TableDescriptor) -> PgResult<()> {
    let name = |of: &TableDescriptor, id: u16| of.families.iter().find(|f| f.id.0 == id).map(|f| f.name.clone());
    for relation in mapped_by(&work.catalog(), table.oid) {
        let Relation::Table(other) = &*relation else { continue };
        for column in other.mapping.iter().flat_map(|mapping| &mapping.columns) {
            let family = name(table, column.family);
            if family != name(source, column.family) {
                let message = format!("cannot restore table \"{}\" from \"{}\"", table.name, source.name);
                return Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                    .detail(format!(
                        "Foreign table \"{}\" maps family \"{}\", which is another one there.",
                        other.name,
                        family.unwrap_or_default()
                    ))
                    .hint("Drop the foreign table, or restore into a new table."));
            }
        }
    }
    Ok(())
}

/// Foreign tables that map a table.
pub(super) fn mapped_by(catalog: &CatalogSnapshot, table: Oid) -> Vec<Arc<Relation>> {
    let maps = |relation: &&Arc<Relation>| match &***relation {
        Relation::Table(other) => other.mapping.as_ref().is_some_and(|mapping| mapping.table == table),
        _ => false,
    };
    let mut out: Vec<_> = catalog.relations().filter(maps).cloned().collect();
    out.sort_by_key(|relation| relation.oid());
    out
}

/// Waits for who writes a table's cells by foreign tables, before they are elsewhere.
pub(super) async fn lock_mapped(work: Work<'_>, table: &TableDescriptor) -> PgResult<()> {
    for relation in mapped_by(&work.catalog(), table.oid) {
        work.lock(&relation, TableLockMode::AccessExclusive).await?;
        if let Relation::Table(other) = &*relation {
            work.check_unused(other, "change")?;
        }
    }
    work.refresh().await
}

/// The cells of a table are elsewhere: who maps them follows.
pub(super) fn moved(work: Work<'_>, table: &TableDescriptor) -> PgResult<()> {
    for relation in mapped_by(&work.catalog(), table.oid) {
        if let Relation::Table(other) = &*relation {
            work.put(Relation::Table(TableDescriptor { storage: table.storage, ..other.clone() }))?;
        }
    }
    Ok(())
}

/// 42809 for a foreign key to a table that other programs write.
pub(super) fn refuse_reference(target: &TableDescriptor) -> PgResult<()> {
    if !target.is_raw() {
        return Ok(());
    }
    let message = format!("referenced relation \"{}\" has cells of other programs", target.name);
    Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, message))
}
