import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExecutor, type Execute } from '../../src/graphql/executor/executor.js';
import { createOperationCache } from '../../src/graphql/operation-cache.js';
import { servedSchema } from '../../src/graphql/served-schema.js';
import { listen, type RunningServer } from '../../src/http/server.js';
import { createLogger } from '../../src/lib/log.js';
import { startApp, type TestApp } from '../support/app.js';
import { createRandom, runs, seed } from '../support/generated.js';
import { eventLoopTurns, until } from '../support/until.js';
import { generateOperation } from './generated-operations.js';

/*
 * Two services with the same keys are asked the same, and have to answer the same to the byte and to log the same. One
 * is sent bodies of a declared length, which may take the shortcut, and the other the same in chunks, which goes to Yoga.
 * SHORTCUT_RUNS=5000 is the full run; FUZZ_SEED brings a run back.
 */

/** Requests whose headers have come, on either side. */
let arrivals = 0;

interface Side {
  readonly app: TestApp;
  readonly server: RunningServer;
  readonly agent: Agent;
  readonly isChunked: boolean;
  /** Operations that were executed by the shortcut, and by Yoga. */
  readonly executed: { short: number; long: number };
}

const keys = [
  { key_id: 'one', org_id: 'acme', alias: 'One', quota_max: 10, quota_renewal_rate: 60, tags: ['a', 'b'], rate: 1.5 },
  { key_id: 'two', org_id: 'acme', hmac_string: 's3cret', meta_data: { big: 1, deep: [{ then: true }] } },
  { key_id: 'three', org_id: 'other', expires: 1893456000, basic_auth_data: { user: 'u' } },
];

async function startSide(isChunked: boolean, env: Record<string, string> = {}): Promise<Side> {
  const executed = { short: 0, long: 0 };
  const operations = createOperationCache(servedSchema);
  const own = createExecutor((...of) => operations.prepare(...of)?.compiled);
  const counted: Execute = (args) => {
    const isLong =
      typeof args.contextValue === 'object' && args.contextValue !== null && 'request' in args.contextValue;
    executed[isLong ? 'long' : 'short'] += 1;
    return own(args);
  };
  const app = await startApp(env, { execute: counted });
  await app.importKeys(...keys);
  const handle: typeof app.app.handle = (...args) => {
    arrivals += 1;
    return app.app.handle(...args);
  };
  const server = await listen(handle, { host: '127.0.0.1', port: 0, log: createLogger('silent') });
  return { app, server, agent: new Agent({ keepAlive: true, maxSockets: 1 }), isChunked, executed };
}

async function stopSide({ app, server, agent }: Side): Promise<void> {
  agent.destroy();
  await server.stop();
  await app.close();
}

interface Asked {
  readonly body: string | Buffer;
  readonly headers?: Record<string, string | string[]>;
  readonly path?: string;
  readonly method?: string;
}

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** What differs from answer to answer. */
const fleeting = ['date', 'connection', 'keep-alive'];

/** The answer of one side, without what is new with every request. */
function ask(
  { app, server, agent, isChunked }: Side,
  { body, headers = {}, path = '/graphql', method = 'POST' }: Asked,
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
        resolve(lines.join('\n').replaceAll(uuids, '(id)'));
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
    .replaceAll(uuids, '(id)')
    .replaceAll(/"(?:time":"[^"]*"|ms":[\d.]+|credentialID":"[^"]*"|id":"cred_[^"]*"),?/g, '')
    .trim()
    .split('\n');
}

const both = { authorization: 'management', 'x-svc-authorization': 'service' };
const json = (value: unknown) => JSON.stringify(value);
const preview =
  'query P($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash data { alias tags quotaMax } } }';
const update = `mutation U($keyID: ID!, $input: UpdateKeyInput!, $expectedVersion: Int) {
  updateOrgKey(keyID: $keyID, input: $input, expectedVersion: $expectedVersion) { version definition { alias } } }`;
const many = 'query A { orgKeys { edges { node { keyHash } } } } query B { __typename }';

let sides: readonly [Side, Side];
beforeAll(async () => {
  sides = [await startSide(false), await startSide(true)];
});
afterAll(async () => {
  for (const side of sides) await stopSide(side);
});

/** Asks both the same as often as it takes to know the operation, and compares what they say and log. */
async function compare(asked: Asked, [short, long]: readonly [Side, Side] = sides, times = 2): Promise<string> {
  let answer = '';
  for (let time = 0; time < times; time += 1) {
    answer = await ask(short, asked);
    expect(answer).toBe(await ask(long, asked));
  }
  return answer;
}

const alias = 'b\\u00e4r';
const good = json({ query: preview, variables: { input: { alias: 'x', tags: [' a ', 'a'], quotaMax: 1 } } });

describe('The shortcut is taken', () => {
  it.each<[string, Asked]>([
    ['by a query that was executed before', { body: good, headers: both }],
    ['with only the credential that is needed', { body: good, headers: { authorization: 'management' } }],
    [
      'for text beyond ASCII',
      { body: json({ query: preview, variables: { input: { alias: 'bär 🗝' } } }), headers: both },
    ],
    ['for escaped text', { body: good.replace('"x"', `"${alias}"`), headers: both }],
    ['by one of several operations', { body: json({ query: many, operationName: 'A' }), headers: both }],
    [
      'with null for all that may be left out',
      {
        body: json({ query: '{ orgKeys { edges { cursor } } }', operationName: null, variables: null }),
        headers: both,
      },
    ],
    ['where any type is accepted', { body: good, headers: { ...both, accept: '*/*' } }],
    [
      'where the newer type is accepted',
      { body: good, headers: { ...both, accept: 'application/graphql-response+json' } },
    ],
    [
      'by a mutation',
      { body: json({ query: update, variables: { keyID: 'one', input: { alias: 'new' } } }), headers: both },
    ],
    [
      'by an operation whose names are JavaScript’s',
      { body: json({ query: '{ __proto__: __typename toJSON: __typename }' }), headers: both },
    ],
  ])('%s', async (_, asked) => {
    const before = { ...sides[0].executed };
    await compare(asked);
    expect(sides[0].executed.short).toBeGreaterThan(before.short);
    expect(sides[1].executed.short).toBe(0);
  });
});

describe('A request is answered and logged as by Yoga', () => {
  const large = json({
    query: `${preview} # ${'x'.repeat(14_000)}`,
    variables: { input: { metaData: 'x'.repeat(120_000) } },
  });
  const repeated = ['management', 'management'];
  it.each<[string, Asked]>([
    ['without credentials', { body: good }],
    ['with a wrong credential', { body: good, headers: { authorization: 'Bearer kf_mgt_wrong' } }],
    ['with a credential of the other kind', { body: good, headers: { 'x-svc-authorization': 'service' } }],
    [
      'with a credential and a wrong one',
      { body: good, headers: { authorization: 'management', 'x-svc-authorization': 'x' } },
    ],
    ['with a repeated credential', { body: good, headers: { authorization: repeated } }],
    [
      'with a definition that is wrong',
      { body: json({ query: preview, variables: { input: { tags: [''], rate: -5 } } }), headers: both },
    ],
    [
      'with variables of a wrong type',
      { body: json({ query: preview, variables: { input: { alias: 7 } } }), headers: both },
    ],
    ['without variables', { body: json({ query: preview }), headers: both }],
    ['with a variable too many', { body: json({ query: preview, variables: { input: {}, more: 1 } }), headers: both }],
    [
      'with a change that comes too late',
      { body: json({ query: update, variables: { keyID: 'two', input: {}, expectedVersion: 9 } }), headers: both },
    ],
    [
      'with a change of no key',
      { body: json({ query: update, variables: { keyID: 'none', input: {} } }), headers: both },
    ],
    [
      'with an error beside data',
      {
        body: json({ query: '{ a: orgKey(keyID: "one") { version } b: previewKey(input: { tags: [""] }) { keyID } }' }),
        headers: both,
      },
    ],
    ['with an operation name that is none', { body: json({ query: many, operationName: 'C' }), headers: both }],
    ['with no operation name among several', { body: json({ query: many }), headers: both }],
    ['with an operation name that is no text', { body: json({ query: many, operationName: 1 }), headers: both }],
    ['with variables that are a list', { body: json({ query: preview, variables: [] }), headers: both }],
    ['with extensions', { body: json({ ...JSON.parse(good), extensions: { a: 1 } }), headers: both }],
    ['with an unknown member', { body: json({ ...JSON.parse(good), more: 1 }), headers: both }],
    [
      'with a document of its hash',
      { body: json({ extensions: { persistedQuery: { sha256Hash: 'x' } } }), headers: both },
    ],
    ['with a member twice', { body: good.replace('"alias"', '"alias":"y","alias"'), headers: both }],
    ['with an integer that no double holds', { body: good.replace(':1}', ':9007199254740993}'), headers: both }],
    ['with a number that nothing holds', { body: good.replace(':1}', ':1e999}'), headers: both }],
    ['with malformed JSON', { body: good.slice(1), headers: both }],
    ['with bytes that are no text', { body: Buffer.from([0x7b, 0xff, 0x7d]), headers: both }],
    ['with a byte order mark', { body: `\ufeff${good}`, headers: both }],
    ['with no body', { body: '', headers: both }],
    ['with a batch', { body: `[${good}]`, headers: both }],
    ['with a body that is too large', { body: 'x'.repeat(131_073), headers: both }],
    [
      'with a body that is as large as it may be',
      { body: `${good}${' '.repeat(131_072 - good.length)}`, headers: both },
    ],
    ['with a document that is too long', { body: large, headers: both }],
    [
      'with a document that costs too much',
      {
        body: json({
          query:
            '{ orgKeys(first: 100) { edges { node { history(first: 100) { edges { node { changes { path } } } } } } } }',
        }),
        headers: both,
      },
    ],
    ['with a syntax error', { body: json({ query: '{ a' }), headers: both }],
    ['with a field that does not exist', { body: json({ query: '{ nothing }' }), headers: both }],
    ['that introspects', { body: json({ query: '{ __schema { queryType { name } } }' }), headers: both }],
    ['for the service’s own text', { body: json({ query: '{ _service { sdl } }' }), headers: both }],
    ['that subscribes', { body: json({ query: 'subscription { nothing }' }), headers: both }],
    ['that wants a page', { body: good, headers: { ...both, accept: 'text/html' } }],
    ['that wants a stream', { body: good, headers: { ...both, accept: 'text/event-stream' } }],
    ['that wants nothing there is', { body: good, headers: { ...both, accept: 'image/png' } }],
    [
      'that weighs types',
      { body: good, headers: { ...both, accept: 'application/json;q=0.5, application/graphql-response+json' } },
    ],
    ['that wants what JavaScript knows', { body: good, headers: { ...both, accept: 'constructor' } }],
    ['of an upper-case type', { body: good, headers: { ...both, accept: 'APPLICATION/JSON' } }],
    ['with a type in UTF-8', { body: good, headers: { ...both, 'content-type': 'application/json; charset=UTF-8' } }],
    ['of another type', { body: good, headers: { ...both, 'content-type': 'text/plain' } }],
    ['of no type', { body: good, headers: { ...both, 'content-type': 'absent' } }],
    ['that is packed', { body: good, headers: { ...both, 'content-encoding': 'gzip' } }],
    ['from another origin', { body: good, headers: { ...both, origin: 'https://elsewhere.test' } }],
    ['with a query in the path', { body: good, headers: both, path: '/graphql?a=1' }],
    ['on another path', { body: good, headers: both, path: '/graphql/' }],
    ['with another method', { body: good, headers: both, method: 'PUT' }],
  ])('%s', async (_, asked) => {
    await compare(asked);
  });

  it(`whatever is asked of it (FUZZ_SEED=${seed})`, async () => {
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
    for (let run = 0; run < runs('SHORTCUT_RUNS', 120); run += 1) {
      const from = createRandom(random.below(2 ** 31));
      const { query, operationName, variables } = generateOperation(servedSchema, from, {
        hints,
        mostParts: 2,
        wrongOneIn: 60,
      });
      // Yoga's executor takes a field that is called `then` for a promise, and fails.
      if (query.includes('then:')) continue;
      const headers = random.pick<NonNullable<Asked['headers']>>([
        both,
        both,
        both,
        { 'x-svc-authorization': 'service' },
        {},
      ]);
      await compare({ body: json({ query, operationName, variables }), headers });
    }
    const { short, long } = sides[0].executed;
    console.log(`shortcut: ${json({ short: short - before.short, long: long - before.long })}`);
    expect(short - before.short).toBeGreaterThan(20);
  });

  it('with all its lines', async () => {
    // The line of a request is written after its response.
    await until(() => logOf(sides[0]).length === logOf(sides[1]).length, 'As many lines of one as of the other');
    const [short, long] = sides.map((side) => logOf(side).toSorted());
    expect(short).toEqual(long);
    expect(short?.length).toBeGreaterThan(200);
  });

  it('where storage fails', async () => {
    const pair = [await startSide(false), await startSide(true)] as const;
    await compare({ body: good, headers: both }, pair);
    for (const { app } of pair) {
      const { credentials } = app.app.installation;
      Reflect.set(credentials, 'findBySecretHash', () => Promise.reject(new Error('The disk is gone.')));
    }
    expect(await compare({ body: good, headers: both }, pair)).toMatch(/^500/);
    for (const side of pair) await stopSide(side);
  });

  it('where it breaks off', async () => {
    const pair = [await startSide(false), await startSide(true)] as const;
    for (const { server, isChunked } of pair) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      const length = isChunked ? 'Transfer-Encoding: chunked' : 'Content-Length: 100';
      const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
      const before = arrivals;
      socket.write(`${head}${isChunked ? '5\r\n' : ''}{"que`);
      await until(() => arrivals > before, 'The arrival of the request');
      await eventLoopTurns();
      socket.destroy();
    }
    await expect
      .poll(() => pair.map((side) => logOf(side).filter((line) => line.includes('"request"'))))
      .toEqual([[expect.stringContaining('"status":400')], [expect.stringContaining('"status":400')]]);
    for (const side of pair) await stopSide(side);
  });
});

describe.each<[string, Record<string, string>, boolean]>([
  ['where strangers may not introspect', { KEYFRONT_INTROSPECTION: 'credential' }, true],
  ['where other origins may read', { KEYFRONT_CORS_ORIGINS: 'https://elsewhere.test' }, true],
])('A request is answered and logged as by Yoga, %s', (_, env, isTaken) => {
  it.each<[string, Asked['headers']]>([
    ['with credentials', both],
    ['without', {}],
    ['with a wrong one', { authorization: 'Bearer wrong' }],
    ['from another origin', { ...both, origin: 'https://elsewhere.test' }],
  ])('%s', async (_name, headers) => {
    const pair = [await startSide(false, env), await startSide(true, env)] as const;
    // Somebody else has asked it before.
    for (const body of [
      good,
      json({ query: '{ __typename }' }),
      json({ query: '{ __schema { queryType { name } } }' }),
    ]) {
      await compare({ body, headers: both }, pair);
      await compare({ body, headers: headers ?? {} }, pair);
    }
    expect(pair[0].executed.short > 0).toBe(isTaken);
    for (const side of pair) await stopSide(side);
  });
});
