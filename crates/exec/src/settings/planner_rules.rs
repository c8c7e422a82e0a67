//! The rules of the planner by name: where each works, how it stands, and which of them a statement may go without
//! (`stoa.disabled_rules`). What they do is in `plan::rules`, whose tests hold this list against what runs.

use stoa_pg::{PgError, PgResult, SqlState};

/// The setting that names rules which are not to be used.
pub const DISABLED: &str = "stoa.disabled_rules";

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
    /// Plans cannot be executed without it, or not rightly.
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
        rule("forget_dependencies", L, Ours, true),
        rule("eliminate_join", L, Mended, false),
        rule("decorrelate_predicate_subquery", L, Dropped, false),
        rule("scalar_subquery_to_join", L, Dropped, false),
        rule("decorrelate_lateral_join", L, Dropped, false),
        rule("join_keys", L, Ours, false),
        rule("extract_equijoin_predicate", L, Dropped, false),
        rule("equal_keys", L, Ours, false),
        rule("forget_dependencies", L, Ours, true),
        rule("eliminate_duplicated_expr", L, Mended, false),
        rule("eliminate_filter", L, Kept, false),
        rule("eliminate_cross_join", L, Dropped, false),
        rule("eliminate_limit", L, Kept, true),
        rule("propagate_empty_relation", L, Kept, false),
        rule("filter_null_join_keys", L, Dropped, false),
        rule("eliminate_outer_join", L, Kept, false),
        rule("push_down_limit", L, Kept, true),
        rule("push_down_filter", L, Mended, false),
        rule("single_distinct_aggregation_to_group_by", L, Kept, false),
        rule("eliminate_group_by_constant", L, Kept, false),
        rule("common_sub_expression_eliminate", L, Kept, false),
        rule("extract_leaf_expressions", L, Dropped, false),
        rule("push_down_leaf_projections", L, Dropped, false),
        rule("forget_dependencies", L, Ours, true),
        rule("optimize_projections", L, Mended, false),
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
        rule("RangeJoins", P, Ours, false),
        rule("IndexOrders", P, Ours, false),
        rule("UnsafeConstants", P, Ours, true),
        rule("EnsureRequirements", P, Mended, true),
        rule("CombinePartialFinalAggregate", P, Kept, false),
        rule("OptimizeAggregateOrder", P, Kept, false),
        rule("ProjectionPushdown", P, Kept, false),
        rule("OutputRequirements", P, Kept, true),
        rule("LimitAggregation", P, Mended, false),
        rule("LimitPushPastWindows", P, Kept, false),
        rule("HashJoinBuffering", P, Dropped, false),
        rule("LimitPushdown", P, Kept, false),
        rule("TopKRepartition", P, Kept, false),
        rule("ProjectionPushdown", P, Kept, false),
        rule("PushdownSort", P, Kept, false),
        rule("EnsureCooperative", P, Kept, true),
        rule("FilterPushdown(Post)", P, Mended, false),
        rule("JoinsThatWait", P, Ours, true),
        rule("NestedKeys", P, Ours, true),
        rule("RestoreSorts", P, Ours, true),
        rule("SanityCheckPlan", P, Kept, true),
        rule("SearchLimit", P, Ours, false),
        rule("Bounds", P, Ours, false),
        rule(COMPILED, C, Ours, false),
        rule(DIRECT, C, Ours, false),
    ]
};

/// Compiled reads and queries, without a plan.
pub const COMPILED: &str = "compiled";
/// Scans under simple projections, run as they stand.
pub const DIRECT: &str = "direct";

/// The names in a value of [`DISABLED`].
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Whether a value of [`DISABLED`] names a rule.
pub fn is_disabled(list: &str, name: &str) -> bool {
    names(list).any(|disabled| disabled.eq_ignore_ascii_case(name))
}

/// Checks a value of [`DISABLED`].
///
/// # Errors
/// 22023 if it names what is no rule, or what plans need.
pub fn check_disabled(list: &str) -> PgResult<()> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

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
