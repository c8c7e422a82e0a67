//! Rows as another program's DataFusion takes them, where Arrow's form of a type means something else there than here.
//!
//! Intervals count microseconds here and nanoseconds there; NaN among decimals is a number that is none there, and is refused (22003),
//! because a sum over it would be wrong. [`to_own`] is the way back, for rows that are written.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Decimal128Type, IntervalMonthDayNano, IntervalMonthDayNanoType, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream, StatisticsArgs};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;
use stoa_encoding::valueside::DECIMAL_NAN;
use stoa_pg::types::array_item;
use stoa_pg::values::array::{elements_of, with_elements};
use stoa_pg::{PgError, PgResult, SqlState};

/// See the module.
#[derive(Debug)]
pub struct ForeignFormExec {
    input: Arc<dyn ExecutionPlan>,
}

/// The plan, with its rows in the foreign form.
pub fn wrap(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let differs = input.schema().fields().iter().any(|field| is_interval(field.data_type()) || is_decimal(field.data_type()));
    if differs { Arc::new(ForeignFormExec { input }) } else { input }
}

/// Whether a column's values are other ones there: conditions on them cannot be handed over.
#[must_use]
pub fn is_interval(ty: &DataType) -> bool {
    matches!(array_item(ty).unwrap_or(ty), DataType::Interval(_))
}

fn is_decimal(ty: &DataType) -> bool {
    matches!(array_item(ty).unwrap_or(ty), DataType::Decimal128(..))
}

fn has_intervals(schema: &SchemaRef) -> bool {
    schema.fields().iter().any(|field| is_interval(field.data_type()))
}

/// Intervals scaled by `scale` where they are intervals, also those in arrays.
fn intervals(array: &ArrayRef, scale: &dyn Fn(i64) -> PgResult<i64>) -> PgResult<ArrayRef> {
    if array_item(array.data_type()).is_some() {
        return with_elements(array, |elements| intervals(elements, scale));
    }
    match array.as_primitive_opt::<IntervalMonthDayNanoType>() {
        Some(column) => Ok(Arc::new(column.try_unary::<_, IntervalMonthDayNanoType, PgError>(|value| {
            Ok(IntervalMonthDayNano { nanoseconds: scale(value.nanoseconds)?, ..value })
        })?)),
        None => Ok(Arc::clone(array)),
    }
}

fn has_nan(array: &ArrayRef) -> bool {
    elements_of(array.as_ref())
        .unwrap_or(array)
        .as_primitive_opt::<Decimal128Type>()
        .is_some_and(|column| column.values().contains(&DECIMAL_NAN) && column.iter().any(|value| value == Some(DECIMAL_NAN)))
}

fn to_foreign(batch: &RecordBatch) -> PgResult<RecordBatch> {
    let beyond = || {
        PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "interval out of range")
            .detail("Nanoseconds in 64 bits hold 292 years of hours, minutes and seconds.")
    };
    let mut columns = Vec::with_capacity(batch.num_columns());
    for column in batch.columns() {
        if is_decimal(column.data_type()) && has_nan(column) {
            return Err(PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "NaN is no decimal of Arrow's")
                .hint("Leave the rows out, or read them in a session of the database."));
        }
        columns.push(match is_interval(column.data_type()) {
            true => intervals(column, &|micros| micros.checked_mul(1000).ok_or_else(beyond))?,
            false => Arc::clone(column),
        });
    }
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// A foreign column in our form: parts of microseconds are cut off.
///
/// # Errors
/// XX000: Arrow refuses the parts, which is a bug.
pub fn to_own(array: &ArrayRef) -> PgResult<ArrayRef> {
    if is_interval(array.data_type()) { intervals(array, &|nanos| Ok(nanos / 1000)) } else { Ok(Arc::clone(array)) }
}

impl DisplayAs for ForeignFormExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("ForeignFormExec")
    }
}

impl ExecutionPlan for ForeignFormExec {
    fn name(&self) -> &str {
        "ForeignFormExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        match inputs.first() {
            Some(statistics) if !has_intervals(&self.schema()) => Ok(Arc::clone(statistics)),
            _ => Ok(Arc::new(Statistics::new_unknown(&self.schema()))),
        }
    }

    fn apply_expressions(&self, _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        if has_intervals(&self.schema()) {
            return Ok(FilterDescription::all_unsupported(&filters, &self.children()));
        }
        FilterDescription::from_children(filters, &self.children())
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("ForeignForm has one input".into())) };
        Ok(Arc::new(Self { input }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, context)?.map(|batch| to_foreign(&batch?).map_err(DataFusionError::from));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.input.schema(), rows)))
    }
}
