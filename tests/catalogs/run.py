#!/usr/bin/env python3
"""The questions that tools ask the catalogs, on Stoa and on PostgreSQL over the same schema: the rows must be the same.

    run.py BINARY --oracle DSN [--only PART] [--show]

asked/TOOL.sql holds questions of the kind that a tool asks, each under a line `-- name`; asked/psql.txt commands of psql, whose output is compared as it
is shown. OIDs of objects of the schema are compared by what they name. Rows come in any order unless the question says ORDER BY.
captured/TOOL-VERSION.sql holds what capture.py has recorded of a tool: statements under a line `--- name`, with a line `--$ type value` for each
parameter, asked in their order on one connection. known.tsv lists what differs: tool, name, reason (see `covered`); a line that differs no more is an error, too.
"""
import argparse
import json
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


def captured(path):
    """Names and statements of a file that capture.py wrote, parameters above each."""
    for part in re.split(r"^--- ", path.read_text(), flags=re.M)[1:]:
        yield part.split("\n", 1)


class Side:
    def __init__(self, dsn):
        self.dsn = dsn
        self.connect()
        self.who = self.conn.execute("SELECT session_user").fetchone()[0]
        self.database = self.conn.execute("SELECT current_database()").fetchone()[0]
        self.names = {}

    def connect(self):
        self.conn = psycopg.connect(self.dsn, autocommit=True, connect_timeout=10)
        self.conn.pgconn.notice_handler = None

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
            "trigger": "SELECT oid, tgrelid::regclass || ' ' || tgname FROM pg_trigger",
        }.items():
            for oid, name in self.conn.execute(sql).fetchall():
                self.names.setdefault(int(oid), f"<{kind} {name}>")
        (oid,) = self.conn.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
        self.names[int(oid)] = "<database this>"
        self.types = dict(self.conn.execute("SELECT typname, oid FROM pg_type WHERE oid < 16384").fetchall())
        self.oids = {name: str(oid) for oid, name in self.names.items()}

    def cell(self, value, ty, everywhere=False):
        if value is None:
            return None
        text = value.decode("utf-8", "replace")
        if ty in OID_TYPES and text.isdigit() and (int(text) >= FIRST_OID or int(text) in self.names):
            return self.names.get(int(text), "<unknown>")
        if everywhere:
            text = re.sub(r"(?<![\w.])\d{5,10}(?![\w.])", lambda oid: self.names.get(int(oid[0]), oid[0]) if int(oid[0]) >= FIRST_OID else oid[0], text)
        text = re.sub(rf"\b{re.escape(self.database)}\b", "<database>", text)
        return re.sub(rf"\b{re.escape(self.who)}\b", "<superuser>", text)

    def filled(self, text):
        """A statement or a value of a capture, with this server's names and OIDs."""
        text = text.replace("<database>", self.database).replace("<user>", self.who)
        return re.sub(r"<(?:database|relation|type|constraint|schema|role|default|policy|rule|default privileges|trigger) [^<>]+>",
                      lambda name: self.oids.get(name[0], "0"), text)

    def captured(self, text):
        """The answers to the statements of one message."""
        types, values = [], []
        while text.startswith("--$ "):
            line, text = text.split("\n", 1)
            _, ty, value = line.split(" ", 2)
            value = json.loads(value)
            types.append(0 if ty == "unknown" else self.types[ty])
            values.append(None if value is None else self.filled(value).encode())
        pg, sql = self.conn.pgconn, self.filled(text)
        if values:
            pg.send_query_params(sql.encode(), values, types)
        else:
            pg.send_query(sql.encode())
        answers = []
        while (result := pg.get_result()) is not None:
            answers.append(self.answer(result, sql, True))
        # In any order: what tools order by often ties.
        return [columns for columns, _ in answers], sorted((row for _, rows in answers for row in rows), key=lambda row: tuple(map(str, row)))

    def rows(self, sql):
        """Names and types of columns, and rows; or the error."""
        return self.answer(self.exec(sql), sql, False)

    def answer(self, result, sql, everywhere):
        """Names and types of columns, and rows, or what else came back. OIDs are looked for in values of any type, if `everywhere`."""
        if everywhere and result.status == pq.ExecStatus.COMMAND_OK:
            return result.command_status.decode(), []
        if result.status != pq.ExecStatus.TUPLES_OK:
            return "error " + result.error_message.decode().strip().splitlines()[0], []
        width = result.nfields
        columns = [(result.fname(i).decode(), result.ftype(i)) for i in range(width)]
        rows = [tuple(self.cell(result.get_value(r, c), columns[c][1], everywhere) for c in range(width)) for r in range(result.ntuples)]
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
    missing.sort(key=lambda row: not any(OF_THE_SCHEMA.search(str(cell)) for cell in row))
    more.sort(key=lambda row: not any(OF_THE_SCHEMA.search(str(cell)) for cell in row))
    if not missing and not more:
        return "  the order, or the number of equal rows"
    shown = [f"  PostgreSQL  {row}" for row in missing[:6]] + [f"  Stoa        {row}" for row in more[:6]]
    return "\n".join([f"  {len(missing)} rows missing, {len(more)} too many", *shown])


OF_THE_SCHEMA = re.compile(r"\bapp\b|\bcat_|Odd Name|<(?:relation|constraint|default|policy|rule) ")


def covered(reason, ours, theirs):
    """Whether a reason in known.tsv stands for a difference. `refused:` at its beginning stands for any, `schema:` for rows that tell of the schema, too;
    without, errors, columns and such rows are not meant. What psql shows is one text. Behind `maybe:` there need not be a difference."""
    reason = reason.removeprefix("maybe: ")
    if reason.startswith("refused:") or not isinstance(ours[0], list) and not ours[0].startswith("error"):
        return True
    if ours[0] != theirs[0] or reason.startswith("schema:"):
        return ours[0] == theirs[0]
    apart = [row for row in theirs[1] if row not in ours[1]] + [row for row in ours[1] if row not in theirs[1]]
    return not any(OF_THE_SCHEMA.search(str(cell)) for row in apart for cell in row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--draft", action="store_true", help="print lines for known.tsv, in place of what differs")
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
        for path in sorted([*pathlib.Path(options.asked).iterdir(), *(HERE / "captured").iterdir()]):
            tool = path.name.removesuffix(".sql").removesuffix(".txt")
            if path.parent.name == "captured":
                items = [(name, Side.captured, text) for name, text in captured(path)]
                ours.connect()
                theirs.connect()
            elif path.suffix == ".sql":
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
                reason = known.get((tool, name))
                if found == wanted and reason is not None and not reason.startswith("maybe:"):
                    wrong.append(f"{tool} {name}: differs no more; take it out of known.tsv")
                elif found != wanted and (reason is None or not covered(reason, found, wanted)):
                    kind = [kind for kind in ("", "schema: ", "refused: ") if covered(kind + "?", found, wanted)][0]
                    wrong.append(f"{tool}\t{name}\t{kind}" if options.draft else f"{kind}{tool} {name}\n{difference(found, wanted)}")
    with psycopg.connect(options.oracle, autocommit=True) as admin:
        admin.execute(ROLES_GO)
    for line in wrong:
        print(line)
    print(f"catalogs: {asked} questions, {len(wrong)} wrong")
    return 1 if wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
