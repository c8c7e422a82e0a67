//! A tree of joins as its inputs and what is asked of them, and back.
//!
//! Columns of all inputs are numbered through: an expression of the graph has those numbers as the places of its columns.

use super::Tree;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DataFusionError, JoinSide, JoinType, NullEquality, Result};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column};
use datafusion::physical_expr::projection::ProjectionExpr;
use datafusion::physical_expr::utils::{collect_columns, split_conjunction};
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};
use datafusion::physical_plan::joins::{HashJoinExec, HashJoinExecBuilder, PartitionMode};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::collections::BTreeSet;
use std::sync::Arc;

type Expr = Arc<dyn PhysicalExpr>;

/// Sets of inputs are bits of a number.
const INPUTS: usize = 60;

/// One input of the joins.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub plan: Arc<dyn ExecutionPlan>,
    /// The number of its first column.
    pub first: usize,
    /// If it only takes rows away.
    pub semi: Option<Semi>,
}

/// A semi- or anti-join with an input.
#[derive(Clone, Debug)]
pub(super) struct Semi {
    pub anti: bool,
    /// Of other inputs and of this one.
    pub on: Vec<(Expr, Expr)>,
    pub filter: Option<Expr>,
    pub null_equality: NullEquality,
    /// The other inputs that are asked.
    pub needs: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub inputs: Vec<Input>,
    /// Expressions that are equal in every row, each over one input; of one input there is one in a class.
    pub classes: Vec<Vec<(usize, Expr)>>,
    /// What else holds, with the inputs that it is about.
    pub conditions: Vec<(u64, Expr)>,
    /// As it was written.
    pub tree: Tree,
    outputs: Vec<Expr>,
    mode: PartitionMode,
    columns: usize,
}

impl Graph {
    /// The joins at the top of a plan, if there is more than one order for them.
    pub fn of(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Self>> {
        let Some(mode) = top_join(plan).map(|join| *join.partition_mode()) else { return Ok(None) };
        let mut graph = Self {
            inputs: Vec::new(),
            classes: Vec::new(),
            conditions: Vec::new(),
            tree: Tree::Input(0),
            outputs: Vec::new(),
            mode,
            columns: 0,
        };
        let Some((tree, outputs)) = graph.take(plan)? else { return Ok(None) };
        (graph.tree, graph.outputs) = (tree, outputs);
        Ok((graph.inputs.len() > 2 && graph.inputs.len() <= INPUTS).then_some(graph))
    }

    /// Takes a plan in, as joins or as an input; with it its columns. `None`: something in it has to stay as it is.
    #[allow(clippy::type_complexity)] // a tree and its columns
    fn take(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Option<(Tree, Vec<Expr>)>> {
        if top_join(plan).is_none() {
            return Ok(Some(self.input(plan, None)));
        }
        if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
            let Some((tree, below)) = self.take(projection.input())? else { return Ok(None) };
            let outputs = projection.expr().iter().map(|e| over(&e.expr, &below)).collect::<Result<_>>()?;
            return Ok(Some((tree, outputs)));
        }
        if let Some(filter) = plan.downcast_ref::<FilterExec>() {
            let Some((tree, below)) = self.take(filter.input())? else { return Ok(None) };
            for condition in split_conjunction(filter.predicate()) {
                if !self.condition(over(condition, &below)?) {
                    return Ok(None);
                }
            }
            return Ok(Some((tree, projected(below, filter.projection().as_deref()))));
        }
        let Some(join) = plan.downcast_ref::<HashJoinExec>() else { return Ok(None) };
        let Some((left, of_left)) = self.take(join.left())? else { return Ok(None) };
        if *join.join_type() != JoinType::Inner {
            let anti = *join.join_type() == JoinType::LeftAnti;
            let semi = Semi { anti, on: Vec::new(), filter: None, null_equality: join.null_equality(), needs: 0 };
            let (right, of_right) = self.input(join.right(), Some(semi));
            let Tree::Input(at) = right else { return Ok(None) };
            let on = join.on().iter().map(|(l, r)| Ok((over(l, &of_left)?, over(r, &of_right)?))).collect::<Result<Vec<_>>>()?;
            let filter = join.filter().map(|f| filter_over(f, &of_left, &of_right)).transpose()?;
            let asked = on.iter().flat_map(|(l, r)| [l, r]).chain(&filter).map(|e| self.inputs_of(e)).fold(0, |all, set| all | set);
            let needs = asked & !(1 << at);
            if needs == 0 {
                return Ok(None);
            }
            if let Some(semi) = self.inputs.get_mut(at).and_then(|input| input.semi.as_mut()) {
                (semi.on, semi.filter, semi.needs) = (on, filter, needs);
            }
            return Ok(Some((Tree::join(left, right), projected(of_left, join.projection.as_deref()))));
        }
        let Some((right, of_right)) = self.take(join.right())? else { return Ok(None) };
        for (l, r) in join.on() {
            if !self.equal(over(l, &of_left)?, over(r, &of_right)?) {
                return Ok(None);
            }
        }
        if let Some(filter) = join.filter() {
            for condition in split_conjunction(&filter_over(filter, &of_left, &of_right)?) {
                if !self.condition(Arc::clone(condition)) {
                    return Ok(None);
                }
            }
        }
        let outputs = of_left.into_iter().chain(of_right).collect();
        Ok(Some((Tree::join(left, right), projected(outputs, join.projection.as_deref()))))
    }

    fn input(&mut self, plan: &Arc<dyn ExecutionPlan>, semi: Option<Semi>) -> (Tree, Vec<Expr>) {
        let (number, first) = (self.inputs.len(), self.columns);
        let schema = plan.schema();
        self.columns += schema.fields().len();
        self.inputs.push(Input { plan: Arc::clone(plan), first, semi });
        let columns = schema.fields().iter().enumerate().map(|(at, f)| Arc::new(Column::new(f.name(), first + at)) as Expr).collect();
        (Tree::Input(number), columns)
    }

    /// The input that a column belongs to.
    fn input_of(&self, column: usize) -> usize {
        self.inputs.partition_point(|input| input.first <= column).saturating_sub(1)
    }

    /// The inputs that an expression is about.
    pub fn inputs_of(&self, expr: &Expr) -> u64 {
        collect_columns(expr).iter().fold(0, |set, column| set | 1 << self.input_of(column.index()))
    }

    /// Takes note that two expressions are equal; false if that cannot be said in the graph.
    fn equal(&mut self, left: Expr, right: Expr) -> bool {
        let sets = (self.inputs_of(&left), self.inputs_of(&right));
        if sets.0 == 0 || sets.1 == 0 {
            return false;
        }
        if !sets.0.is_power_of_two() || !sets.1.is_power_of_two() {
            return self.condition(Arc::new(BinaryExpr::new(left, Operator::Eq, right)));
        }
        let member = |set: u64, expr: &Expr| (set.trailing_zeros() as usize, Arc::clone(expr));
        let (one, other) = (member(sets.0, &left), member(sets.1, &right));
        let class_of = |classes: &[Vec<(usize, Expr)>], wanted: &(usize, Expr)| {
            classes.iter().position(|class| class.iter().any(|(input, e)| *input == wanted.0 && e.eq(&wanted.1)))
        };
        let (a, b) = (class_of(&self.classes, &one), class_of(&self.classes, &other));
        if a.is_some() && a == b {
            return true;
        }
        let of = |at: Option<usize>, alone: &(usize, Expr)| match at.and_then(|at| self.classes.get(at)) {
            Some(class) => class.clone(),
            None => vec![alone.clone()],
        };
        let (mut class, more) = (of(a, &one), of(b, &other));
        if class.iter().any(|(input, _)| more.iter().any(|(other, _)| input == other)) {
            // Two expressions of one input: the class would say that they are equal, but no join of it compares them.
            return self.condition(Arc::new(BinaryExpr::new(left, Operator::Eq, right)));
        }
        class.extend(more);
        let mut gone: Vec<usize> = a.into_iter().chain(b).collect();
        gone.sort_unstable();
        for at in gone.into_iter().rev() {
            self.classes.remove(at);
        }
        self.classes.push(class);
        true
    }

    /// Takes note of a condition; false if it is about less than two inputs.
    fn condition(&mut self, condition: Expr) -> bool {
        let set = self.inputs_of(&condition);
        if set.count_ones() < 2 {
            return false;
        }
        self.conditions.push((set, condition));
        true
    }

    /// The same graph over other plans of its inputs.
    pub fn map_inputs(mut self, change: impl Fn(Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>>) -> Result<Self> {
        for input in &mut self.inputs {
            input.plan = change(Arc::clone(&input.plan))?;
        }
        Ok(self)
    }

    /// The plan that the graph was taken from, over the inputs as they are now.
    pub fn written(&self, plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let mut inputs = self.inputs.iter().map(|input| Arc::clone(&input.plan));
        rewritten(plan, &mut inputs, false)
    }

    /// A tree as a plan with the columns of the one that the graph was taken from.
    pub fn build(&self, tree: &Tree, schema: &SchemaRef) -> Result<Arc<dyn ExecutionPlan>> {
        let mut wanted = BTreeSet::new();
        self.outputs.iter().for_each(|e| wanted.extend(columns(e)));
        let (plan, given) = self.plan(tree, &wanted)?;
        let exprs = self
            .outputs
            .iter()
            .zip(schema.fields())
            .map(|(e, field)| Ok(ProjectionExpr { expr: place(e, &given, &plan.schema())?, alias: field.name().clone() }))
            .collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(ProjectionExec::try_new(exprs, plan)?))
    }

    /// The plan of a tree that gives at least these columns, and which it gives.
    #[allow(clippy::type_complexity)] // a plan and its columns
    fn plan(&self, tree: &Tree, wanted: &BTreeSet<usize>) -> Result<(Arc<dyn ExecutionPlan>, Vec<usize>)> {
        let (left, right) = match tree {
            Tree::Input(n) => {
                let input = self.inputs.get(*n).ok_or_else(lost)?;
                let columns = (input.first..input.first + input.plan.schema().fields().len()).collect();
                return Ok((Arc::clone(&input.plan), columns));
            }
            Tree::Join(left, right) => (left, right),
        };
        let (of_left, of_right) = (left.set(), right.set());
        let semi = match **right {
            Tree::Input(n) => self.inputs.get(n).and_then(|input| input.semi.as_ref()),
            Tree::Join(..) => None,
        };
        let (on, filter) = match semi {
            Some(semi) => (semi.on.clone(), semi.filter.clone()),
            None => {
                (self.pairs(of_left, of_right).map(|(_, l, r)| (Arc::clone(l), Arc::clone(r))).collect(), self.filter(of_left, of_right))
            }
        };
        let mut below = wanted.clone();
        on.iter().flat_map(|(l, r)| [l, r]).chain(&filter).for_each(|e| below.extend(columns(e)));
        let (left, left_columns) = self.plan(left, &below)?;
        let (right, right_columns) = self.plan(right, &below)?;
        let on = on
            .iter()
            .map(|(l, r)| Ok((place(l, &left_columns, &left.schema())?, place(r, &right_columns, &right.schema())?)))
            .collect::<Result<Vec<_>>>()?;
        let filter = filter.map(|f| join_filter(&f, (&left_columns, &left.schema()), (&right_columns, &right.schema()))).transpose()?;
        let join_type = match semi {
            None => JoinType::Inner,
            Some(Semi { anti: false, .. }) => JoinType::LeftSemi,
            Some(Semi { anti: true, .. }) => JoinType::LeftAnti,
        };
        let mut given = left_columns;
        if semi.is_none() {
            given.extend(right_columns);
        }
        let kept: Vec<usize> = (0..given.len()).filter(|at| given.get(*at).is_some_and(|c| wanted.contains(c))).collect();
        // Rows without columns are nothing that joins are good at.
        let projection = (kept.len() < given.len() && !kept.is_empty()).then_some(kept);
        if let Some(kept) = &projection {
            given = kept.iter().filter_map(|at| given.get(*at).copied()).collect();
        }
        let join = HashJoinExecBuilder::new(left, right, on, join_type)
            .with_filter(filter)
            .with_projection(projection)
            .with_partition_mode(self.mode)
            .with_null_equality(semi.map_or(NullEquality::NullEqualsNothing, |s| s.null_equality))
            .build_exec()?;
        Ok((join, given))
    }

    /// What two sets of inputs are compared by: the class, and an expression of either side.
    pub fn pairs(&self, left: u64, right: u64) -> impl Iterator<Item = (usize, &Expr, &Expr)> {
        self.classes.iter().enumerate().filter_map(move |(at, class)| {
            let of = |set: u64| class.iter().find(|(input, _)| set & 1 << input > 0).map(|(_, e)| e);
            Some((at, of(left)?, of(right)?))
        })
    }

    /// The conditions that can be looked at where two sets meet, and not before.
    fn filter(&self, left: u64, right: u64) -> Option<Expr> {
        let new = self.conditions.iter().filter(|(set, _)| set & !(left | right) == 0 && set & left > 0 && set & right > 0);
        let new: Vec<Expr> = new.map(|(_, e)| Arc::clone(e)).collect();
        (!new.is_empty()).then(|| conjunction(new))
    }
}

/// The same joins over other inputs, which come in the order in which they were taken; `semi`: the plan is an input whatever it is.
fn rewritten(
    plan: Arc<dyn ExecutionPlan>,
    inputs: &mut dyn Iterator<Item = Arc<dyn ExecutionPlan>>,
    semi: bool,
) -> Result<Arc<dyn ExecutionPlan>> {
    if semi || top_join(&plan).is_none() {
        return inputs.next().ok_or_else(lost);
    }
    let takes_away = plan.downcast_ref::<HashJoinExec>().is_some_and(|join| *join.join_type() != JoinType::Inner);
    let children: Vec<_> = plan.children().into_iter().cloned().collect();
    let children =
        children.into_iter().enumerate().map(|(n, child)| rewritten(child, inputs, takes_away && n == 1)).collect::<Result<Vec<_>>>()?;
    replace_children_if_necessary(plan, children)
}

/// The join at the top of a plan that may be taken apart: below projections and filters that give the same for the same row.
fn top_join(plan: &Arc<dyn ExecutionPlan>) -> Option<&HashJoinExec> {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        let plain = match join.join_type() {
            JoinType::Inner => join.null_equality() == NullEquality::NullEqualsNothing,
            JoinType::LeftSemi | JoinType::LeftAnti => !join.null_aware,
            _ => false,
        };
        return (plain && join.fetch().is_none()).then_some(join);
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return if projection.expr().iter().all(|e| !is_volatile(&e.expr)) { top_join(projection.input()) } else { None };
    }
    let filter = plan.downcast_ref::<FilterExec>()?;
    if filter.fetch().is_none() && !is_volatile(filter.predicate()) { top_join(filter.input()) } else { None }
}

fn is_volatile(expr: &Expr) -> bool {
    expr.is_volatile_node() || expr.children().into_iter().any(is_volatile)
}

fn lost() -> DataFusionError {
    DataFusionError::Internal("a column of joins was lost".into())
}

/// The columns that an expression uses.
pub(super) fn columns(expr: &Expr) -> Vec<usize> {
    collect_columns(expr).iter().map(Column::index).collect()
}

fn projected(columns: Vec<Expr>, projection: Option<&[usize]>) -> Vec<Expr> {
    match projection {
        Some(list) => list.iter().filter_map(|at| columns.get(*at).cloned()).collect(),
        None => columns,
    }
}

/// An expression over a plan's columns, over what those stand for.
fn over(expr: &Expr, columns: &[Expr]) -> Result<Expr> {
    Arc::clone(expr)
        .transform_up(|e| match e.downcast_ref::<Column>() {
            // From below: what is put in its place is not looked at again.
            Some(column) => Ok(Transformed::yes(columns.get(column.index()).cloned().ok_or_else(lost)?)),
            None => Ok(Transformed::no(e)),
        })
        .data()
}

fn filter_over(filter: &JoinFilter, left: &[Expr], right: &[Expr]) -> Result<Expr> {
    let columns = filter
        .column_indices()
        .iter()
        .map(|c| match c.side {
            JoinSide::Left => left.get(c.index).cloned().ok_or_else(lost),
            JoinSide::Right => right.get(c.index).cloned().ok_or_else(lost),
            JoinSide::None => Err(lost()),
        })
        .collect::<Result<Vec<_>>>()?;
    over(filter.expression(), &columns)
}

/// An expression of the graph, over a plan that gives these columns.
fn place(expr: &Expr, given: &[usize], schema: &SchemaRef) -> Result<Expr> {
    Arc::clone(expr)
        .transform_up(|e| {
            let Some(column) = e.downcast_ref::<Column>() else { return Ok(Transformed::no(e)) };
            let at = given.iter().position(|c| *c == column.index()).ok_or_else(lost)?;
            Ok(Transformed::yes(Arc::new(Column::new(schema.field(at).name(), at)) as Expr))
        })
        .data()
}

/// A condition over two sides of a join.
fn join_filter(condition: &Expr, left: (&[usize], &SchemaRef), right: (&[usize], &SchemaRef)) -> Result<JoinFilter> {
    let used: Vec<usize> = columns(condition).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let (mut indices, mut fields) = (Vec::with_capacity(used.len()), Vec::with_capacity(used.len()));
    for column in &used {
        let at = |side: &[usize]| side.iter().position(|c| c == column);
        let (index, side, schema) = match (at(left.0), at(right.0)) {
            (Some(index), _) => (index, JoinSide::Left, left.1),
            (None, Some(index)) => (index, JoinSide::Right, right.1),
            (None, None) => return Err(lost()),
        };
        indices.push(ColumnIndex { index, side });
        fields.push(schema.field(index).clone());
    }
    let schema = Arc::new(Schema::new(fields));
    Ok(JoinFilter::new(place(condition, &used, &schema)?, indices, schema))
}
