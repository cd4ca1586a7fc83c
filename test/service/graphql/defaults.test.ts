import { describe, expect, it } from 'vitest';
import { codeOf, dataOf } from '../../support/responses.js';
import { startSharedApp } from '../../support/app.js';

const t = await startSharedApp();
await t.importKeys(
  ...['a', 'b', 'c', 'd'].map((key_id) => ({ key_id, org_id: 'acme', quota_max: 100, quota_renewal_rate: 3600 })),
);

const sendRequest = async (query: string, variables: object = {}) =>
  dataOf<Record<string, unknown>>(await t.graphql(query, variables));

/** The same argument left out, null in the document, null in a variable, and a variable that is not given. */
const ways = (argument: string, type: string): readonly (readonly [string, string, object])[] => [
  ['', '', {}],
  ['', `${argument}: null`, {}],
  [`$value: ${type}`, `${argument}: $value`, { value: null }],
  [`$value: ${type}`, `${argument}: $value`, {}],
];
const parenthesised = (text: string) => (text === '' ? '' : `(${text})`);

describe('an argument with a default', () => {
  it.each([
    ['orderBy', 'OrgKeyOrder', 'KEY_HASH'],
    ['descending', 'Boolean', 'false'],
  ])('treats null for %s of orgKeys as omitted', async (argument, type, value) => {
    const page = '{ edges { cursor node { keyHash } } }';
    const wanted = await sendRequest(`{ orgKeys(${argument}: ${value}) ${page} }`);
    for (const [declared, passed, variables] of ways(argument, type)) {
      expect(
        await sendRequest(`query ${parenthesised(declared)} { orgKeys${parenthesised(passed)} ${page} }`, variables),
      ).toEqual(wanted);
    }
  });

  it('treats a null amount of consumeOrgQuota as one request', async () => {
    let used = 0;
    for (const [declared, passed, variables] of ways('amount', 'Int64')) {
      const mutation = `mutation ${parenthesised(declared)} { consumeOrgQuota(keyID: "a" ${passed}) { allowed quota { used } } }`;
      expect(await sendRequest(mutation, variables)).toEqual({ allowed: true, quota: { used: (used += 1) } });
    }
  });

  it.each(['updateOrgKey', 'previewOrgKeyUpdate'])('resets no quota in %s if resetQuota is null', async (name) => {
    await sendRequest('mutation { consumeOrgQuota(keyID: "b", amount: 7) { allowed } }');
    const kind = name === 'updateOrgKey' ? 'mutation' : 'query';
    const input = 'input: {quotaMax: 100, quotaRenewalRate: 3600}';
    const { used } = (await sendRequest('{ orgKey(by: { keyID: "b" }) { quota { used } } }'))['quota'] as {
      used: number;
    };
    for (const [declared, passed, variables] of ways('resetQuota', 'Boolean')) {
      const operation = `${kind} ${parenthesised(declared)} { ${name}(keyID: "b", ${input} ${passed}) { quotaEffect { after { used } } } }`;
      expect(await sendRequest(operation, variables)).toEqual({ quotaEffect: { after: { used } } });
    }
  });

  it('resets no quota in updateOrgKeys for null, and changes nothing without dryRun', async () => {
    await sendRequest('mutation { consumeOrgQuota(keyID: "c", amount: 7) { allowed } }');
    for (const [declared, passed, variables] of ways('resetQuota', 'Boolean')) {
      const operation = `mutation ${parenthesised(declared)} {
        updateOrgKeys(filter: {orgID: "acme"}, patch: {alias: "Changed"} ${passed}) { dryRun items { change { quotaEffect { summary } } } } }`;
      const { dryRun, items } = await sendRequest(operation, variables);
      expect([dryRun, items]).toEqual([
        true,
        Array.from({ length: 4 }, () => ({ change: { quotaEffect: { summary: 'The quota does not change.' } } })),
      ]);
    }
    expect(await sendRequest('{ orgKey(by: { keyID: "c" }) { version definition { alias } } }')).toEqual({
      version: 1,
      definition: { alias: null },
    });
  });

  it.each(['updateOrgKeys', 'resetOrgQuotas'])('rejects null for dryRun of %s, and changes nothing', async (name) => {
    const patch = name === 'updateOrgKeys' ? ', patch: {}' : '';
    const response = await t.graphql(`mutation { ${name}(filter: {} ${patch}, dryRun: null) { dryRun } }`);
    expect(codeOf(response)).toBe('INVALID');
    expect(await sendRequest('{ orgKey(by: { keyID: "d" }) { version } }')).toEqual({ version: 1 });
  });
});
