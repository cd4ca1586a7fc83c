import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { importPolicies } from '../../support/policies.js';
import { codeOf, errorsOf, issuesOf } from '../../support/responses.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const fields = 'dryRun version changes { policyID kind changes { path kind before after } } warnings { path code }';
interface Result {
  readonly dryRun: boolean;
  readonly version: number;
  readonly changes: readonly { policyID: string; kind: string; changes: object[] }[];
  readonly warnings: readonly object[];
}

const putDocument = `mutation ($policies: [KeyPolicyInput!]!, $prune: Boolean, $dryRun: Boolean! = false, $expectedVersion: Int, $idempotencyKey: String) {
  putKeyPolicies(policies: $policies, prune: $prune, dryRun: $dryRun, expectedVersion: $expectedVersion, idempotencyKey: $idempotencyKey) { ${fields} } }`;
const removeDocument = `mutation ($policyIDs: [String!]!, $dryRun: Boolean! = false, $expectedVersion: Int, $idempotencyKey: String) {
  removeKeyPolicies(policyIDs: $policyIDs, dryRun: $dryRun, expectedVersion: $expectedVersion, idempotencyKey: $idempotencyKey) { ${fields} } }`;

type Headers = Record<string, string>;
const put = (policies: readonly object[], options: object = {}, headers?: Headers) =>
  t.graphql(putDocument, { policies, ...options }, headers);
const remove = (policyIDs: readonly string[], options: object = {}, headers?: Headers) =>
  t.graphql(removeDocument, { policyIDs, ...options }, headers);
const resultOf = (response: Awaited<ReturnType<typeof put>>): Result => {
  expect(errorsOf(response)).toEqual([]);
  return Object.values(response.body['data'] as Record<string, Result>)[0] as Result;
};
const known = async (headers?: Headers) => {
  const { body } = await t.graphql(
    '{ keyPolicies { version edges { node { policyID version changedBy { label } } } } }',
    {},
    headers,
  );
  const { keyPolicies } = body['data'] as {
    keyPolicies: { version: number; edges: { node: { policyID: string; version: number } }[] };
  };
  return { ...keyPolicies, edges: keyPolicies.edges.map(({ node }) => node) };
};
const names = async () => (await known()).edges.map(({ policyID, version }) => `${policyID} ${version}`);
const issue = async (options: Parameters<TestApp['issue']>[1]) => ({
  'x-svc-authorization': (await t.issue('service', options)).secret,
});

const gold = { policyID: 'gold', governs: ['QUOTA'], quotaMax: '9007199254740993' };

describe('putKeyPolicies', () => {
  it('is a dry run by default, which returns the differences and stores nothing', async () => {
    const { body } = await t.graphql(
      `mutation { putKeyPolicies(policies: [{ policyID: "gold", rate: 1 }]) { ${fields} } }`,
    );
    expect(body).toEqual({
      data: {
        putKeyPolicies: {
          dryRun: true,
          version: 1,
          changes: [
            {
              policyID: 'gold',
              kind: 'ADDED',
              changes: [
                {
                  path: 'governs',
                  kind: 'ADDED',
                  before: null,
                  after: ['rate_limit', 'quota', 'query_depth', 'access_rights'],
                },
                { path: 'rate', kind: 'ADDED', before: null, after: 1 },
              ],
            },
          ],
          warnings: [],
        },
      },
    });
    expect(await known()).toEqual({ version: 0, edges: [] });
  });

  it('stores all policies in one change, exactly, and says who did', async () => {
    expect(resultOf(await put([gold, { policyID: 'silver' }]))).toMatchObject({
      dryRun: false,
      version: 1,
      changes: [{ policyID: 'gold' }, { policyID: 'silver' }],
    });
    expect(await known()).toEqual({
      version: 1,
      edges: ['gold', 'silver'].map((policyID) => ({ policyID, version: 1, changedBy: { label: 'test service' } })),
    });
    const again = resultOf(await put([gold]));
    expect(again).toEqual({ dryRun: false, version: 1, changes: [], warnings: [] });
    const changed = resultOf(await put([{ ...gold, quotaMax: 5 }]));
    expect(changed.changes).toEqual([
      {
        policyID: 'gold',
        kind: 'CHANGED',
        changes: [{ path: 'quotaMax', kind: 'CHANGED', before: '9007199254740993', after: 5 }],
      },
    ]);
    expect(await names()).toEqual(['gold 2', 'silver 1']);
  });

  it('removes the other policies with `prune`', async () => {
    await put([gold, { policyID: 'silver' }, { policyID: 'bronze' }]);
    const pruned = resultOf(await put([gold], { prune: true }));
    expect(pruned.changes.map(({ policyID, kind }) => `${policyID} ${kind}`)).toEqual([
      'bronze REMOVED',
      'silver REMOVED',
    ]);
    expect(await names()).toEqual(['gold 1']);
  });

  it('reports the problems of all policies with their paths, and stores none', async () => {
    const response = await put([
      gold,
      { policyID: ' x', rate: -5 },
      { policyID: 'gold' },
      { policyID: 'ok', accessRights: [{ label: 'a', allowedUrls: [{ url: '/', methods: ['FETCH'] }] }] },
    ]);
    expect(codeOf(response)).toBe('INVALID');
    expect(issuesOf(response)).toEqual(
      expect.arrayContaining([
        'policies[1].policyID MALFORMED_TEXT',
        'policies[1].rate OUT_OF_RANGE',
        'policies[2].policyID MALFORMED_ARGUMENT',
        'policies[3].accessRights[0].allowedUrls[0].methods[0] UNKNOWN_METHOD',
      ]),
    );
    expect(await known()).toEqual({ version: 0, edges: [] });
  });

  it('reports a part that does not exist, and stores nothing', async () => {
    const response = await put([gold, { policyID: 'ok', governs: ['RATE_LIMIT', 'SPEED'] }]);
    expect(codeOf(response)).toBe('INVALID');
    expect(issuesOf(response)).toEqual(['policies[1].governs[1] MALFORMED_ARGUMENT']);
    expect(await known()).toEqual({ version: 0, edges: [] });
  });

  it('warns of entries that allow nothing', async () => {
    const policy = {
      policyID: 'gold',
      accessRights: [{ label: 'a', allowedUrls: [{ url: '/a(?=b)', methods: ['GET'] }] }],
    };
    expect(resultOf(await put([{ policyID: 'first' }, policy])).warnings).toEqual([
      { path: 'policies[1].accessRights[0].allowedUrls[0].url', code: 'URL_ALLOWS_NOTHING' },
    ]);
  });

  it('rejects a request that is too large, and stores nothing', async () => {
    const large = { policyID: 'large', name: 'x'.repeat(140_000) };
    expect(codeOf(await put([gold, large]))).toBe('TOO_LARGE');
    expect((await known()).edges).toEqual([]);
  });

  it('rejects too many policies, and stores none', async () => {
    const many = Array.from({ length: 1001 }, (_, index) => ({ policyID: `p${index}` }));
    expect(codeOf(await put(many))).toBe('CONFLICT');
    expect((await known()).edges).toEqual([]);
  });
});

describe('removeKeyPolicies', () => {
  it('removes all of the policies, or none', async () => {
    await put([gold, { policyID: 'silver' }]);
    expect(resultOf(await remove(['gold'], { dryRun: true }))).toMatchObject({ dryRun: true, version: 2 });
    expect(await names()).toEqual(['gold 1', 'silver 1']);
    expect(errorsOf(await remove(['gold', 'none']))).toMatchObject([
      { message: 'There is no policy "none". Nothing was changed.', extensions: { code: 'NOT_FOUND' } },
    ]);
    expect(await names()).toEqual(['gold 1', 'silver 1']);
    const removed = resultOf(await remove(['gold', 'gold']));
    expect(removed).toMatchObject({ version: 2, changes: [{ policyID: 'gold', kind: 'REMOVED', changes: [] }] });
    expect(await names()).toEqual(['silver 1']);
    expect(codeOf(await remove(['gold']))).toBe('NOT_FOUND');
  });
});

describe('a change of policies', () => {
  it('is rejected if all of them together have another version', async () => {
    const { version } = resultOf(await put([gold], { expectedVersion: 0 }));
    await importPolicies(t, { policy_id: 'silver' });
    for (const response of [
      await put([{ ...gold, quotaMax: 1 }], { expectedVersion: version }),
      await put([{ ...gold, quotaMax: 1 }], { expectedVersion: version, dryRun: true }),
      await remove(['gold'], { expectedVersion: version }),
    ])
      expect(codeOf(response)).toBe('CONFLICT');
    expect(await names()).toEqual(['gold 1', 'silver 1']);
    expect(resultOf(await remove(['gold'], { expectedVersion: (await known()).version })).version).toBe(3);
  });

  it('is made once with an idempotency key, also if others came between', async () => {
    const idempotencyKey = 'once';
    const first = resultOf(await put([gold], { idempotencyKey }));
    await remove(['gold']);
    expect(resultOf(await put([gold], { idempotencyKey }))).toEqual(first);
    expect(await names()).toEqual([]);
    const other = await put([{ policyID: 'silver' }], { idempotencyKey });
    expect(issuesOf(other)).toEqual(['idempotencyKey MALFORMED_ARGUMENT']);
    await put([gold]);
    const removal = resultOf(await remove(['gold'], { idempotencyKey: 'removal' }));
    expect(resultOf(await remove(['gold'], { idempotencyKey: 'removal' }))).toEqual(removal);
  });

  it('is made once by concurrent requests with one idempotency key', async () => {
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => put([gold], { idempotencyKey: 'same', expectedVersion: 0 })),
    );
    expect(responses.map((response) => resultOf(response).version)).toEqual([1, 1, 1, 1, 1]);
    expect(await names()).toEqual(['gold 1']);
  });

  it('is in the audit log, and a rejected one too', async () => {
    await put([gold]);
    await put([gold], { expectedVersion: 9 });
    await put([gold], { dryRun: true });
    const lines = t.logLines('"operation":"putKeyPolicies"').filter(({ event }) => event === 'change');
    expect(lines.map(({ verdict, version, code }) => [verdict, version, code])).toEqual([
      ['accepted', 1, undefined],
      ['rejected', undefined, 'CONFLICT'],
    ]);
  });
});

describe('who may use policies', () => {
  it('needs the scope `admin` to change them, and `read` for a dry run', async () => {
    const reader = await issue({ scopes: ['read'] });
    const admin = await issue({ scopes: ['admin'] });
    const others = await issue({ scopes: ['create', 'update', 'delete', 'consume', 'actor', 'router'] });
    expect(resultOf(await put([gold], { dryRun: true }, reader)).changes).toHaveLength(1);
    expect(codeOf(await put([gold], {}, reader))).toBe('FORBIDDEN');
    expect(codeOf(await put([gold], {}, others))).toBe('FORBIDDEN');
    expect(codeOf(await put([gold], { dryRun: true }, admin))).toBe('FORBIDDEN');
    expect(resultOf(await put([gold], {}, admin)).version).toBe(1);
    expect(codeOf(await remove(['gold'], {}, reader))).toBe('FORBIDDEN');
    expect(resultOf(await remove(['gold'], {}, admin)).version).toBe(2);
  });

  it('lets a credential of one organization read the policies of its keys, and nothing else', async () => {
    await put([gold, { policyID: 'ours', orgID: 'acme' }, { policyID: 'theirs', orgID: 'globex' }]);
    const bound = await issue({ orgID: 'acme' });
    const { edges } = await known(bound);
    expect(edges).toEqual(['gold', 'ours'].map((policyID) => ({ policyID, version: 1, changedBy: null })));
    const ours = { policyID: 'ours', orgID: 'acme', rate: 1 };
    for (const response of [
      await put([ours], {}, bound),
      await put([ours], { dryRun: true }, bound),
      await remove(['ours'], {}, bound),
      await remove(['theirs'], { dryRun: true }, bound),
      await t.graphql('{ keyPolicyHistory(policyID: "ours") { edges { cursor } } }', {}, bound),
    ])
      expect(errorsOf(response)).toMatchObject([
        {
          message: 'The credential is bound to an organization; policies and their history are for all of them.',
          extensions: { code: 'FORBIDDEN' },
        },
      ]);
    expect((await known()).version).toBe(1);
  });
});

describe('keyPolicyHistory', () => {
  const history = async (args: string) => {
    const { body } = await t.graphql(
      `{ keyPolicyHistory(policyID: ${args}) { pageInfo { hasPreviousPage hasNextPage startCursor endCursor }
         edges { node { version at kind actor { credentialID label assertedName } changes { path before after } } } } }`,
    );
    type Page = {
      pageInfo: { hasPreviousPage: boolean; hasNextPage: boolean; startCursor: string; endCursor: string };
      edges: { node: { version: number; kind: string; changes: object[] } }[];
    };
    return (body['data'] as { keyPolicyHistory: Page }).keyPolicyHistory;
  };
  const versions = (page: Awaited<ReturnType<typeof history>>) => page.edges.map(({ node }) => node.version);

  it('lists what changed, when and by whom, also after the removal', async () => {
    await importPolicies(t, { policy_id: 'gold', rate: 1, per: 1 });
    t.clock.now = new Date('2026-02-01T00:00:00Z');
    await put([{ policyID: 'gold', rate: 2, per: 1 }], {}, { 'x-keyfront-actor': 'Ada' });
    await remove(['gold']);
    await put([{ policyID: 'gold', rate: 3 }]);
    const { edges } = await history('"gold"');
    const service = { credentialID: expect.any(String) as string, label: 'test service' };
    expect(edges.map(({ node }) => node)).toMatchObject([
      { version: 1, at: '2026-01-31T12:00:00.000Z', kind: 'ADDED', actor: { label: 'keyfront policies import' } },
      {
        version: 2,
        at: '2026-02-01T00:00:00.000Z',
        kind: 'CHANGED',
        actor: { ...service, assertedName: 'Ada' },
        changes: [{ path: 'rate', before: 1, after: 2 }],
      },
      { version: 3, kind: 'REMOVED', actor: { ...service, assertedName: null }, changes: [] },
      { version: 4, kind: 'ADDED' },
    ]);
    expect(edges[3]?.node.changes).toHaveLength(2);
    expect(await history('"none"')).toMatchObject({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false },
    });
  });

  it('is paginated in both directions', async () => {
    for (let rate = 1; rate <= 5; rate += 1) await importPolicies(t, { policy_id: 'gold', rate, per: 1 });
    const first = await history('"gold", first: 2');
    expect([versions(first), first.pageInfo.hasNextPage]).toEqual([[1, 2], true]);
    const second = await history(`"gold", first: 2, after: "${first.pageInfo.endCursor}"`);
    expect(second.edges.map(({ node }) => [node.version, node.kind, node.changes.length])).toEqual([
      [3, 'CHANGED', 1],
      [4, 'CHANGED', 1],
    ]);
    const rest = await history(`"gold", after: "${(await history('"gold", first: 1')).pageInfo.endCursor}"`);
    expect(versions(rest)).toEqual([2, 3, 4, 5]);
    const last = await history('"gold", last: 2');
    expect([versions(last), last.pageInfo.hasPreviousPage, last.pageInfo.hasNextPage]).toEqual([[4, 5], true, false]);
    const middle = await history(`"gold", last: 2, before: "${last.pageInfo.startCursor}"`);
    expect([versions(middle), middle.edges[0]?.node.kind]).toEqual([[2, 3], 'CHANGED']);
    const start = await history(`"gold", last: 9, before: "${middle.pageInfo.startCursor}"`);
    expect([versions(start), start.edges[0]?.node.kind, start.pageInfo.hasPreviousPage]).toEqual([[1], 'ADDED', false]);
    expect(codeOf(await t.graphql('{ keyPolicyHistory(policyID: "gold", after: "x") { edges { cursor } } }'))).toBe(
      'INVALID',
    );
  });
});
