import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJSONContentType } from './body.js';
import { everyAnswer } from './headers.js';

/**
 * The type of the response to each `Accept` header that needs no negotiation. Those of most GraphQL clients name two types
 * (keyfront/client, Apollo Client, Apollo Router), and are left to Yoga.
 */
const answerTypes: ReadonlyMap<string, string> = new Map([
  ['*/*', 'application/json; charset=utf-8'],
  ['application/json', 'application/json; charset=utf-8'],
  ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
]);

const unusual = ['content-encoding', 'transfer-encoding', 'expect', 'origin', 'upgrade'];

/**
 * The type of the answer to a request that posts JSON of a known length to this path and accepts one type of JSON.
 * Undefined for every other request: browsers, for one, send `Origin` with each POST.
 */
export function plainAnswerType(
  { method, url, headers }: IncomingMessage,
  path: string,
  mostBytes: number,
): string | undefined {
  if (method !== 'POST' || url !== path || !isJSONContentType(headers['content-type'] ?? null)) return undefined;
  const bytes = Number(headers['content-length']);
  if (!(bytes > 0 && bytes <= mostBytes) || unusual.some((name) => headers[name] !== undefined)) return undefined;
  return answerTypes.get(headers.accept ?? '*/*');
}

/** Sends JSON, unless nobody waits for it any more. */
export function sendJSON(response: ServerResponse, text: string, headers: Readonly<Record<string, string>>): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(200, { ...everyAnswer, 'content-length': Buffer.byteLength(text), ...headers }).end(text);
}
