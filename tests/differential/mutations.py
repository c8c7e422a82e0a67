#!/usr/bin/env python3
"""Statements that people write, each a little broken or changed, on Stoa and on a PostgreSQL 15: SQLSTATE, rows and types must agree.

    mutations.py --oracle DSN [--dsn DSN] [--seed N] [--count N] [--stop N] FILE …

A file is one of statements.py's (statements that end in a semicolon; those that make tables and rows come first and run as they are) or a
table of the reference (tab-separated; the second column is SQL). A mutation takes a SELECT, VALUES, WITH, INSERT, UPDATE or DELETE that
PostgreSQL runs, and drops, doubles, swaps or replaces one of its tokens: a literal by one of another type, an operator, a function, a name
or a keyword by another. Most of what comes out is an error; the point is that it is the same error. Changes are rolled back.

The same seed makes the same statements. The exit status is 1 if anything differs; XX000 and a lost connection differ always.
"""
import argparse, pathlib, random, re, sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from sides import FIRST_NORMAL_OID, Side, Tally, both  # noqa: E402

TOKEN = re.compile(r"\s+|E?'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$\$.*?\$\$|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+|[A-Za-z_]\w*|::|[-+*/<>=~!@#%^&|`?]+|.", re.S)
WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE)\b", re.I)
KEYWORDS = {w.lower() for w in "select from where group by order having limit as on join and or not in is null distinct all any case when then else end union over with values asc desc offset using left right full cross natural between like filter within row array interval cast for to set into table date time timestamp true false int text numeric partition rows range preceding following current unbounded recursive except intersect exists lateral returning escape similar placing both leading trailing".split()}
START = re.compile(r"\s*(SELECT|VALUES|WITH|INSERT|UPDATE|DELETE|TABLE)\b", re.I)
# What differs by nature, or takes a lot of time or memory.
LEFT_OUT = re.compile(r"now\(|_seq\b|acldefault|current_|local|random|pg_|version|oid|reg(class|type|proc)|nextval|setval|currval|lastval|\b(session_)?user\b|getpgusername|inet_|txid|uuid|clock|(statement|transaction)_timestamp|timeofday|set_config|today|tomorrow|yesterday|"
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
        # One alone: of two errors either may come first.
        real = [i for i, t in enumerate(tokens) if t.strip()]
        # What breaks the grammar is found soon; most mutations change a meaning.
        real = r.random() < 0.85 and [i for i in real if not re.fullmatch(r"[(),.;\[\]]", tokens[i]) and tokens[i].lower() not in KEYWORDS] or real
        if not real:
            return sql
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
    header = lambda a: [(name, min(oid, FIRST_NORMAL_OID), modifier) for name, oid, modifier in a[1]]
    if ours[0] != theirs[0] or header(ours) != header(theirs):
        return False
    plain = lambda rows: sorted(repr([v and re.sub(r"^(-?\d+)\.0+$", r"\1", v) for v in row]) for row in rows)
    return ours[2] == theirs[2] or len(ours[2]) > 1 and plain(ours[2]) == plain(theirs[2])


def run(tally, stoa, oracle, seed, count, files, stop=None):
    """Compares `count` statements; the same seed makes the same ones. Works in a schema of its own, named after the seed."""
    schema, setup, corpus = f"mutations_{seed}", [], []
    for path in files:
        first, more = statements(path)
        setup += first
        corpus += more
    # What one of them refuses or answers in another way is no ground to compare on.
    setup = [sql for sql in setup if re.match(r"\s*(CREATE (TABLE|VIEW)|INSERT|ALTER)", sql, re.I) and not re.search(r"DATABASE|TYPE|EXTENSION|FUNCTION", sql, re.I)]
    for side in (oracle, stoa):
        side.run(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        side.run(f"CREATE SCHEMA {schema}")
        side.start = side.start + [f"SET search_path = {schema}", "SET statement_timeout = '10s'", "SET extra_float_digits = 1"]
        for sql in side.start:
            side.run(sql)
    for sql in setup:
        ours, theirs = tally.ask(stoa, oracle, sql)
        tally.judge("setup", sql, ours, theirs, ours[0] == theirs[0])
    runs = []
    for sql in corpus:
        oracle.run("BEGIN")
        runs += [sql] if oracle.run(sql)[0] == "00000" else []
        oracle.run("ROLLBACK")
    mutator = Mutator(random.Random(seed), runs)
    # Values that failed statements took from sequences stay taken.
    sequences = [name for (name,) in oracle.all(f"SELECT sequencename FROM pg_sequences WHERE schemaname = '{schema}' ORDER BY 1")]
    begin = "BEGIN; SELECT " + ", ".join(f"setval('{name}', 1000)" for name in sequences)
    # The oracle has run the corpus already.
    both(oracle, stoa, begin)
    both(oracle, stoa, "ROLLBACK")
    for _ in range(count):
        sql = mutator.statement()
        while any(re.search(rf"\b{name}\b", sql) for name in sequences):
            # How many values are logged ahead is PostgreSQL's own matter.
            sql = mutator.statement()
        writes = WRITES.search(sql)
        if writes:
            both(oracle, stoa, begin)
        ours, theirs = tally.ask(stoa, oracle, sql, again=not writes)
        if writes:
            both(oracle, stoa, "ROLLBACK")
        tally.judge(f"{theirs[0]} became {ours[0]}" if ours[0] != theirs[0] else "rows" if ours[1] == theirs[1] else "types", sql, ours, theirs, same(ours, theirs),
                    replan=None if writes else lambda state: oracle.raises_by_another_plan([], sql, state))
        if stop and tally.differences >= stop:
            break
    for side in (oracle, stoa):
        side.run(f"DROP SCHEMA {schema} CASCADE")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--stop", type=int, default=40, help="stop after so many differences")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    tally = Tally("mutations", examples=options.stop)
    run(tally, Side(options.dsn), Side(options.oracle), options.seed, options.count, options.files, options.stop)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
