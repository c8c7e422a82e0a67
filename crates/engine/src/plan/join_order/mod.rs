//! The order of joins, by what is expected to cost least.
//!
//! DataFusion joins tables in the order in which a statement names them. Here a tree of inner joins is taken apart into its inputs,
//! classes of expressions that are equal, and other conditions; semi- and anti-joins above and among them are inputs as well, that
//! only take rows away. The cheapest tree over the same is found by dynamic programming over sets of inputs (Selinger and others,
//! "Access path selection in a relational database management system", 1979; bushy trees too, as in DPsub), for many inputs greedily.
//!
//! Invariant: the new tree gives the same rows with the same columns. Which side is hashed is left to DataFusion's rule behind this
//! one, which inputs are read by keys to [`super::lookup_join`]; both are foreseen in the costs.

mod cost;
mod graph;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use graph::Graph;
use std::sync::Arc;

/// Sets of inputs are all looked at up to so many inputs.
const MOST_INPUTS: usize = 10;
/// A tree that was written stays if another costs no less than this share of it.
const WORTHWHILE: f64 = 0.95;

/// See the module.
#[derive(Debug)]
pub struct JoinOrder;

impl PhysicalOptimizerRule for JoinOrder {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        reordered(plan)
    }

    fn name(&self) -> &'static str {
        "JoinOrder"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn reordered(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_down(|plan| {
        let Some(graph) = Graph::of(&plan)? else { return Ok(Transformed::no(plan)) };
        // Inputs may have joins of their own.
        let graph = graph.map_inputs(reordered)?;
        let plan = match ordered(&graph)? {
            Some(tree) => graph.build(&tree, &plan.schema())?,
            None => graph.written(plan)?,
        };
        Ok(Transformed::new(plan, true, TreeNodeRecursion::Jump))
    })
    .data()
}

/// How inputs are joined: numbers of inputs, or two trees.
#[derive(Clone, PartialEq, Debug)]
enum Tree {
    Input(usize),
    Join(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn join(left: Tree, right: Tree) -> Self {
        Tree::Join(Box::new(left), Box::new(right))
    }

    fn set(&self) -> u64 {
        match self {
            Tree::Input(n) => 1 << n,
            Tree::Join(left, right) => left.set() | right.set(),
        }
    }
}

/// A cheaper tree than the one that was written.
fn ordered(graph: &Graph) -> Result<Option<Tree>> {
    let mut costs = cost::Costs::new(graph)?;
    let written = costs.of_tree(&graph.tree)?;
    let best = if graph.inputs.len() <= MOST_INPUTS { exhaustive(graph, &mut costs)? } else { greedy(graph, &mut costs)? };
    Ok(best.filter(|(cost, tree)| *cost < written * WORTHWHILE && *tree != graph.tree).map(|(_, tree)| tree))
}

/// The cheapest of all trees without a product of unrelated inputs.
fn exhaustive(graph: &Graph, costs: &mut cost::Costs<'_>) -> Result<Option<(f64, Tree)>> {
    let all = (1usize << graph.inputs.len()) - 1;
    // By set: its cost and the left side of its last join.
    let mut best: Vec<Option<(f64, u64)>> = vec![None; all + 1];
    for set in 1..=all as u64 {
        if set.is_power_of_two() {
            place(&mut best, set, (costs.of_input(set.trailing_zeros() as usize), 0));
            continue;
        }
        let lowest = set & set.wrapping_neg();
        let mut left = (set - 1) & set;
        while left > 0 {
            let right = set & !left;
            if left & lowest > 0
                && let (Some((a, _)), Some((b, _))) = (at(&best, left), at(&best, right))
            {
                for ((left, a), (right, b)) in [((left, a), (right, b)), ((right, b), (left, a))] {
                    if let Some(cost) = costs.of_join(left, a, right, b)?
                        && at(&best, set).is_none_or(|(least, _)| cost < least)
                    {
                        place(&mut best, set, (cost, left));
                    }
                }
            }
            left = (left - 1) & set;
        }
    }
    Ok(at(&best, all as u64).and_then(|(cost, _)| Some((cost, tree(&best, all as u64)?))))
}

fn at(best: &[Option<(f64, u64)>], set: u64) -> Option<(f64, u64)> {
    best.get(usize::try_from(set).ok()?).copied().flatten()
}

fn place(best: &mut [Option<(f64, u64)>], set: u64, found: (f64, u64)) {
    if let Some(place) = usize::try_from(set).ok().and_then(|set| best.get_mut(set)) {
        *place = Some(found);
    }
}

fn tree(best: &[Option<(f64, u64)>], set: u64) -> Option<Tree> {
    match at(best, set)? {
        (_, 0) => Some(Tree::Input(set.trailing_zeros() as usize)),
        (_, left) => Some(Tree::join(tree(best, left)?, tree(best, set & !left)?)),
    }
}

/// A tree in which the join that adds least to the cost comes next.
fn greedy(graph: &Graph, costs: &mut cost::Costs<'_>) -> Result<Option<(f64, Tree)>> {
    let mut parts: Vec<(f64, Tree)> = (0..graph.inputs.len()).map(|n| (costs.of_input(n), Tree::Input(n))).collect();
    while parts.len() > 1 {
        let mut best: Option<(f64, f64, usize, usize)> = None;
        for (l, (a, left)) in parts.iter().enumerate() {
            for (r, (b, right)) in parts.iter().enumerate().filter(|(r, _)| *r != l) {
                let Some(cost) = costs.of_join(left.set(), *a, right.set(), *b)? else { continue };
                let added = cost - a - b + costs.rows(left.set() | right.set());
                if best.is_none_or(|(least, ..)| added < least) {
                    best = Some((added, cost, l, r));
                }
            }
        }
        let Some((_, cost, l, r)) = best else { return Ok(None) };
        let (first, second) = (l.max(r), l.min(r));
        let (first, second) = (parts.swap_remove(first), parts.swap_remove(second));
        let (left, right) = if l > r { (first.1, second.1) } else { (second.1, first.1) };
        parts.push((cost, Tree::join(left, right)));
    }
    Ok(parts.pop())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::session::write_tests::{answer, connect, database};

    const TABLES: &[&str] = &[
        "CREATE TABLE country (id int PRIMARY KEY, name text)",
        "CREATE TABLE person (id int PRIMARY KEY, country int, name text)",
        "CREATE TABLE bill (id int PRIMARY KEY, person int, day int)",
        "CREATE TABLE item (bill int, line int, ware int, price int, PRIMARY KEY (bill, line))",
        "CREATE TABLE ware (id int PRIMARY KEY, kind text)",
        "INSERT INTO country SELECT n, 'c' || n FROM generate_series(1, 20) n",
        "INSERT INTO person SELECT n, n % 20 + 1, 'p' || n FROM generate_series(1, 400) n",
        "INSERT INTO bill SELECT n, n % 400 + 1, n % 30 FROM generate_series(1, 4000) n",
        "INSERT INTO item SELECT n / 4, n % 4, n % 50 + 1, n % 7 FROM generate_series(4, 16003) n",
        "INSERT INTO ware SELECT n, 'k' || n % 10 FROM generate_series(1, 50) n",
        "ANALYZE",
    ];

    /// The tables of a plan from its first line to its last.
    fn tables(plan: &str) -> Vec<&str> {
        plan.split("table=").skip(1).filter_map(|rest| rest.split(',').next()).collect()
    }

    #[tokio::test]
    async fn small_sides_come_first_and_rows_stay_the_same() {
        let database = database().await;
        let mut s = connect(&database);
        for sql in TABLES {
            answer(&mut s, sql).await;
        }
        let lists = [
            ["item", "bill", "person", "country", "ware"],
            ["ware", "item", "country", "person", "bill"],
            ["country", "ware", "person", "bill", "item"],
        ];
        let text = |from: &[&str]| {
            format!(
                "SELECT count(*) || '/' || sum(price) || '/' || min(person.name) FROM {} WHERE item.bill = bill.id AND bill.person = person.id \
                 AND person.country = country.id AND item.ware = ware.id AND country.name = 'c7' AND kind IN ('k1', 'k2') AND price <> day",
                from.join(", ")
            )
        };
        let mut answers = Vec::new();
        for from in lists {
            answers.push(answer(&mut s, &text(&from)).await);
            let plan = answer(&mut s, &format!("EXPLAIN {}", text(&from))).await;
            // One country has 20 people, and they 200 bills.
            let order = tables(&plan);
            let place = |name: &str| order.iter().position(|t| *t == name).unwrap();
            assert!(place("country") < place("bill"), "{plan}");
        }
        assert!(answers.windows(2).all(|w| w[0] == w[1]), "{answers:?}");
        assert!(!answers[0].starts_with("0/"), "{answers:?}");
    }

    #[tokio::test]
    async fn semi_joins_go_where_they_take_rows_away() {
        let database = database().await;
        let mut s = connect(&database);
        for sql in TABLES {
            answer(&mut s, sql).await;
        }
        for condition in [
            "EXISTS (SELECT 1 FROM ware WHERE ware.id = item.ware AND kind = 'k3')",
            "NOT EXISTS (SELECT 1 FROM ware WHERE ware.id = item.ware AND kind = 'k3')",
            "bill.id IN (SELECT bill FROM item i WHERE price = 6 GROUP BY bill HAVING count(*) > 0)",
            "bill.id NOT IN (SELECT bill FROM item i WHERE price = 6)",
            "EXISTS (SELECT 1 FROM ware WHERE ware.id = item.ware AND ware.id < bill.day)",
        ] {
            let sql = |from: &str| {
                format!(
                    "SELECT count(*) FROM {from} WHERE item.bill = bill.id AND bill.person = person.id AND person.country = country.id AND {condition}"
                )
            };
            let one = answer(&mut s, &sql("item, bill, person, country")).await;
            let other = answer(&mut s, &sql("country, person, bill, item")).await;
            let counted = answer(&mut s, &format!("SELECT count(*) FROM item JOIN bill ON item.bill = bill.id WHERE {condition}")).await;
            assert_eq!((&one, &other), (&counted, &counted), "{condition}");
        }
    }
}
