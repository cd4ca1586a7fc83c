import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, type RunningServer } from '../../../src/http/server/server.js';
import { createLogger } from '../../../src/lib/log.js';
import { startApp, type TestApp } from '../../support/app.js';
import { hashOf } from '../../support/factories.js';
import { installFolder } from '../../support/install.mjs';
import { testCredentialModels } from './credential-models.js';
import { itWrites } from './client-writes.js';
import { deepOperation, mergedOperations } from './merged-operations.js';
import type * as CompanyModule from './apollo/company.mjs';
import type * as GatewayModule from './apollo/gateway.mjs';

const keyfrontSDL = readFileSync('schema/subgraph.graphql', 'utf8');

let t: TestApp;
let keyfront: RunningServer;
let compose: typeof GatewayModule.compose;
let company: Awaited<ReturnType<typeof CompanyModule.startCompany>>;
let gateway: GatewayModule.Gateway;
let startAnother: (headersOf: GatewayModule.HeadersOf) => Promise<GatewayModule.Gateway>;
let headers: Record<string, string>;

beforeAll(async () => {
  // Apollo's packages are under the Elastic License, so the project itself does not depend on them.
  installFolder(fileURLToPath(new URL('apollo', import.meta.url)));
  const { startCompany } = await import('./apollo/company.mjs');
  const { startGateway, ...gatewayModule } = await import('./apollo/gateway.mjs');
  ({ compose } = gatewayModule);
  t = await startApp();
  await t.importKeys(
    { key_id: 'billing', org_id: 'acme', alias: 'Billing', quota_max: 1000, quota_remaining: 250 },
    { key_id: 'reports', org_id: 'acme', alias: 'Reports', quota_max: 10, quota_remaining: 0 },
    { key_id: 'unlimited', org_id: 'acme', alias: 'Unlimited', expires: 9223372036854775807n },
    { key_id: 'other', org_id: 'globex', alias: 'Other', quota_max: 5 },
  );
  headers = { 'x-svc-authorization': t.service, authorization: `Bearer ${t.management}` };
  const {
    handle,
    services: { scheduler },
  } = t.app;
  keyfront = await listen(handle, { host: '127.0.0.1', port: 0, log: createLogger('silent'), scheduler });
  company = await startCompany([
    { id: 'u1', name: 'Ada', organization: { id: 'acme' }, orgKey: { keyHash: hashOf('billing') } },
    { id: 'u2', name: 'Grace', organization: { id: 'globex' }, orgKey: { keyHash: hashOf('other') } },
    { id: 'u3', name: 'Edsger', organization: { id: 'nowhere' }, orgKey: { keyHash: 'f'.repeat(64) } },
    { id: 'u4', name: 'Alan', organization: { id: 'newcomer' }, orgKey: null },
  ]);
  const composed = compose(keyfrontSDL, { company: company.url, keyfront: `${keyfront.url}/graphql` });
  gateway = await startGateway(composed.supergraphSdl ?? '');
  startAnother = (headersOf) => startGateway(composed.supergraphSdl ?? '', { headersOf });
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([keyfront.stop(), company.close()]);
  await t.close();
});

describe('the SDL of the subgraph', () => {
  it('omits `node`, which another subgraph implements', () => {
    expect(keyfrontSDL).not.toMatch(/^ {2}node\(/m);
    expect(keyfrontSDL).toContain('@key(fields: "id")');
  });

  it('equals the SDL that the service returns to a router', async () => {
    const { body } = await t.graphql('{ _service { sdl } }');
    expect((body['data'] as { _service: { sdl: string } })._service.sdl.trimEnd()).toBe(keyfrontSDL.trimEnd());
  });
});

describe('queries through a gateway', () => {
  it('resolves an organization by name, its keys and their quotas', async () => {
    const { data, errors } = await gateway.request(
      `query ($name: String!) { organization(name: $name) {
         name plan
         quotaSummary { keyCount limitedKeys exhaustedKeys max used remaining }
         orgKeys(first: 2, orderBy: ALIAS) { totalCount edges { node { keyID quota { used remaining } } } } } }`,
      { name: 'Acme Inc.' },
      headers,
    );
    expect(errors).toEqual([]);
    expect(data).toEqual({
      organization: {
        name: 'Acme Inc.',
        plan: 'ENTERPRISE',
        quotaSummary: { keyCount: 3, limitedKeys: 2, exhaustedKeys: 1, max: 1010, used: 760, remaining: 250 },
        orgKeys: {
          totalCount: 3,
          edges: [
            { node: { keyID: 'billing', quota: { used: 750, remaining: 250 } } },
            { node: { keyID: 'reports', quota: { used: 10, remaining: 0 } } },
          ],
        },
      },
    });
  });

  it('resolves keys of people, and the organizations of keys in another subgraph', async () => {
    const { data, errors } = await gateway.request(
      '{ users { edges { node { name orgKey { keyID definition { alias } organization { name plan } } } } } }',
      {},
      headers,
    );
    expect(errors).toEqual([]);
    const acme = { name: 'Acme Inc.', plan: 'ENTERPRISE' };
    expect(namesAnd(data, 'orgKey')).toEqual([
      ['Ada', { keyID: 'billing', definition: { alias: 'Billing' }, organization: acme }],
      ['Grace', { keyID: 'other', definition: { alias: 'Other' }, organization: { name: 'Globex', plan: 'FREE' } }],
      // Of a reference that leads nowhere, every field is null. It takes nothing else with it.
      ['Edsger', { keyID: null, definition: null, organization: null }],
      ['Alan', null],
    ]);
  });

  it('returns an empty page and zeros for an organization without keys', async () => {
    const { data, errors } = await gateway.request(
      '{ organization(name: "Newcomer") { name orgKeys { totalCount edges { cursor } } quotaSummary { keyCount max } } }',
      {},
      headers,
    );
    expect(errors).toEqual([]);
    expect(data).toEqual({
      organization: { name: 'Newcomer', orgKeys: { totalCount: 0, edges: [] }, quotaSummary: { keyCount: 0, max: 0 } },
    });
  });

  it('returns nothing of another organization to a bound credential, the reason, and all fields of other subgraphs', async () => {
    const { secret } = await t.issue('service', { orgID: 'globex' });
    const { data, errors } = await gateway.request(
      '{ users { edges { node { name orgKey { keyID } organization { plan orgKeys { totalCount } } } } } }',
      {},
      { 'x-svc-authorization': secret },
    );
    expect(namesAnd(data, 'orgKey')).toEqual([
      ['Ada', { keyID: null }],
      ['Grace', { keyID: 'other' }],
      ['Edsger', { keyID: null }],
      ['Alan', null],
    ]);
    expect(namesAnd(data, 'organization').slice(0, 2)).toEqual([
      ['Ada', { plan: 'ENTERPRISE', orgKeys: null }],
      ['Grace', { plan: 'FREE', orgKeys: { totalCount: 1 } }],
    ]);
    expect(new Set(errors.map(({ extensions }) => extensions?.['code']))).toEqual(new Set(['FORBIDDEN']));
  });

  it('keeps 64-bit integers exact in responses, variables and strings', async () => {
    const expires = '9223372036854775807';
    const preview = 'data { expires quotaMax }';
    const texts = await gateway.request(
      `{ previewKey(input: { expires: "${expires}", quotaMax: "9007199254740993" }) { ${preview} } }`,
      {},
      headers,
    );
    const variables = await gateway.request(
      `query ($expires: Int64, $quotaMax: Int64) { previewKey(input: { expires: $expires, quotaMax: $quotaMax }) { ${preview} } }`,
      { expires, quotaMax: '9007199254740993' },
      headers,
    );
    const data = { expires, quotaMax: '9007199254740993' };
    expect([texts.data, variables.data]).toEqual([{ previewKey: { data } }, { previewKey: { data } }]);
    const stored = await gateway.request(
      '{ orgKey(by: { keyID: "unlimited" }) { definition { expires } } }',
      {},
      headers,
    );
    expect(stored.data).toEqual({ orgKey: { definition: { expires } } });
  });

  it('rejects a bare number beyond 2^53-1, which the gateway rounds, in literals and variables, also without a gateway', async () => {
    const issues = [{ path: 'expires', code: 'IMPRECISE' }];
    const query = '{ previewKey(input: { expires: 9007199254740995 }) { data { expires } } }';
    const literal = await gateway.request(query, {}, headers);
    expect(literal.errors[0]?.extensions?.['issues']).toMatchObject(issues);
    const variable = await gateway.request(
      'query ($n: Int64) { previewKey(input: { expires: $n }) { data { expires } } }',
      { n: 9007199254740996 },
      headers,
    );
    expect(variable.errors[0]?.extensions?.['issues']).toMatchObject(issues);
    const direct = await t.graphql(query);
    expect(direct.body['errors']).toMatchObject([{ extensions: { issues } }]);
  });
});

describe('mutations and errors through a gateway', () => {
  const update = `mutation ($version: Int) {
    updateOrgKey(keyID: "billing", input: { alias: "Billing 2", quotaMax: 2000 }, expectedVersion: $version) {
      version orgKey { keyID } } }`;

  it('updates a key', async () => {
    const { data, errors } = await gateway.request(update, { version: 1 }, headers);
    expect(errors).toEqual([]);
    expect(data).toEqual({ updateOrgKey: { version: 2, orgKey: { keyID: 'billing' } } });
  });

  it('forwards the code and the issues of an error', async () => {
    const { errors } = await gateway.request('{ previewKey(input: { rate: -5, tags: [""] }) { keyID } }', {}, headers);
    const [error] = errors;
    expect(error?.extensions).toMatchObject({ code: 'INVALID', serviceName: 'keyfront' });
    expect(error?.extensions?.['issues']).toMatchObject([
      { path: 'rate', code: 'OUT_OF_RANGE' },
      { path: 'tags[0]', code: 'EMPTY' },
    ]);
  });

  it('returns CONFLICT for a stale version, and UNAUTHENTICATED without a credential', async () => {
    const stale = await gateway.request(update, { version: 1 }, headers);
    expect(stale.errors.map(({ extensions }) => extensions?.['code'])).toEqual(['CONFLICT']);
    const anonymous = await gateway.request('{ organization(name: "Globex") { name orgKeys { totalCount } } }');
    expect(anonymous.data).toEqual({ organization: { name: 'Globex', orgKeys: null } });
    expect(anonymous.errors.map(({ extensions }) => extensions?.['code'])).toEqual(['UNAUTHENTICATED']);
  });

  it('forwards RATE_LIMITED after too many invalid credentials, without the address of the subgraph', async () => {
    const invalid = () => ({ 'x-svc-authorization': `kf_svc_${'x'.repeat(43)}` });
    const query = '{ organization(name: "Globex") { name orgKeys { totalCount } } }';
    for (let count = 0; count < 10; count += 1) await gateway.request(query, {}, invalid());
    const limited = await gateway.request(query, {}, invalid());
    expect(limited.data).toEqual({ organization: { name: 'Globex', orgKeys: null } });
    expect(limited.errors.map(({ extensions }) => extensions)).toMatchObject([
      { code: 'RATE_LIMITED', retryAfterSeconds: 60, serviceName: 'keyfront' },
    ]);
    expect(JSON.stringify(limited)).not.toContain(keyfront.url);
    expect((await gateway.request(query, {}, headers)).errors).toEqual([]);
  });
});

testCredentialModels(
  "Apollo's gateway",
  () => t,
  (headersOf) => startAnother(headersOf),
);

describe('keyfront-client behind a gateway', () => {
  itWrites(() => ({ t, fetch: gateway.fetch }));
});

describe('the limits behind a gateway', () => {
  let routerHeaders: Record<string, string>;
  beforeAll(async () => {
    await t.importKeys(...Array.from({ length: 100 }, (_, index) => ({ key_id: `k${index}`, org_id: 'initech' })));
    const scopes = ['read', 'update', 'router'] as const;
    routerHeaders = { 'x-svc-authorization': (await t.issue('service', { scopes })).secret };
  });
  // Two of the users have keys, so that a list of them costs little.
  const { cost: _, ...merged } = mergedOperations();
  const all = `orgKeys(first: 100, filter: { orgID: "initech" }) { edges { node { history(first: 50) { edges { node { version } } } } } }`;

  it.each(
    Object.entries({
      ...merged,
      cost: `{ organization(name: "Newcomer") { name } first: ${all} second: ${all} third: ${all} }`,
    }),
  )('permit merged operations above the limit of %s to a router only', async (_name, query) => {
    const asClient = await gateway.request(query, {}, headers);
    expect(new Set(asClient.errors.map(({ extensions }) => extensions?.['code']))).toEqual(new Set(['INVALID']));
    expect((await gateway.request(query, {}, routerHeaders)).errors).toEqual([]);
  });

  it('permit deep operations of several subgraphs to every client', async () => {
    expect((await gateway.request(deepOperation, {}, headers)).errors).toEqual([]);
  });
});

function namesAnd(data: GatewayModule.GatewayResponse['data'], field: string): unknown[] {
  const { edges } = data?.['users'] as { edges: { node: Record<string, unknown> }[] };
  return edges.map(({ node }) => [node['name'], node[field]]);
}
