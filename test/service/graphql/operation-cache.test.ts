import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createOperationCache } from '../../../src/graphql/operation/operation-cache.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import type { Execute } from '../../../src/graphql/executor/execute.js';
import { startOwnApp, startSharedApp } from '../../support/app.js';
import { runs } from '../../support/generated.js';
import { serveWith } from '../../support/overridden-server.js';
import { collectGarbage } from '../../support/garbage.js';

const t = await startSharedApp();

/** How many bytes of heap are taken after as many queries more than before them. */
async function growth(count: number, sendRequest: (index: number) => Promise<unknown>): Promise<number> {
  const heap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  // What is made once, on first use, is not growth.
  for (let index = 0; index < 50; index += 1) await sendRequest(-1 - index);
  const before = heap();
  for (let index = 0; index < count; index += 1) await sendRequest(index);
  return heap() - before;
}

const name = (index: number) => `q${index < 0 ? 'w' : ''}${Math.abs(index)}`;
const mebibyte = 1024 * 1024;

describe('distinct queries', () => {
  it('G-20 grow the heap by less than 20 MiB in any number', async () => {
    const { graphql } = serveWith(t, {});
    const grown = await growth(runs('CACHE_RUNS', 2000), (index) =>
      graphql(`query ${name(index)} { previewKey(input: { alias: "x" }) { keyID } }`),
    );
    expect(grown).toBeLessThan(20 * mebibyte);
  });

  it('G-20 grow the heap by less than 20 MiB at the maximum size, valid or not', async () => {
    const { graphql } = serveWith(t, {});
    const many = '1 '.repeat(970);
    const kinds = [`{ previewKey(input: { metaData: [${many}] }) { keyID } }`, `{ nope(a: [${many}]) }`];
    const broken = `{ nope ${'x'.repeat(14_000)} (`;
    const grown = await growth(runs('CACHE_RUNS', 2000), (index) =>
      graphql(`query ${name(index)} ${kinds[Math.abs(index) % 10] ?? broken}`),
    );
    expect(grown).toBeLessThan(20 * mebibyte);
  });

  it('G-20 do not retain the request bodies', async () => {
    const { graphql } = serveWith(t, {});
    // The careful reader of JSON is the one for integers of this size.
    const variables = (index: number) => ({ a: 9007199254740993n, pad: `${index} `.repeat(15_000) });
    const grown = await growth(Math.ceil(runs('CACHE_RUNS', 2000) / 5), (index) =>
      graphql(`query ${name(index)} { __typename }`, variables(index)),
    );
    expect(grown).toBeLessThan(20 * mebibyte);
  });
});

describe('the cache of operations', () => {
  const createDocumentCache = () => createOperationCache(servedSchema).documents;
  const put = (cache: ReturnType<typeof createDocumentCache>, text: string) => cache.set(text, parse(text));

  it('evicts the least recently used document', () => {
    const cache = createDocumentCache();
    const large = (index: number) => `{ a${index} ${'a '.repeat(900)} }`;
    put(cache, '{ used }');
    put(cache, '{ unused }');
    for (let index = 0; index < 200; index += 1) {
      put(cache, large(index));
      expect(cache.get('{ used }')).toBeDefined();
    }
    expect(cache.get('{ unused }')).toBeUndefined();
    expect(cache.get(large(0))).toBeUndefined();
    expect(cache.get(large(199))).toBeDefined();
  });

  it('counts a document once that is added twice', () => {
    const cache = createDocumentCache();
    put(cache, '{ kept }');
    for (let index = 0; index < 20_000; index += 1) put(cache, '{ again }');
    expect(cache.get('{ kept }')).toBeDefined();
  });

  it('passes the same document to the executor for the same text', async () => {
    const documents: unknown[] = [];
    const execute: Execute = ({ document }) => {
      documents.push(document);
      return { data: {} };
    };
    const app = await startOwnApp({}, { graphql: { execute } });
    for (const query of ['{ __typename }', '{ a: __typename }', '{ __typename }']) await app.graphql(query);
    expect(documents[2]).toBe(documents[0]);
    expect(documents[1]).not.toBe(documents[0]);
  });

  it('prepares an operation once, and finds it by text and name', () => {
    const operations = createOperationCache(servedSchema);
    const text = 'query A { __typename orgKeys { edges { cursor } } } query B { __typename }';
    const document = parse(text);
    operations.documents.set(text, document);
    expect(operations.find(text, 'A')).toBeUndefined();
    const prepared = operations.prepare(document, 'A');
    expect(prepared).toMatchObject({ document, fields: ['orgKeys'], label: 'orgKeys', isValid: false });
    expect(operations.prepare(document, 'A')).toBe(prepared);
    expect(operations.find(text, 'A')).toBe(prepared);
    for (const name of ['B', 'C', undefined]) expect(operations.find(text, name)).toBeUndefined();
    for (const name of ['C', '', undefined]) expect(operations.prepare(document, name)).toBeUndefined();
    expect(operations.prepare(document, 'B')).toMatchObject({ fields: [], label: 'other' });
  });
});
