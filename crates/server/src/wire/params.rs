//! Parameters of Bind and arguments of a function call, in the Arrow form of their types.

use super::frame::{Body, utf8, violation};
use super::rows::format_of;
use datafusion_scalar::ScalarValue;
use stoa_pg::types::{PgType, SqlType};
use stoa_pg::values::{input_binary, input_text};
use stoa_pg::{EvalContext, PgError, PgResult, SqlState};

mod datafusion_scalar {
    pub use stoa_engine::session::ParamValue as ScalarValue;
}

/// Which message the values stand in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Bind,
    Call,
}

/// The values of a message, one for each type, each behind its length.
///
/// # Errors
/// As [`decode`], with the number of the value where the message says nothing of its own; 08P01 for a length that is none.
pub fn read(body: &mut Body<'_>, context: &EvalContext, types: &[SqlType], formats: &[i16], of: Of) -> PgResult<Vec<ScalarValue>> {
    let mut values = Vec::with_capacity(types.len());
    for (number, ty) in types.iter().enumerate() {
        let length = body.int32()?;
        let bytes = match (usize::try_from(length), of) {
            (Ok(length), _) => Some(body.take(length)?),
            (Err(_), _) if length == -1 => None,
            (Err(_), Of::Bind) => return Err(violation("insufficient data left in message")),
            (Err(_), Of::Call) => return Err(violation(format!("invalid argument size {length} in function call message"))),
        };
        values.push(decode(context, ty, format_of(formats, number), bytes).map_err(|error| placed(error, of, number + 1))?);
    }
    Ok(values)
}

/// An error of a value, with its number where the message says nothing of its own.
fn placed(error: PgError, of: Of, number: usize) -> PgError {
    if error.code() != SqlState::INVALID_BINARY_REPRESENTATION || error.message() != "incorrect binary data format" {
        return error;
    }
    let what = match of {
        Of::Bind => "bind parameter",
        Of::Call => "function argument",
    };
    PgError::new(error.code(), format!("{} in {what} {number}", error.message()))
}

/// A value in text (0) or binary (1) form.
///
/// # Errors
/// What the type's input raises; 22023 for other formats.
fn decode(context: &EvalContext, ty: &SqlType, format: i16, bytes: Option<&[u8]>) -> PgResult<ScalarValue> {
    let Some(bytes) = bytes else {
        return ScalarValue::try_from(&ty.arrow).map_err(|e| PgError::internal(e.to_string()));
    };
    match format {
        0 => {
            let text = utf8(bytes)?;
            // What is written otherwise than with plain digits goes to the type's own input.
            let plain = match &ty.ty {
                PgType::Text if !text.contains('\0') => Some(ScalarValue::Utf8View(Some(text.to_owned()))),
                PgType::Int4 => text.parse().ok().map(|n| ScalarValue::Int32(Some(n))),
                PgType::Int8 => text.parse().ok().map(|n| ScalarValue::Int64(Some(n))),
                _ => None,
            };
            plain.map_or_else(|| input_text(context, ty, text), Ok)
        }
        1 => match (&ty.ty, bytes) {
            (PgType::Int4, &[a, b, c, d]) => Ok(ScalarValue::Int32(Some(i32::from_be_bytes([a, b, c, d])))),
            (PgType::Int2, &[a, b]) => Ok(ScalarValue::Int16(Some(i16::from_be_bytes([a, b])))),
            (PgType::Int8, &[a, b, c, d, e, f, g, h]) => Ok(ScalarValue::Int64(Some(i64::from_be_bytes([a, b, c, d, e, f, g, h])))),
            _ => input_binary(context, ty, bytes),
        },
        other => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unsupported format code: {other}"))),
    }
}
