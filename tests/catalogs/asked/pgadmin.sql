-- at connect
SELECT version() LIKE 'PostgreSQL 15%', current_setting('server_version_num')::int / 10000, pg_is_in_recovery(), current_database() = current_catalog

-- the database
SELECT db.oid, db.datname, db.datallowconn, pg_encoding_to_char(db.encoding) AS serverencoding, has_database_privilege(db.oid, 'CREATE') AS cancreate, db.datistemplate
FROM pg_catalog.pg_database db WHERE db.datname = current_database()

-- the role
SELECT roles.rolname = current_user, roles.rolsuper AS is_superuser, CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreaterole END AS can_create_role, CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END AS can_create_db,
  CASE WHEN 'pg_signal_backend' = ANY (ARRAY(WITH RECURSIVE cte AS (SELECT pg_roles.oid, pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid UNION ALL SELECT m.roleid, pgr.rolname FROM cte cte_1 JOIN pg_auth_members m ON m.member = cte_1.oid JOIN pg_roles pgr ON pgr.oid = m.roleid) SELECT rolname FROM cte)) THEN true ELSE false END AS can_signal_backend
FROM pg_catalog.pg_roles AS roles WHERE rolname = current_user

-- databases of the tree
SELECT db.datname, ta.spcname, db.datallowconn, db.datistemplate, has_database_privilege(db.oid, 'CREATE') AS cancreate, datdba AS owner, descr.description
FROM pg_catalog.pg_database db LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON db.dattablespace = ta.oid LEFT OUTER JOIN pg_catalog.pg_shdescription descr ON (db.oid = descr.objoid AND descr.classoid = 'pg_database'::regclass) WHERE db.datname = current_database() ORDER BY datname

-- schemas of the tree
SELECT nsp.oid, nsp.nspname, has_schema_privilege(nsp.oid, 'CREATE') AS can_create, has_schema_privilege(nsp.oid, 'USAGE') AS has_usage, des.description
FROM pg_catalog.pg_namespace nsp LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = nsp.oid AND des.classoid = 'pg_namespace'::regclass)
WHERE nspname NOT LIKE E'pg\\_%' AND NOT ((nsp.nspname = 'pg_catalog' AND EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'pg_class' AND relnamespace = nsp.oid LIMIT 1)) OR (nsp.nspname = 'information_schema' AND EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'tables' AND relnamespace = nsp.oid LIMIT 1))) ORDER BY nspname

-- privileges of a schema
SELECT 'nspacl' AS deftype, coalesce(gt.rolname, 'PUBLIC') AS grantee, g.rolname AS grantor, array_agg(privilege_type ORDER BY privilege_type) AS privileges, array_agg(is_grantable ORDER BY privilege_type) AS grantable
FROM (SELECT (d).grantee, (d).grantor, (d).is_grantable, (d).privilege_type FROM (SELECT aclexplode(nsp.nspacl) AS d FROM pg_catalog.pg_namespace nsp WHERE nsp.nspname = 'app') a) d
LEFT JOIN pg_catalog.pg_roles g ON (d.grantor = g.oid) LEFT JOIN pg_catalog.pg_roles gt ON (d.grantee = gt.oid) GROUP BY g.rolname, gt.rolname

-- privileges of a table
SELECT coalesce(gt.rolname, 'PUBLIC') AS grantee, g.rolname AS grantor, array_agg(CASE d.privilege_type WHEN 'INSERT' THEN 'a' WHEN 'SELECT' THEN 'r' WHEN 'UPDATE' THEN 'w' ELSE '?' END ORDER BY privilege_type) AS privileges, array_agg(is_grantable ORDER BY privilege_type) AS grantable
FROM (SELECT (d).grantee AS grantee, (d).grantor AS grantor, (d).is_grantable AS is_grantable, (d).privilege_type AS privilege_type FROM (SELECT aclexplode(rel.relacl) AS d FROM pg_catalog.pg_class rel WHERE rel.oid = 'app.customer'::regclass) a) d
LEFT JOIN pg_catalog.pg_roles g ON (d.grantor = g.oid) LEFT JOIN pg_catalog.pg_roles gt ON (d.grantee = gt.oid) GROUP BY g.rolname, gt.rolname ORDER BY grantee

-- default privileges
SELECT defaclobjtype, coalesce(gt.rolname, 'PUBLIC') AS grantee, g.rolname AS grantor, array_agg(privilege_type), array_agg(is_grantable) FROM (SELECT defaclobjtype, (aclexplode(defaclacl)).* FROM pg_default_acl da JOIN pg_namespace n ON n.oid = da.defaclnamespace WHERE n.nspname = 'app') d
LEFT JOIN pg_roles g ON d.grantor = g.oid LEFT JOIN pg_roles gt ON d.grantee = gt.oid GROUP BY 1, 2, 3

-- tables of the tree
SELECT rel.oid, rel.relname AS name, (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = false) AS triggercount, (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = false AND tgenabled = 'O') AS has_enable_triggers,
  (CASE WHEN rel.relkind = 'p' THEN true ELSE false END) AS is_partitioned, (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhrelid = rel.oid LIMIT 1) AS is_inherits, (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhparent = rel.oid LIMIT 1) AS is_inherited, des.description
FROM pg_catalog.pg_class rel LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = rel.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = 'app'::regnamespace AND NOT rel.relispartition ORDER BY rel.relname

-- properties of a table
SELECT rel.oid, rel.relname AS name, rel.reltablespace AS spcoid, rel.relacl AS relacl_str, (CASE WHEN length(spc.spcname::text) > 0 OR rel.relkind = 'p' THEN spc.spcname ELSE (SELECT sp.spcname FROM pg_catalog.pg_database dtb JOIN pg_catalog.pg_tablespace sp ON dtb.dattablespace = sp.oid WHERE dtb.datname = current_database()) END) AS spcname,
  (SELECT nspname FROM pg_catalog.pg_namespace WHERE oid = rel.relnamespace) AS schema, pg_catalog.pg_get_userbyid(rel.relowner) AS relowner, rel.relkind, rel.relhassubclass, des.description, con.conname, con.conkey,
  EXISTS (SELECT 1 FROM pg_catalog.pg_trigger JOIN pg_catalog.pg_proc pt ON pt.oid = tgfoid AND pt.proname = 'logtrigger' WHERE tgrelid = rel.oid) AS isrepl, (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = false) AS triggercount,
  (SELECT ARRAY(SELECT quote_ident(c.relname) FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhparent WHERE i.inhrelid = rel.oid ORDER BY inhseqno)) AS coll_inherits, (CASE WHEN rel.relpersistence = 'u' THEN true ELSE false END) AS relpersistence,
  substring(array_to_string(rel.reloptions, ',') FROM 'fillfactor=([0-9]*)') AS fillfactor, (substring(array_to_string(rel.reloptions, ',') FROM 'autovacuum_enabled=([a-z|0-9]*)'))::bool AS autovacuum_enabled, rel.reloptions AS reloptions, rel.reloftype, typ.typname, typ.typrelid AS typoid, rel.relrowsecurity AS rlspolicy, rel.relforcerowsecurity AS forcerlspolicy,
  (SELECT array_agg(provider || '=' || label) FROM pg_catalog.pg_seclabels sl1 WHERE sl1.objoid = rel.oid AND sl1.objsubid = 0) AS seclabels, (CASE WHEN rel.oid <= 16383::oid THEN true ELSE false END) AS is_sys_table, (CASE WHEN rel.relkind = 'p' THEN pg_get_partkeydef(rel.oid) ELSE '' END) AS partition_scheme
FROM pg_catalog.pg_class rel LEFT OUTER JOIN pg_catalog.pg_tablespace spc ON spc.oid = rel.reltablespace LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = rel.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN pg_catalog.pg_constraint con ON con.conrelid = rel.oid AND con.contype = 'p' LEFT JOIN pg_catalog.pg_type typ ON rel.reloftype = typ.oid
WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = 'app'::regnamespace AND NOT rel.relispartition ORDER BY rel.relname

-- columns
SELECT DISTINCT att.attname AS name, att.atttypid, att.attlen, att.attnum, att.attndims, att.atttypmod, att.attacl, att.attnotnull, att.attfdwoptions, att.attstattarget, att.attidentity, att.attgenerated, format_type(ty.oid, NULL) AS typname, format_type(ty.oid, att.atttypmod) AS displaytypname,
  CASE WHEN ty.typelem > 0 THEN ty.typelem ELSE ty.oid END AS elemoid, (SELECT nspname FROM pg_catalog.pg_namespace WHERE oid = ty.typnamespace) AS typnspname, ty.typstorage AS defaultstorage, description, pi.indkey, (SELECT count(1) FROM pg_catalog.pg_type t2 WHERE t2.typname = ty.typname) > 1 AS isdup,
  CASE WHEN length(coll.collname::text) > 0 AND length(nspc.nspname::text) > 0 THEN concat(quote_ident(nspc.nspname), '.', quote_ident(coll.collname)) ELSE '' END AS collspcname, EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = att.attrelid AND contype = 'f' AND att.attnum = ANY (conkey)) AS is_fk,
  CASE WHEN att.attidentity IN ('a', 'd') THEN 'i' WHEN att.attgenerated IN ('s') THEN 'g' ELSE 'n' END AS colconstype, CASE WHEN tab.relname IS NOT NULL THEN att.attname ELSE NULL END AS inheritedfrom, seq.seqincrement, seq.seqstart, seq.seqcache, seq.seqcycle, pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS defval
FROM pg_catalog.pg_attribute att JOIN pg_catalog.pg_type ty ON ty.oid = atttypid LEFT OUTER JOIN pg_catalog.pg_attrdef def ON adrelid = att.attrelid AND adnum = att.attnum LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = att.attrelid AND des.objsubid = att.attnum AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN (pg_catalog.pg_depend dep JOIN pg_catalog.pg_class cs ON dep.classid = 'pg_class'::regclass AND dep.objid = cs.oid AND cs.relkind = 'S') ON dep.refobjid = att.attrelid AND dep.refobjsubid = att.attnum
LEFT OUTER JOIN pg_catalog.pg_index pi ON pi.indrelid = att.attrelid AND indisprimary LEFT OUTER JOIN pg_catalog.pg_collation coll ON att.attcollation = coll.oid AND ty.typcollation <> att.attcollation LEFT OUTER JOIN pg_catalog.pg_namespace nspc ON coll.collnamespace = nspc.oid
LEFT OUTER JOIN pg_catalog.pg_sequence seq ON cs.oid = seq.seqrelid LEFT OUTER JOIN pg_catalog.pg_inherits inh ON inh.inhrelid = att.attrelid LEFT OUTER JOIN pg_catalog.pg_class tab ON tab.oid = inh.inhparent
WHERE att.attrelid = 'app.orders'::regclass AND att.attnum > 0 AND att.attisdropped IS FALSE ORDER BY att.attnum

-- indexes
SELECT DISTINCT ON (cls.relname) cls.oid, cls.relname AS name, indrelid, indkey, indisclustered, indisvalid, indisunique, indisprimary, n.nspname, indnatts, cls.reltablespace AS spcoid, CASE contype WHEN 'p' THEN desp.description WHEN 'u' THEN desp.description WHEN 'x' THEN desp.description ELSE des.description END AS description,
  pg_catalog.pg_get_expr(indpred, indrelid, true) AS indconstraint, contype, condeferrable, condeferred, amname, substring(array_to_string(cls.reloptions, ',') FROM 'fillfactor=([0-9]*)') AS fillfactor, pg_catalog.pg_get_indexdef(cls.oid, 1, true)
FROM pg_catalog.pg_index idx JOIN pg_catalog.pg_class cls ON cls.oid = indexrelid JOIN pg_catalog.pg_class tab ON tab.oid = indrelid LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON ta.oid = cls.reltablespace JOIN pg_catalog.pg_namespace n ON n.oid = tab.relnamespace JOIN pg_catalog.pg_am am ON am.oid = cls.relam
LEFT JOIN pg_catalog.pg_depend dep ON (dep.classid = cls.tableoid AND dep.objid = cls.oid AND dep.refobjsubid = '0' AND dep.refclassid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = 'pg_constraint') AND dep.deptype = 'i') LEFT OUTER JOIN pg_catalog.pg_constraint con ON (con.tableoid = dep.refclassid AND con.oid = dep.refobjid)
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = cls.oid AND des.classoid = 'pg_class'::regclass) LEFT OUTER JOIN pg_catalog.pg_description desp ON (desp.objoid = con.oid AND desp.objsubid = 0 AND desp.classoid = 'pg_constraint'::regclass)
WHERE indrelid = 'app.customer'::regclass AND conname IS NULL ORDER BY cls.relname

-- columns of an index
SELECT i.indnkeyatts, opcname, pg_catalog.pg_get_indexdef(i.indexrelid, n, true) AS attdef, CASE WHEN (i.indoption[n - 1] & 1) = 1 THEN 'DESC' ELSE 'ASC' END AS sort, CASE WHEN (i.indoption[n - 1] & 2) = 2 THEN 'NULLS FIRST' ELSE 'NULLS LAST' END AS nulls, a.attnum
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON (a.attrelid = i.indexrelid), generate_series(1, 2) n LEFT JOIN pg_catalog.pg_opclass o ON true WHERE i.indexrelid = 'app.customer_active'::regclass AND a.attnum = n AND o.oid = i.indclass[n - 1] ORDER BY n

-- triggers that are not internal
SELECT t.oid, t.tgname FROM pg_catalog.pg_trigger t WHERE NOT tgisinternal AND tgrelid = 'app.orders'::regclass ORDER BY tgname

-- policies
SELECT pl.oid, pl.polname AS name, rw.permissive, rw.cmd, rw.qual, rw.with_check, rw.roles FROM pg_catalog.pg_policy pl JOIN pg_catalog.pg_policies rw ON rw.policyname = pl.polname JOIN pg_catalog.pg_namespace n ON n.nspname = rw.schemaname WHERE pl.polrelid = 'app.orders'::regclass ORDER BY pl.polname

-- a sequence
SELECT cl.oid, relname AS name, nsp.nspname AS schema, pg_catalog.pg_get_userbyid(relowner) AS seqowner, description AS comment, array_to_string(relacl::text[], ', ') AS acl, (SELECT array_agg(provider || '=' || label) FROM pg_catalog.pg_seclabels sl1 WHERE sl1.objoid = cl.oid) AS seclabels, s.seqstart, s.seqincrement, s.seqmax, s.seqmin, s.seqcache, s.seqcycle, s.seqtypid::regtype
FROM pg_catalog.pg_class cl LEFT OUTER JOIN pg_catalog.pg_namespace nsp ON cl.relnamespace = nsp.oid LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = cl.oid AND des.classoid = 'pg_class'::regclass) LEFT JOIN pg_catalog.pg_sequence s ON s.seqrelid = cl.oid WHERE relkind = 'S' AND nsp.nspname = 'app' ORDER BY relname

-- a view
SELECT c.oid, c.xmin IS NOT NULL, c.relname AS name, c.reltablespace, c.relispopulated AS with_data, (CASE WHEN length(spc.spcname::text) > 0 THEN spc.spcname ELSE 'pg_default' END) AS spcname, c.relkind, pg_catalog.pg_get_userbyid(c.relowner) AS owner, description AS comment, pg_catalog.pg_get_viewdef(c.oid, true) AS definition, nsp.nspname AS schema, array_to_string(c.relacl::text[], ', ') AS acl, (CASE WHEN c.oid <= 16383::oid THEN true ELSE false END) AS system_view, substring(array_to_string(c.reloptions, ',') FROM 'security_barrier=([a-z|0-9]*)')::boolean AS security_barrier
FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_namespace nsp ON nsp.oid = c.relnamespace LEFT OUTER JOIN pg_catalog.pg_tablespace spc ON spc.oid = c.reltablespace LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = c.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
WHERE (c.relhasrules AND EXISTS (SELECT r.rulename FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND bpchar(r.ev_type) = '1'::bpchar)) AND nsp.nspname = 'app' AND c.relkind IN ('v', 'm') ORDER BY c.relname

-- what depends on a table
SELECT DISTINCT dep.deptype, dep.classid::regclass, cl.relkind, ad.adbin IS NOT NULL AS has_default, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) AS adsrc, coalesce(co.contype::text, cl.relkind::text) AS kind, coalesce(co.conname, cl.relname) AS name
FROM pg_catalog.pg_depend dep LEFT JOIN pg_catalog.pg_class cl ON dep.classid = 'pg_class'::regclass AND dep.objid = cl.oid LEFT JOIN pg_catalog.pg_constraint co ON dep.classid = 'pg_constraint'::regclass AND dep.objid = co.oid LEFT JOIN pg_catalog.pg_attrdef ad ON dep.classid = 'pg_attrdef'::regclass AND ad.oid = dep.objid
WHERE dep.refobjid = 'app.customer'::regclass AND dep.classid IN ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_attrdef'::regclass) ORDER BY 7, 1, 2, 5

-- roles
SELECT r.rolname, r.rolcanlogin, r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolreplication, r.rolbypassrls, r.rolinherit, r.rolconnlimit, r.rolvaliduntil, r.rolpassword, pg_catalog.shobj_description(r.oid, 'pg_authid') AS description,
  ARRAY(SELECT CASE WHEN am.admin_option THEN '1' ELSE '0' END || rm.rolname FROM (SELECT * FROM pg_catalog.pg_auth_members WHERE member = r.oid) am LEFT JOIN pg_catalog.pg_roles rm ON (rm.oid = am.roleid) ORDER BY rm.rolname) AS rolmembership, (SELECT array_agg(provider || '=' || label) FROM pg_shseclabel sl1 WHERE sl1.objoid = r.oid) AS seclabels
FROM pg_catalog.pg_roles r WHERE r.rolname LIKE 'cat%' ORDER BY r.rolcanlogin, r.rolname

-- settings of the server
SELECT count(*) > 100 FROM pg_show_all_settings()

-- extensions that could be had
SELECT count(*) >= 0 FROM pg_available_extensions()

-- the dashboard
SELECT (SELECT count(*) >= 0 FROM pg_catalog.pg_stat_activity WHERE datname = current_database() AND state = 'active'), (SELECT sum(xact_commit + xact_rollback) IS NULL OR true FROM pg_catalog.pg_stat_database WHERE datname = current_database()), (SELECT count(*) >= 0 FROM pg_catalog.pg_locks), (SELECT count(*) FROM pg_catalog.pg_prepared_xacts)

-- collations of the dialog
SELECT count(*) > 0 FROM (SELECT nspname, collname FROM pg_catalog.pg_collation c, pg_catalog.pg_namespace n WHERE c.collnamespace = n.oid) x WHERE collname IN ('default', 'C', 'POSIX')

-- event triggers, foreign servers, publications, subscriptions, casts of users
SELECT (SELECT count(*) FROM pg_catalog.pg_event_trigger), (SELECT count(*) FROM pg_catalog.pg_foreign_server), (SELECT count(*) FROM pg_catalog.pg_publication), (SELECT count(*) FROM pg_catalog.pg_subscription), (SELECT count(*) FROM pg_catalog.pg_cast WHERE oid > 16383)
