//! A subquery run for each distinct row of what it uses of its outer query: what no join can say.
//!
//! How it is run for a row is a [`Correlated`] subquery's business (`plan::apply`). Here its results become columns, or rows beside the
//! row that they are for; they are kept for rows with the same values.

use crate::node::MakeExec;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::{concat, concat_batches, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use async_trait::async_trait;
use datafusion::common::{DataFusionError, Result, ScalarValue};
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
use stoa_pg::types::array_item;
use stoa_pg::values::array::array_of_elements;
use stoa_pg::values::array::stack::Stack;
use stoa_pg::{PgError, PgResult, SqlState, SqlType};
use stoa_sql::typed::tree::ColId;
use stoa_sql::typed::{column_name, from_datafusion};
use tokio::sync::mpsc::Sender;

/// Results kept for values that come again.
const CACHE_ENTRIES: usize = 10_000;
/// The memory that these take at most.
const CACHE_BYTES: usize = 16 << 20;
/// Rows, or bytes of what subqueries give, after which a batch is given on.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 8 << 20;
/// What an apply gives for each row of its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ApplyKind {
    /// The value of the only row; NULL for none; 21000 for several.
    Scalar,
    Exists,
    Array,
    /// Three-valued OR, AND over the rows' only column.
    Any,
    All,
}

/// What comes of a subquery's rows.
#[derive(Clone, Debug)]
pub enum Gives {
    /// A column.
    Value { kind: ApplyKind, column: ColId, ty: SqlType },
    /// These columns of its rows, beside the row that they are for.
    Rows {
        columns: Vec<(ColId, SqlType)>,
        /// Rows without a match stay, with NULLs.
        outer: bool,
    },
}

impl Gives {
    /// The columns that are added.
    #[must_use]
    pub fn columns(&self) -> Vec<(ColId, SqlType)> {
        match self {
            Gives::Value { column, ty, .. } => vec![(*column, ty.clone())],
            Gives::Rows { columns, .. } => columns.clone(),
        }
    }

    fn fields(&self) -> Vec<Field> {
        self.columns().iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect()
    }
}

/// A subquery with columns of the rows that it is run for.
pub trait Correlated: Send + Sync {
    /// Those columns.
    fn free_columns(&self) -> Vec<ColId>;

    /// Whether it gives the same rows when it is run again with the same values.
    fn is_steady(&self) -> bool;

    /// How it is run for a row with values of these columns, where that is known before.
    fn shown(&self, bound: &[ColId]) -> Option<String>;

    /// Ready to be run for rows with values of these columns.
    ///
    /// # Errors
    /// What planning raises.
    fn open(&self, bound: &[ColId]) -> PgResult<Box<dyn Subquery>>;
}

/// See [`Correlated::open`].
#[async_trait]
pub trait Subquery: Send {
    /// The rows for these values of the bound columns.
    ///
    /// # Errors
    /// What the subquery raises.
    async fn rows(&mut self, values: Vec<ScalarValue>) -> PgResult<Vec<RecordBatch>>;
}

/// See the module.
pub struct ApplyExec {
    input: Arc<dyn ExecutionPlan>,
    gives: Arc<Gives>,
    subquery: Arc<dyn Correlated>,
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
    /// What makes the node.
    pub fn maker(gives: Gives, subquery: Arc<dyn Correlated>) -> MakeExec {
        let gives = Arc::new(gives);
        Arc::new(move |mut inputs| {
            let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("Apply has one input".into())) };
            Ok(Arc::new(ApplyExec::new(input, gives.clone(), subquery.clone())))
        })
    }

    fn new(input: Arc<dyn ExecutionPlan>, gives: Arc<Gives>, subquery: Arc<dyn Correlated>) -> Self {
        let schema = input.schema();
        let bindings =
            subquery.free_columns().into_iter().filter_map(|c| schema.index_of(&column_name(c)).ok().map(|i| (c, i))).collect::<Vec<_>>();
        let mut fields: Vec<Field> = schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        fields.extend(gives.fields());
        let schema = Arc::new(Schema::new(fields));
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            input.output_partitioning().clone(),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { input, gives, subquery, bindings: Arc::new(bindings), schema, properties }
    }

    fn bound(&self) -> Vec<ColId> {
        self.bindings.iter().map(|(c, _)| *c).collect()
    }
}

impl DisplayAs for ApplyExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        let what = match &*self.gives {
            Gives::Value { kind, .. } => format!("{kind:?}").to_lowercase(),
            Gives::Rows { outer: true, .. } => "lateral outer".into(),
            Gives::Rows { outer: false, .. } => "lateral".into(),
        };
        let bound = self.bound();
        let columns: Vec<String> = bound.iter().map(|c| column_name(*c)).collect();
        write!(f, "ApplyExec: kind={what}, bindings=[{}]", columns.join(", "))?;
        match self.subquery.shown(&bound) {
            Some(shown) => write!(f, ", for each row=[{shown}]"),
            None => Ok(()),
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
        Ok(Arc::new(Self::new(input, self.gives.clone(), self.subquery.clone())))
    }

    fn execute(&self, partition: usize, context: Arc<datafusion::execution::TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut input = self.input.execute(partition, context)?;
        let (gives, subquery, bindings, schema) = (self.gives.clone(), self.subquery.clone(), self.bindings.clone(), self.schema.clone());
        let (out_schema, bound) = (schema.clone(), self.bound());
        let stream = super::project_set::async_stream(move |tx| async move {
            let fields = bindings.iter().map(|(_, i)| SortField::new(schema.field(*i).data_type().clone())).collect();
            let converter = RowConverter::new(fields)?;
            let mut runner = Runner {
                gives: &gives,
                bindings: &bindings,
                subquery: subquery.open(&bound).map_err(DataFusionError::from)?,
                converter,
                most_kept: if subquery.is_steady() { CACHE_ENTRIES } else { 0 },
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
    gives: &'a Gives,
    bindings: &'a [(ColId, usize)],
    subquery: Box<dyn Subquery>,
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
        let (gives, mut from) = (self.gives, 0);
        while from < batch.num_rows() {
            let (arrays, count, next) = match gives {
                Gives::Value { kind, ty, .. } => self.with_values(*kind, ty, batch, from, &bound, &keys).await?,
                Gives::Rows { columns, outer } => self.with_rows(columns, *outer, batch, from, &bound, &keys).await?,
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
        kind: ApplyKind,
        ty: &SqlType,
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
                    let value = self.value(kind, ty, bound, row).await?;
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
        columns: &[(ColId, SqlType)],
        outer: bool,
        batch: &RecordBatch,
        from: usize,
        bound: &[ArrayRef],
        keys: &[OwnedRow],
    ) -> PgResult<(Vec<ArrayRef>, usize, usize)> {
        let mut indices: Vec<u32> = Vec::new();
        let mut pieces: Vec<Vec<ArrayRef>> = vec![Vec::new(); columns.len()];
        let (mut row, mut bytes) = (from, 0);
        while row < batch.num_rows() && indices.len() < BATCH_ROWS && bytes <= BATCH_BYTES {
            let key = keys.get(row);
            let found = match key.and_then(|key| self.rows.get(key)) {
                Some(rows) => rows.clone(),
                None => {
                    let rows = self.lateral(columns, bound, row).await?;
                    if let Some(key) = key
                        && self.keeps(self.rows.len(), rows.get_array_memory_size())
                    {
                        self.rows.insert(key.clone(), rows.clone());
                    }
                    rows
                }
            };
            let count = if outer { found.num_rows().max(1) } else { found.num_rows() };
            indices.extend(std::iter::repeat_n(row as u32, count));
            if found.num_rows() > 0 {
                bytes += found.get_array_memory_size();
                pieces.iter_mut().zip(found.columns()).for_each(|(piece, array)| piece.push(array.clone()));
            } else if outer {
                pieces.iter_mut().zip(columns).for_each(|(piece, (_, ty))| piece.push(new_null_array(&ty.arrow, 1)));
            }
            row += 1;
        }
        let count = indices.len();
        let indices = UInt32Array::from(indices);
        let mut arrays = Vec::with_capacity(batch.num_columns() + pieces.len());
        for column in batch.columns() {
            arrays.push(take(column, &indices, None)?);
        }
        for (piece, (_, ty)) in pieces.iter().zip(columns) {
            let refs: Vec<&dyn Array> = piece.iter().map(AsRef::as_ref).collect();
            arrays.push(if refs.is_empty() { new_null_array(&ty.arrow, 0) } else { concat(&refs)? });
        }
        Ok((arrays, count, row))
    }

    /// The subquery's rows for a row of the input.
    async fn ask(&mut self, bound: &[ArrayRef], row: usize) -> PgResult<Vec<RecordBatch>> {
        let values = bound.iter().map(|array| ScalarValue::try_from_array(array, row).map_err(from_datafusion));
        let values = values.collect::<PgResult<Vec<_>>>()?;
        self.subquery.rows(values).await
    }

    async fn value(&mut self, kind: ApplyKind, ty: &SqlType, bound: &[ArrayRef], row: usize) -> PgResult<ScalarValue> {
        let rows = self.ask(bound, row).await?;
        let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
        match kind {
            ApplyKind::Exists => Ok(ScalarValue::Boolean(Some(count > 0))),
            ApplyKind::Scalar => {
                if count > 1 {
                    return Err(too_many_rows());
                }
                match rows.iter().find(|b| b.num_rows() > 0) {
                    Some(batch) => ScalarValue::try_from_array(batch.column(0), 0).map_err(from_datafusion),
                    None => ScalarValue::try_from(&ty.arrow).map_err(from_datafusion),
                }
            }
            ApplyKind::Array => array_of_rows(&rows, &ty.arrow),
            ApplyKind::Any | ApplyKind::All => {
                let decisive = kind == ApplyKind::Any;
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

    async fn lateral(&mut self, columns: &[(ColId, SqlType)], bound: &[ArrayRef], row: usize) -> PgResult<RecordBatch> {
        let rows = self.ask(bound, row).await?;
        let fields: Vec<Field> = columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut typed = Vec::with_capacity(rows.len());
        for batch in rows {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let arrays = if columns.is_empty() { Vec::new() } else { batch.columns().to_vec() };
            typed.push(RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?);
        }
        if columns.is_empty() {
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

/// 21000
pub fn too_many_rows() -> PgError {
    PgError::new(SqlState::CARDINALITY_VIOLATION, "more than one row returned by a subquery used as an expression")
}
