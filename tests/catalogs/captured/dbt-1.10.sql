-- Tool: dbt-core 1.10.23 with dbt-postgres 1.10.2
-- Done: tools/dbt_tool.sh: seed, run twice, test, docs generate
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command tools/dbt_tool.sh
--- 1
/* {"app": "dbt", "dbt_version": "1.10.23", "profile_name": "captured", "target_name": "dev", "connection_name": "list_captured_from"} */

    select distinct nspname from pg_namespace
--- 2
/* {"app": "dbt", "dbt_version": "1.10.23", "profile_name": "captured", "target_name": "dev", "connection_name": "list_captured_from_app"} */
select
      '<database>' as database,
      tablename as name,
      schemaname as schema,
      'table' as type
    from pg_tables
    where schemaname ilike 'app'
    union all
    select
      '<database>' as database,
      viewname as name,
      schemaname as schema,
      'view' as type
    from pg_views
    where schemaname ilike 'app'
    union all
    select
      '<database>' as database,
      matviewname as name,
      schemaname as schema,
      'materialized_view' as type
    from pg_matviews
    where schemaname ilike 'app'
--- 3
/* {"app": "dbt", "dbt_version": "1.10.23", "profile_name": "captured", "target_name": "dev", "connection_name": "master"} */
select distinct
        dependent_namespace.nspname as dependent_schema,
        dependent_class.relname as dependent_name,
        referenced_namespace.nspname as referenced_schema,
        referenced_class.relname as referenced_name

    -- Query for views: views are entries in pg_class with an entry in pg_rewrite, but we avoid
    -- a seq scan on pg_rewrite by leveraging the fact there is an "internal" row in pg_depend for
    -- the view...
    from pg_class as dependent_class
    join pg_namespace as dependent_namespace on dependent_namespace.oid = dependent_class.relnamespace
    join pg_depend as dependent_depend on dependent_depend.refobjid = dependent_class.oid
        and dependent_depend.classid = 'pg_rewrite'::regclass
        and dependent_depend.refclassid = 'pg_class'::regclass
        and dependent_depend.deptype = 'i'

    -- ... and via pg_depend (that has a row per column, hence the need for "distinct" above, and
    -- making sure to exclude the internal row to avoid a view appearing to depend on itself)...
    join pg_depend as joining_depend on joining_depend.objid = dependent_depend.objid
        and joining_depend.classid = 'pg_rewrite'::regclass
        and joining_depend.refclassid = 'pg_class'::regclass
        and joining_depend.refobjid != dependent_depend.refobjid

    -- ... we can find the tables they query from in pg_class, but excluding system tables. Note we
    -- don't need need to exclude _dependent_ system tables, because they only query from other
    -- system tables, and so are automatically excluded by excluding _referenced_ system tables
    join pg_class as referenced_class on referenced_class.oid = joining_depend.refobjid
    join pg_namespace as referenced_namespace on referenced_namespace.oid = referenced_class.relnamespace
        and referenced_namespace.nspname != 'information_schema'
        and referenced_namespace.nspname not like 'pg\_%'

    order by
        dependent_schema, dependent_name, referenced_schema, referenced_name
--- 4
/* {"app": "dbt", "dbt_version": "1.10.23", "profile_name": "captured", "target_name": "dev", "node_id": "model.captured.bought"} */

      select
          column_name,
          data_type,
          character_maximum_length,
          numeric_precision,
          numeric_scale

      from "<database>".INFORMATION_SCHEMA.columns
      where table_name = 'bought'
        
        and table_schema = 'app'
        
      order by ordinal_position
--- 5
/* {"app": "dbt", "dbt_version": "1.10.23", "profile_name": "captured", "target_name": "dev", "node_id": "model.captured.more"} */

      select
          column_name,
          data_type,
          character_maximum_length,
          numeric_precision,
          numeric_scale

      from INFORMATION_SCHEMA.columns
      where table_name = 'more__dbt_tmp115523299063'
        
      order by ordinal_position
--- 6
/* {"app": "dbt", "dbt_version": "1.10.23", "profile_name": "captured", "target_name": "dev", "node_id": "model.captured.more"} */

      select
          column_name,
          data_type,
          character_maximum_length,
          numeric_precision,
          numeric_scale

      from "<database>".INFORMATION_SCHEMA.columns
      where table_name = 'more'
        
        and table_schema = 'app'
        
      order by ordinal_position
--- 7
/* {"app": "dbt", "dbt_version": "1.10.23", "profile_name": "captured", "target_name": "dev", "node_id": "model.captured.more"} */

    select grantee, privilege_type
  from "<database>".INFORMATION_SCHEMA.role_table_grants
      where grantor = current_role
        and grantee != current_role
        and table_schema = 'app'
        and table_name = 'more'
--- 8
/* {"app": "dbt", "dbt_version": "1.10.23", "profile_name": "captured", "target_name": "dev", "connection_name": "<database>.information_schema"} */

    
    

    select
        '<database>' as table_database,
        sch.nspname as table_schema,
        tbl.relname as table_name,
        case tbl.relkind
            when 'v' then 'VIEW'
            when 'm' then 'MATERIALIZED VIEW'
            else 'BASE TABLE'
        end as table_type,
        tbl_desc.description as table_comment,
        col.attname as column_name,
        col.attnum as column_index,
        pg_catalog.format_type(col.atttypid, col.atttypmod) as column_type,
        col_desc.description as column_comment,
        pg_get_userbyid(tbl.relowner) as table_owner

    from pg_catalog.pg_namespace sch
    join pg_catalog.pg_class tbl on tbl.relnamespace = sch.oid
    join pg_catalog.pg_attribute col on col.attrelid = tbl.oid
    left outer join pg_catalog.pg_description tbl_desc on (tbl_desc.objoid = tbl.oid and tbl_desc.objsubid = 0)
    left outer join pg_catalog.pg_description col_desc on (col_desc.objoid = tbl.oid and col_desc.objsubid = col.attnum)
    where ((upper(sch.nspname) = upper('app') and
           upper(tbl.relname) = upper('seeded')) or (upper(sch.nspname) = upper('app') and
           upper(tbl.relname) = upper('bought')) or (upper(sch.nspname) = upper('app') and
           upper(tbl.relname) = upper('customer')) or (upper(sch.nspname) = upper('app') and
           upper(tbl.relname) = upper('seen')) or (upper(sch.nspname) = upper('app') and
           upper(tbl.relname) = upper('orders')) or (upper(sch.nspname) = upper('app') and
           upper(tbl.relname) = upper('kept')) or (upper(sch.nspname) = upper('app') and
           upper(tbl.relname) = upper('more')))
      and not pg_is_other_temp_schema(sch.oid) -- not a temporary schema belonging to another session
      and tbl.relpersistence in ('p', 'u') -- [p]ermanent table or [u]nlogged table. Exclude [t]emporary tables
      and tbl.relkind in ('r', 'v', 'f', 'p', 'm') -- o[r]dinary table, [v]iew, [f]oreign table, [p]artitioned table, [m]aterialized view. Other values are [i]ndex, [S]equence, [c]omposite type, [t]OAST table
      and col.attnum > 0 -- negative numbers are used for system columns such as oid
      and not col.attisdropped -- column as not been dropped

    order by
        sch.nspname,
        tbl.relname,
        col.attnum
