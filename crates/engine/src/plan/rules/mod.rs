//! Every rule that changes a plan, in the order in which it runs: what is DataFusion's, what is ours, and what of DataFusion's is left out.
//!
//! DataFusion's rules are not trusted because they are there: [`RULES`](stoa_exec::settings::planner_rules::RULES) says of each how it stands, decision 16 what we rely on and which
//! errors of it are known. Tests check that the list is what runs, that no rule of DataFusion's is missing from it, and that the decision
//! names each. A statement can be planned without some of them (`stoa.disabled_rules`): what it answers may not depend on that.

mod equal_keys;
mod join_keys;
mod push_down;
mod simplify;

use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionState;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;
use datafusion::optimizer::common_subexpr_eliminate::CommonSubexprEliminate;
use datafusion::optimizer::eliminate_duplicated_expr::EliminateDuplicatedExpr;
use datafusion::optimizer::eliminate_filter::EliminateFilter;
use datafusion::optimizer::eliminate_group_by_constant::EliminateGroupByConstant;
use datafusion::optimizer::eliminate_join::EliminateJoin;
use datafusion::optimizer::eliminate_limit::EliminateLimit;
use datafusion::optimizer::eliminate_outer_join::EliminateOuterJoin;
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::optimize_unions::OptimizeUnions;
use datafusion::optimizer::propagate_empty_relation::PropagateEmptyRelation;
use datafusion::optimizer::push_down_limit::PushDownLimit;
use datafusion::optimizer::single_distinct_to_groupby::SingleDistinctToGroupBy;
use datafusion::optimizer::{AnalyzerRule, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use std::sync::Arc;
use stoa_exec::datafusion_faults::dependencies::ForgetDependencies;
pub(super) use stoa_exec::settings::planner_rules::{COMPILED, DIRECT, DISABLED, is_disabled};

type Logical = Arc<dyn OptimizerRule + Send + Sync>;
type Physical = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// What changes a plan before it is optimized.
pub(super) fn analyzer() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    vec![Arc::new(TypeCoercion::new())]
}

/// The rules over logical plans.
pub(super) fn logical() -> Vec<Logical> {
    vec![
        Arc::new(OptimizeUnions::new()),
        Arc::new(simplify::Simplify),
        Arc::new(ForgetDependencies),
        Arc::new(EliminateJoin::new()),
        Arc::new(join_keys::JoinKeys),
        Arc::new(equal_keys::EqualKeys),
        Arc::new(ForgetDependencies),
        Arc::new(EliminateDuplicatedExpr::new()),
        Arc::new(EliminateFilter::new()),
        Arc::new(EliminateLimit::new()),
        Arc::new(PropagateEmptyRelation::new()),
        Arc::new(EliminateOuterJoin::new()),
        // Conditions do not go below limits, so limits go first.
        Arc::new(PushDownLimit::new()),
        Arc::new(push_down::PushDown::default()),
        Arc::new(SingleDistinctToGroupBy::new()),
        Arc::new(EliminateGroupByConstant::new()),
        Arc::new(CommonSubexprEliminate::new()),
        Arc::new(ForgetDependencies),
        Arc::new(OptimizeProjections::new()),
    ]
}

/// The rules over physical plans.
pub(super) fn physical() -> Vec<Physical> {
    let mut rules = PhysicalOptimizer::new().rules;
    // The first: a column that is one constant has one different value by its statistics, which were taken for an answer even where there
    // is no row. The others work only where a setting of DataFusion's says so.
    rules.retain(|rule| !matches!(rule.name(), "aggregate_statistics" | "HashJoinBuffering" | "WindowTopN"));
    let before = |rules: &mut Vec<Physical>, name: &str, rule: Physical| {
        let at = rules.iter().position(|rule| rule.name() == name).unwrap_or(rules.len());
        rules.insert(at, rule);
    };
    for rule in rules.iter_mut().filter(|rule| rule.name() == "LimitAggregation") {
        *rule = Arc::new(stoa_exec::datafusion_faults::top_groups::TopGroups::new());
    }
    // The order of joins is chosen before their sides; it needs the sizes of scans.
    before(&mut rules, "join_selection", Arc::new(super::join_order::JoinOrder));
    // Ways to read are chosen once joins have their sides, and before orders and partitions are seen to.
    before(&mut rules, "EnsureRequirements", Arc::new(super::guard::InTurn));
    before(&mut rules, "EnsureRequirements", Arc::new(super::lookup_join::LookupJoins));
    before(&mut rules, "EnsureRequirements", Arc::new(super::range_join::RangeJoins));
    before(&mut rules, "EnsureRequirements", Arc::new(super::index_order::IndexOrders));
    before(&mut rules, "EnsureRequirements", Arc::new(stoa_exec::datafusion_faults::forget_properties::UnsafeConstants));
    rules.insert(0, Arc::new(stoa_exec::datafusion_faults::filter_barrier::WithoutBarriers));
    before(&mut rules, "SanityCheckPlan", Arc::new(stoa_exec::datafusion_faults::joins_that_wait::JoinsThatWait));
    before(&mut rules, "SanityCheckPlan", Arc::new(stoa_exec::datafusion_faults::nested_keys::NestedKeys));
    before(&mut rules, "SanityCheckPlan", Arc::new(stoa_exec::datafusion_faults::restore_sorts::RestoreSorts));
    rules.push(Arc::new(super::search_limit::SearchLimit));
    rules.push(Arc::new(stoa_exec::nodes::bounded::Bounds));
    rules
}

/// The state without the rules that a value of [`DISABLED`] names.
pub(super) fn without(state: &SessionState, list: &str) -> Arc<SessionState> {
    let logical = logical().into_iter().filter(|rule| !is_disabled(list, rule.name())).collect();
    let physical = physical().into_iter().filter(|rule| !is_disabled(list, rule.name())).collect();
    let builder = SessionStateBuilder::new_from_existing(state.clone());
    Arc::new(builder.with_optimizer_rules(logical).with_physical_optimizer_rules(physical).build())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::optimizer::{Analyzer, Optimizer};
    use stoa_exec::settings::planner_rules::{Phase, RULES, Standing};

    fn listed(phase: Phase, wanted: impl Fn(Standing) -> bool) -> Vec<&'static str> {
        RULES.iter().filter(|rule| rule.phase == phase && wanted(rule.standing)).map(|rule| rule.name).collect()
    }

    #[test]
    fn the_list_is_what_runs() {
        let runtime = Arc::new(datafusion::execution::runtime_env::RuntimeEnv::default());
        let state = crate::plan::execute::database_state(4, 1024, runtime);
        let runs = |standing: Standing| standing != Standing::Dropped;
        let of = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of(state.analyzer().rules.iter().map(|rule| rule.name()).collect()), of(listed(Phase::Analyzer, runs)));
        assert_eq!(of(state.optimizers().iter().map(|rule| rule.name()).collect()), of(listed(Phase::Logical, runs)));
        assert_eq!(of(state.physical_optimizers().iter().map(|rule| rule.name()).collect()), of(listed(Phase::Physical, runs)));
    }

    #[test]
    fn no_rule_of_datafusions_is_missing() {
        let theirs = |standing: Standing| standing != Standing::Ours;
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let of = |names: Vec<&str>| sorted(names.into_iter().map(str::to_owned).collect());
        let analyzer = Analyzer::new();
        assert_eq!(of(analyzer.rules.iter().map(|rule| rule.name()).collect()), of(listed(Phase::Analyzer, theirs)));
        let logical = Optimizer::new();
        assert_eq!(of(logical.rules.iter().map(|rule| rule.name()).collect()), of(listed(Phase::Logical, theirs)));
        let physical = PhysicalOptimizer::new();
        assert_eq!(of(physical.rules.iter().map(|rule| rule.name()).collect()), of(listed(Phase::Physical, theirs)));
    }

    #[test]
    fn the_decision_names_every_rule() {
        let decision = include_str!("../../../../../docs/decisions/0016-rules-of-the-planner-are-listed.md");
        for rule in RULES {
            assert!(decision.contains(&format!("`{}`", rule.name)), "{}", rule.name);
        }
    }
}
