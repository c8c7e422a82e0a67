//! What goes wrong, and what is to be done about it.
//!
//! [`Error`] is what callers see. [`Class`] is what [`crate::call`] makes of an exception: HBase tells by the name of a class what happened,
//! and the table here says which of them mean another place, another moment, another connection or another scanner.

use crate::messages::rpc::{ExceptionResponse, NameBytesPair};
use crate::names::{ServerName, TableName};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The longest text of an exception that is kept, in bytes.
const LONGEST_MESSAGE: usize = 2_000;

/// Why a call has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A server answered with an exception that no retry helps, or the last one before the deadline.
    #[error("{0}")]
    Exception(Arc<Exception>),
    /// The call's deadline is over. `last` is what the last try met, if it met anything.
    #[error("{what}: no answer within {} ms{}", waited.as_millis(), last.as_ref().map(|e| format!("; last: {e}")).unwrap_or_default())]
    Deadline { what: String, waited: Duration, last: Option<Box<Error>> },
    /// A mutation may have been carried out or not, perhaps later still: a server was asked and did not say.
    #[error("it is not known whether it was carried out: {cause}")]
    Unknown { cause: Box<Error> },
    /// A connection could not be made, or ended. With `sent` false the call did not leave this process.
    #[error("connection to {server}: {reason}")]
    Connection { server: String, reason: String, sent: bool },
    /// A server answered something that the protocol does not allow, or that was not asked for.
    #[error("protocol: {0}")]
    Protocol(String),
    /// An answer, a row or a request is larger than the limit that [`crate::ClientConfig`] sets. Sizes in bytes.
    #[error("{what} of {size} bytes is over the limit of {limit}")]
    TooLarge { what: String, size: u64, limit: u64 },
    #[error("table {0} does not exist")]
    TableNotFound(TableName),
    #[error("table {0} is disabled")]
    TableDisabled(TableName),
    /// hbase:meta names no region for a key, though it names some for the table.
    #[error("table {table} has no region for the key {key:?}")]
    RegionHole { table: TableName, key: bytes::Bytes },
    /// A region is on no server at the moment.
    #[error("region {region} is not served: {reason}")]
    RegionUnavailable { region: String, reason: String },
    /// Neither ZooKeeper nor a server said where hbase:meta or the master is.
    #[error("registry: {0}")]
    Registry(String),
    /// What this client does not do.
    #[error("{0}")]
    Unsupported(String),
    /// The request makes no sense.
    #[error("{0}")]
    Argument(String),
    /// The client has been closed.
    #[error("the client is closed")]
    Closed,
}

impl Error {
    /// The exception of a server, if that is what it is.
    #[must_use]
    pub fn exception(&self) -> Option<&Exception> {
        match self {
            Error::Exception(exception) => Some(exception),
            Error::Unknown { cause } => cause.exception(),
            Error::Deadline { last: Some(last), .. } => last.exception(),
            _ => None,
        }
    }

    /// Whether an exception of this class (its last word, as `NoSuchColumnFamilyException`) is behind it.
    #[must_use]
    pub fn is_exception(&self, class: &str) -> bool {
        self.exception().is_some_and(|exception| exception.name() == class)
    }

    /// Whether the deadline ended it.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        match self {
            Error::Deadline { .. } => true,
            Error::Unknown { cause } => cause.is_deadline(),
            _ => false,
        }
    }

    /// Whether a mutation that ended so may have been carried out all the same.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Error::Unknown { .. })
    }

    /// Whether the server may have done what it was asked, though this was the answer.
    pub(crate) fn leaves_unknown(&self) -> bool {
        match self {
            Error::Connection { sent, .. } => *sent,
            // A try without an answer; what was answered in nonsense.
            Error::Deadline { .. } | Error::Protocol(_) | Error::TooLarge { .. } | Error::Unknown { .. } => true,
            Error::Exception(exception) => exception.leaves_unknown(),
            _ => false,
        }
    }

    /// What to do about it.
    pub(crate) fn class(&self) -> Class {
        match self {
            Error::Exception(exception) => exception.class(),
            Error::Connection { .. } | Error::Deadline { .. } => Class::NewConnection,
            Error::RegionUnavailable { .. } | Error::Registry(_) | Error::RegionHole { .. } => Class::LookUp { moved_to: None },
            _ => Class::Final,
        }
    }
}

/// What a retry has to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Class {
    /// The region is elsewhere.
    LookUp { moved_to: Option<ServerName> },
    /// The same place, later; not before this pause, if the server asks for one.
    Later { pause: Option<Duration> },
    /// The same place, at once: it did only a part.
    AtOnce,
    /// Another connection, and whether the region is still there is to be looked up.
    NewConnection,
    /// The scanner is gone; its region need not be.
    Reopen,
    /// No retry helps.
    Final,
}

/// An exception as a server sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// The whole name of its Java class.
    pub class: String,
    /// Its message, without the stack.
    pub message: String,
    /// Whether it was sent as one that no retry helps; `None` where the protocol has no place for that.
    pub do_not_retry: Option<bool>,
    /// Whether the server said that it is overloaded.
    pub overloaded: bool,
    /// Where the region went, if the exception says.
    pub moved_to: Option<ServerName>,
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

impl Exception {
    pub(crate) fn from_response(response: &ExceptionResponse) -> Exception {
        let class = response.exception_class_name.clone().unwrap_or_else(|| "unknown".to_owned());
        let message = message_of(&class, response.stack_trace.as_deref().unwrap_or_default());
        let moved_to = match (&response.hostname, response.port) {
            (Some(host), Some(port)) => u16::try_from(port).ok().filter(|port| *port != 0).map(|port| ServerName::at(host, port)),
            _ => None,
        };
        let moved_to = moved_to.or_else(|| moved_in_text(&class, &message));
        Exception { class, message, do_not_retry: response.do_not_retry, overloaded: response.server_overloaded.unwrap_or(false), moved_to }
    }

    /// From a result of a `multi`, which names the class and gives the text.
    pub(crate) fn from_pair(pair: &NameBytesPair) -> Exception {
        let message = message_of(&pair.name, pair.value.as_deref().unwrap_or_default());
        let moved_to = moved_in_text(&pair.name, &message);
        let overloaded = matches!(last_word(&pair.name), "CallQueueTooBigException" | "CallDroppedException");
        Exception { class: pair.name.clone(), message, do_not_retry: None, overloaded, moved_to }
    }

    /// The last word of the class, as `RegionMovedException`.
    #[must_use]
    pub fn name(&self) -> &str {
        last_word(&self.class)
    }

    pub(crate) fn class(&self) -> Class {
        match self.name() {
            "RegionMovedException" => Class::LookUp { moved_to: self.moved_to.clone() },
            "NotServingRegionException" | "UnknownRegionException" | "WrongRegionException" | "RegionOfflineException" => {
                Class::LookUp { moved_to: None }
            }
            "RegionTooBusyException"
            | "CallQueueTooBigException"
            | "CallDroppedException"
            | "RegionOpeningException"
            | "PleaseHoldException"
            | "RegionInRecoveryException"
            | "FailedSyncBeforeLogCloseException"
            | "NonceOperationConflictException" => Class::Later { pause: None },
            "RpcThrottlingException" => Class::Later { pause: throttled_for(&self.message) },
            "MultiActionResultTooLarge" | "RetryImmediatelyException" => Class::AtOnce,
            "ServerNotRunningYetException"
            | "RegionServerStoppedException"
            | "RegionServerAbortedException"
            | "MasterNotRunningException"
            | "NotActiveMasterException"
            | "MasterStoppedException"
            | "FatalConnectionException"
            | "ConnectionClosingException"
            | "ConnectionClosedException" => Class::NewConnection,
            "UnknownScannerException" | "LeaseException" | "ScannerResetException" | "OutOfOrderScannerNextException" => Class::Reopen,
            "DoNotRetryIOException"
            | "NoSuchColumnFamilyException"
            | "TableNotFoundException"
            | "TableExistsException"
            | "AccessDeniedException"
            | "UnsupportedOperationException"
            | "IllegalArgumentException"
            | "QuotaExceededException"
            | "FailedSanityCheckException"
            | "ClassNotFoundException"
            | "CorruptedSnapshotException" => Class::Final,
            // What we do not know goes by what the server says; where it cannot say, the deadline bounds it.
            _ if self.do_not_retry == Some(true) => Class::Final,
            name if name.starts_with("NullPointer") || name.starts_with("ArrayIndexOutOf") => Class::Final,
            _ => Class::Later { pause: None },
        }
    }

    /// Exceptions that are raised before anything is done leave nothing unknown; others may come from the middle of the work.
    fn leaves_unknown(&self) -> bool {
        match self.class() {
            Class::LookUp { .. } | Class::AtOnce | Class::Reopen | Class::NewConnection => {
                // A server that aborts may have written to its log before.
                matches!(self.name(), "RegionServerAbortedException" | "RegionServerStoppedException")
            }
            Class::Final => false,
            Class::Later { .. } => !matches!(
                self.name(),
                "RegionTooBusyException"
                    | "CallQueueTooBigException"
                    | "CallDroppedException"
                    | "RegionOpeningException"
                    | "PleaseHoldException"
                    | "RpcThrottlingException"
            ),
        }
    }
}

impl From<Exception> for Error {
    fn from(exception: Exception) -> Error {
        Error::Exception(Arc::new(exception))
    }
}

fn last_word(class: &str) -> &str {
    class.rsplit(['.', '$']).next().unwrap_or(class)
}

/// The first line of a stack trace, without the class that it begins with.
fn message_of(class: &str, text: &[u8]) -> String {
    let text = &text[..text.len().min(LONGEST_MESSAGE)];
    let text = String::from_utf8_lossy(text);
    let first: &str = text.split("\n\tat ").next().unwrap_or_default();
    let first = first.strip_prefix(class).map_or(first, |rest| rest.trim_start_matches(':'));
    first.trim().to_owned()
}

/// `Region moved to: hostname=h port=1 startCode=2. As of locationSeqNum=3.`
fn moved_in_text(class: &str, message: &str) -> Option<ServerName> {
    if last_word(class) != "RegionMovedException" {
        return None;
    }
    let after = |name: &str| message.split_once(name).map(|(_, rest)| rest);
    let host = after("hostname=")?.split_whitespace().next()?;
    let port: String = after("port=")?.chars().take_while(char::is_ascii_digit).collect();
    let start: String = after("startCode=").unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    let port = port.parse().ok().filter(|port| *port != 0)?;
    Some(ServerName { start_code: start.parse().unwrap_or(0), ..ServerName::at(host, port) })
}

/// `… - wait 1mins, 2sec, 30ms`: the time that a quota asks for.
fn throttled_for(message: &str) -> Option<Duration> {
    let (_, text) = message.rsplit_once("wait ")?;
    let (mut total, mut number, mut any) = (0_u64, None::<u64>, false);
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        if let Some(digit) = c.to_digit(10) {
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(u64::from(digit)));
            rest = &rest[1..];
        } else if c.is_ascii_alphabetic() {
            let unit: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
            let factor = match unit.as_str() {
                "ms" => 1,
                "sec" | "secs" => 1_000,
                "min" | "mins" => 60_000,
                "hrs" | "hr" => 3_600_000,
                _ => break,
            };
            total = total.saturating_add(number.take()?.saturating_mul(factor));
            any = true;
            rest = &rest[unit.len()..];
        } else if c == ',' || c == ' ' {
            rest = &rest[1..];
        } else {
            break;
        }
    }
    any.then(|| Duration::from_millis(total))
}

#[cfg(test)]
mod tests {
    use super::{Class, Exception, throttled_for};
    use crate::messages::rpc::{ExceptionResponse, NameBytesPair};
    use crate::names::ServerName;
    use std::time::Duration;

    fn exception(class: &str, text: &str) -> Exception {
        Exception::from_pair(&NameBytesPair { name: class.to_owned(), value: Some(text.to_owned().into()) })
    }

    #[test]
    fn a_region_that_moved_says_where() {
        let text = "org.apache.hadoop.hbase.exceptions.RegionMovedException: Region moved to: hostname=rs2 port=16020 startCode=17. As of \
                    locationSeqNum=4.\n\tat org.apache.hadoop.hbase.regionserver.HRegionServer.getRegionByEncodedName(HRegionServer.java:1)";
        let moved = exception("org.apache.hadoop.hbase.exceptions.RegionMovedException", text);
        let to = ServerName { start_code: 17, ..ServerName::at("rs2", 16020) };
        assert_eq!(moved.class(), Class::LookUp { moved_to: Some(to) });
        assert!(moved.message.ends_with("locationSeqNum=4."), "{}", moved.message);
        let fields = ExceptionResponse {
            exception_class_name: Some("org.apache.hadoop.hbase.exceptions.RegionMovedException".to_owned()),
            hostname: Some("rs3".to_owned()),
            port: Some(1),
            ..ExceptionResponse::default()
        };
        assert_eq!(Exception::from_response(&fields).class(), Class::LookUp { moved_to: Some(ServerName::at("rs3", 1)) });
    }

    #[test]
    fn classes_say_what_a_retry_changes() {
        for (name, class) in [
            ("org.apache.hadoop.hbase.NotServingRegionException", Class::LookUp { moved_to: None }),
            ("org.apache.hadoop.hbase.RegionTooBusyException", Class::Later { pause: None }),
            ("org.apache.hadoop.hbase.CallQueueTooBigException", Class::Later { pause: None }),
            ("org.apache.hadoop.hbase.ipc.ServerNotRunningYetException", Class::NewConnection),
            ("org.apache.hadoop.hbase.regionserver.RegionServerAbortedException", Class::NewConnection),
            ("org.apache.hadoop.hbase.UnknownScannerException", Class::Reopen),
            ("org.apache.hadoop.hbase.exceptions.ScannerResetException", Class::Reopen),
            ("org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException", Class::Final),
            ("org.apache.hadoop.hbase.security.AccessDeniedException", Class::Final),
            ("java.io.IOException", Class::Later { pause: None }),
        ] {
            assert_eq!(exception(name, "").class(), class, "{name}");
        }
        let unknown = |flag| Exception { do_not_retry: Some(flag), ..exception("org.example.Odd", "") };
        assert_eq!(unknown(true).class(), Class::Final);
        assert_eq!(unknown(false).class(), Class::Later { pause: None });
    }

    #[test]
    fn a_quota_says_how_long() {
        assert_eq!(throttled_for("number of requests exceeded - wait 250ms"), Some(Duration::from_millis(250)));
        assert_eq!(throttled_for("x - wait 1mins, 2sec, 5ms"), Some(Duration::from_millis(62_005)));
        assert_eq!(throttled_for("x - wait 2sec"), Some(Duration::from_secs(2)));
        for none in ["", "wait", "wait ", "wait x", "wait 5", "wait 5parsecs"] {
            assert_eq!(throttled_for(none), None, "{none:?}");
        }
    }
}
