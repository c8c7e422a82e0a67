-- Tool: golang-migrate 4.19.1
-- Done: a migration up and down
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command gorm migrate
--- 1
SELECT CURRENT_SCHEMA()
--- 2
--$ unknown "public"
--$ unknown "schema_migrations"
SELECT COUNT(1) FROM information_schema.tables WHERE table_schema = $1 AND table_name = $2 LIMIT 1
