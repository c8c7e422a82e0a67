-- Grouping sets, LATERAL, recursion, set operations, windows, comparisons of rows.
CREATE TABLE t (id int PRIMARY KEY, g text, v int, d date);
INSERT INTO t VALUES (1, 'a', 10, '2024-01-01'), (2, 'a', 20, '2024-01-02'), (3, 'b', 30, NULL), (4, 'b', NULL, '2024-02-01'), (5, NULL, 50, '2024-02-01');
CREATE TABLE e (id int PRIMARY KEY, boss int, name text);
INSERT INTO e VALUES (1, NULL, 'root'), (2, 1, 'l'), (3, 1, 'r'), (4, 2, 'll'), (5, 2, 'lr'), (6, 3, 'rl');
SELECT g, d, count(*), sum(v), grouping(g, d) FROM t GROUP BY GROUPING SETS ((g, d), (g), ()) ORDER BY 1, 2, 5;
SELECT g, v, count(*) FROM t GROUP BY ROLLUP (g, v) ORDER BY 1, 2, 3;
SELECT g, v % 20 AS m, count(*) FROM t GROUP BY CUBE (g, m) ORDER BY 1, 2, 3;
SELECT g, count(*) FROM t GROUP BY DISTINCT ROLLUP (g), ROLLUP (g) ORDER BY 1, 2;
SELECT g, v, d, count(*) FROM t GROUP BY g, ROLLUP (v, d) HAVING grouping(v) = 1 ORDER BY 1;
\sorted
SELECT grouping(v) FROM t GROUP BY g;
\sorted
SELECT g FROM t GROUP BY ROLLUP (v);
\sorted
SELECT grouping(g) FROM t;
\sorted
SELECT count(*) FROM t GROUP BY ();
\sorted
SELECT count(*) FROM t WHERE false GROUP BY GROUPING SETS ((), (g));
SELECT g, sum(v) FROM t GROUP BY 1 HAVING sum(v) > 25 ORDER BY sum(v) DESC;
SELECT g AS x FROM t GROUP BY x ORDER BY x NULLS FIRST;
\sorted
SELECT g FROM t GROUP BY 2;
\sorted
SELECT g FROM t GROUP BY 0;
\sorted
SELECT g FROM t GROUP BY 'a';
\sorted
SELECT g FROM t GROUP BY 1.5;
\sorted
SELECT count(*) AS c FROM t GROUP BY c;
SELECT id, g, v FROM t GROUP BY id ORDER BY id;
SELECT t.*, count(*) FROM t GROUP BY id ORDER BY id LIMIT 2;
\sorted
SELECT g FROM t HAVING count(*) > 1;
\sorted
SELECT 1 FROM t HAVING count(*) > 1;
\sorted
SELECT sum(v) FROM t WHERE sum(v) > 1;
\sorted
SELECT sum(sum(v)) FROM t;
\sorted
SELECT sum(sum(v)) OVER () FROM t GROUP BY g;
SELECT g, sum(count(*)) OVER (ORDER BY g) FROM t GROUP BY g ORDER BY g;
SELECT x.id, l.m FROM t x LEFT JOIN LATERAL (SELECT max(y.v) m FROM t y WHERE y.id < x.id) l ON true ORDER BY 1;
SELECT x.id, s FROM t x, LATERAL generate_series(1, x.id) s WHERE x.id < 3 ORDER BY 1, 2;
SELECT x.id, l.* FROM t x CROSS JOIN LATERAL (SELECT id, v FROM t y WHERE y.g = x.g ORDER BY v DESC NULLS LAST LIMIT 1) l ORDER BY 1;
\sorted
SELECT * FROM t x, (SELECT x.id) y;
\sorted
SELECT * FROM t x RIGHT JOIN LATERAL (SELECT x.id) y ON true;
\sorted
SELECT * FROM t x FULL JOIN LATERAL (SELECT x.id) y ON true;
\sorted
SELECT * FROM LATERAL (VALUES (1), (2)) v;
WITH RECURSIVE r AS (SELECT id, boss, name, 1 AS lvl FROM e WHERE boss IS NULL UNION ALL SELECT e.id, e.boss, e.name, lvl + 1 FROM e JOIN r ON e.boss = r.id) SEARCH DEPTH FIRST BY id SET ord SELECT id, lvl, ord FROM r ORDER BY ord;
WITH RECURSIVE r AS (SELECT id, boss FROM e WHERE boss IS NULL UNION ALL SELECT e.id, e.boss FROM e JOIN r ON e.boss = r.id) SEARCH BREADTH FIRST BY id SET ord SELECT * FROM r ORDER BY ord;
\sorted
WITH RECURSIVE r(a, b) AS (VALUES (1, 2) UNION ALL SELECT b, a FROM r) CYCLE a SET cyc USING path SELECT * FROM r;
\sorted
WITH RECURSIVE r(a, b) AS (VALUES (1, 2) UNION ALL SELECT b, a FROM r) CYCLE a, b SET cyc TO 'Y' DEFAULT 'N' USING path SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n), count(*) FROM r;
WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT (n + 1) % 3 FROM r) SELECT * FROM r ORDER BY 1;
\sorted
WITH RECURSIVE r(n) AS (SELECT n FROM r) SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT count(*) FROM r) SELECT * FROM r;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r ORDER BY 1 LIMIT 3) SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 3;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT 'a' FROM r) SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1.5 FROM r WHERE n < 3) SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM (SELECT n + 1 AS n FROM r WHERE n < 3) x) SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT r.n + 1 FROM t LEFT JOIN r ON true WHERE r.n < 3) SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT x.n + 1 FROM r x, r y WHERE x.n < 3) SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 INTERSECT SELECT n FROM r) SELECT * FROM r;
\sorted
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT 2 WHERE 1 IN (SELECT n FROM r)) SELECT * FROM r;
\sorted
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a;
\sorted
WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a;
\sorted
WITH a AS MATERIALIZED (SELECT 1 AS x), b AS NOT MATERIALIZED (SELECT x + 1 AS y FROM a) SELECT * FROM a, b;
\sorted
WITH a (x, y) AS (SELECT 1) SELECT * FROM a;
\sorted
WITH a (x) AS (SELECT 1, 2) SELECT * FROM a;
\sorted
WITH b AS (SELECT * FROM a), a AS (SELECT 1) SELECT * FROM b;
SELECT 1 UNION SELECT 2 INTERSECT SELECT 2 ORDER BY 1;
(SELECT 1 UNION SELECT 2) INTERSECT SELECT 2;
SELECT 1 UNION ALL SELECT 1 EXCEPT SELECT 2;
SELECT 1 EXCEPT ALL SELECT 1 UNION ALL SELECT 3;
(SELECT id FROM t ORDER BY id DESC LIMIT 2) UNION ALL (SELECT 100) ORDER BY 1;
SELECT id FROM t ORDER BY id LIMIT 1 UNION SELECT 1;
SELECT 1 UNION SELECT 'a';
SELECT 1, 2 UNION SELECT 1;
SELECT NULL UNION SELECT NULL UNION SELECT 1;
SELECT 'a' AS x UNION SELECT 'b' ORDER BY x DESC;
SELECT 'a' AS x UNION SELECT 'b' ORDER BY upper(x);
SELECT id FROM t UNION SELECT id FROM e ORDER BY t.id;
SELECT 1::smallint AS n UNION SELECT 2.5 ORDER BY n;
SELECT ARRAY[1] UNION SELECT '{2}' ORDER BY 1;
SELECT json '1' UNION SELECT json '2';
VALUES (1, 'a'), (2, 'b') UNION ALL VALUES (3, 'c') ORDER BY 1 DESC;
VALUES (1), (2.5), (NULL) ORDER BY 1 LIMIT 2 OFFSET 1;
VALUES (1, 2), (3);
VALUES (1), ('a');
TABLE t ORDER BY id LIMIT 1;
SELECT ALL id FROM t WHERE id IN (1, 2) ORDER BY id;
SELECT DISTINCT ON (g) g, id FROM t ORDER BY g, id DESC;
SELECT DISTINCT ON (g) g, id FROM t ORDER BY id;
SELECT DISTINCT g FROM t ORDER BY v;
SELECT DISTINCT g, v FROM t ORDER BY v DESC NULLS FIRST, g LIMIT 3;
\sorted
SELECT count(DISTINCT (g, d)) FROM t;
SELECT id FROM t ORDER BY v NULLS FIRST FETCH FIRST 2 ROWS ONLY;
SELECT v % 20 AS m, id FROM t ORDER BY m FETCH FIRST 1 ROW WITH TIES;
\sorted
SELECT id FROM t FETCH FIRST ROW WITH TIES;
SELECT id FROM t ORDER BY id LIMIT NULL OFFSET NULL;
SELECT id FROM t ORDER BY id LIMIT ALL OFFSET 3 ROWS;
\sorted
SELECT id FROM t LIMIT -1;
\sorted
SELECT id FROM t OFFSET -1;
\sorted
SELECT id FROM t LIMIT 'a';
\sorted
SELECT id FROM t LIMIT id;
SELECT id FROM t ORDER BY id LIMIT (SELECT 2) OFFSET 1 + 1;
\sorted
SELECT id FROM t LIMIT 1.5;
SELECT id FROM t ORDER BY 2;
SELECT id FROM t ORDER BY 'a';
SELECT id FROM t ORDER BY -id LIMIT 2;
SELECT id AS v FROM t ORDER BY v DESC LIMIT 2;
SELECT id, v AS id FROM t ORDER BY id;
\sorted
SELECT (1, 2) = (1, 2), (1, 2) < (1, NULL), (1, NULL) = (2, NULL), (1, 2) <> (1, NULL), (1, NULL) IS DISTINCT FROM (1, NULL), ROW(1, 2) IN ((1, 2), (3, 4)), (1, 2) = ANY (SELECT id, v FROM t), (1, 10) IN (SELECT id, v FROM t), (SELECT 1, 2) = (1, 2);
SELECT (1, 2) = (1, 2, 3);
SELECT (1, 'a') < (1, 2);
SELECT (1, 2) = 1;
\sorted
SELECT (1, 2) IN (SELECT id FROM t);
SELECT (1, 2) LIKE (1, 2);
\sorted
SELECT 1 = ANY (ARRAY[1, 2]), 1 < ALL (ARRAY[2, NULL]), 1 = ANY ('{1,2}'), 3 <> ALL (SELECT id FROM t WHERE id < 3), NULL = ANY (ARRAY[1]), 1 = ANY (ARRAY[]::int[]), 1 = ALL ('{}'), 'a' LIKE ANY (ARRAY['a%', 'b']), 5 > ANY (SELECT v FROM t), 5 = SOME (SELECT 5);
SELECT 1 = ANY (1);
SELECT 1 = ANY (ARRAY['a']);
SELECT 1 + ANY (ARRAY[1]);
\sorted
SELECT (SELECT id FROM t);
\sorted
SELECT (SELECT id, v FROM t LIMIT 1);
SELECT (SELECT id FROM t WHERE id = 99) IS NULL, EXISTS (SELECT FROM t), NOT EXISTS (SELECT 1 FROM t WHERE false), ARRAY(SELECT id FROM t ORDER BY id DESC), 1 IN (SELECT 1), 1 NOT IN (SELECT NULL::int), (SELECT max(v) FROM t x WHERE x.g = t.g) FROM t WHERE id = 1;
\sorted
SELECT * FROM (SELECT 1);
\sorted
SELECT * FROM (SELECT 1) AS s, (VALUES (1, 2)) AS v (a, b), t AS z (x) WHERE z.x = 1;
\sorted
SELECT * FROM t AS z (a, b, c, d, e);
\sorted
SELECT t.id FROM t AS z;
\sorted
SELECT z.id, id FROM t AS z, e;
SELECT * FROM t JOIN e USING (id) ORDER BY id LIMIT 2;
SELECT t.id, e.id, id FROM t FULL JOIN e USING (id) ORDER BY id;
SELECT j.id, name FROM t JOIN e USING (id) AS j ORDER BY 1 LIMIT 2;
SELECT * FROM t NATURAL JOIN e ORDER BY id LIMIT 1;
\sorted
SELECT * FROM t JOIN e USING (nosuch);
\sorted
SELECT * FROM t JOIN e ON t.id;
\sorted
SELECT * FROM t JOIN e;
\sorted
SELECT * FROM t CROSS JOIN e ON true;
\sorted
SELECT * FROM t LEFT JOIN e ON t.id = e.id AND x.id = 1 JOIN t x ON true;
\sorted
SELECT * FROM t, t;
\sorted
SELECT count(*) FROM t a JOIN t b ON a.id = b.id + 1 LEFT JOIN t c ON c.id = b.id - 1 AND c.v > 10;
SELECT id, v, rank() OVER w, dense_rank() OVER w, row_number() OVER (w ROWS UNBOUNDED PRECEDING), percent_rank() OVER w, cume_dist() OVER w, ntile(2) OVER w, lag(v, 2, -1) OVER w, lead(v) OVER w, first_value(v) OVER w, last_value(v) OVER w, nth_value(v, 2) OVER w, sum(v) OVER (w RANGE BETWEEN 10 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (ORDER BY v NULLS FIRST) ORDER BY id;
SELECT id, sum(v) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM t ORDER BY id;
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN '1 month' PRECEDING AND '1 day' FOLLOWING) FROM t ORDER BY id;
SELECT id, count(*) OVER (ORDER BY g GROUPS 1 PRECEDING) FROM t ORDER BY id;
\sorted
SELECT sum(v) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM t;
\sorted
SELECT sum(v) OVER (RANGE 1 PRECEDING) FROM t;
SELECT sum(v) OVER (ORDER BY g RANGE 1 PRECEDING) FROM t;
SELECT sum(v) OVER (ORDER BY id ROWS -1 PRECEDING) FROM t;
\sorted
SELECT sum(v) OVER nosuch FROM t;
SELECT sum(v) OVER w FROM t WINDOW w AS (ORDER BY id), w AS (ORDER BY v);
\sorted
SELECT id FROM t WHERE row_number() OVER () = 1;
SELECT id FROM t ORDER BY row_number() OVER (ORDER BY id DESC);
SELECT rank() OVER (ORDER BY rank() OVER ()) FROM t;
SELECT * FROM t TABLESAMPLE BERNOULLI (100) ORDER BY id LIMIT 1;
SELECT * FROM t TABLESAMPLE SYSTEM (100) REPEATABLE (1) ORDER BY id LIMIT 1;
\sorted
SELECT * FROM t TABLESAMPLE nosuch (100);
\sorted
SELECT * FROM t TABLESAMPLE BERNOULLI (200);
\sorted
SELECT * FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY['a', 'b'])) WITH ORDINALITY AS x (a, b, c);
SELECT * FROM unnest(ARRAY[1, 2]) u, unnest(ARRAY[[1, 2], [3, 4]]) w ORDER BY 1, 2;
SELECT id FROM t WHERE v BETWEEN 10 AND 20 AND v NOT BETWEEN 15 AND 16 AND v BETWEEN SYMMETRIC 30 AND 5 ORDER BY id;
SELECT id FROM t WHERE v IS NULL OR g ISNULL OR d NOTNULL ORDER BY id;
SELECT id FROM t WHERE (v > 10) IS TRUE OR (v > 10) IS UNKNOWN ORDER BY id;
\sorted
SELECT id FROM t WHERE v IS NOT DISTINCT FROM NULL;
SELECT id FROM t WHERE (id, v) IN ((1, 10), (2, 99), (3, 30)) ORDER BY id;
SELECT id FROM t WHERE (g, v) > ('a', 10) ORDER BY id;
\sorted
SELECT id FROM t WHERE id = 1 FOR UPDATE OF t NOWAIT;
\sorted
SELECT id FROM t WHERE id = 1 FOR SHARE OF nosuch;
\sorted
SELECT count(*) FROM t FOR UPDATE;
\sorted
SELECT g FROM t GROUP BY g FOR UPDATE;
\sorted
SELECT DISTINCT g FROM t FOR UPDATE;
SELECT 1 UNION SELECT 2 FOR UPDATE;
SELECT id FROM t ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED;
\sorted
SELECT id FROM t FOR KEY SHARE FOR NO KEY UPDATE LIMIT 1;
\sorted
SELECT * INTO newt FROM t WHERE id < 3;
\sorted
SELECT count(*) FROM newt;
\sorted
SELECT * INTO TEMP newt2 FROM t WHERE id < 3;
SELECT 1 AS a INTO x UNION SELECT 2;
\sorted
SELECT (t).id, (t.*) IS NULL, t.* FROM t WHERE id = 1;
\sorted
SELECT (t).nosuch FROM t;
\sorted
SELECT t.nosuch FROM t;
\sorted
SELECT nosuch.* FROM t;
\sorted
SELECT *, * FROM e WHERE id = 1;
\sorted
SELECT count(t), count(t.*), count(*) FROM t;
SELECT;
\sorted
SELECT FROM t WHERE id < 3;
SELECT 1 AS "A b", 2 "select", 3 AS from, 4 x;
SELECT 1 a, 2 year, 3 AS order;
\sorted
SELECT id year FROM t LIMIT 1;
SELECT 'a' 'b';
SELECT 'a'
'b';
\sorted
SELECT U&'\0041', E'\x41\u0042\t', $$a'b$$, $q$x$$y$q$, 'a''b', "id" FROM t LIMIT 1;
SELECT 1e3, .5, 5., 1_0, 0x10;
SELECT -1 - -1, 2 - -2, - 3, 5 % -3, 2 ^ -1, NOT true AND false, NOT (1 = 2), 1 < 2 = true, 'a' || 'b' = 'ab', 1 + 2 || 'a', 10 - 5 - 2, 2 * 3 % 4;
SELECT 1 < 2 < 3;
SELECT 1 = 1 = 1;
SELECT 5 IS NULL = false, NOT 1 IS NULL, 1 IN (1) AND 2 NOT IN (1), 'a' LIKE 'a' || '', 1 BETWEEN 0 AND 2 AND true;
