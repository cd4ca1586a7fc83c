import { createYoga, type Plugin } from 'graphql-yoga';
import { throwIfRateLimited, type Authenticator, type AuthContext } from '../credentials/credential.js';
import type { RequestContext } from '../http/request-context.js';
import { fromFetchResponse, type HTTPResponse } from '../http/response.js';
import type { Route } from '../http/router.js';
import { assetRoutes } from '../http/static-asset.js';
import type { AuditLog } from '../keys/ports.js';
import { createReadBudget } from '../keys/read-budget.js';
import type { KeyService } from '../keys/key-service.js';
import type { Logger } from '../lib/log.js';
import type { Telemetry } from '../telemetry/ports.js';
import { callerOf, type Context, type ServerContext } from './context.js';
import { defaultDeadlineMs } from './execution/deadline.js';
import { createFastPath } from './execution/fast-path.js';
import { useValidationErrors } from './plugins/use-validation-errors.js';
import { useIntrospectionPolicy, type IntrospectionPolicy } from './plugins/use-introspection-policy.js';
import { createExecutor, type Execute } from './execution/executor/execute.js';
import { createOperationCache } from './execution/operation-cache.js';
import { limits, type OperationLimits } from './execution/limits.js';
import { validateDocument } from './execution/validate-document.js';
import { useCost } from './plugins/use-cost.js';
import { useDeadline } from './plugins/use-deadline.js';
import { useExecutor } from './plugins/use-executor.js';
import { useLimits } from './plugins/use-limits.js';
import { createOperationTelemetry, useTelemetry } from './plugins/use-telemetry.js';
import { useMaskedErrors } from './plugins/use-masked-errors.js';
import { useExactRequests } from './plugins/use-request-parser.js';
import { createLoaders } from './dataloaders.js';
import { graphiqlAssets, redirectBrowsers } from './graphiql/serve.js';
import { servedSchema } from './schema/served.js';
import { createSubscriptionRegistry, type SubscriptionLimits } from './execution/subscription-registry.js';
import { useStreamStatus } from './plugins/use-stream-status.js';
import { useSubscriptions } from './plugins/use-subscriptions.js';
import { useTrustedDocuments, type TrustedDocuments } from './plugins/use-trusted-documents.js';

/** Parts that tests replace. */
export interface GraphQLOverrides {
  /** Whether requests for operations that were validated before skip Yoga. Default: true. */
  readonly fastPath?: boolean;
  /** Executes operations. Default: our own executor. */
  readonly execute?: Execute;
}

interface GraphQLServerDeps extends GraphQLOverrides, Pick<Authenticator, 'revalidate'>, Pick<Context, 'nextSlice'> {
  readonly keys: KeyService;
  readonly audit: AuditLog;
  readonly log: Logger;
  readonly introspection: IntrospectionPolicy;
  readonly trustedDocuments: TrustedDocuments;
  /** Whether to serve GraphiQL to browsers. Default: false. */
  readonly graphiql?: boolean;
  /** Additional plugins of Yoga, for tests. */
  readonly plugins?: readonly Plugin<object, ServerContext>[];
  /** The deadline of one operation, in milliseconds. Default: 5,000. */
  readonly deadlineMs?: number | undefined;
  readonly maxSubscriptions?: Partial<SubscriptionLimits> | undefined;
  /** Limits of one operation. Default: `limits`. */
  readonly maximum?: OperationLimits | undefined;
  readonly telemetry?: Telemetry | undefined;
}

/** The GraphQL API at `/graphql`. */
export interface GraphQLServer {
  readonly handle: (request: RequestContext) => Promise<HTTPResponse>;
  /** The API, and GraphiQL if it is served. */
  readonly routes: readonly Route[];
  /** Ends all subscriptions and rejects new ones. */
  readonly drain: () => void;
  readonly dispose: () => Promise<void>;
}

/** Creates the GraphQL API. */
export function createGraphQLServer({
  keys,
  revalidate,
  audit,
  log,
  nextSlice,
  introspection,
  trustedDocuments,
  graphiql = false,
  plugins = [],
  deadlineMs = defaultDeadlineMs,
  maximum = limits,
  ...options
}: GraphQLServerDeps): GraphQLServer {
  const operations = createOperationCache(servedSchema);
  const { execute = createExecutor((...of) => operations.prepare(...of)?.compiled) } = options;
  const subscriptions = createSubscriptionRegistry(options.telemetry, options.maxSubscriptions);
  const telemetry = createOperationTelemetry(options.telemetry ?? {});
  const createContext = ({ requestContext }: ServerContext, auth: AuthContext): Context => {
    throwIfRateLimited(auth);
    const { id: requestID, clientAddress, headers } = requestContext;
    const renewReads = () => {
      const reads = createReadBudget(deadlineMs);
      return { reads, loaders: createLoaders(keys, () => callerOf({ auth, requestID, reads }, 'service')) };
    };
    const revalidateService = () => revalidate('service', headers);
    const shared = {
      keys,
      audit,
      nextSlice,
      requestID,
      clientAddress,
      auth,
      revalidate: revalidateService,
      registerSubscription: rejectSubscription,
    };
    return { requestContext, ...shared, ...renewReads(), renewReads };
  };
  const fastPath = createFastPath({
    operations,
    trustedDocuments,
    introspection,
    createContext,
    execute,
    telemetry,
    deadlineMs,
    maximum,
    nextSlice,
    log,
  });
  const yoga = createYoga<ServerContext, Context>({
    schema: servedSchema,
    context: async (serverContext) => {
      const auth = await serverContext.requestContext.principal();
      // Yoga has parsed and validated the document in this tick. It executes the operation in a tick with time left.
      await nextSlice();
      return createContext(serverContext, auth);
    },
    graphqlEndpoint: '/graphql',
    // Disables Yoga's health check, which matches the end of the URL: no URL contains a line break.
    healthCheckEndpoint: '\n',
    graphiql: false,
    landingPage: false,
    multipart: false,
    cors: false,
    logging: false,
    // `useExactRequests` limits bodies, at half the cost of the built-in limit.
    maxRequestBodySize: false,
    // By default, Yoga caches a thousand documents of any size, and errors that quote them. `useLimits` keeps documents.
    parserAndValidationCache: {
      documentCache: { get: operations.get, set: () => undefined },
      errorCache: { get: () => undefined, set: () => undefined },
    },
    // `useMaskedErrors` masks every error, once.
    maskedErrors: false,
    plugins: [
      ...plugins,
      useExactRequests(nextSlice),
      // Before plugins that look up a document or that compare an operation with the schema.
      useIntrospectionPolicy(introspection),
      ...useTrustedDocuments(trustedDocuments),
      useLimits(operations, maximum, nextSlice),
      useCost(operations, maximum),
      useValidation,
      useDeadline(deadlineMs),
      useValidationErrors(audit, nextSlice),
      useMaskedErrors(log, nextSlice),
      useStreamStatus(),
      useExecutor(execute),
      useSubscriptions({ subscriptions, execute, log, deadlineMs }),
      useTelemetry(telemetry, operations),
    ],
  });
  const { handleRequest, fetchAPI } = yoga;
  async function handleByYoga(requestContext: RequestContext): Promise<HTTPResponse> {
    const { method, target, headers } = requestContext;
    // Yoga itself reads only the method, the URL and this header. Our plugins read the request context.
    const accept = headers.get('accept');
    const request = new fetchAPI.Request(`http://localhost${target}`, {
      method,
      headers: accept === null ? {} : { accept },
    });
    const response = await handleRequest(request, { requestContext });
    await nextSlice();
    return fromFetchResponse(response);
  }

  const handle = async (request: RequestContext) =>
    (options.fastPath === false ? undefined : await fastPath(request)) ?? handleByYoga(request);
  return {
    handle,
    routes: [
      { path: '/graphql', method: '*', handle: graphiql ? redirectBrowsers(handle) : handle },
      ...(graphiql ? assetRoutes(graphiqlAssets) : []),
    ],
    drain: subscriptions.drain,
    dispose: async () => {
      subscriptions.drain();
      await yoga.dispose();
    },
  };
}

function rejectSubscription(): never {
  throw new Error('Only a subscription operation registers a subscription.');
}

/** Replaces the rules of Yoga and of its plugins. */
const useValidation: Plugin = {
  onValidate: ({ setValidationFn }) => setValidationFn(validateDocument),
};
