"""What the compared scripts in Python share: steps that print what was seen, and where to connect."""
import os
import sys
import traceback

HOST, PORT, USER, DATABASE = (os.environ[name] for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE"))
PASSWORD = os.environ["PGPASSWORD"]
failed = []


def show(what, value):
    print(f"{what}: {value!r}", flush=True)


def step(f):
    """Runs a step at once; one that raises is printed, fails the script, and keeps none behind it from running."""
    print(f"== {f.__name__}", flush=True)
    try:
        f()
    except Exception:  # noqa: BLE001: the others go on
        failed.append(f.__name__)
        print(f"FAIL {f.__name__}: {traceback.format_exc()}", flush=True)
    return f


def end():
    sys.exit(1 if failed else 0)
