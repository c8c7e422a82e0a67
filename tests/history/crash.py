#!/usr/bin/env python3
"""Kills the server in the middle of transactions, again and again, and looks at what is left.

    crash.py --binary STOA [--rounds N] [--clients N] [--seed N] [--data DIR]

Clients run transactions of several statements over several tables (a head, its parts, a balance, values of a sequence), statements of
many rows, and some that they roll back. After each SIGKILL and restart:

- none torn: a head has all its parts, and the other way round; the balances' total is what the heads add up to;
- none lost: what was acknowledged is there;
- none resurrected: what was rolled back is not there; an unknown one that was there once, or was not, stays so;
- the index agrees with its table;
- no value of the sequence was given out twice, by whatever transaction.

In CI: `crash.py --binary stoa --rounds 10`. As a soak: `--rounds 5000`.
"""
import argparse, collections, pathlib, random, sys, tempfile, threading, time

import psycopg

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from server import Server

PARTS, ACCOUNTS = 7, 8


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.next_batch = 1
        self.fate = {}                 # batch → "ok" | "no" | "unknown"
        self.sequence = collections.Counter()
        self.checked = 0               # batches up to this one were looked at
        self.present, self.absent = set(), set()

    def batch(self):
        with self.lock:
            n = self.next_batch
            self.next_batch += 1
            self.fate[n] = "no"
            return n


def setup(c):
    c.execute("CREATE TABLE head (batch int PRIMARY KEY, serial bigint NOT NULL, amount int NOT NULL)")
    c.execute("CREATE TABLE part (batch int, n int, word text, PRIMARY KEY (batch, n))")
    c.execute("CREATE INDEX part_word ON part (word)")
    c.execute("CREATE TABLE balance (id int PRIMARY KEY, total bigint NOT NULL)")
    c.execute(f"INSERT INTO balance SELECT n, 0 FROM generate_series(1, {ACCOUNTS}) n")
    c.execute("CREATE SEQUENCE serials")
    c.execute("CREATE TABLE bulk (batch int, n int, PRIMARY KEY (batch, n))")


def client(server, state, seed, stop):
    rng = random.Random(seed)
    try:
        with psycopg.connect(server.dsn, autocommit=True, connect_timeout=5) as c:
            c.execute("SET deadlock_timeout = '50ms'")
            while not stop.is_set():
                batch = state.batch()
                kind = rng.random()
                sent = False
                try:
                    if kind < 0.3:
                        # One statement of many rows.
                        sent = True
                        c.execute(f"INSERT INTO bulk SELECT {batch}, n FROM generate_series(1, {PARTS}) n")
                        state.fate[batch] = "ok"
                        continue
                    c.execute("BEGIN")
                    serial = c.execute("SELECT nextval('serials')").fetchone()[0]
                    with state.lock:
                        state.sequence[serial] += 1
                    amount = rng.randint(1, 100)
                    c.execute("INSERT INTO head VALUES (%s, %s, %s)", (batch, serial, amount))
                    c.execute(f"INSERT INTO part SELECT {batch}, n, 'w' || ({batch} * n % 97) FROM generate_series(1, 3) n")
                    if rng.random() < 0.3:
                        c.execute("SAVEPOINT s")
                        c.execute(f"INSERT INTO part VALUES ({batch}, 100, 'taken back')")
                        c.execute("ROLLBACK TO s")
                    for n in range(4, PARTS + 1):
                        c.execute("INSERT INTO part VALUES (%s, %s, %s)", (batch, n, f"w{batch * n % 97}"))
                    c.execute("UPDATE balance SET total = total + %s WHERE id = %s", (amount, rng.randint(1, ACCOUNTS)))
                    if kind > 0.9:
                        c.execute("ROLLBACK")
                        continue
                    sent = True
                    c.execute("COMMIT")
                    state.fate[batch] = "ok"
                except psycopg.OperationalError as e:
                    if c.closed or c.broken:
                        if sent:
                            state.fate[batch] = "unknown"
                        return
                    c.execute("ROLLBACK")
    except psycopg.OperationalError:
        return


def verify(server, state, whole):
    """What is wrong, as texts."""
    wrong = []
    with psycopg.connect(server.dsn, autocommit=True) as c:
        low = 0 if whole else state.checked
        heads = {b: (s, a) for b, s, a in c.execute("SELECT batch, serial, amount FROM head WHERE batch > %s", (low,)).fetchall()}
        parts = dict(c.execute("SELECT batch, count(*) FROM part WHERE batch > %s GROUP BY batch", (low,)).fetchall())
        bulk = dict(c.execute("SELECT batch, count(*) FROM bulk WHERE batch > %s GROUP BY batch", (low,)).fetchall())
        for batch in set(heads) ^ set(parts):
            wrong.append(f"torn: batch {batch} has {'a head' if batch in heads else 'no head'} and {parts.get(batch, 0)} parts")
        for batch, n in [*parts.items(), *bulk.items()]:
            if n != PARTS:
                wrong.append(f"torn: batch {batch} has {n} of {PARTS} rows")
        there = set(heads) | set(bulk)
        for batch in range(low + 1, state.next_batch):
            fate = state.fate[batch]
            if fate == "ok" and batch not in there:
                wrong.append(f"lost: batch {batch} was acknowledged")
            if fate == "no" and batch in there:
                wrong.append(f"resurrected: batch {batch} was not committed")
            if batch in state.present and batch not in there:
                wrong.append(f"lost: batch {batch} was there after an earlier restart")
            if batch in state.absent and batch in there:
                wrong.append(f"resurrected: batch {batch} was not there after an earlier restart")
            if fate == "unknown":
                (state.present if batch in there else state.absent).add(batch)
        state.checked = state.next_batch - 1
        total, amounts = c.execute("SELECT (SELECT sum(total) FROM balance), (SELECT coalesce(sum(amount), 0) FROM head)").fetchone()
        if total != amounts:
            wrong.append(f"torn: balances add up to {total}, heads to {amounts}")
        if whole:
            by_index = c.execute("SELECT sum(n) FROM (SELECT (SELECT count(*) FROM part WHERE word = 'w' || g) AS n FROM generate_series(0, 96) g) s").fetchone()[0]
            by_table = c.execute("SELECT count(*) FROM part WHERE n >= 0").fetchone()[0]
            if by_index != by_table:
                wrong.append(f"index: {by_index} entries, {by_table} rows")
    twice = [v for v, n in state.sequence.items() if n > 1]
    if twice:
        wrong.append(f"sequence: given twice: {twice[:5]}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data")
    args = parser.parse_args()
    rng, state, wrong = random.Random(args.seed), State(), []
    with tempfile.TemporaryDirectory() as temporary:
        server = Server(args.binary, args.data or temporary + "/data")
        with psycopg.connect(server.dsn, autocommit=True) as c:
            setup(c)
        try:
            for round_ in range(1, args.rounds + 1):
                stop = threading.Event()
                threads = [threading.Thread(target=client, args=(server, state, rng.random(), stop), daemon=True) for _ in range(args.clients)]
                for t in threads:
                    t.start()
                time.sleep(0.1 + rng.random() * 0.4)
                server.kill()
                stop.set()
                for t in threads:
                    t.join(30)
                server.start()
                wrong += [f"round {round_}: {w}" for w in verify(server, state, round_ % 25 == 0 or round_ == args.rounds)]
                if len(wrong) > 20:
                    break
                if round_ % 25 == 0:
                    fates = collections.Counter(state.fate.values())
                    print(f"crash: {round_} rounds, {fates['ok']} acknowledged, {fates['unknown']} unknown "
                          f"({len(state.present)} of them there), {len(wrong)} wrong, restart at most {server.slowest:.2f} s", flush=True)
        finally:
            server.process.kill()
            server.process.wait()
    for w in wrong[:20]:
        print("  " + w)
    fates = collections.Counter(state.fate.values())
    print(f"crash: {server.kills} kills, {fates['ok']} transactions acknowledged, {fates['no']} not committed, {fates['unknown']} unknown, "
          f"{len(state.sequence)} values of a sequence, {len(wrong)} wrong")
    sys.exit(1 if wrong or not fates["ok"] else 0)


if __name__ == "__main__":
    main()
