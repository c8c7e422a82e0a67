//! Our kernels as DataFusion's scalar functions.
//!
//! A kernel makes the values of all rows of a batch at once, and nobody knows beforehand how long they will be. So where values may be
//! long, the first rows of a batch tell how many rows come next, and memory is asked for before they do.

use arrow::array::{Array, ArrayRef, new_empty_array, new_null_array};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{DataFusionError, Result, ScalarValue};
use datafusion_expr::{ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use stoa_pg::PgResult;
use stoa_pg::args::{Arg, Call, Kernel};
use stoa_pg::memory::value_bytes;
use stoa_pg::{EvalContext, SqlType};

/// A kernel with the types of one call.
pub struct KernelUdf {
    name: String,
    kernel: Kernel,
    ctx: EvalContext,
    arg_types: Vec<SqlType>,
    ret: SqlType,
    explicit: bool,
    signature: Signature,
    /// For some values it raises an error.
    raises: bool,
    /// See [`crate::typed::raises::own_cost`].
    cost: usize,
    /// The most that a row of an earlier batch took; 0 before the first one.
    row_bytes: AtomicUsize,
}

/// Rows that tell how long values are.
const SAMPLE_ROWS: usize = 32;
/// What a batch may take without being looked at.
const FREE_BYTES: usize = 1 << 20;
/// What one step of a batch that is looked at should take.
const STEP_BYTES: usize = 4 << 20;

impl fmt::Debug for KernelUdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

// Two calls are the same if name and types are: the name holds the signature's OID.
impl PartialEq for KernelUdf {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.arg_types == other.arg_types && self.ret == other.ret && self.explicit == other.explicit
    }
}

impl Eq for KernelUdf {}

impl Hash for KernelUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.arg_types.hash(state);
        self.ret.hash(state);
    }
}

impl KernelUdf {
    /// Wraps a kernel that raises no error. `name` must tell apart different computations over the same types. A volatile one with
    /// arguments is called with [`each_row`] behind them.
    pub fn make(
        name: String,
        kernel: Kernel,
        ctx: EvalContext,
        arg_types: Vec<SqlType>,
        ret: SqlType,
        explicit: bool,
        volatile: bool,
    ) -> Arc<ScalarUDF> {
        Self::new(name, kernel, ctx, arg_types, ret, explicit, volatile).shared()
    }

    /// As [`KernelUdf::make`], before it is shared.
    pub fn new(
        name: String,
        kernel: Kernel,
        ctx: EvalContext,
        arg_types: Vec<SqlType>,
        ret: SqlType,
        explicit: bool,
        volatile: bool,
    ) -> Self {
        // Stable functions are as good as immutable within a statement.
        let volatility = if volatile { Volatility::Volatile } else { Volatility::Immutable };
        let args = arg_types.len() + usize::from(volatile && !arg_types.is_empty());
        let signature = if args == 0 { Signature::nullary(volatility) } else { Signature::any(args, volatility) };
        Self { name, kernel, ctx, arg_types, ret, explicit, signature, raises: false, cost: 0, row_bytes: AtomicUsize::new(0) }
    }

    /// Tells whether it raises an error for some values, and what a call costs.
    pub fn tell(&mut self, raises: bool, cost: usize) {
        (self.raises, self.cost) = (raises, cost);
    }

    /// The type of its values.
    pub fn return_sql_type(&self) -> &SqlType {
        &self.ret
    }

    /// The SQL types of the arguments.
    pub fn arg_types(&self) -> &[SqlType] {
        &self.arg_types
    }

    pub fn raises(&self) -> bool {
        self.raises
    }

    pub fn cost(&self) -> usize {
        self.cost
    }

    pub fn shared(self) -> Arc<ScalarUDF> {
        Arc::new(ScalarUDF::new_from_impl(self))
    }
}

/// Whether Arrow knows no order between such values, as between some rows and arrays: DataFusion raises an error where it asks constants
/// for one.
pub fn has_no_order(value: &ScalarValue) -> bool {
    value.data_type().is_nested() && !value.is_null() && value.partial_cmp(value).is_none()
}

/// A constant as a column of a projection. DataFusion asks constants there for their order: those that have none it is not told to
/// be constants. `column` tells apart what is too long to be a name.
pub fn projected_constant(value: Expr, ty: &SqlType, column: String, ctx: &EvalContext) -> Expr {
    const LONG: usize = 100;
    let value = match value {
        Expr::Literal(value, _) if has_no_order(&value) => value,
        other => return other,
    };
    let name = Some(value.to_string()).filter(|text| text.len() < LONG).unwrap_or(column);
    let kernel: Kernel = Arc::new(move |call, _| value.to_array_of_size(call.rows).map_err(crate::typed::from_datafusion));
    KernelUdf::make(name, kernel, ctx.clone(), Vec::new(), ty.clone(), false, true).call(Vec::new())
}

/// A parameter in a plan for any value of it. No such plan can run: 42P02.
pub fn unknown_parameter(index: usize, ty: &SqlType, ctx: &EvalContext) -> Expr {
    let name = format!("${}", index + 1);
    let message = format!("there is no parameter {name}");
    let kernel: Kernel = Arc::new(move |_, _| Err(stoa_pg::PgError::new(stoa_pg::SqlState::UNDEFINED_PARAMETER, message.clone())));
    KernelUdf::make(name, kernel, ctx.clone(), Vec::new(), ty.clone(), false, false).call(Vec::new())
}

/// An argument that no rule takes for constant. The last one of volatile functions that have arguments: DataFusion takes any function of
/// constants for a constant, and leaves out sorts by it.
pub fn each_row() -> Expr {
    let signature = Signature::nullary(Volatility::Volatile);
    Arc::new(ScalarUDF::new_from_impl(EachRow { signature })).call(Vec::new())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct EachRow {
    signature: Signature,
}

impl ScalarUDFImpl for EachRow {
    fn name(&self) -> &str {
        "each_row"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Null)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Array(new_null_array(&DataType::Null, args.number_rows)))
    }
}

/// The first value of an array as a constant, which is copied into a plan, and out of it again.
///
/// # Errors
/// 53200 if the process would pass its limit.
pub fn constant_of(array: &dyn Array) -> PgResult<ScalarValue> {
    if may_be_long(array.data_type()) {
        stoa_pg::memory::process().claim(2 * value_bytes(array.slice(0, 1.min(array.len())).as_ref()))?;
    }
    ScalarValue::try_from_array(array, 0).map_err(crate::typed::from_datafusion)
}

impl KernelUdf {
    fn call(&self, args: &[Arg], rows: usize) -> PgResult<ArrayRef> {
        let current = CURRENT.with_borrow(Option::clone);
        let ctx = current.as_ref().unwrap_or(&self.ctx);
        let call = Call { ctx, rows, arg_types: &self.arg_types, ret: &self.ret, explicit: self.explicit };
        (self.kernel)(&call, args)
    }

    fn evaluate(&self, args: &[Arg], rows: usize) -> PgResult<ArrayRef> {
        if !may_be_long(&self.ret.arrow) {
            return self.call(args, rows);
        }
        let known = self.row_bytes.load(Ordering::Relaxed);
        // Of what is long already, a few rows may be much.
        let long = |arg: &Arg| !arg.constant && may_be_long(arg.array.data_type()) && value_bytes(arg.array.as_ref()) > FREE_BYTES / 4;
        let sample = if rows > 1 && rows <= SAMPLE_ROWS && args.iter().any(long) { 1 } else { SAMPLE_ROWS };
        if rows <= sample || (known > 0 && known.saturating_mul(rows) <= FREE_BYTES) {
            let out = self.call(args, rows)?;
            self.made(&out);
            return Ok(out);
        }
        let mut parts = Vec::new();
        let (mut from, mut next) = (0, sample);
        while from < rows {
            let part: Vec<Arg> = args
                .iter()
                .map(|arg| Arg {
                    array: if arg.constant { Arc::clone(&arg.array) } else { arg.array.slice(from, next) },
                    constant: arg.constant,
                })
                .collect();
            let out = self.call(&part, next)?;
            let row_bytes = self.made(&out);
            parts.push(out);
            from += next;
            next = (STEP_BYTES / row_bytes).max(1).min(rows - from);
            stoa_pg::memory::process().claim(row_bytes.saturating_mul(next))?;
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        arrow::compute::concat(&parts).map_err(|error| stoa_pg::PgError::internal(error.to_string()))
    }

    /// Remembers what was made; returns what a row took, at least a byte.
    fn made(&self, out: &ArrayRef) -> usize {
        let bytes = value_bytes(out.as_ref());
        note_made(bytes);
        let row_bytes = bytes.div_ceil(out.len().max(1)).max(1);
        if self.row_bytes.load(Ordering::Relaxed) < row_bytes {
            self.row_bytes.store(row_bytes, Ordering::Relaxed);
        }
        row_bytes
    }
}

thread_local! {
    /// The context of the execution for which a compiled expression is evaluated.
    static CURRENT: std::cell::RefCell<Option<EvalContext>> = const { std::cell::RefCell::new(None) };
}

/// Evaluates expressions that were compiled for many executions with the context of one: no other may be evaluated meanwhile.
pub fn evaluated_for<T>(ctx: &EvalContext, evaluate: impl FnOnce() -> T) -> T {
    struct Restored(Option<EvalContext>);
    impl Drop for Restored {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Restored(CURRENT.replace(Some(ctx.clone())));
    evaluate()
}

thread_local! {
    /// Bytes of long values that kernels have made on this thread.
    static MADE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Bytes of long values that kernels have made on this thread so far; it begins anew when the number is full.
pub fn bytes_made() -> usize {
    MADE.with(std::cell::Cell::get)
}

/// Counts bytes of long values that are made on this thread.
pub fn note_made(bytes: usize) {
    MADE.with(|made| made.set(made.get().wrapping_add(bytes)));
}

/// Whether a value of a type takes more than a fixed number of bytes.
pub fn may_be_long(ty: &DataType) -> bool {
    !(ty.is_primitive() || matches!(ty, DataType::Boolean | DataType::Null | DataType::FixedSizeBinary(_)))
}

impl ScalarUDFImpl for KernelUdf {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.ret.arrow.clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(&self.name, self.ret.arrow.clone(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if args.number_rows == 0 {
            // What is asked for no row raises nothing, of constants neither.
            return Ok(ColumnarValue::Array(new_empty_array(&self.ret.arrow)));
        }
        let all_constant = args.args.iter().all(|a| matches!(a, ColumnarValue::Scalar(_)));
        // A volatile function of constants is called for each row.
        let once = all_constant && self.signature.volatility != Volatility::Volatile;
        let mut values = Vec::with_capacity(args.args.len());
        for (arg, ty) in args.args.into_iter().zip(&self.arg_types) {
            let mut arg = match arg {
                ColumnarValue::Array(array) => Arg { array, constant: false },
                ColumnarValue::Scalar(value) => Arg { array: value.to_array()?, constant: true },
            };
            // Optimizer rules try conditions with NULLs of no type.
            if arg.array.data_type() == &DataType::Null && ty.arrow != DataType::Null {
                arg.array = new_null_array(&ty.arrow, arg.array.len());
            }
            values.push(arg);
        }
        let rows = if once { 1 } else { args.number_rows };
        let out = self.evaluate(&values, rows).map_err(DataFusionError::from)?;
        if out.data_type() != &self.ret.arrow {
            return Err(DataFusionError::Internal(format!("{} gave {} where {} was declared", self.name, out.data_type(), self.ret.arrow)));
        }
        if once {
            Ok(ColumnarValue::Scalar(constant_of(out.as_ref()).map_err(DataFusionError::from)?))
        } else {
            Ok(ColumnarValue::Array(out))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use arrow::array::{Int32Array, StringViewArray};
    use stoa_pg::PgType;

    /// A kernel that repeats a letter, and notes how many rows it was asked for.
    fn repeats(asked: Arc<parking_lot::Mutex<Vec<usize>>>) -> KernelUdf {
        let kernel: Kernel = Arc::new(move |call, args| {
            asked.lock().push(call.rows);
            let counts = args[0].array.as_any().downcast_ref::<Int32Array>().unwrap();
            let text = |row| "x".repeat(usize::try_from(counts.value(args[0].at(row))).unwrap());
            Ok(Arc::new((0..call.rows).map(|row| Some(text(row))).collect::<StringViewArray>()))
        });
        let (arg, ret) = (SqlType::new(PgType::Int4), SqlType::new(PgType::Text));
        let signature = Signature::any(1, Volatility::Immutable);
        let row_bytes = AtomicUsize::new(0);
        KernelUdf {
            name: "r".into(),
            kernel,
            ctx: EvalContext::default(),
            arg_types: vec![arg],
            ret,
            explicit: false,
            signature,
            raises: false,
            cost: 0,
            row_bytes,
        }
    }

    fn lengths(udf: &KernelUdf, counts: Vec<i32>) {
        let rows = counts.len();
        let out = udf.evaluate(&[Arg { array: Arc::new(Int32Array::from(counts.clone())), constant: false }], rows).unwrap();
        let texts = out.as_any().downcast_ref::<StringViewArray>().unwrap();
        assert!(texts.iter().zip(&counts).all(|(text, count)| text.unwrap().len() == *count as usize));
        assert_eq!(texts.len(), rows);
    }

    #[test]
    fn long_values_are_made_in_steps_and_short_ones_at_once() {
        let asked = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let udf = repeats(Arc::clone(&asked));
        lengths(&udf, vec![5; 8192]);
        lengths(&udf, vec![5; 8192]);
        assert_eq!(std::mem::take(&mut *asked.lock()), [32, 8160, 8192], "once it is known how long they are, at once");
        lengths(&udf, (0..1000).map(|n| if n % 2 == 0 { 100_000 } else { 0 }).collect());
        let steps = std::mem::take(&mut *asked.lock());
        assert_eq!(steps[0], 1000, "as it was known to be short");
        lengths(&udf, vec![100_000; 300]);
        let steps = std::mem::take(&mut *asked.lock());
        assert!(steps[0] == 32 && steps[1..].iter().all(|rows| *rows <= 42) && steps.iter().sum::<usize>() == 300, "{steps:?}");
    }
}
