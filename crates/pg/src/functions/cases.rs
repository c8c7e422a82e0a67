//! Calls of functions and operators with the answers of PostgreSQL 15: each line of `cases/*.tsv` is a signature, its arguments,
//! and the result.
//!
//! A signature names the registered types; `anyarray:int4[][]` is a polymorphic one with the type of the call, `->int4[][]` the type of
//! the result where the binder would know it. `∅` is NULL, `␤` a newline, `␉` a tab, `¦` stands between rows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::args::{Arg, Call, Kernel};
use crate::context::EvalContext;
use crate::error::PgResult;
use crate::functions::array::append_kernel;
use crate::functions::subscript::{assign_slice_kernel, assign_subscript_kernel, constructor_kernel, slice_kernel, subscript_kernel};
use crate::operators::quantified::any_all_kernel;
use crate::registry::{FuncKind, NativeOp, OperKind, Registry};
use crate::types::{PgType, SqlType, type_by_name};
use crate::values::{builder, writer};
use arrow::array::{Array, ArrayRef};

fn sql_type(name: &str) -> SqlType {
    let base = name.trim_end_matches("[]");
    let dims = (name.len() - base.len()) / 2;
    let element = match base.strip_suffix(')').and_then(|b| b.split_once('(')) {
        Some((base, n)) => SqlType::with_typmod(type_by_name(base).unwrap(), n.parse::<i32>().unwrap() + 4),
        None => SqlType::new(type_by_name(base).unwrap_or_else(|| panic!("no type {base}"))),
    };
    if dims == 0 { element } else { element.array_of() }
}

fn formal_type(name: &str) -> PgType {
    match name {
        "any" => PgType::Any,
        "anyelement" => PgType::AnyElement,
        "anyarray" => PgType::AnyArray,
        "anycompatible" => PgType::AnyCompatible,
        "anycompatiblearray" => PgType::AnyCompatibleArray,
        other => sql_type(other).ty,
    }
}

fn column(ty: &SqlType, text: &str) -> PgResult<ArrayRef> {
    let mut column = builder(ty)?;
    if text == "∅" {
        column.null()
    } else {
        column.text(&EvalContext::default(), text)?
    }
    column.finish()
}

fn shown(ty: &SqlType, column: &ArrayRef, row: usize) -> PgResult<String> {
    if column.is_null(row) {
        return Ok("∅".into());
    }
    let mut out = Vec::new();
    writer(&EvalContext::default(), ty, column.as_ref())?.text(row, &mut out)?;
    let text = String::from_utf8(out).unwrap();
    Ok(match (&ty.ty, text.as_str()) {
        (PgType::Bool, "t") => "true".into(),
        (PgType::Bool, "f") => "false".into(),
        _ => text,
    })
}

fn result_type(declared: &PgType, args: &[SqlType]) -> SqlType {
    let array = args.iter().find(|ty| ty.ty.is_array());
    match declared {
        PgType::AnyArray | PgType::AnyCompatibleArray => array.cloned().unwrap_or_else(|| args[0].array_of()),
        PgType::AnyElement | PgType::AnyCompatible => array.unwrap_or(&args[0]).element().unwrap(),
        other => SqlType::new(other.clone()),
    }
}

fn call(signature: &str, values: &[String], constant: bool) -> PgResult<String> {
    let (call, ret) = signature.rsplit_once(')').unwrap();
    let ret = ret.strip_prefix("->").map(sql_type);
    let (name, types) = call.split_once('(').unwrap();
    let mut formal = Vec::new();
    let mut actual = Vec::new();
    for ty in types.split(',').filter(|ty| !ty.is_empty()) {
        let (declared, given) = ty.split_once(':').unwrap_or((ty, ty));
        formal.push(formal_type(declared));
        actual.push(sql_type(given));
    }
    let mut args = Vec::new();
    for (ty, value) in actual.iter().zip(values) {
        args.push(Arg { array: column(ty, value)?, constant });
    }
    let registry = Registry::get();
    let ctx = EvalContext::default();
    let run = |kernel: &Kernel, declared: &PgType| {
        let ret = ret.clone().unwrap_or_else(|| result_type(declared, &actual));
        let result = kernel(&Call { ctx: &ctx, rows: 1, arg_types: &actual, ret: &ret, explicit: false }, &args)?;
        assert_eq!(result.data_type(), &ret.arrow, "{signature}");
        shown(&ret, &result, 0)
    };
    if let Some(syntax) = name.strip_prefix('@').filter(|syntax| syntax.starts_with(char::is_alphabetic)) {
        return run(&written_as_syntax(syntax), &PgType::Unknown);
    }
    if !name.starts_with(|c: char| c.is_alphabetic()) {
        let operators = registry.operators(name);
        let operator = operators.iter().find(|o| o.left.as_ref() == formal.first() && Some(&o.right) == formal.get(1));
        let operator = operator.unwrap_or_else(|| panic!("no operator {signature}"));
        let OperKind::Kernel(kernel) = &operator.kind else { panic!("{signature} is native") };
        return run(kernel, &operator.ret);
    }
    let function = registry.functions(name).iter().find(|f| if f.variadic { formal.starts_with(&f.args) } else { f.args == formal });
    let function = function.unwrap_or_else(|| panic!("no function {signature}"));
    match &function.kind {
        FuncKind::Scalar(kernel) => run(kernel, &function.ret),
        FuncKind::Set { open, .. } => {
            let ret = result_type(&function.ret, &actual);
            let call = Call { ctx: &ctx, rows: 1, arg_types: &actual, ret: &ret, explicit: false };
            let mut source = open(&call, &args, 0)?;
            let mut rows = Vec::new();
            while let Some(chunk) = source.next_chunk(2)? {
                assert_eq!(chunk[0].data_type(), &ret.arrow, "{signature}");
                for row in 0..chunk[0].len() {
                    rows.push(shown(&ret, &chunk[0], row)?);
                }
            }
            Ok(if rows.is_empty() { "∅".into() } else { rows.join("¦") })
        }
        _ => panic!("{signature} cannot be called"),
    }
}

/// The kernel of an expression that is no call: `@subscript`, `@slice:10,01` (which bounds are written), `@any:=`.
fn written_as_syntax(syntax: &str) -> Kernel {
    let (kind, rest) = syntax.split_once(':').unwrap_or((syntax, ""));
    let bounds = || rest.split(',').map(|written| (written.starts_with('1'), written.ends_with('1'))).collect();
    match kind {
        "subscript" => subscript_kernel(),
        "slice" => slice_kernel(bounds()),
        "array" => constructor_kernel(),
        "assign" => assign_subscript_kernel(),
        "aslice" => assign_slice_kernel(bounds()),
        _ => {
            let op = match rest {
                "=" => OperKind::Native(NativeOp::Eq),
                "<>" => OperKind::Native(NativeOp::NotEq),
                "<" => OperKind::Native(NativeOp::Lt),
                ">" => OperKind::Native(NativeOp::Gt),
                other => {
                    let operators = Registry::get().operators(other);
                    operators.iter().find(|o| o.left == Some(PgType::Text) && o.right == PgType::Text).unwrap().kind.clone()
                }
            };
            let meaning = match rest {
                "=" => Some(NativeOp::Eq),
                "<>" => Some(NativeOp::NotEq),
                _ => None,
            };
            any_all_kernel(op, meaning, kind == "any")
        }
    }
}

fn outcome(result: PgResult<String>) -> String {
    let text = match result {
        Ok(text) => text,
        Err(error) => {
            let detail = error.fields().detail.as_ref().map(|detail| format!(" // {detail}")).unwrap_or_default();
            format!("ERROR {} {}{detail}", error.code(), error.message())
        }
    };
    text.replace('\n', "␤").replace('\t', "␉")
}

fn check(table: &str, f: impl Fn(&str, &[String]) -> Vec<String>) {
    let mut wrong = Vec::new();
    for line in table.lines() {
        let (given, wanted) = line.rsplit_once("\t=> ").unwrap();
        let mut parts = given.split('\t');
        let signature = parts.next().unwrap();
        let values: Vec<String> = parts.map(|value| value.replace('␤', "\n").replace('␉', "\t")).collect();
        for found in f(signature, &values) {
            if found != wanted {
                wrong.push(format!("{given}\n    wanted {wanted}\n    found  {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
}

fn check_calls(table: &str) {
    check(table, |signature, values| [false, true].map(|constant| outcome(call(signature, values, constant))).to_vec());
}

#[test]
fn text_functions() {
    check_calls(include_str!("cases/text.tsv"));
}

#[test]
fn bytea_functions() {
    check_calls(include_str!("cases/bytea.tsv"));
}

#[test]
fn array_functions() {
    check_calls(include_str!("cases/array.tsv"));
}

#[test]
fn regular_expressions() {
    check_calls(include_str!("cases/regexp.tsv"));
}

#[test]
fn series() {
    check_calls(include_str!("cases/series.tsv"));
}

#[test]
fn subscripts_and_quantifiers() {
    check_calls(include_str!("cases/subscript.tsv"));
}

#[test]
fn text_search() {
    check_calls(include_str!("cases/textsearch.tsv"));
}

/// A column beside a constant, both ways, gives what constants give.
#[test]
fn columns_and_constants() {
    let ctx = EvalContext::default();
    let (int, ints) = (sql_type("int4"), sql_type("int4[]"));
    let columns = |ty: &SqlType, values: &[&str]| {
        let mut out = builder(ty).unwrap();
        for value in values {
            if *value == "∅" { out.null() } else { out.text(&ctx, value).unwrap() }
        }
        out.finish().unwrap()
    };
    let ret = sql_type("bool");
    let cases: [(&[&str], &[&str], &str); 4] = [
        (&["1", "2", "∅"], &["{1,3}"], "true,false,∅"),
        (&["1"], &["{1,3}", "∅", "{}", "{2,NULL}"], "true,∅,false,∅"),
        (&["1", "3", "5"], &["{1,3}", "{4,NULL}", "{5}"], "true,∅,true"),
        (&["4", "∅"], &["{}"], "false,false"),
    ];
    for (scalars, arrays, wanted) in cases {
        let rows = scalars.len().max(arrays.len());
        let args = [
            Arg { array: columns(&int, scalars), constant: scalars.len() == 1 },
            Arg { array: columns(&ints, arrays), constant: arrays.len() == 1 },
        ];
        let types = [int.clone(), ints.clone()];
        let call = Call { ctx: &ctx, rows, arg_types: &types, ret: &ret, explicit: false };
        let found = any_all_kernel(OperKind::Native(NativeOp::Eq), Some(NativeOp::Eq), true)(&call, &args).unwrap();
        let found: Vec<_> = (0..rows).map(|row| shown(&ret, &found, row).unwrap()).collect();
        assert_eq!(found.join(","), wanted, "{scalars:?} {arrays:?}");
    }
    // Columns that are slices of larger ones keep their own values.
    let all = columns(&ints, &["{1,2}", "∅", "{3}", "{4,5,6}"]).slice(1, 3);
    let types = [ints.clone(), int.clone()];
    let args = [Arg { array: all, constant: false }, Arg { array: columns(&int, &["7"]), constant: true }];
    let call = Call { ctx: &ctx, rows: 3, arg_types: &types, ret: &ints, explicit: false };
    let found = append_kernel()(&call, &args).unwrap();
    let found: Vec<_> = (0..3).map(|row| shown(&ints, &found, row).unwrap()).collect();
    assert_eq!(found.join(" "), "{7} {3,7} {4,5,6,7}");
}

#[test]
fn no_signature_stands_twice() {
    let registry = Registry::get();
    let mut seen = std::collections::HashSet::new();
    let functions: Vec<_> = registry.all_functions().filter(|f| !seen.insert(format!("{}{:?}{}", f.name, f.args, f.variadic))).collect();
    let operators: Vec<_> = registry.all_operators().filter(|o| !seen.insert(format!("{} {:?} {:?}", o.name, o.left, o.right))).collect();
    assert!(functions.is_empty() && operators.is_empty(), "{functions:?} {operators:?}");
}

#[test]
fn array_texts() {
    check(include_str!("cases/arraytext.tsv"), |name, values| {
        let read = || {
            let ty = sql_type(name);
            let written = column(&ty, &values[0])?;
            // The binary form comes back as the same value.
            let mut bytes = Vec::new();
            writer(&EvalContext::default(), &ty, written.as_ref())?.binary(0, &mut bytes)?;
            let mut again = builder(&ty)?;
            again.binary(&EvalContext::default(), &bytes)?;
            let again = again.finish()?;
            assert_eq!(shown(&ty, &again, 0)?, shown(&ty, &written, 0)?, "{values:?}");
            shown(&ty, &written, 0)
        };
        vec![outcome(read())]
    });
}
