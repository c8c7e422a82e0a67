#!/usr/bin/env python3
"""A table whose families have plain values, beside one of the same columns that has not: random statements change both alike, and whatever
they are asked they say alike.

    plain_values.py BINARY [--steps 600] [--seed 1] [--store URL]

Rows are written one by one and by hundreds, by COPY, in transactions that are rolled back as well; columns come, go, are renamed, get other types and the
names of columns that are gone; families get cells of another kind; indexes are made and dropped; the server is killed and started again. At the end
a dump of both, loaded elsewhere, holds the same rows.
"""
import argparse, contextlib, pathlib, random, subprocess, sys, tempfile

import psycopg
from psycopg.types.string import TextLoader

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "history"))
from server import Server  # noqa: E402

# A type, and values of it. All orders of the tests are by the key.
TYPES = {
    "smallint": ["0", "-1", "32767"], "int": ["1", "-2147483648", "77"], "bigint": ["9223372036854775807", "-5"], "real": ["1.5", "'NaN'", "-0.25"],
    "double precision": ["20.5", "'-Infinity'", "1e300"], "boolean": ["true", "false"], "text": ["''", "'a'", "'größer als zwölf Byte'"],
    "varchar(20)": ["'x'", "'  '"], "char(4)": ["'ab'", "''"], "bytea": [r"'\x'", r"'\x00ff00'"], "numeric": ["1.00", "1e-30", "'Infinity'"],
    "numeric(12,3)": ["1.5", "-99.125"], "date": ["'2024-02-29'", "'infinity'", "'0044-03-15 BC'"], "time": ["'24:00'", "'01:02:03.5'"],
    "timestamp": ["'2024-02-29 12:00:00.25'", "'-infinity'"], "timestamptz": ["'2024-05-01 10:00Z'", "'1999-12-31 23:59:59+00'"],
    "interval": ["'1 mon -3 days 04:05:06.7'", "'0'"], "uuid": ["'00000000-0000-0000-0000-00000000000a'"], "jsonb": ["'{\"a\": [1, 2.50]}'", "'null'"],
    "json": ["'{ \"a\":1}'"], "int[]": ["'{1,NULL,3}'", "'{}'"], "text[]": ["'[0:1]={a,\"b c\"}'"], "timestamp[]": ["'{2024-02-29,infinity}'"],
    "tsvector": ["'a:1 b:2'"], "oid": ["4294967295"],
}
# Values that Python lacks are compared as their texts.
for name in ("date", "time", "timestamp", "timestamptz", "interval"):
    for oid in (psycopg.adapters.types[name].oid, psycopg.adapters.types[name].array_oid):
        psycopg.adapters.register_loader(oid, TextLoader)
# To which types columns are changed, with all their values.
CHANGES = {"smallint": ["int", "bigint", "text", "numeric"], "int": ["bigint", "text"], "varchar(20)": ["text"], "text": ["varchar(90)", "text"],
           "numeric(12,3)": ["numeric", "text"], "date": ["timestamp", "text"], "boolean": ["text"], "real": ["double precision"], "uuid": ["text"]}
NAMES = [f"c{n}" for n in range(9)]


class Both:
    def __init__(self, server, chance):
        self.server, self.random = server, chance
        self.columns = {"c0": "int", "c1": "text"}
        self.indexes = 0
        self.connect()

    def connect(self):
        self.c = psycopg.connect(self.server.dsn, autocommit=True)

    def run(self, sql, *args):
        """The statement for both tables; what both say."""
        said = []
        for table in ("own", "plain"):
            within = self.c.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
            try:
                with self.c.transaction() if within else contextlib.nullcontext():
                    cursor = self.c.execute(sql.replace("@T", table), *args)
                said.append((cursor.statusmessage, sorted(map(repr, cursor.fetchall())) if cursor.description else None))
            except psycopg.Error as error:
                said.append((error.sqlstate, str(error).replace(table, "@T").splitlines()[0]))
        assert said[0] == said[1], f"{sql}:\n{said[0]}\n{said[1]}"
        return said[0]

    def value(self, name):
        return "NULL" if self.random.random() < 0.3 else self.random.choice(TYPES.get(self.columns[name], TYPES["text"]))

    def row(self, key):
        return f"({key}, {', '.join(self.value(name) for name in self.columns)})" if self.columns else f"({key})"

    def some(self):
        return self.random.sample(list(self.columns), self.random.randint(1, len(self.columns)))

    def key(self):
        return self.random.randint(1, 60)

    def range(self):
        low = self.key()
        return f"id BETWEEN {low} AND {low + self.random.choice([0, 0, 3, 30])}"

    def write(self):
        names = ", ".join(["id", *self.columns])
        kind = self.random.random()
        if kind < 0.3:
            keys = self.random.sample(range(1, 61), self.random.choice([1, 1, 5]))
            self.run(f"INSERT INTO @T ({names}) VALUES {', '.join(self.row(key) for key in keys)} ON CONFLICT (id) DO NOTHING")
        elif kind < 0.5 and self.columns:
            some = self.some()
            self.run(f"UPSERT INTO @T (id, {', '.join(some)}) VALUES ({self.key()}, {', '.join(map(self.value, some))})")
        elif kind < 0.8 and self.columns:
            self.run(f"UPDATE @T SET {', '.join(f'{name} = {self.value(name)}' for name in self.some())} WHERE {self.range()}")
        elif kind < 0.9:
            self.run(f"DELETE FROM @T WHERE {self.range()}")
        else:
            self.run(f"INSERT INTO @T (id) VALUES ({self.key()})")

    def transaction(self):
        self.c.execute("BEGIN")
        key = self.key()
        # A row that goes and comes back at once, with other columns.
        self.run(f"DELETE FROM @T WHERE id = {key}")
        if self.random.random() < 0.7:
            names = self.some() if self.columns else []
            self.run(f"INSERT INTO @T ({', '.join(['id', *names])}) VALUES ({', '.join([str(key), *map(self.value, names)])})")
        self.c.execute("SAVEPOINT s")
        self.write() if self.c.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS else None
        self.c.execute("ROLLBACK TO s") if self.random.random() < 0.5 else None
        self.look()
        self.c.execute(self.random.choice(["COMMIT", "COMMIT", "ROLLBACK"]))

    def copy(self):
        lines = [f"{n}\t{n}\n" for n in range(1000, 1000 + self.random.choice([1, 300]))]
        name = next((name for name, ty in self.columns.items() if ty in ("int", "bigint", "text", "numeric")), None)
        if name is None:
            return
        for table in ("own", "plain"):
            with self.c.cursor().copy(f"COPY {table} (id, {name}) FROM STDIN") as copy:
                for line in lines:
                    copy.write(line)
        self.look()
        self.run("DELETE FROM @T WHERE id >= 1000")

    def altered(self, sql):
        said = self.run(sql)
        assert said == ("ALTER TABLE", None), f"{sql}: {said}"

    def alter(self):
        kind = self.random.random()
        if kind < 0.45 or not self.columns:
            free = [name for name in NAMES if name not in self.columns]
            if not free:
                return
            name, ty = self.random.choice(free), self.random.choice(list(TYPES))
            default = f" DEFAULT {self.random.choice(TYPES[ty])}" if self.random.random() < 0.5 else ""
            # A name that the cells of a renamed column bear is refused of plain values alone.
            taken = self.c.execute("SELECT position('qualifier ''' || %s || '''' IN stoa_get_tabledef('plain'::regclass)) > 0", (name,)).fetchone()[0]
            if not taken:
                self.altered(f"ALTER TABLE @T ADD COLUMN {name} {ty}{default}")
                self.columns[name] = ty
        elif kind < 0.7:
            name = self.random.choice(list(self.columns))
            self.altered(f"ALTER TABLE @T DROP COLUMN {name} CASCADE")
            del self.columns[name]
        elif kind < 0.85:
            name, new = self.random.choice(list(self.columns)), self.random.choice([name for name in [*NAMES, "other"] if name not in self.columns])
            self.altered(f"ALTER TABLE @T RENAME COLUMN {name} TO {new}")
            self.columns = {new if own == name else own: ty for own, ty in self.columns.items()}
        else:
            name = self.random.choice(list(self.columns))
            ty = self.random.choice(CHANGES.get(self.columns[name], ["text"]))
            if self.run(f"ALTER TABLE @T ALTER COLUMN {name} TYPE {ty}")[0] == "ALTER TABLE":
                self.columns[name] = ty

    def other_cells(self):
        options = self.random.choice(["values = plain", "values = own", "values = own, layout = packed", "values = plain, versions = 3", "versions = 1"])
        self.c.execute(f"ALTER TABLE plain ALTER FAMILY f WITH ({options})")

    def index(self):
        name = next((name for name, ty in self.columns.items() if ty not in ("json", "tsvector")), None)
        if self.random.random() < 0.5 and name:
            self.indexes += 1
            for table in ("own", "plain"):
                self.c.execute(f"CREATE INDEX {table}_{self.indexes} ON {table} ({name})")
        else:
            self.run("TRUNCATE @T") if self.random.random() < 0.2 else self.c.execute("CHECK TABLE plain")

    def look(self):
        self.run("SELECT * FROM @T")
        if self.columns:
            some = self.some()
            self.run(f"SELECT {', '.join(some)} FROM @T WHERE {self.range()}")
            self.run(f"SELECT id FROM @T WHERE {some[0]} IS NULL")
            self.run(f"SELECT count(*), {', '.join(f'count({name})' for name in some)} FROM @T")
            value = self.random.choice(TYPES.get(self.columns[some[0]], TYPES["text"]))
            if self.columns[some[0]] not in ("json", "text"):
                self.run(f"SELECT id FROM @T WHERE {some[0]} = {value}")

    def killed(self):
        self.c.close()
        self.server.kill()
        self.server.start()
        self.connect()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("--steps", type=int, default=600)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--store")
    a = p.parse_args()
    chance = random.Random(a.seed)
    with tempfile.TemporaryDirectory() as work:
        server = Server(a.binary, work + "/data", *(("--store", a.store) if a.store else ()))
        try:
            both = Both(server, chance)
            both.c.execute("CREATE TABLE own (id int PRIMARY KEY, c0 int, c1 text)")
            both.c.execute("CREATE TABLE plain (id int PRIMARY KEY, c0 int, c1 text) WITH (values = plain)")
            steps = [(both.write, 60), (both.look, 15), (both.transaction, 10), (both.alter, 8), (both.copy, 2), (both.other_cells, 1.5), (both.index, 3), (both.killed, 0.5)]
            for at in range(a.steps):
                step = chance.choices([step for step, _ in steps], [weight for _, weight in steps])[0]
                try:
                    step()
                except Exception as error:
                    raise AssertionError(f"step {at}, {step.__name__}, seed {a.seed}") from error
            both.look()
            both.c.execute("CHECK TABLE plain")
            there = [both.c.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() for table in ("own", "plain")]
            both.c.close()
            server.process.terminate()
            server.process.wait(60)
            dump = subprocess.run([a.binary, "dump", "--data", work + "/data", *(("--store", a.store) if a.store else ())], check=True, capture_output=True).stdout
            copy = Server(a.binary, work + "/copy")
            try:
                subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", copy.dsn], input=dump, check=True, stdout=subprocess.DEVNULL)
                c = psycopg.connect(copy.dsn, autocommit=True)
                assert [c.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() for table in ("own", "plain")] == there
            finally:
                copy.process.kill()
        finally:
            server.process.kill()
    print(f"plain values: {a.steps} steps alike, seed {a.seed}")


main()
