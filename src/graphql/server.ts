import type { SignOn } from '../credentials/sign-on.js';
import type { GraphQLParams } from 'graphql-yoga';
import type { RequestContext } from '../http/request-context.js';
import type { HTTPResponse } from '../http/response.js';
import type { Route } from '../http/router.js';
import { assetRoutes } from '../http/static-asset.js';
import type { Logger } from '../lib/log.js';
import type { NextStage } from '../lib/scheduler.js';
import type { Telemetry } from '../telemetry/ports.js';
import type { ContextDeps } from './context.js';
import { defaultDeadlineMs } from './execution/deadline.js';
import {
  createOperationTelemetry,
  serveOperation,
  type ServedResult,
  type PipelineDeps,
} from './execution/execute-prepared.js';
import { executeCompiled, type Execute } from './execution/executor/execute.js';
import { serveFast } from './execution/fast-path.js';
import type { IntrospectionPolicy } from './execution/introspection-policy.js';
import { limits, type OperationLimits } from './execution/limits.js';
import { createOperationCache } from './execution/operation-cache.js';
import { createSubscriptionRegistry, type SubscriptionLimits } from './execution/subscription-registry.js';
import type { TrustedDocuments } from './execution/trusted-documents.js';
import { graphiqlAssets, redirectBrowsers } from './graphiql/serve.js';
import { servedSchema } from './schema/served.js';
import { createYogaHandler, type TestPlugin } from './yoga.js';

/** Parts that tests replace. */
export interface GraphQLOverrides {
  /** Whether requests for operations that were validated before skip Yoga. Default: true. */
  readonly fastPath?: boolean;
  /** Executes operations. Default: our own executor. */
  readonly execute?: Execute;
  /** Additional plugins of Yoga. */
  readonly plugins?: readonly TestPlugin[];
}

interface GraphQLServerDeps extends GraphQLOverrides, Omit<ContextDeps, 'deadlineMs'> {
  readonly log: Logger;
  readonly introspection: IntrospectionPolicy;
  readonly trustedDocuments: TrustedDocuments;
  /** Whether to serve GraphiQL to browsers. Default: false. */
  readonly graphiql?: boolean;
  /** How people sign on in GraphiQL; undefined if they cannot. */
  readonly signOn?: SignOn | undefined;
  /** The deadline of one operation, in milliseconds. Default: 5,000. */
  readonly deadlineMs?: number | undefined;
  readonly maxSubscriptions?: Partial<SubscriptionLimits> | undefined;
  /** Limits of one operation. Default: `limits`. */
  readonly maximum?: OperationLimits | undefined;
  readonly telemetry?: Telemetry | undefined;
  readonly nextStage: NextStage;
}

/** The GraphQL API at `/graphql`. */
export interface GraphQLServer {
  readonly handle: (request: RequestContext) => Promise<HTTPResponse>;
  /** Serves an operation that another transport has read. Does not reject. */
  readonly serve: (readParams: () => Promise<GraphQLParams>, request: RequestContext) => Promise<ServedResult>;
  /** The API, and GraphiQL if it is served. */
  readonly routes: readonly Route[];
  /** Ends all subscriptions and rejects new ones. */
  readonly drain: () => void;
  readonly dispose: () => Promise<void>;
}

/** Creates the GraphQL API. */
export function createGraphQLServer({
  fastPath = true,
  execute = executeCompiled,
  plugins = [],
  graphiql = false,
  signOn,
  deadlineMs = defaultDeadlineMs,
  maxSubscriptions,
  maximum = limits,
  telemetry = {},
  ...given
}: GraphQLServerDeps): GraphQLServer {
  const subscriptions = createSubscriptionRegistry(telemetry, maxSubscriptions);
  const deps: PipelineDeps = {
    ...given,
    execute,
    deadlineMs,
    maximum,
    subscriptions,
    operations: createOperationCache(servedSchema),
    telemetry: createOperationTelemetry(telemetry),
  };
  const yoga = createYogaHandler(deps, plugins);
  const handle = async (request: RequestContext) =>
    (fastPath ? await serveFast(deps, request) : undefined) ?? yoga.handle(request);
  return {
    handle,
    serve: (readParams, request) => serveOperation(deps, readParams, request),
    routes: [
      { path: '/graphql', method: '*', handle: graphiql ? redirectBrowsers(handle) : handle },
      ...(graphiql ? assetRoutes(graphiqlAssets(signOn)) : []),
    ],
    drain: subscriptions.drain,
    dispose: async () => {
      subscriptions.drain();
      await yoga.dispose();
    },
  };
}
