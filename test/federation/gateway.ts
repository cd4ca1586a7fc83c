import { composeServices } from '@apollo/composition';
import { ApolloGateway, RemoteGraphQLDataSource, type GraphQLDataSourceProcessOptions } from '@apollo/gateway';
import { getOperationAST, parse, validate, type GraphQLFormattedError } from 'graphql';
import { companySDL } from './company.js';

export interface Answered {
  readonly data: Record<string, unknown> | null | undefined;
  readonly errors: readonly GraphQLFormattedError[];
}

export interface Gateway {
  readonly ask: (query: string, variables?: object, headers?: Record<string, string>) => Promise<Answered>;
  readonly close: () => Promise<void>;
}

interface Headers {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Composes the company's subgraph with ours, as a company's schema registry would. */
export function compose(keyfrontSDL: string, urls = { company: '', keyfront: '' }) {
  return composeServices([
    { name: 'company', url: urls.company, typeDefs: parse(companySDL) },
    { name: 'keyfront', url: urls.keyfront, typeDefs: parse(keyfrontSDL) },
  ]);
}

/** A real gateway over both, which hands on the credential headers that it is sent. */
export async function startGateway(supergraphSDL: string): Promise<Gateway> {
  const gateway = new ApolloGateway({
    supergraphSdl: supergraphSDL,
    buildService: ({ url }) =>
      new RemoteGraphQLDataSource({
        url: url ?? '',
        // Gateways forward no header of their own accord.
        willSendRequest({ request, context }: GraphQLDataSourceProcessOptions) {
          const { headers = {} } = context as Headers;
          for (const [name, value] of Object.entries(headers)) request.http?.headers.set(name, value);
        },
      }),
  });
  const { schema, executor } = await gateway.load();
  return {
    async ask(query, variables = {}, headers = {}) {
      const document = parse(query);
      const errors = validate(schema, document);
      if (errors.length > 0) return { data: undefined, errors: errors.map((error) => error.toJSON()) };
      const operation = getOperationAST(document);
      const asked = {
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
      const result = await executor(asked as unknown as Parameters<typeof executor>[0]);
      return { data: result.data, errors: (result.errors ?? []).map((error) => error.toJSON()) };
    },
    close: () => gateway.stop(),
  };
}
