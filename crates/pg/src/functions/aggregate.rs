//! Aggregate functions.
//!
//! Those that Arrow computes as PostgreSQL does are [`NativeAggregate`]s. The others are folds ([`fold`]) over [`numeric`],
//! [`float`], [`interval`] and [`text`] states, extremes by sort key ([`extreme`]), and aggregates over whole groups
//! ([`buffered`], [`mod@ordered_set`]).

pub mod bits;
pub mod buffered;
pub mod extreme;
pub mod float;
pub mod fold;
pub mod interval;
pub mod numeric;
pub mod ordered_set;
pub mod text;

pub use buffered::distinct;
pub use ordered_set::{OrderedSet, ordered_set};

use crate::error::PgResult;
use crate::registry::{AggregateBuilder, AggregateCall, Func, FuncKind, NativeAggregate, Registry};
use crate::types::PgType;
use bits::BitFold;
use datafusion_common::ScalarValue;
use datafusion_expr::AggregateUDF;
use float::{FloatMoments, FloatPairs, FloatResult, FloatSum, PairResult};
use interval::IntervalFold;
use numeric::{Spread, SpreadFold, SumFold};
use std::sync::Arc;
use text::{Collects, JsonFold, StringFold};

fn builder(f: impl Fn(&AggregateCall) -> PgResult<Arc<AggregateUDF>> + Send + Sync + 'static) -> FuncKind {
    let builder: AggregateBuilder = Arc::new(f);
    FuncKind::Aggregate(builder)
}

fn sums(r: &mut Registry) {
    use PgType::{Float4, Float8, Int2, Int4, Int8, Interval, Numeric};
    let mut add = |name: &'static str, arg: PgType, ret: PgType, kind: FuncKind, doc: &'static str| {
        r.add(Func::of_kind(name, &[arg], ret, kind, doc));
    };
    let doc = "Computes the sum of the non-null input values.";
    add("sum", Int2, Int8, FuncKind::NativeAggregate(NativeAggregate::Sum), doc);
    add("sum", Int4, Int8, FuncKind::NativeAggregate(NativeAggregate::Sum), doc);
    for arg in [Int8, Numeric] {
        let kind = builder(|call| Ok(fold::function("sum", call, SumFold { average: false, ret: call.ret.clone() })));
        add("sum", arg, Numeric, kind, doc);
    }
    add("sum", Float4, Float4, builder(|call| Ok(fold::function("sum", call, FloatSum { single: true }))), doc);
    add("sum", Float8, Float8, builder(|call| Ok(fold::function("sum", call, FloatSum { single: false }))), doc);
    add("sum", Interval, Interval, builder(|call| Ok(fold::function("sum", call, IntervalFold { average: false }))), doc);
    let doc = "Computes the average (arithmetic mean) of all the non-null input values.";
    for arg in [Int2, Int4, Int8, Numeric] {
        let kind = builder(|call| Ok(fold::function("avg", call, SumFold { average: true, ret: call.ret.clone() })));
        add("avg", arg, Numeric, kind, doc);
    }
    for arg in [Float4, Float8] {
        let kind = builder(|call| Ok(fold::function("avg", call, FloatMoments { result: FloatResult::Average })));
        add("avg", arg, Float8, kind, doc);
    }
    add("avg", Interval, Interval, builder(|call| Ok(fold::function("avg", call, IntervalFold { average: true }))), doc);
}

fn extremes(r: &mut Registry) {
    use PgType::{
        AnyArray, Bpchar, Date, Float4, Float8, Int2, Int4, Int8, Interval, Numeric, Oid, Text, Time, Timestamp, Timestamptz, Timetz,
    };
    for (name, largest, native, doc) in [
        ("min", false, NativeAggregate::Min, "Computes the minimum of the non-null input values."),
        ("max", true, NativeAggregate::Max, "Computes the maximum of the non-null input values."),
    ] {
        for ty in [Int2, Int4, Int8, Text, Date, Time, Timestamp, Timestamptz, Oid] {
            r.add(Func::of_kind(name, std::slice::from_ref(&ty), ty.clone(), FuncKind::NativeAggregate(native), doc));
        }
        for ty in [Float4, Float8, Numeric, Bpchar, Interval, Timetz, AnyArray] {
            let kind = builder(move |call| extreme::function(name, call, largest));
            r.add(Func::of_kind(name, std::slice::from_ref(&ty), ty.clone(), kind, doc));
        }
    }
}

fn statistics(r: &mut Registry) {
    use PgType::{Float4, Float8, Int2, Int4, Int8, Numeric};
    let spread = |sample, deviation| Spread { sample, deviation };
    for (name, spread, doc) in [
        ("stddev", spread(true, true), "Historical alias for stddev_samp."),
        ("stddev_samp", spread(true, true), "Computes the sample standard deviation of the input values."),
        ("stddev_pop", spread(false, true), "Computes the population standard deviation of the input values."),
        ("variance", spread(true, false), "Historical alias for var_samp."),
        ("var_samp", spread(true, false), "Computes the sample variance of the input values."),
        ("var_pop", spread(false, false), "Computes the population variance of the input values."),
    ] {
        for arg in [Int2, Int4, Int8, Numeric] {
            let kind = builder(move |call| Ok(fold::function(name, call, SpreadFold { spread, ret: call.ret.clone() })));
            r.add(Func::of_kind(name, &[arg], Numeric, kind, doc));
        }
        for arg in [Float4, Float8] {
            let kind = builder(move |call| Ok(fold::function(name, call, FloatMoments { result: FloatResult::Spread(spread) })));
            r.add(Func::of_kind(name, &[arg], Float8, kind, doc));
        }
    }
    for (name, result, doc) in [
        ("corr", PairResult::Corr, "Computes the correlation coefficient."),
        ("covar_pop", PairResult::CovarPop, "Computes the population covariance."),
        ("covar_samp", PairResult::CovarSamp, "Computes the sample covariance."),
        ("regr_avgx", PairResult::AvgX, "Computes the average of the independent variable."),
        ("regr_avgy", PairResult::AvgY, "Computes the average of the dependent variable."),
        ("regr_intercept", PairResult::Intercept, "Computes the y-intercept of the least-squares-fit linear equation."),
        ("regr_r2", PairResult::R2, "Computes the square of the correlation coefficient."),
        ("regr_slope", PairResult::Slope, "Computes the slope of the least-squares-fit linear equation."),
        ("regr_sxx", PairResult::Sxx, "Computes the sum of squares of the independent variable."),
        ("regr_sxy", PairResult::Sxy, "Computes the sum of products of independent times dependent variables."),
        ("regr_syy", PairResult::Syy, "Computes the sum of squares of the dependent variable."),
    ] {
        let kind = builder(move |call| Ok(fold::function(name, call, FloatPairs { result })));
        r.add(Func::of_kind(name, &[Float8, Float8], Float8, kind, doc));
    }
    let count = builder(|call| {
        Ok(fold::function_with_empty("regr_count", call, FloatPairs { result: PairResult::Count }, Some(ScalarValue::Int64(Some(0)))))
    });
    r.add(Func::of_kind("regr_count", &[Float8, Float8], Int8, count, "Computes the number of rows in which both inputs are non-null."));
}

fn collections(r: &mut Registry) {
    use PgType::{Any, AnyArray, AnyElement, AnyNonArray, Bytea, Json, Jsonb, Text};
    let doc = "Collects all the input values, including nulls, into an array.";
    for arg in [AnyNonArray, AnyArray] {
        r.add(Func::of_kind("array_agg", &[arg], AnyArray, FuncKind::NativeAggregate(NativeAggregate::ArrayAgg), doc));
    }
    let doc = "Concatenates the non-null input values into a string, separated by the delimiter.";
    for (ty, bytea) in [(Text, false), (Bytea, true)] {
        let kind = builder(move |call| Ok(fold::function("string_agg", call, StringFold { bytea })));
        r.add(Func::of_kind("string_agg", &[ty.clone(), ty.clone()], ty, kind, doc));
    }
    for (array, object, ty, jsonb) in [("json_agg", "json_object_agg", Json, false), ("jsonb_agg", "jsonb_object_agg", Jsonb, true)] {
        let kind = builder(move |call| Ok(fold::function(array, call, JsonFold::new(Collects::Array, jsonb, call))));
        let doc = "Collects all the input values, including nulls, into a JSON array.";
        r.add(Func::of_kind(array, &[AnyElement], ty.clone(), kind, doc).stable());
        let kind = builder(move |call| Ok(fold::function(object, call, JsonFold::new(Collects::Object, jsonb, call))));
        r.add(Func::of_kind(object, &[Any, Any], ty, kind, "Collects all the key/value pairs into a JSON object.").stable());
    }
}

/// Registers the entries of these files.
pub fn register(r: &mut Registry) {
    use PgType::{Any, Bit, Bool, Float8, Int2, Int4, Int8};
    let native = FuncKind::NativeAggregate;
    r.add(Func::of_kind("count", &[], Int8, native(NativeAggregate::Count), "Computes the number of input rows."));
    let doc = "Computes the number of input rows in which the input value is not null.";
    r.add(Func::of_kind("count", &[Any], Int8, native(NativeAggregate::Count), doc));
    for (name, kind, doc) in [
        ("bool_and", NativeAggregate::BoolAnd, "Returns true if all non-null input values are true, otherwise false."),
        ("every", NativeAggregate::BoolAnd, "This is the SQL standard's equivalent to bool_and."),
        ("bool_or", NativeAggregate::BoolOr, "Returns true if any non-null input value is true, otherwise false."),
    ] {
        r.add(Func::of_kind(name, &[Bool], Bool, native(kind), doc));
    }
    for (name, kind, doc) in [
        ("bit_and", NativeAggregate::BitAnd, "Computes the bitwise AND of all non-null input values."),
        ("bit_or", NativeAggregate::BitOr, "Computes the bitwise OR of all non-null input values."),
        ("bit_xor", NativeAggregate::BitXor, "Computes the bitwise exclusive OR of all non-null input values."),
    ] {
        for ty in [Int2, Int4, Int8] {
            r.add(Func::of_kind(name, std::slice::from_ref(&ty), ty.clone(), native(kind), doc));
        }
    }
    let folds: [(&'static str, &'static str, fn(u8, u8) -> u8, &'static str); 3] = [
        ("bit_and", "AND", |a, b| a & b, "Computes the bitwise AND of all non-null input values."),
        ("bit_or", "OR", |a, b| a | b, "Computes the bitwise OR of all non-null input values."),
        ("bit_xor", "XOR", |a, b| a ^ b, "Computes the bitwise exclusive OR of all non-null input values."),
    ];
    for (name, word, of, doc) in folds {
        let kind = builder(move |call| Ok(fold::function(name, call, BitFold { word, of })));
        r.add(Func::of_kind(name, &[Bit], Bit, kind, doc));
    }
    sums(r);
    extremes(r);
    statistics(r);
    collections(r);
    for (name, args, ret) in ordered_set::signatures() {
        let kind = builder(move |call| ordered_set::function(name, call));
        r.add(Func::of_kind(name, &args, ret, kind, "Ordered-set aggregate: takes its input from WITHIN GROUP."));
    }
    for (name, ret) in [("rank", Int8), ("dense_rank", Int8), ("percent_rank", Float8), ("cume_dist", Float8)] {
        let kind = builder(move |call| ordered_set::function(name, call));
        r.add(Func::of_kind(name, &[Any], ret, kind, "Rank of a hypothetical row among those of WITHIN GROUP.").variadic());
    }
}

#[cfg(test)]
mod tests;
