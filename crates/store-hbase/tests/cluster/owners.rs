//! Who owns a namespace: takeovers, kills, and what the log gives back.

use super::harness::Cluster;
use super::support::{F, T, commit, fresh_namespace, metric, open, options, read, scan, table};
use futures::executor::block_on;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stoa_hbase_client::ClientConfig;
use stoa_store::{Certainty, FamilyOptions, KeyRange, Store, StoreError, TableId, TableSchema};
use stoa_store_hbase::{HbaseOptions, HbaseStore};

/// The first argument of the process that is killed.
pub const CHILD: &str = "child-that-commits";
const THREADS: u8 = 4;

/// Goes on committing in several threads for ever, from what is in the store; prints what was acknowledged. Each commit writes three rows.
pub fn child(quorum: &str, namespace: &str) {
    let store = open(&HbaseOptions::new(ClientConfig::zookeeper(quorum), namespace));
    let last = last_numbers(&store);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, first) = (&store, last.get(&thread).map_or(0, |last| last + 1));
            scope.spawn(move || {
                for number in first.. {
                    if let Err(error) = write(store, thread, number) {
                        eprintln!("  the process that commits ends: {error}");
                        std::process::exit(1);
                    }
                    println!("{thread} {number}");
                }
            });
        }
    });
}

fn write(store: &HbaseStore, thread: u8, number: u32) -> Result<(), StoreError> {
    let value = number.to_be_bytes();
    let rows = |m: &mut stoa_store::Mutations| {
        m.put(T, &[b'a', thread], F, b"", &value);
        m.put(T, &[b'z', thread], F, b"", &value);
        m.put(T, &[&[b'm', thread], &value[..]].concat(), F, b"", &value);
    };
    commit(store, rows).map(|_| ())
}

/// The last number of each thread by what is in the store, where each commit must be whole.
pub fn last_numbers(store: &HbaseStore) -> BTreeMap<u8, u32> {
    let rows = scan(store, read(&store.snapshot()), KeyRange::all()).unwrap().rows;
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    let of = |first: u8| rows.iter().filter(move |(key, _)| key[0] == first).map(move |(key, cells)| (key, number(&cells[0].value)));
    let last: BTreeMap<u8, u32> = of(b'a').map(|(key, n)| (key[1], n)).collect();
    assert_eq!(last, of(b'z').map(|(key, n)| (key[1], n)).collect(), "a commit is there in part");
    for (thread, last) in &last {
        let own: Vec<u32> = of(b'm').filter(|(key, _)| key[1] == *thread).map(|(_, n)| n).collect();
        assert!(own.iter().copied().eq(0..=*last), "of thread {thread} there are {own:?}, the last is {last}");
    }
    last
}

pub fn killed_and_opened_again(cluster: &Cluster) {
    let options = options(cluster, &fresh_namespace());
    block_on(open(&options).create_table(&table(&[FamilyOptions::default()]))).unwrap();
    let mut seen: BTreeMap<u8, u32> = BTreeMap::new();
    for round in 0..3 {
        // The table begins anew, so that each process counts from nothing.
        let store = open(&options);
        block_on(store.drop_table(T)).unwrap();
        block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
        drop(store);
        seen.clear();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([CHILD, cluster.script(&["quorum"]).trim(), &options.namespace])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(2 + round);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut note = |line: String| {
            let (thread, number) = line.split_once(' ').unwrap();
            seen.insert(thread.parse().unwrap(), number.parse().unwrap());
        };
        while Instant::now() < until {
            note(lines.next().unwrap().unwrap());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it had said before it died counts as well; its last line may be cut off.
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        rest.into_iter().filter(|line| line.split_once(' ').is_some_and(|(_, n)| !n.is_empty())).for_each(&mut note);
        let store = open(&options);
        let found = last_numbers(&store);
        assert!(seen.len() == usize::from(THREADS));
        for (thread, acknowledged) in &seen {
            // A number that was cut off is less.
            assert!(found[thread] >= *acknowledged, "thread {thread}: {acknowledged} was acknowledged, {} is there", found[thread]);
        }
        println!("  round {round}: {} commits were acknowledged", seen.values().map(|n| n + 1).sum::<u32>());
        write(&store, 9, 0).unwrap();
    }
}

pub fn a_second_store_takes_over(cluster: &Cluster) {
    let options = options(cluster, &fresh_namespace());
    let first = open(&options);
    block_on(first.create_table(&table(&[FamilyOptions::default()]))).unwrap();
    let taken = AtomicBool::new(false);
    let (second, acknowledged) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (first, taken) = (&first, &taken);
                scope.spawn(move || {
                    let mut last = None;
                    for number in 0u32.. {
                        match write(first, thread, number) {
                            Ok(()) => last = Some(number),
                            Err(error) => {
                                assert!(taken.load(Ordering::SeqCst), "before the takeover: {error}");
                                let known = matches!(error, StoreError::Unavailable(_)) || error.certainty() == Certainty::Unknown;
                                assert!(known, "{error:?}");
                                return last;
                            }
                        }
                    }
                    last
                })
            })
            .collect();
        std::thread::sleep(Duration::from_secs(1));
        taken.store(true, Ordering::SeqCst);
        let second = open(&options);
        (second, writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>())
    });
    let found = last_numbers(&second);
    for (thread, acknowledged) in acknowledged.iter().enumerate() {
        assert!(found.get(&(thread as u8)) >= acknowledged.as_ref(), "thread {thread}: {acknowledged:?} of {found:?}");
    }
    assert!(metric(&second, "epoch") == metric(&first, "epoch") + 1);
    write(&second, 9, 0).unwrap();
    // The first one says at once that it is not the owner, of reads too.
    assert!(matches!(write(&first, 9, 1), Err(StoreError::Unavailable(message)) if message.contains("taken")));
    assert!(matches!(scan(&first, read(&first.snapshot()), KeyRange::all()), Err(StoreError::Unavailable(_))));
    assert!(matches!(block_on(first.drop_table(T)), Err(StoreError::Unavailable(_))));
    assert_eq!(last_numbers(&second)[&9], 0);
    // An idle store finds out by itself.
    let third = open(&options);
    let until = Instant::now() + Duration::from_secs(10);
    while scan(&second, read(&second.snapshot()), KeyRange::all()).is_ok() {
        assert!(Instant::now() < until, "it does not notice");
        std::thread::sleep(Duration::from_millis(50));
    }
    write(&third, 9, 1).unwrap();
}

/// A region that takes nothing does not let the log grow, and what is committed to it is not lost.
pub fn what_hangs_does_not_hold_the_log(cluster: &Cluster) {
    let mut options = options(cluster, &fresh_namespace());
    (options.faults.hanging, options.faults.log_bytes) = (Some(T), Some(200_000));
    let store = open(&options);
    let other = TableId(2);
    block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
    block_on(store.create_table(&TableSchema { id: other, ..table(&[FamilyOptions::default()]) })).unwrap();
    (0..10).for_each(|number| write(&store, 1, number).unwrap());
    let log = cluster.client().table(&format!("{}:log", options.namespace)).unwrap();
    let bytes = || {
        let rows = block_on(log.scan_all(stoa_hbase_client::Scan::all().family("g"))).unwrap();
        rows.iter().flat_map(stoa_hbase_client::Row::cells).map(|cell| cell.value().len()).sum::<usize>()
    };
    for number in 0u32..100 {
        commit(&store, |m| m.put(other, &number.to_be_bytes(), F, b"", &[7; 20_000])).unwrap();
        write(&store, 2, number).unwrap();
    }
    let (most, until) = (metric(&store, "log_bytes") as usize, Instant::now() + Duration::from_secs(60));
    while bytes() > most / 4 {
        assert!(Instant::now() < until, "the log has {} bytes of {most}", bytes());
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(metric(&store, "pending_rows") > 20);
    let last = last_numbers(&store);
    drop(store);
    // From where it was written again, and once more from memory.
    for hanging in [Some(T), None] {
        options.faults.hanging = hanging;
        let store = open(&options);
        assert_eq!(last_numbers(&store), last);
        if hanging.is_none() {
            block_on(store.flush(T)).unwrap();
            assert_eq!(last_numbers(&store), last);
        }
    }
}

pub fn the_log_is_trimmed_and_found(cluster: &Cluster) {
    let mut options = options(cluster, &fresh_namespace());
    let store = open(&options);
    block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
    (0..50).for_each(|number| write(&store, 1, number).unwrap());
    // Applied and trimmed, the log gives nothing back.
    let until = Instant::now() + Duration::from_secs(20);
    let log = cluster.client().table(&format!("{}:log", options.namespace)).unwrap();
    let records = || block_on(log.scan_all(stoa_hbase_client::Scan::all().family("g"))).unwrap().len();
    while metric(&store, "pending_rows") > 0 || records() > 0 {
        assert!(
            Instant::now() < until,
            "{} rows are not applied, {} rows of the log have records",
            metric(&store, "pending_rows"),
            records()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(store);
    // What is committed and not applied is found by the next store, which reads it from memory, and by the one after it.
    options.faults.apply_after = Duration::from_secs(3600);
    for more in 0..2 {
        let store = open(&options);
        assert_eq!(last_numbers(&store), BTreeMap::from([(1, 49 + more)]));
        write(&store, 1, 50 + more).unwrap();
        commit(&store, |m| m.delete_row(T, b"m")).unwrap();
        assert!(metric(&store, "pending_rows") > 0 && records() > 0);
    }
    // A table that is made anew has nothing of what is in the log of the one before it.
    let store = open(&options);
    write(&store, 2, 0).unwrap();
    block_on(store.drop_table(T)).unwrap();
    block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
    assert_eq!(last_numbers(&store), BTreeMap::new());
    drop(store);
    options.faults.apply_after = Duration::ZERO;
    let store = open(&options);
    assert_eq!(last_numbers(&store), BTreeMap::new());
    block_on(store.flush(T)).unwrap();
    assert_eq!(last_numbers(&store), BTreeMap::new());
}
