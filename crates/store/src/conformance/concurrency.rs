//! Guarantees 2, 3 and 5 under threads.

use super::support::{F, G, Rows, T, U, commit, commit_with, create, get, read_spec, run_scan, scan_spec, table};
use super::{MakeStore, SplitMix, block_on, clock};
use crate::{FamilyOptions, KeyRange, Layout, Store, StoreError, TableId, Timestamp};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub fn a_row_changes_in_all_families_at_once(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    let cells = FamilyOptions { layout: Layout::Cells, ..Default::default() };
    create(store, &table(T, vec![FamilyOptions::default(), cells]));
    let write = |i: u64| {
        let value = i.to_be_bytes();
        commit(store, |m| {
            m.put(T, b"row", F, b"", &value);
            m.put(T, b"row", G, b"a", &value);
            m.put(T, b"row", G, b"b", &value);
        });
    };
    write(0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..2 {
            let stop = &stop;
            scope.spawn(move || {
                let mut last = 0;
                while !stop.load(Ordering::Relaxed) {
                    let spec = read_spec(&store.snapshot(), T, &[F, G]);
                    let rows = if reader == 0 {
                        get(store, &spec, &[b"row"]).unwrap()
                    } else {
                        run_scan(store, scan_spec(spec, KeyRange::all()), 10).unwrap()
                    };
                    let values: Vec<_> = rows.rows[0].1.iter().map(|c| c.value.clone()).collect();
                    assert!(values.len() == 3 && values.iter().all(|v| *v == values[0]), "torn row {values:?}");
                    let now = u64::from_be_bytes(values[0].as_slice().try_into().unwrap());
                    assert!(now >= last, "snapshots go forward");
                    last = now;
                }
            });
        }
        (1..300).for_each(write);
        stop.store(true, Ordering::Relaxed);
    });
}

/// The sum over all accounts of two tables, at a new snapshot.
fn sum(store: &dyn Store) -> i64 {
    let snapshot = store.snapshot();
    let of = |table: TableId| {
        let rows = run_scan(store, scan_spec(read_spec(&snapshot, table, &[F]), KeyRange::all()), 7).unwrap();
        rows.rows.iter().map(|(_, cells)| number(&cells[0].value)).sum::<i64>()
    };
    of(T) + of(U)
}

fn number(bytes: &[u8]) -> i64 {
    i64::from_be_bytes(bytes.try_into().unwrap())
}

fn balance(rows: &Rows) -> i64 {
    number(&rows.rows[0].1[0].value)
}

pub fn commits_are_atomic_and_timestamps_rise(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    create(store, &table(T, vec![FamilyOptions::default()]));
    create(store, &table(U, vec![FamilyOptions { versions: 2, ..Default::default() }]));
    let accounts = 10u8;
    commit(store, |m| {
        for a in 0..accounts {
            m.put(T, &[a], F, b"", &100i64.to_be_bytes());
            m.put(U, &[a], F, b"", &100i64.to_be_bytes());
        }
    });
    let last_acknowledged = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4u64)
            .map(|seed| {
                let last_acknowledged = &last_acknowledged;
                scope.spawn(move || {
                    let mut random = SplitMix(seed);
                    let mut done = 0;
                    while done < 100 {
                        let (from, to) = (random.below(10) as u8, random.below(10) as u8);
                        let floor = last_acknowledged.load(Ordering::SeqCst);
                        let snapshot = store.snapshot();
                        assert!(snapshot.timestamp().0 >= floor, "a snapshot sees what was acknowledged");
                        let a = balance(&get(store, &read_spec(&snapshot, T, &[F]), &[&[from]]).unwrap());
                        let b = balance(&get(store, &read_spec(&snapshot, U, &[F]), &[&[to]]).unwrap());
                        let floor = last_acknowledged.load(Ordering::SeqCst);
                        let result = commit_with(store, Some(snapshot.timestamp()), &[], |m| {
                            m.put(T, &[from], F, b"", &(a - 5).to_be_bytes());
                            m.put(U, &[to], F, b"", &(b + 5).to_be_bytes());
                        });
                        match result {
                            Ok(at) => {
                                assert!(at.0 > floor, "above all that was acknowledged before");
                                assert!(store.snapshot().timestamp() >= at, "visible when acknowledged");
                                last_acknowledged.fetch_max(at.0, Ordering::SeqCst);
                                done += 1;
                            }
                            Err(StoreError::Conflict) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        let stop = &stop;
        scope.spawn(move || {
            let mut last = Timestamp::default();
            while !stop.load(Ordering::Relaxed) {
                assert_eq!(sum(store), 2000, "a commit was seen in part");
                let now = store.snapshot().timestamp();
                assert!(now >= last);
                last = now;
            }
        });
        writers.into_iter().for_each(|w| w.join().unwrap());
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(sum(store), 2000);
}

pub fn concurrent_increments_are_not_lost(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    create(store, &table(T, vec![FamilyOptions::default()]));
    commit(store, |m| (0..3u8).for_each(|k| m.put(T, &[k], F, b"", &0i64.to_be_bytes())));
    let (threads, each) = (6u64, 60);
    std::thread::scope(|scope| {
        for seed in 0..threads {
            scope.spawn(move || {
                let mut random = SplitMix(seed);
                for i in 0..each {
                    let key = [random.below(3) as u8];
                    loop {
                        let snapshot = store.snapshot();
                        let value = balance(&get(store, &read_spec(&snapshot, T, &[F]), &[&key]).unwrap());
                        // Half of them conflict by what they read only.
                        let validate = [(T, KeyRange::point(&key))];
                        let validate = if i % 2 == 0 { &validate[..] } else { &[] };
                        match commit_with(store, Some(snapshot.timestamp()), validate, |m| {
                            m.put(T, &key, F, b"", &(value + 1).to_be_bytes())
                        }) {
                            Ok(_) => break,
                            Err(StoreError::Conflict) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    let rows = super::support::all_at(store, &store.snapshot(), T, &[F]);
    let total: i64 = rows.rows.iter().map(|(_, cells)| number(&cells[0].value)).sum();
    assert_eq!(total, (threads * each) as i64);
}

pub fn a_watch_ends_before_a_change_is_seen(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    create(store, &table(T, vec![FamilyOptions::default()]));
    create(store, &table(U, vec![FamilyOptions { ttl: Some(std::time::Duration::from_secs(1)), ..Default::default() }]));
    commit(store, |m| (0..100u8).for_each(|k| m.put(T, &[k], F, b"", b"0")));
    assert!(store.watch(U, &KeyRange::all(), &store.snapshot()).is_none(), "rows that expire by themselves");
    let range = |from: u8| KeyRange::new(vec![from], Some(vec![from + 10]));
    let before = store.snapshot();
    // A store may watch nothing.
    let Some(watch) = store.watch(T, &range(10), &before) else { return };
    let apart = store.watch(T, &range(20), &before).unwrap();
    commit(store, |m| m.delete_row(T, &[19]));
    let after = store.snapshot().timestamp();
    assert!(watch.holds_at(before.timestamp()) && !watch.holds_at(after), "what was seen before stays true before");
    assert!(apart.holds_at(after));
    assert!(store.watch(T, &range(10), &before).is_none(), "it has changed since");
    let load = |key: u8| {
        let mut load = block_on(store.bulk_load(&[T])).unwrap();
        load.put(T, &[key], F, b"", b"1").unwrap();
        block_on(load.finish()).unwrap();
    };
    load(25);
    assert!(!apart.is_open(), "a load is a change like another");
    let last = store.watch(T, &KeyRange::new(vec![99], None), &store.snapshot()).unwrap();
    block_on(store.drop_table(T)).unwrap();
    assert!(!last.is_open());
    create(store, &table(T, vec![FamilyOptions::default()]));

    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (stop, range) = (&stop, &range);
        let writers: Vec<_> = (0..2u64)
            .map(|seed| {
                scope.spawn(move || {
                    let mut random = SplitMix(seed);
                    for i in 0..400u32 {
                        let key = random.below(100) as u8;
                        match random.below(4) {
                            0 => drop(commit_with(store, None, &[], |m| m.delete_row(T, &[key]))),
                            _ => drop(commit_with(store, None, &[], |m| m.put(T, &[key], F, b"", &i.to_be_bytes()))),
                        }
                    }
                })
            })
            .collect();
        for reader in 0..2u64 {
            scope.spawn(move || {
                let mut random = SplitMix(reader + 100);
                // Each reader has a half of its own: a later watch ends one that it overlaps.
                while !stop.load(Ordering::Relaxed) {
                    let range = range(10 * (random.below(5) + 5 * reader) as u8);
                    let read = |snapshot: &std::sync::Arc<dyn crate::Snapshot>| {
                        run_scan(store, scan_spec(read_spec(snapshot, T, &[F]), range.clone()), 7).unwrap()
                    };
                    let snapshot = store.snapshot();
                    let seen = read(&snapshot);
                    let Some(watch) = store.watch(T, &range, &snapshot) else { continue };
                    loop {
                        let later = store.snapshot();
                        let holds = watch.holds_at(later.timestamp());
                        assert!(!holds || read(&later) == seen, "a change was seen before the watch ended");
                        if !holds || stop.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                }
            });
        }
        writers.into_iter().for_each(|w| w.join().unwrap());
        stop.store(true, Ordering::Relaxed);
    });
}
