-- types of a table's columns, with the types they are made of
WITH RECURSIVE known (oid, schema, name, kind, element, delimiter, fields, field_names, depth) AS (
    SELECT i.*, 0 FROM (
        SELECT t.oid, n.nspname, t.typname, t.typtype, t.typelem, e.typdelim,
               CASE WHEN t.typtype = 'c' THEN (SELECT array_agg(a.atttypid ORDER BY a.attnum) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attnum > 0 AND NOT a.attisdropped AND c.reltype = t.oid) END,
               CASE WHEN t.typtype = 'c' THEN (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attnum > 0 AND NOT a.attisdropped AND c.reltype = t.oid) END
        FROM pg_catalog.pg_type t
        JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
        LEFT JOIN pg_type e ON t.typlen = -1 AND t.typelem <> 0 AND t.typelem = e.oid
        LEFT JOIN pg_range r ON r.rngtypid = t.oid) i (oid, schema, name, kind, element, delimiter, fields, field_names)
    WHERE i.oid = ANY (ARRAY[1009, 2950, 1231, 1034]::oid[] || (SELECT reltype FROM pg_class WHERE oid = 'app.order_line'::regclass))
    UNION ALL
    SELECT i.*, k.depth + 1 FROM (
        SELECT t.oid, n.nspname, t.typname, t.typtype, t.typelem, e.typdelim,
               CASE WHEN t.typtype = 'c' THEN (SELECT array_agg(a.atttypid ORDER BY a.attnum) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attnum > 0 AND NOT a.attisdropped AND c.reltype = t.oid) END,
               CASE WHEN t.typtype = 'c' THEN (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attnum > 0 AND NOT a.attisdropped AND c.reltype = t.oid) END
        FROM pg_catalog.pg_type t
        JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
        LEFT JOIN pg_type e ON t.typlen = -1 AND t.typelem <> 0 AND t.typelem = e.oid
        LEFT JOIN pg_range r ON r.rngtypid = t.oid) i (oid, schema, name, kind, element, delimiter, fields, field_names), known k
    WHERE (k.element IS NOT NULL AND i.oid = k.element) OR (k.fields IS NOT NULL AND i.oid = ANY (k.fields)))
SELECT DISTINCT schema, name, kind, element::regtype::text, delimiter, field_names, depth FROM known ORDER BY depth DESC, name

-- a type by name
SELECT t.typelem, t.typtype, t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.typname = '_numeric' AND n.nspname = 'pg_catalog'
