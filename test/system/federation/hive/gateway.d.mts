import type { GatewayResponse, HeadersOf } from '../apollo/gateway.mjs';

export interface HiveGateway {
  readonly request: (query: string, variables?: object, headers?: Record<string, string>) => Promise<GatewayResponse>;
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
