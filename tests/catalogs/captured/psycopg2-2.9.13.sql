-- Tool: psycopg 2.9.13
-- Done: composites, hstore and ranges registered
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command python python_tool.py psycopg2
--- 1
SELECT t.oid, typarray, attname, atttypid
FROM pg_type t
JOIN pg_namespace ns ON typnamespace = ns.oid
JOIN pg_attribute a ON attrelid = typrelid
WHERE typname = 'customer' AND nspname = 'app'
    AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
--- 2
SELECT t.oid, typarray, attname, atttypid
FROM pg_type t
JOIN pg_namespace ns ON typnamespace = ns.oid
JOIN pg_attribute a ON attrelid = typrelid
WHERE typname = 'keyless' AND nspname = 'public'
    AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
--- 3
SELECT t.oid, typarray, attname, atttypid, typname, nspname
FROM pg_type t
JOIN pg_namespace ns ON typnamespace = ns.oid
JOIN pg_attribute a ON attrelid = typrelid
WHERE t.oid = 'keyless'::regtype
    AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
--- 4
SELECT t.oid, typarray
FROM pg_type t JOIN pg_namespace ns
    ON typnamespace = ns.oid
WHERE typname = 'hstore'
--- 5
SELECT t.oid, typarray FROM pg_type t WHERE t.typname = 'jsonb'
--- 6
select rngtypid, rngsubtype, typarray
from pg_range r
join pg_type t on t.oid = rngtypid
join pg_namespace ns on ns.oid = typnamespace
where typname = 'spans' and ns.nspname = 'app'
--- 7
SELECT rngtypid, rngsubtype, typarray, typname, nspname
from pg_range r
join pg_type t on t.oid = rngtypid
join pg_namespace ns on ns.oid = typnamespace
WHERE t.oid = 'app.spans'::regtype
