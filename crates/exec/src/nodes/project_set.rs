//! Set-returning functions over the rows of an input: each row is repeated for the rows that the functions give, in step.
//!
//! Functions are opened row by row and read in chunks, so that a long series takes no memory.

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{DataFusionError, Result, ScalarValue, Statistics};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;
use stoa_pg::args::{Arg, Call};
use stoa_pg::memory::{SMALL_BYTES, process, value_bytes};
use stoa_pg::registry::{FuncKind, RowSource, SetKernel};
use stoa_pg::values::array::elements_of_value;
use stoa_pg::{EvalContext, PgError, PgResult, SqlType};
use stoa_sql::typed::column_name;
use stoa_sql::typed::tree::{ColId, SetExpr};

/// Rows that one function is asked for at a time.
const CHUNK: usize = 4096;

/// Elements that an array is expected to have, and rows that a function is expected to give.
const ARRAY_ROWS: usize = 10;
const SET_ROWS: usize = 1000;

/// One function call.
#[derive(Clone)]
struct SetCall {
    name: &'static str,
    open: SetKernel,
    strict: bool,
    returns_set: bool,
    args: Vec<Arc<dyn PhysicalExpr>>,
    arg_types: Vec<SqlType>,
    ret: SqlType,
    columns: Vec<SqlType>,
}

impl SetCall {
    /// `None` for a function that gives no set. Without `args` they are given with each batch.
    fn new(set: &SetExpr, args: Vec<Arc<dyn PhysicalExpr>>) -> Option<Self> {
        let FuncKind::Set { open, .. } = &set.func.0.kind else { return None };
        Some(Self {
            name: set.func.0.name,
            open: open.clone(),
            strict: set.func.0.strict,
            returns_set: set.func.0.returns_set,
            args,
            arg_types: set.args.iter().map(|e| e.ty.clone()).collect(),
            ret: set.ty.clone(),
            columns: set.columns.iter().map(|(_, t)| t.clone()).collect(),
        })
    }

    /// How many rows it gives for a row of the input: as many as constant arguments say, else what PostgreSQL expects.
    fn expected_rows(&self) -> usize {
        if !self.returns_set {
            return 1;
        }
        let constant = |at: usize| self.args.get(at).and_then(|arg| arg.downcast_ref::<Literal>()).map(Literal::value);
        let integer = |at: usize| match constant(at) {
            Some(ScalarValue::Int32(Some(n))) => Some(i64::from(*n)),
            Some(ScalarValue::Int64(Some(n))) => Some(*n),
            _ => None,
        };
        match self.name {
            "unnest" => match constant(0) {
                Some(array) => elements_of_value(array).ok().flatten().map_or(0, |elements| elements.len()),
                _ => ARRAY_ROWS,
            },
            "generate_series" => match (integer(0), integer(1), if self.args.len() > 2 { integer(2) } else { Some(1) }) {
                (Some(from), Some(to), Some(step)) if step != 0 => {
                    let steps = (i128::from(to) - i128::from(from)) / i128::from(step);
                    let runs = if step > 0 { to >= from } else { to <= from };
                    if runs { usize::try_from(steps + 1).unwrap_or(usize::MAX) } else { 0 }
                }
                _ => SET_ROWS,
            },
            _ => SET_ROWS,
        }
    }
}

/// See the module.
pub struct ProjectSetExec {
    input: Arc<dyn ExecutionPlan>,
    calls: Arc<Vec<SetCall>>,
    eval: EvalContext,
    outer: bool,
    ordinality: bool,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for ProjectSetExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProjectSetExec")
    }
}

impl ProjectSetExec {
    /// Over the rows of an input; `args` are the functions' arguments one after the other, over its columns.
    pub fn of(
        input: Arc<dyn ExecutionPlan>,
        sets: &[(Vec<ColId>, SetExpr)],
        args: Vec<Arc<dyn PhysicalExpr>>,
        eval: EvalContext,
        outer: bool,
        ordinality: Option<ColId>,
    ) -> Result<Self> {
        let mut rest = args.into_iter();
        let calls = sets.iter().map(|(_, set)| {
            let call = SetCall::new(set, rest.by_ref().take(set.args.len()).collect());
            call.ok_or_else(|| DataFusionError::Internal("not a set-returning function".into()))
        });
        let calls = Arc::new(calls.collect::<Result<Vec<_>>>()?);
        Self::new(input, calls, eval, outer, ordinality.is_some(), added_fields(sets, ordinality))
    }

    fn new(
        input: Arc<dyn ExecutionPlan>,
        calls: Arc<Vec<SetCall>>,
        eval: EvalContext,
        outer: bool,
        ordinality: bool,
        added: Vec<arrow::datatypes::Field>,
    ) -> Result<Self> {
        let mut fields: Vec<arrow::datatypes::Field> =
            input.schema().fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        fields.extend(added);
        let schema = Arc::new(arrow::datatypes::Schema::new(fields));
        let properties = Arc::new(PlanProperties::new(
            // The input's columns come first, and its rows in their order.
            EquivalenceProperties::new_with_orderings(schema.clone(), input.equivalence_properties().oeq_class().iter().cloned()),
            input.output_partitioning().clone(),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Ok(Self { input, calls, eval, outer, ordinality, schema, properties })
    }
}

/// Set-returning functions over few rows, whose arguments others compute.
pub struct Sets {
    calls: Vec<SetCall>,
    outer: bool,
    ordinality: bool,
}

impl Sets {
    /// As [`Rel::ProjectSet`](stoa_sql::typed::tree::Rel::ProjectSet) has them; `None` if a function gives no set.
    pub fn new(sets: &[(Vec<ColId>, SetExpr)], outer: bool, ordinality: bool) -> Option<Self> {
        let calls = sets.iter().map(|(_, set)| SetCall::new(set, Vec::new())).collect::<Option<_>>()?;
        Some(Self { calls, outer, ordinality })
    }

    /// The rows of a batch, repeated for those that the functions give for them; `None` if these are more than `most`. `args` are the
    /// functions' arguments one after the other, `schema` has the columns of the batch and those that are added.
    ///
    /// # Errors
    /// What the functions raise.
    pub fn apply(
        &self,
        eval: &EvalContext,
        batch: &RecordBatch,
        args: Vec<ArrayRef>,
        schema: &SchemaRef,
        most: usize,
    ) -> PgResult<Option<RecordBatch>> {
        let mut args = args.into_iter().map(|array| Arg { array, constant: false });
        let of_calls = self.calls.iter().map(|call| args.by_ref().take(call.arg_types.len()).collect()).collect();
        let mut run = BatchRun { calls: &self.calls, eval, args: of_calls, open: None, ordinal: 0 };
        let mut out = Output::new(&self.calls, self.ordinality);
        let mut row = 0;
        while row < batch.num_rows() {
            if run.step(row, self.outer, &mut out)? {
                row += 1;
            }
            if out.rows > most {
                return Ok(None);
            }
        }
        if out.rows == 0 {
            return Ok(Some(RecordBatch::new_empty(Arc::clone(schema))));
        }
        out.finish(batch, schema).map(Some)
    }
}

fn added_fields(sets: &[(Vec<ColId>, SetExpr)], ordinality: Option<ColId>) -> Vec<arrow::datatypes::Field> {
    let mut out = Vec::new();
    for (ids, set) in sets {
        out.extend(ids.iter().zip(&set.columns).map(|(c, (_, ty))| arrow::datatypes::Field::new(column_name(*c), ty.arrow.clone(), true)));
    }
    if let Some(id) = ordinality {
        out.push(arrow::datatypes::Field::new(column_name(id), arrow::datatypes::DataType::Int64, true));
    }
    out
}

impl DisplayAs for ProjectSetExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        let names: Vec<&str> = self.calls.iter().map(|c| c.name).collect();
        write!(f, "ProjectSetExec: functions=[{}]", names.join(", "))
    }
}

impl ExecutionPlan for ProjectSetExec {
    fn name(&self) -> &str {
        "ProjectSetExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> Result<datafusion::common::tree_node::TreeNodeRecursion> {
        for call in self.calls.iter() {
            for arg in &call.args {
                f(arg)?;
            }
        }
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("ProjectSet has one input".into())) };
        let added = self.schema.fields().iter().skip(self.input.schema().fields().len()).map(|f| f.as_ref().clone()).collect();
        Ok(Arc::new(Self::new(input, self.calls.clone(), self.eval.clone(), self.outer, self.ordinality, added)?))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        // Functions run in step: the longest one counts.
        if let Some(rows) = inputs.first().and_then(|input| input.num_rows.get_value()) {
            let of_row = self.calls.iter().map(SetCall::expected_rows).max().unwrap_or(1);
            statistics.num_rows = Precision::Inexact(rows.saturating_mul(of_row));
        }
        Ok(Arc::new(statistics))
    }

    fn execute(&self, partition: usize, context: Arc<datafusion::execution::TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut input = self.input.execute(partition, context)?;
        let (schema, calls, eval, outer, ordinality) =
            (self.schema.clone(), self.calls.clone(), self.eval.clone(), self.outer, self.ordinality);
        let out_schema = schema.clone();
        let stream = async_stream(move |tx| async move {
            while let Some(batch) = input.next().await {
                let batch = batch?;
                let mut run = BatchRun::open(&calls, &eval, &batch)?;
                let mut row = 0;
                while row < batch.num_rows() {
                    // Several short rows share a batch of output.
                    let mut out = Output::new(&calls, ordinality);
                    // Rows before an error are given first: a LIMIT may ask for no more.
                    let mut failed = None;
                    while row < batch.num_rows() && out.rows < CHUNK && failed.is_none() {
                        match run.step(row, outer, &mut out) {
                            Ok(done) => row += usize::from(done),
                            Err(error) => failed = Some(DataFusionError::from(error)),
                        }
                    }
                    if out.rows > 0 {
                        let made = out.finish(&batch, &schema).map_err(DataFusionError::from)?;
                        if tx.send(Ok(made)).await.is_err() {
                            return Ok(());
                        }
                    }
                    if let Some(error) = failed {
                        return Err(error);
                    }
                }
            }
            Ok(())
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(out_schema, stream)))
    }
}

/// A stream fed by a task's sends, without a task: the future runs as the stream is polled. Its error comes behind what it sent.
pub fn async_stream<F, Fut>(body: F) -> impl futures::Stream<Item = Result<RecordBatch>> + Send
where
    F: FnOnce(tokio::sync::mpsc::Sender<Result<RecordBatch>>) -> Fut + Send + 'static,
    Fut: std::future::Future<Output = Result<()>> + Send + 'static,
{
    let (tx, rx) = tokio::sync::mpsc::channel(1);
    let future = body(tx.clone());
    let feed = futures::stream::once(async move {
        if let Err(error) = future.await {
            // Nobody who no longer listens wants to know.
            let _ = tx.send(Err(error)).await;
        }
    })
    .filter_map(|()| async { None });
    let receive = futures::stream::unfold(rx, |mut rx| async move { rx.recv().await.map(|item| (item, rx)) });
    futures::stream::select(receive, feed)
}

/// The functions open on the rows of one batch.
struct BatchRun<'a> {
    calls: &'a [SetCall],
    eval: &'a EvalContext,
    args: Vec<Vec<Arg>>,
    /// The sources of the current row, and rows read from each but not given yet.
    open: Option<Vec<Source>>,
    ordinal: i64,
}

struct Source {
    rows: Option<Box<dyn RowSource>>,
    pending: Vec<ArrayRef>,
    at: usize,
}

impl Source {
    fn available(&self) -> usize {
        self.pending.first().map_or(0, |a| a.len() - self.at)
    }

    fn fill(&mut self) -> PgResult<()> {
        while self.available() == 0 {
            let Some(rows) = &mut self.rows else { return Ok(()) };
            match rows.next_chunk(CHUNK)? {
                Some(chunk) => {
                    // Few rows of long values are many bytes.
                    if chunk.iter().any(|column| value_bytes(column.as_ref()) >= SMALL_BYTES) {
                        process().check()?;
                    }
                    self.pending = chunk;
                    self.at = 0;
                }
                None => {
                    self.rows = None;
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl<'a> BatchRun<'a> {
    fn open(calls: &'a [SetCall], eval: &'a EvalContext, batch: &RecordBatch) -> Result<Self> {
        let mut args = Vec::with_capacity(calls.len());
        for call in calls {
            let mut values = Vec::with_capacity(call.args.len());
            for arg in &call.args {
                values.push(match arg.evaluate(batch)? {
                    ColumnarValue::Array(array) => Arg { array, constant: false },
                    ColumnarValue::Scalar(value) => Arg { array: value.to_array()?, constant: true },
                });
            }
            args.push(values);
        }
        Ok(Self { calls, eval, args, open: None, ordinal: 0 })
    }

    /// Gives rows for input row `row`, at most a chunk; true when the row is done.
    fn step(&mut self, row: usize, outer: bool, out: &mut Output) -> PgResult<bool> {
        if self.open.is_none() {
            let mut sources = Vec::with_capacity(self.calls.len());
            for (call, args) in self.calls.iter().zip(&self.args) {
                let null = call.strict && args.iter().any(|a| a.is_null(row));
                if null && !call.returns_set {
                    // A function that gives one row gives one of NULLs.
                    let pending = call.columns.iter().map(|ty| new_null_array(&ty.arrow, 1)).collect();
                    sources.push(Source { rows: None, pending, at: 0 });
                    continue;
                }
                let rows = if null {
                    None
                } else {
                    let description = Call { ctx: self.eval, rows: 1, arg_types: &call.arg_types, ret: &call.ret, explicit: false };
                    Some((call.open)(&description, args, row)?)
                };
                sources.push(Source { rows, pending: Vec::new(), at: 0 });
            }
            self.open = Some(sources);
            self.ordinal = 0;
        }
        let Some(sources) = &mut self.open else { return Ok(true) };
        for source in sources.iter_mut() {
            source.fill()?;
        }
        let most = sources.iter().map(Source::available).max().unwrap_or(0);
        if most == 0 {
            if outer && self.ordinal == 0 {
                out.push_nulls(row as u32, self.calls);
            }
            self.open = None;
            return Ok(true);
        }
        // As far as the shortest that has rows goes; those at their end give NULLs.
        let count = sources.iter().map(Source::available).filter(|n| *n > 0).min().unwrap_or(0).min(CHUNK);
        let mut column = 0;
        for (source, call) in sources.iter_mut().zip(self.calls) {
            for (i, ty) in call.columns.iter().enumerate() {
                let piece = if source.available() == 0 {
                    new_null_array(&ty.arrow, count)
                } else {
                    let array = source.pending.get(i).ok_or_else(|| PgError::internal("a set function gave too few columns"))?;
                    array.slice(source.at, count)
                };
                out.columns[column].push(piece);
                column += 1;
            }
            if source.available() > 0 {
                source.at += count;
            }
        }
        out.take.extend(std::iter::repeat_n(row as u32, count));
        for _ in 0..count {
            self.ordinal += 1;
            out.ordinals.push(Some(self.ordinal));
        }
        out.rows += count;
        Ok(false)
    }
}

/// A batch of output as it grows.
struct Output {
    take: Vec<u32>,
    columns: Vec<Vec<ArrayRef>>,
    ordinals: Vec<Option<i64>>,
    ordinality: bool,
    rows: usize,
}

impl Output {
    fn new(calls: &[SetCall], ordinality: bool) -> Self {
        let count = calls.iter().map(|c| c.columns.len()).sum();
        Self { take: Vec::new(), columns: vec![Vec::new(); count], ordinals: Vec::new(), ordinality, rows: 0 }
    }

    fn push_nulls(&mut self, row: u32, calls: &[SetCall]) {
        for (column, ty) in self.columns.iter_mut().zip(calls.iter().flat_map(|c| &c.columns)) {
            column.push(new_null_array(&ty.arrow, 1));
        }
        self.take.push(row);
        self.ordinals.push(None);
        self.rows += 1;
    }

    fn finish(self, batch: &RecordBatch, schema: &SchemaRef) -> PgResult<RecordBatch> {
        let indices = UInt32Array::from(self.take);
        let mut arrays = Vec::with_capacity(schema.fields().len());
        for column in batch.columns() {
            arrays.push(take(column, &indices, None)?);
        }
        for (pieces, field) in self.columns.into_iter().zip(schema.fields().iter().skip(batch.num_columns())) {
            let refs: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
            let array = concat(&refs)?;
            if array.data_type() != field.data_type() {
                return Err(PgError::internal(format!(
                    "a set function gave {} where {} was declared",
                    array.data_type(),
                    field.data_type()
                )));
            }
            arrays.push(array);
        }
        if self.ordinality {
            arrays.push(Arc::new(Int64Array::from(self.ordinals)));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        Ok(RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?)
    }
}
