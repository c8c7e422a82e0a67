//! Guarantees 1, 4 and 7: what reads return.

use super::support::{F, G, T, all_at, commit, create, get, put, read_spec, run_scan, scan_spec, table, texts};
use super::{MakeStore, block_on, clock};
use crate::{FamilyOptions, KeyRange, Layout, Mutations, StoreError, Timestamp};
use std::time::Duration;

fn range(start: &str, end: Option<&str>) -> KeyRange {
    KeyRange::new(start.into(), end.map(|e| e.as_bytes().to_vec()))
}

/// All forms that a family can have in a store.
fn forms() -> Vec<FamilyOptions> {
    vec![
        FamilyOptions::default(),
        FamilyOptions { versions: 3, ..Default::default() },
        FamilyOptions { layout: Layout::Cells, ..Default::default() },
        FamilyOptions { layout: Layout::Cells, versions: 3, ..Default::default() },
    ]
}

pub fn scans_yield_exactly_the_rows_of_the_range_in_order(make: MakeStore<'_>) {
    for options in forms() {
        let fixture = make(clock());
        let store = &*fixture.store;
        create(store, &table(T, vec![options.clone(), options]));
        for key in ["b", "d", "a", "c", "aa", "e"] {
            commit(store, |m| {
                m.put(T, key.as_bytes(), F, b"", key.as_bytes());
                if key != "c" {
                    m.put(T, key.as_bytes(), G, b"", b"g");
                }
            });
        }
        commit(store, |m| m.delete_row(T, b"d"));
        let snapshot = store.snapshot();
        for (from, expected) in [
            (range("", None), vec!["a", "aa", "b", "c", "e"]),
            (range("a", Some("b")), vec!["a", "aa"]),
            (range("aa", Some("c")), vec!["aa", "b"]),
            (range("c", None), vec!["c", "e"]),
            (range("ab", Some("ab")), vec![]),
            (range("c", Some("b")), vec![]),
            (range("f", None), vec![]),
            (KeyRange::point(b"aa"), vec!["aa"]),
            (KeyRange::prefix(b"a"), vec!["a", "aa"]),
            (KeyRange::empty(), vec![]),
        ] {
            for families in [&[F][..], &[F, G], &[G, F]] {
                for max_rows in [1, 2, 100] {
                    let mut spec = scan_spec(read_spec(&snapshot, T, families), from.clone());
                    let rows = run_scan(store, spec.clone(), max_rows).unwrap();
                    let expected: Vec<&[u8]> = expected.iter().map(|k| k.as_bytes()).collect();
                    assert_eq!(rows.keys(), expected, "{from:?} of {families:?} in blocks of {max_rows}");
                    for (key, cells) in &rows.rows {
                        let of: Vec<_> = cells.iter().map(|c| c.family).collect();
                        assert!(of == families || (key == b"c" && of == [F]), "families of {key:?}: {of:?}, asked for {families:?}");
                    }
                    spec.reverse = true;
                    let mut reversed = run_scan(store, spec, max_rows).unwrap();
                    reversed.rows.reverse();
                    assert_eq!(reversed, rows, "reversed");
                }
            }
        }
    }
}

pub fn blocks_limits_and_breaks_lose_no_row(make: MakeStore<'_>) {
    for options in forms() {
        let fixture = make(clock());
        let store = &*fixture.store;
        create(store, &table(T, vec![options]));
        commit(store, |m| (0..50u8).for_each(|k| m.put(T, &[k], F, b"", &[k, k])));
        let snapshot = store.snapshot();
        for reverse in [false, true] {
            let all: Vec<Vec<u8>> = if reverse { (0..50).rev().map(|k| vec![k]).collect() } else { (0..50).map(|k| vec![k]).collect() };
            for limit in [None, Some(0), Some(1), Some(7), Some(50), Some(80)] {
                for (max_rows, break_every) in [(1, None), (7, None), (100, Some(3)), (5, Some(4)), (2, Some(1))] {
                    let mut spec = scan_spec(read_spec(&snapshot, T, &[F]), KeyRange::all());
                    (spec.reverse, spec.limit) = (reverse, limit);
                    let mut rows = super::Rows { break_every, ..Default::default() };
                    let mut scan = block_on(store.scan(spec)).unwrap();
                    while block_on(scan.next_block(max_rows, &mut rows)).unwrap() {}
                    let expected = &all[..limit.map_or(50, |l| 50.min(l as usize))];
                    let keys: Vec<_> = rows.rows.iter().map(|(k, _)| k.clone()).collect();
                    assert_eq!(keys, expected, "reverse {reverse}, limit {limit:?}, blocks of {max_rows}, break {break_every:?}");
                }
            }
        }
    }
}

pub fn a_scan_goes_from_part_to_part(make: MakeStore<'_>) {
    for options in forms() {
        let fixture = make(clock());
        let store = &*fixture.store;
        create(store, &table(T, vec![options.clone(), options]));
        let key = |n: u32| format!("{n:03}");
        for n in 0..200 {
            commit(store, |m| {
                m.put(T, key(n).as_bytes(), F, b"", b"f");
                if n % 3 == 0 {
                    m.put(T, key(n).as_bytes(), G, b"", b"g");
                }
            });
        }
        commit(store, |m| (50..60).for_each(|n| m.delete_row(T, key(n).as_bytes())));
        let snapshot = store.snapshot();
        let parts = [
            range("", Some("003")),
            range("003", Some("004")),
            range("0045", Some("008")),
            KeyRange::point(b"020"),
            KeyRange::prefix(b"05"),
            range("058", Some("061")),
            range("070", Some("070")),
            range("0711", Some("0712")),
            KeyRange::prefix(b"09"),
            range("150", None),
        ];
        for families in [&[F][..], &[F, G]] {
            for max_rows in [1, 3, 100] {
                for reverse in [false, true] {
                    let mut spec = scan_spec(read_spec(&snapshot, T, families), KeyRange::all());
                    spec.reverse = reverse;
                    let mut scan = block_on(store.scan(spec.clone())).unwrap();
                    let mut order: Vec<&KeyRange> = parts.iter().collect();
                    // The prefix 05 and what begins at 058 overlap: one of them goes.
                    order.remove(if max_rows == 3 { 4 } else { 5 });
                    if reverse {
                        order.reverse();
                    }
                    let all: Vec<KeyRange> = order.iter().map(|part| (*part).clone()).collect();
                    let mut expected = super::Rows::default();
                    for part in &all {
                        expected.rows.extend(run_scan(store, crate::ScanSpec { range: part.clone(), ..spec.clone() }, 100).unwrap().rows);
                    }
                    let mut together = block_on(store.scan_parts(spec.clone(), all.into())).unwrap();
                    let mut rows = super::Rows::default();
                    while block_on(together.next_block(max_rows, &mut rows)).unwrap() {}
                    assert_eq!(rows.rows, expected.rows, "all parts in blocks of {max_rows}, reverse: {reverse}");
                    for part in order {
                        let expected = run_scan(store, crate::ScanSpec { range: part.clone(), ..spec.clone() }, 100).unwrap();
                        scan.restrict_to(part).unwrap();
                        let mut rows = super::Rows::default();
                        while block_on(scan.next_block(max_rows, &mut rows)).unwrap() {
                            // Of some parts only the beginning is read.
                            if part.start == b"150" || part.start == b"" {
                                break;
                            }
                        }
                        let read = rows.rows.len();
                        assert!(read == expected.rows.len() || ((part.start == b"150" || part.start == b"") && read >= 1), "{part:?}");
                        assert_eq!(rows.rows, expected.rows[..read], "{part:?} in blocks of {max_rows}, reverse: {reverse}");
                    }
                }
            }
        }
    }
}

pub fn get_answers_in_the_order_of_the_keys(make: MakeStore<'_>) {
    for options in forms() {
        let fixture = make(clock());
        let store = &*fixture.store;
        create(store, &table(T, vec![options.clone(), options]));
        commit(store, |m| {
            for k in 0..200u8 {
                m.put(T, &[k], F, b"", &[k]);
                m.put(T, &[k], G, b"", b"g");
            }
        });
        let spec = read_spec(&store.snapshot(), T, &[F, G]);
        for keys in [vec![3u8], vec![9, 250, 3], vec![7, 7, 7, 1, 7], (0..=255).rev().collect(), vec![]] {
            let asked: Vec<Vec<u8>> = keys.iter().map(|k| vec![*k]).collect();
            let asked: Vec<&[u8]> = asked.iter().map(Vec::as_slice).collect();
            let rows = get(store, &spec, &asked).unwrap();
            let expected: Vec<_> = asked.iter().copied().filter(|k| k[0] < 200).collect();
            assert_eq!(rows.keys(), expected);
            assert!(rows.rows.iter().all(|(key, cells)| cells.len() == 2 && cells[0].value == *key && cells[1].value == b"g"));
        }
        let mut rows = super::Rows { break_every: Some(2), ..Default::default() };
        block_on(store.get(&spec, &[&[1], &[2], &[3], &[4], &[5]], &mut rows)).unwrap();
        assert_eq!(rows.rows.len(), 2, "a break ends it");
    }
}

pub fn qualifier_ranges_versions_and_times_choose_cells(make: MakeStore<'_>) {
    let clock = clock();
    let fixture = make(clock.clone());
    let store = &*fixture.store;
    let cells = FamilyOptions { layout: Layout::Cells, versions: 3, ..Default::default() };
    create(store, &table(T, vec![FamilyOptions::default(), cells]));
    let mut times = Vec::new();
    for version in ["1", "2", "3", "4"] {
        clock.advance_us(1000);
        times.push(commit(store, |m| {
            m.put(T, b"row", F, b"", version.as_bytes());
            for q in ["", "a", "b", "ba", "c"] {
                m.put(T, b"row", G, q.as_bytes(), version.as_bytes());
            }
        }));
    }
    clock.advance_us(1000);
    commit(store, |m| m.delete_cell(T, b"row", G, b"b"));
    let snapshot = store.snapshot();
    let read = |families: &[_], qualifiers: Option<KeyRange>, versions, time_range| {
        let mut spec = read_spec(&snapshot, T, families);
        (spec.qualifiers, spec.versions, spec.time_range) = (qualifiers, versions, time_range);
        let got = get(store, &spec, &[b"row"]).unwrap();
        for reverse in [false, true] {
            let mut scan = scan_spec(spec.clone(), KeyRange::all());
            scan.reverse = reverse;
            assert_eq!(run_scan(store, scan, 10).unwrap(), got, "get and scan agree");
        }
        got.texts().join(";")
    };
    let q = |start: &str, end: Option<&str>| Some(range(start, end));
    assert_eq!(read(&[G], None, 1, None), "row:4,a=4,ba=4,c=4");
    assert_eq!(read(&[F, G], q("a", Some("b")), 1, None), "row:4,a=4", "packed families have no qualifiers");
    assert_eq!(read(&[G], q("a", Some("c")), 1, None), "row:a=4,ba=4");
    assert_eq!(read(&[G], q("b", None), 1, None), "row:ba=4,c=4");
    assert_eq!(read(&[G], q("b", Some("b")), 1, None), "");
    assert_eq!(read(&[G], q("x", None), 1, None), "");
    assert_eq!(read(&[G], q("c", None), 2, None), "row:c=4,c=3");
    assert_eq!(read(&[G], q("c", None), 9, None), "row:c=4,c=3,c=2", "three versions are kept");
    assert_eq!(read(&[F], None, 9, None), "row:4");
    assert_eq!(read(&[G], q("c", None), 9, Some((times[1], times[3]))), "row:c=3,c=2");
    assert_eq!(read(&[G], q("c", None), 1, Some((times[0], times[2]))), "row:c=2");
    assert_eq!(read(&[F], None, 1, Some((times[0], times[3]))), "");
    assert_eq!(read(&[F], None, 1, Some((times[3], Timestamp(u64::MAX)))), "row:4");
    let all = all_at(store, &snapshot, T, &[F]);
    assert_eq!(all.rows[0].1[0].timestamp, times[3], "a cell's timestamp is its commit's");
}

pub fn any_bytes_are_keys_qualifiers_and_values(make: MakeStore<'_>) {
    let strange: [&[u8]; 13] =
        [b"", b"\0", b"\0\0", b"\0\x01", b"\0\xff", b"\x01", b"a", b"a\0", b"a\0\x01", b"a\0b", b"a\xff", b"\xff", b"\xff\xff\xff\xff\xff"];
    for options in forms() {
        let fixture = make(clock());
        let store = &*fixture.store;
        create(store, &table(T, vec![options.clone()]));
        // Neighbours in ids must not mix.
        create(store, &table(super::support::U, vec![options.clone()]));
        let qualifiers = if options.layout == Layout::Cells { strange.map(<[u8]>::to_vec).to_vec() } else { vec![vec![]] };
        let long = vec![b'k'; 60_000.min(store.limits().row_key)];
        let keys: Vec<&[u8]> = strange.into_iter().chain([&long[..]]).collect();
        commit(store, |m| {
            for key in &keys {
                for q in &qualifiers {
                    m.put(T, key, F, q, &[*key, q].concat());
                }
            }
        });
        let snapshot = store.snapshot();
        let mut expected = keys.clone();
        expected.sort_unstable();
        let mut sorted_qualifiers = qualifiers.clone();
        sorted_qualifiers.sort();
        let rows = all_at(store, &snapshot, T, &[F]);
        assert_eq!(rows.keys(), expected);
        for (key, cells) in &rows.rows {
            let found: Vec<_> = cells.iter().map(|c| c.qualifier.clone()).collect();
            assert_eq!(found, sorted_qualifiers);
            assert!(cells.iter().all(|c| c.value == [key.as_slice(), &c.qualifier].concat()));
        }
        for (i, key) in expected.iter().enumerate() {
            let from = scan_spec(read_spec(&snapshot, T, &[F]), KeyRange::new(key.to_vec(), None));
            assert_eq!(run_scan(store, from, 100).unwrap().rows.len(), expected.len() - i);
            assert_eq!(get(store, &read_spec(&snapshot, T, &[F]), &[key]).unwrap().rows.len(), 1);
        }
        assert!(all_at(store, &snapshot, super::support::U, &[F]).rows.is_empty());
    }
}

pub fn regions_cover_all_keys(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    let mut schema = table(T, vec![FamilyOptions::default()]);
    schema.split_points = vec![b"m".to_vec(), b"f".to_vec()];
    create(store, &schema);
    commit(store, |m| (b'a'..=b'z').for_each(|k| m.put(T, &[k], F, b"", b"v")));
    block_on(store.split(T, b"t")).unwrap();
    block_on(store.split(T, b"t")).unwrap();
    let regions = block_on(store.regions(T)).unwrap();
    let ranges: Vec<_> = regions.iter().map(|r| r.range.clone()).collect();
    assert_eq!(ranges, [range("", Some("f")), range("f", Some("m")), range("m", Some("t")), range("t", None)]);
    assert_eq!(regions.iter().map(|r| r.approximate_rows).collect::<Vec<_>>(), [5, 7, 7, 7], "small tables are counted");
    let (bytes, rows) = block_on(store.approximate_size(T, &range("c", Some("e")))).unwrap();
    assert!(bytes > 0 && rows == 2, "{bytes} bytes, {rows} rows");
    block_on(store.flush(T)).unwrap();
    block_on(store.compact(T)).unwrap();
    assert_eq!(texts(store).len(), 26);
    block_on(store.unsplit(T, b"m")).unwrap();
    block_on(store.unsplit(T, b"m")).unwrap();
    let ranges: Vec<_> = block_on(store.regions(T)).unwrap().into_iter().map(|r| r.range).collect();
    assert_eq!(ranges, [range("", Some("f")), range("f", Some("t")), range("t", None)]);
    assert_eq!(texts(store).len(), 26);
    assert!(matches!(block_on(store.regions(super::support::U)), Err(StoreError::NoSuchTable(2))));
}

pub fn snapshots_do_not_change(make: MakeStore<'_>) {
    for options in forms() {
        let fixture = make(clock());
        let store = &*fixture.store;
        create(store, &table(T, vec![options]));
        commit(store, |m| (0..100u8).for_each(|k| m.put(T, &[k], F, b"", b"old")));
        let snapshot = store.snapshot();
        let before = all_at(store, &snapshot, T, &[F]);
        let mut open = block_on(store.scan(scan_spec(read_spec(&snapshot, T, &[F]), KeyRange::all()))).unwrap();
        let mut from_open = super::Rows::default();
        assert!(block_on(open.next_block(10, &mut from_open)).unwrap());
        for round in 0..5u8 {
            let mut m = Mutations::new();
            for k in 0..100u8 {
                if k % 3 == round % 3 {
                    m.delete_row(T, &[k])
                } else {
                    m.put(T, &[k], F, b"", &[round])
                }
                m.put(T, &[k, round], F, b"", b"new");
            }
            commit(store, |own| *own = m);
            if round == 2 {
                block_on(store.flush(T)).unwrap();
                block_on(store.compact(T)).unwrap();
            }
            assert_eq!(all_at(store, &snapshot, T, &[F]), before);
            assert_eq!(get(store, &read_spec(&snapshot, T, &[F]), &[&[7], &[7, round]]).unwrap().rows.len(), 1);
        }
        while block_on(open.next_block(10, &mut from_open)).unwrap() {}
        assert_eq!(from_open, before, "a scan in progress sees its snapshot");
        assert!(all_at(store, &store.snapshot(), T, &[F]).rows.len() > 500);
        assert!(snapshot.timestamp() < store.snapshot().timestamp());
    }
}

pub fn versions_and_ttl_hide_cells_at_once(make: MakeStore<'_>) {
    for layout in [Layout::Packed, Layout::Cells] {
        let clock = clock();
        let fixture = make(clock.clone());
        let store = &*fixture.store;
        let second = Some(Duration::from_secs(1));
        let of = |versions, min_versions, ttl| FamilyOptions { layout, versions, min_versions, ttl, ..Default::default() };
        create(store, &table(T, vec![of(1, 0, second), of(2, 0, None), of(5, 2, second)]));
        for value in ["1", "2", "3"] {
            clock.advance_us(400_000);
            commit(store, |m| (0..3).for_each(|f| m.put(T, b"k", crate::FamilyId(f), b"", value.as_bytes())));
        }
        let read = |family: u16| {
            let mut spec = read_spec(&store.snapshot(), T, &[crate::FamilyId(family)]);
            spec.versions = 9;
            let got = get(store, &spec, &[b"k"]).unwrap().texts();
            assert_eq!(run_scan(store, scan_spec(spec, KeyRange::all()), 5).unwrap().texts(), got);
            got.join("")
        };
        // Written 800, 400 and 0 ms ago.
        assert_eq!([read(0), read(1), read(2)], ["k:3", "k:3,2", "k:3,2,1"]);
        clock.advance_us(400_000);
        assert_eq!([read(0), read(1), read(2)], ["k:3", "k:3,2", "k:3,2"], "1200, 800, 400 ms");
        let held = store.snapshot();
        clock.advance_us(700_000);
        assert_eq!([read(0), read(1), read(2)], ["", "k:3,2", "k:3,2"], "MIN_VERSIONS stay");
        let spec = read_spec(&held, T, &[F]);
        assert_eq!(get(store, &spec, &[b"k"]).unwrap().texts(), ["k:3"], "a snapshot keeps the time of day at which it was taken");
        block_on(store.compact(T)).unwrap();
        assert_eq!(get(store, &spec, &[b"k"]).unwrap().texts(), ["k:3"], "compaction spares what a snapshot sees");
        drop((held, spec));
        block_on(store.compact(T)).unwrap();
        assert_eq!([read(0), read(1), read(2)], ["", "k:3,2", "k:3,2"]);
        put(store, "k", "again");
        assert_eq!(read(0), "k:again");
    }
}

pub fn expired_cells_stay_so_with_another_ttl(make: MakeStore<'_>) {
    for layout in [Layout::Packed, Layout::Cells] {
        for versions in [1, 3] {
            let clock = clock();
            let fixture = make(clock.clone());
            let store = &*fixture.store;
            let of = |seconds: Option<u64>| {
                let ttl = seconds.map(Duration::from_secs);
                table(T, vec![FamilyOptions { layout, versions, ttl, ..Default::default() }])
            };
            let keys = || {
                let mut spec = read_spec(&store.snapshot(), T, &[F]);
                spec.versions = 9;
                let rows = run_scan(store, scan_spec(spec.clone(), KeyRange::all()), 9).unwrap().texts();
                assert_eq!(get(store, &spec, &[b"a", b"b", b"c"]).unwrap().texts(), rows);
                rows.join(" ")
            };
            create(store, &of(Some(10)));
            put(store, "a", "1");
            clock.advance_us(6_000_000);
            put(store, "b", "1");
            block_on(store.flush(T)).unwrap();
            clock.advance_us(6_000_000);
            assert_eq!(keys(), "b:1");
            block_on(store.alter_table(&of(Some(100)))).unwrap();
            put(store, "c", "1");
            assert_eq!(keys(), "b:1 c:1");
            clock.advance_us(50_000_000);
            assert_eq!(keys(), "b:1 c:1", "what had not expired lives by the new ttl");
            block_on(store.compact(T)).unwrap();
            block_on(store.alter_table(&of(Some(53)))).unwrap();
            assert_eq!(keys(), "c:1", "a shorter ttl ends at once");
            block_on(store.alter_table(&of(None))).unwrap();
            assert_eq!(keys(), "c:1");
            put(store, "b", "2");
            clock.advance_us(500_000_000);
            assert_eq!(keys(), "b:2 c:1");
            block_on(store.compact(T)).unwrap();
            block_on(store.alter_table(&of(Some(1000)))).unwrap();
            block_on(store.alter_table(&of(None))).unwrap();
            assert_eq!(keys(), "b:2 c:1");
        }
    }
}

pub fn expired_cells_do_not_come_back_after_compaction(make: MakeStore<'_>) {
    for layout in [Layout::Packed, Layout::Cells] {
        for versions in [1, 3] {
            let clock = clock();
            let fixture = make(clock.clone());
            let store = &*fixture.store;
            create(store, &table(T, vec![FamilyOptions { layout, versions, ..Default::default() }]));
            let q: &[u8] = if layout == Layout::Cells { b"q" } else { b"" };
            // Values, deletions and compactions in turn, so that they lie in different files.
            for step in 0..4u8 {
                for k in 0..10u8 {
                    clock.advance_us(10);
                    commit(store, |m| m.put(T, &[k], F, q, &[step]));
                }
                block_on(store.flush(T)).unwrap();
                clock.advance_us(10);
                commit(store, |m| {
                    m.delete_cell(T, &[1], F, q);
                    m.delete_family(T, &[2], F);
                    m.delete_row(T, &[3]);
                });
                if step % 2 == 0 {
                    block_on(store.compact(T)).unwrap();
                } else {
                    block_on(store.flush(T)).unwrap();
                }
                let mut spec = read_spec(&store.snapshot(), T, &[F]);
                spec.versions = 9;
                let rows = run_scan(store, scan_spec(spec, KeyRange::all()), 100).unwrap();
                assert_eq!(rows.keys(), [[0], [4], [5], [6], [7], [8], [9]].map(|k| k.to_vec()), "step {step}");
                for (_, cells) in &rows.rows {
                    let expected: Vec<_> = (0..=step).rev().take(versions as usize).map(|v| vec![v]).collect();
                    assert_eq!(cells.iter().map(|c| c.value.clone()).collect::<Vec<_>>(), expected);
                }
            }
        }
    }
}
