//! SHOW and SHOW ALL.

use super::api::{OutputColumn, Rows, RowsTag};
use super::prepared::text_column;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use futures::StreamExt;
use std::sync::Arc;
use stoa_exec::environment::SessionShared;
use stoa_exec::settings::server::{check_may_examine, may_examine};
use stoa_exec::settings::{SETTINGS, find, unrecognized};
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_table::catalog::Authority;

pub(crate) fn one(session: &SessionShared, authority: &Authority, name: &str, context: EvalContext) -> PgResult<Rows> {
    check_may_examine(authority, session.current_role(), name)?;
    let value = session.show(name).ok_or_else(|| unrecognized(name))?;
    let name = find(name).map_or(name, |s| s.name);
    text_rows(Arc::from([text_column(name)]), vec![vec![Some(value)]], RowsTag::Fixed("SHOW".into()), context)
}

pub(crate) fn all_columns() -> Arc<[OutputColumn]> {
    Arc::from([text_column("name"), text_column("setting"), text_column("description")])
}

pub(crate) fn all(session: &SessionShared, authority: &Authority, context: EvalContext) -> PgResult<Rows> {
    let role = session.current_role();
    let mut rows: Vec<Vec<Option<String>>> = SETTINGS
        .iter()
        .filter(|s| !s.hidden && may_examine(authority, role, s.name))
        .map(|s| vec![Some(s.name.to_owned()), session.show(s.name), Some(s.description.to_owned())])
        .collect();
    let settings = session.settings();
    rows.extend(settings.custom().map(|(name, value)| vec![Some(name.to_owned()), Some(value.to_owned()), None]));
    // As PostgreSQL orders them: by bytes.
    rows.sort_by(|a, b| a.first().cmp(&b.first()));
    text_rows(all_columns(), rows, RowsTag::Fixed("SHOW".into()), context)
}

/// Rows of text, given by row.
pub(crate) fn text_rows(
    columns: Arc<[OutputColumn]>,
    rows: Vec<Vec<Option<String>>>,
    tag: RowsTag,
    context: EvalContext,
) -> PgResult<Rows> {
    let arrays: Vec<ArrayRef> = (0..columns.len())
        .map(|at| Arc::new(StringViewArray::from_iter(rows.iter().map(|row| row.get(at).and_then(|v| v.as_deref())))) as ArrayRef)
        .collect();
    let fields: Vec<Field> = columns.iter().map(|c| Field::new(&c.name, DataType::Utf8View, true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).map_err(PgError::from)?;
    Ok(Rows { columns, context, stream: futures::stream::iter([Ok(batch)]).boxed(), tag, is_binary: false })
}
