import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isJSONContentType, readBody, readBytes } from '../../../src/http/body.js';
import type { RequestContext } from '../../../src/http/request-context.js';
import { requestContextOf } from '../../support/request-context.js';
import { generated, runs } from '../../support/generated.js';

const limit = 100;
const bytesOf = (text: string) => new TextEncoder().encode(text);

function requestWith(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream | null,
  headers: Record<string, string> = {},
): RequestContext {
  // Node requires `duplex` with a stream. The DOM's types, which some packages install, lack it.
  const init = { method: 'POST', body, headers, duplex: 'half' } as const;
  return requestContextOf(new Request('http://localhost/graphql', init));
}

function streamOf(...chunks: Uint8Array[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const tooLarge = { code: 'TOO_LARGE', message: 'The body is larger than 100 bytes.', issues: [] };
const invalid = (code: string) => ({ code: 'INVALID', issues: [expect.objectContaining({ path: [], code })] });

describe('readBody', () => {
  it('returns the text, for any chunks of bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.array(fc.nat()), async (text, cuts) => {
        const bytes = bytesOf(text);
        const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        expect(await readBody(requestWith(streamOf(...chunks)), 10_000)).toBe(text);
      }),
      generated(runs('FUZZ_RUNS', 100)),
    );
  });

  it('returns an empty text without a body', async () => {
    expect(await readBody(requestWith(null), limit)).toBe('');
    expect(await readBody(requestWith(''), limit)).toBe('');
    expect(await readBody(requestWith(streamOf()), 0)).toBe('');
  });

  it('accepts exactly the limit, in bytes and not in characters', async () => {
    expect(await readBody(requestWith('a'.repeat(100)), limit)).toHaveLength(100);
    expect(await readBody(requestWith('é'.repeat(50)), limit)).toHaveLength(50);
    await expect(readBody(requestWith('a'.repeat(101)), limit)).rejects.toMatchObject(tooLarge);
    await expect(readBody(requestWith('é'.repeat(51)), limit)).rejects.toMatchObject(tooLarge);
  });

  it('rejects a declared length above the limit without reading', async () => {
    let pulls = 0;
    const pull = (controller: ReadableStreamDefaultController) => {
      pulls += 1;
      controller.enqueue(bytesOf('short'));
    };
    const stream = new ReadableStream({ pull }, { highWaterMark: 0 });
    const request = requestWith(stream, { 'content-length': '101' });
    await expect(readBody(request, limit)).rejects.toMatchObject(tooLarge);
    expect(pulls).toBe(0);
  });

  it('does not trust a declared length below the limit', async () => {
    const request = requestWith(streamOf(bytesOf('a'.repeat(101))), { 'content-length': '5' });
    await expect(readBody(request, limit)).rejects.toMatchObject(tooLarge);
  });

  it('rejects at the limit, reads on so that the sender gets the response, and then cancels', async () => {
    let pulled = 0;
    let cancelled = () => undefined as void;
    const cancellation = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    const endless = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(1024 * 1024));
      },
      cancel: () => cancelled(),
    });
    await expect(readBody(requestWith(endless), limit)).rejects.toMatchObject(tooLarge);
    expect(pulled).toBeLessThan(10);
    await cancellation;
    expect(pulled).toBeGreaterThan(16);
    expect(pulled).toBeLessThan(24);
  });

  it.each([
    ['never settles', () => new Promise<void>(() => undefined)],
    ['fails', () => Promise.reject(new Error('inner'))],
  ])('rejects a body that is too large when its cancellation %s', async (_how, cancel) => {
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(bytesOf('0123456789')), cancel });
    await expect(readBody(requestWith(stream), limit)).rejects.toMatchObject(tooLarge);
  });

  it('reads a body once', async () => {
    const request = requestWith(streamOf(bytesOf('{}')));
    expect(await readBody(request, limit)).toBe('{}');
    expect(await readBody(request, limit)).toBe('{}');
  });

  it('rejects the body of a connection that was closed before', async () => {
    const gone = new Readable({ read: () => undefined }).destroy();
    await expect(readBytes(gone, limit)).rejects.toMatchObject(invalid('INCOMPLETE_BODY'));
  });

  it.each(['gzip', 'br', 'deflate', 'zstd', 'identity, gzip', 'x'])(
    'rejects the content encoding %s',
    async (encoding) => {
      const request = requestWith('{}', { 'content-encoding': encoding });
      await expect(readBody(request, limit)).rejects.toMatchObject(invalid('UNSUPPORTED_ENCODING'));
    },
  );

  it.each(['identity', 'Identity'])('accepts the content encoding %s', async (encoding) => {
    expect(await readBody(requestWith('{}', { 'content-encoding': encoding }), limit)).toBe('{}');
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['a sequence cut short', [0x22, 0xe2, 0x82]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00]],
    ['NUL in two bytes', [0xc0, 0x80]],
    ['a character beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('rejects %s instead of replacing it', async (_what, bytes) => {
    await expect(readBody(requestWith(Uint8Array.from(bytes)), limit)).rejects.toMatchObject(invalid('MALFORMED_TEXT'));
  });

  it('removes one byte order mark at the start and no other', async () => {
    expect(await readBody(requestWith('\ufeff{"a":"\ufeff"}'), limit)).toBe('{"a":"\ufeff"}');
  });

  it('counts the byte order mark', async () => {
    await expect(readBody(requestWith(`\ufeff${'a'.repeat(98)}`), limit)).rejects.toMatchObject(tooLarge);
  });

  it('rejects a body whose stream fails midway, without its internal message', async () => {
    const inner = new Error('socket 10.0.0.1 closed');
    let pulls = 0;
    const stream = new ReadableStream({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(bytesOf('{"a":'));
        else controller.error(inner);
      },
    });
    await expect(readBody(requestWith(stream), limit)).rejects.toMatchObject({
      ...invalid('INCOMPLETE_BODY'),
      message: 'The body could not be read to its end.',
      cause: inner,
    });
  });
});

describe('isJSONContentType', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ;\tCharset="utf-8"',
    ' application/json ',
  ])('accepts %j', (contentType) => {
    expect(isJSONContentType(contentType)).toBe(true);
  });

  it.each([
    null,
    '',
    'text/plain',
    'application/jsonp',
    'application/json5',
    'xapplication/json',
    'text/plain, application/json',
    'application/json, text/plain',
    'application/graphql+json',
    'application/json+x',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'application/json; charset=utf-16',
    'application/json; charset=utf-7',
    '*/*',
    'application/json; charset="utf-8',
    'application/json; charset = utf-8',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json; boundary=x',
    'application/json;',
    'application/json\n',
    'application/jſon',
  ])('rejects %j', (contentType) => {
    expect(isJSONContentType(contentType)).toBe(false);
  });

  it('takes linear time for long white space', () => {
    const start = performance.now();
    expect(isJSONContentType(`application/json${' '.repeat(500_000)};${'\t'.repeat(500_000)}x`)).toBe(false);
    // Quadratic time would be minutes; linear time is milliseconds, however busy the machine is.
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
