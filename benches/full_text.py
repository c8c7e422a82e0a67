#!/usr/bin/env python3
"""Full text beside PostgreSQL (GIN, ts_rank) over the same documents: the descriptions of the packages that apt knows, several times.

    full_text.py STOA_PORT POSTGRES_PORT [DOCUMENTS]

Both servers are running; the benchmark makes a table `bench_text` in each and drops it. Medians of a connection's repeated
statements, through the simple protocol of psycopg's client.
"""
import re, statistics, subprocess, sys, time

import psycopg

STOA, PG = sys.argv[1], sys.argv[2]
N = int(sys.argv[3]) if len(sys.argv) > 3 else 200_000


def documents(n):
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, errors="replace").stdout
    found = [d.replace("\n .", "\n").replace("\0", "") for d in re.findall(r"Description[^:\n]*: (.*?)\n(?=\S|\n)", text, re.S)]
    assert found, "apt knows no packages"
    return [found[i % len(found)] + (f" copy {i // len(found)}" if i >= len(found) else "") for i in range(n)]


def timed(c, sql, seconds=2.0):
    c.execute(sql).fetchall()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        c.execute(sql).fetchall()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def load(c, docs):
    c.execute("DROP TABLE IF EXISTS bench_text")
    c.execute("CREATE TABLE bench_text (id int PRIMARY KEY, section int, body text)")
    start = time.perf_counter()
    with c.cursor() as cursor, cursor.copy("COPY bench_text FROM STDIN") as copy:
        for i, d in enumerate(docs):
            copy.write_row((i, i % 20, d))
    return time.perf_counter() - start


docs = documents(N)
size = sum(len(d) for d in docs) / 1e6
print(f"{N} documents, {size:.0f} MB")
stoa = psycopg.connect(host="127.0.0.1", port=STOA, user="stoa", dbname="stoa", autocommit=True)
pg = psycopg.connect(host="127.0.0.1", port=PG, user="postgres", dbname="postgres", autocommit=True)
print(f"{'load, s':44} {load(stoa, docs):10.1f} {load(pg, docs):10.1f}")
start = time.perf_counter()
stoa.execute("CREATE INDEX bench_text_ft ON bench_text USING fulltext (body) WITH (tokenizer = 'english')")
s = time.perf_counter() - start
start = time.perf_counter()
pg.execute("ALTER TABLE bench_text ADD tsv tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED")
pg.execute("CREATE INDEX bench_text_ft ON bench_text USING gin (tsv)")
pg.execute("VACUUM ANALYZE bench_text")
p = time.perf_counter() - start
print(f"{'index, s':44} {s:10.1f} {p:10.1f}")
print(f"{'':44} {'stoa':>10} {'postgres':>10}   ms, median")

MATCH = "MATCH(body) AGAINST ('{}')"
for name, search, query, rest in [
    ("two words OR, ranked, top 10", "network server", "network | server", "rank"),
    ("rare words OR, ranked, top 10", "astronomy telescope", "astronomy | telescope", "rank"),
    ("two words AND, ranked, top 10", "+network +server", "network & server", "rank"),
    ("phrase, ranked, top 10", '"command line"', "command <-> line", "rank"),
    ("prefix, ranked, top 10", "astro*", "astro:*", "rank"),
    ("OR, filtered by a column, ranked, top 10", "network server", "network | server", "filter"),
    ("count of OR", "network server", "network | server", "count"),
    ("count of AND", "+network +server", "network & server", "count"),
    ("snippets of the top 10", "network server", "network | server", "snippet"),
]:
    where, pg_where = MATCH.format(search), f"tsv @@ to_tsquery('english', '{query}')"
    rank = f"ts_rank(tsv, to_tsquery('english', '{query}')) DESC"
    if rest == "count":
        a, b = f"SELECT count(*) FROM bench_text WHERE {where}", f"SELECT count(*) FROM bench_text WHERE {pg_where}"
    else:
        extra = " AND section = 7" if rest == "filter" else ""
        shown, pg_shown = ("id", "id") if rest != "snippet" else ("id, snippet(body)", f"id, ts_headline('english', body, to_tsquery('english', '{query}'))")
        a = f"SELECT {shown} FROM bench_text t WHERE {where}{extra} ORDER BY score(t) DESC LIMIT 10"
        b = f"SELECT {pg_shown} FROM (SELECT id, body FROM bench_text WHERE {pg_where}{extra} ORDER BY {rank} LIMIT 10) t"
    x, y = timed(stoa, a), timed(pg, b)
    print(f"{name:44} {x:10.3f} {y:10.3f}   × {y / x:.1f}")

# Inserts, one a commit, with and without the index.
for c, name in ((stoa, "stoa"), (pg, "postgres")):
    per = []
    for table, make in (("bench_plain", None), ("bench_indexed", True)):
        c.execute(f"DROP TABLE IF EXISTS {table}")
        c.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, body text)")
        if make:
            c.execute(f"CREATE INDEX ON {table} USING fulltext (body) WITH (tokenizer = 'english')" if c is stoa
                      else f"CREATE INDEX ON {table} USING gin (to_tsvector('english', body))")
        start = time.perf_counter()
        for i in range(0, 20_000, 100):
            c.execute(f"INSERT INTO {table} VALUES " + ", ".join("(%d, '%s')" % (i + j, docs[i + j].replace("'", "''")[:500].replace("%", "%%")) for j in range(100)))
        per.append((time.perf_counter() - start) / 200 * 1000)
    print(f"insert of 100 rows, ms, {name:19} {per[0]:10.2f} {per[1]:10.2f}   × {per[1] / per[0]:.2f} with the index")
for c in (stoa, pg):
    c.execute("DROP TABLE bench_text, bench_plain, bench_indexed")
