import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { isJSONContentType, readBody } from '../body.js';
import { AppError } from '../errors.js';
import { parseJSON } from '../json.js';
import { requestError } from './errors.js';

const bodyLimitBytes = 128 * 1024;

/**
 * Reads requests within bounds and with exact numbers. JSON is the one form of a body: a browser sends the others
 * across sites without asking.
 */
export const useExactRequests: Plugin = {
  onRequestParse({ setRequestParser }) {
    setRequestParser(async (request) => {
      // Yoga would find out only when it answers, and by then a mutation has been executed.
      if (!mayAnswer(request.headers.get('accept') ?? '')) {
        throw requestError(new AppError('INVALID', 'The answer can be JSON only.'), 406);
      }
      const params = await paramsOf(request);
      if (typeof params.query === 'string') requireShallow(params.query);
      return params;
    });
  },
};

/** The parameters of an operation, from the URL or from a body. */
async function paramsOf(request: Request): Promise<GraphQLParams> {
  if (request.method === 'GET') return paramsOfURL(request.url);
  if (!isJSONContentType(request.headers.get('content-type'))) {
    throw requestError(new AppError('INVALID', 'The content type must be application/json.'), 415);
  }
  return asParams(parseJSON(await readBody(request, bodyLimitBytes)));
}

const answers = ['application/graphql-response+json', 'application/json', 'text/event-stream', 'multipart/mixed'];
const anyOf = ['*/*', 'application/*', 'text/*', 'multipart/*'];

/** Whether an `Accept` header names a form that Yoga has for its answers. */
function mayAnswer(accept: string): boolean {
  if (accept === '') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isUTF8 = parameters.every((parameter) => !parameter.startsWith('charset=') || parameter === 'charset=utf-8');
    return isUTF8 && (answers.includes(type) || anyOf.includes(type));
  });
}

function paramsOfURL(url: string): GraphQLParams {
  const search = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
  const json = (name: string) => {
    const text = search.get(name);
    return text ? parseJSON(text) : undefined;
  };
  return {
    query: search.get('query') ?? undefined,
    documentId: search.get('documentId') ?? undefined,
    operationName: search.get('operationName') ?? undefined,
    variables: json('variables'),
    extensions: json('extensions'),
  } as GraphQLParams;
}

/** Yoga checks the members; here only that there are any to check, and that it is one operation and not a batch. */
function asParams(body: unknown): GraphQLParams {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('INVALID', 'The body must be a JSON object with a `query` or a `documentId`.');
  }
  return body;
}

const deepestNesting = 200;

/** Bounds the nesting of an operation, because GraphQL's parser goes one call deeper with each level of it. */
export function requireShallow(query: string): void {
  const withoutTexts = query.replace(/"""[^]*?"""|"(?:[^"\\\n]|\\.)*"|#.*/g, '');
  let depth = 0;
  for (const [bracket] of withoutTexts.matchAll(/[[\](){}]/g)) {
    depth += '[({'.includes(bracket) ? 1 : -1;
    if (depth > deepestNesting) {
      throw new AppError('INVALID', `The operation is nested more than ${deepestNesting} levels deep.`);
    }
  }
}
