//! The scan of a system relation: a node that makes its rows when it runs, by what the filters ask and what is read.

use super::builder::column_id;
use super::large_object_pages::LargeObjectPages;
use super::rows;
use super::wanted::Wanted;
use crate::environment::StatementContext;
use crate::filter::{ScanColumns, predicate};
use crate::leaf_methods;
use crate::nodes::scan_output::{Coalescer, Estimate, ScanOutput};
use crate::nodes::table_provider::is_evaluable;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Column, DFSchema, DataFusionError, Result, Statistics};
use datafusion::datasource::provider_as_source;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{Stream, StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;
use stoa_pg::{PgResult, SqlType};
use stoa_sql::system_relations::{self as definitions, SEQUENCES};
use stoa_sql::typed::tree::ColId;
use stoa_sql::typed::{column_name, from_datafusion};
use stoa_table::access::Predicate;
use stoa_table::catalog::ColumnId;

/// A system relation in a query, with its columns under the names of the query.
#[derive(Clone)]
struct SystemRelation {
    ctx: StatementContext,
    schema_name: String,
    name: String,
    columns: Arc<[(String, SqlType)]>,
    schema: SchemaRef,
    predicates: Vec<Predicate>,
}

impl fmt::Debug for SystemRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema_name, self.name)
    }
}

/// The plan of a system relation whose columns are called by these ids.
///
/// # Errors
/// What DataFusion reports.
pub fn plan(ctx: &StatementContext, schema_name: &str, name: &str, columns: &[(ColId, String, SqlType)]) -> PgResult<LogicalPlan> {
    let columns: Vec<(String, SqlType)> = columns.iter().map(|(id, _, ty)| (column_name(*id), ty.clone())).collect();
    let fields: Vec<Field> = columns.iter().map(|(name, ty)| Field::new(name, ty.arrow.clone(), true)).collect();
    let relation = SystemRelation {
        ctx: ctx.clone(),
        schema_name: schema_name.to_owned(),
        name: name.to_owned(),
        columns: columns.into(),
        schema: Arc::new(Schema::new(fields)),
        predicates: Vec::new(),
    };
    let builder = LogicalPlanBuilder::scan(name.to_owned(), provider_as_source(Arc::new(relation)), None).map_err(from_datafusion)?;
    // Columns stand without a qualifier everywhere.
    let exprs: Vec<Expr> = builder
        .schema()
        .columns()
        .into_iter()
        .map(|c: Column| {
            let name = c.name.clone();
            Expr::Column(c).alias(name)
        })
        .collect();
    builder.project(exprs).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
}

impl ScanColumns for SystemRelation {
    fn column(&self, name: &str) -> Option<(ColumnId, &SqlType)> {
        let at = self.columns.iter().position(|(n, _)| n == name)?;
        self.columns.get(at).map(|(_, ty)| (column_id(at), ty))
    }
}

impl SystemRelation {
    fn is_large_object_pages(&self) -> bool {
        self.schema_name == "pg_catalog" && self.name == "pg_largeobject"
    }

    /// How many rows the relation has, by a guess from what there is in the catalog.
    fn rows(&self) -> f64 {
        let relations = self.ctx.catalog.relations().count() as f64;
        let system = definitions::all().count() as f64;
        match (self.schema_name.as_str(), self.name.as_str()) {
            (SEQUENCES, _) => 1.0,
            (_, "pg_attribute" | "columns") => 10.0 * (relations + system),
            (_, "pg_depend" | "pg_constraint") => 4.0 * relations + 1.0,
            (_, "pg_class" | "pg_type" | "tables") => 2.0 * relations + system,
            (_, "pg_proc" | "pg_description" | "pg_operator") => 2500.0,
            _ => relations + 10.0,
        }
    }
}

#[async_trait]
impl TableProvider for SystemRelation {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let takes = |filter: &&Expr| {
            Ok(if is_evaluable(filter)? { TableProviderFilterPushDown::Exact } else { TableProviderFilterPushDown::Unsupported })
        };
        filters.iter().map(takes).collect()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let projected: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..self.columns.len()).collect());
        let df_schema = DFSchema::try_from(Arc::clone(&self.schema))?;
        let physical: Vec<Arc<dyn PhysicalExpr>> =
            filters.iter().map(|f| state.create_physical_expr(f.clone(), &df_schema)).collect::<Result<_>>()?;
        // What is given, then what only the filters need.
        let mut read = projected.clone();
        for filter in &physical {
            let mut columns: Vec<usize> = collect_columns(filter).iter().map(|c| c.index()).collect();
            columns.sort_unstable();
            columns.retain(|at| !read.contains(at));
            read.extend(columns);
        }
        let read_schema = Arc::new(self.schema.project(&read)?);
        let physical = physical.into_iter().map(|f| reassign_expr_columns(f, &read_schema)).collect::<Result<Vec<_>>>()?;
        let mut relation = self.clone();
        relation.predicates = filters.iter().map(|f| predicate(f, self)).collect();
        let wanted = Wanted::of(&relation.predicates);
        let output = ScanOutput {
            read: read.iter().map(|at| column_id(*at)).collect(),
            read_schema,
            filters: ScanOutput::ordered(physical),
            projection: (0..projected.len()).collect(),
            schema: Arc::new(self.schema.project(&projected)?),
            dynamic: Vec::new(),
            pushed: Arc::default(),
            tests: Arc::default(),
            fetch: limit,
            estimate: Estimate { share: (!wanted.is_everything()).then(|| wanted.share()), columns: Vec::new() },
            rejected: Arc::from([]),
            request: None,
        };
        let rows = self.rows();
        Ok(Arc::new(SystemScanExec::new(relation, read.into(), rows, output)))
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct SystemScanExec {
    relation: SystemRelation,
    /// Positions in the definition of what is made.
    read: Arc<[usize]>,
    /// Rows expected before filters.
    rows: f64,
    output: ScanOutput,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl SystemScanExec {
    fn new(relation: SystemRelation, read: Arc<[usize]>, rows: f64, output: ScanOutput) -> Self {
        let properties = Arc::new(output.properties(&[], 0, false, 1));
        Self { relation, read, rows, output, properties, metrics: ExecutionPlanMetricsSet::new() }
    }

    fn with_output(&self, output: ScanOutput) -> Self {
        Self::new(self.relation.clone(), Arc::clone(&self.read), self.rows, output)
    }

    /// What filters leave of the relation; a join's build side is complete before its probe side is read: its filter says by now which rows
    /// it wants.
    fn wanted(&self) -> Wanted {
        let mut predicates = self.relation.predicates.clone();
        predicates.extend(self.output.dynamic_predicates());
        Wanted::of(&predicates)
    }

    /// The pages of large objects, filtered, as they are asked for.
    fn pages(self, batch_rows: usize) -> impl Stream<Item = Result<RecordBatch>> + Send {
        let pages = LargeObjectPages::new(&self.relation.ctx, &self.wanted(), &self.read, &self.output.read_schema);
        let coalescer = Coalescer::new(&self.output, batch_rows);
        futures::stream::try_unfold((self, pages, coalescer, false), |(scan, mut pages, mut coalescer, mut at_end)| async move {
            loop {
                if at_end || coalescer.is_done() {
                    return Ok(coalescer.finish()?.map(|batch| (batch, (scan, pages, coalescer, true))));
                }
                match pages.next().await.map_err(DataFusionError::from)? {
                    Some(batch) => {
                        if let Some(batch) = coalescer.push(scan.output.apply(batch)?)? {
                            return Ok(Some((batch, (scan, pages, coalescer, at_end))));
                        }
                    }
                    None => at_end = true,
                }
            }
        })
    }

    /// The rows, filtered.
    async fn made(&self, batch_rows: usize) -> Result<Vec<RecordBatch>> {
        let (relation, wanted) = (&self.relation, self.wanted());
        let made = rows(&relation.ctx, &relation.schema_name, &relation.name, &self.read, &wanted).await.map_err(DataFusionError::from)?;
        // Names are those of the query.
        let options = RecordBatchOptions::new().with_row_count(Some(made.num_rows()));
        let made = RecordBatch::try_new_with_options(Arc::clone(&self.output.read_schema), made.columns().to_vec(), &options)?;
        let mut coalescer = Coalescer::new(&self.output, batch_rows);
        let mut out = Vec::new();
        let mut from = 0;
        while from < made.num_rows() && !coalescer.is_done() {
            let part = made.slice(from, batch_rows.min(made.num_rows() - from));
            from += part.num_rows();
            out.extend(coalescer.push(self.output.apply(part)?)?);
        }
        while let Some(batch) = coalescer.finish()? {
            out.push(batch);
        }
        Ok(out)
    }
}

impl DisplayAs for SystemScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SystemScanExec: relation={}", self.relation.name)?;
        for (label, filters) in [("filters", &*self.output.filters), ("dynamic", &self.output.dynamic)] {
            if !filters.is_empty() {
                let shown: Vec<String> = filters.iter().map(ToString::to_string).collect();
                write!(f, ", {label}=[{}]", shown.join(" AND "))?;
            }
        }
        if let Some(fetch) = self.output.fetch {
            write!(f, ", limit={fetch}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for SystemScanExec {
    leaf_methods!("SystemScanExec");

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batch_rows = context.session_config().batch_size().max(1);
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        let scan = self.clone();
        if self.relation.is_large_object_pages() {
            let pages = scan.pages(batch_rows).inspect_ok(move |batch| baseline.record_output(batch.num_rows()));
            return Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.output.schema), pages)));
        }
        let made = futures::stream::once(async move {
            let timer = baseline.elapsed_compute().timer();
            let batches = scan.made(batch_rows).await;
            timer.done();
            if let Ok(batches) = &batches {
                baseline.record_output(batches.iter().map(RecordBatch::num_rows).sum());
            }
            futures::stream::iter(match batches {
                Ok(batches) => batches.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.output.schema), made.flatten())))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(Arc::new(self.output.statistics(self.rows, None)))
    }
}
