import { createAuthenticator } from './credentials/authenticate.js';
import { createAttemptLimiter } from './credentials/attempt-limiter.js';
import { createOIDCVerifier } from './credentials/oidc.js';
import { createLastUsedRecorder } from './credentials/last-used.js';
import { createAuditLog } from './telemetry/audit-log.js';
import { startPurging, startShrinking, startStorageChecks } from './storage/scheduled-jobs.js';
import type { Config, ConfigSecrets } from './config/config.js';
import { graphiqlAssets } from './graphql/graphiql/assets.js';
import { redirectBrowsers } from './graphql/graphiql/redirect-browsers.js';
import type { Execute } from './graphql/executor/executor.js';
import { createStreams } from './graphql/operation/subscription-registry.js';
import { readTrustedDocuments } from './graphql/plugins/use-trusted-documents.js';
import { createGraphQLServer } from './graphql/server.js';
import { addDefaultHeaders, logRequests, maskErrors } from './http/middlewares.js';
import { createCORS } from './http/cors.js';
import { createHealth } from './http/health.js';
import { createRequestHandler, type RequestHandler } from './http/request-handler.js';
import { createRouter } from './http/router.js';
import { assetRoutes } from './http/static-asset.js';
import { openServices, type Services, type OpenOptions, type ServiceOverrides } from './storage/open-storage.js';
import { requireWholeFile } from './storage/integrity-check.js';
import { createKeyService } from './keys/key-service.js';
import type { Logger } from './lib/log.js';
import { documentRoutes } from './rest/docs-page/serve.js';
import { createRESTRoutes } from './rest/router.js';
import { changedPartToWire } from './wire/field-names.js';
import { withQuotaMetrics } from './telemetry/quota-metrics.js';
import { createRequestTracker } from './telemetry/request-record.js';
import type { Telemetry } from './telemetry/ports.js';
import { startDispatcher, type DispatcherOptions } from './webhooks/dispatcher.js';

export interface App extends RequestHandler {
  readonly services: Services;
  /** Makes `/ready` respond with 503, so that load balancers stop sending requests, and ends subscriptions. */
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

/** Replaces parts in tests. Workers set `isWhole` and `inTurn`. */
export interface AppOverrides extends ServiceOverrides {
  readonly execute?: Execute | undefined;
  /** Whether GraphQL requests may skip Yoga. Default: true. */
  readonly fastPath?: boolean | undefined;
  /** Whether the parent process has verified the database file. */
  readonly isVerified?: boolean;
  /** How to open the installation. Default: it is created when it is missing. */
  readonly openOptions?: Pick<OpenOptions, 'access' | 'allowMigrated' | 'allowNew'>;
  readonly webhookPace?: DispatcherOptions;
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
  watch: Telemetry = {},
): Promise<App> {
  // First, so that an invalid file leaves nothing open.
  const documents = config.trustedDocumentsFile
    ? readTrustedDocuments(config.trustedDocumentsFile)
    : new Map<string, string>();
  const installation = await openServices(config, secrets, overrides, {
    access: 'create',
    ...overrides.openOptions,
    liveQuotas: 'relay',
    report: (line) => log.warn(line),
    watch,
  });
  if (overrides.isVerified !== true && secrets.databaseURL === undefined) {
    await requireWholeFile(installation, config, log);
  }
  const { credentials, now, slices } = installation;
  const nextSlice = slices.next;
  const audit = createAuditLog(log);
  const reportError = (err: unknown, requestID: string) => log.error({ requestID, err }, 'internal error');
  const keys = withQuotaMetrics(createKeyService({ ...installation.ports, audit, reportError }), watch);
  const uses = createLastUsedRecorder(credentials, log);
  const { authenticate, revalidate } = createAuthenticator({
    store: credentials,
    uses,
    failures: createAttemptLimiter(now),
    verifyJWT: config.oidc && createOIDCVerifier(config.oidc, now, log),
    now,
    log,
    meter: watch.meter,
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
      renderChange: changedPartToWire,
      log,
      meter: watch.meter,
    },
    overrides.webhookPace,
  );

  const health = createHealth(() => installation.whyNotReady(), log);
  watch.meter?.registerGauge('ready', async () => ((await health.isReady()) ? 1 : 0));

  const streams = createStreams(watch);
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
    streams,
    watch,
  });

  // The path of a request. The request guard and the admission control of `http/server/server.ts` come before it.
  const router = createRouter(
    [logRequests(log), addDefaultHeaders, createCORS(config.corsOrigins), maskErrors(log)],
    [
      ...health.routes,
      ...(config.graphiql ? assetRoutes(graphiqlAssets) : []),
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

  return {
    services: installation,
    ...createRequestHandler({ router, authenticate, trustedProxies, track: createRequestTracker(watch), log }),
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
