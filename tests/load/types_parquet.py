#!/usr/bin/env python3
"""Writes types.parquet beside it: one column of each kind, by pyarrow (pip install pyarrow). The file is kept, so that tests need no pyarrow.

    types_parquet.py
"""
import datetime as dt, decimal, pathlib

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 300
D, utc = decimal.Decimal, dt.timezone.utc
day = lambda n: dt.date(2024, 1, 1) + dt.timedelta(n % 300)
at = lambda n: dt.datetime(2024, 1, 1) + dt.timedelta(seconds=n, microseconds=n)
COLUMNS = {
    "id": (pa.int32(), lambda n: n),
    "big": (pa.int64(), lambda n: n << 40),
    "u": (pa.uint64(), lambda n: (1 << 64) - 1 - n),
    "small": (pa.int8(), lambda n: n % 100 - 50),
    "flag": (pa.bool_(), lambda n: n % 3 == 0),
    "r": (pa.float32(), lambda n: n / 2),
    "f": (pa.float64(), lambda n: n / 10),
    "price": (pa.decimal128(12, 2), lambda n: D(n) / 100),
    "word": (pa.string(), lambda n: f"w{n}\t\\\n" if n % 5 else ""),
    "kind": (pa.dictionary(pa.int32(), pa.string()), lambda n: ("ok", "low", "high")[n % 3]),
    "raw": (pa.binary(), lambda n: bytes([n % 256, 0, 255])),
    "day": (pa.date32(), day),
    "clock": (pa.time64("us"), lambda n: dt.time(n % 24, 1, 2, 3)),
    "at": (pa.timestamp("us"), at),
    "at_ns": (pa.timestamp("ns"), at),
    "at_tz": (pa.timestamp("ms", tz="Europe/Vienna"), lambda n: at(n).replace(microsecond=0, tzinfo=utc)),
    "numbers": (pa.list_(pa.int32()), lambda n: [n, None, -n][: n % 4]),
    "words": (pa.list_(pa.string()), lambda n: ['a "b"', "c,\\d"]),
    "place": (pa.struct([("x", pa.float64()), ("name", pa.string())]), lambda n: {"x": n / 4, "name": f"p{n}"}),
    "labels": (pa.map_(pa.string(), pa.int32()), lambda n: [("a", n)]),
}
maybe = lambda name, value, n: None if name != "id" and n % 7 == 6 else value(n)
table = pa.table({name: pa.array([maybe(name, value, n) for n in range(ROWS)], type=ty) for name, (ty, value) in COLUMNS.items()})
pq.write_table(table, pathlib.Path(__file__).with_name("types.parquet"), compression="zstd", row_group_size=128)
