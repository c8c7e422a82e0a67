-- Which error a statement gets that is wrong in one place, and what is a label rather than an operator.
CREATE TABLE r (id int PRIMARY KEY, n numeric(8,2), t text, d date);
INSERT INTO r VALUES (1, 1.5, 'a', '2024-01-01'), (2, NULL, 'b', NULL), (3, 2.25, NULL, '2024-03-01');
CREATE TABLE r (like nosuch);
-- Names.
SELECT other.diff.r.substring(t) FROM r;
SELECT other.pg_catalog.abs(1);
SELECT t::json.b FROM r;
SELECT t::nosuch.b FROM r;
SELECT count(nosuch.*) FROM r;
SELECT x.*::text FROM r y;
-- Grammar.
SELECT extract(from from d) FROM r;
SELECT extract(do from d) FROM r;
SELECT extract(day from d), extract("month" from d), extract(dow from d), extract('year' from d) FROM r ORDER BY r.id;
SELECT t LIKE, n IN, id AND FROM r ORDER BY r.id;
SELECT 'abc' like;
SELECT (SELECT 1 OR), true::int4 OR;
SELECT t LIKE 'a' FROM r ORDER BY id;
SELECT x FROM generate_series(1, 3) AS (x);
SELECT * FROM ROW(1, 'a');
SELECT * FROM int(1);
SELECT e FROM generate_series(1, 2) OVER e;
SELECT * FROM trim('  x  ') AS t;
SELECT * FROM trim('{"a": 1}'::json) AS t;
SELECT * FROM substring('abcdef' FROM 2 FOR 3);
SELECT * FROM position('c' IN 'abc') p, overlay('abc' PLACING 'x' FROM 2) o, extract(year FROM date '2024-02-01') e;
SELECT id FROM r ORDER BY id FETCH NEXT '2' ROWS ONLY;
SELECT id FROM r ORDER BY id FETCH NEXT 't' ROWS ONLY;
WITH recursive (n) AS (SELECT 1) SELECT n FROM recursive;
-- Windows and aggregates.
SELECT sum(id) OVER (w ORDER BY nosuch) FROM r WINDOW w AS (ORDER BY id);
SELECT sum(id) OVER (w ORDER BY id) FROM r WINDOW w AS (ORDER BY id);
SELECT sum(1) OVER (ROWS BETWEEN 1 FOLLOWING AND '[1]'::jsonb PRECEDING);
SELECT sum(1) OVER (ROWS 1 FOLLOWING);
SELECT id FROM r WHERE grouping(id) = 1;
SELECT json_agg(id ORDER BY grouping(id)) FROM r;
SELECT id FROM r GROUP BY grouping(id);
SELECT DISTINCT t FROM r ORDER BY grouping(t);
SELECT round(0.5) WITHIN GROUP (ORDER BY id) FROM r;
SELECT lower(t) WITHIN GROUP (ORDER BY id) FROM r;
SELECT round(n) WITHIN GROUP (ORDER BY id) FROM r;
SELECT greatest('{}'::json);
SELECT least('{}'::json, NULL);
-- Set-returning functions.
SELECT CASE WHEN true THEN generate_series(1, 't') END;
SELECT CASE WHEN true THEN generate_series(1, 3) END;
-- Operators.
SELECT id FROM r WHERE (t, id) || ('a', 2);
SELECT id FROM r WHERE (t, id) ~~ ('a', 2);
SELECT id FROM r WHERE id + ANY (SELECT 1);
SELECT interval '1 day' LIKE ANY ('{a%}');
SELECT 1.5::numeric NOT LIKE ALL ('{x%}');
SELECT 'abc' LIKE ANY ('{a%,b%}'), 2 = ANY ('{1,2}'), 'a'::varchar = ANY ('{a}'), date '2024-01-01' < ALL ('{2024-02-01}'), 2::int8 = ANY ('{2}');
-- Sorting what is not a plain SELECT.
VALUES (1), (2.5), (NULL) ORDER BY column1 + 1 DESC;
VALUES (2), (1) ORDER BY ARRAY[column1];
SELECT t AS x FROM r UNION ALL SELECT 'z' ORDER BY (x) NULLS FIRST LIMIT 3;
SELECT id FROM r UNION SELECT 5 ORDER BY 1::date;
SELECT id FROM r UNION SELECT 5 ORDER BY 1::nosuch;
SELECT id FROM r UNION SELECT 5 ORDER BY id + 1;
SELECT id FROM r UNION SELECT 5 ORDER BY 2.5;
-- Modifiers of a NULL beside others.
SELECT CASE WHEN id = 1 THEN NULL ELSE n END AS a, coalesce(n, n) AS c, greatest(NULL::numeric, n) AS d FROM r ORDER BY r.id;
SELECT n FROM r UNION SELECT NULL ORDER BY 1;
SELECT ARRAY[NULL, n] FROM r ORDER BY id;
-- Assignments.
UPDATE r SET (nosuch) = 1;
UPDATE r SET (nosuch, t) = (SELECT 'k');
UPDATE r SET (nosuch, t) = (1, 2, 3);
-- Calls.
SELECT make_date(year => 2024, month + 1, day => 1);
SELECT make_date(year => 2024, 1, day => 1);
-- A sort by what a condition makes constant, spared and needed again.
\sorted
SELECT t, id FROM r EXCEPT ALL SELECT 'b', array_position(ARRAY[s.c, 1, 2], s.c) FROM (SELECT id, sum(id)::int AS c FROM r GROUP BY GROUPING SETS ((id), (id), ())) s JOIN LATERAL (SELECT o.d FROM r i LEFT JOIN r o ON i.id < o.id WHERE o.n IN (SELECT 1.25 FROM r q WHERE o.t <= q.t)) j ON s.c = 1;
-- Parentheses change nothing.
SELECT 1 UNION SELECT 2 ORDER BY (1) DESC;
SELECT id FROM r ORDER BY (1) DESC;
INSERT INTO r (id, t) VALUES (9, (DEFAULT)) RETURNING id, t;
-- Arrays of arrays, rows from texts, sets in GREATEST.
SELECT array_fill(ARRAY[1, 2], ARRAY[2]);
SELECT id FROM r WHERE r <> 'a';
SELECT id FROM r WHERE r = NULL;
SELECT least(1, generate_series(1, 2)), greatest(1, generate_series(1, 2)), nullif(generate_series(1, 2), 1);
SELECT DISTINCT 'a' AS c1 FROM r ORDER BY 1;
SELECT DISTINCT t FROM r ORDER BY id;
SELECT 1 UNION SELECT 2 OR ORDER BY 1;
SELECT timetz('12:34:56+02'), "extract"('hour', timetz('12:34:56+02')), text('a'), date('2024-01-01'), float8('1.5');
SELECT date(NULL), int4('x');
SELECT sum() WITHIN GROUP (ORDER BY id) FROM r;
SELECT max(id) WITHIN GROUP (ORDER BY id) FROM r;
SELECT row_security_active('nosuch');
SELECT row_security_active('r');
-- A column of an outer query goes before the name of a table in FROM.
CREATE TABLE other (id int PRIMARY KEY, r int);
INSERT INTO other VALUES (1, 3), (2, 7);
SELECT id FROM other WHERE r IN (SELECT r FROM r WHERE id = 1) ORDER BY 1;
SELECT id, (SELECT max(other) FROM (VALUES (1)) other(x)) FROM other ORDER BY 1;
-- Subscripts of documents.
SELECT ('[1,2]'::jsonb)[1e0];
SELECT ('[1,2]'::jsonb)[1::bigint];
SELECT ('{"1": 2}'::jsonb)['1'], ('[1,2]'::jsonb)[1], ('{"a": 2}'::jsonb)['a'::text];
SELECT a FROM (VALUES (1), (2)) a(x) WHERE a NOT IN (SELECT 1);
SELECT (1, 2) IN (SELECT 1, 2), ROW(1) IN (SELECT 1), ((1, 2)) IN (SELECT 2, 1);
SELECT id FROM r ORDER BY id FETCH NEXT NULL ROWS ONLY;
CREATE TABLE documents (id int PRIMARY KEY, j json);
SELECT least(documents) FROM documents;
SELECT greatest(r)::text FROM r ORDER BY 1;
SELECT count() OVER (ORDER BY id) FROM other;
SELECT id FROM other ORDER BY -1e3;
SELECT DISTINCT ON (-2.5) id FROM other;
