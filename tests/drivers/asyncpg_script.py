"""The drivers' script with asyncpg: everything prepared and in binary."""
import asyncio, sys
import asyncpg

PORT, TYPES = int(sys.argv[1]), sys.argv[2]
failed = []


async def connect():
    return await asyncpg.connect(host="127.0.0.1", port=PORT, user="stoa", database="stoa", server_settings={"TimeZone": "UTC"})


async def check(name, f):
    c = await connect()
    try:
        await asyncio.wait_for(f(c), 120)
        print(f"ok {name}")
    except Exception as e:
        failed.append(name)
        print(f"FAIL {name}: {type(e).__name__}: {e}")
    finally:
        c.terminate()


async def fails(sqlstate, awaitable):
    try:
        await awaitable
    except asyncpg.PostgresError as e:
        assert e.sqlstate == sqlstate, (e.sqlstate, sqlstate, str(e))
        return e
    raise AssertionError(f"no error {sqlstate}")


async def types(c):
    for line in open(TYPES, encoding="utf-8"):
        ty, text = line.rstrip("\n").split("\t", 1)
        value = await c.fetchval(f"SELECT $1::text::{ty}", text)
        if ty == "interval":  # asyncpg has no months
            continue
        got = tuple(await c.fetchrow(f"SELECT ($1::{ty})::text, $2::{ty}", value, None))
        expected = text.rstrip() if ty == "char(5)" else text
        assert got == (expected, None), (ty, got, expected)


async def batch(c):
    await c.execute("DROP TABLE IF EXISTS asyncpg_t")
    await c.execute("CREATE TABLE asyncpg_t (id int PRIMARY KEY, name text, n numeric)")
    await c.executemany("INSERT INTO asyncpg_t VALUES ($1, $2, $3)", [(i, None if i % 2 else f"n{i}", i) for i in range(1000)])
    assert tuple(await c.fetchrow("SELECT count(*), count(name), sum(n)::int FROM asyncpg_t")) == (1000, 500, 499500)


async def copy(c):
    await c.execute("DELETE FROM asyncpg_t")
    tag = await c.copy_records_to_table("asyncpg_t", records=[(i, None if i % 3 == 0 else f"x\t{i}", i) for i in range(5000)])
    assert tag == "COPY 5000", tag
    out = bytearray()

    async def sink(data):
        out.extend(data)

    await c.copy_from_query("SELECT id, name FROM asyncpg_t WHERE id < $1 ORDER BY id", 3, output=sink)
    assert bytes(out) == b"0\t\\N\n1\tx\\t1\n2\tx\\t2\n", bytes(out)


async def errors(c):
    e = await fails("23505", c.execute("INSERT INTO asyncpg_t VALUES ($1)", 1))
    assert e.constraint_name == "asyncpg_t_pkey"
    await fails("22012", c.fetch("SELECT 1 / $1::int", 0))
    await fails("42P01", c.fetch("SELECT * FROM nowhere"))
    await fails("42601", c.fetch("SELEC 1"))
    await fails("23502", c.execute("INSERT INTO asyncpg_t VALUES (NULL)"))
    async with c.transaction():
        await c.execute("INSERT INTO asyncpg_t VALUES (-1)")
        try:
            async with c.transaction():
                await c.execute("INSERT INTO asyncpg_t VALUES (-2)")
                await c.execute("SELECT 1 / 0")
        except asyncpg.DivisionByZeroError:
            pass
    assert [r[0] for r in await c.fetch("SELECT id FROM asyncpg_t WHERE id < 0")] == [-1]
    await c.execute("BEGIN")
    await fails("22012", c.execute("SELECT 1 / 0"))
    await fails("25P02", c.execute("SELECT 1"))
    await c.execute("ROLLBACK")


async def prepared(c):
    statement = await c.prepare("SELECT n::int + $1 FROM asyncpg_t WHERE id = $2")
    assert [p.name for p in statement.get_parameters()] == ["int4", "int4"], statement.get_parameters()
    for i in range(20):
        assert await statement.fetchval(i, 7) == 7 + i
    async with c.transaction():
        found = [r[0] async for r in c.cursor("SELECT id FROM asyncpg_t WHERE id BETWEEN 0 AND 999 ORDER BY id", prefetch=100)]
    assert found == list(range(1000))


async def pool(_):
    async with asyncpg.create_pool(host="127.0.0.1", port=PORT, user="stoa", database="stoa", min_size=1, max_size=3) as pool:
        assert sorted(await asyncio.gather(*(pool.fetchval("SELECT $1::int", i) for i in range(20)))) == list(range(20))


async def cancel(c):
    try:
        await c.fetch("SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b", timeout=0.5)
        raise AssertionError("no timeout")
    except asyncio.TimeoutError:
        pass
    assert await c.fetchval("SELECT 1") == 1


async def main():
    for name, f in [("types", types), ("batch", batch), ("copy", copy), ("errors", errors), ("prepared", prepared), ("pool", pool),
                    ("cancel", cancel)]:
        await check(name, f)
    sys.exit(1 if failed else 0)


asyncio.run(main())
