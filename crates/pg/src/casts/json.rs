//! Casts of json and jsonb; those to and from text are the text forms, as for every type.

use crate::args::{Bool, Bytes, Float4, Float8, Int2, Int4, Int8, Kernel, Kind, Text, strict1};
use crate::error::{PgError, PgResult};
use crate::registry::{CastContext, CastKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::json::binary::Node;
use crate::values::json::from_text;
use crate::values::json::text::JsonKind;
use crate::values::numeric::{Numeric, NumericKind};

fn cannot(node: &Node, target: &str) -> PgError {
    let kind = match node.kind() {
        JsonKind::Number => "numeric",
        other => other.name(),
    };
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("cannot cast jsonb {kind} to type {target}"))
}

fn number(bytes: &[u8], target: &str) -> PgResult<Numeric> {
    match Node::root(bytes) {
        Node::Number(digits) => Numeric::parse(digits),
        other => Err(cannot(&other, target)),
    }
}

fn to_float<R: Kind>(target: &'static str, f: fn(&Numeric) -> PgResult<R::Out>) -> Kernel {
    strict1::<Bytes, R>(move |_, bytes| {
        let value = number(bytes, target)?;
        f(&value).map_err(|error| {
            if error.code() != SqlState::NUMERIC_VALUE_OUT_OF_RANGE {
                return error;
            }
            let mut text = Vec::new();
            value.write_text(&mut text);
            let text = String::from_utf8_lossy(&text);
            PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("\"{text}\" is out of range for type {target}"))
        })
    })
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Json, Jsonb};
    let mut explicit = |to: PgType, kernel: Kernel| r.add_cast(Jsonb, to, CastContext::Explicit, CastKind::Kernel(kernel));
    explicit(
        PgType::Bool,
        strict1::<Bytes, Bool>(|_, bytes| match Node::root(bytes) {
            Node::Bool(value) => Ok(value),
            other => Err(cannot(&other, "boolean")),
        }),
    );
    explicit(PgType::Int2, strict1::<Bytes, Int2>(|_, bytes| number(bytes, "smallint")?.to_i16()));
    explicit(PgType::Int4, strict1::<Bytes, Int4>(|_, bytes| number(bytes, "integer")?.to_i32()));
    explicit(PgType::Int8, strict1::<Bytes, Int8>(|_, bytes| number(bytes, "bigint")?.to_i64()));
    explicit(PgType::Float4, to_float::<Float4>("real", Numeric::to_f32));
    explicit(PgType::Float8, to_float::<Float8>("double precision", Numeric::to_f64));
    explicit(
        PgType::Numeric,
        strict1::<Bytes, NumericKind>(|call, bytes| {
            let value = number(bytes, "numeric")?;
            if call.ret.typmod >= 0 { value.apply_typmod(call.ret.typmod) } else { Ok(value) }
        }),
    );
    let to_jsonb = strict1::<Text, Bytes>(|_, text| from_text(text));
    r.add_cast(Json, Jsonb, CastContext::Assignment, CastKind::Kernel(to_jsonb));
    let to_json = strict1::<Bytes, Text>(|_, bytes| Ok(Node::root(bytes).to_text()));
    r.add_cast(Jsonb, Json, CastContext::Assignment, CastKind::Kernel(to_json));
}
