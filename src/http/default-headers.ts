import type { Middleware } from './router.js';

/** Headers of every response: no caching, no MIME sniffing. */
export const defaultHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Adds the headers of every response. A response with an entity tag may say itself how it is cached. */
export const addDefaultHeaders: Middleware = async (request, next) => {
  const response = await next();
  const { headers } = response;
  const hasTag = headers['etag'] !== undefined;
  for (const [name, value] of Object.entries(defaultHeaders)) {
    if (!(hasTag && headers[name] !== undefined)) headers[name] = value;
  }
  headers['x-request-id'] = request.id;
  return response;
};
