#!/usr/bin/env python3
"""Asks a PostgreSQL 15 what it makes of files of rules, of maps and of passwords, and writes the answers beside crates/auth's tests.

    tests/postgres/hosts.py DATA PORT rows | matches | patterns | peers | passwords [SEED [COUNT]]

DATA is the data directory of a running PostgreSQL 15 that is only for this (its pg_hba.conf and pg_ident.conf are written over, its log is in
DATA/../log), with ssl on, a superuser postgres, and its Unix socket in DATA/... Whoever runs it may write there.

Invariant: the answers are PostgreSQL's, the questions are random by a seed and by hand. Files with answers:
crates/auth/src/hosts/cases/{rows,maps,matches,patterns,peers}.json and crates/auth/src/scram/cases/passwords.tsv; their readers are the crate's tests.
"""
import base64, json, os, random, socket, ssl, struct, subprocess, sys, time

DATA, PORT, WHAT = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
ROOM = os.path.dirname(os.path.abspath(DATA))
AUTH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "crates", "auth", "src")
# Where the socket always lets the recorder in, whatever the file says.
HBA, IDENT, LOG = os.path.join(DATA, "pg_hba.conf"), os.path.join(DATA, "pg_ident.conf"), os.path.join(ROOM, "log")


def psql(sql, dbname="postgres"):
    done = subprocess.run(["psql", "-XAtq", "-h", ROOM, "-p", str(PORT), "-U", "postgres", "-d", dbname, "-v", "ON_ERROR_STOP=1"],
                          input=sql, capture_output=True, text=True, env={**os.environ, "PGCLIENTENCODING": "UTF8"})
    if done.returncode:
        raise SystemExit(done.stderr + sql[:500])
    return done.stdout


class Psql:
    """One session, so that a broken pg_hba.conf does not lock the recorder out, and each question is a few milliseconds."""

    def __init__(self):
        self.p = subprocess.Popen(["psql", "-XAtq", "-h", ROOM, "-p", str(PORT), "-U", "postgres"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)

    def ask(self, sql):
        self.p.stdin.write(sql + ";\n\\echo @@@end\n")
        self.p.stdin.flush()
        out = []
        for line in self.p.stdout:
            if line == "@@@end\n":
                return "".join(out)
            out.append(line)
        raise SystemExit("psql ended")


def put(path, text):
    with open(path, "wb") as f:
        f.write(text.encode())


# ---------------------------------------------------------------------------------------------------------------------------------
# Files

KINDS = ["local", "host", "hostssl", "hostnossl", "hostgssenc", "hostnogssenc", "LOCAL", "hosts", '"host"', "host,local", ""]
NAMES = ["all", "sameuser", "samerole", "samegroup", "replication", "postgres", "db1", "db2", '"all"', '"sameuser"', "+grp", '"+grp"', "a,b", "a, b",
         "db1,db2,all", '"with space"', '"quo""te"', "@names", "@missing", "@sub/more", "@empty", '"@names"', "@", "x@y", "é", "@loop", 'half"open', '""',
         "a,", ",a", "@bad"]
ADDRESSES = ["all", "samehost", "samenet", "127.0.0.1/32", "10.0.0.0/8", "::1/128", "fe80::/10", "10.0.0.0 255.0.0.0", "10.0.0.0", "10.1/16", "0x7f.1/8",
             "010.0.0.1/32", "1/32", "example.org", ".example.org", "example.org/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/x", "::/129",
             "::ffff:1.2.3.4/128", "::1.2.3.4/128", "::1 255.0.0.0", "10.0.0.1 ::1", "10.0.0.1 foo", '"all"', "1.2.3.4,5.6.7.8", "256.0.0.1/8",
             "1.2.3.4.5/8", "10.0.0.0/+8", '"10.0.0.0/ 8"', "0.0.0.0/0", "::/0", "::0/0", "1:2:3::4/64 trust", "10.0.0.0 255.0.255.0", "10.0.0.0 8",
             '""', "fe80::1%1/64", "ALL", "2001:DB8::1/32", "0:0:0:0:0:0:0:1/128", "1.2.3.4/8/9", "::2/127", "0/0", "1::/16 x"]
METHODS = ["trust", "reject", "scram-sha-256", "md5", "peer", "cert", "ident", "password", "gss", "sspi", "pam", "bsd", "ldap", "radius", "Trust", "foo",
           '"trust"', "trust,reject", ""]
OPTIONS = ["map=m", "map=", "clientcert=verify-full", "clientcert=verify-ca", "clientcert=1", "clientcert=no-verify", "clientname=CN", "clientname=DN",
           "clientname=X", "foo=bar", "foo", "pamservice=x", "ldapserver=x", "krb_realm=x", "include_realm=1", "compat_realm=1", "upn_username=1",
           "radiusservers=x", "radiussecrets=y", "map=m,clientcert=verify-ca", '"map=a b"', "map=m=n", "ldaptls=1", "pam_use_hostname=1", "map=x # c", "=x"]
EXTRA = {"names": "a\nb, c\n# d\n\"e f\"\n", "sub/more": "@../names z\n", "empty": "\n# nothing\n", "bad": "ok @missing2\n", "loop": "one\n"}


def random_line(r):
    if r.random() < 0.05:
        return r.choice(["# comment", "", "   ", "\t", ",", ",,", '"', "host", "local", "local all", "host all all", "local all all", "all", "\\", "@names"])
    kind = r.choice(KINDS[:6]) if r.random() < 0.93 else r.choice(KINDS)
    pick = lambda some: r.choice(some)
    name = lambda: pick(["all", "db1", "postgres", "+grp", "sameuser"]) if r.random() < 0.55 else pick(NAMES)
    parts = [kind, name(), name()]
    if kind != "local":
        parts.append(pick(["127.0.0.1/32", "all", "::1/128"]) if r.random() < 0.35 else pick(ADDRESSES))
    parts.append(pick(METHODS[:8]) if r.random() < 0.85 else pick(METHODS))
    while r.random() < 0.4:
        parts.append(pick(OPTIONS))
    if r.random() < 0.05:
        parts = parts[:r.randrange(len(parts) + 1)]
    line = ""
    for part in parts:
        line += part + r.choice([" ", " ", "\t", "  ", " \t", "\\\n ", "\r "] if r.random() < 0.3 else [" "])
    if r.random() < 0.1:
        line += "# " + r.choice(["why", '"', "a\\"])
    if r.random() < 0.05:
        at = r.randrange(len(line) + 1)
        line = line[:at] + r.choice(['"', ",", "\\", "#", "@", "=", "/", "\r", "é", "\\\n"]) + line[at:]
    return line


def random_file(r):
    return r.choice(["\n", "\n", "\r\n"]).join(random_line(r) for _ in range(r.randint(1, 12))) + r.choice(["", "\n", "\\\n", "\\"])


BY_HAND = [
    "", "# nothing\n", "local all all trust", "local all all trust\\", "local \\\n\\\n\nall\n", "local all \\\nall trust\nhost all\n", "local all all \\\\\ntrust\n",
    "local all all trust map=m\n", "host all all 127.0.0.1 trust\n", 'local "a""b" all trust\n', 'local "a b",c d trust\n', 'local all all "trust\n',
    "local " + "a" * 10239 + " all trust\n", "local " + "a" * 10238 + " all trust\nlocal all all trust\n", "local " + "a" * 300 + " all trust\n",
    "local @names @sub/more trust\n", "local @empty all trust\nlocal all @empty trust\n", "local @missing all trust\nlocal all all trust\n",
    "local all all peer map=x\nlocal all all ident map=y\nhost all all all ident\n", "hostssl all all all cert map=x\nhostssl all all all cert clientcert=verify-ca\n",
    "hostssl all all all trust clientcert=verify-full clientname=DN\nhost all all all trust clientname=CN\n", "local,host all all trust\n",
    "host all all samehost trust\nhost all all samenet trust\nhost all all \"samenet\" trust\n", "include foo\ninclude_dir bar\ninclude_if_exists foo\n",
    "local all /^a trust\n", "host all all 10.0.0.0/8 255.0.0.0 trust\n", "host all all fe80::1%lo/64 trust\n", "local all all trust\u00a0\n", "local\u00a0all all trust\n",
    "local all all trust\v\n", "local all all, trust\n", "local all all ,trust\n", 'local all "" trust\n', 'local all """" trust\n', '"local" "all" "all" "trust"\n',
    "local all a#b trust\n", 'local all "a#b" trust\n', "local all 'a b' trust\n", "\ufefflocal all all trust\n", "local all @names,@sub/more,x trust\n",
]
IDENT_PARTS = [["m", "n", '"m m"', "a,b", "@names", "@missing", ""], ["bob", "/^(.*)@x$", "/(", "/[", '"/a b"', "a,b", "/", "/^(a)(b)$", "/a{2,1}", "/\\y", "@empty", "/*"],
               ["bob", "\\1", "x\\1y", "all", '"q r"', "a,b", "+grp", ""]]


def rows():
    r, session, cases = random.Random(SEED), Psql(), []
    for name, text in EXTRA.items():
        os.makedirs(os.path.dirname(os.path.join(DATA, name)), exist_ok=True)
        put(os.path.join(DATA, name), text)
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 400
    for n in range(len(BY_HAND) + count):
        text = BY_HAND[n] if n < len(BY_HAND) else random_file(r)
        put(HBA, text)
        got = session.ask("SELECT json_agg(json_build_array(line_number, type, database, user_name, address, netmask, auth_method, options, error) "
                          "ORDER BY line_number) FROM pg_hba_file_rules")
        cases.append([text, json.loads(got) if got.strip() else []])
    maps = []
    for n in range(count // 2):
        text = ""
        for _ in range(r.randint(1, 6)):
            words = [r.choice(some[:3]) if r.random() < 0.6 else r.choice(some) for some in IDENT_PARTS]
            text += r.choice([" ", "\t", " \\\n"]).join(words) + r.choice(["\n", " extra\n", " # c\n"])
        put(IDENT, text)
        got = session.ask("SELECT json_agg(json_build_array(line_number, map_name, sys_name, pg_username, error) ORDER BY line_number) "
                          "FROM pg_ident_file_mappings")
        maps.append([text, json.loads(got) if got.strip() else []])
    put(HBA, "local all postgres trust\n")
    put(IDENT, "")
    # A line with an error of its own twice is shown twice nowhere: rows are by line.
    write("hosts/cases/rows.json", {"directory": os.path.abspath(DATA), "files": EXTRA, "cases": cases})
    write("hosts/cases/maps.json", {"directory": os.path.abspath(DATA), "files": EXTRA, "cases": maps})


def write(name, what):
    path = os.path.join(AUTH, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    text = json.dumps(what, ensure_ascii=False)
    # Where the server's directory was is nobody's business.
    text = text.replace(json.dumps(os.path.abspath(DATA))[1:-1], "/data")
    put(path, text.replace('], ["', '],\n["') + "\n")
    print(path, os.path.getsize(path))


# ---------------------------------------------------------------------------------------------------------------------------------
# Connections

ROLES = ["anna", "bob", "carl", "grp", "outer", "db1", "all", "+grp", "super"]
DATABASES = ["db1", "db2", "anna", "grp", "all", "replication"]
MEMBERS = [("grp", "anna"), ("outer", "grp"), ("db1", "bob")]


def connect(case):
    """The number of the line that a connection fits, None if there is none, "reject" if it says so."""
    kind, tls, source, target, database, role = case
    if kind == "local":
        s = socket.socket(socket.AF_UNIX)
        s.connect(os.path.join(ROOM, f".s.PGSQL.{PORT}"))
    else:
        s = socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET)
        s.bind((source, 0))
        s.connect((target, PORT))
        if tls:
            s.sendall(struct.pack("!ii", 8, 80877103))
            assert s.recv(1) == b"S"
            context = ssl._create_unverified_context()
            s = context.wrap_socket(s)
    body = struct.pack("!i", 196608) + b"user\0" + role.encode() + b"\0database\0" + database.encode() + b"\0\0"
    s.sendall(struct.pack("!i", len(body) + 4) + body)
    answer = read(s)
    if answer[0] == b"R" and struct.unpack("!i", answer[1][:4])[0] == 3:
        s.sendall(b"p" + struct.pack("!i", 4 + 6) + b"wrong\0")
        answer = read(s)
    s.close()
    fields = {f[:1]: f[1:] for f in answer[1].split(b"\0") if f}
    return fields.get(b"M", b"").decode()


def read(s):
    def some(n):
        out = b""
        while len(out) < n:
            more = s.recv(n - len(out))
            if not more:
                return out
            out += more
        return out
    head = some(5)
    return head[:1], some(struct.unpack("!i", head[1:])[0] - 4)


def reload(session):
    """The postmaster reads its files at SIGHUP; when it has, its log says nothing, so the time of the load is asked for."""
    before = session.ask("SELECT pg_conf_load_time()")
    session.ask("SELECT pg_reload_conf()")
    while session.ask("SELECT pg_conf_load_time()") == before:
        time.sleep(0.01)
    time.sleep(0.05)


def matches():
    r, session = random.Random(SEED), Psql()
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 60
    session.ask("ALTER SYSTEM SET log_min_messages = 'fatal'")
    for role in ROLES:
        session.ask(f'DROP ROLE IF EXISTS "{role}"; CREATE ROLE "{role}" LOGIN PASSWORD \'right\'')
    session.ask('ALTER ROLE super SUPERUSER')
    for group, member in MEMBERS:
        session.ask(f'GRANT "{group}" TO "{member}"')
    have = session.ask("SELECT datname FROM pg_database").split()
    for database in DATABASES:
        if database not in have:
            session.ask(f'CREATE DATABASE "{database}"')
    names = lambda some, more: "all" if r.random() < 0.6 else ",".join(r.choice(some + more) for _ in range(r.randint(1, 3)))
    addresses = ["127.0.0.1/32", "127.0.0.0/8", "127.0.0.2 255.255.255.254", "127.0.0.5 255.0.0.255", "::1/128", "all", "samehost", "samenet", "0.0.0.0/0", "::/0",
                 "127.0.0.4/30", "10.0.0.0/8", own4() + "/32", own4() + "/24", "127.1/32"]
    sources = [("127.0.0.1", "127.0.0.1"), ("127.0.0.2", "127.0.0.1"), ("127.0.0.5", "127.0.0.1"), ("127.9.9.5", "127.0.0.1"), ("::1", "::1"), (own4(), own4())]
    interfaces = json.loads(subprocess.run(["ip", "-j", "addr"], capture_output=True, text=True).stdout)
    interfaces = [[a["local"], a["prefixlen"]] for i in interfaces for a in i.get("addr_info", [])]
    out = []
    for _ in range(count):
        lines = []
        for _ in range(r.randint(1, 7)):
            kind = r.choice(["local", "host", "host", "hostssl", "hostnossl", "hostnogssenc", "hostgssenc"])
            line = [kind, names(DATABASES, ["sameuser", "samerole", '"all"', "nosuch"]), names(ROLES[:-2] + ['"all"', '"+grp"'], ["+grp", "+outer", "+nosuch", "+db1", "super"])]
            if kind != "local":
                line.append(r.choice(addresses))
            line.append(r.choice(["password", "password", "password", "reject"]))
            lines.append(" ".join(line))
        text = "\n".join(lines) + "\n"
        put(HBA, text)
        reload(session)
        asked = []
        for _ in range(10):
            kind = r.choice(["local", "host", "host", "host"])
            source, target = r.choice(sources) if kind == "host" else (None, None)
            case = [kind, kind == "host" and r.random() < 0.5, source, target, r.choice(DATABASES), r.choice(ROLES + ["nobody"])]
            size = os.path.getsize(LOG)
            message = connect(case)
            if message.startswith("password authentication failed"):
                end = time.time() + 5
                while True:
                    with open(LOG, "rb") as f:
                        f.seek(size)
                        told = f.read().decode(errors="replace")
                    if "Connection matched pg_hba.conf line" in told or time.time() > end:
                        break
                    time.sleep(0.005)
                answer = int(told.split("Connection matched pg_hba.conf line ")[1].split(":")[0])
            else:
                assert message.startswith("no pg_hba.conf entry") or message.startswith("pg_hba.conf rejects"), message
                answer = message
            asked.append([case[0], case[1], case[2], case[4], case[5], answer])
        out.append([text, asked])
    put(HBA, "local all postgres trust\n")
    session.ask("SELECT pg_reload_conf()")
    write("hosts/cases/matches.json", {"interfaces": interfaces, "members": MEMBERS, "roles": ROLES, "cases": out})


def own4():
    out = subprocess.run(["ip", "-j", "-4", "addr"], capture_output=True, text=True).stdout
    return [a["local"] for i in json.loads(out) for a in i.get("addr_info", []) if a["scope"] == "global"][0]


# ---------------------------------------------------------------------------------------------------------------------------------
# Passwords

SOME = ["pencil", "", " ", "a b", "a\u00a0b", "a\u3000b", "\u00ad", "a\u00adb", "I\u00adX", "user", "USER", "\u00aa", "\u2168", "\u0007", "a\u0007b", "\u0627\u0031", "\u06271a", "\u0627\u0628",
        "\ufb01", "e\u0301", "\u00e9", "\u0221", "\U0001f600", "\u2028", "\ue000", "\ufffd", "\u200b", "\u1806", "\ufeff", "x" * 300, "\u0340", "\u00df", "\u1e9e", "\u212b", "\uff21", "A\u030a",
        "\u0378", "\U000e0001", "\ufdfa", "\u0f71\u0f73", "\u1d2c"]


def passwords():
    r, session = random.Random(SEED), Psql()
    session.ask("DROP ROLE IF EXISTS hashed; CREATE ROLE hashed; SET password_encryption = 'scram-sha-256'")
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 300
    out = ["# Passwords in hexadecimal, and PostgreSQL 15's verifiers of them: written by tests/postgres/hosts.py."]
    pool = [chr(c) for c in list(range(0x20, 0x7f)) + list(range(0xa0, 0x250)) + list(range(0x300, 0x370)) + list(range(0x5d0, 0x6ff)) + [0x2000, 0x200d, 0x2126, 0x3000, 0xac00, 0x1f600, 0xfb01]]
    for n in range(len(SOME) + count):
        word = SOME[n] if n < len(SOME) else "".join(r.choice(pool) for _ in range(r.randint(1, 8)))
        if not word:
            continue
        session.ask("ALTER ROLE hashed PASSWORD '" + word.replace("'", "''") + "'")
        out.append(word.encode().hex() + "\t" + session.ask("SELECT rolpassword FROM pg_authid WHERE rolname = 'hashed'").strip())
    path = os.path.join(AUTH, "scram/cases/passwords.tsv")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    put(path, "\n".join(out) + "\n")
    print(path, len(out))


# ---------------------------------------------------------------------------------------------------------------------------------
# Regular expressions of maps

PIECES = ["a", "b", "ab", "abc", ".", ".*", "a*", "b+", "(a)", "(ab?)", "(a|ab)", "(.*)", "([ab]*)", "[a-c]", "[^a]", "[[:alpha:]]", "[[:digit:]]+", "\\d", "\\w+", "\\s", "\\.", "@",
          "(b|c)", "(?:a|b)", "a{2}", "b{1,2}", "c{0,1}", "|", "^", "$", "c?", "(a*)(b*)", "((a)b)", "a*?", "(a+?)", "\\D", "[]a]", "[a-]", "[\\w.]+", "{", "x{", "(", ")", "*",
          "[", "\\", "a{1", "\\y", "\\Z", "(?i)", "(?=a)", "\\1", "é", "[é-]", "[a&&b]", "[[]", "--", "~", "#", " ", "\\@", "[[=a=]]", "[b-a]", "()", "(|a)", "a{3,2}", "+", "a{,2}",
          "\\m", "\\t", "a**", "b+*", "(^a)", "(a$)", "^*", "$?", "[\\d-z]", "[a\\]]"]


def patterns():
    r, session, out = random.Random(SEED), Psql(), []
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 1500
    session.ask("""CREATE OR REPLACE FUNCTION matched(t text, p text) RETURNS text LANGUAGE plpgsql AS
        'BEGIN RETURN to_json(regexp_match(t COLLATE "C", p)); EXCEPTION WHEN OTHERS THEN RETURN ''"error"''; END'""")
    for _ in range(count):
        pattern = "".join(r.choice(PIECES[:34]) if r.random() < 0.9 else r.choice(PIECES) for _ in range(r.randint(1, 5)))
        if r.random() < 0.5:
            pattern = "^" + pattern + "$"
        text = "".join(r.choice("aaabbbcc1@. é\t_-[&") for _ in range(r.randint(0, 6)))
        got = session.ask("SELECT coalesce(matched($t$" + text + "$t$, $p$" + pattern + "$p$), 'null')")
        out.append([pattern, text, json.loads(got)])
    write("hosts/cases/patterns.json", {"cases": out})


# ---------------------------------------------------------------------------------------------------------------------------------
# Users of the system

def peers():
    import getpass
    r, session, out, me = random.Random(SEED), Psql(), [], getpass.getuser()
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 60
    for role in ROLES + [me]:
        session.ask(f'DROP ROLE IF EXISTS "{role}"; CREATE ROLE "{role}" LOGIN')
    system = [me, me, "/^" + me + "$", "/^(.*)$", "/^(" + me[:2] + ").*$", "/" + me[1], "/^(x)?" + me + "$", "eve", "/^eve", "/.", "/^(" + me + "|eve)$"]
    role = ROLES[:5] + ["all", "\\1", "\\1", "a\\1", "nn\\1", me, '"anna"', "\\1\\1"]
    for _ in range(count):
        lines = [" ".join([r.choice(["m", "m", "n"]), r.choice(system), r.choice(role)]) for _ in range(r.randint(0, 5))]
        text = "\n".join(lines) + "\n"
        put(IDENT, text)
        put(HBA, "local db1 all peer map=m\nlocal db2 all peer\nlocal all postgres trust\n")
        reload(session)
        for _ in range(8):
            case = ["local", False, None, None, r.choice(["db1", "db1", "db1", "db2"]), r.choice(ROLES[:5] + ["all", me])]
            message = connect(case)
            assert message.startswith("Peer authentication failed") or message == "", message
            out.append([text, case[4] == "db1", case[5], message == ""])
    put(HBA, "local all postgres trust\n")
    put(IDENT, "")
    session.ask("SELECT pg_reload_conf()")
    write("hosts/cases/peers.json", {"system": me, "cases": out})


{"rows": rows, "matches": matches, "peers": peers, "patterns": patterns, "passwords": passwords}[WHAT]()
