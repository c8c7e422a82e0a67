//! A region server of the tests, that answers what it is told to: hostile answers, and none.
//!
//! It speaks the protocol on a port of its own, is registry, hbase:meta and region server in one, and writes down what it was asked.

use crate::client::{Client, Table};
use crate::config::ClientConfig;
use crate::error::Error;
use crate::get::Get;
use crate::messages::client::{GetRequest, GetResponse, MultiRequest, Result as ResultMessage, ScanRequest, ScanResponse};
use crate::messages::region::{RegionInfo, RegionLocation, ServerName, TableName};
use crate::messages::registry::GetMetaRegionLocationsResponse;
use crate::messages::rpc::{ExceptionResponse, RequestHeader};
use crate::multi::Action;
use crate::mutation::{CheckAndMutate, Condition, Mutation};
use crate::scanner::Scan;
use crate::wire::cell::write_cell;
use crate::wire::frame::tests::answer;
use bytes::Bytes;
use futures::executor::block_on;
use parking_lot::Mutex;
use prost::Message;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What the server does with a call.
enum Reply {
    Message(Vec<u8>, Vec<u8>),
    Exception(ExceptionResponse),
    /// These bytes as they are.
    Raw(Vec<u8>),
    Nothing,
    Close,
}

fn message(message: &impl Message) -> Reply {
    Reply::Message(message.encode_to_vec(), Vec::new())
}

type Handler = dyn Fn(&str, &Bytes) -> Reply + Send + Sync;

struct Mock {
    port: u16,
    /// Methods that were called, those of hbase:meta as `meta`.
    calls: Arc<Mutex<Vec<String>>>,
}

impl Mock {
    /// `regions` are those of every table: from a key to before another.
    fn start(regions: &'static [(&'static str, &'static str)], handler: impl Fn(&str, &Bytes) -> Reply + Send + Sync + 'static) -> Mock {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (calls, handler): (Arc<Mutex<Vec<String>>>, Arc<Handler>) = (Arc::default(), Arc::new(handler));
        let log = Arc::clone(&calls);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, handler) = (Arc::clone(&log), Arc::clone(&handler));
                std::thread::spawn(move || serve(stream.unwrap(), port, regions, &log, &*handler));
            }
        });
        Mock { port, calls }
    }

    fn table(&self, change: impl Fn(ClientConfig) -> ClientConfig) -> Table {
        let config = ClientConfig::rpc([format!("127.0.0.1:{}", self.port)]).rpc_timeout(Duration::from_millis(300));
        let config = config.operation_timeout(Duration::from_millis(900)).threads(1);
        Client::connect(change(config)).unwrap().table("t").unwrap()
    }

    fn count(&self, method: &str) -> usize {
        self.calls.lock().iter().filter(|call| *call == method).count()
    }
}

/// Serves a connection until it fails.
fn serve(mut stream: TcpStream, port: u16, regions: &[(&str, &str)], log: &Mutex<Vec<String>>, handler: &Handler) -> Option<()> {
    let mut start = [0; 10];
    stream.read_exact(&mut start).ok()?;
    assert_eq!(&start[..6], b"HBas\0P");
    let mut header = vec![0; u32::from_be_bytes(start[6..].try_into().unwrap()) as usize];
    stream.read_exact(&mut header).ok()?;
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length).ok()?;
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        stream.read_exact(&mut frame).ok()?;
        let mut frame = Bytes::from(frame);
        let length = prost::decode_length_delimiter(&mut frame).unwrap();
        let header = RequestHeader::decode(frame.split_to(length)).unwrap();
        let length = prost::decode_length_delimiter(&mut frame).unwrap();
        let param = frame.split_to(length);
        let method = header.method_name.unwrap();
        let id = header.call_id.unwrap();
        let asks_meta = method == "Scan"
            && ScanRequest::decode(param.clone()).unwrap().region.is_some_and(|region| region.value.starts_with(b"hbase:meta"));
        log.lock().push(if asks_meta { "meta".to_owned() } else { method.clone() });
        let reply = match &*method {
            "GetMetaRegionLocations" => message(&GetMetaRegionLocationsResponse { meta_locations: vec![location(port)] }),
            _ if asks_meta => meta_rows(&param, port, regions),
            _ => handler(&method, &param),
        };
        let frame = match reply {
            Reply::Message(message, cells) => answer(id, None, Some(&message), &cells),
            Reply::Exception(exception) => answer(id, Some(exception), None, b""),
            Reply::Raw(bytes) => {
                stream.write_all(&bytes).ok()?;
                continue;
            }
            Reply::Nothing => continue,
            Reply::Close => return None,
        };
        stream.write_all(&(frame.len() as u32).to_be_bytes()).ok()?;
        stream.write_all(&frame).ok()?;
    }
}

fn location(port: u16) -> RegionLocation {
    let server = ServerName { host_name: "127.0.0.1".to_owned(), port: Some(u32::from(port)), start_code: Some(1) };
    RegionLocation { server_name: Some(server), ..RegionLocation::default() }
}

/// The row of hbase:meta for a key that is looked up: `t,key,:`.
fn meta_rows(param: &Bytes, port: u16, regions: &[(&str, &str)]) -> Reply {
    let request = ScanRequest::decode(param.clone()).unwrap();
    let start = request.scan.unwrap().start_row.unwrap();
    let key = start.strip_prefix(b"t,").and_then(|rest| rest.strip_suffix(b",:")).unwrap_or(b"~");
    let Some((start, end)) = regions.iter().rev().find(|(start, _)| start.as_bytes() <= key) else {
        return message(&ScanResponse { more_results: Some(false), ..ScanResponse::default() });
    };
    let table_name = TableName { namespace: Bytes::from_static(b"default"), qualifier: Bytes::from_static(b"t") };
    let keys = |key: &str| Some(Bytes::copy_from_slice(key.as_bytes()));
    let info = RegionInfo { region_id: 1, table_name, start_key: keys(start), end_key: keys(end), ..RegionInfo::default() };
    let (row, mut cells) = (format!("t,{start},1.abc."), Vec::new());
    let info = [b"PBUF".to_vec(), info.encode_to_vec()].concat();
    write_cell(&mut cells, row.as_bytes(), b"info", b"regioninfo", 1, 4, &info).unwrap();
    write_cell(&mut cells, row.as_bytes(), b"info", b"server", 1, 4, format!("127.0.0.1:{port}").as_bytes()).unwrap();
    let response = ScanResponse { cells_per_result: vec![2], more_results: Some(false), ..ScanResponse::default() };
    Reply::Message(response.encode_to_vec(), cells)
}

const ONE: &[(&str, &str)] = &[("", "")];

fn cells(rows: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        write_cell(&mut out, row.as_bytes(), b"f", b"q", 1, 4, b"value").unwrap();
    }
    out
}

fn get_reply(param: &Bytes) -> Reply {
    let row = GetRequest::decode(param.clone()).unwrap().get.row;
    let result = ResultMessage { associated_cell_count: Some(1), ..ResultMessage::default() };
    let row = String::from_utf8(row.to_vec()).unwrap();
    Reply::Message(GetResponse { result: Some(result) }.encode_to_vec(), cells(&[&row]))
}

fn scan_reply(rows: &[&str], partial: bool, more_here: bool) -> Reply {
    let response = ScanResponse {
        cells_per_result: vec![1; rows.len()],
        partial_flag_per_result: vec![partial; rows.len()],
        scanner_id: Some(77),
        more_results: Some(true),
        more_results_in_region: Some(more_here),
        ttl: Some(60_000),
        heartbeat_message: Some(rows.is_empty()),
        results: Vec::new(),
    };
    Reply::Message(response.encode_to_vec(), cells(rows))
}

#[test]
fn a_get_is_answered_and_one_lookup_serves_all() {
    let mock = Mock::start(ONE, |_, param| {
        std::thread::sleep(Duration::from_millis(1));
        get_reply(param)
    });
    let table = mock.table(|config| config.operation_timeout(Duration::from_secs(30)).rpc_timeout(Duration::from_secs(20)));
    let gets: Vec<Get> = (0..50).map(|_| Get::new("same")).collect();
    let all = block_on(futures::future::join_all(gets.iter().map(|get| table.get(get))));
    assert!(all.into_iter().all(|row| row.unwrap().unwrap().value(b"f", b"q") == Some(&b"value"[..])));
    assert_eq!((mock.count("meta"), mock.count("Get")), (1, 50));
}

#[test]
fn changed_answers_never_panic_and_always_end() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name().is_some_and(|name| name.starts_with("hbase-client")) {
            PANICS.fetch_add(1, Ordering::Relaxed);
        }
        before(info);
    }));
    let random = Mutex::new(StdRng::seed_from_u64(3));
    let mock = Mock::start(ONE, move |method, param| {
        let (body, mut cells) = match method {
            "Get" => match get_reply(param) {
                Reply::Message(message, cells) => (message, cells),
                _ => unreachable!(),
            },
            "Scan" => match scan_reply(&["a", "b"], false, true) {
                Reply::Message(message, cells) => (message, cells),
                _ => unreachable!(),
            },
            _ => {
                let actions: usize = MultiRequest::decode(param.clone()).unwrap().region_action.iter().map(|r| r.action.len()).sum();
                ([10, 2, 10, 0].repeat(actions), cells(&["a"]))
            }
        };
        let mut random = random.lock();
        let mut frame = body;
        match random.random_range(0..4) {
            0 => frame.truncate(random.random_range(0..=frame.len())),
            1 => cells.truncate(random.random_range(0..=cells.len())),
            part => {
                let bytes = if part == 2 { &mut frame } else { &mut cells };
                for _ in 0..random.random_range(1..5) {
                    if !bytes.is_empty() {
                        let at = random.random_range(0..bytes.len());
                        bytes[at] = random.random();
                    }
                }
            }
        }
        if random.random_bool(0.1) { Reply::Raw((0..40).map(|_| random.random()).collect()) } else { Reply::Message(frame, cells) }
    });
    let table = mock.table(|config| config.rpc_timeout(Duration::from_millis(60)).operation_timeout(Duration::from_millis(150)));
    for _ in 0..60 {
        let began = Instant::now();
        let _ = block_on(table.get(&Get::new("a")));
        let _ = block_on(table.batch(&[Action::Get(Get::new("a")), Action::Mutate(Mutation::put("b").set("f", "q", "v"))]));
        let mut scanner = table.scan(Scan::all().limit(6));
        while let Ok(Some(_)) = block_on(scanner.next_batch()) {}
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
}

#[test]
fn an_answer_of_gigabytes_is_refused_unread() {
    let mock = Mock::start(ONE, |_, _| {
        let mut bytes = 3_000_000_000_u32.to_be_bytes().to_vec();
        // The second call of its connection: the first was one of hbase:meta.
        bytes.extend_from_slice(&[2, 8, 2]);
        bytes.extend_from_slice(&vec![0; 1 << 20]);
        Reply::Raw(bytes)
    });
    let table = mock.table(|config| config.operation_timeout(Duration::from_secs(20)).rpc_timeout(Duration::from_secs(10)));
    let began = Instant::now();
    let refused = block_on(table.get(&Get::new("a"))).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { size: 3_000_000_000, .. }), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_scanner_that_never_ends_is_ended() {
    let run = |handler: fn(&str, &Bytes) -> Reply, seconds| {
        let mock = Mock::start(ONE, handler);
        let table = mock.table(|config| {
            config.largest_row(10_000).operation_timeout(Duration::from_secs(seconds)).rpc_timeout(Duration::from_secs(20))
        });
        let mut scanner = table.scan(Scan::all());
        let mut rows = 0;
        loop {
            match block_on(scanner.next_batch()) {
                Ok(Some(batch)) => rows += batch.len(),
                Ok(None) => return (rows, None),
                Err(error) => return (rows, Some(error)),
            }
        }
    };
    // Heartbeats for ever, the same row for ever, a row that is never whole.
    let (_, error) = run(|_, _| scan_reply(&[], false, true), 1);
    assert!(error.as_ref().is_some_and(Error::is_deadline), "{error:?}");
    let (rows, error) = run(|_, _| scan_reply(&["a"], false, true), 60);
    assert!(rows == 1 && matches!(error, Some(Error::Protocol(_))), "{error:?}");
    let (rows, error) = run(|_, _| scan_reply(&["a"], true, true), 60);
    assert!(rows == 0 && matches!(error, Some(Error::TooLarge { .. })), "{error:?}");
}

#[test]
fn holes_in_the_region_map_are_an_error() {
    let mock = Mock::start(&[("", "c"), ("k", "")], |_, param| get_reply(param));
    let table = mock.table(|config| config.operation_timeout(Duration::from_secs(20)).rpc_timeout(Duration::from_secs(5)));
    assert!(block_on(table.get(&Get::new("b"))).is_ok());
    let hole = block_on(table.get(&Get::new("d"))).unwrap_err();
    assert!(matches!(hole, Error::RegionHole { .. }), "{hole}");
    let answers = block_on(table.batch(&[Action::Get(Get::new("e"))]));
    assert!(matches!(answers[0], Err(Error::RegionHole { .. })));
    let scanned = block_on(table.scan_all(Scan::range("d", "e"))).unwrap_err();
    assert!(matches!(scanned, Error::RegionHole { .. }), "{scanned}");
    let none = Mock::start(&[], |_, param| get_reply(param));
    assert!(matches!(block_on(none.table(|config| config).get(&Get::new("b"))), Err(Error::TableNotFound(_))));
}

#[test]
fn a_next_is_never_sent_twice() {
    let asked: Arc<Mutex<Vec<ScanRequest>>> = Arc::default();
    let log = Arc::clone(&asked);
    let mock = Mock::start(ONE, move |_, param| {
        let request = ScanRequest::decode(param.clone()).unwrap();
        let closes = request.close_scanner == Some(true);
        let mut log = log.lock();
        if !closes {
            log.push(request.clone());
        }
        let opened = log.iter().filter(|request| request.scan.is_some()).count();
        match (request.next_call_seq, opened) {
            // The first scanner: two rows, then a part, then an answer that is lost.
            (None, 1) => scan_reply(&["a", "b"], false, true),
            (Some(0), 1) => scan_reply(&["c"], true, true),
            (Some(_), 1) => Reply::Close,
            (None, _) => scan_reply(&["c", "d"], false, false),
            _ => Reply::Close,
        }
    });
    let table = mock.table(|config| config.operation_timeout(Duration::from_secs(10)));
    let rows = block_on(table.scan_all(Scan::all())).unwrap();
    assert_eq!(rows.iter().map(|row| row.key().to_vec()).collect::<Vec<_>>(), [b"a", b"b", b"c", b"d"]);
    let asked = asked.lock();
    let nexts: Vec<u64> = asked.iter().filter_map(|request| request.next_call_seq).collect();
    assert_eq!(nexts, [0, 1]);
    let second = asked.iter().filter_map(|request| request.scan.as_ref()).nth(1).unwrap();
    // Behind the last whole row.
    assert_eq!((second.start_row.as_deref(), second.include_start_row), (Some(&b"b"[..]), Some(false)));
}

#[test]
fn without_an_answer_calls_end_at_their_deadlines() {
    let mock = Mock::start(ONE, |_, _| Reply::Nothing);
    let table = mock.table(|config| config);
    let began = Instant::now();
    let get = block_on(table.get(&Get::new("a"))).unwrap_err();
    assert!(get.is_deadline() && !get.is_unknown(), "{get}");
    let put = block_on(table.mutate(&Mutation::put("a").set("f", "q", "v"))).unwrap_err();
    assert!(put.is_deadline() && put.is_unknown(), "{put}");
    let scan = block_on(table.scan_all(Scan::all())).unwrap_err();
    assert!(scan.is_deadline(), "{scan}");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(mock.count("Mutate") > 1);
    // Twice would answer something else: it is sent once.
    let check = CheckAndMutate::new(Condition::absent("f", "q"), Mutation::put("a").set("f", "q", "v"));
    let before = mock.count("Mutate");
    assert!(block_on(table.check_and_mutate(&check)).unwrap_err().is_unknown());
    assert_eq!(mock.count("Mutate"), before + 1);
}

#[test]
fn a_region_that_moved_is_asked_where_it_went() {
    let second = Mock::start(ONE, |_, param| get_reply(param));
    let port = second.port;
    let first = Mock::start(ONE, move |_, _| {
        Reply::Exception(ExceptionResponse {
            exception_class_name: Some("org.apache.hadoop.hbase.exceptions.RegionMovedException".to_owned()),
            hostname: Some("127.0.0.1".to_owned()),
            port: Some(i32::from(port)),
            ..ExceptionResponse::default()
        })
    });
    let table = first.table(|config| config.operation_timeout(Duration::from_secs(20)).rpc_timeout(Duration::from_secs(5)));
    assert!(block_on(table.get(&Get::new("a"))).unwrap().is_some());
    assert!(block_on(table.get(&Get::new("b"))).unwrap().is_some());
    assert_eq!((first.count("meta"), first.count("Get"), second.count("Get")), (1, 1, 2));
}
