#!/usr/bin/env python3
"""Random writes that do not name the table they change: through views, in WITH and at cursors, against PostgreSQL and Stoa.

    writes.py [--oracle DSN] [--dsn DSN] [--seed N] [--count N] [--stop N]

A transaction makes views over a table, one upon the other, with columns renamed, left out, in another order and computed, conditions of
every kind, [LOCAL | CASCADED] CHECK OPTION and defaults of their own, and writes through them: INSERT, ON CONFLICT, UPDATE … FROM, DELETE … USING, RETURNING.
Or its statement has INSERT, UPDATE and DELETE in WITH, which all see the rows of before and read each other by RETURNING alone. Or it
declares cursors, reads them in all directions and changes the row at which one stands. Each statement's answer is compared, and the rows
of all tables at the end. The exit status is 1 if anything differs; XX000 and a lost connection count always.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generated  # noqa: E402

SETUP = [
    "DROP SCHEMA IF EXISTS {schema} CASCADE", "CREATE SCHEMA {schema}", "SET search_path = {schema}",
    "CREATE TABLE t (id int PRIMARY KEY, a int DEFAULT 3, b text DEFAULT 'd' || 1, c numeric(6, 2), d int GENERATED ALWAYS AS (a * 2) STORED, UNIQUE (a, b), CHECK (a < 50))",
    "INSERT INTO t SELECT i, i % 6, 'x' || i, CASE WHEN i % 4 > 0 THEN i / 4.0 END FROM generate_series(1, 12) i",
    "CREATE TABLE u (id int PRIMARY KEY, a int, k text NOT NULL DEFAULT 'k')",
    "INSERT INTO u SELECT i, nullif(i % 5, 3), 'x' || i * 2 FROM generate_series(1, 8) i",
    "CREATE INDEX ON t (a)", "CREATE INDEX ON u (k)",
    "CREATE TABLE log (n int, what text)",
]
TABLES = ["SELECT * FROM t ORDER BY id", "SELECT * FROM u ORDER BY id", "SELECT * FROM log ORDER BY n, what"]
# The columns of a table by kind.
COLUMNS = {"t": {"id": "key", "a": "int", "b": "text", "c": "number", "d": "computed"}, "u": {"id": "key", "a": "int", "k": "text"}}


class View:
    """A view that can be written: its name, and by the names of its columns their kinds."""

    def __init__(self, name, columns):
        self.name, self.columns = name, columns

    def of(self, *kinds):
        return [name for name, kind in self.columns.items() if kind in kinds]


class Make:
    def __init__(self, rng):
        self.r, self.names = rng, 0

    def chance(self, p):
        return self.r.random() < p

    def value(self, kind):
        r = self.r
        return {
            "key": lambda: r.choice([str(r.randrange(1, 16)), "DEFAULT"] if self.chance(0.05) else [str(r.randrange(1, 20))]),
            "int": lambda: r.choice(["NULL", "0", "1", "2", "3", "4", "7", "60"]),
            "text": lambda: r.choice(["NULL", "'x2'", "'x4'", "'k'", "''", "'new'"]),
            "number": lambda: r.choice(["NULL", "0.5", "1", "2.005", "-3"]),
            "computed": lambda: r.choice(["1", "NULL"]),
        }[kind]()

    def cond(self, view, prefix="", depth=1):
        """A condition on the columns of a view."""
        r = self.r
        name = prefix + r.choice(list(view.columns))
        kind = view.columns[name[len(prefix):]]
        if depth and self.chance(0.3):
            return f"({self.cond(view, prefix, depth - 1)} {r.choice(['AND', 'OR'])} {self.cond(view, prefix, depth - 1)})"
        if kind == "text":
            return r.choice([f"{name} > 'x3'", f"{name} LIKE 'x%'", f"{name} IN ('x2', 'new', NULL)", f"{name} IS NOT NULL", f"length({name}) = 2", f"{name} = (SELECT min(k) FROM u)"])
        low = r.randrange(0, 9)
        return r.choice([f"{name} > {low}", f"{name} <= {low}", f"{name} = {low}", f"{name} <> {low}", f"{name} IN ({low}, {low + 1}, {low + 4})", f"{name} IS NULL", f"{name} BETWEEN {low} AND {low + 5}",
                         f"{name} % 2 = {low % 2}", f"{name} = ANY (SELECT u.a FROM u)", f"EXISTS (SELECT 1 FROM u WHERE u.id = {name})", f"NOT {name} > {low}"])

    def view(self, of):
        """(CREATE VIEW, View) over a table or a view."""
        r = self.r
        self.names += 1
        name, taken, items, columns = f"v{self.names}", list(of.columns), [], {}
        if self.chance(0.4):
            r.shuffle(taken)
        if self.chance(0.3) and len(taken) > 2:
            taken.remove(r.choice([c for c in taken if of.columns[c] != "key"]))
        for column in taken:
            renamed = f"{column}{self.names}" if self.chance(0.4) else column
            items.append(column if renamed == column else f"{column} AS {renamed}")
            columns[renamed] = of.columns[column]
        if self.chance(0.3) and of.of("int"):
            items.append(f"{r.choice(of.of('int'))} + 1 AS e{self.names}")
            columns[f"e{self.names}"] = "computed"
        where = f" WHERE {self.cond(of)}" if self.chance(0.7) else ""
        check = r.choice(["", "", " WITH CHECK OPTION", " WITH LOCAL CHECK OPTION", " WITH CASCADED CHECK OPTION"])
        more = " WITH (security_barrier)" if self.chance(0.1) else ""
        alias = " AS s" if self.chance(0.2) else ""
        return f"CREATE VIEW {name}{more} AS SELECT {', '.join(items)} FROM {of.name}{alias}{where}{check}", View(name, columns)

    def returning(self, view, more=()):
        items = [*self.r.sample(list(view.columns), self.r.randrange(1, len(view.columns) + 1)), *more]
        return self.r.choice(["", " RETURNING *", f" RETURNING {', '.join(items)}"])

    def insert(self, view):
        r = self.r
        columns = [c for c in view.columns if view.columns[c] != "computed" or self.chance(0.03)]
        if self.chance(0.4) and len(columns) > 1:
            columns = r.sample(columns, r.randrange(1, len(columns)))
        kinds = [view.columns[c] for c in columns]
        rows = ", ".join(f"({', '.join(self.value(kind) if not self.chance(0.07) else 'DEFAULT' for kind in kinds)})" for _ in range(r.choice([1, 1, 1, 2, 3])))
        source = f"VALUES {rows}"
        if self.chance(0.2):
            source = "SELECT " + ", ".join({"key": "id + 10", "int": "a", "text": "k", "number": "a / 2.0", "computed": "1"}[kind] for kind in kinds) + f" FROM u WHERE id > {r.randrange(1, 8)}"
        conflict = ""
        keys = view.of("key")
        if keys and self.chance(0.5):
            target = r.choice(columns)
            to = r.choice([f"{target} = excluded.{target}", f"{target} = {view.name}.{target}", f"{target} = DEFAULT", f"{target} = {self.value(view.columns[target])}"])
            where = f" WHERE {self.cond(view, r.choice(['excluded.', view.name + '.']))}" if self.chance(0.4) else ""
            conflict = r.choice([f" ON CONFLICT ({keys[0]}) DO NOTHING", " ON CONFLICT DO NOTHING", f" ON CONFLICT ({keys[0]}) DO UPDATE SET {to}{where}", f" ON CONFLICT ({keys[0]}) DO UPDATE SET {to}{where}"])
        return f"INSERT INTO {view.name} ({', '.join(columns)}) {source}{conflict}{self.returning(view)}"

    def assignments(self, view, prefix="", refused=0.06):
        columns = [c for c in view.columns if view.columns[c] not in ("computed", "key") or self.chance(refused)] or list(view.columns)
        taken = self.r.sample(columns, min(len(columns), self.r.choice([1, 1, 2])))
        new = lambda c: self.r.choice([self.value(view.columns[c]), "DEFAULT", f"{prefix}{c}", *({"int": [f"{prefix}{c} + 1", f"{prefix}{c} * 2"], "text": [f"{prefix}{c} || 'y'"], "number": [f"{prefix}{c} + 0.333"]}.get(view.columns[c], []))])
        return ", ".join(f"{c} = {new(c)}" for c in taken)

    def update(self, view):
        if self.chance(0.2) and view.of("key"):
            key = view.of("key")[0]
            return f"UPDATE {view.name} w SET {self.assignments(view, 'w.')} FROM u q WHERE q.id = w.{key} AND {self.cond(view, 'w.')}{self.r.choice(['', f' RETURNING w.{key}, q.k'])}"
        return f"UPDATE {view.name} SET {self.assignments(view)} WHERE {self.cond(view)}{self.returning(view)}"

    def delete(self, view):
        if self.chance(0.2) and view.of("key"):
            key = view.of("key")[0]
            return f"DELETE FROM {view.name} w USING u q WHERE q.id = w.{key} AND {self.cond(view, 'w.')}{self.r.choice(['', f' RETURNING w.{key}, q.k'])}"
        return f"DELETE FROM {view.name} WHERE {self.cond(view)}{self.returning(view)}"

    def through_views(self):
        views, statements = [View("t", COLUMNS["t"])], []
        for _ in range(self.r.choice([1, 2, 2, 3])):
            made, view = self.view(self.r.choice(views[-2:]))
            views.append(view)
            statements.append(made)
        if self.chance(0.25):
            view = self.r.choice(views[1:])
            column = self.r.choice([c for c in view.columns if view.columns[c] != "computed"])
            statements.append(f"ALTER VIEW {view.name} ALTER {column} SET DEFAULT {self.r.choice(['7', 'NULL'])}")
        for _ in range(self.r.choice([1, 2, 3])):
            view = self.r.choice(views[1:])
            statements.append(self.r.choice([self.insert, self.insert, self.update, self.delete])(view))
            if self.chance(0.2):
                statements.append(f"SELECT * FROM {self.r.choice(views).name}")
        return statements

    def in_with(self):
        r = self.r
        tables = [View("t", COLUMNS["t"]), View("u", COLUMNS["u"])]
        parts, names, logged = [], [], 0
        for n in range(r.choice([1, 2, 2, 3])):
            # Two parts that change one row of a table: which of them does is not said, so each table is changed by one part.
            kind = r.choice(["select", "write", "write", "log"])
            if kind == "write" and tables:
                table = tables.pop(r.randrange(len(tables)))
                statement = r.choice([self.insert, self.update, self.delete])(table)
                if " RETURNING" not in statement:
                    statement += f" RETURNING {table.name}.id, {table.name}.a"
                elif " RETURNING *" not in statement or " w " in statement:
                    statement = statement[:statement.rindex(" RETURNING")] + (" RETURNING w.id, w.a" if " w " in statement else " RETURNING id, a")
            elif kind == "log" and names and not logged:
                logged = 1
                statement = f"INSERT INTO log SELECT id, '{n}' || coalesce(a::text, '-') FROM {r.choice(names)} RETURNING n AS id, length(what) AS a"
            else:
                statement = f"SELECT id, a FROM {r.choice([*names, 't', 'u'])} WHERE id > {r.randrange(8)}"
            names.append(f"p{n}")
            parts.append(f"p{n} AS {r.choice(['', '', 'MATERIALIZED ']) if statement.startswith('SELECT') else ''}({statement})")
        end = r.choice([
            f"SELECT * FROM {r.choice(names)}", f"SELECT count(*), sum(id), sum(a) FROM {r.choice(names)}", f"SELECT x.id, t.a FROM {r.choice(names)} x LEFT JOIN t ON t.id = x.id",
            f"SELECT id FROM {r.choice(names)} LIMIT 1 OFFSET 100", f"SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u), (SELECT count(*) FROM log), (SELECT max(id) FROM {r.choice(names)})",
            *([f"INSERT INTO log SELECT id, 'end' FROM {r.choice(names)} RETURNING *"] if not logged else []),
            *[f"DELETE FROM {t.name} WHERE id IN (SELECT id + 1 FROM {r.choice(names)}) RETURNING *" for t in tables],
            *[f"UPDATE {t.name} SET a = x.a FROM {r.choice(names)} x WHERE x.id = {t.name}.id + 1 RETURNING {t.name}.*" for t in tables]])
        return [f"WITH {', '.join(parts)} {end}"]

    def at_cursors(self):
        r = self.r
        written = self.chance(0.5)
        if written:
            query = f"SELECT * FROM t WHERE {self.cond(View('t', COLUMNS['t']))} ORDER BY id"
            statements = [f"DECLARE x {r.choice(['', 'NO SCROLL '])}CURSOR FOR {query} FOR UPDATE"]
        else:
            query = r.choice([f"SELECT id, a FROM t WHERE {self.cond(View('t', COLUMNS['t']))} ORDER BY id", "SELECT a, count(*) FROM t GROUP BY a ORDER BY a", "SELECT t.id, u.k FROM t JOIN u USING (id) ORDER BY id",
                              "SELECT g FROM generate_series(1, 7) g", "VALUES (1, 'a'), (2, 'b'), (3, NULL)", "SELECT id, sum(a) OVER (ORDER BY id) FROM u ORDER BY id"])
            statements = [f"DECLARE x {r.choice(['SCROLL ', 'INSENSITIVE SCROLL '])}CURSOR {r.choice(['', '', 'WITH HOLD '])}FOR {query}"]
        for _ in range(r.randrange(2, 8)):
            n = r.choice([0, 1, 1, 2, 3, -1, -2, 50])
            go = r.choice(["NEXT", "", f"{abs(n)}", f"FORWARD {abs(n)}", "ALL"]) if written else r.choice(
                ["NEXT", "PRIOR", "FIRST", "LAST", f"ABSOLUTE {n}", f"RELATIVE {n}", str(n), "ALL", "FORWARD", f"FORWARD {n}", "FORWARD ALL", "BACKWARD", f"BACKWARD {n}", "BACKWARD ALL"])
            statements.append(f"{r.choice(['FETCH', 'FETCH', 'FETCH', 'MOVE'])} {go}{' FROM' if go else ''} x")
            if written and self.chance(0.5):
                statements.append(r.choice([f"UPDATE t SET {self.assignments(View('t', COLUMNS['t']), refused=0)} WHERE CURRENT OF x RETURNING *", "DELETE FROM t WHERE CURRENT OF x RETURNING id"]))
            elif self.chance(0.1):
                statements.append(r.choice([f"DELETE FROM t WHERE id = {r.randrange(1, 13)}", f"UPDATE u SET a = 9 WHERE id = {r.randrange(1, 9)}", f"INSERT INTO t (id) VALUES ({r.randrange(1, 20)}) ON CONFLICT DO NOTHING"]))
        return statements

    def transaction(self):
        return ["BEGIN", *self.r.choice([self.through_views, self.through_views, self.in_with, self.at_cursors])(), *TABLES, "ROLLBACK"]


# Which of several rows fails, and by which of its conditions, is a matter of the order in which they are checked.
ONE_OF = {"21000", "23502", "23505", "23514", "44000", "55000"}


def different(sql, ours, theirs, _):
    if ours[0] != theirs[0] and not {ours[0], theirs[0]} <= ONE_OF:
        return f"{theirs[0]} became {ours[0]}"
    ordered = sql in TABLES or sql.startswith(("FETCH", "MOVE"))
    rows = (lambda answer: answer[2]) if ordered else (lambda answer: sorted(map(repr, answer[2])))
    return None if rows(ours) == rows(theirs) else f"rows of {sql.split()[0]}"


def made(rng):
    return Make(rng).transaction(), False


def run(tally, stoa, oracle, seed, count, stop=None):
    """Compares about `count` statements; see generated.py."""
    generated.run(tally, stoa, oracle, "writes", seed, count, SETUP, made, different, stop)


if __name__ == "__main__":
    generated.main(__doc__, "writes", run, 2000)
