//! `stoa shell` runs the scripts in `tests/shell`: each `NAME.hbase` on an empty database, what it prints in `NAME.out`.
//!
//! Times that commands took and times of now are masked. `STOA_UPDATE_SHELL_TESTS=1` writes the output of every script anew.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use regex::Regex;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn stoa(data: &Path, command: &str, more: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stoa"))
        .args([command, "--memory-limit", "256MB", "--data"])
        .arg(data)
        .args(more)
        .env("TZ", "UTC")
        .env("USER", "somebody")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn shell(data: &Path, script: &str) -> String {
    let output = stoa(data, "shell", &[], script);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let took = Regex::new(r"Took \d+\.\d{4} seconds").unwrap().replace_all(&text, "Took T seconds").into_owned();
    let took = Regex::new(r"\(20[0-9-]+ [0-9:]+ [+-]\d{4}\)").unwrap().replace_all(&took, "(NOW)").into_owned();
    Regex::new(r"timestamp=20[0-9T:.-]+").unwrap().replace_all(&took, "timestamp=NOW").into_owned()
}

fn sql(data: &Path, text: &str) -> String {
    let output = stoa(data, "sql", &["--plain", "-c", text], "");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn scripts_print_what_hbase_prints() {
    let mut scripts: Vec<PathBuf> =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shell")).unwrap().map(|e| e.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|e| e == "hbase"));
    scripts.sort();
    assert!(scripts.len() > 3, "{scripts:?}");
    for path in scripts {
        let directory = tempfile::tempdir().unwrap();
        let printed = shell(directory.path(), &std::fs::read_to_string(&path).unwrap());
        let expected = path.with_extension("out");
        if std::env::var_os("STOA_UPDATE_SHELL_TESTS").is_some() {
            std::fs::write(&expected, &printed).unwrap();
        }
        assert_eq!(printed, std::fs::read_to_string(&expected).unwrap_or_default(), "{}", path.display());
    }
}

#[test]
fn a_script_ends_at_its_first_error_if_it_is_to() {
    let directory = tempfile::tempdir().unwrap();
    let output = stoa(directory.path(), "shell", &["--noninteractive"], "put 't', 'r', 'f:q', 'v'\ncreate 't', 'f'\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("Created"));
    let output = stoa(directory.path(), "shell", &[], "put 't', 'r', 'f:q', 'v'\ncreate 't', 'f'\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Created"));
    assert_eq!(stoa(directory.path(), "shell", &[], "list\nexit\nput\n").status.code(), Some(0));
}

#[test]
fn what_is_asked_for_is_done_when_it_is_answered_with_y() {
    let directory = tempfile::tempdir().unwrap();
    let ends = |script: &str| stoa(directory.path(), "shell", &[], script).status.code();
    assert_eq!(ends("create 'a', 'f'\ncreate 'b', 'f'\ndisable_all '[ab]'\ny\ndrop_all 'a'"), Some(1));
    assert_eq!(ends("drop_all 'b'; create 'c', 'f'\nno"), Some(0));
    assert!(shell(directory.path(), "list").contains("TABLE\na\nb\nc\n3 row(s)"));
    assert_eq!(ends("drop_all '[ab]'; create 'd', 'f'\nYES\n"), Some(0));
    assert!(shell(directory.path(), "list").contains("TABLE\nc\nd\n2 row(s)"));
}

#[test]
fn raw_tables_survive_restarts_and_backups() {
    let directory = tempfile::tempdir().unwrap();
    let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    shell(
        &data,
        "create 't', {NAME => 'f', VERSIONS => 2}\nput 't', \"\\x00k\", 'f:q', 'one', 1\nput 't', \"\\x00k\", 'f:q', 'two', 2\ndisable 't'\n",
    );
    let scan = "enable 't'\nscan 't', {VERSIONS => 5}\n";
    let expected = "Took T seconds\nROW  COLUMN+CELL\n \\x00k column=f:q, timestamp=1970-01-01T00:00:00.002, value=two\n \
                    \\x00k column=f:q, timestamp=1970-01-01T00:00:00.001, value=one\n1 row(s)\nTook T seconds\n";
    assert!(shell(&data, "get 't', \"\\x00k\"").contains("ERROR: Table t is disabled!"));
    let output = stoa(&data, "backup", &[copy.to_str().unwrap()], "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(shell(&data, scan), expected);
    assert_eq!(shell(&copy, scan), expected);
}

#[test]
fn sql_sees_keys_and_changes_no_cells() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    shell(
        data,
        "create 't', 'f'\nput 't', 'a', 'f:q', '1'\nput 't', 'b', 'f:q', '1'\ndeleteall 't', 'a'\ncreate_namespace 'n'\ncreate 'n:T.1', 'f'",
    );
    assert_eq!(sql(data, "SELECT \"row\" FROM t; SELECT count(*) FROM t"), "\\x62\n1\n");
    let refused = sql(data, "INSERT INTO t VALUES ('c')");
    assert!(refused.contains("cannot change raw table \"t\"") && refused.contains("stoa shell"), "{refused}");
    for (statement, error) in [
        ("ALTER TABLE t ADD COLUMN a int", "ALTER action ADD COLUMN cannot be performed on relation \"t\""),
        ("CREATE INDEX ON t (\"row\")", "cannot create index on relation \"t\""),
        ("CREATE TABLE c (r bytea REFERENCES t)", "has cells of other programs"),
        ("CREATE TABLE c (a int, FAMILY f ()) WITH (raw)", "families and nothing else"),
        ("CREATE TABLE c () WITH (raw)", "at least one family"),
        ("ALTER TABLE t DROP FAMILY f", "at least one family"),
    ] {
        let said = sql(data, statement);
        assert!(said.contains(error), "{statement}: {said}");
    }
    assert_eq!(sql(data, "SELECT count(*) FROM n.\"T.1\"; DROP TABLE n.\"T.1\"; TRUNCATE t; SELECT count(*) FROM t"), "0\n0\n");
    assert!(shell(data, "list").contains("TABLE\nt\n1 row(s)"));
}

#[test]
fn tables_of_sql_show_their_cells_and_are_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    sql(data, "CREATE TABLE s (id int PRIMARY KEY, name text, FAMILY d (name)); INSERT INTO s VALUES (1, 'x')");
    let printed = shell(data, "scan 's'\nput 's', 'r', 'd:q', 'v'\ndisable 's'\ndrop 's'\ntruncate 's'\nalter 's', 'g'");
    assert!(printed.contains(" \\x80\\x00\\x00\\x01 column=d:, timestamp=NOW, value=\\x01\\x00"), "{printed}");
    assert!(printed.contains("row=(id => 1, name => x)"), "{printed}");
    assert_eq!(printed.matches("ERROR: Table s belongs to SQL").count(), 5, "{printed}");
    assert_eq!(sql(data, "SELECT * FROM s"), "1\tx\n");
    // Entries of maps are rows of another table.
    sql(data, "CREATE TABLE m (id int PRIMARY KEY, t map(text, int), name text); INSERT INTO m VALUES (1, map['a' => 7], 'x')");
    let printed = shell(data, "scan 'm'\nget 'm', \"\\x80\\x00\\x00\\x01\"\nscan 'm_t_entries'");
    assert_eq!(printed.matches("row=(id => 1, name => x)").count(), 2, "{printed}");
    assert!(printed.contains("key => a, value => 7") && !printed.contains("ERROR"), "{printed}");
}

#[test]
fn a_server_that_has_the_directory_is_asked() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let mut server = Command::new(env!("CARGO_BIN_EXE_stoa"))
        .args(["serve", "--memory-limit", "256MB", "--listen", "127.0.0.1:0", "--socket-dir", "none", "--data"])
        .arg(data)
        .env("TZ", "UTC")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let socket = data.join("shell.sock");
    let started = std::time::Instant::now();
    while !socket.exists() {
        assert!(started.elapsed().as_secs() < 60 && server.try_wait().unwrap().is_none(), "the server does not start");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&socket).unwrap().permissions()) & 0o777, 0o600);
    assert_eq!(shell(data, "create 't', 'f'\nput 't', 'r', 'f:q', 'v', 1\n"), "Created table t\nTook T seconds\nTook T seconds\n");
    // Shells that are there at once see what the others do.
    let many: Vec<_> = (0..4)
        .map(|n| {
            let data = data.to_owned();
            std::thread::spawn(move || {
                shell(&data, &format!("incr 't', 'c', 'f:n'\nput 't', 'r{n}', 'f:q', \"{}\"\n", "x".repeat(100_000)))
            })
        })
        .collect();
    many.into_iter().for_each(|thread| assert!(!thread.join().unwrap().contains("ERROR")));
    assert!(shell(data, "get_counter 't', 'c', 'f:n'").contains("COUNTER VALUE = 4"));
    assert_eq!(shell(data, "scan 't'").len() / 100_000, 4);
    assert_eq!(stoa(data, "shell", &["-n"], "nonsense").status.code(), Some(1));
    // A shell that waits does not hold the server up.
    let waiting = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(server.wait().unwrap().success());
    drop(waiting);
    assert!(!socket.exists());
    assert!(shell(data, "get 't', 'r'").contains(" f:q timestamp=1970-01-01T00:00:00.001, value=v"));
}

#[test]
fn inspect_prints_a_foreign_table_that_reads_the_rows() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    shell(
        data,
        "create 't', 'f'\nput 't', \"\\x00\\x00\\x00\\x05\", 'f:Name', 'Ann'\nput 't', \"\\x00\\x00\\x00\\x05\", 'f:n', \"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07\"\nput 't', \"\\x00\\x00\\x01\\x00\", \"f:\\xFF\", '1'",
    );
    let output = stoa(data, "inspect", &["t", "--name", "mapped"], "");
    let ddl = String::from_utf8(output.stdout).unwrap();
    let expected = "-- 2 rows of t and their 3 columns were looked at.\nCREATE FOREIGN TABLE mapped (\n    key integer,\n    \
                    name text OPTIONS (\"column\" 'f:Name', format 'bytes'),\n    n bigint OPTIONS (\"column\" 'f:n', format 'bytes'),\n    \
                    \"\\xff\" bigint OPTIONS (\"column\" 'f:\\xFF', format 'text')\n) OPTIONS (\"table\" 't', key_format 'UNSIGNED(key, 4)');\n";
    assert_eq!(ddl, expected, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(sql(data, &format!("{ddl} SELECT * FROM mapped")), "5\tAnn\t7\tNULL\n256\tNULL\tNULL\t1\n");
    let missing = stoa(data, "inspect", &["u"], "");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("there is no raw table u"));
    // A dump makes the definitions again.
    let dump = String::from_utf8(stoa(data, "dump", &[], "").stdout).unwrap();
    let copy = tempfile::tempdir().unwrap();
    assert_eq!(sql(copy.path(), &dump).matches("ERROR").count(), 0, "{dump}");
    let again = String::from_utf8(stoa(copy.path(), "dump", &[], "").stdout).unwrap();
    assert_eq!(again, dump);
    assert!(dump.contains("CREATE FOREIGN TABLE public.mapped") && dump.contains("WITH (raw)"), "{dump}");
}

#[test]
fn sql_writes_behind_cells_and_deletions_at_times_to_come() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    shell(
        data,
        "create 'r', 'i'\nput 'r', \"\\x00\\x00\\x00\\x01\", 'i:v', 'future', 9999999999999\n\
         deleteall 'r', \"\\x00\\x00\\x00\\x03\", 'i:v', 9999999999999\nput 'r', \"\\x00\\x00\\x00\\x05\", 'i:other', 'x'\n",
    );
    sql(
        data,
        "CREATE FOREIGN TABLE m (id bigint, v text OPTIONS (\"column\" 'i:v'), w text OPTIONS (\"column\" 'i:w')) \
         OPTIONS (\"table\" 'r', key_format 'UNSIGNED(id, 4)')",
    );
    for (statement, expected) in [
        ("UPDATE m SET v = 'sql' WHERE id = 1; SELECT v FROM m WHERE id = 1", "sql\n"),
        ("INSERT INTO m VALUES (3, 'seen', NULL); SELECT v FROM m WHERE id = 3", "seen\n"),
        ("INSERT INTO m VALUES (3, 'twice', NULL)", "duplicate key value violates unique constraint"),
        ("INSERT INTO m VALUES (3, 'new', NULL) ON CONFLICT (id) DO UPDATE SET v = excluded.v; SELECT v FROM m WHERE id = 3", "new\n"),
        ("UPSERT INTO m VALUES (3, 'put', 'w'); SELECT v, w FROM m WHERE id = 3", "put\tw\n"),
        ("UPDATE m SET v = NULL WHERE id = 3; SELECT v IS NULL, w FROM m WHERE id = 3", "t\tw\n"),
        ("UPDATE m SET v = 'again' WHERE id = 3; SELECT v, w FROM m WHERE id = 3", "again\tw\n"),
        ("BEGIN; UPDATE m SET v = 'a' WHERE id = 1; UPDATE m SET v = 'b' WHERE id = 1; COMMIT; SELECT v FROM m WHERE id = 1", "b\n"),
        // A row is there as long as it has a value, of a column that is not mapped as well.
        ("UPDATE m SET v = NULL WHERE id = 1", "a row of a foreign table has a value beside its key"),
        ("UPDATE m SET v = NULL, w = 'w' WHERE id = 1; SELECT v IS NULL, w FROM m WHERE id = 1", "t\tw\n"),
        ("UPDATE m SET v = 'x' WHERE id = 5; UPDATE m SET v = NULL WHERE id = 5; SELECT v IS NULL FROM m WHERE id = 5", "t\n"),
        ("DELETE FROM m WHERE id = 1; INSERT INTO m VALUES (1, 'anew', NULL); SELECT v FROM m WHERE id = 1", "anew\n"),
        ("SELECT * FROM stoa_history('m')", "in stoa shell shows them"),
    ] {
        let said = sql(data, statement);
        assert!(said.contains(expected), "{statement}: {said}");
    }
    assert_eq!(sql(data, "SELECT id, v, w FROM m ORDER BY id"), "1\tanew\tNULL\n3\tagain\tw\n5\tNULL\tNULL\n");
}

#[test]
fn what_is_inspected_can_be_mapped() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    shell(
        data,
        "create 'r', 'i'\nput 'r', 'ann smith|2024-05-01', 'i:day', '2024-05-01'\nput 'r', 'bob|2024-05-02', 'i:day', '2024-05-02'\n\
         put 'r', 'ann smith|2024-05-01', 'i:doc', '{\"a\": 1}'\nput 'r', 'bob|2024-05-02', 'i:uid', \
         '550e8400-e29b-41d4-a716-446655440000'\n",
    );
    let printed = String::from_utf8(stoa(data, "inspect", &["r"], "").stdout).unwrap();
    let definition = printed.split_once('\n').unwrap().1;
    assert!(definition.contains("DELIMITED(key1, ''|'')"), "{definition}");
    assert_eq!(sql(data, definition), "");
    assert_eq!(
        sql(data, "SELECT key1, key2, day + 1, doc -> 'a', uid FROM r_rows WHERE key1 LIKE 'ann%'"),
        "ann smith\t2024-05-01\t2024-05-02\t1\tNULL\n"
    );
    assert_eq!(sql(data, "SELECT uid FROM r_rows WHERE key1 = 'bob'"), "550e8400-e29b-41d4-a716-446655440000\n");
}

#[test]
fn snapshots_survive_restarts_and_backups_and_are_in_no_dump() {
    let directory = tempfile::tempdir().unwrap();
    let (data, copy) = (directory.path().join("data"), directory.path().join("copy"));
    shell(&data, "create 't', 'f'\nput 't', 'k', 'f:q', 'old'\nsnapshot 't', 's'\nput 't', 'k', 'f:q', 'new'\ndisable 't'\n");
    let output = stoa(&data, "backup", &[copy.to_str().unwrap()], "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for data in [&data, &copy] {
        let printed = shell(data, "list_snapshots\nrestore_snapshot 's'\nenable 't'\nscan 't'\n");
        assert!(printed.contains(" s t (NOW)\n1 row(s)"), "{printed}");
        assert!(printed.contains("value=old") && !printed.contains("value=new"), "{printed}");
    }
    let dumped = String::from_utf8(stoa(&data, "dump", &[], "").stdout).unwrap();
    assert!(dumped.contains("CREATE TABLE public.t") && !dumped.contains("stoa_snapshots.s"), "{dumped}");
    // In another schema, or open to programs, it is a table like others.
    sql(&data, "ALTER TABLE stoa_snapshots.s SET (enabled = true)");
    assert!(shell(&data, "list_snapshots").contains("0 row(s)"));
    assert!(String::from_utf8(stoa(&data, "dump", &[], "").stdout).unwrap().contains("stoa_snapshots.s"));
}

#[test]
fn cells_are_restored_from_raw_tables_alone() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    shell(data, "create 't', 'f', 'g'\nput 't', 'a', 'f:q', '1'\nsnapshot 't', 's'\nput 't', 'b', 'f:q', '2'\nput 't', 'c', 'g:q', '3'\n");
    sql(data, "CREATE TABLE s (id int PRIMARY KEY); CREATE ROLE r; CREATE ROLE o; CREATE SCHEMA own AUTHORIZATION o");
    sql(data, "CREATE FOREIGN TABLE m (k text, q text OPTIONS (\"column\" 'f:q')) OPTIONS (\"table\" 't')");
    for (statement, error) in [
        ("ALTER TABLE s RESTORE FROM t", "ALTER action RESTORE FROM cannot be performed on relation \"s\""),
        ("ALTER TABLE t RESTORE FROM s", "\"s\" is not a raw table"),
        ("ALTER TABLE t RESTORE FROM m", "\"m\" is not a raw table"),
        ("ALTER TABLE m RESTORE FROM t", "ALTER action RESTORE FROM cannot be performed on relation \"m\""),
        ("ALTER TABLE t RESTORE FROM t", "a table is not restored from itself"),
        ("ALTER TABLE t RESTORE FROM none", "relation \"none\" does not exist"),
        (
            "BEGIN ISOLATION LEVEL REPEATABLE READ; ALTER TABLE t RESTORE FROM stoa_snapshots.s",
            "which a transaction with a snapshot does not see",
        ),
        (
            "BEGIN; INSERT INTO m VALUES ('x', 'y'); ALTER TABLE t RESTORE FROM stoa_snapshots.s",
            "after it was changed in the same transaction",
        ),
        ("SET ROLE r; ALTER TABLE t RESTORE FROM stoa_snapshots.s", "must be owner of table t"),
        ("SET ROLE o; CREATE TABLE own.x (FAMILY f ()) WITH (raw); ALTER TABLE own.x RESTORE FROM t", "permission denied for table t"),
        (
            "CREATE TABLE other (FAMILY g (), FAMILY f ()) WITH (raw); ALTER TABLE t RESTORE FROM other",
            "maps family \"f\", which is another one there",
        ),
    ] {
        let said = sql(data, statement);
        assert!(said.contains(error), "{statement}: {said}");
    }
    assert_eq!(sql(data, "SELECT k, q FROM m ORDER BY k"), "a\t1\nb\t2\nc\tNULL\n", "nothing was changed");
    // Foreign tables follow; what is rolled back was not done.
    let restored = "ALTER TABLE t RESTORE FROM stoa_snapshots.s; SELECT k, q FROM m ORDER BY k;";
    assert_eq!(sql(data, &format!("BEGIN; {restored} ROLLBACK; SELECT k, q FROM m ORDER BY k")), "a\t1\na\t1\nb\t2\nc\tNULL\n");
    assert_eq!(sql(data, restored), "a\t1\n");
    assert_eq!(sql(data, "INSERT INTO m VALUES ('d', '4'); SELECT k, q FROM m ORDER BY k"), "a\t1\nd\t4\n");
    assert_eq!(sql(data, "SELECT count(*) FROM stoa_snapshots.s"), "1\n");
    let said = shell(data, "snapshot 's', 'x'\n");
    assert!(said.contains("Table s belongs to SQL: CREATE TABLE … AS TABLE copies it"), "{said}");
}
