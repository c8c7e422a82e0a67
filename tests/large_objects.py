#!/usr/bin/env python3
"""Large objects that are larger than memory, and servers that are killed while one is written.

    large_objects.py BINARY [--mib 64] [--limit 128] [--rounds 12] [--round-mib 16] [--seed N]
    large_objects.py BINARY --full                  1 GiB, and 100 rounds

A file goes in by psql's \\lo_import, and out by \\lo_export, by ranges, as pages of pg_largeobject and by a dump that is restored; the server
may have no more memory than --limit, in MiB, at any time. Then a client writes an object in one transaction, piece by piece, again and again, and
the server is killed: at any moment, while it commits, or behind its answer. Started again, it has all of the object or none of it, and all of
it where it said so.
"""
import argparse, hashlib, os, pathlib, random, subprocess, sys, tempfile, threading, time

import psycopg

sys.path.insert(0, str(pathlib.Path(__file__).parent / "history"))
from server import Server

MIB = 1 << 20
WRITE, READ = 0x20000, 0x40000
OID = 77001


def connect(server):
    return psycopg.connect(server.dsn, autocommit=True, connect_timeout=60)


def psql(server, *args, text=None):
    done = subprocess.run(["psql", "-qXAt", "-v", "ON_ERROR_STOP=1", server.dsn, *args], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Watch(threading.Thread):
    """Looks at a server's own memory every few milliseconds; pages of files count for an eighth of the limit, as in the server."""

    def __init__(self, server, limit):
        super().__init__(daemon=True)
        self.server, self.limit, self.most, self.failed = server, limit, 0.0, None
        self.start()

    def run(self):
        try:
            while True:
                files = self.server.memory("RssFile")
                self.most = max(self.most, self.server.memory("RssAnon") + min(files, self.limit / 8))
                time.sleep(0.005)
        except (OSError, StopIteration):
            pass  # It has ended.

    def check(self, what):
        print(f"  {what}: at most {self.most:.0f} MiB so far, {self.server.memory('VmHWM'):.0f} with all pages of files", flush=True)
        assert self.most <= self.limit, f"{what}: {self.most:.1f} MiB, which is more than {self.limit}"


def make_file(path, mib, seed):
    source, digest = random.Random(seed), hashlib.md5()
    with open(path, "wb") as out:
        for _ in range(mib):
            piece = source.randbytes(MIB)
            digest.update(piece)
            out.write(piece)
    return digest.hexdigest()


def digest_of(path):
    digest = hashlib.md5()
    with open(path, "rb") as file:
        while piece := file.read(MIB):
            digest.update(piece)
    return digest.hexdigest()


def in_and_out(binary, work, mib, limit, seed):
    source, back = work / "source", work / "back"
    wanted = make_file(source, mib, seed)
    server = Server(binary, str(work / "first"), "--memory-limit", f"{limit}MB")
    watch = Watch(server, limit)
    began = time.monotonic()
    psql(server, "-c", f"\\lo_import {source} 'as it came'")
    print(f"  {mib} MiB in: {time.monotonic() - began:.0f} s", flush=True)
    watch.check("\\lo_import")
    (oid, comment), = psql_rows(server, "SELECT oid, obj_description(oid, 'pg_largeobject') FROM pg_largeobject_metadata")
    assert comment == "as it came", comment
    began = time.monotonic()
    psql(server, "-c", f"\\lo_export {oid} {back}")
    print(f"  {mib} MiB out: {time.monotonic() - began:.0f} s", flush=True)
    assert digest_of(back) == wanted, "what came out is not what went in"
    back.unlink()
    watch.check("\\lo_export")
    chance = random.Random(seed)
    with connect(server) as c, open(source, "rb") as file:
        for _ in range(200):
            at, length = chance.randrange(mib * MIB), chance.choice([1, 100, 5000, 200_000])
            file.seek(at)
            got, = c.execute("SELECT lo_get(%s, %s, %s)", (oid, at, length), binary=True).fetchone()
            assert got == file.read(length), f"{length} bytes at {at}"
        rows = c.execute("SELECT count(*), sum(length(data)), max(pageno) FROM pg_largeobject WHERE loid = %s", (oid,)).fetchone()
        assert rows == (mib * 512, mib * MIB, mib * 512 - 1), rows
        watch.check("ranges and pages")
        # A change in the middle reads and writes what it must.
        with c.transaction():
            fd, = c.execute("SELECT lo_open(%s, %s)", (oid, WRITE)).fetchone()
            c.execute("SELECT lo_lseek64(%s, %s, 0), lowrite(%s, %s)", (fd, mib * MIB // 2 - 3, fd, b"middle"))
        with open(source, "r+b") as changed:
            changed.seek(mib * MIB // 2 - 3)
            changed.write(b"middle")
    server.process.terminate()
    server.process.wait(60)
    dump = work / "dump.sql"
    subprocess.run([binary, "dump", "--data", server.data, "--output", str(dump)], check=True)
    server = Server(binary, str(work / "second"), "--memory-limit", f"{limit}MB")
    watch = Watch(server, limit)
    psql(server, "-f", str(dump))
    watch.check("the dump, restored")
    psql(server, "-c", f"\\lo_export {oid} {back}")
    assert digest_of(back) == digest_of(source), "what was restored is not what was dumped"
    with connect(server) as c:
        c.execute("SELECT lo_unlink(%s)", (oid,))
        assert c.execute("SELECT count(*) FROM pg_largeobject").fetchone() == (0,)
    watch.check("lo_unlink")
    server.kill()


def psql_rows(server, sql):
    with connect(server) as c:
        return c.execute(sql).fetchall()


class Writer(threading.Thread):
    """Writes an object in one transaction; knows when it asked for the commit, and whether it was told."""

    def __init__(self, server, pieces):
        super().__init__(daemon=True)
        self.server, self.pieces, self.asked, self.told = server, pieces, threading.Event(), threading.Event()

    def run(self):
        try:
            with connect(self.server) as c:
                c.execute("BEGIN")
                c.execute("SELECT lo_create(%s)", (OID,))
                fd, = c.execute("SELECT lo_open(%s, %s)", (OID, WRITE)).fetchone()
                for piece in self.pieces:
                    c.execute("SELECT lowrite(%s, %s)", (fd, piece))
                self.asked.set()
                c.execute("COMMIT")
                self.told.set()
        except psycopg.Error:
            pass
        self.asked.set()


def killed(binary, work, rounds, mib, limit, seed):
    chance = random.Random(seed)
    server = Server(binary, str(work / "killed"), "--memory-limit", f"{limit}MB")
    whole = absent = 0
    writing = committing = 0.0
    for number in range(rounds):
        content = chance.randbytes(mib * MIB)
        writer = Writer(server, [content[at:at + MIB // 4] for at in range(0, len(content), MIB // 4)])
        began = time.monotonic()
        writer.start()
        if number == 0:
            # How long it takes, and that what is acknowledged is there.
            writer.asked.wait()
            writing = time.monotonic() - began
            writer.join()
            committing = time.monotonic() - began - writing
        elif number % 2:
            writer.asked.wait()
            time.sleep(chance.uniform(0, 1.2 * committing))
        else:
            time.sleep(chance.uniform(0, writing))
        told = writer.told.is_set()
        server.kill()
        told = told or writer.told.is_set()
        writer.join()
        server.start()
        with connect(server) as c:
            there = c.execute("SELECT oid FROM pg_largeobject_metadata").fetchall()
            pages, = c.execute("SELECT count(*) FROM pg_largeobject").fetchone()
            if there:
                assert there == [(OID,)], there
                got, = c.execute("SELECT md5(lo_get(%s))", (OID,)).fetchone()
                assert got == hashlib.md5(content).hexdigest(), f"round {number}: the object is neither whole nor absent"
                c.execute("SELECT lo_unlink(%s)", (OID,))
                whole += 1
            else:
                assert pages == 0, f"round {number}: {pages} pages of an object that is not there"
                assert not told, f"round {number}: an object is lost whose transaction was committed"
                absent += 1
    server.kill()
    print(f"  {rounds} rounds: whole in {whole}, absent in {absent}", flush=True)
    assert whole > 0 and (absent > 0 or rounds < 3), "the rounds say nothing"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--limit", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--round-mib", type=int, default=16)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--full", action="store_true")
    asked = parser.parse_args()
    mib, rounds = (1024, 100) if asked.full else (asked.mib, asked.rounds)
    print(f"large objects: seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as work:
        if mib:
            in_and_out(asked.binary, pathlib.Path(work), mib, asked.limit, asked.seed)
        if rounds:
            killed(asked.binary, pathlib.Path(work), rounds, asked.round_mib, asked.limit, asked.seed)


main()
