//! Timestamps as a table stores them: as they are, or, in tables that were made before they counted from 2000, since 1970.
//!
//! Invariant: only whole columns are turned, on their way to and from keys and cells; what encodes and decodes knows one form. Timestamps
//! in arrays are turned with them. The order is the same, so keys sort alike.

use super::key::KeyCodec;
use crate::catalog::Epoch;
use arrow::array::{Array, ArrayRef, AsArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, TimestampMicrosecondType as Micros};
use std::sync::Arc;
use stoa_encoding::keyside;
use stoa_pg::types::array_item;
use stoa_pg::values::array::with_elements;
use stoa_pg::values::datetime::{calendar, epoch};
use stoa_pg::{PgError, PgResult};

impl Epoch {
    /// A column as it is stored.
    ///
    /// # Errors
    /// 22008 for times that have no number in the table's form.
    pub fn to_stored(self, array: &ArrayRef) -> PgResult<ArrayRef> {
        self.turned(array, &|column| column.try_unary::<_, Micros, PgError>(|t| epoch::to_unix_micros(t).ok_or_else(beyond)))
    }

    /// A column of values that are looked for among those stored: a time that has no number there is NULL, which equals none. In arrays
    /// it is an error, as it is to [`Epoch::to_stored`].
    ///
    /// # Errors
    /// 22008.
    pub fn to_sought(self, array: &ArrayRef) -> PgResult<ArrayRef> {
        match array.data_type() {
            DataType::Timestamp(..) => self.turned(array, &|column| Ok(column.unary_opt::<_, Micros>(epoch::to_unix_micros))),
            _ => self.to_stored(array),
        }
    }

    /// A column from what is stored.
    ///
    /// # Errors
    /// XX001 for numbers that no version of the program writes.
    pub fn from_stored(self, array: &ArrayRef) -> PgResult<ArrayRef> {
        let wrong = || super::builder::malformed("timestamp");
        self.turned(array, &|column| column.try_unary::<_, Micros, PgError>(|t| epoch::from_unix_micros(t).ok_or_else(wrong)))
    }

    fn turned(self, array: &ArrayRef, turn: Turn<'_>) -> PgResult<ArrayRef> {
        match self {
            Epoch::Postgres => Ok(Arc::clone(array)),
            Epoch::Unix => turned(array, turn),
        }
    }
}

/// The beginning of a key, as split points are, with its timestamps as of [`Epoch::Postgres`]. What is no whole part stays as it is, and so
/// do arrays: a table is split elsewhere then.
#[must_use]
pub fn counted_from_2000(key: &KeyCodec, point: &[u8]) -> Vec<u8> {
    let (salt, mut rest) = point.split_at(usize::from(key.salt.is_some()).min(point.len()));
    let mut out = salt.to_vec();
    for part in &key.parts {
        let Ok(after) = part.part.skip(rest) else { break };
        let moved = keyside::decode_i64(rest, part.part.direction).ok().and_then(|(unix, _)| epoch::from_unix_micros(unix));
        match moved {
            Some(timestamp) if matches!(part.ty.arrow, DataType::Timestamp(..)) => {
                keyside::encode_i64(&mut out, timestamp, part.part.direction);
            }
            _ => out.extend_from_slice(rest.get(..rest.len() - after.len()).unwrap_or_default()),
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

/// What makes of each value of a column another.
type Turn<'a> = &'a dyn Fn(&TimestampMicrosecondArray) -> PgResult<TimestampMicrosecondArray>;

/// The timestamps of a column turned, also those in arrays; another column as it is.
pub fn turned(array: &ArrayRef, turn: Turn<'_>) -> PgResult<ArrayRef> {
    if !has_timestamps(array.data_type()) {
        return Ok(Arc::clone(array));
    }
    match array.as_primitive_opt::<Micros>() {
        Some(column) => Ok(Arc::new(turn(column)?.with_data_type(array.data_type().clone()))),
        None => with_elements(array, |elements| turned(elements, turn)),
    }
}

/// Whether values of a column are timestamps, or arrays of them. Rows are neither stored nor indexed.
#[must_use]
pub fn has_timestamps(ty: &DataType) -> bool {
    matches!(array_item(ty).unwrap_or(ty), DataType::Timestamp(..))
}

#[cold]
fn beyond() -> PgError {
    calendar::timestamp_out_of_range()
        .detail("The table is of a version that counted microseconds from 1970, which end in the year 294247.")
        .hint("Once it is written anew, as by a change of a column's type with USING, it takes all timestamps.")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use stoa_pg::{EvalContext, PgType, SqlState, SqlType, values};

    fn column(ty: &SqlType, texts: &[&str]) -> ArrayRef {
        let mut column = values::builder(ty).unwrap();
        for text in texts {
            column.text(&EvalContext::default(), text).unwrap();
        }
        column.finish().unwrap()
    }

    #[test]
    fn timestamps_of_older_tables_count_from_1970() {
        let zoned = SqlType::new(PgType::Timestamptz);
        let ours = column(&zoned, &["1970-01-01 00:00:01+00", "-infinity", "infinity", "4714-11-24 00:00+00 BC"]);
        let stored = Epoch::Unix.to_stored(&ours).unwrap();
        assert_eq!(stored.data_type(), ours.data_type());
        let numbers: Vec<i64> = stored.as_primitive::<Micros>().values().to_vec();
        assert_eq!(numbers, [1_000_000, i64::MIN, i64::MAX, -210_866_803_200_000_000]);
        assert_eq!(&Epoch::Unix.from_stored(&stored).unwrap(), &ours);
        assert_eq!(&Epoch::Postgres.to_stored(&ours).unwrap(), &ours);
        let arrays = SqlType::new(PgType::Timestamp.array_of());
        let ours = column(&arrays, &["{{2000-01-01,NULL},{1999-12-31,infinity}}", "{}"]);
        let stored = Epoch::Unix.to_stored(&ours).unwrap();
        assert_ne!(&stored, &ours);
        assert_eq!(&Epoch::Unix.from_stored(&stored).unwrap(), &ours);
    }

    #[test]
    fn split_points_are_moved_with_their_table() {
        let text = SqlType::new(PgType::Text);
        let columns = [("d", text), ("t", SqlType::new(PgType::Timestamptz))];
        let new = crate::row::samples::table(&columns, &[(0, false), (1, true)], &[(stoa_store::Layout::Packed, &[])]);
        let old = crate::catalog::TableDescriptor { epoch: Epoch::Unix, ..new.clone() };
        let arrays = [column(&columns[0].1, &["x"]), column(&columns[1].1, &["2024-01-01 00:00+00"])];
        let key = |table| crate::row::RowCodec::new(table).unwrap().encode_keys(&arrays, 1, None).unwrap().get(0).to_vec();
        let (before, after) = (key(&old), key(&new));
        assert_ne!(before, after);
        let codec = KeyCodec::new(&old).unwrap();
        assert_eq!(counted_from_2000(&codec, &before), after);
        assert_eq!(counted_from_2000(&codec, &before[..3]), after[..3], "the text alone");
        assert_eq!(counted_from_2000(&codec, &before[..5]), before[..5], "half a part");
    }

    #[test]
    fn what_they_lack_is_refused_or_not_found() {
        let ty = SqlType::new(PgType::Timestamp);
        let late = column(&ty, &["294247-01-10 04:00:54.775806", "294247-01-10 04:00:54.775807"]);
        assert_eq!(Epoch::Unix.to_stored(&late).unwrap_err().code(), SqlState::DATETIME_FIELD_OVERFLOW);
        let sought = Epoch::Unix.to_sought(&late).unwrap();
        assert_eq!((sought.is_null(0), sought.is_null(1)), (false, true));
        let number: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![i64::MIN + 1]));
        assert_eq!(Epoch::Unix.from_stored(&number).unwrap_err().code(), SqlState::DATA_CORRUPTED);
    }
}
