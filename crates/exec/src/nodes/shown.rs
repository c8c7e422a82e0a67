//! Conditions of plans as EXPLAIN shows them: values in the text form of their types.
//!
//! A plan holds times as numbers of microseconds, and documents and numerics as bytes. What is shown is for people alone: it has texts in
//! their place, and is never computed.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use std::any::Any;
use std::sync::Arc;
use stoa_pg::values::output_text;
use stoa_pg::{EvalContext, PgType, SqlType};
use stoa_sql::typed::udf::KernelUdf;

/// The first characters of a value that are shown.
const MOST_CHARS: usize = 100;

/// The condition with values that people read.
pub fn shown(condition: &Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    let eval = EvalContext::default();
    let readable = Arc::clone(condition).transform_down(|e| {
        let any = e.as_ref() as &dyn Any;
        if let Some(call) = any.downcast_ref::<ScalarFunctionExpr>()
            && let Some(kernel) = call.fun().inner().downcast_ref::<KernelUdf>()
        {
            let args: Vec<_> = call.args().iter().zip(kernel.arg_types()).map(|(arg, ty)| literal(&eval, arg, Some(ty))).collect();
            if args.len() == call.args().len() && args.iter().any(Option::is_some) {
                let args = args.into_iter().zip(call.args()).map(|(text, arg)| text.unwrap_or_else(|| Arc::clone(arg))).collect();
                return e.with_new_children(args).map(Transformed::yes);
            }
        }
        Ok(literal(&eval, &e, None).map_or_else(|| Transformed::no(e), Transformed::yes))
    });
    readable.map_or_else(|_| Arc::clone(condition), |readable| readable.data)
}

/// The text of a literal that does not show itself as one; `ty` is its type where that is known.
fn literal(eval: &EvalContext, e: &Arc<dyn PhysicalExpr>, ty: Option<&SqlType>) -> Option<Arc<dyn PhysicalExpr>> {
    let value = (e.as_ref() as &dyn Any).downcast_ref::<Literal>()?.value();
    let arrow = value.data_type();
    if value.is_null()
        || arrow.is_integer()
        || arrow.is_floating()
        || matches!(arrow, DataType::Boolean | DataType::Utf8View | DataType::Utf8)
    {
        return None;
    }
    let by_form = || {
        Some(match &arrow {
            DataType::Date32 => PgType::Date,
            DataType::Timestamp(TimeUnit::Microsecond, None) => PgType::Timestamp,
            DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => PgType::Timestamptz,
            DataType::Time64(TimeUnit::Microsecond) => PgType::Time,
            DataType::Interval(_) => PgType::Interval,
            DataType::Decimal128(..) => PgType::Numeric,
            DataType::FixedSizeBinary(16) => PgType::Uuid,
            _ => return None,
        })
    };
    let ty = match ty {
        Some(ty) => ty.clone(),
        None => SqlType::new(by_form()?),
    };
    let mut text = output_text(eval, &ty, value).ok()?;
    if let Some((end, _)) = text.char_indices().nth(MOST_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    Some(Arc::new(Literal::new(ScalarValue::Utf8View(Some(text)))))
}
