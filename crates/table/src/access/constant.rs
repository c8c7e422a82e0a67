//! Constants brought to a column's type without changing what a comparison says.
//!
//! `i < 2.5` on an integer column is `i <= 2`; `i = 2.5` is never; `i < 10000000000` on a 32-bit column is always (for values that
//! are not NULL).

use super::predicate::Comparison;
use arrow::datatypes::{DataType, TimeUnit};
use datafusion_common::ScalarValue;
use stoa_encoding::valueside::DECIMAL_NAN;
use stoa_pg::SqlType;
use stoa_pg::types::PgType;
use stoa_pg::values::datetime::calendar::USECS_PER_DAY;
use stoa_pg::values::datetime::epoch;
use stoa_pg::values::numeric::Numeric;

/// A comparison as the column's own type can answer it.
#[derive(Clone, PartialEq, Debug)]
pub enum Fitted {
    Compare(Comparison, ScalarValue),
    /// True for every value that is not NULL.
    All,
    /// True for none.
    None,
    /// Not expressible.
    Unknown,
}

/// Fits `column op value`; the value is not NULL.
#[must_use]
pub fn fit(ty: &SqlType, op: Comparison, value: &ScalarValue) -> Fitted {
    if value.is_null() {
        return Fitted::None;
    }
    if value.data_type() == ty.arrow {
        return Fitted::Compare(op, value.clone());
    }
    match &ty.arrow {
        DataType::Int16 => {
            fit_integer(op, value, i128::from(i16::MIN), i128::from(i16::MAX), |v| ScalarValue::Int16(i16::try_from(v).ok()))
        }
        DataType::Int32 => {
            fit_integer(op, value, i128::from(i32::MIN), i128::from(i32::MAX), |v| ScalarValue::Int32(i32::try_from(v).ok()))
        }
        DataType::Int64 => {
            fit_integer(op, value, i128::from(i64::MIN), i128::from(i64::MAX), |v| ScalarValue::Int64(i64::try_from(v).ok()))
        }
        DataType::UInt32 => fit_integer(op, value, 0, i128::from(u32::MAX), |v| ScalarValue::UInt32(u32::try_from(v).ok())),
        DataType::Decimal128(precision, scale) => {
            let Some(max) = 10i128.checked_pow(u32::from(*precision)).map(|m| m - 1) else { return Fitted::Unknown };
            let decimal = |v| ScalarValue::Decimal128(Some(v), *precision, *scale);
            match number(value).and_then(|(m, s)| rescale(m, s, i32::from(*scale))) {
                Some((floor, whole)) => match bounded(op, floor, whole, -max, max, decimal) {
                    // Beyond the greatest number there is NaN.
                    Fitted::All if floor > max => Fitted::Compare(Comparison::LessEqual, decimal(max)),
                    Fitted::None if floor > max && op != Comparison::Equal => Fitted::Compare(Comparison::Greater, decimal(max)),
                    fitted => fitted,
                },
                None => Fitted::Unknown,
            }
        }
        DataType::BinaryView if ty.ty == PgType::Numeric => match number(value) {
            Some((mantissa, scale)) if (0..=i32::from(u16::MAX)).contains(&scale) => {
                let mut bytes = Vec::new();
                Numeric::from_i128(mantissa, scale as u16).encode(&mut bytes);
                Fitted::Compare(op, ScalarValue::BinaryView(Some(bytes)))
            }
            _ => Fitted::Unknown,
        },
        DataType::Float64 => match value {
            ScalarValue::Float32(Some(v)) => Fitted::Compare(op, ScalarValue::Float64(Some(f64::from(*v)))),
            other => match number(other) {
                Some((m, 0)) if m.unsigned_abs() <= 1 << 53 => Fitted::Compare(op, ScalarValue::Float64(Some(m as f64))),
                _ => Fitted::Unknown,
            },
        },
        DataType::Float32 => match value {
            ScalarValue::Float64(Some(v)) => fit_float32(op, *v),
            other => match number(other) {
                Some((m, 0)) if m.unsigned_abs() <= 1 << 24 => Fitted::Compare(op, ScalarValue::Float32(Some(m as f32))),
                _ => Fitted::Unknown,
            },
        },
        DataType::Date32 => match value {
            ScalarValue::TimestampMicrosecond(Some(us), None) => fit_date(op, *us),
            _ => Fitted::Unknown,
        },
        DataType::Timestamp(TimeUnit::Microsecond, None) => match value {
            ScalarValue::Date32(Some(i32::MAX)) => Fitted::Compare(op, ScalarValue::TimestampMicrosecond(Some(i64::MAX), None)),
            ScalarValue::Date32(Some(i32::MIN)) => Fitted::Compare(op, ScalarValue::TimestampMicrosecond(Some(i64::MIN), None)),
            ScalarValue::Date32(Some(days)) => match i64::try_from(epoch::midnight((*days).into())) {
                Ok(midnight) => Fitted::Compare(op, ScalarValue::TimestampMicrosecond(Some(midnight), None)),
                Err(_) => Fitted::Unknown,
            },
            _ => Fitted::Unknown,
        },
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => match value {
            // Instants are the same whatever zone they are shown in.
            ScalarValue::TimestampMicrosecond(Some(us), Some(_)) => {
                Fitted::Compare(op, ScalarValue::TimestampMicrosecond(Some(*us), Some(zone.clone())))
            }
            _ => Fitted::Unknown,
        },
        DataType::Utf8View => match value {
            ScalarValue::Utf8(Some(v)) | ScalarValue::LargeUtf8(Some(v)) => Fitted::Compare(op, ScalarValue::Utf8View(Some(v.clone()))),
            _ => Fitted::Unknown,
        },
        DataType::BinaryView if ty.ty == PgType::Bytea => match value {
            ScalarValue::Binary(Some(v)) | ScalarValue::LargeBinary(Some(v)) => {
                Fitted::Compare(op, ScalarValue::BinaryView(Some(v.clone())))
            }
            _ => Fitted::Unknown,
        },
        _ => Fitted::Unknown,
    }
}

/// A number as mantissa × 10^−scale.
fn number(value: &ScalarValue) -> Option<(i128, i32)> {
    match value {
        ScalarValue::Int8(Some(v)) => Some((i128::from(*v), 0)),
        ScalarValue::Int16(Some(v)) => Some((i128::from(*v), 0)),
        ScalarValue::Int32(Some(v)) => Some((i128::from(*v), 0)),
        ScalarValue::Int64(Some(v)) => Some((i128::from(*v), 0)),
        ScalarValue::UInt32(Some(v)) => Some((i128::from(*v), 0)),
        ScalarValue::UInt64(Some(v)) => Some((i128::from(*v), 0)),
        ScalarValue::Decimal128(Some(DECIMAL_NAN), ..) => None,
        ScalarValue::Decimal128(Some(v), _, scale) => Some((*v, i32::from(*scale))),
        ScalarValue::BinaryView(Some(bytes)) => {
            let (mantissa, scale) = Numeric::decode(bytes).ok()?.to_parts()?;
            Some((mantissa, i32::from(scale)))
        }
        _ => None,
    }
}

/// A number in units of 10^−scale: the floor, and whether that is the number itself.
fn rescale(mantissa: i128, from: i32, to: i32) -> Option<(i128, bool)> {
    let shift = to - from;
    let power = 10i128.checked_pow(shift.unsigned_abs())?;
    if shift >= 0 {
        Some((mantissa.checked_mul(power)?, true))
    } else {
        Some((mantissa.div_euclid(power), mantissa.rem_euclid(power) == 0))
    }
}

fn fit_integer(op: Comparison, value: &ScalarValue, min: i128, max: i128, make: impl Fn(i128) -> ScalarValue) -> Fitted {
    let found = match value {
        // Integers cast to double precision are exact below 2⁵³ only; beyond, several integers are one double.
        ScalarValue::Float64(Some(v)) if v.abs() < 9e15 => Some((v.floor() as i128, v.fract() == 0.0)),
        ScalarValue::Float32(Some(v)) if v.abs() < 1.6e7 => Some((v.floor() as i128, v.fract() == 0.0)),
        other => number(other).and_then(|(m, s)| rescale(m, s, 0)),
    };
    match found {
        Some((floor, whole)) => bounded(op, floor, whole, min, max, make),
        None => Fitted::Unknown,
    }
}

/// The comparison with a number that lies at `floor` (`whole`) or between it and the next.
fn bounded(op: Comparison, floor: i128, whole: bool, min: i128, max: i128, make: impl Fn(i128) -> ScalarValue) -> Fitted {
    let op = match (op, whole) {
        (op, true) => op,
        (Comparison::Equal, false) => return Fitted::None,
        (Comparison::Less | Comparison::LessEqual, false) => Comparison::LessEqual,
        (Comparison::Greater | Comparison::GreaterEqual, false) => Comparison::Greater,
    };
    let below = floor < min;
    if below || floor > max {
        let always = match op {
            Comparison::Equal => false,
            Comparison::Less | Comparison::LessEqual => !below,
            Comparison::Greater | Comparison::GreaterEqual => below,
        };
        return if always { Fitted::All } else { Fitted::None };
    }
    Fitted::Compare(op, make(floor))
}

fn fit_float32(op: Comparison, value: f64) -> Fitted {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || value.is_nan() {
        return Fitted::Compare(op, ScalarValue::Float32(Some(near)));
    }
    let op = match op {
        Comparison::Equal => return Fitted::None,
        Comparison::Less | Comparison::LessEqual => {
            if back < value {
                Comparison::LessEqual
            } else {
                Comparison::Less
            }
        }
        Comparison::Greater | Comparison::GreaterEqual => {
            if back < value {
                Comparison::Greater
            } else {
                Comparison::GreaterEqual
            }
        }
    };
    Fitted::Compare(op, ScalarValue::Float32(Some(near)))
}

/// A date compared with a moment: the date stands for its midnight.
fn fit_date(op: Comparison, us: i64) -> Fitted {
    match us {
        i64::MAX => return Fitted::Compare(op, ScalarValue::Date32(Some(i32::MAX))),
        i64::MIN => return Fitted::Compare(op, ScalarValue::Date32(Some(i32::MIN))),
        _ => {}
    }
    let (day, whole) = (epoch::unix_days(us), us.rem_euclid(USECS_PER_DAY) == 0);
    // The extreme dates are the infinities, which lie beyond every moment.
    bounded(op, i128::from(day), whole, i128::from(i32::MIN) + 1, i128::from(i32::MAX) - 1, |v| ScalarValue::Date32(i32::try_from(v).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_brought_to_the_columns_type() {
        use Comparison::{Equal, Greater, GreaterEqual, Less, LessEqual};
        let int4 = SqlType::new(PgType::Int4);
        let int = |v: i32| ScalarValue::Int32(Some(v));
        let half = ScalarValue::Decimal128(Some(25), 5, 1);
        let cases = [
            (Less, half.clone(), Fitted::Compare(LessEqual, int(2))),
            (GreaterEqual, half.clone(), Fitted::Compare(Greater, int(2))),
            (Equal, half, Fitted::None),
            (Less, ScalarValue::Decimal128(Some(-25), 5, 1), Fitted::Compare(LessEqual, int(-3))),
            (Equal, ScalarValue::Int64(Some(7)), Fitted::Compare(Equal, int(7))),
            (Less, ScalarValue::Int64(Some(1 << 40)), Fitted::All),
            (Greater, ScalarValue::Int64(Some(1 << 40)), Fitted::None),
            (Greater, ScalarValue::Int64(Some(-(1 << 40))), Fitted::All),
            (Less, ScalarValue::Float64(Some(2.5)), Fitted::Compare(LessEqual, int(2))),
            (Less, ScalarValue::Float64(Some(f64::NAN)), Fitted::Unknown),
            (Less, ScalarValue::Int64(None), Fitted::None),
        ];
        for (op, value, wanted) in cases {
            assert_eq!(fit(&int4, op, &value), wanted, "{op:?} {value:?}");
        }
        // NaN lies above all numbers that a decimal has.
        let numeric = SqlType::decimal(5, 2);
        let decimal = |v: i128| ScalarValue::Decimal128(Some(v), 5, 2);
        let most = ScalarValue::Int64(Some(1000));
        assert_eq!(fit(&numeric, Less, &most), Fitted::Compare(LessEqual, decimal(99_999)));
        assert_eq!(fit(&numeric, GreaterEqual, &most), Fitted::Compare(Greater, decimal(99_999)));
        assert_eq!(fit(&numeric, Equal, &most), Fitted::None);
        assert_eq!(fit(&numeric, Greater, &ScalarValue::Int64(Some(-1000))), Fitted::All);
        assert_eq!(fit(&numeric, Less, &ScalarValue::Decimal128(Some(DECIMAL_NAN), 9, 0)), Fitted::Unknown);
        let date = SqlType::new(PgType::Date);
        let noon = ScalarValue::TimestampMicrosecond(Some(USECS_PER_DAY + USECS_PER_DAY / 2 - epoch::MICROS), None);
        assert_eq!(fit(&date, Less, &noon), Fitted::Compare(LessEqual, ScalarValue::Date32(Some(1))));
        assert_eq!(fit(&date, Equal, &noon), Fitted::None);
    }
}
