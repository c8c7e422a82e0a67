"""A Stoa and a private PostgreSQL, started for a benchmark and ended with it, and the CPU time that each has used."""
import os, pathlib, re, shutil, signal, socket, subprocess, sys, time

import psycopg

TICKS = os.sysconf("SC_CLK_TCK")


def _free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A running server; `name` is what tables call it."""

    def __init__(self, name, process, port, user, database):
        self.name, self.process, self.port, self.user, self.database = name, process, port, user, database
        self.address = ["-h", "127.0.0.1", "-p", str(port), "-U", user]
        self.dsn = f"host=127.0.0.1 port={port} user={user} dbname={database}"
        for _ in range(1200):
            try:
                psycopg.connect(self.dsn, connect_timeout=1).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        sys.exit(f"{name} did not start")

    def connect(self):
        return psycopg.connect(self.dsn, autocommit=True, prepare_threshold=None)

    def psql(self, *args, **options):
        return subprocess.run(["psql", "-qX", *self.address, "-d", self.database, "-v", "ON_ERROR_STOP=1", *args], check=True, **options)

    def cpu_seconds(self):
        """User and system time of the process and all that it started, those that have ended included."""
        children = {}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append((int(stat.parent.name), fields))
        own = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        total, queue = sum(map(int, own[11:15])), [self.process.pid]
        while queue:
            for pid, fields in children.get(queue.pop(), []):
                total += sum(map(int, fields[11:15]))
                queue.append(pid)
        return total / TICKS

    def memory_bytes(self):
        """Resident memory of the server's process."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) * 1024

    def stop(self):
        self.process.send_signal(signal.SIGINT if self.name == "postgres" else signal.SIGTERM)
        self.process.wait(60)


def start_stoa(binary, work, *options):
    port = _free_port()
    # A session of its own, as a service manager gives it one: Linux divides the CPU by sessions first (sched_autogroup), and each process
    # of PostgreSQL begins one by itself. In the benchmark's own session the server would get no more than its clients leave it.
    process = subprocess.Popen([binary, "serve", "--data", f"{work}/stoa", "--listen", f"127.0.0.1:{port}", *options], stdout=subprocess.DEVNULL,
                               stderr=open(f"{work}/stoa.log", "w"), start_new_session=True)
    return Server("stoa", process, port, "stoa", "stoa")


def start_postgres(bindir, work, *options):
    """Durable as it comes; with memory and log for the sizes that are measured."""
    port, data = _free_port(), f"{work}/postgres"
    os.makedirs(data)
    as_user = []
    if os.getuid() == 0:
        # It does not run as root.
        os.chmod(work, 0o755)
        shutil.chown(data, "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    subprocess.run([*as_user, f"{bindir}/initdb", "-D", data, "-U", "postgres", "-A", "trust", "--locale=C.UTF-8", "-E", "UTF8"], check=True,
                   stdout=subprocess.DEVNULL)
    settings = ["-c", "shared_buffers=2GB", "-c", "max_wal_size=8GB", "-c", "work_mem=64MB", "-c", "maintenance_work_mem=512MB"]
    process = subprocess.Popen([*as_user, f"{bindir}/postgres", "-D", data, "-p", str(port), "-k", data, *settings, *options],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Server("postgres", process, port, "postgres", "postgres")
