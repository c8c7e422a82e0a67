//! OFFSET: the first rows are left out, in the order in which the input has them. What LIMIT wants is below: these rows and those after.
//!
//! Fault: DataFusion's limit leaves rows out too, but says nothing of the order that it counts in. Its rules take a sort below one for
//! useless where nothing above asks for the order (apache/datafusion#23534), and move sorts from above below it (#25378, #24958; offsets were
//! lost in #12423): other rows are left out then. This node asks for the order that its input has.
//! May go: when `still_moves_sorts_below_offsets` fails, and `sql-tests/neutral/offsets_count_in_the_order_of_their_query.slt`
//! passes without it.

use crate::node::{MakeExec, extend};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Distribution, LexOrdering, OrderingRequirements, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties, SendableRecordBatchStream,
};
use futures::{StreamExt, future};
use std::fmt;
use std::sync::Arc;
use stoa_pg::PgResult;

/// See the module.
#[derive(Debug)]
pub struct SkipRowsExec {
    input: Arc<dyn ExecutionPlan>,
    skip: usize,
    order: Option<LexOrdering>,
    properties: Arc<PlanProperties>,
}

/// The rows of a plan but so many first ones.
pub fn plan(input: LogicalPlan, skip: usize) -> PgResult<LogicalPlan> {
    let make: MakeExec = Arc::new(move |mut inputs| {
        let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("SkipRows has one input".into())) };
        let order = written_order(&input);
        Ok(Arc::new(SkipRowsExec::new(input, skip, order)))
    });
    extend("SkipRows".into(), input, &[], make)
}

/// The order in which a plan that has just been made gives its rows, with all the columns that it sorts by: [`output_ordering`] leaves out those
/// that DataFusion takes for constant, some of which are not ([`super::forget_properties`]).
///
/// [`output_ordering`]: ExecutionPlanProperties::output_ordering
pub fn written_order(plan: &Arc<dyn ExecutionPlan>) -> Option<LexOrdering> {
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        return Some(sort.expr().clone());
    }
    if plan.is::<GlobalLimitExec>() || plan.is::<LocalLimitExec>() {
        return plan.children().first().and_then(|input| written_order(input));
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let below = written_order(projection.input())?;
        let given = |sort: &PhysicalSortExpr| {
            let at = projection.expr().iter().position(|given| given.expr.eq(&sort.expr))?;
            let name = &projection.expr().get(at)?.alias;
            Some(PhysicalSortExpr::new(Arc::new(Column::new(name, at)), sort.options))
        };
        // Behind a column that is not given, the order cannot be asked for any further.
        return LexOrdering::new(below.iter().map_while(given));
    }
    plan.output_ordering().cloned()
}

impl SkipRowsExec {
    fn new(input: Arc<dyn ExecutionPlan>, skip: usize, order: Option<LexOrdering>) -> Self {
        let properties = Arc::new(PlanProperties::new(
            input.equivalence_properties().clone(),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { input, skip, order, properties }
    }
}

impl DisplayAs for SkipRowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "SkipRowsExec: skip={}", self.skip)
    }
}

impl ExecutionPlan for SkipRowsExec {
    fn name(&self) -> &str {
        "SkipRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.order.clone().map(OrderingRequirements::from)]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> Result<datafusion::common::tree_node::TreeNodeRecursion> {
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("SkipRows has one input".into())) };
        Ok(Arc::new(Self::new(input, self.skip, self.order.clone())))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let mut left = self.skip;
        let rows = input.filter_map(move |batch| {
            future::ready(match batch {
                Ok(batch) if left == 0 => Some(Ok(batch)),
                Ok(batch) => {
                    let skipped = left.min(batch.num_rows());
                    left -= skipped;
                    (skipped < batch.num_rows()).then(|| Ok(batch.slice(skipped, batch.num_rows() - skipped)))
                }
                Err(error) => Some(Err(error)),
            })
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.input.schema(), rows)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use datafusion::arrow::array::{Int32Array, RecordBatch};
    use datafusion::datasource::{MemTable, provider_as_source};
    use datafusion::logical_expr::LogicalPlanBuilder;
    use datafusion::physical_plan::displayable;
    use datafusion::prelude::{SessionContext, col};
    use std::sync::Arc;

    #[tokio::test]
    async fn still_moves_sorts_below_offsets() {
        let columns: [(&str, datafusion::arrow::array::ArrayRef); 1] = [("place", Arc::new(Int32Array::from(vec![2, 1, 3])))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).unwrap();
        let plan = LogicalPlanBuilder::scan("t", provider_as_source(Arc::new(table)), None)
            .and_then(|plan| plan.limit(1, Some(2)))
            .and_then(|plan| plan.sort(vec![col("place").sort(true, false)]))
            .and_then(LogicalPlanBuilder::build)
            .unwrap();
        let plan = SessionContext::new().state().create_physical_plan(&plan).await.unwrap();
        let lines = displayable(plan.as_ref()).indent(false).to_string();
        let (limit, sort) = (lines.find("GlobalLimitExec: skip=1"), lines.find("SortExec"));
        assert!(limit.is_some() && sort.is_some() && limit < sort, "{lines}");
    }
}
