#!/usr/bin/env python3
"""Attacks on the way in: guesses, forged and replayed proofs, TLS that breaks off, connections that say nothing, bytes that are no messages.
Statements that reach for what is others'. Meanwhile somebody else is served, and memory stays bounded.

    run.py BINARY [--long] [--only NAME]
"""
import argparse, concurrent.futures, json, os, random, resource, select, shutil, socket, ssl, struct, subprocess, sys, tempfile, threading, time

import reaching
from wire import SSL_REQUEST, Closed, Connection, Refused, Scram, Server, message, startup

arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument("binary")
arguments.add_argument("--long", action="store_true", help="an hour rather than a minute or two")
arguments.add_argument("--only", default="")
arguments.add_argument("--seed", type=int, default=1)
options = arguments.parse_args()
random.seed(options.seed)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

# Loopback has many addresses: each case guesses from one of its own.
RULES = """
local    all  all      peer  map=stoa_owner
host     all  open     127.0.0.0/8  trust
hostssl  all  tls      127.0.0.0/8  scram-sha-256
hostnossl all tls      127.0.0.0/8  reject
host     all  nobody   127.0.0.0/8  reject
host     all  all      127.0.0.0/8  scram-sha-256
"""
PASSWORD = "pencil case 7"
SECRET = "never-to-be-seen-91"
cases = []


def case(f):
    cases.append(f)
    return f


def refused(codes, act):
    """The act is refused with one of these codes; "closed" is one too."""
    try:
        out = act()
    except Refused as e:
        assert e.code in codes, (e.code, codes, str(e))
        return e
    except (Closed, OSError) as e:
        assert "closed" in codes, repr(e)
        return e
    raise AssertionError(f"it was let in: {out!r}")


def login(server, user, password=None, scram=None, **more):
    with Connection(server, **more) as c:
        return c.login(user, password, scram=scram).query("SELECT current_user")


@case
def passwords_are_proven(server):
    assert login(server, "anna", PASSWORD, source="127.0.1.1") == [["anna"]]
    assert login(server, "anna", PASSWORD, tls=True, source="127.0.1.1") == [["anna"]]
    assert login(server, "anna", scram=Scram(PASSWORD, bind=True), tls=True, source="127.0.1.1") == [["anna"]]
    wrong = refused(["28P01"], lambda: login(server, "anna", "pencil", source="127.0.1.2"))
    assert wrong.fields["M"] == 'password authentication failed for user "anna"', wrong
    # Who is not there, has no password, or may not log in, is refused in the same words.
    for user in ["nosuch", "without", "expired"]:
        e = refused(["28P01"], lambda: login(server, user, PASSWORD, source="127.0.1.2"))
        assert e.fields["M"] == f'password authentication failed for user "{user}"', e
    assert refused(["28000"], lambda: login(server, "nologin", PASSWORD, source="127.0.1.2")).fields["M"] == 'role "nologin" is not permitted to log in'
    refused(["28000"], lambda: login(server, "nobody", PASSWORD, source="127.0.1.2"))


@case
def roles_that_are_not_there_look_as_if_they_were(server):
    def challenge(user):
        scram = Scram("x")
        refused(["28P01"], lambda: login(server, user, scram=scram, source="127.0.2.1"))
        return dict((p[:1], p[2:]) for p in scram.server_first.split(b","))
    one, again, other = challenge("nosuch"), challenge("nosuch"), challenge("anna")
    assert one[b"s"] == again[b"s"] and one[b"r"] != again[b"r"]
    assert len(one[b"s"]) == len(other[b"s"]) and one[b"i"] == other[b"i"]


@case
def proofs_are_not_forged(server):
    """Each step of the exchange done wrongly."""
    def variant(**methods):
        scram = Scram(PASSWORD)
        for name, method in methods.items():
            setattr(scram, name, method)
        return scram

    def raw(*bodies):
        def exchange(connection, _):
            for body in bodies:
                connection.send(message(b"p", body))
                connection.receive()
        return variant(exchange=exchange)

    initial = lambda text, mechanism=b"SCRAM-SHA-256": mechanism + b"\0" + struct.pack("!i", len(text)) + text
    changed = lambda change: (lambda s: setattr(s, "last", lambda c, last=s.last: change(last(c))) or s)(Scram(PASSWORD))
    for number, (codes, scram, tls) in enumerate([
        (["08P01"], raw(b""), False),
        (["08P01"], raw(b"SCRAM-SHA-256"), False),
        (["08P01"], raw(initial(b"", b"SCRAM-SHA-1")), False),
        (["08P01"], raw(initial(b"n,,n=,r=abc", b"SCRAM-SHA-256-PLUS")), False),
        (["08P01"], raw(initial(b"n,,n=,r=")[:-3]), False),
        (["08P01"], raw(b"SCRAM-SHA-256\0" + struct.pack("!i", 2**31 - 1) + b"n,,"), False),
        (["08P01"], raw(initial(b"n,,n=,r=\x01\x02")), False),
        (["08P01"], raw(initial(b"n,,n=,r=a\0b")), False),
        (["08P01"], raw(initial(b"p=tls-unique,,n=,r=abc", b"SCRAM-SHA-256-PLUS")), True),
        # Stripped: the client thinks that the server cannot bind, or binds nothing under the name that binds.
        (["08P01", "28000"], variant(header=lambda: b"y,,"), True),
        (["08P01"], raw(initial(b"n,,n=,r=abc", b"SCRAM-SHA-256-PLUS")), True),
        (["08P01"], raw(initial(b"p=tls-server-end-point,,n=,r=abc")), True),
        (["0A000"], raw(initial(b"n,a=stoa,n=,r=abc")), False),
        (["0A000"], raw(initial(b"n,,m=x,n=,r=abc")), False),
        (["08P01"], changed(lambda last: last[:-1]), False),
        (["08P01"], changed(lambda last: last[:-20]), False),
        (["08P01"], changed(lambda last: last + b",x=y"), False),
        (["08P01"], changed(lambda last: last.replace(b",r=", b",r=A")), False),
        (["08P01"], changed(lambda last: last.replace(b"c=biws", b"c=eSws")), False),
        (["28P01"], changed(lambda last: last[:-8] + (b"AAAAAAA=" if last[-8:] != b"AAAAAAA=" else b"BBBBBBB=")), False),
        (["08P01"], changed(lambda last: b""), False),
        (["08P01", "closed"], changed(lambda last: b"x" * 2000), False),
    ]):
        refused(codes, lambda: login(server, "anna", scram=scram, tls=tls, source=f"127.0.3.{number + 1}"))
    # Bound to another certificate than the client sees, as behind somebody in the middle.
    scram = Scram(PASSWORD, bind=True)
    scram.bound = lambda connection: b"\1" * 32
    refused(["28000"], lambda: login(server, "anna", scram=scram, tls=True, source="127.0.3.99"))
    # Another message than an answer.
    def query(connection, _):
        connection.send(message(b"Q", b"SELECT 1\0"))
        connection.receive()
    refused(["08P01"], lambda: login(server, "anna", scram=variant(exchange=query), source="127.0.3.98"))


@case
def proofs_are_not_played_again(server):
    heard = Scram(PASSWORD)
    login(server, "anna", scram=heard, source="127.0.4.1")
    replay = Scram("")
    def exchange(connection, _):
        for answer in heard.sent:
            connection.send(message(b"p", answer))
            connection.receive()
    replay.exchange = exchange
    refused(["08P01", "28P01"], lambda: login(server, "anna", scram=replay, source="127.0.4.1"))


@case
def tls_is_asked_for(server):
    refused(["28000"], lambda: login(server, "tls", PASSWORD, source="127.0.5.1"))
    assert login(server, "tls", PASSWORD, tls=True, source="127.0.5.1") == [["tls"]]
    for version, codes in [(ssl.TLSVersion.TLSv1_2, None), (ssl.TLSVersion.TLSv1_3, None), (ssl.TLSVersion.TLSv1_1, ["closed"]), (ssl.TLSVersion.TLSv1, ["closed"])]:
        act = lambda: login(server, "tls", PASSWORD, tls=True, version=version, source="127.0.5.1")
        if codes:
            refused(codes, act)
        else:
            assert act() == [["tls"]]
    # What came before the handshake is nobody's.
    with Connection(server, source="127.0.5.2") as c:
        c.send(SSL_REQUEST + startup("open"))
        assert refused(["08P01"], c.receive).fields["M"] == "received unencrypted data after SSL request"


@case
def tls_breaks_off(server):
    hello = b""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_bio(incoming, outgoing).do_handshake()
    except ssl.SSLWantReadError:
        hello = outgoing.read()
    rounds = 1_000 if options.long else 60
    for n in range(rounds):
        with Connection(server, source="127.0.6.1") as c:
            c.send(SSL_REQUEST)
            assert c.read(1) == b"S"
            cut = random.randrange(len(hello))
            if n % 3 == 0:
                c.send(hello[:cut])
            elif n % 3 == 1:
                c.send(hello[:cut] + bytes([hello[cut] ^ 0x55]) + hello[cut + 1:])
            else:
                c.send(random.randbytes(random.randrange(1, 3000)))
            if n % 2:
                c.socket.shutdown(socket.SHUT_WR)
                try:
                    while c.socket.recv(4096):
                        pass
                except OSError:
                    pass
    # In the middle of statements: records that are cut, changed, or none.
    for n in range(rounds // 3):
        c = Connection(server, tls=True, source="127.0.6.2").login("anna", PASSWORD)
        raw = c.socket.unwrap() if n % 3 == 0 else socket.socket(fileno=os.dup(c.socket.fileno()))
        raw.settimeout(5)
        try:
            raw.sendall(random.randbytes(random.randrange(1, 200)) if n % 3 else message(b"Q", b"SELECT 1\0"))
            assert b"SELECT" not in raw.recv(4096)
        except OSError:
            pass
        raw.close()
        c.close()


@case
def tls_is_not_negotiated_again(server):
    """By openssl, where there is one: TLS 1.2 knows it; TLS 1.3 has other keys instead, with which the connection goes on."""
    if not shutil.which("openssl"):
        return
    def negotiate(version, letter, until, then):
        """What s_client prints of a command, which is a line that is a letter, and of what is sent once it has said that it does it."""
        process = subprocess.Popen(["openssl", "s_client", "-starttls", "postgres", version, "-connect", f"127.0.0.1:{server.port}"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        out, over = b"", time.time() + 15
        def read_to(text):
            """Whether it came before the end."""
            nonlocal out
            while text not in out and select.select([process.stdout], [], [], max(0, over - time.time()))[0]:
                piece = os.read(process.stdout.fileno(), 65536)
                if not piece:
                    return False
                out += piece
            assert text in out, ("nothing came any more", out[-500:])
            return True
        try:
            read_to(b"Verify return code")
            process.stdin.write(letter + b"\n")
            process.stdin.flush()
            read_to(until)
            process.stdin.write(then)
            process.stdin.flush()
            return read_to(b"server_version"), out
        except BrokenPipeError:
            return False, out
        finally:
            process.kill()
            process.wait()
    goes_on, out = negotiate("-tls1_2", b"R", b"RENEGOTIATING", b"")
    assert not goes_on and b"RENEGOTIATING" in out, out[-500:]
    goes_on, out = negotiate("-tls1_3", b"K", b"KEYUPDATE", startup("open"))
    assert goes_on, out[-500:]


@case
def half_open_connections_take_no_places_from_others(server):
    count = 10_000 if options.long else 600
    half = []
    # Most places are for 2 × 100 connections, so all from one address can be no more.
    for n in range(count):
        try:
            s = socket.create_connection(("127.0.0.1", server.port), 5, ("127.0.7.1", 0))
            s.setblocking(False)
            if n % 3 == 1:
                s.send(b"\0\0\0\x50\0\3\0\0user\0x")
            elif n % 3 == 2:
                s.send(SSL_REQUEST)
            half.append(s)
        except OSError:
            pass
        if n % 100 == 99:
            began = time.time()
            assert login(server, "open", source="127.0.7.2") == [["open"]]
            assert time.time() - began < 3, "others wait"
    assert len(half) > count // 2
    time.sleep(0.2)
    def is_open(s):
        try:
            while s.recv(4096):
                pass
            return False
        except BlockingIOError:
            return True
        except OSError:
            return False
    still = sum(map(is_open, half))
    assert still <= 200, still
    for s in half:
        s.close()


@case
def half_open_connections_have_little_time(server):
    """authentication_timeout is 5 s here."""
    for sent in [b"", SSL_REQUEST, startup("anna"), b"\0\0"]:
        began = time.time()
        with Connection(server, source="127.0.8.1") as c:
            c.send(sent)
            try:
                while c.socket.recv(4096):
                    pass
            except OSError:
                pass
        assert time.time() - began < 9, (sent, time.time() - began)


@case
def bytes_that_are_no_messages(server):
    rounds = 5_000 if options.long else 250
    good = startup("open")
    for n in range(rounds):
        with Connection(server, source="127.0.9.1", timeout=0.2 if n % 4 else 1) as c:
            kind = n % 5
            if kind == 0:
                sent = random.randbytes(random.randrange(1, 2000))
            elif kind == 1:
                at = random.randrange(4, len(good))
                sent = good[:at] + bytes([random.randrange(256)]) + good[at + 1:]
            elif kind == 2:
                sent = struct.pack("!i", random.choice([0, 7, 10_001, 2**31 - 1, -1, -2**31])) + random.randbytes(50)
            else:
                body = random.randbytes(random.randrange(0, 100))
                length = random.choice([len(body) + 4, len(body) + 4, len(body) + 4, 3, 0, -1, 2**30, 2**31 - 1])
                sent = good + b"".join(bytes([random.choice(b"QPBDECHSXdcfFp\0\xff")]) + struct.pack("!i", length) + body for _ in range(3))
            try:
                c.send(sent)
                if kind > 2:
                    c.send(message(b"S"))
                while c.socket.recv(65536):
                    pass
            except (OSError, Closed):
                pass


@case
def long_messages_take_memory_only_for_what_has_come(server):
    before = server.memory()
    held = []
    for n in range(40):
        c = Connection(server, source="127.0.10.1").login("open")
        c.send(b"Q" + struct.pack("!i", 2**30 - 1) + b"SELECT 1")
        held.append(c)
    time.sleep(0.5)
    assert server.memory() < before + 200, (before, server.memory())
    for c in held:
        c.close()


@case
def names_and_settings_are_no_statements(server):
    with Connection(server, by_socket=True).login("stoa") as admin:
        admin.query("CREATE TABLE IF NOT EXISTS kept (a int)")
        for text in ["x'; DROP TABLE kept; --", 'x"; DROP TABLE kept; --', "$1", "\\x00", "a\nb", "a\tb", "ü" * 40, "%s%n", "../../etc/passwd", "x" * 5000]:
            for user, database, more in [(text, "stoa", {}), ("open", text, {}), ("open", "stoa", {"application_name": text}),
                                         ("open", "stoa", {"options": "-c search_path=" + text.replace(" ", "\\ ")}),
                                         ("open", "stoa", {"search_path": text}), ("open", "stoa", {"my.setting": text})]:
                try:
                    with Connection(server, source="127.0.11.1") as c:
                        c.login(user, "x", database=database, **more).query("SELECT 1")
                except (Refused, Closed):
                    pass
        assert admin.query("SELECT count(*) FROM kept") == [["0"]]
        # What comes at the start is for every user what SET is.
        for name in ["log_statement", "ssl", "hba_file", "max_connections", "session_authorization", "is_superuser", "log_connections"]:
            with Connection(server, source="127.0.11.1") as c:
                refused(["42501", "55P02", "22023", "0A000"], lambda: c.login("open", **{name: "stoa" if name == "session_authorization" else "off"}))


@case
def guesses_are_slowed_and_nobody_is_locked_out(server):
    login(server, "bob", PASSWORD, source="127.0.12.9")
    began = time.time()
    for n in range(9):
        refused(["28P01"], lambda: login(server, "bob", f"guess {n}", source="127.0.12.1"))
    took = time.time() - began
    assert took > 0.5, took
    # At once, they wait in line, or are refused.
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        outcomes = list(pool.map(lambda n: refused(["28P01", "53300", "closed"], lambda: login(server, "bob", f"{n}", source="127.0.12.1")), range(40)))
    assert any(getattr(o, "code", None) == "53300" for o in outcomes) or any(not isinstance(o, Refused) for o in outcomes)
    began = time.time()
    login(server, "bob", PASSWORD, source="127.0.12.9")
    assert time.time() - began < 1, "a known client waits for others' guesses"


@case
def secrets_are_not_shown(server):
    with Connection(server, by_socket=True).login("stoa") as admin:
        admin.query(f"CREATE ROLE shown LOGIN PASSWORD '{SECRET}'")
        admin.send(message(b"P", b"p\0ALTER ROLE shown PASSWORD '" + SECRET.encode() + b"'\0\0\0") + message(b"S"))
        admin.until_ready()
        texts = [json.dumps(admin.query(q)) for q in ["SELECT query FROM pg_stat_activity", "SELECT statement FROM pg_prepared_statements", "SELECT rolpassword FROM pg_authid"]]
        refused(["42601"], lambda: admin.query(f"ALTER ROLE shown PASSWORD '{SECRET}' nonsense"))
    with Connection(server, source="127.0.13.1") as c:
        c.login("open")
        refused(["42501"], lambda: c.query(f"ALTER ROLE stoa PASSWORD '{SECRET}'"))
        for relation in ["pg_authid", "pg_hba_file_rules", "pg_ident_file_mappings"]:
            refused(["42501"], lambda: c.query(f"SELECT * FROM {relation}"))
        refused(["42501"], lambda: c.query("SELECT pg_reload_conf()"))
    time.sleep(0.3)
    audit = (server.work / "audit").read_text()
    assert "rights changed" in audit and "statement refused" in audit and "********" in audit
    for text in texts + [audit, server.log()]:
        assert SECRET not in text, text[:2000]


@case
def statements_that_reach_for_what_is_others(server):
    """In a database of its own, so that each round finds what is reached for as it was."""
    clean = ["DROP DATABASE IF EXISTS reaching WITH (FORCE)", f"DROP ROLE IF EXISTS {reaching.ROLES}"]
    with Connection(server, by_socket=True).login("stoa") as admin:
        for sql in [*clean, "CREATE DATABASE reaching"]:
            admin.query(sql)
        def connect(role):
            return Connection(server, by_socket=True).login(role or "stoa", database="reaching")
        wrong, asked = reaching.run(connect, server.work / "taken")
        for sql in clean:
            admin.query(sql)
    assert not wrong, "\n  ".join(["", *wrong[:20]])
    assert asked >= 300


class Neighbour(threading.Thread):
    """Somebody else who is served all the time."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.longest, self.count, self.failure, self.over = server, 0, 0, None, threading.Event()
        self.served = threading.Event()
        self.start()
        self.served.wait(30)

    def run(self):
        try:
            with Connection(self.server, by_socket=True).login("stoa") as c:
                while not self.over.is_set():
                    began = time.time()
                    assert c.query("SELECT count(*) FROM pg_class WHERE relname = 'pg_class'") == [["1"]]
                    self.longest, self.count = max(self.longest, time.time() - began), self.count + 1
                    self.served.set()
                    time.sleep(0.005)
        except Exception as e:
            self.failure = e

    def end(self):
        self.over.set()
        self.join(30)
        assert self.failure is None and self.count > 0, f"the neighbour was not served: {self.failure!r}"
        assert self.longest < 5, f"the neighbour waited {self.longest:.1f} s"


failed = []


def attack():
    """All cases, one after the other, on a server of their own: what guesses of a case before have slowed down stays slow."""
    with tempfile.TemporaryDirectory() as work:
        more = ["--memory-limit", "512MB", "--audit-log", f"{work}/audit", "-c", "authentication_timeout=5", "-c", "log_connections=on", "-c", "log_statement=all"]
        server = Server(options.binary, work, RULES, more, tls=True)
        with Connection(server, by_socket=True).login("stoa") as admin:
            for role in ["anna", "bob", "tls"]:
                admin.query(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
            admin.query("CREATE ROLE open LOGIN")
            admin.query("CREATE ROLE without LOGIN")
            admin.query("CREATE ROLE nobody LOGIN")
            admin.query(f"CREATE ROLE nologin PASSWORD '{PASSWORD}'")
            admin.query(f"CREATE ROLE expired LOGIN PASSWORD '{PASSWORD}' VALID UNTIL '2020-01-01'")
        for f in cases:
            if options.only not in f.__name__:
                continue
            neighbour, began = Neighbour(server), time.time()
            try:
                f(server)
                neighbour.end()
                assert server.process.poll() is None, "the server has ended"
                assert server.memory() < 700, f"{server.memory():.0f} MiB"
                print(f"ok   {f.__name__} ({time.time() - began:.1f} s; the neighbour waited {neighbour.longest * 1000:.0f} ms at most; {server.memory():.0f} MiB)", flush=True)
            except Exception as e:
                neighbour.over.set()
                failed.append(f.__name__)
                print(f"FAIL {f.__name__}: {type(e).__name__}: {e}", flush=True)
                if server.process.poll() is not None:
                    print(server.log()[-3000:])
                    server.start()
        assert "panicked" not in server.log(), server.log()[-3000:]
        server.stop()


until = time.time() + 3600
attack()
while options.long and time.time() < until:
    attack()
print(f"{len(failed)} failed" if failed else "all refused")
sys.exit(bool(failed))
