#!/usr/bin/env bash
# built.sh pgx|java|rust PROGRAM [ARG…]|sqlx: builds a client that is compiled, outside of the checkout, and runs it. What a build says goes to
# the error output.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/stoa/clients
mkdir -p "$cache/classes"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cache/rust}

rust() { # builds all that needs no database, so that features are the same for each; anything beside is given to cargo
  flock "$cache" cargo build --release -q --manifest-path "$here/../rust/Cargo.toml" "$@" >&2
}

# Both sides of a comparison call this at once.
case $1 in
  pgx)
    (cd "$here/pgx" && flock "$cache" go build -o "$cache/pgx" .) >&2
    exec "$cache/pgx" ;;
  java)
    flock "$cache" bash -c "mvn -q -B -f '$here/java/pom.xml' dependency:copy-dependencies -DoutputDirectory='$cache/jars' && javac -nowarn -d '$cache/classes' -cp '$cache/jars/*' '$here/java/Clients.java'" >&2
    exec java -cp "$cache/classes:$cache/jars/*" Clients ;;
  rust)
    rust
    exec "$CARGO_TARGET_DIR/release/$2" "${@:3}" ;;
  sqlx)
    # What the database says of each query is written down while it is compiled, as `cargo sqlx prepare` keeps it; it must be the same.
    rust
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    MIGRATIONS=$here/../rust/migrations "$CARGO_TARGET_DIR/release/migrate"
    export SQLX_OFFLINE_DIR=$work/queries SQLX_OFFLINE=false
    mkdir "$SQLX_OFFLINE_DIR"
    export DATABASE_URL="postgres://$PGUSER@$PGHOST:$PGPORT/$PGDATABASE?sslmode=$PGSSLMODE${PGSSLROOTCERT:+&sslrootcert=$PGSSLROOTCERT}"
    status=0
    (
      flock 9
      rust --bin checked --features checked && cp "$CARGO_TARGET_DIR/release/checked" "$work/checked"
    ) 9>"$cache/checked" || status=$?
    cat "$SQLX_OFFLINE_DIR"/*.json
    [ $status = 0 ] && "$work/checked" ;;
esac
