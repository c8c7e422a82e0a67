#!/usr/bin/env python3
"""Runs PostgreSQL's regression files statement by statement on Stoa and on a PostgreSQL 15, and compares what they answer.

    regress.py [BINARY] [--dsn DSN] [--oracle DSN] [--short | --files NAME,…] [--differences FILE] [--write-floors]

The files come from the distribution's source package (source.py) and run in the order of its schedule, in one database. With
--files only these run, after those that make what they read (`NEEDS`), and with --short those of what most programs use.

The two servers stay in step: what Stoa refuses does not happen on PostgreSQL either, and what only one of them can do is taken back in
a savepoint where that is possible. Of each statement rows (in any order, unless the query has an ORDER BY), names and types of columns,
the command tag and the SQLSTATE are compared. A statement

    agrees      both answer the same;
    refused     Stoa says 0A000, does not have the type or the function, or says so otherwise (`REFUSALS`);
    follows     names an object whose definition was refused;
    left out    is not run or not compared: `left_out.tsv` says why;
    explained   differs as `explained.tsv` says; its reasons are words of docs/postgresql.md;
    differs     otherwise.

`floors.json` has for each file the percentage of statements that must agree or be explained, of those that are neither refused nor follow nor
are left out. A file below its floor, one that takes longer than --seconds, XX000 and lost connections make the command fail.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import sys
import tempfile
import time

from psycopg import pq

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "differential")]
import source  # noqa: E402
from psql_script import Item, Script, arguments  # noqa: E402
from side import Answer, Side, ordered  # noqa: E402
from sides import database, server  # noqa: E402

IDLE, ACTIVE, BLOCK, BROKEN = pq.TransactionStatus.IDLE, pq.TransactionStatus.ACTIVE, pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR
START = ("SET TimeZone = 'America/Los_Angeles'", "SET DateStyle = 'Postgres, MDY'", "SET IntervalStyle = 'postgres_verbose'", "SET lc_messages = 'C'")
# Files that make what others read.
NEEDS = ["test_setup", "copy", "create_misc", "create_index"]
SHORT = """boolean char name varchar text int2 int4 int8 oid float4 float8 numeric uuid strings numerology date time timetz timestamp timestamptz interval
horology expressions copyselect insert insert_conflict create_view constraints select updatable_views select_into select_distinct select_distinct_on
select_implicit select_having subselect union case aggregates transactions portals arrays btree_index update delete namespace matview groupingsets
identity generated merge tsrf limit foreign_key sequence returning window json jsonb jsonpath jsonb_jsonpath prepare truncate rangefuncs lock""".split()
KINDS = ("agrees", "refused", "follows", "left out", "explained", "differs")
CONTROL = re.compile(r"\s*(begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction|set\s+(session|transaction|constraints)|copy|vacuum|lock)\b", re.I)
DEFINITION = re.compile(r"\s*(create|alter|drop|comment)\b", re.I)
ALONE = re.compile(r"\b(concurrently|database|tablespace|system|subscription)\b|\btemp(orary)?\b|\\;", re.I)
UNDEFINED = ("42P01", "42704", "42883", "42703", "3F000", "26000", "34000", "42P02", "42809", "2BP01", "42P07", "42P16")
# Refused with another SQLSTATE than 0A000.
REFUSALS = (("42501", "COPY|is a system catalog"), ("55000", "prepared transactions are disabled"), ("42703", r'column "?(\w+\.)?(ctid|xmin|xmax|cmin|cmax)"? does not exist'))
MADE = re.compile(r"\s*(create|alter|prepare|declare|comment|grant|revoke|drop|set\s+role|set\s+session|execute|import|security|reindex)\b", re.I)


def table(name):
    """The rows of a data file; lines that begin with # are comments."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


class Rules:
    """What is left out, and what is explained."""

    def __init__(self):
        self.left_out = [(re.compile(f), re.compile(p, re.I | re.S), why) for f, p, why in table("left_out.tsv")]
        self.explained = [(re.compile(f), re.compile(p, re.I | re.S), re.compile(a, re.S), why) for f, p, a, why in table("explained.tsv")]
        document = " ".join((HERE.parent.parent / "docs/postgresql.md").read_text(encoding="utf-8").split())
        self.undocumented = sorted({why for *_, why in self.explained if why not in document})

    def out(self, file, sql):
        return next((why for f, p, why in self.left_out if f.fullmatch(file) and p.search(sql)), None)

    def why(self, file, sql, ours, theirs):
        answers = f"{kinds(ours, theirs, sql)} {ours.code} {theirs.code} {ours.message} / {theirs.message}"
        return next((why for f, p, a, why in self.explained if f.fullmatch(file) and p.search(sql) and a.search(answers)), None)


def kinds(ours, theirs, sql):
    """What differs: code, columns (with the numbers of the types), tag, rows or only their order."""
    if ours.code != theirs.code:
        return "code"
    out = [f"columns {a[1]}/{b[1]}" for a, b in zip(ours.header, theirs.header) if a != b][:1]
    if len(ours.header) != len(theirs.header):
        out.append("columns")
    rows = [sorted(answer.rows, key=repr) for answer in (ours, theirs)]
    if rows[0] != rows[1]:
        out.append("rows" if len(rows[0]) == len(rows[1]) else "count")
    elif ordered(sql) and ours.rows != theirs.rows:
        out.append("order")
    return ",".join(out + ["tag"] * (ours.tag != theirs.tag))


class File:
    """One file under way: its counts, and its statements that differ."""

    def __init__(self, run, name):
        self.run, self.name = run, name
        self.counts, self.reasons, self.different, self.fatal = collections.Counter(), collections.Counter(), [], []
        self.stoa, self.theirs = Side(run.stoa, START), Side(run.oracle, START)
        self.variables({})

    def variables(self, more):
        folder = {"PG_ABS_SRCDIR": str(self.run.folder), "PG_ABS_BUILDDIR": self.run.results, "PG_LIBDIR": "/nowhere", "PG_DLSUFFIX": ".so"}
        for side in (self.stoa, self.theirs):
            side.environment = folder
            side.variables.update({"DBNAME": "regression", "ENCODING": "UTF8", "VERSION_NUM": "150018", "SERVER_VERSION_NUM": "150018", "ERROR": "false",
                                   "SQLSTATE": "00000", "ROW_COUNT": "0", "USER": "postgres", "AUTOCOMMIT": "on", **more})

    def count(self, kind, why=None):
        self.counts[kind] += 1
        if why:
            self.reasons[f"{kind}: {why}"] += 1

    def go(self):
        began = time.monotonic()
        truth = lambda text: (arguments(text, self.theirs.variables) or [""])[0].lower() in ("t", "true", "on", "1", "yes")
        try:
            self.script = Script((self.run.folder / "sql" / f"{self.name}.sql").read_bytes(), truth)
            for item in self.script:
                if time.monotonic() - began > self.run.seconds:
                    self.fatal.append(f"{self.name}:{item.line}: took longer than {self.run.seconds} s")
                    break
                if item.kind == "sql":
                    self.statement(item)
                elif item.kind in ("q", "quit"):
                    break
                else:
                    self.command(item)
        finally:
            self.stoa.close()
            self.theirs.close()
        self.seconds = time.monotonic() - began

    def command(self, item):
        """A backslash command."""
        sides = (self.stoa, self.theirs)
        if item.kind == "set":
            for side in sides:
                name, *values = arguments(item.argument, side.variables) or [""]
                side.variables[name] = "".join(values)
        elif item.kind == "unset":
            for side in sides:
                side.variables.pop(item.argument, None)
        elif item.kind == "getenv":
            name, variable = arguments(item.argument, {})
            for side in sides:
                side.variables[name] = side.environment.get(variable, "")
        elif item.kind in ("c", "connect"):
            for side in sides:
                side.close()
                side.open()
        elif item.kind == "copy" and (m := re.match(r"(.*?)\s+from\s+stdin\b(.*)", item.argument, re.I)):
            copy = Item("sql", [f"COPY {m[1]} FROM STDIN {m[2]}"], item.line)
            copy.data = self.script.copy_data()
            self.statement(copy)
        elif item.kind == "copy" and (m := re.match(r"(.*?)\s+to\s+stdout\b(.*)", item.argument, re.I)):
            self.statement(Item("sql", [f"COPY {m[1]} TO STDOUT {m[2]}"], item.line))
        elif item.kind not in ("echo", "qecho", "warn", "pset", "a", "t", "x", "f", "H", "timing", "encoding", "\\", "r", "p"):
            self.count("left out", f"\\{item.kind}")

    def statement(self, item):
        sql, other = item.render(self.stoa.variables), item.render(self.theirs.variables)
        data = item.data
        if (m := re.search(r"^\s*copy\s.*?\bfrom\s+('[^']*/data/([\w.]+)')", other, re.I | re.S)) and (self.run.folder / "data" / m[2]).exists():
            data = (self.run.folder / "data" / m[2]).read_bytes()
            sql, other = (s.replace(m[1], "STDIN") for s in (sql, other))
        why = self.run.rules.out(self.name, other)
        if why:
            return self.count("left out", why)
        kind, ours, theirs = self.compare(sql, other, data)
        if item.end == "gset" and ours.code == theirs.code == "00000":
            prefix = (arguments(item.argument, {}) or [""])[0]
            for side, answer in ((self.stoa, ours), (self.theirs, theirs)):
                if len(answer.rows) == 1:
                    side.variables.update({prefix + column[0]: value for column, value in zip(answer.header, answer.rows[0]) if value is not None})
        elif item.end == "gexec" and theirs.code == "00000":
            for row in theirs.rows:
                for cell in filter(None, row):
                    self.statement(Item("sql", [cell], item.line))
        for side, answer in ((self.stoa, ours), (self.theirs, theirs)):
            if answer is not None:
                side.variables.update(ERROR=str(answer.code != "00000").lower(), SQLSTATE=answer.code, ROW_COUNT=str(len(answer.rows)))
        why = self.run.rules.why(self.name, other, ours, theirs) if kind == "differs" and ours.code not in ("XX000", "LOST", "TIME") else None
        if why:
            kind = "explained"
        self.count(kind, why or (self.run.refusal(ours) if kind == "refused" else None))
        if kind == "refused" and MADE.match(sql) or kind == "differs" and ours.code != theirs.code:
            self.run.missing.update(w.lower() for w in re.findall(r"[A-Za-z_][\w$]*", re.sub(r"--[^\n]*", "", sql)[:2000]))
        if kind in ("differs", "explained"):
            self.different.append((item.line, other, ours, theirs, why))
        if ours.code in ("XX000", "LOST", "TIME") and theirs.code != ours.code:
            self.fatal.append(f"{self.name}:{item.line}: {ours.code} {ours.message}: {' '.join(other.split())[:200]}")

    def compare(self, sql, other, data):
        """(kind, Stoa's answer, PostgreSQL's) of one statement, after which both are in the same state as far as that can be had."""
        stoa, theirs = self.stoa, self.theirs
        wrap = stoa.status == BLOCK and not CONTROL.match(sql) and "\\;" not in sql
        if wrap:
            for side in (stoa, theirs):
                side.run("SAVEPOINT regress_step")
        # A definition that only Stoa takes is taken back.
        held = stoa.status == IDLE == theirs.status and DEFINITION.match(sql) and not ALONE.search(sql)
        if held:
            stoa.run("BEGIN")
        ours = stoa.run(sql, data)
        if ours.code == "LOST":
            for side in (stoa, theirs):
                side.close()
                side.open()
            return "differs", ours, theirs.run("SELECT")
        undo = lambda: [side.run("ROLLBACK TO regress_step; RELEASE regress_step") for side in (stoa, theirs) if wrap]
        if held and ours.code != "00000":
            stoa.run("ROLLBACK")
        if ours.code == "00000":
            answer = theirs.run(other, data)
            if held:
                stoa.run("COMMIT" if answer.code == "00000" else "ROLLBACK")
            if wrap and answer.code == "00000":
                if stoa.status == BLOCK == theirs.status:
                    for side in (stoa, theirs):
                        side.run("RELEASE regress_step")
            else:
                undo()
            return self.judge(other, ours, answer), ours, answer
        if self.run.refused(ours):
            # Whether PostgreSQL refuses it as well is asked where that changes nothing.
            answer = self.asked(other, data) if ours.code == "0A000" and not re.match(r"\s*(create|drop|alter)\s+(role|user|group|database|tablespace|system)", sql, re.I) else None
            if answer is None or answer.code != ours.code:
                undo()
                self.align()
                return "refused", ours, answer or Answer("", [], [], "", "")
            if wrap:
                undo()
            self.align()
            return "agrees", ours, answer
        if stoa.status == IDLE == theirs.status and ours.code != "25P01" and not CONTROL.match(sql):
            answer = self.asked(other, data)
        else:
            answer = theirs.run(other, data)
            if answer.code == "00000":
                undo()
        self.align()
        return self.judge(other, ours, answer), ours, answer

    def asked(self, sql, data):
        """PostgreSQL's answer to a statement that is taken back."""
        side = self.theirs
        if side.status == IDLE:
            side.run("BEGIN")
            answer = side.run(sql, data)
            if answer.code == "00000":
                late = side.run("SET CONSTRAINTS ALL IMMEDIATE")
                answer = late if late.code != "00000" else answer
            side.run("ROLLBACK")
            return side.run(sql, data) if answer.code == "25001" else answer
        if side.status == BLOCK:
            side.run("SAVEPOINT regress_asked")
            answer = side.run(sql, data)
            side.run("ROLLBACK TO regress_asked; RELEASE regress_asked")
            return answer
        return side.run(sql, data)

    def align(self):
        """Brings the transactions of both to the same state after an answer that differed."""
        pair = (self.stoa, self.theirs)
        status = [side.status for side in pair]
        if status[0] != status[1]:
            for side in pair:
                if IDLE in status:
                    side.run("ROLLBACK")
                elif side.status == BLOCK:
                    side.run("SELECT 1 / 0")

    def judge(self, sql, ours, theirs):
        self.align()
        if ours.code != theirs.code:
            # A statement that PostgreSQL has prepared stays when the rest is taken back.
            prepared = ours.code == "26000" and self.run.follows(ours)
            return "follows" if prepared or ours.code != "00000" and self.run.follows(theirs) else "differs"
        if ours.code != "00000":
            return "follows" if self.run.follows(ours) else "agrees"
        if re.match(r"\s*explain\b", sql, re.I) and "plan" in [c[0].lower()[-4:] for c in ours.header]:
            return "left out"
        rows = tuple([tuple(self.run.names.get(v, v) for v in row) for row in answer.rows] for answer in (ours, theirs))
        if not ordered(sql):
            rows = tuple(sorted(r, key=repr) for r in rows)
        return "agrees" if (ours.header, rows[0], ours.tag) == (theirs.header, rows[1], theirs.tag) else "differs"


class Run:
    def __init__(self, stoa, oracle, options):
        self.stoa, self.oracle, self.seconds = stoa, oracle, options.seconds
        self.folder, self.rules, self.missing = source.tests() / "regress", Rules(), set()
        self.results = tempfile.mkdtemp()
        (base, user), = Side(oracle).run("SELECT current_database(), current_user").rows
        # The database has another name there, and so has the user.
        self.names = {base: "stoa", user: "stoa"}
        names = lambda dsn, sql: {row[0] for row in Side(dsn).run(sql).rows}
        known = set(re.findall(r"^\| `(\w+)\(", (HERE.parent.parent / "docs/reference/functions.md").read_text(encoding="utf-8"), re.M))
        self.functions = names(oracle, "SELECT proname FROM pg_proc") - known
        types = "SELECT typname FROM pg_type WHERE typtype IN ('b', 'r', 'm', 'd') AND typcategory <> 'A'"
        self.types = names(oracle, types) - names(stoa, types) | {"bit", "bit varying"}

    def refusal(self, answer):
        if m := re.match(r'type "(?:pg_catalog\.)?([^"]+)" does not exist', answer.message):
            return f"type {m[1]}"
        if m := re.match(r"function (?:pg_catalog\.)?(\w+)\(", answer.message):
            return f"function {m[1]}"
        return re.sub(r'"[^"]*"', '"…"', answer.message)[:80]

    def refused(self, answer):
        """Whether the error says that Stoa does not do this."""
        if answer.code == "0A000":
            return True
        if answer.code == "42704" and (m := re.match(r'type "(?:pg_catalog\.|information_schema\.)?([^"(]+?)(?:\([\d,]*\))?(?:\[\d*\])*" does not exist', answer.message)):
            return m[1].lower() in self.types
        if answer.code == "42883" and (m := re.match(r"function (?:pg_catalog\.)?(\w+)\(", answer.message)):
            return m[1] in self.functions
        return any(answer.code == code and re.search(pattern, answer.message) for code, pattern in REFUSALS)

    def follows(self, answer):
        """Whether the error names an object whose definition was refused."""
        if answer.code not in UNDEFINED:
            return False
        names = re.findall(r'"([^"]+)"', answer.message) + re.findall(r"(?:function|operator|procedure|aggregate) (?:\w+\.)?(\w+)\(", answer.message)
        return any(part.lower() in self.missing for name in names for part in re.split(r"[.\s()]+", name))


def schedule(folder, wanted):
    files = []
    for line in (folder / "parallel_schedule").read_text().splitlines():
        if m := re.match(r"test:\s*(.*)", line):
            files += m[1].split()
    if wanted:
        unknown = [name for name in wanted if name not in files]
        if unknown:
            sys.exit(f"regress: there is no file {', '.join(unknown)}")
        files = [name for name in files if name in NEEDS or name in wanted]
    return files


def show(answer, rows=12):
    if answer.code != "00000":
        return f"{answer.code} {answer.message}"
    lines = [" ".join(f"{n}:{t}" for n, t, _ in answer.header) + f"  [{answer.tag}]"]
    return "\n        ".join(lines + [repr(row) for row in answer.rows[:rows]] + (["…"] if len(answer.rows) > rows else []))


def report(files, run, options):
    print(f"{'file':<26}" + "".join(f"{kind:>11}" for kind in KINDS) + f"{'%':>8}{'floor':>7}{'s':>6}")
    floors = json.loads((HERE / "floors.json").read_text())
    low, total, written = [], collections.Counter(), dict(floors)
    for f in files:
        total.update(f.counts)
        asked = f.counts["agrees"] + f.counts["explained"] + f.counts["differs"]
        percent = 100 * (asked - f.counts["differs"]) / asked if asked else 100
        floor = floors.get(f.name, 0)
        written[f.name] = min(99.5, int(percent * 10) / 10)
        if percent < floor:
            low.append(f"{f.name}: {percent:.1f} % is below its floor of {floor} %")
        print(f"{f.name:<26}" + "".join(f"{f.counts[kind]:>11}" for kind in KINDS) + f"{percent:>8.1f}{floor:>7}{f.seconds:>6.0f}")
    asked = total["agrees"] + total["explained"] + total["differs"]
    print(f"{'all':<26}" + "".join(f"{total[kind]:>11}" for kind in KINDS) + f"{100 * (asked - total['differs']) / max(1, asked):>8.1f}")
    out = open(options.differences, "w", encoding="utf-8") if options.differences else sys.stdout
    for f in files:
        for line, sql, ours, theirs, why in f.different:
            if options.differences or not why:
                print(f"{f.name}:{line}: {'explained: ' + why if why else 'DIFFERS'}\n    {sql.strip()[:1500]}\n    stoa:     {show(ours)}\n    postgres: {show(theirs)}", file=out)
    if options.differences:
        reasons = collections.Counter()
        for f in files:
            reasons.update(f.reasons)
        print("\n".join(f"{n:6} {why}" for why, n in reasons.most_common()), file=out)
    if options.write_floors:
        (HERE / "floors.json").write_text(json.dumps(written, indent=2, sort_keys=True) + "\n")
        low = []
    bad = [line for f in files for line in f.fatal] + low + [f"explained.tsv: docs/postgresql.md does not say: {why}" for why in run.rules.undocumented]
    print("\n".join(bad) if bad else f"regress: {sum(total.values())} statements of {len(files)} files, no file below its floor")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", help="start this server on an empty directory")
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--oracle", default=os.environ.get("STOA_ORACLE", "host=127.0.0.1 port=5432 user=postgres dbname=postgres"))
    parser.add_argument("--files", type=lambda text: text.split(","), default=[])
    parser.add_argument("--short", dest="files", action="store_const", const=SHORT, help="only files of what most programs use")
    parser.add_argument("--seconds", type=int, default=300, help="the time limit of a file")
    parser.add_argument("--differences", help="write statements that differ, explained ones too, to this file")
    parser.add_argument("--write-floors", action="store_true", help="take what was reached for the floors")
    options = parser.parse_args()
    with server(options.binary, options.dsn) as stoa, database(options.oracle) as oracle:
        run, files = Run(stoa, oracle, options), []
        for name in schedule(run.folder, options.files):
            files.append(File(run, name))
            files[-1].go()
            print(f"{name}: {dict(files[-1].counts)}", file=sys.stderr, flush=True)
        return report(files, run, options)


if __name__ == "__main__":
    sys.exit(main())
