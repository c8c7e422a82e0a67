//! What a filter asks of the bytes of cells that other programs write, so that rows can be left out before they are fetched and decoded.
//!
//! Invariant: a row that passes the filter passes the tests. Rows that fail the tests fail the filter, or hold bytes that no value of the
//! column's type has; others may pass the tests and fail the filter, which is applied as well.

use super::constant::{Fitted, fit};
use super::predicate::{Comparison, Predicate};
use crate::catalog::Encoding;
use crate::row::RowCodec;
use crate::row::named_cell::NamedCell;
use datafusion_common::ScalarValue;
use std::ops::Bound;
use stoa_pg::types::PgType;
use stoa_store::range::prefix_successor;
use stoa_store::{ByteRange, CellTest};

/// More ranges than so many are not worth comparing a cell with.
const MOST_RANGES: usize = 16;
/// Longer bounds of a test, in bytes, are not worth sending along with a scan; a server would refuse a request that is too large.
const MOST_BYTES: usize = 4096;

/// The tests of a foreign table's rows for a filter; none where the bytes do not tell.
#[must_use]
pub fn cell_tests(codec: &RowCodec, filter: &Predicate) -> Vec<CellTest> {
    if !codec.is_foreign {
        return Vec::new();
    }
    match filter {
        Predicate::And(parts) => parts.iter().flat_map(|part| cell_tests(codec, part)).collect(),
        _ => one_test(codec, filter).filter(|test| bytes(&test.ranges) <= MOST_BYTES).into_iter().collect(),
    }
}

/// The bytes of all bounds.
fn bytes(ranges: &[ByteRange]) -> usize {
    let bound = |bound: &Bound<Box<[u8]>>| match bound {
        Bound::Included(bytes) | Bound::Excluded(bytes) => bytes.len(),
        Bound::Unbounded => 0,
    };
    ranges.iter().map(|(from, to)| bound(from) + bound(to)).sum()
}

/// The test that a filter comes down to, if it is about one column.
fn one_test(codec: &RowCodec, filter: &Predicate) -> Option<CellTest> {
    let (column, ranges) = match filter {
        Predicate::Compare { column, op, value } => (*column, compared(codec.named_cell(*column)?, *op, value)?),
        Predicate::In { column, values } => {
            let cell = codec.named_cell(*column)?;
            let mut ranges = Vec::new();
            for value in values {
                ranges.extend(compared(cell, Comparison::Equal, value)?);
            }
            (*column, ranges)
        }
        Predicate::Prefix { column, prefix, .. } if is_text(codec.named_cell(*column)?) => {
            let from = Bound::Included(prefix.as_bytes().into());
            let to = prefix_successor(prefix.as_bytes()).map_or(Bound::Unbounded, |end| Bound::Excluded(end.into()));
            (*column, vec![(from, to)])
        }
        Predicate::IsNotNull(column) => (*column, vec![(Bound::Unbounded, Bound::Unbounded)]),
        Predicate::Or(parts) => {
            let mut tests = parts.iter().map(|part| one_test(codec, part));
            let first = tests.next()??;
            let all = tests.try_fold(first, |mut all, next| {
                let next = next.filter(|next| next.cell == all.cell)?;
                all.ranges.extend(next.ranges);
                Some(all)
            })?;
            return Some(all).filter(|all| all.ranges.len() <= MOST_RANGES);
        }
        _ => return None,
    };
    let cell = codec.named_cell(column)?.qualifier.clone();
    Some(CellTest { cell, ranges }).filter(|test| !test.ranges.is_empty() && test.ranges.len() <= MOST_RANGES)
}

/// Whether the cell has the bytes of a text, which sort as texts do.
fn is_text(cell: &NamedCell) -> bool {
    matches!(cell.ty.ty, PgType::Text | PgType::Varchar)
}

/// The ranges of bytes in which values compare so; `None` where that cannot be told.
fn compared(cell: &NamedCell, op: Comparison, value: &ScalarValue) -> Option<Vec<ByteRange>> {
    let (op, value) = match fit(&cell.ty, op, value) {
        Fitted::Compare(op, value) => (op, value),
        Fitted::All => return Some(vec![(Bound::Unbounded, Bound::Unbounded)]),
        Fitted::None => return Some(Vec::new()),
        Fitted::Unknown => return None,
    };
    if is_text(cell) {
        return Some(vec![range(op, value.try_as_str()??.as_bytes())]);
    }
    if cell.encoding == Encoding::Text {
        // One value has many forms.
        return None;
    }
    Some(match (&cell.ty.ty, value) {
        (
            PgType::Bytea,
            ScalarValue::Binary(Some(bytes)) | ScalarValue::BinaryView(Some(bytes)) | ScalarValue::LargeBinary(Some(bytes)),
        ) => {
            vec![range(op, &bytes)]
        }
        // Anything but 0 is true.
        (PgType::Bool, ScalarValue::Boolean(Some(true))) if op == Comparison::Equal => {
            vec![(Bound::Excluded([0].into()), Bound::Unbounded)]
        }
        (PgType::Bool, ScalarValue::Boolean(Some(false))) if op == Comparison::Equal => vec![range(op, &[0])],
        (PgType::Int2, ScalarValue::Int16(Some(n))) => integers(cell.encoding, op, n.into(), 2),
        (PgType::Int4, ScalarValue::Int32(Some(n))) => integers(cell.encoding, op, n.into(), 4),
        (PgType::Int8, ScalarValue::Int64(Some(n))) => integers(cell.encoding, op, n, 8),
        // Of floating point numbers, and of Phoenix's times, one value has several forms.
        _ => return None,
    })
}

fn range(op: Comparison, bytes: &[u8]) -> ByteRange {
    let bytes = || Box::from(bytes);
    match op {
        Comparison::Equal => (Bound::Included(bytes()), Bound::Included(bytes())),
        Comparison::Less => (Bound::Unbounded, Bound::Excluded(bytes())),
        Comparison::LessEqual => (Bound::Unbounded, Bound::Included(bytes())),
        Comparison::Greater => (Bound::Excluded(bytes()), Bound::Unbounded),
        Comparison::GreaterEqual => (Bound::Included(bytes()), Bound::Unbounded),
    }
}

/// Of big-endian integers of so many bytes: HBase's sort with the negative ones last, Phoenix's as they are.
fn integers(encoding: Encoding, op: Comparison, n: i64, width: usize) -> Vec<ByteRange> {
    let bits = 8 * width as u32;
    let (least, greatest) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
    let bytes = |n: i64| -> Box<[u8]> {
        let turned = if encoding == Encoding::Phoenix { n ^ least } else { n };
        turned.to_be_bytes().get(8 - width..).unwrap_or_default().into()
    };
    let (from, to) = match op {
        Comparison::Equal => (Some(n), Some(n)),
        Comparison::Less => (Some(least), n.checked_sub(1).filter(|n| *n >= least)),
        Comparison::LessEqual => (Some(least), Some(n)),
        Comparison::Greater => (n.checked_add(1).filter(|n| *n <= greatest), Some(greatest)),
        Comparison::GreaterEqual => (Some(n), Some(greatest)),
    };
    let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
    let closed = |from: i64, to: i64| (Bound::Included(bytes(from)), Bound::Included(bytes(to)));
    if encoding == Encoding::Phoenix || (from < 0) == (to < 0) {
        return vec![closed(from, to)];
    }
    vec![closed(from, -1), closed(0, to)]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use stoa_pg::SqlType;

    fn cell(ty: PgType, encoding: Encoding) -> NamedCell {
        NamedCell { name: "c".into(), ty: SqlType::new(ty), qualifier: Box::from(*b"q"), encoding }
    }

    fn passes(ranges: &[ByteRange], value: &[u8]) -> bool {
        let test = CellTest { cell: Box::from(*b"q"), ranges: ranges.to_vec() };
        let cell = stoa_store::CellRef { family: stoa_store::FamilyId(0), qualifier: b"q", timestamp: stoa_store::Timestamp(1), value };
        test.passes(&[cell])
    }

    const OPS: [Comparison; 5] =
        [Comparison::Equal, Comparison::Less, Comparison::LessEqual, Comparison::Greater, Comparison::GreaterEqual];

    fn holds<T: PartialOrd>(op: Comparison, a: T, b: T) -> bool {
        match op {
            Comparison::Equal => a == b,
            Comparison::Less => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterEqual => a >= b,
        }
    }

    #[test]
    fn integers_are_told_exactly() {
        let values = [i16::MIN, i16::MIN + 1, -256, -255, -2, -1, 0, 1, 2, 255, 256, i16::MAX - 1, i16::MAX];
        for encoding in [Encoding::Bytes, Encoding::Phoenix] {
            let cell = cell(PgType::Int2, encoding);
            let turn = if encoding == Encoding::Phoenix { i16::MIN } else { 0 };
            for op in OPS {
                for wanted in values {
                    // Of another type, too, as `c < 2.5` has it.
                    for value in [ScalarValue::Int16(Some(wanted)), ScalarValue::Int64(Some(wanted.into()))] {
                        let ranges = compared(&cell, op, &value).unwrap();
                        for own in values {
                            assert_eq!(passes(&ranges, &(own ^ turn).to_be_bytes()), holds(op, own, wanted), "{own} {op:?} {wanted}");
                        }
                    }
                }
            }
        }
        let eight = compared(&cell(PgType::Int8, Encoding::Bytes), Comparison::Less, &ScalarValue::Int64(Some(7))).unwrap();
        assert!(passes(&eight, &i64::MIN.to_be_bytes()) && passes(&eight, &6i64.to_be_bytes()) && !passes(&eight, &7i64.to_be_bytes()));
        let four = compared(&cell(PgType::Int4, Encoding::Bytes), Comparison::Less, &ScalarValue::Int64(Some(1 << 40))).unwrap();
        assert!(passes(&four, &i32::MIN.to_be_bytes()) && passes(&four, &i32::MAX.to_be_bytes()));
        let none = compared(&cell(PgType::Int4, Encoding::Bytes), Comparison::Equal, &ScalarValue::Int64(Some(1 << 40))).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn what_has_several_forms_is_not_told() {
        let number = ScalarValue::Int32(Some(7));
        assert!(compared(&cell(PgType::Int4, Encoding::Text), Comparison::Equal, &number).is_none());
        assert!(compared(&cell(PgType::Float8, Encoding::Bytes), Comparison::Equal, &ScalarValue::Float64(Some(0.0))).is_none());
        assert!(compared(&cell(PgType::Date, Encoding::Phoenix), Comparison::Equal, &ScalarValue::Date32(Some(7))).is_none());
        let yes = compared(&cell(PgType::Bool, Encoding::Bytes), Comparison::Equal, &ScalarValue::Boolean(Some(true))).unwrap();
        assert!(passes(&yes, &[0xff]) && passes(&yes, &[1]) && !passes(&yes, &[0]));
    }

    #[test]
    fn texts_and_bytes_sort_as_their_bytes_do() {
        for op in OPS {
            for wanted in ["", "a", "ab", "größe", "\u{10ffff}"] {
                let texts = compared(&cell(PgType::Text, Encoding::Text), op, &ScalarValue::Utf8View(Some(wanted.into()))).unwrap();
                let bytes = compared(&cell(PgType::Bytea, Encoding::Bytes), op, &ScalarValue::BinaryView(Some(wanted.into()))).unwrap();
                for own in ["", "A", "a", "aa", "ab", "b", "größe", "größer", "\u{10ffff}"] {
                    assert_eq!(passes(&texts, own.as_bytes()), holds(op, own, wanted), "{own} {op:?} {wanted}");
                    assert_eq!(passes(&bytes, own.as_bytes()), holds(op, own, wanted), "{own} {op:?} {wanted}");
                }
            }
        }
    }
}
