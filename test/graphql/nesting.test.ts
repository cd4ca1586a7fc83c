import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.js';

let t: TestApp;
beforeAll(async () => {
  t = await startApp();
});
afterAll(() => t.close());

it.each([
  ['selections', '{a'.repeat(20_000)],
  ['lists', `{ previewKey(input: {tags: ${'['.repeat(30_000)}`],
  ['closed lists', `{ previewKey(input: {tags: ${'['.repeat(201)}${']'.repeat(201)}}) { keyID } }`],
])('refuses an operation of %s nested too deeply, without a word in the log of errors', async (_, query) => {
  const { body } = await t.graphql(query);
  expect(body).toMatchObject({ errors: [{ extensions: { code: 'INVALID' } }] });
  expect(t.logs()).not.toContain('internal error');
});

it('takes brackets in texts for what they are', async () => {
  const { body } = await t.graphql(`{ previewKey(input: {alias: "${'('.repeat(250)}"}) { keyID } }`);
  expect(body).toMatchObject({ data: { previewKey: {} } });
});
