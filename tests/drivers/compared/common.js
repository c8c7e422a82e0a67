// What the compared scripts in JavaScript share: steps that print what was seen, and where to connect.
const util = require('util');
let failed = false;
const show = (what, value) => console.log(`${what}: ${util.inspect(value, { depth: 9, breakLength: 240, compact: 9, maxArrayLength: 300, maxStringLength: 400, sorted: false })}`);
async function step(name, f) {
  console.log(`== ${name}`);
  try { await f(); } catch (e) {
    failed = true;
    console.log(`FAIL ${name}: ${e.stack}${e.cause ? `\n  because of ${e.cause.stack}` : ''}`);
  }
}
// What is told of an error: its own fields, or those of what caused it. Hints are left out: Stoa suggests tables as well.
function told(e) {
  const of = e.cause ?? e.original ?? e.driverError ?? e;
  return [e.constructor.name, of.code, of.severity, of.message.replace(/^.* - /s, ''), of.detail, of.position, of.schema, of.table, of.column, of.constraint];
}
async function wrong(promise) {
  try { show('no error', await promise); } catch (e) { show('error', told(e)); }
}
const { PGHOST: host, PGPORT: port, PGUSER: user, PGPASSWORD: password, PGDATABASE: database, PGSSLMODE: mode } = process.env;
const ssl = mode === 'disable' ? false : { rejectUnauthorized: true };
module.exports = { show, step, wrong, told, host, port: Number(port), user, password, database, ssl, end: () => process.exit(failed ? 1 : 0) };
