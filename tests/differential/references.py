"""Random transactions over tables that refer to each other, with every action and with checks that wait for the commit.

What is compared is each statement's SQLSTATE and, after each transaction, the rows of all tables. Keys are few, so that rows are found,
move onto each other's keys and come back; an UPDATE of many keys moves them far, because PostgreSQL checks them in the order in which
its rows happen to lie. (Keys of rows that refer to each other in a circle are moved one at a time: see docs/postgresql.md.)
"""
import random

import generated

ACTIONS = ["", "CASCADE", "CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT"]
WAITS = ["", "DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED", "DEFERRABLE INITIALLY DEFERRED", "DEFERRABLE INITIALLY DEFERRED"]
TABLES = ["p", "c", "g"]
TRANSACTIONS = 8  # for one set of tables


class Maker:
    def __init__(self, rnd):
        self.rnd = rnd

    def clause(self):
        delete, update, wait = self.rnd.choice(ACTIONS), self.rnd.choice(ACTIONS), self.rnd.choice(WAITS)
        return " ".join(filter(None, [delete and f"ON DELETE {delete}", update and f"ON UPDATE {update}", wait]))

    def episode(self):
        return [
            "DROP TABLE IF EXISTS g, c, p CASCADE",
            "CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE)",
            f"CREATE TABLE c (id int PRIMARY KEY, pid int DEFAULT 1 REFERENCES p {self.clause()}, pu int REFERENCES p (u) {self.clause()})",
            f"CREATE TABLE g (id int PRIMARY KEY, cid int REFERENCES c {self.clause()}, gid int REFERENCES g {self.clause()})",
            "INSERT INTO p SELECT i, i * 10 FROM generate_series(1, 4) i",
            "INSERT INTO c SELECT i, i, i * 10 FROM generate_series(1, 3) i",
            "INSERT INTO g SELECT i, i, CASE WHEN i > 1 THEN i - 1 END FROM generate_series(1, 3) i",
        ]

    def key(self):
        return self.rnd.randrange(1, 8)

    def value(self, step=1):
        return self.rnd.choice(["NULL", *(str(n * step) for n in (1, 2, 3, 4, 5, 9))])

    def move(self):
        """Many keys, further than the first is from the last: none takes the place of another that moves."""
        first = self.rnd.choice([1, 4, 20, 40, -20])
        return f"UPDATE c SET id = id + {self.rnd.choice([20, 40, -20, -40])} WHERE id BETWEEN {first} AND {first + self.rnd.randrange(2, 19)}"

    def statement(self):
        rnd, key, value = self.rnd, self.key, self.value
        return rnd.choices([
            lambda: f"INSERT INTO c VALUES ({key()}, {value()}, {value(10)})",
            lambda: f"INSERT INTO g VALUES ({key()}, {value()}, {value()})",
            lambda: f"INSERT INTO p VALUES ({key()}, {value(10)})",
            lambda: f"UPDATE {rnd.choice(TABLES)} SET id = {key()} WHERE id = {key()}",
            self.move,
            lambda: f"UPDATE p SET u = {value(10)} WHERE id = {key()}",
            lambda: f"UPDATE c SET pid = {value()}, pu = {value(10)} WHERE id = {key()}",
            lambda: f"UPDATE g SET cid = {value()}, gid = {value()} WHERE id = {key()}",
            lambda: f"DELETE FROM {rnd.choice(TABLES)} WHERE id = {key()}",
            lambda: f"INSERT INTO c VALUES ({key()}, {value()}, {value(10)}) ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, id = {key()}",
            lambda: f"MERGE INTO c USING p ON c.id = p.id WHEN MATCHED AND p.id < {key()} THEN UPDATE SET pid = {value()} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (p.id, {value()})",
        ], [15, 8, 8, 12, 12, 6, 8, 6, 10, 4, 2])[0]()

    def statements(self):
        """Statements from BEGIN to the end, or one by itself."""
        rnd = self.rnd
        if rnd.random() < 0.2:
            return [self.statement()]
        statements, savepoints = ["BEGIN"], 0
        for _ in range(rnd.randrange(1, 6)):
            chance = rnd.random()
            if chance < 0.08:
                savepoints += 1
                statements.append(f"SAVEPOINT s{savepoints}")
            elif chance < 0.14 and savepoints:
                statements.append(f"{rnd.choice(['ROLLBACK TO', 'RELEASE'])} s{rnd.randrange(1, savepoints + 1)}")
            elif chance < 0.18:
                statements.append(f"SET CONSTRAINTS ALL {rnd.choice(['IMMEDIATE', 'DEFERRED'])}")
            else:
                statements.append(self.statement())
        return [*statements, rnd.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"])]

    def looks(self, _):
        return [f"SELECT * FROM {table}" for table in TABLES]


def run(tally, stoa, oracle, seed, count):
    """Compares about `count` statements; see generated.py."""
    generated.run_episodes(tally, stoa, oracle, "references", seed, count, Maker(random.Random(seed)), TRANSACTIONS)
