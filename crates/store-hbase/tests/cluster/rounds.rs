//! Rounds of failures while a process commits: of that process, of the servers, and of ZooKeeper. After each one another process takes the
//! namespace over: nothing that was acknowledged is lost, no commit is there in part, and commits go on within a bound.

use super::harness::Cluster;
use super::owners::{CHILD, last_numbers};
use super::support::{fresh_namespace, open, options, table};
use futures::executor::block_on;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use stoa_store::conformance::SplitMix;
use stoa_store::{FamilyOptions, Store};
use stoa_store_hbase::{HbaseOptions, HbaseStore};

/// How long it may take until commits go on: the servers that died have to be noticed, and their regions opened elsewhere.
const PATIENCE: Duration = Duration::from_secs(240);
/// Commits before and behind a failure.
const COMMITS: usize = 40;
const EVENTS: [&str; 7] = [
    "the process is killed",
    "a region server is killed",
    "the process sleeps while another takes over",
    "the master is killed",
    "ZooKeeper is away for a moment",
    "both region servers are killed",
    "ZooKeeper is away for longer than sessions last",
];

type Acknowledged = BTreeMap<u8, u32>;

struct Node {
    process: Child,
    lines: Receiver<(u8, u32)>,
}

impl Node {
    fn start(cluster: &Cluster, namespace: &str) -> Node {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([CHILD, cluster.script(&["quorum"]).trim(), namespace])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (give, lines) = channel();
        let out = BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // The last line may be cut off: its number is less then.
                let Some((thread, number)) = line.split_once(' ') else { continue };
                let Ok(number) = number.parse() else { continue };
                let _ = give.send((thread.parse().unwrap(), number));
            }
        });
        Node { process, lines }
    }

    /// Waits for some commits; false if the process has ended before.
    fn commits(&self, acknowledged: &mut Acknowledged) -> bool {
        let until = Instant::now() + PATIENCE;
        // What it has said until now is of before.
        self.note(acknowledged);
        for _ in 0..COMMITS {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((thread, number)) => {
                    acknowledged.insert(thread, number);
                }
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => panic!("no commit within {PATIENCE:?}"),
            }
        }
        true
    }

    fn note(&self, acknowledged: &mut Acknowledged) {
        while let Ok((thread, number)) = self.lines.try_recv() {
            acknowledged.insert(thread, number);
        }
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.process.id().to_string()]).status().unwrap().success());
    }

    /// Ends it, if it has not ended, and takes note of all that it said.
    fn end(mut self, acknowledged: &mut Acknowledged) {
        let _ = self.process.kill();
        self.process.wait().unwrap();
        while let Ok((thread, number)) = self.lines.recv_timeout(Duration::from_secs(5)) {
            acknowledged.insert(thread, number);
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

pub fn of_failures(cluster: &Cluster) {
    let (rounds, seed) = (number("HBASE_TEST_ROUNDS", 6), number("HBASE_TEST_SEED", 0));
    let options = options(cluster, &fresh_namespace());
    let mut schema = table(&[FamilyOptions::default()]);
    schema.split_points = vec![b"m".to_vec(), b"z".to_vec()];
    block_on(open(&options).create_table(&schema)).unwrap();
    let mut random = SplitMix(seed);
    let mut acknowledged = Acknowledged::new();
    for round in 0..rounds {
        let began = Instant::now();
        // Each one once, then as it comes.
        let at = if round < EVENTS.len() as u64 { round } else { random.below(EVENTS.len() as u64) };
        let event = EVENTS[at as usize];
        let node = Node::start(cluster, &options.namespace);
        assert!(node.commits(&mut acknowledged), "round {round}: it does not begin");
        let server = format!("rs{}", 1 + random.below(2));
        match at {
            0 => {}
            1 | 3 | 5 => {
                let names = match at {
                    1 => vec![server.as_str()],
                    3 => vec!["master"],
                    _ => vec!["rs1", "rs2"],
                };
                names.iter().for_each(|name| drop(cluster.script(&["kill", name])));
                std::thread::sleep(Duration::from_millis(500 + random.below(2000)));
                names.iter().for_each(|name| drop(cluster.script(&["restart", name])));
            }
            2 => {
                node.signal("-STOP");
                let other = Node::start(cluster, &options.namespace);
                assert!(other.commits(&mut acknowledged), "round {round}: the other one does not take over");
                node.signal("-CONT");
                // It must end by itself: what it acknowledged from now on would be lost.
                let until = Instant::now() + Duration::from_secs(30);
                let mut node = node;
                while node.process.try_wait().unwrap().is_none() {
                    assert!(Instant::now() < until, "round {round}: it does not notice that it was taken over");
                    std::thread::sleep(Duration::from_millis(50));
                }
                let mut of_first = Acknowledged::new();
                node.end(&mut of_first);
                other.end(&mut acknowledged);
                for (thread, number) in of_first {
                    let last = acknowledged.entry(thread).or_insert(number);
                    *last = number.max(*last);
                }
                check(cluster, &options, &acknowledged, round, event, began);
                continue;
            }
            _ => {
                cluster.script(&["pause", "zk"]);
                std::thread::sleep(if at == 4 { Duration::from_secs(3) } else { Duration::from_secs(15) });
                cluster.script(&["resume", "zk"]);
                std::thread::sleep(Duration::from_secs(1));
                cluster.heal();
            }
        }
        if at != 0 && !node.commits(&mut acknowledged) {
            // It was told that the cluster does not answer. Another one must be able to go on.
            cluster.heal();
            drop(opened(&options));
            let other = Node::start(cluster, &options.namespace);
            assert!(other.commits(&mut acknowledged), "round {round}: nobody goes on");
            other.end(&mut acknowledged);
        }
        node.end(&mut acknowledged);
        check(cluster, &options, &acknowledged, round, event, began);
    }
}

/// A master that was started again needs longer than a store waits for one when it is opened.
fn opened(options: &HbaseOptions) -> HbaseStore {
    let until = Instant::now() + PATIENCE;
    loop {
        match block_on(HbaseStore::open(options.clone())) {
            Ok(store) => return store,
            Err(error) => assert!(Instant::now() < until, "the store is not opened: {error}"),
        }
    }
}

fn check(cluster: &Cluster, options: &HbaseOptions, acknowledged: &Acknowledged, round: u64, event: &str, began: Instant) {
    cluster.heal();
    let found = last_numbers(&opened(options));
    for (thread, last) in acknowledged {
        assert!(found[thread] >= *last, "round {round}, {event}: of thread {thread} {last} was acknowledged, {} is there", found[thread]);
    }
    println!(
        "  round {round}, {event}: {} commits in all, {:.0} s",
        found.values().map(|n| n + 1).sum::<u32>(),
        began.elapsed().as_secs_f64()
    );
}
