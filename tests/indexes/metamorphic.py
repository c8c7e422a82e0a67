#!/usr/bin/env python3
"""Random tables, indexes, writes and queries: every query gives the same rows without an index, with each index asked for, with one
forced wherever it can serve, and as the optimizer chooses; and CHECK TABLE finds nothing.

    metamorphic.py DSN [SEEDS [FIRST]]         soak: metamorphic.py DSN 100000
"""
import random, sys

import psycopg

TYPES = {
    "int": lambda r: str(r.randint(-5, 5)),
    "bigint": lambda r: str(r.choice([-2**62, -1, 0, 1, 7, 2**62])),
    "text": lambda r: "'" + r.choice(["", "a", "ab", "abc", "b", "ä", "a%", "zz", "A"]) + "'",
    "numeric": lambda r: r.choice(["1.0", "1.00", "-2.5", "0", "1e20", "3"]),
    "float8": lambda r: r.choice(["0.5", "-0.0", "0.0", "1e300", "'NaN'", "'-Infinity'"]),
    "date": lambda r: r.choice(["'2024-01-01'", "'1999-12-31'", "'2024-02-29'"]),
    "timestamptz": lambda r: r.choice(["'2024-01-01 00:00:00Z'", "'2024-01-01 00:00:00.000001Z'", "'1960-05-05Z'"]),
    "boolean": lambda r: r.choice(["true", "false"]),
    "uuid": lambda r: "'00000000-0000-0000-0000-00000000000" + r.choice("012f") + "'",
}


class World:
    def __init__(self, r, c):
        self.r, self.c = r, c
        self.columns = [(f"c{n}", r.choice(list(TYPES))) for n in range(r.randint(2, 4))]
        key = ["id"] + [n for n, _ in self.columns if r.random() < 0.15]
        r.shuffle(key)
        self.key = key
        types = ", ".join(f"{n} {t}{' NOT NULL' if n in key else ''}" for n, t in self.columns)
        primary = ", ".join(k + r.choice(["", " DESC"]) for k in key)
        salt = f" WITH (salt_buckets = {r.choice([2, 3, 256])})" if r.random() < 0.3 else ""
        self.run("DROP TABLE IF EXISTS m CASCADE")
        self.run(f"CREATE TABLE m (id int, {types}, PRIMARY KEY ({primary})){salt}")
        self.next, self.made, self.indexes = 1, 0, []

    def run(self, sql):
        self.log.append(sql)
        return self.c.execute(sql)

    log = []

    def value(self, ty, nulls=True):
        return "NULL" if nulls and self.r.random() < 0.2 else TYPES[ty](self.r)

    def insert(self):
        rows = []
        for _ in range(self.r.randint(1, 30)):
            rows.append(f"({self.next}, " + ", ".join(self.value(t, n not in self.key) + "::" + t for n, t in self.columns) + ")")
            self.next += 1
        self.run("INSERT INTO m VALUES " + ", ".join(rows))

    def create_index(self):
        r, name = self.r, f"i{self.made}"
        self.made += 1
        parts = []
        for n, t in r.sample(self.columns + [("id", "int")], r.randint(1, 2)):
            expr = n
            if r.random() < 0.2:
                expr = {"int": f"({n} % 3)", "text": f"lower({n})", "numeric": f"({n} + 1)", "boolean": f"(NOT {n})"}.get(t, n)
            parts.append(expr + r.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]))
        include = f" INCLUDE ({r.choice(self.columns)[0]})" if r.random() < 0.4 else ""
        where = f" WHERE {self.condition()}" if r.random() < 0.25 else ""
        salt = f" WITH (salt_buckets = {r.choice([2, 7])})" if r.random() < 0.3 else ""
        online = "CONCURRENTLY " if r.random() < 0.4 else ""
        self.run(f"CREATE INDEX {online}{name} ON m ({', '.join(parts)}){include}{salt}{where}")
        self.indexes.append(name)

    def condition(self):
        r = self.r
        n, t = r.choice(self.columns + [("id", "int")])
        v = lambda: f"{TYPES[t](r)}::{t}"
        kind = r.random()
        if kind < 0.45:
            return f"{n} {r.choice(['=', '<', '<=', '>', '>=', '<>'])} {v()}"
        if kind < 0.55:
            return f"{n} IN ({v()}, {v()})"
        if kind < 0.65:
            return f"{n} IS {r.choice(['', 'NOT '])}NULL"
        if kind < 0.75:
            return f"{n} BETWEEN {v()} AND {v()}"
        if kind < 0.85 and t == "text":
            return f"{n} LIKE {r.choice(['$$a%$$', '$$%b$$', '$$a_$$', '$$ab%$$'])}"
        if kind < 0.93:
            return f"({self.condition()} OR {self.condition()})"
        m, u = r.choice(self.columns)
        return f"({n}, {m}) {r.choice(['<', '>=', '>'])} ({v()}, {TYPES[u](r)}::{u})"

    def change(self):
        kind = self.r.random()
        where = " AND ".join(self.condition() for _ in range(self.r.randint(1, 2)))
        if kind < 0.4:
            self.insert()
        elif kind < 0.75:
            n, t = self.r.choice([c for c in self.columns if c[0] not in self.key] or [None]) or (None, None)
            if n:
                self.run(f"UPDATE m SET {n} = {self.value(t)}::{t} WHERE {where}")
        else:
            self.run(f"DELETE FROM m WHERE {where} AND id % 3 = 0")

    def query(self):
        r = self.r
        names = [n for n, _ in self.columns]
        where = " WHERE " + " AND ".join(self.condition() for _ in range(r.randint(1, 3))) if r.random() < 0.9 else ""
        kind = r.random()
        if kind < 0.5:
            return f"SELECT {{}} id, {', '.join(r.sample(names, r.randint(0, len(names))) or ['id'])} FROM m{where}", True
        if kind < 0.65:
            n = r.choice(names)
            way = r.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
            return f"SELECT {{}} id, {n} FROM m{where if r.random() < 0.5 else ''} ORDER BY {n}{way}, id{r.choice(['', ' DESC'])} LIMIT {r.randint(1, 5)}", False
        if kind < 0.75:
            order = ", ".join(n + r.choice(["", " DESC", " NULLS FIRST"]) for n in r.sample(names, r.randint(1, len(names))))
            limit = f" LIMIT {r.randint(0, 9)}" + (f" OFFSET {r.randint(0, 4)}" if r.random() < 0.5 else "")
            return f"SELECT {{}} id, {', '.join(names)} FROM m{where} ORDER BY {order}, id{r.choice(['', ' DESC'])}{limit}", False
        if kind < 0.85:
            n = r.choice(names)
            return f"SELECT {{}} count(*), count({n}), count(DISTINCT {n}) FROM m{where}", True
        if kind < 0.93:
            n = r.choice([n for n, t in self.columns if t not in ("boolean", "uuid", "float8", "numeric")] or ["id"])  # equal values that look different
            return f"SELECT {{}} {r.choice([f'min({n}), max({n})', f'max({n})', f'min({n}), min(id)'])} FROM m{where}", True
        n = r.choice([n for n, t in self.columns if t not in ("float8", "numeric")] or ["id"])
        return f"SELECT {{}} {n}, count(*) FROM m{where} GROUP BY {n}", True

    def join(self):
        """Two of the same table: every way to join gives the same."""
        r = self.r
        on = []
        for _ in range(r.randint(1, 2)):
            n, t = r.choice(self.columns + [("id", "int")])
            like = [m for m, u in self.columns + [("id", "int")] if u == t or {u, t} == {"int", "bigint"}]
            on.append(f"x.{n} = y.{r.choice(like)}")
        if r.random() < 0.4:
            n, t = r.choice(self.columns)
            on.append(f"y.{n} {r.choice(['<', '>=', '<>'])} {TYPES[t](r)}::{t}")
        on, n = " AND ".join(on), r.choice(self.columns)[0]
        where = f" WHERE x.id {r.choice(['<', '>'])} {r.randint(1, 30)}" if r.random() < 0.5 else ""
        kind = r.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "EXISTS", "NOT EXISTS", "IN"])
        if kind.endswith("EXISTS"):
            return f"SELECT {{}} x.id, x.{n} FROM m x{where or ' WHERE true'} AND {kind} (SELECT 1 FROM m y WHERE {on})", True
        if kind == "IN":
            return f"SELECT {{}} x.id FROM m x{where or ' WHERE true'} AND x.{n} {r.choice(['', 'NOT '])}IN (SELECT y.{n} FROM m y WHERE y.id % 2 = 0)", True
        if r.random() < 0.4 and kind in ("JOIN", "LEFT JOIN"):
            return f"SELECT {{}} x.id, y.id FROM m x {kind} m y ON {on}{where} ORDER BY x.id, y.id LIMIT {r.randint(1, 9)}", False
        return f"SELECT {{}} x.id, x.{n}, y.id, y.{n} FROM m x {kind} m y ON {on}{where}", True

    def compare(self):
        r, joins = self.r, self.r.random() < 0.25
        sql, unordered = self.join() if joins else self.query()
        ways = [("FULL", "/*+ FULL(m) */", []), ("chosen", "", []), ("forced", "", ["SET stoa.force_index = on"]),
                ("lookups", "", ["SET stoa.enable_covered_scan = off", "SET stoa.force_index = on"]), ("no index", "/*+ NO_INDEX(m) */", [])]
        ways += [(i, f"/*+ INDEX(m {i}) */", []) for i in self.indexes]
        # What the first leaves in memory, or an earlier query has left, the second takes from there.
        ways += [(f"{name} columns", hint, ["SET stoa.min_column_cache_scan_size = 0"])
                 for hint in ("/*+ FULL(m) */", "") for name in ("left", "kept")]
        off = r.sample(["skipscan", "index_union", "index_intersection", "index_order", "index_ends", "narrow_scan", "lookupjoin"], 3)
        ways.append((f"without {off}", "", [f"SET stoa.enable_{path} = off" for path in off] + ["SET stoa.force_index = on"] * r.randint(0, 1)))
        ways.append(("both", "/*+ INDEX(m " + " ".join(self.indexes) + ") */" if self.indexes else "", []))
        if joins:
            ways = [("hash", "/*+ FULL(x) FULL(y) */", ["SET stoa.enable_lookupjoin = off"]), ("chosen", "", []), ("forced", "", ["SET stoa.force_index = on"]),
                    ("lookups", "", ["SET stoa.enable_covered_scan = off", "SET stoa.force_index = on"])]
            ways += [(i, f"/*+ INDEX(x {i}) INDEX(y {i}) */", []) for i in self.indexes]
            ways += [(f"{name} columns", "/*+ FULL(x) FULL(y) */", ["SET stoa.min_column_cache_scan_size = 0"]) for name in ("left", "kept")]
        wanted = None
        for name, hint, settings in ways:
            for s in settings:
                self.c.execute(s)
            text = sql.format(hint)
            try:
                rows = [tuple(map(repr, row)) for row in self.c.execute(text).fetchall()]
            finally:
                for s in settings:
                    self.c.execute("RESET " + s.split()[1])
            if unordered:
                rows.sort()
            if wanted is None:
                wanted = rows
            elif rows != wanted:
                plan = "\n".join(l[0] for l in self.c.execute("EXPLAIN " + text).fetchall())
                raise AssertionError(f"{name}: {text}\n{plan}\nwanted {wanted}\nfound  {rows}")


def run(dsn, seed):
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute("SET client_min_messages = error")
        r = random.Random(seed)
        World.log = []
        w = World(r, c)
        try:
            w.insert()
            for _ in range(r.randint(4, 14)):
                kind = r.random()
                if kind < 0.25 and len(w.indexes) < 4:
                    w.create_index()
                elif kind < 0.32 and w.indexes:
                    w.run(f"REINDEX INDEX {r.choice(['', 'CONCURRENTLY '])}{r.choice(w.indexes)}")
                elif kind < 0.37 and w.indexes:
                    w.run(f"DROP INDEX {w.indexes.pop(r.randrange(len(w.indexes)))}")
                elif kind < 0.42:
                    w.run("ANALYZE m")
                elif kind < 0.6:
                    w.change()
                else:
                    w.compare()
            faults = c.execute("CHECK TABLE m").fetchall()
            assert not faults, f"CHECK TABLE: {faults}"
        except Exception as e:
            raise AssertionError(f"seed {seed}: {e}\n" + ";\n".join(World.log[-40:])) from e


if __name__ == "__main__":
    dsn, seeds, first = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100, int(sys.argv[3]) if len(sys.argv) > 3 else 0
    failed = 0
    for seed in range(first, first + seeds):
        try:
            run(dsn, seed)
        except Exception as e:
            failed += 1
            print(e, flush=True)
            if failed >= 5:
                break
    print(f"{seeds} seeds, {failed} failed")
    sys.exit(failed > 0)
