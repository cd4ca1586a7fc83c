import { createCredentialService } from './credentials/credential-service.js';
import { createAuthenticator } from './credentials/authenticate.js';
import { createSignOn } from './credentials/sign-on.js';
import { createAuditLog } from './telemetry/audit-log.js';
import { startScheduledJobs } from './storage/scheduled-jobs.js';
import type { Config, ConfigSecrets } from './config/config.js';
import { readBuiltDocuments, readTrustedDocuments } from './graphql/execution/trusted-documents.js';
import { createGraphQLServer, type GraphQLOverrides } from './graphql/server.js';
import { createGraphQLWebSockets, type GraphQLWebSockets } from './graphql/websocket/websocket-server.js';
import { consoleAssets, consoleDocuments } from './http/console-assets.js';
import { createHealth } from './http/health.js';
import { createRequestHandler, type RequestHandler } from './http/request-handler.js';
import { createResponder } from './http/respond.js';
import { signOnAssets } from './http/sign-on/assets.js';
import { assetRoutes } from './http/static-asset.js';
import {
  openServices,
  requireNewestCredentials,
  requireWholeFile,
  type Services,
  type OpenOptions,
  type ServiceOverrides,
} from './storage/open-storage.js';
import { createKeyService } from './keys/key-service.js';
import { createUseLog } from './keys/use/use-log.js';
import type { Logger } from './lib/log.js';
import { withTimeout } from './lib/timeout.js';
import { documentRoutes } from './rest/docs-page/serve.js';
import { createAuthzRoutes } from './rest/authz.js';
import { createRESTRoutes } from './rest/router.js';
import { withGatewayMetrics } from './telemetry/gateway-metrics.js';
import type { Telemetry } from './telemetry/ports.js';
import { startDispatcher, type DispatcherOptions } from './webhooks/dispatcher.js';
import { createWebhookService } from './webhooks/webhook-service.js';

/** How long requests may take after `drain`. The server has closed their connections after 8 seconds; a worker has 9. */
const stopTimeoutMs = 8_500;

/** The composed service. */
export interface App extends Pick<RequestHandler, 'fetch' | 'handle'> {
  readonly services: Services;
  /** Writes the use of keys that is only in memory. */
  readonly flushUses: () => Promise<void>;
  readonly webSockets: GraphQLWebSockets;
  /** Makes `/ready` respond with 503, so that load balancers stop sending requests, and ends subscriptions. */
  readonly drain: () => void;
  readonly close: () => Promise<void>;
}

/** Replaces parts in tests. Worker processes set `isVerified` and `runExclusive`. */
export interface AppOverrides extends ServiceOverrides {
  readonly graphql?: GraphQLOverrides;
  /** Whether the parent process has verified the database file. */
  readonly isVerified?: boolean;
  /** How to open storage. Default: create it if it does not exist. */
  readonly openOptions?: Pick<OpenOptions, 'access' | 'allowMigrated' | 'allowNew'>;
  readonly dispatcherOptions?: DispatcherOptions;
  /** An interval for most jobs, in milliseconds. Default: that of each. */
  readonly jobsEveryMs?: number | undefined;
}

/**
 * Composes the service.
 *
 * @throws {Error} as `openServices` and `readTrustedDocuments` do
 */
export async function createApp(
  config: Config,
  secrets: ConfigSecrets,
  log: Logger,
  overrides: AppOverrides = {},
  telemetry: Telemetry = {},
): Promise<App> {
  const { corsOrigins, expiryNoticeDays, graphiql, introspection, maxSubscriptions, oidc, restoreWindowMs } = config;
  const { proposalsKeptMs, trustedProxies } = config;
  const isShared = secrets.databaseURL !== undefined;
  // Read first, so that an invalid file leaves no resource open.
  const documents = new Map([
    ...(config.console ? readBuiltDocuments(consoleDocuments) : []),
    ...readTrustedDocuments(config.trustedDocumentsFile),
  ]);
  const services = await openServices(config, secrets, overrides, {
    access: 'create',
    ...overrides.openOptions,
    liveQuotas: true,
    report: (line) => log.warn(line),
    telemetry,
  });
  if (overrides.isVerified !== true && !isShared) await requireWholeFile(services, config, log);
  await requireNewestCredentials(services);
  const { credentials, feed, now, ports, sealer, store, webhooks } = services;
  const { meter } = telemetry;
  const { scheduler } = services;
  const { next: nextSlice, nextStage } = scheduler;
  meter?.registerGauge('requests_waiting', scheduler.waiting);
  const audit = createAuditLog(log);
  const reportError = (err: unknown, requestID: string) => log.error({ requestID, err }, 'internal error');
  const useLog = createUseLog({ store: services.uses, now });
  meter?.registerGauge('uses_waiting', useLog.waiting);
  meter?.registerGauge('gateway_lag', () => services.gateways.maxLag(now()).catch(() => NaN));
  const service = createKeyService({ ...ports, noteUse: useLog.note, audit, reportError });
  const keys = withGatewayMetrics(service, telemetry);
  const authenticator = createAuthenticator({ store: credentials, oidc, now, log, meter });
  const { authenticate, revalidate } = authenticator;
  const signOn = oidc?.browserClient && createSignOn(oidc, oidc.browserClient, now, log);
  const { jobsEveryMs } = overrides;
  const jobOptions = {
    restoreWindowMs,
    expiryNoticeDays,
    proposalsKeptMs,
    jobsEveryMs,
    mayHaveOtherHosts: isShared,
    useLog,
  };
  const jobs = startScheduledJobs(services, jobOptions, log);
  const dispatcher = startDispatcher(
    { store: webhooks, history: store, feed, sealer, allowed: config.webhooksTo, log, meter },
    overrides.dispatcherOptions,
  );
  const health = createHealth(() => services.whyNotReady(), log, meter);
  const graphql = createGraphQLServer({
    keys,
    credentials: createCredentialService({ store: credentials, now, audit }),
    webhooks: createWebhookService({ webhooks, feed, sealer, now, allowed: config.webhooksTo, audit }),
    revalidate,
    audit,
    log,
    nextSlice,
    nextStage,
    introspection,
    graphiql,
    signOn,
    trustedDocuments: { documents, only: config.onlyTrustedDocuments },
    maximum: config.graphqlLimits,
    maxSubscriptions: { ofCredential: maxSubscriptions },
    telemetry,
    ...overrides.graphql,
  });

  // The path of a request, after the request guard and the admission control of `http/server/server.ts`.
  const respond = createResponder({
    corsOrigins,
    log,
    routes: [
      ...health.routes,
      ...graphql.routes,
      ...createRESTRoutes({ keys, audit, nextStage }),
      ...createAuthzRoutes({ keys, now }),
      ...documentRoutes({ isOpen: introspection === 'open', hasPage: graphiql }),
      ...(signOn ? assetRoutes(signOnAssets()) : []),
      ...(config.console ? assetRoutes(consoleAssets(oidc?.issuer, signOn)) : []),
    ],
  });
  const { handle, fetch, run, finish } = createRequestHandler({
    respond,
    authenticate,
    trustedProxies,
    telemetry,
    log,
  });
  const webSockets = createGraphQLWebSockets({
    run,
    serve: graphql.serve,
    maxOperations: maxSubscriptions,
    origins: corsOrigins,
    log,
  });

  let drainedMs: number | undefined;
  return {
    services,
    flushUses: useLog.flush,
    handle,
    fetch,
    webSockets,
    drain: () => {
      drainedMs ??= performance.now();
      health.drain();
      graphql.drain();
      webSockets.drain();
      void dispatcher.stop();
    },
    close: async () => {
      webSockets.dispose();
      await graphql.dispose();
      // Before storage is closed, which they use.
      const sinceDrainMs = performance.now() - (drainedMs ?? performance.now());
      await withTimeout(Math.max(0, stopTimeoutMs - sinceDrainMs), finish(), () => undefined);
      await jobs.stop();
      await dispatcher.stop();
      await authenticator.close();
      await services.close();
    },
  };
}
