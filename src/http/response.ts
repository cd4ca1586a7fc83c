import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { stringifyJSON } from '../lib/json.js';

/** A response before it is sent. Header names are in lower case; `createResponder` adds to them. */
export interface HTTPResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer> | Readable | null;
}

/** A JSON response; 64-bit integers are written with all their digits. */
export function jsonResponse(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): HTTPResponse {
  return jsonTextResponse(stringifyJSON(body), status, headers);
}

/** A JSON response with a list, whose items are already JSON texts, and other members. */
export function jsonListResponse(
  name: string,
  items: readonly string[],
  more: Readonly<Record<string, unknown>>,
): HTTPResponse {
  const others = Object.entries(more).map(([member, value]) => `,${JSON.stringify(member)}:${JSON.stringify(value)}`);
  return jsonTextResponse(`{${JSON.stringify(name)}:[${items.join()}]${others.join('')}}`, 200, {});
}

function jsonTextResponse(text: string, status: number, headers: Readonly<Record<string, string>>): HTTPResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: text };
}

/** Sends a response, unless the client has closed the connection. A stream is destroyed when the client closes it. */
export function sendResponse(to: ServerResponse, { status, headers, body }: HTTPResponse): void {
  if (body instanceof Readable) {
    // `pipeline` throws when the client has closed the connection before.
    if (to.destroyed) return void body.destroy();
    to.writeHead(status, headers);
    // After an error of the stream, `pipeline` closes the connection: only that marks the response as incomplete.
    pipeline(body, to, () => undefined);
    return;
  }
  if (to.destroyed || to.writableEnded) return;
  const hasLength = body !== null || !(status === 204 || status === 304 || to.req.method === 'HEAD');
  const length = body === null ? 0 : Buffer.byteLength(body);
  to.writeHead(status, { ...headers, ...(hasLength && { 'content-length': length }) });
  to.end(body ?? undefined);
}

/**
 * Converts a response to a `Response` of `fetch`. A streamed body remains a stream.
 *
 * @param response - its body has not been read
 */
export function toFetchResponse({ status, headers, body }: HTTPResponse): Response {
  return new Response(body instanceof Readable ? toWebStream(body) : body, { status, headers });
}

/** As `Readable.toWeb`, which throws an uncaught exception when it is cancelled while data arrives (Node 24.21). */
function toWebStream(stream: Readable): ReadableStream<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream({
    pull: async (controller) => {
      const chunk = await chunks.next();
      if (chunk.done === true) controller.close();
      else controller.enqueue(chunk.value);
    },
    cancel: () => void stream.destroy(),
  });
}

const streamTypes = ['text/event-stream', 'multipart/mixed'];

/**
 * Converts a response of a `fetch` handler. Node's server sets `Connection`, and `sendResponse` the length. Yoga gives event
 * streams the content encoding `none`, which is not registered: RFC 9110 (8.4) omits the header instead.
 */
export async function fromFetchResponse(response: Response): Promise<HTTPResponse> {
  const {
    connection: _connection,
    'content-length': _length,
    'content-encoding': _encoding,
    ...headers
  } = Object.fromEntries([...response.headers].map(([name, value]) => [name.toLowerCase(), value]));
  const isStreamed = streamTypes.some((type) => headers['content-type']?.startsWith(type));
  const body = isStreamed && response.body ? openStream(response.body) : await response.text();
  return { status: response.status, headers, body };
}

/** Returns a stream that can be destroyed at any time, also if it is never read. */
function openStream(source: ReadableStream<Uint8Array>): Readable {
  const stream = Readable.from(source);
  // An error without a listener would end the process.
  stream.on('error', () => undefined);
  // Starts the source: the streams of Yoga fail when they are cancelled before, with such an error.
  stream.read(0);
  return stream;
}
