// The drivers' script with node-pg.
const fs = require('fs'), assert = require('assert');
const { Client, types } = require('pg');
const [port, typesFile] = [Number(process.argv[2]), process.argv[3]];
let failed = false;
const connect = async () => {
  const c = new Client({ host: '127.0.0.1', port, user: 'stoa', database: 'stoa', options: '-c TimeZone=UTC' });
  await c.connect();
  return c;
};
async function check(name, f) {
  const c = await connect();
  try { await f(c); console.log(`ok ${name}`); }
  catch (e) { failed = true; console.log(`FAIL ${name}: ${e.message}`); }
  finally { await c.end().catch(() => {}); }
}
async function fails(code, promise) {
  try { await promise; } catch (e) { assert.strictEqual(e.code, code, `${e.code} ${e.message}`); return e; }
  throw new Error(`no error ${code}`);
}
// Types whose values node's own types do not keep: sent back as the text that came.
const asText = { getTypeParser: (oid, format) => [700, 701, 1082, 1083, 1114, 1184, 1186, 114, 3802, 1005, 1007, 1016, 1009, 1231, 1000,
  1022, 2951, 1185, 1182].includes(oid) ? (v) => v : types.getTypeParser(oid, format) };
(async () => {
  await check('types', async (c) => {
    for (const line of fs.readFileSync(typesFile, 'utf8').split('\n').filter((l) => l)) {
      const at = line.indexOf('\t'), ty = line.slice(0, at), text = line.slice(at + 1);
      const native = (await c.query(`SELECT $1::text::${ty} AS v`, [text])).rows[0].v;
      const value = (await c.query({ text: `SELECT $1::text::${ty} AS v`, values: [text], types: asText })).rows[0].v;
      const got = (await c.query({ text: `SELECT ($1::${ty})::text AS t, $2::${ty} AS n`, values: [value, null] })).rows[0];
      assert.deepStrictEqual([got.t, got.n], [ty === 'char(5)' ? text.trimEnd() : text, null], ty);
      if (ty === 'jsonb') assert.deepStrictEqual(native, { a: [1, null, 'x'], bb: 1.5 });
      if (ty === 'int4[]') assert.deepStrictEqual(native, [1, null, 3]);
      if (ty === 'timestamptz') assert.strictEqual(native.toISOString(), '1999-12-31T23:59:59.500Z');
      if (ty === 'bytea') assert.deepStrictEqual([...native], [0, 255, 16]);
    }
  });
  await check('batch', async (c) => {
    await c.query('DROP TABLE IF EXISTS node_t; CREATE TABLE node_t (id int PRIMARY KEY, name text, n numeric)');
    await Promise.all([...Array(1000).keys()].map((i) => c.query('INSERT INTO node_t VALUES ($1, $2, $3)', [i, i % 2 ? null : `n${i}`, i])));
    const { rows } = await c.query({ text: 'SELECT count(*), count(name), sum(n) FROM node_t', rowMode: 'array' });
    assert.deepStrictEqual(rows, [['1000', '500', '499500']]);
    const limited = await c.query('SELECT id FROM node_t ORDER BY id LIMIT $1 OFFSET $2', [2, 5]);
    assert.deepStrictEqual(limited.rows, [{ id: 5 }, { id: 6 }]);
  });
  await check('errors', async (c) => {
    const e = await fails('23505', c.query('INSERT INTO node_t VALUES ($1)', [1]));
    assert.strictEqual(e.constraint, 'node_t_pkey');
    await fails('22012', c.query('SELECT 1 / $1::int', [0]));
    await fails('42P01', c.query('SELECT * FROM nowhere'));
    await fails('42601', c.query('SELEC 1'));
    await fails('23502', c.query('INSERT INTO node_t VALUES (NULL)'));
    await c.query('BEGIN');
    await c.query('INSERT INTO node_t VALUES (-1)');
    await c.query('SAVEPOINT s');
    await fails('22012', c.query('SELECT 1 / 0'));
    await fails('25P02', c.query('SELECT 1'));
    await c.query('ROLLBACK TO s');
    await c.query('COMMIT');
    assert.strictEqual((await c.query('SELECT id FROM node_t WHERE id < 0')).rows.length, 1);
  });
  await check('prepared', async (c) => {
    for (let i = 0; i < 20; i++) {
      const { rows } = await c.query({ name: 'p', text: 'SELECT n::int + $1 AS v FROM node_t WHERE id = $2', values: [i, 7] });
      assert.strictEqual(rows[0].v, 7 + i);
    }
  });
  await check('cancel', async (c) => {
    const pid = (await c.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const other = await connect();
    const cancelled = new Promise((done) => setTimeout(done, 300)).then(() => other.query('SELECT pg_cancel_backend($1)', [pid]));
    await fails('57014', c.query('SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b'));
    await cancelled;
    await other.end();
    assert.strictEqual((await c.query('SELECT 1 AS one')).rows[0].one, 1);
  });
  process.exit(failed ? 1 : 0);
})();
