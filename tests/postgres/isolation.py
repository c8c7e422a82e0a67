#!/usr/bin/env python3
"""Runs the permutations of PostgreSQL's isolation files on Stoa and on a PostgreSQL 15, and compares what becomes of each step.

    isolation.py [BINARY] [--dsn DSN] [--oracle DSN] [--files NAME,…] [--differences FILE] [--write-floors] [-v]

The files come from the distribution's source package (source.py). Of a step is compared what it answered (rows in any order, unless the
query has an ORDER BY; command tags; SQLSTATEs; warnings and notices), whether it waited, and after which step it went on. Where a mark of the file says that
this is up to the moment, it is not compared.

Statements that prepare a file and that Stoa refuses are left out on both sides. A permutation agrees, is explained by
`isolation_explained.tsv` (file, pattern of the permutation, words of docs/postgresql.md or docs/transactions.md), differs, or cannot be set
up: one of its steps is refused, or names what was refused. `isolation_floors.json` has for each file how many permutations must agree; fewer, a difference that nothing explains, XX000 and
lost connections make the command fail.
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import re
import select
import sys
import time

import psycopg
from psycopg import pq

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "differential")]
import source  # noqa: E402
from psql_script import Script  # noqa: E402
from regress import table  # noqa: E402
from side import ordered, text  # noqa: E402
from sides import database, server  # noqa: E402

F = pq.DiagnosticField
# How long a step may say nothing, without that the server says that it waits, before it counts as waiting; and how long it may wait at all.
PATIENCE = 15.0
BLOCKED = {"postgres": "SELECT pg_isolation_test_session_is_blocked({pid}, '{{{pids}}}')",
           "stoa": "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = {pid} AND wait_event_type = 'Lock')"}
TOKEN = re.compile(r"\s+|#[^\n]*|(?P<sql>\{[^}]*\})|\"(?P<quoted>[^\"]*)\"|(?P<word>[A-Za-z_\x80-\uffff][\w$]*)|(?P<number>\d+)|(?P<mark>[,()*])")

Step = collections.namedtuple("Step", "name session sql")
Outcome = collections.namedtuple("Outcome", "step answer waited after")


class Spec:
    """A file: setups, teardown, sessions ({name: (setup, teardown)}), steps by name, and permutations of (step, marks)."""

    def __init__(self, path):
        self.name = path.stem
        tokens, at, source_text = [], 0, path.read_text(encoding="utf-8")
        while at < len(source_text):
            m = TOKEN.match(source_text, at)
            if not m:
                raise ValueError(f"{path.name}: cannot read {source_text[at:at + 20]!r}")
            if m.lastgroup:
                tokens.append((m.lastgroup, m[m.lastgroup]))
            at = m.end()
        self.setups, self.teardown, self.sessions, self.steps, self.permutations = [], None, {}, {}, []
        current, i = None, 0
        name = lambda: tokens[i + 1][1]
        while i < len(tokens):
            kind, word = tokens[i]
            if word in ("setup", "teardown") and kind == "word":
                sql = tokens[i + 1][1][1:-1].strip()
                if current is not None:
                    self.sessions[current][word == "teardown"] = sql
                elif word == "setup":
                    self.setups.append(sql)
                else:
                    self.teardown = sql
                i += 2
            elif word == "session":
                current, i = name(), i + 2
                self.sessions[current] = [None, None]
            elif word == "step":
                self.steps[name()] = Step(name(), current, tokens[i + 2][1][1:-1].strip())
                i += 3
            elif word == "permutation":
                i, steps = i + 1, []
                while i < len(tokens) and not (tokens[i][0] == "word" and tokens[i][1] == "permutation"):
                    step, marks, i = tokens[i][1], False, i + 1
                    if i < len(tokens) and tokens[i] == ("mark", "("):
                        marks = True
                        while tokens[i] != ("mark", ")"):
                            i += 1
                        i += 1
                    steps.append((step, marks))
                self.permutations.append(steps)
            else:
                raise ValueError(f"{path.name}: {word!r} is out of place")
        if not self.permutations:
            lists = [[s.name for s in self.steps.values() if s.session == session] for session in self.sessions]
            owners = [n for n, steps in enumerate(lists) for _ in steps]
            for order in sorted(set(itertools.permutations(owners))) if len(owners) < 9 else interleavings([len(l) for l in lists]):
                each = [iter(l) for l in lists]
                self.permutations.append([(next(each[n]), False) for n in order])


def interleavings(lengths):
    if not any(lengths):
        yield ()
    for n, left in enumerate(lengths):
        if left:
            for rest in interleavings([l - (m == n) for m, l in enumerate(lengths)]):
                yield (n, *rest)


class Session:
    def __init__(self, dsn, name):
        self.name, self.notices = name, []
        self.conn = psycopg.connect(dsn, autocommit=True, connect_timeout=10)
        self.conn.add_notice_handler(lambda d: self.notices.append(f"{d.severity} {d.sqlstate}"))
        self.pg, self.step = self.conn.pgconn, None

    def send(self, sql):
        self.notices.clear()
        self.results = []
        self.pg.send_query(sql.encode())
        self.pg.flush()

    def finished(self, seconds):
        """Whether the answer is complete, after at most so long."""
        until = time.monotonic() + seconds
        while True:
            while not self.pg.is_busy():
                result = self.pg.get_result()
                if result is None:
                    return True
                self.results.append(result)
            if not select.select([self.pg.socket], [], [], max(0, until - time.monotonic()))[0]:
                return False
            self.pg.consume_input()

    def answer(self, sql, pids):
        out = []
        for r in self.results:
            if r.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK, pq.ExecStatus.EMPTY_QUERY):
                rows = [tuple(text(r.get_value(n, c)) for c in range(r.nfields)) for n in range(r.ntuples)]
                if r.nfields and text(r.fname(0)) == "QUERY PLAN":
                    rows = []
                out.append((tuple(rows if ordered(sql) else sorted(rows, key=repr)), text(r.command_status)))
            else:
                code = text(r.error_field(F.SQLSTATE)) or "LOST"
                out.append((code, text(r.error_field(F.MESSAGE_PRIMARY) or r.error_message)))
        self.pg.consume_input()
        while n := self.pg.notifies():
            out.append((f"notification {text(n.relname)}", text(n.extra)))
        if self.notices:
            out.append(("notices", tuple(self.notices)))
        return tuple(out)

    def ask(self, sql):
        self.send(sql)
        if not self.finished(PATIENCE):
            self.pg.get_cancel().cancel()
            self.finished(PATIENCE)
        return self.answer(sql, ())


class Lost(Exception):
    pass


# They ask for counters and pages of PostgreSQL's tables.
LEFT_OUT = ("stats", "horizons", "vacuum-no-cleanup-lock")
REFUSED = ("0A000", "42501")
MISSING = ("42P01", "42883", "42704", "42703", "3F000", "25P02", "26000")


def failed(answer):
    return next((part for part in answer if isinstance(part[0], str) and re.fullmatch(r"[0-9A-Z]{5}|LOST", part[0])), None)


class Permutation:
    """The outcomes of a permutation on one side, in the order of the steps."""

    def __init__(self, spec, dsn, kind, skipped):
        """`skipped` holds the statements that the other side has refused; Stoa comes first, and fills it."""
        self.spec, self.kind, self.skipped = spec, kind, skipped
        self.control = Session(dsn, "control")
        self.sessions = {name: Session(dsn, name) for name in spec.sessions}
        self.pids = ",".join(str(s.pg.backend_pid) for s in self.sessions.values())
        self.outcomes = []

    def blocked(self, session):
        answer = self.control.ask(BLOCKED[self.kind].format(pid=session.pg.backend_pid, pids=self.pids))
        return answer[0][0] == (("t",),)

    def prepare(self):
        for session, block in [(self.control, sql) for sql in self.spec.setups] + [(self.sessions[n], setup) for n, (setup, _) in self.spec.sessions.items()]:
            for item in Script((block or "").encode(), bool):
                sql = item.render({})
                if self.kind == "postgres" and sql in self.skipped:
                    continue
                bad = failed(session.ask(sql))
                if bad and self.kind == "stoa":
                    self.skipped[sql] = f"{bad[0]} {bad[1]}"
                    if session.pg.transaction_status == pq.TransactionStatus.INERROR:
                        session.ask("ROLLBACK; BEGIN")
                elif bad:
                    raise ValueError(f"{self.spec.name}: {sql[:100]}: {bad[0]} {bad[1]}")

    def settle(self, session, sql):
        """Whether the session's statement is through; False once it waits for another session."""
        began = time.monotonic()
        while not session.finished(0.02):
            if self.blocked(session) and not session.finished(0.02) and self.blocked(session):
                return False
            if time.monotonic() - began > PATIENCE:
                return False
        return True

    def run(self, steps):
        self.prepare()
        outcomes, invalid = {}, False
        for at, (name, marks) in enumerate(steps):
            step = self.spec.steps[name]
            session = self.sessions[step.session]
            if session.step is not None and not session.finished(PATIENCE / 3):
                outcomes[at] = Outcome(name, (("invalid", "the session still waits"),), False, None)
                invalid = True
                break
            self.collect(outcomes, at)
            session.step = (at, name, step.sql)
            session.send(step.sql)
            if self.settle(session, step.sql):
                outcomes[at] = Outcome(name, session.answer(step.sql, self.pids), None if marks else False, None if marks else at)
                session.step = None
            else:
                outcomes[at] = Outcome(name, None, None if marks else True, None)
            self.collect(outcomes, at)
        until = time.monotonic() + (0 if invalid else PATIENCE)
        while any(s.step for s in self.sessions.values()) and time.monotonic() < until:
            self.collect(outcomes, len(steps) - 1, 0.05)
        for session in self.sessions.values():
            if session.step:
                session.pg.get_cancel().cancel()
                session.finished(PATIENCE)
                at, name, _ = session.step
                outcomes[at] = Outcome(name, (("never", "it waits for ever"),), outcomes[at].waited, None)
                session.step = None
        self.teardown()
        return [outcomes[at] for at in sorted(outcomes)]

    def collect(self, outcomes, now, seconds=0.0):
        """Takes the answers of those that waited and go on."""
        going = True
        while going:
            going = False
            for session in self.sessions.values():
                if session.step is None:
                    continue
                at, name, sql = session.step
                if self.settle(session, sql) if session.step and outcomes.get(at) and not seconds else session.finished(seconds):
                    marked = outcomes[at].waited is None
                    outcomes[at] = Outcome(name, session.answer(sql, self.pids), outcomes[at].waited, None if marked else now)
                    session.step, going = None, True

    def teardown(self):
        for name, (_, sql) in self.spec.sessions.items():
            if sql:
                self.sessions[name].ask(sql)
        if self.spec.teardown:
            self.control.ask(self.spec.teardown)

    def close(self):
        for session in (*self.sessions.values(), self.control):
            session.conn.close()


def run(spec, steps, dsn, kind, skipped):
    """The outcomes of the steps."""
    admin = Session(dsn, "admin")
    admin.ask("DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public")
    admin.conn.close()
    permutation = Permutation(spec, dsn, kind, skipped)
    try:
        return permutation.run(steps)
    except (psycopg.Error, ConnectionError) as lost:
        return [Outcome("-", (("LOST", str(lost)),), False, None)]
    finally:
        permutation.close()


def plain(outcome):
    """What is compared: messages are each server's own."""
    parts = tuple(part[:1] if failed((part,)) else part for part in outcome.answer or ())
    return outcome.step, parts, outcome.waited, outcome.after


def alike(ours, theirs):
    if len(ours) != len(theirs):
        return False
    for a, b in zip(map(plain, ours), map(plain, theirs)):
        # What a mark covers may wait or not.
        if a[:2] != b[:2] or (None not in (a[2], b[2]) and a[2:] != b[2:]):
            return False
    return True


LATER = "are found by writing statements, and at COMMIT"
MORE = "may fail where PostgreSQL's do not"


def serialization(spec, ours, theirs):
    """Whether the two differ in serialization failures alone: Stoa tells them later, or fails more. The words of docs/transactions.md
    that say so; None where PostgreSQL fails and Stoa does not, or where something else differs."""
    failing = lambda outcomes: {spec.steps[o.step].session for o in outcomes if o.step in spec.steps and any(p[0] == "40001" for p in o.answer or ())}
    here, there = failing(ours), failing(theirs)
    if not here:
        return None
    rest = lambda outcomes: [plain(o) for o in outcomes if o.step in spec.steps and spec.steps[o.step].session not in here | there]
    if rest(ours) != rest(theirs):
        return None
    return LATER if here == there else MORE


def show(outcomes):
    return "\n".join(f"      {o.step:<14}{'waits ' if o.waited else ''}{'until ' + str(o.after) + ' ' if o.waited and o.after is not None else ''}{str(o.answer)[:300]}" for o in outcomes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", help="start this server on an empty directory")
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--oracle", default=os.environ.get("STOA_ORACLE", "host=127.0.0.1 port=5432 user=postgres dbname=postgres"))
    parser.add_argument("--files", type=lambda names: names.split(","), default=[])
    parser.add_argument("--differences", help="write the permutations that differ, explained ones too, to this file")
    parser.add_argument("--write-floors", action="store_true", help="take what was reached for the floors")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    with server(options.binary, options.dsn) as stoa, database(options.oracle) as oracle:
        return compare(options, stoa, oracle)


def compare(options, stoa, oracle):
    folder = source.tests() / "isolation"
    rules = [(re.compile(f), re.compile(p), why) for f, p, why in table("isolation_explained.tsv")]
    document = " ".join(" ".join((HERE.parent.parent / d).read_text(encoding="utf-8").split()) for d in ("docs/postgresql.md", "docs/transactions.md"))
    bad = [f"isolation_explained.tsv: the documents do not say: {why}" for why in sorted({LATER, MORE, *(why for *_, why in rules)}) if why not in document]
    floors = json.loads((HERE / "isolation_floors.json").read_text())
    out = open(options.differences, "w", encoding="utf-8") if options.differences else sys.stdout
    names = [m[1] for line in (folder / "isolation_schedule").read_text().splitlines() if (m := re.match(r"test:\s*(\S+)", line))]
    total, reached, reasons = collections.Counter(), {}, collections.Counter()
    print(f"{'file':<36}{'agree':>7}{'explained':>11}{'differ':>8}{'not set up':>12}{'floor':>7}{'s':>6}")
    for name in [n for n in names if (n in options.files if options.files else n not in LEFT_OUT)]:
        spec, counts, began = Spec(folder / "specs" / f"{name}.spec"), collections.Counter(), time.monotonic()
        for steps in spec.permutations:
            shown = " ".join(step for step, _ in steps)
            skipped = {}
            ours = run(spec, steps, stoa, "stoa", skipped)
            answers = [part for o in ours for part in o.answer or ()]
            refusal = next((part for part in answers if part[0] in REFUSED or skipped and part[0] in MISSING), None)
            if refusal and not any(part[0] in ("XX000", "LOST") for part in answers):
                counts["not set up"] += 1
                reasons[f"{name}: {' '.join(refusal)}; {'; '.join(skipped.values())}"] += 1
                continue
            theirs = run(spec, steps, oracle, "postgres", skipped)
            refusal = next((part for o in theirs for part in o.answer or () if skipped and part[0] in MISSING), None)
            internal = next((part for o in ours for part in o.answer or () if part[0] in ("XX000", "LOST")), None)
            if alike(ours, theirs):
                counts["agree"] += 1
                continue
            if refusal and not internal:
                counts["not set up"] += 1
                reasons[f"{name}: {' '.join(refusal)}; {'; '.join(skipped.values())}"] += 1
                continue
            why = None if internal else serialization(spec, ours, theirs) or next((why for f, p, why in rules if f.fullmatch(name) and p.search(shown)), None)
            counts["explained" if why else "differ"] += 1
            if not why:
                bad.append(f"{name}: {shown}: differs")
            if options.differences or not why:
                print(f"{name}: {shown}: {'explained: ' + why if why else 'DIFFERS'}\n    stoa\n{show(ours)}\n    postgres\n{show(theirs)}", file=out, flush=True)
        total.update(counts)
        reached[name] = counts["agree"]
        if counts["agree"] < floors.get(name, 0):
            bad.append(f"{name}: {counts['agree']} permutations agree, fewer than {floors[name]}")
        print(f"{name:<36}{counts['agree']:>7}{counts['explained']:>11}{counts['differ']:>8}{counts['not set up']:>12}{floors.get(name, 0):>7}{time.monotonic() - began:>6.0f}", flush=True)
    print(f"{'all':<36}{total['agree']:>7}{total['explained']:>11}{total['differ']:>8}{total['not set up']:>12}")
    if options.differences:
        print("\n".join(f"{n:6} not set up: {why}" for why, n in reasons.most_common()), file=out)
    if options.write_floors:
        (HERE / "isolation_floors.json").write_text(json.dumps({**floors, **reached}, indent=2, sort_keys=True) + "\n")
    print("\n".join(bad) if bad else f"isolation: {total['agree']} permutations agree, {total['explained']} are explained")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
