#!/usr/bin/env python3
"""Random typed expressions on Stoa and on a PostgreSQL 15, compared: rows, column types, SQLSTATE, and (apart) messages.

    expressions.py --oracle DSN [--dsn DSN | --binary STOA] [--statements N] [--seed N] [--only WORD] [--kinds LIST]
                   [--messages] [--examples N]

With --binary it starts a server of its own on an empty directory.

The expressions are made from the signatures that Stoa lists in pg_proc, pg_operator and pg_cast, over a pool of values for each type
that holds NULLs, extremes, NaN, infinities, empty values, Unicode, years before Christ, zones, nested documents. What Stoa lists and
the oracle does not have is left out. A run is the same for the same seed and the same signatures.

Differences are grouped by signature, so that they can be worked off one by one. Those that docs/postgresql.md explains are counted
apart (`explained`). The exit status is 1 if there was another difference in rows, types or SQLSTATE, or if Stoa said XX000 anywhere.

The oracle needs the collation C and the encoding UTF8: the tool makes a database of that kind there, and drops it afterwards.
"""
import argparse
import collections
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from sides import Side, Tally, database, server  # noqa: E402

POOL = {
    "bool": ["true", "false"],
    "int2": ["0", "1", "(-1)", "7", "32767", "(-32768)"],
    "int4": ["0", "1", "(-1)", "2", "3", "5", "10", "100", "2147483647", "(-2147483648)"],
    "int8": ["0", "1", "(-1)", "42", "1000000", "9223372036854775807", "(-9223372036854775808)"],
    "float4": ["0", "1.5", "-2.25", "'NaN'", "'Infinity'", "'-Infinity'", "3.4e38", "1e-30", "0.1"],
    "float8": ["0", "1", "-1.5", "2.5", "0.1", "1e10", "123456.789", "'NaN'", "'Infinity'", "'-Infinity'", "1.7e308", "1e-300", "'-0'"],
    "numeric": ["0", "1", "-1", "2.5", "-2.50", "0.00001", "123.456", "99999999999999999999.99", "'NaN'", "'Infinity'", "'-Infinity'",
                "1e50", "1e-30", "12345678901234567890123456789012345678901234567890", "100", "0.5", "1.10"],
    "text": ["''", "'a'", "'abc'", "'Hello World'", "'  pad  '", "'ÄÖü ß é'", "'日本語 😀'", "'12'", "'-3.5'", "'a,b,,c'", "'%_\\x'", "'NULL'", "'a.b.c'",
             "'{\"a\":1}'", "'2024-02-29'", "'xyzxyz'", "'tab\tend'", "'(a|b)+c*'", "'[a-z]+'", "'UTC'", "'day'", "'YYYY-MM-DD'", "'999.99'", "'abcabcabc'"],
    "varchar": ["''", "'varchar'", "'Ünï'"],
    "bpchar": ["''", "'ab'", "'xy'"],
    "name": ["''", "'relname'", "'Mixed Name'"],
    "char": ["''", "'a'", "'Z'"],
    "bytea": ["''", "'\\x00'", "'\\xdeadbeef'", "'abc'", "'\\xff00ff'", "'\\x0102030405060708'"],
    "date": ["'2024-02-29'", "'1999-12-31'", "'0001-01-01'", "'0044-03-15 BC'", "'infinity'", "'-infinity'", "'1970-01-01'", "'2000-01-01'", "'5874897-12-31'"],
    "time": ["'00:00'", "'23:59:59.999999'", "'24:00'", "'12:34:56.789'", "'04:05'"],
    "timetz": ["'00:00+00'", "'12:34:56.789-08'", "'24:00+05:30'", "'04:05:06+01'"],
    "timestamp": ["'2024-02-29 12:34:56.789012'", "'1999-12-31 23:59:59'", "'0044-03-15 10:00 BC'", "'infinity'", "'-infinity'", "'1970-01-01'",
                  "'2000-01-01'", "'2024-03-31 02:30'", "'4713-01-01 BC'"],
    "timestamptz": ["'2024-02-29 12:34:56.789012+00'", "'1999-12-31 23:59:59-08'", "'0044-03-15 10:00+00 BC'", "'infinity'", "'-infinity'",
                    "'1970-01-01+00'", "'2024-07-01 00:00+02'", "'1850-06-01 12:00+00'"],
    "interval": ["'0'", "'1 day'", "'-1 mon 2 days -03:04:05.678'", "'1 year 2 mons'", "'25:00:00'", "'-00:00:01'", "'100 years'", "'1 week'", "'30 days'",
                 "'0.5 days'", "'P1Y2M3DT4H5M6S'"],
    "bit": ["B'1'", "B'101'", "B'0'", "X'F0'", "B''", "B'10101010101010101'"],
    "varbit": ["B'1'", "B'0011'", "B''", "X'0F'"],
    "uuid": ["'00000000-0000-0000-0000-000000000000'", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"],
    "json": ["'null'", "'{}'", "'[]'", "'1'", "'\"s\"'", "'{\"a\": 1, \"b\": [1, 2, {\"c\": null}]}'", "'[1, \"two\", null, true]'", "'{\"a\":1,\"a\":2}'",
             "'[{\"a\":1},{\"a\":2,\"b\":\"x\"}]'", "' { \"k\" : \"v\\u00e9\" } '"],
    "jsonb": ["'null'", "'{}'", "'[]'", "'1.50'", "'\"s\"'", "'{\"a\": 1, \"b\": [1, 2, {\"c\": null}]}'", "'[1, \"two\", null, true]'", "'{\"b\":2,\"aa\":1,\"a\":0}'",
              "'[{\"a\":1},{\"a\":2,\"b\":\"x\"}]'", "'[1, [2, [3]], 1]'", "'{\"a\": {\"b\": {\"c\": \"d\"}}}'"],
    "jsonpath": ["'$'", "'$.a'", "'$[*]'", "'$.b[1 to 2]'", "'strict $.x'", "'$.** ? (@ > 1)'", "'$[*].a ? (@ >= 2)'", "'$.a == 1'", "'$.b.size()'", "'$[*].type()'"],
    "oid": ["0", "23", "4294967295"],
    "_int4": ["'{}'", "'{1,2,3}'", "'{NULL,5}'", "'{3,1,2,1}'", "'{{1,2},{3,4}}'", "'{-1}'", "'[0:2]={1,2,3}'", "'[-1:0][2:3]={{1,2},{3,NULL}}'", "'{{{1},{2}}}'", "'{{1,2,3}}'"],
    "_int8": ["'{}'", "'{1,2}'", "'{{1},{2}}'", "'[5:6]={1,2}'"],
    "_text": ["'{}'", "'{a,b,c}'", "'{NULL,\"\",\"x y\"}'", "'{b,a,b}'", "'{k1,v1,k2,v2}'", "'{a}'", "'{b,0}'", "'{{k1,v1},{k2,v2}}'", "'[0:1]={a,b}'", "'[2:2][-1:0]={{a,NULL}}'"],
    "_float8": ["'{}'", "'{0.25,0.5,0.75}'", "'{NaN,1}'", "'{{0.25,0.5},{0,1}}'", "'[0:1]={0.5,1}'"],
    "_numeric": ["'{1.5,2.50}'", "'{}'", "'{NULL}'", "'{{1.50},{1.5}}'", "'[3:4]={1,NaN}'"],
    "_timestamp": ["'{2024-01-01,NULL}'"],
    "_bool": ["'{t,f,NULL}'"],
}
# What a polymorphic argument is tried with.
ELEMENTS = ["int4", "text", "numeric", "date", "float8", "bool"]
TEXTS_FOR_INPUT = ["", " ", "abc", "1", " 12 ", "-0", "1.5", "1e3", "0x1F", "NaN", "inf", "t", "off", "yes ", "2024-02-30", "2024-02-29", "20240229", "Jan 5 2021",
                   "1/2/2003", "12:34", "25:00", "epoch", "now x", "1 day ago", "P1D", "@ 1 hour", "{1,2", "{1,2}", "{a,\"b\"}", "[0:1]={1,2}", "{", "[1,2]", "null", "\\xzz", "\\x4",
                   "2024-01-01 10:00 Europe/Paris", "2024-01-01T10:00Z", "99999999999", "1_000", "infinity", "a0eebc999c0b4ef8bb6d6bb9bd380a11", "$.a[", "1 2", "10:20:30.5 PM"]

# Answers that differ by nature: the clock, chance, the session, the place, the catalogs.
NATURE = ("pg_", "has_", "current_", "session_", "inet_", "txid_", "lo_", "binary_", "row_security", "ts_", "to_ts", "phraseto", "plainto", "websearch",
          "tsvector", "tsquery", "array_to_tsvector", "json_to_tsvector", "jsonb_to_tsvector", "query_to", "table_to", "database_to", "schema_to", "cursor_to", "stoa", "map_")
CHANCE = {"random", "setseed", "now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "timeofday", "gen_random_uuid", "nextval", "currval",
          "setval", "lastval", "version", "set_config", "col_description", "obj_description", "shobj_description", "to_regclass", "to_regtype", "to_regproc", "to_regprocedure",
          "to_regnamespace", "to_regrole", "format_type", "getdatabaseencoding", "uuid_generate_v4", "random_normal", "unistr", "strip", "setweight", "numnode", "querytree",
          "get_current_ts_config", "similar_to_escape", "like_escape", "regclass", "regtype", "regproc", "overlaps", "cursor", "bttextcmp", "getpgusername", "any_value", "user", "mxid_age", "age_xid",
          "schema_name", "amvalidate", "currtid2", "parse_ident_x", "makeaclitem", "aclexplode", "acldefault", "convert", "convert_from", "convert_to", "suppress_redundant_updates_trigger"}
# Names that the grammar reads in another way.
KEYWORDS = {"extract", "normalize", "position", "overlay", "substring", "time", "timetz", "timestamp", "timestamptz", "interval", "char", "like", "left", "right", "numeric", "bit"}
SETTINGS = [
    [],
    ["SET DateStyle = 'German'", "SET IntervalStyle = 'iso_8601'", "SET TimeZone = 'America/New_York'"],
    ["SET DateStyle = 'SQL, DMY'", "SET IntervalStyle = 'sql_standard'", "SET TimeZone = 'Asia/Kolkata'"],
    ["SET DateStyle = 'Postgres, MDY'", "SET IntervalStyle = 'postgres_verbose'", "SET TimeZone = 'Europe/Berlin'", "SET extra_float_digits = 0", "SET bytea_output = 'escape'"],
]
RESET = ["RESET DateStyle", "RESET IntervalStyle", "SET TimeZone = 'UTC'", "RESET extra_float_digits", "RESET bytea_output"]
FRAMES = ["", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
          "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW", "GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING", "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING", "RANGE UNBOUNDED PRECEDING",
          "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"]
EXCLUDES = ["", "", "EXCLUDE CURRENT ROW", "EXCLUDE GROUP", "EXCLUDE TIES", "EXCLUDE NO OTHERS"]


def signatures(stoa, oracle):
    """Functions, operators and casts of Stoa that the oracle has too, by the types' names."""
    types = "(SELECT array_to_string(array_agg(t.typname ORDER BY u.n), ' ') FROM unnest(p.proargtypes) WITH ORDINALITY u(o, n) JOIN pg_type t ON t.oid = u.o)"
    sql = f"SELECT p.proname, {types}, p.prokind, p.proretset, p.provariadic, (SELECT typname FROM pg_type WHERE oid = p.prorettype) FROM pg_proc p JOIN pg_namespace s ON s.oid = p.pronamespace WHERE s.nspname = 'pg_catalog'"
    # The functions by which types are read and written are listed for clients, and not called.
    sql += " AND NOT EXISTS (SELECT FROM pg_type t WHERE p.oid IN (t.typinput, t.typoutput, t.typreceive, t.typsend, t.typmodin, t.typmodout, t.typanalyze, t.typsubscript))"
    sql += " AND p.oid NOT IN (SELECT amhandler FROM pg_am UNION SELECT lanvalidator FROM pg_language)"
    theirs = {(n, a or ""): (k, s, v, r) for n, a, k, s, v, r in oracle.all(sql)}
    state, _, rows, message = stoa.run(sql)
    if not rows:
        sys.exit(f"expressions: Stoa does not list its functions: {state} {message}")
    ours = {(n, a or ""): (k, s, v, r) for n, a, k, s, v, r in rows}
    functions = [(n, a.split(), *theirs[(n, a)]) for (n, a) in sorted(ours) if (n, a) in theirs and n not in CHANCE and not n.startswith(NATURE)]
    sql = "SELECT o.oprname, l.typname, r.typname FROM pg_operator o LEFT JOIN pg_type l ON l.oid = o.oprleft JOIN pg_type r ON r.oid = o.oprright"
    theirs = set(oracle.all(sql))
    operators = sorted((o for o in set(stoa.all(sql)) if o in theirs), key=str)
    sql = "SELECT s.typname, t.typname FROM pg_cast c JOIN pg_type s ON s.oid = c.castsource JOIN pg_type t ON t.oid = c.casttarget"
    theirs = set(oracle.all(sql))
    casts = sorted(c for c in set(stoa.all(sql)) if c in theirs)
    return functions, operators, casts


def name_of(ty):
    return f"{ty[1:]}[]" if ty.startswith("_") else ('"char"' if ty == "char" else ty)


class Maker:
    def __init__(self, rng, functions, operators, casts):
        self.rng, self.functions, self.operators, self.casts = rng, functions, operators, casts
        self.scalars = [f for f in functions if f[2] == "f" and not f[3] == "t"]
        self.aggregates = [f for f in functions if f[2] == "a"]
        self.windows = [f for f in functions if f[2] == "w"]
        self.sets = [f for f in functions if f[3] == "t"]
        self.by_result = collections.defaultdict(list)
        for f in self.scalars:
            self.by_result[f[5]].append(f)

    def concrete(self, types):
        """Polymorphic types, replaced by one choice."""
        element = self.rng.choice(ELEMENTS)
        swap = {"anyelement": element, "anynonarray": element, "anycompatible": element, "anycompatiblenonarray": element, "any": self.rng.choice(ELEMENTS),
                "anyarray": "_" + element, "anycompatiblearray": "_" + element}
        return [swap.get(t, t) for t in types]

    def value(self, ty, depth=0):
        rng = self.rng
        if depth > 0 and rng.random() < 0.3 and self.by_result.get(ty):
            made = self.call(rng.choice(self.by_result[ty]), depth - 1)
            if made:
                return made
        if rng.random() < 0.06:
            return f"NULL::{name_of(ty)}"
        pool = POOL.get(ty)
        if ty.startswith("_") and ty[1:] in POOL and rng.random() < 0.3:
            return self.array(ty)
        if pool is None and ty.startswith("_") and ty[1:] in POOL:
            items = ", ".join(self.value(ty[1:]) for _ in range(rng.randint(1, 3)))
            return f"ARRAY[{items}]::{name_of(ty)}"
        if pool is None:
            return None
        text = rng.choice(pool)
        if ty == "int4" and "-" not in text and rng.random() < 0.9:
            return text
        if ty in ("text",) and rng.random() < 0.5:
            return text
        return f"{text}::{name_of(ty)}"

    def array(self, ty, plain=0.5):
        """An array of any number of dimensions and any bounds, as it is written."""
        rng = self.rng
        lengths = [rng.choice([1, 1, 2, 2, 3]) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))]
        item = lambda: "NULL" if rng.random() < 0.1 else '"' + rng.choice(POOL[ty[1:]]).strip("()").removeprefix("'").removesuffix("'").replace("\\", "\\\\").replace('"', '\\"') + '"'
        nested = lambda rest: "{" + ",".join(nested(rest[1:]) if len(rest) > 1 else item() for _ in range(rest[0])) + "}"
        bounds = ""
        if rng.random() > plain:
            lowers = [rng.choice([0, 1, 1, 2, -1, -5, 7]) for _ in lengths]
            bounds = "".join(f"[{lower}:{lower + length - 1}]" for lower, length in zip(lowers, lengths)) + "="
        return f"'{bounds}{nested(lengths) if rng.random() > 0.05 else '{}' if not bounds else nested(lengths)}'::{name_of(ty)}"

    def arrays(self, only):
        """Statements over arrays of several shapes in one column: their order and equality, their parts, and assignments to these."""
        rng = self.rng
        ty = "_" + rng.choice(["int4", "int4", "int4", "text", "numeric", "int8", "date", "bool", "float8"])
        name, small = name_of(ty), lambda: rng.choice([0, 1, 1, 2, 2, 3, -1, 5, 8])
        x, y, z = self.array(ty), self.array(ty), self.array(ty)
        pool = [x, y, z, self.array(ty), f"NULL::{name}", f"'{{}}'::{name}"]
        rows = lambda: ", ".join(f"({n}, {rng.choice(pool)})" for n in range(rng.randint(2, 6)))
        part = lambda: "".join(f"[{small()}]" if rng.random() < 0.5 else f"[{rng.choice(['', small()])}:{rng.choice(['', small()])}]" for _ in range(rng.choice([1, 1, 2, 2, 3])))
        element = self.value(ty[1:])
        over = f"FROM (VALUES {rows()}) AS v(id, a)"
        both = f"FROM (VALUES {rows()}) AS v(id, a), (VALUES {rows()}) AS w(id, b)"
        assigned = rng.choice([f"{part()} = {y}", f"[{small()}] = {element}", f"[{small()}][{small()}] = {element}", f"[{small()}:{small()}] = {y}", f"[{small()}:{small()}][{small()}:{small()}] = {y}", f"[{small()}:][:{small()}] = {z}"])
        forms = {
            "order": f"SELECT id, a {over} ORDER BY a{rng.choice(['', ' DESC', ' NULLS FIRST'])}, id", "group": f"SELECT a, count(*), min(id) {over} GROUP BY a ORDER BY a",
            "distinct": f"SELECT DISTINCT a {over} ORDER BY a", "union": f"SELECT a {over} {rng.choice(['UNION', 'INTERSECT', 'EXCEPT', 'UNION ALL'])} SELECT a FROM (VALUES {rows()}) AS w(id, a) ORDER BY 1",
            "join": f"SELECT v.id, w.id {both} WHERE a {rng.choice(['=', '<', '<>', '>=', '@>', '&&', '<@'])} b ORDER BY 1, 2",
            "not distinct": f"SELECT v.id, w.id {both} WHERE a IS {rng.choice(['', 'NOT '])}DISTINCT FROM b ORDER BY 1, 2",
            "in": f"SELECT id, a IN ({x}, {y}), a NOT IN ({y}, {z}, NULL) {over} ORDER BY id",
            "in query": f"SELECT id FROM (VALUES {rows()}) AS v(id, a) WHERE a {rng.choice(['IN', 'NOT IN', '= ANY', '<> ALL', '< ANY', '>= ALL'])} (SELECT b FROM (VALUES {rows()}) AS w(id, b)) ORDER BY id",
            "extremes": f"SELECT min(a), max(a), count(DISTINCT a), greatest({x}, {y}), least({y}, {z}) {over}", "array_agg": f"SELECT array_agg(a ORDER BY id) {over}{rng.choice(['', ' WHERE a IS NOT NULL', f' WHERE array_dims(a) = array_dims({x})'])}",
            "array query": f"SELECT ARRAY(SELECT a {over} ORDER BY id)", "constructor": f"SELECT ARRAY[{x}, {rng.choice([x, y])}], ARRAY[a, a] {over} ORDER BY id",
            "parts": f"SELECT id, (a){part()}, (a){part()} {over} ORDER BY id",
            "shape": f"SELECT id, array_ndims(a), array_dims(a), cardinality(a), array_length(a, {small()}), array_lower(a, {small()}), array_upper(a, {small()}) {over} ORDER BY id",
            "grow": f"SELECT id, {rng.choice([f'a || {y}', f'{y} || a', f'a || {element}', f'{element} || a', f'array_cat(a, {y})', f'array_append(a, {element})', f'array_prepend({element}, a)'])} {over} ORDER BY id",
            "search": f"SELECT id, {rng.choice([f'array_position(a, {element})', f'array_positions(a, {element})', f'array_remove(a, {element})', f'array_replace(a, {element}, NULL)', f'trim_array(a, {small()})', f'{element} = ANY (a)', f'{element} < ALL (a)', f'array_position(a, {element}, {small()})'])} {over} ORDER BY id",
            "fill": f"SELECT array_fill({element}, {rng.choice(['ARRAY[2]', 'ARRAY[2,1]', 'ARRAY[1,2,2]', 'ARRAY[0]', self.value('_int4')])}{rng.choice(['', ', ARRAY[0]', ', ARRAY[2,-1]', ', ' + self.value('_int4')])})",
            "rows": f"SELECT id, u, n {over}, LATERAL {rng.choice(['unnest(a) WITH ORDINALITY', f'generate_subscripts(a, {small()}) WITH ORDINALITY', f'generate_subscripts(a, 1, true) WITH ORDINALITY'])} AS u(u, n) ORDER BY id, n",
            "text": f"SELECT id, a::text, array_to_string(a, ',', '*'), to_json(a), to_jsonb(a), array_to_json(a), a::text[], row(a, id) {over} ORDER BY id",
            "choice": f"SELECT id, CASE WHEN id % 2 = 0 THEN a ELSE {y} END, coalesce(a, {z}), nullif(a, {x}) {over} ORDER BY id",
            "assign": f"CREATE TEMP TABLE shaped (id int PRIMARY KEY, a {name}{rng.choice(['', '[]', '[3]'])}) ON COMMIT DROP; INSERT INTO shaped VALUES {rows()}; UPDATE shaped SET a{assigned}; SELECT * FROM shaped ORDER BY id",
            "assign insert": f"CREATE TEMP TABLE shaped (id int, a {name}) ON COMMIT DROP; INSERT INTO shaped (id, a{part()}) VALUES (1, {y}); SELECT * FROM shaped",
            "stored": f"CREATE TEMP TABLE shaped (id int PRIMARY KEY, a {name}) ON COMMIT DROP; {rng.choice(['CREATE INDEX ON shaped (a); ', 'CREATE UNIQUE INDEX ON shaped (a); ', ''])}INSERT INTO shaped VALUES {rows()}; SELECT id, a, array_dims(a) FROM shaped WHERE a {rng.choice(['=', '<', '>=', '<>', 'IS DISTINCT FROM'])} {x} ORDER BY a, id",
        }
        if element is None:
            return None
        label = rng.choice([f for f in forms if only in f] or list(forms))
        return f"arrays {label}", forms[label]

    def values(self, types, depth):
        out = [self.value(t, depth) for t in self.concrete(types)]
        return None if any(v is None for v in out) else out

    def call(self, f, depth):
        name, types, kind, is_set, variadic, _ = f
        types = list(types)
        if variadic not in ("0", 0, None) and types:
            last = types.pop()
            types += [("any" if last == "any" else last.lstrip("_"))] * self.rng.randint(1, 3)
        args = self.values(types, depth)
        quoted = not name.islower() or name in KEYWORDS
        return None if args is None else f'{chr(34) + name + chr(34) if quoted else name}({", ".join(args)})'

    def over_columns(self, f):
        """A call over several rows, some arguments of which are the same in all."""
        types = list(f[1])
        if f[4] not in ("0", 0, None) or not types:
            return None
        types = self.concrete(types)
        rows = [[self.value(t) for t in types] for _ in range(self.rng.randint(1, 4))]
        if any(v is None for row in rows for v in row):
            return None
        fixed = [self.rng.random() < 0.3 for _ in types]
        args = [rows[0][i] if fixed[i] else f"c{i}" for i in range(len(types))]
        lines = ", ".join(f"({n}, {', '.join(row)})" for n, row in enumerate(rows))
        names = ", ".join(f"c{i}" for i in range(len(types)))
        quoted = f'"{f[0]}"' if not f[0].islower() or f[0] in KEYWORDS else f[0]
        return f"SELECT {quoted}({', '.join(args)}) AS x FROM (VALUES {lines}) AS v(id, {names}) ORDER BY id"

    def scalar(self, only):
        f = self.rng.choice([f for f in self.scalars if only in f[0]] or self.scalars)
        if self.rng.random() < 0.5:
            made = self.over_columns(f)
            return made and (f"{f[0]}({' '.join(f[1])})", made)
        made = self.call(f, self.rng.choice([0, 0, 0, 1, 2]))
        return made and (f"{f[0]}({' '.join(f[1])})", f"SELECT {made} AS x")

    def operator(self, only):
        name, left, right = self.rng.choice([o for o in self.operators if only in o[0]] or self.operators)
        args = self.values([t for t in (left, right) if t], self.rng.choice([0, 0, 1]))
        if args is None:
            return None
        if left and self.rng.random() < 0.5:
            more = self.values([left, right], 0)
            if more is None:
                return None
            return f"operator {left} {name} {right}", f"SELECT a {name} b AS x, a {name} {args[1]} AS y FROM (VALUES (1, {args[0]}, {args[1]}), (2, {more[0]}, {more[1]}), (3, NULL, {args[1]})) AS v(id, a, b) ORDER BY id"
        text = f"{name} {args[0]}" if left is None else f"{args[0]} {name} {args[1]}"
        return f"operator {left or ''} {name} {right}", f"SELECT {text} AS x"

    def cast(self, only):
        kind = self.rng.random()
        targets = [t for t in POOL if only in t] or list(POOL)
        if kind < 0.4:
            source, target = self.rng.choice([c for c in self.casts if only in c[0] or only in c[1]] or self.casts)
            modifier = ""
            if self.rng.random() < 0.4:
                modifier = {"numeric": "(6,2)", "varchar": "(3)", "bpchar": "(4)", "time": "(2)", "timetz": "(0)", "timestamp": "(1)", "timestamptz": "(3)", "interval": "(1)"}.get(target, "")
            value, other = self.value(source), self.value(source)
            if value and other and self.rng.random() < 0.4:
                return f"cast {source} as {target}", f"SELECT a::{name_of(target)}{modifier} AS x FROM (VALUES (1, {value}), (2, {other}), (3, NULL)) AS v(id, a) ORDER BY id"
            return value and (f"cast {source} as {target}", f"SELECT ({value})::{name_of(target)}{modifier} AS x")
        target = self.rng.choice(targets)
        if kind < 0.8:
            text = self.rng.choice(TEXTS_FOR_INPUT).replace("'", "''")
            return f"input {target}", f"SELECT '{text}'::{name_of(target)} AS x"
        source = self.rng.choice(list(POOL))
        value = self.value(source)
        return value and (f"cast {source} as {target}", f"SELECT ({value})::{name_of(target)} AS x")

    def construct(self, only):
        rng = self.rng
        a, b = rng.choice(list(POOL)), rng.choice(list(POOL))
        if rng.random() < 0.6:
            b = a
        x, y, z = self.value(a), self.value(b), self.value(a)
        if rng.random() < 0.3:
            y = rng.choice(POOL[b])
        i, t = self.value("int4"), self.value("text")
        source = ""
        if x and y and z and rng.random() < 0.4:
            second = [self.value(a), y, self.value(a), self.value("int4"), self.value("text")]
            if all(second):
                source = f" FROM (VALUES (1, {x}, {y}, {z}, {i}, {t}), (2, {', '.join(second)})) AS v(id, x, y, z, i, t) ORDER BY id"
                x, y, z, i, t = "x", "y", "z", "i", "t"
        field = rng.choice(["year", "month", "day", "hour", "minute", "second", "milliseconds", "microseconds", "epoch", "dow", "isodow", "doy", "week", "quarter", "isoyear", "century",
                            "decade", "millennium", "timezone", "julian"])
        when = self.value(rng.choice(["date", "timestamp", "timestamptz", "interval", "time", "timetz"]))
        forms = {
            "case": f"CASE WHEN {self.value('bool')} THEN {x} ELSE {y} END", "case value": f"CASE {x} WHEN {y} THEN 1 WHEN {z} THEN 2 END",
            "coalesce": f"coalesce({x}, {y})", "nullif": f"nullif({x}, {y})", "greatest": f"greatest({x}, {y}, {z})", "least": f"least({x}, {y})", "in": f"{x} IN ({y}, {z})",
            "not in": f"{x} NOT IN ({y}, {z})", "between": f"{x} BETWEEN {y} AND {z}", "distinct": f"{x} IS DISTINCT FROM {y}", "array": f"ARRAY[{x}, {y}]", "row": f"ROW({x}, {y})",
            "row compare": f"ROW({x}, {i}) < ROW({y}, 1)", "any": f"{x} = ANY (ARRAY[{y}, {z}])", "all": f"{x} < ALL (ARRAY[{y}, {z}])", "like": f"{t} LIKE {self.value('text')}",
            "ilike": f"{t} ILIKE {self.value('text')}", "similar": f"{t} SIMILAR TO {self.value('text')}", "escape": f"{t} LIKE {self.value('text')} ESCAPE '!'", "substring": f"substring({t} FROM {i} FOR {self.value('int4')})",
            "substring re": f"substring({t} FROM {self.value('text')})", "overlay": f"overlay({t} PLACING {self.value('text')} FROM {i})", "position": f"position({self.value('text')} IN {t})",
            "trim": f"trim(BOTH {self.value('text')} FROM {t})", "extract": f"extract({field} FROM {when})", "date_part": f"date_part('{field}', {when})", "date_trunc": f"date_trunc('{field}', {when})",
            "at zone": f"{self.value(rng.choice(['timestamp', 'timestamptz', 'timetz']))} AT TIME ZONE {rng.choice(['UTC', 'Europe/Paris', '+05:30', 'EST', 'PST8PDT', 'nowhere', 'Asia/Tokyo']).join([chr(39)] * 2)}",
            "subscript": f"({self.value('_int4')})[{i}]", "slice": f"({self.value('_int4')})[{i}:{self.value('int4')}]", "is null": f"{x} IS NULL", "is true": f"{self.value('bool')} IS NOT TRUE",
            "concat": f"{x} || {y}", "compare": f"{x} {rng.choice(['<', '=', '>=', '<>'])} {y}", "arith": f"{x} {rng.choice(['+', '-', '*', '/', '%'])} {y}", "unary": f"- {x}",
            "typeof": f"pg_typeof({x})", "format": f"format('%s|%L|%I', {x}, {y}, {t})", "to_char n": f"to_char({self.value(rng.choice(['int4', 'int8', 'numeric', 'float8', 'float4']))}, {rng.choice(NUMBER_FORMATS).join([chr(39)] * 2)})",
            "to_char d": f"to_char({self.value(rng.choice(['timestamp', 'timestamptz', 'interval', 'date']))}, {rng.choice(DATE_FORMATS).join([chr(39)] * 2)})", "to_json": f"to_json({x})", "to_jsonb": f"to_jsonb({x})",
            "to_date": f"to_date({rng.choice(DATE_TEXTS).join([chr(39)] * 2)}, {rng.choice(DATE_FORMATS).join([chr(39)] * 2)})", "to_number": f"to_number({rng.choice(NUMBER_TEXTS).join([chr(39)] * 2)}, {rng.choice(NUMBER_FORMATS).join([chr(39)] * 2)})",
            "to_timestamp": f"to_timestamp({rng.choice(DATE_TEXTS).join([chr(39)] * 2)}, {rng.choice(DATE_FORMATS).join([chr(39)] * 2)})", "jsonb build": f"jsonb_build_object({t}, {x}, 'k', {y})",
            "regexp": f"regexp_replace({t}, {rng.choice(REGEXPS).join([chr(39)] * 2)}, '<\\1\\&>', '{rng.choice(['', 'g', 'i', 'gi', 'x', 'n'])}')", "regexp match": f"regexp_match({t}, {rng.choice(REGEXPS).join([chr(39)] * 2)})",
            "regexp op": f"{t} {rng.choice(['~', '~*', '!~', '!~*'])} {rng.choice(REGEXPS).join([chr(39)] * 2)}", "regexp split": f"regexp_split_to_array({t}, {rng.choice(REGEXPS).join([chr(39)] * 2)})",
            "jsonpath": f"jsonb_path_query_array({self.value('jsonb')}, {rng.choice(PATHS).join([chr(39)] * 2)})", "interval": f"interval {rng.choice(INTERVALS).join([chr(39)] * 2)}{rng.choice(['', ' year', ' day to second', ' hour', ' second(2)', ' month', ' minute to second'])}",
        }
        if x is None or y is None or z is None:
            return None
        names = [n for n in forms if only in n] or list(forms)
        name = rng.choice(names)
        return f"construct {name}", f"SELECT {forms[name]} AS x{source}"

    def composed(self, only):
        """Texts that are read by rules of their own, put together from pieces: formats, patterns, paths, dates, intervals, numbers."""
        rng = self.rng
        some = lambda pieces, least, most, glue="": glue.join(rng.choice(pieces) for _ in range(rng.randint(least, most)))
        text = lambda s: "'" + s.replace("'", "''") + "'"
        kind = rng.choice([k for k in ("number format", "to_number", "date format", "to_timestamp", "pattern", "like", "path", "interval", "date", "numeric", "array", "document", "split", "format", "zone") if only in k] or ["numeric"])
        number = lambda: rng.choice(["", "-"]) + some("0123456789", 1, rng.choice([1, 3, 9, 20, 40])) + (("." + some("0123456789", 1, rng.choice([1, 4, 20]))) if rng.random() < 0.6 else "") + (f"e{rng.randint(-20, 20)}" if rng.random() < 0.15 else "")
        when = lambda: (f"'{rng.choice([rng.randint(1, 9999), rng.randint(1970, 2040), 2024]):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} "
                        f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}{rng.choice(['', '.5', '.123456', '.999999'])}'")
        number_format = lambda: rng.choice(["", "FM", "S", "L", "SG", "PL", "MI", "$"]) + rng.choice("90") + some(["9", "0", "99", "999", ",", "G", "9,9", "00"], 0, 4) + rng.choice(["", ".", "D", ".99", "D00", ".9", "V9", "V99"]) + rng.choice(["", "", "MI", "PR", "S", "TH", "th", "EEEE", "SG", "PL"])
        pieces = ["YYYY", "YYY", "YY", "Y", "IYYY", "Y,YYY", "MM", "Mon", "MON", "mon", "Month", "MONTH", "month", "DD", "DDD", "D", "ID", "IDDD", "Day", "DAY", "Dy", "dy", "HH", "HH12", "HH24", "MI", "SS", "MS", "US", "FF1", "FF4", "SSSS", "AM", "p.m.", "CC", "BC", "a.d.", "Q", "W", "WW", "IW",
                  "J", "RM", "rm", "TZH", "TZM", "OF", "TZ", "FMDD", "FMMM", "FMMonth", "FMHH24", "DDth", "DDTH", "FMDDth", "\"at\"", "TMMonth"]
        date_format = lambda usable=pieces: some(usable, 1, 5, "\0").replace("\0", rng.choice(["-", " ", ":", "", "/", ", "]))
        if kind == "number format":
            sql = f"to_char({rng.choice([number() + '::numeric', number() + '::float8', str(rng.randint(-99999, 99999)), '0', '0.5', '-0.01'])}, {text(number_format())})"
        elif kind == "to_number":
            form = number_format().replace("EEEE", "")
            sql = rng.choice([f"to_number(to_char({number()}::numeric, {text(form)}), {text(form)})", f"to_number({text(number())}, {text(form)})"])
        elif kind == "date format":
            sql = f"to_char({rng.choice(['timestamp', 'timestamptz', 'timestamp', 'interval', 'date'])} {{}}, {text(date_format())})"
            sql = sql.format("'" + rng.choice(INTERVALS[:10]) + "'") if "interval" in sql else sql.format(when())
        elif kind == "to_timestamp":
            form = date_format([p for p in pieces if p not in ("OF", "TZ", "TZH", "TZM")])
            sql = f"{rng.choice(['to_timestamp', 'to_date'])}({rng.choice([f'to_char(timestamp {when()}, {text(form)})', text(rng.choice(DATE_TEXTS))])}, {text(form)})"
        elif kind == "pattern":
            atoms = ["a", "b", "ab", ".", "[a-c]", "[^b]", "\\d", "\\w", "\\s", "(a)", "(b|c)", "(?:ab)", "^", "$", "\\m", "\\M", "[[:alpha:]]", "x", "\\.", "(a*)", "\\1", "\\D", "é", "(?=b)", "(?!a)", "-", "|", "\\y"]
            pattern = "".join(a + rng.choice(["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?", "{0,}"]) for a in (rng.choice(atoms) for _ in range(rng.randint(1, 4))))
            subject = some(["a", "b", "c", "ab", "1", " ", "é", "x", ".", "A", "-"], 0, 8)
            sql = rng.choice([f"regexp_replace({text(subject)}, {text(pattern)}, '<\\1\\&>', {text(rng.choice(['', 'g', 'i', 'gn']))})", f"regexp_match({text(subject)}, {text(pattern)})", f"{text(subject)} ~ {text(pattern)}", f"regexp_split_to_array({text(subject)}, {text(pattern)})", f"substring({text(subject)} from {text(pattern)})",
                              f"regexp_count({text(subject)}, {text(pattern)})", f"regexp_instr({text(subject)}, {text(pattern)}, 1, {rng.randint(1, 2)})", f"regexp_substr({text(subject)}, {text(pattern)})", f"array(SELECT regexp_matches({text(subject)}, {text(pattern)}, 'g'))"])
        elif kind == "like":
            pattern = some(["a", "b", "%", "_", "\\%", "\\_", "\\\\", "é", "A", "ab"], 0, 5)
            subject = some(["a", "b", "%", "_", "\\", "é", "A"], 0, 6)
            similar = some(["a", "b", "%", "_", "(a|b)", "*", "+", "?", "[ab]", "[^a]", "{2}", "\\%", "|", ".", "^", "$"], 0, 4)
            sql = rng.choice([f"{text(subject)} LIKE {text(pattern)}", f"{text(subject)} ILIKE {text(pattern)}", f"{text(subject)} SIMILAR TO {text(similar)}", f"{text(subject)} LIKE {text(pattern)} ESCAPE {rng.choice([chr(39) * 2, text('a'), text('!')])}"])
        elif kind == "path":
            step = lambda: rng.choice([".a", ".b", "[*]", "[0]", "[last]", "[0 to 1]", ".*", ".**", ".size()", ".type()", ".double()", ".abs()", ".floor()", ".keyvalue()", ".x", "[1, 0]", ".**{1}", ".c"])
            inner = lambda: rng.choice(["@ > 1", "@.a == 1", "@ == null", "exists (@.a)", '@ starts with "a"', '@ like_regex "^a"', "@.type() == \"number\"", "!(@ < 2)", "@ == 1 || @ == 2", "@ > 0 && @ < 3", "(@ > 1) is unknown", "@ != $v", "@.b[*] > 1"])
            path = rng.choice(["", "", "strict "]) + "$" + "".join(step() + (f" ? ({inner()})" if rng.random() < 0.3 else "") for _ in range(rng.randint(0, 3))) + rng.choice(["", "", "", " + 1", " * 2", " == 1", " > 1", " - $v"])
            sql = f"{rng.choice(['jsonb_path_query_array', 'jsonb_path_query_first', 'jsonb_path_exists', 'jsonb_path_match'])}({self.value('jsonb')}, {text(path)}, '{{\"v\": 1}}'{rng.choice(['', ', true'])})"
        elif kind == "interval":
            unit = ["year", "years", "mon", "months", "day", "days", "week", "hour", "hours", "min", "minutes", "sec", "second", "ms", "us", "decade", "century", "y", "m", "d", "h", "s", "mins", "hrs", "fortnight"]
            sql = f"interval {text(some([f'{rng.choice([1, -1, 2.5, 30, -0.5, 100, 1.75])} {rng.choice(unit)}' for _ in range(3)] + ['1:02:03', '-4:05', 'ago', '1-2', '@', '12', '-1.5'], 1, 3, ' '))}{rng.choice(['', '', '', ' year to month', ' day to hour', ' second(3)', ' hour to second', ' day'])}" + rng.choice(["", " * 1.5", " / 3", " + interval '1 mon -1 day'", "::text", " * -2.25"])
        elif kind == "date":
            parts = some(["2024", "01", "13", "31", "Jan", "february", "5", "24", "10:20", "10:20:30.5", "PM", "am", "BC", "AD", "Mon", "Z", "+02", "-05:30", "UTC", "EST", "Europe/Paris", "2024-02-29", "1999/12/31", "3.4.2005", "20240131", "T102030", "J2460000", "2024-060", "99"], 1, 4, rng.choice([" ", " ", "-", "/", "."]))
            if rng.random() < 0.1:
                parts = rng.choice(["epoch", "infinity", "-infinity", "allballs", "noon"])
            sql = f"{text(parts)}::{rng.choice(['date', 'timestamp', 'timestamptz', 'time', 'timetz'])}"
        elif kind == "numeric":
            a, b = number(), number()
            sql = rng.choice([f"({a})::numeric {rng.choice(['+', '-', '*', '/', '%'])} ({b})::numeric", f"round(({a})::numeric, {rng.randint(-5, 8)})", f"trunc(({a})::numeric, {rng.randint(-5, 8)})", f"sqrt(abs(({a})::numeric))", f"div(({a})::numeric, ({b})::numeric)", f"({a})::numeric({rng.randint(1, 30)},{rng.randint(0, 8)})", f"({a})::float8", f"({a})::float4",
                              f"({a})::float8::numeric", f"ln(abs(({a})::numeric) + 1)", f"power(abs(({a})::numeric % 1000), {rng.choice(['2', '0.5', '-1', '3.5', '0'])})", f"exp(({a})::numeric % 50)", f"({a})::numeric::{rng.choice(['int2', 'int4', 'int8'])}", f"({a})::float8::{rng.choice(['int2', 'int4', 'int8'])}", f"{text(a)}::{rng.choice(['int4', 'int8', 'numeric', 'float8', 'float4'])}",
                              f"({a})::float8 {rng.choice(['+', '-', '*', '/'])} ({b})::float8", f"log({rng.choice(['2', '10', '3.5'])}, abs(({a})::numeric) + 1)", f"pg_typeof({a})", f"width_bucket(({a})::numeric, -100, 100, 7)", f"scale(({a})::numeric * ({b})::numeric)", f"({a})::float4 + ({b})::float4"])
        elif kind == "array":
            item = lambda: rng.choice(["1", "2", "NULL", "a", "\"x y\"", "", " b ", "{1,2}", "{}", "\\\\", "\"\"", "3.5", "null", "\"NULL\""])
            literal = "{" + ",".join(item() for _ in range(rng.randint(0, 4))) + rng.choice(["}", "}", "}", "", "}x", " }"])
            sql = f"{text(literal)}::{rng.choice(['text[]', 'int[]', 'numeric[]', 'float8[]', 'bool[]', 'jsonb[]'])}" + rng.choice(["", "", "::text", " = '{}'", " || '{}'"])
        elif kind == "document":
            def document(depth):
                pick = rng.random()
                if depth > 0 and pick < 0.3:
                    return "{" + rng.choice([", ", ","]).join(f'"{rng.choice("abck")}": {document(depth - 1)}' for _ in range(rng.randint(0, 3))) + "}"
                if depth > 0 and pick < 0.55:
                    return "[" + ", ".join(document(depth - 1) for _ in range(rng.randint(0, 3))) + "]"
                return rng.choice(["1", "-2.50", "1e3", "true", "null", '"s"', '"é\\u0041"', '""', "0.10", "nul", "01", "'x'", '"\\n"', "12345678901234567890"])
            one, two = document(3), document(2)
            key = rng.choice(["a", "b", "0", "k", "-1"])
            sql = rng.choice([f"{text(one)}::jsonb", f"{text(one)}::json", f"{text(one)}::jsonb || {text(two)}::jsonb", f"{text(one)}::jsonb @> {text(two)}::jsonb", f"{text(one)}::jsonb - {text(key)}", f"{text(one)}::jsonb -> {text(key)}", f"{text(one)}::json -> {text(key)}", f"{text(one)}::jsonb #> '{{{key},b}}'", f"{text(one)}::jsonb = {text(two)}::jsonb", f"{text(one)}::jsonb < {text(two)}::jsonb",
                              f"jsonb_set({text(one)}, '{{{key}}}', {text(two)})", f"jsonb_insert({text(one)}, '{{{key},0}}', {text(two)})", f"{text(one)}::jsonb #- '{{{key},a}}'", f"jsonb_strip_nulls({text(one)})", f"jsonb_pretty({text(one)})", f"json_strip_nulls({text(one)})", f"array(SELECT jsonb_path_query({text(one)}, '$.**'))", f"array(SELECT json_object_keys({text(one)}))", f"({text(one)}::jsonb ->> {text(key)})::int"])
        elif kind == "split":
            subject, delimiter = some("ab,, x", 0, 9), rng.choice([",", "", "ab", ",,", " "])
            sql = rng.choice([f"split_part({text(subject)}, {text(delimiter)}, {rng.randint(-3, 4)})", f"string_to_array({text(subject)}, {text(delimiter)}{rng.choice(['', ', ' + text('a')])})", f"translate({text(subject)}, {text(some('abx,', 0, 3))}, {text(some('123', 0, 3))})", f"substr({text(subject)}, {rng.randint(-3, 5)}, {rng.randint(-1, 5)})", f"overlay({text(subject)} placing {text(delimiter)} from {rng.randint(0, 6)} for {rng.randint(-1, 4)})",
                              f"btrim({text(subject)}, {text(delimiter)})", f"lpad({text(subject)}, {rng.randint(-1, 9)}, {text(delimiter)})", f"replace({text(subject)}, {text(delimiter)}, 'Z')", f"left({text(subject)}, {rng.randint(-5, 5)})", f"strpos({text(subject)}, {text(delimiter)})", f"initcap({text(subject)})"])
        elif kind == "format":
            form = some(["%s", "%I", "%L", "%%", "%1$s", "%2$L", "%-5s", "%5s", "%*s", " x ", "%3$s", "%-*s", "%1$*2$s", "%z", "%"], 1, 4)
            sql = f"format({text(form)}" + "".join(", " + rng.choice(["1", "'a b'", "NULL", "'it''s'", "true", "3", "ARRAY[1,2]", "-4"]) for _ in range(rng.randint(0, 3))) + ")"
        else:
            zone = rng.choice(["UTC", "Europe/London", "America/St_Johns", "Asia/Kathmandu", "Australia/Sydney", "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca", "EST5EDT", "+03", "-04:30", "CET", "PST", "Asia/Tehran", "Antarctica/Troll"])
            sql = rng.choice([f"timestamp {when()} AT TIME ZONE '{zone}'", f"timestamptz {when()[:-1]}+00' AT TIME ZONE '{zone}'", f"date_trunc('{rng.choice(['day', 'hour', 'week', 'month'])}', timestamptz {when()[:-1]}+00', '{zone}')", f"{when()[:-1]} {zone}'::timestamptz", f"extract(epoch from timestamp {when()} AT TIME ZONE '{zone}')", f"to_char(timestamptz {when()[:-1]}-03', 'TZ OF HH24')"])
        return f"composed {kind}", f"SELECT {sql} AS x"

    def rows(self, columns):
        lines = []
        for n in range(self.rng.randint(0, 6)):
            cells = [self.value(t) for t in columns]
            if any(c is None for c in cells):
                return None
            lines.append(f"({n}, {', '.join(cells)})")
        names = ", ".join(f"c{i}" for i in range(len(columns)))
        if not lines:
            casts = ", ".join(f"NULL::{name_of(t)}" for t in columns)
            return f"(SELECT 0, {casts} WHERE false) AS v(id, {names})" if all(t in POOL or t.startswith("_") for t in columns) else None
        return f"(VALUES {', '.join(lines)}) AS v(id, {names})"

    def aggregate(self, only):
        rng = self.rng
        name, types, _, _, variadic, _ = f = rng.choice([f for f in self.aggregates if only in f[0]] or self.aggregates)
        concrete = self.concrete(types)
        ordered_set = name in ("percentile_cont", "percentile_disc", "mode", "rank", "dense_rank", "percent_rank", "cume_dist")
        if name in ("rank", "dense_rank", "percent_rank", "cume_dist"):
            concrete = [rng.choice(ELEMENTS)]
        if any(t == "record" or t == "internal" for t in concrete):
            return None
        source = self.rows(concrete or ["int4"])
        if source is None:
            return None
        columns = [f"c{i}" for i in range(len(concrete))]
        label = f"aggregate {name}({' '.join(types)})"
        if ordered_set:
            direct = {"percentile_cont": rng.choice(["0.5", "0", "1", "0.25", "1.5", "'{0.1,0.9}'"]), "percentile_disc": rng.choice(["0.5", "0.9", "'{0,1}'"]), "mode": ""}.get(name, self.value(concrete[0]))
            if direct is None:
                return None
            key = columns[-1]
            return label, f"SELECT {name}({direct}) WITHIN GROUP (ORDER BY {key}{rng.choice(['', ' DESC'])}) AS x FROM {source}"
        inner = ", ".join(columns) or "*"
        shape = rng.random()
        clause = ""
        if columns and shape < 0.2:
            inner = "DISTINCT " + inner
        elif columns and shape < 0.5:
            clause = f" ORDER BY {columns[0]}{rng.choice(['', ' DESC', ' NULLS FIRST'])}, id"
        elif columns:
            clause = " ORDER BY id"
        filters = rng.choice(["", "", " FILTER (WHERE id > 1)"])
        return label, f"SELECT {name}({inner}{clause}){filters} AS x FROM {source}"

    def window(self, only):
        rng = self.rng
        f = rng.choice([f for f in self.windows + self.aggregates if only in f[0]] or self.windows)
        name, types = f[0], f[1]
        if name in ("percentile_cont", "percentile_disc", "mode") or f[2] == "a" and name in ("rank", "dense_rank", "percent_rank", "cume_dist"):
            return None
        concrete = self.concrete(types)
        key = rng.choice(["int4", "numeric", "float8", "int8", "date", "text"])
        source = self.rows([key, *concrete])
        if source is None or any(t in ("record", "internal") for t in concrete):
            return None
        args = [f"c{i + 1}" for i in range(len(concrete))]
        if name in ("ntile", "nth_value", "lag", "lead"):
            args = [a if t not in ("int4",) or name == "ntile" and rng.random() < .3 else rng.choice(["1", "2", "0", "id"]) for a, t in zip(args, types)]
        over = rng.choice(["", "PARTITION BY id % 2 "]) + rng.choice(["ORDER BY c0, id", "ORDER BY c0 DESC, id", "ORDER BY id", "ORDER BY c0", "ORDER BY c0 NULLS FIRST"])
        if name.endswith("_agg") or name in ("array_agg", "first_value", "last_value", "nth_value", "lag", "lead", "row_number", "ntile"):
            over = rng.choice(["", "PARTITION BY id % 2 "]) + rng.choice(["ORDER BY c0, id", "ORDER BY id", "ORDER BY id DESC"])
        frame = rng.choice(FRAMES)
        if key == "date":
            frame = frame.replace("RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING", "RANGE BETWEEN '1 month' PRECEDING AND '10 days' FOLLOWING")
        exclude = rng.choice(EXCLUDES) if frame else ""
        inner = ", ".join(args) or ("*" if name == "count" else "")
        return f"window {name}({' '.join(types)})", f"SELECT id, {name}({inner}) OVER ({over} {frame} {exclude}) AS x FROM {source} ORDER BY id"

    def set(self, only):
        rng = self.rng
        f = rng.choice([f for f in self.sets if only in f[0]] or self.sets)
        if f[5] == "record" or "record" in f[1]:
            return None
        made = self.call(f, 0)
        if made is None or f[0] == "generate_series" and rng.random() < 0.5:
            made = "generate_series({}, {}, {})".format(*rng.choice([("1", "5", "2"), ("5", "1", "-2"), ("1", "3", "0"), ("1.1", "2.2", "0.5"), ("'2024-01-31'::timestamp", "'2024-05-01'", "'1 month'"),
                ("'2024-03-30'::timestamptz", "'2024-04-02'", "'1 day'"), ("1::bigint", "3", "1"), ("NULL::int", "3", "1"), ("2147483646", "2147483647", "1"), ("'NaN'::numeric", "1", "1")]))
        if f[0] == "generate_series" and "generate_series(1, 5" not in made and any(big in made for big in ("2147483647", "9223372036854775807", "1000000", "99999999", "1e50", "1e-30", "12345678901", "'Infinity'", "infinity", "0.00001")):
            return None
        return f"set {f[0]}({' '.join(f[1])})", rng.choice([f"SELECT * FROM {made} AS t LIMIT 50", f"SELECT {made} AS x LIMIT 50", f"SELECT * FROM {made} WITH ORDINALITY AS t LIMIT 50"])


NUMBER_FORMATS = ["999", "9,999.99", "000.00", "S9999", "9999MI", "PR999", "999PR", "FM999.999", "L999", "99V9", "9.99EEEE", "RN", "FMRN", "999th", "SG999", "PL99", "0009.90", "$99", "9G999D99", "FM9990.0099", "", "B9999", "9999TH", "99.9S"]
DATE_FORMATS = ["YYYY-MM-DD", "YYYY-MM-DD HH24:MI:SS.US", "Dy, DD Mon YYYY", "FMDay FMDDth FMMonth", "Q IW IYYY ID", "J", "HH12:MI:SS AM", "YY/MM/DD", "SSSS", "TZ OF", "CC BC", "DDD", "WW W D", "MS US FF3", "Month", "RM rm", "DAY", "\"text\" YYYY", "YYYYMMDD", "a.m. p.m.", "Y,YYY", "TZH:TZM", "DD TMMonth", "SSSSS", "HH", "FF6", "ad", "FXYYYY-MM-DD", "MonDD"]
DATE_TEXTS = ["2024-02-29", "2024-02-29 13:14:15.678901", "Thu, 29 Feb 2024", "29/02/24", "2460370", "12:30:45 PM", "20240229", "february", "44 BC", "", "2024-13-01", "abc", "1,999", "060", "2024 5", "12"]
NUMBER_TEXTS = ["12,345.67", "-12", "12-", "<12>", "$5", "XII", "1.5e3", "", "abc", "  42 ", "+7", "1st"]
REGEXPS = ["a", "[a-z]+", "(b)(c)?", "^a|c$", "\\d+", "\\s", "x{2,}", "(", "[[:upper:]]", ".", "\\mabc\\M", "(?i)HELLO", "a*?", "(a)|(b)", "\\w+@", "[^abc]", "l+", "(?=b)", "é", "o (W)", "(.)\\1", "", "b*"]
PATHS = ["$", "$.a", "$.b[*]", "$[*]", "$.b[last]", "$.* ? (@.type() == \"number\")", "strict $.a.b", "$.a + 1", "$.b.size()", "-$.a", "$[0 to 1]", "$[*] ? (@ starts with \"t\")", "$[*] ? (@ like_regex \"^t\")", "$.keyvalue()", "$.a.double()", "$.**", "$ ? (exists (@.a))", "$.a ? (@ > 0 && @ < 5)", "$.b[1].floor()", "lax $[9]", "$.datetime()", "$.a.b.c", "$[*].a ? (@ == 1 || @ == 2)", "$.x is unknown", "("]
KINDS = ["scalar"] * 3 + ["operator", "cast", "arrays", "arrays"] + ["construct"] * 3 + ["aggregate", "window", "set"] + ["composed"] * 3
INTERVALS = ["1", "1-2", "1 2:03", "-1 day", "1 year ago", "1.5 hours", "3 weeks 4 days", "P1Y2M", "PT-5M", "1 2", "2:3:4.5", "@ 4 min", "1 fortnight", "", "1.123456789 s", "1 mon -1 day", "99999999 years", "1 century"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--binary", help="start this server")
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--statements", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="signatures whose name holds this")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--messages", action="store_true", help="list differing messages too")
    parser.add_argument("--examples", type=int, default=2)
    options = parser.parse_args()

    with server(options.binary, options.dsn) as dsn, database(options.oracle) as oracle:
        tally = Tally("expressions", options.examples)
        messages = run(tally, Side(dsn), Side(oracle), options.seed, options.statements, options.kinds.split(","), options.only)
    for label, cases in sorted(messages.items(), key=lambda kv: -len(kv[1])) if options.messages else []:
        print(f"MESSAGE {label}: {len(cases)}")
        for sql, ours, theirs in cases[:options.examples]:
            print(f"    {sql}\n      stoa:   {ours}\n      oracle: {theirs}")
    return tally.report()


def run(tally, stoa, oracle, seed, count, kinds=KINDS, only=""):
    """Compares `count` expressions; the same seed makes the same ones."""
    rng = random.Random(seed)
    maker = Maker(rng, *signatures(stoa, oracle))
    done, settings, messages = 0, [], collections.defaultdict(list)
    first = list(stoa.start)
    while done < count:
        if done % 200 == 0:
            settings = SETTINGS[(done // 200) % len(SETTINGS)]
            for side in (stoa, oracle):
                side.start = first + settings
                for statement in RESET + settings:
                    side.run(statement)
        made = getattr(maker, rng.choice(kinds))(only)
        if not made:
            continue
        done += 1
        label, sql = made
        if "\0" in sql:
            continue
        ours, theirs = tally.ask(stoa, oracle, sql)
        tally.judge(label, sql, ours, theirs, ours[:3] == theirs[:3], "; ".join(settings))
        if ours[:3] == theirs[:3] and ours[3] != theirs[3]:
            messages[label].append((sql, ours[3], theirs[3]))
    return messages


if __name__ == "__main__":
    sys.exit(main())
