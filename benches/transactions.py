#!/usr/bin/env python3
"""TPC-B-like transactions and a contended counter, on Stoa and on PostgreSQL side by side, both durable.

    transactions.py --stoa BINARY --postgres BINDIR [--seconds S] [--clients N] [--scale N] [--protocol simple|extended|prepared] [--json]

Starts a server of each kind on a directory of its own, with commits on stable storage (`fsync` and `synchronous_commit` on, as is the
default of both), fills the tables, and lets pgbench work on one and on the other in turn, round after round, so that a slow moment of
the machine hits both. Numbers are transactions a second, the median of the rounds, and what Stoa does for each one of PostgreSQL.

    tpcb       account, teller and branch are updated, the balance is read, a row of history is inserted, in one block
    counter    one row, `UPDATE … SET n = n + 1`, all clients
    insert     one row a transaction
    read       one row by its key
"""
import argparse, json, os, pathlib, re, shutil, socket, statistics, subprocess, sys, tempfile, time

SCRIPTS = {
    "tpcb": r"""\set aid random(1, 100000 * :scale)
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
""",
    "counter": "UPDATE hot SET n = n + 1 WHERE id = 1;\n",
    "insert": "INSERT INTO events (word) VALUES ('event');\n",
    "read": "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
}
TABLES = """CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88));
CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84));
CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84));
CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
CREATE TABLE hot (id int PRIMARY KEY, n bigint);
CREATE TABLE events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text);
INSERT INTO pgbench_branches SELECT n, 0 FROM generate_series(1, {scale}) n;
INSERT INTO pgbench_tellers SELECT n, (n - 1) / 10 + 1, 0 FROM generate_series(1, 10 * {scale}) n;
INSERT INTO pgbench_accounts SELECT n, (n - 1) / 100000 + 1, 0, '' FROM generate_series(1, 100000 * {scale}) n;
INSERT INTO hot VALUES (1, 0);
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait(port):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("transactions: a server did not start")


def start_stoa(binary, work):
    port = free_port()
    process = subprocess.Popen([binary, "serve", "--data", f"{work}/stoa", "--listen", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL,
                               stderr=open(f"{work}/stoa.log", "w"))
    wait(port)
    return process, ["-h", "127.0.0.1", "-p", str(port), "-U", "stoa"], "stoa"


def start_postgres(bindir, work):
    port, data = free_port(), f"{work}/postgres"
    os.makedirs(data)
    as_user = []
    if os.getuid() == 0:
        # It does not run as root.
        os.chmod(work, 0o755)
        shutil.chown(data, "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    subprocess.run([*as_user, f"{bindir}/initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8"], check=True, stdout=subprocess.DEVNULL)
    process = subprocess.Popen([*as_user, f"{bindir}/postgres", "-D", data, "-p", str(port), "-k", data, "-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait(port)
    time.sleep(1)
    return process, ["-h", "127.0.0.1", "-p", str(port), "-U", "postgres"], "postgres"


def measure(target, script, args):
    _, address, database = target
    out = subprocess.run(["pgbench", *address, "-n", "-f", script, "-c", str(args.clients), "-j", "2", "-T", str(args.seconds), "-M", args.protocol,
                          "-D", f"scale={args.scale}", "--max-tries=1", database], capture_output=True, text=True)
    tps = re.search(r"tps = ([\d.]+) \(without", out.stdout)
    failed = re.search(r"number of failed transactions: (\d+)", out.stdout)
    if not tps:
        sys.exit(f"transactions: pgbench failed: {out.stderr[-600:]}{out.stdout[-300:]}")
    return float(tps[1]), int(failed[1]) if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoa", required=True)
    parser.add_argument("--postgres", required=True, help="the folder with initdb and postgres")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--scale", type=int, default=4)
    parser.add_argument("--protocol", default="prepared", choices=("simple", "extended", "prepared"))
    parser.add_argument("--only", action="append", choices=sorted(SCRIPTS))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = {}
    with tempfile.TemporaryDirectory() as work:
        targets = {"stoa": start_stoa(args.stoa, work), "postgres": start_postgres(args.postgres, work)}
        try:
            for _, address, database in targets.values():
                subprocess.run(["psql", "-q", *address, "-d", database, "-v", "ON_ERROR_STOP=1", "-c", TABLES.format(scale=args.scale)], check=True)
            subprocess.run(["psql", "-q", *targets["postgres"][1], "-d", "postgres", "-c", "VACUUM ANALYZE", "-c", "CHECKPOINT"], check=True)
            for name in args.only or SCRIPTS:
                script = f"{work}/{name}.sql"
                pathlib.Path(script).write_text(SCRIPTS[name])
                rounds = {"stoa": [], "postgres": []}
                for _ in range(args.rounds):
                    for which, target in targets.items():
                        tps, failed = measure(target, script, args)
                        rounds[which].append(tps)
                        if failed:
                            print(f"  {which}: {failed} transactions failed")
                stoa, postgres = statistics.median(rounds["stoa"]), statistics.median(rounds["postgres"])
                result[name] = {"stoa": stoa, "postgres": postgres, "ratio": stoa / postgres}
                if not args.json:
                    print(f"{name:8} stoa {stoa:9.0f} tps   postgres {postgres:9.0f} tps   {stoa / postgres:5.2f} times", flush=True)
        finally:
            for process, *_ in targets.values():
                process.terminate()
                process.wait(30)
    if args.json:
        print(json.dumps({"clients": args.clients, "scale": args.scale, "protocol": args.protocol, "tps": result}))


main()
