//! What commands find in their arguments.

use super::ruby::Value;
use stoa_pg::PgError;

/// Why a command was not done: what stands behind `ERROR:`.
#[derive(Debug)]
pub enum Failure {
    Message(String),
    Io(std::io::Error),
    /// Not done before this is answered with y: the next line is the answer.
    Asks(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Io(error)
    }
}

impl From<PgError> for Failure {
    fn from(error: PgError) -> Self {
        let more = [error.fields().detail.clone(), error.fields().hint.clone()];
        let more: String = more.into_iter().flatten().map(|text| format!(" {text}")).collect();
        Failure::Message(if more.is_empty() { error.message().to_owned() } else { format!("{}.{more}", error.message()) })
    }
}

pub fn failure<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Message(message.into()))
}

/// A table's name, with its namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableName {
    pub namespace: String,
    pub name: String,
}

impl TableName {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let (namespace, name) = text.split_once(':').unwrap_or((stoa_engine::raw::DEFAULT_NAMESPACE, text));
        let legal = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !legal(namespace) || !legal(name) || name.starts_with(['.', '-']) {
            return failure(format!("Illegal table name: {text}"));
        }
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// As HBase writes it: without the default namespace.
    pub fn shown(&self) -> String {
        if self.namespace == stoa_engine::raw::DEFAULT_NAMESPACE { self.name.clone() } else { format!("{}:{}", self.namespace, self.name) }
    }

    /// As SQL writes it.
    pub fn sql(&self) -> String {
        format!("{}.{}", quoted(stoa_engine::raw::schema_of(&self.namespace)), quoted(&self.name))
    }
}

/// A name of SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text of SQL.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Bytes as a literal of SQL.
pub fn bytes_literal(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    format!("'\\x{hex}'")
}

impl Value {
    /// Text, or what stands for one.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Value::Text(bytes) => Some(bytes.clone()),
            Value::Int(n) => Some(n.to_string().into_bytes()),
            Value::Float(n) => Some(n.to_string().into_bytes()),
            Value::Bool(b) => Some(b.to_string().into_bytes()),
            Value::Name(name) => Some(name.clone().into_bytes()),
            Value::Nil | Value::List(_) | Value::Hash(_) => None,
        }
    }

    pub fn text(&self) -> Option<String> {
        String::from_utf8(self.bytes()?).ok()
    }

    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int(n) => Some(*n),
            Value::Text(bytes) => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    pub fn bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            Value::Text(bytes) => match bytes.to_ascii_lowercase().as_slice() {
                b"true" => Some(true),
                b"false" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The arguments of a command: those by position, and options.
pub struct Arguments {
    pub plain: Vec<Value>,
    pub options: Vec<(String, Value)>,
}

impl Arguments {
    /// Between so many arguments without options, which the last one has.
    pub fn new(given: &[Value], least: usize, most: usize) -> Result<Self, Failure> {
        let (plain, options) = match given.split_last() {
            Some((Value::Hash(options), plain)) => (plain.to_vec(), options.clone()),
            _ => (given.to_vec(), Vec::new()),
        };
        check_count(plain.len(), least, most)?;
        Ok(Self { plain, options })
    }

    pub fn bytes(&self, at: usize, what: &str) -> Result<Vec<u8>, Failure> {
        match self.plain.get(at).and_then(Value::bytes) {
            Some(bytes) => Ok(bytes),
            None => failure(format!("{what} must be a String")),
        }
    }

    /// Takes an option away.
    pub fn take(&mut self, names: &[&str]) -> Option<Value> {
        let at = self.options.iter().position(|(name, _)| names.contains(&name.as_str()))?;
        Some(self.options.remove(at).1)
    }

    pub fn take_int(&mut self, name: &str) -> Result<Option<i64>, Failure> {
        match self.take(&[name]) {
            None => Ok(None),
            Some(value) => match value.int() {
                Some(n) => Ok(Some(n)),
                None => failure(format!("{name} must be a number")),
            },
        }
    }

    /// An error for options that nobody took.
    pub fn finish(self) -> Result<(), Failure> {
        match self.options.first() {
            None => Ok(()),
            Some((name, _)) => failure(format!("Option {name} is not supported here")),
        }
    }
}

pub fn check_count(given: usize, least: usize, most: usize) -> Result<(), Failure> {
    if (least..=most).contains(&given) {
        return Ok(());
    }
    let expected = match (least, most) {
        (least, most) if least == most => least.to_string(),
        (least, usize::MAX) => format!("{least}+"),
        (least, most) => format!("{least}..{most}"),
    };
    failure(format!("wrong number of arguments (given {given}, expected {expected})"))
}

/// `family:qualifier`, and a converter behind another colon.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    pub family: String,
    pub qualifier: Option<Vec<u8>>,
    pub converter: Option<String>,
}

impl Column {
    pub fn parse(text: &[u8]) -> Result<Self, Failure> {
        let colon = |text: &[u8]| text.iter().position(|b| *b == b':');
        let Some(at) = colon(text) else { return Ok(Self { family: name(text)?, qualifier: None, converter: None }) };
        let family = name(text.get(..at).unwrap_or_default())?;
        let rest = text.get(at + 1..).unwrap_or_default();
        // A converter is the name of a method, which leaves qualifiers with colons in them.
        if let Some(at) = rest.iter().rposition(|b| *b == b':')
            && let Ok(converter) = std::str::from_utf8(rest.get(at + 1..).unwrap_or_default())
            && (converter.starts_with("to") || converter.starts_with("c("))
        {
            let qualifier = rest.get(..at).unwrap_or_default().to_vec();
            let method = converter.rsplit_once(").").map_or(converter, |(_, method)| method);
            return Ok(Self { family, qualifier: Some(qualifier), converter: Some(method.to_owned()) });
        }
        Ok(Self { family, qualifier: Some(rest.to_vec()), converter: None })
    }
}

fn name(bytes: &[u8]) -> Result<String, Failure> {
    match std::str::from_utf8(bytes) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => failure("A family's name is text"),
    }
}
