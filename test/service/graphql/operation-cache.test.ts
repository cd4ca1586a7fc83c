import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createOperationCache } from '../../../src/graphql/execution/operation-cache.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import type { Execute } from '../../../src/graphql/execution/executor/execute.js';
import { noCredentials, startOwnApp, startSharedApp } from '../../support/app.js';
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
  const createDocumentCache = () => createOperationCache(servedSchema);
  const put = (cache: ReturnType<typeof createDocumentCache>, text: string) => cache.keep(parse(text));

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

  it('G-20 counts characters: a comment of any length is one token', () => {
    const cache = createDocumentCache();
    const text = (index: number) => `{ __typename } # ${index} ${'x'.repeat(14_900)}`;
    for (let index = 0; index < 3_000; index += 1) put(cache, text(index));
    const kept = Array.from({ length: 3_000 }, (_, index) => cache.get(text(index))).filter(Boolean);
    expect(kept.length).toBeGreaterThan(100);
    expect(kept.length).toBeLessThan(500);
  });

  it('counts a document once that is added twice', () => {
    const cache = createDocumentCache();
    put(cache, '{ kept }');
    for (let index = 0; index < 20_000; index += 1) put(cache, '{ again }');
    expect(cache.get('{ kept }')).toBeDefined();
  });

  /** A service, and the operations of documents that its executor received. */
  async function startWatched() {
    const documents: unknown[] = [];
    const execute: Execute = ({ operation }) => {
      documents.push(operation);
      return { data: {} };
    };
    return { app: await startOwnApp({}, { graphql: { execute } }), documents };
  }

  it('passes the same document to the executor for the same text', async () => {
    const { app, documents } = await startWatched();
    for (const query of ['{ __typename }', '{ a: __typename }', '{ __typename }']) await app.graphql(query);
    expect(documents[2]).toBe(documents[0]);
    expect(documents[1]).not.toBe(documents[0]);
  });

  it.each([
    ['no credential', noCredentials],
    ['a credential that is not valid', { ...noCredentials, 'x-svc-authorization': 'kf_svc_x' }],
  ])('G-20 keeps no document of a client with %s, and evicts none for it', async (_, headers) => {
    const { app, documents } = await startWatched();
    const query = '{ orgKeys { totalCount } }';
    await app.graphql(query);
    const text = (index: number) => `{ ${'__typename '.repeat(600)} } # ${index}`;
    for (let index = 0; index < 80; index += 1) await app.graphql(text(index), {}, headers);
    await app.graphql(text(79), {}, headers);
    // `toBe` would compare these documents by value, which takes seconds.
    expect(documents.at(-1) === documents.at(-2)).toBe(false);
    await app.graphql(query);
    expect(documents.at(-1) === documents[0]).toBe(true);
    // A document that the service has anyway is the same for all.
    await app.graphql(query, {}, headers);
    expect(documents.at(-1) === documents[0]).toBe(true);
  });

  it('keeps the compiled operations of its documents while clients without a credential execute others', () => {
    const operations = createOperationCache(servedSchema, 10);
    const kept = parse('{ __typename }');
    operations.keep(kept);
    const prepared = operations.prepare(kept, undefined);
    for (let index = 0; index < 20; index += 1) {
      operations.prepare(parse(`{ a${index}: __typename }`), undefined)?.compiled.onCompiled(5);
    }
    expect(operations.prepare(kept, undefined)).toBe(prepared);
    prepared?.compiled.onCompiled(11);
    expect(operations.prepare(kept, undefined)).not.toBe(prepared);
  });

  it('prepares an operation once', () => {
    const operations = createOperationCache(servedSchema);
    const text = 'query A { __typename orgKeys { edges { cursor } } } query B { __typename }';
    const document = parse(text);
    const prepared = operations.prepare(document, 'A');
    expect(prepared).toMatchObject({ document, fields: ['orgKeys'], label: 'orgKeys', isValid: false });
    expect(operations.prepare(document, 'A')).toBe(prepared);
    for (const name of ['C', '', undefined]) expect(operations.prepare(document, name)).toBeUndefined();
    expect(operations.prepare(document, 'B')).toMatchObject({ fields: [], label: 'other' });
  });
});
