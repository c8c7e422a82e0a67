-- Tool: peewee 4.5.3
-- Done: a schema introspected; columns, indexes and keys of tables
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command python python_tool.py peewee
--- 1
select oid, typname, format_type(oid, NULL) from pg_type
--- 2
SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = COALESCE('app', current_schema()) ORDER BY tablename
--- 3
SELECT
                i.relname, idxs.indexdef, idx.indisunique,
                ARRAY(
                    SELECT pg_get_indexdef(idx.indexrelid, k + 1, TRUE)
                    FROM generate_subscripts(idx.indkey, 1) AS k
                    ORDER BY k)
            FROM pg_catalog.pg_class AS t
            INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid
            INNER JOIN pg_catalog.pg_index AS idx ON t.oid = idx.indrelid
            INNER JOIN pg_catalog.pg_class AS i ON idx.indexrelid = i.oid
            INNER JOIN pg_catalog.pg_indexes AS idxs ON (
                idxs.tablename = t.relname
                AND idxs.indexname = i.relname
                AND idxs.schemaname = n.nspname)
            WHERE t.relname = 'Mixed Case' AND t.relkind = 'r'
                AND n.nspname = COALESCE('app', current_schema())
            ORDER BY idx.indisunique DESC, i.relname
--- 4
SELECT c.column_name, c.is_nullable, c.data_type,
                c.column_default,
                pg_catalog.format_type(a.atttypid, a.atttypmod),
                c.is_identity
            FROM information_schema.columns AS c
            INNER JOIN pg_catalog.pg_namespace AS n
                ON (n.nspname = c.table_schema)
            INNER JOIN pg_catalog.pg_class AS t
                ON (t.relname = c.table_name AND t.relnamespace = n.oid)
            INNER JOIN pg_catalog.pg_attribute AS a
                ON (a.attrelid = t.oid AND a.attname = c.column_name)
            WHERE c.table_name = 'Mixed Case'
                AND c.table_schema = COALESCE('app', current_schema())
                AND NOT a.attisdropped
            ORDER BY c.ordinal_position
--- 5
SELECT kc.column_name
            FROM information_schema.table_constraints AS tc
            INNER JOIN information_schema.key_column_usage AS kc ON (
                tc.table_name = kc.table_name AND
                tc.table_schema = kc.table_schema AND
                tc.constraint_name = kc.constraint_name)
            WHERE
                tc.constraint_type = 'PRIMARY KEY' AND
                tc.table_name = 'Mixed Case' AND
                tc.table_schema = COALESCE('app', current_schema())
            ORDER BY kc.ordinal_position
--- 6
SELECT a.attname, a.atttypid FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_class AS t ON a.attrelid = t.oid INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid WHERE t.relname = 'Mixed Case' AND n.nspname = COALESCE('app', current_schema()) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
--- 7
SELECT DISTINCT
                kcu.column_name, ccu.table_name, ccu.column_name,
                tc.constraint_name, rc.delete_rule, rc.update_rule
            FROM information_schema.table_constraints AS tc
            JOIN information_schema.key_column_usage AS kcu
                ON (tc.constraint_name = kcu.constraint_name AND
                    tc.constraint_schema = kcu.constraint_schema AND
                    tc.table_name = kcu.table_name AND
                    tc.table_schema = kcu.table_schema)
            JOIN information_schema.constraint_column_usage AS ccu
                ON (ccu.constraint_name = tc.constraint_name AND
                    ccu.constraint_schema = tc.constraint_schema)
            JOIN information_schema.referential_constraints AS rc
                ON (rc.constraint_name = tc.constraint_name AND
                    rc.constraint_schema = tc.constraint_schema)
            WHERE
                tc.constraint_type = 'FOREIGN KEY' AND
                tc.table_name = 'Mixed Case' AND
                tc.table_schema = COALESCE('app', current_schema())
--- 8
SELECT
                i.relname, idxs.indexdef, idx.indisunique,
                ARRAY(
                    SELECT pg_get_indexdef(idx.indexrelid, k + 1, TRUE)
                    FROM generate_subscripts(idx.indkey, 1) AS k
                    ORDER BY k)
            FROM pg_catalog.pg_class AS t
            INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid
            INNER JOIN pg_catalog.pg_index AS idx ON t.oid = idx.indrelid
            INNER JOIN pg_catalog.pg_class AS i ON idx.indexrelid = i.oid
            INNER JOIN pg_catalog.pg_indexes AS idxs ON (
                idxs.tablename = t.relname
                AND idxs.indexname = i.relname
                AND idxs.schemaname = n.nspname)
            WHERE t.relname = 'customer' AND t.relkind = 'r'
                AND n.nspname = COALESCE('app', current_schema())
            ORDER BY idx.indisunique DESC, i.relname
--- 9
SELECT c.column_name, c.is_nullable, c.data_type,
                c.column_default,
                pg_catalog.format_type(a.atttypid, a.atttypmod),
                c.is_identity
            FROM information_schema.columns AS c
            INNER JOIN pg_catalog.pg_namespace AS n
                ON (n.nspname = c.table_schema)
            INNER JOIN pg_catalog.pg_class AS t
                ON (t.relname = c.table_name AND t.relnamespace = n.oid)
            INNER JOIN pg_catalog.pg_attribute AS a
                ON (a.attrelid = t.oid AND a.attname = c.column_name)
            WHERE c.table_name = 'customer'
                AND c.table_schema = COALESCE('app', current_schema())
                AND NOT a.attisdropped
            ORDER BY c.ordinal_position
--- 10
SELECT kc.column_name
            FROM information_schema.table_constraints AS tc
            INNER JOIN information_schema.key_column_usage AS kc ON (
                tc.table_name = kc.table_name AND
                tc.table_schema = kc.table_schema AND
                tc.constraint_name = kc.constraint_name)
            WHERE
                tc.constraint_type = 'PRIMARY KEY' AND
                tc.table_name = 'customer' AND
                tc.table_schema = COALESCE('app', current_schema())
            ORDER BY kc.ordinal_position
--- 11
SELECT a.attname, a.atttypid FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_class AS t ON a.attrelid = t.oid INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid WHERE t.relname = 'customer' AND n.nspname = COALESCE('app', current_schema()) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
--- 12
SELECT DISTINCT
                kcu.column_name, ccu.table_name, ccu.column_name,
                tc.constraint_name, rc.delete_rule, rc.update_rule
            FROM information_schema.table_constraints AS tc
            JOIN information_schema.key_column_usage AS kcu
                ON (tc.constraint_name = kcu.constraint_name AND
                    tc.constraint_schema = kcu.constraint_schema AND
                    tc.table_name = kcu.table_name AND
                    tc.table_schema = kcu.table_schema)
            JOIN information_schema.constraint_column_usage AS ccu
                ON (ccu.constraint_name = tc.constraint_name AND
                    ccu.constraint_schema = tc.constraint_schema)
            JOIN information_schema.referential_constraints AS rc
                ON (rc.constraint_name = tc.constraint_name AND
                    rc.constraint_schema = tc.constraint_schema)
            WHERE
                tc.constraint_type = 'FOREIGN KEY' AND
                tc.table_name = 'customer' AND
                tc.table_schema = COALESCE('app', current_schema())
--- 13
SELECT
                i.relname, idxs.indexdef, idx.indisunique,
                ARRAY(
                    SELECT pg_get_indexdef(idx.indexrelid, k + 1, TRUE)
                    FROM generate_subscripts(idx.indkey, 1) AS k
                    ORDER BY k)
            FROM pg_catalog.pg_class AS t
            INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid
            INNER JOIN pg_catalog.pg_index AS idx ON t.oid = idx.indrelid
            INNER JOIN pg_catalog.pg_class AS i ON idx.indexrelid = i.oid
            INNER JOIN pg_catalog.pg_indexes AS idxs ON (
                idxs.tablename = t.relname
                AND idxs.indexname = i.relname
                AND idxs.schemaname = n.nspname)
            WHERE t.relname = 'keyless' AND t.relkind = 'r'
                AND n.nspname = COALESCE('app', current_schema())
            ORDER BY idx.indisunique DESC, i.relname
--- 14
SELECT c.column_name, c.is_nullable, c.data_type,
                c.column_default,
                pg_catalog.format_type(a.atttypid, a.atttypmod),
                c.is_identity
            FROM information_schema.columns AS c
            INNER JOIN pg_catalog.pg_namespace AS n
                ON (n.nspname = c.table_schema)
            INNER JOIN pg_catalog.pg_class AS t
                ON (t.relname = c.table_name AND t.relnamespace = n.oid)
            INNER JOIN pg_catalog.pg_attribute AS a
                ON (a.attrelid = t.oid AND a.attname = c.column_name)
            WHERE c.table_name = 'keyless'
                AND c.table_schema = COALESCE('app', current_schema())
                AND NOT a.attisdropped
            ORDER BY c.ordinal_position
--- 15
SELECT kc.column_name
            FROM information_schema.table_constraints AS tc
            INNER JOIN information_schema.key_column_usage AS kc ON (
                tc.table_name = kc.table_name AND
                tc.table_schema = kc.table_schema AND
                tc.constraint_name = kc.constraint_name)
            WHERE
                tc.constraint_type = 'PRIMARY KEY' AND
                tc.table_name = 'keyless' AND
                tc.table_schema = COALESCE('app', current_schema())
            ORDER BY kc.ordinal_position
--- 16
SELECT a.attname, a.atttypid FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_class AS t ON a.attrelid = t.oid INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid WHERE t.relname = 'keyless' AND n.nspname = COALESCE('app', current_schema()) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
--- 17
SELECT DISTINCT
                kcu.column_name, ccu.table_name, ccu.column_name,
                tc.constraint_name, rc.delete_rule, rc.update_rule
            FROM information_schema.table_constraints AS tc
            JOIN information_schema.key_column_usage AS kcu
                ON (tc.constraint_name = kcu.constraint_name AND
                    tc.constraint_schema = kcu.constraint_schema AND
                    tc.table_name = kcu.table_name AND
                    tc.table_schema = kcu.table_schema)
            JOIN information_schema.constraint_column_usage AS ccu
                ON (ccu.constraint_name = tc.constraint_name AND
                    ccu.constraint_schema = tc.constraint_schema)
            JOIN information_schema.referential_constraints AS rc
                ON (rc.constraint_name = tc.constraint_name AND
                    rc.constraint_schema = tc.constraint_schema)
            WHERE
                tc.constraint_type = 'FOREIGN KEY' AND
                tc.table_name = 'keyless' AND
                tc.table_schema = COALESCE('app', current_schema())
--- 18
SELECT
                i.relname, idxs.indexdef, idx.indisunique,
                ARRAY(
                    SELECT pg_get_indexdef(idx.indexrelid, k + 1, TRUE)
                    FROM generate_subscripts(idx.indkey, 1) AS k
                    ORDER BY k)
            FROM pg_catalog.pg_class AS t
            INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid
            INNER JOIN pg_catalog.pg_index AS idx ON t.oid = idx.indrelid
            INNER JOIN pg_catalog.pg_class AS i ON idx.indexrelid = i.oid
            INNER JOIN pg_catalog.pg_indexes AS idxs ON (
                idxs.tablename = t.relname
                AND idxs.indexname = i.relname
                AND idxs.schemaname = n.nspname)
            WHERE t.relname = 'order_line' AND t.relkind = 'r'
                AND n.nspname = COALESCE('app', current_schema())
            ORDER BY idx.indisunique DESC, i.relname
--- 19
SELECT c.column_name, c.is_nullable, c.data_type,
                c.column_default,
                pg_catalog.format_type(a.atttypid, a.atttypmod),
                c.is_identity
            FROM information_schema.columns AS c
            INNER JOIN pg_catalog.pg_namespace AS n
                ON (n.nspname = c.table_schema)
            INNER JOIN pg_catalog.pg_class AS t
                ON (t.relname = c.table_name AND t.relnamespace = n.oid)
            INNER JOIN pg_catalog.pg_attribute AS a
                ON (a.attrelid = t.oid AND a.attname = c.column_name)
            WHERE c.table_name = 'order_line'
                AND c.table_schema = COALESCE('app', current_schema())
                AND NOT a.attisdropped
            ORDER BY c.ordinal_position
--- 20
SELECT kc.column_name
            FROM information_schema.table_constraints AS tc
            INNER JOIN information_schema.key_column_usage AS kc ON (
                tc.table_name = kc.table_name AND
                tc.table_schema = kc.table_schema AND
                tc.constraint_name = kc.constraint_name)
            WHERE
                tc.constraint_type = 'PRIMARY KEY' AND
                tc.table_name = 'order_line' AND
                tc.table_schema = COALESCE('app', current_schema())
            ORDER BY kc.ordinal_position
--- 21
SELECT a.attname, a.atttypid FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_class AS t ON a.attrelid = t.oid INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid WHERE t.relname = 'order_line' AND n.nspname = COALESCE('app', current_schema()) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
--- 22
SELECT DISTINCT
                kcu.column_name, ccu.table_name, ccu.column_name,
                tc.constraint_name, rc.delete_rule, rc.update_rule
            FROM information_schema.table_constraints AS tc
            JOIN information_schema.key_column_usage AS kcu
                ON (tc.constraint_name = kcu.constraint_name AND
                    tc.constraint_schema = kcu.constraint_schema AND
                    tc.table_name = kcu.table_name AND
                    tc.table_schema = kcu.table_schema)
            JOIN information_schema.constraint_column_usage AS ccu
                ON (ccu.constraint_name = tc.constraint_name AND
                    ccu.constraint_schema = tc.constraint_schema)
            JOIN information_schema.referential_constraints AS rc
                ON (rc.constraint_name = tc.constraint_name AND
                    rc.constraint_schema = tc.constraint_schema)
            WHERE
                tc.constraint_type = 'FOREIGN KEY' AND
                tc.table_name = 'order_line' AND
                tc.table_schema = COALESCE('app', current_schema())
--- 23
SELECT
                i.relname, idxs.indexdef, idx.indisunique,
                ARRAY(
                    SELECT pg_get_indexdef(idx.indexrelid, k + 1, TRUE)
                    FROM generate_subscripts(idx.indkey, 1) AS k
                    ORDER BY k)
            FROM pg_catalog.pg_class AS t
            INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid
            INNER JOIN pg_catalog.pg_index AS idx ON t.oid = idx.indrelid
            INNER JOIN pg_catalog.pg_class AS i ON idx.indexrelid = i.oid
            INNER JOIN pg_catalog.pg_indexes AS idxs ON (
                idxs.tablename = t.relname
                AND idxs.indexname = i.relname
                AND idxs.schemaname = n.nspname)
            WHERE t.relname = 'orders' AND t.relkind = 'r'
                AND n.nspname = COALESCE('app', current_schema())
            ORDER BY idx.indisunique DESC, i.relname
--- 24
SELECT c.column_name, c.is_nullable, c.data_type,
                c.column_default,
                pg_catalog.format_type(a.atttypid, a.atttypmod),
                c.is_identity
            FROM information_schema.columns AS c
            INNER JOIN pg_catalog.pg_namespace AS n
                ON (n.nspname = c.table_schema)
            INNER JOIN pg_catalog.pg_class AS t
                ON (t.relname = c.table_name AND t.relnamespace = n.oid)
            INNER JOIN pg_catalog.pg_attribute AS a
                ON (a.attrelid = t.oid AND a.attname = c.column_name)
            WHERE c.table_name = 'orders'
                AND c.table_schema = COALESCE('app', current_schema())
                AND NOT a.attisdropped
            ORDER BY c.ordinal_position
--- 25
SELECT kc.column_name
            FROM information_schema.table_constraints AS tc
            INNER JOIN information_schema.key_column_usage AS kc ON (
                tc.table_name = kc.table_name AND
                tc.table_schema = kc.table_schema AND
                tc.constraint_name = kc.constraint_name)
            WHERE
                tc.constraint_type = 'PRIMARY KEY' AND
                tc.table_name = 'orders' AND
                tc.table_schema = COALESCE('app', current_schema())
            ORDER BY kc.ordinal_position
--- 26
SELECT a.attname, a.atttypid FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_class AS t ON a.attrelid = t.oid INNER JOIN pg_catalog.pg_namespace AS n ON t.relnamespace = n.oid WHERE t.relname = 'orders' AND n.nspname = COALESCE('app', current_schema()) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
--- 27
SELECT DISTINCT
                kcu.column_name, ccu.table_name, ccu.column_name,
                tc.constraint_name, rc.delete_rule, rc.update_rule
            FROM information_schema.table_constraints AS tc
            JOIN information_schema.key_column_usage AS kcu
                ON (tc.constraint_name = kcu.constraint_name AND
                    tc.constraint_schema = kcu.constraint_schema AND
                    tc.table_name = kcu.table_name AND
                    tc.table_schema = kcu.table_schema)
            JOIN information_schema.constraint_column_usage AS ccu
                ON (ccu.constraint_name = tc.constraint_name AND
                    ccu.constraint_schema = tc.constraint_schema)
            JOIN information_schema.referential_constraints AS rc
                ON (rc.constraint_name = tc.constraint_name AND
                    rc.constraint_schema = tc.constraint_schema)
            WHERE
                tc.constraint_type = 'FOREIGN KEY' AND
                tc.table_name = 'orders' AND
                tc.table_schema = COALESCE('app', current_schema())
--- 28
SELECT viewname, definition FROM pg_catalog.pg_views WHERE schemaname = COALESCE('app', current_schema()) ORDER BY viewname
--- 29
SELECT COUNT(*) FROM pg_class, pg_namespace
            WHERE relkind='S'
                AND pg_class.relnamespace = pg_namespace.oid
                AND relname='customer_id_seq'
                AND nspname=COALESCE(NULL, current_schema())
