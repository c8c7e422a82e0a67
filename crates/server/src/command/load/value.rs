//! Values as COPY's text format has them.

use serde_json::Value;
use stoa_pg::types::PgType;

/// Between two values of a record.
pub(super) const DELIMITER: u8 = b'\t';
/// What stands for NULL.
pub(super) const NULL: &str = "\\N";

/// Appends a text, with what means something to COPY behind backslashes.
pub(super) fn write_text(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|b| matches!(b, b'\\' | b'\n' | b'\r' | b'\t')) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((special, behind)) = special.split_first() else { break };
        out.extend_from_slice(match special {
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            _ => b"\\\\",
        });
        rest = behind;
    }
    out.extend_from_slice(rest);
}

/// Appends a value of a document for a column of a type: an array as an array where the column has arrays, anything as a document where
/// it has documents.
pub(super) fn write_json(value: &Value, ty: &PgType, out: &mut Vec<u8>) {
    match (value, ty) {
        (Value::Null, _) => out.extend_from_slice(NULL.as_bytes()),
        (value, PgType::Json | PgType::Jsonb) => write_text(value.to_string().as_bytes(), out),
        (Value::String(text), _) => write_text(text.as_bytes(), out),
        (Value::Array(elements), PgType::Array(element)) => {
            let mut literal = String::new();
            array_literal(elements, element, &mut literal);
            write_text(literal.as_bytes(), out);
        }
        (value, _) => write_text(value.to_string().as_bytes(), out),
    }
}

fn array_literal(elements: &[Value], ty: &PgType, out: &mut String) {
    out.push('{');
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        match (element, ty) {
            (Value::Null, _) => out.push_str("NULL"),
            // The type of an array is that of its elements, whatever its dimensions.
            (Value::Array(inner), ty) if !matches!(ty, PgType::Json | PgType::Jsonb) => {
                array_literal(inner, if let PgType::Array(ty) = ty { ty } else { ty }, out);
            }
            (Value::String(text), ty) if !matches!(ty, PgType::Json | PgType::Jsonb) => quoted(text, out),
            (element, _) => quoted(&element.to_string(), out),
        }
    }
    out.push('}');
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use serde_json::json;

    #[test]
    fn values_follow_the_column() {
        let array = |ty: PgType| PgType::Array(Box::new(ty));
        for (value, ty, wanted) in [
            (json!(null), PgType::Text, "\\N"),
            (json!(null), PgType::Jsonb, "\\N"),
            (json!("a\tb\\c\r\nd"), PgType::Text, "a\\tb\\\\c\\r\\nd"),
            (json!("a"), PgType::Jsonb, "\"a\""),
            (json!({"a": [1, "x\ny"]}), PgType::Jsonb, "{\"a\":[1,\"x\\\\ny\"]}"),
            (json!([1, null, 3]), array(PgType::Int4), "{\"1\",NULL,\"3\"}"),
            (json!([[1], [2]]), array(array(PgType::Int4)), "{{\"1\"},{\"2\"}}"),
            (json!([[1, 2], [3, null]]), array(PgType::Int4), "{{\"1\",\"2\"},{\"3\",NULL}}"),
            (json!(["a\"b", ""]), array(PgType::Text), "{\"a\\\\\"b\",\"\"}"),
            (json!(["a", {"b": 1}]), array(PgType::Jsonb), "{\"\\\\\"a\\\\\"\",\"{\\\\\"b\\\\\":1}\"}"),
            (json!([1, 2]), PgType::Text, "[1,2]"),
            (json!(true), PgType::Bool, "true"),
            (json!(1.5), PgType::Numeric, "1.5"),
        ] {
            let mut out = Vec::new();
            write_json(&value, &ty, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), wanted, "{value} as {ty:?}");
        }
    }
}
