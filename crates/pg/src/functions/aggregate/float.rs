//! Aggregates of floats, by the formulas that PostgreSQL uses (Youngs and Cramer), and of pairs of them.

use super::fold::{Fold, StateReader};
use super::numeric::Spread;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use arrow::array::{Array, ArrayRef, AsArray, Float32Array, Float64Array, Int64Array};
use arrow::datatypes::{Float32Type, Float64Type};
use std::sync::Arc;

fn overflow() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

/// A column of float4 or float8.
pub enum Floats<'a> {
    Float4(&'a Float32Array),
    Float8(&'a Float64Array),
}

impl Floats<'_> {
    #[inline]
    fn get(&self, row: usize) -> Option<f64> {
        match self {
            Floats::Float4(array) => array.is_valid(row).then(|| f64::from(array.value(row))),
            Floats::Float8(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

fn floats(array: Option<&ArrayRef>) -> PgResult<Floats<'_>> {
    let array = array.ok_or_else(|| PgError::internal("an aggregate without its argument"))?;
    if let Some(array) = array.as_primitive_opt::<Float64Type>() {
        return Ok(Floats::Float8(array));
    }
    array
        .as_primitive_opt::<Float32Type>()
        .map(Floats::Float4)
        .ok_or_else(|| PgError::internal(format!("an aggregate of floats was given {}", array.data_type())))
}

/// `sum(float4)` and `sum(float8)`, each in its own precision.
#[derive(Debug)]
pub struct FloatSum {
    pub single: bool,
}

impl FloatSum {
    #[inline]
    fn plus(&self, a: f64, b: f64) -> PgResult<f64> {
        let sum = if self.single { f64::from(a as f32 + b as f32) } else { a + b };
        if sum.is_infinite() && !a.is_infinite() && !b.is_infinite() { Err(overflow()) } else { Ok(sum) }
    }
}

impl Fold for FloatSum {
    type State = Option<f64>;
    type Columns<'a> = Floats<'a>;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Floats<'a>> {
        floats(args.first())
    }

    #[inline]
    fn add(&self, state: &mut Option<f64>, columns: &Floats<'_>, row: usize) -> PgResult<()> {
        if let Some(value) = columns.get(row) {
            *state = Some(match *state {
                Some(sum) => self.plus(sum, value)?,
                None => value,
            });
        }
        Ok(())
    }

    fn merge(&self, state: &mut Option<f64>, other: Option<f64>) -> PgResult<()> {
        *state = match (*state, other) {
            (Some(a), Some(b)) => Some(self.plus(a, b)?),
            (a, b) => a.or(b),
        };
        Ok(())
    }

    fn encode(&self, state: &Option<f64>, out: &mut Vec<u8>) {
        if let Some(sum) = state {
            out.extend_from_slice(&sum.to_le_bytes());
        }
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<Option<f64>> {
        if bytes.is_empty() { Ok(None) } else { StateReader(bytes).f64().map(Some) }
    }

    fn finish(&self, states: Vec<Option<f64>>) -> PgResult<ArrayRef> {
        Ok(if self.single {
            Arc::new(Float32Array::from_iter(states.into_iter().map(|sum| sum.map(|sum| sum as f32))))
        } else {
            Arc::new(Float64Array::from_iter(states))
        })
    }
}

/// What is made of n, Σx and Σ(x − mean)².
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatResult {
    Average,
    Spread(Spread),
}

/// `avg`, `variance`, `stddev` and relatives of floats.
#[derive(Debug)]
pub struct FloatMoments {
    pub result: FloatResult,
}

/// n, Σx and Σ(x − mean)².
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    n: f64,
    sx: f64,
    sxx: f64,
}

impl Fold for FloatMoments {
    type State = Moments;
    type Columns<'a> = Floats<'a>;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Floats<'a>> {
        floats(args.first())
    }

    #[inline]
    fn add(&self, state: &mut Moments, columns: &Floats<'_>, row: usize) -> PgResult<()> {
        let Some(value) = columns.get(row) else { return Ok(()) };
        let before = *state;
        state.n += 1.0;
        state.sx += value;
        if before.n > 0.0 {
            let gap = value * state.n - state.sx;
            state.sxx += gap * gap / (state.n * before.n);
            if state.sx.is_infinite() || state.sxx.is_infinite() {
                if !before.sx.is_infinite() && !value.is_infinite() {
                    return Err(overflow());
                }
                state.sxx = f64::NAN;
            }
        } else if !value.is_finite() {
            state.sxx = f64::NAN;
        }
        Ok(())
    }

    fn merge(&self, state: &mut Moments, other: Moments) -> PgResult<()> {
        if state.n == 0.0 {
            *state = other;
        } else if other.n != 0.0 {
            let n = state.n + other.n;
            let sx = state.sx + other.sx;
            if sx.is_infinite() && !state.sx.is_infinite() && !other.sx.is_infinite() {
                return Err(overflow());
            }
            let gap = state.sx / state.n - other.sx / other.n;
            let sxx = state.sxx + other.sxx + state.n * other.n * gap * gap / n;
            if sxx.is_infinite() && !state.sxx.is_infinite() && !other.sxx.is_infinite() {
                return Err(overflow());
            }
            *state = Moments { n, sx, sxx };
        }
        Ok(())
    }

    fn encode(&self, state: &Moments, out: &mut Vec<u8>) {
        for part in [state.n, state.sx, state.sxx] {
            out.extend_from_slice(&part.to_le_bytes());
        }
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<Moments> {
        let mut reader = StateReader(bytes);
        Ok(Moments { n: reader.f64()?, sx: reader.f64()?, sxx: reader.f64()? })
    }

    fn finish(&self, states: Vec<Moments>) -> PgResult<ArrayRef> {
        let result = |Moments { n, sx, sxx }: Moments| match self.result {
            _ if n == 0.0 => None,
            FloatResult::Average => Some(sx / n),
            FloatResult::Spread(Spread { sample: true, .. }) if n < 2.0 => None,
            FloatResult::Spread(Spread { sample, deviation }) => {
                let variance = sxx / if sample { n - 1.0 } else { n };
                Some(if deviation { variance.sqrt() } else { variance })
            }
        };
        Ok(Arc::new(Float64Array::from_iter(states.into_iter().map(result))))
    }
}

/// The aggregates of pairs (y, x).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PairResult {
    Count,
    Sxx,
    Syy,
    Sxy,
    AvgX,
    AvgY,
    CovarPop,
    CovarSamp,
    Corr,
    R2,
    Slope,
    Intercept,
}

/// Regression and correlation.
#[derive(Debug)]
pub struct FloatPairs {
    pub result: PairResult,
}

/// n, Σx, Σ(x − mean x)², Σy, Σ(y − mean y)², Σ(x − mean x)(y − mean y).
#[derive(Clone, Copy, Debug, Default)]
pub struct PairMoments {
    n: f64,
    sx: f64,
    sxx: f64,
    sy: f64,
    syy: f64,
    sxy: f64,
}

impl Fold for FloatPairs {
    type State = PairMoments;
    type Columns<'a> = (Floats<'a>, Floats<'a>);

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Self::Columns<'a>> {
        Ok((floats(args.first())?, floats(args.get(1))?))
    }

    fn add(&self, state: &mut PairMoments, columns: &Self::Columns<'_>, row: usize) -> PgResult<()> {
        let (Some(y), Some(x)) = (columns.0.get(row), columns.1.get(row)) else { return Ok(()) };
        let before = *state;
        state.n += 1.0;
        if self.result == PairResult::Count {
            return Ok(());
        }
        state.sx += x;
        state.sy += y;
        if before.n > 0.0 {
            let (gap_x, gap_y) = (x * state.n - state.sx, y * state.n - state.sy);
            let scale = 1.0 / (state.n * before.n);
            state.sxx += gap_x * gap_x * scale;
            state.syy += gap_y * gap_y * scale;
            state.sxy += gap_x * gap_y * scale;
            let infinite = |s: &PairMoments| [s.sx, s.sxx, s.sy, s.syy, s.sxy].map(f64::is_infinite);
            let [sx, sxx, sy, syy, sxy] = infinite(state);
            if sx || sxx || sy || syy || sxy {
                let (old_x, old_y) = (before.sx.is_infinite() || x.is_infinite(), before.sy.is_infinite() || y.is_infinite());
                if ((sx || sxx) && !old_x) || ((sy || syy) && !old_y) || (sxy && !old_x && !old_y) {
                    return Err(overflow());
                }
                for (is, part) in [(sxx, &mut state.sxx), (syy, &mut state.syy), (sxy, &mut state.sxy)] {
                    if is {
                        *part = f64::NAN;
                    }
                }
            }
        } else {
            if !x.is_finite() {
                state.sxx = f64::NAN;
                state.sxy = f64::NAN;
            }
            if !y.is_finite() {
                state.syy = f64::NAN;
                state.sxy = f64::NAN;
            }
        }
        Ok(())
    }

    fn merge(&self, state: &mut PairMoments, other: PairMoments) -> PgResult<()> {
        if state.n == 0.0 {
            *state = other;
        } else if other.n != 0.0 {
            let a = *state;
            let n = a.n + other.n;
            let gap_x = a.sx / a.n - other.sx / other.n;
            let gap_y = a.sy / a.n - other.sy / other.n;
            let weight = a.n * other.n / n;
            *state = PairMoments {
                n,
                sx: a.sx + other.sx,
                sxx: a.sxx + other.sxx + weight * gap_x * gap_x,
                sy: a.sy + other.sy,
                syy: a.syy + other.syy + weight * gap_y * gap_y,
                sxy: a.sxy + other.sxy + weight * gap_x * gap_y,
            };
        }
        Ok(())
    }

    fn encode(&self, s: &PairMoments, out: &mut Vec<u8>) {
        for part in [s.n, s.sx, s.sxx, s.sy, s.syy, s.sxy] {
            out.extend_from_slice(&part.to_le_bytes());
        }
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<PairMoments> {
        let mut r = StateReader(bytes);
        Ok(PairMoments { n: r.f64()?, sx: r.f64()?, sxx: r.f64()?, sy: r.f64()?, syy: r.f64()?, sxy: r.f64()? })
    }

    fn finish(&self, states: Vec<PairMoments>) -> PgResult<ArrayRef> {
        if self.result == PairResult::Count {
            return Ok(Arc::new(Int64Array::from_iter(states.iter().map(|s| Some(s.n as i64)))));
        }
        let result = |s: PairMoments| {
            let PairMoments { n, sx, sxx, sy, syy, sxy } = s;
            if n < 1.0 {
                return None;
            }
            match self.result {
                PairResult::Count => Some(n),
                PairResult::Sxx => Some(sxx),
                PairResult::Syy => Some(syy),
                PairResult::Sxy => Some(sxy),
                PairResult::AvgX => Some(sx / n),
                PairResult::AvgY => Some(sy / n),
                PairResult::CovarPop => Some(sxy / n),
                PairResult::CovarSamp => (n >= 2.0).then(|| sxy / (n - 1.0)),
                PairResult::Corr => (sxx != 0.0 && syy != 0.0).then(|| sxy / (sxx * syy).sqrt()),
                PairResult::R2 if sxx == 0.0 => None,
                PairResult::R2 if syy == 0.0 => Some(1.0),
                PairResult::R2 => Some(sxy * sxy / (sxx * syy)),
                PairResult::Slope => (sxx != 0.0).then(|| sxy / sxx),
                PairResult::Intercept => (sxx != 0.0).then(|| (sy - sx * sxy / sxx) / n),
            }
        };
        Ok(Arc::new(Float64Array::from_iter(states.into_iter().map(result))))
    }
}
