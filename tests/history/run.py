#!/usr/bin/env python3
"""Runs transactions of many clients against a server, records what they saw, and looks for anomalies.

    run.py [--dsn DSN | --binary STOA] [--level LEVEL ...] [--workload list|register] [--clients N] [--seconds S]
           [--kill-every S] [--seed N] [--must-find] [-v]

With `--binary` a server is started on a directory of its own; with `--kill-every` it is killed with SIGKILL and started again about
that often while the clients work. The levels are tried one after another: `read committed`, `repeatable read`, `serializable`; see
adya.py for what each excludes. `--must-find`: anomalies that a level allows must be there (lost updates or read skew under READ
COMMITTED, write skew under REPEATABLE READ): a check that finds them can fail.

In CI: `run.py --binary stoa --seconds 6 --must-find`. As a soak: `run.py --binary stoa --clients 32 --seconds 3600 --kill-every 5`.
"""
import argparse, collections, pathlib, random, sys, tempfile, threading, time

import psycopg
from psycopg import pq

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from adya import FORBIDDEN, Txn, check
from server import Server

OK = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
ALLOWED = {"read committed": {"lost-update", "G-single"}, "repeatable read": {"G2-item"}, "serializable": set()}
# A key is retired after so many appends, so that lists stay short.
LIST_LENGTH = 40
KEYS = 6


class Lost(Exception):
    """The connection is gone."""


class Failed(Exception):
    """The server refused a statement."""


class Client:
    """One connection, which is made again when it is lost."""

    def __init__(self, dsn):
        self.dsn, self.raw = dsn, None

    def connect(self, deadline):
        while self.raw is None:
            try:
                self.raw = pq.PGconn.connect(self.dsn.encode())
                if self.raw.status != pq.ConnStatus.OK:
                    self.raw = None
                else:
                    self.raw.exec_(b"SET deadlock_timeout = '50ms'")
            except psycopg.Error:
                self.raw = None
            if self.raw is None:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.02)
        return True

    def run(self, sql, *params):
        try:
            result = self.raw.exec_params(sql, [p if p is None else str(p).encode() for p in params]) if params else self.raw.exec_(sql)
        except psycopg.OperationalError:
            self.raw = None
            raise Lost from None
        if self.raw.status != pq.ConnStatus.OK:
            self.raw.finish()
            self.raw = None
            raise Lost
        if result.status not in OK:
            raise Failed((result.error_field(pq.DiagnosticField.SQLSTATE) or b"?").decode() + " "
                         + (result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"").decode())
        return result


class Workload:
    def __init__(self, args, level, run_id):
        self.kind, self.level = args.workload, level
        self.table = f"h_{run_id}"
        self.lock, self.next_value, self.next_id = threading.Lock(), 1, 1
        self.active = [(k, 0) for k in range(KEYS)]
        self.keys = KEYS
        self.history, self.refused = [], collections.Counter()

    def setup(self, client):
        if self.kind == "list":
            client.run(f"CREATE TABLE {self.table} (k int PRIMARY KEY, v text NOT NULL)".encode())
        else:
            client.run(f"CREATE TABLE {self.table} (k int PRIMARY KEY, v bigint)".encode())

    def key(self, rng, writes):
        with self.lock:
            at = rng.randrange(KEYS)
            key, count = self.active[at]
            if writes:
                self.active[at] = (key, count + 1)
                if count + 1 >= LIST_LENGTH:
                    self.active[at] = (self.keys, 0)
                    self.keys += 1
            return key

    def value(self):
        with self.lock:
            self.next_value += 1
            return self.next_value

    def transaction(self, client, rng, number):
        table, ops = self.table, []
        with self.lock:
            id_ = self.next_id
            self.next_id += 1
        txn = Txn(id_, "fail", ops, time.monotonic(), None, number)
        self.history.append(txn)
        phase = "body"
        try:
            client.run(f"BEGIN ISOLATION LEVEL {self.level}".encode())
            # Reads of several keys first make write skew and read skew likely.
            for _ in range(rng.randint(1, 4)):
                if self.kind == "list":
                    if rng.random() < 0.5:
                        key, value = self.key(rng, True), self.value()
                        client.run(f"INSERT INTO {table} VALUES ($1::int, $2::text) ON CONFLICT (k) DO UPDATE SET v = {table}.v || ',' || excluded.v".encode(), key, value)
                        ops.append(("append", key, value))
                    else:
                        key = self.key(rng, False)
                        if rng.random() < 0.3:
                            # The same by a range, which is another way to the row.
                            result = client.run(f"SELECT v FROM {table} WHERE k >= $1::int AND k < $1::int + 1".encode(), key)
                        else:
                            result = client.run(f"SELECT v FROM {table} WHERE k = $1::int".encode(), key)
                        text = result.get_value(0, 0).decode() if result.ntuples else ""
                        ops.append(("r", key, [int(v) for v in text.split(",")] if text else []))
                else:
                    key = self.key(rng, True)
                    result = client.run(f"SELECT v FROM {table} WHERE k = $1::int".encode(), key)
                    seen = int(result.get_value(0, 0)) if result.ntuples else None
                    ops.append(("rr", key, seen))
                    if rng.random() < 0.6:
                        value = self.value()
                        if seen is None:
                            client.run(f"INSERT INTO {table} VALUES ($1::int, $2::bigint) ON CONFLICT (k) DO UPDATE SET v = excluded.v".encode(), key, value)
                        else:
                            client.run(f"UPDATE {table} SET v = $2::bigint WHERE k = $1::int".encode(), key, value)
                        ops.append(("w", key, value))
            if rng.random() < 0.05:
                phase = "rollback"
                client.run(b"ROLLBACK")
            else:
                phase = "commit"
                result = client.run(b"COMMIT")
                if result.command_status == b"COMMIT":
                    txn.status = "ok"
        except Failed as e:
            self.refused[str(e)[:90]] += 1
            if phase == "commit" and str(e).startswith(("08", "XX")):
                txn.status = "info"
            else:
                try:
                    client.run(b"ROLLBACK")
                except (Failed, Lost):
                    pass
        except Lost:
            txn.status = "info" if phase == "commit" else "fail"
        txn.end = time.monotonic()

    def final(self, client):
        result = client.run(f"SELECT k, v FROM {self.table}".encode())
        out = {}
        for r in range(result.ntuples):
            key, text = int(result.get_value(r, 0)), result.get_value(r, 1).decode()
            out[key] = [int(v) for v in text.split(",")] if self.kind == "list" else int(text)
        return out


def run_level(args, level, dsn, server, seed):
    work = Workload(args, level, f"{level.replace(' ', '_')}_{args.workload}_{int(time.time() * 1000) % 10**8}")
    first = Client(dsn)
    first.connect(time.monotonic() + 30)
    work.setup(first)
    stop = time.monotonic() + args.seconds

    def client(number):
        c, rng = Client(dsn), random.Random(seed * 1000 + number)
        while time.monotonic() < stop:
            if not c.connect(stop + 60):
                return
            work.transaction(c, rng, number)

    threads = [threading.Thread(target=client, args=(n,), daemon=True) for n in range(args.clients)]
    for t in threads:
        t.start()
    rng = random.Random(seed)
    if server and args.kill_every:
        while time.monotonic() < stop - 0.5:
            time.sleep(min(args.kill_every * (0.5 + rng.random()), max(0, stop - time.monotonic() - 0.4)))
            server.kill()
            server.start()
    for t in threads:
        t.join(args.seconds + 90)
    last = Client(dsn)
    last.connect(time.monotonic() + 30)
    final = work.final(last)
    status = collections.Counter(t.status for t in work.history)
    found = check(work.history, final, realtime=True)
    forbidden = {k: v for k, v in found.items() if k in FORBIDDEN[level]}
    summary = ", ".join(f"{name} {len(v)}" for name, v in sorted(found.items())) or "none"
    kills = f", {server.kills} kills so far, restart at most {server.slowest:.2f} s" if server and args.kill_every else ""
    print(f"history {args.workload} {level}: {args.clients} clients, {status['ok']} committed, {status['fail']} not, {status['info']} unknown{kills}; "
          f"anomalies: {summary}", flush=True)
    if args.verbose:
        for text, n in work.refused.most_common(6):
            print(f"    {n} times {text}")
    bad = bool(forbidden)
    for name, texts in forbidden.items():
        for text in texts[:5]:
            print(f"  FORBIDDEN {name}: {text}")
    unexpected = [t for t in work.refused if not t.startswith(("40001", "40P01", "23505"))]
    if unexpected:
        print("  UNEXPECTED errors: " + "; ".join(unexpected[:5]))
        bad = True
    if args.must_find and args.workload == "list":
        if ALLOWED[level] and not ALLOWED[level] & set(found):
            print(f"  NOT FOUND although the level allows it: {sorted(ALLOWED[level])}")
            bad = True
    if not status["ok"]:
        print("  nothing was committed")
        bad = True
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--binary")
    parser.add_argument("--data", help="the server's directory; a temporary one unless given")
    parser.add_argument("--level", action="append", choices=sorted(FORBIDDEN))
    parser.add_argument("--workload", choices=("list", "register"), default="list")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--kill-every", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--must-find", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    sys.setswitchinterval(0.0005)
    bad = False
    with tempfile.TemporaryDirectory() as temporary:
        server = Server(args.binary, args.data or temporary + "/data") if args.binary else None
        try:
            for n, level in enumerate(args.level or ["read committed", "repeatable read", "serializable"]):
                bad |= run_level(args, level, server.dsn if server else args.dsn, server, args.seed + n)
        finally:
            if server and server.process.poll() is None:
                server.process.kill()
                server.process.wait()
    sys.exit(1 if bad else 0)


main()
