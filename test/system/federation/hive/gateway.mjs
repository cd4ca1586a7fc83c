import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import * as http from '@graphql-mesh/transport-http';
import * as ws from '@graphql-mesh/transport-ws';

const forwardCredentials = (sent) => ({
  'x-svc-authorization': sent['x-svc-authorization'] ?? '',
  authorization: sent['authorization'] ?? '',
});

/** Hive's gateway over a supergraph. By default, it forwards the credential headers of each request, to Keyfront only. */
export function startGateway(supergraphSDL, { webSockets = false, headersOf = forwardCredentials } = {}) {
  const gateway = createGatewayRuntime({
    supergraph: supergraphSDL,
    logging: false,
    maskedErrors: false,
    transports: { http, ws },
    // Without a maximum: estimates the cost of each operation, in `extensions.cost`.
    demandControl: { includeExtensionMetadata: true },
    ...(webSockets && {
      transportEntries: {
        keyfront: {
          options: {
            subscriptions: {
              kind: 'ws',
              options: { connectionParams: { 'x-svc-authorization': "{context.headers['x-svc-authorization']}" } },
            },
          },
        },
      },
    }),
    propagateHeaders: {
      fromClientToSubgraphs: ({ request, subgraphName }) =>
        subgraphName.toLowerCase() === 'keyfront' ? headersOf(Object.fromEntries(request.headers)) : {},
    },
  });
  const send = (accept, query, variables, headers, signal) =>
    gateway.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept, ...headers },
      body: JSON.stringify({ query, variables }),
      signal,
    });
  return {
    async request(query, variables = {}, headers = {}) {
      const response = await send('application/json', query, variables, headers);
      const { data, errors = [], extensions } = await response.json();
      return { data, errors, estimatedCost: extensions?.cost?.estimated };
    },
    fetch: (url, init) => gateway.fetch(url, init),
    subscribe: (query, variables, headers, signal) => send('text/event-stream', query, variables, headers, signal),
    close: () => gateway[Symbol.asyncDispose](),
  };
}
