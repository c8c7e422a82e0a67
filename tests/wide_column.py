#!/usr/bin/env python3
"""Rows and values that end by their age, against a model: two families with a ttl, indexes, searches, CHECK TABLE. Some tables have rows that
end at a time that they say (TTL EXPIRES AT) instead of a first family with a ttl, and what writes that family says the time again: the model is
the same.

    wide_column.py BINARY | DSN [--seconds 20] [--seed 1]

The model knows of each write the times before and after it, and of each read likewise. What may have ended between them, or not, is not
compared: nothing here depends on speed. Each write tells what became of its row; that is compared where it is certain, and taken over
where it is not.
"""
import argparse, pathlib, random, socket, subprocess, sys, tempfile, time

import psycopg

# The clocks of the test and the server are one; timestamps of commits may run ahead by a little.
MARGIN = 0.02
WORDS = [f"gw{n}" for n in range(5)]


class Value:
    """A value, or a whole row, with the times around the commit that wrote it."""

    def __init__(self, value, before, after, ttl):
        self.value, self.before, self.after, self.ttl = value, before, after, ttl

    def lives(self, start, end):
        """Whether it is there for a statement that ran between two times; None if that is not certain."""
        if self.ttl is None or end - self.before < self.ttl - MARGIN:
            return True
        return False if start - self.after > self.ttl + MARGIN else None


class Case:
    def __init__(self, connection, seed):
        self.connection, self.random = connection, random.Random(seed)
        pick = self.random.choice
        self.first, self.other = pick([(2, 1), (1, 2), (None, 1), (1, None), (2, 2)])
        layout, versions = pick(["", "", "layout = cells, "]), pick(["", "", "versions = 3, "])
        self.unique = pick([True, False])
        self.timed = pick([True, False, False])
        if self.timed:
            self.first, self.other = pick([1, 2]), None
        # Of UPDATE, and of UPSERT the column and its value.
        self.again, self.column, self.value = (", w = clock_timestamp()", ", w", ", clock_timestamp()") if self.timed else ("", "", "")

        def options(ttl):
            text = (layout + versions + (f"ttl = {ttl}" if ttl else "")).rstrip(", ")
            return f" WITH ({text})" if text else ""

        self.definition = (
            f"CREATE TABLE t (id int, a int, b text, n int GENERATED ALWAYS AS (a * 2) STORED, g text, PRIMARY KEY ({pick(['id', 'id DESC'])}), "
            f"FAMILY f (a, b, n){options(self.first)}, FAMILY g (g){options(self.other)}){pick(['', ' WITH (salt_buckets = 3)'])}"
        )
        if self.timed:
            self.definition = (
                f"CREATE TABLE t (id int, a int, b text, n int GENERATED ALWAYS AS (a * 2) STORED, g text, w timestamptz DEFAULT clock_timestamp(), "
                f"PRIMARY KEY ({pick(['id', 'id DESC'])}), FAMILY f (a, b, n, w){options(None)}, FAMILY g (g){options(None)})"
                f"{pick(['', ' WITH (salt_buckets = 3)'])} TTL EXPIRES AT w + interval '{self.first} s'"
            )
        self.run("DROP SCHEMA IF EXISTS wide CASCADE")
        self.run("CREATE SCHEMA wide")
        self.run("SET search_path = wide")
        self.run(self.definition)
        indexes = ["INDEX t_a ON t (a)", "INDEX t_g ON t (g) INCLUDE (a)", "UNIQUE INDEX t_b ON t (b)", "INDEX t_p ON t (id) WHERE g IS NOT NULL",
                   "INDEX t_e ON t (lower(g)) INCLUDE (g) WHERE a > 2", "INDEX t_fb ON t USING fulltext (b)", "INDEX t_fg ON t USING fulltext (g)",
                   "INDEX t_fp ON t USING fulltext (b) WITH (tokenizer = 'whitespace') WHERE g IS NOT NULL", "INDEX t_v ON t USING gin (to_tsvector('simple', coalesce(g, 'none')))"]
        if self.unique:
            indexes.append("UNIQUE INDEX t_u ON t (g)")
        for index in indexes:
            self.run("CREATE " + index)
        self.rows, self.wrong, self.compared, self.number = {}, [], 0, 0

    def run(self, sql):
        """The rows of a statement, as text, or its error; with the times around it."""
        start = time.time()
        try:
            cursor = self.connection.execute(sql)
            rows = cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            rows = error.sqlstate
        return rows, start, time.time()

    def report(self, sql, found, wanted):
        self.wrong.append(f"{self.definition}\n{sql}\n  found  {found}\n  wanted {wanted}")

    def change(self, key, sql, after, assigns, makes, where=lambda row: True):
        """A statement about one row, which gives the row that it wrote. `after(row)` is what becomes of one that exists, `assigns` the
        families that this writes; `makes` is the row that is made of nothing, or None."""
        found, start, end = self.run(sql)
        old = self.rows.get(key)
        there = old["row"].lives(start, end) if old else False
        if found == "23505":
            if not self.unique:
                self.report(sql, found, "no such error")
            return
        if isinstance(found, str):
            return self.report(sql, found, "no error")
        g = old["g"].lives(start, end) if old and there is not False else False
        wanted = []
        if there is not False:
            for value in {True: [old["g"].value], False: [None], None: [old["g"].value, None]}[g]:
                state = dict(a=old["a"], b=old["b"], g=value)
                wanted.append([(key, *(after(state)[c] for c in "abg"))] if after else [])
        if there is not True:
            wanted.append([(key, *(makes[c] for c in "abg"))] if makes else [])
        self.compared += there is not None and g is not None
        if found not in wanted:
            return self.report(sql, found, wanted)
        if not found:
            # Nothing was written: as it was, or not there.
            if there is None and after:
                del self.rows[key]
            return
        made = there is False or (there is None and makes and found == wanted[-1])
        _, a, b, g = found[0]
        new = dict(a=a, b=b)
        new["row"] = Value(True, start, end, self.first) if made or "f" in assigns else old["row"]
        if made and there is None and "f" not in assigns and found in wanted[:-1]:
            # A row of NULLs that may be as old as before, or new.
            new["row"] = Value(True, old["row"].before, end, self.first)
        new["g"] = Value(g, start, end, self.other) if made or "g" in assigns else old["g"]
        self.rows[key] = new

    def write(self):
        pick, key = self.random.choice, self.random.randint(1, 12)
        self.number += 1
        a, b, g = self.random.randint(0, 5), f"bw{self.number} word", pick([*WORDS, None])
        shown = f"'{g}'" if g else "NULL"
        whole, back = dict(a=a, b=b, g=g), " RETURNING id, a, b, g"
        kind = self.random.random()
        if kind < 0.2:
            self.change(key, f"INSERT INTO t VALUES ({key}, {a}, '{b}', DEFAULT, {shown}) ON CONFLICT (id) DO NOTHING{back}", None, "", whole)
        elif kind < 0.3:
            sql = f"INSERT INTO t VALUES ({key}, {a}, '{b}', DEFAULT, {shown}) ON CONFLICT (id) DO UPDATE SET g = excluded.g{back}"
            self.change(key, sql, lambda row: row | dict(g=g), "g", whole)
        elif kind < 0.42:
            self.change(key, f"UPDATE t SET a = {a}{self.again} WHERE id = {key}{back}", lambda row: row | dict(a=a), "f", None)
        elif kind < 0.54:
            self.change(key, f"UPDATE t SET g = {shown} WHERE id = {key}{back}", lambda row: row | dict(g=g), "g", None)
        elif kind < 0.62:
            self.change(key, f"UPSERT INTO t (id, a, b, g{self.column}) VALUES ({key}, {a}, '{b}', {shown}{self.value}){back}", lambda row: whole, "fg", whole)
        elif kind < 0.72:
            self.change(key, f"UPSERT INTO t (id, g) VALUES ({key}, {shown}){back}", lambda row: row | dict(g=g), "g", dict(a=None, b=None, g=g))
        elif kind < 0.82:
            self.change(key, f"UPSERT INTO t (id, a{self.column}) VALUES ({key}, {a}{self.value}){back}", lambda row: row | dict(a=a), "f", dict(a=a, b=None, g=None))
        elif kind < 0.87:
            self.change(key, f"UPSERT INTO t (id) VALUES ({key}){back}", lambda row: row, "", dict(a=None, b=None, g=None))
        elif kind < 0.95:
            found, start, end = self.run(f"DELETE FROM t WHERE id = {key} RETURNING id")
            there = self.rows[key]["row"].lives(start, end) if key in self.rows else False
            if there is not None and found != [(key,)][:there]:
                self.report(f"DELETE {key}", found, there)
            self.rows.pop(key, None)
        else:
            # What moves is written anew.
            to = self.random.randint(13, 20)
            found, start, end = self.run(f"UPDATE t SET id = {to}{self.again} WHERE id = {key} AND NOT EXISTS (SELECT FROM t WHERE id = {to}){back}")
            if isinstance(found, str):
                return self.report(f"UPDATE id {key} to {to}", found, "no error")
            if found:
                _, a, b, g = found[0]
                old = self.rows.pop(key, None)
                if old is None or old["row"].lives(start, end) is False or (old["a"], old["b"]) != (a, b):
                    self.report(f"UPDATE id {key} to {to}", found, old)
                self.rows[to] = dict(a=a, b=b, row=Value(True, start, end, self.first), g=Value(g, start, end, self.other))

    def read(self):
        word, written = self.random.choice(WORDS), f"bw{self.number - self.random.randint(0, 9)}"
        has = lambda text, *words: text is not None and any(w in text.split() for w in words)
        every = "id, a, b, n, g"
        queries = [
            (f"SELECT {every} FROM t", lambda r: r, lambda r: True),
            (f"SELECT /*+ INDEX(t t_a) */ id FROM t WHERE a = 3", lambda r: r[:1], lambda r: r[1] == 3),
            (f"SELECT /*+ INDEX(t t_g) */ id, g FROM t WHERE g = '{word}'", lambda r: (r[0], r[4]), lambda r: r[4] == word),
            (f"SELECT /*+ INDEX(t t_e) */ id FROM t WHERE lower(g) = '{word}' AND a > 2", lambda r: r[:1], lambda r: r[4] == word and (r[1] or 0) > 2),
            (f"SELECT /*+ INDEX(t t_p) */ id FROM t WHERE g IS NOT NULL AND id > 3", lambda r: r[:1], lambda r: r[4] is not None and r[0] > 3),
            (f"SELECT id FROM t WHERE g IS NULL", lambda r: r[:1], lambda r: r[4] is None),
            (f"SELECT {every} FROM t WHERE MATCH(b) AGAINST ('word')", lambda r: r, lambda r: has(r[2], "word")),
            (f"SELECT id, snippet(g) FROM t WHERE MATCH(g) AGAINST ('{word} gw9')", lambda r: (r[0], f"<b>{r[4]}</b>"), lambda r: has(r[4], word)),
            (f"SELECT /*+ INDEX(t t_fg) */ id FROM t WHERE MATCH(g) AGAINST ('+gw* -{word}')", lambda r: r[:1], lambda r: r[4] is not None and r[4] != word),
            (f"SELECT id FROM t WHERE MATCH(g) AGAINST ('-{word}')", lambda r: r[:1], lambda r: r[4] != word),
            (f"SELECT id FROM t WHERE NOT MATCH(g) AGAINST ('{word}')", lambda r: r[:1], lambda r: r[4] != word),
            (f"SELECT id FROM t WHERE MATCH(b) AGAINST ('word') AND MATCH(g) AGAINST ('{word}')", lambda r: r[:1], lambda r: has(r[2], "word") and r[4] == word),
            (f"SELECT id, score(t) > 0 FROM t WHERE MATCH(g) AGAINST ('{word}') ORDER BY score(t) DESC", lambda r: (r[0], True), lambda r: r[4] == word),
            (f"SELECT id, score(t) > 0 FROM t WHERE MATCH(b) AGAINST ('{written}') OR MATCH(g) AGAINST ('{word}') ORDER BY score(t) DESC", lambda r: (r[0], True), lambda r: has(r[2], written) or r[4] == word),
            (f"SELECT id FROM t WHERE (MATCH(b) AGAINST ('{written}') OR MATCH(g) AGAINST ('{word}')) AND MATCH(g) AGAINST ('gw*') AND a > 1", lambda r: r[:1], lambda r: (has(r[2], written) or r[4] == word) and r[4] is not None and (r[1] or 0) > 1),
            (f"SELECT id FROM t WHERE MATCH(b) AGAINST ('word') AND g IS NOT NULL", lambda r: r[:1], lambda r: has(r[2], "word") and r[4] is not None),
            (f"SELECT id FROM t WHERE to_tsvector('simple', coalesce(g, 'none')) @@ 'none'", lambda r: r[:1], lambda r: r[4] is None),
            (f"SELECT id FROM t WHERE to_tsvector('simple', coalesce(g, 'none')) @@ '!{word}'", lambda r: r[:1], lambda r: r[4] != word),
        ]
        sql, shape, condition = self.random.choice(queries)
        counted = self.random.random()
        best = sql.startswith(f"SELECT {every} FROM t WHERE MATCH(b)") and counted < 0.6
        if best:
            sql = "SELECT id FROM t WHERE MATCH(b) AGAINST ('word') ORDER BY score(t) DESC" + self.random.choice(["", ", id"]) + " LIMIT 3"
        elif counted < 0.15 and "snippet" not in sql and "ORDER" not in sql:
            sql = f"SELECT count(*) FROM ({sql}) q"
        found, start, end = self.run(sql)
        rows = []
        for key, row in sorted(self.rows.items()):
            there, g = row["row"].lives(start, end), row["g"].lives(start, end)
            if there is None or (there and g is None):
                return
            if there:
                rows.append((key, row["a"], row["b"], None if row["a"] is None else 2 * row["a"], row["g"].value if g else None))
        self.compared += 1
        wanted = [shape(r) for r in rows if condition(r)]
        if best:
            keys = {r[0] for r in wanted}
            if isinstance(found, str) or len(found) != min(3, len(keys)) or not keys.issuperset(k for k, in found):
                self.report(sql, found, f"three of {keys}")
        elif sql.startswith("SELECT count"):
            if found != [(len(wanted),)]:
                self.report(sql, found, len(wanted))
        elif isinstance(found, str) or sorted(found, key=str) != sorted(wanted, key=str):
            self.report(sql, found, wanted)

    def check(self):
        for sql in ["CHECK TABLE t", "CHECK INDEX t_g", "CHECK INDEX t_fg"]:
            found, *_ = self.run(sql)
            if found:
                self.report(sql, found, "no fault")
        found, *_ = self.run("SELECT * FROM pg_stat_index_check WHERE relname = 't' AND (faults > 0 OR failure IS NOT NULL)")
        if found:
            self.report("pg_stat_index_check", found, "no fault")

    def step(self):
        for _ in range(self.random.randint(1, 8)):
            self.write()
        time.sleep(self.random.choice([0, 0, 0.05, 0.3]))
        for _ in range(self.random.randint(1, 8)):
            self.read()
        if self.random.random() < 0.2:
            self.check()
        if self.timed and self.random.random() < 0.1:
            # What has ended is swept.
            self.run("VACUUM t")


def run(dsn, seed, seconds):
    """The differences found, and how much was compared."""
    wrong, compared, end = [], 0, time.time() + seconds
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        connection.add_notice_handler(lambda notice: None)
        while time.time() < end or (compared < 100 and time.time() < end + 100):
            case = Case(connection, seed)
            until = time.time() + min(5, seconds)
            while time.time() < until and len(case.wrong) < 3:
                case.step()
            case.check()
            wrong += [f"seed {seed}: {text}" for text in case.wrong]
            compared, seed = compared + case.compared, seed + 1
        connection.execute("DROP SCHEMA wide CASCADE")
    return wrong, compared


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("server")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not pathlib.Path(args.server).is_file():
        wrong, compared = run(args.server, args.seed, args.seconds)
    else:
        with tempfile.TemporaryDirectory(prefix="stoa-wide-column-") as work:
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                port = s.getsockname()[1]
            server = subprocess.Popen([args.server, "serve", "--data", f"{work}/data", "--listen", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
            try:
                for _ in range(600):
                    try:
                        socket.create_connection(("127.0.0.1", port), 1).close()
                        break
                    except OSError:
                        time.sleep(0.05)
                wrong, compared = run(f"host=127.0.0.1 port={port} user=stoa dbname=stoa", args.seed, args.seconds)
            finally:
                server.terminate()
                server.wait(20)
    print("\n".join(wrong))
    print(f"wide_column: {compared} compared, {len(wrong)} wrong")
    return 1 if wrong or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
