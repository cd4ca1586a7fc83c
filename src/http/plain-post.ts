import { isJSONContentType } from './body.js';
import type { RequestContext } from './request-context.js';

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
 * The content type of the response to a request that posts JSON of a known length and accepts one type of JSON. Undefined
 * for every other request: browsers, for one, send `Origin` with each POST.
 */
export function plainAnswerType({ method, target, headers }: RequestContext, maxBytes: number): string | undefined {
  if (method !== 'POST' || target !== '/graphql' || !isJSONContentType(headers.get('content-type'))) return undefined;
  const bytes = Number(headers.get('content-length'));
  if (!(bytes > 0 && bytes <= maxBytes) || unusual.some((name) => headers.get(name) !== null)) return undefined;
  return answerTypes.get(headers.get('accept') ?? '*/*');
}
