//! Functions on large objects, called for one row: who may, which object is open under which number, where it stands.
//!
//! What is read and written, and what a transaction keeps open, is [`stoa_table::txn::large_object`]'s.

use datafusion::common::ScalarValue;
use stoa_exec::environment::SessionEnvironment;
use stoa_exec::environment::waiting;
use stoa_pg::memory::{self, SMALL_BYTES};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::privileges::{denied, not_owner};
use stoa_table::catalog::large_object::MAX_LARGE_OBJECT_BYTES;
use stoa_table::catalog::store::LARGE_OBJECT_RELATION;
use stoa_table::catalog::{LargeObject, Oid, Privileges};
use stoa_table::txn::ReadView;
use stoa_table::txn::large_object::{OpenObject, undefined_large_object};

/// Bits of the mode of `lo_open`.
const WRITE: i64 = 0x0002_0000;
const READ: i64 = 0x0004_0000;
/// The bytes that a value has at most, with four for its length.
const MAX_VALUE_BYTES: i64 = 0x3fff_ffff - 4;

/// The function's value; `None` for functions that are not about large objects.
pub(super) fn call(system: &SessionEnvironment, function: &str, args: &[ScalarValue]) -> Option<PgResult<ScalarValue>> {
    let work = Work { system, args };
    let is_about_one = match function {
        "obj_description" => work.text(1) == Some("pg_largeobject"),
        "pg_describe_object" => work.oid(0) == LARGE_OBJECT_RELATION,
        function => function.starts_with("lo_") || matches!(function, "loread" | "lowrite"),
    };
    is_about_one.then(|| {
        // Others are waited for before: a lock may take its time.
        let locked_now = work.lock(function)?;
        waiting::answer(&system.session, async {
            let _turn = system.txn.large_object_turn().await;
            work.answer(function, locked_now).await
        })
    })
}

fn invalid(message: String) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn int4(value: usize) -> ScalarValue {
    ScalarValue::Int32(i32::try_from(value).ok())
}

/// A call.
struct Work<'a> {
    system: &'a SessionEnvironment,
    args: &'a [ScalarValue],
}

impl Work<'_> {
    fn int(&self, at: usize) -> i64 {
        match self.args.get(at) {
            Some(ScalarValue::Int32(Some(value))) => i64::from(*value),
            Some(ScalarValue::Int64(Some(value))) => *value,
            Some(ScalarValue::UInt32(Some(value))) => i64::from(*value),
            _ => 0,
        }
    }

    fn oid(&self, at: usize) -> Oid {
        Oid::try_from(self.int(at)).unwrap_or(0)
    }

    fn text(&self, at: usize) -> Option<&str> {
        self.args.get(at)?.try_as_str().flatten()
    }

    fn bytes(&self, at: usize) -> &[u8] {
        match self.args.get(at) {
            Some(ScalarValue::BinaryView(Some(bytes)) | ScalarValue::Binary(Some(bytes)) | ScalarValue::LargeBinary(Some(bytes))) => bytes,
            _ => &[],
        }
    }

    fn database(&self) -> Oid {
        self.system.txn.transactions().database()
    }

    /// Locks the object that a function will write; whether it was not locked before.
    fn lock(&self, function: &str) -> PgResult<bool> {
        let oid = match function {
            "lo_create" | "lo_from_bytea" | "lo_unlink" | "lo_put" => self.oid(0),
            "lowrite" | "lo_truncate" | "lo_truncate64" => match self.opened(0) {
                Ok((_, OpenObject { oid, view: None, .. })) => oid,
                // What is wrong is reported below.
                _ => return Ok(false),
            },
            _ => return Ok(false),
        };
        let txn = &self.system.txn;
        if oid == 0 {
            return Ok(false);
        }
        if let Some(new) = txn.try_lock_large_object(oid) {
            return Ok(new);
        }
        waiting::others(&self.system.session, txn.lock_large_object(oid), || txn.try_lock_large_object(oid).is_some())?;
        Ok(true)
    }

    async fn answer(&self, function: &str, locked_now: bool) -> PgResult<ScalarValue> {
        let txn = &self.system.txn;
        Ok(match function {
            "lo_creat" => ScalarValue::UInt32(Some(self.create(0).await?)),
            "lo_create" => ScalarValue::UInt32(Some(self.create(self.oid(0)).await?)),
            "lo_from_bytea" => {
                let oid = self.create(self.oid(0)).await?;
                txn.write_large_object(oid, 0, self.bytes(1)).await?;
                ScalarValue::UInt32(Some(oid))
            }
            "lo_unlink" => {
                let oid = self.oid(0);
                let object = txn.newest_view().large_object(self.database(), oid).await?.ok_or_else(|| undefined_large_object(oid))?;
                if !self.is_lenient() && !object.is_owned_by(self.system.catalog.authority(), self.system.role) {
                    return Err(not_owner("large object", &oid.to_string()));
                }
                txn.remove_large_object(oid).await?;
                int4(1)
            }
            "lo_get" => self.get().await?,
            "lo_put" => {
                let (oid, offset) = (self.oid(0), self.int(1));
                self.known(&txn.newest_view(), oid, &[Privileges::SELECT, Privileges::UPDATE]).await?;
                txn.write_large_object(oid, target(offset)?, self.bytes(2)).await?;
                ScalarValue::Null
            }
            "lo_open" => self.open().await?,
            "lo_import" | "lo_export" => {
                let hint = if function == "lo_import" {
                    "psql's \\lo_import reads files of the client, and lo_from_bytea and lo_put take what programs send."
                } else {
                    "psql's \\lo_export writes files of the client, and lo_get gives programs what is there."
                };
                return Err(PgError::unsupported(format!("{function} of files of the server is not supported")).hint(hint));
            }
            "obj_description" => {
                let object = txn.read_view().large_object(self.database(), self.oid(0)).await?;
                ScalarValue::Utf8View(object.and_then(|object| object.comment))
            }
            "pg_describe_object" => {
                let object = txn.read_view().large_object(self.database(), self.oid(1)).await?;
                ScalarValue::Utf8View(object.map(|_| format!("large object {}", self.oid(1))))
            }
            _ => self.with_open(function, locked_now).await?,
        })
    }

    /// `lo_compat_privileges`: nothing is asked of who looks at an object.
    fn is_lenient(&self) -> bool {
        self.system.session.settings().raw("lo_compat_privileges") == Some("on")
    }

    /// An object of which a role has these privileges.
    async fn known(&self, view: &ReadView, oid: Oid, wanted: &[Privileges]) -> PgResult<LargeObject> {
        let object = view.large_object(self.database(), oid).await?.ok_or_else(|| undefined_large_object(oid))?;
        let allows = |one: &Privileges| object.allows(self.system.catalog.authority(), self.system.role, *one);
        if self.is_lenient() || wanted.iter().all(allows) { Ok(object) } else { Err(denied("large object", &oid.to_string())) }
    }

    /// Makes an object of the current role; 0: under a number that is free.
    async fn create(&self, wanted: Oid) -> PgResult<Oid> {
        let txn = &self.system.txn;
        let mut oid = wanted;
        loop {
            if wanted == 0 {
                let numbers = self.system.catalog.numbers().ok_or_else(|| PgError::internal("a catalog without a store"))?;
                oid = numbers.next_id().await?;
                // Somebody may have chosen this number, and be about to make the object.
                if txn.try_lock_large_object(oid).is_none() {
                    continue;
                }
            }
            if txn.newest_view().large_object(self.database(), oid).await?.is_none() {
                break;
            }
            if wanted != 0 {
                let mut error = PgError::new(
                    SqlState::UNIQUE_VIOLATION,
                    "duplicate key value violates unique constraint \"pg_largeobject_metadata_oid_index\"",
                )
                .detail(format!("Key (oid)=({oid}) already exists."));
                let fields = error.fields_mut();
                fields.schema = Some("pg_catalog".into());
                fields.table = Some("pg_largeobject_metadata".into());
                fields.constraint = Some("pg_largeobject_metadata_oid_index".into());
                return Err(error);
            }
        }
        txn.put_large_object(oid, &LargeObject::of(self.system.role)).await?;
        Ok(oid)
    }

    async fn get(&self) -> PgResult<ScalarValue> {
        let (view, oid) = (self.system.txn.read_view(), self.oid(0));
        let (offset, length) = if self.args.len() > 1 { (self.int(1), Some(self.int(2))) } else { (0, None) };
        if length.is_some_and(|length| length < 0) {
            return Err(invalid("requested length cannot be negative".into()));
        }
        self.known(&view, oid, &[Privileges::SELECT]).await?;
        let left = view.large_object_bytes(self.database(), oid).await?.saturating_sub(target(offset)?).max(0);
        let length = length.map_or(left, |length| length.min(left));
        if length > MAX_VALUE_BYTES {
            return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "large object read request is too large"));
        }
        Ok(ScalarValue::BinaryView(Some(self.read(&view, oid, offset, length).await?)))
    }

    async fn read(&self, view: &ReadView, oid: Oid, offset: i64, length: i64) -> PgResult<Vec<u8>> {
        let length = usize::try_from(length).unwrap_or(0);
        if length >= SMALL_BYTES {
            memory::process().claim(length)?;
        }
        view.read_large_object(self.database(), oid, offset, length).await
    }

    // Open objects.

    async fn open(&self) -> PgResult<ScalarValue> {
        let (txn, oid, mode) = (&self.system.txn, self.oid(0), self.int(1));
        let write = mode & WRITE != 0;
        if !write && mode & READ == 0 {
            return Err(invalid(format!("invalid flags for opening a large object: {mode}")));
        }
        // What is open for writing is read, too.
        let (view, wanted): (_, &[Privileges]) =
            if write { (txn.newest_view(), &[Privileges::SELECT, Privileges::UPDATE]) } else { (txn.read_view(), &[Privileges::SELECT]) };
        self.known(&view, oid, wanted).await?;
        Ok(int4(txn.open_large_object(oid, write)))
    }

    /// The open object that an argument is the number of.
    fn opened(&self, at: usize) -> PgResult<(usize, OpenObject)> {
        let asked = self.int(at);
        let found = usize::try_from(asked).ok().and_then(|number| Some((number, self.system.txn.opened_large_object(number)?)));
        found.ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, format!("invalid large-object descriptor: {asked}")))
    }

    async fn with_open(&self, function: &str, locked_now: bool) -> PgResult<ScalarValue> {
        let txn = &self.system.txn;
        let (number, object) = self.opened(0)?;
        let short = |offset: i64| {
            i32::try_from(offset).map(|offset| ScalarValue::Int32(Some(offset))).map_err(|_| {
                let message = format!("{function} result out of range for large-object descriptor {number}");
                PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message)
            })
        };
        let check_writable = || match object.view {
            None => Ok(()),
            Some(_) => {
                let message = format!("large object descriptor {number} was not opened for writing");
                Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message))
            }
        };
        if locked_now && txn.newest_view().large_object(self.database(), object.oid).await?.is_none() {
            // Somebody has removed it since it was opened.
            return Err(undefined_large_object(object.oid));
        }
        match function {
            "lo_close" => {
                txn.close_large_object(number);
                Ok(int4(0))
            }
            "lo_tell" => short(object.offset),
            "lo_tell64" => Ok(ScalarValue::Int64(Some(object.offset))),
            "lo_lseek" | "lo_lseek64" => {
                let offset = self.place(&object).await?;
                let at = if function == "lo_lseek" { short(offset)? } else { ScalarValue::Int64(Some(offset)) };
                txn.seek_large_object(number, offset);
                Ok(at)
            }
            "loread" => {
                let view = object.view.unwrap_or_else(|| txn.newest_view());
                let mut length = self.int(1).max(0);
                if length >= SMALL_BYTES as i64 {
                    let bytes = view.large_object_bytes(self.database(), object.oid).await?;
                    length = length.min(bytes.saturating_sub(object.offset)).clamp(0, MAX_VALUE_BYTES);
                }
                let value = self.read(&view, object.oid, object.offset, length).await?;
                txn.seek_large_object(number, object.offset.saturating_add(i64::try_from(value.len()).unwrap_or(i64::MAX)));
                Ok(ScalarValue::BinaryView(Some(value)))
            }
            "lowrite" => {
                check_writable()?;
                let bytes = self.bytes(1);
                txn.write_large_object(object.oid, object.offset, bytes).await?;
                txn.seek_large_object(number, object.offset.saturating_add(i64::try_from(bytes.len()).unwrap_or(i64::MAX)));
                Ok(int4(bytes.len()))
            }
            "lo_truncate" | "lo_truncate64" => {
                check_writable()?;
                let length = self.int(1);
                if !(0..=MAX_LARGE_OBJECT_BYTES).contains(&length) {
                    return Err(invalid(format!("invalid large object truncation target: {length}")));
                }
                txn.truncate_large_object(object.oid, length).await?;
                Ok(int4(0))
            }
            _ => Err(PgError::unsupported(format!("function {function} is not supported"))),
        }
    }

    /// Where `lo_lseek` goes.
    async fn place(&self, object: &OpenObject) -> PgResult<i64> {
        let from = match self.int(2) {
            0 => 0,
            1 => object.offset,
            2 => {
                let view = object.view.clone().unwrap_or_else(|| self.system.txn.newest_view());
                view.large_object_bytes(self.database(), object.oid).await?
            }
            whence => return Err(invalid(format!("invalid whence setting: {whence}"))),
        };
        target(from.wrapping_add(self.int(1)))
    }
}

/// A place that an object can have.
fn target(offset: i64) -> PgResult<i64> {
    if (0..=MAX_LARGE_OBJECT_BYTES).contains(&offset) {
        Ok(offset)
    } else {
        Err(invalid(format!("invalid large object seek target: {offset}")))
    }
}
