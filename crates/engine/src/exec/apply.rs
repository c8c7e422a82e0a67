//! A subquery run for each distinct row of what it uses of its outer query: what no join can say.
//!
//! A subquery that reads some rows by keys is compiled once, with the row's values as parameters. Where no key helps, or a row asks for
//! many, what does not depend on the row is read once and kept, and the rest compiled over it. Any other is planned anew with the values
//! as constants, so that they become key ranges. Results are kept for rows with the same values.

use crate::plan::compiled::kept::is_steady;
use crate::plan::compiled::{CompiledQuery, CompiledRows};
use crate::plan::decorrelate::{Apply, ApplyKind};
use crate::plan::node::MakeExec;
use crate::plan::relation::{Planner, too_many_rows};
use crate::typed::tree::{ColId, Expr, ExprKind, Rel};
use crate::typed::walk;
use crate::typed::{column_name, from_datafusion};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::{concat, concat_batches, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_pg::types::array_item;
use stoa_pg::values::array::array_of_elements;
use stoa_pg::values::array::stack::Stack;
use stoa_pg::{PgError, PgResult, SqlType};
use stoa_table::access::Preferences;
use tokio::sync::mpsc::Sender;

/// Results kept for values that come again.
const CACHE_ENTRIES: usize = 10_000;
/// The memory that these take at most.
const CACHE_BYTES: usize = 16 << 20;
/// Rows, or bytes of what subqueries give, after which a batch is given on.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 8 << 20;
/// Rows for which a subquery is planned anew before its relations are kept.
const FIRST_ROWS: usize = 2;
/// How long rows are dealt with before others have their turn.
const TURN: Duration = Duration::from_millis(20);

/// A LATERAL item: its relation (the join's condition included) and the columns that it gives.
#[derive(Clone)]
pub struct LateralSpec {
    pub rel: Rel,
    pub columns: Vec<(ColId, SqlType)>,
    /// Rows without a match stay, with NULLs.
    pub outer: bool,
}

#[derive(Clone)]
enum Work {
    Value(Apply),
    Lateral(LateralSpec),
}

impl Work {
    fn rel(&self) -> &Rel {
        match self {
            Work::Value(apply) => &apply.query.rel,
            Work::Lateral(spec) => &spec.rel,
        }
    }

    /// What is asked for a row: the relation, and which of its columns.
    fn question(&self) -> (Rel, Vec<ColId>) {
        match self {
            Work::Value(Apply { kind: ApplyKind::Exists, query, .. }) => {
                let one = Expr::new(ExprKind::Const(ScalarValue::Int64(Some(1))), SqlType::new(stoa_pg::PgType::Int8));
                (Rel::Limit { input: Box::new(query.rel.clone()), offset: None, fetch: Some(one), ties: None }, Vec::new())
            }
            Work::Value(apply) => (apply.query.rel.clone(), apply.query.outputs.iter().map(|o| o.col).take(1).collect()),
            Work::Lateral(spec) => (spec.rel.clone(), spec.columns.iter().map(|(c, _)| *c).collect()),
        }
    }

    fn fields(&self) -> Vec<Field> {
        match self {
            Work::Value(apply) => vec![Field::new(column_name(apply.output), apply.ty.arrow.clone(), true)],
            Work::Lateral(spec) => spec.columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect(),
        }
    }
}

/// See the module.
pub struct ApplyExec {
    input: Arc<dyn ExecutionPlan>,
    work: Arc<Work>,
    planner: Planner,
    /// Free columns of the subquery, with their places in the input.
    bindings: Arc<Vec<(ColId, usize)>>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for ApplyExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApplyExec")
    }
}

impl ApplyExec {
    /// Adds the subquery's value as a column.
    pub fn plan(planner: &Planner, input: LogicalPlan, apply: Apply) -> PgResult<LogicalPlan> {
        let added = vec![(apply.output, apply.ty.clone())];
        let label = format!("Apply: {:?}", apply.kind);
        planner.extend(label, input, &added, Self::maker(planner, Work::Value(apply)))
    }

    /// Joins each row with the rows of a LATERAL item.
    pub fn plan_lateral(planner: &Planner, input: LogicalPlan, spec: LateralSpec) -> PgResult<LogicalPlan> {
        let added = spec.columns.clone();
        planner.extend("Apply: lateral".into(), input, &added, Self::maker(planner, Work::Lateral(spec)))
    }

    fn maker(planner: &Planner, work: Work) -> MakeExec {
        let (planner, work) = (planner.clone(), Arc::new(work));
        Arc::new(move |mut inputs| {
            let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("Apply has one input".into())) };
            Ok(Arc::new(ApplyExec::new(input, work.clone(), planner.clone())?))
        })
    }

    fn new(input: Arc<dyn ExecutionPlan>, work: Arc<Work>, planner: Planner) -> Result<Self> {
        let schema = input.schema();
        let bindings = walk::free_columns(work.rel())
            .into_iter()
            .filter_map(|c| schema.index_of(&column_name(c)).ok().map(|i| (c, i)))
            .collect::<Vec<_>>();
        let mut fields: Vec<Field> = schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        fields.extend(work.fields());
        let schema = Arc::new(Schema::new(fields));
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            input.output_partitioning().clone(),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Ok(Self { input, work, planner, bindings: Arc::new(bindings), schema, properties })
    }
}

/// The subquery with the values of a row as parameters behind those of the statement.
fn with_params(planner: &Planner, bindings: &[(ColId, usize)], rel: &Rel) -> Option<Rel> {
    let given = planner.ctx.params.len();
    let mut rel = rel.clone();
    walk::rewrite_rel(&mut rel, &mut |e| match e.kind {
        ExprKind::Column(id) => {
            let at = bindings.iter().position(|(c, _)| *c == id)?;
            Some(Expr { kind: ExprKind::Param(given + at), ..e.clone() })
        }
        _ => None,
    });
    walk::free_columns(&rel).is_empty().then_some(rel)
}

/// The subquery compiled, if it reads by keys.
fn compile(planner: &Planner, bindings: &[(ColId, usize)], rel: &Rel, columns: &[ColId]) -> PgResult<Option<CompiledQuery>> {
    let settings = planner.ctx.session.settings();
    let given = planner.ctx.params.len();
    let Some(rel) = with_params(planner, bindings, rel) else { return Ok(None) };
    if !Preferences::new(|name| settings.raw(name), &[]).lookup_join {
        return Ok(None);
    }
    // Columns of the planner's own are none that the statement knew of.
    let mut used = (*planner.used).clone();
    used.extend(columns);
    CompiledQuery::compile(&settings, None, &used, &rel, (given + bindings.len(), &[]), Some(columns))
}

impl DisplayAs for ApplyExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        let what = match &*self.work {
            Work::Value(apply) => format!("{:?}", apply.kind).to_lowercase(),
            Work::Lateral(spec) if spec.outer => "lateral outer".into(),
            Work::Lateral(_) => "lateral".into(),
        };
        let columns: Vec<String> = self.bindings.iter().map(|(c, _)| column_name(*c)).collect();
        write!(f, "ApplyExec: kind={what}, bindings=[{}]", columns.join(", "))?;
        let (rel, columns) = self.work.question();
        match compile(&self.planner, &self.bindings, &rel, &columns) {
            Ok(Some(short)) => write!(f, ", for each row=[{}]", short.describe().iter().map(|l| l.trim()).collect::<Vec<_>>().join(" < ")),
            _ => Ok(()),
        }
    }
}

impl ExecutionPlan for ApplyExec {
    fn name(&self) -> &str {
        "ApplyExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> Result<datafusion::common::tree_node::TreeNodeRecursion> {
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("Apply has one input".into())) };
        Ok(Arc::new(Self::new(input, self.work.clone(), self.planner.clone())?))
    }

    fn execute(&self, partition: usize, context: Arc<datafusion::execution::TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut input = self.input.execute(partition, context)?;
        let (work, planner, bindings, schema) = (self.work.clone(), self.planner.clone(), self.bindings.clone(), self.schema.clone());
        let out_schema = schema.clone();
        let stream = super::project_set::async_stream(move |tx| async move {
            let fields = bindings.iter().map(|(_, i)| SortField::new(schema.field(*i).data_type().clone())).collect();
            let converter = RowConverter::new(fields)?;
            let (rel, columns) = work.question();
            let most_kept = if is_steady(&rel) { CACHE_ENTRIES } else { 0 };
            let short = compile(&planner, &bindings, &rel, &columns).map_err(DataFusionError::from)?;
            let mut runner = Runner {
                work: &work,
                planner: &planner,
                bindings: &bindings,
                rel,
                columns,
                short,
                kept: None,
                asked: 0,
                turn: Instant::now(),
                memory: MemoryConsumer::new("ApplyExec").register(&planner.ctx.database.runtime.memory_pool),
                params: planner.ctx.params.to_vec(),
                converter,
                most_kept,
                kept_bytes: 0,
                values: HashMap::new(),
                rows: HashMap::new(),
            };
            while let Some(batch) = input.next().await {
                if !runner.batch(&batch?, &schema, &tx).await.map_err(DataFusionError::from)? {
                    return Ok(());
                }
            }
            Ok(())
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(out_schema, stream)))
    }
}

struct Runner<'a> {
    work: &'a Work,
    planner: &'a Planner,
    bindings: &'a [(ColId, usize)],
    rel: Rel,
    columns: Vec<ColId>,
    short: Option<CompiledQuery>,
    /// The subquery over relations that were read once, when that has been tried.
    kept: Option<Option<CompiledQuery>>,
    /// Rows that were not short.
    asked: usize,
    turn: Instant,
    memory: MemoryReservation,
    /// Those of the statement, with those of a row behind them while that is asked for.
    params: Vec<ScalarValue>,
    converter: RowConverter,
    /// How many results are kept: none where another call may give another.
    most_kept: usize,
    kept_bytes: usize,
    values: HashMap<OwnedRow, ScalarValue>,
    rows: HashMap<OwnedRow, RecordBatch>,
}

impl Runner<'_> {
    /// Sends the rows of a batch with what the subquery gives for them, in as many batches as that takes; whether they are still wanted.
    async fn batch(&mut self, batch: &RecordBatch, schema: &SchemaRef, out: &Sender<Result<RecordBatch>>) -> PgResult<bool> {
        let bound: Vec<ArrayRef> = self.bindings.iter().map(|(_, i)| batch.column(*i).clone()).collect();
        let keys: Vec<OwnedRow> = if bound.is_empty() {
            // Nothing binds: the same for all rows.
            Vec::new()
        } else {
            self.converter.convert_columns(&bound)?.iter().map(|r| r.owned()).collect()
        };
        let (work, mut from) = (self.work, 0);
        while from < batch.num_rows() {
            let (arrays, count, next) = match work {
                Work::Value(apply) => self.with_values(apply, batch, from, &bound, &keys).await?,
                Work::Lateral(spec) => self.with_rows(spec, batch, from, &bound, &keys).await?,
            };
            from = next;
            let options = RecordBatchOptions::new().with_row_count(Some(count));
            let made = RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?;
            if count > 0 && out.send(Ok(made)).await.is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a result of so many bytes is kept.
    fn keeps(&mut self, entries: usize, bytes: usize) -> bool {
        let keeps = entries < self.most_kept && self.kept_bytes + bytes <= CACHE_BYTES;
        if keeps {
            self.kept_bytes += bytes;
        }
        keeps
    }

    /// The columns of rows from `from` on with the subquery's value, how many these are, and where the next begin.
    async fn with_values(
        &mut self,
        apply: &Apply,
        batch: &RecordBatch,
        from: usize,
        bound: &[ArrayRef],
        keys: &[OwnedRow],
    ) -> PgResult<(Vec<ArrayRef>, usize, usize)> {
        let mut out = Vec::with_capacity(batch.num_rows() - from);
        let (mut only, mut bytes): (Option<ScalarValue>, usize) = (None, 0);
        for row in from..batch.num_rows() {
            if bytes > BATCH_BYTES {
                break;
            }
            let key = keys.get(row);
            let known = match key {
                Some(key) => self.values.get(key).cloned(),
                None => only.clone(),
            };
            let value = match known {
                Some(value) => value,
                None => {
                    let value = self.value(apply, bound, row).await?;
                    match key {
                        Some(key) if self.keeps(self.values.len(), value.size()) => {
                            self.values.insert(key.clone(), value.clone());
                        }
                        Some(_) => {}
                        None => only = Some(value.clone()),
                    }
                    value
                }
            };
            bytes += value.size();
            out.push(value);
        }
        let count = out.len();
        let mut arrays = batch.slice(from, count).columns().to_vec();
        arrays.push(ScalarValue::iter_to_array(out).map_err(from_datafusion)?);
        Ok((arrays, count, from + count))
    }

    /// The columns of rows from `from` on, each beside the rows that the subquery gives for it.
    async fn with_rows(
        &mut self,
        spec: &LateralSpec,
        batch: &RecordBatch,
        from: usize,
        bound: &[ArrayRef],
        keys: &[OwnedRow],
    ) -> PgResult<(Vec<ArrayRef>, usize, usize)> {
        let mut indices: Vec<u32> = Vec::new();
        let mut pieces: Vec<Vec<ArrayRef>> = vec![Vec::new(); spec.columns.len()];
        let (mut row, mut bytes) = (from, 0);
        while row < batch.num_rows() && indices.len() < BATCH_ROWS && bytes <= BATCH_BYTES {
            let key = keys.get(row);
            let found = match key.and_then(|key| self.rows.get(key)) {
                Some(rows) => rows.clone(),
                None => {
                    let rows = self.lateral(spec, bound, row).await?;
                    if let Some(key) = key
                        && self.keeps(self.rows.len(), rows.get_array_memory_size())
                    {
                        self.rows.insert(key.clone(), rows.clone());
                    }
                    rows
                }
            };
            let count = if spec.outer { found.num_rows().max(1) } else { found.num_rows() };
            indices.extend(std::iter::repeat_n(row as u32, count));
            if found.num_rows() > 0 {
                bytes += found.get_array_memory_size();
                pieces.iter_mut().zip(found.columns()).for_each(|(piece, array)| piece.push(array.clone()));
            } else if spec.outer {
                pieces.iter_mut().zip(&spec.columns).for_each(|(piece, (_, ty))| piece.push(new_null_array(&ty.arrow, 1)));
            }
            row += 1;
        }
        let count = indices.len();
        let indices = UInt32Array::from(indices);
        let mut arrays = Vec::with_capacity(batch.num_columns() + pieces.len());
        for column in batch.columns() {
            arrays.push(take(column, &indices, None)?);
        }
        for (piece, (_, ty)) in pieces.iter().zip(&spec.columns) {
            let refs: Vec<&dyn Array> = piece.iter().map(AsRef::as_ref).collect();
            arrays.push(if refs.is_empty() { new_null_array(&ty.arrow, 0) } else { concat(&refs)? });
        }
        Ok((arrays, count, row))
    }

    /// The subquery's rows for a row of the input.
    async fn ask(&mut self, bound: &[ArrayRef], row: usize) -> PgResult<Vec<RecordBatch>> {
        let given = self.planner.ctx.params.len();
        self.params.truncate(given);
        for array in bound {
            self.params.push(ScalarValue::try_from_array(array, row).map_err(from_datafusion)?);
        }
        if let Some(short) = &self.short
            && let CompiledRows::Rows(rows) = short.run(&self.planner.ctx, &self.params, &self.planner.ctes).await?
        {
            return Ok(rows.into_iter().collect());
        }
        if self.turn.elapsed() > TURN {
            tokio::task::yield_now().await;
            self.turn = Instant::now();
        }
        self.asked += 1;
        if self.asked > FIRST_ROWS && !self.bindings.is_empty() {
            if self.kept.is_none() {
                self.kept = Some(self.over_kept().await?);
            }
            // What fails may not be asked for by the plan.
            if let Some(Some(kept)) = &self.kept
                && let Ok(CompiledRows::Rows(rows)) = kept.run(&self.planner.ctx, &self.params, &self.planner.ctes).await
            {
                return Ok(rows.into_iter().collect());
            }
        }
        let values = self.params.get(given..).unwrap_or_default();
        let mut rel = self.rel.clone();
        walk::rewrite_rel(&mut rel, &mut |e| match &e.kind {
            ExprKind::Column(id) => self
                .bindings
                .iter()
                .zip(values)
                .find(|((c, _), _)| c == id)
                .map(|(_, value)| Expr::new(ExprKind::Const(value.clone()), e.ty.clone())),
            _ => None,
        });
        self.planner.run(&rel, &self.columns).await
    }

    /// The subquery over what does not depend on the row; `None` if there is no such way, or too much to keep.
    async fn over_kept(&self) -> PgResult<Option<CompiledQuery>> {
        let given = self.planner.ctx.params.len();
        let Some(rel) = with_params(self.planner, self.bindings, &self.rel) else { return Ok(None) };
        let Some(query) = CompiledQuery::over_kept(self.planner, &rel, given + self.bindings.len(), &self.columns)? else {
            return Ok(None);
        };
        // The plan may leave rows out that are read here, and not fail.
        Ok(matches!(query.read_kept(self.planner, &self.memory).await, Ok(true)).then_some(query))
    }

    async fn value(&mut self, apply: &Apply, bound: &[ArrayRef], row: usize) -> PgResult<ScalarValue> {
        let rows = self.ask(bound, row).await?;
        let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
        match apply.kind {
            ApplyKind::Exists => Ok(ScalarValue::Boolean(Some(count > 0))),
            ApplyKind::Scalar => {
                if count > 1 {
                    return Err(too_many_rows());
                }
                match rows.iter().find(|b| b.num_rows() > 0) {
                    Some(batch) => ScalarValue::try_from_array(batch.column(0), 0).map_err(from_datafusion),
                    None => ScalarValue::try_from(&apply.ty.arrow).map_err(from_datafusion),
                }
            }
            ApplyKind::Array => array_of_rows(&rows, &apply.ty.arrow),
            ApplyKind::Any | ApplyKind::All => {
                let decisive = apply.kind == ApplyKind::Any;
                let mut unknown = false;
                for batch in &rows {
                    let column = batch.column(0).as_boolean();
                    for value in column {
                        match value {
                            Some(v) if v == decisive => return Ok(ScalarValue::Boolean(Some(decisive))),
                            Some(_) => {}
                            None => unknown = true,
                        }
                    }
                }
                Ok(ScalarValue::Boolean(if unknown { None } else { Some(!decisive) }))
            }
        }
    }

    async fn lateral(&mut self, spec: &LateralSpec, bound: &[ArrayRef], row: usize) -> PgResult<RecordBatch> {
        let rows = self.ask(bound, row).await?;
        let fields: Vec<Field> = spec.columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut typed = Vec::with_capacity(rows.len());
        for batch in rows {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let arrays = if spec.columns.is_empty() { Vec::new() } else { batch.columns().to_vec() };
            typed.push(RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?);
        }
        if spec.columns.is_empty() {
            let count = typed.iter().map(RecordBatch::num_rows).sum();
            return Ok(RecordBatch::try_new_with_options(schema, Vec::new(), &RecordBatchOptions::new().with_row_count(Some(count)))?);
        }
        Ok(concat_batches(&schema, &typed)?)
    }
}

/// The first column of some rows as an array; of arrays, as one of a dimension more.
pub fn array_of_rows(rows: &[RecordBatch], ty: &DataType) -> PgResult<ScalarValue> {
    let item = array_item(ty).ok_or_else(|| PgError::internal("an array of another form"))?;
    let columns: Vec<&ArrayRef> = rows.iter().map(|b| b.column(0)).collect();
    if columns.iter().any(|column| column.data_type() == ty) {
        let mut arrays = Stack::default();
        columns.into_iter().try_for_each(|column| arrays.push(Arc::clone(column)))?;
        return match arrays.value()? {
            Some(array) => Ok(array),
            None => array_of_elements(new_null_array(item, 0)),
        };
    }
    let refs: Vec<&dyn Array> = columns.iter().map(AsRef::as_ref).collect();
    array_of_elements(if refs.is_empty() { new_null_array(item, 0) } else { concat(&refs)? })
}
