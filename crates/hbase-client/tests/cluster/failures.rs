//! While region servers are killed, regions moved, split and merged: nothing acknowledged is lost, scans are exact, no call outlives its
//! deadline.

use super::harness::{Cluster, seconds};
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stoa_hbase_client::{Action, Client, Get, Mutation, Scan, Table};

const DEADLINE: Duration = Duration::from_secs(45);
/// What a machine that is busy may add.
const SLACK: Duration = Duration::from_secs(3);

fn key(n: u32) -> String {
    format!("{n:06}")
}

/// Moves, splits, merges and kills until it is told to stop; how many of each.
fn trouble(cluster: &Cluster, client: &Client, table: &Table, greatest: u32, stop: &AtomicBool, seed: u64) -> BTreeMap<&'static str, u32> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut done = BTreeMap::new();
    let admin = client.admin().timeout(Duration::from_secs(40));
    let mut round = 0;
    while !stop.load(Ordering::Relaxed) {
        round += 1;
        let what = match round % 8 {
            // Each second round of eight ends a server.
            4 => "kill",
            0 | 3 | 6 => "split",
            5 => "merge",
            _ => "move",
        };
        let worked = match what {
            "kill" => {
                let server = format!("rs{}", random.random_range(1..=3));
                cluster.script(&["kill", &server]);
                std::thread::sleep(Duration::from_secs(2));
                cluster.script(&["restart", &server]);
                true
            }
            "split" => {
                let at = key(random.random_range(1..greatest));
                block_on(admin.split(table.name(), at.as_bytes())).is_ok()
            }
            "merge" => {
                let regions = block_on(admin.regions(table.name())).unwrap_or_default();
                let at = random.random_range(0..regions.len().max(2) - 1);
                regions.get(at..at + 2).is_some_and(|two| block_on(admin.merge(two)).is_ok())
            }
            _ => {
                let regions = block_on(admin.regions(table.name())).unwrap_or_default();
                let servers = block_on(admin.servers()).unwrap_or_default();
                match (regions.choose(&mut random), servers.choose(&mut random)) {
                    (Some(region), Some(server)) => block_on(admin.move_region(region, Some(server))).is_ok(),
                    _ => false,
                }
            }
        };
        *done.entry(what).or_insert(0) += u32::from(worked);
        std::thread::sleep(Duration::from_millis(300));
    }
    done
}

/// What one task knows of its keys: the number that was acknowledged, and the greatest that may be there.
struct Known {
    acknowledged: u64,
    possible: u64,
}

struct Worker<'a> {
    table: &'a Table,
    random: StdRng,
    first: u32,
    known: Vec<Known>,
    slowest: Duration,
    failed: u64,
}

impl Worker<'_> {
    fn timed<T>(&mut self, call: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let result = block_on(call);
        self.slowest = self.slowest.max(began.elapsed());
        result
    }

    fn put(&mut self, at: usize) -> Mutation {
        self.known[at].possible += 1;
        let number = self.known[at].possible;
        Mutation::put(key(self.first + at as u32)).set_at("f", "n", number as i64, number.to_string())
    }

    fn check(&self, at: usize, row: Option<&stoa_hbase_client::Row>) {
        let value = row.and_then(|row| row.value(b"f", b"n"));
        let number: u64 = value.map_or(0, |text| std::str::from_utf8(text).unwrap().parse().unwrap());
        let known = &self.known[at];
        assert!(
            (known.acknowledged..=known.possible).contains(&number),
            "key {}: {number} is there, {} was acknowledged, {} sent",
            key(self.first + at as u32),
            known.acknowledged,
            known.possible
        );
    }

    fn step(&mut self) {
        let at = self.random.random_range(0..self.known.len());
        match self.random.random_range(0..4) {
            0 => {
                let put = self.put(at);
                let number = self.known[at].possible;
                match self.timed(self.table.clone().mutate(&put)) {
                    Ok(()) => self.known[at].acknowledged = number,
                    Err(_) => self.failed += 1,
                }
            }
            1 => {
                let some: Vec<usize> = (at..self.known.len().min(at + 50)).collect();
                let puts: Vec<Action> = some.iter().map(|at| Action::Mutate(self.put(*at))).collect();
                let answers = self.timed(self.table.clone().batch(&puts));
                for (at, answer) in some.into_iter().zip(answers) {
                    match answer {
                        Ok(_) => self.known[at].acknowledged = self.known[at].possible,
                        Err(_) => self.failed += 1,
                    }
                }
            }
            2 => match self.timed(self.table.clone().get(&Get::new(key(self.first + at as u32)))) {
                Ok(row) => self.check(at, row.as_ref()),
                Err(_) => self.failed += 1,
            },
            _ => {
                let some: Vec<usize> = (at..self.known.len().min(at + 20)).collect();
                let gets: Vec<Action> = some.iter().map(|at| Action::Get(Get::new(key(self.first + *at as u32)))).collect();
                for (at, answer) in some.into_iter().zip(self.timed(self.table.clone().batch(&gets))) {
                    match answer {
                        Ok(row) => self.check(at, row.as_ref()),
                        Err(_) => self.failed += 1,
                    }
                }
            }
        }
    }
}

pub fn acknowledged_puts_are_there(cluster: &Cluster) {
    const TASKS: u32 = 16;
    const KEYS: u32 = 500;
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "trouble", &["002000", "004000", "006000"]);
    let (stop, operations) = (AtomicBool::new(false), AtomicU64::new(0));
    let (done, workers) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..TASKS)
            .map(|number| {
                let (stop, operations, table) = (&stop, &operations, &table);
                scope.spawn(move || {
                    let known = (0..KEYS).map(|_| Known { acknowledged: 0, possible: 0 }).collect();
                    let random = StdRng::seed_from_u64(u64::from(number));
                    let table = Box::leak(Box::new(table.timeout(DEADLINE)));
                    let mut worker = Worker { table, random, first: number * KEYS, known, slowest: Duration::ZERO, failed: 0 };
                    while !stop.load(Ordering::Relaxed) {
                        worker.step();
                        operations.fetch_add(1, Ordering::Relaxed);
                    }
                    worker
                })
            })
            .collect();
        let troubles = scope.spawn(|| trouble(cluster, &client, &table, TASKS * KEYS, &stop, 1));
        std::thread::sleep(seconds());
        stop.store(true, Ordering::Relaxed);
        let done = troubles.join().unwrap();
        (done, workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>())
    });
    let slowest = workers.iter().map(|worker| worker.slowest).max().unwrap();
    let failed: u64 = workers.iter().map(|worker| worker.failed).sum();
    let retries: u64 = client.metrics().servers.iter().map(|server| server.retries).sum();
    println!("  {} operations, {failed} failed, {retries} retries, slowest {slowest:?}, {done:?}", operations.load(Ordering::Relaxed));
    assert!(slowest < DEADLINE + SLACK, "a call outlived its deadline: {slowest:?}");
    // Read by another client, one by one and by a scan.
    let other = cluster.client().table("trouble").unwrap();
    let rows = block_on(other.scan_all(Scan::all())).unwrap();
    let rows: BTreeMap<Vec<u8>, _> = rows.into_iter().map(|row| (row.key().to_vec(), row)).collect();
    for worker in &workers {
        for at in 0..worker.known.len() {
            worker.check(at, rows.get(key(worker.first + at as u32).as_bytes()));
        }
    }
    assert!(workers.iter().map(|worker| worker.known.iter().map(|known| known.acknowledged).sum::<u64>()).sum::<u64>() > 0);
}

pub fn scans_equal_a_model(cluster: &Cluster) {
    const ROWS: u32 = 6_000;
    let client = cluster.client();
    let table = cluster.fresh_table(&client, "model", &["002000", "004000"]);
    let put =
        |n: u32| (0..3).fold(Mutation::put(key(n)), |put, q| put.set_at("f", format!("q{q}"), 10, format!("{n}-{q}-{}", "x".repeat(100))));
    block_on(table.mutate_many((0..ROWS).filter(|n| n % 3 != 0).map(put))).unwrap();
    let model: Vec<u32> = (0..ROWS).filter(|n| n % 3 != 0).collect();
    let (stop, scans, written) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let (done, slowest) = std::thread::scope(|scope| {
        // Newer versions, newer rows and deletions: none of them is in the snapshot.
        let writers: Vec<_> = (0..2_u64)
            .map(|number| {
                let (stop, written, table) = (&stop, &written, &table);
                scope.spawn(move || {
                    let mut random = StdRng::seed_from_u64(number);
                    let mut time = 100;
                    while !stop.load(Ordering::Relaxed) {
                        time += 1;
                        let some = (0..100).map(|_| {
                            let row = key(random.random_range(0..ROWS));
                            if random.random_bool(0.2) {
                                Mutation::delete_at(row, time)
                            } else {
                                Mutation::put(row).set_at("f", "q1", time, "new")
                            }
                        });
                        let some: Vec<Mutation> = some.collect();
                        if block_on(table.timeout(DEADLINE).mutate_many(some)).is_ok() {
                            written.fetch_add(100, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        let scanners: Vec<_> = (0..4_u64)
            .map(|number| {
                let (stop, scans, table, model) = (&stop, &scans, &table, &model);
                scope.spawn(move || {
                    let mut random = StdRng::seed_from_u64(100 + number);
                    let mut slowest = Duration::ZERO;
                    while !stop.load(Ordering::Relaxed) {
                        slowest = slowest.max(scan_once(&table.timeout(DEADLINE), model, ROWS, &mut random));
                        scans.fetch_add(1, Ordering::Relaxed);
                    }
                    slowest
                })
            })
            .collect();
        let troubles = scope.spawn(|| trouble(cluster, &client, &table, ROWS, &stop, 2));
        std::thread::sleep(seconds());
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let slowest = scanners.into_iter().map(|scanner| scanner.join().unwrap()).max().unwrap();
        (troubles.join().unwrap(), slowest)
    });
    let (scans, written) = (scans.load(Ordering::Relaxed), written.load(Ordering::Relaxed));
    let reopened = client.metrics().scanners_reopened;
    println!("  {scans} scans, {written} rows written, {reopened} scanners reopened, slowest batch {slowest:?}, {done:?}");
    assert!(scans > 0 && slowest < DEADLINE + SLACK);
}

/// A scan of a range at the snapshot; how long its slowest batch took.
fn scan_once(table: &Table, model: &[u32], rows: u32, random: &mut StdRng) -> Duration {
    let (low, high) = (random.random_range(0..rows), random.random_range(0..rows));
    let (low, high) = if random.random_bool(0.5) { (0, rows) } else { (low.min(high), low.max(high)) };
    let reversed = random.random_bool(0.4);
    let mut expected: Vec<u32> = model.iter().copied().filter(|n| *n >= low && *n < high).collect();
    let scan = if reversed {
        expected.reverse();
        Scan::range(key(high), key(low)).exclude_start().include_stop().reversed()
    } else {
        Scan::range(key(low), key(high))
    };
    // Small answers: rows come in parts.
    let size = *[300, 2_000, 100_000].choose(random).unwrap();
    let mut scanner = table.scan(scan.time_range(0..11).versions(1).batch_bytes(size).batch_rows(if size == 300 { 500 } else { 2_000 }));
    let (mut seen, mut slowest) = (0, Duration::ZERO);
    loop {
        let began = Instant::now();
        let batch = block_on(scanner.next_batch());
        slowest = slowest.max(began.elapsed());
        let batch = match batch {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            // Long trouble may end it: what came before it was right.
            Err(error) if error.is_deadline() => return slowest,
            Err(error) => panic!("{error}"),
        };
        for row in batch {
            let n = *expected.get(seen).unwrap_or_else(|| panic!("row {:?} behind the last", row.key()));
            assert_eq!(row.key(), key(n).as_bytes(), "after {seen} rows, reversed {reversed}");
            assert_eq!(row.cells().len(), 3);
            for (q, cell) in row.cells().iter().enumerate() {
                assert!(cell.timestamp() == 10 && cell.value().starts_with(format!("{n}-{q}-").as_bytes()), "{cell:?}");
            }
            seen += 1;
        }
    }
    assert_eq!(seen, expected.len(), "rows are missing at the end, reversed {reversed}");
    slowest
}

/// A server that is stopped, not dead: its calls end at their deadlines, and others go on.
pub fn a_stopped_server(cluster: &Cluster) {
    let config = cluster.config().rpc_timeout(Duration::from_secs(2)).operation_timeout(Duration::from_secs(4));
    let client = Client::connect(config).unwrap();
    let table = cluster.fresh_table(&client, "stopped", &["2", "4", "6", "8"]);
    let rows: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    block_on(table.mutate_many(rows.iter().map(|row| Mutation::put(row.clone()).set("f", "q", "v")))).unwrap();
    let meta = block_on(client.table("hbase:meta").unwrap().region_of(b"")).unwrap();
    let region = rows.iter().map(|row| block_on(table.region_of(row.as_bytes())).unwrap());
    let region = region.into_iter().find(|region| region.server().port != meta.server().port).unwrap();
    let server = format!("rs{}", cluster.server_number(region.server().port));
    cluster.script(&["pause", &server]);
    let began = Instant::now();
    let (mut there, mut not) = (0, 0);
    let actions: Vec<Action> = rows.iter().map(|row| Action::Get(Get::new(row.clone()))).collect();
    for (answer, row) in block_on(table.batch(&actions)).into_iter().zip(&rows) {
        match answer {
            Ok(Some(_)) => there += 1,
            Ok(None) => panic!("{row} is gone"),
            Err(error) => {
                assert!(error.is_deadline(), "{error}");
                not += 1;
            }
        }
    }
    assert!(began.elapsed() < Duration::from_secs(4) + SLACK, "{:?}", began.elapsed());
    cluster.script(&["resume", &server]);
    println!("  {there} of 10 rows while {server} was stopped, {not} ended at the deadline");
    assert!(there > 0 && not > 0);
    // Whether it goes on or was taken for dead: all are there again.
    let answers = block_on(table.timeout(Duration::from_secs(60)).batch(&actions));
    assert!(answers.into_iter().all(|answer| answer.unwrap().is_some()));
}
