#!/usr/bin/env python3
"""Online builds while others write: built, rebuilt, cancelled; CHECK INDEX finds nothing, and a failed build leaves nothing.

    builds.py DSN [ROUNDS]
"""
import random, sys, threading, time

import psycopg


def writer(dsn, stop, unique, seed):
    r = random.Random(seed)
    with psycopg.connect(dsn, autocommit=True) as c:
        while not stop.is_set():
            id = r.randint(1, 4000)
            kind = r.random()
            was_unique = unique.is_set()
            try:
                if kind < 0.5:
                    c.execute(f"UPDATE w SET a = {r.randint(0, 50)}, b = {r.choice(['NULL', r.randint(0, 9)])} WHERE id = {id}")
                elif kind < 0.7:
                    c.execute(f"DELETE FROM w WHERE id = {id}")
                else:
                    c.execute(f"INSERT INTO w VALUES ({id}, {r.randint(0, 50)}, {id % 9}) ON CONFLICT (id) DO UPDATE SET a = excluded.a")
            except psycopg.errors.UniqueViolation:
                pass  # of the unique index that cannot come to be
            except psycopg.errors.DeadlockDetected:
                # Two rows can each take the other's value there; with no unique index a row is all that a statement locks.
                if not was_unique and not unique.is_set():
                    raise


def run(dsn, rounds=4):
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute("SET client_min_messages = error")
        c.execute("DROP TABLE IF EXISTS w")
        c.execute("CREATE TABLE w (id int PRIMARY KEY, a int, b int)")
        c.execute("INSERT INTO w SELECT n, n % 50, n % 9 FROM generate_series(1, 4000) n")
        stop, unique = threading.Event(), threading.Event()
        failed = []

        def write(seed):
            try:
                writer(dsn, stop, unique, seed)
            except psycopg.Error as error:
                failed.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(3)]
        for t in threads:
            t.start()
        try:
            for n in range(rounds):
                c.execute("CREATE INDEX CONCURRENTLY wi ON w (a) INCLUDE (b)")
                assert c.execute("CHECK INDEX wi").fetchall() == []
                c.execute("REINDEX INDEX CONCURRENTLY wi")
                assert c.execute("CHECK TABLE w").fetchall() == []
                c.execute("DROP INDEX wi")
                # 51 values in 4000 rows cannot be unique.
                unique.set()
                try:
                    c.execute("CREATE UNIQUE INDEX CONCURRENTLY wu ON w (a)")
                    raise AssertionError("a unique index over equal values")
                except psycopg.errors.UniqueViolation as e:
                    assert "is duplicated" in e.diag.message_detail, e.diag.message_detail
                assert c.execute("SELECT count(*) FROM pg_class WHERE relname = 'wu'").fetchone() == (0,)
                unique.clear()
                timer = threading.Timer(random.random() * 0.05, c.cancel)
                timer.start()
                try:
                    c.execute("CREATE INDEX CONCURRENTLY wc ON w (b)")
                except psycopg.errors.QueryCanceled:
                    pass
                timer.join()
                for _ in range(200):
                    state = c.execute("SELECT indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE relname = 'wc'").fetchall()
                    if state in ([], [(True,)]):
                        break
                    time.sleep(0.05)
                assert state in ([], [(True,)]), state
                assert c.execute("CHECK TABLE w").fetchall() == []
                c.execute("DROP INDEX IF EXISTS wc")
        finally:
            stop.set()
            for t in threads:
                t.join()
        assert not failed, failed
        c.execute("DROP TABLE w")


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4)
    print("builds: ok")
