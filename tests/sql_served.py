#!/usr/bin/env python3
"""Runs the SQL tests of `sql-tests` on a server, on whichever store it has: `crates/server/tests/sql.rs` runs them on the stores of one process.

    sql_served.py BINARY [--store URL] [--take-over] [FILE …]

Each file has a database for itself, but for those that make or show databases. Plans, and what cells hold at most, are compared on the embedded store alone: they depend
on the store.
Needs psycopg.
"""
import argparse, pathlib, socket, subprocess, sys, tempfile, time

import psycopg

DATABASE = "stoa_sql_test"
EMBEDDED_ALONE = {"practice_large_values.slt"}
TESTS = pathlib.Path(__file__).resolve().parent.parent / "sql-tests"


def records(text):
    """Directive, statement, and the lines below `----`, if there are any."""
    for block in text.split("\n\n"):
        lines = [line for line in block.strip("\n").split("\n")]
        while lines and (lines[0].startswith("#") or not lines[0].strip()):
            lines.pop(0)
        if lines:
            at = lines.index("----") if "----" in lines else None
            yield lines[0].strip(), "\n".join(lines[1:at]), None if at is None else lines[at + 1:]


def shown(value):
    if value is None:
        return "NULL"
    # As it would be in a database of its own.
    return value.decode("utf-8", "replace").replace(DATABASE, "stoa").replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") or "(empty)"


def outcome(connection, directive, sql):
    """The directive as it should be, and the lines below it."""
    result = connection.pgconn.exec_(sql.encode())
    if result.status == psycopg.pq.ExecStatus.FATAL_ERROR:
        field = lambda which: (result.error_field(which) or b"").decode()
        parts = psycopg.pq.DiagnosticField
        texts = [field(parts.MESSAGE_PRIMARY)]
        texts += [f"{name}: {field(part)}" for name, part in (("DETAIL", parts.MESSAGE_DETAIL), ("HINT", parts.MESSAGE_HINT)) if field(part)]
        return f"statement error {field(parts.SQLSTATE)}", [line for text in texts for line in text.split("\n")]
    if directive.split()[0] in ("query", "explain"):
        rows = range(result.ntuples)
        return directive, ["\t".join(shown(result.get_value(row, column)) for column in range(result.nfields)) for row in rows]
    if directive.startswith("statement count"):
        return f"statement count {(result.command_status or b'').decode().split(' ')[-1]}", None
    return "statement ok", None


def run(path, dsn, plans):
    """What differs."""
    differ, sessions, current, database = [], {}, "main", ""
    text = path.read_text()
    own = not any(f"\n{statement} DATABASE" in text for statement in ("CREATE", "SHOW"))
    with psycopg.connect(dsn, autocommit=True) as clean:
        if own:
            clean.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            clean.execute(f"CREATE DATABASE {DATABASE}")
        for directive, sql, expected in records(text):
            if directive.startswith("session "):
                current, _, database = directive.split(" ", 1)[1].partition(" in ")
                continue
            if current not in sessions:
                there = database or (DATABASE if own else "")
                sessions[current] = psycopg.connect(f"{dsn} dbname={there}" if there else dsn, autocommit=True)
                sessions[current].execute("SET TIME ZONE 'UTC'")
            if directive == "explain":
                if not plans:
                    continue
                sql = f"EXPLAIN (COSTS OFF) {sql}"
            found, lines = outcome(sessions[current], directive, sql)
            if found != directive or lines != expected:
                differ.append(f"{path.name}: {sql}\n  wanted {directive}\n    " + "\n    ".join(expected or []) + f"\n  found {found}\n    " + "\n    ".join(lines or []))
        for session in sessions.values():
            session.close()
        if own:
            clean.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--store")
    parser.add_argument("--take-over", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_intermixed_args()
    files = [path for path in args.files or sorted(TESTS.glob("*/*.slt")) if not (args.store and path.name in EMBEDDED_ALONE)]
    with tempfile.TemporaryDirectory(prefix="stoa-sql-") as work:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        store = ["--store", args.store] * bool(args.store) + ["--take-over"] * args.take_over
        server = subprocess.Popen([args.binary, "serve", "--data", f"{work}/data", "--listen", f"127.0.0.1:{port}", *store],
                                  stderr=open(f"{work}/log", "w"))
        dsn = f"host=127.0.0.1 port={port} user=stoa dbname=stoa"
        failed = 0
        try:
            for _ in range(600):
                try:
                    psycopg.connect(dsn, connect_timeout=1).close()
                    break
                except psycopg.OperationalError:
                    time.sleep(0.1)
            for path in files:
                try:
                    differ = run(path, dsn, not args.store)
                except psycopg.Error as error:
                    differ = [f"{path.name}: {type(error).__name__}: {error}"]
                failed += bool(differ)
                print("\n".join(differ) if differ else f"{path.name}: as it says", flush=True)
        finally:
            server.terminate()
            server.wait(30)
    print(f"sql_served: {len(files) - failed} files as they say, {failed} not")
    sys.exit(1 if failed else 0)


main()
