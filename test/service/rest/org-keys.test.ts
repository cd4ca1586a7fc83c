import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRequest, dataOf, issuesOf } from '../../support/responses.js';
import { startApp, startOwnApp, type TestApp } from '../../support/app.js';
import { fullUpdate, hashOf } from '../../support/factories.js';

const now = 1769860800;

let t: TestApp;
let bound: Record<string, string>;
beforeAll(async () => {
  t = await startApp();
  const many = Array.from({ length: 25 }, (_, index) => ({
    key_id: `k${index}`,
    org_id: index % 2 ? 'acme' : 'globex',
    alias: `Key ${index}`,
    ...(index % 3 === 0 && { tags: ['third', 'a b&c=d'] }),
    ...(index % 5 === 0 && { is_inactive: true }),
    last_updated: String(now - index),
  }));
  await t.importKeys(...many);
  await t.importKeys({ key_id: 'full one', ...fullUpdate, org_id: 'initech', quota_remaining: 9000 });
  await t.importKeys({ key_id: 'gone', org_id: 'acme' }, { key_id: 'soon', org_id: 'initech', expires: now + 5 });
  await sendRequest(t, 'DELETE', '/svc/org/keys/gone');
  bound = { 'x-svc-authorization': (await t.issue('service', { orgID: 'acme' })).secret };
});
afterAll(async () => t.close());

interface List {
  readonly keys: { readonly key: string; readonly key_hash: string; readonly state: string }[];
  readonly next?: string;
}

async function list(query: string): Promise<List> {
  const response = await sendRequest(t, 'GET', `/svc/org/keys${query}`);
  expect(response.status).toBe(200);
  return response.body as unknown as List;
}
const idsOf = ({ keys }: List) => keys.map(({ key }) => key);

async function walk(query: string): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ;) {
    const page = await list(`?${query}${after}`);
    found.push(...idsOf(page));
    if (page.next === undefined) return found;
    after = `&after=${page.next}`;
  }
}

describe('GET /svc/org/keys', () => {
  it('returns a page of keys by hash, 20 by default, with the cursor of the next one', async () => {
    const page = await list('');
    expect(Object.keys(page)).toStrictEqual(['keys', 'next']);
    expect(page.keys).toHaveLength(20);
    const hashes = page.keys.map(({ key_hash }) => key_hash);
    expect(hashes).toStrictEqual(hashes.toSorted());
    const rest = await list(`?after=${page.next}`);
    expect(Object.keys(rest)).toStrictEqual(['keys']);
    expect(rest.keys).toHaveLength(7);
  });

  it.each([1, 2, 7, 100])('returns every key once with limit=%i', async (limit) => {
    const found = await walk(`limit=${limit}`);
    expect(found).toHaveLength(27);
    expect(new Set(found).size).toBe(27);
    expect(found).not.toContain('gone');
  });

  it('sorts by alias when an alias prefix is given, as GraphQL does without an order', async () => {
    const query = '{ orgKeys(filter: { aliasPrefix: "Key 1" }, first: 100) { edges { node { keyID } } } }';
    const { edges } = dataOf<{ edges: { node: { keyID: string } }[] }>(await t.graphql(query));
    const inGraphQL = edges.map(({ node }) => node.keyID);
    const expected = [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((index) => `k${index}`);
    expect(inGraphQL).toStrictEqual(expected);
    for (const limit of [3, 100]) expect(await walk(`alias_prefix=Key%201&limit=${limit}`)).toStrictEqual(expected);
  });

  it('finds the keys whose alias contains a text, in upper or lower case, page by page', async () => {
    const wanted = [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((index) => `k${index}`);
    for (const limit of [3, 100]) {
      expect(await walk(`alias_contains=EY%201&limit=${limit}`)).toStrictEqual(wanted);
      const byHash = await walk(`alias_contains=EY%201&order_by=KEY_HASH&limit=${limit}`);
      expect(byHash).toStrictEqual(wanted.toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)));
    }
    expect(await list('?alias_contains=none')).toStrictEqual({ keys: [] });
    const ofBound = await sendRequest(t, 'GET', '/svc/org/keys?alias_contains=KEY%202', undefined, bound);
    expect(idsOf(ofBound.body as unknown as List)).toStrictEqual(['k21', 'k23']);
    const long = await sendRequest(t, 'GET', `/svc/org/keys?alias_contains=${'a'.repeat(257)}`);
    expect([long.status, issuesOf(long)]).toStrictEqual([400, ['alias_contains MALFORMED_ARGUMENT']]);
  });

  it.each([3, 100])('sorts as order_by and descending request, with limit=%i', async (limit) => {
    const byAlias = await walk(`order_by=ALIAS&limit=${limit}`);
    expect(byAlias).toHaveLength(27);
    expect(await walk(`order_by=ALIAS&descending=1&limit=${limit}`)).toStrictEqual(byAlias.toReversed());
    const byHash = await walk(`limit=${limit}`);
    expect(await walk(`order_by=KEY_HASH&descending=1&limit=${limit}`)).toStrictEqual(byHash.toReversed());
  });

  it('shortens a page that would be larger than 2 MiB, and continues at the next key', async () => {
    const own = await startOwnApp();
    const ids = Array.from({ length: 14 }, (_, index) => `large-${String(index).padStart(2, '0')}`);
    const notes = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, 'x'.repeat(50_000)]));
    await own.importKeys(...ids.map((id) => ({ key_id: id, org_id: 'acme', alias: id, meta_data: notes })));
    const first = await sendRequest(own, 'GET', '/svc/org/keys?alias_prefix=large&limit=100');
    expect(first.text.length).toBeLessThanOrEqual(2 * 1024 * 1024);
    const page = first.body as unknown as List;
    expect(idsOf(page)).toStrictEqual(ids.slice(0, 10));
    const second = await sendRequest(own, 'GET', `/svc/org/keys?alias_prefix=large&limit=100&after=${page.next}`);
    expect(idsOf(second.body as unknown as List)).toStrictEqual(ids.slice(10));
    expect(second.body).not.toHaveProperty('next');
  });

  it('returns an empty list if nothing matches', async () => {
    expect((await sendRequest(t, 'GET', '/svc/org/keys?tag=none')).text).toBe('{"keys":[]}');
  });

  it.each([
    ['org_id=acme', 12],
    ['org_id=acme&tag=third', 4],
    ['alias_prefix=Key%201', 11],
    ['alias_prefix=Key+1', 11],
    ['alias_prefix=key', 0],
    ['alias_prefix=', 27],
    ['tag=third', 9],
    ['tag=a%20b%26c%3Dd', 9],
    ['policy=gold', 1],
    ['api_id=billing', 1],
    ['state=ACTIVE', 22],
    ['state=INACTIVE', 5],
    ['state=EXPIRED', 0],
    ['state=DELETED', 1],
    [`expires_before=${now + 6}`, 1],
    ['expires_before=9223372036854775807', 2],
    ['expires_before=-9223372036854775808', 0],
    [`updated_since=${now - 3}&org_id=globex`, 2],
    ['updated_since=9223372036854775807', 0],
  ])('returns for %s exactly the matching keys', async (query, count) => {
    expect(await walk(`${query}&limit=3`)).toHaveLength(count);
  });

  it.each([
    ['nope=1', 'nope'],
    ['org=acme', 'org'],
    ['first=3', 'first'],
    ['__proto__=1', '__proto__'],
    ['toString=1', 'toString'],
    ['=1', ''],
    ['limit=1&', ''],
    ['&limit=1', ''],
    ['after=garbage', 'after'],
    ['after=', 'after'],
    ['after=abcdef', 'after'],
    [`after=${'A'.repeat(64)}`, 'after'],
    ['org_id=%ff', 'org_id'],
    ['tag=%ED%A0%80', 'tag'],
    ['tag=%', 'tag'],
    ['policy=%zz', 'policy'],
    ['alias_prefix=%00', 'alias_prefix'],
    ['api_id=a%00b', 'api_id'],
    ['after=%00', 'after'],
    ['tag=a&t%61g=b', 'tag'],
    ['%ff=1', '["%ff"]'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=', 'limit'],
    ['limit=2&limit=2', 'limit'],
    ['tag=a&tag=b', 'tag'],
    ['state=active', 'state'],
    ['state=', 'state'],
    ['state=toString', 'state'],
    ['expires_before=soon', 'expires_before'],
    ['expires_before=1.5', 'expires_before'],
    ['expires_before=9223372036854775808', 'expires_before'],
    ['order_by=alias', 'order_by'],
    ['order_by=', 'order_by'],
    ['descending=0', 'descending'],
    ['descending=', 'descending'],
    ['updated_since=', 'updated_since'],
    ['updated_since=12345678901234567890', 'updated_since'],
  ])('rejects ?%s and names the parameter', async (query, name) => {
    const response = await sendRequest(t, 'GET', `/svc/org/keys?${query}`);
    expect(response.status).toBe(400);
    expect(issuesOf(response)).toStrictEqual([`${name} MALFORMED_ARGUMENT`]);
  });

  it('suggests the right parameter', async () => {
    const { text } = await sendRequest(t, 'GET', '/svc/org/keys?orgid=acme');
    expect(text).toContain('did you mean `org_id`?');
  });

  it('is logged by its route and not by its parameters', async () => {
    await list('?tag=hunter2');
    expect(t.logs()).toContain('"route":"/svc/org/keys"');
    expect(t.logs()).not.toContain('hunter2');
  });
});

describe('GET /svc/org/keys/{keyID}', () => {
  it('returns a deleted key with include_deleted=1 only', async () => {
    const get = async (query: string) => sendRequest(t, 'GET', `/svc/org/keys/gone${query}`);
    expect((await get('')).status).toBe(404);
    expect(await get('?include_deleted=1')).toMatchObject({ status: 200, body: { key: 'gone', state: 'DELETED' } });
    expect(issuesOf(await get('?include_deleted=yes'))).toStrictEqual(['include_deleted MALFORMED_ARGUMENT']);
  });

  it('returns the definition without secrets, the live quota, and the version as entity tag', async () => {
    const { status, headers, body } = await sendRequest(t, 'GET', '/svc/org/keys/full%20one');
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe('"1"');
    expect(headers.get('cache-control')).toBe('no-store');
    const { hmac_string, jwt_data, basic_auth_data, ...plain } = fullUpdate;
    expect(body).toStrictEqual({
      key: 'full one',
      key_hash: hashOf('full one'),
      version: 1,
      state: 'ACTIVE',
      data: {
        ...plain,
        basic_auth_data: { hash_type: 'bcrypt', user: 'billing' },
        jwt_data: {},
        org_id: 'initech',
        date_created: '2026-01-31T12:00:00.000Z',
        last_updated: String(now),
      },
      quota: { used: 1000, remaining: 9000, renews_at: 1893456002 },
    });
  });

  it('returns -1 for unlimited values, and no renewal if there is none', async () => {
    const { body } = await sendRequest(t, 'GET', '/svc/org/keys/k1');
    expect(body['quota']).toStrictEqual({ used: 0, remaining: -1 });
  });

  it('returns the current quota and state, although If-None-Match names the version', async () => {
    const expires = Math.floor(t.clock.now.getTime() / 1000) + 60;
    await t.importKeys({ key_id: 'moving', org_id: 'hooli', quota_max: 5, expires });
    const read = async () => {
      const { status, body, headers } = await sendRequest(t, 'GET', '/svc/org/keys/moving', undefined, {
        'if-none-match': '"1"',
      });
      const { remaining } = body['quota'] as { remaining: number };
      return [status, headers.get('etag'), body['state'], remaining];
    };
    expect(await read()).toEqual([200, '"1"', 'ACTIVE', 5]);
    await sendRequest(t, 'POST', '/svc/org/keys/moving/quota', { amount: 4 });
    expect(await read()).toEqual([200, '"1"', 'ACTIVE', 1]);
    const { now } = t.clock;
    t.clock.now = new Date(now.getTime() + 61_000);
    expect(await read()).toEqual([200, '"1"', 'EXPIRED', 1]);
    t.clock.now = now;
    await sendRequest(t, 'DELETE', '/svc/org/keys/moving', undefined, { 'if-match': '"1"' });
  });

  it('returns another entity tag after each change, which a stale one does not match', async () => {
    await t.importKeys({ key_id: 'changing', org_id: 'hooli' });
    await t.update('changing', { alias: 'x' });
    const { status, headers } = await sendRequest(t, 'GET', '/svc/org/keys/changing', undefined, {
      'if-none-match': '"1"',
    });
    expect([status, headers.get('etag')]).toStrictEqual([200, '"2"']);
    await sendRequest(t, 'DELETE', '/svc/org/keys/changing');
  });

  it.each([['unknown'], ['gone'], ['k0']])(
    'returns the same 404 for %s: an unknown, deleted or foreign key',
    async (keyID) => {
      const response = await sendRequest(t, 'GET', `/svc/org/keys/${keyID}`, undefined, {
        ...bound,
        'if-none-match': '*',
      });
      expect(response.status).toBe(404);
      expect(response.body).toStrictEqual({
        status: 'error',
        message: 'There is no such key.',
        code: 'NOT_FOUND',
        request_id: response.headers.get('x-request-id'),
      });
    },
  );

  it.each([
    ['/svc/org/keys/k1?x=1', 'x MALFORMED_ARGUMENT'],
    ['/svc/org/keys/k1?reset_quota=1', 'reset_quota MALFORMED_ARGUMENT'],
    ['/svc/org/keys/%00', 'keyID MALFORMED_KEY_ID'],
    ['/svc/org/keys/%ff', 'keyID MALFORMED_ARGUMENT'],
    ['/svc/org/keys/a%2fb', 'keyID MALFORMED_KEY_ID'],
  ])('rejects %s', async (target, issue) => {
    const response = await sendRequest(t, 'GET', target);
    expect([response.status, issuesOf(response)]).toStrictEqual([400, [issue]]);
  });
});
