import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createKeyService } from '../../../src/keys/key-service.js';
import { codeOf, dataOf, errorsOf, issuesOf, sendRequest } from '../../support/responses.js';
import { startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  const keys = ['a', 'b', 'c'].map((key_id) => ({ key_id, org_id: 'acme', alias: key_id, quota_max: 100 }));
  await t.importKeys(...keys);
});

const rest = (method: string, path: string, key: string | undefined, body?: object) =>
  sendRequest(t, method, `/svc/org/keys/${path}`, body, key === undefined ? {} : { 'idempotency-key': key });

const create = (variables: object, headers?: Record<string, string>) =>
  t.graphql(
    `mutation ($keyID: ID, $key: String, $input: CreateKeyInput!, $reason: String) {
      createOrgKey(keyID: $keyID, idempotencyKey: $key, input: $input, reason: $reason) {
        version changes { path kind } warnings { code } quotaEffect { after { max used } }
        orgKey { keyID orgID state definition { alias hmacStringSet } } } }`,
    { input: { orgID: 'acme', alias: 'New', hmacString: 's3cret', quotaMax: 7 }, ...variables },
    headers,
  );
const consume = (variables: object) =>
  t.graphql(
    `mutation ($amount: Int64, $key: String) { consumeOrgQuota(keyID: "a", amount: $amount, idempotencyKey: $key) {
      allowed quota { used remaining } } }`,
    variables,
  );
const remove = (variables: object) =>
  t.graphql(
    `mutation ($keyID: ID!, $key: String, $version: Int) {
      deleteOrgKey(keyID: $keyID, idempotencyKey: $key, expectedVersion: $version) { version orgKey { keyID state } } }`,
    variables,
  );
const bulk = (variables: object) =>
  t.graphql(
    `mutation ($key: String, $patch: PatchKeyInput!, $dryRun: Boolean!) {
      updateOrgKeys(filter: { states: [ACTIVE] }, patch: $patch, dryRun: $dryRun, idempotencyKey: $key) {
        hasNextPage items { orgKey { keyID version } change { version changes { path } } error { code } } } }`,
    { patch: { isInactive: true }, dryRun: false, ...variables },
  );
const countKeys = async () => dataOf<{ totalCount: number }>(await t.graphql('{ orgKeys { totalCount } }')).totalCount;
const createdID = (response: TestResponse) => dataOf<{ orgKey: { keyID: string } }>(response).orgKey.keyID;
const bodyOf = ({ body }: TestResponse) => JSON.stringify(body);

it('reads the keys of a bulk change once, so that they may have as much data as without an idempotency key', async () => {
  const half = 'x'.repeat(45_000);
  const keys = Array.from({ length: 40 }, (_, index) => ({
    key_id: `large-${index}`,
    org_id: 'acme',
    meta_data: { a: half, b: half },
  }));
  await t.importKeys(...keys);
  const first = dataOf<{ items: object[] }>(await bulk({ key: 'k-1' }));
  expect(first.items).toHaveLength(43);
  expect(first).toEqual(dataOf(await bulk({ key: 'k-1' })));
});

describe('a repeated request with the same idempotency key', () => {
  it('creates one key, and returns the first result, also after the key was changed and deleted', async () => {
    const first = await create({ key: 'k-1' });
    const key = createdID(first);
    expect(bodyOf(await create({ key: 'k-1' }))).toBe(bodyOf(first));
    await t.update(key, { alias: 'Changed' });
    await remove({ keyID: key });
    expect(bodyOf(await create({ key: 'k-1' }))).toBe(bodyOf(first));
    expect(await countKeys()).toBe(3);
    expect(createdID(await create({ key: 'k-2' }))).not.toBe(key);
    expect(createdID(await create({}))).not.toBe(key);
  });

  it('consumes once', async () => {
    const first = await consume({ amount: 5, key: 'k' });
    expect(dataOf(first)).toEqual({ allowed: true, quota: { used: 5, remaining: 95 } });
    await consume({ amount: 1 });
    expect(bodyOf(await consume({ amount: 5, key: 'k' }))).toBe(bodyOf(first));
    expect(dataOf(await consume({ amount: 1 }))).toMatchObject({ quota: { used: 7 } });
  });

  it('deletes once, and returns the deletion instead of NOT_FOUND', async () => {
    const first = await remove({ keyID: 'a', key: 'k', version: 1 });
    expect(dataOf(first)).toEqual({ version: 2, orgKey: { keyID: 'a', state: 'DELETED' } });
    expect(bodyOf(await remove({ keyID: 'a', key: 'k', version: 1 }))).toBe(bodyOf(first));
    expect(codeOf(await remove({ keyID: 'a', version: 1 }))).toBe('NOT_FOUND');
  });

  it('changes the same keys of a bulk change once, although none matches the filter any more', async () => {
    const first = await bulk({ key: 'k' });
    expect(dataOf<{ items: unknown[] }>(first).items).toHaveLength(3);
    expect(bodyOf(await bulk({ key: 'k' }))).toBe(bodyOf(first));
    expect(dataOf(await bulk({}))).toEqual({ hasNextPage: false, items: [] });
    // A dry run changes nothing, and reserves no idempotency key.
    await bulk({ key: 'dry', dryRun: true });
    expect(dataOf(await bulk({ key: 'dry' }))).toEqual({ hasNextPage: false, items: [] });
  });

  it('resets the quotas once, and returns each reset as applied', async () => {
    const reset = (key: string) =>
      t.graphql(
        `mutation ($key: String) { resetOrgQuotas(filter: { aliasPrefix: "a" }, dryRun: false, idempotencyKey: $key) {
          items { change { quotaReset } orgKey { quota { used } } } } }`,
        { key },
      );
    await consume({ amount: 5 });
    const first = await reset('k');
    expect(dataOf(first)).toEqual({ items: [{ change: { quotaReset: 'APPLIED' }, orgKey: { quota: { used: 0 } } }] });
    await consume({ amount: 5 });
    expect(bodyOf(await reset('k'))).toBe(bodyOf(first));
    expect(dataOf(await consume({ amount: 1 }))).toMatchObject({ quota: { used: 6 } });
  });

  it('updates once, with its reset, and returns the first response, also after another change', async () => {
    await t.importKeys({ key_id: 'd', org_id: 'acme', alias: 'd', quota_max: 100 });
    const put = (key?: string) => rest('PUT', 'd?reset_quota=1', key, { alias: 'new', quota_max: 50, expires: 1 });
    const shown = ({ status, text, headers }: TestResponse) => [
      status,
      text,
      headers.get('etag'),
      headers.get('quota-reset'),
    ];
    const first = await put('"k"');
    expect([first.status, first.headers.get('etag'), first.headers.get('quota-reset')]).toEqual([
      200,
      '"2"',
      'applied',
    ]);
    expect(first.text).toContain('EXPIRES_IN_PAST');
    expect((await t.update('d', { alias: 'changed', quota_max: 50 })).headers.get('etag')).toBe('"3"');
    await rest('POST', 'd/quota', undefined, { amount: 5 });
    expect(shown(await put('k'))).toEqual(shown(first));
    expect(
      dataOf(await t.graphql('{ orgKey(by: { keyID: "d" }) { version definition { alias } quota { used } } }')),
    ).toEqual({ version: 3, definition: { alias: 'changed' }, quota: { used: 5 } });
    // Without a key, and with another one, it is another request.
    expect((await put()).headers.get('etag')).toBe('"4"');
    expect((await put('other')).headers.get('etag')).toBe('"5"');
  });

  it('returns the first result of an update also when the key has its definition again', async () => {
    const put = (alias: string, key?: string) => rest('PUT', 'a', key, { alias, quota_max: 100 });
    const first = await put('one', 'k');
    expect(first.headers.get('etag')).toBe('"2"');
    await put('two');
    expect((await put('one')).headers.get('etag')).toBe('"4"');
    expect((await put('one', 'k')).headers.get('etag')).toBe('"2"');
  });

  it('looks for a result once if it has none yet, and changes the key', async () => {
    const find = vi.spyOn(t.app.services.store, 'findReceipt');
    expect(dataOf(await remove({ keyID: 'a', key: 'k' }))).toMatchObject({ version: 2 });
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('has one effect when sent many times at once', async () => {
    const created = await Promise.all(Array.from({ length: 20 }, () => create({ key: 'k' })));
    expect(new Set(created.map(bodyOf)).size).toBe(1);
    expect(await countKeys()).toBe(4);
    const consumed = await Promise.all(Array.from({ length: 20 }, () => consume({ amount: 3, key: 'c' })));
    expect(new Set(consumed.map(bodyOf)).size).toBe(1);
    expect(dataOf(await consume({ amount: 1 }))).toMatchObject({ quota: { used: 4 } });
    const deleted = await Promise.all(Array.from({ length: 20 }, () => remove({ keyID: 'b', key: 'd' })));
    expect(new Set(deleted.map(bodyOf)).size).toBe(1);
    const updated = await Promise.all(
      Array.from({ length: 20 }, () => rest('PUT', 'c?reset_quota=1', 'u', { alias: 'new' })),
    );
    expect(new Set(updated.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(new Set(updated.map(({ headers }) => headers.get('etag')))).toEqual(new Set(['"2"']));
  });

  it('has one effect in REST, with the header in quotes or not', async () => {
    const body = { alias: 'New', org_id: 'acme' };
    const created = await rest('POST', 'new', '"k"', body);
    expect(created.status).toBe(200);
    expect((await rest('POST', 'new', 'k', body)).text).toBe(created.text);
    expect((await rest('POST', 'new', undefined, body)).status).toBe(409);
    const consumed = await rest('POST', 'a/quota', '"c"', { amount: 4 });
    expect((await rest('POST', 'a/quota', '"c"', { amount: 4 })).text).toBe(consumed.text);
    expect((await rest('POST', 'a/quota', undefined, { amount: 1 })).body).toMatchObject({ used: 5 });
    const deleted = await rest('DELETE', 'new', '"d"');
    expect(await rest('DELETE', 'new', '"d"')).toMatchObject({ status: 200, text: deleted.text });
    expect((await rest('DELETE', 'new', undefined)).status).toBe(404);
  });
});

describe('an idempotency key', () => {
  it('is rejected with CONFLICT when `secrets prune` has removed the key of its receipt', async () => {
    const { ports } = t.app.services;
    const caller = { credentialID: 'c', label: 'c', orgID: undefined, requestID: 'r' };
    const request = { keyID: 'a', amount: 1n, idempotencyKey: 'k' };
    const first = await createKeyService(ports).consumeOrgQuota(caller, request);
    expect(await createKeyService(ports).consumeOrgQuota(caller, request)).toEqual(first);
    const pruned = createKeyService({ ...ports, receipts: { ...ports.receipts, isKeyRemoved: () => true } });
    await expect(pruned.consumeOrgQuota(caller, request)).rejects.toMatchObject({
      code: 'CONFLICT',
      message:
        'This request was carried out in the last 24 hours. Its result cannot be read any more: read the key instead.',
    });
    expect(dataOf(await t.graphql('{ orgKey(by: { keyID: "a" }) { quota { used } } }'))).toEqual({
      quota: { used: 1 },
    });
  });

  it('returns the first result also to a request that finds the quota exhausted by it', async () => {
    await t.importKeys({ key_id: 'one', org_id: 'acme', quota_max: 1 });
    const { ports } = t.app.services;
    const caller = { credentialID: 'c', label: 'c', orgID: undefined, requestID: 'r' };
    const request = { keyID: 'one', amount: 1n, idempotencyKey: 'k' };
    // The same request runs between the look-up of the receipt and the consumption.
    let isFirst = true;
    const store = {
      ...ports.store,
      findReceipt: async (id: string) => {
        const found = await ports.store.findReceipt(id);
        if (isFirst) {
          isFirst = false;
          await createKeyService(ports).consumeOrgQuota(caller, request);
        }
        return found;
      },
    };
    const late = await createKeyService({ ...ports, store }).consumeOrgQuota(caller, request);
    expect(late).toMatchObject({ allowed: true });
  });

  it('is rejected for another request, and for a malformed value', async () => {
    await create({ key: 'k' });
    const reused = ['idempotencyKey MALFORMED_ARGUMENT'];
    expect(issuesOf(await create({ key: 'k', reason: 'another' }))).toEqual(reused);
    expect(issuesOf(await create({ key: 'k', keyID: 'x' }))).toEqual(reused);
    expect(issuesOf(await create({ key: 'k', input: { orgID: 'acme' } }))).toEqual(reused);
    await consume({ amount: 1, key: 'k' });
    expect(issuesOf(await consume({ amount: 2, key: 'k' }))).toEqual(reused);
    await bulk({ key: 'k' });
    expect(issuesOf(await bulk({ key: 'k', patch: {} }))).toEqual(reused);
    for (const key of ['', ' ', 'é', 'x'.repeat(256), 'a\nb']) {
      expect([key, issuesOf(await create({ key }))]).toEqual([key, reused]);
    }
    expect(codeOf(await rest('DELETE', 'b', '""'))).toBe('INVALID');
    expect(await countKeys()).toBe(4);
  });

  it('has 1 to 255 visible ASCII characters, or is rejected with the reason', async () => {
    for (const key of ['!', '~', 'x'.repeat(255)]) expect(dataOf(await create({ key }))).toMatchObject({ version: 1 });
    const messages = async (variables: object) => errorsOf(await create(variables)).map(({ message }) => message);
    const malformed = 'The idempotency key must have 1 to 255 visible ASCII characters.';
    for (const key of ['', ' ', '\x7f', 'x'.repeat(256)]) expect(await messages({ key })).toEqual([malformed]);
    const reused = 'The idempotency key was used for another request in the last 24 hours.';
    expect(await messages({ key: '!', reason: 'another' })).toEqual([reused]);
  });

  it('is rejected for another update, and the update changes nothing', async () => {
    const put = (path: string, body: object, headers: Record<string, string> = {}) =>
      sendRequest(t, 'PUT', `/svc/org/keys/${path}`, body, { 'idempotency-key': '"k"', ...headers });
    expect((await put('a?reset_quota=1', { alias: 'x' })).status).toBe(200);
    const others = [
      await put('b?reset_quota=1', { alias: 'x' }),
      await put('a', { alias: 'x' }),
      await put('a?reset_quota=1', { alias: 'y' }),
      await put('a?reset_quota=1', { alias: 'x' }, { 'if-match': '"1"' }),
      await put('c', { alias: 'x' }, { 'idempotency-key': '""' }),
    ];
    for (const other of others) {
      expect([other.status, issuesOf(other)]).toEqual([400, ['idempotencyKey MALFORMED_ARGUMENT']]);
    }
    const versions = await t.graphql('{ orgKeys { edges { node { version } } } }');
    expect(
      JSON.stringify(versions.body)
        .match(/"version":\d/g)
        ?.toSorted(),
    ).toEqual([1, 1, 2].map((n) => `"version":${n}`));
    // A request that failed or changed nothing stores no result.
    expect((await put('b', { alias: 'x' }, { 'idempotency-key': 'n', 'if-match': '"9"' })).status).toBe(412);
    expect((await put('b', { alias: 'b', quota_max: 100 }, { 'idempotency-key': 'n' })).headers.get('etag')).toBe(
      '"1"',
    );
    expect((await put('b', { alias: 'x' }, { 'idempotency-key': 'n' })).headers.get('etag')).toBe('"2"');
  });

  it('is rejected for the deletion of another key, and of another version', async () => {
    await remove({ keyID: 'a', key: 'k', version: 1 });
    for (const variables of [{ keyID: 'b', version: 1 }, { keyID: 'a', version: 2 }, { keyID: 'a' }]) {
      expect(issuesOf(await remove({ key: 'k', ...variables }))).toEqual(['idempotencyKey MALFORMED_ARGUMENT']);
    }
    expect(await countKeys()).toBe(2);
  });

  it.each([
    ['bound to none', {}],
    ['of the same organization', { orgID: 'acme' }],
  ])('belongs to one operation and one credential, %s', async (_, options) => {
    const [one, other] = [(await t.issue('service', options)).secret, (await t.issue('service', options)).secret];
    const createWith = async (secret: string) =>
      createdID(await create({ key: 'k' }, { 'x-svc-authorization': secret }));
    const first = await createWith(one);
    expect(dataOf(await consume({ amount: 1, key: 'k' }))).toMatchObject({ allowed: true });
    expect(await createWith(other)).not.toBe(first);
    expect(await createWith(one)).toBe(first);
  });

  it('that was used a day ago is free, and the request removes its own receipt only', async () => {
    await create({ key: 'k' });
    await create({ key: 'another' });
    t.clock.now = new Date(t.clock.now.getTime() + 86_400_000);
    const { store } = t.app.services;
    const purge = vi.spyOn(store, 'purgeReceipts');
    const ids = async () => {
      const found: string[] = [];
      for await (const page of store.allReceipts()) found.push(...page.map(({ id }) => id));
      return found;
    };
    const before = await ids();
    await create({ key: 'k' });
    expect([await ids(), purge.mock.calls]).toEqual([before, []]);
  });

  it('is free again after 24 hours, and after a request that changed nothing', async () => {
    const first = createdID(await create({ key: 'k' }));
    t.clock.now = new Date(t.clock.now.getTime() + 86_399_999);
    expect(createdID(await create({ key: 'k' }))).toBe(first);
    t.clock.now = new Date(t.clock.now.getTime() + 1);
    expect(createdID(await create({ key: 'k' }))).not.toBe(first);
    expect(codeOf(await remove({ keyID: 'a', key: 'd', version: 9 }))).toBe('CONFLICT');
    expect(dataOf(await remove({ keyID: 'a', key: 'd', version: 1 }))).toMatchObject({ version: 2 });
  });

  it('is not stored, nor is a secret of its request', async () => {
    await create({ key: 'visible-key-of-the-client' });
    const { store } = t.app.services;
    const stored: unknown[] = [];
    const add = store.addReceipt.bind(store);
    store.addReceipt = async (receipt) => {
      stored.push(receipt.id, Buffer.from(receipt.sealed).toString('latin1'));
      return add(receipt);
    };
    await bulk({ key: 'visible-key-of-the-client', patch: { hmacString: 'hunter2-hmac' } });
    expect(stored).toHaveLength(2);
    expect(stored.join()).not.toMatch(/visible-key|hunter2/);
  });
});
