-- getTables
SELECT NULL AS table_cat, n.nspname AS table_schem, c.relname AS table_name,
  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'
    WHEN true THEN CASE WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN 'SYSTEM INDEX' ELSE NULL END ELSE NULL END
    WHEN false THEN CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'i' THEN 'INDEX' WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'c' THEN 'TYPE' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END
    ELSE NULL END AS table_type,
  d.description AS remarks, '' AS type_cat, '' AS type_schem, '' AS type_name, '' AS self_referencing_col_name, '' AS ref_generation
FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c
LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass)
WHERE c.relnamespace = n.oid AND n.nspname LIKE 'app' AND c.relkind IN ('r', 'p', 'i', 'S', 'v', 'm') ORDER BY table_type, table_schem, table_name

-- getColumns
SELECT * FROM (SELECT n.nspname, c.relname, a.attname, a.atttypid, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull, a.atttypmod, a.attlen, t.typtypmod, row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum,
    nullif(a.attidentity, '') AS attidentity, nullif(a.attgenerated, '') AS attgenerated, pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc, dsc.description, t.typbasetype, t.typtype
  FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.oid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid = def.adrelid AND a.attnum = def.adnum) LEFT JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
  LEFT JOIN pg_catalog.pg_class dc ON (dc.oid = dsc.classoid AND dc.relname = 'pg_class') LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace = dn.oid AND dn.nspname = 'pg_catalog')
  WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname LIKE 'app') c ORDER BY nspname, c.relname, attnum

-- getPrimaryKeys
SELECT result.table_schem, result.table_name, result.column_name, result.key_seq, result.pk_name
FROM (SELECT n.nspname AS table_schem, ct.relname AS table_name, a.attname AS column_name, (information_schema._pg_expandarray(i.indkey)).n AS key_seq, ci.relname AS pk_name, information_schema._pg_expandarray(i.indkey) AS keys, a.attnum AS a_attnum
  FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid) JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid) JOIN pg_catalog.pg_index i ON (a.attrelid = i.indrelid) JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)
  WHERE n.nspname = 'app' AND ct.relname = 'order_line' AND i.indisprimary) result
WHERE result.a_attnum = (result.keys).x ORDER BY result.table_name, result.pk_name, result.key_seq

-- getIndexInfo
SELECT tmp.table_schem, tmp.table_name, tmp.non_unique, tmp.index_name, tmp.type, tmp.ordinal_position, trim(BOTH '"' FROM pg_catalog.pg_get_indexdef(tmp.ci_oid, tmp.ordinal_position, false)) AS column_name,
  CASE tmp.am_name WHEN 'btree' THEN CASE tmp.i_indoption[tmp.ordinal_position - 1] & 1::smallint WHEN 1 THEN 'D' ELSE 'A' END ELSE NULL END AS asc_or_desc, tmp.filter_condition
FROM (SELECT n.nspname AS table_schem, ct.relname AS table_name, NOT i.indisunique AS non_unique, ci.relname AS index_name,
    CASE i.indisclustered WHEN true THEN 1 ELSE CASE am.amname WHEN 'hash' THEN 2 ELSE 3 END END AS type, (information_schema._pg_expandarray(i.indkey)).n AS ordinal_position,
    pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS filter_condition, ci.oid AS ci_oid, i.indoption AS i_indoption, am.amname AS am_name
  FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid) JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid) JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) JOIN pg_catalog.pg_am am ON (ci.relam = am.oid)
  WHERE n.nspname = 'app') tmp ORDER BY non_unique, type, index_name, ordinal_position

-- getImportedKeys
SELECT pkn.nspname AS pktable_schem, pkc.relname AS pktable_name, pka.attname AS pkcolumn_name, fkn.nspname AS fktable_schem, fkc.relname AS fktable_name, fka.attname AS fkcolumn_name, pos.n AS key_seq,
  CASE con.confupdtype WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS update_rule,
  CASE con.confdeltype WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS delete_rule,
  con.conname AS fk_name, pkic.relname AS pk_name, CASE WHEN con.condeferrable AND con.condeferred THEN 5 WHEN con.condeferrable THEN 6 ELSE 7 END AS deferrability
FROM pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka, pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka, pg_catalog.pg_constraint con, pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class pkic
WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid
  AND con.contype = 'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid AND fkn.nspname = 'app' ORDER BY pkn.nspname, pkc.relname, con.conname, pos.n

-- getTablePrivileges
SELECT n.nspname, c.relname, r.rolname, c.relacl FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r WHERE c.relnamespace = n.oid AND c.relowner = r.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname = 'app' ORDER BY nspname, relname

-- getColumnPrivileges
SELECT n.nspname, c.relname, r.rolname, c.relacl, a.attacl, a.attname FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r, pg_catalog.pg_attribute a
WHERE c.relnamespace = n.oid AND c.relowner = r.oid AND c.oid = a.attrelid AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname = 'app' AND c.relname = 'customer' ORDER BY attname

-- getSchemas
SELECT nspname AS table_schem, NULL AS table_catalog FROM pg_catalog.pg_namespace WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~ '^pg_toast_temp_' OR nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_')) ORDER BY table_schem

-- getCatalogs
SELECT datname AS table_cat FROM pg_catalog.pg_database WHERE datallowconn = true AND datname = current_database() ORDER BY datname

-- getTypeInfo
SELECT t.typname, t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON (t.typnamespace = n.oid) WHERE n.nspname <> 'pg_toast' AND t.typname IN ('bool', 'int2', 'int4', 'int8', 'text', 'numeric', 'uuid', 'json', 'jsonb', 'aclitem', 'oid')
  AND (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)) ORDER BY 2

-- type by OID
SELECT n.nspname = ANY (current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = 1043

-- array of a type
SELECT e.typdelim, e.oid, (SELECT t.typname FROM pg_catalog.pg_type t WHERE t.oid = e.typarray) FROM pg_catalog.pg_type e WHERE e.typname = 'numeric'

-- SQL type of a name
SELECT typinput = 'pg_catalog.array_in'::regproc AS is_array, typtype, typname, pg_type.oid FROM pg_catalog.pg_type LEFT JOIN (SELECT ns.oid AS nspoid, ns.nspname, r.r FROM pg_namespace AS ns JOIN (SELECT s.r, (current_schemas(false))[s.r] AS nspname FROM generate_series(1, array_upper(current_schemas(false), 1)) AS s (r)) AS r USING (nspname)) AS sp ON sp.nspoid = typnamespace
WHERE typname = '_text' ORDER BY sp.r, pg_type.oid DESC LIMIT 1

-- generated columns of a result
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity <> '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%'
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum)
JOIN (SELECT 'app.customer'::regclass::oid AS oid, 1 AS attnum UNION ALL SELECT 'app.orders'::regclass::oid, 1 UNION ALL SELECT 'app.orders'::regclass::oid, 4) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum)

-- client info, longest name
SELECT setting FROM pg_catalog.pg_settings WHERE name = 'max_index_keys'

-- getFunctions
SELECT current_database() AS function_cat, n.nspname, p.proname, d.description, CASE WHEN (format_type(p.prorettype, NULL) = 'unknown') THEN 0 WHEN (substring(pg_get_function_result(p.oid) FROM 0 FOR 6) = 'TABLE') OR (substring(pg_get_function_result(p.oid) FROM 0 FOR 6) = 'SETOF') THEN 2 ELSE 1 END
FROM pg_catalog.pg_proc p INNER JOIN pg_catalog.pg_namespace n ON p.pronamespace = n.oid LEFT JOIN pg_catalog.pg_description d ON p.oid = d.objoid WHERE p.prokind = 'f' AND n.nspname LIKE 'app'
