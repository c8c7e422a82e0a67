//! Row keys: parts from columns, salt in front.
//!
//! Invariant: equal values give equal bytes and smaller values smaller bytes (larger for DESC), as SQL orders them.

use super::builder::ColumnBuilder;
use super::key_form::{self, FormValue};
use super::types::{key_is_lossless, sorts_by_key};
use super::{corrupt, unencodable};
use crate::catalog::{ColumnId, Epoch, KeyForm, TableDescriptor};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, StringViewArray, Time64MicrosecondArray, TimestampMicrosecondArray, UInt32Array,
};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType, UInt32Type,
};
use datafusion_common::ScalarValue;
use stoa_encoding::keyside::{self, Direction, KeyLayout, KeyPart, NullOrder, PartKind, SaltBuckets};
use stoa_encoding::valueside::DECIMAL_NAN;
use stoa_pg::types::PgType;
use stoa_pg::{PgError, PgResult, SqlType};

/// The column of parts that hold none's values. Ids count from 1: nobody finds it.
pub const NO_COLUMN: ColumnId = ColumnId(0);

/// One part of a key with the column it holds.
#[derive(Clone, Debug)]
pub struct KeyPartCodec {
    /// The column in the order of whose values keys are; [`NO_COLUMN`] if there is none.
    pub column: ColumnId,
    /// The column that the part is made of.
    pub source: ColumnId,
    pub form: KeyForm,
    /// Of the source.
    pub ty: SqlType,
    pub part: KeyPart,
    /// From when the part's timestamps count.
    pub epoch: Epoch,
}

impl KeyPartCodec {
    /// A part that holds a column in the encoding of its type.
    #[must_use]
    pub fn of_value(column: ColumnId, ty: SqlType, part: KeyPart, epoch: Epoch) -> Self {
        Self { column, source: column, form: KeyForm::Value, ty, part, epoch }
    }

    /// Whether keys are not in the order of the part's column.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        self.column == NO_COLUMN
    }

    /// Whether the part gives its column's values back.
    #[must_use]
    pub fn gives_back(&self) -> bool {
        self.form.gives_back() && key_is_lossless(&self.ty)
    }

    /// Appends the part of one row of its column.
    ///
    /// # Errors
    /// As [`KeyColumn::encode`]; 22003 or 22001 for a value that the part's form does not take.
    #[inline]
    pub fn encode(&self, column: &KeyColumn, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        match self.form {
            KeyForm::Value => column.encode(self.part, row, out),
            form => column.encode_form(form, self.part.direction, row, out),
        }
    }

    /// Reads the part into the column that it holds; returns what follows.
    ///
    /// # Errors
    /// XX001: the bytes are not such a part.
    #[inline]
    pub fn decode<'k>(&self, key: &'k [u8], column: &mut ColumnBuilder, scratch: &mut Vec<u8>) -> PgResult<&'k [u8]> {
        match self.form {
            KeyForm::Value => column.push_key(self.part, key, scratch),
            form => key_form::decode(form, self.part.direction, key, column),
        }
    }

    /// Opens a column whose values are to be stored.
    ///
    /// # Errors
    /// As [`KeyColumn::new`]; a value has no stored form.
    pub fn open(&self, array: &ArrayRef) -> PgResult<KeyColumn> {
        KeyColumn::new(&self.ty, &self.epoch.to_stored(array)?)
    }

    /// Opens a column whose values are looked for: those that have no stored form are NULL.
    ///
    /// # Errors
    /// As [`KeyColumn::new`].
    pub fn open_sought(&self, array: &ArrayRef) -> PgResult<KeyColumn> {
        KeyColumn::new(&self.ty, &self.epoch.to_sought(array)?)
    }

    /// Appends the part of one value that is looked for, tag included; nothing, and false, for NULL and what has no stored form.
    ///
    /// # Errors
    /// As [`KeyColumn::new`] and [`KeyColumn::encode`].
    pub fn encode_sought(&self, value: &ScalarValue, out: &mut Vec<u8>) -> PgResult<bool> {
        if !self.form.is_value() {
            let array = value.to_array_of_size(1).map_err(|e| PgError::internal(e.to_string()))?;
            let column = self.open_sought(&array)?;
            // What does not fit is in no key.
            return Ok(!column.is_null(0) && self.encode(&column, 0, out).is_ok());
        }
        let direction = self.part.direction;
        let from = out.len();
        if self.part.nulls.is_some() {
            keyside::encode_present(out, direction);
        }
        // The most common types, without an array.
        match (value, &self.ty.arrow) {
            (ScalarValue::Int16(Some(n)), DataType::Int16) => keyside::encode_i16(out, *n, direction),
            (ScalarValue::Int32(Some(n)), DataType::Int32) => keyside::encode_i32(out, *n, direction),
            (ScalarValue::Int64(Some(n)), DataType::Int64) => keyside::encode_i64(out, *n, direction),
            (ScalarValue::Utf8View(Some(text)), DataType::Utf8View) if !sorts_by_key(&self.ty) => {
                keyside::encode_bytes(out, text.as_bytes(), direction);
            }
            _ => {
                out.truncate(from);
                let array = value.to_array_of_size(1).map_err(|e| PgError::internal(e.to_string()))?;
                let column = self.open_sought(&array)?;
                if column.is_null(0) {
                    return Ok(false);
                }
                column.encode(self.part, 0, out)?;
            }
        }
        Ok(true)
    }
}

/// Which parts the salt's hash covers, and over how many buckets.
#[derive(Clone, Debug)]
pub struct SaltCodec {
    pub buckets: SaltBuckets,
    /// Positions of parts, in the order in which they are hashed.
    pub parts: Vec<usize>,
}

/// How the row keys of a table are made.
#[derive(Clone, Debug)]
pub struct KeyCodec {
    pub parts: Vec<KeyPartCodec>,
    /// The columns that the parts are made of, each once: [`TableDescriptor::key_columns`].
    pub columns: Vec<ColumnId>,
    pub layout: KeyLayout,
    pub salt: Option<SaltCodec>,
}

impl KeyCodec {
    /// # Errors
    /// A key column does not exist or has a type without an order.
    pub fn new(table: &TableDescriptor) -> PgResult<Self> {
        let mut parts = Vec::with_capacity(table.key.len());
        for part in &table.key {
            let column = table.column(part.column).ok_or_else(|| PgError::internal("a key column is missing from its table"))?;
            let direction = if part.descending { Direction::Desc } else { Direction::Asc };
            let form = part.form;
            let part = KeyPart::new(key_form::kind(form, &column.ty)?, direction);
            let holds = if form.holds_value() { column.id } else { NO_COLUMN };
            parts.push(KeyPartCodec { column: holds, source: column.id, form, ty: column.ty.clone(), part, epoch: table.epoch });
        }
        let salt = match &table.salt {
            None => None,
            Some(salt) => {
                let buckets = SaltBuckets::new(salt.buckets).ok_or_else(|| PgError::internal("a salt without buckets"))?;
                let covered = if salt.columns.is_empty() {
                    (0..parts.len()).collect()
                } else {
                    salt.columns
                        .iter()
                        .map(|c| {
                            let held = parts.iter().position(|p| p.source == *c && p.form.gives_back());
                            let made = || parts.iter().position(|p| p.source == *c);
                            held.or_else(made).ok_or_else(|| PgError::internal("a salt column outside the key"))
                        })
                        .collect::<PgResult<Vec<_>>>()?
                };
                Some(SaltCodec { buckets, parts: covered })
            }
        };
        let layout = KeyLayout::new(salt.is_some(), parts.iter().map(|p| p.part).collect());
        let columns = table.key_columns().map(|part| part.column).collect();
        Ok(Self { parts, columns, layout, salt })
    }

    /// Whether a column's values can be read from keys.
    #[must_use]
    pub fn gives_back(&self, column: ColumnId) -> bool {
        self.parts.iter().any(|p| p.source == column && p.gives_back())
    }

    /// The position of the part that holds a column.
    #[must_use]
    pub fn position(&self, column: ColumnId) -> Option<usize> {
        self.parts.iter().position(|p| p.column == column)
    }

    /// Appends the key of one row; `columns` are the parts' columns in order.
    ///
    /// # Errors
    /// A part is NULL, or too long.
    pub fn encode(&self, columns: &[KeyColumn], row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        encode_key(&self.parts, self.salt.as_ref(), columns, row, out)
    }
}

/// Appends salt and parts.
pub(super) fn encode_key(
    parts: &[KeyPartCodec],
    salt: Option<&SaltCodec>,
    columns: &[KeyColumn],
    row: usize,
    out: &mut Vec<u8>,
) -> PgResult<()> {
    let from = out.len();
    let Some(salt) = salt else {
        for (part, column) in parts.iter().zip(columns) {
            part.encode(column, row, out)?;
        }
        return Ok(());
    };
    out.push(0);
    if salt.parts.len() == parts.len() && salt.parts.iter().enumerate().all(|(i, p)| i == *p) {
        for (part, column) in parts.iter().zip(columns) {
            part.encode(column, row, out)?;
        }
        let bucket = keyside::salt(salt.buckets, out.get(from + 1..).unwrap_or_default());
        if let Some(byte) = out.get_mut(from) {
            *byte = bucket;
        }
        return Ok(());
    }
    let mut hashed = Vec::new();
    for at in &salt.parts {
        if let (Some(part), Some(column)) = (parts.get(*at), columns.get(*at)) {
            part.encode(column, row, &mut hashed)?;
        }
    }
    let bucket = keyside::salt(salt.buckets, &hashed);
    if let Some(byte) = out.get_mut(from) {
        *byte = bucket;
    }
    for (part, column) in parts.iter().zip(columns) {
        part.encode(column, row, out)?;
    }
    Ok(())
}

/// A column opened for writing key parts.
#[derive(Clone, Debug)]
pub enum KeyColumn {
    Bool(BooleanArray),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    UInt32(UInt32Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Date(Date32Array),
    Time(Time64MicrosecondArray),
    Timestamp(TimestampMicrosecondArray),
    Text(StringViewArray),
    Bytes(BinaryViewArray),
    Uuid(FixedSizeBinaryArray),
    /// Sortable bytes with the scale behind them.
    Numeric(BinaryViewArray),
    Decimal(Decimal128Array, u32),
    /// [`stoa_pg::values::sort_key`] of the column.
    SortKey(BinaryViewArray),
}

impl KeyColumn {
    /// Opens a column; an array of another form of the type is cast.
    ///
    /// # Errors
    /// The array is not of the type.
    pub fn new(ty: &SqlType, array: &ArrayRef) -> PgResult<Self> {
        let cast;
        let array = if *array.data_type() == ty.arrow {
            array
        } else {
            cast = arrow::compute::cast(array, &ty.arrow)?;
            &cast
        };
        let wrong = || PgError::internal(format!("a key column of type {ty} came as {}", array.data_type()));
        if sorts_by_key(ty) {
            let keys = stoa_pg::values::sort_key(ty, array)?;
            return match keys.as_binary_view_opt() {
                Some(keys) => Ok(KeyColumn::SortKey(keys.clone())),
                None => Ok(KeyColumn::SortKey(arrow::compute::cast(&keys, &DataType::BinaryView)?.as_binary_view().clone())),
            };
        }
        Ok(match &ty.arrow {
            DataType::Boolean => KeyColumn::Bool(array.as_boolean_opt().ok_or_else(wrong)?.clone()),
            DataType::Int16 => KeyColumn::Int16(array.as_primitive_opt::<Int16Type>().ok_or_else(wrong)?.clone()),
            DataType::Int32 => KeyColumn::Int32(array.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?.clone()),
            DataType::Int64 => KeyColumn::Int64(array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.clone()),
            DataType::UInt32 => KeyColumn::UInt32(array.as_primitive_opt::<UInt32Type>().ok_or_else(wrong)?.clone()),
            DataType::Float32 => KeyColumn::Float32(array.as_primitive_opt::<Float32Type>().ok_or_else(wrong)?.clone()),
            DataType::Float64 => KeyColumn::Float64(array.as_primitive_opt::<Float64Type>().ok_or_else(wrong)?.clone()),
            DataType::Date32 => KeyColumn::Date(array.as_primitive_opt::<Date32Type>().ok_or_else(wrong)?.clone()),
            DataType::Time64(_) => KeyColumn::Time(array.as_primitive_opt::<Time64MicrosecondType>().ok_or_else(wrong)?.clone()),
            DataType::Timestamp(..) => {
                KeyColumn::Timestamp(array.as_primitive_opt::<TimestampMicrosecondType>().ok_or_else(wrong)?.clone())
            }
            DataType::Utf8View => KeyColumn::Text(array.as_string_view_opt().ok_or_else(wrong)?.clone()),
            DataType::BinaryView if ty.ty == PgType::Numeric => KeyColumn::Numeric(array.as_binary_view_opt().ok_or_else(wrong)?.clone()),
            DataType::BinaryView => KeyColumn::Bytes(array.as_binary_view_opt().ok_or_else(wrong)?.clone()),
            DataType::FixedSizeBinary(_) => KeyColumn::Uuid(array.as_fixed_size_binary_opt().ok_or_else(wrong)?.clone()),
            DataType::Decimal128(_, scale) => {
                let scale = u32::try_from(*scale).map_err(|_| wrong())?;
                KeyColumn::Decimal(array.as_primitive_opt::<Decimal128Type>().ok_or_else(wrong)?.clone(), scale)
            }
            _ => return Err(wrong()),
        })
    }

    /// Appends a part of another form than the value's own.
    ///
    /// # Errors
    /// NULL; a value that the form does not take.
    fn encode_form(&self, form: KeyForm, direction: Direction, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        if self.is_null(row) {
            return Err(PgError::internal("a NULL in a row key"));
        }
        let plain;
        let value = match self {
            KeyColumn::Int16(a) => FormValue::Number(i64::from(a.value(row))),
            KeyColumn::Int32(a) => FormValue::Number(i64::from(a.value(row))),
            KeyColumn::Int64(a) => FormValue::Number(a.value(row)),
            KeyColumn::Date(a) => FormValue::Date(a.value(row)),
            KeyColumn::Text(a) => FormValue::Text(a.value(row)),
            KeyColumn::Bytes(a) => FormValue::Bytes(a.value(row)),
            other => {
                let mut bytes = Vec::new();
                other.encode(KeyPart::new(PartKind::Escaped, Direction::Asc), row, &mut bytes)?;
                plain = bytes;
                FormValue::Other(&plain)
            }
        };
        key_form::encode(form, value, direction, out)
    }

    fn array(&self) -> &dyn Array {
        match self {
            KeyColumn::Bool(a) => a,
            KeyColumn::Int16(a) => a,
            KeyColumn::Int32(a) => a,
            KeyColumn::Int64(a) => a,
            KeyColumn::UInt32(a) => a,
            KeyColumn::Float32(a) => a,
            KeyColumn::Float64(a) => a,
            KeyColumn::Date(a) => a,
            KeyColumn::Time(a) => a,
            KeyColumn::Timestamp(a) => a,
            KeyColumn::Text(a) => a,
            KeyColumn::Bytes(a) | KeyColumn::Numeric(a) | KeyColumn::SortKey(a) => a,
            KeyColumn::Uuid(a) => a,
            KeyColumn::Decimal(a, _) => a,
        }
    }

    #[inline]
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        self.array().is_null(row)
    }

    /// Appends the part of one row, tag included.
    ///
    /// # Errors
    /// NULL in a part that cannot be NULL; numerics that no key holds.
    #[inline]
    pub fn encode(&self, part: KeyPart, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let direction = part.direction;
        if self.is_null(row) {
            let Some(nulls) = part.nulls else { return Err(PgError::internal("a NULL in a row key")) };
            keyside::encode_null(out, direction, nulls);
            return Ok(());
        }
        if part.nulls.is_some() {
            keyside::encode_present(out, direction);
        }
        match self {
            KeyColumn::Bool(a) => keyside::encode_bool(out, a.value(row), direction),
            KeyColumn::Int16(a) => keyside::encode_i16(out, a.value(row), direction),
            KeyColumn::Int32(a) => keyside::encode_i32(out, a.value(row), direction),
            KeyColumn::Int64(a) => keyside::encode_i64(out, a.value(row), direction),
            KeyColumn::UInt32(a) => keyside::encode_u32(out, a.value(row), direction),
            KeyColumn::Float32(a) => keyside::encode_f32(out, a.value(row), direction),
            KeyColumn::Float64(a) => keyside::encode_f64(out, a.value(row), direction),
            KeyColumn::Date(a) => keyside::encode_i32(out, a.value(row), direction),
            KeyColumn::Time(a) => keyside::encode_i64(out, a.value(row), direction),
            KeyColumn::Timestamp(a) => keyside::encode_i64(out, a.value(row), direction),
            KeyColumn::Text(a) => keyside::encode_bytes(out, a.value(row).as_bytes(), direction),
            KeyColumn::Bytes(a) | KeyColumn::SortKey(a) => keyside::encode_bytes(out, a.value(row), direction),
            KeyColumn::Uuid(a) => {
                let value = <&[u8; 16]>::try_from(a.value(row)).map_err(|_| PgError::internal("a uuid that has not 16 bytes"))?;
                keyside::encode_uuid(out, value, direction);
            }
            KeyColumn::Numeric(a) => {
                let value = a.value(row);
                let number = value.get(..value.len().saturating_sub(2)).unwrap_or_default();
                keyside::encode_prefix_free(out, number, direction);
            }
            KeyColumn::Decimal(a, scale) => {
                let value = a.value(row);
                let from = out.len();
                match value {
                    DECIMAL_NAN => stoa_encoding::numeric::encode_nan(out),
                    value => stoa_encoding::numeric::encode(value < 0, value.unsigned_abs(), *scale, out),
                }
                if direction == Direction::Desc {
                    out.iter_mut().skip(from).for_each(|b| *b = !*b);
                }
            }
        }
        Ok(())
    }
}

/// Where NULLs of an index part stand.
#[must_use]
pub fn null_order(nulls_first: bool) -> NullOrder {
    if nulls_first { NullOrder::First } else { NullOrder::Last }
}

/// A 128-bit decimal of this scale from the number at the front of ascending key bytes.
///
/// # Errors
/// Other bytes, or a number that has digits beyond the scale or does not fit.
pub fn decimal_from_key(bytes: &[u8], scale: i8) -> PgResult<i128> {
    use stoa_encoding::DecodeError;
    use stoa_encoding::numeric::Decoded;
    let malformed = || corrupt(DecodeError::Malformed { what: "key part numeric" });
    let (decoded, _) = stoa_encoding::numeric::decode(bytes).ok_or_else(malformed)?;
    let finite = match decoded {
        Decoded::Zero => return Ok(0),
        Decoded::NaN => return Ok(DECIMAL_NAN),
        Decoded::Finite(finite) => finite,
        _ => return Err(malformed()),
    };
    let mut mantissa: i128 = 0;
    for pair in finite.pairs() {
        mantissa = mantissa.checked_mul(100).and_then(|m| m.checked_add(i128::from(pair))).ok_or_else(malformed)?;
    }
    let raise = 2 * (i64::from(finite.exponent) - finite.len() as i64) + i64::from(scale);
    mantissa = match u32::try_from(raise.unsigned_abs()).ok().and_then(|r| 10i128.checked_pow(r)) {
        Some(power) if raise >= 0 => mantissa.checked_mul(power).ok_or_else(malformed)?,
        Some(power) => mantissa / power,
        None => return Err(malformed()),
    };
    Ok(if finite.negative { -mantissa } else { mantissa })
}

/// Keys of many rows in one arena.
#[derive(Clone, Debug, Default)]
pub struct KeyList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyList {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn with_capacity(rows: usize, key_bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(rows * key_bytes), ends: Vec::with_capacity(rows) }
    }

    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// Appends a key that `write` puts behind what is there; on failure nothing is added.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>) -> PgResult<()>) -> PgResult<()> {
        let from = self.bytes.len();
        match write(&mut self.bytes) {
            Ok(()) => {
                self.ends.push(self.bytes.len());
                Ok(())
            }
            Err(error) => {
                self.bytes.truncate(from);
                Err(error)
            }
        }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The n-th key; empty beyond the last.
    #[must_use]
    pub fn get(&self, n: usize) -> &[u8] {
        let Some(end) = self.ends.get(n) else { return &[] };
        let start = if n == 0 { 0 } else { self.ends.get(n - 1).copied().unwrap_or(0) };
        self.bytes.get(start..*end).unwrap_or_default()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|n| self.get(n))
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Keeps no more than the first `keys`.
    pub fn truncate(&mut self, keys: usize) {
        self.ends.truncate(keys);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

/// Checks the limit on row keys.
///
/// # Errors
/// 54000.
pub fn check_key_len(key: &[u8]) -> PgResult<()> {
    const LIMIT: usize = 64 * 1024;
    if key.len() > LIMIT {
        return Err(unencodable(stoa_encoding::EncodeError::TooLarge { what: "the row key" })
            .detail(format!("The key has {} bytes; the limit is {LIMIT} bytes.", key.len())));
    }
    Ok(())
}
