#!/usr/bin/env python3
"""The reference of functions and types: printed from the table of signatures that the server lists, and every example in it runs.

    reference.py BINARY | DSN [--update]

Examples stand in docs/reference/examples.tsv and types.tsv: what is shown, statements, and the answer of the last of them (' | '
between columns, ' / ' between rows; '-' where it is not the same each time). tests/differential/kept.tsv holds more of the kind: what
was once wrong, with PostgreSQL's answers. --update writes docs/reference/functions.md and types.md anew; without it they must be what
would be written.
"""
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import psycopg
from psycopg import pq

HERE = pathlib.Path(__file__).parent
REFERENCE = HERE.parent / "docs" / "reference"
# Functions that need no example: they stop something, or are about objects that Stoa does not have.
WITHOUT = 58


def lines(path):
    return [line.split("\t") for line in path.read_text().splitlines() if line]


class Session:
    def __init__(self, dsn):
        self.conn = psycopg.connect(dsn, autocommit=True, connect_timeout=10)
        self.conn.pgconn.notice_handler = None

    def run(self, sql):
        """The rows of the last statement as text, or the error."""
        result = self.conn.pgconn.exec_(sql.encode())
        if result.status not in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
            return result.error_message.decode().strip()
        rows = [[None if (v := result.get_value(r, c)) is None else v.decode() for c in range(result.nfields)] for r in range(result.ntuples)]
        return rows

    def answer(self, sql):
        rows = self.run(sql)
        if isinstance(rows, str):
            return rows
        return " / ".join(" | ".join("NULL" if v is None else v for v in row) for row in rows).replace("\n", "\\n")


def check_examples(dsn):
    wrong = []
    for what, sql, *wanted in lines(REFERENCE / "examples.tsv") + lines(REFERENCE / "types.tsv") + lines(HERE / "differential" / "kept.tsv"):
        session = Session(dsn)
        session.run("CREATE SCHEMA reference_example")
        session.run("SET search_path = reference_example")
        found, wanted = session.answer(sql), wanted[0] if wanted else ""
        session.run("ROLLBACK")
        session.run("DROP SCHEMA reference_example CASCADE")
        session.conn.close()
        if found.startswith("ERROR") or wanted not in ("-", found):
            wrong.append(f"{what}: {sql}\n  wanted {wanted}\n  found  {found}")
    return wrong


SECTIONS = {"a": "Aggregates", "w": "Window functions"}
KINDS = {
    "Numbers": {"int2", "int4", "int8", "float4", "float8", "numeric"},
    "Dates and times": {"date", "time", "timetz", "timestamp", "timestamptz", "interval"},
    "Text": {"text", "varchar", "bpchar", "name", "char"},
    "Binary strings": {"bytea"},
    "JSON": {"json", "jsonb", "jsonpath"},
    "Full text": {"tsvector", "tsquery"},
}


def section(name, args, kind, returns_set, result):
    if kind in SECTIONS:
        return SECTIONS[kind]
    if returns_set == "t":
        return "Set-returning functions"
    if name.startswith(("pg_", "has_", "to_reg", "inet_", "txid_", "current_", "session_", "obj_", "col_", "shobj_", "stoa_")):
        return "System information and administration"
    if name.startswith("lo_") or name in ("loread", "lowrite"):
        return "Large objects"
    if name.startswith("json") or "_json" in name:
        return "JSON"
    polymorphic = ("any", "anyelement", "anynonarray", "anycompatible")
    first = next((a for a in args if a not in polymorphic), result)
    if first.startswith("_") or first in ("anyarray", "anycompatiblearray"):
        return "Arrays"
    return next((title for title, types in KINDS.items() if first in types), "Others")


def cell(text):
    return text.replace("|", "\\|")


def functions(session):
    shown = {what: (sql, answer[0] if answer else "") for what, sql, *answer in lines(REFERENCE / "examples.tsv")}
    rows = session.run(
        "SELECT p.proname, (SELECT string_agg(t.typname, ', ' ORDER BY u.n) FROM unnest(p.proargtypes) WITH ORDINALITY u(o, n) JOIN pg_type t ON t.oid = u.o), "
        "p.prokind, p.proretset, p.provariadic, p.provolatile, format_type(p.prorettype, NULL), (SELECT typname FROM pg_type WHERE oid = p.prorettype), d.description "
        "FROM pg_proc p JOIN pg_namespace s ON s.oid = p.pronamespace LEFT JOIN pg_description d ON d.objoid = p.oid WHERE s.nspname IN ('pg_catalog', 'information_schema')"
        # The functions by which types are read and written, and access methods and languages used, are listed for clients, and not called.
        " AND NOT EXISTS (SELECT FROM pg_type t WHERE p.oid IN (t.typinput, t.typoutput, t.typreceive, t.typsend, t.typmodin, t.typmodout, t.typanalyze, t.typsubscript))"
        " AND p.oid NOT IN (SELECT amhandler FROM pg_am UNION SELECT lanvalidator FROM pg_language)"
    )
    sections, without = {}, []
    for name, args, kind, returns_set, variadic, volatility, result, typname, what in rows:
        args = args or ""
        signature = f"{name}({args})"
        notes = ["the last argument repeats, or is an array after VARIADIC"] if variadic != "0" else []
        notes += ["volatile"] if volatility == "v" else []
        what = (what or "").rstrip(".") + (f" ({'; '.join(notes)})" if notes else "")
        example = ""
        if signature in shown:
            sql, answer = shown[signature]
            example = f"`{cell(sql)}`" + ("" if answer == "-" else f" → `{cell(answer)}`" if answer else " → (empty)")
        else:
            without.append(signature)
        line = f"| `{signature}` | {'setof ' if returns_set == 't' else ''}{cell(result)} | {cell(what)} | {example} |"
        sections.setdefault(section(name, args.split(", "), kind, returns_set, typname), set()).add(line)
    out = ["# Functions", "",
           "Printed from the table of signatures in [`registry.rs`](../../crates/pg/src/registry.rs) by [`reference.py`](../../tests/reference.py), which",
           "also runs the examples; their answers are PostgreSQL's. Types are named as in `pg_type`."]
    for title in sorted(sections):
        out += ["", f"## {title}", "", "| function | gives | what | example |", "|---|---|---|---|", *sorted(sections[title])]
    return "\n".join(out) + "\n", sorted(set(without))


def types(session):
    shown = {what: (sql, answer[0]) for what, sql, *answer in lines(REFERENCE / "types.tsv")}
    rows = session.run("SELECT format_type(t.oid, NULL), t.typname, t.oid, t.typarray, t.typlen FROM pg_type t JOIN pg_namespace s ON s.oid = t.typnamespace "
                       "WHERE s.nspname = 'pg_catalog' AND t.typtype = 'b' AND t.typname !~ '^_' AND t.typcategory <> 'A' OR t.typname IN ('int2vector', 'oidvector')")
    out = ["# Types", "",
           "Every type has an array type (`integer[]`, `integer[][]`). Printed from the table of types in [`types.rs`](../../crates/pg/src/types.rs)",
           "by [`reference.py`](../../tests/reference.py), which also runs the examples. What differs from PostgreSQL is in",
           "[postgresql.md](../postgresql.md).", "", "| type | `pg_type` | OID | array | bytes | example |", "|---|---|---|---|---|---|"]
    for sql_name, name, oid, array, length in sorted(rows, key=lambda r: int(r[2])):
        if name in shown:
            sql, answer = shown[name]
            out.append(f"| `{sql_name}` | `{name}` | {oid} | {array} | {length if int(length) > 0 else 'varies'} | `{cell(sql)}` → `{cell(answer)}` |")
    return "\n".join(out) + "\n"


def check(dsn, update):
    wrong = check_examples(dsn)
    session = Session(dsn)
    text, without = functions(session)
    for name, text in (("functions.md", text), ("types.md", types(session))):
        path = REFERENCE / name
        if update:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(f"docs/reference/{name} is not what the server lists: run reference.py with --update")
    if len(without) > WITHOUT:
        wrong.append(f"{len(without)} functions have no example: {', '.join(without)}")
    for line in wrong:
        print(line)
    print(f"reference: {len(wrong)} wrong, {len(without)} functions without an example")
    return 1 if wrong else 0


def main():
    target, update = sys.argv[1], "--update" in sys.argv
    if "=" in target:
        return check(target, update)
    with tempfile.TemporaryDirectory() as work, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        server = subprocess.Popen([target, "serve", "--data", work + "/data", "--listen", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
        dsn = f"host=127.0.0.1 port={port} user=stoa dbname=stoa"
        try:
            for _ in range(300):
                try:
                    psycopg.connect(dsn, connect_timeout=1).close()
                    break
                except psycopg.OperationalError:
                    time.sleep(0.1)
            return check(dsn, update)
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    sys.exit(main())
