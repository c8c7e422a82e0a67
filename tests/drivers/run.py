#!/usr/bin/env python3
"""Starts a server that asks for passwords, over TLS where a driver can, and runs the drivers' scripts against it, see README.md.

    run.py BINARY [psycopg asyncpg node java rust sea-orm]

A driver that is not installed fails. Environment: NODE_PATH (where node finds pg), PGJDBC (the driver's jar), CARGO_TARGET_DIR.
"""
import os, pathlib, socket, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
BINARY = sys.argv[1]
JAR = os.environ.get("PGJDBC", "/usr/share/java/postgresql.jar")
PASSWORD = "drivers' pencil"
# What the drivers take from libpq's variables. Those in Rust are built without TLS.
PROVEN = {"PGPASSWORD": PASSWORD}
ENCRYPTED = {**PROVEN, "PGSSLMODE": "require"}
HOW = {"node": {**PROVEN, "PGSSLMODE": "no-verify"}, "rust": PROVEN, "sea-orm": PROVEN}
RULES = """local all all peer map=stoa_owner
host all all 127.0.0.1/32 scram-sha-256
"""
COMMANDS = {
    "psycopg": [sys.executable, HERE / "psycopg_script.py"],
    "asyncpg": [sys.executable, HERE / "asyncpg_script.py"],
    "node": ["node", HERE / "node_script.js"],
    "java": ["java", "-cp", JAR, HERE / "JavaScript.java"],
    "rust": ["cargo", "run", "--release", "-q", "--manifest-path", HERE / "rust" / "Cargo.toml", "--"],
    "sea-orm": ["cargo", "run", "--release", "-q", "--manifest-path", HERE / "rust_orm" / "Cargo.toml", "--"],
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    wanted = sys.argv[2:] or list(COMMANDS)
    failed = []
    with tempfile.TemporaryDirectory() as work:
        port = free_port()
        log = open(f"{work}/log", "wb")
        subprocess.run([BINARY, "certificate", "--data", f"{work}/data"], check=True, capture_output=True)
        subprocess.run([BINARY, "sql", "--data", f"{work}/data", "-c", "SELECT 1"], check=True, capture_output=True)
        subprocess.run([BINARY, "password", "--data", f"{work}/data", "stoa"], check=True, capture_output=True, input=PASSWORD, text=True)
        pathlib.Path(f"{work}/data/pg_hba.conf").write_text(RULES)
        server = subprocess.Popen([BINARY, "serve", "--data", f"{work}/data", "--listen", f"127.0.0.1:{port}"], stderr=log)
        try:
            for _ in range(300):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            for name in wanted:
                command = [str(part) for part in COMMANDS[name]] + [str(port), str(HERE / "types.tsv")]
                try:
                    environment = {**os.environ, **HOW.get(name, ENCRYPTED)}
                    run = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment)
                    out, code = run.stdout + run.stderr, run.returncode
                except FileNotFoundError as error:
                    out, code = f"FAIL {error}", 1
                bad = [line for line in out.splitlines() if not line.startswith("ok ")] if code else []
                good = sum(line.startswith("ok ") for line in out.splitlines())
                print(f"driver {name:8} {good} passed{'' if not code else ', FAILED'}", flush=True)
                for line in bad:
                    print(f"  {line}")
                if code:
                    failed.append(name)
        finally:
            server.terminate()
            server.wait(20)
    sys.exit(1 if failed else 0)


main()
