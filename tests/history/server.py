"""A server of its own for a test, which can be killed and started again on the same directory."""
import signal, socket, subprocess, sys, time


class Server:
    def __init__(self, binary, data):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.binary, self.data, self.kills, self.slowest = binary, data, 0, 0.0
        self.start()

    def start(self):
        began = time.monotonic()
        self.process = subprocess.Popen([self.binary, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}"],
                                        stdout=subprocess.DEVNULL, stderr=open(self.data + ".log", "ab"))
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                self.slowest = max(self.slowest, time.monotonic() - began)
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() - began > 60:
                    sys.exit(f"history: the server did not start; see {self.data}.log")
                time.sleep(0.01)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1

    @property
    def dsn(self):
        return f"host=127.0.0.1 port={self.port} user=stoa dbname=stoa"
