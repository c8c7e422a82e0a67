//! Plans as people read them: columns by their names.
//!
//! In a plan a column is called `c` and its id, with its position behind it (`c4@0`), and a kernel by its name and OID
//! (`lower#10533`). [`Names`] knows what the statement calls them, and [`render`] adds what was expected of a node and what it did.

use crate::plan::explain::ExplainOptions;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::metrics::MetricValue;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, displayable};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stoa_sql::typed::column_name;
use stoa_sql::typed::match_config::MatchConfig;
use stoa_sql::typed::tree::{Bound, BoundBody, CteBody, Rel};
use stoa_sql::typed::walk;

/// What a statement calls its columns, by their names in plans.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, String>);

impl Names {
    /// The columns of scans (with the table's alias where more than one column has the name), and those of the result.
    pub(crate) fn of(bound: &Bound) -> Self {
        let mut rels: Vec<&Rel> = Vec::new();
        for cte in &bound.ctes {
            match &cte.body {
                CteBody::Query(rel) => rels.push(rel),
                CteBody::Mutation(m) => rels.push(&m.source),
            }
        }
        match &bound.body {
            BoundBody::Query(query) => rels.push(&query.rel),
            BoundBody::Mutation(m) => rels.push(&m.source),
        }
        let mut columns: Vec<(String, String, String)> = Vec::new();
        for rel in rels {
            walk::visit_all(rel, &mut |node| match node {
                Rel::Scan(scan) => {
                    for (id, col) in &scan.columns {
                        if let Some(column) = scan.table.column(*id) {
                            columns.push((column_name(*col), scan.alias.clone(), column.name.clone()));
                        }
                    }
                }
                Rel::History(history) => {
                    let scan = &history.scan;
                    let stored = scan.columns.iter().filter_map(|(id, col)| Some((*col, scan.table.column(*id)?.name.as_str())));
                    let own = history.version_columns.iter().map(|(own, col)| (*col, own.name()));
                    columns.extend(stored.chain(own).map(|(col, name)| (column_name(col), scan.alias.clone(), name.to_owned())));
                }
                Rel::Virtual { name, columns: own, .. } => {
                    columns.extend(own.iter().map(|(col, column, _)| (column_name(*col), name.clone(), column.clone())));
                }
                _ => {}
            });
        }
        let mut seen = HashSet::new();
        let twice: HashSet<String> = columns.iter().filter(|(_, _, n)| !seen.insert(n.clone())).map(|(_, _, n)| n.clone()).collect();
        let mut names: HashMap<String, String> = columns
            .into_iter()
            .map(|(id, alias, name)| if twice.contains(&name) { (id, format!("{alias}.{name}")) } else { (id, name) })
            .collect();
        if let BoundBody::Query(query) = &bound.body {
            for output in &query.outputs {
                names.entry(column_name(output.col)).or_insert_with(|| output.name.clone());
            }
        }
        Self(names)
    }

    /// A line of a plan with these names in it.
    pub(crate) fn line(&self, line: &str) -> String {
        let line = MatchConfig::left_out(line);
        let mut out = String::with_capacity(line.len());
        let mut rest = &*line;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        while let Some(at) = rest.find(['c', '#']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let digits = from.get(1..).unwrap_or_default();
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let (token, after) = from.split_at(1 + length);
            if token.starts_with('#') {
                // The OID of a kernel.
                let of_kernel = |c: char| is_word(c) || "+-*/<>=~!@%^&|?".contains(c);
                if length == 0 || !after.starts_with('(') || !out.ends_with(of_kernel) {
                    out.push_str(token);
                }
                rest = after;
                continue;
            }
            let position = after.strip_prefix('@').map(|p| p.find(|c: char| !c.is_ascii_digit()).unwrap_or(p.len()) + 1);
            let alias = out.ends_with(" as ") && !after.starts_with(is_word);
            let whole = length > 0 && !out.ends_with(is_word) && (position.is_some() || alias);
            if !whole {
                out.push_str(token);
                rest = after;
                continue;
            }
            let name = self.0.get(token).map_or(token, String::as_str);
            // A column that only passes goes by one name.
            let passes = alias && out.strip_suffix(" as ").and_then(|o| o.strip_suffix(name)).is_some_and(|o| !o.ends_with(is_word));
            if passes {
                out.truncate(out.len() - " as ".len());
            } else {
                out.push_str(name);
            }
            rest = after.get(position.unwrap_or(0)..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }

    /// The lines of a plan, without nodes that say nothing about the statement.
    pub(crate) fn plan(&self, text: &str) -> Vec<String> {
        let mut hidden: Vec<usize> = Vec::new();
        let mut out = Vec::new();
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            hidden.retain(|at| *at < indent);
            let name = line.trim_start();
            if name == "CooperativeExec" || name.starts_with("CooperativeExec, ") {
                hidden.push(indent);
                continue;
            }
            let shift = (2 * hidden.len()).min(indent);
            out.push(self.line(line.get(shift..).unwrap_or(line)));
        }
        out
    }
}

/// The lines of a plan, a node each; with what was expected and what happened, where the options ask for it.
pub(crate) fn render(plan: &Arc<dyn ExecutionPlan>, names: &Names, options: &ExplainOptions) -> Vec<String> {
    let whole = options.analyze && options.verbose;
    let displayed = if whole { DisplayableExecutionPlan::with_metrics(plan.as_ref()) } else { displayable(plan.as_ref()) };
    let text = displayed.indent(options.verbose).to_string();
    let mut nodes = Vec::new();
    in_order(plan, &mut nodes);
    // A line for each node.
    if text.lines().count() != nodes.len() {
        return names.plan(&text);
    }
    let mut out = String::with_capacity(text.len() + 64 * nodes.len());
    for (line, node) in text.lines().zip(nodes) {
        out.push_str(line);
        if options.costs {
            estimated(node, &mut out);
        }
        if options.analyze && !whole {
            measured(node, options.timing, &mut out);
        }
        out.push('\n');
    }
    names.plan(&out)
}

fn in_order<'a>(plan: &'a Arc<dyn ExecutionPlan>, out: &mut Vec<&'a Arc<dyn ExecutionPlan>>) {
    out.push(plan);
    plan.children().into_iter().for_each(|child| in_order(child, out));
}

/// How many rows a node that reads a table is expected to give.
fn estimated(node: &Arc<dyn ExecutionPlan>, out: &mut String) {
    const READERS: [&str; 5] = ["KeyRangeScanExec", "PointGetExec", "IndexLookupExec", "LookupJoinExec", "KeySetExec"];
    if !READERS.contains(&node.name()) {
        return;
    }
    let statistics = StatisticsContext::new().compute(node.as_ref(), &StatisticsArgs::new());
    if let Some(rows) = statistics.ok().and_then(|statistics| statistics.num_rows.get_value().copied()) {
        out.push_str(&format!(", estimated rows={rows}"));
    }
}

/// What a node did: its rows, what else it counted, and its time.
fn measured(node: &Arc<dyn ExecutionPlan>, timing: bool, out: &mut String) {
    let Some(metrics) = node.metrics() else { return };
    let metrics = metrics.aggregate_by_name();
    if let Some(rows) = metrics.output_rows() {
        out.push_str(&format!(", actual rows={rows}"));
    }
    let counts = metrics.iter().filter_map(|metric| match metric.value() {
        MetricValue::Count { name, count } if count.value() > 0 => Some((name, count.value())),
        MetricValue::Gauge { name, gauge } if gauge.value() > 0 => Some((name, gauge.value())),
        _ => None,
    });
    let mut counts: Vec<_> = counts.collect();
    counts.sort_unstable();
    counts.iter().for_each(|(name, count)| out.push_str(&format!(", {name}={count}")));
    // One nanosecond is what a node has that does not measure.
    if let Some(time) = metrics.elapsed_compute().filter(|time| timing && *time > 1) {
        out.push_str(&format!(", time={:.3} ms", time as f64 / 1e6));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_their_names() {
        let names = Names([("c4".to_owned(), "total".to_owned()), ("c6".to_owned(), "sum".to_owned())].into());
        for (line, wanted) in [
            ("ProjectionExec: expr=[c4@0 as c6]", "ProjectionExec: expr=[total as sum]"),
            ("filters=[lower#10533(c5@1) = cc4, c4@12 > 1], c4", "filters=[lower(c5) = cc4, total > 1], c4"),
            ("expr=[c4@0 as c4, c9@1 as c4]", "expr=[total, c9 as total]"),
            ("doc#12, #3(", "doc#12, #3("),
            ("*#10012(c4@1, 2) > 5 AND ~~#10260(c4@1, %7)", "*(total, 2) > 5 AND ~~(total, %7)"),
            ("SortExec: expr=[c4@0 ASC], fetch=c", "SortExec: expr=[total ASC], fetch=c"),
        ] {
            assert_eq!(names.line(line), wanted);
        }
    }

    #[test]
    fn nodes_that_say_nothing_are_left_out() {
        let names = Names::default();
        let plan = "A\n  CooperativeExec\n    B\n      CooperativeExec, metrics=[]\n        C\n  D\n";
        assert_eq!(names.plan(plan), ["A", "  B", "    C", "  D"]);
    }
}
