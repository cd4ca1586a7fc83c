import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { fullUpdate, hashOf } from '../../support/factories.js';
import { dataOf } from '../../support/responses.js';
import { expectNoChange, stateOf } from '../../support/state.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const definition = {
  alias: 'Billing',
  tags: ['a', 'b'],
  quota_max: 10,
  quota_renewal_rate: 60,
  meta_data: { plan: { seats: 3, names: ['x', null] }, big: 9007199254740993n },
  access_rights: { invoices: { api_id: 'invoices' }, reports: { api_id: 'reports' } },
};
const update = `mutation ($input: UpdateKeyInput!, $reset: Boolean, $version: Int) {
  updateOrgKey(keyID: "k1", input: $input, resetQuota: $reset, expectedVersion: $version) {
    action status version changed quotaReset changes { path } warnings { code } orgKey { version } } }`;

async function created(): Promise<void> {
  await t.importKeys({ key_id: 'k1', org_id: 'acme', ...definition });
}

/** Later, so that a change would have another date. */
function wait(): void {
  t.clock.now = new Date(t.clock.now.getTime() + 5_000);
}

describe('an update with the stored definition', () => {
  it('keeps version, date, history and ETag, and returns the response of the contract', async () => {
    await created();
    wait();
    const response = await expectNoChange(t, () => t.update('k1', definition));
    expect(response.status).toBe(200);
    expect(response.body).toStrictEqual({ action: 'modified', key: 'k1', key_hash: hashOf('k1'), status: 'ok' });
    expect(response.headers.get('etag')).toBe('"1"');
  });

  it('has `changed: false` in GraphQL, and the warnings of its input', async () => {
    await created();
    const input = { alias: 'Billing', applyPolicyID: 'gold' };
    expect(dataOf(await t.graphql(update, { input }))).toMatchObject({ changed: true, version: 2 });
    expect(dataOf(await t.graphql(update, { input }))).toStrictEqual({
      action: 'modified',
      status: 'ok',
      version: 2,
      changed: false,
      quotaReset: null,
      changes: [],
      warnings: [{ code: 'DEPRECATED_FIELD' }],
      orgKey: { version: 2 },
    });
  });

  it.each([
    [
      'the order of members',
      { ...definition, meta_data: { big: definition.meta_data.big, plan: definition.meta_data.plan } },
    ],
    ['null for an absent field', { ...definition, rate: null }],
    ['spaces and repetitions that normalization removes', { ...definition, tags: [' a', 'b ', 'a'] }],
    ['its own organization', { ...definition, org_id: 'acme' }],
    ['dates that the service sets', { ...definition, date_created: '2020-01-01T00:00:00Z', last_updated: '1' }],
    [
      'the order of access rights',
      { ...definition, access_rights: { reports: { api_id: 'reports' }, invoices: { api_id: 'invoices' } } },
    ],
  ])('is recognized with %s', async (_, body) => {
    await created();
    expect((await expectNoChange(t, () => t.update('k1', body))).status).toBe(200);
  });

  it.each([
    ['another order of tags', { ...definition, tags: ['b', 'a'] }],
    ['an absent field', { ...definition, quota_max: undefined }],
    [
      'another value in free-form JSON',
      { ...definition, meta_data: { ...definition.meta_data, big: 9007199254740992n } },
    ],
    ['a secret', { ...definition, hmac_string: 'secret' }],
  ])('is a change with %s', async (_, body) => {
    await created();
    expect((await t.update('k1', body)).headers.get('etag')).toBe('"2"');
    expect((await t.update('k1', body)).headers.get('etag')).toBe('"2"');
  });

  it('recognizes the stored secrets of all fields except passwords, which are hashed again', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const etags = async (body: object) => [
      (await t.update('k1', body)).headers.get('etag'),
      (await t.update('k1', body)).headers.get('etag'),
    ];
    expect(await etags(fullUpdate)).toStrictEqual(['"2"', '"2"']);
    expect(await etags({ basic_auth_data: { password: 'correct horse' } })).toStrictEqual(['"3"', '"4"']);
  });

  it('still resets the quota, with a version and a history entry each time', async () => {
    await created();
    for (const version of [2, 3]) {
      const response = await t.graphql(update, { input: { alias: 'x', quotaMax: 10 }, reset: true });
      expect(dataOf(response)).toMatchObject({ version, changed: true, quotaReset: 'APPLIED' });
    }
    expect((await stateOf(t, 'k1')).audit).toHaveLength(3);
  });

  it('is rejected if the key does not have the expected version', async () => {
    await created();
    expect((await t.update('k1', definition, '', { 'if-match': '"7"' })).status).toBe(412);
    const response = await t.update('k1', definition, '', { 'if-match': '"1"' });
    expect([response.status, response.headers.get('etag')]).toStrictEqual([200, '"1"']);
  });

  it('is predicted by a dry run', async () => {
    await created();
    const preview = (alias: string) =>
      t.graphql(`{ previewOrgKeyUpdate(keyID: "k1", input: { alias: "${alias}" }) { changed version } }`);
    await t.update('k1', { alias: 'x' });
    expect(dataOf(await preview('x'))).toEqual({ changed: false, version: 2 });
    expect(dataOf(await preview('y'))).toEqual({ changed: true, version: 3 });
  });

  it('leaves the keys of a bulk update that have the patch already, and reports each as unchanged', async () => {
    await t.importKeys({ key_id: 'a', org_id: 'acme', tags: ['x'] }, { key_id: 'b', org_id: 'acme', tags: ['y'] });
    for (const dryRun of [true, false]) {
      const response = await t.graphql(
        `mutation { updateOrgKeys(filter: {}, patch: { tags: ["x"] }, dryRun: ${dryRun}) {
          items { orgKey { keyID } change { changed version } } } }`,
      );
      const { items } = dataOf<{ items: { orgKey: { keyID: string }; change: unknown }[] }>(response);
      expect(Object.fromEntries(items.map(({ orgKey, change }) => [orgKey.keyID, change]))).toEqual({
        a: { changed: false, version: 1 },
        b: { changed: true, version: 2 },
      });
    }
    expect((await stateOf(t, 'a')).audit).toHaveLength(1);
    expect((await stateOf(t, 'b')).audit).toHaveLength(2);
  });

  it('is accepted in the audit log, which marks it as unchanged', async () => {
    await created();
    await t.update('k1', definition);
    await t.update('k1', { alias: 'other' });
    const [unchanged, changed] = t.logLines('"event":"change"');
    expect(unchanged).toMatchObject({ verdict: 'accepted', version: 1, unchanged: true });
    expect(changed).toMatchObject({ verdict: 'accepted', version: 2 });
    expect(changed).not.toHaveProperty('unchanged');
  });
});

it('leaves a key that is reverted to the definition that it has', async () => {
  await created();
  await t.update('k1', { alias: 'other' });
  await t.update('k1', definition);
  const revert = async (toVersion: number) =>
    dataOf(await t.graphql(`mutation { revertOrgKey(keyID: "k1", toVersion: ${toVersion}) { changed version } }`));
  for (const version of [1, 3]) {
    expect(await expectNoChange(t, () => revert(version))).toEqual({ changed: false, version: 3 });
  }
  expect(await revert(2)).toEqual({ changed: true, version: 4 });
});
