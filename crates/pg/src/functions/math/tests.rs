//! Functions and operators of numbers through the registry, against PostgreSQL 15's answers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use crate::EvalContext;
use crate::args::{Arg, Call, Kernel};
use crate::registry::{FuncKind, OperKind, Registry};
use crate::types::{PgType, SqlType};
use crate::values::{builder, output_text, parse_type_name};
use crate::{PgError, PgResult};
use datafusion_common::ScalarValue;

/// What a function or an operator (one whose name is not a word) makes of arguments given as `type:text`.
fn call(name: &str, args: &[&str]) -> PgResult<String> {
    let ctx = EvalContext::default();
    let parts: Vec<(SqlType, &str)> = args
        .iter()
        .map(|arg| {
            let (ty, text) = arg.split_once(':').unwrap();
            (parse_type_name(ty).unwrap(), text)
        })
        .collect();
    let types: Vec<PgType> = parts.iter().map(|(ty, _)| ty.ty.clone()).collect();
    let (kernel, ret): (Kernel, PgType) = if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let func = Registry::get().functions(name).iter().find(|func| func.args == types).expect(name);
        let FuncKind::Scalar(kernel) = &func.kind else { panic!("{name}") };
        (kernel.clone(), func.ret.clone())
    } else {
        let operator = Registry::get().operators(name).iter().find(|oper| oper.left.iter().chain([&oper.right]).eq(&types));
        let operator = operator.unwrap_or_else(|| panic!("{name} {types:?}"));
        let OperKind::Kernel(kernel) = &operator.kind else { panic!("{name} is native") };
        (kernel.clone(), operator.ret.clone())
    };
    let ret = SqlType::new(ret);
    // A column with a NULL in front, so that kernels are seen to keep rows apart.
    let mut columns = Vec::new();
    for (ty, text) in &parts {
        let mut values = builder(ty)?;
        values.null();
        values.text(&ctx, text)?;
        columns.push(Arg { array: values.finish()?, constant: false });
    }
    let types: Vec<SqlType> = parts.into_iter().map(|(ty, _)| ty).collect();
    let rows = if columns.is_empty() { 1 } else { 2 };
    let out = kernel(&Call { ctx: &ctx, rows, arg_types: &types, ret: &ret, explicit: false }, &columns)?;
    assert_eq!(out.len(), rows);
    assert!(columns.is_empty() || ret.ty == PgType::Void || out.is_null(0));
    output_text(&ctx, &ret, &ScalarValue::try_from_array(&out, rows - 1).map_err(|e| PgError::internal(e.to_string()))?)
}

/// Name, PostgreSQL 15's answer, arguments.
const ORACLE: &str = include_str!("oracle.tsv");

#[test]
fn answers_are_postgresqls() {
    for line in ORACLE.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let answer = match call(parts[0], &parts[2..]) {
            Ok(text) => text,
            Err(error) => format!("ERR {} {}", error.code(), error.message()),
        };
        assert_eq!(answer, parts[1], "{line}");
    }
}

#[test]
fn random_numbers() {
    assert_eq!(call("setseed", &["float8:0.5"]).unwrap(), "");
    let first = call("random", &[]).unwrap();
    call("setseed", &["float8:0.5"]).unwrap();
    assert_eq!(call("random", &[]).unwrap(), first);
    assert_eq!(call("setseed", &["float8:2"]).unwrap_err().message(), "setseed parameter 2 is out of allowed range [-1,1]");
}

/// Aggregates and windows aside, a signature stands in the registry once.
#[test]
fn signatures_are_unique() {
    let mut seen = std::collections::HashSet::new();
    let functions = Registry::get().all_functions().map(|func| format!("{}{:?}{}", func.name, func.args, func.variadic));
    let operators = Registry::get().all_operators().map(|oper| format!("{:?}{}{:?}", oper.left, oper.name, oper.right));
    let twice: Vec<String> = functions.chain(operators).filter(|signature| !seen.insert(signature.clone())).collect();
    assert_eq!(twice, Vec::<String>::new());
}
