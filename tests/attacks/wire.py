"""A client of PostgreSQL's protocol that can be told to do each step wrongly, and a server to do it to."""
import base64, hashlib, hmac, os, pathlib, re, secrets, signal, socket, ssl, struct, subprocess, time

SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """`rules` is the text of pg_hba.conf; `more` are options of serve."""

    started = []

    def __init__(self, binary, work, rules=None, more=(), tls=False):
        self.binary, self.work, self.port, self.more = binary, pathlib.Path(work), free_port(), list(more)
        self.data, self.sockets = self.work / "data", self.work / "sockets"
        self.sockets.mkdir(exist_ok=True)
        if tls:
            self.run("certificate", "--data", self.data)
        if rules is not None:
            self.data.mkdir(exist_ok=True)
            (self.data / "pg_hba.conf").write_text(rules)
        self.log_path = self.work / "log"
        Server.started.append(self)
        self.start()

    def run(self, *arguments, **more):
        return subprocess.run([self.binary, *map(str, arguments)], check=True, capture_output=True, text=True, **more)

    def start(self):
        listen = [] if "--listen" in self.more else ["--listen", f"127.0.0.1:{self.port}"]
        arguments = [self.binary, "serve", "--data", str(self.data), "--socket-dir", str(self.sockets), *listen, *self.more]
        self.process = subprocess.Popen(arguments, stderr=open(self.log_path, "ab"))
        for _ in range(600):
            if self.process.poll() is not None:
                raise RuntimeError("the server ended: " + self.log()[-500:])
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(self.socket_path())
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def socket_path(self):
        return f"{self.sockets}/.s.PGSQL.{self.port}"

    def log(self):
        return re.sub(r"\x1b\[[0-9;]*m", "", self.log_path.read_text())

    def memory(self):
        """MiB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(l for l in text.splitlines() if l.startswith("VmRSS")).split()[1]) / 1024

    def reload(self):
        before = self.log().count("configuration files were read again") + self.log().count("the rules of hosts stay as they were")
        self.process.send_signal(signal.SIGHUP)
        for _ in range(200):
            if self.log().count("configuration files were read again") + self.log().count("the rules of hosts stay as they were") > before:
                return
            time.sleep(0.02)
        raise RuntimeError("the files were not read again")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def message(kind, body=b""):
    return kind + struct.pack("!i", len(body) + 4) + body


def startup(user, database="stoa", **parameters):
    words = {"user": user, "database": database, **parameters}
    body = struct.pack("!i", 196608) + b"".join(k.encode() + b"\0" + v.encode() + b"\0" for k, v in words.items()) + b"\0"
    return struct.pack("!i", len(body) + 4) + body


class Refused(Exception):
    """The server has said no."""

    def __init__(self, fields):
        self.fields = fields
        self.code = fields.get("C")
        super().__init__(f"{self.code} {fields.get('M')}")


class Closed(Exception):
    """The server has closed the connection."""


class Connection:
    def __init__(self, server, tls=False, source=None, by_socket=False, timeout=20, version=None, certificate=None):
        self.peer_certificate = None
        if by_socket:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(server.socket_path())
        else:
            self.socket = socket.create_connection(("127.0.0.1", server.port), timeout, source and (source, 0))
        if tls:
            self.socket.sendall(SSL_REQUEST)
            answer = self.socket.recv(1)
            if answer != b"S":
                raise Closed(f"no TLS: {answer!r}")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            if version:
                context.minimum_version = context.maximum_version = version
            if certificate:
                context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket)
            self.peer_certificate = self.socket.getpeercert(True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def read(self, count):
        out = b""
        while len(out) < count:
            try:
                piece = self.socket.recv(count - len(out))
            except (ConnectionResetError, BrokenPipeError, ssl.SSLError) as e:
                raise Closed(repr(e)) from None
            if not piece:
                raise Closed("end")
            out += piece
        return out

    def receive(self):
        """A message; an error is raised."""
        kind = self.read(1)
        body = self.read(struct.unpack("!i", self.read(4))[0] - 4)
        if kind == b"E":
            raise Refused({f[:1].decode(): f[1:].decode() for f in body.split(b"\0") if f})
        return kind, body

    def until_ready(self):
        out = []
        while True:
            out.append(self.receive())
            if out[-1][0] == b"Z":
                return out

    def query(self, sql):
        """Rows of text."""
        self.send(message(b"Q", sql.encode() + b"\0"))
        rows, failed = [], None
        while True:
            try:
                kind, body = self.receive()
            except Refused as e:
                failed = e
                continue
            if kind == b"D":
                row, at = [], 2
                for _ in range(struct.unpack("!h", body[:2])[0]):
                    length = struct.unpack("!i", body[at:at + 4])[0]
                    at += 4
                    row.append(None if length < 0 else body[at:at + length].decode())
                    at += max(length, 0)
                rows.append(row)
            elif kind == b"Z":
                if failed:
                    raise failed
                return rows

    def login(self, user, password=None, database="stoa", scram=None, **parameters):
        """Does the startup; `scram` is a Scram that does the exchange otherwise."""
        self.send(startup(user, database, **parameters))
        kind, body = self.receive()
        if body[:4] == struct.pack("!i", 10):
            scram = scram or Scram(password or "")
            scram.exchange(self, body[4:].rstrip(b"\0").split(b"\0"))
            kind, body = self.receive()
        assert kind == b"R" and body == b"\0\0\0\0", (kind, body)
        self.until_ready()
        return self


class Scram:
    """SCRAM-SHA-256, and -PLUS where `bind` says so. Each step is a method that a case may replace."""

    def __init__(self, password, bind=False):
        self.password, self.bind, self.nonce = password, bind, secrets.token_urlsafe(18)
        self.sent = []

    def mechanism(self):
        return b"SCRAM-SHA-256-PLUS" if self.bind else b"SCRAM-SHA-256"

    def header(self):
        return b"p=tls-server-end-point,," if self.bind else b"n,,"

    def bound(self, connection):
        return hashlib.sha256(connection.peer_certificate).digest() if self.bind else b""

    def first(self):
        return b"n=,r=" + self.nonce.encode()

    def answer(self, connection, message_):
        self.sent.append(message_)
        connection.send(message(b"p", message_))

    def exchange(self, connection, mechanisms):
        self.mechanisms = mechanisms
        first = self.header() + self.first()
        self.answer(connection, self.mechanism() + b"\0" + struct.pack("!i", len(first)) + first)
        kind, body = connection.receive()
        assert body[:4] == struct.pack("!i", 11), body
        self.server_first = body[4:]
        self.answer(connection, self.last(connection))
        kind, body = connection.receive()
        assert body[:4] == struct.pack("!i", 12), body
        assert body[4:] == b"v=" + base64.b64encode(self.signature), "the server knows the password"

    def last(self, connection):
        parts = dict((p[:1], p[2:]) for p in self.server_first.split(b","))
        salted = hashlib.pbkdf2_hmac("sha256", self.password.encode(), base64.b64decode(parts[b"s"]), int(parts[b"i"]))
        key = hmac.digest(salted, b"Client Key", "sha256")
        without_proof = b"c=" + base64.b64encode(self.header() + self.bound(connection)) + b",r=" + parts[b"r"]
        text = b",".join([self.first(), self.server_first, without_proof])
        proof = bytes(a ^ b for a, b in zip(key, hmac.digest(hashlib.sha256(key).digest(), text, "sha256")))
        self.signature = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), text, "sha256")
        return without_proof + b",p=" + base64.b64encode(proof)
