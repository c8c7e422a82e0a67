-- Errors of every kind of statement.
CREATE TABLE t (id int PRIMARY KEY, "Mixed Case" text UNIQUE, v numeric(4,1), b bool, d date, CHECK (v > 0), CONSTRAINT "Odd" CHECK (b OR v < 5));
INSERT INTO t VALUES (1, 'a', 1.5, true, '2024-01-01');
INSERT INTO t VALUES (2, 'a', 1.5, true, '2024-01-01');
INSERT INTO t VALUES (1, 'b', 1.5, true, '2024-01-01');
INSERT INTO t VALUES (3, 'c', -1, true, '2024-01-01');
INSERT INTO t VALUES (3, 'c', 10, false, '2024-01-01');
INSERT INTO t VALUES (NULL, 'c', 10, false, '2024-01-01');
INSERT INTO t VALUES (3, 'c', 99999, false, '2024-01-01');
INSERT INTO t VALUES (3, 'c', 'abc', false, '2024-01-01');
INSERT INTO t VALUES (3, 'c', 1, 'maybe', '2024-01-01');
INSERT INTO t VALUES (3, 'c', 1, 3, '2024-01-01');
INSERT INTO t VALUES (3, 'c', 1, true, 5);
INSERT INTO t VALUES (3, 'c', 1, true, '2024-02-30');
INSERT INTO t VALUES (3, 'c', 1, true, 'garbage');
INSERT INTO t (id, "Mixed Case") VALUES ('1', 1.5::float8);
INSERT INTO t (id, b) VALUES (7, 1);
UPDATE t SET id = 'x';
UPDATE t SET b = 1;
UPDATE t SET v = v || 'a';
UPDATE t SET d = d + 1.5;
UPDATE t SET d = v;
UPDATE t SET b = id;
DELETE FROM t WHERE id;
DELETE FROM t WHERE id = 'x';
DELETE FROM t WHERE "mixed case" = 'a';
DELETE FROM t WHERE Mixed = 'a';
\sorted
SELECT "Mixed" FROM t;
\sorted
SELECT id FROM t WHERE v = 'x';
\sorted
SELECT id FROM t WHERE id = true;
\sorted
SELECT id FROM t WHERE d > 5;
\sorted
SELECT id FROM t WHERE d LIKE '2024%';
\sorted
SELECT id || id FROM t;
\sorted
SELECT id + d + d FROM t;
\sorted
SELECT d + d FROM t;
\sorted
SELECT d * 2 FROM t;
\sorted
SELECT -b FROM t;
\sorted
SELECT NOT id FROM t;
\sorted
SELECT id AND b FROM t;
\sorted
SELECT id IS TRUE FROM t;
\sorted
SELECT sum(b) FROM t;
\sorted
SELECT sum("Mixed Case") FROM t;
\sorted
SELECT avg(d) FROM t;
\sorted
SELECT max(b) FROM t;
\sorted
SELECT upper(id) FROM t;
\sorted
SELECT length(id) FROM t;
\sorted
SELECT round('a') FROM t;
\sorted
SELECT round(v, 'x') FROM t;
\sorted
SELECT substring(id, 1) FROM t;
\sorted
SELECT extract(year FROM id) FROM t;
\sorted
SELECT extract(year FROM '2024-01-01') FROM t;
\sorted
SELECT coalesce(id, 'x') FROM t;
\sorted
SELECT coalesce(id, d) FROM t;
\sorted
SELECT CASE id WHEN 'x' THEN 1 END FROM t;
\sorted
SELECT CASE WHEN b THEN id ELSE d END FROM t;
\sorted
SELECT id IN ('a') FROM t;
\sorted
SELECT id IN (1, d) FROM t;
\sorted
SELECT id BETWEEN 'a' AND 3 FROM t;
\sorted
SELECT ARRAY[id, d] FROM t;
\sorted
SELECT id[1] FROM t;
SELECT (ARRAY[1])['a'];
SELECT ('{"a":1}'::json)['a'];
\sorted
SELECT id::date FROM t;
\sorted
SELECT d::int FROM t;
\sorted
SELECT b::date FROM t;
\sorted
SELECT v::bool FROM t;
\sorted
SELECT CAST(d AS uuid) FROM t;
SELECT 'x'::date;
SELECT 'x'::timestamp;
SELECT '25:00'::time;
SELECT 'x'::uuid;
SELECT 'x'::json;
SELECT '[1'::jsonb;
SELECT 'x'::bytea, '\x1'::bytea;
SELECT '{1'::int[];
SELECT 'x'::interval;
SELECT 'x'::float8;
SELECT 'x'::bool;
SELECT 'x'::oid;
SELECT 300::"char";
SELECT 40000::int2;
SELECT 3000000000::int;
SELECT 1e20::bigint;
SELECT 'NaN'::float8::int;
SELECT 'NaN'::numeric::int;
SELECT 'Infinity'::float8::numeric::int;
SELECT '-1'::oid::int, 1;
SELECT 99999999999::numeric(5);
SELECT 1/0;
SELECT 1.0/0;
SELECT 1::float8/0;
SELECT mod(1, 0);
SELECT 5 % 0.0;
SELECT interval '1 day' / 0;
SELECT div(1, 0);
SELECT 2147483647 + 1;
SELECT -2147483648 - 1;
SELECT 9223372036854775807 + 1;
SELECT 9223372036854775807 * 2;
SELECT 2147483647 * 2;
SELECT 32767::int2 * 2::int2;
SELECT date '5874897-12-31' + 1;
SELECT timestamp '294276-12-31' + interval '1 y';
SELECT sqrt(-1.0);
SELECT ln(-1.0);
SELECT log(0.0);
SELECT power(-1, 0.5);
SELECT asin(2);
SELECT exp(10000.0);
SELECT 10.0 ^ 200000;
SELECT factorial(100000);
SELECT chr(1114112);
SELECT lpad('x', 2000000000);
SELECT to_char(1, 'S S');
SELECT to_timestamp('2024-99', 'YYYY-MM');
SELECT to_date('Feb 30', 'Mon DD');
SELECT to_number('', '9');
SELECT generate_series(1, 5, 0);
SELECT string_to_array('a', 'b', 'c', 'd');
SELECT array_length(1, 1);
SELECT unnest(1);
SELECT array_append(ARRAY[1], 'x');
SELECT array_append(ARRAY[1], 1.5);
SELECT ARRAY[1] || 'x';
SELECT ARRAY[1] || ARRAY['x'];
SELECT ARRAY[1] = ARRAY['x'];
SELECT ARRAY[1] = ARRAY[1.5];
SELECT ARRAY[1] @> 1;
SELECT ROW(1) = ROW('x');
SELECT ROW(1, 2) = ROW(1);
SELECT nosuch(1);
SELECT nosuch.f(1);
SELECT pg_catalog.nosuch(1);
SELECT nosuch.nosuch.nosuch.nosuch(1);
SELECT max();
SELECT max(1, 2);
SELECT count(DISTINCT);
SELECT count(*, 1);
SELECT lower(*);
SELECT now(1);
SELECT current_date();
SELECT current_timestamp(7) IS NULL;
SELECT current_timestamp(-1);
SELECT interval(7) '1 s';
SELECT '1'::timestamp(7);
SELECT varchar(-1) 'a';
SELECT char(0) 'a';
SELECT 'a'::varchar(99999999);
SELECT numeric(0) '1';
SELECT 1::numeric(5,2,1);
SELECT 1::int(4);
SELECT 1::float(54);
SELECT 1::float(0);
SELECT 'a'::text(5);
\sorted
SELECT * FROM nosuch;
\sorted
SELECT * FROM nosuch.t;
\sorted
SELECT * FROM diff.nosuch;
\sorted
SELECT * FROM other.diff.t;
\sorted
SELECT * FROM t x WHERE t.id = 1;
\sorted
SELECT x.nosuch FROM t x;
\sorted
SELECT id FROM t a, t b;
\sorted
SELECT a.* FROM t;
\sorted
SELECT count(*) FROM t GROUP BY nosuch;
SELECT id FROM t ORDER BY nosuch;
\sorted
SELECT id FROM t GROUP BY v;
\sorted
SELECT id, count(*) FROM t;
\sorted
SELECT id FROM t WHERE count(*) > 1;
\sorted
SELECT id FROM t HAVING id > 1;
\sorted
SELECT count(count(*)) FROM t;
SELECT sum(v) OVER (ORDER BY id ROWS 'x' PRECEDING) FROM t;
SELECT sum(v) OVER (ORDER BY id ROWS id PRECEDING) FROM t;
SELECT sum(v) OVER (ORDER BY id ROWS NULL PRECEDING) FROM t;
\sorted
SELECT sum(v) OVER (GROUPS 1 PRECEDING) FROM t;
\sorted
SELECT lag(v, 'x') OVER () FROM t;
\sorted
SELECT ntile(0) OVER () FROM t;
\sorted
SELECT nth_value(v, 0) OVER () FROM t;
\sorted
SELECT first_value() OVER () FROM t;
\sorted
SELECT lag() OVER () FROM t;
SELECT lower('a') OVER ();
\sorted
SELECT rank() FROM t;
\sorted
SELECT FROM WHERE;
\sorted
SELECT * FROM;
SELECT * t;
SELECT 1,;
SELECT (1;
SELECT 1);
SELECT 'abc;
SELECT "abc;
SELECT $$abc;
SELECT /* abc;
SELECT "";
SELECT 1 FORM t;
\sorted
SELECT * FROM t WHERE;
\sorted
SELECT * FROM t ORDER;
\sorted
SELECT * FROM t GROUP BY;
\sorted
SELECT * FROM t LIMIT;
\sorted
SELECT * FROM t JOIN;
\sorted
SELECT * FROM t WHERE id =;
\sorted
SELECT * FROM t WHERE id = = 1;
\sorted
SELECT * FROM t WHERE id IN ();
\sorted
SELECT * FROM t WHERE id BETWEEN 1;
SELECT CASE END;
SELECT CASE WHEN 1 END;
SELECT CAST(1 AS);
SELECT CAST(1, int);
SELECT 1::;
SELECT ARRAY[1;
\sorted
SELECT a b c FROM t;
SELEC 1;
INSERT t VALUES (1);
INSERT INTO t VALUES;
INSERT INTO t VALUES ();
INSERT INTO t (id) VALUES (1,);
INSERT INTO t SET id = 1;
UPDATE t id = 1;
UPDATE t SET;
UPDATE t SET id;
UPDATE SET id = 1;
DELETE t;
DELETE FROM;
CREATE TABLE;
CREATE TABLE x (a);
CREATE TABLE x (a int b);
CREATE TABLE x (int);
CREATE TABLE x (a int,, b int);
CREATE INDEX ON t;
CREATE INDEX ON t ();
CREATE INDEX ON nosuch (a);
CREATE INDEX ON t (nosuch);
CREATE INDEX i ON t (random());
CREATE INDEX i ON t (now());
CREATE INDEX i ON t (v) WHERE count(*) > 1;
CREATE INDEX i ON t (v) WHERE v;
CREATE INDEX i ON t (v) WHERE random() > 0.5;
CREATE INDEX i ON t ((SELECT 1));
CREATE INDEX i ON t (v) WHERE EXISTS (SELECT 1);
CREATE INDEX i ON t (sum(v));
CREATE INDEX i ON t (generate_series(1, 2));
CREATE INDEX i ON t USING nosuch (v);
CREATE UNIQUE INDEX i ON t (b, d) INCLUDE (v) WITH (nosuch = 1);
CREATE VIEW v1 AS SELECT * FROM nosuch;
CREATE VIEW v1 AS INSERT INTO t VALUES (1);
CREATE VIEW v1 AS SELECT $1;
CREATE VIEW t AS SELECT 1;
CREATE OR REPLACE VIEW t AS SELECT 1;
CREATE TABLE t2 AS SELECT 1 AS a, 2 AS a;
CREATE TABLE t2 AS SELECT nosuch;
CREATE TABLE t2 (a, b) AS SELECT 1;
CREATE TABLE t2 (a) AS SELECT 1, 2;
DROP TABLE t, nosuch;
DROP TABLE t CASCADE RESTRICT;
DROP nosuch;
DROP INDEX t_pkey;
DROP INDEX "t_Mixed Case_key";
DROP ROLE nosuch3;
CALL nosuch();
COPY nosuch TO STDOUT;
COPY t (nosuch) TO STDOUT;
COPY t TO STDOUT (FORMAT nosuch);
COPY t TO STDOUT WITH (nosuch);
EXPLAIN SELECT nosuch;
EXPLAIN (nosuch) SELECT 1;
SHOW nosuch;
SET nosuch TO 1;
RESET nosuch;
DISCARD nosuch;
TRUNCATE t, nosuch;
LOCK TABLE nosuch;
REFRESH MATERIALIZED VIEW t;
REFRESH MATERIALIZED VIEW nosuch;
ANALYZE nosuch;
FETCH nosuch;
CLOSE nosuch;
\sorted
EXECUTE nosuch;
DEALLOCATE nosuch;
SAVEPOINT s;
SELECT set_config('nosuch', '1', false);
SELECT setval('t', 1);
SELECT lastval();
SELECT pg_advisory_unlock('x');
SELECT currval('nosuch');
SELECT pg_get_viewdef('nosuch');
SELECT to_tsvector('nosuch', 'x');
SELECT 'a' AS x WHERE x = 'a';
SELECT DISTINCT ON () 1;
SELECT 1 WHERE 'a';
SELECT 1 WHERE 1;
SELECT 1 WHERE NULL;
SELECT 1 LIMIT '1';
SELECT 1 OFFSET '-1';
SELECT 1 ORDER BY 1 USING >;
SELECT 1 ORDER BY 1 NULLS;
VALUES (1), (1, 2);
VALUES (1), ('a');
VALUES (DEFAULT);
\sorted
TABLE nosuch;
\sorted
WITH a AS (SELECT 1) SELECT * FROM b;
\sorted
WITH a AS (SELECT 1);
SELECT 1 UNION SELECT 1, 2;
SELECT 1 UNION SELECT 'a';
SELECT 1 UNION SELECT true;
SELECT 1 INTERSECT SELECT now();
SELECT json '1' UNION SELECT json '1';
SELECT DISTINCT json '1';
SELECT 1 GROUP BY json '1';
SELECT 1 ORDER BY json '1';
SELECT max(json '1');
SELECT json '1' = json '1';
SELECT 1 COLLATE "C";
SELECT 'a' COLLATE "nosuch";
SELECT current_setting('nosuch');
SELECT U&'\d800';
SELECT U&'\zzzz';
SELECT E'\xff';
SELECT E'\u00';
SELECT 1a;
SELECT 1.2.3;
SELECT 0b12;
SELECT @;
SELECT 1 ~~~ 2;
SELECT #1;
SELECT a.b.c.d.e;
\sorted
SELECT t.* + 1 FROM t;
SELECT (SELECT 1, 2);
\sorted
SELECT (SELECT id FROM t UNION SELECT 5);
SELECT 1 = ANY (SELECT 1, 2);
SELECT EXISTS (1);
SELECT ARRAY(SELECT 1, 2);
SELECT 1 IN (SELECT 'a');
SELECT 1 IN (SELECT true);
SELECT (1, 2) IN (SELECT 1);
\sorted
SELECT (t).x FROM t;
SELECT (1).x;
SELECT (ROW(1,2)).f1, (ROW(1,2)).f3;
