#!/usr/bin/env python3
"""Who is let in, through the whole server: files of rules and their reload, TLS and certificates, the socket, passwords, limits, logs.

    access.py BINARY
"""
import json, os, pathlib, shutil, signal, ssl, struct, subprocess, sys, tempfile, time

from wire import Closed, Connection, Refused, Scram, Server, message, startup

BINARY = sys.argv[1]
DEFAULT = "local all all peer map=stoa_owner\nhost all all 127.0.0.1/32 trust\n"
cases, failed = [], []


def case(f):
    cases.append(f)
    return f


def refused(code, act):
    try:
        out = act()
    except Refused as e:
        assert e.code == code, (e.code, code, str(e))
        return e
    raise AssertionError(f"it was let in: {out!r}")


def login(server, user, password=None, scram=None, sql="SELECT current_user", **more):
    with Connection(server, **more) as c:
        return c.login(user, password, scram=scram).query(sql)


def admin(server):
    return Connection(server, by_socket=True).login("stoa")


def rules(server, text, ident=None):
    (server.data / "pg_hba.conf").write_text(text)
    if ident is not None:
        (server.data / "pg_ident.conf").write_text(ident)
    server.reload()


@case
def the_first_start(work):
    server = Server(BINARY, work)
    for name in ["pg_hba.conf", "pg_ident.conf", "mock_secret"]:
        assert (server.data / name).stat().st_mode & 0o777 == 0o600, name
    assert login(server, "stoa") == [["stoa"]]
    with admin(server) as c:
        assert c.query("SHOW hba_file") == [[str(server.data / "pg_hba.conf")]]
        assert c.query("SHOW ident_file") == [[str(server.data / "pg_ident.conf")]]
        assert c.query("SHOW unix_socket_directories") == [[str(server.sockets)]]
        assert c.query("SELECT type, database, user_name, address, netmask, auth_method, options, error FROM pg_hba_file_rules ORDER BY line_number") == [
            ["local", "{all}", "{all}", None, None, "peer", "{map=stoa_owner}", None],
            ["host", "{all}", "{all}", "127.0.0.1", "255.255.255.255", "trust", None, None],
            ["host", "{all}", "{all}", "::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "trust", None, None],
            ["hostssl", "{all}", "{all}", "all", None, "scram-sha-256", None, "hostssl record cannot match because SSL is disabled"]]
        assert c.query("SELECT count(*) FROM pg_ident_file_mappings") == [["0"]]
        # By the socket there is no address.
        me = "WHERE pid = pg_backend_pid()"
        assert c.query(f"SELECT client_addr, client_port FROM pg_stat_activity {me}") == [[None, "-1"]]
        assert c.query(f"SELECT ssl, version, client_dn FROM pg_stat_ssl {me}") == [["f", None, None]]
        assert c.query(f"SELECT gss_authenticated, encrypted FROM pg_stat_gssapi {me}") == [["f", "f"]]
        assert c.query("SELECT inet_client_addr(), inet_server_port()") == [[None, None]]
    row = login(server, "stoa", sql="SELECT client_addr, client_port > 0, inet_server_port()::text FROM pg_stat_activity WHERE pid = pg_backend_pid()")
    assert row == [["127.0.0.1", "t", str(server.port)]], row
    e = refused("28000", lambda: login(server, "stoa", source="127.0.0.2"))
    assert e.fields["M"] == 'no pg_hba.conf entry for host "127.0.0.2", user "stoa", database "stoa", no encryption', e
    # The lock is the server's as long as it lives.
    other = subprocess.run([BINARY, "serve", "--data", f"{work}/other", "--listen", f"127.0.0.2:{server.port}", "--socket-dir", str(server.sockets)],
                           capture_output=True, text=True)
    assert other.returncode != 0 and "another server" in other.stderr, other.stderr
    server.kill()
    server.start()
    assert login(server, "stoa", by_socket=True) == [["stoa"]]
    server.stop()
    assert list(server.sockets.iterdir()) == [] and not (server.data / "stoa.pid").exists()


@case
def a_broken_file_changes_nothing(work):
    server = Server(BINARY, work, DEFAULT)
    assert login(server, "stoa") == [["stoa"]]
    rules(server, DEFAULT.replace("trust", "reject"))
    e = refused("28000", lambda: login(server, "stoa"))
    assert e.fields["M"] == 'pg_hba.conf rejects connection for host "127.0.0.1", user "stoa", database "stoa", no encryption', e
    rules(server, DEFAULT + "host all all 10.0.0.0/8 ldap\nhost all all\n")
    refused("28000", lambda: login(server, "stoa"))
    log = server.log()
    assert f'(line 3 of configuration file "{server.data}/pg_hba.conf")' in log and "(line 4 of" in log, log[-2000:]
    with admin(server) as c:
        shown = c.query("SELECT line_number, error FROM pg_hba_file_rules WHERE error IS NOT NULL")
        assert [n for n, _ in shown] == ["3", "4"] and "ldap" in shown[0][1], shown
        (server.data / "pg_hba.conf").write_text(DEFAULT)
        loaded = c.query("SELECT pg_conf_load_time()")
        assert c.query("SELECT pg_reload_conf()") == [["t"]]
        assert c.query("SELECT pg_conf_load_time()") != loaded
    assert login(server, "stoa") == [["stoa"]]
    # A file of names likewise.
    rules(server, DEFAULT, ident="m /( stoa\n")
    assert login(server, "stoa") == [["stoa"]] and "pg_ident.conf" in server.log()
    with admin(server) as c:
        assert "invalid regular expression" in c.query("SELECT error FROM pg_ident_file_mappings")[0][0]
    server.stop()
    (server.data / "pg_ident.conf").write_text("")
    (server.data / "pg_hba.conf").write_text("nonsense\n")
    started = subprocess.run([BINARY, "serve", "--data", str(server.data), "--socket-dir", "none"], capture_output=True, text=True)
    assert started.returncode != 0 and "line 1 of configuration file" in started.stderr, started.stderr


@case
def others_are_served_only_with_a_proof(work):
    def begin(rules, tls=False, name="x"):
        data = pathlib.Path(work) / name
        data.mkdir()
        if rules:
            (data / "pg_hba.conf").write_text(rules)
        if tls:
            subprocess.run([BINARY, "certificate", "--data", str(data)], check=True, capture_output=True)
        process = subprocess.Popen([BINARY, "serve", "--data", str(data), "--listen", "0.0.0.0:0", "--socket-dir", "none"], stderr=subprocess.PIPE, text=True)
        text = ""
        while process.poll() is None:
            line = process.stderr.readline()
            text += line
            if "ready for connections" in line:
                process.terminate()
                process.wait(20)
                return "served", text
        return "refused", text + process.stderr.read()
    for n, (text, tls, expected, told) in enumerate([
        ("", False, "refused", "there is no certificate"),
        ("", True, "served", ""),
        (DEFAULT + "host all all 0.0.0.0/0 trust\n", True, "refused", "line 3 of pg_hba.conf lets anybody in"),
        (DEFAULT + "host all all samenet trust\n", True, "refused", "line 3"),
        (DEFAULT + "host all all 10.0.0.0/8 scram-sha-256\n", False, "served", ""),
        (DEFAULT + "hostssl all all 10.0.0.0/8 trust clientcert=verify-ca\n", False, "refused", "there is no certificate"),
        (DEFAULT, False, "refused", ""),
    ]):
        outcome, log = begin(text, tls, f"d{n}")
        assert outcome == expected and told in log, (text, outcome, log)


@case
def passwords_are_set_by_the_command(work):
    server = Server(BINARY, work, "local all all peer map=stoa_owner\nhost all all 127.0.0.1/32 scram-sha-256\n")
    set_ = lambda role, password, **more: subprocess.run([BINARY, "password", "--data", str(server.data), role], input=password, capture_output=True, text=True, **more)
    refused("28P01", lambda: login(server, "stoa", "pencil"))
    done = set_("stoa", "pencil\n")
    assert done.returncode == 0 and str(server.process.pid) in done.stderr, done.stderr
    assert login(server, "stoa", "pencil") == [["stoa"]]
    done = set_("nosuch", "pencil\n")
    assert done.returncode != 0 and 'role "nosuch" does not exist' in done.stderr, done.stderr
    assert set_("stoa", "\n").returncode != 0
    assert set_("stoa", "a" * 2000).returncode != 0
    # The server's socket is gone with it.
    server.kill()
    done = set_("stoa", "other pencil")
    assert done.returncode == 0, done.stderr
    server.start()
    refused("28P01", lambda: login(server, "stoa", "pencil"))
    assert login(server, "stoa", "other pencil") == [["stoa"]]
    with admin(server) as c:
        assert c.query("SELECT rolpassword LIKE 'SCRAM-SHA-256$4096:%' FROM pg_authid WHERE rolname = 'stoa'") == [["t"]]


@case
def roles_have_their_limits(work):
    server = Server(BINARY, work, "local all all peer map=stoa_owner\nhost all all 127.0.0.1/32 scram-sha-256\n", more=["--max-connections", "8"])
    with admin(server) as c:
        c.query("CREATE ROLE two LOGIN PASSWORD 'x' CONNECTION LIMIT 2")
        c.query("CREATE ROLE many LOGIN PASSWORD 'x'")
        c.query("CREATE ROLE soon LOGIN PASSWORD 'x' VALID UNTIL '2031-01-01'")
        assert login(server, "soon", "x") == [["soon"]]
        c.query("ALTER ROLE soon VALID UNTIL '2021-01-01'")
        refused("28P01", lambda: login(server, "soon", "x"))
        assert 'user "soon" has an expired password' in server.log()
        c.query("ALTER ROLE soon VALID UNTIL 'infinity' NOLOGIN")
        assert refused("28000", lambda: login(server, "soon", "x")).fields["M"] == 'role "soon" is not permitted to log in'
        held = [Connection(server).login("two", "x") for _ in range(2)]
        assert refused("53300", lambda: login(server, "two", "x")).fields["M"] == 'too many connections for role "two"'
        # Three of eight are the superusers'.
        held += [admin(server) for _ in range(2)]
        e = refused("53300", lambda: login(server, "many", "x"))
        assert e.fields["M"] == "remaining connection slots are reserved for non-replication superuser connections", e
        held += [admin(server) for _ in range(3)]
        e = refused("53300", lambda: login(server, "stoa", by_socket=True))
        assert e.fields["M"] == "sorry, too many clients already" and "max_connections" in e.fields.get("H", ""), e.fields
        for other in held:
            other.close()
    assert "max_connections=8" in server.log()


@case
def certificates_of_clients(work):
    """Made by openssl, where there is one."""
    if not shutil.which("openssl"):
        return
    work = pathlib.Path(work)
    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
    def authority(name):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 9, "-subj", f"/CN={name}", "-keyout", work / f"{name}.key", "-out", work / f"{name}.crt")
    def client(common_name, by="root"):
        base = work / f"{by}-{common_name}"
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/O=Example/CN={common_name}", "-keyout", f"{base}.key", "-out", f"{base}.csr")
        (work / "extensions").write_text("basicConstraints = CA:FALSE\nextendedKeyUsage = clientAuth\n")
        openssl("x509", "-req", "-in", f"{base}.csr", "-CA", work / f"{by}.crt", "-CAkey", work / f"{by}.key", "-CAcreateserial", "-days", 9,
                "-extfile", work / "extensions", "-out", f"{base}.crt")
        return f"{base}.crt", f"{base}.key"
    authority("root")
    authority("stranger")
    anna, bob, strange = client("anna"), client("bob"), client("anna", "stranger")
    server = Server(BINARY, work, DEFAULT, tls=True)
    assert (server.data / "server.key").stat().st_mode & 0o777 == 0o600
    with admin(server) as c:
        c.query("CREATE ROLE anna LOGIN PASSWORD 'x'")
        c.query("CREATE ROLE robert LOGIN")
    (server.data / "root.crt").write_text((work / "root.crt").read_text())
    only = "local all all peer map=stoa_owner\n"
    rules(server, only + "hostssl all all 127.0.0.1/32 cert\n")
    assert login(server, "anna", tls=True, certificate=anna) == [["anna"]]
    assert refused("28000", lambda: login(server, "anna", tls=True, certificate=bob)).fields["M"] == 'certificate authentication failed for user "anna"'
    assert refused("28000", lambda: login(server, "anna", tls=True)).fields["M"] == "connection requires a valid client certificate"
    refused("28000", lambda: login(server, "anna"))
    try:
        login(server, "anna", tls=True, certificate=strange)
        raise AssertionError("a certificate of a stranger was taken")
    except (Closed, OSError):
        pass
    sql = "SELECT ssl, version, cipher, bits, client_dn, client_serial > 0, issuer_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    assert login(server, "anna", tls=True, certificate=anna, sql=sql) == [["t", "TLSv1.3", "TLS_AES_256_GCM_SHA384", "256", "/O=Example/CN=anna", "t", "/CN=root"]]
    rules(server, only + "hostssl all all 127.0.0.1/32 cert map=m\n", ident="m bob robert\nm /^(.*)$ \\1\n")
    assert login(server, "robert", tls=True, certificate=bob) == [["robert"]]
    rules(server, only + "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n")
    assert login(server, "anna", "x", tls=True, certificate=bob) == [["anna"]]
    refused("28P01", lambda: login(server, "anna", "y", tls=True, certificate=anna))
    refused("28000", lambda: login(server, "anna", "x", tls=True))
    rules(server, only + "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-full\n")
    assert login(server, "anna", scram=Scram("x", bind=True), tls=True, certificate=anna) == [["anna"]]
    refused("28P01", lambda: login(server, "anna", "x", tls=True, certificate=bob))
    # A new certificate is served without a word; a broken one is not.
    seen = lambda: (lambda c: (c.close(), c.peer_certificate)[1])(Connection(server, tls=True))
    before = seen()
    for name in ["server.crt", "server.key"]:
        (server.data / name).unlink()
    server.run("certificate", "--data", server.data, "--name", "other")
    for _ in range(150):
        if seen() != before:
            break
        time.sleep(0.1)
    after = seen()
    assert after != before
    (server.data / "server.crt").write_text("nonsense")
    server.reload()
    assert seen() == after and "what was served is served on" in server.log()


@case
def the_socket_knows_who_one_is(work):
    if os.geteuid() != 0:
        return
    os.chmod(work, 0o755)
    server = Server(BINARY, work, DEFAULT)
    os.chmod(server.sockets, 0o755)
    with admin(server) as c:
        c.query("CREATE ROLE nobody LOGIN")
        c.query("CREATE ROLE guest LOGIN")
    def as_nobody(role):
        child = os.fork()
        if child == 0:
            try:
                os.setgid(65534)
                os.setuid(65534)
                login(server, role, by_socket=True)
                os._exit(0)
            except Refused as e:
                os._exit(1 if e.code == "28000" and e.fields["M"] == f'Peer authentication failed for user "{role}"' else 2)
            except BaseException:
                os._exit(3)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert as_nobody("nobody") == 0
    assert as_nobody("stoa") == 1 and as_nobody("guest") == 1
    rules(server, DEFAULT.replace("map=stoa_owner", "map=m"), ident="m nobody guest\nm root stoa\n")
    assert as_nobody("guest") == 0 and as_nobody("nobody") == 1


@case
def the_end_is_soon(work):
    """SIGTERM ends statements that run."""
    for sql in ["SELECT pg_sleep(600)", "SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000) b, generate_series(1, 3000) c WHERE a + b = c",
                "SELECT repeat('x', 1000) FROM generate_series(1, 100000000)"]:
        server = Server(BINARY, tempfile.mkdtemp(dir=work))
        c = Connection(server).login("stoa")
        c.send(message(b"Q", sql.encode() + b"\0"))
        idle = Connection(server).login("stoa")
        half = Connection(server)
        time.sleep(1)
        began = time.time()
        server.process.terminate()
        server.process.wait(20)
        took = time.time() - began
        assert took < 3, (sql, took)
        assert refused("57P01", idle.until_ready).fields["M"] == "terminating connection due to administrator command"
        if "repeat" not in sql:
            refused("57P01", c.until_ready)
        for other in (c, idle, half):
            other.close()


@case
def what_is_logged(work):
    more = ["-c", "log_connections=on", "-c", "log_disconnections=on", "-c", "log_statement=mod", "--audit-log", f"{work}/audit"]
    server = Server(BINARY, work, "local all all peer map=stoa_owner\nhost all all 127.0.0.1/32 scram-sha-256\n", more=more)
    with admin(server) as c:
        for sql in ["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)", "SELECT 4711", "CREATE ROLE anna LOGIN PASSWORD 'hush'", "GRANT SELECT ON t TO anna"]:
            c.query(sql)
        assert c.query("SHOW log_statement") == [["mod"]]
        c.query("SET log_statement = 'all'")
        c.query("SELECT 4712")
    with Connection(server).login("anna", "hush") as c:
        refused("42501", lambda: c.query("DELETE FROM t"))
        refused("42501", lambda: c.query("SET log_statement = 'none'"))
    refused("28P01", lambda: login(server, "anna", "wrong"))
    time.sleep(0.3)
    log = server.log()
    for part in ["connection received: host=[local]", "connection authorized: user=anna database=stoa method=scram-sha-256 (pg_hba.conf:2)", "disconnection: session time: 0:00:0",
                 "statement: CREATE TABLE t (a int)", "statement: INSERT INTO t", "statement: SELECT 4712", "PASSWORD '********'",
                 'password authentication failed for user "anna"']:
        assert part in log, (part, log)
    assert "4711" not in log and "hush" not in log
    events = [json.loads(line) for line in open(f"{work}/audit")]
    kinds = [e["event"] for e in events]
    assert kinds.count("connection") == 2 and kinds.count("disconnection") == 2, kinds
    by = lambda kind: [e for e in events if e["event"] == kind]
    assert [e["command"] for e in by("rights changed")] == ["CREATE ROLE", "GRANT"], events
    assert [e["statement"] for e in by("statement refused")][0] == "DELETE FROM t", events
    assert [(e["user"], e["sqlstate"], e["address"]) for e in by("connection refused")] == [("anna", "28P01", "127.0.0.1")], events
    assert "hush" not in open(f"{work}/audit").read()
    os.rename(f"{work}/audit", f"{work}/audit.1")
    server.reload()
    login(server, "stoa", by_socket=True)
    time.sleep(0.3)
    assert '"connection"' in open(f"{work}/audit").read()


@case
def binary_copies_end_without_a_mark(work):
    """As Go's pgx sends them."""
    server = Server(BINARY, work)
    with admin(server) as c:
        c.query("CREATE TABLE q (a int)")
        head = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
        for body, rows in [(head + struct.pack("!hii", 1, 4, 7), "COPY 1"), (head, "COPY 0"), (head + struct.pack("!hiih", 1, 4, 8, -1), "COPY 1")]:
            c.send(message(b"Q", b"COPY q FROM STDIN (FORMAT binary)\0") + message(b"d", body) + message(b"c"))
            tags = [b for k, b in c.until_ready() if k == b"C"]
            assert tags == [rows.encode() + b"\0"], tags
        c.send(message(b"Q", b"COPY q FROM STDIN (FORMAT binary)\0") + message(b"d", head + struct.pack("!hi", 1, 4)) + message(b"c"))
        refused("22P04", c.until_ready)
        c.until_ready()
        assert c.query("SELECT a FROM q ORDER BY a") == [["7"], ["8"]]


for f in cases:
    if len(sys.argv) > 2 and sys.argv[2] not in f.__name__:
        continue
    with tempfile.TemporaryDirectory() as work:
        began = time.time()
        try:
            f(work)
            print(f"ok   {f.__name__} ({time.time() - began:.1f} s)", flush=True)
        except Exception as e:
            failed.append(f.__name__)
            print(f"FAIL {f.__name__}: {type(e).__name__}: {e} (line {e.__traceback__.tb_next.tb_lineno if e.__traceback__.tb_next else 0})", flush=True)
        finally:
            for server in Server.started:
                server.kill()
print(f"{len(failed)} failed" if failed else "all as it should be")
sys.exit(bool(failed))
