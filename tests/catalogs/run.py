#!/usr/bin/env python3
"""The questions that tools ask the catalogs, on Stoa and on PostgreSQL over the same schema: the rows must be the same.

    run.py BINARY --oracle DSN [--only PART] [--show]

asked/TOOL.sql holds questions of the kind that a tool asks, each under a line `-- name`; asked/psql.txt commands of psql, whose output is compared as it
is shown. OIDs of objects of the schema are compared by what they name. Rows come in any order unless the question says ORDER BY.
known.tsv lists what differs: tool, name, reason; a line that differs no more is an error, too.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

import psycopg
from psycopg import pq

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "differential"))
import sides  # noqa: E402

HERE = pathlib.Path(__file__).parent
OID_TYPES = {26, 2205, 4089, 4096}
FIRST_OID = 16384
# Roles are of all databases: they stay when the one that was made for the questions is dropped.
ROLES_GO = "DROP ROLE IF EXISTS cat_owner, cat_reader, \"cat Group\""


def questions(path):
    """Names and statements of a file."""
    for part in re.split(r"^-- ", path.read_text(), flags=re.M)[1:]:
        name, sql = part.split("\n", 1)
        yield name.strip(), sql.strip().rstrip(";")


class Side:
    def __init__(self, dsn):
        self.dsn = dsn
        self.conn = psycopg.connect(dsn, autocommit=True, connect_timeout=10)
        self.conn.pgconn.notice_handler = None
        self.who = self.conn.execute("SELECT session_user").fetchone()[0]
        self.database = self.conn.execute("SELECT current_database()").fetchone()[0]
        self.names = {}

    def exec(self, sql):
        return self.conn.pgconn.exec_(sql.encode())

    def make(self, text):
        for statement in filter(str.strip, re.split(r";\n", text)):
            result = self.exec(statement)
            if result.status not in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
                raise RuntimeError(f"{statement}: {result.error_message.decode()}")

    def read_names(self):
        """What the OIDs of the schema's objects are of."""
        for kind, sql in {
            "relation": "SELECT oid, relnamespace::regnamespace || '.' || relname FROM pg_class WHERE oid >= 16384",
            "type": "SELECT oid, typnamespace::regnamespace || '.' || typname FROM pg_type WHERE oid >= 16384",
            "constraint": "SELECT oid, conrelid::regclass || ' ' || conname FROM pg_constraint WHERE oid >= 16384",
            "schema": "SELECT oid, nspname FROM pg_namespace",
            "role": "SELECT oid, CASE rolname WHEN session_user THEN 'superuser' ELSE rolname END FROM pg_roles WHERE oid >= 16384 OR rolname = session_user",
            "default": "SELECT oid, adrelid::regclass || ' ' || adnum FROM pg_attrdef",
            "policy": "SELECT oid, polname FROM pg_policy",
            "rule": "SELECT oid, ev_class::regclass || ' ' || rulename FROM pg_rewrite WHERE oid >= 16384",
            "default privileges": "SELECT oid, defaclobjtype FROM pg_default_acl",
            "trigger": "SELECT oid, 'trigger' FROM pg_trigger",
        }.items():
            for oid, name in self.conn.execute(sql).fetchall():
                self.names.setdefault(int(oid), f"<{kind} {name}>")
        (oid,) = self.conn.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
        self.names[int(oid)] = "<database>"

    def cell(self, value, ty):
        if value is None:
            return None
        text = value.decode("utf-8", "replace")
        if ty in OID_TYPES and text.isdigit() and (int(text) >= FIRST_OID or int(text) in self.names):
            return self.names.get(int(text), "<unknown>")
        text = re.sub(rf"\b{re.escape(self.database)}\b", "<database>", text)
        return re.sub(rf"\b{re.escape(self.who)}\b", "<superuser>", text)

    def rows(self, sql):
        """Names and types of columns, and rows; or the error."""
        result = self.exec(sql)
        if result.status != pq.ExecStatus.TUPLES_OK:
            return "error " + result.error_message.decode().strip().splitlines()[0], []
        width = result.nfields
        columns = [(result.fname(i).decode(), result.ftype(i)) for i in range(width)]
        rows = [tuple(self.cell(result.get_value(r, c), columns[c][1]) for c in range(width)) for r in range(result.ntuples)]
        if not re.search(r"\border\s+by\b[^()]*$", sql, re.I):
            rows.sort(key=lambda row: tuple(map(str, row)))
        return columns, rows

    def psql(self, command):
        done = subprocess.run(["psql", "-X", "-d", self.dsn, "-c", command], capture_output=True, text=True, timeout=60)
        lines = [re.sub(r"\s+", " ", line).strip() for line in (done.stdout + done.stderr).splitlines()]
        text = "\n".join(line for line in lines if not re.fullmatch(r"[-+]*", line))
        return re.sub(rf"\b{re.escape(self.database)}\b", "<database>", re.sub(rf"\b{re.escape(self.who)}\b", "<superuser>", text)), []


def difference(ours, theirs):
    if ours[0] != theirs[0]:
        return f"  Stoa        {ours[0]}\n  PostgreSQL  {theirs[0]}"
    missing = [row for row in theirs[1] if row not in ours[1]]
    more = [row for row in ours[1] if row not in theirs[1]]
    if not missing and not more:
        return "  the order, or the number of equal rows"
    shown = [f"  PostgreSQL  {row}" for row in missing[:6]] + [f"  Stoa        {row}" for row in more[:6]]
    return "\n".join([f"  {len(missing)} rows missing, {len(more)} too many", *shown])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--asked", default=str(HERE / "asked"))
    parser.add_argument("--show", action="store_true", help="print the time of each question on Stoa")
    options = parser.parse_args()
    known = {}
    for line in (HERE / "known.tsv").read_text().splitlines():
        tool, name, reason = line.split("\t")
        known[tool, name] = reason
    asked, wrong = 0, []
    schema = (HERE / "schema.sql").read_text()
    with psycopg.connect(options.oracle, autocommit=True) as admin:
        admin.execute(ROLES_GO)
    with sides.server(options.binary if "=" not in options.binary else None, options.binary) as dsn, sides.database(options.oracle) as oracle:
        # A database whose name is no role's, as that of the other side.
        with psycopg.connect(dsn, autocommit=True) as admin:
            admin.execute("CREATE DATABASE of_the_catalogs")
        ours, theirs = Side(dsn + " dbname=of_the_catalogs"), Side(oracle)
        for side in (theirs, ours):
            side.make(schema)
            side.read_names()
        for path in sorted(pathlib.Path(options.asked).iterdir()):
            tool = path.stem
            if path.suffix == ".sql":
                items = [(name, Side.rows, sql) for name, sql in questions(path)]
            else:
                items = [(line, Side.psql, line) for line in path.read_text().splitlines() if line]
            for name, ask, what in items:
                if options.only not in f"{tool} {name}":
                    continue
                asked += 1
                began = time.monotonic()
                found = ask(ours, what)
                if options.show:
                    print(f"{(time.monotonic() - began) * 1000:8.1f} ms  {tool} {name}")
                wanted = ask(theirs, what)
                if (found == wanted) == ((tool, name) in known):
                    what_differs = f"\n{difference(found, wanted)}" if found != wanted else ": differs no more; take it out of known.tsv"
                    wrong.append(f"{tool} {name}{what_differs}")
    with psycopg.connect(options.oracle, autocommit=True) as admin:
        admin.execute(ROLES_GO)
    for line in wrong:
        print(line)
    print(f"catalogs: {asked} questions, {len(wrong)} wrong")
    return 1 if wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
