//! The wire protocol, byte by byte, on a server in this process over the model store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;
use std::time::Duration;
use stoa_engine::Tables;
use stoa_engine::{Database, DatabaseOptions};
use stoa_server::access::{Access, AccessOptions};
use stoa_server::wire::{Listeners, Server};
use tokio::sync::oneshot;

mod wire_client;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire_client::{Client, SYNC, bind, execute, message, parse, query, short};

struct Running {
    address: std::net::SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    done: tokio::task::JoinHandle<()>,
}

async fn start() -> Running {
    let database = Database::open(Tables::in_memory(), DatabaseOptions::default()).await.unwrap();
    let access = Access::open(AccessOptions::default()).unwrap();
    let listeners = Listeners::bind(&["127.0.0.1:0".parse().unwrap()]).await.unwrap();
    let server = Server::new(listeners, database, Arc::new(access)).unwrap();
    let address = server.addresses().unwrap()[0];
    let (stop, stopped) = oneshot::channel();
    let done = tokio::spawn(server.run(async move {
        let _ = stopped.await;
    }));
    Running { address, stop: Some(stop), done }
}

/// Each text of the simple protocol, and what comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simple_queries() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    for (sql, expected) in [
        ("", "I Z:I"),
        (" ; -- nothing", "I Z:I"),
        ("SELECT 1, NULL::int", "T D:1,NULL C:SELECT_1 Z:I"),
        ("SELECT 1; SELECT 2", "T D:1 C:SELECT_1 T D:2 C:SELECT_1 Z:I"),
        ("SELECT 1; SELEC 2", "E:42601 Z:I"),
        ("SELECT 1; SELECT nosuch; SELECT 3", "T D:1 C:SELECT_1 E:42703 Z:I"),
        ("BEGIN; SELECT 1", "C:BEGIN T D:1 C:SELECT_1 Z:T"),
        ("BEGIN", "N:25001 C:BEGIN Z:T"),
        ("SELECT nosuch", "E:42703 Z:E"),
        ("SELECT 1", "E:25P02 Z:E"),
        ("COMMIT", "C:ROLLBACK Z:I"),
        ("ROLLBACK", "N:25P01 C:ROLLBACK Z:I"),
        ("SAVEPOINT a", "E:25P01 Z:I"),
        ("BEGIN; SAVEPOINT a; SELECT 1/0", "C:BEGIN C:SAVEPOINT E:22012 Z:E"),
        ("ROLLBACK TO a; RELEASE a; SELECT 1; COMMIT", "C:ROLLBACK C:RELEASE T D:1 C:SELECT_1 C:COMMIT Z:I"),
        ("SET application_name = 'x'", "C:SET S Z:I"),
        ("SHOW application_name", "T D:x C:SHOW Z:I"),
        ("SET LOCAL work_mem = '1MB'", "N:25P01 C:SET Z:I"),
        ("SHOW work_mem", "T D:4MB C:SHOW Z:I"),
        ("BEGIN; SET work_mem = '1MB'; ROLLBACK; SHOW work_mem", "C:BEGIN C:SET C:ROLLBACK T D:4MB C:SHOW Z:I"),
        ("PREPARE p (int) AS SELECT $1 + 1", "C:PREPARE Z:I"),
        ("EXECUTE p (41)", "T D:42 C:SELECT_1 Z:I"),
        ("EXECUTE p", "E:42601 Z:I"),
        ("DEALLOCATE p; EXECUTE p", "C:DEALLOCATE E:26000 Z:I"),
        ("DECLARE c CURSOR FOR SELECT 1", "E:25P01 Z:I"),
        ("DECLARE c CURSOR FOR SELECT 7; FETCH c", "C:DECLARE_CURSOR T D:7 C:FETCH_1 Z:I"),
        ("FETCH c", "E:34000 Z:I"),
        ("SELECT 1; SAVEPOINT a", "T D:1 C:SELECT_1 E:25P01 Z:I"),
        (
            "BEGIN; DECLARE c SCROLL CURSOR FOR SELECT * FROM generate_series(1, 5) x; FETCH 2 c; FETCH BACKWARD 1 c; FETCH LAST c; \
             FETCH RELATIVE -2 c; MOVE ALL c; FETCH PRIOR c; CLOSE c; COMMIT",
            "C:BEGIN C:DECLARE_CURSOR T D:1 D:2 C:FETCH_2 T D:1 C:FETCH_1 T D:5 C:FETCH_1 T D:3 C:FETCH_1 C:MOVE_2 T D:5 C:FETCH_1 \
             C:CLOSE_CURSOR C:COMMIT Z:I",
        ),
        ("DECLARE h CURSOR WITH HOLD FOR VALUES (1), (2); FETCH h", "C:DECLARE_CURSOR T D:1 C:FETCH_1 Z:I"),
        ("FETCH ALL h; CLOSE h", "T D:2 C:FETCH_1 C:CLOSE_CURSOR Z:I"),
        ("COPY (VALUES (1, 'a'), (2, NULL)) TO STDOUT", "H d:1,a d:2,\\N c C:COPY_2 Z:I"),
        ("COPY (SELECT 'x,\"y' AS q) TO STDOUT (FORMAT csv, HEADER)", "H d:q d:\"x,\"\"y\" c C:COPY_1 Z:I"),
        ("LISTEN ch; NOTIFY ch, 'hello'", "C:LISTEN C:NOTIFY A Z:I"),
        ("PREPARE TRANSACTION 'x'", "N:25P01 C:ROLLBACK Z:I"),
        ("DISCARD ALL", "C:DISCARD_ALL S Z:I"),
    ] {
        client.send(&[&query(sql)]).await;
        assert_eq!(client.answer().await, expected, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn extended_queries() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    // Rows in pieces; the portal goes on.
    let series = "SELECT * FROM generate_series(1, 5)";
    client.send(&[&parse("", series), &bind("", ""), &execute("", 2), &execute("", 2), &execute("", 2), &execute("", 2), SYNC]).await;
    assert_eq!(client.answer().await, "1 2 D:1 D:2 s D:3 D:4 s D:5 C:SELECT_1 C:SELECT_0 Z:I");
    // An error skips to Sync; statements stay, portals of the transaction go.
    client
        .send(&[&parse("a", "SELECT 1/0"), &bind("x", "a"), &execute("x", 0), &parse("b", "SELECT 2"), SYNC, &bind("y", "a"), SYNC])
        .await;
    assert_eq!(client.answer().await, "1 2 E:22012 Z:I");
    assert_eq!(client.answer().await, "2 Z:I");
    client.send(&[&execute("y", 0), SYNC, &bind("", "b"), SYNC, &parse("a", "SELECT 3"), SYNC]).await;
    assert_eq!(client.answer().await, "E:34000 Z:I");
    assert_eq!(client.answer().await, "E:26000 Z:I");
    assert_eq!(client.answer().await, "E:42P05 Z:I");
    // Describe; a statement of the protocol is one of SQL too.
    client.send(&[&parse("d", "SELECT 7 AS n"), &message(b'D', b"Sd\0"), SYNC, &query("EXECUTE d")]).await;
    assert_eq!(client.answer().await, "1 t T Z:I");
    assert_eq!(client.answer().await, "T D:7 C:SELECT_1 Z:I");
    client.send(&[&parse("", "BEGIN"), &message(b'D', b"S\0"), &bind("", ""), &execute("", 0), SYNC]).await;
    assert_eq!(client.answer().await, "1 t n 2 C:BEGIN Z:T");
    client.send(&[&parse("", "SELECT 1; SELECT 2"), SYNC, &parse("", "SELECT 1"), SYNC, &query("ROLLBACK")]).await;
    assert_eq!(client.answer().await, "E:42601 Z:E");
    assert_eq!(client.answer().await, "E:25P02 Z:E");
    assert_eq!(client.answer().await, "C:ROLLBACK Z:I");
    client.send(&[&parse("", ""), &bind("", ""), &execute("", 0), SYNC]).await;
    assert_eq!(client.answer().await, "1 2 I Z:I");
}

/// A transaction begins when its first message arrives, however long the session has waited since the one before: one that binds or describes
/// what was prepared long ago.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_of_statements() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    client.send(&[&query("CREATE TABLE seen (at timestamptz)")]).await;
    assert_eq!(client.answer().await, "C:CREATE_TABLE Z:I");
    client.send(&[&parse("later", "SELECT now() > max(at), statement_timestamp() > max(at) FROM seen"), SYNC]).await;
    assert_eq!(client.answer().await, "1 Z:I");
    for describe in [true, false] {
        client.send(&[&query("INSERT INTO seen VALUES (clock_timestamp())")]).await;
        assert_eq!(client.answer().await, "C:INSERT_0_1 Z:I");
        let described = if describe { message(b'D', b"P\0") } else { Vec::new() };
        client.send(&[&bind("", "later"), &described, &execute("", 0), SYNC]).await;
        assert_eq!(client.answer().await, if describe { "2 T D:t,t C:SELECT_1 Z:I" } else { "2 D:t,t C:SELECT_1 Z:I" });
    }
    for (sql, expected) in [
        ("SELECT now() = statement_timestamp()", "T D:t C:SELECT_1 Z:I"),
        ("SELECT now() = statement_timestamp()", "T D:t C:SELECT_1 Z:I"),
        ("SELECT 1 WHERE statement_timestamp() IS NULL; SELECT now() = statement_timestamp()", "T C:SELECT_0 T D:t C:SELECT_1 Z:I"),
        ("BEGIN; SELECT now() = statement_timestamp()", "C:BEGIN T D:t C:SELECT_1 Z:T"),
        ("SELECT now() < statement_timestamp(), now() = transaction_timestamp()", "T D:t,t C:SELECT_1 Z:T"),
        ("COMMIT", "C:COMMIT Z:I"),
    ] {
        client.send(&[&query(sql)]).await;
        assert_eq!(client.answer().await, expected, "{sql}");
    }
}

/// Portals outlive Sync in a block. What has given its rows gives none when it is run again, also what SHOW says; what gave none, or failed,
/// is not run again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn portals_in_a_block() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    client.send(&[&query("BEGIN"), &parse("", "SHOW transaction_isolation"), &bind("p", ""), &execute("p", 1), SYNC]).await;
    assert_eq!(client.answer().await, "C:BEGIN Z:T");
    assert_eq!(client.answer().await, "1 2 D:read committed s Z:T");
    client.send(&[&execute("p", 1), SYNC, &execute("p", 0), SYNC]).await;
    assert_eq!(client.answer().await, "C:SHOW Z:T");
    assert_eq!(client.answer().await, "C:SHOW Z:T");
    client.send(&[&parse("", "VALUES (1), (2)"), &bind("rows", ""), &execute("rows", 1), SYNC]).await;
    assert_eq!(client.answer().await, "1 2 D:1 s Z:T");
    client.send(&[&parse("", "SET work_mem = '1MB'"), &bind("w", ""), &execute("w", 1), SYNC, &execute("w", 1), SYNC]).await;
    assert_eq!(client.answer().await, "1 2 C:SET Z:T");
    assert_eq!(client.answer().await, "E:55000 Z:E");
    client.send(&[&execute("w", 1), SYNC, &execute("rows", 1), SYNC, &execute("nosuch", 1), SYNC, &query("ROLLBACK")]).await;
    assert_eq!(client.answer().await, "E:25P02 Z:E");
    assert_eq!(client.answer().await, "E:25P02 Z:E");
    assert_eq!(client.answer().await, "E:34000 Z:E");
    assert_eq!(client.answer().await, "C:ROLLBACK Z:I");
    client.send(&[&execute("rows", 1), SYNC]).await;
    assert_eq!(client.answer().await, "E:34000 Z:I");
}

/// When unnamed statements and portals end, and what Parse and Bind refuse already: as PostgreSQL does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_and_portals_that_end() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    let formats = message(b'B', b"\0a\0\0\0\0\0\0\x02\0\x01\0\0");
    let rounds: [(&[&[u8]], &[&str]); 8] = [
        // A simple query takes the unnamed statement away; DEALLOCATE ALL does not.
        (&[&parse("", "SELECT 1"), SYNC, &query("SELECT 2"), &bind("", ""), SYNC], &["1 Z:I", "T D:2 C:SELECT_1 Z:I", "E:26000 Z:I"]),
        (&[&parse("", "DEALLOCATE ALL"), &bind("p", ""), &execute("p", 0), &bind("", ""), SYNC], &["1 2 C:DEALLOCATE_ALL 2 Z:I"]),
        // A portal ends with its transaction, though nothing was executed in it, and with COMMIT without a block.
        (&[&parse("c", "COMMIT"), &bind("p", "c"), SYNC, &execute("p", 0), SYNC], &["1 2 Z:I", "E:34000 Z:I"]),
        (&[&bind("p", "c"), &bind("", "c"), &execute("", 0), &execute("p", 0), SYNC], &["2 2 N:25P01 C:COMMIT E:34000 Z:I"]),
        // A cursor that is not there is missed by the execution, a setting by Parse.
        (&[&parse("", "FETCH nosuch"), &bind("", ""), &execute("", 0), SYNC], &["1 2 E:34000 Z:I"]),
        (&[&parse("", "SHOW nosuch"), SYNC], &["E:42704 Z:I"]),
        // What is wrong with a statement comes before its name, which is taken.
        (&[&parse("c", "SELECT nosuch"), SYNC, &parse("c", "SELECT 1"), SYNC], &["E:42703 Z:I", "E:42P05 Z:I"]),
        (&[&parse("a", "SELECT 1"), &formats, SYNC], &["1 E:08P01 Z:I"]),
    ];
    for (sent, expected) in rounds {
        client.send(sent).await;
        for answer in expected {
            assert_eq!(client.answer().await, *answer);
        }
    }
    // In a failed block an empty statement is not bound.
    client.send(&[&parse("e", ""), SYNC, &query("BEGIN; SELECT 1/0"), &bind("", "e"), SYNC, &query("ROLLBACK")]).await;
    for answer in ["1 Z:I", "C:BEGIN E:22012 Z:E", "E:25P02 Z:E", "C:ROLLBACK Z:I"] {
        assert_eq!(client.answer().await, answer);
    }
}

/// A statement is prepared behind the definition that its table waits for: with the columns that the table has then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_wait_for_definitions() {
    let running = start().await;
    let mut definer = Client::connect(running.address).await;
    let mut reader = Client::connect(running.address).await;
    definer.send(&[&query("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")]).await;
    assert_eq!(definer.answer().await, "C:CREATE_TABLE C:INSERT_0_1 Z:I");
    let described = message(b'D', b"P\0");
    for (ty, pieces, expected) in [
        ("text", vec![parse("", "SELECT a FROM t"), bind("", ""), described, execute("", 0), SYNC.to_vec()], "1 2 T D:1 C:SELECT_1 Z:I"),
        ("bigint", vec![query("PREPARE p AS SELECT a FROM t")], "C:PREPARE Z:I"),
        ("smallint", vec![query("SELECT a FROM t")], "T D:1 C:SELECT_1 Z:I"),
    ] {
        definer.send(&[&query(&format!("BEGIN; ALTER TABLE t ALTER a TYPE {ty} USING a::{ty}"))]).await;
        assert_eq!(definer.answer().await, "C:BEGIN C:ALTER_TABLE Z:T");
        reader.send(&[&pieces.concat()]).await;
        assert!(tokio::time::timeout(Duration::from_millis(200), reader.next()).await.is_err(), "{ty}: it waits");
        definer.send(&[&query("COMMIT")]).await;
        assert_eq!(definer.answer().await, "C:COMMIT Z:I");
        assert_eq!(reader.answer().await, expected, "{ty}");
    }
    // What was told before does not change.
    reader.send(&[&query("EXECUTE p")]).await;
    assert_eq!(reader.answer().await, "E:0A000 Z:I");
    // The wait ends with a cancel request, and with the session's lock timeout.
    definer.send(&[&query("BEGIN; LOCK TABLE t")]).await;
    assert_eq!(definer.answer().await, "C:BEGIN C:LOCK_TABLE Z:T");
    reader.send(&[&query("SET lock_timeout = 50"), &parse("", "SELECT a FROM t"), SYNC]).await;
    assert_eq!(reader.answer().await, "C:SET Z:I");
    assert_eq!(reader.answer().await, "E:55P03 Z:I");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping() {
    let mut running = start().await;
    let mut client = Client::connect(running.address).await;
    // A cancel request with the right secret stops what runs, and nothing else.
    client.send(&[&query("SELECT pg_sleep(30)")]).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut other = TcpStream::connect(running.address).await.unwrap();
    let request = [16_u32, 80_877_102, client.pid, client.secret].map(u32::to_be_bytes).concat();
    other.write_all(&request).await.unwrap();
    assert_eq!(client.answer().await, "T E:57014 Z:I".to_owned());
    client.send(&[&query("SET statement_timeout = 100"), &query("SELECT pg_sleep(30)")]).await;
    assert_eq!(client.answer().await, "C:SET Z:I");
    assert_eq!(client.answer().await, "T E:57014 Z:I");
    // What is no message ends the connection with 08P01.
    for bytes in [&b"Z\0\0\0\x04"[..], b"Q\0\0\0\x03", b"p\0\0\0\x04", b"Q\x7f\xff\xff\xff"] {
        let mut client = Client::connect(running.address).await;
        client.send(&[bytes]).await;
        let (kind, body) = client.next().await.unwrap();
        assert_eq!(short(kind, &body), "E:08P01", "{bytes:?}");
        assert!(client.next().await.is_none());
    }
    // A malformed one is an error of its statement, and the next Sync is answered.
    let mut client = Client::connect(running.address).await;
    for body in [&b"ab"[..], b"SELECT 1\0SELECT 2\0", b""] {
        client.send(&[&message(b'Q', body)]).await;
        assert_eq!(client.answer().await, "E:08P01 Z:I", "{body:?}");
    }
    for (kind, body) in [
        (b'P', &b"a\0SELECT 1\0"[..]),
        (b'B', b"\0\0\xff\xff"),
        (b'B', b"\0p\0\0\0\0\x01\xff\xff\xff\xfe"),
        (b'B', b"\0p\0\0\0\0\x01\x7f\xff\xff\xff"),
        (b'B', b"\0p\0\0\0\0\x01\0\0\0\x05abc"),
        (b'D', b"X\0"),
        (b'D', b"S"),
        (b'C', b"X\0"),
        (b'E', b"\0"),
    ] {
        client.send(&[&parse("p", "SELECT $1::text"), SYNC, &message(kind, body), &execute("", 0), SYNC]).await;
        assert_eq!(client.answer().await, "1 Z:I");
        assert_eq!(client.answer().await, "E:08P01 Z:I", "{kind} {body:?}");
        client.send(&[&message(b'C', b"Sp\0"), SYNC]).await;
        assert_eq!(client.answer().await, "3 Z:I");
    }
    let mut bad = Client::connect(running.address).await;
    bad.send(&[b"Q\0\0\0\x06\xff\0"]).await;
    assert_eq!(bad.answer().await, "E:22021 Z:I");
    // The server stops: idle sessions are told.
    running.stop.take().unwrap().send(()).unwrap();
    let (kind, body) = bad.next().await.unwrap();
    assert_eq!(short(kind, &body), "E:57P01");
    running.done.await.unwrap();
}

/// An error of COPY tells the line, and its text where the line is checked on its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_of_copied_rows_tell_their_line() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    client
        .send(&[&query(
            "CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL, c int CHECK (c > 0), d int DEFAULT 4);
             CREATE TABLE n (id int PRIMARY KEY, up int REFERENCES n)",
        )])
        .await;
    assert_eq!(client.answer().await, "C:CREATE_TABLE C:CREATE_TABLE Z:I");
    for (sql, data, code, context) in [
        ("COPY t (a, b, c) FROM STDIN", "1\tx\t1\n2\t\\N\t1\n", "23502", "COPY t, line 2: \"2\t\\N\t1\""),
        ("COPY t (a, b, c) FROM STDIN", "1\tx\t1\n2\ty\t0\nz\n", "23514", "COPY t, line 2: \"2\ty\t0\""),
        ("COPY t (a, b, c) FROM STDIN", "1\tx\t1\n1\ty\t1\n", "23505", "COPY t, line 2"),
        ("COPY t (a, b, c) FROM STDIN", "1\tx\t1\n1\ty\t1\nz\tx\t1\n", "22P02", "COPY t, line 3, column a: \"z\""),
        ("COPY t (a, b, c) FROM STDIN CSV HEADER", "a,b,c\n1,\"x\ny\",1\n1,z,2\n", "23505", "COPY t, line 4"),
        ("COPY n FROM STDIN", "1\t7\n", "23503", ""),
        // What refers to a later row is looked at when all are there.
        ("COPY n FROM STDIN", &(0..20_000).map(|n| format!("{n}\t{}\n", 19_999 - n)).collect::<String>(), "", ""),
        // A condition sees defaults, and NULL where there are none.
        ("COPY t (a, b) FROM STDIN WHERE d = 4 AND c IS NULL AND a > 1", "1\tx\n2\ty\n", "", ""),
        ("COPY t (a, b) FROM STDIN WHERE a = 3", "3\tx\n2\ty\n", "", ""),
    ] {
        client.send(&[&query(sql)]).await;
        assert_eq!(client.next().await.map(|(kind, _)| kind), Some(b'G'), "{sql}");
        client.send(&[&message(b'd', data.as_bytes()), &message(b'c', b"")]).await;
        let answer = client.until_ready().await;
        let fields = answer.iter().find(|(kind, _)| *kind == b'E').map(|(_, body)| body.clone()).unwrap_or_default();
        let field = |kind: u8| {
            let found = fields.split(|b| *b == 0).find(|f| f.first() == Some(&kind));
            found.map(|f| String::from_utf8_lossy(&f[1..]).into_owned()).unwrap_or_default()
        };
        assert_eq!((field(b'C').as_str(), field(b'W').as_str()), (code, context), "{sql}");
    }
    client.send(&[&query("SELECT a, d FROM t ORDER BY a; SELECT count(*) FROM n")]).await;
    assert_eq!(client.answer().await, "T D:2,4 D:3,4 C:SELECT_2 T D:20000 C:SELECT_1 Z:I");
}

/// Columns that a table need not declare are copied with their types.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn undeclared_columns_are_copied() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    client.send(&[&query("CREATE TABLE t (a int PRIMARY KEY) WITH (dynamic_columns)")]).await;
    assert_eq!(client.answer().await, "C:CREATE_TABLE Z:I");
    for (sql, data, wanted) in [
        ("COPY t (a, b text, \"C\" int) FROM STDIN", "1\tx\t5\n2\t\\N\t6\n", Ok("COPY 2")),
        ("COPY t (a, b text, c int) FROM STDIN", "3\tx\ty\n", Err("22P02")),
        ("COPY t (a, b) FROM STDIN", "", Err("42703")),
        ("COPY t (a int) FROM STDIN", "4\n", Ok("COPY 1")),
        ("COPY t (a text) FROM STDIN", "", Err("42804")),
        ("COPY t (a, b text) FROM STDIN WHERE a > 1", "", Err("0A000")),
    ] {
        client.send(&[&query(sql)]).await;
        let (kind, body) = client.next().await.unwrap();
        let answer = if kind == b'G' {
            client.send(&[&message(b'd', data.as_bytes()), &message(b'c', b"")]).await;
            client.until_ready().await
        } else {
            client.until_ready().await.into_iter().chain([(kind, body)]).collect()
        };
        let text = |wanted: u8| answer.iter().find(|(kind, _)| *kind == wanted).map(|(_, body)| String::from_utf8_lossy(body).into_owned());
        match wanted {
            Ok(tag) => assert_eq!(text(b'C').unwrap_or_default().trim_end_matches('\0'), tag, "{sql}"),
            Err(code) => assert!(text(b'E').unwrap_or_default().contains(&format!("\0C{code}\0")), "{sql}"),
        }
    }
    client.send(&[&query("COPY t (a, \"C\" int, b varchar(5)) TO STDOUT")]).await;
    assert_eq!(client.answer().await, "H d:1,5,x d:2,6,\\N d:4,\\N,\\N c C:COPY_3 Z:I");
}

/// What a new connection sends, and what comes until its end.
async fn raw(address: std::net::SocketAddr, bytes: &[u8], end: bool) -> Vec<u8> {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    if end {
        socket.shutdown().await.unwrap();
    }
    let mut out = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), socket.read_to_end(&mut out)).await;
    // A server that closes before it has read all resets.
    let _ = read.expect("the server closes");
    out
}

fn packet(body: &[u8]) -> Vec<u8> {
    [&u32::try_from(body.len() + 4).unwrap().to_be_bytes()[..], body].concat()
}

/// What is no startup is answered and closed at once, others are served meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn startups_that_are_none() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    let tls = packet(&80_877_103_u32.to_be_bytes());
    let gss = packet(&80_877_104_u32.to_be_bytes());
    let good = packet(b"\0\x03\0\0user\0stoa\0\0");
    let half = &good[..good.len() - 3];
    for (bytes, end, before, code) in [
        (packet(b"\0\x03\0\0"), false, "", "08P01"),
        (packet(b"\0\x03\0\0user\0stoa"), false, "", "08P01"),
        (packet(b"\0\x03\0\0user\0stoa\0\0\0\0\0"), false, "", "08P01"),
        (packet(b"\0\x03\0\0\0"), false, "", "28000"),
        (vec![0; 100], false, "", "08P01"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), false, "", "08P01"),
        (half.to_vec(), true, "", "08P01"),
        (half.to_vec(), false, "", "08P01"),
        (packet(b"\0\x02\0\0user\0stoa\0\0"), false, "", "0A000"),
        ([&tls[..], &good].concat(), false, "N", "08P01"),
        ([&gss[..], &good].concat(), false, "N", "08P01"),
    ] {
        let came = raw(running.address, &bytes, end).await;
        let rest = came.strip_prefix(before.as_bytes()).unwrap();
        assert_eq!(rest.first(), Some(&b'E'), "{bytes:?}: {came:?}");
        assert_eq!(short(b'E', &rest[5..]), format!("E:{code}"), "{bytes:?}");
        client.send(&[&query("SELECT 1")]).await;
        assert_eq!(client.answer().await, "T D:1 C:SELECT_1 Z:I");
    }
    // Nothing that could be told.
    assert!(raw(running.address, &[0, 0], true).await.ends_with(b"\0"));
    assert!(raw(running.address, &[], true).await.is_empty());
    // Each encryption is asked for once.
    let mut socket = TcpStream::connect(running.address).await.unwrap();
    for (request, answer) in [(&tls, &b"N"[..]), (&gss, b"N"), (&tls, b"E")] {
        socket.write_all(request).await.unwrap();
        let mut byte = [0];
        socket.read_exact(&mut byte).await.unwrap();
        assert_eq!(byte, answer);
    }
}

/// The relation and the number of each column that a RowDescription tells of.
fn origins(body: &[u8]) -> Vec<(u32, i16)> {
    let mut out = Vec::new();
    let mut at = 2;
    while at < body.len() {
        at += body[at..].iter().position(|b| *b == 0).unwrap() + 1;
        out.push((u32::from_be_bytes(body[at..at + 4].try_into().unwrap()), i16::from_be_bytes(body[at + 4..at + 6].try_into().unwrap())));
        at += 18;
    }
    out
}

/// As a PostgreSQL 15 tells them: `name.number`, `-` for what is no column.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_tell_where_they_come_from() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    let relations = ["t", "u", "w", "vw", "mv", "sq"];
    client
        .send(&[&query(
            "CREATE TABLE t (id int PRIMARY KEY, name text); CREATE TABLE u (id int PRIMARY KEY, note text);
             CREATE TABLE w (id bigint PRIMARY KEY, x int); CREATE VIEW vw AS SELECT name, id FROM t;
             CREATE MATERIALIZED VIEW mv AS SELECT name, id FROM t; CREATE SEQUENCE sq; INSERT INTO t VALUES (1, 'a')",
        )])
        .await;
    client.until_ready().await;
    let mut oids = Vec::new();
    for relation in relations {
        client.send(&[&query(&format!("SELECT '{relation}'::regclass::oid"))]).await;
        let oid = client.answer().await;
        oids.push((oid.split(' ').find_map(|part| part.strip_prefix("D:")).unwrap().parse::<u32>().unwrap(), relation));
    }
    for (sql, expected) in [
        ("SELECT id, id + 1, name FROM t", "t.1 - t.2"),
        ("SELECT * FROM vw", "vw.1 vw.2"),
        ("SELECT * FROM mv", "mv.1 mv.2"),
        ("SELECT s.* FROM (SELECT id FROM mv) s", "mv.2"),
        ("WITH q AS (SELECT * FROM t), r AS (SELECT name, id + 1 FROM q) SELECT * FROM r", "t.2 -"),
        ("WITH q AS MATERIALIZED (SELECT id FROM t) SELECT a.id, b.id FROM q a, q b", "t.1 t.1"),
        ("WITH q (k) AS (SELECT name FROM vw) SELECT k FROM q", "vw.1"),
        ("WITH q AS (INSERT INTO u VALUES (1, 'n') RETURNING note, id) SELECT * FROM q", "u.2 u.1"),
        ("WITH RECURSIVE q AS (SELECT id FROM t UNION ALL SELECT id + 1 FROM q WHERE id < 3) SELECT * FROM q", "-"),
        ("SELECT l.* FROM t, LATERAL (SELECT t.name, t.id + 1, u.note FROM u) l", "t.2 - u.2"),
        ("SELECT * FROM t JOIN u USING (id)", "t.1 t.2 u.2"),
        ("SELECT id FROM t RIGHT JOIN u USING (id)", "u.1"),
        ("SELECT j.id FROM (t RIGHT JOIN u USING (id)) j", "u.1"),
        ("SELECT id FROM t FULL JOIN u USING (id)", "-"),
        ("SELECT id FROM t JOIN w USING (id)", "w.1"),
        ("SELECT id FROM t LEFT JOIN w USING (id)", "-"),
        ("SELECT * FROM sq", "sq.1 sq.2 sq.3"),
        ("SELECT tableoid, is_called FROM sq", "sq.-6 sq.3"),
        ("SELECT x.tableoid, (tableoid), tableoid::text FROM t x", "t.-6 t.-6 -"),
        ("SELECT tableoid FROM mv", "mv.-6"),
        ("WITH q AS (SELECT tableoid AS k FROM t) SELECT k FROM q", "t.-6"),
        ("SELECT c, (c).id FROM t c", "t.0 t.1"),
        ("SELECT c FROM vw c", "vw.0"),
        ("SELECT s FROM (SELECT * FROM t) s", "-"),
        ("SELECT name COLLATE \"C\", 16384::oid, (SELECT t.id) FROM t", "- - -"),
        ("UPDATE t SET name = 'b' RETURNING id, t, tableoid", "t.1 t.0 t.-6"),
        ("SELECT id FROM t UNION SELECT id FROM u", "-"),
    ] {
        client.send(&[&query(sql)]).await;
        let messages = client.until_ready().await;
        let description = messages.iter().find(|(kind, _)| *kind == b'T');
        let told = |(oid, number): (u32, i16)| match oids.iter().find(|(known, _)| *known == oid) {
            Some((_, name)) => format!("{name}.{number}"),
            None if (oid, number) == (0, 0) => "-".into(),
            None => format!("{oid}.{number}"),
        };
        let shown: Vec<String> = origins(&description.unwrap().1).into_iter().map(told).collect();
        assert_eq!(shown.join(" "), expected, "{sql}");
    }
}

/// What VERBOSE tells comes whatever `client_min_messages` is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn maintenance_tells_what_it_does() {
    let running = start().await;
    let mut client = Client::connect(running.address).await;
    client
        .send(&[&query(
            "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2); CREATE MATERIALIZED VIEW m AS SELECT id FROM t LIMIT 1; \
             SET client_min_messages = error",
        )])
        .await;
    client.until_ready().await;
    let analyzed = "analyzing \"public.t\"; \"t\": scanned 2 rows, containing 2 live rows";
    let vacuumed = "vacuuming \"stoa.public.t\"; finished vacuuming \"stoa.public.t\"";
    for (sql, expected) in [
        ("ANALYZE t", String::new()),
        ("ANALYZE VERBOSE t", analyzed.into()),
        ("ANALYZE (VERBOSE) t (id)", analyzed.into()),
        ("ANALYZE (VERBOSE false) t", String::new()),
        ("ANALYZE VERBOSE m", "analyzing \"public.m\"; \"m\": scanned 1 rows, containing 1 live rows".into()),
        ("VACUUM t", String::new()),
        ("VACUUM VERBOSE t", vacuumed.into()),
        ("VACUUM (VERBOSE, ANALYZE) t", format!("{vacuumed}; {analyzed}")),
        ("VACUUM (FULL, VERBOSE) t", vacuumed.replace("stoa.", "")),
    ] {
        client.send(&[&query(sql)]).await;
        let messages = client.until_ready().await;
        let told = messages.iter().filter(|(kind, _)| *kind == b'N').map(|(_, body)| {
            let fields: Vec<&[u8]> = body.split(|b| *b == 0).collect();
            let field = |letter: &[u8]| String::from_utf8_lossy(fields.iter().find_map(|f| f.strip_prefix(letter)).unwrap()).into_owned();
            assert_eq!((field(b"S"), field(b"C")), ("INFO".into(), "00000".into()), "{sql}");
            field(b"M")
        });
        assert_eq!(told.collect::<Vec<_>>().join("; "), expected, "{sql}");
    }
}
