import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange, startServer, type TestServer } from '../../support/server.js';

let s: TestServer;
beforeAll(async () => {
  s = await startServer({ KEYFRONT_TRUSTED_PROXIES: '1' });
  await s.t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'before' });
  await s.t.update('k1', { alias: 'second' });
});
afterAll(async () => s.close());

/** By itself, Node drops the lines beyond the 1000th without a trace. */
const filler = (lines: number) => 'a:\r\n'.repeat(lines);
const common = 'Host: keyfront.test\r\nConnection: close\r\nContent-Type: application/json\r\n';

const updateAfter = (lines: number, headers: string, framing = 'Content-Length: 2\r\n', body = '{}') =>
  `PUT /svc/org/keys/k1 HTTP/1.1\r\n${common}X-Svc-Authorization: ${s.t.service}\r\n${framing}${filler(lines)}${headers}\r\n${body}`;

async function versionOfKey(): Promise<unknown> {
  return (await s.t.app.services.store.find(s.t.app.services.ports.hashKeyID('k1')))?.version;
}

describe.each([0, 1_000, 15_000])('a request with %i header lines', (lines) => {
  it.each<[string, string, number]>([
    ['a second Host', 'Host: other.test\r\n', 400],
    ['a second Content-Type', 'Content-Type: text/plain\r\n', 400],
    ['Content-Encoding', 'Content-Encoding: gzip\r\n', 415],
    ['an unknown Expect', 'Expect: nonsense\r\n', 417],
    ['an If-Match that is stale', 'If-Match: "1"\r\n', 412],
  ])('is rejected as an update with %s', async (_what, header, status) => {
    const before = await versionOfKey();
    expect((await exchange(s.port, updateAfter(lines, header))).status).toBe(status);
    expect(await versionOfKey()).toBe(before);
  });

  it('T-04 is rejected as an update with the transfer coding gzip, chunked', async () => {
    const bytes = updateAfter(lines, 'Transfer-Encoding: gzip, chunked\r\n', '', '2\r\n{}\r\n0\r\n\r\n');
    expect((await exchange(s.port, bytes)).status).toBe(400);
  });

  it.each<[string, string, () => string]>([
    ['POST /api/keys/preview', 'Authorization', () => `Bearer ${s.t.management}`],
    ['PUT /svc/org/keys/k1', 'X-Svc-Authorization', () => s.t.service],
  ])('A-03 is rejected as %s with two credentials, whichever of them is valid', async (route, name, credential) => {
    const valid = credential();
    // Failed attempts are limited for some minutes.
    s.t.clock.now = new Date(s.t.clock.now.getTime() + 3_600_000);
    const statusOf = async (first: string, ...more: string[]) => {
      const header = (value: string) => `${name}: ${value}\r\n`;
      const start = `${route} HTTP/1.1\r\n${common}Content-Length: 2\r\n${header(first)}`;
      return (await exchange(s.port, `${start}${filler(lines)}${more.map(header).join('')}\r\n{}`)).status;
    };
    expect(await statusOf(valid)).toBe(200);
    for (const [first, second] of [
      [valid, valid],
      [valid, 'x'],
      ['x', valid],
      [valid, ''],
      ['', valid],
    ] as const) {
      expect([first, second, await statusOf(first, second)]).toEqual([first, second, 401]);
    }
  });

  it('is logged with the client address that a trusted proxy has appended', async () => {
    const address = `192.0.2.${lines % 251}`;
    const proxied = `X-Forwarded-For: 198.51.100.1\r\n${filler(lines)}X-Forwarded-For: ${address}\r\n`;
    const bytes = `GET /svc/org/keys HTTP/1.1\r\nHost: keyfront.test\r\nConnection: close\r\nX-Svc-Authorization: no\r\n${proxied}\r\n`;
    expect((await exchange(s.port, bytes)).status).toBe(401);
    await expect.poll(s.t.logs).toContain(`"clientAddress":"${address}"`);
    expect(s.t.logs()).not.toContain('"clientAddress":"198.51.100.1"');
  });
});

describe('the HTTP server', () => {
  it('rejects headers of more than 16 KiB with 431, however short each line is', async () => {
    expect((await exchange(s.port, updateAfter(17_000, 'If-Match: "1"\r\n'))).status).toBe(431);
  });
});
