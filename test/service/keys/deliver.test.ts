import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare } from '@node-rs/bcrypt';
import { getNamedType, isInterfaceType, isObjectType } from 'graphql';
import { beforeEach, describe, expect, it } from 'vitest';
import { scopes, type Scope } from '../../../src/keys/key.js';
import { retireIdentifiers } from '../../../src/keys/rotate.js';
import { schema } from '../../../src/graphql/schema/api-schema.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeConfigurations, makeOwnPlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { startOwnReceiver } from '../../support/receiver.js';
import { hookTo, quick } from '../../support/webhooks.js';
import { runCommand } from '../../support/cli.js';
import { sendTo } from '../auth/endpoint-request.js';
import { endpoints } from '../auth/matrix-rows.js';
import { temporaryFolder } from '../../support/folder.js';
import { codeOf, dataOf, errorsOf, sendRequest } from '../../support/responses.js';
import { tamper } from '../../support/tamper.js';
import { createTestTelemetry } from '../../support/telemetry.js';

const secretsOf = (name: string) => ({
  basic_auth_data: { user: 'ada', password: `password-of-${name}` },
  jwt_data: { secret: `jwt-of-${name}` },
  hmac_string: `hmac-of-${name}`,
});
const fields =
  'keyHash keyID identifierHash rotation { oldKeyID oldIdentifierHash retiresAt } orgID version state data';

interface Delivered {
  readonly keyHash: string;
  readonly keyID: string;
  readonly version: number;
  readonly data: {
    readonly basic_auth_data: { readonly password: string; readonly hash_type: string };
    readonly [member: string]: unknown;
  };
}

interface Page {
  readonly items: readonly { readonly keyHash: string; readonly key: Delivered | null }[];
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
}

let t: TestApp;
let adapter: Record<string, string>;

async function use(app: TestApp): Promise<void> {
  t = app;
  adapter = await credential({ scopes: ['read', 'deliver'] });
}

const credential = async (options: { readonly scopes?: readonly Scope[]; readonly orgID?: string }) => ({
  'x-svc-authorization': (await t.issue('service', options)).secret,
});
const byGraphQL = (by: string, headers = adapter) =>
  t.graphql(`{ deliverKey(by: { ${by} }) { ${fields} } }`, {}, headers);
const pageQuery = `query ($orgID: String, $first: Int, $after: String) {
  deliverKeys(orgID: $orgID, first: $first, after: $after) {
    items { keyHash key { ${fields} } } endCursor hasNextPage } }`;
const pageOf = async (variables: object, headers = adapter) =>
  dataOf<Page>(await t.graphql(pageQuery, variables, headers));
const get = (path: string, headers = adapter) => t.send(path, { headers });
const deliveries = () => t.logLines('"event":"delivery"');

describeConfigurations('the delivery of keys', (engine) => {
  beforeEach(async () => {
    await use(await startOwnApp((await makeOwnPlace(engine)).env));
    await t.importKeys(
      { key_id: 'k1', org_id: 'acme', alias: 'one', ...secretsOf('k1') },
      { key_id: 'k2', org_id: 'acme' },
      { key_id: 'g1', org_id: 'globex', hmac_string: 'hmac-of-g1' },
    );
  });

  it('returns the identifier, the hash of the password with its type, and the secrets in clear, in both APIs', async () => {
    const key = dataOf<Delivered>(await byGraphQL('keyID: "k1"'));
    expect(key).toMatchObject({
      keyHash: hashOf('k1'),
      keyID: 'k1',
      identifierHash: hashOf('k1'),
      rotation: null,
      orgID: 'acme',
      version: 1,
      state: 'ACTIVE',
      data: {
        org_id: 'acme',
        alias: 'one',
        basic_auth_data: { user: 'ada', hash_type: 'bcrypt' },
        jwt_data: { secret: 'jwt-of-k1' },
        hmac_string: 'hmac-of-k1',
      },
    });
    const { password } = key.data.basic_auth_data;
    expect(await compare('password-of-k1', password)).toBe(true);
    expect(dataOf(await byGraphQL(`keyHash: "${hashOf('k1')}"`))).toStrictEqual(key);

    const rest = await get('/svc/org/keys/k1/deliver');
    expect([rest.status, rest.headers.get('etag'), rest.headers.get('cache-control')]).toEqual([
      200,
      '"1"',
      'no-store',
    ]);
    const inREST = { key: 'k1', key_hash: hashOf('k1'), version: 1, state: 'ACTIVE', data: key.data };
    expect(rest.body).toStrictEqual(inREST);
    expect((await get(`/svc/keys/deliver?key_hash=${hashOf('k1')}`)).body).toStrictEqual({ keys: [inREST] });
    expect((await get('/svc/keys/deliver?org_id=acme')).body['keys']).toContainEqual(inREST);
  });

  it('returns a key by both identifiers while it is rotated, and by the new one afterwards', async () => {
    const { keyID } = dataOf<{ keyID: string }>(await t.graphql('mutation { rotateOrgKey(keyID: "k1") { keyID } }'));
    const rotation = { oldKeyID: 'k1', oldIdentifierHash: hashOf('k1'), retiresAt: '2026-02-01T12:00:00.000Z' };
    for (const by of [
      'keyID: "k1"',
      `keyID: "${keyID}"`,
      `keyHash: "${hashOf('k1')}"`,
      `keyHash: "${hashOf(keyID)}"`,
    ]) {
      expect(dataOf(await byGraphQL(by))).toMatchObject({
        keyHash: hashOf('k1'),
        keyID,
        identifierHash: hashOf(keyID),
        rotation,
        data: { hmac_string: 'hmac-of-k1' },
      });
    }
    expect((await get(`/svc/org/keys/${keyID}/deliver`)).body).toMatchObject({
      key: keyID,
      identifier_hash: hashOf(keyID),
      rotation: { old_key: 'k1', retires_at: '2026-02-01T12:00:00.000Z' },
    });
    t.clock.now = new Date('2026-02-01T12:00:00Z');
    await retireIdentifiers(t.app.services, (_, error) => {
      throw error;
    });
    expect(dataOf(await byGraphQL('keyID: "k1"'))).toBeNull();
    expect(dataOf(await byGraphQL(`keyHash: "${hashOf('k1')}"`))).toMatchObject({ keyID, rotation: null });
  });

  it('returns nothing for a key that is missing, deleted, or of another organization', async () => {
    await sendRequest(t, 'DELETE', '/svc/org/keys/k2');
    const bound = await credential({ scopes: ['deliver'], orgID: 'globex' });
    for (const [keyID, headers] of [
      ['none', adapter],
      ['k2', adapter],
      ['k1', bound],
    ] as const) {
      expect((await byGraphQL(`keyID: "${keyID}"`, headers)).body).toStrictEqual({ data: { deliverKey: null } });
      expect(codeOf(await get(`/svc/org/keys/${keyID}/deliver`, headers))).toBe('NOT_FOUND');
      expect((await get(`/svc/keys/deliver?key_hash=${hashOf(keyID)}`, headers)).body).toStrictEqual({ keys: [] });
    }
    expect((await pageOf({ orgID: 'acme' }, bound)).items).toEqual([]);
    expect((await get('/svc/keys/deliver?org_id=acme', bound)).body).toStrictEqual({ keys: [] });
    const own = await pageOf({}, bound);
    expect(own.items.map(({ key }) => key?.keyID)).toEqual(['g1']);
  });

  it('returns every key once in pages, with a cursor that both APIs accept', async () => {
    await t.importKeys(...Array.from({ length: 7 }, (_, index) => ({ key_id: `more-${index}`, org_id: 'acme' })));
    const hashes: string[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await pageOf({ orgID: 'acme', first: 2, after });
      hashes.push(...page.items.map(({ keyHash }) => keyHash));
      after = page.hasNextPage ? page.endCursor : null;
    }
    const wanted = ['k1', 'k2', ...Array.from({ length: 7 }, (_, index) => `more-${index}`)].map(hashOf).toSorted();
    expect(hashes).toEqual(wanted);
    const first = await pageOf({ orgID: 'acme', first: 4 });
    const rest = await get(`/svc/keys/deliver?org_id=acme&limit=4&after=${String(first.endCursor)}`);
    expect((rest.body['keys'] as { key_hash: string }[]).map(({ key_hash: hash }) => hash)).toEqual(wanted.slice(4, 8));
    const next = await get(`/svc/keys/deliver?org_id=acme&limit=4&after=${String(rest.body['next'])}`);
    expect(next.body).toMatchObject({ keys: [{ key_hash: wanted[8] }] });
    expect(next.body).not.toHaveProperty('next');
  });

  it('ends a page early if its keys are large, and returns all of them', async () => {
    const large = Array.from({ length: 30 }, (_, index) => ({
      key_id: `large-${index}`,
      org_id: 'initech',
      jwt_data: { secret: '\u2028'.repeat(8_000) },
      meta_data: { text: 'x'.repeat(40_000) },
    }));
    await t.importKeys(...large);
    const hashes: string[] = [];
    let pages = 0;
    for (let after: string | null | undefined; after !== null; pages += 1) {
      const response = await t.graphql(pageQuery, { orgID: 'initech', after }, adapter);
      expect(response.text.length).toBeLessThan(2 * 1024 * 1024);
      const page = dataOf<Page>(response);
      hashes.push(...page.items.map(({ keyHash }) => keyHash));
      after = page.hasNextPage ? page.endCursor : null;
    }
    expect(pages).toBeGreaterThan(1);
    expect(hashes).toEqual(large.map(({ key_id: keyID }) => hashOf(keyID)).toSorted());
  });

  it('writes one line for each page with its range, and one for each key', async () => {
    const [first, last] = [hashOf('k1'), hashOf('k2')].toSorted();
    await pageOf({ orgID: 'acme' });
    await get('/svc/org/keys/k1/deliver');
    await byGraphQL('keyID: "none"');
    expect(deliveries()).toMatchObject([
      {
        level: 'info',
        operation: 'deliverKeys',
        verdict: 'accepted',
        actor: { label: 'test service' },
        org: 'acme',
        delivered: { keys: 2, unreadable: 0, first, last },
      },
      {
        operation: 'deliverKey',
        verdict: 'accepted',
        org: 'acme',
        keyHash: hashOf('k1'),
        version: 1,
        delivered: { keys: 1 },
      },
      { operation: 'deliverKey', verdict: 'accepted', keyHash: hashOf('none'), delivered: { keys: 0 } },
    ]);
  });

  it('rejects a credential to which the scope was not given by name, in the audit log as well', async () => {
    const others = Object.keys(scopes).filter((scope) => scope !== 'deliver') as Scope[];
    for (const headers of [{ 'x-svc-authorization': t.service }, await credential({ scopes: others })]) {
      const responses = [
        await byGraphQL('keyID: "k1"', headers),
        await t.graphql(pageQuery, {}, headers),
        await get('/svc/org/keys/k1/deliver', headers),
        await get('/svc/keys/deliver', headers),
        await get(`/svc/keys/deliver?key_hash=${hashOf('k1')}`, headers),
      ];
      expect(responses.map(codeOf)).toEqual(Array(5).fill('FORBIDDEN'));
      expect(responses.map(({ text }) => text).join()).not.toContain('hmac-of');
    }
    const verdicts = deliveries().map(({ operation, verdict, code }) => [operation, verdict, code]);
    expect(verdicts).toHaveLength(10);
    expect(new Set(verdicts.map(String))).toEqual(
      new Set(['deliverKey,rejected,FORBIDDEN', 'deliverKeys,rejected,FORBIDDEN']),
    );
  });
});

describe('a request for delivery that is not valid', () => {
  beforeEach(async () => {
    await use(await startOwnApp());
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['first=1', 'first'],
    ['after=x', 'after'],
    ['key_hash=x', 'keyHash'],
    ['key_hash=x&limit=1', 'key_hash'],
    ['org_id=acme&org_id=acme', 'org_id'],
    ['secrets=1', 'secrets'],
  ])('rejects the parameters %s', async (query, path) => {
    expect((await get(`/svc/keys/deliver?${query}`)).body).toMatchObject({ code: 'INVALID', issues: [{ path }] });
  });

  it('rejects pages that are not valid in GraphQL', async () => {
    for (const variables of [{ first: 0 }, { first: -1 }, { after: 'x' }]) {
      expect(codeOf(await t.graphql(pageQuery, variables, adapter))).toBe('INVALID');
    }
    expect((await pageOf({ first: 2 ** 31 - 1 })).items).toHaveLength(1);
    expect(codeOf(await byGraphQL('keyHash: "x"'))).toBe('INVALID');
  });
});

describe('the change feed', () => {
  const feedQuery = `subscription { orgKeyChanged(after: "${Buffer.from('0.0.').toString('base64url')}") {
    __typename ... on OrgKeyChanged { keyHash delivered { keyID version data } } } }`;
  const firstEvent = async (headers: Record<string, string>) =>
    t.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify({ query: feedQuery }),
    });

  beforeEach(async () => {
    await use(await startOwnApp());
    await t.importKeys({ key_id: 'k1', org_id: 'acme', ...secretsOf('k1') });
  });

  it('delivers the key of an event as it is now, and null after its deletion', async () => {
    const { body } = await firstEvent(adapter);
    expect(body).toMatchObject({
      data: {
        orgKeyChanged: { keyHash: hashOf('k1'), delivered: { keyID: 'k1', data: { hmac_string: 'hmac-of-k1' } } },
      },
    });
    expect(deliveries()).toMatchObject([{ operation: 'deliverKey', keyHash: hashOf('k1'), delivered: { keys: 1 } }]);
    await sendRequest(t, 'DELETE', '/svc/org/keys/k1');
    expect((await firstEvent(adapter)).body).toStrictEqual({
      data: { orgKeyChanged: { __typename: 'OrgKeyChanged', keyHash: hashOf('k1'), delivered: null } },
    });
  });

  it('rejects the field alone without the scope, and the subscription without the scope of reading', async () => {
    const { body, text } = await firstEvent({ 'x-svc-authorization': t.service });
    expect(body).toMatchObject({
      data: { orgKeyChanged: { keyHash: hashOf('k1'), delivered: null } },
      errors: [{ path: ['orgKeyChanged', 'delivered'], extensions: { code: 'FORBIDDEN' } }],
    });
    expect(text).not.toContain('hmac-of');
    expect(codeOf(await firstEvent(await credential({ scopes: ['deliver'] })))).toBe('FORBIDDEN');
  });
});

describe('a key that cannot be delivered', () => {
  let folder: string;
  let telemetry: ReturnType<typeof createTestTelemetry>;
  beforeEach(async () => {
    folder = await temporaryFolder();
    telemetry = createTestTelemetry();
    await use(await startOwnApp({ KEYFRONT_DATA: folder }, {}, telemetry));
    await t.importKeys(
      ...['a', 'b', 'c'].map((name) => ({ key_id: name, org_id: 'acme', alias: name, ...secretsOf(name) })),
    );
  });

  async function expectOnlyBFails(): Promise<void> {
    const response = await t.graphql(pageQuery, {}, adapter);
    const { items } = (response.body['data'] as { deliverKeys: Page }).deliverKeys;
    expect(items.map(({ keyHash }) => keyHash)).toEqual(['a', 'b', 'c'].map(hashOf).toSorted());
    const missing = items.filter(({ key }) => key === null).map(({ keyHash }) => keyHash);
    expect(missing).toEqual([hashOf('b')]);
    expect(errorsOf(response)).toMatchObject([
      {
        message: 'Internal error.',
        extensions: { code: 'INTERNAL' },
        path: ['deliverKeys', 'items', expect.any(Number), 'key'],
      },
    ]);
    const page = await get('/svc/keys/deliver');
    expect(page.status).toBe(200);
    expect(page.body['keys']).toHaveLength(2);
    const error = { key_hash: hashOf('b'), code: 'INTERNAL', message: 'Internal error.' };
    expect(page.body['errors']).toStrictEqual([error]);
    expect((await get(`/svc/keys/deliver?key_hash=${hashOf('b')}`)).body).toStrictEqual({ keys: [], errors: [error] });
    expect(codeOf(await byGraphQL('keyID: "b"'))).toBe('INTERNAL');
    expect((await get('/svc/org/keys/b/deliver')).status).toBe(500);
    const texts = [response, page].map(({ text }) => text).join();
    expect(texts).not.toContain('jwt-of-b');
    expect(await telemetry.exposition()).toMatch(/keyfront_keys_delivered_total\{outcome="unreadable"\} 5/);
    expect(await telemetry.exposition()).toMatch(/keyfront_keys_delivered_total\{outcome="delivered"\} 4/);
    expect(deliveries().at(0)).toMatchObject({ delivered: { keys: 2, unreadable: 1 } });
    // The other readers of the key and the readers of other keys are as before.
    expect(dataOf(await byGraphQL('keyID: "a"'))).toMatchObject({ keyID: 'a' });
  }

  it('is an error of that key alone if its row was changed behind the back of the service', async () => {
    tamper(
      join(folder, 'keyfront.db'),
      "UPDATE keys SET definition = replace(definition, '}', ',\"rate\":9}') WHERE alias = 'b'",
    );
    await expectOnlyBFails();
  });

  it('is an error of that key alone if the key of its secret is not in the key ring', async () => {
    // The row is authentic, and its secret is sealed by a key that was removed.
    const { store, sealer } = t.app.services;
    const sealed = Buffer.from(sealer.seal('x', 'y'));
    sealed.write('gone', 2, 'latin1');
    await store.reseal(hashOf('b'), (stored) => ({ ...stored, secrets: { ...stored.secrets, jwtSecret: sealed } }));
    await expectOnlyBFails();
  });
});

describe('the secrets of keys', () => {
  it('are in no field of the GraphQL schema but those that need the scope', () => {
    const holders = Object.values(schema.getTypeMap()).flatMap((type) =>
      isObjectType(type) || isInterfaceType(type)
        ? Object.values(type.getFields()).flatMap((field) =>
            getNamedType(field.type).name.startsWith('DeliveredKey') ? [`${type.name}.${field.name}`] : [],
          )
        : [],
    );
    expect(holders.toSorted()).toEqual([
      'DeliveredKeyItem.key',
      'DeliveredKeyPage.items',
      'OrgKeyChanged.delivered',
      'OrgKeyNoticed.delivered',
      'Query.deliverKey',
      'Query.deliverKeys',
    ]);
    expect(readFileSync('schema/subgraph.graphql', 'utf8')).not.toMatch(/DeliveredKey|deliverKeys?\(/);
  });

  it('are in no response of another operation, no webhook, log line, metric or export', async () => {
    const folder = await temporaryFolder();
    const telemetry = createTestTelemetry();
    const receiver = await startOwnReceiver();
    await use(
      await startOwnApp(
        { KEYFRONT_DATA: folder, KEYFRONT_WEBHOOKS_TO: 'loopback' },
        { dispatcherOptions: quick },
        telemetry,
      ),
    );
    await hookTo(t, receiver.url);
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'k1', ...secretsOf('k1') });
    const stored = await t.app.services.store.find(hashOf('k1'));
    const secrets = ['hmac-of-k1', 'jwt-of-k1', 'password-of-k1', String(stored?.secrets.passwordHash)];
    // The adapter reads all of them but the password itself.
    const delivered = (await byGraphQL('keyID: "k1"')).text;
    expect(secrets.filter((secret) => !delivered.includes(secret))).toEqual(['password-of-k1']);
    const others = await credential({ scopes: Object.keys(scopes).filter((scope) => scope !== 'deliver') as Scope[] });
    const found = await t.graphql('{ orgKey(by: { keyID: "k1" }) { id } }');
    const node = dataOf<{ id: string }>(found).id;
    const places: [string, string][] = [];
    const headers = [...Object.entries(others), ['authorization', `Bearer ${t.management}`]] as const;
    for (const endpoint of endpoints) places.push([endpoint.name, (await sendTo(t, endpoint, headers, { node })).text]);
    expect(places.length).toBeGreaterThan(40);
    await receiver.until((accepted) => accepted.length > 0);
    places.push(['webhooks', JSON.stringify(receiver.received.map(({ body }) => body))]);
    places.push(['logs', t.logs()], ['metrics', await telemetry.exposition()], ['traces', telemetry.sent()]);
    const exported = await runCommand(['keys', 'export'], { KEYFRONT_DATA: folder }, true);
    places.push(['export', exported.out + exported.stderr]);
    expect(places.flatMap(([name, text]) => secrets.filter((secret) => text.includes(secret)).map(() => name))).toEqual(
      [],
    );
  });

  it('are read by no document of the console', () => {
    const sources = readdirSync('src/console', { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    );
    expect(sources.length).toBeGreaterThan(50);
    const readers = sources.filter((file) =>
      /deliverKey|DeliveredKey|KeyDelivery/i.test(readFileSync(join('src/console', file), 'utf8')),
    );
    expect(readers).toEqual([]);
  });
});
