// Drizzle: drizzle-kit's generate, migrate, push and pull, and drizzle-orm's queries. A push of what is there changes nothing.
const fs = require('fs'), os = require('os'), path = require('path'), { spawnSync } = require('child_process');
const { show, step, wrong, host, port, user, password, database, ssl, end } = require('./common');
const modules = process.env.NODE_PATH;
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'drizzle-'));
fs.symlinkSync(modules, path.join(work, 'node_modules'));
const { Pool } = require('pg');
const { drizzle } = require('drizzle-orm/node-postgres');
const { migrate } = require('drizzle-orm/node-postgres/migrator');
const orm = require('drizzle-orm');
const { eq, sql, and, desc, inArray, count, sum, like, relations, exists, lt } = orm;

const first = `
const { pgTable, pgSchema, serial, integer, bigserial, text, varchar, numeric, boolean, timestamp, date, jsonb, uuid, index, uniqueIndex, unique, check, primaryKey, foreignKey, doublePrecision, smallint, char, time, pgView, pgSequence } = require('drizzle-orm/pg-core');
const { sql, eq } = require('drizzle-orm');
const users = pgTable('dz_users', { id: serial('id').primaryKey(), name: varchar('name', { length: 80 }).notNull(), mail: text('mail').unique(), age: smallint('age').default(18), active: boolean('active').notNull().default(true),
  made: timestamp('made', { withTimezone: true }).notNull().defaultNow(), extra: jsonb('extra').default({}), tags: text('tags').array().notNull().default(sql\`'{}'::text[]\`), code: char('code', { length: 4 }), born: date('born'), wakes: time('wakes') },
  (t) => [index('dz_users_name').on(t.name.desc(), t.age), uniqueIndex('dz_users_lower').on(sql\`lower(\${t.name})\`), check('dz_age', sql\`\${t.age} >= 0\`), index('dz_active').on(t.made).where(sql\`active\`)]);
const items = pgTable('dz_items', { id: integer('id').primaryKey().generatedAlwaysAsIdentity({ startWith: 100 }), owner: integer('owner').notNull().references(() => users.id, { onDelete: 'cascade' }), price: numeric('price', { precision: 10, scale: 2 }).notNull().default('0'),
  twice: numeric('twice').generatedAlwaysAs(sql\`price * 2\`), key: uuid('key').defaultRandom(), weight: doublePrecision('weight') }, (t) => [unique('dz_item_key').on(t.owner, t.key)]);
const lines = pgTable('dz_lines', { item: integer('item').notNull(), line: integer('line').notNull(), note: text('note') }, (t) => [primaryKey({ columns: [t.item, t.line] }), foreignKey({ columns: [t.item], foreignColumns: [items.id], name: 'dz_line_item' }).onUpdate('cascade')]);
const active = pgView('dz_view').as((qb) => qb.select({ id: users.id, mail: users.mail }).from(users).where(eq(users.active, true)));
const numbers = pgSequence('dz_numbers', { startWith: 5, increment: 5, maxValue: 1000, cycle: true });
module.exports = { users, items, lines, active, numbers };
`;
const second = first.replace("length: 80 }).notNull()", "length: 120 }).notNull().default('nobody')").replace("age: smallint('age').default(18)", "age: integer('age'), phone: text('phone')")
  .replace("unique('dz_item_key').on(t.owner, t.key)", "index('dz_item_owner').on(t.owner)").replace("check('dz_age', sql\`\${t.age} >= 0\`)", "check('dz_age', sql\`\${t.age} >= 0 and \${t.age} < 200\`)").replace("onDelete: 'cascade'", "onDelete: 'restrict'")
  .replace("const active", "const notes = pgTable('dz_notes', { id: bigserial('id', { mode: 'number' }).primaryKey(), item: integer('item').references(() => items.id) });\nconst active").replace('lines, active', 'lines, notes, active');
const schemaFile = path.join(work, 'schema.js');
// The program verifies nothing: it takes no authority.
const kitSsl = ssl ? { ca: fs.readFileSync(process.env.PGSSLROOTCERT, 'utf8') } : false;
fs.writeFileSync(path.join(work, 'drizzle.config.js'), `module.exports = { dialect: 'postgresql', schema: './schema.js', out: './out', schemaFilter: ['public'], tablesFilter: ['dz_*'], dbCredentials: ${JSON.stringify({ host, port, user, password, database, ssl: kitSsl })} };`);
function kit(...args) {
  const done = spawnSync(process.execPath, [path.join(modules, 'drizzle-kit/bin.cjs'), ...args], { cwd: work, encoding: 'utf8', timeout: 60000, env: { ...process.env, NO_COLOR: '1', CI: '1' } });
  const text = (done.stdout + done.stderr).replaceAll(work, 'WORK').replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').split('\n').map((l) => l.replace(/^.*\r/, '').replace(/\(\d+(\.\d+)? ?m?s\)/, '').trim()).filter((l) => l && !/^\[|^(length|file|line|routine|at |"?at )|update available/.test(l));
  show(`drizzle-kit ${args[0]}`, [done.status, text]);
}
const pool = new Pool({ host, port, user, password, database, ssl, options: '-c TimeZone=UTC' });
pool.on('error', () => {});
async function clean() {
  await pool.query('DROP VIEW IF EXISTS dz_view; DROP TABLE IF EXISTS dz_notes, dz_lines, dz_items, dz_users CASCADE; DROP SEQUENCE IF EXISTS dz_numbers; DROP SCHEMA IF EXISTS drizzle CASCADE');
}
async function defined() {
  for (const text of [
    "SELECT table_name, column_name, data_type, column_default, is_nullable, is_identity, generation_expression FROM information_schema.columns WHERE table_name LIKE 'dz%' ORDER BY 1, ordinal_position",
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conname LIKE 'dz%' ORDER BY 1, 2", "SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'dz%' ORDER BY indexname"]) {
    for (const row of (await pool.query({ text, rowMode: 'array' })).rows) show('  defined', row);
  }
}
(async () => {
  await step('push', async () => {
    await clean();
    fs.writeFileSync(schemaFile, first);
    kit('push', '--force');
    await defined();
    kit('push', '--force', '--verbose');
    fs.writeFileSync(schemaFile, second);
    kit('push', '--force', '--verbose');
    kit('push', '--force', '--verbose');
    await defined();
    kit('pull');
    const pulled = fs.readdirSync(path.join(work, 'out')).filter((f) => /schema\.ts|relations\.ts|\.sql$/.test(f)).sort();
    // Tables come in the order of no ORDER BY, and the operator class shown for an index is any of its columns'.
    for (const f of pulled) for (const line of fs.readFileSync(path.join(work, 'out', f), 'utf8').split('\n').sort()) show('  pulled', line.trim().replace(/^import \{.*\} from/, 'import from').replace(/\b(\w+4|text)_ops\b/g, 'OPS'));
    fs.rmSync(path.join(work, 'out'), { recursive: true });
  });
  await step('generate and migrate', async () => {
    await clean();
    fs.writeFileSync(schemaFile, first);
    kit('generate', '--name', 'first');
    kit('migrate');
    fs.writeFileSync(schemaFile, second);
    kit('generate', '--name', 'second');
    kit('migrate');
    kit('migrate');
    kit('check');
    kit('push', '--force', '--verbose');
    await defined();
    await migrate(drizzle(pool), { migrationsFolder: path.join(work, 'out') });
    show('migrations', (await pool.query('SELECT id FROM drizzle.__drizzle_migrations ORDER BY id')).rows);
  });
  await step('queries', async () => {
    const schema = require(schemaFile);
    const { users, items, lines, active } = schema;
    const more = { usersItems: relations(users, ({ many }) => ({ items: many(items) })), itemsOwner: relations(items, ({ one, many }) => ({ owned: one(users, { fields: [items.owner], references: [users.id] }), lines: many(lines) })), lineItem: relations(lines, ({ one }) => ({ of: one(items, { fields: [lines.item], references: [items.id] }) })) };
    const db = drizzle(pool, { schema: { ...schema, ...more } });
    const made = await db.insert(users).values([...Array(30).keys()].map((i) => ({ name: `n${i}`, mail: i % 3 ? `m${i}@x` : null, age: i, extra: { i, list: [1, { a: null }] }, tags: ['t', String(i)], code: 'ab', born: '2001-02-03', wakes: '06:07:08' }))).returning({ id: users.id, name: users.name, code: users.code });
    show('made', [made.length, made[29]]);
    const put = await db.insert(items).values(made.slice(0, 10).flatMap((u) => [{ owner: u.id, price: '1.50' }, { owner: u.id, price: '2.25', weight: 0.1 }])).returning();
    show('put', put.map(({ key, ...rest }) => rest).slice(0, 3));
    await db.insert(lines).values(put.map((p, i) => ({ item: p.id, line: i, note: `note ${i}` })));
    show('upsert', await db.insert(users).values({ name: 'again', mail: 'm1@x' }).onConflictDoUpdate({ target: users.mail, set: { name: sql`${users.name} || '!'`, age: 99 } }).returning({ name: users.name, age: users.age, tags: users.tags }));
    show('ignored', (await db.insert(users).values({ name: 'x', mail: 'm1@x' }).onConflictDoNothing()).rowCount);
    show('nested', (await db.query.users.findMany({ with: { items: { columns: { key: false }, with: { lines: true }, orderBy: (i, { desc }) => [desc(i.price)] } }, columns: { id: true, name: true, extra: true, born: true }, orderBy: (u, { asc }) => [asc(u.id)], limit: 3 })));
    show('one', await db.query.items.findFirst({ with: { owned: { columns: { name: true, tags: true } } }, columns: { price: true, twice: true }, orderBy: (i) => [i.id] }));
    show('joined', await db.select({ name: users.name, n: count(items.id), s: sum(items.price) }).from(users).leftJoin(items, eq(items.owner, users.id)).groupBy(users.id).having(sql`count(*) > 1`).orderBy(desc(users.id)).limit(2));
    show('view', (await db.select().from(active).where(like(active.mail, 'm1%'))).length);
    const big = db.$with('big').as(db.select({ owner: items.owner, s: sum(items.price).as('s') }).from(items).groupBy(items.owner));
    show('with', await db.with(big).select().from(big).where(lt(big.owner, 3)).orderBy(big.owner));
    show('json', await db.select({ v: sql`${users.extra}->'list'->1` }).from(users).where(and(inArray(users.id, [1, 2]), exists(db.select().from(items).where(eq(items.owner, users.id))))));
    const p = db.select({ name: users.name }).from(users).where(eq(users.id, sql.placeholder('id'))).prepare('by_id');
    for (let i = 1; i < 9; i++) await p.execute({ id: i });
    show('prepared', await p.execute({ id: 5 }));
    await wrong(db.insert(users).values({ name: 'N5' }));
    await wrong(db.insert(users).values({ name: 'y', age: -1, made: new Date(0) }));
    await wrong(db.insert(items).values({ owner: 99999 }));
    await wrong(db.transaction(async (tx) => {
      await tx.delete(lines);
      await tx.transaction(async (inner) => { await inner.delete(items); inner.rollback(); }).catch((e) => show('inner', e.message));
      show('inside', await tx.select({ n: count() }).from(items));
      throw new Error('outer');
    }, { isolationLevel: 'serializable' }));
    show('left', await db.select({ n: count() }).from(lines));
    show('changed', [(await db.update(users).set({ age: sql`${users.age} + 1` }).where(lt(users.id, 5))).rowCount, (await db.delete(users).where(eq(users.name, 'n20')).returning({ id: users.id, age: users.age }))]);
    show('union', await db.select({ v: users.name }).from(users).where(lt(users.id, 3)).union(db.select({ v: lines.note }).from(lines).where(lt(lines.line, 2))).orderBy(sql`1`));
    await clean();
  });
  await pool.end();
  fs.rmSync(work, { recursive: true });
  end();
})();
