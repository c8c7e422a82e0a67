"""A server of its own for a test, which can be killed and started again on the same directory."""
import os, signal, socket, subprocess, sys, time


def own_port():
    """A socket whose port no other program is given while it is open, and a server may listen at."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


class Server:
    def __init__(self, binary, data, *more):
        self.held = own_port()
        self.port = self.held.getsockname()[1]
        self.binary, self.data, self.more, self.kills, self.slowest = binary, data, more, 0, 0.0
        self.start()

    def start(self):
        began = time.monotonic()
        self.process = subprocess.Popen([self.binary, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *self.more],
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

    def memory(self, what="VmRSS"):
        """MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(next(line for line in status if line.startswith(what)).split()[1]) / 1024

    def unnamed_files(self):
        """Bytes of files that are open and have no name."""
        total, fds = 0, f"/proc/{self.process.pid}/fd"
        for fd in os.listdir(fds):
            try:
                if os.readlink(f"{fds}/{fd}").endswith("(deleted)"):
                    total += os.stat(f"{fds}/{fd}").st_size
            except OSError:
                pass
        return total

    @property
    def dsn(self):
        return f"host=127.0.0.1 port={self.port} user=stoa dbname=stoa"
