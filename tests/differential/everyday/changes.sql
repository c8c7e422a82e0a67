-- INSERT with ON CONFLICT, UPDATE, DELETE and MERGE in every form, also in WITH; parts of arrays; sequences.
CREATE TABLE p (id int PRIMARY KEY, code text UNIQUE, qty int DEFAULT 1, note text, CONSTRAINT q CHECK (qty >= 0));
INSERT INTO p VALUES (1, 'a', 1, 'n1'), (2, 'b', 2, 'n2'), (3, 'c', 3, NULL);
INSERT INTO p VALUES (1, 'z', 9) ON CONFLICT DO NOTHING;
\sorted
INSERT INTO p VALUES (1, 'z', 9) ON CONFLICT DO NOTHING RETURNING *;
\sorted
INSERT INTO p VALUES (1, 'z', 9) ON CONFLICT (id) DO UPDATE SET qty = excluded.qty + p.qty RETURNING *;
INSERT INTO p VALUES (1, 'z', 9) ON CONFLICT (code) DO NOTHING;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT (id) DO NOTHING;
\sorted
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT ON CONSTRAINT p_code_key DO UPDATE SET note = excluded.note || '?', qty = DEFAULT RETURNING id, qty, note;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT ON CONSTRAINT q DO NOTHING;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT ON CONSTRAINT nosuch DO NOTHING;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT (qty) DO NOTHING;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT (nosuch) DO NOTHING;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT DO UPDATE SET qty = 1;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT (id, code) DO NOTHING;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT (id) DO UPDATE SET nosuch = 1;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT (id) DO UPDATE SET qty = nosuch;
INSERT INTO p VALUES (9, 'b', 9) ON CONFLICT (id) DO UPDATE SET qty = qty + 1;
\sorted
INSERT INTO p VALUES (1, 'zz', 9) ON CONFLICT (id) DO UPDATE SET (qty, note) = (excluded.qty, 'two') WHERE p.qty < excluded.qty RETURNING *;
\sorted
INSERT INTO p VALUES (1, 'zz', 90) ON CONFLICT (id) DO UPDATE SET (qty, note) = (excluded.qty, 'two') WHERE p.qty < excluded.qty RETURNING *;
\sorted
INSERT INTO p VALUES (1, 'zz', 90) ON CONFLICT (id) DO UPDATE SET (qty, note) = ROW(5, upper(p.note)) RETURNING p.*, p.qty * 2 AS dbl;
\sorted
INSERT INTO p VALUES (1, 'zz', 90) ON CONFLICT (id) DO UPDATE SET (qty, note) = (SELECT count(*), max(note) FROM p) RETURNING *;
INSERT INTO p VALUES (1, 'zz', 90) ON CONFLICT (id) DO UPDATE SET id = 2;
INSERT INTO p VALUES (1, 'zz', 90) ON CONFLICT (id) DO UPDATE SET qty = -1;
INSERT INTO p VALUES (4, 'zz', -90) ON CONFLICT (id) DO NOTHING;
INSERT INTO p VALUES (1, 'zz', -90) ON CONFLICT (id) DO NOTHING;
INSERT INTO p VALUES (5, 'e'), (5, 'f') ON CONFLICT (id) DO UPDATE SET qty = 0;
\sorted
INSERT INTO p VALUES (5, 'e'), (5, 'f') ON CONFLICT (id) DO NOTHING RETURNING *;
\sorted
INSERT INTO p AS tgt VALUES (5, 'e') ON CONFLICT (id) DO UPDATE SET qty = tgt.qty + 10 RETURNING tgt.*;
INSERT INTO p AS tgt VALUES (5, 'e') ON CONFLICT (id) DO UPDATE SET qty = p.qty + 10;
INSERT INTO p AS excluded VALUES (5, 'e') ON CONFLICT (id) DO UPDATE SET qty = 3;
INSERT INTO p VALUES (5, 'e') ON CONFLICT (id) DO UPDATE SET qty = 3 WHERE sum(p.qty) > 1;
\sorted
INSERT INTO p VALUES (5, 'e') ON CONFLICT (id) DO UPDATE SET qty = 3 RETURNING excluded.qty;
INSERT INTO p VALUES (5, 'e') ON CONFLICT (lower(code)) DO NOTHING;
CREATE UNIQUE INDEX p_lc ON p (lower(code));
\sorted
INSERT INTO p VALUES (15, 'E') ON CONFLICT (lower(code)) DO UPDATE SET note = 'lower' RETURNING *;
INSERT INTO p VALUES (15, 'E') ON CONFLICT (upper(code)) DO NOTHING;
DROP INDEX p_lc;
CREATE UNIQUE INDEX p_part ON p (qty) WHERE note = 'lower';
INSERT INTO p VALUES (16, 'g', 3, 'lower') ON CONFLICT (qty) DO NOTHING;
\sorted
INSERT INTO p VALUES (16, 'g', 3, 'lower') ON CONFLICT (qty) WHERE note = 'lower' DO NOTHING RETURNING *;
\sorted
INSERT INTO p VALUES (17, 'h', 3, 'lower') ON CONFLICT (qty) WHERE note = 'lower' DO UPDATE SET note = 'again' RETURNING *;
DROP INDEX p_part;
INSERT INTO p SELECT id, code, qty + 100 FROM p WHERE id < 4 ON CONFLICT (id) DO UPDATE SET qty = excluded.qty;
WITH x AS (INSERT INTO p VALUES (1, 'q'), (77, 'r') ON CONFLICT (id) DO UPDATE SET note = 'cte' RETURNING id, note) SELECT * FROM x ORDER BY id;
SELECT * FROM p ORDER BY id;
\sorted
UPDATE p x SET qty = x.qty + y.qty FROM p y WHERE y.id = x.id + 1 AND x.id = 1 RETURNING x.id, y.id, x.qty;
UPDATE p x SET x.qty = 3;
UPDATE p SET p.qty = 3;
UPDATE p x SET qty = p.qty;
UPDATE p SET qty = 1, qty = 2;
UPDATE p SET (qty, note) = (1, 2, 3);
UPDATE p SET (qty, note) = (SELECT 1);
UPDATE p SET (qty, note) = 1;
UPDATE p SET (qty) = (1) WHERE id = 1;
UPDATE p SET (qty) = ROW(1) WHERE id = 1;
\sorted
UPDATE p SET (qty, note) = (DEFAULT, DEFAULT) WHERE id = 1 RETURNING *;
\sorted
UPDATE p SET (qty, note) = (SELECT 1, 'x' WHERE false) WHERE id = 2 RETURNING *;
UPDATE p SET (qty, note) = (SELECT q.id, q.code FROM p q WHERE q.id < 4) WHERE id = 2;
UPDATE p SET qty = (SELECT q.id FROM p q);
UPDATE p SET qty = 'abc';
\sorted
UPDATE p SET qty = 1.6 WHERE id = 1 RETURNING qty;
UPDATE p SET qty = now();
\sorted
UPDATE p SET note = now() - now() WHERE id = 1 RETURNING note;
UPDATE p SET nosuch = 1;
UPDATE nosuch SET a = 1;
UPDATE p SET qty = count(*);
UPDATE p SET qty = row_number() OVER ();
UPDATE p SET qty = generate_series(1, 2);
UPDATE p SET id = -id;
UPDATE ONLY p SET qty = 4 WHERE id = 4;
UPDATE p * SET qty = 4 WHERE id = 4;
UPDATE p SET qty = 4 WHERE id = 1 LIMIT 1;
UPDATE p SET qty = 4 ORDER BY id;
\sorted
DELETE FROM p USING (VALUES (77), (16)) v(i) WHERE v.i = p.id RETURNING p.id, v.i;
DELETE FROM p WHERE nosuch = 1;
\sorted
DELETE FROM p RETURNING nosuch;
DELETE p WHERE id = 1;
DELETE FROM p LIMIT 1;
DELETE FROM p USING p WHERE true;
DELETE FROM ONLY p WHERE id = 100;
\sorted
WITH d AS (DELETE FROM p WHERE id = 1 RETURNING *), i AS (INSERT INTO p SELECT id + 200, code, qty FROM d RETURNING *) SELECT d.id, i.id FROM d, i;
\sorted
WITH d AS (DELETE FROM p WHERE id = 2 RETURNING *), i AS (INSERT INTO p SELECT id + 200, code, qty FROM d RETURNING *) SELECT d.id, i.id FROM d, i;
\sorted
WITH u AS (UPDATE p SET qty = 50 RETURNING id) DELETE FROM p USING u WHERE p.id = u.id AND p.id > 1000;
\sorted
WITH u AS (UPDATE p SET qty = 51) SELECT * FROM u;
\sorted
WITH RECURSIVE r AS (INSERT INTO p VALUES (1) RETURNING id) SELECT * FROM r;
\sorted
SELECT * FROM (INSERT INTO p VALUES (1) RETURNING id) x;
\sorted
SELECT (WITH u AS (DELETE FROM p RETURNING id) SELECT count(*) FROM u);
\sorted
INSERT INTO p (WITH c AS (SELECT 300 AS i) SELECT i FROM c) RETURNING *;
\sorted
WITH c AS (SELECT 301 AS i) INSERT INTO p (id) SELECT i FROM c RETURNING id;
INSERT INTO p (id, id) VALUES (1, 2);
INSERT INTO p (id, nosuch) VALUES (1, 2);
INSERT INTO p (id, code) VALUES (1);
INSERT INTO p (id) VALUES (1, 2);
INSERT INTO p VALUES (1, 2, 3, 4, 5);
INSERT INTO p VALUES (400), (401, 'x');
INSERT INTO p (p.id) VALUES (1);
INSERT INTO p DEFAULT VALUES;
INSERT INTO p (id) DEFAULT VALUES;
INSERT INTO p (id) VALUES (DEFAULT);
INSERT INTO p VALUES (DEFAULT, DEFAULT), (500, 'd');
INSERT INTO p (id, qty) VALUES (402, DEFAULT), (403, NULL), (404, 3 + DEFAULT);
\sorted
INSERT INTO p (id, qty) VALUES (402, DEFAULT), (403, NULL) RETURNING *, id % 2 = 0 AS even;
INSERT INTO p (id, qty) SELECT 405, DEFAULT;
INSERT INTO p (id, qty) TABLE p;
\sorted
INSERT INTO p (id, qty) VALUES (406, '7'), (407, 8) RETURNING qty;
INSERT INTO p (id, qty) VALUES (408, 'x'), (409, 8);
INSERT INTO p (id, note) VALUES (410, 7), (411, 'x');
\sorted
INSERT INTO p (id, note) VALUES (410, 7) RETURNING note;
INSERT INTO p (id, qty) VALUES (412, true);
INSERT INTO p (id, qty) VALUES (413, 2147483648);
\sorted
INSERT INTO p (id, qty) VALUES (414, 1e3) RETURNING qty;
\sorted
INSERT INTO p (id) VALUES (416) RETURNING count(*);
\sorted
INSERT INTO p (id) VALUES (416) RETURNING row_number() OVER ();
\sorted
INSERT INTO p (id) VALUES (416) RETURNING generate_series(1, 2);
\sorted
INSERT INTO p (id) VALUES (416), (417) RETURNING id AS "the id", code::varchar(3), (id, qty), ARRAY[id];
\sorted
INSERT INTO p (id) SELECT g FROM generate_series(500, 510) g RETURNING (SELECT count(*) FROM p WHERE id >= 500);
\sorted
INSERT INTO p (id) VALUES (600) RETURNING EXISTS (SELECT 1 FROM p q WHERE q.id = p.id);
INSERT INTO p (code) SELECT 'x' UNION SELECT 'y';
TRUNCATE p, p;
TRUNCATE TABLE ONLY p RESTART IDENTITY CASCADE;
TRUNCATE nosuch;
\sorted
SELECT count(*) FROM p;
CREATE TABLE m (k int PRIMARY KEY, v text, n int NOT NULL DEFAULT 0);
CREATE TABLE src (k int, v text, n int);
INSERT INTO m VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3);
INSERT INTO src VALUES (2, 'TWO', 20), (3, NULL, 30), (4, 'FOUR', 40), (5, 'FIVE', 50);
MERGE INTO m USING src s ON m.k = s.k WHEN MATCHED AND s.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v, n = m.n + s.n WHEN NOT MATCHED AND s.k = 5 THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.v, s.n);
SELECT * FROM m ORDER BY k;
MERGE INTO m AS t USING (VALUES (1), (1)) s(k) ON t.k = s.k WHEN MATCHED THEN UPDATE SET n = 5;
MERGE INTO m AS t USING (VALUES (9), (9)) s(k) ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k);
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN NOT MATCHED THEN INSERT DEFAULT VALUES;
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, DEFAULT);
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k);
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN NOT MATCHED THEN UPDATE SET v = 1;
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN MATCHED THEN INSERT VALUES (1);
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN MATCHED THEN UPDATE SET nosuch = 1;
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN MATCHED THEN UPDATE SET t.n = 1;
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN MATCHED THEN UPDATE SET (n, v) = (3, 'row');
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN MATCHED THEN UPDATE SET (n, v) = (SELECT 4, 'sub');
\sorted
SELECT * FROM m WHERE k = 9;
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN MATCHED THEN UPDATE SET n = 1 WHEN MATCHED THEN DELETE;
MERGE INTO m AS t USING (VALUES (9)) s(k) ON t.k = s.k WHEN NOT MATCHED AND t.k = 1 THEN INSERT VALUES (1);
MERGE INTO m AS t USING (VALUES (10)) s(k) ON t.k = s.k WHEN NOT MATCHED THEN INSERT VALUES (t.k);
MERGE INTO m AS t USING (VALUES (10)) s(k) ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE;
MERGE INTO m AS t USING (VALUES (10)) s(k) ON t.k = s.k;
MERGE INTO m AS t USING (VALUES (10)) s(k) WHEN MATCHED THEN DELETE;
\sorted
MERGE INTO m AS t USING m ON t.k = m.k WHEN MATCHED THEN DELETE RETURNING *;
MERGE INTO m USING m ON true WHEN MATCHED THEN DELETE;
MERGE INTO m AS t USING m ON t.k = m.k AND t.k < 3 WHEN MATCHED AND t.k = 1 THEN UPDATE SET k = 100;
MERGE INTO nosuch USING m ON true WHEN MATCHED THEN DELETE;
MERGE INTO m USING nosuch ON true WHEN MATCHED THEN DELETE;
MERGE INTO m USING src ON nosuch WHEN MATCHED THEN DELETE;
MERGE INTO m USING src ON k = k WHEN MATCHED THEN DELETE;
MERGE INTO m USING src ON false WHEN NOT MATCHED AND 1 THEN DO NOTHING;
MERGE INTO m USING src ON count(*) > 1 WHEN MATCHED THEN DELETE;
\sorted
WITH c AS (SELECT 9 AS k) MERGE INTO m USING c ON m.k = c.k WHEN MATCHED THEN DELETE;
\sorted
WITH c AS (MERGE INTO m USING src ON false WHEN MATCHED THEN DELETE) SELECT 1;
MERGE INTO m USING src s ON m.k = s.k WHEN NOT MATCHED THEN INSERT (k, v, n) OVERRIDING SYSTEM VALUE VALUES (s.k + 1000, s.v, s.n);
MERGE INTO m USING src s ON m.k = s.k WHEN NOT MATCHED THEN INSERT (n) VALUES (1);
MERGE INTO ONLY m USING src s ON m.k = s.k AND s.k < 0 WHEN MATCHED THEN DO NOTHING;
SELECT * FROM m ORDER BY k;
CREATE TABLE arr (id int PRIMARY KEY, a int[], t text[], j jsonb, m int[][]);
INSERT INTO arr VALUES (1, '{1,2,3}', '{a,b}', '{"k": [1, 2]}', '{{1,2},{3,4}}'), (2, NULL, NULL, NULL, NULL);
\sorted
UPDATE arr SET a[2] = 20 WHERE id = 1 RETURNING a;
\sorted
UPDATE arr SET a[6] = 60 WHERE id = 1 RETURNING a;
\sorted
UPDATE arr SET a[1] = 1 WHERE id = 2 RETURNING a;
\sorted
UPDATE arr SET a[2:3] = '{7,8}' WHERE id = 1 RETURNING a;
UPDATE arr SET a[1:2] = '{7}' WHERE id = 1;
UPDATE arr SET a[1] = 'x';
UPDATE arr SET a['x'] = 1;
UPDATE arr SET a[NULL] = 1;
\sorted
UPDATE arr SET a[1] = 1, a[2] = 2 WHERE id = 2 RETURNING a;
UPDATE arr SET a[1] = 1, a = '{5}' WHERE id = 2;
\sorted
UPDATE arr SET t[1] = upper(t[1]), t[2] = NULL WHERE id = 1 RETURNING t;
\sorted
UPDATE arr SET j['k'][0] = '9', j['new'] = '"v"' WHERE id = 1 RETURNING j;
\sorted
UPDATE arr SET j['x'] = '1' WHERE id = 2 RETURNING j;
UPDATE arr SET j['k']['z'] = '1' WHERE id = 1;
\sorted
UPDATE arr SET m[1][2] = 99 WHERE id = 1 RETURNING m;
UPDATE arr SET m[5][5] = 99 WHERE id = 1;
\sorted
UPDATE arr SET (a[1], id) = (100, 1) WHERE id = 1 RETURNING a;
\sorted
UPDATE arr SET (a[1], t) = (SELECT 101, '{z}'::text[]) WHERE id = 1 RETURNING a, t;
UPDATE arr SET id[1] = 1;
\sorted
INSERT INTO arr (id, a[1]) VALUES (3, 5) RETURNING a;
\sorted
INSERT INTO arr (id, a[1], a[2]) VALUES (4, 5, 6) RETURNING a;
\sorted
INSERT INTO arr (id, a[1:2]) VALUES (5, '{5,6}') RETURNING a;
\sorted
INSERT INTO arr (id, j['a']) VALUES (6, '1'), (7, '"x"') RETURNING j;
\sorted
INSERT INTO arr (id, a[1]) SELECT 8, 3 RETURNING a;
INSERT INTO arr (id, a[1], a) VALUES (10, 3, '{1}');
\sorted
INSERT INTO arr (id, a[1]) VALUES (1, 3) ON CONFLICT (id) DO UPDATE SET a[1] = excluded.a[1] * 2 RETURNING a;
CREATE TABLE dq (id int, k int, CONSTRAINT dqu UNIQUE (k) DEFERRABLE INITIALLY IMMEDIATE);
INSERT INTO dq VALUES (1, 1), (2, 2), (3, 3);
UPDATE dq SET k = k + 1;
SELECT * FROM dq ORDER BY id;
INSERT INTO dq VALUES (4, 2) ON CONFLICT (k) DO NOTHING;
INSERT INTO dq VALUES (4, 2) ON CONFLICT DO NOTHING;
BEGIN;
SET CONSTRAINTS dqu DEFERRED;
INSERT INTO dq VALUES (5, 2);
\sorted
SELECT count(*) FROM dq;
COMMIT;
\sorted
SELECT count(*) FROM dq;
CREATE TABLE seqt (id serial, b bigserial, s smallserial, v text);
\sorted
INSERT INTO seqt (v) VALUES ('a'), ('b') RETURNING id, b, s;
\sorted
INSERT INTO seqt VALUES (DEFAULT, DEFAULT, DEFAULT, DEFAULT) RETURNING *;
SELECT currval('seqt_id_seq'), lastval(), currval(pg_get_serial_sequence('seqt', 'b'));
SELECT setval('seqt_id_seq', 10), nextval('seqt_id_seq'), setval('seqt_id_seq', 20, false), nextval('seqt_id_seq');
TRUNCATE seqt RESTART IDENTITY;
\sorted
INSERT INTO seqt (v) VALUES ('c') RETURNING id, b;
TRUNCATE seqt CONTINUE IDENTITY;
\sorted
INSERT INTO seqt (v) VALUES ('c') RETURNING id, b;
ALTER SEQUENCE seqt_s_seq RESTART WITH 32767;
\sorted
INSERT INTO seqt (v) VALUES ('d') RETURNING s;
\sorted
INSERT INTO seqt (v) VALUES ('e') RETURNING s;
ALTER TABLE seqt ALTER id DROP DEFAULT;
INSERT INTO seqt (v) VALUES ('f');
DROP SEQUENCE seqt_b_seq;
DROP SEQUENCE seqt_b_seq CASCADE;
ALTER TABLE seqt ALTER b TYPE int;
BEGIN;
SELECT nextval('seqt_id_seq') IS NOT NULL;
ROLLBACK;
\sorted
SELECT last_value > 2 FROM seqt_id_seq;
CREATE TABLE gen (id int GENERATED ALWAYS AS IDENTITY (START WITH 5), a int, b int GENERATED ALWAYS AS (a + 1) STORED, c text DEFAULT 'c' || 1);
\sorted
INSERT INTO gen (a) VALUES (1), (2) RETURNING *;
INSERT INTO gen (id, a) VALUES (1, 1);
\sorted
INSERT INTO gen (id, a) VALUES (DEFAULT, 1) RETURNING id;
\sorted
INSERT INTO gen OVERRIDING SYSTEM VALUE VALUES (100, 7) RETURNING *;
INSERT INTO gen (b) VALUES (1);
INSERT INTO gen SELECT 1, 2;
UPDATE gen SET id = 4;
\sorted
UPDATE gen SET id = DEFAULT WHERE a = 1 RETURNING id;
\sorted
UPDATE gen SET a = 50, b = DEFAULT WHERE a = 2 RETURNING *;
\sorted
UPDATE gen SET (a, c) = (60, DEFAULT) WHERE a = 50 RETURNING *;
MERGE INTO gen USING (VALUES (60), (61)) v(x) ON a = x WHEN MATCHED THEN UPDATE SET a = x + 100 WHEN NOT MATCHED THEN INSERT (a) VALUES (x);
SELECT a, b FROM gen ORDER BY a;
CREATE TABLE log (id int, op text);
\sorted
WITH moved AS (DELETE FROM gen WHERE a > 100 RETURNING *), l AS (INSERT INTO log SELECT a, 'del' FROM moved RETURNING *) SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM l), (SELECT count(*) FROM log);
\sorted
WITH t AS (INSERT INTO log VALUES (9, 'x') RETURNING *) UPDATE log SET op = 'y' FROM t WHERE log.id = t.id RETURNING log.*;
\sorted
INSERT INTO log WITH x AS (SELECT 1 AS a) SELECT a, 'w' FROM x RETURNING *;
INSERT INTO log (id, op) SELECT g, CASE WHEN g % 2 = 0 THEN 'even' ELSE 'odd' END FROM generate_series(1, 4) g ORDER BY g DESC RETURNING id, op, (SELECT count(*) FROM log);
\sorted
UPDATE log l SET op = s.op FROM (SELECT id, max(op) AS op FROM log GROUP BY id) s WHERE s.id = l.id AND l.id = 1 RETURNING l.*;
\sorted
DELETE FROM log WHERE (id, op) IN (SELECT id, op FROM log WHERE id = 1) RETURNING count(*) OVER ();
\sorted
DELETE FROM log WHERE id = (SELECT max(id) FROM log) RETURNING id;
DELETE FROM log a USING log b WHERE a.id = b.id AND a.op < b.op;
COPY log TO STDOUT;
COPY (SELECT 1, 'a,b', NULL) TO STDOUT (FORMAT csv, HEADER);
INSERT INTO log VALUES (1, 'a'), (2);
INSERT INTO log VALUES (1, 'a'), (2, 'b', 'c');
\sorted
INSERT INTO log VALUES ((SELECT max(id) + 1 FROM log), DEFAULT) RETURNING *;
INSERT INTO log TABLE log;
INSERT INTO log (op) VALUES (1), ('a');
INSERT INTO log (op) VALUES (1), (now());
\sorted
INSERT INTO log (id) VALUES (1.4), (2.5), ('3') RETURNING id;
INSERT INTO log (id) VALUES ('1.4');
INSERT INTO log (id) SELECT '1';
INSERT INTO log (id) SELECT '1' UNION SELECT '2';
INSERT INTO log (id) SELECT x FROM (SELECT '1' AS x) s;
\sorted
INSERT INTO log (id) VALUES (true::int) RETURNING *;
