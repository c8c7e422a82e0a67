//! Values: oid, xid and the types that show an object's name for its OID: regclass, regtype, regproc, regoper, regrole and so on.
//!
//! Text of digits is the OID itself, `-` is 0, but for operators, of which it is one; an OID without an object prints as its digits.

use super::number::{parse_oid, trim, write_integer};
use super::{ValueBuilder, ValueWriter, fixed_width, open, output_text, parse_type_name};
use crate::collation;
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Oper, Registry};
use crate::settings::Config;
use crate::sqlstate::SqlState;
use crate::type_functions;
use crate::types::{PgType, SqlType, format_type};
use arrow::array::{Array, ArrayRef, UInt32Array, UInt32Builder};
use datafusion_common::ScalarValue;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use stoa_text::names::{is_plain_identifier, parse_name};

/// Writes a column of a type of this file.
pub fn writer<'a>(ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Ok(Box::new(Writer { ctx, ty: ty.ty.clone(), column: open(array, ty)? }))
}

/// Builds a column of a type of this file.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Ok(Box::new(Builder { ty: ty.ty.clone(), values: UInt32Builder::new() }))
}

struct Writer<'a> {
    ctx: &'a EvalContext,
    ty: PgType,
    column: &'a UInt32Array,
}

impl ValueWriter for Writer<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let oid = self.column.value(row);
        match object_name(self.ctx, &self.ty, oid)? {
            Some(name) => out.extend_from_slice(name.as_bytes()),
            None => write_integer(i64::from(oid), out),
        }
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.extend(self.column.value(row).to_be_bytes());
        Ok(())
    }
}

struct Builder {
    ty: PgType,
    values: UInt32Builder,
}

impl ValueBuilder for Builder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        self.values.append_value(object_oid(ctx, &self.ty, value)?);
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        let bytes: [u8; 4] = fixed_width(value)?;
        self.values.append_value(u32::from_be_bytes(bytes));
        Ok(())
    }

    fn null(&mut self) {
        self.values.append_null();
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(Arc::new(self.values.finish()))
    }
}

/// The name that a reg… type shows for an OID; `None` where it shows the number.
pub fn object_name(ctx: &EvalContext, ty: &PgType, oid: u32) -> PgResult<Option<String>> {
    if matches!(ty, PgType::Oid | PgType::Xid) {
        return Ok(None);
    }
    if oid == 0 {
        return Ok(Some(if is_operator(ty) { "0" } else { "-" }.into()));
    }
    Ok(match ty {
        PgType::Regclass => ctx.system.relation_name(oid),
        PgType::Regnamespace => ctx.system.schema_name(oid).map(|name| quoted(&name)),
        PgType::Regtype => type_name(ctx, oid)?,
        PgType::Regproc => {
            let name = function_by_oid(oid).map(|func| func.name).or_else(|| type_functions::by_oid(oid).map(|func| func.name));
            // One that has its name with others is not found by the name alone.
            name.map(|name| if functions_named(name) == 1 { quoted(name) } else { format!("pg_catalog.{}", quoted(name)) })
        }
        PgType::Regoper => operator_by_oid(oid).map(|oper| match Registry::get().operators(oper.name) {
            [_] => oper.name.to_owned(),
            _ => format!("pg_catalog.{}", oper.name),
        }),
        PgType::Regoperator => operator_by_oid(oid).map(|oper| {
            let left = oper.left.as_ref().map_or_else(|| "NONE".to_owned(), |ty| format_type(ty, -1));
            format!("{}({left},{})", oper.name, format_type(&oper.right, -1))
        }),
        PgType::Regcollation => collation::by_oid(oid).map(|collation| quoted(collation.name)),
        PgType::Regprocedure => {
            let shown = |name: &str, args: &mut dyn Iterator<Item = PgType>| {
                let args: Vec<String> = args.map(|ty| format_type(&ty, -1)).collect();
                format!("{}({})", quoted(name), args.join(","))
            };
            match function_by_oid(oid) {
                Some(func) => Some(shown(func.name, &mut func.declared_args())),
                None => {
                    type_functions::by_oid(oid).map(|func| shown(func.name, &mut func.args.iter().filter_map(|oid| PgType::from_oid(*oid))))
                }
            }
        }
        PgType::Regconfig => Config::by_oid(oid).map(|config| config.name().to_owned()),
        // Roles are the engine's.
        _ => {
            let text = SqlType::new(PgType::Name);
            let name = ctx.system.call("pg_get_userbyid", &[ScalarValue::UInt32(Some(oid))], &text)?;
            let name = output_text(ctx, &text, &name)?;
            (!name.is_empty() && !name.starts_with("unknown (OID=")).then(|| quoted(&name))
        }
    })
}

/// The OID that a text of a reg… type names.
///
/// # Errors
/// 42P01, 42704, 42883, 42725 or 3F000 when there is no such object, or more than one.
pub fn object_oid(ctx: &EvalContext, ty: &PgType, text: &str) -> PgResult<u32> {
    let name = trim(text);
    match ty {
        PgType::Oid => return parse_oid(text),
        PgType::Xid => {
            // Whatever is no number counts as 0, and large ones wrap, as in PostgreSQL.
            let digits = name.bytes().take_while(u8::is_ascii_digit);
            return Ok(digits.fold(0u32, |sum, digit| sum.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'))));
        }
        _ if name == "-" && !is_operator(ty) => return Ok(0),
        _ if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) => return parse_oid(text),
        _ => {}
    }
    object_named(ctx, ty, text)
}

/// The OID of an object by its name alone, as functions such as `to_regproc` read it: a number is a name there.
///
/// # Errors
/// As [`object_oid`].
pub fn object_named(ctx: &EvalContext, ty: &PgType, text: &str) -> PgResult<u32> {
    let name = trim(text);
    match ty {
        PgType::Regclass => relation_named(ctx, name),
        PgType::Regtype => type_oid(ctx, text),
        PgType::Regoper => operator_named(ctx, name),
        PgType::Regoperator => operator_of_types(ctx, name),
        PgType::Regcollation => {
            let parts = parse_name(name)?;
            in_pg_catalog(ctx, &parts)?.and_then(collation::named).map(|found| found.oid).ok_or_else(|| {
                let message = format!("collation \"{}\" for encoding \"UTF8\" does not exist", parts.join("."));
                PgError::new(SqlState::UNDEFINED_OBJECT, message)
            })
        }
        PgType::Regnamespace => named(ctx, "to_regnamespace", ty, name)?.ok_or_else(|| undefined_schema(name)),
        PgType::Regproc => {
            let function = function_name(name);
            match Registry::get().functions(&function) {
                [] if type_functions::named(&function).count() == 1 => {
                    Ok(type_functions::named(&function).next().map_or(0, |func| func.oid))
                }
                [] => Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function \"{function}\" does not exist"))),
                [func] => Ok(func.oid),
                _ => Err(PgError::new(SqlState::AMBIGUOUS_FUNCTION, format!("more than one function named \"{function}\""))),
            }
        }
        PgType::Regprocedure => procedure_oid(name),
        PgType::Regconfig => Config::named(name).map(Config::oid),
        _ => named(ctx, "to_regrole", &PgType::Regrole, name)?
            .ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{}\" does not exist", fold_identifier(name)))),
    }
}

/// The OID of a relation by its name alone, as a cast from text reads it: a number is a name there.
///
/// # Errors
/// 42P01, 42602 or 3F000.
pub fn relation_named(ctx: &EvalContext, name: &str) -> PgResult<u32> {
    match ctx.system.relation_oid(name)? {
        Some(oid) => Ok(oid),
        None => Err(match name.split_once('.') {
            Some((schema, _)) if named(ctx, "to_regnamespace", &PgType::Regnamespace, schema)?.is_none() => undefined_schema(schema),
            _ => PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", display_parts(name))),
        }),
    }
}

fn undefined_schema(name: &str) -> PgError {
    PgError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{}\" does not exist", fold_identifier(name)))
}

/// What a function of the engine finds by name.
fn named(ctx: &EvalContext, function: &str, ty: &PgType, name: &str) -> PgResult<Option<u32>> {
    let found = ctx.system.call(function, &[ScalarValue::Utf8View(Some(name.to_owned()))], &SqlType::new(ty.clone()))?;
    Ok(if let ScalarValue::UInt32(oid) = found { oid } else { None })
}

/// The name of a function or an operator, and its types: `NONE` is that of a side that an operator lacks.
fn name_and_types(text: &str) -> PgResult<(&str, Vec<Option<PgType>>)> {
    let syntax = |message: &str| PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, message);
    let (name, rest) = text.split_once('(').ok_or_else(|| syntax("expected a left parenthesis"))?;
    if name.trim().is_empty() {
        return Err(PgError::new(SqlState::INVALID_NAME, "invalid name syntax"));
    }
    let args = rest.strip_suffix(')').ok_or_else(|| syntax("expected a right parenthesis"))?;
    let mut types = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in args.char_indices().chain([(args.len(), ',')]) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                let arg = args.get(start..at).unwrap_or("").trim();
                if !(arg.is_empty() && args.trim().is_empty()) {
                    types.push(if arg.eq_ignore_ascii_case("none") { None } else { Some(parse_type_name(arg)?.ty) });
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    Ok((name, types))
}

fn procedure_oid(name: &str) -> PgResult<u32> {
    let (function, types) = name_and_types(name)?;
    let types = types
        .into_iter()
        .map(|ty| ty.ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, "type \"none\" does not exist")))
        .collect::<PgResult<Vec<PgType>>>()?;
    Registry::get()
        .functions(&function_name(function))
        .iter()
        .find(|func| func.declared_args().eq(types.iter().cloned()))
        .map(|func| func.oid)
        .or_else(|| {
            let of_types = |args: &[u32]| args.iter().copied().eq(types.iter().map(PgType::oid));
            type_functions::named(&function_name(function)).find(|func| of_types(&func.args)).map(|func| func.oid)
        })
        .ok_or_else(|| PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function \"{name}\" does not exist")))
}

fn is_operator(ty: &PgType) -> bool {
    matches!(ty, PgType::Regoper | PgType::Regoperator)
}

/// The operators of a name in a string, with its schema or without.
///
/// # Errors
/// 42602 for what is no name, 3F000 for a schema that does not exist.
fn operators_named(ctx: &EvalContext, text: &str) -> PgResult<&'static [Arc<Oper>]> {
    Ok(in_pg_catalog(ctx, &parse_name(text)?)?.map_or(&[], |name| Registry::get().operators(name)))
}

/// The last part of a name that may be that of an object of `pg_catalog`; `None` for one of another schema, which has none of them.
fn in_pg_catalog<'n>(ctx: &EvalContext, parts: &'n [String]) -> PgResult<Option<&'n str>> {
    match parts {
        [name] => Ok(Some(name)),
        [schema, name] if schema == "pg_catalog" => Ok(Some(name)),
        [schema, _] if named(ctx, "to_regnamespace", &PgType::Regnamespace, schema).unwrap_or_default().is_none() => {
            Err(undefined_schema(schema))
        }
        [_, _, _] => Err(PgError::unsupported(format!("cross-database references are not implemented: {}", parts.join(".")))
            .hint("Leave the name of the database out.")),
        _ => Ok(None),
    }
}

fn undefined_operator(name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {name}"))
}

fn operator_named(ctx: &EvalContext, name: &str) -> PgResult<u32> {
    match operators_named(ctx, name)? {
        [] => Err(undefined_operator(name)),
        [oper] => Ok(oper.oid),
        _ => Err(PgError::new(SqlState::AMBIGUOUS_FUNCTION, format!("more than one operator named {name}"))),
    }
}

fn operator_of_types(ctx: &EvalContext, text: &str) -> PgResult<u32> {
    let (name, types) = name_and_types(text)?;
    let (left, right) = match types.as_slice() {
        [_] => {
            let hint = "Use NONE to denote the missing argument of a unary operator.";
            return Err(PgError::new(SqlState::UNDEFINED_PARAMETER, "missing argument").hint(hint));
        }
        [left, right] => (left, right),
        _ => return Err(PgError::new(SqlState::TOO_MANY_ARGUMENTS, "too many arguments").hint("Provide two argument types for operator.")),
    };
    let found = operators_named(ctx, name)?.iter().find(|oper| oper.left == *left && Some(&oper.right) == right.as_ref());
    found.map(|oper| oper.oid).ok_or_else(|| undefined_operator(text))
}

fn operator_by_oid(oid: u32) -> Option<&'static Arc<Oper>> {
    static BY_OID: LazyLock<HashMap<u32, &'static Arc<Oper>>> =
        LazyLock::new(|| Registry::get().all_operators().map(|oper| (oper.oid, oper)).collect());
    BY_OID.get(&oid).copied()
}

/// How many functions have a name.
fn functions_named(name: &str) -> usize {
    Registry::get().functions(name).len() + type_functions::named(name).count()
}

/// The function of the engine that finds the type of a relation's rows by name.
pub const ROW_TYPE: &str = "type of rows by name";
/// The function of the engine that names the type of a relation's rows.
pub const ROW_TYPE_NAME: &str = "name of a type of rows";

/// The OID of a type of any name that PostgreSQL has, its row types among them.
fn type_oid(ctx: &EvalContext, text: &str) -> PgResult<u32> {
    match parse_type_name(text) {
        Ok(ty) => Ok(ty.ty.oid()),
        Err(error) if error.code() == SqlState::UNDEFINED_OBJECT => match type_functions::elsewhere_named(text) {
            Some(oid) => Ok(oid),
            None => named(ctx, ROW_TYPE, &PgType::Oid, text).unwrap_or_default().ok_or(error),
        },
        Err(error) => Err(error),
    }
}

/// The name of a type as `format_type` prints it without a modifier; `None` if there is none.
///
/// # Errors
/// What the engine reports.
pub fn type_name(ctx: &EvalContext, oid: u32) -> PgResult<Option<String>> {
    if let Some(ty) = PgType::from_oid(oid) {
        return Ok(Some(format_type(&ty, -1)));
    }
    if let Some(name) = type_functions::elsewhere(oid) {
        return Ok(Some(name));
    }
    let text = SqlType::new(PgType::Text);
    // Where there is no catalog, there are no relations.
    Ok(match ctx.system.call(ROW_TYPE_NAME, &[ScalarValue::UInt32(Some(oid))], &text) {
        Ok(name) if !name.is_null() => Some(output_text(ctx, &text, &name)?),
        _ => None,
    })
}

fn function_by_oid(oid: u32) -> Option<&'static Arc<Func>> {
    static BY_OID: LazyLock<HashMap<u32, &'static Arc<Func>>> =
        LazyLock::new(|| Registry::get().all_functions().map(|func| (func.oid, func)).collect());
    BY_OID.get(&oid).copied()
}

/// A function's name without `pg_catalog`.
fn function_name(name: &str) -> String {
    let name = name.trim();
    fold_identifier(name.strip_prefix("pg_catalog.").unwrap_or(name))
}

/// An identifier as SQL reads it: folded to lower case unless quoted.
fn fold_identifier(name: &str) -> String {
    match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => name.to_lowercase(),
    }
}

/// A possibly qualified name as errors print it: each part as SQL reads it.
fn display_parts(name: &str) -> String {
    name.split('.').map(fold_identifier).collect::<Vec<_>>().join(".")
}

/// An identifier with quotes where SQL needs them.
fn quoted(name: &str) -> String {
    if is_plain_identifier(name) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
