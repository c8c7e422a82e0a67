//! Reading and showing values of settings, in PostgreSQL's words.

use super::{Kind, Setting, Unit};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::utility::{NamedOption, OptionValue, SetValue};

/// `invalid value for parameter`, 22023.
#[must_use]
pub fn invalid(name: &str, text: &str) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"{name}\": \"{text}\""))
}

/// The text of what SET gives a setting; `None` for DEFAULT.
///
/// # Errors
/// 22023 for several values where there is one, 42704 for settings that do not exist.
pub fn text_of(name: &str, new: &SetValue) -> PgResult<Option<String>> {
    let lower = name.to_ascii_lowercase();
    Ok(match new {
        SetValue::Default => None,
        SetValue::Interval { text, fields } => Some(match fields.as_str() {
            "" | "hour to second" => format!("INTERVAL '{text}'"),
            // A text with a colon says itself what are hours and what minutes; a number counts in the last field.
            "hour to minute" if text.contains(':') => format!("INTERVAL '{text}'"),
            "hour to minute" => format!("INTERVAL '{text} minute'"),
            field => format!("INTERVAL '{text} {field}'"),
        }),
        SetValue::Values(items) if matches!(lower.as_str(), "search_path" | "temp_tablespaces") => {
            let names: Vec<String> = items.iter().map(|i| stoa_sql::catalog::deparse::quote_name(&i.text)).collect();
            Some(names.join(", "))
        }
        SetValue::Values(items) if lower == "datestyle" => Some(items.iter().map(|i| i.text.as_str()).collect::<Vec<_>>().join(", ")),
        SetValue::Values(items) => match items.as_slice() {
            [item] => Some(item.text.clone()),
            _ => {
                super::find(name).ok_or_else(|| super::unrecognized(name))?;
                return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("SET {name} takes only one argument")));
            }
        },
    })
}

/// A value in the form in which it is kept. `name` is the setting's name as the user wrote it.
///
/// # Errors
/// 22023.
pub fn canonical(setting: &Setting, name: &str, text: &str) -> PgResult<String> {
    match setting.kind {
        Kind::Text => Ok(text.to_owned()),
        Kind::Bool => match parse_bool(text) {
            Some(value) => Ok(if value { "on" } else { "off" }.to_owned()),
            None => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("parameter \"{name}\" requires a Boolean value"))),
        },
        // Words that are taken and not offered.
        Kind::Enum(_) if setting.name == "client_min_messages" && text.eq_ignore_ascii_case("debug") => Ok("debug2".to_owned()),
        Kind::Enum(_) if setting.name == "client_min_messages" && text.eq_ignore_ascii_case("info") => Ok("info".to_owned()),
        Kind::Enum(words) => match words.iter().find(|w| w.eq_ignore_ascii_case(text)) {
            Some(word) => Ok((*word).to_owned()),
            // Enumerations that grew out of booleans still take them.
            None => match parse_bool(text).and_then(|b| words.iter().find(|w| **w == if b { "on" } else { "off" })) {
                Some(word) => Ok((*word).to_owned()),
                None => Err(invalid(name, text).hint(format!("Available values: {}.", words.join(", ")))),
            },
        },
        Kind::Integer { min, max, unit } => {
            let number = parse_number(name, text, unit)?.round_ties_even();
            if number.abs() > f64::from(i32::MAX) + 1.0 && max <= i64::from(i32::MAX) {
                return Err(invalid(name, text).hint("Value exceeds integer range."));
            }
            let number = number as i64;
            if number < min || number > max {
                let unit = unit_name(unit);
                let blank = if unit.is_empty() { "" } else { " " };
                return Err(PgError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    format!("{number}{blank}{unit} is outside the valid range for parameter \"{name}\" ({min} .. {max})"),
                ));
            }
            Ok(number.to_string())
        }
        Kind::Real { min, max, unit } => {
            let number = parse_number(name, text, unit)?;
            if number.is_nan() || number < min || number > max {
                let max = if max == f64::MAX { "1.79769e+308".to_owned() } else { max.to_string() };
                let unit = unit_name(unit);
                let blank = if unit.is_empty() { "" } else { " " };
                return Err(PgError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    format!("{number}{blank}{unit} is outside the valid range for parameter \"{name}\" ({min} .. {max})"),
                ));
            }
            Ok(number.to_string())
        }
    }
}

/// A kept value as SHOW prints it.
#[must_use]
pub fn display(kind: &Kind, raw: &str) -> String {
    let (Kind::Integer { unit, .. } | Kind::Real { unit, .. }) = kind else { return raw.to_owned() };
    if let (Kind::Real { unit: Unit::Milliseconds, .. }, Ok(value)) = (kind, raw.parse::<f64>())
        && value > 0.0
    {
        return real_milliseconds(value);
    }
    let Some(value) = raw.parse::<i64>().ok().filter(|v| *v > 0) else { return raw.to_owned() };
    // From the setting's unit up: how many of it make one of the larger unit.
    let larger: &[(i64, &str)] = match unit {
        Unit::None => return raw.to_owned(),
        Unit::Milliseconds => &[(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")],
        Unit::Seconds => &[(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")],
        Unit::Minutes => &[(1_440, "d"), (60, "h"), (1, "min")],
        Unit::Bytes => &[(1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"), (1, "B")],
        Unit::Kilobytes => &[(1 << 30, "TB"), (1 << 20, "GB"), (1 << 10, "MB"), (1, "kB")],
        Unit::Blocks => {
            let kilobytes = Kind::Integer { min: 0, max: 0, unit: Unit::Kilobytes };
            return display(&kilobytes, &(value.saturating_mul(8)).to_string());
        }
        Unit::Megabytes => &[(1 << 20, "TB"), (1 << 10, "GB"), (1, "MB")],
    };
    match larger.iter().find(|(n, _)| value % n == 0) {
        Some((n, name)) => format!("{}{name}", value / n),
        None => raw.to_owned(),
    }
}

/// In the largest unit that divides it, give or take what rounding costs; six digits, as C's `%g` prints.
fn real_milliseconds(value: f64) -> String {
    const UNITS: &[(f64, &str)] = &[(86_400_000.0, "d"), (3_600_000.0, "h"), (60_000.0, "min"), (1_000.0, "s"), (1.0, "ms")];
    let whole = |(unit, _): &&(f64, &str)| ((value / unit).round_ties_even() / (value / unit) - 1.0).abs() <= 1e-8;
    let (unit, name) = UNITS.iter().find(whole).copied().unwrap_or((0.001, "us"));
    let number = format!("{:.5e}", value / unit);
    format!("{}{name}", number.parse::<f64>().unwrap_or(value / unit))
}

/// The unit as `pg_settings.unit` says it.
#[must_use]
pub fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::None => "",
        Unit::Milliseconds => "ms",
        Unit::Seconds => "s",
        Unit::Minutes => "min",
        Unit::Bytes => "B",
        Unit::Kilobytes => "kB",
        Unit::Blocks => "8kB",
        Unit::Megabytes => "MB",
    }
}

/// PostgreSQL's words for truth: unique prefixes of true, false, yes, no, and on, off, 1, 0.
#[must_use]
pub fn parse_bool(text: &str) -> Option<bool> {
    let lower = text.trim().to_ascii_lowercase();
    let prefix = |word: &str| !lower.is_empty() && word.starts_with(&lower);
    match lower.as_str() {
        "on" | "1" => Some(true),
        "0" | "of" | "off" => Some(false),
        _ if prefix("true") || prefix("yes") => Some(true),
        _ if prefix("false") || prefix("no") => Some(false),
        _ => None,
    }
}

fn parse_number(name: &str, text: &str, unit: Unit) -> PgResult<f64> {
    let trimmed = text.trim();
    let (number, rest) = leading_number(trimmed).ok_or_else(|| invalid(name, text))?;
    let suffix = rest.trim();
    if suffix.is_empty() {
        return Ok(number);
    }
    const TIME: &[(&str, f64)] = &[("us", 0.001), ("ms", 1.0), ("s", 1_000.0), ("min", 60_000.0), ("h", 3_600_000.0), ("d", 86_400_000.0)];
    const MEMORY: &[(&str, f64)] =
        &[("B", 1.0), ("kB", 1_024.0), ("MB", 1_048_576.0), ("GB", 1_073_741_824.0), ("TB", 1_099_511_627_776.0)];
    let (units, own, hint) = match unit {
        Unit::None => return Err(invalid(name, text)),
        Unit::Milliseconds => (TIME, 1.0, TIME_HINT),
        Unit::Seconds => (TIME, 1_000.0, TIME_HINT),
        Unit::Minutes => (TIME, 60_000.0, TIME_HINT),
        Unit::Bytes => (MEMORY, 1.0, MEMORY_HINT),
        Unit::Kilobytes => (MEMORY, 1_024.0, MEMORY_HINT),
        Unit::Blocks => (MEMORY, 8_192.0, MEMORY_HINT),
        Unit::Megabytes => (MEMORY, 1_048_576.0, MEMORY_HINT),
    };
    match units.iter().find(|(word, _)| *word == suffix) {
        Some((_, factor)) => Ok(number * factor / own),
        None => Err(invalid(name, text).hint(hint)),
    }
}

const TIME_HINT: &str = "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".";
const MEMORY_HINT: &str = "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".";

/// A number as C reads it (decimal, hexadecimal, octal; fraction and exponent), and what follows.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        let (number, rest) = hex.split_at(end);
        return Some((sign * i64::from_str_radix(number, 16).ok()? as f64, rest));
    }
    let bytes = digits.as_bytes();
    let mut end = bytes.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let digits = bytes.iter().skip(end + 1 + signed).take_while(|b| b.is_ascii_digit()).count();
        if digits > 0 {
            end += 1 + signed + digits;
        }
    }
    let (number, rest) = digits.split_at(end);
    if number.len() > 1 && number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit()) {
        return Some((sign * i64::from_str_radix(number, 8).ok()? as f64, rest));
    }
    Some((sign * number.parse::<f64>().ok()?, rest))
}

/// Whether a name can be that of a custom setting: simple identifiers parted by dots.
#[must_use]
pub fn is_custom_name(name: &str) -> bool {
    name.split('.').count() >= 2
        && name.split('.').all(|part| {
            part.starts_with(|c: char| c.is_alphabetic() || c == '_') && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        })
}

/// The name of a client encoding that is UTF-8, or leaves bytes alone.
///
/// # Errors
/// 22023 for names that are no encodings, 0A000 for encodings that would need a conversion.
pub fn client_encoding(text: &str) -> PgResult<String> {
    let plain: String = text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    match plain.as_str() {
        "utf8" | "unicode" => Ok("UTF8".into()),
        "sqlascii" => Ok("SQL_ASCII".into()),
        known if is_encoding(known) => {
            Err(PgError::unsupported(format!("conversion between {} and UTF8 is not supported", text.to_uppercase()))
                .hint("Use client_encoding UTF8."))
        }
        _ => Err(invalid("client_encoding", text)),
    }
}

fn is_encoding(plain: &str) -> bool {
    let numbered = |prefix: &str| plain.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    numbered("latin")
        || numbered("win")
        || numbered("windows")
        || numbered("iso8859")
        || matches!(
            plain,
            "big5"
                | "euccn"
                | "eucjp"
                | "eucjis2004"
                | "euckr"
                | "euctw"
                | "gb18030"
                | "gbk"
                | "johab"
                | "koi8r"
                | "koi8u"
                | "koi8"
                | "muleinternal"
                | "sjis"
                | "shiftjis"
                | "shiftjis2004"
                | "uhc"
                | "abc"
                | "alt"
                | "tcvn"
                | "vscii"
        )
}

/// The names in a list of identifiers, folded unless quoted; `None` if it is not such a list.
#[must_use]
pub fn split_identifiers(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Some(out);
    }
    loop {
        let name;
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut value = String::new();
            let mut tail = quoted;
            loop {
                let (head, behind) = tail.split_once('"')?;
                value.push_str(head);
                match behind.strip_prefix('"') {
                    Some(more) => {
                        value.push('"');
                        tail = more;
                    }
                    None => {
                        tail = behind;
                        break;
                    }
                }
            }
            name = value;
            rest = tail.trim_start();
        } else {
            let end = rest.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(rest.len());
            let (word, tail) = rest.split_at(end);
            if word.is_empty() {
                return None;
            }
            name = word.to_lowercase();
            rest = tail.trim_start();
        }
        out.push(name);
        match rest.strip_prefix(',') {
            Some(tail) => rest = tail.trim_start(),
            None if rest.is_empty() => return Some(out),
            None => return None,
        }
    }
}

/// The truth that an option says, by itself or with a word.
///
/// # Errors
/// 42601 for another value.
pub fn boolean(option: &NamedOption) -> PgResult<bool> {
    let text = match &option.value {
        None => return Ok(true),
        Some(OptionValue::Word(text) | OptionValue::Text(text) | OptionValue::Number(text)) => text.as_str(),
        Some(_) => "",
    };
    match parse_bool(text).filter(|_| matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "on" | "off" | "1" | "0")) {
        Some(value) => Ok(value),
        None => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("{} requires a Boolean value", option.name))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn lists_of_identifiers() {
        assert_eq!(split_identifiers("\"$user\", Public,\"a\"\"b\""), Some(vec!["$user".into(), "public".into(), "a\"b".into()]));
        assert_eq!(split_identifiers(""), Some(vec![]));
        assert_eq!(split_identifiers("\"\""), Some(vec![String::new()]));
        assert_eq!(split_identifiers("a,"), None);
        assert_eq!(split_identifiers("a b"), None);
        assert_eq!(split_identifiers("\"a"), None);
    }

    #[test]
    fn booleans_by_prefix() {
        for (text, value) in [("t", Some(true)), ("YE", Some(true)), ("of", Some(false)), ("o", None), ("", None), ("n", Some(false))] {
            assert_eq!(parse_bool(text), value, "{text}");
        }
    }
}
