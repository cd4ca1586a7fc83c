import type { GraphQLParams } from 'graphql-yoga';
import { hasPrincipal, noCredential, requireAnyPrincipal } from '../../credentials/credential.js';
import { isUnsupportedMediaType, readBody, requireJSON } from '../../http/body.js';
import { malformedParameter, parseQuery } from '../../http/query-parameters.js';
import type { RequestContext, RequestHeaders } from '../../http/request-context.js';
import { AppError } from '../../lib/errors.js';
import { isObject, parseJSON } from '../../lib/json.js';
import type { Context } from '../context.js';
import { requestError } from '../errors.js';

/** The maximum size of a request body. */
const bodyLimitBytes = 128 * 1024;

/** The maximum size without a valid credential, enough to introspect. */
const anonymousBodyLimitBytes = 8 * 1024;

/**
 * The parameters of an operation, from the URL or from a body. Bodies must be JSON: a browser sends other types across
 * origins without a CORS preflight.
 *
 * @throws {AppError} as `paramsOfBody`, or INVALID for a parameter of the URL.
 * @throws {GraphQLError} INVALID for another media type, or for a GET request without a header that needs a preflight.
 */
export async function paramsOf(context: RequestContext, nextSlice: Context['nextSlice']): Promise<GraphQLParams> {
  if (context.method === 'GET') {
    requirePreflightHeader(context.headers);
    return paramsOfURL(context.query);
  }
  try {
    requireJSON(context);
    return await paramsOfBody(context, nextSlice);
  } catch (error) {
    throw error instanceof AppError && isUnsupportedMediaType(error) ? requestError(error, 415) : error;
  }
}

/** Parsed bodies, which the fast path and Yoga share: parsing the largest body takes 30 ms. */
const parsedBodies = new WeakMap<RequestContext, Promise<GraphQLParams>>();

/**
 * The parameters of an operation in the JSON body of a request.
 *
 * @throws {AppError} as `readText`, `parseJSON` and `asParams` do.
 */
export function paramsOfBody(context: RequestContext, nextSlice: Context['nextSlice']): Promise<GraphQLParams> {
  const cached = parsedBodies.get(context);
  if (cached) return cached;
  const parse = async () => {
    const text = await readText(context);
    await nextSlice();
    return asParams(parseJSON(text));
  };
  const parsed = parse();
  parsedBodies.set(context, parsed);
  return parsed;
}

/**
 * Reads the body after the credentials were verified: a client that has none can only introspect.
 *
 * @throws {AppError} as `readBody`; as `requireAnyPrincipal` when the body is too large without a valid credential.
 */
async function readText(context: RequestContext): Promise<string> {
  const isKnown = await context.principal().then(hasPrincipal, () => false);
  if (isKnown) return readBody(context, bodyLimitBytes);
  try {
    return await readBody(context, anonymousBodyLimitBytes);
  } catch (error) {
    if (error instanceof AppError && error.code === 'TOO_LARGE') requireAnyPrincipal(await context.principal());
    throw error;
  }
}

const preflightHeaders = ['authorization', 'x-svc-authorization', 'apollo-require-preflight', 'x-graphql-yoga-csrf'];

/**
 * Requires a header that forces a CORS preflight: a browser sends other GET requests across origins without a
 * preflight. No response may depend on what a browser adds by itself, such as cookies.
 *
 * @throws {AppError} UNAUTHENTICATED for a subscription.
 * @throws {GraphQLError} INVALID for other operations.
 */
function requirePreflightHeader(headers: RequestHeaders): void {
  if (preflightHeaders.some((name) => headers.get(name) !== null)) return;
  // Gateways send subscriptions by GET. Clients that authenticate again after UNAUTHENTICATED must receive it.
  if (headers.get('accept')?.includes('text/event-stream') === true) throw noCredential();
  throw requestError(
    new AppError(
      'INVALID',
      'A GET request needs a credential or the header Apollo-Require-Preflight. Otherwise use POST.',
    ),
  );
}

const paramNames = ['query', 'documentId', 'operationName', 'variables', 'extensions'];

function paramsOfURL(query: string): GraphQLParams {
  const search = parseQuery(query);
  for (const name of search.keys()) {
    if (!paramNames.includes(name)) throw malformedParameter(name, 'is an unknown parameter');
  }
  const json = (name: string) => {
    const text = search.get(name);
    return text ? parseJSON(text) : undefined;
  };
  return {
    query: search.get('query'),
    documentId: search.get('documentId'),
    operationName: search.get('operationName'),
    variables: json('variables'),
    extensions: json('extensions'),
  } as GraphQLParams;
}

/**
 * The parameters in the JSON of a body, whose values Yoga checks.
 *
 * @throws {AppError} INVALID for a batch, and for a body that is not an object or has an unknown member.
 */
function asParams(body: unknown): GraphQLParams {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('INVALID', 'The body must be a JSON object with a `query` or a `documentId`.');
  }
  // Yoga would quote the name, which may be a misplaced secret.
  if (Object.keys(body).some((name) => !paramNames.includes(name))) {
    throw new AppError('INVALID', `The body has an unknown member. Allowed are ${paramNames.join(', ')}.`);
  }
  return body;
}

/** The id of a document in a request: `documentId` of the GraphQL over HTTP draft, or the hash that Apollo sends. */
export function documentIDOf(params: GraphQLParams & { readonly documentId?: unknown }): string | undefined {
  const persistedQuery: unknown = params.extensions?.['persistedQuery'];
  const hash = isObject(persistedQuery) ? persistedQuery['sha256Hash'] : undefined;
  const id = params.documentId ?? hash ?? undefined;
  if (id !== undefined && typeof id !== 'string') {
    throw requestError(new AppError('INVALID', 'The id of a document must be a string.'));
  }
  return id;
}

/** The id without `sha256:`, under which the document is known. */
export function withoutPrefix(id: string): string {
  return id.replace(/^sha256:/, '');
}

/** Whether a request has `"extensions": {"cost": true}`. */
export function isCostRequested({ extensions }: Pick<GraphQLParams, 'extensions'>): boolean {
  return extensions?.['cost'] === true;
}
