-- schemas
SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY (ARRAY['app', 'Odd Name', 'nosuch']) ORDER BY nspname

-- tables
SELECT c.relname, n.nspname, (c.relhassubclass AND c.relkind = 'p') AS is_partition, (c.relhassubclass AND c.relkind = 'r') AS has_subclass, c.relrowsecurity, c.reloptions, obj_description(c.oid, 'pg_class')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ((c.relkind = 'r' AND c.relispartition = 'f') OR c.relkind = 'p') AND n.nspname = ANY (ARRAY['app']) ORDER BY n.nspname, c.relname

-- indexes by column
WITH raw AS (
    SELECT indrelid, indexrelid, indisunique, indisprimary, unnest(indkey) AS column_id, generate_subscripts(indkey, 1) AS place, unnest(indclass) AS class, unnest(indoption) AS option
    FROM pg_index WHERE indpred IS NULL AND NOT indisexclusion)
SELECT n.nspname, i.relname AS index_name, t.relname AS table_name, a.attname, raw.indisunique, raw.indisprimary, raw.place, o.opcname, o.opcdefault, m.amname,
       CASE raw.option & 1 WHEN 1 THEN 'DESC' ELSE 'ASC' END, CASE raw.option & 2 WHEN 2 THEN true ELSE false END AS nulls_first, k.condeferrable, k.condeferred
FROM raw JOIN pg_class t ON t.oid = raw.indrelid JOIN pg_class i ON i.oid = raw.indexrelid JOIN pg_namespace n ON n.oid = t.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = raw.column_id JOIN pg_am m ON m.oid = i.relam LEFT JOIN pg_opclass o ON o.oid = raw.class
LEFT JOIN pg_constraint k ON raw.indexrelid = k.conindid AND k.contype <> 'f'
WHERE n.nspname = ANY (ARRAY['app']) ORDER BY n.nspname, t.relname, i.relname, raw.place

-- checks
SELECT n.nspname, t.relname, k.conname, k.contype, pg_get_constraintdef(k.oid), k.condeferrable, k.condeferred FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
WHERE n.nspname = ANY (ARRAY['app']) AND contype NOT IN ('p', 'u', 'f') ORDER BY n.nspname, t.relname, k.contype, k.conname

-- columns
SELECT oid.namespace, info.table_name, info.column_name, format_type(att.atttypid, att.atttypmod) AS formatted_type, info.numeric_precision, info.numeric_scale, info.numeric_precision_radix, info.datetime_precision, info.data_type,
       info.udt_schema AS type_schema_name, info.udt_name AS full_data_type, pg_get_expr(attdef.adbin, attdef.adrelid) AS column_default, info.is_nullable, info.is_identity, info.character_maximum_length, col_description(att.attrelid, ordinal_position) AS description
FROM information_schema.columns info
JOIN pg_attribute att ON att.attname = info.column_name
JOIN (SELECT c.oid, c.relname, n.nspname AS namespace FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ANY (ARRAY['app']) WHERE c.reltype > 0) oid
  ON oid.oid = att.attrelid AND oid.relname = info.table_name AND oid.namespace = info.table_schema
LEFT JOIN pg_attrdef attdef ON attdef.adrelid = att.attrelid AND attdef.adnum = att.attnum AND info.table_schema = oid.namespace
WHERE info.table_schema = ANY (ARRAY['app']) ORDER BY oid.namespace, info.table_name, info.ordinal_position

-- foreign keys
SELECT con.oid AS con_id, att2.attname AS child_column, cl.relname AS parent_table, att.attname AS parent_column, con.confdeltype, con.confupdtype, rel_ns.nspname AS referenced_schema_name, conname AS constraint_name, child, parent, table_name, namespace, condeferrable, condeferred
FROM (SELECT ns.nspname AS namespace, unnest(con1.conkey) AS parent, unnest(con1.confkey) AS child, cl.relname AS table_name, ns.nspname AS schema_name, generate_subscripts(con1.conkey, 1) AS colidx, con1.oid, con1.confrelid, con1.conrelid, con1.conname, con1.confdeltype, con1.confupdtype, con1.condeferrable, con1.condeferred
      FROM pg_class cl JOIN pg_constraint con1 ON con1.conrelid = cl.oid JOIN pg_namespace ns ON cl.relnamespace = ns.oid WHERE ns.nspname = ANY (ARRAY['app']) AND con1.contype = 'f') con
JOIN pg_attribute att ON att.attrelid = con.confrelid AND att.attnum = con.child JOIN pg_class cl ON cl.oid = con.confrelid JOIN pg_attribute att2 ON att2.attrelid = con.conrelid AND att2.attnum = con.parent
JOIN pg_class rel_cl ON con.confrelid = rel_cl.oid JOIN pg_namespace rel_ns ON rel_cl.relnamespace = rel_ns.oid ORDER BY namespace, table_name, constraint_name, con.colidx

-- sequences
SELECT sequencename, schemaname, start_value, min_value, max_value, increment_by, cycle, cache_size FROM pg_sequences WHERE schemaname = ANY (ARRAY['app'])

-- views
SELECT viewname, definition, schemaname FROM pg_catalog.pg_views WHERE schemaname = ANY (ARRAY['app'])

-- enums
SELECT t.typname, e.enumlabel, n.nspname FROM pg_type t JOIN pg_enum e ON t.oid = e.enumtypid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = ANY (ARRAY['app']) ORDER BY e.enumsortorder

-- procedures
SELECT p.proname, n.nspname, CASE WHEN l.lanname = 'internal' THEN p.prosrc ELSE pg_get_functiondef(p.oid) END FROM pg_proc p LEFT JOIN pg_namespace n ON p.pronamespace = n.oid LEFT JOIN pg_language l ON p.prolang = l.oid WHERE n.nspname = ANY (ARRAY['app'])

-- extensions
SELECT ext.extname, ext.extversion, ext.extrelocatable, pn.nspname FROM pg_extension ext JOIN pg_namespace pn ON ext.extnamespace = pn.oid ORDER BY ext.extname
