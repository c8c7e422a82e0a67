#!/usr/bin/env python3
"""Statements of a role that may do nothing, which reach for others' tables, columns, rows, files, settings and sessions.

    reaching.py BINARY                   on a server of its own, as run.py does it beside the other attacks
    reaching.py --oracle DSN             asks a PostgreSQL 15, on a port of loopback that trusts, whether it gives the codes that statements.txt says

reaching/setup.sql makes what is reached for, reaching/stoa.sql what only Stoa has. A line of reaching/statements.txt is the SQLSTATE that
PostgreSQL gives (`-`: it has no such statement; 00000: it is allowed, and tells and changes nothing of others), a tab, the statement; behind a slash
stands what Stoa gives where that is another. Each is sent alone in a session of its own, as a query and as a prepared statement. Whatever is
answered, rows, errors, plans, must not have the secrets in it, and nothing outside the role's own schema may be another than before.
"""
import pathlib, re, struct, sys, tempfile

from wire import Closed, Connection, Refused, Server, message

HERE = pathlib.Path(__file__).resolve().parent / "reaching"
SECRETS = [b"SECRET", b"SECRET".hex().encode(), b"918273645", struct.pack("!i", 918273645)]
# Everything that is somebody else's, in one row.
STATE = """
SELECT (SELECT string_agg(t::text, ';' ORDER BY id) FROM closed.t t), (SELECT string_agg(t::text, ';' ORDER BY id) FROM opened.t t),
       (SELECT string_agg(t::text, ';' ORDER BY id) FROM opened.part t), (SELECT string_agg(t::text, ';' ORDER BY id) FROM opened.lines t),
       (SELECT count(*) FROM opened.filled), (SELECT count(*) FROM opened.kept), (SELECT string_agg(t::text, ';') FROM opened.child t),
       (SELECT last_value || is_called::text FROM opened.numbers), (SELECT last_value || is_called::text FROM closed.numbers), lo_get(4711),
       (SELECT string_agg(concat_ws(',', relname, relnamespace::regnamespace, relowner::regrole, relacl, relnatts, relchecks, relrowsecurity, relforcerowsecurity, reloptions, obj_description(c.oid)), ';' ORDER BY relname, relnamespace::regnamespace::text)
        FROM pg_class c WHERE relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname = 'mine' OR nspname LIKE 'pg\\_toast%' OR nspname LIKE 'pg\\_temp%')),
       (SELECT string_agg(concat_ws(',', attrelid::regclass, attname, atttypid::regtype, attnotnull, attacl), ';' ORDER BY attrelid::regclass::text, attnum)
        FROM pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace IN ('opened'::regnamespace, 'closed'::regnamespace))),
       (SELECT string_agg(concat_ws(',', nspname, nspowner::regrole, nspacl), ';' ORDER BY nspname) FROM pg_namespace WHERE nspname !~ '^pg_(toast|temp)'),
       (SELECT string_agg(concat_ws(',', rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolbypassrls, rolconnlimit, rolpassword, rolvaliduntil), ';' ORDER BY rolname) FROM pg_authid),
       (SELECT string_agg(concat_ws(',', roleid::regrole, member::regrole, admin_option), ';' ORDER BY 1) FROM pg_auth_members),
       (SELECT string_agg(concat_ws(',', setdatabase, setrole::regrole, setconfig), ';' ORDER BY setdatabase, setrole) FROM pg_db_role_setting),
       (SELECT string_agg(concat_ws(',', polname, polrelid::regclass, pg_get_expr(polqual, polrelid)), ';' ORDER BY polname) FROM pg_policy),
       (SELECT string_agg(concat_ws(',', datname, datdba::regrole, coalesce(datacl, acldefault('d', datdba)), datconnlimit, datallowconn), ';') FROM pg_database WHERE datname = current_database()),
       (SELECT string_agg(concat_ws(',', defaclrole::regrole, defaclobjtype, defaclacl), ';' ORDER BY 1) FROM pg_default_acl),
       (SELECT string_agg(concat_ws(',', lomowner::regrole, lomacl), ';') FROM pg_largeobject_metadata), pg_get_viewdef('opened.some'::regclass),
       (SELECT count(*) FROM pg_constraint), (SELECT count(*) FROM pg_stats WHERE schemaname IN ('opened', 'closed')), current_setting('log_statement')
"""


def statements(path):
    return [s for s in re.split(r";\n", "\n".join(l for l in path.read_text().splitlines() if not l.startswith("--")) + "\n") if s.strip()]


def lines():
    """PostgreSQL's code, Stoa's, and the statement."""
    for line in (HERE / "statements.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            codes, sql = line.split("\t", 1)
            theirs, _, ours = codes.partition("/")
            yield theirs, ours or theirs, sql


def ask(connection, sent):
    """The SQLSTATE of the first error, 00000 without one, and every byte that came."""
    connection.send(sent)
    code, seen = "00000", b""
    while True:
        kind = connection.read(1)
        body = connection.read(struct.unpack("!i", connection.read(4))[0] - 4)
        seen += kind + body
        if kind == b"E" and code == "00000":
            code = next(f[1:].decode() for f in body.split(b"\0") if f[:1] == b"C")
        elif kind == b"G":
            connection.send(message(b"f", b"no\0") + (message(b"S") if sent[:1] == b"P" else b""))
        elif kind == b"Z":
            return code, seen


def prepared(sql):
    text = sql.encode()
    return message(b"P", b"\0" + text + b"\0\0\0") + message(b"D", b"S\0") + message(b"B", b"\0\0\0\0\0\0\0\0") + message(b"D", b"P\0") + message(b"E", b"\0\0\0\0\0") + message(b"S")


class Reach:
    """What is reached for, on one side. `connect(role)` gives a session."""

    def __init__(self, connect, taken, own):
        self.connect, self.taken, self.own = connect, pathlib.Path(taken), own
        self.admin = connect(None)
        for path in [HERE / "setup.sql"] + ([HERE / "stoa.sql"] if own else []):
            for sql in statements(path):
                self.admin.query(sql)
        self.other = connect("other")
        for sql in ["CREATE TEMP TABLE kept (note text)", "INSERT INTO kept VALUES ('SECRET')", "PREPARE p AS SELECT 'SECRET'", "BEGIN", "SELECT 'SECRET'"]:
            self.other.query(sql)
        (self.pid,), = self.admin.query("SELECT pid FROM pg_stat_activity WHERE usename = 'other'")
        (self.temp,), = self.admin.query("SELECT nspname FROM pg_namespace WHERE oid = (SELECT relnamespace FROM pg_class WHERE relname = 'kept' AND relpersistence = 't')")
        (self.database,), = self.admin.query("SELECT current_database()")
        self.before = self.admin.query(STATE)

    def mine(self):
        for sql in ["DROP SCHEMA mine CASCADE", "CREATE SCHEMA mine AUTHORIZATION mallory", "CREATE TABLE mine.t (id int PRIMARY KEY, note text)",
                    "ALTER TABLE mine.t OWNER TO mallory", "INSERT INTO mine.t VALUES (1, 'mine')"]:
            self.admin.query(sql)

    def changes(self):
        """What is another than before, if anything is."""
        after = self.admin.query(STATE)
        before, self.before = self.before, after
        return "; ".join(f"{b!r} to {a!r}" for b, a in zip(before[0], after[0]) if a != b)[:600]

    def reach(self, sql):
        """Codes by both ways, and what is wrong with what was told and done."""
        sql = sql.replace("{pid}", self.pid).replace("{temp}", self.temp).replace("{taken}", str(self.taken)).replace("{database}", self.database)
        codes, wrong = [], []
        # Several statements in one text are for the first way alone.
        for way in [message(b"Q", sql.encode() + b"\0")] + ([] if re.search(r";(?! END)", sql) else [prepared(sql)]):
            with self.connect("mallory") as session:
                code, seen = ask(session, way)
            codes.append(code)
            wrong += [f"it tells {s!r}: {seen[max(0, seen.find(s) - 60):seen.find(s) + 60]!r}" for s in SECRETS if s in seen]
            if code == "00000":
                self.mine()
        if "00000" in codes and (changed := self.changes()):
            wrong.append(f"it changes {changed}")
        if self.taken.exists():
            wrong.append("it writes a file")
        return codes, wrong

    def end(self):
        """Whoever else is there has noticed nothing."""
        assert self.other.query("SELECT note FROM kept") == [["SECRET"]]
        self.other.query("ROLLBACK")
        for session in (self.other, self.admin):
            session.close()


def run(connect, taken, own=True):
    """Lines about what is wrong, and how many statements there were."""
    reach, wrong, count, refused = Reach(connect, taken, own), [], 0, []
    for theirs, ours, sql in lines():
        wanted = ours if own else theirs
        if wanted == "-":
            continue
        count += 1
        codes, found = reach.reach(sql)
        if any(code != wanted for code in codes):
            found = [f"{'/'.join(codes)}, not {wanted}", *found]
        wrong += [f"{sql}: {what}" for what in found]
        # What is refused is believed for a while.
        refused = [] if "00000" in codes else [*refused, sql]
        if len(refused) == 40 and (changed := reach.changes()):
            wrong.append(f"one of these changes {changed}: {refused}")
        refused = refused if len(refused) < 40 else []
    if changed := reach.changes():
        wrong.append(f"one of these changes {changed}: {refused}")
    reach.end()
    return wrong, count


ROLES = "victim, readers, other, maker, mallory"


def beside_postgres(dsn):
    class Port:
        pass
    Port.port = int(re.search(r"port=(\d+)", dsn)[1])
    admin = Connection(Port).login("postgres", database="postgres")
    clean = ["DROP DATABASE IF EXISTS reaching WITH (FORCE)", f"DROP ROLE IF EXISTS {ROLES}"]
    for sql in [*clean, "CREATE DATABASE reaching"]:
        admin.query(sql)
    try:
        with tempfile.TemporaryDirectory() as work:
            return run(lambda role: Connection(Port).login(role or "postgres", database="reaching"), f"{work}/taken", own=False)
    finally:
        for sql in clean:
            admin.query(sql)


def on_its_own(binary):
    with tempfile.TemporaryDirectory() as work:
        server = Server(binary, work, "local all all peer map=stoa_owner\nhost all all 127.0.0.1/32 trust\n")
        try:
            with Connection(server).login("stoa") as admin:
                admin.query("CREATE DATABASE reaching")
            return run(lambda role: Connection(server).login(role or "stoa", database="reaching"), f"{work}/taken")
        finally:
            server.stop()


if __name__ == "__main__":
    found, asked = beside_postgres(sys.argv[2]) if sys.argv[1] == "--oracle" else on_its_own(sys.argv[1])
    print(*found, sep="\n")
    print(f"reaching: {asked} statements, {len(found)} wrong")
    sys.exit(bool(found) or asked < 300)
