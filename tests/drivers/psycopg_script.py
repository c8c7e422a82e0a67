"""The drivers' script with psycopg 3, in text and in binary."""
import sys, threading, time
import psycopg

PORT, TYPES = int(sys.argv[1]), sys.argv[2]
failed = []


def check(name, f):
    try:
        f()
        print(f"ok {name}")
    except Exception as e:
        failed.append(name)
        print(f"FAIL {name}: {type(e).__name__}: {e}")


def connect():
    return psycopg.connect(f"host=127.0.0.1 port={PORT} user=stoa dbname=stoa", autocommit=True, options="-c TimeZone=UTC")


def fails(sqlstate, f):
    try:
        f()
    except psycopg.Error as e:
        assert e.sqlstate == sqlstate, (e.sqlstate, sqlstate, str(e))
        return e
    raise AssertionError(f"no error {sqlstate}")


def types(binary):
    form = "b" if binary else "s"
    with connect() as c:
        cursor = c.cursor(binary=binary)
        for line in open(TYPES, encoding="utf-8"):
            ty, text = line.rstrip("\n").split("\t", 1)
            value = cursor.execute(f"SELECT %s::text::{ty}", (text,)).fetchone()[0]
            if ty in ("json", "jsonb"):
                value = psycopg.types.json.Jsonb(value) if ty == "jsonb" else psycopg.types.json.Json(value)
            # psycopg has no year and month of its own: 1 year 2 mons becomes days.
            if ty == "interval":
                continue
            got = cursor.execute(f"SELECT (%{form}::{ty})::text, NULL::{ty}, %{form}::{ty}", (value, None)).fetchone()
            expected = text.rstrip() if ty == "char(5)" else text
            assert got == (expected, None, None), (ty, got, expected)


def batch():
    with connect() as c:
        c.execute("DROP TABLE IF EXISTS psycopg_t")
        c.execute("CREATE TABLE psycopg_t (id int PRIMARY KEY, name text, n numeric)")
        c.cursor().executemany("INSERT INTO psycopg_t VALUES (%s, %s, %s)", [(i, None if i % 2 else f"n{i}", i) for i in range(1000)])
        with c.pipeline():
            for i in range(1000, 1100):
                c.execute("INSERT INTO psycopg_t VALUES (%s, %s, %s)", (i, "p", i))
        assert c.execute("SELECT count(*), count(name), sum(n)::int FROM psycopg_t").fetchone() == (1100, 600, 604450)


def copy():
    with connect() as c:
        c.execute("DELETE FROM psycopg_t")
        with c.cursor().copy("COPY psycopg_t FROM STDIN") as copy:
            for i in range(5000):
                copy.write_row((i, None if i % 3 == 0 else f"x\t\\{i}", i))
        with c.cursor().copy("COPY psycopg_t (id, name) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4", "text"])
            rows = list(copy.rows())
        assert len(rows) == 5000 and (4, "x\t\\4") in rows and (3, None) in rows
        with c.cursor().copy("COPY psycopg_t (id, n) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "numeric"])
            copy.write_row((9000, 1))
        assert c.execute("SELECT count(*) FROM psycopg_t").fetchone() == (5001,)


def long_copy():
    # Many pieces that are decoded beside the writing of others: what is wrong in a late one undoes all, and is found at its place.
    def rows(n, wrong=None):
        for i in range(n):
            yield (wrong if i == n - 100 and wrong else f"{i}\t{'x' * 60}\t{i}") + "\n"

    def given(rows, leave=False):
        with connect() as c, c.cursor().copy("COPY psycopg_long FROM STDIN") as copy:
            lines = list(rows)
            for at in range(0, len(lines), 777):
                copy.write("".join(lines[at:at + 777]))
            if leave:
                raise KeyboardInterrupt

    with connect() as c:
        c.execute("DROP TABLE IF EXISTS psycopg_long")
        c.execute("CREATE TABLE psycopg_long (id int PRIMARY KEY, name text, n numeric CHECK (n >= 0))")
        for sqlstate, wrong, place in [("22P02", "1x\t\t", "line 99901, column id"), ("22P04", "1", "line 99901"), ("23505", "7\t\t1", ""),
                                       ("23514", "-1\t\t-1", ""), ("22021", "-1\t\0\t1", "line 99901")]:
            e = fails(sqlstate, lambda: given(rows(100_000, wrong)))
            assert place in (e.diag.context or ""), (sqlstate, e.diag.context)
            assert c.execute("SELECT count(*) FROM psycopg_long").fetchone() == (0,), sqlstate
        try:
            given(rows(100_000), leave=True)
            raise AssertionError("it went on")
        except KeyboardInterrupt:
            pass
        assert c.execute("SELECT count(*) FROM psycopg_long").fetchone() == (0,)
        given(rows(100_000))
        assert c.execute("SELECT count(*), sum(n), min(length(name)) FROM psycopg_long").fetchone() == (100_000, 4999950000, 60)
        c.execute("DROP TABLE psycopg_long")


def errors():
    with connect() as c:
        e = fails("23505", lambda: c.execute("INSERT INTO psycopg_t VALUES (1)"))
        assert e.diag.constraint_name == "psycopg_t_pkey", e.diag.constraint_name
        fails("22012", lambda: c.execute("SELECT 1 / %s", (0,)))
        fails("42P01", lambda: c.execute("SELECT * FROM nowhere"))
        fails("42601", lambda: c.execute("SELEC 1"))
        fails("23502", lambda: c.execute("INSERT INTO psycopg_t VALUES (NULL)"))
        with c.transaction():
            c.execute("INSERT INTO psycopg_t VALUES (-1)")
            try:
                with c.transaction():
                    c.execute("INSERT INTO psycopg_t VALUES (-2)")
                    c.execute("SELECT 1 / 0")
            except psycopg.errors.DivisionByZero:
                pass
        assert c.execute("SELECT id FROM psycopg_t WHERE id < 0").fetchall() == [(-1,)]
        c.execute("BEGIN")
        fails("22012", lambda: c.execute("SELECT 1 / 0"))
        fails("25P02", lambda: c.execute("SELECT 1"))
        c.execute("ROLLBACK")


def prepared():
    with connect() as c:
        for i in range(20):
            assert c.execute("SELECT n::int + %s FROM psycopg_t WHERE id = %s", (i, 7), prepare=True).fetchone() == (7 + i,)
        with c.transaction(), c.cursor(name="portion") as cursor:
            cursor.itersize = 100
            cursor.execute("SELECT id FROM psycopg_t WHERE id BETWEEN 0 AND 999 ORDER BY id")
            assert [r[0] for r in cursor] == list(range(1000))
        with c.transaction(force_rollback=True), c.cursor(name="standing") as cursor:
            c.execute("CREATE TABLE psycopg_made AS SELECT id, %s::text AS name FROM psycopg_t WHERE id BETWEEN 0 AND %s", ("made", 2))
            cursor.execute("SELECT id FROM psycopg_made ORDER BY id FOR UPDATE")
            assert cursor.fetchone() == (0,)
            for name in ("once", "again"):
                c.execute("UPDATE psycopg_made SET name = %s WHERE CURRENT OF standing", (name,), prepare=True)
            assert sorted(c.execute("SELECT name FROM psycopg_made").fetchall()) == [("again",), ("made",), ("made",)]


def cancel():
    with connect() as c:
        threading.Timer(0.3, c.cancel).start()
        began = time.time()
        fails("57014", lambda: c.execute("SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b"))
        assert time.time() - began < 20
        assert c.execute("SELECT 1").fetchone() == (1,)


for name, f in [("types in text", lambda: types(False)), ("types in binary", lambda: types(True)), ("batch", batch), ("copy", copy),
                ("long copy", long_copy),
                ("errors", errors), ("prepared", prepared), ("cancel", cancel)]:
    check(name, f)
sys.exit(1 if failed else 0)
