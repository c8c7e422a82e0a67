#!/usr/bin/env python3
"""Everything about transactions that needs a server: sessions' transcripts, histories, crashes.

    transactions.py BINARY [--soak HOURS]

Takes two or three minutes; with `--soak` it goes on for so long, with more clients, kills and rounds.
"""
import argparse, collections, concurrent.futures, pathlib, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "history"))
from server import Server


def run(job):
    """Whether a job failed, and the last that it printed; all is printed as it comes."""
    said = collections.deque(maxlen=40)
    with subprocess.Popen([sys.executable, *map(str, job)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line)
    return process.returncode != 0, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--soak", type=float, default=0, metavar="HOURS")
    args = parser.parse_args()
    history, binary = HERE / "history", ["--binary", args.binary]
    seconds = int(args.soak * 3600)
    jobs = [[history / "test_adya.py"]]
    if seconds:
        for workload in ("list", "register"):
            for clients in (8, 32):
                jobs.append([history / "run.py", *binary, "--workload", workload, "--clients", clients, "--seconds", seconds // 16, "--kill-every", 5])
        jobs.append([history / "crash.py", *binary, "--rounds", max(200, seconds // 2)])
        jobs.append([history / "large.py", *binary, "--rows", 1_000_000, "--rounds", max(20, seconds // 100)])
        jobs.append([history / "keys.py", *binary, "--seconds", seconds // 16, "--clients", 24])
    else:
        jobs.append([history / "run.py", *binary, "--seconds", 5, "--must-find"])
        jobs.append([history / "run.py", *binary, "--seconds", 4, "--clients", 32, "--kill-every", 1])
        jobs.append([history / "run.py", *binary, "--seconds", 3, "--workload", "register"])
        jobs.append([history / "crash.py", *binary, "--rounds", 8])
        jobs.append([history / "large.py", *binary])
        jobs.append([history / "keys.py", *binary])
    failed = []
    with tempfile.TemporaryDirectory() as work:
        servers = [Server(args.binary, f"{work}/{protocol}") for protocol in ("simple", "extended")]
        try:
            for protocol, server in zip(("simple", "extended"), servers):
                jobs.insert(0, [HERE / "differential" / "sessions.py", "--dsn", server.dsn, "--protocol", protocol])
            # Sessions wait for each other most of the time: two jobs go on at once.
            with concurrent.futures.ThreadPoolExecutor(1 if seconds else 2) as pool:
                for job, (bad, said) in zip(jobs, pool.map(run, jobs)):
                    if bad:
                        failed.append("".join([" ".join([job[0].name, *map(str, job[1:])]), "\n", *said]))
        finally:
            for server in servers:
                server.process.terminate()
                server.process.wait(30)
    # What was printed long before the end is easily lost.
    for job in failed:
        print(f"failed: {job}", end="")
    print(f"transactions: {len(jobs) - len(failed)} of {len(jobs)} parts pass")
    sys.exit(1 if failed else 0)


main()
