//! FOR UPDATE and its kin: each row's tables are locked by row key before the row goes on.

use super::StatementContext;
use crate::datafusion_faults::skip_rows::written_order;
use crate::node::{MakeExec, extend};
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, SendableRecordBatchStream};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::column_name;
use stoa_sql::typed::tree::{Rel, TableScan};
use stoa_sql::typed::walk;
use stoa_table::row::RowCodec;
use stoa_table::services::locks::{LockStrength, LockWait};

/// Which rows are locked, and how.
#[derive(Clone, Debug)]
pub struct RowLocks {
    scans: Vec<TableScan>,
    strength: LockStrength,
    wait: LockWait,
}

/// See the module.
pub struct LockRowsExec {
    input: Arc<dyn ExecutionPlan>,
    ctx: StatementContext,
    locks: Arc<RowLocks>,
    /// Rows after which nothing more is locked.
    limit: Option<usize>,
    /// The order of the rows, in which they are locked.
    order: Option<LexOrdering>,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for LockRowsExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockRowsExec")
    }
}

/// The logical node over a plan of a relation that holds the scans which are locked. `limit`: how many locked rows are wanted.
pub fn plan(ctx: &StatementContext, input: LogicalPlan, locks: RowLocks, limit: Option<usize>) -> PgResult<LogicalPlan> {
    locks.check(ctx)?;
    let (ctx, locks) = (ctx.clone(), Arc::new(locks));
    let make: MakeExec = Arc::new(move |mut inputs| {
        let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("LockRows has one input".into())) };
        let order = written_order(&input);
        Ok(Arc::new(LockRowsExec::new(input, ctx.clone(), locks.clone(), limit, order)))
    });
    extend("LockRows".into(), input, &[], make)
}

impl LockRowsExec {
    fn new(
        input: Arc<dyn ExecutionPlan>,
        ctx: StatementContext,
        locks: Arc<RowLocks>,
        limit: Option<usize>,
        order: Option<LexOrdering>,
    ) -> Self {
        // Locks are taken in the order of the rows.
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { input, ctx, locks, limit, order, properties }
    }
}

impl DisplayAs for LockRowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        let names: Vec<&str> = self.locks.scans.iter().map(|s| s.alias.as_str()).collect();
        write!(f, "LockRowsExec: strength={:?}, wait={:?}, tables=[{}]", self.locks.strength, self.locks.wait, names.join(", "))
    }
}

impl ExecutionPlan for LockRowsExec {
    fn name(&self) -> &str {
        "LockRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<datafusion::physical_expr::Distribution> {
        vec![datafusion::physical_expr::Distribution::SinglePartition]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.order.clone().map(OrderingRequirements::from)]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> Result<datafusion::common::tree_node::TreeNodeRecursion> {
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("LockRows has one input".into())) };
        Ok(Arc::new(Self::new(input, self.ctx.clone(), self.locks.clone(), self.limit, self.order.clone())))
    }

    fn execute(&self, partition: usize, context: Arc<datafusion::execution::TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut input = self.input.execute(partition, context)?;
        let (ctx, locks, mut left) = (self.ctx.clone(), self.locks.clone(), self.limit);
        let schema = self.input.schema();
        let stream = super::project_set::async_stream(move |tx| async move {
            while let Some(batch) = input.next().await {
                for locked in locks.lock_wanted(&ctx, batch?, &mut left).await? {
                    if tx.send(Ok(locked)).await.is_err() {
                        return Ok(());
                    }
                }
                if left == Some(0) {
                    return Ok(());
                }
            }
            Ok(())
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}

impl RowLocks {
    /// Those of the scans in a relation that are named by their ids.
    pub fn new(rel: &Rel, scans: &[u32], strength: LockStrength, wait: LockWait) -> Self {
        let mut found = Vec::new();
        walk::visit_rel(rel, &mut |node| {
            if let Rel::Scan(scan) = node
                && scans.contains(&scan.scan_id)
            {
                found.push((**scan).clone());
            }
        });
        Self { scans: found, strength, wait }
    }

    /// # Errors
    /// 25006 in a read-only transaction.
    pub fn check(&self, ctx: &StatementContext) -> PgResult<()> {
        ctx.txn.require_writable(match self.strength {
            LockStrength::Update | LockStrength::Key => "SELECT FOR UPDATE",
            LockStrength::NoKeyUpdate => "SELECT FOR NO KEY UPDATE",
            LockStrength::Share => "SELECT FOR SHARE",
            LockStrength::KeyShare => "SELECT FOR KEY SHARE",
        })
    }

    /// Locks the rows of a batch, no more of them than are still wanted; `left` counts down.
    ///
    /// # Errors
    /// As those of [`stoa_table::txn::Transaction::lock_rows`]; the sign to run the statement again on a newer snapshot.
    pub async fn lock_wanted(&self, ctx: &StatementContext, batch: RecordBatch, left: &mut Option<usize>) -> PgResult<Vec<RecordBatch>> {
        let (mut at, mut out) = (0, Vec::new());
        while at < batch.num_rows() {
            // Rows that are left out are followed by others.
            let rows = left.unwrap_or(usize::MAX).min(batch.num_rows() - at);
            if rows == 0 {
                break;
            }
            let locked = self.lock(ctx, batch.slice(at, rows)).await?;
            at += rows;
            *left = left.map(|n| n.saturating_sub(locked.num_rows()));
            out.push(locked);
        }
        Ok(out)
    }

    /// Locks all rows of a batch; those that SKIP LOCKED leaves out are gone from it.
    async fn lock(&self, ctx: &StatementContext, mut batch: RecordBatch) -> PgResult<RecordBatch> {
        for scan in &self.scans {
            let codec = RowCodec::of(&scan.table)?;
            let mut columns = Vec::with_capacity(codec.key.columns.len());
            for part in scan.table.key_columns() {
                let id = scan
                    .columns
                    .iter()
                    .find(|(c, _)| *c == part.column)
                    .map(|(_, id)| *id)
                    .ok_or_else(|| PgError::internal("a scan without its key"))?;
                let column = batch.column_by_name(&column_name(id)).ok_or_else(|| PgError::internal("a locked row without its key"))?;
                columns.push(column.clone());
            }
            // The null-extended side of an outer join has no row.
            let present: Vec<bool> = (0..batch.num_rows()).map(|i| columns.first().is_some_and(|c| c.is_valid(i))).collect();
            let keys = codec.encode_keys(&columns, batch.num_rows(), Some(&present))?;
            let taken = ctx.txn.lock_rows(scan.table.storage, &keys, self.strength, self.wait, &scan.table.name).await?;
            ctx.txn.check_unchanged(scan.table.storage, &keys)?;
            let mut it = taken.into_iter();
            let mask: BooleanArray = present.iter().map(|p| Some(if *p { it.next().unwrap_or(false) } else { true })).collect();
            if mask.true_count() < batch.num_rows() {
                batch = filter_record_batch(&batch, &mask)?;
            }
        }
        Ok(batch)
    }
}
