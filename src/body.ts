import { AppError } from './errors.js';

/**
 * The request's body as text, without a byte order mark; '' where there is none. Never holds more than the limit.
 * Throws TOO_LARGE, or INVALID with one issue: unsupported_encoding, incomplete_body or malformed_text.
 */
export async function readBody(request: Request, limitBytes: number): Promise<string> {
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > limitBytes) throw tooLarge(limitBytes);

  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    // Unpacking would need a second limit, since few packed bytes can hold very many.
    throw invalid('UNSUPPORTED_ENCODING', 'The body must be sent without a content encoding.');
  }
  if (request.body === null) return '';
  return decode(await readBytes(request.body, limitBytes));
}

/** Whether the content type is application/json, in UTF-8 if it names a charset; other parameters are refused. */
export function isJSONContentType(contentType: string | null): boolean {
  return contentType !== null && jsonContentType.test(contentType);
}

const jsonContentType = /^[ \t]*application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

async function readBytes(body: ReadableStream<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(refuseIncomplete);
    if (done) return Buffer.concat(chunks, size);
    size += value.byteLength;
    if (size > limitBytes) {
      // The answer does not depend on how the sender takes this, and a stream may never settle its cancellation.
      reader.cancel().catch(() => undefined);
      throw tooLarge(limitBytes);
    }
    chunks.push(value);
  }
}

function decode(bytes: Uint8Array): string {
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
