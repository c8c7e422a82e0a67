#!/usr/bin/env python3
"""Tables that another program has in HBase, by SQL: a Java program makes, writes and reads them, and so does Stoa, on its
embedded store and on the cluster. And tables of Stoa's own whose values are plain, which the Java program reads by column.

    run.py BINARY QUORUM

QUORUM is a cluster that crates/hbase-client/tests/cluster/cluster has started, in its environment. What SQL answers is compared with what the
Java program wrote, and what the Java program reads with what SQL wrote.
"""
import pathlib, random, re, subprocess, sys, tempfile, time

import psycopg

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "history"))
from server import Server  # noqa: E402

BINARY, QUORUM = sys.argv[1], sys.argv[2]
CLUSTER = HERE.parent.parent / "crates/hbase-client/tests/cluster/cluster"
ROWS = 3000
# The stores of Stoa's own tables: embedded, and in another namespace of the same cluster.
STORES = {"web:people": (), "web:persons": ("--store", f"hbase://{QUORUM}/elsewhere")}


def others(*args):
    """What the Java program prints."""
    classpath = subprocess.run([CLUSTER, "classpath"], check=True, capture_output=True, text=True).stdout.strip()
    done = subprocess.run(["java", "-cp", classpath, str(HERE / "Others.java"), *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [tuple(line.split("\t")) for line in done.stdout.splitlines() if line.count("\t") == 2]


def connect(server):
    return psycopg.connect(server.dsn, autocommit=True)


def refused(c, sql, state, words=""):
    try:
        c.execute(sql)
    except psycopg.Error as error:
        assert error.sqlstate == state and words in str(error), f"{sql}: {error.sqlstate} {error}"
        return
    raise AssertionError(f"{sql}: no error")


def location(table):
    return f"hbase://{QUORUM}/{table}"


def row(id_):
    return (id_, f"name {id_}", id_ % 90 if id_ % 5 else None, id_ / 4.0)


def is_read(server, table):
    with connect(server) as c:
        c.execute(f"CREATE TABLE people () WITH (raw, location = '{location(table)}')")
        c.execute("""CREATE FOREIGN TABLE p (id bigint, name text OPTIONS ("column" 'info:name'), age int OPTIONS ("column" 'info:age'),
                     score double precision OPTIONS ("column" 'stats:score')) OPTIONS ("table" 'people')""")
        all_ = lambda sql, *args: c.execute(sql, *args).fetchall()
        assert all_("SELECT * FROM p ORDER BY id") == [row(n) for n in range(ROWS)]
        assert all_("SELECT * FROM p ORDER BY id DESC LIMIT 7") == [row(n) for n in range(ROWS - 1, ROWS - 8, -1)]
        assert all_("SELECT * FROM p WHERE id = 77") == [row(77)]
        assert all_("SELECT * FROM p WHERE id BETWEEN 995 AND 1005 ORDER BY id") == [row(n) for n in range(995, 1006)]
        assert sorted(all_("SELECT * FROM p WHERE id IN (5, 2999, 1000, 8000)")) == [row(n) for n in (5, 1000, 2999)]
        assert all_("SELECT count(*), count(age), sum(score), min(name) FROM p") == [(ROWS, sum(n % 5 > 0 for n in range(ROWS)), sum(n / 4 for n in range(ROWS)), "name 0")]
        plan = "\n".join(line for (line,) in all_("EXPLAIN SELECT * FROM p WHERE id BETWEEN 995 AND 1005"))
        assert "full" not in plan and "995" in plan, plan
        # What nobody makes use of is not fetched, and no row is lost for it.
        others("put", table, 8500, "stats", "unmapped", "x" * 5000)
        assert all_("SELECT id, age FROM p WHERE id >= 8000") == [(8500, None)] and all_("SELECT name FROM p WHERE id = 8500") == [(None,)]
        assert sorted(all_("SELECT id, age FROM p WHERE id IN (7, 8500, 9000)")) == [(7, 7), (8500, None)]
        assert all_("SELECT id, score FROM p ORDER BY id DESC LIMIT 2") == [(8500, None), (ROWS - 1, (ROWS - 1) / 4)]
        assert all_("SELECT count(*), count(age), count(name), count(score) FROM p") == [(ROWS + 1, sum(n % 5 > 0 for n in range(ROWS)), ROWS, ROWS)]
        assert all_("SELECT count(*) FROM p WHERE age IS NULL") == [(1 + sum(n % 5 == 0 for n in range(ROWS)),)]
        bytes_of = lambda sql: int(re.search(r"bytes_read=(\d+)", "\n".join(line for (line,) in all_("EXPLAIN ANALYZE " + sql))).group(1))
        counted, one, every = bytes_of("SELECT count(*) FROM p"), bytes_of("SELECT sum(age) FROM p"), bytes_of("SELECT * FROM p")
        assert counted < one < every, (counted, one, every)
        assert bytes_of("SELECT id FROM p WHERE id = 8500") < 100 and bytes_of("SELECT * FROM p WHERE id = 8500") > 5000
        others("delete", table, 8500)
        # Beside tables of Stoa's own, also where each key is looked up.
        c.execute("CREATE TABLE own (id int PRIMARY KEY, who bigint)")
        c.execute("INSERT INTO own SELECT g, g * 100 FROM generate_series(1, 40) g")
        wanted = [(g, f"name {g * 100}") for g in range(1, 30)]
        assert all_("SELECT own.id, p.name FROM own JOIN p ON p.id = own.who ORDER BY 1") == wanted
        assert all_("SELECT own.id, p.name FROM own LEFT JOIN p ON p.id = own.who ORDER BY 1") == wanted + [(g, None) for g in range(30, 41)]
        assert len(all_("SELECT * FROM pg_stat_regions WHERE relname = 'people'")) == 3


def conditions_are_tested_at_the_servers(server, table):
    """Rows that the bytes of their cells leave out are not fetched; the others are those that a scan of all finds."""
    with connect(server) as c:
        others("put", table, 8600, "info", "age", "\\xFF\\xFF\\xFF\\xF6")
        others("put", table, 8601, "info", "name", "")
        chosen = random.Random(7)
        numbers = lambda: chosen.choice([-10, -1, 0, 1, 17, 40, 88, 89, 90, 2 ** 31, -(2 ** 40)])
        texts = lambda: chosen.choice(["", "name", "name 1", "name 250", "name 2999", "zz", "né"])

        def one():
            column, value = chosen.choice([("age", numbers), ("name", texts)])
            literal = lambda: repr(value()) if column == "name" else str(value())
            return chosen.choice([
                lambda: f"{column} {chosen.choice(['=', '<', '<=', '>', '>=', '<>'])} {literal()}",
                lambda: f"{column} IN ({', '.join(literal() for _ in range(chosen.randint(1, 5)))})",
                lambda: f"{column} BETWEEN {literal()} AND {literal()}",
                lambda: f"{column} IS {chosen.choice(['', 'NOT '])}NULL",
                lambda: f"name LIKE 'name {chosen.randint(0, 30)}%'",
                lambda: f"score > {chosen.randint(0, 700)}",
                lambda: f"id > {chosen.randint(0, 3000)}",
                lambda: f"{column} = {literal()} OR {column} > {literal()}",
                lambda: f"age = {numbers()} OR name = {texts()!r}",
            ])()

        tested = 0
        for _ in range(120):
            where = " AND ".join(f"({one()})" for _ in range(chosen.randint(1, 3)))
            tail = chosen.choice(["", "", " ORDER BY id DESC", " ORDER BY id LIMIT 3"])
            columns = chosen.choice(["*", "id", "id, score"])
            sql = f"SELECT {columns} FROM p WHERE {where}{tail}"
            found = c.execute(sql).fetchall()
            tested += "tested in cells" in str(c.execute("EXPLAIN " + sql).fetchall())
            c.execute("SET stoa.enable_cell_tests = off")
            wanted = c.execute(sql).fetchall()
            c.execute("RESET stoa.enable_cell_tests")
            assert (found if "ORDER" in tail else sorted(found, key=repr)) == (wanted if "ORDER" in tail else sorted(wanted, key=repr)), sql
        assert tested > 30, tested
        # As the transaction that has written them sees rows.
        c.execute("BEGIN")
        c.execute("UPDATE p SET age = 70 WHERE id = 11")
        c.execute("INSERT INTO p VALUES (8602, 'new', 70, 1)")
        c.execute("DELETE FROM p WHERE id = 70")
        ids = [id_ for (id_,) in c.execute("SELECT id FROM p WHERE age = 70 AND (id < 100 OR id > 8000)")]
        assert sorted(ids) == [11, 8602], ids
        assert c.execute("SELECT id, name, score FROM p WHERE age = 70 AND id = 11").fetchall() == [(11, "name 11", 2.75)]
        c.execute("ROLLBACK")
        plan = lambda sql: "\n".join(line for (line,) in c.execute("EXPLAIN ANALYZE " + sql))
        read = lambda sql: int(re.search(r"rows_read=(\d+)", plan(sql)).group(1))
        assert read("SELECT * FROM p WHERE age = 17 AND name LIKE 'name 1%'") < 20 < ROWS <= read("SELECT * FROM p WHERE age IS NULL")
        others("delete", table, 8600)
        others("delete", table, 8601)


def is_written(server, table):
    with connect(server) as c:
        c.execute("INSERT INTO p VALUES (5000, 'né', 7, -1.5), (5001, NULL, 8, NULL)")
        c.execute("UPDATE p SET age = age + 1, name = NULL WHERE id BETWEEN 5000 AND 5001 OR id = 1")
        c.execute("DELETE FROM p WHERE id = 2")
        refused(c, "INSERT INTO p VALUES (5000, 'x', 1, 1)", "23505")
        c.execute("INSERT INTO p VALUES (3, 'upsert', 1, 1) ON CONFLICT (id) DO UPDATE SET name = 'twice'")
        with c.transaction():
            c.execute("INSERT INTO p VALUES (6000, 'here', 1, 1)")
            assert c.execute("SELECT name FROM p WHERE id = 6000").fetchall() == [("here",)]
            c.execute("UPDATE p SET name = 'there' WHERE id = 6000")
        try:
            with c.transaction():
                c.execute("INSERT INTO p VALUES (6001, 'never', 1, 1)")
                raise KeyError
        except KeyError:
            pass
        # One moment for both there is none.
        try:
            with c.transaction():
                c.execute("INSERT INTO p VALUES (6002, 'never', 1, 1)")
                c.execute("INSERT INTO own VALUES (1000, 1)")
            raise AssertionError("both were written")
        except psycopg.errors.FeatureNotSupported as error:
            assert "other programs own" in str(error), error
        assert c.execute("SELECT count(*) FROM own WHERE id = 1000").fetchone() == (0,)
        # SERIALIZABLE knows of Stoa's transactions alone.
        with c.transaction():
            c.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
            assert c.execute("SELECT count(*) FROM p WHERE id > 10").fetchone()[0] > 2000
            c.execute("INSERT INTO own VALUES (1001, 1)")
        with c.transaction():
            c.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
            c.execute("SELECT count(*) FROM p WHERE id > 10")
            c.execute("UPDATE p SET age = 1 WHERE id = 6000")
    assert others("scan", table, 5000, 7000) == [
        ("5000", "info:age", "\\x00\\x00\\x00\\x08"), ("5000", "stats:score", "\\xBF\\xF8\\x00\\x00\\x00\\x00\\x00\\x00"), ("5001", "info:age", "\\x00\\x00\\x00\\x09"),
        ("6000", "info:age", "\\x00\\x00\\x00\\x01"), ("6000", "info:name", "there"), ("6000", "stats:score", "?\\xF0\\x00\\x00\\x00\\x00\\x00\\x00")]
    assert others("scan", table, 1, 4) == [
        ("1", "info:age", "\\x00\\x00\\x00\\x02"), ("1", "stats:score", "?\\xD0\\x00\\x00\\x00\\x00\\x00\\x00"),
        ("3", "info:age", "\\x00\\x00\\x00\\x03"), ("3", "info:name", "twice"), ("3", "stats:score", "?\\xE8\\x00\\x00\\x00\\x00\\x00\\x00")]


def is_seen_at_once(server, table):
    with connect(server) as c:
        others("put", table, 9000, "info", "name", "late")
        assert c.execute("SELECT * FROM p WHERE id = 9000").fetchall() == [(9000, "late", None, None)]
        others("put", table, 9000, "info", "age", "no number")
        assert c.execute("SELECT name FROM p WHERE id = 9000").fetchall() == [("late",)]
        refused(c, "SELECT age FROM p WHERE id = 9000", "22P03", "age")
        others("delete", table, 9000)
        assert c.execute("SELECT count(*) FROM p WHERE id >= 9000").fetchone() == (0,)


def is_refused(server, table):
    with connect(server) as c:
        for sql, state, words in [
            ("TRUNCATE people", "42809", "own"), ("ALTER TABLE people ADD FAMILY x ()", "42809", "own"),
            ("SELECT * FROM p AS OF SYSTEM TIME '-1s'", "0A000", "past"),
            ("CREATE INDEX ON p (name)", "42809", ""),
            (f"CREATE TABLE q (FAMILY f ()) WITH (raw, location = '{location(table)}')", "42P16", "families"),
            (f"CREATE TABLE q () WITH (location = '{location(table)}')", "22023", "location"),
            (f"CREATE TABLE q () WITH (raw, location = 'hbase://{QUORUM}/web:nobody')", "42P01", "web:nobody"),
            ("CREATE TABLE q () WITH (raw, location = 'http://example.com/x')", "22023", "hbase://"),
        ]:
            refused(c, sql, state, words)
        # Nobody is there: who waits may give up.
        c.execute("SET statement_timeout = '2s'")
        refused(c, "CREATE TABLE q () WITH (raw, location = 'hbase://127.0.0.1:1/web:people')", "57014")
        c.execute("RESET statement_timeout")
        c.execute("CREATE ROLE guest LOGIN")
        c.execute("GRANT SELECT ON p TO guest; GRANT CREATE ON SCHEMA public TO guest")
        c.execute("SET SESSION AUTHORIZATION guest")
        assert c.execute("SELECT name FROM p WHERE id = 10").fetchone() == ("name 10",)
        refused(c, "DELETE FROM p WHERE id = 10", "42501")
        refused(c, f"CREATE TABLE q () WITH (raw, location = '{location(table)}')", "42501", "another cluster")


def stays_after_a_restart(server, table):
    server.process.kill()
    server.process.wait()
    server.start()
    with connect(server) as c:
        assert c.execute("SELECT * FROM p WHERE id = 78").fetchall() == [row(78)]
        made = c.execute("SELECT stoa_get_tabledef('people'::regclass)").fetchone()[0]
        assert made == f"CREATE TABLE public.people () WITH (raw, location = '{location(table)}');", made
        c.execute("DROP FOREIGN TABLE p")
        c.execute("DROP TABLE people")
        refused(c, "SELECT * FROM p", "42P01")
    assert len(others("scan", table, 0, 100000)) > ROWS


# A type of SQL, how the Java program reads it, and values with what it reads.
PLAIN = {
    "s": ("smallint", "short", [(-2, "-2")]), "n": ("int", "int", [(258, "258"), (-1, "-1")]), "b": ("bigint", "long", [(-(2**63), str(-(2**63)))]),
    "r": ("real", "float", [(-1.5, "-1.5")]), "d": ("double precision", "double", [(20.5, "20.5"), (float("nan"), "NaN")]),
    "ok": ("boolean", "boolean", [(True, "true"), (False, "false")]), "t": ("text", "string", [("größe", "größe"), ("", "")]),
    "by": ("bytea", "bytes", [(b"\x00\xffa", "\\x00\\xFFa")]), "num": ("numeric", "string", [("12.50", "12.50")]), "day": ("date", "string", [("2024-02-29", "2024-02-29")]),
    "at": ("timestamptz", "string", [("2024-02-29 13:00:00.5+01", "2024-02-29 12:00:00.5+00")]), "u": ("uuid", "string", [("00000000-0000-0000-0000-00000000000a",) * 2]),
    "j": ("jsonb", "string", [('{"a": [1, 2.50]}',) * 2]), "a": ("int[]", "string", [("{1,NULL,3}",) * 2]), "i": ("interval", "string", [("1 mon 2 days 03:04:05",) * 2]),
}


def plain_values_are_read(server):
    """Cells of a table of Stoa's own, by column, with HBase's own client."""
    with connect(server) as c:
        columns = ", ".join(f"{name} {ty}" for name, (ty, _, _) in PLAIN.items())
        c.execute(f"CREATE TABLE plain (id bigint, {columns}, other int, PRIMARY KEY (UNSIGNED(id, 8)), FAMILY d ({', '.join(PLAIN)}) WITH (values = plain), FAMILY o (other))")
        name = next(one for _, one, _ in others("tables", "web:people", "elsewhere") if one.startswith("elsewhere:plain_"))
        read = lambda id_, *wanted: [value for _, _, value in others("columns", name, id_, *(f"d:{column}" for column in wanted))]
        every = [f"{column}:{how}" for column, (_, how, _) in PLAIN.items()]
        settled = lambda id_, wanted, expected: settles(lambda: read(id_, *wanted), expected)
        places = ", ".join(["%s"] * (len(PLAIN) + 1))
        insert = f"INSERT INTO plain (id, {', '.join(PLAIN)}) VALUES ({places})"
        c.execute("SET timezone = 'Asia/Tokyo'; SET DateStyle = 'German'; SET IntervalStyle = 'iso_8601'")
        c.execute(insert, [1, *(values[0][0] for _, _, values in PLAIN.values())])
        c.execute(insert, [2, *(values[-1][0] for _, _, values in PLAIN.values())])
        c.execute("INSERT INTO plain (id, other) VALUES (3, 7)")
        c.execute("RESET timezone; RESET DateStyle; RESET IntervalStyle")
        settled(1, every, [values[0][1] for _, _, values in PLAIN.values()])
        settled(2, every, [values[-1][1] for _, _, values in PLAIN.values()])
        settled(3, every, ["no cell"] * len(PLAIN))
        # The row is there all the same.
        assert others("scan", name, 3, 4)[0] == ("3", "d:\0", ""), others("scan", name, 3, 4)
        # Changes of single columns, NULLs, deletions.
        c.execute("UPDATE plain SET n = n * 2, t = NULL WHERE id = 1")
        settled(1, ["n:int", "t:string", "b:long"], ["516", "no cell", str(-(2**63))])
        with c.transaction():
            c.execute("DELETE FROM plain WHERE id = 2")
            c.execute("INSERT INTO plain (id, t) VALUES (2, 'again')")
        settled(2, ["t:string", "n:int", "by:bytes"], ["again", "no cell", "no cell"])
        c.execute("DELETE FROM plain WHERE id = 2")
        settles(lambda: others("scan", name, 2, 3), [])
        # A renamed column is read under the name that it had.
        c.execute("ALTER TABLE plain RENAME COLUMN n TO number")
        c.execute("UPDATE plain SET number = 40 WHERE id = 1")
        settled(1, ["n:int", "number:int"], ["40", "no cell"])
        c.execute("ALTER TABLE plain ADD COLUMN late int FAMILY d")
        c.execute("UPDATE plain SET late = 9 WHERE id = 3")
        settled(3, ["late:int"], ["9"])
        c.execute("INSERT INTO plain (id, number) SELECT g, g % 10 FROM generate_series(100, 199) g")
        settles(lambda: [int(id_) for id_, _, _ in others("find", name, "d", "n", 7)], list(range(107, 200, 10)))
        # A value that all rows have writes them anew, in a new table of HBase.
        c.execute("ALTER TABLE plain ADD COLUMN kind text DEFAULT 'pump' FAMILY d")
        name = max((one for _, one, _ in others("tables", "web:people", "elsewhere") if one.startswith("elsewhere:plain_")), key=lambda one: int(one.rsplit("_", 1)[1]))
        settled(1, ["kind:string", "n:int", "late:int"], ["pump", "40", "no cell"])
        settled(150, ["kind:string", "n:int"], ["pump", "0"])
        assert c.execute("SELECT number, t, kind FROM plain WHERE id = 1").fetchone() == (40, None, "pump")


def settles(read, expected):
    """What is committed is in the tables some milliseconds later."""
    for _ in range(20):
        if (found := read()) == expected:
            return
        time.sleep(0.2)
    raise AssertionError(f"{found} instead of {expected}")


def main():
    for table, store in STORES.items():
        others("create", table, 1000, 2000)
        others("load", table, 0, ROWS)
        with tempfile.TemporaryDirectory() as work:
            server = Server(BINARY, work + "/data", *store)
            try:
                for test in (is_read, conditions_are_tested_at_the_servers, is_written, is_seen_at_once, is_refused, stays_after_a_restart):
                    test(server, table)
                    print(f"elsewhere: {test.__name__} ok, {'on the cluster' if store else 'beside the embedded store'}", flush=True)
                if store:
                    plain_values_are_read(server)
                    print("elsewhere: plain_values_are_read ok", flush=True)
            finally:
                server.process.kill()


main()
