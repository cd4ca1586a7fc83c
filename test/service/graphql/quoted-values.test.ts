import { afterAll, beforeAll, expect, it } from 'vitest';
import { errorsOf } from '../../support/responses.js';
import { startApp, type TestApp } from '../../support/app.js';

let t: TestApp;
beforeAll(async () => {
  t = await startApp();
});
afterAll(async () => t.close());

const secret = 'hunter2';
const preview = (input: string) => `{ previewKey(input: ${input}) { hash } }`;
const withVariable = 'query ($input: KeyDefinitionInput!) { previewKey(input: $input) { hash } }';

/** Documents and variables with a secret in each place where graphql-js quotes what a client sent. */
const requests: readonly (readonly [string, string, Record<string, unknown>?])[] = [
  ['a text instead of an input object', preview(`"${secret}"`)],
  ['a text instead of a list', preview(`{ tags: { a: "${secret}" } }`)],
  ['a text instead of a number', preview(`{ quotaMax: "${secret}" }`)],
  ['a text instead of a boolean', preview(`{ isInactive: "${secret}" }`)],
  ['a text instead of an enum', `{ orgKeys(first: 1, states: ["${secret}"]) { totalCount } }`],
  ['an unknown enum value', `{ orgKeys(first: 1, states: [${secret}]) { totalCount } }`],
  ['an unknown member', preview(`{ ${secret}: 1 }`)],
  ['an unknown argument', `{ previewKey(${secret}: 1) { hash } }`],
  ['an unfinished string', `{ previewKey(input: { alias: "${secret}`],
  ['a text where a name is expected', `{ previewKey(input: {} "${secret}") { hash } }`],
  [
    'a default value with a wrong type',
    `query ($input: KeyDefinitionInput = "${secret}") { previewKey(input: $input) { hash } }`,
  ],
  ['a variable that is a text', withVariable, { input: secret }],
  ['a variable that is a list', withVariable, { input: [secret] }],
  ['a member of a variable with a wrong type', withVariable, { input: { isInactive: secret } }],
  ['a nested member of a variable with a wrong type', withVariable, { input: { basicAuth: { password: [secret] } } }],
  ['an unknown member of a variable', withVariable, { input: { [secret]: 1 } }],
  ['an unknown nested member of a variable', withVariable, { input: { basicAuth: { [secret]: 1 } } }],
  ['an unknown member with a text as its value', withVariable, { input: { alia: secret } }],
  ['a missing variable beside an unknown one', withVariable, { [secret]: secret }],
];

for (const [place, query, variables] of requests) {
  it(`G-15 rejects ${place} without quoting it`, async () => {
    const response = await t.graphql(query, variables);
    expect(errorsOf(response).length).toBeGreaterThan(0);
    for (const { extensions } of errorsOf(response)) expect(extensions?.['code']).not.toBe('INTERNAL');
    expect(JSON.stringify(errorsOf(response).map(({ message }) => message))).not.toContain(secret);
  });
}
