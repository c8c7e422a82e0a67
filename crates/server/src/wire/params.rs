//! Parameters of Bind, in the Arrow form of their types.

use super::frame::utf8;
use datafusion_scalar::ScalarValue;
use stoa_pg::types::{PgType, SqlType};
use stoa_pg::values::{input_binary, input_text};
use stoa_pg::{EvalContext, PgError, PgResult, SqlState};

mod datafusion_scalar {
    pub use stoa_engine::session::ParamValue as ScalarValue;
}

/// An error of a parameter, with its number where the message has none of its own.
pub fn placed(error: PgError, number: usize) -> PgError {
    if error.code() != SqlState::INVALID_BINARY_REPRESENTATION || error.message() != "incorrect binary data format" {
        return error;
    }
    PgError::new(error.code(), format!("{} in bind parameter {number}", error.message()))
}

/// A value in text (0) or binary (1) form.
///
/// # Errors
/// What the type's input raises; 22023 for other formats.
pub fn decode(context: &EvalContext, ty: &SqlType, format: i16, bytes: Option<&[u8]>) -> PgResult<ScalarValue> {
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
