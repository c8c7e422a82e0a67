"""The two sides of a comparison: a connection to Stoa and one to a PostgreSQL, what they answer, and what becomes of differences."""
import collections
import contextlib
import random
import socket
import subprocess
import sys
import tempfile
import time

try:
    import psycopg
    from psycopg import pq
except ImportError:
    sys.exit("differential: psycopg is missing: pip install 'psycopg[binary]'")

from explained import BY_ANOTHER_PLAN, evaluated, explained

# OIDs from here on are given by a server and differ between servers.
FIRST_NORMAL_OID = 16384

# Settings under which a PostgreSQL joins in another way or order, or reads by another path.
_ORDER = [("join_collapse_limit", 1), ("from_collapse_limit", 1)]
OTHER_PLANS = [[], *[[(f"enable_{path}", "off") for path in paths.split()] + order for order in ([], _ORDER) for paths in (
    "nestloop", "hashjoin", "hashjoin mergejoin", "nestloop hashjoin", "nestloop mergejoin", "indexscan bitmapscan", "seqscan",
    "hashjoin mergejoin indexscan bitmapscan", "hashjoin mergejoin material memoize", "hashjoin mergejoin seqscan")]]


class Side:
    """A connection; `start` is run on each new one."""

    def __init__(self, dsn, start=()):
        self.dsn, self.start = dsn, ["SET TimeZone = 'UTC'", "SET statement_timeout = '20s'", *start]
        self.open()

    def open(self, patience=0):
        """Connects, and waits up to so many seconds for a server that is not there."""
        until = time.monotonic() + patience
        while True:
            try:
                self.conn = psycopg.connect(self.dsn, autocommit=True, connect_timeout=10)
                break
            except psycopg.OperationalError:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.2)
        self.pg = self.conn.pgconn
        self.version = self.pg.server_version
        self.pg.notice_handler = None
        for statement in self.start:
            self.run(statement)

    def run(self, sql):
        """(state, types, rows, message): what came back, as text."""
        self.pg.send_query(sql.encode())
        return self.answer()

    def answer(self):
        """What came back for the statement that was sent."""
        result = None
        while (more := self.pg.get_result()) is not None:
            result = more
        if result is None:
            raise ConnectionError("no answer")
        if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK, pq.ExecStatus.EMPTY_QUERY):
            types = [(result.fname(i).decode(), result.ftype(i), result.fmod(i)) for i in range(result.nfields)]
            rows = [tuple(None if (v := result.get_value(r, c)) is None else v.decode(errors="replace") for c in range(result.nfields))
                    for r in range(result.ntuples)]
            return "00000", types, rows, ""
        state = result.error_field(pq.DiagnosticField.SQLSTATE)
        message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or result.error_message or b""
        if state is None:
            raise ConnectionError(message.decode(errors="replace"))
        return state.decode(), [], [], message.decode(errors="replace")

    def all(self, sql):
        return [r for r in self.run(sql)[2]]

    def raises_by_another_plan(self, before, sql, state):
        """Whether a PostgreSQL raises this SQLSTATE as well when it plans the statement otherwise, behind the same statements of its
        transaction. What a transaction was open is rolled back, and nothing stays changed."""
        self.run("ROLLBACK")
        for statistics in (False, True):
            for settings in OTHER_PLANS:
                self.run("BEGIN")
                for statement in [f"SET LOCAL {name} = {value}" for name, value in settings] + ["ANALYZE"] * statistics + [*before]:
                    self.run(statement)
                raised = self.run(sql)[0]
                self.run("ROLLBACK")
                if raised == state:
                    return True
        return False


def both(first, second, sql):
    """The answers of two sides that work at the same time; an exception in the place of one that went away."""
    answers = []
    for side in (first, second):
        try:
            side.pg.send_query(sql.encode())
            answers.append(None)
        except psycopg.Error as lost:
            answers.append(lost)
    for i, side in enumerate((first, second)):
        if answers[i] is None:
            try:
                answers[i] = side.answer()
            except (ConnectionError, psycopg.Error) as lost:
                answers[i] = lost
    return answers


class Tally:
    """Statements counted, and their differences by group."""

    def __init__(self, name, examples=3, live=False):
        self.name, self.examples, self.live = name, examples, live
        self.statements = self.internal = self.version = 0
        self.groups, self.known, self.codes = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()

    @property
    def differences(self):
        return sum(map(len, self.groups.values()))

    def ask(self, stoa, oracle, sql, again=True):
        """The answers (Stoa's, PostgreSQL's). A connection that was lost is opened anew and its answer has the state LOST."""
        self.version = oracle.version
        theirs, ours = both(oracle, stoa, sql)
        if not isinstance(ours, Exception) and ours[0] == "57014" and again and not isinstance(theirs, Exception) and theirs[0] != "57014":
            # The machine may have been busy; what is slow by itself is so once more.
            stoa.run("SET statement_timeout = '60s'")
            ours = stoa.run(sql)
            stoa.run(next(s for s in reversed(stoa.start) if "statement_timeout" in s))
        for side, answer in ((stoa, ours), (oracle, theirs)):
            if isinstance(answer, Exception):
                side.open(60)
        lost = lambda a: ("LOST", [], [], str(a)) if isinstance(a, Exception) else a
        return lost(ours), lost(theirs)

    def judge(self, label, sql, ours, theirs, same, context="", replan=None):
        """Counts a statement; True if its difference is one that nothing explains. `replan` says whether PostgreSQL raises a SQLSTATE as
        well by another plan."""
        self.statements += 1
        self.internal += ours[0] == "XX000"
        if same and ours[0] not in ("XX000", "LOST"):
            self.codes[ours[0]] += 1
            return False
        why = None if ours[0] in ("XX000", "LOST") else explained(sql, ours, theirs, self.version)
        if not why and replan and evaluated(ours) and theirs[0] == "00000" and replan(ours[0]):
            why = BY_ANOTHER_PLAN[0]
        show = lambda a: (f"{a[0]} {a[3]}" if a[0] != "00000" else f"{[t[:2] if t[2] == -1 else t for t in a[1]]} {a[2][:8]}")[:400]
        case = f"    {sql}{'  -- ' + context if context else ''}\n      stoa:   {show(ours)}\n      oracle: {show(theirs)}"
        if why:
            self.known[why].append(case)
            return False
        self.groups[label].append(case)
        if self.live and len(self.groups[label]) <= self.examples:
            print(f"DIFFERENT {self.name}: {label}\n{case}", flush=True)
        return True

    def report(self):
        """Prints what was found; 1 if there is a difference that nothing explains."""
        for label, cases in sorted(self.groups.items(), key=lambda group: -len(group[1])):
            print(f"DIFFERENT {label}: {len(cases)}")
            print("\n".join(cases[:self.examples]))
        for why, cases in sorted(self.known.items(), key=lambda known: -len(known[1])):
            print(f"explained: {why}: {len(cases)}")
        print("alike: " + ", ".join(f"{code} {count}" for code, count in self.codes.most_common()))
        print(f"{self.name}: {self.statements} statements, {self.differences} differences in {len(self.groups)} groups, {self.internal} XX000")
        return 1 if self.differences or self.internal else 0


@contextlib.contextmanager
def server(binary, dsn):
    """The address of a server of this binary on an empty directory, or the given one without a binary."""
    if not binary:
        yield dsn
        return
    with tempfile.TemporaryDirectory() as work:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([binary, "serve", "--data", work + "/data", "--listen", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
        try:
            dsn = f"host=127.0.0.1 port={port} user=stoa dbname=stoa"
            wait_for(dsn)
            yield dsn
        finally:
            process.terminate()
            process.wait(30)


def wait_for(dsn):
    for _ in range(300):
        try:
            psycopg.connect(dsn, connect_timeout=1).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    sys.exit("the server did not start")


@contextlib.contextmanager
def database(oracle):
    """The address of a new database of the oracle, in UTF8 with the collation C."""
    with psycopg.connect(oracle, autocommit=True) as admin:
        base = f"stoa_differential_{random.SystemRandom().randrange(10**9)}"
        admin.execute(f"CREATE DATABASE {base} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'")
        try:
            yield oracle + f" dbname={base}"
        finally:
            admin.execute(f"DROP DATABASE {base} WITH (FORCE)")
