//! A model of history: random changes, beside flushes and compactions, while the present and the past are read, with a retention of
//! seconds. It finds what the rules of `docs/hbase.md` are for: errors are planted to see that it does.

use super::harness::{Cluster, seconds};
use super::support::{F, T, commit, fresh_namespace, open, options, read, scan, table};
use futures::executor::block_on;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stoa_hbase_client::{Get, Table};
use stoa_store::clock::{Clock, ManualClock, SystemClock};
use stoa_store::conformance::{Rows, SplitMix};
use stoa_store::mirror::Mirror;
use stoa_store::model::ModelStore;
use stoa_store::{
    Commit, Durability, FamilyId, FamilyOptions, KeyRange, Layout, MutationRef, Mutations, ReadSpec, ScanSpec, Snapshot, Store, StoreError,
    TableId, TableSchema, Timestamp,
};
use stoa_store_hbase::{HbaseOptions, Markers};

const RETENTION: Duration = Duration::from_secs(8);
/// Reads go back so far, and a little beyond where they are refused.
const BACK_US: u64 = 3_400_000;

fn schemas() -> Vec<TableSchema> {
    let cells = |options: FamilyOptions| FamilyOptions { layout: Layout::Cells, ..options };
    let many = |versions| FamilyOptions { versions, ..FamilyOptions::default() };
    let ttl = |versions, min_versions, ttl| FamilyOptions {
        versions,
        min_versions,
        ttl: Some(Duration::from_secs(ttl)),
        ..FamilyOptions::default()
    };
    let of = |id, families: &[FamilyOptions]| TableSchema { id: TableId(id), ..table(families) };
    vec![
        of(1, &[FamilyOptions::default(), cells(FamilyOptions::default())]),
        of(2, &[many(3), cells(many(2))]),
        of(3, &[ttl(1, 0, 3), ttl(4, 1, 2), cells(ttl(3, 0, 4)), cells(ttl(5, 2, 1))]),
    ]
}

struct Run<'a> {
    random: SplitMix,
    store: &'a Mirror,
    schemas: &'a [TableSchema],
    held: Vec<Arc<dyn Snapshot>>,
    reads: u64,
    refused: u64,
}

impl Run<'_> {
    fn key(&mut self) -> Vec<u8> {
        let len = 1 + self.random.below(2);
        (0..len).map(|_| *self.random.pick(&[0, 1, b'a', b'b', 0xff])).collect()
    }

    fn qualifier(&mut self, family: &FamilyOptions) -> Vec<u8> {
        if family.layout == Layout::Packed { vec![] } else { vec![*self.random.pick(b"pqr"); self.random.below(2) as usize] }
    }

    fn commit(&mut self) {
        let mut mutations = Mutations::new();
        for _ in 0..1 + self.random.below(6) {
            let schema = self.random.pick(self.schemas);
            let family = self.random.pick(&schema.families);
            let (key, qualifier) = (self.key(), self.qualifier(&family.options));
            match self.random.below(12) {
                0 => mutations.delete_row(schema.id, &key),
                1 => mutations.delete_family(schema.id, &key, family.id),
                2 => mutations.delete_cell(schema.id, &key, family.id, &qualifier),
                // Deleted, and made anew.
                3 => {
                    mutations.delete_row(schema.id, &key);
                    mutations.put(schema.id, &key, family.id, &qualifier, b"new");
                }
                _ => mutations.put(schema.id, &key, family.id, &qualifier, &self.random.number().to_be_bytes()),
            }
        }
        block_on(self.store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Sync })).unwrap();
    }

    /// Rows of a table in order, some of them deleted or made anew; one in four is given up.
    fn load(&mut self) {
        let schema = self.random.pick(self.schemas);
        let mut keys: Vec<_> = (0..1 + self.random.below(8)).map(|_| self.key()).collect();
        keys.sort();
        keys.dedup();
        let mut load = block_on(self.store.bulk_load(&[schema.id])).unwrap();
        for key in &keys {
            if self.random.one_in(6) {
                load.apply(MutationRef::DeleteRow { table: schema.id, key }).unwrap();
            }
            let family = self.random.pick(&schema.families);
            let qualifier = self.qualifier(&family.options);
            load.put(schema.id, key, family.id, &qualifier, &self.random.number().to_be_bytes()).unwrap();
            block_on(load.drain()).unwrap();
        }
        if !self.random.one_in(4) {
            block_on(load.finish()).unwrap();
        }
    }

    fn read(&mut self) {
        let snapshot = match self.random.below(3) {
            0 => self.store.snapshot(),
            1 if !self.held.is_empty() => Arc::clone(self.random.pick(&self.held)),
            _ => {
                let now = self.store.snapshot().timestamp().micros();
                let past = Timestamp::from_micros(now - self.random.below(BACK_US));
                match self.store.snapshot_at(past) {
                    Ok(snapshot) => snapshot,
                    Err(_) => return self.refused += 1,
                }
            }
        };
        let schema = self.random.pick(self.schemas);
        let families: Vec<FamilyId> = schema.families.iter().map(|family| family.id).collect();
        let read = ReadSpec {
            table: schema.id,
            families,
            qualifiers: None,
            versions: 1 + self.random.below(5) as u32,
            time_range: None,
            snapshot,
        };
        let done = if self.random.one_in(2) {
            let keys: Vec<_> = (0..1 + self.random.below(6)).map(|_| self.key()).collect();
            let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
            block_on(self.store.get(&read, &keys, &mut Rows::default()))
        } else {
            let spec = ScanSpec { read, range: KeyRange::all(), reverse: self.random.one_in(3), limit: None, fill_cache: true };
            block_on(async {
                let mut scan = self.store.scan(spec).await?;
                while scan.next_block(20, &mut Rows::default()).await? {}
                Ok(())
            })
        };
        match done {
            Ok(()) => self.reads += 1,
            Err(StoreError::SnapshotTooOld) => self.refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Works for some time; how many reads there were.
fn work(cluster: &Cluster, seed: u64, time: Duration, change: impl FnOnce(&mut HbaseOptions)) -> u64 {
    let clock = Arc::new(ManualClock::at_us(SystemClock.now_us()));
    let mut options = HbaseOptions { retention: RETENTION, clock: clock.clone(), ..options(cluster, &fresh_namespace()) };
    options.faults.load_bytes = Some(0);
    change(&mut options);
    let store: Arc<dyn Store> = Arc::new(open(&options));
    let mirror = Mirror::new(ModelStore::with_clock(clock.clone()), Arc::clone(&store));
    let schemas = schemas();
    schemas.iter().for_each(|schema| block_on(mirror.create_table(schema)).unwrap());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (stop, of) = (&stop, &schemas);
        // Flushes and compactions all the time, beside what is done in step.
        let tidying = scope.spawn(move || {
            let (mut random, mut done) = (SplitMix(seed + 1000), 0);
            while !stop.load(Ordering::Relaxed) {
                let id = random.pick(of).id;
                block_on(store.flush(id)).unwrap();
                if random.one_in(3) {
                    block_on(store.compact(id)).unwrap();
                }
                done += 1;
                std::thread::sleep(Duration::from_millis(200));
            }
            done
        });
        let mut run = Run { random: SplitMix(seed), store: &mirror, schemas: &schemas, held: Vec::new(), reads: 0, refused: 0 };
        let until = Instant::now() + time;
        let worked = catch_unwind(AssertUnwindSafe(|| {
            while Instant::now() < until && !tidying.is_finished() {
                clock.set_us(SystemClock.now_us());
                match run.random.below(10) {
                    0 if run.random.one_in(2) => run.load(),
                    0..4 => run.commit(),
                    4 if run.held.len() < 5 => run.held.push(mirror.snapshot()),
                    4 => drop(run.held.swap_remove(run.random.below(5) as usize)),
                    _ => run.read(),
                }
            }
        }));
        stop.store(true, Ordering::Relaxed);
        let tidied: i32 = tidying.join().unwrap();
        if let Err(panic) = worked {
            eprintln!("model of history failed with seed {seed} after {} reads", run.reads);
            std::panic::resume_unwind(panic);
        }
        println!("  seed {seed}: {} reads, {} refused, {tidied} flushes", run.reads, run.refused);
        run.reads
    })
}

pub fn of_history(cluster: &Cluster) {
    assert!(work(cluster, 1, seconds() * 2, |_| {}) > 100);
    assert!(work(cluster, 2, seconds(), |options| options.faults.apply_after = Duration::from_millis(700)) > 50);
}

/// The same with errors in the rules, each of which must be found.
pub fn finds_planted_errors(cluster: &Cluster) {
    for (seed, markers) in [(3, Markers::AtEvenTime), (4, Markers::LeftOut)] {
        let found = catch_unwind(AssertUnwindSafe(|| work(cluster, seed, seconds() * 3, |options| options.faults.markers = markers)));
        assert!(found.is_err(), "{markers:?} was not found");
        println!("  {markers:?} was found, as it should be");
    }
}

/// What was replaced or deleted longer ago than the retention is gone from HBase after a compaction; markers left out keep it.
pub fn what_ended_goes(cluster: &Cluster) {
    for markers in [Markers::Before, Markers::LeftOut] {
        let mut options = HbaseOptions { retention: Duration::from_secs(3), ..options(cluster, &fresh_namespace()) };
        options.faults.markers = markers;
        let store = open(&options);
        block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
        let mut first = Timestamp::default();
        for round in 0..3u8 {
            let at = commit(&store, |m| (1..=50u8).for_each(|k| m.put(T, &[k], F, b"", &[round]))).unwrap();
            first = if round == 0 { at } else { first };
            block_on(store.flush(T)).unwrap();
        }
        commit(&store, |m| (1..=10u8).for_each(|k| m.delete_row(T, &[k]))).unwrap();
        let hbase: Table = cluster.client().table(&format!("{}:t_1", options.namespace)).unwrap();
        // Behind the store's back, since it refuses reads of that time.
        let of_first = |key: u8| Get::new(vec![key]).time_range(0..first.micros() / 1000 + 1);
        let left = || (1..=50u8).filter(|key| block_on(hbase.exists(&of_first(*key))).unwrap()).count();
        block_on(store.flush(T)).unwrap();
        assert_eq!(left(), 50, "it is kept at first");
        assert!(matches!(store.snapshot_at(Timestamp::from_micros(first.micros() - 5_000_000)), Err(StoreError::SnapshotTooOld)));
        std::thread::sleep(Duration::from_secs(5));
        block_on(store.compact(T)).unwrap();
        let rows = scan(&store, read(&store.snapshot()), KeyRange::all()).unwrap().rows;
        assert!(rows.len() == 40 && rows.iter().all(|(_, cells)| cells[0].value == [2]));
        assert_eq!(left(), if markers == Markers::Before { 0 } else { 40 }, "{markers:?}");
    }
}
