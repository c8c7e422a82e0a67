"""SQLAlchemy with Alembic: what is reflected is what was made, and autogenerate finds what changed and nothing else."""
import asyncio
import contextlib
import io
import os
import ssl
import sys
import tempfile
import types

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.ext.asyncio import create_async_engine

from common import DATABASE, HOST, PASSWORD, PORT, USER, end, show, step

ROOT = os.environ.get("PGSSLROOTCERT")
URL = {name: sa.URL.create(f"postgresql+{name}", USER, PASSWORD, HOST, int(PORT), DATABASE) for name in ("psycopg2", "psycopg", "asyncpg")}
engine = sa.create_engine(URL["psycopg2"])
engine3 = sa.create_engine(URL["psycopg"])
NAMES = {"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_%(column_0_N_name)s", "ck": "ck_%(table_name)s_%(constraint_name)s",
         "fk": "fk_%(table_name)s_%(column_0_N_name)s", "pk": "pk_%(table_name)s"}


def first(schema=None):
    m = sa.MetaData(naming_convention=NAMES, schema=schema)
    at = f"{schema}." if schema else ""
    sa.Table("customer", m, sa.Column("id", sa.Integer, sa.Identity(always=True, start=10, increment=5), primary_key=True),
             sa.Column("name", sa.String(80), nullable=False, comment="as on the letter; it's \"quoted\""), sa.Column("mail", sa.Text, unique=True),
             sa.Column("since", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False), sa.Column("active", sa.Boolean, server_default=sa.true(), nullable=False),
             sa.Column("limit_of", sa.Numeric(12, 2), server_default=sa.text("100.00")), sa.CheckConstraint("limit_of >= 0 AND limit_of < 1000000", name="limit"),
             sa.Index("ix_customer_lower", sa.text("lower(name)")), sa.Index("ix_customer_active", "since", postgresql_where=sa.text("active")), comment="who buys")
    sa.Table("product", m, sa.Column("id", sa.BigInteger, primary_key=True), sa.Column("code", sa.CHAR(8), nullable=False), sa.Column("kind", sa.SmallInteger, nullable=False, server_default="1"),
             sa.Column("price", sa.Numeric(10, 2), nullable=False), sa.Column("total", sa.Numeric(10, 2), sa.Computed("price * 2", persisted=True)), sa.Column("tags", pg.ARRAY(sa.Text), server_default="{}"),
             sa.Column("extra", pg.JSONB, server_default=sa.text("'{}'::jsonb")), sa.Column("raw", sa.LargeBinary), sa.Column("guid", sa.Uuid, server_default=sa.text("gen_random_uuid()")),
             sa.Column("made", sa.Date), sa.Column("at", sa.Time), sa.Column("lasts", sa.Interval), sa.Column("weight", sa.Double), sa.Column("seen", sa.DateTime), sa.Column("doc", sa.JSON),
             sa.UniqueConstraint("code", "kind"), sa.Index(None, "price", postgresql_ops={}, postgresql_include=["code"]), sa.Index("ix_product_desc", sa.text("made DESC NULLS LAST"), "kind"))
    sa.Table("sale", m, sa.Column("customer_id", sa.Integer, sa.ForeignKey(f"{at}customer.id", ondelete="CASCADE", onupdate="RESTRICT"), primary_key=True),
             sa.Column("line", sa.Integer, sa.Sequence("sale_line_seq", start=100), primary_key=True, autoincrement=False), sa.Column("product_id", sa.BigInteger, nullable=False),
             sa.Column("parent_customer", sa.Integer), sa.Column("parent_line", sa.Integer), sa.Column("n", sa.Integer, nullable=False),
             sa.ForeignKeyConstraint(["product_id"], [f"{at}product.id"], deferrable=True, initially="DEFERRED"),
             sa.ForeignKeyConstraint(["parent_customer", "parent_line"], [f"{at}sale.customer_id", f"{at}sale.line"], ondelete="SET NULL"),
             sa.CheckConstraint("n > 0", name="positive"), sa.Index(None, "product_id", "n"))
    return m


def second(schema=None):
    """What `first` has become."""
    m = first(schema)
    at = f"{schema}." if schema else ""
    customer, product, sale = (m.tables[at + name] for name in ("customer", "product", "sale"))
    customer.append_column(sa.Column("phone", sa.String(20), nullable=True, comment="new"))
    customer.c.name.type = sa.String(120)
    customer.c.name.comment = None
    customer.c.active.server_default = sa.DefaultClause("false")
    customer.c.limit_of.server_default = None
    customer.comment = "who buys, or might"
    customer.indexes.remove(next(i for i in customer.indexes if i.name == "ix_customer_lower"))
    sa.Index(None, customer.c.mail, customer.c.phone, unique=True)
    product.c.kind.nullable = True
    product.c.kind.type = sa.Integer()
    customer.c.limit_of.type = sa.Numeric(14, 4)
    product.constraints.remove(next(c for c in product.constraints if isinstance(c, sa.UniqueConstraint)))
    product.append_constraint(sa.UniqueConstraint(product.c.code))
    sale.constraints.remove(next(c for c in sale.constraints if isinstance(c, sa.ForeignKeyConstraint) and len(c.columns) == 2))
    sale.append_constraint(sa.ForeignKeyConstraint([sale.c.parent_customer], [customer.c.id]))
    sa.Table("note", m, sa.Column("id", sa.Integer, primary_key=True), sa.Column("body", sa.Text, nullable=False), sa.Column("sale_customer", sa.Integer, sa.ForeignKey(f"{at}customer.id"), index=True))
    return m


def inspected(i, schema=None):
    for table in sorted(i.get_table_names(schema)):
        show("table", (table, i.get_table_comment(table, schema), i.get_pk_constraint(table, schema)))
        for column in i.get_columns(table, schema):
            show("  column", {k: str(v) if k == "type" else v for k, v in sorted(column.items())})
        for what in ("indexes", "unique_constraints", "foreign_keys", "check_constraints"):
            for found in sorted(getattr(i, f"get_{what}")(table, schema), key=lambda f: f["name"]):
                show(f"  {what}", found)
    show("sequences", sorted(i.get_sequence_names(schema)))
    show("views", (sorted(i.get_view_names(schema)), sorted(i.get_materialized_view_names(schema)), sorted(i.get_temp_table_names())))


def compared(c, metadata, schema=None):
    def ours(name, type_, parents):
        return name == schema if type_ == "schema" else True
    return MigrationContext.configure(c, opts={"compare_type": True, "compare_server_default": True, "include_schemas": schema is not None, "include_name": ours, "target_metadata": metadata})


def clean(schema):
    with engine.begin() as c:
        c.execute(sa.text("DROP SCHEMA IF EXISTS alembic CASCADE"))
        for (table,) in c.execute(sa.text("SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'public'")).all():
            c.execute(sa.text(f"DROP TABLE {table} CASCADE"))
        c.execute(sa.text("DROP SEQUENCE IF EXISTS sale_line_seq CASCADE"))
        if schema:
            c.execute(sa.text(f"CREATE SCHEMA {schema}"))


def whole_life(schema):
    clean(schema)
    m = first(schema)
    m.create_all(engine)
    m.create_all(engine3, checkfirst=True)
    for e in (engine, engine3):
        inspected(sa.inspect(e), schema)
        with e.connect() as c:
            show("unchanged", compare_metadata(compared(c, m, schema), m))
    with engine.connect() as c:
        reflected = sa.MetaData(schema=schema)
        reflected.reflect(c)
        for table in reflected.sorted_tables:
            show("reflected", " ".join(str(sa.schema.CreateTable(table).compile(engine)).split()))
    with engine.begin() as c:
        context = compared(c, second(schema), schema)
        script = produce_migrations(context, second(schema))
        lines = render_python_code(script.upgrade_ops).splitlines()
        for line in lines:
            show("up", line.strip())
        back = [line.strip() for line in render_python_code(script.downgrade_ops).splitlines()]
        show("down", back)
        operations = Operations(context)
        def run(op):
            if hasattr(op, "ops"):
                for o in op.ops:
                    run(o)
            else:
                operations.invoke(op)
        run(script.upgrade_ops)
    with engine.connect() as c:
        show("after upgrade", compare_metadata(compared(c, second(schema), schema), second(schema)))
    inspected(sa.inspect(engine), schema)
    with engine.begin() as c:
        context = compared(c, m, schema)
        operations = Operations(context)
        run(script.downgrade_ops)
    with engine.connect() as c:
        show("after downgrade", compare_metadata(compared(c, m, schema), m))
    inspected(sa.inspect(engine3), schema)
    m.drop_all(engine)
    show("left", sa.inspect(engine).get_table_names(schema))


@step
def in_the_schema_public():
    whole_life(None)


@step
def in_a_schema_of_its_own():
    whole_life("alembic")


@step
def the_command():
    """`alembic init`, `revision --autogenerate`, `upgrade`, `check`, `downgrade`, as one types them."""
    seen = []
    clean(None)
    with tempfile.TemporaryDirectory() as work, contextlib.redirect_stdout(io.StringIO()):
        config = Config(f"{work}/alembic.ini")
        command.init(config, f"{work}/alembic", template="generic")
        config.set_main_option("script_location", f"{work}/alembic")
        config.set_main_option("sqlalchemy.url", URL["psycopg"].render_as_string(hide_password=False).replace("%", "%%"))
        env = open(f"{work}/alembic/env.py").read().replace("target_metadata = None", "import alembic_models\ntarget_metadata = alembic_models.metadata")
        open(f"{work}/alembic/env.py", "w").write(env)
        models = sys.modules["alembic_models"] = types.ModuleType("alembic_models")
        models.metadata = first()
        command.revision(config, "first", autogenerate=True)
        command.upgrade(config, "head")
        command.check(config)
        models.metadata = second()
        command.revision(config, "second", autogenerate=True)
        command.upgrade(config, "head")
        command.check(config)
        seen.append(sorted(sa.inspect(engine).get_table_names()))
        command.downgrade(config, "-1")
        seen.append(sorted(sa.inspect(engine).get_table_names()))
        command.downgrade(config, "base")
        seen.append(sorted(sa.inspect(engine).get_table_names()))
        command.upgrade(config, "head")
        command.downgrade(config, "base")
    show("tables", seen)
    clean(None)


@step
def with_asyncpg():
    secured = ssl.create_default_context(cafile=ROOT) if ROOT else False

    async def main():
        e = create_async_engine(URL["asyncpg"], connect_args={"ssl": secured})
        m = first("alembic")
        async with e.begin() as c:
            await c.execute(sa.text("DROP SCHEMA IF EXISTS alembic CASCADE"))
            await c.execute(sa.text("CREATE SCHEMA alembic"))
            await c.run_sync(m.create_all)
        async with e.connect() as c:
            await c.run_sync(lambda c: inspected(sa.inspect(c), "alembic"))
        product = m.tables["alembic.product"]
        async with e.begin() as c:
            await c.execute(product.insert(), [{"id": i, "code": f"c{i}", "price": i, "tags": ["x", str(i)], "extra": {"i": i}, "doc": [1, None]} for i in range(300)])
            rows = (await c.execute(sa.select(product.c.id, product.c.total, product.c.tags, product.c.extra["i"].as_integer(), product.c.doc).where(product.c.id < 3).order_by(product.c.id))).all()
            show("rows", rows)
            n = 0
            async for row in await c.stream(sa.select(product.c.code).order_by(product.c.id)):
                n += len(row[0].strip())
            show("streamed", n)
        async with e.begin() as c:
            await c.run_sync(m.drop_all)
        await e.dispose()
    asyncio.run(main())


if __name__ == "__main__":
    end()
