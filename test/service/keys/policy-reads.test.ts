import { expect, it, vi } from 'vitest';
import { startSharedApp } from '../../support/app.js';
import { importPolicies } from '../../support/policies.js';
import { errorsOf } from '../../support/responses.js';
import { statementsDuring } from '../../support/statements.js';

const t = await startSharedApp();
await t.importKeys(
  ...Array.from({ length: 300 }, (_, index) => ({
    key_id: `k${index}`,
    org_id: `org-${index % 3}`,
    quota_max: 10,
    apply_policies: ['gold'],
  })),
);

const list =
  '{ orgKeys(first: 100) { edges { node { quota { max } effectiveAccess { limits { values { quotaMax } } } } } } }';
const organizations =
  '{ viewer { __typename } ' +
  [0, 1, 2]
    .map(
      (one) => `o${one}: organization(id: "org-${one}") { orgKeys(first: 100) { edges { node { quota { max } } } } }`,
    )
    .join(' ') +
  ' }';

/** The statements about policies that an operation executes after this many milliseconds. */
async function readsOf(query: string, afterMs = 0) {
  const statements = await statementsDuring(async () => {
    vi.advanceTimersByTime(afterMs);
    const response = await t.graphql(query);
    expect(errorsOf(response)).toEqual([]);
  }, /\bpolicies\b/);
  return statements.map((text) =>
    /heads/.test(text) ? 'signature' : /max\(id\)/.test(text) ? 'last row' : 'policies',
  );
}

it.each([
  ['a list of 100 keys', list, 20],
  ['lists of 300 keys', organizations, 30],
])('reads the policies once for %s, and again after a second', async (_, query, quota_max) => {
  await importPolicies(t, { policy_id: 'gold', quota_max });
  expect(await readsOf(query)).toEqual(['policies', 'last row']);
  expect(await readsOf(query)).toEqual([]);
  expect(await readsOf(query, 86_400_000)).toEqual(['signature']);
});
