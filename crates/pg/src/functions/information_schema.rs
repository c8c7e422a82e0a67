//! The functions that PostgreSQL's `information_schema` is made with, which clients call too: what a modifier says of a type.

use crate::args::{Arg, Call, Int4, Kernel, Kind, Oid, Reader, Text, arg, strict2, strict2_opt};
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Registry};
use crate::types::{PgType, format_type};
use arrow::array::{ArrayRef, AsArray, StructArray};
use std::sync::Arc;

/// The longest text that `character_octet_length` tells of, in bytes.
const TEXT_BYTES: i32 = 1 << 30;
/// Bytes of a character at most.
const CHARACTER_BYTES: i32 = 4;

/// A type by its OID, with a modifier; −1 where there is none.
type OfType = fn(Option<PgType>, i32) -> Option<i32>;

fn char_max_length(ty: Option<PgType>, modifier: i32) -> Option<i32> {
    match ty? {
        PgType::Bpchar | PgType::Varchar if modifier != -1 => Some(modifier - 4),
        PgType::Bit | PgType::Varbit if modifier != -1 => Some(modifier),
        _ => None,
    }
}

fn char_octet_length(ty: Option<PgType>, modifier: i32) -> Option<i32> {
    match ty.clone()? {
        PgType::Text | PgType::Bpchar | PgType::Varchar => {
            if modifier == -1 {
                Some(TEXT_BYTES)
            } else {
                char_max_length(ty, modifier).and_then(|n| n.checked_mul(CHARACTER_BYTES))
            }
        }
        _ => None,
    }
}

fn numeric_precision(ty: Option<PgType>, modifier: i32) -> Option<i32> {
    match ty? {
        PgType::Int2 => Some(16),
        PgType::Int4 => Some(32),
        PgType::Int8 => Some(64),
        PgType::Float4 => Some(24),
        PgType::Float8 => Some(53),
        PgType::Numeric if modifier != -1 => Some((modifier.wrapping_sub(4) >> 16) & 0xffff),
        _ => None,
    }
}

fn numeric_precision_radix(ty: Option<PgType>, _: i32) -> Option<i32> {
    match ty? {
        PgType::Int2 | PgType::Int4 | PgType::Int8 | PgType::Float4 | PgType::Float8 => Some(2),
        PgType::Numeric => Some(10),
        _ => None,
    }
}

fn numeric_scale(ty: Option<PgType>, modifier: i32) -> Option<i32> {
    match ty? {
        PgType::Int2 | PgType::Int4 | PgType::Int8 => Some(0),
        PgType::Numeric if modifier != -1 => Some(modifier.wrapping_sub(4) & 0xffff),
        _ => None,
    }
}

fn datetime_precision(ty: Option<PgType>, modifier: i32) -> Option<i32> {
    match ty? {
        PgType::Date => Some(0),
        PgType::Time | PgType::Timetz | PgType::Timestamp | PgType::Timestamptz => Some(if modifier < 0 { 6 } else { modifier }),
        PgType::Interval => Some(if modifier < 0 || modifier & 0xffff == 0xffff { 6 } else { modifier & 0xffff }),
        _ => None,
    }
}

/// The fields that an interval is limited to: `DAY TO SECOND(2)`.
fn interval_type(ty: Option<PgType>, modifier: i32) -> Option<String> {
    let shown = format_type(&ty.filter(|ty| *ty == PgType::Interval)?, modifier);
    let fields = shown.strip_prefix("interval")?.trim_start_matches(|c: char| matches!(c, '(' | ')') || c.is_ascii_digit());
    fields.strip_prefix(' ').map(str::to_uppercase)
}

/// A field of a row argument, by name.
fn field<'a>(call: &Call, args: &'a [Arg], at: usize, name: &str) -> PgResult<&'a ArrayRef> {
    let missing = || PgError::internal(format!("a row without a field {name}"));
    let Some(PgType::Record(Some(record))) = call.arg_types.get(at).map(|ty| &ty.ty) else { return Err(missing()) };
    let column = record.fields.iter().position(|(field, _)| field == name).ok_or_else(missing)?;
    let rows: &StructArray = arg(args, at)?.array.as_struct_opt().ok_or_else(missing)?;
    rows.columns().get(column).ok_or_else(missing)
}

/// What a column's type tells, or, if that is a domain, the domain's: of a row of `pg_attribute` and one of `pg_type`.
fn of_attribute<K>(own: &'static str, of_domain: &'static str) -> Kernel
where
    K: for<'a> Kind<In<'a> = <K as Kind>::Out>,
{
    Arc::new(move |call, args| {
        let whole = |at: usize, name: &str| {
            Ok::<_, PgError>(Arg { array: Arc::clone(field(call, args, at, name)?), constant: arg(args, at)?.constant })
        };
        let (own, kind, of_domain) = (whole(0, own)?, whole(1, "typtype")?, whole(1, of_domain)?);
        let (own, kind, of_domain) = (Reader::<K>::new(&own)?, Reader::<Text>::new(&kind)?, Reader::<K>::new(&of_domain)?);
        let mut out = K::builder(call.rows);
        for row in 0..call.rows {
            let value = if kind.get(row)? == Some("d") { of_domain.get(row)? } else { own.get(row)? };
            K::push(&mut out, value)?;
        }
        K::finish(out, call.ret)
    })
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    let numbers: [(&'static str, OfType); 6] = [
        ("_pg_char_max_length", char_max_length),
        ("_pg_char_octet_length", char_octet_length),
        ("_pg_numeric_precision", numeric_precision),
        ("_pg_numeric_precision_radix", numeric_precision_radix),
        ("_pg_numeric_scale", numeric_scale),
        ("_pg_datetime_precision", datetime_precision),
    ];
    let args = [PgType::Oid, PgType::Int4];
    for (name, value_of) in numbers {
        let kernel = strict2_opt::<Oid, Int4, Int4>(move |_, ty, modifier| Ok(value_of(PgType::from_oid(ty), modifier)));
        r.add(Func::scalar(name, &args, PgType::Int4, kernel, "what information_schema tells of a type with a modifier"));
    }
    let kernel = strict2_opt::<Oid, Int4, Text>(|_, ty, modifier| Ok(interval_type(PgType::from_oid(ty), modifier)));
    r.add(Func::scalar("_pg_interval_type", &args, PgType::Text, kernel, "the fields that a modifier limits an interval to"));
    let rows = [PgType::Record(None), PgType::Record(None)];
    let doc = "a column's type, that below a domain: of rows of pg_attribute and pg_type";
    r.add(Func::scalar("_pg_truetypid", &rows, PgType::Oid, of_attribute::<Oid>("atttypid", "typbasetype"), doc));
    let doc = "a column's modifier, that below a domain: of rows of pg_attribute and pg_type";
    r.add(Func::scalar("_pg_truetypmod", &rows, PgType::Int4, of_attribute::<Int4>("atttypmod", "typtypmod"), doc));
    let joined = strict2::<Text, Oid, Text>(|_, name, oid| {
        // As long as a name may be, cut from the name.
        let number = format!("_{oid}");
        let mut end = name.len().min(63 - number.len());
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        Ok(format!("{}{number}", name.get(..end).unwrap_or_default()))
    });
    r.add(Func::scalar("nameconcatoid", &[PgType::Name, PgType::Oid], PgType::Name, joined, "a name and an OID, as a name"));
}
