import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createToken } from '../../../src/credentials/token.js';
import { defaultTimeouts } from '../../../src/http/server/server.js';
import { noCredentials } from '../../support/app.js';
import { openStream, readStream, type EventStream, type StreamedResult } from '../../support/event-stream.js';
import { hashOf } from '../../support/factories.js';
import { serveWith } from '../../support/overridden-server.js';
import { sendRequest } from '../../support/responses.js';
import { startServer, type TestServer } from '../../support/server.js';
import { eventLoopTurns, until } from '../../support/until.js';

let s: TestServer;
let streams: EventStream[] = [];
beforeEach(async () => {
  s = await startServer();
  await s.t.importKeys({ key_id: 'k1', org_id: 'acme' }, { key_id: 'k2', org_id: 'globex' });
});
afterEach(async () => {
  vi.useRealTimers();
  for (const stream of streams) await stream.close();
  streams = [];
  await s.close();
});

type Opening = Partial<Parameters<typeof openStream>[0]>;

async function follow(options: Opening = {}): Promise<EventStream> {
  const stream = await openStream({ url: s.url, service: s.t.service, ...options });
  streams.push(stream);
  return stream;
}

const changeOf = (result: StreamedResult | undefined) => result?.data?.orgKeyChanged;
const codesOf = (results: readonly (StreamedResult | undefined)[]) =>
  results.flatMap((result) => result?.errors?.map(({ extensions }) => extensions['code']) ?? []);
let changes = 0;
/** By default, a definition that differs from each before. */
const change = async (keyID: string, definition: object = { alias: `change ${(changes += 1)}` }) =>
  expect((await s.t.update(keyID, definition)).status).toBe(200);
const named = (result: StreamedResult | undefined) => {
  const found = changeOf(result);
  const name = ['k1', 'k2'].find((keyID) => hashOf(keyID) === found?.keyHash) ?? null;
  return found?.entry ? `${name} ${found.entry.version}` : name;
};
async function take(stream: EventStream, count: number): Promise<(string | null)[]> {
  const all: (string | null)[] = [];
  while (all.length < count) all.push(named(await stream.next()));
  return all;
}
const beginning = Buffer.from('0.0.').toString('base64url');

describe('orgKeyChanged', () => {
  it('sends its starting cursor at once, then every change once', async () => {
    const stream = await follow();
    expect([stream.status, stream.headers.get('content-type')]).toStrictEqual([200, 'text/event-stream']);
    expect([stream.headers.get('cache-control'), stream.headers.get('content-encoding')]).toStrictEqual([
      'no-store',
      null,
    ]);
    const begun = changeOf(await stream.next());
    expect(begun).toStrictEqual({ __typename: 'KeyFeedCheckpoint', cursor: expect.any(String) as string });
    for (let count = 0; count < 3; count += 1) await change('k1');
    await sendRequest(s.t, 'DELETE', '/svc/org/keys/k1');
    expect(await take(stream, 3)).toStrictEqual(['k1 2', 'k1 3', 'k1 4']);
    expect(changeOf(await stream.next())?.entry).toMatchObject({ version: 5, operation: 'DELETE' });
    const again = await follow({ variables: { after: begun?.cursor } });
    expect(await take(again, 4)).toStrictEqual(['k1 2', 'k1 3', 'k1 4', 'k1 5']);
  });

  it('sends the current key, null for a deleted one, and no secrets', async () => {
    const canary = 'Xq7-canary-secret';
    await change('k1', { hmac_string: canary, basic_auth_data: { password: canary }, alias: 'first' });
    await change('k1', { alias: 'second', hmac_string: `${canary} 2` });
    const query = `subscription { orgKeyChanged(after: "${beginning}", keyHash: "${hashOf('k1')}") {
      cursor ... on OrgKeyChanged { keyHash orgID entry { version changes { path kind before after } }
        key { keyID version definition { alias hmacStringSet basicAuthData { passwordSet } } } } } }`;
    const texts: string[] = [];
    const reported = async () => {
      const result = await stream.next();
      texts.push(JSON.stringify(result));
      return changeOf(result);
    };
    const stream = await follow({ query });
    for (const version of [1, 2, 3]) {
      expect(await reported()).toMatchObject({
        orgID: 'acme',
        entry: { version },
        key: { keyID: 'k1', version: 3, definition: { alias: 'second', hmacStringSet: true } },
      });
    }
    await sendRequest(s.t, 'DELETE', '/svc/org/keys/k1');
    expect(await reported()).toMatchObject({ keyHash: hashOf('k1'), key: null });
    expect(texts.join()).toContain('hmacString');
    expect(texts.join()).not.toContain(canary);
  });

  it('resumes from the last cursor of a broken connection: every change once, while keys are changed', async () => {
    const writing = Promise.all(
      ['k1', 'k2'].map(async (keyID) => {
        for (let count = 0; count < 60; count += 1) await change(keyID);
      }),
    );
    const seen: (string | null)[] = [];
    for (let after = beginning; seen.length < 122;) {
      const stream = await follow({ variables: { after } });
      for (let count = 0; count < 17 && seen.length < 122; count += 1) {
        const result = await stream.next();
        seen.push(named(result));
        after = changeOf(result)?.cursor ?? '';
      }
      await stream.close();
    }
    await writing;
    expect(new Set(seen).size).toBe(122);
    for (const name of ['k1', 'k2']) {
      const wanted = Array.from({ length: 61 }, (_, index) => `${name} ${index + 1}`);
      expect(seen.filter((text) => text?.startsWith(name))).toStrictEqual(wanted);
    }
  });

  it('A-08 sends a credential that is bound to an organization the events of this organization only, for every filter', async () => {
    const service = (await s.t.issue('service', { orgID: 'acme' })).secret;
    const own = await follow({ service, variables: { after: beginning } });
    const named = await follow({ service, variables: { after: beginning, orgID: 'acme' } });
    const foreign = await follow({ service, variables: { orgID: 'globex' } });
    const foreignKey = await follow({ service, variables: { keyHash: hashOf('k2') } });
    const all = await follow({ variables: { after: beginning, orgID: 'globex' } });
    for (const stream of [foreign, foreignKey])
      expect(changeOf(await stream.next())?.__typename).toBe('KeyFeedCheckpoint');
    await change('k2');
    await change('k1');
    for (const stream of [own, named]) expect(await take(stream, 2)).toStrictEqual(['k1 1', 'k1 2']);
    expect(await take(all, 2)).toStrictEqual(['k2 1', 'k2 2']);
    await eventLoopTurns();
    s.t.app.drain();
    for (const stream of [foreign, foreignKey]) {
      expect(await stream.rest()).toMatchObject([{ errors: [{ extensions: { code: 'UNAVAILABLE' } }] }]);
    }
  });

  it('rejects a request without a service credential before all other checks', async () => {
    const queries = [
      'subscription { orgKeyChanged { cursor } }',
      'subscription { orgKeyChanged(after: "nonsense") { cursor } }',
      'subscription ($a: Int!) { orgKeyChanged { cursor } }',
    ];
    for (const accept of ['text/event-stream', 'application/json', '*/*']) {
      for (const query of queries) {
        const { status, text } = await s.t.post({ query }, { accept, 'x-svc-authorization': '' });
        expect(`${status} ${text}`).toContain('UNAUTHENTICATED');
        expect(text).not.toContain('INVALID');
      }
    }
    const bare = await openStream({ url: s.url });
    expect([bare.status, codesOf(await bare.rest())]).toStrictEqual([401, ['UNAUTHENTICATED']]);
  });

  it('rejects an invalid cursor with 400, and other media types with 406', async () => {
    const rejected = await follow({ variables: { after: 'nonsense' } });
    const [received] = await rejected.rest();
    expect(rejected.status).toBe(400);
    expect(received?.errors).toMatchObject([{ extensions: { code: 'INVALID', issues: [{ path: 'after' }] } }]);
    expect(received?.errors?.[0]?.extensions['requestID']).toStrictEqual(expect.any(String));
    const json = await s.t.graphql('subscription { orgKeyChanged { cursor } }', {}, { accept: 'application/json' });
    expect([json.status, json.text]).toStrictEqual([406, expect.stringContaining('text/event-stream')]);
    expect(json.text).toContain('"INVALID"');
  });

  it('can be requested by GET with a credential', async () => {
    const query = 'subscription { orgKeyChanged { __typename cursor } }';
    const accept = 'text/event-stream';
    const received = await s.t.graphqlByGET({ query }, { accept });
    expect([received.status, received.body]).toMatchObject([
      200,
      { data: { orgKeyChanged: { __typename: 'KeyFeedCheckpoint' } } },
    ]);
    const bare = await s.t.graphqlByGET({ query }, { ...noCredentials, accept });
    // A gateway subscribes by GET, and its client has to see that it must authenticate.
    expect([bare.status, bare.text]).toStrictEqual([401, expect.stringContaining('"UNAUTHENTICATED"')]);
  });

  it('sends changes and checkpoints as types of one interface, whose cursor is that of every event', async () => {
    const query = 'subscription { orgKeyChanged { __typename cursor ... on OrgKeyChanged { entry { version } } } }';
    const stream = await follow({ query });
    const begun = await stream.next();
    await change('k1');
    const cursor = expect.any(String) as string;
    expect([begun, await stream.next()]).toEqual([
      { data: { orgKeyChanged: { __typename: 'KeyFeedCheckpoint', cursor } } },
      { data: { orgKeyChanged: { __typename: 'OrgKeyChanged', cursor, entry: { version: 2 } } } },
    ]);
  });

  it('sends no events for consumed quotas', async () => {
    const stream = await follow({ variables: { orgID: 'acme' } });
    await stream.next();
    await s.t.graphql('mutation { consumeOrgQuota(keyID: "k1") { allowed } }');
    await change('k1');
    expect(await take(stream, 1)).toStrictEqual(['k1 2']);
  });
});

describe('a failing stream of changes', () => {
  const query = 'subscription { orgKeyChanged { cursor ... on OrgKeyChanged { entry { version } key { keyID } } } }';
  const event = { cursor: 'c1', entry: undefined };
  /** Serves these changes instead of those of the feed. */
  const serveChanges = (changes: () => AsyncGenerator, overridden: Parameters<typeof serveWith>[1] = {}) =>
    serveWith(s.t, { ...overridden, keys: { ...overridden.keys, orgKeyChanges: async () => changes() as never } });

  it('ends with a masked error, and logs it', async () => {
    const overridden = serveChanges(async function* () {
      yield event;
      throw new Error('S3CRET');
    });
    const results = await readStream(await overridden.subscribe(query)).rest();
    expect(results).toMatchObject([
      { data: { orgKeyChanged: { cursor: 'c1' } } },
      { errors: [{ message: 'Internal error.', extensions: { code: 'INTERNAL', requestID: 'request-1' } }] },
    ]);
    expect(JSON.stringify(results)).not.toContain('S3CRET');
    expect(overridden.logs()).toContain('S3CRET');
    expect(overridden.logs()).toContain('"events":1,"verdict":"INTERNAL"');
  });

  it('continues after a change whose history entry fails its integrity check, with an error and its cursor', async () => {
    await change('k1');
    await change('k1');
    const { feed } = s.t.app.services;
    const overridden = serveWith(s.t, {
      ports: {
        feed: {
          ...feed,
          read: async (request) => {
            const page = await feed.read(request);
            return {
              ...page,
              events: page.events.map((one) => (one.version === 2 ? { ...one, entry: undefined } : one)),
            };
          },
        },
      },
    });
    const all = `subscription { orgKeyChanged(after: "${beginning}", keyHash: "${hashOf('k1')}") {
      __typename cursor ... on OrgKeyChanged { keyHash entry { version } } } }`;
    const stream = readStream(await overridden.subscribe(all));
    const results = [await stream.next(), await stream.next(), await stream.next()];
    await stream.close();
    const cursor = expect.any(String) as string;
    expect(results).toMatchObject([
      { data: { orgKeyChanged: { entry: { version: 1 } } } },
      { data: { orgKeyChanged: { __typename: 'OrgKeyChanged', cursor, keyHash: null, entry: null } } },
      { data: { orgKeyChanged: { entry: { version: 3 } } } },
    ]);
    expect(codesOf(results)).toStrictEqual(['INTERNAL', 'INTERNAL']);
    expect(overridden.logs()).toContain('A history entry fails its integrity check');
  });

  it('masks an error within an event, and ends if the event is lost', async () => {
    const entry = { keyHash: 'x', versionAfter: 2 };
    const changes = async function* () {
      yield { cursor: 'c1', entry };
      yield { cursor: undefined, entry };
      yield event;
    };
    const overridden = serveChanges(changes, { keys: { orgKeysByHash: () => Promise.reject(new Error('S3CRET')) } });
    const results = await readStream(await overridden.subscribe(query)).rest();
    expect(results).toMatchObject([
      { data: { orgKeyChanged: { cursor: 'c1', key: null } }, errors: [{ extensions: { code: 'INTERNAL' } }] },
      { data: null, errors: [{ extensions: { code: 'INTERNAL' } }] },
    ]);
    expect(JSON.stringify(results)).not.toContain('S3CRET');
  });

  it('G-10 applies the deadline to each event, not to the stream', async () => {
    let isStuck = false;
    let isRequested = false;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const changes = async function* () {
      yield { cursor: 'c1', entry: { keyHash: 'x', versionAfter: 1 } };
      vi.advanceTimersByTime(120_000);
      isRequested = false;
      isStuck = true;
      yield { cursor: 'c2', entry: { keyHash: 'x', versionAfter: 2 } };
    };
    const overridden = serveChanges(changes, {
      deadlineMs: 60_000,
      keys: {
        orgKeysByHash: (_caller, hashes) => {
          isRequested = true;
          return isStuck ? new Promise(() => undefined) : Promise.resolve(hashes.map(() => undefined));
        },
      },
    });
    const rest = readStream(await overridden.subscribe(query)).rest();
    await until(() => isStuck && isRequested, 'The event that takes too long');
    await eventLoopTurns();
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    const results = await rest;
    expect(results).toMatchObject([
      { data: { orgKeyChanged: { cursor: 'c1' } } },
      { errors: [{ message: expect.stringContaining('60 seconds') as string, extensions: { code: 'UNAVAILABLE' } }] },
    ]);
  });

  it('G-09 omits an event above the response limit, and ends', async () => {
    const overridden = serveChanges(async function* () {
      yield { cursor: 'x'.repeat(3_000_000), entry: undefined };
      yield event;
    });
    expect(codesOf(await readStream(await overridden.subscribe(query)).rest())).toStrictEqual(['TOO_LARGE']);
  });

  it('A-11 ends with UNAUTHENTICATED within five seconds once its credential is revoked, or expires', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { id, secret } = await s.t.issue('service');
    const passing = await s.t.issue('service', { expires: new Date(s.t.clock.now.getTime() + 60_000) });
    const opened = await Promise.all([secret, passing.secret, s.t.service].map((service) => follow({ service })));
    for (const stream of opened) await stream.next();
    await s.t.app.services.credentials.revoke(id, s.t.clock.now);
    s.t.clock.now = new Date(s.t.clock.now.getTime() + 61_000);
    await vi.advanceTimersByTimeAsync(5_000);
    const [revoked, expired, good] = opened;
    for (const stream of [revoked, expired]) {
      expect(codesOf((await stream?.rest()) ?? [])).toStrictEqual(['UNAUTHENTICATED']);
    }
    await change('k1');
    expect(named(await good?.next())).toBe('k1 2');
  });

  describe('whose credential is revalidated', () => {
    const attempt = async () => (await openStream({ url: s.url, service: createToken('service') })).status;

    it('A-11 ends every stream with UNAUTHENTICATED when it is revoked, and counts no failed attempt', async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const { id, secret } = await s.t.issue('service');
      const opened: EventStream[] = [];
      for (let count = 0; count < 15; count += 1) opened.push(await follow({ service: secret }));
      for (const stream of opened) await stream.next();
      await s.t.app.services.credentials.revoke(id, s.t.clock.now);
      await vi.advanceTimersByTimeAsync(5_000);
      for (const stream of opened) expect(codesOf(await stream.rest())).toStrictEqual(['UNAUTHENTICATED']);
      vi.useRealTimers();
      // Ten failed attempts are allowed in a minute; none of them is spent.
      for (let count = 0; count < 10; count += 1) expect(await attempt()).toBe(401);
      expect(await attempt()).toBe(429);
    });

    it('counts an invalid credential in the other header once per stream', async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const stream = await follow({ headers: { authorization: `Bearer ${createToken('management')}` } });
      await stream.next();
      await vi.advanceTimersByTimeAsync(60_000);
      await change('k1');
      expect(named(await stream.next())).toBe('k1 2');
      vi.useRealTimers();
      for (let count = 0; count < 9; count += 1) expect(await attempt()).toBe(401);
      expect(await attempt()).toBe(429);
    });
  });

  it('rejects streams above the maximum per credential and per process', async () => {
    const overridden = serveWith(s.t, { maxSubscriptions: { ofCredential: 2, ofProcess: 3 } });
    const another = { 'x-svc-authorization': (await s.t.issue('service')).secret };
    const opened = [await overridden.subscribe(query), await overridden.subscribe(query)];
    expect(opened.map(({ status }) => status)).toStrictEqual([200, 200]);
    const third = await overridden.subscribe(query);
    expect([third.status, third.headers.get('retry-after')]).toStrictEqual([429, '10']);
    expect(codesOf(await readStream(third).rest())).toStrictEqual(['RATE_LIMITED']);
    opened.push(await overridden.subscribe(query, another));
    const fourth = await overridden.subscribe(query, another);
    expect([fourth.status, codesOf(await readStream(fourth).rest())]).toStrictEqual([503, ['UNAVAILABLE']]);
    // A stream that ended frees its slot, and a rejected one uses none.
    const begun = opened.map((response) => readStream(response));
    for (const stream of begun) await stream.next();
    await begun[0]?.close();
    const rejected = await overridden.subscribe('subscription { orgKeyChanged(after: "x") { cursor } }');
    expect(rejected.status).toBe(400);
    const next = await overridden.subscribe(query);
    expect(next.status).toBe(200);
    const last = readStream(next);
    await last.next();
    for (const stream of [...begun.slice(1), last]) await stream.close();
  });

  it('O-01 ends with an error when the service stops, which does not delay the stop', async () => {
    const stream = await follow();
    const begun = changeOf(await stream.next());
    s.t.app.drain();
    const [last, ...more] = await stream.rest();
    expect(more).toStrictEqual([]);
    expect(last?.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 1 } }]);
    expect(last?.errors?.[0]?.message).toContain('`after`');
    expect(begun?.cursor).toBeDefined();
    expect((await follow()).status).toBe(503);
  });
});

describe('a slow or disconnected client', () => {
  /** Reads of the feed, however many follow it. */
  const reads = () => vi.spyOn(s.t.app.services.feed, 'read');
  const subscribe = (query: string) => {
    const body = JSON.stringify({ query });
    const head = [
      'POST /graphql HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Accept: text/event-stream',
      `X-Svc-Authorization: ${s.t.service}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    const socket = connect(s.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    return socket;
  };

  it('stops reading when the client disconnects', async () => {
    const socket = subscribe('subscription { orgKeyChanged { cursor } }');
    await new Promise((resolve) => socket.once('data', resolve));
    const spy = reads();
    await change('k1');
    await until(() => spy.mock.calls.length > 0);
    socket.destroy();
    await until(() => s.t.logs().includes('subscription ended'));
    await eventLoopTurns();
    spy.mockClear();
    await change('k1');
    await eventLoopTurns();
    expect(spy).not.toHaveBeenCalled();
    expect((await fetch(`${s.url}/health`)).status).toBe(200);
  });

  it('releases all resources of a client that disconnects before it reads', async () => {
    const { feed } = s.t.app.services;
    const real = feed.subscribe.bind(feed);
    let following = 0;
    vi.spyOn(feed, 'subscribe').mockImplementation((onMore) => {
      const end = real(onMore);
      following += 1;
      return () => {
        following -= 1;
        end();
      };
    });
    const overridden = serveWith(s.t, { maxSubscriptions: { ofCredential: 1, ofProcess: 1 } });
    const query = 'subscription { orgKeyChanged { cursor } }';
    const going = new AbortController();
    expect((await overridden.subscribe(query, {}, going.signal)).status).toBe(200);
    expect([following, (await overridden.subscribe(query)).status]).toStrictEqual([1, 429]);
    going.abort();
    await until(() => following === 0);
    expect((await overridden.subscribe(query)).status).toBe(200);
  });

  it('limits the memory for a client that reads nothing', async () => {
    const large = 'x'.repeat(60_000);
    const socket = subscribe(
      `subscription { orgKeyChanged(after: "${beginning}") { cursor ... on OrgKeyChanged { entry { changes { before after } } } } }`,
    );
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    const spy = reads();
    for (let count = 0; count < 400; count += 1) await change('k1', { meta_data: { large: `${count} ${large}` } });
    // The reader stops when the buffers between the two are full, which takes turns of the event loop only.
    for (let before = -1; before !== spy.mock.calls.length; await eventLoopTurns(300)) before = spy.mock.calls.length;
    const taken = spy.mock.calls.length;
    for (let count = 0; count < 20; count += 1) await change('k1', { meta_data: { large: `${count} ${large}` } });
    await eventLoopTurns(300);
    expect(spy.mock.calls.length).toBe(taken);
    socket.destroy();
  });

  it('T-02 disconnects a stalled client after the response timeout, and no other', async () => {
    // The first fetch of the process starts the one timer that all others use, which must be a real one.
    await (await fetch(`${s.url}/health`)).text();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { responseMs } = defaultTimeouts;
    const good = await follow();
    await good.next();
    const socket = subscribe(
      `subscription { orgKeyChanged(after: "${beginning}") { ... on OrgKeyChanged { entry { changes { before after } } } } }`,
    );
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    let isClosed = false;
    socket.on('close', () => {
      isClosed = true;
    });
    for (let count = 0; count < 150; count += 1)
      await change('k1', { meta_data: { large: 'x'.repeat(60_000) + count } });
    expect(await take(good, 150)).toHaveLength(150);
    await eventLoopTurns();
    vi.advanceTimersByTime(responseMs - 1);
    await eventLoopTurns();
    expect(s.t.logs()).not.toContain('subscription ended');
    vi.advanceTimersByTime(1);
    // A response that has filled all buffers only now has a full timeout again.
    await until(async () => {
      await eventLoopTurns();
      if (s.t.logs().includes('subscription ended')) return true;
      vi.advanceTimersByTime(responseMs);
      return false;
    }, 'The end of the subscription');
    socket.resume();
    await until(() => isClosed, 'The end of the connection');
    vi.advanceTimersByTime(responseMs);
    await change('k1');
    expect(await take(good, 1)).toStrictEqual(['k1 152']);
  });
});
