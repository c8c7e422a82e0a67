"""psycopg 2: what programs of ten years do with it."""
import datetime
import decimal
import io
import json
import select
import threading
import uuid

import psycopg2
import psycopg2.errors
import psycopg2.extensions as ext
import psycopg2.extras as extras
import psycopg2.pool

from common import end, show, step

extras.register_uuid()


def connect(**more):
    c = psycopg2.connect("", **more)
    with c.cursor() as k:
        k.execute("SET TimeZone = 'UTC'")
    c.commit()
    return c


def rows(c, sql, values=None):
    with c.cursor() as k:
        k.execute(sql, values)
        return k.fetchall()


def wrong(c, sql, values=None):
    try:
        rows(c, sql, values)
    except psycopg2.Error as e:
        d = e.diag
        show(type(e).__name__, (e.pgcode, d.severity, d.message_primary, d.message_detail, d.message_hint, d.statement_position, d.schema_name, d.table_name,
                                d.column_name, d.constraint_name, d.datatype_name))
    else:
        show("no error", sql)


@step
def the_connection():
    c = connect()
    show("status", (c.status, c.encoding, c.protocol_version, c.autocommit, c.isolation_level, c.server_version // 10000))
    for name in ("client_encoding", "DateStyle", "IntervalStyle", "standard_conforming_strings", "integer_datetimes", "TimeZone", "server_encoding"):
        show(name, c.get_parameter_status(name))
    c.set_client_encoding("UTF8")
    c.set_session(isolation_level="SERIALIZABLE", readonly=True, deferrable=True)
    show("modes", rows(c, "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only'), current_setting('transaction_deferrable')"))
    c.rollback()
    c.set_session(isolation_level="DEFAULT", readonly=False, deferrable=False)
    c.reset()
    show("after reset", (c.get_transaction_status(), c.closed))
    c.close()


@step
def types():
    c = connect()
    for ty, value in [
        ("bool", True), ("int2", -5), ("int4", 2**31 - 1), ("int8", -2**63 + 1), ("float8", 0.1), ("float8", float("inf")), ("float4", 1.5),
        ("numeric", decimal.Decimal("12345678901234567890.1234500")), ("numeric(6,2)", decimal.Decimal("1.005")), ("numeric", decimal.Decimal("NaN")),
        ("text", "größe 'x' \"y\" \\ %s"), ("varchar(3)", "abcdef"), ("char(5)", "ab"), ("bytea", psycopg2.Binary(bytes(range(256)))),
        ("date", datetime.date(2024, 2, 29)), ("time", datetime.time(23, 59, 59, 999)), ("timetz", datetime.time(1, 2, tzinfo=datetime.timezone.utc)),
        ("timestamp", datetime.datetime(2024, 2, 29, 1, 2, 3, 4)), ("timestamptz", datetime.datetime(1999, 12, 31, 23, 59, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30)))),
        ("interval", datetime.timedelta(days=400, seconds=5, microseconds=7)), ("uuid", uuid.UUID(int=5)), ("json", extras.Json({"a": [1, None, "x"]})), ("jsonb", extras.Json({"b": 1, "a": 2.50})),
        ("int4[]", [1, None, 3]), ("text[]", ["a", 'b"c', "", "NULL", None, "d,e"]), ("int4[]", [[1, 2], [3, 4]]), ("int4[]", []), ("numeric[]", [decimal.Decimal("1.10")]),
        ("date[]", [datetime.date(2024, 1, 1)]), ("timestamptz[]", [datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)]), ("bool[]", [True, False]), ("uuid[]", [uuid.UUID(int=1)]),
    ]:
        with c.cursor() as k:
            k.execute(f"SELECT %s::{ty}, NULL::{ty}, (%s::{ty})::text", (value, value))
            got = k.fetchone()
            show(ty, (bytes(got[0]) if isinstance(got[0], memoryview) else got[0], got[1], got[2], [(d.name, d.type_code, d.internal_size, d.precision, d.scale) for d in k.description[:1]]))
    show("limits", rows(c, "SELECT 'infinity'::float8, '0001-01-01'::date, '9999-12-31 23:59:59.999999'::timestamp"))
    show("hstore", extras.HstoreAdapter.get_oids(c))
    show("composite", rows(c, "SELECT ROW(1, 'a', NULL)::text"))
    show("mogrified", c.cursor().mogrify("SELECT %s, %(x)s" if False else "SELECT %s, %s, %s", ("a\\b'c", None, [1, "x"])))
    c.close()


@step
def rows_of_kinds():
    c = connect()
    with c.cursor(cursor_factory=extras.RealDictCursor) as k:
        k.execute("SELECT 1 AS a, 'x'::text AS \"B c\", 2")
        show("dict", dict(k.fetchone()))
    with c.cursor(cursor_factory=extras.NamedTupleCursor) as k:
        k.execute("SELECT 1 AS a, 'x' AS b, 3")
        show("tuple", k.fetchone())
    with c.cursor(cursor_factory=extras.DictCursor) as k:
        k.execute("SELECT g, g * 2 AS twice FROM generate_series(1, 3) g")
        show("some", (k.rowcount, k.fetchmany(2), k.rownumber, k.fetchall(), k.statusmessage))
        k.scroll(0, "absolute")
        show("again", k.fetchone()["twice"])
    c.close()


@step
def tables_and_batches():
    c = connect()
    with c, c.cursor() as k:
        k.execute("DROP TABLE IF EXISTS p2 CASCADE")
        k.execute("CREATE TABLE p2 (id serial PRIMARY KEY, name text UNIQUE, n numeric(8,2) CHECK (n >= 0), at timestamptz DEFAULT '2024-01-01 UTC', tags text[] NOT NULL DEFAULT '{}')")
        show("notices", [" ".join(n.split()) for n in c.notices])
        k.executemany("INSERT INTO p2 (name, n) VALUES (%s, %s)", [(f"m{i}", i) for i in range(50)])
        show("after executemany", k.rowcount)
        got = extras.execute_values(k, "INSERT INTO p2 (name, n, tags) VALUES %s RETURNING id, name", [(f"v{i}", i, ["x", str(i)]) for i in range(1000)], page_size=300, fetch=True)
        show("execute_values", (len(got), got[0], got[-1]))
        extras.execute_batch(k, "UPDATE p2 SET n = n + %s WHERE name = %s", [(i, f"v{i}") for i in range(300)], page_size=100)
        k.execute("INSERT INTO p2 (name, n) VALUES ('m1', 7) ON CONFLICT (name) DO UPDATE SET n = excluded.n + p2.n RETURNING id, n")
        show("upsert", (k.fetchall(), k.statusmessage, k.rowcount))
        k.execute("SELECT count(*), sum(n), min(at), max(tags) FROM p2")
        show("sums", k.fetchall())
        k.execute("DELETE FROM p2 WHERE n > 500")
        show("deleted", (k.rowcount, k.statusmessage, k.lastrowid))
    c.close()


@step
def errors():
    c = connect()
    c.autocommit = True
    for sql, values in [
        ("INSERT INTO p2 (name) VALUES ('m1')", None), ("INSERT INTO p2 (name, n) VALUES ('bad', -1)", None), ("INSERT INTO p2 (name, tags) VALUES ('bad', NULL)", None),
        ("INSERT INTO p2 (name, n) VALUES ('bad', 123456789)", None), ("SELECT 1 / %s", (0,)), ("SELECT * FROM nowhere", None), ("SELECT nothing FROM p2", None), ("SELEC 1", None),
        ("SELECT nofunction(1)", None), ("SELECT %s::int", ("x",)), ("SELECT '2024-02-30'::date", None), ("SELECT %s::uuid", ("x",)), ("SELECT 'a' + 1", None),
        ("SELECT 9223372036854775807 + 1", None), ("CREATE TABLE p2 (a int)", None), ("DROP TABLE nowhere", None), ("SELECT (SELECT 1 UNION SELECT 2)", None), ("SELECT '{1,2'::int[]", None),
        ("SELECT '{\"a\"'::json", None), ("SET nothing_at_all = 1", None), ("SELECT pg_sleep('x')", None), ("", None), ("SELECT n FROM p2 GROUP BY name", None), ("INSERT INTO p2 VALUES (1, 2, 3, 4, 5, 6)", None),
    ]:
        wrong(c, sql, values)
    c.close()


@step
def transactions():
    c = connect()
    show("idle", c.get_transaction_status() == ext.TRANSACTION_STATUS_IDLE)
    rows(c, "SELECT 1")
    show("in", c.get_transaction_status() == ext.TRANSACTION_STATUS_INTRANS)
    wrong(c, "SELECT 1 / 0")
    show("failed", c.get_transaction_status() == ext.TRANSACTION_STATUS_INERROR)
    wrong(c, "SELECT 1")
    c.rollback()
    with c.cursor() as k:
        k.execute("INSERT INTO p2 (name) VALUES ('outer')")
        k.execute("SAVEPOINT a")
        k.execute("INSERT INTO p2 (name) VALUES ('inner')")
        k.execute("SAVEPOINT b")
        wrong(c, "INSERT INTO p2 (name) VALUES ('inner')")
        k.execute("ROLLBACK TO SAVEPOINT b")
        k.execute("INSERT INTO p2 (name) VALUES ('second')")
        k.execute("RELEASE SAVEPOINT a")
    c.commit()
    show("kept", rows(c, "SELECT name FROM p2 WHERE name IN ('outer', 'inner', 'second') ORDER BY name"))
    try:
        with c:
            rows(c, "DELETE FROM p2 RETURNING 1")
            raise KeyError
    except KeyError:
        pass
    show("count", rows(c, "SELECT count(*) > 400 FROM p2"))
    c.rollback()
    for level in (ext.ISOLATION_LEVEL_READ_COMMITTED, ext.ISOLATION_LEVEL_REPEATABLE_READ, ext.ISOLATION_LEVEL_SERIALIZABLE):
        c.set_isolation_level(level)
        show("level", rows(c, "SHOW transaction_isolation"))
        c.commit()
    try:
        c.tpc_begin(c.xid(1, "g", "b"))
        rows(c, "SELECT 1")
        c.tpc_prepare()
    except psycopg2.Error as e:
        show("two phases", e.pgcode)
    c.close()


@step
def prepared_and_definitions():
    c = connect()
    c.autocommit = True
    with c.cursor() as k:
        k.execute("DROP TABLE IF EXISTS p2_d; CREATE TABLE p2_d (a int, b text); INSERT INTO p2_d VALUES (1, 'x')")
        k.execute("PREPARE q (int) AS SELECT * FROM p2_d WHERE a = $1")
        for _ in range(8):
            k.execute("EXECUTE q (1)")
        show("before", k.fetchall())
        k.execute("CREATE INDEX ON p2_d (a)")
        k.execute("EXECUTE q (1)")
        show("with an index", k.fetchall())
        k.execute("ALTER TABLE p2_d ADD c int DEFAULT 5")
        wrong(c, "EXECUTE q (1)")
        k.execute("ALTER TABLE p2_d DROP c")
        k.execute("EXECUTE q (1)")
        show("as before", k.fetchall())
        k.execute("ALTER TABLE p2_d ALTER b TYPE varchar(5)")
        wrong(c, "EXECUTE q (1)")
        k.execute("DROP TABLE p2_d")
        wrong(c, "EXECUTE q (1)")
        k.execute("DEALLOCATE q")
        wrong(c, "EXECUTE q (1)")
    c.close()


@step
def copies():
    c = connect()
    with c, c.cursor() as k:
        k.execute("DROP TABLE IF EXISTS p2_c; CREATE TABLE p2_c (a int PRIMARY KEY, b text, c numeric)")
        k.copy_from(io.StringIO("1\tone\t1.5\n2\t\\N\t\\N\n3\tt\\tab\\\\\t3\n"), "p2_c")
        show("copied in", k.rowcount)
        k.copy_from(io.StringIO("4|x|\n5|y|2\n"), "p2_c", sep="|", null="", columns=("a", "b", "c"))
        k.copy_expert("COPY p2_c FROM STDIN (FORMAT csv, HEADER, DELIMITER ';', QUOTE '\"', FORCE_NULL (c))", io.StringIO('a;b;c\n6;"q ""x"" ; y";""\n7;"two\nlines";7\n'))
        out = io.StringIO()
        k.copy_to(out, "p2_c", sep="|", null="~", columns=("a", "b"))
        show("copied out", out.getvalue())
        out = io.StringIO()
        k.copy_expert("COPY (SELECT * FROM p2_c ORDER BY a DESC) TO STDOUT WITH CSV HEADER FORCE QUOTE b", out)
        show("query out", (out.getvalue(), k.rowcount))
    for text in ("8\tx\n", "9\tx\t1\t2\n", "x\tx\t1\n", "1\tx\t1\n"):
        try:
            with c, c.cursor() as k:
                k.copy_from(io.StringIO(text), "p2_c")
        except psycopg2.Error as e:
            show(type(e).__name__, (e.pgcode, e.diag.message_primary, e.diag.message_detail, e.diag.context))
    c.close()


@step
def cursors_of_the_server():
    c = connect()
    with c.cursor("named") as k:
        k.itersize = 70
        k.execute("SELECT g, repeat('x', g % 7) FROM generate_series(1, 1000) g")
        show("many", (k.fetchmany(3), sum(r[0] for r in k)))
    with c.cursor("scrolls", scrollable=True) as k:
        k.execute("SELECT g FROM generate_series(1, 100) g")
        k.scroll(50)
        show("forward", k.fetchone())
        k.scroll(-10)
        show("back", k.fetchone())
        k.scroll(99, "absolute")
        show("last", (k.fetchone(), k.fetchone()))
    c.commit()
    with c.cursor("held", withhold=True) as k:
        k.execute("SELECT g FROM generate_series(1, 5) g")
        c.commit()
        show("held", k.fetchall())
    c.commit()
    with c.cursor("large") as k:
        k.itersize = 20000
        k.execute("SELECT g, 'row ' || g FROM generate_series(1, 200000) g")
        show("large", sum(len(r[1]) for r in k))
    with c.cursor() as k:
        k.execute("SELECT repeat('y', 5000000), decode(repeat('ab', 1000000), 'hex')")
        a, b = k.fetchone()
        show("wide", (len(a), len(b)))
    c.close()


@step
def notifications():
    c, other = connect(), connect()
    c.autocommit = other.autocommit = True
    rows_ = lambda x, sql: x.cursor().execute(sql)
    rows_(c, "LISTEN news")
    rows_(other, "NOTIFY news, 'first'; SELECT pg_notify('news', 'second')")
    rows_(other, "NOTIFY elsewhere, 'x'")
    while len(c.notifies) < 2 and select.select([c], [], [], 20) != ([], [], []):
        c.poll()
    show("notified", [(n.channel, n.payload, n.pid == other.info.backend_pid) for n in c.notifies])
    rows_(c, "UNLISTEN *")
    show("channels", rows(c, "SELECT pg_listening_channels()"))


@step
def asynchronous():
    c = psycopg2.connect("", async_=True)
    def wait():
        while (state := c.poll()) != ext.POLL_OK:
            select.select([c.fileno()] if state == ext.POLL_READ else [], [c.fileno()] if state == ext.POLL_WRITE else [], [], 20)
    wait()
    k = c.cursor()
    k.execute("SELECT %s + 1", (41,))
    wait()
    show("async", k.fetchall())
    c.close()


@step
def cancelling():
    c = connect()
    for n in range(3):
        timer = threading.Timer(0.3, c.cancel)
        timer.start()
        wrong(c, "SELECT pg_sleep(60)")
        timer.join()
        c.rollback()
    rows(c, "SET statement_timeout = 100; SELECT 1")
    wrong(c, "SELECT pg_sleep(60)")
    c.rollback()
    other = connect()
    rows(other, "SELECT pg_terminate_backend(%s)", (c.info.backend_pid,))
    try:
        rows(c, "SELECT 1")
    except psycopg2.OperationalError as e:
        show("terminated", (e.pgcode, c.closed != 0))


@step
def a_pool():
    pool = psycopg2.pool.ThreadedConnectionPool(1, 5, "")
    seen = []
    def work(i):
        c = pool.getconn()
        with c:
            seen.append(rows(c, "SELECT %s * 2", (i,))[0][0])
        pool.putconn(c)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(5)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    show("pool", sorted(seen))
    pool.closeall()


@step
def encodings():
    c = connect()
    show("utf8", rows(c, "SELECT %s, length(%s), E'\\u00e9', U&'\\00e9', chr(8364)", ("ü€😀", "ü€😀")))
    show("json text", json.dumps(rows(c, "SELECT json_build_object('k', %s)", ("é",))))
    wrong(c, "SELECT convert_from('\\xff'::bytea, 'UTF8')")
    c.rollback()
    try:
        rows(c, "SELECT %s", ("a\0b",))
    except ValueError as e:
        show("zero", str(e))


end()
