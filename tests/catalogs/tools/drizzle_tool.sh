#!/bin/sh
# drizzle-kit's pull of a database, then a push of what it has pulled. NODE_PATH says where it is installed.
work=$(mktemp -d)
ln -s "$NODE_PATH" "$work/node_modules"
cd "$work" || exit 1
cat > drizzle.config.js <<END
module.exports = { dialect: 'postgresql', out: './out', schema: './out/schema.ts', schemaFilter: ['app'], entities: { roles: true },
  dbCredentials: { host: '$PGHOST', port: $PGPORT, user: '$PGUSER', password: '$PGPASSWORD', database: '$PGDATABASE', ssl: false } };
END
node node_modules/drizzle-kit/bin.cjs pull && node node_modules/drizzle-kit/bin.cjs push --force
rm -rf "$work"
