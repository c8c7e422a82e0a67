"""What Python's drivers and tools ask of a database that is there. Argument: psycopg, psycopg2, asyncpg, odbc, peewee or pgcli."""
import asyncio
import ctypes
import os
import sys

HOST, PORT, USER, PASSWORD, DATABASE = (os.environ[name] for name in ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE"))


def of_psycopg():
    """The kinds of types that it registers, by names that there are and that there are not."""
    import psycopg
    from psycopg.types import TypeInfo, composite, enum, hstore, multirange, range, string  # noqa: F401
    from psycopg.types.enum import EnumInfo
    from psycopg.types.multirange import MultirangeInfo
    from psycopg.types.range import RangeInfo
    with psycopg.connect(sslmode="disable", autocommit=True) as connection:
        for name in ("jsonb", "integer[]", "app.customer", "hstore"):
            info = TypeInfo.fetch(connection, name)
            if info is not None:
                info.register(connection)
        for name in ("app.order_line", "app.open_orders", "app.nosuch"):
            info = composite.CompositeInfo.fetch(connection, name)
            if info is not None:
                composite.register_composite(info, connection)
        EnumInfo.fetch(connection, "app.mood")
        RangeInfo.fetch(connection, "app.spans")
        MultirangeInfo.fetch(connection, "app.manyspans")
        connection.execute("SELECT c FROM app.customer c").fetchall()
        connection.execute("SELECT tags, doc FROM app.customer WHERE tags = %s", [["a"]]).fetchall()


def of_psycopg2():
    import psycopg2
    import psycopg2.extras
    connection = psycopg2.connect(sslmode="disable")
    connection.autocommit = True
    for register in (
        lambda: psycopg2.extras.register_composite("app.customer", connection),
        lambda: psycopg2.extras.register_composite("keyless", connection),
        lambda: psycopg2.extras.register_hstore(connection),
        lambda: psycopg2.extras.register_json(connection, name="jsonb"),
        lambda: psycopg2.extras.register_range("app.spans", "Spans", connection),
        lambda: psycopg2.extensions.quote_ident("a", connection),
    ):
        try:
            register()
        except psycopg2.ProgrammingError:
            pass


def of_asyncpg():
    """Types that it looks up: rows, arrays of them, and the encoders and decoders of users."""
    import json

    import asyncpg

    async def ask():
        connection = await asyncpg.connect(ssl=False)
        await connection.fetch("SELECT c FROM app.customer c")
        await connection.fetch("SELECT array_agg(o) FROM app.order_line o")
        await connection.fetch("SELECT $1::text[], $2::int[], $3::jsonb[]", ["a"], [1], ["{}"])
        await connection.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
        await connection.reset_type_codec("jsonb", schema="pg_catalog")
        try:
            await connection.set_builtin_type_codec("hstore", codec_name="pg_contrib.hstore")
        except ValueError:
            pass
        await connection.reload_schema_state()
        await connection.fetch("SELECT tags, doc FROM app.customer")
        await connection.copy_records_to_table("keyless", schema_name="app", records=[(1, "a")])
        await connection.reset()
        connection.terminate()
    asyncio.run(ask())


def of_odbc():
    """psqlodbc's functions of the catalog, by pyodbc; those that it does not have by the driver manager."""
    import pyodbc
    dsn = f"Driver={{PostgreSQL Unicode}};Server={HOST};Port={PORT};UID={USER};PWD={PASSWORD};Database={DATABASE};SSLmode=disable"
    connection = pyodbc.connect(dsn, autocommit=True)
    cursor = connection.cursor()
    for ask in (
        lambda: cursor.tables(), lambda: cursor.tables(schema="app"), lambda: cursor.tables(table="cust%", schema="ap%", tableType="TABLE,VIEW"),
        lambda: cursor.tables(catalog="%", schema="", table=""), lambda: cursor.tables(catalog="", schema="%", table=""),
        lambda: cursor.tables(tableType="%"), lambda: cursor.tables(tableType="SYSTEM TABLE,MATVIEW,FOREIGN TABLE"),
        lambda: cursor.columns(table="customer", schema="app"), lambda: cursor.columns(schema="app"), lambda: cursor.columns(table="Mixed Case", column="%e%"),
        lambda: cursor.primaryKeys("order_line", schema="app"), lambda: cursor.primaryKeys("keyless", schema="app"),
        lambda: cursor.foreignKeys(table="customer", schema="app"), lambda: cursor.foreignKeys(foreignTable="orders", foreignSchema="app"),
        lambda: cursor.foreignKeys(table="orders", schema="app", foreignTable="order_line", foreignSchema="app"),
        lambda: cursor.statistics("customer", schema="app"), lambda: cursor.statistics("order_line", schema="app", unique=True),
        lambda: cursor.rowIdColumns("customer", schema="app"), lambda: cursor.rowVerColumns("customer", schema="app"),
        lambda: cursor.procedures(schema="app"), lambda: cursor.procedures(procedure="pg_sleep"), lambda: cursor.procedureColumns(procedure="pg_sleep"),
        lambda: cursor.getTypeInfo(),
    ):
        try:
            ask().fetchall()
        except pyodbc.Error as error:
            print(error, file=sys.stderr)
    row = cursor.execute("SELECT * FROM app.customer")
    print(row.description)
    connection.close()
    odbc = ctypes.CDLL("libodbc.so.2")
    environment, handle, statement = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    odbc.SQLAllocHandle(1, None, ctypes.byref(environment))
    odbc.SQLSetEnvAttr(environment, 200, ctypes.c_void_p(3), 0)
    odbc.SQLAllocHandle(2, environment, ctypes.byref(handle))
    odbc.SQLDriverConnect(handle, None, dsn.encode(), -3, None, 0, None, 0)

    def call(function, *names):
        odbc.SQLAllocHandle(3, handle, ctypes.byref(statement))
        args = [part for name in names for part in (name if name is None else name.encode(), -3)]
        function(statement, *args)
        while odbc.SQLFetch(statement) in (0, 1):
            pass
        odbc.SQLFreeHandle(3, statement)
    call(odbc.SQLTablePrivileges, None, "app", "%")
    call(odbc.SQLTablePrivileges, None, "app", "customer")
    call(odbc.SQLColumnPrivileges, None, "app", "customer", "%")
    odbc.SQLDisconnect(handle)


def of_peewee():
    from playhouse.postgres_ext import PostgresqlExtDatabase
    from playhouse.reflection import Introspector
    database = PostgresqlExtDatabase(DATABASE, user=USER, password=PASSWORD, host=HOST, port=int(PORT), sslmode="disable")
    Introspector.from_database(database, schema="app").introspect()
    for table in ("customer", "orders", "order_line"):
        for ask in (database.get_columns, database.get_indexes, database.get_foreign_keys, database.get_primary_keys):
            ask(table, "app")
    database.get_tables("app")
    database.get_views("app")
    database.sequence_exists("customer_id_seq")


def of_pgcli():
    """What it fills its completions with."""
    from pgcli.pgexecute import PGExecute
    from pgspecial.main import PGSpecial
    execute = PGExecute(DATABASE, USER, PASSWORD, HOST, PORT, None)
    for name in ("search_path", "schemata", "tables", "views", "table_columns", "view_columns", "databases", "foreignkeys", "datatypes", "functions", "casing", "full_databases"):
        found = getattr(execute, name)()
        if not isinstance(found, (list, str)):
            list(found or [])
    execute.view_definition("app.open_orders")
    for command in ("\\d", "\\d app.customer", "\\dt+ app.*", "\\di", "\\dv", "\\ds", "\\df lower", "\\dn", "\\du", "\\l", "\\dT", "\\dx", "\\dD", "\\db", "\\dp app.*", "\\ddp", "\\dE"):
        for result in execute.run(command, PGSpecial()):
            list(result[1] or [])


globals()["of_" + sys.argv[1]]()
