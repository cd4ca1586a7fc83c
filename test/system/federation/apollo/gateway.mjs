import { composeServices } from '@apollo/composition';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
// Apollo's packages load this build of graphql 16.
import { getOperationAST, parse, validate } from 'graphql/index.js';
import { companySDL } from './company.mjs';

/** Composes the company's subgraph with ours, as a company's schema registry would. */
export function compose(keyfrontSDL, urls = { company: '', keyfront: '' }) {
  return composeServices([
    { name: 'company', url: urls.company, typeDefs: parse(companySDL) },
    { name: 'keyfront', url: urls.keyfront, typeDefs: parse(keyfrontSDL) },
  ]);
}

/** A real gateway over both. By default, it hands on the headers that it is sent. */
export async function startGateway(supergraphSDL, { headersOf = (sent) => sent } = {}) {
  const gateway = new ApolloGateway({
    supergraphSdl: supergraphSDL,
    buildService: ({ url }) =>
      new RemoteGraphQLDataSource({
        url: url ?? '',
        // Gateways forward no header of their own accord.
        willSendRequest({ request, context }) {
          for (const [name, value] of Object.entries(headersOf(context.headers ?? {}))) {
            request.http?.headers.set(name, value);
          }
        },
      }),
  });
  const { schema, executor } = await gateway.load();
  const own = {
    async request(query, variables = {}, headers = {}) {
      const document = parse(query);
      const errors = validate(schema, document);
      if (errors.length > 0) return { data: undefined, errors: errors.map((error) => error.toJSON()) };
      const operation = getOperationAST(document);
      const requested = {
        request: { query, variables },
        document,
        operation,
        operationName: operation?.name?.value ?? null,
        queryHash: query,
        source: query,
        schema,
        context: { headers },
        metrics: {},
        logger: console,
      };
      const result = await executor(requested);
      return { data: result.data, errors: (result.errors ?? []).map((error) => error.toJSON()) };
    },
    async fetch(_url, { body, headers }) {
      const { query, variables } = JSON.parse(body);
      const { authorization = '', 'x-svc-authorization': service = '' } = headers;
      return Response.json(await own.request(query, variables, { authorization, 'x-svc-authorization': service }));
    },
    close: () => gateway.stop(),
  };
  return own;
}
