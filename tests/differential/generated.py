"""The loop of the generators whose statements stand alone or make a transaction: a schema of its own, each statement asked of both sides
and judged, and the command line that runs one generator by itself."""
import argparse
import random
import sys

from sides import Side, Tally


def run(tally, stoa, oracle, name, seed, count, setup, make, differs, stop=None):
    """Compares about `count` statements; the same seed makes the same ones. Works in a schema that is named after generator and seed.

    `make` gives, for a source of chance, a statement or a transaction, which is a list from BEGIN to ROLLBACK; and whether rows come in order.
    `differs` says for a statement, both answers and whether rows come in order what differs, if anything does. A transaction ends with
    the first of its statements that differs or fails.
    """
    schema = f"{name}_{seed}"
    for side in (stoa, oracle):
        for sql in setup:
            state, _, _, message = side.run(sql.replace("{schema}", schema))
            assert state == "00000", f"{sql}: {message}"
        side.start = side.start + [f"SET search_path = {schema}", "SET statement_timeout = '10s'"]
        side.run(side.start[-1])
    n = 0
    while tally.statements < count and not (stop and tally.differences >= stop):
        made, ordered = make(random.Random(f"{seed}/{n}"))
        alone = isinstance(made, str)
        statements = [made] if alone else made[1:-1]
        if not alone:
            tally.ask(stoa, oracle, made[0])
        for at, sql in enumerate(statements):
            ours, theirs = tally.ask(stoa, oracle, sql, again=alone)
            kind = differs(sql, ours, theirs, ordered)
            shown = sql if alone else "; ".join([made[0], *statements[:at + 1]])
            before = [] if alone else made[1:at + 1]
            tally.judge(kind, shown, ours, theirs, not kind, f"{'statement' if alone else 'transaction'} {n} of seed {seed}",
                        lambda state: oracle.raises_by_another_plan(before, sql, state))
            if kind or ours[0] != theirs[0] or theirs[0] != "00000":
                break
        if not alone:
            tally.ask(stoa, oracle, made[-1], again=False)
        n += 1
    for side in (stoa, oracle):
        side.run(f"DROP SCHEMA {schema} CASCADE")


def run_episodes(tally, stoa, oracle, name, seed, count, maker, length, stop=None, alike=lambda sql, ours, theirs: ours == theirs):
    """Compares about `count` statements of episodes whose statements build on each other; the same seed makes the same ones.

    `maker` gives the statements that begin an episode (`episode`), then `length` times the next (`statements`) and what is asked behind
    them (`looks`). SQLSTATEs are compared (by `alike`), and rows in any order. An episode ends with the first difference: what follows would only tell of it
    again. Works in a schema that is named after generator and seed.
    """
    schema, asked = f"{name}_{seed}", 0
    for side in (oracle, stoa):
        side.run(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        side.run(f"CREATE SCHEMA {schema}")
        side.start = [*side.start, f"SET search_path = {schema}", "SET statement_timeout = '10s'"]
        for sql in side.start:
            side.run(sql)

    def differs(sql, log):
        ours, theirs = tally.ask(stoa, oracle, sql, again=False)
        agreed = alike(sql, ours[0], theirs[0])
        same = agreed and sorted(map(repr, ours[2])) == sorted(map(repr, theirs[2]))
        label = "rows" if agreed else f"{theirs[0]} became {ours[0]}"
        return tally.judge(label, sql, ours, theirs, same, context="behind " + "; ".join(log))

    while asked < count and not (stop and tally.differences >= stop):
        log, found = [], False
        for sql in maker.episode():
            found |= differs(sql, [])
            log.append(sql)
        for _ in range(length):
            statements = maker.statements()
            looks = maker.looks(statements)
            for at, sql in enumerate([*statements, *looks]):
                asked += 1
                found |= differs(sql, log)
                if found:
                    break
                log += [sql] if at < len(statements) else []
            if found:
                break
        for side in (oracle, stoa):
            side.run("ROLLBACK")
    for side in (oracle, stoa):
        side.run(f"DROP SCHEMA {schema} CASCADE")


def main(doc, name, run, count):
    """Runs a generator by itself, as its documentation says; the exit status."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default="host=127.0.0.1 port=5432 user=postgres dbname=postgres")
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--stop", type=int, default=25, help="stop after so many differences")
    options = parser.parse_args()
    tally = Tally(name, examples=options.stop)
    run(tally, Side(options.dsn), Side(options.oracle), options.seed, options.count, options.stop)
    sys.exit(tally.report())
