//! What the scan nodes of a table share: what is read, what is filtered, what is given.
//!
//! A scan decodes the columns that it gives or filters on, drops the rows that a filter does not pass, and gives the columns
//! asked for. Filters run one after the other, those that cannot fail first, each on the rows that the ones before left: an error
//! in a row that another filter excludes is no error.

use super::raises::plan_in_turn;
use super::shown::shown;
use super::source::SourceTable;
use crate::filter::dynamic;
pub use crate::scan_table::ScanTable;
use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::{BatchCoalescer, filter_record_batch};
use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, DataFusionError, Result, Statistics};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{AcrossPartitions, ConstExpr, EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::{Partitioning, PlanProperties};
use std::fmt;
use std::sync::Arc;
use stoa_encoding::keyside::{Direction, NullOrder};
use stoa_pg::PgResult;
use stoa_table::CellTest;
use stoa_table::access::{AccessPath, Predicate, explain};
use stoa_table::catalog::ColumnId;
use stoa_table::row::key::KeyPartCodec;
use stoa_table::row::{ColumnSource, ScanDecoder};

/// Columns, filters and limits of a scan. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ScanOutput {
    /// What is decoded, in the order of `read_schema`.
    pub read: Arc<[ColumnId]>,
    pub read_schema: SchemaRef,
    /// Over `read_schema`; all must be true.
    pub filters: Arc<[Arc<dyn PhysicalExpr>]>,
    /// Positions in `read_schema` of what is given.
    pub projection: Arc<[usize]>,
    pub schema: SchemaRef,
    /// Over `schema`; they may drop rows that nobody needs, and change while the scan runs.
    pub dynamic: Vec<Arc<dyn PhysicalExpr>>,
    /// Those of the filters that the bytes of a raw table's cells answer, or nearly so, before a row is decoded.
    pub pushed: Arc<[Arc<dyn PhysicalExpr>]>,
    /// What they ask of the cells: nothing that the filters do not.
    pub tests: Arc<[CellTest]>,
    /// Rows after which a partition ends.
    pub fetch: Option<usize>,
    pub estimate: Estimate,
    /// Indexes that were not used, and why.
    pub rejected: Arc<[(String, String)]>,
    /// What the scan was asked for, where there may be other ways to give it.
    pub request: Option<Arc<super::request::ScanRequest>>,
}

/// What statistics say of a scan.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// The share of the rows read that the filters leave.
    pub share: Option<f64>,
    /// In the order of the schema; empty where nothing is known.
    pub columns: Vec<ColumnStatistics>,
}

impl ScanOutput {
    /// Whether a batch of as many rows as are wanted is enough.
    #[must_use]
    pub fn is_unfiltered(&self) -> bool {
        self.filters.is_empty() && self.dynamic.is_empty()
    }

    /// A decoder of what is read.
    ///
    /// # Errors
    /// The source lacks a column.
    pub fn decoder(&self, source: &ColumnSource, rows: usize) -> PgResult<ScanDecoder> {
        ScanDecoder::new(source, &self.read, rows)
    }

    /// The batch that a decoder has collected.
    ///
    /// # Errors
    /// A row could not be read.
    pub fn batch(&self, decoder: &mut ScanDecoder) -> Result<RecordBatch> {
        let rows = decoder.rows();
        let columns = decoder.finish().map_err(DataFusionError::from)?;
        self.of_columns(columns, rows)
    }

    pub fn of_columns(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.read_schema), columns, &options)?)
    }

    /// Filters and projects.
    ///
    /// # Errors
    /// What a filter raises.
    pub fn apply(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut batch = batch;
        for filter in self.filters.iter() {
            batch = passing(filter, batch)?;
            if batch.num_rows() == 0 {
                break;
            }
        }
        if self.projection.len() != batch.num_columns() || self.projection.iter().enumerate().any(|(i, p)| i != *p) {
            batch = batch.project(&self.projection)?;
        }
        for filter in &self.dynamic {
            if batch.num_rows() == 0 {
                break;
            }
            batch = passing(filter, batch)?;
        }
        // Names and nullability are those that the plan was made with.
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), batch.columns().to_vec(), &options)?)
    }

    /// What the dynamic filters say now.
    #[must_use]
    pub fn dynamic_predicates(&self) -> Vec<Predicate> {
        let column = |at: usize| self.projection.get(at).and_then(|p| self.read.get(*p)).copied();
        self.dynamic.iter().map(|f| dynamic::predicate(f, &column)).collect()
    }

    /// Puts the filters in the order in which they run.
    #[must_use]
    pub fn ordered(mut filters: Vec<Arc<dyn PhysicalExpr>>) -> Arc<[Arc<dyn PhysicalExpr>]> {
        plan_in_turn(&mut filters);
        filters.into()
    }

    /// The expected share of rows that the filters leave.
    #[must_use]
    pub fn selectivity(&self) -> f64 {
        if let Some(share) = self.estimate.share {
            return share;
        }
        0.3f64.powi(i32::try_from(self.filters.len().min(4)).unwrap_or(4))
    }

    /// Statistics for an expected number of rows read.
    #[must_use]
    pub fn statistics(&self, rows_read: f64, unique_rows: Option<usize>) -> Statistics {
        let mut rows = (rows_read * self.selectivity()).ceil().max(1.0);
        if let Some(most) = unique_rows {
            rows = rows.min(most as f64);
        }
        let mut rows = rows as usize;
        if let Some(fetch) = self.fetch {
            rows = rows.min(fetch);
        }
        let width: usize = self.schema.fields().iter().map(|f| f.data_type().primitive_width().unwrap_or(24)).sum();
        Statistics {
            num_rows: Precision::Inexact(rows),
            total_byte_size: Precision::Inexact(rows.saturating_mul(width.max(1))),
            column_statistics: if self.estimate.columns.len() == self.schema.fields().len() {
                self.estimate.columns.clone()
            } else {
                Statistics::unknown_column(&self.schema)
            },
        }
    }

    /// The plan properties of a scan of `partitions` over keys of these parts.
    #[must_use]
    pub fn properties(&self, order: &[KeyPartCodec], constant: usize, reverse: bool, partitions: usize) -> PlanProperties {
        let mut equivalence = EquivalenceProperties::new(Arc::clone(&self.schema));
        let mut ordering = Vec::new();
        let mut constants = Vec::new();
        for (n, part) in order.iter().enumerate() {
            let position = self.projection.iter().position(|p| self.read.get(*p) == Some(&part.column));
            let column = position.and_then(|at| {
                let field = self.schema.fields().get(at)?;
                Some(Arc::new(Column::new(field.name(), at)) as Arc<dyn PhysicalExpr>)
            });
            if n < constant {
                constants.extend(column.map(|c| ConstExpr::new(c, AcrossPartitions::Uniform(None))));
                continue;
            }
            let Some(column) = column.filter(|_| part.ty.has_native_order()) else { break };
            ordering.push(PhysicalSortExpr::new(column, sort_options(part, reverse)));
        }
        // It fails only on expressions that are not over the schema.
        let _ = equivalence.add_constants(constants);
        if !ordering.is_empty() {
            equivalence.add_ordering(ordering);
        }
        PlanProperties::new(equivalence, Partitioning::UnknownPartitioning(partitions), EmissionType::Incremental, Boundedness::Bounded)
    }
}

/// As the parts of a key sort, read forwards or backwards.
pub(super) fn sort_options(part: &KeyPartCodec, reverse: bool) -> arrow::compute::SortOptions {
    let descending = part.part.direction == Direction::Desc;
    let nulls_first = match part.part.nulls {
        Some(nulls) => nulls == NullOrder::First,
        None => descending,
    };
    arrow::compute::SortOptions { descending: descending != reverse, nulls_first: nulls_first != reverse }
}

/// The rows that a filter passes.
fn passing(filter: &Arc<dyn PhysicalExpr>, batch: RecordBatch) -> Result<RecordBatch> {
    let mask = filter.evaluate(&batch)?.into_array(batch.num_rows())?;
    let mask = datafusion::common::cast::as_boolean_array(&mask)?;
    if mask.null_count() == 0 && mask.true_count() == mask.len() {
        return Ok(batch);
    }
    let mask: &BooleanArray = mask;
    Ok(filter_record_batch(&batch, mask)?)
}

/// A batch of so many bytes goes on as it is.
const GATHERED_BYTES: usize = 2 << 20;

/// Gathers filtered batches into full ones and stops at the limit.
pub struct Coalescer {
    coalescer: Option<BatchCoalescer>,
    remaining: Option<usize>,
    done: bool,
}

impl Coalescer {
    pub fn new(output: &ScanOutput, batch_rows: usize) -> Self {
        // Rows without columns are counted, not gathered.
        let gathers = !output.is_unfiltered() && !output.schema.fields().is_empty();
        let coalescer = gathers.then(|| BatchCoalescer::new(Arc::clone(&output.schema), batch_rows));
        Self { coalescer, remaining: output.fetch, done: output.fetch == Some(0) }
    }

    /// Stops at the limit; batches go on as they come.
    pub fn whole_batches(output: &ScanOutput) -> Self {
        Self { coalescer: None, remaining: output.fetch, done: output.fetch == Some(0) }
    }

    /// No more rows are wanted.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Takes a batch; gives one if it is time.
    pub fn push(&mut self, mut batch: RecordBatch) -> Result<Option<RecordBatch>> {
        if let Some(remaining) = &mut self.remaining {
            if batch.num_rows() >= *remaining {
                batch = batch.slice(0, *remaining);
                self.done = true;
            }
            *remaining -= batch.num_rows();
        }
        match &mut self.coalescer {
            None => Ok((batch.num_rows() > 0).then_some(batch)),
            Some(coalescer) => {
                if batch.num_rows() > 0 {
                    let large = batch.get_array_memory_size() >= GATHERED_BYTES;
                    coalescer.push_batch(batch)?;
                    if large && !coalescer.has_completed_batch() {
                        coalescer.finish_buffered_batch()?;
                    }
                }
                Ok(coalescer.next_completed_batch())
            }
        }
    }

    /// What is left at the end; call until `None`.
    pub fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let Some(coalescer) = &mut self.coalescer else { return Ok(None) };
        if !coalescer.has_completed_batch() {
            coalescer.finish_buffered_batch()?;
        }
        Ok(coalescer.next_completed_batch())
    }
}

/// Writes what all scans show in EXPLAIN.
pub(super) fn describe(
    f: &mut fmt::Formatter<'_>,
    table: &SourceTable,
    path: &AccessPath,
    output: &ScanOutput,
    reverse: bool,
) -> fmt::Result {
    write!(f, "table={}, ranges={}", table.table.name, explain::ranges(&path.key, &path.scope.ranges))?;
    if let Some(skip) = &path.skip {
        write!(f, "{}", if skip.first { ", skip over (" } else { ", skip=[" })?;
        let shown = path.key.parts.iter().take(skip.parts).skip(skip.fixed.min(skip.parts - usize::from(skip.first)));
        let shown = shown.filter(|part| !part.is_derived());
        for (at, part) in shown.enumerate() {
            let name = table.table.column(part.column).map_or("?", |c| c.name.as_str());
            write!(f, "{}{name}", if at > 0 { ", " } else { "" })?;
        }
        write!(f, "{}", if skip.first { ")" } else { "]" })?;
        if !skip.reads_all() {
            let parts = path.key.parts.iter().skip(skip.parts).cloned().collect();
            let tail = stoa_table::access::KeyShape { parts, salt: None, ..path.key.clone() };
            write!(f, ", then={}", explain::ranges(&tail, &skip.tail))?;
        }
    }
    describe_output(f, table, output, reverse)
}

/// Writes what scans show of their output.
pub(super) fn describe_output(f: &mut fmt::Formatter<'_>, table: &SourceTable, output: &ScanOutput, reverse: bool) -> fmt::Result {
    for (name, filters) in [("filters", &output.filters), ("tested in cells", &output.pushed)] {
        if filters.is_empty() {
            continue;
        }
        write!(f, ", {name}=[")?;
        for (at, filter) in filters.iter().enumerate() {
            write!(f, "{}{}", if at > 0 { " AND " } else { "" }, shown(filter))?;
        }
        write!(f, "]")?;
    }
    if !output.dynamic.is_empty() {
        write!(f, ", dynamic=[")?;
        for (at, filter) in output.dynamic.iter().enumerate() {
            write!(f, "{}{filter}", if at > 0 { " AND " } else { "" })?;
        }
        write!(f, "]")?;
    }
    write!(f, ", columns=[")?;
    for (at, position) in output.projection.iter().enumerate() {
        let name = output.read.get(*position).and_then(|id| table.table.column(*id)).map_or("?", |c| c.name.as_str());
        write!(f, "{}{name}", if at > 0 { ", " } else { "" })?;
    }
    write!(f, "]")?;
    if let Some(fetch) = output.fetch {
        write!(f, ", limit={fetch}")?;
    }
    if reverse {
        write!(f, ", reverse")?;
    }
    if !output.rejected.is_empty() {
        write!(f, ", not used=[")?;
        for (at, (index, reason)) in output.rejected.iter().enumerate() {
            write!(f, "{}{index}: {reason}", if at > 0 { "; " } else { "" })?;
        }
        write!(f, "]")?;
    }
    Ok(())
}
