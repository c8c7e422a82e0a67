#!/usr/bin/env python3
"""Many sessions insert, upsert, move and delete the same few keys, and refer to them.

    keys.py (--binary STOA | --dsn DSN) [--seconds N] [--clients N] [--keys N] [--seed N]

Transactions of some steps, at all levels, with savepoints and rollbacks, of which each client keeps account. In the end, and while it goes on:

- no two rows have one key, by the table and by its indexes, and both know the same rows;
- every reference finds its row;
- as many rows are there as were inserted and not deleted: a row that takes the place of another one would be missed;
- what was added to rows is there, as far as they are: no upsert takes back another one's.

Transactions of one row each never end in a deadlock, and no statement waits for ever.
"""
import argparse, collections, pathlib, random, sys, tempfile, threading, time

import psycopg

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from server import Server

EXPECTED = {"23505", "23503", "40001", "40P01"}
SCHEMA = """
    DROP TABLE IF EXISTS keys_child, keys_parent;
    CREATE TABLE keys_parent (id int PRIMARY KEY, k text UNIQUE, low text, v int NOT NULL);
    CREATE UNIQUE INDEX keys_low ON keys_parent (lower(low)) WHERE low <> '';
    CREATE TABLE keys_child (id bigserial PRIMARY KEY, pid int REFERENCES keys_parent, pk text REFERENCES keys_parent (k))
"""


class Account:
    """Rows and sums of `v` that a transaction has added, and what it took back to a savepoint."""

    def __init__(self):
        self.rows = self.v = 0

    def copy(self):
        other = Account()
        other.rows, other.v = self.rows, self.v
        return other


class Client(threading.Thread):
    def __init__(self, dsn, number, args, until):
        super().__init__(daemon=True)
        self.dsn, self.args, self.until = dsn, args, until
        self.rng = random.Random(args.seed * 1000 + number)
        self.total, self.outcomes, self.problem = Account(), collections.Counter(), None

    def key(self):
        return self.rng.randint(1, self.args.keys)

    def step(self, c, account):
        rng, a, b = self.rng, self.key(), self.key()
        low = rng.choice(["", "", f"L{self.key()}", f"l{self.key()}"])
        row = (a, f"k{b}", low)
        match rng.randint(0, 11):
            case 0:
                account.rows += c.execute("INSERT INTO keys_parent VALUES (%s, %s, %s, 0)", row).rowcount
            case 1 | 2:
                account.rows += c.execute("INSERT INTO keys_parent VALUES (%s, %s, %s, 0) ON CONFLICT DO NOTHING", row).rowcount
            case 3:
                n = rng.randint(2, 4)
                sql = "INSERT INTO keys_parent SELECT (g * %s + %s) %% %s + 1, 'k' || (g + %s) %% %s + 1, '', 0 FROM generate_series(1, %s) g ON CONFLICT DO NOTHING"
                account.rows += c.execute(sql, (rng.choice([1, 3]), a, self.args.keys, b, self.args.keys, n)).rowcount
            case 4 | 5:
                self.upserted(c, account, "INSERT INTO keys_parent VALUES (%s, %s, %s, 0) ON CONFLICT (id) DO UPDATE SET v = keys_parent.v + 1 RETURNING v", row)
            case 6:
                self.upserted(c, account, "INSERT INTO keys_parent VALUES (%s, %s, %s, 0) ON CONFLICT (k) DO UPDATE SET v = keys_parent.v + 1 RETURNING v", row)
            case 7:
                sql = "INSERT INTO keys_parent VALUES (%s, %s, %s, 0) ON CONFLICT (lower(low)) WHERE low <> '' DO UPDATE SET v = keys_parent.v + 1, low = 'L' || %s RETURNING v"
                self.upserted(c, account, sql, (*row, self.key()))
            case 8:
                gone = c.execute("DELETE FROM keys_parent WHERE id = %s AND NOT EXISTS (SELECT FROM keys_child WHERE pid = %s) RETURNING v", (a, a)).fetchall()
                account.rows -= len(gone)
                account.v -= sum(v for v, in gone)
            case 9:
                c.execute("INSERT INTO keys_child (pid, pk) SELECT id, CASE WHEN %s THEN k END FROM keys_parent WHERE id = %s", (rng.random() < 0.5, a))
            case 10:
                c.execute("DELETE FROM keys_child WHERE pid = %s", (a,))
            case 11:
                sql = rng.choice(["UPDATE keys_parent SET k = 'k' || %s WHERE id = %s", "UPDATE keys_parent SET id = %s WHERE id = %s",
                                  "UPDATE keys_parent SET low = 'l' || %s WHERE id = %s"])
                c.execute(sql, (b, a))

    def upserted(self, c, account, sql, row):
        for v, in c.execute(sql, row).fetchall():
            if v:
                account.v += 1
            else:
                account.rows += 1

    def transaction(self, c):
        rng, account = self.rng, Account()
        level = rng.choice(["READ COMMITTED"] * 4 + ["REPEATABLE READ", "SERIALIZABLE"])
        steps = 1 if rng.random() < 0.4 else rng.randint(2, 4)
        c.execute(f"BEGIN ISOLATION LEVEL {level}")
        for n in range(steps):
            if n and rng.random() < 0.3:
                c.execute("SAVEPOINT s")
                saved = account.copy()
                try:
                    self.step(c, account)
                    keep = rng.random() < 0.6
                except psycopg.Error as error:
                    # Of others than those of constraints the transaction has come to its end.
                    if error.sqlstate not in ("23505", "23503"):
                        raise
                    keep = False
                if keep:
                    c.execute("RELEASE s")
                else:
                    c.execute("ROLLBACK TO s")
                    account = saved
            else:
                self.step(c, account)
            if rng.random() < 0.2:
                time.sleep(rng.random() * 0.01)
        if rng.random() < 0.15:
            c.execute("ROLLBACK")
            return "rolled back"
        c.execute("COMMIT")
        self.total.rows += account.rows
        self.total.v += account.v
        return "committed"

    def run(self):
        try:
            with psycopg.connect(self.dsn, autocommit=True) as c:
                c.execute("SET statement_timeout = '60s'")
                c.execute("SET deadlock_timeout = '100ms'")
                while time.monotonic() < self.until:
                    try:
                        self.outcomes[self.transaction(c)] += 1
                    except psycopg.Error as error:
                        self.outcomes[error.sqlstate] += 1
                        if error.sqlstate not in EXPECTED:
                            raise
                        c.execute("ROLLBACK")
        except Exception as error:
            self.problem = error


def check(c):
    """Problems that one state of the tables has."""
    c.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    rows = c.execute("SELECT id, k, low, v FROM keys_parent").fetchall()
    problems = []
    for at, name in ((0, "id"), (1, "k")):
        twice = [value for value, n in collections.Counter(row[at] for row in rows).items() if n > 1]
        if twice:
            problems.append(f"{name} {twice} more than once")
    lows = collections.Counter(row[2].lower() for row in rows if row[2])
    if any(n > 1 for n in lows.values()):
        problems.append(f"low more than once: {lows}")
    for id, k, low, _ in rows:
        for sql, value in (("SELECT id FROM keys_parent WHERE id = %s", id), ("SELECT id FROM keys_parent WHERE k = %s", k),
                           *([("SELECT id FROM keys_parent WHERE lower(low) = %s AND low <> ''", low.lower())] if low else [])):
            found = c.execute(sql, (value,)).fetchall()
            if found != [(id,)]:
                problems.append(f"{value} finds {found}, not row {id}")
    for sql in ("SELECT c.id, c.pid FROM keys_child c LEFT JOIN keys_parent p ON p.id = c.pid WHERE c.pid IS NOT NULL AND p.id IS NULL",
                "SELECT c.id, c.pk FROM keys_child c LEFT JOIN keys_parent p ON p.k = c.pk WHERE c.pk IS NOT NULL AND p.k IS NULL"):
        problems += [f"child {id} refers to {to}, which is not there" for id, to in c.execute(sql)]
    c.execute("COMMIT")
    return problems, len(rows), sum(row[3] for row in rows)


def alone(dsn, args, seconds):
    """Each transaction one statement of one row: nobody has what another one could wait for in turn."""
    until, seen, lock = time.monotonic() + seconds, collections.Counter(), threading.Lock()

    def work(number):
        rng = random.Random(args.seed + number)
        with psycopg.connect(dsn, autocommit=True) as c:
            c.execute("SET deadlock_timeout = '100ms'")
            while time.monotonic() < until:
                k = rng.randint(1, 4)
                sql = rng.choice(["INSERT INTO keys_parent VALUES (%s, 'k' || %s, '', 0) ON CONFLICT DO NOTHING",
                                  "INSERT INTO keys_parent VALUES (%s, 'k' || %s, '', 0) ON CONFLICT (id) DO UPDATE SET v = keys_parent.v + 1",
                                  "DELETE FROM keys_parent WHERE id = %s AND k = 'k' || %s",
                                  "INSERT INTO keys_parent VALUES (%s, 'k' || %s, '', 0) ON CONFLICT (k) DO UPDATE SET v = keys_parent.v + 1"])
                try:
                    c.execute(sql, (k, k))
                    state = "done"
                except psycopg.Error as error:
                    state = error.sqlstate
                with lock:
                    seen[state] += 1

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(args.clients)]
    [t.start() for t in threads]
    [t.join(seconds + 90) for t in threads]
    problems = ["a statement waits for ever"] if any(t.is_alive() for t in threads) else []
    return problems + [f"{n} statements of one row end with {state}" for state, n in seen.items() if state not in ("done", "23505")], seen["done"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary")
    parser.add_argument("--dsn")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--keys", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        server = None if args.dsn else Server(args.binary, work + "/data")
        try:
            sys.exit(run(args.dsn or server.dsn, args))
        finally:
            if server:
                server.process.terminate()
                server.process.wait(30)


def run(dsn, args):
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute(SCHEMA)
        until = time.monotonic() + args.seconds
        clients = [Client(dsn, n, args, until) for n in range(args.clients)]
        [client.start() for client in clients]
        problems, states = [], 0
        while any(client.is_alive() for client in clients) and time.monotonic() < until + 90:
            problems += check(c)[0]
            states += 1
            time.sleep(0.1)
        if any(client.is_alive() for client in clients):
            problems.append("a client waits for ever")
        problems += [f"{type(client.problem).__name__}: {client.problem}" for client in clients if client.problem]
        more, rows, v = check(c)
        problems += more
        outcomes = sum((client.outcomes for client in clients), collections.Counter())
        expected = (sum(client.total.rows for client in clients), sum(client.total.v for client in clients))
        if not problems and (rows, v) != expected:
            problems.append(f"{rows} rows with {v} added, not {expected[0]} with {expected[1]}")
        c.execute("TRUNCATE keys_parent, keys_child")
        more, single = alone(dsn, args, args.seconds / 3)
        problems += more + check(c)[0]
        c.execute("DROP TABLE keys_child, keys_parent")
    for problem in problems[:20]:
        print(f"keys: {problem}")
    told = ", ".join(f"{name} {n}" for name, n in sorted(outcomes.items(), key=str))
    print(f"keys: seed {args.seed}: {told}; {states} states, {single} statements alone, {len(problems)} problems")
    return 1 if problems or not outcomes["committed"] or not single else 0


main()
