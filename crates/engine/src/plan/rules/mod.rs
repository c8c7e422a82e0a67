//! Every rule that changes a plan, in the order in which it runs: what is DataFusion's, what is ours, and what of DataFusion's is left out.
//!
//! DataFusion's rules are not trusted because they are there: [`RULES`] says of each how it stands, decision 16 what we rely on and which
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
use stoa_pg::{PgError, PgResult, SqlState};

/// The setting that names rules which are not to be used.
pub(crate) const DISABLED: &str = "stoa.disabled_rules";

/// Where in planning a rule works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Of DataFusion's analyzer, over the logical plan.
    Analyzer,
    Logical,
    Physical,
    /// No rule, but a way around all of them: what a statement is answered by without a plan.
    Compiled,
}

/// How a rule stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// DataFusion's, as it is.
    Kept,
    /// DataFusion's; another rule or the form of our plans mends what it does wrong.
    Mended,
    /// DataFusion's, not used.
    Dropped,
    Ours,
}

#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub name: &'static str,
    pub phase: Phase,
    pub standing: Standing,
    /// Plans cannot be executed without it.
    pub needed: bool,
}

const fn rule(name: &'static str, phase: Phase, standing: Standing, needed: bool) -> Rule {
    Rule { name, phase, standing, needed }
}

/// All of them. A rule that runs twice stands here twice.
pub const RULES: &[Rule] = {
    use Phase::{Analyzer as A, Compiled as C, Logical as L, Physical as P};
    use Standing::{Dropped, Kept, Mended, Ours};
    &[
        rule("resolve_grouping_function", A, Dropped, false),
        rule("type_coercion", A, Kept, true),
        rule("rewrite_set_comparison", L, Dropped, false),
        rule("optimize_unions", L, Kept, false),
        rule("unions_to_filter", L, Dropped, false),
        rule("simplify_expressions", L, Dropped, false),
        rule("simplify", L, Ours, false),
        rule("replace_distinct_aggregate", L, Dropped, false),
        rule("eliminate_join", L, Kept, false),
        rule("decorrelate_predicate_subquery", L, Dropped, false),
        rule("scalar_subquery_to_join", L, Dropped, false),
        rule("decorrelate_lateral_join", L, Dropped, false),
        rule("join_keys", L, Ours, false),
        rule("extract_equijoin_predicate", L, Dropped, false),
        rule("equal_keys", L, Ours, false),
        rule("eliminate_duplicated_expr", L, Kept, false),
        rule("eliminate_filter", L, Kept, false),
        rule("eliminate_cross_join", L, Dropped, false),
        rule("eliminate_limit", L, Kept, true),
        rule("propagate_empty_relation", L, Kept, false),
        rule("filter_null_join_keys", L, Dropped, false),
        rule("eliminate_outer_join", L, Kept, false),
        rule("push_down_limit", L, Kept, false),
        rule("push_down_filter", L, Mended, false),
        rule("single_distinct_aggregation_to_group_by", L, Kept, false),
        rule("eliminate_group_by_constant", L, Kept, false),
        rule("common_sub_expression_eliminate", L, Kept, false),
        rule("extract_leaf_expressions", L, Dropped, false),
        rule("push_down_leaf_projections", L, Dropped, false),
        rule("optimize_projections", L, Kept, false),
        rule("WithoutBarriers", P, Ours, true),
        rule("OutputRequirements", P, Kept, true),
        rule("aggregate_statistics", P, Dropped, false),
        rule("JoinOrder", P, Ours, false),
        rule("join_selection", P, Kept, true),
        rule("LimitedDistinctAggregation", P, Mended, false),
        rule("FilterPushdown", P, Kept, false),
        rule("WindowTopN", P, Dropped, false),
        rule("InTurn", P, Ours, true),
        rule("LookupJoins", P, Ours, false),
        rule("IndexOrders", P, Ours, false),
        rule("DoubtfulConstants", P, Ours, true),
        rule("EnsureRequirements", P, Mended, true),
        rule("CombinePartialFinalAggregate", P, Kept, false),
        rule("OptimizeAggregateOrder", P, Kept, false),
        rule("ProjectionPushdown", P, Kept, false),
        rule("OutputRequirements", P, Kept, true),
        rule("LimitAggregation", P, Kept, false),
        rule("LimitPushPastWindows", P, Kept, false),
        rule("HashJoinBuffering", P, Dropped, false),
        rule("LimitPushdown", P, Kept, false),
        rule("TopKRepartition", P, Kept, false),
        rule("ProjectionPushdown", P, Kept, false),
        rule("PushdownSort", P, Kept, false),
        rule("EnsureCooperative", P, Kept, true),
        rule("FilterPushdown(Post)", P, Kept, false),
        rule("Mend", P, Ours, true),
        rule("SanityCheckPlan", P, Kept, true),
        rule("SearchLimit", P, Ours, false),
        rule("Bounds", P, Ours, false),
        rule(COMPILED, C, Ours, false),
        rule(DIRECT, C, Ours, false),
    ]
};

/// Compiled reads and queries, without a plan.
pub(crate) const COMPILED: &str = "compiled";
/// Scans under simple projections, run as they stand.
pub(crate) const DIRECT: &str = "direct";

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
        Arc::new(EliminateJoin::new()),
        Arc::new(join_keys::JoinKeys),
        Arc::new(equal_keys::EqualKeys),
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
    // The order of joins is chosen before their sides; it needs the sizes of scans.
    before(&mut rules, "join_selection", Arc::new(super::join_order::JoinOrder));
    // Ways to read are chosen once joins have their sides, and before orders and partitions are seen to.
    before(&mut rules, "EnsureRequirements", Arc::new(super::guard::InTurn));
    before(&mut rules, "EnsureRequirements", Arc::new(super::lookup_join::LookupJoins));
    before(&mut rules, "EnsureRequirements", Arc::new(super::index_order::IndexOrders));
    before(&mut rules, "EnsureRequirements", Arc::new(crate::exec::plain::DoubtfulConstants));
    rules.insert(0, Arc::new(super::never::WithoutBarriers));
    before(&mut rules, "SanityCheckPlan", Arc::new(super::mend::Mend));
    rules.push(Arc::new(crate::text::limit::SearchLimit));
    rules.push(Arc::new(crate::exec::bounded::Bounds));
    rules
}

/// The names in a value of [`DISABLED`].
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Whether a value of [`DISABLED`] names a rule.
pub(crate) fn is_disabled(list: &str, name: &str) -> bool {
    names(list).any(|disabled| disabled.eq_ignore_ascii_case(name))
}

/// Checks a value of [`DISABLED`].
///
/// # Errors
/// 22023 if it names what is no rule, or what plans need.
pub(crate) fn check_disabled(list: &str) -> PgResult<()> {
    for name in names(list) {
        let mut found = RULES.iter().filter(|rule| rule.name.eq_ignore_ascii_case(name) && rule.standing != Standing::Dropped);
        let refused = |detail: String| {
            let message = format!("invalid value for parameter \"{DISABLED}\": \"{list}\"");
            Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, message).detail(detail))
        };
        match found.next() {
            None => return refused(format!("There is no rule \"{name}\".")),
            Some(rule) if rule.needed => return refused(format!("Nothing can be planned without the rule \"{}\".", rule.name)),
            Some(_) => {}
        }
    }
    Ok(())
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

    #[test]
    fn what_can_be_left_out() {
        check_disabled("").unwrap();
        check_disabled("push_down_filter, JoinOrder,compiled").unwrap();
        for (list, detail) in [
            ("nothing", "There is no rule \"nothing\"."),
            ("simplify_expressions", "There is no rule \"simplify_expressions\"."),
            ("direct, sanitycheckplan", "Nothing can be planned without the rule \"SanityCheckPlan\"."),
        ] {
            let error = check_disabled(list).unwrap_err();
            assert_eq!((error.code().as_str(), error.fields().detail.as_deref()), ("22023", Some(detail)));
        }
    }
}
