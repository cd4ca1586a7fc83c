import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';
import { plant } from '../../support/planted.js';

let t: TestApp;
beforeAll(async () => {
  t = await startApp();
});
afterAll(async () => t.close());

const aliases = Array.from({ length: 15 }, (_, n) => `a${n}: previewKey(input: $input) { keyHash }`);
const query = `query ($input: PreviewKeyInput!) { ${aliases.join(' ')} }`;

it('starts every root field in its own time slice', async () => {
  const events: string[] = [];
  const { graphql } = plant(t, {
    nextSlice: () => {
      events.push('slice');
      return new Promise((resolve) => setImmediate(resolve)).then(() => void events.push('begin'));
    },
  });
  const { body } = await graphql(query, { input: { alias: 'a' } });
  expect(body).not.toHaveProperty('errors');
  expect(events.filter((event) => event === 'slice')).toHaveLength(15);
  expect(events.slice(0, 15)).toEqual(Array(15).fill('slice'));
});

it('takes no time slice for a field whose credential is missing', async () => {
  let slices = 0;
  const { graphql } = plant(t, { nextSlice: () => void (slices += 1) });
  const { body } = await graphql(query, { input: {} }, { authorization: '' });
  expect(JSON.stringify(body)).toContain('UNAUTHENTICATED');
  expect(slices).toBe(0);
});

it('starts no field of a query past its deadline', async () => {
  let previews = 0;
  const { graphql } = plant(t, {
    deadlineMs: 1,
    nextSlice: () => new Promise((resolve) => setTimeout(resolve, 20)),
    keys: {
      preview: () => {
        previews += 1;
        throw new Error('not to be called');
      },
    },
  });
  const { body } = await graphql(query, { input: {} });
  expect(JSON.stringify(body)).toContain('UNAVAILABLE');
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(previews).toBe(0);
});
