#!/usr/bin/env python3
"""Random statements with parameters in place of their literals, by the extended protocol, against PostgreSQL and Stoa.

    parameters.py [--oracle DSN] [--dsn DSN] [--seed N] [--count N] [--stop N]

Statements are those of random_queries.py, guards.py and subqueries.py; some of their literals become parameters, of no type, of one by a cast
or of one that the client names. What is compared is the SQLSTATE of Parse, the types of parameters and columns that Describe tells, and the
answers of several executions of the one prepared statement with other values each time (NULL among them), in text and in the binary
format, whose bytes must be equal. The exit status is 1 if anything differs; XX000 and a lost connection count always.
"""
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generated  # noqa: E402
import guards  # noqa: E402
import random_queries  # noqa: E402
from psycopg import pq  # noqa: E402
from sides import FIRST_NORMAL_OID  # noqa: E402

# A literal with a cast, which is no part of a name.
LITERAL = re.compile(r"(?:'(?P<text>(?:[^']|\'\')*)'|(?<![\w.'\])$%])(?P<number>\d+(?:\.\d+)?)(?![\w.'.]))(?P<cast>::\w+)?")
# Behind these words stands a literal that the grammar asks for, or whose value decides what the statement is.
FIXED = re.compile(r"(date|timestamp|time|interval|numeric\(\d*,?|ORDER BY|GROUP BY|PARTITION BY|,|FETCH FIRST|ROLLUP ?\(|CUBE ?\(|SETS ?\(\(?|COLUMN|BETWEEN|TABLESAMPLE \w+\() *$", re.I)
# Where order is by numbers of columns no number may become a parameter: it would be a constant.
BY_NUMBER = re.compile(r"(ORDER|GROUP|PARTITION) BY[^()]*$", re.I)
VALUES = {"number": ["0", "1", "2", "3", "7", "-1", None], "decimal": ["0.5", "2.25", "-3", None], "text": ["a", "b", "zz", "", "%a%", None], "array": ["{}", "{1,NULL,3}", "{7}", "x", None]}
NAMED = {"number": [23, 20, 1700], "decimal": [1700], "text": [25, 1043], "array": [1007, 1016]}


class Prepared:
    """A statement with parameters: its text, the types that the client names (0: none), and the values of each execution."""

    def __init__(self, rng, sql):
        self.types, first, kinds = [], [], []

        def place(found):
            before = sql[:found.start()]
            if FIXED.search(before) or BY_NUMBER.search(before) or re.search(r"[\\\\']", found["text"] or "") or rng.random() < 0.4:
                return found[0]
            kind = "array" if (found["text"] or "").startswith("{") else "text" if found["number"] is None else "decimal" if "." in found["number"] else "number"
            kinds.append(kind)
            first.append(found["number"] or found["text"])
            named = rng.random() < 0.3
            self.types.append(rng.choice(NAMED[kind]) if named else 0)
            cast = found["cast"] or (rng.choice({"number": ["::int", "::bigint", ""], "decimal": ["::numeric", ""], "text": ["::text", ""], "array": ["::int[]", ""]}[kind]) if not named else "")
            return f"${len(kinds)}{cast}"

        self.sql = LITERAL.sub(place, sql)
        self.values = [first, *([rng.choice(VALUES[kind]) for kind in kinds] for _ in range(rng.choice([1, 2, 6])))] if kinds else [first, first]


def outcome(result):
    """(state, columns, rows, message); values are bytes."""
    if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
        columns = [(result.fname(i).decode(), min(result.ftype(i), FIRST_NORMAL_OID), result.fmod(i)) for i in range(result.nfields)]
        return "00000", columns, [tuple(result.get_value(r, c) for c in range(result.nfields)) for r in range(result.ntuples)], ""
    state = result.error_field(pq.DiagnosticField.SQLSTATE)
    if state is None:
        raise ConnectionError((result.error_message or b"").decode(errors="replace"))
    return state.decode(), [], [], (result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"").decode(errors="replace")


def ask(side, prepared, binary):
    """What a side says of a prepared statement: of Parse, Describe and each execution. It is rolled back."""
    pg = side.pg
    pg.exec_(b"BEGIN")
    answers = [outcome(pg.prepare(b"s", prepared.sql.encode(), prepared.types))]
    if answers[0][0] == "00000":
        described = pg.describe_prepared(b"s")
        state, columns, _, message = outcome(described)
        answers.append((state, [("$", described.param_type(i), -1) for i in range(described.nparams)] + columns, [], message))
        for values in prepared.values:
            pg.exec_(b"SAVEPOINT s")
            answers.append(outcome(pg.exec_prepared(b"s", [None if v is None else v.encode() for v in values], result_format=int(binary))))
            pg.exec_(b"ROLLBACK TO s")
    pg.exec_(b"ROLLBACK")
    pg.exec_(b"DEALLOCATE ALL")
    return answers


def statement(rng):
    """A statement by itself, and whether its rows come in an order."""
    while True:
        made, ordered = random_queries.Make(rng).statement() if rng.random() < 0.6 else (guards.Make(rng).statement(), False)
        if isinstance(made, list):
            made, ordered = made[1], False
        if not re.search(r"\bMERGE\b.*\bLIMIT\b", made):
            return made, ordered


def run(tally, stoa, oracle, seed, count, stop=None):
    """Compares about `count` executions; the same seed makes the same ones."""
    schema = f"parameters_{seed}"
    for side in (stoa, oracle):
        for sql in [*random_queries.SETUP, *guards.SETUP[3:]]:
            state, _, _, message = side.run(sql.replace("{schema}", schema))
            assert state == "00000", f"{sql}: {message}"
        side.start = [*side.start, f"SET search_path = {schema}", "SET statement_timeout = '10s'"]
        side.run(side.start[-1])
    tally.version, n = oracle.version, 0
    while tally.statements < count and not (stop and tally.differences >= stop):
        rng = random.Random(f"{seed}/{n}")
        sql, ordered = statement(rng)
        prepared, binary = Prepared(rng, sql), rng.random() < 0.5
        answers = []
        for side in (stoa, oracle):
            try:
                answers.append(ask(side, prepared, binary))
            except Exception as lost:  # a connection that went away
                answers.append([("LOST", [], [], str(lost))])
                side.open(60)
        for at, (ours, theirs) in enumerate(zip(*answers)):
            what = "Parse" if at == 0 else "Describe" if at == 1 else f"execution {at - 1} with ({', '.join('NULL' if v is None else repr(v) for v in prepared.values[at - 2])})"
            kind = different(sql, ours, theirs, ordered, binary and at > 1, at > 2)
            failed = not kind and ours[0] != theirs[0]
            shown = f"{prepared.sql}  -- {what} of {n}, types {prepared.types}{', binary' if binary else ''}, seed {seed}"
            if tally.judge(kind, shown, ours, theirs, not kind) or failed:
                break
        n += 1
    for side in (stoa, oracle):
        side.run(f"DROP SCHEMA {schema} CASCADE")


def different(sql, ours, theirs, ordered, binary, changed):
    """What differs, if anything does."""
    of_value = ("22", "21")
    if theirs[0][:2] in of_value and ours[0][:2] in ("00", *of_value) or changed and ours[0][:2] in of_value and theirs[0] == "00000":
        # Which rows an error in a value is met in is a matter of plans; other values may not guard what the first ones did.
        return None
    if not binary:
        text = lambda a: (a[0], a[1], [tuple(None if v is None else v.decode() for v in row) for row in a[2]], a[3])
        return random_queries.different(sql, text(ours), text(theirs), ordered)
    if ours[0] != theirs[0]:
        return f"{theirs[0]} became {ours[0]}"
    if ours[1] != theirs[1]:
        return "types"
    # Of equal numbers DISTINCT and its kin keep either, whose scales differ.
    if re.search("UNION|INTERSECT|EXCEPT|DISTINCT|GROUP BY|ORDER BY", sql) and any(oid == 1700 for _, oid, _ in ours[1]):
        return None if len(ours[2]) == len(theirs[2]) else "rows"
    rows = (lambda a: a[2]) if ordered else (lambda a: sorted(map(repr, a[2])))
    return None if rows(ours) == rows(theirs) else "bytes"


if __name__ == "__main__":
    generated.main(__doc__, "parameters", run, 2000)
