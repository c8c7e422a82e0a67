#!/usr/bin/env python3
"""Runs peers.sql: each query by the table alone, as the optimizer chooses, and with an index forced; all must agree.

    peers.py DSN
"""
import pathlib, sys

import psycopg


def run(dsn):
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute("SET client_min_messages = error")
        c.execute("DROP TABLE IF EXISTS t")
        for line in (pathlib.Path(__file__).parent / "peers.sql").read_text().splitlines():
            if line.startswith("--") or not line.strip():
                continue
            if line.rstrip().endswith(";"):
                c.execute(line)
                continue
            answers = {}
            for name, setting in (("table", "/*+ NO_INDEX(t) */"), ("chosen", ""), ("forced", "SET")):
                if setting == "SET":
                    c.execute("SET stoa.force_index = on")
                sql = line.replace("SELECT", f"SELECT {setting} ", 1) if setting.startswith("/") else line
                answers[name] = c.execute(sql).fetchall()
                c.execute("RESET stoa.force_index")
            assert answers["table"] == answers["chosen"] == answers["forced"], f"{line}\n{answers}"
        assert c.execute("CHECK TABLE t").fetchall() == []
        c.execute("DROP TABLE t")


if __name__ == "__main__":
    run(sys.argv[1])
    print("peers: ok")
