#!/usr/bin/env python3
"""What it costs a point select that somebody had to be let in, and had to be asked what they may: the server's CPU time of one execution.

    access.py --stoa BINARY [--executions N] [--rounds N]

One statement, prepared once on each of several connections to one server, is executed N times a round on each in turn: by the superuser whom
nobody asks anything; by a role that came in by SCRAM and may read the table, or two of its columns, or its own rows by a policy; and by the
first of these over TLS, with SCRAM bound to the certificate. Printed are the least of the rounds and its ratio to the superuser's, as a
Markdown table.
"""
import argparse, pathlib, random, subprocess, sys, tempfile

import psycopg

from servers import start_stoa

SETUP = """CREATE TABLE account (id int PRIMARY KEY, owner text, balance numeric(10,2));
CREATE TABLE own_account (id int PRIMARY KEY, owner text, balance numeric(10,2));
INSERT INTO account SELECT g, 'reader', g FROM generate_series(1, 20000) g;
INSERT INTO own_account SELECT * FROM account;
CREATE ROLE reader LOGIN PASSWORD 'of the bench';
CREATE ROLE columns_reader LOGIN PASSWORD 'of the bench';
GRANT SELECT ON account, own_account TO reader;
GRANT SELECT (id, balance) ON account TO columns_reader;
ALTER TABLE own_account ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON own_account USING (owner = current_user);
ANALYZE;
"""
SELECT = "SELECT balance FROM {} WHERE id = %s"
# What is told, the role, whether over TLS, the table.
WAYS = [
    ("the superuser, without a proof", None, False, "account"),
    ("a role by SCRAM, SELECT granted", "reader", False, "account"),
    ("… SELECT of two columns granted", "columns_reader", False, "account"),
    ("… its own rows, by a policy", "reader", False, "own_account"),
    ("a role by SCRAM over TLS", "reader", True, "account"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoa", required=True)
    parser.add_argument("--executions", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        start_stoa(args.stoa, work).stop()
        data = pathlib.Path(work, "stoa")
        subprocess.run([args.stoa, "certificate", "--data", data, "--name", "localhost"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rules = data / "pg_hba.conf"
        rules.write_text("host all reader,columns_reader 127.0.0.1/32 scram-sha-256\n" + rules.read_text())
        server = start_stoa(args.stoa, work)
        try:
            server.psql(input=SETUP, text=True)
            connections = []
            for _, role, tls, table in WAYS:
                more = f"user={role} password='of the bench'" if role else f"user={server.user}"
                more += f" sslmode=verify-full host=localhost hostaddr=127.0.0.1 sslrootcert={data}/server.crt channel_binding=require" if tls else " sslmode=disable"
                dsn = f"host=127.0.0.1 port={server.port} dbname={server.database} {more}"
                connections.append((psycopg.connect(dsn, autocommit=True, prepare_threshold=0), SELECT.format(table)))
                used, wanted = connections[-1][0].pgconn.ssl_in_use, tls
                if used != wanted:
                    sys.exit("a connection is not encrypted as it was to be")
            least = [float("inf")] * len(WAYS)
            for round_ in range(args.rounds + 1):
                # The first round warms up.
                for number, (connection, select) in enumerate(connections):
                    cursor, before = connection.cursor(), server.cpu_seconds()
                    for _ in range(args.executions if round_ else 1000):
                        if cursor.execute(select, (random.randint(1, 20_000),)).fetchone() is None:
                            sys.exit("a row was not found")
                    if round_:
                        least[number] = min(least[number], (server.cpu_seconds() - before) / args.executions)
            print("| who | CPU of a point select (µs) | |\n|---|---|---|")
            for (who, *_), seconds in zip(WAYS, least):
                print(f"| {who} | {seconds * 1e6:.1f} | {seconds / least[0]:.2f} × |")
        finally:
            server.stop()


if __name__ == "__main__":
    main()
