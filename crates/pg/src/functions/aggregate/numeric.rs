//! Exact aggregates: sums, averages and variances of integers and numerics, whose results are numeric.
//!
//! Sums are kept as a 128-bit mantissa at the largest scale seen; what does not fit goes to an arbitrary-precision rest.

use super::fold::{Fold, StateReader, push_blob};
use crate::error::{PgError, PgResult};
use crate::types::SqlType;
use crate::values::numeric::Numeric;
use crate::values::numeric::column::NumericBuilder;
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, Decimal128Array, Decimal128Builder, Int16Array, Int32Array, Int64Array};
use arrow::datatypes::{DataType, Decimal128Type, Int16Type, Int32Type, Int64Type};
use std::sync::Arc;
use stoa_encoding::valueside::DECIMAL_NAN;

/// A sum of numbers, exact.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    pub count: i64,
    mantissa: i128,
    scale: u16,
    rest: Option<Box<Numeric>>,
    /// How many NaN, Infinity and -Infinity were added: they can leave a window again.
    special: [i64; 3],
}

impl Sum {
    /// Adds `mantissa × 10^-scale`.
    #[inline]
    fn add(&mut self, mantissa: i128, scale: u16) -> PgResult<()> {
        self.count += 1;
        if scale == self.scale
            && let Some(sum) = self.mantissa.checked_add(mantissa)
        {
            self.mantissa = sum;
            return Ok(());
        }
        self.add_slowly(mantissa, scale)
    }

    #[cold]
    fn add_slowly(&mut self, mantissa: i128, scale: u16) -> PgResult<()> {
        let raise = |value: i128, by: u16| 10i128.checked_pow(u32::from(by)).and_then(|power| value.checked_mul(power));
        let widest = self.scale.max(scale);
        if let (Some(a), Some(b)) = (raise(self.mantissa, widest - self.scale), raise(mantissa, widest - scale))
            && let Some(sum) = a.checked_add(b)
        {
            self.mantissa = sum;
            self.scale = widest;
            return Ok(());
        }
        // The rest keeps the value; the mantissa starts again at the same scale.
        self.add_to_rest(&Numeric::from_i128(mantissa, scale))
    }

    fn add_to_rest(&mut self, value: &Numeric) -> PgResult<()> {
        let rest = match &self.rest {
            Some(rest) => rest.add(value)?,
            None => value.clone(),
        };
        self.rest = Some(Box::new(rest.add(&Numeric::from_i128(self.mantissa, self.scale))?));
        self.mantissa = 0;
        Ok(())
    }

    fn add_numeric(&mut self, value: &Numeric) -> PgResult<()> {
        match value.to_parts() {
            Some((mantissa, scale)) => self.add(mantissa, scale),
            None => {
                self.count += 1;
                if !self.count_special(value, 1) {
                    self.add_to_rest(value)?;
                }
                Ok(())
            }
        }
    }

    /// Counts a value that is not finite.
    fn count_special(&mut self, value: &Numeric, by: i64) -> bool {
        let [nan, positive, negative] = &mut self.special;
        let slot = match value {
            value if value.is_finite() => return false,
            value if value.is_nan() => nan,
            value if value.signum() > 0 => positive,
            _ => negative,
        };
        *slot += by;
        true
    }

    #[inline]
    fn subtract(&mut self, mantissa: i128, scale: u16) -> PgResult<()> {
        self.add(mantissa.checked_neg().unwrap_or(i128::MAX), scale)?;
        self.count -= 2;
        Ok(())
    }

    fn merge(&mut self, other: &Sum) -> PgResult<()> {
        let count = self.count + other.count;
        if other.count > 0 {
            self.add(other.mantissa, other.scale)?;
        }
        if let Some(rest) = &other.rest {
            self.add_to_rest(rest)?;
        }
        self.count = count;
        for (mine, others) in self.special.iter_mut().zip(other.special) {
            *mine += others;
        }
        Ok(())
    }

    /// The sum.
    pub fn total(&self) -> PgResult<Numeric> {
        match self.special.map(|count| count > 0) {
            [false, false, false] => {}
            [false, true, false] => return Ok(Numeric::INFINITY),
            [false, false, true] => return Ok(Numeric::NEG_INFINITY),
            _ => return Ok(Numeric::NAN),
        }
        let small = Numeric::from_i128(self.mantissa, self.scale);
        match &self.rest {
            Some(rest) => rest.add(&small),
            None => Ok(small),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.mantissa.to_le_bytes());
        out.extend_from_slice(&self.scale.to_le_bytes());
        let mut rest = Vec::new();
        if let Some(value) = &self.rest {
            value.encode(&mut rest);
        }
        push_blob(&rest, out);
        self.special.iter().for_each(|count| out.extend_from_slice(&count.to_le_bytes()));
    }

    fn decode(bytes: &mut StateReader) -> PgResult<Sum> {
        let (count, mantissa, scale) = (bytes.i64()?, bytes.i128()?, bytes.u16()?);
        let rest = bytes.blob()?;
        let rest = if rest.is_empty() { None } else { Some(Box::new(Numeric::decode(rest)?)) };
        let special = [bytes.i64()?, bytes.i64()?, bytes.i64()?];
        Ok(Sum { count, mantissa, scale, rest, special })
    }
}

/// A column of exact numbers.
pub enum Numbers<'a> {
    Int2(&'a Int16Array),
    Int4(&'a Int32Array),
    Int8(&'a Int64Array),
    Decimal(&'a Decimal128Array, u16),
    Numeric(&'a BinaryViewArray),
}

/// Opens the first argument as exact numbers.
pub fn numbers(args: &[ArrayRef]) -> PgResult<Numbers<'_>> {
    let array = args.first().ok_or_else(|| PgError::internal("an aggregate without its argument"))?;
    let wrong = || PgError::internal(format!("an aggregate of numbers was given {}", array.data_type()));
    Ok(match array.data_type() {
        DataType::Int16 => Numbers::Int2(array.as_primitive_opt::<Int16Type>().ok_or_else(wrong)?),
        DataType::Int32 => Numbers::Int4(array.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?),
        DataType::Int64 => Numbers::Int8(array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?),
        DataType::Decimal128(_, scale) => {
            Numbers::Decimal(array.as_primitive_opt::<Decimal128Type>().ok_or_else(wrong)?, u16::try_from(*scale).map_err(|_| wrong())?)
        }
        DataType::BinaryView => Numbers::Numeric(array.as_binary_view_opt().ok_or_else(wrong)?),
        _ => return Err(wrong()),
    })
}

/// One number.
enum Number {
    Small(i128, u16),
    Other(Numeric),
}

impl Numbers<'_> {
    #[inline]
    fn get(&self, row: usize) -> PgResult<Option<Number>> {
        Ok(match self {
            Numbers::Int2(array) if array.is_valid(row) => Some(Number::Small(i128::from(array.value(row)), 0)),
            Numbers::Int4(array) if array.is_valid(row) => Some(Number::Small(i128::from(array.value(row)), 0)),
            Numbers::Int8(array) if array.is_valid(row) => Some(Number::Small(i128::from(array.value(row)), 0)),
            Numbers::Decimal(array, scale) if array.is_valid(row) => Some(match array.value(row) {
                DECIMAL_NAN => Number::Other(Numeric::NAN),
                mantissa => Number::Small(mantissa, *scale),
            }),
            Numbers::Numeric(array) if array.is_valid(row) => {
                let value = Numeric::decode(array.value(row))?;
                Some(match value.to_parts() {
                    Some((mantissa, scale)) => Number::Small(mantissa, scale),
                    None => Number::Other(value),
                })
            }
            _ => None,
        })
    }
}

/// Numbers as a column of the result's form: numeric bytes or 128-bit decimals.
fn column(ret: &SqlType, values: impl Iterator<Item = PgResult<Option<Numeric>>>, rows: usize) -> PgResult<ArrayRef> {
    if let DataType::Decimal128(precision, scale) = ret.arrow {
        let mut out = Decimal128Builder::with_capacity(rows).with_data_type(ret.arrow.clone());
        let places = u16::try_from(scale).map_err(|_| PgError::internal("a decimal of negative scale"))?;
        for value in values {
            match value? {
                None => out.append_null(),
                Some(value) if value.is_nan() => out.append_value(DECIMAL_NAN),
                Some(value) => {
                    let (mantissa, scale) = value.round(i32::from(places)).to_parts().ok_or_else(|| PgError::out_of_range("numeric"))?;
                    let mantissa = 10i128
                        .checked_pow(u32::from(places.saturating_sub(scale)))
                        .and_then(|power| mantissa.checked_mul(power))
                        .filter(|mantissa| mantissa.unsigned_abs() < 10u128.pow(u32::from(precision.min(38))))
                        .ok_or_else(|| PgError::out_of_range("numeric"))?;
                    out.append_value(mantissa);
                }
            }
        }
        return Ok(Arc::new(out.finish()));
    }
    let mut out = NumericBuilder::with_capacity(rows);
    for value in values {
        match value? {
            Some(value) => out.append(&value),
            None => out.append_null(),
        }
    }
    Ok(out.finish())
}

/// `sum` and `avg` with a numeric result.
#[derive(Debug)]
pub struct SumFold {
    pub average: bool,
    pub ret: SqlType,
}

impl Fold for SumFold {
    type State = Sum;
    type Columns<'a> = Numbers<'a>;
    const RETRACTS: bool = true;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Numbers<'a>> {
        numbers(args)
    }

    #[inline]
    fn add(&self, state: &mut Sum, columns: &Numbers<'_>, row: usize) -> PgResult<()> {
        match columns.get(row)? {
            Some(Number::Small(mantissa, scale)) => state.add(mantissa, scale),
            Some(Number::Other(value)) => state.add_numeric(&value),
            None => Ok(()),
        }
    }

    fn retract(&self, state: &mut Sum, columns: &Numbers<'_>, row: usize) -> PgResult<()> {
        match columns.get(row)? {
            Some(Number::Small(mantissa, scale)) => state.subtract(mantissa, scale),
            Some(Number::Other(value)) => {
                state.count -= 1;
                if !state.count_special(&value, -1) {
                    state.add_to_rest(&value.neg())?;
                }
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn merge(&self, state: &mut Sum, other: Sum) -> PgResult<()> {
        state.merge(&other)
    }

    fn encode(&self, state: &Sum, out: &mut Vec<u8>) {
        state.encode(out);
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<Sum> {
        Sum::decode(&mut StateReader(bytes))
    }

    fn finish(&self, states: Vec<Sum>) -> PgResult<ArrayRef> {
        let rows = states.len();
        let values = states.iter().map(|state| {
            if state.count == 0 {
                return Ok(None);
            }
            let total = state.total()?;
            if self.average { total.div(&Numeric::from_i64(state.count)).map(Some) } else { Ok(Some(total)) }
        });
        column(&self.ret, values, rows)
    }
}

/// What to make of count, sum and sum of squares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spread {
    /// Divide by n − 1 rather than n.
    pub sample: bool,
    /// The square root.
    pub deviation: bool,
}

/// Variances and standard deviations with a numeric result.
#[derive(Debug)]
pub struct SpreadFold {
    pub spread: Spread,
    pub ret: SqlType,
}

/// Sum and sum of squares.
#[derive(Debug, Default)]
pub struct Squares {
    sum: Sum,
    squares: Sum,
}

impl SpreadFold {
    fn result(&self, state: &Squares) -> PgResult<Option<Numeric>> {
        let count = state.sum.count;
        if count == 0 || (self.spread.sample && count == 1) {
            return Ok(None);
        }
        let (sum, squares) = (state.sum.total()?, state.squares.total()?);
        if !sum.is_finite() || !squares.is_finite() {
            return Ok(Some(Numeric::NAN));
        }
        let n = Numeric::from_i64(count);
        let numerator = n.mul(&squares)?.sub(&sum.mul(&sum)?)?;
        if numerator.signum() <= 0 {
            return Ok(Some(Numeric::ZERO));
        }
        let divisor = n.mul(&Numeric::from_i64(if self.spread.sample { count - 1 } else { count }))?;
        let variance = numerator.div(&divisor)?;
        if !self.spread.deviation {
            return Ok(Some(variance));
        }
        Ok(Some(variance.sqrt_at(variance.display_scale())?))
    }
}

impl Fold for SpreadFold {
    type State = Squares;
    type Columns<'a> = Numbers<'a>;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Numbers<'a>> {
        numbers(args)
    }

    fn add(&self, state: &mut Squares, columns: &Numbers<'_>, row: usize) -> PgResult<()> {
        match columns.get(row)? {
            Some(Number::Small(mantissa, scale)) => {
                state.sum.add(mantissa, scale)?;
                match (mantissa.checked_mul(mantissa), scale.checked_mul(2)) {
                    (Some(square), Some(scale)) => state.squares.add(square, scale),
                    _ => {
                        let value = Numeric::from_i128(mantissa, scale);
                        state.squares.add_numeric(&value.mul(&value)?)
                    }
                }
            }
            Some(Number::Other(value)) => {
                state.sum.add_numeric(&value)?;
                state.squares.add_numeric(&value.mul(&value)?)
            }
            None => Ok(()),
        }
    }

    fn merge(&self, state: &mut Squares, other: Squares) -> PgResult<()> {
        state.sum.merge(&other.sum)?;
        state.squares.merge(&other.squares)
    }

    fn encode(&self, state: &Squares, out: &mut Vec<u8>) {
        state.sum.encode(out);
        state.squares.encode(out);
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<Squares> {
        let mut reader = StateReader(bytes);
        Ok(Squares { sum: Sum::decode(&mut reader)?, squares: Sum::decode(&mut reader)? })
    }

    fn finish(&self, states: Vec<Squares>) -> PgResult<ArrayRef> {
        column(&self.ret, states.iter().map(|state| self.result(state)), states.len())
    }
}
