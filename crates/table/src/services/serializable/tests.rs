//! Anomalies by name, and all interleavings of small transactions against a graph of their dependencies.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;

const T: TableId = TableId(1);

#[derive(Debug)]
struct At(Timestamp);

impl Snapshot for At {
    fn timestamp(&self) -> Timestamp {
        self.0
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

struct World {
    set: SerializableSet,
    clock: u64,
    next: u64,
}

struct Txn {
    id: u64,
    reads: Arc<Mutex<ReadSet>>,
    writes: Vec<Vec<u8>>,
}

fn writes(keys: &[Vec<u8>]) -> Writes {
    let mut out = Writes::default();
    if !keys.is_empty() {
        out.tables.insert(T, Written::Keys(keys.iter().map(|k| k.as_slice().into()).collect()));
    }
    out
}

impl World {
    fn new() -> Self {
        World { set: SerializableSet::default(), clock: 10, next: 1 }
    }
    fn begin(&mut self) -> Txn {
        self.begin_as(false)
    }
    fn begin_as(&mut self, read_only: bool) -> Txn {
        let id = self.next;
        self.next += 1;
        let reads = Arc::default();
        let at = Timestamp(self.clock);
        self.set.begin(id, Arc::clone(&reads), read_only, || Arc::new(At(at)));
        Txn { id, reads, writes: Vec::new() }
    }
    fn commit(&mut self, mut txn: Txn) -> bool {
        txn.writes.sort();
        match self.set.prepare(txn.id, writes(&txn.writes)) {
            Ok(sequence) => {
                self.clock += 1;
                self.set.finish(sequence.unwrap(), Some(Timestamp(self.clock)));
                true
            }
            Err(Danger) => {
                self.set.abort(txn.id);
                false
            }
        }
    }
}

impl Txn {
    fn read(&self, key: &[u8]) {
        self.reads.lock().add(T, KeyRange::point(key));
    }
    fn write(&mut self, key: &[u8]) {
        self.writes.push(key.to_vec());
    }
}

#[test]
fn write_skew_fails_once() {
    let mut w = World::new();
    let (mut a, mut b) = (w.begin(), w.begin());
    for t in [&a, &b] {
        t.read(b"x");
        t.read(b"y");
    }
    a.write(b"x");
    b.write(b"y");
    assert!(w.commit(a) ^ w.commit(b));
}

#[test]
fn one_dependency_passes_in_either_order() {
    for writer_first in [true, false] {
        let mut w = World::new();
        let (mut reader, mut writer) = (w.begin(), w.begin());
        reader.read(b"x");
        reader.write(b"z");
        writer.write(b"x");
        let (first, second) = if writer_first { (writer, reader) } else { (reader, writer) };
        assert!(w.commit(first));
        assert!(w.commit(second));
    }
}

#[test]
fn the_read_only_anomaly_fails_and_an_older_reader_passes() {
    // Deposit and withdrawal with a report: Fekete, O'Neil, O'Neil 2004.
    for report_late in [true, false] {
        let mut w = World::new();
        let mut withdrawal = w.begin();
        withdrawal.read(b"x");
        withdrawal.read(b"y");
        withdrawal.write(b"x");
        let mut deposit = w.begin();
        deposit.read(b"y");
        deposit.write(b"y");
        let early = if report_late { None } else { Some(w.begin()) };
        assert!(w.commit(deposit));
        let report = early.unwrap_or_else(|| w.begin());
        report.read(b"x");
        report.read(b"y");
        if report_late {
            // The report has seen the deposit and not the withdrawal: the withdrawal must not come before it.
            assert!(!w.commit(withdrawal) || !w.commit(report));
        } else {
            assert!(w.commit(report));
            assert!(w.commit(withdrawal));
        }
    }
}

#[test]
fn a_reader_that_is_declared_so_and_older_than_the_first_to_commit_is_no_danger_while_it_runs() {
    for (read_only, older, passes) in [(true, true, true), (true, false, false), (false, true, false)] {
        let mut w = World::new();
        let mut pivot = w.begin();
        pivot.read(b"x");
        pivot.write(b"y");
        let mut first = w.begin();
        first.write(b"x");
        let early = older.then(|| w.begin_as(read_only));
        assert!(w.commit(first));
        let reader = early.unwrap_or_else(|| w.begin_as(read_only));
        reader.read(b"x");
        reader.read(b"y");
        assert_eq!(w.commit(pivot), passes, "{read_only} {older}");
    }
}

#[test]
fn a_phantom_is_a_read_of_the_range() {
    let mut w = World::new();
    let (mut a, mut b) = (w.begin(), w.begin());
    a.reads.lock().add(T, KeyRange::prefix(b"k"));
    b.reads.lock().add(T, KeyRange::prefix(b"k"));
    a.write(b"k1");
    b.write(b"k2");
    assert!(w.commit(a));
    assert!(!w.commit(b));
}

#[test]
fn nothing_is_remembered_when_nobody_runs() {
    let mut w = World::new();
    let mut a = w.begin();
    a.write(b"x");
    assert!(w.commit(a));
    assert!(w.set.state.lock().decided.is_empty());
}

#[test]
fn one_that_is_overtaken_on_its_way_to_the_store_is_the_pivot() {
    // slow → quick → late → slow, all of them writers: slow is decided first, and quick committed first.
    let mut w = World::new();
    let (mut slow, mut quick) = (w.begin(), w.begin());
    slow.read(b"x");
    slow.write(b"z");
    quick.read(b"y");
    quick.write(b"x");
    let slow_sequence = w.set.prepare(slow.id, writes(&slow.writes)).unwrap().unwrap();
    assert!(w.commit(quick));
    let mut late = w.begin();
    late.read(b"z");
    late.write(b"y");
    w.clock += 1;
    w.set.finish(slow_sequence, Some(Timestamp(w.clock)));
    assert!(!w.commit(late));
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

const KEYS: u64 = 5;

/// One transaction, and how far it is.
struct Client {
    id: u64,
    snapshot: u64,
    reads: Arc<Mutex<ReadSet>>,
    seen: Vec<u64>,
    written: Vec<u64>,
    stage: Stage,
}

enum Stage {
    Running,
    /// On its way to the store, with its sequence.
    Decided(u64),
    /// New snapshots see it.
    Stored(u64, u64),
}

/// A store of versions under snapshot isolation, with clients that go step by step in any order.
#[derive(Default)]
struct Model {
    set: SerializableSet,
    clock: u64,
    ids: u64,
    /// By key: time of commit and writer, ascending.
    versions: [Vec<(u64, u64)>; KEYS as usize],
    locks: [Option<u64>; KEYS as usize],
    /// By id: snapshot and keys read.
    committed: BTreeMap<u64, (u64, Vec<u64>)>,
    refused: u64,
}

impl Model {
    fn begin(&mut self) -> Client {
        self.ids += 1;
        let (reads, snapshot) = (Arc::default(), self.clock);
        self.set.begin(self.ids, Arc::clone(&reads), false, || Arc::new(At(Timestamp(snapshot))));
        Client { id: self.ids, snapshot, reads, seen: Vec::new(), written: Vec::new(), stage: Stage::Running }
    }

    fn abort(&mut self, client: &Client) {
        self.refused += 1;
        self.set.abort(client.id);
        self.unlock(client);
    }

    fn unlock(&mut self, client: &Client) {
        self.locks.iter_mut().filter(|lock| **lock == Some(client.id)).for_each(|lock| *lock = None);
    }

    /// One step; `None` when the transaction has ended.
    fn step(&mut self, mut client: Client, random: &mut Random, must_end: bool) -> Option<Client> {
        match client.stage {
            Stage::Running => match if must_end { 9 } else { random.below(10) } {
                0..=2 => {
                    let key = random.below(KEYS);
                    client.reads.lock().add(T, KeyRange::point(&[key as u8]));
                    client.seen.push(key);
                }
                3 => {
                    let (from, to) = (random.below(KEYS), random.below(KEYS));
                    client.reads.lock().add(T, KeyRange::new(vec![from as u8], Some(vec![to as u8])));
                    client.seen.extend(from..to);
                }
                4..=6 => {
                    let key = random.below(KEYS);
                    match self.locks[key as usize] {
                        Some(holder) if holder != client.id => {}
                        _ if self.versions[key as usize].last().is_some_and(|(at, _)| *at > client.snapshot) => {
                            self.abort(&client);
                            return None;
                        }
                        _ => {
                            self.locks[key as usize] = Some(client.id);
                            client.written.push(key);
                        }
                    }
                }
                _ => {
                    client.written.sort_unstable();
                    client.written.dedup();
                    let keys: Vec<Vec<u8>> = client.written.iter().map(|key| vec![*key as u8]).collect();
                    match self.set.prepare(client.id, writes(&keys)) {
                        Ok(sequence) => client.stage = Stage::Decided(sequence.unwrap()),
                        Err(Danger) => {
                            self.abort(&client);
                            return None;
                        }
                    }
                }
            },
            Stage::Decided(sequence) => {
                if !client.written.is_empty() {
                    self.clock += 1;
                }
                for key in &client.written {
                    self.versions[*key as usize].push((self.clock, client.id));
                }
                self.committed.insert(client.id, (client.snapshot, client.seen.clone()));
                client.stage = Stage::Stored(sequence, self.clock);
            }
            Stage::Stored(sequence, at) => {
                self.set.finish(sequence, Some(Timestamp(at)));
                self.unlock(&client);
                return None;
            }
        }
        Some(client)
    }

    /// Who must come before whom in a serial order.
    fn dependencies(&self) -> BTreeMap<u64, Vec<u64>> {
        let mut out: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for versions in &self.versions {
            for pair in versions.windows(2) {
                out.entry(pair[0].1).or_default().push(pair[1].1);
            }
        }
        for (id, (snapshot, keys)) in &self.committed {
            for key in keys {
                let versions = &self.versions[*key as usize];
                let next = versions.partition_point(|(at, _)| at <= snapshot);
                if let Some((_, writer)) = next.checked_sub(1).map(|at| versions[at]) {
                    out.entry(writer).or_default().push(*id);
                }
                // What it then wrote itself is behind what it read.
                if let Some((_, writer)) = versions.get(next).filter(|(_, writer)| writer != id) {
                    out.entry(*id).or_default().push(*writer);
                }
            }
        }
        out
    }
}

/// Whether the edges go in a circle.
fn circle(edges: &BTreeMap<u64, Vec<u64>>) -> bool {
    fn enters(edges: &BTreeMap<u64, Vec<u64>>, at: u64, open: &mut BTreeMap<u64, bool>) -> bool {
        match open.get(&at) {
            Some(open) => return *open,
            None => open.insert(at, true),
        };
        let found = edges.get(&at).into_iter().flatten().any(|next| enters(edges, *next, open));
        open.insert(at, false);
        found
    }
    let mut open = BTreeMap::new();
    edges.keys().any(|at| enters(edges, *at, &mut open))
}

/// Runs transactions in an order that the seed chooses.
fn run(seed: u64) -> Model {
    let (mut model, mut random) = (Model::default(), Random(seed));
    let mut clients: Vec<Client> = Vec::new();
    for step in 0.. {
        let begin = step < 80 && clients.len() < 5 && (clients.is_empty() || random.below(4) == 0);
        if begin {
            clients.push(model.begin());
        } else if clients.is_empty() {
            break;
        } else {
            let at = random.below(clients.len() as u64) as usize;
            let client = clients.swap_remove(at);
            clients.extend(model.step(client, &mut random, step >= 80));
        }
    }
    model
}

#[test]
fn no_order_of_steps_makes_a_circle() {
    let (mut committed, mut refused) = (0, 0);
    for seed in 0..6000 {
        let model = run(seed);
        assert!(!circle(&model.dependencies()), "seed {seed}");
        assert!(model.set.state.lock().decided.is_empty(), "seed {seed}");
        committed += model.committed.len() as u64;
        refused += model.refused;
    }
    println!("{committed} committed, {refused} refused");
    // What is refused must have met somebody.
    assert!(committed > refused, "{committed} committed, {refused} refused");
}
