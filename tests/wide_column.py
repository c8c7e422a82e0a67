#!/usr/bin/env python3
"""Rows and values that end by their age, against a model: two families with a ttl, indexes, searches, CHECK TABLE, reads of the past and
histories, flushes, compactions and restarts. Some tables have rows that end at a time that they say (TTL EXPIRES AT) instead of a first family
with a ttl, and what writes that family says the time again: the model is the same. In some families min_versions keeps the newest value for ever.

    wide_column.py BINARY | DSN [--seconds 20] [--seed 1]

The model knows of each write the times before and after it, and of each read likewise. What may have ended between them, or not, is not
compared: nothing here depends on speed. Each write tells what became of its row; that is compared where it is certain, and taken over
where it is not. A read of the past is right, or an error (72000) where rows have changed too often since. A BINARY is also ended, half of the
times by SIGKILL, and started again.
"""
import argparse, collections, pathlib, random, sys, tempfile, time

import psycopg

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "history"))
from server import Server  # noqa: E402

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
    def __init__(self, connection, seed, server=None):
        self.connection, self.random, self.server = connection, random.Random(seed), server
        pick = self.random.choice
        self.first, self.other = pick([(2, 1), (1, 2), (None, 1), (1, None), (2, 2), (None, None)])
        layout, self.versions = pick(["", "", "layout = cells, "]), pick([1, 3, 3, 20])
        self.unique = pick([True, False])
        self.timed = pick([True, False, False])
        if self.timed:
            self.first, self.other = pick([1, 2]), None
        # Whether values stay that are older than the ttl: the newest of each.
        self.stays = self.versions > 1 and not self.timed and pick([True, False, False])
        # Of UPDATE, and of UPSERT the column and its value.
        self.again, self.column, self.value = (", w = clock_timestamp()", ", w", ", clock_timestamp()") if self.timed else ("", "", "")

        def options(ttl):
            least = f"min_versions = {pick([1, self.versions - 1])}, " if self.stays and ttl else ""
            return f" WITH ({layout}{least}versions = {self.versions}{f', ttl = {ttl}' if ttl else ''})"

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
        if self.stays:
            self.first, self.other = None, None
        self.rows, self.wrong, self.compared, self.number = {}, [], 0, 0
        # Of each key the number of its changes, and what they made of it where rows do not end; times with the rows that were there.
        self.changes, self.told, self.times, self.past = collections.Counter(), collections.defaultdict(list), [], 0

    def run(self, sql):
        """The rows of a statement, as text, or its error; with the times around it."""
        start = time.time()
        try:
            cursor = self.connection.execute(sql)
            rows = cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            rows = error.sqlstate
        return rows, start, time.time()

    def changed(self, key, operation, *values):
        self.changes[key] += 1
        # An update that writes what was there is one without columns that it changed.
        if operation != "update" or self.told[key][-1][1:] != values:
            self.told[key].append((operation, *values))

    def report(self, sql, found, wanted):
        self.wrong.append(f"{self.definition}\n{sql}\n  found  {found}\n  wanted {wanted}")

    def change(self, key, sql, after, assigns, makes, where=lambda row: True):
        """A statement about one row, which gives the row that it wrote. `after(row)` is what becomes of one that exists, `assigns` the
        families that this writes; `makes` is the row that is made of nothing, or None."""
        found, start, end = self.run(sql)
        if found == "23505":
            if not self.unique:
                self.report(sql, found, "no such error")
            return
        self.became(key, sql, found, start, end, after, assigns, makes)

    def became(self, key, sql, found, start, end, after, assigns, makes):
        """What is known of a row behind a statement that gave `found`."""
        old = self.rows.get(key)
        there = old["row"].lives(start, end) if old else False
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
        self.changed(key, "insert" if made else "update", a, b, g)

    def copy(self, key, a, b, g):
        """COPY of one row, which is an error where there is one."""
        start = time.time()
        try:
            with self.connection.cursor().copy("COPY t (id, a, b, g) FROM STDIN") as copy:
                copy.write_row((key, a, b, g))
            found = [(key, a, b, g)]
        except psycopg.Error as error:
            found = error.sqlstate
        end, old = time.time(), self.rows.get(key)
        if found == "23505":
            if (old is None or old["row"].lives(start, end) is False) and not self.unique:
                self.report(f"COPY {key}", found, "no such error")
        elif old and old["row"].lives(start, end):
            self.report(f"COPY {key}", found, "23505")
        else:
            self.rows.pop(key, None)
            self.became(key, f"COPY {key}", found, start, end, None, "", dict(a=a, b=b, g=g))

    def write(self):
        pick, key = self.random.choice, self.random.randint(1, 12)
        self.number += 1
        a, b, g = self.random.randint(0, 5), f"bw{self.number} word", pick([*WORDS, None])
        shown = f"'{g}'" if g else "NULL"
        whole, back = dict(a=a, b=b, g=g), " RETURNING id, a, b, g"
        kind = self.random.random()
        if kind < 0.06:
            self.copy(key, a, b, g)
        elif kind < 0.2:
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
            old = self.rows.pop(key, None)
            if found and old:
                self.changed(key, "delete", old["a"], old["b"], old["g"].value)
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
                self.changed(key, "delete", a, b, g)
                self.changed(to, "insert", a, b, g)

    def note(self):
        """Notes a time, and what is there."""
        (found,), *_ = self.run("SELECT now()::text")
        self.times.append((found[0], time.time(), dict(self.rows), self.changes.copy()))

    def read_past(self):
        """What was there at a noted time is what was noted, as far as it has not ended by now; or it is not known any more."""
        at, noted, then, changes = self.random.choice(self.times[-8:])
        word = self.random.choice(WORDS)
        condition, test = self.random.choice([
            ("", lambda r: True), (" WHERE a = 3", lambda r: r[1] == 3), (f" WHERE g = '{word}'", lambda r: r[4] == word), (" WHERE id < 7", lambda r: r[0] < 7),
            (f" WHERE MATCH(g) AGAINST ('{word}')", lambda r: r[4] == word), (" WHERE g IS NULL", lambda r: r[4] is None)])
        sql = f"SELECT id, a, b, n, g FROM t AS OF SYSTEM TIME '{at}'{condition}"
        found, start, end = self.run(sql)
        if self.timed:
            # Rows end at a time of their own; those that had ended then were not there.
            start = end = noted
        wanted, certain = [], True
        for key, row in sorted(then.items()):
            there, g = row["row"].lives(start, end), row["g"].lives(start, end)
            certain &= there is not None and (not there or g is not None)
            if there:
                wanted.append((key, row["a"], row["b"], None if row["a"] is None else 2 * row["a"], row["g"].value if g else None))
        wanted = [r for r in wanted if test(r)]
        often = max((n - changes[key] for key, n in self.changes.items()), default=0)
        if found == "72000":
            # A row that has ended is swept, which is a change.
            if often + self.timed < self.versions and not self.stays:
                self.report(sql, found, f"{wanted}: no row was changed more than {often} times since, of {self.versions} versions")
        elif certain:
            self.past += 1
            if isinstance(found, str) or sorted(found) != wanted:
                self.report(sql, found, wanted)

    def read_history(self):
        """What was done to a row, as far as it is known: the last of what the model has."""
        key = self.random.randint(1, 20)
        sql = f"SELECT operation, a, b, g FROM stoa_history('t', {key}) WHERE changed IS NULL OR changed <> '{{}}' ORDER BY row_start"
        found, *_ = self.run(sql)
        told = self.told[key]
        # Of a row that was changed as often as versions are kept nobody knows that its first one was the first.
        known = self.changes[key] < self.versions and not self.stays
        if isinstance(found, str):
            return self.report(sql, found, told)
        self.past += bool(found)
        shown = told[len(told) - len(found):] if found else []
        same = [(f[0] or w[0], *f[1:]) == w for f, w in zip(found, shown)]
        if len(found) > len(told) or not all(same) or known and len(found) != len(told) or any(f[0] is None for f in found[not known:]):
            self.report(sql, found, told)

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
            if self.random.random() < 0.2:
                self.note()
        time.sleep(self.random.choice([0, 0, 0.05, 0.3]))
        for _ in range(self.random.randint(1, 8)):
            self.read()
            if self.times and self.random.random() < 0.3:
                self.read_past()
            if (self.first, self.other) == (None, None) and not self.timed and self.versions > 1:
                self.read_history()
        if self.random.random() < 0.2:
            self.check()
        if self.random.random() < 0.1:
            self.run(self.random.choice(["CHECKPOINT", "VACUUM t"]))
        if self.server and self.random.random() < 0.02:
            self.connection.close()
            self.connection = self.server.again(self.random.random() < 0.5)
            self.run("SET search_path = wide")
        if self.timed and self.random.random() < 0.1:
            # What has ended is swept.
            self.run("VACUUM t")


def connect(dsn):
    connection = psycopg.connect(dsn, autocommit=True, connect_timeout=10)
    connection.add_notice_handler(lambda notice: None)
    return connection


def run(dsn, seed, seconds, server=None):
    """The differences found, and how much was compared: of now, and of the past."""
    wrong, compared, past, end = [], 0, 0, time.time() + seconds
    connection = connect(dsn)
    while time.time() < end or (min(compared, past) < 100 and time.time() < end + 100):
        case = Case(connection, seed, server)
        until = time.time() + min(5, seconds)
        while time.time() < until and len(case.wrong) < 3:
            case.step()
        case.check()
        wrong += [f"seed {seed}: {text}" for text in case.wrong]
        compared, past, seed, connection = compared + case.compared, past + case.past, seed + 1, case.connection
    connection.execute("DROP SCHEMA wide CASCADE")
    connection.close()
    return wrong, compared, past


class Restarted(Server):
    def again(self, killed):
        """Ends the server, starts it again on the same directory, and connects. Behind a crash the times of commits are ahead for up to a second."""
        if killed:
            self.kill()
            time.sleep(1.1)
        else:
            self.process.terminate()
            self.process.wait(20)
        self.start()
        return connect(self.dsn)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("server")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not pathlib.Path(args.server).is_file():
        wrong, compared, past = run(args.server, args.seed, args.seconds)
    else:
        with tempfile.TemporaryDirectory(prefix="stoa-wide-column-") as work:
            server = Restarted(args.server, f"{work}/data")
            try:
                wrong, compared, past = run(server.dsn, args.seed, args.seconds, server)
            finally:
                server.process.terminate()
                server.process.wait(20)
    print("\n".join(wrong))
    print(f"wide_column: {compared} compared, {past} of the past, {len(wrong)} wrong")
    return 1 if wrong or not compared or not past else 0


if __name__ == "__main__":
    sys.exit(main())
