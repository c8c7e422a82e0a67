#!/bin/sh
# dbt: a project with a table, a view, an incremental model and a snapshot is run twice, tested, and documented.
work=$(mktemp -d)
cd "$work" || exit 1
mkdir -p models snapshots seeds
cat > dbt_project.yml <<END
name: captured
version: '1.0'
profile: captured
models: {captured: {+persist_docs: {relation: true, columns: true}, +grants: {select: [cat_reader]}}}
END
cat > profiles.yml <<END
captured: {target: dev, outputs: {dev: {type: postgres, host: $PGHOST, port: $PGPORT, user: $PGUSER, pass: $PGPASSWORD, dbname: $PGDATABASE, schema: app, threads: 1}}}
END
cat > models/m.yml <<END
sources: [{name: app, schema: app, tables: [{name: customer}, {name: orders}]}]
models:
- {name: bought, description: of orders, columns: [{name: id, description: a number, data_tests: [not_null, unique]}]}
END
echo "{{ config(materialized='table', indexes=[{'columns': ['id'], 'unique': true}]) }} select id, total from {{ source('app', 'orders') }}" > models/bought.sql
echo "select id from {{ ref('bought') }}" > models/seen.sql
echo "{{ config(materialized='incremental', unique_key='id', on_schema_change='append_new_columns') }} select id, name from {{ source('app', 'customer') }}" > models/more.sql
echo "{{ config(materialized='materialized_view') }} select id from {{ ref('bought') }}" > models/kept.sql
printf 'a,b\n1,x\n' > seeds/seeded.csv
export DBT_PROFILES_DIR=. DBT_SEND_ANONYMOUS_USAGE_STATS=false
for step in seed run run test "docs generate"; do dbt -q $step; done
rm -rf "$work"
