import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { composeServices } from '@theguild/federation-composition';
import { getOperationAST, parse, type DocumentNode } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClient, OrgKeyChangedDocument } from '../../../src/client/client.js';
import { calculateComplexity } from '../../../src/graphql/execution/complexity.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import { readStream, type EventStream } from '../../support/event-stream.js';
import { installFolder } from '../../support/install.mjs';
import { startServer, type TestServer } from '../../support/server.js';
import { testCredentialModels } from './credential-models.js';
import { itWrites } from './client-writes.js';
import { deepOperation, mergedOperations } from './merged-operations.js';
import type * as CompanyModule from './apollo/company.mjs';
import type { HeadersOf } from './apollo/gateway.mjs';
import type * as GatewayModule from './hive/gateway.mjs';

const keyCount = 120;
let s: TestServer;
let company: Awaited<ReturnType<typeof CompanyModule.startCompany>>;
let gateway: GatewayModule.HiveGateway;
let webSocketGateway: GatewayModule.HiveGateway;
let startAnother: (headersOf: HeadersOf) => GatewayModule.HiveGateway;
let headers: Record<string, string>;

beforeAll(async () => {
  for (const folder of ['apollo', 'hive']) installFolder(fileURLToPath(new URL(folder, import.meta.url)));
  const { companySDL, startCompany } = await import('./apollo/company.mjs');
  const { startGateway } = await import('./hive/gateway.mjs');
  s = await startServer();
  await s.t.importKeys(
    ...Array.from({ length: keyCount }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme', alias: `Key ${index}` })),
    { key_id: 'other', org_id: 'globex', quota_max: 10, quota_remaining: 4 },
  );
  headers = { 'x-svc-authorization': s.t.service, authorization: `Bearer ${s.t.management}` };
  const hash = (keyID: string) => ({ keyHash: s.t.app.services.ports.hashKeyID(keyID) });
  company = await startCompany([
    ...Array.from({ length: keyCount }, (_, index) => ({
      id: `u${index}`,
      name: `User ${index}`,
      organization: { id: 'acme' },
      orgKey: hash(`k${index}`),
    })),
    { id: 'last', name: 'Last', organization: { id: 'globex' }, orgKey: { keyHash: 'f'.repeat(64) } },
  ]);
  const { errors = [], supergraphSdl = '' } = composeServices([
    { name: 'company', url: company.url, typeDefs: parse(companySDL) },
    { name: 'keyfront', url: `${s.url}/graphql`, typeDefs: parse(readFileSync('schema/subgraph.graphql', 'utf8')) },
  ]);
  expect(errors).toEqual([]);
  gateway = startGateway(supergraphSdl);
  startAnother = (headersOf) => startGateway(supergraphSdl, { headersOf });
  webSocketGateway = startGateway(supergraphSdl, { webSockets: true });
  // On a fresh clone it installs the packages of two gateways first.
}, 600_000);

afterAll(async () => {
  await gateway.close();
  await webSocketGateway.close();
  await company.close();
  await s.close();
});

const codesOf = (errors: readonly { readonly extensions?: unknown }[] | undefined) =>
  errors?.map(({ extensions }) => (extensions as Record<string, unknown>)['code']);

function operationOf(document: DocumentNode) {
  const operation = getOperationAST(document);
  if (!operation) throw new Error('The document has no operation.');
  return operation;
}

describe("queries through Hive's gateway", () => {
  it('resolves more than 100 entities at once, each alone', async () => {
    const { data, errors } = await gateway.request('{ users { edges { node { orgKey { keyID } } } } }', {}, headers);
    const edges = (data as { users: { edges: { node: { orgKey: { keyID: string } | null } }[] } }).users.edges;
    const found = edges.map(({ node }) => node.orgKey?.keyID ?? null);
    // Of a dangling reference, every field is null. The others are not affected.
    expect(errors).toEqual([]);
    expect(found).toEqual([...Array.from({ length: keyCount }, (_, index) => `k${index}`), null]);
  });

  it('joins an organization of the company with its keys and their quotas', async () => {
    const { data, errors } = await gateway.request(
      `{ organization(name: "Globex") { plan quotaSummary { used max }
           orgKeys { totalCount edges { node { keyID quota { remaining } organization { name } } } } } }`,
      {},
      headers,
    );
    expect(errors).toEqual([]);
    const node = { keyID: 'other', quota: { remaining: 4 }, organization: { name: 'Globex' } };
    expect(data).toEqual({
      organization: { plan: 'FREE', quotaSummary: { used: 6, max: 10 }, orgKeys: { totalCount: 1, edges: [{ node }] } },
    });
  });

  it('keeps the fields of the company when a field of Keyfront is rejected', async () => {
    const { data, errors } = await gateway.request('{ organization(name: "Globex") { name } orgKeys { totalCount } }');
    expect(data).toEqual({ organization: { name: 'Globex' }, orgKeys: null });
    expect(codesOf(errors)).toEqual(['UNAUTHENTICATED']);
  });

  it('keeps the result of a mutation when another one is rejected', async () => {
    const query = `mutation { created: createOrgKey(keyID: "new", input: { orgID: "acme" }) { orgKey { keyID } }
      missing: deleteOrgKey(keyID: "missing") { version } }`;
    const { data, errors } = await gateway.request(query, {}, headers);
    expect(data).toEqual({ created: { orgKey: { keyID: 'new' } }, missing: null });
    expect(codesOf(errors)).toEqual(['NOT_FOUND']);
  });

  it('returns the stored key, and not the predicted one, from a dry run', async () => {
    const query = `mutation { updateOrgKeys(filter: { orgID: "globex" }, patch: { alias: "New" }) {
      items { orgKey { version definition { alias } } change { version definition { alias } } } } }`;
    const { data, errors } = await gateway.request(query, {}, headers);
    expect(errors).toEqual([]);
    expect(data).toEqual({
      updateOrgKeys: {
        items: [
          {
            orgKey: { version: 1, definition: { alias: null } },
            change: { version: 2, definition: { alias: 'New' } },
          },
        ],
      },
    });
  });

  it('keeps 64-bit integers exact as strings, and rejects numbers that the gateway rounds', async () => {
    const query = 'query ($n: Int64) { previewKey(input: { expires: $n }) { data { expires } } }';
    const exact = await gateway.request(query, { n: '9007199254740993' }, headers);
    expect(exact.data).toEqual({ previewKey: { data: { expires: '9007199254740993' } } });
    const rounded = await gateway.request(query, { n: 9007199254740996 }, headers);
    expect(rounded.errors[0]?.extensions?.['issues']).toMatchObject([{ path: 'expires', code: 'IMPRECISE' }]);
  });
});

testCredentialModels(
  "Hive's gateway",
  () => s.t,
  (headersOf) => startAnother(headersOf),
);

describe("keyfront-client behind Hive's gateway", () => {
  itWrites(() => ({ t: s.t, fetch: gateway.fetch }));

  it('follows changes', async () => {
    const client = createClient({ url: 'http://gateway.test', service: s.t.service, fetch: gateway.fetch });
    const events = client.follow(OrgKeyChangedDocument, { orgID: 'globex' });
    expect((await events.next()).value).toMatchObject({ errors: [] });
    await s.t.update('other', { alias: 'Followed', quota_max: 10 });
    const { value } = await events.next();
    expect(value?.data.orgKeyChanged).toMatchObject({ keyHash: s.t.app.services.ports.hashKeyID('other') });
    await events.return();
  });
});

describe("the limits behind Hive's gateway", () => {
  const routerHeaders = async () => ({
    'x-svc-authorization': (await s.t.issue('service', { scopes: ['read', 'update', 'router'] })).secret,
  });
  // The gateway sends mutations one by one.
  const { mutations, ...merged } = mergedOperations();

  it.each(Object.entries(merged))(
    'permit merged operations above the limit of %s to a router only',
    async (_, query) => {
      const asClient = await gateway.request(query, {}, headers);
      expect(new Set(codesOf(asClient.errors))).toEqual(new Set(['INVALID']));
      const asRouter = await gateway.request(query, {}, await routerHeaders());
      // The last user has no key.
      expect(asRouter.errors.filter(({ path }) => path?.[2] !== keyCount)).toEqual([]);
    },
  );

  it('permit more mutations than one operation may have, and deep operations of several subgraphs, to every client', async () => {
    for (const query of [mutations, deepOperation]) {
      expect((await gateway.request(query, {}, headers)).errors).toEqual([]);
    }
  });
});

describe("the demand control of Hive's gateway", () => {
  const ofKeys = (fields: string, first = 50) => `orgKeys(first: ${first}) { edges { node { ${fields} } } }`;
  const history = 'history(first: 10) { edges { node { version at changes { path before after } } } }';

  it.each([
    `{ orgKey(by: { keyID: "k1" }) { keyID version } }`,
    `{ orgKey(by: { keyID: "k1" }) { keyID definition { alias tags accessRights { label limit { rate } } } quota { used } } }`,
    `{ ${ofKeys('keyHash')} }`,
    `{ ${ofKeys('keyHash state definition { alias rate per } quota { used remaining }', 100)} }`,
    `{ orgKeys(first: 20) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { keyHash } } } }`,
    `{ ${ofKeys(history)} }`,
    `{ ${ofKeys(`keyID ${history} organization { quotaSummary { used } }`, 20)} }`,
    `{ first: ${ofKeys('version', 5)} second: ${ofKeys('version definition { alias }', 30)} }`,
    `mutation { updateOrgKeys(filter: { orgID: "globex" }, patch: { alias: "A" }, first: 40) { items { keyHash change { changes { path } } } } }`,
    `query ($first: Int) { orgKeys(first: $first, filter: { orgID: "acme" }) { edges { node { id organization { id orgKeys(first: 2) { edges { node { keyHash } } } } } } } }`,
  ])('estimates what we state within 20 %%: %s', async (query) => {
    const variables = { first: 10 };
    const document = parse(query);
    const { estimate } = calculateComplexity(servedSchema, document, operationOf(document), variables);
    const { estimatedCost, errors } = await gateway.request(query, variables, headers);
    expect(errors).toEqual([]);
    expect(estimatedCost / estimate).toBeGreaterThanOrEqual(0.8);
    expect(estimatedCost / estimate).toBeLessThanOrEqual(1.2);
  });
});

describe.each([
  ['server-sent events', () => gateway, 0],
  ['WebSocket', () => webSocketGateway, 1],
] as const)("subscriptions through Hive's gateway, which subscribes over %s,", (transport, gatewayOf, sockets) => {
  const query = `subscription ($after: String) { orgKeyChanged(orgID: "globex", after: $after) {
    __typename cursor ... on OrgKeyChanged { entry { version } key { keyID organization { name plan } } } } }`;
  const subscribe = async (own: Record<string, string>): Promise<EventStream & { stop: () => void }> => {
    const controller = new AbortController();
    const response = await gatewayOf().subscribe(query, {}, own, controller.signal);
    return { ...readStream(response), stop: () => controller.abort() };
  };

  it('join each event with fields of the company', async () => {
    const opened = vi.spyOn(s.t.app.webSockets, 'open');
    const stream = await subscribe(headers);
    expect(await stream.next()).toMatchObject({ data: { orgKeyChanged: { __typename: 'KeyFeedCheckpoint' } } });
    await s.t.update('other', { alias: `Alias for ${transport}`, quota_max: 10 });
    const organization = { name: 'Globex', plan: 'FREE' };
    expect(await stream.next()).toMatchObject({ data: { orgKeyChanged: { key: { keyID: 'other', organization } } } });
    stream.stop();
    expect(opened).toHaveBeenCalledTimes(sockets);
    opened.mockRestore();
  });

  it('are rejected with UNAUTHENTICATED without a credential', async () => {
    const stream = await subscribe({});
    expect(codesOf((await stream.next())?.errors)).toEqual(['UNAUTHENTICATED']);
    stream.stop();
  });
});
