import type { GatewayResponse, HeadersOf } from '../apollo/gateway.mjs';

interface HiveResponse extends GatewayResponse {
  /** What demand control estimates for the parts that are sent to the subgraphs. */
  readonly estimatedCost: number;
}

export interface HiveGateway {
  readonly request: (query: string, variables?: object, headers?: Record<string, string>) => Promise<HiveResponse>;
  /** Serves requests to any URL. */
  readonly fetch: typeof fetch;
  /** Subscribes over server-sent events. */
  readonly subscribe: (
    query: string,
    variables: object,
    headers: Record<string, string>,
    signal: AbortSignal,
  ) => Promise<Response>;
  readonly close: () => PromiseLike<void>;
}

export function startGateway(
  supergraphSDL: string,
  options?: { readonly webSockets?: boolean; readonly headersOf?: HeadersOf },
): HiveGateway;
