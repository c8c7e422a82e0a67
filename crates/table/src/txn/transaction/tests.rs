//! Isolation levels, savepoints, own writes, catalog changes and hooks, over the model store.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::catalog::SchemaDescriptor;
use crate::catalog::store::CATALOG_TABLE;
use crate::row::KeyList;
use crate::txn::{LockStrength, LockWait, RangeRead, is_statement_retry};
use std::ops::ControlFlow;
use stoa_store::model::ModelStore;
use stoa_store::{CellRef, FamilyId, FamilyOptions, FamilySchema, RowSink, Store, TableSchema};

const T: TableId = TableId(9);
const F: FamilyId = FamilyId(0);

async fn world() -> Arc<Transactions> {
    let store = Arc::new(ModelStore::new());
    for id in [T, CATALOG_TABLE] {
        let families = vec![FamilySchema { id: F, name: "f".into(), options: FamilyOptions::default() }];
        store.create_table(&TableSchema { id, name: "t".into(), families, split_points: Vec::new() }).await.unwrap();
    }
    Transactions::new(&crate::Tables::new(store))
}

async fn begin(transactions: &Arc<Transactions>, group: u64, isolation: Isolation) -> Arc<Transaction> {
    let txn = transactions.begin(TxnOptions { isolation, ..TxnOptions::new(GroupId(group)) });
    txn.start_statement().await.unwrap();
    txn
}

fn put(txn: &Transaction, key: &[u8], value: &[u8]) {
    txn.write(|set| set.put(T, key, F, &[], Some(value))).unwrap();
}

struct Collect(Vec<(Vec<u8>, Vec<u8>)>);

impl RowSink for Collect {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self.0.push((key.to_vec(), cells[0].value.to_vec()));
        ControlFlow::Continue(())
    }
}

async fn all(txn: &Transaction) -> String {
    let mut out = Collect(Vec::new());
    let read = RangeRead { table: T, families: vec![F], range: KeyRange::all(), reverse: false, limit: None, fill_cache: true };
    let mut scan = txn.read_view().scan(read).await.unwrap();
    while scan.next_block(2, &mut out).await.unwrap() {}
    out.0.iter().map(|(k, v)| format!("{}={} ", String::from_utf8_lossy(k), String::from_utf8_lossy(v))).collect()
}

fn keys(list: &[&[u8]]) -> KeyList {
    let mut out = KeyList::new();
    list.iter().for_each(|k| out.push(k));
    out
}

#[tokio::test]
async fn a_statement_does_not_see_its_own_writes_and_the_next_one_does() {
    let transactions = world().await;
    let txn = begin(&transactions, 1, Isolation::ReadCommitted).await;
    put(&txn, b"a", b"1");
    assert_eq!(all(&txn).await, "");
    txn.start_statement().await.unwrap();
    assert_eq!(all(&txn).await, "a=1 ");
    put(&txn, b"b", b"2");
    txn.discard_statement();
    txn.start_statement().await.unwrap();
    assert_eq!(all(&txn).await, "a=1 ");
    let other = begin(&transactions, 2, Isolation::ReadCommitted).await;
    assert_eq!(all(&other).await, "");
    txn.commit().await.unwrap();
    assert_eq!(all(&other).await, "");
    other.start_statement().await.unwrap();
    assert_eq!(all(&other).await, "a=1 ");
}

#[tokio::test]
async fn savepoints_take_back_what_came_after_them() {
    let transactions = world().await;
    let txn = begin(&transactions, 1, Isolation::ReadCommitted).await;
    put(&txn, b"a", b"1");
    txn.savepoint("s").unwrap();
    txn.start_statement().await.unwrap();
    put(&txn, b"a", b"2");
    put(&txn, b"b", b"2");
    txn.savepoint("s").unwrap();
    txn.start_statement().await.unwrap();
    put(&txn, b"c", b"3");
    txn.lock_rows(T, &keys(&[b"c"]), LockStrength::Update, LockWait::Wait, "t").await.unwrap();
    txn.rollback_to("s").await.unwrap();
    txn.start_statement().await.unwrap();
    assert_eq!(all(&txn).await, "a=2 b=2 ");
    // The lock that came after the savepoint is gone.
    let other = begin(&transactions, 2, Isolation::ReadCommitted).await;
    other.lock_rows(T, &keys(&[b"c"]), LockStrength::Update, LockWait::NoWait, "t").await.unwrap();
    txn.release("s").unwrap();
    txn.rollback_to("s").await.unwrap();
    txn.start_statement().await.unwrap();
    assert_eq!(all(&txn).await, "a=1 ");
    txn.release("s").unwrap();
    assert_eq!(txn.release("s").unwrap_err().code().as_str(), "3B001");
    txn.commit().await.unwrap();
}

#[tokio::test]
async fn a_row_changed_behind_the_snapshot_runs_again_or_fails() {
    let transactions = world().await;
    for (isolation, code) in [(Isolation::ReadCommitted, "ZZR01"), (Isolation::RepeatableRead, "40001"), (Isolation::Serializable, "40001")]
    {
        let late = begin(&transactions, 1, isolation).await;
        let _ = all(&late).await;
        let first = begin(&transactions, 2, Isolation::ReadCommitted).await;
        first.lock_rows(T, &keys(&[b"a"]), LockStrength::Update, LockWait::Wait, "t").await.unwrap();
        put(&first, b"a", b"1");
        let waiter = {
            let late = Arc::clone(&late);
            tokio::spawn(async move {
                late.lock_rows(T, &keys(&[b"a"]), LockStrength::Update, LockWait::Wait, "t").await.unwrap();
                late.check_unchanged(T, &keys(&[b"a"]))
            })
        };
        tokio::task::yield_now().await;
        first.commit().await.unwrap();
        let error = waiter.await.unwrap().unwrap_err();
        assert_eq!(error.code().as_str(), code);
        if isolation == Isolation::ReadCommitted {
            assert!(is_statement_retry(&error));
            late.discard_statement();
            late.start_statement().await.unwrap();
            late.check_unchanged(T, &keys(&[b"a"])).unwrap();
        }
        late.rollback().await;
    }
}

#[tokio::test]
async fn nowait_and_skip_locked_do_not_wait() {
    let transactions = world().await;
    let (a, b) = (begin(&transactions, 1, Isolation::ReadCommitted).await, begin(&transactions, 2, Isolation::ReadCommitted).await);
    a.lock_rows(T, &keys(&[b"x"]), LockStrength::NoKeyUpdate, LockWait::Wait, "t").await.unwrap();
    b.lock_rows(T, &keys(&[b"x"]), LockStrength::KeyShare, LockWait::Wait, "t").await.unwrap();
    let skipped = b.lock_rows(T, &keys(&[b"w", b"x"]), LockStrength::Share, LockWait::SkipLocked, "t").await.unwrap();
    assert_eq!(skipped, [true, false]);
    let error = b.lock_rows(T, &keys(&[b"x"]), LockStrength::Update, LockWait::NoWait, "t").await.unwrap_err();
    assert_eq!((error.code().as_str(), error.message()), ("55P03", "could not obtain lock on row in relation \"t\""));
    b.set_patience(Some(Duration::from_millis(1)), Duration::from_secs(1), Durability::default());
    let error = b.lock_rows(T, &keys(&[b"x"]), LockStrength::Update, LockWait::Wait, "t").await.unwrap_err();
    assert_eq!((error.code().as_str(), error.message()), ("55P03", "canceling statement due to lock timeout"));
}

#[tokio::test]
async fn write_skew_is_refused_under_serializable_only() {
    for (isolation, both) in [(Isolation::RepeatableRead, true), (Isolation::Serializable, false)] {
        let transactions = world().await;
        let (a, b) = (begin(&transactions, 1, isolation).await, begin(&transactions, 2, isolation).await);
        for (txn, key) in [(&a, b"a"), (&b, b"b")] {
            let _ = all(txn).await;
            txn.record_read(T, &KeyRange::all());
            put(txn, key, b"1");
        }
        a.commit().await.unwrap();
        let second = b.commit().await;
        assert_eq!(second.is_ok(), both);
        if let Err(error) = second {
            assert_eq!(error.code().as_str(), "40001");
        }
    }
}

#[tokio::test]
async fn catalog_changes_are_private_until_commit_and_meet_those_of_others() {
    let transactions = world().await;
    let schema = |oid: Oid, name: &str| SchemaDescriptor { oid, name: name.into(), comment: None, temporary: None };
    let create = |oid: Oid, name: &'static str| {
        move |catalog: &mut CatalogSnapshot| {
            if catalog.schema_by_name(name).is_some() {
                return Err(PgError::new(SqlState::DUPLICATE_SCHEMA, format!("schema \"{name}\" already exists")));
            }
            catalog.put_schema(schema(oid, name));
            Ok(())
        }
    };
    let before = transactions.published_catalog().version;
    let (a, b, c) = (
        begin(&transactions, 1, Isolation::ReadCommitted).await,
        begin(&transactions, 2, Isolation::ReadCommitted).await,
        begin(&transactions, 3, Isolation::ReadCommitted).await,
    );
    a.change_catalog(create(1, "one")).unwrap();
    a.add_catalog_mutation(b"one", Some(b"1")).unwrap();
    b.change_catalog(create(2, "two")).unwrap();
    c.change_catalog(create(3, "one")).unwrap();
    assert!(a.catalog().schema_by_name("one").is_some() && b.catalog().schema_by_name("one").is_none());
    a.savepoint("s").unwrap();
    a.change_catalog(create(4, "four")).unwrap();
    a.rollback_to("s").await.unwrap();
    assert!(a.catalog().schema_by_name("four").is_none());
    a.commit().await.unwrap();
    assert!(b.catalog().schema_by_name("one").is_some() && b.catalog().schema_by_name("two").is_some());
    b.commit().await.unwrap();
    let published = transactions.published_catalog();
    assert_eq!(published.schemas().count(), 2);
    assert!(published.version > before);
    assert_eq!(c.commit().await.unwrap_err().code(), SqlState::DUPLICATE_SCHEMA);
    assert_eq!(transactions.published_catalog().version, published.version);
}

#[tokio::test]
async fn hooks_run_at_the_end_they_wait_for() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let transactions = world().await;
    let ran = Arc::new(AtomicU32::new(0));
    let hook = |n: u32| {
        let ran = Arc::clone(&ran);
        move || -> BoxFuture<'static, ()> {
            Box::pin(async move {
                ran.fetch_add(n, Ordering::Relaxed);
            })
        }
    };
    let a = begin(&transactions, 1, Isolation::ReadCommitted).await;
    a.on_commit(hook(1));
    a.on_rollback(hook(10));
    a.commit().await.unwrap();
    assert_eq!(ran.swap(0, Ordering::Relaxed), 1);
    let b = begin(&transactions, 1, Isolation::ReadCommitted).await;
    b.on_commit(hook(1));
    b.on_rollback(hook(10));
    b.rollback().await;
    assert_eq!(ran.load(Ordering::Relaxed), 10);
}

#[tokio::test]
async fn locks_are_held_until_everything_is_as_it_was() {
    let transactions = world().await;
    let free = {
        let transactions = Arc::clone(&transactions);
        move || {
            let transactions = Arc::clone(&transactions);
            async move {
                let other = begin(&transactions, 2, Isolation::ReadCommitted).await;
                other.lock_rows(T, &keys(&[b"a"]), LockStrength::Update, LockWait::NoWait, "t").await.is_ok()
            }
        }
    };
    for way in ["rollback to", "rollback", "drop"] {
        let txn = begin(&transactions, 1, Isolation::ReadCommitted).await;
        txn.savepoint("s").unwrap();
        txn.start_statement().await.unwrap();
        txn.lock_rows(T, &keys(&[b"a"]), LockStrength::Update, LockWait::Wait, "t").await.unwrap();
        let (answer, received) = tokio::sync::oneshot::channel();
        let look = free.clone();
        txn.on_rollback(move || {
            Box::pin(async move {
                // Whoever waits for the lock has its turn here.
                tokio::task::yield_now().await;
                answer.send(look().await).unwrap();
            })
        });
        match way {
            "rollback to" => txn.rollback_to("s").await.unwrap(),
            "rollback" => txn.rollback().await,
            _ => drop(txn),
        }
        assert!(!received.await.unwrap(), "{way}");
        tokio::task::yield_now().await;
        assert!(free().await, "{way}");
    }
}

#[tokio::test]
async fn a_transaction_that_writes_too_much_is_reported() {
    let transactions = world().await;
    transactions.set_max_transaction_bytes(1000);
    let txn = begin(&transactions, 1, Isolation::ReadCommitted).await;
    let error = (0..100u8).find_map(|n| txn.write(|set| set.put(T, &[n], F, &[], Some(&[0; 50]))).err()).unwrap();
    assert_eq!(error.code(), SqlState::PROGRAM_LIMIT_EXCEEDED);
}

#[tokio::test]
async fn a_key_that_is_given_back_leaves_the_lock_as_it_was() {
    let manager = world().await;
    let (a, b) = (begin(&manager, 1, Isolation::ReadCommitted).await, begin(&manager, 2, Isolation::ReadCommitted).await);
    let (x, y) = (LockId::row(T, b"x"), LockId::row(T, b"y"));
    let at_once = |txn: &Arc<Transaction>, key: &'static [u8], strength| {
        let txn = Arc::clone(txn);
        async move { txn.lock_rows(T, &keys(&[key]), strength, LockWait::NoWait, "t").await.is_ok() }
    };
    assert!(at_once(&a, b"x", LockStrength::KeyShare).await);
    a.savepoint("s").unwrap();
    let mark = a.locks_held();
    assert_eq!((a.try_lock_key(x), a.try_lock_key(y), a.try_lock_key(y)), (KeyLock::Taken, KeyLock::Taken, KeyLock::Held));
    assert_eq!((b.try_lock_key(x), b.is_unsettled(y), a.is_unsettled(y)), (KeyLock::Unsettled, true, false));
    // What has taken the place of the key's lock stays.
    assert_eq!(a.try_lock_row(y, LockStrength::NoKeyUpdate), Some(true));
    a.give_back(mark, &[x, y], LockStrength::Key);
    assert_eq!((b.try_lock_key(x), b.try_lock_key(y), b.is_unsettled(x)), (KeyLock::Settled, KeyLock::Settled, false));
    assert!(at_once(&b, b"x", LockStrength::NoKeyUpdate).await);
    assert!(at_once(&b, b"y", LockStrength::KeyShare).await);
    assert!(!at_once(&b, b"y", LockStrength::NoKeyUpdate).await);
    a.rollback_to("s").await.unwrap();
    assert!(at_once(&b, b"y", LockStrength::NoKeyUpdate).await);
    assert!(!at_once(&b, b"x", LockStrength::Update).await, "the lock from before the savepoint is still there");
    a.rollback().await;
    assert!(at_once(&b, b"x", LockStrength::Update).await);
    assert_eq!(b.try_lock_key(x), KeyLock::Taken);
    b.rollback().await;
    assert_eq!(a.locks_held() + b.locks_held(), 0);
}

#[tokio::test]
async fn who_looks_for_a_key_waits_for_whoever_changes_it_and_for_nobody_else() {
    let manager = world().await;
    let (a, b) = (begin(&manager, 1, Isolation::ReadCommitted).await, begin(&manager, 2, Isolation::ReadCommitted).await);
    let x = LockId::row(T, b"x");
    assert_eq!(a.try_lock_row(x, LockStrength::Update), Some(true));
    assert_eq!(b.try_lock_key(x), KeyLock::Settled);
    assert_eq!(a.try_lock_key(x), KeyLock::Taken);
    assert_eq!(b.try_lock_key(x), KeyLock::Unsettled);
    b.set_patience(Some(Duration::from_millis(1)), Duration::from_secs(1), Durability::default());
    assert_eq!(b.wait_until_settled(x, "t").await.unwrap_err().code().as_str(), "55P03");
    a.rollback().await;
    b.wait_until_settled(x, "t").await.unwrap();
    assert_eq!(b.locks_held(), 0);
    b.rollback().await;
}
