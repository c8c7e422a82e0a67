#!/usr/bin/env python3
"""Statements that people write, each a little broken or changed, on Stoa and on a PostgreSQL 15: SQLSTATE, rows and types must agree.

    mutations.py --oracle DSN [--dsn DSN] [--seed N] [--count N] [--stop N] [--messages] FILE …

A file is one of statements.py's (statements that end in a semicolon; those that make tables and rows come first and run as they are) or a
table of the reference (tab-separated; the second column is SQL). A mutation takes a SELECT, VALUES, WITH, INSERT, UPDATE or DELETE and drops,
doubles, swaps or replaces one or two of its tokens: a literal by one of another type, an operator, a function, a name or a keyword by
another. Most of what comes out is an error; the point is that it is the same error. Changes are rolled back.

The same seed makes the same statements. The exit status is 1 if anything differs; XX000 and a lost connection differ always.
"""
import argparse, collections, pathlib, random, re, sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from expressions import Side, both, explained  # noqa: E402

TOKEN = re.compile(r"\s+|E?'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$\$.*?\$\$|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+|[A-Za-z_]\w*|::|[-+*/<>=~!@#%^&|`?]+|.", re.S)
WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE)\b", re.I)
KEYWORDS = {w.lower() for w in "select from where group by order having limit as on join and or not in is null distinct all any case when then else end union over with values asc desc offset using left right full cross natural between like filter within row array interval cast for to set into table date time timestamp true false int text numeric partition rows range preceding following current unbounded recursive except intersect exists lateral returning escape similar placing both leading trailing".split()}
START = re.compile(r"\s*(SELECT|VALUES|WITH|INSERT|UPDATE|DELETE|TABLE)\b", re.I)
# What differs by nature, or takes a lot of time or memory.
LEFT_OUT = re.compile(r"now\(|current_|local|random|pg_|version|oid|reg(class|type|proc)|nextval|setval|currval|lastval|inet_|txid|uuid|clock|timeofday|set_config|today|tomorrow|yesterday|"
                      r"to_regc|has_|_description|repeat|generate_series\([^)]*\d{6}|\bSET\b.*=.*search|TABLESAMPLE|EXPLAIN|ctid|xmin|tableoid|xml|money|'now'|bit|box|point|range|inet|circle|stoa|B'|X'|\brow_number\b", re.I)
LITERALS = ["1", "0", "-1", "2.5", "1e3", "'a'", "''", "'1'", "'2024-02-29'", "'x y'", "NULL", "true", "'{1,2}'", "'{\"a\":1}'", "ARRAY[1,2]", "date '2024-01-31'", "interval '1 day'", "timestamp '2024-01-31 10:00'",
            "1.50::numeric", "'abc'::text", "2::int8", "0.1::float8", "'[1]'::jsonb", "ROW(1, 'a')", "3::smallint", "2147483647", "'NaN'", "time '10:00'", "(SELECT 1)", "'t'", "'1 day'"]
OPERATORS = ["+", "-", "*", "/", "%", "^", "||", "=", "<>", "<", ">", "<=", ">=", "!=", "~", "!~", "->", "->>", "@>", "<@", "&&", "&", "|", "#", "<<", "?", "#>", "~*", "LIKE", "IS DISTINCT FROM", "AND", "OR", "IN", "::"]
FUNCTIONS = ["abs", "upper", "lower", "length", "round", "trunc", "sum", "count", "max", "avg", "coalesce", "nullif", "greatest", "date_trunc", "extract", "to_char", "unnest", "array_agg", "string_agg", "jsonb_agg", "rank", "lag",
             "substring", "position", "replace", "generate_series", "array_length", "json_build_object", "concat", "mod", "date_part", "age", "bool_and", "to_json", "nosuch", "least", "split_part", "cardinality", "trim", "grouping", "ntile", "first_value"]
TYPES = ["int", "text", "numeric", "numeric(4,1)", "float8", "date", "timestamp", "timestamptz", "interval", "boolean", "jsonb", "json", "int[]", "text[]", "bytea", "varchar(2)", "char(3)", "bigint", "smallint", "time", "real", "nosuch", "uuid"]
WORDS = ["SELECT", "FROM", "WHERE", "GROUP", "BY", "ORDER", "HAVING", "LIMIT", "AS", "ON", "JOIN", "AND", "OR", "NOT", "IN", "IS", "NULL", "DISTINCT", "ALL", "ANY", "CASE", "WHEN", "THEN", "END", "UNION", "OVER", "(", ")", ",", "*", ".", "LATERAL", "EXISTS",
         "VALUES", "WITH", "ASC", "DESC", "OFFSET", "USING", "LEFT", "CROSS", "BETWEEN", "LIKE", "FILTER", "WITHIN", "ROW", "ARRAY", "INTERVAL", "CAST", "COLLATE", "RETURNING", "DEFAULT", "[", "]", ":", ";"]


def statements(path):
    """What is run first, and what is mutated."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    if path.endswith(".tsv"):
        return [], [line.split("\t")[1] for line in text.splitlines() if line.count("\t") and not line.startswith("#")]
    setup, found, current = [], [], []
    for line in text.splitlines():
        if not current and (not line.strip() or line.lstrip().startswith(("--", "\\"))):
            continue
        current.append(line)
        if line.rstrip().endswith(";"):
            sql = "\n".join(current).rstrip()[:-1]
            (found if START.match(sql) and not sql.upper().startswith("INSERT") else setup).append(sql)
            if sql.upper().startswith("INSERT"):
                found.append(sql)
            current = []
    return setup, found


class Mutator:
    def __init__(self, rng, corpus):
        self.r, self.corpus = rng, corpus

    def mutate(self, sql):
        r = self.r
        tokens = TOKEN.findall(sql)
        for _ in range(r.choice([1, 1, 1, 2])):
            real = [i for i, t in enumerate(tokens) if t.strip()]
            # What breaks the grammar is found soon; most mutations change a meaning.
            real = r.random() < 0.85 and [i for i in real if not re.fullmatch(r"[(),.;\[\]]|SELECT|FROM|AS|BY", tokens[i], re.I)] or real
            if not real:
                break
            i = r.choice(real)
            token, pick = tokens[i], r.random()
            if pick < 0.06:
                tokens[i] = ""
            elif pick < 0.07:
                tokens[i] = f"{token} {token}"
            elif pick < 0.1:
                j = real[min(real.index(i) + 1, len(real) - 1)]
                tokens[i], tokens[j] = tokens[j], tokens[i]
            elif pick < 0.13:
                tokens[i] = f"{token} {r.choice(WORDS)} "
            elif pick < 0.25:
                tokens[i] = f"({token})" if r.random() < 0.5 else f"{token}::{r.choice(TYPES)}"
            elif token[0] in "'0123456789." or token.startswith("E'"):
                tokens[i] = f" {r.choice(LITERALS)} "
            elif re.fullmatch(r"[-+*/<>=~!@#%^&|?]+|::", token):
                tokens[i] = f" {r.choice(OPERATORS)} "
            elif re.match(r"[A-Za-z_\"]", token):
                follows = "".join(tokens[i + 1:i + 2])
                before = "".join(tokens[max(i - 1, 0):i])
                names = [t for t in tokens if re.match(r"[A-Za-z_]", t) and t != token]
                if before == "::":
                    tokens[i] = r.choice(TYPES)
                elif follows == "(" and r.random() < 0.8:
                    tokens[i] = r.choice(FUNCTIONS)
                elif token.isupper() and len(token) > 1 or token.lower() in KEYWORDS:
                    tokens[i] = r.choice(WORDS)
                else:
                    tokens[i] = r.choice([r.choice(LITERALS), r.choice(names) if names else "x", r.choice(FUNCTIONS) + f"({token})", "nosuch", token[:-1] or "q"])
            else:
                tokens[i] = r.choice(WORDS)
        return "".join(tokens).strip()

    def statement(self):
        for _ in range(100):
            sql = self.mutate(self.r.choice(self.corpus))
            if START.match(sql) and not LEFT_OUT.search(sql) and len(sql) < 1500:
                return sql
        return "SELECT 1"


def same(ours, theirs):
    # Types of rows of tables have OIDs that a server gives.
    header = lambda a: [(name, min(oid, 16384)) for name, oid, _ in a[1]]
    if ours[0] != theirs[0] or header(ours) != header(theirs):
        return False
    plain = lambda rows: sorted(repr([v and re.sub(r"^(-?\d+)\.0+$", r"\1", v) for v in row]) for row in rows)
    return ours[2] == theirs[2] or len(ours[2]) > 1 and plain(ours[2]) == plain(theirs[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--stop", type=int, default=40, help="stop after so many differences")
    parser.add_argument("--messages", action="store_true", help="texts of errors must agree, too")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    sides = [Side(options.oracle), Side(options.dsn)]
    schema, setup, corpus = f"mutations_{options.seed}", [], []
    for path in options.files:
        first, more = statements(path)
        setup += first
        corpus += more
    start = [f"SET search_path = {schema}", "SET statement_timeout = '5s'", "SET TimeZone = 'UTC'", "SET extra_float_digits = 1"]
    for side in sides:
        for sql in [f"DROP SCHEMA IF EXISTS {schema} CASCADE", f"CREATE SCHEMA {schema}", *start]:
            side.run(sql)
    # What one of them refuses or answers in another way is no ground to compare on.
    setup = [sql for sql in setup if re.match(r"\s*(CREATE (TABLE|VIEW)|INSERT|ALTER)", sql, re.I) and not re.search(r"DATABASE|TYPE|EXTENSION|FUNCTION", sql, re.I)]
    for sql in setup:
        answers = [side.run(sql)[0] for side in sides]
        if answers[0] != answers[1]:
            print(f"setup differs: {sql}: {answers}")
    mutator = Mutator(random.Random(options.seed), corpus)
    found, known, codes, n = 0, collections.Counter(), collections.Counter(), 0
    while n < options.count and found < options.stop:
        n += 1
        sql = mutator.statement()
        writes = WRITES.search(sql)
        if writes:
            both(*sides, "BEGIN")
        answers = both(*sides, sql)
        if writes:
            both(*sides, "ROLLBACK")
        for i, side in enumerate(sides):
            if isinstance(answers[i], Exception):
                answers[i] = ("LOST", [], [], str(answers[i]))
                side.open()
                for statement in start:
                    side.run(statement)
        theirs, ours = answers
        if "57014" in (theirs[0], ours[0]):
            continue
        if theirs[0] == ours[0]:
            codes[theirs[0]] += 1
        if same(ours, theirs) and not (options.messages and ours[3] != theirs[3]) and ours[0] != "XX000":
            continue
        why = explained(sql, ours, theirs)
        if why and ours[0] != "XX000":
            known[why] += 1
            continue
        found += 1
        show = lambda a: f"{a[0]} {a[3]}" if a[0] != "00000" else f"{[t[:2] for t in a[1]]} {a[2][:5]}"
        print(f"{sql}\n   PG:   {show(theirs)[:400]}\n   Stoa: {show(ours)[:400]}", flush=True)
    for side in sides:
        side.run(f"DROP SCHEMA {schema} CASCADE")
    for why, count in known.most_common():
        print(f"explained: {why}: {count}")
    print("alike: " + ", ".join(f"{code} {count}" for code, count in codes.most_common()))
    print(f"{n} statements, {found} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
