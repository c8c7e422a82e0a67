//! JSON from SQL values: `to_json`, `json_build_object`, `json_object`, `row_to_json` and their jsonb forms.

use super::rows::{nullable_rows, utf8};
use crate::args::{Arg, Bool, Bytes, Call, Kernel, Kind, Reader, arg};
use crate::error::{PgError, PgResult};
use crate::operators::json::TextArrays;
use crate::registry::{Func, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::json::binary::Builder;
use crate::values::json::encode::{Encoder, Shape};
use crate::values::json::text::{Sink, write_string};
use arrow::array::{ArrayRef, StringViewBuilder};
use std::sync::Arc;

/// The shapes of all arguments.
pub fn shapes(call: &Call, args: &[Arg]) -> PgResult<Vec<Shape>> {
    if call.arg_types.len() < args.len() {
        return Err(PgError::internal("a kernel was given arguments without types"));
    }
    Ok(call.arg_types.iter().take(args.len()).map(|ty| Shape::new(call.ctx, ty)).collect())
}

/// Encoders over all arguments.
pub fn encoders<'a>(call: &'a Call, shapes: &'a [Shape], args: &'a [Arg]) -> PgResult<Vec<Encoder<'a>>> {
    shapes.iter().zip(args).map(|(shape, arg)| shape.open(call.ctx, arg.array.as_ref())).collect()
}

/// `to_json`, `row_to_json`, `array_to_json`; the second argument, if any, asks for line feeds.
fn to_json(jsonb: bool) -> Kernel {
    Arc::new(move |call, args| {
        let value = arg(args, 0)?;
        let shapes = shapes(call, args.get(..1).unwrap_or(&[]))?;
        let encoders = encoders(call, &shapes, args)?;
        let encoder = encoders.first().ok_or_else(|| PgError::internal("to_json without an argument"))?;
        let pretty = args.get(1).map(Reader::<Bool>::new).transpose()?;
        if jsonb {
            let mut out = Bytes::builder(call.rows);
            let mut builder = Builder::new();
            for row in 0..call.rows {
                if value.is_null(row) {
                    out.append_null();
                } else {
                    encoder.jsonb(value.at(row), &mut builder)?;
                    out.append_value(builder.finish()?);
                }
            }
            return Bytes::finish(out, call.ret);
        }
        let mut out = StringViewBuilder::with_capacity(call.rows);
        let mut text = Vec::new();
        for row in 0..call.rows {
            let pretty = match &pretty {
                Some(reader) => reader.get(row)?,
                None => Some(false),
            };
            match pretty {
                Some(pretty) if !value.is_null(row) => {
                    text.clear();
                    encoder.text(value.at(row), pretty, &mut text)?;
                    out.append_value(utf8(&text)?);
                }
                _ => out.append_null(),
            }
        }
        Ok(Arc::new(out.finish()))
    })
}

/// `json_build_array`, `jsonb_build_array`.
fn build_array(jsonb: bool) -> Kernel {
    Arc::new(move |call, args| {
        let shapes = shapes(call, args)?;
        let encoders = encoders(call, &shapes, args)?;
        rows_of(call, jsonb, |row, text, builder| {
            if let Some(builder) = builder {
                builder.begin_array()?;
                for (encoder, arg) in encoders.iter().zip(args) {
                    encoder.jsonb(arg.at(row), builder)?;
                }
                return builder.end_array();
            }
            text.push(b'[');
            for (i, (encoder, arg)) in encoders.iter().zip(args).enumerate() {
                if i > 0 {
                    text.extend_from_slice(b", ");
                }
                encoder.text(arg.at(row), false, text)?;
            }
            text.push(b']');
            Ok(())
        })
    })
}

/// `json_build_object`, `jsonb_build_object`.
fn build_object(jsonb: bool) -> Kernel {
    Arc::new(move |call, args| {
        if !args.len().is_multiple_of(2) {
            let name = if jsonb { "jsonb_build_object" } else { "json_build_object" };
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "argument list must have even number of elements")
                .hint(format!("The arguments of {name}() must consist of alternating keys and values.")));
        }
        let shapes = shapes(call, args)?;
        let encoders = encoders(call, &shapes, args)?;
        let pairs: Vec<_> = encoders.chunks(2).zip(args.chunks(2)).collect();
        rows_of(call, jsonb, |row, text, mut builder| {
            match &mut builder {
                Some(builder) => builder.begin_object()?,
                None => text.push(b'{'),
            }
            for (i, (encoders, args)) in pairs.iter().enumerate() {
                let ([key, value], [key_arg, value_arg]) = (*encoders, *args) else { continue };
                if key_arg.is_null(row) {
                    let position = 2 * i + 1;
                    return Err(if jsonb {
                        PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("argument {position}: key must not be null"))
                    } else {
                        PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("argument {position} cannot be null"))
                            .hint("Object keys should be text.")
                    });
                }
                let key = key.key(key_arg.at(row))?;
                if let Some(builder) = &mut builder {
                    builder.key(&key)?;
                    value.jsonb(value_arg.at(row), builder)?;
                } else {
                    if i > 0 {
                        text.extend_from_slice(b", ");
                    }
                    write_string(&key, text);
                    text.extend_from_slice(b" : ");
                    value.text(value_arg.at(row), false, text)?;
                }
            }
            match builder {
                Some(builder) => builder.end_object(),
                None => {
                    text.push(b'}');
                    Ok(())
                }
            }
        })
    })
}

/// A json or jsonb column without NULLs, written row by row.
fn rows_of(
    call: &Call,
    jsonb: bool,
    mut write: impl FnMut(usize, &mut Vec<u8>, Option<&mut Builder>) -> PgResult<()>,
) -> PgResult<ArrayRef> {
    let mut text = Vec::new();
    if jsonb {
        let mut out = Bytes::builder(call.rows);
        let mut builder = Builder::new();
        for row in 0..call.rows {
            write(row, &mut text, Some(&mut builder))?;
            out.append_value(builder.finish()?);
        }
        return Bytes::finish(out, call.ret);
    }
    let mut out = StringViewBuilder::with_capacity(call.rows);
    for row in 0..call.rows {
        text.clear();
        write(row, &mut text, None)?;
        out.append_value(utf8(&text)?);
    }
    Ok(Arc::new(out.finish()))
}

fn subscripts(message: &str) -> PgError {
    PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

/// Writes an object of text pairs.
fn object_of(pairs: &[(Option<&str>, Option<&str>)], text: &mut Vec<u8>, builder: Option<&mut Builder>) -> PgResult<()> {
    let no_key = || PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key");
    if let Some(builder) = builder {
        builder.begin_object()?;
        for (key, value) in pairs {
            builder.key(key.ok_or_else(no_key)?)?;
            match value {
                Some(value) => builder.string(value)?,
                None => builder.null()?,
            }
        }
        return builder.end_object();
    }
    text.push(b'{');
    for (i, (key, value)) in pairs.iter().enumerate() {
        if i > 0 {
            text.extend_from_slice(b", ");
        }
        write_string(key.ok_or_else(no_key)?, text);
        text.extend_from_slice(b" : ");
        match value {
            Some(value) => write_string(value, text),
            None => text.extend_from_slice(b"null"),
        }
    }
    text.push(b'}');
    Ok(())
}

/// `json_object(text[])`: alternating keys and values, or pairs.
fn object_of_pairs(jsonb: bool) -> Kernel {
    Arc::new(move |call, args| {
        let arrays = TextArrays::new(arg(args, 0)?)?;
        let mut texts = Vec::new();
        let mut pairs: Vec<(Option<&str>, Option<&str>)> = Vec::new();
        nullable_rows(call, jsonb, |row, text, builder| {
            let Some(shape) = arrays.read(row, &mut texts) else { return Ok(false) };
            match shape.lengths() {
                [] | [_] if texts.len().is_multiple_of(2) => {}
                [] | [_] => return Err(subscripts("array must have even number of elements")),
                [_, 2] => {}
                [_, _] => return Err(subscripts("array must have two columns")),
                _ => return Err(subscripts("wrong number of array subscripts")),
            }
            pairs.clear();
            pairs.extend(texts.as_chunks::<2>().0.iter().map(|[key, value]| (*key, *value)));
            object_of(&pairs, text, builder)?;
            Ok(true)
        })
    })
}

/// `json_object(keys text[], values text[])`.
fn object_of_lists(jsonb: bool) -> Kernel {
    Arc::new(move |call, args| {
        let (keys, values) = (TextArrays::new(arg(args, 0)?)?, TextArrays::new(arg(args, 1)?)?);
        let (mut k, mut v) = (Vec::new(), Vec::new());
        nullable_rows(call, jsonb, |row, text, builder| {
            let (Some(keys), Some(values)) = (keys.read(row, &mut k), values.read(row, &mut v)) else { return Ok(false) };
            if keys.ndim() > 1 || keys.ndim() != values.ndim() {
                return Err(subscripts("wrong number of array subscripts"));
            }
            if k.len() != v.len() {
                return Err(subscripts("mismatched array dimensions"));
            }
            let pairs: Vec<_> = k.iter().copied().zip(v.iter().copied()).collect();
            object_of(&pairs, text, builder)?;
            Ok(true)
        })
    })
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Any, AnyArray, AnyElement, Bool, Json, Jsonb, Record, Text as T};
    r.add(Func::scalar("to_json", &[AnyElement], Json, to_json(false), "Converts any SQL value to json.").stable());
    r.add(Func::scalar("to_jsonb", &[AnyElement], Jsonb, to_json(true), "Converts any SQL value to jsonb.").stable());
    for (name, ty, doc) in [
        ("row_to_json", Record(None), "Converts an SQL composite value to a JSON object."),
        ("array_to_json", AnyArray, "Converts an SQL array to a JSON array."),
    ] {
        r.add(Func::scalar(name, std::slice::from_ref(&ty), Json, to_json(false), doc).stable());
        r.add(Func::scalar(name, &[ty, Bool], Json, to_json(false), doc).stable());
    }
    for (jsonb, ty) in [(false, Json), (true, Jsonb)] {
        let name = |json: &'static str, b: &'static str| if jsonb { b } else { json };
        let array = name("json_build_array", "jsonb_build_array");
        let object = name("json_build_object", "jsonb_build_object");
        let (array_doc, object_doc) =
            ("Builds a JSON array out of a variadic argument list.", "Builds a JSON object out of alternating keys and values.");
        r.add(Func::scalar(array, &[Any], ty.clone(), build_array(jsonb), array_doc).variadic().lax().stable());
        r.add(Func::scalar(array, &[], ty.clone(), build_array(jsonb), array_doc).lax().stable());
        r.add(Func::scalar(object, &[Any], ty.clone(), build_object(jsonb), object_doc).variadic().lax().stable());
        r.add(Func::scalar(object, &[], ty.clone(), build_object(jsonb), object_doc).lax().stable());
        let of_texts = name("json_object", "jsonb_object");
        let doc = "Builds a JSON object out of text arrays.";
        r.scalar(of_texts, &[T.array_of()], ty.clone(), object_of_pairs(jsonb), doc);
        r.scalar(of_texts, &[T.array_of(), T.array_of()], ty, object_of_lists(jsonb), doc);
    }
}
