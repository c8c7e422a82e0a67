//! Values of a compiled read: those known before any row is, and those computed from a row.

use crate::plan::compiled::simple_scan::{Columns, schema_of};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::ScalarValue;
use std::borrow::Cow;
use std::sync::Arc;
use stoa_pg::args::{Arg, Call, Kernel};
use stoa_pg::registry::{FuncKind, Volatility};
use stoa_pg::types::PgType;
use stoa_pg::{EvalContext, PgError, PgResult, SqlType};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::expr::is_null_call;
use stoa_sql::typed::guard::as_test;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind};
use stoa_sql::typed::udf::{constant_of, evaluated_for};
use stoa_sql::typed::walk::is_lasting;
use stoa_sql::typed::walk::is_plain;
use stoa_sql::typed::{constant, from_datafusion, kernel};

/// Parameters of a compiled expression are columns behind those of the row, with ids from here on.
const PARAM_COLUMNS: u32 = 0x7000_0000;

/// What an execution is given: compiled expressions hold nothing of it.
#[derive(Clone, Copy)]
pub(super) struct EvalArgs<'a> {
    pub eval: &'a EvalContext,
    /// The statement's, and behind them values of outer rows.
    pub params: &'a [ScalarValue],
}

/// A value that is known before the row is.
#[derive(Clone)]
pub(super) enum ScalarSource {
    Const(ScalarValue),
    Param(usize),
    /// Of parameters and constants, by operators, functions and casts.
    Call(Arc<Constant>),
    /// Of parameters and constants, by anything else.
    Computed(Arc<Computed>),
}

/// An expression without columns.
pub(super) struct Constant {
    expr: Expr,
    /// The same with its kernels looked up, where all values have the types that it says.
    calls: Option<KernelExpr>,
}

impl Constant {
    fn value(&self, known: EvalArgs<'_>) -> PgResult<ScalarValue> {
        if let Some(calls) = &self.calls
            && let Some(array) = calls.evaluate(&[], 1, known)?
        {
            return constant_of(array.as_ref());
        }
        let value = constant::evaluate_with(known.eval, known.params, &self.expr)?;
        value.ok_or_else(|| PgError::internal("an expression without a value"))
    }
}

impl ScalarSource {
    /// `None` if the expression has columns, or may not be computed early.
    pub(super) fn of(eval: &EvalContext, e: &Expr) -> PgResult<Option<Self>> {
        Ok(match &e.kind {
            ExprKind::Const(value) => Some(ScalarSource::Const(value.clone())),
            ExprKind::Param(index) => Some(ScalarSource::Param(*index)),
            _ if e.any(&mut |x| matches!(x.kind, ExprKind::Column(_))) => None,
            _ if !e.any(&mut |x| !is_call(x)) => {
                let calls = KernelExpr::compile(eval, &[], e)?;
                Some(ScalarSource::Call(Arc::new(Constant { expr: e.clone(), calls })))
            }
            _ => Computed::compile(eval, &[], std::slice::from_ref(e))?.map(|computed| ScalarSource::Computed(Arc::new(computed))),
        })
    }

    /// Whether it is made of some of these parameters.
    pub(super) fn uses(&self, params: &std::ops::Range<usize>) -> bool {
        match self {
            ScalarSource::Const(_) => false,
            ScalarSource::Param(at) => params.contains(at),
            ScalarSource::Call(constant) => constant.expr.any(&mut |x| matches!(x.kind, ExprKind::Param(at) if params.contains(&at))),
            ScalarSource::Computed(computed) => computed.params.iter().any(|at| params.contains(at)),
        }
    }

    /// # Errors
    /// What the expression raises.
    pub(super) fn value<'a>(&'a self, known: EvalArgs<'a>) -> PgResult<Cow<'a, ScalarValue>> {
        match self {
            ScalarSource::Const(value) => Ok(Cow::Borrowed(value)),
            ScalarSource::Param(index) => known.params.get(*index).map(Cow::Borrowed).ok_or_else(missing_parameter),
            ScalarSource::Call(constant) => constant.value(known).map(Cow::Owned),
            ScalarSource::Computed(computed) => {
                let arrays = computed.evaluate(&[], 1, known)?;
                let array = arrays.first().ok_or_else(|| PgError::internal("an expression without a value"))?;
                constant_of(array.as_ref()).map(Cow::Owned)
            }
        }
    }
}

/// Whether a node is one that [`constant::evaluate_with`] knows, with one result in an execution.
fn is_call(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Param(_) => true,
        ExprKind::Func { func, .. } => matches!(func.0.kind, FuncKind::Scalar(_)) && is_steady(e),
        ExprKind::Oper { .. } | ExprKind::Cast { .. } => is_steady(e),
        ExprKind::AnyArray { .. } | ExprKind::Array(_) => true,
        _ => false,
    }
}

fn missing_parameter() -> PgError {
    PgError::internal("a statement without its parameter")
}

/// Whether two types compare as key parts do: equal values have equal bytes, and smaller ones smaller bytes.
pub(super) fn comparable(part: &SqlType, other: &SqlType) -> bool {
    let integer = |ty: &SqlType| matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8);
    let text = |ty: &SqlType| matches!(ty.ty, PgType::Text | PgType::Varchar);
    let same = matches!(
        part.ty,
        PgType::Bool | PgType::Bytea | PgType::Date | PgType::Time | PgType::Timestamp | PgType::Timestamptz | PgType::Uuid | PgType::Oid
    );
    (integer(part) && integer(other)) || (text(part) && text(other)) || (same && part.ty == other.ty && part.arrow == other.arrow)
}

/// A value as one of this Arrow type; `None` if it is NULL, or outside of the type.
pub(super) fn of_type(value: &ScalarValue, ty: &DataType) -> Option<ScalarValue> {
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

/// Expressions over a row, and the parameters behind its columns.
pub(super) struct Computed {
    evaluator: TableEvaluator,
    /// Something in it depends on the execution: the time, for example.
    varies: bool,
    params: Vec<usize>,
    /// The same, where the expressions are nothing but calls.
    calls: Option<Vec<KernelExpr>>,
}

impl Computed {
    /// `None` if an expression needs more than the row, or is volatile.
    pub(super) fn compile(eval: &EvalContext, input: &[(ColId, SqlType)], exprs: &[Expr]) -> PgResult<Option<Self>> {
        let Some(mut computed) = Self::compile_as(input, exprs, |typed, exprs| TableEvaluator::new(eval, &[], typed, exprs))? else {
            return Ok(None);
        };
        computed.calls = exprs.iter().map(|e| KernelExpr::compile(eval, input, e)).collect::<PgResult<_>>()?;
        Ok(Some(computed))
    }

    /// As [`Computed::compile`], for a condition that rows must pass.
    pub(super) fn condition(eval: &EvalContext, input: &[(ColId, SqlType)], e: &Expr) -> PgResult<Option<Self>> {
        let mut e = e.clone();
        as_test(eval, &mut e);
        Self::compile(eval, input, std::slice::from_ref(&e))
    }

    /// As [`Computed::compile`], for the values' sort keys.
    pub(super) fn compile_keys(eval: &EvalContext, input: &[(ColId, SqlType)], exprs: &[Expr]) -> PgResult<Option<Self>> {
        Self::compile_as(input, exprs, |typed, exprs| TableEvaluator::of_keys(eval, typed, exprs))
    }

    fn compile_as(
        input: &[(ColId, SqlType)],
        exprs: &[Expr],
        evaluator: impl FnOnce(&[(ColId, DataType)], &[Expr]) -> PgResult<TableEvaluator>,
    ) -> PgResult<Option<Self>> {
        if exprs.iter().any(|e| !is_plain(e) || e.any(&mut |x| !is_steady(x))) {
            return Ok(None);
        }
        let varies = exprs.iter().any(|e| e.any(&mut |x| !is_lasting(x)));
        let mut params: Vec<(usize, SqlType)> = Vec::new();
        let exprs: Vec<Expr> = exprs
            .iter()
            .map(|e| {
                let mut e = e.clone();
                params_to_columns(&mut e, &mut params);
                e
            })
            .collect();
        let of_row = input.iter().map(|(c, ty)| (*c, ty.arrow.clone()));
        let of_params = params.iter().map(|(at, ty)| (param_column(*at), ty.arrow.clone()));
        let typed: Vec<(ColId, DataType)> = of_row.chain(of_params).collect();
        let evaluator = evaluator(&typed, &exprs)?;
        Ok(Some(Self { evaluator, varies, params: params.into_iter().map(|(at, _)| at).collect(), calls: None }))
    }

    /// The Arrow types of the values.
    ///
    /// # Errors
    /// XX000 for an expression that has none.
    pub(super) fn types(&self) -> PgResult<Vec<DataType>> {
        self.evaluator.exprs().iter().map(|e| e.data_type(self.evaluator.schema()).map_err(from_datafusion)).collect()
    }

    /// # Errors
    /// What the expressions raise.
    pub(super) fn evaluate(&self, row: &[ArrayRef], rows: usize, known: EvalArgs<'_>) -> PgResult<Vec<ArrayRef>> {
        if let Some(calls) = &self.calls {
            let computed: Option<Vec<ArrayRef>> = calls.iter().map(|e| e.evaluate(row, rows, known)).collect::<PgResult<_>>()?;
            if let Some(arrays) = computed {
                return Ok(arrays);
            }
        }
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(row.len() + self.params.len());
        columns.extend_from_slice(row);
        for at in &self.params {
            let value = known.params.get(*at).ok_or_else(missing_parameter)?;
            columns.push(value.to_array_of_size(rows).map_err(from_datafusion)?);
        }
        match self.varies {
            true => evaluated_for(known.eval, || self.evaluator.evaluate(columns, rows)),
            false => self.evaluator.evaluate(columns, rows),
        }
    }

    /// The rows for which the one condition is true.
    ///
    /// # Errors
    /// What it raises.
    pub(super) fn filter(&self, batch: RecordBatch, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        let arrays = self.evaluate(batch.columns(), batch.num_rows(), known)?;
        let mask = arrays.first().and_then(|a| a.as_boolean_opt()).ok_or_else(|| PgError::internal("a condition that is no boolean"))?;
        if mask.null_count() == 0 && mask.true_count() == mask.len() {
            return Ok(batch);
        }
        Ok(arrow::compute::filter_record_batch(&batch, mask)?)
    }
}

/// An expression of calls over a row and parameters, computed by its kernels alone: of one row DataFusion's way around them costs more
/// than they do.
enum KernelExpr {
    Column(usize),
    Param(usize),
    Const(ArrayRef),
    Not(Box<KernelExpr>),
    Call(Box<KernelCall>),
}

struct KernelCall {
    kernel: Kernel,
    args: Vec<KernelExpr>,
    arg_types: Vec<SqlType>,
    ret: SqlType,
    explicit: bool,
}

impl KernelExpr {
    /// `None` for an expression of more than calls. None of its calls may be volatile.
    fn compile(eval: &EvalContext, input: &[(ColId, SqlType)], e: &Expr) -> PgResult<Option<Self>> {
        let of_type = |array: ArrayRef| (*array.data_type() == e.ty.arrow).then_some(array);
        Ok(match &e.kind {
            ExprKind::Const(value) => of_type(value.to_array().map_err(from_datafusion)?).map(KernelExpr::Const),
            ExprKind::Param(at) => Some(KernelExpr::Param(*at)),
            ExprKind::Column(column) => input.iter().position(|(id, ty)| id == column && ty.arrow == e.ty.arrow).map(KernelExpr::Column),
            ExprKind::Not(inner) => Self::compile(eval, input, inner)?.map(|inner| KernelExpr::Not(Box::new(inner))),
            // The same array each time, so that what is made of it is kept.
            ExprKind::Array(items) if items.iter().all(|item| matches!(item.kind, ExprKind::Const(_))) => {
                let value = constant::evaluate_with(eval, &[], e)?;
                let array = value.map(|value| value.to_array().map_err(from_datafusion)).transpose()?;
                array.and_then(of_type).map(KernelExpr::Const)
            }
            _ if !is_call(e) => None,
            _ if is_null_call(e) => Some(KernelExpr::Const(new_null_array(&e.ty.arrow, 1))),
            kind => {
                let explicit = matches!(kind, ExprKind::Cast { explicit: true, .. });
                let Some(kernel) = kernel::of(e)? else { return Ok(None) };
                let children = e.children();
                let arg_types = children.iter().map(|child| child.ty.clone()).collect();
                let args: Option<Vec<Self>> = children.iter().map(|child| Self::compile(eval, input, child)).collect::<PgResult<_>>()?;
                args.map(|args| KernelExpr::Call(Box::new(KernelCall { kernel, args, arg_types, ret: e.ty.clone(), explicit })))
            }
        })
    }

    /// The values for rows; `None` if a kernel gives another type than it says.
    ///
    /// # Errors
    /// What the kernels raise.
    fn evaluate(&self, row: &[ArrayRef], rows: usize, known: EvalArgs<'_>) -> PgResult<Option<ArrayRef>> {
        let Some(Arg { array, constant }) = self.arg(row, rows, known)? else { return Ok(None) };
        if !constant || rows == 1 {
            return Ok(Some(array));
        }
        let value = constant_of(array.as_ref())?;
        value.to_array_of_size(rows).map(Some).map_err(from_datafusion)
    }

    fn arg(&self, row: &[ArrayRef], rows: usize, known: EvalArgs<'_>) -> PgResult<Option<Arg>> {
        let call = match self {
            KernelExpr::Column(at) => {
                let array = row.get(*at).ok_or_else(|| PgError::internal("an expression without its column"))?;
                return Ok(Some(Arg { array: Arc::clone(array), constant: false }));
            }
            KernelExpr::Param(at) => {
                let value = known.params.get(*at).ok_or_else(missing_parameter)?;
                return Ok(Some(Arg { array: value.to_array().map_err(from_datafusion)?, constant: true }));
            }
            KernelExpr::Const(array) => return Ok(Some(Arg { array: Arc::clone(array), constant: true })),
            KernelExpr::Not(inner) => {
                let Some(Arg { array, constant }) = inner.arg(row, rows, known)? else { return Ok(None) };
                let negated = array.as_boolean_opt().map(arrow::compute::not).transpose()?;
                return Ok(negated.map(|array| Arg { array: Arc::new(array), constant }));
            }
            KernelExpr::Call(call) => call,
        };
        let mut args = Vec::with_capacity(call.args.len());
        for (arg, ty) in call.args.iter().zip(&call.arg_types) {
            match arg.arg(row, rows, known)? {
                Some(arg) if *arg.array.data_type() == ty.arrow => args.push(arg),
                _ => return Ok(None),
            }
        }
        let constant = args.iter().all(|arg| arg.constant);
        let rows = if constant { 1 } else { rows };
        let of = Call { ctx: known.eval, rows, arg_types: &call.arg_types, ret: &call.ret, explicit: call.explicit };
        let array = (call.kernel)(&of, &args)?;
        Ok((*array.data_type() == call.ret.arrow).then_some(Arg { array, constant }))
    }
}

/// Where a column of a projection comes from.
enum Output {
    Input(usize),
    Computed(usize),
}

/// See [`Projection::apply`].
pub(super) struct Projection {
    outputs: Vec<Output>,
    computed: Option<Computed>,
    schema: SchemaRef,
}

impl Projection {
    /// With the columns that it gives; `None` if one cannot be computed here.
    pub(super) fn compile(eval: &EvalContext, input: &Columns, exprs: &[&(ColId, Expr)]) -> PgResult<Option<(Self, Columns)>> {
        Self::compile_as(input, exprs, |exprs| Computed::compile(eval, input, exprs))
    }

    /// As [`Projection::compile`], for the many rows of one execution: the values of its parameters are part of the expressions, and what is
    /// volatile has a value for each row. It is applied without parameters.
    pub(super) fn for_execution(of: EvalArgs<'_>, input: &Columns, exprs: &[&(ColId, Expr)]) -> PgResult<Option<(Self, Columns)>> {
        Self::compile_as(input, exprs, |exprs| {
            let typed: Vec<(ColId, DataType)> = input.iter().map(|(c, ty)| (*c, ty.arrow.clone())).collect();
            let evaluator = TableEvaluator::new(of.eval, of.params, &typed, exprs)?;
            Ok(Some(Computed { evaluator, varies: false, params: Vec::new(), calls: None }))
        })
    }

    fn compile_as(
        input: &Columns,
        exprs: &[&(ColId, Expr)],
        compile: impl FnOnce(&[Expr]) -> PgResult<Option<Computed>>,
    ) -> PgResult<Option<(Self, Columns)>> {
        let mut outputs = Vec::with_capacity(exprs.len());
        let mut columns = Columns::with_capacity(exprs.len());
        let mut computed: Vec<Expr> = Vec::new();
        for (id, e) in exprs {
            columns.push((*id, e.ty.clone()));
            if let ExprKind::Column(from) = e.kind {
                let Some(at) = input.iter().position(|(c, _)| *c == from) else { return Ok(None) };
                outputs.push(Output::Input(at));
                continue;
            }
            outputs.push(Output::Computed(computed.len()));
            computed.push(e.clone());
        }
        let computed = match computed.is_empty() {
            true => None,
            false => match compile(&computed)? {
                Some(computed) => Some(computed),
                None => return Ok(None),
            },
        };
        let schema = schema_of(&columns);
        Ok(Some((Self { outputs, computed, schema }, columns)))
    }

    /// The projection's columns for the rows of a batch.
    ///
    /// # Errors
    /// What its expressions raise.
    pub(super) fn apply(&self, batch: &RecordBatch, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        let rows = batch.num_rows();
        let computed = match &self.computed {
            None => Vec::new(),
            Some(computed) => computed.evaluate(batch.columns(), rows, known)?,
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

/// Whether a node has one result in an execution.
fn is_steady(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Func { func, .. } => func.0.volatility != Volatility::Volatile,
        ExprKind::Oper { oper, .. } => oper.0.volatility != Volatility::Volatile,
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
