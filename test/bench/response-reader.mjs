const none = Buffer.alloc(0);

/** Reads the responses on a connection without pipelining. */
export class ResponseReader {
  #bytes = none;

  /** Adds a chunk. Returns the response when it is complete, until then undefined. */
  push(/** @type {Buffer} */ chunk) {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const head = this.#bytes.latin1Slice(0, end);
    const body = bodyOf(head, this.#bytes.subarray(end + 4));
    if (!body) return undefined;
    this.#bytes = none;
    const retryAfter = /\r\nretry-after: *(\d+)/i.exec(head)?.[1];
    return { status: Number(head.slice(9, 12)), body, retryAfter, closes: /\r\nconnection: *close/i.test(head) };
  }
}

/** Returns the body after a head; undefined while it is incomplete. */
function bodyOf(/** @type {string} */ head, /** @type {Buffer} */ bytes) {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return bytes.length < Number(length) ? undefined : bytes.subarray(0, Number(length));
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return unchunked(bytes);
  throw new Error(`A response has no length: ${head}`);
}

function unchunked(/** @type {Buffer} */ bytes) {
  const parts = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) return undefined;
    const size = Number.parseInt(bytes.latin1Slice(at, line), 16);
    const start = line + 2;
    // A line break ends each chunk, also the last and empty one; no server here sends trailers.
    if (bytes.length < start + size + 2) return undefined;
    if (size === 0) return parts.length === 1 ? parts[0] : Buffer.concat(parts);
    parts.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
