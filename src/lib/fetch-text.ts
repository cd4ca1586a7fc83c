import { withTimeout } from './timeout.js';

/** The response was larger than its limit. The rest of it was not read. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/** The limits of one request. */
export interface FetchLimits {
  /** Milliseconds until the last byte of the body. */
  readonly timeoutMs: number;
  /** Maximum length of the body in bytes. */
  readonly maxBytes: number;
}

/** A complete response. */
export interface FetchedText {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Fetches a URL and reads the whole body as UTF-8. Uses its own timer: the signal of `AbortSignal.timeout` can be
 * garbage-collected once the headers have arrived (Node 20), and the body then has no timeout.
 *
 * @throws {DOMException} TimeoutError when the response is not complete in time.
 * @throws {ResponseTooLarge} when the body is larger than `maxBytes`.
 * @throws {TypeError} when the connection fails.
 */
export async function fetchText(
  url: string | URL,
  init: RequestInit,
  { timeoutMs, maxBytes }: FetchLimits,
): Promise<FetchedText> {
  const controller = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const read = async (): Promise<FetchedText> => {
    const { status, headers, body } = await fetch(url, { ...init, signal: controller.signal });
    // Cancelling the reader closes the connection even when the signal no longer does.
    reader = body?.getReader();
    return { status, headers, text: reader ? await textOf(reader, maxBytes) : '' };
  };
  try {
    return await withTimeout(timeoutMs, read(), () => {
      throw new DOMException(`The response was not complete within ${timeoutMs} ms.`, 'TimeoutError');
    });
  } finally {
    reader?.cancel().catch(() => undefined);
    controller.abort();
  }
}

async function textOf(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return new TextDecoder().decode(Buffer.concat(chunks));
    size += value.byteLength;
    if (size > maxBytes) throw new ResponseTooLarge(`The response is larger than ${maxBytes} bytes.`);
    chunks.push(value);
  }
}
