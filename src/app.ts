import { createAuthenticator } from './credentials/authenticate.js';
import { createAttemptLimiter } from './credentials/attempt-limiter.js';
import { createOIDCVerifier } from './credentials/oidc.js';
import { createLastUsedRecorder } from './credentials/last-used.js';
import { createAuditLog } from './telemetry/audit-log.js';
import { startScheduledJobs } from './storage/scheduled-jobs.js';
import type { Config, ConfigSecrets } from './config/config.js';
import { graphiqlAssets } from './graphql/graphiql/assets.js';
import { redirectBrowsers } from './graphql/graphiql/redirect-browsers.js';
import type { Execute } from './graphql/executor/execute.js';
import { createSubscriptionRegistry, maxSubscriptions } from './graphql/operation/subscription-registry.js';
import { readTrustedDocuments } from './graphql/plugins/use-trusted-documents.js';
import { createGraphQLServer } from './graphql/server.js';
import { createGraphQLWebSockets, type GraphQLWebSockets } from './graphql/websocket/websocket-server.js';
import { addDefaultHeaders, logRequests, maskErrors } from './http/middlewares.js';
import { consoleAssets, consoleDocuments } from './http/console-assets.js';
import { createCORS } from './http/cors.js';
import { createHealth } from './http/health.js';
import { createRequestHandler, type RequestHandler } from './http/request-handler.js';
import { createRouter } from './http/router.js';
import { assetRoutes } from './http/static-asset.js';
import {
  openServices,
  requireWholeFile,
  type Services,
  type OpenOptions,
  type ServiceOverrides,
} from './storage/open-storage.js';
import { createKeyService } from './keys/key-service.js';
import type { Logger } from './lib/log.js';
import { documentRoutes } from './rest/docs-page/serve.js';
import { createRESTRoutes } from './rest/router.js';
import { changedPartToWire } from './wire/field-names.js';
import { withQuotaMetrics } from './telemetry/quota-metrics.js';
import { createRequestTracker } from './telemetry/request-record.js';
import type { Telemetry } from './telemetry/ports.js';
import { startDispatcher, type DispatcherOptions } from './webhooks/dispatcher.js';

/** The composed service. */
export interface App extends RequestHandler {
  readonly services: Services;
  readonly webSockets: GraphQLWebSockets;
  /** Makes `/ready` respond with 503, so that load balancers stop sending requests, and ends subscriptions. */
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

/** Replaces parts in tests. Worker processes set `isVerified` and `runExclusive`. */
export interface AppOverrides extends ServiceOverrides {
  readonly execute?: Execute | undefined;
  /** Whether GraphQL requests may skip Yoga. Default: true. */
  readonly fastPath?: boolean | undefined;
  /** Whether the parent process has verified the database file. */
  readonly isVerified?: boolean;
  /** How to open storage. Default: it is created if it does not exist. */
  readonly openOptions?: Pick<OpenOptions, 'access' | 'allowMigrated' | 'allowNew'>;
  readonly dispatcherOptions?: DispatcherOptions;
  /** The interval of checkpoints, in milliseconds. */
  readonly checkpointEveryMs?: number;
}

/**
 * Composes the service.
 *
 * @throws as `openServices` and `readTrustedDocuments` do
 */
export async function createApp(
  config: Config,
  secrets: ConfigSecrets,
  log: Logger,
  overrides: AppOverrides = {},
  telemetry: Telemetry = {},
): Promise<App> {
  // First, so that an invalid file leaves nothing open.
  const documentFiles = [config.console ? consoleDocuments : undefined, config.trustedDocumentsFile];
  const documents = new Map(
    documentFiles.flatMap((file) => (file === undefined ? [] : [...readTrustedDocuments(file)])),
  );
  const services = await openServices(config, secrets, overrides, {
    access: 'create',
    ...overrides.openOptions,
    liveQuotas: 'relay',
    report: (line) => log.warn(line),
    watch: telemetry,
  });
  if (overrides.isVerified !== true && secrets.databaseURL === undefined) {
    await requireWholeFile(services, config, log);
  }
  const { credentials, now, slices } = services;
  const nextSlice = slices.next;
  const audit = createAuditLog(log);
  const reportError = (err: unknown, requestID: string) => log.error({ requestID, err }, 'internal error');
  const keys = withQuotaMetrics(createKeyService({ ...services.ports, audit, reportError }), telemetry);
  const lastUsed = createLastUsedRecorder(credentials, log);
  const { authenticate, revalidate } = createAuthenticator({
    store: credentials,
    uses: lastUsed,
    failures: createAttemptLimiter(now),
    verifyJWT: config.oidc && createOIDCVerifier(config.oidc, now, log),
    now,
    log,
    meter: telemetry.meter,
  });
  const { restoreWindowMs } = config;
  const { checkpointEveryMs } = overrides;
  const mayHaveOtherHosts = secrets.databaseURL !== undefined;
  const jobs = startScheduledJobs(services, { restoreWindowMs, checkpointEveryMs, mayHaveOtherHosts }, log);

  const dispatcher = startDispatcher(
    {
      store: services.webhooks,
      history: services.store,
      feed: services.feed,
      sealer: services.sealer,
      allowed: config.webhooksTo,
      renderChange: changedPartToWire,
      log,
      meter: telemetry.meter,
    },
    overrides.dispatcherOptions,
  );

  const health = createHealth(() => services.whyNotReady(), log);
  telemetry.meter?.registerGauge('ready', async () => ((await health.isReady()) ? 1 : 0));

  const streams = createSubscriptionRegistry(telemetry, {
    ...maxSubscriptions,
    ofCredential: config.maxSubscriptions,
  });
  const graphql = createGraphQLServer({
    keys,
    revalidate,
    audit,
    log,
    nextSlice,
    introspection: config.introspection,
    trustedDocuments: { documents, only: config.onlyTrustedDocuments },
    execute: overrides.execute,
    fastPath: overrides.fastPath,
    maximum: config.graphqlLimits,
    streams,
    watch: telemetry,
  });

  // The path of a request. The request guard and the admission control of `http/server/server.ts` come before it.
  const router = createRouter(
    [logRequests(log), addDefaultHeaders, createCORS(config.corsOrigins), maskErrors(log)],
    [
      ...health.routes,
      ...(config.graphiql ? assetRoutes(graphiqlAssets) : []),
      ...(config.console ? assetRoutes(consoleAssets(config.oidc?.issuer)) : []),
      ...documentRoutes({ isOpen: config.introspection === 'open', hasPage: config.graphiql }),
      {
        path: '/graphql',
        method: '*',
        handle: config.graphiql ? redirectBrowsers(graphql.handle) : graphql.handle,
      },
      ...createRESTRoutes({ keys, audit, nextSlice }),
    ],
  );
  const { trustedProxies } = config;
  const track = createRequestTracker(telemetry);
  const requestHandler = createRequestHandler({ router, authenticate, trustedProxies, track, log });
  const webSockets = createGraphQLWebSockets({
    serve: requestHandler.fetch,
    maxOperations: config.maxSubscriptions,
    origins: config.corsOrigins,
    log,
  });

  return {
    services,
    ...requestHandler,
    webSockets,
    drain: () => {
      health.drain();
      streams.drain();
      webSockets.drain();
      void dispatcher.stop();
    },
    close: async () => {
      streams.drain();
      webSockets.dispose();
      await jobs.stop();
      await graphql.dispose();
      await dispatcher.stop();
      await lastUsed.close();
      await services.close();
    },
  };
}
