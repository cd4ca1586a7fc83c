import type { Plugin } from 'graphql-yoga';
import { createCredentialService } from '../../src/credentials/credential-service.js';
import { createAuthenticator } from '../../src/credentials/authenticate.js';
import type { Authenticate } from '../../src/credentials/credential.js';
import type { ServerContext } from '../../src/graphql/context.js';
import type { SubscriptionLimits } from '../../src/graphql/execution/subscription-registry.js';
import { createGraphQLServer } from '../../src/graphql/server.js';
import { startOperation, type OperationDeps, type OperationResults } from '../../src/graphql/websocket/operation.js';
import { createRequestContext } from '../../src/http/request-context.js';
import { createWebhookService } from '../../src/webhooks/webhook-service.js';
import { toFetchResponse } from '../../src/http/response.js';
import { parseJSON, stringifyJSON } from '../../src/lib/json.js';
import type { Ports } from '../../src/keys/ports.js';
import { createKeyService, type KeyService } from '../../src/keys/key-service.js';
import { createLogger } from '../../src/lib/log.js';
import type { TestResponse, TestApp } from './app.js';
import { requestContextOf } from './request-context.js';

/** The parts that a test replaces, to delay them or make them fail. */
interface Overrides {
  readonly ports?: Partial<Ports>;
  readonly keys?: Partial<KeyService>;
  readonly authenticate?: Authenticate;
  /** Plugins of Yoga, which then serves all requests. */
  readonly plugins?: readonly Plugin<object, ServerContext>[];
  readonly deadlineMs?: number;
  readonly maxSubscriptions?: SubscriptionLimits;
  readonly nextSlice?: () => Promise<void> | undefined;
  readonly nextStage?: () => Promise<void>;
}

export interface OverriddenServer {
  readonly graphql: (query: string, variables?: object, headers?: Record<string, string>) => Promise<TestResponse>;
  /** Returns the response of a subscription as a stream. */
  readonly subscribe: (query: string, headers?: Record<string, string>, signal?: AbortSignal) => Promise<Response>;
  /** Starts an operation as the WebSocket transport does. */
  readonly operate: (query: string, variables?: object) => Promise<OperationResults>;
  readonly logs: () => string;
}

/** Creates a GraphQL server over the keys and credentials of an app, with some parts replaced. */
export function serveWith(
  { app: { services: installation }, credentials }: TestApp,
  overridden: Overrides,
): OverriddenServer {
  const lines: string[] = [];
  const log = createLogger('trace', { write: (line) => void lines.push(line) });
  const { authenticate: authenticateByStore, revalidate } = createAuthenticator({
    store: installation.credentials,
    now: installation.now,
    log,
  });
  const authenticate = overridden.authenticate ?? authenticateByStore;
  const server = createGraphQLServer({
    revalidate,
    keys: { ...createKeyService({ ...installation.ports, ...overridden.ports }), ...overridden.keys },
    credentials: createCredentialService({ store: installation.credentials, now: installation.now }),
    webhooks: createWebhookService({ ...installation, allowed: 'loopback' }),
    audit: () => undefined,
    nextSlice: overridden.nextSlice ?? (() => undefined),
    nextStage: overridden.nextStage ?? (() => Promise.resolve()),
    log,
    introspection: 'open',
    trustedDocuments: { documents: new Map(), only: false },
    fastPath: overridden.plugins === undefined,
    plugins: overridden.plugins ?? [],
    deadlineMs: overridden.deadlineMs,
    maxSubscriptions: overridden.maxSubscriptions,
  });
  const send = async (
    query: string,
    variables: object,
    headers: Record<string, string>,
    signal: AbortSignal | null = null,
  ): Promise<Response> => {
    const request = new Request('http://keyfront.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credentials, ...headers },
      body: stringifyJSON({ query, variables }),
      signal,
    });
    return toFetchResponse(await server.handle(requestContextOf(request, { authenticate })));
  };
  return {
    logs: () => lines.join(''),
    operate: (query, variables = {}) => {
      const payload = { query, variables };
      const sent = { payload, bytes: 0, headers: new Headers(credentials), socketAddress: '127.0.0.1' };
      const run: OperationDeps['run'] = async (incoming, _address, work) => {
        const { record } = requestContextOf(new Request('http://keyfront.test'));
        return (await work(createRequestContext(incoming, { record, clientAddress: undefined, authenticate }))).result;
      };
      return startOperation({ run, serve: server.serve }, sent, new AbortController());
    },
    subscribe: (query, headers = {}, signal) => send(query, {}, { accept: 'text/event-stream', ...headers }, signal),
    graphql: async (query, variables = {}, headers = {}) => {
      const response = await send(query, variables, headers);
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: parseJSON(text) as TestResponse['body'],
      };
    },
  };
}
