#!/usr/bin/env python3
"""What a call of a function costs, and what binding a page of SQL costs, on Stoa and on PostgreSQL, in one run on one machine.

    functions.py --stoa BINARY --postgres BINDIR [--rows N] [--rounds N] [--only FAMILY …]

A server of each kind fills a table of N rows. Each family of functions is one query that counts several calls over all rows; the CPU time
of the server (its process tree, from /proc) less that of a count of the columns alone, divided by rows and calls, is what one call costs.
Servers take turns, round after round; printed are the medians, as a Markdown table. PostgreSQL works without parallel workers, so that
none are started and ended within what is measured.

The second table is the CPU time of Parse and Describe of a statement under the extended protocol: text to typed tree, no plan.
"""
import argparse, platform, statistics, subprocess, tempfile

from servers import start_postgres, start_stoa

TABLE = """CREATE TABLE f (id int PRIMARY KEY, i int, n numeric(12,2), x float8, s text, w text, d date, t timestamp, z timestamptz, j jsonb, a int[]);
INSERT INTO f SELECT g, g % 1000, (g % 100000) / 7.0, g / 3.0, 'row number ' || g, CASE g % 4 WHEN 0 THEN 'alpha' WHEN 1 THEN 'Beta-7' WHEN 2 THEN NULL ELSE 'gamma delta' END,
  date '2020-01-01' + g % 2000, timestamp '2020-01-01' + g * interval '1 minute', timestamptz '2020-01-01 00:00+00' + g * interval '37 seconds',
  jsonb_build_object('id', g, 'name', 'n' || g, 'tags', jsonb_build_array(g % 7, 'x'), 'deep', jsonb_build_object('v', g % 13)), ARRAY[g % 5, g % 7, g % 11]
  FROM generate_series(1, {rows}) g;
ANALYZE f;
"""
# Family: the columns it reads, and its calls.
FAMILIES = {
    "text": ("s, w", ["upper(s)", "substr(s, 5, 6)", "replace(s, 'row', 'line')", "length(w)", "s || w", "trim(w)", "split_part(s, ' ', 3)", "left(s, 3)"]),
    "patterns": ("s, w", ["s LIKE '%99%'", "w ILIKE 'b%'", "s ~ '9{2,}$'", "regexp_replace(s, '[0-9]+', '#')", "substring(s from '([0-9]+)')", "w SIMILAR TO '(a|B)%'"]),
    "conditions": ("i, w", ["CASE WHEN i < 10 THEN 'few' WHEN i < 500 THEN 'some' ELSE 'many' END", "coalesce(w, 'none')", "nullif(i, 7)", "greatest(i, 500, id)", "i IN (1, 2, 3, 5, 8)", "i BETWEEN 10 AND 20"]),
    "integers and floats": ("i, x", ["i * 3 + 1", "i % 7", "abs(x)", "sqrt(x)", "round(x)", "floor(x / 10)", "power(x, 1.5)", "ln(x + 1)"]),
    "numeric": ("n", ["n * 1.19", "n + n", "round(n, 1)", "n / 3", "trunc(n)", "n % 7", "n::int", "abs(n - 500)"]),
    "date and time": ("d, t, z", ["date_trunc('month', t)", "extract(year from d)", "d + 30", "t + interval '1 day'", "date_part('hour', t)", "z AT TIME ZONE 'Europe/Paris'", "t::date", "age(t, '2020-01-01')"]),
    "formatting": ("n, t, s", ["to_char(t, 'YYYY-MM-DD HH24:MI')", "to_char(n, 'FM999,990.00')", "format('%s-%s', s, id)", "to_date('2024-05-17', 'YYYY-MM-DD') + i", "to_char(d, 'Mon DD')", "lpad(id::text, 8, '0')"]),
    "json": ("j", ["j->>'name'", "(j->>'id')::int", "j->'tags'->>0", "j #>> '{deep,v}'", "j @> '{\"id\": 5}'", "j ? 'name'", "jsonb_array_length(j->'tags')", "jsonb_path_exists(j, '$.deep ? (@.v > 5)')"]),
    "arrays": ("a", ["a[2]", "array_length(a, 1)", "3 = ANY (a)", "a || 1", "array_to_string(a, ',')", "a @> ARRAY[1]", "array_position(a, 3)", "cardinality(a)"]),
    "casts": ("id, n, x, s, d", ["id::text", "n::text", "x::text", "d::text", "id::numeric", "(id::text)::int", "x::numeric(12,3)", "t::text"]),
}
PAGE = """WITH monthly AS (
    SELECT date_trunc('month', o.t) AS month, o.i % 10 AS region, sum(o.n) AS revenue, count(*) AS orders, count(DISTINCT o.w) AS kinds,
           avg(o.n) FILTER (WHERE o.d > date '2021-01-01') AS late_average
    FROM f o
    LEFT JOIN f c ON c.id = o.i AND c.w IS NOT NULL
    WHERE o.d BETWEEN date '2020-06-01' AND date '2024-06-30' AND coalesce(o.w, 'none') <> 'x' AND (c.id IS NULL OR c.j->>'name' LIKE 'n%')
    GROUP BY 1, 2
    HAVING sum(o.n) > 100
), ranked AS (
    SELECT m.*, rank() OVER (PARTITION BY m.month ORDER BY m.revenue DESC) AS place,
           lag(m.revenue) OVER (PARTITION BY m.region ORDER BY m.month) AS before,
           sum(m.revenue) OVER (PARTITION BY m.region ORDER BY m.month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS rolling
    FROM monthly m
)
SELECT to_char(r.month, 'YYYY-MM') AS month, 'region ' || r.region AS region, r.revenue::numeric(14, 2) AS revenue, r.orders, r.kinds,
       CASE WHEN r.before IS NULL THEN 'new' WHEN r.revenue > r.before * 1.1 THEN 'up' WHEN r.revenue < r.before * 0.9 THEN 'down' ELSE 'flat' END AS trend,
       round(100 * (r.revenue - r.before) / nullif(r.before, 0), 1) AS change, round(r.rolling / 3, 2) AS rolling, r.late_average,
       (SELECT max(x.t) FROM f x WHERE x.i % 10 = r.region AND x.t < r.month + interval '1 month') AS last_order,
       EXISTS (SELECT 1 FROM f y WHERE y.id = r.orders AND y.a[1] = 3) AS seen
FROM ranked r
WHERE r.place <= 3 AND r.region IN (SELECT z.i FROM f z WHERE z.i < 10)
UNION ALL
SELECT 'total', NULL, sum(n), count(*), count(DISTINCT w), NULL, NULL, NULL, avg(n), max(t), bool_or(i > 5)
FROM f
ORDER BY month NULLS LAST, revenue DESC
LIMIT 100"""


def used(server, work):
    before = server.cpu_seconds()
    work()
    return server.cpu_seconds() - before


def calls(servers, args):
    connections = {}
    for server in servers:
        connections[server.name] = server.connect()
        if server.name == "postgres":
            connections[server.name].execute("SET max_parallel_workers_per_gather = 0")

    def cost(server, columns, expressions):
        execute = connections[server.name].execute
        bare = used(server, lambda: execute("SELECT " + ", ".join(f"count({c.strip()})" for c in columns.split(",")) + " FROM f"))
        full = used(server, lambda: execute("SELECT " + ", ".join(f"count({e})" for e in expressions) + " FROM f"))
        return max(full - bare, 0) / args.rows / len(expressions) * 1e9

    print(f"\n### Calls of functions, over {args.rows:,} rows\n\n| family | calls | Stoa, ns a row | PostgreSQL, ns a row | CPU |\n|---|---|---|---|---|")
    for name, (columns, expressions) in FAMILIES.items():
        if args.only and name not in args.only:
            continue
        found = {server.name: [] for server in servers}
        for _ in range(args.rounds):
            for server in servers:
                found[server.name].append(cost(server, columns, expressions))
        ours, theirs = (statistics.median(found[server.name]) for server in servers)
        print(f"| {name} | {len(expressions)} | {ours:.0f} | {theirs:.0f} | {ours / theirs if theirs else float('inf'):.2f} × |", flush=True)
        if args.each:
            for e in expressions:
                ours, theirs = (statistics.median(cost(server, columns, [e]) for _ in range(args.rounds)) for server in servers)
                print(f"| `{e.replace('|', chr(92) + '|')}` | 1 | {ours:.0f} | {theirs:.0f} | {ours / theirs if theirs else float('inf'):.2f} × |", flush=True)


def bind(servers, args):
    print(f"\n### Parse and Describe\n\n| statement | characters | Stoa, µs | PostgreSQL, µs | CPU |\n|---|---|---|---|---|")
    for name, sql in [("`SELECT 1`", "SELECT 1"), ("one page", PAGE)]:
        found = {server.name: [] for server in servers}
        for _ in range(args.rounds):
            for server in servers:
                with server.connect() as connection:
                    raw, count = connection.pgconn, 3000

                    def work():
                        for _ in range(count):
                            raw.prepare(b"", sql.encode())
                            raw.describe_prepared(b"")
                    found[server.name].append(used(server, work) / count * 1e6)
        ours, theirs = (statistics.median(found[server.name]) for server in servers)
        print(f"| {name} | {len(sql)} | {ours:.0f} | {theirs:.0f} | {ours / theirs if theirs else float('inf'):.2f} × |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoa", required=True)
    parser.add_argument("--postgres", required=True, help="the folder with initdb and postgres")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--each", action="store_true", help="each call by itself, too")
    parser.add_argument("--only", action="append", choices=[*FAMILIES, "bind"])
    args = parser.parse_args()
    version = subprocess.run([f"{args.postgres}/postgres", "--version"], capture_output=True, text=True).stdout.strip()
    print(f"{version}; {platform.machine()}, {len(__import__('os').sched_getaffinity(0))} cores; medians of {args.rounds} rounds")
    with tempfile.TemporaryDirectory(prefix="stoa-bench-") as work:
        servers = [start_stoa(args.stoa, work), start_postgres(args.postgres, work)]
        try:
            for server in servers:
                server.psql("-c", TABLE.format(rows=args.rows))
            if args.only != ["bind"]:
                calls(servers, args)
            if not args.only or "bind" in args.only:
                bind(servers, args)
        finally:
            for server in servers:
                server.stop()


main()
