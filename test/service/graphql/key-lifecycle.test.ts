import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { beforeEach, describe, expect, it } from 'vitest';
import { aadFor } from '../../../src/keys/protect-secrets.js';
import { stringifyJSON } from '../../../src/lib/json.js';
import { codeOf, dataOf, errorsOf, issuesOf } from '../../support/responses.js';
import { startApp, startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { temporaryFolder } from '../../support/folder.js';
import { allHashes, expectNoChange, stateOf } from '../../support/state.js';
import { until } from '../../support/until.js';
import { hashOf } from '../../support/factories.js';

const day = 86_400_000;

let t: TestApp;
let boundID: string;
let bound: Record<string, string>;
beforeEach(async () => {
  t = await startOwnApp();
  const { id, secret } = await t.issue('service', { orgID: 'acme' });
  [boundID, bound] = [id, { 'x-svc-authorization': secret }];
});

type Arguments = Record<string, unknown>;
type Headers = Record<string, string>;

const selected =
  'version changes { path kind before after } orgKey { keyID keyHash state deletedAt restorableUntil } warnings { code }';
const send = (operation: string, declared: string, fields: string, variables: Arguments, headers: Headers = {}) => {
  const passed = declared.replace(/\$(\w+): [^,)]+/g, '$1: $$$1');
  const kind = operation === 'orgKey' ? 'query' : 'mutation';
  return t.graphql(`${kind} (${declared}) { ${operation}(${passed}) { ${fields} } }`, variables, headers);
};

const create = (variables: Arguments, headers?: Headers) =>
  send(
    'createOrgKey',
    '$keyID: ID, $input: CreateKeyInput!, $reason: String',
    selected,
    { input: {}, ...variables },
    headers,
  );
const options = '$keyID: ID!, $expectedVersion: Int, $reason: String';
const remove = (keyID: string, more: Arguments = {}, headers?: Headers) =>
  send('deleteOrgKey', options, selected, { keyID, ...more }, headers);
const restore = (keyID: string, more: Arguments = {}, headers?: Headers) =>
  send('restoreOrgKey', options, selected, { keyID, ...more }, headers);
const update = (keyID: string, more: Arguments = {}, headers?: Headers) =>
  send(
    'updateOrgKey',
    `${options}, $input: UpdateKeyInput!, $resetQuota: Boolean`,
    selected,
    { keyID, input: {}, ...more },
    headers,
  );
const revert = (keyID: string, toVersion: number, more: Arguments = {}, headers?: Headers) =>
  send('revertOrgKey', `${options}, $toVersion: Int!`, selected, { keyID, toVersion, ...more }, headers);
const consume = (keyID: string) => send('consumeOrgQuota', '$keyID: ID!', 'allowed refusal', { keyID });
const read = async (keyID: string, fields = 'version', headers?: Headers) =>
  dataOf<Record<string, unknown> | null>(
    await send('orgKey', '$by: OrgKeyByInput!', fields, { by: { keyID } }, headers),
  );

interface Created {
  readonly orgKey: { readonly keyID: string; readonly keyHash: string };
}

interface Entry {
  readonly version: number;
  readonly operation: string;
  readonly changes: { readonly path: string; readonly kind: string }[];
}

interface History {
  readonly edges: { readonly cursor: string; readonly node: Entry }[];
  readonly pageInfo: Record<string, unknown>;
}

const entryFields = `version at operation actor { credentialID label assertedName } reason requestID quotaUsedBeforeReset
  changes { path kind before after }`;
async function history(keyID: string, args = ''): Promise<History> {
  const page = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
  const key = await read(keyID, `history${args} { edges { cursor node { ${entryFields} } } ${page} }`);
  return key?.['history'] as History;
}
const entries = async (keyID: string, args = '') => (await history(keyID, args)).edges.map(({ node }) => node);

const rejected = (request: () => Promise<TestResponse>) => expectNoChange(t, request);

describe('createOrgKey', () => {
  it('creates a key with the given identifier at version 1', async () => {
    const response = await create({ keyID: 'k1', input: { orgID: 'acme', alias: 'New', quotaMax: 5 } });
    expect(dataOf(response)).toStrictEqual({
      version: 1,
      changes: [
        { path: 'alias', kind: 'ADDED', before: null, after: 'New' },
        { path: 'quotaMax', kind: 'ADDED', before: null, after: 5 },
      ],
      orgKey: { keyID: 'k1', keyHash: hashOf('k1'), state: 'ACTIVE', deletedAt: null, restorableUntil: null },
      warnings: [{ code: 'QUOTA_NEVER_RENEWS' }, { code: 'NO_ACCESS_RIGHTS' }],
    });
    expect(await read('k1', 'keyID orgID createdAt updatedAt definition { alias orgID }')).toStrictEqual({
      keyID: 'k1',
      orgID: 'acme',
      createdAt: '2026-01-31T12:00:00.000Z',
      updatedAt: '2026-01-31T12:00:00.000Z',
      definition: { alias: 'New', orgID: 'acme' },
    });
  });

  it('generates an identifier from the organization and 40 hex digits', async () => {
    for (const keyID of [undefined, null]) {
      const { orgKey: created } = dataOf<Created>(await create({ keyID, input: { orgID: 'acme' } }));
      expect(created.keyID).toMatch(/^acme_[0-9a-f]{40}$/);
      expect(created.keyHash).toBe(hashOf(created.keyID));
      expect(await read(created.keyID)).toStrictEqual({ version: 1 });
    }
    expect(await allHashes(t)).toHaveLength(2);
  });

  it('generates an identifier with a readable prefix', async () => {
    const query =
      'mutation($prefix: String, $keyID: ID) { createOrgKey(keyID: $keyID, prefix: $prefix, input: {orgID: "acme"}) { orgKey { keyID } } }';
    const { orgKey: created } = dataOf<Created>(await t.graphql(query, { prefix: 'acme_live_' }));
    expect(created.keyID).toMatch(/^acme_live_[0-9a-f]{40}$/);
    expect(issuesOf(await t.graphql(query, { prefix: '' }))).toStrictEqual(['prefix MALFORMED_KEY_ID']);
    const both = await t.graphql(query, { prefix: 'acme_live_', keyID: 'k1' });
    expect(issuesOf(both)).toStrictEqual(['prefix MALFORMED_ARGUMENT']);
    expect(await allHashes(t)).toHaveLength(1);
  });

  it('stores the password hashed and the other secrets encrypted, and returns none', async () => {
    const input = {
      orgID: 'acme',
      basicAuthData: { user: 'u', password: 'hunter2-password' },
      jwtData: { secret: 'hunter2-jwt' },
      hmacString: 'hunter2-hmac',
    };
    const response = await create({ keyID: 'k1', input });
    expect(dataOf(response)).toMatchObject({
      changes: [
        { path: 'basicAuthData', kind: 'ADDED', after: { hashType: 'bcrypt', user: 'u' } },
        { path: 'jwtData', kind: 'ADDED', after: {} },
        { path: 'basicAuthData.password', kind: 'SET', before: null, after: null },
        { path: 'hmacString', kind: 'SET', before: null, after: null },
        { path: 'jwtData.secret', kind: 'SET', before: null, after: null },
      ],
    });
    const { key } = await stateOf(t, 'k1');
    const { sealer } = t.app.services;
    const opened = (name: 'jwtSecret' | 'hmacString') =>
      sealer.open(key?.secrets[name] ?? new Uint8Array(), aadFor(hashOf('k1'), name));
    expect(await verifyBcrypt('hunter2-password', key?.secrets.passwordHash ?? '')).toBe(true);
    expect([opened('jwtSecret'), opened('hmacString')]).toStrictEqual(['hunter2-jwt', 'hunter2-hmac']);
    const { audit } = await stateOf(t, 'k1');
    expect(response.text + t.logs() + JSON.stringify(audit)).not.toContain('hunter2');
  });

  it('ignores dates in the input, with a warning', async () => {
    const input = { orgID: 'acme', dateCreated: '2020-01-01T00:00:00Z', lastUpdated: '17' };
    expect(dataOf(await create({ keyID: 'k1', input }))).toMatchObject({
      warnings: [{ code: 'SERVER_OWNED' }, { code: 'SERVER_OWNED' }, { code: 'NO_ACCESS_RIGHTS' }],
    });
    expect(await read('k1', 'createdAt updatedAt')).toStrictEqual({
      createdAt: '2026-01-31T12:00:00.000Z',
      updatedAt: '2026-01-31T12:00:00.000Z',
    });
  });

  it('rejects an empty identifier instead of generating one', async () => {
    const response = await rejected(() => create({ keyID: '', input: { orgID: 'acme' } }));
    expect(issuesOf(response)).toStrictEqual(['keyID MALFORMED_KEY_ID']);
  });

  it('uses the organization of a bound credential by default', async () => {
    expect(dataOf(await create({ keyID: 'k1' }, bound))).toMatchObject({ version: 1 });
    expect(await read('k1', 'orgID')).toStrictEqual({ orgID: 'acme' });
    expect(dataOf(await create({ keyID: 'k2', input: { orgID: 'acme' } }, bound))).toMatchObject({ version: 1 });
  });

  it('creates a key once for many concurrent requests', async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => create({ keyID: 'k1', input: { orgID: 'acme', alias: `a${index}` } })),
    );
    const codes = responses.map((response) => codeOf(response) ?? 'created');
    expect(codes.filter((code) => code === 'created')).toHaveLength(1);
    expect(codes.filter((code) => code === 'CONFLICT')).toHaveLength(7);
    expect((await stateOf(t, 'k1')).audit).toHaveLength(1);
  });
});

describe('deleteOrgKey', () => {
  beforeEach(async () => {
    await create({ keyID: 'k1', input: { orgID: 'acme', alias: 'x', quotaMax: 5, tags: ['a'] } });
  });

  it('deletes a key as a new version, with a history entry', async () => {
    expect(dataOf(await remove('k1', { reason: 'left us' }))).toStrictEqual({
      version: 2,
      changes: [],
      orgKey: {
        keyID: 'k1',
        keyHash: hashOf('k1'),
        state: 'DELETED',
        deletedAt: '2026-01-31T12:00:00.000Z',
        restorableUntil: '2026-03-02T12:00:00.000Z',
      },
      warnings: [],
    });
    const { audit } = await stateOf(t, 'k1');
    expect(audit.at(-1)).toMatchObject({ operation: 'delete', reason: 'left us', versionBefore: 1, versionAfter: 2 });
  });

  it('removes the key from every read, change and use', async () => {
    await remove('k1');
    expect(await read('k1')).toBeNull();
    const attempts = [
      () => update('k1'),
      () => update('k1', { expectedVersion: 2 }),
      () => remove('k1'),
      () => revert('k1', 1),
      () => consume('k1'),
      () => t.graphql('{ previewOrgKeyUpdate(keyID: "k1", input: {}) { version } }'),
    ];
    for (const attempt of attempts) {
      const response = await rejected(attempt);
      expect([codeOf(response), errorsOf(response)[0]?.message]).toStrictEqual(['NOT_FOUND', 'There is no such key.']);
    }
    for (const filter of ['', '(filter: { tagsAll: ["a"] })', '(filter: { states: [ACTIVE] })']) {
      expect(dataOf(await t.graphql(`{ orgKeys${filter} { edges { cursor } } }`))).toStrictEqual({ edges: [] });
    }
  });
});

describe('restoreOrgKey', () => {
  beforeEach(async () => {
    await t.importKeys({
      key_id: 'k1',
      org_id: 'acme',
      alias: 'x',
      tags: ['a'],
      quota_max: 100,
      quota_remaining: 30,
      quota_renewal_rate: 1_000_000_000,
      hmac_string: 'hmac',
    });
  });

  it('restores the key unchanged, as a new version', async () => {
    const before = (await stateOf(t, 'k1')).key;
    await remove('k1');
    t.clock.now = new Date(t.clock.now.getTime() + 30 * day - 1);
    expect(dataOf(await restore('k1', { reason: 'a mistake' }))).toStrictEqual({
      version: 3,
      changes: [],
      orgKey: { keyID: 'k1', keyHash: hashOf('k1'), state: 'ACTIVE', deletedAt: null, restorableUntil: null },
      warnings: [],
    });
    const { key, audit } = await stateOf(t, 'k1');
    expect(key).toStrictEqual({ ...before, version: 3, lastUpdated: key?.lastUpdated });
    expect(key?.lastUpdated).toBe(BigInt(Math.floor(t.clock.now.getTime() / 1000)));
    expect(audit.map(({ operation }) => operation)).toStrictEqual(['import', 'delete', 'restore']);
    expect((await entries('k1')).map(({ operation }) => operation)).toStrictEqual(['IMPORT', 'DELETE', 'RESTORE']);
    expect(
      dataOf(await t.graphql('{ orgKeys(filter: { tagsAll: ["a"] }) { edges { node { keyID } } } }')),
    ).toStrictEqual({
      edges: [{ node: { keyID: 'k1' } }],
    });
    expect(dataOf(await consume('k1'))).toStrictEqual({ allowed: true, refusal: null });
  });

  it('returns NOT_FOUND after the retention, also before the purge', async () => {
    await remove('k1');
    t.clock.now = new Date(t.clock.now.getTime() + 30 * day);
    expect(codeOf(await rejected(() => restore('k1')))).toBe('NOT_FOUND');
  });

  it('restores nothing without a retention', async () => {
    const strict = await startOwnApp({ KEYFRONT_RESTORE_DAYS: '0' });
    await strict.importKeys({ key_id: 'k1', org_id: 'acme' });
    await strict.graphql('mutation { deleteOrgKey(keyID: "k1") { version } }');
    expect(codeOf(await strict.graphql('mutation { restoreOrgKey(keyID: "k1") { version } }'))).toBe('NOT_FOUND');
  });
});

describe('a purge', () => {
  it('runs at the next start of the service', async () => {
    const folder = await temporaryFolder();
    const first = await startApp({ KEYFRONT_DATA: folder });
    await first.importKeys({ key_id: 'old', org_id: 'acme' }, { key_id: 'recent', org_id: 'acme' });
    first.clock.now = new Date('2025-12-01T00:00:00Z');
    await first.graphql('mutation { deleteOrgKey(keyID: "old") { version } }');
    first.clock.now = new Date('2026-01-31T00:00:00Z');
    await first.graphql('mutation { deleteOrgKey(keyID: "recent") { version } }');
    await first.close();
    const second = await startOwnApp({ KEYFRONT_DATA: folder }, { jobsEveryMs: undefined });
    await until(() => second.logs().includes('deleted keys purged'), 'The purge');
    expect(await allHashes(second)).toStrictEqual([hashOf('recent')]);
  });
});

describe('revertOrgKey', () => {
  beforeEach(async () => {
    await create({
      keyID: 'k1',
      input: { orgID: 'acme', alias: 'one', quotaMax: 10, quotaRenewalRate: 60, tags: ['a'] },
    });
    await update('k1', { input: { alias: 'two', quotaMax: 20, hmacString: 'hmac-two', tags: ['b'] } });
  });

  it('restores the definition of an earlier version as a new version', async () => {
    const response = await revert('k1', 1, { reason: 'undo', expectedVersion: 2 });
    expect(dataOf(response)).toMatchObject({
      version: 3,
      changes: [
        { path: 'alias', kind: 'CHANGED', before: 'two', after: 'one' },
        { path: 'quotaMax', kind: 'CHANGED', before: 20, after: 10 },
        { path: 'quotaRenewalRate', kind: 'ADDED', before: null, after: 60 },
        { path: 'tags', kind: 'CHANGED', before: ['b'], after: ['a'] },
      ],
    });
    const query = '{ orgKey(by: { keyID: "k1" }) { history { edges { node { version operation revertedTo } } } } }';
    const { history } = dataOf<{ history: { edges: { node: object }[] } }>(await t.graphql(query));
    expect(history.edges.map(({ node }) => node)).toStrictEqual([
      { version: 1, operation: 'CREATE', revertedTo: null },
      { version: 2, operation: 'UPDATE', revertedTo: null },
      { version: 3, operation: 'REVERT', revertedTo: 1 },
    ]);
    expect(
      dataOf(await t.graphql('{ orgKeys(filter: { tagsAll: ["a"] }) { edges { node { keyID } } } }')),
    ).toMatchObject({
      edges: [{ node: { keyID: 'k1' } }],
    });
  });

  it('keeps secrets and the live quota', async () => {
    for (let index = 0; index < 7; index += 1) await consume('k1');
    const before = (await stateOf(t, 'k1')).key;
    await revert('k1', 1);
    const after = (await stateOf(t, 'k1')).key;
    expect(after?.secrets).toStrictEqual(before?.secrets);
    expect(after?.quota.used).toBe(7n);
    expect(await read('k1', 'quota { max used remaining } definition { hmacStringSet }')).toStrictEqual({
      quota: { max: 10, used: 7, remaining: 3 },
      definition: { hmacStringSet: true },
    });
  });

  it('ignores the former hash type of the password', async () => {
    await update('k1', { input: { basicAuthData: { user: 'u', password: 'first', hashType: 'bcrypt' } } });
    await update('k1', { input: { basicAuthData: { user: 'v', password: 'second', hashType: 'argon2id' } } });
    expect(dataOf(await revert('k1', 3))).toMatchObject({
      changes: [{ path: 'basicAuthData.user', kind: 'CHANGED', before: 'v', after: 'u' }],
    });
    expect(await read('k1', 'definition { basicAuthData { user hashType passwordSet } }')).toStrictEqual({
      definition: { basicAuthData: { user: 'u', hashType: 'argon2id', passwordSet: true } },
    });
    await revert('k1', 1);
    expect(await read('k1', 'definition { basicAuthData { user hashType passwordSet } }')).toStrictEqual({
      definition: { basicAuthData: { user: null, hashType: 'argon2id', passwordSet: true } },
    });
  });

  it('restores the definition before a deletion', async () => {
    await remove('k1');
    await restore('k1');
    await update('k1', { input: { alias: 'five' } });
    expect(dataOf(await revert('k1', 3))).toMatchObject({ version: 6 });
    expect(await read('k1', 'definition { alias }')).toStrictEqual({ definition: { alias: 'two' } });
  });
});

describe('a stale change', () => {
  const right = (rate: number) => ({ label: 'in voices', apiID: 'in voices', limit: { rate, quotaMax: 5 } });
  beforeEach(async () => {
    await create({
      keyID: 'k1',
      input: { orgID: 'acme', alias: 'one', tags: ['a'], accessRights: [right(1), { label: 'gone' }], rate: 5 },
    });
    await update('k1', {
      input: { alias: 'two', tags: ['a'], accessRights: [right(2)], rate: 5, metaData: { a: { b: 1 } } },
    });
    await update('k1', {
      input: { alias: 'two', tags: ['a'], accessRights: [right(2)], metaData: { a: { b: 1 } }, hmacString: 'hunter2' },
    });
  });
  const stale: [string, () => Promise<TestResponse>][] = [
    ['update', () => update('k1', { expectedVersion: 1, input: { alias: 'lost' } })],
    ['delete', () => remove('k1', { expectedVersion: 1 })],
    ['revert', () => revert('k1', 2, { expectedVersion: 1 })],
    ['dry run', () => t.graphql('{ previewOrgKeyUpdate(keyID: "k1", input: {}, expectedVersion: 1) { version } }')],
  ];

  it.each(stale)('rejects a stale %s with the current version and the changed paths', async (_, attempt) => {
    const response = await rejected(attempt);
    expect(codeOf(response)).toBe('CONFLICT');
    expect(errorsOf(response)[0]?.message).toBe('The key has version 3; the expected version is 1.');
    expect(issuesOf(response)).toStrictEqual([
      'accessRights["gone"] CHANGED_SINCE',
      'accessRights["in voices"].limit.rate CHANGED_SINCE',
      'alias CHANGED_SINCE',
      'hmacString CHANGED_SINCE',
      'metaData CHANGED_SINCE',
      'rate CHANGED_SINCE',
    ]);
    expect(response.text).not.toContain('hunter2');
  });

  it('lists only paths that differ from expectedVersion', async () => {
    const response = await rejected(() => update('k1', { expectedVersion: 2 }));
    expect(issuesOf(response)).toStrictEqual(['hmacString CHANGED_SINCE', 'rate CHANGED_SINCE']);
    await revert('k1', 1);
    expect(issuesOf(await update('k1', { expectedVersion: 1 }))).toStrictEqual(['hmacString CHANGED_SINCE']);
  });

  it.each([0, -5, 4, 2147483647])('rejects the unknown version %i without paths', async (expectedVersion) => {
    const response = await rejected(() => update('k1', { expectedVersion }));
    expect([codeOf(response), issuesOf(response)]).toStrictEqual(['CONFLICT', []]);
  });
});

describe('the history of a key', () => {
  it('lists who, when, what and why, oldest first, without secrets', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 100, quota_remaining: 30, hmac_string: 'hunter2-a' });
    t.clock.now = new Date(t.clock.now.getTime() + 1500);
    const response = await update(
      'k1',
      {
        input: { quotaMax: 200, hmacString: 'hunter2-b', basicAuthData: { password: 'hunter2-c' } },
        resetQuota: true,
        reason: 'größer 🔑',
      },
      bound,
    );
    await update('k1', { input: { hmacString: null } });
    const [imported, updated, cleared] = await entries('k1');
    expect(imported).toMatchObject({
      version: 1,
      operation: 'IMPORT',
      actor: { credentialID: 'cli', label: 'keyfront keys import', assertedName: null },
      requestID: null,
      reason: null,
    });
    expect(updated).toStrictEqual({
      version: 2,
      at: '2026-01-31T12:00:01.500Z',
      operation: 'UPDATE',
      actor: { credentialID: boundID, label: 'test service', assertedName: null },
      reason: 'größer 🔑',
      requestID: response.headers.get('x-request-id'),
      quotaUsedBeforeReset: 70,
      changes: [
        { path: 'basicAuthData', kind: 'ADDED', before: null, after: { hashType: 'bcrypt' } },
        { path: 'quotaMax', kind: 'CHANGED', before: 100, after: 200 },
        { path: 'quotaRemaining', kind: 'CHANGED', before: 30, after: 200 },
        { path: 'basicAuthData.password', kind: 'SET', before: null, after: null },
        { path: 'hmacString', kind: 'CHANGED', before: null, after: null },
      ],
    });
    expect(cleared?.changes).toContainEqual({ path: 'hmacString', kind: 'CLEARED', before: null, after: null });
    const { audit } = await stateOf(t, 'k1');
    expect(stringifyJSON(audit)).not.toContain('hunter2');
    expect(JSON.stringify(await entries('k1'))).not.toContain(t.service);
  });

  it('pages forwards and backwards, each entry once', async () => {
    await create({ keyID: 'k1', input: { orgID: 'acme' } });
    for (let index = 2; index <= 11; index += 1) await update('k1', { input: { rate: index } });
    const all = Array.from({ length: 11 }, (_, index) => index + 1);
    expect((await entries('k1')).map(({ version }) => version)).toStrictEqual(all);
    for (const size of [1, 3, 5, 11, 100]) {
      const forward: number[] = [];
      const backward: number[] = [];
      for (let after = ''; ;) {
        const page = await history('k1', `(first: ${size}${after})`);
        forward.push(...page.edges.map(({ node }) => node.version));
        expect(page.pageInfo['hasPreviousPage']).toBe(after !== '');
        if (page.pageInfo['hasNextPage'] === false) break;
        after = `, after: "${String(page.pageInfo['endCursor'])}"`;
      }
      for (let before = ''; ;) {
        const page = await history('k1', `(last: ${size}${before})`);
        backward.unshift(...page.edges.map(({ node }) => node.version));
        expect(page.pageInfo['hasNextPage']).toBe(before !== '');
        if (page.pageInfo['hasPreviousPage'] === false) break;
        before = `, before: "${String(page.pageInfo['startCursor'])}"`;
      }
      expect([forward, backward]).toStrictEqual([all, all]);
    }
    const between = await history('k1', '(after: "3", before: "7", last: 2)');
    expect(between.edges.map(({ node }) => node.version)).toStrictEqual([5, 6]);
  });

  it.each([
    '(after: "x")',
    '(before: "-1")',
    '(after: "")',
    '(after: "1.5")',
    '(first: -1)',
    '(last: 1, before: "99999999999")',
  ])('rejects %s', async (args) => {
    await create({ keyID: 'k1', input: { orgID: 'acme' } });
    const response = await send('orgKey', '$by: OrgKeyByInput!', `history${args} { edges { cursor } }`, {
      by: { keyID: 'k1' },
    });
    expect(codeOf(response)).toBe('INVALID');
  });

  it('has the reason that each mutation was given', async () => {
    await create({ keyID: 'k1', input: { orgID: 'acme' }, reason: 'created' });
    await update('k1', { input: { alias: 'new' }, reason: 'updated' });
    await revert('k1', 1, { reason: 'reverted' });
    await remove('k1', { reason: 'deleted' });
    await restore('k1', { reason: 'restored' });
    await update('k1', { input: { alias: 'newer' }, reason: null });
    const { audit } = await stateOf(t, 'k1');
    expect(audit.map(({ reason }) => reason)).toStrictEqual([
      'created',
      'updated',
      'reverted',
      'deleted',
      'restored',
      undefined,
    ]);
  });
});
