"""ODBC: psqlodbc by unixODBC and pyodbc."""
import datetime
import decimal
import os
import threading
import uuid

import pyodbc

from common import DATABASE, HOST, PASSWORD, PORT, USER, end, show, step

pyodbc.pooling = False


def connect(driver="PostgreSQL Unicode", **more):
    # libpq's variables are read as well: PGSSLROOTCERT.
    options = {"Driver": "{" + driver + "}", "Server": HOST, "Port": PORT, "UID": USER, "PWD": PASSWORD, "Database": DATABASE, "SSLmode": os.environ["PGSSLMODE"], **more}
    c = pyodbc.connect(";".join(f"{k}={v}" for k, v in options.items()), autocommit=True)
    c.execute("SET TimeZone = 'UTC'")
    return c


def wrong(c, sql, *values):
    try:
        c.execute(sql, *values).fetchall()
    except pyodbc.Error as e:
        show(type(e).__name__, (e.args[0], " ".join(e.args[1].split())))
    else:
        show("no error", sql)


@step
def the_connection():
    for driver in ("PostgreSQL Unicode", "PostgreSQL ANSI"):
        c = connect(driver)
        show(driver, [c.getinfo(getattr(pyodbc, name)) for name in ("SQL_DBMS_NAME", "SQL_IDENTIFIER_QUOTE_CHAR", "SQL_TXN_CAPABLE", "SQL_DEFAULT_TXN_ISOLATION", "SQL_SCHEMA_TERM", "SQL_MAX_IDENTIFIER_LEN", "SQL_DATABASE_NAME", "SQL_KEYWORDS")])
        show("text", c.execute("SELECT ?, length(?)", "größe €", "größe €").fetchall() if "Unicode" in driver else None)
        c.close()


@step
def types():
    for extra in ({}, {"UseServerSidePrepare": 0}, {"UseDeclareFetch": 1, "Fetch": 7}, {"ByteaAsLongVarBinary": 1, "BoolsAsChar": 0, "TrueIsMinus1": 1}):
        c = connect(**extra)
        for ty, value in [
            ("bool", True), ("int2", -5), ("int4", 2**31 - 1), ("int8", 2**62), ("float8", 0.1), ("float4", 1.5), ("numeric(20,5)", decimal.Decimal("123456789012345.12300")), ("numeric", decimal.Decimal("-0.5")),
            ("text", "größe 'x' \"y\" \\ ?"), ("text", ""), ("text", "x" * 9000), ("varchar(3)", "abc"), ("char(5)", "ab"), ("bytea", bytes(range(256))), ("date", datetime.date(2024, 2, 29)), ("time", datetime.time(23, 59, 59)),
            ("timestamp", datetime.datetime(2024, 2, 29, 1, 2, 3, 4000)), ("timestamptz", datetime.datetime(1999, 12, 31, 23, 59)), ("uuid", uuid.UUID(int=5)), ("json", '{"a": 1}'), ("jsonb", '{"b": [1]}'), ("int4[]", "{1,NULL,3}"), ("interval", "1 day"),
        ]:
            if ty in ("uuid", "json", "jsonb", "int4[]", "interval"):
                row = c.execute(f"SELECT CAST(CAST(? AS text) AS {ty}), CAST(NULL AS {ty})", str(value))
            else:
                row = c.execute(f"SELECT CAST(? AS {ty}), CAST(NULL AS {ty})", value)
            show(ty, (row.description[0][1:], [v if not isinstance(v, str) or len(v) < 100 else len(v) for v in row.fetchone()]))
        c.close()


@step
def the_catalog():
    c = connect()
    k = c.cursor()
    for sql in ("DROP SCHEMA IF EXISTS od CASCADE", "CREATE SCHEMA od", "CREATE TABLE od.a (id serial PRIMARY KEY, name varchar(30) NOT NULL DEFAULT 'x', n numeric(8,2), at timestamptz, b bytea, u uuid UNIQUE, j jsonb, f float4, arr int[])",
                "CREATE TABLE od.b (a_id int REFERENCES od.a ON DELETE CASCADE, k text, PRIMARY KEY (a_id, k))", "CREATE INDEX b_k ON od.b (k DESC)", "CREATE VIEW od.v AS SELECT id, name FROM od.a", "COMMENT ON TABLE od.a IS 'first'", "COMMENT ON COLUMN od.a.n IS 'amount'"):
        k.execute(sql)
    me = lambda row: [None if v == DATABASE else v for v in row]
    show("tables", [me(r) for r in k.tables(schema="od")])
    show("kinds", [me(r) for r in k.tables(schema="od", tableType="VIEW")])
    show("system", sorted(me(r)[2] for r in k.tables(schema="pg_catalog", table="pg_c%")))
    for table in ("a", "b", "v"):
        for r in k.columns(schema="od", table=table):
            show("column", me(r)[:18])
    show("keys", [me(r) for r in k.primaryKeys("b", schema="od")])
    show("references", [me(r) for r in k.foreignKeys(foreignTable="b", foreignSchema="od")])
    show("referred", [me(r) for r in k.foreignKeys(table="a", schema="od")])
    for table in ("a", "b"):
        show("statistics", [[None if i in (0, 10, 11) else v for i, v in enumerate(r)] for r in k.statistics(table, schema="od")])
    show("best row", [me(r) for r in k.rowIdColumns("a", schema="od")])
    show("procedures", [me(r)[:3] for r in k.procedures(procedure="upper")])
    show("types", len(k.getTypeInfo().fetchall()) > 10)
    show("integer", [list(r)[:12] for r in k.getTypeInfo(pyodbc.SQL_INTEGER)])
    c.close()


@step
def statements():
    c = connect()
    k = c.cursor()
    k.execute("DROP TABLE IF EXISTS od_t")
    k.execute("CREATE TABLE od_t (id int PRIMARY KEY, name text, n numeric(10,2))")
    k.executemany("INSERT INTO od_t VALUES (?, ?, ?)", [(i, f"n{i}" if i % 3 else None, decimal.Decimal(i) / 4) for i in range(200)])
    k.fast_executemany = True
    k.executemany("INSERT INTO od_t VALUES (?, ?, ?)", [(i, f"größe {i}", decimal.Decimal(i)) for i in range(200, 700)])
    show("count", k.execute("SELECT count(*), sum(n), count(name) FROM od_t").fetchone())
    show("changed", (k.execute("UPDATE od_t SET n = n + ? WHERE id < ?", 1, 50).rowcount, k.execute("DELETE FROM od_t WHERE id >= ?", 600).rowcount))
    show("returned", k.execute("INSERT INTO od_t VALUES (?, ?, ?) RETURNING id, name", 9000, "r", None).fetchall())
    for i in range(12):
        row = k.execute("SELECT name, n FROM od_t WHERE id = ?", i).fetchone()
    show("again", row)
    show("several", [(k.fetchall(), k.nextset())[0] for _ in [k.execute("SELECT 1; SELECT 2, 'x'")] + [0]] )
    k.execute("SELECT id FROM od_t ORDER BY id")
    k.skip(100)
    show("portions", (k.fetchmany(3), k.fetchone(), len(k.fetchall())))
    show("null", k.execute("SELECT ?, CAST(? AS int) IS NULL", None, None).fetchall())
    show("escapes", k.execute("SELECT {fn UCASE('x')}, {fn CONCAT('a', 'b')}, {d '2024-01-02'}, {ts '2024-01-02 03:04:05'}, {fn LENGTH('abc')}, {fn MOD(7, 4)}, {fn IFNULL(NULL, 3)}").fetchone())
    show("outer", k.execute("SELECT a.id, b.id FROM {oj od_t a LEFT OUTER JOIN od_t b ON a.id = b.id + 1} WHERE a.id < 2 ORDER BY 1").fetchall())
    c.close()
    c = connect(UseDeclareFetch=1, Fetch=100)
    show("cursor", sum(len(r[1]) for r in c.execute("SELECT g, repeat('x', g % 10) FROM generate_series(1, 5000) g")))
    show("long", [len(v) for v in c.execute("SELECT repeat('y', 500000), decode(repeat('ab', 300000), 'hex')").fetchone()])
    c.close()


@step
def definitions_between():
    c = connect()
    k = c.cursor()
    k.execute("DROP TABLE IF EXISTS od_d")
    k.execute("CREATE TABLE od_d (a int, b text)")
    k.execute("INSERT INTO od_d VALUES (1, 'x')")
    for _ in range(7):
        k.execute("SELECT * FROM od_d WHERE a = ?", 1).fetchall()
    connect().execute("ALTER TABLE od_d ADD c int DEFAULT 7")
    wrong(k, "SELECT * FROM od_d WHERE a = ?", 1)
    show("anew", c.cursor().execute("SELECT * FROM od_d WHERE a  = ?", 1).fetchall())
    k.execute("DROP TABLE od_d")
    c.close()


@step
def errors_and_transactions():
    c = connect()
    for sql, values in [("INSERT INTO od_t VALUES (?, 'x', 1)", (1,)), ("SELECT 1 / ?", (0,)), ("SELECT * FROM nowhere", ()), ("SELEC 1", ()), ("SELECT CAST(? AS int)", ("x",)), ("INSERT INTO od_t (name) VALUES (?)", ("x",)), ("SELECT nofunction(1)", ()), ("CREATE TABLE od_t (a int)", ())]:
        wrong(c.cursor(), sql, *values)
    for rollback in (0, 1, 2):
        c = connect(Protocol=f"7.4-{rollback}")
        c.autocommit = False
        k = c.cursor()
        k.execute("DELETE FROM od_t WHERE id > 8000")
        k.execute("INSERT INTO od_t VALUES (8001, 'a', 1)")
        wrong(k, "INSERT INTO od_t VALUES (8001, 'b', 1)")
        wrong(k, "INSERT INTO od_t VALUES (8002, 'c', 1) RETURNING id")
        try:
            c.commit()
        except pyodbc.Error as e:
            show("commit", e.args[0])
        show(f"kept {rollback}", c.execute("SELECT id, name FROM od_t WHERE id > 8000 ORDER BY id").fetchall())
        k.execute("DELETE FROM od_t")
        c.rollback()
        show("count", c.execute("SELECT count(*) > 500 FROM od_t").fetchone())
        c.rollback()
        for level in (pyodbc.SQL_TXN_READ_COMMITTED, pyodbc.SQL_TXN_REPEATABLE_READ, pyodbc.SQL_TXN_SERIALIZABLE):
            c.set_attr(pyodbc.SQL_ATTR_TXN_ISOLATION, level)
            show("level", c.execute("SHOW transaction_isolation").fetchone()[0])
            c.rollback()
        c.close()


@step
def cancelling():
    c = connect()
    k = c.cursor()
    timer = threading.Timer(0.5, k.cancel)
    timer.start()
    wrong(k, "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b")
    timer.join()
    show("goes on", c.execute("SELECT 1").fetchone())
    c.execute("SET statement_timeout = 100")
    wrong(c.cursor(), "SELECT pg_sleep(60)")
    c.close()


end()
