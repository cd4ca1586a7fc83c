import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { preferredType } from '../../http/accept.js';
import { AppError } from '../../lib/errors.js';
import { isUnsupported, readBody, requireJSON } from '../../http/body.js';
import type { RequestContext, RequestHeaders } from '../../http/request-context.js';
import { parseJSON } from '../../lib/json.js';
import { malformed, queryParametersOf } from '../../http/query-parameters.js';
import type { ServerContext } from '../context.js';
import { requestError } from '../errors.js';

export const bodyLimitBytes = 128 * 1024;

/**
 * Reads requests within bounds and with exact numbers. JSON is the one form of a body: a browser sends the others
 * across sites without asking.
 */
export const useExactRequests: Plugin<object, ServerContext> = {
  onRequestParse({ setRequestParser, serverContext: { requestContext } }) {
    setRequestParser(async () => {
      // Yoga would find out only when it answers, and by then a mutation has been executed.
      if (preferredType(requestContext.headers.get('accept'), responseTypes) === undefined) {
        throw requestError(new AppError('INVALID', 'The answer can be JSON only.'), 406);
      }
      return paramsOf(requestContext);
    });
  },
};

/** The parameters of an operation, from the URL or from a body. */
async function paramsOf(context: RequestContext): Promise<GraphQLParams> {
  if (context.method === 'GET') {
    requirePreflighted(context.headers);
    return paramsOfURL(context.query);
  }
  try {
    requireJSON(context);
    return asParams(parseJSON(await readBody(context, bodyLimitBytes)));
  } catch (error) {
    throw error instanceof AppError && isUnsupported(error) ? requestError(error, 415) : error;
  }
}

const preflighted = ['authorization', 'x-svc-authorization', 'apollo-require-preflight', 'x-graphql-yoga-csrf'];

/**
 * A browser sends a GET across sites without asking, unless it carries a header of ours. None of our answers depends on
 * what a browser adds by itself, and so shall it stay.
 */
function requirePreflighted(headers: RequestHeaders): void {
  if (preflighted.some((name) => headers.get(name) !== null)) return;
  throw requestError(
    new AppError('INVALID', 'A GET needs a credential, or the header Apollo-Require-Preflight. Or use POST.'),
  );
}

/** The types of Yoga's responses. */
const responseTypes = ['application/graphql-response+json', 'application/json', 'text/event-stream', 'multipart/mixed'];

const members = ['query', 'documentId', 'operationName', 'variables', 'extensions'];

function paramsOfURL(query: string): GraphQLParams {
  const search = queryParametersOf(query);
  for (const name of search.keys()) {
    if (!members.includes(name)) throw malformed(name, 'is not a parameter here');
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
 * @throws {AppError} INVALID for a batch, and for a body that is no object or has an unknown member.
 */
export function asParams(body: unknown): GraphQLParams {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('INVALID', 'The body must be a JSON object with a `query` or a `documentId`.');
  }
  // Yoga would repeat the name, which may be a secret in the wrong place.
  if (Object.keys(body).some((name) => !members.includes(name))) {
    throw new AppError('INVALID', `The body has a member that is none of ${members.join(', ')}.`);
  }
  return body;
}
