import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import { parseJSON, stringifyJSON } from '../../../src/lib/json.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createRandom, runs, seed } from '../../support/generated.js';
import { startServer, type TestServer } from '../../support/server.js';
import { connectSocket } from '../../support/websocket.js';
import { generateOperation, hasRandomResult } from '../../unit/graphql/generated-operations.js';

/*
 * Four services with the same keys receive the same operations, each by another way: the fast path, Yoga, an event stream and a
 * WebSocket. Their results are equal, and so are their log lines. TRANSPORT_RUNS=2000 is the full run; FUZZ_SEED repeats a run.
 * `fast-path.test.ts` compares the first two to the byte.
 */

interface Operation {
  readonly query?: unknown;
  readonly operationName?: string | undefined;
  readonly variables?: unknown;
  readonly documentId?: unknown;
  readonly extensions?: unknown;
}

/** Which credentials an operation has. */
type Credentials = 'both' | 'service' | 'management' | 'wrong' | 'none';

interface Transport {
  readonly name: string;
  readonly app: TestApp;
  /** Resolves to the result of an operation. */
  readonly send: (operation: Operation, credentials: Credentials) => Promise<unknown>;
}

const keys = [
  { key_id: 'one', org_id: 'acme', alias: 'One', quota_max: 10, quota_renewal_rate: 60, tags: ['a', 'b'], rate: 1.5 },
  { key_id: 'two', org_id: 'acme', hmac_string: 's3cret', meta_data: { big: 1, deep: [{ then: true }] } },
  { key_id: 'three', org_id: 'other', expires: 1893456000, basic_auth_data: { user: 'u' } },
];

/** A rejected subscription is the same for a client that could receive a stream. */
const jsonOrStream = 'application/json, text/event-stream';

const client = { 'apollographql-client-name': 'parity' };

function headersOf({ management, service }: TestApp, credentials: Credentials): Record<string, string> {
  const all = { authorization: `Bearer ${management}`, 'x-svc-authorization': service };
  if (credentials === 'both') return { ...client, ...all };
  if (credentials === 'service') return { ...client, 'x-svc-authorization': service };
  if (credentials === 'management') return { ...client, authorization: all.authorization };
  return credentials === 'wrong' ? { ...client, 'x-svc-authorization': 'kf_svc_wrong' } : client;
}

async function byHTTP(name: string, accept: string, fastPath: boolean): Promise<Transport> {
  const app = await startApp({}, { graphql: { fastPath } });
  await app.importKeys(...keys);
  const send: Transport['send'] = async (operation, credentials) => {
    const headers = { 'content-type': 'application/json', accept, ...headersOf(app, credentials) };
    const init = { method: 'POST', headers, body: stringifyJSON(operation) };
    const response = await app.app.fetch(new Request('http://keyfront.test/graphql', init), '127.0.0.1');
    const text = await response.text();
    return parseJSON(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  };
  return { name, app, send };
}

let server: TestServer;
async function byWebSocket(): Promise<Transport> {
  server = await startServer();
  const { t: app, url } = server;
  await app.importKeys(...keys);
  const sockets = new Map<Credentials, Awaited<ReturnType<typeof connectSocket>>>();
  let count = 0;
  const send: Transport['send'] = async (operation, credentials) => {
    const known = sockets.get(credentials);
    const socket = known ?? (await connectSocket(url, headersOf(app, credentials)));
    sockets.set(credentials, socket);
    const id = String((count += 1));
    socket.send({ id, type: 'subscribe', payload: operation });
    const { payload } = await socket.nextOf(id);
    // The end of the operation, so that the next one starts after it.
    await socket.nextOf(id);
    return payload;
  };
  return { name: 'a WebSocket', app, send };
}

let transports: readonly Transport[];
beforeAll(async () => {
  transports = [
    await byHTTP('the fast path', jsonOrStream, true),
    await byHTTP('Yoga', jsonOrStream, false),
    await byHTTP('an event stream', 'text/event-stream', false),
    await byWebSocket(),
  ];
});
afterAll(async () => {
  await server.close();
  for (const { app } of transports) await app.close();
});

const ids = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|cred_[0-9a-f]{16}/g;

/** A result without ids, with its errors sorted: their order depends on which field fails first. */
function comparable(result: unknown): string {
  const { errors, ...rest } = result as { readonly errors?: unknown[] };
  const sorted = errors?.map((error) => stringifyJSON(error)).toSorted();
  return stringifyJSON({ ...rest, ...(sorted && { errors: sorted }) }).replaceAll(ids, '(id)');
}

/** Sends an operation by each transport, twice, and compares the results. */
async function compare(operation: Operation, credentials: Credentials): Promise<string> {
  let expected = '';
  for (const _ of ['first', 'known']) {
    const results = await Promise.all(
      transports.map(async ({ name, send }) => [name, comparable(await send(operation, credentials))] as const),
    );
    expected = results[0]?.[1] ?? '';
    for (const [name, result] of results) expect([name, result]).toEqual([name, expected]);
  }
  return expected;
}

const preview = 'query ($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash data { alias quotaMax } } }';
const update = `mutation ($keyID: ID!, $input: UpdateKeyInput!, $version: Int) {
  updateOrgKey(keyID: $keyID, input: $input, expectedVersion: $version) { version orgKey { definition { alias quotaMax } } } }`;
const deep =
  '{ orgKeys(first: 100) { edges { node { history(first: 100) { edges { node { changes { path } } } } } } } }';

describe('an operation has the same result by each transport', () => {
  it.each<[string, Operation, string]>([
    ['a preview', { query: preview, variables: { input: { alias: 'x' } } }, '"alias":"x"'],
    ['an update', { query: update, variables: { keyID: 'one', input: { quotaMax: '9007199254740993' } } }, '740993'],
    ['a preview that is not valid', { query: preview, variables: { input: { tags: [''], rate: -5 } } }, 'INVALID'],
    ['variables of wrong types', { query: preview, variables: { input: { alias: 7, unknown: 1 } } }, 'UNKNOWN_FIELD'],
    ['a conflict', { query: update, variables: { keyID: 'two', input: {}, version: 9 } }, 'CONFLICT'],
    ['a key that does not exist', { query: update, variables: { keyID: 'none', input: {} } }, 'NOT_FOUND'],
    ['an unknown field', { query: '{ nothing }' }, 'INVALID'],
    ['a syntax error', { query: '{ a' }, 'Syntax Error'],
    ['a document beyond the limits', { query: deep }, 'costs'],
    ['an unknown operation name', { query: '{ __typename }', operationName: 'None' }, 'Could not determine'],
    ['a query that is no text', { query: 7 }, 'Expected'],
    ['no query', {}, 'is required'],
    ['variables that are a list', { query: preview, variables: [] }, 'Expected'],
    ['extensions that are a list', { query: preview, extensions: [] }, 'Expected'],
    ['an unknown trusted document', { documentId: 'none' }, 'no trusted document'],
    ['an id that is not the hash', { query: preview, documentId: 'none' }, 'not the SHA-256 hash'],
    ['a subscription that is not valid', { query: 'subscription { nothing }' }, 'INVALID'],
    [
      'a subscription with a bad cursor',
      { query: 'subscription { orgKeyChanged(after: "x") { cursor } }' },
      'MALFORMED_ARGUMENT',
    ],
    [
      'more values than a body may have',
      { query: preview, variables: { input: { metaData: Array.from({ length: 12_001 }, () => 1) } } },
      'TOO_LARGE',
    ],
    ['a body that is too large', { query: `${preview} #${'x'.repeat(131_072)}` }, 'TOO_LARGE'],
  ])('%s', async (_, operation, part) => {
    expect(await compare(operation, 'both')).toContain(part);
    for (const credentials of ['service', 'management', 'wrong', 'none'] as const)
      await compare(operation, credentials);
  });

  it(`generated operations (FUZZ_SEED=${seed})`, { timeout: 600_000 }, async () => {
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
    let compared = 0;
    for (let run = 0; run < runs('TRANSPORT_RUNS', 120); run += 1) {
      const from = createRandom(random.below(2 ** 31));
      const generated = generateOperation(servedSchema, from, { hints, maxParts: 2, wrongOneIn: 60 });
      const { query, operationName, variables } = generated;
      // A subscription has no last result.
      if (query.includes('subscription') || hasRandomResult(generated)) continue;
      await compare({ query, operationName, variables }, random.pick(['both', 'both', 'both', 'service', 'none']));
      compared += 1;
    }
    console.log(`transports: ${compared} generated operations compared`);
    expect(compared).toBeGreaterThan(20);
  });

  it('and the same log lines', async () => {
    const linesOf = ({ app }: Transport) =>
      app
        .logs()
        .replaceAll(ids, '(id)')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        // The status of an event stream is another.
        .map(({ time: _time, ms: _ms, status: _status, ...line }) => stringifyJSON(line))
        .map((line) => line.replaceAll(/"(?:credentialID":"[^"]*"|id":"cred_[^"]*"),?/g, ''))
        .toSorted();
    const [expected, ...others] = transports.map((transport) => [linesOf(transport)]);
    for (const [index, lines] of others.entries()) expect([index, lines]).toEqual([index, expected]);
    expect(expected?.[0]?.length).toBeGreaterThan(400);
  });
});
