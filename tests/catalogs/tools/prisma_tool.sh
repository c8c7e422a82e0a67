#!/bin/sh
# Prisma's schema engine (the one in WebAssembly, over node-pg): a pull of the schema, and the first migration. NODE_PATH says where it is installed.
work=$(mktemp -d)
ln -s "$NODE_PATH" "$work/node_modules"
cd "$work" || exit 1
mkdir migrations
cat > schema.prisma <<END
datasource db {
  provider = "postgresql"
  url = env("DATABASE_URL")
  schemas = ["app", "public"]
}
END
cat > prisma.config.ts <<END
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
// The engine in WebAssembly wants a "char" as a character and a name as a text; the adapter knows neither.
let characters = []
const described = pg.Query.prototype.handleRowDescription
pg.Query.prototype.handleRowDescription = function (message) {
  characters = message.fields.map((field) => field.dataTypeID === 18)
  for (const field of message.fields) if ([18, 19].includes(field.dataTypeID)) field.dataTypeID = 25
  return described.call(this, message)
}
const typed = (adapter) => {
  const { queryRaw } = adapter
  adapter.queryRaw = async (query) => {
    const answer = await queryRaw.call(adapter, query)
    return { ...answer, columnTypes: answer.columnTypes.map((type, i) => characters[i] ? 6 : type) }
  }
  return adapter
}
export default { schema: './schema.prisma', engine: 'js', experimental: { adapter: true }, adapter: async () => {
  const factory = new PrismaPg({ connectionString: process.env.DATABASE_URL })
  const { connect } = factory
  factory.connect = async () => typed(await connect.call(factory))
  return factory
} }
END
# The native engine, which would be downloaded, is not used.
export PRISMA_QUERY_ENGINE_LIBRARY=/bin/true PRISMA_SCHEMA_ENGINE_BINARY=/bin/true
export DATABASE_URL="postgresql://$PGUSER:$PGPASSWORD@$PGHOST:$PGPORT/$PGDATABASE?schema=app" CHECKPOINT_DISABLE=1 PRISMA_HIDE_UPDATE_MESSAGE=1
node node_modules/prisma/build/index.js db pull
node node_modules/prisma/build/index.js migrate status
node node_modules/prisma/build/index.js db push
rm -rf "$work"
