-- types by how they are received
SELECT n.nspname, t.typname, CASE WHEN p.proname = 'array_recv' THEN 'a' ELSE t.typtype END AS kind, t.typnotnull, e.typname AS element
FROM pg_type t
JOIN pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_class c ON c.oid = t.typrelid
LEFT JOIN pg_proc p ON p.oid = t.typreceive
LEFT JOIN pg_range r ON r.rngtypid = t.oid
LEFT JOIN pg_type e ON e.oid = CASE WHEN p.proname = 'array_recv' THEN t.typelem WHEN t.typtype = 'r' THEN r.rngsubtype WHEN t.typtype = 'd' THEN t.typbasetype END
LEFT JOIN pg_proc ep ON ep.oid = e.typreceive
WHERE t.typname IN ('int4', '_int4', 'text', '_text', 'aclitem', '_aclitem', 'uuid', 'bpchar', 'int2vector', 'oidvector', 'timestamptz', 'void', '_bytea')
  AND (t.typtype IN ('b', 'r', 'm', 'e', 'd') OR (t.typtype = 'c' AND c.relkind = 'c') OR (t.typtype = 'p' AND t.typname IN ('record', 'void')))
ORDER BY CASE WHEN p.proname = 'array_recv' THEN 1 ELSE 0 END, t.typname

-- fields of composite types
SELECT t.typname, a.attname, a.atttypid::regtype FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_class c ON c.oid = t.typrelid JOIN pg_attribute a ON a.attrelid = t.typrelid
WHERE t.typtype = 'c' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND a.attnum > 0 AND NOT a.attisdropped ORDER BY t.typname, a.attnum

-- labels of enums
SELECT t.oid, e.enumlabel FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid ORDER BY t.oid, e.enumsortorder

-- schema table: columns of a reader
SELECT n.nspname, c.relname, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attnum = ANY (i.indkey) AS is_key, i.indisunique
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE a.attrelid = 'app.order_line'::regclass AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES') ORDER BY a.attnum
