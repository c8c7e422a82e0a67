-- What a dump must keep: see load_dump_and_restore in run.py.
-- The schema that is there anyway, made anew.
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
CREATE SCHEMA s;
CREATE SEQUENCE s.numbers START 5 INCREMENT 2;
SELECT nextval('s.numbers'), nextval('s.numbers');
CREATE TABLE s.metrics (
    device text,
    at timestamptz,
    temp double precision,
    status text NOT NULL DEFAULT 'ok' CHECK (status <> ''),
    raw bytea,
    n bigint DEFAULT nextval('s.numbers'),
    twice double precision GENERATED ALWAYS AS (temp * 2) STORED,
    PRIMARY KEY (device, at DESC),
    FAMILY d (temp, status, n, twice) WITH (versions = 2),
    FAMILY big (raw) WITH (compression = 'zstd', block_size = '32 kB')
) SPLIT AT ('g', 'n');
INSERT INTO s.metrics (device, at, temp, raw) VALUES ('a', '2024-01-01 00:00+00', 1.5, '\x00ff'), ('b', '2024-01-02 00:00+00', NULL, NULL);
CREATE TABLE s.salted (k int, v text, PRIMARY KEY (k)) WITH (salt_buckets = 4);
INSERT INTO s.salted VALUES (1, E'tab\there'), (2, 'null: \N'), (3, '');
CREATE TABLE people (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name varchar(20) UNIQUE, tags text[], doc jsonb, "Odd Name" numeric(10,2));
INSERT INTO people (name, tags, doc, "Odd Name") VALUES ('ada', '{a,NULL,"b c"}', '{"x": 1}', 1.50), ('bob', NULL, NULL, NULL);
CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES people (id) ON DELETE CASCADE, born date);
INSERT INTO children VALUES (1, 1, '2000-01-01');
CREATE INDEX children_born ON children (born DESC) INCLUDE (parent) WHERE parent IS NOT NULL;
CREATE INDEX people_lower ON people (lower(name));
CREATE TABLE without_key (a int, b text);
INSERT INTO without_key VALUES (1, 'x'), (1, 'x');
CREATE VIEW s.hot AS SELECT device, temp FROM s.metrics WHERE temp > 1;
CREATE VIEW hotter AS SELECT * FROM s.hot WHERE temp > 1.2;
CREATE MATERIALIZED VIEW s.counted AS SELECT device, count(*) AS n FROM s.metrics GROUP BY device;
COMMENT ON TABLE s.metrics IS 'measured; it''s \ new';
COMMENT ON COLUMN s.metrics.temp IS 'degrees';
CREATE TABLE counted_up (id serial PRIMARY KEY, n bigserial);
INSERT INTO counted_up DEFAULT VALUES;
CREATE TABLE of_key_only (a int PRIMARY KEY, FAMILY x (a));
CREATE TABLE of_two (a int PRIMARY KEY, b int, FAMILY x (a) WITH (versions = 2), FAMILY y (b));
CREATE TABLE split_by_number (k numeric, d float8, v text, PRIMARY KEY (k DESC, d)) SPLIT AT ((1e30, 1.5), (2.50, 'NaN'), ('NaN', 1), (-0.000012345, -1), (0, 0));
CREATE TABLE split_by_time (i interval PRIMARY KEY) SPLIT AT ('1 day', '2 days');
CREATE TABLE late_key (a int, b int, CONSTRAINT late PRIMARY KEY (a) DEFERRABLE);
CREATE INDEX children_salted ON children (parent) WITH (salt_buckets = 3);
CREATE TABLE pages (id int PRIMARY KEY, body text);
INSERT INTO pages VALUES (1, 'red pear'), (2, 'green');
CREATE INDEX pages_body ON pages USING fulltext (body);
CREATE VIEW found AS SELECT id, score(pages) AS s FROM pages WHERE MATCH(body) AGAINST ('red') ORDER BY score(pages) DESC;
CREATE MATERIALIZED VIEW s.kept AS SELECT id, s > 0 AS good FROM found;
CREATE UNIQUE INDEX kept_id ON s.kept (id) WITH (salt_buckets = 2);
CREATE VIEW of_the_past AS SELECT p.*, (SELECT count(*) FROM children AS OF SYSTEM TIME now()) AS n FROM pages AS OF SYSTEM TIME now() p;
CREATE VIEW windowed AS SELECT id, sum(parent) OVER w AS a, rank() OVER (w ORDER BY born) AS b FROM children WINDOW w AS (PARTITION BY parent);
CREATE VIEW rows AS SELECT pages, (pages).body AS b, (p2).* FROM (SELECT pages, pages AS p2 FROM pages) q;
CREATE VIEW whole AS SELECT p, (p).id AS i FROM pages p WHERE (p).id > 0;
CREATE VIEW locked AS WITH m AS MATERIALIZED (SELECT * FROM pages FOR SHARE) SELECT * FROM m FOR UPDATE;
CREATE VIEW locked_of AS SELECT * FROM pages WHERE id > 0 LIMIT 5 FOR NO KEY UPDATE OF pages SKIP LOCKED;
CREATE VIEW tied AS SELECT id FROM pages ORDER BY id OFFSET 1 FETCH FIRST 2 ROWS WITH TIES;
CREATE VIEW searched AS WITH RECURSIVE r (id, n) AS (SELECT id, parent FROM children UNION ALL SELECT c.id, c.parent FROM children c JOIN r ON c.parent = r.id)
    SEARCH BREADTH FIRST BY id, n SET "Order" CYCLE id SET again TO 'y' DEFAULT 'n' USING path SELECT * FROM r;
CREATE VIEW groups_having AS SELECT parent, count(*) AS n FROM children GROUP BY DISTINCT ROLLUP (parent), ROLLUP (parent) HAVING count(*) > 0 AND (parent > 0 OR parent IS NULL);
CREATE VIEW labelled AS SELECT id + 1 AS next, count(*) AS n FROM children GROUP BY next;
CREATE VIEW hinted AS SELECT /*+ INDEX(children children_born) */ born FROM children WHERE parent IS NOT NULL;
COMMENT ON INDEX s.kept_id IS 'of a materialized view';
CREATE VIEW circle_1 AS SELECT id AS a, body AS b FROM pages;
CREATE VIEW circle_2 AS SELECT a, b FROM circle_1;
CREATE OR REPLACE VIEW circle_1 AS SELECT a, b FROM circle_2 UNION SELECT id, 'x' FROM pages;
CREATE VIEW of_circles AS SELECT b FROM circle_2;
CREATE VIEW of_itself AS SELECT 1 AS a;
CREATE OR REPLACE VIEW of_itself AS SELECT a FROM of_itself;
