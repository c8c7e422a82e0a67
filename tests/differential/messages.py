#!/usr/bin/env python3
"""Random sequences of the messages of PostgreSQL's protocol, against PostgreSQL and Stoa.

    messages.py [--oracle DSN] [--dsn DSN] [--seed N] [--count N] [--stop N]

Clients that send Parse, Bind, Describe, Execute, Close, Flush and Sync in any order, with statements and portals of several names, formats,
numbers of rows, values that do not fit, simple queries between, COPY both ways, transactions and savepoints that end beneath portals; all up
to a Sync at once, as pipelines do. What is compared is every message that comes back: its kind, names, types, formats and values, tags, the
SQLSTATE of errors and notices, the state of the transaction. The exit status is 1 if anything differs; a lost connection counts always.
"""
import pathlib
import random
import re
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generated  # noqa: E402
from sides import FIRST_NORMAL_OID  # noqa: E402

SETUP = [
    "CREATE TABLE t (id int PRIMARY KEY, a text, n numeric(6, 2), UNIQUE (a))",
    "INSERT INTO t SELECT i, 'x' || i, i / 2.0 FROM generate_series(1, 6) i",
]
# Statements, and for each parameter values as text that fit and that do not.
NUMBER, TEXT = ["1", "3", "6", "99", "x", "", None], ["x1", "x3", "new", "", None]
STATEMENTS = [
    ("SELECT 1", []), ("SELECT id, a FROM t ORDER BY id", []), ("SELECT id, a, n FROM t WHERE id >= $1 ORDER BY id", [NUMBER]), ("SELECT $1::int + 1, $2", [NUMBER, TEXT]),
    ("SELECT a FROM t WHERE id = $1", [NUMBER]), ("SELECT id FROM t WHERE a = $1", [TEXT]), ("INSERT INTO t VALUES ($1, $2)", [NUMBER, TEXT]),
    ("INSERT INTO t VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING *", [NUMBER, TEXT]), ("UPDATE t SET n = n + 1 WHERE id > $1", [NUMBER]),
    ("UPDATE t SET n = $2 WHERE id >= $1 RETURNING id, n", [NUMBER, ["1.5", "2.005", "x", None]]), ("DELETE FROM t WHERE id = $1 RETURNING a", [NUMBER]),
    ("BEGIN", []), ("BEGIN", []), ("COMMIT", []), ("ROLLBACK", []), ("SAVEPOINT s", []), ("ROLLBACK TO s", []), ("RELEASE s", []), ("", []), ("SELECT 1 / (SELECT 0)", []), ("SHOW missing", []),
    ("nonsense", []), ("SELECT missing FROM t", []), ("VALUES (1, 'a'), (2, NULL)", []), ("SHOW server_encoding", []), ("SET extra_float_digits = 1", []), 
    ("DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id", []), ("FETCH 2 FROM c", []), ("CLOSE c", []), ("PREPARE s1 AS SELECT $1::int", []), ("DEALLOCATE s1", []), ("DEALLOCATE ALL", []),
    ("CREATE TEMP TABLE tt (x int)", []), ("DROP TABLE IF EXISTS tt", []), ("SELECT * FROM generate_series(1, $1) g", [["0", "2", "5", "x", None]]), ("SELECT ARRAY[1, NULL], 'a'::bytea, true, 1.5::float8, date '2024-01-02', NULL::uuid", []),
    ("WITH i AS (INSERT INTO t VALUES ($1, 'w') RETURNING id) SELECT id FROM i", [NUMBER]), ("TABLE t", []), ("SELECT 1; SELECT 2", []), ("DISCARD PLANS", []), ("LOCK TABLE t", []), ("SELECT FROM t WHERE id < 3", []), ("CHECKPOINT nonsense", []),
]
SIMPLE = [sql for sql, values in STATEMENTS if not values] + [
    "EXECUTE s1 (5)",
    "SELECT 1; SELECT 'two'", "BEGIN; SELECT 1; COMMIT", "INSERT INTO t VALUES (50, 'q'); SELECT 1 / (SELECT 0); SELECT 3", "BEGIN; INSERT INTO t VALUES (51, 'r')", ";", " ; ; ", "-- nothing", "SELECT 1; nonsense", "COMMIT; SELECT 2",
    "SELECT 1 / (SELECT 0); COMMIT", "COPY (SELECT id FROM t ORDER BY id LIMIT 2) TO STDOUT (FORMAT csv, HEADER)", "COPY t (id, a) FROM STDIN", "ROLLBACK; BEGIN; SAVEPOINT s; SELECT 1 / (SELECT 0)", "DELETE FROM t WHERE id > 40",
]
COPIES = ["COPY (SELECT id, a FROM t ORDER BY id) TO STDOUT", "COPY (SELECT id, a FROM t ORDER BY id) TO STDOUT (FORMAT binary)"]
LINES = [b"60\tz\n", b"61\tz\n62\t\\N\n", b"x\ty\n", b"1\tdup\n", b"63\n", b"", b"6", b"4\tq\n", b"\\.\n"]


class Wire:
    """A connection, message by message."""

    def __init__(self, dsn):
        at = dict(part.split("=", 1) for part in dsn.split())
        self.socket = socket.create_connection((at["host"], int(at["port"])), timeout=20)
        self.rest = b""
        settings = b"".join(f"{k}\0{v}\0".encode() for k, v in {"user": at["user"], "database": at["dbname"], "client_encoding": "UTF8", "TimeZone": "UTC"}.items()) + b"\0"
        self.send(struct.pack("!ii", 8 + len(settings), 196608) + settings)
        self.until_ready()

    def send(self, data):
        self.socket.sendall(data)

    def message(self):
        while len(self.rest) < 5 or len(self.rest) < 1 + struct.unpack("!i", self.rest[1:5])[0]:
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError("the server closed the connection")
            self.rest += more
        length = 1 + struct.unpack("!i", self.rest[1:5])[0]
        message, self.rest = self.rest[:length], self.rest[length:]
        return message[:1].decode(), message[5:]

    def until_ready(self, times=1):
        out = []
        while times:
            kind, body = self.message()
            times -= kind == "Z"
            out.append(shown(kind, body))
        out = [m for m in out if m]
        # Rows that go before an error may be on their way or not, and so may what they are called.
        return [m for at, m in enumerate(out) if m[0] not in "TD" or next(n[0] for n in out[at:] if n[0] not in "TD") != "E"]

    def query(self, sql):
        self.send(frame("Q", text(sql)))
        return self.until_ready()


def frame(kind, body):
    return kind.encode() + struct.pack("!i", 4 + len(body)) + body


def text(value):
    return value.encode() + b"\0"


def shown(kind, body):
    """What is compared of a message; None for what tells of the server."""
    if kind in "EN":
        fields = dict((f[:1].decode(), f[1:].decode(errors="replace")) for f in body.split(b"\0") if f)
        return kind, fields.get("V"), fields.get("C")
    if kind == "T":
        out, at = [], 2
        for _ in range(struct.unpack("!h", body[:2])[0]):
            end = body.index(b"\0", at)
            table, number, oid, size, modifier, form = struct.unpack("!ihihih", body[end + 1:end + 19])
            out.append((body[at:end].decode(), table > 0, number, min(oid, FIRST_NORMAL_OID), size, modifier, form))
            at = end + 19
        return kind, out
    if kind in "SK":
        return None
    return kind, body


def plain(message):
    """A message without what is the same to a client: which of several errors a failed transaction has, and that of portals that are not there."""
    return ("E", "ERROR", "25P02") if message[0] == "E" and message[2] in ("34000", "08P01") else message


class Maker:
    def __init__(self, rng):
        self.r = rng
        self.known = {}

    def parse(self):
        name = self.r.choice(["", "", "s1", "s2"])
        sql, values = self.r.choice(STATEMENTS) if self.r.random() < 0.9 else (self.r.choice(COPIES), [])
        self.known[name] = values
        types = self.r.choice([[], [], [0] * len(values), [self.r.choice([0, 23, 25, 1700]) for _ in values]])
        return f"Parse {name!r} {sql!r} {types}", frame("P", text(name) + text(sql) + struct.pack(f"!h{len(types)}i", len(types), *types))

    def bind(self):
        r = self.r
        statement, portal = r.choice([*self.known, "", "s1"]), r.choice(["", "", "p1", "p2"])
        kinds = self.known.get(statement, [])
        values = [r.choice(kind) for kind in kinds]
        if r.random() < 0.02:
            values = values[:-1] if values and r.random() < 0.5 else [*values, "1"]
        forms = r.choice([[], [], [0], [0] * len(values), [1] if r.random() < 0.3 else [0]])
        results = r.choice([[], [], [0], [1], [1, 0] if r.random() < 0.2 else [1]])
        body = text(portal) + text(statement) + struct.pack(f"!h{len(forms)}h", len(forms), *forms) + struct.pack("!h", len(values))
        for at, value in enumerate(values):
            form = forms[at] if len(forms) > 1 and at < len(forms) else forms[0] if len(forms) == 1 else 0
            if value is None:
                body += struct.pack("!i", -1)
                continue
            data = value.encode()
            if form == 1 and re.fullmatch(r"\d+", value):
                data = struct.pack("!i", int(value))
            body += struct.pack("!i", len(data)) + data
        return f"Bind {portal!r} of {statement!r} {values} {forms} {results}", frame("B", body + struct.pack(f"!h{len(results)}h", len(results), *results))

    def describe(self):
        kind, name = self.r.choice([("S", "s1"), ("S", ""), ("P", "p1"), ("P", ""), ("P", ""), ("S", "s2"), ("P", "c")])
        return f"Describe {kind} {name!r}", frame("D", kind.encode() + text(name))

    def execute(self):
        portal, rows = self.r.choice(["", "", "", "p1", "p1", "p2", "c"]), self.r.choice([0, 0, 0, 1, 2, 100])
        return f"Execute {portal!r} {rows}", frame("E", text(portal) + struct.pack("!i", rows))

    def copy(self):
        """COPY FROM with its data, which are passed over where it could not begin."""
        data = self.data()
        parts = [frame("P", text("cs") + text("COPY t (id, a) FROM STDIN") + b"\0\0"), frame("B", text("cp") + text("cs") + b"\0\0" * 3), frame("E", text("cp") + b"\0" * 4), data,
                 frame("C", b"P" + text("cp")), frame("C", b"S" + text("cs"))]
        return f"COPY with {data}", b"".join(parts)

    def data(self):
        if self.r.random() < 0.2:
            return frame("d", b"70\tz\n") + frame("f", text("no"))
        return b"".join(frame("d", line) for line in self.r.sample(LINES, self.r.randrange(3))) + frame("c", b"")

    def close(self):
        kind, name = self.r.choice(["S", "P"]), self.r.choice(["", "s1", "p1", "s2", "p2"])
        return f"Close {kind} {name!r}", frame("C", kind.encode() + text(name))

    def simple(self):
        sql = self.r.choice(SIMPLE)
        data = self.data() if "FROM STDIN" in sql else b""
        return f"Query {sql!r}{f' with {data}' if data else ''}", frame("Q", text(sql)) + data

    def round(self):
        """What is sent at once, told and as bytes, and how many times the server is ready behind it."""
        r = self.r
        if r.random() < 0.15:
            told, data = self.simple()
            return [told], data, 1
        parts, ready = [], 0
        for _ in range(r.randrange(1, 9)):
            kind = r.choices([self.parse, self.bind, self.describe, self.execute, self.close, self.copy], [4, 5, 2, 6, 1, 0.5])[0]
            if kind is self.execute and r.random() < 0.6:
                parts += [self.parse(), self.bind(), *([self.describe()] if r.random() < 0.5 else [])]
            parts.append(kind())
            if r.random() < 0.06:
                parts.append(("Flush", frame("H", b"")))
            if r.random() < 0.08:
                parts.append(("Sync", frame("S", b"")))
                ready += 1
        parts.append(("Sync", frame("S", b"")))
        return [told for told, _ in parts], b"".join(data for _, data in parts), ready + 1


def run(tally, stoa, oracle, seed, count, stop=None):
    """Compares the answers to about `count` messages; the same seed makes the same ones."""
    tally.version, n = oracle.version, 0
    while tally.statements < count and not (stop and tally.differences >= stop):
        rng = random.Random(f"{seed}/{n}")
        maker, log, schema = Maker(rng), [], f"messages_{seed}"
        wires = []
        for side in (stoa, oracle):
            for sql in [f"DROP SCHEMA IF EXISTS {schema} CASCADE", f"CREATE SCHEMA {schema}", f"SET search_path = {schema}", *SETUP]:
                state, _, _, message = side.run(sql)
                assert state == "00000", f"{sql}: {message}"
            side.run("RESET search_path")
            wires.append(Wire(side.dsn if "dbname" in side.dsn else side.dsn + " dbname=postgres"))
            wires[-1].query(f"SET search_path = {schema}")
        for _ in range(12):
            told, data, ready = maker.round()
            answers = []
            for wire in wires:
                try:
                    wire.send(data)
                    answers.append(wire.until_ready(ready))
                except OSError as lost:
                    answers.append([("LOST", str(lost))])
            if ("E", "ERROR", "0A000") in answers[0] and ("E", "ERROR", "0A000") not in answers[1]:
                # EXECUTE runs queries alone.
                break
            same = [plain(m) for m in answers[0]] == [plain(m) for m in answers[1]]
            tally.statements += len(told) - 1
            at = next((i for i, pair in enumerate(zip(*answers)) if pair[0] != pair[1]), min(map(len, answers)))
            ours, theirs = (("00000" if answer[-1][0] != "LOST" else "LOST", [], [(answer[max(0, at - 2):at + 3],)], "") for answer in answers)
            kinds = "/".join(str(answer[at][0] if at < len(answer) else "-") + ("" if at >= len(answer) or answer[at][0] not in "EN" else " " + str(answer[at][2])) for answer in reversed(answers))
            if tally.judge(kinds, f"{told}", ours, theirs, same, f"round of {n}, seed {seed}, behind {log}"):
                break
            log += told
        for wire in wires:
            wire.socket.close()
        n += 1
    for side in (stoa, oracle):
        side.run(f"DROP SCHEMA {schema} CASCADE")


if __name__ == "__main__":
    generated.main(__doc__, "messages", run, 3000)
