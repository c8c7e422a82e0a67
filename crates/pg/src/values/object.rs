//! Values: oid, xid and the types that show an object's name for its OID: regclass, regtype, regproc, regnamespace, regrole.
//!
//! Text of digits is the OID itself, `-` is 0; an OID without an object prints as its digits.

use super::number::{parse_oid, trim, write_integer};
use super::{ValueBuilder, ValueWriter, fixed_width, open, output_text, parse_type_name};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Registry};
use crate::settings::Config;
use crate::sqlstate::SqlState;
use crate::type_functions;
use crate::types::{PgType, SqlType, format_type};
use arrow::array::{Array, ArrayRef, UInt32Array, UInt32Builder};
use datafusion_common::ScalarValue;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

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
        return Ok(Some("-".into()));
    }
    Ok(match ty {
        PgType::Regclass => ctx.system.relation_name(oid),
        PgType::Regnamespace => ctx.system.schema_name(oid).map(|name| quote_identifier(&name)),
        PgType::Regtype => PgType::from_oid(oid).map(|ty| format_type(&ty, -1)),
        PgType::Regproc => match function_by_oid(oid) {
            Some(func) => Some(quote_identifier(func.name)),
            None => type_functions::by_oid(oid).map(|func| quote_identifier(func.name)),
        },
        PgType::Regprocedure => {
            let shown = |name: &str, args: &mut dyn Iterator<Item = PgType>| {
                let args: Vec<String> = args.map(|ty| format_type(&ty, -1)).collect();
                format!("{}({})", quote_identifier(name), args.join(","))
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
            (!name.is_empty() && !name.starts_with("unknown (OID=")).then(|| quote_identifier(&name))
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
        _ if name == "-" => return Ok(0),
        _ if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) => return parse_oid(text),
        _ => {}
    }
    match ty {
        PgType::Regclass => relation_named(ctx, name),
        PgType::Regtype => Ok(parse_type_name(text)?.ty.oid()),
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

fn procedure_oid(name: &str) -> PgResult<u32> {
    let syntax = |message: &str| PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, message);
    let (function, rest) = name.split_once('(').ok_or_else(|| syntax("expected a left parenthesis"))?;
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
                    types.push(parse_type_name(arg)?.ty);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
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

/// An identifier with quotes where SQL needs them because of its characters.
fn quote_identifier(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'$'));
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
