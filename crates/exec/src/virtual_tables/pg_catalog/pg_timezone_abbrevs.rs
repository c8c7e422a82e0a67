//! `pg_timezone_abbrevs`: abbreviations of time zones.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::values::timezone;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (name, offset, is_dst) in timezone::abbreviations_at(ctx.eval.transaction_time) {
        t.row(vec![("abbrev", name.into()), ("utc_offset", V::Span(i64::from(offset) * 1_000_000)), ("is_dst", is_dst.into())]);
    }
    Ok(())
}
