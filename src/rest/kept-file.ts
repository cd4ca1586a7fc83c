import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { isKnown } from './entity-tag.js';

/** What is the same for everybody: made at its first use and kept, compressed too. */
export interface KeptFile {
  /** Sends it, or 304 to whoever has it already. */
  readonly answer: (request: Request) => Promise<Response>;
}

interface Kept {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly compressed: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

/** `make` is called at the first request, and again after it has failed. */
export function createKeptFile(
  make: () => string | Promise<Uint8Array>,
  contentType: string,
  more: Readonly<Record<string, string>> = {},
): KeptFile {
  let kept: Promise<Kept> | undefined;

  async function keep(): Promise<Kept> {
    const made = await make();
    const body = typeof made === 'string' ? new TextEncoder().encode(made) : new Uint8Array(made);
    const compressed = new Uint8Array(await promisify(gzip)(body));
    return { body, compressed, etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"` };
  }

  return {
    answer: async (request) => {
      kept ??= keep();
      const { body, compressed, etag } = await kept.catch((error: unknown) => {
        kept = undefined;
        throw error;
      });
      // A browser asks each time whether what it has is still the same, and no one else keeps it.
      const shared = { etag, 'cache-control': 'private, no-cache', vary: 'accept-encoding' };
      if (isKnown(request.headers.get('if-none-match'), etag)) {
        return new Response(null, { status: 304, headers: shared });
      }
      const takesGzip = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
      return new Response(takesGzip ? compressed : body, {
        headers: { ...shared, 'content-type': contentType, ...more, ...(takesGzip && { 'content-encoding': 'gzip' }) },
      });
    },
  };
}
