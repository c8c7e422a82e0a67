-- Wrong results that other systems with indexes over a key-value store have shipped. Each pair of queries must agree: the first reads
-- the table, the second is free to use an index. Run by tests/indexes/peers.py.

-- setup
CREATE TABLE t (id int PRIMARY KEY, a int, b text, c int, d text);
INSERT INTO t SELECT n, n % 7, chr(97 + n % 5) || CASE WHEN n % 3 = 0 THEN 'z' ELSE '' END, CASE WHEN n % 4 > 0 THEN n END, 'd' || n FROM generate_series(1, 300) n;
INSERT INTO t VALUES (1001, 3, 'ab', NULL, 'x'), (1002, 3, 'abc', 1, 'y'), (1003, 3, 'ab%', 2, NULL), (1004, NULL, NULL, NULL, NULL), (1005, 3, 'ac', 3, 'z');
CREATE INDEX ab ON t (a, b);
CREATE INDEX bdesc ON t (b DESC) INCLUDE (c, d);
CREATE INDEX salted ON t (c) INCLUDE (a) WITH (salt_buckets = 5);
CREATE INDEX wide ON t (d, a DESC NULLS LAST) WITH (salt_buckets = 256);
-- row-value comparisons on index keys
SELECT id FROM t WHERE (a, b) > (3, 'ab') ORDER BY id
SELECT id FROM t WHERE (a, b) <= (3, 'abc') ORDER BY id
SELECT id FROM t WHERE (a, b) >= (3, 'ab') AND (a, b) < (4, 'b') ORDER BY id
-- LIKE on a DESC index column, and prefixes that are prefixes of a bound
SELECT id FROM t WHERE b LIKE 'a%' ORDER BY id
SELECT id FROM t WHERE b LIKE 'ab%' ORDER BY id
SELECT id FROM t WHERE b LIKE 'ab\%' ORDER BY id
SELECT id FROM t WHERE b >= 'ab' AND b < 'abc' ORDER BY id
SELECT id FROM t WHERE b > 'ab' AND b <= 'ac' ORDER BY id
SELECT id FROM t WHERE b BETWEEN 'a' AND 'ab' ORDER BY id
-- the last salt bucket, and all of them in order
SELECT id, a FROM t WHERE c > 250 ORDER BY c
SELECT id FROM t WHERE c >= 1 ORDER BY c DESC LIMIT 7
SELECT id, d FROM t WHERE d > 'd' ORDER BY d DESC, a LIMIT 300
SELECT count(*) FROM t WHERE d >= ''
-- DISTINCT on an index prefix
SELECT DISTINCT a FROM t ORDER BY a
SELECT DISTINCT a, b FROM t WHERE a = 3 ORDER BY a, b
-- OFFSET and LIMIT with index lookup
SELECT id, d FROM t WHERE a = 3 ORDER BY a, b, id LIMIT 4 OFFSET 3
SELECT id, d FROM t WHERE a > 1 AND c IS NOT NULL ORDER BY a, b, id LIMIT 5 OFFSET 2
SELECT count(*) FROM (SELECT d FROM t WHERE a = 3 AND d LIKE 'd1%' LIMIT 3) x
SELECT count(*) FROM (SELECT d FROM t WHERE a = 3 LIMIT 1000 OFFSET 2) x
-- NULL: comparisons, IS NULL, NOT IN
SELECT id FROM t WHERE a IS NULL OR c IS NULL ORDER BY id
SELECT id FROM t WHERE c NOT IN (1, 2, NULL) ORDER BY id
SELECT id FROM t WHERE c <> 2 AND c < 9 ORDER BY id
SELECT min(c), max(c), min(b), max(b), count(c) FROM t
-- change: a covered column set to NULL
UPDATE t SET c = NULL, d = NULL WHERE id IN (1002, 7, 8);
SELECT id, c, d FROM t WHERE b = 'abc' ORDER BY id
SELECT id, c, d FROM t WHERE b LIKE 'c%' ORDER BY id
SELECT id, a FROM t WHERE c IS NULL ORDER BY id
-- change: upsert, delete and upsert of one row in a transaction, and one row touched by two parts of a statement
BEGIN; INSERT INTO t VALUES (2000, 3, 'q', 1, 'x') ON CONFLICT (id) DO UPDATE SET b = 'q1'; DELETE FROM t WHERE id = 2000; INSERT INTO t VALUES (2000, 4, 'r', 2, 'y') ON CONFLICT (id) DO UPDATE SET b = 'r1'; COMMIT;
INSERT INTO t VALUES (2000, 5, 's', 3, 'w') ON CONFLICT (id) DO UPDATE SET a = excluded.a, b = excluded.b;
WITH gone AS (DELETE FROM t WHERE id = 1 RETURNING a) UPDATE t SET a = 6 FROM gone WHERE t.id = 2;
UPDATE t SET id = id + 10000 WHERE id BETWEEN 100 AND 110;
SELECT id, a, b FROM t WHERE a >= 4 ORDER BY id
SELECT id FROM t WHERE b IN ('q', 'q1', 'r', 'r1', 's') ORDER BY id
SELECT id FROM t WHERE a = 6 AND b > '' ORDER BY id
