//! WITH RECURSIVE: the base's rows, then the step over the rows of the round before, until a round gives nothing new.
//!
//! Rounds run one after the other, each when its rows are asked for, and give their rows as they come: a limit above ends a recursion that
//! would not end by itself, and one of whose rounds one would not end.
//! The step is planned once, with what the first rows tell, and executed for each round.
//! The working table is in memory, as is the set of rows seen for UNION.

use super::relation::{CteRows, Materialized, Planner};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, reset_plan_states};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream};
use futures::StreamExt;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use stoa_exec::datafusion_faults::in_order;
use stoa_exec::node::{MakeExec, StoaNode};
use stoa_exec::nodes::project_set::async_stream;
use stoa_exec::nodes::source::task;
use stoa_exec::nodes::working_table::Round;
use stoa_pg::{PgResult, SqlType};
use stoa_sql::typed::tree::{ColId, CteId, Rel};
use stoa_sql::typed::{column_name, from_datafusion};

/// What a recursion consists of.
struct Recursion {
    cte: CteId,
    columns: Vec<(ColId, SqlType)>,
    base: Rel,
    base_columns: Vec<ColId>,
    step: Rel,
    step_columns: Vec<ColId>,
    all: bool,
}

/// The recursion as a plan.
#[allow(clippy::too_many_arguments)] // the parts of the node
pub fn plan(
    planner: &Planner,
    cte: CteId,
    columns: &[(ColId, SqlType)],
    base: &Rel,
    base_columns: &[ColId],
    step: &Rel,
    step_columns: &[ColId],
    all: bool,
) -> PgResult<LogicalPlan> {
    let fields: Vec<Field> = columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let df_schema = Arc::new(DFSchema::try_from(schema.as_ref().clone()).map_err(from_datafusion)?);
    let recursion = Arc::new(Recursion {
        cte,
        columns: columns.to_vec(),
        base: base.clone(),
        base_columns: base_columns.to_vec(),
        step: step.clone(),
        step_columns: step_columns.to_vec(),
        all,
    });
    let planner = planner.clone();
    let make: MakeExec = Arc::new(move |_| Ok(Arc::new(RecursiveExec::new(planner.clone(), Arc::clone(&recursion), Arc::clone(&schema)))));
    let above = df_schema.fields().iter().map(|f| f.name().clone()).collect();
    Ok(StoaNode::plan("Recursive".into(), Vec::new(), df_schema, above, make))
}

/// See the module.
struct RecursiveExec {
    planner: Planner,
    recursion: Arc<Recursion>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl RecursiveExec {
    fn new(planner: Planner, recursion: Arc<Recursion>, schema: SchemaRef) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { planner, recursion, schema, properties }
    }
}

impl fmt::Debug for RecursiveExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecursiveExec")
    }
}

impl DisplayAs for RecursiveExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "RecursiveExec: union={}", if self.recursion.all { "all" } else { "distinct" })
    }
}

impl ExecutionPlan for RecursiveExec {
    fn name(&self) -> &str {
        "RecursiveExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> Result<datafusion::common::tree_node::TreeNodeRecursion> {
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (planner, recursion, schema) = (self.planner.clone(), Arc::clone(&self.recursion), Arc::clone(&self.schema));
        let out_schema = Arc::clone(&schema);
        let stream = async_stream(move |tx| async move {
            let reservation = MemoryConsumer::new("recursive query").register(&planner.ctx.database.runtime.memory_pool);
            let r = recursion.as_ref();
            let error = DataFusionError::from;
            let memory = MemoryConsumer::new("rows of UNION").register(&planner.ctx.database.runtime.memory_pool);
            let mut seen = Seen::new(&r.columns, r.all, memory).map_err(error)?;
            let mut rows = planner.start(&r.base, &r.base_columns).await.map_err(error)?;
            let round = Round::default();
            let mut ctes: HashMap<CteId, Materialized> = (*planner.ctes).clone();
            let ids = r.columns.iter().map(|(c, _)| *c).collect();
            ctes.insert(r.cte, Materialized { columns: ids, schema: Arc::clone(&schema), rows: CteRows::Working(Arc::clone(&round)) });
            let rounds = Planner { ctes: Arc::new(ctes), ..planner.clone() };
            // Planned once, when the first rows are there.
            let mut step: Option<Arc<dyn ExecutionPlan>> = None;
            loop {
                let mut working = Vec::new();
                while let Some(batch) = rows.next().await {
                    planner.ctx.session.check_interrupt().map_err(error)?;
                    let Some(batch) = take(batch?, &schema, &mut seen, &reservation).map_err(error)? else { continue };
                    working.push(batch.clone());
                    if tx.send(Ok(batch)).await.is_err() {
                        return Ok(());
                    }
                }
                if working.is_empty() {
                    return Ok(());
                }
                planner.ctx.session.check_interrupt().map_err(error)?;
                *round.lock() = Arc::new(working);
                if r.all {
                    // Nothing is kept of the rounds before.
                    reservation.free();
                }
                let plan = match &step {
                    // What the operators keep of a round, as the one side of a join, is let go.
                    Some(step) => reset_plan_states(Arc::clone(step))?,
                    None => Arc::clone(step.insert(rounds.plan_rounds(&r.step, &r.step_columns).await.map_err(error)?)),
                };
                rows = in_order::stream(plan, &task(&planner.ctx))?;
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(out_schema, stream)))
    }
}

/// Rows of a round under the recursion's names, without those that were seen; `None` if there are none.
fn take(batch: RecordBatch, schema: &SchemaRef, seen: &mut Seen, reservation: &MemoryReservation) -> PgResult<Option<RecordBatch>> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let batch = RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)?;
    let batch = seen.fresh(batch)?;
    if batch.num_rows() == 0 {
        return Ok(None);
    }
    reservation.try_grow(batch.get_array_memory_size()).map_err(from_datafusion)?;
    Ok(Some(batch))
}

/// What a row that is remembered takes beside its bytes, about.
const SEEN_BYTES: usize = 96;

/// Rows that came before, for UNION; nothing for UNION ALL.
struct Seen {
    rows: Option<(RowConverter, HashSet<OwnedRow>)>,
    memory: MemoryReservation,
    types: Vec<SqlType>,
}

impl Seen {
    fn new(columns: &[(ColId, SqlType)], all: bool, memory: MemoryReservation) -> PgResult<Self> {
        let types: Vec<SqlType> = columns.iter().map(|(_, t)| t.clone()).collect();
        if all {
            return Ok(Self { rows: None, memory, types });
        }
        let fields = types
            .iter()
            .map(|t| SortField::new(if t.has_native_order() { t.arrow.clone() } else { arrow::datatypes::DataType::BinaryView }))
            .collect();
        Ok(Self { rows: Some((RowConverter::new(fields)?, HashSet::new())), memory, types })
    }

    fn fresh(&mut self, batch: RecordBatch) -> PgResult<RecordBatch> {
        let Some((converter, seen)) = &mut self.rows else { return Ok(batch) };
        let mut keys: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns());
        for (array, ty) in batch.columns().iter().zip(&self.types) {
            keys.push(if ty.has_native_order() { array.clone() } else { stoa_pg::values::sort_key(ty, array)? });
        }
        let rows = converter.convert_columns(&keys)?;
        let before = seen.len();
        let mask: BooleanArray = rows.iter().map(|r| Some(seen.insert(r.owned()))).collect();
        let added = seen.len() - before;
        self.memory.try_grow(added * (SEEN_BYTES + rows.size() / rows.num_rows().max(1))).map_err(from_datafusion)?;
        Ok(filter_record_batch(&batch, &mask)?)
    }
}
