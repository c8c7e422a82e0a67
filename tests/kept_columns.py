#!/usr/bin/env python3
"""Columns that scans leave for later ones never tell anything but what is stored: beside writers, loads, definitions, own changes.

    kept_columns.py BINARY [SECONDS]

Every comparison reads the same snapshot twice, with kept columns and past them.
"""
import pathlib, random, re, sys, tempfile, threading, time

import psycopg

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "history"))
from server import Server

ROWS = 20_000
KEPT, PAST = "SET stoa.min_column_cache_scan_size = 0", "SET stoa.enable_column_cache = off"


def connect(server):
    c = psycopg.connect(server.dsn, autocommit=True)
    c.execute(KEPT)
    return c


def past(c, sql):
    c.execute(PAST)
    rows = c.execute(sql).fetchall()
    c.execute("RESET stoa.enable_column_cache")
    return rows


def kept_rows(c, sql):
    """Rows that a scan took from what was kept."""
    plan = "\n".join(row[0] for row in c.execute("EXPLAIN ANALYZE " + sql).fetchall())
    found = re.findall(r"rows_from_columns_kept=([\d.]+)\s*([KM]?)", plan)
    return sum(float(number) * {"": 1, "K": 1e3, "M": 1e6}[unit] for number, unit in found)


def compare(c, *queries):
    """In one snapshot; what kept columns give, as they were left and as they are taken."""
    c.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    for sql in queries:
        wanted = past(c, sql)
        for how in ("left", "taken"):
            found = c.execute(sql).fetchall()
            if found != wanted:
                raise AssertionError(f"{how}: {sql}\nwanted {wanted[:5]} … {len(wanted)}\nfound  {found[:5]} … {len(found)}")
    c.execute("COMMIT")


def table(c, name="t"):
    c.execute(f"DROP TABLE IF EXISTS {name}")
    c.execute(f"CREATE TABLE {name} (id int PRIMARY KEY, n bigint, v numeric(12,2), w text, at timestamptz, FAMILY a (n, v), FAMILY b (w, at))")
    c.execute(f"INSERT INTO {name} SELECT i, 100, i / 7.0, CASE WHEN i % 5 > 0 THEN repeat('w' || i % 40, i % 6) END, "
              f"'2024-01-01'::timestamptz + i * interval '1 minute' FROM generate_series(1, {ROWS}) i")


READS = ["SELECT count(*), sum(n), sum(v), count(w), min(at), max(at) FROM {t}", "SELECT id, w FROM {t} WHERE v > 1000 AND n % 3 = 1 ORDER BY id",
         "SELECT w, count(*), sum(id) FROM {t} GROUP BY w ORDER BY w NULLS FIRST", "SELECT count(*) FROM {t} WHERE id BETWEEN 3000 AND 17000 AND w IS NOT NULL",
         "SELECT md5(string_agg(x::text, ',' ORDER BY id)) FROM {t} x"]


def reads(name="t"):
    return [sql.format(t=name) for sql in READS]


def what_is_kept_is_used(server):
    with connect(server) as c:
        table(c)
        sql = "SELECT sum(n), count(w) FROM t"
        assert kept_rows(c, sql) == 0
        assert kept_rows(c, sql) == ROWS, "a second scan takes all"
        assert [kept_rows(c, "SELECT sum(n), max(at) FROM t") for _ in range(2)] == [0, ROWS], "a column that is not kept is read, and kept"
        c.execute("UPDATE t SET n = 0 WHERE id = 5")
        found = kept_rows(c, sql)
        assert ROWS - 8192 <= found < ROWS, f"one row costs its segment, not {ROWS - found} rows"
        assert kept_rows(c, sql) == ROWS
        assert kept_rows(c, sql + " WHERE id > 9000") > 0, "a range takes what lies in it"
        c.execute(PAST)
        assert kept_rows(c, sql) == 0
        c.execute("RESET ALL")
        c.execute("CREATE TABLE small (id int PRIMARY KEY)")
        c.execute("INSERT INTO small SELECT generate_series(1, 100)")
        assert [kept_rows(c, "SELECT count(*) FROM small") for _ in range(2)] == [0, 0], "short scans are left alone"


def own_changes_and_savepoints(server):
    with connect(server) as c, connect(server) as other:
        table(c)
        sql = "SELECT count(*), sum(n) FROM t"
        for _ in range(2):
            assert c.execute(sql).fetchone() == (ROWS, 100 * ROWS)
        c.execute("BEGIN")
        c.execute("UPDATE t SET n = n + 1 WHERE id <= 10")
        c.execute("SAVEPOINT s")
        c.execute("DELETE FROM t WHERE id > 100")
        assert c.execute(sql).fetchone() == (100, 10_010)
        assert other.execute(sql).fetchone() == (ROWS, 100 * ROWS)
        c.execute("ROLLBACK TO s")
        assert c.execute(sql).fetchone() == (ROWS, 100 * ROWS + 10)
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        assert other.execute(sql).fetchone() == (ROWS, 100 * ROWS)
        c.execute("COMMIT")
        for _ in range(2):
            assert c.execute(sql).fetchone() == (ROWS, 100 * ROWS + 10)
            assert other.execute(sql).fetchone() == (ROWS, 100 * ROWS), "an older snapshot stays as it is"
        other.execute("COMMIT")
        assert other.execute(sql).fetchone() == (ROWS, 100 * ROWS + 10)


def definitions(server):
    with connect(server) as c:
        table(c)
        compare(c, *reads())
        for statement in [
            "ALTER TABLE t ADD COLUMN more int DEFAULT 7", "UPDATE t SET more = 8 WHERE id % 1000 = 0", "ALTER TABLE t ADD COLUMN none text",
            "ALTER TABLE t ALTER COLUMN n TYPE numeric", "ALTER TABLE t ALTER COLUMN v TYPE numeric(20,4)", "ALTER TABLE t ALTER COLUMN w TYPE varchar(200)",
            "ALTER TABLE t DROP COLUMN more", "ALTER TABLE t ADD COLUMN more int DEFAULT 9", "CREATE INDEX t_w ON t (w) INCLUDE (n)", "ALTER TABLE t RENAME COLUMN none TO other",
            "ALTER TABLE t ADD COLUMN apart int DEFAULT 3", "DELETE FROM t WHERE id BETWEEN 9000 AND 9100", "INSERT INTO t (id, n) SELECT -i, i FROM generate_series(1, 3000) i",
            "TRUNCATE t", "INSERT INTO t (id, n, v) SELECT i, i, i FROM generate_series(1, 9000) i", "DROP INDEX t_w",
            "UPDATE t SET id = id + 100000 WHERE id % 2 = 0", "ALTER TABLE t ADD COLUMN big bigint GENERATED ALWAYS AS (id * 2) STORED",
        ]:
            c.execute(statement)
            compare(c, *reads(), "SELECT * FROM t ORDER BY id DESC LIMIT 50")
        table(c)  # the name again
        compare(c, *reads())
        # Rows that age by themselves are not kept.
        c.execute("CREATE TABLE aging (id int PRIMARY KEY, w text, FAMILY f (w) WITH (ttl = '2 seconds'))")
        c.execute("INSERT INTO aging SELECT i, 'w' FROM generate_series(1, 5000) i")
        assert [c.execute("SELECT count(*) FROM aging").fetchone()[0] for _ in range(3)] == [5000] * 3
        time.sleep(2.1)
        assert c.execute("SELECT count(w) FROM aging").fetchone() == (0,)


def large_loads(server):
    with connect(server) as c:
        table(c)
        for n in range(4):
            compare(c, *reads())
            with c.cursor().copy("COPY t (id, n, w) FROM STDIN") as copy:
                for i in range(60_000):
                    copy.write_row((ROWS + 1 + n * 60_000 + i, n, "l" * (i % 30)))
            compare(c, *reads())
        c.execute("BEGIN")
        c.execute("UPDATE t SET n = n + 1")  # more than a transaction keeps in memory for its commit
        c.execute("COMMIT")
        compare(c, *reads())


def beside_writers(server, seconds):
    """Transfers keep a sum; rows come and go; readers see one and the same in each snapshot."""
    failures, stop = [], threading.Event()
    with connect(server) as c:
        table(c, "bank")
        c.execute("CREATE INDEX bank_n ON bank (w) INCLUDE (n)")

    def guarded(work, *args):
        try:
            with connect(server) as c:
                work(c, *args)
        except Exception as e:
            failures.append(f"{type(e).__name__}: {e}")
            stop.set()

    def writer(c, seed):
        r = random.Random(seed)
        while not stop.is_set():
            a, b, amount = r.randint(1, ROWS), r.randint(1, ROWS), r.randint(1, 9)
            kind = r.random()
            try:
                if kind < 0.6:
                    with c.transaction():
                        c.execute("UPDATE bank SET n = n - %s WHERE id = %s", (amount, min(a, b)))
                        c.execute("UPDATE bank SET n = n + %s WHERE id = %s", (amount, max(a, b)))
                elif kind < 0.75:
                    c.execute("INSERT INTO bank (id, n, w) SELECT i, 0, 'new' FROM generate_series(%s::int, %s::int) i ON CONFLICT DO NOTHING", (ROWS + a, ROWS + a + amount * 20))
                elif kind < 0.9:
                    c.execute("DELETE FROM bank WHERE id BETWEEN %s AND %s", (ROWS + a, ROWS + a + amount * 40))
                else:
                    c.execute("UPDATE bank SET w = %s WHERE id BETWEEN %s AND %s", (f"w{amount}", a, a + 300))
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected, psycopg.errors.ForeignKeyViolation):
                pass
            time.sleep(r.random() * 0.02)

    def reader(c, seed):
        r = random.Random(seed)
        while not stop.is_set():
            total = c.execute("SELECT sum(n) FROM bank").fetchone()[0]
            assert total == 100 * ROWS, f"the sum is {total}"
            compare(c, r.choice(reads("bank") + ["SELECT w, sum(n) FROM bank GROUP BY w ORDER BY w NULLS FIRST"]))

    threads = [threading.Thread(target=guarded, args=(work, seed)) for seed, work in enumerate([writer, writer, writer, reader, reader])]
    for thread in threads:
        thread.start()
    stop.wait(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    # How much is taken beside writers depends on how fast they are; what they leave behind is kept again.
    with connect(server) as c:
        assert c.execute("SELECT sum(n) FROM bank").fetchone()[0] == 100 * ROWS
        compare(c, *reads("bank"))
        assert kept_rows(c, "SELECT count(*), sum(n) FROM bank") > 0, "nothing was taken from what was kept"


def after_a_kill(server):
    with connect(server) as c:
        table(c)
        compare(c, *reads())
        c.execute("UPDATE t SET n = 5")
    server.process.kill()
    server.process.wait()
    server.start()
    with connect(server) as c:
        compare(c, *reads())
        assert c.execute("SELECT sum(n) FROM t").fetchone()[0] == 5 * ROWS


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 8
    with tempfile.TemporaryDirectory() as work:
        server = Server(sys.argv[1], work + "/data")
        try:
            for part in (what_is_kept_is_used, own_changes_and_savepoints, definitions, large_loads, after_a_kill):
                part(server)
                print(f"ok   {part.__name__}", flush=True)
            beside_writers(server, seconds)
            print("ok   beside_writers", flush=True)
        finally:
            server.process.kill()
            server.process.wait()


main()
