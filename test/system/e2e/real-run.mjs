// The main job on real input, as an operator would do it: import, preview, update over HTTP through both APIs, restart,
// export, compare. Run `npm run build` first; then `node test/system/e2e/real-run.mjs [KEYS] [UPDATES_PER_FACE]`.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';

const [keys = 10_000, updates = 1_000] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'keyfront-run-'));
const env = { ...process.env, KEYFRONT_DATA: join(folder, 'data'), PORT: '0', LOG_LEVEL: 'warn' };
const main = new URL('../../../dist/main.js', import.meta.url).pathname;
const keyfront = (...args) =>
  execFileSync(process.execPath, [main, ...args], {
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function fail(what) {
  throw new Error(`FAILED: ${what}`);
}

const used = (index) => index % 9_000;
const lines = Array.from({ length: keys }, (_, index) =>
  JSON.stringify({
    key_id: `org${index % 50}-key-${index}`,
    org_id: `org${index % 50}`,
    alias: `Key ${index}`,
    rate: 100,
    per: 60,
    quota_max: 10_000,
    quota_remaining: 10_000 - used(index),
    quota_renewal_rate: 86_400,
    tags: ['imported', `batch-${index % 10}`],
    access_rights: { invoices: { api_id: 'invoices', versions: ['Default'], limit: { rate: 10, per: 1 } } },
  }),
);
writeFileSync(join(folder, 'keys.jsonl'), `${lines.join('\n')}\n`);
const importStart = performance.now();
keyfront('keys', 'import', join(folder, 'keys.jsonl'));
const importSeconds = (performance.now() - importStart) / 1000;
console.log(
  `imported ${keys} keys in ${importSeconds.toFixed(1)} s (${Math.round(keys / importSeconds)} a second, start of the process included)`,
);
const service = keyfront('credentials', 'issue', '--kind', 'service', '--label', 'real run').trim();
const management = keyfront('credentials', 'issue', '--kind', 'management', '--label', 'real run').trim();

async function start() {
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve) => {
    let out = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const found = /listens on (\S+)/.exec(out);
      if (found) resolve(found[1]);
    });
  });
  const stop = () =>
    new Promise((resolve) => {
      child.once('exit', resolve);
      child.kill('SIGTERM');
    });
  return { url, stop };
}

let server = await start();
const post = async (path, body, headers, method = 'POST') => {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
};
const preview = await post(
  '/api/keys/preview',
  { alias: 'One', org_id: 'org1', rate: 5, per: 1 },
  { authorization: `Bearer ${management}` },
);
if (preview.status !== 200 || preview.body.data.alias !== 'One') fail('the preview');

const mutation = `mutation ($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean) {
  updateOrgKey(keyID: $keyID, input: $input, resetQuota: $resetQuota) { action status version } }`;
const isReset = (index) => index % 2 === 0;
async function updateOne(index) {
  const keyID = `org${index % 50}-key-${index}`;
  if (index < updates) {
    const input = { alias: `Updated ${index}`, quotaMax: 20_000, quotaRenewalRate: 86_400, tags: ['updated'] };
    const { body } = await post(
      '/graphql',
      { query: mutation, variables: { keyID, input, resetQuota: isReset(index) } },
      { 'x-svc-authorization': service },
    );
    if (body.data?.updateOrgKey?.status !== 'ok') fail(`GraphQL update ${index}: ${JSON.stringify(body.errors)}`);
  } else {
    const input = { alias: `Updated ${index}`, quota_max: 20_000, quota_renewal_rate: 86_400, tags: ['updated'] };
    const query = isReset(index) ? '?reset_quota=1' : '';
    const { status, body } = await post(
      `/svc/org/keys/${keyID}${query}`,
      input,
      { 'x-svc-authorization': service },
      'PUT',
    );
    if (status !== 200 || body.action !== 'modified') fail(`REST update ${index}: ${JSON.stringify(body)}`);
  }
}
const updateStart = performance.now();
for (let index = 0; index < 2 * updates; index += 16) {
  await Promise.all(
    Array.from({ length: Math.min(16, 2 * updates - index) }, (_, offset) => updateOne(index + offset)),
  );
}
const updateSeconds = (performance.now() - updateStart) / 1000;
console.log(
  `updated ${updates} keys through GraphQL and ${updates} through REST in ${updateSeconds.toFixed(1)} s, 16 at a time`,
);

await server.stop();
server = await start();
if ((await fetch(`${server.url}/ready`)).status !== 200) fail('the restart');
await server.stop();

const exported = new Map(
  keyfront('keys', 'export')
    .trim()
    .split('\n')
    .map((line) => [JSON.parse(line).key_id, JSON.parse(line)]),
);
const database = new Database(join(folder, 'data', 'keyfront.db'), { readonly: true });
const audits = new Map(
  database
    .prepare(
      "SELECT lower(hex(key_hash)) AS key_hash, count(*) AS rows, max(quota_used_before_reset) AS dropped FROM history WHERE operation = 'update' GROUP BY key_hash",
    )
    .all()
    .map((row) => [row.key_hash, row]),
);
const { createHash } = await import('node:crypto');
const counts = { present: 0, audited: 0, reset: 0, kept: 0, untouched: 0 };
for (let index = 0; index < keys; index += 1) {
  const keyID = `org${index % 50}-key-${index}`;
  const key = exported.get(keyID) ?? fail(`${keyID} is gone`);
  const audit = audits.get(createHash('sha256').update(keyID).digest('hex'));
  if (index >= 2 * updates) {
    if (key.alias !== `Key ${index}` || audit) fail(`${keyID} was touched`);
    counts.untouched += 1;
    continue;
  }
  if (key.alias !== `Updated ${index}` || key.quota_max !== 20_000 || key.rate !== undefined)
    fail(`${keyID} is not as it was updated`);
  counts.present += 1;
  if (audit?.rows !== 1) fail(`${keyID} has no audit row`);
  counts.audited += 1;
  if (isReset(index)) {
    if (key.quota_remaining !== 20_000 || audit.dropped !== used(index)) fail(`${keyID} was not reset`);
    counts.reset += 1;
  } else {
    if (key.quota_remaining !== 20_000 - used(index) || audit.dropped !== null) fail(`${keyID} lost its count`);
    counts.kept += 1;
  }
}
console.log(`after a restart, exported ${exported.size} keys:`, counts);
rmSync(folder, { recursive: true });
