import { describe, expect, it } from 'vitest';
import { createToken } from '../../../src/credentials/token.js';
import { AppError } from '../../../src/lib/errors.js';
import { noCredentials, startSharedApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';
import { serveWith } from '../../support/overridden-server.js';

const apps = [await startSharedApp(), await startSharedApp({}, { graphql: { fastPath: false } })];
const anonymousLimit = 8 * 1024;
const limit = 128 * 1024;

/** A body of so many bytes. */
const bodyOf = (bytes: number, query = '{ __typename }') => JSON.stringify({ query }).padEnd(bytes);
const chunksOf = (text: string) =>
  new ReadableStream({
    start(controller) {
      for (let at = 0; at < text.length; at += 1_000)
        controller.enqueue(new TextEncoder().encode(text.slice(at, at + 1_000)));
      controller.close();
    },
  });

describe.each([
  ['the fast path', 0],
  ['Yoga', 1],
])('a request that %s serves', (_, index) => {
  const t = apps[index] ?? apps[0];
  if (!t) throw new Error('A test needs a service.');
  const send = async (body: string, headers: Record<string, string>, isChunked = false) => {
    const response = await t.send('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...headers,
        ...(!isChunked && { 'content-length': String(body.length) }),
      },
      ...(isChunked ? { body: chunksOf(body), duplex: 'half' } : { body }),
    });
    return [response.status, response.body['data'] ?? codeOf(response)];
  };
  const served = [200, { __typename: 'Query' }];

  it.each([
    ['no credential', noCredentials],
    ['an unknown credential', { 'x-svc-authorization': createToken('service') }],
    ['a credential in the header of the other kind', { 'x-svc-authorization': t.management }],
  ])('may have a body of 8 KiB with %s, and is UNAUTHENTICATED above', async (_what, headers) => {
    for (const isChunked of [false, true]) {
      expect(await send(bodyOf(anonymousLimit), headers, isChunked)).toEqual(served);
      for (const bytes of [anonymousLimit + 1, limit, limit + 1, 1_000_000]) {
        expect(await send(bodyOf(bytes), headers, isChunked)).toEqual([401, 'UNAUTHENTICATED']);
      }
    }
  });

  it.each(['authorization', 'x-svc-authorization'] as const)(
    'may have a body of 128 KiB with a valid %s',
    async (name) => {
      const headers = { [name]: t.credentials[name] };
      for (const isChunked of [false, true]) {
        expect(await send(bodyOf(limit), headers, isChunked)).toEqual(served);
        expect(await send(bodyOf(limit + 1), headers, isChunked)).toEqual([413, 'TOO_LARGE']);
      }
    },
  );

  it('is authenticated before its body is parsed', async () => {
    expect(await send('x'.repeat(anonymousLimit + 1), {})).toEqual([401, 'UNAUTHENTICATED']);
    expect(await send('x'.repeat(anonymousLimit), {})).toEqual([400, 'INVALID']);
  });

  it('counts as one failed attempt, and is RATE_LIMITED after ten', async () => {
    const codes: unknown[] = [];
    for (let count = 0; count < 11; count += 1) {
      const headers = { 'content-type': 'application/json', 'x-svc-authorization': createToken('service') };
      const init = { method: 'POST', headers, body: bodyOf(anonymousLimit + 1) };
      const response = await t.app.fetch(new Request('http://keyfront.test/graphql', init), '192.0.2.1');
      const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
      codes.push(errors[0]?.extensions.code);
    }
    expect(codes).toEqual([...Array<string>(10).fill('UNAUTHENTICATED'), 'RATE_LIMITED']);
  });
});

it('is UNAVAILABLE above 8 KiB while credentials cannot be verified', async () => {
  const [t] = apps;
  if (!t) throw new Error('A test needs a service.');
  const { graphql } = serveWith(t, { authenticate: () => Promise.reject(new AppError('UNAVAILABLE', 'Not now.')) });
  const response = await graphql('{ __typename }', { pad: 'x'.repeat(anonymousLimit) });
  expect([response.status, codeOf(response)]).toEqual([503, 'UNAVAILABLE']);
});
