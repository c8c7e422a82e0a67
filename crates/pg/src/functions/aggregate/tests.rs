//! Aggregates, whole and in two stages; expected texts are PostgreSQL 15's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::context::EvalContext;
use crate::registry::{AggregateCall, FuncKind, Registry};
use crate::types::{PgType, SqlType};
use crate::values::{builder, output_text};
use arrow::array::ArrayRef;
use arrow::datatypes::{Field, FieldRef, Schema};
use datafusion_common::ScalarValue;
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDF, EmitTo};
use std::sync::Arc;

fn column(ty: &SqlType, texts: &[Option<&str>]) -> ArrayRef {
    let ctx = EvalContext::default();
    let mut values = builder(ty).unwrap();
    for text in texts {
        match text {
            Some(text) => values.text(&ctx, text).unwrap(),
            None => values.null(),
        }
    }
    values.finish().unwrap()
}

/// Texts split at `;`, `-` for NULL.
fn cells(text: &str) -> Vec<Option<&str>> {
    if text.is_empty() { Vec::new() } else { text.split(';').map(|cell| (cell != "-").then_some(cell)).collect() }
}

fn call(name: &str, types: &[PgType], within_group: Vec<(SqlType, bool, bool)>) -> (Arc<AggregateUDF>, AggregateCall) {
    let func = Registry::get()
        .functions(name)
        .iter()
        .find(|func| {
            matches!(func.kind, FuncKind::Aggregate(_))
                && (func.variadic || func.args.len() == types.len())
                && func.args.iter().zip(types).all(|(a, b)| a == b || a.is_pseudo())
        })
        .unwrap_or_else(|| panic!("no {name}"))
        .clone();
    let ret = match &func.ret {
        PgType::AnyElement => types.last().unwrap().clone(),
        PgType::AnyArray if types.last().unwrap().is_array() => types.last().unwrap().clone(),
        PgType::AnyArray => types.last().unwrap().clone().array_of(),
        other => other.clone(),
    };
    let call = AggregateCall {
        ctx: EvalContext::default(),
        arg_types: types.iter().cloned().map(SqlType::new).collect(),
        ret: SqlType::new(ret),
        within_group,
    };
    let FuncKind::Aggregate(build) = &func.kind else { panic!() };
    (build(&call).unwrap(), call)
}

fn accumulator(udaf: &AggregateUDF, call: &AggregateCall, distinct: bool) -> Box<dyn Accumulator> {
    let fields: Vec<FieldRef> = call.arg_types.iter().map(|ty| Arc::new(Field::new("a", ty.arrow.clone(), true))).collect();
    let schema = Schema::new(fields.clone());
    udaf.accumulator(AccumulatorArgs {
        return_field: Arc::new(Field::new("r", call.ret.arrow.clone(), true)),
        schema: &schema,
        ignore_nulls: false,
        order_bys: &[],
        is_reversed: false,
        name: "agg",
        is_distinct: distinct,
        exprs: &[],
        expr_fields: &fields,
    })
    .unwrap()
}

/// The result over rows that come in one stage, and that come in two.
fn run(name: &str, types: &[PgType], columns: &[&str], within_group: Vec<(SqlType, bool, bool)>, distinct: bool) -> String {
    let (udaf, call) = call(name, types, within_group);
    let columns: Vec<ArrayRef> = call.arg_types.iter().zip(columns).map(|(ty, texts)| column(ty, &cells(texts))).collect();
    let text = |result: datafusion_common::Result<ScalarValue>| match result {
        Ok(value) if value.is_null() => "NULL".to_owned(),
        Ok(value) => output_text(&call.ctx, &call.ret, &value).unwrap(),
        Err(error) => match error.find_root() {
            datafusion_common::DataFusionError::External(inner) => {
                inner.downcast_ref::<crate::PgError>().map_or_else(|| inner.to_string(), |e| e.code().as_str().to_owned())
            }
            other => other.to_string(),
        },
    };
    let mut whole = accumulator(&udaf, &call, distinct);
    let direct = whole.update_batch(&columns).and_then(|()| whole.evaluate());
    let direct = text(direct);
    let rows = columns.first().map_or(0, |c| c.len());
    let staged = (|| {
        let mut last = accumulator(&udaf, &call, distinct);
        for (from, to) in [(0, rows / 2), (rows / 2, rows)] {
            let mut part = accumulator(&udaf, &call, distinct);
            let piece: Vec<ArrayRef> = columns.iter().map(|c| c.slice(from, to - from)).collect();
            part.update_batch(&piece)?;
            let state = part.state()?.into_iter().map(|s| s.to_array()).collect::<datafusion_common::Result<Vec<_>>>()?;
            last.merge_batch(&state)?;
        }
        last.evaluate()
    })();
    assert_eq!(text(staged), direct, "{name} in two stages");
    direct
}

fn simple(name: &str, ty: PgType, cells: &str) -> String {
    run(name, &[ty], &[cells], vec![], false)
}

#[test]
fn exact_numbers() {
    use PgType::{Int2, Int4, Int8, Numeric};
    for (name, ty, cells, wanted) in [
        ("sum", Int8, "9223372036854775807;9223372036854775807;-", "18446744073709551614"),
        ("sum", Int8, "-;-", "NULL"),
        ("sum", Int8, "", "NULL"),
        ("sum", Numeric, "1.5;2.25;1e40;-", "10000000000000000000000000000000000000003.75"),
        ("sum", Numeric, "1.50;NaN", "NaN"),
        ("sum", Numeric, "Infinity;-Infinity", "NaN"),
        ("sum", Numeric, "0.10;0.2", "0.30"),
        ("avg", Int4, "1;2;4", "2.3333333333333333"),
        ("avg", Int2, "10", "10.0000000000000000"),
        ("avg", Numeric, "1.5;2", "1.7500000000000000"),
        ("avg", Numeric, "100000;200001", "150000.500000000000"),
        ("avg", Int8, "-", "NULL"),
        ("stddev", Int4, "2;4;4;4;5;5;7;9", "2.1380899352993951"),
        ("stddev_pop", Int4, "2;4;4;4;5;5;7;9", "2.0000000000000000"),
        ("var_pop", Int4, "2;4;4;4;5;5;7;9", "4.0000000000000000"),
        ("variance", Int4, "2;4;4;4;5;5;7;9", "4.5714285714285714"),
        ("variance", Int4, "2", "NULL"),
        ("var_pop", Int4, "2", "0"),
        ("stddev_samp", Numeric, "1.1;2.2;3.3", "1.1000000000000000"),
        ("stddev", Int8, "100000000;300000000;900000000", "416333200"),
        ("min", Numeric, "2.0;1.50;1.5;-", "1.5"),
        ("max", Numeric, "2.0;NaN;5", "NaN"),
    ] {
        assert_eq!(simple(name, ty.clone(), cells), wanted, "{name}({ty}) of {cells}");
    }
}

#[test]
fn floats() {
    use PgType::{Float4, Float8};
    for (name, ty, cells, wanted) in [
        ("sum", Float4, "1.1;2.2;-", "3.3000002"),
        ("sum", Float8, "0.1;0.2", "0.30000000000000004"),
        ("sum", Float8, "1e308;1e308", "22003"),
        ("sum", Float8, "Infinity;-Infinity", "NaN"),
        ("avg", Float4, "1.5;2", "1.75"),
        ("avg", Float8, "1;2;4", "2.3333333333333335"),
        ("stddev", Float8, "2;4;4;4;5;5;7;9", "2.138089935299395"),
        ("var_pop", Float8, "Infinity", "NaN"),
        ("max", Float8, "1;NaN;2", "NaN"),
        ("min", Float8, "1;NaN;-2", "-2"),
        ("min", Float4, "NaN", "NaN"),
    ] {
        assert_eq!(simple(name, ty.clone(), cells), wanted, "{name}({ty}) of {cells}");
    }
    for (name, wanted) in [
        ("corr", "1"),
        ("covar_pop", "1.3333333333333333"),
        ("covar_samp", "2"),
        ("regr_slope", "2"),
        ("regr_intercept", "0"),
        ("regr_count", "3"),
        ("regr_r2", "1"),
        ("regr_sxx", "2"),
        ("regr_syy", "8"),
        ("regr_sxy", "4"),
        ("regr_avgx", "2"),
        ("regr_avgy", "4"),
    ] {
        assert_eq!(run(name, &[Float8, Float8], &["2;4;6;-", "1;2;3;9"], vec![], false), wanted, "{name}");
    }
    assert_eq!(run("regr_count", &[Float8, Float8], &["-", "1"], vec![], false), "0");
}

#[test]
fn other_types() {
    use PgType::{Int4, Interval, Json, Jsonb, Text};
    for (name, ty, cells, wanted) in [
        ("sum", Interval, "1 day;2 mon 3 hours;-", "2 mons 1 day 03:00:00"),
        ("avg", Interval, "1 mon;2 mons", "1 mon 15 days"),
        ("avg", Interval, "1 day;2 days", "1 day 12:00:00"),
        ("max", Interval, "1 mon;40 days;29 days", "40 days"),
        ("min", Interval, "1 mon;30 days", "30 days"),
        ("max", Int4.array_of(), "{1,2};{1,10};{1}", "{1,10}"),
        ("json_agg", Int4, "1;-;3", "[1, null, 3]"),
        ("json_agg", Int4, "", "NULL"),
        ("json_agg", Int4.array_of(), "{1,2};{3}", "[[1,2], \n [3]]"),
        ("jsonb_agg", Text, "a;-", "[\"a\", null]"),
        ("json_agg", Json, "{\"a\" :1};2", "[{\"a\" :1}, 2]"),
        ("jsonb_agg", Jsonb, "{\"b\":1,\"a\":2}", "[{\"a\": 2, \"b\": 1}]"),
    ] {
        assert_eq!(simple(name, ty.clone(), cells), wanted, "{name}({ty}) of {cells}");
    }
    let two = |name: &str, types: &[PgType], a: &str, b: &str| run(name, types, &[a, b], vec![], false);
    assert_eq!(two("string_agg", &[Text, Text], "a;-;b;c", ",;,;+;-"), "a+bc");
    assert_eq!(two("string_agg", &[Text, Text], "-;-", ",;,"), "NULL");
    assert_eq!(two("json_object_agg", &[Text, Int4], "a;a", "1;2"), "{ \"a\" : 1, \"a\" : 2 }");
    assert_eq!(two("jsonb_object_agg", &[Text, Int4], "a;b;a", "1;-;2"), "{\"a\": 2, \"b\": null}");
    assert_eq!(two("json_object_agg", &[Text, Int4], "-;a", "1;2"), "22023");
}

#[test]
fn duplicates_go_by_equality_of_the_type() {
    use PgType::{Int8, Interval, Numeric, Text};
    let distinct = |name: &str, ty: PgType, cells: &str| run(name, &[ty], &[cells], vec![], true);
    assert_eq!(distinct("sum", Numeric, "1.0;1.00;2;-"), "3.0");
    assert_eq!(distinct("sum", Int8, "5;5;6;-;-"), "11");
    assert_eq!(distinct("sum", Interval, "30 days;1 mon"), "30 days");
    assert_eq!(distinct("jsonb_agg", Text, "b;a;-;b"), "[\"a\", \"b\", null]");
    assert_eq!(run("string_agg", &[Text, Text], &["b;a;b", ",;,;,"], vec![], true), "a,b");
}

#[test]
fn within_group() {
    use PgType::{Float8, Int4, Interval, Text};
    let asc = |ty: PgType| vec![(SqlType::new(ty), false, false)];
    let desc = |ty: PgType| vec![(SqlType::new(ty), true, true)];
    let run = |name: &str, types: &[PgType], columns: &[&str], order| run(name, types, columns, order, false);
    let half = "0.5;0.5;0.5;0.5";
    assert_eq!(run("percentile_cont", &[Float8, Float8], &[half, "4;1;-;3"], asc(Float8)), "3");
    assert_eq!(run("percentile_cont", &[Float8, Float8], &[half, "4;1;2;3"], asc(Float8)), "2.5");
    assert_eq!(run("percentile_cont", &[Float8, Float8], &[half, "-;-;-;-"], asc(Float8)), "NULL");
    assert_eq!(run("percentile_cont", &[Float8, Float8], &["1.5;1.5", "1;2"], asc(Float8)), "22003");
    assert_eq!(run("percentile_cont", &[Float8, Interval], &["0.5;0.5", "1 day;2 days"], asc(Interval)), "1 day 12:00:00");
    assert_eq!(run("percentile_cont", &[Float8.array_of(), Float8], &["{0,NULL,1};{0,NULL,1}", "1;2"], asc(Float8)), "{1,NULL,2}");
    assert_eq!(run("percentile_disc", &[Float8, Int4], &[half, "4;1;2;3"], asc(Int4)), "2");
    assert_eq!(run("percentile_disc", &[Float8, Int4], &[half, "4;1;2;3"], desc(Int4)), "3");
    assert_eq!(run("percentile_disc", &[Float8.array_of(), Text], &["{0.25,1};{0.25,1}", "b;a"], asc(Text)), "{a,b}");
    assert_eq!(run("mode", &[Text], &["b;a;b;a;-"], asc(Text)), "a");
    assert_eq!(run("mode", &[Text], &["b;a;b;a;-"], desc(Text)), "b");
    let four = "3;3;3;3";
    assert_eq!(run("rank", &[Int4, Int4], &[four, "1;2;2;5"], asc(Int4)), "4");
    assert_eq!(run("dense_rank", &[Int4, Int4], &[four, "1;2;2;5"], asc(Int4)), "3");
    assert_eq!(run("percent_rank", &[Int4, Int4], &[four, "1;2;2;5"], asc(Int4)), "0.75");
    assert_eq!(run("cume_dist", &[Int4, Int4], &[four, "1;2;2;5"], asc(Int4)), "0.8");
    assert_eq!(run("rank", &[Int4, Int4], &[four, "1;2;2;5"], desc(Int4)), "2");
    assert_eq!(run("rank", &[Int4, Int4], &["", ""], asc(Int4)), "1");
}

#[test]
fn many_groups_and_partial_states() {
    let (udaf, call) = call("sum", &[PgType::Numeric], vec![]);
    let values = column(&call.arg_types[0], &cells("1.5;2;3.25;-;4"));
    let fields: Vec<FieldRef> = vec![Arc::new(Field::new("a", call.arg_types[0].arrow.clone(), true))];
    let schema = Schema::new(fields.clone());
    let args = || AccumulatorArgs {
        return_field: Arc::new(Field::new("r", call.ret.arrow.clone(), true)),
        schema: &schema,
        ignore_nulls: false,
        order_bys: &[],
        is_reversed: false,
        name: "agg",
        is_distinct: false,
        exprs: &[],
        expr_fields: &fields,
    };
    assert!(udaf.groups_accumulator_supported(args()));
    let mut first = udaf.create_groups_accumulator(args()).unwrap();
    first.update_batch(&[Arc::clone(&values)], &[0, 1, 0, 2, 1], None, 3).unwrap();
    let state = first.state(EmitTo::All).unwrap();
    let states =
        StateFieldsArgs { name: "agg", input_fields: &fields, return_field: args().return_field, ordering_fields: &[], is_distinct: false };
    assert_eq!(udaf.state_fields(states).unwrap()[0].data_type(), state[0].data_type());
    let mut last = udaf.create_groups_accumulator(args()).unwrap();
    last.merge_batch(&state, &[0, 1, 2], 3).unwrap();
    last.merge_batch(&last.convert_to_state(&[values], None).unwrap(), &[0, 1, 0, 2, 1], 3).unwrap();
    let result = last.evaluate(EmitTo::First(2)).unwrap();
    let texts: Vec<String> =
        (0..2).map(|i| output_text(&call.ctx, &call.ret, &ScalarValue::try_from_array(&result, i).unwrap()).unwrap()).collect();
    assert_eq!(texts, ["9.50", "12"]);
    let rest = last.evaluate(EmitTo::All).unwrap();
    assert!(rest.is_null(0));
}
