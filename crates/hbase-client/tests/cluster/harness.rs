//! The cluster of the tests, by its script; and what tests begin with.

use futures::executor::block_on;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use stoa_hbase_client::{Client, ClientConfig, FamilyDescriptor, Table, TableDescriptor};

/// Its name, and what it does.
pub type Test = (&'static str, fn(&Cluster));

/// Runs those tests whose names hold one of `names`, or all if there is none, on a cluster with so many region servers; left out with a
/// line where that cannot be started. Ends the process with 1 if one failed.
pub fn run(servers: usize, tests: &[Test], names: &[String]) {
    let names: Vec<&String> = names.iter().filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |test: &&Test| names.is_empty() || names.iter().any(|name| test.0.contains(name.as_str()));
    let Some(cluster) = Cluster::start(servers) else {
        println!("tests on a cluster are left out: java 17, javac and mvn are needed, and the jars that mvn fetches");
        return;
    };
    let mut failed = Vec::new();
    for (name, test) in tests.iter().filter(wanted) {
        let began = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| test(&cluster)));
        println!("{name}: {} in {:.1} s", if ended.is_ok() { "ok" } else { "FAILED" }, began.elapsed().as_secs_f64());
        if ended.is_err() {
            failed.push(*name);
        }
        cluster.heal();
    }
    drop(cluster);
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
        std::process::exit(1);
    }
}

pub struct Cluster {
    folder: PathBuf,
    quorum: String,
    was_up: bool,
    servers: usize,
}

impl Cluster {
    /// With so many region servers; `None` where it cannot be started.
    pub fn start(servers: usize) -> Option<Cluster> {
        let there = |program: &str| Command::new(program).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
        if !["java", "javac", "mvn"].into_iter().all(there) {
            return None;
        }
        let folder = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../hbase-client/tests/cluster");
        let mut cluster = Cluster { folder, quorum: String::new(), was_up: false, servers };
        if !cluster.command(&["classpath"]).stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
            return None;
        }
        cluster.was_up = cluster.script(&["status"]).lines().any(|line| line.starts_with("master up"));
        if !cluster.was_up && !keeps() {
            cluster.script(&["wipe"]);
        }
        let count = servers.to_string();
        let words: &[&str] = if cluster.was_up { &["quorum"] } else { &["start", &count] };
        cluster.quorum = cluster.script(words).lines().last().unwrap().to_owned();
        Some(cluster)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.folder.join("cluster"));
        command.args(args).env("HBASE_TEST_EXTRA", self.folder.join("extra.xml"));
        command
    }

    /// Runs the script; what it prints.
    pub fn script(&self, args: &[&str]) -> String {
        let output = self.command(args).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success() || args[0] == "status", "cluster {args:?} failed");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a Java class of `tests/cluster`; what it prints.
    pub fn java(&self, class: &str, args: &[&str]) -> String {
        let classes = std::env::temp_dir().join("stoa-hbase-client-classes");
        std::fs::create_dir_all(&classes).unwrap();
        let class_path = self.script(&["classpath"]);
        let source = self.folder.join(format!("{class}.java"));
        let compiled = Command::new("javac").arg("-d").arg(&classes).arg("-cp").arg(class_path.trim()).arg(source).status().unwrap();
        assert!(compiled.success(), "{class} does not compile");
        let mut all = vec!["run", class];
        all.extend(args);
        let output = self.command(&all).env("HBASE_TEST_CLASSPATH", &classes).stderr(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{class} {args:?} failed: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn config(&self) -> ClientConfig {
        ClientConfig::zookeeper(&self.quorum)
    }

    pub fn client(&self) -> Client {
        Client::connect(self.config()).unwrap()
    }

    /// The number of a region server by its port.
    pub fn server_number(&self, port: u16) -> u16 {
        let zookeeper: u16 = self.quorum.rsplit(':').next().unwrap().parse().unwrap();
        port - (zookeeper + 6)
    }

    pub fn master_port(&self) -> u16 {
        let zookeeper: u16 = self.quorum.rsplit(':').next().unwrap().parse().unwrap();
        zookeeper + 6
    }

    /// Starts again what a test has killed.
    pub fn heal(&self) {
        ["zk", "nn", "dn", "master"].into_iter().for_each(|name| drop(self.script(&["restart", name])));
        for number in 1..=self.servers {
            self.script(&["restart", &format!("rs{number}")]);
        }
    }

    /// An empty table with the families `f` (many versions) and `g`, parted at these keys.
    pub fn fresh_table(&self, client: &Client, name: &str, splits: &[&str]) -> Table {
        let table = client.table(name).unwrap();
        let admin = client.admin().timeout(Duration::from_secs(120));
        block_on(async {
            if admin.table_exists(table.name()).await.unwrap() {
                admin.drop_table(table.name()).await.unwrap();
            }
            let many = FamilyDescriptor::new("f").versions(1_000).keep_deleted_cells("TRUE");
            let descriptor = TableDescriptor::new(table.name().clone()).family(many).family(FamilyDescriptor::new("g"));
            let splits: Vec<_> = splits.iter().map(|key| bytes::Bytes::copy_from_slice(key.as_bytes())).collect();
            admin.create_table(&descriptor, &splits).await.unwrap();
        });
        table
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !self.was_up {
            self.script(&[if keeps() { "stop" } else { "wipe" }]);
        }
    }
}

/// Whether the cluster's data is somebody's, who names the place.
fn keeps() -> bool {
    std::env::var_os("HBASE_TEST_DIR").is_some()
}

/// How long a test with failures lasts.
pub fn seconds() -> Duration {
    Duration::from_secs(std::env::var("HBASE_TEST_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(40))
}
