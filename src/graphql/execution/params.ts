import type { GraphQLError } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import {
  hasPrincipal,
  noCredential,
  noCredentialOfAnyKind,
  requireAnyPrincipal,
  type AuthContext,
} from '../../credentials/credential.js';
import {
  isUnsupportedMediaType,
  parseBody,
  readBody,
  requireJSON,
  tooLargeError,
  tooManyValuesError,
} from '../../http/body.js';
import { malformedParameter, parseQuery } from '../../http/query-parameters.js';
import type { RequestContext, RequestHeaders } from '../../http/request-context.js';
import { AppError } from '../../lib/errors.js';
import { isObject, parseJSON } from '../../lib/json.js';
import type { NextStage } from '../../lib/scheduler.js';
import { hasMoreValues } from '../../lib/value-count.js';
import { operationError, requestError, withAllow } from '../errors.js';
import { mayIntrospect, type IntrospectionPolicy } from './introspection-policy.js';
import { documentIDOf, documentTextOf, type TrustedDocuments } from './trusted-documents.js';

/** The maximum size of a request body. */
const bodyLimitBytes = 128 * 1024;

/** The maximum size without a valid credential, enough to introspect. */
const anonymousBodyLimitBytes = 8 * 1024;

/**
 * The parameters of an operation, from the URL or from a body. Bodies must be JSON: a browser sends other types across
 * origins without a CORS preflight.
 *
 * @throws {AppError} as `readText`, `parseBody` and `asParams`, or INVALID for a parameter of the URL.
 * @throws {GraphQLError} INVALID for another media type, or for a GET request without a header that needs a preflight.
 */
export async function paramsOf(context: RequestContext, nextStage: NextStage): Promise<GraphQLParams> {
  if (context.method === 'GET') {
    requirePreflightHeader(context.headers);
    return paramsOfURL(context.query);
  }
  try {
    requireJSON(context);
    const text = await readText(context);
    await nextStage();
    return asParams(parseBody(text));
  } catch (error) {
    throw error instanceof AppError && isUnsupportedMediaType(error) ? requestError(error, 415) : error;
  }
}

/**
 * The parameters of an operation in a message, which has been parsed.
 *
 * @param bytes - the size of the parameters
 * @throws {AppError} TOO_LARGE, and as `asParams` and `requireAnyPrincipal`.
 */
export async function paramsOfMessage(
  context: RequestContext,
  payload: unknown,
  bytes: number,
): Promise<GraphQLParams> {
  const limitBytes = await bodyLimitOf(context);
  if (bytes > limitBytes) {
    if (limitBytes === anonymousBodyLimitBytes) requireAnyPrincipal(await context.principal());
    throw tooLargeError(limitBytes);
  }
  if (hasMoreValues(payload)) throw tooManyValuesError();
  return asParams(payload);
}

/**
 * Reads the body after the credentials were verified: a client that has none can only introspect.
 *
 * @throws {AppError} as `readBody`; as `requireAnyPrincipal` when the body is too large without a valid credential.
 */
async function readText(context: RequestContext): Promise<string> {
  const limitBytes = await bodyLimitOf(context);
  try {
    return await readBody(context, limitBytes);
  } catch (error) {
    const isAnonymous = limitBytes === anonymousBodyLimitBytes;
    if (isAnonymous && error instanceof AppError && error.code === 'TOO_LARGE') {
      requireAnyPrincipal(await context.principal());
    }
    throw error;
  }
}

async function bodyLimitOf(context: RequestContext): Promise<number> {
  const isKnown = await context.principal().then(hasPrincipal, () => false);
  return isKnown ? bodyLimitBytes : anonymousBodyLimitBytes;
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
 * The parameters in the JSON of a body, whose values `resolveParams` checks.
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

/** The parameters of an operation, with the text of its document. */
export interface RequestedOperation {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What `resolveParams` needs. */
export interface ParamsDeps {
  readonly trustedDocuments: TrustedDocuments;
  readonly introspection: IntrospectionPolicy;
}

/**
 * Checks the parameters of a request, and looks up its document.
 *
 * @throws {GraphQLError} INVALID for a value of the wrong type, and as `documentTextOf`. UNAUTHENTICATED for the id of a
 * document, from a client that may not introspect: the result would reveal which ids are trusted.
 * @throws {AppError} as `throwIfRateLimited`.
 */
export function resolveParams(
  { trustedDocuments, introspection }: ParamsDeps,
  params: GraphQLParams,
  auth: AuthContext,
): RequestedOperation {
  if (!mayIntrospect(introspection, auth) && documentIDOf(params) !== undefined) {
    throw operationError(noCredentialOfAnyKind(auth));
  }
  const query = documentTextOf(trustedDocuments, params);
  const { operationName, variables, extensions } = params;
  if (typeof query !== 'string') throw wrongTypeError('"query" param to be a string', query);
  for (const [name, value] of Object.entries({ variables, extensions })) {
    if (value != null && !isObject(value)) throw wrongTypeError(`"${name}" param to be empty or an object`, value);
  }
  // A name that is not a string is that of no operation.
  return { query, operationName: operationName ?? undefined, variables: variables ?? {} };
}

function wrongTypeError(expected: string, value: unknown): GraphQLError {
  const type = Array.isArray(value) ? 'array' : typeof value;
  return withAllow(requestError(new AppError('INVALID', `Expected ${expected}, but given ${type}.`)), 'GET, POST');
}
