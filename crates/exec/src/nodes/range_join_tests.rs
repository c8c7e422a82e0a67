//! Joins by searches in sorted rows give what joins of all pairs give, of every kind, with memory and without.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::lookup_join::LookupKind;
use super::range_join::{Bound, Range, RangeJoinExec, RangeKey, RangeParts};
use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::pretty::pretty_format_batches;
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::common::{JoinSide, JoinType, Statistics};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::NestedLoopJoinExec;
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter, build_join_schema};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

type Expr = Arc<dyn PhysicalExpr>;

const KINDS: [(LookupKind, JoinType); 5] = [
    (LookupKind::Inner, JoinType::Inner),
    (LookupKind::Outer, JoinType::Right),
    (LookupKind::Semi, JoinType::RightSemi),
    (LookupKind::Anti, JoinType::RightAnti),
    (LookupKind::Mark, JoinType::RightMark),
];

/// Rows `(id, k, lo, hi, t)`, all but the first with NULLs, in batches.
fn rows(random: &mut StdRng, schema: &SchemaRef, count: usize) -> Vec<RecordBatch> {
    let mut out = Vec::new();
    for from in (0..count).step_by(40) {
        let n = 40.min(count - from);
        let mut some = |most: i32| (0..n).map(|_| random.random_bool(0.9).then(|| random.random_range(0..most))).collect::<Vec<_>>();
        let (k, lo, hi) = (some(12), some(14), some(14));
        let t = StringViewArray::from_iter(some(4).into_iter().map(|i| i.map(|i| "ab".repeat(i as usize))));
        let id: Int32Array = (from..from + n).map(|i| Some(i as i32)).collect();
        let columns: Vec<ArrayRef> =
            vec![Arc::new(id), Arc::new(Int32Array::from(k)), Arc::new(Int32Array::from(lo)), Arc::new(Int32Array::from(hi)), Arc::new(t)];
        out.push(RecordBatch::try_new(Arc::clone(schema), columns).unwrap());
    }
    out
}

fn column(name: &str, schema: &SchemaRef) -> Expr {
    Arc::new(Column::new(name, schema.index_of(name).unwrap()))
}

/// A comparison in a filter whose columns are those of the left side and then those of the right one.
fn test(schema: &SchemaRef, left: &str, op: Operator, right: &str) -> Expr {
    let of = |name: &str, from: usize| Arc::new(Column::new(name, from + schema.index_of(name).unwrap())) as Expr;
    Arc::new(BinaryExpr::new(of(left, 0), op, of(right, schema.fields().len())))
}

fn both(a: Expr, op: Operator, b: Expr) -> Expr {
    Arc::new(BinaryExpr::new(a, op, b))
}

async fn answer(plan: Arc<dyn ExecutionPlan>, memory: usize) -> (Vec<String>, usize) {
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(GreedyMemoryPool::new(memory))).build_arc().unwrap();
    let context = Arc::new(TaskContext::default().with_runtime(runtime));
    let batches = datafusion::physical_plan::collect(Arc::clone(&plan), context).await.unwrap();
    let text = pretty_format_batches(&batches).unwrap().to_string();
    let mut lines: Vec<String> =
        text.lines().filter(|line| line.starts_with('|') && !line.starts_with("| id")).map(str::to_owned).collect();
    lines.sort();
    let compared = plan.metrics().and_then(|m| m.sum_by_name("pairs_compared")).map_or(0, |count| count.as_usize());
    (lines, compared)
}

#[tokio::test]
async fn every_kind_gives_what_all_pairs_give() {
    let ty = [("id", DataType::Int32), ("k", DataType::Int32), ("lo", DataType::Int32), ("hi", DataType::Int32), ("t", DataType::Utf8View)];
    let schema: SchemaRef = Arc::new(Schema::new(ty.map(|(name, ty)| Field::new(name, ty, true)).to_vec()));
    let of = |name: &str| column(name, &schema);
    let equal = |l: &str, r: &str| RangeKey { equal: vec![(of(l), of(r))], range: None };
    let range = |lower: bool, upper: bool| Range {
        value: of("k"),
        lower: Some(Bound { value: of("lo"), inclusive: lower }),
        upper: Some(Bound { value: of("hi"), inclusive: upper }),
    };
    let t = |l: &str, op: Operator, r: &str| test(&schema, l, op, r);
    use Operator::{And, Eq, Gt, GtEq, Lt, LtEq, NotEq, Or};
    // Keys, the whole condition, and what the keys leave of it.
    let conditions: Vec<(Vec<RangeKey>, Expr, Option<Expr>)> = vec![
        (vec![equal("k", "k")], t("k", Eq, "k"), None),
        (vec![equal("t", "t")], both(t("t", Eq, "t"), And, t("id", NotEq, "id")), Some(t("id", NotEq, "id"))),
        (vec![RangeKey { equal: vec![], range: Some(range(true, false)) }], both(t("k", GtEq, "lo"), And, t("k", Lt, "hi")), None),
        (
            vec![RangeKey { equal: vec![(of("t"), of("t"))], range: Some(range(false, true)) }],
            both(t("t", Eq, "t"), And, both(t("k", Gt, "lo"), And, t("k", LtEq, "hi"))),
            None,
        ),
        (
            vec![RangeKey {
                equal: vec![(of("t"), of("t"))],
                range: Some(Range { value: of("k"), lower: None, upper: Some(Bound { value: of("hi"), inclusive: false }) }),
            }],
            both(t("t", Eq, "t"), And, t("k", Lt, "hi")),
            None,
        ),
        (
            vec![RangeKey {
                equal: vec![(of("t"), of("t"))],
                range: Some(Range { value: of("k"), lower: Some(Bound { value: of("lo"), inclusive: false }), upper: None }),
            }],
            both(t("t", Eq, "t"), And, t("k", Gt, "lo")),
            None,
        ),
        (
            vec![equal("k", "k"), equal("id", "lo"), RangeKey { equal: vec![], range: Some(range(true, true)) }],
            both(both(t("k", Eq, "k"), Or, t("id", Eq, "lo")), Or, both(t("k", GtEq, "lo"), And, t("k", LtEq, "hi"))),
            None,
        ),
    ];
    let mut random = StdRng::seed_from_u64(7);
    let mut fewer = 0;
    for (lefts, rights) in [(0, 30), (30, 0), (1, 1), (100, 130), (130, 50)] {
        let source = |batches: Vec<RecordBatch>| MemorySourceConfig::try_new_exec(&[batches], Arc::clone(&schema), None).unwrap();
        let (lefts_rows, rights_rows) = (rows(&mut random, &schema, lefts), rows(&mut random, &schema, rights));
        // Room for the rows, and not for their keys.
        let room = lefts_rows.iter().map(RecordBatch::get_array_memory_size).sum::<usize>() + 500;
        let (left, right) = (source(lefts_rows), source(rights_rows));
        for (keys, condition, rest) in &conditions {
            for (kind, join_type) in KINDS {
                let all = schema.fields().len();
                let index = |at: usize| ColumnIndex { index: at % all, side: if at < all { JoinSide::Left } else { JoinSide::Right } };
                let mut fields = schema.fields().to_vec();
                fields.extend(schema.fields().to_vec());
                let filter =
                    |e: &Expr| JoinFilter::new(Arc::clone(e), (0..2 * all).map(index).collect(), Arc::new(Schema::new(fields.clone())));
                let (joined, columns) = build_join_schema(&schema, &schema, &join_type);
                let rest = if keys.len() > 1 { Some(filter(condition)) } else { rest.as_ref().map(&filter) };
                let parts = RangeParts {
                    left: Arc::clone(&left) as Arc<dyn ExecutionPlan>,
                    right: Arc::clone(&right) as Arc<dyn ExecutionPlan>,
                    kind,
                    keys: keys.clone(),
                    filter: filter(condition),
                    rest,
                    schema: Arc::new(joined),
                    columns,
                    statistics: Arc::new(Statistics::default()),
                };
                let pairs = NestedLoopJoinExec::try_new(
                    Arc::clone(&parts.left),
                    Arc::clone(&parts.right),
                    Some(filter(condition)),
                    &join_type,
                    None,
                );
                let (wanted, _) = answer(Arc::new(pairs.unwrap()), 1 << 30).await;
                let (found, compared) = answer(Arc::new(RangeJoinExec::new(parts.clone()).unwrap()), 1 << 30).await;
                let of = format!("{join_type:?} of {lefts} and {rights} by {}", keys[0]);
                assert_eq!(found, wanted, "{of}");
                assert!(compared <= lefts * rights, "{of}");
                fewer += usize::from(compared < lefts * rights);
                let (found, compared) = answer(Arc::new(RangeJoinExec::new(parts).unwrap()), room).await;
                assert_eq!(found, wanted, "{of}, without room");
                assert!(lefts < 100 || compared == 0, "{of}: {compared}");
            }
        }
    }
    assert!(fewer > 100, "{fewer}");
}
