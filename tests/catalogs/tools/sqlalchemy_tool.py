"""SQLAlchemy's inspector and reflection, by which Superset and others list what a database has, and Alembic's comparison. Arguments: drivers."""
import asyncio
import os
import sys

import sqlalchemy as sa
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from sqlalchemy.ext.asyncio import create_async_engine

HOST, PORT, USER, PASSWORD, DATABASE = (os.environ[name] for name in ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE"))


def ask(conn):
    inspector = sa.inspect(conn)
    inspector.get_schema_names()
    inspector.get_sequence_names("app")
    if hasattr(inspector, "get_materialized_view_names"):
        inspector.get_materialized_view_names("app")
    inspector.get_enums("*")
    inspector.get_domains("*") if hasattr(inspector, "get_domains") else None
    for schema in (None, "app"):
        tables, views = inspector.get_table_names(schema), inspector.get_view_names(schema)
        for name in [name for name in tables + views if name not in ("keyless", "Mixed Case")]:
            inspector.get_columns(name, schema)
            inspector.get_pk_constraint(name, schema)
            inspector.get_foreign_keys(name, schema)
            inspector.get_indexes(name, schema)
            inspector.get_unique_constraints(name, schema)
            inspector.get_check_constraints(name, schema)
            inspector.get_table_comment(name, schema)
            inspector.get_table_options(name, schema)
            inspector.get_table_oid(name, schema)
        for name in views:
            inspector.get_view_definition(name, schema)
    inspector.has_table("customer", "app")
    inspector.has_index("customer", "customer_name", "app")
    inspector.has_schema("app")
    inspector.has_sequence("ticket", "app")
    metadata = sa.MetaData()
    metadata.reflect(conn, schema="app", views=True)
    produce_migrations(MigrationContext.configure(conn, opts={"include_schemas": True, "compare_server_default": True}), metadata)


for driver in sys.argv[1:]:
    url = sa.URL.create(f"postgresql+{driver}", USER, PASSWORD, HOST, int(PORT), DATABASE)
    if driver == "asyncpg":
        async def run():
            async with create_async_engine(url).connect() as conn:
                await conn.run_sync(ask)
        asyncio.run(run())
    else:
        with sa.create_engine(url).connect() as conn:
            ask(conn)
