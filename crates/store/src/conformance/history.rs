//! Guarantee 11: what histories tell.

use super::support::{F, G, Histories, T, all_at, commit, create, histories, put, table};
use super::{MakeStore, block_on, clock};
use crate::{FamilyOptions, HistorySink, HistorySpec, KeyRange, Layout, Store, StoreError, Timestamp, Version};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

fn kept(layout: Layout, versions: u32) -> FamilyOptions {
    FamilyOptions { layout, versions, ..Default::default() }
}

/// Some rows in two families, changed, deleted and set again over time, with a flush and a compaction between.
fn changed_rows(store: &dyn Store, layout: Layout, moments: &mut Vec<Timestamp>, mut tick: impl FnMut()) {
    create(store, &table(T, vec![kept(layout, 20), kept(Layout::Cells, 20)]));
    for round in 0..6u8 {
        for key in [b"a", b"b", b"c"] {
            tick();
            let at = commit(store, |m| match (round + key[0]) % 5 {
                0 => m.delete_row(T, key),
                1 => m.delete_family(T, key, G),
                2 => {
                    m.delete_row(T, key);
                    m.put(T, key, F, b"", &[round]);
                }
                3 => m.delete_cell(T, key, G, b"q"),
                _ => {
                    m.put(T, key, F, b"", &[round, round]);
                    m.put(T, key, G, b"q", &[round]);
                    m.put(T, key, G, b"r", &[round]);
                }
            });
            moments.push(at);
        }
        match round {
            1 => block_on(store.flush(T)).unwrap(),
            3 => block_on(store.compact(T)).unwrap(),
            _ => {}
        }
    }
}

pub fn a_history_tells_what_reads_of_the_past_see(make: MakeStore<'_>) {
    for layout in [Layout::Packed, Layout::Cells] {
        let clock = clock();
        let fixture = make(clock.clone());
        let store = &*fixture.store;
        let mut moments = Vec::new();
        changed_rows(store, layout, &mut moments, || clock.advance_us(3000));
        let given = histories(store, &store.snapshot(), T, &[F, G]).unwrap();
        assert!(given.rows.iter().map(|row| row.versions.len()).sum::<usize>() > 8, "{given:?}");
        for at in moments {
            let then = all_at(store, &store.snapshot_at(at).unwrap(), T, &[F, G]);
            let given = given.rows.iter().filter_map(|row| {
                assert!(row.known_since <= at, "{row:?} at {at:?}");
                let (_, cells) = row.versions.iter().rev().find(|(since, _)| *since <= at)?;
                (!cells.is_empty()).then(|| (row.key.clone(), cells.clone()))
            });
            assert_eq!(given.collect::<Vec<_>>(), then.rows, "at {at:?}");
        }
    }
}

/// The times of a row's versions, and its cells then.
fn given(store: &dyn Store, key: &str) -> Vec<(Timestamp, String)> {
    let given = histories(store, &store.snapshot(), T, &[F]).unwrap();
    let versions = given.rows.into_iter().find(|row| row.key == key.as_bytes()).map(|row| row.versions).unwrap_or_default();
    let text = |cells: Vec<super::support::Cell>| cells.iter().map(|c| String::from_utf8_lossy(&c.value).into_owned()).collect();
    versions.into_iter().map(|(since, cells)| (since, text(cells))).collect()
}

pub fn a_history_has_deletions_and_what_came_after_them(make: MakeStore<'_>) {
    for layout in [Layout::Packed, Layout::Cells] {
        let clock = clock();
        let fixture = make(clock.clone());
        let store = &*fixture.store;
        create(store, &table(T, vec![kept(layout, 9)]));
        let mut times = Vec::new();
        let mut at = |time| {
            clock.advance_us(3000);
            times.push(time);
        };
        at(put(store, "k", "one"));
        at(commit(store, |m| m.delete_row(T, b"k")));
        at(commit(store, |m| m.delete_row(T, b"k")));
        at(put(store, "k", "two"));
        at(commit(store, |m| {
            m.delete_row(T, b"k");
            m.put(T, b"k", F, b"", b"three");
        }));
        at(commit(store, |m| m.delete_family(T, b"k", F)));
        commit(store, |m| m.delete_row(T, b"never"));
        let text = |at: usize, text: &str| (times[at], text.to_owned());
        let all = vec![text(0, "one"), text(1, ""), text(3, "two"), text(4, "three"), text(5, "")];
        assert_eq!(given(store, "k"), all, "a deletion of what is not there changes nothing");
        assert_eq!(given(store, "never"), []);
        block_on(store.compact(T)).unwrap();
        assert_eq!(given(store, "k"), all);
        let past = histories(store, &store.snapshot_at(times[1]).unwrap(), T, &[F]).unwrap();
        assert_eq!(past.rows[0].versions.len(), 2, "what was committed after the snapshot is not told");
    }
}

pub fn a_history_says_since_when_it_is_known(make: MakeStore<'_>) {
    for layout in [Layout::Packed, Layout::Cells] {
        let clock = clock();
        let fixture = make(clock.clone());
        let store = &*fixture.store;
        let hour = Some(Duration::from_secs(3600));
        let aged = FamilyOptions { layout, versions: 9, min_versions: 1, ttl: hour, ..Default::default() };
        create(store, &table(T, vec![kept(layout, 3), kept(layout, 1), aged]));
        let mut times = Vec::new();
        for value in ["1", "2", "3", "4", "5"] {
            clock.advance_us(3000);
            times.push(put(store, "k", value));
        }
        block_on(store.compact(T)).unwrap();
        let history = histories(store, &store.snapshot(), T, &[F]).unwrap();
        let row = &history.rows[0];
        // A store may know more than the three versions that it promises; what it knows is what reads of the past see.
        assert!(row.known_since <= times[2], "{row:?}");
        for (at, value) in times.iter().zip(["1", "2", "3", "4", "5"]).filter(|(at, _)| **at >= row.known_since) {
            let then = row.versions.iter().rev().find(|(since, _)| since <= at).unwrap();
            assert_eq!(then.1[0].value, value.as_bytes());
        }
        let one = histories(store, &store.snapshot(), T, &[F, G]);
        assert!(matches!(one, Err(StoreError::Invalid(_))), "a family that keeps one version has no history: {one:?}");
        let aged = crate::FamilyId(2);
        commit(store, |m| m.put(T, b"k", aged, b"", b"old"));
        clock.advance_us(3_600_000_000);
        let last = commit(store, |m| m.put(T, b"k", aged, b"", b"new"));
        clock.advance_us(3_000_000);
        let history = histories(store, &store.snapshot(), T, &[aged]).unwrap();
        assert!(history.rows[0].known_since < last);
        assert_eq!(history.rows[0].versions.len(), 2, "what was replaced within the hour is known");
        // Nothing is committed for longer than the past is kept.
        clock.advance_us(7_200_000_000);
        let history = histories(store, &store.snapshot(), T, &[aged]).unwrap();
        assert_eq!(history.rows[0].versions.last().unwrap().1[0].value, b"new", "what is there is known");
    }
}

pub fn histories_come_in_blocks(make: MakeStore<'_>) {
    struct One(Vec<Vec<u8>>);
    impl HistorySink for One {
        fn row(&mut self, key: &[u8], _: Timestamp, _: &[Version<'_>]) -> ControlFlow<()> {
            self.0.push(key.to_vec());
            ControlFlow::Break(())
        }
    }
    let fixture = make(clock());
    let store = &*fixture.store;
    create(store, &table(T, vec![kept(Layout::Packed, 3)]));
    for key in ["a", "b", "c", "d"] {
        put(store, key, "1");
    }
    let spec = |range: KeyRange| HistorySpec { table: T, families: vec![F], range, snapshot: store.snapshot() };
    let mut history = block_on(store.history(spec(KeyRange::new(b"b".to_vec(), Some(b"d".to_vec()))))).unwrap();
    let mut keys = One(Vec::new());
    while block_on(history.next_block(100, &mut keys)).unwrap() {}
    assert_eq!(keys.0, [b"b", b"c"]);
    assert!(!block_on(history.next_block(100, &mut keys)).unwrap(), "a history that ended stays at its end");
    let mut none = block_on(store.history(spec(KeyRange::empty()))).unwrap();
    assert!(!block_on(none.next_block(100, &mut Histories::default())).unwrap());
    let snapshot = Arc::clone(&store.snapshot());
    let other = HistorySpec { table: T, families: vec![crate::FamilyId(7)], range: KeyRange::all(), snapshot };
    assert!(matches!(block_on(store.history(other)).map(|_| ()), Err(StoreError::Invalid(_))));
}
