//! EXPLAIN (ADVISE): indexes that a table does not have and that would make a plan cheaper.
//!
//! For each scan, join and limited sort of a plan the indexes that its columns suggest are tried as if they were there: the scan is
//! costed again with the descriptor of an index that has no entries. Costs are those that the choice of paths goes by.

use super::index_order::{column_of, scan_below};
use super::lookup_join::{best_probe, joined};
use arrow::compute::SortOptions;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::fmt;
use std::sync::Arc;
use stoa_exec::nodes::request::{ScanRequest, request_of, scan_cost};
use stoa_pg::PgResult;
use stoa_sql::catalog::deparse::quote_name;
use stoa_table::TableId;
use stoa_table::access::{Comparison, Predicate};
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexPart, IndexState, TableDescriptor};

/// An index is named if what it is for costs less than this share of what it costs now.
const WORTHWHILE: f64 = 0.6;
/// Costs below which nothing is worth an index.
const CHEAP: f64 = 200.0;
/// Columns that an index includes so that rows need not be looked up, and their bytes.
const MOST_INCLUDED: usize = 4;
const MOST_INCLUDED_BYTES: f64 = 32.0;
const ASCENDING: SortOptions = SortOptions { descending: false, nulls_first: false };

/// One piece of advice.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// Statements that make the indexes.
    pub statements: Vec<String>,
    /// What they are for.
    pub purpose: String,
    /// What that costs now, and would cost then.
    pub now: f64,
    pub then: f64,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = self.now / self.then.max(1.0);
        write!(f, "{}: {} costs {:.0} instead of {:.0}, ", self.statements.join("; "), self.purpose, self.then, self.now)?;
        write!(f, "{times:.*} times less (estimated)", usize::from(times < 10.0))
    }
}

impl Advice {
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "Statements": self.statements, "For": self.purpose, "Cost": self.now, "Cost With": self.then })
    }
}

/// What would help a plan; the largest gain first.
///
/// # Errors
/// The plan cannot be costed.
pub fn advise(plan: &Arc<dyn ExecutionPlan>) -> PgResult<Vec<Advice>> {
    let mut all = Vec::new();
    visit(plan, &mut all)?;
    // The largest gain first.
    all.sort_by(|a, b| (b.now - b.then).total_cmp(&(a.now - a.then)));
    let mut out: Vec<Advice> = Vec::new();
    for advice in all {
        if !out.iter().any(|other| other.statements == advice.statements) {
            out.push(advice);
        }
    }
    Ok(out)
}

fn visit(plan: &Arc<dyn ExecutionPlan>, out: &mut Vec<Advice>) -> PgResult<()> {
    let from = stoa_sql::typed::from_datafusion;
    let plan = &stoa_exec::nodes::bounded::as_planned(plan).map_err(from)?;
    if let Some(request) = request_of(plan) {
        out.extend(of_filters(request)?);
    }
    if let Some(sort) = plan.downcast_ref::<SortExec>()
        && let (Some(limit), Some((scan, request))) = (sort.fetch(), scan_below(sort.input()))
    {
        let order: Option<Vec<(ColumnId, SortOptions)>> =
            sort.expr().iter().map(|key| Some((column_of(&key.expr, sort.input(), request)?, key.options))).collect();
        if let (Some(order), Some(now)) = (order, scan_cost(scan)) {
            out.extend(of_order(request, &order, limit, now)?);
        }
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        for outer_is_left in [true, false] {
            let Some(side) = joined(join, outer_is_left).map_err(from)? else { continue };
            let Some(outer_rows) = side.outer_rows else { continue };
            let parts: Vec<(ColumnId, SortOptions)> = side.columns.iter().map(|c| (*c, ASCENDING)).collect();
            let purpose = format!("joining {}", side.request.scan.table.name);
            let cost = |with: &ScanRequest| {
                Ok(best_probe(with, &side.columns).map_err(from)?.map_or(f64::MAX, |(probe, rows)| probe.cost(outer_rows, rows)))
            };
            out.extend(best(side.request, &[parts], purpose, side.scan_cost + outer_rows, &cost)?);
        }
    }
    plan.children().into_iter().try_for_each(|child| visit(child, out))
}

/// Indexes for what a scan filters on.
fn of_filters(request: &ScanRequest) -> PgResult<Option<Advice>> {
    let purpose = || format!("filtering {}", request.scan.table.name);
    let now = request.least_cost()?;
    let mut best_of_all: Option<Advice> = None;
    for group in groups(request) {
        let advice = best(request, &group, purpose(), now, &|with| with.least_cost())?;
        if let Some(advice) = advice
            && best_of_all.as_ref().is_none_or(|b| advice.then < b.then)
        {
            best_of_all = Some(advice);
        }
    }
    Ok(best_of_all)
}

/// An index for an order of which few rows are wanted.
fn of_order(request: &ScanRequest, order: &[(ColumnId, SortOptions)], limit: usize, now: f64) -> PgResult<Option<Advice>> {
    let (equal, _) = compared(&request.predicates.iter().collect::<Vec<_>>());
    let mut parts: Vec<(ColumnId, SortOptions)> = equal.into_iter().map(|c| (c, ASCENDING)).collect();
    parts.extend(order.iter().filter(|(c, _)| !parts.iter().any(|(own, _)| own == c)).copied().collect::<Vec<_>>());
    let purpose = format!("the first {limit} of {} in order", request.scan.table.name);
    let cost =
        |with: &ScanRequest| Ok(with.ordered(order, limit).map_err(stoa_sql::typed::from_datafusion)?.map_or(f64::MAX, |(_, cost)| cost));
    best(request, &[parts], purpose, now, &cost)
}

/// Columns that predicates compare for equality, and those that they compare otherwise.
fn compared(predicates: &[&Predicate]) -> (Vec<ColumnId>, Vec<ColumnId>) {
    let (mut equal, mut other) = (Vec::new(), Vec::new());
    let mut pending: Vec<&Predicate> = predicates.to_vec();
    while let Some(predicate) = pending.pop() {
        match predicate {
            Predicate::And(parts) => pending.extend(parts),
            Predicate::Compare { column, op: Comparison::Equal, .. } | Predicate::In { column, .. } | Predicate::IsNull(column) => {
                equal.push(*column);
            }
            Predicate::Compare { column, .. } | Predicate::Prefix { column, .. } => other.push(*column),
            _ => {}
        }
    }
    for list in [&mut equal, &mut other] {
        list.sort_unstable();
        list.dedup();
    }
    other.retain(|c| !equal.contains(c));
    (equal, other)
}

/// Indexes to try together, as their columns: one for all filters, one for each column, one for each part of a disjunction.
fn groups(request: &ScanRequest) -> Vec<Vec<Vec<(ColumnId, SortOptions)>>> {
    let distinct =
        |c: &ColumnId| request.statistics.as_ref().and_then(|s| Some(s.column_values(*c)?.distinct_of(s.rows))).unwrap_or_default();
    let index = |predicates: &[&Predicate]| {
        let (mut equal, other) = compared(predicates);
        equal.sort_by(|a, b| distinct(b).total_cmp(&distinct(a)));
        equal.extend(other.first());
        equal.into_iter().map(|c| (c, ASCENDING)).collect::<Vec<_>>()
    };
    let all: Vec<&Predicate> = request.predicates.iter().collect();
    let mut out = vec![vec![index(&all)]];
    let (equal, other) = compared(&all);
    out.extend(equal.into_iter().chain(other).map(|c| vec![vec![(c, ASCENDING)]]));
    for predicate in &request.predicates {
        if let Predicate::Or(parts) = predicate {
            out.push(parts.iter().map(|part| index(&[part])).collect());
        }
    }
    out.retain(|group| !group.is_empty() && group.iter().all(|parts| !parts.is_empty()));
    out
}

/// The advice to make indexes over some columns, if that is worth it; alone it may include columns too.
fn best(
    request: &ScanRequest,
    group: &[Vec<(ColumnId, SortOptions)>],
    purpose: String,
    now: f64,
    cost: &dyn Fn(&ScanRequest) -> PgResult<f64>,
) -> PgResult<Option<Advice>> {
    // What a statement asks for by hints is its own affair.
    if !request.preferences.hints.is_empty() || now < CHEAP {
        return Ok(None);
    }
    let table = &request.scan.table;
    let plain: Option<Vec<IndexDescriptor>> = group.iter().map(|parts| hypothetical(table, parts, Vec::new())).collect();
    let Some(plain) = plain else { return Ok(None) };
    let mut tries = vec![plain];
    if let [parts] = group {
        let in_key = |c: &ColumnId| parts.iter().any(|(own, _)| own == c) || table.is_key(*c);
        let included: Vec<ColumnId> = request.needed.iter().filter(|c| !in_key(c)).copied().collect();
        let width = |c: &ColumnId| request.statistics.as_ref().and_then(|s| s.column_values(*c)).map_or(f64::MAX, |v| v.width);
        let narrow = included.len() <= MOST_INCLUDED && included.iter().map(width).sum::<f64>() <= MOST_INCLUDED_BYTES;
        if !included.is_empty() && narrow {
            tries.extend(hypothetical(table, parts, included).map(|index| vec![index]));
        }
    }
    let mut found: Option<(f64, Vec<IndexDescriptor>)> = None;
    for indexes in tries {
        // A type without an order cannot be indexed.
        let Ok(then) = cost(&request.with_indexes(&indexes)) else { continue };
        // Including columns must be worth it too.
        if found.as_ref().is_none_or(|(least, _)| then < least * 0.5) {
            found = Some((then, indexes));
        }
    }
    Ok(found.filter(|(then, _)| *then < now * WORTHWHILE).map(|(then, indexes)| Advice {
        statements: indexes.iter().map(|index| statement(table, index)).collect(),
        purpose,
        now,
        then,
    }))
}

fn hypothetical(table: &TableDescriptor, parts: &[(ColumnId, SortOptions)], include: Vec<ColumnId>) -> Option<IndexDescriptor> {
    let parts = parts
        .iter()
        .map(|(id, options)| {
            let column = table.column(*id)?;
            Some(IndexPart {
                key: IndexKey::Column(*id),
                ty: column.ty.clone(),
                class: None,
                collation: None,
                descending: options.descending,
                nulls_first: options.nulls_first,
            })
        })
        .collect::<Option<Vec<_>>>()?;
    let parts = parts
        .into_iter()
        .map(|mut part| {
            // As it is without NULLS FIRST or LAST where that makes no difference.
            if let IndexKey::Column(id) = &part.key
                && table.column(*id).is_some_and(|c| c.not_null || table.is_key(*id))
            {
                part.nulls_first = part.descending;
            }
            part
        })
        .collect();
    Some(IndexDescriptor {
        oid: 0,
        name: "hypothetical".into(),
        storage: TableId(u32::MAX),
        unique: false,
        nulls_not_distinct: false,
        primary: false,
        parts,
        include,
        predicate: None,
        state: IndexState::Readable,
        readable_from: 0,
        replaces: None,
        constraint: None,
        method: "btree".into(),
        options: Vec::new(),
        salt_buckets: None,
        comment: None,
    })
}

/// The statement that makes an index.
fn statement(table: &TableDescriptor, index: &IndexDescriptor) -> String {
    let name = |id: ColumnId| table.column(id).map(|c| quote_name(&c.name)).unwrap_or_default();
    let parts: Vec<String> = index
        .parts
        .iter()
        .map(|part| {
            let column = match &part.key {
                IndexKey::Column(id) => name(*id),
                IndexKey::Expr(sql) => format!("({sql})"),
            };
            let nulls = match (part.descending, part.nulls_first) {
                (true, false) => " NULLS LAST",
                (false, true) => " NULLS FIRST",
                _ => "",
            };
            format!("{column}{}{nulls}", if part.descending { " DESC" } else { "" })
        })
        .collect();
    let mut out = format!("CREATE INDEX ON {} ({})", quote_name(&table.name), parts.join(", "));
    if !index.include.is_empty() {
        let include: Vec<String> = index.include.iter().map(|id| name(*id)).collect();
        out.push_str(&format!(" INCLUDE ({})", include.join(", ")));
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::session::write_tests::{answer, connect, database};

    #[tokio::test]
    async fn advice_names_an_index_that_is_then_used() {
        let database = database().await;
        let mut s = connect(&database);
        for sql in [
            "CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int, \"D\" text, pad text)",
            "INSERT INTO t SELECT i, i % 50, i % 700, i % 11, 'd' || i % 90, repeat('x', 50) FROM generate_series(1, 6000) i",
            "CREATE TABLE o (id int PRIMARY KEY, x int)",
            "INSERT INTO o SELECT i, i FROM generate_series(1, 10) i",
            "ANALYZE",
        ] {
            answer(&mut s, sql).await;
        }
        for (sql, wanted, node) in [
            ("SELECT pad FROM t WHERE a = 3 AND b = 5", "CREATE INDEX ON t (b, a)", "IndexLookupExec"),
            ("SELECT pad FROM t WHERE b = 5 AND a > 48", "CREATE INDEX ON t (b", "IndexLookupExec"),
            ("SELECT c FROM t WHERE \"D\" = 'd7'", "CREATE INDEX ON t (\"D\") INCLUDE (c)", "(covered)"),
            ("SELECT pad FROM t WHERE b = 5 OR \"D\" = 'd7'", "CREATE INDEX ON t (b); CREATE INDEX ON t (\"D\")", "KeySetExec"),
            ("SELECT pad FROM t WHERE c = 3 ORDER BY b DESC LIMIT 2", "CREATE INDEX ON t (c, b DESC)", "limit=2"),
            ("SELECT pad FROM o JOIN t ON b = x", "CREATE INDEX ON t (b)", "LookupJoinExec"),
            ("UPDATE t SET c = 1 WHERE b = 5", "CREATE INDEX ON t (b)", "IndexLookupExec"),
        ] {
            let answered = answer(&mut s, &format!("EXPLAIN (ADVISE) {sql}")).await;
            let all: Vec<&str> = answered.split("; Advice: ").skip(1).collect();
            let advice = all.iter().find(|a| a.starts_with(wanted)).unwrap_or_else(|| panic!("{sql}: {answered}"));
            assert!(advice.contains("times less (estimated)"), "{sql}: {advice}");
            assert!(!answered.contains(node), "{sql}: {answered}");
            let statements: Vec<&str> = advice.split(": ").next().unwrap().split("; ").collect();
            for (n, statement) in statements.iter().enumerate() {
                answer(&mut s, &statement.replace("INDEX ON", &format!("INDEX made{n} ON"))).await;
            }
            let answered = answer(&mut s, &format!("EXPLAIN (ADVISE) {sql}")).await;
            assert!(answered.contains("made0") && answered.contains(node), "{sql}: {answered}");
            for n in 0..statements.len() {
                answer(&mut s, &format!("DROP INDEX made{n}")).await;
            }
        }
        for sql in
            ["SELECT pad FROM t WHERE id = 5", "SELECT pad FROM t", "SELECT x FROM o WHERE x = 3", "SELECT pad FROM t WHERE a + b = 3"]
        {
            let answered = answer(&mut s, &format!("EXPLAIN (ADVISE) {sql}")).await;
            assert!(answered.contains("Advice: none"), "{sql}: {answered}");
        }
        let answered = answer(&mut s, "EXPLAIN (ADVISE, FORMAT JSON) SELECT pad FROM t WHERE b = 5").await;
        assert!(answered.contains("\"Statements\"") && answered.contains("CREATE INDEX ON t (b)"), "{answered}");
    }
}
