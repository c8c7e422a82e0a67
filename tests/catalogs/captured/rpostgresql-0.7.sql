-- Tool: RPostgreSQL 0.7-5
-- Done: tables listed, read and written
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command Rscript r_tool.R
--- 1
set datestyle to ISO
--- 2
select tablename from pg_tables where schemaname !='information_schema' and schemaname !='pg_catalog'
--- 3
select attnotnull from pg_attribute where attrelid=12033 and attnum='2'
--- 4
select tablename from pg_tables where schemaname !='information_schema' and schemaname !='pg_catalog' and schemaname='app' and tablename='customer'
--- 5
SELECT current_schema()
--- 6
select tablename from pg_tables where schemaname !='information_schema' and schemaname !='pg_catalog' and schemaname='public' and tablename='nosuch'
--- 7
select a.attname from pg_attribute a, pg_class c, pg_tables t, pg_namespace nsp where a.attrelid = c.oid and c.relname = t.tablename and c.relnamespace = nsp.oid and a.attnum > 0 and nspname = schemaname and schemaname = 'app' and tablename = 'customer'
--- 8
select attnotnull from pg_attribute where attrelid=1249 and attnum='2'
--- 9
select attnotnull from pg_attribute where attrelid=<relation app.orders> and attnum='1'
--- 10
select attnotnull from pg_attribute where attrelid=<relation app.orders> and attnum='2'
--- 11
select attnotnull from pg_attribute where attrelid=<relation app.orders> and attnum='3'
--- 12
select attnotnull from pg_attribute where attrelid=<relation app.orders> and attnum='4'
--- 13
select attnotnull from pg_attribute where attrelid=<relation app.orders> and attnum='5'
--- 14
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='1'
--- 15
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='2'
--- 16
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='3'
--- 17
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='4'
--- 18
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='5'
--- 19
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='6'
--- 20
select typname, typcategory from pg_type where oid = 1009
--- 21
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='7'
--- 22
select typname, typcategory from pg_type where oid = 3802
--- 23
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='8'
--- 24
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='9'
--- 25
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='10'
--- 26
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='11'
--- 27
select typname, typcategory from pg_type where oid = 2950
--- 28
select attnotnull from pg_attribute where attrelid=<relation app.customer> and attnum='12'
--- 29
select tablename from pg_tables where schemaname !='information_schema' and schemaname !='pg_catalog' and schemaname='app' and tablename='of_r'
--- 30
SHOW client_encoding
--- 31
SET CLIENT_ENCODING TO 'UTF8'
