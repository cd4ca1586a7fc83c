import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticate } from '../credentials/credential.js';
import type { Logger } from '../lib/log.js';
import type { RequestRecord } from '../telemetry/ports.js';
import { clientAddressOf } from './client-address.js';
import { createRequestContext, incomingFromFetch, incomingFromNode, type IncomingRequest } from './request-context.js';
import { sendResponse, toFetchResponse, type HTTPResponse } from './response.js';
import type { Router } from './router.js';

/** The data of a request that its record starts with. */
interface Arrival {
  readonly method: string;
  /** The value of a header by its name in lower case. */
  readonly header: (name: string) => string | null;
  /** The time of arrival by `performance.now()`. The request may have waited since. */
  readonly atMs: number;
}

interface RequestHandlerDeps {
  readonly router: Router;
  readonly authenticate: Authenticate;
  /** The number of proxies in front of the service whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: number;
  /** Starts the record of a request, and its trace. */
  readonly track: <T>(arrival: Arrival, work: (record: RequestRecord) => T) => T;
  readonly log: Logger;
}

/** The service as a function of requests. */
export interface RequestHandler {
  /** Responds to a request of `fetch`. */
  readonly fetch: (request: Request, socketAddress?: string) => Promise<Response>;
  /** Responds to a request of Node's server. `arrivedMs` is the time of its arrival by `performance.now()`. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, arrivedMs?: number) => void;
}

/** Returns functions that create the context of each request and send the response of the router. */
export function createRequestHandler({
  router,
  authenticate,
  trustedProxies,
  track,
  log,
}: RequestHandlerDeps): RequestHandler {
  function respond(incoming: IncomingRequest, socketAddress: string | undefined, atMs: number): Promise<HTTPResponse> {
    const { method, headers } = incoming;
    const header = (name: string) => headers.get(name);
    const clientAddress = clientAddressOf(socketAddress, header('x-forwarded-for') ?? undefined, trustedProxies);
    return track({ method, header, atMs }, (record) =>
      router(createRequestContext(incoming, { record, clientAddress, authenticate })),
    );
  }

  return {
    fetch: async (request, socketAddress) =>
      toFetchResponse(await respond(incomingFromFetch(request), socketAddress, performance.now())),
    handle: (request, response, arrivedMs = performance.now()) => {
      // A closed socket has no address. All of them count as one client.
      const socketAddress = request.socket.remoteAddress ?? 'unknown';
      respond(incomingFromNode(request, response), socketAddress, arrivedMs)
        .then((ready) => sendResponse(response, ready))
        .catch((error: unknown) => {
          log.error({ err: error }, 'internal error');
          response.destroy();
        });
    },
  };
}
