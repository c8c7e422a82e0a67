#!/usr/bin/env python3
"""Runs scripts of several named sessions and compares the whole transcript with PostgreSQL's.

    sessions.py [--dsn DSN] [--protocol simple|extended] [--record] [-v] [FILE|FOLDER ...]

A script (`tests/sessions/*.txt`) is a list of steps, `SESSION: SQL` (more lines of SQL are indented), each followed by what came of
it in lines that begin with `> `:

    a: UPDATE t SET n = 1 WHERE id = 1
    > UPDATE 1
    b: UPDATE t SET n = 2 WHERE id = 1
    > waits
    a: COMMIT
    > COMMIT
    > b: UPDATE 1

A statement that has not answered after a moment `waits`; its answer is written under the step that let it go on, with the session's
name. Answers that are expected are waited for, however slow the machine is; one that is to wait is given a moment to answer wrongly,
which begins when the server says that it waits.
Several sessions let go by one step answer in the order of their names. `!SESSION` in place of SQL (`a: !close`) closes the
connection, `!pause` lets two seconds go by. `$pid(a)` in SQL is the backend's number of session a; numbers of backends are `PID` in answers.

Answers are PostgreSQL 15's, recorded with `--record` against a real one. Where Stoa answers otherwise by decision, the lines that
begin with `>stoa ` stand below the others and count instead; docs/transactions.md says why. Each script runs in a schema of its own.
"""
import argparse, pathlib, re, sys, threading, time

import psycopg
from psycopg import pq

HERE = pathlib.Path(__file__).resolve().parent
OK = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK, pq.ExecStatus.EMPTY_QUERY)
# How long everything must be quiet before what has not answered counts as waiting, and how long an expected answer may take.
SETTLE, PATIENCE = 0.4, 30


def show(value):
    return "NULL" if value is None else value.decode(errors="replace").replace("\n", "\\n") or "(empty)"


class Session:
    def __init__(self, name, dsn, schema, protocol):
        self.name, self.protocol = name, protocol
        self.notices, self.thread, self.answer = [], None, None
        self.conn = psycopg.connect(dsn, autocommit=True, connect_timeout=10)
        self.raw = self.conn.pgconn
        self.conn.add_notice_handler(lambda d: self.notices.append(f"{d.severity}: {d.message_primary}"))
        self.pid = self.raw.backend_pid
        for sql in (f"SET search_path TO {schema}, public", "SET TIME ZONE 'UTC'", "SET statement_timeout TO '60s'", "SET deadlock_timeout TO '200ms'"):
            self.raw.exec_(sql.encode())

    def run(self, sql):
        out = []
        try:
            # What is known by now, notifications of idle sessions above all, comes first.
            result = self.raw.exec_params(sql.encode(), []) if self.protocol == "extended" and ";" not in sql.rstrip("; ") else self.raw.exec_(sql.encode())
            field = lambda f: (result.error_field(f) or b"").decode(errors="replace")
            if result.status in OK:
                for r in range(result.ntuples):
                    out.append(" | ".join(show(result.get_value(r, c)) for c in range(result.nfields)))
                out.append((result.command_status or b"").decode())
            else:
                out.append(f"{field(pq.DiagnosticField.SEVERITY)} {field(pq.DiagnosticField.SQLSTATE)}: {field(pq.DiagnosticField.MESSAGE_PRIMARY)}")
                for name, code in (("DETAIL", pq.DiagnosticField.MESSAGE_DETAIL), ("constraint", pq.DiagnosticField.CONSTRAINT_NAME)):
                    # Who waited for whom in a deadlock is told in words of each server's own.
                    if field(code) and not field(pq.DiagnosticField.SQLSTATE).startswith("40"):
                        out.append(f"  {name}: {field(code)}")
            if self.raw.status != pq.ConnStatus.OK:
                out.append("connection lost")
            else:
                self.raw.consume_input()
                while n := self.raw.notifies():
                    out.append(f"notification {n.relname.decode()}: {n.extra.decode()}")
        except psycopg.Error as e:
            out.append("connection lost")
        self.answer = [*self.notices, *out]
        self.notices = []

    def start(self, sql):
        self.thread = threading.Thread(target=self.run, args=(sql,), daemon=True)
        self.thread.start()


def parse(text):
    """[(session, sql, first line after the step, its answer lines, answer lines of Stoa)] and the lines."""
    lines, steps, i = text.split("\n"), [], 0
    while i < len(lines):
        m = re.match(r"(\w+): (.*)$", lines[i])
        i += 1
        if not m:
            continue
        sql = [m[2]]
        while i < len(lines) and lines[i][:1] in (" ", "\t"):
            sql.append(lines[i])
            i += 1
        after, answers, own = i, [], []
        while i < len(lines) and lines[i].startswith(">"):
            (own if lines[i].startswith(">stoa") else answers).append(re.sub(r"^>(stoa)? ?", "", lines[i]))
            i += 1
        steps.append((m[1], "\n".join(sql), after, answers, own))
    return steps, lines


def run_script(path, args):
    text = path.read_text()
    steps, lines = parse(text)
    schema = f"ses_{re.sub(r'[^a-z0-9]', '_', path.stem.lower())}_{int(time.time() * 1000) % 10**7}"
    admin = psycopg.connect(args.dsn, autocommit=True)
    admin.execute(f"CREATE SCHEMA {schema}")
    sessions, answers, failures = {}, [], []

    def let_it_wait(session):
        """Until the server says that it waits for a lock or sleeps, or it has answered."""
        began = time.monotonic()
        while session.thread.is_alive() and time.monotonic() - began < PATIENCE:
            if admin.execute("SELECT wait_event_type = 'Lock' OR query ~ 'pg_sleep' FROM pg_stat_activity WHERE pid = %s AND state = 'active'", [session.pid]).fetchone() == (True,):
                return
            time.sleep(0.02)

    def finished(expected):
        """Sessions that have answered, once all that are expected to have, and all has been quiet for a moment."""
        out, quiet, began = [], time.monotonic(), time.monotonic()
        while True:
            waiting = [s for s in sessions.values() if s.thread is not None]
            for s in sorted(waiting, key=lambda s: s.name):
                if not s.thread.is_alive():
                    out.append(s)
                    s.thread, quiet = None, time.monotonic()
            still = [s for s in sessions.values() if s.thread is not None]
            late = time.monotonic() - began < PATIENCE and any(s.name in expected for s in still)
            if not still or (time.monotonic() - quiet > SETTLE and not late):
                return out
            time.sleep(0.005)

    pids = lambda: sorted(((str(s.pid), s.name) for s in sessions.values()), key=lambda p: -len(p[0]))
    try:
        for number, (name, sql, _, expected, own) in enumerate(steps):
            got = []
            if sql.strip() == "!pause":
                time.sleep(2)
            elif sql.strip() == "!close":
                sessions.pop(name).conn.close()
            else:
                if name not in sessions:
                    sessions[name] = Session(name, args.dsn, schema, args.protocol)
                session = sessions[name]
                if session.thread is not None:
                    failures.append(f"{path.name}: step {number + 1}: session {name} is still waiting")
                    break
                session.start(re.sub(r"\$pid\((\w+)\)", lambda m: str(sessions[m[1]].pid), sql))
            wanted = own if own and not args.record else expected
            to_come = {m[1] for m in (re.match(r"(\w+): ", line) for line in wanted) if m and m[1] in sessions}
            if wanted[:1] == ["waits"]:
                if not args.record:
                    let_it_wait(sessions[name])
            elif wanted:
                to_come.add(name)
            done = finished(set() if args.record else to_come)
            by_name = {s.name: s for s in done}
            own_session = sessions.get(name)
            if own_session is not None and own_session.thread is not None:
                got.append("waits")
            elif name in by_name:
                got += by_name[name].answer
            for s in sorted(done, key=lambda s: s.name):
                if s.name != name:
                    got += [f"{s.name}: {line}" for line in s.answer]
            known = {s.pid for s in sessions.values()}
            # Values may happen to be numbers of backends; where such are expected is known once recorded.
            if args.record or any("PID" in line for line in wanted):
                got = [re.sub(r"\d+", lambda m: "PID" if int(m[0]) in known and len(m[0]) > 2 else m[0], line) for line in got]
            got = [line.replace(schema, "SCHEMA") for line in got]
            answers.append(got)
            if not args.record and got != wanted:
                failures.append(f"{path.name}: step {number + 1}: {name}: {' '.join(sql.split())[:140]}\n"
                                + "".join(f"    - {l}\n" for l in wanted) + "".join(f"    + {l}\n" for l in got).rstrip())
    finally:
        for s in sessions.values():
            if s.thread is None:
                s.conn.close()
            else:
                # Its statement may hold locks that the next line would wait for.
                s.conn.cancel()
                s.thread.join(5)
                s.conn.close()
        admin.execute("SET statement_timeout TO '20s'")
        try:
            admin.execute(f"DROP SCHEMA {schema} CASCADE")
        except psycopg.Error as e:
            failures.append(f"{path.name}: the schema could not be dropped: {e}")
        admin.close()
    if args.record:
        out, at = [], 0
        for (_, _, after, expected, own), got in zip(steps, answers):
            out += lines[at:after] + [f"> {l}" for l in got]
            at = after + len(expected) + len(own)
            out += [f">stoa {l}" for l in own]
        path.write_text("\n".join(out + lines[at:]))
    return len(steps) - len([f for f in failures if ": step " in f]), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--protocol", choices=("simple", "extended"), default="simple")
    parser.add_argument("--record", action="store_true", help="rewrite the answers; for PostgreSQL only")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    files = []
    for p in args.paths or [HERE.parent / "sessions"]:
        files += sorted(p.rglob("*.txt")) if p.is_dir() else [p]
    passed, failures = 0, []
    for path in files:
        try:
            good, bad = run_script(path, args)
        except psycopg.Error as e:
            good, bad = 0, [f"{path.name}: {e}"]
        passed += good
        failures += bad
        if args.verbose:
            print(f"{path.stem}: {good} steps agree, {len(bad)} do not", flush=True)
    for failure in failures:
        print(failure)
    print(f"sessions: {passed} steps agree, {len(failures)} do not")
    sys.exit(1 if failures else 0)


main()
