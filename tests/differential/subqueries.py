#!/usr/bin/env python3
"""Random subqueries against PostgreSQL and Stoa: rows, types and SQLSTATEs must agree.

    subqueries.py [--oracle DSN] [--dsn DSN] [--seed N] [--count N] [--stop N]

The same seed makes the same statements. Aggregates of every kind asked for each outer row, where most find no rows: correlated by equalities,
by other conditions and by nothing, with FILTER, DISTINCT, HAVING, and in expressions; arrays and rows in IN, ANY and ALL; EXISTS in any place;
LATERAL in LATERAL, inner and outer; GROUP BY a subquery; the same as conditions of UPDATE and DELETE. Columns are full of NULLs, arrays hold
NULLs and are of several lengths. `--count 1500` takes less than a minute. The exit status is 1 if anything differs.
"""
import pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generated  # noqa: E402
from random_queries import different  # noqa: E402

SETUP = [
    "DROP SCHEMA IF EXISTS {schema} CASCADE", "CREATE SCHEMA {schema}", "SET search_path = {schema}",
    "CREATE TABLE o (id int PRIMARY KEY, h int, k bigint, t text, f float8, x int[], s text[])",
    "CREATE TABLE i (id int PRIMARY KEY, h int, k bigint, t text, n numeric(8,2), f float8, b boolean, x int[], s text[], d date)",
    "CREATE TABLE j (h int, v int, w text)",
    "INSERT INTO o SELECT g, nullif(g % 7, 3), nullif(g % 5, 0), nullif(chr(97 + g % 4), 'b'), nullif(g % 4, 1) / 2.0, CASE g % 4 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN ARRAY[g % 3, NULL] ELSE ARRAY[g % 3, 1] END, CASE WHEN g % 3 > 0 THEN ARRAY[chr(97 + g % 3)] END FROM generate_series(1, 12) g",
    "INSERT INTO i SELECT g, nullif(g % 4, 2), nullif(g % 3, 0), nullif(chr(97 + g % 5), 'c'), nullif(g % 6, 4) / 4.0, nullif(g % 5, 2) / 2.0, nullif(g % 3, 1) = 0, CASE g % 5 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN ARRAY[g % 2, NULL] ELSE ARRAY[g % 3, 1] END, CASE WHEN g % 4 > 0 THEN ARRAY[chr(97 + g % 4)] END, nullif(date '2024-01-01' + g % 4, '2024-01-02') FROM generate_series(1, 17) g",
    "INSERT INTO j VALUES (0, 1, 'a'), (1, NULL, 'b'), (1, 2, NULL), (NULL, 3, 'a'), (5, 0, 'c')",
]
# Aggregates over a row `a` of i, with their type.
AGGREGATES = [
    ("count(*)", "int"), ("count(a.h)", "int"), ("count(DISTINCT a.h)", "int"), ("count(a.x)", "int"), ("regr_count(a.f, a.n)", "int"), ("sum(a.h)", "int"),
    ("sum(a.k)", "num"), ("sum(a.n)", "num"), ("sum(a.f)", "num"), ("avg(a.h)", "num"), ("avg(a.n)", "num"), ("min(a.t)", "text"), ("max(a.d)", "date"), ("max(a.x)", "array"),
    ("array_agg(a.h ORDER BY a.id)", "array"), ("array_agg(DISTINCT a.h ORDER BY a.h)", "array"), ("string_agg(a.t, ',' ORDER BY a.id)", "text"), ("bool_and(a.b)", "bool"),
    ("bool_or(a.b)", "bool"), ("every(a.b)", "bool"), ("bit_and(a.h)", "int"), ("bit_or(a.h)", "int"), ("bit_xor(a.h)", "int"), ("json_agg(a.h ORDER BY a.id)", "json"),
    ("jsonb_agg(a.t ORDER BY a.id)", "json"), ("jsonb_object_agg(a.id, a.t)", "json"), ("stddev(a.h)", "num"), ("var_pop(a.n)", "num"), ("corr(a.f, a.h)", "num"),
    ("regr_slope(a.f, a.h)", "num"), ("covar_pop(a.f, a.h)", "num"),
    ("rank({int}) WITHIN GROUP (ORDER BY a.h)", "int"), ("dense_rank({int}) WITHIN GROUP (ORDER BY a.h)", "int"), ("percent_rank({int}) WITHIN GROUP (ORDER BY a.h)", "num"),
    ("cume_dist({int}) WITHIN GROUP (ORDER BY a.h)", "num"), ("rank({int}, 'b') WITHIN GROUP (ORDER BY a.h DESC, a.t)", "int"), ("mode() WITHIN GROUP (ORDER BY a.h)", "int"),
    ("percentile_cont(0.5) WITHIN GROUP (ORDER BY a.f)", "num"), ("percentile_disc(0.5) WITHIN GROUP (ORDER BY a.h)", "int"), ("percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY a.h)", "array"),
]
INEXACT = {"stddev", "var_pop", "corr", "regr_slope", "covar_pop"}
OUTER = {"int": ["o.h", "o.id", "o.k::int", "0", "NULL::int"], "text": ["o.t", "'a'", "NULL"], "array": ["o.x", "'{1,1}'::int[]", "'{}'::int[]", "NULL::int[]", "ARRAY[o.h, 1]"]}


class Make:
    def __init__(self, rng):
        self.r = rng

    def chance(self, p):
        return self.r.random() < p

    def pick(self, *options):
        return self.r.choice(options)

    def outer(self, ty):
        return self.r.choice(OUTER[ty])

    def correlation(self, a="a"):
        """A condition of the inner row, which may ask for the outer one."""
        equal = [f"{a}.h = o.h", f"{a}.k = o.k", f"o.h = {a}.k", f"{a}.t = o.t", f"{a}.h = o.h + 1", f"{a}.x = o.x", f"{a}.h + 1 = o.k", f"{a}.f = o.f"]
        other = [f"{a}.h < o.h", f"{a}.h <> o.h", f"{a}.h IS NOT DISTINCT FROM o.h", f"({a}.h = o.h OR {a}.k = o.k)", f"{a}.id = ANY (o.x)", "o.h > 3", f"{a}.h IN (o.h, o.k)",
                 f"{a}.x && o.x", f"coalesce({a}.h, 0) = coalesce(o.h, 0)", f"({a}.h, {a}.k) = (o.h, o.k)"]
        own = [f"{a}.h > 1", f"{a}.t IS NOT NULL", "false", f"{a}.id > 100", f"{a}.b", f"{a}.h IN (1, NULL)", f"EXISTS (SELECT 1 FROM j WHERE j.h = {a}.h)"]
        parts = self.r.sample(equal, self.pick(0, 1, 1, 2)) + self.r.sample(other, self.pick(0, 0, 0, 1)) + self.r.sample(own, self.pick(0, 0, 1))
        return " AND ".join(parts) or "true"

    def aggregate(self):
        text, ty = self.r.choice(AGGREGATES)
        text = text.replace("{int}", self.pick("0", "1", "NULL::int", "2", "o.h") if self.chance(0.7) else "2")
        inexact = text.split("(")[0] in INEXACT
        if self.chance(0.2):
            text += f" FILTER (WHERE {self.pick('a.h > 0', 'a.b', 'a.h = o.h', 'false', 'a.t <> o.t')})"
        # The last digits of sums of floating point numbers depend on the order of the rows.
        return (f"round(({text})::numeric, 6)" if inexact else text), ty

    def value(self):
        """An expression over aggregates."""
        text, ty = self.aggregate()
        if self.chance(0.35):
            if ty in ("int", "num"):
                return self.pick(f"coalesce({text}, -1) + 1", f"-({text})", f"({text}) IS NULL", f"{text} + count(*)", f"nullif({text}, 0)", f"CASE WHEN {text} > 0 THEN 'some' ELSE 'none' END",
                                 f"({text})::text", f"{text} * {self.outer('int')}")
            return self.pick(f"({text}) IS NULL", f"coalesce(({text})::text, 'nothing')", f"concat({text}, count(*))", text)
        return text

    def source(self):
        return self.pick("i a", "i a", "i a", "i a JOIN j ON j.h = a.h", "i a LEFT JOIN j ON j.h = a.h AND j.v = o.h", "(SELECT * FROM i WHERE h > 0) a", "i a CROSS JOIN j")

    def scalar(self):
        sql = f"SELECT {self.value()} FROM {self.source()} WHERE {self.correlation()}"
        if self.chance(0.12):
            sql += f" HAVING {self.pick('count(*) > 1', 'count(*) = 0', 'max(a.h) > o.h', 'sum(a.h) IS NULL')}"
        if self.chance(0.06):
            sql += self.pick(" LIMIT 1", " OFFSET 1", " LIMIT 0", " ORDER BY 1")
        return f"({sql})"

    def array_rows(self):
        return self.pick("SELECT a.x FROM i a", "SELECT a.x FROM i a WHERE a.x IS NOT NULL", "SELECT NULL::int[]", "SELECT a.x FROM i a WHERE false", f"SELECT a.x FROM i a WHERE {self.correlation()}",
                         "SELECT array_agg(a.h ORDER BY a.id) FROM i a WHERE a.h = o.h", "SELECT ARRAY[j.v, 1] FROM j")

    def condition(self):
        r = self.r
        return r.choice([
            lambda: f"{self.outer('array')} {self.pick('IN', 'NOT IN')} ({self.array_rows()})",
            lambda: f"{self.outer('array')} {self.pick('=', '<>', '<', '>=')} {self.pick('ANY', 'ALL')} ({self.array_rows()})",
            lambda: f"o.s {self.pick('IN', 'NOT IN')} (SELECT a.s FROM i a WHERE {self.correlation()})",
            lambda: f"o.x {self.pick('IN', 'NOT IN')} ({self.outer('array')}, {self.outer('array')})",
            lambda: f"{self.outer('int')} {self.pick('= ANY', '<> ALL', '< ALL', '>= ANY')} (o.x)",
            lambda: f"{self.outer('int')} {self.pick('IN', 'NOT IN')} (SELECT a.h FROM i a WHERE {self.correlation()})",
            lambda: f"{self.outer('int')} {self.pick('=', '<>', '<')} {self.pick('ANY', 'ALL')} (SELECT {self.pick('a.h', 'a.k::int', 'count(*)::int', 'max(a.h)')} FROM i a WHERE {self.correlation()})",
            lambda: f"({self.outer('int')}, o.t) {self.pick('IN', 'NOT IN')} (SELECT a.h, a.t FROM i a WHERE {self.correlation()})",
            lambda: f"(o.h, o.x) {self.pick('IN', 'NOT IN')} (SELECT a.h, a.x FROM i a)",
            lambda: f"{self.pick('', 'NOT ')}EXISTS (SELECT {self.pick('1', 'count(*)', 'a.h')} FROM {self.source()} WHERE {self.correlation()})",
            lambda: f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM i a WHERE a.h = o.h AND {self.pick('NOT ', '')}EXISTS (SELECT 1 FROM j WHERE j.h = a.h {self.pick('AND j.v = o.h', '', 'AND j.v > o.id')}))",
            lambda: f"{self.scalar()} IS {self.pick('', 'NOT ')}NULL",
            lambda: f"(SELECT count(*) FROM i a WHERE {self.correlation()}) {self.pick('=', '>', '<=')} {self.pick('0', '1', 'o.h')}",
            lambda: f"{self.pick('1', '0', 'o.h')} = (SELECT rank({self.pick('0', '1')}) WITHIN GROUP (ORDER BY a.h) FROM i a WHERE {self.correlation()})",
        ])()

    def lateral(self):
        aggregates = ", ".join(f"{self.value()} c{n}" for n in range(self.r.randint(1, 2)))
        inner = self.r.choice([
            lambda: f"SELECT {aggregates} FROM {self.source()} WHERE {self.correlation()}",
            lambda: f"SELECT a.h c0, a.t c1 FROM i a WHERE {self.correlation()}",
            lambda: f"SELECT a.h, {self.aggregate()[0]} c0 FROM i a WHERE {self.correlation()} GROUP BY a.h",
            lambda: f"SELECT a.h c0, x.n FROM i a, LATERAL (SELECT count(*) n FROM j WHERE j.h = a.h {self.pick('', 'AND j.v = o.h', 'AND j.v > o.id')}) x WHERE {self.correlation()}",
            lambda: f"SELECT a.id c0, y.m FROM i a LEFT JOIN LATERAL (SELECT max(j.v) m FROM j WHERE j.h = a.h {self.pick('', 'AND j.v < o.h')} HAVING count(*) > 0) y ON {self.pick('true', 'y.m > 0')} WHERE {self.correlation()}",
            lambda: f"SELECT e c0 FROM unnest(o.x) e WHERE {self.pick('e > 0', 'true', 'e = o.h', 'e IN (SELECT a.h FROM i a WHERE a.k = o.k)')}",
            lambda: f"SELECT DISTINCT a.h c0 FROM i a WHERE {self.correlation()}",
            lambda: f"SELECT a.h c0, o.h + a.h c1 FROM i a WHERE {self.correlation()} UNION ALL SELECT j.v, o.h FROM j WHERE j.h = o.h",
            lambda: f"SELECT a.id c0, a.h c1 FROM i a WHERE {self.correlation()} ORDER BY a.id LIMIT 2",
        ])()
        join = self.pick(f"FROM o, LATERAL ({inner}) l", f"FROM o CROSS JOIN LATERAL ({inner}) l", f"FROM o LEFT JOIN LATERAL ({inner}) l ON {self.pick('true', 'o.id > 5', 'l.c0 IS NOT NULL')}")
        return f"SELECT o.id, l.* {join}"

    def statement(self):
        r = self.r
        where = f" WHERE {self.condition()}" + (f" {self.pick('AND', 'OR')} {self.condition()}" if self.chance(0.3) else "") if self.chance(0.4) else ""
        kind = r.random()
        if kind < 0.45:
            return f"SELECT o.id, {', '.join(self.scalar() for _ in range(r.randint(1, 3)))} FROM o{where}"
        if kind < 0.62:
            return f"SELECT o.id, ({self.condition()}) c FROM o{where}"
        if kind < 0.78:
            return self.lateral()
        if kind < 0.86:
            scalar = f"(SELECT count(*) FROM i a WHERE {self.correlation()})"
            grouped = self.pick(scalar, "1")
            return f"SELECT {scalar} v, count(*), sum(o.id) FROM o{where} GROUP BY {grouped}"
        if kind < 0.90:
            return f"SELECT o.h, {self.pick('count(*)', 'sum(o.id)')} FROM o GROUP BY o.h HAVING {self.pick('count(*)', 'sum(o.id)')} > (SELECT count(*) FROM i a WHERE a.h = o.h)"
        table = f"{self.pick('o', 'o')}"
        change = self.pick(f"UPDATE {table} SET h = ({'SELECT count(*)::int' if self.chance(0.5) else 'SELECT max(a.h)'} FROM i a WHERE {self.correlation()})", f"DELETE FROM {table}")
        return ["BEGIN", f"{change} WHERE {self.condition()} RETURNING o.id, o.h", "ROLLBACK"]


def run(tally, stoa, oracle, seed, count, stop=None):
    """Compares about `count` statements; see generated.py."""
    make = lambda rng: (Make(rng).statement(), False)
    generated.run(tally, stoa, oracle, "subqueries", seed, count, SETUP, make, different, stop)


if __name__ == "__main__":
    generated.main(__doc__, "subqueries", run, 1500)
