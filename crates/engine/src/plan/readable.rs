//! Plans as people read them: columns by their names.
//!
//! In a plan a column is called `c` and its id, with its position behind it (`c4@0`), and a kernel by its name and OID
//! (`lower#10533`). [`Names`] knows what the statement calls them, and [`render`] adds what was expected of a node and what it did;
//! [`tree`] tells the same as values for programs, under PostgreSQL's keys.

use crate::plan::explain::ExplainOptions;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::metrics::MetricValue;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, displayable};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stoa_exec::nodes::bounded::as_planned;
use stoa_sql::typed::column_name;
use stoa_sql::typed::match_config::MatchConfig;
use stoa_sql::typed::tree::{Bound, BoundBody, CteBody, Rel};
use stoa_sql::typed::walk;

/// What a statement calls its columns, by their names in plans.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// With the table's alias where more than one column has the name.
    short: HashMap<String, String>,
    /// Those of tables, always with the alias.
    whole: HashMap<String, String>,
}

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
        let mut aliases: HashMap<String, usize> = HashMap::new();
        // A second table of an alias has a number behind it, as in PostgreSQL.
        let mut unique = |alias: &String| {
            let before = aliases.entry(alias.clone()).or_default();
            *before += 1;
            if *before == 1 { alias.clone() } else { format!("{alias}_{}", *before - 1) }
        };
        for rel in rels {
            walk::visit_all(rel, &mut |node| match node {
                Rel::Scan(scan) => {
                    let alias = unique(&scan.alias);
                    for (id, col) in &scan.columns {
                        if let Some(column) = scan.table.column(*id) {
                            columns.push((column_name(*col), alias.clone(), column.name.clone()));
                        }
                    }
                }
                Rel::History(history) => {
                    let scan = &history.scan;
                    let alias = unique(&scan.alias);
                    let stored = scan.columns.iter().filter_map(|(id, col)| Some((*col, scan.table.column(*id)?.name.as_str())));
                    let own = history.version_columns.iter().map(|(own, col)| (*col, own.name()));
                    columns.extend(stored.chain(own).map(|(col, name)| (column_name(col), alias.clone(), name.to_owned())));
                }
                Rel::Virtual { name, columns: own, .. } => {
                    let alias = unique(name);
                    columns.extend(own.iter().map(|(col, column, _)| (column_name(*col), alias.clone(), column.clone())));
                }
                _ => {}
            });
        }
        let mut seen = HashSet::new();
        let twice: HashSet<String> = columns.iter().filter(|(_, _, n)| !seen.insert(n.clone())).map(|(_, _, n)| n.clone()).collect();
        let whole = columns.iter().map(|(id, alias, name)| (id.clone(), format!("{alias}.{name}"))).collect();
        let mut short: HashMap<String, String> = columns
            .into_iter()
            .map(|(id, alias, name)| if twice.contains(&name) { (id, format!("{alias}.{name}")) } else { (id, name) })
            .collect();
        if let BoundBody::Query(query) = &bound.body {
            for output in &query.outputs {
                short.entry(column_name(output.col)).or_insert_with(|| output.name.clone());
            }
        }
        Self { short, whole }
    }

    /// A line of a plan with these names in it.
    pub(crate) fn line(&self, line: &str) -> String {
        let line = MatchConfig::left_out(line);
        let mut out = String::with_capacity(line.len());
        let mut rest = &*line;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        while let Some(at) = rest.find(['c', '#', '$']) {
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
            if token.starts_with('$') {
                // A parameter without a value is a call without arguments.
                out.push_str(token);
                rest = after.strip_prefix("()").filter(|_| length > 0).unwrap_or(after);
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
            let name = self.short.get(token).map_or(token, String::as_str);
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
        if options.costs
            && let Some(rows) = expected_rows(node)
        {
            out.push_str(&format!(", estimated rows={rows}"));
        }
        if options.analyze && !whole {
            let Measured { rows, counts, time } = measured(node);
            if let Some(rows) = rows {
                out.push_str(&format!(", actual rows={rows}"));
            }
            counts.iter().for_each(|(name, count)| out.push_str(&format!(", {name}={count}")));
            if let Some(time) = time.filter(|_| options.timing) {
                out.push_str(&format!(", time={time:.3} ms"));
            }
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
fn expected_rows(node: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    const READERS: [&str; 5] = ["KeyRangeScanExec", "PointGetExec", "IndexLookupExec", "LookupJoinExec", "KeySetExec"];
    if !READERS.contains(&node.name()) {
        return None;
    }
    StatisticsContext::new().compute(node.as_ref(), &StatisticsArgs::new()).ok()?.num_rows.get_value().copied()
}

/// What a node did.
#[derive(Default)]
struct Measured {
    rows: Option<usize>,
    /// What else it counted.
    counts: Vec<(String, usize)>,
    /// In milliseconds.
    time: Option<f64>,
}

fn measured(node: &Arc<dyn ExecutionPlan>) -> Measured {
    let Some(metrics) = node.metrics() else { return Measured::default() };
    let metrics = metrics.aggregate_by_name();
    let counts = metrics.iter().filter_map(|metric| match metric.value() {
        MetricValue::Count { name, count } if count.value() > 0 => Some((name.to_string(), count.value())),
        MetricValue::Gauge { name, gauge } if gauge.value() > 0 => Some((name.to_string(), gauge.value())),
        _ => None,
    });
    let mut counts: Vec<_> = counts.collect();
    counts.sort_unstable();
    // One nanosecond is what a node has that does not measure.
    let time = metrics.elapsed_compute().filter(|time| *time > 1).map(|time| time as f64 / 1e6);
    Measured { rows: metrics.output_rows(), counts, time }
}

/// A plan for programs: a value for each node, with PostgreSQL's keys for what it tells too. What filters or projects the rows of one
/// node is a part of it. Of outer joins the side that keeps its rows comes first: `Left`, never `Right`.
pub(crate) fn tree(plan: &Arc<dyn ExecutionPlan>, names: &Names, options: &ExplainOptions) -> Map<String, Value> {
    told(plan, names, options).keys
}

/// A node for programs.
struct Told {
    keys: Map<String, Value>,
    /// Its columns: names of tables' columns, or expressions.
    outputs: Vec<String>,
    /// Some columns are expressions, by which a filter above goes.
    computes: bool,
}

fn told(plan: &Arc<dyn ExecutionPlan>, names: &Names, options: &ExplainOptions) -> Told {
    let mut inputs: Vec<Told> = plan.children().into_iter().map(|child| told(child, names, options)).collect();
    if plan.name() == "CooperativeExec"
        && let Some(input) = inputs.pop()
    {
        return input;
    }
    let line = names.line(displayable(plan.as_ref()).one_line().to_string().trim_end());
    let details = line.split_once(": ").map_or("", |(_, details)| details);
    let planned = as_planned(plan).ok();
    let projection = planned.as_ref().and_then(|planned| planned.downcast_ref::<ProjectionExec>());
    let outputs = outputs(plan, projection, names, &inputs);
    let measured = if options.analyze { measured(plan) } else { Measured::default() };
    if let [input] = inputs.as_mut_slice()
        && (projection.is_some() || (plan.name() == "FilterExec" && !input.computes && !input.keys.contains_key("Filter")))
    {
        if projection.is_none() {
            input.keys.insert("Filter".into(), details.into());
            if let (Some(rows), Some(before)) = (measured.rows, input.keys.get("Actual Rows").and_then(Value::as_u64)) {
                input.keys.insert("Actual Rows".into(), json!(rows));
                input.keys.insert("Rows Removed by Filter".into(), json!(before.saturating_sub(rows as u64)));
            }
        }
        if options.verbose {
            input.keys.insert("Output".into(), json!(outputs));
        }
        let computes = input.computes || projection.is_some_and(|p| p.expr().iter().any(|e| e.expr.downcast_ref::<Column>().is_none()));
        return Told { keys: std::mem::take(&mut input.keys), outputs, computes };
    }
    let mut keys = Map::new();
    keys.insert("Node Type".into(), plan.name().into());
    let mut inputs: Vec<(Map<String, Value>, Vec<String>)> = inputs.into_iter().map(|input| (input.keys, input.outputs)).collect();
    if let Some((kind, outer_first)) = join_of(plan.name(), details) {
        keys.insert("Join Type".into(), kind.into());
        if !outer_first {
            inputs.reverse();
        }
        // What is looked up for each row of the outer side is no node of its own.
        if let [(_, outer)] = inputs.as_slice() {
            let own: Vec<String> = outputs.iter().filter(|output| !outer.contains(output)).cloned().collect();
            let mut inner = Map::new();
            inner.insert("Node Type".into(), if plan.name() == "ApplyExec" { "Subquery" } else { "Lookup" }.into());
            if options.verbose {
                inner.insert("Output".into(), json!(own));
            }
            inputs.push((inner, own));
        }
    }
    if options.costs
        && let Some(rows) = expected_rows(plan)
    {
        keys.insert("Plan Rows".into(), json!(rows));
    }
    if let Some(rows) = measured.rows {
        keys.insert("Actual Rows".into(), json!(rows));
    }
    if let Some(time) = measured.time.filter(|_| options.timing) {
        keys.insert("Actual Total Time".into(), milliseconds(time));
    }
    keys.extend(measured.counts.into_iter().map(|(name, count)| (name, json!(count))));
    if options.verbose {
        keys.insert("Output".into(), json!(outputs));
    }
    if !details.is_empty() {
        keys.insert("Details".into(), details.into());
    }
    let several = inputs.len() > 2;
    let plans = inputs.into_iter().enumerate().map(|(at, (keys, _))| match (several, at) {
        (true, _) => related(keys, "Member"),
        (false, 0) => related(keys, "Outer"),
        (false, _) => related(keys, "Inner"),
    });
    let plans: Vec<Value> = plans.map(Value::Object).collect();
    if !plans.is_empty() {
        keys.insert("Plans".into(), plans.into());
    }
    Told { keys, outputs, computes: false }
}

/// A time for programs, to the microsecond.
pub(crate) fn milliseconds(time: f64) -> Value {
    json!((time * 1000.0).round() / 1000.0)
}

/// A node with what it is to the one above, behind its type.
pub(crate) fn related(keys: Map<String, Value>, to_parent: &str) -> Map<String, Value> {
    let mut out = Map::new();
    for (key, value) in keys {
        let first = out.is_empty();
        out.insert(key, value);
        if first {
            out.insert("Parent Relationship".into(), to_parent.into());
        }
    }
    out
}

/// What PostgreSQL calls a join, and whether its outer side comes first; none of what is no join.
fn join_of(name: &str, details: &str) -> Option<(&'static str, bool)> {
    let kind = match name {
        "CrossJoinExec" => "Inner",
        "LookupJoinExec" => details.split(',').next()?,
        "ApplyExec" => match details.strip_prefix("kind=")?.split(", ").next()? {
            "lateral" => "Inner",
            "lateral outer" => "Outer",
            _ => return None,
        },
        _ => details.split_once("join_type=")?.1.split(|c: char| !c.is_ascii_alphanumeric()).next()?,
    };
    Some(match kind {
        "Inner" => ("Inner", true),
        "Outer" | "Left" => ("Left", true),
        "Right" => ("Left", false),
        "Full" => ("Full", true),
        "Semi" | "LeftSemi" => ("Semi", true),
        "RightSemi" => ("Semi", false),
        "Anti" | "LeftAnti" => ("Anti", true),
        "RightAnti" => ("Anti", false),
        "Mark" | "LeftMark" => ("Mark", true),
        "RightMark" => ("Mark", false),
        _ => return None,
    })
}

/// The columns of a node: those that it passes on go by the names that they have below.
fn outputs(plan: &Arc<dyn ExecutionPlan>, projection: Option<&ProjectionExec>, names: &Names, inputs: &[Told]) -> Vec<String> {
    if let (Some(projection), [input]) = (projection, inputs) {
        let expr = |e: &datafusion::physical_expr::projection::ProjectionExpr| match e.expr.downcast_ref::<Column>() {
            // One name from the bottom to the top, even if it is but a number: by it programs know the column again.
            Some(column) => input.outputs.get(column.index()).cloned().unwrap_or_default(),
            None => names.line(&e.expr.to_string()),
        };
        return projection.expr().iter().map(expr).collect();
    }
    let mut below = HashMap::new();
    // The rows of several alike are none's own.
    if inputs.len() <= 2 && plan.name() != "UnionExec" {
        for (child, input) in plan.children().into_iter().zip(inputs) {
            below.extend(child.schema().fields().iter().map(|f| f.name().clone()).zip(&input.outputs));
        }
    }
    let schema = plan.schema();
    let column = |name: &String| match below.get(name) {
        Some(known) => (*known).clone(),
        None => names.whole.get(name).or_else(|| names.short.get(name)).unwrap_or(name).clone(),
    };
    schema.fields().iter().map(|field| column(field.name())).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::session::write_tests::{answer, connect, database};

    /// What clients read of a plan: of each node its join, what it is to the one above, and its columns.
    fn joins(node: &Value) -> String {
        let word = |key: &str| node[key].as_str().unwrap_or("-");
        let output: Vec<&str> = node["Output"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let plans: Vec<String> = node["Plans"].as_array().into_iter().flatten().map(joins).collect();
        format!("{} {} ({}) [{}]", word("Join Type"), word("Parent Relationship"), output.join(", "), plans.join("; "))
    }

    #[tokio::test]
    async fn programs_see_which_side_of_a_join_may_be_null() {
        let database = database().await;
        let mut s = connect(&database);
        for sql in [
            "CREATE TABLE a (id int PRIMARY KEY, n text NOT NULL)",
            "CREATE TABLE b (id int PRIMARY KEY, a_id int, m text NOT NULL)",
            "INSERT INTO a VALUES (1, 'x'), (2, 'y')",
            "PREPARE q AS SELECT a.n, b.m FROM a LEFT JOIN b ON b.a_id = a.id WHERE a.id = $1",
            "PREPARE i AS INSERT INTO a VALUES ($1, $2)",
            "PREPARE l AS SELECT 1 / $1, n FROM a WHERE $1 > 0 LIMIT $1 OFFSET $1 + 1",
        ] {
            answer(&mut s, sql).await;
        }
        let left = "Left - (a.n, b.m) [- Outer (a.id, a.n) []; - Inner (b.a_id, b.m) []]";
        let modifies = "- - () [- Outer (";
        for (set, sql, wanted) in [
            ("auto", "SELECT a.n, b.m FROM a LEFT JOIN b ON b.a_id = a.id", left),
            ("auto", "SELECT a.n, b.m FROM b RIGHT JOIN a ON b.a_id = a.id", left),
            // A value folds the plan away; for any value the join stays, and what filters or computes is a part of it.
            ("auto", "EXECUTE q(NULL)", "- - ("),
            ("auto", "EXECUTE q", left),
            ("force_generic_plan", "EXECUTE q(NULL)", left),
            ("force_generic_plan", "EXECUTE i(NULL, NULL)", modifies),
            ("force_generic_plan", "EXECUTE l(NULL)", "- - ("),
            ("auto", "SELECT a.n, b.m || 'x' FROM a LEFT JOIN b ON b.a_id = a.id WHERE coalesce(b.m, 'z') <> a.n", "Left - (a.n, "),
            ("auto", "SELECT a.n, b.m FROM a FULL JOIN b ON b.a_id = a.id", "Full - (a.n, b.m) ["),
            ("auto", "SELECT x.n, y.n FROM a x LEFT JOIN a y ON y.id = x.id + 1", "Left - (x.n, y.n) ["),
            ("auto", "SELECT * FROM (SELECT n FROM a) a, (SELECT n AS o FROM a) b", "Inner - (a.n, a_1.n) ["),
            ("auto", "WITH w AS MATERIALIZED (SELECT n FROM a) SELECT * FROM w", "- - (c4) [- InitPlan (a.n) []"),
            (
                "auto",
                "SELECT a.n, l.m FROM a LEFT JOIN LATERAL (SELECT m FROM b WHERE a_id = a.id LIMIT 1) l ON true",
                "Left - (a.n, c6) [- Outer (a.id, a.n) []; - Inner (c6) []]",
            ),
        ] {
            answer(&mut s, &format!("SET plan_cache_mode = {set}")).await;
            let told = answer(&mut s, &format!("EXPLAIN (VERBOSE, FORMAT JSON) {sql}")).await;
            let read: Value = serde_json::from_str(&told).unwrap_or_else(|e| panic!("{sql}: {e}: {told}"));
            let found = joins(&read[0]["Plan"]);
            assert!(found.starts_with(wanted), "{sql}: wanted {wanted}, found {found} in {told}");
        }
        // A row looked up for each row of the outer side is the inner side of a join, too.
        for sql in ["CREATE INDEX ON b (a_id) INCLUDE (m)", "INSERT INTO b SELECT n, n, 'm' FROM generate_series(1, 3000) n", "ANALYZE"] {
            answer(&mut s, sql).await;
        }
        let told = answer(&mut s, "EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) SELECT a.n, b.m FROM a LEFT JOIN b ON b.a_id = a.id").await;
        let read: Value = serde_json::from_str(&told).unwrap();
        assert!(told.contains("LookupJoinExec"), "{told}");
        assert_eq!(joins(&read[0]["Plan"]), "Left - (a.n, b.m) [- Outer (a.id, a.n) []; - Inner (b.a_id, b.m) []]", "{told}");
        assert_eq!((&read[0]["Rows"], &read[0]["Plan"]["Actual Rows"]), (&json!(2), &json!(2)), "{told}");
        let told = answer(&mut s, "EXPLAIN (ANALYZE, COSTS off, FORMAT JSON) SELECT n FROM a WHERE length(n) > random() + 5").await;
        let read: Value = serde_json::from_str(&told).unwrap();
        let plan = &read[0]["Plan"];
        assert_eq!((&plan["Actual Rows"], &plan["Output"], &plan["Plan Rows"]), (&json!(0), &Value::Null, &Value::Null), "{told}");
    }

    #[test]
    fn columns_have_their_names() {
        let short = [("c4".to_owned(), "total".to_owned()), ("c6".to_owned(), "sum".to_owned())].into();
        let names = Names { short, ..Names::default() };
        for (line, wanted) in [
            ("ProjectionExec: expr=[c4@0 as c6]", "ProjectionExec: expr=[total as sum]"),
            ("filters=[lower#10533(c5@1) = cc4, c4@12 > 1], c4", "filters=[lower(c5) = cc4, total > 1], c4"),
            ("expr=[c4@0 as c4, c9@1 as c4]", "expr=[total, c9 as total]"),
            ("doc#12, #3(", "doc#12, #3("),
            ("*#10012(c4@1, 2) > 5 AND ~~#10260(c4@1, %7)", "*(total, 2) > 5 AND ~~(total, %7)"),
            ("c4@0 = $1() AND f($12) = '$'", "total = $1 AND f($12) = '$'"),
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
