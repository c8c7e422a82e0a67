#!/usr/bin/env python3
"""Random queries against PostgreSQL and Stoa: rows, types and SQLSTATEs must agree.

    random_queries.py [--oracle DSN] [--dsn DSN] [--seed N] [--count N] [--stop N]

The same seed makes the same queries. Joins, LATERAL, correlated subqueries, row values, quantified comparisons, CTEs, set operations,
grouping sets, windows with all frames, DISTINCT ON and limits, over three small tables full of NULLs. Queries whose order is not fixed are
compared as multisets. The exit status is 1 if anything differs; XX000 and a lost connection count as differences always.
"""
import argparse, collections, random, sys

try:
    import psycopg
    from psycopg import pq
except ImportError:
    sys.exit("random_queries.py: psycopg is missing: pip install 'psycopg[binary]'")

SETUP = [
    "DROP SCHEMA IF EXISTS {schema} CASCADE", "CREATE SCHEMA {schema}", "SET search_path = {schema}", "SET statement_timeout = '10s'", "SET TimeZone = 'UTC'",
    "CREATE TABLE t1 (id int PRIMARY KEY, a int, b text, c numeric(8,2), d date, e boolean)",
    "CREATE TABLE t2 (id int PRIMARY KEY, a int, b text, f float8, g int[])",
    "CREATE TABLE t3 (x int, y int, b text, PRIMARY KEY (x, y))",
    "INSERT INTO t1 SELECT i, nullif(i % 4, 3), nullif(chr(97 + i % 5), 'd'), nullif((i * 7 % 11)::numeric / 4, 0.5), nullif(date '2024-01-01' + i % 6, '2024-01-04'), nullif(i % 3, 2) = 1 FROM generate_series(1, 14) i",
    "INSERT INTO t2 SELECT i, nullif(i % 5, 4), nullif(chr(97 + i % 4), 'b'), nullif(i % 6, 5) / 2.0, CASE WHEN i % 3 > 0 THEN ARRAY[i, i % 2] END FROM generate_series(3, 12) i",
    "INSERT INTO t3 SELECT i % 4, i, nullif(chr(98 + i % 3), 'c') FROM generate_series(1, 9) i",
]
TABLES = {
    "t1": {"id": "int", "a": "int", "b": "text", "c": "numeric", "d": "date", "e": "bool"},
    "t2": {"id": "int", "a": "int", "b": "text", "f": "float"},
    "t3": {"x": "int", "y": "int", "b": "text"},
}
LITERALS = {
    "int": ["0", "1", "2", "3", "-1", "7", "NULL::int"],
    "text": ["'a'", "'b'", "'zz'", "''", "NULL::text"],
    "numeric": ["0.5", "1.25", "2.0", "-3", "NULL::numeric"],
    "float": ["0.5::float8", "2::float8", "NULL::float8"],
    "date": ["date '2024-01-02'", "date '2024-01-05'", "NULL::date"],
    "bool": ["true", "false", "NULL::bool"],
}
COMPARE = ["=", "<>", "<", "<=", ">", ">="]


class Make:
    def __init__(self, rng):
        self.r, self.names = rng, 0

    def name(self, prefix="q"):
        self.names += 1
        return f"{prefix}{self.names}"

    def chance(self, p):
        return self.r.random() < p

    # A scope is a list of (alias, {column: type}); the innermost scopes come first.
    def column(self, scope, ty):
        found = [f"{alias}.{c}" for alias, cols in scope for c, t in cols.items() if t == ty]
        return self.r.choice(found) if found else None

    def expr(self, scope, ty, depth=2):
        r = self.r
        column = self.column(scope, ty)
        if depth <= 0 or self.chance(0.35):
            return column if column and self.chance(0.8) else r.choice(LITERALS[ty])
        sub = lambda t: self.expr(scope, t, depth - 1)
        options = [lambda: f"coalesce({sub(ty)}, {sub(ty)})", lambda: f"CASE WHEN {self.cond(scope, depth - 1)} THEN {sub(ty)} ELSE {sub(ty)} END",
                   lambda: f"nullif({sub(ty)}, {sub(ty)})"]
        if ty in ("int", "numeric", "float"):
            options += [lambda: f"({sub(ty)} {r.choice(['+', '-', '*'])} {sub(ty)})", lambda: f"abs({sub(ty)})", lambda: f"greatest({sub(ty)}, {sub(ty)})"]
        if ty == "int":
            options += [lambda: f"length({sub('text')})", lambda: f"({sub('date')} - date '2024-01-01')", lambda: f"({sub('int')} % 3)"]
        if ty == "numeric":
            options += [lambda: f"round({sub('numeric')}, 1)", lambda: f"{sub('int')}::numeric"]
        if ty == "text":
            options += [lambda: f"({sub('text')} || {sub('text')})", lambda: f"upper({sub('text')})", lambda: f"{sub('int')}::text", lambda: f"left({sub('text')}, 1)"]
        if ty == "date":
            options += [lambda: f"({sub('date')} + {r.choice(['1', '2', '-3'])})"]
        if ty == "bool":
            options += [lambda: f"({self.cond(scope, depth - 1)})"]
        if depth > 1 and self.chance(0.25):
            return self.scalar(scope, ty, depth - 1)
        return r.choice(options)()

    def scalar(self, scope, ty, depth):
        """A scalar subquery, mostly correlated."""
        table = self.r.choice(list(TABLES))
        alias = self.name("s")
        inner = [(alias, TABLES[table])] + scope
        where = self.cond(inner, depth)
        if ty in ("int", "numeric", "float", "text", "date") and self.chance(0.8):
            agg = self.r.choice(["max", "min"])
            value = f"{agg}({self.expr([(alias, TABLES[table])] + (scope if self.chance(0.2) else []), ty, 1)})"
            if ty == "int" and self.chance(0.3):
                value = "count(*)::int"
            return f"(SELECT {value} FROM {table} {alias} WHERE {where})"
        keys = "x, y" if table == "t3" else "id"
        return f"(SELECT {self.expr(inner, ty, 1)} FROM {table} {alias} WHERE {where} ORDER BY {', '.join(alias + '.' + k.strip() for k in keys.split(','))} LIMIT 1)"

    def cond(self, scope, depth=2):
        r = self.r
        ty = r.choice(["int", "int", "text", "numeric", "date", "float"])
        if ty not in {t for _, cols in scope for t in cols.values()}:
            ty = "int"
        pick = r.random()
        sub = lambda t: self.expr(scope, t, depth - 1)
        if depth <= 0 or pick < 0.3:
            return f"{sub(ty)} {r.choice(COMPARE)} {sub(ty)}"
        if pick < 0.36:
            return f"{sub(ty)} IS {r.choice(['', 'NOT '])}NULL"
        if pick < 0.42:
            return f"({self.cond(scope, depth - 1)}) {r.choice(['AND', 'OR'])} ({self.cond(scope, depth - 1)})"
        if pick < 0.46:
            return f"NOT ({self.cond(scope, depth - 1)})"
        if pick < 0.5:
            return f"{sub(ty)} {r.choice(['', 'NOT '])}BETWEEN {r.choice(['', 'SYMMETRIC '])}{sub(ty)} AND {sub(ty)}"
        if pick < 0.55:
            return f"{sub(ty)} {r.choice(['', 'NOT '])}IN ({', '.join(sub(ty) for _ in range(r.randint(1, 3)))})"
        if pick < 0.59:
            return f"{sub(ty)} IS {r.choice(['', 'NOT '])}DISTINCT FROM {sub(ty)}"
        if pick < 0.62:
            return f"{sub('text')} {r.choice(['LIKE', 'NOT LIKE', 'ILIKE'])} {r.choice(['%a%', 'b_', '%', 'A%']).__repr__()}"
        if pick < 0.66:
            return f"({sub('int')}, {sub('text')}) {r.choice(COMPARE)} ({sub('int')}, {sub('text')})"
        if pick < 0.7:
            return f"{sub('int')} {r.choice(COMPARE)} {r.choice(['ANY', 'ALL'])} (ARRAY[{', '.join(sub('int') for _ in range(2))}])"
        if pick < 0.73:
            return f"({self.cond(scope, depth - 1)}) IS {r.choice(['', 'NOT '])}{r.choice(['TRUE', 'FALSE', 'UNKNOWN'])}"
        table = r.choice(list(TABLES))
        alias = self.name("s")
        inner = [(alias, TABLES[table])] + scope
        where = f" WHERE {self.cond(inner, depth - 1)}" if self.chance(0.8) else ""
        types = set(TABLES[table].values())
        ty = ty if ty in types else "int"
        if pick < 0.82:
            return f"{r.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM {table} {alias}{where})"
        if pick < 0.9:
            return f"{sub(ty)} {r.choice(['', 'NOT '])}IN (SELECT {self.expr(inner, ty, 1)} FROM {table} {alias}{where})"
        if pick < 0.95:
            return f"{sub(ty)} {r.choice(COMPARE)} {r.choice(['ANY', 'ALL'])} (SELECT {self.expr(inner, ty, 1)} FROM {table} {alias}{where})"
        return f"({sub('int')}, {sub('text')}) {r.choice(['', 'NOT '])}IN (SELECT {self.expr(inner, 'int', 1)}, {alias}.b FROM {table} {alias}{where})"

    def source(self, outer, depth):
        """A FROM clause and the scope it gives."""
        r = self.r

        def factor(left):
            alias = self.name("t")
            pick = r.random()
            if pick < 0.6 or depth <= 0:
                table = r.choice(list(TABLES))
                return f"{table} {alias}", (alias, TABLES[table])
            if pick < 0.8:
                sql, cols = self.query([], depth - 1)
                return f"({sql}) {alias}", (alias, cols)
            if pick < 0.9 and left:
                sql, cols = self.query(left, depth - 1, plain=True)
                return f"LATERAL ({sql}) {alias}", (alias, cols)
            if pick < 0.95:
                return f"generate_series({r.randint(0, 2)}, {r.randint(1, 4)}) {alias}(n)", (alias, {"n": "int"})
            return f"(VALUES (1, 'a'), (2, NULL), (NULL, 'b')) {alias}(v, w)", (alias, {"v": "int", "w": "text"})

        sql, item = factor([])
        scope = [item]
        for _ in range(r.choice([0, 0, 1, 1, 2])):
            pick = r.random()
            right, item = factor(scope)
            lateral = right.startswith("LATERAL")
            if pick < 0.15:
                sql += f" CROSS JOIN {right}"
            elif pick < 0.25 and "," not in sql:
                sql += f", {right}"
            else:
                kind = r.choice(["JOIN", "LEFT JOIN"] if lateral else ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
                both = scope + [item]
                if kind == "FULL JOIN":
                    # PostgreSQL asks for an equality of the two sides.
                    left, other = self.column(scope, "int"), self.column([item], "int")
                    if not left or not other:
                        kind = "JOIN"
                    on = f"{left or '1'} = {other or '1'}" + (f" AND ({self.cond(both, 1)})" if self.chance(0.3) else "")
                elif lateral and kind == "LEFT JOIN":
                    on = "true"
                else:
                    on = f"{self.column(scope, 'int') or '1'} = {self.column([item], 'int') or '1'}" if self.chance(0.6) else self.cond(both, 1)
                sql += f" {kind} {right} ON {on}"
            scope = scope + [item]
        return sql, scope

    def query(self, outer, depth, plain=False):
        """A SELECT, and the types of its columns c1, c2, …"""
        r = self.r
        sql_from, own = self.source(outer, depth)
        scope = own + outer
        where = f" WHERE {self.cond(scope, 2)}" if self.chance(0.6) else ""
        pick = r.random()
        cols, items = {}, []
        count = r.randint(1, 3)
        if not plain and pick < 0.25:
            keys = [self.column(own, t) for t in r.sample(["int", "text", "date", "bool"], 2)]
            keys = [k for k in dict.fromkeys(keys) if k]
            types = {k: next(t for a, c in own for n, t in c.items() if f"{a}.{n}" == k) for k in keys}
            if keys:
                group = ", ".join(keys)
                form = r.random()
                if form < 0.2:
                    group = f"ROLLUP ({group})"
                elif form < 0.3:
                    group = f"CUBE ({group})"
                elif form < 0.4:
                    group = f"GROUPING SETS (({group}), ({keys[0]}), ())"
                for k in keys:
                    cols[f"c{len(cols) + 1}"] = types[k]
                    items.append(f"{k} AS c{len(cols)}")
            else:
                group = None
            for _ in range(r.randint(1, 2)):
                ty = r.choice(["int", "numeric"])
                agg = r.choice([f"count(*)::int", f"count(DISTINCT {self.expr(own, 'int', 1)})::int", f"sum({self.expr(own, 'int', 1)})::int", f"max({self.expr(own, 'int', 1)})"]) if ty == "int" else f"{r.choice(['sum', 'max', 'min'])}({self.expr(own, 'numeric', 1)})"
                if self.chance(0.2) and "DISTINCT" not in agg and "::int" not in agg:
                    agg += f" FILTER (WHERE {self.cond(own, 1)})"
                cols[f"c{len(cols) + 1}"] = ty
                items.append(f"{agg} AS c{len(cols)}")
            sql = f"SELECT {', '.join(items)} FROM {sql_from}{where}" + (f" GROUP BY {group}" if group else "")
            if self.chance(0.3):
                sql += f" HAVING count(*) {r.choice(COMPARE)} {r.randint(0, 3)}"
            return sql, cols
        if not plain and pick < 0.4:
            # All rows of a table with a window: the order inside is by its key.
            table = r.choice(list(TABLES))
            a = self.name("w")
            key = f"{a}.x, {a}.y" if table == "t3" else f"{a}.id"
            part = f"PARTITION BY {self.column([(a, TABLES[table])], r.choice(['int', 'text']))} " if self.chance(0.5) else ""
            frame, order = "", key
            if self.chance(0.7):
                bounds = ["UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "2 FOLLOWING", "UNBOUNDED FOLLOWING"]
                i = r.randint(0, 5)
                j = r.randint(max(i, 1), 6)
                units = r.choice(["ROWS", "GROUPS", "RANGE"])
                if units == "RANGE":
                    order = f"{a}.{'y' if table == 't3' else 'id'}" if self.chance(0.5) else f"{self.column([(a, TABLES[table])], 'int')}{r.choice(['', ' DESC', ' NULLS FIRST'])}"
                elif units == "GROUPS":
                    order = f"{self.column([(a, TABLES[table])], r.choice(['int', 'text']))}{r.choice(['', ' DESC'])}"
                frame = f" {units} BETWEEN {bounds[i]} AND {bounds[j]}" + r.choice(["", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"])
            arg = self.expr([(a, TABLES[table])], "int", 1)
            det = "ROWS" in frame or not frame
            call = r.choice([f"sum({arg})::int", "count(*)::int", f"max({arg})", f"min({arg})"] + ([f"first_value({arg})", f"last_value({arg})", f"nth_value({arg}, 2)", f"lag({arg})", f"lead({arg}, 2, 0)", "row_number()::int", "rank()::int", "ntile(3)"] if det and order == key else []))
            items = [f"{k.strip()} AS c{i + 1}" for i, k in enumerate(key.split(","))]
            cols = {f"c{i + 1}": "int" for i in range(len(items))}
            cols[f"c{len(cols) + 1}"] = "int"
            items.append(f"{call} OVER ({part}ORDER BY {order}{frame}) AS c{len(cols)}")
            return f"SELECT {', '.join(items)} FROM {table} {a}", cols
        for _ in range(count):
            ty = r.choice(["int", "int", "text", "numeric", "date", "bool", "float"])
            cols[f"c{len(cols) + 1}"] = ty
            items.append(f"{self.expr(scope, ty, 2)} AS c{len(cols)}")
        distinct = "DISTINCT " if not plain and self.chance(0.15) else ""
        return f"SELECT {distinct}{', '.join(items)} FROM {sql_from}{where}", cols

    def statement(self):
        r = self.r
        pick = r.random()
        if pick < 0.15:
            types = [r.choice(["int", "text"]) for _ in range(r.randint(1, 2))]

            def branch():
                sql_from, scope = self.source([], 1)
                items = [f"{self.expr(scope, t, 1)} AS c{i + 1}" for i, t in enumerate(types)]
                return f"SELECT {', '.join(items)} FROM {sql_from}" + (f" WHERE {self.cond(scope, 1)}" if self.chance(0.5) else "")
            ops = [f"{r.choice(['UNION', 'INTERSECT', 'EXCEPT'])}{r.choice(['', ' ALL'])}" for _ in range(r.randint(1, 2))]
            sql = branch()
            for op in ops:
                sql += f" {op} {branch()}"
            return sql, False
        if pick < 0.25:
            inner, cols = self.query([], 1)
            name = self.name("cte")
            alias = [self.name("a") for _ in range(2)]
            mat = r.choice(["", "", "MATERIALIZED ", "NOT MATERIALIZED "])
            key = next(iter(cols))
            scope = [(alias[0], cols), (alias[1], cols)]
            return f"WITH {name} AS {mat}({inner}) SELECT {alias[0]}.*, {self.expr(scope, 'int', 1)} AS z FROM {name} {alias[0]} JOIN {name} {alias[1]} ON {alias[0]}.{key} = {alias[1]}.{key}", False
        sql, cols = self.query([], 2)
        if self.chance(0.4):
            keys = ", ".join(str(i + 1) + r.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]) for i in range(len(cols)))
            sql += f" ORDER BY {keys}"
            if self.chance(0.5):
                sql += r.choice([f" LIMIT {r.randint(0, 5)}", f" OFFSET {r.randint(0, 4)}", f" LIMIT {r.randint(1, 6)} OFFSET {r.randint(0, 3)}", f" FETCH FIRST {r.randint(1, 4)} ROWS WITH TIES"])
            return sql, True
        return sql, False


def connect(dsn):
    connection = psycopg.connect(dsn, autocommit=True, connect_timeout=10)
    connection.add_notice_handler(lambda _: None)
    return connection


def ask(connection, sql):
    """(SQLSTATE or None, header, rows, message)"""
    try:
        result = connection.pgconn.exec_(sql.encode())
    except psycopg.OperationalError as error:
        return "LOST", [], [], str(error)
    if result.status in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
        header = [(result.fname(i).decode(), result.ftype(i)) for i in range(result.nfields)]
        rows = [tuple(result.get_value(r, c) for c in range(result.nfields)) for r in range(result.ntuples)]
        return None, header, rows, ""
    field = lambda f: (result.error_field(f) or b"").decode(errors="replace")
    return field(pq.DiagnosticField.SQLSTATE) or "LOST", [], [], field(pq.DiagnosticField.MESSAGE_PRIMARY)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default="host=127.0.0.1 port=5432 user=postgres dbname=postgres")
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--stop", type=int, default=25, help="stop after so many differences")
    options = parser.parse_args()
    sides = [connect(options.oracle), connect(options.dsn)]
    schema = f"rq_{options.seed}"
    for side in sides:
        for sql in SETUP:
            sql = sql.replace("{schema}", schema)
            code, _, _, message = ask(side, sql)
            assert code is None, f"{sql}: {message}"
    found, slow = collections.Counter(), 0
    for n in range(options.count):
        sql, ordered = Make(random.Random(f"{options.seed}/{n}")).statement()
        a, b = (ask(side, sql) for side in sides)
        kind = None
        if "57014" in (a[0], b[0]):
            slow += b[0] == "57014" and a[0] is None
            continue
        if a[0] != b[0]:
            kind = "code"
        elif a[1] != b[1]:
            kind = "header"
        elif (a[2] if ordered else sorted(map(repr, a[2]))) != (b[2] if ordered else sorted(map(repr, b[2]))):
            kind = "rows"
        if kind:
            found[kind] += 1
            show = lambda x: f"{x[0]} {x[3]}" if x[0] else f"{len(x[2])} rows {x[1] if kind == 'header' else x[2][:6]}"
            print(f"-- {kind}, seed {options.seed}, query {n}\n{sql};\n   PG:   {show(a)}\n   Stoa: {show(b)}", flush=True)
            if b[0] == "LOST":
                sides[1] = connect(options.dsn)
                for s in (f"SET search_path = {schema}", "SET TimeZone = 'UTC'"):
                    ask(sides[1], s)
            if sum(found.values()) >= options.stop:
                break
    print(f"{n + 1} queries; " + (", ".join(f"{k} {v}" for k, v in found.items()) or "no difference") + (f"; {slow} took too long" if slow else ""))
    for side in sides:
        ask(side, f"DROP SCHEMA {schema} CASCADE")
    sys.exit(1 if found else 0)


main()
