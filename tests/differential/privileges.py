"""Random roles, memberships, owners, grants and policies, and random statements of each role over tables, views and sequences.

What is compared is whether a statement is allowed (42501 or not), any other SQLSTATE, and rows. Each statement runs in a transaction
that is rolled back, so that all meet the same rows; grants, memberships and owners change between them.

    privileges.py --binary stoa [--oracle DSN] [--count N] [--seed N]
"""
import argparse
import random
import sys

from sides import Side, Tally, database, server

ROLES = 5
TABLES = ["t1", "t2"]
VIEWS = ["v1", "v2", "v3"]
COLUMNS = ["id", "a", "b"]
ON_TABLES = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES"]
ON_COLUMNS = ["SELECT", "INSERT", "UPDATE"]
STATEMENTS = 30  # for one set of tables


class Maker:
    def __init__(self, rnd, schema):
        self.rnd, self.schema = rnd, schema
        self.roles = [f"{schema}_r{i}" for i in range(ROLES)]

    def role(self):
        return self.rnd.choice(self.roles)

    def relation(self):
        return self.rnd.choice([*TABLES, *TABLES, *VIEWS])

    def columns(self):
        return self.rnd.sample(COLUMNS, self.rnd.randrange(1, 4))

    # What is there.

    def drop(self):
        return [f"DROP SCHEMA IF EXISTS {self.schema} CASCADE", f"DROP ROLE IF EXISTS {', '.join(self.roles)}"]

    def setup(self):
        rnd, schema = self.rnd, self.schema
        attributes = lambda: " ".join(filter(None, ["NOINHERIT" if rnd.random() < 0.25 else "", "BYPASSRLS" if rnd.random() < 0.1 else ""]))
        out = [f"CREATE ROLE {role} {attributes()}" for role in self.roles]
        for at, role in enumerate(self.roles):
            # Of roles before it: in no circle.
            out += [f"GRANT {other} TO {role}" for other in self.roles[:at] if rnd.random() < 0.3]
        if rnd.random() < 0.1:
            out.append(f"GRANT {rnd.choice(['pg_read_all_data', 'pg_write_all_data'])} TO {self.role()}")
        out += [
            f"CREATE SCHEMA {schema}",
            f"SET search_path = {schema}",
            "CREATE TABLE t1 (id int PRIMARY KEY, a int, b text)",
            "CREATE TABLE t2 (id int PRIMARY KEY, a int, b text)",
            f"INSERT INTO t1 SELECT i, i * 10, '{schema}_r' || i % {ROLES} FROM generate_series(1, 6) i",
            f"INSERT INTO t2 SELECT i, i * 5, '{schema}_r' || i % {ROLES} FROM generate_series(3, 8) i",
            *([f"CREATE INDEX ON {rnd.choice(TABLES)} ({rnd.choice(COLUMNS[1:])})"] if rnd.random() < 0.5 else []),
            "CREATE SEQUENCE s",
            f"CREATE VIEW v1 AS SELECT id, a, b FROM t1{rnd.choice(['', ' WHERE id > 2'])}",
            f"CREATE VIEW v2 {rnd.choice(['', 'WITH (security_invoker = true)'])} AS SELECT t2.id, t2.a, t1.b FROM t2 JOIN t1 USING (id)",
            f"CREATE VIEW v3 {rnd.choice(['', 'WITH (security_invoker)', 'WITH (security_barrier)'])} AS SELECT id, a, b FROM v1 WHERE a < 60",
        ]
        out += [f"ALTER TABLE {name} OWNER TO {self.role()}" for name in [*TABLES, *VIEWS] if rnd.random() < 0.6]
        out.append(f"GRANT USAGE ON SCHEMA {schema} TO {'PUBLIC' if rnd.random() < 0.8 else ', '.join(rnd.sample(self.roles, 3))}")
        for _ in range(rnd.randrange(4, 14)):
            out.append(self.grant())
        if rnd.random() < 0.7:
            out += self.rows()
        return out

    def grantee(self):
        return "PUBLIC" if self.rnd.random() < 0.08 else self.role()

    def grant(self, verb="GRANT", preposition="TO"):
        rnd = self.rnd
        option = " WITH GRANT OPTION" if verb == "GRANT" and rnd.random() < 0.15 else ""
        grantee = self.role() if option else self.grantee()
        if rnd.random() < 0.07:
            return f"{verb} {rnd.choice(['USAGE', 'SELECT', 'UPDATE', 'ALL'])} ON SEQUENCE s {preposition} {grantee}{option}"
        if rnd.random() < 0.4:
            items = ", ".join(f"{rnd.choice(ON_COLUMNS)} ({', '.join(self.columns())})" for _ in range(rnd.randrange(1, 3)))
        else:
            items = "ALL" if rnd.random() < 0.15 else ", ".join(rnd.sample(ON_TABLES, rnd.randrange(1, 4)))
        return f"{verb} {items} ON {self.relation()} {preposition} {grantee}{option}"

    def change(self):
        """Something that is said between statements."""
        rnd = self.rnd
        return rnd.choices([
            self.grant,
            lambda: self.grant("REVOKE", "FROM") + " CASCADE",
            lambda: f"GRANT {self.roles[0]} TO {rnd.choice(self.roles[1:])}",
            lambda: f"REVOKE {rnd.choice(self.roles[:-1])} FROM {self.roles[-1]}",
            lambda: f"ALTER TABLE {self.relation()} OWNER TO {self.role()}",
            lambda: f"ALTER ROLE {self.role()} {rnd.choice(['INHERIT', 'NOINHERIT', 'BYPASSRLS', 'NOBYPASSRLS'])}",
            self.change_of_rows,
        ], [5, 4, 1, 1, 1, 1, 4])[0]()

    # Policies.

    def condition(self, table):
        """What a policy of a table asks: of t1 it may be about t2, seldom the other way round, where both could go in a circle."""
        rnd = self.rnd
        plain = [f"a > {rnd.randrange(60)}", "b = current_user", "id % 2 = 0", f"id < {rnd.randrange(9)}", "true", "false", "b LIKE '%r1'",
                 f"a IS NOT NULL OR id > {rnd.randrange(9)}", f"b <> '{self.role()}'"]
        raising = [f"100 / (id - {rnd.choice([0, 50])}) > {rnd.randrange(30)}", "b || '1' < current_user", "(id || '')::int > 2"]
        other = "t2" if table == "t1" or rnd.random() < 0.1 else "v1" if rnd.random() < 0.1 else None
        asking = [f"a IN (SELECT a FROM {other} WHERE id > 3)", f"EXISTS (SELECT FROM {other} o WHERE o.id = {table}.id AND o.a > {rnd.randrange(30)})",
                  f"id <= (SELECT max(id) FROM {other})", f"NOT EXISTS (SELECT FROM {other} o WHERE o.b = {table}.b)"] if other else plain
        return rnd.choice(rnd.choices([plain, raising, asking], [6, 1, 2])[0])

    def policy(self, table, name):
        rnd = self.rnd
        command = rnd.choice(["ALL", "ALL", "SELECT", "INSERT", "UPDATE", "DELETE"])
        parts = [f"CREATE POLICY {name} ON {table}", rnd.choice(["", "", "AS RESTRICTIVE"]), f"FOR {command}",
                 "" if rnd.random() < 0.5 else f"TO {', '.join(rnd.sample(self.roles, rnd.randrange(1, 3)))}"]
        if command != "INSERT" and rnd.random() < 0.95:
            parts.append(f"USING ({self.condition(table)})")
        if command in ("INSERT", "UPDATE", "ALL") and (command == "INSERT" or rnd.random() < 0.4):
            parts.append(f"WITH CHECK ({self.condition(table)})")
        return " ".join(filter(None, parts))

    def rows(self):
        rnd, out = self.rnd, []
        for table in TABLES:
            if rnd.random() < 0.75:
                out.append(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            if rnd.random() < 0.3:
                out.append(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            out += [self.policy(table, f"p{n}") for n in range(rnd.randrange(5))]
        return out

    def change_of_rows(self):
        """Row-level security is changed. A policy that is not there is an error on both sides."""
        rnd = self.rnd
        table, name = rnd.choice(TABLES), f"p{rnd.randrange(5)}"
        return rnd.choice([
            self.policy(table, name),
            self.policy(table, name),
            f"DROP POLICY {name} ON {table}",
            f"ALTER POLICY {name} ON {table} TO {rnd.choice([self.role(), 'PUBLIC'])}",
            f"ALTER POLICY {name} ON {table} USING ({self.condition(table)})",
            f"ALTER TABLE {table} {rnd.choice(['ENABLE', 'ENABLE', 'ENABLE', 'DISABLE', 'FORCE', 'NO FORCE'])} ROW LEVEL SECURITY",
        ])

    # What is asked.

    def read(self):
        rnd = self.rnd
        name, other = self.relation(), self.relation()
        shown = rnd.choice(["*", "count(*)", ", ".join(self.columns())])
        where = rnd.choice(["", f" WHERE {rnd.choice(COLUMNS)} IS NOT NULL", f" WHERE id = {rnd.randrange(9)}", f" WHERE a > {rnd.randrange(50)}"])
        return rnd.choices([
            lambda: f"SELECT {shown} FROM {name}{where}",
            lambda: f"SELECT x.{rnd.choice(COLUMNS)} FROM {name} x JOIN {other} y ON x.id = y.{rnd.choice(['id', 'a'])}{where.replace('WHERE ', 'WHERE x.')}",
            lambda: f"SELECT {rnd.choice(COLUMNS)} FROM {name} WHERE EXISTS (SELECT FROM {other} o WHERE o.id = {name}.id)",
            lambda: f"SELECT (SELECT max({rnd.choice(COLUMNS)}) FROM {name})",
            lambda: f"WITH w AS (SELECT {', '.join(self.columns())} FROM {name}) SELECT count(*) FROM w",
            lambda: f"SELECT {name} FROM {name}",
            lambda: f"SELECT id FROM {rnd.choice(TABLES)} ORDER BY id FOR {rnd.choice(['UPDATE', 'SHARE'])}",
            # What raises for rows that are hidden must not be told. For which rows of a join it is computed is another matter.
            lambda: f"SELECT id FROM {name.replace('v2', 'v1')} WHERE 100 / (id - {rnd.randrange(9)}) > {rnd.randrange(20)}{rnd.choice(['', f' AND id = {rnd.randrange(9)}', ' AND a > 20'])}",
            lambda: f"SELECT sum(10 / (id - {rnd.randrange(9)})) FROM {name.replace('v2', 'v3')}",
        ], [8, 5, 3, 2, 2, 1, 2, 4, 2])[0]()

    def write(self):
        rnd = self.rnd
        name, column = rnd.choice([*TABLES, *TABLES, "v1", "v3"]), rnd.choice(COLUMNS[1:])
        value = lambda c: {"id": str(rnd.randrange(1, 20)), "a": str(rnd.randrange(60)), "b": f"'{self.role()}'"}[c]
        where = rnd.choice(["", f" WHERE id = {rnd.randrange(9)}", " WHERE a > 20", " WHERE b IS NOT NULL"])
        returning = rnd.choice(["", "", "", f" RETURNING {', '.join(self.columns())}", " RETURNING 1"])
        columns = ["id", *[c for c in COLUMNS[1:] if rnd.random() < 0.6]]
        values = ", ".join(value(c) for c in columns)
        return rnd.choices([
            lambda: f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({values}){returning}",
            lambda: f"INSERT INTO {name} VALUES ({value('id')}, {value('a')}){returning}",
            lambda: f"INSERT INTO {name} ({', '.join(columns)}) SELECT id + 30{''.join(f', {c}' for c in columns[1:])} FROM {self.relation()}{returning}",
            lambda: f"UPDATE {name} SET {column} = {value(column)}{where}{returning}",
            lambda: f"UPDATE {name} SET a = a + {value('id')}{where}{returning}",
            lambda: f"UPDATE {name} SET {column} = o.{column} FROM {self.relation()} o WHERE o.id = {name}.id{returning.replace('RETURNING id', 'RETURNING o.id').replace(', id', '').replace(', a', '').replace(', b', '').replace('RETURNING a', 'RETURNING 1').replace('RETURNING b', 'RETURNING 1')}",
            lambda: f"DELETE FROM {name}{where}{returning}",
            lambda: f"DELETE FROM {name} USING {self.relation()} o WHERE o.id = {name}.id",
            lambda: f"INSERT INTO {rnd.choice(TABLES)} ({', '.join(columns)}) VALUES ({values}) ON CONFLICT (id) DO UPDATE SET {column} = {rnd.choice([value(column), f'excluded.{column}'])}",
            lambda: f"INSERT INTO {rnd.choice(TABLES)} ({', '.join(columns)}) VALUES ({values}) ON CONFLICT DO NOTHING",
            lambda: f"INSERT INTO {rnd.choice(TABLES)} ({', '.join(columns)}) VALUES ({values}) ON CONFLICT (id) DO NOTHING{returning}",
            lambda: f"WITH w AS (INSERT INTO {name} (id, a) VALUES ({value('id')}, {value('a')}) RETURNING {rnd.choice(['id', '1'])}) SELECT count(*) FROM w, {self.relation()}",
            lambda: f"MERGE INTO {rnd.choice(TABLES)} m USING {self.relation()} o ON m.id = o.id WHEN MATCHED AND o.id > 4 THEN UPDATE SET a = 1"
                    + rnd.choice(["", " WHEN MATCHED THEN DELETE"]) + rnd.choice(["", " WHEN NOT MATCHED THEN INSERT (id) VALUES (o.id)"]),
            lambda: f"TRUNCATE {rnd.choice(TABLES)}",
            lambda: f"SELECT {rnd.choice(['nextval', 'currval', 'setval'])}('s'{', 5' if rnd.random() < 0 else ''})".replace("setval('s')", "setval('s', 5)"),
            lambda: f"LOCK TABLE {self.relation()} IN {rnd.choice(['ACCESS SHARE', 'ROW EXCLUSIVE', 'ACCESS EXCLUSIVE'])} MODE",
        ], [5, 2, 3, 6, 3, 2, 4, 1, 4, 1, 1, 1, 3, 1, 1, 1])[0]()

    def define(self):
        rnd, name = self.rnd, self.relation()
        return rnd.choice([
            f"ALTER TABLE {rnd.choice(TABLES)} ADD COLUMN z int",
            f"DROP {'VIEW' if name in VIEWS else 'TABLE'} {name} CASCADE",
            "CREATE TABLE made (id int)",
            f"CREATE INDEX ON {rnd.choice(TABLES)} (a)",
            f"CREATE VIEW made AS SELECT id FROM {name}",
            f"COMMENT ON COLUMN {name}.a IS 'x'",
            f"ALTER TABLE {name} OWNER TO {self.role()}",
            self.grant(),
            self.grant("REVOKE", "FROM"),
            f"GRANT {self.role()} TO {self.role()}",
            "CREATE ROLE made",
            f"SET ROLE {self.role()}",
        ])

    def statement(self):
        return self.rnd.choices([self.read, self.write, self.define], [10, 10, 2])[0]()


def run(tally, stoa, oracle, seed, count):
    """Compares about `count` statements; the same seed makes the same ones. Works in a schema and with roles named after the seed."""
    maker, made = Maker(random.Random(seed), f"privileges_{seed}"), 0
    sides = (oracle, stoa)

    def everywhere(sql):
        theirs, ours = oracle.run(sql), stoa.run(sql)
        if ours[0] != theirs[0]:
            tally.judge("set up", sql, ours, theirs, False)

    while made < count:
        for sql in ["RESET SESSION AUTHORIZATION", *maker.drop(), *maker.setup()]:
            everywhere(sql)
        log = []
        for _ in range(STATEMENTS):
            if maker.rnd.random() < 0.2:
                log.append(maker.change())
                everywhere(log[-1])
            role, sql, filtered = maker.role(), maker.statement(), maker.rnd.random() < 0.93
            made += 1
            for side in sides:
                side.run(f"SET SESSION AUTHORIZATION {role}")
                side.run("BEGIN")
                side.run(f"SET LOCAL row_security = {'on' if filtered else 'off'}")
            ours, theirs = tally.ask(stoa, oracle, sql, again=False)
            same = ours[0] == theirs[0] and sorted(map(repr, ours[2])) == sorted(map(repr, theirs[2]))
            label = f"{theirs[0]} became {ours[0]}" if ours[0] != theirs[0] else "rows"
            if sql.startswith(("INSERT", "UPDATE", "DELETE", "MERGE")) and ours[0] == theirs[0] == "00000":
                for side in sides:
                    side.run("RESET SESSION AUTHORIZATION")
                left = [sorted(map(repr, side.run("SELECT 1, * FROM t1 UNION ALL SELECT 2, * FROM t2")[2])) for side in sides]
                if left[0] != left[1]:
                    same, label = False, "rows that are left"
            tally.judge(label, f"{role}: {sql}", ours, theirs, same, context=f"seed {seed}")
            for side in sides:
                side.run("ROLLBACK")
                side.run("RESET SESSION AUTHORIZATION")
    for sql in ["RESET SESSION AUTHORIZATION", *maker.drop()]:
        everywhere(sql)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", default="host=127.0.0.1 port=5432 user=postgres")
    parser.add_argument("--dsn", default="host=127.0.0.1 port=5433 user=stoa dbname=stoa")
    parser.add_argument("--binary")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    tally = Tally("privileges", examples=4)
    with server(args.binary, args.dsn) as dsn, database(args.oracle) as oracle:
        sides = Side(dsn), Side(oracle)
        left, seed = args.count, args.seed
        while left > 0:
            try:
                run(tally, *sides, seed, min(left, 300))
            finally:
                # Roles are the server's: they do not go with the database.
                for side in sides:
                    for sql in ["ROLLBACK", "RESET SESSION AUTHORIZATION", *Maker(random.Random(seed), f"privileges_{seed}").drop()]:
                        side.run(sql)
            left, seed = left - 300, seed + 1
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
