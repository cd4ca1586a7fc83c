import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RequestHeaders } from '../../../src/http/request-context.js';
import { toFetchResponse } from '../../../src/http/response.js';
import { browserFile, createStaticAsset, serveAsset, type StaticAsset } from '../../../src/http/static-asset.js';

const text = 'a text that repeats itself '.repeat(100);
const load = async () => new TextEncoder().encode(text);
const asset = createStaticAsset({ contentType: 'text/plain', load, headers: { 'referrer-policy': 'no-referrer' } });
const respond = async (headers: RequestHeaders, of: StaticAsset) => toFetchResponse(await serveAsset(headers, of));
const sendQuery = (headers: Record<string, string> = {}) => respond(new Headers(headers), asset);
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe('a static asset', () => {
  it.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['GZIP;q=0.5', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
  ])('is sent to a browser that accepts %s as %s', async (accepted, encoding, unpack) => {
    const response = await sendQuery({ 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    const bytes = await bytesOf(response);
    expect(bytes.length).toBeLessThan(text.length / 3);
    expect(unpack(bytes).toString()).toBe(text);
  });

  it.each([undefined, '', 'deflate', 'gzip;q=0', 'br; q=0.000', 'brotli'])(
    'is sent uncompressed to a browser that accepts %s',
    async (accepted) => {
      const response = await sendQuery(accepted === undefined ? {} : { 'accept-encoding': accepted });
      expect(response.headers.has('content-encoding')).toBe(false);
      expect((await bytesOf(response)).toString()).toBe(text);
    },
  );

  it('is compressed once, and not for each request', async () => {
    expect(await asset.bytes.br()).toBe(await asset.bytes.br());
  });

  it('is compressed again at the next request after a failed compression', async () => {
    let attempts = 0;
    const failing = createStaticAsset({
      contentType: 'text/plain',
      load,
      compress: {
        br: async (body) => {
          attempts += 1;
          if (attempts === 1) throw new Error('out of memory');
          return body;
        },
        gzip: async (body) => body,
        identity: async (body) => body,
      },
    });
    await expect(failing.bytes.br()).rejects.toThrow('out of memory');
    expect((await failing.bytes.br()).length).toBe(text.length);
    expect(attempts).toBe(2);
  });

  it('is loaded on the first request, once, and again after loading has failed', async () => {
    let attempts = 0;
    const failing = createStaticAsset({
      contentType: 'text/plain',
      load: async () => {
        attempts += 1;
        if (attempts === 1) throw new Error('EMFILE');
        return load();
      },
    });
    expect(attempts).toBe(0);
    await expect(respond(new Headers(), failing)).rejects.toThrow('EMFILE');
    expect(await (await respond(new Headers(), failing)).text()).toBe(text);
    await respond(new Headers({ 'accept-encoding': 'gzip' }), failing);
    expect(attempts).toBe(2);
  });

  it('is not sent again to a browser that has it in the same encoding', async () => {
    const tags = new Set<string>();
    for (const accepted of ['br', 'gzip', 'deflate']) {
      const etag = (await sendQuery({ 'accept-encoding': accepted })).headers.get('etag') ?? '';
      tags.add(etag);
      for (const has of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await sendQuery({ 'accept-encoding': accepted, 'if-none-match': has });
        expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, null, etag]);
      }
    }
    expect(tags.size).toBe(3);
    expect((await sendQuery({ 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('is revalidated each time, and has Vary for the encoding', async () => {
    const { headers } = await sendQuery();
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('vary')).toBe('accept-encoding');
    expect(headers.get('content-type')).toBe('text/plain');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });
});

describe('a file of a page', () => {
  it('is read from the bundled pages and has the type of its name', async () => {
    const response = await respond(new Headers(), browserFile('graphiql/icon.svg', { 'x-more': 'yes' }));
    expect(response.headers.get('content-type')).toBe('image/svg+xml');
    expect(response.headers.get('x-more')).toBe('yes');
    expect(await response.text()).toContain('<svg');
  });

  it('rejects a file whose extension has no content type', () => {
    expect(() => browserFile('graphiql/page.exe')).toThrow('graphiql/page.exe: the extension has no content type');
  });
});
