#!/usr/bin/env python3
"""Power losses: what was acknowledged is there, nothing is torn, and what is derived agrees with its tables.

    run.py BINARY [--losses N] [--seed S] [--jobs N] [--forget-syncs PATTERN] [--keep DIR]
    run.py BINARY --self-test

A server runs under a preloaded library (shim.c) that writes down what it does to its files and ends it at an operation drawn by lot, while
clients commit, load, define, index and search; or in the middle of its start; or a backup or a load that runs alone. From what was
written down a state is drawn that a disk may be in after a power loss there (model.py). The next server starts on that, and must have all
that was acknowledged to a client: this program is the witness. Databases live for a score of losses, then a new one begins.

`--self-test`: with syncs of the log that are lies the same test must find something missing. In CI: `--losses 20`.
Linux on x86_64 with gcc; it is said where that is not the case, and nothing is tested.
"""
import argparse, collections, copy, fnmatch, mmap, multiprocessing, os, pathlib, platform, random, shutil, signal, socket, struct, subprocess, sys
import tempfile, threading, time

import psycopg

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "history")]
import crash
from model import Disk
from server import own_port

LIFE = 20                                     # losses of one database
ENDED_BY_SHIM = 77
WORDS = "alder birch cedar elder fir hazel juniper larch maple oak pine rowan spruce willow yew".split()


class Control:
    """What shim.c and this program share."""

    def __init__(self, path):
        path.write_bytes(bytes(32))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 32)

    def get(self, n):
        return struct.unpack_from("<Q", self.map, 8 * n)[0]

    def put(self, n, value):
        struct.pack_into("<Q", self.map, 8 * n, value)

    operations = property(lambda self: self.get(0))
    strange = property(lambda self: self.get(3))

    def reset(self, end_at, sync_us):
        self.map[:] = bytes(32)
        self.put(1, end_at)
        self.put(2, sync_us)

    def end_in(self, operations):
        self.put(1, self.operations + operations)


class Server:
    """On a directory, under the shim or without it."""

    def __init__(self, binary, data, log, environment=None):
        self.held = own_port()                # lives are side by side
        self.port = self.held.getsockname()[1]
        self.log = log
        command = [binary, "serve", "--data", str(data), "--listen", f"127.0.0.1:{self.port}", "--memory-limit", "64MB"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(log, "ab"), env=environment)
        began = time.monotonic()
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                self.up = True
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() - began > 60:
                    self.up = False
                    return
                time.sleep(0.005)

    @property
    def dsn(self):
        return f"host=127.0.0.1 port={self.port} user=stoa dbname=stoa"

    def connect(self):
        return psycopg.connect(self.dsn, autocommit=True, connect_timeout=10)

    def end(self):
        self.process.kill()
        return self.process.wait()


class Oracle:
    """What clients know: of each thing the states that it may be in. One that was acknowledged leaves one state."""

    def __init__(self):
        self.transactions = crash.State()
        self.loads = {}                       # batch → {0 rows, n rows}
        self.documents = collections.defaultdict(lambda: {None})   # id → texts
        self.tables = collections.defaultdict(lambda: {None})      # name → rows, None without a table
        self.indexes = collections.defaultdict(lambda: {False})    # name → whether it is there
        self.chained = 0                      # of the chain, the number up to which all is sure to be there
        self.next = 0

    def number(self):
        self.next += 1
        return self.next

    def copy(self):
        out = Oracle()
        for name in ("loads", "documents", "tables", "indexes"):
            setattr(out, name, copy.deepcopy(getattr(self, name)))
        out.next, out.chained = self.next, self.chained
        of, to = self.transactions, out.transactions
        to.next_batch, to.fate, to.sequence = of.next_batch, dict(of.fate), collections.Counter(of.sequence)
        to.present, to.absent = set(of.present), set(of.absent)
        return out


def attempt(states, after, run):
    """Does something after which one state is left; if it is not known whether it was done, two sorts are."""
    before = set(states)
    states.update(after)
    try:
        run()
    except psycopg.OperationalError:
        raise
    except psycopg.Error:
        states.clear()
        states.update(before)
        raise
    states.clear()
    states.update(after)


def setup(c):
    crash.setup(c)
    c.execute("CREATE TABLE loads (batch int, n int, pad text, PRIMARY KEY (batch, n))")
    c.execute("CREATE INDEX loads_n ON loads (n, batch)")
    c.execute("CREATE TABLE document (id int PRIMARY KEY, body text)")
    c.execute("CREATE INDEX document_body ON document USING fulltext (body)")
    c.execute("CREATE TABLE chain (n int PRIMARY KEY, pad text)")
    c.execute("CREATE TABLE other (id int PRIMARY KEY, body text)")


def loader(c, oracle, rng, stop):
    """Transactions that the store takes in as files, and some that it does not."""
    while not stop.is_set():
        batch, rows = oracle.number(), rng.choice([10, 1000, 7000])
        states = oracle.loads.setdefault(batch, {0})

        def run():
            if rng.random() < 0.5:
                c.execute(f"INSERT INTO loads SELECT {batch}, n, repeat(md5(n::text), 4) FROM generate_series(1, {rows}) n")
            else:
                with c.cursor().copy("COPY loads FROM STDIN") as copy_:
                    copy_.write("".join(f"{batch}\t{n}\t{'pad' * 40}{n}\n" for n in range(1, rows + 1)))
        attempt(states, {rows}, run)
        if rng.random() < 0.3 and batch > 4:
            old = oracle.loads.setdefault(batch - 3, {0})
            attempt(old, {0}, lambda: c.execute("DELETE FROM loads WHERE batch = %s", (batch - 3,)))


def definer(c, oracle, rng, stop):
    while not stop.is_set():
        kind = rng.random()
        name = f"d{oracle.number()}"
        there = [t for t, s in oracle.tables.items() if len(s) == 1 and None not in s]
        if kind < 0.35 or not there:
            rows = rng.randint(0, 300)

            def run():
                c.execute("BEGIN")
                try:
                    c.execute(f"CREATE TABLE {name} (id int PRIMARY KEY, v text)" + rng.choice(["", " WITH (versions = 3)", " WITH (compression = 'zstd')"]))
                    c.execute(f"INSERT INTO {name} SELECT n, 'v' || n FROM generate_series(1, {rows}) n")
                    c.execute(f"CREATE INDEX ON {name} (v)")
                except psycopg.OperationalError:
                    oracle.tables[name] = {None}
                    raise
                c.execute("COMMIT")
            attempt(oracle.tables[name], {rows}, run)
        elif kind < 0.5:
            attempt(oracle.tables[there[0]], {None}, lambda: c.execute(f"DROP TABLE {there[0]}"))
        elif kind < 0.6:
            attempt(oracle.tables[there[-1]], {0}, lambda: c.execute(f"TRUNCATE {there[-1]}"))
        elif kind < 0.7:
            c.execute(f"ALTER TABLE {there[-1]} ADD COLUMN {name} int DEFAULT 7")
        else:
            index = "i_" + rng.choice(["loads", "part", "text"])
            if True in oracle.indexes[index]:
                attempt(oracle.indexes[index], {False}, lambda: c.execute(f"DROP INDEX IF EXISTS {index}"))
            else:
                on = {"i_loads": "loads (pad, n)", "i_part": "part (word, n)", "i_text": "other USING fulltext (body)"}[index]
                how = rng.choice(["", " CONCURRENTLY"])
                attempt(oracle.indexes[index], {True}, lambda: c.execute(f"CREATE INDEX{how} {index} ON {on}"))


def writer(c, oracle, rng, stop):
    """Documents, so that full text follows."""
    while not stop.is_set():
        id_, body = rng.randint(1, 300), " ".join(rng.choices(WORDS, k=rng.randint(1, 8)))
        states = oracle.documents[id_]
        if rng.random() < 0.2:
            attempt(states, {None}, lambda: c.execute("DELETE FROM document WHERE id = %s", (id_,)))
        else:
            attempt(states, {body}, lambda: c.execute("INSERT INTO document VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body", (id_, body)))
        if rng.random() < 0.1:
            c.execute("INSERT INTO other SELECT %s * 1000 + n, %s FROM generate_series(1, 20) n ON CONFLICT DO NOTHING", (oracle.number(), body))
        if rng.random() < 0.3:
            time.sleep(rng.random() * 0.1)


def chainer(c, oracle, rng, stop):
    """Commits that nobody waits for: a later one is not there without the earlier ones, and all that were before one that was waited for are."""
    n = c.execute("SELECT coalesce(max(n), 0) FROM chain").fetchone()[0]
    while not stop.is_set():
        n += 1
        wait = rng.random() < 0.05
        c.execute(f"SET synchronous_commit = {'on' if wait else 'off'}")
        c.execute("INSERT INTO chain VALUES (%s, repeat(chr(%s), %s))", (n, 97 + n % 26, rng.choice([0, 100, 3000, 9000])))
        if wait:
            oracle.chained = n


def client(work, server, oracle, seed, stop, errors):
    try:
        with server.connect() as c:
            work(c, oracle, random.Random(seed), stop)
    except psycopg.OperationalError:
        pass
    except Exception as error:  # told by whoever waits for it
        errors.append(f"{work.__name__}: {type(error).__name__}: {error}")


def verify(server, oracle):
    """What is wrong, as texts; what was not known is known afterwards."""
    wrong = crash.verify(server, oracle.transactions, True)
    with server.connect() as c:
        def settle(what, states, found):
            if found not in states:
                wrong.append(f"{what}: {found!r} is there, not one of {sorted(map(repr, states))}")
            states.clear()
            states.add(found)

        loads = dict(c.execute("SELECT batch, count(*) FROM loads GROUP BY batch").fetchall())
        for batch, states in oracle.loads.items():
            settle(f"load {batch}", states, loads.pop(batch, 0))
        if loads:
            wrong.append(f"loads that nobody made: {loads}")
        rows, last = c.execute("SELECT count(*), coalesce(max(n), 0) FROM chain").fetchone()
        if rows != last or last < oracle.chained:
            wrong.append(f"chain: {rows} rows up to {last}, {oracle.chained} are sure")
        documents = dict(c.execute("SELECT id, body FROM document").fetchall())
        for id_, states in oracle.documents.items():
            settle(f"document {id_}", states, documents.get(id_))
        for word in WORDS[::4]:
            search = {r[0] for r in c.execute("SELECT id FROM document WHERE MATCH(body) AGAINST (%s)", (word,)).fetchall()}
            scan = {i for i, body in documents.items() if word in body.split()}
            if search != scan:
                wrong.append(f"search of {word}: {len(search - scan)} too many, {len(scan - search)} missing")
        tables = {r[0] for r in c.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace").fetchall()}
        for table, states in oracle.tables.items():
            settle(f"table {table}", states, c.execute(f"SELECT count(*) FROM {table}").fetchone()[0] if table in tables else None)
        valid = dict(c.execute("SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid").fetchall())
        for index, states in oracle.indexes.items():
            if index in valid and not valid[index]:     # of a CONCURRENTLY that did not end
                if False not in states:
                    wrong.append(f"index {index} is not valid any more")
                c.execute(f"DROP INDEX {index}")
                valid.pop(index)
            settle(f"index {index}", states, index in valid)
        # Files of full text that cannot be used are made again first.
        until = time.monotonic() + 30
        while states := c.execute("SELECT indexrelname, state, reason FROM pg_stat_fulltext WHERE state <> 'ready'").fetchall():
            if time.monotonic() > until:
                wrong.append(f"full text does not come back: {states}")
                break
            time.sleep(0.05)
        for table in sorted(tables):
            for fault in c.execute(f"CHECK TABLE {table}").fetchall():
                wrong.append(f"CHECK TABLE {table}: {fault}")
    return wrong


class Life:
    """One database, and the losses that it goes through."""

    def __init__(self, args, seed, work):
        self.args, self.rng, self.work = args, random.Random(seed), pathlib.Path(work)
        self.seed, self.losses, self.wrong, self.notes = seed, 0, [], collections.Counter()
        self.base, self.live = self.work / "base", self.work / "live"
        self.base.mkdir()
        self.control = Control(self.work / "control")
        self.oracle, self.is_set_up, self.start_operations = Oracle(), False, 200
        self.backups = []                     # (directory below the root, what was known)
        self.environment = {**os.environ, "LD_PRELOAD": args.shim, "STOA_POWER_ROOT": str(self.live), "STOA_POWER_JOURNAL": str(self.work / "journal"),
                            "STOA_POWER_CONTROL": str(self.work / "control")}

    def begin(self, end_at):
        shutil.rmtree(self.live, ignore_errors=True)
        shutil.copytree(self.base, self.live)
        self.control.reset(end_at, self.rng.choice([0, 300, 3000]))

    def lose(self, what):
        """The power goes: a new base."""
        forgets = self.args.forget_syncs
        if self.control.strange:
            sys.exit(f"power: the model does not know what was done ({self.control.strange})")
        disk = Disk(self.base, self.work / "journal", lambda name: bool(forgets) and fnmatch.fnmatch(name, forgets))
        lost = self.work / "lost"
        shutil.rmtree(lost, ignore_errors=True)
        disk.lose(self.rng, lost)
        if self.args.keep:
            keep = pathlib.Path(self.args.keep) / f"{self.seed}-{self.losses}"
            shutil.rmtree(keep, ignore_errors=True)
            shutil.copytree(self.base, keep / "before")
            shutil.copytree(lost, keep / "after")
            shutil.copy(self.work / "journal", keep)
        shutil.rmtree(self.base)
        lost.rename(self.base)
        self.losses += 1
        self.notes[what] += 1

    def last_words(self):
        """The end of the servers' log."""
        return " ".join((self.work / "log").read_text().splitlines()[-3:])

    def fail(self, texts):
        self.wrong += [f"seed {self.seed}, after loss {self.losses}: {text}" for text in texts]

    def start(self):
        """A server that is up, after as many losses on its way as come; None if something is wrong."""
        while True:
            early = self.rng.random() < 0.25
            self.begin(self.rng.randint(1, max(2, self.start_operations)) if early else 0)
            server = Server(self.args.binary, self.live / "data", self.work / "log", self.environment)
            if server.up:
                # The end may still come.
                self.start_operations = max(20, self.control.operations)
                return server
            code = server.end()
            if code != ENDED_BY_SHIM:
                self.fail([f"the server does not start ({code}): {self.last_words()}"])
                return None
            self.lose("start")

    def round(self):
        server = self.start()
        if not server:
            return False
        try:
            try:
                if not self.is_set_up:
                    with server.connect() as c:
                        setup(c)
                    self.is_set_up = True
                else:
                    wrong = verify(server, self.oracle)
                    if server.process.poll() is None:
                        self.fail(wrong)
            except psycopg.ProgrammingError as error:
                self.fail([f"while it was looked at: {error}"])
                return False
            except psycopg.OperationalError as error:
                # The end that was meant for the start came now.
                if server.process.wait(10) != ENDED_BY_SHIM:
                    self.fail([f"while it was looked at: {error}"])
                    return False
                if not self.is_set_up:
                    # Some of it may be there: it begins once more.
                    self.lose("setup")
                    shutil.rmtree(self.base)
                    self.base.mkdir()
                    return True
                self.lose("start")
                return True
            if self.wrong:
                return False
            if self.rng.random() < 0.12 and server.process.poll() is None:
                self.alone(server)
            else:
                self.at_work(server)
        finally:
            if server.process.poll() is None:
                server.end()
        return not self.wrong

    def at_work(self, server):
        self.control.end_in(int(10 ** self.rng.uniform(0, 3.2)))
        stop, errors, threads = threading.Event(), [], []
        works = [loader, definer, writer, chainer]
        self.rng.shuffle(works)
        for work in works[:self.rng.randint(0, 4)]:
            threads.append(threading.Thread(target=client, args=(work, server, self.oracle, self.rng.random(), stop, errors), daemon=True))
        for _ in range(self.rng.randint(1, 4)):
            threads.append(threading.Thread(target=crash.client, args=(server, self.oracle.transactions, self.rng.random(), stop), daemon=True))
        for thread in threads:
            thread.start()
        try:
            code = server.process.wait(4)
        except subprocess.TimeoutExpired:
            code = ENDED_BY_SHIM
            server.end()
        stop.set()
        for thread in threads:
            thread.join(20)
        self.fail(errors)
        if code != ENDED_BY_SHIM:
            self.fail([f"the server ended with {code}"])
        self.lose("work")

    def alone(self, server):
        """A backup or a load by the command line, on a database that is closed."""
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(30)
        self.lose("end")
        known = self.oracle.copy()
        self.begin(0)
        backup = self.rng.random() < 0.6
        number = self.oracle.number()
        if backup:
            command = ["backup", "--data", str(self.live / "data"), str(self.live / f"backup{number}")]
            operations = 150
        else:
            rows = self.rng.choice([100, 20000])
            (self.work / "rows.csv").write_text("batch,n,pad\n" + "".join(f"{number},{n},{'x' * 90}\n" for n in range(rows)))
            command = ["load", "--data", str(self.live / "data"), "--table", "loads", "--commit-rows", str(rows), str(self.work / "rows.csv")]
            self.oracle.loads[number] = {0, rows}
            operations = 400
        self.control.end_in(self.rng.randint(1, 2 * operations))
        run = subprocess.run([self.args.binary, *command], env=self.environment, capture_output=True, text=True, timeout=120)
        if run.returncode == 0:
            if backup:
                self.backups.append((f"backup{number}", known))
            else:
                self.oracle.loads[number] = {rows}
        elif run.returncode != ENDED_BY_SHIM:
            self.fail([f"{command[0]} ended with {run.returncode}: {run.stderr[-300:]}"])
        self.lose(command[0])
        while self.backups and not self.wrong:
            name, known = self.backups.pop()
            self.notes["backups looked at"] += 1
            if not (self.base / name).exists():
                self.fail([f"{name} was acknowledged and is not there"])
                break
            copy_ = self.work / "copy"
            shutil.rmtree(copy_, ignore_errors=True)
            shutil.copytree(self.base / name, copy_)
            server = Server(self.args.binary, copy_, self.work / "log")
            self.fail([f"{name}: {w}" for w in verify(server, known)] if server.up else [f"{name} does not open: {self.last_words()}"])
            server.end()
        for backup in self.base.glob("backup*"):
            shutil.rmtree(backup)

    def run(self, losses):
        while self.losses < losses and self.round():
            pass
        if not self.wrong and self.is_set_up:
            # What the last one left.
            server = self.start()
            if server:
                try:
                    self.fail(verify(server, self.oracle))
                except psycopg.OperationalError:
                    pass                       # another loss on its way
                server.end()
        return self.losses, self.wrong, self.notes, collections.Counter(self.oracle.transactions.fate.values())


def one_life(job):
    args, seed, losses = job
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None, prefix="stoa-power-") as work:
        life = Life(args, seed, work)
        try:
            return seed, *life.run(losses)
        except Exception as error:  # of this program
            import traceback
            return seed, life.losses, [f"seed {seed}, after loss {life.losses}: " + "".join(traceback.format_exception(error)[-3:])], life.notes, {}


def run(args, losses):
    seeds, total, wrong, notes, fates, began = random.Random(args.seed), 0, [], collections.Counter(), collections.Counter(), time.monotonic()
    with multiprocessing.Pool(args.jobs) as pool:
        jobs = ((args, seeds.randrange(10**9), min(LIFE, losses - at)) for at in range(0, losses, LIFE))
        for n, (_, lost, w, more, of) in enumerate(pool.imap_unordered(one_life, jobs), 1):
            total, wrong, notes, fates = total + lost, wrong + w, notes + more, fates + collections.Counter(of)
            if n % 5 == 0 or w:
                print(f"power: {total} losses, {fates['ok']} transactions acknowledged, {len(wrong)} wrong, {time.monotonic() - began:.0f} s", flush=True)
                for text in w[:10]:
                    print("  " + text, flush=True)
            if len(wrong) > 100 or (wrong and args.forget_syncs):
                pool.terminate()
                break
    print(f"power: {total} losses ({', '.join(f'{n} {what}' for what, n in sorted(notes.items()))}), {fates['ok']} transactions acknowledged, "
          f"{fates['unknown']} unknown, {len(wrong)} wrong, {time.monotonic() - began:.0f} s")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--losses", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--forget-syncs", metavar="PATTERN", help="names of files, as *.log, whose syncs keep nothing")
    parser.add_argument("--keep", help="a directory for what was there before and after each loss")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if platform.system() != "Linux" or platform.machine() != "x86_64" or not shutil.which("gcc"):
        print("power: left out: it needs Linux on x86_64 and gcc")
        return
    with tempfile.TemporaryDirectory() as built:
        args.shim = built + "/shim.so"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", args.shim, str(HERE / "shim.c"), "-lpthread"], check=True)
        if args.self_test:
            args.forget_syncs = "*.log"
            if not run(args, args.losses):
                sys.exit("power: a log that is never synced was not noticed")
            print("power: a log that is never synced is noticed")
        else:
            sys.exit(1 if run(args, args.losses) else 0)


if __name__ == "__main__":
    main()
