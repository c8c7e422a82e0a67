#!/usr/bin/env python3
"""The limit on memory: hostile statements, one by one and many at once.

    memory.py BINARY [--limits 256MB,512MB,1GB] [--clients 8] [--seconds 20] [--beyond 0.25] [--seed N] [--each]

Every statement ends with its right answer or with 53200 (out of memory); the process has no more than its limit, or passes it by the
share that --beyond allows, for what is taken between two questions; afterwards the server answers. Pages of files, which the system takes
back when it needs them, count for an eighth of the limit, as they do in the server: memory of the process's own is looked at every few
milliseconds, and the most that it had with all pages of files is printed beside it. --each prints what every statement took at most when it
ran alone.
"""
import argparse, pathlib, random, sys, tempfile, threading, time

import psycopg

sys.path.insert(0, str(pathlib.Path(__file__).parent / "history"))
from server import Server

ROWS = 200_000
SETUP = f"""
CREATE TABLE big (id bigint PRIMARY KEY, k int, v text);
INSERT INTO big SELECT g, g % 1000, md5(g::text) FROM generate_series(1, {ROWS}) g;
CREATE INDEX ON big (k);
CREATE TABLE wide (id int PRIMARY KEY, v text);
INSERT INTO wide SELECT g, repeat(md5(g::text), 3000) FROM generate_series(1, 400) g;
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs SELECT g, 'common word' || g || ' ' || repeat('filler ', 20) FROM generate_series(1, 20000) g;
"""

# (statement, right answer or None where it has none that is short)
STATEMENTS = [
    ("SELECT count(*) FROM (SELECT v FROM big ORDER BY v OFFSET 1) x", (ROWS - 1,)),
    ("SELECT count(*) FROM (SELECT * FROM big ORDER BY v, id OFFSET 1) x", (ROWS - 1,)),
    ("SELECT count(*) FROM (SELECT v, count(*) n FROM big GROUP BY v) x", (ROWS,)),
    ("SELECT count(DISTINCT v), count(DISTINCT v || 'x') FROM big", (ROWS, ROWS)),
    ("SELECT count(*) FROM big a JOIN big b ON a.v = b.v", (ROWS,)),
    ("SELECT count(*) FROM big a JOIN big b ON a.v = b.v WHERE a.id + b.id > 0 AND length(a.v || b.v) = 64", (ROWS,)),
    ("SELECT sum(n)::bigint FROM (SELECT row_number() OVER (ORDER BY v) n FROM big) x", (ROWS * (ROWS + 1) // 2,)),
    ("SELECT count(*) FROM (SELECT lag(v) OVER (PARTITION BY k ORDER BY v) l FROM big) x WHERE l IS NULL", (1000,)),
    ("SELECT length(string_agg(v, ',' ORDER BY id)) FROM big", (33 * ROWS - 1,)),
    ("SELECT cardinality(array_agg(v)) FROM big", (ROWS,)),
    ("SELECT jsonb_array_length(jsonb_agg(v)) FROM big", (ROWS,)),
    ("SELECT jsonb_array_length(jsonb_agg(jsonb_build_object('k', k, 'v', v))) FROM big", (ROWS,)),
    ("SELECT array_agg(md5(g::text)) FROM generate_series(1, 2000000) g", None),
    ("SELECT count(*) FROM (SELECT md5(g::text) m FROM generate_series(1, 1000000) g ORDER BY m OFFSET 1) x", (999_999,)),
    ("SELECT count(*) FROM (SELECT DISTINCT md5(g::text) m FROM generate_series(1, 1000000) g) x", (1_000_000,)),
    ("SELECT count(*), sum(length(v)) FROM wide", (400, 400 * 96000)),
    ("SELECT count(*) FROM (SELECT v FROM wide ORDER BY v OFFSET 1) x", (399,)),
    ("SELECT count(*) FROM wide a JOIN wide b ON a.v = b.v", (400,)),
    ("SELECT count(*) FROM wide a, wide b WHERE length(a.v || b.v) > 0", (160_000,)),
    ("SELECT length(string_agg(v, '')) FROM wide", (400 * 96000,)),
    ("SELECT max(length(repeat(v, 100))) FROM wide", (9_600_000,)),
    ("SELECT length(repeat('x', 100000000))", (100_000_000,)),
    ("SELECT repeat('x', 60000000)", None),
    ("SELECT repeat('x', 1000000) FROM generate_series(1, 400)", None),
    ("SELECT id, v, repeat(v, 2) FROM wide", None),
    ("SELECT * FROM big", None),
    ("SELECT array_length(array_fill(1, ARRAY[20000000]), 1)", (20_000_000,)),
    ("SELECT count(*) FROM unnest(string_to_array(repeat('a,', 5000000), ',')) x", (5_000_001,)),
    ("SELECT count(*) FROM regexp_split_to_table(repeat('a,', 1000000), ',') x", (1_000_001,)),
    ("SELECT jsonb_array_length(('[' || repeat('1,', 10000000) || '1]')::jsonb)", (10_000_001,)),
    ("SELECT jsonb_array_length(xml_to_jsonb('<r>' || repeat('<a/>', 4000000) || '</r>') #> '{r,a}')", (4_000_000,)),
    ("SELECT length(jsonb_to_xml(jsonb_build_object('a', jsonb_build_object(repeat('n', 50000), (SELECT jsonb_agg(1) FROM generate_series(1, 4000))))))", (400_024_007,)),
    ("SELECT length(jsonb_to_bson(jsonb_build_object('a', ('[' || repeat('null,', 5000000) || 'null]')::jsonb)))", (43_888_912,)),
    ("SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000) b WHERE a + b > 0", (9_000_000,)),
    ("SELECT count(*) FROM (SELECT DISTINCT a * 10000 + b FROM generate_series(1, 2000) a, generate_series(1, 1000) b) x", (2_000_000,)),
    ("WITH RECURSIVE r(n, t) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, t || repeat('y', 1000) FROM r WHERE n < 1500) SELECT max(length(t)) FROM r", (1_499_001,)),
    ("WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n * 2 + m FROM r, (VALUES (0), (1)) v(m) WHERE n < 200000) SELECT count(*) FROM r", (399_999,)),
    ("WITH m AS MATERIALIZED (SELECT md5(g::text) v FROM generate_series(1, 500000) g) SELECT count(*) FROM m a JOIN m b USING (v)", (500_000,)),
    ("SELECT count(*) FROM docs WHERE to_tsvector('simple', body) @@ to_tsquery('simple', 'word77')", (1,)),
    ("SELECT length(xs::text) FROM (SELECT array_agg(id) xs FROM big) x", None),
    ("SELECT count(*) FROM big WHERE id IN (SELECT id FROM big WHERE v > '8')", None),
    ("SELECT count(*) FROM big a WHERE EXISTS (SELECT FROM big b WHERE b.k = a.k AND b.v > a.v)", (ROWS - 1000,)),
    ("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) IS NOT NULL FROM big", (True,)),
    ("SELECT mode() WITHIN GROUP (ORDER BY k) IS NOT NULL FROM big", (True,)),
]
# Statements that write, in a transaction that is rolled back or on a table of their own.
WRITES = [
    [f"CREATE TABLE own (id bigint PRIMARY KEY, v text)", f"INSERT INTO own SELECT g, md5(g::text) FROM generate_series(1, {ROWS}) g", "DROP TABLE own"],
    ["CREATE TABLE own (id bigint PRIMARY KEY, k int, v text)", "INSERT INTO own SELECT * FROM big", "CREATE INDEX ON own (v)", "DROP TABLE own"],
    ["BEGIN", "UPDATE big SET v = v || 'x'", "ROLLBACK"],
    ["BEGIN", "DELETE FROM big", "ROLLBACK"],
    ["BEGIN", "INSERT INTO wide SELECT id + 1000, v FROM wide", "SELECT count(*) FROM wide", "ROLLBACK"],
    ["BEGIN", f"INSERT INTO big SELECT id + {ROWS}, k, v FROM big", "SELECT count(DISTINCT v) FROM big", "ROLLBACK"],
    ["CREATE TABLE own AS SELECT id, body FROM docs", "CREATE INDEX own_body ON own USING fulltext (body)", "DROP TABLE own"],
    ["CREATE TABLE own AS SELECT * FROM wide", "UPDATE own SET v = v || 'x'", "DELETE FROM own WHERE id % 2 = 0", "DROP TABLE own"],
    ["BEGIN", "DECLARE c CURSOR FOR SELECT * FROM big ORDER BY v", "FETCH 1000 FROM c", "ROLLBACK"],
    ["BEGIN", "DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT * FROM big ORDER BY id", "COMMIT", "FETCH LAST FROM c", "CLOSE c"],
    ["SELECT * FROM big ORDER BY id", "COPY"],
]
# Out of memory; and writers of one table that meet in other orders.
MEMORY, DEADLOCK = "53200", "40P01"


def mebibytes(text):
    return int(text[:-2]) * {"MB": 1, "GB": 1024}[text[-2:]]


def reset_peak(server):
    pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")


def connect(server):
    return psycopg.connect(host="127.0.0.1", port=server.port, user="stoa", dbname="stoa", autocommit=True)


def rows_of(c, sql):
    """The rows, one by one: what this side keeps is none of the server's business."""
    cursor = c.cursor()
    answer = None
    for row in cursor.stream(sql):
        answer = row
    return answer


def run(c, sql, answer):
    """None, or that it was refused for memory."""
    try:
        got = rows_of(c, sql)
        if answer is not None and got != answer:
            raise AssertionError(f"{sql}: {got}, not {answer}")
        return None
    except psycopg.Error as e:
        if e.sqlstate != MEMORY:
            raise AssertionError(f"{sql}: {e.sqlstate} {e}") from e
        return e


def write(c, statements, name):
    c.execute("CREATE SCHEMA IF NOT EXISTS " + name)
    c.execute(f"SET search_path = {name}, public")
    refused = None
    try:
        for sql in statements:
            if sql == "COPY":
                c.execute("CREATE TABLE own (LIKE big)")
                with c.cursor().copy("COPY own FROM STDIN") as copy:
                    for n in range(0, ROWS, 1000):
                        copy.write("".join(f"{i}\t{i % 1000}\tsome text of row {i * 7919 % ROWS}\n" for i in range(n, n + 1000)))
            elif sql.startswith("SELECT *"):
                with c.cursor().copy(f"COPY ({sql}) TO STDOUT") as copy:
                    for _ in copy:
                        pass
            else:
                c.execute(sql)
    except psycopg.Error as e:
        if e.sqlstate != MEMORY and not (e.sqlstate == DEADLOCK and "big" in str(e)):
            raise AssertionError(f"{sql}: {e.sqlstate} {e}") from e
        refused = e
    if c.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        c.execute("ROLLBACK")
    c.execute("DROP TABLE IF EXISTS own")
    c.execute("CLOSE ALL")
    return refused


def each(server, limit):
    with connect(server) as c:
        for what in STATEMENTS + WRITES:
            time.sleep(1.5)
            before = server.memory()
            reset_peak(server)
            started = time.monotonic()
            refused = run(c, *what) if isinstance(what, tuple) else write(c, what, "each")
            peak = server.memory("VmHWM")
            label = what[0] if isinstance(what, tuple) else "; ".join(what)
            print(f"{'OVER ' if peak > limit else '     '}{before:6.0f} {peak:6.0f} {time.monotonic() - started:6.1f} s  {'53200 ' if refused else 'ok    '}{label[:150]}"
                  + (f"  [{str(refused).splitlines()[0]}]" if refused else ""), flush=True)


def mix(server, limit, clients, seconds, seed):
    until = time.monotonic() + seconds
    wrong, done, refused, running, most = [], [0], [0], {}, [0, []]

    def watch():
        """What ran when the process had most."""
        while time.monotonic() < until and not wrong:
            now = server.memory("RssAnon")
            if now > most[0]:
                most[:] = [now, list(running.values())]
            time.sleep(0.004)

    def client(number):
        r = random.Random(f"{seed} {number}")
        try:
            with connect(server) as c:
                while time.monotonic() < until and not wrong:
                    if r.random() < 0.25:
                        running[number] = what = r.choice(WRITES)
                        no = write(c, what, f"own{number}")
                    else:
                        running[number] = what = r.choice(STATEMENTS)
                        no = run(c, *what)
                    done[0] += 1
                    refused[0] += no is not None
        except Exception as e:
            wrong.append(f"{type(e).__name__}: {e}")

    threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)] + [threading.Thread(target=watch)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong
    assert server.process.poll() is None, "the server has ended"
    with connect(server) as c:
        assert c.execute("SELECT count(*) FROM big").fetchone() == (ROWS,)
    return done[0], refused[0], most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--limits", default="256MB,512MB,1GB")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--beyond", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--each", action="store_true")
    args = parser.parse_args()
    print(f"memory: seed {args.seed}")
    failed = False
    for text in args.limits.split(","):
        limit = mebibytes(text)
        with tempfile.TemporaryDirectory() as work:
            server = Server(args.binary, work + "/data", "--memory-limit", text)
            try:
                idle = server.memory()
                with connect(server) as c:
                    c.execute(SETUP)
                print(f"memory: {text}: idle {idle:.0f}, after the tables {server.memory():.0f}, at most {server.memory('VmHWM'):.0f} MiB", flush=True)
                if args.each:
                    each(server, limit)
                done, refused, most = mix(server, limit, args.clients, args.seconds, args.seed)
                peak, whole = most[0] + min(server.memory("RssFile"), limit / 8), server.memory("VmHWM")
                time.sleep(3)
                after = server.memory()
                print(f"memory: {text}: {done} statements by {args.clients} clients, {refused} refused: at most {peak:.0f} MiB, {whole:.0f} with pages of files, {after:.0f} afterwards", flush=True)
                if peak > limit * (1 + args.beyond):
                    failed = True
                    print(f"memory: {most[0]:.0f} MiB of its own were seen beside", *(f"  {w}" for w in most[1]), sep="\n")
            finally:
                if server.process.poll() is None:
                    server.kill()
    if failed:
        sys.exit("memory: the limit was passed")


if __name__ == "__main__":
    main()
