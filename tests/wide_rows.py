#!/usr/bin/env python3
"""Rows with millions of map entries: written, ranged, paged, counted and incremented, in little memory.

    wide_rows.py BINARY [--entries 5000000] [--clients 8] [--increments 100000] [--memory 200MB] [--memory-limit 256MB]

One row gets its entries by INSERT … SELECT, another by COPY, a third by `SET m = m || …` in parts. Whatever is asked of them has a known
answer; the process never has more memory of its own than --memory (pages of files, which the system takes back when it needs them, apart).
Then clients increment entries of one row, each its own and one that all share: no increment is lost. An entry of the wide row is read
by its key, as EXPLAIN ANALYZE tells it; how long that takes, beside a row of a small table, is printed.

The short form, which the tests run: --entries 60000 --clients 4 --increments 150.
"""
import argparse, multiprocessing, pathlib, sys, tempfile, threading, time

import psycopg

sys.path.insert(0, str(pathlib.Path(__file__).parent / "history"))
from server import Server

SIZES = {"MB": 1, "GB": 1024}


def mebibytes(text):
    return int(text[:-2]) * SIZES[text[-2:]]


def status(pid):
    """Memory of a process in KiB: its own (anonymous), all that is resident, and the most that was."""
    out = {}
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("RssAnon", "VmRSS", "VmHWM"):
            out[name] = int(value.split()[0])
    return out


class Watch(threading.Thread):
    """The most memory of its own that a process has had."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.step, self.ended = pid, 0, {}, False
        self.now = "start"

    def run(self):
        while not self.ended:
            try:
                own = status(self.pid).get("RssAnon", 0)
            except OSError:
                return
            self.most = max(self.most, own)
            self.step[self.now] = max(self.step.get(self.now, 0), own)
            time.sleep(0.01)


class Test:
    def __init__(self, server, args):
        self.server, self.args, self.wrong = server, args, []
        self.watch = Watch(server.process.pid)
        self.watch.start()
        self.connection = self.connect()

    def connect(self):
        return psycopg.connect(host="127.0.0.1", port=self.server.port, user="stoa", dbname="stoa", autocommit=True)

    def step(self, name, run):
        self.watch.now = name
        start = time.time()
        run()
        taken = time.time() - start
        time.sleep(0.02)
        print(f"{name:<44} {taken:8.2f} s  {self.watch.step.get(name, 0) / 1024:6.0f} MB", flush=True)
        return taken

    def expect(self, what, found, wanted):
        if found != wanted:
            self.wrong.append(f"{what}: {found}, not {wanted}")
            print(f"  WRONG {self.wrong[-1]}", flush=True)

    def ask(self, sql, wanted):
        """The rows of a statement, streamed."""
        self.expect(sql, [row for row in self.connection.cursor().stream(sql)], wanted)

    def read_all(self, sql, count):
        """Reads rows (key, value) one by one: keys ascend, and there are so many."""
        last, seen = "", 0
        for key, value in self.connection.cursor().stream(sql):
            if key <= last:
                self.expect(sql, f"{key} behind {last}", "ascending keys")
                return
            last, seen = key, seen + 1
        self.expect(sql, seen, count)

    def fill(self):
        n = self.args.entries
        self.connection.execute("CREATE TABLE wide (id int PRIMARY KEY, title text, m map(text, bigint))")
        self.connection.execute("CREATE TABLE small (id int PRIMARY KEY, v bigint)")
        self.connection.execute("INSERT INTO wide VALUES (1, 'selected', NULL), (2, 'copied', NULL), (3, 'merged', NULL), (4, 'counted', NULL)")
        self.connection.execute("INSERT INTO small SELECT g, g FROM generate_series(1, 1000) g")

        def select():
            sql = f"INSERT INTO wide_m_entries SELECT 1, 'k' || lpad(g::text, 9, '0'), g FROM generate_series(1, {n}) g"
            self.expect("INSERT", self.connection.execute(sql).rowcount, n)

        def copy():
            with self.connection.cursor().copy("COPY wide_m_entries FROM STDIN") as copy:
                for start in range(1, n + 1, 5000):
                    copy.write("".join(f"2\tk{g:09}\t{g}\n" for g in range(start, min(start + 5000, n + 1))))

        def merge():
            part = 10_000
            for start in range(0, n // 10, part):
                end = min(start + part, n // 10)
                self.connection.execute(
                    "UPDATE wide SET m = m || (SELECT map_from_arrays(array_agg('k' || lpad(g::text, 9, '0')), array_agg(g::bigint)) "
                    f"FROM generate_series({start + 1}, {end}) g) WHERE id = 3")

        self.step("INSERT … SELECT", select)
        self.step("COPY FROM", copy)
        self.step("SET m = m || …, 10,000 at a time, a tenth", merge)

    def read(self):
        n = self.args.entries
        tenth = n // 10
        key = lambda g: f"k{g:09}"
        self.step("cardinality", lambda: self.ask("SELECT id, cardinality(m) FROM wide ORDER BY id", [(1, n), (2, n), (3, tenth), (4, 0)]))
        total = n * (n + 1) // 2
        self.step("count, sum of all entries", lambda: self.ask(
            "SELECT count(*), sum(value)::bigint, min(key), max(key) FROM wide, each(m) WHERE id = 2", [(n, total, key(1), key(n))]))
        low, high = n // 3, n // 3 + tenth
        self.step("count of a range", lambda: self.ask(
            f"SELECT count(*), sum(value)::bigint FROM wide, each(m) WHERE id = 1 AND key >= '{key(low)}' AND key < '{key(high)}'",
            [(tenth, sum(range(low, high)))]))
        self.step("a range, streamed", lambda: self.read_all(
            f"SELECT key, value FROM wide, each(m) WHERE id = 1 AND key >= '{key(low)}' AND key < '{key(high)}' ORDER BY key", tenth))
        self.step("all entries, streamed", lambda: self.read_all("SELECT key, value FROM wide, each(m) WHERE id = 1 ORDER BY key", n))

        def copy_out():
            lines = 0
            with self.connection.cursor().copy("COPY (SELECT key, value FROM wide, each(m) WHERE id = 2) TO STDOUT") as copy:
                for block in copy:
                    lines += bytes(block).count(b"\n")
            self.expect("COPY TO", lines, n)

        def pages():
            last, seen = "", 0
            for _ in range(100):
                rows = self.connection.execute(
                    "SELECT key, value FROM wide, each(m) WHERE id = 1 AND key > %s ORDER BY key LIMIT 1000", (last,)).fetchall()
                seen += len(rows)
                if rows:
                    last = rows[-1][0]
            self.expect("pages", (seen, last), (min(n, 100_000), key(min(n, 100_000))))

        def cursor():
            with self.connection.transaction():
                self.connection.execute("DECLARE c CURSOR FOR SELECT key FROM wide, each(m) WHERE id = 1 ORDER BY key DESC")
                seen = 0
                while rows := self.connection.execute("FETCH 10000 FROM c").fetchall():
                    if seen == 0:
                        self.expect("the last key", rows[0], (key(n),))
                    seen += len(rows)
            self.expect("a cursor", seen, n)

        self.step("COPY TO", copy_out)
        self.step("100 pages of 1000", pages)
        self.step("a cursor, from the end", cursor)

        def point():
            plan = "\n".join(r[0] for r in self.connection.execute(f"EXPLAIN ANALYZE SELECT m['{key(n // 2)}'] FROM wide WHERE id = 1"))
            if "wide_m_entries by primary key" not in plan or "PointGetExec: table=wide," not in plan:
                self.expect("an entry", plan, "reads by primary keys")
            of = {}
            for name, sql in [("entry", "SELECT m[%s] FROM wide WHERE id = 1"), ("row", "SELECT v FROM small WHERE id = %s")]:
                times = []
                for g in range(1, 1001):
                    arg = key(g * 7919 % n + 1) if name == "entry" else g
                    start = time.perf_counter()
                    (value,) = self.connection.execute(sql, (arg,), prepare=True).fetchone()
                    times.append(time.perf_counter() - start)
                    self.expect(sql, value, g * 7919 % n + 1 if name == "entry" else g)
                of[name] = sorted(times)[len(times) // 2] * 1e6
            print(f"  median: an entry {of['entry']:.0f} µs, a row of a small table {of['row']:.0f} µs")

        self.step("1000 entries", point)
        self.step("10,000 removed by a range", lambda: self.connection.execute(
            f"DELETE FROM wide_m_entries WHERE id = 2 AND key <= '{key(min(n, 10_000))}'"))
        self.step("counted again", lambda: self.ask("SELECT cardinality(m) FROM wide WHERE id = 2", [(n - min(n, 10_000),)]))

    def increment(self):
        clients, each = self.args.clients, self.args.increments

        def run():
            processes = [multiprocessing.Process(target=increments, args=(self.server.port, n, each)) for n in range(clients)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
                self.expect("a client", process.exitcode, 0)

        taken = self.step(f"{clients} × {each} increments of one row", run)
        print(f"  {clients * each / taken:.0f} a second")
        own = [(f"own{n}", (each + 1) // 2) for n in range(clients)]
        self.ask("SELECT key, value FROM wide, each(m) WHERE id = 4 ORDER BY key", sorted([*own, ("all", clients * (each // 2))]))


def increments(port, client, count):
    """By turns an entry of the client's own and one that all have; each result is that of one increment."""
    with psycopg.connect(host="127.0.0.1", port=port, user="stoa", dbname="stoa", autocommit=True) as connection:
        sql = "UPDATE wide SET m[%s] = coalesce(m[%s], 0) + 1 WHERE id = 4"
        for n in range(count):
            name = f"own{client}" if n % 2 == 0 else "all"
            done = connection.execute(sql, (name, name), prepare=True).rowcount
            if done != 1:
                sys.exit(1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--entries", type=int, default=5_000_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--increments", type=int, default=100_000)
    parser.add_argument("--memory", default="200MB")
    parser.add_argument("--memory-limit", default="256MB")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stoa-wide-rows-") as work:
        server = Server(args.binary, f"{work}/data", "--memory-limit", args.memory_limit)
        try:
            test = Test(server, args)
            test.fill()
            test.read()
            test.increment()
            test.watch.ended = True
            most = test.watch.most / 1024
            peak = status(server.process.pid)["VmHWM"] / 1024
            test.connection.close()
        finally:
            server.process.terminate()
            server.process.wait(60)
    if most > mebibytes(args.memory):
        test.wrong.append(f"{most:.0f} MB of memory, not {args.memory}")
    print("\n".join(test.wrong))
    print(f"wide_rows: {args.entries} entries, at most {most:.0f} MB of its own and {peak:.0f} MB with pages of files, {len(test.wrong)} wrong")
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
