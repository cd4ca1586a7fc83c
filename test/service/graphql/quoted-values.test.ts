import { expect, it } from 'vitest';
import { errorsOf } from '../../support/responses.js';
import { startSharedApp } from '../../support/app.js';
import { expectNoChange } from '../../support/state.js';

const t = await startSharedApp();
await t.importKeys({ key_id: 'k1', org_id: 'acme' });

const secret = 'hunter2';
const preview = (input: string) => `{ previewKey(input: ${input}) { keyHash } }`;
const withVariable = 'query ($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash } }';
const update = (args: string) => `mutation { updateOrgKey(keyID: "k1", input: {}, ${args}) { status } }`;
const updateWithVariables = `mutation ($keyID: ID!, $resetQuota: Boolean, $expectedVersion: Int) {
  updateOrgKey(keyID: $keyID, input: {}, resetQuota: $resetQuota, expectedVersion: $expectedVersion) { status } }`;

/** Documents and variables with a secret in each place where graphql-js quotes what a client sent. */
const requests: readonly (readonly [string, string, Record<string, unknown>?])[] = [
  ['a text instead of an input object', preview(`"${secret}"`)],
  ['an enum value instead of an input object', preview(secret)],
  ['a list instead of an input object', preview(`["${secret}"]`)],
  ['a text instead of a list', preview(`{ tags: { a: "${secret}" } }`)],
  ['a text instead of a number', preview(`{ quotaMax: "${secret}" }`)],
  ['a text instead of a boolean', preview(`{ isInactive: "${secret}" }`)],
  ['a text instead of an enum', `{ orgKeys(filter: { states: ["${secret}"] }) { totalCount } }`],
  ['an unknown enum value', `{ orgKeys(orderBy: ${secret}) { totalCount } }`],
  ['an unknown member', preview(`{ ${secret}: 1 }`)],
  ['an unknown argument', `{ previewKey(${secret}: 1) { keyHash } }`],
  ['an argument with a wrong type', update(`resetQuota: "${secret}"`)],
  ['an argument that is an object', update(`resetQuota: { a: "x; y: ${secret}" }`)],
  ['an argument that is no integer', update(`expectedVersion: "${secret}"`)],
  ['an identifier that is an object', `mutation { updateOrgKey(keyID: { a: "${secret}" }, input: {}) { status } }`],
  ['a condition of the operation', `query @include(if: "${secret}") { previewKey(input: {}) { keyID } }`],
  ['a condition of a field', `{ previewKey(input: {}) { keyID @skip(if: "a\\"${secret}") } }`],
  ['an unfinished string', `{ previewKey(input: { alias: "${secret}`],
  ['a text where a name is expected', `{ previewKey(input: {} "${secret}") { keyHash } }`],
  [
    'a default value with a wrong type',
    `query ($input: PreviewKeyInput = "${secret}") { previewKey(input: $input) { keyHash } }`,
  ],
  ['a default value of a scalar', `query ($n: Int = "${secret}") { orgKeys(first: $n) { totalCount } }`],
  ['a variable that is a text', withVariable, { input: secret }],
  ['a variable that is a list', withVariable, { input: [secret] }],
  ['a member of a variable with a wrong type', withVariable, { input: { isInactive: secret } }],
  [
    'a nested member of a variable with a wrong type',
    withVariable,
    { input: { basicAuthData: { password: [secret] } } },
  ],
  ['an unknown member of a variable', withVariable, { input: { [secret]: 1 } }],
  ['an unknown nested member of a variable', withVariable, { input: { basicAuthData: { [secret]: 1 } } }],
  ['an unknown member with a text as its value', withVariable, { input: { alia: secret } }],
  ['a missing variable beside an unknown one', withVariable, { [secret]: secret }],
  ['a variable that is no boolean', updateWithVariables, { keyID: 'k1', resetQuota: secret }],
  [
    'a variable that holds the words of an error',
    updateWithVariables,
    { keyID: 'k1', resetQuota: { 'x"; at': `${secret}; at "x"; a` } },
  ],
  ['a variable that is no identifier', updateWithVariables, { keyID: { a: `${secret}: b` } }],
  ['a variable that is no integer', updateWithVariables, { keyID: 'k1', expectedVersion: secret }],
  ['a variable that is a list of integers', updateWithVariables, { keyID: 'k1', expectedVersion: [secret] }],
];

for (const [place, query, variables] of requests) {
  it(`G-15 rejects ${place} without quoting it, and changes nothing`, async () => {
    const response = await expectNoChange(t, () => t.graphql(query, variables));
    expect(errorsOf(response).length).toBeGreaterThan(0);
    expect(errorsOf(response).filter(({ extensions }) => extensions.code !== 'INVALID')).toEqual([]);
    // The path of an issue is the name of the member, as it was sent.
    expect(response.text.replaceAll(/"path":"[^"]*"/g, '')).not.toContain(secret);
  });
}
