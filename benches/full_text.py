#!/usr/bin/env python3
"""Full text beside PostgreSQL (GIN, ts_rank), SQLite (FTS5) and tantivy alone, over the same documents.

    full_text.py STOA_PORT POSTGRES [DOCUMENTS]

A document is made of the packages that apt knows: the description of one, its name, tags, homepage and the names of those that it
depends on, and descriptions of others, chosen by the document's number, until it has some four hundred characters (where apt knows
descriptions in full, one may be enough). So there are some sixty thousand different words, no two documents are the same, and every
run on the same lists of packages has the same documents.

POSTGRES is a port, or a connection string of psycopg's. Both servers are running; the benchmark makes a table `bench_text` in each and
drops it. SQLite and tantivy run in this process, without a server and without SQL between client and index; tantivy is there if its Python
package is (`pip install tantivy`). Medians of repeated queries; those of the servers go through psycopg.
"""
import os, re, sqlite3, statistics, subprocess, sys, tempfile, time

import psycopg

try:
    import tantivy
except ImportError:
    tantivy = None

STOA, PG = sys.argv[1], sys.argv[2]
N = int(sys.argv[3]) if len(sys.argv) > 3 else 200_000


LENGTH = 400


def documents(n):
    """The same ones in each run."""
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, errors="replace").stdout.replace("\0", "")
    packages = []
    for package in text.split("\n\n"):
        fields = dict(f.split(":", 1) for f in re.split(r"\n(?! )", package) if ":" in f)
        description = next((v for k, v in fields.items() if k == "Description" or k.startswith("Description-en")), None)
        if description is None:
            continue
        description = re.sub(r"\s+", " ", description.replace("\n .", "\n")).strip()
        tags = re.sub(r"[:,\s]+", " ", fields.get("Tag", ""))
        needs = " ".join(dict.fromkeys(re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]+)", fields.get("Depends", ""))))
        about = f"{fields.get('Package', '').strip()} {fields.get('Homepage', '').strip()} {tags} {needs}"
        packages.append((description, re.sub(r"\s+", " ", about).strip()))
    assert packages, "apt knows no packages"
    out = []
    for i in range(n):
        description, about = packages[i % len(packages)]
        parts, size, other = [description, about], len(description) + len(about), i
        while size < LENGTH or (i >= len(packages) and len(parts) == 2):
            other = (other * 48_271 + 11) % 2_147_483_647
            parts.append(packages[other % len(packages)][0])
            size += len(parts[-1])
        out.append(". ".join(parts))
    return out


def timed(run, seconds=2.0):
    run()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


class Sqlite:
    """FTS5 over the same table, with the stems of Porter."""

    def __init__(self, docs):
        self.c = sqlite3.connect(os.path.join(WORK.name, "sqlite"))
        self.c.execute("CREATE TABLE bench_text (id integer PRIMARY KEY, section int, body text)")
        self.c.execute("CREATE VIRTUAL TABLE ft USING fts5(body, content='bench_text', content_rowid='id', tokenize='porter unicode61')")
        self.c.executemany("INSERT INTO bench_text VALUES (?, ?, ?)", ((i, i % 20, d) for i, d in enumerate(docs)))
        self.c.commit()
        start = time.perf_counter()
        self.c.execute("INSERT INTO ft (ft) VALUES ('rebuild')")
        self.c.commit()
        self.seconds = time.perf_counter() - start

    def query(self, search, rest):
        where = f"ft MATCH '{search}'"
        if rest == "count":
            sql = f"SELECT count(*) FROM ft WHERE {where}"
        elif rest == "filter":
            sql = f"SELECT ft.rowid FROM ft JOIN bench_text b ON b.id = ft.rowid WHERE {where} AND b.section = 7 ORDER BY rank LIMIT 10"
        else:
            shown = "rowid, snippet(ft, 0, '<b>', '</b>', '…', 20)" if rest == "snippet" else "rowid"
            sql = f"SELECT {shown} FROM ft WHERE {where} ORDER BY rank LIMIT 10"
        return lambda: self.c.execute(sql).fetchall()


class Tantivy:
    """The library by itself: no server, no rows, no transactions."""

    def __init__(self, docs):
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("id", fast=True)
        builder.add_integer_field("section", fast=True, indexed=True)
        builder.add_text_field("body", tokenizer_name="en_stem")
        directory = os.path.join(WORK.name, "tantivy")
        os.mkdir(directory)
        start = time.perf_counter()
        self.index = tantivy.Index(builder.build(), path=directory)
        writer = self.index.writer(heap_size=128 << 20, num_threads=1)
        for i, d in enumerate(docs):
            writer.add_document(tantivy.Document(id=i, section=i % 20, body=d))
        writer.commit()
        writer.wait_merging_threads()
        self.seconds = time.perf_counter() - start
        self.index.reload()
        self.searcher = self.index.searcher()

    def query(self, search, rest):
        if rest == "snippet":
            return None
        text = f"+({search}) +section:7" if rest == "filter" else search
        query = self.index.parse_query(text, ["body"])
        if rest == "count":
            return lambda: self.searcher.search(query, limit=1, count=True).count
        return lambda: self.searcher.search(query, limit=10, count=False).hits


def load(c, docs):
    c.execute("DROP TABLE IF EXISTS bench_text")
    c.execute("CREATE TABLE bench_text (id int PRIMARY KEY, section int, body text)")
    start = time.perf_counter()
    with c.cursor() as cursor, cursor.copy("COPY bench_text FROM STDIN") as copy:
        for i, d in enumerate(docs):
            copy.write_row((i, i % 20, d))
    return time.perf_counter() - start


WORK = tempfile.TemporaryDirectory()
docs = documents(N)
size = sum(len(d) for d in docs) / 1e6
words = set()
for d in docs:
    words.update(re.findall(r"\w+", d.lower()))
print(f"{N} documents, {size:.0f} MB, {len(words)} different words")
stoa = psycopg.connect(host="127.0.0.1", port=STOA, user="stoa", dbname="stoa", autocommit=True)
pg = psycopg.connect(PG if "=" in PG else f"host=127.0.0.1 port={PG} user=postgres dbname=postgres", autocommit=True)
print(f"{'load, s':44} {load(stoa, docs):10.1f} {load(pg, docs):10.1f}")
start = time.perf_counter()
stoa.execute("CREATE INDEX bench_text_ft ON bench_text USING fulltext (body) WITH (tokenizer = 'english')")
s = time.perf_counter() - start
start = time.perf_counter()
pg.execute("ALTER TABLE bench_text ADD tsv tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED")
pg.execute("CREATE INDEX bench_text_ft ON bench_text USING gin (tsv)")
pg.execute("VACUUM ANALYZE bench_text")
p = time.perf_counter() - start
sqlite, bare = Sqlite(docs), Tantivy(docs) if tantivy else None
shown = lambda ms, digits=3: f"{'–':>10}" if ms is None else f"{ms:10.{digits}f}"
print(f"{'':44} {'stoa':>10} {'postgres':>10} {'sqlite':>10} {'tantivy':>10}")
print(f"{'index, s':44} {s:10.1f} {p:10.1f} {sqlite.seconds:10.1f} {shown(bare.seconds if bare else None, 1)}")
print(f"{'':44} ms, median; × of PostgreSQL's")

MATCH = "MATCH(body) AGAINST ('{}')"
for name, search, query, fts, rest in [
    ("two words OR, ranked, top 10", "network server", "network | server", "network OR server", "rank"),
    ("rare words OR, ranked, top 10", "astronomy telescope", "astronomy | telescope", "astronomy OR telescope", "rank"),
    ("two words AND, ranked, top 10", "+network +server", "network & server", "network AND server", "rank"),
    ("phrase, ranked, top 10", '"command line"', "command <-> line", '"command line"', "rank"),
    ("prefix, ranked, top 10", "astro*", "astro:*", "astro*", "rank"),
    ("OR, filtered by a column, ranked, top 10", "network server", "network | server", "network OR server", "filter"),
    ("count of OR", "network server", "network | server", "network OR server", "count"),
    ("count of AND", "+network +server", "network & server", "network AND server", "count"),
    ("snippets of the top 10", "network server", "network | server", "network OR server", "snippet"),
]:
    where, pg_where = MATCH.format(search), f"tsv @@ to_tsquery('english', '{query}')"
    rank = f"ts_rank(tsv, to_tsquery('english', '{query}')) DESC"
    if rest == "count":
        a, b = f"SELECT count(*) FROM bench_text WHERE {where}", f"SELECT count(*) FROM bench_text WHERE {pg_where}"
    else:
        extra = " AND section = 7" if rest == "filter" else ""
        given, pg_given = ("id", "id") if rest != "snippet" else ("id, snippet(body)", f"id, ts_headline('english', body, to_tsquery('english', '{query}'))")
        a = f"SELECT {given} FROM bench_text t WHERE {where}{extra} ORDER BY score(t) DESC LIMIT 10"
        b = f"SELECT {pg_given} FROM (SELECT id, body FROM bench_text WHERE {pg_where}{extra} ORDER BY {rank} LIMIT 10) t"
    x, y = timed(lambda: stoa.execute(a).fetchall()), timed(lambda: pg.execute(b).fetchall())
    own = bare.query(search, rest) if bare and not search.endswith("*") else None
    print(f"{name:44} {x:10.3f} {y:10.3f} {timed(sqlite.query(fts, rest)):10.3f} {shown(timed(own) if own else None)}   × {y / x:.1f}")

# Inserts of 100 rows, one a commit, with and without the index.
INSERTED = min(N, 20_000) // 100 * 100
for c, name in ((stoa, "stoa"), (pg, "postgres")):
    per = []
    for table, make in (("bench_plain", None), ("bench_indexed", True)):
        c.execute(f"DROP TABLE IF EXISTS {table}")
        c.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, body text)")
        if make:
            c.execute(f"CREATE INDEX ON {table} USING fulltext (body) WITH (tokenizer = 'english')" if c is stoa
                      else f"CREATE INDEX ON {table} USING gin (to_tsvector('english', body))")
        start = time.perf_counter()
        for i in range(0, INSERTED, 100):
            c.execute(f"INSERT INTO {table} VALUES " + ", ".join("(%d, '%s')" % (i + j, docs[i + j].replace("'", "''")[:500].replace("%", "%%")) for j in range(100)))
        per.append((time.perf_counter() - start) / (INSERTED / 100) * 1000)
    print(f"insert of 100 rows, ms, {name:19} {per[0]:10.2f} {per[1]:10.2f}   × {per[1] / per[0]:.2f} with the index")
for c in (stoa, pg):
    c.execute("DROP TABLE bench_text, bench_plain, bench_indexed")
