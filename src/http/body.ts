import type { Readable } from 'node:stream';
import { AppError } from '../lib/errors.js';
import { parseJSON, type JSONValue } from '../lib/json.js';
import { hasMoreValues, maxValues } from '../lib/value-count.js';

/** The body of a request, and the headers that describe it. */
interface BodySource {
  readonly headers: { readonly get: (name: string) => string | null };
  readonly body: (limitBytes: number) => Promise<Uint8Array>;
}

/**
 * Reads the body of a request as text, without a byte order mark; '' without a body. Buffers at most `limitBytes`.
 *
 * @throws {AppError} TOO_LARGE, or INVALID with one issue: UNSUPPORTED_ENCODING, INCOMPLETE_BODY or MALFORMED_TEXT.
 */
export async function readBody({ headers, body }: BodySource, limitBytes: number): Promise<string> {
  const declared = headers.get('content-length');
  if (declared !== null && Number(declared) > limitBytes) throw tooLargeError(limitBytes);

  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    // Decompression would need a second limit: a few bytes can expand to very many.
    throw invalidBodyError('UNSUPPORTED_ENCODING', 'The body must be sent without a content encoding.');
  }
  return decodeUTF8(await body(limitBytes));
}

/**
 * Requires a content type of JSON.
 *
 * @param pattern - the accepted content types: `jsonContentType` or `patchContentType`
 * @throws {AppError} INVALID with the issue UNSUPPORTED_TYPE.
 */
export function requireJSON({ headers }: Pick<BodySource, 'headers'>, pattern = jsonContentType): void {
  if (isJSONContentType(headers.get('content-type'), pattern)) return;
  throw invalidBodyError('UNSUPPORTED_TYPE', 'The content type must be application/json, in UTF-8.');
}

/** Whether the content type is application/json, in UTF-8 if it names a charset; other parameters are rejected. */
export function isJSONContentType(contentType: string | null, pattern = jsonContentType): boolean {
  return contentType !== null && pattern.test(contentType);
}

/** Whether an error concerns the media type or the encoding of a body, for which HTTP has the status 415. */
export function isUnsupportedMediaType({ issues: [issue] }: AppError): boolean {
  return issue?.code === 'UNSUPPORTED_TYPE' || issue?.code === 'UNSUPPORTED_ENCODING';
}

const jsonContentType = /^[ \t]*application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;
/** JSON, or JSON Merge Patch. */
export const patchContentType =
  /^[ \t]*application\/(?:merge-patch\+)?json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** `readBytes` destroys the stream of a larger body. */
const maxDiscardedBytes = 16 * 1024 * 1024;

/**
 * Reads a stream to its end. Rejects as soon as the stream exceeds the limit, then discards the rest, up to
 * `maxDiscardedBytes`: a client whose connection is reset while it sends may never receive the response.
 *
 * @throws {AppError} TOO_LARGE, or INVALID with the issue INCOMPLETE_BODY.
 */
export function readBytes(stream: Readable | undefined, limitBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const rejectIncomplete = (cause?: unknown) =>
      reject(invalidBodyError('INCOMPLETE_BODY', 'The body could not be read to its end.', cause));
    if (stream === undefined) return resolve(new Uint8Array());
    if (stream.destroyed) return rejectIncomplete();
    const chunks: Uint8Array[] = [];
    let size = 0;
    let isSettled = false;
    stream.on('data', (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size <= limitBytes) return void chunks.push(chunk);
      chunks.length = 0;
      isSettled = true;
      reject(tooLargeError(limitBytes));
      if (size > maxDiscardedBytes) stream.destroy();
    });
    stream.on('end', () => {
      isSettled = true;
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    stream.on('error', rejectIncomplete);
    // Every stream emits `close`. Creating an error with its stack trace costs more than reading a body.
    stream.on('close', () => isSettled || rejectIncomplete());
  });
}

/**
 * Parses a JSON body.
 *
 * @throws {AppError} INVALID as `parseJSON`, or TOO_LARGE for more than `maxValues` values.
 */
export function parseBody(text: string): JSONValue {
  const value = parseJSON(text);
  // Each value takes at least two characters.
  if (text.length > 2 * maxValues && hasMoreValues(value)) throw tooManyValuesError();
  return value;
}

/** The error of a body with more values than `maxValues`. */
export function tooManyValuesError(): AppError {
  const message = `The body has more than ${maxValues.toLocaleString('en')} members of objects and items of lists.`;
  return new AppError('TOO_LARGE', message);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUTF8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw invalidBodyError('MALFORMED_TEXT', 'The body is not valid UTF-8.', cause);
  }
}

/** The error of a body above a limit. */
export function tooLargeError(limitBytes: number): AppError {
  return new AppError('TOO_LARGE', `The body is larger than ${limitBytes} bytes.`);
}

function invalidBodyError(code: string, message: string, cause?: unknown): AppError {
  return new AppError('INVALID', message, { issues: [{ path: [], code, message }], cause });
}
