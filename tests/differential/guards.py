#!/usr/bin/env python3
"""Random conditions of which one side guards the other, against PostgreSQL and Stoa.

    guards.py [--oracle DSN] [--dsn DSN] [--seed N] [--count N] [--stop N]

What may raise an error (divisions, casts of text, roots, substrings, patterns, overflows) stands behind what keeps it from rows where it
would: under AND, OR, NOT, CASE, COALESCE, BETWEEN and IN, in WHERE, select lists, FILTER, HAVING, conditions of joins, arguments of
aggregates and windows, UPDATE, DELETE, MERGE, ON CONFLICT, CHECK, generated columns, partial indexes, views and derived tables, over tables of
one row, of some and of thousands. Where PostgreSQL answers Stoa must give the same; where it raises an error, which rows it has met by
then depends on its plan, and Stoa may answer. The exit status is 1 if anything differs; XX000 and a lost connection count always.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generated  # noqa: E402

COLUMNS = "id int PRIMARY KEY, n int, m int, k text, v text, s text, f float8"
# Of seven rows one is bad for each of what follows, and some are NULL.
ROW = """i, CASE i % 7 WHEN 1 THEN 0 WHEN 2 THEN NULL WHEN 3 THEN 2000000000 ELSE i % 13 - 4 END,
 CASE i % 5 WHEN 1 THEN -1 WHEN 2 THEN NULL WHEN 3 THEN 77 ELSE i % 4 END,
 (ARRAY['int', 'num', 'date', 'text', 'json', NULL])[i % 6 + 1],
 (ARRAY[(i % 11)::text, (i % 9)::text || '.5', '2024-01-0' || (i % 9 + 1), 'abc', '{"a": ' || i % 3 || '}', 'zz'])[i % 6 + 1],
 (ARRAY['ab,c', '', NULL, 'a(', 'x\\', '%b'])[i % 6 + 1], CASE i % 8 WHEN 1 THEN -2.5 WHEN 2 THEN 0 WHEN 3 THEN NULL ELSE i % 6 / 2.0 END"""
SETUP = [
    "DROP SCHEMA IF EXISTS {schema} CASCADE", "CREATE SCHEMA {schema}", "SET search_path = {schema}",
    *[f"CREATE TABLE {t} ({COLUMNS})" for t in ("one", "few", "many")],
    *[f"INSERT INTO {t} SELECT {ROW} FROM generate_series({low}, {high}) i" for t, low, high in (("one", 4, 4), ("few", 1, 40), ("many", 1, 4000))],
    "CREATE INDEX ON many (k)", "CREATE INDEX ON many (n)", "CREATE INDEX ON few (m)",
    "CREATE VIEW derived AS SELECT id, n, m, k, v, s, f, 10 / n AS x, sqrt(f) AS y FROM few",
]
# What must hold, and what then raises nothing; {t} is the table's name and a dot.
GUARDED = [
    ("{t}n <> 0", ["10 / {t}n > 1", "10 % {t}n = 1", "100 / {t}n BETWEEN 2 AND 30", "{t}id / {t}n IN (1, 2, {t}m)", "5 IN ({t}m, 20 / {t}n)"]),
    ("{t}n > 0", ["10 / {t}n > 1", "10 / {t}n IS DISTINCT FROM {t}m"]),
    ("{t}n < 1000", ["{t}n * 2000000 > 5", "{t}n + 2000000000 > {t}m"]),
    ("{t}k = 'int'", ["{t}v::int > 3", "{t}v::int IN (1, 5, 8)", "{t}v::int = {t}n", "{t}v::smallint BETWEEN 2 AND 7"]),
    ("{t}k IN ('int', 'num')", ["{t}v::numeric > 2.5", "{t}v::float8 < {t}f", "{t}v::numeric * 2 <> 3"]),
    ("{t}k = 'date'", ["{t}v::date > date '2024-01-05'", "extract(day FROM {t}v::date) = 3", "{t}v::timestamp < '2024-01-04'"]),
    ("{t}k = 'json'", ["({t}v::jsonb ->> 'a')::int = 1", "{t}v::json ->> 'a' = '2'", "{t}v::jsonb = '{{\"a\": 0}}'"]),
    ("{t}f >= 0", ["sqrt({t}f) > 1", "power({t}f, 0.5) < 1.2"]),
    ("{t}f > 0", ["ln({t}f) > 0.2", "1 / {t}f < 1", "({t}f, 1 / {t}f) < (1, 2)"]),
    ("{t}m >= 0", ["substring({t}s FROM 1 FOR {t}m) = 'ab'", "sqrt({t}m) > 1", "repeat('x', {t}m) < {t}s"]),
    ("{t}m > 0", ["split_part({t}s, ',', {t}m) = 'c'", "({t}m, 10 / {t}m) > (1, 2)"]),
    ("{t}m BETWEEN 0 AND 23", ["make_time({t}m, 0, 0) > time '02:00'"]),
    ("{t}s <> 'x\\'", ["{t}v LIKE {t}s", "{t}v NOT LIKE {t}s"]),
    ("{t}s NOT IN ('a(', 'x\\')", ["{t}v ~ {t}s", "{t}v !~* {t}s"]),
]
PLAIN = ["{t}id > 3", "{t}id % 3 = 1", "{t}f IS NULL", "{t}m = 2", "{t}k = 'text'", "{t}s IS NOT NULL", "{t}f < 2", "{t}k <> 'int'", "true", "NULL::bool", "{t}m IN (1, NULL)"]


class Make:
    def __init__(self, rng):
        self.r = rng

    def chance(self, p):
        return self.r.random() < p

    def pair(self, t):
        guard, tests = self.r.choice(GUARDED)
        return guard.format(t=t), self.r.choice(tests).format(t=t)

    def plain(self, t):
        return self.r.choice(PLAIN).format(t=t)

    def cond(self, t="", depth=2):
        """A condition; what may raise in it is guarded, mostly."""
        r = self.r
        if depth > 0 and self.chance(0.55):
            op = r.choice([" AND ", " OR "])
            out = "(" + op.join(self.cond(t, depth - 1) for _ in range(r.choice([2, 2, 3]))) + ")"
            return f"NOT {out}" if self.chance(0.15) else out
        if self.chance(0.25):
            return self.plain(t)
        guard, test = self.pair(t)
        # In a join it is a matter of plans, and in PostgreSQL of whether ANALYZE was there yet, which rows it is asked of.
        if self.chance(0.03) and not t:
            return test
        between = f" AND {self.plain(t)}" if self.chance(0.2) else ""
        return r.choice([
            f"({guard}{between} AND {test})", f"({guard}{between} AND {test})", f"(NOT ({guard}{between}) OR {test})", f"(NOT ({guard}) OR {guard} IS NULL OR {test})",
            f"CASE WHEN {guard} THEN {test} ELSE {self.plain(t)} END", f"CASE WHEN NOT ({guard}) THEN {self.plain(t)} WHEN {guard} THEN {test} END",
            f"coalesce(CASE WHEN NOT ({guard}) THEN false WHEN ({guard}) IS NULL THEN true END, {test})", f"(({guard}) AND {test}) IS NOT TRUE",
            f"NOT ({guard} AND {test})", f"({guard} AND {test} AND {self.plain(t)}) IS NOT FALSE"])

    def value(self, t=""):
        guard, test = self.pair(t)
        return self.r.choice([self.cond(t), f"CASE WHEN {guard} THEN ({test})::text ELSE {t}k END", f"coalesce(nullif({guard}, true)::text, ({test})::text)",
                              f"CASE WHEN {t}n = 0 THEN {t}m WHEN {t}n <> 0 THEN 60 / {t}n END", f"coalesce(CASE WHEN {t}n = 0 OR {t}n IS NULL THEN 0 END, 60 / {t}n)"])

    def flat(self, t=""):
        """Conjuncts, each behind its guard."""
        parts = []
        for _ in range(self.r.choice([1, 1, 2, 3])):
            parts += [*self.pair(t)]
            if self.chance(0.3):
                parts.append(self.plain(t))
        return " AND ".join(parts)

    def where(self, t=""):
        return self.flat(t) if self.chance(0.5) else self.cond(t)

    def table(self):
        return self.r.choice(["one", "few", "few", "many", "many", "derived"])

    def base(self):
        return self.r.choice(["one", "few", "many"])

    def statement(self):
        r, t = self.r, self.table()
        guard, test = self.pair("")
        x = r.choice(["n <> 0 AND x > 1", "n = 0 OR x > 1", "n <> 0 AND (x > 1 OR m = 2)", "f >= 0 AND y > 1", "(f < 0 OR y < 1) AND m > 0"])
        kinds = [
            lambda: f"SELECT id FROM {t} WHERE {self.where()}",
            lambda: f"SELECT id, {self.value()} AS a, {self.value()} AS b FROM {t}",
            lambda: f"SELECT id, {self.value()} AS a FROM {t} WHERE {self.where()}",
            lambda: f"SELECT count(*) FILTER (WHERE {self.where()}), count({self.cond()}) FROM {t}",
            lambda: f"SELECT k, count(*) FILTER (WHERE {self.where()}) AS c, sum(10 / n) FILTER (WHERE n <> 0) AS q, max(v::int) FILTER (WHERE k = 'int') AS w FROM {t} GROUP BY k",
            lambda: f"SELECT sum(10 / n) FILTER (WHERE n <> 0), string_agg((10 / n)::text, ',' ORDER BY 20 / n, id) FILTER (WHERE n <> 0) FROM {t}",
            lambda: f"SELECT n, m, count(*) FROM {t} GROUP BY n, m HAVING count(*) > 0 AND {self.r.choice(['(n = 0 OR 10 / n > 1)', 'n <> 0 AND 10 / n > count(*)', 'sum(m) > 0 AND sqrt(sum(m)) > 1'])}",
            lambda: f"SELECT a.id, b.id FROM few a JOIN {self.base()} b ON a.id = b.id AND {self.where('a.')} AND {self.where('b.')}",
            lambda: f"SELECT a.id, b.id FROM few a LEFT JOIN few b ON a.id = b.id AND {self.where('b.')}",
            lambda: f"SELECT a.id, b.id FROM few a LEFT JOIN {self.base()} b ON a.id = b.id AND {self.where('a.')} WHERE {self.cond('a.')}",
            lambda: f"SELECT a.id, b.id FROM few a JOIN few b ON a.id = b.id WHERE a.m >= b.m AND (b.n = 0 OR a.id / b.n > 1) AND {self.where('b.')}",
            lambda: f"SELECT a.id, b.id FROM one a, few b WHERE b.n <> 0 AND a.id / b.n > 0 AND {self.where('b.')}",
            lambda: f"SELECT id FROM few a WHERE EXISTS (SELECT 1 FROM {self.base()} b WHERE b.id = a.id AND {self.where('b.')}) AND {self.where('a.')}",
            lambda: f"SELECT id FROM {t} WHERE id IN (SELECT m FROM few WHERE {self.where()}) OR {self.cond()}",
            lambda: f"SELECT id, x FROM (SELECT id, n, m, f, 10 / n AS x, sqrt(f) AS y FROM {self.base()}) q WHERE {x}",
            lambda: f"SELECT id, CASE WHEN n = 0 THEN NULL ELSE x END AS z, f < 0 OR y > 1 AS w FROM (SELECT id, n, m, f, 10 / n AS x, sqrt(f) AS y FROM {self.base()}) q",
            lambda: f"SELECT q.x FROM (SELECT id, n, 10 / n AS x FROM few) q JOIN (SELECT id FROM few WHERE n <> 0) p ON p.id = q.id",
            lambda: f"SELECT id FROM (SELECT * FROM {self.base()} WHERE {guard}) q WHERE {test}",
            lambda: f"SELECT id, x FROM derived WHERE {x}",
            lambda: f"SELECT id, sum(10 / n) FILTER (WHERE n <> 0) OVER (PARTITION BY k) AS s, count(*) FILTER (WHERE {self.where()}) OVER (ORDER BY id) AS c FROM {self.base()}",
            lambda: f"SELECT id FROM {self.base()} ORDER BY CASE WHEN {guard} THEN {test} END, id",
            lambda: f"SELECT id FROM many WHERE k = 'int' AND {self.cond()} AND v::int > 2",
            lambda: f"SELECT id FROM many WHERE v::int > 2 AND k = 'int'",
            lambda: f"SELECT id FROM {self.base()} WHERE id = {r.randrange(1, 40)} AND {self.where()}",
            lambda: f"SELECT id FROM many WHERE n = {r.randrange(-4, 9)} AND {self.where()}",
            lambda: f"SELECT x FROM (VALUES (0), (2), (5), (NULL)) q(x) WHERE {r.choice(['x = 0 OR 4 / x = 2', 'x <> 0 AND 10 / x > 2', 'NOT (x <> 0 AND 10 / x > 2)'])}",
            lambda: f"WITH w AS (SELECT * FROM {self.base()} WHERE {guard}) SELECT id FROM w WHERE {test} AND {self.cond()}",
            lambda: f"SELECT id, CASE WHEN n = 0 THEN NULL ELSE (SELECT 10 / n) END AS a FROM few",
            lambda: f"SELECT id, CASE WHEN n <> 0 THEN (SELECT max(10 / a.n + b.m) FROM one b) END AS a FROM few a",
            lambda: f"SELECT id FROM few a WHERE n = 0 OR EXISTS (SELECT 1 FROM one b WHERE 10 / a.n > b.m)",
            lambda: f"SELECT id FROM few a WHERE n IS NULL OR n = 0 OR (SELECT 10 / a.n) > 1",
            lambda: f"SELECT id, coalesce(CASE WHEN k <> 'int' OR k IS NULL THEN 0 END, (SELECT v::int)) AS a FROM few",
        ]
        return r.choice(kinds)()

    def transaction(self):
        """Statements that change rows, and the rows then."""
        r, t = self.r, self.base()
        guard, test = self.pair("")
        show = f"SELECT * FROM {t} ORDER BY id LIMIT 300"
        key = r.randrange(1, 30)
        kinds = [
            lambda: [f"UPDATE {t} SET s = 'new', m = CASE WHEN n = 0 THEN -5 ELSE 100 / n END WHERE {self.where()}", show],
            lambda: [f"DELETE FROM {t} WHERE {self.where()}", show],
            lambda: [f"UPDATE few a SET s = 'new' FROM {t} b WHERE a.id = b.id AND {self.where('b.')} AND {self.where('a.')}", "SELECT * FROM few ORDER BY id"],
            lambda: [f"CREATE TABLE c (id int, n int, m int, k text, v text, s text, f float8, CHECK ((NOT ({guard})) OR {test} OR true), CHECK (n = 0 OR n > 100 OR 100 / n <> 1000))",
                     "INSERT INTO c SELECT * FROM few", "INSERT INTO c (n, k, v) VALUES (1, 'int', '5'), (0, 'text', 'x'), (NULL, NULL, 'y')", "SELECT count(*) FROM c"],
            lambda: ["CREATE TABLE g (id int, n int, k text, v text, q int GENERATED ALWAYS AS (CASE WHEN n <> 0 THEN 100 / n END) STORED, w bool GENERATED ALWAYS AS (k = 'int' AND v::int > 3) STORED)",
                     "INSERT INTO g SELECT id, n, k, v FROM few", "UPDATE g SET n = n + 1 WHERE n < 1000", "SELECT * FROM g ORDER BY id"],
            lambda: ["CREATE TABLE p (id int PRIMARY KEY, k text, v text, n int)", "CREATE INDEX ON p ((v::int)) WHERE k = 'int'", "CREATE UNIQUE INDEX ON p ((100 / n), id) WHERE n <> 0",
                     "INSERT INTO p SELECT id, k, v, n FROM few", "UPDATE p SET k = 'text' WHERE id % 2 = 0", "SELECT id FROM p WHERE k = 'int' AND v::int > 2 ORDER BY id",
                     "SELECT id FROM p WHERE n <> 0 AND 100 / n = 20 ORDER BY id"],
            lambda: [f"MERGE INTO few a USING {t} b ON a.id = b.id + {r.choice([0, 20])} WHEN MATCHED AND {self.where('b.')} THEN UPDATE SET m = CASE WHEN b.n <> 0 THEN 70 / b.n ELSE 1 END "
                     f"WHEN MATCHED AND b.n <> 0 THEN UPDATE SET m = 30 / b.n WHEN MATCHED AND {self.cond('a.')} THEN DELETE WHEN NOT MATCHED AND b.n <> 0 AND b.id < 90 THEN INSERT (id, n) VALUES (b.id + 20, 50 / b.n)",
                     "SELECT * FROM few ORDER BY id"],
            lambda: [f"INSERT INTO {t} (id, n, k, v) VALUES ({key}, 0, 'x', 'y'), ({key + 1}, 3, 'int', '4'), ({key + 100000}, 1, 'a', 'b') ON CONFLICT (id) DO UPDATE SET m = 8 "
                     f"WHERE {t}.n <> 0 AND 10 / {t}.n > 1 AND (excluded.n = 0 OR 10 / excluded.n > 1)", show],
            lambda: [f"UPDATE {t} SET m = 7 WHERE id < 30 RETURNING id, {self.cond()} AS a", show],
        ]
        return ["BEGIN", *r.choice(kinds)(), "ROLLBACK"]


def same(sql, ours, theirs):
    if ours[0] in ("XX000", "LOST"):
        return False
    # Where PostgreSQL raises something in a value, Stoa may have met other rows.
    if theirs[0][:2] in ("22", "21"):
        return ours[0] == "00000" or ours[0][:2] in ("22", "21", "23")
    if ours[0] != theirs[0]:
        return False
    rows = (lambda answer: answer[2]) if re.search(r"ORDER BY [^()]*$", sql) else (lambda answer: sorted(map(repr, answer[2])))
    return rows(ours) == rows(theirs)


def different(sql, ours, theirs, _):
    return None if same(sql, ours, theirs) else f"{theirs[0]} became {ours[0]}"


def made(rng):
    make = Make(rng)
    return make.statement() if make.chance(0.8) else make.transaction(), False


def run(tally, stoa, oracle, seed, count, stop=None):
    """Compares about `count` statements; see generated.py."""
    generated.run(tally, stoa, oracle, "guards", seed, count, SETUP, made, different, stop)


if __name__ == "__main__":
    generated.main(__doc__, "guards", run, 1000)
