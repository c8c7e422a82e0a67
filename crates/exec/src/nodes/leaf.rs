//! What nodes that read a table have in common as nodes of a plan: they have no inputs, and their expressions, their limit and the
//! filters that come to them while the plan runs are those of a [`super::scan_output::ScanOutput`].

use super::scan_output::ScanOutput;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown};
use std::sync::Arc;

/// Methods of `ExecutionPlan` for a type with the fields `output`, `properties` and `metrics`, and with
/// `fn with_output(&self, ScanOutput) -> Self`.
#[macro_export]
macro_rules! leaf_methods {
    ($name:literal) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn properties(&self) -> &std::sync::Arc<datafusion::physical_plan::PlanProperties> {
            &self.properties
        }

        fn children(&self) -> Vec<&std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Vec::new()
        }

        fn apply_expressions(
            &self,
            f: &mut dyn FnMut(
                &std::sync::Arc<dyn datafusion::physical_expr::PhysicalExpr>,
            ) -> datafusion::common::Result<datafusion::common::tree_node::TreeNodeRecursion>,
        ) -> datafusion::common::Result<datafusion::common::tree_node::TreeNodeRecursion> {
            $crate::nodes::leaf::visit(&self.output, f)
        }

        fn replace_children(
            self: std::sync::Arc<Self>,
            _: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
            _: datafusion::physical_plan::ReplaceChildrenOptions,
        ) -> datafusion::common::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Ok(self)
        }

        fn with_new_children(
            self: std::sync::Arc<Self>,
            _: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
        ) -> datafusion::common::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Ok(self)
        }

        fn metrics(&self) -> Option<datafusion::physical_plan::metrics::MetricsSet> {
            Some(self.metrics.clone_inner())
        }

        fn with_fetch(&self, fetch: Option<usize>) -> Option<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            let output = $crate::nodes::scan_output::ScanOutput { fetch, ..self.output.clone() };
            Some(std::sync::Arc::new(self.with_output(output)))
        }

        fn fetch(&self) -> Option<usize> {
            self.output.fetch
        }

        fn handle_child_pushdown_result(
            &self,
            phase: datafusion::physical_plan::filter_pushdown::FilterPushdownPhase,
            result: datafusion::physical_plan::filter_pushdown::ChildPushdownResult,
            _: &datafusion::config::ConfigOptions,
        ) -> datafusion::common::Result<
            datafusion::physical_plan::filter_pushdown::FilterPushdownPropagation<
                std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>,
            >,
        > {
            let make =
                |output| std::sync::Arc::new(self.with_output(output)) as std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>;
            Ok($crate::nodes::leaf::accept_dynamic(phase, result, &self.output, make))
        }
    };
}

/// Visits the expressions of a scan.
pub fn visit(output: &ScanOutput, f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
    for filter in output.filters.iter().chain(&output.dynamic) {
        if f(filter)? == TreeNodeRecursion::Stop {
            return Ok(TreeNodeRecursion::Stop);
        }
    }
    Ok(TreeNodeRecursion::Continue)
}

/// Keeps filters that change while the plan runs; whoever made them still applies them. A scan with a limit takes none: the rows up
/// to the limit are those without the filter.
pub fn accept_dynamic(
    phase: FilterPushdownPhase,
    result: ChildPushdownResult,
    output: &ScanOutput,
    make: impl FnOnce(ScanOutput) -> Arc<dyn ExecutionPlan>,
) -> FilterPushdownPropagation<Arc<dyn ExecutionPlan>> {
    let answer = FilterPushdownPropagation::with_parent_pushdown_result(vec![PushedDown::No; result.parent_filters.len()]);
    if phase != FilterPushdownPhase::Post || result.parent_filters.is_empty() || output.fetch.is_some() {
        return answer;
    }
    let mut dynamic = output.dynamic.clone();
    dynamic.extend(result.parent_filters.into_iter().map(|f| f.filter));
    answer.with_updated_node(make(ScanOutput { dynamic, ..output.clone() }))
}
