//! What MongoDB's Extended JSON says of values that JSON lacks, as SQL's types take it.

use arrow::temporal_conversions::timestamp_ms_to_datetime;
use serde_json::{Number, Value};
use stoa_pg::functions::encoding::{Form, hex};

/// The subtype of binary values that are uuids.
const UUID: &str = "04";
/// Milliseconds since 1970 of the years 1 to 9999, whose texts need no other form.
const FOUR_DIGITS: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;

/// `{"$oid": "…"}` and its kin as a text or a number that a column of a fitting type takes; everything else as it is.
pub(super) fn plain(value: Value) -> Value {
    of(&value).unwrap_or(value)
}

fn of(value: &Value) -> Option<Value> {
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
            let bytes = Form::Base64.decode(value.get("base64")?.as_str()?).ok()?;
            if value.get("subType")?.as_str()? == UUID && bytes.len() == 16 {
                return Some(hex(&bytes).into());
            }
            Some(format!("\\x{}", hex(&bytes)).into())
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
            (json!({"$binary": {"base64": "c//SZESzTGmQ6OfR38A11A==", "subType": "04"}}), json!("73ffd26444b34c6990e8e7d1dfc035d4")),
            (json!({"$minKey": 1}), json!({"$minKey": 1})),
            (json!({"$oid": 1}), json!({"$oid": 1})),
            (json!({"a": {"$oid": "x"}}), json!({"a": {"$oid": "x"}})),
            (json!(5), json!(5)),
        ] {
            assert_eq!(plain(value), wanted);
        }
        assert_eq!(plain(json!({"$numberDecimal": "1.50"})).to_string(), "1.50");
        assert_eq!(plain(json!({"$numberDecimal": "1E+3"})).to_string(), "1e+3");
    }
}
