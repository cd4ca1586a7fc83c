// The baseline: Node's HTTP server in front of the core, without GraphQL and without credentials. It accepts the
// requests of the other servers and returns the same responses, those of GraphQL and those of REST.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { callerOf } from '../../../build/graphql/context.js';
import { parseJSON, stringifyJSON } from '../../../build/lib/json.js';
import { parseDefinition } from '../../../build/keys/definition/parse.js';
import { withSecrets } from '../../../build/keys/definition/normalize.js';
import { viewOf, viewOfStored } from '../../../build/keys/definition/view.js';
import { definitionFromWire, definitionToWire } from '../../../build/wire/field-names.js';
import { announce, auth, keys } from './core.mjs';

const { BENCH_JSON, BENCH_WORKLOAD } = process.env;
/** With `BENCH_JSON=exact`, Keyfront's JSON functions, which keep 64-bit integers and reject duplicate members. */
const [read, write] = BENCH_JSON === 'exact' ? [parseJSON, stringifyJSON] : [JSON.parse, JSON.stringify];
if (BENCH_JSON !== 'exact' && BENCH_WORKLOAD?.endsWith('preview')) {
  // The fastest serialization of bigints. Only for previews, which do not use the store.
  Reflect.set(BigInt.prototype, 'toJSON', toNumber);
}

/** @this {bigint} */
function toNumber() {
  return Number(this);
}

async function preview(/** @type {any} */ { input }) {
  const read = parseDefinition('preview', input);
  const { keyID, keyHash, definition, secrets, warnings } = await keys.preview(
    callerOf({ auth, requestID: randomUUID() }, 'management'),
    read,
  );
  const data = viewOf(definition, new Set(Object.keys(secrets)));
  return { previewKey: { apiModel: {}, data, keyHash, keyID, warnings } };
}

async function update(/** @type {any} */ { keyID, input, reset }) {
  const read = parseDefinition('update', input);
  const { key } = await keys.updateOrgKey(callerOf({ auth, requestID: randomUUID() }, 'service'), {
    keyID,
    input: read,
    resetQuota: reset,
  });
  const { quotaRemaining, quotaRenews, lastUpdated } = viewOfStored(key);
  const definition = { quotaRemaining: Number(quotaRemaining), quotaRenews: Number(quotaRenews), lastUpdated };
  const { keyHash, version } = key;
  return { updateOrgKey: { action: 'modified', key: keyID, keyHash, status: 'ok', version, orgKey: { definition } } };
}

async function restPreview(/** @type {string} */ body) {
  const input = parseDefinition('preview', definitionFromWire(read(body)));
  const caller = callerOf({ auth, requestID: randomUUID() }, 'management');
  const { keyID, keyHash, definition, secrets } = await keys.preview(caller, input);
  const data = definitionToWire(withSecrets(definition, { ...secrets, password: undefined }));
  return { api_model: {}, data, key_hash: keyHash, key_id: keyID };
}

async function restUpdate(/** @type {string} */ keyID, /** @type {string} */ body) {
  const input = parseDefinition('update', definitionFromWire(read(body)));
  const caller = callerOf({ auth, requestID: randomUUID() }, 'service');
  const { key } = await keys.updateOrgKey(caller, { keyID, input, resetQuota: true });
  return { action: 'modified', key: keyID, key_hash: key.keyHash, status: 'ok' };
}

const keyPath = /^\/svc\/org\/keys\/([^?]+)\?reset_quota=1$/;

async function responseTo(/** @type {string} */ url, /** @type {string} */ body) {
  try {
    if (url === '/api/keys/preview') return write(await restPreview(body));
    const keyID = keyPath.exec(url)?.[1];
    if (keyID !== undefined) return write(await restUpdate(keyID, body));
    const { variables } = read(body);
    return write({ data: await (variables.keyID === undefined ? preview(variables) : update(variables)) });
  } catch (error) {
    return JSON.stringify({ errors: [{ message: String(error) }] });
  }
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const text = await responseTo(request.url ?? '', Buffer.concat(chunks).toString('utf8'));
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    response.writeHead(200, headers).end(text);
  });
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${server.address().port}/graphql`));
