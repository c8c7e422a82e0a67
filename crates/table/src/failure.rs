//! Failures of stores and of concurrency, as users see them.

use stoa_pg::PgError;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::values::datetime::calendar::TIMESTAMP_INFINITY;
use stoa_pg::values::datetime::epoch::from_unix_micros;
use stoa_pg::values::datetime::text::push_timestamp_xsd;
use stoa_store::{Certainty, StoreError, Timestamp};

/// Never sent to a client: a code outside the classes of the standard and of PostgreSQL.
const RETRY_STATE: SqlState = SqlState(*b"ZZR01");
/// Nor this one.
const DEFINITION_RETRY_STATE: SqlState = SqlState(*b"ZZR02");

/// What to do about 53100.
pub const DISK_FULL_HINT: &str = "Free space on the disk of the data directory; writes go on by themselves then.";

/// The signal that a READ COMMITTED statement met a row changed behind its snapshot: throw away what it wrote, take a new
/// snapshot, run it again. Planning and execution pass it up like an error; [`is_statement_retry`] finds it.
#[must_use]
pub fn statement_retry() -> PgError {
    PgError::new(RETRY_STATE, "a row was changed behind the statement's snapshot")
}

#[must_use]
pub fn is_statement_retry(error: &PgError) -> bool {
    error.code() == RETRY_STATE
}

/// The signal that others changed the catalog before a definition had the locks that it needs, and before it did anything: it is to begin
/// again, with what names stand for now. [`is_definition_retry`] finds it.
#[must_use]
pub fn definition_retry() -> PgError {
    PgError::new(DEFINITION_RETRY_STATE, "the catalog was changed while a lock was waited for")
}

#[must_use]
pub fn is_definition_retry(error: &PgError) -> bool {
    error.code() == DEFINITION_RETRY_STATE
}

/// 40001, as PostgreSQL words it for a row that another transaction changed.
#[must_use]
pub fn concurrent_update() -> PgError {
    PgError::new(SqlState::SERIALIZATION_FAILURE, "could not serialize access due to concurrent update")
}

/// 72000: the past of some rows is asked for as of a time before they are known.
#[must_use]
pub fn unknown_past(table: &str, known_since: Timestamp) -> PgError {
    let known = i64::try_from(known_since.micros()).ok().and_then(from_unix_micros);
    let mut text = Vec::new();
    push_timestamp_xsd(&mut text, known.unwrap_or(TIMESTAMP_INFINITY), None);
    too_old().detail(format!("Rows of table \"{table}\" are known since {} UTC only.", String::from_utf8_lossy(&text)))
}

fn too_old() -> PgError {
    PgError::new(SqlState(*b"72000"), "snapshot too old")
        .detail("The requested time is before what the table's families keep.")
        .hint("ALTER TABLE … ALTER FAMILY … WITH (versions = …) keeps more from now on; /*+ FULL(table) */ reads no index.")
}

/// What a store's failure means to the user.
#[must_use]
pub fn store_error(error: StoreError) -> PgError {
    match error {
        StoreError::Conflict => concurrent_update(),
        StoreError::Unsupported(message) => PgError::unsupported(message)
            .hint("Rows of tables that other programs own are read, and written by transactions that write nothing else."),
        StoreError::TooLarge { .. } => PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, error.to_string()),
        StoreError::SnapshotTooOld => too_old(),
        StoreError::Unavailable(_) => PgError::new(SqlState::CANNOT_CONNECT_NOW, error.to_string()),
        StoreError::DiskFull(_) => PgError::new(SqlState::DISK_FULL, error.to_string()).hint(DISK_FULL_HINT),
        StoreError::Corruption(_) => PgError::new(SqlState::DATA_CORRUPTED, error.to_string()),
        StoreError::Io { certainty: Certainty::Unknown, .. } => {
            PgError::new(SqlState(*b"08007"), error.to_string()).detail("It is not known whether the transaction was committed.")
        }
        StoreError::Io { .. } => PgError::new(SqlState::IO_ERROR, error.to_string()),
        StoreError::NoSuchTable(_) | StoreError::TableExists(_) | StoreError::Invalid(_) | StoreError::Locked(_) => {
            PgError::internal(error.to_string())
        }
    }
}
