-- Tool: knex 3.3.0 over node-pg
-- Done: the part 'knex' of tools/node_tool.js
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command node tools/node_tool.js knex
--- 1
select version()
--- 2
set search_path to "app"
--- 3
--$ unknown "customer"
select * from information_schema.tables where table_name = $1 and table_schema = current_schema()
--- 4
--$ unknown "customer"
--$ unknown "name"
select * from information_schema.columns where table_name = $1 and column_name = $2 and table_schema = current_schema()
--- 5
--$ unknown "customer"
select * from information_schema.columns where table_name = $1 and table_catalog = current_database() and table_schema = current_schema()
--- 6
--$ unknown "knex_migrations"
select * from information_schema.tables where table_name = $1 and table_schema = current_schema()
--- 7
--$ unknown "knex_migrations_lock"
select * from information_schema.tables where table_name = $1 and table_schema = current_schema()
