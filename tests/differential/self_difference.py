#!/usr/bin/env python3
"""Random statements against Stoa alone: what a statement answers depends on no rule of the planner, no access path and no statistics.

    self_difference.py BIN [--statements N] [--seconds N] [--seed N] [--variants N] [--only KIND] [--stop N]   (or --dsn DSN for BIN)

Starts the server BIN on an empty directory. The same seed makes the same statements. Each statement is run as it is, and again in a few
variants drawn at random (all of them with --variants 0): without one rule of the planner (`stoa.disabled_rules`, for each rule that can be
left out, the compiled reads and queries among them), with each access path forbidden or forced, over tables without statistics. Conditions are
tested by partition (the rows where p, where NOT p and where p IS NULL are all rows: ternary logic partitioning, TLP) and against their
values (as many rows pass WHERE p as have p true: NoREC). Kinds of statements:

  queries     those of random_queries.py, over a few rows
  joins       chains of three to six relations, keys that read several of them, all kinds of joins, subqueries; over few rows and over many
  shapes      subqueries in subqueries: groups, distinct values, set operations, windows, orders and limits above joins and each other
  conditions  trees of lists with NULLs, comparisons and their negations over columns full of NULLs, over a few rows and over 20,000;
              groups, distinct values, set operations, limits
  groups      groups that are joined, grouped again and joined again, of which a part is read
  firsts      the first row of each group, ends by group and distinct values, over keys and indexes of few leading values, with salt, DESC and NULLs
  entries     conditions on entries of maps and on undeclared columns, with indexes of the entries and without, between writes of single entries, of
              maps and of rows; now and as of times before

XX000 and a lost connection are always a difference. An error of a value (class 22, 21000) that one plan meets and another does not is counted
by itself: which side of an AND or of a join is asked first is nobody's promise. Statements that take too long are left out. The exit
status is 1 if anything differs.
"""
import argparse
import collections
import pathlib
import random
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import generated  # noqa: E402
import random_queries  # noqa: E402
from sides import Side, server  # noqa: E402

SETTINGS = HERE.parent.parent / "crates/exec/src/settings"
KINDS = {"queries": 0.15, "joins": 0.2, "shapes": 0.2, "conditions": 0.15, "groups": 0.1, "firsts": 0.1, "entries": 0.1}
# The share of statements over many rows: one of them takes the time of a hundred others.
MANY = 0.01


def rules():
    """The rules that can be left out, from the list of the planner."""
    listed = re.findall(r'rule\(("[^"]+"|[A-Z]+), [ALPC], (\w+), (\w+)\)', (SETTINGS / "planner_rules.rs").read_text())
    named = {"COMPILED": "compiled", "DIRECT": "direct"}
    return list(dict.fromkeys(named.get(name, name.strip('"')) for name, standing, needed in listed if standing != "Dropped" and needed == "false"))


def settings():
    """The settings of access paths, with the value that is not the default."""
    paths = re.findall(r'name: "(stoa\.enable_\w+)"', (SETTINGS / "own.rs").read_text())
    assert len(paths) > 9 and len(rules()) > 30, "the lists of rules and of access paths are read from where they stand"
    return [f"{name} = off" for name in paths] + ["stoa.force_index = on", "stoa.min_column_cache_scan_size = 0"]


def variants():
    """Every way to run a statement that must not change its answer: (name, statements before, statements behind)."""
    out = [(f"without {rule}", [f"SET stoa.disabled_rules = '{rule}'"], ["RESET stoa.disabled_rules"]) for rule in rules()]
    out += [(setting, [f"SET {setting}"], [f"RESET {setting.split(' ')[0]}"]) for setting in settings()]
    # The plan as it is written is what rules are measured by.
    out += [("without any rule", [f"SET stoa.disabled_rules = '{', '.join(rules())}'"], ["RESET stoa.disabled_rules"])] * 5
    planned = "SET stoa.disabled_rules = 'compiled, direct'"
    return out + [("planned", [planned], ["RESET stoa.disabled_rules"]), ("without statistics", ["{plain}"], ["{analyzed}"]),
                  ("planned, an index forced", [planned, "SET stoa.force_index = on"], ["RESET stoa.disabled_rules", "RESET stoa.force_index"])]


def filled(rows, spread):
    """The tables that joins and conditions are about, with so many rows each."""
    null = lambda every, value: f"CASE WHEN (i * 7 + {every}) % {every} > 0 THEN {value} END"
    keys = {"t0": "", "t1": "CREATE INDEX ON t1 (a)", "t2": "CREATE INDEX ON t2 (b, a DESC)", "t3": "CREATE UNIQUE INDEX ON t3 (u); CREATE INDEX ON t3 (d) INCLUDE (a)"}
    for n, (table, index) in enumerate(keys.items()):
        yield f"CREATE TABLE {table} (k int PRIMARY KEY, a int, b int, c int, d text, u int, n numeric(8,2), i interval)"
        days = "CASE WHEN i % 2 = 0 THEN i % 5 * interval '15 days' ELSE i % 3 * interval '1 month' END"
        columns = [null(5 + n, f"i * {3 + n} % {spread}"), null(4, f"i * 5 % {max(spread // 2, 4)}"), null(6, "i % 3"), null(7, "chr(120 + i % 3)"), null(9, "i"),
                   null(8, f"(i * 11 % {spread})::numeric / 4"), null(5, days)]
        yield f"INSERT INTO {table} SELECT i, {', '.join(columns)} FROM generate_series({1 + n}, {rows + n}) i"
        yield from (part for part in index.split("; ") if part)


def grouped(rows):
    """Tables whose keys and indexes begin with columns of few values."""
    rest = "a int, b int"
    yield f"CREATE TABLE g0 (g int, t int, {rest}, PRIMARY KEY (g, t DESC))"
    yield f"CREATE TABLE g1 (g text, h int, t int, {rest}, PRIMARY KEY (g, h DESC, t))"
    yield f"CREATE TABLE g2 (g text, h int, t int, {rest}, PRIMARY KEY (g, h, t)) WITH (salt_buckets = 3)"
    yield f"CREATE TABLE g3 (g int, h int, t int, {rest}, PRIMARY KEY (g, h, t)) WITH (salt_buckets = 4, salt_columns = 'g')"
    yield f"CREATE TABLE g4 (k int PRIMARY KEY, g text, h int, t int, {rest})"
    mixed = "(i::bigint * 2654435761 % 4294967296 / 4096)::int"
    random_values = f"{mixed} % 1000, CASE WHEN i % 11 > 0 THEN {mixed} / 7 % 50 END"
    for n, g in enumerate(["i % 23", "chr(97 + i % 5), i % 4", "chr(97 + i % 7), i % 3", "i % 13, i % 2"]):
        yield f"INSERT INTO g{n} SELECT {g}, (i * 7919) % {rows + 1}, {random_values} FROM generate_series(1, {rows}) i ON CONFLICT DO NOTHING"
    null = "CASE WHEN i % 9 > 0 THEN {} END"
    yield (f"INSERT INTO g4 SELECT i, {null.format('chr(97 + i % 6)')}, i % 3, CASE WHEN i % 17 > 3 AND i % 6 <> 2 THEN (i * 7919) % {rows + 1} END, {random_values} "
           f"FROM generate_series(1, {rows}) i")
    for index in ("(g, t)", "(g, t DESC NULLS LAST) INCLUDE (a, b)", "(h, g DESC, t NULLS FIRST)", "(t) WHERE g IS NOT NULL", "(h, a) WITH (salt_buckets = 3)"):
        yield f"CREATE INDEX ON g4 {index}"
    yield "DELETE FROM g0 WHERE t % 5 = 0"


def mapped(rows):
    """Tables with maps and undeclared columns, some names of which have indexes."""
    yield "CREATE TABLE m0 (k int PRIMARY KEY, a int, m map(text, int), s map(text, text)) WITH (versions = 1000)"
    yield "CREATE TABLE m1 (g text, k int, a int, m map(text, int), s map(text, text), PRIMARY KEY (g, k DESC)) WITH (versions = 1000, salt_buckets = 3)"
    yield "CREATE TABLE m2 (k int PRIMARY KEY, a int) WITH (dynamic_columns = 'd', versions = 1000)"
    null = lambda every, value: f"CASE WHEN i % {every} > 0 THEN {value} END"
    maps = "map['x' => i % 9, 'w' || i % 4 => i % 7] || CASE WHEN i % 3 > 0 THEN map['y' => {}] ELSE ''::map(text, int) END, map['p' => chr(97 + i % 5), 'q' || i % 2 => 'v']".format(null(5, "i % 11"))
    yield f"INSERT INTO m0 SELECT i, {null(7, 'i % 5')}, {maps} FROM generate_series(1, {rows}) i"
    yield f"INSERT INTO m1 SELECT chr(97 + i % 3), i, {null(4, 'i % 6')}, {maps} FROM generate_series(1, {rows}) i"
    yield f"INSERT INTO m2 (k, a, x int, y int, p text) SELECT i, {null(7, 'i % 5')}, {null(3, 'i % 9')}, {null(4, 'i % 11')}, {null(5, 'chr(97 + i % 5)')} FROM generate_series(1, {rows}) i"
    yield "CREATE INDEX ON m0_m_entries (key, value)"
    yield "CREATE INDEX ON m0_s_entries (value DESC) WHERE key = 'p'"
    yield "CREATE INDEX ON m1_m_entries (value) WHERE key = 'x'"
    yield "CREATE INDEX ON m1_m_entries (key)"
    yield "CREATE INDEX ON m2_d_entries (((value #>> '{}')::int)) WHERE key = 'x'"
    yield "CREATE INDEX ON m2_d_entries ((value #>> '{}')) WHERE key = 'p'"


def days(text):
    """An interval by its days: a month has 30."""
    parts = re.fullmatch(r"(?:(\d+) years? ?)?(?:(\d+) mons? ?)?(?:(\d+) days?)?", text)
    return f"{sum(int(n or 0) * each for n, each in zip(parts.groups(), (360, 30, 1)))} days" if text and parts else text


def plain(rows):
    """The rows, without what may differ: the last digits of sums of floats, and the form of equal numerics and intervals, of which any is kept."""
    number = lambda v: re.sub(r"-?\d+\.\d+(?:e[+-]?\d+)?", lambda m: f"{float(m[0]):.10g}", days(v)) if v else v
    return [tuple(map(number, row)) for row in rows]


class Joins:
    """Chains of joins whose keys read one, two or three of the relations before."""

    def __init__(self, rng, many):
        self.r, self.many = rng, many

    def column(self, names):
        return f"{self.r.choice(names)}.{self.r.choice('abcku' if self.many else 'aaabbbccku')}"

    def term(self, names):
        kind, col = self.r.random(), lambda: self.column(names)
        if kind < (0.75 if self.many else 0.4):
            return col()
        return self.r.choice([lambda: str(self.r.randrange(5)), lambda: f"{col()} + {col()}", lambda: f"coalesce({col()}, {col()})", lambda: f"greatest({col()}, {col()})",
                              lambda: f"{col()} - 1", lambda: f"CASE WHEN {col()} > 1 THEN {col()} ELSE {col()} END", lambda: f"{col()} * 2 - {col()}"])()

    def condition(self, names, new=None):
        left = self.term([new] if new and self.r.random() < 0.7 else names)
        operator = self.r.choice(["="] * 7 + ["<", "<=", "<>", ">", "IS NOT DISTINCT FROM", "IS NOT DISTINCT FROM"])
        plain = f"{left} {operator} {self.term(names)}"
        kind = self.r.random()
        for share, text in ((0.05, f"NOT ({plain})"), (0.09, f"({plain}) IS TRUE"), (0.13, f"({plain} OR {self.r.choice(names)}.a IS NULL)"),
                            (0.17, f"{self.r.choice(names)}.d = {self.r.choice(names)}.d"), (0.2, f"{self.column(names)} IN ({self.term(names)}, {self.term(names)}, NULL)"),
                            (0.23, f"{self.r.choice(names)}.n = {self.r.choice(names)}.n"), (0.25, f"{self.r.choice(names)}.i IS NOT DISTINCT FROM {self.r.choice(names)}.i"),
                            (0.28, f"({plain} AND {self.column(names)} < 4 OR {plain} AND {self.column(names)} IS NULL)")):
            if kind < share:
                return text
        return plain

    def relation(self, name, before):
        table = f"t{self.r.randrange(4)}"
        return self.r.choice([f"{table} {name}"] * 6 + [
            f"(SELECT a, max(b) b, min(c) c, max(d) d, count(*)::int k, max(u) u, max(n) n, max(i) i FROM {table} GROUP BY a) {name}", f"(SELECT DISTINCT a, b, c, d, k, u, n, i FROM {table}) {name}",
            f"(VALUES (1, 2, 1, 'x', 1, 1, 1.5, interval '1 month'), (3, 0, NULL, 'y', 2, NULL, NULL, '30 days')) {name} (a, b, c, d, k, u, n, i)",
            f"(SELECT * FROM {table} UNION ALL SELECT * FROM t0) {name}",
            f"(SELECT k, a, 2 b, NULL::int c, d, u, n, i FROM {table}) {name}", f"(SELECT k, 1 a, b, c, d, NULL::int u, n, i FROM {table} UNION ALL SELECT * FROM t1) {name}",
            f"LATERAL (SELECT * FROM {table} q WHERE q.a {self.r.choice(['=', '<=', '<>'])} {self.column(before)}) {name}"])

    def source(self):
        count = self.r.choice([2, 3, 3, 3, 4, 4, 5, 6] if not self.many else [2, 3, 3, 4])
        names, text = ["x0"], f"t{self.r.randrange(4)} x0"
        for n in range(1, count):
            name, new = f"x{n}", self.relation(f"x{n}", names)
            kinds = ["JOIN"] * 6 + ["LEFT JOIN"] * 3 + ([] if new.startswith("LATERAL") else ["RIGHT JOIN", "FULL JOIN"]) + ["CROSS JOIN"] * (not self.many)
            kind = self.r.choice(kinds)
            if kind == "CROSS JOIN":
                text += f" CROSS JOIN {new}"
            elif kind == "FULL JOIN" or self.many:
                key = f"{self.r.choice(names)}.{self.r.choice('kua')} = {name}.{self.r.choice('ku')}"
                more = f" AND {self.condition([*names, name], name)}" if kind != "FULL JOIN" and self.r.random() < 0.6 else ""
                text += f" {kind} {new} ON {key}{more}"
            else:
                text += f" {kind} {new} ON {' AND '.join(self.condition([*names, name], name) for _ in range(self.r.choice([1, 2, 2, 2, 3])))}"
            names.append(name)
        return text, names

    def filter(self, names):
        kind, table = self.r.random(), f"t{self.r.randrange(4)}"
        if kind < 0.6:
            return self.condition(names)
        if kind < 0.75:
            return f"{self.r.choice(['', 'NOT '])}EXISTS (SELECT FROM {table} y WHERE y.a {self.r.choice(['=', '<', '='])} {self.term(names)} AND {self.condition([*names, 'y'], 'y')})"
        if kind < 0.9:
            return f"{self.column(names)} {self.r.choice(['', 'NOT '])}IN (SELECT {self.term(['y'])} FROM {table} y WHERE {self.condition([*names, 'y'], 'y')})"
        return f"{self.column(names)} = (SELECT {self.r.choice(['max', 'count', 'sum'])}(y.b) FROM {table} y WHERE {self.condition([*names, 'y'], 'y')})"

    def statement(self):
        source, names = self.source()
        filters = [self.filter(names) for _ in range(self.r.choice([0, 0, 1, 2]) if not self.many else self.r.choice([0, 0, 0, 1]))]
        where = f" WHERE {' AND '.join(filters)}" if filters else ""
        sums = ", ".join(f"sum({name}.{self.r.choice('abc')})" for name in names)
        kind = self.r.random()
        if kind < 0.7:
            return f"SELECT count(*), {sums} FROM {source}{where}"
        if kind < 0.8:
            return f"SELECT DISTINCT {self.column(names)}, {self.column(names)} FROM {source}{where}"
        if kind < 0.9:
            return f"SELECT {self.column(names)} g, count(*), {sums} FROM {source}{where} GROUP BY 1 ORDER BY 1 DESC NULLS LAST LIMIT {self.r.randrange(1, 6)}"
        return f"SELECT count(*) FROM (SELECT {self.column(names)} FROM {source}{where} LIMIT {self.r.randrange(1, 40)} OFFSET {self.r.randrange(3)}) q"

    def partitioned(self):
        source, names = self.source()
        return source, "x0.k", self.filter(names)


class Shapes:
    """Subqueries in subqueries. A shape is a query whose columns are integers, and their names; every limit stands behind a whole order."""

    def __init__(self, rng, many):
        self.r, self.many, self.names = rng, many, 0

    def name(self):
        self.names += 1
        return f"c{self.names}"

    def order(self, columns):
        columns = self.r.sample(columns, len(columns))
        return ", ".join(f"{c} {self.r.choice(['', 'DESC'])} {self.r.choice(['', 'NULLS FIRST', 'NULLS LAST'])}" for c in columns)

    def comparison(self, a, columns):
        """Of a column with a constant or another column, on either side."""
        sides = [a, str(self.r.choice([0, 1, 2, 3, 9])) if self.r.random() < 0.5 else self.r.choice(columns)]
        return self.r.choice(["<", "<=", ">", ">=", "=", "="]).join(sides if self.r.random() < 0.7 else sides[::-1])

    def condition(self, columns):
        a, b = self.r.choice(columns), self.r.choice(columns)
        if self.r.random() < 0.3:
            # Columns may be constants below: several comparisons of one are then merged.
            return " AND ".join(self.comparison(a, columns) for _ in range(self.r.choice([2, 2, 3])))
        return self.r.choice([f"{a} {self.r.choice(['<', '>=', '=', '<>'])} {self.r.choice([0, 1, 2, 3, 9, 40])}", f"{a} IS {self.r.choice(['', 'NOT '])}NULL", f"{a} {self.r.choice(['=', '<', '<>'])} {b}",
                              f"{a} IN (0, 1, NULL, 5)", f"({a} = 1 OR {b} = 2 OR {a} IS NULL)", f"coalesce({a}, 0) < 6", f"NOT ({a} > 2 AND {b} < 5)"])

    def scan(self):
        columns = self.r.sample("kabcu", self.r.randint(2, 4))
        names = [self.name() for _ in columns]
        where = f" WHERE {self.condition(columns)}" if self.r.random() < 0.5 else ""
        return f"SELECT {', '.join(f'{c} {n}' for c, n in zip(columns, names))} FROM t{self.r.randrange(4)}{where}", names

    def shape(self, depth):
        if depth == 0:
            return self.scan()
        return self.r.choice([self.group, self.group, self.join, self.join, self.join, self.distinct, self.sets, self.window, self.top, self.filter, self.filter, self.compute, self.compute])(depth - 1)

    def filter(self, depth):
        sql, names = self.shape(depth)
        return f"SELECT * FROM ({sql}) q WHERE {self.condition(names)}", names

    def compute(self, depth):
        sql, names = self.shape(depth)
        a, b = self.r.choice(names), self.r.choice(names)
        one, other = self.name(), self.name()
        constant = self.r.choice(["1", "0", "3", "NULL::int", "NULL::int", f"CASE WHEN {a} > 0 THEN 12 / {a} END", f"CASE WHEN {a} > 0 THEN 12 / {a} WHEN {b} IS NULL THEN 7 END", f"{a} % 3", f"coalesce({b}, {a})", f"{a} + {b}"])
        return f"SELECT *, {constant} {one}, CASE WHEN {a} > 0 AND {b} > 0 THEN {constant} ELSE {a} END {other} FROM ({sql}) q", [*names, one, other]

    def distinct(self, depth):
        sql, names = self.shape(depth)
        kept = self.r.sample(names, self.r.randint(1, len(names)))
        return f"SELECT DISTINCT {', '.join(kept)} FROM ({sql}) q", kept

    def group(self, depth):
        sql, names = self.shape(depth)
        keys = self.r.sample(names, self.r.randint(0, min(2, len(names))))
        calls = self.r.sample(["count(*)", *(f"{f}({c})" for c in names for f in ("count", "min", "max", "count")), f"count(DISTINCT {names[0]})", f"sum({names[-1]})::int",
                               f"count(*) FILTER (WHERE {self.condition(names)})"], self.r.randint(1, 3))
        new = [self.name() for _ in calls]
        outs = [self.name() for _ in keys]
        having = f" HAVING {self.r.choice(['count(*) > 1', f'max({names[0]}) > 3', f'min({names[-1]}) IS NULL', 'count(*) < 0'])}" if self.r.random() < 0.3 else ""
        grouping = f" GROUP BY {', '.join(keys)}" if keys else ""
        if len(keys) == 2 and self.r.random() < 0.2:
            grouping = f" GROUP BY {self.r.choice(['ROLLUP', 'CUBE'])} ({', '.join(keys)})"
        select = [f"{k} {o}" for k, o in zip(keys, outs)] + [f"{c}::int {n}" for c, n in zip(calls, new)]
        return f"SELECT {', '.join(select)} FROM ({sql}) q{grouping}{having}", outs + new

    def join(self, depth):
        (one, left), (other, right) = self.shape(depth), self.shape(self.r.randint(0, depth))
        on = f"{self.r.choice(left)} {self.r.choice(['=', '=', '=', 'IS NOT DISTINCT FROM'])} {self.r.choice(right)}"
        if self.r.random() < 0.3:
            on += f" AND {self.condition(left + right)}"
        kind = self.r.choice(["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN"])
        if self.r.random() < 0.15:
            return f"SELECT * FROM ({one}) l WHERE {self.r.choice(['', 'NOT '])}EXISTS (SELECT FROM ({other}) r WHERE {on})", left
        # Columns of one side alone: the other side may be needless.
        kept = self.r.choice([left, right, left + right, left + right, self.r.sample(left + right, self.r.randint(1, len(left + right)))])
        return f"SELECT {', '.join(kept)} FROM ({one}) l {kind} ({other}) r ON {on}", list(kept)

    def sets(self, depth):
        (one, left), (other, right) = self.shape(depth), self.shape(self.r.randint(0, depth))
        count = min(len(left), len(right), self.r.randint(1, 3))
        left, right = self.r.sample(left, count), self.r.sample(right, count)
        kind = self.r.choice(["UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"])
        return f"SELECT {', '.join(left)} FROM ({one}) l {kind} SELECT {', '.join(right)} FROM ({other}) r", left

    def window(self, depth):
        sql, names = self.shape(depth)
        part = f"PARTITION BY {self.r.choice(names)} " if self.r.random() < 0.6 else ""
        whole, new = self.order(names), [self.name(), self.name()]
        one = self.r.choice([f"row_number() OVER ({part}ORDER BY {whole})", f"rank() OVER ({part}ORDER BY {self.order(names[:1])})", f"count(*) OVER ({part})"])
        other = self.r.choice([f"max({names[-1]}) OVER ({part}ORDER BY {self.order(names[:1])})", f"lag({names[0]}) OVER ({part}ORDER BY {whole})", f"lead({names[0]}, 2) OVER ({part}ORDER BY {whole})",
                               f"count({names[-1]}) OVER ({part}ORDER BY {whole} ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING)", f"count(*) OVER ({part}ORDER BY {whole})"])
        query = f"SELECT *, ({one})::int {new[0]}, ({other})::int {new[1]} FROM ({sql}) q"
        limit = self.r.choice(["", f" ORDER BY {self.order(names + new)} LIMIT {self.r.randint(1, 9)}"])
        if not limit and self.r.random() < 0.4:
            return f"SELECT * FROM ({query}) w WHERE {new[0]} {self.r.choice(['<=', '<', '='])} {self.r.randint(1, 3)}", names + new
        return query + limit, names + new

    def top(self, depth):
        sql, names = self.shape(depth)
        offset = f" OFFSET {self.r.randint(0, 3)}" if self.r.random() < 0.3 else ""
        return f"SELECT * FROM ({sql}) q ORDER BY {self.order(names)} LIMIT {self.r.choice([0, 1, 2, 5, 12])}{offset}", names

    def statement(self):
        sql, names = self.shape(self.r.choice([2, 3, 3, 4]))
        return self.r.choice([f"SELECT count(*), {', '.join(f'sum({n}), count({n})' for n in names)} FROM ({sql}) q", f"SELECT * FROM ({sql}) q ORDER BY {self.order(names)} LIMIT 10",
                              f"SELECT count(*), {', '.join(f'sum({n})' for n in names)} FROM ({sql}) q"])

    def partitioned(self):
        sql, names = self.shape(self.r.choice([1, 2, 3]))
        return f"({sql}) q", names[0], self.condition(names)


class Conditions:
    """Trees of conditions over one table."""

    VALUES = {"a": ["0", "1", "2", "7", "NULL"], "b": ["0", "1", "2", "3", "NULL"], "c": ["0", "1", "2", "NULL"], "d": ["'x'", "'y'", "'z'", "''", "NULL"], "u": ["3", "9", "12", "500", "NULL"],
              "n": ["0", "0.25", "1.50", "7", "NULL"], "i": ["interval '1 month'", "interval '30 days'", "interval '45 days'", "NULL::interval"], "k": ["1", "5", "11", "300", "NULL"]}

    def __init__(self, rng, many):
        self.r = rng

    def value(self, column, nulls=0.2):
        return self.r.choice(self.VALUES[column] if self.r.random() < nulls else self.VALUES[column][:-1])

    def atom(self, column=None):
        r, column = self.r, column or self.r.choice(list(self.VALUES))
        value, pick = (lambda nulls=0.2: self.value(column, nulls)), r.random()
        if pick < 0.25:
            return f"{column} {r.choice(['=', '<>', '<', '<=', '>', '>='])} {value()}"
        if pick < 0.55:
            return f"{column} {r.choice(['IN', 'NOT IN'])} ({', '.join(value() for _ in range(r.randint(1, 5)))})"
        if pick < 0.62:
            return f"{column} {r.choice(['', 'NOT '])}BETWEEN {value()} AND {value()}"
        if pick < 0.69:
            return f"{column} IS {r.choice(['', 'NOT '])}NULL"
        if pick < 0.75:
            return f"{column} IS {r.choice(['', 'NOT '])}DISTINCT FROM {value()}"
        if pick < 0.82:
            return f"{column} {r.choice(['=', '<>', '=', '<>', '<', '>='])} {r.choice(['ANY', 'ALL'])} (ARRAY[{', '.join(value() for _ in range(3))}])"
        if pick < 0.87:
            return f"CASE WHEN {self.atom(column)} THEN {r.choice(['true', 'false', 'NULL', self.atom()])} ELSE {r.choice(['true', 'false', 'NULL::boolean'])} END"
        if pick < 0.91:
            return f"coalesce({column}, {value(0)}) {r.choice(['=', '<>'])} {value()}"
        if pick < 0.95:
            return f"({self.atom(column)}) IS {r.choice(['', 'NOT '])}{r.choice(['TRUE', 'FALSE', 'UNKNOWN'])}"
        other = r.choice([c for c in self.VALUES if c != column])
        pairs = ", ".join(f"({value()}, {self.value(other)})" for _ in range(r.randint(1, 5)))
        return f"({column}, {other}) {r.choice(['IN', 'NOT IN'])} ({pairs})"

    def tree(self, depth, column=None):
        pick = self.r.random()
        if depth == 0 or pick < 0.15:
            return self.atom(column if self.r.random() < 0.7 else None)
        if pick < 0.3:
            return f"NOT ({self.tree(depth - 1, column)})"
        return f"({self.tree(depth - 1, column)}) {self.r.choice(['AND', 'OR'])} ({self.tree(depth - 1, column)})"

    def statement(self):
        r, table = self.r, self.r.choice(["t1", "t2", "t3"])
        column = r.choice([*self.VALUES, None])
        where = lambda: self.tree(r.choice([1, 2, 2, 3]), column)
        g = column or r.choice("abc")
        return r.choice([
            lambda: f"SELECT count(*), sum(k), min(u), max({g}) FROM {table} WHERE {where()}", lambda: f"SELECT count(*), sum(k) FROM {table} WHERE {where()}",
            lambda: f"SELECT count(*) FROM {table} WHERE ({where()}) IS NULL", lambda: f"SELECT {g}, count(*), count(DISTINCT c), sum(a) FROM {table} WHERE {where()} GROUP BY 1",
            lambda: f"SELECT count(*) FILTER (WHERE {where()}), count(CASE WHEN {where()} THEN 1 END) FROM {table}", lambda: f"SELECT k FROM {table} WHERE {where()} ORDER BY k DESC LIMIT 3",
            lambda: f"SELECT DISTINCT {g}, c FROM {table} WHERE {where()}", lambda: f"SELECT {g} FROM {table} WHERE {where()} ORDER BY {g} NULLS FIRST, k LIMIT 7 OFFSET 2",
            lambda: f"SELECT {g} FROM {table} WHERE {where()} {r.choice(['UNION', 'INTERSECT', 'EXCEPT'])}{r.choice(['', ' ALL'])} SELECT {g} FROM t2 WHERE {where()}",
            lambda: f"SELECT min({g}), max({g}), count({g}), count(*) FROM {table} WHERE {where()}", lambda: f"SELECT {g}, max(a) FROM {table} WHERE {where()} GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1 LIMIT 4",
            lambda: f"SELECT count(*), sum(x.k) FROM {table} x JOIN t3 y ON x.k = y.u WHERE x.k IN (SELECT k FROM {table} WHERE {where()})",
        ])()

    def partitioned(self):
        return self.r.choice(["t1", "t2", "t3"]), "k", self.tree(self.r.choice([1, 2, 3]), self.r.choice([*self.VALUES, None]))


class Groups:
    """Groups that are joined, grouped again and joined again: what determines what, and what is read of it, differs at each step."""

    def __init__(self, rng, many):
        self.r, self.many = rng, many

    def table(self):
        return f"t{self.r.randrange(4)}"

    def joined(self):
        """Columns that may be grouped by, and rows of a table beside groups of another."""
        r, keys = self.r, self.r.sample("abc" if not self.many else "ac", self.r.choice([1, 1, 2]) if not self.many else 1)
        named = [f"{key} {name}" for key, name in zip(keys, "gh")]
        groups = f"(SELECT {', '.join(named)}, count(*)::int n, {r.choice(['max(b)', 'min(u)', 'sum(k)::int', 'count(DISTINCT c)::int'])} m FROM {self.table()} GROUP BY {', '.join(keys)})"
        if r.random() < 0.2:
            groups = f"(SELECT DISTINCT {', '.join(named)}, 1 n, {keys[0]} + 1 m FROM {self.table()})"
        on = " AND ".join(f"x.{r.choice(keys)} {r.choice(['=', '=', 'IS NOT DISTINCT FROM'])} y.{name}" for name in "gh"[:r.randint(1, len(keys))])
        kind = r.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN"] + ["FULL JOIN"] * ("DISTINCT FROM" not in on))
        columns = ["g", "n", "m", "k", "e"] + ["h"] * (len(keys) > 1)
        return columns, f"(SELECT x.k, x.{r.choice('abcu')} e, y.* FROM {self.table()} x {kind} {groups} y ON {on}) j"

    def again(self):
        """The columns of what was grouped once more, and it."""
        r = self.r
        columns, rows = self.joined()
        kept = list(dict.fromkeys(["g"] * (r.random() < 0.8) + r.sample(columns, r.randint(1, 3))))
        where = r.choice(["", "", " WHERE n > 1", " WHERE g IS NOT NULL", " WHERE k < 9 OR k IS NULL"])
        shown = ", ".join(kept)
        return kept, r.choice([
            lambda: f"(SELECT DISTINCT {shown} FROM {rows}{where})",
            lambda: f"(SELECT {shown} FROM {rows}{where} GROUP BY {', '.join(r.sample(kept, len(kept)))})",
            lambda: f"(SELECT {shown}, count(*)::int z FROM {rows}{where} GROUP BY {shown})",
            lambda: f"(SELECT {shown} FROM {rows}{where} GROUP BY {shown} HAVING count(*) > 0 UNION ALL SELECT DISTINCT {shown} FROM {rows})",
            lambda: f"(SELECT DISTINCT ON ({shown}) {shown} FROM {rows}{where} ORDER BY {shown})",
        ])()

    def statement(self):
        r = self.r
        kept, rows = self.again()
        key, shown = r.choice(kept), ", ".join(r.sample(kept, r.randint(1, len(kept))))
        order = ", ".join(f"{c} {r.choice(['', 'DESC'])} {r.choice(['', 'NULLS FIRST', 'NULLS LAST'])}" for c in r.sample(kept, len(kept)))
        outer = f"{self.table()} t {r.choice(['LEFT JOIN', 'LEFT JOIN', 'JOIN'])} {rows} q ON t.{r.choice('abc')} = q.{key}"
        return r.choice([
            lambda: f"SELECT {', '.join(kept)} FROM {rows} q ORDER BY {order} LIMIT {r.choice([1, 4, 10])}",
            lambda: f"SELECT count(*), sum(t.k) FROM {outer}",
            lambda: f"SELECT t.k FROM {outer}",
            lambda: f"SELECT DISTINCT t.c FROM {outer}",
            lambda: f"SELECT t.a, count(*) FROM {outer} GROUP BY t.a",
            lambda: f"SELECT {key}, count(*), sum({r.choice(kept)}) FROM {rows} q GROUP BY {key}",
            lambda: f"SELECT count(*) FROM (SELECT {shown} FROM {rows} q GROUP BY {shown}) p",
            lambda: f"SELECT {key}, count(*) FROM (SELECT DISTINCT {shown}{'' if key in shown.split(', ') else ', ' + key} FROM {rows} q) p GROUP BY {key}",
            lambda: f"SELECT * FROM (SELECT {', '.join(kept)}, row_number() OVER (PARTITION BY {key} ORDER BY {order}) r FROM {rows} q) p WHERE r = 1",
            lambda: f"SELECT k FROM {self.table()} t WHERE {r.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM {rows} q WHERE q.{key} = t.a AND q.{r.choice(kept)} < t.k)",
        ])()

    def partitioned(self):
        kept, rows = self.again()
        return f"{rows} q", kept[0], self.r.choice([f"{self.r.choice(kept)} > 1", f"{kept[-1]} IS NULL OR {kept[0]} < 2", f"{kept[0]} IN (1, 2, NULL)", f"{kept[-1]} % 2 = 0"])


class Firsts:
    """First rows of groups. Every order is whole, so that there is one first row."""

    KEYS = {"g0": "gt", "g1": "ght", "g2": "ght", "g3": "ght", "g4": "ghtk"}

    def __init__(self, rng, many):
        self.r = rng

    def condition(self, table):
        r, text = self.r, table in ("g1", "g2", "g4")
        g = lambda: r.choice(["'a'", "'b'", "'c'", "'e'", "'x'"] if text else ["0", "1", "3", "7", "22"])
        return r.choice([f"g {r.choice(['=', '<', '>=', '<>'])} {g()}", f"g IN ({g()}, {g()}, {g()})", f"t {r.choice(['<', '>', '>=', '='])} {r.choice([0, 3, 500, 9000, 19000])}",
                         f"t BETWEEN {r.choice([0, 100])} AND {r.choice([50, 5000])}", f"(t < 20 OR t > {r.choice([5000, 19000])})", f"a < {r.choice([1, 50, 900])}", "b IS NULL", "b > 40",
                         f"(g, t) > ({g()}, 300)", "t IS NOT NULL", "t % 7 = 3", f"{'h = 1' if table != 'g0' else 'a > 100'}"])

    def parts(self):
        table = self.r.choice(list(self.KEYS))
        where = " AND ".join(self.condition(table) for _ in range(self.r.choice([0, 0, 1, 1, 2])))
        return table, f" WHERE {where}" if where else ""

    def order(self, columns):
        return ", ".join(f"{c} {self.r.choice(['', 'DESC'])} {self.r.choice(['', '', 'NULLS FIRST', 'NULLS LAST'])}" for c in columns)

    def statement(self):
        r = self.r
        table, where = self.parts()
        key = list(self.KEYS[table])
        groups = r.sample([c for c in key if c in "gh"], r.randint(1, len(key) - 1) if len(key) == 2 else r.randint(1, 2))
        rest = [c for c in key if c not in groups]
        whole = rest if "k" not in rest else [*[c for c in rest if c != "k"], "k"]
        limit = r.choice(["", "", " LIMIT 3", " LIMIT 1 OFFSET 2"])
        by = ", ".join(groups)
        shown = ", ".join(r.sample([*key, "a", "b"], r.randint(1, 3)))
        number = f"row_number() OVER (PARTITION BY {by} ORDER BY {self.order(whole)})"
        return r.choice([
            lambda: f"SELECT DISTINCT ON ({by}) {shown} FROM {table}{where} ORDER BY {self.order(groups)}, {self.order(whole)}{limit}",
            lambda: f"SELECT DISTINCT {by} FROM {table}{where} ORDER BY {by}{limit}",
            lambda: f"SELECT {by}, {r.choice(['max', 'min'])}(t) FROM {table}{where} GROUP BY {by} ORDER BY {by}{limit}",
            lambda: f"SELECT {by}, max(t), min(t), max({r.choice(groups)}) FROM {table}{where} GROUP BY {by}",
            lambda: f"SELECT count(DISTINCT {groups[0]}) FROM {table}{where}",
            lambda: f"SELECT {shown} FROM (SELECT *, {number} n FROM {table}{where}) q WHERE n {r.choice(['= 1', '<= 1', '< 2', '= 2', '<= 2', '= 1 AND a > 300'])}",
        ])()

    def partitioned(self):
        table, where = self.parts()
        by = self.r.choice(["g", "g, h"] if table != "g0" else ["g"])
        return f"(SELECT {by}, {self.r.choice(['max', 'min'])}(t) t, max({by[0]}) m FROM {table}{where} GROUP BY {by}) q", "t", self.r.choice(["t > 500", "t < 20", "g IS NULL", "t IS NULL OR t % 2 = 0"])


class Entries:
    """Conditions on entries of maps, and writes of them."""

    CHECKED = ["m0_m_entries", "m0_s_entries", "m1_m_entries", "m2_d_entries"]

    def __init__(self, rng, times):
        self.r, self.times = rng, times

    def number(self):
        return self.r.choice(["x", "x", "y", "w0", "w3", "none"])

    def value(self, table, name, kind):
        """An expression that reads an entry."""
        if table == "m2":
            return {"w0": "z", "w3": "z", "none": "z", "q0": "z"}.get(name, name)
        return f"{'m' if kind == 'number' else 's'}['{name}']"

    def condition(self, table):
        r = self.r
        if r.random() < 0.25:
            text = self.value(table, r.choice(["p", "p", "q0"]) if table != "m2" else "p", "text")
            return r.choice([f"{text} = '{r.choice('abcz')}'", f"{text} IN ('a', 'v', NULL)", f"{text} > 'b'", f"{text} IS NOT NULL", f"{text} LIKE 'a%'", f"upper({text}) = 'B'"])
        if table != "m2" and r.random() < 0.25:
            asked = [f"m ? '{self.number()}'", f"m ?| ARRAY['{self.number()}', '{self.number()}']", f"m ?& ARRAY['{self.number()}', '{self.number()}']", f"m @> map['{self.number()}' => {r.choice([0, 1, 3, 'NULL::int'])}]",
                     f"map['x' => {r.randrange(9)}, 'w1' => 2] <@ m"]
            return f"{r.choice(['', '', 'NOT '])}{r.choice([asked[0], *asked])}"
        number, n = self.value(table, self.number(), "number"), r.choice([0, 1, 3, 8, 10])
        other = self.value(table, self.number(), "number")
        return r.choice([f"{number} = {n}", f"{number} > {n}", f"{number} BETWEEN 2 AND {n}", f"{number} IN (1, {n})", f"{number} IS NOT NULL", f"{number} IS NULL", f"{number} <> {n}",
                         f"{number} = a", f"{number} = {other}", f"({number} = {n} OR {other} = 1)", f"coalesce({number}, 3) = 3", f"10 / ({number} + 1) < {n}", f"NOT ({number} < {n})", f"{number} % 2 = 0"])

    def conditions(self, table, least=1):
        return [self.condition(table) if self.r.random() < 0.75 else self.r.choice(["a > 2", "a IS NULL", "k % 2 = 0", "k < 7", "k = 5"]) for _ in range(self.r.choice([1, 1, 2, 3]) if least else 1)]

    def named(self, table):
        """The table in FROM, now or as of a time, alone or behind a subquery."""
        time = f" AS OF SYSTEM TIME '{self.r.choice(self.times)}'" if self.times and self.r.random() < 0.2 else ""
        if table == "m2":
            inner = f"m2{time} AS m2 (x int, y int, p text, z int)"
            return inner if self.r.random() < 0.7 else f"(SELECT k, a, x, y, p, z FROM {inner}) m2"
        return f"{table}{time}" if self.r.random() < 0.7 else f"(SELECT k, a, m, s FROM {table}{time}) {table}"

    def statement(self):
        r, table = self.r, self.r.choice(["m0", "m1", "m2"])
        source, where = self.named(table), " AND ".join(self.conditions(table))
        number, text = self.value(table, self.number(), "number"), self.value(table, "p", "text")
        whole = "k, a" if table == "m2" else "k, a, m::text, cardinality(s)"
        return r.choice([
            lambda: f"SELECT k FROM {source} WHERE {where}", lambda: f"SELECT {whole}, {number} FROM {source} WHERE {where}", lambda: f"SELECT count(*), sum(k), min({number}), max({text}) FROM {source} WHERE {where}",
            lambda: f"SELECT {text}, count(*), sum({number}) FROM {source} WHERE {where} GROUP BY 1", lambda: f"SELECT k, {number} FROM {source} WHERE {where} ORDER BY {number} {r.choice(['', 'DESC'])}, k LIMIT 4",
            lambda: f"SELECT k FROM {source} WHERE {where} UNION SELECT k FROM m0 WHERE {' AND '.join(self.conditions('m0'))}", lambda: f"SELECT k, a FROM {source} WHERE {where} ORDER BY k DESC, a LIMIT 3 OFFSET 1",
            lambda: f"SELECT k, (SELECT count(*) FROM m0 WHERE m0.m['x'] = o.a) FROM (SELECT k, a FROM {source} WHERE {where}) o",
            lambda: f"SELECT k FROM {source} WHERE {where} AND EXISTS (SELECT FROM m1 o WHERE o.m['x'] = {table}.a AND o.s['p'] > 'a')",
            lambda: f"SELECT count(*), sum(o.k) FROM m0 o JOIN (SELECT k, a, {number} n FROM {source} WHERE {where}) i ON o.m['{self.number()}'] = i.{r.choice('nak')}",
            lambda: f"SELECT count(*), sum(i.n), count(o.k) FROM m1 o {r.choice(['LEFT', 'RIGHT', 'FULL'])} JOIN (SELECT k, {number} n FROM {source} WHERE {where}) i ON o.k = i.k WHERE o.m['x'] > 1",
        ])()

    def partitioned(self):
        table = self.r.choice(["m0", "m1", "m2"])
        return self.named(table), "k", self.condition(table)

    def write(self, rows):
        """A statement that changes rows or entries."""
        r, table, k, n = self.r, self.r.choice(["m0", "m1", "m2"]), self.r.randrange(1, rows + 3), self.r.randrange(12)
        where = " AND ".join(self.conditions(table))
        if table == "m2":
            typed = "m2 (x int, y int, p text, z int)"
            return r.choice([f"UPDATE {typed} SET x = {n} WHERE k = {k}", f"UPDATE {typed} SET y = NULL, p = 'b' WHERE {where}", f"DELETE FROM {typed} WHERE k = {k} AND {where}",
                             f"INSERT INTO m2 (k, a, x int, p text) VALUES ({k}, {n}, {n}, 'c') ON CONFLICT DO NOTHING", f"UPSERT INTO m2 (k, x int) VALUES ({k}, {n})"])
        key = "k, a" if table == "m0" else "g, k, a"
        row = f"{k}, {n}" if table == "m0" else f"'{r.choice('abc')}', {k}, {n}"
        conflict = "(k)" if table == "m0" else "(g, k)"
        return r.choice([
            f"UPDATE {table} SET m['{self.number()}'] = {n} WHERE k = {k}", f"UPDATE {table} SET m = m - 'x', s['p'] = 'd' WHERE {where} AND k % 3 = 0", f"UPDATE {table} SET m = map['x' => {n}, 'y' => NULL] WHERE k = {k}",
            f"UPDATE {table} SET k = k + 100 WHERE k = {k} AND NOT EXISTS (SELECT FROM {table} o WHERE o.k = {k} + 100)", f"DELETE FROM {table} WHERE k = {k}", f"DELETE FROM {table} WHERE {where} AND k % 5 = 0",
            f"INSERT INTO {table} ({key}, m, s) VALUES ({row}, map['x' => {n}], map['p' => 'a']) ON CONFLICT {conflict} DO UPDATE SET m['x'] = {n}", f"DELETE FROM {table}_m_entries WHERE k = {k} AND key < 'x'",
            f"UPSERT INTO {table} ({key}, m['y']) VALUES ({row}, {n})", f"INSERT INTO {table}_m_entries SELECT {'k' if table == 'm0' else 'g, k'}, 'y', {n} FROM {table} WHERE k = {k} ON CONFLICT DO NOTHING",
        ])


class Run:
    def __init__(self, side, options):
        self.side, self.options, self.variants = side, options, variants()
        self.statements = self.comparisons = self.differences = self.values = self.slow = 0
        self.by_variant, self.cases = collections.Counter(), collections.defaultdict(list)

    def prepare(self):
        base = f"self_{self.options.seed}"
        self.schemas, self.times = {}, []
        self.side.run("SET statement_timeout = '120s'")
        for name, setup in (("queries", [s.replace("{schema}", "x") for s in random_queries.SETUP[3:]]), ("few", list(filled(13, 7))), ("many", list(filled(self.options.rows, 2000))),
                            ("firsts", list(grouped(self.options.rows))), ("entries", list(mapped(60)))):
            for kind in ("analyzed", "plain"):
                schema = self.schemas[name, kind] = f"{base}_{name}_{kind}"
                for sql in [f"DROP SCHEMA IF EXISTS {schema} CASCADE", f"CREATE SCHEMA {schema}", f"SET search_path = {schema}", *setup, *(["ANALYZE"] if kind == "analyzed" else [])]:
                    state, _, _, message = self.side.run(sql)
                    if state != "00000":
                        sys.exit(f"{sql}: {state} {message}")
        self.side.run(self.side.start[-1])

    def end(self):
        for schema in self.schemas.values():
            self.side.run(f"DROP SCHEMA {schema} CASCADE")

    def ask(self, sql):
        try:
            state, _, rows, message = self.side.run(sql)
        except Exception as lost:  # noqa: BLE001
            self.side.open(60)
            self.side.run(f"SET search_path = {self.path}")
            return "LOST", [], str(lost)
        return state, rows, message

    def differ(self, one, other, ordered=False):
        """Whether two answers differ; None if that cannot be said."""
        self.comparisons += 1
        states = {one[0], other[0]}
        if states & {"XX000", "LOST"}:
            return True
        if any(s[:2] in ("57", "53") for s in states):
            self.slow += 1
            return None
        if states != {"00000"}:
            if len(states) > 1 and any(s[:2] in ("22", "21") for s in states) and all(s[:2] in ("00", "22", "21") for s in states):
                self.values += 1
                return None
            return len(states) > 1
        one, other = plain(one[1]), plain(other[1])
        return one != other if ordered else sorted(map(repr, one)) != sorted(map(repr, other))

    def found(self, n, where, sql, one, other):
        self.differences += 1
        self.by_variant[where] += 1
        show = lambda a: f"{a[0]} {a[2]}" if a[0] != "00000" else f"{len(a[1])} rows {a[1][:6]}"
        case = f"    {sql}  -- statement {n} of seed {self.options.seed}, {self.path}\n      as it is: {show(one)[:400]}\n      then:     {show(other)[:400]}"
        self.cases[where].append(case)
        print(f"DIFFERENT {where}\n{case}", flush=True)

    def vary(self, n, schemas, sql, ordered):
        base = self.ask(sql)
        if base[0][:2] in ("57", "53"):
            self.slow += 1
            return
        if base[0] in ("XX000", "LOST"):
            self.found(n, "as it is", sql, base, base)
        chosen = self.variants if not self.options.variants else random.Random(f"{self.options.seed}/{n}/variants").sample(self.variants, self.options.variants)
        for name, before, behind in chosen:
            replaced = lambda s: s.replace("{plain}", f"SET search_path = {schemas['plain']}").replace("{analyzed}", f"SET search_path = {schemas['analyzed']}")
            for statement in before:
                state, _, message = self.ask(replaced(statement))
                if state != "00000":
                    sys.exit(f"{statement}: {state} {message}")
            other = self.ask(sql)
            for statement in behind:
                self.ask(replaced(statement))
            if self.differ(base, other, ordered):
                self.found(n, name, sql, base, other)

    def partition(self, n, source, key, condition):
        """TLP and NoREC."""
        measured = f"SELECT count(*), coalesce(sum({key}), 0) FROM {source}"
        whole = self.ask(measured)
        parts = [self.ask(f"{measured} WHERE {p}") for p in (condition, f"NOT ({condition})", f"({condition}) IS NULL")]
        if all(p[0] == "00000" for p in [whole, *parts]):
            added = ("00000", [tuple(str(sum(int(p[1][0][at]) for p in parts)) for at in (0, 1))], "")
            if self.differ(whole, added):
                self.found(n, "TLP", f"{measured} WHERE {condition}", whole, added)
        elif any(p[0] in ("XX000", "LOST") for p in [whole, *parts]):
            self.found(n, "TLP", f"{measured} WHERE {condition}", whole, next(p for p in [whole, *parts] if p[0] in ("XX000", "LOST")))
        counted = self.ask(f"SELECT count(*) FROM {source} WHERE {condition}")
        valued = self.ask(f"SELECT coalesce(sum(({condition})::int), 0) FROM {source}")
        if self.differ(counted, valued):
            self.found(n, "NoREC", f"SELECT count(*) FROM {source} WHERE {condition}", counted, valued)

    def write(self, n, rng, schemas, make):
        """Changes both copies of the tables with maps alike, notes the time, and asks now and then whether their indexes are right."""
        if rng.random() < 0.3:
            sql = make.write(60)
            answers = []
            for path in (schemas["plain"], schemas["analyzed"]):
                self.ask(f"SET search_path = {path}")
                answers.append(self.ask(sql))
            if self.differ(*answers):
                self.found(n, "write", sql, *answers)
            self.times = [*self.times[-5:], self.ask("SELECT clock_timestamp()")[1][0][0]]
        if rng.random() < 0.03:
            for table in make.CHECKED:
                checked = self.ask(f"CHECK TABLE {table}")
                if self.differ(checked, ("00000", [], "")):
                    self.found(n, "CHECK TABLE", table, ("00000", [], ""), checked)

    def statement(self, n):
        rng = random.Random(f"{self.options.seed}/{n}")
        kind = self.options.only or rng.choices(list(KINDS), KINDS.values())[0]
        size = kind if kind in ("queries", "firsts", "entries") else "many" if rng.random() < MANY else "few"
        schemas = {state: self.schemas[size, state] for state in ("analyzed", "plain")}
        self.path = schemas["analyzed"]
        self.side.run(f"SET search_path = {self.path}")
        self.statements += 1
        if kind == "queries":
            made, ordered = random_queries.Make(rng).statement()
            if isinstance(made, str):
                self.vary(n, schemas, made, ordered)
            return
        if kind == "entries":
            make = Entries(rng, self.times)
            self.write(n, rng, schemas, make)
        else:
            make = {"joins": Joins, "shapes": Shapes, "conditions": Conditions, "groups": Groups, "firsts": Firsts}[kind](rng, size == "many")
        if rng.random() < 0.25:
            self.partition(n, *make.partitioned())
        else:
            sql = make.statement()
            self.vary(n, schemas, sql, False)


def run(tally, stoa, seed, count):
    """Makes at least `count` comparisons; the same seed makes the same ones."""
    work = Run(stoa, argparse.Namespace(seed=seed, variants=5, rows=10_000, only=None))
    stoa.start = stoa.start + ["SET statement_timeout = '1s'"]
    work.prepare()
    n = 0
    while work.comparisons < count:
        work.statement(n)
        n += 1
    work.end()
    tally.statements += work.comparisons
    tally.codes["00000"] += work.comparisons - work.differences
    for where, cases in work.cases.items():
        tally.groups[where] += cases
        tally.internal += sum(" XX000 " in case for case in cases)


def beside(tally, stoa, oracle, seed, count):
    """Compares about `count` of the statements over few rows with PostgreSQL: what is wrong by every plan differs from none of them."""
    setup = ["DROP SCHEMA IF EXISTS {schema} CASCADE", "CREATE SCHEMA {schema}", "SET search_path = {schema}", *filled(13, 7)]
    make = lambda rng: (rng.choice([Joins, Shapes, Conditions, Groups, Groups])(rng, False).statement(), False)
    bare = lambda answer: (*answer[:2], plain(answer[2]), answer[3])
    differs = lambda sql, ours, theirs, ordered: random_queries.different(sql, bare(ours), bare(theirs), ordered)
    generated.run(tally, stoa, oracle, "shapes", seed, count, setup, make, differs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--statements", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--variants", type=int, default=5, help="so many variants of each statement; 0: all")
    parser.add_argument("--rows", type=int, default=20_000, help="of the large tables")
    parser.add_argument("--only", choices=list(KINDS))
    parser.add_argument("--statement", type=int, help="this one alone, in all its variants")
    parser.add_argument("--seconds", type=float, help="stop after so many seconds")
    parser.add_argument("--stop", type=int, default=25, help="stop after so many differences")
    options = parser.parse_args()
    if options.statement is not None:
        options.variants = 0
    with server(options.binary, options.dsn) as dsn:
        work, began = Run(Side(dsn, ["SET statement_timeout = '1s'"]), options), time.monotonic()
        work.prepare()
        for n in range(options.statements) if options.statement is None else [options.statement]:
            work.statement(n)
            if work.differences >= options.stop or (options.seconds and time.monotonic() - began > options.seconds):
                break
        work.end()
    by = ", ".join(f"{name} {count}" for name, count in work.by_variant.most_common())
    print(f"seed {options.seed}: {work.statements:,} statements, {work.comparisons:,} comparisons in {time.monotonic() - began:.0f} s, {work.differences or 'no'} differences{': ' + by if by else ''}; "
          f"{work.values} errors of values that not every plan meets, {work.slow} too slow to compare")
    return 1 if work.differences else 0


if __name__ == "__main__":
    sys.exit(main())
