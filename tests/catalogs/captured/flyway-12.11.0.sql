-- Tool: flyway 12.11.0 over pgjdbc 42.7.14
-- Done: the part 'flyway' of tools/Jdbc.java
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command java Jdbc flyway
--- 1
SET application_name = 'PostgreSQL JDBC Driver'
--- 2
SELECT version()
--- 3
SHOW search_path
--- 4
SELECT CURRENT_USER
--- 5
SELECT rolname FROM pg_roles WHERE rolname ILIKE 'rds_superuser'
--- 6
SELECT current_schema
--- 7
select current_catalog
--- 8
SELECT current_user
--- 9
SET ROLE '<user>'
--- 10
--$ varchar "app"
--$ varchar "flyway_schema_history"
SELECT EXISTS (
  SELECT 1
  FROM   pg_catalog.pg_class c
  JOIN   pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE  n.nspname = $1
  AND    c.relname = $2
  AND    c.relkind = 'r'
)
--- 11
--$ varchar "app"
SELECT COUNT(*) FROM pg_namespace WHERE nspname=$1
--- 12
--$ varchar "app"
--$ varchar "app"
--$ varchar "app"
SELECT EXISTS (
    SELECT c.oid FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_depend d ON d.objid = c.oid AND d.deptype = 'e'
    WHERE  n.nspname = $1 AND d.objid IS NULL AND c.relkind IN ('r', 'v', 'S', 't')
  UNION ALL
    SELECT t.oid FROM pg_catalog.pg_type t
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    LEFT JOIN pg_catalog.pg_depend d ON d.objid = t.oid AND d.deptype = 'e'
    WHERE n.nspname = $2 AND d.objid IS NULL AND t.typcategory NOT IN ('A', 'C')
  UNION ALL
    SELECT p.oid FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    LEFT JOIN pg_catalog.pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
    WHERE n.nspname = $3 AND d.objid IS NULL
)
--- 13
--$ varchar "\"$user\", public"
SELECT set_config('search_path', $1, false)
--- 14
--$ varchar "flyway"
SELECT COUNT(*) FROM pg_namespace WHERE nspname=$1
--- 15
--$ varchar "\"app\",\"$user\", public"
SELECT set_config('search_path', $1, false)
--- 16
--$ varchar "\"flyway\",\"$user\", public"
SELECT set_config('search_path', $1, false)
--- 17
--$ varchar "flyway"
--$ varchar "flyway_schema_history"
SELECT EXISTS (
  SELECT 1
  FROM   pg_catalog.pg_class c
  JOIN   pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE  n.nspname = $1
  AND    c.relname = $2
  AND    c.relkind = 'r'
)
--- 18
--$ varchar "flyway"
SELECT relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' AND n.nspname = $1
--- 19
--$ varchar "flyway"
SELECT relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_depend dep ON dep.objid = c.oid AND dep.deptype = 'e' WHERE c.relkind = 'v' AND  n.nspname = $1 AND dep.objid IS NULL
--- 20
--$ varchar "flyway"
SELECT t.table_name FROM information_schema.tables t LEFT JOIN pg_depend dep ON dep.objid = (quote_ident(t.table_schema)||'.'||quote_ident(t.table_name))::regclass::oid AND dep.deptype = 'e' WHERE table_schema=$1 AND table_type='BASE TABLE' AND dep.objid IS NULL AND NOT (SELECT EXISTS (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhrelid = (quote_ident(t.table_schema)||'.'||quote_ident(t.table_name))::regclass::oid))
--- 21
--$ varchar "flyway"
select typname, typcategory from pg_catalog.pg_type t left join pg_depend dep on dep.objid = t.oid and dep.deptype = 'e' where (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)) and NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el WHERE el.oid = t.typelem AND el.typarray = t.oid) and t.typnamespace in (select oid from pg_catalog.pg_namespace where nspname = $1) and dep.objid is null and t.typtype != 'd'
--- 22
--$ varchar "flyway"
SELECT proname, oidvectortypes(proargtypes) AS args, pg_proc.prokind = 'a' as agg, pg_proc.prokind = 'p' as proc FROM pg_proc INNER JOIN pg_namespace ns ON (pg_proc.pronamespace = ns.oid) LEFT JOIN pg_depend dep ON dep.objid = pg_proc.oid AND dep.deptype = 'e' WHERE ns.nspname = $1 AND dep.objid IS NULL
--- 23
--$ varchar "flyway"
SELECT t.typname FROM pg_catalog.pg_type t INNER JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = $1 and t.typtype = 'e'
--- 24
--$ varchar "flyway"
SELECT t.typname as domain_name
FROM pg_catalog.pg_type t
       LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
       LEFT JOIN pg_depend dep ON dep.objid = t.oid AND dep.deptype = 'e'
WHERE t.typtype = 'd'
  AND n.nspname = $1
  AND dep.objid IS NULL
--- 25
--$ varchar "flyway"
SELECT sequence_name FROM information_schema.sequences WHERE sequence_schema=$1
--- 26
--$ varchar "flyway"
SELECT c.collname FROM pg_catalog.pg_collation c JOIN pg_namespace n ON c.collnamespace = n.oid LEFT JOIN pg_depend dep ON dep.objid = c.oid AND dep.deptype = 'e' WHERE n.nspname = $1 AND dep.objid IS NULL
--- 27
SELECT EXISTS ( 
SELECT 1 
FROM pg_tables 
WHERE tablename = 'pg_extension')
--- 28
--$ varchar "flyway"
--$ varchar "<user>"
SELECT e.extname FROM pg_extension e LEFT JOIN pg_namespace n ON n.oid = e.extnamespace LEFT JOIN pg_roles r ON r.oid = e.extowner WHERE n.nspname=$1 AND r.rolname=$2
--- 29
--$ varchar "app"
SELECT relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' AND n.nspname = $1
--- 30
--$ varchar "app"
SELECT relname FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_depend dep ON dep.objid = c.oid AND dep.deptype = 'e' WHERE c.relkind = 'v' AND  n.nspname = $1 AND dep.objid IS NULL
--- 31
--$ varchar "app"
SELECT t.table_name FROM information_schema.tables t LEFT JOIN pg_depend dep ON dep.objid = (quote_ident(t.table_schema)||'.'||quote_ident(t.table_name))::regclass::oid AND dep.deptype = 'e' WHERE table_schema=$1 AND table_type='BASE TABLE' AND dep.objid IS NULL AND NOT (SELECT EXISTS (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhrelid = (quote_ident(t.table_schema)||'.'||quote_ident(t.table_name))::regclass::oid))
--- 32
--$ varchar "app"
select typname, typcategory from pg_catalog.pg_type t left join pg_depend dep on dep.objid = t.oid and dep.deptype = 'e' where (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)) and NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el WHERE el.oid = t.typelem AND el.typarray = t.oid) and t.typnamespace in (select oid from pg_catalog.pg_namespace where nspname = $1) and dep.objid is null and t.typtype != 'd'
--- 33
--$ varchar "app"
SELECT proname, oidvectortypes(proargtypes) AS args, pg_proc.prokind = 'a' as agg, pg_proc.prokind = 'p' as proc FROM pg_proc INNER JOIN pg_namespace ns ON (pg_proc.pronamespace = ns.oid) LEFT JOIN pg_depend dep ON dep.objid = pg_proc.oid AND dep.deptype = 'e' WHERE ns.nspname = $1 AND dep.objid IS NULL
--- 34
--$ varchar "app"
SELECT t.typname FROM pg_catalog.pg_type t INNER JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = $1 and t.typtype = 'e'
--- 35
--$ varchar "app"
SELECT t.typname as domain_name
FROM pg_catalog.pg_type t
       LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
       LEFT JOIN pg_depend dep ON dep.objid = t.oid AND dep.deptype = 'e'
WHERE t.typtype = 'd'
  AND n.nspname = $1
  AND dep.objid IS NULL
--- 36
--$ varchar "app"
SELECT sequence_name FROM information_schema.sequences WHERE sequence_schema=$1
--- 37
--$ varchar "app"
SELECT c.collname FROM pg_catalog.pg_collation c JOIN pg_namespace n ON c.collnamespace = n.oid LEFT JOIN pg_depend dep ON dep.objid = c.oid AND dep.deptype = 'e' WHERE n.nspname = $1 AND dep.objid IS NULL
--- 38
--$ varchar "app"
--$ varchar "<user>"
SELECT e.extname FROM pg_extension e LEFT JOIN pg_namespace n ON n.oid = e.extnamespace LEFT JOIN pg_roles r ON r.oid = e.extowner WHERE n.nspname=$1 AND r.rolname=$2
