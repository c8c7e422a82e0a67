//! Rows as another program's DataFusion takes them, where Arrow's form of a type means something else there than here.
//!
//! Intervals count microseconds here and nanoseconds there; timestamps count from 2000 here and from 1970 there; NaN among decimals is a
//! number that is none there, and is refused (22003), because a sum over it would be wrong. [`to_own`] is the way back, for rows that are
//! written, and [`own_filter`] that for conditions.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Decimal128Type, IntervalMonthDayNano, IntervalMonthDayNanoType, TimeUnit, TimestampMicrosecondType};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{ColumnStatistics, DFSchema, DataFusionError, Result, ScalarValue, Statistics};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, ExprSchemable, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::filter_pushdown::{ChildFilterDescription, FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream, StatisticsArgs};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;
use stoa_encoding::valueside::DECIMAL_NAN;
use stoa_pg::types::array_item;
use stoa_pg::values::array::{elements_of, with_elements};
use stoa_pg::values::datetime::calendar::timestamp_out_of_range;
use stoa_pg::values::datetime::epoch::{from_unix_micros, to_unix_micros};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::row::epoch::{has_timestamps, turned};

/// See the module.
#[derive(Debug)]
pub struct ForeignFormExec {
    input: Arc<dyn ExecutionPlan>,
}

/// The plan, with its rows in the foreign form.
pub fn wrap(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let differs = input.schema().fields().iter().any(|field| differs(field.data_type()) || is_decimal(field.data_type()));
    if differs { Arc::new(ForeignFormExec { input }) } else { input }
}

/// Whether a column's values are other ones there.
fn differs(ty: &DataType) -> bool {
    is_interval(ty) || has_timestamps(ty)
}

fn is_interval(ty: &DataType) -> bool {
    matches!(array_item(ty).unwrap_or(ty), DataType::Interval(_))
}

/// A condition of theirs on a table's columns as one of ours; `None` if it stays theirs: what it computes of such values, but for comparing
/// timestamps, has their meaning.
#[must_use]
pub fn own_filter(filter: &Expr, columns: &DFSchema) -> Option<Expr> {
    let differs_in = |e: &Expr| e.get_type(columns).map_or(true, |ty| differs(&ty));
    if !filter.exists(|e| Ok(differs_in(e))).unwrap_or(true) {
        return Some(filter.clone());
    }
    let compared = |op: Operator| {
        use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
        matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
    };
    // Of what has such values there may be timestamps, and what compares them.
    let plain = |e: &Expr| match e {
        Expr::Column(_) | Expr::Literal(..) => e.get_type(columns).is_ok_and(|ty| !differs(&ty) || is_own(&ty)),
        Expr::BinaryExpr(binary) => compared(binary.op) || matches!(binary.op, Operator::And | Operator::Or),
        Expr::Not(_) | Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::Between(_) | Expr::InList(_) | Expr::Alias(_) => true,
        _ => false,
    };
    if filter.exists(|e| Ok(!plain(e))).unwrap_or(true) {
        return None;
    }
    let mut known = true;
    let turned = filter.clone().transform(|e| match e {
        Expr::Literal(ScalarValue::TimestampMicrosecond(Some(unix), zone), metadata) => {
            let own = from_unix_micros(unix);
            known &= own.is_some();
            Ok(Transformed::yes(Expr::Literal(ScalarValue::TimestampMicrosecond(own, zone), metadata)))
        }
        other => Ok(Transformed::no(other)),
    });
    turned.ok().map(|turned| turned.data).filter(|_| known)
}

/// A timestamp in the unit of ours.
fn is_own(ty: &DataType) -> bool {
    matches!(ty, DataType::Timestamp(TimeUnit::Microsecond, _))
}

fn is_decimal(ty: &DataType) -> bool {
    matches!(array_item(ty).unwrap_or(ty), DataType::Decimal128(..))
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

/// Rows in the foreign form.
///
/// # Errors
/// 22008 for intervals and timestamps that Arrow has not, 22003 for NaN.
pub fn to_foreign(batch: &RecordBatch) -> PgResult<RecordBatch> {
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
        columns.push(match column.data_type() {
            ty if is_interval(ty) => intervals(column, &|micros| micros.checked_mul(1000).ok_or_else(beyond))?,
            _ => turned(column, &|column| column.try_unary::<_, TimestampMicrosecondType, PgError>(unix))?,
        });
    }
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// Microseconds since 1970, which end in the year 294247.
fn unix(timestamp: i64) -> PgResult<i64> {
    to_unix_micros(timestamp)
        .ok_or_else(|| timestamp_out_of_range().detail("Microseconds since 1970 in 64 bits hold times until January of the year 294247."))
}

/// A foreign column in our form: parts of microseconds are cut off.
///
/// # Errors
/// 22008 for times before 4714 BC.
pub fn to_own(array: &ArrayRef) -> PgResult<ArrayRef> {
    if is_interval(array.data_type()) {
        return intervals(array, &|nanos| Ok(nanos / 1000));
    }
    let own = |unix: i64| from_unix_micros(unix).ok_or_else(timestamp_out_of_range);
    turned(array, &|column| column.try_unary::<_, TimestampMicrosecondType, PgError>(own))
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
        let Some(statistics) = inputs.first() else { return Ok(Arc::new(Statistics::new_unknown(&self.schema()))) };
        let mut statistics = Statistics::clone(statistics);
        for (field, column) in self.schema().fields().iter().zip(&mut statistics.column_statistics) {
            if differs(field.data_type()) {
                // Numbers of values are the same, the least and the greatest are not.
                let (null_count, distinct_count) = (column.null_count, column.distinct_count);
                *column = ColumnStatistics { null_count, distinct_count, ..ColumnStatistics::new_unknown() };
            }
        }
        Ok(Arc::new(statistics))
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
        let schema = self.schema();
        let same = (0..).zip(schema.fields()).filter(|(_, field)| !differs(field.data_type())).map(|(at, _)| at).collect();
        let child = ChildFilterDescription::from_child_with_allowed_indices(&filters, same, &self.input)?;
        Ok(FilterDescription::new().with_child(child))
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
