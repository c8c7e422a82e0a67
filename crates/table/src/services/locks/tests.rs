//! The conflict matrices of PostgreSQL, fairness, deadlocks, and a model under random steps.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use std::sync::Arc;
use stoa_store::TableId;

const A: GroupId = GroupId(1);
const B: GroupId = GroupId(2);
const C: GroupId = GroupId(3);

#[test]
fn matrices_are_postgresqls() {
    // Rows of the documentation's tables, "X" for a conflict.
    let rows = ["...XX", "..XXX", ".XXXX", "XXXXX", "XXXXX"];
    let tables = [".......X", "......XX", "....XXXX", "...XXXXX", "..XX.XXX", "..XXXXXX", ".XXXXXXX", "XXXXXXXX"];
    for (id, matrix) in [(LockId::Row(1), &rows[..]), (LockId::Table(1), &tables[..])] {
        for (a, line) in matrix.iter().enumerate() {
            for (b, mark) in line.chars().enumerate() {
                let conflict = conflicts(id, Mode(a as u8)) & Mode(b as u8).bit() != 0;
                assert_eq!(conflict, mark == 'X', "{id:?} {a} {b}");
            }
        }
    }
}

#[tokio::test]
async fn a_waiter_gets_the_lock_when_it_is_released_and_later_ones_queue() {
    let locks = Arc::new(LockManager::default());
    let (id, share, exclusive) = (LockId::Table(1), TableLockMode::AccessShare.into(), TableLockMode::AccessExclusive.into());
    assert_eq!(locks.acquire(A, id, share, Wait::Never).await, Acquired::Granted { new: true });
    assert_eq!(locks.acquire(A, id, share, Wait::Never).await, Acquired::Granted { new: false });
    let l = Arc::clone(&locks);
    let b = tokio::spawn(async move { l.acquire(B, id, exclusive, Wait::Until(None)).await });
    while locks.waiting.lock().is_empty() {
        tokio::task::yield_now().await;
    }
    // Compatible with the holder, but B came first.
    assert_eq!(locks.acquire(C, id, share, Wait::Never).await, Acquired::Busy);
    locks.release(A, id);
    assert_eq!(b.await.unwrap(), Acquired::Granted { new: true });
    locks.release(B, id);
    assert!(locks.shards.iter().all(|s| s.lock().is_empty()));
}

#[tokio::test]
async fn who_shares_a_row_does_not_wait_for_those_who_wait_for_it_alone() {
    let locks = Arc::new(LockManager::default());
    let id = LockId::Row(1);
    assert_eq!(locks.try_acquire(A, id, Mode::SHARE), Some(Grant::New));
    let l = Arc::clone(&locks);
    let b = tokio::spawn(async move { l.acquire(B, id, Mode::UPDATE, Wait::Until(None)).await });
    while locks.waiting.lock().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(locks.try_acquire(C, id, Mode::SHARE), Some(Grant::New));
    locks.release(A, id);
    locks.release(C, id);
    assert_eq!(b.await.unwrap(), Acquired::Granted { new: true });
}

/// A and B read two tables that C and D wait for, and then each the other: the one of them who does not look goes before those who wait.
#[tokio::test]
async fn readers_overtake_where_that_undoes_a_cycle() {
    let (share, exclusive): (Mode, Mode) = (TableLockMode::AccessShare.into(), TableLockMode::AccessExclusive.into());
    let d = GroupId(4);
    for looks in [A, B] {
        let locks = Arc::new(LockManager::default());
        let (x, y) = (LockId::Table(1), LockId::Table(2));
        assert_eq!((locks.try_acquire(A, x, share), locks.try_acquire(B, y, share)), (Some(Grant::New), Some(Grant::New)));
        let mut tasks = Vec::new();
        for (n, (group, id, mode)) in [(C, x, exclusive), (d, y, exclusive), (A, y, share), (B, x, share)].into_iter().enumerate() {
            let l = Arc::clone(&locks);
            let patience = if group == looks { Duration::from_millis(5) } else { Duration::from_secs(600) };
            tasks.push(tokio::spawn(async move { l.acquire_watchful(group, id, mode, Wait::Until(None), patience).await }));
            while n < 3 && locks.waiting.lock().len() <= n {
                tokio::task::yield_now().await;
            }
        }
        let mut tasks = tasks.into_iter();
        let (c, d_waits, a, b) = (tasks.next().unwrap(), tasks.next().unwrap(), tasks.next().unwrap(), tasks.next().unwrap());
        // Behind the first go the writer that waits for what it held from the beginning, the other reader, and the other writer.
        let (first, rest) = if looks == B { (a, [(A, c), (C, b), (B, d_waits)]) } else { (b, [(B, d_waits), (d, a), (A, c)]) };
        assert!(matches!(first.await.unwrap(), Acquired::Granted { .. }));
        for (done, next) in rest {
            assert!(!next.is_finished());
            locks.release(done, x);
            locks.release(done, y);
            assert!(matches!(next.await.unwrap(), Acquired::Granted { .. }));
        }
    }
}

/// C and D wait for a table that B reads, B for one that A has, and A for the first: A goes before both writers, whose order stays.
#[tokio::test]
async fn who_goes_before_others_leaves_their_order() {
    let locks = Arc::new(LockManager::default());
    let (x, y) = (LockId::Table(1), LockId::Table(2));
    let (share, update, exclusive): (Mode, Mode, Mode) =
        (TableLockMode::AccessShare.into(), TableLockMode::ShareUpdateExclusive.into(), TableLockMode::AccessExclusive.into());
    let d = GroupId(4);
    assert_eq!((locks.try_acquire(A, x, update), locks.try_acquire(B, y, share)), (Some(Grant::New), Some(Grant::New)));
    let mut tasks = Vec::new();
    for (n, (group, id, mode)) in [(B, x, update), (C, y, exclusive), (d, y, exclusive)].into_iter().enumerate() {
        let (l, patience) = (Arc::clone(&locks), Duration::from_secs(600));
        tasks.push(tokio::spawn(async move { l.acquire_watchful(group, id, mode, Wait::Until(None), patience).await }));
        while locks.waiting.lock().len() <= n {
            tokio::task::yield_now().await;
        }
    }
    let a = locks.acquire_watchful(A, y, update, Wait::Until(None), Duration::from_millis(5)).await;
    assert_eq!(a, Acquired::Granted { new: true });
    for (task, (group, id)) in tasks.into_iter().zip([(A, x), (B, y), (C, y)]) {
        locks.release(group, id);
        locks.release(A, y);
        assert_eq!(task.await.unwrap(), Acquired::Granted { new: true });
    }
}

/// Both hold a table and want it alone: the second is reported at once, since the first waits for it.
#[tokio::test]
async fn who_would_wait_for_one_that_waits_for_it_is_reported_at_once() {
    let locks = Arc::new(LockManager::default());
    let (id, share, exclusive) = (LockId::Table(1), TableLockMode::AccessShare.into(), TableLockMode::AccessExclusive.into());
    assert_eq!((locks.try_acquire(A, id, share), locks.try_acquire(B, id, share)), (Some(Grant::New), Some(Grant::New)));
    let (l, patience) = (Arc::clone(&locks), Duration::from_secs(600));
    let a = tokio::spawn(async move { l.acquire_watchful(A, id, exclusive, Wait::Until(None), patience).await });
    while locks.waiting.lock().is_empty() {
        tokio::task::yield_now().await;
    }
    let b = locks.acquire_watchful(B, id, exclusive, Wait::Until(None), patience).await;
    assert_eq!(b, Acquired::Deadlock(vec![B, A]));
    locks.release(B, id);
    assert_eq!(a.await.unwrap(), Acquired::Granted { new: false });
}

#[tokio::test]
async fn a_timeout_and_a_cancelled_wait_leave_the_queue() {
    let locks = LockManager::default();
    let id = LockId::Table(5);
    let _ = locks.acquire(A, id, TableLockMode::AccessExclusive.into(), Wait::Never).await;
    let wait = Wait::Until(Some(Duration::from_millis(5)));
    assert_eq!(locks.acquire(B, id, TableLockMode::AccessShare.into(), wait).await, Acquired::TimedOut);
    let cancelled = locks.acquire(B, id, TableLockMode::AccessShare.into(), Wait::Until(None));
    assert!(tokio::time::timeout(Duration::from_millis(5), cancelled).await.is_err());
    assert!(locks.waiting.lock().is_empty());
    locks.release(A, id);
    assert!(locks.shards.iter().all(|s| s.lock().is_empty()));
}

/// A lock that is granted while its waiter is still on the way to waiting is new to it: whoever is told otherwise never releases it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_granted_at_once_is_new_to_its_waiter() {
    let locks = Arc::new(LockManager::default());
    let id = LockId::Row(1);
    let tasks: Vec<_> = (0..4)
        .map(|n| {
            let locks = Arc::clone(&locks);
            tokio::spawn(async move {
                for _ in 0..20_000 {
                    match locks.acquire(GroupId(n), id, Mode::UPDATE, Wait::Until(Some(Duration::from_secs(10)))).await {
                        Acquired::Granted { new: true } => locks.release(GroupId(n), id),
                        other => panic!("{other:?}"),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert!(locks.shards.iter().all(|s| s.lock().is_empty()));
}

#[tokio::test]
async fn one_of_a_cycle_is_reported() {
    let locks = Arc::new(LockManager::new(Duration::from_millis(5)));
    let (x, y, z) = (LockId::Row(1), LockId::Row(2), LockId::Row(3));
    for (group, id) in [(A, x), (B, y), (C, z)] {
        let _ = locks.acquire(group, id, Mode::UPDATE, Wait::Never).await;
    }
    let mut tasks = Vec::new();
    for (group, own, wanted) in [(A, x, y), (B, y, z), (C, z, x)] {
        let locks = Arc::clone(&locks);
        tasks.push(tokio::spawn(async move {
            let outcome = locks.acquire(group, wanted, Mode::UPDATE, Wait::Until(None)).await;
            let dead = matches!(outcome, Acquired::Deadlock(_));
            if !dead {
                locks.release(group, wanted);
            }
            locks.release(group, own);
            dead
        }));
    }
    let mut victims = 0;
    for task in tasks {
        victims += u32::from(task.await.unwrap());
    }
    assert_eq!(victims, 1);
    assert!(locks.shards.iter().all(|s| s.lock().is_empty()));
}

#[test]
fn an_upgrade_goes_before_the_queue() {
    let locks = LockManager::default();
    let id = LockId::Row(9);
    assert_eq!(locks.try_acquire(A, id, Mode::KEY_SHARE), Some(Grant::New));
    assert_eq!(locks.try_acquire(B, id, Mode::KEY_SHARE), Some(Grant::New));
    assert_eq!(locks.try_acquire(A, id, Mode::NO_KEY_UPDATE), Some(Grant::Stronger));
    assert_eq!(locks.try_acquire(A, id, Mode::UPDATE), None);
    locks.release(B, id);
    assert_eq!(locks.try_acquire(A, id, Mode::UPDATE), Some(Grant::Stronger));
}

/// Random steps of a few groups on a few locks: nobody ever holds what conflicts, and in the end everything is free.
#[test]
fn random_steps_never_grant_a_conflict() {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    for seed in 0..200 {
        let mut rng = StdRng::seed_from_u64(seed);
        let locks = LockManager::default();
        let mut held: HashMap<(u64, u64), u8> = HashMap::new();
        for _ in 0..200 {
            let (group, lock) = (rng.random_range(0..4u64), rng.random_range(0..3u64));
            let id = LockId::Row(lock);
            if rng.random_bool(0.3) {
                locks.release(GroupId(group), id);
                held.remove(&(group, lock));
                continue;
            }
            let mode = Mode(rng.random_range(0..5));
            let free = held.iter().all(|((g, l), modes)| *g == group || *l != lock || modes & conflicts(id, mode) == 0);
            let granted = locks.try_acquire(GroupId(group), id, mode).is_some();
            assert_eq!(granted, free);
            if granted {
                *held.entry((group, lock)).or_default() |= mode.bit();
            }
        }
        for ((group, lock), _) in held {
            locks.release(GroupId(group), LockId::Row(lock));
        }
        assert!(locks.shards.iter().all(|s| s.lock().values().all(Entry::is_free)));
    }
}

#[tokio::test]
async fn locks_of_very_many_rows_take_little_and_still_hold() {
    let locks = Arc::new(LockManager::new(Duration::from_millis(20)));
    let ids: Vec<LockId> = (0..200_000u64).map(|n| LockId::row(TableId(1), &n.to_be_bytes())).collect();
    let mut kept = Vec::new();
    for some in ids.chunks(40_000) {
        some.iter().for_each(|id| assert_eq!(locks.try_acquire(A, *id, Mode::UPDATE), Some(Grant::New)));
        kept.extend(locks.gather(A, some.to_vec()));
    }
    assert!(kept.is_empty());
    assert!(locks.shards.iter().all(|s| s.lock().is_empty()));
    let shared = LockId::row(TableId(2), b"parent");
    assert_eq!(locks.try_acquire(A, shared, Mode::KEY_SHARE), Some(Grant::New));
    assert!(locks.gather(A, vec![shared, LockId::Table(7)]) == [LockId::Table(7)]);
    assert_eq!(locks.try_acquire(B, shared, Mode::NO_KEY_UPDATE), Some(Grant::New), "modes are kept");
    assert_eq!(locks.try_acquire(B, shared, Mode::UPDATE), None);
    assert!(ids.iter().all(|id| locks.try_acquire(B, *id, Mode::KEY_SHARE).is_none()));
    // Its own locks are no obstacle, and there are no false alarms: strangers with many rows each would deadlock by two.
    assert_eq!(locks.try_acquire(A, ids[0], Mode::UPDATE), Some(Grant::New));
    locks.release(A, ids[0]);
    let others: Vec<LockId> = (0..200_000u64).map(|n| LockId::row(TableId(3), &n.to_be_bytes())).collect();
    assert!(others.iter().all(|id| locks.try_acquire(C, *id, Mode::UPDATE) == Some(Grant::New)));
    assert!(locks.gather(C, others).is_empty());
    locks.release_many(C, 0);

    // A waiter is in the graph, and gets the lock at the end.
    let (l, id) = (Arc::clone(&locks), ids[77]);
    // It does not look for the deadlock itself: the other one is to find it.
    let patience = Duration::from_secs(600);
    let c = tokio::spawn(async move { l.acquire_watchful(C, id, Mode::UPDATE, Wait::Until(None), patience).await });
    while locks.waiting.lock().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(locks.blockers(C), [A]);
    assert_eq!(locks.try_acquire(C, LockId::Advisory(1, 1, 5), Mode::ADVISORY_EXCLUSIVE), Some(Grant::New));
    assert!(matches!(
        locks.acquire(A, LockId::Advisory(1, 1, 5), Mode::ADVISORY_EXCLUSIVE, Wait::Until(None)).await,
        Acquired::Deadlock(_)
    ));
    let mark = locks.seal(A);
    let more: Vec<LockId> = (0..100u64).map(|n| LockId::row(TableId(4), &n.to_be_bytes())).collect();
    more.iter().for_each(|id| assert_eq!(locks.try_acquire(A, *id, Mode::UPDATE), Some(Grant::New)));
    assert!(locks.gather(A, more.clone()).is_empty());
    assert_eq!(locks.try_acquire(B, more[5], Mode::UPDATE), None);
    locks.release_many(A, mark);
    assert_eq!(locks.try_acquire(B, more[5], Mode::UPDATE), Some(Grant::New), "back to the savepoint");
    assert_eq!(locks.try_acquire(B, ids[5], Mode::UPDATE), None);
    locks.release_many(A, 0);
    assert_eq!(c.await.unwrap(), Acquired::Granted { new: true });
    assert_eq!(locks.try_acquire(B, ids[5], Mode::UPDATE), Some(Grant::New));
    assert!(!locks.many.any.load(Ordering::Acquire));
}
