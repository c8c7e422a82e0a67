#!/usr/bin/env python3
"""Records what a tool asks a PostgreSQL's catalogs: run.py asks the same of Stoa.

    capture.py OUT --server DSN --tool NAME --did TEXT [--each FILE] [--unlike FILE …] [--schema FILE …] -- COMMAND …

A database with schema.sql is made on the server, and COMMAND is run behind a proxy of PostgreSQL's protocol that keeps every statement sent, with its
parameters. It finds the proxy by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE. With --each the command is run once for each line of FILE, which is
its last argument and names what was sent meanwhile; what a file of --unlike holds is left out. --schema names further files to run first.

Kept are questions about catalogs and settings, once each: no definitions, no transactions, no rows of tables. OIDs of objects of the schema are written as
what they name, <relation app.customer>; statements with OIDs of other objects are left out.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import threading

import psycopg
from psycopg import pq

from run import FIRST_OID, HERE, ROLES_GO, Side, captured

DATABASE, USER = "captured_from", "capturer"
QUESTION = re.compile(r"^[\s(]*(select|with|show|set|table|values|prepare|execute)\b", re.I)
ABOUT = re.compile(r"\bpg_\w|information_schema|^\s*(show|set|prepare|execute)\b|\bcurrent_(schema|database|user|setting|catalog|role)|session_user|"
                   r"set_config|version\(\)|::reg\w+|has_\w+_privilege|obj_description|col_description|format_type|to_reg\w+", re.I)
NOT = re.compile(r"^\s*(set\s+(local\s+|session\s+)?(transaction|characteristics)|select\s+pg_(advisory|try_advisory)\w*|prepare\s+transaction)", re.I)
COMMENT = re.compile(r"^(\s*(--[^\n]*\n|/\*.*?\*/))+", re.S)


class Connection(threading.Thread):
    """One client's connection to the server, and what it sends."""

    def __init__(self, client, proxy):
        super().__init__(daemon=True)
        self.client, self.proxy, self.statements = client, proxy, {}

    def take(self, length):
        data = b""
        while len(data) < length:
            more = self.client.recv(length - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def run(self):
        try:
            while True:
                head = self.take(8)
                length, code = struct.unpack("!ii", head)
                if code not in (80877103, 80877104):
                    break
                self.client.sendall(b"N")
            server = socket.create_connection(self.proxy.server)
            server.sendall(head + self.take(length - 8))
            threading.Thread(target=self.back, args=(server,), daemon=True).start()
            while True:
                kind = self.take(1)
                size = self.take(4)
                body = self.take(struct.unpack("!i", size)[0] - 4)
                self.see(kind, body)
                server.sendall(kind + size + body)
        except (EOFError, OSError, UnboundLocalError):
            self.client.close()

    def back(self, server):
        try:
            while data := server.recv(65536):
                self.client.sendall(data)
        except OSError:
            pass
        self.client.close()

    def see(self, kind, body):
        if kind == b"Q":
            self.proxy.keep(body[:-1].decode(), [])
        elif kind == b"P":
            name, sql, rest = body.split(b"\0", 2)
            (count,) = struct.unpack_from("!h", rest)
            self.statements[name] = sql.decode(), struct.unpack_from(f"!{count}I", rest, 2)
        elif kind == b"B":
            _, name, rest = body.split(b"\0", 2)
            sql, types = self.statements.get(name, (None, ()))
            at = 2 + 2 * struct.unpack_from("!h", rest)[0]
            formats = struct.unpack_from(f"!{at // 2 - 1}h", rest, 2)
            (count,) = struct.unpack_from("!h", rest, at)
            at += 2
            values = []
            for i in range(count):
                (length,) = struct.unpack_from("!i", rest, at)
                at += 4
                value = None if length < 0 else rest[at:at + length]
                at += max(length, 0)
                form = formats[i] if len(formats) > 1 else formats[0] if formats else 0
                values.append((types[i] if i < len(types) else 0, form, value))
            if sql is not None:
                self.proxy.keep(sql, values)


class Proxy:
    def __init__(self, server):
        self.server, self.kept, self.label = server, [], ""
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            Connection(self.socket.accept()[0], self).start()

    def keep(self, sql, values):
        self.kept.append((self.label, sql, values))


SCALARS = {16: lambda b: "t" if b[0] else "f", 20: lambda b: str(struct.unpack("!q", b)[0]), 21: lambda b: str(struct.unpack("!h", b)[0]),
           23: lambda b: str(struct.unpack("!i", b)[0]), 26: lambda b: str(struct.unpack("!I", b)[0]), 18: bytes.decode, 19: bytes.decode, 25: bytes.decode,
           1043: bytes.decode, 1042: bytes.decode, 705: bytes.decode, 114: bytes.decode, 2205: lambda b: str(struct.unpack("!I", b)[0]),
           701: lambda b: repr(struct.unpack("!d", b)[0]), 3802: lambda b: b[1:].decode()}


def text_of(ty, value):
    """The text form of a parameter's binary form; None if its type is not known here."""
    if ty in SCALARS:
        return SCALARS[ty](value)
    dimensions, _, element = struct.unpack_from("!iiI", value)
    if element not in SCALARS or dimensions > 1:
        return None
    if dimensions == 0:
        return "{}"
    count, at, items = struct.unpack_from("!i", value, 12)[0], 20, []
    for _ in range(count):
        (length,) = struct.unpack_from("!i", value, at)
        at += 4
        items.append("NULL" if length < 0 else json.dumps(SCALARS[element](value[at:at + length]), ensure_ascii=False))
        at += max(length, 0)
    return "{" + ",".join(items) + "}"


class Writer:
    """Statements as they are kept in a file."""

    def __init__(self, side, before):
        self.side, self.before = side, before
        self.types = {int(oid): name for oid, name in side.conn.execute("SELECT oid, typname FROM pg_type WHERE oid < 16384").fetchall()}

    def plain(self, text):
        """Without what is of this server alone; None if it names an object that the schema lacks."""
        lost = []

        def of(match):
            oid = int(match[0])
            if oid < FIRST_OID or oid not in self.side.names:
                return match[0]
            lost.append(oid not in self.before)
            return self.side.names[oid]
        text = re.sub(r"(?<![\w.])\d{5,9}(?![\w.])", of, text)
        text = re.sub(rf"\b{DATABASE}\b", "<database>", re.sub(rf"\b{USER}\b", "<user>", text))
        return None if any(lost) else text

    def statement(self, sql, values):
        sql = self.plain(sql.strip().rstrip(";").rstrip())
        if sql is None or re.search(r"^--[-$] ", sql, re.M):
            return None
        lines = []
        asked = None
        for i, (ty, form, value) in enumerate(values):
            if form == 1 and value is not None:
                if ty == 0:
                    if asked is None:
                        name = b"of_capture"
                        self.side.conn.pgconn.prepare(name, sql.replace("<database>", DATABASE).encode())
                        asked = self.side.conn.pgconn.describe_prepared(name)
                        self.side.conn.pgconn.exec_(b"DEALLOCATE of_capture")
                    ty = asked.param_type(i) if i < asked.nparams else 0
                text = text_of(ty, value)
            else:
                text = None if value is None else value.decode()
            if value is not None and (text is None or (text := self.plain(text)) is None):
                return None
            lines.append(f"--$ {self.types.get(ty, 'unknown' if ty == 0 else ty)} {json.dumps(text, ensure_ascii=False)}\n")
        return "".join(lines) + sql + "\n"


def about(sql):
    bare = COMMENT.sub("", sql)
    return QUESTION.search(bare) and ABOUT.search(bare) and not NOT.search(bare)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--server", required=True)
    parser.add_argument("--tool", required=True, help="name and version")
    parser.add_argument("--did", required=True, help="what was done with the tool, in a sentence")
    parser.add_argument("--each", type=pathlib.Path)
    parser.add_argument("--unlike", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--schema", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with psycopg.connect(options.server, autocommit=True) as admin:
        for statement in (f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)", ROLES_GO, f"DROP ROLE IF EXISTS {USER}",
                          f"CREATE ROLE {USER} SUPERUSER LOGIN PASSWORD '{USER}'", f"CREATE DATABASE {DATABASE} OWNER {USER}"):
            admin.execute(statement)
        info = admin.info
        where = (info.host, info.port)
        side = Side(psycopg.conninfo.make_conninfo(options.server, dbname=DATABASE, user=USER, password=USER))
        for path in [HERE / "schema.sql", *options.schema]:
            side.make(path.read_text())
        side.read_names()
        before = dict(side.names)
        proxy = Proxy(where)
        env = {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(proxy.port), "PGUSER": USER, "PGPASSWORD": USER, "PGDATABASE": DATABASE}
        for line in options.each.read_text().splitlines() if options.each else [None]:
            if line == "":
                continue
            proxy.label = line or ""
            done = subprocess.run(options.command + ([line] if line else []), env=env, capture_output=True, text=True)
            if done.returncode and not line:
                print(done.stdout[-2000:], done.stderr[-4000:], f"exit {done.returncode}", file=sys.stderr)
        side.read_names()
        writer = Writer(side, before)
        seen = {text for path in options.unlike for _, text in captured(path)}
        parts, numbers = [], {}
        for label, sql, values in proxy.kept:
            if not about(sql):
                continue
            text = writer.statement(sql, values)
            if text is None or text in seen:
                continue
            seen.add(text)
            numbers[label] = numbers.get(label, 0) + 1
            parts.append(f"--- {' '.join(filter(None, (label, str(numbers[label]))))}\n{text}")
        version = side.conn.execute("SHOW server_version").fetchone()[0].split()[0]
        again = " ".join(pathlib.Path(part).name if part.startswith("/") and part != "/dev/null" else part for part in options.command)
        header = [f"Tool: {options.tool}", f"Done: {options.did}",
                  f"When: {datetime.date.today()}, on PostgreSQL {version}",
                  f"Again: capture.py with the command {again}" + (f", once for each line of {options.each.name}" if options.each else "")]
        options.out.write_text("".join(f"-- {line}\n" for line in header) + "".join(parts))
        print(f"{options.out}: {len(proxy.kept)} statements sent, {len(parts)} kept")
        side.conn.close()
        admin.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
        admin.execute(ROLES_GO)
        admin.execute(f"DROP ROLE {USER}")


if __name__ == "__main__":
    main()
