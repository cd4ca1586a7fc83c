import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { entities } from '../../../src/graphql/federation/entities.js';
import { codeOf, errorsOf, issuesOf } from '../../support/responses.js';
import { statementsDuring } from '../../support/statements.js';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { hashOf } from '../../support/factories.js';

const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  ... on OrgKey { keyID orgID } ... on Organization { id } } }`;

let t: TestApp;
let bound: string;

beforeAll(async () => {
  t = await startApp();
  await t.importKeys(
    ...Array.from({ length: 120 }, (_, index) => ({ key_id: `k${index}`, org_id: index % 2 ? 'globex' : 'acme' })),
    { key_id: 'gone', org_id: 'acme' },
  );
  await t.graphql('mutation { deleteOrgKey(keyID: "gone") { version } }');
  bound = (await t.issue('service', { orgID: 'acme' })).secret;
});
afterAll(() => t.close());

const sendQuery = (representations: unknown, headers?: Record<string, string>) =>
  t.graphql(query, { representations }, headers);
const entitiesOf = ({ body }: TestResponse) => (body['data'] as { _entities: unknown[] })._entities;
const globalID = (type: string, hash: string) => Buffer.from(`${type}:${hash}`).toString('base64');
const key = (keyID: string) => ({ __typename: 'OrgKey', keyHash: hashOf(keyID) });

describe('_entities', () => {
  it('resolves a key by each key field, and an organization by its identifier', async () => {
    const response = await sendQuery([
      key('k1'),
      { __typename: 'OrgKey', id: globalID('OrgKey', hashOf('k2')) },
      { __typename: 'Organization', id: 'acme' },
    ]);
    expect(entitiesOf(response)).toEqual([
      { keyID: 'k1', orgID: 'globex' },
      { keyID: 'k2', orgID: 'acme' },
      { id: 'acme' },
    ]);
  });

  it('accepts the `id` that a key returns', async () => {
    const { body } = await t.graphql('{ orgKey(by: { keyID: "k1" }) { id } }');
    const { id } = (body['data'] as { orgKey: { id: string } }).orgKey;
    expect(entitiesOf(await sendQuery([{ __typename: 'OrgKey', id }]))).toEqual([{ keyID: 'k1', orgID: 'globex' }]);
  });

  it('returns entities in the requested order, including duplicates', async () => {
    const requested = ['k5', 'k1', 'k5', 'k0'];
    const response = await sendQuery(requested.map(key));
    expect(entitiesOf(response).map((found) => (found as { keyID: string }).keyID)).toEqual(requested);
  });

  it('returns null for a key that is unknown or deleted, and for an identifier of another type', async () => {
    const response = await sendQuery([
      key('unknown'),
      key('gone'),
      { __typename: 'OrgKey', id: globalID('Organization', hashOf('k0')) },
      { __typename: 'OrgKey', keyHash: '__proto__' },
      key('k0'),
    ]);
    expect(errorsOf(response)).toEqual([]);
    expect(entitiesOf(response)).toEqual([null, null, null, null, { keyID: 'k0', orgID: 'acme' }]);
  });

  it('A-08 G-17 authorizes each representation alone, and returns nothing of another organization', async () => {
    const representations = [
      key('k0'),
      key('k1'),
      { __typename: 'OrgKey', id: globalID('OrgKey', hashOf('k1')) },
      { __typename: 'Organization', id: 'globex' },
      { __typename: 'Organization', id: 'acme' },
      { __typename: 'Organization', id: 'no-such-organization' },
    ];
    const response = await sendQuery(representations, { 'x-svc-authorization': bound });
    // Every organization exists, so the error reveals nothing. A key of another one looks like a missing key.
    expect(errorsOf(response).map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['_entities', 3], 'FORBIDDEN'],
      [['_entities', 5], 'FORBIDDEN'],
    ]);
    expect(entitiesOf(response)).toEqual([{ keyID: 'k0', orgID: 'acme' }, null, null, null, { id: 'acme' }, null]);
  });

  it('G-17 reads the keys of 100 representations with two statements, for sizes and rows', async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => key(`k${index}`));
    const organizations = Array.from({ length: 100 }, (_, index) => ({
      __typename: 'Organization',
      id: index ? `o${index}` : 'acme',
    }));
    const summariesQuery =
      'query ($r: [_Any!]!) { _entities(representations: $r) { ... on Organization { quotaSummary { keyCount } } } }';
    const responses: TestResponse[] = [];
    const statements = await statementsDuring(async () => {
      responses.push(await sendQuery(hundred));
      responses.push(await sendQuery([...hundred.slice(0, 99), { __typename: 'Organization', id: 'acme' }]));
      responses.push(await t.graphql(summariesQuery, { r: organizations }));
    }, /\bkeys\b/);
    const [response, mixed, summaries] = responses as [TestResponse, TestResponse, TestResponse];
    expect(entitiesOf(response)).toHaveLength(100);
    expect(entitiesOf(response)).not.toContain(null);
    expect(errorsOf(mixed)).toEqual([]);
    expect(entitiesOf(summaries)[0]).toEqual({ quotaSummary: { keyCount: 60 } });
    // Three requests: two statements each for keys, and one for summaries.
    expect(statements).toHaveLength(5);
  });

  it('G-17 reads more than 100 representations in chunks of 100', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => `many${index}`);
    await t.importKeys(...ids.map((keyID) => ({ key_id: keyID, org_id: 'umbrella' })));
    const many = ids.map(key);
    const responses: TestResponse[] = [];
    const statements = await statementsDuring(async () => responses.push(await sendQuery(many)), /\bkeys\b/);
    expect(responses.flatMap(errorsOf)).toEqual([]);
    expect(responses.flatMap(entitiesOf)).toHaveLength(450);
    expect(responses.flatMap(entitiesOf)).not.toContain(null);
    expect(statements).toHaveLength(10);
  });

  it('G-17 rejects representations whose fields cost more than the limit, without reading any', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({ __typename: 'OrgKey', keyHash: `x${index}` }));
    const costly = query.replace('keyID orgID', 'history(first: 50) { edges { cursor } }');
    const responses: TestResponse[] = [];
    const statements = await statementsDuring(async () =>
      responses.push(await t.graphql(costly, { representations: many })),
    );
    expect(responses.flatMap(issuesOf)).toEqual(['query TOO_MANY']);
    expect(statements).toEqual([]);
  });

  it('G-17 charges and executes a repeated representation once, and returns it at each of its places', async () => {
    const costly = query
      .replace('{ id }', '{ id orgKeys(first: 100) { edges { node { keyHash orgID version state } } } }')
      .replace('keyID orgID', 'keyID');
    const [acme, globex] = ['acme', 'globex'].map((id) => ({ __typename: 'Organization', id }));
    const places = [acme, globex, acme, key('k1'), ...Array<unknown>(80).fill(globex), key('k1'), key('unknown'), acme];
    const organization = entities.get('Organization');
    if (!organization) throw new Error('Organization is not an entity.');
    const find = vi.spyOn(organization, 'find');
    const responses: TestResponse[] = [];
    const send = async (representations: unknown[]) => {
      responses.push(await t.graphql(costly, { representations }));
    };
    const once = await statementsDuring(() => send([acme, globex, key('k1'), key('unknown')]), /\bkeys\b/);
    const repeated = await statementsDuring(() => send(places), /\bkeys\b/);
    expect(responses.flatMap(errorsOf)).toEqual([]);
    const [one, all] = responses.map(entitiesOf);
    const [ofAcme, ofGlobex, ofKey, ofUnknown] = one ?? [];
    expect(all).toEqual([
      ofAcme,
      ofGlobex,
      ofAcme,
      ofKey,
      ...Array<unknown>(80).fill(ofGlobex),
      ofKey,
      ofUnknown,
      ofAcme,
    ]);
    expect(repeated).toEqual(once);
    expect(find).toHaveBeenCalledTimes(2 + 2);
    find.mockRestore();
    // Different ones cost more than the limit.
    await send(Array.from({ length: 130 }, (_, index) => ({ __typename: 'Organization', id: `o${index}` })));
    expect(responses.slice(2).flatMap(issuesOf)).toEqual(['query TOO_MANY']);
  });

  it('G-17 reports the error of a repeated representation at each of its places', async () => {
    const malformed = { __typename: 'OrgKey', keyHash: 7 };
    const response = await sendQuery([key('k0'), malformed, key('k0'), malformed, key('k1'), malformed], {
      'x-svc-authorization': bound,
    });
    expect(errorsOf(response).map(({ path, extensions }) => [path, extensions.issues?.[0]?.path])).toEqual(
      [1, 3, 5].map((index) => [['_entities', index], `representations[${index}].keyHash`]),
    );
    const k0 = { keyID: 'k0', orgID: 'acme' };
    expect(entitiesOf(response)).toEqual([k0, null, k0, null, null, null]);
  });

  it('G-17 repeats the entities of each alias, as routers send them', async () => {
    const two = `query ($a: [_Any!]!, $b: [_Any!]!) { first: _entities(representations: $a) { ...Key }
      second: _entities(representations: $b) { ...Key } literal: _entities(representations: [{ __typename: "OrgKey", keyHash: 7 }]) { ...Key } }
      fragment Key on OrgKey { keyID history(first: 1, after: "nonsense") { edges { cursor } } }`;
    const response = await t.graphql(two, { a: [key('k1'), key('k1')], b: [key('k2'), key('gone'), key('k2')] });
    const [k1, k2] = ['k1', 'k2'].map((keyID) => ({ keyID, history: null }));
    expect(response.body['data']).toEqual({ first: [k1, k1], second: [k2, null, k2], literal: [null] });
    expect(
      errorsOf(response)
        .map(({ path }) => path?.join('.'))
        .toSorted(),
    ).toEqual(['first.0.history', 'first.1.history', 'literal.0', 'second.0.history', 'second.2.history']);
  });

  it.each([
    ['a type that is none', { __typename: 'Nothing', id: 'x' }],
    ['a type that is no entity', { __typename: 'Quota', used: 1 }],
    ['a root type', { __typename: 'Query' }],
    ['no type', { keyHash: 'x' }],
    ['a type that is no text', { __typename: ['OrgKey'], keyHash: 'x' }],
    ['a member of Object', { __typename: 'constructor' }],
    ['a text', 'OrgKey'],
    ['a list', [key('k1')]],
    ['a number', 7],
  ])('G-17 rejects a representation that is or has %s', async (_, representation) => {
    const response = await sendQuery([key('k1'), representation]);
    expect(codeOf(response)).toBe('INVALID');
    expect(issuesOf(response)).toEqual(['representations[1].__typename MALFORMED_ARGUMENT']);
    expect(entitiesOf(response)).toEqual([{ keyID: 'k1', orgID: 'globex' }, null]);
  });

  it.each([
    ['no key', { __typename: 'OrgKey' }],
    ['a hash that is no text', { __typename: 'OrgKey', keyHash: { a: 1 } }],
    ['an empty hash', { __typename: 'OrgKey', keyHash: '' }],
    ['half of a surrogate pair', { __typename: 'OrgKey', keyHash: 'a\ud800' }],
    ['a key identifier, which may be a token,', { __typename: 'OrgKey', keyID: 'k1' }],
    ['an id of no graph', { __typename: 'OrgKey', id: '%%%' }],
    ['an organization without its identifier', { __typename: 'Organization', name: 'acme' }],
    ['an organization of null', { __typename: 'Organization', id: null }],
  ])('G-17 returns an error for a representation with %s, and resolves the others', async (_, bad) => {
    const response = await sendQuery([bad, key('k1')]);
    expect(errorsOf(response).map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['_entities', 0], 'INVALID'],
    ]);
    expect(entitiesOf(response)).toEqual([null, { keyID: 'k1', orgID: 'globex' }]);
    expect(issuesOf(response)).toEqual([expect.stringMatching(/^(representations\[0\]\.\w+|keyID) MALFORMED_\w+$/)]);
  });

  it('ignores members that are not key fields of the type', async () => {
    const response = await t.graphql(
      `{ _entities(representations: [{ __typename: "OrgKey", keyHash: "${hashOf('k1')}", orgID: "acme", __proto__: { a: 1 } }]) {
         ... on OrgKey { keyID orgID } } }`,
    );
    expect(entitiesOf(response)).toEqual([{ keyID: 'k1', orgID: 'globex' }]);
  });

  it('requires a service credential before it validates representations', async () => {
    const response = await sendQuery([{ __typename: 'Nothing' }], { 'x-svc-authorization': 'kf_svc_wrong' });
    expect([codeOf(response), issuesOf(response)]).toEqual(['UNAUTHENTICATED', []]);
  });

  it('A-09 returns no secret of a key', async () => {
    await t.importKeys({ key_id: 'secretive', org_id: 'acme', hmac_string: 'CANARY-hmac' });
    const response = await t.graphql(
      `query ($r: [_Any!]!) { _entities(representations: $r) { ... on OrgKey { definition { hmacStringSet } } } }`,
      { r: [key('secretive')] },
    );
    expect(entitiesOf(response)).toEqual([{ definition: { hmacStringSet: true } }]);
    expect(response.text).not.toContain('CANARY');
  });
});

describe('_service', () => {
  const sdl = '{ _service { sdl } }';
  const anonymous = { authorization: '', 'x-svc-authorization': '' };

  it('is available without a credential in development', async () => {
    expect((await t.graphql(sdl, {}, anonymous)).text).toContain('@key');
  });

  it('G-16 accepts a credential of either kind in production', async () => {
    const production = await startApp({ NODE_ENV: 'production' });
    expect(codeOf(await production.graphql(sdl, {}, anonymous))).toBe('UNAUTHENTICATED');
    expect((await production.graphql(sdl, {}, anonymous)).text).not.toContain('@key');
    for (const missing of ['authorization', 'x-svc-authorization']) {
      expect((await production.graphql(sdl, {}, { [missing]: '' })).text).toContain('@key');
    }
    await production.close();
  });
});

describe('the quota summary of an organization', () => {
  const ofKey = `query ($id: ID!) { orgKey(by: { keyID: $id }) { organization {
    id orgKeys(first: 1) { totalCount } quotaSummary { keyCount limitedKeys exhaustedKeys max used remaining } } } }`;
  const organizationOf = ({ body }: TestResponse) =>
    (body['data'] as { orgKey: { organization: object } }).orgKey.organization;

  it('sums the live quotas of the keys, with ended periods renewed', async () => {
    const own = await startApp();
    await own.importKeys(
      {
        key_id: 'a',
        org_id: 'o',
        quota_max: 100,
        quota_remaining: 40,
        quota_renewal_rate: 60,
        quota_renews: 1769860830,
      },
      { key_id: 'b', org_id: 'o', quota_max: 10, quota_remaining: 0 },
      { key_id: 'c', org_id: 'o', quota_max: -1 },
      { key_id: 'd', org_id: 'elsewhere', quota_max: 1 },
    );
    const before = { keyCount: 3, limitedKeys: 2, exhaustedKeys: 1, max: 110, used: 70, remaining: 40 };
    expect(organizationOf(await own.graphql(ofKey, { id: 'a' }))).toMatchObject({ quotaSummary: before });
    own.clock.now = new Date(own.clock.now.getTime() + 60_000);
    const after = { ...before, used: 10, remaining: 100 };
    expect(organizationOf(await own.graphql(ofKey, { id: 'a' }))).toEqual({
      id: 'o',
      orgKeys: { totalCount: 3 },
      quotaSummary: after,
    });
    await own.close();
  });

  it('caps sums at the largest 64-bit integer', async () => {
    const own = await startApp();
    const max = 9223372036854775807n;
    await own.importKeys({ key_id: 'a', org_id: 'o', quota_max: max }, { key_id: 'b', org_id: 'o', quota_max: max });
    expect(organizationOf(await own.graphql(ofKey, { id: 'a' }))).toMatchObject({
      quotaSummary: { max: '9223372036854775807', used: 0, remaining: '9223372036854775807' },
    });
    await own.close();
  });
});
