import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClient,
  KeyfrontError,
  OrgKeyDocument,
  PreviewKeyDocument,
  UpdateOrgKeyDocument,
  type KeyfrontErrorCode,
} from 'keyfront/client';
import { errorCodes, type ErrorCode } from '../../../src/lib/errors.js';
import { startServer, type TestServer } from '../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const client = (more: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ url: server.url, management: server.t.management, service: server.t.service, ...more });

describe('keyfront/client', () => {
  it('contains every error code of the service, and one for no response', () => {
    const known: Record<Exclude<KeyfrontErrorCode, 'UNREACHABLE'>, true> = {} as Record<ErrorCode, true>;
    const served: Record<ErrorCode, true> = known;
    expect(served).toBe(known);
    expect(Object.keys(errorCodes)).toHaveLength(9);
  });

  it('rejects with the code, the issues and the request id of an error', async () => {
    const invalid = client().send(PreviewKeyDocument, { input: { rate: -2, quotaMax: '9223372036854775808' } });
    const error = await invalid.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KeyfrontError);
    expect(error).toMatchObject({ code: 'INVALID', requestID: expect.stringMatching(/^[\da-f-]{36}$/) });
    expect((error as KeyfrontError).issues.length).toBeGreaterThan(0);
  });

  it('calls a function for credentials that change, such as tokens of single sign-on, before each request', async () => {
    const given = ['nonsense', server.t.management];
    const changing = client({ management: async () => given.shift() ?? '' });
    const sendQuery = () => changing.send(PreviewKeyDocument, { input: { keyID: 'k' } });
    await expect(sendQuery()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await sendQuery()).data.previewKey?.keyID).toBe('k');
  });

  it.each([
    [
      'the server, too busy to look at it',
      503,
      '{"status":"error","message":"Busy.","code":"UNAVAILABLE"}',
      'UNAVAILABLE',
    ],
    ['a proxy without an upstream', 502, '<html>Bad gateway</html>', 'UNAVAILABLE'],
    ['a proxy that wants a sign-on', 401, '', 'UNAUTHENTICATED'],
    ['something else', 200, '"hello"', 'INTERNAL'],
  ])('throws an error for a response with %s', async (_, status, body, code) => {
    const responding: typeof fetch = async () => new Response(body, { status, headers: { 'retry-after': '3' } });
    const requested = client({ fetch: responding }).send(PreviewKeyDocument, { input: {} });
    await expect(requested).rejects.toMatchObject({ name: 'KeyfrontError', code, retryAfterSeconds: 3 });
  });

  it('sends credentials to the service only: no cookies, and none that it does not have', async () => {
    let sent: RequestInit | undefined;
    const looking: typeof fetch = async (input, init) => {
      sent = init;
      return fetch(input, init);
    };
    const bare = createClient({ url: `${server.url}/`, fetch: looking });
    await expect(bare.send(PreviewKeyDocument, { input: {} })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(sent?.credentials).toBe('omit');
    expect(Object.keys(sent?.headers ?? {})).toEqual(['content-type', 'accept']);
  });

  it('keeps every digit of integers beyond 2^53 when they are read, computed and saved', async () => {
    await server.t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 9223372036854775807n });
    const read = async () =>
      (await client().send(OrgKeyDocument, { by: { keyID: 'k' }, first: 1 })).data.orgKey?.definition?.quotaMax;
    expect(await read()).toBe('9223372036854775807');
    const quotaMax = String(BigInt(String(await read())) - 1n);
    await client().send(UpdateOrgKeyDocument, { keyID: 'k', input: { quotaMax } });
    expect(await read()).toBe('9223372036854775806');
  });
});
