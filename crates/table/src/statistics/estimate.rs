//! Shares of rows that predicates leave, from statistics. Columns are taken to be independent of each other.

use super::{ColumnValues, TableStatistics};
use crate::access::Predicate;
use crate::access::ranges::spans_of;
use crate::access::span::{Span, Spans};
use crate::catalog::{ColumnId, TableDescriptor};
use crate::row::key::KeyPartCodec;
use crate::row::types::part_kind;
use datafusion_common::stats::Precision;
use datafusion_common::{ColumnStatistics, ScalarValue};
use stoa_encoding::keyside::{Direction, KeyPart, NullOrder, encode_null};
use stoa_pg::SqlType;

/// Of a filter of which nothing is known.
const UNKNOWN_SHARE: f64 = 0.33;

impl TableStatistics {
    /// The share of rows that predicates leave which must all be true.
    #[must_use]
    pub fn share(&self, table: &TableDescriptor, predicates: &[&Predicate]) -> f64 {
        let mut by_column: Vec<(ColumnId, Vec<Predicate>)> = Vec::new();
        let mut share = 1.0;
        let mut pending: Vec<&Predicate> = predicates.to_vec();
        while let Some(predicate) = pending.pop() {
            if let Predicate::And(parts) = predicate {
                pending.extend(parts);
                continue;
            }
            let mut columns = Vec::new();
            predicate.each_column(&mut |c| columns.push(c));
            columns.sort_unstable();
            columns.dedup();
            match (predicate, columns.as_slice()) {
                (Predicate::Always, _) => {}
                (Predicate::Never, _) => return 0.0,
                (predicate, [column]) if !has_unknown(predicate) => match by_column.iter_mut().find(|(c, _)| c == column) {
                    Some((_, list)) => list.push(predicate.clone()),
                    None => by_column.push((*column, vec![predicate.clone()])),
                },
                (Predicate::Or(parts), _) => {
                    let none: f64 = parts.iter().map(|p| 1.0 - self.share(table, &[p])).product();
                    share *= 1.0 - none;
                }
                _ => share *= UNKNOWN_SHARE,
            }
        }
        for (column, list) in by_column {
            let part = table.column(column).and_then(|c| {
                let part = KeyPart::nullable(part_kind(&c.ty).ok()?, Direction::Asc, NullOrder::Last);
                Some(KeyPartCodec::of_value(column, c.ty.clone(), part, self.epoch))
            });
            share *= part.map_or(UNKNOWN_SHARE, |part| self.share_of_column(&part, &list));
        }
        share.clamp(0.0, 1.0)
    }

    /// The share of rows that predicates leave by what they say of one column.
    #[must_use]
    pub fn share_of_column(&self, part: &KeyPartCodec, predicates: &[Predicate]) -> f64 {
        // What is computed of a column narrows no further than the column; another form of it has the same values.
        let kind = if part.form.gives_back() { part_kind(&part.ty).ok() } else { None };
        let Some(kind) = kind else { return 1.0 };
        let ascending = KeyPart::nullable(kind, Direction::Asc, NullOrder::Last);
        let part = KeyPartCodec::of_value(part.source, part.ty.clone(), ascending, self.epoch);
        let Some(spans) = spans_of(predicates, part.clone()) else { return 1.0 };
        match self.column_values(part.source) {
            Some(values) => values.share(&spans, self.rows),
            // Of an expression, say.
            None => spans.iter().map(|s| if matches!(s, Span::Point(_)) { 0.02 } else { 0.25 }).sum::<f64>().min(1.0),
        }
    }

    /// What DataFusion knows of a column of a scan that gives this many rows.
    #[must_use]
    pub fn column(&self, id: ColumnId, ty: &SqlType, rows: f64) -> ColumnStatistics {
        let mut out = ColumnStatistics::new_unknown();
        let Some(values) = self.column_values(id) else { return out };
        let present = rows * (1.0 - values.null_share);
        out.null_count = Precision::Inexact((rows * values.null_share) as usize);
        if values.distinct != 0.0 {
            out.distinct_count = Precision::Inexact(values.distinct_of(self.rows).min(present).max(1.0) as usize);
        }
        let parsed = |text: &str| {
            let mut builder = stoa_pg::values::builder(ty).ok()?;
            builder.text(&stoa_pg::EvalContext::default(), text).ok()?;
            ScalarValue::try_from_array(&builder.finish().ok()?, 0).ok()
        };
        // Bounds are of use for numbers and times. They are PostgreSQL's least and greatest: DataFusion may have them only where it has the
        // same order, or the least would be above the greatest, as of intervals.
        if (ty.arrow.is_numeric() || ty.arrow.is_temporal()) && ty.has_native_order() {
            let ends = values.histogram.first().into_iter().chain(values.histogram.last()).chain(values.common.iter().map(|(v, _)| v));
            let (mut least, mut most) = (None, None);
            for value in ends {
                if least.is_none_or(|l: &super::Value| value.key < l.key) {
                    least = Some(value);
                }
                if most.is_none_or(|m: &super::Value| value.key > m.key) {
                    most = Some(value);
                }
            }
            if let Some(value) = least.and_then(|v| parsed(&v.text)) {
                out.min_value = Precision::Inexact(value);
            }
            if let Some(value) = most.and_then(|v| parsed(&v.text)) {
                out.max_value = Precision::Inexact(value);
            }
        }
        out
    }
}

fn has_unknown(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::Unknown => true,
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().any(has_unknown),
        _ => false,
    }
}

impl ColumnValues {
    /// The share of rows whose value lies in the spans.
    #[must_use]
    pub fn share(&self, spans: &Spans, rows: f64) -> f64 {
        let mut null = Vec::new();
        encode_null(&mut null, Direction::Asc, NullOrder::Last);
        let common: f64 = self.common.iter().map(|(_, share)| share).sum();
        let rest = (1.0 - self.null_share - common).max(0.0);
        let different = (self.distinct_of(rows) - self.common.len() as f64).max(1.0);
        let mut out = 0.0;
        for span in spans.iter() {
            match span {
                Span::Point(key) if *key == null => out += self.null_share,
                Span::Point(key) => {
                    out += match self.common.iter().find(|(v, _)| v.key == *key) {
                        Some((_, share)) => *share,
                        None => rest / different,
                    };
                }
                Span::Range { start, end } => {
                    let within = |key: &[u8]| key >= start.as_slice() && end.as_deref().is_none_or(|end| key < end);
                    out += self.common.iter().filter(|(v, _)| within(&v.key)).map(|(_, share)| share).sum::<f64>();
                    if within(&null) {
                        out += self.null_share;
                    }
                    let below = |key: &[u8]| position(&self.histogram, key);
                    let share = end.as_deref().map_or(1.0, below) - below(start);
                    // A range that lies between two cuts holds something.
                    out += if self.histogram.is_empty() { 0.0 } else { rest * share.max(0.5 / different.max(1.0)) };
                }
            }
        }
        let least = if rows > 0.0 { 0.5 / rows } else { 0.0 };
        out.clamp(least, 1.0)
    }
}

/// The share of a histogram's values below a key.
fn position(histogram: &[super::Value], key: &[u8]) -> f64 {
    let cuts = histogram.len().saturating_sub(1);
    if cuts == 0 {
        return 0.0;
    }
    let at = histogram.partition_point(|v| v.key.as_slice() <= key);
    let (Some(below), Some(above)) = (at.checked_sub(1).and_then(|n| histogram.get(n)), histogram.get(at)) else {
        return if at == 0 { 0.0 } else { 1.0 };
    };
    (at as f64 - 1.0 + between(&below.key, key, &above.key)) / cuts as f64
}

/// How far a key is on the way between two others.
fn between(low: &[u8], key: &[u8], high: &[u8]) -> f64 {
    let common = low.iter().zip(high).take_while(|(a, b)| a == b).count();
    let number = |bytes: &[u8]| {
        let mut out = 0u64;
        for n in 0..8 {
            out = (out << 8) | u64::from(bytes.get(common + n).copied().unwrap_or(0));
        }
        out as f64
    };
    let (low, key, high) = (number(low), number(key), number(high));
    if high > low { ((key - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}
