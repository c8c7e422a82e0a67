//! Columns of maps: the tables of their entries, which come and go with the columns.

use super::alter::refused;
use super::builder::TableBuilder;
use super::owner;
use super::rows::RowWriter;
use super::work::Work;
use arrow::array::ArrayRef;
use futures::StreamExt;
use std::sync::Arc;
use stoa_pg::registry::Registry;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::fold;
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, JoinKind, OperRef, Rel, TableScan};
use stoa_sql::typed::walk;
use stoa_syntax::ddl::AlterAction;
use stoa_table::FamilyId;
use stoa_table::catalog::{
    CatalogSnapshot, ColumnDescriptor, ColumnId, ConstraintName, FamilyDescriptor, ForeignKeyAction, ForeignKeyDescriptor, KeyForm,
    KeyPart, Oid, Relation, RightsOf, Salt, TableDescriptor,
};
use stoa_table::row::split_points::in_buckets;

/// Refuses columns of maps that could not be kept.
///
/// # Errors
/// 0A000.
pub(super) fn check(table: &TableDescriptor) -> PgResult<()> {
    let Some(first) = table.map_columns().next() else { return Ok(()) };
    let refuse = |what: &str, hint: &str| {
        Err(PgError::unsupported(format!("column \"{}\" of maps cannot be in table \"{}\"", first.name, table.name))
            .detail(what)
            .hint(hint))
    };
    if table.mapping.is_some() || table.is_raw() {
        return refuse("A raw table has cells of its own.", "Map its columns one by one.");
    }
    if table.expires.is_some() {
        return refuse("Its rows end by themselves, and entries would outlive them.", "Give the maps a family of their own with a ttl.");
    }
    if table.timestamp.is_some() {
        return refuse("UPSERT leaves newer rows as they are, and would write their entries.", "Give the maps a table of their own.");
    }
    if table.families.first().is_some_and(FamilyDescriptor::values_end) {
        return refuse("Its rows expire, and entries would outlive them.", "Give the maps a family of their own with a ttl.");
    }
    let generated = table.map_columns().find(|c| c.generated.is_some());
    generated.map_or(Ok(()), |c| Err(PgError::unsupported(format!("column \"{}\" of maps cannot be generated", c.name))))
}

/// Refuses maps among the columns of a materialized view.
///
/// # Errors
/// 0A000.
pub(super) fn check_query(column: &str, ty: &SqlType) -> PgResult<()> {
    if !matches!(ty.ty, PgType::Map(..)) {
        return Ok(());
    }
    Err(PgError::unsupported(format!("column \"{column}\" of maps cannot be in a materialized view")).hint("Cast the column to jsonb."))
}

/// The family whose options the entries of a column have.
fn family_of(table: &TableDescriptor, column: ColumnId) -> Option<&FamilyDescriptor> {
    table.families.iter().find(|f| f.columns.contains(&column)).or(table.families.first())
}

/// Makes the descriptors of tables of entries for the columns of maps that have none yet.
///
/// # Errors
/// See [`check`].
pub(super) async fn tables(work: Work<'_>, table: &mut TableDescriptor) -> PgResult<Vec<TableDescriptor>> {
    check(table)?;
    let mut out: Vec<TableDescriptor> = Vec::new();
    let new: Vec<ColumnDescriptor> = table.map_columns().filter(|c| c.entries.is_none()).cloned().collect();
    for column in new {
        let made = entries(work, table, &column, &out).await?;
        if let Some(own) = table.columns.iter_mut().find(|c| c.id == column.id) {
            own.entries = Some(made.oid);
        }
        out.push(made);
    }
    Ok(out)
}

async fn entries(
    work: Work<'_>,
    table: &TableDescriptor,
    column: &ColumnDescriptor,
    others: &[TableDescriptor],
) -> PgResult<TableDescriptor> {
    let PgType::Map(key, value) = &column.ty.ty else { return Err(PgError::internal("a column of maps that is none")) };
    let mut taken: Vec<String> = others.iter().map(|t| t.name.clone()).collect();
    taken.push(table.name.clone());
    let name = work.choose_name(table.schema, &table.name, Some(&column.name), "entries", &taken);
    let mut builder = TableBuilder::new(work, table.schema, name.clone(), table.temporary).await?;
    builder.table.on_commit = table.on_commit;
    builder.table.entries_of = Some((table.oid, column.id));
    let mut of_row: Vec<(ColumnId, ColumnId)> = Vec::new();
    for part in table.key_columns() {
        let Some(own) = table.column(part.column) else { return Err(PgError::internal("a key without its column")) };
        let id = builder.push_column(own.name.clone(), own.ty.clone())?;
        of_row.push((own.id, id));
        builder.table.key.push(KeyPart { column: id, descending: part.descending, form: KeyForm::Value });
    }
    let free = |builder: &TableBuilder<'_>, wanted: &str| {
        let mut name = wanted.to_owned();
        while builder.table.column_by_name(&name).is_some() {
            name.insert_str(0, "entry_");
        }
        name
    };
    let key_name = free(&builder, "key");
    let key_id = builder.push_column(key_name, SqlType::new((**key).clone()))?;
    builder.table.key.push(KeyPart { column: key_id, descending: false, form: KeyForm::Value });
    let value_name = free(&builder, "value");
    let value_id = builder.push_column(value_name, SqlType::new((**value).clone()))?;
    for own in builder.table.columns.iter_mut().filter(|c| c.id != value_id) {
        own.not_null = true;
    }
    let family = family_of(table, column.id).ok_or_else(|| PgError::internal("a table without families"))?;
    builder.table.families = vec![FamilyDescriptor::new(FamilyId(0), "f".into(), vec![value_id], family.options.clone())];
    let referenced: Vec<ColumnId> = of_row.iter().map(|(id, _)| *id).collect();
    let columns: Vec<ColumnId> = of_row.iter().map(|(_, id)| *id).collect();
    // The entries of a row stay together.
    let in_entries = |id: &ColumnId| of_row.iter().find(|(own, _)| own == id).map(|(_, id)| *id);
    builder.table.salt =
        table.salt.as_ref().map(|salt| Salt { buckets: salt.buckets, columns: salt.columns.iter().filter_map(in_entries).collect() });
    let constraint = async |label: &str| -> PgResult<ConstraintName> {
        Ok(ConstraintName {
            oid: work.next_oid().await?,
            name: work.choose_name(table.schema, &name, None, label, &taken),
            deferrable: false,
            initially_deferred: false,
            comment: None,
            index_comment: None,
        })
    };
    builder.table.primary_key = Some(constraint("pkey").await?);
    builder.table.foreign_keys.push(ForeignKeyDescriptor {
        name: constraint("fkey").await?,
        columns,
        referenced_table: table.oid,
        referenced_columns: referenced,
        on_update: ForeignKeyAction::Cascade,
        on_delete: ForeignKeyAction::Cascade,
        on_delete_columns: Vec::new(),
        match_full: false,
        validated: true,
    });
    builder.complete();
    builder.table.split_points = in_buckets(&builder.table, Vec::new());
    stoa_table::row::RowCodec::new(&builder.table)?;
    Ok(builder.table)
}

/// The entries of a table's maps written anew, behind the key that the table has now; `old` is the table as its rows are stored.
///
/// # Errors
/// 0A000 for entries that have indexes; what reading raises.
pub(super) async fn follow_key(work: Work<'_>, old: &TableDescriptor, new: &TableDescriptor) -> PgResult<()> {
    for column in new.map_columns() {
        let Some(before) = column.entries.and_then(|oid| work.catalog().table(oid).cloned()) else { continue };
        if !before.indexes.is_empty() {
            return Err(PgError::unsupported(format!("the key of table \"{}\" cannot be changed", new.name))
                .detail(format!("There are indexes of the entries in \"{}\".", before.name))
                .hint("Drop them first."));
        }
        work.lock_table(&before).await?;
        let mut made = entries(work, new, column, &[]).await?;
        (made.oid, made.name, made.comment) = (before.oid, before.name.clone(), before.comment.clone());
        made.primary_key.clone_from(&before.primary_key);
        for (own, was) in made.foreign_keys.iter_mut().zip(&before.foreign_keys) {
            own.name = was.name.clone();
        }
        work.create_storage_of(&made).await?;
        copy(work, (old, &before), (new, &made)).await?;
        work.drop_storage_of(&Relation::Table(before))?;
        work.put(Relation::Table(made))?;
    }
    Ok(())
}

/// Copies entries from behind one key of their rows to behind another.
async fn copy(
    work: Work<'_>,
    (old, from): (&TableDescriptor, &TableDescriptor),
    (new, to): (&TableDescriptor, &TableDescriptor),
) -> PgResult<()> {
    // Ids of entries, above those of the table's columns.
    const ENTRIES: u32 = 1 << 20;
    let scan = |table: &TableDescriptor, first: u32, scan_id: u32| {
        Rel::Scan(Box::new(TableScan {
            table: Arc::new(table.clone()),
            columns: table.live_columns().map(|c| (c.id, ColId(first + c.id.0))).collect(),
            alias: table.name.clone(),
            as_of: None,
            until: None,
            hints: Vec::new(),
            scan_id,
            rows_decided: true,
            sees_own: false,
        }))
    };
    let parts: Vec<&ColumnDescriptor> = from.live_columns().collect();
    let [of_row @ .., key, value] = parts.as_slice() else { return Err(PgError::internal("a table of entries without columns")) };
    let boolean = SqlType::new(PgType::Bool);
    let mut on = Vec::new();
    for (part, own) in old.key_columns().zip(of_row) {
        let equal = Registry::get().operators("=").iter().find(|o| o.left.as_ref() == Some(&own.ty.ty) && o.right == own.ty.ty);
        let equal = equal.ok_or_else(|| PgError::internal("a key without equality"))?;
        let args = vec![Expr::column(ColId(part.column.0), own.ty.clone()), Expr::column(ColId(ENTRIES + own.id.0), own.ty.clone())];
        on.push(Expr::new(ExprKind::Oper { oper: OperRef(Arc::clone(equal)), args }, boolean.clone()));
    }
    let on = walk::conjunction(on);
    let rel = Rel::Join {
        left: Box::new(scan(old, 0, 1)),
        right: Box::new(scan(from, ENTRIES, 2)),
        kind: JoinKind::Inner,
        on: Some(on),
        lateral: false,
    };
    let row = new.key_columns().filter_map(|part| old.column(part.column)).map(|c| Expr::column(ColId(c.id.0), c.ty.clone()));
    let entry = [key, value].map(|c| Expr::column(ColId(ENTRIES + c.id.0), c.ty.clone()));
    let mut stream = work.rows_of(rel, row.chain(entry).collect()).await?;
    let ids: Vec<ColumnId> = to.live_columns().map(|c| c.id).collect();
    let mut writer = RowWriter::new(work, to, true, &[])?;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let arrays: Vec<(ColumnId, ArrayRef)> = ids.iter().copied().zip(batch.columns().iter().cloned()).collect();
        writer.write(&arrays, batch.num_rows()).await?;
    }
    writer.finish().await?;
    Ok(())
}

/// Stores tables of entries; that of their columns is stored already.
pub(super) async fn store(work: Work<'_>, made: Vec<TableDescriptor>) -> PgResult<()> {
    for table in made {
        work.create_storage_of(&table).await?;
        let (own, of) = (RightsOf::Relation(table.oid), table.entries_of.map(|(oid, _)| RightsOf::Relation(oid)));
        work.put(Relation::Table(table))?;
        owner::same_owner(work, own, of)?;
    }
    Ok(())
}

/// The tables of entries of a table's maps, or of one column.
pub(crate) fn entries_of(catalog: &CatalogSnapshot, table: Oid, column: Option<ColumnId>) -> Vec<Oid> {
    let Some(table) = catalog.table(table) else { return Vec::new() };
    table.map_columns().filter(|c| column.is_none_or(|wanted| wanted == c.id)).filter_map(|c| c.entries).collect()
}

/// Tables of entries are called as their table and their column, and their columns as the key: a table, or one of its columns, has another
/// name now.
pub(super) fn renamed(work: Work<'_>, table: Oid, column: Option<ColumnId>) -> PgResult<()> {
    let Some(table) = work.catalog().table(table).cloned() else { return Ok(()) };
    if let Some((at, part)) = table.key_columns().enumerate().find(|(_, part)| column == Some(part.column)) {
        let name = table.column(part.column).map(|c| c.name.clone()).unwrap_or_default();
        for entries in table.map_columns().filter_map(|c| work.catalog().table(c.entries?).cloned()) {
            let was = entries.live_columns().nth(at).map(|c| c.name.clone());
            // `key` and `value` are taken.
            if let Some(was) = was.filter(|_| entries.column_by_name(&name).is_none()) {
                super::alter_column::rename_column(work, entries, &was, &name)?;
            }
        }
    }
    for own in table.map_columns().filter(|c| column.is_none_or(|wanted| wanted == c.id)) {
        let Some(entries) = own.entries else { continue };
        let name = work.choose_name(table.schema, &table.name, Some(&own.name), "entries", &[]);
        super::alter::rename(work, entries, &name)?;
    }
    Ok(())
}

/// The options of families reach the entries of their columns.
pub(super) fn families_follow(work: Work<'_>, table: &TableDescriptor) -> PgResult<()> {
    check(table)?;
    for column in table.map_columns() {
        let Some(mut entries) = column.entries.and_then(|oid| work.catalog().table(oid).cloned()) else { continue };
        let Some(options) = family_of(table, column.id).map(|f| f.options.clone()) else { continue };
        let Some(own) = entries.families.first_mut().filter(|own| own.options != options) else { continue };
        let layout = own.options.layout;
        own.change(stoa_table::FamilyOptions { layout, ..options });
        super::alter_family::families_follow(work, &entries);
        work.put(Relation::Table(entries))?;
    }
    Ok(())
}

/// Refuses what would part rows from their maps.
///
/// # Errors
/// 0A000, 42809.
pub(super) fn check_action(work: Work<'_>, table: &TableDescriptor, action: &AlterAction) -> PgResult<()> {
    if let Some((owner, column)) = table.entries_of {
        return match action {
            AlterAction::SetOptions(_) | AlterAction::ResetOptions(_) | AlterAction::Split(_) | AlterAction::Unsplit(_) => Ok(()),
            _ => Err(refused(action, &table.name, "entries of maps").hint(of_column(&work.catalog(), owner, column))),
        };
    }
    if table.map_columns().next().is_none() {
        return Ok(());
    }
    let column = |name: &stoa_syntax::ast::Ident| table.column_by_name(&fold(name));
    let parted = match action {
        AlterAction::DropConstraint { name, .. } => {
            table.primary_key.as_ref().is_some_and(|key| key.name == fold(name)).then_some("the primary key")
        }
        AlterAction::DropColumn { name, .. } => {
            column(name).is_some_and(|c| table.is_primary(c.id)).then_some("a column of the primary key")
        }
        _ => None,
    };
    parted.map_or(Ok(()), |what| Err(parts(table, what)))
}

/// Refuses another type of a column by which entries are found, or of entries themselves.
///
/// # Errors
/// 0A000.
pub(super) fn check_type(work: Work<'_>, table: &TableDescriptor, name: &str) -> PgResult<()> {
    if let Some((owner, column)) = table.entries_of {
        let error = PgError::unsupported(format!("the type of column \"{name}\" of table \"{}\" cannot be changed", table.name));
        return Err(error.hint(of_column(&work.catalog(), owner, column)));
    }
    let column = table.column_by_name(name).filter(|_| table.map_columns().next().is_some());
    match column.filter(|c| c.is_map() || table.is_primary(c.id)) {
        Some(column) => Err(parts(table, &format!("the type of column \"{}\"", column.name))),
        None => Ok(()),
    }
}

fn parts(table: &TableDescriptor, what: &str) -> PgError {
    PgError::unsupported(format!("{what} of table \"{}\" cannot be changed", table.name))
        .detail("The entries of its maps are found by the key of their row.")
        .hint("Copy the rows into a new table.")
}

fn of_column(catalog: &CatalogSnapshot, table: Oid, column: ColumnId) -> String {
    let (table, column) = names(catalog, table, column);
    format!("It belongs to column {column} of table {table}.")
}

fn names(catalog: &CatalogSnapshot, table: Oid, column: ColumnId) -> (String, String) {
    let table = catalog.table(table);
    let column = table.and_then(|t| t.column(column)).map_or_else(String::new, |c| quote_name(&c.name));
    (table.map_or_else(String::new, |t| quote_name(&t.name)), column)
}

/// 2BP01: entries go with their column.
pub(super) fn refuse_drop(catalog: &CatalogSnapshot, table: &TableDescriptor) -> PgResult<()> {
    let Some((owner, id)) = table.entries_of else { return Ok(()) };
    let (name, column) = names(catalog, owner, id);
    let message = format!("cannot drop table {} because column {column} of table {name} requires it", quote_name(&table.name));
    Err(PgError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
        .hint(format!("You can drop column {column} of table {name} instead.")))
}
