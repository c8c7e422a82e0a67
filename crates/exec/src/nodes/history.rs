//! The past of a table's rows: what each was from when to when, what each commit did to it, what differs between two times.
//!
//! Invariant: a row of a time is shown only if the store knows it since then; otherwise the scan fails. A version comes as it was stored,
//! read with the columns that the table has today. What the transaction itself has written is no past yet.

use super::source::SourceTable;
use super::table_provider::is_evaluable;
use crate::filter::{ScanColumns, predicate};
use crate::scan_table::ScanTable;
use arrow::array::{Array, ArrayRef, BooleanArray, ListBuilder, RecordBatch, RecordBatchOptions, StringViewBuilder};
use arrow::array::{StringViewArray, TimestampMicrosecondArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::values::array::of_lists;
use stoa_pg::values::datetime::epoch::from_unix_micros;
use stoa_pg::{PgError, PgResult, SqlType};
use stoa_sql::bind::history::no_history;
use stoa_sql::typed::tree::VersionColumn;
use stoa_table::access::{KeyShape, Predicate, explain, scope};
use stoa_table::catalog::{ColumnId, TableDescriptor};
use stoa_table::failure::unknown_past;
use stoa_table::row::table::Place;
use stoa_table::row::{ColumnSource, ScanDecoder};
use stoa_table::{CellRef, FamilyId, History, HistorySink, KeyRange, RowSink, Timestamp, Version};

/// Rows that the store is asked for at once.
const BLOCK_ROWS: usize = 1024;

/// Which versions are shown, by microseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// Those that were there after `from` and before `to`, or at it as well.
    Between {
        from: i64,
        to: i64,
        includes_end: bool,
    },
    All,
    /// A row for each change, deletions among them.
    Changes,
    /// The rows that differ, as of `to`.
    Difference {
        from: i64,
        to: i64,
    },
}

impl Times {
    /// The time from which on rows must be known.
    fn needs(self) -> Option<i64> {
        match self {
            Times::Between { from, .. } => Some(from),
            Times::Difference { from, to } => Some(from.min(to)),
            Times::All | Times::Changes => None,
        }
    }
}

/// What a time sees: all commits of its microsecond, as AS OF does.
#[must_use]
pub fn seen_at(micros: i64) -> Timestamp {
    let next = u64::try_from(micros).unwrap_or(0).saturating_add(1);
    Timestamp(next.checked_mul(1 << Timestamp::COUNTER_BITS).map_or(u64::MAX, |next| next - 1))
}

/// A column that is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    Stored(ColumnId),
    Version(VersionColumn),
}

/// The past of a table as DataFusion's planner takes it.
#[derive(Debug)]
pub struct HistoryTable {
    source: SourceTable,
    columns: Arc<[(Given, String, SqlType)]>,
    times: Times,
    schema: SchemaRef,
}

impl HistoryTable {
    /// The columns that a statement uses, with the names of their fields.
    ///
    /// # Errors
    /// 55000 if a family that a column is in keeps no history.
    pub fn new(table: &Arc<TableDescriptor>, columns: &[(Given, String)], times: Times) -> PgResult<Self> {
        let source = SourceTable::new(Arc::clone(table))?;
        let mut list = Vec::with_capacity(columns.len());
        for (given, name) in columns {
            let ty = match given {
                Given::Version(column) => column.ty(),
                Given::Stored(id) => {
                    let column = table.column(*id).ok_or_else(|| PgError::internal("a history of a column that does not exist"))?;
                    column.ty.clone()
                }
            };
            list.push((*given, name.clone(), ty));
        }
        let fields: Vec<Field> = list.iter().map(|(_, name, ty)| Field::new(name, ty.arrow.clone(), true)).collect();
        let out = Self { source, columns: list.into(), times, schema: Arc::new(Schema::new(fields)) };
        for id in out.decoded() {
            out.check_kept(id)?;
        }
        Ok(out)
    }

    /// The columns that are read of the store: of what an update changed, all.
    fn decoded(&self) -> Vec<ColumnId> {
        let stored = |(given, ..): &(Given, String, SqlType)| match given {
            Given::Stored(id) => Some(*id),
            Given::Version(_) => None,
        };
        let mut ids: Vec<ColumnId> = self.columns.iter().filter_map(stored).collect();
        let compared =
            matches!(self.times, Times::Difference { .. }) || self.columns.iter().any(|c| c.0 == Given::Version(VersionColumn::Changed));
        if compared {
            ids.extend(self.source.table.live_columns().filter(|c| !c.hidden).map(|c| c.id));
        }
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(*id));
        ids
    }

    fn check_kept(&self, column: ColumnId) -> PgResult<()> {
        let Some(Place::Family(at)) = self.source.codec.column(column).map(|c| c.place) else { return Ok(()) };
        match self.source.table.families.get(at) {
            Some(family) if family.options.versions == 1 => Err(no_history(&self.source.table, &family.name)),
            _ => Ok(()),
        }
    }
}

impl ScanColumns for HistoryTable {
    fn column(&self, name: &str) -> Option<(ColumnId, &SqlType)> {
        self.columns.iter().find_map(|(given, own, ty)| match given {
            Given::Stored(id) if own == name => Some((*id, ty)),
            _ => None,
        })
    }
}

#[async_trait]
impl TableProvider for HistoryTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// A key never changes, so that conditions on it say which rows are read; all are asked again of each version.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let kind = |filter: &&Expr| {
            Ok(if is_evaluable(filter)? { TableProviderFilterPushDown::Inexact } else { TableProviderFilterPushDown::Unsupported })
        };
        filters.iter().map(kind).collect()
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let projected: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..self.columns.len()).collect());
        let predicates: Vec<Predicate> = filters.iter().map(|f| predicate(f, self)).collect();
        let key = KeyShape::of_table(&self.source.codec.key);
        let ranges = scope(&key, &predicates).ranges;
        let given: Vec<Given> = projected.iter().filter_map(|at| Some(self.columns.get(*at)?.0)).collect();
        let schema = Arc::new(self.schema.project(&projected)?);
        let kept = self.source.table.families.iter().filter(|family| family.options.versions > 1);
        let families: Vec<FamilyId> = kept.map(|family| family.id).collect();
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Ok(Arc::new(HistoryExec {
            source: self.source.clone(),
            ranges: ranges.into(),
            families: families.into(),
            decoded: self.decoded().into(),
            given: given.into(),
            times: self.times,
            schema,
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
        }))
    }
}

/// See the module.
#[derive(Debug)]
pub struct HistoryExec {
    source: SourceTable,
    ranges: Arc<[KeyRange]>,
    families: Arc<[FamilyId]>,
    decoded: Arc<[ColumnId]>,
    given: Arc<[Given]>,
    times: Times,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl DisplayAs for HistoryExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = KeyShape::of_table(&self.source.codec.key);
        let what = match self.times {
            Times::Between { .. } => "versions of a period",
            Times::All => "all versions",
            Times::Changes => "changes",
            Times::Difference { .. } => "difference",
        };
        write!(f, "HistoryExec: table={}, ranges={}, {what}, columns=[", self.source.table.name, explain::ranges(&key, &self.ranges))?;
        for (at, given) in self.given.iter().enumerate() {
            let name = match given {
                Given::Version(column) => column.name(),
                Given::Stored(id) => self.source.table.column(*id).map_or("?", |c| c.name.as_str()),
            };
            write!(f, "{}{name}", if at > 0 { ", " } else { "" })?;
        }
        write!(f, "]")
    }
}

impl ExecutionPlan for HistoryExec {
    fn name(&self) -> &str {
        "HistoryExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(&self, _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(Arc::new(Statistics::new_unknown(&self.schema)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let table = self.source.open(&context)?;
        table.record(self.source.codec.storage, &self.ranges);
        let mut decoder = ScanDecoder::new(&ColumnSource::Table(Arc::clone(&self.source.codec)), &self.decoded, BLOCK_ROWS)?;
        decoder.set_max_rows(usize::MAX);
        let decoded_families = decoder.families();
        let first = self.families.first().copied();
        let state = Reading {
            table,
            ranges: self.ranges.iter().rev().cloned().collect(),
            families: self.families.to_vec(),
            history: None,
            versions: Versions {
                times: self.times,
                table: Arc::clone(&self.source.table),
                decoder,
                decoded_families,
                first,
                batch_rows: context.session_config().batch_size().max(1),
                rows: Vec::new(),
                keys: 0,
                error: None,
            },
            decoded: Arc::clone(&self.decoded),
            given: Arc::clone(&self.given),
            schema: Arc::clone(&self.schema),
            rows_read: MetricBuilder::new(&self.metrics).counter("rows_read", partition),
            baseline: BaselineMetrics::new(&self.metrics, partition),
        };
        let stream = futures::stream::try_unfold(state, |mut state| async move {
            let started = std::time::Instant::now();
            let batch = state.next().await?;
            state.baseline.elapsed_compute().add_elapsed(started);
            Ok(batch.map(|batch| {
                state.baseline.record_output(batch.num_rows());
                (batch, state)
            }))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)))
    }
}

struct Reading {
    table: ScanTable,
    /// Those that are still to be read, the next one last.
    ranges: Vec<KeyRange>,
    families: Vec<FamilyId>,
    history: Option<Box<dyn History>>,
    versions: Versions,
    decoded: Arc<[ColumnId]>,
    given: Arc<[Given]>,
    schema: SchemaRef,
    rows_read: Count,
    baseline: BaselineMetrics,
}

impl Reading {
    /// The next batch that has rows.
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some(history) = &mut self.history else {
                let Some(range) = self.ranges.pop() else { return Ok(None) };
                let (storage, families) = (self.table.codec.storage, self.families.clone());
                self.history = Some(self.table.view.history(storage, families, range).await.map_err(DataFusionError::from)?);
                continue;
            };
            let more = history.next_block(BLOCK_ROWS, &mut self.versions).await;
            if let Some(error) = self.versions.error.take() {
                return Err(error.into());
            }
            let more = more.map_err(|error| DataFusionError::from(stoa_table::txn::store_error(error)))?;
            if !more {
                self.history = None;
            }
            self.rows_read.add(std::mem::take(&mut self.versions.keys));
            let batch = self.batch()?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        let rows = std::mem::take(&mut self.versions.rows);
        let columns = self.versions.decoder.finish().map_err(DataFusionError::from)?;
        let compared =
            matches!(self.versions.times, Times::Difference { .. }) || self.given.contains(&Given::Version(VersionColumn::Changed));
        let changed = if compared { Some(self.changed(&rows, &columns)) } else { None };
        let mut out: Vec<ArrayRef> = Vec::with_capacity(self.given.len());
        for given in self.given.iter() {
            out.push(match given {
                Given::Stored(id) => {
                    let at = self.decoded.iter().position(|own| own == id);
                    let column = at.and_then(|at| columns.get(at)).map(Arc::clone);
                    column.ok_or_else(|| PgError::internal("a history without a column"))?
                }
                Given::Version(VersionColumn::RowStart) => times(rows.iter().map(|row| row.start)),
                Given::Version(VersionColumn::RowEnd) => times(rows.iter().map(|row| row.end)),
                Given::Version(VersionColumn::Operation) => Arc::new(rows.iter().map(|row| row.operation).collect::<StringViewArray>()),
                Given::Version(VersionColumn::Changed) => names(changed.as_deref().unwrap_or_default())?,
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), out, &options)?;
        // An update that leaves all as it was is no difference.
        let differs = |at: usize, row: &Row| match (&changed, row.beside, self.versions.times) {
            (Some(changed), Some(_), Times::Difference { .. }) => {
                changed.get(at).is_some_and(|names| names.as_ref().is_some_and(|n| !n.is_empty()))
            }
            _ => true,
        };
        let kept: BooleanArray = rows.iter().enumerate().map(|(at, row)| Some(row.kept && differs(at, row))).collect();
        if kept.true_count() == kept.len() {
            return Ok(batch);
        }
        Ok(filter_record_batch(&batch, &kept)?)
    }

    /// The columns in which a row is not as the one beside it; `None` where there is none.
    fn changed(&self, rows: &[Row], columns: &[ArrayRef]) -> Vec<Option<Vec<&str>>> {
        let table = &self.versions.table;
        let visible = table.live_columns().filter(|c| !c.hidden).filter_map(|column| {
            let at = self.decoded.iter().position(|own| *own == column.id)?;
            Some((column.name.as_str(), columns.get(at)?))
        });
        let visible: Vec<(&str, &ArrayRef)> = visible.collect();
        let same = |column: &ArrayRef, a: usize, b: usize| column.slice(a, 1).to_data() == column.slice(b, 1).to_data();
        let of_row = |(at, row): (usize, &Row)| {
            let beside = row.beside?;
            Some(visible.iter().filter(|(_, column)| !same(column, at, beside)).map(|(name, _)| *name).collect())
        };
        rows.iter().enumerate().map(of_row).collect()
    }
}

fn times(micros: impl Iterator<Item = i64>) -> ArrayRef {
    let values: TimestampMicrosecondArray = micros.map(from_unix_micros).collect();
    Arc::new(values.with_data_type(VersionColumn::RowStart.ty().arrow))
}

fn names(changed: &[Option<Vec<&str>>]) -> Result<ArrayRef> {
    let mut list = ListBuilder::new(StringViewBuilder::new());
    for names in changed {
        if let Some(names) = names {
            names.iter().for_each(|name| list.values().append_value(name));
        }
        list.append(names.is_some());
    }
    of_lists(&list.finish()).map_err(DataFusionError::from)
}

/// What is shown of a decoded row.
struct Row {
    start: i64,
    end: i64,
    operation: Option<&'static str>,
    /// The row that it is compared with: what it was before.
    beside: Option<usize>,
    /// Whether it is given.
    kept: bool,
}

/// Decodes versions as they come.
struct Versions {
    times: Times,
    table: Arc<TableDescriptor>,
    decoder: ScanDecoder,
    decoded_families: Vec<FamilyId>,
    /// The family without whose cells a row is not there.
    first: Option<FamilyId>,
    batch_rows: usize,
    rows: Vec<Row>,
    /// Rows of the table.
    keys: usize,
    error: Option<PgError>,
}

impl Versions {
    fn is_there(&self, version: &Version<'_>) -> bool {
        version.cells.first().is_some_and(|cell| Some(cell.family) == self.first)
    }

    fn push(&mut self, key: &[u8], cells: &[CellRef<'_>], row: Row) {
        let cells: Vec<CellRef<'_>> = cells.iter().filter(|cell| self.decoded_families.contains(&cell.family)).copied().collect();
        let _ = self.decoder.row(key, &cells);
        self.error = self.error.take().or_else(|| self.decoder.take_error());
        self.rows.push(row);
    }

    fn between(&mut self, key: &[u8], versions: &[Version<'_>]) {
        for (at, version) in versions.iter().enumerate() {
            let (start, end) = (micros(version.since), end_of(versions, at));
            let asked = match self.times {
                Times::Between { from, to, includes_end } => {
                    end > from && (start < to || (includes_end && start == to)) && (from < to || (includes_end && from == to))
                }
                _ => true,
            };
            // What was replaced within its microsecond was there at no time.
            if asked && start < end && self.is_there(version) {
                self.push(key, &version.cells, Row { start, end, operation: None, beside: None, kept: true });
            }
        }
    }

    fn changes(&mut self, key: &[u8], known_since: Timestamp, versions: &[Version<'_>]) {
        let mut before: Option<&Version<'_>> = None;
        let mut beside = None;
        for (at, version) in versions.iter().enumerate() {
            let (start, end) = (micros(version.since), end_of(versions, at));
            let was = before.filter(|before| self.is_there(before));
            let (cells, operation) = match (was, self.is_there(version)) {
                (Some(_), true) => (&version.cells, Some("update")),
                (Some(was), false) => (&was.cells, Some("delete")),
                (None, true) if before.is_none() && version.since <= known_since => (&version.cells, None),
                (None, true) => (&version.cells, Some("insert")),
                (None, false) => {
                    before = Some(version);
                    continue;
                }
            };
            let compared = if operation == Some("update") { beside } else { None };
            beside = (operation != Some("delete")).then_some(self.rows.len());
            self.push(key, cells, Row { start, end, operation, beside: compared, kept: true });
            before = Some(version);
        }
    }

    fn difference(&mut self, key: &[u8], versions: &[Version<'_>], from: i64, to: i64) {
        let at =
            |own: &Self, micros: i64| versions.iter().rev().find(|version| version.since <= seen_at(micros)).filter(|v| own.is_there(v));
        let (was, is) = (at(self, from), at(self, to));
        let row = |operation, beside, kept| Row { start: 0, end: 0, operation: Some(operation), beside, kept };
        match (was, is) {
            (None, None) => {}
            (Some(was), Some(is)) if was.cells == is.cells => {}
            (Some(was), Some(is)) => {
                let beside = self.rows.len();
                self.push(key, &was.cells, row("update", None, false));
                self.push(key, &is.cells, row("update", Some(beside), true));
            }
            (Some(was), None) => self.push(key, &was.cells, row("delete", None, true)),
            (None, Some(is)) => self.push(key, &is.cells, row("insert", None, true)),
        }
    }
}

impl HistorySink for Versions {
    fn row(&mut self, key: &[u8], known_since: Timestamp, versions: &[Version<'_>]) -> ControlFlow<()> {
        self.keys += 1;
        if let Some(from) = self.times.needs()
            && known_since > seen_at(from)
        {
            self.error = Some(unknown_past(&self.table.name, known_since));
            return ControlFlow::Break(());
        }
        match self.times {
            Times::Between { .. } | Times::All => self.between(key, versions),
            Times::Changes => self.changes(key, known_since, versions),
            Times::Difference { from, to } => self.difference(key, versions, from, to),
        }
        let enough = self.error.is_some() || self.rows.len() >= self.batch_rows || self.decoder.is_full();
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// When a version was replaced: never yet is the end of time.
fn end_of(versions: &[Version<'_>], at: usize) -> i64 {
    versions.get(at + 1).map_or(i64::MAX, |next| micros(next.since))
}

fn micros(at: Timestamp) -> i64 {
    i64::try_from(at.micros()).unwrap_or(i64::MAX)
}
