import { once } from 'node:events';
import { createClient } from 'graphql-ws';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { recheckEveryMs } from '../../../src/graphql/execution/subscribe.js';
import { parseJSONCarefully } from '../../../src/lib/json.js';
import { pingEveryMs } from '../../../src/graphql/websocket/websocket-server.js';
import { followQuery } from '../../support/event-stream.js';
import { hashOf } from '../../support/factories.js';
import { misreadJSON } from '../../support/misread-json.js';
import { sendRequest } from '../../support/responses.js';
import { serveWith } from '../../support/overridden-server.js';
import { exchange, startOwnServer, startServer, type TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';
import { changeIn, closedWith, codesIn, connectSocket, openSocket, type TestSocket } from '../../support/websocket.js';

let s: TestServer;
let sockets: TestSocket[] = [];
beforeEach(async () => {
  s = await startServer({ KEYFRONT_CORS_ORIGINS: 'https://dash.example.com' });
  await s.t.importKeys({ key_id: 'k1', org_id: 'acme' }, { key_id: 'k2', org_id: 'globex' });
});
afterEach(async () => {
  vi.useRealTimers();
  for (const { socket } of sockets) socket.terminate();
  sockets = [];
  await s.close();
});

/** The first message of a subscription. The errors of a rejected operation come in a message of type `next`, too. */
const started = { type: 'next', payload: { data: { orgKeyChanged: { __typename: 'KeyFeedCheckpoint' } } } };

const serviceHeader = () => ({ 'x-svc-authorization': s.t.service });
async function connected(params: object = serviceHeader(), headers: Record<string, string> = {}): Promise<TestSocket> {
  const opened = await connectSocket(s.url, params, headers);
  sockets.push(opened);
  return opened;
}
async function opened(headers: Record<string, string> = {}, protocol?: string): Promise<TestSocket> {
  const socket = await openSocket(s.url, headers, protocol);
  sockets.push(socket);
  return socket;
}
let changes = 0;
const change = async (keyID: string) =>
  expect((await s.t.update(keyID, { alias: `Change ${(changes += 1)}` })).status).toBe(200);
const handshake = (lines: string[]) =>
  exchange(s.port, `GET /graphql HTTP/1.1\r\nHost: localhost:${s.port}\r\n${lines.join('\r\n')}\r\n\r\n`);
const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];

describe('a subscription over WebSocket', () => {
  it('sends every change once, and ends when the client completes it', async () => {
    const socket = await connected();
    const first = await socket.request(followQuery);
    expect(first).toMatchObject({ ...started, id: '1' });
    await change('k1');
    await change('k1');
    expect(changeIn(await socket.next())?.entry).toMatchObject({ version: 2 });
    expect(changeIn(await socket.next())?.entry).toMatchObject({ version: 3 });
    socket.send({ id: '1', type: 'complete' });
    await change('k1');
    expect(await socket.request('{ orgKey(by: { keyID: "k1" }) { version } }', {}, '2')).toEqual({
      type: 'next',
      id: '2',
      payload: { data: { orgKey: { version: 4 } } },
    });
    await until(() => s.t.logs().includes('subscription ended'), 'The end of the subscription');
  });

  it('resumes from a cursor, also by the client of graphql-ws', async () => {
    const socket = await connected();
    const begun = changeIn(await socket.request(followQuery));
    await change('k1');
    await change('k2');
    const client = createClient({ url: `${s.url.replace('http', 'ws')}/graphql`, connectionParams: serviceHeader() });
    const seen: unknown[] = [];
    for await (const { data } of client.iterate({ query: followQuery, variables: { after: begun?.cursor } })) {
      seen.push((data as { orgKeyChanged: { entry: { version: number } } }).orgKeyChanged.entry.version);
      if (seen.length === 2) break;
    }
    await client.dispose();
    expect(seen).toEqual([2, 2]);
  });

  it('can be completed before its first event', async () => {
    const socket = await connected();
    for (let round = 0; round < 30; round += 1) {
      socket.send({ id: `s${round}`, type: 'subscribe', payload: { query: followQuery } });
      socket.send({ id: `s${round}`, type: 'complete' });
    }
    expect(await socket.request(followQuery, {}, 'kept')).toMatchObject(started);
    await until(() => s.t.logLines('subscription ended').length === 30, 'The end of the subscriptions');
    expect(s.t.logs()).not.toContain('internal error');
  });

  it.each(['{ __typename }', followQuery])('can be cancelled before its first result is read: %s', async (query) => {
    const results = await serveWith(s.t, {}).operate(query);
    expect(await results.return()).toEqual({ done: true, value: undefined });
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  it('accepts the credential in a header of the handshake, in connectionParams, and in their member `headers`', async () => {
    for (const socket of [
      await connected({}, serviceHeader()),
      await connected({ 'X-Svc-Authorization': s.t.service }),
      await connected({ headers: serviceHeader() }),
      await connected(serviceHeader(), { 'x-svc-authorization': 'wrong' }),
    ]) {
      expect(await socket.request(followQuery)).toMatchObject(started);
    }
  });

  it('A-08 sends a bound credential the changes of its organization only', async () => {
    const { secret } = await s.t.issue('service', { orgID: 'globex' });
    const socket = await connected({ 'x-svc-authorization': secret });
    await socket.request(followQuery);
    await change('k1');
    await change('k2');
    expect(changeIn(await socket.next())?.keyHash).toBe(hashOf('k2'));
  });

  it('is rejected with UNAUTHENTICATED without a valid service credential', async () => {
    for (const params of [{}, { 'x-svc-authorization': 'wrong' }, { authorization: `Bearer ${s.t.management}` }]) {
      const result = await (await connected(params)).request(followQuery);
      expect([result.type, codesIn(result)]).toEqual(['next', ['UNAUTHENTICATED']]);
    }
  });

  it('is rejected with INVALID for an unknown field, a bad cursor, and an operation beyond the limits', async () => {
    const socket = await connected();
    const aliases = Array.from({ length: 16 }, (_, index) => `a${index}: cursor`).join(' ');
    const queries = ['subscription { nothing }', `subscription { orgKeyChanged(after: "x") { ${aliases} } }`, '{'];
    for (const [index, query] of queries.entries()) {
      const result = await socket.request(query, {}, `q${index}`);
      expect([result.type, codesIn(result)]).toEqual(['next', ['INVALID']]);
    }
    const bad = await socket.request(followQuery, { after: 'nonsense' }, 'cursor');
    expect([bad.type, codesIn(bad)]).toEqual(['next', ['INVALID']]);
  });

  it('ends with UNAUTHENTICATED when its credential is revoked', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const { id, secret } = await s.t.issue('service');
    const socket = await connected({ 'x-svc-authorization': secret });
    await socket.request(followQuery);
    await s.t.app.services.credentials.revoke(id, s.t.clock.now);
    vi.advanceTimersByTime(recheckEveryMs);
    expect(codesIn(await socket.next())).toEqual(['UNAUTHENTICATED']);
    expect(await socket.next()).toEqual({ type: 'complete', id: '1' });
  });

  it('counts as an open subscription of its credential, 100 at most, until the connection is closed', async () => {
    const socket = await connected();
    const extra = await connected();
    for (let count = 0; count < 100; count += 1) {
      expect(await socket.request(followQuery, {}, `s${count}`)).toMatchObject(started);
    }
    expect(codesIn(await extra.request(followQuery, {}, 'one more'))).toEqual(['RATE_LIMITED']);
    // The connection has a maximum of its own, which also limits queries.
    expect(codesIn(await socket.request('{ __typename }', {}, 'query'))).toEqual(['RATE_LIMITED']);
    socket.socket.close();
    let attempts = 0;
    await until(async () => {
      const first = await extra.request(followQuery, {}, `attempt ${(attempts += 1)}`);
      return changeIn(first)?.__typename === 'KeyFeedCheckpoint';
    }, 'The end of the subscriptions');
  });

  it('ends with UNAVAILABLE when the service stops, and the connection with 1001, so that clients connect again', async () => {
    const [following, idle] = [await connected(), await connected()];
    await following.request(followQuery);
    s.t.app.drain();
    expect(codesIn(await following.next())).toEqual(['UNAVAILABLE']);
    expect(await following.next()).toEqual({ type: 'complete', id: '1' });
    for (const socket of [following, idle]) expect(await socket.next()).toEqual(closedWith(1001));
    const late = await handshake([...upgrade, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']);
    expect([late.status, late.isClosed]).toEqual([503, true]);
  });
});

describe('a query or mutation over WebSocket', () => {
  it('has the result, the limits and the log line of a request', async () => {
    const socket = await connected(s.t.credentials);
    const query = 'mutation ($i: UpdateKeyInput!) { updateOrgKey(keyID: "k1", input: $i) { version } }';
    expect(await socket.request(query, { i: { alias: 'New', quotaMax: '9007199254740993' } })).toMatchObject({
      payload: { data: { updateOrgKey: { version: 2 } } },
    });
    expect(await socket.next()).toEqual({ type: 'complete', id: '1' });
    expect(await socket.request('{ orgKey(by: { keyID: "k1" }) { definition { quotaMax } } }', {}, '2')).toMatchObject({
      payload: { data: { orgKey: { definition: { quotaMax: '9007199254740993' } } } },
    });
    expect(await socket.next()).toEqual({ type: 'complete', id: '2' });
    const failed = await socket.request('mutation { deleteOrgKey(keyID: "nope") { version } }', {}, '3');
    expect([failed.type, codesIn(failed)]).toEqual(['next', ['NOT_FOUND']]);
    const lines = s.t.logLines('"operation":"updateOrgKey"');
    expect(lines.filter(({ msg }) => msg === 'request')).toHaveLength(1);
  });

  it.each(misreadJSON)('keeps the member name of $second, sent after $first', async ({ first, second }) => {
    const socket = await connected();
    const query =
      'mutation($m: JSON) { updateOrgKey(keyID: "k1", input: {metaData: $m}) { orgKey { definition { metaData } } } }';
    for (const [id, metaData] of [first, second].entries()) {
      const payload = `{"query":${JSON.stringify(query)},"variables":{"m":${metaData}}}`;
      socket.socket.send(`{"id":"${id}","type":"subscribe","payload":${payload}}`);
      expect(await socket.next()).toMatchObject({ type: 'next' });
      expect(await socket.next()).toMatchObject({ type: 'complete' });
      const { body } = await sendRequest(s.t, 'GET', '/svc/org/keys/k1');
      expect((body['data'] as { meta_data: object }).meta_data).toEqual(parseJSONCarefully(metaData));
    }
  });

  it('rejects a number that is not exact', async () => {
    const socket = await connected({ authorization: `Bearer ${s.t.management}` });
    const query = 'query($m: JSON) { previewKey(input: {metaData: $m}) { data { metaData } } }';
    const send = (id: string, metaData: string) =>
      socket.socket.send(
        `{"id":"${id}","type":"subscribe","payload":{"query":"${query}","variables":{"m":${metaData}}}}`,
      );
    send('1', '9007199254740993');
    expect(codesIn(await socket.next())).toEqual(['INVALID']);
    send('2', '1.5');
    expect(await socket.nextOf('2')).toMatchObject({ payload: { data: { previewKey: { data: { metaData: 1.5 } } } } });
  });

  it('has a maximum size', async () => {
    const socket = await connected();
    const result = await socket.request(`{ __typename } #${'x'.repeat(128 * 1024)}`);
    expect([result.type, codesIn(result)]).toEqual(['next', ['TOO_LARGE']]);
    socket.send({ id: '2', type: 'subscribe', payload: { query: 'x'.repeat(200 * 1024) } });
    expect(await socket.nextOf('2')).toEqual(closedWith(1009));
  });
});

describe('a WebSocket connection', () => {
  it('is not opened for a page of another origin, but for one of an allowed origin or of the same host', async () => {
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
    const foreign = await handshake([...upgrade, key, 'Origin: https://evil.example']);
    expect([foreign.status, foreign.headers.get('cache-control')]).toEqual([403, 'no-store']);
    for (const origin of ['https://dash.example.com', `http://localhost:${s.port}`]) {
      const { socket } = await opened({ origin, host: `localhost:${s.port}` });
      expect(socket.readyState).toBe(WebSocket.OPEN);
    }
  });

  it('is opened at /graphql only; other upgrades are ignored, so that the request has its response', async () => {
    const elsewhere = new WebSocket(`${s.url.replace('http', 'ws')}/health`);
    const [, response] = (await once(elsewhere, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(200);
    elsewhere.on('error', () => undefined).terminate();
    const h2c = ['Connection: Upgrade, HTTP2-Settings, close', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];
    expect((await handshake(h2c)).status).toBe(400);
    const ambiguous = await handshake([...upgrade, 'Host: other']);
    expect([ambiguous.status, ambiguous.isClosed]).toEqual([400, true]);
    expect((await handshake(upgrade)).status).toBe(400);
  });

  it('is closed for another protocol, a malformed message, a bad credential value, and an operation before the start', async () => {
    await expect(opened({}, 'graphql-ws')).rejects.toThrow('Server sent no subprotocol');
    const garbled = await opened();
    garbled.socket.send('nonsense');
    expect(await garbled.next()).toEqual(closedWith(4400));
    const newline = await opened();
    newline.send({ type: 'connection_init', payload: { authorization: 'Bearer a\nb' } });
    expect(await newline.next()).toEqual(closedWith(4400));
    const early = await opened();
    expect(await early.request('{ __typename }')).toEqual(closedWith(4401));
  });

  it('is closed when it was not used for a minute, and when the client does not respond', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    // The interval of this service starts with the fake clock.
    const own = await startOwnServer();
    const unused = await connectSocket(own.url);
    const dead = await connectSocket(own.url, { 'x-svc-authorization': own.t.service });
    await dead.request(followQuery);
    dead.socket.pause();
    vi.advanceTimersByTime(pingEveryMs);
    // The server reads in order: it has the pong of the client when it responds to a later ping.
    await once(unused.socket, 'ping');
    unused.socket.ping();
    await once(unused.socket, 'pong');
    vi.advanceTimersByTime(pingEveryMs);
    expect(await unused.next()).toEqual(closedWith(1000));
    dead.socket.resume();
    expect(await dead.next()).toEqual(closedWith(1006));
  });

  it('does not keep a stopping server open', async () => {
    const own = await startServer();
    const socket = await connectSocket(own.url, { 'x-svc-authorization': own.t.service });
    await socket.request(followQuery);
    own.t.app.drain();
    await own.close();
    expect(codesIn(await socket.next())).toEqual(['UNAVAILABLE']);
  });
});
