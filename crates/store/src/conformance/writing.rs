//! Guarantees 3, 5, 6 and 8, schemas and bulk loads: what writes do.

use super::support::{F, G, T, U, all_at, commit, commit_with, create, family, get, put, read_spec, table, texts};
use super::{MakeStore, block_on, clock};
use crate::clock::Clock;
use crate::{
    Certainty, Commit, Durability, FamilyId, FamilyOptions, KeyRange, Layout, MutationRef, Mutations, StoreError, TableId, TableSchema,
    Timestamp,
};
use std::sync::Arc;
use std::time::Duration;

fn cells() -> FamilyOptions {
    FamilyOptions { layout: Layout::Cells, ..Default::default() }
}

pub fn schemas_are_kept_and_changed(make: MakeStore<'_>) {
    let fixture = make(clock());
    let mut store = fixture.store;
    let all_options = FamilyOptions {
        versions: 4,
        min_versions: 2,
        ttl: Some(Duration::from_secs(3600)),
        compression: crate::Compression::Zstd,
        bloom_filter: crate::BloomFilter::None,
        block_size: 8192,
        block_cache: false,
        in_memory: true,
        blob: true,
        ..cells()
    };
    let mut schema = table(T, vec![FamilyOptions::default(), all_options]);
    schema.split_points = vec![b"\0x".to_vec(), b"m".to_vec()];
    create(&*store, &schema);
    assert!(matches!(block_on(store.create_table(&schema)), Err(StoreError::TableExists(1))));
    create(&*store, &table(U, vec![cells()]));
    assert_eq!(block_on(store.describe_table(T)).unwrap().as_ref(), Some(&schema));
    assert_eq!(block_on(store.list_tables()).unwrap().iter().map(|s| s.id).collect::<Vec<_>>(), [T, U]);
    commit(&*store, |m| {
        m.put(T, b"k", F, b"", b"kept");
        m.put(T, b"k", G, b"q", b"goes");
        m.put(U, b"k", F, b"q", b"other");
    });

    let broken = |change: fn(&mut TableSchema)| {
        let mut broken = table(TableId(9), vec![FamilyOptions::default()]);
        change(&mut broken);
        assert!(matches!(block_on(store.create_table(&broken)), Err(StoreError::Invalid(_))), "{broken:?}");
    };
    broken(|s| s.families.clear());
    broken(|s| s.families[0].options.versions = 0);
    broken(|s| s.families[0].options.min_versions = 1);
    broken(|s| (s.families[0].options.min_versions, s.families[0].options.ttl) = (1, Some(Duration::from_secs(1))));
    broken(|s| s.families.push(s.families[0].clone()));

    // A new family is empty, one left out goes, options of the others change without a loss.
    let h = FamilyId(7);
    let mut altered = schema.clone();
    altered.families.remove(1);
    altered.families[0].options.compression = crate::Compression::None;
    altered.families.push(family(h, cells()));
    block_on(store.alter_table(&altered)).unwrap();
    assert_eq!(block_on(store.describe_table(T)).unwrap().as_ref(), Some(&altered));
    assert_eq!(all_at(&*store, &store.snapshot(), T, &[F, h]).texts(), ["k:kept"]);
    assert!(matches!(get(&*store, &read_spec(&store.snapshot(), T, &[G]), &[b"k"]), Err(StoreError::Invalid(_))));
    commit(&*store, |m| m.put(T, b"k", h, b"q", b"new"));
    let mut again = altered.clone();
    again.families.push(family(G, cells()));
    block_on(store.alter_table(&again)).unwrap();
    assert_eq!(all_at(&*store, &store.snapshot(), T, &[F, h, G]).texts(), ["k:kept,q=new"], "a removed family comes back empty");
    let mut turned = again.clone();
    turned.families[0].options.layout = Layout::Cells;
    assert!(matches!(block_on(store.alter_table(&turned)), Err(StoreError::Invalid(_))));

    // History begins when VERSIONS is raised, and is cut when it is lowered.
    let read_versions = |store: &dyn crate::Store| {
        let mut spec = read_spec(&store.snapshot(), T, &[F]);
        spec.versions = 9;
        get(store, &spec, &[b"k"]).unwrap().texts().join("")
    };
    again.families[0].options.versions = 3;
    block_on(store.alter_table(&again)).unwrap();
    assert_eq!(read_versions(&*store), "k:kept");
    put(&*store, "k", "2");
    put(&*store, "k", "3");
    assert_eq!(read_versions(&*store), "k:3,2,kept");
    again.families[0].options.versions = 2;
    block_on(store.alter_table(&again)).unwrap();
    assert_eq!(read_versions(&*store), "k:3,2");
    again.families[0].options.versions = 1;
    block_on(store.alter_table(&again)).unwrap();
    assert_eq!(read_versions(&*store), "k:3");

    if let Some(reopen) = &fixture.reopen {
        drop(store);
        store = reopen();
        assert_eq!(block_on(store.describe_table(T)).unwrap().as_ref(), Some(&again));
        assert_eq!(all_at(&*store, &store.snapshot(), T, &[F, h, G]).texts(), ["k:3,q=new"]);
    }

    block_on(store.drop_table(T)).unwrap();
    block_on(store.drop_table(T)).unwrap();
    assert_eq!(block_on(store.describe_table(T)).unwrap(), None);
    assert!(matches!(block_on(store.alter_table(&again)), Err(StoreError::NoSuchTable(1))));
    assert!(matches!(commit_with(&*store, None, &[], |m| m.delete_row(T, b"k")), Err(StoreError::NoSuchTable(1))));
    assert!(matches!(get(&*store, &read_spec(&store.snapshot(), T, &[F]), &[b"k"]), Err(StoreError::NoSuchTable(1))));
    let before = store.snapshot();
    create(&*store, &table(T, vec![FamilyOptions::default()]));
    assert!(texts(&*store).is_empty(), "a table made again is empty");
    assert!(all_at(&*store, &before, T, &[F]).rows.is_empty(), "and so it is at a snapshot from before");
    assert_eq!(all_at(&*store, &store.snapshot(), U, &[F]).texts(), ["k:q=other"], "other tables are untouched");
}

pub fn the_last_of_several_changes_of_a_cell_wins(make: MakeStore<'_>) {
    for versions in [1, 3] {
        for layout in [Layout::Packed, Layout::Cells] {
            let fixture = make(clock());
            let store = &*fixture.store;
            let options = FamilyOptions { layout, versions, ..Default::default() };
            create(store, &table(T, vec![options.clone(), options]));
            commit(store, |m| (b'a'..=b'h').for_each(|k| m.put(T, &[k], F, b"", b"old")));
            commit(store, |m| {
                m.put(T, b"a", F, b"", b"1");
                m.put(T, b"a", F, b"", b"2");
                m.put(T, b"b", F, b"", b"1");
                m.delete_cell(T, b"b", F, b"");
                m.delete_cell(T, b"c", F, b"");
                m.put(T, b"c", F, b"", b"2");
                m.put(T, b"d", F, b"", b"1");
                m.delete_row(T, b"d");
                m.delete_row(T, b"e");
                m.put(T, b"e", F, b"", b"2");
                m.put(T, b"f", F, b"", b"1");
                m.delete_family(T, b"f", F);
                m.put(T, b"f", F, b"", b"2");
                m.put(T, b"g", G, b"", b"1");
                m.delete_family(T, b"g", F);
                m.delete_row(T, b"h");
                m.put(T, b"h", G, b"", b"1");
                m.delete_row(T, b"h");
            });
            let rows = all_at(store, &store.snapshot(), T, &[F, G]);
            assert_eq!(rows.texts(), ["a:2", "c:2", "e:2", "f:2", "g:1"], "{layout:?} with {versions} versions");
            let mut spec = read_spec(&store.snapshot(), T, &[F]);
            spec.versions = 5;
            let history = get(store, &spec, &[b"a", b"c", b"e"]).unwrap().texts();
            let expected = if versions == 1 { ["a:2", "c:2", "e:2"] } else { ["a:2,old", "c:2", "e:2"] };
            // One commit leaves one version of a cell; a deletion in it hides what was before.
            assert_eq!(history, expected, "{layout:?} with {versions} versions");
        }
    }
}

pub fn what_is_deleted_does_not_come_back_beside_what_is_set(make: MakeStore<'_>) {
    for versions in [1, 3] {
        let fixture = make(clock());
        let store = &*fixture.store;
        create(store, &table(T, vec![FamilyOptions { versions, ..cells() }]));
        commit(store, |m| [&b""[..], b"a", b"b"].iter().for_each(|q| m.put(T, b"k", F, q, b"old")));
        commit(store, |m| {
            m.delete_family(T, b"k", F);
            m.put(T, b"k", F, b"", b"new");
        });
        let read = |family_of: Option<KeyRange>, versions| {
            let mut spec = read_spec(&store.snapshot(), T, &[F]);
            (spec.qualifiers, spec.versions) = (family_of, versions);
            get(store, &spec, &[b"k"]).unwrap().texts().join(";")
        };
        let after_all = |expected: &str| {
            for versions in [1, 2] {
                assert_eq!(read(None, versions), expected);
                assert_eq!(read(Some(KeyRange::new(b"a".to_vec(), None)), versions), "");
            }
        };
        after_all("k:new");
        block_on(store.flush(T)).unwrap();
        after_all("k:new");
        commit(store, |m| m.delete_row(T, b"k"));
        put(store, "k", "newest");
        block_on(store.flush(T)).unwrap();
        after_all("k:newest");
        block_on(store.compact(T)).unwrap();
        after_all("k:newest");
    }
}

pub fn a_refused_commit_leaves_nothing(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    create(store, &table(T, vec![FamilyOptions::default(), cells()]));
    put(store, "a", "1");
    let before = store.snapshot().timestamp();
    let refused = |expect: fn(&StoreError) -> bool, fill: &dyn Fn(&mut Mutations)| {
        let error = commit_with(store, None, &[], |m| {
            m.put(T, b"a", F, b"", b"2");
            m.put(T, b"b", F, b"", b"2");
            fill(m);
        })
        .unwrap_err();
        assert!(expect(&error), "{error:?}");
        assert_eq!(error.certainty(), Certainty::NotDone);
        assert_eq!(texts(store), ["a:1"]);
    };
    refused(|e| matches!(e, StoreError::NoSuchTable(77)), &|m| m.put(TableId(77), b"x", F, b"", b""));
    refused(|e| matches!(e, StoreError::Invalid(_)), &|m| m.put(T, b"x", FamilyId(9), b"", b""));
    refused(|e| matches!(e, StoreError::Invalid(_)), &|m| m.delete_family(T, b"x", FamilyId(9)));
    refused(|e| matches!(e, StoreError::Invalid(_)), &|m| m.put(T, b"x", F, b"q", b""));
    let limits = store.limits();
    refused(|e| matches!(e, StoreError::TooLarge { what: "row key", .. }), &|m| m.put(T, &vec![1; limits.row_key + 1], F, b"", b""));
    refused(|e| matches!(e, StoreError::TooLarge { what: "row key", .. }), &|m| m.delete_row(T, &vec![1; limits.row_key + 1]));
    refused(|e| matches!(e, StoreError::TooLarge { what: "cell", .. }), &|m| m.put(T, b"x", G, b"q", &vec![1; limits.cell + 1]));
    assert_eq!(store.snapshot().timestamp(), before);
    commit(store, |m| {
        m.put(T, &vec![1; limits.row_key], F, b"", b"");
        m.put(T, b"x", F, b"", &vec![1; limits.cell]);
    });
    assert_eq!(all_at(store, &store.snapshot(), T, &[F]).rows.len(), 3, "what is just not too large is taken");
}

pub fn first_committer_wins(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    create(store, &table(T, vec![FamilyOptions::default(), cells()]));
    create(store, &table(U, vec![FamilyOptions::default()]));
    put(store, "a", "0");
    let old = store.snapshot();
    let since = Some(old.timestamp());
    let at = put(store, "a", "1");
    let conflicts = |m: &dyn Fn(&mut Mutations)| matches!(commit_with(store, since, &[], m), Err(StoreError::Conflict));
    assert!(conflicts(&|m| m.put(T, b"a", F, b"", b"2")));
    assert!(conflicts(&|m| m.put(T, b"a", G, b"q", b"2")), "a conflict is of the row, not of the cell");
    assert!(conflicts(&|m| m.delete_row(T, b"a")));
    assert!(conflicts(&|m| {
        m.put(T, b"b", F, b"", b"2");
        m.delete_cell(T, b"a", F, b"");
    }));
    assert_eq!(texts(store), ["a:1"]);
    assert!(!conflicts(&|m| m.put(T, b"b", F, b"", b"2")), "other rows are free");
    assert!(!conflicts(&|m| m.put(U, b"a", F, b"", b"2")), "and so are other tables");
    assert!(conflicts(&|m| m.put(T, b"b", F, b"", b"3")), "what it wrote itself conflicts with its old snapshot");
    let changed = |table, key: &[u8], since| store.rows_changed_since(&mut [(table, key)].into_iter(), since);
    assert!(changed(T, b"a", old.timestamp()));
    assert!(!changed(T, b"a", at));
    assert!(!changed(T, b"zz", old.timestamp()));
    // Deletions conflict as well, also of what was not there.
    let new = store.snapshot();
    commit(store, |m| m.delete_row(T, b"nothing"));
    assert!(matches!(commit_with(store, Some(new.timestamp()), &[], |m| m.put(T, b"nothing", F, b"", b"1")), Err(StoreError::Conflict)));
    // Large commits are remembered as well as small ones.
    for rows in [1000u32, 60_000] {
        let before = store.snapshot();
        commit(store, |m| (0..rows).for_each(|k| m.put(U, &k.to_be_bytes(), F, b"", b"x")));
        let conflict = commit_with(store, Some(before.timestamp()), &[], |m| m.put(U, &17u32.to_be_bytes(), F, b"", b"y"));
        assert!(matches!(conflict, Err(StoreError::Conflict)));
        commit_with(store, Some(before.timestamp()), &[], |m| m.put(U, &[0xff; 5], F, b"", rows.to_string().as_bytes())).unwrap();
        let conflict = commit_with(store, Some(before.timestamp()), &[], |m| (0..rows).for_each(|k| m.delete_row(U, &k.to_be_bytes())));
        assert!(matches!(conflict, Err(StoreError::Conflict)));
    }
    commit_with(store, Some(store.snapshot().timestamp()), &[], |m| m.put(U, &17u32.to_be_bytes(), F, b"", b"y")).unwrap();
    drop(old);
}

pub fn validated_ranges_must_not_change(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    create(store, &table(T, vec![FamilyOptions::default()]));
    create(store, &table(U, vec![FamilyOptions::default()]));
    let old = store.snapshot();
    put(store, "m", "1");
    let check = |table, start: &str, end: Option<&str>| {
        let range = KeyRange::new(start.into(), end.map(|e| e.as_bytes().to_vec()));
        commit_with(store, Some(old.timestamp()), &[(table, range)], |m| m.put(U, start.as_bytes(), F, b"", b"x")).is_err()
    };
    assert!(check(T, "a", None));
    assert!(check(T, "m", Some("n")));
    assert!(!check(T, "a", Some("m")));
    assert!(!check(T, "n", None));
    assert!(!check(U, "zz", None));
    let only_validate = |range| {
        let mutations = Mutations::new();
        let validate = [(T, range)];
        let snapshot = Some(old.timestamp());
        block_on(store.commit(Commit { mutations: &mutations, snapshot, validate: &validate, durability: Durability::Sync }))
    };
    assert!(matches!(only_validate(KeyRange::all()), Err(StoreError::Conflict)));
    assert!(only_validate(KeyRange::empty()).is_ok());
    assert!(matches!(
        commit_with(store, Some(old.timestamp()), &[(TableId(9), KeyRange::all())], |m| m.put(U, b"q", F, b"", b"x")),
        Err(StoreError::NoSuchTable(9))
    ));
}

pub fn acknowledged_writes_survive(make: MakeStore<'_>) {
    let clock = clock();
    let start_us = clock.now_us();
    let fixture = make(clock.clone());
    let Some(reopen) = fixture.reopen else { return };
    let mut store = fixture.store;
    let versions = FamilyOptions { versions: 3, ..Default::default() };
    create(&*store, &table(T, vec![FamilyOptions::default(), cells(), versions]));
    let mut last = Timestamp::default();
    let mut expected = Vec::new();
    for round in 0..5 {
        for i in 0..20 {
            let key = format!("{round}-{i:02}");
            let at = commit(&*store, |m| {
                m.put(T, key.as_bytes(), F, b"", b"v");
                m.put(T, key.as_bytes(), G, b"q", b"w");
                m.put(T, key.as_bytes(), FamilyId(2), b"", b"x");
            });
            assert!(at > last, "timestamps rise over restarts");
            last = at;
            expected.push(format!("{key}:v,q=w,x"));
        }
        let mut load = block_on(store.bulk_load(&[T])).unwrap();
        for i in 0..10 {
            let key = format!("{round}-{i:02}-loaded");
            load.put(T, key.as_bytes(), F, b"", b"v").unwrap();
            expected.push(format!("{key}:v"));
        }
        last = block_on(load.finish()).unwrap();
        // By key.
        expected.sort_by(|a: &String, b| a.split(':').next().cmp(&b.split(':').next()));
        let before = all_at(&*store, &store.snapshot(), T, &[F, G, FamilyId(2)]);
        let snapshot_time = store.snapshot().timestamp();
        drop(store);
        // A clock that went back must not matter.
        clock.set_us(start_us - round * 10_000_000);
        store = reopen();
        assert!(store.snapshot().timestamp() >= snapshot_time);
        let rows = all_at(&*store, &store.snapshot(), T, &[F, G, FamilyId(2)]);
        assert_eq!(rows, before);
        assert_eq!(rows.texts(), expected);
        assert!(
            matches!(commit_with(&*store, Some(snapshot_time), &[], |m| m.put(T, b"x", F, b"", b"")), Err(StoreError::Conflict) | Ok(_)),
            "a snapshot from before a restart is answered"
        );
        commit(&*store, |m| m.delete_row(T, b"x"));
    }
}

pub fn errors_say_what_happened(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    create(store, &table(T, vec![FamilyOptions::default()]));
    let before = store.snapshot();
    put(store, "a", "1");
    let conflict = commit_with(store, Some(before.timestamp()), &[], |m| m.put(T, b"a", F, b"", b"2")).unwrap_err();
    assert!(conflict.retryable() && conflict.certainty() == Certainty::NotDone);
    let missing = commit_with(store, None, &[], |m| m.put(U, b"a", F, b"", b"2")).unwrap_err();
    assert!(!missing.retryable() && missing.certainty() == Certainty::NotDone);
    let mut load = block_on(store.bulk_load(&[T])).unwrap();
    load.put(T, b"b", F, b"", b"").unwrap();
    assert!(matches!(load.put(T, b"a", F, b"", b""), Err(StoreError::Invalid(_))), "keys must not go down");
    assert!(
        matches!(load.put(U, b"c", F, b"", b""), Err(StoreError::Invalid(_) | StoreError::NoSuchTable(_))),
        "a table that was not named"
    );
    drop(load);
    assert!(matches!(block_on(store.bulk_load(&[U])).map(|_| ()), Err(StoreError::NoSuchTable(2))));
    assert!(matches!(block_on(store.flush(U)), Err(StoreError::NoSuchTable(2))));
    assert_eq!(texts(store), ["a:1"]);
}

pub fn bulk_loads_appear_at_once(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    let versions = FamilyOptions { versions: 2, ..Default::default() };
    create(store, &table(T, vec![FamilyOptions::default(), cells(), versions]));
    let all = [F, G, FamilyId(2)];
    commit(store, |m| {
        m.put(T, b"k0005", F, b"", b"before");
        m.put(T, b"k0005", FamilyId(2), b"", b"before");
        m.put(T, b"z", F, b"", b"z");
    });
    let before = store.snapshot();
    let mut load = block_on(store.bulk_load(&[T])).unwrap();
    let load_row = |load: &mut dyn crate::BulkLoad, i: u32| {
        let key = format!("k{i:04}");
        load.put(T, key.as_bytes(), F, b"", b"f").unwrap();
        // Qualifiers of a row may come in any order.
        load.put(T, key.as_bytes(), G, b"b", b"2").unwrap();
        load.put(T, key.as_bytes(), G, b"a", b"1").unwrap();
        load.put(T, key.as_bytes(), FamilyId(2), b"", b"v").unwrap();
    };
    (0..1000).for_each(|i| load_row(&mut *load, i));
    put(store, "zz", "meanwhile");
    assert_eq!(all_at(store, &store.snapshot(), T, &all).rows.len(), 3, "nothing is visible before the end");
    let during = store.snapshot();
    let at = block_on(load.finish()).unwrap();
    let rows = all_at(store, &store.snapshot(), T, &all);
    assert_eq!(rows.rows.len(), 1002);
    assert_eq!(rows.texts()[5], "k0005:f,a=1,b=2,v");
    assert!(rows.rows[..1000].iter().all(|(_, cells)| cells.iter().all(|c| c.timestamp == at)), "cells carry the time of the end");
    assert!(store.snapshot().timestamp() >= at && during.timestamp() < at);
    assert_eq!(all_at(store, &during, T, &all).rows.len(), 3, "older snapshots don't see it");
    let mut history = read_spec(&store.snapshot(), T, &[FamilyId(2)]);
    history.versions = 5;
    assert_eq!(get(store, &history, &[b"k0005"]).unwrap().texts(), ["k0005:v,before"]);
    assert!(
        matches!(commit_with(store, Some(before.timestamp()), &[], |m| m.delete_row(T, b"k0500")), Err(StoreError::Conflict)),
        "a load conflicts like a commit"
    );
    let mut aborted = block_on(store.bulk_load(&[T])).unwrap();
    load_row(&mut *aborted, 5000);
    drop(aborted);
    let empty = block_on(store.bulk_load(&[T])).unwrap();
    assert!(block_on(empty.finish()).unwrap() > at);
    commit(store, |m| m.delete_row(T, b"k0005"));
    put(store, "k0006", "after");
    assert_eq!(all_at(store, &store.snapshot(), T, &[F]).rows.len(), 1001);
    assert_eq!(get(store, &read_spec(&store.snapshot(), T, &[F]), &[b"k0006"]).unwrap().texts(), ["k0006:after"]);
}

pub fn bulk_loads_are_one_commit_of_many_tables(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = &*fixture.store;
    let versions = FamilyOptions { versions: 2, ..Default::default() };
    let families = vec![FamilyOptions::default(), cells(), versions];
    create(store, &table(T, families.clone()));
    create(store, &table(U, families));
    let all = [F, G, FamilyId(2)];
    for id in [T, U] {
        commit(store, |m| {
            for key in [b"a", b"b", b"c", b"d"] {
                m.put(id, key, F, b"", b"1");
                m.put(id, key, G, b"p", b"1");
                m.put(id, key, G, b"q", b"1");
                m.put(id, key, FamilyId(2), b"", b"1");
            }
        });
    }
    let before = store.snapshot();
    let mut load = block_on(store.bulk_load(&[T, U])).unwrap();
    for table in [U, T] {
        load.apply(MutationRef::DeleteRow { table, key: b"a" }).unwrap();
        // Deleted, and made anew with less.
        load.apply(MutationRef::DeleteRow { table, key: b"b" }).unwrap();
        load.put(table, b"b", F, b"", b"2").unwrap();
        load.put(table, b"b", G, b"q", b"2").unwrap();
        load.put(table, b"b", FamilyId(2), b"", b"2").unwrap();
        load.apply(MutationRef::DeleteCell { table, key: b"c", family: G, qualifier: b"p" }).unwrap();
        load.put(table, b"c", F, b"", b"2").unwrap();
        load.apply(MutationRef::DeleteFamily { table, key: b"d", family: FamilyId(2) }).unwrap();
        load.apply(MutationRef::DeleteRow { table, key: b"nothing" }).unwrap();
    }
    let at = block_on(load.finish()).unwrap();
    for table in [T, U] {
        assert_eq!(all_at(store, &before, table, &all).rows.len(), 4);
        let rows = all_at(store, &store.snapshot(), table, &all);
        assert_eq!(rows.texts(), ["b:2,q=2,2", "c:2,q=1,1", "d:1,p=1,q=1"]);
        let mut history = read_spec(&store.snapshot(), table, &[FamilyId(2)]);
        history.versions = 5;
        assert_eq!(get(store, &history, &[b"b"]).unwrap().texts(), ["b:2"], "a deletion hides what was before it");
        assert!(store.rows_changed_since(&mut [(table, &b"a"[..])].into_iter(), before.timestamp()));
        assert!(!store.rows_changed_since(&mut [(table, &b"a"[..])].into_iter(), at));
    }
    commit(store, |m| m.put(T, b"a", F, b"", b"3"));
    assert_eq!(all_at(store, &store.snapshot(), T, &all).texts()[0], "a:3");
}

pub fn what_follows_a_commit_is_done_once_it_is_visible(make: MakeStore<'_>) {
    let fixture = make(clock());
    let store = Arc::clone(&fixture.store);
    create(&*store, &table(T, vec![FamilyOptions::default()]));
    let before = store.snapshot().timestamp();
    let calls = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let commit = |snapshot: Option<Timestamp>| {
        let (calls, of) = (Arc::clone(&calls), Arc::clone(&store));
        let then: crate::OnVisible = Arc::new(move |at| calls.lock().push((at, of.snapshot().timestamp())));
        let mut mutations = Mutations::new();
        mutations.put(T, b"k", F, b"", b"v");
        block_on(store.commit_then(Commit { mutations: &mutations, snapshot, validate: &[], durability: Durability::Sync }, then))
    };
    let at = commit(None).unwrap();
    let called = calls.lock().clone();
    assert!(called.len() == 1 && called[0].0 == at && called[0].1 >= at, "{called:?} for the commit at {at:?}");
    assert!(matches!(commit(Some(before)), Err(StoreError::Conflict)));
    assert_eq!(calls.lock().len(), 1, "not of a commit that failed");
}
