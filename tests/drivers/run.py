#!/usr/bin/env python3
"""Starts a server that asks for passwords, over TLS where a driver can, and runs the clients' scripts against it, see README.md.

    run.py BINARY [--oracle DSN] [--all] [NAME …]

Those in compared/ print what they see: each has a database of its own, here and in the PostgreSQL of --oracle, and must print the same.
--all runs those as well that download or compile for minutes. A client whose tools are missing is left out with a line, unless it is named.
Environment: NODE_PATH (where node finds its packages), PGJDBC (the driver's jar), CARGO_TARGET_DIR.
"""
import argparse
import contextlib
import difflib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import psycopg

HERE = pathlib.Path(__file__).resolve().parent
COMPARED = HERE / "compared"
JAR = os.environ.get("PGJDBC", "/usr/share/java/postgresql.jar")
PASSWORD = "drivers' pencil"
# What the drivers take from libpq's variables; those in Rust take all that the compared clients take.
PROVEN = {"PGPASSWORD": PASSWORD}
ENCRYPTED = {**PROVEN, "PGSSLMODE": "require"}
HOW = {"node": {**PROVEN, "PGSSLMODE": "no-verify"}}
VERIFIED = ("rust", "sea-orm")
# The first role that logs in, for the compared clients; its name is in what some of them print.
ROLE = "clients"
RULES = """local all all peer map=stoa_owner
hostssl all clients 127.0.0.1/32 scram-sha-256
hostnossl all clients 127.0.0.1/32 reject
host all all 127.0.0.1/32 scram-sha-256
"""
COMMANDS = {
    "psycopg": [sys.executable, HERE / "psycopg_script.py"],
    "asyncpg": [sys.executable, HERE / "asyncpg_script.py"],
    "node": ["node", HERE / "node_script.js"],
    "java": ["java", "-cp", JAR, HERE / "JavaScript.java"],
    "rust": [COMPARED / "built.sh", "rust", "script"],
    "sea-orm": [COMPARED / "built.sh", "rust", "sea-orm"],
}


def python(name):
    return [sys.executable, COMPARED / f"{name}_script.py"]


def node(name):
    return ["node", COMPARED / f"{name}_script.js"]


# Name: (command, what it needs: programs, modules of Python, packages of node).
QUICK = {
    "psycopg2": (python("psycopg2"), ["python:psycopg2"]),
    "alembic": (python("alembic"), ["python:alembic", "python:asyncpg", "python:greenlet"]),
    "django": (python("django"), ["python:django"]),
    "odbc": (python("odbc"), ["python:pyodbc", "odbc:PostgreSQL Unicode"]),
    "node-pg": (node("node_pg"), ["node", "node:pg", "node:pg-cursor", "node:pg-copy-streams"]),
    "pgx": ([COMPARED / "built.sh", "pgx"], ["go"]),
    "tokio-postgres": ([COMPARED / "built.sh", "rust", "tokio-postgres"], ["cargo"]),
    "sqlx": ([COMPARED / "built.sh", "sqlx"], ["cargo"]),
}
SLOW = {
    "dump": (python("dump"), ["pg_dump", "pg_dumpall", "pg_restore", "psql"]),
    "drizzle": (node("drizzle"), ["node", "node:drizzle-kit", "node:drizzle-orm"]),
    "java-tools": ([COMPARED / "built.sh", "java"], ["mvn", "javac"]),
}


def missing(need):
    """Whether what a client needs is not there."""
    kind, _, name = need.partition(":")
    if not name:
        return shutil.which(kind) is None
    if kind == "python":
        return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode != 0
    if kind == "node":
        return not pathlib.Path(os.environ.get("NODE_PATH", "/nowhere"), name).is_dir()
    # A driver that unixODBC knows.
    listed = subprocess.run(["odbcinst", "-q", "-d"], capture_output=True, text=True).stdout if shutil.which("odbcinst") else ""
    return f"[{name}]" not in listed


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def server(binary):
    """The port and the certificate of a server."""
    with tempfile.TemporaryDirectory() as work:
        port = free_port()
        log = open(f"{work}/log", "wb")
        data = ["--data", f"{work}/data"]
        subprocess.run([binary, "certificate", *data], check=True, capture_output=True)
        subprocess.run([binary, "sql", *data, "-c", f"CREATE ROLE {ROLE} LOGIN SUPERUSER"], check=True, capture_output=True)
        for role in ("stoa", ROLE):
            subprocess.run([binary, "password", *data, role], check=True, capture_output=True, input=PASSWORD, text=True)
        pathlib.Path(f"{work}/data/pg_hba.conf").write_text(RULES)
        process = subprocess.Popen([binary, "serve", *data, "--listen", f"127.0.0.1:{port}"], stderr=log)
        try:
            for _ in range(300):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield port, f"{work}/data/server.crt"
        finally:
            process.terminate()
            process.wait(20)


def run(command, environment, timeout=900):
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout, env={**os.environ, **environment}, cwd=COMPARED)
        return done.returncode, done.stdout, done.stderr
    except FileNotFoundError as error:
        return 1, "", f"FAIL {error}"
    except subprocess.TimeoutExpired as late:
        return 1, (late.stdout or b"").decode(), f"FAIL it ran for {timeout} s"


def told(name, code, stdout, stderr):
    """Runs of those that check by themselves: a line `ok …` for each thing."""
    out = stdout + stderr
    bad = [line for line in out.splitlines() if not line.startswith("ok ")] if code else []
    good = sum(line.startswith("ok ") for line in out.splitlines())
    print(f"driver {name:10} {good} passed{'' if not code else ', FAILED'}", flush=True)
    for line in bad:
        print(f"  {line}")
    return code == 0


def compared(name, command, ours, theirs):
    """Runs a script on both sides at once; whether both printed the same."""
    sides = [ours] + ([theirs] if theirs else [])
    results = [None] * len(sides)

    def one(i):
        with psycopg.connect(dsn(sides[i]), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {ROLE} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {ROLE} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'")
        other = {f"OTHER_{name}": value for side in sides if side is not sides[i] for name, value in side.items()}
        results[i] = run(command, {**sides[i], **other, "PGDATABASE": ROLE})

    began = time.monotonic()
    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(sides))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(result is None for result in results):
        print(f"client {name:10} FAILED: no database for it")
        return False
    # Some tools print where they are connected.
    lines = [re.sub(r"jdbc:postgresql:[^\s']*", "jdbc:postgresql:…", stdout).splitlines() for _, stdout, _ in results]
    differ = [] if not theirs else [line for line in difflib.unified_diff(lines[1], lines[0], "PostgreSQL", "Stoa", n=1, lineterm="")]
    failed = results[0][0] != 0 or bool(differ) or not lines[0]
    print(f"client {name:10} {len(lines[0])} lines{'' if theirs else ', compared with nothing'}, {time.monotonic() - began:.1f} s{', FAILED' if failed else ''}", flush=True)
    if results[0][0] != 0 and not differ:
        differ = lines[0][-30:]
    for line in differ[:400] + (results[0][2].splitlines()[-30:] if failed else []):
        print(f"  {line[:1000]}")
    return not failed


def dsn(side):
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT"}
    return psycopg.conninfo.make_conninfo(dbname="postgres", **{option: side[name] for option, name in names.items() if name in side})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--oracle", help="the DSN of a superuser of a PostgreSQL 15")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_intermixed_args()
    clients = {**QUICK, **(SLOW if options.all or options.names else {})}
    wanted = options.names or [*COMMANDS, *clients]
    failed = []
    with server(options.binary) as (port, certificate), contextlib.ExitStack() as end:
        ours = {"PGHOST": "localhost", "PGPORT": str(port), "PGUSER": ROLE, "PGPASSWORD": PASSWORD, "PGSSLMODE": "verify-full", "PGSSLROOTCERT": certificate, "NODE_EXTRA_CA_CERTS": certificate}
        theirs = None
        if options.oracle:
            admin = end.enter_context(psycopg.connect(options.oracle, autocommit=True))
            clean = [f"DROP DATABASE IF EXISTS {ROLE} WITH (FORCE)", f"DROP ROLE IF EXISTS {ROLE}"]
            for statement in [*clean, f"CREATE ROLE {ROLE} LOGIN SUPERUSER PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'"]:
                admin.execute(statement)
            end.callback(lambda: [admin.execute(statement) for statement in clean])
            theirs = {"PGHOST": admin.info.host, "PGPORT": str(admin.info.port), "PGUSER": ROLE, "PGPASSWORD": PASSWORD, "PGSSLMODE": "disable"}
        for name in wanted:
            if name in COMMANDS:
                passed = told(name, *run([*COMMANDS[name], port, HERE / "types.tsv"], ours if name in VERIFIED else HOW.get(name, ENCRYPTED)))
            else:
                command, needs = clients[name]
                absent = [need for need in needs if missing(need)]
                if absent:
                    print(f"client {name:10} {'FAILED' if options.names else 'left out'}: {', '.join(absent)} not there", flush=True)
                    passed = not options.names
                else:
                    passed = compared(name, command, ours, theirs)
            if not passed:
                failed.append(name)
    sys.exit(f"failed: {' '.join(failed)}" if failed else 0)


main()
