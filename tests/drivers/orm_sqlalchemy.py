#!/usr/bin/env python3
"""An ORM's usual life: SQLAlchemy with psycopg and with asyncpg, and Alembic's migrations, unchanged against Stoa.

    orm_sqlalchemy.py "host=127.0.0.1 port=5433 user=stoa dbname=stoa"

Needs sqlalchemy, alembic, psycopg, asyncpg. Each test runs in a schema of its own.
"""
import asyncio, datetime, decimal, pathlib, sys, tempfile, time, uuid

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

DSN = dict(pair.split("=", 1) for pair in (sys.argv[1] if len(sys.argv) > 1 else "host=127.0.0.1 port=5433 user=stoa dbname=stoa").split())
URL = "postgresql+{}://" + f"{DSN['user']}@{DSN['host']}:{DSN['port']}/{DSN['dbname']}"
SCHEMA = f"orm_{int(time.time() * 1000) % 10**8}"


class Base(orm.DeclarativeBase):
    metadata = sa.MetaData(schema=SCHEMA, naming_convention={
        "ix": "ix_%(column_0_label)s", "uq": "uq_%(table_name)s_%(column_0_name)s", "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s", "pk": "pk_%(table_name)s"})


tagged = sa.Table("tagged", Base.metadata,
                  sa.Column("article_id", sa.ForeignKey(f"{SCHEMA}.article.id", ondelete="CASCADE"), primary_key=True),
                  sa.Column("tag_id", sa.ForeignKey(f"{SCHEMA}.tag.id"), primary_key=True))


class Author(Base):
    __tablename__ = "author"
    id: orm.Mapped[int] = orm.mapped_column(sa.Identity(), primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(80), unique=True)
    born: orm.Mapped[datetime.date | None]
    articles: orm.Mapped[list["Article"]] = orm.relationship(back_populates="author", cascade="all, delete-orphan", order_by="Article.id")


class Tag(Base):
    __tablename__ = "tag"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)  # serial
    word: orm.Mapped[str] = orm.mapped_column(sa.Text, unique=True)


class Article(Base):
    __tablename__ = "article"
    id: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, primary_key=True)
    author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey(f"{SCHEMA}.author.id"), index=True)
    title: orm.Mapped[str] = orm.mapped_column(sa.String(200))
    price: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(10, 2), server_default="0")
    created: orm.Mapped[datetime.datetime] = orm.mapped_column(sa.DateTime(timezone=True), server_default=sa.func.now())
    code: orm.Mapped[uuid.UUID] = orm.mapped_column(sa.Uuid, default=uuid.uuid4)
    extra: orm.Mapped[dict] = orm.mapped_column(pg.JSONB, default=dict)
    words: orm.Mapped[list[str]] = orm.mapped_column(pg.ARRAY(sa.Text), default=list)
    version: orm.Mapped[int] = orm.mapped_column(default=1)
    author: orm.Mapped[Author] = orm.relationship(back_populates="articles")
    tags: orm.Mapped[list[Tag]] = orm.relationship(secondary=tagged, order_by=Tag.word)
    __mapper_args__ = {"version_id_col": version}
    __table_args__ = (sa.CheckConstraint("price >= 0", name="price"),)


results = []


def test(f):
    try:
        f()
        print(f"ok   {f.__name__}", flush=True)
        results.append(True)
    except Exception as e:  # the others go on
        print(f"FAIL {f.__name__}: {type(e).__name__}: {' '.join(str(e).split())[:600]}", flush=True)
        results.append(False)


engine = sa.create_engine(URL.format("psycopg"))


def metadata_is_created():
    with engine.begin() as c:
        c.execute(sa.schema.CreateSchema(SCHEMA))
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)  # finds them by reflection


def objects_are_stored_and_loaded():
    with orm.Session(engine) as s, s.begin():
        ada = Author(name="Ada", born=datetime.date(1815, 12, 10))
        ada.articles = [Article(title="Notes", price=decimal.Decimal("12.50"), extra={"pages": 66, "by": ["A", "L"]}, words=["engine", "number"]),
                        Article(title="Letters", tags=[Tag(word="mail"), Tag(word="math")])]
        s.add_all([ada, Author(name="Bob")])
    with orm.Session(engine) as s:
        ada = s.scalars(sa.select(Author).where(Author.name == "Ada")).one()
        assert [a.title for a in ada.articles] == ["Notes", "Letters"]
        notes = ada.articles[0]
        assert notes.price == decimal.Decimal("12.50") and notes.extra["by"] == ["A", "L"] and notes.words == ["engine", "number"]
        assert notes.created.tzinfo is not None and isinstance(notes.code, uuid.UUID)
        assert [t.word for t in ada.articles[1].tags] == ["mail", "math"]


def queries_of_all_kinds():
    with orm.Session(engine) as s:
        eager = s.scalars(sa.select(Author).options(orm.joinedload(Author.articles).selectinload(Article.tags)).order_by(Author.id)).unique().all()
        assert [len(a.articles) for a in eager] == [2, 0]
        counts = s.execute(sa.select(Author.name, sa.func.count(Article.id)).join(Author.articles, isouter=True).group_by(Author.id).order_by(Author.name)).all()
        assert counts == [("Ada", 2), ("Bob", 0)], counts
        exists = s.scalars(sa.select(Author).where(Author.articles.any(Article.title.ilike("not%")))).all()
        assert [a.name for a in exists] == ["Ada"]
        page = s.scalars(sa.select(Article.title).order_by(Article.title.desc()).limit(1).offset(1)).all()
        assert page == ["Letters"]
        assert s.scalar(sa.select(Article.extra["pages"].as_integer()).where(Article.title == "Notes")) == 66
        cte = sa.select(Article.author_id.label("a"), sa.func.sum(Article.price).label("p")).group_by(Article.author_id).cte("sums")
        assert s.execute(sa.select(Author.name, cte.c.p).join(cte, cte.c.a == Author.id)).all() == [("Ada", decimal.Decimal("12.50"))]
        assert s.scalars(sa.select(Author).where(Author.id.in_([1, 2, 3]))).all()


def bulk_and_upsert():
    with orm.Session(engine) as s, s.begin():
        ids = s.scalars(sa.insert(Tag).returning(Tag.id, sort_by_parameter_order=True), [{"word": f"w{n}"} for n in range(2500)]).all()
        assert len(set(ids)) == 2500
        up = pg.insert(Tag).values([{"word": "w1"}, {"word": "new"}])
        s.execute(up.on_conflict_do_nothing(index_elements=[Tag.word]))
        up = pg.insert(Tag).values(word="w1")
        assert s.scalar(up.on_conflict_do_update(index_elements=[Tag.word], set_={"word": up.excluded.word + "!"}).returning(Tag.word)) == "w1!"
        assert s.execute(sa.update(Tag).where(Tag.word.like("w2%")).values(word=sa.func.upper(Tag.word))).rowcount > 100
        assert s.execute(sa.delete(Tag).where(Tag.word.like("w%"))).rowcount > 1000


def nested_transactions():
    with orm.Session(engine) as s:
        s.add(Author(name="Outer"))
        try:
            with s.begin_nested():
                s.add(Author(name="Ada"))
                s.flush()
            raise AssertionError("a duplicate name was stored")
        except sa.exc.IntegrityError as e:
            assert e.orig.sqlstate == "23505" and e.orig.diag.constraint_name == "uq_author_name", e.orig.diag.constraint_name
        with s.begin_nested():
            s.add(Author(name="Inner"))
            inner = s.begin_nested()
            s.add(Author(name="Deeper"))
            s.flush()
            inner.rollback()
        s.commit()
        names = s.scalars(sa.select(Author.name).order_by(Author.name)).all()
        assert names == ["Ada", "Bob", "Inner", "Outer"], names


def constraint_errors_have_their_fields():
    with orm.Session(engine) as s:
        for thing, state, name in [(Article(title="x", author_id=999), "23503", "fk_article_author_id_author"),
                                   (Article(title="x", author_id=1, price=-1), "23514", "ck_article_price"),
                                   (Article(title=None, author_id=1), "23502", None)]:
            s.add(thing)
            try:
                s.flush()
                raise AssertionError(f"{state} did not come")
            except sa.exc.IntegrityError as e:
                assert e.orig.sqlstate == state and e.orig.diag.constraint_name == name, (e.orig.sqlstate, e.orig.diag.constraint_name)
            s.rollback()


def optimistic_versions():
    with orm.Session(engine) as one, orm.Session(engine) as two:
        a = one.scalars(sa.select(Article).where(Article.title == "Notes")).one()
        b = two.scalars(sa.select(Article).where(Article.title == "Notes")).one()
        a.price = decimal.Decimal("13")
        one.commit()
        b.price = decimal.Decimal("14")
        try:
            two.commit()
            raise AssertionError("the second update was not refused")
        except orm.exc.StaleDataError:
            two.rollback()
        assert a.version == 2


def row_locks_and_levels():
    with orm.Session(engine) as one, orm.Session(engine) as two:
        a = one.scalars(sa.select(Author).where(Author.name == "Ada").with_for_update()).one()
        try:
            two.scalars(sa.select(Author).where(Author.name == "Ada").with_for_update(nowait=True)).one()
            raise AssertionError("the lock was taken twice")
        except sa.exc.OperationalError as e:
            assert e.orig.sqlstate == "55P03"
            two.rollback()
        free = two.scalars(sa.select(Author).order_by(Author.id).with_for_update(skip_locked=True, key_share=True)).all()
        assert "Ada" not in [f.name for f in free] and free
        two.rollback()
        one.rollback()
    serial = engine.execution_options(isolation_level="SERIALIZABLE")
    with orm.Session(serial) as one, orm.Session(serial) as two:
        for s in (one, two):
            s.scalar(sa.select(sa.func.count()).select_from(Author))
        one.add(Author(name="S1"))
        two.add(Author(name="S2"))
        one.commit()
        try:
            two.commit()
            raise AssertionError("write skew")
        except sa.exc.DBAPIError as e:
            assert e.orig.sqlstate == "40001", e.orig.sqlstate
            two.rollback()
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
        c.execute(sa.text(f"DELETE FROM {SCHEMA}.author WHERE name = 'S1'"))


def cascades_and_orphans():
    with orm.Session(engine) as s, s.begin():
        ada = s.scalars(sa.select(Author).where(Author.name == "Ada")).one()
        ada.articles.pop()
    with orm.Session(engine) as s, s.begin():
        assert s.scalar(sa.select(sa.func.count()).select_from(Article)) == 1
        s.delete(s.scalars(sa.select(Author).where(Author.name == "Ada")).one())
    with orm.Session(engine) as s:
        assert s.scalar(sa.select(sa.func.count()).select_from(Article)) == 0
        assert s.scalar(sa.select(sa.func.count()).select_from(tagged)) == 0


def streaming_results():
    with engine.connect().execution_options(yield_per=100, stream_results=True) as c:
        assert sum(1 for _ in c.execute(sa.text("SELECT n FROM generate_series(1, 5000) n"))) == 5000


def reflection():
    inspector = sa.inspect(engine)
    assert set(inspector.get_table_names(SCHEMA)) >= {"author", "article", "tag", "tagged"}
    columns = {c["name"]: c for c in inspector.get_columns("article", SCHEMA)}
    assert isinstance(columns["price"]["type"], sa.Numeric) and columns["price"]["type"].scale == 2
    assert isinstance(columns["extra"]["type"], pg.JSONB) and isinstance(columns["words"]["type"], pg.ARRAY)
    assert columns["created"]["type"].timezone and not columns["title"]["nullable"]
    assert inspector.get_pk_constraint("tagged", SCHEMA)["constrained_columns"] == ["article_id", "tag_id"]
    keys = inspector.get_foreign_keys("article", SCHEMA)
    assert [(k["constrained_columns"], k["referred_table"], k["name"]) for k in keys] == [(["author_id"], "author", "fk_article_author_id_author")], keys
    assert any(i["column_names"] == ["author_id"] for i in inspector.get_indexes("article", SCHEMA))
    assert [u["column_names"] for u in inspector.get_unique_constraints("author", SCHEMA)] == [["name"]]
    assert [c["name"] for c in inspector.get_check_constraints("article", SCHEMA)] == ["ck_article_price"]
    meta = sa.MetaData()
    meta.reflect(engine, schema=SCHEMA)
    assert f"{SCHEMA}.article" in meta.tables


def asynchronous_sessions():
    async def work():
        engine = create_async_engine(URL.format("asyncpg"))
        async with AsyncSession(engine) as s:
            s.add(Author(name="Async", articles=[Article(title="one", extra={"a": 1}, words=["x"], price=decimal.Decimal("1.25"))]))
            await s.commit()
            a = (await s.scalars(sa.select(Author).options(orm.selectinload(Author.articles)).where(Author.name == "Async"))).one()
            assert a.articles[0].extra == {"a": 1} and a.articles[0].price == decimal.Decimal("1.25")
            try:
                async with s.begin_nested():
                    s.add(Author(name="Async"))
                    await s.flush()
            except sa.exc.IntegrityError as e:
                assert e.orig.sqlstate == "23505"
            await s.commit()

        async def add(n):
            async with AsyncSession(engine) as s:
                s.add(Tag(word=f"async {n}"))
                await s.commit()
        await asyncio.gather(*(add(n) for n in range(8)))
        async with engine.connect() as c:
            assert await c.scalar(sa.select(sa.func.count()).select_from(Tag).where(Tag.word.like("async%"))) == 8
            rows = [r async for r in await c.stream(sa.text("SELECT n FROM generate_series(1, 300) n"))]
            assert len(rows) == 300
        await engine.dispose()
    asyncio.run(work())


def migrations():
    from alembic import command
    from alembic.autogenerate import compare_metadata
    from alembic.config import Config
    from alembic.migration import MigrationContext
    schema = SCHEMA + "_m"
    with engine.begin() as c:
        c.execute(sa.schema.CreateSchema(schema))
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "versions").mkdir()
        (work / "env.py").write_text(f"""
from alembic import context
import sqlalchemy as sa
engine = sa.create_engine({URL.format('psycopg')!r}, connect_args={{"options": "-c search_path={schema}"}})
with engine.connect() as connection:
    context.configure(connection=connection, transactional_ddl=True, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()
""")
        def version(name, down, up_body, down_body):
            (work / "versions" / f"{name}.py").write_text(
                f"from alembic import op\nimport sqlalchemy as sa\nrevision = {name!r}\ndown_revision = {down!r}\n\n\ndef upgrade():\n"
                + "".join(f"    {l}\n" for l in up_body) + "\n\ndef downgrade():\n" + "".join(f"    {l}\n" for l in down_body or ["pass"]))
        version("v1", None, ["op.create_table('thing', sa.Column('id', sa.Integer, primary_key=True), sa.Column('name', sa.String(20), nullable=False))",
                             "op.bulk_insert(sa.table('thing', sa.column('name', sa.String)), [{'name': 'a'}, {'name': 'b'}])"],
                ["op.drop_table('thing')"])
        version("v2", "v1", ["op.add_column('thing', sa.Column('size', sa.Integer, server_default='7', nullable=False))",
                             "op.create_index('thing_name', 'thing', ['name'], unique=True)",
                             "op.alter_column('thing', 'name', type_=sa.Text())",
                             "op.create_check_constraint('thing_size', 'thing', 'size > 0')",
                             "op.create_table('part', sa.Column('id', sa.Integer, primary_key=True), sa.Column('thing_id', sa.Integer))",
                             "op.create_foreign_key('part_thing', 'part', 'thing', ['thing_id'], ['id'], ondelete='SET NULL')",
                             "op.execute(\"UPDATE thing SET size = 9 WHERE name = 'b'\")"],
                ["op.drop_constraint('part_thing', 'part', type_='foreignkey')", "op.drop_table('part')",
                 "op.drop_constraint('thing_size', 'thing')", "op.drop_index('thing_name')", "op.alter_column('thing', 'name', type_=sa.String(20))",
                 "op.drop_column('thing', 'size')"])
        version("v3", "v2", ["op.rename_table('thing', 'object')", "op.alter_column('object', 'size', new_column_name='extent')"],
                ["op.alter_column('object', 'extent', new_column_name='size')", "op.rename_table('object', 'thing')"])
        version("v4", "v3", ["op.add_column('object', sa.Column('bad', sa.Integer))", "op.execute('SELECT 1/0')"], [])
        config = Config()
        config.set_main_option("script_location", str(work))
        config.set_main_option("path_separator", "os")
        command.upgrade(config, "v3")
        with engine.connect() as c:
            assert c.execute(sa.text(f"SELECT name, extent FROM {schema}.object ORDER BY name")).all() == [("a", 7), ("b", 9)]
        try:
            command.upgrade(config, "v4")
            raise AssertionError("a failing migration passed")
        except sa.exc.DBAPIError as e:
            assert e.orig.sqlstate == "22012"
        with engine.connect() as c:
            assert c.scalar(sa.text(f"SELECT version_num FROM {schema}.alembic_version")) == "v3"
            assert "bad" not in [col["name"] for col in sa.inspect(c).get_columns("object", schema)], "a failed migration left a column"
        command.downgrade(config, "base")
        with engine.connect() as c:
            assert sa.inspect(c).get_table_names(schema) == ["alembic_version"]
    with engine.connect() as c:
        context = MigrationContext.configure(c, opts={"include_schemas": True, "include_name": lambda name, kind, parents: kind != "schema" or name == SCHEMA})
        differences = compare_metadata(context, Base.metadata)
        assert not differences, differences
    with engine.begin() as c:
        c.execute(sa.schema.DropSchema(schema, cascade=True))


def everything_is_dropped():
    Base.metadata.drop_all(engine)
    with engine.begin() as c:
        c.execute(sa.schema.DropSchema(SCHEMA, cascade=True))


for f in (metadata_is_created, objects_are_stored_and_loaded, queries_of_all_kinds, bulk_and_upsert, nested_transactions,
          constraint_errors_have_their_fields, optimistic_versions, row_locks_and_levels, reflection, cascades_and_orphans, streaming_results,
          asynchronous_sessions, migrations, everything_is_dropped):
    test(f)
engine.dispose()
print(f"orm: {sum(results)} of {len(results)} tests pass")
sys.exit(0 if all(results) else 1)
