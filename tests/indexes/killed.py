#!/usr/bin/env python3
"""Online builds and rebuilds killed on the way: at the next start they go on, a rebuilt index takes its place, and CHECK finds nothing.

    killed.py BINARY [ROUNDS]
"""
import pathlib, random, socket, subprocess, sys, tempfile, threading, time

import psycopg


def start(binary, data):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    server = subprocess.Popen([binary, "serve", "--data", data, "--listen", f"127.0.0.1:{port}"], stderr=open(f"{data}.log", "ab"))
    for _ in range(300):
        try:
            return server, psycopg.connect(f"host=127.0.0.1 port={port} user=stoa dbname=stoa", autocommit=True), port
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError(pathlib.Path(f"{data}.log").read_text())


def run(binary, rounds=4, rows=60000):
    r = random.Random(rounds)
    with tempfile.TemporaryDirectory() as work:
        data = f"{work}/data"
        server, c, port = start(binary, data)
        try:
            c.execute("CREATE TABLE k (id int PRIMARY KEY, a int, b text)")
            c.execute(f"INSERT INTO k SELECT n, n % 1000, 'b' || n FROM generate_series(1, {rows}) n")
            c.execute("CREATE INDEX ka ON k (a) INCLUDE (b)")
            for n in range(rounds):
                statement = ["REINDEX INDEX CONCURRENTLY ka", f"CREATE INDEX CONCURRENTLY k{n} ON k (b, a)"][n % 2]

                def build():
                    try:
                        with psycopg.connect(f"host=127.0.0.1 port={port} user=stoa dbname=stoa", autocommit=True) as own:
                            own.execute(statement)
                    except psycopg.OperationalError:
                        pass  # killed

                thread = threading.Thread(target=build)
                thread.start()
                for _ in range(1000):
                    if c.execute("SELECT 1 FROM pg_stat_progress_create_index").fetchall():
                        break
                    time.sleep(0.001)
                c.execute(f"UPDATE k SET a = a + 1 WHERE id % 97 = {n}")
                time.sleep(r.random() * 0.15)
                server.kill()
                server.wait()
                thread.join()
                server, c, port = start(binary, data)
                for _ in range(600):
                    left = c.execute("SELECT relname FROM pg_class JOIN pg_index ON indexrelid = oid WHERE relname LIKE '%ccnew%' OR NOT indisvalid").fetchall()
                    if not left:
                        break
                    time.sleep(0.05)
                assert not left, f"{statement}: {left}"
                assert c.execute("SELECT relname FROM pg_class WHERE relname = 'ka'").fetchall() == [("ka",)], statement
                assert c.execute("CHECK TABLE k").fetchall() == [], statement
                wanted = c.execute("SELECT /*+ FULL(k) */ count(*) FROM k WHERE a = 7").fetchall()
                assert c.execute("SELECT /*+ INDEX(k ka) */ count(*) FROM k WHERE a = 7").fetchall() == wanted, statement
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4)
    print("killed: ok")
