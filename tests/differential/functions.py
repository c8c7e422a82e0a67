#!/usr/bin/env python3
"""Every function of PostgreSQL's pg_proc, family by family, called here and there with arguments that mean something to it.

    functions.py --oracle DSN [--dsn DSN] [--calls N] [--seed N] [--only REGEX] [--list]

Unlike expressions.py this takes the list of functions from PostgreSQL: what Stoa does not have is a difference (42883), unless it stands
in LEFT_OUT with its reason. Each signature is called with typical, NULL, edge and wrong arguments from a pool that knows what the
function reads (a pattern, a format, a field, a path), at most N times. --list prints what is left out, and why.
"""
import argparse
import collections
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from expressions import DATE_FORMATS, DATE_TEXTS, INTERVALS, NUMBER_FORMATS, NUMBER_TEXTS, PATHS, POOL, REGEXPS, name_of  # noqa: E402
from sides import Side, Tally  # noqa: E402

# Reason: functions, as regular expressions over the whole name.
LEFT_OUT = {
    "types that Stoa does not have": r".*(range|multirange|xml|inet|cidr|macaddr|money|cash|box|circle|poly|point|lseg|path_|line|bit_).*|xml.*|tsvector.*|tsquery.*|ts_.*|setweight|strip|numnode|querytree|array_to_tsvector|jsonb?_to_tsvector|to_tsvector|.*to_tsquery|get_current_ts_config",
    "large objects, files of the server, extensions": r"lo_.*|loread|lowrite|pg_ls_.*|pg_read_.*|pg_stat_file|pg_file.*|pg_(available|extension).*|pg_config|pg_current_logfile|pg_rotate.*|pg_hba.*|pg_ident_file.*",
    "the machinery of types, indexes, aggregates, foreign keys": r".*(_in|in|_out|out|_recv|recv|_send|send|typmodin|typmodout|_accum.*|_combine|_transfn|_finalfn|_serialize|_deserialize|_support|handler|_validator|sel|selfuncs|joinsel|_trans|_final|_subdiff|_canonical|sortsupport|_consistent|_compress|_union|_penalty|_picksplit|_same|_options|_inv)|(gin|gist|brin|spg|hash|bt|binary_upgrade|RI_|i[0-9]|in_range|amvalidate|unique_key|suppress|trigger|event_trigger|fmgr|plpgsql|shell|fdw|postgresql_fdw|satisfies_hash).*",
    "replication, the write-ahead log, recovery, physical storage": r"pg_(replication|logical|create_|drop_|copy_|wal|walfile|backup|is_wal|last_|promote|xact|current_wal|current_snapshot|snapshot|export|stat|control|get_wal|get_repl|get_pub|switch|show|nextoid|column_compr|relation_fil|filenode|partition|tablespace|log_|prepared|lock_status|cursor|stop_|safe_snapshot|isolation|get_catalog|get_shmem|get_backend|indexam|event|mcv|ndistinct|dependencies|statistics).*|txid.*|.*(xid|cid|tid|lsn|mcv|snapshot).*|pg_.*xact.*|pg_last.*",
    "the clock, chance, the session and its server": r"now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|random|setseed|gen_random_uuid|pg_backend_pid|pg_sleep.*|pg_postmaster_start_time|pg_conf_load_time|inet_.*|current_.*|session_user|version|pg_(terminate|cancel|reload|notif|listening|blocking|my_temp|is_other|export|trigger_depth|jit).*|getdatabaseencoding|pg_client_encoding|getpgusername|user|row_security_active|set_config|nextval|setval|currval|lastval|pg_notify|pg_advisory.*|pg_try_advisory.*|.*(query_to|table_to|schema_to|cursor_to|database_to).*",
    "objects of the catalogs, which have other OIDs": r"pg_get_.*|pg_(describe|identify|sequence|relation|table|indexes|total|database|size_bytes_x|tablespace|index|opclass|operator|opfamily|ts_|type_is|function_is|collation|conversion|char_to|encoding_max|options|timezone).*|has_.*|.*_description|to_reg.*|regclass|aclexplode|acl.*|makeaclitem|hashacl.*|format_type|currtid.*|col_description|pg_column_is_updatable|pg_collation_actual_version|pg_import.*|pg_char_to_encoding",
    "conversions of encodings; Stoa knows UTF8": r".*(latin|win|koi8|euc|sjis|big5|gbk|gb18030|uhc|johab|iso8859|mic|shift_jis|iso_).*|convert.*|to_ascii|length\(bytea name\)",
    "length coercions: casts call them": r"bpchar|varchar|char|bit|varbit|interval|numeric|time|timetz|timestamp|timestamptz",
    "rows compared by a function": r"record_(eq|ne|lt|le|gt|ge)",
    "sizes of values, which are stored in another way": r"pg_column_size",
    "support of operators and aggregates, not called by users": r".*_cmp_.*|.*(_sum|_avg|int8inc.*|int4inc|int8dec.*|numeric_inc|float8_(corr|covar|regr|stddev|var).*|booland_.*|boolor_.*|pg_stop.*|elem_contained.*|record_image.*|bttext.*|like_sel|nameconcatoid|regexeqsel|.*_cmp|.*cmp|hash_.*|.*_hash.*|.*larger|.*smaller|ordered_set.*|hypothetical.*|array_agg_.*|string_agg_.*|jsonb?_(agg|object_agg)_.*|anytextcat|textanycat|_pattern_.*|.*_pattern_.*|mode_final|percentile_.*_final|window_.*|interval_(avg|sum).*)",
}

UNITS = ["year", "month", "day", "hour", "minute", "second", "milliseconds", "microseconds", "week", "quarter", "decade", "century", "millennium", "epoch", "dow", "isodow", "doy",
         "isoyear", "timezone", "timezone_hour", "timezone_minute", "julian", "DAY", "days", "bogus", ""]
ZONES = ["UTC", "Europe/Paris", "America/New_York", "+05:30", "-3", "EST", "PST8PDT", "Asia/Kolkata", "nowhere", "", "<+03>-3", "Australia/Lord_Howe"]
FORMATS = ["%s", "%s and %s", "%I.%L", "%1$s %2$s %1$s", "%-5s|%5s|", "%%", "%", "%z", "%3$s", "%*s", "%10L", "plain", ""]
STRINGS = ["", "a", "abc", "Hello World", "  both  ", "xxabcxx", "ÄÖÜ é 日本", "a,b,,c", "aaa", "12", "one two three", "a%b_c\\d", "tab\there", "A1b2C3", "foo.bar", "été", "😀😀", "NULL"]
JSON = ['null', '{}', '[]', '1.50', '"s"', '{"a": 1, "b": [1, 2, {"c": null}]}', '[1, "two", null, true, [3]]', '{"b": 2, "aa": 1, "a": {"b": {"c": "d"}}}', '[{"a": 1}, {"a": 2, "b": "x"}]',
        '{"a": null, "c": [null, {"d": null}]}', '{"x": "2024-02-29", "y": "10:20"}']
JSONPATHS = PATHS + ["$.x.datetime()", "$.a ? (@ == $v)", "$[*] ? (@ > $v)", "strict $[*].a", "$.a.**{1 to 2}", "$[*].ceiling()", "$.x like_regex \"^2\"", "$[last]", "$.abs()", "$.keyvalue().key"]
# (function, argument's place): what it reads; None stands for any place.
MEANS = {
    (r"date_trunc|date_part|extract|timestamp.*trunc", 0): UNITS, (r"date_trunc", 2): ZONES, (r"timezone", 0): ZONES, (r"make_timestamptz", 6): ZONES,
    (r"to_char", 1): NUMBER_FORMATS + DATE_FORMATS, (r"to_date|to_timestamp", 0): DATE_TEXTS, (r"to_date|to_timestamp", 1): DATE_FORMATS,
    (r"to_number", 0): NUMBER_TEXTS, (r"to_number", 1): NUMBER_FORMATS,
    (r"regexp_.*|regexp.*|substring|similar.*|textregex.*|text(ic)?(not)?regex.*", 1): REGEXPS + ["a(b*)c", "(?<x>a)", "\\", "[", "a{1,2}?", "\\Aab\\Z", "(?i)a", "[[:alpha:]]+"],
    (r"regexp_replace", 2): ["", "X", "<\\1>", "\\&\\&", "\\\\", "\\9"], (r"regexp_(match|matches|split.*|like)", 2): ["", "g", "i", "n", "x", "gi", "z", "s", "q", "c"],
    (r"regexp_replace", 3): ["g", "i", "gi", "", "1", "k"],
    (r"format", 0): FORMATS, (r"encode|decode", 1): ["hex", "base64", "escape", "HEX", "rot13", ""], (r"decode", 0): ["", "deadbeef", "DE AD", "zz", "abc", "aGVsbG8=", "aGVs bG8=", "a\\000b", "\\\\", "====", "aGVsbG8"],
    (r"normalize|is_normalized", 1): ["NFC", "NFD", "NFKC", "NFKD", "nfc", "xyz"], (r"unistr", 0): ["\\0061", "d\\0061t\\+000061", "\\u0441", "\\", "\\\\", "\\d800"],
    (r"jsonb_path.*", 1): JSONPATHS, (r"jsonb_path.*", 2): ['{}', '{"v": 1}', '{"v": "x"}', '[]', 'null'],
    (r"jsonb?_(extract_path|extract_path_text)", 1): ["a", "b", "0", "1", "-1", "c", "x", ""],
    (r"split_part", 1): [",", "", "b", "xx"], (r"string_to_(array|table)", 1): [",", "", " ", "ab"], (r"string_to_(array|table)", 2): ["", "b", "NULL"],
    (r"array_to_string", 1): [",", "", " | "], (r"array_to_string", 2): ["*", ""], (r"translate", 1): ["abc", "12", "", "aa"], (r"translate", 2): ["xyz", "x", ""],
    (r"lpad|rpad", 2): ["*", "", "xy", " "], (r"(b|l|r)trim", 1): ["x", " ", "xy", "", "a"], (r"like_escape|similar_to_escape", 1): ["\\", "", "!", "ab"],
    (r"like|notlike|.*like", 1): ["%", "a%", "_b_", "%b%", "", "a\\%b", "abc", "\\"], (r"quote_.*|initcap|upper|lower|reverse|ascii|length|md5|strpos|replace|repeat|left|right|substr|overlay|position|starts_with|translate|concat.*|char_length|octet_length|bit_length", None): STRINGS,
    (r"pg_size_bytes", 0): ["1", "1 kB", "1.5 MB", "-3GB", "1 TB", "x", "", "1e3 kB", "10 PB", "1 bytes", "1 B"],
    (r"parse_ident", 0): ["a.b", '"A"."b c"', "a.", "1a", "", 'a."', "A.B.c", "a.b[1]"], (r"chr", 0): None, (r"jsonb_set_lax", 4): ["use_json_null", "delete_key", "return_target", "raise_exception", "x"],
    (r"jsonb?_(typeof|array_length|.*)", 0): JSON, (r"jsonb_(contains|contained|concat|set.*|insert)", 1): JSON, (r"age|date_bin", None): None,
    (r"to_hex|to_char", 0): None, (r"width_bucket", 3): None,
}
INTEGERS = ["0", "1", "2", "3", "5", "-1", "-2", "10", "100"]
WIDE = ["2147483647", "-2147483648"]
OWN = {
    "_text": ["'{}'", "'{a,b,c}'", "'{a}'", "'{NULL,\"\",\"x y\"}'", "'{b,0}'", "'{a,b}'", "'{{a,b},{c,d}}'", "'{-1}'", "'{1,2,3,4}'", "'{k,v,k2}'"],
    "regtype": ["'int4'", "'text'"], "cstring": ["'abc'"], "record": ["ROW(1, 'a')", "ROW(NULL, 2.5)", "ROW()"],
    "int4": INTEGERS, "int8": INTEGERS + ["9223372036854775807", "(-9223372036854775808)"], "int2": INTEGERS,
    "interval": POOL["interval"] + [f"'{i}'" for i in INTERVALS],
}
ELEMENTS = ["int4", "text", "numeric", "date", "float8", "bool", "timestamp", "jsonb", "interval", "bytea"]


class Calls:
    def __init__(self, rng):
        self.rng = rng

    def literal(self, name, place, ty):
        rng = self.rng
        if rng.random() < 0.06:
            return f"NULL::{name_of(ty)}"
        if ty in ("text", "varchar", "bpchar", "json", "jsonb", "jsonpath", "name") and rng.random() < 0.9:
            for (pattern, at), values in MEANS.items():
                if at in (place, None) and values and re.fullmatch(pattern, name):
                    if ty in ("json", "jsonb") and values not in (JSON,) and not values[0].startswith(("{", "[")):
                        continue
                    if ty == "jsonpath" and values is not JSONPATHS or ty not in ("json", "jsonb") and values is JSON:
                        continue
                    return "'" + rng.choice(values).replace("'", "''") + f"'::{name_of(ty)}"
        if ty == "text" and rng.random() < 0.6:
            return "'" + rng.choice(STRINGS).replace("'", "''") + "'"
        if ty in ("json", "jsonb") and rng.random() < 0.7:
            return f"'{rng.choice(JSON)}'::{ty}"
        pool = OWN.get(ty) or POOL.get(ty)
        if ty == "int4" and rng.random() < 0.05:
            pool = WIDE
        if pool is None and ty.startswith("_"):
            items = [self.literal(name, place, ty[1:]) for _ in range(rng.randint(0, 3))]
            return None if None in items else f"ARRAY[{', '.join(items)}]::{name_of(ty)}"
        if pool is None:
            return None
        value = rng.choice(pool)
        if value.startswith("-"):
            value = f"({value})"
        return value if ty in ("int4", "record") else f"{value}::{name_of(ty)}"

    def concrete(self, types):
        element = self.rng.choice(ELEMENTS)
        swap = {"anyelement": element, "anynonarray": element, "anycompatible": element, "anycompatiblenonarray": element, "anyarray": "_" + element, "anycompatiblearray": "_" + element}
        return [self.rng.choice(ELEMENTS) if t == "any" else swap.get(t, t) for t in types]

    def arguments(self, name, types, variadic):
        types = list(types)
        if variadic and types:
            last = types.pop()
            types += [last if last == "any" else last.lstrip("_")] * self.rng.randint(1, 3)
        out = [self.literal(name, i, t) for i, t in enumerate(self.concrete(types))]
        return None if None in out else out

    def beside_null(self, quoted, args):
        """A call for rows in which one argument is NULL, which no constant shows."""
        place = self.rng.randrange(len(args))
        row = ", ".join(f"CASE WHEN false THEN {a} END" if i == place else a for i, a in enumerate(args))
        columns = ", ".join(f"c{i}" for i in range(len(args)))
        return f"SELECT pg_catalog.{quoted}({columns}) AS x FROM (VALUES ({row}), ({row})) AS v({columns})"

    def statement(self, name, types, kind, is_set, variadic, result):
        quoted = f'"{name}"'
        if kind == "f":
            args = self.arguments(name, types, variadic)
            if args is None:
                return None
            call = f"pg_catalog.{quoted}({', '.join(args)})"
            if len(args) > 1 and not is_set and result != "record" and "cstring" not in types and self.rng.random() < 0.15:
                return self.beside_null(quoted, args)
            if is_set:
                if name == "generate_series" and re.search(r"\d{8}|infinity|1e|0\.0|NaN", call):
                    return None
                if result == "record" and name in ("json_to_record", "jsonb_to_record", "json_to_recordset", "jsonb_to_recordset"):
                    return f"SELECT * FROM {call} AS t(a int, b text, c jsonb)"
                return self.rng.choice([f"SELECT * FROM {call} AS t LIMIT 60", f"SELECT {call} AS x LIMIT 60"])
            if result == "record" and name in ("json_to_record", "jsonb_to_record"):
                return f"SELECT * FROM {call} AS t(a int, b text, c jsonb)"
            return f"SELECT {call} AS x"
        concrete = self.concrete(types)
        count = self.rng.randint(0, 5)
        rows = [[self.literal(name, i, t) for i, t in enumerate(concrete)] for _ in range(max(count, 1))]
        if any(None in row for row in rows):
            return None
        columns = [f"c{i}" for i in range(len(concrete))]
        lines = ", ".join(f"({n}{''.join(', ' + v for v in row)})" for n, row in enumerate(rows))
        source = f"(VALUES {lines}) AS v(id{''.join(', ' + c for c in columns)})" + (" WHERE false" if count == 0 else "")
        inner = ", ".join(columns) or "*"
        if kind == "a" and name in ("percentile_cont", "percentile_disc", "mode", "rank", "dense_rank", "percent_rank", "cume_dist"):
            direct = {"percentile_cont": ["0.5", "0.9", "'{0,0.25}'"], "percentile_disc": ["0.5", "1", "'{0.1,0.9}'"], "mode": [""]}.get(name, ["2", "'b'"])
            return f"SELECT {quoted}({self.rng.choice(direct)}) WITHIN GROUP (ORDER BY {columns[-1] if columns else 'id'}) AS x FROM {source}"
        if kind == "a":
            if self.rng.random() < 0.7 or not columns:
                order = " ORDER BY id" if columns else ""
                return f"SELECT {quoted}({inner}{order}) AS x FROM {source}"
            return f"SELECT id, {quoted}({inner}) OVER (ORDER BY id{self.rng.choice(['', ' ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING', ' DESC'])}) AS x FROM {source} ORDER BY id"
        arguments = "" if not columns else inner
        return f"SELECT id, {quoted}({arguments}) OVER (ORDER BY id) AS x FROM {source} ORDER BY id"


def left_out(name):
    return next((why for why, pattern in LEFT_OUT.items() if re.fullmatch(pattern, name)), None)


def functions(oracle):
    """The functions that are called, as (label, arguments of Calls.statement), and by reason the names of those that are left out."""
    listed = oracle.all(
        "SELECT p.proname, coalesce((SELECT string_agg(t.typname, ' ' ORDER BY u.n) FROM unnest(p.proargtypes) WITH ORDINALITY u(o, n) JOIN pg_type t ON t.oid = u.o), ''), "
        "p.prokind, p.proretset, p.provariadic <> 0, (SELECT typname FROM pg_type WHERE oid = p.prorettype) FROM pg_proc p "
        "JOIN pg_namespace s ON s.oid = p.pronamespace WHERE s.nspname = 'pg_catalog' ORDER BY 1, 2")
    have = set(POOL) | set(OWN) | {"any", "anyelement", "anyarray", "anynonarray", "anycompatible", "anycompatiblearray", "anycompatiblenonarray"}
    found, skipped = [], collections.defaultdict(set)
    for name, types, kind, is_set, variadic, result in listed:
        why = left_out(name) or left_out(f"{name}({types})")
        types = types.split()
        if why is None and not all(t in have or t.startswith("_") and t[1:] in have for t in types):
            why = "types that Stoa does not have"
        if why:
            skipped[why].add(name)
        else:
            found.append((f"{name}({' '.join(types)})", (name, types, kind, is_set == "t", variadic == "t", result)))
    return found, skipped


def run(tally, stoa, oracle, seed, calls, only="", limit=None):
    """Compares `calls` calls of each function; the same seed makes the same ones. With a limit, of as many functions as that takes."""
    found = functions(oracle)[0]
    if limit:
        random.Random(seed).shuffle(found)
    for label, function in found:
        if limit and tally.statements >= limit:
            break
        if not re.search(only, function[0]):
            continue
        maker, seen = Calls(random.Random(f"{seed}/{label}")), set()
        for _ in range(calls):
            sql = maker.statement(*function)
            if sql is None or sql in seen:
                continue
            seen.add(sql)
            ours, theirs = tally.ask(stoa, oracle, sql)
            tally.judge(label, sql, ours, theirs, ours[:3] == theirs[:3])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--examples", type=int, default=3)
    options = parser.parse_args()
    oracle = Side(options.oracle)
    if options.list:
        for why, names in functions(oracle)[1].items():
            print(f"{why}: {', '.join(sorted(names))}\n")
        return 0
    tally = Tally("functions", options.examples)
    run(tally, Side(options.dsn), oracle, options.seed, options.calls, options.only)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
