import { Readable } from 'node:stream';
import { AppError } from '../lib/errors.js';
import { errorResponse } from './error-response.js';
import type { RequestContext } from './request-context.js';
import type { HTTPResponse } from './response.js';

/** Serves a request. `wildcard` is the part of the path that matches `*` or `**`, still percent-encoded. */
export type Handler = (request: RequestContext, wildcard: string) => HTTPResponse | Promise<HTTPResponse>;

/** A path, a method and their handler. */
export interface Route {
  /** At most one segment is `*`, or the last one is `**` for the rest of the path. It appears in the log and in metrics. */
  readonly path: string;
  /** GET includes HEAD; `*` is every method. */
  readonly method: string;
  readonly handle: Handler;
}

/** Finds the route of a request, and names it in the record. Returns what responds: the route, or 404 or 405. */
export type Router = (request: RequestContext) => () => Promise<HTTPResponse>;

interface Match {
  /** All routes of the path that matched, one for each method. */
  readonly routes: readonly Route[];
  readonly wildcard: string;
}

/** The logged route of a request that matches no route: its path may contain a secret. */
const noRoute = '(other)';

/** Returns a function that finds the route of each request. */
export function createRouter(routes: readonly Route[]): Router {
  const [patterns, paths] = [new Map<string, Route[]>(), new Map<string, Route[]>()];
  for (const route of routes) {
    const sameKind = route.path.includes('*') ? patterns : paths;
    sameKind.set(route.path, [...(sameKind.get(route.path) ?? []), route]);
  }

  function find(path: string): Match | undefined {
    const exact = paths.get(path);
    if (exact) return { routes: exact, wildcard: '' };
    for (const [pattern, candidates] of patterns) {
      const wildcard = wildcardOf(pattern, path);
      if (wildcard !== undefined) return { routes: candidates, wildcard };
    }
    return undefined;
  }

  return (request) => {
    const match = find(request.path);
    request.record.route = match?.routes[0]?.path ?? noRoute;
    return () => respond(request, match);
  };
}

async function respond(request: RequestContext, match: Match | undefined): Promise<HTTPResponse> {
  if (!match) return errorResponse(new AppError('NOT_FOUND', 'The path does not exist.'), request.id);
  const isHead = request.method === 'HEAD';
  const method = isHead ? 'GET' : request.method;
  const route = match.routes.find((candidate) => candidate.method === method || candidate.method === '*');
  if (!route) return methodNotAllowed(match.routes, request.id);
  const response = await route.handle(request, match.wildcard);
  if (!isHead) return response;
  if (response.body instanceof Readable) response.body.destroy();
  return { ...response, body: null };
}

function methodNotAllowed(routes: readonly Route[], requestID: string): HTTPResponse {
  const allow = routes.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
  return errorResponse(new AppError('INVALID', `The method is not allowed. The path supports ${allow}.`), requestID, {
    status: 405,
    headers: { allow },
  });
}

/** Returns the part of the path that matches `*` or `**`; undefined when the path does not match. */
function wildcardOf(pattern: string, path: string): string | undefined {
  if (pattern.endsWith('/**'))
    return path.startsWith(pattern.slice(0, -2)) ? path.slice(pattern.length - 2) : undefined;
  const [prefix = '', suffix = ''] = pattern.split('*');
  const wildcard = path.slice(prefix.length, path.length - suffix.length);
  const isMatch = path.startsWith(prefix) && path.endsWith(suffix) && path.length > prefix.length + suffix.length;
  return isMatch && !wildcard.includes('/') ? wildcard : undefined;
}
