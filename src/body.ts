import { AppError } from './errors.js';

/**
 * The request's body as text, without a byte order mark; '' where there is none. Never holds more than the limit. `sent` is
 * what was read of it before.
 * Throws TOO_LARGE, or INVALID with one issue: UNSUPPORTED_ENCODING, INCOMPLETE_BODY or MALFORMED_TEXT.
 */
export async function readBody(request: Request, limitBytes: number, sent?: Promise<Uint8Array>): Promise<string> {
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > limitBytes) throw tooLarge(limitBytes);

  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    // Unpacking would need a second limit, since few packed bytes can hold very many.
    throw invalid('UNSUPPORTED_ENCODING', 'The body must be sent without a content encoding.');
  }
  if (request.body === null) return '';
  if (sent) return textOf(await sent.catch(refuseIncomplete));
  // HTTP ends a body where its declared length does, so that it need not be read piece by piece, which takes longer.
  return textOf(await (declared === null ? readBytes(request.body, limitBytes) : readWhole(request, limitBytes)));
}

/** Throws INVALID with the issue UNSUPPORTED_TYPE where the body is not announced as JSON. */
export function requireJSON(request: Request): void {
  if (isJSONContentType(request.headers.get('content-type'))) return;
  throw invalid('UNSUPPORTED_TYPE', 'The content type must be application/json, in UTF-8.');
}

/** Whether the content type is application/json, in UTF-8 if it names a charset; other parameters are refused. */
export function isJSONContentType(contentType: string | null): boolean {
  return contentType !== null && jsonContentType.test(contentType);
}

/** Whether a body was refused for its form and not for what it says: HTTP has the status 415 for that. */
export function isUnsupported({ issues: [issue] }: AppError): boolean {
  return issue?.code === 'UNSUPPORTED_TYPE' || issue?.code === 'UNSUPPORTED_ENCODING';
}

const jsonContentType = /^[ \t]*application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

async function readWhole(request: Request, limitBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer().catch(refuseIncomplete));
  if (bytes.byteLength > limitBytes) throw tooLarge(limitBytes);
  return bytes;
}

async function readBytes(body: ReadableStream<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(refuseIncomplete);
    if (done) return Buffer.concat(chunks, size);
    size += value.byteLength;
    if (size > limitBytes) {
      // The answer waits neither for the sender nor for a stream that may never settle its cancellation.
      void drop(reader, dropped * limitBytes);
      throw tooLarge(limitBytes);
    }
    chunks.push(value);
  }
}

/** By how many times a body may be too large until no more of it is read. */
const dropped = 64;

/** Reads on for a while without keeping anything: a sender that is cut off in its middle may never see the answer. */
async function drop(reader: ReadableStreamDefaultReader<Uint8Array>, mostBytes: number): Promise<void> {
  try {
    for (let size = 0; size < mostBytes;) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // Nobody needs what was to be dropped.
  }
}

/** The text of a body, without a byte order mark. Throws INVALID with one issue, MALFORMED_TEXT. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid('MALFORMED_TEXT', 'The body is not valid UTF-8.', cause);
  }
}

function refuseIncomplete(cause: unknown): never {
  throw invalid('INCOMPLETE_BODY', 'The body could not be read to its end.', cause);
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('TOO_LARGE', `The body is larger than ${limitBytes} bytes.`);
}

function invalid(code: string, message: string, cause?: unknown): AppError {
  return new AppError('INVALID', message, { issues: [{ path: [], code, message }], cause });
}
