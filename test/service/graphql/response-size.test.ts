import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { responseLimitBytes, stringifyWithin } from '../../../src/graphql/execution/response.js';
import { dataOf, errorsOf } from '../../support/responses.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { generated, runs } from '../../support/generated.js';
import { stateOf } from '../../support/state.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const large = { text: 'x'.repeat(60_000) };
const names = Array.from({ length: 40 }, (_, index) => `key-${index}`);
const importLarge = () =>
  t.importKeys(...names.map((key_id) => ({ key_id, org_id: 'acme', meta_data: large, tags: ['large'] })));

const tooLarge =
  'The response exceeds 2 MiB and was omitted. Changes that the operation made are saved. Request smaller pages or fewer fields.';

describe('the response limit', () => {
  it('G-09 omits a response of more than 2 MiB, and returns a smaller one', async () => {
    await importLarge();
    const query = 'query ($n: Int) { orgKeys(first: $n) { edges { node { definition { metaData } } } } }';
    const response = await t.graphql(query, { n: 40 });
    expect(response.status).toBe(200);
    expect(response.body).toStrictEqual({
      errors: [
        { message: tooLarge, extensions: { code: 'TOO_LARGE', requestID: response.headers.get('x-request-id') } },
      ],
      data: null,
    });
    expect(dataOf<{ edges: object[] }>(await t.graphql(query, { n: 30 })).edges).toHaveLength(30);
  });

  it('G-09 allows exactly 2 MiB', async () => {
    // In JSON, quotes take two bytes, as the letter does, and the key four.
    const part = '"\\é🔑\n'.repeat(7000);
    const aliases = Array.from({ length: 14 }, (_, index) => `d${index}: definition { metaData }`).join(' ');
    const send = async (length: number) => {
      const meta_data = { part, more: part.slice(0, 6000), filler: 'x'.repeat(length) };
      await t.importKeys({ key_id: `of-${length}`, org_id: 'acme', meta_data });
      return t.graphql(`query ($id: ID!) { orgKey(by: { keyID: $id }) { ${aliases} } }`, { id: `of-${length}` });
    };
    const room = responseLimitBytes - Buffer.byteLength((await send(0)).text);
    const longest = Math.floor(room / 14);
    const allowed = await send(longest);
    expect(errorsOf(allowed)).toEqual([]);
    expect(Buffer.byteLength(allowed.text)).toBeLessThanOrEqual(responseLimitBytes);
    expect(Buffer.byteLength(allowed.text)).toBeGreaterThan(responseLimitBytes - 14);
    expect(errorsOf(await send(longest + 1))[0]?.extensions.code).toBe('TOO_LARGE');
  });

  it('G-09 reports that the change of a mutation is saved when its response is too large', async () => {
    await importLarge();
    const response =
      await t.graphql(`mutation { updateOrgKeys(filter: {tagsAll: ["large"]}, patch: {alias: "changed"}, dryRun: false) {
      items { orgKey { definition { metaData } } } } }`);
    expect(errorsOf(response)).toMatchObject([{ message: tooLarge, extensions: { code: 'TOO_LARGE' } }]);
    for (const name of names) expect((await stateOf(t, name)).key?.definition.alias).toBe('changed');
  });

  it('G-09 keeps the errors of a response that is too large', async () => {
    await importLarge();
    const read =
      'updateOrgKeys(filter: {tagsAll: ["large"]}, patch: {alias: "changed"}, dryRun: false) { items { orgKey { definition { metaData } } } }';
    const response = await t.graphql(`mutation { ${read} later: deleteOrgKey(keyID: "missing") { version } }`);
    expect(errorsOf(response)).toMatchObject([
      { extensions: { code: 'TOO_LARGE' } },
      { path: ['later'], extensions: { code: 'NOT_FOUND' } },
    ]);
    const query = await t.graphql(
      `{ orgKeys(first: 40) { edges { node { definition { metaData } } } } orgKey(by: { keyID: "a/b" }) { keyHash } }`,
    );
    expect(errorsOf(query)).toMatchObject([
      { extensions: { code: 'TOO_LARGE' } },
      { path: ['orgKey'], extensions: { code: 'INVALID' } },
    ]);
  });
});

/** Verifies the text at the limit and one byte below it. */
const expectJSONOf = async (value: object) => {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  expect(await stringifyWithin(value, bytes)).toBe(text);
  expect(await stringifyWithin(value, bytes - 1)).toBeUndefined();
};

describe('the JSON of a response', () => {
  it('stringifies a value as JSON.stringify does, up to the limit to the byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }), async (value) => {
        await expectJSONOf({ value });
        await expectJSONOf([large, value, { value, large }]);
      }),
      generated(runs('SIZE_RUNS', 30)),
    );
  });

  it.each([[{ a: undefined, b: 1 }], [[1e21, -0, 1e-7, 0.1]], ['\u2028\ud800"\\\u0000\u007f'], [{}], [[]], ['']])(
    'stringifies %j as JSON.stringify does',
    async (value) => {
      await expectJSONOf([value]);
      await expectJSONOf({ large, value, list: [value, large, undefined] });
    },
  );
});
