#!/usr/bin/env python3
"""The past of tables, against copies of them: AS OF, FOR SYSTEM_TIME, stoa_history, stoa_diff and RESTORE TO.

    past.py BINARY [--copies 30] [--seed 1] [--checks 300]

Some sessions change tables without pause; another one stops them now and then for as long as it takes to copy the tables and to note the
time. Files are flushed and compacted meanwhile, an index is made, and the server is killed and started again. Then what the server says of
the times of the copies, and of spans between two of them, must be what the copies say: by key, by indexes, by searches and in joins. One
table keeps few versions: of it an answer is right, or an error. One has maps, whose entries have a past of their own; it is dropped and comes
back before it is asked. Of one an undeclared column is promoted meanwhile.
"""
import argparse, pathlib, random, re, socket, subprocess, sys, tempfile, threading, time

import psycopg

WORDS = [f"gw{n}" for n in range(6)]
TABLES = {"item": "id, grp, n, note", "few": "id, n", "kind": "id, name", "bag": "id, n, m", "loose": "id, n, x"}
# Columns that a table need not declare.
UNDECLARED = {"loose": "(x int)"}
NAMES = "abcde"
TOO_OLD = "72000"


class Server:
    def __init__(self, binary, data):
        self.binary, self.data = binary, data
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.binary, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}"],
                                        stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def connect(self):
        return psycopg.connect(host="127.0.0.1", port=self.port, user="stoa", dbname="stoa", autocommit=True, connect_timeout=10)

    def kill(self):
        self.process.kill()
        self.process.wait()


def define(c):
    c.execute("CREATE TABLE kind (id int PRIMARY KEY, name text) WITH (versions = 100000)")
    c.execute("CREATE TABLE item (id int PRIMARY KEY, grp int, n int, note text, FAMILY a (grp, n) WITH (versions = 100000), "
              "FAMILY b (note) WITH (versions = 100000, values = plain))")
    c.execute("CREATE TABLE few (id int PRIMARY KEY, n int) WITH (versions = 3)")
    c.execute("CREATE TABLE bag (id int PRIMARY KEY, n int, m map(text, int)) WITH (versions = 100000)")
    c.execute("CREATE TABLE loose (id int PRIMARY KEY, n int) WITH (dynamic_columns, versions = 100000)")
    c.execute("CREATE INDEX item_grp ON item (grp)")
    c.execute("CREATE INDEX item_words ON item USING fulltext (note)")
    c.execute("INSERT INTO kind SELECT k, 'kind ' || k FROM generate_series(0, 5) k")


def write(server, seed, stop, wrong):
    """Changes rows until it is stopped, or the server is."""
    r = random.Random(seed)
    try:
        with server.connect() as c:
            while not stop.is_set():
                key, word = r.randrange(60), " ".join(r.sample(WORDS, 2))
                changes = [
                    ("INSERT INTO item VALUES (%s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET n = excluded.n, note = excluded.note", (key, r.randrange(6), r.randrange(1000), word)),
                    ("UPDATE item SET n = n + 1 WHERE grp = %s", (r.randrange(6),)),
                    ("UPDATE item SET grp = %s, note = %s WHERE id = %s", (r.randrange(6), r.choice([word, None]), key)),
                    ("DELETE FROM item WHERE id = %s", (key,)),
                    ("UPDATE kind SET name = %s WHERE id = %s", (word, r.randrange(6))),
                    ("INSERT INTO few VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET n = excluded.n", (r.randrange(12), r.randrange(1000))),
                    ("DELETE FROM few WHERE id = %s", (r.randrange(12),)),
                    ("INSERT INTO bag VALUES (%s, %s, map['a' => 1, 'c' => 3]) ON CONFLICT (id) DO UPDATE SET n = excluded.n, m['c'] = coalesce(bag.m['c'], 0) + 1", (r.randrange(9), r.randrange(9))),
                    ("UPDATE bag SET m[%s] = coalesce(m[%s], 0) + 1 WHERE id < %s RETURNING m", (name := r.choice(NAMES), name, r.randrange(9))),
                    ("UPDATE bag SET m = m - %s || map['e' => %s] WHERE id = %s", (r.choice(NAMES), r.randrange(9), r.randrange(9))),
                    ("UPDATE bag SET m = map['b' => %s] WHERE id = %s", (r.randrange(9), r.randrange(9))),
                    ("INSERT INTO bag_m_entries SELECT id, 'd', n FROM bag WHERE id = %s ON CONFLICT (id, key) DO UPDATE SET value = excluded.value", (r.randrange(9),)),
                    ("DELETE FROM bag WHERE id = %s", (r.randrange(9),)),
                    ("INSERT INTO loose (id, n, x int) VALUES (%s, %s, %s) ON CONFLICT (id) DO UPDATE SET x = excluded.x", (r.randrange(12), r.randrange(9), r.choice([r.randrange(9), None]))),
                    ("UPDATE loose (x int) SET x = coalesce(x, 0) + 1 WHERE id < %s", (r.randrange(12),)),
                    ("UPDATE loose (x int, y int) SET n = n + 1, y = x WHERE id = %s", (r.randrange(12),)),
                    ("DELETE FROM loose WHERE id = %s", (r.randrange(12),)),
                ]
                try:
                    with c.transaction():
                        for sql, values in r.sample(changes, r.randrange(1, 4)):
                            c.execute(sql, values)
                        if r.randrange(10) == 0:
                            raise psycopg.Rollback()
                except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure, psycopg.errors.ForeignKeyViolation):
                    # The last where a row goes while an entry is put by itself.
                    pass
    except psycopg.OperationalError:
        pass
    except psycopg.Error as e:
        wrong.append(f"writing: {e}")


def copy(c):
    """All rows at a time, when nobody changes any."""
    while True:
        try:
            with c.transaction():
                c.execute("LOCK TABLE item, few, kind, bag, bag_m_entries, loose, loose_dynamic_columns_entries IN SHARE MODE")
                return copied(c)
        except psycopg.errors.DeadlockDetected:
            pass


def copied(c):
    tables = {t: dict((row[0], row) for row in c.execute(f"SELECT {columns} FROM {t} {UNDECLARED.get(t, '')}")) for t, columns in TABLES.items()}
    at = c.execute("SELECT clock_timestamp()").fetchone()[0]
    time.sleep(0.001)
    return at, tables


def promote(c):
    """Declares the undeclared column."""
    while True:
        try:
            c.execute("ALTER TABLE loose ADD COLUMN x int FROM DYNAMIC")
            return
        except psycopg.errors.DeadlockDetected:
            pass


def entries(rows):
    """Of rows with a map: (id, key, value) of each entry."""
    return {(row[0], key): (row[0], key, int(value)) for row in rows for key, value in re.findall(r'"(\w+)"=>"(-?\d+)"', row[2])}


class Checks:
    def __init__(self, connection, copies, seed):
        self.c, self.copies, self.random = connection, copies, random.Random(seed)
        self.wrong, self.compared, self.too_old = [], 0, 0

    def same(self, sql, values, expected, may_fail=False):
        try:
            rows = self.c.execute(sql, values).fetchall()
        except psycopg.Error as e:
            if may_fail and e.sqlstate == TOO_OLD:
                self.too_old += 1
                return
            self.wrong.append(f"{sql} {values}: {e}")
            return
        self.compared += 1
        if sorted(rows, key=repr) != sorted(expected, key=repr):
            missing, more = [r for r in expected if r not in rows], [r for r in rows if r not in expected]
            self.wrong.append(f"{sql} {values}: without {missing[:3]}, but {more[:3]}; {len(rows)} rows, not {len(expected)}")

    def moment(self):
        """One time: by scan, key, index, search and join."""
        at, tables = self.random.choice(self.copies)
        items, kinds = tables["item"].values(), tables["kind"]
        clause = self.random.choice(["AS OF SYSTEM TIME %s", "FOR SYSTEM_TIME AS OF %s", "FOR SYSTEM_TIME BETWEEN %s AND %s"])
        times = [at] * clause.count("%s")
        key, grp, word, n = self.random.randrange(60), self.random.randrange(6), self.random.choice(WORDS), self.random.randrange(1000)
        kind = self.random.randrange(6)
        if kind == 0:
            self.same(f"SELECT id, grp, n, note FROM item {clause}", times, items)
        elif kind == 1:
            self.same(f"SELECT id, grp, n, note FROM item {clause} WHERE id = %s", [*times, key], [i for i in items if i[0] == key])
            self.same(f"SELECT count(*) FROM item {clause}", times, [(len(items),)])
        elif kind == 2:
            self.same(f"SELECT id FROM item {clause} WHERE grp = %s AND n < %s", [*times, grp, n],
                      [(i[0],) for i in items if i[1] == grp and i[2] < n])
        elif kind == 3:
            if "BETWEEN" not in clause:
                self.same(f"SELECT id FROM item {clause} WHERE MATCH(note) AGAINST (%s)", [*times, word],
                          [(i[0],) for i in items if i[3] and word in i[3].split()])
            self.same(f"SELECT id FROM item {clause} WHERE note LIKE %s", [*times, f"%{word}%"], [(i[0],) for i in items if i[3] and word in i[3]])
        elif kind == 4:
            self.same(f"SELECT i.id, k.name FROM kind {clause} k JOIN item {clause} i ON i.grp = k.id WHERE k.id < %s", [*times, *times, grp],
                      [(i[0], kinds[i[1]][1]) for i in items if i[1] < grp])
        else:
            self.same(f"SELECT id, n FROM few {clause}", times, tables["few"].values(), may_fail=True)

    def maps(self):
        """Maps at a time, their entries, and what differs between two times."""
        at, tables = self.random.choice(self.copies)
        bags, name, key = tables["bag"].values(), self.random.choice(NAMES), self.random.randrange(9)
        there = entries(bags)
        clause = self.random.choice(["AS OF SYSTEM TIME %s", "FOR SYSTEM_TIME AS OF %s"])
        self.same(f"SELECT id, n, m FROM bag {clause}", [at], bags)
        self.same(f"SELECT m[%s], m ? %s, cardinality(m) FROM bag {clause} WHERE id = %s", [name, name, at, key],
                  [(there.get((key, name), (None,))[-1], (key, name) in there, row[2].count("=>")) for row in bags if row[0] == key])
        self.same(f"SELECT id, key, value FROM bag {clause}, each(m) WHERE key < %s", [at, name], [row for row in there.values() if row[1] < name])
        self.same("SELECT id, key, value FROM bag_m_entries FOR SYSTEM_TIME BETWEEN %s AND %s", [at, at], there.values())
        (a, of_a), (b, of_b) = self.random.sample(self.copies, 2)
        was, now = entries(of_a["bag"].values()), entries(of_b["bag"].values())
        differing = [(*row, "update" if place in was else "insert") for place, row in now.items() if was.get(place) != row]
        differing += [(*row, "delete") for place, row in was.items() if place not in now]
        self.same("SELECT id, key, value, operation FROM stoa_diff('bag_m_entries', %s, %s)", [a, b], differing)

    def promoted(self):
        """A column that was an undeclared one at some of the times."""
        at, tables = self.random.choice(self.copies)
        rows, key, x = tables["loose"].values(), self.random.randrange(12), self.random.randrange(9)
        clause = self.random.choice(["AS OF SYSTEM TIME %s", "FOR SYSTEM_TIME AS OF %s"])
        self.same(f"SELECT id, n, x FROM loose {clause}", [at], rows)
        self.same(f"SELECT id, n, x FROM loose (x int) {clause} WHERE id = %s", [at, key], [row for row in rows if row[0] == key])
        self.same(f"SELECT id, x FROM loose {clause} WHERE x > %s", [at, x], [(row[0], row[2]) for row in rows if row[2] is not None and row[2] > x])
        (a, of_a), (b, of_b) = self.random.sample(self.copies, 2)
        told = self.c.execute("SELECT id, n, x, operation FROM stoa_diff('loose', %s, %s)", [a, b]).fetchall()
        self.compared += 1
        for row in told:
            if row[:3] != (of_a if row[3] == "delete" else of_b)["loose"].get(row[0]):
                self.wrong.append(f"what differs of loose between {a} and {b}: {row}")

    def span(self):
        """Two times, and the copies between them."""
        (a, of_a), (b, of_b) = sorted(self.random.sample(self.copies, 2), key=lambda copy: copy[0])
        forward = self.random.randrange(2) == 0
        was, now, times = (of_a["item"], of_b["item"], [a, b]) if forward else (of_b["item"], of_a["item"], [b, a])
        differing = [(*row, "insert", None) for key, row in now.items() if key not in was]
        differing += [(*row, "delete", None) for key, row in was.items() if key not in now]
        names = ["id", "grp", "n", "note"]
        for key, row in now.items():
            if key in was and row != was[key]:
                differing.append((*row, "update", [name for name, x, y in zip(names, was[key], row) if x != y]))
        self.same("SELECT id, grp, n, note, operation, changed FROM stoa_diff('item', %s, %s)", times, differing)
        between = [copy for copy in self.copies if a < copy[0] < b]
        try:
            versions = self.c.execute("SELECT id, grp, n, note, row_start, CASE WHEN row_end < 'infinity' THEN row_end END FROM item FOR SYSTEM_TIME FROM %s TO %s", [a, b]).fetchall()
        except psycopg.Error as e:
            self.wrong.append(f"FROM {a} TO {b}: {e}")
            return
        for version in versions:
            if version[4] >= b or (version[5] is not None and version[5] <= a):
                self.wrong.append(f"FROM {a} TO {b}: {version}")
        for at, tables in self.random.sample(between, min(3, len(between))):
            told = {v[0]: v[:4] for v in versions if v[4] <= at and (v[5] is None or v[5] > at)}
            self.compared += 1
            if told != tables["item"]:
                self.wrong.append(f"FROM {a} TO {b} is not what {at} was")

    def row(self):
        """The history of a row, by the copies."""
        key = self.random.randrange(60)
        events = self.c.execute("SELECT id, grp, n, note, row_start, operation, changed FROM stoa_history('item', %s) ORDER BY row_start", [key]).fetchall()
        there, values = False, None
        for event in events:
            operation, changed = event[5:]
            expected = "update" if there else "insert"
            if operation != expected and not (there and operation == "delete"):
                self.wrong.append(f"item {key}: {operation} where it was {'there' if there else 'not there'}")
            if operation == "update" and changed != [name for name, x, y in zip(["id", "grp", "n", "note"], values, event[:4]) if x != y]:
                self.wrong.append(f"item {key}: {changed} is not what changed from {values} to {event[:4]}")
            there, values = operation != "delete", event[:4]
        for at, tables in self.random.sample(self.copies, min(5, len(self.copies))):
            past = [event for event in events if event[4] <= at]
            told = past[-1][:4] if past and past[-1][5] != "delete" else None
            self.compared += 1
            if told != tables["item"].get(key):
                self.wrong.append(f"item {key} at {at}: {told}, not {tables['item'].get(key)}")

    def restore(self):
        """What is restored is as it was, and its indexes say the same."""
        at, tables = self.random.choice(self.copies)
        self.c.execute(f"ALTER TABLE item RESTORE TO '{at.isoformat()}'")
        self.c.execute(f"ALTER TABLE bag RESTORE TO '{at.isoformat()}'")
        self.same("SELECT id, n, m FROM bag", [], tables["bag"].values())
        self.c.execute(f"ALTER TABLE loose RESTORE TO '{at.isoformat()}'")
        self.same("SELECT id, n, x FROM loose", [], tables["loose"].values())
        items = tables["item"].values()
        self.same("SELECT id, grp, n, note FROM item", [], items)
        grp, word = self.random.randrange(6), self.random.choice(WORDS)
        self.same("SELECT id FROM item WHERE grp = %s", [grp], [(i[0],) for i in items if i[1] == grp])
        self.same("SELECT id FROM item WHERE MATCH(note) AGAINST (%s)", [word], [(i[0],) for i in items if i[3] and word in i[3].split()])
        faults = [row for row in self.c.execute("CHECK TABLE item").fetchall() if "ok" not in repr(row).lower()]
        if faults:
            self.wrong.append(f"CHECK TABLE after RESTORE: {faults[:3]}")


def forgotten(c):
    """A row that was changed more often than versions are kept: a time before is refused, and the history begins later."""
    wrong = []
    c.execute("INSERT INTO few VALUES (1000, 0)")
    at = c.execute("SELECT clock_timestamp()").fetchone()[0]
    for n in range(1, 5):
        c.execute("UPDATE few SET n = %s WHERE id = 1000", [n])
    for sql in ["SELECT * FROM few AS OF SYSTEM TIME %s WHERE id = 1000", "SELECT * FROM few FOR SYSTEM_TIME FROM %s TO now() WHERE id = 1000",
                "SELECT * FROM stoa_diff('few', %s, now()) WHERE id = 1000"]:
        try:
            wrong.append(f"{sql}: {c.execute(sql, [at]).fetchall()}")
        except psycopg.Error as e:
            if e.sqlstate != TOO_OLD or "versions" not in (e.diag.message_hint or ""):
                wrong.append(f"{sql}: {e}")
    told = c.execute("SELECT n, operation FROM stoa_history('few', 1000) ORDER BY row_start").fetchall()
    if told != [(2, None), (3, "update"), (4, "update")]:
        wrong.append(f"what is known of a row begins with {told}")
    return wrong


def in_step(server):
    """Until commits have times that the clock has reached: after a crash they are ahead of it for up to a second."""
    with server.connect() as c:
        while True:
            c.execute("UPDATE kind SET name = name WHERE id = 0")
            if c.execute("SELECT max(row_start) <= clock_timestamp() FROM kind FOR SYSTEM_TIME ALL").fetchone()[0]:
                return
            time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--copies", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checks", type=int, default=300)
    arguments = parser.parse_args()
    wrong, copies, r = [], [], random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as work:
        server = Server(arguments.binary, work + "/data")
        try:
            with server.connect() as c:
                define(c)
            for round_ in range(3):
                stop = threading.Event()
                writers = [threading.Thread(target=write, args=(server, arguments.seed * 100 + round_ * 10 + n, stop, wrong)) for n in range(3)]
                for writer in writers:
                    writer.start()
                with server.connect() as c:
                    if round_ == 1:
                        c.execute("CREATE INDEX item_n ON item (n)")
                    while len(copies) * 3 < arguments.copies * (round_ + 1):
                        copies.append(copy(c))
                        time.sleep(r.random() * 0.2)
                        if round_ == 1 and len(copies) == arguments.copies // 2:
                            promote(c)
                        if r.randrange(20) == 0:
                            c.execute(r.choice(["CHECKPOINT", "VACUUM item", "VACUUM few"]))
                    if round_ == 1:
                        server.kill()
                    stop.set()
                    for writer in writers:
                        writer.join()
                if round_ == 1:
                    server.start()
                    in_step(server)
            with server.connect() as c:
                c.execute("DROP TABLE bag")
                c.execute("UNDROP TABLE bag")
                checks = Checks(c, copies, arguments.seed)
                for n in range(arguments.checks):
                    [checks.moment, checks.maps, checks.span, checks.row, checks.promoted][n % 5]()
                for _ in range(3):
                    checks.restore()
                wrong += checks.wrong + forgotten(c)
        finally:
            server.kill()
    print(f"{len(copies)} copies, {checks.compared} answers compared, {checks.too_old} refused where few versions are kept, {len(wrong)} wrong")
    for line in wrong[:10]:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
