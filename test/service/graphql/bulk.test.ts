import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/lib/errors.js';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { hashOf } from '../../support/factories.js';
import { expectNoChange, stateOf, type State } from '../../support/state.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

interface Item {
  readonly orgKey: { readonly keyID: string; readonly version: number };
  readonly change: {
    readonly version: number;
    readonly changes: { path: string }[];
    readonly quotaEffect: object;
  } | null;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly issues: { path: string; code: string }[];
  } | null;
}

interface Bulk {
  readonly dryRun: boolean;
  readonly items: Item[];
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

const selected = `dryRun hasNextPage endCursor items { orgKey { keyID version }
  change { version changes { path } quotaEffect { before { used } after { used } } }
  error { code message issues { path code } } }`;
const declared = '$filter: OrgKeyFilter!, $dryRun: Boolean! = true, $reason: String, $first: Int, $after: String';
const passed = 'filter: $filter, dryRun: $dryRun, reason: $reason, first: $first, after: $after';
const updating = `mutation (${declared}, $patch: PatchKeyInput!, $resetQuota: Boolean, $addTags: [String!], $removeTags: [String!], $idempotencyKey: String) {
  updateOrgKeys(${passed}, patch: $patch, resetQuota: $resetQuota, addTags: $addTags, removeTags: $removeTags, idempotencyKey: $idempotencyKey) { ${selected} } }`;
const resetting = `mutation (${declared}) { resetOrgQuotas(${passed}) { ${selected} } }`;

const updateAll = async (variables: object, headers = {}) =>
  dataOf<Bulk>(await t.graphql(updating, { filter: {}, patch: {}, ...variables }, headers));
const resetAll = async (variables: object, headers = {}) =>
  dataOf<Bulk>(await t.graphql(resetting, { filter: {}, ...variables }, headers));
const idsOf = ({ items }: Bulk) => items.map(({ orgKey }) => orgKey.keyID).toSorted();
const itemOf = ({ items }: Bulk, keyID: string) => items.find(({ orgKey }) => orgKey.keyID === keyID);
const codesOf = ({ items }: Bulk) =>
  Object.fromEntries(items.map(({ orgKey, error }) => [orgKey.keyID, error?.code ?? 'ok']));

/** The result that a dry run predicts: each key then has the version of its change. */
const asMade = (foretold: Bulk) => ({
  ...foretold,
  dryRun: false,
  items: foretold.items.map(({ orgKey, change, error }) => ({
    orgKey: { ...orgKey, version: change?.version ?? orgKey.version },
    change,
    error,
  })),
});

const everyState = async (...keyIDs: string[]): Promise<State[]> =>
  Promise.all(keyIDs.map((keyID) => stateOf(t, keyID)));
const definitionOf = async (keyID: string) => (await stateOf(t, keyID)).key?.definition;

describe('updateOrgKeys', () => {
  beforeEach(() =>
    t.importKeys(
      {
        key_id: 'a',
        org_id: 'acme',
        alias: 'A',
        tags: ['x'],
        rate: 1,
        hmac_string: 'secret',
        quota_max: 10,
        quota_remaining: 4,
      },
      { key_id: 'b', org_id: 'acme', alias: 'B', tags: ['x', 'y'], rate: 2 },
      { key_id: 'c', org_id: 'globex', alias: 'C', tags: ['x'], basic_auth_data: { user: 'u', password: 'p' } },
      { key_id: 'd', org_id: 'globex', alias: 'D' },
    ),
  );

  it('is a dry run by default: predicts the outcome for each key and stores nothing', async () => {
    const query = `mutation { updateOrgKeys(filter: { tagsAll: ["x"] }, patch: { rate: 5 }) { ${selected} } }`;
    const response = dataOf<Bulk>(await expectNoChange(t, () => t.graphql(query)));
    expect([response.dryRun, response.hasNextPage, idsOf(response)]).toStrictEqual([true, false, ['a', 'b', 'c']]);
    expect(itemOf(response, 'a')).toStrictEqual({
      orgKey: { keyID: 'a', version: 1 },
      change: { version: 2, changes: [{ path: 'rate' }], quotaEffect: { before: { used: 6 }, after: { used: 6 } } },
      error: null,
    });
  });

  it('makes the changes that the dry run predicted, with a history entry for each key', async () => {
    const request = {
      filter: { tagsAll: ['x'] },
      patch: { rate: 5, applyPolicies: ['gold'] },
      resetQuota: true,
      reason: 'spring',
    };
    const foretold = await updateAll(request);
    const done = await updateAll({ ...request, dryRun: false });
    expect(done).toStrictEqual(asMade(foretold));
    expect(done.items.map(({ orgKey }) => orgKey.version)).toStrictEqual([2, 2, 2]);
    for (const { key, audit } of await everyState('a', 'b', 'c')) {
      expect(key).toMatchObject({ version: 2, definition: { rate: 5, applyPolicies: ['gold'] }, quota: { used: 0n } });
      expect(audit.at(-1)).toMatchObject({ operation: 'update', reason: 'spring', versionBefore: 1, versionAfter: 2 });
    }
    expect((await stateOf(t, 'd')).key?.version).toBe(1);
    expect(dataOf(await t.graphql('{ orgKeys(filter: { policy: "gold" }) { totalCount } }'))).toStrictEqual({
      totalCount: 3,
    });
  });

  it('sets the fields of the patch, clears null fields, and keeps other fields and secrets', async () => {
    await updateAll({ filter: { orgID: 'acme' }, patch: { rate: null, per: 60, tags: null }, dryRun: false });
    expect(await definitionOf('a')).toStrictEqual({ alias: 'A', per: 60, quotaMax: 10n, quotaRemaining: 4n });
    expect(await definitionOf('b')).toStrictEqual({ alias: 'B', per: 60 });
    expect((await stateOf(t, 'a')).key?.secrets.hmacString).toBeDefined();
    await updateAll({ filter: { orgID: 'acme' }, patch: { hmacString: null }, dryRun: false });
    expect((await stateOf(t, 'a')).key?.secrets.hmacString).toBeUndefined();
    await updateAll({ filter: { aliasPrefix: 'C' }, patch: { basicAuthData: { user: 'v' } }, dryRun: false });
    expect((await stateOf(t, 'c')).key?.secrets.passwordHash).toBeDefined();
    expect(await definitionOf('c')).toMatchObject({ basicAuthData: { user: 'v', hashType: 'bcrypt' } });
  });

  it('adds and removes tags, and keeps the others of each key', async () => {
    const tagsOf = async () => Promise.all(['a', 'b', 'c'].map(async (keyID) => (await definitionOf(keyID))?.tags));
    const before = await tagsOf();
    const request = { addTags: [' new ', 'x'], removeTags: ['y', 'unknown'] };
    const predicted = await expectNoChange(t, () => updateAll(request));
    expect(await updateAll({ ...request, dryRun: false })).toStrictEqual(asMade(predicted));
    expect([before.slice(0, 2), await tagsOf()]).toStrictEqual([
      [['x'], ['x', 'y']],
      [
        ['x', 'new'],
        ['x', 'new'],
        ['x', 'new'],
      ],
    ]);
    const again = await expectNoChange(t, () => updateAll({ ...request, dryRun: false }));
    expect(again.items.every(({ change }) => change?.changes.length === 0)).toBe(true);
    // The last tag is gone, and other fields change with it.
    const sent = { patch: { rate: 7, per: 1 }, removeTags: ['x', 'new'], dryRun: false };
    await updateAll(sent);
    expect(await definitionOf('a')).toStrictEqual({ alias: 'A', per: 1, quotaMax: 10n, quotaRemaining: 4n, rate: 7 });
  });

  it('adds tags once for an idempotency key, whatever the keys have since', async () => {
    const request = { filter: { aliasPrefix: 'A' }, addTags: ['new'], dryRun: false, idempotencyKey: 'k-1' };
    const made = await updateAll(request);
    await updateAll({ filter: { aliasPrefix: 'A' }, removeTags: ['new'], dryRun: false });
    expect((await updateAll(request)).items.map(({ change }) => change?.version)).toStrictEqual(
      made.items.map(({ change }) => change?.version),
    );
    expect((await definitionOf('a'))?.tags).toStrictEqual(['x']);
    const other = await t.graphql(updating, { patch: {}, ...request, addTags: ['other'] });
    expect([codeOf(other), issuesOf(other)]).toStrictEqual(['INVALID', ['idempotencyKey MALFORMED_ARGUMENT']]);
  });

  it('rejects tags that are not valid or contradict each other, and changes nothing', async () => {
    const rejected = async (variables: object) => {
      const sent = { filter: {}, patch: {}, dryRun: false, ...variables };
      const response = await expectNoChange(t, () => t.graphql(updating, sent));
      return [codeOf(response), ...issuesOf(response)];
    };
    expect(await rejected({ addTags: ['ok', ' '] })).toStrictEqual(['INVALID', 'addTags[1] EMPTY']);
    expect(await rejected({ removeTags: ['x'.repeat(5_000)] })).toStrictEqual(['INVALID', 'removeTags[0] TOO_LONG']);
    expect(await rejected({ addTags: ['x'], removeTags: ['y', ' x'] })).toStrictEqual([
      'INVALID',
      'removeTags[1] MALFORMED_ARGUMENT',
    ]);
    expect(await rejected({ patch: { tags: null }, addTags: ['x'] })).toStrictEqual([
      'INVALID',
      'patch.tags MALFORMED_ARGUMENT',
    ]);
    const many = Array.from({ length: 2_000 }, (_, index) => `t${index}`);
    expect(await rejected({ addTags: many })).toStrictEqual(['INVALID', 'addTags TOO_MANY']);
  });

  it('reports a key that would have too many tags in its item', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `t${index}`);
    const response = await updateAll({ filter: { aliasPrefix: 'A' }, addTags: many, dryRun: false });
    expect(response.items.map(({ error }) => error?.issues)).toStrictEqual([[{ path: 'tags', code: 'TOO_MANY' }]]);
  });

  it('reports the error of one key in its item, and changes the others', async () => {
    const response = await updateAll({ patch: { orgID: 'acme', rate: 9 }, dryRun: false });
    expect(codesOf(response)).toStrictEqual({ a: 'ok', b: 'ok', c: 'INVALID', d: 'INVALID' });
    expect(itemOf(response, 'c')).toMatchObject({
      orgKey: { keyID: 'c', version: 1 },
      change: null,
      error: { code: 'INVALID', issues: [{ path: 'orgID', code: 'ORGANIZATION_CHANGED' }] },
    });
    const types = await updateAll({ patch: { basicAuthData: { hashType: 'argon2id' } }, dryRun: false });
    expect(codesOf(types)).toStrictEqual({ a: 'ok', b: 'ok', c: 'INVALID', d: 'ok' });
    expect(itemOf(types, 'c')?.error?.issues).toStrictEqual([
      { path: 'basicAuthData.hashType', code: 'PASSWORD_NEEDED' },
    ]);
  });

  it('does not change a deleted key, even if the filter matches it', async () => {
    await t.graphql('mutation { deleteOrgKey(keyID: "a") { version } }');
    const request = { filter: { states: ['DELETED'] }, patch: { rate: 9 }, dryRun: false };
    const response = await expectNoChange(t, () => updateAll(request));
    expect(codesOf(response)).toStrictEqual({ a: 'NOT_FOUND' });
  });

  it('reports a key that was changed concurrently, and does not overwrite it', async () => {
    const { store } = t.app.services;
    const update = store.update.bind(store);
    // After it was listed, and before it is written.
    store.update = async (keyHash, change) => {
      if (keyHash === hashOf('b')) {
        store.update = update;
        await t.update('b', { alias: 'from another' });
      }
      return update(keyHash, change);
    };
    const response = await updateAll({ filter: { orgID: 'acme' }, patch: { rate: 9 }, dryRun: false });
    expect(codesOf(response)).toStrictEqual({ a: 'ok', b: 'CONFLICT' });
    expect(itemOf(response, 'b')?.error).toStrictEqual({
      code: 'CONFLICT',
      message: 'The key has version 2; the expected version is 1.',
      issues: ['alias', 'rate', 'tags'].map((path) => ({ path, code: 'CHANGED_SINCE' })),
    });
    expect(await definitionOf('b')).toStrictEqual({ alias: 'from another' });
  });

  it.each([
    ['an integrity check', new AppError('INTERNAL', 'The key of Mallory is damaged.')],
    ['an unexpected error', new Error('Mallory')],
  ])('reports a key that fails by %s in its item, and changes and reports the others', async (_, failure) => {
    const { store } = t.app.services;
    const update = store.update.bind(store);
    store.update = (keyHash, change) => (keyHash === hashOf('b') ? Promise.reject(failure) : update(keyHash, change));
    const response = await updateAll({ patch: { rate: 9 }, dryRun: false });
    expect(codesOf(response)).toStrictEqual({ a: 'ok', b: 'INTERNAL', c: 'ok', d: 'ok' });
    expect(itemOf(response, 'b')).toMatchObject({
      change: null,
      error: { code: 'INTERNAL', message: 'Internal error.', issues: [] },
    });
    expect(JSON.stringify(response)).not.toContain('Mallory');
    // The cause is for the log alone.
    expect(t.logs()).toContain('Mallory');
    expect((await everyState('a', 'b', 'c', 'd')).map(({ key }) => key?.version)).toStrictEqual([2, 1, 2, 2]);
  });

  it('rejects a patch that is invalid for every key, with all issues', async () => {
    const rejected = (variables: object) =>
      expectNoChange(t, () => t.graphql(updating, { filter: {}, patch: {}, dryRun: false, ...variables }));
    const response = await rejected({ patch: { rate: -2, tags: [' '], nope: 1 } });
    expect(codeOf(response)).toBe('INVALID');
    expect(issuesOf(response)).toStrictEqual(['nope UNKNOWN_FIELD', 'rate OUT_OF_RANGE', 'tags[0] EMPTY']);
    expect(issuesOf(await rejected({ reason: 'x'.repeat(501) }))).toStrictEqual(['reason TOO_LONG']);
  });

  it('changes only keys of the organization of a bound credential', async () => {
    const headers = { 'x-svc-authorization': (await t.issue('service', { orgID: 'globex' })).secret };
    expect(idsOf(await updateAll({ patch: { rate: 9 }, dryRun: false }, headers))).toStrictEqual(['c', 'd']);
    expect(
      (await updateAll({ filter: { orgID: 'acme' }, patch: { rate: 9 }, dryRun: false }, headers)).items,
    ).toStrictEqual([]);
    expect((await everyState('a', 'b')).map(({ key }) => key?.version)).toStrictEqual([1, 1]);
  });
});

describe('the key of an item of a dry run', () => {
  it('equals the stored key in every field, so that clients may cache it by its id', async () => {
    await t.importKeys({ key_id: 'stored', org_id: 'acme', alias: 'old', quota_max: 10, quota_remaining: 4 });
    await t.graphql('mutation { updateOrgKey(keyID: "stored", input: { alias: "newer", quotaMax: 10 }) { version } }');
    const key = `id version state updatedAt definition { alias isInactive tags quotaMax }
      quota { max used } history(last: 5) { edges { node { version } } }`;
    const stored = dataOf(await t.graphql(`{ orgKey(by: { keyID: "stored" }) { ${key} } }`));
    const patch = '{ alias: "imagined", isInactive: true, tags: ["imagined"], quotaMax: 99 }';
    const change = 'change { version definition { alias isInactive } quotaEffect { after { used } } }';
    const request = `updateOrgKeys(filter: {}, patch: ${patch}, resetQuota: true, dryRun: DRY) { items { orgKey { ${key} } ${change} } }`;
    const predicted = {
      version: 3,
      definition: { alias: 'imagined', isInactive: true },
      quotaEffect: { after: { used: 0 } },
    };
    const dry = await t.graphql(`mutation { ${request.replace('DRY', 'true')} }`);
    expect(dataOf(dry)).toEqual({ items: [{ orgKey: stored, change: predicted }] });
    const made = await t.graphql(`mutation { ${request.replace('DRY', 'false')} }`);
    expect(dataOf(made)).toMatchObject({
      items: [{ orgKey: { version: 3, state: 'INACTIVE', quota: { max: 99, used: 0 } }, change: predicted }],
    });
  });
});

describe('a change of many keys', () => {
  beforeEach(() =>
    t.importKeys(
      ...Array.from({ length: 205 }, (_, index) => ({ key_id: `k${index}`, org_id: index < 200 ? 'acme' : 'globex' })),
    ),
  );
  const versions = async () => {
    const found: number[] = [];
    for await (const { key } of t.app.services.store.all()) if (key) found.push(key.version);
    return found;
  };

  it('rejects a change of more than 200 keys, and changes none', async () => {
    for (const dryRun of [true, false]) {
      const response = await t.graphql(updating, { filter: {}, patch: { rate: 1 }, dryRun });
      expect([codeOf(response), issuesOf(response)]).toStrictEqual(['INVALID', ['filter TOO_MANY']]);
    }
    expect(new Set(await versions())).toStrictEqual(new Set([1]));
  });

  it('changes 200 keys in one call, in the order of their hashes', async () => {
    const response = await updateAll({ filter: { orgID: 'acme' }, patch: { rate: 1 }, dryRun: false });
    expect([response.items.length, response.hasNextPage]).toStrictEqual([200, false]);
    const hashes = response.items.map(({ orgKey }) => hashOf(orgKey.keyID));
    expect(hashes).toStrictEqual(hashes.toSorted());
    expect((await versions()).filter((version) => version === 2)).toHaveLength(200);
  });

  it('changes all keys page by page, each once, even if the change excludes a key from the filter', async () => {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page: Bulk = await updateAll({
        filter: { states: ['ACTIVE'] },
        patch: { isInactive: true },
        dryRun: false,
        first: 90,
        after,
      });
      found.push(...idsOf(page));
      after = page.hasNextPage ? page.endCursor : null;
    } while (after !== null);
    expect(found).toHaveLength(205);
    expect(new Set(found).size).toBe(205);
    expect(new Set(await versions())).toStrictEqual(new Set([2]));
  });

  it('limits pages to 200 keys, the default after a cursor', async () => {
    expect((await updateAll({ first: 1000 })).items).toHaveLength(200);
    const first = await updateAll({ first: 1 });
    expect(first.items).toHaveLength(1);
    const rest = await updateAll({ after: first.endCursor });
    expect([rest.items.length, rest.hasNextPage]).toStrictEqual([200, true]);
    expect(idsOf(rest)).not.toContain(idsOf(first)[0]);
    expect(await updateAll({ filter: { tagsAll: ['none'] }, first: 5 })).toStrictEqual({
      dryRun: true,
      items: [],
      hasNextPage: false,
      endCursor: null,
    });
  });

  it.each([0, -1, -2147483648])('rejects a page of %i keys, and changes none', async (first) => {
    const response = await t.graphql(updating, { filter: {}, patch: { rate: 1 }, dryRun: false, first });
    expect([codeOf(response), issuesOf(response)]).toStrictEqual(['INVALID', ['first OUT_OF_RANGE']]);
    expect(new Set(await versions())).toStrictEqual(new Set([1]));
  });

  it('rejects an invalid cursor', async () => {
    expect(issuesOf(await t.graphql(updating, { filter: {}, patch: {}, after: 'x' }))).toStrictEqual([
      'after MALFORMED_ARGUMENT',
    ]);
  });
});

describe('resetOrgQuotas', () => {
  beforeEach(async () => {
    for (const org of ['acme', 'globex', 'initech']) {
      await t.importKeys(
        {
          key_id: `${org}-renewing`,
          org_id: org,
          quota_max: 100,
          quota_remaining: 30,
          quota_renewal_rate: 3600,
          alias: 'keep',
        },
        { key_id: `${org}-once`, org_id: org, quota_max: 10, quota_remaining: 0 },
      );
    }
  });

  it('resets the quotas of many organizations, and reports the dropped requests', async () => {
    t.clock.now = new Date(t.clock.now.getTime() + 60_000);
    const now = BigInt(t.clock.now.getTime() / 1000);
    const foretold = await resetAll({});
    expect(foretold.dryRun).toBe(true);
    expect((await stateOf(t, 'acme-once')).key?.quota.used).toBe(10n);
    const done = await resetAll({ dryRun: false, reason: 'end of January' });
    expect(done).toStrictEqual(asMade(foretold));
    expect(done.items).toHaveLength(6);
    expect(itemOf(done, 'globex-renewing')?.change?.quotaEffect).toStrictEqual({
      before: { used: 70 },
      after: { used: 0 },
    });
    for (const org of ['acme', 'globex', 'initech']) {
      const renewing = await stateOf(t, `${org}-renewing`);
      expect(renewing.key?.quota).toStrictEqual({ used: 0n, renews: now + 3600n });
      expect(renewing.key?.definition).toMatchObject({ alias: 'keep', quotaRemaining: 100n, quotaRenews: now + 3600n });
      expect(renewing.audit.at(-1)).toMatchObject({ reason: 'end of January', quotaUsedBeforeReset: 70n });
      expect((await stateOf(t, `${org}-once`)).key?.quota).toStrictEqual({ used: 0n, renews: undefined });
    }
  });

  it('resets only keys that match the filter, within the organization of a bound credential', async () => {
    await resetAll({ filter: { orgID: 'acme' }, dryRun: false });
    expect((await everyState('acme-once', 'globex-once')).map(({ key }) => key?.quota.used)).toStrictEqual([0n, 10n]);
    const headers = { 'x-svc-authorization': (await t.issue('service', { orgID: 'globex' })).secret };
    expect((await resetAll({ dryRun: false }, headers)).items).toHaveLength(2);
    expect((await stateOf(t, 'initech-once')).key?.quota.used).toBe(10n);
  });
});
