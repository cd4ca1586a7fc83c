import { statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import { preferredType } from './accept.js';
import { createAuthenticator } from './auth/authenticator.js';
import { createFailedAttempts } from './auth/failed-attempts.js';
import { createSingleSignOn } from './auth/single-sign-on.js';
import { createUseRecorder } from './auth/use-recorder.js';
import { createChangeLog } from './change-log.js';
import { startPurging, startShrinking, startStorageChecks } from './chores.js';
import type { Config, ConfigSecrets } from './config.js';
import type { ServerContext } from './graphql/context.js';
import { graphiqlAssets } from './graphql/graphiql/assets.js';
import type { Execute } from './graphql/executor/executor.js';
import { readTrustedDocuments } from './graphql/trusted-documents.js';
import { createStreams } from './graphql/streams.js';
import { createGraphQLServer } from './graphql/yoga.js';
import { clientAddressOf } from './http/client-address.js';
import { createCORS } from './http/cors.js';
import { everyAnswer } from './http/headers.js';
import {
  createRequestContext,
  incomingFromFetch,
  incomingFromNode,
  type IncomingRequest,
  type RequestContext,
} from './http/request-context.js';
import { createHealth, healthPaths } from './http/health.js';
import { serveAsset } from './http/static-asset.js';
import { openInstallation, type Installation, type Opening, type Overrides } from './installation.js';
import { createKeyService } from './keys/service.js';
import type { Logger } from './lib/log.js';
import { docsAssets } from './rest/docs-page/assets.js';
import { createDocuments, documentPath } from './rest/documents.js';
import { errorResponse, methodRefused } from './rest/errors.js';
import { createRESTFace } from './rest/router.js';
import { countingQuotas } from './telemetry/quotas.js';
import { createFollowing } from './telemetry/requests.js';
import { partToWire } from './rest/wire.js';
import type { Watch } from './watch.js';
import { startDispatcher, type DispatcherOptions } from './webhooks/dispatcher.js';
import type { RenderChange } from './webhooks/event.js';

export interface App {
  readonly installation: Installation;
  /** Answers a request. One that came through no network has no address. */
  readonly fetch: (request: Request, socketAddress?: string) => Promise<Response>;
  /** The same, for Node's own server. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, arrivedMs?: number) => void;
  /** From now on `/ready` says no, so that balancers look elsewhere while requests under way are answered. Ends subscriptions. */
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

/** Replaces parts in tests. Workers set `isWhole` and `inTurn`. */
export interface AppOverrides extends Overrides {
  readonly execute?: Execute | undefined;
  /** Whoever started us has looked whether the file is whole. */
  readonly isWhole?: boolean;
  /** How to open the installation. Default: it is created when it is missing. */
  readonly opening?: Pick<Opening, 'access' | 'allowMigrated' | 'allowNew'>;
  readonly webhookPace?: DispatcherOptions;
}

/** Puts the parts together. Rejects as `openInstallation` and `readTrustedDocuments` do. */
export async function createApp(
  config: Config,
  secrets: ConfigSecrets,
  log: Logger,
  overrides: AppOverrides = {},
  watch: Watch = {},
): Promise<App> {
  // First, so that a file that will not do leaves nothing open.
  const documents = config.trustedDocumentsFile
    ? readTrustedDocuments(config.trustedDocumentsFile)
    : new Map<string, string>();
  const installation = await openInstallation(config, secrets, overrides, {
    access: 'create',
    ...overrides.opening,
    liveQuotas: 'relay',
    report: (line) => log.warn(line),
    watch,
  });
  if (overrides.isWhole !== true && secrets.databaseURL === undefined) {
    await requireWholeFile(installation, config, log);
  }
  const { credentials, now, slices } = installation;
  const nextSlice = slices.next;
  const audit = createChangeLog(log);
  const reportError = (err: unknown, requestID: string) => log.error({ requestID, err }, 'internal error');
  const keys = countingQuotas(createKeyService({ ...installation.ports, audit, reportError }), watch);
  const uses = createUseRecorder(credentials, log);
  const { authenticate, revalidate } = createAuthenticator({
    store: credentials,
    uses,
    failures: createFailedAttempts(now),
    verifyJWT: config.oidc && createSingleSignOn(config.oidc, now, log),
    now,
    log,
    meter: watch.meter,
  });
  const answerREST = createRESTFace({ keys, audit, log, nextSlice });
  const answerDocuments = createDocuments({
    isOpen: config.introspection === 'open',
    hasPage: config.graphiql,
  });
  const purging = startPurging(installation, config.restoreWindowMs, log);
  const shrinking = startShrinking(installation, log);
  const checking = startStorageChecks(installation, log);

  const deliverer = startDispatcher(
    {
      store: installation.webhooks,
      history: installation.store,
      feed: installation.feed,
      open: (sealed, place) => installation.sealer.open(sealed, place),
      allowed: config.webhooksTo,
      renderChange: shownToReceivers,
      log,
      meter: watch.meter,
    },
    overrides.webhookPace,
  );

  const cors = createCORS(config.corsOrigins);

  const health = createHealth(() => installation.whyNotReady(), log);
  watch.meter?.reads('ready', async () => ((await health.isReady()) ? 1 : 0));

  async function answerOther(request: Request, requestContext: RequestContext): Promise<Response | undefined> {
    const path = requestContext.target.split('?', 1)[0] ?? '';
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const preflight = cors.answerPreflight(request);
    if (preflight) return preflight;
    if (path === '/graphql') {
      const isForPage = preferredType(request.headers.get('accept'), ['application/json', 'text/html']) === 'text/html';
      const wantsPage = isRead && config.graphiql && isForPage;
      return wantsPage ? new Response(null, { status: 302, headers: { location: '/' } }) : undefined;
    }
    const asset = config.graphiql ? graphiqlAssets.get(path) : undefined;
    if (asset) return isRead ? serveAsset(request.headers, asset) : methodRefused('GET, HEAD', requestContext.id);
    if (!healthPaths.includes(path)) {
      return (await answerDocuments(request, path, requestContext)) ?? answerREST(requestContext);
    }
    return isRead ? health.answer(path) : methodRefused('GET, HEAD', requestContext.id);
  }

  const useOtherFaces: Plugin<object, ServerContext> = {
    async onRequest(event) {
      const { requestContext } = event.serverContext;
      // Left to itself, an error here would reach the caller, stack and all.
      const response = await answerOther(event.request, requestContext).catch((error: unknown) => {
        log.error({ requestID: requestContext.id, err: error }, 'internal error');
        return errorResponse(error, requestContext.id);
      });
      if (response) event.endResponse(response);
    },
    onResponse(event) {
      const { request, response, serverContext } = event;
      const { requestContext } = serverContext;
      const { headers } = response;
      // A page that has not changed need not be sent again; nothing else is kept anywhere.
      for (const [name, value] of Object.entries(everyAnswer)) {
        if (!(headers.has(name) && headers.has('etag'))) headers.set(name, value);
      }
      headers.set('x-request-id', requestContext.id);
      // Node's server sets it. Yoga's keep-alive of streams would contradict a request's `Connection: close`.
      headers.delete('connection');
      cors.addTo(headers, request);
      if (request.method === 'HEAD') event.setResponse(new Response(null, { status: response.status, headers }));
      tellAnswered(serverContext, routeOf(requestContext.target), response.status);
    },
  };

  function tellAnswered({ requestContext: { record } }: ServerContext, path: string, status: number): void {
    const route = record.route ?? path;
    const ms = record.answered(route, status);
    const { requestID, method, operation, verdict } = record;
    log.info({ requestID, method, route, status, operation, verdict, ms }, 'request');
  }

  const streams = createStreams(watch);
  const graphql = createGraphQLServer({
    keys,
    revalidate,
    audit,
    log,
    nextSlice,
    introspection: config.introspection,
    trustedDocuments: { documents, only: config.onlyTrustedDocuments },
    plugins: [useOtherFaces],
    execute: overrides.execute,
    streams,
    watch,
    headers: cors.always,
    onResponse: tellAnswered,
  });
  const follow = createFollowing(watch);

  function serve<T>(
    incoming: IncomingRequest,
    atMs: number,
    socketAddress: string | undefined,
    respond: (context: ServerContext) => T,
  ): T {
    const { method, headers } = incoming;
    const forwardedFor = headers.get('x-forwarded-for') ?? undefined;
    const clientAddress = clientAddressOf(socketAddress, forwardedFor, config.trustedProxies);
    return follow({ method, header: (name) => headers.get(name), atMs }, (record) =>
      respond({ requestContext: createRequestContext(incoming, { record, clientAddress, authenticate }) }),
    );
  }

  return {
    installation,
    fetch: (request, socketAddress) =>
      serve(incomingFromFetch(request), performance.now(), socketAddress, (context) => graphql.fetch(request, context)),
    handle: (request, response, atMs = performance.now()) => {
      // A socket that is gone already has no address; all of them count as one client.
      const socketAddress = request.socket.remoteAddress ?? 'unknown';
      serve(incomingFromNode(request), atMs, socketAddress, (context) => graphql.handle(request, response, context));
    },
    drain: () => {
      health.drain();
      streams.drain();
      void deliverer.stop();
    },
    close: async () => {
      streams.drain();
      await Promise.all([purging.stop(), shrinking.stop(), checking.stop()]);
      await graphql.dispose();
      await deliverer.stop();
      await uses.close();
      await installation.close();
    },
  };
}

/** In the names of REST, as in all else that programs read. */
const shownToReceivers: RenderChange = ({ path, before, after }) => {
  const part = partToWire(path);
  return { path: part.path, before: part.valueToWire(before), after: part.valueToWire(after) };
};

/** Of this size a file takes a second or two to be checked. */
const mostCheckedBytes = 512 * 1024 * 1024;

/**
 * Throws where the database finds its file damaged. Rows answer for themselves, being signed; what they cannot show is
 * that an index has lost one of them.
 */
export async function requireWholeFile(
  installation: Installation,
  { databaseFile }: Config,
  log: Logger,
): Promise<void> {
  try {
    if ((statSync(databaseFile, { throwIfNoEntry: false })?.size ?? 0) > mostCheckedBytes) {
      log.info('the database is too large to be checked at every start; `keyfront check` does it beside the service');
      return;
    }
    const [damage] = await installation.damages();
    if (damage === undefined) return;
    throw new Error(
      `The database ${databaseFile} is damaged: ${damage.trim()}. Put back a backup with \`keyfront restore\`.`,
    );
  } catch (error) {
    await installation.close();
    throw error;
  }
}

/** A path for the log. A key identifier may be a token itself, and so may anything in a path that nobody serves. */
function routeOf(target: string): string {
  const path = target.split('?', 1)[0] ?? '';
  if (path.startsWith('/svc/org/keys/')) return '/svc/org/keys/*';
  if (path.startsWith('/graphiql/')) return '/graphiql/*';
  const named = [
    '/',
    '/graphql',
    ...healthPaths,
    documentPath,
    ...docsAssets.keys(),
    '/api/keys/preview',
    '/svc/org/keys',
  ];
  return named.includes(path) ? path : '(other)';
}
