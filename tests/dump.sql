-- What a dump must keep: see load_dump_and_restore in run.py.
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
