import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { acceptedCoding } from './accept.js';
import { isKnown } from './entity-tag.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Something that is the same for everybody, such as a script. Compressed when first asked for so, and then kept. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly bytes: (encoding: Encoding) => Promise<Bytes>;
}

/** How an asset can be sent, the best first. */
const encodings = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof encodings)[number];

// The next level of Brotli takes half as long again, for one part in fifty.
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const compressions: Readonly<Record<Encoding, (body: Bytes) => Promise<Uint8Array>>> = {
  br: (body) => promisify(brotliCompress)(body, quality),
  gzip: promisify(gzip),
  identity: (body) => Promise.resolve(body),
};

/** The content type stands for the browser as it is; a text is sent in UTF-8. */
export function createAsset(type: string, content: string | Uint8Array, compress = compressions): Asset {
  const body = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
  const kept = new Map<Encoding, Promise<Bytes>>();
  return {
    type,
    etag: createHash('sha256').update(body).digest('hex').slice(0, 32),
    bytes: (encoding) => {
      const known = kept.get(encoding);
      if (known) return known;
      const bytes = compress[encoding](body).then((packed) => new Uint8Array(packed));
      kept.set(encoding, bytes);
      // The next request tries again.
      bytes.catch(() => kept.delete(encoding));
      return bytes;
    },
  };
}

/** The asset, as small as the browser takes it; 304 where the browser has it already. */
export async function answerAsset(
  asset: Asset,
  request: Request,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const encoding = acceptedCoding(request.headers.get('accept-encoding'), encodings) ?? 'identity';
  // What differs in its bytes differs in its tag.
  const etag = `"${asset.etag}${encoding === 'identity' ? '' : `-${encoding}`}"`;
  // A browser asks each time whether what it has is still the same, and no one else keeps it.
  const shared = { etag, 'cache-control': 'private, no-cache', vary: 'accept-encoding' };
  if (isKnown(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: shared });
  return new Response(await asset.bytes(encoding), {
    headers: {
      ...headers,
      ...shared,
      'content-type': asset.type,
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    },
  });
}
