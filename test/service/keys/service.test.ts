import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEvent, CallContext, KeyStore, Ports } from '../../../src/keys/ports.js';
import { AppError } from '../../../src/lib/errors.js';
import type { BulkResult } from '../../../src/keys/bulk.js';
import type { CreateRequest } from '../../../src/keys/create.js';
import { createKeyService, type KeyService } from '../../../src/keys/key-service.js';
import { quotaChangeOf } from '../../../src/keys/quota/quota-change.js';
import type { ExternalCounters, ResetStatus } from '../../../src/keys/quota/external-counters.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { anUpdate, hashOf } from '../../support/factories.js';
import { stateOf } from '../../support/state.js';

let t: TestApp;
let keys: KeyService;
let attempts: AuditEvent[];
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'before' }, { key_id: 'k2', org_id: 'globex' });
  attempts = [];
  keys = createKeyService({ ...t.app.services.ports, audit: (attempt) => attempts.push(attempt) });
});

const caller: CallContext = { credentialID: 'cred_1', label: 'acme', orgID: 'acme', requestID: 'request-1' };
const unbound: CallContext = { ...caller, orgID: undefined };
const page = { filter: {}, orderBy: 'KEY_HASH', descending: false, limit: 10 } as const;
const options = { reason: undefined, expectedVersion: undefined };
const update = { ...options, input: {}, resetQuota: false };
const bulk = { filter: {}, patch: {}, resetQuota: false, isDryRun: false };

type Attempt = (caller: CallContext, request: { keyID: string }) => Promise<unknown>;
const commands: Record<string, Attempt> = {
  updateOrgKey: (by, request) => keys.updateOrgKey(by, { ...update, ...request }),
  deleteOrgKey: (by, request) => keys.deleteOrgKey(by, request),
  restoreOrgKey: (by, request) => keys.restoreOrgKey(by, request),
  revertOrgKey: (by, request) => keys.revertOrgKey(by, { ...request, toVersion: 1 }),
  createOrgKey: (by, request) => keys.createOrgKey(by, { ...request, input: { orgID: 'acme' } }),
  consumeOrgQuota: (by, { keyID }) => keys.consumeOrgQuota(by, { keyID, amount: 1n }),
};
const scopes: Record<string, string> = {
  updateOrgKey: 'update',
  deleteOrgKey: 'delete',
  restoreOrgKey: 'delete',
  revertOrgKey: 'update',
  createOrgKey: 'create',
  consumeOrgQuota: 'consume',
};
const missing = (scope: string) => ({
  code: 'FORBIDDEN',
  message: `The credential does not have the scope \`${scope}\`.`,
});

describe.each(Object.entries(commands))('%s', (operation, attempt) => {
  const scope = scopes[operation] ?? '';
  const issue = { path: ['keyID'], code: 'MALFORMED_KEY_ID', message: 'must not hold a slash or a backslash' };

  it('is rejected without its scope, and audited with the hash of the key', async () => {
    const others = (['read', 'update', 'create', 'delete', 'consume'] as const).filter((one) => one !== scope);
    const rejected = missing(scope);
    await expect(attempt({ ...caller, scopes: others }, { keyID: 'k1' })).rejects.toMatchObject(rejected);
    expect(attempts).toMatchObject([
      { operation, requestID: 'request-1', keyHash: hashOf('k1'), outcome: { error: rejected } },
    ]);
  });

  it('is rejected for a malformed identifier, and audited without a hash', async () => {
    await expect(attempt(caller, { keyID: 'a/b' })).rejects.toMatchObject({ code: 'INVALID', issues: [issue] });
    expect(attempts).toMatchObject([{ operation, keyHash: undefined, outcome: { error: { code: 'INVALID' } } }]);
  });
});

describe('the reason for a change', () => {
  const changes: Record<string, (reason: string) => Promise<unknown>> = {
    updateOrgKey: (reason) => keys.updateOrgKey(caller, { ...update, keyID: 'k1', reason }),
    deleteOrgKey: (reason) => keys.deleteOrgKey(caller, { keyID: 'k1', reason }),
    restoreOrgKey: (reason) => keys.restoreOrgKey(caller, { keyID: 'k1', reason }),
    revertOrgKey: (reason) => keys.revertOrgKey(caller, { keyID: 'k1', reason, toVersion: 1 }),
    createOrgKey: (reason) => keys.createOrgKey(caller, { reason, input: {} }),
    updateOrgKeys: (reason) => keys.updateOrgKeys(caller, { ...bulk, reason }),
    previewOrgKeyUpdate: (reason) => keys.previewOrgKeyUpdate(caller, { ...update, keyID: 'k1', reason }),
  };
  const invalid = (code: string, message: string) => ({
    code: 'INVALID',
    message: 'The reason is not valid.',
    issues: [{ path: ['reason'], code, message }],
  });

  it.each(Object.entries(changes))('has at most 500 characters of well-formed text in %s', async (_, change) => {
    const tooLong = invalid('TOO_LONG', 'must have at most 500 characters');
    await expect(change('x'.repeat(501))).rejects.toMatchObject(tooLong);
    const malformed = invalid('MALFORMED_TEXT', 'must be well-formed Unicode without NUL');
    await expect(change('\ud800')).rejects.toMatchObject(malformed);
  });

  it('may have 500 characters', async () => {
    await keys.updateOrgKey(caller, { ...update, keyID: 'k1', reason: 'x'.repeat(500) });
    expect((await stateOf(t, 'k1')).audit.at(-1)?.reason).toHaveLength(500);
  });
});

describe('a change that is rejected', () => {
  const create = (by: CallContext, request: Partial<CreateRequest>) =>
    keys.createOrgKey(by, { input: { orgID: 'acme', ...request.input }, ...request });
  const password = { basicAuthData: { password: 'correct horse' } };
  beforeEach(() => {
    const { ports } = t.app.services;
    // Hashing takes time, which no request that fails may spend.
    keys = createKeyService({ ...ports, hashPassword: () => Promise.reject(new Error('A password was hashed.')) });
  });

  it.each<[string, (deleted: string) => Promise<unknown>, object]>([
    [
      'creates a key with an identifier and a prefix',
      () => create(caller, { keyID: 'k3', keyIDPrefix: 'k' }),
      {
        code: 'INVALID',
        message: 'The identifier of the key is given twice.',
        issues: [{ path: ['prefix'], code: 'MALFORMED_ARGUMENT', message: 'must not be combined with `keyID`' }],
      },
    ],
    [
      'creates a key that exists',
      () => create(caller, { keyID: 'k1', input: { ...password, orgID: 'acme' } }),
      { code: 'CONFLICT', message: 'The key exists already; it is not overwritten.' },
    ],
    [
      'creates a key that is deleted',
      (deleted) => create(caller, { keyID: deleted }),
      { code: 'CONFLICT', message: 'The key was deleted and can be restored; it is not overwritten.' },
    ],
    [
      'creates a key that another organization has deleted',
      (deleted) => create({ ...caller, orgID: 'globex' }, { keyID: deleted, input: {} }),
      { code: 'CONFLICT', message: 'The key exists already; it is not overwritten.' },
    ],
    [
      'creates a key of another organization',
      () => create(caller, { input: { orgID: 'globex' } }),
      {
        code: 'FORBIDDEN',
        message: 'The credential is bound to another organization than the definition names.',
      },
    ],
    [
      'restores a key that is not deleted',
      () => keys.restoreOrgKey(caller, { keyID: 'k1' }),
      { code: 'NOT_FOUND', message: 'There is no deleted key to restore.' },
    ],
    [
      'reverts to a version that does not exist',
      () => keys.revertOrgKey(caller, { keyID: 'k1', toVersion: 2 }),
      { code: 'NOT_FOUND', message: 'The key has no version 2.' },
    ],
    [
      'updates a key of another organization',
      () => keys.updateOrgKey(caller, { ...update, keyID: 'k2', input: password }),
      { code: 'NOT_FOUND', message: 'There is no such key.' },
    ],
    [
      'updates another version',
      () => keys.updateOrgKey(caller, { ...update, keyID: 'k1', input: password, expectedVersion: [2, 7] }),
      { code: 'CONFLICT', message: 'The key has version 1; the expected version is 2 or 7.' },
    ],
    [
      'consumes nothing',
      () => keys.consumeOrgQuota(caller, { keyID: 'k1', amount: 0n }),
      {
        code: 'INVALID',
        message: 'The amount is not valid.',
        issues: [{ path: ['amount'], code: 'OUT_OF_RANGE', message: 'must be from 1 to 4611686018427387903' }],
      },
    ],
  ])('names the reason, and hashes no password, when it %s', async (_, attempt, expected) => {
    await t.importKeys({ key_id: 'gone', org_id: 'acme' });
    await keys.deleteOrgKey(caller, { keyID: 'gone' });
    await expect(attempt('gone')).rejects.toMatchObject(expected);
  });

  it('lists every contradiction of a definition to the stored key', async () => {
    await t.importKeys({ key_id: 'k3', org_id: 'acme', basic_auth_data: { password: 'correct horse' } });
    const input = { orgID: 'globex', basicAuthData: { hashType: 'argon2id' }, quotaRenewalRate: 2n ** 63n - 1n };
    await expect(keys.updateOrgKey(caller, { keyID: 'k3', input, resetQuota: true })).rejects.toMatchObject({
      message: 'The key definition has 3 problems.',
      issues: [
        { path: ['orgID'], code: 'ORGANIZATION_CHANGED', message: 'must be that of the stored key, or left out' },
        {
          path: ['basicAuthData', 'hashType'],
          code: 'PASSWORD_NEEDED',
          message: 'differs from how the stored password is hashed; send the `password` with it',
        },
        {
          path: ['quotaRenewalRate'],
          code: 'OUT_OF_RANGE',
          message: 'must be smaller: the quota period would end after the largest 64-bit timestamp',
        },
      ],
    });
  });

  it('names the fields that have changed since the newest expected version', async () => {
    keys = createKeyService(t.app.services.ports);
    for (const input of [
      { alias: 'second' },
      { alias: 'third', hmacString: 's3cret' },
      { rate: 1, hmacString: 'new' },
    ]) {
      await keys.updateOrgKey(caller, { ...update, keyID: 'k1', input });
    }
    const stale = keys.updateOrgKey(caller, { ...update, keyID: 'k1', expectedVersion: [1, 2, 9] });
    await expect(stale).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The key has version 4; the expected version is 1 or 2 or 9.',
      issues: ['rate', 'alias', 'hmacString'].map((name) => ({
        path: [name],
        code: 'CHANGED_SINCE',
        message: 'has changed since version 2',
      })),
    });
  });

  it.each([
    ['INTERNAL', 1],
    ['UNAVAILABLE', 0],
  ] as const)(
    'is returned without fields when reading them fails with %s, which is logged %i times',
    async (code, times) => {
      const { ports } = t.app.services;
      const failure = new AppError(code, 'The history cannot be read.');
      const reported: unknown[] = [];
      keys = createKeyService({
        ...ports,
        store: { ...ports.store, definitionAt: () => Promise.reject(failure) },
        reportError: (...details) => reported.push(details),
      });
      await keys.updateOrgKey(caller, { ...update, keyID: 'k1', input: { alias: 'second' } });
      const stale = keys.updateOrgKey(caller, { ...update, keyID: 'k1', expectedVersion: 1 });
      const message = 'The key has version 2; the expected version is 1.';
      await expect(stale).rejects.toMatchObject({ code: 'CONFLICT', message, issues: [] });
      expect(reported).toStrictEqual(Array.from({ length: times }, () => [failure, 'request-1']));
    },
  );

  it('names a secret that changed among the last 100 of many changes', async () => {
    keys = createKeyService(t.app.services.ports);
    for (let rate = 0; rate < 100; rate += 1)
      await keys.updateOrgKey(caller, { ...update, keyID: 'k1', input: { rate } });
    await keys.updateOrgKey(caller, { ...update, keyID: 'k1', input: { alias: 'before', hmacString: 's3cret' } });
    const stale = keys.updateOrgKey(caller, { ...update, keyID: 'k1', expectedVersion: 1 });
    await expect(stale).rejects.toMatchObject({ issues: [{ path: ['hmacString'], code: 'CHANGED_SINCE' }] });
  });
});

describe('a bulk update', () => {
  it('of more keys than one call may change is rejected, unless it requests a page', async () => {
    await t.importKeys(...Array.from({ length: 200 }, (_, index) => ({ key_id: `b${index}`, org_id: 'globex' })));
    await expect(keys.updateOrgKeys(unbound, bulk)).rejects.toMatchObject({
      code: 'INVALID',
      message: 'The filter matches too many keys.',
      issues: [
        {
          path: ['filter'],
          code: 'TOO_MANY',
          message:
            'matches more than the 200 keys that one call may change; narrow it, or page with `first` and `after`',
        },
      ],
    });
    const { items, hasMore } = await keys.updateOrgKeys(unbound, { ...bulk, isDryRun: true, page: { first: 1000 } });
    expect([items.length, hasMore]).toStrictEqual([200, true]);
  });

  it('is rejected without one of its two scopes', async () => {
    await expect(keys.updateOrgKeys({ ...caller, scopes: ['read'] }, bulk)).rejects.toMatchObject(missing('update'));
    await expect(keys.updateOrgKeys({ ...caller, scopes: ['update'] }, bulk)).rejects.toMatchObject(missing('read'));
  });

  it('is audited for each key that it changes', async () => {
    await keys.updateOrgKeys(unbound, { ...bulk, patch: { rate: 1 } });
    const outcome = { version: 2, isChanged: true };
    expect(attempts).toHaveLength(2);
    for (const [name, orgID] of [
      ['k1', 'acme'],
      ['k2', 'globex'],
    ] as const) {
      const attempt = attempts.find(({ keyHash }) => keyHash === hashOf(name));
      expect(attempt).toMatchObject({ operation: 'updateOrgKeys', outcome: { ...outcome, orgID } });
    }
  });
});

describe('a bulk update that is repeated with its idempotency key', () => {
  const request = { ...bulk, patch: { rate: 1 }, idempotencyKey: 'i' };
  const outcomes = ({ items }: BulkResult) =>
    Object.fromEntries(
      items.map(({ keyHash, change, error }) => [
        ['k1', 'k2', 'k3'].find((name) => hashOf(name) === keyHash),
        error?.code ?? change?.key.version,
      ]),
    );
  /** The service with a store that fails for the key k2. */
  const failing = (error: Error, reportError?: Ports['reportError']) => {
    const { ports } = t.app.services;
    const fails = (keyHash: string) => keyHash === hashOf('k2');
    const store: KeyStore = {
      ...ports.store,
      find: (keyHash, orgID) => (fails(keyHash) ? Promise.reject(error) : ports.store.find(keyHash, orgID)),
      findMany: (hashes, ...more) =>
        hashes.some(fails) ? Promise.reject(error) : ports.store.findMany(hashes, ...more),
      update: (keyHash, change, orgID) =>
        fails(keyHash) ? Promise.reject(error) : ports.store.update(keyHash, change, orgID),
    };
    return createKeyService({ ...ports, store, ...(reportError && { reportError }) });
  };
  const damaged = new AppError('INTERNAL', 'The key of Mallory is damaged.');

  it('changes the keys of its first attempt that were not changed since, and no others', async () => {
    const reported: unknown[] = [];
    const report = (...details: unknown[]) => reported.push(details);
    expect(outcomes(await failing(damaged, report).updateOrgKeys(unbound, request))).toEqual({ k1: 2, k2: 'INTERNAL' });
    expect(reported).toEqual([[damaged, 'request-1']]);
    await t.update('k2', { alias: 'changed since' });
    await t.importKeys({ key_id: 'k3', org_id: 'acme' });
    expect(outcomes(await keys.updateOrgKeys(unbound, request))).toEqual({ k1: 2, k2: 'CONFLICT' });
    expect((await stateOf(t, 'k1')).audit).toHaveLength(2);
    expect((await stateOf(t, 'k3')).key?.version).toBe(1);
  });

  it('returns a key that cannot be read as an error, and leaves out one that was purged', async () => {
    await keys.updateOrgKeys(unbound, request);
    const repeated = await failing(damaged).updateOrgKeys(unbound, request);
    expect(repeated.items.find(({ keyHash }) => keyHash === hashOf('k2'))).toEqual({
      keyHash: hashOf('k2'),
      key: undefined,
      change: undefined,
      error: { code: 'INTERNAL', message: 'Internal error.', issues: [] },
    });
    await keys.deleteOrgKey(unbound, { keyID: 'k2' });
    t.clock.now = new Date(t.clock.now.getTime() + 1_000);
    await t.app.services.store.purge(t.clock.now);
    expect(outcomes(await keys.updateOrgKeys(unbound, request))).toEqual({ k1: 2 });
  });

  it('fails when its keys cannot be read now', async () => {
    await keys.updateOrgKeys(unbound, request);
    const busy = new AppError('UNAVAILABLE', 'The database is busy.');
    await expect(failing(busy).updateOrgKeys(unbound, request)).rejects.toBe(busy);
  });

  it('returns whether more keys matched, and a request without matching keys returns none again', async () => {
    const first = { ...request, page: { first: 1 } };
    const results = [await keys.updateOrgKeys(unbound, first), await keys.updateOrgKeys(unbound, first)];
    expect(results.map(({ items, hasMore }) => [items.length, hasMore])).toEqual([
      [1, true],
      [1, true],
    ]);
    const none = { ...request, filter: { tagsAll: ['none'] }, idempotencyKey: 'n' };
    for (const _ of [1, 2]) expect((await keys.updateOrgKeys(unbound, none)).items).toEqual([]);
  });
});

describe('a query', () => {
  const queries: Record<string, (by: CallContext) => unknown> = {
    keyHashOf: (by) => keys.keyHashOf(by, 'k1'),
    orgKey: (by) => keys.orgKey(by, { keyID: 'k1' }),
    orgKeysByHash: (by) => keys.orgKeysByHash(by, [hashOf('k1')]),
    requireOrgKey: (by) => keys.requireOrgKey(by, 'k1'),
    orgKeys: (by) => keys.orgKeys(by, page),
    orgKeysOfEach: (by) => keys.orgKeysOfEach(by, ['acme'], page),
    countOrgKeys: (by) => keys.countOrgKeys(by, {}),
    countOrgKeysOfEach: (by) => keys.countOrgKeysOfEach(by, ['acme'], {}),
    previewOrgKeyUpdate: (by) => keys.previewOrgKeyUpdate(by, { ...update, keyID: 'k1' }),
    orgKeyChanges: (by) => keys.orgKeyChanges(by, {}, new AbortController().signal),
  };

  it.each(Object.entries(queries))('named %s is rejected without the scope read, and not audited', async (_, query) => {
    const send = async () => query({ ...caller, scopes: ['update', 'create', 'delete', 'consume'] });
    await expect(send()).rejects.toMatchObject(missing('read'));
    expect(attempts).toStrictEqual([]);
  });

  it('returns nothing for another organization than that of the caller', async () => {
    const foreign = { ...page, filter: { orgID: 'globex' } };
    expect(await keys.orgKeys(caller, foreign)).toStrictEqual({ keys: [], isCut: false });
    expect(await keys.countOrgKeys(caller, foreign.filter)).toBe(0);
    expect(await keys.orgKey(caller, { keyID: 'k2' })).toBeUndefined();
    expect(await keys.orgKeysByHash(caller, [hashOf('k2'), hashOf('k1')])).toMatchObject([
      undefined,
      { keyHash: hashOf('k1') },
    ]);
    for (const filter of [{}, { orgID: 'acme' }]) {
      const own = await keys.orgKeys(caller, { ...page, filter });
      expect(own.keys.map(({ orgID }) => orgID)).toStrictEqual(['acme']);
      expect(await keys.countOrgKeys(caller, filter)).toBe(1);
    }
  });

  it('of a caller that is bound to no organization returns the keys of all, or of the filter', async () => {
    expect((await keys.orgKeys(unbound, page)).keys).toHaveLength(2);
    const filtered = await keys.orgKeys(unbound, { ...page, filter: { orgID: 'globex' } });
    expect(filtered.keys.map(({ orgID }) => orgID)).toStrictEqual(['globex']);
    expect([await keys.countOrgKeys(unbound, {}), await keys.countOrgKeys(unbound, { orgID: 'globex' })]).toEqual([
      2, 1,
    ]);
  });

  it.each([
    [{}, [['globex'], [], ['acme']]],
    [{ orgID: 'acme' }, [[], [], ['acme']]],
    [{ orgID: 'globex' }, [['globex'], [], []]],
    [{ orgID: 'hooli' }, [[], [], []]],
  ])('of several organizations with the filter %j returns a page and a count of each', async (filter, expected) => {
    const orgIDs = ['globex', 'initech', 'acme'];
    const pages = await keys.orgKeysOfEach(unbound, orgIDs, { ...page, filter });
    expect(pages.map((one) => one.keys.map(({ orgID }) => orgID))).toStrictEqual(expected);
    expect(await keys.countOrgKeysOfEach(unbound, orgIDs, filter)).toStrictEqual(expected.map(({ length }) => length));
  });
});

describe('the identifier of a new key', () => {
  it('is checked again in the transaction, also against keys that the caller does not see', async () => {
    const { ports } = t.app.services;
    // The key of another organization is created between the check and the transaction.
    const store: KeyStore = { ...ports.store, find: () => Promise.resolve(undefined) };
    const created = createKeyService({ ...ports, store }).createOrgKey(caller, { keyID: 'k2', input: {} });
    const conflict = { code: 'CONFLICT', message: 'The key exists already; it is not overwritten.' };
    await expect(created).rejects.toMatchObject(conflict);
    expect((await stateOf(t, 'k2')).key).toMatchObject({ orgID: 'globex', version: 1 });
  });

  it('of a request that is valid has its hash in the log, of another none', () => {
    expect(['a/b', 'k1'].map((keyID) => keys.tryHashOf({ keyID }))).toEqual([undefined, hashOf('k1')]);
    expect(['k1', hashOf('k1')].map((keyHash) => keys.tryHashOf({ keyHash }))).toEqual([undefined, hashOf('k1')]);
  });
});

describe('the transaction of a change', () => {
  it('reads no key of another organization, except to create one', async () => {
    const { ports } = t.app.services;
    const read: unknown[] = [];
    const store: KeyStore = {
      ...ports.store,
      update: (keyHash, change, orgID) => {
        read.push(orgID);
        return ports.store.update(keyHash, change, orgID);
      },
    };
    keys = createKeyService({ ...ports, store });
    for (const attempt of ['updateOrgKey', 'deleteOrgKey', 'restoreOrgKey', 'revertOrgKey']) {
      await commands[attempt]?.(caller, { keyID: 'k1' });
    }
    expect(read).toStrictEqual(['acme', 'acme', 'acme', 'acme']);
    await keys.createOrgKey(caller, { input: {} });
    expect(read.at(-1)).toBeUndefined();
  });
});

describe('decimal strings in free-form JSON', () => {
  it('are the stored integers again in an update, and no field is added', async () => {
    const big = 9007199254740993n;
    const request = { ...update, keyID: 'k1', hasDecimalStrings: true };
    await keys.updateOrgKey(caller, { ...request, input: { metaData: { big }, oauthKeys: { big } } });
    const input = { metaData: { big: String(big), other: 1 } };
    const changed = await keys.updateOrgKey(caller, { ...request, input });
    expect(changed.key.definition).toStrictEqual({ metaData: { big, other: 1 } });
    // The REST API writes digits for integers, and omits `hasDecimalStrings`.
    const text = await keys.updateOrgKey(caller, { ...update, keyID: 'k1', input });
    expect(text.key.definition).toStrictEqual(input);
    await keys.updateOrgKey(caller, { ...request, input: { metaData: { big } } });
    const reverted = await keys.revertOrgKey(caller, { keyID: 'k1', toVersion: text.key.version });
    expect(reverted.key.definition).toStrictEqual(input);
  });
});

describe('the owner of a key', () => {
  it('is checked again in the transaction: returns NOT_FOUND when the key changes its owner during password hashing', async () => {
    const { ports, store } = t.app.services;
    keys = createKeyService({
      ...ports,
      // Hashing takes its time, and this is what may happen meanwhile.
      hashPassword: async (password, type) => {
        await store.update(ports.hashKeyID('k1'), (found) => anUpdate(found, { orgID: 'globex' }));
        return ports.hashPassword(password, type);
      },
    });
    const request = { ...update, keyID: 'k1', input: { alias: 'after', basicAuthData: { password: 'correct horse' } } };
    await expect(keys.updateOrgKey(caller, request)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { key, audit } = await stateOf(t, 'k1');
    expect(key).toMatchObject({ orgID: 'globex', version: 2, definition: { alias: 'before' } });
    expect(audit).toHaveLength(2);
  });
});

describe('the version of a revert', () => {
  it('is not that of an earlier key, which was purged before its successor was created', async () => {
    const { ports, store } = t.app.services;
    keys = createKeyService({
      ...ports,
      store: {
        ...store,
        definitionAt: async (keyHash, version) => {
          const definition = await store.definitionAt(keyHash, version);
          await keys.deleteOrgKey(caller, { keyID: 'k1' });
          t.clock.now = new Date(t.clock.now.getTime() + 1_000);
          expect(await store.purge(t.clock.now)).toBe(1);
          await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'successor' });
          return definition;
        },
      },
    });
    const revert = keys.revertOrgKey(caller, { keyID: 'k1', toVersion: 1 });
    await expect(revert).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'There is no such key.' });
    expect((await stateOf(t, 'k1')).key).toMatchObject({ version: 1, definition: { alias: 'successor' } });
  });
});

describe('a change of a key whose live counter is outside of the store', () => {
  /** The service with counters that are read as given. */
  const withCounters = (readCounters: ExternalCounters['readCounters'], status: ResetStatus = 'APPLIED') => {
    const { ports } = t.app.services;
    return createKeyService({
      ...ports,
      externalCounters: {
        receiptsOf: () => ports.store,
        consume: ports.store.consume,
        readCounters,
        pendingChange: quotaChangeOf,
        applyPending: () => Promise.resolve(status),
      },
    });
  };
  const reachable: ExternalCounters['readCounters'] = (keyHashes) =>
    Promise.resolve(keyHashes.map(() => ({ quota }) => ({ ...quota, used: 7n })));
  const failing = (code: 'UNAVAILABLE' | 'INTERNAL') => () => Promise.reject(new AppError(code, 'The counter failed.'));
  const figures = (used: bigint) => ({ max: 10n, used, remaining: 10n - used, renewsAt: undefined });
  const reset = { ...update, keyID: 'k3', input: { quotaMax: 10n }, resetQuota: true };
  beforeEach(() => t.importKeys({ key_id: 'k3', org_id: 'acme', quota_max: 10 }));

  it('returns the live quota before and after, and keeps in the history what a reset dropped', async () => {
    const change = await withCounters(reachable).updateOrgKey(caller, reset);
    expect(change).toMatchObject({ quotaEffect: { before: figures(7n), after: figures(0n) }, quotaReset: 'APPLIED' });
    expect((await stateOf(t, 'k3')).audit.at(-1)).toMatchObject({ operation: 'update', quotaUsedBeforeReset: 7n });
    const renamed = { ...reset, input: { alias: 'a', quotaMax: 10n }, resetQuota: false };
    const { quotaEffect, quotaReset } = await withCounters(reachable).updateOrgKey(caller, renamed);
    expect([quotaEffect, quotaReset]).toStrictEqual([{ before: figures(7n), after: figures(7n) }, undefined]);
    expect((await stateOf(t, 'k3')).audit.at(-1)?.quotaUsedBeforeReset).toBeUndefined();
  });

  it('is made while the counter is unreachable, and returns a reset as pending', async () => {
    const change = await withCounters(failing('UNAVAILABLE'), 'PENDING').updateOrgKey(caller, reset);
    expect(change).toMatchObject({ isChanged: true, quotaEffect: undefined, quotaReset: 'PENDING' });
    expect((await stateOf(t, 'k3')).audit.at(-1)).toMatchObject({ versionAfter: 2, quotaUsedBeforeReset: undefined });
    const unchanged = { ...reset, input: { quotaMax: 10n, quotaRemaining: 10n }, resetQuota: false };
    const same = await withCounters(failing('UNAVAILABLE')).updateOrgKey(caller, unchanged);
    expect(same).toMatchObject({ isChanged: false, changes: [], quotaEffect: undefined, quotaReset: undefined });
    const preview = await withCounters(failing('UNAVAILABLE')).previewOrgKeyUpdate(caller, reset);
    expect(preview).toMatchObject({ isChanged: true, quotaEffect: undefined, quotaReset: undefined });
  });

  it('repeats a reset as pending, because its receipt is written before the counter is reset', async () => {
    const resets = async (service: KeyService) => {
      const { items } = await service.updateOrgKeys(caller, { ...bulk, resetQuota: true, idempotencyKey: 'k' });
      return items.map(({ change }) => change?.quotaReset);
    };
    expect(await resets(withCounters(reachable))).toStrictEqual(['APPLIED', 'APPLIED']);
    expect(await resets(withCounters(reachable))).toStrictEqual(['PENDING', 'PENDING']);
  });

  it('returns the initial quota of a new key, whose counter need not be read', async () => {
    const input = { orgID: 'acme', quotaMax: 10n, quotaRemaining: 4n };
    const { quotaEffect } = await withCounters(failing('UNAVAILABLE')).createOrgKey(caller, { input });
    expect(quotaEffect).toStrictEqual({ before: figures(6n), after: figures(6n) });
  });

  it('is not made when the counter fails in another way', async () => {
    await expect(withCounters(failing('INTERNAL')).updateOrgKey(caller, reset)).rejects.toMatchObject({
      code: 'INTERNAL',
    });
    expect((await stateOf(t, 'k3')).key?.version).toBe(1);
  });

  it('is predicted by a preview, which writes nothing', async () => {
    const preview = await withCounters(reachable).previewOrgKeyUpdate(caller, reset);
    expect(preview).toMatchObject({
      key: { version: 2, definition: { quotaMax: 10n, quotaRemaining: 10n } },
      changes: [{ path: ['quotaRemaining'], kind: 'ADDED', after: 10n }],
      quotaEffect: { before: figures(7n), after: figures(0n) },
      quotaReset: undefined,
    });
    expect((await stateOf(t, 'k3')).key?.version).toBe(1);
  });

  it('is followed by reads of the live counter', async () => {
    const service = withCounters(reachable);
    const key = await service.requireOrgKey(caller, 'k3');
    expect(service.quotaOf(key)).toBeUndefined();
    expect(await service.quotasOf([key])).toStrictEqual([figures(7n)]);
    expect(keys.quotaOf(key)).toStrictEqual(figures(0n));
  });
});
