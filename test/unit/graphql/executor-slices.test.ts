import { setImmediate as turn } from 'node:timers/promises';
import { buildSchema, execute, parse } from 'graphql';
import { expect, it } from 'vitest';
import { executeCompiled, type ExecuteArgs } from '../../../src/graphql/execution/executor/execute.js';
import { maxFields } from '../../../src/graphql/execution/executor/execution-context.js';
import { createOperationCache } from '../../../src/graphql/execution/operation-cache.js';

const schema = buildSchema(`
  type Query { items: [Item!] later: [Item] other: Int }
  type Item { n: Int! name: String items: [Item!] }
`);

function run(query: string, rootValue: unknown, nextSlice?: ExecuteArgs['nextSlice']) {
  const prepared = createOperationCache(schema).prepare(parse(query), undefined);
  if (!prepared) throw new Error('There is no operation.');
  return executeCompiled(prepared.compiled, { variableValues: {}, contextValue: {}, rootValue, nextSlice });
}

const itemsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ n, name: `name ${n}` }));

/** Time slices that always have to be waited for, and how many were. */
function slices(): { count: number; next: () => Promise<void> } {
  const counted = {
    count: 0,
    next: async () => {
      counted.count += 1;
      await turn();
    },
  };
  return counted;
}

it('divides long lists into time slices, with the result of graphql-js', async () => {
  const query = '{ items { n name items { n } } later { n } other }';
  const rootValue = {
    items: itemsOf(3_000).map((item) => ({ ...item, items: itemsOf(item.n % 7) })),
    later: Promise.resolve([...itemsOf(100), null, { n: null }, Promise.resolve({ n: 1 })]),
    other: 7,
  };
  const waited = slices();
  const result = await run(query, rootValue, waited.next);
  // Of 18,000 fields: not after each item, which would let a list wait hundreds of times on a busy service.
  expect(waited.count).toBeGreaterThan(20);
  expect(waited.count).toBeLessThan(100);
  const expected = await execute({ schema, document: parse(query), rootValue });
  expect(JSON.parse(JSON.stringify(result))).toEqual(JSON.parse(JSON.stringify(expected)));
  expect(expected.errors).toHaveLength(1);
});

it('does not wait within a short list, nor while there is time', () => {
  const waited = slices();
  expect(run('{ items { n name } }', { items: itemsOf(200) }, waited.next)).toEqual({ data: { items: itemsOf(200) } });
  expect(waited.count).toBe(0);
  let asked = 0;
  const hasTime = () => {
    asked += 1;
    return undefined;
  };
  expect(run('{ items { n name } }', { items: itemsOf(8_000) }, hasTime)).toEqual({ data: { items: itemsOf(8_000) } });
  expect(asked).toBeGreaterThan(20);
});

it('handles items that reject while their list waits', async () => {
  const items = [...itemsOf(1_000), Promise.reject(new Error('refused')), ...itemsOf(1_000), null];
  const { data, errors } = await run('{ items { n name } }', { items }, slices().next);
  expect(data).toEqual({ items: null });
  expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['items.2001']);
});

it('ends an operation with too many fields', async () => {
  const items = itemsOf(1_000).map((item) => ({ ...item, items: itemsOf(300) }));
  const query = '{ items { items { n } } other }';
  expect(1_000 * 301).toBeGreaterThan(maxFields);
  for (const nextSlice of [undefined, slices().next]) {
    const { data, errors } = await run(query, { items, other: 7 }, nextSlice);
    expect(data).toBeNull();
    expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['TOO_LARGE']);
    expect(errors?.[0]?.message).toContain('250,000 fields');
  }
  const below = itemsOf(800).map((item) => ({ ...item, items: itemsOf(300) }));
  expect((await run(query, { items: below, other: 7 })).errors).toBeUndefined();
});
