import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Context } from '../../../src/graphql/context.js';
import { executeCompiled, type Execute } from '../../../src/graphql/execution/executor/execute.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import type { TestPlugin } from '../../../src/graphql/yoga.js';
import { listen, type RunningServer } from '../../../src/http/server/server.js';
import { createLogger } from '../../../src/lib/log.js';
import type { Tracer, Telemetry } from '../../../src/telemetry/ports.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createRandom, runs, seed } from '../../support/generated.js';
import { eventLoopTurns, until } from '../../support/until.js';
import { generateOperation, hasRandomResult } from '../../unit/graphql/generated-operations.js';

/*
 * Two services with the same keys receive the same requests. One has the fast path, the other sends all requests through
 * Yoga. Their responses are the same to the byte, and so are their log lines. FAST_PATH_RUNS=5000 is the full run;
 * FUZZ_SEED repeats a run.
 */

/** The compared pairs of responses. */
let comparisons = 0;
afterAll(() => console.log(`fast path: ${comparisons} pairs of responses compared`));

/** Requests whose headers have arrived, on either side. */
let arrivals = 0;

interface Side {
  readonly app: TestApp;
  readonly server: RunningServer;
  readonly agent: Agent;
  /** Operations that were executed by the fast path, and by Yoga. */
  readonly executed: { fast: number; byYoga: number };
}

const keys = [
  { key_id: 'one', org_id: 'acme', alias: 'One', quota_max: 10, quota_renewal_rate: 60, tags: ['a', 'b'], rate: 1.5 },
  { key_id: 'two', org_id: 'acme', hmac_string: 's3cret', meta_data: { big: 1, deep: [{ then: true }] } },
  { key_id: 'three', org_id: 'other', expires: 1893456000, basic_auth_data: { user: 'u' } },
];

interface SideOptions {
  readonly env?: Record<string, string>;
  readonly watch?: () => Telemetry;
}

async function startSide(fastPath: boolean, { env = {}, watch }: SideOptions = {}): Promise<Side> {
  const executed = { fast: 0, byYoga: 0 };
  const requestsOfYoga = new WeakSet<object>();
  const plugin: TestPlugin = {
    onParams: ({ context: { requestContext } }) => void requestsOfYoga.add(requestContext),
  };
  const counted: Execute = (compiled, args) => {
    const { requestContext } = args.contextValue as Context;
    executed[requestsOfYoga.has(requestContext) ? 'byYoga' : 'fast'] += 1;
    return executeCompiled(compiled, args);
  };
  const app = await startApp(env, { graphql: { execute: counted, fastPath, plugins: [plugin] } }, watch?.());
  await app.importKeys(...keys);
  const handle: typeof app.app.handle = (...args) => {
    arrivals += 1;
    return app.app.handle(...args);
  };
  const { scheduler } = app.app.services;
  const server = await listen(handle, { host: '127.0.0.1', port: 0, log: createLogger('silent'), scheduler });
  return { app, server, agent: new Agent({ keepAlive: true, maxSockets: 1 }), executed };
}

async function stopSide({ app, server, agent }: Side): Promise<void> {
  agent.destroy();
  await server.stop();
  await app.close();
}

interface Requested {
  readonly body: string | Buffer;
  readonly isChunked?: boolean;
  readonly headers?: Record<string, string | string[]>;
  readonly path?: string;
  readonly method?: string;
}

const ids = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|cred_[0-9a-f]{16}/g;
/** The parts that differ between responses. */
const fleeting = ['date', 'connection', 'keep-alive'];

/** The response of one side, without what is new with every request. */
function sendRequest(
  { app, server, agent }: Side,
  { body, isChunked = false, headers = {}, path = '/graphql', method = 'POST' }: Requested,
) {
  const given = Object.entries({ 'content-type': 'application/json', ...headers }).flatMap(([name, value]) =>
    value === 'management' || value === 'service'
      ? [[name, name === 'authorization' ? `Bearer ${app[value]}` : app[value]] as const]
      : value === 'absent'
        ? []
        : [[name, value] as const],
  );
  const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': Buffer.byteLength(body) };
  return new Promise<string>((resolve, reject) => {
    const all = { ...Object.fromEntries(given), ...length };
    const sent = httpRequest(server.url + path, { method, agent, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const shown = Object.entries(response.headers).filter(([name]) => !fleeting.includes(name));
        const text = Buffer.concat(chunks).toString('latin1');
        const lines = [response.statusCode, ...shown.toSorted().map((header) => header.join(': ')), '', text];
        resolve(lines.join('\n').replaceAll(ids, '(id)'));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The log without times and ids. */
function logOf({ app }: Side): string[] {
  return app
    .logs()
    .replaceAll(ids, '(id)')
    .replaceAll(/"(?:time":"[^"]*"|ms":[\d.]+|credentialID":"[^"]*"|id":"cred_[^"]*"),?/g, '')
    .trim()
    .split('\n');
}

const both = { authorization: 'management', 'x-svc-authorization': 'service' };
const json = (value: unknown) => JSON.stringify(value);
const preview =
  'query P($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash data { alias tags quotaMax } } }';
const update = `mutation U($keyID: ID!, $input: UpdateKeyInput!, $expectedVersion: Int) {
  updateOrgKey(keyID: $keyID, input: $input, expectedVersion: $expectedVersion) { version orgKey { definition { alias } } } }`;
const many = 'query A { orgKeys { edges { node { keyHash } } } } query B { __typename }';

let sides: readonly [Side, Side];
beforeAll(async () => {
  sides = [await startSide(true), await startSide(false)];
});
afterAll(async () => {
  for (const side of sides) await stopSide(side);
});

/** Fields that fail after a promise list their errors in the order in which the executor awaited them. */
function withSortedErrors(result: string): string {
  const start = result.indexOf('\n\n') + 2;
  const errors = /^\{"errors":(\[\{.+\}\]),"data":/s.exec(result.slice(start))?.[1];
  if (errors === undefined) return result;
  const sorted = (JSON.parse(errors) as unknown[]).map((error) => JSON.stringify(error)).toSorted();
  return result.replace(errors, () => `[${sorted.join()}]`);
}

/** Sends a request to both sides until the operation is known, and compares the responses. */
async function compare(
  requested: Requested,
  [fast, byYoga]: readonly [Side, Side] = sides,
  times = 2,
): Promise<string> {
  let result = '';
  for (let time = 0; time < times; time += 1) {
    result = withSortedErrors(await sendRequest(fast, requested));
    expect(result).toBe(withSortedErrors(await sendRequest(byYoga, requested)));
    comparisons += 1;
  }
  return result;
}

/** Two sides for one test. */
async function withPair(options: SideOptions, work: (pair: readonly [Side, Side]) => Promise<void>): Promise<void> {
  const pair = [await startSide(true, options), await startSide(false, options)] as const;
  try {
    await work(pair);
  } finally {
    for (const side of pair) await stopSide(side);
  }
}

/** A request with both credentials. */
const request = (body: object): Requested => ({ body: json(body), headers: both });
const alias = 'b\\u00e4r';
const goodRequest = { query: preview, variables: { input: { alias: 'x', tags: [' a ', 'a'], quotaMax: 1 } } };
const good = json(goodRequest);
const sent = (headers: Requested['headers'] = {}): Requested => ({ body: good, headers: { ...both, ...headers } });

describe('The fast path is taken', () => {
  it.each<[string, Requested]>([
    ['by a query', sent()],
    [
      'by a GET request',
      { body: '', path: `/graphql?${new URLSearchParams({ query: '{ __typename }' })}`, method: 'GET', headers: both },
    ],
    ['with only the credential that is needed', { body: good, headers: { authorization: 'management' } }],
    ['for text beyond ASCII', request({ query: preview, variables: { input: { alias: 'bär 🗝' } } })],
    ['for escaped text', { body: good.replace('"x"', `"${alias}"`), headers: both }],
    ['by one of several operations', request({ query: many, operationName: 'A' })],
    [
      'with null for all that may be left out',
      request({ query: '{ orgKeys { edges { cursor } } }', operationName: null, variables: null }),
    ],
    ['by a body in chunks', { body: good, isChunked: true, headers: both }],
    ['by a request from another origin', sent({ origin: 'https://elsewhere.test' })],
    ['by a definition that is not valid', request({ query: preview, variables: { input: { tags: [''] } } })],
    ['without credentials', { body: good }],
    [
      'with extensions that name no document',
      request({ ...goodRequest, extensions: { clientLibrary: { name: 'x' } } }),
    ],
    [
      'by a page whose size is a variable',
      request({ query: 'query ($n: Int) { orgKeys(first: $n) { edges { cursor } } }', variables: { n: 2 } }),
    ],
    ['where any type is accepted', sent({ accept: '*/*' })],
    ['where the newer type is accepted', sent({ accept: 'application/graphql-response+json' })],
    ['by a mutation', request({ query: update, variables: { keyID: 'one', input: { alias: 'new' } } })],
    [
      'by an operation whose names are JavaScript’s',
      request({ query: '{ __proto__: __typename toJSON: __typename }' }),
    ],
  ])('%s', async (_, requested) => {
    const before = { ...sides[0].executed };
    await compare(requested);
    expect(sides[0].executed.fast).toBeGreaterThan(before.fast);
    expect(sides[1].executed.fast).toBe(0);
  });
});

describe('A response and its log line are those of Yoga', () => {
  const large = json({
    query: `${preview} # ${'x'.repeat(14_000)}`,
    variables: { input: { metaData: 'x'.repeat(120_000) } },
  });
  const repeated = ['management', 'management'];
  it.each<[string, Requested]>([
    [
      'with a credential and a wrong one',
      { body: good, headers: { authorization: 'management', 'x-svc-authorization': 'x' } },
    ],
    ['with a repeated credential', { body: good, headers: { authorization: repeated } }],
    ['without variables', request({ query: preview })],
    ['with a variable too many', request({ query: preview, variables: { input: {}, more: 1 } })],
    ['with a change of no key', request({ query: update, variables: { keyID: 'none', input: {} } })],
    ['with no operation name among several', request({ query: many })],
    ['with an operation name that is no text', request({ query: many, operationName: 1 })],
    ['with variables that are a list', request({ query: preview, variables: [] })],
    ['with extensions', request({ ...goodRequest, extensions: { a: 1 } })],
    ['with an unknown member', request({ ...goodRequest, more: 1 })],
    ['with a document of its hash', request({ extensions: { persistedQuery: { sha256Hash: 'x' } } })],
    ['with a member twice', { body: good.replace('"alias"', '"alias":"y","alias"'), headers: both }],
    ['with an integer that no double holds', { body: good.replace(':1}', ':9007199254740993}'), headers: both }],
    ['with a number that nothing holds', { body: good.replace(':1}', ':1e999}'), headers: both }],
    ['with malformed JSON', { body: good.slice(1), headers: both }],
    ['with bytes that are no text', { body: Buffer.from([0x7b, 0xff, 0x7d]), headers: both }],
    ['with a byte order mark', { body: `\ufeff${good}`, headers: both }],
    ['with no body', { body: '', headers: both }],
    ['with a batch', { body: `[${good}]`, headers: both }],
    ['with a body that is too large', { body: 'x'.repeat(131_073), headers: both }],
    ['with a body above 8 KiB and no credential', { body: `${good}${' '.repeat(8_192)}` }],
    ['with chunks above 8 KiB and no credential', { body: `${good}${' '.repeat(8_192)}`, isChunked: true }],
    [
      'with a body above 8 KiB and a wrong credential',
      { body: `${good}${' '.repeat(8_192)}`, headers: { authorization: 'Bearer x' } },
    ],
    [
      'with a body that is as large as it may be',
      { body: `${good}${' '.repeat(131_072 - good.length)}`, headers: both },
    ],
    ['with a document that is too long', { body: large, headers: both }],
    [
      'with a document that costs too much',
      request({
        query:
          '{ orgKeys(first: 100) { edges { node { history(first: 100) { edges { node { changes { path } } } } } } } }',
      }),
    ],
    ['with a field that does not exist', request({ query: '{ nothing }' })],
    ['that introspects', request({ query: '{ __schema { queryType { name } } }' })],
    ['for the service’s own text', request({ query: '{ _service { sdl } }' })],
    ['that subscribes', request({ query: 'subscription { nothing }' })],
    ['that wants a page', sent({ accept: 'text/html' })],
    ['that wants a stream', sent({ accept: 'text/event-stream' })],
    ['that wants nothing there is', sent({ accept: 'image/png' })],
    ['that weighs types', sent({ accept: 'application/json;q=0.5, application/graphql-response+json' })],
    ['that wants what JavaScript knows', sent({ accept: 'constructor' })],
    ['of an upper-case type', sent({ accept: 'APPLICATION/JSON' })],
    ['with a type in UTF-8', sent({ 'content-type': 'application/json; charset=UTF-8' })],
    ['of another type', sent({ 'content-type': 'text/plain' })],
    ['of no type', sent({ 'content-type': 'absent' })],
    ['that is packed', sent({ 'content-encoding': 'gzip' })],
    ['with a query in the path', { body: good, headers: both, path: '/graphql?a=1' }],
    ['on another path', { body: good, headers: both, path: '/graphql/' }],
    ['with another method', { body: good, headers: both, method: 'PUT' }],
  ])('%s', async (_, requested) => {
    await compare(requested);
  });

  it(`for generated operations (FUZZ_SEED=${seed})`, async () => {
    const random = createRandom(seed);
    const hints = (name: string, type: string) => {
      if (type === 'Int64') return [0, 5, 1893456000, '9007199254740993', 1.5];
      if (type.startsWith('JSON')) return [{}, { a: [1, { b: null, then: 1 }] }];
      const known: Record<string, readonly unknown[]> = {
        keyID: ['one', 'two', 'three', 'none', 'bad\nid'],
        orgID: ['acme', 'other'],
        first: [1, 2, 100, -1],
        expectedVersion: [1, 2, 3],
        password: [null],
      };
      return known[name];
    };
    const before = { ...sides[0].executed };
    for (let run = 0; run < runs('FAST_PATH_RUNS', 120); run += 1) {
      const from = createRandom(random.below(2 ** 31));
      const { query, operationName, variables } = generateOperation(servedSchema, from, {
        hints,
        maxParts: 2,
        wrongOneIn: 60,
      });
      // Yoga's executor takes a field that is called `then` for a promise, and fails.
      if (query.includes('then:') || hasRandomResult({ query })) continue;
      const headers = random.pick<NonNullable<Requested['headers']>>([
        both,
        both,
        both,
        { 'x-svc-authorization': 'service' },
        {},
      ]);
      await compare({ body: json({ query, operationName, variables }), headers });
    }
    const { fast, byYoga } = sides[0].executed;
    console.log(`fast path: ${json({ fast: fast - before.fast, byYoga: byYoga - before.byYoga })}`);
    expect(fast - before.fast).toBeGreaterThan(20);
  });

  it('with all its lines', async () => {
    // The line of a request is written after its response.
    await until(() => logOf(sides[0]).length === logOf(sides[1]).length, 'As many lines of one as of the other');
    const [fast, byYoga] = sides.map((side) => logOf(side).toSorted());
    expect(fast).toEqual(byYoga);
    expect(fast?.length).toBeGreaterThan(200);
  });

  it('when storage fails', async () => {
    await withPair({}, async (pair) => {
      await compare(sent(), pair);
      for (const { app } of pair) {
        const { credentials } = app.app.services;
        Reflect.set(credentials, 'findBySecretHash', () => Promise.reject(new Error('The disk is gone.')));
      }
      expect(await compare(sent(), pair)).toMatch(/^500/);
    });
  });

  it('when the body breaks off', async () => {
    await withPair({}, async (pair) => {
      for (const { server } of pair) {
        for (const isChunked of [false, true]) {
          const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
          const length = isChunked ? 'Transfer-Encoding: chunked' : 'Content-Length: 100';
          const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
          const before = arrivals;
          socket.write(`${head}${isChunked ? '5\r\n' : ''}{"que`);
          await until(() => arrivals > before, 'The arrival of the request');
          await eventLoopTurns();
          socket.destroy();
        }
      }
      const line: unknown = expect.stringContaining('"status":400');
      await expect
        .poll(() => pair.map((side) => logOf(side).filter((line) => line.includes('"request"'))))
        .toEqual([
          [line, line],
          [line, line],
        ]);
    });
  });
});

/** The headers that real clients send with an operation. */
const clients: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Apollo Client 4': { accept: 'application/graphql-response+json,application/json;q=0.9' },
  'Apollo Router': {
    accept: 'application/json, application/graphql-response+json',
    'accept-encoding': 'gzip, br, deflate',
  },
  'Hive gateway': { accept: 'application/graphql-response+json, application/json, multipart/mixed' },
  urql: {
    accept:
      'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
  },
  'graphql-request': { accept: 'application/graphql-response+json, application/json' },
  'the example of Relay': {
    accept: 'application/graphql-response+json; charset=utf-8, application/json; charset=utf-8',
    'content-type': 'application/json; charset=utf-8',
  },
  GraphiQL: {
    accept: 'application/json, multipart/mixed',
    origin: 'https://pages.test',
    'sec-fetch-site': 'same-origin',
  },
  'fetch of a browser': { accept: '*/*', origin: 'https://pages.test', 'sec-fetch-mode': 'cors' },
  'fetch of another page': { accept: '*/*', origin: 'https://elsewhere.test', 'sec-fetch-mode': 'cors' },
  curl: { accept: '*/*', 'user-agent': 'curl/8.9.1' },
  'a client without headers': {},
  'keyfront/client': { accept: 'application/graphql-response+json, application/json' },
};

const clientLibrary = { clientLibrary: { name: '@apollo/client', version: '4.0.0' } };
const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** A request for each kind of result. */
const kinds: Readonly<Record<string, Requested>> = {
  'a success': sent(),
  'a success with extensions in the request': request({ ...goodRequest, extensions: clientLibrary }),
  'a trusted document': request({ documentId: hash(preview), variables: { input: { alias: 'x' } } }),
  'a trusted document as Apollo names it': request({
    extensions: { persistedQuery: { version: 1, sha256Hash: hash(preview) } },
    variables: { input: {} },
  }),
  'an unknown trusted document': request({ documentId: 'none' }),
  'errors of fields': request({
    query: '{ a: orgKey(by: { keyID: "one" }) { version } b: previewKey(input: { tags: [""] }) { keyID } }',
  }),
  'a response that is null': request({ query: preview, variables: { input: { tags: [''], rate: -5 } } }),
  'a conflict': request({ query: update, variables: { keyID: 'two', input: {}, expectedVersion: 9 } }),
  'variables that are not valid': request({ query: preview, variables: { input: { alias: 7 } } }),
  'a variable of a page that is not valid': request({
    query: 'query ($n: Int) { orgKeys(first: $n) { edges { cursor } } }',
    variables: { n: 'x' },
  }),
  'no credentials': { body: good },
  'rejected credentials': { body: good, headers: { authorization: 'Bearer kf_mgt_wrong' } },
  'a credential of the other kind': { body: good, headers: { 'x-svc-authorization': 'service' } },
  'an unknown operation name': request({ query: many, operationName: 'C' }),
  'one of several operations': request({ query: many, operationName: 'A' }),
  'a syntax error': request({ query: '{ a' }),
  'a page that is too large': request({
    query:
      'query ($n: Int) { orgKeys(first: $n) { edges { node { history(first: 100) { edges { node { changes { path } } } } } } } }',
    variables: { n: 100 },
  }),
};

const trustedFile = join(mkdtempSync(join(tmpdir(), 'fast-path-')), 'trusted.json');
writeFileSync(trustedFile, json({ [hash(preview)]: preview, [`sha256:${hash(update)}`]: update, [hash(many)]: many }));
afterAll(() => rmSync(dirname(trustedFile), { recursive: true }));

/** Records no spans, and counts each request for one. */
const createTracer = (spans: string[]): Tracer => ({
  request: (_method, _header, work) => work(() => undefined),
  withSpan: async (name, facts, work) => {
    spans.push(json([name, facts]));
    return work(() => undefined);
  },
  ids: () => ({}),
});

describe.each<[string, SideOptions]>([
  ['', {}],
  [' with allowed origins', { env: { KEYFRONT_CORS_ORIGINS: 'https://pages.test' } }],
  [' with introspection for credentials', { env: { KEYFRONT_INTROSPECTION: 'credential' } }],
  [' with trusted documents', { env: { KEYFRONT_TRUSTED_DOCUMENTS: trustedFile } }],
  [
    ' with trusted documents only',
    { env: { KEYFRONT_TRUSTED_DOCUMENTS: trustedFile, KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'on' } },
  ],
  [' with tracing', { watch: () => ({ tracer: createTracer([]) }) }],
])('The service%s responds as Yoga does', (name, options) => {
  // All clients are compared without settings, of which only the allowed origins depend on headers.
  const some = Object.entries(clients).filter(
    ([client, headers]) =>
      name === '' || client === 'Apollo Client 4' || (name.includes('origins') && 'origin' in headers),
  );
  it.each(some)('to %s', async (_client, headers) => {
    await withPair(options, async (pair) => {
      for (const requested of Object.values(kinds)) {
        await compare({ ...requested, headers: { ...requested.headers, ...headers } }, pair);
      }
      expect(pair[0].executed.fast).toBeGreaterThan(2);
      expect(pair[1].executed.fast).toBe(0);
      await until(() => logOf(pair[0]).length === logOf(pair[1]).length, 'As many log lines on both sides');
      expect(logOf(pair[0]).toSorted()).toEqual(logOf(pair[1]).toSorted());
    });
  });
});

describe('The service responds as Yoga does', () => {
  const requested: Requested = {
    body: json({ query: '{ orgKey(by: { keyID: "one" }) { version } }' }),
    headers: { ...both, ...clients['Apollo Client 4'] },
  };

  it('with a masked error', async () => {
    await withPair({}, async (pair) => {
      await compare(requested, pair);
      for (const { app } of pair) {
        Reflect.set(app.app.services.ports.store, 'find', () => Promise.reject(new Error('c4n4ry')));
      }
      const text = await compare(requested, pair);
      expect(text).toContain('"INTERNAL"');
      expect(text).not.toContain('c4n4ry');
    });
  });

  it('with a response that is too large', async () => {
    await withPair({}, async (pair) => {
      const large = 'x'.repeat(60_000);
      for (const { app } of pair) {
        await app.importKeys(
          ...Array.from({ length: 40 }, (_item, index) => ({
            key_id: `large${index}`,
            org_id: 'acme',
            meta_data: { large },
          })),
        );
      }
      const query = '{ orgKeys(first: 100) { edges { node { definition { metaData } } } } }';
      const text = await compare({ ...requested, body: json({ query }) }, pair);
      expect(text).toContain('TOO_LARGE');
    });
  });

  it('after the deadline', async () => {
    await withPair({}, async (pair) => {
      await compare(requested, pair);
      const gates = pair.map(({ app }) => {
        const waiting = { count: 0 };
        Reflect.set(app.app.services.ports.store, 'find', () => {
          waiting.count += 1;
          return new Promise(() => undefined);
        });
        return waiting;
      });
      const responses = [];
      for (const [index, side] of pair.entries()) {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
        try {
          const response = sendRequest(side, requested);
          await until(() => (gates[index]?.count ?? 0) > 0, 'The read of the key');
          vi.advanceTimersByTime(5_000);
          responses.push(await response);
        } finally {
          vi.useRealTimers();
        }
      }
      comparisons += 1;
      expect(responses[0]).toBe(responses[1]);
      expect(responses[0]).toContain('retry-after: 1');
      expect(pair[0].executed).toStrictEqual({ fast: 3, byYoga: 0 });
    });
  });
});

it('traces the executions of the fast path as those of Yoga', async () => {
  const spans: string[][] = [];
  const watch = () => {
    const own: string[] = [];
    spans.push(own);
    return { tracer: createTracer(own) };
  };
  await withPair({ watch }, async (pair) => {
    for (const requested of Object.values(kinds)) await compare(requested, pair);
    expect(spans[0]?.length).toBeGreaterThan(5);
    expect(spans[0]).toEqual(spans[1]);
  });
});
