#!/usr/bin/env python3
"""Random queries against PostgreSQL and Stoa: rows, types and SQLSTATEs must agree.

    random_queries.py [--oracle DSN] [--dsn DSN] [--seed N] [--count N] [--stop N]

The same seed makes the same queries. Joins, LATERAL, correlated subqueries, row values, quantified comparisons, CTEs (recursive and
data-modifying), set operations, grouping sets, windows with all frames and over groups, ordered-set aggregates, set-returning functions,
DISTINCT ON, limits, UPDATE, DELETE and INSERT with RETURNING (rolled back), over three small tables full of NULLs. Queries whose order is not fixed are
compared as multisets. The exit status is 1 if anything differs; XX000 and a lost connection count as differences always.
"""
import pathlib, re, sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generated  # noqa: E402
from sides import FIRST_NORMAL_OID  # noqa: E402

SETUP = [
    "DROP SCHEMA IF EXISTS {schema} CASCADE", "CREATE SCHEMA {schema}", "SET search_path = {schema}",
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
        if ty == "int":
            options += [lambda: f"extract({r.choice(['day', 'dow', 'month', 'doy'])} FROM {sub('date')})::int", lambda: f"cardinality(ARRAY[{sub('int')}, {sub('int')}])",
                        lambda: f"(ARRAY[{sub('int')}, {sub('int')}])[{sub('int')}]", lambda: f"array_position(ARRAY[{sub('int')}, 1, 2], {sub('int')})",
                        lambda: f"(jsonb_build_object('k', {sub('int')}) ->> 'k')::int", lambda: f"least({sub('int')}, {sub('int')}, 5)", lambda: f"sign({sub('numeric')})::int",
                        lambda: f"({sub('bool')})::int", lambda: f"num_nulls({sub('int')}, {sub('text')}, {sub('date')})", lambda: f"strpos({sub('text')}, 'a')"]
        if ty == "numeric":
            options += [lambda: f"round({sub('numeric')}, 1)", lambda: f"{sub('int')}::numeric"]
        if ty == "text":
            options += [lambda: f"({sub('text')} || {sub('text')})", lambda: f"upper({sub('text')})", lambda: f"{sub('int')}::text", lambda: f"left({sub('text')}, 1)"]
        if ty == "text":
            options += [lambda: f"to_char({sub('date')}, 'YYYY-MM Dy')", lambda: f"array_to_string(ARRAY[{sub('text')}, {sub('text')}], '-', '*')", lambda: f"jsonb_build_array({sub('int')}, {sub('text')})::text",
                        lambda: f"concat({sub('text')}, {sub('int')}, {sub('bool')})", lambda: f"coalesce(to_json({sub('numeric')})::text, 'none')", lambda: f"substring({sub('text')} FROM 1 FOR 1)",
                        lambda: f"ROW({sub('int')}, {sub('text')})::text", lambda: f"format('%s|%L', {sub('int')}, {sub('text')})", lambda: f"ARRAY[{sub('int')}, {sub('int')}]::text"]
        if ty == "date":
            options += [lambda: f"date_trunc('month', {sub('date')})::date", lambda: f"({sub('date')} + interval '1 day')::date", lambda: f"make_date(2024, 1, 1 + abs({sub('int')}) % 20)"]
            options += [lambda: f"({sub('date')} + {r.choice(['1', '2', '-3'])})"]
        if ty == "bool":
            options += [lambda: f"({sub('int')} = ANY ('{{1,2,NULL}}'::int[]))", lambda: f"({sub('date')}, {sub('date')}) OVERLAPS ({sub('date')}, {sub('date')})",
                        lambda: f"ARRAY[{sub('int')}, {sub('int')}] @> ARRAY[{sub('int')}]", lambda: f"(ROW({sub('int')}, {sub('text')}) IS NOT NULL)"]
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
        if self.chance(0.05):
            # Several comparisons of one column, which planners merge.
            one, other = self.column(scope, ty) or sub(ty), lambda: self.column(scope, ty) if self.chance(0.4) else r.choice(LITERALS[ty])
            pairs = [[one, other()][::r.choice([1, 1, -1])] for _ in range(r.choice([2, 2, 3]))]
            return " AND ".join(f"{left} {r.choice(COMPARE)} {right}" for left, right in pairs)
        if depth <= 0 or pick < 0.3:
            return f"{sub(ty)} {r.choice(COMPARE)} {sub(ty)}"
        if pick < 0.32:
            row = f"ROW({sub('int')}, {r.choice([sub('text'), f'ROW({sub(ty)})', f'ROW({sub(ty)}, NULL)'])})"
            same = row if "ROW" not in row[1:] else f"ROW({sub('int')}, {sub('text')})"
            row = r.choice([row, f"(SELECT {row})", f"(ARRAY[{row}])[1]", f"CASE WHEN {self.cond(scope, depth - 1)} THEN {same} ELSE {same} END"])
            return f"{row} IS {r.choice(['', 'NOT '])}NULL"
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
            if self.chance(0.3):
                part = f"PARTITION BY {self.cond([(a, TABLES[table])], 1)} "
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
            call, cast = (call[:-5], "::int") if call.endswith("::int") else (call, "")
            items.append(f"({call} OVER ({part}ORDER BY {order}{frame})){cast} AS c{len(cols)}")
            return f"SELECT {', '.join(items)} FROM {table} {a}", cols
        for _ in range(count):
            ty = r.choice(["int", "int", "text", "numeric", "date", "bool", "float"])
            cols[f"c{len(cols) + 1}"] = ty
            items.append(f"{self.expr(scope, ty, 2)} AS c{len(cols)}")
        distinct = "DISTINCT " if not plain and self.chance(0.15) else ""
        return f"SELECT {distinct}{', '.join(items)} FROM {sql_from}{where}", cols

    def key(self, alias, table):
        return f"{alias}.x, {alias}.y" if table == "t3" else f"{alias}.id"

    def recursive(self):
        """A recursion that ends: a counter grows in each step."""
        r, name = self.r, self.name("rec")
        sql_from, scope = self.source([], 0)
        kind = r.choice(["UNION ALL", "UNION"])
        table, alias = r.choice(list(TABLES)), self.name("j")
        inner = [("r", {"n": "int", "v": "int", "s": "text"})]
        join = ""
        if self.chance(0.5):
            join = f" {r.choice(['JOIN', 'LEFT JOIN'])} {table} {alias} ON {alias}.{'x' if table == 't3' else 'id'} = r.v"
            inner.append((alias, TABLES[table]))
        where = f" AND ({self.cond(inner, 1)})" if self.chance(0.4) else ""
        base = f"SELECT 1 AS n, {self.expr(scope, 'int', 1)} AS v, {self.expr(scope, 'text', 1)} AS s FROM {sql_from}" + (f" WHERE {self.cond(scope, 1)}" if self.chance(0.4) else "")
        step = f"SELECT r.n + 1, {self.expr(inner, 'int', 1)}, left({self.expr(inner, 'text', 1)}, 20) FROM {name} r{join} WHERE r.n < {r.randint(1, 4)}{where}"
        out = r.choice(["SELECT * FROM {0}", "SELECT n, count(*), min(v), max(s) FROM {0} GROUP BY n", "SELECT a.n, b.v FROM {0} a JOIN {0} b ON a.v = b.v AND a.n < b.n", "SELECT n FROM {0} WHERE v = (SELECT max(v) FROM {0})"])
        return f"WITH RECURSIVE {name}(n, v, s) AS ({base} {kind} {step}) {out.format(name)}"

    def distinct_on(self):
        r, table, a = self.r, self.r.choice(list(TABLES)), self.name("d")
        scope = [(a, TABLES[table])]
        on = [self.expr(scope, t, 1) for t in r.sample(["int", "text", "bool", "date"], r.randint(1, 2))]
        on = [o for o in on if a in o] or [f"{a}.b"]
        order = ", ".join(o + r.choice(["", " DESC", " NULLS FIRST"]) for o in on)
        items = ", ".join([self.expr(scope, t, 2) for t in r.choices(["int", "text", "numeric", "date"], k=2)] + [self.key(a, table)])
        where = f" WHERE {self.cond(scope, 2)}" if self.chance(0.4) else ""
        return f"SELECT DISTINCT ON ({', '.join(on)}) {items} FROM {table} {a}{where} ORDER BY {order}, {self.key(a, table)}" + (f" LIMIT {r.randint(1, 4)}" if self.chance(0.2) else "")

    def grouped(self):
        """Groups with aggregates of all kinds, windows over them, subqueries in HAVING and ORDER BY."""
        r = self.r
        table, a = r.choice(list(TABLES)), self.name("g")
        scope, key = [(a, TABLES[table])], self.key(a, table)
        keys = list(dict.fromkeys(self.expr(scope, t, r.choice([0, 0, 1])) for t in r.sample(["int", "text", "bool", "date"], r.randint(1, 3))))
        keys = [k for k in keys if f"{a}." in k and "SELECT" not in k] or [f"{a}.b"]
        e = lambda t: self.expr(scope, t, 1)
        order = f"ORDER BY {e('int')}{r.choice(['', ' DESC', ' NULLS FIRST'])}, {key}"
        def agg():
            return r.choice([lambda: f"string_agg({e('text')}, ',' {order})", lambda: f"array_agg({e('int')} {order})", lambda: f"json_agg({e('text')} {order})", lambda: f"jsonb_object_agg(coalesce({e('text')}, '-'), {e('int')} {order})",
                lambda: f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {e('float')})", lambda: f"percentile_disc({r.choice(['0.3', '0.5', '1'])}) WITHIN GROUP (ORDER BY {e(r.choice(['int', 'text', 'date']))}{r.choice(['', ' DESC'])})",
                lambda: f"mode() WITHIN GROUP (ORDER BY {e('int')})", lambda: f"rank({r.choice(['1', '2', 'NULL'])}) WITHIN GROUP (ORDER BY {e('int')})", lambda: f"bool_and({self.cond(scope, 1)})", lambda: f"every({e('bool')})",
                lambda: f"count({a})", lambda: f"count(DISTINCT ({e('int')}, upper({e('text')})))", lambda: f"avg({e('numeric')})", lambda: f"sum(DISTINCT {e('int')})", lambda: f"max({e('text')}) FILTER (WHERE {self.cond(scope, 1)})",
                lambda: f"bit_or({e('int')})", lambda: f"array_agg(DISTINCT {e('text')} ORDER BY 1)" if False else f"string_agg(DISTINCT {a}.b, '/' ORDER BY {a}.b{r.choice(['', ' DESC', ' NULLS FIRST'])})", lambda: f"coalesce(sum({e('int')}), 0) + count(*)",
                lambda: f"(SELECT max(q.id) FROM t1 q WHERE q.id <= count({a}.*))", lambda: f"round(stddev_pop({e('int')}), 4)", lambda: f"min({e('date')})", lambda: f"sum({e('int')}) / nullif(count({e('int')}), 0)"])()
        form, grouping = r.random(), ""
        group = ", ".join(keys)
        if form < 0.15:
            group = f"ROLLUP ({group})"
        elif form < 0.25:
            group = f"CUBE ({group})"
        elif form < 0.35:
            group = f"GROUPING SETS (({group}), ({keys[-1]}), (), ({keys[0]}))"
        elif form < 0.4 and len(keys) > 1:
            group = f"{keys[0]}, ROLLUP ({', '.join(keys[1:])})"
        if form < 0.4 and self.chance(0.5):
            grouping = f", GROUPING({', '.join(keys)})"
        items = ", ".join(keys + [agg() for _ in range(r.randint(1, 2))]) + grouping
        if self.chance(0.3):
            items += ", " + r.choice([f"rank() OVER (ORDER BY count(*), {keys[0]})", f"sum(count(*)) OVER (ORDER BY {keys[0]})", f"lag(max({e('int')})) OVER (PARTITION BY {keys[0]} ORDER BY count(*), {', '.join(keys)})" if form >= 0.4 else "count(*) OVER ()",
                                      f"count(*) OVER w" if False else f"max(sum({e('int')})) OVER ()"])
        sql = f"SELECT {items} FROM {table} {a}" + (f" WHERE {self.cond(scope, 1)}" if self.chance(0.3) else "") + f" GROUP BY {group}"
        if self.chance(0.3):
            sql += " HAVING " + r.choice([f"count(*) > (SELECT min(h.x) FROM t3 h)", f"max({e('int')}) IS NOT NULL", f"{keys[0]} IS DISTINCT FROM NULL", f"sum({e('int')}) IN (SELECT h.id FROM t1 h WHERE h.a < count({a}.*))", f"EXISTS (SELECT 1 FROM t2 h WHERE h.id = max({e('int')}))"])
        return sql

    def sets(self):
        """Set-returning functions in the select list and in FROM."""
        r, table, a = self.r, self.r.choice(list(TABLES)), self.name("f")
        scope = [(a, TABLES[table])]
        e = lambda t: self.expr(scope, t, 1)
        one = lambda: r.choice([lambda: f"generate_series(1, {e('int')} % 4)", lambda: f"unnest(ARRAY[{e('int')}, {e('int')}])", lambda: f"regexp_split_to_table({e('text')}, '')", lambda: f"jsonb_array_elements_text(jsonb_build_array({e('int')}, {e('text')}))",
                                lambda: f"generate_series({e('date')}, date '2024-01-03', interval '1 day')", lambda: f"(jsonb_each_text(jsonb_build_object('p', {e('int')}))).value", lambda: f"generate_subscripts(ARRAY[{e('int')}, 1], 1)"])()
        if self.chance(0.5):
            items = ", ".join([e("int")] + [one() for _ in range(r.randint(1, 2))])
            return f"SELECT {items} FROM {table} {a}" + (f" WHERE {self.cond(scope, 1)}" if self.chance(0.3) else "")
        call = r.choice([f"generate_series(1, {a}.{'x' if table == 't3' else 'a'})", f"unnest(ARRAY[{e('int')}, {e('int')}])", f"ROWS FROM (generate_series(1, 2), unnest(ARRAY[{e('text')}, {e('text')}, 'q']))", f"unnest(ARRAY[{e('int')}], ARRAY[{e('text')}, 'r'])",
                         f"jsonb_each(jsonb_build_object('a', {e('int')}, 'b', {e('text')}))", f"regexp_matches(coalesce({e('text')}, 'ab'), '(.)', 'g')", f"jsonb_to_recordset(jsonb_build_array(jsonb_build_object('u', {e('int')}))) AS l(u int, w text)"])
        alias = "" if " AS l(" in call else " AS l"
        ordinality = " WITH ORDINALITY" if self.chance(0.4) and alias else ""
        join = r.choice([",", " CROSS JOIN LATERAL", " LEFT JOIN LATERAL"])
        on = " ON true" if "LEFT" in join else ""
        return f"SELECT {self.key(a, table)}, l.* FROM {table} {a}{join} {call}{ordinality}{alias}{on}" + (f" WHERE {self.cond(scope, 1)}" if self.chance(0.3) else "")

    def nested_sets(self):
        """Set operations in brackets, with ORDER BY and LIMIT inside and around."""
        r = self.r
        types = [r.choice(["int", "text", "numeric", "date"]) for _ in range(r.randint(1, 2))]

        def branch(depth):
            if depth > 0 and self.chance(0.5):
                return f"({branch(depth - 1)} {r.choice(['UNION', 'INTERSECT', 'EXCEPT', 'UNION ALL', 'EXCEPT ALL', 'INTERSECT ALL'])} {branch(depth - 1)})"
            if self.chance(0.15):
                return "(VALUES " + ", ".join("(" + ", ".join(r.choice(LITERALS[t]) if r.choice(LITERALS[t]) else "" for t in types) + ")" for _ in range(2)) + ")"
            table, a = r.choice(list(TABLES)), self.name("b")
            scope = [(a, TABLES[table])]
            body = f"SELECT {', '.join(self.expr(scope, t, 1) for t in types)} FROM {table} {a}" + (f" WHERE {self.cond(scope, 1)}" if self.chance(0.4) else "")
            if self.chance(0.2):
                body += f" ORDER BY {', '.join(str(i + 1) for i in range(len(types)))} LIMIT {r.randint(1, 5)}"
            return f"({body})"
        sql = f"{branch(1)} {r.choice(['UNION', 'INTERSECT', 'EXCEPT', 'UNION ALL'])} {branch(2)}"
        tail = f" ORDER BY {', '.join(str(i + 1) + r.choice(['', ' DESC']) for i in range(len(types)))}" + r.choice(["", f" LIMIT {r.randint(0, 4)}", f" OFFSET (SELECT count(*) / 4 FROM t1) LIMIT 3"])
        return sql + tail

    def change(self):
        """A statement that changes rows, alone or in WITH; what is in the tables afterwards; all rolled back."""
        r = self.r
        scope = [("m", TABLES["t1"])]
        other = [("o", TABLES["t3"])]
        e = lambda t, s=scope: self.expr(s, t, 1)
        where = f" WHERE {self.cond(scope, 2)}" if self.chance(0.8) else ""
        returning = f" RETURNING m.id, {e('int')}, {e('text')}"
        update = r.choice([lambda: f"UPDATE t1 m SET a = {e('int')}, b = {e('text')}{where}", lambda: f"UPDATE t1 m SET (a, d) = (SELECT {e('int', other)}, {e('date')} FROM t3 o WHERE o.y = m.id){where}",
                           lambda: f"UPDATE t1 m SET a = o.x FROM t3 o WHERE o.y = m.id AND ({self.cond(scope + other, 1)})", lambda: f"UPDATE t1 m SET c = DEFAULT, e = {e('bool')}{where}"])
        delete = r.choice([lambda: f"DELETE FROM t1 m{where}", lambda: f"DELETE FROM t1 m USING t3 o WHERE o.y = m.id AND ({self.cond(scope + other, 1)})"])
        insert = r.choice([lambda: f"INSERT INTO t1 AS m (id, a, b) SELECT o.y + 20, {e('int', other)}, {e('text', other)} FROM t3 o WHERE {self.cond(other, 1)}", lambda: f"INSERT INTO t1 AS m (id, b) SELECT o.y + 10, o.b FROM t3 o ON CONFLICT (id) DO NOTHING",
                           lambda: f"INSERT INTO t1 AS m (id, a, b) SELECT o.y + 10, o.x, o.b FROM t3 o ON CONFLICT (id) DO UPDATE SET a = excluded.a + {r.choice(['m.id', '1', 'm.a'])}, b = {r.choice(['m.b', 'excluded.b', 'NULL'])}" + (f" WHERE m.a IS DISTINCT FROM {r.randint(0, 2)}" if self.chance(0.5) else "")])
        merge = lambda: f"MERGE INTO t1 m USING (SELECT y, x, b FROM t3) o ON m.id = o.y + {r.choice(['0', '8'])} WHEN MATCHED AND {self.cond(scope, 1)} THEN {r.choice(['DELETE', 'UPDATE SET a = o.x, b = o.b', 'DO NOTHING'])} WHEN NOT MATCHED THEN {r.choice(['INSERT (id, a, b) VALUES (o.y + 30, o.x, o.b)', 'DO NOTHING'])}"
        pick = r.random()
        made = (update() if pick < 0.35 else delete() if pick < 0.6 else insert() if pick < 0.85 else merge())
        if pick < 0.85:
            made += returning
            if self.chance(0.4):
                made = f"WITH ch(id, i, t) AS ({made}) " + r.choice(["SELECT * FROM ch", "SELECT count(*), max(i) FROM ch", "SELECT ch.id, s.a FROM ch JOIN t1 s ON s.id = ch.id", "SELECT t, count(*) FROM ch GROUP BY t", "INSERT INTO t3 SELECT 100, id, t FROM ch RETURNING *", "DELETE FROM t3 WHERE y IN (SELECT id FROM ch) RETURNING x, y"])
        return ["BEGIN", made, "SELECT * FROM t1", "SELECT * FROM t3", "ROLLBACK"]

    def statement(self):
        r = self.r
        if self.chance(0.45):
            made = r.choice([self.recursive, self.distinct_on, self.grouped, self.grouped, self.sets, self.nested_sets, self.change])()
            return made, not isinstance(made, list) and made.startswith("SELECT DISTINCT ON") or isinstance(made, str) and " UNION" in made and False
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


def different(sql, ours, theirs, ordered):
    if ours[0] != theirs[0]:
        return f"{theirs[0]} became {ours[0]}"
    # Types of rows of tables have OIDs that a server gives.
    header = lambda a: [(name, min(oid, FIRST_NORMAL_OID), modifier) for name, oid, modifier in a[1]]
    if header(ours) != header(theirs):
        return "types"
    # Of numerics that are equal, as 1.0 and 1.00, DISTINCT and its kin keep either, and a sort leaves them in any order.
    plain = lambda rows: [tuple(v and re.sub(r"^(-?\d+)(\.\d*?)0*$", lambda m: m[1] + m[2].rstrip("."), v) for v in row) for row in rows]
    if ordered and plain(ours[2]) != plain(theirs[2]):
        return "rows"
    merges = re.search("UNION|INTERSECT|EXCEPT|DISTINCT|GROUP BY", sql)
    rows = lambda x: sorted(map(repr, plain(x) if merges else x))
    return "rows" if rows(ours[2]) != rows(theirs[2]) else None


def run(tally, stoa, oracle, seed, count, stop=None):
    """Compares about `count` queries; see generated.py."""
    make = lambda rng: Make(rng).statement()
    generated.run(tally, stoa, oracle, "rq", seed, count, SETUP, make, different, stop)


if __name__ == "__main__":
    generated.main(__doc__, "queries", run, 1000)
