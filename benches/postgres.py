#!/usr/bin/env python3
"""Stoa and PostgreSQL side by side on one machine, in one run, both durable.

    postgres.py --stoa BINARY --postgres BINDIR [--seconds S] [--rounds N] [--scale-factor F] [--only GROUP …] [--tpch FOLDER] [--limit S]

Starts a server of each kind on a directory of its own and lets them work in turn, round after round, so that a slow moment of the
machine hits both. Printed are Markdown tables: operations a second (the median of the rounds), the server's CPU time for one operation
(its process tree, from /proc), and what Stoa does for each one of PostgreSQL. BINDIR has initdb and postgres; pgbench is the client.

    reads     one row by key, 100 rows by a range of keys, one row by a secondary index; simple and prepared; 1, 2, 8 and 32 clients
    writes    one row a transaction, TPC-B-like transactions, one contended row
    indexes   a covered select, a range of an index with LIMIT, a join whose inner side is looked up; inserts and updates with one index and
              without
    bulk      COPY of lineitem with its primary key, an index build over it, scans
    tpch      the 22 queries, at the primary keys alone; twice, for Stoa keeps columns that were read once
    indexed   the 22 queries again, with the indexes that people make for them: foreign keys and dates

A query that takes a server longer than the limit of seconds is ended, and counts with the time it had. `bulk`, `tpch` and `indexed` read TABLE.csv files from FOLDER; without it they are made with tpchgen-cli, which must be on the path.
"""
import argparse, pathlib, platform, re, statistics, subprocess, sys, tempfile, time

import psycopg

from servers import start_postgres, start_stoa

QUERIES = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "acceptance" / "tpch"
GROUPS = ["reads", "writes", "indexes", "bulk", "tpch", "indexed"]
TPCB = r"""\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""
AID = "\\set aid random(1, 100000 * :scale)\n"
READS = {
    "point select": AID + "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
    "100-row range": AID + "SELECT aid, abalance FROM pgbench_accounts WHERE aid >= :aid AND aid < :aid + 100;\n",
    "select by index": AID + "SELECT abalance FROM pgbench_accounts WHERE code = 'c' || :aid;\n",
}
INDEX_READS = {
    "covered select": AID + "SELECT aid FROM pgbench_accounts WHERE code = 'c' || :aid;\n",
    "range of an index, LIMIT 10": AID + "SELECT rank, abalance FROM ranked WHERE rank >= :aid ORDER BY rank LIMIT 10;\n",
    "join by lookup": AID + "SELECT r.rank, a.abalance FROM ranked r JOIN pgbench_accounts a ON a.code = r.code WHERE r.id = :aid;\n",
}
INDEX_WRITES = {
    "insert, no index": ("INSERT INTO plain (word, n) VALUES ('event', 1);\n", 16),
    "insert, one index": ("INSERT INTO indexed (word, n) VALUES ('event', 1);\n", 16),
    "update, no index on it": (AID + "UPDATE ranked SET abalance = abalance + 1 WHERE id = :aid;\n", 16),
    "update of an indexed column": (AID + "UPDATE ranked SET rank = rank + 1 WHERE id = :aid;\n", 16),
}
INDEX_TABLES = """CREATE TABLE ranked (id int PRIMARY KEY, rank int, abalance int, code text);
INSERT INTO ranked SELECT n, (n::bigint * 7919) % (100000 * {scale}), 0, 'c' || n FROM generate_series(1, 100000 * {scale}) n;
CREATE INDEX ranked_rank ON ranked (rank);
CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text, n int);
CREATE TABLE indexed (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text, n int);
CREATE INDEX indexed_word ON indexed (word, n);
ANALYZE;
"""
WRITES = {
    "insert": ("INSERT INTO events (word) VALUES ('event');\n", 16),
    "TPC-B-like": (TPCB, 8),
    "one hot row": ("UPDATE hot SET n = n + 1 WHERE id = 1;\n", 16),
}
TABLES = """CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88));
CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84));
CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84), code text);
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
CREATE TABLE hot (id int PRIMARY KEY, n bigint);
CREATE TABLE events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text);
INSERT INTO pgbench_branches SELECT n, 0 FROM generate_series(1, {scale}) n;
INSERT INTO pgbench_tellers SELECT n, (n - 1) / 10 + 1, 0 FROM generate_series(1, 10 * {scale}) n;
INSERT INTO pgbench_accounts SELECT n, (n - 1) / 100000 + 1, 0, '', 'c' || n FROM generate_series(1, 100000 * {scale}) n;
CREATE INDEX pgbench_accounts_code ON pgbench_accounts (code);
INSERT INTO hot VALUES (1, 0);
ANALYZE;
"""
USUAL_INDEXES = [
    "lineitem (l_partkey, l_suppkey)", "lineitem (l_suppkey)", "lineitem (l_shipdate)", "orders (o_custkey)", "orders (o_orderdate)",
    "customer (c_nationkey)", "supplier (s_nationkey)", "partsupp (ps_suppkey)", "nation (n_regionkey)",
]
SCANS = {
    "count(*)": "SELECT count(*) FROM tpch.lineitem",
    "scan with filter": "SELECT count(*) FROM tpch.lineitem WHERE l_quantity > 25",
    "sum of 3 of 16 columns": "SELECT sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) FROM tpch.lineitem",
    "all 16 columns": "SELECT count(l_orderkey), count(l_partkey), count(l_suppkey), count(l_linenumber), sum(l_quantity), sum(l_extendedprice), sum(l_discount), "
                      "sum(l_tax), max(l_returnflag), max(l_linestatus), max(l_shipdate), max(l_commitdate), max(l_receiptdate), max(l_shipinstruct), "
                      "max(l_shipmode), max(l_comment) FROM tpch.lineitem",
}


def pgbench(server, script, clients, args, mode):
    """Transactions a second, and the server's CPU time for each in microseconds."""
    before = server.cpu_seconds()
    out = subprocess.run(["pgbench", *server.address, "-n", "-f", script, "-c", str(clients), "-j", str(min(clients, 2)), "-T", str(args.seconds), "-M", mode,
                          "-D", f"scale={args.scale}", "--max-tries=1", server.database], capture_output=True, text=True)
    used = server.cpu_seconds() - before
    tps = re.search(r"tps = ([\d.]+) \(without", out.stdout)
    count = re.search(r"number of transactions actually processed: (\d+)", out.stdout)
    failed = re.search(r"number of failed transactions: (\d+)", out.stdout)
    if not tps or (failed and int(failed[1])):
        sys.exit(f"pgbench on {server.name}: {out.stderr[-600:]}{out.stdout[-300:]}")
    return float(tps[1]), used / int(count[1]) * 1e6


def alternate(servers, rounds, measure):
    """By server the medians of what `measure` gives."""
    found = {server.name: [] for server in servers}
    for _ in range(rounds):
        for server in servers:
            found[server.name].append(measure(server))
    return {name: [statistics.median(values) for values in zip(*results)] for name, results in found.items()}


def operations(title, servers, rows):
    print(f"\n### {title}\n\n| work | protocol | clients | Stoa, 1/s | CPU, µs | PostgreSQL, 1/s | CPU, µs | throughput | CPU |\n|---|---|---|---|---|---|---|---|---|")
    for name, mode, clients, found in rows:
        (st, sc), (pt, pc) = found["stoa"], found["postgres"]
        print(f"| {name} | {mode} | {clients} | {st:.0f} | {sc:.1f} | {pt:.0f} | {pc:.1f} | {st / pt:.2f} × | {sc / pc:.2f} × |", flush=True)


def reads(title, scripts, modes, servers, work, args):
    def rows():
        for name, text in scripts.items():
            script = f"{work}/script.sql"
            pathlib.Path(script).write_text(text)
            for mode, clients in modes:
                yield name, mode, clients, alternate(servers, args.rounds, lambda s: pgbench(s, script, clients, args, mode))
    operations(title, servers, rows())


def writes(title, scripts, servers, work, args):
    def rows():
        for name, (text, clients) in scripts.items():
            script = f"{work}/script.sql"
            pathlib.Path(script).write_text(text)
            yield name, "prepared", clients, alternate(servers, args.rounds, lambda s: pgbench(s, script, clients, args, "prepared"))
    operations(title, servers, rows())


def timed(server, work):
    before, start = server.cpu_seconds(), time.perf_counter()
    work()
    return time.perf_counter() - start, server.cpu_seconds() - before


def seconds(title, rows):
    print(f"\n### {title}\n\n| work | Stoa, s | CPU, s | PostgreSQL, s | CPU, s | time | CPU |\n|---|---|---|---|---|---|---|")
    total = [0.0] * 4
    for name, found in rows:
        values = [*found["stoa"], *found["postgres"]]
        total = [a + b for a, b in zip(total, values)]
        print(f"| {name} | {values[0]:.2f} | {values[1]:.2f} | {values[2]:.2f} | {values[3]:.2f} | {values[0] / values[2]:.2f} × | {values[1] / values[3]:.2f} × |", flush=True)
    return total


def load_tpch(server, folder, tables):
    for table in tables:
        server.psql("-c", f"\\copy tpch.{table} FROM '{folder}/{table}.csv' WITH (FORMAT csv, HEADER)")


def tpch_data(servers, folder):
    """Loads all tables; what lineitem took."""
    found = {}
    for server in servers:
        server.psql("-c", "DROP SCHEMA IF EXISTS tpch CASCADE", "-f", str(QUERIES / "schema.sql"), stderr=subprocess.DEVNULL)
        load_tpch(server, folder, ["region", "nation", "part", "supplier", "partsupp", "customer", "orders"])
        found[server.name] = timed(server, lambda: load_tpch(server, folder, ["lineitem"]))
        server.psql("-c", "VACUUM ANALYZE" if server.name == "postgres" else "ANALYZE")
    return found


def bulk(servers, loaded, args):
    def run(server, sql):
        with server.connect() as connection:
            return timed(server, lambda: connection.execute(sql))

    def rows():
        yield "COPY of lineitem", loaded
        for name, sql in SCANS.items():
            yield f"{name}, the first time", {s.name: run(s, sql) for s in servers}
            yield f"{name}, again", alternate(servers, args.rounds, lambda s: run(s, sql))
        yield "CREATE INDEX (l_partkey, l_suppkey)", {s.name: run(s, "CREATE INDEX bench_index ON tpch.lineitem (l_partkey, l_suppkey)") for s in servers}
        for server in servers:
            run(server, "DROP INDEX tpch.bench_index")
    seconds(f"Bulk work, TPC-H at scale factor {args.scale_factor}", rows())


def usual_indexes(servers):
    def build(server):
        with server.connect() as connection:
            for number, index in enumerate(USUAL_INDEXES):
                connection.execute(f"CREATE INDEX usual_{number} ON tpch.{index}")

    def rows():
        yield f"{len(USUAL_INDEXES)} indexes", {server.name: timed(server, lambda: build(server)) for server in servers}
    seconds("Builds of the usual indexes", rows())
    for server in servers:
        server.psql("-c", "VACUUM ANALYZE" if server.name == "postgres" else "ANALYZE")


def tpch(title, servers, args):
    connections = {}
    for server in servers:
        connections[server.name] = server.connect()
        connections[server.name].execute(f"SET search_path = tpch; SET statement_timeout = '{args.limit}s'")

    def answer(server, sql):
        try:
            connections[server.name].execute(sql).fetchall()
        except psycopg.errors.QueryCanceled:
            print(f"{server.name} was ended after {args.limit} s:", file=sys.stderr)

    def rows():
        for path in sorted((QUERIES / "queries").glob("*.sql")):
            sql = path.read_text()
            yield path.stem, {s.name: timed(s, lambda: answer(s, sql)) for s in servers}
    for when in ("the first time", "again"):
        total = seconds(f"{title} at scale factor {args.scale_factor:g}, {when}", rows())
        print(f"| all | {total[0]:.1f} | {total[1]:.1f} | {total[2]:.1f} | {total[3]:.1f} | {total[0] / total[2]:.2f} × | {total[1] / total[3]:.2f} × |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoa", required=True)
    parser.add_argument("--postgres", required=True, help="the folder with initdb and postgres")
    parser.add_argument("--seconds", type=int, default=5, help="for one measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=int, default=4, help="of the tables of reads and writes: 100,000 accounts each")
    parser.add_argument("--scale-factor", type=float, default=1.0, help="of TPC-H")
    parser.add_argument("--tpch", help="a folder with TPC-H's tables as csv")
    parser.add_argument("--limit", type=int, default=60, help="seconds for one query of TPC-H")
    parser.add_argument("--only", action="append", choices=GROUPS)
    args = parser.parse_args()
    groups = args.only or GROUPS
    version = subprocess.run([f"{args.postgres}/postgres", "--version"], capture_output=True, text=True).stdout.strip()
    print(f"{version}; {platform.machine()}, {len(__import__('os').sched_getaffinity(0))} cores; medians of {args.rounds} rounds, {args.seconds} s each")
    with tempfile.TemporaryDirectory(prefix="stoa-bench-") as work:
        servers = [start_stoa(args.stoa, work), start_postgres(args.postgres, work)]
        try:
            if {"reads", "writes", "indexes"} & set(groups):
                for server in servers:
                    server.psql("-c", TABLES.format(scale=args.scale))
                    if "indexes" in groups:
                        server.psql("-c", INDEX_TABLES.format(scale=args.scale))
                servers[1].psql("-c", "VACUUM ANALYZE", "-c", "CHECKPOINT")
            if "reads" in groups:
                modes = [("prepared", 1), ("prepared", 2), ("prepared", 8), ("prepared", 32), ("simple", 2), ("simple", 8)]
                reads("Reads", READS, modes, servers, work, args)
            if "writes" in groups:
                writes("Durable writes", WRITES, servers, work, args)
            if "indexes" in groups:
                reads("Reads by indexes", INDEX_READS, [("prepared", 2), ("prepared", 8)], servers, work, args)
                writes("Durable writes with an index and without", INDEX_WRITES, servers, work, args)
            if {"bulk", "tpch", "indexed"} & set(groups):
                folder = args.tpch
                if not folder:
                    folder = f"{work}/tpch"
                    subprocess.run(["tpchgen-cli", "csv", "-s", f"{args.scale_factor:g}", "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
                loaded = tpch_data(servers, folder)
                if "bulk" in groups:
                    bulk(servers, loaded, args)
                if "tpch" in groups:
                    tpch("TPC-H", servers, args)
                if "indexed" in groups:
                    usual_indexes(servers)
                    tpch("TPC-H with the usual indexes", servers, args)
            print(f"\nMemory of Stoa at the end: {servers[0].memory_bytes() / 2**20:.0f} MiB")
        finally:
            for server in servers:
                server.stop()


main()
