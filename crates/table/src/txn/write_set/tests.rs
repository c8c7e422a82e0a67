//! Write sets beside a map, in memory and on disk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::txn::row_change::ChangedRow;
use std::collections::BTreeMap;
use stoa_store::KeyRange;

const T: TableId = TableId(7);
const U: TableId = TableId(8);
const F: FamilyId = FamilyId(0);

type Rows = BTreeMap<(TableId, Vec<u8>), (bool, BTreeMap<Vec<u8>, Option<Vec<u8>>>)>;

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// Writes to a set and to a map.
fn write(set: &mut WriteSet, map: &mut Rows, seed: &mut u64, steps: usize) {
    for _ in 0..steps {
        let table = if random(seed).is_multiple_of(3) { U } else { T };
        let key = (random(seed) % 5000).to_be_bytes().to_vec();
        let row = map.entry((table, key.clone())).or_default();
        if random(seed).is_multiple_of(8) {
            *row = (true, BTreeMap::new());
            set.delete(table, &key);
            continue;
        }
        let qualifier = vec![b'q'; (random(seed) % 3) as usize];
        let value = (!random(seed).is_multiple_of(8)).then(|| vec![(random(seed) % 256) as u8; (random(seed) % 60) as usize]);
        set.put(table, &key, F, &qualifier, value.as_deref());
        row.1.insert(qualifier, value);
    }
}

fn same(change: &RowChange, wanted: &(bool, BTreeMap<Vec<u8>, Option<Vec<u8>>>)) {
    assert_eq!(change.reset(), wanted.0);
    let cells: BTreeMap<_, _> = change.cells().map(|(_, q, v)| (q.to_vec(), v.map(<[u8]>::to_vec))).collect();
    assert_eq!(cells, wanted.1);
}

fn check(overlay: &Overlay, map: &Rows) {
    for table in [T, U] {
        let of_table: Vec<_> = map.iter().filter(|((t, _), _)| *t == table).map(|((_, key), row)| (key, row)).collect();
        for reverse in [false, true] {
            let range = KeyRange::new(1000u64.to_be_bytes().to_vec(), Some(4000u64.to_be_bytes().to_vec()));
            for range in [KeyRange::all(), range] {
                let mut cursor = overlay.cursor(table, range.clone(), reverse).unwrap();
                let mut wanted: Vec<_> = of_table.iter().filter(|(key, _)| range.contains(key)).collect();
                if reverse {
                    wanted.reverse();
                }
                for (key, row) in wanted {
                    assert_eq!(cursor.peek(), Some(key.as_slice()));
                    assert!(cursor.take().unwrap());
                    assert_eq!(cursor.key(), key.as_slice());
                    same(cursor.change(), row);
                }
                assert!(!cursor.take().unwrap());
            }
        }
        assert_eq!(overlay.keys_of(table).unwrap().len(), of_table.len());
    }
    let mut change = RowChange::default();
    for n in 0..5001u64 {
        let key = n.to_be_bytes().to_vec();
        let found = overlay.get(T, &key, &mut change).unwrap();
        let wanted = map.get(&(T, key.clone()));
        assert_eq!(found.is_some(), wanted.is_some());
        if let (Some(found), Some(wanted)) = (found, wanted) {
            same(found, wanted);
        }
        assert_eq!(overlay.contains(T, &key).unwrap(), map.contains_key(&(T, key)));
    }
}

#[test]
fn what_goes_to_disk_reads_as_if_it_had_stayed() {
    // With so little memory files are merged.
    for most in [20 << 10, 200 << 10, 64 << 20] {
        let space = Arc::new(SpillSpace::with_most(most));
        let (mut map, mut seed) = (Rows::new(), most as u64);
        let mut base = WriteSet::new(&space);
        write(&mut base, &mut map, &mut seed, 30_000);
        assert_eq!(base.has_spill_files(), most < 1 << 20);
        assert!(base.files.len() <= 2 * MAX_FILES, "{} files", base.files.len());
        let mut later = WriteSet::new(&space);
        write(&mut later, &mut map, &mut seed, 5_000);
        let overlay = Overlay::new([Arc::new(base), Arc::new(later)]);
        check(&overlay, &map);
        // And the same in one set.
        let (mut map, mut base) = (Rows::new(), WriteSet::new(&space));
        for steps in [10, 20_000, 10, 5_000] {
            let mut later = WriteSet::new(&space);
            write(&mut later, &mut map, &mut seed, steps);
            base.absorb(later);
        }
        assert!(base.failure().is_none());
        check(&base.into_overlay(), &map);
    }
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    let nowhere = std::env::temp_dir().join("stoa-there-is-no-such-directory");
    let pool = Arc::new(datafusion_execution::memory_pool::UnboundedMemoryPool::default());
    let space = Arc::new(SpillSpace::new(nowhere, pool, 1 << 20));
    let mut set = WriteSet::new(&space);
    let (mut map, mut seed) = (Rows::new(), 5);
    while set.failure().is_none() {
        write(&mut set, &mut map, &mut seed, 1000);
        assert!(map.len() < 5001 || set.bytes() < 64 << 20, "it never failed");
        set.put(T, &random(&mut seed).to_be_bytes(), F, b"", Some(&[0; 3000]));
    }
    assert_eq!(set.take_failure().unwrap().code(), SqlState::IO_ERROR);
    assert!(set.rows() >= map.len());
}

#[test]
fn a_row_in_memory_costs_little_more_than_its_bytes() {
    let mut set = WriteSet::new(&Arc::new(SpillSpace::with_most(1 << 30)));
    for n in 0..200_000u64 {
        set.put(T, &n.to_be_bytes(), F, b"", Some(&[7; 40]));
    }
    let a_row = set.bytes() / 200_000;
    assert!(a_row < 48 + 60, "{a_row} bytes for a row of 48");
}
