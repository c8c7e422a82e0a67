//! Our kernels as DataFusion's scalar functions.

use arrow::array::{Array, new_null_array};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use stoa_pg::args::{Arg, Call, Kernel};
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
}

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
    /// Wraps a kernel. `name` must tell apart different computations over the same types.
    pub fn make(
        name: String,
        kernel: Kernel,
        ctx: EvalContext,
        arg_types: Vec<SqlType>,
        ret: SqlType,
        explicit: bool,
        volatile: bool,
    ) -> Arc<ScalarUDF> {
        // Stable functions are as good as immutable within a statement.
        let volatility = if volatile { Volatility::Volatile } else { Volatility::Immutable };
        let signature = if arg_types.is_empty() { Signature::nullary(volatility) } else { Signature::any(arg_types.len(), volatility) };
        Arc::new(ScalarUDF::new_from_impl(Self { name, kernel, ctx, arg_types, ret, explicit, signature }))
    }
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
        let call = Call { ctx: &self.ctx, rows, arg_types: &self.arg_types, ret: &self.ret, explicit: self.explicit };
        let out = (self.kernel)(&call, &values).map_err(DataFusionError::from)?;
        if out.data_type() != &self.ret.arrow {
            return Err(DataFusionError::Internal(format!("{} gave {} where {} was declared", self.name, out.data_type(), self.ret.arrow)));
        }
        if once { Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?)) } else { Ok(ColumnarValue::Array(out)) }
    }
}
