#!/usr/bin/env python3
"""What one execution of an application's usual statements costs, on Stoa and on PostgreSQL, in one run on one machine.

    statements.py --stoa BINARY --postgres BINDIR [--executions N] [--rounds N] [--only TEXT …] [--also BINARY]

Servers of each kind are given the same shop: customers, orders, lines of orders. Each statement is prepared once and executed N times a
round by one client, with other values each time; servers take turns. Printed are the medians of the CPU time of the server (its process
tree, from /proc) for one execution, as a Markdown table; --also puts another Stoa beside them, with a tenth of the executions, --only takes the statements whose name holds
one of the texts.
"""
import argparse, platform, statistics, subprocess, tempfile

import psycopg

from servers import start_postgres, start_stoa

SHOP = """CREATE TABLE customers (id int PRIMARY KEY, name text, email text UNIQUE, created timestamptz DEFAULT now(), data jsonb);
CREATE TABLE orders (id int PRIMARY KEY, customer int, state text, total numeric(10,2), at timestamptz);
CREATE TABLE lines (order_id int, n int, sku text, qty int, price numeric(10,2), PRIMARY KEY (order_id, n));
INSERT INTO customers SELECT g, 'name' || g, 'e' || g || '@x', now() - g * interval '1 min', jsonb_build_object('k', g) FROM generate_series(1, 5000) g;
INSERT INTO orders SELECT g, g % 5000 + 1, CASE g % 3 WHEN 0 THEN 'new' WHEN 1 THEN 'paid' ELSE 'sent' END, g % 100 + 0.5, now() - g * interval '1 min'
  FROM generate_series(1, 20000) g;
INSERT INTO lines SELECT g / 3 + 1, g % 3, 'sku' || g % 100, g % 5, g % 50 + 0.25 FROM generate_series(0, 59999) g;
CREATE INDEX ON orders (customer, at);
ANALYZE;
"""
# Each takes one number from 1 to 4000.
STATEMENTS = {
    "a row by its key": "SELECT * FROM customers WHERE id = %s",
    "a time of now()": "SELECT id, now() - at FROM orders WHERE customer = %s AND at > now() - interval '300 days'",
    "to_char of a timestamptz": "SELECT to_char(at, 'YYYY-MM-DD') FROM orders WHERE customer = %s",
    "groups by date_trunc": "SELECT date_trunc('day', at), sum(total) FROM orders WHERE customer = %s GROUP BY 1 ORDER BY 1",
    "join and groups": "SELECT o.id, sum(l.qty * l.price) FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.customer = %s GROUP BY o.id ORDER BY 1",
    "count(*) OVER () with LIMIT": "SELECT id, count(*) OVER () FROM orders WHERE customer = %s ORDER BY id LIMIT 2",
    "row_number() by groups": "SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY state ORDER BY at DESC) r FROM orders WHERE customer = %s) x WHERE r = 1",
    "lag()": "SELECT id, at - lag(at) OVER (ORDER BY at) FROM orders WHERE customer = %s",
    "DISTINCT ON": "SELECT DISTINCT ON (state) state, id, at FROM orders WHERE customer = %s ORDER BY state, at DESC",
    "INTERSECT": "SELECT id FROM orders WHERE customer = %s INTERSECT SELECT order_id FROM lines WHERE order_id < 5",
    "json_agg of rows": "SELECT json_agg(o) FROM (SELECT id, total FROM orders WHERE customer = %s) o",
    "nested json": "SELECT c.id, (SELECT json_agg(json_build_object('id', o.id, 'total', o.total) ORDER BY o.id) FROM orders o WHERE o.customer = c.id) FROM customers c WHERE c.id = %s",
    "string_agg with ORDER BY": "SELECT string_agg(state, ',' ORDER BY at) FROM orders WHERE customer = %s",
    "percentile_cont": "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM orders WHERE customer = %s",
    "coalesce of a subquery": "SELECT coalesce((SELECT max(total) FROM orders WHERE customer = c.id), 0) FROM customers c WHERE id = %s",
    "CASE with EXISTS": "SELECT CASE WHEN EXISTS (SELECT 1 FROM orders WHERE customer = c.id) THEN 'y' ELSE 'n' END FROM customers c WHERE id = %s",
    "NOT IN a subquery": "SELECT id FROM orders WHERE customer = %s AND id NOT IN (SELECT order_id FROM lines WHERE order_id = 1)",
    "the last two by LATERAL": "SELECT c.id, o.* FROM customers c LEFT JOIN LATERAL (SELECT id AS oid, at FROM orders WHERE customer = c.id ORDER BY at DESC LIMIT 2) o ON true WHERE c.id = %s",
    "join with unnest": "SELECT c.id, c.name FROM unnest(ARRAY[1, 2, %s::int]) WITH ORDINALITY u (id, n) JOIN customers c USING (id) ORDER BY u.n",
    "join with VALUES": "SELECT c.id, v.x FROM (VALUES (1, 'a'), (%s::int, 'b')) v (id, x) JOIN customers c USING (id)",
    "UPDATE to now()": "UPDATE customers SET created = now() WHERE id = %s",
    "UPDATE FROM VALUES": "UPDATE customers c SET name = v.x FROM (VALUES (1, 'a'), (%s::int, 'b')) v (id, x) WHERE c.id = v.id",
    "MERGE": "MERGE INTO customers c USING (VALUES (%s::int, 'm')) v (id, x) ON c.id = v.id WHEN MATCHED THEN UPDATE SET name = v.x WHEN NOT MATCHED THEN INSERT (id, name) VALUES (v.id, v.x)",
    "WITH read twice": "WITH o AS (SELECT * FROM orders WHERE customer = %s) SELECT (SELECT count(*) FROM o), id FROM o",
    "WITH … UPDATE": "WITH u AS (UPDATE customers SET name = 'b' WHERE id = %s RETURNING id, name) SELECT * FROM u",
    "WITH RECURSIVE": "WITH RECURSIVE r AS (SELECT %s::int AS n UNION ALL SELECT n + 1 FROM r WHERE n %% 5 <> 0) SELECT max(n) FROM r",
    "ROLLUP": "SELECT state, count(*) FROM orders WHERE customer = %s GROUP BY ROLLUP (state)",
    "RIGHT JOIN": "SELECT o.id, c.name FROM orders o RIGHT JOIN customers c ON o.customer = c.id WHERE c.id = %s",
    "FULL JOIN": "SELECT o.id, l.n FROM (SELECT * FROM orders WHERE customer = %s) o FULL JOIN (SELECT * FROM lines WHERE order_id = 7) l ON l.order_id = o.id",
    "WITH RECURSIVE over a table": "WITH RECURSIVE r AS (SELECT id, customer, 1 AS depth FROM orders WHERE id = %s UNION ALL SELECT o.id, o.customer, depth + 1 FROM orders o JOIN r ON o.id = r.customer WHERE depth < 4) SELECT * FROM r",
    "IN of groups": "SELECT id FROM orders WHERE customer = %s AND id IN (SELECT order_id FROM lines GROUP BY order_id HAVING sum(qty) > 3)",
    "join with a grouped subquery": "SELECT x.s, c.name FROM customers c LEFT JOIN (SELECT customer, sum(total) s FROM orders GROUP BY customer) x ON x.customer = c.id WHERE c.id = %s",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoa", required=True)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--also")
    parser.add_argument("--executions", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    version = subprocess.run([f"{args.postgres}/postgres", "--version"], capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as other:
        servers = [start_stoa(args.stoa, work), start_postgres(args.postgres, work)]
        if args.also:
            servers.append(start_stoa(args.also, other))
        try:
            connections = []
            for server in servers:
                c = psycopg.connect(server.dsn, autocommit=True, prepare_threshold=0)
                for statement in SHOP.split(";\n"):
                    if statement.strip():
                        c.execute(statement, prepare=False)
                connections.append(c)
            names = [name for name in STATEMENTS if not args.only or any(text in name for text in args.only)]
            print(f"{version}; {platform.machine()}; medians of {args.rounds} rounds, {args.executions} executions each\n")
            print("| statement | Stoa, µs | PostgreSQL, µs | CPU |" + (" the other Stoa, µs |" if args.also else ""))
            print("|---|---|---|---|" + ("---|" if args.also else ""))
            for name in names:
                costs = [[] for _ in servers]
                for c in connections:
                    for n in range(20):
                        c.execute(STATEMENTS[name], (n + 1,))
                for round_number in range(args.rounds):
                    for at, (server, c, own) in enumerate(zip(servers, connections, costs)):
                        executions = args.executions if at < 2 else max(args.executions // 10, 1)
                        before = server.cpu_seconds()
                        for n in range(executions):
                            c.execute(STATEMENTS[name], ((round_number * executions + n) % 4000 + 1,))
                        own.append((server.cpu_seconds() - before) / executions * 1e6)
                stoa, postgres, *more = map(statistics.median, costs)
                print(f"| {name} | {stoa:.0f} | {postgres:.0f} | {stoa / max(postgres, 1):.2f} × |" + "".join(f" {m:.0f} |" for m in more), flush=True)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
