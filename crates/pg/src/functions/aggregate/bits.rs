//! `bit_and`, `bit_or` and `bit_xor` of bit strings.

use super::fold::Fold;
use crate::error::{PgError, PgResult};
use crate::operators::bit::together;
use arrow::array::{Array, ArrayRef, AsArray, StringViewArray, StringViewBuilder};
use std::sync::Arc;

/// Folds bit strings of one length digit by digit.
#[derive(Debug)]
pub struct BitFold {
    /// What the error for different lengths calls it.
    pub word: &'static str,
    pub of: fn(u8, u8) -> u8,
}

impl BitFold {
    fn take(&self, state: &mut Option<String>, digits: &str) -> PgResult<()> {
        *state = Some(match state.as_deref() {
            Some(so_far) => together(so_far, digits, self.word, self.of)?,
            None => digits.to_owned(),
        });
        Ok(())
    }
}

impl Fold for BitFold {
    type State = Option<String>;
    type Columns<'a> = &'a StringViewArray;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<&'a StringViewArray> {
        args.first().and_then(|column| column.as_string_view_opt()).ok_or_else(|| PgError::internal("bits that are none"))
    }

    fn add(&self, state: &mut Option<String>, column: &&StringViewArray, row: usize) -> PgResult<()> {
        if column.is_null(row) { Ok(()) } else { self.take(state, column.value(row)) }
    }

    fn merge(&self, state: &mut Option<String>, other: Option<String>) -> PgResult<()> {
        other.map_or(Ok(()), |digits| self.take(state, &digits))
    }

    fn encode(&self, state: &Option<String>, out: &mut Vec<u8>) {
        out.push(u8::from(state.is_some()));
        out.extend(state.iter().flat_map(|digits| digits.bytes()));
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<Option<String>> {
        let broken = || PgError::internal("a partial aggregate that cannot be read");
        let (any, digits) = bytes.split_first().ok_or_else(broken)?;
        let digits = std::str::from_utf8(digits).map_err(|_| broken())?;
        Ok((*any == 1).then(|| digits.to_owned()))
    }

    fn finish(&self, states: Vec<Option<String>>) -> PgResult<ArrayRef> {
        let mut out = StringViewBuilder::with_capacity(states.len());
        states.into_iter().for_each(|state| out.append_option(state));
        Ok(Arc::new(out.finish()))
    }

    fn heap_size(&self, state: &Option<String>) -> usize {
        state.as_ref().map_or(0, String::capacity)
    }
}
