#!/usr/bin/env python3
"""End-to-end tests of the program: psql and psycopg against a server, kill -9 and restart, bad frames.

    run.py BINARY
"""
import concurrent.futures, json, os, pathlib, random, re, resource, signal, socket, struct, subprocess, sys, tempfile, threading, time

import psycopg

import documents

BINARY = sys.argv[1]
results = []


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, data, *more):
        self.data, self.port, self.more = data, free_port(), more
        self.start()

    def start(self):
        self.process = subprocess.Popen([BINARY, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *self.more],
                                        stderr=open(f"{self.log()}", "ab"))
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError(f"the server ended; see {self.log()}")
                time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def log(self):
        return str(pathlib.Path(tempfile.gettempdir()) / f"stoa-test-{os.getpid()}.log")

    def memory(self, what="VmRSS"):
        """MiB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(l for l in text.splitlines() if l.startswith(what)).split()[1]) / 1024

    def connect(self, **more):
        return psycopg.connect(host="127.0.0.1", port=self.port, user="stoa", dbname="stoa", autocommit=True, connect_timeout=10, **more)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def test(f):
    with tempfile.TemporaryDirectory() as work:
        server = Server(work + "/data")
        try:
            f(server)
            results.append((f.__name__, None))
            print(f"ok   {f.__name__}", flush=True)
        except Exception as e:  # one test's failure is the others' neighbour
            results.append((f.__name__, e))
            print(f"FAIL {f.__name__}: {type(e).__name__}: {e}", flush=True)
        finally:
            if server.process.poll() is None:
                server.kill()


def regions_tell_what_is_read_and_written(server):
    with server.connect() as c:
        def traffic(table="t", index=None):
            return c.execute("SELECT reads, writes FROM pg_stat_regions WHERE relname = %s AND indexrelname IS NOT DISTINCT FROM %s ORDER BY region",
                             (table, index)).fetchall()

        def since():
            return {at for at, in c.execute("SELECT stats_reset FROM pg_stat_regions WHERE relname = 't' AND indexrelid IS NULL")}

        c.execute("CREATE TABLE t (id int PRIMARY KEY, n int) SPLIT AT (100, 200)")
        c.execute("CREATE INDEX t_n ON t (n)")
        began = since()
        assert len(began) == 1 and traffic() == [(0, 0)] * 3, traffic()
        c.execute("INSERT INTO t SELECT n, n % 7 FROM generate_series(1, 250) n")
        assert [writes for _, writes in traffic()] == [99, 100, 51], traffic()
        assert traffic(index="t_n")[0][1] == 250
        before = traffic()
        for id in [5, 150, 150, 500]:
            c.execute("SELECT n FROM t WHERE id = %s", (id,)).fetchall()
        rows = c.execute("SELECT id, n FROM t WHERE id BETWEEN 90 AND 119").fetchall()
        assert len(rows) == 30
        read = [after[0] - one[0] for one, after in zip(before, traffic())]
        assert read == [1 + 10, 2 + 20, 1], read
        c.execute("UPDATE t SET n = 9 WHERE id = 250")
        c.execute("DELETE FROM t WHERE id IN (1, 2)")
        assert [after[1] - one[1] for one, after in zip(before, traffic())] == [2, 0, 1]
        assert since() == began
        # Rolled back, nothing was written.
        with c.transaction(force_rollback=True):
            c.execute("INSERT INTO t VALUES (1000, 1)")
        assert [after[1] - one[1] for one, after in zip(before, traffic())] == [2, 0, 1]
        # A large COPY is a bulk load.
        c.execute("CREATE TABLE many (id int PRIMARY KEY, body text) SPLIT AT (1000)")
        with c.cursor().copy("COPY many FROM STDIN") as copy:
            for n in range(1, 20001):
                copy.write_row((n, "x" * 2000))
        assert [writes for _, writes in traffic("many")][:1] == [999], traffic("many")
        c.execute("ALTER TABLE t SPLIT AT (50)")
        assert traffic() == [(0, 0)] * 4 and min(since()) > max(began)
    server.kill()
    server.start()
    with server.connect() as c:
        assert {row for row in c.execute("SELECT reads, writes FROM pg_stat_regions WHERE relname = 't'")} == {(0, 0)}


def hot_regions_are_told_with_what_to_do(server):
    columns = "region, start_key, end_key, read_share, write_share, key_part, cause, advice"

    def hot(c, table, index=None):
        return c.execute(f"SELECT {columns} FROM pg_stat_hot_regions WHERE relname = %s AND indexrelname IS NOT DISTINCT FROM %s ORDER BY region",
                         (table, index)).fetchall()

    def advised(advice):
        """The statement that an advice begins with."""
        return re.match(r"ALTER TABLE .+? SALT \(\d+\)", advice).group(0)

    with server.connect() as c:
        c.execute("CREATE SCHEMA \"My shop\"")
        c.execute("CREATE TABLE \"My shop\".orders (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, note text) SPLIT AT (1000, 2000, 3000)")
        c.execute("INSERT INTO \"My shop\".orders SELECT n, 'x' FROM generate_series(1, 500) n")
        assert hot(c, "orders") == [], "few rows say nothing"
        c.execute("ALTER SEQUENCE \"My shop\".orders_id_seq RESTART 5000")
        c.execute("INSERT INTO \"My shop\".orders (note) SELECT 'x' FROM generate_series(1, 4500) n")
        (region, start, end, _, write_share, part, cause, advice), = hot(c, "orders")
        assert (region, start, end, write_share, part) == (4, "3000", None, 0.9, "id"), (region, start, end, write_share, part)
        assert "id, which grows" in cause and "SALT (16)" in advice, (cause, advice)
        c.execute(advised(advice))
        c.execute("INSERT INTO \"My shop\".orders (note) SELECT 'x' FROM generate_series(1, 3000) n")
        assert hot(c, "orders") == [], "what was advised helps"

        # The newest first.
        c.execute("CREATE TABLE log (at timestamptz, n int, PRIMARY KEY (at DESC, n)) SPLIT AT ('2020-01-01', '2010-01-01')")
        c.execute("INSERT INTO log SELECT '2024-01-01', n FROM generate_series(1, 2000) n")
        (region, _, _, _, share, part, cause, _), = hot(c, "log")
        assert (region, share, part) == (1, 1.0, "at DESC") and "which grows" in cause, (region, share, part, cause)

        # A region that is larger than others, and one whose keys are read more.
        c.execute("CREATE TABLE parts (code text PRIMARY KEY, body text) SPLIT AT ('b', 'c', 'd')")
        c.execute("INSERT INTO parts SELECT 'b' || n, repeat(md5(n::text), 20) FROM generate_series(1, 3000) n")
        c.execute("INSERT INTO parts SELECT l || n, '' FROM generate_series(1, 10) n, unnest(ARRAY['a', 'c', 'd']) l")
        (region, start, end, _, _, part, cause, advice), = hot(c, "parts")
        assert (region, start, end, part) == (2, "'b'", "'c'", "code"), (region, start, end, part)
        assert "% of the bytes" in cause and advice.startswith("ALTER TABLE public.parts SPLIT AT"), (cause, advice)
        c.execute("CREATE TABLE seen (device text, n int, PRIMARY KEY (device, n)) SPLIT AT ('b', 'c', 'd')")
        c.execute("INSERT INTO seen SELECT l || n, n FROM generate_series(1, 300) n, unnest(ARRAY['a', 'b', 'c', 'd']) l")
        assert hot(c, "seen") == []
        for _ in range(25):
            c.execute("SELECT count(*) FROM (SELECT * FROM seen WHERE device IN (SELECT 'c' || n FROM generate_series(1, 300) n)) x")
        (region, _, _, read_share, write_share, part, cause, advice), = hot(c, "seen")
        assert region == 3 and read_share > 0.5 and write_share == 0.25 and part == "device", (region, read_share, write_share, part)
        assert "some of its keys" in cause and "SALT (16)" in advice
        c.execute(advised(advice[advice.index("ALTER TABLE public.seen SALT"):]))

        # Whose it is: owners see theirs, pg_monitor all; keys are for whom may read rows.
        c.execute("CREATE ROLE watcher IN ROLE pg_monitor; CREATE ROLE owner; CREATE ROLE nobody; ALTER TABLE parts OWNER TO owner")
        for role, seen in [("watcher", [("log", None), ("parts", None)]), ("owner", [("parts", "'c'")]), ("nobody", [])]:
            c.execute(f"SET ROLE {role}")
            found = c.execute("SELECT relname, end_key FROM pg_stat_hot_regions WHERE relname IN ('log', 'parts') ORDER BY 1").fetchall()
            assert found == seen, (role, found)
            c.execute("RESET ROLE")


def snapshots_are_whole_whatever_is_killed(server):
    """Snapshots are taken and restored through the server while it is killed: each that is listed has all rows of one moment, and a table has
    its rows or those of the snapshot."""
    rows, pick = 40000, random.Random(7)

    def shell(text):
        return subprocess.run([BINARY, "shell", "--data", server.data], input=text, capture_output=True, text=True)

    def definition(c):
        c.execute("CREATE TABLE t (FAMILY f ()) WITH (raw)")
        c.execute("CREATE FOREIGN TABLE m (id bigint, round int OPTIONS (\"column\" 'f:round'), body text OPTIONS (\"column\" 'f:body')) "
                  "OPTIONS (\"table\" 't', key_format 'UNSIGNED(id, 8)')")
        c.execute("INSERT INTO m SELECT n, 0, repeat('x', 100) FROM generate_series(1, %s) n", (rows,))

    with server.connect() as c:
        definition(c)
    delay = time.time()
    assert "ERROR" not in shell("snapshot 't', 'before'").stdout
    delay = time.time() - delay
    kept, round, done, cut_off = {"before": 0}, 0, 0, 0
    # The delay goes to where about half are done, however fast the machine is.
    while done < 4 or cut_off < 4:
        round += 1
        with server.connect() as c:
            c.execute("UPDATE m SET round = %s", (round,))
            now = round
        restored = round % 3 == 0
        command = f"disable 't'\nrestore_snapshot 'before'\n" if restored else f"snapshot 't', 'round{round}'\n"
        running = subprocess.Popen([BINARY, "shell", "--data", server.data], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        running.stdin.write(command)
        running.stdin.close()
        time.sleep(delay * (0.5 + pick.random()))
        server.kill()
        running.wait()
        server.start()
        listed = re.findall(r"^ (\S+) t \(", shell("list_snapshots").stdout, re.M)
        with server.connect() as c:
            stored = {name for name, in c.execute("SELECT relname FROM pg_class WHERE relnamespace = 'stoa_snapshots'::regnamespace AND relkind = 'r'")}
            assert stored == set(listed) and set(kept) <= stored, (stored, listed, kept)
            new = set(listed) - set(kept)
            kept |= {name: round for name in new}
            found = c.execute("SELECT round, count(*) FROM m GROUP BY 1").fetchall()
            assert found in ([(now, rows)], [(0, rows)]) and (restored or found[0][0] == now), (round, found)
        if found[0][0] == 0 or new:
            done, delay = done + 1, delay * 0.7
        else:
            cut_off, delay = cut_off + 1, delay * 1.4
        shell("enable 't'")
    for name, round in kept.items():
        assert "ERROR" not in shell(f"clone_snapshot '{name}', 'clone_{round}'").stdout
        with server.connect() as c:
            c.execute(f"CREATE FOREIGN TABLE seen (id bigint, round int OPTIONS (\"column\" 'f:round')) OPTIONS (\"table\" 'clone_{round}', "
                      "key_format 'UNSIGNED(id, 8)')")
            found = c.execute("SELECT round, count(*) FROM seen GROUP BY 1").fetchall()
            assert found == [(round, rows)], (name, found)
            c.execute("DROP FOREIGN TABLE seen")


def writers_by_foreign_tables_are_waited_for(server):
    """What a foreign table has written is there before the cells of its table are elsewhere."""
    with server.connect() as c, server.connect() as writer, server.connect() as other:
        for statement in ["TRUNCATE t", "ALTER TABLE t RESTORE FROM s"]:
            c.execute("DROP TABLE IF EXISTS t, s CASCADE")
            c.execute("CREATE TABLE t (FAMILY f ()) WITH (raw); CREATE TABLE s (FAMILY f ()) WITH (raw)")
            c.execute("CREATE FOREIGN TABLE m (k text, v text) OPTIONS (\"table\" 't')")
            c.execute("CREATE FOREIGN TABLE n (k text, v text) OPTIONS (\"table\" 's')")
            c.execute("INSERT INTO m VALUES ('old', '1'); INSERT INTO n VALUES ('s', '1')")
            writer.execute("BEGIN; INSERT INTO m VALUES ('written', '1')")
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                change = pool.submit(other.execute, statement)
                # It waits for the writer, and the next writer for it.
                deadline = time.time() + 20
                while not c.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()[0] and time.time() < deadline:
                    time.sleep(0.01)
                assert not change.done(), statement
                late = pool.submit(c.execute, "INSERT INTO m VALUES ('late', '1')")
                writer.execute("COMMIT")
                change.result(20)
                late.result(20)
            found = [k for k, in c.execute("SELECT k FROM m ORDER BY k")]
            assert found == (["late"] if statement.startswith("TRUNCATE") else ["late", "s"]), (statement, found)


def the_examples_of_the_reference_run(server):
    text = (pathlib.Path(__file__).parent.parent / "docs" / "reference" / "statements.md").read_text(encoding="utf-8")
    blocks = [part.split("```", 1)[0] for part in text.split("```sql\n")[1:]]
    assert len(blocks) > 15
    with server.connect() as c:
        for block in blocks:
            for statement, _, _ in documents.statements(block):
                try:
                    c.execute(statement)
                except psycopg.Error as e:
                    raise AssertionError(f"{statement}: {e}") from e


def rows_survive_kill_and_restart(server):
    with server.connect() as c:
        c.execute("CREATE TABLE t (device text, at timestamptz, temp float8, PRIMARY KEY (device, at DESC))")
        c.execute("INSERT INTO t VALUES ('a', '2024-01-01', 1.5), ('a', '2024-01-02', 2.5), ('b', '2024-01-01', 3.5)")
        c.execute("UPDATE t SET temp = 9 WHERE device = 'b'")
        c.execute("DELETE FROM t WHERE device = 'a' AND at < '2024-01-02'")
    server.kill()
    server.start()
    with server.connect() as c:
        rows = c.execute("SELECT device, temp FROM t ORDER BY device").fetchall()
        assert rows == [("a", 2.5), ("b", 9.0)], rows


def nothing_acknowledged_is_lost(server):
    """Writers of multi-row statements, killed in the middle: each acknowledged statement is whole, none is torn."""
    with server.connect() as c:
        c.execute("CREATE TABLE w (batch int, part int, PRIMARY KEY (batch, part))")
    acknowledged, numbers, lock = set(), iter(range(1, 1_000_000)), threading.Lock()
    for round_ in range(12):
        def write():
            try:
                with server.connect() as c:
                    while True:
                        with lock:
                            n = next(numbers)
                        c.execute("INSERT INTO w SELECT %s, p FROM generate_series(1, 5) p", (n,))
                        with lock:
                            acknowledged.add(n)
            except psycopg.Error:
                return
        writers = [threading.Thread(target=write) for _ in range(4)]
        for t in writers:
            t.start()
        time.sleep(0.15 + random.random() * 0.2)
        server.kill()
        for t in writers:
            t.join()
        server.start()
    with server.connect() as c:
        counts = dict(c.execute("SELECT batch, count(*) FROM w GROUP BY batch").fetchall())
    assert acknowledged, "nothing was written"
    assert all(n == 5 for n in counts.values()), "a statement was torn"
    lost = acknowledged - set(counts)
    assert not lost, f"lost {len(lost)} of {len(acknowledged)}"


def a_second_process_is_refused(server):
    mark = pathlib.Path(server.data) / "spill" / "mark"
    mark.touch()
    spilled = list(mark.parent.iterdir())
    second = subprocess.run([BINARY, "serve", "--data", server.data, "--listen", f"127.0.0.1:{free_port()}"], capture_output=True, text=True, timeout=30)
    assert second.returncode != 0, "a second process took the directory"
    assert list(mark.parent.iterdir()) == spilled, "it touched what the first one spills"
    with server.connect() as c:
        assert c.execute("SELECT 1").fetchone() == (1,)


def malformed_frames_end_one_connection_only(server):
    startup = struct.pack("!II", 8 + len(b"user\0stoa\0database\0stoa\0\0"), 196608) + b"user\0stoa\0database\0stoa\0\0"
    for garbage in (b"Q\xff\xff\xff\xff", b"\0\0\0\0\0\0", b"Z\0\0\0\4", os.urandom(64), b"P\0\0\0\5x"):
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.sendall(startup)
            s.recv(4096)
            s.sendall(garbage)
            s.settimeout(0.3)
            try:
                while s.recv(4096):
                    pass
            except OSError:
                pass
    with server.connect() as c:
        assert c.execute("SELECT 1").fetchone() == (1,)


def parameters_and_results_of_each_type(server):
    import datetime, decimal, uuid
    values = [
        ("bool", True), ("int2", 7), ("int4", -7), ("int8", 2**40), ("float8", 1.5), ("text", "größe"), ("bytea", b"\x00\xff"),
        ("numeric", decimal.Decimal("12.340")), ("date", datetime.date(2024, 2, 29)), ("timestamp", datetime.datetime(2024, 2, 29, 1, 2, 3, 4)),
        ("uuid", uuid.UUID(int=5)), ("int4[]", [1, None, 3]), ("text[]", ["a", ""]),
    ]
    for binary in (False, True):
        with server.connect() as c:
            cursor = c.cursor(binary=binary)
            for ty, value in values:
                got = cursor.execute(f"SELECT %{'b' if binary else 's'}::{ty}, NULL::{ty}", (value,)).fetchone()
                assert got == (value, None), (ty, binary, got)


def copy_in_and_out(server):
    with server.connect() as c:
        c.execute("CREATE TABLE k (id int PRIMARY KEY, name text)")
        with c.cursor().copy("COPY k FROM STDIN") as copy:
            for i in range(1000):
                copy.write_row((i, None if i % 3 == 0 else f"n\t{i}"))
        assert c.execute("SELECT count(*), count(name) FROM k").fetchone() == (1000, 666)
        with c.cursor().copy("COPY (SELECT * FROM k WHERE id < 3 ORDER BY id) TO STDOUT") as copy:
            out = b"".join(bytes(b) for b in copy)
        assert out == b"0\t\\N\n1\tn\\t1\n2\tn\\t2\n", out
        try:
            with c.cursor().copy("COPY k FROM STDIN") as copy:
                copy.write(b"5000\tx\nbad line\n")
            raise AssertionError("a bad line was taken")
        except psycopg.Error as e:
            assert e.sqlstate in ("22P02", "22P04"), e.sqlstate
        assert c.execute("SELECT count(*) FROM k").fetchone() == (1000,)


def a_copy_that_waits_is_cancelled(server):
    with server.connect() as holder, server.connect() as c:
        holder.execute("CREATE TABLE waited_for (id int PRIMARY KEY)")
        with holder.transaction():
            holder.execute("INSERT INTO waited_for VALUES (1)")
            threading.Timer(1, c.cancel).start()
            began = time.monotonic()
            try:
                with c.cursor().copy("COPY waited_for FROM STDIN") as copy:
                    copy.write(b"1\n")
                raise AssertionError("a row that another transaction has was taken")
            except psycopg.errors.QueryCanceled:
                assert time.monotonic() - began < 20
        assert c.execute("SELECT count(*) FROM waited_for").fetchone() == (1,)


def copies_of_odd_names_and_under_conditions(server):
    with server.connect() as c:
        c.execute('CREATE TABLE "select" ("from" int PRIMARY KEY, "order" numeric(6, 2), "Ü" text)')
        with c.cursor().copy('COPY "select" ("from", "order") FROM STDIN WHERE "from" > 1 AND "order" < 100') as copy:
            copy.write(b"1\t1\n2\t2.345\n3\t300\n")
        with c.cursor().copy('COPY "select" TO STDOUT') as copy:
            out = b"".join(bytes(b) for b in copy)
        assert out == b"2\t2.35\t\\N\n", out


def joins_of_all_pairs_are_cancelled(server):
    with server.connect() as c:
        c.execute("CREATE TABLE pairs (a int PRIMARY KEY, k int)")
        c.execute("INSERT INTO pairs SELECT n, n FROM generate_series(1, 20000) n")
        c.execute("SET statement_timeout = '1s'")
        for sql in ("SELECT count(*) FROM pairs x, pairs y WHERE x.k + y.k = -1", "SELECT max(x.a * y.a::bigint) FROM pairs x, pairs y, pairs z",
                    "SELECT count(*) FROM pairs x JOIN pairs y ON x.k / 30000 = y.k / 30000"):
            began = time.monotonic()
            try:
                print(" ", c.execute(sql).fetchone(), "in", time.monotonic() - began)
            except psycopg.errors.QueryCanceled:
                assert time.monotonic() - began < 15, f"{sql} was cancelled after {time.monotonic() - began:.1f} s"


def analyze_passes_over_tables_that_go(server):
    """ANALYZE waits for who drops a table, and goes on with the others."""
    with server.connect() as holder, server.connect() as c:
        holder.execute("CREATE TABLE goes (id int)")
        holder.execute("CREATE TABLE stays (id int)")
        warnings = []
        c.add_notice_handler(lambda diagnostic: warnings.append(diagnostic.sqlstate))
        for sql, warned in (("ANALYZE", []), ("ANALYZE goes, stays", ["42P01"])):
            pid = c.execute("SELECT pg_backend_pid()").fetchone()[0]
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                with holder.transaction():
                    holder.execute("DROP TABLE goes")
                    analyzed = pool.submit(c.execute, sql)
                    while holder.execute("SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s", (pid,)).fetchone() != ("Lock",):
                        assert not analyzed.done(), "it did not wait"
                assert analyzed.result().statusmessage == "ANALYZE"
            assert warnings == warned, warnings
            holder.execute("CREATE TABLE goes (id int)")


def portals_of_a_failed_transaction_are_not_run(server):
    def message(kind, body=b""):
        return kind + struct.pack("!I", 4 + len(body)) + body
    startup = b"user\0stoa\0database\0stoa\0\0"
    with socket.create_connection(("127.0.0.1", server.port), 10) as s:
        s.sendall(struct.pack("!II", 8 + len(startup), 196608) + startup)
        def until_ready():
            data = b""
            while not (data[-6:-1] == b"Z\0\0\0\5"):
                data += s.recv(65536)
            return data
        until_ready()
        s.sendall(message(b"Q", b"BEGIN\0"))
        until_ready()
        s.sendall(message(b"P", b"\0SELECT * FROM generate_series(1, 10)\0\0\0") + message(b"B", b"p\0\0" + struct.pack("!HHH", 0, 0, 0))
                  + message(b"E", b"p\0" + struct.pack("!I", 2)) + message(b"P", b"\0SELECT nosuch\0\0\0") + message(b"S"))
        data = until_ready()
        assert b"42703" in data and data.count(b"D\0\0\0") == 2, data
        s.sendall(message(b"E", b"p\0" + struct.pack("!I", 2)) + message(b"S"))
        data = until_ready()
        assert b"25P02" in data and b"D\0\0\0" not in data, data


def binary_cursors(server):
    with server.connect() as c:
        for statement in "BEGIN", "DECLARE b BINARY CURSOR FOR SELECT g, g::text || '!' FROM generate_series(1, 3) g", "DECLARE t CURSOR FOR SELECT 7":
            c.execute(statement)
        result = c.pgconn.exec_(b"FETCH 2 FROM b")
        assert [result.fformat(n) for n in range(2)] == [1, 1] and result.get_value(1, 0) == struct.pack("!I", 2) and result.get_value(1, 1) == b"2!"
        result = c.pgconn.exec_(b"FETCH ALL FROM t")
        assert result.fformat(0) == 0 and result.get_value(0, 0) == b"7"
        # Who names formats gets them, as of any other statement.
        assert c.execute("FETCH FROM b", prepare=True, binary=False).fetchone() == (3, "3!")


def snapshots_are_lent(server):
    """pg_export_snapshot() and SET TRANSACTION SNAPSHOT, and who lives by them: `pg_dump -j`."""
    with server.connect() as a, server.connect() as b, server.connect() as c:
        c.execute("CREATE TABLE t (id int PRIMARY KEY, n int)")
        c.execute("CREATE INDEX ON t (n)")
        c.execute("INSERT INTO t SELECT g, g FROM generate_series(1, 3000) g")
        sum_of = "SELECT count(*), sum(n), (SELECT count(*) FROM t WHERE n = -1) FROM t"
        for level in "REPEATABLE READ", "READ COMMITTED":
            a.execute(f"BEGIN ISOLATION LEVEL {level}")
            a.execute("INSERT INTO t VALUES (-7, -1)")
            before = c.execute(sum_of).fetchone()
            name = a.execute("SELECT pg_export_snapshot()").fetchone()[0]
            assert re.fullmatch(r"[0-9A-F]{8}-[0-9A-F]{8}-1", name), name
            assert a.execute("SELECT count(DISTINCT pg_export_snapshot()) FROM t").fetchone() == (1,)
            c.execute("INSERT INTO t VALUES (-1, -1)")
            c.execute("CREATE TABLE later (id int)")
            b.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            b.execute(f"SET TRANSACTION SNAPSHOT '{name}'")
            assert b.execute(sum_of).fetchone() == before
            assert b.execute("SELECT count(*) FROM pg_class WHERE relname = 'later'").fetchone() == (0,)
            # What the lender wrote is its own, and its end takes nothing from who reads already.
            a.execute("ROLLBACK")
            c.execute("DELETE FROM t WHERE id = -1")
            assert b.execute(sum_of).fetchone() == before
            # A change of a row that changed behind the snapshot is refused, as of any transaction of this level.
            c.execute("UPDATE t SET n = n WHERE id = 1")
            try:
                b.execute("UPDATE t SET n = 0 WHERE id = 1")
                raise AssertionError("a row was changed behind the snapshot")
            except psycopg.errors.SerializationFailure:
                b.execute("ROLLBACK")
            for wrong in name, name[:-1] + "2", name + "-1", "0" + name, "..":
                b.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                try:
                    b.execute(f"SET TRANSACTION SNAPSHOT '{wrong}'")
                    raise AssertionError(f"{wrong} is no snapshot")
                except psycopg.errors.InvalidParameterValue:
                    b.execute("ROLLBACK")
            c.execute("DROP TABLE later")
        c.execute("CREATE DATABASE other")
        a.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        name = a.execute("SELECT pg_export_snapshot()").fetchone()[0]
        with psycopg.connect(host="127.0.0.1", port=server.port, user="stoa", dbname="other", autocommit=True) as d:
            d.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            try:
                d.execute(f"SET TRANSACTION SNAPSHOT '{name}'")
                raise AssertionError("a snapshot of another database")
            except psycopg.errors.FeatureNotSupported:
                pass
        for number in range(5):
            c.execute(f"CREATE TABLE part{number} AS SELECT g AS id, 'text ' || g AS x FROM generate_series(1, {number * 500}) g")
    with tempfile.TemporaryDirectory() as work:
        dsn = f"host=127.0.0.1 port={server.port} user=stoa dbname=stoa"
        subprocess.run(["pg_dump", "-j", "3", "-Fd", "-f", f"{work}/dump", dsn], check=True, timeout=120)
        subprocess.run(["pg_restore", "-j", "2", "-d", dsn.replace("dbname=stoa", "dbname=other"), f"{work}/dump"], check=True, timeout=120)
    with psycopg.connect(host="127.0.0.1", port=server.port, user="stoa", dbname="other", autocommit=True) as d:
        assert d.execute("SELECT count(*), sum(n) FROM t").fetchone() == (3000, 4501500)
        assert [d.execute(f"SELECT count(*) FROM part{number}").fetchone()[0] for number in range(5)] == [0, 500, 1000, 1500, 2000]


def cancel_and_timeouts(server):
    with server.connect() as c:
        c.execute("SET statement_timeout = '200ms'")
        began = time.time()
        try:
            c.execute("SELECT count(*) FROM generate_series(1, 100000000) a").fetchone()
            raise AssertionError("no timeout")
        except psycopg.Error as e:
            assert e.sqlstate == "57014", e.sqlstate
        assert time.time() - began < 5
        assert c.execute("SELECT 1").fetchone() == (1,)


def psql_describes(server):
    with server.connect() as c:
        c.execute("CREATE TABLE d (id int PRIMARY KEY, name varchar(10) NOT NULL DEFAULT 'x')")
    def psql(*args):
        return subprocess.run(["psql", "-X", "-h", "127.0.0.1", "-p", str(server.port), "-U", "stoa", "-d", "stoa", *args],
                              capture_output=True, text=True, timeout=30)
    for command in ("\\d", "\\d d", "\\d+ d", "\\dt", "\\dn", "\\dv", "\\df upper", "\\du", "\\l"):
        out = psql("-c", command)
        assert out.returncode == 0 and "ERROR" not in out.stderr, (command, out.stderr)
    assert "d_pkey" in psql("-c", "\\d d").stdout


def dsn(server):
    return f"host=127.0.0.1 port={server.port} user=stoa dbname=stoa"


def indexes_give_what_tables_give(server):
    """Wrong results that others shipped, and random tables and queries; tests/indexes has longer runs."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "indexes"))
    import metamorphic, peers
    peers.run(dsn(server))
    for seed in range(12):
        metamorphic.run(dsn(server), seed)


def indexes_are_built_while_others_write(server):
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "indexes"))
    import builds
    builds.run(dsn(server), 2)


def killed_rebuilds_of_indexes_take_their_place(server):
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "indexes"))
    import killed

    killed.run(BINARY, 4)


def a_killed_index_build_is_finished(server):
    with server.connect() as c:
        c.execute("CREATE TABLE k (id int PRIMARY KEY, a int, b text)")
        c.execute("INSERT INTO k SELECT n, n % 1000, 'b' || n FROM generate_series(1, 150000) n")
    def build():
        try:
            with server.connect() as c:
                c.execute("CREATE INDEX CONCURRENTLY ki ON k (a) INCLUDE (b)")
        except psycopg.Error:
            pass
    builder = threading.Thread(target=build)
    builder.start()
    # Not before it has noted how far it is.
    with server.connect() as c:
        for _ in range(1000):
            if c.execute("SELECT 1 FROM pg_stat_progress_create_index WHERE tuples_done > 20000").fetchall():
                break
            time.sleep(0.01)
        else:
            raise AssertionError("the build was not seen")
    server.kill()
    builder.join()
    server.start()
    with server.connect() as c:
        for _ in range(600):
            state = c.execute("SELECT indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE relname = 'ki'").fetchall()
            if state in ([], [(True,)]):
                break
            time.sleep(0.1)
        assert state in ([], [(True,)]), state
        assert c.execute("CHECK TABLE k").fetchall() == []
        assert c.execute("SELECT count(b) FROM k WHERE a = 7").fetchone() == (150,)


def fails(sqlstate, f):
    try:
        f()
    except psycopg.Error as e:
        assert e.sqlstate == sqlstate, (e.sqlstate, sqlstate, str(e))
        return str(e)
    raise AssertionError(f"no error {sqlstate}")


def errors_point_at_what_they_are_about(server):
    """`^` stands before the place. They are PostgreSQL's."""
    statements = """
        SELECT 1 UNION SELECT ^true
        SELECT 1 UNION SELECT ^1, 2
        SELECT 1, 'a'::text UNION ALL SELECT 2, ^3 UNION SELECT 4, 5
        SELECT 1 UNION SELECT ^* FROM (SELECT 1 AS a, 2 AS b) s
        VALUES (1), (^2, 3)
        SELECT a FROM (VALUES (1), (^true)) v(a)
        SELECT ARRAY[1, ^true]
        SELECT CASE WHEN true THEN ^1 ELSE true END
        SELECT coalesce(1, ^true)
        SELECT greatest(1, ^'x')
        WITH RECURSIVE t(n) AS (SELECT ^1::numeric(5,1) UNION ALL SELECT n + 1 FROM t) SELECT * FROM t
        SELECT ^nothing FROM pg_class
        SELECT 1 FROM ^nothing
        SELECT ^nothing(1)
        SELECT true ^+ 1
        SELECT 1 FORM ^x
    """
    with server.connect() as c:
        for marked in filter(None, map(str.strip, statements.splitlines())):
            try:
                c.execute(marked.replace("^", ""))
            except psycopg.Error as e:
                assert e.diag.statement_position == str(marked.index("^") + 1), (marked, e.diag.statement_position)
            else:
                raise AssertionError(marked)


def what_is_too_large_or_no_text_is_refused(server):
    with server.connect() as c:
        c.execute("CREATE TABLE big (k text PRIMARY KEY, v text, b bytea)")
        fails("54000", lambda: c.execute("INSERT INTO big VALUES (repeat('x', 70000), 'a')"))
        fails("54000", lambda: c.execute("INSERT INTO big VALUES ('v', %s)", ("y" * 10_600_000,)))
        fails("54000", lambda: c.execute("INSERT INTO big VALUES ('b', NULL, %b)", (b"y" * 12_000_000,)))
        fails("54000", lambda: c.execute("SELECT length(repeat('x', 2000000000))"))
        fails("22021", lambda: c.execute(b"SELECT '\xff\xfe'"))
        fails("22021", lambda: c.execute("SELECT convert_from('\\xff'::bytea, 'UTF8')"))
        assert c.execute("SELECT count(*) FROM big").fetchone() == (0,)


def statements_nest_deeply(server):
    """A thousand levels of each kind and chains of thousands; what is deeper is refused, and the server lives."""
    n = 1000
    deep = {
        "SELECT " + "(" * n + "1" + ")" * n: (1,),
        "SELECT " + "(a + " * n + "0" + ")" * n + " FROM t": (n,),
        "SELECT " + "abs(" * n + "a" + ")" * n + " FROM t": (1,),
        "SELECT a FROM t WHERE " + "NOT " * n + "a = 1": (1,),
        "SELECT " + "CASE WHEN a = 2 THEN 0 ELSE " * n + "7" + " END" * n + " FROM t": (7,),
        "SELECT a" + "::bigint::int" * n + " FROM t": (1,),
        "SELECT a FROM t WHERE " + "".join(f"(a = {i} {'OR' if i % 2 else 'AND a < 9 OR'} " for i in range(n)) + "a = 1" + ")" * n: (1,),
        "SELECT a FROM " + "(SELECT a FROM " * n + "t" + ") q" * n: (1,),
        "(" * n + "SELECT 1" + ")" * n: (1,),
        "SELECT " + "(SELECT " * 100 + "a" + ")" * 100 + " FROM t": (1,),
        "SELECT a FROM t WHERE " + "EXISTS (SELECT 1 WHERE " * 50 + "a = 1" + ")" * 50: (1,),
        "SELECT length(" + "||".join(["b"] * 2000) + ") FROM t": (2000,),
        "SELECT " + "+".join(["a"] * 2000) + " FROM t": (2000,),
        "SELECT a FROM t WHERE " + " OR ".join(f"a = {i}" for i in range(3000)): (1,),
        "SELECT a FROM t WHERE " + " AND ".join(f"10 / a > {-i}" for i in range(2000)): (1,),
        "SELECT count(*) FROM (" + " UNION ALL ".join(["SELECT 1"] * 1000) + ") q": (1000,),
    }
    with server.connect() as c:
        c.execute("CREATE TABLE t (a int, b text)")
        c.execute("INSERT INTO t VALUES (1, 'x')")
        for sql, row in deep.items():
            assert c.execute(sql).fetchall() == [row], sql[:60]
        # What is wrong far below is told once, and not sought anew at each level.
        fails("42601", lambda: c.execute("SELECT (" * n + "SELECT 1 +" + ")" * n))
        for sql in ("SELECT " + "(" * 20_000 + "1" + ")" * 20_000, "SELECT " + "(SELECT " * 20_000 + "1" + ")" * 20_000,
                    "SELECT " + "+".join(["a"] * 50_000) + " FROM t"):
            fails("54001", lambda: c.execute(sql))
        assert c.execute("SELECT 1").fetchone() == (1,)


def half_a_copy_leaves_nothing(server):
    """The client goes away in the middle of COPY, or says that it failed."""
    with server.connect() as c:
        c.execute("CREATE TABLE k (id int PRIMARY KEY)")
    gone = server.connect()
    copy = gone.cursor().copy("COPY k FROM STDIN")
    stream = copy.__enter__()
    stream.write(b"".join(b"%d\n" % i for i in range(50_000)))
    socket.socket(fileno=os.dup(gone.fileno())).shutdown(socket.SHUT_RDWR)
    with server.connect() as c:
        def failing():
            with c.cursor().copy("COPY k FROM STDIN") as copy:
                copy.write(b"1\n2\n")
                raise KeyError("the program's own error")
        try:
            failing()
        except KeyError:
            pass
        assert c.execute("SELECT count(*) FROM k").fetchone() == (0,)


def a_corrupted_file_is_told(server):
    with server.connect() as c:
        c.execute("CREATE TABLE z (id int PRIMARY KEY, v text)")
        c.execute("INSERT INTO z SELECT g, md5(g::text) FROM generate_series(1, 50000) g")
    server.stop()
    server.start()
    with server.connect() as c:
        c.execute("VACUUM")
    server.stop()
    files = sorted(pathlib.Path(server.data, "store").rglob("*.sst"), key=lambda f: -f.stat().st_size)
    if not files:
        return
    with open(files[0], "r+b") as f:
        f.seek(files[0].stat().st_size // 3)
        f.write(os.urandom(4096))
    process = subprocess.Popen([BINARY, "serve", "--data", server.data, "--listen", f"127.0.0.1:{server.port}"], stderr=subprocess.PIPE)
    server.process = process
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", server.port), 1).close()
            break
        except OSError:
            if process.poll() is not None:  # refused at once: told, not read as empty
                assert b"orrupt" in process.stderr.read()
                return
            time.sleep(0.05)
    with server.connect() as c:
        message = fails("XX001", lambda: c.execute("SELECT count(*), min(v) FROM z").fetchone())
        assert "orrupt" in message, message
        assert c.execute("SELECT 1").fetchone() == (1,)


def memory_is_little_and_limited(server):
    # What statements have freed goes back to the system some seconds later.
    until = time.monotonic() + 15
    while server.memory() >= 90 and time.monotonic() < until:
        time.sleep(0.5)
    assert server.memory() < 90, f"idle: {server.memory():.0f} MiB"
    server.stop()
    server.more = ("--memory-limit", "128MB")
    server.start()
    with server.connect() as c:
        c.execute("SET statement_timeout = '60s'")
        for sql in ("SELECT array_agg(md5(g::text)) FROM generate_series(1, 2000000) g",
                    "SELECT count(*) FROM (SELECT md5(g::text) m FROM generate_series(1, 400000) g ORDER BY m OFFSET 1) x"):
            try:
                c.execute(sql).fetchone()
            except psycopg.Error as e:
                assert e.sqlstate in ("53200", "57014"), (sql, e.sqlstate, str(e))
        assert c.execute("SELECT 1").fetchone() == (1,)
    # Above the limit is what it does not cover: the program itself, and the one value of 70 MB on its way to the client, which is
    # there as an array and as text.
    assert server.memory("VmHWM") < 500, f"{server.memory('VmHWM'):.0f} MiB at a limit of 128"


def a_full_disk_fails_statements_and_loses_nothing(server):
    """On a file system of a few MiB; needs to be root, and is passed over otherwise."""
    small = server.data + "-small"
    os.mkdir(small)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", small], capture_output=True).returncode != 0:
        return
    full = None
    try:
        full = Server(small + "/d")
        with full.connect() as c:
            c.execute("CREATE TABLE f (id bigint PRIMARY KEY, v text)")
            kept, error = 0, None
            for n in range(200):
                try:
                    c.execute("INSERT INTO f SELECT %s * 1000 + g, repeat(md5((g * %s)::text), 30) FROM generate_series(0, 999) g", (n, n + 1))
                    kept += 1
                except psycopg.Error as e:
                    error = e
                    break
            assert error is not None, "the disk was never full"
            assert error.sqlstate in ("53100", "58030"), (error.sqlstate, str(error))
        with full.connect() as c:
            assert c.execute("SELECT count(*) FROM f").fetchone() == (kept * 1000,)
    finally:
        if full and full.process.poll() is None:
            full.kill()
        subprocess.run(["umount", "-l", small], capture_output=True)


def load_dump_and_restore(server):
    """A dump restored by psql is the same dump again."""
    work = pathlib.Path(server.data).parent
    def psql(*args):
        return subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(server.port), "-U", "stoa", "-d", "stoa", *args],
                              capture_output=True, text=True, timeout=120)
    definitions = psql("-f", str(pathlib.Path(__file__).resolve().parent / "dump.sql"))
    assert definitions.returncode == 0, definitions.stderr
    server.stop()
    def stoa(command, *args, data=server.data):
        return subprocess.run([BINARY, command, "--data", data, *args], capture_output=True, text=True, timeout=120)
    (work / "rows.csv").write_text("id,name,at\n" + "".join(f'{i},"n\n{i}",2024-01-01 00:00:0{i % 10}\n' for i in range(2500)))
    loaded = stoa("load", "--table", "loaded", "--create", "--key", "id", "--commit-rows", "1000", str(work / "rows.csv"))
    assert loaded.returncode == 0 and "2500 rows" in loaded.stderr, loaded.stderr
    (work / "bad.csv").write_text("id,name\n" + "".join(f"{i},x\n" for i in range(5000, 5005)) + "no number,x\n")
    bad = stoa("load", "--table", "loaded", "--commit-rows", "2", str(work / "bad.csv"))
    assert bad.returncode != 0 and "22P02" in bad.stderr and "line 7" in bad.stderr and "--skip 4" in bad.stderr, bad.stderr
    documents = [{"id": i, "name": f"n\t{i}", "tags": ["a", None, f"b{i}"], "extra": {"deep": [i]}, "at": "2024-01-01"} for i in range(250)]
    del documents[7]["extra"]
    (work / "rows.json").write_text(json.dumps(documents, indent=1))
    (work / "rows.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents) + '{"id": "no number"}\n')
    whole = stoa("load", "--table", "documents", "--create", "--key", "id", str(work / "rows.json"))
    assert whole.returncode == 0 and "250 rows" in whole.stderr, whole.stderr
    number = re.search(r"load (\S+):", whole.stderr)[1]
    again = stoa("load", "--table", "documents", "--resume", number, str(work / "rows.json"))
    assert again.returncode == 0 and "\n0 rows" in again.stderr, again.stderr
    made = stoa("sql", "-c", "CREATE TABLE lines (id int PRIMARY KEY, tags text[], extra jsonb, at timestamptz, kept int DEFAULT 5)")
    assert made.returncode == 0, made.stderr
    args = ("--table", "lines", "--columns", "id,tags,extra,at", str(work / "rows.jsonl"))
    lines = stoa("load", "--commit-rows", "100", *args)
    assert lines.returncode != 0 and "22P02" in lines.stderr and "row 251" in lines.stderr and "--skip 200" in lines.stderr, lines.stderr
    # Mended, the file goes on where its committed parts end.
    (work / "rows.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    other = stoa("load", "--resume", re.search(r"load (\S+):", lines.stderr)[1], *args)
    assert other.returncode != 0 and "another size" in other.stderr, other.stderr
    lines = stoa("load", "--skip", "200", *args)
    assert lines.returncode == 0 and "\n50 rows" in lines.stderr, lines.stderr
    (work / "rows.csv").write_text('300,"{}"\n')
    headless = stoa("load", "--table", "lines", str(work / "rows.csv"))
    assert headless.returncode != 0 and "42703" in headless.stderr and "--columns" in headless.stderr, headless.stderr
    parquet = stoa("load", "--table", "typed", "--create", "--key", "id", str(pathlib.Path(__file__).resolve().parent / "load" / "types.parquet"))
    assert parquet.returncode == 0 and "300 rows" in parquet.stderr, parquet.stderr
    for sql, wanted in [
        ("SELECT count(*), count(extra), sum((extra->'deep'->>0)::int), min(tags::text), max(name), max(at) FROM documents",
         "250\t249\t31118\t[\"a\", null, \"b0\"]\tn\t99\t2024-01-01"),
        ("SELECT count(*), max(tags[3]), count(tags[2]), max(kept), max(at) FROM lines WHERE id >= 0", "250\tb99\t0\t5\t2024-01-01 00:00:00+00"),
        ("SELECT id, big, u, small, flag, r, f, price, kind, raw, day, clock, at, at_ns, at_tz, numbers, words, place, labels FROM typed WHERE id = 299",
         "299\t328753976705024\t18446744073709551316\t49\tf\t149.5\t29.9\t2.99\thigh\t\\x2b00ff\t2024-10-26\t11:01:02.000003\t2024-01-01 00:04:59.000299\t"
         "2024-01-01 00:04:59.000299\t2024-01-01 00:04:59+00\t{299,NULL,-299}\t{\"a \\\"b\\\"\",\"c,\\\\d\"}\t{\"x\": 74.75, \"name\": \"p299\"}\t{\"a\": 299}"),
        ("SELECT count(*), count(place), count(DISTINCT word), max(length(word)) FROM typed", "300\t258\t207\t7"),
        ("SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'typed'::regclass AND attnum > 0",
         "integer bigint numeric(20,0) smallint boolean real double precision numeric(12,2) text text bytea date time without time zone timestamp without time zone "
         "timestamp without time zone timestamp with time zone integer[] text[] jsonb jsonb"),
    ]:
        found = stoa("sql", "--plain", "-c", sql)
        assert wanted in found.stdout, f"{sql}: {found.stdout}{found.stderr}"
    gone = stoa("sql", "-c", "DROP TABLE documents, lines, typed")
    assert gone.returncode == 0, gone.stderr
    first = stoa("dump")
    assert first.returncode == 0, first.stderr
    for word in ("FAMILY big (raw) WITH (compression = 'zstd'", "PRIMARY KEY (device, at DESC)", "salt_buckets = 4", "SPLIT AT (",
                 "GENERATED ALWAYS AS IDENTITY", "MATERIALIZED VIEW", "COMMENT ON COLUMN", "ON DELETE CASCADE", "FAMILY x ()",
                 "SPLIT AT (('NaN', 1), (1000000000000000000000000000000, 1.5), (2.5, 'NaN'), (0, 0), (-0.000012345, -1))", "salt_buckets='3'"):
        assert word in first.stdout, f"no {word!r} in the dump"
    (work / "whole.sql").write_text("what was there")
    # A dump that outgrows what a file may hold leaves what was there, and a whole one takes its place.
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    cut = subprocess.run([BINARY, "dump", "--data", server.data, "-o", str(work / "whole.sql")], capture_output=True, text=True, timeout=120, preexec_fn=small_files)
    assert cut.returncode != 0 and (work / "whole.sql").read_text() == "what was there", cut.stderr
    assert stoa("dump", "-o", str(work / "whole.sql")).returncode == 0 and (work / "whole.sql").read_text() == first.stdout
    assert not [f.name for f in work.iterdir() if f.name.endswith(".partial")]
    (work / "first.sql").write_text(first.stdout)
    server.data = str(work / "second")
    server.start()
    restored = psql("-f", str(work / "first.sql"))
    assert restored.returncode == 0, restored.stderr
    server.stop()
    second = stoa("dump", data=server.data)
    assert second.stdout == first.stdout, "the dump of the restored database differs"
    # A name without a directory is one in the working directory.
    here = subprocess.run([pathlib.Path(BINARY).resolve(), "dump", "--data", pathlib.Path(server.data).resolve(), "-o", "here.sql"], cwd=work, capture_output=True, text=True, timeout=120)
    assert here.returncode == 0 and (work / "here.sql").read_text() == first.stdout, here.stderr
    backup = stoa("backup", str(work / "copy"), data=server.data)
    assert backup.returncode == 0, backup.stderr
    assert stoa("dump", data=str(work / "copy")).stdout == first.stdout, "the backup differs"
    demo = stoa("demo", data=str(work / "demo"))
    assert demo.returncode == 0, demo.stderr


def increments_of_entries_are_never_lost(server):
    threads, each = 8, 60
    with server.connect() as c:
        c.execute("CREATE TABLE counters (id int PRIMARY KEY, hits map(text, bigint))")
        c.execute("INSERT INTO counters (id) VALUES (1)")

        def work(n):
            with server.connect() as own:
                for i in range(each):
                    own.execute(f"UPDATE counters SET hits['all'] = coalesce(hits['all'], 0) + 1, hits['w{n}'] = coalesce(hits['w{n}'], 0) + 1 WHERE id = 1")
                    if i % 3 == 0:
                        own.execute("INSERT INTO counters (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET hits['up'] = coalesce(counters.hits['up'], 0) + 1")
                    if i % 5 == 0:
                        own.execute("INSERT INTO counters_hits_entries VALUES (1, 'alone', 1) ON CONFLICT (id, key) DO UPDATE SET value = counters_hits_entries.value + 1")

        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
        wanted = {"all": threads * each, "up": threads * each // 3, "alone": threads * each // 5, **{f"w{n}": each for n in range(threads)}}
        found = c.execute("SELECT hits::jsonb FROM counters").fetchone()[0]
        assert found == wanted, f"{found} instead of {wanted}"

        # Rows that go while their entries are written: no entry is left without its row.
        def fight(n):
            rng = random.Random(n)
            with server.connect() as own:
                for _ in range(each):
                    row = rng.randrange(3)
                    sql = rng.choice(["INSERT INTO counters VALUES ({0}, map['a' => 1, 'b' => 2]) ON CONFLICT DO NOTHING", "DELETE FROM counters WHERE id = {0}",
                                      "UPDATE counters SET hits['a'] = 5, hits = hits - 'b' WHERE id = {0}", "UPDATE counters SET hits = map['whole' => 1] WHERE id = {0}",
                                      "UPDATE counters SET hits = hits || map['m' => 1] WHERE id = {0}", "INSERT INTO counters_hits_entries VALUES ({0}, 'direct', 1)"])
                    try:
                        own.execute(sql.format(row))
                    except (psycopg.errors.ForeignKeyViolation, psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected, psycopg.errors.SyntaxError) as e:
                        assert not isinstance(e, psycopg.errors.SyntaxError) or "multiple assignments" in str(e), e

        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            list(pool.map(fight, range(threads)))
        assert c.execute("SELECT count(*) FROM counters_hits_entries e WHERE NOT EXISTS (SELECT 1 FROM counters c WHERE c.id = e.id)").fetchone() == (0,)


def dumps_restore_maps(server):
    work = pathlib.Path(server.data).parent
    dsn = lambda: f"host=127.0.0.1 port={server.port} user=stoa dbname=stoa"
    values = "SELECT id, labels, hits, (SELECT count(*) FROM t_labels_entries) FROM t ORDER BY id"
    with server.connect() as c:
        c.execute("CREATE TABLE t (id int PRIMARY KEY, labels map(text, text), hits map(date, int) DEFAULT map[date '2024-01-01' => 1])")
        c.execute("INSERT INTO t VALUES (1, map['a\"b' => E'x\\ty\\n', 'c' => NULL], DEFAULT), (2, NULL, NULL)")
        c.execute("CREATE VIEW v AS SELECT id, labels['c'], hits FROM t")
        c.execute("CREATE INDEX by_label ON t_labels_entries (value) WHERE key = 'c'")
        wanted = c.execute(values).fetchall()
        with c.cursor().copy("COPY t TO STDOUT (FORMAT binary)") as copy:
            binary = b"".join(copy)
        c.execute("CREATE TABLE copied (LIKE t)")
        with c.cursor().copy("COPY copied FROM STDIN (FORMAT binary)") as copy:
            copy.write(binary)
        assert c.execute("SELECT count(*) FROM t, copied WHERE t.labels = copied.labels AND t.hits = copied.hits").fetchone() == (2,)
        c.execute("DROP TABLE copied")
    dumped = subprocess.run(["pg_dump", "--no-owner", "--no-acl", "-n", "public", dsn()], capture_output=True, text=True, timeout=120)
    assert dumped.returncode == 0, dumped.stderr
    assert "_entries" not in dumped.stdout, dumped.stdout
    with server.connect() as c:
        c.execute("DROP TABLE t CASCADE")
    text = "\n".join(line for line in dumped.stdout.splitlines() if line != "CREATE SCHEMA public;")
    restored = subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", dsn()], input=text, capture_output=True, text=True, timeout=120)
    assert restored.returncode == 0, restored.stderr
    with server.connect() as c:
        assert c.execute(values).fetchall() == wanted
        c.execute("CREATE INDEX by_label ON t_labels_entries (value) WHERE key = 'c'")
    server.stop()
    stoa = lambda *args, data: subprocess.run([BINARY, args[0], "--data", data, *args[1:]], capture_output=True, text=True, timeout=120)
    first = stoa("dump", data=server.data)
    assert first.returncode == 0 and "by_label" in first.stdout, first.stderr
    server.data = str(work / "second")
    server.start()
    again = subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", dsn()], input=first.stdout, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    with server.connect() as c:
        assert c.execute(values).fetchall() == wanted
    server.stop()
    assert stoa("dump", data=server.data).stdout == first.stdout, "the dump of the restored database differs"


TESTS = [errors_point_at_what_they_are_about, what_is_too_large_or_no_text_is_refused, statements_nest_deeply, half_a_copy_leaves_nothing, a_corrupted_file_is_told, memory_is_little_and_limited,
         regions_tell_what_is_read_and_written, hot_regions_are_told_with_what_to_do,
         snapshots_are_whole_whatever_is_killed, writers_by_foreign_tables_are_waited_for,
         a_full_disk_fails_statements_and_loses_nothing, load_dump_and_restore, rows_survive_kill_and_restart, nothing_acknowledged_is_lost, a_second_process_is_refused, malformed_frames_end_one_connection_only,
         parameters_and_results_of_each_type, copy_in_and_out, copies_of_odd_names_and_under_conditions, joins_of_all_pairs_are_cancelled, a_copy_that_waits_is_cancelled, analyze_passes_over_tables_that_go, portals_of_a_failed_transaction_are_not_run, binary_cursors, snapshots_are_lent, cancel_and_timeouts, psql_describes,
         the_examples_of_the_reference_run, indexes_give_what_tables_give, indexes_are_built_while_others_write,
         a_killed_index_build_is_finished, increments_of_entries_are_never_lost, dumps_restore_maps, killed_rebuilds_of_indexes_take_their_place]
for t in TESTS:
    if len(sys.argv) < 3 or t.__name__ in sys.argv[2:]:
        test(t)
bad = sum(1 for _, e in results if e)
print(f"{len(results) - bad} passed, {bad} failed")
sys.exit(1 if bad else 0)
