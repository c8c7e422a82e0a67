-- Tool: sqlx 0.9.0 and tokio-postgres 0.7.18
-- Done: queries checked while they were compiled, then run; types, listener, lock and migrations of sqlx; statements of tokio-postgres
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command sh sqlx_tool.sh
--- 1
SELECT
attrelid table_oid,
attrelid::regclass::text table_name,
array_agg(ROW(attnum, attname)) AS columns
FROM (VALUES (<relation app.customer>, 1), (<relation app.customer>, 2), (<relation app.customer>, 3), (<relation app.customer>, 4), (<relation app.customer>, 5), (<relation app.customer>, 6), (<relation app.customer>, 7), (<relation app.customer>, 8), (<relation app.customer>, 9), (<relation app.customer>, 10), (<relation app.customer>, 11), (<relation app.customer>, 12)) lookup(table_oid, attribute_num)
INNER JOIN pg_catalog.pg_attribute ON lookup.table_oid = attrelid AND lookup.attribute_num = attnum
GROUP BY attrelid
--- 2
--$ int4 "0"
--$ oid "<relation app.customer>"
--$ int2 "1"
--$ int4 "1"
--$ oid "<relation app.customer>"
--$ int2 "2"
--$ int4 "2"
--$ oid "<relation app.customer>"
--$ int2 "3"
--$ int4 "3"
--$ oid "<relation app.customer>"
--$ int2 "4"
--$ int4 "4"
--$ oid "<relation app.customer>"
--$ int2 "5"
--$ int4 "5"
--$ oid "<relation app.customer>"
--$ int2 "6"
--$ int4 "6"
--$ oid "<relation app.customer>"
--$ int2 "7"
--$ int4 "7"
--$ oid "<relation app.customer>"
--$ int2 "8"
--$ int4 "8"
--$ oid "<relation app.customer>"
--$ int2 "9"
--$ int4 "9"
--$ oid "<relation app.customer>"
--$ int2 "10"
--$ int4 "10"
--$ oid "<relation app.customer>"
--$ int2 "11"
--$ int4 "11"
--$ oid "<relation app.customer>"
--$ int2 "12"
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) UNION ALL ( SELECT $10::int4, $11::int4, $12::int2 ) UNION ALL ( SELECT $13::int4, $14::int4, $15::int2 ) UNION ALL ( SELECT $16::int4, $17::int4, $18::int2 ) UNION ALL ( SELECT $19::int4, $20::int4, $21::int2 ) UNION ALL ( SELECT $22::int4, $23::int4, $24::int2 ) UNION ALL ( SELECT $25::int4, $26::int4, $27::int2 ) UNION ALL ( SELECT $28::int4, $29::int4, $30::int2 ) UNION ALL ( SELECT $31::int4, $32::int4, $33::int2 ) UNION ALL ( SELECT $34::int4, $35::int4, $36::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 3
SELECT
attrelid table_oid,
attrelid::regclass::text table_name,
array_agg(ROW(attnum, attname)) AS columns
FROM (VALUES (<relation app.orders>, 1), (<relation app.orders>, 5), (<relation app.order_line>, 6)) lookup(table_oid, attribute_num)
INNER JOIN pg_catalog.pg_attribute ON lookup.table_oid = attrelid AND lookup.attribute_num = attnum
GROUP BY attrelid
--- 4
--$ int4 "0"
--$ oid "<relation app.customer>"
--$ int2 "2"
--$ int4 "1"
--$ oid "<relation app.orders>"
--$ int2 "1"
--$ int4 "2"
--$ oid "<relation app.orders>"
--$ int2 "5"
--$ int4 "3"
--$ oid "<relation app.order_line>"
--$ int2 "6"
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) UNION ALL ( SELECT $10::int4, $11::int4, $12::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 5
SELECT
attrelid table_oid,
attrelid::regclass::text table_name,
array_agg(ROW(attnum, attname)) AS columns
FROM (VALUES (<relation app.open_orders>, 1), (<relation app.open_orders>, 3), (<relation app.open_orders>, 2)) lookup(table_oid, attribute_num)
INNER JOIN pg_catalog.pg_attribute ON lookup.table_oid = attrelid AND lookup.attribute_num = attnum
GROUP BY attrelid
--- 6
--$ int4 "0"
--$ oid "<relation app.open_orders>"
--$ int2 "1"
--$ int4 "1"
--$ oid "<relation app.open_orders>"
--$ int2 "3"
--$ int4 "2"
--$ oid "<relation app.open_orders>"
--$ int2 "2"
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 7
SELECT
attrelid table_oid,
attrelid::regclass::text table_name,
array_agg(ROW(attnum, attname)) AS columns
FROM (VALUES (<relation app.totals>, 1), (<relation app.totals>, 2)) lookup(table_oid, attribute_num)
INNER JOIN pg_catalog.pg_attribute ON lookup.table_oid = attrelid AND lookup.attribute_num = attnum
GROUP BY attrelid
--- 8
--$ int4 "0"
--$ oid "<relation app.totals>"
--$ int2 "1"
--$ int4 "1"
--$ oid "<relation app.totals>"
--$ int2 "2"
--$ int4 "2"
--$ oid null
--$ int2 null
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 9
SELECT
attrelid table_oid,
attrelid::regclass::text table_name,
array_agg(ROW(attnum, attname)) AS columns
FROM (VALUES (<relation app.Mixed Case>, 1), (<relation app.Mixed Case>, 2), (<relation app.Mixed Case>, 4)) lookup(table_oid, attribute_num)
INNER JOIN pg_catalog.pg_attribute ON lookup.table_oid = attrelid AND lookup.attribute_num = attnum
GROUP BY attrelid
--- 10
--$ int4 "0"
--$ oid "<relation app.Mixed Case>"
--$ int2 "1"
--$ int4 "1"
--$ oid "<relation app.Mixed Case>"
--$ int2 "2"
--$ int4 "2"
--$ oid "<relation app.Mixed Case>"
--$ int2 "4"
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 11
--$ int4 "0"
--$ oid "<relation app.customer>"
--$ int2 "1"
--$ int4 "1"
--$ oid "<relation app.customer>"
--$ int2 "5"
--$ int4 "2"
--$ oid "<relation app.customer>"
--$ int2 "8"
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 12
--$ int4 "0"
--$ oid "<relation app.orders>"
--$ int2 "5"
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 13
SELECT
attrelid table_oid,
attrelid::regclass::text table_name,
array_agg(ROW(attnum, attname)) AS columns
FROM (VALUES (1259, 2)) lookup(table_oid, attribute_num)
INNER JOIN pg_catalog.pg_attribute ON lookup.table_oid = attrelid AND lookup.attribute_num = attnum
GROUP BY attrelid
--- 14
--$ int4 "0"
--$ oid "1259"
--$ int2 "2"
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 15
SELECT relname FROM pg_class WHERE oid = 'app.customer'::regclass
--- 16
SELECT pg_type.oid,
pg_type.oid::regtype::text pretty_name,
typname catalog_name,
original_name,
typtype,
typcategory,
NULLIF(typelem, 0::oid) typelem,
NULLIF(typbasetype, 0::oid) typbasetype,
rngsubtype,
COALESCE((SELECT array_agg(enumlabel) FROM (SELECT *
FROM pg_catalog.pg_enum
WHERE enumtypid = pg_type.oid
ORDER BY enumsortorder) labels),
'{}') enum_labels,
COALESCE(
(SELECT array_agg((attname, atttypid)) FROM (SELECT *
FROM pg_catalog.pg_attribute
WHERE attrelid = pg_type.typrelid
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum) attributes),
'{}') record_attributes
FROM (SELECT DISTINCT ON(lookup_oid) original_name, lookup_oid
FROM (VALUES (E'app.keyless', to_regtype(E'app.keyless')::oid)) lookup_inner(original_name, lookup_oid)
ORDER BY lookup_oid) type_lookup
INNER JOIN pg_catalog.pg_type ON type_lookup.lookup_oid = pg_type.oid
LEFT JOIN pg_catalog.pg_range ON pg_type.oid = pg_range.rngtypid
--- 17
SELECT pg_type.oid,
pg_type.oid::regtype::text pretty_name,
typname catalog_name,
original_name,
typtype,
typcategory,
NULLIF(typelem, 0::oid) typelem,
NULLIF(typbasetype, 0::oid) typbasetype,
rngsubtype,
COALESCE((SELECT array_agg(enumlabel) FROM (SELECT *
FROM pg_catalog.pg_enum
WHERE enumtypid = pg_type.oid
ORDER BY enumsortorder) labels),
'{}') enum_labels,
COALESCE(
(SELECT array_agg((attname, atttypid)) FROM (SELECT *
FROM pg_catalog.pg_attribute
WHERE attrelid = pg_type.typrelid
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum) attributes),
'{}') record_attributes
FROM (SELECT DISTINCT ON(lookup_oid) original_name, lookup_oid
FROM (VALUES (E'app.keyless', to_regtype(E'app.keyless')), (E'app.keyless[]', to_regtype(E'app.keyless[]')::oid)) lookup_inner(original_name, lookup_oid)
ORDER BY lookup_oid) type_lookup
INNER JOIN pg_catalog.pg_type ON type_lookup.lookup_oid = pg_type.oid
LEFT JOIN pg_catalog.pg_range ON pg_type.oid = pg_range.rngtypid
--- 18
SELECT pg_type.oid,
pg_type.oid::regtype::text pretty_name,
typname catalog_name,
original_name,
typtype,
typcategory,
NULLIF(typelem, 0::oid) typelem,
NULLIF(typbasetype, 0::oid) typbasetype,
rngsubtype,
COALESCE((SELECT array_agg(enumlabel) FROM (SELECT *
FROM pg_catalog.pg_enum
WHERE enumtypid = pg_type.oid
ORDER BY enumsortorder) labels),
'{}') enum_labels,
COALESCE(
(SELECT array_agg((attname, atttypid)) FROM (SELECT *
FROM pg_catalog.pg_attribute
WHERE attrelid = pg_type.typrelid
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum) attributes),
'{}') record_attributes
FROM (SELECT DISTINCT ON(lookup_oid) original_name, lookup_oid
FROM (VALUES (NULL, <type app.keyless>)) lookup_inner(original_name, lookup_oid)
ORDER BY lookup_oid) type_lookup
INNER JOIN pg_catalog.pg_type ON type_lookup.lookup_oid = pg_type.oid
LEFT JOIN pg_catalog.pg_range ON pg_type.oid = pg_range.rngtypid
--- 19
SELECT pg_type.oid,
pg_type.oid::regtype::text pretty_name,
typname catalog_name,
original_name,
typtype,
typcategory,
NULLIF(typelem, 0::oid) typelem,
NULLIF(typbasetype, 0::oid) typbasetype,
rngsubtype,
COALESCE((SELECT array_agg(enumlabel) FROM (SELECT *
FROM pg_catalog.pg_enum
WHERE enumtypid = pg_type.oid
ORDER BY enumsortorder) labels),
'{}') enum_labels,
COALESCE(
(SELECT array_agg((attname, atttypid)) FROM (SELECT *
FROM pg_catalog.pg_attribute
WHERE attrelid = pg_type.typrelid
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum) attributes),
'{}') record_attributes
FROM (SELECT DISTINCT ON(lookup_oid) original_name, lookup_oid
FROM (VALUES (NULL, <type app.orders>)) lookup_inner(original_name, lookup_oid)
ORDER BY lookup_oid) type_lookup
INNER JOIN pg_catalog.pg_type ON type_lookup.lookup_oid = pg_type.oid
LEFT JOIN pg_catalog.pg_range ON pg_type.oid = pg_range.rngtypid
--- 20
SELECT
attrelid table_oid,
attrelid::regclass::text table_name,
array_agg(ROW(attnum, attname)) AS columns
FROM (VALUES (<relation app.orders>, 1), (<relation app.orders>, 2), (<relation app.orders>, 3), (<relation app.orders>, 4), (<relation app.orders>, 5)) lookup(table_oid, attribute_num)
INNER JOIN pg_catalog.pg_attribute ON lookup.table_oid = attrelid AND lookup.attribute_num = attnum
GROUP BY attrelid
--- 21
--$ int4 "0"
--$ oid "<relation app.orders>"
--$ int2 null
--$ int4 "1"
--$ oid "<relation app.orders>"
--$ int2 "1"
--$ int4 "2"
--$ oid "<relation app.orders>"
--$ int2 "2"
--$ int4 "3"
--$ oid "<relation app.orders>"
--$ int2 "3"
--$ int4 "4"
--$ oid "<relation app.orders>"
--$ int2 "4"
--$ int4 "5"
--$ oid "<relation app.orders>"
--$ int2 "5"
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) UNION ALL ( SELECT $4::int4, $5::int4, $6::int2 ) UNION ALL ( SELECT $7::int4, $8::int4, $9::int2 ) UNION ALL ( SELECT $10::int4, $11::int4, $12::int2 ) UNION ALL ( SELECT $13::int4, $14::int4, $15::int2 ) UNION ALL ( SELECT $16::int4, $17::int4, $18::int2 ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 22
SELECT pg_type.oid,
pg_type.oid::regtype::text pretty_name,
typname catalog_name,
original_name,
typtype,
typcategory,
NULLIF(typelem, 0::oid) typelem,
NULLIF(typbasetype, 0::oid) typbasetype,
rngsubtype,
COALESCE((SELECT array_agg(enumlabel) FROM (SELECT *
FROM pg_catalog.pg_enum
WHERE enumtypid = pg_type.oid
ORDER BY enumsortorder) labels),
'{}') enum_labels,
COALESCE(
(SELECT array_agg((attname, atttypid)) FROM (SELECT *
FROM pg_catalog.pg_attribute
WHERE attrelid = pg_type.typrelid
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum) attributes),
'{}') record_attributes
FROM (SELECT DISTINCT ON(lookup_oid) original_name, lookup_oid
FROM (VALUES (NULL, <type app._customer>)) lookup_inner(original_name, lookup_oid)
ORDER BY lookup_oid) type_lookup
INNER JOIN pg_catalog.pg_type ON type_lookup.lookup_oid = pg_type.oid
LEFT JOIN pg_catalog.pg_range ON pg_type.oid = pg_range.rngtypid
--- 23
SELECT pg_type.oid,
pg_type.oid::regtype::text pretty_name,
typname catalog_name,
original_name,
typtype,
typcategory,
NULLIF(typelem, 0::oid) typelem,
NULLIF(typbasetype, 0::oid) typbasetype,
rngsubtype,
COALESCE((SELECT array_agg(enumlabel) FROM (SELECT *
FROM pg_catalog.pg_enum
WHERE enumtypid = pg_type.oid
ORDER BY enumsortorder) labels),
'{}') enum_labels,
COALESCE(
(SELECT array_agg((attname, atttypid)) FROM (SELECT *
FROM pg_catalog.pg_attribute
WHERE attrelid = pg_type.typrelid
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum) attributes),
'{}') record_attributes
FROM (SELECT DISTINCT ON(lookup_oid) original_name, lookup_oid
FROM (VALUES (NULL, <type app.customer>)) lookup_inner(original_name, lookup_oid)
ORDER BY lookup_oid) type_lookup
INNER JOIN pg_catalog.pg_type ON type_lookup.lookup_oid = pg_type.oid
LEFT JOIN pg_catalog.pg_range ON pg_type.oid = pg_range.rngtypid
--- 24
--$ int4 "0"
--$ oid null
--$ int2 null
SELECT NOT attnotnull FROM ( ( SELECT $1::int4 AS idx, $2::int4 AS table_id, $3::int2 AS col_idx ) ) AS col LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY idx
--- 25
SELECT pg_type.oid,
pg_type.oid::regtype::text pretty_name,
typname catalog_name,
original_name,
typtype,
typcategory,
NULLIF(typelem, 0::oid) typelem,
NULLIF(typbasetype, 0::oid) typbasetype,
rngsubtype,
COALESCE((SELECT array_agg(enumlabel) FROM (SELECT *
FROM pg_catalog.pg_enum
WHERE enumtypid = pg_type.oid
ORDER BY enumsortorder) labels),
'{}') enum_labels,
COALESCE(
(SELECT array_agg((attname, atttypid)) FROM (SELECT *
FROM pg_catalog.pg_attribute
WHERE attrelid = pg_type.typrelid
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum) attributes),
'{}') record_attributes
FROM (SELECT DISTINCT ON(lookup_oid) original_name, lookup_oid
FROM (VALUES (NULL, <type app._keyless>)) lookup_inner(original_name, lookup_oid)
ORDER BY lookup_oid) type_lookup
INNER JOIN pg_catalog.pg_type ON type_lookup.lookup_oid = pg_type.oid
LEFT JOIN pg_catalog.pg_range ON pg_type.oid = pg_range.rngtypid
--- 26
SELECT current_database()
--- 27
--$ oid "<type app.orders>"
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
WHERE t.oid = $1
--- 28
--$ oid "<relation app.orders>"
SELECT attname, atttypid
FROM pg_catalog.pg_attribute
WHERE attrelid = $1
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum
--- 29
--$ oid "<type app.customer>"
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
WHERE t.oid = $1
--- 30
--$ oid "<relation app.customer>"
SELECT attname, atttypid
FROM pg_catalog.pg_attribute
WHERE attrelid = $1
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum
--- 31
--$ oid "<type app._order_line>"
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
WHERE t.oid = $1
--- 32
--$ oid "<type app.order_line>"
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
WHERE t.oid = $1
--- 33
--$ oid "<relation app.order_line>"
SELECT attname, atttypid
FROM pg_catalog.pg_attribute
WHERE attrelid = $1
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum
--- 34
--$ oid "<type app.keyless>"
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
WHERE t.oid = $1
--- 35
--$ oid "<relation app.keyless>"
SELECT attname, atttypid
FROM pg_catalog.pg_attribute
WHERE attrelid = $1
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum
--- 36
--$ oid "<type app._keyless>"
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
WHERE t.oid = $1
--- 37
--$ oid "10047"
SELECT t.typname, t.typtype, t.typelem, r.rngsubtype, t.typbasetype, n.nspname, t.typrelid
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid
INNER JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid
WHERE t.oid = $1
--- 38
--$ oid "2615"
SELECT attname, atttypid
FROM pg_catalog.pg_attribute
WHERE attrelid = $1
AND NOT attisdropped
AND attnum > 0
ORDER BY attnum
--- 39
--$ name "app"
SELECT nspname, oid FROM pg_namespace WHERE nspname = $1
