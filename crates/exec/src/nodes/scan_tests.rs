//! Scans through DataFusion over the model store: every path gives the answer of a plain filter, own writes included.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::source::ScanContext;
use super::table_provider::StoaTable;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int32Type};
use datafusion::catalog::TableProvider;
use datafusion::functions_aggregate::count::count_all;
use datafusion::prelude::{Expr, SessionConfig, SessionContext, col, lit};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::SqlType;
use stoa_pg::types::PgType;
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, IndexPart, IndexState, Salt, TableDescriptor};
use stoa_table::row::samples::{column, table};
use stoa_table::row::{INDEX_FAMILY, IndexCodec, IndexEncoder, RowCodec, RowEncoder};
use stoa_table::txn::{GroupId, Transaction, Transactions, TxnOptions};
use stoa_table::{Layout, TableId};

/// (a, b) is the key; c is indexed, nullable; d is nothing.
fn descriptor(salt: Option<u8>, unique: bool, include: bool) -> TableDescriptor {
    let int = SqlType::new(PgType::Int4);
    let columns: Vec<(&str, SqlType)> = ["a", "b", "c", "d"].iter().map(|n| (*n, int.clone())).collect();
    let mut t = table(&columns, &[(0, false), (1, true)], &[(Layout::Packed, &[2, 3])]);
    t.salt = salt.map(|buckets| Salt { buckets: u16::from(buckets), columns: Vec::new() });
    t.indexes.push(IndexDescriptor {
        oid: 30_000,
        name: "i".into(),
        storage: TableId(101),
        unique,
        nulls_not_distinct: false,
        primary: false,
        parts: vec![IndexPart {
            key: IndexKey::Column(ColumnId(3)),
            ty: int,
            class: None,
            collation: None,
            descending: false,
            nulls_first: false,
        }],
        include: if include { vec![ColumnId(4)] } else { Vec::new() },
        predicate: None,
        state: IndexState::Readable,
        readable_from: 0,
        replaces: None,
        constraint: None,
        method: "btree".into(),
        options: Vec::new(),
        salt_buckets: None,
        comment: None,
    });
    t
}

type Row = [Option<i32>; 4];

fn put(txn: &Transaction, t: &TableDescriptor, row: &Row) {
    let int = SqlType::new(PgType::Int4);
    let columns: HashMap<ColumnId, ArrayRef> =
        row.iter().enumerate().map(|(n, v)| (ColumnId(n as u32 + 1), column(&int, &[v.map(|v| v.to_string()).as_deref()]))).collect();
    let codec = RowCodec::new(t).unwrap();
    let mut encoder = RowEncoder::new(&codec, |id| columns.get(&id).cloned()).unwrap();
    let mut key = Vec::new();
    encoder.key(0, &mut key).unwrap();
    let index = IndexCodec::new(t, &t.indexes[0]).unwrap();
    let mut entries = IndexEncoder::new(&index, |_| columns.get(&ColumnId(3)).cloned(), |id| columns.get(&id).cloned()).unwrap();
    let mut entry = Vec::new();
    entries.key(0, &key, &mut entry).unwrap();
    let cell = entries.cell(0, &key).unwrap().to_vec();
    txn.write(|set| {
        encoder
            .cells(
                0,
                |_| true,
                |family, qualifier, value| {
                    set.put(codec.storage, &key, family, qualifier, value);
                    Ok(())
                },
            )
            .unwrap();
        set.put(index.storage, &entry, INDEX_FAMILY, &[], Some(&cell));
    })
    .unwrap();
}

fn delete(txn: &Transaction, t: &TableDescriptor, row: &Row) {
    let int = SqlType::new(PgType::Int4);
    let value = |n: usize| column(&int, &[row[n].map(|v| v.to_string()).as_deref()]);
    let codec = RowCodec::new(t).unwrap();
    let keys = codec.encode_keys(&[value(0), value(1)], 1, None).unwrap();
    let index = IndexCodec::new(t, &t.indexes[0]).unwrap();
    let entries = IndexEncoder::new(&index, |_| Some(value(2)), |_| Some(value(3))).unwrap();
    let mut entry = Vec::new();
    entries.key(0, keys.get(0), &mut entry).unwrap();
    txn.write(|set| {
        set.delete(codec.storage, keys.get(0));
        set.delete(index.storage, &entry);
    })
    .unwrap();
}

async fn world(t: &TableDescriptor) -> Arc<Transactions> {
    let tables = stoa_table::Tables::in_memory();
    tables.create(&RowCodec::table_schema(t)).await.unwrap();
    tables.create(&IndexCodec::table_schema(&t.indexes[0])).await.unwrap();
    Transactions::new(&tables)
}

fn session(txn: &Arc<Transaction>, t: &Arc<TableDescriptor>) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(2).with_batch_size(3);
    config.options_mut().optimizer.enable_round_robin_repartition = false;
    let ctx = SessionContext::new_with_config(config);
    let columns: Vec<(ColumnId, String)> = t.live_columns().map(|c| (c.id, c.name.clone())).collect();
    let context = ScanContext { view: txn.read_view(), txn: Some(Arc::clone(txn)), columns: None, text: None };
    let provider = StoaTable::new(Arc::clone(t), &columns, Arc::new(context)).unwrap().in_its_context();
    ctx.register_table("t", Arc::new(provider)).unwrap();
    ctx
}

fn rows_of(batches: &[RecordBatch]) -> Vec<Row> {
    let mut out = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let value = |n: usize| {
                let a = batch.column(n).as_primitive::<Int32Type>();
                a.is_valid(row).then(|| a.value(row))
            };
            out.push([value(0), value(1), value(2), value(3)]);
        }
    }
    out
}

/// A condition as DataFusion takes it, and as a row fulfils it.
fn filter(rng: &mut StdRng) -> (Expr, Box<dyn Fn(&Row) -> bool>) {
    let n = rng.random_range(0..4usize);
    let v = rng.random_range(0..6);
    let column = col(["a", "b", "c", "d"][n]);
    match rng.random_range(0..6) {
        0 | 1 => (column.eq(lit(v)), Box::new(move |r| r[n] == Some(v))),
        2 => (column.lt(lit(v)), Box::new(move |r| r[n].is_some_and(|x| x < v))),
        3 => (column.in_list(vec![lit(v), lit(1)], false), Box::new(move |r| r[n] == Some(v) || r[n] == Some(1))),
        4 => (column.is_null(), Box::new(move |r| r[n].is_none())),
        _ => (column.gt(lit(v)).or(col("d").eq(lit(2))), Box::new(move |r| r[n].is_some_and(|x| x > v) || r[3] == Some(2))),
    }
}

#[tokio::test]
async fn every_path_gives_the_same_rows() {
    let mut paths = std::collections::BTreeSet::new();
    for seed in 0..160 {
        let mut rng = StdRng::seed_from_u64(seed);
        let t = Arc::new(descriptor(rng.random_bool(0.3).then_some(3), false, rng.random_bool(0.5)));
        let transactions = world(&t).await;
        let mut rows: Vec<Row> = Vec::new();
        for a in 0..5 {
            for b in 0..5 {
                if rng.random_bool(0.7) {
                    let mut value = || rng.random_bool(0.8).then(|| rng.random_range(0..6));
                    rows.push([Some(a), Some(b), value(), value()]);
                }
            }
        }
        // Some rows are committed, some the transaction's own; some committed ones it has deleted or replaced.
        let first = transactions.begin(TxnOptions::new(GroupId(1)));
        let second = transactions.begin(TxnOptions::new(GroupId(2)));
        second.start_statement().await.unwrap();
        let committed: Vec<bool> = rows.iter().map(|_| rng.random_bool(0.6)).collect();
        for (row, _) in rows.iter().zip(&committed).filter(|(_, c)| **c) {
            put(&first, &t, row);
        }
        let gone: Row = [Some(9), Some(9), Some(1), Some(1)];
        put(&first, &t, &gone);
        first.commit().await.unwrap();
        for (row, _) in rows.iter().zip(&committed).filter(|(_, c)| !**c) {
            put(&second, &t, row);
        }
        delete(&second, &t, &gone);
        second.start_statement().await.unwrap();
        let ctx = session(&second, &t);
        for _ in 0..4 {
            let filters: Vec<_> = (0..rng.random_range(0..3)).map(|_| filter(&mut rng)).collect();
            let order = ["", "a, b desc", "a desc, b", "c"][rng.random_range(0..4)];
            let limit = rng.random_bool(0.3).then(|| rng.random_range(0..5usize));
            let offset = limit.map_or(0, |_| rng.random_range(0..3usize));
            let mut frame = ctx.table("t").await.unwrap();
            for (expr, _) in &filters {
                frame = frame.filter(expr.clone()).unwrap();
            }
            frame = match order {
                "a, b desc" => frame.sort(vec![col("a").sort(true, false), col("b").sort(false, true)]).unwrap(),
                "a desc, b" => frame.sort(vec![col("a").sort(false, true), col("b").sort(true, false)]).unwrap(),
                "c" => frame.sort(vec![col("c").sort(true, false)]).unwrap(),
                _ => frame,
            };
            if limit.is_some() {
                frame = frame.limit(offset, limit).unwrap();
            }
            let sql = frame.logical_plan().display_indent().to_string();
            let plan = frame.clone().create_physical_plan().await.unwrap();
            let shown = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
            for name in ["KeyRangeScanExec", "PointGetExec", "IndexLookupExec", "covered", "reverse"] {
                if shown.contains(name) {
                    paths.insert(name);
                }
            }
            let found = rows_of(&frame.collect().await.unwrap());
            let mut wanted: Vec<Row> = rows.iter().filter(|r| filters.iter().all(|(_, f)| f(r))).copied().collect();
            match order {
                "a, b desc" => wanted.sort_by_key(|r| (r[0], std::cmp::Reverse(r[1]))),
                "a desc, b" => wanted.sort_by_key(|r| (std::cmp::Reverse(r[0]), r[1])),
                _ => {}
            }
            let key = |r: &Row| *r;
            match limit {
                Some(n) => {
                    wanted.drain(..offset.min(wanted.len()).min(if order.contains('a') { offset } else { 0 }));
                    let left = wanted.len().saturating_sub(if order.contains('a') { 0 } else { offset });
                    assert_eq!(found.len(), left.min(n), "seed {seed}: {sql}\n{shown}");
                    assert!(found.iter().all(|r| wanted.contains(r)), "seed {seed}: {sql}");
                    if order.contains('a') {
                        assert_eq!(found, wanted[..found.len()], "seed {seed}: {sql}\n{shown}");
                    }
                }
                None => {
                    if order.contains('a') {
                        assert_eq!(found, wanted, "seed {seed}: {sql}\n{shown}");
                    } else if order.contains('c') {
                        assert!(
                            found.windows(2).all(|w| w[0][2].is_some_and(|x| w[1][2].is_none_or(|y| x <= y)) || w[1][2].is_none()),
                            "{sql}"
                        );
                    }
                    let (mut a, mut b) = (found, wanted);
                    a.sort_by_key(key);
                    b.sort_by_key(key);
                    assert_eq!(a, b, "seed {seed}: {sql}\n{shown}");
                }
            }
        }
        second.rollback().await;
    }
    assert_eq!(paths.len(), 5, "{paths:?}");
}

#[tokio::test]
async fn plans_say_what_they_read() {
    let t = Arc::new(descriptor(None, true, false));
    let transactions = world(&t).await;
    let txn = transactions.begin(TxnOptions::new(GroupId(1)));
    put(&txn, &t, &[Some(1), Some(2), Some(3), Some(4)]);
    txn.start_statement().await.unwrap();
    let ctx = session(&txn, &t);
    let t = ctx.table("t").await.unwrap();
    let cases = [
        (
            t.clone().filter(col("a").eq(lit(1)).and(col("b").eq(lit(2)))).unwrap().select_columns(&["d"]).unwrap(),
            "PointGetExec: table=t, ranges=[1, 2], columns=[d]",
        ),
        (
            t.clone()
                .filter(col("a").eq(lit(1)).and(col("d").gt(lit(3))))
                .and_then(|f| f.limit(0, Some(5)))
                .and_then(|f| f.select_columns(&["d"]))
                .unwrap(),
            "KeyRangeScanExec: table=t, ranges=[1], filters=[d@0 > 3], columns=[d], limit=5",
        ),
        (t.clone().filter(col("c").between(lit(1), lit(9))).unwrap().select_columns(&["c"]).unwrap(), "ranges=[1 … "),
        (t.clone().filter(col("c").eq(lit(3))).unwrap().select_columns(&["d"]).unwrap(), "IndexLookupExec: index=i, table=t, ranges=[3]"),
        (
            t.clone()
                .filter(col("a").gt(lit(5)))
                .and_then(|f| f.sort(vec![col("a").sort(false, true)]))
                .and_then(|f| f.select_columns(&["a"]))
                .unwrap(),
            "reverse",
        ),
        (t.clone().filter(col("c").eq(lit(3)).and(lit(false))).unwrap().select_columns(&["a"]).unwrap(), "EmptyExec"),
    ];
    for (frame, wanted) in cases {
        let shown_query = frame.logical_plan().display_indent().to_string();
        let plan = frame.create_physical_plan().await.unwrap();
        let shown = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
        assert!(shown.contains(wanted), "{shown_query}: {shown}");
        assert!(!shown.contains("FilterExec") && !shown.contains("SortExec"), "{shown_query}: {shown}");
    }
    let counted = t.aggregate(Vec::new(), vec![count_all()]).unwrap().collect().await.unwrap();
    assert_eq!(counted[0].column(0).data_type(), &DataType::Int64);
    txn.rollback().await;
}

/// A foreign plan may not change rows: DataFusion's hooks lose filters, and would delete or change every row.
#[tokio::test]
async fn hooks_that_change_rows_are_refused() {
    let t = Arc::new(descriptor(None, true, false));
    let transactions = world(&t).await;
    let txn = transactions.begin(TxnOptions::new(GroupId(1)));
    put(&txn, &t, &[Some(1), Some(2), Some(3), Some(4)]);
    txn.start_statement().await.unwrap();
    let ctx = session(&txn, &t);
    let provider: Arc<dyn TableProvider> = ctx.table_provider("t").await.unwrap();
    let state = ctx.state();
    assert!(provider.delete_from(&state, Vec::new()).await.is_err());
    assert!(provider.update(&state, vec![("d".into(), lit(1))], Vec::new()).await.is_err());
    assert_eq!(ctx.table("t").await.unwrap().count().await.unwrap(), 1);
    txn.rollback().await;
}
