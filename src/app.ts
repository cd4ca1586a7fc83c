import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import { createAuthenticate } from './auth/authenticator.js';
import type { Config, ConfigSecrets } from './config.js';
import type { ServerContext } from './graphql/context.js';
import { serveGraphiQL } from './graphql/graphiql.js';
import type { Execute } from './graphql/plans/use-plans.js';
import { readTrustedDocuments } from './graphql/trusted-documents.js';
import { createGraphQLServer } from './graphql/yoga.js';
import { answerHealth } from './http/health.js';
import { openInstallation, type Installation, type Overrides } from './installation.js';
import { createKeyService } from './keys/service.js';
import type { Logger } from './log.js';
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

/** What tests put in the place of the world's own, and of ours where they compare it to another. */
export interface AppOverrides extends Overrides {
  readonly execute?: Execute | undefined;
}

/** Puts the parts together. Throws as `openInstallation` and `readTrustedDocuments` do. */
export function createApp(config: Config, secrets: ConfigSecrets, log: Logger, overrides: AppOverrides = {}): App {
  // First, so that a file that will not do leaves nothing open.
  const documents = config.trustedDocumentsFile
    ? readTrustedDocuments(config.trustedDocumentsFile)
    : new Map<string, string>();
  const installation = openInstallation(config, secrets, overrides);
  const keys = createKeyService(installation.ports);
  const authenticate = createAuthenticate(installation.credentials, installation.now);
  const answerREST = createRESTFace({ keys, authenticate, log });
  let draining = false;
  const purge = startPurging(installation, config.restoreWindowMs, log);

  const readiness = { isReady: async () => Promise.resolve(!draining && installation.isReadable()) };
  async function answerOther(request: Request, requestID: string): Promise<Response | undefined> {
    const target = request.url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
    const path = target.split('?', 1)[0] ?? '';
    const wantsPage = request.method === 'GET' && (request.headers.get('accept') ?? '').includes('text/html');
    if (path === '/graphql' && !(wantsPage && config.graphiql)) return undefined;
    if (path === '/graphql') return new Response(null, { status: 302, headers: { location: '/' } });
    if (path === '/' && config.graphiql && ['GET', 'HEAD'].includes(request.method)) return serveGraphiQL(request);
    return (await answerHealth(path, readiness)) ?? (await answerREST(request, target, requestID));
  }

  const useOtherFaces: Plugin<object, ServerContext> = {
    async onRequest(event) {
      const response = await answerOther(event.request, event.serverContext.requestID);
      if (response) event.endResponse(response);
    },
    onResponse({ request, response, serverContext: { requestID } }) {
      response.headers.set('x-request-id', requestID);
      log.info({ requestID, method: request.method, route: routeOf(request.url), status: response.status }, 'request');
    },
  };

  const server = createGraphQLServer({
    keys,
    authenticate,
    log,
    introspection: config.introspection,
    trustedDocuments: { documents, only: config.onlyTrustedDocuments },
    plugins: [useOtherFaces],
    execute: overrides.execute,
  });
  return {
    installation,
    fetch: async (request) => server.fetch(request, { requestID: randomUUID() }),
    handle: (request, response) => void server(request, response, { requestID: randomUUID() }),
    drain: () => {
      draining = true;
    },
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
