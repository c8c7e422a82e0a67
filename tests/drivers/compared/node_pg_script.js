// node-pg beyond the drivers' script: types, streams of rows by cursors, COPY, notifications, definitions behind prepared statements.
const { show, step, wrong, host, port, user, password, database, ssl, end } = require('./common');
const { Client, Pool, types } = require('pg');
const Cursor = require('pg-cursor');
const { from, to } = require('pg-copy-streams');
const { pipeline } = require('stream/promises');
const { Readable } = require('stream');
const options = { host, port, user, password, database, ssl, options: '-c TimeZone=UTC' };
const connected = async (f) => { const c = new Client(options); await c.connect(); try { return await f(c); } finally { await c.end().catch(() => {}); } };
(async () => {
  await step('types', () => connected(async (c) => {
    for (const [ty, value] of [['bool', true], ['int2', -5], ['int4', 2147483647], ['int8', '9007199254740993'], ['float8', 0.1], ['numeric', '12345678901234567890.1200'], ['text', 'größe \'x\' "y" \\'], ['char(5)', 'ab'], ['bytea', Buffer.from([0, 255, 16])],
      ['date', '2024-02-29'], ['time', '23:59:59.999'], ['timestamp', '2024-02-29 01:02:03.004'], ['timestamptz', new Date('1999-12-31T23:59:59.5Z')], ['interval', '1 year 2 mons 3 days 04:05:06.7'], ['uuid', '6ecd8c99-4036-403d-bf84-cf8400f67836'],
      ['json', { a: [1, null, 'x'] }], ['jsonb', { b: 1.5, a: 'x' }], ['int4[]', [1, null, 3]], ['int4[]', [[1, 2], [3, 4]]], ['text[]', ['a', 'b"c,d', '', null]], ['timestamptz[]', [new Date(0)]], ['jsonb[]', [{ a: 1 }]], ['bool[]', []], ['oid', 5], ['name', 'n']]) {
      for (const query of [{}, { rowMode: 'array' }, { name: `t_${ty}` }, { binary: ['int4', 'text', 'bool', 'float8'].includes(ty) }]) {
        const r = await c.query({ text: `SELECT $1::${ty} AS v, ($1::${ty})::text AS t, NULL::${ty} AS n`, values: [value], ...query });
        show(ty, [r.rows, r.fields.map((f) => [f.name, f.dataTypeID, f.dataTypeSize, f.dataTypeModifier, f.format, f.columnID])]);
      }
    }
  }));
  await step('several statements, and their results', () => connected(async (c) => {
    const r = await c.query('SELECT 1 AS a; CREATE TEMP TABLE np (a int); INSERT INTO np VALUES (1), (2); SELECT * FROM np; DROP TABLE np');
    show('results', r.map((x) => [x.command, x.rowCount, x.rows]));
    show('empty', (await c.query('')).rows);
    show('none', (await c.query('SELECT')).rowCount);
  }));
  await step('a cursor', () => connected(async (c) => {
    const cursor = c.query(new Cursor('SELECT g, \'row \' || g AS s FROM generate_series(1, $1) g', [1000]));
    let n = 0, rows;
    while ((rows = await cursor.read(130)).length) n += rows.length;
    show('rows', n);
    const half = c.query(new Cursor('SELECT g FROM generate_series(1, 1000000) g'));
    show('some', (await half.read(3)).map((r) => r.g));
    await half.close();
    show('goes on', (await c.query('SELECT 1 AS one')).rows);
  }));
  await step('COPY', () => connected(async (c) => {
    await c.query('DROP TABLE IF EXISTS np_c; CREATE TABLE np_c (a int PRIMARY KEY, b text)');
    const load = c.query(from('COPY np_c FROM STDIN WITH (FORMAT csv)'));
    await pipeline(Readable.from((function* () { for (let i = 0; i < 5000; i++) yield `${i},"x ""${i}"""\n`; })()), load);
    show('in', load.rowCount);
    const out = c.query(to('COPY (SELECT * FROM np_c WHERE a < 3 ORDER BY a) TO STDOUT'));
    const chunks = [];
    for await (const chunk of out) chunks.push(chunk);
    show('out', Buffer.concat(chunks).toString());
    await wrong(pipeline(Readable.from(['1\n']), c.query(from('COPY np_c FROM STDIN'))));
    show('goes on', (await c.query('SELECT count(*) FROM np_c')).rows);
  }));
  await step('prepared statements and definitions', () => connected(async (c) => {
    await c.query('DROP TABLE IF EXISTS np_d; CREATE TABLE np_d (a int, b text); INSERT INTO np_d VALUES (1, \'x\')');
    const q = { name: 'q', text: 'SELECT * FROM np_d WHERE a = $1', values: [1] };
    for (let i = 0; i < 7; i++) await c.query(q);
    for (const ddl of ['CREATE INDEX ON np_d (a)', 'ALTER TABLE np_d ADD c int DEFAULT 5', 'ALTER TABLE np_d DROP c', 'ALTER TABLE np_d ALTER a TYPE bigint', 'DROP TABLE np_d']) {
      await c.query(ddl);
      show('after', ddl);
      await wrong(c.query(q).then((r) => r.rows));
    }
  }));
  await step('notifications, notices, the end', () => connected(async (c) => {
    const heard = new Promise((done) => c.once('notification', (n) => done([n.channel, n.payload])));
    const noticed = new Promise((done) => c.once('notice', (n) => done([n.severity, n.code, n.message])));
    await c.query('LISTEN np');
    await connected((other) => other.query('SELECT pg_notify(\'np\', $1)', ['word']));
    show('heard', await heard);
    await c.query('DROP TABLE IF EXISTS np_nowhere');
    show('noticed', await noticed);
    const ended = new Promise((done) => c.on('error', (e) => done([e.code, e.message])));
    const pid = (await c.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    await connected((other) => other.query('SELECT pg_terminate_backend($1)', [pid]));
    show('ended', await ended);
  }));
  await step('a pool', async () => {
    const pool = new Pool({ ...options, max: 4 });
    show('sum', (await Promise.all([...Array(60).keys()].map((i) => pool.query('SELECT $1::int * 2 AS v', [i])))).reduce((s, r) => s + r.rows[0].v, 0));
    const c = await pool.connect();
    await c.query('BEGIN');
    await wrong(c.query('SELECT 1 / 0'));
    await wrong(c.query('SELECT 1'));
    await c.query('ROLLBACK');
    c.release();
    await pool.end();
  });
  end();
})();
