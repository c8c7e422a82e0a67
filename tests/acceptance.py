#!/usr/bin/env python3
"""Runs the acceptance files against a fresh server in the three protocol modes, and where the floors say so with an index forced
wherever one can serve, and compares each area with its floor.

    acceptance.py BINARY ACCEPTANCE_FOLDER [AREA ...] [--store URL] [--modes MODE ...]

The floors are the shares of records that agreed when they were last raised: `acceptance-floors.json` beside this file. An area
below its floor fails; one above it says so, so that the floor can be raised.
"""
import argparse, json, pathlib, re, socket, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
MODES = ("simple", "extended", "prepared")
FORCED = " options='-c stoa.force_index=on'"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(binary, data, store):
    port = free_port()
    command = [binary, "serve", "--data", data, "--listen", f"127.0.0.1:{port}", *(["--store", store] if store else [])]
    server = subprocess.Popen(command, stderr=open(f"{data}.log", "ab"))
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server, port
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    sys.exit(f"acceptance: the server did not start; see {data}.log")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("areas", nargs="*")
    parser.add_argument("--store", help="of a namespace that the run may fill")
    parser.add_argument("--modes", nargs="*", default=[*MODES, "forced"])
    args = parser.parse_intermixed_args()
    folder = args.folder
    floors = json.loads((HERE / "acceptance-floors.json").read_text())
    areas = args.areas or sorted(floors)
    failed = total_passed = total_failed = 0
    with tempfile.TemporaryDirectory() as work:
        server, port = start(args.binary, f"{work}/data", args.store)
        try:
            for area in areas:
                for mode in args.modes:
                    if mode == "forced" and "forced" not in floors.get(area, {}):
                        continue
                    dsn = f"host=127.0.0.1 port={port} user=stoa dbname=stoa" + FORCED * (mode == "forced")
                    protocol = "prepared" if mode == "forced" else mode
                    run = subprocess.run(
                        [sys.executable, str(folder / "run"), "--dsn", dsn, "--protocol", protocol, str(folder / area)],
                        capture_output=True, text=True, timeout=1200)
                    counts = re.search(r"(\d+) passed, (\d+) failed", run.stdout)
                    passed, missed = (int(counts[1]), int(counts[2])) if counts else (0, 1)
                    total_passed, total_failed = total_passed + passed, total_failed + missed
                    share = 100 * passed / max(1, passed + missed)
                    floor = floors.get(area, {}).get(mode, 0)
                    word = "BELOW ITS FLOOR" if share < floor else "above its floor" if share >= floor + 1 else "ok"
                    failed += share < floor
                    print(f"acceptance {area:12} {mode:9} {passed:4} of {passed + missed:4}  {share:5.1f} %  floor {floor:5.1f} %  {word}", flush=True)
        finally:
            server.terminate()
            server.wait(20)
    print(f"acceptance: {total_passed} records agree, {total_failed} do not; {failed} areas below their floor")
    sys.exit(1 if failed else 0)


main()
