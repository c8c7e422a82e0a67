//! `pg_timezone_names`: the time zones, with what holds in them now.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::values::timezone;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let now = ctx.eval.transaction_time;
    for (name, zone) in timezone::names().iter().filter_map(|name| timezone::named(name)) {
        let (offset, is_dst, abbreviation) = timezone::offset_info(&zone, now);
        t.row(vec![
            ("name", name.into()),
            ("abbrev", abbreviation.into()),
            ("utc_offset", V::Span(i64::from(offset) * 1_000_000)),
            ("is_dst", is_dst.into()),
        ]);
    }
    Ok(())
}
