import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { importPolicies as importAll, removePolicy } from '../../support/policies.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const importPolicies = (...policies: object[]) => importAll(t, ...policies);
const remove = (policyID: string) => removePolicy(t, policyID);
const dataOf = ({ body }: { body: Record<string, unknown> }) => body['data'] as Record<string, never>;
const codesOf = (warnings: unknown) =>
  (warnings as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`);

const gold = {
  policy_id: 'gold',
  name: 'Gold',
  rate: 10,
  per: 1,
  quota_max: 1000,
  access_rights: { invoices: { versions: ['v1'], allowed_urls: [{ url: '/invoices/.*', methods: ['GET'] }] } },
};
const key = {
  key_id: 'k',
  org_id: 'acme',
  rate: 500,
  per: 1,
  quota_max: 3,
  access_rights: { own: {} },
  apply_policies: ['gold'],
};

describe('the warnings about policies', () => {
  const warningsOf = async (definition: object) => {
    const preview = await t.preview(definition);
    const { key_id: _, ...update } = definition as Record<string, unknown>;
    const updated = await t.update('k', update);
    const created = await t.send('/svc/org/keys', {
      method: 'POST',
      headers: { ...t.credentials, 'content-type': 'application/json' },
      body: JSON.stringify(update),
    });
    const all = [preview, updated, created].map(({ body }) => codesOf(body['warnings'] ?? []));
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
    return all[0];
  };

  it('are none as long as no policy is known: identifiers are opaque', async () => {
    await t.importKeys(key);
    expect(await warningsOf(key)).toEqual(['quota_renewal_rate QUOTA_NEVER_RENEWS']);
  });

  it('name unknown policies and overridden values once a policy is known, in preview, update and creation', async () => {
    await t.importKeys(key);
    await importPolicies(gold, { policy_id: 'theirs', org_id: 'globex' });
    expect(await warningsOf({ ...key, apply_policies: ['gold', 'missing', 'theirs'] })).toEqual([
      'quota_renewal_rate QUOTA_NEVER_RENEWS',
      'apply_policies[1] UNKNOWN_POLICY',
      'apply_policies[2] UNKNOWN_POLICY',
      'rate OVERRIDDEN_BY_POLICIES',
      'per OVERRIDDEN_BY_POLICIES',
      'quota_max OVERRIDDEN_BY_POLICIES',
      'access_rights OVERRIDDEN_BY_POLICIES',
    ]);
  });

  it('name patterns that cannot be evaluated, and entries without methods', async () => {
    await t.importKeys(key);
    const allowed_urls = [
      { url: '/a(?=b)', methods: ['GET'] },
      { url: '/ok/.*', methods: ['GET'] },
      { url: '/x{1000}', methods: ['GET'] },
      { url: '/no' },
      { methods: ['GET'] },
    ];
    expect(await warningsOf({ org_id: 'acme', access_rights: { a: { allowed_urls } } })).toEqual([
      'access_rights.a.allowed_urls[0].url URL_ALLOWS_NOTHING',
      'access_rights.a.allowed_urls[2].url URL_ALLOWS_NOTHING',
      'access_rights.a.allowed_urls[3].methods URL_ALLOWS_NOTHING',
    ]);
  });
});

describe('a preview with policies', () => {
  it('shows the effective access with its origins over REST, outside of `data`', async () => {
    await importPolicies(gold, { policy_id: 'speed', rate: 20, per: 1, governs: ['rate_limit'] });
    const { body } = await t.preview({ ...key, apply_policies: ['gold', 'speed', 'missing'] });
    expect(body['data']).toMatchObject({ rate: 500, quota_max: 3 });
    expect(body['effective']).toEqual({
      is_inactive: false,
      unknown_policies: ['missing'],
      limits: { rate: 20, per: 1, quota_max: 1000 },
      origins: { rate: 'speed', per: 'speed', quota_max: 'gold' },
      access_rights: {
        invoices: {
          versions: ['v1'],
          allowed_urls: [{ url: '/invoices/.*', methods: ['GET'], policy_id: 'gold' }],
          policy_ids: ['gold'],
          limits: { rate: 20, per: 1, quota_max: 1000 },
          origins: { rate: 'speed', per: 'speed', quota_max: 'gold' },
        },
      },
    });
  });

  it('has no such member over REST without policies in the definition, or without imported ones', async () => {
    expect((await t.preview(key)).body).not.toHaveProperty('effective');
    await importPolicies(gold);
    expect((await t.preview({ ...key, apply_policies: [] })).body).not.toHaveProperty('effective');
  });

  it('shows it over GraphQL, also for a stored key', async () => {
    await importPolicies(gold);
    await t.importKeys(key);
    const fields =
      '{ isInactive policyIDs unknownPolicyIDs limits { values { rate quotaMax } origins { field policyID } } accessRights { apiID policyIDs } }';
    const response = await t.graphql(
      `{ previewKey(input: {orgID: "acme", maxQueryDepth: 4, applyPolicies: ["gold"]}) { effective ${fields} }
         orgKey(by: { keyID: "k" }) { effectiveAccess ${fields} } }`,
    );
    const effective = {
      isInactive: false,
      policyIDs: ['gold'],
      unknownPolicyIDs: [],
      limits: {
        values: { rate: 10, quotaMax: 1000 },
        origins: [
          { field: 'rate', policyID: 'gold' },
          { field: 'per', policyID: 'gold' },
          { field: 'quotaMax', policyID: 'gold' },
        ],
      },
      accessRights: [{ apiID: 'invoices', policyIDs: ['gold'] }],
    };
    expect(response.body).toEqual({
      data: { previewKey: { effective }, orgKey: { effectiveAccess: effective } },
    });
  });

  it('uses the policies that the organization of the definition may name', async () => {
    await importPolicies({ ...gold, org_id: 'globex' });
    expect((await t.preview(key)).body['effective']).toMatchObject({ unknown_policies: ['gold'] });
    expect((await t.preview({ ...key, org_id: 'globex' })).body['effective']).toMatchObject({ unknown_policies: [] });
  });
});

describe('explainOrgKey', () => {
  const explain = async (args: string, headers?: Record<string, string>) =>
    dataOf(
      await t.graphql(
        `{ explainOrgKey(${args}) { at version isAllowed code reasons { code path policyID } limits { values { rate } } matchedUrl { url policyID } quota { max remaining } } }`,
        {},
        headers,
      ),
    )['explainOrgKey'];
  const allowed = 'by: { keyID: "k" }, api: "invoices", method: "get", path: "/invoices/7?x=1"';

  beforeEach(async () => {
    await importPolicies(gold);
    await t.importKeys(key);
  });

  it('says why a request is allowed, and consumes nothing', async () => {
    const expected = {
      at: '2026-01-31T12:00:00.000Z',
      version: 1,
      isAllowed: true,
      code: 'VALID',
      reasons: [],
      limits: { values: { rate: 10 } },
      matchedUrl: { url: '/invoices/.*', policyID: 'gold' },
      quota: { max: 1000, remaining: 1000 },
    };
    expect(await explain(allowed)).toEqual(expected);
    expect(await explain(allowed)).toEqual(expected);
  });

  it.each([
    ['by: { keyID: "k" }, api: "own"', 'NO_ACCESS'],
    ['by: { keyID: "k" }, api: "invoices", version: "v2", method: "GET", path: "/invoices/7"', 'NO_ACCESS'],
    ['by: { keyID: "k" }, api: "invoices", method: "POST", path: "/invoices/7"', 'METHOD_OR_PATH_DENIED'],
    ['by: { keyID: "k" }, api: "invoices", method: "GET", path: "/invoices/../x"', 'METHOD_OR_PATH_DENIED'],
    ['by: { keyID: "nobody" }', 'NOT_FOUND'],
    [`by: { keyHash: "${'0'.repeat(64)}" }`, 'NOT_FOUND'],
  ])('says why a request is denied: %s', async (args, code) => {
    expect(await explain(args)).toMatchObject({ isAllowed: false, code, reasons: [{ code }] });
  });

  it('does not reveal a key of another organization', async () => {
    const bound = (await t.issue('service', { orgID: 'globex' })).secret;
    expect(await explain(allowed, { 'x-svc-authorization': bound })).toMatchObject({
      code: 'NOT_FOUND',
      version: null,
      quota: null,
    });
  });

  it('follows a policy that is changed and removed', async () => {
    await importPolicies({ ...gold, quota_max: 5 });
    expect(await explain(allowed)).toMatchObject({ quota: { max: 5 } });
    await importPolicies({ ...gold, is_inactive: true });
    expect(await explain(allowed)).toMatchObject({ code: 'INACTIVE', reasons: [{ path: null, policyID: 'gold' }] });
    await remove('gold');
    expect(await explain(allowed)).toMatchObject({
      code: 'UNKNOWN_POLICY',
      reasons: [{ path: 'applyPolicies[0]' }, {}],
    });
  });

  it('answers for a past time with the key and the policies of that time, without a quota', async () => {
    const times = ['12:00:00', '13:00:00', '14:00:00', '15:00:00', '16:00:00'].map((time) => `2026-01-31T${time}Z`);
    const set = (index: number) => (t.clock.now = new Date(times[index] ?? ''));
    set(1);
    await t.update('k', { ...key, key_id: undefined, is_inactive: true, basic_auth_data: { password: 'p' } });
    set(2);
    await t.update('k', { ...key, key_id: undefined, basic_auth_data: null });
    await importPolicies({ ...gold, rate: 99 });
    set(3);
    await t.send('/svc/org/keys/k', { method: 'DELETE', headers: t.credentials });
    set(4);
    const at = async (index: number, more = '') => explain(`${allowed}, at: "${times[index]}"${more}`);
    expect(await explain(`${allowed}, at: "2026-01-31T11:59:59Z"`)).toMatchObject({ code: 'NOT_FOUND', version: null });
    expect(await at(0)).toMatchObject({ code: 'VALID', version: 1, limits: { values: { rate: 10 } }, quota: null });
    expect(await at(1)).toMatchObject({
      code: 'INACTIVE',
      version: 2,
      reasons: [{ code: 'INACTIVE' }, { code: 'OTHER_CREDENTIAL_REQUIRED', path: 'basicAuthData.password' }],
    });
    expect(await at(2)).toMatchObject({ code: 'VALID', version: 3, limits: { values: { rate: 99 } } });
    expect(await at(3)).toMatchObject({ code: 'DELETED', version: 4 });
    expect(await explain(allowed)).toMatchObject({ code: 'DELETED', version: 4 });
  });

  it('answers for a later time with the key of now', async () => {
    await t.update('k', { ...key, key_id: undefined, expires: Date.parse('2026-02-01T00:00:00Z') / 1000 });
    expect(await explain(allowed)).toMatchObject({ code: 'VALID' });
    expect(await explain(`${allowed}, at: "2026-02-02T00:00:00Z"`)).toMatchObject({ code: 'EXPIRED', version: 2 });
  });

  it.each([
    ['by: { keyID: "k" }, at: "yesterday"', 'at', 'MALFORMED_DATE'],
    ['by: { keyHash: "x" }', 'keyHash', 'MALFORMED_ARGUMENT'],
    [`by: { keyID: "${'x'.repeat(300)}" }`, 'keyID', 'MALFORMED_KEY_ID'],
  ])('rejects %s', async (args, path, code) => {
    const { body } = await t.graphql(`{ explainOrgKey(${args}) { code } }`);
    expect(body).toMatchObject({
      data: { explainOrgKey: null },
      errors: [{ extensions: { code: 'INVALID', issues: [{ path, code }] } }],
    });
  });
});

describe('the live quota', () => {
  const consume = async (amount: number) =>
    dataOf(
      await t.graphql(
        `mutation { consumeOrgQuota(keyID: "k", amount: ${amount}) { allowed refusal quota { max used remaining } } }`,
      ),
    )['consumeOrgQuota'];

  it('has the maximum of the policy, and that of the key again when the policy is removed', async () => {
    await importPolicies({ ...gold, quota_max: 5 });
    await t.importKeys(key);
    expect(await consume(5)).toMatchObject({ allowed: true, quota: { max: 5, used: 5, remaining: 0 } });
    expect(await consume(1)).toMatchObject({ allowed: false, refusal: 'QUOTA_EXCEEDED' });
    await importPolicies({ ...gold, quota_max: 6 });
    expect(await consume(1)).toMatchObject({ allowed: true, quota: { max: 6, used: 6 } });
    const read = await t.graphql('{ orgKey(by: { keyID: "k" }) { quota { max remaining } } }');
    expect(read.body).toEqual({ data: { orgKey: { quota: { max: 6, remaining: 0 } } } });
    await remove('gold');
    expect(await consume(1)).toMatchObject({ allowed: false, quota: { max: 3, used: 6, remaining: 0 } });
  });
});

describe('keyPolicies', () => {
  const list = async (args = '', headers?: Record<string, string>) => {
    const response = await t.graphql(
      `{ keyPolicies${args} { edges { cursor node { policyID version orgID } } pageInfo { hasNextPage endCursor } } }`,
      {},
      headers,
    );
    return (dataOf(response)['keyPolicies'] ?? response.body['errors']) as {
      edges: { cursor: string; node: { policyID: string } }[];
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  };
  const names = ({ edges }: Awaited<ReturnType<typeof list>>) => edges.map(({ node }) => node.policyID);

  it('are none at first', async () => {
    expect(await list()).toEqual({ edges: [], pageInfo: { hasNextPage: false, endCursor: null } });
  });

  it('are listed in pages, without those of other organizations', async () => {
    await importPolicies({ policy_id: 'b' }, { policy_id: 'a' }, { policy_id: 'c', org_id: 'globex' });
    const first = await list('(first: 2)');
    expect([names(first), first.pageInfo.hasNextPage]).toEqual([['a', 'b'], true]);
    const second = await list(`(first: 2, after: "${first.pageInfo.endCursor}")`);
    expect([names(second), second.pageInfo.hasNextPage]).toEqual([['c'], false]);
    expect(names(await list('(last: 1)'))).toEqual(['c']);
    const bound = (await t.issue('service', { orgID: 'acme' })).secret;
    expect(names(await list('', { 'x-svc-authorization': bound }))).toEqual(['a', 'b']);
  });

  it('are read one by one, without those of other organizations', async () => {
    await importPolicies({ policy_id: 'a' }, { policy_id: 'c', org_id: 'globex' });
    const read = async (policyID: string, headers?: Record<string, string>) =>
      dataOf(
        await t.graphql('query ($id: String!) { keyPolicy(policyID: $id) { version } }', { id: policyID }, headers),
      );
    expect(await read('a')).toEqual({ keyPolicy: { version: 1 } });
    expect(await read('c')).toEqual({ keyPolicy: { version: 1 } });
    expect(await read('absent')).toEqual({ keyPolicy: null });
    const bound = (await t.issue('service', { orgID: 'acme' })).secret;
    expect(await read('a', { 'x-svc-authorization': bound })).toEqual({ keyPolicy: { version: 1 } });
    expect(await read('c', { 'x-svc-authorization': bound })).toEqual({ keyPolicy: null });
  });

  it('reject a malformed cursor', async () => {
    expect(await list('(after: "x")')).toMatchObject([{ extensions: { code: 'INVALID' } }]);
  });

  it('return their values exactly', async () => {
    await importPolicies({ ...gold, quota_max: 9_007_199_254_740_993n, governs: ['quota'] });
    const response = await t.graphql(
      '{ keyPolicies { edges { node { policyID version changedAt name isInactive governs values { rate quotaMax accessRights { label allowedUrls { url methods } } } } } } }',
    );
    expect(response.body).toEqual({
      data: {
        keyPolicies: {
          edges: [
            {
              node: {
                policyID: 'gold',
                version: 1,
                changedAt: '2026-01-31T12:00:00.000Z',
                name: 'Gold',
                isInactive: false,
                governs: ['QUOTA'],
                values: {
                  rate: 10,
                  quotaMax: '9007199254740993',
                  accessRights: [{ label: 'invoices', allowedUrls: [{ url: '/invoices/.*', methods: ['GET'] }] }],
                },
              },
            },
          ],
        },
      },
    });
  });
});

describe('impactOfPolicy', () => {
  const impact = async (policy: string, args = '', headers?: Record<string, string>) => {
    const response = await t.graphql(
      `{ impactOfPolicy(policy: ${policy}${args}) { edges { node { orgKey { keyID } changes { path before after } } } pageInfo { hasNextPage endCursor } } }`,
      {},
      headers,
    );
    return (dataOf(response)['impactOfPolicy'] ?? response.body['errors']) as {
      edges: { node: { orgKey: { keyID: string }; changes: object[] } }[];
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  };
  const keysOf = ({ edges }: Awaited<ReturnType<typeof impact>>) => edges.map(({ node }) => node.orgKey.keyID).sort();
  const speed = (rate: number) => `{ policyID: "speed", governs: [RATE_LIMIT], rate: ${rate}, per: 1 }`;

  beforeEach(async () => {
    await importPolicies(
      { policy_id: 'speed', governs: ['rate_limit'], rate: 5, per: 1 },
      { policy_id: 'fast', governs: ['rate_limit'], rate: 50, per: 1 },
    );
    const named = (key_id: string, org_id: string, ...apply_policies: string[]) => ({ key_id, org_id, apply_policies });
    await t.importKeys(
      named('one', 'acme', 'speed'),
      named('two', 'acme', 'speed'),
      named('three', 'globex', 'speed'),
      named('fast', 'acme', 'speed', 'fast'),
      named('other', 'acme', 'fast'),
      named('none', 'acme'),
    );
  });

  it('ends a page whose keys have many changes before `first`, and goes on after it', async () => {
    const accessRights = Array.from({ length: 900 }, (_, n) => ({
      label: `api-${n}`,
      versions: ['v1', 'v2', 'v3', 'v4'],
    }));
    const policy = { policyID: 'speed', accessRights };
    const more = ['four', 'five', 'six'];
    await t.importKeys(...more.map((key_id) => ({ key_id, org_id: 'acme', apply_policies: ['speed'] })));
    const found: string[] = [];
    const sizes: number[] = [];
    for (let after: string | null = null; ;) {
      const response = await t.graphql(
        `query ($policy: KeyPolicyInput!, $after: String) { impactOfPolicy(policy: $policy, first: 10, after: $after) {
           edges { node { orgKey { keyID } } } pageInfo { hasNextPage endCursor } } }`,
        { policy, after },
      );
      const page = dataOf(response)['impactOfPolicy'] as unknown as Awaited<ReturnType<typeof impact>>;
      found.push(...page.edges.map(({ node }) => node.orgKey.keyID));
      sizes.push(page.edges.length);
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    expect(found.sort()).toEqual(['fast', 'one', 'three', 'two', ...more].sort());
    expect(sizes).toEqual([3, 3, 1]);
  });

  it('lists the keys whose effective access would change, and stores nothing', async () => {
    const found = await impact(speed(7));
    expect(keysOf(found)).toEqual(['one', 'three', 'two']);
    expect(found.edges[0]?.node.changes).toEqual([{ path: 'rate', before: 5, after: 7 }]);
    expect(found.pageInfo.hasNextPage).toBe(false);
    expect(keysOf(await impact(speed(5)))).toEqual([]);
    expect(keysOf(await impact(speed(70)))).toEqual(['fast', 'one', 'three', 'two']);
  });

  it('lists keys that name a policy which does not exist yet', async () => {
    await t.importKeys({ key_id: 'early', org_id: 'acme', apply_policies: ['soon'] });
    const found = await impact('{ policyID: "soon", rate: 1, per: 1 }');
    expect(keysOf(found)).toEqual(['early']);
    expect(found.edges[0]?.node.changes).toContainEqual({ path: 'unknownPolicies', before: ['soon'], after: null });
  });

  it('is paginated', async () => {
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 5; pages += 1) {
      const page = await impact(speed(7), `, first: 1${after}`);
      seen.push(...keysOf(page));
      if (!page.pageInfo.hasNextPage) break;
      after = `, after: "${page.pageInfo.endCursor}"`;
    }
    expect(seen.sort()).toEqual(['one', 'three', 'two']);
  });

  it('lists keys of the organization of the credential only', async () => {
    const bound = (await t.issue('service', { orgID: 'globex' })).secret;
    expect(keysOf(await impact(speed(7), '', { 'x-svc-authorization': bound }))).toEqual(['three']);
  });

  it.each([
    ['{ policyID: " x" }', '', 'policy.policyID', 'MALFORMED_TEXT'],
    ['{ policyID: "x", rate: -2 }', '', 'policy.rate', 'OUT_OF_RANGE'],
    ['{ policyID: "x" }', ', last: 1', 'last', 'MALFORMED_ARGUMENT'],
    ['{ policyID: "x" }', ', first: -1', 'first', 'OUT_OF_RANGE'],
    ['{ policyID: "x" }', ', after: "x"', 'after', 'MALFORMED_ARGUMENT'],
  ])('rejects %s%s', async (policy, args, path, code) => {
    expect(await impact(policy, args)).toMatchObject([{ extensions: { code: 'INVALID', issues: [{ path, code }] } }]);
  });
});
