import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import { createAuthenticate } from './auth/authenticator.js';
import { createFailedAttempts } from './auth/failed-attempts.js';
import { createSingleSignOn } from './auth/single-sign-on.js';
import { createUseRecorder } from './auth/use-recorder.js';
import { createChangeLog } from './change-log.js';
import type { Config, ConfigSecrets } from './config.js';
import type { ServerContext } from './graphql/context.js';
import { serveGraphiQL } from './graphql/graphiql.js';
import { createGraphQLServer } from './graphql/yoga.js';
import { clientAddressOf } from './http/client-address.js';
import { answerHealth } from './http/health.js';
import { openInstallation, type Installation, type Overrides } from './installation.js';
import { createKeyService } from './keys/service.js';
import type { Logger } from './log.js';
import { createRESTFace } from './rest/routes.js';

export interface App {
  readonly installation: Installation;
  /** Answers a request. One that came through no network has no address. */
  readonly fetch: (request: Request, socketAddress?: string) => Promise<Response>;
  /** The same, for Node's own server. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** From now on `/ready` says no, so that balancers look elsewhere while requests under way are answered. */
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

/** Puts the parts together. Throws as `openInstallation` does. */
export function createApp(config: Config, secrets: ConfigSecrets, log: Logger, overrides: Overrides = {}): App {
  const installation = openInstallation(config, secrets, overrides);
  const { credentials, now } = installation;
  const audit = createChangeLog(log);
  const keys = createKeyService({ ...installation.ports, audit });
  const uses = createUseRecorder(credentials, log);
  const authenticate = createAuthenticate({
    store: credentials,
    uses,
    failures: createFailedAttempts(now),
    verifyJWT: config.oidc && createSingleSignOn(config.oidc, now, log),
    now,
    log,
  });
  const answerREST = createRESTFace({ keys, authenticate, audit, log });
  let draining = false;
  const purge = startPurging(installation, config.restoreWindowMs, log);

  const readiness = { isReady: async () => Promise.resolve(!draining && installation.isReadable()) };
  async function answerOther(request: Request, context: ServerContext): Promise<Response | undefined> {
    const target = request.url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
    const path = target.split('?', 1)[0] ?? '';
    const wantsPage = request.method === 'GET' && (request.headers.get('accept') ?? '').includes('text/html');
    if (path === '/graphql' && !(wantsPage && config.graphiql)) return undefined;
    if (path === '/graphql') return new Response(null, { status: 302, headers: { location: '/' } });
    if (path === '/' && config.graphiql && ['GET', 'HEAD'].includes(request.method)) return serveGraphiQL(request);
    return (await answerHealth(path, readiness)) ?? (await answerREST(request, target, context));
  }

  const useOtherFaces: Plugin<object, ServerContext> = {
    async onRequest(event) {
      const response = await answerOther(event.request, event.serverContext);
      if (response) event.endResponse(response);
    },
    onResponse({ request, response, serverContext: { requestID } }) {
      response.headers.set('x-request-id', requestID);
      log.info({ requestID, method: request.method, route: routeOf(request.url), status: response.status }, 'request');
    },
  };

  const server = createGraphQLServer({ keys, authenticate, audit, log, plugins: [useOtherFaces] });
  const contextOf = (socketAddress: string | undefined, forwardedFor: string | null): ServerContext => ({
    requestID: randomUUID(),
    clientAddress: clientAddressOf(socketAddress, forwardedFor ?? undefined, config.trustedProxies),
  });
  return {
    installation,
    fetch: async (request, socketAddress) =>
      server.fetch(request, contextOf(socketAddress, request.headers.get('x-forwarded-for'))),
    handle: (request, response) => {
      const forwardedFor = request.headersDistinct['x-forwarded-for']?.join(',') ?? null;
      // A socket that is gone already has no address; all of them count as one client.
      void server(request, response, contextOf(request.socket.remoteAddress ?? 'unknown', forwardedFor));
    },
    drain: () => {
      draining = true;
    },
    close: async () => {
      clearInterval(purge);
      await server.dispose();
      await uses.close();
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
