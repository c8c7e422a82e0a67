#!/usr/bin/env python3
"""Runs the statements of files on PostgreSQL and on Stoa, and prints where the answers differ.

    statements.py [--oracle DSN] [--dsn DSN | --binary STOA] [--show KINDS] FILE ...

A file holds statements parted by lines that end in a semicolon; lines that begin with '--' are comments. Each file runs in a schema of
its own (`diff`), made before and dropped after, on both servers. A statement may be several lines long; `\\sorted` as the line before
one compares its rows in any order.

What differs is named by kinds: code (SQLSTATE, or one succeeded), rows, header (names and types of columns), tag (the command tag),
message, detail, hint, position, notices. --show takes a comma-separated list of those to print; all by default.
With --binary it starts a server of its own, and makes a database of its own with the collation C at the oracle.

The last line counts them. The exit status is 1 if code, rows or header differ anywhere.
"""
import argparse, collections, contextlib, pathlib, sys, threading

try:
    import psycopg
    from psycopg import pq
except ImportError:
    sys.exit("statements.py: psycopg is missing: pip install 'psycopg[binary]'")

KINDS = ["code", "rows", "header", "tag", "message", "detail", "hint", "position", "notices"]
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from sides import FIRST_NORMAL_OID, database, server  # noqa: E402


class Answer:
    """What a server said to one statement."""

    def __init__(self, connection, sql, notices):
        notices.clear()
        self.code, self.rows, self.header, self.tag = None, [], [], ""
        self.message = self.detail = self.hint = self.position = None
        try:
            result = connection.pgconn.exec_(sql.encode())
        except psycopg.OperationalError as error:
            self.code, self.message = "LOST", str(error)
            return
        if result.status in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK, pq.ExecStatus.EMPTY_QUERY):
            self.tag = (result.command_status or b"").decode()
            self.header = [(result.fname(i).decode(), min(result.ftype(i), FIRST_NORMAL_OID), result.fmod(i)) for i in range(result.nfields)]
            self.rows = [tuple(None if (v := result.get_value(r, c)) is None else v.decode(errors="replace") for c in range(result.nfields))
                         for r in range(result.ntuples)]
        elif result.status == pq.ExecStatus.FATAL_ERROR:
            field = lambda f: (result.error_field(f) or b"").decode(errors="replace") or None
            F = pq.DiagnosticField
            self.code, self.message, self.detail, self.hint, self.position = (
                field(F.SQLSTATE) or "LOST", field(F.MESSAGE_PRIMARY), field(F.MESSAGE_DETAIL), field(F.MESSAGE_HINT), field(F.STATEMENT_POSITION))
        else:
            self.code, self.message = "STATUS", pq.ExecStatus(result.status).name
        self.notices = list(notices)

    notices = ()

    def differences(self, other, ordered):
        out = []
        if self.code != other.code:
            return ["code"]
        rows = (self.rows, other.rows) if ordered else (sorted(map(repr, self.rows)), sorted(map(repr, other.rows)))
        if rows[0] != rows[1]:
            out.append("rows")
        for kind in ("header", "tag", "message", "detail", "hint", "position", "notices"):
            if getattr(self, kind) != getattr(other, kind):
                out.append(kind)
        return out

    def show(self, kinds):
        out = []
        if self.code:
            out.append(f"{self.code} {self.message}" + (f" | D: {self.detail}" if self.detail else "") + (f" | H: {self.hint}" if self.hint else "") + (f" | P: {self.position}" if self.position else ""))
        else:
            if "header" in kinds or "code" in kinds:
                out.append(" ".join(f"{n}:{t}" + (f"/{m}" if m != -1 else "") for n, t, m in self.header))
            if "tag" in kinds:
                out.append(self.tag)
            if "rows" in kinds or "code" in kinds:
                out += ["  " + "\t".join("NULL" if v is None else v for v in row) for row in self.rows[:12]]
        if "notices" in kinds:
            out += [f"  notice: {n}" for n in self.notices]
        return "\n      ".join(out)


def connect(dsn):
    connection = psycopg.connect(dsn, autocommit=True, connect_timeout=10)
    notices = []
    connection.add_notice_handler(lambda d: notices.append(f"{d.severity} {d.sqlstate} {d.message_primary}" + (f" | {d.message_detail}" if d.message_detail else "")))
    for sql in ("DROP SCHEMA IF EXISTS diff CASCADE", "CREATE SCHEMA diff", "SET search_path = diff", "SET extra_float_digits = 1",
                "SET TimeZone = 'UTC'", "SET DateStyle = 'ISO, MDY'", "SET lc_messages = 'C'", "SET statement_timeout = '20s'"):
        connection.pgconn.exec_(sql.encode())
    return connection, notices


def statements(path):
    """(line, sql, ordered) of a file."""
    out, current, start, ordered = [], [], 0, True
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        text = line.rstrip("\n")
        if not current and (not text.strip() or text.lstrip().startswith("--")):
            continue
        if not current and text.strip() == "\\sorted":
            ordered = False
            continue
        if not current:
            start = number
        current.append(text)
        if text.rstrip().endswith(";"):
            out.append((start, "\n".join(current).rstrip()[:-1], ordered))
            current, ordered = [], True
    if current:
        out.append((start, "\n".join(current), ordered))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default="host=127.0.0.1 port=5432 user=postgres dbname=postgres")
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--binary", help="start this server")
    parser.add_argument("--show", default=",".join(KINDS))
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    shown = options.show.split(",")
    with server(options.binary, options.dsn) as options.dsn, database(options.oracle) if options.binary else contextlib.nullcontext(options.oracle) as options.oracle:
        return compare(options, shown)


def compare(options, shown):
    counts, total, wrong, version = collections.Counter(), 0, False, ""
    for path in options.files:
        sides = [connect(options.oracle), connect(options.dsn)]
        version = sides[0][0].info.parameter_status("server_version")
        for line, sql, ordered in statements(path):
            total += 1
            answers = [None, None]

            def ask(i):
                answers[i] = Answer(sides[i][0], sql, sides[i][1])

            threads = [threading.Thread(target=ask, args=(i,)) for i in (0, 1)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            for i, answer in enumerate(answers):
                if answer.code == "LOST":
                    sides[i] = connect([options.oracle, options.dsn][i])
            kinds = answers[0].differences(answers[1], ordered)
            counts.update(kinds)
            wrong = wrong or any(k in ("code", "rows", "header") for k in kinds)
            visible = [k for k in kinds if k in shown]
            if visible:
                print(f"{path}:{line}: {','.join(visible)}\n    {sql}\n    PG:   {answers[0].show(visible)}\n    Stoa: {answers[1].show(visible)}")
        for connection, _ in sides:
            connection.pgconn.exec_(b"ROLLBACK")
            connection.pgconn.exec_(b"DROP SCHEMA diff CASCADE")
            connection.close()
    print(f"{total} statements beside PostgreSQL {version}; " + (", ".join(f"{k} {counts[k]}" for k in KINDS if counts[k]) or "no difference"))
    return 1 if wrong else 0


sys.exit(main())
