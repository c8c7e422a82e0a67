//! A plan's partitions one after the other: the branches of UNION ALL, the ranges of a scan.
//!
//! They work at the same time; those whose turn has not come stop when a few batches wait.
//!
//! Fault: DataFusion gives the rows of partitions as they come (`CoalescePartitionsExec`), and means it so: SQL promises no order without
//! ORDER BY. PostgreSQL's clients rely on rows in the order of the branches all the same.
//! May go: not by a change of DataFusion's; `sql-tests/neutral` has UNION ALLs whose rows are expected in order.

use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{EmptyRecordBatchStream, ExecutionPlan, ExecutionPlanProperties, SendableRecordBatchStream};
use futures::StreamExt;
use std::sync::Arc;

/// How many batches of one partition may wait.
const WAITING: usize = 16;

/// Starts a plan.
pub fn stream(plan: Arc<dyn ExecutionPlan>, task: &Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
    let (partitions, schema) = (plan.output_partitioning().partition_count(), plan.schema());
    match partitions {
        0 => return Ok(Box::pin(EmptyRecordBatchStream::new(schema))),
        1 => return plan.execute(0, Arc::clone(task)),
        _ => {}
    }
    let mut started = Vec::with_capacity(partitions);
    for partition in 0..partitions {
        let mut builder = RecordBatchReceiverStream::builder(Arc::clone(&schema), WAITING);
        let (mut input, output) = (plan.execute(partition, Arc::clone(task))?, builder.tx());
        builder.spawn(async move {
            while let Some(batch) = input.next().await {
                if output.send(batch).await.is_err() {
                    break;
                }
            }
            Ok(())
        });
        started.push(builder.build());
    }
    let all = futures::stream::iter(started).flatten();
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, all)))
}
