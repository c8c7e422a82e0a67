#!/usr/bin/env python3
"""All generators of statements against Stoa and a PostgreSQL 15, until so many statements have been compared.

    soak.py BIN --oracle DSN [--statements N] [--seed N] [--only GENERATOR] [--without GENERATOR] [--examples N] [--explained FILE]

Starts the server BIN on an empty directory and makes a database of its own at the oracle. The statements are shared out among the
generators (SHARES): expressions.py, random_queries.py, subqueries.py, functions.py, mutations.py, references.py, guards.py, writes.py,
definitions.py, parameters.py, messages.py, shapes (those of self_difference.py over few rows), and self_difference.py itself, which asks no PostgreSQL and
counts comparisons; in pieces with seeds of their own, two at a time. The same seed and the same number make the same statements. Each
difference is printed when it is found (a few of a kind), with the generator and the seed of its piece; at the end stands a summary per
generator.

A difference is one in rows, types or SQLSTATE that explained.py does not know; so are XX000, a lost connection, a panic in the
server's log and a server that ended (which is started again). The exit status is 1 if there was any.
"""
import argparse
import collections
import concurrent.futures
import multiprocessing
import pathlib
import re
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "history")]
import definitions  # noqa: E402
import expressions  # noqa: E402
import functions  # noqa: E402
import guards  # noqa: E402
import messages  # noqa: E402
import mutations  # noqa: E402
import parameters  # noqa: E402
import random_queries  # noqa: E402
import references  # noqa: E402
import self_difference  # noqa: E402
import subqueries  # noqa: E402
import writes  # noqa: E402
from explained import undocumented  # noqa: E402
from server import Server  # noqa: E402
from sides import Side, Tally, database  # noqa: E402

# (share of the statements, statements of a piece)
SHARES = {"expressions": (0.3, 2000), "queries": (0.15, 1000), "subqueries": (0.1, 1000), "functions": (0.1, 1500), "mutations": (0.1, 2500),
          "references": (0.15, 3000), "guards": (0.1, 1000), "writes": (0.1, 2000), "definitions": (0.1, 2000),
          "parameters": (0.1, 2000), "messages": (0.05, 2000), "shapes": (0.1, 1000), "self": (1.0, 4000)}
CORPUS = [*sorted(map(str, (HERE / "everyday").glob("*.sql"))), str(HERE.parent.parent / "docs/reference/examples.tsv")]
# What runs a generator, with (tally, stoa, oracle, seed, count).
RUNS = {"expressions": expressions.run, "queries": random_queries.run, "subqueries": subqueries.run, "guards": guards.run, "references": references.run,
        "writes": writes.run, "definitions": definitions.run, "parameters": parameters.run, "messages": messages.run, "shapes": self_difference.beside,
        "functions": lambda tally, stoa, oracle, seed, count: functions.run(tally, stoa, oracle, seed, 3, limit=count),
        "mutations": lambda tally, stoa, oracle, seed, count: mutations.run(tally, stoa, oracle, seed, count, CORPUS),
        "self": lambda tally, stoa, _, seed, count: self_difference.run(tally, stoa, seed, count)}
PROCESSES = 2


def piece(generator, seed, count, dsn, oracle, examples):
    """One piece of a generator's work, in a process of its own."""
    tally = Tally(f"{generator}, seed {seed}", examples, live=True)
    try:
        stoa, oracle = Side(dsn), Side(oracle)
        RUNS[generator](tally, stoa, oracle, seed, count)
    except Exception:
        tally.groups["the generator ended"].append(f"{generator}, seed {seed}: {traceback.format_exc()}")
        print(tally.groups["the generator ended"][-1], flush=True)
    return generator, tally


class Soak:
    def __init__(self, options, server, oracle):
        self.options, self.server, self.oracle = options, server, oracle
        self.totals = {name: Tally(name) for name in SHARES if name == options.only or not options.only and name not in options.without}
        whole = sum(SHARES[name][0] for name in self.totals)
        self.wanted = {name: round(options.statements * SHARES[name][0] / whole) for name in self.totals}
        self.given, self.pieces, self.crashes = collections.Counter(), collections.Counter(), 0
        self.began = self.told = time.monotonic()

    @property
    def statements(self):
        return sum(t.statements for t in self.totals.values())

    def next(self):
        """The generator that is furthest behind, its seed and its number of statements; None when all is given out."""
        behind = [(self.given[name] / self.wanted[name], name) for name in self.totals if self.given[name] < self.wanted[name]]
        if not behind:
            return None
        name = min(behind)[1]
        count = min(SHARES[name][1], self.wanted[name] - self.given[name])
        self.given[name] += count
        self.pieces[name] += 1
        return name, self.options.seed * 10_000 + self.pieces[name], count

    def add(self, generator, tally, count):
        total = self.totals[generator]
        # A generator may make fewer than it was asked for (of the same signature the same call), or more.
        self.given[generator] += tally.statements - count
        total.statements += tally.statements
        total.internal += tally.internal
        for label, cases in tally.groups.items():
            total.groups[label] += [f"    {tally.name}\n{case}" for case in cases]
        for why, cases in tally.known.items():
            total.known[why] += cases
        total.codes += tally.codes

    def run(self):
        with concurrent.futures.ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as pool:
            running = {}
            while True:
                while len(running) < PROCESSES and (work := self.next()):
                    running[pool.submit(piece, *work, self.server.dsn, self.oracle, self.options.examples)] = work[2]
                if not running:
                    return
                done, _ = concurrent.futures.wait(running, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    self.add(*future.result(), running.pop(future))
                if self.server.process.poll() is not None:
                    self.crashes += 1
                    print(f"the server ended with status {self.server.process.returncode}; it is started again", flush=True)
                    self.server.start()
                if done and time.monotonic() - self.told > 20:
                    self.told = time.monotonic()
                    took = self.told - self.began
                    print(f"{self.statements:,} of {self.options.statements:,} statements, {sum(t.differences for t in self.totals.values())} differences, "
                          f"{self.statements / took:.0f} a second, {self.server.memory():.0f} MiB", flush=True)

    def report(self):
        print()
        bad = self.crashes
        for total in self.totals.values():
            bad += total.differences + total.internal
            for label, cases in sorted(total.groups.items(), key=lambda group: -len(group[1])):
                print(f"DIFFERENT {total.name}: {label}: {len(cases)}\n" + "\n".join(cases[:self.options.examples]))
        panics = [line for line in pathlib.Path(self.server.data + ".log").read_text(errors="replace").splitlines() if re.search("panicked|SIGSEGV|fatal runtime", line)]
        for line in panics[:10]:
            print(f"in the server's log: {line[:400]}")
        known = collections.defaultdict(list)
        for total in self.totals.values():
            for why, cases in total.known.items():
                known[why] += cases
        known = sorted(known.items(), key=lambda reason: -len(reason[1]))
        for why, cases in known:
            print(f"explained: {why}: {len(cases)}")
        if self.options.explained:
            pathlib.Path(self.options.explained).write_text("".join(f"{why}: {len(cases)}\n" + "\n".join(cases) + "\n\n" for why, cases in known))
        for total in self.totals.values():
            failed = sum(n for code, n in total.codes.items() if code != "00000")
            print(f"{total.name}: {total.statements:,} statements ({total.codes['00000']:,} with the same rows, {failed:,} with the same error of {len(total.codes) - 1} SQLSTATEs), "
                  f"{total.differences} differences in {len(total.groups)} groups, {sum(map(len, total.known.values()))} explained, {total.internal} XX000")
        took = time.monotonic() - self.began
        differences = sum(t.differences for t in self.totals.values())
        print(f"seed {self.options.seed}: {self.statements:,} statements in {took:.0f} s, {sum(len(cases) for _, cases in known) + differences:,} differences, "
              f"{differences or 'none'} unexplained, {sum(t.internal for t in self.totals.values())} XX000, {len(panics)} panics, {self.crashes} ends of the server")
        return 1 if bad or panics else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--statements", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(SHARES), help="this generator alone")
    parser.add_argument("--without", choices=list(SHARES), action="append", default=[], help="not this generator")
    parser.add_argument("--examples", type=int, default=3)
    parser.add_argument("--explained", metavar="FILE", help="all differences that explained.py knows are written here")
    options = parser.parse_args()
    if missing := undocumented():
        sys.exit(f"soak: docs/postgresql.md does not have what explains: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as work, database(options.oracle) as oracle:
        server = Server(options.binary, work + "/data")
        try:
            version = Side(oracle).version
            print(f"beside PostgreSQL {version // 10000}.{version % 10000}", flush=True)
            soak = Soak(options, server, oracle)
            soak.run()
            return soak.report()
        finally:
            server.process.terminate()
            server.process.wait(60)


if __name__ == "__main__":
    sys.exit(main())
