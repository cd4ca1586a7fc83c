import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import { createAuthenticate } from './auth/authenticator.js';
import type { Config, ConfigSecrets } from './config.js';
import type { ServerContext } from './graphql/context.js';
import { serveGraphiQL } from './graphql/graphiql.js';
import { createGraphQLServer } from './graphql/yoga.js';
import { createCORS } from './http/cors.js';
import { everyAnswer } from './http/headers.js';
import { createHealth, healthPaths } from './http/health.js';
import { openInstallation, type Installation, type Overrides } from './installation.js';
import { createKeyService } from './keys/service.js';
import type { Logger } from './log.js';
import { errorResponse, methodRefused } from './rest/errors.js';
import { createRESTFace } from './rest/routes.js';

export interface App {
  readonly installation: Installation;
  readonly fetch: (request: Request) => Promise<Response>;
  /** The same, for Node's own server. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** From now on `/ready` says no, so that balancers look elsewhere while requests under way are answered. */
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

/** Puts the parts together. Throws as `openInstallation` does. */
export function createApp(config: Config, secrets: ConfigSecrets, log: Logger, overrides: Overrides = {}): App {
  const installation = openInstallation(config, secrets, overrides);
  const keys = createKeyService(installation.ports);
  const authenticate = createAuthenticate(installation.credentials, installation.now);
  const answerREST = createRESTFace({ keys, authenticate, log });
  const purge = startPurging(installation, config.restoreWindowMs, log);

  const cors = createCORS(config.corsOrigins);

  const health = createHealth(installation.whyNotReady, log);

  async function answerOther(request: Request, requestID: string): Promise<Response | undefined> {
    const target = request.url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
    const path = target.split('?', 1)[0] ?? '';
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const preflight = cors.answerPreflight(request);
    if (preflight) return preflight;
    if (path === '/graphql') {
      const wantsPage = isRead && config.graphiql && (request.headers.get('accept') ?? '').includes('text/html');
      return wantsPage ? new Response(null, { status: 302, headers: { location: '/' } }) : undefined;
    }
    if (path === '/' && config.graphiql) return isRead ? serveGraphiQL(request) : methodRefused('GET, HEAD', requestID);
    if (!healthPaths.includes(path)) return answerREST(request, target, requestID);
    return isRead ? health.answer(path) : methodRefused('GET, HEAD', requestID);
  }

  const useOtherFaces: Plugin<object, ServerContext> = {
    async onRequest(event) {
      const { requestID } = event.serverContext;
      const response = await answerOther(event.request, requestID).catch((error: unknown) => {
        log.error({ requestID, err: error }, 'internal error');
        return errorResponse(error, requestID);
      });
      if (response) event.endResponse(response);
    },
    onResponse(event) {
      const { request, response, serverContext } = event;
      const { requestID } = serverContext;
      const { headers } = response;
      // A page that has not changed need not be sent again; nothing else is kept anywhere.
      for (const [name, value] of Object.entries(everyAnswer)) {
        if (!(headers.has(name) && headers.has('etag'))) headers.set(name, value);
      }
      headers.set('x-request-id', requestID);
      cors.addTo(headers, request);
      if (request.method === 'HEAD') event.setResponse(new Response(null, { status: response.status, headers }));
      log.info({ requestID, method: request.method, route: routeOf(request.url), status: response.status }, 'request');
    },
  };

  const server = createGraphQLServer({ keys, authenticate, log, plugins: [useOtherFaces] });
  return {
    installation,
    fetch: async (request) => server.fetch(request, { requestID: randomUUID() }),
    handle: (request, response) => void server(request, response, { requestID: randomUUID() }),
    drain: health.drain,
    close: async () => {
      clearInterval(purge);
      await server.dispose();
      installation.close();
    },
  };
}

const purgeEveryMs = 3_600_000;

/** Removes what was deleted too long ago to be restored: now, and every hour. */
function startPurging({ store, now }: Installation, restoreWindowMs: number, log: Logger): NodeJS.Timeout {
  const purge = async () => {
    try {
      const purged = await store.purge(new Date(now().getTime() - restoreWindowMs));
      if (purged > 0) log.info({ purged }, 'deleted keys purged');
    } catch (error) {
      log.error({ err: error }, 'purging failed; it is tried again in an hour');
    }
  };
  void purge();
  return setInterval(() => void purge(), purgeEveryMs).unref();
}

/** A path for the log. A key identifier may be a token itself, and so may anything in a path that nobody serves. */
function routeOf(url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split('?', 1)[0] ?? '';
  if (path.startsWith('/svc/org/keys/')) return '/svc/org/keys/*';
  return ['/', '/graphql', '/health', '/ready', '/api/keys/preview', '/svc/org/keys'].includes(path) ? path : '(other)';
}
