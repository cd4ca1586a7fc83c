import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken } from '../../../src/credentials/token.js';
import type { CredentialKind } from '../../../src/credentials/credential.js';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';
import { raw } from '../../support/process.js';
import { importPolicies } from '../../support/policies.js';
import { startServer, type TestServer } from '../../support/server.js';
import { stateOf } from '../../support/state.js';
import { sendTo, sendToFreshKey, type Headers } from './endpoint-request.js';
import { endpoints, gaps, otherPaths, pathRows, type Endpoint } from './matrix-rows.js';

let t: TestApp;
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  ({ t } = server);
  await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'k1', apply_policies: ['gold'] });
  await importPolicies(t, { policy_id: 'gold', org_id: 'acme', governs: [] });
  namedService = (await t.issue('service', { scopes: ['deliver'] })).secret;
});
afterAll(() => server.close());

const names: Record<CredentialKind, string> = { management: 'authorization', service: 'x-svc-authorization' };
const value = (kind: CredentialKind, token: string) => (kind === 'management' ? `Bearer ${token}` : token);
const other = (kind: CredentialKind): CredentialKind => (kind === 'management' ? 'service' : 'management');
/** A credential that has every scope which must be named, for the endpoints that require one. */
let namedService = '';
const valid = (kind: CredentialKind, endpoint?: Endpoint) =>
  [names[kind], value(kind, kind === 'service' && endpoint?.isScopeNamed === true ? namedService : t[kind])] as const;

/** Headers without a valid credential, for an endpoint that requires the given kind. */
const bad: Record<string, (kind: CredentialKind) => Headers | Promise<Headers>> = {
  'no header': () => [],
  'an empty header': (kind) => [[names[kind], '']],
  'a header of spaces': (kind) => [[names[kind], '   ']],
  'the other kind in this header': (kind) => [[names[kind], value(kind, t[other(kind)])]],
  'the other kind in its own header': (kind) => [valid(other(kind))],
  'this kind in the other header': (kind) => [[names[other(kind)], value(other(kind), t[kind])]],
  'this kind in the other header, written as for this one': (kind) => [[names[other(kind)], value(kind, t[kind])]],
  'both kinds in exchanged headers': (kind) => [
    [names[kind], value(kind, t[other(kind)])],
    [names[other(kind)], value(other(kind), t[kind])],
  ],
  'a wrong one beside a valid one of the other kind': (kind) => [
    [names[kind], value(kind, createToken(kind))],
    valid(other(kind)),
  ],
  'the header twice, both valid': (kind) => [valid(kind), valid(kind)],
  'the header twice, the first valid': (kind) => [valid(kind), [names[kind], 'x']],
  'the header twice, the second valid': (kind) => [[names[kind], 'x'], valid(kind)],
  'two tokens in a list': (kind) => [[names[kind], `${value(kind, t[kind])},${value(kind, t[kind])}`]],
  'a token and a comma': (kind) => [[names[kind], `${value(kind, t[kind])},`]],
  'an unknown token': (kind) => [[names[kind], value(kind, createToken(kind))]],
  'a token with its last character changed': (kind) => [
    [names[kind], value(kind, t[kind].slice(0, -1) + (t[kind].endsWith('a') ? 'b' : 'a'))],
  ],
  'half a token': (kind) => [[names[kind], value(kind, t[kind].slice(0, 20))]],
  'a token and more': (kind) => [[names[kind], `${value(kind, t[kind])} x`]],
  'a token in lower case': (kind) => [[names[kind], value(kind, t[kind].toLowerCase())]],
  'a token in quotes': (kind) => [[names[kind], value(kind, `"${t[kind]}"`)]],
  'a token with padding': (kind) => [[names[kind], value(kind, `${t[kind]}=`)]],
  'a token after two spaces': (kind) => [[names[kind], `Bearer  ${t[kind]}`]],
  'a token after a tab': (kind) => [[names[kind], `Bearer\t${t[kind]}`]],
  'another scheme': (kind) => [[names[kind], `Basic ${t[kind]}`]],
  'a scheme that only begins alike': (kind) => [[names[kind], `Bearers ${t[kind]}`]],
  'no scheme where one belongs, and one where none does': (kind) => [[names[kind], value(other(kind), t[kind])]],
  'the scheme alone': (kind) => [[names[kind], 'Bearer']],
  'basic authentication': (kind) => [[names[kind], `Basic ${Buffer.from(`user:${t[kind]}`).toString('base64')}`]],
  'a token that is a little too long': (kind) => [[names[kind], value(kind, t[kind] + 'x'.repeat(500))]],
  'a token that is far too long': (kind) => [[names[kind], value(kind, t[kind] + 'x'.repeat(100_000))]],
  'a token that looks like one of single sign-on, which is not set up': (kind) => [
    [names[kind], value(kind, 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.')],
  ],
  'bytes beyond ASCII': (kind) => [[names[kind], value(kind, `${t[kind]}\u00e9`)]],
  'an expired token': async (kind) => {
    const { secret } = await t.issue(kind, { expires: new Date(t.clock.now.getTime()) });
    return [[names[kind], value(kind, secret)]];
  },
  'a revoked token': async (kind) => {
    const { id, secret } = await t.issue(kind);
    await t.app.services.credentials.revoke(id, t.clock.now);
    return [[names[kind], value(kind, secret)]];
  },
  'the id of a credential': async (kind) => [[names[kind], value(kind, (await t.issue(kind)).id)]],
  'a token in a cookie': (kind) => [['cookie', `token=${t[kind]}; authorization=${t[kind]}`]],
};

const send = (endpoint: Endpoint, headers: Headers, query = '') => sendTo(t, endpoint, headers, { query });
const sendFresh = (endpoint: Endpoint, headers: Headers, query = '') => sendToFreshKey(t, endpoint, headers, query);
const opened = ({ status, body }: TestResponse) => status === 200 && !('errors' in body);
const withoutRequestID = (text: string) => text.replace(/"request_?ID":"[^"]*"/i, '"request":""');

describe('the authorization matrix', () => {
  it('A-01 has a row for every root field and every route, which names the required credential', () => {
    expect(gaps).toEqual([]);
    expect(endpoints.length).toBeGreaterThan(20);
    expect(samples.filter((name) => !endpoints.some((endpoint) => endpoint.name === name))).toEqual([]);
    expect(reasons.filter((reason) => !(reason in bad))).toEqual([]);
  });
});

/** One endpoint of each API and kind of credential: every row. `authenticate.ts` verifies the credentials of all endpoints. */
const samples = ['GraphQL previewKey', 'GraphQL orgKey', 'REST previewKey', 'REST updateOrgKey'];

/** What each endpoint rejects: a credential that is missing, unknown, of the other kind, expired or revoked. */
const reasons = [
  'no header',
  'an unknown token',
  'the other kind in this header',
  'an expired token',
  'a revoked token',
];

describe.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))('%s', (_name, endpoint) => {
  // Where any kind opens it, a good one of the other kind beside a bad one opens it too.
  const isOpenToAll = endpoint.kinds.length > 1;
  const cases = Object.entries(bad).filter(
    ([what]) =>
      (samples.includes(endpoint.name) || reasons.includes(what)) && (!isOpenToAll || !/other kind/.test(what)),
  );

  describe.each(endpoint.kinds)('with a %s credential as the requirement', (kind) => {
    it.each(cases)('A-01 rejects %s with the one message', async (_what, make) => {
      const before = await stateOf(t, 'k1');
      const response = await send(endpoint, await make(kind));
      const bare = await send(endpoint, []);
      expect(withoutRequestID(response.text)).toBe(withoutRequestID(bare.text));
      expect(response.status).toBe(bare.status);
      expect([...response.headers.keys()]).toStrictEqual([...bare.headers.keys()]);
      expectRejection(endpoint, response);
      expect(await stateOf(t, 'k1')).toStrictEqual(before);
    });

    it('A-02 accepts its own kind of credential, with any value of the other header', async () => {
      const others: Headers[] = [
        [],
        [valid(other(kind))],
        [[names[other(kind)], 'nonsense']],
        [[names[other(kind)], '']],
        [[names[other(kind)], value(other(kind), t[kind])]],
      ];
      for (const more of others) {
        const response = await sendFresh(endpoint, [valid(kind, endpoint), ...more]);
        expect(`${opened(response)} ${response.text}`).toMatch(/^true /);
      }
    });

    const treatment = endpoint.isUnbound ? 'rejects' : 'accepts';
    it(`${treatment} a credential bound to its organization, and returns for one bound to another ${endpoint.foreign}`, async () => {
      const named = endpoint.isScopeNamed ? { scopes: endpoint.scopes } : {};
      const bound = async (orgID: string): Promise<Headers> => [
        [names[kind], value(kind, (await t.issue(kind, { orgID, ...named })).secret)],
      ];
      const own = await sendFresh(endpoint, await bound('acme'));
      if (endpoint.isUnbound) expect(codeOf(own)).toBe('FORBIDDEN');
      else expect(`${opened(own)} ${isNothing(endpoint, own)} ${own.text}`).toMatch(/^true false /);
      const foreign = await sendFresh(endpoint, await bound('globex'));
      if (endpoint.foreign === 'nothing')
        expect(`${opened(foreign)} ${isNothing(endpoint, foreign)}`).toBe('true true');
      else if (endpoint.foreign === 'the same') expect(foreign.text).toBe(own.text);
      else expect(codeOf(foreign)).toBe(endpoint.foreign);
    });
  });
});

describe.each(
  endpoints.filter(({ name }) => samples.includes(name)).map((endpoint) => [endpoint.name, endpoint] as const),
)('%s', (_name, endpoint) => {
  describe.each(endpoint.kinds)('with a %s credential as the requirement', (kind) => {
    it('rejects a header that is sent twice, whichever of the two values is valid', async () => {
      const before = await stateOf(t, 'k1');
      const [name, good] = valid(kind);
      for (const values of [
        [good, good],
        [good, 'x'],
        ['x', good],
        [good, ''],
      ]) {
        // The limit of failed attempts must not apply here.
        t.clock.now = new Date(t.clock.now.getTime() + 61_000);
        const response = await overNetwork(
          endpoint,
          values.map((text) => [name, text] as const),
        );
        if (endpoint.isREST) expect(response).toMatch(/^HTTP\/1\.1 401 /);
        expect(response).toContain(requirementOf(endpoint));
        expect(response).toContain('"UNAUTHENTICATED"');
      }
      expect(await stateOf(t, 'k1')).toStrictEqual(before);
    });

    it('A-12 rejects a token in the query string, which no log line contains', async () => {
      for (const name of ['access_token', names[kind]]) {
        expectRejection(endpoint, await send(endpoint, [], `?${name}=${t[kind]}`));
        const beside = await sendFresh(endpoint, [valid(kind)], `?${name}=${t[kind]}`);
        if (endpoint.isREST) expect([beside.status, codeOf(beside)]).toStrictEqual([400, 'INVALID']);
        else expect(opened(beside)).toBe(true);
      }
      expect(t.logs()).not.toContain(t[kind]);
    });

    it('accepts white space around the header value, and any case of the scheme', async () => {
      const spellings = [`  ${value(kind, t[kind])}\t`];
      if (kind === 'management') spellings.push(`bearer ${t[kind]}`, `BEARER ${t[kind]}`, `BeArEr ${t[kind]}`);
      for (const text of spellings) expect(opened(await sendFresh(endpoint, [[names[kind], text]]))).toBe(true);
    });

    it('accepts a credential until the time of its expiry, and rejects it at that time', async () => {
      const expires = new Date(t.clock.now.getTime() + 1000);
      const { secret } = await t.issue(kind, { expires });
      const headers: Headers = [[names[kind], value(kind, secret)]];
      t.clock.now = new Date(expires.getTime() - 1);
      expect(opened(await sendFresh(endpoint, headers))).toBe(true);
      t.clock.now = expires;
      expectRejection(endpoint, await sendFresh(endpoint, headers));
    });

    it('A-11 rejects a credential as soon as it is revoked', async () => {
      const { id, secret } = await t.issue(kind);
      const headers: Headers = [[names[kind], value(kind, secret)]];
      expect(opened(await sendFresh(endpoint, headers))).toBe(true);
      await t.app.services.credentials.revoke(id, t.clock.now);
      expectRejection(endpoint, await sendFresh(endpoint, headers));
    });
  });
});

describe('the paths beside the operations', () => {
  it('have one row each in the matrix', () => {
    expect(Object.keys(pathRows)).toEqual(otherPaths);
  });

  describe.each(['development', 'production'] as const)('in %s', (profile) => {
    let own: TestApp;
    beforeAll(async () => {
      own = await startApp({ NODE_ENV: profile });
    });
    afterAll(() => own.close());

    it.each(Object.entries(pathRows))('opens %s to the credentials of its row', async (path, row) => {
      const [without, having] = row[profile];
      const get = (headers: Record<string, string> = {}) => own.send(path, { headers });
      const bare = await get();
      expect(bare.status).toBe(without);
      const expired = (await own.issue('service', { expires: new Date(own.clock.now.getTime()) })).secret;
      const useless: Record<string, string>[] = [
        { authorization: 'Bearer nonsense' },
        { authorization: `Bearer ${own.service}` },
        { 'x-svc-authorization': own.management },
        { 'x-svc-authorization': expired },
        { cookie: `token=${own.management}` },
      ];
      for (const headers of useless) {
        const response = await get(headers);
        expect(response.status).toBe(without);
        expect(withoutRequestID(response.text)).toBe(withoutRequestID(bare.text));
      }
      const bound = (await own.issue('management', { orgID: 'acme' })).secret;
      const useful: Record<string, string>[] = [
        { authorization: `Bearer ${own.management}` },
        { authorization: `Bearer ${bound}` },
        { 'x-svc-authorization': own.service },
        { authorization: 'Bearer nonsense', 'x-svc-authorization': own.service },
      ];
      for (const headers of useful) expect((await get(headers)).status).toBe(having);
    });

    it.each(Object.keys(pathRows))('accepts only GET and HEAD for %s, if it exists', async (path) => {
      const isThere = pathRows[path]?.[profile][0] !== 404;
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const response = await own.send(path, { method });
        expect([response.status, response.headers.get('allow')]).toEqual(isThere ? [405, 'GET, HEAD'] : [404, null]);
      }
    });
  });
});

/** Whether a response shows nothing: null, a list without items, or the decision NOT_FOUND. */
function isNothing({ isREST }: Endpoint, { body }: TestResponse): boolean {
  const found = isREST ? body : Object.values(body['data'] as object)[0];
  if (typeof found !== 'object' || found === null) return true;
  if (Array.isArray(found)) return found.every((item) => item === null);
  const { results } = found as { results?: { code?: unknown }[] };
  const decision: { code?: unknown } = results?.[0] ?? found;
  if (decision.code !== undefined) return decision.code === 'NOT_FOUND';
  const { edges, items, keys: listed } = found as { edges?: unknown[]; items?: unknown[]; keys?: unknown[] };
  return (edges ?? items ?? listed)?.length === 0;
}

/** The message of UNAUTHENTICATED: the same for every reason. */
function requirementOf({ kinds }: Pick<Endpoint, 'kinds'>): string {
  const [kind] = kinds;
  if (kinds.length > 1) return 'A valid credential is required.';
  return kind === 'management'
    ? 'A valid management credential is required (Authorization: Bearer).'
    : 'A valid service credential is required (X-Svc-Authorization).';
}

function expectRejection({ isREST, kinds }: Endpoint, response: TestResponse): void {
  if (isREST) {
    expect(response.status).toBe(401);
    const challenge = kinds.includes('service')
      ? /^ApiKey realm="keyfront", header="X-Svc-Authorization"$/
      : /^Bearer realm="keyfront"$/;
    expect(response.headers.get('www-authenticate')).toMatch(challenge);
    expect(response.body).toStrictEqual({
      status: 'error',
      message: requirementOf({ kinds }),
      code: 'UNAUTHENTICATED',
      request_id: response.headers.get('x-request-id'),
    });
    return;
  }
  expect(response.body['errors']).toMatchObject([
    { message: requirementOf({ kinds }), extensions: { code: 'UNAUTHENTICATED' } },
  ]);
  expect(Object.values(response.body['data'] ?? {}).every((shown) => shown === null)).toBe(true);
}

async function overNetwork({ method, target, body }: Endpoint, headers: Headers): Promise<string> {
  const text = body('k1', '');
  const lines = [
    `${method} ${target('k1')} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    ...(text ? ['Content-Type: application/json'] : []),
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers.map(([name, given]) => `${name}: ${given}`),
  ];
  return raw(server.port, `${lines.join('\r\n')}\r\n\r\n${text}`);
}

describe('a request with both kinds of credential', () => {
  it('applies to each operation the credential of its kind', async () => {
    const query = '{ previewKey(input: {}) { keyID } orgKey(by: { keyID: "k1" }) { keyHash } }';
    expect(opened(await t.graphql(query))).toBe(true);
    for (const missing of ['authorization', 'x-svc-authorization'])
      expect(codeOf(await t.graphql(query, {}, { [missing]: '' }))).toBe('UNAUTHENTICATED');
  });
});

describe('the log of authentication', () => {
  it('contains no credential, valid or not', async () => {
    expect(t.logs()).toContain('"event":"authentication"');
    for (const endpoint of endpoints)
      await sendFresh(
        endpoint,
        endpoint.kinds.map((kind) => valid(kind, endpoint)),
      );
    for (const secret of [t.management, t.service, 'kf_mgt_', 'kf_svc_']) expect(t.logs()).not.toContain(secret);
  });
});
