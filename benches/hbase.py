#!/usr/bin/env python3
"""Stoa on an HBase cluster, and HBase's own Java client or Apache Phoenix on the same cluster in the same run.

    hbase.py --stoa BINARY [--phoenix] [--cluster SCRIPT] [--rows N] [--seconds S] [--only WORK …]

SCRIPT starts and stops a cluster (`crates/hbase-client/tests/cluster/cluster`; HBASE_TEST_DIR and HBASE_TEST_PORT say where); one that is up
is used and left as it is. pgbench is the client of Stoa, with prepared statements. Printed is a Markdown table: for 1 and 16 clients operations a
second, CPU time of Stoa's process (or the Java client's) for one, and of the region servers for one. The Java client puts and gets plain rows of the same size: no transactions, no SQL, no index.

With `--phoenix` the other one is Phoenix (fetched by mvn; phoenix/PhoenixClient.java), with tables, an index and statements of the same meaning, each
committed by itself; its servers' side has to be in the region servers, so the cluster is started with it and may not be up before.

Scans are measured twice: with `stoa.enable_column_cache` off, so that all rows come from the cluster, and on, where those that were read before
are in Stoa's memory until somebody changes them.
"""
import argparse, os, pathlib, re, subprocess, sys, tempfile, time

from servers import TICKS, start_stoa

HERE = pathlib.Path(__file__).resolve().parent
AID = "\\set aid random(1, :rows)\n"
WORK = {
    "point select": AID + "SELECT balance FROM account WHERE aid = :aid;\n",
    "select by index": AID + "SELECT balance FROM account WHERE code = 'c' || :aid;\n",
    "upsert": AID + "UPSERT INTO plain VALUES (:aid, 'c' || :aid, 1, 'a filler of about forty bytes, as it is');\n",
    "upsert with an index": AID + "UPSERT INTO account VALUES (:aid, 'c' || :aid, 1, 'a filler of about forty bytes, as it is');\n",
    "count(*)": "SELECT count(*) FROM scanned;\n",
    "sum over all rows": "SELECT sum(balance), max(filler) FROM scanned;\n",
    "count(*), kept": "SELECT count(*) FROM scanned;\n",
    "sum over all rows, kept": "SELECT sum(balance), max(filler) FROM scanned;\n",
}
TABLES = """
CREATE TABLE account (aid int PRIMARY KEY, code text, balance int, filler text);
INSERT INTO account SELECT n, 'c' || n, 0, 'a filler of about forty bytes, as it is' FROM generate_series(1, {rows}) n;
CREATE TABLE plain (aid int PRIMARY KEY, code text, balance int, filler text);
CREATE TABLE scanned (aid int PRIMARY KEY, code text, balance int, filler text);
INSERT INTO scanned SELECT n, 'c' || n, 0, 'a filler of about forty bytes, as it is' FROM generate_series(1, {rows}) n;
"""


class Cluster:
    def __init__(self, script, phoenix=False):
        self.script = script
        self.classes = os.environ.get("HBASE_TEST_CLASSPATH", "")
        self.folder = pathlib.Path(os.environ.get("HBASE_TEST_DIR") or f"{os.environ.get('TMPDIR', '/tmp')}/stoa-hbase")
        self.was_up = "master up" in self("status")
        if phoenix:
            if self.was_up:
                sys.exit("stop the cluster first: it was started without Phoenix")
            self.classes = phoenix_classes(self.script)
            os.environ |= {"HBASE_TEST_CLASSPATH": self.classes, "HBASE_TEST_EXTRA": str(HERE / "hbase/phoenix/extra.xml")}
        self.quorum = self("quorum" if self.was_up else "start").split()[-1]

    def __call__(self, *args, **options):
        return subprocess.run([self.script, *map(str, args)], stdout=subprocess.PIPE, text=True, check=args[0] != "status", **options).stdout

    def cpu_seconds(self):
        """Of its region servers."""
        used = 0
        for pid in self.folder.glob("pid/rs*"):
            fields = pathlib.Path(f"/proc/{pid.read_text().strip()}/stat").read_text().rsplit(")", 1)[1].split()
            used += int(fields[11]) + int(fields[12])
        return used / TICKS

    def java(self, source, *args):
        """What the class of that source prints in the cluster's configuration; what it logs goes to a file."""
        classes = self.folder / "bench-classes" / source.stem
        if not classes.exists():
            classes.mkdir(parents=True)
            subprocess.run(["javac", "-d", classes, "-cp", self("classpath").strip(), source], check=True)
        environment = {**os.environ, "HBASE_TEST_CLASSPATH": f"{classes}:{self.classes}"}
        with open(self.folder / "log" / f"{source.stem}.log", "w") as log:
            out = self("run", source.stem, *args, env=environment, stderr=log)
        figures = [line for line in out.splitlines() if re.fullmatch(r"[\d. ]+", line)]
        return figures[-1] if figures else ""


class JavaClient:
    """Plain rows by HBase's own client."""

    title, warm = "Java client", 4
    work = {"point select": "get", "upsert": "put", "sum over all rows": "scan"}

    def __init__(self, cluster):
        self.cluster = cluster

    def make(self, rows):
        self.cluster.java(HERE / "hbase/JavaClient.java", "make", "stoa_bench", rows)

    def run(self, work, rows, clients, seconds):
        return self.cluster.java(HERE / "hbase/JavaClient.java", self.work[work], "stoa_bench", rows, clients, seconds)


class Phoenix:
    title, warm = "Phoenix", 8
    work = {name: name for name in ("point select", "select by index", "upsert", "upsert with an index", "count(*)", "sum over all rows")}

    def __init__(self, cluster):
        self.cluster, self.url = cluster, f"jdbc:phoenix:{cluster.quorum}:/hbase"

    def make(self, rows):
        print(f"Phoenix built its index in {self.cluster.java(HERE / 'hbase/phoenix/PhoenixClient.java', self.url, 'make', rows)} s")

    def run(self, work, rows, clients, seconds):
        return self.cluster.java(HERE / "hbase/phoenix/PhoenixClient.java", self.url, work, rows, clients, seconds)


def phoenix_classes(cluster):
    """A class path of Phoenix's jars that the cluster has not, fetched once."""
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "stoa-phoenix-5.2.1"
    if not (folder / ".complete").exists():
        subprocess.run(["mvn", "-q", "-B", "-f", HERE / "hbase/phoenix/pom.xml", "dependency:copy-dependencies", "-DincludeScope=runtime",
                        f"-DoutputDirectory={folder}"], check=True, stdout=sys.stderr)
        name = lambda jar: re.sub(r"-\d[^/]*\.jar$", "", jar.name)
        jars = subprocess.run([cluster, "classpath"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip().split(":")[-1]
        there = {name(jar) for jar in pathlib.Path(jars.removesuffix("*")).glob("*.jar")}
        for jar in folder.glob("*.jar"):
            if name(jar) in there:
                jar.unlink()
        (folder / ".complete").touch()
    return f"{folder}/*"


def pgbench(server, cluster, script, clients, kept, args):
    server.psql("-c", "SELECT 1", stdout=subprocess.DEVNULL)
    command = ["pgbench", *server.address, "-n", "-f", script, "-c", str(clients), "-j", str(min(clients, 2)), "-M", "prepared", "-D", f"rows={args.rows}"]
    environment = {**os.environ, "PGOPTIONS": f"-c stoa.enable_column_cache={'on' if kept else 'off'}"}
    # Compiled statements, regions and rows that are kept: as they are after a while.
    subprocess.run([*command, "-T", "3", server.database], capture_output=True, check=True, env=environment)
    before = server.cpu_seconds(), cluster.cpu_seconds()
    out = subprocess.run([*command, "-T", str(args.seconds), server.database], capture_output=True, text=True, env=environment)
    used = [b - a for a, b in zip(before, (server.cpu_seconds(), cluster.cpu_seconds()))]
    tps, count = re.search(r"tps = ([\d.]+) \(without", out.stdout), re.search(r"actually processed: (\d+)", out.stdout)
    if not tps or re.search(r"failed transactions: [1-9]", out.stdout):
        sys.exit(f"pgbench: {out.stderr[-600:]}{out.stdout[-300:]}")
    done = int(count[1])
    return float(tps[1]), used[0] / done * 1e6, used[1] / done * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoa", required=True)
    parser.add_argument("--phoenix", action="store_true")
    parser.add_argument("--cluster", default=str(HERE.parent / "crates/hbase-client/tests/cluster/cluster"))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(WORK))
    args = parser.parse_args()
    cluster = Cluster(args.cluster, args.phoenix)
    other = Phoenix(cluster) if args.phoenix else JavaClient(cluster)
    with tempfile.TemporaryDirectory(prefix="stoa-bench-") as work:
        server = start_stoa(args.stoa, work, "--store", f"hbase://{cluster.quorum}/bench_{os.getpid()}")
        try:
            began = time.monotonic()
            server.psql("-c", TABLES.format(rows=args.rows), stdout=subprocess.DEVNULL)
            print(f"tables of {args.rows} rows made in {time.monotonic() - began:.1f} s")
            began = time.monotonic()
            server.psql("-c", "CREATE INDEX account_code ON account (code)", stdout=subprocess.DEVNULL)
            print(f"Stoa built its index in {time.monotonic() - began:.2f} s")
            server.psql("-c", "ANALYZE", stdout=subprocess.DEVNULL)
            other.make(args.rows)
            print(f"\n| work | clients | Stoa, 1/s | CPU, µs | region servers, µs | {other.title}, 1/s | CPU, µs | region servers, µs | throughput |\n|---|---|---|---|---|---|---|---|---|")
            for name in args.only:
                script = f"{work}/script.sql"
                pathlib.Path(script).write_text(WORK[name])
                for clients in (1, 16):
                    stoa = pgbench(server, cluster, script, clients, name.endswith("kept"), args)
                    shown = [f"{stoa[0]:.1f}" if stoa[0] < 100 else f"{stoa[0]:.0f}", f"{stoa[1]:.0f}", f"{stoa[2]:.0f}", "", "", "", ""]
                    if name in other.work:
                        before = cluster.cpu_seconds()
                        rate, cpu = map(float, other.run(name, args.rows, clients, args.seconds).split())
                        # The first seconds, in which the client warms up, are in the servers' time but not in its own.
                        seconds = args.seconds + min(args.seconds, other.warm)
                        servers = (cluster.cpu_seconds() - before) / (rate * seconds) * 1e6
                        shown[3:] = [f"{rate:.1f}" if rate < 100 else f"{rate:.0f}", f"{cpu:.0f}", f"{servers:.0f}", f"{stoa[0] / rate:.2f} ×"]
                    print(f"| {name} | {clients} | {' | '.join(shown)} |", flush=True)
        finally:
            server.stop()
            if not cluster.was_up:
                cluster("stop")


main()
