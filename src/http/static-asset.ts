import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { acceptedCoding, matchesEntityTag } from './content-negotiation.js';
import type { RequestHeaders } from './request-context.js';
import type { HTTPResponse } from './response.js';
import type { Route } from './router.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Content codings, the preferred first. */
const encodings = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof encodings)[number];

/** A file that is the same for every client. Loaded and compressed on first use, then kept in memory. */
export interface StaticAsset {
  readonly headers: Readonly<Record<string, string>>;
  /** The entity tag of the content without its content coding. */
  readonly etag: () => Promise<string>;
  readonly bytes: Readonly<Record<Encoding, () => Promise<Bytes>>>;
}

/** A file whose content may change while the service runs. */
export type PageAsset = StaticAsset | (() => Promise<StaticAsset>);

interface AssetOptions {
  readonly contentType: string;
  readonly load: () => Promise<Bytes>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly compress?: typeof compressions;
}

// Brotli quality 6 takes 1.5 times as long for 2 % fewer bytes.
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const compressions: Readonly<Record<Encoding, (body: Bytes) => Promise<Bytes>>> = {
  br: (body) => promisify(brotliCompress)(body, quality),
  gzip: promisify(gzip),
  identity: (body) => Promise.resolve(body),
};

/** Returns an asset whose content `load` reads. */
export function createStaticAsset({
  contentType,
  load,
  headers = {},
  compress = compressions,
}: AssetOptions): StaticAsset {
  const body = memoize(load);
  const encoded = (encoding: Encoding) => memoize(async () => compress[encoding](await body()));
  return {
    headers: { ...headers, 'content-type': contentType },
    etag: memoize(async () =>
      createHash('sha256')
        .update(await body())
        .digest('hex')
        .slice(0, 32),
    ),
    bytes: { br: encoded('br'), gzip: encoded('gzip'), identity: encoded('identity') },
  };
}

/** Shares the result of the first call. After a rejection the next call tries again. */
function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= make().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Returns the headers of a page. `sources` extends a policy that permits scripts of this origin only. */
export function pageHeaders(sources: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    ...sources,
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  const directives = Object.entries(policy).map(([name, sources]) => `${name} ${sources}`);
  return { 'content-security-policy': directives.join('; '), 'referrer-policy': 'no-referrer' };
}

/** The folder that `src/build/pages.mjs` writes beside this module. */
export const browserFolder = new URL('./browser/', import.meta.url);

/**
 * Returns a file of the folder that `src/build/pages.mjs` writes beside this module.
 *
 * @param edit - changes the text of the file
 * @throws {Error} when the content type of the file is unknown
 */
export function browserFile(
  name: string,
  headers: Readonly<Record<string, string>> = {},
  edit?: (text: string) => string,
): StaticAsset {
  const contentType = contentTypes[extname(name)];
  if (contentType === undefined) throw new Error(`${name}: the extension has no content type.`);
  return createStaticAsset({
    contentType,
    load: async () => {
      const bytes = await readFile(new URL(name, browserFolder));
      return edit ? Buffer.from(edit(bytes.toString('utf8'))) : bytes;
    },
    headers,
  });
}

/** Responds with the smallest encoding that the request accepts, or 304 if `If-None-Match` contains its entity tag. */
export async function serveAsset(requestHeaders: RequestHeaders, asset: StaticAsset): Promise<HTTPResponse> {
  const encoding = acceptedCoding(requestHeaders.get('accept-encoding'), encodings) ?? 'identity';
  // Different bytes need different entity tags.
  const etag = `"${await asset.etag()}${encoding === 'identity' ? '' : `-${encoding}`}"`;
  const caching = { etag, 'cache-control': 'private, no-cache', vary: 'accept-encoding' };
  if (matchesEntityTag(requestHeaders.get('if-none-match'), etag)) return { status: 304, headers: caching, body: null };
  return {
    status: 200,
    body: await asset.bytes[encoding](),
    headers: {
      ...asset.headers,
      ...caching,
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    },
  };
}

/** Returns a route for each asset. */
export function assetRoutes(assets: ReadonlyMap<string, PageAsset>): Route[] {
  return [...assets].map(([path, asset]) => ({
    path,
    method: 'GET',
    handle: async ({ headers }) => serveAsset(headers, typeof asset === 'function' ? await asset() : asset),
  }));
}
