#!/usr/bin/env python3
"""A full disk: what writes fails with 53100, what reads goes on, nothing is lost, and when there is room again writes go on by themselves.

    full_disk.py BINARY [NAME…]

On a small file system of its own, which needs to be root; it is said where that is not possible, and nothing is tested.
"""
import contextlib, os, pathlib, random, shutil, socket, subprocess, sys, tempfile, threading, time

import psycopg

BINARY = sys.argv[1]
MIB = 1 << 20
NOISE = "sha512((g * 7919 + {0})::text::bytea) || sha512((g * 7919 + {0} + 1)::text::bytea)"


class Disk:
    """A file system whose free space is as much as one likes."""

    def __init__(self, directory, mib):
        self.path = pathlib.Path(directory)
        self.path.mkdir()
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "none", directory], capture_output=True).returncode == 0
        self.ballast = self.path / "ballast"

    def free(self):
        s = os.statvfs(self.path)
        return s.f_bavail * s.f_frsize

    def leave(self, mib):
        """Others take what there is but so much, or give it back."""
        with open(self.ballast, "ab") as file:
            size = file.tell()
            wanted = max(0, size + self.free() - int(mib * MIB))
            if wanted > size:
                with contextlib.suppress(OSError):     # somebody else was faster
                    os.posix_fallocate(file.fileno(), 0, wanted)
            else:
                os.truncate(self.ballast, wanted)

    def remove(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.path], check=True)
        self.path.rmdir()


class Server:
    def __init__(self, data, memory):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.data, self.memory, self.log = data, memory, f"{tempfile.gettempdir()}/stoa-full-disk-{os.getpid()}.log"
        self.start()

    def start(self):
        self.process = subprocess.Popen([BINARY, "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}", "--memory-limit", self.memory],
                                        stdout=subprocess.DEVNULL, stderr=open(self.log, "ab"))
        for _ in range(1200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None, f"the server does not start: {pathlib.Path(self.log).read_text()[-400:]}"
                time.sleep(0.05)
        raise AssertionError("the server does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def connect(self):
        return psycopg.connect(host="127.0.0.1", port=self.port, user="stoa", dbname="stoa", autocommit=True, connect_timeout=20,
                               options="-c statement_timeout=60s")

    def stoa(self, command, *args):
        return subprocess.run([BINARY, command, "--data", str(self.data), "--memory-limit", self.memory, *map(str, args)], capture_output=True, text=True, timeout=300)


def is_full(run):
    """Fails for want of space, and says what to do."""
    try:
        run()
    except psycopg.Error as error:
        assert error.sqlstate == "53100", (error.sqlstate, str(error))
        assert error.diag.message_hint and "by themselves" in error.diag.message_hint, str(error)
        return True
    return False


def one(c, sql):
    return c.execute(sql).fetchone()[0]


def goes_on(c, sql, seconds=20):
    """Tries until it is done; the seconds that took."""
    began = time.monotonic()
    while is_full(lambda: c.execute(sql)):
        assert time.monotonic() - began < seconds, f"after {seconds} s there is room, and still: {sql}"
        time.sleep(0.1)
    return time.monotonic() - began


def fill(c, table, rows=2000):
    """Inserts until the disk is full; the rows that were acknowledged."""
    n = 0
    while not is_full(lambda: c.execute(f"INSERT INTO {table} SELECT {n} * 100000 + g, {NOISE.format(n)} FROM generate_series(1, {rows}) g")):
        n += 1
        assert n < 3000, "the disk is never full"
    return n * rows


def commits_fail_and_go_on(disk, server):
    with server.connect() as c:
        c.execute("CREATE TABLE t (id bigint PRIMARY KEY, v bytea)")
        c.execute("CREATE TABLE other (id bigint PRIMARY KEY, v bytea)")
        c.execute(f"INSERT INTO other SELECT g, {NOISE.format(5)} FROM generate_series(1, 20000) g")
        disk.leave(40)
        rows = fill(c, "t")
        assert rows > 0 and one(c, "SELECT count(*) FROM t") == rows
        assert disk.free() > 2 * MIB, "something is left for what is needed in any case"
        # What makes room is done.
        c.execute("DELETE FROM t WHERE id % 7 = 0 AND id < 10000")
        c.execute("DROP TABLE other")
        rows = one(c, "SELECT count(*) FROM t")
        disk.leave(48)
        took = goes_on(c, "INSERT INTO t VALUES (-1, 'after')")
        assert took < 2, f"{took:.1f} s"
        assert one(c, "SELECT count(*) FROM t") == rows + 1
        server.kill()
        server.start()
    with server.connect() as c:
        assert one(c, "SELECT count(*) FROM t") == rows + 1


def others_take_everything_and_give_it_back(disk, server):
    """While clients write: also in the middle of what the store does for itself."""
    with server.connect() as c:
        c.execute("CREATE TABLE t (id bigint PRIMARY KEY, v bytea)")
        c.execute("CREATE INDEX ON t (v)")
    for attempt in range(4):
        done, failed, stop = [], [], threading.Event()

        def write(number):
            with server.connect() as c:
                n = 0
                while not stop.is_set():
                    id_ = (attempt * 10 + number) * 900000 + n
                    n += 300
                    try:
                        c.execute(f"INSERT INTO t SELECT {id_} + g, {NOISE.format(id_)} FROM generate_series(1, 300) g")
                        done.append(id_)
                    except psycopg.Error as error:
                        failed.append((error.sqlstate, str(error)))
                        time.sleep(0.05)
        threads = [threading.Thread(target=write, args=(n,), daemon=True) for n in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        for left in (20, 6, 1, 0, 0):
            disk.leave(left)
            time.sleep(0.15)
        with server.connect() as c:
            assert one(c, "SELECT count(*) FROM t") >= 0
        disk.leave(48)
        with server.connect() as c:
            took = goes_on(c, f"INSERT INTO t VALUES ({-attempt - 1}, 'after')")
        stop.set()
        for thread in threads:
            thread.join()
        assert all(state in ("53100", "08007") for state, _ in failed), failed[:3]
        print(f"     {len(done)} written, {len(failed)} refused, on again after {took:.1f} s", flush=True)
        with server.connect() as c:
            there = {r[0] for r in c.execute("SELECT (id - 1) / 300 * 300 FROM t WHERE id > 0 GROUP BY 1 HAVING count(*) = 300").fetchall()}
            lost = [id_ for id_ in done if id_ not in there]
            assert not lost, lost[:3]
            assert not c.execute("CHECK TABLE t").fetchall()
        if attempt == 2:
            server.kill()
            server.start()


def a_start_needs_little(disk, server):
    with server.connect() as c:
        c.execute("CREATE TABLE t (id bigint PRIMARY KEY, v bytea)")
        n = 0
        for n in range(45):
            c.execute(f"INSERT INTO t SELECT {n} * 100000 + g, {NOISE.format(n)} FROM generate_series(1, 3000) g")
        rows = one(c, "SELECT count(*) FROM t")
    server.kill()
    assert sum(log.stat().st_size for log in (disk.path / "data" / "store").glob("*.log")) > 15 * MIB
    for left in (4, 6):
        disk.leave(left)
        server.start()
        with server.connect() as c:
            assert one(c, "SELECT count(*) FROM t") == rows
            assert is_full(lambda: c.execute("INSERT INTO t VALUES (-1, 'no room')"))
        server.kill()
    server.start()
    with server.connect() as c:
        disk.leave(80)
        goes_on(c, "INSERT INTO t VALUES (-1, 'after')")
    server.kill()
    server.start()
    with server.connect() as c:
        assert one(c, "SELECT count(*) FROM t") == rows + 1


def loads_are_whole_or_nothing(disk, server):
    rows = "".join(f"{n}\t{random.randbytes(60).hex()}\n" for n in range(400000))
    with server.connect() as c:
        c.execute("CREATE TABLE t (id bigint PRIMARY KEY, v text)")
        c.execute("INSERT INTO t VALUES (-1, 'before')")
        disk.leave(24)

        def copy():
            with c.cursor().copy("COPY t FROM STDIN") as copy_:
                copy_.write(rows)
        assert is_full(copy)
        assert one(c, "SELECT count(*) FROM t") == 1
        goes_on(c, "INSERT INTO t VALUES (-2, 'after')", 3)
    server.stop()
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        file.write("id\tv\n" + rows)
        file.flush()
        disk.leave(24)
        run = server.stoa("load", "--table", "t", "--commit-rows", 10**6, file.name)
        assert run.returncode != 0 and "53100" in run.stderr, run.stderr[-300:]
        disk.leave(130)
        run = server.stoa("load", "--table", "t", file.name)
        assert run.returncode == 0, run.stderr[-300:]
    server.start()
    with server.connect() as c:
        assert one(c, "SELECT count(*) FROM t") == 400002


def indexes_are_built_or_not_there(disk, server):
    with server.connect() as c:
        c.execute("CREATE TABLE t (id bigint PRIMARY KEY, v bytea, w text)")
        c.execute(f"INSERT INTO t SELECT g, {NOISE.format(3)}, md5(g::text) || ' ' || md5((-g)::text) || ' fox' FROM generate_series(1, 60000) g")
        # Read again from files, not from the log.
        c.execute("CHECKPOINT")
        for statement in ("CREATE INDEX i ON t (v, w)", "CREATE INDEX CONCURRENTLY i ON t (v, w)", "CREATE INDEX i ON t USING fulltext (w)"):
            disk.leave(12)
            assert is_full(lambda: c.execute(statement)), statement
            if "CONCURRENTLY" in statement:
                c.execute("DROP INDEX IF EXISTS i")
            assert one(c, "SELECT count(*) FROM pg_class WHERE relname = 'i'") == 0
            disk.leave(100)
            goes_on(c, statement)
            assert not c.execute("CHECK TABLE t").fetchall()
            c.execute("DROP INDEX i")


def full_text_goes_on(disk, server):
    with server.connect() as c:
        c.execute("CREATE TABLE t (id bigint PRIMARY KEY, w text)")
        c.execute("CREATE INDEX i ON t USING fulltext (w)")
        c.execute("INSERT INTO t SELECT g, 'fox ' || md5(g::text) FROM generate_series(1, 1000) g")
        disk.leave(11)
        rows = 1000
        for n in range(2000):
            if is_full(lambda: c.execute(f"INSERT INTO t SELECT {n} * 100 + 10000 + g, 'fox ' || md5(({n} * 100 + g)::text) FROM generate_series(1, 100) g")):
                break
            rows += 100
        assert one(c, "SELECT count(*) FROM t WHERE MATCH(w) AGAINST ('fox')") == rows
        disk.leave(60)
        goes_on(c, "INSERT INTO t VALUES (-1, 'fox')")
        began = time.monotonic()
        while c.execute("SELECT state, lag_rows FROM pg_stat_fulltext").fetchall() != [("ready", 0)]:
            assert time.monotonic() - began < 30, c.execute("SELECT state, reason, lag_rows FROM pg_stat_fulltext").fetchall()
            time.sleep(0.1)
        assert one(c, "SELECT count(*) FROM t WHERE MATCH(w) AGAINST ('fox')") == rows + 1
        assert not c.execute("CHECK TABLE t").fetchall()


def backups_are_whole_or_not_there(disk, server):
    with server.connect() as c:
        c.execute("CREATE TABLE t (id bigint PRIMARY KEY, v bytea)")
        for n in range(10):
            c.execute(f"INSERT INTO t SELECT {n} * 10000 + g, {NOISE.format(n)} FROM generate_series(1, 10000) g")
    server.kill()
    # No place for files of what is in the log.
    disk.leave(4)
    target = disk.path / "backup"
    run = server.stoa("backup", target)
    assert run.returncode != 0 and "space" in run.stderr.lower(), run.stderr[-300:]
    assert not (target / "store" / "CURRENT").exists()
    shutil.rmtree(target, ignore_errors=True)
    disk.leave(60)
    run = server.stoa("backup", target)
    assert run.returncode == 0, run.stderr[-300:]
    copy = Server(target, server.memory)
    with copy.connect() as c:
        assert one(c, "SELECT count(*) FROM t") == 100000
    copy.kill()
    server.start()


def statements_that_spill_fail_alone(disk, server):
    with server.connect() as c, server.connect() as other:
        other.execute("CREATE TABLE t (id bigint PRIMARY KEY)")
        disk.leave(14)
        for sql in ("SELECT count(*) FROM (SELECT sha512(g::text::bytea) s FROM generate_series(1, 2000000) g ORDER BY s OFFSET 1) x",
                    "SELECT count(*) FROM (SELECT sha512(g::text::bytea) s, count(*) FROM generate_series(1, 2000000) g GROUP BY s) x"):
            assert is_full(lambda: c.execute(sql).fetchone()), sql
            goes_on(other, "INSERT INTO t SELECT coalesce(max(id), 0) + 1 FROM t", 5)
        c.execute("BEGIN")
        c.execute("CREATE TEMPORARY TABLE s (v bytea)")
        assert is_full(lambda: c.execute("INSERT INTO s SELECT sha512(g::text::bytea) FROM generate_series(1, 2000000) g"))
        c.execute("ROLLBACK")
        goes_on(other, "INSERT INTO t SELECT coalesce(max(id), 0) + 1 FROM t", 5)


TESTS = [(commits_fail_and_go_on, "2GB", 256), (others_take_everything_and_give_it_back, "2GB", 256), (a_start_needs_little, "1GB", 256),
         (loads_are_whole_or_nothing, "256MB", 256), (indexes_are_built_or_not_there, "256MB", 256), (full_text_goes_on, "256MB", 160),
         (backups_are_whole_or_not_there, "1GB", 160), (statements_that_spill_fail_alone, "256MB", 128)]


def main():
    failed = 0
    for test, memory, mib in TESTS:
        if len(sys.argv) > 2 and test.__name__ not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as work:
            disk, server = Disk(work + "/disk", mib), None
            try:
                if not disk.mounted:
                    print("full disk: left out: it needs the right to mount a file system")
                    return
                server = Server(disk.path / "data", memory)
                began = time.monotonic()
                test(disk, server)
                print(f"ok   {test.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
            except Exception as error:  # one test's failure is the others' neighbour
                failed += 1
                print(f"FAIL {test.__name__}: {type(error).__name__}: {error}", flush=True)
                if "-v" in sys.argv:
                    raise
            finally:
                if server and server.process.poll() is None:
                    server.kill()
                disk.remove()
    sys.exit(1 if failed else 0)


main()
