-- DBeaver: databases
SELECT db.datname, db.datistemplate, db.datallowconn, db.datcollate, db.datctype, db.datacl, db.datconnlimit, pg_get_userbyid(db.datdba) FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate AND db.datname = current_database() ORDER BY db.datname

-- DBeaver: schemas
SELECT n.oid, n.nspname, n.nspacl, d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass WHERE n.nspname NOT LIKE 'pg\_%' ORDER BY nspname

-- DBeaver: relations of a schema
SELECT c.oid, c.relname, c.relkind, c.relowner, c.relacl, c.relnatts, c.relhasindex, c.relchecks, c.relispartition, c.relispopulated, c.relpersistence, c.relreplident, c.reltype, d.description, CASE WHEN c.relpartbound IS NULL THEN NULL ELSE pg_get_expr(c.relpartbound, c.oid) END AS partition_expr, CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END AS partition_key
FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass WHERE c.relnamespace = 'app'::regnamespace AND c.relkind NOT IN ('i', 'I', 'c') ORDER BY relname

-- DBeaver: columns of a schema
SELECT c.relname, a.attname, a.attnum, a.atttypid, a.attlen, a.attndims, a.atttypmod, a.attnotnull, a.atthasdef, a.attidentity, a.attgenerated, a.attisdropped, a.attislocal, a.attinhcount, a.attcollation::regcollation::text, a.attacl, pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid, (SELECT count(*) FROM pg_catalog.pg_type t2 WHERE t2.typname = t.typname) > 0
FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum) LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid) LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE NOT a.attisdropped AND a.attnum > 0 AND c.relkind NOT IN ('i', 'I', 'c', 'S') AND c.relnamespace = 'app'::regnamespace ORDER BY c.relname, a.attnum

-- DBeaver: constraints of a schema
SELECT c.oid, c.conname, c.contype, c.condeferrable, c.condeferred, c.convalidated, c.conkey, c.confkey, c.confupdtype, c.confdeltype, c.confmatchtype, c.conislocal, c.coninhcount, c.connoinherit, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description, CASE WHEN c.contype = 'c' THEN substring(pg_get_constraintdef(c.oid), 7) ELSE NULL END AS consrc_copy
FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass WHERE t.relnamespace = 'app'::regnamespace ORDER BY t.relname, c.conname

-- DBeaver: indexes of a table
SELECT i.indexrelid, i.indrelid, i.indnatts, i.indnkeyatts, i.indisunique, i.indisprimary, i.indisexclusion, i.indimmediate, i.indisclustered, i.indisvalid, i.indcheckxmin, i.indisready, i.indislive, i.indisreplident, i.indkey, i.indcollation IS NOT NULL, i.indoption, c.relname, c.relam, c.reltablespace, tc.relname AS tabrelname, dsc.description, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS expr
FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid WHERE tc.relnamespace = 'app'::regnamespace ORDER BY tabrelname, c.relname

-- DBeaver: data types
SELECT t.oid, t.typname, t.typtype, t.typcategory, t.typlen, t.typbyval, t.typispreferred, t.typisdefined, t.typdelim, t.typelem, t.typarray, t.typinput, t.typoutput, t.typalign, t.typstorage, t.typnotnull, t.typbasetype, t.typtypmod, t.typndims, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid AND d.classoid = 'pg_type'::regclass AND false
WHERE t.typname IN ('bool', 'int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar', 'bpchar', 'bytea', 'uuid', 'json', 'jsonb', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'oid', 'name', 'char', 'regclass', 'aclitem', 'pg_node_tree', '_int4', '_text', 'tsvector', 'tsquery', 'xid', 'int2vector') ORDER BY t.oid

-- DBeaver: permissions
SELECT grantee, privilege_type, is_grantable FROM information_schema.table_privileges WHERE table_schema = 'app' AND table_name = 'customer' AND grantee LIKE 'cat%' ORDER BY 1, 2

-- DBeaver: sizes and statistics
SELECT c.relname, pg_catalog.pg_total_relation_size(c.oid) >= 0, pg_catalog.pg_relation_size(c.oid) >= 0 FROM pg_class c WHERE c.relnamespace = 'app'::regnamespace AND c.relkind = 'r' ORDER BY 1

-- DataGrip: state of the database
SELECT current_database() IS NOT NULL, current_schema(), current_user = session_user, pg_catalog.pg_is_in_recovery(), NOT pg_catalog.pg_is_in_recovery() AND pg_catalog.pg_current_wal_lsn() IS NOT NULL, txid_current() > 0

-- DataGrip: what has changed since, by xmin
SELECT n.oid::bigint > 0, n.nspname, n.xmin::varchar::bigint >= 0, n.nspowner, d.description FROM pg_catalog.pg_namespace n LEFT JOIN pg_catalog.pg_description d ON n.oid = d.objoid WHERE n.nspname IN ('app', 'Odd Name') ORDER BY 2

-- DataGrip: relations
SELECT t.relkind AS table_kind, t.relname AS table_name, t.oid AS table_id, t.xmin::varchar::bigint >= 0 AS state, false AS has_oids, t.reltablespace AS tablespace_id, t.reloptions AS options, t.relpersistence AS persistence, (SELECT pg_catalog.array_agg(inhparent::bigint ORDER BY inhseqno)::varchar FROM pg_catalog.pg_inherits WHERE t.oid = inhrelid) AS ancestors, t.relispartition, pg_catalog.pg_get_partkeydef(t.oid) AS partition_key, pg_catalog.pg_get_expr(t.relpartbound, t.oid) AS partition_expression, t.relam AS am_id, pg_catalog.pg_get_userbyid(t.relowner) AS owner
FROM pg_catalog.pg_class t WHERE t.relnamespace = 'app'::regnamespace AND t.relkind IN ('r', 'm', 'v', 'f', 'p') ORDER BY table_kind, table_id::regclass::text

-- DataGrip: columns
WITH t AS (SELECT t.oid AS table_id, t.relname AS table_name FROM pg_catalog.pg_class t WHERE t.relnamespace = 'app'::regnamespace AND t.relkind IN ('r', 'm', 'v', 'f', 'p'))
SELECT t.table_id, c.attnum AS column_position, c.attname AS column_name, c.xmin IS NOT NULL AS column_state, c.atttypmod AS type_mod, c.attndims AS dimensions_number, pg_catalog.format_type(c.atttypid, c.atttypmod) AS type_spec, c.atttypid AS type_id, c.attnotnull AS mandatory, pg_catalog.pg_get_expr(d.adbin, t.table_id) AS column_default_expression, NOT c.attislocal AS column_is_inherited, c.attfdwoptions AS options, c.attisdropped AS column_is_dropped, c.attidentity AS identity_kind, c.attgenerated AS generated
FROM t JOIN pg_catalog.pg_attribute c ON t.table_id = c.attrelid LEFT JOIN pg_catalog.pg_attrdef d ON (c.attrelid, c.attnum) = (d.adrelid, d.adnum) WHERE c.attnum > 0 AND NOT c.attisdropped ORDER BY t.table_name, c.attnum

-- DataGrip: indexes
SELECT tab.relname AS table_name, ind.relname AS index_name, i.indisunique AS is_unique, i.indisprimary AS is_primary, i.indnullsnotdistinct AS nulls_not_distinct, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS condition, am.amcanorder AS can_order, i.indkey AS column_positions, i.indnatts, i.indnkeyatts, indoption AS orders, (SELECT array_agg(CASE WHEN collation_oid = 100 THEN 'default' WHEN collation_oid = 0 THEN '' ELSE collation_oid::regcollation::text END) FROM unnest(i.indcollation::oid[]) AS collation_oid) AS collations
FROM pg_catalog.pg_class tab JOIN pg_catalog.pg_index i ON tab.oid = i.indrelid JOIN pg_catalog.pg_class ind ON i.indexrelid = ind.oid LEFT JOIN pg_catalog.pg_am am ON ind.relam = am.oid WHERE tab.relnamespace = 'app'::regnamespace ORDER BY tab.relname, ind.relname

-- DataGrip: rights of relations
SELECT t.relname, t.relkind, t.relacl::varchar FROM pg_catalog.pg_class t WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'm', 'v', 'f', 'p', 'S') AND relacl IS NOT NULL ORDER BY relname

-- DataGrip: rights of columns
SELECT c.relname, attnum, attacl::varchar FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON a.attrelid = c.oid WHERE relnamespace = 'app'::regnamespace AND attacl IS NOT NULL ORDER BY 1, 2

-- DataGrip: views
SELECT t.relkind AS view_kind, t.relname, pg_catalog.pg_get_viewdef(t.oid, true) AS source_text FROM pg_catalog.pg_class t WHERE t.relnamespace = 'app'::regnamespace AND t.relkind IN ('v', 'm') ORDER BY 2

-- Metabase: tables
SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS type, d.description AS description, nullif(stat.n_live_tup, 0) IS NOT NULL OR true AS estimated_row_count
FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid LEFT JOIN pg_catalog.pg_description AS d ON (c.oid = d.objoid) AND (d.objsubid = 0) AND (d.classoid = 'pg_class'::regclass) LEFT JOIN pg_stat_user_tables AS stat ON (n.nspname = stat.schemaname) AND (c.relname = stat.relname)
WHERE (n.nspname !~ '^pg_') AND (n.nspname <> 'information_schema') AND c.relkind IN ('r', 'p', 'v', 'f', 'm') ORDER BY type ASC, schema ASC, name ASC

-- Metabase: what the user may do
WITH table_privileges AS (SELECT NULL AS role, t.schemaname AS schema, t.objectname AS table, pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'update') AS update, pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'select') AS select, pg_catalog.has_table_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'delete') AS delete
  FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables UNION SELECT schemaname, viewname AS objectname FROM pg_views UNION SELECT schemaname, matviewname AS objectname FROM pg_matviews) t WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema' AND pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage'))
SELECT t.* FROM table_privileges t WHERE t.select OR t.update OR t.delete ORDER BY 2, 3

-- Metabase: fields
SELECT c.column_name AS name, c.udt_name AS "database-type", c.ordinal_position - 1 AS "database-position", c.table_schema AS "table-schema", c.table_name AS "table-name", pk.column_name IS NOT NULL AS "pk?", col_description(CAST(CAST(format('%I.%I', CAST(c.table_schema AS text), CAST(c.table_name AS text)) AS regclass) AS oid), c.ordinal_position) AS "field-comment",
  ((column_default IS NULL) OR (lower(column_default) = 'null')) AND (is_nullable = 'NO') AND NOT ((column_default IS NOT NULL) AND (column_default LIKE '%nextval(%')) AND (is_identity = 'NO') AS "database-required", ((column_default IS NOT NULL) AND (column_default LIKE '%nextval(%')) OR (is_identity <> 'NO') AS "database-is-auto-increment"
FROM information_schema.columns AS c LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name FROM information_schema.table_constraints AS tc INNER JOIN information_schema.key_column_usage AS kc ON (tc.constraint_name = kc.constraint_name) AND (tc.table_schema = kc.table_schema) AND (tc.table_name = kc.table_name) WHERE tc.constraint_type = 'PRIMARY KEY') AS pk ON (c.table_schema = pk.table_schema) AND (c.table_name = pk.table_name) AND (c.column_name = pk.column_name)
WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema = 'app' ORDER BY "table-schema", "table-name", "database-position"

-- Metabase: foreign keys
SELECT fk_ns.nspname AS "fk-table-schema", fk_table.relname AS "fk-table-name", fk_column.attname AS "fk-column-name", pk_ns.nspname AS "pk-table-schema", pk_table.relname AS "pk-table-name", pk_column.attname AS "pk-column-name" FROM pg_constraint c JOIN pg_class AS fk_table ON c.conrelid = fk_table.oid JOIN pg_namespace AS fk_ns ON c.connamespace = fk_ns.oid JOIN pg_attribute AS fk_column ON c.conrelid = fk_column.attrelid JOIN pg_class AS pk_table ON c.confrelid = pk_table.oid JOIN pg_namespace AS pk_ns ON pk_table.relnamespace = pk_ns.oid JOIN pg_attribute AS pk_column ON c.confrelid = pk_column.attrelid
WHERE fk_ns.nspname !~ '^information_schema|catalog_history|pg_' AND c.contype = 'f' AND fk_column.attnum = ANY (c.conkey) AND pk_column.attnum = ANY (c.confkey) ORDER BY "fk-table-schema", "fk-table-name"

-- Metabase: indexes
SELECT tmp.table_schem AS "table-schema", tmp.table_name AS "table-name", trim(BOTH '"' FROM pg_catalog.pg_get_indexdef(tmp.ci_oid, tmp.pos, false)) AS "field-name" FROM (SELECT n.nspname AS table_schem, ct.relname AS table_name, ci.oid AS ci_oid, (information_schema._pg_expandarray(i.indkey)).n AS pos FROM pg_catalog.pg_class ct INNER JOIN pg_catalog.pg_namespace n ON ct.relnamespace = n.oid INNER JOIN pg_catalog.pg_index i ON ct.oid = i.indrelid INNER JOIN pg_catalog.pg_class ci ON ci.oid = i.indexrelid WHERE pg_catalog.pg_get_expr(i.indpred, i.indrelid) IS NULL AND n.nspname = 'app') tmp WHERE tmp.pos = 1

-- Grafana: tables and columns
SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS t FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache') AND table_type = 'BASE TABLE' ORDER BY 1

-- Grafana: columns by type
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE table_schema = 'app' AND table_name = 'Mixed Case' ORDER BY ordinal_position

-- Grafana: macros' time column
SELECT quote_ident(column_name) FROM information_schema.columns WHERE table_schema = 'app' AND table_name = 'customer' AND data_type IN ('timestamp without time zone', 'timestamp with time zone', 'bigint', 'integer', 'double precision', 'real') ORDER BY 1

-- Superset and SQLAlchemy: columns
SELECT pg_catalog.pg_attribute.attname AS name, pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod) AS format_type, (SELECT pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS pg_get_expr_1 FROM pg_catalog.pg_attrdef WHERE pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum AND pg_catalog.pg_attribute.atthasdef) AS "default", pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name, pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS generated,
  (SELECT json_build_object('always', pg_catalog.pg_attribute.attidentity = 'a', 'start', pg_catalog.pg_sequence.seqstart, 'increment', pg_catalog.pg_sequence.seqincrement, 'minvalue', pg_catalog.pg_sequence.seqmin, 'maxvalue', pg_catalog.pg_sequence.seqmax, 'cache', pg_catalog.pg_sequence.seqcache, 'cycle', pg_catalog.pg_sequence.seqcycle) AS json_build_object_1 FROM pg_catalog.pg_sequence WHERE pg_catalog.pg_attribute.attidentity <> '' AND pg_catalog.pg_sequence.seqrelid = CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS regclass) AS text), pg_catalog.pg_attribute.attname) AS regclass) AS oid)) AS identity_options
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > 0 AND NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = 'app' ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum

-- Hibernate: sequences
SELECT * FROM information_schema.sequences ORDER BY sequence_name

-- TypeORM: columns
SELECT columns.*, pg_catalog.col_description(('"' || table_catalog || '"."' || table_schema || '"."' || table_name || '"')::regclass::oid, ordinal_position) AS description, ('"' || "udt_schema" || '"."' || "udt_name" || '"')::"regtype"::text AS "regtype", pg_catalog.format_type("col_attr"."atttypid", "col_attr"."atttypmod") AS "format_type"
FROM "information_schema"."columns" LEFT JOIN "pg_catalog"."pg_attribute" AS "col_attr" ON "col_attr"."attname" = "columns"."column_name" AND "col_attr"."attrelid" = (SELECT "cls"."oid" FROM "pg_catalog"."pg_class" AS "cls" LEFT JOIN "pg_catalog"."pg_namespace" AS "ns" ON "ns"."oid" = "cls"."relnamespace" WHERE "cls"."relname" = "columns"."table_name" AND "ns"."nspname" = "columns"."table_schema")
WHERE (table_schema = 'app' AND table_name IN ('customer', 'orders', 'order_line')) ORDER BY table_name, ordinal_position

-- TypeORM: constraints
SELECT "ns"."nspname" AS "table_schema", "t"."relname" AS "table_name", "cnst"."conname" AS "constraint_name", pg_get_constraintdef("cnst"."oid") AS "expression", CASE "cnst"."contype" WHEN 'p' THEN 'PRIMARY' WHEN 'u' THEN 'UNIQUE' WHEN 'c' THEN 'CHECK' WHEN 'x' THEN 'EXCLUDE' END AS "constraint_type", "a"."attname" AS "column_name"
FROM "pg_constraint" "cnst" INNER JOIN "pg_class" "t" ON "t"."oid" = "cnst"."conrelid" INNER JOIN "pg_namespace" "ns" ON "ns"."oid" = "cnst"."connamespace" LEFT JOIN "pg_attribute" "a" ON "a"."attrelid" = "cnst"."conrelid" AND "a"."attnum" = ANY ("cnst"."conkey") WHERE "t"."relkind" IN ('r', 'p') AND "ns"."nspname" = 'app'

-- TypeORM: indexes
SELECT "ns"."nspname" AS "table_schema", "t"."relname" AS "table_name", "i"."relname" AS "constraint_name", "a"."attname" AS "column_name", CASE "ix"."indisunique" WHEN 't' THEN 'TRUE' ELSE 'FALSE' END AS "is_unique", pg_get_expr("ix"."indpred", "ix"."indrelid") AS "condition", "types"."typname" AS "type_name", "am"."amname" AS "index_type"
FROM "pg_class" "t" INNER JOIN "pg_index" "ix" ON "ix"."indrelid" = "t"."oid" INNER JOIN "pg_attribute" "a" ON "a"."attrelid" = "t"."oid" AND "a"."attnum" = ANY ("ix"."indkey") INNER JOIN "pg_namespace" "ns" ON "ns"."oid" = "t"."relnamespace" INNER JOIN "pg_class" "i" ON "i"."oid" = "ix"."indexrelid" INNER JOIN "pg_type" "types" ON "types"."oid" = "a"."atttypid" INNER JOIN "pg_am" "am" ON "i"."relam" = "am"."oid" LEFT JOIN "pg_constraint" "cnst" ON "cnst"."conname" = "i"."relname" WHERE "t"."relkind" IN ('r', 'p') AND "cnst"."contype" IS NULL AND "ns"."nspname" = 'app'

-- Drizzle: columns
SELECT a.attrelid::regclass::text, a.attname, is_nullable, a.attndims AS array_dimensions, CASE WHEN a.atttypid = ANY ('{int,int8,int2}'::regtype[]) AND EXISTS (SELECT FROM pg_attrdef ad WHERE ad.adrelid = a.attrelid AND ad.adnum = a.attnum AND pg_get_expr(ad.adbin, ad.adrelid) = 'nextval(''' || pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass || '''::regclass)') THEN CASE a.atttypid WHEN 'int'::regtype THEN 'serial' WHEN 'int8'::regtype THEN 'bigserial' WHEN 'int2'::regtype THEN 'smallserial' END ELSE format_type(a.atttypid, a.atttypmod) END AS data_type, ns.nspname AS type_schema, c.column_default, c.data_type AS additional_dt, c.udt_name AS enum_name, c.is_generated, c.generation_expression, c.is_identity, c.identity_generation, c.identity_start, c.identity_increment, c.identity_maximum, c.identity_minimum, c.identity_cycle
FROM pg_attribute a JOIN pg_class cls ON cls.oid = a.attrelid JOIN pg_namespace ns ON ns.oid = cls.relnamespace LEFT JOIN information_schema.columns c ON c.column_name = a.attname AND c.table_schema = ns.nspname AND c.table_name = cls.relname LEFT JOIN pg_type enum_t ON enum_t.oid = a.atttypid LEFT JOIN pg_namespace enum_ns ON enum_ns.oid = enum_t.typnamespace WHERE a.attnum > 0 AND NOT a.attisdropped AND cls.relkind = 'r' AND ns.nspname = 'app' ORDER BY cls.relname, a.attnum

-- Drizzle: indexes
SELECT DISTINCT ON (t.relname, ic.relname, k.i) t.relname AS table_name, ic.relname AS indexname, k.i AS index_order, i.indisunique AS is_unique, am.amname AS method, ic.reloptions AS with, coalesce(a.attname, CASE WHEN k.i = 1 THEN pg_get_expr(i.indexprs, i.indrelid) ELSE NULL END) AS column_name, CASE WHEN pg_get_expr(i.indexprs, i.indrelid) IS NOT NULL THEN 1 ELSE 0 END AS is_expression, i.indoption[k.i - 1] & 1 = 1 AS descending, i.indoption[k.i - 1] & 2 = 2 AS nulls_first, pg_get_expr(i.indpred, i.indrelid) AS where, opc.opcname
FROM pg_class t LEFT JOIN pg_index i ON t.oid = i.indrelid LEFT JOIN pg_class ic ON ic.oid = i.indexrelid CROSS JOIN LATERAL (SELECT unnest(i.indkey), generate_subscripts(i.indkey, 1) + 1) AS k (attnum, i) LEFT JOIN pg_attribute AS a ON t.oid = a.attrelid AND k.attnum = a.attnum JOIN pg_namespace c ON c.oid = t.relnamespace LEFT JOIN pg_am AS am ON ic.relam = am.oid JOIN pg_opclass opc ON opc.oid = ANY (i.indclass) WHERE c.nspname = 'app' AND k.i <= i.indnkeyatts ORDER BY t.relname, ic.relname, k.i, opc.opcname

-- sqlx: are a statement's columns nullable
SELECT NOT pg_attribute.attnotnull FROM (VALUES (1, 'app.customer'::regclass::int, 1), (2, 'app.customer'::regclass::int, 3), (3, NULL, NULL)) AS col (idx, table_id, col_idx) LEFT JOIN pg_catalog.pg_attribute ON table_id IS NOT NULL AND attrelid = table_id AND attnum = col_idx ORDER BY col.idx

-- sqlx and SeaORM: the migrations' table
SELECT current_database() IS NOT NULL, EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = 'app' AND table_name = 'orders')

-- pgx: a type by name
SELECT t.oid, t.typtype, t.typelem, coalesce((SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = t.typrelid AND NOT attisdropped AND attnum > 0), '{}') FROM pg_type t WHERE t.oid = 'app.order_line'::regtype::oid

-- PostgREST: tables with what may be done
WITH columns AS (SELECT nc.nspname::name AS table_schema, c.relname::name AS table_name, a.attname::name AS column_name, d.description, CASE WHEN t.typbasetype <> 0 AND ad.adbin IS NULL THEN pg_get_expr(t.typdefaultbin, 0) WHEN a.attidentity = 'd' THEN format('nextval(%L)', seq.objid::regclass) WHEN a.attgenerated = 's' THEN NULL ELSE pg_get_expr(ad.adbin, ad.adrelid)::text END AS column_default, NOT (a.attnotnull OR t.typtype = 'd' AND t.typnotnull) AS is_nullable, CASE WHEN t.typtype = 'd' THEN 'd' ELSE format_type(a.atttypid, a.atttypmod) END AS data_type, format_type(a.atttypid, NULL::integer) AS nominal_data_type, information_schema._pg_char_max_length(information_schema._pg_truetypid(a.*, t.*), information_schema._pg_truetypmod(a.*, t.*)) AS character_maximum_length, a.attnum AS position
  FROM pg_attribute a LEFT JOIN pg_description AS d ON d.objoid = a.attrelid AND d.objsubid = a.attnum AND d.classoid = 'pg_class'::regclass LEFT JOIN pg_attrdef ad ON a.attrelid = ad.adrelid AND a.attnum = ad.adnum JOIN (pg_class c JOIN pg_namespace nc ON c.relnamespace = nc.oid) ON a.attrelid = c.oid JOIN pg_type t ON a.atttypid = t.oid LEFT JOIN pg_depend seq ON seq.refobjid = a.attrelid AND seq.refobjsubid = a.attnum AND seq.deptype = 'i' WHERE NOT pg_is_other_temp_schema(nc.oid) AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'm', 'p') AND nc.nspname = ANY (ARRAY['app']))
SELECT n.nspname AS table_schema, c.relname AS table_name, c.relkind IN ('v', 'm') AS is_view, (c.relkind IN ('r', 'p') OR (c.relkind IN ('v', 'f') AND (pg_relation_is_updatable(c.oid::regclass, true) & 8) = 8)) AS insertable, (c.relkind IN ('r', 'p') OR (c.relkind IN ('v', 'f') AND (pg_relation_is_updatable(c.oid::regclass, true) & 4) = 4)) AS updatable, (c.relkind IN ('r', 'p') OR (c.relkind IN ('v', 'f') AND (pg_relation_is_updatable(c.oid::regclass, true) & 16) = 16)) AS deletable, (SELECT array_agg(row(column_name, is_nullable, data_type, nominal_data_type, character_maximum_length, column_default) ORDER BY position) FROM columns k WHERE k.table_schema = n.nspname AND k.table_name = c.relname) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'r', 'm', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname = 'app' ORDER BY table_schema, table_name

-- PostgREST: relations by foreign keys
WITH pks_uniques_cols AS (SELECT conrelid, array_agg(key ORDER BY key) AS cols FROM pg_constraint, LATERAL unnest(conkey) AS _ (key) WHERE contype IN ('p', 'u') AND connamespace::regnamespace::text <> 'pg_catalog' GROUP BY oid, conrelid)
SELECT ns1.nspname AS table_schema, tab.relname AS table_name, ns2.nspname AS foreign_table_schema, other.relname AS foreign_table_name, (ns1.nspname, tab.relname) = (ns2.nspname, other.relname) AS is_self, traint.conname AS constraint_name, column_info.cols_and_fcols, (column_info.cols IN (SELECT cols FROM pks_uniques_cols WHERE conrelid = traint.conrelid)) AS one_to_one
FROM pg_constraint traint JOIN LATERAL (SELECT array_agg(row(cols.attname, refs.attname) ORDER BY ord) AS cols_and_fcols, array_agg(cols.attnum ORDER BY cols.attnum) AS cols FROM unnest(traint.conkey, traint.confkey) WITH ORDINALITY AS _ (col, ref, ord) JOIN pg_attribute cols ON cols.attrelid = traint.conrelid AND cols.attnum = col JOIN pg_attribute refs ON refs.attrelid = traint.confrelid AND refs.attnum = ref) AS column_info ON true JOIN pg_namespace ns1 ON ns1.oid = traint.connamespace JOIN pg_class tab ON tab.oid = traint.conrelid JOIN pg_class other ON other.oid = traint.confrelid JOIN pg_namespace ns2 ON ns2.oid = other.relnamespace WHERE traint.contype = 'f' AND traint.conparentid = 0 ORDER BY traint.conrelid::regclass::text, traint.conname

-- PostgREST: settings of roles
SELECT r.rolname, kv FROM pg_roles r, unnest(r.rolconfig) kv WHERE r.rolname LIKE 'cat%'

-- Hasura: tables and views
SELECT nc.nspname, c.relname, c.relkind, pg_relation_is_updatable(c.oid, false), (SELECT jsonb_agg(jsonb_build_object('name', a.attname, 'position', a.attnum, 'type', coalesce(base_type.typname, t.typname), 'is_nullable', NOT (a.attnotnull OR (t.typtype = 'd' AND t.typnotnull)), 'description', pg_catalog.col_description(c.oid, a.attnum)) ORDER BY a.attnum) FROM pg_attribute a LEFT JOIN (pg_type t LEFT JOIN pg_type AS base_type ON t.typtype = 'd' AND base_type.oid = t.typbasetype) ON t.oid = a.atttypid WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text
FROM pg_class c JOIN pg_namespace nc ON nc.oid = c.relnamespace WHERE nc.nspname = 'app' AND c.relkind IN ('r', 'v', 'm', 'f', 'p') ORDER BY c.relname

-- Flyway: is the schema empty
SELECT EXISTS (SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_depend d ON d.objid = c.oid AND d.deptype = 'e' WHERE n.nspname = 'app' AND d.objid IS NULL AND c.relkind IN ('r', 'v', 'S', 't') UNION ALL SELECT t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace LEFT JOIN pg_catalog.pg_depend d ON d.objid = t.oid AND d.deptype = 'e' WHERE n.nspname = 'app' AND d.objid IS NULL AND t.typcategory NOT IN ('A', 'C') UNION ALL SELECT p.oid FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace LEFT JOIN pg_catalog.pg_depend d ON d.objid = p.oid AND d.deptype = 'e' WHERE n.nspname = 'app' AND d.objid IS NULL)

-- Flyway: what clean would drop
SELECT t.table_name FROM information_schema.tables t LEFT JOIN pg_depend dep ON dep.objid = (quote_ident(t.table_schema) || '.' || quote_ident(t.table_name))::regclass::oid AND dep.deptype = 'e' WHERE table_schema = 'app' AND table_type = 'BASE TABLE' AND dep.objid IS NULL AND NOT (SELECT EXISTS (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhrelid = (quote_ident(t.table_schema) || '.' || quote_ident(t.table_name))::regclass::oid)) ORDER BY 1

-- Flyway: sequences and views
SELECT sequence_name FROM information_schema.sequences WHERE sequence_schema = 'app' UNION ALL SELECT relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('m', 'v') AND n.nspname = 'app' ORDER BY 1

-- Liquibase: unique constraints
SELECT c.conname AS constraint_name, x.tablename AS table_name, pg_get_constraintdef(c.oid), c.condeferrable AS deferrable, c.condeferred AS initially_deferred FROM pg_constraint c JOIN (SELECT pg_class.oid, pg_class.relname AS tablename FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'app') x ON x.oid = conrelid WHERE c.contype = 'u' ORDER BY 1

-- Liquibase: a view, a sequence
SELECT definition FROM pg_views WHERE schemaname = 'app' AND viewname = 'open_orders'

-- Liquibase: sequences that are no identity's
SELECT c.relname AS sequence_name, s.seqmin AS min_value, s.seqmax AS max_value, s.seqincrement AS increment_by, s.seqcycle AS will_cycle, s.seqstart AS start_value, s.seqcache AS cache_size, pg_catalog.format_type(s.seqtypid, NULL) AS seq_type FROM pg_class c JOIN pg_sequence s ON c.oid = s.seqrelid JOIN pg_namespace ns ON c.relnamespace = ns.oid WHERE c.relkind = 'S' AND ns.nspname = 'app' AND c.oid NOT IN (SELECT d.objid FROM pg_depend d WHERE d.refobjsubid > 0) ORDER BY 1

-- dbt: relations
SELECT current_database() IS NOT NULL AS database, tablename AS name, schemaname AS schema, 'table' AS type FROM pg_tables WHERE schemaname ILIKE 'app' UNION ALL SELECT true, viewname, schemaname, 'view' FROM pg_views WHERE schemaname ILIKE 'app' UNION ALL SELECT true, matviewname, schemaname, 'materialized_view' FROM pg_matviews WHERE schemaname ILIKE 'app' ORDER BY 2

-- dbt: the documentation's catalog
SELECT sch.nspname AS table_schema, tbl.relname AS table_name, CASE tbl.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'BASE TABLE' END AS table_type, tbl_desc.description AS table_comment, col.attname AS column_name, col.attnum AS column_index, pg_catalog.format_type(col.atttypid, col.atttypmod) AS column_type, col_desc.description AS column_comment, pg_get_userbyid(tbl.relowner) AS table_owner
FROM pg_catalog.pg_namespace sch JOIN pg_catalog.pg_class tbl ON tbl.relnamespace = sch.oid JOIN pg_catalog.pg_attribute col ON col.attrelid = tbl.oid LEFT OUTER JOIN pg_catalog.pg_description tbl_desc ON (tbl_desc.objoid = tbl.oid AND tbl_desc.objsubid = 0) LEFT OUTER JOIN pg_catalog.pg_description col_desc ON (col_desc.objoid = tbl.oid AND col_desc.objsubid = col.attnum)
WHERE sch.nspname = 'app' AND NOT pg_is_other_temp_schema(sch.oid) AND tbl.relpersistence IN ('p', 'u') AND tbl.relkind IN ('r', 'v', 'f', 'p', 'm') AND col.attnum > 0 AND NOT col.attisdropped ORDER BY sch.nspname, tbl.relname, col.attnum

-- dbt: what views read
WITH relation AS (SELECT pg_rewrite.ev_class AS class, pg_rewrite.oid AS id FROM pg_rewrite), class AS (SELECT oid AS id, relname AS name, relnamespace AS schema, relkind AS kind FROM pg_class), dependency AS (SELECT DISTINCT pg_depend.objid AS id, pg_depend.refobjid AS ref FROM pg_depend), schema AS (SELECT pg_namespace.oid AS id, pg_namespace.nspname AS name FROM pg_namespace WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\_%'),
  referenced AS (SELECT relation.id AS id, referenced_class.name, referenced_class.schema, referenced_class.kind FROM relation JOIN class AS referenced_class ON relation.class = referenced_class.id WHERE referenced_class.kind IN ('r', 'v', 'm')),
  relationships AS (SELECT referenced.name AS referenced_name, referenced.schema AS referenced_schema_id, dependent_class.name AS dependent_name, dependent_class.schema AS dependent_schema_id, referenced.kind AS kind FROM referenced JOIN dependency ON referenced.id = dependency.id JOIN class AS dependent_class ON dependency.ref = dependent_class.id WHERE (referenced.name <> dependent_class.name OR referenced.schema <> dependent_class.schema))
SELECT DISTINCT referenced_schema.name AS referenced_schema, relationships.referenced_name, dependent_schema.name AS dependent_schema, relationships.dependent_name, relationships.kind FROM relationships JOIN schema AS dependent_schema ON relationships.dependent_schema_id = dependent_schema.id JOIN schema AS referenced_schema ON relationships.referenced_schema_id = referenced_schema.id ORDER BY referenced_schema, referenced_name, dependent_schema, dependent_name

-- dbt: a schema's existence
SELECT count(*) FROM pg_namespace WHERE nspname = 'app'

-- Airbyte: what may be read
SELECT table_schema, table_name FROM information_schema.role_table_grants WHERE privilege_type = 'SELECT' AND grantee = 'cat_reader' AND table_schema NOT IN ('information_schema', 'pg_catalog', 'pg_internal') UNION SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON c.relnamespace = n.oid WHERE has_table_privilege('cat_reader', c.oid, 'SELECT') AND relkind = 'm' AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2

-- jOOQ: constraints
SELECT tc.table_schema, tc.table_name, tc.constraint_name, cc.check_clause FROM information_schema.table_constraints tc JOIN information_schema.check_constraints cc USING (constraint_schema, constraint_name) WHERE tc.table_schema = 'app' AND cc.check_clause NOT LIKE '%NOT NULL%' ORDER BY 1, 2, 3

-- jOOQ: keys in their order
SELECT k.table_name, k.constraint_name, k.column_name, k.ordinal_position, k.position_in_unique_constraint, tc.constraint_type, tc.is_deferrable, tc.initially_deferred, rc.match_option, rc.update_rule, rc.delete_rule, rc.unique_constraint_name FROM information_schema.key_column_usage k JOIN information_schema.table_constraints tc USING (constraint_schema, constraint_name) LEFT JOIN information_schema.referential_constraints rc USING (constraint_schema, constraint_name) WHERE k.table_schema = 'app' ORDER BY 1, 2, 4

-- DataGrip: what changed since a transaction
SELECT c.relname, c.relacl::text FROM pg_catalog.pg_class c WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'v') AND pg_catalog.age(c.xmin) <= pg_catalog.age('3'::varchar::xid);

-- DataGrip: operators of constraints
SELECT conname, conkey, confkey, conexclop::int[] AS excluded, ARRAY(SELECT o::regoper::varchar FROM unnest(conexclop) o) AS named FROM pg_constraint WHERE connamespace = 'app'::regnamespace;

-- DataGrip: keys of indexes
SELECT i.indexrelid::regclass::text AS index, k, x.collname, i.indoption[k - 1] AS option, pg_get_indexdef(i.indexrelid, k::int, true) AS key
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid CROSS JOIN unnest(i.indkey) WITH ORDINALITY u (n, k) LEFT JOIN pg_collation x ON x.oid = i.indcollation[k - 1]
WHERE c.relnamespace = 'app'::regnamespace;

-- DataGrip: access methods with their handlers
SELECT a.amname, p.proname, n.nspname, a.amtype FROM pg_am a JOIN pg_proc p ON p.oid = a.amhandler::oid JOIN pg_namespace n ON n.oid = p.pronamespace WHERE a.amname IN ('heap', 'btree', 'gin');

-- DBeaver: what an aggregate is
SELECT (pg_identify_object('pg_proc'::regclass, a.aggfnoid, 0)).identity, a.aggkind FROM pg_aggregate a WHERE a.aggfnoid = 'bool_or'::regproc;

-- DBeaver: languages
SELECT lanname, lanispl, lanpltrusted, lanplcallfoid, laninline FROM pg_language WHERE lanname <> 'plpgsql';

-- PostgREST: types that take any length, and those of functions that are left out
SELECT t::text, format_type(t::oid, -1) FROM unnest('{bit,bit[],character,character[],xml,trigger,json}'::regtype[]) t;

-- PostgREST: which columns of tables the columns of views are
SELECT v.relname, m.n, t.relname AS of, m.c[2]::int AS number FROM pg_rewrite r JOIN pg_class v ON v.oid = r.ev_class
CROSS JOIN regexp_matches(r.ev_action::text, ':resorigtbl ([0-9]+) :resorigcol ([0-9]+) :resjunk false', 'g') WITH ORDINALITY m (c, n)
LEFT JOIN pg_class t ON t.oid = m.c[1]::oid WHERE v.relnamespace = 'app'::regnamespace AND v.relkind = 'v';

-- Hasura: a table as a document
SELECT t.relname, jsonb_build_object(
    'columns', (SELECT jsonb_agg(jsonb_build_object('name', a.attname, 'type', y.typname, 'may_be_null', NOT a.attnotnull, 'written', NOT (a.attidentity = 'a' OR a.attgenerated = 's')) ORDER BY a.attnum)
                FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped),
    'key', (SELECT jsonb_agg(a.attname) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = t.oid AND i.indisprimary),
    'written', (pg_relation_is_updatable(t.oid, true) & 12) = 12)::json AS document
FROM jsonb_to_recordset('[{"schema": "app", "name": "orders"}, {"schema": "app", "name": "open_orders"}]') AS wanted (schema text, name text)
JOIN pg_namespace n ON n.nspname = wanted.schema JOIN pg_class t ON t.relnamespace = n.oid AND t.relname = wanted.name;

-- PostGraphile: what triggers wait for
SELECT tgname, CASE WHEN tgtype::int4::bit(8) & 4::bit(8) = 4::bit(8) THEN 'insert' END AS insert, (28::bit(7) & tgtype::int4::bit(7))::int AS events FROM pg_trigger WHERE NOT tgisinternal;
