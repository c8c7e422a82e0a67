//! What MongoDB's Extended JSON says of values that JSON lacks, as SQL's types take it.

use super::types::Binary;
use arrow::temporal_conversions::timestamp_ms_to_datetime;
use serde_json::{Number, Value};
use stoa_pg::functions::encoding::{Form, hex};
use stoa_pg::types::PgType;

/// The subtype of binary values that are uuids.
const UUID: &str = "04";
const UUID_BYTES: usize = 16;
/// Milliseconds since 1970 of the years 1 to 9999, whose texts need no other form.
const FOUR_DIGITS: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;

/// `{"$oid": "…"}` and its kin as a text or a number that a column of a fitting type takes; everything else as it is.
pub(super) fn plain(value: Value, ty: &PgType) -> Value {
    of(&value, ty).unwrap_or(value)
}

/// What bytes a value is, if it is such.
pub(super) fn binary_type(value: &Value) -> Option<Binary> {
    let (bytes, uuid) = binary(value.as_object().filter(|object| object.len() == 1)?.get("$binary")?)?;
    Some(if uuid && bytes.len() == UUID_BYTES { Binary::Uuid } else { Binary::Other })
}

/// The bytes of `{"base64": "…", "subType": "…"}`, and whether they are said to be a uuid.
fn binary(value: &Value) -> Option<(Vec<u8>, bool)> {
    let bytes = Form::Base64.decode(value.get("base64")?.as_str()?).ok()?;
    Some((bytes, value.get("subType")?.as_str()? == UUID))
}

fn of(value: &Value, ty: &PgType) -> Option<Value> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (key, value) = object.iter().next()?;
    let text = value.as_str();
    match key.as_str() {
        "$oid" | "$symbol" | "$code" => text.map(Value::from),
        "$numberDecimal" | "$numberDouble" => text.map(|text| text.parse::<Number>().map_or_else(|_| text.into(), Value::Number)),
        "$date" if text.is_some() => text.map(Value::from),
        "$date" => {
            let milliseconds = value.get("$numberLong")?.as_str()?.parse().ok().filter(|ms| FOUR_DIGITS.contains(ms))?;
            Some(format!("{}Z", timestamp_ms_to_datetime(milliseconds)?).into())
        }
        "$binary" => {
            let (bytes, uuid) = binary(value)?;
            let digits = hex(&bytes);
            if bytes.len() != UUID_BYTES || *ty == PgType::Bytea || !uuid && *ty != PgType::Uuid {
                return Some(format!("\\x{digits}").into());
            }
            let parts: Vec<&str> = [0..8, 8..12, 12..16, 16..20, 20..32].into_iter().filter_map(|part| digits.get(part)).collect();
            Some(parts.join("-").into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_that_json_lacks() {
        for (value, wanted) in [
            (json!({"$oid": "56e1fc72e0c917e9c4714161"}), json!("56e1fc72e0c917e9c4714161")),
            (json!({"$date": "1970-01-01T00:00:00Z"}), json!("1970-01-01T00:00:00Z")),
            (json!({"$date": {"$numberLong": "-284643869501"}}), json!("1960-12-24 12:15:30.499Z")),
            (json!({"$date": {"$numberLong": "-1"}}), json!("1969-12-31 23:59:59.999Z")),
            (json!({"$date": {"$numberLong": "253402300800000"}}), json!({"$date": {"$numberLong": "253402300800000"}})),
            (json!({"$numberDecimal": "NaN"}), json!("NaN")),
            (json!({"$binary": {"base64": "//8=", "subType": "00"}}), json!("\\xffff")),
            (json!({"$binary": {"base64": "c//SZESzTGmQ6OfR38A11A==", "subType": "04"}}), json!("73ffd264-44b3-4c69-90e8-e7d1dfc035d4")),
            (json!({"$minKey": 1}), json!({"$minKey": 1})),
            (json!({"$oid": 1}), json!({"$oid": 1})),
            (json!({"a": {"$oid": "x"}}), json!({"a": {"$oid": "x"}})),
            (json!(5), json!(5)),
        ] {
            assert_eq!(plain(value, &PgType::Text), wanted);
        }
        let decimal = |text: &str| plain(json!({"$numberDecimal": text}), &PgType::Numeric).to_string();
        assert_eq!((decimal("1.50"), decimal("1E+3")), ("1.50".into(), "1e+3".into()));
        // A uuid is bytes to a column of bytea, and bytes may be a uuid to one of uuid.
        for (subtype, ty, wanted) in [
            ("04", PgType::Bytea, "\\x73ffd26444b34c6990e8e7d1dfc035d4"),
            ("00", PgType::Bytea, "\\x73ffd26444b34c6990e8e7d1dfc035d4"),
            ("00", PgType::Text, "\\x73ffd26444b34c6990e8e7d1dfc035d4"),
            ("00", PgType::Uuid, "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"),
            ("04", PgType::Uuid, "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"),
        ] {
            let value = json!({"$binary": {"base64": "c//SZESzTGmQ6OfR38A11A==", "subType": subtype}});
            assert_eq!(plain(value, &ty), json!(wanted), "{ty:?}");
        }
    }
}
