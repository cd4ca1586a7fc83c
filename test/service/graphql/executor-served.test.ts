import { getIntrospectionQuery } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import { parseJSON, stringifyJSON } from '../../../src/lib/json.js';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { createRandom, runs, seed } from '../../support/generated.js';
import { forService, graphqlJS, type ExecuteDocument } from '../../unit/graphql/executors.js';
import { generateOperation, hasRandomResult, type Operation } from '../../unit/graphql/generated-operations.js';
import type { Hints, Random } from '../../unit/graphql/generated-values.js';

/*
 * Three services with the same keys receive the same requests, and their responses are equal. One has our executor, one graphql-js's, and one Yoga's. EXECUTOR_RUNS=20000 is the full run; FUZZ_SEED repeats a run.
 */

const keys = [
  {
    key_id: 'one',
    org_id: 'acme',
    alias: 'One',
    quota_max: 10,
    quota_renewal_rate: 60,
    tags: ['a', 'b'],
    rate: 1.5,
    per: 1,
  },
  { key_id: 'two', org_id: 'acme', hmac_string: 's3cret', meta_data: { big: 1, deep: [{ then: true }] } },
  { key_id: 'three', org_id: 'other', expires: 1893456000, basic_auth_data: { user: 'u' } },
];

let own: TestApp;
let others: Record<string, TestApp>;

beforeAll(async () => {
  const yoga = createYoga({ schema: servedSchema, maskedErrors: false }).getEnveloped({}).execute as ExecuteDocument;
  own = await startApp();
  others = {
    "Yoga's executor": await startApp({}, { graphql: { execute: forService(yoga) } }),
    'graphql-js': await startApp({}, { graphql: { execute: forService(graphqlJS) } }),
  };
  for (const app of [own, ...Object.values(others)]) await app.importKeys(...keys);
});

afterAll(async () => {
  for (const app of [own, ...Object.values(others)]) await app.close();
});

interface Request extends Operation {
  readonly headers: Record<string, string>;
}

async function sendRequest(app: TestApp, { query, operationName, variables, headers }: Request): Promise<string> {
  const given: Record<string, string> = { 'content-type': 'application/json', ...headers };
  if (given['management']) given['authorization'] = `Bearer ${app.management}`;
  if (given['service']) given['x-svc-authorization'] = app.service;
  const body = JSON.stringify({ query, operationName, variables });
  return comparable(await app.send('/graphql', { method: 'POST', headers: given, body }));
}

/** The response without the identifier of its request, with its errors sorted: their order depends on which field fails first. */
function comparable({ status, headers, text }: TestResponse): string {
  const ids = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|cred_[0-9a-f]{16}/g;
  const body = parseJSON(text.replaceAll(ids, '(id)')) as { errors?: unknown[] };
  body.errors?.sort((a, b) => (stringifyJSON(a) < stringifyJSON(b) ? -1 : 1));
  return `${status} ${headers.get('content-type')} ${stringifyJSON(body)}`;
}

/** What the arguments of our own operations mean. */
function hintsOf(known: { hashes: unknown[]; ids: unknown[]; cursors: unknown[] }): Hints {
  const hints: Record<string, readonly unknown[]> = {
    keyID: ['one', 'two', 'three', 'none', 'bad\nid'],
    keyHash: [...known.hashes, 'none'],
    id: [...known.ids, 'T3JnS2V5Om5vbmU=', 'garbage'],
    orgID: ['acme', 'acme', 'other'],
    first: [1, 2, 2, 100, -1, 1000],
    last: [1, 2],
    after: [...known.cursors, 'garbage'],
    before: known.cursors,
    expectedVersion: [1, 2, 3, 99],
    toVersion: [1, 2, 99],
    password: [null],
    representations: [
      { __typename: 'OrgKey', keyID: 'one' },
      { __typename: 'OrgKey', keyHash: known.hashes[1] },
      { __typename: 'OrgKey', keyID: 7 },
      { __typename: 'Organization', id: 'acme' },
      { __typename: 'Organization', id: 'none' },
      { __typename: 'Unknown' },
    ],
  };
  return (name, typeName) => {
    if (typeName === 'Int64') return [0, 5, 1893456000, -1, '9007199254740993', 1.5, 'text'];
    if (typeName === 'KeyDateTime') return ['2026-01-31T12:00:00Z', 'never'];
    if (typeName.startsWith('JSON')) return [{}, { a: [1, { b: null, then: 1 }] }];
    return hints[name];
  };
}

function newRequest(random: Random): Request {
  const options = { hints: hintsOf(known), maxParts: 2, wrongOneIn: 60 };
  const operation = generateOperation(servedSchema, createRandom(random.below(2 ** 31)), options);
  // Yoga's executor takes a field that is called `then` for a promise, and fails.
  if (operation.query.includes('then:') || hasRandomResult(operation)) return newRequest(random);
  const both = { management: 'yes', service: 'yes' };
  return { ...operation, headers: random.pick([both, both, { service: 'yes' }, {}]) };
}

const known = { hashes: [] as unknown[], ids: [] as unknown[], cursors: [] as unknown[] };

beforeAll(async () => {
  const query = '{ orgKeys { edges { cursor node { keyHash id } } } }';
  const data = (await own.graphql(query)).body['data'] as {
    orgKeys: { edges: { cursor: string; node: { keyHash: string; id: string } }[] };
  };
  for (const { cursor, node } of data.orgKeys.edges) {
    known.hashes.push(node.keyHash);
    known.ids.push(node.id);
    known.cursors.push(cursor);
  }
});

describe(`The response of the service (FUZZ_SEED=${seed})`, () => {
  it(
    "equals the response with Yoga's executor and with graphql-js, except for the order of errors",
    { timeout: 3_600_000 },
    async () => {
      const counts = { requests: 0, withData: 0, withErrors: 0, mutations: 0, rejected: 0 };
      const cases = runs('EXECUTOR_RUNS', 75);
      const recent: Request[] = [];
      const random = createRandom(seed);
      for (let number = 0; number < cases; number += 1) {
        // Some are sent again: then the operation is compiled.
        const request = recent.length > 0 && random.below(3) === 0 ? random.pick(recent) : newRequest(random);
        recent.unshift(request);
        recent.length = Math.min(recent.length, 20);
        const response = await sendRequest(own, request);
        // Yoga's executor reports invalid variables with the messages of graphql-js 16.
        const hasOwnMessages = response.includes('"message":"Variable ');
        for (const [name, other] of Object.entries(others)) {
          const compared = (text: string) =>
            hasOwnMessages && name.startsWith('Yoga') ? text.slice(0, text.indexOf('"message"')) : text;
          const label = `${name}, case ${number}: ${JSON.stringify(request)}`;
          expect(compared(await sendRequest(other, request)), label).toBe(compared(response));
        }
        counts.requests += 1;
        if (response.includes('"data":{')) counts.withData += 1;
        if (response.includes('"errors":[')) counts.withErrors += 1;
        if (request.query.startsWith('mutation')) counts.mutations += 1;
        if (!response.includes('"data"')) counts.rejected += 1;
      }
      console.log(`responses of the service: ${JSON.stringify(counts)}`);
      for (const count of [counts.withData, counts.withErrors, counts.mutations]) {
        expect(count).toBeGreaterThan(cases / 20);
      }
    },
  );

  it("returns a member named `then`, which Yoga's executor treats as a promise", async () => {
    const query = 'query ($input: PreviewKeyInput!) { then: previewKey(input: $input) { data { then: metaData } } }';
    const { body } = await own.graphql(query, { input: { metaData: { then: 1 } } });
    expect(body).toEqual({ data: { then: { data: { then: { then: 1 } } } } });
  });

  it('returns the whole schema for an introspection query', async () => {
    const request = { query: getIntrospectionQuery(), operationName: undefined, variables: {}, headers: {} };
    const [first, second] = [await sendRequest(own, request), await sendRequest(own, request)];
    for (const other of Object.values(others)) expect(await sendRequest(other, request)).toBe(first);
    expect(second).toBe(first);
  });

  it.each([
    ['application/json', 200],
    ['application/graphql-response+json', 400],
  ])('returns, as %s, the status %i for invalid variables', async (accept, status) => {
    const query = 'query ($first: Int) { orgKeys(first: $first) { edges { cursor } } }';
    for (let time = 0; time < 2; time += 1) {
      const { text, ...response } = await own.graphql(query, { first: 'c4n4ry' }, { accept });
      expect(response.status).toBe(status);
      expect(response.body).toMatchObject({
        errors: [
          {
            message: '`first` must be a 32-bit integer.',
            extensions: { code: 'INVALID', issues: [{ path: 'first', code: 'WRONG_TYPE' }] },
          },
        ],
      });
      expect(response.body).not.toHaveProperty('data');
      expect(text).not.toContain('c4n4ry');
    }
  });
});
