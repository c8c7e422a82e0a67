//! ALTER TABLE … RESTORE TO a time: the rows of a table become what they were then.
//!
//! Invariant: it is one MERGE with what differs, and one of the entries of each of its maps, along the one path by which rows change: constraints are checked, indexes follow, and
//! foreign keys act as they do for any other statement. Its own changes are a commit like others, so that they can be undone likewise.

use super::alter::schema_name;
use super::work::Work;
use futures::StreamExt;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::deparse::quote_name;
use stoa_syntax::ast;
use stoa_table::catalog::TableDescriptor;

pub(super) async fn restore(work: Work<'_>, table: &TableDescriptor, time: &ast::Expr) -> PgResult<()> {
    if table.primary_key.is_none() {
        return Err(PgError::unsupported(format!("table \"{}\" cannot be restored: it has no primary key", table.name))
            .hint("Rows are matched with what they were by their keys."));
    }
    // Entries come behind their rows: those of rows that go have gone with them then.
    let catalog = work.catalog();
    let maps: Vec<&TableDescriptor> = table.map_columns().filter_map(|column| catalog.table(column.entries?)).collect();
    let overlay = work.ctx.txn.read_view().overlay;
    if std::iter::once(&table).chain(&maps).any(|table| overlay.touches(table.storage)) {
        let message = format!("cannot restore table \"{}\" after it was changed in the same transaction", table.name);
        return Err(PgError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
    }
    for table in std::iter::once(table).chain(maps) {
        statement(work, &merge(work, table, time)).await?;
        // The next one sees what went with the rows.
        work.ctx.txn.end_statement();
    }
    super::dynamic::promote_again(work, table, micros(work, time)?).await
}

/// A time in microseconds since 1970.
fn micros(work: Work<'_>, time: &ast::Expr) -> PgResult<i64> {
    let (catalog, path) = (work.catalog(), work.path());
    let bound = stoa_sql::bind::history::bind_time(&work.bind_context(&catalog, &path), time)?;
    let value = stoa_sql::typed::constant::evaluate_now(&work.ctx.eval, &work.ctx.params, &bound)?;
    let micros = value.map(|value| crate::plan::as_micros(&work.ctx.eval, &value)).transpose()?.flatten();
    micros.ok_or_else(|| PgError::internal("a time that was read as one, and is none"))
}

/// Runs a statement that a definition is made of, on the tables as they are now.
pub(super) async fn statement(work: Work<'_>, sql: &str) -> PgResult<()> {
    let parsed = stoa_syntax::parse(sql).map_err(stoa_sql::bind::syntax_error)?;
    let Some(statement) = parsed.into_iter().next().map(|p| p.statement) else {
        return Err(PgError::internal("a statement of a definition that is none"));
    };
    let (catalog, path) = (work.catalog(), work.path());
    let mut context = work.bind_context(&catalog, &path);
    context.text = sql;
    let bound = stoa_sql::bind::bind_statement(&context, &statement).map_err(without_place)?;
    let mut stream = crate::plan::execute(&work.current(), &bound).await.map_err(without_place)?.stream;
    while let Some(batch) = stream.next().await {
        batch?;
    }
    Ok(())
}

/// Positions are those of a text that the user has not written.
fn without_place(mut error: PgError) -> PgError {
    error.fields_mut().position = None;
    error
}

/// The statement that does it.
fn merge(work: Work<'_>, table: &TableDescriptor, time: &ast::Expr) -> String {
    let columns: Vec<_> = table.visible_columns().filter(|column| !column.is_map()).collect();
    let mut named: Vec<String> = (0..columns.len()).map(|n| format!("c{n}")).collect();
    named.extend(["operation".to_owned(), "changed".to_owned()]);
    let is_key = |id| table.key_columns().any(|part| part.column == id);
    let (mut on, mut set, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (n, column) in columns.iter().enumerate() {
        let name = quote_name(&column.name);
        if is_key(column.id) {
            on.push(format!("stoa_t.{name} = stoa_d.c{n}"));
        }
        if column.generated.is_some() {
            continue;
        }
        // An identity that is always generated never changes.
        if !is_key(column.id) && column.identity.as_ref().is_none_or(|identity| !identity.always) {
            set.push(format!("{name} = stoa_d.c{n}"));
        }
        names.push(name);
        values.push(format!("stoa_d.c{n}"));
    }
    let update = if set.is_empty() { String::new() } else { format!(" WHEN MATCHED THEN UPDATE SET {}", set.join(", ")) };
    format!(
        "MERGE INTO {}.{} AS stoa_t USING stoa_diff('{}'::regclass, 'infinity', {time}) AS stoa_d ({}) ON {} \
         WHEN MATCHED AND stoa_d.operation = 'delete' THEN DELETE{update} \
         WHEN NOT MATCHED AND stoa_d.operation <> 'delete' THEN INSERT ({}) OVERRIDING SYSTEM VALUE VALUES ({})",
        quote_name(&schema_name(work, table.schema)),
        quote_name(&table.name),
        table.oid,
        named.join(", "),
        on.join(" AND "),
        names.join(", "),
        values.join(", ")
    )
}
