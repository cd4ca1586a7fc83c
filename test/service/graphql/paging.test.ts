import { getNamedType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/graphql/schema/api-schema.js';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';
import { startSharedApp } from '../../support/app.js';
import { importPolicies } from '../../support/policies.js';

const page = '(first: $first, last: $last) { edges { cursor } }';

/** How to ask for a page of each connection of the schema; there are 101 items in each. */
const connections: Readonly<Record<string, string>> = {
  'Query.orgKeys': `query ($first: Int, $last: Int) { orgKeys(filter: { orgID: "acme" }, first: $first, last: $last) { edges { cursor } } }`,
  'Query.keyPolicies': `query ($first: Int, $last: Int) { keyPolicies${page} }`,
  'Query.keyPolicyHistory': `query ($first: Int, $last: Int) { keyPolicyHistory(policyID: "p0", first: $first, last: $last) { edges { cursor } } }`,
  'Query.organizations': `query ($first: Int, $last: Int) { organizations${page} }`,
  'Organization.keyTags': `query ($first: Int, $last: Int) { organization(id: "acme") { keyTags${page} } }`,
  'Organization.orgKeys': `query ($first: Int, $last: Int) { orgKey(by: { keyID: "k0" }) { organization { orgKeys${page} } } }`,
  'OrgKey.history': `query ($first: Int, $last: Int) { orgKey(by: { keyID: "k0" }) { history${page} } }`,
};
const names = Object.keys(connections);

const t = await startSharedApp();
await t.importKeys(
  ...Array.from({ length: 101 }, (_, index) => ({
    key_id: `k${index}`,
    org_id: 'acme',
    tags: [`t${index}`],
  })),
);
await t.importKeys(...Array.from({ length: 100 }, (_, index) => ({ key_id: `of-${index}`, org_id: `org-${index}` })));
await importPolicies(t, ...Array.from({ length: 101 }, (_, index) => ({ policy_id: `p${index}` })));
for (let rate = 1; rate <= 100; rate += 1) await importPolicies(t, { policy_id: 'p0', rate, per: 1 });
for (let index = 1; index < 101; index += 1) await t.update('k0', { alias: `Name ${index}` });

async function sendRequest(name: string, first: number | null, last: number | null) {
  return t.graphql(connections[name] ?? '', { first, last });
}

async function sizeOf(name: string, first: number | null, last: number | null) {
  const [, edges = ''] = /"edges":\[(.*)\]/.exec((await sendRequest(name, first, last)).text) ?? [];
  return edges.split('cursor').length - 1;
}

describe('a connection', () => {
  it('accepts first, last, after and before everywhere in the schema', () => {
    const found = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .flatMap((type) =>
        Object.values(type.getFields()).map((field) => ({ coordinate: `${type.name}.${field.name}`, field })),
      )
      .filter(({ field }) => {
        const type = getNamedType(field.type);
        return isObjectType(type) && 'edges' in type.getFields();
      });
    // These are read forwards only: `last` and `before` are rejected.
    const ofNodes = ['Query.gateways', 'Query.keyCredentials', 'Query.keyProposals', 'Query.keyWebhooks'];
    const forwards = [...ofNodes, 'Query.impactOfPolicy', 'Query.orgKeyChanges'];
    const all = [...names, ...forwards, 'KeyWebhook.deadLetters', 'OrgKey.deployments'];
    expect(found.map(({ coordinate }) => coordinate).toSorted()).toEqual(all.toSorted());
    for (const { field } of found) {
      const args = Object.fromEntries(field.args.map(({ name, type }) => [name, String(type)]));
      expect(args).toMatchObject({ first: 'Int', after: 'String', last: 'Int', before: 'String' });
    }
  });

  it.each(names)('returns 20 items of %s by default, and at most 100', async (name) => {
    expect(await sizeOf(name, null, null)).toBe(20);
    for (const size of [0, 1, 100]) {
      expect([await sizeOf(name, size, null), await sizeOf(name, null, size)]).toEqual([size, size]);
    }
    for (const size of [101, 2147483647]) {
      expect([await sizeOf(name, size, null), await sizeOf(name, null, size)]).toEqual([100, 100]);
    }
  });

  it.each(names)('rejects first together with last for %s', async (name) => {
    for (const [first, last] of [
      [1, 1],
      [5, 2],
      [0, 0],
    ] as const) {
      const response = await sendRequest(name, first, last);
      expect([codeOf(response), issuesOf(response)]).toEqual(['INVALID', ['last MALFORMED_ARGUMENT']]);
    }
  });

  it.each(names)('rejects negative page sizes of %s, and names each argument', async (name) => {
    for (const size of [-1, -2147483648]) {
      const fromFront = await sendRequest(name, size, null);
      expect([codeOf(fromFront), issuesOf(fromFront)]).toEqual(['INVALID', ['first OUT_OF_RANGE']]);
      const fromEnd = await sendRequest(name, null, size);
      expect([codeOf(fromEnd), issuesOf(fromEnd)]).toEqual(['INVALID', ['last OUT_OF_RANGE']]);
      const fromBoth = await sendRequest(name, size, size);
      expect(issuesOf(fromBoth)).toEqual(['first OUT_OF_RANGE', 'last MALFORMED_ARGUMENT', 'last OUT_OF_RANGE']);
    }
  });

  it.each([
    ['first: 1', [false, true]],
    ['first: 1, after: "0"', [false, true]],
    ['first: 1, after: "1"', [true, true]],
    ['first: 100, after: "1"', [true, false]],
    ['last: 1', [true, false]],
    ['last: 1, before: "999"', [true, false]],
    ['last: 2, before: "3"', [false, true]],
    ['last: 2, before: "1"', [false, true]],
    ['first: 2, after: "999"', [true, false]],
    ['first: 0', [false, true]],
    ['last: 0', [true, false]],
  ])('states exactly whether there are entries around history(%s)', async (args, flags) => {
    const result = await t.graphql(
      `{ orgKey(by: { keyID: "k0" }) { history(${args}) { pageInfo { hasPreviousPage hasNextPage } } } }`,
    );
    const { history } = dataOf<{ history: { pageInfo: Record<string, boolean> } }>(result);
    expect([history.pageInfo['hasPreviousPage'], history.pageInfo['hasNextPage']]).toEqual(flags);
  });
});
