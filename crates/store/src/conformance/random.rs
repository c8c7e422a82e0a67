//! Random operations on a store and on the model in step.

use super::support::{Histories, Rows, SplitMix, create, read_spec, scan_spec, table};
use super::{MakeStore, block_on, clock};
use crate::mirror::Mirror;
use crate::model::ModelStore;
use crate::{
    Commit, Durability, FamilyId, FamilyOptions, HistorySpec, KeyRange, Layout, MutationRef, Mutations, ReadSpec, Snapshot, Store,
    StoreError, TableId, TableSchema, Timestamp,
};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// Runs `operations` random operations for each seed; a panic names the seed.
pub fn random_operations(make: MakeStore<'_>, seeds: RangeInclusive<u64>, operations: usize) {
    for seed in seeds {
        let clock = clock();
        let fixture = make(clock.clone());
        let store = Mirror::new(ModelStore::with_clock(clock.clone()), Arc::clone(&fixture.store));
        let run = std::panic::AssertUnwindSafe(|| {
            let mut run = Run { random: SplitMix(seed), store, snapshots: Vec::new(), schemas: schemas() };
            for schema in &run.schemas {
                create(&run.store, schema);
            }
            for _ in 0..operations {
                clock.advance_us(run.random.below(200_000));
                run.step();
            }
            run.read_everything();
        });
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("random operations failed with seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

fn schemas() -> Vec<TableSchema> {
    let second = Some(Duration::from_secs(1));
    let cells = FamilyOptions { layout: Layout::Cells, ..Default::default() };
    vec![
        table(TableId(1), vec![FamilyOptions::default(), FamilyOptions::default(), cells.clone()]),
        table(TableId(2), vec![FamilyOptions { versions: 3, ..Default::default() }, FamilyOptions { versions: 2, ..cells.clone() }]),
        table(
            TableId(3),
            vec![
                FamilyOptions { ttl: second, ..Default::default() },
                FamilyOptions { versions: 3, min_versions: 1, ttl: second, ..Default::default() },
                FamilyOptions { versions: 4, ttl: second, ..cells.clone() },
                FamilyOptions { versions: 9, min_versions: 2, ttl: second, ..cells },
            ],
        ),
    ]
}

struct Run {
    random: SplitMix,
    store: Mirror,
    snapshots: Vec<Arc<dyn Snapshot>>,
    schemas: Vec<TableSchema>,
}

impl Run {
    fn step(&mut self) {
        match self.random.below(100) {
            0..40 => self.commit(),
            40..60 => self.scan(),
            60..72 => self.get(),
            72..75 => self.history(),
            75..82 => {
                let snapshot = self.store.snapshot();
                self.snapshots.push(snapshot);
            }
            82..86 => {
                if !self.snapshots.is_empty() {
                    let i = self.random.below(self.snapshots.len() as u64) as usize;
                    self.snapshots.swap_remove(i);
                }
            }
            86..90 => self.bulk_load(),
            90..93 => {
                let table = self.some_table();
                block_on(self.store.flush(table)).unwrap();
            }
            93..95 => {
                let table = self.some_table();
                block_on(self.store.compact(table)).unwrap();
            }
            95..97 => self.recreate(),
            97..98 => self.change_family(),
            _ => {
                let (table, key) = (self.some_table(), self.key());
                block_on(self.store.split(table, &key)).unwrap();
                let regions = block_on(self.store.regions(table)).unwrap();
                assert!(regions.windows(2).all(|w| w[0].range.end.as_ref() == Some(&w[1].range.start)));
                assert!(regions[0].range.start.is_empty() && regions.last().unwrap().range.end.is_none());
            }
        }
    }

    fn some_table(&mut self) -> TableId {
        self.random.pick(&self.schemas).id
    }

    fn some_schema(&mut self) -> TableSchema {
        self.random.pick(&self.schemas).clone()
    }

    /// Few keys, so that rows meet; with bytes that need escapes.
    fn key(&mut self) -> Vec<u8> {
        let len = 1 + self.random.below(3);
        (0..len).map(|_| *self.random.pick(&[0, 1, 2, b'a', 0xfe, 0xff])).collect()
    }

    fn qualifier(&mut self) -> Vec<u8> {
        let len = self.random.below(3);
        (0..len).map(|_| *self.random.pick(&[0, b'p', b'q', 0xff])).collect()
    }

    fn some_range(&mut self) -> KeyRange {
        match self.random.below(4) {
            0 => KeyRange::all(),
            1 => KeyRange::prefix(&self.key()),
            2 => KeyRange::new(self.key(), None),
            _ => KeyRange::new(self.key(), Some(self.key())),
        }
    }

    fn mutations(&mut self) -> Mutations {
        let mut out = Mutations::new();
        for _ in 0..1 + self.random.below(8) {
            let schema = self.some_schema();
            let (table, key) = (schema.id, self.key());
            let family = self.random.pick(&schema.families).clone();
            let qualifier = if family.options.layout == Layout::Cells { self.qualifier() } else { Vec::new() };
            match self.random.below(10) {
                0 => out.delete_row(table, &key),
                1 => out.delete_family(table, &key, family.id),
                2 => out.delete_cell(table, &key, family.id, &qualifier),
                _ => {
                    let value = self.random.number().to_be_bytes();
                    out.put(table, &key, family.id, &qualifier, &value[..self.random.below(8) as usize]);
                }
            }
        }
        out
    }

    fn commit(&mut self) {
        let mutations = self.mutations();
        let mut validate = Vec::new();
        let mut snapshot = None;
        if !self.snapshots.is_empty() && self.random.one_in(3) {
            snapshot = Some(self.random.pick(&self.snapshots).timestamp());
            if self.random.one_in(2) {
                validate.push((self.some_table(), self.some_range()));
            }
        }
        let durability = if self.random.one_in(4) { Durability::Sync } else { Durability::Relaxed };
        let commit = Commit { mutations: &mutations, snapshot, validate: &validate, durability };
        match block_on(self.store.commit(commit)) {
            Ok(_) | Err(StoreError::Conflict) => {}
            Err(error) => panic!("{error}"),
        }
        let key = self.key();
        if let Some(snapshot) = self.snapshots.first() {
            self.store.rows_changed_since(&mut [(TableId(1), key.as_slice())].into_iter(), snapshot.timestamp());
        }
    }

    fn read(&mut self) -> ReadSpec {
        let schema = self.some_schema();
        let snapshot = if self.snapshots.is_empty() || self.random.one_in(2) {
            self.store.snapshot()
        } else {
            Arc::clone(self.random.pick(&self.snapshots))
        };
        let snapshot = if self.random.one_in(10) {
            let back = self.random.below(3_000_000) << Timestamp::COUNTER_BITS;
            self.store.snapshot_at(Timestamp(snapshot.timestamp().0 - back)).unwrap()
        } else {
            snapshot
        };
        let mut families: Vec<FamilyId> = schema.families.iter().map(|f| f.id).filter(|_| !self.random.one_in(3)).collect();
        if families.is_empty() || self.random.one_in(4) {
            families = vec![self.random.pick(&schema.families).id];
        } else if self.random.one_in(4) {
            families.reverse();
        }
        let mut spec = read_spec(&snapshot, schema.id, &families);
        spec.versions = 1 + self.random.below(4) as u32;
        if self.random.one_in(4) {
            spec.qualifiers = Some(KeyRange::new(self.qualifier(), self.random.one_in(2).then(|| b"q".to_vec())));
        }
        if self.random.one_in(6) {
            let now = snapshot.timestamp().0;
            let from = now.saturating_sub(self.random.below(2_000_000) << Timestamp::COUNTER_BITS);
            spec.time_range = Some((Timestamp(from), Timestamp(from + (self.random.below(2_000_000) << Timestamp::COUNTER_BITS))));
        }
        spec
    }

    fn get(&mut self) {
        let spec = self.read();
        let keys: Vec<_> = (0..self.random.below(12)).map(|_| self.key()).collect();
        let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
        match block_on(self.store.get(&spec, &keys, &mut Rows::default())) {
            Ok(()) | Err(StoreError::SnapshotTooOld | StoreError::NoSuchTable(_) | StoreError::Invalid(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }

    fn scan(&mut self) {
        let mut spec = scan_spec(self.read(), self.some_range());
        spec.reverse = self.random.one_in(3);
        spec.limit = self.random.one_in(3).then(|| self.random.below(20));
        spec.fill_cache = self.random.one_in(2);
        let mut scan = match block_on(self.store.scan(spec)) {
            Ok(scan) => scan,
            Err(StoreError::SnapshotTooOld | StoreError::NoSuchTable(_) | StoreError::Invalid(_)) => return,
            Err(error) => panic!("{error}"),
        };
        let max_rows = 1 + self.random.below(30) as usize;
        loop {
            match block_on(scan.next_block(max_rows, &mut Rows::default())) {
                Ok(true) => {}
                Ok(false) | Err(StoreError::SnapshotTooOld) => break,
                Err(error) => panic!("{error}"),
            }
            if self.random.one_in(4) {
                self.commit();
            }
        }
    }

    fn history(&mut self) {
        let read = self.read();
        let range = self.some_range();
        let spec = HistorySpec { table: read.table, families: read.families, range, snapshot: read.snapshot };
        let mut history = match block_on(self.store.history(spec)) {
            Ok(history) => history,
            Err(StoreError::SnapshotTooOld | StoreError::NoSuchTable(_) | StoreError::Invalid(_)) => return,
            Err(error) => panic!("{error}"),
        };
        let max_rows = 1 + self.random.below(30) as usize;
        loop {
            match block_on(history.next_block(max_rows, &mut Histories::default())) {
                Ok(true) => {}
                Ok(false) | Err(StoreError::SnapshotTooOld) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn bulk_load(&mut self) {
        let mut schemas = self.schemas.clone();
        schemas.retain(|_| self.random.one_in(2));
        let tables: Vec<_> = schemas.iter().map(|s| s.id).collect();
        let mut load = block_on(self.store.bulk_load(&tables)).unwrap();
        for schema in &schemas {
            let table = schema.id;
            let mut keys: Vec<_> = (0..self.random.below(30)).map(|_| self.key()).collect();
            keys.sort();
            keys.dedup();
            for key in &keys {
                if self.random.one_in(3) {
                    load.apply(MutationRef::DeleteRow { table, key }).unwrap();
                }
                for family in &schema.families {
                    for _ in 0..self.random.below(3) {
                        let qualifier = if family.options.layout == Layout::Cells { self.qualifier() } else { Vec::new() };
                        let (family, qualifier) = (family.id, qualifier.as_slice());
                        match self.random.below(5) {
                            0 => load.apply(MutationRef::DeleteCell { table, key, family, qualifier }).unwrap(),
                            1 => load.apply(MutationRef::DeleteFamily { table, key, family }).unwrap(),
                            _ => load.put(table, key, family, qualifier, b"loaded").unwrap(),
                        }
                    }
                }
            }
        }
        if self.random.one_in(4) {
            drop(load);
        } else {
            block_on(load.finish()).unwrap();
        }
    }

    /// Old snapshots may fail to read what was dropped, so they go first.
    fn recreate(&mut self) {
        self.snapshots.clear();
        let schema = self.some_schema();
        block_on(self.store.drop_table(schema.id)).unwrap();
        create(&self.store, &schema);
    }

    /// Another option of a family, with or without a copy of it.
    fn change_family(&mut self) {
        self.snapshots.clear();
        let i = self.random.below(self.schemas.len() as u64) as usize;
        let mut schema = block_on(self.store.describe_table(self.schemas[i].id)).unwrap().unwrap();
        let f = self.random.below(schema.families.len() as u64) as usize;
        let options = &mut schema.families[f].options;
        match self.random.below(3) {
            0 => options.block_size = 4096 << self.random.below(3),
            1 => options.bloom_filter = *self.random.pick(&[crate::BloomFilter::None, crate::BloomFilter::Row]),
            _ => options.compression = *self.random.pick(&[crate::Compression::None, crate::Compression::Zstd]),
        }
        block_on(self.store.alter_table(&schema)).unwrap();
        self.schemas[i] = schema;
    }

    fn read_everything(&mut self) {
        let now = self.store.snapshot();
        for snapshot in self.snapshots.iter().chain([&now]) {
            for schema in &self.schemas {
                let families: Vec<_> = schema.families.iter().map(|f| f.id).collect();
                let mut read = read_spec(snapshot, schema.id, &families);
                read.versions = 9;
                let mut scan = block_on(self.store.scan(scan_spec(read, KeyRange::all()))).unwrap();
                while block_on(scan.next_block(50, &mut Rows::default())).unwrap() {}
            }
        }
    }
}
