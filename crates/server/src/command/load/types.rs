//! Types for the columns of a file that has none: the first that takes all values of a column.

/// What may be read as a value of a type.
type Takes = fn(&str) -> bool;

/// Types of texts, the narrowest first.
const TYPES: [(&str, Takes); 9] = [
    ("boolean", |v| matches!(v.to_ascii_lowercase().as_str(), "t" | "f" | "true" | "false")),
    ("integer", |v| is_whole(v) && v.parse::<i32>().is_ok()),
    ("bigint", |v| is_whole(v) && v.parse::<i64>().is_ok()),
    ("double precision", |v| v.contains(['.', 'e', 'E']) && v.parse::<f64>().is_ok() || is_whole(v) && v.len() < 16),
    ("numeric", is_decimal),
    ("date", |v| shaped(v, "dddd-dd-dd")),
    ("timestamp", |v| ["dddd-dd-dd dd:dd", "dddd-dd-dd dd:dd:dd"].iter().any(|s| shaped(&cut_fraction(v).replace('T', " "), s))),
    ("timestamptz", |v| {
        let v = v.strip_suffix('Z').or_else(|| v.rsplit_once(['+', '-']).filter(|(_, zone)| zone.len() <= 5).map(|(t, _)| t));
        v.is_some_and(|v| shaped(&cut_fraction(v).replace('T', " "), "dddd-dd-dd dd:dd:dd"))
    }),
    ("text", |_| true),
];
const BOOLEAN: u16 = 1;
const NUMBERS: u16 = 0b1_1110;
const TEXT: u16 = 1 << 8;
/// Behind all of [`TYPES`]: jsonb takes whatever a document may hold.
const JSONB: u16 = 1 << 9;
const UUID: u16 = 1 << 10;
const BYTEA: u16 = 1 << 11;

/// Bytes that say what they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    Uuid,
    Other,
}

/// The types that take all values that were seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidates {
    /// One bit for each of [`TYPES`], and those behind them.
    left: u16,
    seen: bool,
}

impl Default for Candidates {
    fn default() -> Self {
        Self { left: u16::MAX, seen: false }
    }
}

impl Candidates {
    /// A value that may be anything.
    pub(super) fn text(&mut self, value: &str) {
        self.of(value, u16::MAX);
    }

    /// A value of a document that says whether it is a text.
    pub(super) fn json(&mut self, value: &serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::Null => {}
            Value::Bool(value) => self.of(if *value { "true" } else { "false" }, BOOLEAN | TEXT | JSONB),
            Value::Number(value) => self.of(&value.to_string(), NUMBERS | TEXT | JSONB),
            Value::String(value) => self.of(value, !(BOOLEAN | NUMBERS | UUID | BYTEA)),
            Value::Array(_) | Value::Object(_) => {
                self.left &= JSONB;
                self.seen = true;
            }
        }
    }

    /// Bytes of a document.
    pub(super) fn bytes(&mut self, what: Binary) {
        self.left &= JSONB | BYTEA | if what == Binary::Uuid { UUID } else { 0 };
        self.seen = true;
    }

    fn of(&mut self, value: &str, possible: u16) {
        self.seen = true;
        self.left &= possible;
        for (at, (_, takes)) in TYPES.iter().enumerate() {
            if self.left & (1 << at) != 0 && !takes(value) {
                self.left &= !(1 << at);
            }
        }
    }

    /// The narrowest type; `text` where nothing was seen.
    pub(super) fn first(self) -> &'static str {
        if !self.seen {
            return "text";
        }
        let first = TYPES.iter().enumerate().find(|(at, _)| self.left & (1 << at) != 0);
        match first {
            Some((_, (name, _))) => name,
            None if self.left & UUID != 0 => "uuid",
            None if self.left & BYTEA != 0 => "bytea",
            None => "jsonb",
        }
    }
}

/// A number that is not rather a name: no sign but minus, no zero in front.
fn is_whole(v: &str) -> bool {
    let digits = v.strip_prefix('-').unwrap_or(v);
    digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0')) && !digits.is_empty()
}

fn is_decimal(v: &str) -> bool {
    let (whole, fraction) = v.split_once('.').unwrap_or((v, "0"));
    is_whole(whole) && !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit())
}

fn cut_fraction(v: &str) -> &str {
    match v.rsplit_once('.') {
        Some((whole, fraction)) if (1..=6).contains(&fraction.len()) && fraction.bytes().all(|b| b.is_ascii_digit()) => whole,
        _ => v,
    }
}

fn shaped(v: &str, shape: &str) -> bool {
    v.len() == shape.len() && v.bytes().zip(shape.bytes()).all(|(b, s)| if s == b'd' { b.is_ascii_digit() } else { b == s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of_texts(values: &[&str]) -> &'static str {
        let mut types = Candidates::default();
        values.iter().for_each(|v| types.text(v));
        types.first()
    }

    #[test]
    fn texts_have_the_narrowest_type_that_takes_all() {
        for (values, wanted) in [
            (&["1", "-2", "0"][..], "integer"),
            (&["1", "99999999999"], "bigint"),
            (&["1.5", "2", "1e3"], "double precision"),
            (&["1", "123456789012345678901234"], "numeric"),
            (&["2024-01-02"], "date"),
            (&["2024-01-02 03:04:05.6", "2024-01-02T03:04"], "timestamp"),
            (&["2024-01-02T03:04:05Z", "2024-01-02 03:04:05+02"], "timestamptz"),
            (&["t", "FALSE"], "boolean"),
            (&["007"], "text"),
            (&["1", "2024-01-01"], "text"),
            (&["2024-01-01", "1"], "text"),
            (&[], "text"),
        ] {
            assert_eq!(of_texts(values), wanted, "{values:?}");
        }
    }

    #[test]
    fn documents_tell_texts_from_numbers() {
        for (values, wanted) in [
            (json!([1, null, 2]), "integer"),
            (json!([1, 3_000_000_000_i64]), "bigint"),
            (json!([1.5, 2]), "double precision"),
            (json!([true, null]), "boolean"),
            (json!(["1", "2"]), "text"),
            (json!([1, "2"]), "text"),
            (json!([true, 1]), "text"),
            (json!(["2024-01-02"]), "date"),
            (json!([[1], {"a": 1}]), "jsonb"),
            (json!([1, [1]]), "jsonb"),
            (json!([null]), "text"),
        ] {
            let mut types = Candidates::default();
            values.as_array().into_iter().flatten().for_each(|v| types.json(v));
            assert_eq!(types.first(), wanted, "{values}");
        }
    }

    #[test]
    fn bytes_have_types_of_their_own() {
        let of = |all: &[Option<Binary>]| {
            let mut types = Candidates::default();
            for binary in all {
                match binary {
                    Some(binary) => types.bytes(*binary),
                    None => types.json(&json!("x")),
                }
            }
            types.first()
        };
        assert_eq!(of(&[Some(Binary::Uuid)]), "uuid");
        assert_eq!(of(&[Some(Binary::Uuid), Some(Binary::Other)]), "bytea");
        assert_eq!(of(&[Some(Binary::Other), None]), "jsonb");
        assert_eq!(of(&[None, Some(Binary::Uuid)]), "jsonb");
    }
}
