#!/usr/bin/env bash
# built.sh pgx|java: builds a client that is compiled, outside of the checkout, and runs it. What a build says goes to the error output.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/stoa/clients
mkdir -p "$cache/classes"
# Both sides of a comparison call this at once.
case $1 in
  pgx)
    (cd "$here/pgx" && flock "$cache" go build -o "$cache/pgx" .) >&2
    exec "$cache/pgx" ;;
  java)
    flock "$cache" bash -c "mvn -q -B -f '$here/java/pom.xml' dependency:copy-dependencies -DoutputDirectory='$cache/jars' && javac -nowarn -d '$cache/classes' -cp '$cache/jars/*' '$here/java/Clients.java'" >&2
    exec java -cp "$cache/classes:$cache/jars/*" Clients ;;
esac
