#!/bin/sh
# sqlx and tokio-postgres: queries that are checked while they are compiled, then run. CARGO_TARGET_DIR says where what is compiled is kept.
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export DATABASE_URL="postgres://$PGUSER:$PGPASSWORD@$PGHOST:$PGPORT/$PGDATABASE?sslmode=disable" SQLX_OFFLINE=false SQLX_OFFLINE_DIR="$work"
cargo run --release -q --manifest-path "$here/sqlx/Cargo.toml"
rm -rf "$work"
