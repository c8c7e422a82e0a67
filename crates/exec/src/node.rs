//! One logical extension node for all our execution nodes: it passes its input's columns on, adds some of its own, and knows
//! how to make the physical node.

use arrow::datatypes::{Field, Schema};
use async_trait::async_trait;
use datafusion::common::{DFSchema, DFSchemaRef, Result};
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use stoa_pg::{PgResult, SqlType};
use stoa_sql::typed::tree::ColId;
use stoa_sql::typed::{column_name, from_datafusion};

/// Makes the physical node from physical inputs.
pub type MakeExec = Arc<dyn Fn(Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> + Send + Sync>;

/// See the module.
#[derive(Clone)]
pub struct StoaNode {
    pub label: String,
    /// Unique in the process: nodes are equal by identity.
    pub id: u64,
    pub inputs: Vec<LogicalPlan>,
    pub schema: DFSchemaRef,
    /// Columns that a filter which moves below the node may not use.
    pub above: std::collections::HashSet<String>,
    pub make: MakeExec,
}

impl StoaNode {
    /// The node as a logical plan.
    #[must_use]
    pub fn plan(
        label: String,
        inputs: Vec<LogicalPlan>,
        schema: DFSchemaRef,
        above: std::collections::HashSet<String>,
        make: MakeExec,
    ) -> LogicalPlan {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let id = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        LogicalPlan::Extension(Extension { node: Arc::new(StoaNode { label, id, inputs, schema, above, make }) })
    }
}

/// A node of ours on top of a plan, adding columns. A node that adds columns works on each row by itself, so that filters on
/// other columns come first, as in PostgreSQL; one that adds none does something to the rows that are left.
pub fn extend(label: String, input: LogicalPlan, added: &[(ColId, SqlType)], make: MakeExec) -> PgResult<LogicalPlan> {
    let mut fields: Vec<Field> = input.schema().fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
    fields.extend(added.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)));
    let schema = Arc::new(DFSchema::try_from(Schema::new(fields)).map_err(from_datafusion)?);
    let above = if added.is_empty() {
        schema.fields().iter().map(|f| f.name().clone()).collect()
    } else {
        added.iter().map(|(c, _)| column_name(*c)).collect()
    };
    Ok(StoaNode::plan(label, vec![input], schema, above, make))
}

impl fmt::Debug for StoaNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl PartialEq for StoaNode {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.inputs == other.inputs
    }
}

impl Eq for StoaNode {}

impl PartialOrd for StoaNode {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (self == other).then_some(std::cmp::Ordering::Equal)
    }
}

impl Hash for StoaNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for StoaNode {
    fn name(&self) -> &str {
        &self.label
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.inputs.iter().collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> std::collections::HashSet<String> {
        self.above.clone()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.label)
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        Ok(Self { inputs, ..self.clone() })
    }
}

/// Plans [`StoaNode`]s.
#[derive(Debug)]
pub struct StoaQueryPlanner;

#[async_trait]
impl QueryPlanner for StoaQueryPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, state: &dyn datafusion::catalog::Session) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(NodePlanner)]);
        planner.create_physical_plan(plan, state).await
    }
}

struct NodePlanner;

#[async_trait]
impl ExtensionPlanner for NodePlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn datafusion::catalog::Session,
        _: &datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        match node.as_any().downcast_ref::<StoaNode>() {
            Some(node) => (node.make)(physical_inputs.to_vec()).map(Some),
            None => Ok(None),
        }
    }
}
