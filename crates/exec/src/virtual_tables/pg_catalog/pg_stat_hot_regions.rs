//! `pg_stat_hot_regions`: regions of which much more is read or written than of the others of their table or index, why that may be, and what
//! to do about it. What is said of a table is for its owner and for `pg_read_all_stats`.

use super::super::builder::{Builder, V};
use super::pg_stat_regions::{Stored, wanted};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::types::PgType;
use stoa_sql::catalog::names::qualified;
use stoa_sql::definition::Definitions;
use stoa_table::catalog::role::READ_ALL_STATS;
use stoa_table::catalog::{IndexKey, KeyForm, RightsOf, TableDescriptor};
use stoa_table::{Region, Traffic};

/// Fewer rows say nothing.
const ENOUGH: u128 = 1000;
/// A region is hot that has so many times as much as the others have on average.
const TIMES: u128 = 3;
/// The buckets that advice speaks of.
const BUCKETS: u16 = 16;

/// Adds the rows.
///
/// # Errors
/// What the store reports.
pub async fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let authority = ctx.catalog.authority();
    let sees_all = authority.has_rights_of(ctx.role, READ_ALL_STATS);
    for table in wanted(ctx, t) {
        // The regions of a foreign table are those of the raw table.
        if table.mapping.is_some() || !(sees_all || authority.owns(ctx.role, RightsOf::Relation(table.oid))) {
            continue;
        }
        for stored in Stored::of(ctx, &table).await? {
            add(ctx, t, &stored);
        }
    }
    Ok(())
}

fn add(ctx: &StatementContext, t: &mut Builder<'_>, stored: &Stored<'_>) {
    let of = |what: fn(&Traffic) -> u64| Shares::new(stored.regions.iter().map(|region| region.traffic.as_ref().map_or(0, what)));
    let (reads, writes) = (of(|traffic| traffic.reads), of(|traffic| traffic.writes));
    let bytes = Shares::new(stored.regions.iter().map(|region| region.approximate_bytes));
    for (at, region) in stored.regions.iter().enumerate().filter(|(at, _)| reads.is_hot(*at) || writes.is_hot(*at)) {
        let key = FirstPart::of(ctx, stored);
        let cause = key.cause(stored, region, &bytes, at);
        let share = |of: &Shares| of.share(at).map_or(V::Null, |share| V::Float((share * 1000.0).round() / 1000.0));
        let mut row = stored.shown(ctx, i64::try_from(at).unwrap_or(i64::MAX).saturating_add(1), region);
        row.extend([
            ("read_share", share(&reads)),
            ("write_share", share(&writes)),
            ("key_part", key.written.as_str().into()),
            ("cause", cause.text(&key).into()),
            ("advice", cause.advice(ctx, stored, &key).into()),
        ]);
        t.row(row);
    }
}

/// What each region has of something.
struct Shares {
    each: Vec<u64>,
    total: u128,
}

impl Shares {
    fn new(each: impl Iterator<Item = u64>) -> Self {
        let each: Vec<u64> = each.collect();
        Self { total: each.iter().map(|n| u128::from(*n)).sum(), each }
    }

    fn share(&self, at: usize) -> Option<f64> {
        self.each.get(at).filter(|_| self.total > 0).map(|n| *n as f64 / self.total as f64)
    }

    /// Whether one has much more than the others on average.
    fn is_above(&self, at: usize) -> bool {
        let (of, others) = (self.each.get(at).copied().unwrap_or(0), self.each.len().saturating_sub(1));
        others > 0 && of > 0 && u128::from(of) * others as u128 >= TIMES * (self.total - u128::from(of))
    }

    fn is_hot(&self, at: usize) -> bool {
        self.total >= ENOUGH && self.is_above(at)
    }
}

/// The part with which keys begin, behind the salt.
struct FirstPart {
    /// As PRIMARY KEY or CREATE INDEX say it.
    written: String,
    /// Rows that are added have greater values, mostly.
    grows: bool,
    descending: bool,
    /// Whether there are others behind it.
    has_more: bool,
}

impl FirstPart {
    fn of(ctx: &StatementContext, stored: &Stored<'_>) -> Self {
        let table = stored.table;
        if let Some(index) = stored.index {
            let first = index.parts.first();
            let column = first.and_then(|part| if let IndexKey::Column(id) = part.key { table.column(id) } else { None });
            let definitions = Definitions { catalog: &ctx.catalog, path: &ctx.search_path, eval: &ctx.eval };
            let written = definitions.index_column(table, Some(index), 0, true, true).unwrap_or_default();
            return Self {
                written,
                grows: column.is_some_and(|column| grows(table, column.id)),
                descending: first.is_some_and(|part| part.descending),
                has_more: index.parts.len() > 1,
            };
        }
        let first = table.key.first();
        let column = first.and_then(|part| table.column(part.column));
        let in_order =
            first.is_some_and(|part| matches!(part.form, KeyForm::Value | KeyForm::Unsigned(_) | KeyForm::Signed(_) | KeyForm::Digits(_)));
        let written = match (first, column) {
            (Some(_), Some(column)) if column.hidden => "row number".to_owned(),
            (Some(part), Some(column)) => {
                let direction = if part.descending { " DESC" } else { "" };
                format!("{}{direction}", part.form.written(&stoa_sql::catalog::deparse::quote_name(&column.name)))
            }
            _ => String::new(),
        };
        Self {
            written,
            grows: in_order && column.is_some_and(|column| grows(table, column.id)),
            descending: first.is_some_and(|part| part.descending),
            has_more: table.key.len() > 1,
        }
    }

    fn cause(&self, stored: &Stored<'_>, region: &Region, bytes: &Shares, at: usize) -> Cause {
        let at_end = if self.descending { region.range.start.is_empty() } else { region.range.end.is_none() };
        if stored.shape.salt.is_none() && self.grows && at_end {
            Cause::Grows
        } else if bytes.is_above(at) {
            Cause::Large((bytes.share(at).unwrap_or(1.0) * 100.0).round() as u64)
        } else {
            Cause::Keys
        }
    }
}

/// Whether the values of a column grow with time: numbers of a sequence, and times.
fn grows(table: &TableDescriptor, column: stoa_table::catalog::ColumnId) -> bool {
    let Some(column) = table.column(column) else { return false };
    let counted = column.identity.is_some() || column.default.as_ref().is_some_and(|text| text.to_ascii_lowercase().contains("nextval("));
    table.row_id == Some(column.id) || counted || matches!(column.ty.ty, PgType::Date | PgType::Timestamp | PgType::Timestamptz)
}

enum Cause {
    Grows,
    /// It has so many hundredths of the bytes.
    Large(u64),
    Keys,
}

impl Cause {
    fn text(&self, key: &FirstPart) -> String {
        match self {
            Cause::Grows => format!("keys begin with {}, which grows: new rows are all in this region", key.written),
            Cause::Large(hundredths) => format!("it has {hundredths} % of the bytes"),
            Cause::Keys => "some of its keys are asked for, or written, much more than others".to_owned(),
        }
    }

    fn advice(&self, ctx: &StatementContext, stored: &Stored<'_>, key: &FirstPart) -> String {
        let table = stored.table;
        let name = qualified(&ctx.catalog, table.oid).unwrap_or_else(|| table.name.clone());
        if let Some(index) = stored.index {
            return match (self, index.salt_buckets) {
                (Cause::Grows | Cause::Large(_), None) => {
                    format!("CREATE INDEX … WITH (salt_buckets = {BUCKETS}) in its place spreads the entries")
                }
                (Cause::Keys, None) if key.has_more => {
                    format!("CREATE INDEX … WITH (salt_buckets = {BUCKETS}) in its place spreads also the entries of one {}", key.written)
                }
                _ => "entries of one value lie together: add a column to the index, or leave the value out with WHERE".to_owned(),
            };
        }
        if table.is_raw() {
            return format!(
                "ALTER TABLE {name} SPLIT AT (X'…') at a key inside; who writes keys that grow puts a hash or the reversed number in front"
            );
        }
        let salt = format!("ALTER TABLE {name} SALT ({BUCKETS})");
        match (self, &table.salt) {
            (Cause::Grows, _) => format!(
                "{salt} spreads new rows over {BUCKETS} buckets, in each of which ranges are then read; or a key that begins with HASH or REVERSE of \
                 a column that queries give"
            ),
            (Cause::Large(_), _) if table.primary_key.is_some() => format!("ALTER TABLE {name} SPLIT AT (…) at a key between its bounds"),
            (Cause::Large(_), _) => format!("{salt} spreads rows over {BUCKETS} regions"),
            (Cause::Keys, None) if key.has_more => format!(
                "ALTER TABLE {name} SPLIT AT (…) at a key between its bounds, if that parts what is hot; {salt} spreads also the rows of one {}",
                key.written
            ),
            (Cause::Keys, None) => {
                format!("ALTER TABLE {name} SPLIT AT (…) at a key between its bounds, if that parts what is hot, or {salt}")
            }
            (Cause::Keys, Some(own)) if own.columns.len() < table.key_columns().count() => {
                format!("ALTER TABLE {name} SALT ({}) over the whole key spreads also the rows of one value", own.buckets)
            }
            (Cause::Keys, Some(_)) => "single rows are hot, which no split spreads: put what changes often into several rows".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shares;

    #[test]
    fn a_region_is_hot_that_has_three_times_the_average_of_the_others() {
        let hot = |each: &[u64]| -> Vec<usize> {
            let shares = Shares::new(each.iter().copied());
            (0..each.len()).filter(|at| shares.is_hot(*at)).collect()
        };
        assert_eq!(hot(&[5000]), [0; 0], "one region has no share");
        assert_eq!(hot(&[749, 251]), [0; 0]);
        assert_eq!(hot(&[750, 250]), [0]);
        assert_eq!(hot(&[740, 246]), [0; 0], "too few rows");
        assert_eq!(hot(&[250, 250, 250, 250]), [0; 0]);
        assert_eq!(hot(&[100, 500, 100, 500]), [0; 0], "no one stands out");
        assert_eq!(hot(&[0, 0, 0, 1000]), [3]);
        assert_eq!(hot(&[0, 0, 0, 0]), [0; 0]);
        assert_eq!(hot(&[600, 600, 50, 50, 50, 50, 50, 50, 50, 50]), [0, 1]);
        assert_eq!(hot(&[u64::MAX, u64::MAX]), [0; 0]);
    }
}
