//! ALTER TABLE of families.

use super::alter::column;
use super::work::Work;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::bind::fold;
use stoa_sql::catalog::deparse::quote_name;
use stoa_table::FamilyId;
use stoa_table::catalog::{Relation, TableDescriptor};

pub(super) fn missing_family(table: &TableDescriptor, name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("family \"{name}\" of relation \"{}\" does not exist", table.name))
}

/// The store's families and their options are not part of the transaction: they follow its commit.
pub(super) fn families_follow(work: Work<'_>, table: &TableDescriptor) {
    let schema = stoa_table::row::RowCodec::table_schema(table);
    let tables = work.ctx.database.tables.clone();
    work.ctx.txn.on_commit(move || {
        Box::pin(async move {
            if let Err(error) = tables.alter(&schema).await {
                tracing::warn!(%error, table = schema.name, "the families of a table could not be changed");
            }
        })
    });
}

/// ADD FAMILY: without columns, which ADD COLUMN puts into it.
pub(super) async fn add_family(
    work: Work<'_>,
    mut table: TableDescriptor,
    family: &stoa_syntax::ddl::Family,
    if_not_exists: bool,
) -> PgResult<()> {
    let name = fold(&family.name);
    if table.families.iter().any(|f| f.name == name) {
        let message = format!("family \"{name}\" of relation \"{}\" already exists", table.name);
        if if_not_exists {
            work.notice(SqlState::DUPLICATE_OBJECT, format!("{message}, skipping"));
            return Ok(());
        }
        return Err(PgError::new(SqlState::DUPLICATE_OBJECT, message));
    }
    if let Some(first) = family.columns.first() {
        column(&table, &fold(first))?;
        return Err(PgError::unsupported("a column cannot be moved into another family")
            .hint(format!("Add the family without columns, and new columns with ADD COLUMN … FAMILY {}.", quote_name(&name))));
    }
    let mut new = super::table::new_family(&table, name, &family.options)?;
    // Rows of this transaction may have columns in it, so that the store has it at once; one that is rolled back leaves it empty there,
    // and the next change of families takes it away.
    let tables = &work.ctx.database.tables;
    let mut schema =
        tables.describe(table.storage).await?.ok_or_else(|| PgError::internal(format!("table \"{}\" has no rows' place", table.name)))?;
    // Nor is it one that this transaction has dropped, or another one left there.
    while schema.families.iter().any(|f| f.id == new.id) {
        let next = new.id.0.checked_add(1);
        new.id = FamilyId(next.ok_or_else(too_many)?);
    }
    if table.is_raw() {
        // The cells of a family that is gone must not be the new one's.
        new.id = FamilyId(u16::try_from(table.next_column_id).map_err(|_| too_many())?.max(new.id.0));
        table.next_column_id = u32::from(new.id.0) + 1;
    }
    schema.families.push(stoa_table::FamilySchema { id: new.id, name: new.name.clone(), options: new.options.clone() });
    tables.alter(&schema).await?;
    table.families.push(new);
    work.put(Relation::Table(table))
}

fn too_many() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a table has too many families")
}

/// DROP FAMILY of one without columns. The first one stays: it tells which rows there are.
pub(super) fn drop_family(work: Work<'_>, mut table: TableDescriptor, name: &str, if_exists: bool) -> PgResult<()> {
    let Some(at) = table.families.iter().position(|f| f.name == name) else {
        let missing = missing_family(&table, name);
        if if_exists {
            work.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{}, skipping", missing.message()));
            return Ok(());
        }
        return Err(missing);
    };
    let cannot = || {
        PgError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!("cannot drop family {} of table {}", quote_name(name), quote_name(&table.name)),
        )
    };
    if at == 0 {
        return Err(cannot().detail("It is the first family, which tells which rows there are."));
    }
    if table.is_raw() && table.families.len() <= 2 {
        return Err(cannot().detail("A raw table has at least one family."));
    }
    let family = table.families.remove(at);
    let columns: Vec<String> =
        family.columns.iter().filter_map(|id| table.column(*id)).filter(|c| !c.dropped).map(|c| quote_name(&c.name)).collect();
    if !columns.is_empty() {
        let what = if columns.len() == 1 { "Column" } else { "Columns" };
        let verb = if columns.len() == 1 { "is" } else { "are" };
        return Err(cannot().detail(format!("{what} {} {verb} in it.", columns.join(", "))).hint("Drop the columns first."));
    }
    if table.is_raw() {
        super::raw::follow(&mut table);
    }
    families_follow(work, &table);
    work.put(Relation::Table(table))
}
