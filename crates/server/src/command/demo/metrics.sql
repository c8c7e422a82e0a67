-- Pumps and valves report a temperature every ten minutes, and now and then a photograph. The row key is (device, at DESC): a device's
-- rows lie together, newest first. Small values and large ones live in families of their own, which are stored and read apart.

DROP SCHEMA IF EXISTS demo CASCADE;

CREATE SCHEMA demo;

COMMENT ON SCHEMA demo IS 'made by stoa demo';

CREATE TABLE demo.metrics (
    device text,
    at     timestamptz,
    temp   double precision,
    status text NOT NULL DEFAULT 'ok' CHECK (status <> ''),
    photo  bytea,
    PRIMARY KEY (device, at DESC),
    FAMILY d (temp, status),
    FAMILY p (photo) WITH (compression = 'zstd', blob = true)
);

INSERT INTO demo.metrics
SELECT kind || '-' || n, timestamptz '2024-05-01 00:00+00' + i * interval '10 minutes',
       20 + n + round((5 * sin(i / 23.0))::numeric, 1), CASE WHEN (i * n) % 97 = 0 THEN 'hot' ELSE 'ok' END,
       CASE WHEN i % 144 = 0 THEN decode(repeat('c0ffee', 50), 'hex') END
FROM unnest(ARRAY['pump', 'valve']) kind, generate_series(1, 5) n, generate_series(0, 999) i;

-- One row by its key. A point get: nothing is planned twice, nothing is searched.

SELECT * FROM demo.metrics WHERE device = 'pump-3' AND at = '2024-05-02 12:00+00';

-- The latest three of a device: the first three rows of one key range. No sort runs, because the key has the order that is asked for,
-- and family p is not read.

SELECT at, temp, status FROM demo.metrics WHERE device = 'pump-3' ORDER BY at DESC LIMIT 3;

EXPLAIN SELECT at, temp, status FROM demo.metrics WHERE device = 'pump-3' ORDER BY at DESC LIMIT 3;

-- A day of two devices: two key ranges.

SELECT device, count(*), round(avg(temp)::numeric, 2) AS mean
FROM demo.metrics
WHERE device IN ('pump-1', 'valve-2') AND at >= '2024-05-02' AND at < '2024-05-03'
GROUP BY device ORDER BY device;

EXPLAIN SELECT temp FROM demo.metrics WHERE device IN ('pump-1', 'valve-2') AND at >= '2024-05-02' AND at < '2024-05-03';

-- Status is not in the key. An index is a table of its own, sorted by status; INCLUDE copies the temperature into it, so that it can
-- answer alone.

CREATE INDEX metrics_hot ON demo.metrics (status) INCLUDE (temp) WHERE status <> 'ok';

EXPLAIN SELECT device, at, temp FROM demo.metrics WHERE status = 'hot';

SELECT device, at, temp FROM demo.metrics WHERE status = 'hot' ORDER BY temp DESC, device, at LIMIT 3;

-- Everything else is PostgreSQL's SQL: windows, common tables, upserts, RETURNING.

WITH daily AS (SELECT device, at::date AS day, max(temp) AS high FROM demo.metrics GROUP BY device, at::date)
SELECT day, device, high, rank() OVER (PARTITION BY day ORDER BY high DESC) FROM daily ORDER BY day, rank, device LIMIT 4;

INSERT INTO demo.metrics (device, at, temp) VALUES ('pump-3', '2024-05-02 12:00+00', 99)
ON CONFLICT (device, at) DO UPDATE SET temp = excluded.temp, status = 'hot' RETURNING device, at, temp, status;
