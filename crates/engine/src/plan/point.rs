//! Reads of one row by its whole key, compiled once for a prepared statement.
//!
//! `SELECT … FROM t WHERE key = $1`, and the same read under UPDATE and DELETE, make up most traffic. What does not depend on the
//! values is worked out once: which columns, in which order, under which expressions, and where each part of the key comes from.
//! What is left for an execution is to encode the key, get the row and evaluate what is computed.
//!
//! Invariant: the answer is that of [`super::direct`] and the planner; what is not recognised is left to them.

use super::direct::{Base, Columns, is_plain, schema_of, shape};
use super::evaluator::TableEvaluator;
use super::from_datafusion;
use crate::access::Preferences;
use crate::bind::tree::{ColId, Expr, ExprKind, Rel, TableScan};
use crate::catalog::{ColumnId, TableDescriptor};
use crate::exec::StatementContext;
use crate::exec::point_get::get_rows;
use crate::exec::scan_output::ScanTable;
use crate::row::key::KeyColumn;
use crate::row::{ColumnSource, KeyList, RowCodec, ScanDecoder};
use crate::session::settings::Settings;
use crate::text::scan::SCORE;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use stoa_pg::registry::Volatility;
use stoa_pg::types::PgType;
use stoa_pg::{EvalContext, PgError, PgResult, SqlType};
use stoa_store::KeyRange;

/// Parameters of a compiled expression are columns behind those of the row, with ids from here on.
const PARAM_COLUMNS: u32 = 0x7000_0000;

/// A value that is known before the row is.
#[derive(Clone, Debug)]
enum Source {
    Const(ScalarValue),
    Param(usize),
}

impl Source {
    fn of(e: &Expr) -> Option<(Self, &SqlType)> {
        match &e.kind {
            ExprKind::Const(value) => Some((Source::Const(value.clone()), &e.ty)),
            ExprKind::Param(index) => Some((Source::Param(*index), &e.ty)),
            _ => None,
        }
    }

    fn value<'a>(&'a self, params: &'a [ScalarValue]) -> Option<&'a ScalarValue> {
        match self {
            Source::Const(value) => Some(value),
            Source::Param(index) => params.get(*index),
        }
    }
}

/// Where a column of a projection comes from.
enum Output {
    Input(usize),
    Computed(usize),
}

/// Expressions over a row, and the parameters behind its columns.
struct Computed {
    evaluator: TableEvaluator,
    params: Vec<usize>,
}

struct Projection {
    outputs: Vec<Output>,
    computed: Option<Computed>,
    schema: SchemaRef,
}

/// See the module.
pub(crate) struct PointRead {
    table: Arc<TableDescriptor>,
    codec: Arc<RowCodec>,
    /// By part of the key.
    key: Vec<Source>,
    read: Vec<ColumnId>,
    read_schema: SchemaRef,
    projections: Vec<Projection>,
    /// Positions of what is given, where they are not all in order.
    order: Option<Vec<usize>>,
}

/// What executions of one statement share.
///
/// It belongs to a statement as it is bound: another catalog, or other settings of values, make another one.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    used: OnceLock<Arc<HashSet<ColId>>>,
    changes_rows: OnceLock<bool>,
    point: Mutex<Option<(Arc<Settings>, Option<Arc<PointRead>>)>>,
}

impl PlanCache {
    /// The columns that anything in the statement uses.
    pub(crate) fn used(&self, compute: impl FnOnce() -> HashSet<ColId>) -> Arc<HashSet<ColId>> {
        Arc::clone(self.used.get_or_init(|| Arc::new(compute())))
    }

    /// Whether the statement writes, or locks rows.
    pub(crate) fn changes_rows(&self, compute: impl FnOnce() -> bool) -> bool {
        *self.changes_rows.get_or_init(compute)
    }

    /// The compiled read of the statement's relation, if it is one under these settings.
    pub(crate) fn point(
        &self,
        settings: Arc<Settings>,
        compile: impl FnOnce(&Settings) -> PgResult<Option<PointRead>>,
    ) -> PgResult<Option<Arc<PointRead>>> {
        let mut known = self.point.lock();
        if let Some((of, point)) = &*known
            && Arc::ptr_eq(of, &settings)
        {
            return Ok(point.clone());
        }
        let point = compile(&settings)?.map(Arc::new);
        *known = Some((settings, point.clone()));
        Ok(point)
    }
}

impl std::fmt::Debug for PointRead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointRead").field("table", &self.table.name).finish_non_exhaustive()
    }
}

impl PointRead {
    /// Compiles a relation, if it is such a read. `used` are the columns that anything in the statement uses; `columns` are those
    /// to be given in this order, otherwise all of the relation that are used.
    ///
    /// # Errors
    /// What the compilation of expressions raises.
    pub(crate) fn compile(
        eval: &EvalContext,
        settings: &Settings,
        used: &HashSet<ColId>,
        rel: &Rel,
        columns: Option<&[ColId]>,
    ) -> PgResult<Option<Self>> {
        let Some((scan, filters, projections)) = parts(rel) else { return Ok(None) };
        let preferences = Preferences::new(settings, &scan.hints);
        if preferences.force_index || !preferences.key_ranges || !scan.hints.is_empty() || scan.table.key.is_empty() {
            return Ok(None);
        }
        let codec = RowCodec::of(&scan.table)?;
        let Some(key) = key_sources(scan, &codec, &filters) else { return Ok(None) };
        // What only filters use need not be read: the key says it.
        let needed: HashSet<ColId> = match projections.first() {
            None => match columns {
                Some(columns) => columns.iter().copied().collect(),
                None => used.clone(),
            },
            Some(exprs) => {
                let mut needed = Vec::new();
                exprs.iter().filter(|(id, _)| used.contains(id)).for_each(|(_, e)| crate::bind::walk::columns_of(e, &mut needed));
                needed.into_iter().collect()
            }
        };
        let mut read = Vec::new();
        let mut given = Columns::new();
        for (id, col) in scan.columns.iter().filter(|(_, col)| needed.contains(col)) {
            let Some(column) = scan.table.column(*id).filter(|_| *id != SCORE) else { return Ok(None) };
            read.push(*id);
            given.push((*col, column.ty.clone()));
        }
        let read_schema = schema_of(&given);
        let mut compiled = Vec::with_capacity(projections.len());
        for exprs in projections {
            let wanted: Vec<&(ColId, Expr)> = exprs.iter().filter(|(id, _)| used.contains(id)).collect();
            let Some((projection, out)) = Projection::compile(eval, &given, &wanted)? else { return Ok(None) };
            given = out;
            compiled.push(projection);
        }
        let order = match columns {
            None => None,
            Some(columns) => {
                let positions: Option<Vec<usize>> = columns.iter().map(|c| given.iter().position(|(g, _)| g == c)).collect();
                let Some(positions) = positions else { return Ok(None) };
                let in_place = positions.len() == given.len() && positions.iter().enumerate().all(|(i, p)| i == *p);
                (!in_place).then_some(positions)
            }
        };
        Ok(Some(Self { table: Arc::clone(&scan.table), codec, key, read, read_schema, projections: compiled, order }))
    }

    /// The row, if there is one.
    ///
    /// # Errors
    /// The store failed; what the expressions raise.
    pub(crate) async fn run(&self, ctx: &StatementContext) -> PgResult<Option<RecordBatch>> {
        let mut keys = KeyList::new();
        let Some(key) = self.encode_key(&ctx.params)? else { return Ok(None) };
        keys.push(&key);
        let table = ScanTable {
            table: Arc::clone(&self.table),
            codec: Arc::clone(&self.codec),
            view: ctx.txn.read_view(),
            txn: Some(Arc::clone(&ctx.txn)),
        };
        if ctx.txn.records_reads() {
            table.record(self.codec.storage, &[KeyRange::point(&key)]);
        }
        let mut decoder = ScanDecoder::new(&ColumnSource::Table(Arc::clone(&self.codec)), &self.read, 1)?;
        get_rows(&table, &keys, 0..1, &mut decoder).await?;
        let rows = decoder.rows();
        if rows == 0 {
            return Ok(None);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let mut batch = RecordBatch::try_new_with_options(Arc::clone(&self.read_schema), decoder.finish()?, &options)?;
        for projection in &self.projections {
            batch = projection.apply(&batch, &ctx.params)?;
        }
        if let Some(positions) = &self.order {
            batch = batch.project(positions)?;
        }
        Ok(Some(batch))
    }

    /// The key's bytes; `None` if a part is NULL or no value of its type, so that no row has it.
    fn encode_key(&self, params: &[ScalarValue]) -> PgResult<Option<Vec<u8>>> {
        let mut columns = Vec::with_capacity(self.key.len());
        for (source, part) in self.key.iter().zip(&self.codec.key.parts) {
            let value = source.value(params).ok_or_else(|| PgError::internal("a statement without its parameter"))?;
            let Some(value) = of_type(value, &part.ty.arrow) else { return Ok(None) };
            columns.push(KeyColumn::new(&part.ty, &value.to_array().map_err(from_datafusion)?)?);
        }
        let mut key = Vec::with_capacity(32);
        self.codec.key.encode(&columns, 0, &mut key)?;
        Ok(Some(key))
    }
}

type Parts<'a> = (&'a TableScan, Vec<&'a Expr>, Vec<&'a [(ColId, Expr)]>);

/// Takes a relation apart: the scan, its filters, the projections above them from the lowest. A limit of one row or more and an
/// order change nothing about a row.
fn parts(rel: &Rel) -> Option<Parts<'_>> {
    let shape = shape(rel)?;
    let Base::Scan(scan) = shape.base else { return None };
    let unlimited = match shape.limit {
        None => true,
        Some((Some(_), _)) => false,
        Some((None, fetch)) => fetch.is_none_or(|f| matches!(f.kind, ExprKind::Const(ScalarValue::Int64(Some(1..) | None)))),
    };
    let ordered = shape.sort.iter().all(|k| matches!(k.expr.kind, ExprKind::Column(_)));
    (unlimited && ordered).then_some((scan, shape.filters, shape.projections))
}

/// Where each part of the key comes from, if the filters say that and nothing else.
fn key_sources(scan: &TableScan, codec: &RowCodec, filters: &[&Expr]) -> Option<Vec<Source>> {
    if filters.len() != codec.key.parts.len() {
        return None;
    }
    let mut sources: Vec<Option<Source>> = vec![None; filters.len()];
    for filter in filters {
        let ExprKind::Oper { oper, args } = &filter.kind else { return None };
        if oper.0.name != "=" {
            return None;
        }
        let [left, right] = args.as_slice() else { return None };
        let (column, value) = match (column_of(left), column_of(right)) {
            (Some(column), None) => (column, right),
            (None, Some(column)) => (column, left),
            _ => return None,
        };
        let (id, _) = scan.columns.iter().find(|(_, col)| *col == column)?;
        let at = codec.key.position(*id)?;
        let (source, ty) = Source::of(value)?;
        let part = codec.key.parts.get(at)?;
        let place = sources.get_mut(at)?;
        if place.is_some() || !comparable(&part.ty, ty) {
            return None;
        }
        *place = Some(source);
    }
    sources.into_iter().collect()
}

/// The column, where a cast does not change what it equals.
fn column_of(e: &Expr) -> Option<ColId> {
    match &e.kind {
        ExprKind::Column(column) => Some(*column),
        ExprKind::Cast { arg, .. } if arg.ty.ty == PgType::Varchar && e.ty.ty == PgType::Text && e.ty.typmod < 0 => column_of(arg),
        _ => None,
    }
}

/// Whether equality with a value of the other type is equality of a key part.
fn comparable(part: &SqlType, other: &SqlType) -> bool {
    let integer = |ty: &SqlType| matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8);
    let text = |ty: &SqlType| matches!(ty.ty, PgType::Text | PgType::Varchar);
    let same = matches!(
        part.ty,
        PgType::Bool | PgType::Bytea | PgType::Date | PgType::Time | PgType::Timestamp | PgType::Timestamptz | PgType::Uuid | PgType::Oid
    );
    (integer(part) && integer(other)) || (text(part) && text(other)) || (same && part.ty == other.ty && part.arrow == other.arrow)
}

/// A value as one of this Arrow type; `None` if it is NULL, or outside of the type.
fn of_type(value: &ScalarValue, ty: &DataType) -> Option<ScalarValue> {
    if value.is_null() {
        return None;
    }
    let wide = match value {
        ScalarValue::Int16(Some(n)) => i64::from(*n),
        ScalarValue::Int32(Some(n)) => i64::from(*n),
        ScalarValue::Int64(Some(n)) => *n,
        other => return (other.data_type() == *ty).then(|| other.clone()),
    };
    match ty {
        DataType::Int16 => i16::try_from(wide).ok().map(|n| ScalarValue::Int16(Some(n))),
        DataType::Int32 => i32::try_from(wide).ok().map(|n| ScalarValue::Int32(Some(n))),
        DataType::Int64 => Some(ScalarValue::Int64(Some(wide))),
        _ => None,
    }
}

impl Projection {
    fn compile(eval: &EvalContext, input: &Columns, exprs: &[&(ColId, Expr)]) -> PgResult<Option<(Self, Columns)>> {
        let mut outputs = Vec::with_capacity(exprs.len());
        let mut columns = Columns::with_capacity(exprs.len());
        let mut computed: Vec<Expr> = Vec::new();
        let mut params: Vec<(usize, SqlType)> = Vec::new();
        for (id, e) in exprs {
            columns.push((*id, e.ty.clone()));
            if let ExprKind::Column(from) = e.kind {
                let Some(at) = input.iter().position(|(c, _)| *c == from) else { return Ok(None) };
                outputs.push(Output::Input(at));
                continue;
            }
            if !is_plain(e) || e.any(&mut |x| !is_lasting(x)) {
                return Ok(None);
            }
            let mut e = e.clone();
            params_to_columns(&mut e, &mut params);
            outputs.push(Output::Computed(computed.len()));
            computed.push(e);
        }
        let computed = if computed.is_empty() {
            None
        } else {
            let of_row = input.iter().map(|(c, ty)| (*c, ty.arrow.clone()));
            let of_params = params.iter().map(|(at, ty)| (param_column(*at), ty.arrow.clone()));
            let typed: Vec<(ColId, DataType)> = of_row.chain(of_params).collect();
            // The context of one execution must not be kept: it holds the transaction.
            let eval = EvalContext { settings: eval.settings.clone(), ..EvalContext::default() };
            let evaluator = TableEvaluator::new(&eval, &[], &typed, &computed)?;
            Some(Computed { evaluator, params: params.into_iter().map(|(at, _)| at).collect() })
        };
        let schema = schema_of(&columns);
        Ok(Some((Self { outputs, computed, schema }, columns)))
    }

    fn apply(&self, batch: &RecordBatch, params: &[ScalarValue]) -> PgResult<RecordBatch> {
        let rows = batch.num_rows();
        let computed = match &self.computed {
            None => Vec::new(),
            Some(computed) => {
                let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
                for at in &computed.params {
                    let value = params.get(*at).ok_or_else(|| PgError::internal("a statement without its parameter"))?;
                    columns.push(value.to_array_of_size(rows).map_err(from_datafusion)?);
                }
                computed.evaluator.evaluate(columns, rows)?
            }
        };
        let mut arrays = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            let array = match output {
                Output::Input(at) => batch.columns().get(*at),
                Output::Computed(at) => computed.get(*at),
            };
            arrays.push(array.cloned().ok_or_else(|| PgError::internal("a projection without its input"))?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?)
    }
}

/// Whether a node means the same in every execution under the same settings.
pub(crate) fn is_lasting(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Func { func, .. } => func.0.volatility == Volatility::Immutable,
        ExprKind::Oper { oper, .. } => oper.0.volatility == Volatility::Immutable,
        ExprKind::Cast { arg, .. } => {
            let simple = |ty: &SqlType| {
                matches!(
                    ty.ty,
                    PgType::Bool
                        | PgType::Int2
                        | PgType::Int4
                        | PgType::Int8
                        | PgType::Float4
                        | PgType::Float8
                        | PgType::Numeric
                        | PgType::Text
                        | PgType::Varchar
                        | PgType::Bpchar
                )
            };
            simple(&arg.ty) && simple(&e.ty)
        }
        _ => true,
    }
}

fn param_column(at: usize) -> ColId {
    ColId(PARAM_COLUMNS + u32::try_from(at).unwrap_or(u32::MAX - PARAM_COLUMNS))
}

fn params_to_columns(e: &mut Expr, params: &mut Vec<(usize, SqlType)>) {
    if let ExprKind::Param(at) = e.kind {
        if params.iter().all(|(known, _)| *known != at) {
            params.push((at, e.ty.clone()));
        }
        e.kind = ExprKind::Column(param_column(at));
        return;
    }
    e.children_mut().into_iter().for_each(|child| params_to_columns(child, params));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn values_outside_of_a_keys_type_have_no_row() {
        let int4 = DataType::Int32;
        assert_eq!(of_type(&ScalarValue::Int64(Some(7)), &int4), Some(ScalarValue::Int32(Some(7))));
        assert_eq!(of_type(&ScalarValue::Int64(Some(1 << 40)), &int4), None);
        assert_eq!(of_type(&ScalarValue::Int16(Some(-3)), &DataType::Int64), Some(ScalarValue::Int64(Some(-3))));
        assert_eq!(of_type(&ScalarValue::Int32(None), &int4), None);
        assert_eq!(of_type(&ScalarValue::Utf8View(Some("a".into())), &int4), None);
    }

    #[test]
    fn integers_and_texts_compare_among_themselves() {
        let ty = SqlType::new;
        assert!(comparable(&ty(PgType::Int8), &ty(PgType::Int4)));
        assert!(comparable(&ty(PgType::Varchar), &ty(PgType::Text)));
        assert!(!comparable(&ty(PgType::Bpchar), &ty(PgType::Text)));
        assert!(!comparable(&ty(PgType::Int8), &ty(PgType::Numeric)));
        assert!(!comparable(&ty(PgType::Timestamp), &ty(PgType::Timestamptz)));
    }
}
