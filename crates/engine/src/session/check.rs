//! CHECK INDEX and CHECK TABLE as statements: a row for each difference, and a notice of what was compared.

use super::api::{OutputColumn, Rows, RowsTag};
use crate::ddl::{FoundIndex, Work, undefined_relation};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, StringViewArray};
use arrow::datatypes::{Field, Schema};
use futures::StreamExt;
use std::sync::Arc;
use stoa_exec::index::check_rows::{MOST_ROWS, check_rows};
use stoa_exec::index::repair::repair;
use stoa_exec::index::scrub::check_and_record;
use stoa_exec::index::{CheckTarget, Fault, FaultKind};
use stoa_exec::nodes::StatementContext;
use stoa_pg::types::{PgType, SqlType};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::privileges::{not_owner, relation_kind};
use stoa_syntax::ast::ObjectName;
use stoa_table::catalog::{ColumnDescriptor, ColumnId, IndexDescriptor, Relation, RightsOf, TableDescriptor};
use stoa_table::row::{KeyList, RowCodec, RowEncoder};

/// What the statement answers.
pub(crate) fn columns() -> Arc<[OutputColumn]> {
    let column = |name: &str, ty: PgType| OutputColumn { name: name.into(), ty: SqlType::new(ty), table_oid: 0, attnum: 0 };
    Arc::from([
        column("index_name", PgType::Text),
        column("fault", PgType::Text),
        column("index_key", PgType::Text),
        column("row_key", PgType::Text),
        column("repaired", PgType::Bool),
    ])
}

/// Runs one.
///
/// # Errors
/// 42P01, 42809; XX001 for rows that cannot be read.
pub(crate) async fn run(
    ctx: &StatementContext,
    table: bool,
    name: &ObjectName,
    condition: Option<&str>,
    with_repair: bool,
) -> PgResult<Rows> {
    let work = Work { ctx };
    let target = if table {
        CheckTarget { table: Arc::new(table_named(work, name)?), index: None }
    } else {
        match work.find_index(name)? {
            Some((table, found)) => {
                let table = work.catalog().table(table).cloned().ok_or_else(|| undefined_relation(&Work::shown(name)))?;
                // The primary key is the table itself: its rows are read, and there is nothing to compare with.
                let index = match found {
                    FoundIndex::Index(oid) => oid,
                    FoundIndex::PrimaryKey => 0,
                };
                CheckTarget { table: Arc::new(table), index: Some(index) }
            }
            None => {
                return Err(match work.find(name)? {
                    Some(other) => PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not an index", other.name())),
                    None => work.missing(name),
                });
            }
        }
    };
    let relation = ctx.catalog.view_of_rows(target.table.oid).map_or(target.table.oid, |view| view.oid);
    if !ctx.catalog.authority().owns(ctx.role, RightsOf::Relation(relation)) {
        return Err(not_owner(relation_kind(&ctx.catalog, relation), &target.table.name));
    }
    // Entries of maps are part of their table.
    let maps =
        target.table.map_columns().filter(|_| table && condition.is_none()).filter_map(|column| ctx.catalog.shared_table(column.entries?));
    let targets: Vec<CheckTarget> = maps.map(|entries| CheckTarget { table: entries, index: None }).collect();
    let mut faults = Vec::new();
    for target in std::iter::once(&target).chain(&targets) {
        let mut report = match condition {
            Some(condition) => {
                let keys = chosen(work, &target.table, condition).await?;
                check_rows(ctx, target, &keys).await?
            }
            None => check_and_record(ctx, target).await?,
        };
        for (index, entries, ranges) in &report.checked {
            let faults = report.faults.iter().filter(|f| f.index == *index).count();
            work.notice(
                SqlState::SUCCESSFUL_COMPLETION,
                format!("index \"{index}\": {entries} entries compared in {ranges} ranges, {faults} faults"),
            );
        }
        if with_repair {
            repair(ctx, target, &mut report.faults).await?;
        }
        match condition {
            Some(_) => refuse_texts(work, target)?,
            None => check_texts(ctx, target, with_repair, &mut report.faults).await?,
        }
        faults.append(&mut report.faults);
    }
    let faults = &faults;
    let text = |f: &dyn Fn(usize) -> String| Arc::new(StringViewArray::from_iter_values((0..faults.len()).map(f))) as ArrayRef;
    let field = |f: fn(&stoa_exec::index::Fault) -> String| text(&|n| faults.get(n).map(f).unwrap_or_default());
    let arrays: Vec<ArrayRef> = vec![
        field(|f| f.index.clone()),
        field(|f| f.kind.name().to_owned()),
        field(|f| f.entry_text.clone()),
        field(|f| f.row_text.clone()),
        Arc::new(BooleanArray::from_iter(faults.iter().map(|f| Some(f.repaired)))),
    ];
    let columns = columns();
    let fields: Vec<Field> = columns.iter().zip(&arrays).map(|(c, a)| Field::new(&c.name, a.data_type().clone(), true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(faults.len()));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?;
    let tag = RowsTag::Fixed(if table { "CHECK TABLE".into() } else { "CHECK INDEX".into() });
    Ok(Rows { columns, context: ctx.eval.clone(), stream: futures::stream::iter([Ok(batch)]).boxed(), tag, is_binary: false })
}

/// The keys of the rows that satisfy a condition, without a look at indexes, which may be wrong.
async fn chosen(work: Work<'_>, table: &TableDescriptor, condition: &str) -> PgResult<KeyList> {
    if table.primary_key.is_none() || table.key.is_empty() {
        return Err(PgError::unsupported(format!("some rows of table \"{}\" cannot be checked: it has no primary key", table.name))
            .hint("CHECK without WHERE checks all of them."));
    }
    let (catalog, path) = (work.catalog(), work.path());
    let named: Vec<&ColumnDescriptor> = table.key_columns().filter_map(|part| table.column(part.column)).collect();
    let schema = catalog.schema(table.schema).map(|s| quote_name(&s.name)).unwrap_or_default();
    let columns: Vec<String> = named.iter().map(|c| quote_name(&c.name)).collect();
    let name = quote_name(&table.name);
    let sql = format!("SELECT /*+ FULL({name}) NO_INDEX({name}) */ {} FROM {schema}.{name} WHERE {condition}", columns.join(", "));
    let parsed = stoa_syntax::parse(&sql).map_err(stoa_sql::bind::syntax_error)?;
    let Some(statement) = parsed.into_iter().next().map(|p| p.statement) else {
        return Err(PgError::internal("a query that is none"));
    };
    let mut context = work.bind_context(&catalog, &path);
    context.text = &sql;
    // Positions are those of a text that nobody has written.
    let without_place = |mut error: PgError| {
        error.fields_mut().position = None;
        error
    };
    let bound = stoa_sql::bind::bind_statement(&context, &statement).map_err(without_place)?;
    stoa_sql::privileges::check(&catalog, work.ctx.role, &bound)?;
    let mut stream = crate::plan::execute(&work.current(), &bound).await.map_err(without_place)?.stream;
    let codec = RowCodec::new(table)?;
    let mut keys = KeyList::new();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let value = |id: ColumnId| batch.columns().get(named.iter().position(|c| c.id == id)?).cloned();
        let encoder = RowEncoder::new(&codec, value)?;
        for row in 0..batch.num_rows() {
            keys.push_with(|out| encoder.key(row, out))?;
        }
        if keys.len() > MOST_ROWS {
            return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("more than {MOST_ROWS} rows satisfy the condition"))
                .hint("Check a part after the other, or without WHERE."));
        }
    }
    Ok(keys)
}

/// With WHERE: a full text index by itself is refused, those of a table are left out with a notice.
fn refuse_texts(work: Work<'_>, target: &CheckTarget) -> PgResult<()> {
    let hint = "CHECK without WHERE compares all of its documents.";
    for index in target.table.indexes.iter().filter(|i| i.is_fulltext()) {
        let what = format!("full text index \"{}\" cannot be checked for some rows", index.name);
        match target.index {
            Some(oid) if oid == index.oid => return Err(PgError::unsupported(what).hint(hint)),
            Some(_) => {}
            None => {
                work.ctx.session.notice("NOTICE", PgError::new(SqlState::SUCCESSFUL_COMPLETION, format!("{what}, skipping")).hint(hint));
            }
        }
    }
    Ok(())
}

/// Full text indexes are checked as wholes, and repaired by building them again.
async fn check_texts(ctx: &StatementContext, target: &CheckTarget, with_repair: bool, faults: &mut Vec<Fault>) -> PgResult<()> {
    let chosen = |i: &&IndexDescriptor| i.is_fulltext() && target.index.is_none_or(|oid| oid == i.oid);
    for index in target.table.indexes.iter().filter(chosen) {
        let Some(text) = ctx.database.text.get(index.storage) else { continue };
        let (rows, fault) = match ctx.database.text.check(&target.table, &text).await {
            Ok((0, rows)) => (rows, None),
            Ok((differ, rows)) => (rows, Some((FaultKind::Stale, format!("{differ} differences")))),
            Err(error) => (0, Some((FaultKind::Unreadable, error.message().to_owned()))),
        };
        let found = usize::from(fault.is_some());
        Work { ctx }
            .notice(SqlState::SUCCESSFUL_COMPLETION, format!("index \"{}\": {rows} documents compared, {found} faults", index.name));
        let Some((kind, entry_text)) = fault else { continue };
        if with_repair {
            ctx.database.text.rebuild(&text).await?;
        }
        let (entry, row, row_text) = (Vec::new(), None, String::new());
        faults.push(Fault { index: index.name.clone(), kind, entry, row, entry_text, row_text, repaired: with_repair });
    }
    Ok(())
}

fn table_named(work: Work<'_>, name: &ObjectName) -> PgResult<TableDescriptor> {
    if let Some(Relation::View(view)) = work.find(name)?.as_deref()
        && let Some(storage) = view.materialized
    {
        return work.catalog().table(storage).cloned().ok_or_else(|| undefined_relation(&Work::shown(name)));
    }
    work.table(name)
}
