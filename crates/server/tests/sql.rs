//! The SQL tests of `sql-tests/`: one behaviour a file, over the simple and the extended protocol, on each store.
//!
//! A file is a list of records, separated by empty lines; `#` starts a comment line.
//!
//! ```text
//! statement ok                  must succeed
//! statement count N             must succeed, and its tag must end in N
//! statement error SQLSTATE      must fail; below `----` the message, DETAIL and HINT
//! query                         must give the rows below `----`: columns parted by tabs, NULL, '' as (empty)
//! explain                       the plan of the query, below `----`
//! session NAME                  what follows runs on this connection; the first is `main`
//! session NAME in DATABASE      the same, and it is one to another database
//! ```
//!
//! `sql-tests/neutral` holds what PostgreSQL answers as well: with `STOA_ORACLE="host=… port=… user=… dbname=…"` it is asked too (a
//! server that asks for no password). `STOA_UPDATE_SQL_TESTS=1` writes what Stoa answers into the files; read the difference.
//! `STOA_SQL_FILES=PART` takes only files in whose names that stands.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stoa_engine::{Database, DatabaseOptions, Tables};
use stoa_server::access::{Access, AccessOptions};
use stoa_server::wire::{Listeners, Server};
use stoa_store::Store;
use stoa_store::model::ModelStore;
use stoa_store_lsm::{LsmOptions, LsmStore};

mod wire_client;

use wire_client::{Client, SYNC, execute, message, query};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Protocol {
    Simple,
    Extended,
}

struct Record {
    /// Of the directive, from 1.
    line: usize,
    directive: String,
    sql: String,
    /// The lines below `----`.
    expected: Option<Vec<String>>,
}

/// Reads a file: records, and between them comments and empty lines as they stand.
fn read(text: &str) -> Vec<Result<Record, String>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if lines[at].trim().is_empty() || lines[at].starts_with('#') {
            out.push(Err(lines[at].to_owned()));
            at += 1;
            continue;
        }
        let line = at + 1;
        let directive = lines[at].trim().to_owned();
        at += 1;
        let mut sql = Vec::new();
        let mut expected = None;
        while at < lines.len() && !lines[at].trim().is_empty() && lines[at] != "----" {
            sql.push(lines[at]);
            at += 1;
        }
        if at < lines.len() && lines[at] == "----" {
            at += 1;
            let from = at;
            while at < lines.len() && !lines[at].is_empty() {
                at += 1;
            }
            expected = Some(lines[from..at].iter().map(|l| (*l).to_owned()).collect());
        }
        out.push(Ok(Record { line, directive, sql: sql.join("\n"), expected }));
    }
    out
}

#[derive(Debug, Default)]
struct Answer {
    rows: Vec<String>,
    tag: String,
    /// SQLSTATE and the lines that a person is shown.
    error: Option<(String, Vec<String>)>,
}

async fn ask(client: &mut Client, sql: &str, protocol: Protocol) -> Answer {
    match protocol {
        Protocol::Simple => client.send(&[&query(sql)]).await,
        Protocol::Extended => {
            let parse = message(b'P', format!("\0{sql}\0\0\0").as_bytes());
            let bind = message(b'B', b"\0\0\0\0\0\0\0\0");
            client.send(&[&parse, &bind, &execute("", 0), SYNC]).await;
        }
    }
    let mut answer = Answer::default();
    for (kind, body) in client.until_ready().await {
        match kind {
            b'D' => answer.rows.push(row(&body)),
            b'C' => answer.tag = String::from_utf8_lossy(&body[..body.len() - 1]).into_owned(),
            b'E' => answer.error = Some(error(&body)),
            _ => {}
        }
    }
    answer
}

fn row(body: &[u8]) -> String {
    let mut at = 2;
    let mut values = Vec::new();
    while at < body.len() {
        let length = i32::from_be_bytes(body[at..at + 4].try_into().unwrap());
        at += 4;
        let Ok(length) = usize::try_from(length) else {
            values.push("NULL".to_owned());
            continue;
        };
        let text = String::from_utf8_lossy(&body[at..at + length]);
        at += length;
        values.push(if text.is_empty() {
            "(empty)".to_owned()
        } else {
            text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
        });
    }
    values.join("\t")
}

fn error(body: &[u8]) -> (String, Vec<String>) {
    let field =
        |kind: u8| body.split(|b| *b == 0).find(|f| f.first() == Some(&kind)).map(|f| String::from_utf8_lossy(&f[1..]).into_owned());
    let mut lines = vec![field(b'M').unwrap_or_default()];
    lines.extend(field(b'D').map(|d| format!("DETAIL: {d}")));
    lines.extend(field(b'H').map(|h| format!("HINT: {h}")));
    let lines = lines.iter().flat_map(|l| l.split('\n')).map(str::to_owned).collect();
    (field(b'C').unwrap_or_default(), lines)
}

/// What a record came to: its directive and the lines below `----`, as they would be written.
fn outcome(record: &Record, answer: &Answer) -> (String, Option<Vec<String>>) {
    let verb = record.directive.split(' ').next().unwrap_or_default();
    if let Some((state, lines)) = &answer.error {
        return (format!("statement error {state}"), Some(lines.clone()));
    }
    match verb {
        "query" | "explain" => (record.directive.clone(), Some(answer.rows.clone())),
        _ if record.directive.starts_with("statement count") => {
            (format!("statement count {}", answer.tag.rsplit(' ').next().unwrap_or_default()), None)
        }
        _ => ("statement ok".to_owned(), None),
    }
}

/// Runs a file; gives what differs and the file as it would be written anew. PostgreSQL is asked for SQLSTATEs, not for our texts.
async fn run(text: &str, address: SocketAddr, who: (&str, &str), protocol: Protocol, oracle: bool) -> (Vec<String>, String) {
    let mut sessions: BTreeMap<String, Client> = BTreeMap::new();
    let (mut current, mut database) = ("main".to_owned(), who.1.to_owned());
    let (mut differ, mut written) = (Vec::new(), String::new());
    for piece in read(text) {
        let record = match piece {
            Ok(record) => record,
            Err(line) => {
                writeln!(written, "{line}").unwrap();
                continue;
            }
        };
        if let Some(name) = record.directive.strip_prefix("session ") {
            let (name, of) = name.split_once(" in ").unwrap_or((name, who.1));
            (current, database) = (name.to_owned(), of.to_owned());
            writeln!(written, "{}", record.directive).unwrap();
            continue;
        }
        if !sessions.contains_key(&current) {
            let mut client = Client::connect_as(address, who.0, &database).await;
            if oracle && database == who.1 {
                ask(&mut client, "SET search_path = stoa_sql_test", Protocol::Simple).await;
            }
            ask(&mut client, "SET TIME ZONE 'UTC'", Protocol::Simple).await;
            sessions.insert(current.clone(), client);
        }
        let client = sessions.get_mut(&current).unwrap();
        let sql = if record.directive == "explain" { format!("EXPLAIN (COSTS OFF) {}", record.sql) } else { record.sql.clone() };
        let answer = ask(client, &sql, protocol).await;
        let (directive, lines) = outcome(&record, &answer);
        let same_lines = lines == record.expected || (oracle && directive.starts_with("statement error"));
        if directive != record.directive || !same_lines {
            let wanted = record.expected.clone().unwrap_or_default().join("\n    ");
            let found = lines.clone().unwrap_or_default().join("\n    ");
            differ.push(format!(
                "line {}: {}\n  wanted {}\n    {wanted}\n  found {directive}\n    {found}",
                record.line, record.sql, record.directive
            ));
        }
        writeln!(written, "{directive}\n{}", record.sql).unwrap();
        if let Some(lines) = lines {
            writeln!(written, "----").unwrap();
            lines.iter().for_each(|l| writeln!(written, "{l}").unwrap());
        }
    }
    (differ, written)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "slt")).collect();
    out.sort();
    out
}

/// Runs a file on a server of its own in this process.
async fn run_here(text: &str, store: Arc<dyn Store>, protocol: Protocol) -> (Vec<String>, String) {
    let database = Database::open(Tables::new(store), DatabaseOptions::default()).await.unwrap();
    let access = Access::open(AccessOptions::default()).unwrap();
    let listeners = Listeners::bind(&["127.0.0.1:0".parse().unwrap()]).await.unwrap();
    let server = Server::new(listeners, database, Arc::new(access)).unwrap();
    let address = server.addresses().unwrap()[0];
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let done = tokio::spawn(server.run(async move {
        let _ = stopped.await;
    }));
    let out = run(text, address, ("stoa", "stoa"), protocol, false).await;
    let _ = stop.send(());
    let _ = done.await;
    out
}

/// Runs a file on the PostgreSQL of this DSN; what differs names its version.
async fn run_there(text: &str, dsn: &str) -> Vec<String> {
    let part = |name: &str| dsn.split_whitespace().find_map(|p| p.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default().to_owned();
    let address: SocketAddr =
        format!("{}:{}", part("host").replace("localhost", "127.0.0.1"), part("port")).parse().expect("STOA_ORACLE names host and port");
    let (user, database) = (part("user"), part("dbname"));
    let mut client = Client::connect_as(address, &user, &database).await;
    ask(&mut client, "DROP SCHEMA IF EXISTS stoa_sql_test CASCADE", Protocol::Simple).await;
    ask(&mut client, "CREATE SCHEMA stoa_sql_test", Protocol::Simple).await;
    let version = ask(&mut client, "SHOW server_version", Protocol::Simple).await.rows.join(" ");
    let (differ, _) = run(text, address, (&user, &database), Protocol::Simple, true).await;
    differ.into_iter().map(|d| format!("on PostgreSQL {version}: {d}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_say_what_happens() {
    // Asked while the test runs: what was compiled may serve another checkout as well.
    let root = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../sql-tests");
    let update = std::env::var("STOA_UPDATE_SQL_TESTS").is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
    let oracle = std::env::var("STOA_ORACLE").ok().filter(|dsn| !dsn.is_empty());
    let part = std::env::var("STOA_SQL_FILES").unwrap_or_default();
    let (mut complaints, mut count, mut taken) = (Vec::new(), 0, 0);
    for folder in ["neutral", "stoa"] {
        for path in files(&root.join(folder)) {
            count += 1;
            if !path.file_name().unwrap().to_string_lossy().contains(&part) {
                continue;
            }
            taken += 1;
            let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            let mut text = std::fs::read_to_string(&path).unwrap();
            if update {
                text = run_here(&text, Arc::new(ModelStore::new()), Protocol::Simple).await.1;
                std::fs::write(&path, &text).unwrap();
            }
            for protocol in [Protocol::Simple, Protocol::Extended] {
                let (differ, _) = run_here(&text, Arc::new(ModelStore::new()), protocol).await;
                complaints.extend(differ.into_iter().map(|d| format!("{name} on the model, {protocol:?}: {d}")));
                let directory = std::env::temp_dir().join(format!("stoa-sql-{}-{count}-{protocol:?}", std::process::id()));
                let _ = std::fs::remove_dir_all(&directory);
                let store = LsmStore::open(&directory, LsmOptions::default()).unwrap();
                let (differ, _) = run_here(&text, Arc::new(store), protocol).await;
                complaints.extend(differ.into_iter().map(|d| format!("{name} on the LSM store, {protocol:?}: {d}")));
                let _ = std::fs::remove_dir_all(&directory);
            }
            if let Some(dsn) = oracle.as_ref().filter(|_| folder == "neutral") {
                complaints.extend(run_there(&text, dsn).await.into_iter().map(|d| format!("{name} {d}")));
            }
        }
    }
    assert!(count > 10, "the files were not found");
    assert!(taken > 0, "no file has {part:?} in its name");
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn a_file_is_read_as_it_is_written() {
    let text = "# A comment.\n\nstatement error 42601\nSELEC 1\n----\nsyntax error\n\nquery\nSELECT 1,\n       2\n----\n1\t2\n";
    let records: Vec<Record> = read(text).into_iter().filter_map(Result::ok).collect();
    assert_eq!((records[0].line, records[0].sql.as_str()), (3, "SELEC 1"));
    assert_eq!(records[0].expected.as_deref(), Some(&["syntax error".to_owned()][..]));
    assert_eq!((records[1].sql.as_str(), records[1].expected.as_deref().unwrap().len()), ("SELECT 1,\n       2", 1));
    let failed = Answer { error: Some(("22012".into(), vec!["division by zero".into()])), ..Answer::default() };
    assert_eq!(outcome(&records[1], &failed), ("statement error 22012".into(), Some(vec!["division by zero".into()])));
}
