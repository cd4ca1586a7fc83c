import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fetchText, ResponseTooLarge } from '../../src/lib/fetch-text.js';
import { collectGarbage } from '../support/garbage.js';
import { eventLoopTurns } from '../support/until.js';

let server: Server;
let url: string;
let respond: (response: ServerResponse) => void = () => undefined;
beforeAll(async () => {
  server = createServer((_request, response) => respond(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const limits = { timeoutMs: 9_876, maxBytes: 1_000 };

/** Resolves when the service has closed the connection of the next response. */
const closed = (begin: (response: ServerResponse) => void) =>
  new Promise<void>((resolve) => {
    respond = (response) => {
      response.once('close', resolve);
      begin(response);
    };
  });

describe('fetchText', () => {
  it('returns the status, the headers and the whole body, without a byte order mark', async () => {
    respond = (response) => response.writeHead(404, { 'x-a': 'b' }).end('\ufeffgrün');
    const { status, headers, text } = await fetchText(url, {}, limits);
    expect([status, headers.get('x-a'), text]).toEqual([404, 'b', 'grün']);
  });

  it('returns an empty text for a response without a body', async () => {
    respond = (response) => response.writeHead(204).end();
    expect((await fetchText(url, {}, limits)).text).toBe('');
  });

  it('accepts a body of exactly maxBytes', async () => {
    respond = (response) => response.end('x'.repeat(1_000));
    expect((await fetchText(url, {}, limits)).text).toHaveLength(1_000);
  });

  it('rejects a body of more than maxBytes and closes the connection, although the body never ends', async () => {
    const end = closed((response) => {
      const more = () => response.write('x'.repeat(900), () => !response.destroyed && setImmediate(more));
      more();
    });
    await expect(fetchText(url, {}, limits)).rejects.toBeInstanceOf(ResponseTooLarge);
    await end;
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['no headers', () => undefined],
    ['headers alone', (response) => response.flushHeaders()],
    ['half a body', (response) => void response.writeHead(200, { 'content-length': 10 }).write('half')],
  ])(
    'rejects with TimeoutError and closes the connection when it receives %s, after garbage collections too',
    async (_what, begin) => {
      const { promise: begun, resolve: markBegun } = Promise.withResolvers<void>();
      const end = closed((response) => {
        begin(response);
        markBegun();
      });
      const expire = holdTimer(limits.timeoutMs);
      const rejection = expect(fetchText(url, {}, limits)).rejects.toMatchObject({ name: 'TimeoutError' });
      await begun;
      for (let count = 0; count < 3; count += 1) {
        await eventLoopTurns(5);
        collectGarbage();
      }
      expire();
      await rejection;
      await end;
    },
  );
});

/** Holds the timers of a duration, whose time is up only when a test calls the returned function. */
function holdTimer(durationMs: number): () => void {
  const { setTimeout } = globalThis;
  let expire = (): void => undefined;
  const hold = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    if (ms !== durationMs) return setTimeout(callback, ms, ...args);
    expire = callback;
    return setTimeout(() => undefined);
  };
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(hold as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
  return () => expire();
}
