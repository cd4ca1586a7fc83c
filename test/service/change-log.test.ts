import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issueCredential, maxLabelCharacters } from '../../src/credentials/issue.js';
import { createToken } from '../../src/credentials/token.js';
import { sendTo, sendToFreshKey } from './auth/endpoint-request.js';
import { endpoints, type Endpoint } from './auth/matrix-rows.js';
import { startApp, startOwnApp, type TestApp } from '../support/app.js';
import { sendRequest } from '../support/responses.js';
import { hashOf } from '../support/factories.js';

interface Line {
  readonly event?: string;
  readonly level: string;
  readonly operation: string;
  readonly verdict: string;
  readonly code?: string;
  readonly actor?: { readonly id: string; readonly label: string; readonly org?: string };
  readonly org?: string;
  readonly keyHash?: string;
  readonly version?: number;
  readonly requestID: string;
}

let t: TestApp;
const start = async () => {
  t = await startApp();
  await t.importKeys({ key_id: 'k1', org_id: 'acme' });
};
const stop = async () => t.close();

/** The lines of the log so far, each of which must be JSON. */
const lines = () => t.logLines('{') as unknown as Line[];
const changes = () => lines().filter(({ event }) => event === 'change');

/** The log lines of the changes that the work attempts. */
async function during(work: () => Promise<unknown>): Promise<Line[]> {
  const before = changes().length;
  await work();
  return changes().slice(before);
}

const service = () => ({ 'x-svc-authorization': t.service });
const headersOf = (headers: Record<string, string>) => Object.entries(headers);
const operationOf = ({ name }: Endpoint) => name.split(' ')[1];
// An acknowledgement is a delivery in the log: see test/service/keys/gateways.test.ts.
const writing = endpoints.filter(({ name, isWrite }) => isWrite && name !== 'GraphQL acknowledgeChanges');
/** Its keys have generated identifiers; once a request is valid, the log names the command of the domain. */
const isGenerating = (endpoint: Endpoint) => operationOf(endpoint) === 'generateOrgKey';
/** Proposals are changed, and the key is not. */
const isOfProposals = (endpoint: Endpoint) => /^(propose|approve|reject|withdraw)Key/.test(operationOf(endpoint) ?? '');
/** They change no key. */
const isOfGateways = (endpoint: Endpoint) => operationOf(endpoint) === 'forgetGateway';
/** See test/service/auth/credential-administration.test.ts. */
const isOfCredentials = (endpoint: Endpoint) => operationOf(endpoint)?.endsWith('KeyCredential') === true;
/** See test/service/webhooks/administration.test.ts. */
const isOfWebhooks = (endpoint: Endpoint) => operationOf(endpoint)?.includes('KeyWebhook') === true;
const isOfPolicies = (endpoint: Endpoint) => operationOf(endpoint)?.endsWith('KeyPolicies') === true;
const onGivenKey = writing.filter(
  (endpoint) =>
    !isGenerating(endpoint) &&
    !isOfPolicies(endpoint) &&
    !isOfGateways(endpoint) &&
    !isOfCredentials(endpoint) &&
    !isOfWebhooks(endpoint),
);
const named = (some: readonly Endpoint[]) => some.map((endpoint) => [endpoint.name, endpoint] as const);

describe('the audit log line of an attempt to change a key', () => {
  beforeAll(start);
  afterAll(stop);

  it('is tested for the write operations of both APIs', () => {
    expect(writing.filter(({ isREST }) => isREST).length).toBeGreaterThan(4);
    expect(writing.filter(({ isREST }) => !isREST).length).toBeGreaterThan(6);
    // A change requires another scope than those of reading, and no other operation but the lists of credentials and webhooks does.
    // The removal of policies is sent as a dry run.
    const others = endpoints.filter(
      (endpoint) =>
        !['removeKeyPolicies', 'acknowledgeChanges', 'keyCredentials', 'keyWebhooks', 'keyWebhook'].includes(
          operationOf(endpoint) ?? '',
        ),
    );
    expect(
      others.filter(
        ({ scopes, isWrite }) => scopes.some((scope) => scope !== 'read' && scope !== 'deliver') !== isWrite,
      ),
    ).toEqual([]);
  });

  it('contains the hash of a generated identifier', async () => {
    for (const endpoint of writing.filter(isGenerating)) {
      const response = await sendToFreshKey(t, endpoint, headersOf(service()));
      const made = changes().filter(({ requestID }) => requestID === response.headers.get('x-request-id'));
      const keyHash = response.body['key_hash'];
      expect(made).toMatchObject([
        { operation: 'createOrgKey', verdict: 'accepted', org: 'acme', keyHash, version: 1 },
      ]);
    }
  });

  it.each(named(onGivenKey))(
    'contains principal, operation, key hash and outcome of an accepted %s',
    async (_, endpoint) => {
      const operation = operationOf(endpoint);
      const response = await sendToFreshKey(t, endpoint, headersOf(service()));
      const made = changes().filter(({ requestID }) => requestID === response.headers.get('x-request-id'));
      const credential = (await t.app.services.credentials.list()).find(({ label }) => label === 'test service');
      // What clients of a gateway send may be a secret of another service: not even its hash is logged.
      const isVerification = operation?.startsWith('verifyKey') === true;
      const isTraffic = operation === 'consumeOrgQuota' || isVerification;
      expect(made).toStrictEqual([
        {
          level: isTraffic ? 'debug' : 'info',
          time: expect.any(String),
          event: 'change',
          // A change of many is one of each; a reset of many is an update of each that resets.
          operation: operation === 'resetOrgQuotas' ? 'updateOrgKeys' : operation,
          verdict: 'accepted',
          actor: { id: credential?.id, label: 'test service' },
          ...(!isTraffic && { org: 'acme' }),
          ...(!isVerification && { keyHash: hashOf(response.keyID) }),
          ...(!isTraffic && !isOfProposals(endpoint) && { version: expect.any(Number) }),
          // A fresh key has this version only.
          ...(operation === 'revertOrgKey' && { unchanged: true }),
          requestID: response.headers.get('x-request-id'),
          msg: 'change',
        },
      ]);
      const { store } = t.app.services;
      if (!isTraffic && !isOfProposals(endpoint))
        expect(made[0]?.version).toBe((await store.find(hashOf(response.keyID)))?.version);
    },
  );

  it.each(named(writing.filter(isOfPolicies)))(
    'contains no key for %s, and the version of all policies',
    async (_, endpoint) => {
      const accepted = await during(() => sendToFreshKey(t, endpoint, headersOf(service())));
      const operation = operationOf(endpoint);
      // A dry run changes nothing.
      const line = { operation, verdict: 'accepted', version: expect.any(Number) as number };
      expect(accepted).toMatchObject(operation === 'putKeyPolicies' ? [line] : []);
      const { id, secret } = await t.issue('service', { orgID: 'globex' });
      const rejected = await during(() => sendTo(t, endpoint, headersOf({ 'x-svc-authorization': secret })));
      expect(rejected).toMatchObject([
        { operation, verdict: 'rejected', code: 'FORBIDDEN', actor: { id, org: 'globex' } },
      ]);
      for (const one of [...accepted, ...rejected]) expect(one).not.toHaveProperty('keyHash');
    },
  );

  it.each(named(writing))('is written for %s without a valid credential', async (_, endpoint) => {
    for (const headers of [
      {},
      { 'x-svc-authorization': createToken('service') },
      { 'x-svc-authorization': t.management },
    ]) {
      const found = await during(() => sendTo(t, endpoint, headersOf(headers)));
      expect(found).toMatchObject([{ operation: operationOf(endpoint), verdict: 'rejected', code: 'UNAUTHENTICATED' }]);
      expect(found[0]).not.toHaveProperty('actor');
    }
  });

  it.each(named(onGivenKey.filter(({ foreign }) => foreign !== 'nothing')))(
    'contains the organization of the caller and not that of the key, for %s in another organization',
    async (_, endpoint) => {
      const { id, secret } = await t.issue('service', { orgID: 'globex' });
      const found = await during(() => sendTo(t, endpoint, headersOf({ 'x-svc-authorization': secret })));
      expect(found).toMatchObject([
        {
          operation: operationOf(endpoint),
          verdict: 'rejected',
          code: endpoint.foreign,
          actor: { id, label: 'test service', org: 'globex' },
          // A decision names no key.
          ...(!/^(approve|reject|withdraw)Key/.test(operationOf(endpoint) ?? '') && { keyHash: hashOf('k1') }),
        },
      ]);
      expect(found[0]).not.toHaveProperty('org');
    },
  );

  it.each(named(endpoints.filter(({ isWrite }) => !isWrite)))('is not written for %s', async (_, endpoint) => {
    const about = { authorization: `Bearer ${t.management}`, ...service() };
    for (const headers of [about, {}])
      expect(await during(() => sendTo(t, endpoint, headersOf(headers)))).toStrictEqual([]);
  });

  it('is not written for a dry run', async () => {
    const dryRun = 'mutation { updateOrgKeys(filter: {}, patch: {}) { dryRun } }';
    expect(await during(() => t.graphql(dryRun))).toStrictEqual([]);
  });

  const mutation = (fields: string) => () => t.graphql(`mutation { ${fields} }`);
  it.each<[string, () => Promise<unknown>, ...string[]]>([
    ['a definition with a problem, in REST', () => t.update('k1', { rate: 'x' }), 'updateOrgKey INVALID of a key'],
    [
      'an organization that is not that of the key, in REST',
      () => t.update('k1', { org_id: 'globex' }),
      'updateOrgKey INVALID of a key',
    ],
    ['a body that is no JSON', () => t.update('k1', '{'), 'updateOrgKey INVALID of a key'],
    [
      'a body that is too large',
      () => t.update('k1', `{"alias":"${'x'.repeat(300_000)}"}`),
      'updateOrgKey TOO_LARGE of a key',
    ],
    ['an invalid parameter', () => t.update('k1', {}, '?reset_quota=2'), 'updateOrgKey INVALID of a key'],
    [
      'a stale version, in REST',
      () => t.update('k1', {}, '', { 'if-match': '"77"' }),
      'updateOrgKey CONFLICT of a key',
    ],
    ['an invalid key identifier', () => sendRequest(t, 'DELETE', '/svc/org/keys/%00'), 'deleteOrgKey INVALID'],
    ['a path that is not encoded', () => sendRequest(t, 'DELETE', '/svc/org/keys/%ff'), 'deleteOrgKey INVALID'],
    ['an unknown key', () => sendRequest(t, 'DELETE', '/svc/org/keys/none'), 'deleteOrgKey NOT_FOUND of a key'],
    [
      'a definition with a problem, in GraphQL',
      mutation('updateOrgKey(keyID: "k1", input: {alias: "\\u0000"}) { status }'),
      'updateOrgKey INVALID of a key',
    ],
    [
      'a value that GraphQL rejects',
      mutation('updateOrgKey(keyID: "k1", input: {}, resetQuota: "x") { status }'),
      'updateOrgKey INVALID',
    ],
    [
      'an unknown field, in an operation with two mutations',
      mutation('deleteOrgKey(keyID: "k1") { version } ... on Mutation { restoreOrgKey(keyID: "k1") { nonsense } }'),
      'deleteOrgKey INVALID',
      'restoreOrgKey INVALID',
    ],
    [
      'the method GET',
      () => {
        const query = encodeURIComponent('mutation { deleteOrgKey(keyID: "k1") { version } }');
        return t.send(`/graphql?query=${query}`, { headers: service() });
      },
      'deleteOrgKey INVALID',
    ],
    [
      'an invalid page',
      mutation('updateOrgKeys(filter: {}, patch: {}, first: 0, dryRun: false) { dryRun }'),
      'updateOrgKeys INVALID',
    ],
    [
      'one key among many',
      mutation('updateOrgKeys(filter: {orgID: "acme"}, patch: {orgID: "globex"}, dryRun: false, first: 1) { dryRun }'),
      'updateOrgKeys INVALID of a key',
    ],
  ])('is written for a change rejected for %s', async (_, work, ...expected) => {
    const found = await during(work);
    expect(
      found.map(({ operation, code, keyHash }) => `${operation} ${code}${keyHash === undefined ? '' : ' of a key'}`),
    ).toStrictEqual(expected);
    for (const { verdict, actor } of found) expect([verdict, actor?.label]).toEqual(['rejected', 'test service']);
  });

  it('is written for a request with too many failed attempts, in both APIs', async () => {
    const invalid = { 'content-type': 'application/json', 'x-svc-authorization': createToken('service') };
    const send = (path: string, method: string, body: string) =>
      t.app.fetch(new Request(`http://keyfront.test${path}`, { method, headers: invalid, body }), '192.0.2.1');
    for (let count = 0; count < 10; count += 1) await send('/svc/org/keys/k1', 'PUT', '{}');
    const mutation = JSON.stringify({ query: 'mutation { deleteOrgKey(keyID: "k1") { version } }' });
    const found = await during(async () => {
      await send('/svc/org/keys/k1', 'PUT', '{}');
      await send('/graphql', 'POST', mutation);
    });
    expect(found).toMatchObject([
      { operation: 'updateOrgKey', verdict: 'rejected', code: 'RATE_LIMITED' },
      { operation: 'deleteOrgKey', verdict: 'rejected', code: 'RATE_LIMITED' },
    ]);
  });

  it('identifies the key by its hash and never by its identifier', async () => {
    const keyID = 'a-very-secret-key-identifier';
    await t.importKeys({ key_id: keyID, org_id: 'acme' });
    await t.update(keyID, {});
    await t.update(keyID, { rate: 'x' });
    await t.graphql(`mutation { deleteOrgKey(keyID: "${keyID}") { version } }`);
    await t.graphql(`mutation { deleteOrgKey(keyID: "${keyID}") { nonsense } }`);
    await sendRequest(t, 'DELETE', `/svc/org/keys/${keyID}`, undefined, { 'x-svc-authorization': '' });
    expect(changes().filter(({ keyHash }) => keyHash === hashOf(keyID))).toHaveLength(4);
    expect(t.logs()).not.toContain(keyID);
  });

  it('has the verdict failed and not rejected after an internal error, because a change may have been written', async () => {
    const broken = await startOwnApp();
    await broken.importKeys({ key_id: 'k1', org_id: 'acme' });
    broken.app.services.store.update = () => Promise.reject(new Error('out of order'));
    await broken.update('k1', {});
    expect(broken.logLines('"event":"change"')).toMatchObject([
      { operation: 'updateOrgKey', verdict: 'failed', code: 'INTERNAL', keyHash: hashOf('k1') },
    ]);
  });
});

describe('a log line', () => {
  beforeEach(start);
  afterEach(stop);

  const hostile: [string, string][] = [
    ['line breaks', 'a\r\nb'],
    ['a line of its own', '\n{"event":"change","verdict":"accepted"}\n'],
    ['the codes of a terminal', '\u001b[2J\u001b[31mred'],
    ['the same codes in one character', '\u009b31m'],
    ['NUL and backspace', 'a\u0000b\u0008'],
    ['line breaks of Unicode', 'a\u2028b\u2029c\u0085d'],
    ['marks that turn text round', '\u202Etxt.exe\u2066'],
    ['the end of a JSON text', '"},{"event":"change"'],
    ['an escape of JSON', '\\u000a'],
    ['half a surrogate pair', '\ud800'],
    ['very much', 'x'.repeat(10_000)],
  ];
  /** Whether a text holds what terminals and readers of lines obey, beside the ends of its lines. */
  const isSteering = (text: string) =>
    /[\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(text) || /\p{Cc}/u.test(text.replaceAll('\n', ''));

  it.each(hostile)('stays one line of JSON for a label and a reason with %s', async (_, text) => {
    // A label is limited, and comes in a reason all the same.
    const label = text.toWellFormed().replaceAll('\0', '').slice(0, maxLabelCharacters);
    const order = { kind: 'service', label, orgID: 'globex' } as const;
    const { secret } = await issueCredential(t.app.services.credentials, order, t.clock.now);
    const before = lines().length;
    const headers = { 'x-svc-authorization': secret };
    await t.update('k1', {}, '', headers);
    await t.graphql(
      'mutation ($reason: String) { createOrgKey(keyID: "k2", input: {}, reason: $reason) { version } }',
      { reason: text },
      headers,
    );
    await t.graphql('mutation ($reason: String) { deleteOrgKey(keyID: "k1", reason: $reason) { version } }', {
      reason: text,
    });
    const written = lines().slice(before);
    expect(written.filter(({ event }) => event === 'change')).toHaveLength(3);
    expect(written).toHaveLength(6);
    expect(isSteering(t.logs())).toBe(false);
    for (const line of t.logs().split('\n')) expect(line.length).toBeLessThan(4000);
  });

  it('O-05 stays one line for every content of headers, path and method', async () => {
    const before = lines().length;
    for (const path of ['/a%0d%0ab', '/svc/org/keys/%0a%1b[31m', '/svc/org/keys/x%c2%9b31m', '/%e2%80%a8']) {
      await t.send(path, {
        headers: { 'x-svc-authorization': t.service, 'user-agent': '\u009b31m', 'x-request-id': 'x{}' },
      });
      await t.send(path, { method: 'DELETE', headers: { 'x-svc-authorization': `\u009b31m${t.service}` } });
    }
    expect(lines().length).toBeGreaterThan(before);
    expect(isSteering(t.logs())).toBe(false);
  });
});
