#!/usr/bin/env python3
"""Tables that another program has in HBase, by SQL: a Java program makes, writes and reads them, and so does Stoa, on its
embedded store and on the cluster.

    run.py BINARY QUORUM

QUORUM is a cluster that crates/hbase-client/tests/cluster/cluster has started, in its environment. What SQL answers is compared with what the
Java program wrote, and what the Java program reads with what SQL wrote.
"""
import pathlib, subprocess, sys, tempfile

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
        # Beside tables of Stoa's own, also where each key is looked up.
        c.execute("CREATE TABLE own (id int PRIMARY KEY, who bigint)")
        c.execute("INSERT INTO own SELECT g, g * 100 FROM generate_series(1, 40) g")
        wanted = [(g, f"name {g * 100}") for g in range(1, 30)]
        assert all_("SELECT own.id, p.name FROM own JOIN p ON p.id = own.who ORDER BY 1") == wanted
        assert all_("SELECT own.id, p.name FROM own LEFT JOIN p ON p.id = own.who ORDER BY 1") == wanted + [(g, None) for g in range(30, 41)]
        assert len(all_("SELECT * FROM pg_stat_regions WHERE relname = 'people'")) == 3


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


def main():
    for table, store in STORES.items():
        others("create", table, 1000, 2000)
        others("load", table, 0, ROWS)
        with tempfile.TemporaryDirectory() as work:
            server = Server(BINARY, work + "/data", *store)
            try:
                for test in (is_read, is_written, is_seen_at_once, is_refused, stays_after_a_restart):
                    test(server, table)
                    print(f"elsewhere: {test.__name__} ok, {'on the cluster' if store else 'beside the embedded store'}", flush=True)
            finally:
                server.process.kill()


main()
