//! Reads of the rows that a full text index finds: the best of them, a count, those that pass other conditions.

use super::{CompiledRead, CompiledRows, SHORT_ROWS, count, limited};
use crate::plan::compiled::scalar::{EvalArgs, ScalarSource};
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use stoa_exec::environment::StatementContext;
use stoa_exec::fulltext::matching::MATCH_FUNCTION;
use stoa_exec::fulltext::read::{Requested, RowOrder, SearchRequest, SearchRows, SomeRows};
use stoa_exec::fulltext::scan::Match;
use stoa_exec::fulltext::{TextIndex, TextIndexes, items, tsquery};
use stoa_exec::nodes::scan_output::ScanTable;
use stoa_fulltext::Query;
use stoa_pg::items::Class;
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, TableScan};
use stoa_sql::typed::walk::columns_of;
use stoa_table::TableId;
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexState};

/// The share of rows that are taken to pass conditions before any has.
const FIRST_SHARE: f32 = 0.3;
/// Room for rows that are not read yet.
const FEW_ROWS: usize = 64;

/// A search in one index.
pub(super) struct TextRead {
    /// The index.
    storage: TableId,
    pub(super) name: String,
    parts: Vec<Part>,
    order: RowOrder,
    /// The share of rows that passed the conditions the last time, as the bits of a float.
    share: AtomicU32,
    pub(super) misses: AtomicU32,
}

/// What one filter looks for.
enum Part {
    Match {
        of: Match,
        places: Vec<usize>,
        search: ScalarSource,
    },
    /// A `tsquery` in the index's field.
    Document {
        field: usize,
        query: ScalarSource,
    },
    /// Items that a row must have for `value OPERATOR constant`, or with `= any` for `constant = ANY (value)`, to hold: the filter stays.
    Items {
        field: usize,
        class: Class,
        operator: String,
        constant: ScalarSource,
    },
}

impl TextRead {
    /// The search in the index that answers most of the filters, with the positions of those; `None` if none answers any, or if another
    /// filter is one of those that may narrow the rows down otherwise.
    pub(super) fn of(
        eval: &EvalContext,
        text: &TextIndexes,
        scan: &TableScan,
        filters: &[&Expr],
        order: RowOrder,
    ) -> PgResult<Option<(Self, Vec<usize>)>> {
        let table = &scan.table;
        let mut found: Option<(&IndexDescriptor, Vec<(usize, Part)>)> = None;
        // Whether a partial index has the rows is the planner's business.
        for index in table.indexes.iter().filter(|i| i.is_fulltext() && i.state == IndexState::Readable && i.predicate.is_none()) {
            let mut parts = Vec::new();
            for (at, filter) in filters.iter().enumerate() {
                parts.extend(Part::of(eval, text, scan, index, filter)?.map(|part| (at, part)));
            }
            if parts.len() > found.as_ref().map_or(0, |(_, known)| known.len()) {
                found = Some((index, parts));
            }
        }
        let Some((index, parts)) = found else { return Ok(None) };
        // Keys, other indexes and columns of this one are weighed by the planner.
        let mut weighed: Vec<ColumnId> = table.key.iter().map(|k| k.column).take(1).collect();
        for other in table.indexes.iter().filter(|i| i.state == IndexState::Readable) {
            let parts = match other.is_fulltext() {
                true if other.storage == index.storage => other.parts.as_slice(),
                true => continue,
                false => other.parts.get(..1).unwrap_or_default(),
            };
            for part in parts {
                match &part.key {
                    IndexKey::Column(id) => weighed.push(*id),
                    IndexKey::Expr(_) if other.is_fulltext() => {}
                    IndexKey::Expr(_) => return Ok(None),
                }
            }
        }
        let is_used = |at: usize| parts.iter().any(|(used, _)| *used == at);
        for (_, filter) in filters.iter().enumerate().filter(|(at, _)| !is_used(*at)) {
            // Other indexes may answer it, and have their share in the score.
            if filter.any(&mut |e| matches!(&e.kind, ExprKind::Func { func, .. } if func.0.name == MATCH_FUNCTION)) {
                return Ok(None);
            }
            let mut columns = Vec::new();
            columns_of(filter, &mut columns);
            if columns.iter().filter_map(|c| column_id(scan, *c)).any(|id| weighed.contains(&id)) {
                return Ok(None);
            }
        }
        let answered = parts.iter().filter(|(_, part)| !matches!(part, Part::Items { .. })).map(|(at, _)| *at).collect();
        let parts = parts.into_iter().map(|(_, part)| part).collect();
        let (share, misses) = (AtomicU32::new(FIRST_SHARE.to_bits()), AtomicU32::new(0));
        Ok(Some((Self { storage: index.storage, name: index.name.clone(), parts, order, share, misses }, answered)))
    }

    /// What is looked for; `None` if the index may find more than fits.
    fn query(&self, known: EvalArgs<'_>) -> PgResult<Option<Query>> {
        let mut queries = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            match part {
                Part::Match { of, places, search } => queries.push(of.query(text(&*search.value(known)?)?, places)?),
                Part::Document { field, query } => {
                    // What a value raises is raised only if there is a row.
                    let Ok(value) = query.value(known) else { return Ok(None) };
                    match tsquery::of_field(text(&value)?, *field) {
                        Some((query, true)) => queries.push(query),
                        _ => return Ok(None),
                    }
                }
                Part::Items { field, class, operator, constant } => {
                    let Ok(value) = constant.value(known) else { return Ok(None) };
                    let sought = if operator == "= any" { class.sought_element(&value) } else { class.sought(operator, &value) };
                    let Some(query) = sought.and_then(|sought| items::query(sought, *field)) else { return Ok(None) };
                    queries.push(query);
                }
            }
        }
        Ok(Some(Query::all(queries)))
    }
}

impl Part {
    fn of(eval: &EvalContext, text: &TextIndexes, scan: &TableScan, index: &IndexDescriptor, filter: &Expr) -> PgResult<Option<Self>> {
        match &filter.kind {
            ExprKind::Func { func, args } if func.0.name == MATCH_FUNCTION => {
                let [config, search, columns @ ..] = args.as_slice() else { return Ok(None) };
                let ExprKind::Const(ScalarValue::Utf8View(Some(config)) | ScalarValue::Utf8(Some(config))) = &config.kind else {
                    return Ok(None);
                };
                let mut ids = Vec::with_capacity(columns.len());
                let mut own = Vec::with_capacity(columns.len());
                for column in columns {
                    let id = if let ExprKind::Column(column) = column.kind { Some(column_id(scan, column)) } else { None };
                    let mut column = column.clone();
                    if id == Some(None) || !own_columns(scan, &mut column) {
                        return Ok(None);
                    }
                    ids.push(id.flatten());
                    own.push(column);
                }
                let Some(search) = ScalarSource::of(eval, search)? else { return Ok(None) };
                let Some(definition) = text.get(index.storage) else { return Ok(None) };
                let of = Match::new(config, ids)?;
                let is_part = |n: usize, part: usize| own.get(n).is_some_and(|column| definition.texts.is_part(part, column));
                Ok(of.places(index, &definition.definition.fields, &is_part).map(|places| Part::Match { of, places, search }))
            }
            ExprKind::Oper { oper, args } => {
                let [left, right] = args.as_slice() else { return Ok(None) };
                let Some(definition) = text.get(index.storage) else { return Ok(None) };
                let operator = oper.0.name;
                if let Some(part) = Self::of_items(eval, &definition, scan, operator, left, right)? {
                    return Ok(Some(part));
                }
                if let Some(operator) = items::turned(operator)
                    && let Some(part) = Self::of_items(eval, &definition, scan, operator, right, left)?
                {
                    return Ok(Some(part));
                }
                if !matches!(operator, "@@" | "@@@") {
                    return Ok(None);
                }
                for (document, query) in [(left, right), (right, left)] {
                    let mut document = document.clone();
                    if own_columns(scan, &mut document)
                        && let Some(field) = definition.texts.part_of(&document)
                        && let Some(query) = ScalarSource::of(eval, query)?
                    {
                        return Ok(Some(Part::Document { field, query }));
                    }
                }
                Ok(None)
            }
            ExprKind::AnyArray { left, oper, array, all: false } if oper.0.name == "=" => {
                let Some(definition) = text.get(index.storage) else { return Ok(None) };
                Self::of_items(eval, &definition, scan, "= any", array, left)
            }
            _ => Ok(None),
        }
    }

    /// What `value OPERATOR constant` asks of the items of the index.
    fn of_items(
        eval: &EvalContext,
        index: &TextIndex,
        scan: &TableScan,
        operator: &str,
        value: &Expr,
        constant: &Expr,
    ) -> PgResult<Option<Self>> {
        let mut value = value.clone();
        if !own_columns(scan, &mut value) {
            return Ok(None);
        }
        let Some((field, class)) = index.texts.items_of(&value).filter(|(_, class)| class.knows(operator)) else { return Ok(None) };
        let constant = ScalarSource::of(eval, constant)?;
        Ok(constant.map(|constant| Part::Items { field, class: class.clone(), operator: operator.to_owned(), constant }))
    }
}

fn column_id(scan: &TableScan, column: ColId) -> Option<ColumnId> {
    scan.columns.iter().find(|(_, col)| *col == column).map(|(id, _)| *id)
}

/// Gives columns the ids that they have in the table; false if one is not of it.
fn own_columns(scan: &TableScan, e: &mut Expr) -> bool {
    if let ExprKind::Column(column) = &mut e.kind {
        let Some(id) = column_id(scan, *column) else { return false };
        *column = ColId(id.0);
        return true;
    }
    e.children_mut().into_iter().all(|child| own_columns(scan, child))
}

fn text(value: &ScalarValue) -> PgResult<Option<&str>> {
    match value {
        ScalarValue::Utf8View(text) | ScalarValue::Utf8(text) => Ok(text.as_deref()),
        value if value.is_null() => Ok(None),
        _ => Err(PgError::internal("a search string that is no text")),
    }
}

impl CompiledRead {
    /// The rows that a search finds.
    ///
    /// # Errors
    /// The search string is malformed; the store failed; what the expressions raise.
    pub(super) async fn read_search(
        &self,
        search: &TextRead,
        table: ScanTable,
        ctx: &StatementContext,
        known: EvalArgs<'_>,
    ) -> PgResult<CompiledRows> {
        if !self.is_short() {
            return Ok(CompiledRows::Unsuitable);
        }
        let text = &ctx.database.text;
        let Some(index) = text.get(search.storage) else { return Ok(CompiledRows::Unsuitable) };
        let (Some(ending), Some(query)) = (index.texts.ending(&table.table), search.query(known)?) else {
            return Ok(CompiledRows::Unsuitable);
        };
        let query = query.over_ending(&|field| ending.get(field).copied().unwrap_or(false));
        let (Ok(offset), Ok(limit)) = (count(self.offset.as_ref(), known), count(self.limit.as_ref(), known)) else {
            return Ok(CompiledRows::Unsuitable);
        };
        let fetch = limit.map(|limit| limit.saturating_add(offset.unwrap_or(0)));
        if fetch == Some(0) {
            return Ok(CompiledRows::Rows(None));
        }
        let sought = SearchRequest { feed: Arc::clone(text.feed()), what: Requested::Index { index, query: Arc::new(query) } };
        let room = fetch.unwrap_or(FEW_ROWS).min(FEW_ROWS);
        let mut rows = SearchRows::new(table, sought, Arc::clone(&self.read), search.order, room)?;
        // Only their number is wanted, or all must be looked at; the rows of both ways are as many.
        let counted = self.read.is_empty() && self.conditions.is_empty() && self.projections.is_empty();
        if !rows.is_ready() || (!counted && fetch.is_some_and(|fetch| fetch > SHORT_ROWS)) {
            return Ok(CompiledRows::Unsuitable);
        }
        if rows.is_long() {
            ctx.session.before_blocking().await;
        }
        let batches = match fetch.filter(|_| search.order != RowOrder::Any) {
            Some(fetch) if !self.conditions.is_empty() || rows.may_be_gone() => {
                let share = f64::from(f32::from_bits(search.share.load(Ordering::Relaxed)));
                let pass = |some| self.passing(self.batch_of(some)?, known);
                let (batches, passed) = rows.best(fetch, share, pass).await?;
                search.share.store((passed.share() as f32).to_bits(), Ordering::Relaxed);
                batches
            }
            top => {
                rows.search(top, counted).await?;
                let fetch = fetch.filter(|_| self.conditions.is_empty());
                if fetch.is_none() && !counted && rows.found().keys.len() > SHORT_ROWS {
                    search.misses.fetch_add(1, Ordering::Relaxed);
                    return Ok(CompiledRows::Unsuitable);
                }
                let most = fetch.unwrap_or(usize::MAX);
                let (mut given, mut batches) = (0, Vec::new());
                while given < most {
                    let Some(some) = rows.next(most - given).await? else { break };
                    let batch = self.passing(self.batch_of(some)?, known)?;
                    given += batch.num_rows();
                    batches.push(batch);
                }
                batches
            }
        };
        let batch = match batches.as_slice() {
            [] => return Ok(CompiledRows::Rows(None)),
            [one] => one.clone(),
            several => concat_batches(&self.read_schema, several)?,
        };
        let batch = limited(batch, offset, limit);
        if batch.num_rows() == 0 {
            return Ok(CompiledRows::Rows(None));
        }
        self.projected(batch, known).map(|batch| CompiledRows::Rows(Some(batch)))
    }

    fn batch_of(&self, (columns, rows): SomeRows) -> PgResult<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.read_schema), columns, &options)?)
    }
}
