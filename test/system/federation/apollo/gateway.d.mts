import type { GraphQLFormattedError } from 'graphql';

export interface GatewayResponse {
  readonly data: Record<string, unknown> | null | undefined;
  readonly errors: readonly GraphQLFormattedError[];
}

export interface Gateway {
  readonly request: (query: string, variables?: object, headers?: Record<string, string>) => Promise<GatewayResponse>;
  /** Serves requests to any URL, with their credential headers. */
  readonly fetch: typeof fetch;
  readonly close: () => Promise<void>;
}

interface Composition {
  readonly errors?: readonly Error[];
  readonly hints?: readonly { readonly message: string }[];
  readonly supergraphSdl?: string;
}

export function compose(
  keyfrontSDL: string,
  urls?: { readonly company: string; readonly keyfront: string },
): Composition;
/** Returns the headers of a request to a subgraph, from those of the client in lower case. */
export type HeadersOf = (sent: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;

export function startGateway(supergraphSDL: string, options?: { readonly headersOf?: HeadersOf }): Promise<Gateway>;
